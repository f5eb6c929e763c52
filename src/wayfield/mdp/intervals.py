"""Expected cost where odds are known only as intervals: the worst and the best case.

Setting
    Outcome e of a choice has odds in [low_e, high_e], and the odds of a choice sum to 1. Nature
    picks them independently for each choice. So bounds are conservative where true odds depend on
    each other.
Equation
    V(s) = min( g, min_a ext_p Σ_y p_y (c_y + V(y)) ), where ext is the maximum (odds="worst") or
    the minimum (odds="best") over the odds p of the choice. Sorting the outcomes gives ext.
Without giving up
    V is finite where some policy ends surely for all odds (worst), or for some odds (best). Both
    sets are found from the bounds alone. A choice may be used if it cannot lead out of the set
    (worst), or if it can be kept inside (best). It makes progress if it must (worst) or can (best)
    lead to states found before with positive odds. V = +inf elsewhere.
Method
    Hoffman and Karp [1]_: find nature's odds for the current values, then the least expected cost
    under these odds by policy iteration. Repeat until nothing changes. Values rise (worst) or fall
    (best).

**Theorem W.** Let E_k be the extreme of C + R over the odds of choice k, with C its mean cost and
R the mean change of v. Let C⁻ > 0 be the least C. If E_k <= δ C⁻ for the policy's own choices, then
m + (v - m) / (1 - δ) lies above V; if E_k >= -ε C⁻ for every choice, m + (1 - ε)(v - m) lies below.
*Proof.* Worst, above: C + R <= δ C for every p. So for every p the field lies above its image under
the policy (`solver`), falls in expectation by the cost of every move, and bounds the
policy's cost. Nature cannot do worse. Worst, below: for the one p that attains E, C + R >= -ε C at
every choice, so no policy does better against it. Best: the same with both sides exchanged. ∎
**Reach** of the plan, the least (worst) or the largest (best): if the extreme F of R for a computed
h has |F| <= δ' C⁻, then h ∓ δ' / (1 - δ) (w - m) are bounds. Here w must fall under all odds. In
the worst case it is v itself, in the best case the plan's worst expected cost. If that is infinite,
the bound on the far side is trivial.

Guarantee
    The ratios are computed in doubles with a bound on all rounding, for the intervals as stored. So
    the bracket is wider than that of `expected_cost` with known odds: about 1e-14 times the longest
    walk.

Proof files (`proofs`) hold the bounds of every outcome. The checker finds E itself, by
sorting. The layers of infinite states follow the two rules above.

References
----------
.. [1] A. J. Hoffman, R. M. Karp, On nonterminating stochastic games, Management Science 12, 1966.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from ..fields import Status
from ..numerics.doubledouble import Pair
from ..typing import BoolArray, FloatArray, IntArray
from .kernels import extremes
from .solver import (
    FINEST,
    Boundary,
    Bounded,
    PolicyBounds,
    Solved,
    arrival,
    cost_bounds,
    excess,
    least_cost,
    rounded_up,
    value_of,
)
from .transitions import Transitions, clopper_pearson

MOST_TURNS = 100
"""Largest number of rounds between nature and planner."""
PROVED_AGAINST_NATURE = 1e-6
"""Largest relative width of a bracket that counts as a proof; it grows with `give_up`."""
NOTICEABLE = 2.0**-48
"""Smallest relative change of a value that is not rounding."""


def confident(
    moves: Transitions,
    choices: IntArray,
    support: Transitions | None,
    level: float,
    plan: IntArray,
    *,
    worst: bool,
) -> Transitions:
    """Return intervals that all contain the true odds of `choices`, with probability `level`.

    They are those of Clopper and Pearson, with a union over choices; the page "Proofs of expected
    cost" has the proof. Of these choices, the process has those of the plan. Without `support`, an
    outcome may also be one never seen: it leads to one more state, the last, and from there to any
    state. It costs as much as the costliest outcome that was seen (worst), or the cheapest.
    """
    n, own, k = moves.num_states, moves._outcome_choices, moves.num_choices
    rows: tuple[IntArray, IntArray]
    share = (1.0 - level) / choices.size
    if support is None:
        step = moves.costs.min() / 2
        cost = np.full(k, (moves.costs.max() if worst else moves.costs.min()) - step)
        rows = (np.append(own, np.arange(k)), np.append(moves.next_states, np.full(k, n)))
        paid = np.append(moves.costs, cost)
        low, high = clopper_pearson(moves.counts, moves.totals[own], share / (4 * n))
        # the odds of all that was not seen: a union over the sets of outcomes that could be seen
        m = np.diff(moves.outcome_indptr)
        sets = gammaln(n + 1) - gammaln(m + 1) - gammaln(n - m + 1) + m * np.log(2.0)
        low = np.append(low, np.zeros(k))
        high = np.append(high, -np.expm1((np.log(share / 2) - sets) / moves.totals))
    else:
        both = moves._on_support(support)
        rows, paid = (both._outcome_choices, both.next_states), both.costs
        counts = moves._counts_in(both)
        # bounds on one of two odds are bounds on the other, and a single outcome is certain
        sizes = np.bincount(rows[0])
        events = np.where(sizes == 2, 1, sizes)[rows[0]]
        low, high = clopper_pearson(counts, moves.totals[rows[0]], share / 2 / events)
        low = np.where(sizes[rows[0]] == 1, 1.0, low)
    kept = plan[moves.states[rows[0]]] == rows[0]
    choice, following = rows
    columns: list[IntArray | FloatArray] = [moves.states[choice], moves.actions[choice], following]
    columns = [column[kept] for column in (*columns, low, high, paid)]
    if support is None:
        step_to = (np.full(n, n), np.zeros(n, int), np.arange(n), np.zeros(n), np.ones(n))
        more = (*step_to, np.full(n, step))
        columns = [np.append(a, b) for a, b in zip(columns, more, strict=True)]
    state, action, to, low, high, paid = columns
    size = n + (support is None)
    return Transitions.from_intervals(state, action, to, low, high, paid, size)


class _Game(NamedTuple):
    """What planner and nature share: intervals of odds and a boundary; costs in units of 2^unit."""

    moves: Transitions
    unit: int
    boundary: Boundary

    @property
    def costs(self) -> FloatArray:
        """(num_outcomes,) cost of every outcome, in units of 2^unit."""
        return np.ldexp(self.moves.costs, -self.unit)

    def extremes(
        self, costs: FloatArray, values: FloatArray, sign: float, odds: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the extreme C + R of every choice and its error; set the odds that attain it."""
        process, (low, high) = self.moves._process, self.moves._bounds
        shape = (process.ptr, process.heads, process.owner, low, high)
        return extremes(*shape, costs, values, sign, odds)

    def least_costs(self) -> FloatArray:
        """Return a lower bound on the least mean cost of every choice."""
        zero, odds = np.zeros(self.moves.num_states), np.empty(self.moves.counts.size)
        mean, off = self.extremes(self.costs, zero, -1.0, odds)
        return mean - off

    def under(self, odds: FloatArray) -> tuple[Transitions, Boundary, int]:
        """Return the process with these odds, the boundary in its units, and the shift of units."""
        fixed, ends = self.moves._with_odds(odds), self.boundary
        shift = self.unit - fixed._cost_exponent
        give_up = float(np.ldexp(ends.give_up, shift))
        there = Boundary(ends.fixed, np.ldexp(ends.values, shift), give_up, ends.stops)
        return fixed, there, shift


