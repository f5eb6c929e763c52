"""Markov decision processes: sure arrival, a first policy, sweeps, linear solves, checks.

State s has the choices ``first[s]`` to ``first[s + 1]``; choice k has the outcomes ``ptr[k]`` to
``ptr[k + 1]``, each with a head (the next state), a count and a cost. A policy holds a choice for
every state, -1 where it makes no move. Values at states without a move are boundary values.

Outcomes that stay at the same state are left out. With D the total count of the other outcomes, a
choice costs ``fee`` = (Σ counts · costs) / D in expectation until the state is left, and then leads
on with ``odds`` = counts / D.

**Interval odds.** Outcome e of a choice has odds between ``low[e]`` and ``high[e]``, and the odds
sum to 1. At the extreme of Σ p x every outcome has its lower bound. The rest goes to the outcomes
with the largest x (or the smallest), as far as their upper bounds allow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ..numerics.csr import entries_of
from ..numerics.doubledouble import (
    DD_ERROR,
    EPSILON,
    FEW_ROUNDINGS,
    UNIT_ROUNDOFF,
    Pair,
    add,
    multiply_double,
)
from ..numerics.heap import Heap, drop_least, push
from ..numerics.jit import njit
from ..typing import BoolArray, FloatArray, IntArray

ROW_UNDERFLOW = 2.0**-1000
"""More than all that a row can lose where products underflow."""
CLEAR = 2.0**-30
"""A balance above this share of its terms is accurate to six digits in plain doubles."""


class MDP(NamedTuple):
    """Choices and outcomes, with those that lead to each state.

    Indices of outcomes, states and choices are unsigned 32-bit integers. Numba then leaves out its
    test for negative indices, which takes half the time of a sweep.
    """

    first: IntArray
    ptr: IntArray
    heads: IntArray
    counts: FloatArray
    costs: FloatArray
    owner: IntArray
    fee: FloatArray
    odds: FloatArray
    into_ptr: IntArray
    into: IntArray
    into_odds: FloatArray
    relief: FloatArray
    """Mean decrease of a barrier, added to the cost of a choice; 0 without free choices."""


class Choices(NamedTuple):
    """The allowed choices of some states, numbered in the order of a sweep.

    State i has the choices ``first[i]`` to ``first[i + 1]``; choice k is choice ``which[k]`` of the
    process. Outcomes at other states are left out: corrections are 0 there. ``ends`` marks the
    choices that have such outcomes. Fees include relief.

    Sweeps in another order than that of memory take seven times as long on a grid of 90,000 states.
    """

    first: IntArray
    ptr: IntArray
    heads: IntArray
    odds: FloatArray
    fee: FloatArray
    which: IntArray
    ends: BoolArray


# ------------------------------------------------------------------ preparing


def prepared(
    first: IntArray,
    ptr: IntArray,
    heads: IntArray,
    counts: FloatArray,
    costs: FloatArray,
    owner: IntArray,
) -> MDP:
    """Return the process with fees, odds, and for each state the choices that may lead to it.

    A choice that never leaves its state has an infinite fee, and odds of 0.
    """
    away = heads != np.repeat(owner, np.diff(ptr))
    leaving = np.add.reduceat(np.where(away, counts, 0.0), ptr[:-1])
    # outcomes that stay are paid for too: they are part of the price of leaving
    paid = np.add.reduceat(counts * costs, ptr[:-1])
    with np.errstate(divide="ignore", invalid="ignore"):
        fee = np.where(leaving > 0.0, paid / leaving, np.inf)
        odds = np.where(away, counts / np.repeat(leaving, np.diff(ptr)), 0.0)
    kept = odds > 0.0
    kept_ptr = np.append(0, np.cumsum(kept))[ptr]
    shape = (owner.size, first.size - 1)
    into = sparse.csr_array((odds[kept], heads[kept], kept_ptr), shape).tocsc()
    arrivals = into.indptr.astype(np.uint32), into.indices.astype(np.uint32), into.data
    relief = np.zeros(owner.size)
    return MDP(first, ptr, heads, counts, costs, owner, fee, odds, *arrivals, relief)


# ------------------------------------------------------------------ graph questions


@njit(cache=True, nogil=True)
def approach(process: MDP, usable: BoolArray, targets: BoolArray) -> tuple[IntArray, IntArray]:
    """Return the fewest moves by usable choices to a target, and the first choice to make.

    An outcome of that choice is nearer to the target. The results are 0 and -1 at targets, and
    where no usable choice leads to one.
    """
    n = targets.size
    rank = np.zeros(n, np.int64)
    choice = np.full(n, -1, np.int64)
    seen = targets.copy()
    queue = np.empty(n, np.int64)
    tail = 0
    for s in range(n):
        if targets[s]:
            queue[tail] = s
            tail += 1
    head = 0
    # breadth first from the targets, against the moves: the first choice found is a shortest one
    while head < tail:
        y = queue[head]
        head += 1
        for e in range(process.into_ptr[y], process.into_ptr[y + 1]):
            k = process.into[e]
            s = process.owner[k]
            if usable[k] and not seen[s]:
                seen[s] = True
                rank[s] = rank[y] + 1
                choice[s] = k
                queue[tail] = s
                tail += 1
    return rank, choice


@njit(cache=True, nogil=True)
def infinite_layers(process: MDP, ends: BoolArray, allowed: BoolArray) -> IntArray:
    """Return the layers of states from which no policy of allowed choices surely ends; else -1.

    Every allowed choice of such a state has an outcome in a lower layer, or all its outcomes in the
    state's own layer. The other states can reach an end by choices that never leave them. Choices
    that may lead to infinite states are removed from `allowed`. Choices that never leave their
    state must not be allowed.
    """
    n = ends.size
    layer = np.full(n, -1, np.int64)
    left = np.zeros(n, np.int64)
    # largest layer so far among the infinite states that a state's choices may lead to
    over = np.full(n, -1, np.int64)
    for k in range(allowed.size):
        left[process.owner[k]] += allowed[k]
    stack = np.empty(n, np.int64)
    most = -1
    while True:
        # states that cannot reach an end are the next layer: their remaining choices stay in it
        onward = approach(process, allowed, ends)[1]
        size = 0
        for s in range(n):
            if layer[s] < 0 and onward[s] < 0 and not ends[s]:
                layer[s] = most + 1
                stack[size] = s
                size += 1
        if size == 0:
            return layer
        most += 1
        # if all choices of a state may lead to lower layers, it is infinite too: one layer above
        while size > 0:
            size -= 1
            x = stack[size]
            for e in range(process.into_ptr[x], process.into_ptr[x + 1]):
                k = process.into[e]
                s = process.owner[k]
                if allowed[k]:
                    allowed[k] = False
                    left[s] -= 1
                    over[s] = max(over[s], layer[x])
                    if left[s] == 0 and layer[s] < 0 and not ends[s]:
                        layer[s] = over[s] + 1
                        most = max(most, layer[s])
                        stack[size] = s
                        size += 1


def choices_of(process: MDP, policy: IntArray) -> BoolArray:
    """Return which choices a policy makes."""
    chosen = np.zeros(process.owner.size, np.bool_)
    chosen[policy[policy >= 0]] = True
    return chosen


def policy_reaching(process: MDP, policy: IntArray, targets: BoolArray) -> BoolArray:
    """Return the states from which the policy may lead to a target."""
    reached: BoolArray = approach(process, choices_of(process, policy), targets)[1] >= 0
    return targets | reached


@njit(cache=True, nogil=True)
def first_policy(
    process: MDP, fixed: BoolArray, allowed: BoolArray, values: FloatArray, give_up: float
) -> IntArray:
    """Return a proper policy, and set rough values of it.

    Dijkstra's algorithm. A choice counts as soon as some of its outcomes are settled; the others
    are treated as a return to its own state. So every move may lead to a state settled before,
    which makes the policy proper. States that cost more than `give_up` make no move. Dead ends are
    settled from the start.
    """
    n = fixed.size
    policy = np.full(n, -1, np.int64)
    settled = fixed.copy()
    for s in range(n):
        dead = not fixed[s]
        for k in range(process.first[s], process.first[s + 1]):
            dead = dead and not allowed[k]
        if dead and give_up < np.inf:
            settled[s] = True
            values[s] = give_up
    mass = np.zeros(process.owner.size)
    onward = np.zeros(process.owner.size)
    # for each state one entry of the heap is valid, that with this key; the key is at most the
    # least estimate of the state's choices
    least = np.full(n, np.inf)
    capacity = process.into.size + 1
    heap = Heap(np.empty(capacity, np.float64), np.empty(capacity, np.int64))
    size = 0
    queue = np.empty(n, np.int64)
    tail = 0
    for s in range(n):
        if settled[s]:
            queue[tail] = s
            tail += 1
    head = 0
    while True:
        while head < tail:
            y = queue[head]
            head += 1
            for e in range(process.into_ptr[y], process.into_ptr[y + 1]):
                k = process.into[e]
                s = process.owner[k]
                if allowed[k] and not settled[s]:
                    mass[k] += process.into_odds[e]
                    onward[k] += process.into_odds[e] * values[y]
                    # the estimate of a choice changes with each settled outcome, down or up
                    key = (process.fee[k] + onward[k]) / mass[k]
                    if key < least[s]:
                        least[s] = key
                        size = push(heap, size, key, s)
        if size == 0:
            break
        key = heap.keys[0]
        s = heap.vertices[0]
        size = drop_least(heap, size)
        if settled[s] or key != least[s]:
            continue
        best, choice = np.inf, -1
        for k in range(process.first[s], process.first[s + 1]):
            if mass[k] > 0.0 and (process.fee[k] + onward[k]) / mass[k] < best:
                best, choice = (process.fee[k] + onward[k]) / mass[k], k
        least[s] = best
        if best > key:  # estimates have risen since: wait for its turn
            size = push(heap, size, best, s)
            continue
        if not best < give_up:
            continue
        settled[s] = True
        policy[s] = choice
        values[s] = best
        queue[tail] = s
        tail += 1
    for s in range(n):
        if not settled[s]:
            values[s] = give_up
    return policy


def components(process: MDP, policy: IntArray) -> IntArray:
    """Return strong components of a policy's moves; -1 at states without a move.

    SciPy numbers them so that moves lead to smaller numbers. This is a good order for sweeps, but
    results do not depend on it.
    """
    moving = np.flatnonzero(policy >= 0)
    row, at = entries_of(policy[moving], process.ptr)
    arcs = np.ones(at.size, np.int8), (moving[row], process.heads[at])
    moves = sparse.csr_array(arcs, (policy.size, policy.size))
    _, component = connected_components(moves, connection="strong")
    return np.where(policy >= 0, component, -1)


# ------------------------------------------------------------------ values in doubles


@njit(cache=True, nogil=True)
def numbered(
    process: MDP, allowed: BoolArray, order: IntArray
) -> tuple[IntArray, IntArray, IntArray, FloatArray, FloatArray, IntArray, BoolArray]:
    """Return the arrays of `Choices`: those allowed at the states in `order`, in that order."""
    first, ptr, heads, counts = process[:4]
    odds = process.odds
    place = np.full(first.size - 1, -1, np.int32)
    choices = outcomes = 0
    # first count, then fill: `outcomes` is an upper bound here, since some are left out below
    for i in range(order.size):
        place[order[i]] = i
        for k in range(first[order[i]], first[order[i] + 1]):
            if allowed[k]:
                choices += 1
                for _ in range(ptr[k], ptr[k + 1]):  # unsigned differences would become floats
                    outcomes += 1
    new_first, new_ptr = np.zeros(order.size + 1, np.int64), np.zeros(choices + 1, np.uint32)
    new_heads, new_odds = np.empty(outcomes, np.uint32), np.empty(outcomes)
    fee, which = np.empty(choices), np.empty(choices, np.int64)
    ends = np.zeros(choices, np.bool_)
    choices = outcomes = 0
    for i in range(order.size):
        for k in range(first[order[i]], first[order[i] + 1]):
            if not allowed[k]:
                continue
            unit = process.fee[k]
            if process.relief[k] != 0.0:
                leaving = 0.0
                for e in range(ptr[k], ptr[k + 1]):
                    leaving += counts[e] if odds[e] > 0.0 else 0.0
                unit += process.relief[k] / leaving
            for e in range(ptr[k], ptr[k + 1]):
                if odds[e] > 0.0:
                    if place[heads[e]] < 0:
                        ends[choices] = True
                        continue
                    new_heads[outcomes] = place[heads[e]]
                    new_odds[outcomes] = odds[e]
                    outcomes += 1
            # no check passes a choice without a positive unit, so any will do
            fee[choices], which[choices] = unit if unit > 0.0 else 1.0, k
            choices += 1
            new_ptr[choices] = outcomes
        new_first[i + 1] = choices
    return new_first, new_ptr, new_heads[:outcomes], new_odds[:outcomes], fee, which, ends


@njit(cache=True, nogil=True)
def sweep(
    choices: Choices, gaps: FloatArray, stops: FloatArray, change: FloatArray, policy: IntArray
) -> tuple[float, int]:
    """Solve change = min(stops, min over k of gaps[k] + odds · change), state by state, in place.

    Returns the largest update, as a share of the fee of the choice that is made, and how many
    states changed their choice. Updates that may be rounding count as none, and a choice is kept
    unless another is better beyond rounding.
    """
    first, ptr, heads, odds, fee = choices[:5]
    most = 0.0
    changed = 0
    for i in range(change.size):
        # -1 is the choice to stop; `own` is the value of the choice made so far
        best, choice = stops[i], -1
        own = best if policy[i] < 0 else np.inf
        for k in range(first[i], first[i + 1]):
            q = gaps[k]
            for e in range(ptr[k], ptr[k + 1]):
                q += odds[e] * change[heads[e]]
            if k == policy[i]:
                own = q
            if q < best:
                best, choice = q, k
        if choice != policy[i]:
            # otherwise sweeps might switch for ever between choices that differ only by rounding
            if own - best <= FEW_ROUNDINGS * abs(best):
                best, choice = own, policy[i]
            else:
                changed += 1
                policy[i] = choice
        update = abs(best - change[i])
        # `not <=`: a NaN must count as an update
        if not update <= FEW_ROUNDINGS * abs(best):
            # costs are at most 1, and so is the unit of an update that no choice makes
            most = max(most, update / fee[choice] if choice >= 0 else update)
        change[i] = best
    return most, changed


@njit(cache=True, nogil=True)
def chosen_rows(
    choices: Choices, gaps: FloatArray, stops: FloatArray, change: FloatArray, policy: IntArray
) -> tuple[IntArray, IntArray, FloatArray, FloatArray, float, bool]:
    """Return a policy's odds as a `Matrix`, its residuals, and the largest residual over fee.

    The last result is whether every move may end or lead to an earlier row: then the policy is
    proper.
    """
    room = 0
    for i in range(policy.size):
        if policy[i] >= 0:
            for _ in range(choices.ptr[policy[i]], choices.ptr[policy[i] + 1]):
                room += 1
    ptr = np.zeros(policy.size + 1, np.uint32)
    columns, data = np.empty(room, np.uint32), np.empty(room)
    residual = np.empty(policy.size)
    most = 0.0
    descends = True
    size = 0
    for i in range(policy.size):
        k = policy[i]
        total = stops[i] if k < 0 else gaps[k]
        down = k < 0 or choices.ends[k]
        # an empty range where the policy stops
        for e in range(choices.ptr[k], choices.ptr[k + 1] if k >= 0 else choices.ptr[k]):
            columns[size], data[size] = choices.heads[e], choices.odds[e]
            total += data[size] * change[columns[size]]
            down = down or columns[size] < i
            size += 1
        ptr[i + 1] = size
        descends = descends and down
        residual[i] = total - change[i]
        if not abs(residual[i]) <= FEW_ROUNDINGS * abs(change[i]):
            unit = choices.fee[k] if k >= 0 else 1.0
            most = max(most, abs(residual[i]) / unit)
    return ptr, columns, data, residual, most, descends


# ------------------------------------------------------------------ checks in double-doubles


@njit(cache=True, nogil=True)
def balance(process: MDP, k: int, values: Pair, costs: float) -> tuple[float, float, float]:
    """Return Σ counts · (costs · cost + value there - value here) over a choice's outcomes.

    It is summed in double-doubles and rounded at the end. Also returned: a bound on its error
    before that rounding, and Σ counts · cost plus `relief`, rounded down. `costs` is 1, or 0 to
    leave the costs out.
    """
    s = process.owner[k]
    here, here_low = -values.high[s], -values.low[s]
    high = low = size = paid = 0.0
    for e in range(process.ptr[k], process.ptr[k + 1]):
        y = process.heads[e]
        paid += process.counts[e] * process.costs[e]
        if y != s:
            a, b = add(values.high[y], values.low[y], here, here_low)
            size += process.counts[e] * abs(a)
            a, b = multiply_double(a, b, process.counts[e])
            high, low = add(high, low, a, b)
        if costs > 0.0:
            a, b = multiply_double(process.costs[e], 0.0, process.counts[e])
            high, low = add(high, low, a, b)
    # Two sums per outcome at most, each off by `DD_ERROR` of the magnitudes added so far, and two
    # operations per term. `size` and `paid` add up magnitudes: cancellation does not hide an error.
    terms = 2.0 * (process.ptr[k + 1] - process.ptr[k]) + 4.0
    error = 2.0 * terms * DD_ERROR * (size + paid) + ROW_UNDERFLOW
    return high, error, paid * (1.0 - 2.0 * terms * UNIT_ROUNDOFF) + process.relief[k]


@njit(cache=True, nogil=True)
def balances(
    process: MDP, choices: IntArray, values: Pair, costs: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the `balance` of these choices, its error with all rounding, costs, leaving counts."""
    high, error, paid = np.empty(choices.size), np.empty(choices.size), np.empty(choices.size)
    leaving = np.zeros(choices.size)
    for i in range(choices.size):
        k = choices[i]
        high[i], error[i], paid[i] = balance(process, k, values, costs)
        error[i] += FEW_ROUNDINGS * (abs(high[i]) + error[i])
        for e in range(process.ptr[k], process.ptr[k + 1]):
            if process.heads[e] != process.owner[k]:
                leaving[i] += process.counts[e]
    return high, error, paid, leaving


