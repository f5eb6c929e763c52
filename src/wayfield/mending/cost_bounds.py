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

References
----------
.. [1] V. Vovk, A. Gammerman, G. Shafer, Algorithmic Learning in a Random World (2005).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import ArrayLike

from .._arrays import as_floats, as_lengths, as_real, refuse
from ..errors import InputError
from ..kernels._types import FloatArray


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

    Examples
    --------
    >>> import wayfield as wf
    >>> bound = wf.cost_bound([1.0, 2.0, 3.0, 4.0], [1.5, 2.0, 3.3, 4.0], level=0.8)
    >>> bound.factor, bound.bound([10.0, 20.0])
    (1.5, array([15., 30.]))
    """

    factor: float
    level: float
    count: int

    def bound(self, predicted: ArrayLike) -> FloatArray:
        """Return upper bounds on the cost of walks with these predictions, at this level."""
        return self.factor * np.asarray(predicted, dtype=np.float64)


def cost_bound(predicted: ArrayLike, paid: ArrayLike, level: float = 0.9) -> CostBound:
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

    Examples
    --------
    >>> import wayfield as wf
    >>> wf.cost_bound([5.0, 5.0], [6.0, 5.0])
    Traceback (most recent call last):
    wayfield.errors.InputError: a cost bound at level 0.9 needs at least 9 walks, got 2
    """
    level = as_real(level, "level")
    if not 0.0 < level < 1.0:
        raise InputError(f"level must be between 0 and 1, got {level}")
    expected = as_lengths(predicted, "predicted")
    cost = as_floats(paid, "paid", expected.size)
    refuse(~(cost >= 0.0), cost, "paid", "is neither a cost nor inf")
    count = cost.size
    # 0.9 as a double is not exactly 0.9: make sure that 10 · 0.9 gives 9
    place = ceil(round((count + 1) * level, 9))
    if place > count:
        least = ceil(round(level / (1.0 - level), 9))
        raise InputError(
            f"a cost bound at level {level:g} needs at least {least:,} walks, got {count:,}"
        )
    factor = float(np.sort(cost / expected)[place - 1])
    if factor == np.inf:
        lost = int(np.isinf(cost).sum())
        raise InputError(
            f"{lost:,} of {count:,} walks did not arrive: there is no finite cost bound at level "
            f"{level:g}"
        )
    return CostBound(factor, level, count)
