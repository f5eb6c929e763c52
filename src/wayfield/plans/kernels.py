"""Kernels of plans: greedy moves, the walks they make, and flooding.

**Moves.** The move from ``s`` is one of its out-arcs to a finite value, the one of least *toll*:

- ``UNIT``   u(y), which is both rules below on unit lengths,
- ``SLOPE``  (u(y) - u(s)) / ℓ, the steepest descent,
- ``Q``      ℓ + u(y), the paper's argmin-Q.

An arc is *tied* if lowering u(y) by the tolerance would make its toll no larger than the least.
Of the tied arcs the move takes the one whose head has the fewest *hops* to an exit, then the one
whose head has the lowest index; rows are sorted, so that is the first one met. An *exit* is the
goal, or a vertex with an arc that drops the value by more than the tolerance.

The moves form a functional graph. One walk over it gives the outcome of every start: goal, dead end
or cycle. Each vertex is entered once, and its outcome is set on the way back.

**Walks.** A walk ends at the goal, at a state without a move, or when it would repeat a state. Each
question about all starts takes O(n) for them together.

**Flooding** lifts a field until every vertex descends to the goal. The least field v ≥ u with
v(goal) = u(goal) in which every other vertex x that can reach the goal has an arc x → y with
v(y) < v(x) is, in floating point, the one solution of

    v(x) = max(u(x), next(min over arcs x → y of v(y))),

where next is the next larger double. It is settled from the goal outwards in order of v. The
candidate that a vertex gets from its first settled neighbour is its least, so it is final: every
vertex enters the queue once. A vertex that is lifted gets exactly next(v(y)); those keys never
decrease, so they wait in a plain queue and only the others need the heap (Barnes, Lehman & Mulla
2014, "Priority-flood").

Vertices with a strictly descending path to the goal keep their value. They are found first,
without a heap, so that a field that is already good costs one search.
"""

from __future__ import annotations

from math import copysign, inf
from typing import NamedTuple

import numpy as np

from ..numerics.csr import Arcs
from ..numerics.heap import Heap, drop_least, push
from ..numerics.jit import njit
from ..numerics.shortest import breadth_first
from ..typing import BoolArray, FloatArray, IntArray

UNIT, SLOPE, Q = 0, 1, 2
"""How an arc is judged; see `toll`."""

GOAL, DEAD_END = -1, -2
"""Basins that are not cycles."""

ON_PATH, UNSEEN = -3, -4
STUCK = 2**31 - 1
"""Hops of a vertex from which no exit is reached on level ground."""

SMALLEST = 5e-324


class Rule(NamedTuple):
    """How to choose a move: the toll, the tie tolerance, and whether exits break ties."""

    toll: int
    tolerance: float
    exits: bool


@njit(cache=True, nogil=True)
def toll(kind: int, here: float, there: float, length: float) -> float:
    """Return the toll of an arc of `length` between two values; `there` is finite.

    Where `here` is infinite every slope is, and arcs are judged by ℓ + u(y). A slope too small
    for a double keeps its sign: descent never looks level.
    """
    if kind == UNIT:
        return there
    if kind == Q or here == inf:
        return length + there
    rise = there - here
    slope = rise / length
    # underflow; the sign of zero would not do, since −0.0 < 0.0 is false
    if slope == 0.0 and rise != 0.0:
        return copysign(SMALLEST, rise)
    return slope


@njit(cache=True, nogil=True)
def band(here: float, there: float, tolerance: float) -> int:
    """Return -1 if the step descends by more than the tolerance, 1 if it climbs so, else 0."""
    drop = here - there
    if drop > tolerance:
        return -1
    return 1 if drop < -tolerance else 0


@njit(cache=True, nogil=True)
def first_least(arcs: Arcs, values: FloatArray, s: int, kind: int) -> int:
    """Return the slot of the first arc of least toll out of `s`; -1 if no toll is finite."""
    begin, end = arcs.indptr[s], arcs.indptr[s + 1]
    here = values[s]
    slot, least = -1, inf
    for e in range(begin, end):
        there = values[arcs.indices[e]]
        # an infinite head is never a move, and its slope may be NaN
        if there < inf:
            cost = toll(kind, here, there, arcs.lengths[e])
            if cost < least:
                slot, least = e, cost
    return slot