def solve(moves: Transitions, boundary: Boundary, rtol: float, *, worst: bool) -> PolicyBounds:
    """Return the least expected cost and the reach, with nature against (worst) or for the plan."""
    sign = 1.0 if worst else -1.0
    low, high = moves._bounds[0], attainable(moves)
    layer, usable = layers(moves, low, high, boundary, worst=worst)
    if not worst:
        high = np.where(layer[moves.next_states] < 0, high, 0.0)
    kept = np.flatnonzero(usable)
    nowhere = np.where(boundary.fixed, boundary.values, boundary.give_up)
    nothing = Bounded(nowhere, nowhere, nowhere)
    ends = boundary.arrived.astype(np.float64)
    if kept.size == 0:
        policy = np.full(nowhere.size, -1, np.int64)
        return PolicyBounds(nothing, Bounded(ends, ends, ends), policy, 0, 0.0, Status.CONVERGED)
    chosen = usable[moves._outcome_choices] & (high > 0.0)
    narrowed = moves._narrowed(chosen, np.minimum(low, high)[chosen], high[chosen])
    game = _Game(narrowed, moves._cost_exponent, boundary)
    value, policy, above, below, rounds = _iterate(game, rtol, sign, None)
    pair = Pair(value, np.zeros(value.size))
    solved = Solved(pair, policy, below, excess(above), rounds, True)
    cost = cost_bounds(solved, boundary, boundary.give_up)

    # Reach: nature moves again, the plan is fixed; the barrier is a cost that falls under all odds.
    barrier, slope = value, above
    if not worst:
        barrier, _, slope, _, _ = _iterate(game, rtol, 1.0, policy)
    reach, close = _reach(game, policy, barrier, slope, worst=worst)
    good = max(above, below) <= max(rtol, PROVED_AGAINST_NATURE) and (close or not worst)
    status = Status.CONVERGED if good else Status.UNVERIFIED
    if rounds == MOST_TURNS and not good:
        status = Status.BUDGET
    whole = np.where(policy >= 0, kept[policy], -1)
    return PolicyBounds(cost, reach, whole, rounds, max(above, below), status)


