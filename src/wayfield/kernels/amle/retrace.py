"""Walks found again by their lengths, where the values no longer tell which way they lead.

Following the steepest arcs finds a walk as long as every value on it differs from the next. Across
an arc so short that its drop is lost in the last place of the values, it does not. But the walks of
one batch have one slope α: they lead down by the least v(t) + α · length over the vertices t done
before, and up by the largest v(t) − α · length. Two searches from the done vertices (Dijkstra) find
the next vertex down and the next one up, whatever the values say. Each is reached from one that was
settled before it, so that no chain closes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import njit
from .._types import BoolArray, FloatArray, IntArray
from ..csr import Arcs
from ..doubledouble import Pair, add
from ..heap import Heap, drop_least, push

NONE = -1


class Room(NamedTuple):
    """Room to search in; only entries of the batch at hand mean anything."""

    following: IntArray
    """(n, 2) the next vertex down and up; `NONE` where there is no way."""
    step: FloatArray
    """(n, 2) length of the arc to it."""
    key: FloatArray
    """(n,) least sign · v + α · length so far."""
    origin: FloatArray
    """(n,) sign · v at the done vertex it belongs to."""
    far: FloatArray
    """(n,) length of the way to it."""
    stamp: IntArray
    """(n,) the last start whose way down came past."""
    heap: Heap


@njit(cache=True, nogil=True)
def no_room() -> Room:
    """Room for nothing: most fields never need any."""
    return Room(
        np.empty((0, 2), np.int32),
        np.empty((0, 2)),
        np.empty(0),
        np.empty(0),
        np.empty(0),
        np.empty(0, np.int32),
        Heap(np.empty(0), np.empty(0, np.int32)),
    )


@njit(cache=True, nogil=True)
def make_room(num_vertices: int, num_arcs: int) -> Room:
    """Allocate room for batches of any size."""
    entries = num_vertices + num_arcs
    return Room(
        np.empty((num_vertices, 2), np.int32),
        np.empty((num_vertices, 2)),
        np.empty(num_vertices),
        np.empty(num_vertices),
        np.empty(num_vertices),
        np.full(num_vertices, NONE, np.int32),
        Heap(np.empty(entries), np.empty(entries, np.int32)),
    )


@njit(cache=True, nogil=True)
def search(
    look: Arcs,
    back: Arcs,
    members: IntArray,
    batch: IntArray,
    done: BoolArray,
    values: FloatArray,
    slope: float,
    side: int,
    room: Room,
) -> None:
    """Find the next vertex down (side 0) or up (1) of the members that are not done.

    `look` holds the arcs from a member towards it, `back` their reverse.
    """
    following, step, key, origin, far, _, heap = room
    sign = 1.0 if side == 0 else -1.0
    mine = batch[members[0]]
    size = 0
    for x in members:
        if done[x]:
            continue
        key[x] = np.inf
        following[x, side] = NONE
        for e in range(look.indptr[x], look.indptr[x + 1]):
            y = look.indices[e]
            if done[y] and sign * values[y] + slope * look.lengths[e] < key[x]:
                key[x] = sign * values[y] + slope * look.lengths[e]
                origin[x] = sign * values[y]
                far[x] = look.lengths[e]
                following[x, side] = y
                step[x, side] = look.lengths[e]
        if key[x] < np.inf:
            size = push(heap, size, key[x], x)
    while size > 0:
        settled = heap.keys[0]
        x = heap.vertices[0]
        size = drop_least(heap, size)
        if settled > key[x]:
            continue
        for e in range(back.indptr[x], back.indptr[x + 1]):
            y = back.indices[e]
            if batch[y] != mine or done[y]:
                continue
            # rounding is monotone: never below the key of x, so that what is settled stays
            candidate = origin[x] + slope * (far[x] + back.lengths[e])
            if candidate < key[y]:
                key[y] = candidate
                origin[y] = origin[x]
                far[y] = far[x] + back.lengths[e]
                following[y, side] = x
                step[y, side] = back.lengths[e]
                size = push(heap, size, candidate, y)


@njit(cache=True, nogil=True)
def foot(room: Room, done: BoolArray, x: int) -> int:
    """Return the last vertex that the ways down and up from x have in common.

    That is x itself if a walk leads through it. Otherwise x is on a dead end, or a loop, so short
    that rounding counts it to the walk it hangs on.
    """
    following, stamp = room.following, room.stamp
    y = x
    while y >= 0 and not done[y]:
        stamp[y] = x
        y = following[y, 0]
    last = x
    y = x
    while y >= 0 and not done[y]:
        if stamp[y] == x:
            last = y
        y = following[y, 1]
    return last


@njit(cache=True, nogil=True)
def follow(
    room: Room, done: BoolArray, side: int, path: IntArray, along: Pair, count: int
) -> tuple[int, int]:
    """Append the vertices from ``path[0]`` to the next done one, as `replay` does by values.

    Their signed distances go to `along`, the whole distance behind the last; returns the new
    count and the done vertex, or `NONE` if there is no way.
    """
    sign = -1.0 if side == 0 else 1.0
    far = (0.0, 0.0)
    x = path[0]
    while True:
        y = room.following[x, side]
        if y == NONE:
            return count, NONE
        far = add(far[0], far[1], room.step[x, side], 0.0)
        along.high[count] = sign * far[0]
        along.low[count] = sign * far[1]
        if done[y]:
            return count, y
        x = y
        path[count] = x
        count += 1
