"""Cost bounds: an upper bound on the cost of a walk, from the costs of earlier walks.

Each of m earlier walks was predicted to cost p_i and did cost c_i. With the scores s_i = c_i / p_i
in ascending order, the bound for a new walk predicted to cost p is

    factor · p,    factor = s_(k),    k = ⌈(m + 1) · level⌉.

**Guarantee** (split conformal prediction [1]_). Let the new walk's score be exchangeable with the
earlier ones: starts drawn alike, the same lengths planned with, no memory carried between walks.
Then the walk stays within its bound with probability at least `level`, whatever the world is like
and however bad the predictions are. If scores are distinct, the probability is at most
level + 1 / (m + 1). It is over the draw of all m + 1 walks: it holds on average over starts, not
for each start. For k > m there is no such bound, and none is returned.

**With confidence 1 − δ** the bound holds for this very draw of earlier walks [2]_: with probability
at least 1 − δ over the draw, at least the share `level` of all walks stay within it. Here k is the
least number with

    P(Bin(m, level) ≥ k) ≤ δ                  for independent, identically distributed walks,
    P(Hyp(N, D, m) ≤ m − k) ≤ δ,  D = ⌊(1 − level) N⌋ + 1
                                              for m of N walks, drawn without replacement.

**Rounding.** The quotient s_(k) is rounded up: `factor` is a double that is at least s_(k). Then
factor · p ≥ c in exact numbers wherever c / p ≤ s_(k). Rounding the product to the nearest double
keeps it so, since c is a double. No claim above is lost to rounding.

*Proof.* Let q be the least number that at least the share `level` of scores do not exceed. If s_(k)
covers less than that share, s_(k) < q, so k of the m scores are below q; each is with probability
at most `level`. Of N walks, let A be those with the D largest scores. If more than N − level · N
walks exceed s_(k), they are at least D, so s_(k) is below all scores of A. Then at most m − k walks
drawn are in A. ∎

**Cost over least cost.** Pass the least costs of some routes from random starts as `predicted`, and
a confidence. With this confidence a plan's route costs at most `factor` times the least, from all
but the share 1 − level of the starts.

References
----------
.. [1] V. Vovk, A. Gammerman, G. Shafer, Algorithmic Learning in a Random World (2005).
.. [2] V. Vovk, "Conditional validity of inductive conformal predictors", ACML (2012).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import ArrayLike

from ..checks import MOST_VERTICES, as_floats, as_lengths, as_share, as_whole, refuse
from ..errors import InputError
from ..typing import FloatArray


@dataclass(frozen=True)
class CostBound:
    """A bound on costs, as a multiple of their prediction.

    Attributes
    ----------
    factor : float
        The multiple.
    level : float
        Least probability that a new walk stays within its bound.
    count : int
        Number of walks the bound rests on.
    confidence : float or None
        Probability, over the draw of these walks, that the share `level` of all walks stay within
        their bounds. None: only on average over the draw.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield import travel
    >>> bound = travel.cost_bound([1.0, 2.0, 3.0, 4.0], [1.5, 2.0, 3.3, 4.0], level=0.8)
    >>> bound.factor, bound.bound([10.0, 20.0])
    (1.5, array([15., 30.]))
    """

    factor: float
    level: float
    count: int
    confidence: float | None = None

    def bound(self, predicted: ArrayLike) -> FloatArray:
        """Return upper bounds on the cost of walks with these predictions, at this level."""
        return self.factor * np.asarray(predicted, dtype=np.float64)


def cost_bound(
    predicted: ArrayLike,
    paid: ArrayLike,
    level: float = 0.9,
    *,
    confidence: float | None = None,
    population: int | None = None,
) -> CostBound:
    """Bound the cost of future walks by the cost of earlier ones.

    Parameters
    ----------
    predicted : (m,) array
        Predicted cost of each walk when it started, positive.
    paid : (m,) array
        Actual cost of each walk; inf if it did not arrive.
    level : float
        Share of walks that should stay within their bound, between 0 and 1. At least
        ``level / (1 - level)`` walks are needed: 9 for 0.9.
    confidence : float, optional
        Probability that the bound holds for the share `level` of all walks, over the draw of these
        ones. Then 22 walks are needed for 0.9 and 0.9. If not given, it holds on average.
    population : int, optional
        Number of starts from which these were drawn without replacement. Only with `confidence`;
        if not given, starts were drawn independently.

    Examples
    --------
    >>> import numpy as np
    >>> import wayfield as wf
    >>> from wayfield import travel
    >>> travel.cost_bound([5.0, 5.0], [6.0, 5.0])
    Traceback (most recent call last):
    wayfield.errors.InputError: a cost bound at level 0.9 needs at least 9 walks, got 2

    Thirty routes of a plan were compared with the least costs:

    >>> maze = wf.grid_graph(wf.load_layout("antmaze-medium"), refinement=8)
    >>> plan = wf.solve(maze, wf.sample_labels(maze, 40, fraction=0.02, seed=3), goal=40).plan
    >>> starts = np.random.default_rng(0).choice(maze.num_vertices, 30, replace=False)
    >>> starts = starts[starts != 40]
    >>> least = wf.cost_to_go(maze, 40)[starts]  # in place of audits
    >>> cost, population = plan.cost[starts], maze.num_vertices - 1
    >>> travel.cost_bound(least, cost, confidence=0.9, population=population)
    CostBound(factor=1..., level=0.9, count=30, confidence=0.9)
    """
    level = as_share(level, "level")
    if confidence is not None:
        as_share(confidence, "confidence")
    if population is not None and confidence is None:
        raise InputError("population needs a confidence")
    expected = as_lengths(predicted, "predicted")
    cost = as_floats(paid, "paid", expected.size)
    refuse(~(cost >= 0.0), cost, "paid", "is neither a cost nor inf")
    count = cost.size
    # the decimal number that was meant: 0.9 as a double is more than 9/10, and 10 · 9/10 is 9
    share = Fraction(repr(level))
    place = ceil((count + 1) * share)
    needs = f"at least {ceil(share / (1 - share)):,} walks"
    if confidence is not None:
        from scipy.stats import binom, hypergeom  # half a second, and rarely needed

        places = np.arange(1, count + 1)
        if population is None:
            misses = binom.sf(places - 1, count, level)
        else:
            # the law takes time linear in the population
            total = as_whole(population, "population", least=count, most=MOST_VERTICES)
            outside = total - ceil(share * total) + 1
            misses = hypergeom.cdf(count - places, total, outside, count)
        passed = np.flatnonzero(misses <= 1.0 - confidence)
        place = int(passed[0]) + 1 if passed.size else count + 1
        needs = f"more walks for confidence {confidence:g}"
    if place > count:
        raise InputError(f"a cost bound at level {level:g} needs {needs}, got {count:,}")
    with np.errstate(over="ignore"):
        scores = cost / expected
    factor = float(np.sort(scores)[place - 1])
    if factor == np.inf:
        lost = int(np.isinf(cost).sum())
        raise InputError(
            f"{lost:,} of {count:,} walks did not arrive: there is no finite cost bound at level "
            f"{level:g}"
        )
    # rounding keeps the order, so s_(k) is one of the quotients that are rounded to this factor
    exact, ties = Fraction(factor), np.flatnonzero(scores == factor)
    if any(exact * Fraction(expected[i]) < Fraction(cost[i]) for i in ties):
        factor = float(np.nextafter(factor, np.inf))
    return CostBound(factor, level, count, confidence)
