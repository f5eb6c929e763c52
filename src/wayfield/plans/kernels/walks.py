"""Walks by a plan: what those of all starts meet, and single ones, by its moves or by LRTA*.

Moves form a functional graph: each state has one successor. The goal is its own, and so is a state
without a move, unless it has -1. A walk ends at the goal, at a state without a move, or when it
would repeat a state. Each question about all starts takes O(n) for them together.

**LRTA*** learns the field as it goes. At s ≠ goal: let q = min over arcs s → y of ℓ + u(y),
attained at y*. Raise u(s) to q if it is smaller, go to y*. After the raise u(s) ≥ ℓ + u(y*), so

    (sum of all values) - (value where the walk is)

grows by at least ℓ at every step. It is bounded, because u ≤ V* + max (u₀ - V*) is kept, V* being
the true cost-to-go; hence the walk ends, at the goal, having cost no more than
u₀(start) - u(goal) + total raise (Korf 1990; here for any finite start values).
"""

from __future__ import annotations

from math import inf

import numpy as np

from ...numerics.csr import Arcs
from ...numerics.jit import njit
from ...typing import FloatArray, IntArray


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


@njit(cache=True, nogil=True)
def path_cost(arcs: Arcs, path: IntArray) -> float:
    """Return the length of a path of arcs, summed from its end as a plan's costs are."""
    cost = 0.0
    for i in range(path.size - 2, -1, -1):
        begin, end = arcs.indptr[path[i]], arcs.indptr[path[i] + 1]
        cost += arcs.lengths[begin + np.searchsorted(arcs.indices[begin:end], path[i + 1])]
    return cost


def loop_erased(path: IntArray) -> IntArray:
    """Return the path without its loops: it continues from each state's last visit."""
    last = {x: i for i, x in enumerate(path.tolist())}
    kept, i = [], 0
    while i < path.size:
        kept.append(path[i])
        i = last[int(path[i])] + 1
    return np.array(kept)


@njit(cache=True, nogil=True)
def learning_walk(
    arcs: Arcs, values: FloatArray, goal: int, start: int, limit: int
) -> tuple[IntArray, float]:
    """Walk by LRTA* from `start`; return the path and the total raise; `values` change.

    The walk ends early after `limit` arcs have been examined. Values must be finite where the goal
    can be reached and inf elsewhere. Ties go to the lowest index. If a length is lost to rounding,
    the value is still raised to the next double.
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
            for k in range(size):
                longer[k] = path[k]
            path = longer
        path[size] = s
        size += 1
    return path[:size].copy(), raised
