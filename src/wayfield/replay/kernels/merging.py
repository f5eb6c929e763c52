"""Nearby observations merged into states by a cover tree.

Rows are taken in the order in which they were seen: row i of `first`, then row i of `second`, if
there is one. States are numbered in that order, too. There may be as many states as rows, so rows
are not copied before the end. A state is identified by its first row: 2 i for row i of `first`,
2 i + 1 for row i of `second`.

A row belongs to the first state within the tolerance. If there is none, it is a
new state. The states form a tree. Every node stores the distance of its farthest descendant, so one
distance can rule out a whole ball of states. A new node is placed as in a cover tree: below the
nearest node with a radius that covers it, with half that radius. The work per row grows with the
number of states within a few tolerances and with the depth of the tree, not with the number of
states or coordinates. A node is older than all its descendants. So the subtree of a state that is
younger than the best one found is skipped as well.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.jit import njit
from ...typing import FloatArray, IntArray

Rows = NDArray[Any]
"""Observations, float32 or float64."""
Numbers = NDArray[np.int32]

ENLARGED = 1.0 + 1e-9
"""Factor that enlarges balls, so that rounding excludes no state."""


@njit(cache=True, nogil=True)
def squared_distance(x: Rows, y: Rows) -> float:
    """Return the squared Euclidean distance, in double precision whatever the rows are."""
    total = 0.0
    for k in range(x.size):
        gap = np.float64(x[k]) - np.float64(y[k])
        total += gap * gap
    return total


@njit(cache=True, nogil=True)
def _row(first: Rows, second: Rows, number: int) -> Rows:
    """Return the row of a number."""
    return first[number >> 1] if number & 1 == 0 else second[number >> 1]


@njit(cache=True, nogil=True)
def _gathered(first: Rows, second: Rows, origin: IntArray) -> Rows:
    states = np.empty((origin.size, first.shape[1]), first.dtype)
    for state in range(origin.size):
        row = _row(first, second, origin[state])
        for column in range(row.size):
            states[state, column] = row[column]
    return states


@njit(cache=True, nogil=True)
def _equal(x: Rows, y: Rows) -> bool:
    same = True
    for k in range(x.size):
        same = same and x[k] == y[k]
    return same


class CoverTree(NamedTuple):
    """States in a cover tree: -1 where there is no child or sibling."""

    origin: IntArray
    """Number of the state's first row."""
    child: Numbers
    sibling: Numbers
    radius: FloatArray
    """How near a row must be to be handed down to the node."""
    reach: FloatArray
    """Distance of the farthest descendant."""
    waiting: Numbers
    """Nodes still to be looked at by a search."""


@njit(cache=True, nogil=True)
def merge_near(first: Rows, second: Rows, tolerance: float) -> tuple[Numbers, Numbers, Rows]:
    """Return the state of every row of `first` and `second`, and the states."""
    tree = _tree(16)
    of_first = np.empty(first.shape[0], np.int32)
    of_second = np.empty(second.shape[0], np.int32)
    count = 0
    for i in range(first.shape[0]):
        for turn in range(1 if second.shape[0] == 0 else 2):
            row = first[i] if turn == 0 else second[i]
            # rows of transitions mostly begin where the one before ended
            again = turn == 0 and 0 < i < second.shape[0] and _equal(row, second[i - 1])
            if again:
                state = of_second[i - 1]
            else:
                state = _first_near(tree, count, first, second, row, tolerance)
            if state < 0:
                # arrays double when they are full: on average, each state is copied once
                if count == tree.child.size:
                    larger = _tree(2 * count)
                    for k in range(count):
                        larger.origin[k] = tree.origin[k]
                        larger.child[k] = tree.child[k]
                        larger.sibling[k] = tree.sibling[k]
                        larger.radius[k] = tree.radius[k]
                        larger.reach[k] = tree.reach[k]
                    tree = larger
                state = count
                tree.origin[state] = 2 * i + turn
                _insert(tree, state, first, second, tolerance)
                count += 1
            if turn == 0:
                of_first[i] = state
            else:
                of_second[i] = state
    return of_first, of_second, _gathered(first, second, tree.origin[:count])


@njit(cache=True, nogil=True)
def _tree(size: int) -> CoverTree:
    return CoverTree(
        np.empty(size, np.int64),
        np.full(size, -1, np.int32),
        np.full(size, -1, np.int32),
        np.zeros(size),
        np.zeros(size),
        np.empty(size, np.int32),
    )


@njit(cache=True, nogil=True)
def _first_near(
    tree: CoverTree, count: int, first: Rows, second: Rows, row: Rows, tolerance: float
) -> int:
    """Return the lowest of the `count` states within the tolerance of a row; -1 if none."""
    best, waiting = count, min(count, 1)
    tree.waiting[0] = 0
    while waiting > 0:
        waiting -= 1
        node = tree.waiting[waiting]
        # descendants are younger than the node: none of them can come before the best
        if node >= best:
            continue
        squared = squared_distance(row, _row(first, second, tree.origin[node]))
        # all descendants are younger than this state, so they cannot be better
        if squared <= tolerance * tolerance:
            best = node
            continue
        ball = (tolerance + tree.reach[node]) * ENLARGED
        if squared > ball * ball:
            continue
        below = tree.child[node]
        while below >= 0:
            tree.waiting[waiting] = below
            waiting += 1
            below = tree.sibling[below]
    return best if best < count else -1


@njit(cache=True, nogil=True)
def _insert(tree: CoverTree, new: int, first: Rows, second: Rows, tolerance: float) -> None:
    """Insert a new state below the last node on the path down whose radius covers it."""
    tree.radius[new] = tolerance
    if new == 0:
        return
    row = _row(first, second, tree.origin[new])
    node, away = 0, sqrt(squared_distance(row, _row(first, second, tree.origin[0])))
    # the root must cover everything: its radius grows as rows come from farther away
    while tree.radius[0] < away:
        tree.radius[0] *= 2.0
    while True:
        tree.reach[node] = max(tree.reach[node], away)
        nearest, least = -1, np.inf
        below = tree.child[node]
        while below >= 0:
            state = _row(first, second, tree.origin[below])
            distance = sqrt(squared_distance(row, state))
            if distance <= tree.radius[below] and distance < least:
                nearest, least = below, distance
            below = tree.sibling[below]
        if nearest < 0:
            break
        node, away = nearest, least
    tree.radius[new] = tree.radius[node] / 2.0
    tree.sibling[new] = tree.child[node]
    tree.child[node] = new