def _iterate(
    game: _Game, rtol: float, sign: float, given: IntArray | None
) -> tuple[FloatArray, IntArray, float, float, int]:
    """Improve nature's odds and the policy in turn; return both, Theorem W's ratios, and rounds."""
    process, costs, least = game.moves._process, game.costs, game.least_costs()
    odds, ends = game.moves.counts.copy(), game.boundary.fixed
    value, failed = np.zeros(ends.size), 0
    policy = np.full(ends.size, -1, np.int64) if given is None else given
    for rounds in range(1, MOST_TURNS + 1):
        before = value
        fixed, there, shift = game.under(odds)
        if given is None:
            # against the worst odds, a policy that does not give up may walk for 1e15 moves
            solved = least_cost(fixed._process, there, from_above=sign > 0.0)
            policy = solved.policy
        else:
            solved = value_of(fixed._process, given, there, np.ldexp(value, shift))
        value = np.ldexp(solved.pair.high, -shift)
        failed = 0 if solved.status.good else failed + 1
        if given is not None and not np.isfinite(value).all():
            return value, policy, np.inf, np.inf, rounds
        found, error = game.extremes(costs, value, sign, odds)
        with np.errstate(invalid="ignore"):
            if given is None:
                # of choices with equal cost under the last odds, take one that nature cannot spoil
                order = np.lexsort((found, process.owner))
                best = order[np.searchsorted(process.owner, np.flatnonzero(policy >= 0))]
                policy[policy >= 0] = best
            moving = policy[policy >= 0]
            every = np.flatnonzero(~ends[process.owner]) if given is None else moving
            above = float(((found + error) / least)[moving].max(initial=0.0))
            below = float(((error - found) / least)[every].max(initial=0.0))
            moved = np.abs(value - before) > NOTICEABLE * np.abs(value)
        # With nature's odds known to `rtol` only, its answers need not settle: so costs under given
        # odds are always computed to the end, and the ratios alone may stop earlier.
        if not (moved & (value < np.inf)).any() and rounds > 1:
            break
        # nature's answers to values that are wrong lead nowhere
        if max(above, below) <= rtol * (1.0 - rtol) or failed > 1:
            break
    # a NaN must not pass for a proof
    above = above if above >= 0.0 else np.inf
    below = below if below >= 0.0 else np.inf
    return value, policy, above, below, rounds


def worst_cost(
    moves: Transitions, low: FloatArray, high: FloatArray, boundary: Boundary, policy: IntArray
) -> FloatArray:
    """Return the approximate worst expected cost of a policy; giving up is allowed."""
    narrowed = moves._narrowed(high > 0.0, np.minimum(low, high)[high > 0.0], high[high > 0.0])
    return _iterate(_Game(narrowed, moves._cost_exponent, boundary), FINEST, 1.0, policy)[0]


