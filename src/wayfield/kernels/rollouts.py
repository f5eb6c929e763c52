"""Single walks: by the plan's moves, and by LRTA*, which learns the field as it goes.

LRTA* at s ≠ goal: let q = min over arcs s → y of ℓ + u(y), attained at y*. Raise u(s) to q if it
is smaller, go to y*. After the raise u(s) ≥ ℓ + u(y*), so

    (sum of all values) - (value where the walk stands)

grows by at least ℓ at every step. It is bounded, because u ≤ V* + max (u₀ - V*) is kept, V* being
the true cost-to-go; hence the walk ends, at the goal, having cost no more than
u₀(start) - u(goal) + total raise (Korf 1990; here for any finite start values).
"""

from __future__ import annotations

from math import inf

import numpy as np

from ._jit import njit
from ._types import FloatArray, IntArray
from .csr import Arcs


@njit(cache=True, nogil=True)
def walk(successor: IntArray, start: int) -> IntArray:
    """States from `start` along the moves, up to the first that repeats (kept) or has no move."""
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


@njit(cache=True, nogil=True)
def path_cost(arcs: Arcs, path: IntArray) -> float:
    """Sum of the lengths along a path of arcs, summed from its end as a plan's costs are."""
    cost = 0.0
    for i in range(path.size - 2, -1, -1):
        begin, end = arcs.indptr[path[i]], arcs.indptr[path[i] + 1]
        cost += arcs.lengths[begin + np.searchsorted(arcs.indices[begin:end], path[i + 1])]
    return cost


@njit(cache=True, nogil=True)
def loop_erased(path: IntArray, num_vertices: int) -> IntArray:
    """Return the path with its loops cut out: from each state on where it is left for good."""
    # not filled: only entries of states on the path are read, and those are written first
    last = np.empty(num_vertices, np.int64)
    for i in range(path.size):
        last[path[i]] = i
    kept = np.empty(path.size, np.int64)
    size, i = 0, 0
    while i < path.size:
        kept[size] = path[i]
        size += 1
        i = last[path[i]] + 1
    return kept[:size].copy()


@njit(cache=True, nogil=True)
def learning_walk(
    arcs: Arcs, values: FloatArray, goal: int, start: int, limit: int
) -> tuple[IntArray, float]:
    """LRTA* from `start`: the path and the total raise; `values` change.

    The walk is given up once it has looked at `limit` arcs. Values must be finite where the goal
    can be reached and inf elsewhere. Ties go to the lowest index. A length lost to rounding still
    raises a value to the next double.
    """
    path = np.empty(64, np.int64)
    path[0] = start
    size, raised, s = 1, 0.0, start
    while s != goal and limit > 0:
        limit -= arcs.indptr[s + 1] - arcs.indptr[s]
        least, best = inf, -1
        for e in range(arcs.indptr[s], arcs.indptr[s + 1]):
            y = arcs.indices[e]
            cost = arcs.lengths[e] + values[y]
            if cost < least:
                least, best = cost, y
        # without this a length too short for the digits would raise nothing, and the walk could go
        # to and fro for ever
        least = max(least, np.nextafter(values[best], inf))
        if least > values[s]:
            raised += least - values[s]
            values[s] = least
        s = best
        # how long the walk will be is not known: the room for it doubles
        if size == path.size:
            longer = np.empty(2 * size, np.int64)
            longer[:size] = path
            path = longer
        path[size] = s
        size += 1
    return path[:size].copy(), raised