@njit(cache=True, nogil=True)
def first_tied(arcs: Arcs, values: FloatArray, hops: IntArray, s: int, rule: Rule) -> int:
    """Return the slot of the first tied arc out of `s` with fewest hops; -1 without a move.

    With a tolerance and exit ties, slopes are banded: steps within the tolerance count as level
    and all tie, and they never tie with a step that descends or climbs beyond it. An empty
    `hops` means no preference.
    """
    kind, tolerance = rule.toll, rule.tolerance
    banded = rule.exits and tolerance > 0.0 and kind != Q
    here = values[s]
    slot, side, least, fewest = -1, 2, inf, STUCK
    for e in range(arcs.indptr[s], arcs.indptr[s + 1]):
        there = values[arcs.indices[e]]
        if there == inf:
            continue
        # the lane decides first, the toll within it: a level step never beats one that descends
        lane = band(here, there, tolerance) if banded else 0
        cost = toll(kind, here, there, arcs.lengths[e])
        if slot < 0 or lane < side or (lane == side and cost < least):
            slot, side, least = e, lane, cost
    if slot < 0:
        return slot
    # a second pass, now that the least toll is known: which arcs tie with it
    slot = -1
    for e in range(arcs.indptr[s], arcs.indptr[s + 1]):
        y = arcs.indices[e]
        there = values[y]
        if there == inf or (banded and band(here, there, tolerance) != side):
            continue
        level = banded and side == 0
        # on level ground all arcs tie, whatever their slopes within the tolerance
        if level or toll(kind, here, there - tolerance, arcs.lengths[e]) <= least:
            distance = hops[y] if hops.size else 0
            if slot < 0 or distance < fewest:
                slot, fewest = e, distance
    return slot


@njit(cache=True, nogil=True)
def descends(arcs: Arcs, values: FloatArray, s: int, tolerance: float) -> bool:
    """Whether an arc out of `s` drops the value by more than the tolerance."""
    for e in range(arcs.indptr[s], arcs.indptr[s + 1]):
        there = values[arcs.indices[e]]
        if there < inf and values[s] - there > tolerance:
            return True
    return False


@njit(cache=True, nogil=True)
def first_moves(
    arcs: Arcs, values: FloatArray, goal: int, rule: Rule
) -> tuple[IntArray, IntArray, int]:
    """Return the first tied arc and the hops of each vertex, and how many vertices are stuck.

    Slots are -1 at the goal and where there is no move. Hops are 0 at exits and `STUCK`
    elsewhere; they are left empty if exits do not break ties.
    """
    n = arcs.indptr.size - 1
    slots = np.full(n, -1, np.int64)
    hops = np.zeros(n if rule.exits else 0, np.int32)
    nowhere = np.zeros(0, np.int32)
    exact = rule.tolerance == 0.0
    num_stuck = 0
    for s in range(n):
        # without a tolerance the first least arc is the first tied one; where its toll is not
        # finite the longer way round finds out whether there is a move at all
        slot = first_least(arcs, values, s, rule.toll) if exact else -1
        if slot < 0:
            slot = first_tied(arcs, values, nowhere, s, rule)
        slots[s] = slot
        if not rule.exits:
            continue
        drop = values[s] - values[arcs.indices[slot]] if slot >= 0 else 0.0
        # the best arc by slope drops if any does; argmin-Q, or a tolerance, may hide one
        hidden = slot >= 0 and not (exact and rule.toll != Q)
        if drop <= rule.tolerance and not (hidden and descends(arcs, values, s, rule.tolerance)):
            hops[s] = STUCK
            num_stuck += 1
    # the goal was treated like any other vertex so far: it has no move, and is an exit
    slots[goal] = -1
    if rule.exits and hops[goal] == STUCK:
        hops[goal] = 0
        num_stuck -= 1
    return slots, hops, num_stuck


@njit(cache=True, nogil=True)
def level_hops(
    arcs: Arcs, reverse: Arcs, values: FloatArray, hops: IntArray, tolerance: float
) -> None:
    """Fill in the hops of stuck vertices: fewest level steps to an exit. Breadth first.

    A step is level if it changes the value by no more than the tolerance.
    """
    # breadth first from the stuck vertices beside an exit, not from the exits themselves: there are
    # far fewer of them
    queue = np.empty(hops.size, np.int64)
    tail = 0
    for s in range(hops.size):
        if hops[s] != STUCK:
            continue
        for e in range(arcs.indptr[s], arcs.indptr[s + 1]):
            y = arcs.indices[e]
            if hops[y] == 0 and values[y] < inf and abs(values[s] - values[y]) <= tolerance:
                hops[s] = 1
                queue[tail] = s
                tail += 1
                break
    head = 0
    while head < tail:
        y = queue[head]
        head += 1
        for e in range(reverse.indptr[y], reverse.indptr[y + 1]):
            x = reverse.indices[e]
            # inf − inf is NaN and fails the test, as it should: no move leads to such a vertex
            if hops[x] == STUCK and abs(values[x] - values[y]) <= tolerance:
                hops[x] = hops[y] + 1
                queue[tail] = x
                tail += 1