def _reach(
    game: _Game, policy: IntArray, barrier: FloatArray, slope: float, *, worst: bool
) -> tuple[Bounded, bool]:
    """Return the least or the largest probability of arrival of a policy, with its bracket."""
    boundary, moving = game.boundary, policy[policy >= 0]
    odds = game.moves.counts.copy()
    free = np.zeros_like(odds)
    reach = boundary.arrived.astype(np.float64)
    for _ in range(MOST_TURNS):
        before = reach
        fixed, there, _ = game.under(odds)
        solved = value_of(fixed._process, policy, there, np.zeros(policy.size))
        bounded, _ = arrival(fixed._process, solved, there.arrived, there.floor, sure=False)
        reach = bounded.values
        found, error = game.extremes(free, reach, -1.0 if worst else 1.0, odds)
        if np.abs(reach - before).max(initial=0.0) <= NOTICEABLE:
            break
    ratio = float(((np.abs(found) + error) / game.least_costs())[moving].max(initial=0.0))
    slack = np.full(reach.size, np.inf)
    if slope < 1.0 and ratio < np.inf:
        # barriers are infinite where there is no plan
        height = rounded_up(np.where(policy >= 0, np.abs(barrier), 0.0) + abs(boundary.floor))
        slack = rounded_up(ratio / (1.0 - slope) * height)
    slack[policy < 0] = 0.0
    lower = np.maximum(np.nextafter(reach - slack, -np.inf), 0.0)
    upper = np.minimum(np.nextafter(reach + slack, np.inf), 1.0)
    lower[policy < 0], upper[policy < 0] = reach[policy < 0], reach[policy < 0]
    return Bounded(reach, lower, upper), bool(slack.max(initial=0.0) <= PROVED_AGAINST_NATURE)


def attainable(moves: Transitions) -> FloatArray:
    """Return upper bounds on the odds, lowered to `low` where the lower bounds sum to 1."""
    full = reach_one(moves._bounds[0], moves.outcome_indptr)
    return np.where(full[moves._outcome_choices], moves._bounds[0], moves._bounds[1])


def reach_one(numbers: FloatArray, ptr: IntArray) -> BoolArray:
    """Whether the numbers of a choice sum to 1 or more; what may be rounding does not count."""
    return np.asarray(np.add.reduceat(numbers, ptr[:-1]) >= 1.0 - np.diff(ptr) * 2.0**-52)


def layers(
    moves: Transitions, low: FloatArray, high: FloatArray, boundary: Boundary, *, worst: bool
) -> tuple[IntArray, BoolArray]:
    """Return -1 where a policy ends surely for all odds (worst) or for some (best), and choices.

    Elsewhere it is the round in which a state was ruled out. Against the worst odds each of its
    choices can lead to an earlier layer, or can be kept in its own; with the best odds each must.
    The choices are those with which a policy may end surely.
    """
    layer = np.full(moves.num_states, -1, np.int64)
    if boundary.give_up < np.inf:
        return layer, np.ones(moves.num_choices, dtype=bool)
    ptr = moves.outcome_indptr
    first = ptr[:-1]
    while True:
        alive = layer < 0
        inside = alive[moves.next_states]
        if worst:
            usable = np.logical_and.reduceat(inside | (high == 0.0), first)
        else:
            out = np.add.reduceat(np.where(inside, 0.0, low), first) > 0.0
            usable = ~out & reach_one(np.where(inside, high, 0.0), ptr)
        usable &= alive[moves.states]
        found = boundary.fixed.copy()
        while True:
            there = found[moves.next_states]
            if worst:  # the odds of going there must be positive
                must = np.add.reduceat(np.where(there, low, 0.0), first) > 0.0
                progress = must | ~reach_one(np.where(there, 0.0, high), ptr)
            else:  # they can be positive
                progress = np.logical_or.reduceat(there & (high > 0.0), first)
            more = np.zeros_like(found)
            more[moves.states[usable & progress]] = True
            if not (more & ~found).any():
                break
            found |= more
        if (found == alive).all():
            return layer, usable
        layer[alive & ~found] = layer.max() + 1
