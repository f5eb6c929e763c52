"""Driving: walk by a plan, learn from every step, and plan again where the plan was refuted.

**Planning.** A* from where one stands, by costs that are believed or known. Its heuristic, the cost
to the goal as believed at first, stays a lower bound while costs only rise and arcs only vanish,
and each search raises it where it has looked: vertices settled at g before the goal at C are at
least C - g away (Adaptive A*, Koenig & Likhachev 2005). A plan after a bump therefore looks at
little more than the way round. Where a cost turned out lower than believed the heuristic is
computed anew before the next search.

**When to plan again.** Only at a bump. What was paid for an arc behind one changes no plan from
here on, because a shortest way from its head does not lead through it.
"""

from __future__ import annotations

from math import inf, nan
from typing import NamedTuple

import numpy as np
from numba import njit

from ._types import BoolArray, FloatArray, IntArray
from .csr import Arcs
from .heap import Heap, drop_least
from .shortest import dijkstra


class Search(NamedTuple):
    """Room for one search; between searches `cost` is inf everywhere, and nothing is settled.

    Attributes
    ----------
    cost : (n,) float array
        Least cost from the start so far.
    arrived : (n,) int array
        Slot of the arc by which it came.
    settled : (n,) bool array
        Whether it was gone on from.
    heap : Heap
        Vertices waiting.
    seen : (n,) int array
        Vertices to be reset.
    tails : (m,) int array
        Tails of the arcs.
    path : (n,) int array
        Slots of the plan's arcs, the last one first.
    """

    cost: FloatArray
    arrived: IntArray
    settled: BoolArray
    heap: Heap
    seen: IntArray
    tails: IntArray
    path: IntArray


class Walks(NamedTuple):
    """What became of every start: (k,) arrays, `learnt` (m,)."""

    reached: BoolArray
    stopped: BoolArray
    predicted: FloatArray
    paid: FloatArray
    steps: IntArray
    found: IntArray
    learnt: FloatArray


@njit(cache=True, nogil=True)
def room_for_search(arcs: Arcs) -> Search:
    """Return an empty search on a graph."""
    n, m = arcs.indptr.size - 1, arcs.indices.size
    tails = np.empty(m, np.int64)
    for x in range(n):
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            tails[e] = x
    heap = Heap(np.empty(m + 1), np.empty(m + 1, np.int64))
    arrived, seen, path = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    return Search(np.full(n, inf), arrived, np.zeros(n, np.bool_), heap, seen, tails, path)


@njit(cache=True, nogil=True)
def plan_ahead(
    arcs: Arcs, toward: FloatArray, start: int, goal: int, search: Search
) -> tuple[float, int]:
    """Cheapest way from `start` to `goal`: its cost, and its number of arcs, which `path` holds.

    inf and 0 if there is none. `toward` is a consistent lower bound on the cost to the goal, and
    is raised. Lengths of inf are arcs that do not exist.
    """
    if toward[start] == inf:
        return inf, 0
    cost, arrived, settled, heap, seen, tails, path = search
    cost[start] = 0.0
    seen[0] = start
    count, waiting = 1, _push_first(heap, 0, toward[start], start)
    while waiting > 0:
        x = heap.vertices[0]
        waiting = drop_least(heap, waiting)
        if x == goal:
            break
        if settled[x]:
            continue
        settled[x] = True
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            y = arcs.indices[e]
            candidate = cost[x] + arcs.lengths[e]
            if candidate < cost[y] and toward[y] < inf and not settled[y]:
                if cost[y] == inf:
                    seen[count] = y
                    count += 1
                cost[y] = candidate
                arrived[y] = e
                waiting = _push_first(heap, waiting, candidate + toward[y], y)
    total, size = cost[goal], 0
    x = goal
    while x != start and total < inf:
        path[size] = arrived[x]
        size += 1
        x = tails[arrived[x]]
    for i in range(count):
        x = seen[i]
        # without a way every vertex that was reached has none either: inf - cost = inf
        toward[x] = max(toward[x], total - cost[x])
        cost[x] = inf
        settled[x] = False
    return total, size


@njit(cache=True, nogil=True)
def _push_first(heap: Heap, size: int, key: float, vertex: int) -> int:
    """Add an entry before all others of the same key: of equal plans, finish the one begun."""
    slot = size
    while slot > 0:
        parent = (slot - 1) >> 1
        if heap.keys[parent] < key:
            break
        heap.keys[slot] = heap.keys[parent]
        heap.vertices[slot] = heap.vertices[parent]
        slot = parent
    heap.keys[slot] = key
    heap.vertices[slot] = vertex
    return size + 1


@njit(cache=True, nogil=True)
def drive_all(
    arcs: Arcs,
    reverse: Arcs,
    into: IntArray,
    bumps: FloatArray,
    world: FloatArray,
    starts: IntArray,
    goal: int,
    memory: bool,
    max_steps: int,
) -> Walks:
    """Walk from every start in a world that is given by what every arc costs there.

    Parameters
    ----------
    arcs, reverse, into
        What is believed, and which arc stands at every slot of `reverse`.
    bumps : (m,) float array
        Price of trying an arc that does not exist.
    world : (m,) float array
        What the arcs cost; inf if they do not exist.
    memory : bool
        Whether what one walk learnt is known to the next.
    max_steps : int
        After so many steps and bumps a walk is given up.
    """
    believed = _toward(reverse, arcs.lengths, into, goal)
    lengths, toward = arcs.lengths.copy(), believed.copy()
    known = Arcs(arcs.indptr, arcs.indices, lengths)
    search = room_for_search(arcs)
    walks = _no_walks(starts.size, lengths.size)
    tried = np.empty(lengths.size, np.int64)
    for i in range(starts.size):
        x, num_tried, cheaper = starts[i], 0, False
        cost, left = plan_ahead(known, toward, x, goal, search)
        walks.predicted[i] = cost
        while left > 0 and walks.steps[i] < max_steps:
            e = search.path[left - 1]
            walks.steps[i] += 1
            walks.learnt[e] = world[e]
            if lengths[e] != world[e]:
                cheaper |= world[e] < lengths[e]
                lengths[e] = world[e]
                tried[num_tried] = e
                num_tried += 1
            if world[e] < inf:
                walks.paid[i] += world[e]
                x = arcs.indices[e]
                left -= 1
                continue
            walks.paid[i] += bumps[e]
            walks.found[i] += 1
            if cheaper:
                toward = _toward(reverse, lengths, into, goal)
                cheaper = False
            _, left = plan_ahead(known, toward, x, goal, search)
        walks.reached[i] = x == goal
        walks.stopped[i] = left > 0
        if not memory:
            for j in range(num_tried):
                lengths[tried[j]] = arcs.lengths[tried[j]]
            if num_tried > 0:
                toward[:] = believed
        elif cheaper:
            toward = _toward(reverse, lengths, into, goal)
    return walks


@njit(cache=True, nogil=True)
def _toward(reverse: Arcs, lengths: FloatArray, into: IntArray, goal: int) -> FloatArray:
    """Cost to the goal from everywhere."""
    arcs = Arcs(reverse.indptr, reverse.indices, lengths[into])
    cost, _ = dijkstra(arcs, np.full(1, goal, np.int64), np.zeros(1), 1.0)
    return cost


@njit(cache=True, nogil=True)
def _no_walks(count: int, num_arcs: int) -> Walks:
    return Walks(
        np.zeros(count, np.bool_),
        np.zeros(count, np.bool_),
        np.zeros(count),
        np.zeros(count),
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
        np.full(num_arcs, nan),
    )
