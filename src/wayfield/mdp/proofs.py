"""Proofs of expected cost as files.

The values of the plan are computed again in double-doubles, v = value + low part. With m the least
end value, the sub- and supersolutions of `solver` follow from them by scaling:

    l = v - 2^-e ((v - m) + a),   u = v + 2^-e' ((v - m) + b),
    h ∓ 2^-e" ((v - m) + b)       for the probability h of arrival.

The file holds the low parts and the powers of two, chosen so that the checker finds them
sufficient in exact arithmetic; all rounding is bounded here. With positive costs a = b = 0. Where
choices are free, a is the barrier for all choices, and b counts the moves of the plan. Where the
plan may walk on for ever, b alone is the barrier of arrival.

**Odds in intervals.** v is the value alone, and E in Theorem W (`intervals`) is measured for
it in doubles. With the best odds, the barrier of arrival is the plan's worst expected cost.

The page ``docs/proofs-of-expected-cost.md`` has the theorems and their proofs,
`wayfield_verify._chance.read_process` the file format.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from math import fsum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..checks import frozen
from ..errors import InputError
from ..numerics import proof_file
from ..numerics.doubledouble import FEW_ROUNDINGS, Pair
from ..numerics.proof_file import Section
from ..typing import BoolArray, FloatArray, IntArray
from .intervals import attainable, layers, reach_one, worst_cost
from .kernels import (
    MDP,
    approach,
    choices_of,
    extremes,
    infinite_layers,
    mean_falls,
    policy_reaching,
    worst_ratio,
)
from .solver import (
    EXACT,
    Boundary,
    collapsed,
    evaluate,
    excess,
    free_choices,
    moves_barrier,
    rounded_up,
    shifted,
    value_of,
)

if TYPE_CHECKING:
    from .expected import ExpectedCost

SINGLE = 2.0**-56
"""Low parts have single precision if the error is then at most this, or twice that of doubles."""
LARGEST_EXPONENT = 100
"""Largest exponent of a scaled barrier."""


class Reasons(NamedTuple):
    """What a proof has beyond its process: claim, exponents, and sections."""

    claim: int
    exponents: tuple[int, int, int, int, int, int]
    odds: list[Section]
    answer: list[Section]
    reasons: list[Section]


def cost_sections(
    field: ExpectedCost, boundary: Boundary, names: Sequence[str] | None
) -> list[Section]:
    """Return the sections of a result and its proof; raise `InputError` if there is no proof."""
    moves, n = field.transitions, field.values.size
    policy, ends = moves._choices(field.plan), np.flatnonzero(boundary.fixed)
    found = (_known if field.odds is None else _between)(field, boundary, policy)
    price = np.inf if field.give_up is None else field.give_up
    sizes = np.diff(moves.indptr)
    head: list[Section] = [
        ("proc", struct.pack("<4Q", n, moves.num_choices, moves.counts.size, ends.size)),
        ("clai", struct.pack("<Bd6h", found.claim, price, *found.exponents)),
        proof_file.counts("choi", sizes),
    ]
    if (moves.actions != np.arange(moves.num_choices) - np.repeat(moves.indptr[:-1], sizes)).any():
        head.append(proof_file.counts("acti", moves.actions))
    head.append(proof_file.counts("outc", np.diff(moves.outcome_indptr)))
    head.append(proof_file.counts("head", moves.next_states))
    head += [*found.odds, _alike("cost", moves.costs)]
    head.append(proof_file.counts("endv", ends))
    at_ends = np.ldexp(boundary.values[ends], moves._cost_exponent)
    head.append(proof_file.doubles("endy", at_ends))
    if names is not None:
        head += proof_file.names(names, n, "states")
    plan = np.where(policy >= 0, policy - moves.indptr[:-1] + 1, 0)
    return [*head, proof_file.counts("plan", plan), *found.answer, *found.reasons]


def _known(field: ExpectedCost, boundary: Boundary, policy: IntArray) -> Reasons:
    """Prove a result for known odds."""
    moves, n = field.transitions, field.values.size
    process, exponent = moves._process, moves._cost_exponent
    fixed, floor = boundary.fixed, boundary.floor
    price = boundary.give_up
    values = np.ldexp(field.values, -exponent)
    solved = value_of(process, policy, boundary, values)
    finite = np.isfinite(solved.pair.high)
    _require_same(field, finite)
    chosen = policy[finite & (policy >= 0)]
    used = choices_of(process, policy)
    can = policy_reaching(process, policy, fixed)
    may_fail = policy_reaching(process, policy, ~can | ((policy < 0) & ~fixed))
    is_open = can & may_fail  # elsewhere arrival is 0 or 1: the graph of moves decides

    # barriers for free choices of the plan, and where it may walk on for ever; and for all choices
    free, zeros = free_choices(process), np.zeros(n)
    endless = bool((is_open & ~finite).any())
    for_plan, rank = zeros, np.zeros(n, np.int64)
    if endless or free[chosen].any():
        leaving = np.where(finite | is_open, policy, -1)
        for_plan = _narrowed(process, moves_barrier(process, leaving), leaving[leaving >= 0])
        needs = (finite & (policy >= 0) & free[policy]) | (is_open & ~finite)
        rank, _ = approach(process, used, ~needs)
    about, for_all, high, low = chosen, for_plan, solved.pair.high, solved.pair.low
    if field.optimal:
        leads_away = np.logical_or.reduceat(~finite[process.heads], process.ptr[:-1])
        about = np.flatnonzero((finite & ~fixed)[process.owner] & ~leads_away)
        for_all = zeros
        if free[about].any():
            _, barrier, part, inside, _ = collapsed(process, fixed)
            for_all = _narrowed(process, barrier[part], about[free[about] & ~inside[about]])
            # all states of a free component have one value, to the last digit
            first = np.unique(part, return_index=True)[1][part]
            high, low, values = high[first], low[first], values[first]
    all_relief = mean_falls(process, about, Pair(for_all, zeros))
    plan_relief = mean_falls(process, chosen, Pair(for_plan, zeros))

    # low parts of the values, and powers of two that make barriers of them
    known = np.where(finite, values, 0.0)
    with np.errstate(invalid="ignore"):
        rest = np.where(finite, (high - values) + low, 0.0)

    def errors(low: FloatArray) -> tuple[float, float]:
        """Return the relative errors, below and above, of the values with these low parts."""
        pair = _normalised(known, low)
        below = worst_ratio(process, about, pair, 1.0, -1.0, all_relief)
        above = worst_ratio(process, chosen, pair, 1.0, 1.0, plan_relief)
        return below, excess(above)

    low = _low_parts(rest, exponent, lambda low: max(errors(low)))
    below, above = errors(low)
    pair, inner = _normalised(known, low), np.flatnonzero(finite & ~fixed)
    if field.optimal and price < np.inf:
        # the lower barrier must not exceed what giving up costs
        more = (pair.high - boundary.give_up) + pair.low
        over = inner[more[inner] > 0.0]
        share = rounded_up(more[over]) / np.maximum(pair.high[over] - floor, more[over])
        below = max(below, float(share.max(initial=0.0)))
    e_low, e_up = _power(below), _power(above)
    height = np.abs(pair.high) + abs(floor)
    barriers = ((height + for_all, e_low), (height + for_plan, e_up))
    bounds = _wider((field.lower, field.upper), pair, barriers, finite & ~fixed, exponent)
    answer = _bracketed(("valu", "lowr", "uppr"), field.values, bounds)
    reasons = [_floats("vlow", np.ldexp(low, exponent))]

    # arrival, with v - m and the plan's barrier as the barrier, or the latter alone
    e_reach = 0
    if not field.optimal or price < np.inf:
        opened, height = policy[is_open], height + for_plan
        judged, factor = process, (1.0 + above) * (1.0 + FEW_ROUNDINGS)
        if endless:
            judged, height, factor = process._replace(costs=0.0 * process.costs), for_plan, 1.0
        relief = mean_falls(judged, opened, Pair(for_plan, zeros))
        chances = Pair((can & ~may_fail).astype(np.float64), zeros.copy())
        accuracy = EXACT / max(1.0, float(height[is_open].max(initial=0.0)))
        inside = np.where(is_open, policy, -1)
        evaluate(judged._replace(relief=relief), inside, chances, high, 0.0, accuracy)

        def error(low: FloatArray) -> float:
            pair = _normalised(field.reach, low)
            ratios = (worst_ratio(judged, opened, pair, 0.0, side, relief) for side in (-1.0, 1.0))
            return factor * max(ratios)

        low = _low_parts((chances.high - field.reach) + chances.low, 0, error)
        e_reach, pair = _power(error(low)), _normalised(field.reach, low)
        stated = (field.reach_lower, field.reach_upper)
        bounds = np.clip(_wider(stated, pair, ((height, e_reach),) * 2, is_open), 0.0, 1.0)
        answer += _bracketed(("reac", "rlor", "rupr"), field.reach, bounds)
        reasons.append(_floats("rlow", low))

    # layers of infinite states, ranks and barriers
    if not finite.all():
        allowed = process.fee < np.inf
        if not field.optimal:
            allowed &= used
        stops = (policy < 0) & (price < np.inf)
        layer = infinite_layers(process, fixed | stops, allowed)
        reasons.append(proof_file.counts("laye", layer[~finite]))
    if rank.any():
        reasons.append(proof_file.counts("rank", rank))
    for tag, numbers in (("ball", for_all), ("bpla", for_plan)):
        if numbers.any():
            reasons.append(_floats(tag, numbers))

    powers = (e_low, e_up, e_reach + exponent, exponent - e_low, exponent - e_up, -e_reach)
    claim = (not field.optimal) + 2 * endless
    return Reasons(claim, powers, [_alike("coun", moves.counts)], answer, reasons)


def _between(field: ExpectedCost, boundary: Boundary, policy: IntArray) -> Reasons:
    """Prove a result for the worst or the best odds in intervals."""
    moves, worst = field.transitions, field.odds == "worst"
    process, exponent, floor = moves._process, moves._cost_exponent, boundary.floor
    values = np.ldexp(field.values, -exponent)
    low, high = moves._bounds[0], attainable(moves)
    layer, usable = layers(moves, low, high, boundary, worst=worst)
    finite = layer < 0
    _require_same(field, finite)
    low, high = _fitting(process, low, high, layer, usable, worst=worst)

    # Theorem W: how far the extremes of C + R are from 0, in shares of the least mean cost
    inside = finite[process.heads]
    within = (frozen(np.where(inside, low, 0.0)), frozen(np.where(inside, high, 0.0)))
    shape, zeros = (process.ptr, process.heads, process.owner, *within), np.zeros(finite.size)
    known, scratch = np.where(finite, values, floor), np.empty(low.size)
    least, off = extremes(*shape, process.costs, zeros, -1.0, scratch)
    least -= off
    moving, every = policy[policy >= 0], np.flatnonzero(usable & ~boundary.fixed[process.owner])

    def off_by(field: FloatArray, costs: float, side: float, of: IntArray) -> tuple[float, float]:
        """Return the largest shares by which these extremes exceed 0, and fall short of it."""
        found, error = extremes(*shape, costs * process.costs, field.copy(), side, scratch)
        above = float(((found + error) / least)[of].max(initial=0.0))
        return above, float(((error - found) / least)[of].max(initial=0.0))

    side = 1.0 if worst else -1.0
    above, below = off_by(known, 1.0, side, moving)[0], off_by(known, 1.0, side, every)[1]
    above = excess(above)
    e_low, e_up = _power(below), _power(above)
    height, inner = np.abs(known) + abs(floor), finite & ~boundary.fixed
    barriers = ((height, e_low), (height, e_up))
    stated = (field.lower, field.upper)
    bounds = _wider(stated, Pair(known, zeros), barriers, inner, exponent)
    answer = _bracketed(("valu", "lowr", "uppr"), field.values, bounds)
    reasons = [_floats("vlow", zeros)]

    # arrival: the barrier falls for all odds, which the worst expected cost of the plan does
    e_reach, barrier = 0, zeros
    if boundary.give_up < np.inf:
        slope = above / (1.0 + above)
        if not worst:
            cost = worst_cost(moves, low, high, boundary, policy)
            for kind in (np.float32, np.float64):
                with np.errstate(over="ignore"):
                    barrier = np.maximum(cost - floor, 0.0).astype(kind).astype(np.float64)
                height, slope = barrier, np.inf
                if np.isfinite(barrier).all():
                    slope = off_by(barrier, 1.0, 1.0, moving)[0]
                if slope < 0.5:
                    break
        # the least arrival and the largest are extremes of R alone, on the other side of costs
        share = max(off_by(field.reach, 0.0, -side, moving)) / (1.0 - min(slope, 0.5))
        stated = (field.reach_lower, field.reach_upper)
        if slope < 0.5 and share < 0.5:
            e_reach, pair = _power(share), Pair(field.reach, zeros)
            bounds = np.clip(_wider(stated, pair, ((height, e_reach),) * 2, policy >= 0), 0.0, 1.0)
        else:  # for some odds the plan may not end: nothing is known of the largest arrival
            barrier, bounds = zeros, np.where(policy >= 0, [[0.0], [1.0]], field.reach)
        answer += _bracketed(("reac", "rlor", "rupr"), field.reach, bounds)
        reasons.append(_floats("rlow", zeros))
    if not finite.all():
        reasons.append(proof_file.counts("laye", layer[~finite]))
    if barrier.any():
        reasons.append(_floats("bpla", barrier))
    powers = (e_low, e_up, e_reach + exponent, 0, 0, -e_reach)
    odds = [_alike("oddl", low), _alike("oddh", high)]
    return Reasons(4 if worst else 14, powers, odds, answer, reasons)


def _fitting(
    process: MDP,
    low: FloatArray,
    high: FloatArray,
    layer: IntArray,
    usable: BoolArray,
    *,
    worst: bool,
) -> tuple[FloatArray, FloatArray]:
    """Widen bounds on odds by a few roundings where their sum is 1 only up to rounding.

    The solver allows for rounding (`reach_one`), the checker does not.
    """
    sizes = np.diff(process.ptr)
    choice = np.repeat(np.arange(sizes.size), sizes)
    roundings = (sizes * 2.0**-51)[choice]
    too_large = _beyond_one(low, process.ptr) > 0
    low = np.where(too_large[choice], low * (1.0 - roundings), low)
    # all outcomes; then those to which the layers say that a choice can be kept
    there, here = layer[process.heads], layer[process.owner][choice]
    kept = (here >= 0) & (there == here) if worst else usable[choice] & (there < 0)
    for some in (np.ones_like(kept), kept):
        part = np.where(some, high, 0.0)
        short = reach_one(part, process.ptr) & (_beyond_one(part, process.ptr) < 0)
        high = np.where(short[choice] & some, high * (1.0 + roundings), high)
    return low, high


def _beyond_one(numbers: FloatArray, ptr: IntArray) -> IntArray:
    """Return the sign of the sum of each choice's numbers minus 1, exactly."""
    excess = np.add.reduceat(numbers, ptr[:-1]) - 1.0
    near = np.abs(excess) <= np.diff(ptr) * 2.0**-50
    for k in np.flatnonzero(near):
        excess[k] = fsum((-1.0, *numbers[ptr[k] : ptr[k + 1]].tolist()))
    return np.sign(excess).astype(np.int64)