def policy_check(
    process: MDP, policy: IntArray, states: IntArray, values: Pair, costs: float
) -> tuple[FloatArray, float, float]:
    """Return how well values fit their policy: residuals of these states, and two ratios.

    The ratios bound how far a balance lies above 0 and below 0, as a share of the choice's cost.
    They include all rounding errors, and are infinite where nothing is proved.
    """
    high, error, paid, leaving = balances(process, policy[states], values, costs)
    with np.errstate(divide="ignore", invalid="ignore"):
        worst = [((error + side * high) / paid).max(initial=0.0) for side in (1.0, -1.0)]
    above, below = (np.inf if np.isnan(each) else float(each) for each in worst)
    return high / leaving, above, below


def worst_ratio(
    process: MDP, choices: IntArray, values: Pair, costs: float, side: float, relief: FloatArray
) -> float:
    """Return the largest ratio of side · balance to cost + `relief` over choices, rounded up.

    A free choice between states of equal value has balance exactly 0 and is skipped: a bound on
    rounding divided by a cost of 0 would be infinite. The result is inf or NaN if nothing is
    proved.
    """
    here = np.repeat(process.owner, np.diff(process.ptr))
    same = (costs * process.costs == 0.0) & (values.high[process.heads] == values.high[here])
    same &= values.low[process.heads] == values.low[here]
    choices = choices[~np.logical_and.reduceat(same, process.ptr[:-1])[choices]]
    high, error, paid, _ = balances(process, choices, values, costs)
    cost = paid + relief[choices]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(cost > 0.0, (error + side * high) / cost, np.inf)
    return float(ratio.max(initial=0.0))


