"""Expected cost where the odds are known only to lie in intervals: the worst and the best case.

Setting
    Outcome e of a choice has odds in [low_e, high_e], and those of a choice sum to 1. Nature picks
    them, for each choice by itself. Between choices nothing is coupled, so bounds are conservative
    where true odds hang together.
Equation
    V(s) = min( g, min_a ext_p Σ_y p_y (c_y + V(y)) ), where ext is the maximum (odds="worst") or
    the minimum (odds="best") over the odds p of the choice. The inner one sorts outcomes.
Without giving up
    Some policy must end surely whatever the odds (worst), or for some odds (best). Both sets are
    found from the bounds alone: a choice may be used if all it can lead to is inside (worst), or if
    all of it can be kept inside (best); it makes progress if some of it must, or can, go to states
    found before. V = +inf elsewhere. Bounds that sum to 1 within 2^-48 count as summing to 1: a
    rounded third decides nothing.
Method
    Hoffman and Karp [1]_: nature's odds for the current values; the least expected cost under these
    odds, by policy iteration; again, until nothing changes. Values rise (worst) or fall (best).

**Theorem W.** Let E_k be the extreme of C + R over the odds of choice k, with C its mean cost and
R the mean change of v. Let C⁻ > 0 be the least C. If E_k <= δ C⁻ for the policy's own choices, then
m + (v - m) / (1 - δ) lies above V; if E_k >= -ε C⁻ for every choice, m + (1 - ε)(v - m) lies below.
*Proof.* Worst, above: C + R <= δ C for every p, so for each of them the field lies above its image
under the policy (`chance._solver`), falls in the mean with every move by its cost, and bounds the
policy's cost; nature cannot do worse. Worst, below: for the one p that attains E, C + R >= -ε C at
every choice, so no policy does better against it. Best: the same with the words exchanged. ∎
**Reach** of the plan, the least (worst) or the largest (best): if the extreme F of R for a computed
h has |F| <= δ' C⁻, then h ∓ δ' / (1 - δ) (w - m) are bounds. Here w falls under all odds: it is v
itself in the worst case. In the best case it is the plan's worst expected cost; if that is
infinite, the bound on the far side is trivial.

Guarantee
    The ratios are measured in doubles with a bound on all rounding, for the intervals as they are
    stored. So the bracket is wider than that of `expected_cost` with known odds: some 1e-14 times
    the longest walk.

A proof file needs, beyond that of known odds: low and high of every outcome, the odds that attain
the extreme (or their order), which the checker verifies to lie between the bounds and to sum to 1,
and E for every p on the other side, which it finds itself by sorting. The layers of infinite states
follow the two rules above. It is not written yet.

References
----------
.. [1] A. J. Hoffman, R. M. Karp, On nonterminating stochastic games, Management Science 12, 1966.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..extension import Status
from ..kernels._types import FloatArray, IntArray
from ..kernels.chance import Process
from ..kernels.intervals import attainable, extremes, surely_ending
from ._solver import Boundary, Bounded, arrival, least_cost, value_of
from .transitions import Transitions

MOST_ROUNDS = 100
"""Largest number of answers by nature."""
PROVED = 1e-6
"""Largest relative width of a bracket that counts as a proof; 3e-15 · give_up on unit costs."""
NOTICEABLE = 2.0**-48
"""Relative change of a value that is not rounding."""


@dataclass
class Robust:
    """A robust solution in the units of the prepared process."""

    cost: Bounded
    reach: Bounded
    policy: IntArray
    rounds: int
    status: Status


def solve(moves: Transitions, boundary: Boundary, *, worst: bool) -> Robust:
    """Return the least expected cost against (worst) or with (best) nature, and the reach."""
    sign = 1.0 if worst else -1.0
    low, process = moves._bounds[0], moves._process
    high = attainable(process.ptr, *moves._bounds)
    usable = np.ones(moves.num_choices, dtype=bool)
    if boundary.give_up == np.inf:
        shape = (process.ptr, process.heads, process.owner, low, high)
        alive, usable = surely_ending(*shape, boundary.fixed, worst)
        high = high if worst else np.where(alive[moves.next_states], high, 0.0)
    kept = np.flatnonzero(usable)
    nowhere = np.where(boundary.fixed, boundary.values, boundary.give_up)
    nothing = Bounded(nowhere, nowhere, nowhere)
    ends = boundary.fixed.astype(np.float64)
    if kept.size == 0:
        policy = np.full(nowhere.size, -1, np.int64)
        return Robust(nothing, Bounded(ends, ends, ends), policy, 0, Status.CONVERGED)
    chosen = np.repeat(usable, np.diff(moves.outcome_indptr)) & (high > 0.0)
    game = moves._narrowed(chosen, np.minimum(low, high)[chosen], high[chosen])
    unit = moves._cost_exponent
    value, policy, above, below, rounds = _iterate(game, unit, boundary, sign, None)
    cost = _bracket(value, boundary, above, below, boundary.give_up)

    # Reach: nature again, with the plan as it is; the barrier is a cost that falls under all odds.
    barrier, slope = value, above
    if not worst:
        barrier, _, slope, _, _ = _iterate(game, unit, boundary, 1.0, policy)
    reach, close = _reach(game, unit, boundary, policy, barrier, slope, worst=worst)
    good = max(above, below) <= PROVED and (close or not worst)
    status = Status.CONVERGED if good else Status.UNVERIFIED
    if rounds == MOST_ROUNDS and not good:
        status = Status.BUDGET
    whole = np.where(policy >= 0, kept[policy], -1)
    return Robust(cost, reach, whole, rounds, status)


def _iterate(
    game: Transitions, unit: int, boundary: Boundary, sign: float, given: IntArray | None
) -> tuple[FloatArray, IntArray, float, float, int]:
    """Alternate nature and planner; return values, policy, the ratios of Theorem W, rounds."""
    process, shape, costs = _arrays(game, unit)
    zero = np.zeros(game.num_states)
    odds = game.counts.copy()
    mean, off = extremes(*shape, costs, zero, -1.0, np.empty(odds.size))
    least = mean - off
    value = zero
    policy = np.full(game.num_states, -1, np.int64) if given is None else given
    for rounds in range(1, MOST_ROUNDS + 1):
        before = value
        fixed, there, shift = _with_odds(game, odds, boundary, unit)
        if given is None:
            solved = least_cost(fixed._process, there)
            policy = solved.policy
        else:
            solved = value_of(fixed._process, given, there, np.ldexp(value, shift))
        value = np.ldexp(solved.pair.high, -shift)
        if given is not None and not np.isfinite(value).all():
            return value, policy, np.inf, np.inf, rounds
        found, error = extremes(*shape, costs, value, sign, odds)
        with np.errstate(invalid="ignore"):
            if given is None:
                # among choices that cost the same under the last odds, one that nature cannot spoil
                order = np.lexsort((found, process.owner))
                best = order[np.searchsorted(process.owner, np.flatnonzero(policy >= 0))]
                policy[policy >= 0] = best
            moving = policy[policy >= 0]
            every = np.flatnonzero(~boundary.fixed[process.owner]) if given is None else moving
            above = float(((found + error) / least)[moving].max(initial=0.0))
            below = float(((error - found) / least)[every].max(initial=0.0))
            moved = np.abs(value - before) > NOTICEABLE * np.abs(value)
        if not (moved & (value < np.inf)).any() and rounds > 1:
            break
    # a NaN must not pass for a proof
    above = above if above >= 0.0 else np.inf
    below = below if below >= 0.0 else np.inf
    return value, policy, above, below, rounds


def _reach(
    game: Transitions,
    unit: int,
    boundary: Boundary,
    policy: IntArray,
    barrier: FloatArray,
    slope: float,
    *,
    worst: bool,
) -> tuple[Bounded, bool]:
    """Return the least or the largest probability of arrival of a policy, with its bracket."""
    _, shape, costs = _arrays(game, unit)
    free = np.zeros_like(costs)
    moving = policy[policy >= 0]
    odds = game.counts.copy()
    reach = boundary.fixed.astype(np.float64)
    for _ in range(MOST_ROUNDS):
        before = reach
        fixed, there, _ = _with_odds(game, odds, boundary, unit)
        solved = value_of(fixed._process, policy, there, np.zeros(game.num_states))
        solved.policy = policy
        bounded, _ = arrival(fixed._process, solved, there.fixed, there.floor, sure=False)
        reach = bounded.values
        found, error = extremes(*shape, free, reach, -1.0 if worst else 1.0, odds)
        if np.abs(reach - before).max(initial=0.0) <= NOTICEABLE:
            break
    mean, off = extremes(*shape, costs, np.zeros(reach.size), -1.0, np.empty(odds.size))
    ratio = float(((np.abs(found) + error) / (mean - off))[moving].max(initial=0.0))
    free = policy >= 0
    slack = np.where(free, np.inf, 0.0)
    if slope < 1.0 and ratio < np.inf:
        height = (np.abs(barrier[free]) + abs(boundary.floor)) * (1.0 + 2.0**-50)
        slack[free] = ratio / (1.0 - slope) * (1.0 + 2.0**-50) * height
    lower = np.maximum(np.nextafter(reach - slack, -np.inf), 0.0)
    upper = np.minimum(np.nextafter(reach + slack, np.inf), 1.0)
    lower[~free], upper[~free] = reach[~free], reach[~free]
    return Bounded(reach, lower, upper), bool(slack.max(initial=0.0) <= PROVED)


def _bracket(
    value: FloatArray, boundary: Boundary, above: float, below: float, most: float
) -> Bounded:
    """Return values with the bounds of Theorem W, rounded outwards."""
    floor = boundary.floor
    free = np.isfinite(value) & ~boundary.fixed
    height = (np.abs(value[free]) + abs(floor)) * (1.0 + 2.0**-50)
    lower, upper = value.copy(), value.copy()
    down = below * (1.0 + 2.0**-50) * height if below < 1.0 else np.inf
    up = above / (1.0 - above) * (1.0 + 2.0**-50) * height if above < 1.0 else np.inf
    lower[free] = np.maximum(np.nextafter(value[free] - down, -np.inf), floor)
    upper[free] = np.minimum(np.nextafter(value[free] + up, np.inf), most)
    return Bounded(np.clip(value, lower, upper), lower, upper)


def _arrays(
    game: Transitions, unit: int
) -> tuple[Process, tuple[IntArray, IntArray, IntArray, FloatArray, FloatArray], FloatArray]:
    """Return the process, what `extremes` takes, and costs in units of 2^unit."""
    process, (low, high) = game._process, game._bounds
    shape = (process.ptr, process.heads, process.owner, low, high)
    return process, shape, np.ldexp(game.costs, -unit)


def _with_odds(
    game: Transitions, odds: FloatArray, boundary: Boundary, unit: int
) -> tuple[Transitions, Boundary, int]:
    """Return the process with these odds, the boundary in its units, and the shift of units."""
    fixed = game._with_odds(odds)
    shift = unit - fixed._cost_exponent
    values = np.ldexp(boundary.values, shift)
    return fixed, Boundary(boundary.fixed, values, float(np.ldexp(boundary.give_up, shift))), shift