def _require_same(field: ExpectedCost, finite: BoolArray) -> None:
    """Raise `InputError` if values are infinite elsewhere than they should be."""
    wrong = finite != np.isfinite(field.values)
    if wrong.any():
        s = int(np.argmax(wrong))
        raise InputError(
            f"values[{s}] = {field.values[s]} is not the plan's cost, so there is no proof to write"
        )


def _alike(tag: str, numbers: FloatArray) -> Section:
    """Return a section of doubles, or of one if all are equal."""
    return proof_file.doubles(tag, numbers[:1] if (numbers == numbers[0]).all() else numbers)


def _low_parts(rest: FloatArray, exponent: int, error: Callable[[FloatArray], float]) -> FloatArray:
    """Round low parts to single precision, in units of 2^exponent, if that loses little."""
    with np.errstate(over="ignore", under="ignore"):
        single = np.ldexp(rest, exponent).astype(np.float32).astype(np.float64)
    if not np.isfinite(single).all():
        return rest
    single = np.ldexp(single, -exponent)
    return single if error(single) <= max(SINGLE, 2.0 * error(rest)) else rest


def _narrowed(process: MDP, barrier: FloatArray, choices: IntArray) -> FloatArray:
    """Round a barrier to single precision, unless that costs a tenth of a mean fall."""
    zeros = np.zeros(barrier.size)
    with np.errstate(over="ignore"):
        single = barrier.astype(np.float32).astype(np.float64)
    rounded, exact = (mean_falls(process, choices, Pair(b, zeros)) for b in (single, barrier))
    return single if (rounded[choices] >= 0.9 * exact[choices]).all() else barrier