def mean_falls(process: MDP, choices: IntArray, barrier: Pair) -> FloatArray:
    """Return Σ w (barrier here - barrier there) of these choices, rounded down; 0 for others."""
    found = np.zeros(process.owner.size)
    # the balance is the mean rise
    high, error, _, _ = balances(process, choices, barrier, 0.0)
    found[choices] = -high - error
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def optimality_check(
    process: MDP,
    allowed: BoolArray,
    states: IntArray,
    give_up: float,
    values: Pair,
    policy: IntArray,
    gaps: FloatArray,
    enough: float,
) -> tuple[float, float]:
    """Return the ratios of `policy_check`, above and below 0; set the gaps.

    Above: over the policy's own choices. Below: over all allowed choices; infinite if a value
    exceeds `give_up`. The gap of a choice is its balance divided by the counts that leave. Plain
    doubles are used where their rounding changes a ratio by at most `enough`. They are also used
    for choices far above 0: these do not affect the ratios. Neither is done where relief is
    negative.
    """
    first, ptr, heads, counts, costs = process[:5]
    highs = values.high
    above = below = 0.0
    for s in states:
        here = highs[s]
        if here > give_up or (here == give_up and values.low[s] > 0.0):
            below = np.inf
        for k in range(first[s], first[s + 1]):
            if not allowed[k]:
                continue
            high = size = paid = leaving = 0.0
            for e in range(ptr[k], ptr[k + 1]):
                there = highs[heads[e]]
                high += counts[e] * (costs[e] + (there - here))
                size += counts[e] * (costs[e] + abs(there) + abs(here))
                paid += counts[e] * costs[e]
                if heads[e] != s:
                    leaving += counts[e]
            # the low parts and every rounding together are below (outcomes + 8) · 2⁻⁵² of the size
            rounding = ((ptr[k + 1] - ptr[k]) + 8.0) * EPSILON
            error = rounding * size + ROW_UNDERFLOW
            paid -= rounding * paid
            if process.relief[k] >= 0.0 and k != policy[s]:
                clear = max(CLEAR, (ptr[k + 1] - ptr[k]) * FEW_ROUNDINGS)
                if high > clear * size + ROW_UNDERFLOW:
                    gaps[k] = high / leaving
                    continue
            # relief only adds to what is paid
            if not (process.relief[k] >= 0.0 and error <= enough * paid):
                high, error, paid = balance(process, k, values, 1.0)
            gaps[k] = high / leaving
            error += FEW_ROUNDINGS * (abs(high) + error)
            over, under = (error + high) / paid, (error - high) / paid
            if not under <= below:  # NaN, or worse than any before
                below = under if under > below else np.inf
            if k == policy[s] and not over <= above:
                above = over if over > above else np.inf
    return above, below


