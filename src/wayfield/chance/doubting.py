"""Doubt: how far a plan's cost and reach may be off because its odds rest on few counts.

The odds of a choice that had the outcomes y with counts n_y are Dirichlet with parameters n_y, the
posterior under the improper prior of no knowledge; counts that were shrunk to a prior carry it with
them. Odds are drawn from it, independently at every choice, and the plan's expected cost and
arrival are computed for each draw. The bounds are quantiles over the draws, state by state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._arrays import KeepsReadOnly, as_real, as_whole, frozen
from ..errors import InputError
from ..kernels._types import FloatArray
from .transitions import Transitions

if TYPE_CHECKING:
    from .expected import ExpectedCost

LEAST_ODDS = 1e-12
"""Draws are kept above this: odds of 0 would be another process."""


@dataclass(frozen=True, eq=False, repr=False)
class Doubt(KeepsReadOnly):
    """Where cost and reach of a plan lie in most draws of the odds.

    Attributes
    ----------
    cost_low, cost_high, reach_low, reach_high : (n,) float arrays
        Quantiles of the expected cost and of the probability of arrival.
    level : float
        Share of the draws between them.
    draws : int
        How many there were.

    Examples
    --------
    >>> import wayfield as wf
    >>> moves = wf.Transitions([0, 0], [0, 0], [1, 2], count=[9, 1])
    >>> doubt = wf.expected_cost(moves, goal=1, give_up=100).doubt()
    >>> doubt.reach_low.round(2), doubt.reach_high.round(2)
    (array([0.64, 1.  , 0.  ]), array([1., 1., 0.]))
    """

    cost_low: FloatArray
    cost_high: FloatArray
    reach_low: FloatArray
    reach_high: FloatArray
    level: float
    draws: int

    def __repr__(self) -> str:
        spread = float((self.reach_high - self.reach_low).max(initial=0.0))
        return f"Doubt(level {self.level:g}, {self.draws} draws, reach within {spread:.2g})"


def doubt(field: ExpectedCost, draws: int, level: float, seed: int) -> Doubt:
    """Evaluate a plan under odds drawn from their posterior."""
    as_whole(draws, "draws", least=2)
    level = as_real(level, "level")
    if not 0.0 < level < 1.0:
        raise InputError(f"level must lie between 0 and 1, not be {level}")
    moves = field.transitions
    moves._check_counted("doubted")
    rng = np.random.default_rng(as_whole(seed, "seed", least=0))
    found = [field.under(_drawn(moves, rng), check=False) for _ in range(draws)]
    # brackets, since the odds drawn may be too small for the values to be verified
    costs = _quantiles([one.lower for one in found], [one.upper for one in found], level)
    reaches = _quantiles(
        [one.reach_lower for one in found], [one.reach_upper for one in found], level
    )
    return Doubt(*costs, *reaches, level=level, draws=draws)


def _quantiles(
    lower: list[FloatArray], upper: list[FloatArray], level: float
) -> tuple[FloatArray, FloatArray]:
    """Bounds that hold the share `level` of the brackets in the middle, state by state.

    Bounds of draws themselves, not means of two of them: a cost may be infinite.
    """
    outside = int((1.0 - level) / 2 * len(lower))
    low, high = np.sort(np.stack(lower), axis=0), np.sort(np.stack(upper), axis=0)
    return frozen(low[outside]), frozen(high[-1 - outside])


def _drawn(moves: Transitions, rng: np.random.Generator) -> Transitions:
    """Return the same process with odds drawn from their posterior."""
    weights = rng.standard_gamma(moves.counts)
    total = np.add.reduceat(weights, moves.outcome_indptr[:-1])
    sizes = np.diff(moves.outcome_indptr)
    # where all gammas of a choice underflow, whatever they are compared with
    odds = weights / np.repeat(np.where(total > 0.0, total, 1.0), sizes)
    return moves._reweighted(np.maximum(odds, LEAST_ODDS))