def _normalised(high: FloatArray, low: FloatArray) -> Pair:
    """Return the same sums as double-doubles, whose low parts are below half a unit."""
    total = high + low
    back = total - high
    return Pair(total, (high - (total - back)) + (low - back))


def _power(error: float) -> int:
    """Return e with 2^-e at least the error; raise `InputError` if it is too large."""
    if not error < 0.5:
        raise InputError(
            "the bracket of this result could not be verified, so there is no proof to write"
        )
    return min(-int(np.frexp(error)[1]), LARGEST_EXPONENT) if error > 0.0 else LARGEST_EXPONENT


def _wider(
    stated: tuple[FloatArray, FloatArray],
    pair: Pair,
    barriers: tuple[tuple[FloatArray, int], tuple[FloatArray, int]],
    where: BoolArray,
    exponent: int = 0,
) -> FloatArray:
    """Return the stated bounds below and above, wider where these barriers prove less.

    A barrier is a height and e: it lies 2^-e times the height from the pair.
    """
    bounds = []
    for bound, (height, e), side in zip(stated, barriers, (-1.0, 1.0), strict=True):
        proved = np.ldexp(shifted(pair, np.ldexp(rounded_up(height), -e), side), exponent)
        bounds.append(np.where(where, side * np.maximum(side * bound, side * proved), bound))
    return np.array(bounds)


def _bracketed(tags: tuple[str, str, str], values: FloatArray, bounds: FloatArray) -> list[Section]:
    return [
        proof_file.doubles(tags[0], values),
        proof_file.counts(tags[1], proof_file.doubles_between(bounds[0], values)),
        proof_file.counts(tags[2], proof_file.doubles_between(values, bounds[1])),
    ]


def _floats(tag: str, numbers: FloatArray) -> Section:
    """Return a section of single precision if that holds the numbers, or else of doubles."""
    with np.errstate(over="ignore"):
        single = (numbers.astype(np.float32) == numbers).all()
    return proof_file.singles(tag, numbers) if single else proof_file.doubles(tag, numbers)
