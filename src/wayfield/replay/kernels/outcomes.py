"""Plans over sampled outcomes: what an action did at similar places, and walls between them.

**Outcomes.** ``to[i, a, j]`` is the state that the j-th sample of action a at state i ended in, or
`NO_SAMPLE`. Absorbing ends are states without samples, and chance nodes states with one action,
which takes no time. The first half of the samples comes from one half of the episodes, the second
half from the other.

**Plan.** U(i) is the discounted probability of arrival, 1 at the goal. A sample is worth
v = γ^steps · U(outcome). The best sample of an action counts no more than the second best, because
what happened once is not certain. With n samples, and the mean over the samples of all actions as
`prior` further ones (a number for each state),

    Q(i, a) = (Σ v + prior · mean) / (n + prior),    U(i) = max over a of Q(i, a).

Order statistics with nonnegative weights are monotone and nonexpansive in the maximum norm, so that
U is the unique fixed point of a contraction, and sweeps in place converge to it.

**Evaluation.** The probability R of arrival under a plan is linear: R(i) = Σ weight · R(outcome),
with weights that sum to γ^steps, γ near 1. Sweeps converge to it as well.

**Walls.** Around a state, look at the nearest steps of the buffer along a direction. Each of them
might have crossed the planes on its intended path. If that is unknown, it might have crossed any
plane no farther away than the step is long. A plane is a wall if far fewer steps crossed it than
might have, with enough of them on either side. Steps that were not meant to cross the plane do not
count, because noisy observations carry them back and forth.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.jit import njit
from ...typing import BoolArray, FloatArray, IntArray

NO_SAMPLE = -1
"""No sample."""

BEHIND = 1e3
"""Steps that are added to the distance of states behind a wall."""
_OFFSETS = 12
"""Planes that are tried on either side of a state."""

Outcomes = NDArray[np.int32]
Discounts = NDArray[np.float32]


class OutcomeTable(NamedTuple):
    """Samples of all actions, one after the other.

    Those of action a at state i are ``first[i, a]`` to ``first[i, a + 1]``: the states ``to`` that
    they led to, and what an arrival there is worth.
    """

    first: IntArray
    to: Outcomes
    worth: Discounts


@njit(cache=True, nogil=True)
def pack(
    to: Outcomes, worth: Discounts, begin: int, end: int
) -> tuple[IntArray, Outcomes, Discounts]:
    """Return the samples from `begin` to `end` of (m, actions, samples) arrays without gaps."""
    states, actions = to.shape[0], to.shape[1]
    first = np.empty((states, actions + 1), np.int64)
    most = states * actions * (end - begin)
    onto, value = np.empty(most, np.int32), np.empty(most, np.float32)
    count = 0
    for i in range(states):
        first[i, 0] = count
        for a in range(actions):
            for j in range(begin, end):
                if to[i, a, j] != NO_SAMPLE:
                    onto[count], value[count] = to[i, a, j], worth[i, a, j]
                    count += 1
            first[i, a + 1] = count
    return first, onto[:count], value[:count]


@njit(cache=True, nogil=True)
def score(
    table: OutcomeTable, prior: FloatArray, values: FloatArray, i: int, scores: FloatArray
) -> float:
    """Set `scores` to Q(i, a) for all actions, 0 for those without samples; return the largest."""
    first, to, worth = table
    total = 0.0
    for a in range(scores.size):
        some, top, second = 0.0, 0.0, 0.0
        for j in range(first[i, a], first[i, a + 1]):
            value = worth[j] * values[to[j]]
            some += value
            second = max(second, min(top, value))  # no branches
            top = max(top, value)
        scores[a] = some - (top - second)
        total += scores[a]
    mean = total / max(first[i, scores.size] - first[i, 0], 1)
    best = 0.0
    for a in range(scores.size):
        count = first[i, a + 1] - first[i, a]
        if count > 0:
            scores[a] = (scores[a] + prior[i] * mean) / (count + prior[i])
            best = max(best, scores[a])
    return best


@njit(cache=True, nogil=True)
def score_all(table: OutcomeTable, prior: FloatArray, values: FloatArray) -> FloatArray:
    """Return Q(i, a) for all states and actions."""
    scores = np.empty((values.size, table.first.shape[1] - 1))
    for i in range(values.size):
        score(table, prior, values, i, scores[i])
    return scores


@njit(cache=True, nogil=True)
def improve(
    table: OutcomeTable, prior: FloatArray, goal: BoolArray, order: IntArray, values: FloatArray
) -> float:
    """Set the value of every state to that of its best action, in place and in the given order.

    Return the largest change.
    """
    scores, change = np.empty(table.first.shape[1] - 1), 0.0
    for i in order:
        if not goal[i]:
            best = score(table, prior, values, i, scores)
            change = max(change, abs(best - values[i]))
            values[i] = best
    return change


@njit(cache=True, nogil=True)
def follow(
    to: Outcomes,
    took: Discounts,
    late: float,
    begin: int,
    end: int,
    near: IntArray,
    share: FloatArray,
    plan: IntArray,
) -> tuple[IntArray, Outcomes, Discounts]:
    """Return where the plan's action leads: a table of one action, its worth the weights of R.

    The samples are those from `begin` to `end` of each state and of the ``near[i]`` around it, with
    weights ``share[i]``. Where there are none, all samples count. A step is worth `late`.
    """
    states, samples = to.shape[0], to.shape[2]
    first = np.empty((states, 2), np.int64)
    most = states * near.shape[1] * samples
    onto, weight = np.empty(most, np.int32), np.empty(most, np.float32)
    count = 0
    for i in range(states):
        first[i, 0] = count
        a, low, high = plan[i], begin, end
        while a >= 0:
            total = 0.0
            for k in range(near.shape[1]):
                for j in range(low, high):
                    total += share[i, k] * (to[near[i, k], a, j] != NO_SAMPLE)
            if total > 0.0:
                for k in range(near.shape[1]):
                    s = near[i, k]
                    for j in range(low, high):
                        if to[s, a, j] != NO_SAMPLE:
                            onto[count] = to[s, a, j]
                            steps = np.float64(took[s, a, j])  # as compiled code would
                            weight[count] = share[i, k] / total * late**steps
                            count += 1
                break
            if high - low == samples:
                break
            low, high = 0, samples
        first[i, 1] = count
    return first, onto[:count], weight[:count]


@njit(cache=True, nogil=True)
def arrive(table: OutcomeTable, goal: BoolArray, order: IntArray, values: FloatArray) -> float:
    """Set values to Σ weight · values[to], in place and in the given order; return the change."""
    first, to, weight = table
    change = 0.0
    for i in order:
        if not goal[i]:
            total = 0.0
            for j in range(first[i, 0], first[i, 1]):
                total += weight[j] * values[to[j]]
            change = max(change, abs(total - values[i]))
            values[i] = total
    return change


@njit(cache=True, nogil=True, inline="always")
def _slot(offset: float, unit: float) -> int:
    """Return the number of planes below an offset; planes are `unit` apart."""
    return int(np.ceil(min(max(offset / unit + _OFFSETS, 0.0), 2.0 * _OFFSETS + 1.0)))


@njit(cache=True, nogil=True)
def find_planes(
    states: FloatArray,
    trail: FloatArray,
    near: IntArray,
    reach: FloatArray,
    rows: FloatArray,
    steps: FloatArray,
    meant: FloatArray,
    acted: bool,
    directions: FloatArray,
    least: int,
) -> NDArray[np.float32]:
    """Return the distance of the nearest wall from each state, (n, directions, 2): ahead, behind.

    Parameters
    ----------
    states : (n, d) float array
        Where to look.
    trail : (n, q, d) float array
        Where the episode of each state was just before and after, relative to it: no wall
        separates these.
    near : (n, k) int array
        Rows around each state that have a step, the farthest `reach` away.
    rows, steps, meant : (rows, d) float arrays
        Where steps begin, where they lead, and where their action usually leads: both relative.
        `meant` is empty if that is unknown.
    acted : bool
        Whether actions were recorded. If not, `meant` was read off the steps themselves, and says
        nothing about what they aimed at.
    directions : (e, d) float array
        Normals of planes.
    least : int
        Least number of steps on either side that might have crossed a wall.
    """
    n, most_rows, coordinates = near.shape[0], near.shape[1], rows.shape[1]
    planes = np.full((n, directions.shape[0], 2), np.inf, np.float32)
    slots, known = 2 * _OFFSETS + 1, meant.shape[0] > 0
    crossed, below, above = np.empty(slots), np.empty(slots), np.empty(slots)
    both = np.empty(slots, np.bool_)
    borders = np.empty((5, slots + 1))
    # of the rows around a state: place, step and intent, first by coordinate, then in a direction
    place = np.empty((coordinates, most_rows))
    step, intent = np.empty_like(place), np.empty_like(place)
    start, move, intended = np.empty(most_rows), np.empty(most_rows), np.empty(most_rows)
    slot = np.empty((5, most_rows), np.uintp)
    for i in range(n):
        unit = reach[i] / _OFFSETS
        if unit == 0.0:
            continue
        count = 0
        while count < most_rows and near[i, count] != rows.shape[0]:
            t = near[i, count]
            for c in range(coordinates):
                place[c, count] = rows[t, c] - states[i, c]
                step[c, count] = steps[t, c]
                if known:
                    intent[c, count] = meant[t, c]
            count += 1
        for e in range(directions.shape[0]):
            # short loops without branches: the compiler turns them into vector instructions
            for j in range(count):
                start[j] = move[j] = intended[j] = 0.0
            for c in range(coordinates):
                for j in range(count):
                    start[j] += place[c, j] * directions[e, c]
                    move[j] += step[c, j] * directions[e, c]
                if known:
                    for j in range(count):
                        intended[j] += intent[c, j] * directions[e, c]
            for j in range(count):
                # offsets that the step might have crossed: on its intended path if that is known,
                # otherwise to either side
                up = max(intended[j], 0.0) if known else abs(move[j])
                down = max(-intended[j], 0.0) if known else abs(move[j])
                # and those of them that it did cross; actions show which are crossed by noise
                fall, rise = max(-move[j], 0.0), max(move[j], 0.0)
                if acted:
                    fall, rise = min(down, fall), min(up, rise)
                slot[0, j] = _slot(start[j] - fall, unit)
                slot[1, j] = _slot(start[j] + rise, unit)
                slot[2, j] = _slot(start[j] - down, unit)
                slot[3, j] = _slot(start[j], unit)
                slot[4, j] = _slot(start[j] + up, unit)
            # count the steps whose ends lie on either side of an offset, going up or down
            borders[:] = 0.0
            for j in range(count):
                for b in range(5):
                    borders[b, slot[b, j]] += 1.0
            fell = rose = might_fall = might_rise = 0.0
            for s in range(slots):
                fell += borders[0, s] - borders[3, s]
                rose += borders[3, s] - borders[1, s]
                might_fall += borders[2, s] - borders[3, s]
                might_rise += borders[3, s] - borders[4, s]
                crossed[s], above[s], below[s] = fell + rose, might_fall, might_rise
                # A wall stops steps from either side. If steps from one side alone are stopped,
                # the cause is a wall elsewhere, or a slope.
                stopped = fell <= 0.7 * might_fall and rose <= 0.7 * might_rise
                both[s] = stopped or not (known and acted)
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
                    # In the open, most steps cross as they mean to, and half of those that may go
                    # to either side. Fewer cross a wall, by 3 and by 4.5 standard deviations.
                    if known:
                        most = min(0.5 * might, 0.7 * might - 1.4 * np.sqrt(might))
                    else:
                        most = min(0.22 * might, 0.5 * might - 2.25 * np.sqrt(might))
                    enough = min(below[s], above[s]) >= least
                    few = enough and both[s] and crossed[s] <= most
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
    walled = np.ones(states.shape[0], np.bool_)
    if candidates.size > states.shape[0]:  # worth finding out first: most have none nearby
        for i in range(states.shape[0]):
            walled[i] = planes[i].min() < np.inf
    for q in range(candidates.shape[0]):
        for j in range(candidates.shape[1]):
            i = candidates[q, j]
            apart[q, j] = walled[i] and _behind(points, q, i, states, directions, planes)
    return apart


@njit(cache=True, nogil=True)
def _behind(
    points: FloatArray,
    q: int,
    i: int,
    states: FloatArray,
    directions: FloatArray,
    planes: NDArray[np.float32],
) -> bool:
    """Whether a wall next to state i parts it from point q."""
    for e in range(directions.shape[0]):
        ahead, behind = planes[i, e, 0], planes[i, e, 1]
        if ahead < np.inf or behind < np.inf:
            offset = 0.0
            for c in range(points.shape[1]):
                offset += (points[q, c] - states[i, c]) * directions[e, c]
            if offset > ahead or -offset > behind:
                return True
    return False


class Sorted(NamedTuple):
    """States sorted by one of their coordinates."""

    axis: int
    order: IntArray
    along: FloatArray
    """(n,) that coordinate, ascending."""
    places: FloatArray
    """(n, d) all coordinates in this order."""


@njit(cache=True, nogil=True)
def find_nearest(
    points: FloatArray,
    k: int,
    by: Sorted,
    states: FloatArray,
    directions: FloatArray,
    planes: NDArray[np.float32],
) -> tuple[FloatArray, IntArray]:
    """Return distances and indices of the k states nearest to each point, both (n, k).

    States behind a wall count as `BEHIND` farther away than they are. Equally distant states are in
    the order of their numbers. The search goes down and up along one coordinate. It stops where the
    distance in that coordinate alone is too large.
    """
    axis, order, along, places = by
    size = places.shape[0]
    k = min(k, size)
    away, near = np.empty((points.shape[0], k)), np.empty((points.shape[0], k), np.int64)
    best, which = np.empty(k), np.empty(k, np.int64)
    for q in range(points.shape[0]):
        best[:] = np.inf
        which[:] = size
        # begin a little above the point and go down, then up
        begin = min(np.searchsorted(along, points[q, axis]) + k, size)
        for step in (-1, 1):
            at = begin - 1 if step < 0 else begin
            while 0 <= at < size:
                gap = (along[at] - points[q, axis]) * step
                if gap > 0.0 and gap * gap > best[k - 1]:
                    break
                squared = 0.0
                for c in range(places.shape[1]):
                    apart = points[q, c] - places[at, c]
                    squared += apart * apart
                if squared <= best[k - 1]:
                    i, slot = order[at], k
                    while slot > 0 and (
                        squared < best[slot - 1]
                        or (squared == best[slot - 1] and i < which[slot - 1])
                    ):
                        slot -= 1
                        if slot < k - 1:
                            best[slot + 1], which[slot + 1] = best[slot], which[slot]
                    if slot < k:
                        best[slot], which[slot] = squared, i
                at += step
        # sort again, walls included; the sort is stable
        for j in range(k):
            i, distance = which[j], np.sqrt(best[j])
            if _behind(points, q, i, states, directions, planes):
                distance += BEHIND
            slot = j
            while slot > 0 and away[q, slot - 1] > distance:
                away[q, slot], near[q, slot] = away[q, slot - 1], near[q, slot - 1]
                slot -= 1
            away[q, slot], near[q, slot] = distance, i
    return away, near


@njit(cache=True, nogil=True)
def consult(
    away: FloatArray, near: IntArray, values: FloatArray, scores: NDArray[np.float32]
) -> tuple[IntArray, FloatArray, IntArray, IntArray]:
    """Ask a plan for its action at points, given the (n, k) states nearest to each.

    Of these the three nearest that have a plan, if there are any, are averaged with weights
    1 / (distance + 0.1).

    Returns
    -------
    states, share : (n, 3) arrays
        The states that are averaged, and their weights.
    action : (n,) int array
        The action with the best mean score; -1 if all are 0.
    agrees : (n,) int array
        The nearest of the three whose own best action this is; the nearest if there is none.
    """
    count, k = near.shape
    most, num_actions = min(k, 3), scores.shape[1]
    states, share = np.empty((count, most), np.int64), np.empty((count, most))
    action, agrees = np.empty(count, np.int64), np.empty(count, np.int64)
    mean = np.empty(num_actions)
    for q in range(count):
        found, total = 0, 0.0
        for plans in (True, False):  # states with a plan first
            for j in range(k):
                if found < most and (values[near[q, j]] > 0.0) == plans:
                    states[q, found] = near[q, j]
                    share[q, found] = 1.0 / (away[q, j] + 0.1)
                    total += share[q, found]
                    found += 1
        best, mean[:] = 0, 0.0
        for j in range(most):
            share[q, j] /= total
            for a in range(num_actions):
                mean[a] += share[q, j] * scores[states[q, j], a]
        for a in range(num_actions):
            if mean[a] > mean[best]:
                best = a
        action[q] = best if mean[best] > 0.0 else -1
        agrees[q] = states[q, 0]
        for j in range(most):
            own = 0
            for a in range(num_actions):
                if scores[states[q, j], a] > scores[states[q, j], own]:
                    own = a
            if own == action[q]:
                agrees[q] = states[q, j]
                break
    return states, share, action, agrees


@njit(cache=True, nogil=True)
def relive(
    to: Outcomes,
    half: IntArray,
    start: IntArray,
    kinds: IntArray,
    dice: FloatArray,
    num_places: int,
) -> Outcomes:
    """Return where walks end if they take the given actions, with samples of one half.

    `kinds` is (walks, steps), with -1 for no further step; `dice` is (walks, particles, steps) of
    numbers in [0, 1). States from `num_places` on are chance nodes, whose action is 0 and takes no
    time. An entry of the result is `NO_SAMPLE` where a particle had no sample to follow.
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
                        count += to[i, a, j] != NO_SAMPLE
                    if count == 0:
                        i = NO_SAMPLE
                        break
                    skip = int(dice[w, p, s] * count)
                    for j in range(begin, begin + middle):
                        if to[i, a, j] != NO_SAMPLE:
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
