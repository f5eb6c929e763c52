"""Planning for a walker that learns: A* that begins with what earlier searches found.

The heuristic is the cost to the goal as believed at first. It stays a lower bound while costs only
rise and arcs only vanish. Each search raises it where it has searched: a vertex settled at cost g,
when the goal is at C, is at least C - g away (Adaptive A*, Koenig & Likhachev 2005). So a new
plan after a missing arc expands little more than the detour.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from wayfield.numerics.csr import Arcs
from wayfield.numerics.heap import Heap, drop_least
from wayfield.numerics.jit import njit
from wayfield.typing import BoolArray, FloatArray, IntArray


class SearchStorage(NamedTuple):
    """Storage for one search; between searches `cost` is inf and nothing is settled.

    Attributes
    ----------
    cost : (n,) float array
        Least cost from the start so far.
    arrived : (n,) int array
        Slot of the last arc of that path.
    settled : (n,) bool array
        Whether the vertex was expanded.
    heap : Heap
        Vertices waiting to be expanded.
    seen : (n,) int array
        Vertices to reset after the search.
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


def room_for_search(arcs: Arcs) -> SearchStorage:
    """Return an empty search on a graph."""
    n, m = arcs.indptr.size - 1, arcs.indices.size
    tails = np.repeat(np.arange(n, dtype=np.int64), np.diff(arcs.indptr))
    heap = Heap(np.empty(m + 1), np.empty(m + 1, np.int64))
    arrived, seen, path = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    return SearchStorage(np.full(n, inf), arrived, np.zeros(n, np.bool_), heap, seen, tails, path)


@njit(cache=True, nogil=True)
def plan_ahead(
    arcs: Arcs, toward: FloatArray, start: int, goal: int, search: SearchStorage
) -> tuple[float, int]:
    """Return the cost and number of arcs of a shortest path to `goal`; `path` holds the arcs.

    The result is inf and 0 if there is no path. `toward` is a consistent lower bound on the cost to
    the goal; the search raises it. Arcs of length inf do not exist.
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
            # toward = inf marks vertices that cannot reach the goal, also those of earlier searches
            if candidate < cost[y] and toward[y] < inf and not settled[y]:
                if cost[y] == inf:
                    seen[count] = y
                    count += 1
                cost[y] = candidate
                arrived[y] = e
                waiting = _push_first(heap, waiting, candidate + toward[y], y)
    # the path is found from its end, so the arc to take next is the last one in `path`
    total, size = cost[goal], 0
    x = goal
    while x != start and total < inf:
        path[size] = arrived[x]
        size += 1
        x = tails[arrived[x]]
    for i in range(count):
        x = seen[i]
        # if there is no path, no vertex reached has one either: inf - cost = inf
        toward[x] = max(toward[x], total - cost[x])
        cost[x] = inf
        settled[x] = False
    return total, size


@njit(cache=True, nogil=True)
def _push_first(heap: Heap, size: int, key: float, vertex: int) -> int:
    """Add an entry before all others with the same key, so that ties finish the path begun."""
    # `<`, where `heap.push` has `<=`: an equal parent is overtaken
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
