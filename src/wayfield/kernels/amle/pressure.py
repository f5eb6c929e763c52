"""Steepest slopes between fixed vertices: the one primitive of the exact AMLE.

For a set S of unfixed vertices and a slope α ≥ 0, `propagate` computes at every x in S

    hi(x) = min over fixed t of  u(t) + α · d(x → t),
    lo(x) = max over fixed t of  u(t) − α · d(t → x),

distances running through S, and remembers the value and the distance of the winning t. Where
lo(x) > hi(x) some walk from fixed vertex to fixed vertex through x is steeper than α, and the two
winners give one: its slope is a lower bound on the steepest (the *pressure* of x).

Only where lo(x) ≥ hi(x) does either matter. And if lo(x) < hi(x), no walk that goes on through x is
as steep as α: over an arc x → y of length ℓ, lo(y) by way of x is lo(x) − αℓ < hi(x) − αℓ ≤ hi(y).
So neither side need be spread from where lo lies below hi, if the other side is known; and it may
be known for a lower slope only, at which lo is higher and hi lower. Nor is hi spread from where it
exceeds the largest fixed value around, nor lo from below the least.

The keys, hi and −lo, are all that is looked at of a neighbour that cannot be improved, so they lie
close together; the winners lie apart. Outside S keys are −∞: nothing improves them, and no other
look is needed to stay within S.
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
    """What is known of every vertex."""

    key: FloatArray
    """(2, n) hi and minus lo; −inf outside the set at hand."""
    source: FloatArray
    """(2, n) value of the winning fixed vertex."""
    distance: FloatArray
    """(2, n) distance of the winning fixed vertex."""
    near: FloatArray
    """(2, n) the least fixed value an arc away, and the largest against the arcs; inf and −inf if
    there is none."""
    tag: NDArray[np.int32]
    """(n,) FIXED, or the number of the set the vertex is in."""
    value: FloatArray
    """(n,) the value of a fixed vertex; of another, a lower bound on its pressure."""


class Scratch(NamedTuple):
    """Room that `propagate` works in."""

    heap: Heap
    queue: IntArray
    buckets: NDArray[np.int32]


def make_record(num_vertices: int) -> Record:
    """Allocate records."""
    # both sides of a vertex lie side by side, and its winners in one line of the cache
    winners = np.empty((num_vertices, 2, 2)).transpose(1, 0, 2)
    return Record(
        key=np.empty((num_vertices, 2)).T,
        source=winners[:, :, 0],
        distance=winners[:, :, 1],
        near=np.empty((num_vertices, 2)).T,
        tag=np.empty(num_vertices, np.int32),
        value=np.empty(num_vertices),
    )


def make_scratch(num_vertices: int, num_arcs: int, unit: bool) -> Scratch:
    """Allocate the room for `propagate` on a graph of this size."""
    # on unit lengths a vertex enters the heap once, as a source; Dijkstra may push it again per arc
    entries = num_vertices if unit else num_vertices + num_arcs
    heap = Heap(np.empty(entries + 1), np.empty(entries + 1, np.int32))
    buckets = np.empty((2, min(num_vertices, BUCKETS) + 1), np.int32)
    return Scratch(heap, np.empty(num_vertices + 1, np.int32), buckets)


@njit(cache=True, nogil=True, allocates=False)
def propagate(
    record: Record,
    scratch: Scratch,
    look: Arcs,
    back: Arcs,
    rim: IntArray,
    inner: IntArray,
    side: int,
    alpha: float,
    sign: float,
    bar: float,
    bounded: bool,
    unit: bool,
) -> tuple[int, int]:
    """Fill one side of the record for a set of unfixed vertices.

    Only those on its `rim` have fixed neighbours. `look` holds the arcs to look along from a member
    to fixed vertices, `back` their reverse. The `sign` of a key is 1 on the side HI, -1 on LO; with
    sign 0 and slope 1 the nearest fixed vertex wins. If the other side is known, at this slope or a
    lower one, `bounded` says so: then this one is not spread from where lo lies below hi. Else it
    is not from beyond the largest value around, unless the `bar` is infinite.

    Returns how many vertices it spread from, and how many entries it sorted or kept in a heap.
    """
    key, source, distance = record.key[side], record.source[side], record.distance[side]
    other, opposite = record.key[1 - side], record.near[1 - side]
    for x in inner:
        key[x] = np.inf
    if bar < np.inf:
        bar = -np.inf
        for x in rim:
            bar = max(bar, sign * opposite[x])
    if unit:
        near = record.near[side]
        return _spread_unit(
            key, source, distance, other, near, scratch, back, rim, alpha, sign, bar, bounded
        )
    size = 0
    heap, tag, value = scratch.heap, record.tag, record.value
    for x in rim:
        best = np.inf
        for e in range(look.indptr[x], look.indptr[x + 1]):
            y = look.indices[e]
            if tag[y] == FIXED:
                candidate = sign * value[y] + alpha * look.lengths[e]
                # the least key, not the least value: a nearer vertex may win over a lower one
                if candidate < best:
                    best = candidate
                    source[x] = value[y]
                    distance[x] = look.lengths[e]
        key[x] = best
        if best < np.inf and not (bounded and best > SURE - other[x]):
            size = push(heap, size, best, x)
    return _spread_lengths(
        key, source, distance, other, heap, size, back, alpha, sign, bar, bounded
    )


@njit(cache=True, nogil=True, allocates=False)
def _spread_unit(
    key: FloatArray,
    source: FloatArray,
    distance: FloatArray,
    other: FloatArray,
    near: FloatArray,
    scratch: Scratch,
    back: Arcs,
    rim: IntArray,
    alpha: float,
    sign: float,
    bar: float,
    bounded: bool,
) -> tuple[int, int]:
    """Propagate on unit lengths: only the sources need sorting, what they reach is in order."""
    heap, queue, buckets = scratch
    inf = np.inf
    sources = 0
    for x in rim:
        winner = near[x]
        # infinite if no fixed vertex is on this side
        if abs(winner) == inf:
            key[x] = inf
            continue
        best = sign * winner
        key[x] = best + alpha
        source[x] = winner
        distance[x] = 1.0
        if not (bounded and best + alpha > SURE - other[x]):
            # sorted by the value of their fixed vertex, one step below their own key
            heap.keys[sources] = best
            heap.vertices[sources] = x
            sources += 1
    sort_entries(heap, sources, buckets)
    following = 0
    head = 0
    tail = 0
    visits = 0
    while following < sources or head < tail:
        # two queues in order merge into one: what was reached (keys rise by α per step, so first in
        # is least), and the sources that have not been passed over
        if head < tail and (
            following == sources or key[queue[head]] <= heap.keys[following] + alpha
        ):
            x = queue[head]
            head += 1
        else:
            x = heap.vertices[following]
            following += 1
            if distance[x] != 1.0:
                continue  # reached more cheaply through the queue
        if key[x] > (SURE - other[x] if bounded else bar + SURE):
            continue
        visits += 1
        from_value = source[x]
        steps = distance[x] + 1.0
        candidate = sign * from_value + alpha * steps
        for e in range(back.indptr[x], back.indptr[x + 1]):
            y = back.indices[e]
            if candidate < key[y]:
                # In exact arithmetic a queued vertex never improves. Rounding can make it, by
                # units in the last place: then its record changes, but it is not queued again.
                if key[y] == inf or distance[y] == 1.0:
                    queue[tail] = y
                    tail += 1
                key[y] = candidate
                source[y] = from_value
                distance[y] = steps
    return visits, sources


@njit(cache=True, nogil=True, allocates=False)
def _spread_lengths(
    key: FloatArray,
    source: FloatArray,
    distance: FloatArray,
    other: FloatArray,
    heap: Heap,
    size: int,
    back: Arcs,
    alpha: float,
    sign: float,
    bar: float,
    bounded: bool,
) -> tuple[int, int]:
    """Propagate on general lengths: Dijkstra, from the entries of the heap.

    Rounding is monotone, so the key of a successor is never below that of its predecessor: every
    vertex is settled once, and the heap sees at most one entry per arc and one per source.
    """
    visits = 0
    pushes = size
    while size > 0:
        settled = heap.keys[0]
        x = heap.vertices[0]
        size = drop_least(heap, size)
        # an outdated entry: x was reached more cheaply after it was pushed
        if settled > key[x]:
            continue
        if settled > (SURE - other[x] if bounded else bar + SURE):
            continue
        visits += 1
        from_value = source[x]
        from_distance = distance[x]
        for e in range(back.indptr[x], back.indptr[x + 1]):
            y = back.indices[e]
            far = from_distance + back.lengths[e]
            candidate = sign * from_value + alpha * far
            if candidate < key[y]:
                key[y] = candidate
                source[y] = from_value
                distance[y] = far
                size = push(heap, size, candidate, y)
                pushes += 1
    return visits, pushes
