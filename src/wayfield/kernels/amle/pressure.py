"""Steepest slopes between fixed vertices: the one primitive of the exact AMLE.

For a set S of unfixed vertices and a slope α ≥ 0, `propagate` computes at every x in S

    hi(x) = min over fixed t of  u(t) + α · d(x → t),
    lo(x) = max over fixed t of  u(t) − α · d(t → x),

distances running through S, and remembers the value and the distance of the winning t. Where
lo(x) > hi(x) some walk from fixed vertex to fixed vertex through x is steeper than α, and the two
winners give one: its slope is a lower bound on the steepest (the *pressure* of x).

Only where lo(x) ≥ hi(x) does either matter. And if lo(x) < hi(x), no walk that goes on through x is
as steep as α: over an arc x → y of length ℓ, lo(y) by way of x is lo(x) − αℓ < hi(x) − αℓ ≤ hi(y).
So hi is computed first, and lo is not spread from where it lies below; nor is hi spread from where
it exceeds the largest fixed value around.

One record of 64 bytes per vertex holds all of it, so that a visit costs one cache line. The
kernels see the record as named arrays, strided views of one buffer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._jit import njit
from .._types import FloatArray, IntArray
from ..csr import Arcs
from ..heap import Heap, drop_least, push, sort_entries

HI = 0
"""Side of `Record` that looks along the arcs, to where a walk comes down."""
LO = 1
"""Side of `Record` that looks against the arcs, to where a walk comes from."""
FIXED = -1
"""Tag of a vertex that has its value."""
SURE = 1e-9
"""Where lo lies this far below hi, rounding is not the reason."""
BUCKETS = 2**16
"""Most buckets that sources are sorted into."""


class Record(NamedTuple):
    """What is known of every vertex, in one 64-byte record each."""

    key: FloatArray
    """(n, 2) hi and minus lo."""
    source: FloatArray
    """(n, 2) value of the winning fixed vertex."""
    distance: FloatArray
    """(n, 2) distance of the winning fixed vertex."""
    tag: NDArray[np.int64]
    """(n,) FIXED, or the number of the set the vertex is in."""
    value: FloatArray
    """(n,) the value of a fixed vertex; of another, a lower bound on its pressure."""


class Scratch(NamedTuple):
    """Room that `propagate` works in."""

    heap: Heap
    queue: IntArray
    buckets: NDArray[np.int32]


class Members(NamedTuple):
    """A set of unfixed vertices, those with a fixed neighbour apart from the others."""

    rim: IntArray
    inner: IntArray


def make_record(num_vertices: int) -> Record:
    """Allocate records, each on a cache line of its own."""
    layout = np.dtype(
        [
            ("key", np.float64, 2),
            ("source", np.float64, 2),
            ("distance", np.float64, 2),
            ("tag", np.int64),
            ("value", np.float64),
        ]
    )
    # 64 bytes to spare, so that the first record can start on a cache line
    buffer = np.empty(num_vertices * layout.itemsize + 64, dtype=np.uint8)
    start = -buffer.ctypes.data % 64
    table = buffer[start : start + num_vertices * layout.itemsize].view(layout)
    return Record(*(table[name] for name in Record._fields))


def make_scratch(num_vertices: int, num_arcs: int, unit: bool) -> Scratch:
    """Allocate the room for `propagate` on a graph of this size."""
    # on unit lengths a vertex enters the heap once, as a source; Dijkstra may push it again per arc
    entries = num_vertices if unit else num_vertices + num_arcs
    heap = Heap(np.empty(entries + 1), np.empty(entries + 1, np.int32))
    buckets = np.empty((2, min(num_vertices, BUCKETS) + 1), np.int32)
    return Scratch(heap, np.empty(num_vertices + 1, np.int32), buckets)


@njit(cache=True, nogil=True)
def propagate(
    record: Record,
    scratch: Scratch,
    arcs: tuple[Arcs, Arcs],
    members: Members,
    side: int,
    alpha: float,
    unit: bool,
) -> tuple[int, int]:
    """Fill one side of the record for `members`, which all carry the same tag; the low side last.

    `arcs` holds the arcs to look along from a member to fixed vertices, then their reverse. Returns
    how many vertices it spread from, and how many entries it sorted or kept in a heap.
    """
    sign = 1.0 if side == HI else -1.0
    if unit:
        return _propagate_unit(record, scratch, arcs, members, side, alpha, sign)
    return _propagate_lengths(record, scratch, arcs, members, side, alpha, sign)


@njit(cache=True, nogil=True)
def nearest(
    record: Record,
    scratch: Scratch,
    arcs: tuple[Arcs, Arcs],
    members: Members,
    side: int,
    unit: bool,
) -> tuple[int, int]:
    """Fill one side of the record with the nearest fixed vertex of every member; as `propagate`."""
    if unit:
        # with sign 0 all sources start at key 0: at slope 1 the key is the distance
        return _propagate_unit(record, scratch, arcs, members, side, 1.0, 0.0)
    return _propagate_lengths(record, scratch, arcs, members, side, 1.0, 0.0)


@njit(cache=True, nogil=True)
def _propagate_unit(
    record: Record,
    scratch: Scratch,
    arcs: tuple[Arcs, Arcs],
    members: Members,
    side: int,
    alpha: float,
    sign: float,
) -> tuple[int, int]:
    """Propagate on unit lengths: only the sources need sorting, what they reach is in order."""
    look, back = arcs
    key, source, distance, tag, value = record
    heap, queue, buckets = scratch
    inf = np.inf
    with_hi = side == LO and sign != 0.0
    ceiling = -inf if sign > 0.0 and look.indices is back.indices else inf
    # only the rim is next to fixed vertices; the others wait to be reached
    sources = 0
    for x in members.inner:
        key[x, side] = inf
        distance[x, side] = 0.0
    for x in members.rim:
        best = inf
        winner = 0.0
        for e in range(look.indptr[x], look.indptr[x + 1]):
            y = look.indices[e]
            if tag[y] == FIXED:
                fixed = value[y]
                ceiling = max(ceiling, fixed)
                if sign * fixed < best:
                    best = sign * fixed
                    winner = fixed
        if best < inf:
            key[x, side] = best + alpha
            source[x, side] = winner
            distance[x, side] = 1.0
            if not (with_hi and best + alpha > SURE - key[x, HI]):
                # sorted by the value of their fixed vertex, one step below their own key
                heap.keys[sources] = best
                heap.vertices[sources] = x
                sources += 1
        else:
            key[x, side] = inf
            distance[x, side] = 0.0
    # without a rim nothing is a source and the loop below does not run
    mine = tag[members.rim[0]] if members.rim.size > 0 else FIXED
    sort_entries(heap, sources, buckets)
    following = 0
    head = 0
    tail = 0
    visits = 0
    while following < sources or head < tail:
        # two queues in order merge into one: what was reached (keys rise by α per step, so first in
        # is least), and the sources that have not been passed over
        if head < tail and (
            following == sources or key[queue[head], side] <= heap.keys[following] + alpha
        ):
            x = queue[head]
            head += 1
        else:
            x = heap.vertices[following]
            following += 1
            if distance[x, side] != 1.0:
                continue  # reached more cheaply through the queue
        if key[x, side] > (SURE - key[x, HI] if with_hi else ceiling + SURE):
            continue
        visits += 1
        from_value = source[x, side]
        steps = distance[x, side] + 1.0
        candidate = sign * from_value + alpha * steps
        for e in range(back.indptr[x], back.indptr[x + 1]):
            y = back.indices[e]
            if tag[y] == mine and candidate < key[y, side]:
                # In exact arithmetic a queued vertex never improves. Rounding can make it, by
                # units in the last place: then its record changes, but it is not queued again.
                if distance[y, side] <= 1.0:
                    queue[tail] = y
                    tail += 1
                key[y, side] = candidate
                source[y, side] = from_value
                distance[y, side] = steps
    return visits, sources


@njit(cache=True, nogil=True)
def _propagate_lengths(
    record: Record,
    scratch: Scratch,
    arcs: tuple[Arcs, Arcs],
    members: Members,
    side: int,
    alpha: float,
    sign: float,
) -> tuple[int, int]:
    """Propagate on general lengths: Dijkstra.

    Rounding is monotone, so the key of a successor is never below that of its predecessor: every
    vertex is settled once, and the heap sees at most one entry per arc and one per source.
    """
    look, back = arcs
    key, source, distance, tag, value = record
    heap = scratch.heap
    with_hi = side == LO and sign != 0.0
    ceiling = -np.inf if sign > 0.0 and look.indices is back.indices else np.inf
    size = 0
    for x in members.inner:
        key[x, side] = np.inf
    for x in members.rim:
        best = np.inf
        for e in range(look.indptr[x], look.indptr[x + 1]):
            y = look.indices[e]
            if tag[y] == FIXED:
                ceiling = max(ceiling, value[y])
                candidate = sign * value[y] + alpha * look.lengths[e]
                # the least key, not the least value: a nearer vertex may win over a lower one
                if candidate < best:
                    best = candidate
                    source[x, side] = value[y]
                    distance[x, side] = look.lengths[e]
        key[x, side] = best
        if best < np.inf and not (with_hi and best > SURE - key[x, HI]):
            size = push(heap, size, best, x)
    mine = tag[members.rim[0]] if members.rim.size > 0 else FIXED
    visits = 0
    pushes = size
    while size > 0:
        settled = heap.keys[0]
        x = heap.vertices[0]
        size = drop_least(heap, size)
        # an outdated entry: x was reached more cheaply after it was pushed
        if settled > key[x, side]:
            continue
        if settled > (SURE - key[x, HI] if with_hi else ceiling + SURE):
            continue
        visits += 1
        from_value = source[x, side]
        for e in range(back.indptr[x], back.indptr[x + 1]):
            y = back.indices[e]
            if tag[y] == mine:
                far = distance[x, side] + back.lengths[e]
                candidate = sign * from_value + alpha * far
                if candidate < key[y, side]:
                    key[y, side] = candidate
                    source[y, side] = from_value
                    distance[y, side] = far
                    size = push(heap, size, candidate, y)
                    pushes += 1
    return visits, pushes