@njit(cache=True, nogil=True)
def correct(values: Pair, order: IntArray, correction: FloatArray) -> None:
    """Add a correction to the values of the states in `order`."""
    for i in range(order.size):
        s = order[i]
        values.high[s], values.low[s] = add(values.high[s], values.low[s], correction[i], 0.0)


# ------------------------------------------------------------------ interval odds


INSERTED = 24
"""Largest number of outcomes that is sorted by insertion."""


@njit(cache=True, nogil=True)
def extremes(
    ptr: IntArray,
    heads: IntArray,
    owner: IntArray,
    low: FloatArray,
    high: FloatArray,
    costs: FloatArray,
    values: FloatArray,
    sign: float,
    odds: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the largest (sign 1) or least (-1) Σ p (cost + value there - value here) per choice.

    Also return a bound on its rounding error, for finite values. `odds` is set to odds that attain
    the extreme.
    """
    found, error = np.empty(owner.size), np.empty(owner.size)
    for k in range(owner.size):
        begin, end = np.int64(ptr[k]), np.int64(ptr[k + 1])
        size = end - begin
        gain, order = np.empty(size), np.empty(size, np.int64)
        left, largest = 1.0, 0.0
        for i in range(size):
            e = begin + i
            change = values[heads[e]] - values[owner[k]]
            gain[i] = costs[e] + change
            largest = max(largest, costs[e] + abs(change))
            odds[e] = low[e]
            left -= low[e]
            # insertion sort while the gains come in; a long row is sorted below, all at once
            j = i if size <= INSERTED else 0
            while j > 0 and sign * gain[order[j - 1]] < sign * gain[i]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = i
        if size > INSERTED:
            order = np.argsort(-sign * gain, kind="mergesort")
        # what the lower bounds leave of 1 goes to the most extreme outcomes first
        for j in range(size):
            if left <= 0.0:
                break
            e = begin + order[j]
            more = min(high[e] - low[e], left)
            odds[e] += more
            left -= more
        total = 0.0
        for i in range(size):
            # an outcome of odds 0 may have an infinite gain: 0 · inf would be NaN
            if odds[begin + i] > 0.0:
                total += odds[begin + i] * gain[i]
        found[k] = total
        # In units of 2⁻⁵³ · largest: 2 for a gain, twice because it also decides the order;
        # size + 1 for what is left of 1; size + 2 for odds, products and their sum.
        error[k] = 4.0 * (size + 4.0) * UNIT_ROUNDOFF * largest
    return found, error
