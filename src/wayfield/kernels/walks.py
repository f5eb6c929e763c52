"""What walks by a plan meet, for every start at once.

Moves form a functional graph: each state has one successor. The goal is its own, and so is a state
without a move, unless it has -1. A walk ends at the goal, at a state without a move, or when it
would repeat a state. Each question takes O(n) for all starts together.
"""

from __future__ import annotations

import numpy as np

from ._jit import njit
from ._types import BoolArray, FloatArray, IntArray

UNSEEN, ON_WALK = -3, -2
NOWHERE = -1
"""No state on the walk breaks the condition."""


@njit(cache=True, nogil=True)
def first_breaks(successor: IntArray, goal: int, holds: BoolArray) -> IntArray:
    """First state on the walk from every start where a condition breaks; `NOWHERE` if none does.

    A walk ends at the goal, which needs no condition, at a state without a move, or when it
    repeats a state.
    """
    n = successor.size
    broken = np.full(n, UNSEEN, np.int64)
    broken[goal] = NOWHERE
    path = np.empty(n, np.int64)
    for start in range(n):
        x, size = start, 0
        # out to the first state that is known, breaks the condition or has no move; then the whole
        # path shares its answer
        while broken[x] == UNSEEN and holds[x] and successor[x] >= 0:
            broken[x] = ON_WALK
            path[size] = x
            size += 1
            x = successor[x]
        if broken[x] == UNSEEN:
            broken[x] = NOWHERE if holds[x] else x
        # a walk that meets itself has closed a cycle on which the condition holds throughout
        end = NOWHERE if broken[x] == ON_WALK else broken[x]
        for i in range(size):
            broken[path[i]] = end
    return broken


@njit(cache=True, nogil=True)
def visit_counts(successor: IntArray, goal: int, weights: FloatArray) -> FloatArray:
    """How often walks visit every state, `weights`[s] of them starting at s.

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
        total, size, y = 0.0, 0, x  # what is left waits in cycles; elsewhere this does nothing
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
