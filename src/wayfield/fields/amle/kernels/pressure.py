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

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ....numerics.csr import Arcs
from ....numerics.heap import Heap, sort_entries
from ....numerics.jit import njit
from ....typing import FloatArray, IntArray

HI = 0
"""Side of `Record` that looks along the arcs, to where a walk comes down."""
LO = 1
"""Side of `Record` that looks against the arcs, to where a walk comes from."""
UNFIXED = 2**31 - 1
"""Batch of a vertex that is not fixed; labels have -1."""
TAGS, FIXES, BATCHES, FRAMES, VISITS, PUSHES, HEIGHT = range(7)
"""Slots of `Workspace.counts`: tags handed out, vertices fixed, batches of them, frames worked on,
vertices that a propagation spread from, entries that one had to sort or to keep in a heap, frames
on the stack."""
SAMPLE = 31
"""Slopes in a sample."""
FIXED = -1
"""Tag of a vertex that has its value."""
SURE = 1e-9
"""Where lo lies this far below hi, rounding is not the reason."""
PER_BUCKET = 1024
"""Approximate number of vertices per bucket, in large frames; small ones have more buckets."""
END, OUT = -1, -2
"""Marks the end of a linked list, and a vertex that is in no list."""
BUCKETS = 2**16
"""Most buckets that sources are sorted into."""


Frame: TypeAlias = tuple[int, int, int]
"""Start, end of the rim and stop of a segment of unfixed vertices; those with a fixed neighbour,
the rim, come first."""


class Record(NamedTuple):
    """What is known of every vertex."""

    key: FloatArray
    """(2, n) hi and minus lo; −inf outside the current set."""
    source: FloatArray
    """(2, n) value of the winning fixed vertex."""
    distance: FloatArray
    """(2, n) distance of the winning fixed vertex."""
    near: FloatArray
    """(2, n) the least fixed value at the head of an arc out, and minus the largest at the tail of
    an arc in; inf if there is none."""
    tag: NDArray[np.int32]
    """(n,) FIXED, or the number of the set the vertex is in."""
    value: FloatArray
    """(n,) the value of a fixed vertex; of another, a lower bound on its pressure."""


class Scratch(NamedTuple):
    """Room that `propagate` works in."""

    heap: Heap
    queue: IntArray
    buckets: NDArray[np.int32]


class Workspace(NamedTuple):
    """Everything the divide and conquer works on."""

    record: Record
    scratch: Scratch
    out: Arcs
    into: Arcs
    members: IntArray
    """(f,) the vertices to be fixed, permuted so that every frame owns a segment."""
    bounds: IntArray
    """(f + 1, 3) start, end of the rim and stop of the components found last."""
    order: IntArray
    """(f,) the vertices in the order of fixing."""
    batch: IntArray
    """(n,) number of the batch a vertex was fixed in; labels hold -1."""
    slopes: FloatArray
    """(f,) the slope of every batch, 0 where it is a constant."""
    counts: NDArray[np.int64]
    spans: IntArray
    """(k, 4) frames on the stack: start, end of the rim, stop and kind. The rim, the vertices with
    a fixed neighbour, comes first in a segment."""
    floors: FloatArray
    """(k,) their floors."""
    sample: FloatArray
    """Room for slopes to choose from."""
    tol: float
    unit: bool
    """All lengths are 1."""
    shortest: float
    """The least length."""
    flat: bool
    """Undirected, and vertices of no pressure take the constant around them; else they are left
    unfixed."""


@njit(cache=True, nogil=True, allocates=False)
def propagate(work: Workspace, frame: Frame, alpha: float, known: float) -> None:
    """Fill both sides of the record for the vertices of a frame.

    `known` is a slope of at most α at which the record is filled already; not positive if there is
    none. If the other side is known, vertices where lo lies below hi do not propagate. Otherwise
    those beyond the largest value around do not.
    """
    start, rim, stop = frame
    for side in (HI, LO):
        key, opposite = work.record.key[side], work.record.near[1 - side]
        for i in range(rim, stop):
            key[work.members[i]] = np.inf
        bar = -np.inf
        for i in range(start, rim):
            bar = max(bar, -opposite[work.members[i]])
        bounded = known > 0.0 or side == LO
        if work.unit:
            _spread_unit(work, frame, side, alpha, bar + SURE, bounded)
        else:
            _spread_lengths(work, frame, side, alpha, bar + SURE, bounded)