@njit(cache=True, nogil=True)
def prefer_exits(
    arcs: Arcs, values: FloatArray, slots: IntArray, hops: IntArray, rule: Rule
) -> None:
    """Choose again, by hops, wherever the first tied arc does not already lead to an exit."""
    for s in range(slots.size):
        if slots[s] >= 0 and hops[arcs.indices[slots[s]]] > 0:
            slots[s] = first_tied(arcs, values, hops, s, rule)


@njit(cache=True, nogil=True)
def outcomes(
    arcs: Arcs, slots: IntArray, goal: int
) -> tuple[IntArray, IntArray, FloatArray, IntArray, IntArray]:
    """Follow the moves from every start: successor, steps, cost, basin, a vertex of each cycle.

    A state without a move is its own successor, as the goal is. Steps are -1 and costs inf where
    the goal is not reached. Basins are `GOAL`, `DEAD_END` or the number of a cycle, in the order
    found.
    """
    n = slots.size
    successor = np.empty(n, np.int64)
    for s in range(n):
        successor[s] = arcs.indices[slots[s]] if slots[s] >= 0 else s
    successor[goal] = goal
    steps = np.full(n, -1, np.int64)
    cost = np.full(n, inf)
    basin = np.full(n, UNSEEN, np.int64)
    path = np.empty(n, np.int64)
    entries = np.empty(n // 2 + 1, np.int64)
    count = 0
    steps[goal], cost[goal], basin[goal] = 0, 0.0, GOAL
    for start in range(n):
        x, size = start, 0
        # out along the moves until something is known, then back over the path: each vertex once
        while basin[x] == UNSEEN:
            path[size] = x
            size += 1
            if successor[x] == x:
                basin[x] = DEAD_END
            else:
                basin[x] = ON_PATH
                x = successor[x]
        end = basin[x]
        # the walk has met itself: a new cycle, through x
        if end == ON_PATH:
            end = count
            entries[count] = x
            count += 1
        # costs are summed from the goal outwards, so that equal walks have equal costs
        step, total = steps[x], cost[x]
        for i in range(size - 1, -1, -1):
            s = path[i]
            basin[s] = end
            if end == GOAL:
                step += 1
                total += arcs.lengths[slots[s]]
                steps[s], cost[s] = step, total
    return successor, steps, cost, basin, entries[:count].copy()


@njit(cache=True, nogil=True)
def limit_cycles(
    successor: IntArray, basin: IntArray, entries: IntArray
) -> tuple[IntArray, IntArray]:
    """List the cycles in walking order from their lowest vertex, sorted by it; renumbers `basin`.

    `entries` holds one vertex of each cycle. Cycle ``c`` of the answer lies in slots
    ``offsets[c]`` to ``offsets[c + 1]`` of `members`.
    """
    count, total = entries.size, 0
    unlisted = np.zeros(successor.size if count else 0, np.bool_)
    for x in entries:
        while not unlisted[x]:
            unlisted[x] = True
            total += 1
            x = successor[x]
    members = np.empty(total, np.int64)
    offsets = np.zeros(count + 1, np.int64)
    rank = np.empty(count, np.int64)
    listed, size = 0, 0
    # in order of vertices: each cycle is met first at its lowest, which sorts them
    for s in range(unlisted.size):
        if not unlisted[s]:
            continue
        rank[basin[s]] = listed
        x = s
        while unlisted[x]:
            unlisted[x] = False
            members[size] = x
            size += 1
            x = successor[x]
        listed += 1
        offsets[listed] = size
    for s in range(unlisted.size):
        if basin[s] >= 0:
            basin[s] = rank[basin[s]]
    return members, offsets


def reaching(reverse: Arcs, goal: int) -> BoolArray:
    """Return which vertices can reach the goal; `reverse` holds the arcs into every vertex."""
    _, origin = breadth_first(reverse, np.array([goal]))
    return origin >= 0


# ------------------------------------------------------------------ walks


@njit(cache=True, nogil=True)
def visit_counts(successor: IntArray, goal: int, weights: FloatArray) -> FloatArray:
    """Return how often walks visit each state, if `weights`[s] of them start at s.

    A walk visits each of its states once, the goal too, and ends there, at a state without a
    move, or before it repeats one: so every state of a limit cycle is visited by all walks that
    end in it.
    """
    n = successor.size
    visits = weights.copy()
    # a topological order: a state passes its visits on once all that lead to it have
    waiting = np.zeros(n, np.int64)
    for x in range(n):
        if x != goal and successor[x] >= 0:
            waiting[successor[x]] += 1
    queue = np.empty(n, np.int64)
    tail = 0
    for x in range(n):
        if waiting[x] == 0:
            queue[tail] = x
            tail += 1
    head = 0
    while head < tail:
        x = queue[head]
        head += 1
        y = successor[x]
        if x == goal or y < 0:
            continue
        visits[y] += visits[x]
        waiting[y] -= 1
        if waiting[y] == 0:
            queue[tail] = y
            tail += 1
    for x in range(n):
        # only states of cycles still wait; for all others this loop does nothing
        total, size, y = 0.0, 0, x
        while waiting[y] > 0:
            waiting[y] = 0
            total += visits[y]
            size += 1
            y = successor[y]
        # back where it began after one turn: every state of the cycle gets the total
        for _ in range(size):
            visits[y] = total
            y = successor[y]
    return visits


# ------------------------------------------------------------------ single walks


@njit(cache=True, nogil=True)
def walk(successor: IntArray, start: int) -> IntArray:
    """Return the states from `start` along the moves, up to the first repeat (kept) or the end."""
    seen = np.zeros(successor.size, np.bool_)
    path = np.empty(successor.size + 1, np.int64)
    path[0] = start
    size = 1
    x = start
    # the goal and dead ends are their own successors; a state that repeats is written down first
    while not seen[x] and successor[x] != x:
        seen[x] = True
        x = successor[x]
        path[size] = x
        size += 1
    return path[:size].copy()


# ------------------------------------------------------------------ flooding


@njit(cache=True, nogil=True)
def sound(reverse: Arcs, values: FloatArray, goal: int) -> tuple[BoolArray, IntArray]:
    """Return which vertices have a strictly descending path to the goal: a mask, and a list."""
    n = reverse.indptr.size - 1
    settled = np.zeros(n, np.bool_)
    queue = np.empty(n, np.int64)
    queue[0] = goal
    settled[goal] = True
    head, tail = 0, 1
    while head < tail:
        y = queue[head]
        head += 1
        for e in range(reverse.indptr[y], reverse.indptr[y + 1]):
            x = reverse.indices[e]
            if not settled[x] and values[x] > values[y]:
                settled[x] = True
                queue[tail] = x
                tail += 1
    return settled, queue[:tail].copy()


@njit(cache=True, nogil=True)
def flood(reverse: Arcs, values: FloatArray, goal: int) -> FloatArray:
    """Return the least field above `values` that descends to the goal; inf where none can.

    `values` must be finite wherever the goal can be reached.
    """
    n = values.size
    # what descends already keeps its value; only its border has anything to flood
    settled, order = sound(reverse, values, goal)
    lifted = np.full(n, inf)
    heap = Heap(np.empty(n, np.float64), np.empty(n, np.int64))
    size = 0
    for y in order:
        lifted[y] = values[y]
        for e in range(reverse.indptr[y], reverse.indptr[y + 1]):
            if not settled[reverse.indices[e]]:
                # once is enough, however many of its neighbours are not settled
                size = push(heap, size, lifted[y], y)
                break
    queue = np.empty(n, np.int64)
    head, tail = 0, 0
    while size > 0 or head < tail:
        # two queues in order: lifted vertices come with keys that never decrease, the others
        # through the heap
        if head < tail and (size == 0 or lifted[queue[head]] <= heap.keys[0]):
            y = queue[head]
            head += 1
        else:
            y = heap.vertices[0]
            size = drop_least(heap, size)
        above = np.nextafter(lifted[y], inf)
        for e in range(reverse.indptr[y], reverse.indptr[y + 1]):
            x = reverse.indices[e]
            if settled[x]:
                continue
            # final at once: y is the least neighbour that x will ever see, since vertices are taken
            # in order
            settled[x] = True
            if values[x] <= above:
                lifted[x] = above
                queue[tail] = x
                tail += 1
            else:
                lifted[x] = values[x]
                size = push(heap, size, lifted[x], x)
    return lifted
