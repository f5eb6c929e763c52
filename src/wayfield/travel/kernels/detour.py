"""Detours: the shortest path between the ends of an arc that avoids the arc.

Two Dijkstra searches per arc: one from the tail along the arcs, one from the head against them. The
search with fewer waiting entries and fewer outgoing arcs continues, so hubs are expanded only if
necessary. Both stop when the distances of the two fronts add up to the best path found, or to the
limit. An arc among neighbours has a short detour: its search ends after a ball of a few vertices.
The search for a bridge ends as soon as one of its sides is exhausted.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from ...numerics.csr import Arcs
from ...numerics.heap import Heap, drop_least, push
from ...numerics.jit import njit
from ...typing import FloatArray, IntArray


class Front(NamedTuple):
    """One of the two searches: distances so far, the heap, and the vertices to reset after."""

    distance: FloatArray
    heap: Heap
    seen: IntArray


@njit(cache=True, nogil=True)
def detours(
    arcs: Arcs, reverse: Arcs, tails: IntArray, which: IntArray, limits: FloatArray
) -> FloatArray:
    """Return the length of the detour of each arc in `which`, or its limit if that is shorter.

    `tails` are those of all arcs. Arcs of infinite length are not walked.
    """
    n = arcs.indptr.size - 1
    ahead, back = _front(n, arcs.indices.size), _front(n, arcs.indices.size)
    around = np.empty(which.size)
    for i in range(which.size):
        x, y = tails[which[i]], arcs.indices[which[i]]
        ahead.distance[x], ahead.seen[0] = 0.0, x
        back.distance[y], back.seen[0] = 0.0, y
        waiting, waiting_back = push(ahead.heap, 0, 0.0, x), push(back.heap, 0, 0.0, y)
        seen, seen_back = 1, 1
        best = limits[i]
        # no path through both fronts can be shorter than the sum of their nearest distances
        while waiting > 0 and waiting_back > 0 and ahead.heap.keys[0] + back.heap.keys[0] < best:
            size = waiting + _degree(arcs, ahead.heap.vertices[0])
            if size <= waiting_back + _degree(reverse, back.heap.vertices[0]):
                waiting, seen, best = _expand(arcs, x, y, ahead, back, waiting, seen, best)
            else:
                waiting_back, seen_back, best = _expand(
                    reverse, y, x, back, ahead, waiting_back, seen_back, best
                )
        # only what was touched is reset: a search in a small ball must not cost O(n)
        for k in range(seen):
            ahead.distance[ahead.seen[k]] = inf
        for k in range(seen_back):
            back.distance[back.seen[k]] = inf
        around[i] = best
    return around


@njit(cache=True, nogil=True)
def _front(n: int, m: int) -> Front:
    heap = Heap(np.empty(m + 1), np.empty(m + 1, np.int64))
    return Front(np.full(n, inf), heap, np.empty(n, np.int64))


@njit(cache=True, nogil=True)
def _degree(arcs: Arcs, x: int) -> int:
    return arcs.indptr[x + 1] - arcs.indptr[x]


@njit(cache=True, nogil=True)
def _expand(
    arcs: Arcs,
    source: int,
    target: int,
    front: Front,
    other: Front,
    waiting: int,
    seen: int,
    best: float,
) -> tuple[int, int, float]:
    """Settle the nearest waiting vertex of a front; return the sizes and the best path so far."""
    distance, heap = front.distance, front.heap
    key, v = heap.keys[0], heap.vertices[0]
    waiting = drop_least(heap, waiting)
    if key > distance[v]:  # an entry that a shorter one has replaced
        return waiting, seen, best
    for e in range(arcs.indptr[v], arcs.indptr[v + 1]):
        w = arcs.indices[e]
        candidate = key + arcs.lengths[e]
        # the arc itself is not a detour, nor is an arc parallel to it
        if candidate >= min(distance[w], best) or (v == source and w == target):
            continue
        if distance[w] == inf:
            front.seen[seen] = w
            seen += 1
        distance[w] = candidate
        waiting = push(heap, waiting, candidate, w)
        # w need not be settled by the other search: any distance known there gives a path
        best = min(best, candidate + other.distance[w])
    return waiting, seen, best
