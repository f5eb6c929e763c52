"""Plans over sampled outcomes: what an action did at similar places, and walls between them.

**Outcomes.** ``to[i, a, j]`` is the state that the j-th sample of action a at state i ended in, or
`NONE` for no sample. Absorbing ends are states without samples, and chance nodes states with one
action, which takes no time. The first half of the samples comes from one half of the episodes, the
second half from the other.

**Plan.** U(i) is the discounted probability of arrival, 1 at the goal. A sample is worth
v = γ^steps · U(outcome). The best sample of an action counts as the
second best, because what happened once is not certain. With n samples, and the mean over the
samples of all actions as `prior` further ones,

    Q(i, a) = (Σ v + prior · mean) / (n + prior),    U(i) = max over a of Q(i, a).

Order statistics with nonnegative weights are monotone and no expansion in the maximum norm, so that
U is the unique fixed point of a contraction. Sweeps in place from U = 0 rise to it.

**Evaluation.** The probability R of arrival under a plan solves the same equation with the plan's
action and γ near 1. Sweeps from 0 rise to it as well: whatever is left undone makes R too low,
never too high.

**Walls.** Around a state, look at the nearest steps of the buffer along a direction. Each of them
covers an interval, and might have crossed any plane no farther away than it goes. A plane is a wall
if far fewer steps crossed it than might have, with enough of them on either side.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import njit
from ._types import BoolArray, FloatArray, IntArray

NONE = -1
"""No sample."""

_OFFSETS = 12
"""Planes that are tried on either side of a state."""

Outcomes = NDArray[np.int32]
Discounts = NDArray[np.float32]


@njit(cache=True, nogil=True)
def _total(
    to: Outcomes,
    worth: Discounts,
    values: FloatArray,
    i: int,
    a: int,
    begin: int,
    end: int,
) -> tuple[float, float]:
    """Return the sum over samples, the best counted as the second best, and their number."""
    total, count, top, second = 0.0, 0.0, 0.0, 0.0
    for j in range(begin, end):
        k = to[i, a, j]
        if k != NONE:
            count += 1.0
            value = worth[i, a, j] * values[k]
            total += value
            if value > top:
                top, second = value, top
            elif value > second:
                second = value
    return total - (top - second), count


@njit(cache=True, nogil=True)
def improve(
    to: Outcomes,
    worth: Discounts,
    begin: int,
    end: int,
    goal: BoolArray,
    order: IntArray,
    prior: float,
    values: FloatArray,
    plan: IntArray,
    means: FloatArray,
) -> float:
    """Choose the best action of every state, in place and in the given order.

    Return the largest rise of a value. `plan` stays -1 where nothing leads to the goal; `means` are
    set to the mean over the samples of all actions.
    """
    actions = to.shape[1]
    totals, counts = np.zeros(actions), np.zeros(actions)
    rise = 0.0
    for i in order:
        if goal[i]:
            continue
        total, count = 0.0, 0.0
        for a in range(actions):
            totals[a], counts[a] = _total(to, worth, values, i, a, begin, end)
            total += totals[a]
            count += counts[a]
        if total == 0.0:
            continue
        means[i] = total / count
        best, which = 0.0, -1
        for a in range(actions):
            if counts[a] > 0.0:
                value = (totals[a] + prior * means[i]) / (counts[a] + prior)
                if value > best:
                    best, which = value, a
        # from below values only rise; an action is kept unless another one is better
        if best > values[i]:
            rise = max(rise, best - values[i])
            values[i] = best
            plan[i] = which
    return rise


@njit(cache=True, nogil=True)
def evaluate(
    to: Outcomes,
    worth: Discounts,
    begin: int,
    end: int,
    goal: BoolArray,
    order: IntArray,
    prior: float,
    plan: IntArray,
    means: FloatArray,
    sweeps: int,
    values: FloatArray,
) -> float:
    """Sweep over all states under a plan; return the largest rise in the first sweep.

    `prior` samples worth `means` are added to those of the plan's action.
    """
    first = 0.0
    for sweep in range(sweeps):
        rise = 0.0
        for i in order:
            a = plan[i]
            if goal[i] or a < 0:
                continue
            total, count = _total(to, worth, values, i, a, begin, end)
            if count > 0.0:
                value = (total + prior * means[i]) / (count + prior)
                if value > values[i]:
                    rise = max(rise, value - values[i])
                    values[i] = value
        if sweep == 0:
            first = rise
        if rise <= 0.02 * first:
            break
    return first


@njit(cache=True, nogil=True)
def arrive(
    to: Outcomes,
    weight: Discounts,
    goal: BoolArray,
    order: IntArray,
    rise: float,
    values: FloatArray,
) -> None:
    """Raise `values` to Σ weight · values[to], by sweeps until none rises by more than `rise`.

    Rows of the weights sum to less than 1, so that this ends. Where a weight is 0, `to` is ignored.
    """
    change = np.inf
    while change > rise:
        change = 0.0
        for i in order:
            if goal[i]:
                continue
            total = 0.0
            for j in range(to.shape[1]):
                if weight[i, j] > 0.0:
                    total += weight[i, j] * values[to[i, j]]
            if total > values[i]:
                change = max(change, total - values[i])
                values[i] = total


@njit(cache=True, nogil=True)
def find_planes(
    states: FloatArray,
    trail: FloatArray,
    near: IntArray,
    reach: FloatArray,
    rows: FloatArray,
    steps: FloatArray,
    meant: FloatArray,
    directions: FloatArray,
    least: int,
) -> NDArray[np.float32]:
    """Return the distance of the nearest wall from each state, (n, directions, 2): ahead, behind.

    Parameters
    ----------
    states : (n, d) float array
        Where to look.
    trail : (n, q, d) float array
        Where the episode of each state was just before and after, relative to it: no wall parts
        these.
    near : (n, k) int array
        Rows around each state that have a step, the farthest `reach` away.
    rows, steps, meant : (rows, d) float arrays
        Where steps begin, where they lead, and where their action usually leads: both relative.
        `meant` is empty if that is unknown.
    directions : (e, d) float array
        Normals of planes.
    least : int
        Steps that might have crossed a wall from either side.
    """
    n, count, coordinates = near.shape[0], near.shape[1], rows.shape[1]
    planes = np.full((n, directions.shape[0], 2), np.inf, np.float32)
    slots, known = 2 * _OFFSETS + 1, meant.shape[0] > 0
    crossed, below, above = np.zeros(slots + 1), np.zeros(slots + 1), np.zeros(slots + 1)
    for i in range(n):
        unit = reach[i] / _OFFSETS
        if unit == 0.0:
            continue
        for e in range(directions.shape[0]):
            crossed[:] = 0.0
            below[:] = 0.0
            above[:] = 0.0
            for j in range(count):
                t = near[i, j]
                if t == rows.shape[0]:  # no further rows
                    break
                start, move, intent = 0.0, 0.0, 0.0
                for c in range(coordinates):
                    start += (rows[t, c] - states[i, c]) * directions[e, c]
                    move += steps[t, c] * directions[e, c]
                    if known:
                        intent += meant[t, c] * directions[e, c]
                # offsets that lie between the ends of the step: differences, summed up below
                low, high = min(start, start + move), max(start, start + move)
                first = int(np.ceil(min(max(low / unit + _OFFSETS, 0.0), slots + 0.0)))
                last = int(np.ceil(min(max(high / unit + _OFFSETS, 0.0), slots + 0.0)))
                crossed[first] += 1.0
                crossed[last] -= 1.0
                # offsets that the step might have crossed: on its intended way if that is known,
                # otherwise to either side
                up = max(intent, 0.0) if known else abs(move)
                down = max(-intent, 0.0) if known else abs(move)
                first = int(np.ceil(min(max((start - down) / unit + _OFFSETS, 0.0), slots + 0.0)))
                middle = int(np.ceil(min(max(start / unit + _OFFSETS, 0.0), slots + 0.0)))
                last = int(np.ceil(min(max((start + up) / unit + _OFFSETS, 0.0), slots + 0.0)))
                above[first] += 1.0
                above[middle] -= 1.0
                below[middle] += 1.0
                below[last] -= 1.0
            for s in range(1, slots):
                crossed[s] += crossed[s - 1]
                below[s] += below[s - 1]
                above[s] += above[s - 1]
            most_ahead, most_behind, lean = 0.0, 0.0, 0.0
            for j in range(trail.shape[1]):
                offset = 0.0
                for c in range(coordinates):
                    offset += trail[i, j, c] * directions[e, c]
                lean += offset
                most_ahead, most_behind = max(most_ahead, offset), max(most_behind, -offset)
            # A wall is a run of planes that few cross, the first of them at `begin`. A state in the
            # midst of the run is on the side that its episode is on.
            begin = -1
            for s in range(slots + 1):
                few = False
                if s < slots:
                    might = below[s] + above[s]
                    # In the open most steps get where they mean to, and half of those that may go
                    # to either side: fewer cross a wall, by three and by four standard deviations.
                    if known:
                        most = min(0.5 * might, 0.7 * might - 1.4 * np.sqrt(might))
                    else:
                        most = min(0.22 * might, 0.5 * might - 2.25 * np.sqrt(might))
                    few = min(below[s], above[s]) >= least and crossed[s] <= most
                if few and begin < 0:
                    begin = s
                elif not few and begin >= 0:
                    low, high = (begin - _OFFSETS) * unit, (s - 1 - _OFFSETS) * unit
                    if low > 0.0:
                        ahead, close = True, low
                    elif high < 0.0:
                        ahead, close = False, -high
                    else:
                        ahead, close = lean <= 0.0, 0.0
                    if ahead and (low <= 0.0 or most_ahead <= close):
                        planes[i, e, 0] = min(planes[i, e, 0], close)
                    elif not ahead and (high >= 0.0 or most_behind <= close):
                        planes[i, e, 1] = min(planes[i, e, 1], close)
                    begin = -1
    return planes


@njit(cache=True, nogil=True)
def parted(
    points: FloatArray,
    candidates: IntArray,
    states: FloatArray,
    directions: FloatArray,
    planes: NDArray[np.float32],
) -> BoolArray:
    """Whether a wall next to a state parts it from a point, for (n, d) points, (n, k) states."""
    apart = np.zeros(candidates.shape, np.bool_)
    for q in range(candidates.shape[0]):
        for j in range(candidates.shape[1]):
            i = candidates[q, j]
            for e in range(directions.shape[0]):
                ahead, behind = planes[i, e, 0], planes[i, e, 1]
                if ahead < np.inf or behind < np.inf:
                    offset = 0.0
                    for c in range(points.shape[1]):
                        offset += (points[q, c] - states[i, c]) * directions[e, c]
                    if offset > ahead or -offset > behind:
                        apart[q, j] = True
                        break
    return apart


@njit(cache=True, nogil=True)
def relive(
    to: Outcomes,
    half: IntArray,
    start: IntArray,
    kinds: IntArray,
    dice: FloatArray,
    num_places: int,
) -> Outcomes:
    """Return where walks end that take the given actions by the samples of one half.

    `kinds` is (walks, steps), with -1 for no further step; `dice` is (walks, particles, steps) of
    numbers in [0, 1). States from `num_places` on are chance nodes, whose action is 0 and takes no
    time. An entry of the result is `NONE` where a particle had no sample to follow.
    """
    walks, particles, steps = dice.shape
    middle = to.shape[2] // 2
    ends = np.empty((walks, particles), np.int32)
    for w in range(walks):
        begin = middle * half[w]
        for p in range(particles):
            i = start[w]
            for s in range(steps):
                a = kinds[w, s]
                if a < 0:
                    break
                while True:
                    count = 0
                    for j in range(begin, begin + middle):
                        count += to[i, a, j] != NONE
                    if count == 0:
                        i = NONE
                        break
                    skip = int(dice[w, p, s] * count)
                    for j in range(begin, begin + middle):
                        if to[i, a, j] != NONE:
                            if skip == 0:
                                i = to[i, a, j]
                                break
                            skip -= 1
                    if i < num_places:
                        break
                    a = 0
                if i < 0:
                    break
            ends[w, p] = i
    return ends
