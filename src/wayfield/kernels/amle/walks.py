"""Walks found by their lengths, where values do not tell which way they lead.

The steepest arcs lead along a walk as long as its values differ from vertex to vertex. They do not
where an arc is so short that its drop is lost in the last place of the values. But the walks of one
batch have one slope α. With t over the vertices done before, and distances through the batch,

    down from x lies the t that attains  min v(t) + α · d(x → t),
    up from x    the t that attains      max v(t) − α · d(t → x).

Two searches from the done vertices (Dijkstra) find the next vertex on either way, whatever the
values in between. Each vertex is reached from one settled before it, so that no way is a loop.
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


class Ways(NamedTuple):
    """The ways from the vertices of a batch, and room to search for them.

    Only the entries of the batch at hand mean anything.
    """

    following: IntArray
    """(n, 2) the next vertex down and up; `NONE` if there is no way."""
    step: FloatArray
    """(n, 2) length of the arc to it."""
    key: FloatArray
    """(n,) least sign · v + α · length so far."""
    origin: FloatArray
    """(n,) sign · v at the done vertex it belongs to."""
    far: FloatArray
    """(n,) length of the way to it."""
    stamp: IntArray
    """(n,) the last vertex whose way down led through here, see `foot`."""
    heap: Heap


def make_ways(num_vertices: int, num_arcs: int) -> Ways:
    """Allocate room for the batches of a graph of this size."""
    entries = num_vertices + num_arcs
    return Ways(
        np.empty((num_vertices, 2), np.int32),
        np.empty((num_vertices, 2)),
        np.empty(num_vertices),
        np.empty(num_vertices),
        np.empty(num_vertices),
        np.full(num_vertices, NONE, np.int32),
        Heap(np.empty(entries), np.empty(entries, np.int32)),
    )


@njit(cache=True, nogil=True, allocates=False)
def search(
    look: Arcs,
    back: Arcs,
    members: IntArray,
    batch: IntArray,
    done: BoolArray,
    values: FloatArray,
    slope: float,
    side: int,
    ways: Ways,
) -> None:
    """Find the next vertex down (side 0) or up (1) of the members that are not done.

    `look` holds the arcs from a member towards it, `back` their reverse.
    """
    following, step, key, origin, far, _, heap = ways
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


@njit(cache=True, nogil=True, allocates=False)
def foot(ways: Ways, done: BoolArray, x: int) -> int:
    """Return the last vertex that the ways down and up from x have in common.

    That is x itself if a walk leads through it. Otherwise x is on a dead end, or on a loop, so
    short that rounding counts it to the walk it hangs on.
    """
    following, stamp = ways.following, ways.stamp
    y = x
    while not done[y]:
        stamp[y] = x
        y = following[y, 0]
    last = x
    y = x
    while not done[y]:
        if stamp[y] == x:
            last = y
        y = following[y, 1]
    return last


@njit(cache=True, nogil=True, allocates=False)
def follow(
    ways: Ways, done: BoolArray, side: int, path: IntArray, along: Pair, count: int
) -> tuple[int, int]:
    """Append the vertices on the way from ``path[0]`` down or up to a done one.

    Their signed distances go to `along`, the whole distance behind the last; returns the new count
    and the done vertex.
    """
    sign = -1.0 if side == 0 else 1.0
    far = (0.0, 0.0)
    x = path[0]
    while True:
        y = ways.following[x, side]
        far = add(far[0], far[1], ways.step[x, side], 0.0)
        along.high[count] = sign * far[0]
        along.low[count] = sign * far[1]
        if done[y]:
            return count, y
        x = y
        path[count] = x
        count += 1