@njit(cache=True, nogil=True, allocates=False)
def _spread_unit(
    work: Workspace, frame: Frame, side: int, alpha: float, bar: float, bounded: bool
) -> None:
    """Propagate on unit lengths: only the sources need sorting, what they reach is in order."""
    record = work.record
    key, source, distance = record.key[side], record.source[side], record.distance[side]
    other, near = record.key[1 - side], record.near[side]
    heap, queue, buckets = work.scratch
    back = work.into if side == HI else work.out
    sign = 1 - 2 * side
    inf = np.inf
    sources = 0
    for i in range(frame[0], frame[1]):
        x = work.members[i]
        best = near[x]
        key[x] = best + alpha
        # no fixed vertex on this side
        if best == inf:
            continue
        source[x] = sign * best
        distance[x] = 1
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
        if key[x] > (SURE - other[x] if bounded else bar):
            continue
        visits += 1
        from_value = source[x]
        steps = distance[x] + 1
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
    work.counts[VISITS] += visits
    work.counts[PUSHES] += sources


@njit(cache=True, nogil=True, allocates=False)
def _spread_lengths(
    work: Workspace, frame: Frame, side: int, alpha: float, bar: float, bounded: bool
) -> None:
    """Propagate on general lengths: buckets of keys, first in, first out.

    A heap jumps between distant parts of the graph, which is slow in memory. In a bucket, vertices
    roughly keep the order of the frame, where neighbours are close. A vertex that is improved after
    its turn gets another turn. That is rare if a bucket is no wider than an arc.
    """
    record, members = work.record, work.members
    key, source, distance = record.key[side], record.source[side], record.distance[side]
    other, tag, value = record.key[1 - side], record.tag, record.value
    near = record.near[side]
    look, back = (work.out, work.into) if side == HI else (work.into, work.out)
    sign = 1 - 2 * side
    # doubly linked lists, so that a vertex can be removed; `OUT` marks a vertex in no list
    after, before = work.scratch.queue, work.scratch.heap.vertices
    first, last = work.scratch.buckets[0], work.scratch.buckets[1]
    least = np.inf
    for i in range(frame[0], frame[2]):
        x = members[i]
        after[x] = OUT
        if i >= frame[1]:
            continue
        # no fixed vertex is next to it on this side: skip its arcs
        if near[x] == np.inf:
            key[x] = np.inf
            continue
        # the least key, not the least value: a nearer vertex may win over a lower one
        best = np.inf
        for e in range(look.indptr[x], look.indptr[x + 1]):
            y = look.indices[e]
            if tag[y] == FIXED:
                candidate = sign * value[y] + alpha * look.lengths[e]
                if candidate < best:
                    best = candidate
                    source[x] = value[y]
                    distance[x] = look.lengths[e]
        key[x] = best
        least = min(least, best)
    # vertices beyond the bar do not propagate
    if not least < bar:
        return
    size = frame[2] - frame[0]
    count = min(first.size, 16 + min(size, PER_BUCKET) // 4 + size // PER_BUCKET)
    if alpha * work.shortest * count > bar - least:
        count = max(1, int((bar - least) / (alpha * work.shortest)))
    per_unit = count / (bar - least)
    first[:count] = END
    pushes = 0
    visits = 0
    for i in range(frame[0], frame[1]):
        x = members[i]
        if key[x] <= (min(bar, SURE - other[x]) if bounded else bar):
            _append(first, last, after, before, min(count - 1, int((key[x] - least) * per_unit)), x)
            pushes += 1
    for bucket in range(count):
        while first[bucket] != END:
            x = first[bucket]
            # `before` of the new first entry is left as it was: it is never read
            first[bucket] = after[x]
            after[x] = OUT
            if bounded and key[x] > SURE - other[x]:
                continue
            visits += 1
            from_value = source[x]
            from_distance = distance[x]
            for e in range(back.indptr[x], back.indptr[x + 1]):
                y = back.indices[e]
                far = from_distance + back.lengths[e]
                candidate = sign * from_value + alpha * far
                if candidate < key[y]:
                    if after[y] != OUT:
                        was = min(count - 1, int((key[y] - least) * per_unit))
                        _remove(first, last, after, before, was, y)
                    key[y] = candidate
                    source[y] = from_value
                    distance[y] = far
                    if candidate <= bar:
                        now = min(count - 1, int((candidate - least) * per_unit))
                        _append(first, last, after, before, now, y)
                        pushes += 1
    work.counts[VISITS] += visits
    work.counts[PUSHES] += pushes


@njit(cache=True, nogil=True, allocates=False, inline="always")
def _append(
    first: IntArray, last: IntArray, after: IntArray, before: IntArray, bucket: int, x: int
) -> None:
    """Append x to the list of a bucket."""
    if first[bucket] == END:
        first[bucket] = x
    else:
        after[last[bucket]] = x
        before[x] = last[bucket]
    last[bucket] = x
    after[x] = END


@njit(cache=True, nogil=True, allocates=False, inline="always")
def _remove(
    first: IntArray, last: IntArray, after: IntArray, before: IntArray, bucket: int, x: int
) -> None:
    """Remove x from the list of a bucket."""
    if first[bucket] == x:
        first[bucket] = after[x]
    else:
        after[before[x]] = after[x]
    if last[bucket] == x:
        last[bucket] = before[x]
    else:
        before[after[x]] = before[x]
    after[x] = OUT
