"""The field of the AMLE in doubles, and the order in which its values are determined.

There are two methods, and `fix` chooses. `iterate` is for undirected graphs with enough labels; it
takes the time of about a hundred sweeps. The divide and conquer of this module does the rest,
including directed graphs.

**Divide and conquer on slopes.**
A walk between two fixed vertices through unfixed ones has a slope: the drop of u over its length.
The AMLE is built by fixing the steepest walk (u falls along it at a constant rate), then the
steepest walk of what is left, and so on. One walk at a time is quadratic. Instead, pick a slope α.
The *pressure* of a vertex is the steepest slope of the walks through it. Vertices whose pressure
exceeds α do not feel those that stay at or below it: a walk that begins on a steeper one, p, can be
continued above p by that walk, and the two together are steeper than α as well. So the components
of {pressure > α} are solved first, each on its own, and the rest afterwards with them fixed.

Frames on an explicit stack own disjoint segments of ``members``, a permutation of the unfixed
vertices. A frame has a floor: only pressure above it is its business.

- ENTER: keep what has pressure above the floor.
- PIVOT: choose α above the floor and propagate. Nothing steeper than α: the vertices of pressure α
  get their values. Otherwise solve the components steeper than α first. Then the frame comes up
  AGAIN, for what is left of it.
- AGAIN: drop the vertices fixed meanwhile, find components, enter each. If nothing was fixed
  meanwhile they are entered as STEEPEST.
- STEEPEST: as ENTER, then take the steepest slope of all for α: something is fixed for sure.

**Directed graphs.** Through many vertices no walk descends at all, now or after a walk was fixed.
A frame on the ground (floor 0) must drop them whenever it comes up: otherwise the few vertices with
a slope decide the pivot, a few vertices are fixed at a time, and the whole frame is walked again.

**Bound on frames.** With f vertices to fix, pivots are given up after 4 f + 100 frames. Then the
stack is emptied, and all unfixed vertices are entered on the ground, every frame as STEEPEST. From
then on every frame except an AGAIN removes a vertex for good: it fixes one, or drops one, x,
through which no walk descends. (No walk ever will: a descent through x between vertices fixed later
could be continued at both ends, along the walks on which those lie, to vertices that are fixed
already.) There are at most f such frames, and at most as many AGAINs as frames that fix. In all,
there are at most 6 f + 100 frames. Small graphs took up to 2.4 f. Digraphs with two random arcs per
vertex, and grids with tied lengths and labels, took 0.3 to 0.5 per vertex, from 10,000 vertices to
a million. Each frame takes one or a few propagations, so the time is near-linear only in practice.

**Rounding.** A gap lo − hi within ``tol`` of zero is zero. A component of {gap > tol} counts only
if the gap exceeds 4 tol somewhere (hysteresis): without it a component may have no vertex whose
slope is resolved, and the recursion would not progress. The rounding of a distance grows with the
number of arcs, and exceeds ``tol`` on walks of some hundred thousand. Such a walk seems steeper in
some places than in others, and where it seems steeper there is nothing to fix. Hence AGAIN and
STEEPEST, which do not wait for the same thing twice. A walk is fixed as a whole if any vertex on it
is: gaps along it differ by rounding, so that one may be within ``tol`` and the next not.

**Propagation.**
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

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ....numerics.csr import Arcs, expands
from ....numerics.doubledouble import EPSILON
from ....numerics.heap import Heap, sort_entries
from ....numerics.jit import choice, compiling, njit
from ....typing import BoolArray, FloatArray, IntArray
from .iterate import iterate
from .retrace import UNFIXED, Fixing

HI = 0
"""Side of `Record` that looks along the arcs, to where a walk comes down."""
LO = 1
"""Side of `Record` that looks against the arcs, to where a walk comes from."""
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
ENTER, PIVOT, AGAIN, STEEPEST = range(4)
"""Kinds of frames."""
SMALL_FRAME = 64
"""Up to this many vertices the pivot is the largest slope; above, a quantile of a sample."""
QUANTILE = 0.7
"""Of these slopes."""
PER_VERTEX = 4
"""Pivots are given up after this many frames per vertex to fix, and a few: see the module."""
VISITS_PER_CALL = 200_000
"""`_advance` returns after this many visits, so that an interrupt is seen."""
FEW_UNLABELLED = 4000
"""Up to this many unlabelled vertices the divide and conquer is quicker than the iteration."""
FEWEST_LABELS = 5000
"""So it is with fewer than one label per this many vertices, unless all vertices are close by."""
WIDEST = 1e12
"""Largest ratio of lengths to iterate on: beyond 1/eps wrong fields are in balance to rounding."""

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


# ------------------------------------------------------------------ divide and conquer


def fix(
    out: Arcs,
    into: Arcs,
    labelled: BoolArray,
    labels: FloatArray,
    leave_flat: bool,
    pause: Callable[[], object] = bool,
) -> Fixing:
    """Fix every vertex through which a walk descends from label to label, the steepest walks first.

    Parameters
    ----------
    out, into : Arcs
        The graph, and its arcs turned round: the same arrays if it is undirected.
    labelled : (n,) bool array
        Where values are given.
    labels : (n,) float array
        The given values, of magnitude at most 1; not looked at elsewhere.
    leave_flat : bool
        Leave vertices unfixed through which no walk descends. If not, the graph must be undirected,
        and they take the constant around them: the classical AMLE.
    pause : callable
        Called every few passes over the graph; it may raise.

    If labels and lengths are arrays of rationals, so is the field: then nothing is rounded.
    """
    with compiling("never" if labels.dtype.hasobject else choice.get()):
        return _fixed(out, into, labelled, labels, leave_flat, pause)


def _fixed(
    out: Arcs,
    into: Arcs,
    labelled: BoolArray,
    labels: FloatArray,
    leave_flat: bool,
    pause: Callable[[], object],
) -> Fixing:
    """Choose between the two methods, and fix."""
    if (
        not leave_flat
        and np.count_nonzero(~labelled) > FEW_UNLABELLED
        and (labelled.size <= FEWEST_LABELS * np.count_nonzero(labelled) or expands(out))
        and 0.0 < out.lengths.max(initial=0.0) <= WIDEST * out.lengths.min(initial=np.inf)
    ):
        found = iterate(out, labelled, labels, pause)
        if found is not None:
            return found
    work = _make_workspace(out, into, labelled, labels, leave_flat)
    finished = divide(work, pause)
    fixed, values = work.record.tag == FIXED, work.record.value
    values[~fixed] = np.nan  # in place: a field of ten million vertices is large
    order, slopes = work.order[: work.counts[FIXES]], work.slopes[: work.counts[BATCHES]]
    counts = work.counts[[FRAMES, VISITS, PUSHES]].tolist()
    return Fixing(values, fixed, order, work.batch, slopes, finished, 0, None, *counts)


def _make_workspace(
    out: Arcs, into: Arcs, labelled: BoolArray, labels: FloatArray, leave_flat: bool
) -> Workspace:
    """Allocate the working arrays, with nothing fixed but the labels.

    Labels and lengths may be rationals, in arrays of objects: then nothing is rounded.
    """
    unit = bool((out.lengths == 1.0).all())
    n, kind = labelled.size, labels.dtype
    # for Numba, arrays of one row have another layout, and kernels would be compiled again
    rows = max(n, 2)
    # both sides of a vertex lie side by side, and its winners in one line of the cache
    winners = np.empty((rows, 2, 2), kind).transpose(1, 0, 2)
    record = Record(
        key=np.full((rows, 2), -np.inf, kind).T,
        source=winners[:, :, 0],
        distance=winners[:, :, 1],
        near=np.full((rows, 2), np.inf, kind).T,
        tag=np.where(labelled, np.int32(FIXED), np.int32(0)),
        value=np.where(labelled, labels, 0.0),
    )
    scratch = Scratch(
        Heap(np.zeros(n + 1, kind), np.empty(n + 1, np.int32)),
        np.empty(n + 1, np.int32),
        np.empty((2, min(n, BUCKETS) + 1), np.int32),
    )
    members = np.flatnonzero(~labelled).astype(np.int32)
    work = Workspace(
        record,
        scratch,
        out,
        into,
        members,
        bounds=np.empty((members.size + 1, 3), np.int64),
        order=np.empty(members.size, np.int32),
        batch=np.where(labelled, np.int32(-1), np.int32(UNFIXED)),
        slopes=np.empty(members.size, kind),
        counts=np.zeros(1 + HEIGHT, np.int64),
        spans=np.empty((2 * members.size + 1024, 4), np.int64),
        floors=np.zeros(2 * members.size + 1024, kind),
        sample=np.empty(SAMPLE, kind),
        tol=0.0 if kind.hasobject else (4.0 if unit else 32.0) * EPSILON,
        unit=unit,
        shortest=float(out.lengths.min(initial=np.inf)),
        flat=not leave_flat,
    )
    work.counts[TAGS] = 1  # all members have tag 0
    _tell_neighbours(work, np.flatnonzero(labelled).astype(np.int32))
    return work


def divide(work: Workspace, pause: Callable[[], object]) -> bool:
    """Fix all vertices that have pressure, and return whether this finished."""
    members, tags, counts = work.members, work.record.tag, work.counts
    ground, most, by_pivots = work.floors[0], PER_VERTEX * (members.size + 25), True
    _push_components(work, 0, members.size, ENTER, ground)
    while True:
        _advance(work, counts[VISITS] + VISITS_PER_CALL, most, by_pivots)
        if counts[HEIGHT] == 0:
            return True
        pause()
        if counts[FRAMES] >= most:
            if not by_pivots:
                return False  # only rounding errors can lead here
            left = members[tags[members] != FIXED]
            members[: left.size] = left
            tags[left] = counts[TAGS]
            counts[TAGS] += 1
            counts[HEIGHT] = 0
            _push_components(work, 0, left.size, STEEPEST, ground)
            most, by_pivots = most + 2 * left.size, False


@njit(cache=True, nogil=True, allocates=False)
def _advance(work: Workspace, until: int, most: int, by_pivots: bool) -> None:
    """Work on frames until none is left, or a limit of visits or of all frames is reached."""
    spans, floors, counts = work.spans, work.floors, work.counts
    members, tags = work.members, work.record.tag
    while counts[HEIGHT] > 0 and counts[VISITS] < until and counts[FRAMES] < most:
        # the last frame pushed is taken first, so that whatever is steeper is fixed before the
        # frame that waits for it
        counts[HEIGHT] -= 1
        counts[FRAMES] += 1
        counts[VISITS] += 1
        top = counts[HEIGHT]
        frame = (spans[top, 0], spans[top, 1], spans[top, 2])
        start, _, stop = frame
        kind, floor = spans[top, 3], floors[top]
        if kind == AGAIN:
            # Frames above this one have fixed some of its vertices since it was pushed. The others
            # move to the front, under one tag. If none was fixed, none was really steeper.
            end = start
            for i in range(start, stop):
                x = members[i]
                if tags[x] != FIXED:
                    tags[x] = counts[TAGS]
                    members[i] = members[end]
                    members[end] = x
                    end += 1
            counts[TAGS] += 1
            _push_components(work, start, end, STEEPEST if end == stop else ENTER, floor)
            continue
        if kind != PIVOT or not by_pivots:
            if work.flat and floor == 0.0:
                kept = _enter_ground(work, frame)
            else:
                propagate(work, frame, floor, -1.0)
                kept = _sift(work, start, stop, floor)
            # what has no pressure above the floor may have held the segment together: split again
            if kept < stop:
                _push_steep(work, start, kept, floor)
                continue
            if kind == STEEPEST or not by_pivots:
                slope = _propagate_steepest(work, frame)
                if _fix_at_slope(work, start, stop, slope, -np.inf) < stop - start:
                    _push(work, frame, AGAIN, floor)
                continue
        slope = _choose_slope(work, start, stop, floor)
        # what is known at a lower slope bounds the search; on the ground nothing is
        propagate(work, frame, slope, floor)
        steep = _sift(work, start, stop, slope)
        # nothing is steeper than α: the vertices of pressure α itself get their values, and the
        # rest, if any, is split anew; otherwise this frame waits under its steeper part
        if steep > start:
            _push(work, frame, AGAIN, floor)
            _push_steep(work, start, steep, slope)
        elif _fix_at_slope(work, start, stop, slope, -work.tol) < stop - start:
            _push(work, frame, AGAIN, floor)


# ------------------------------------------------------------------ frames and their components


@njit(cache=True, nogil=True, allocates=False)
def _push(work: Workspace, frame: Frame, kind: int, floor: float) -> None:
    top = work.counts[HEIGHT]
    work.spans[top, 0], work.spans[top, 1], work.spans[top, 2] = frame
    work.spans[top, 3] = kind
    work.floors[top] = floor
    work.counts[HEIGHT] += 1


@njit(cache=True, nogil=True, allocates=False)
def _push_steep(work: Workspace, start: int, stop: int, floor: float) -> None:
    """Push a frame for every component of the segment that has a resolved slope."""
    # with a tag of their own they are cut off from the rest of their frame
    for i in range(start, stop):
        work.record.tag[work.members[i]] = work.counts[TAGS]
    work.counts[TAGS] += 1
    _push_components(work, start, stop, PIVOT, floor)


@njit(cache=True, nogil=True, allocates=False)
def _push_components(work: Workspace, start: int, stop: int, kind: int, floor: float) -> None:
    """Push a frame for each component of a segment under one tag, arcs taken both ways.

    Reorders the segment so that every component is a segment under a tag of its own, its rim first,
    breadth first within either part. As PIVOT only those with a resolved slope are pushed; the
    others are left to the frame below.
    """
    if start == stop:
        return
    members, queue, tags = work.members, work.scratch.queue, work.record.tag
    bounds, counts, near = work.bounds, work.counts, work.record.near
    old = tags[members[start]]
    found = 0
    tail = 0
    for i in range(start, stop):
        root = members[i]
        if tags[root] != old:
            continue
        # tags only grow: no later component can be taken for this one
        new = counts[TAGS]
        counts[TAGS] += 1
        bounds[found, 0] = start + tail
        rim = 0
        head = tail
        tags[root] = new
        queue[tail] = root
        tail += 1
        while head < tail:
            x = queue[head]
            # one with a fixed neighbour is kept turned round: −1 − x
            if near[HI, x] < np.inf or near[LO, x] < np.inf:
                queue[head] = -1 - x
                rim += 1
            head += 1
            for side in range(1 if work.flat else 2):
                indptr, indices, _ = work.out if side == 0 else work.into
                for e in range(indptr[x], indptr[x + 1]):
                    y = indices[e]
                    if tags[y] == old:
                        tags[y] = new
                        queue[tail] = y
                        tail += 1
        bounds[found, 1] = bounds[found, 0] + rim
        bounds[found, 2] = start + tail
        found += 1
    # the queue holds the components one after another; `members`, which the loop above still read
    # its roots from, is rewritten only now
    for c in range(found):
        outer, inner, end = bounds[c, 0], bounds[c, 1], bounds[c, 2]
        largest = 0.0
        for i in range(outer - start, end - start):
            x = queue[i]
            if x < 0:
                x = -1 - x
                members[outer] = x
                outer += 1
            else:
                members[inner] = x
                inner += 1
            if kind == PIVOT:
                largest = max(largest, work.record.value[x])
        if kind != PIVOT or largest > 0.0:
            _push(work, (bounds[c, 0], bounds[c, 1], end), kind, floor)


# ------------------------------------------------------------------ what has pressure


@njit(cache=True, nogil=True, allocates=False)
def _sift(work: Workspace, start: int, stop: int, alpha: float) -> int:
    """Move the vertices of pressure above alpha, propagated at it, to the front.

    Their slopes go to ``record.value`` (0 where unresolved). Returns where they end, the start of
    the segment if no slope is resolved.
    """
    members, tol, record = work.members, work.tol, work.record
    key, value = record.key, record.value
    # a partition in place: members[start:end] have pressure above α, found so far
    end = start
    resolved = False
    for i in range(start, stop):
        x = members[i]
        gap = -key[LO, x] - key[HI, x]
        if gap > tol:
            slope = 0.0
            # hysteresis, see the module: a gap this wide has a slope that rounding cannot invent
            if gap > 4.0 * tol:
                slope = _slope_through(record, x)
            if slope > alpha:
                resolved = True
            else:
                slope = 0.0
            value[x] = slope
            members[i] = members[end]
            members[end] = x
            end += 1
    # a segment without one resolved slope could be entered for ever: it counts as empty
    if not resolved:
        return start
    # what waits is no longer in the set
    for i in range(end, stop):
        key[HI, members[i]] = -np.inf
        key[LO, members[i]] = -np.inf
    return end


@njit(cache=True, nogil=True, allocates=False)
def _slope_through(record: Record, x: int) -> float:
    """Return the slope of the walk from the winner above x down to the one below."""
    drop = record.source[LO, x] - record.source[HI, x]
    return drop / (record.distance[LO, x] + record.distance[HI, x])


@njit(cache=True, nogil=True, allocates=False)
def _enter_ground(work: Workspace, frame: Frame) -> int:
    """Find slopes of walks through a component of an undirected graph.

    Returns the end of the vertices left unfixed. If all values around the component are equal, so
    are those inside: they are fixed, and none is left.
    """
    members, queue, record = work.members, work.scratch.queue, work.record
    key, source, distance = record.key[HI], record.source[HI], record.distance[HI]
    tag, value = record.tag, record.value
    indptr, indices, lengths = work.out
    start, rim, stop = frame
    for i in range(start, stop):
        key[members[i]] = np.inf
        value[members[i]] = 0.0
    for i in range(start, rim):
        x = members[i]
        queue[i - start] = x
        key[x] = 0.0
        distance[x] = np.inf
        for e in range(indptr[x], indptr[x + 1]):
            y = indices[e]
            # nearest first, then least value, as in a propagation: values may tie up to rounding
            if tag[y] == FIXED and (lengths[e], value[y]) < (distance[x], source[x]):
                source[x] = value[y]
                distance[x] = lengths[e]
    # Cells of fixed vertices grow breadth first. Where two cells touch, or a cell touches another
    # fixed vertex, a walk leads through. Vertices that have been reached have key 0.
    head, tail, largest = 0, rim - start, 0.0
    while head < tail:
        x = queue[head]
        head += 1
        for e in range(indptr[x], indptr[x + 1]):
            y = indices[e]
            walk = run = distance[x] + lengths[e]
            if key[y] == np.inf:
                key[y] = 0.0
                source[y] = source[x]
                distance[y] = np.inf
                queue[tail] = y
                tail += 1
            if tag[y] == FIXED:
                drop = abs(source[x] - value[y])
            elif key[y] == 0.0:
                drop = abs(source[x] - source[y])
                walk += distance[y]
                # a shorter path, if one is found in time; a cell that is pushed back has been seen
                if run < distance[y]:
                    source[y] = source[x]
                    distance[y] = run
            else:
                continue
            # compared without dividing: most arcs are not steeper
            if drop > value[x] * walk:
                value[x] = drop / walk
                largest = max(largest, value[x])
    work.counts[VISITS] += tail
    if largest > 0.0:
        return stop
    # nothing has been reached in a component without a label
    first = work.counts[FIXES]
    for i in range(tail):
        _fix_vertex(work, queue[i], source[queue[i]])
    if tail > 0:
        _end_batch(work, 0.0, first)
    return start


# ------------------------------------------------------------------ the pivot


@njit(cache=True, nogil=True, allocates=False)
def _choose_slope(work: Workspace, start: int, stop: int, floor: float) -> float:
    """Return a pivot: the largest known slope of a small segment, else a high quantile."""
    members, slopes, sample = work.members, work.record.value, work.sample
    size = stop - start
    found = 0
    if size > SMALL_FRAME:
        # a linear congruential generator seeded by the frame: the same pivots in every run
        seed = (size * 7919 + int(members[start])) & 0x7FFFFFFF
        for _ in range(400):
            seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
            slope = slopes[members[start + ((seed * size) >> 31)]]
            # slopes at the floor would only find the same segment again
            if slope > floor * (1.0 + 1e-13):
                place = found
                while place > 0 and sample[place - 1] > slope:
                    sample[place] = sample[place - 1]
                    place -= 1
                sample[place] = slope
                found += 1
                if found == SAMPLE:
                    break
        if found >= 5:
            return sample[int(QUANTILE * found)]
    largest = 0.0
    for i in range(start, stop):
        largest = max(largest, slopes[members[i]])
    return largest


@njit(cache=True, nogil=True, allocates=False)
def _propagate_steepest(work: Workspace, frame: Frame) -> float:
    """Return the computed slope of the steepest walk through a frame; leave it propagated so.

    Dinkelbach's iteration: the winners at one slope give a steeper one, until none does.
    """
    key = work.record.key
    steeper = 0.0
    for i in range(frame[0], frame[2]):
        steeper = max(steeper, work.record.value[work.members[i]])
    alpha = -1.0
    while steeper > alpha:
        propagate(work, frame, steeper, alpha)
        alpha = steeper
        for i in range(frame[0], frame[2]):
            x = work.members[i]
            if -key[LO, x] - key[HI, x] > work.tol:
                steeper = max(steeper, _slope_through(work.record, x))
    return alpha


# ------------------------------------------------------------------ fixing


@njit(cache=True, nogil=True, allocates=False)
def _fix_at_slope(work: Workspace, start: int, stop: int, alpha: float, least: float) -> int:
    """Fix the vertices where lo and hi meet, and the walks they lie on; how many.

    None if no descent is among them; but where they come closest, if α is the steepest slope of all
    and the `least` gap is therefore -inf.
    """
    key, source, distance = work.record.key, work.record.source, work.record.distance
    members, tol = work.members, work.tol
    closest, where = -np.inf, members[start]
    for i in range(start, stop):
        x = members[i]
        gap = -key[LO, x] - key[HI, x]
        # lo and hi of one fixed vertex meet a short way off as well, but that is no descent
        if gap > closest and (source[LO, x] > source[HI, x] or least < -tol):
            closest = gap
            where = x
            if gap >= -tol:
                break
    if closest == -np.inf or closest < least:
        return 0
    first = work.counts[FIXES]
    if closest < -tol:
        _fix_vertex(work, where, (key[HI, where] - key[LO, where]) / 2)
    for i in range(start, stop):
        x = members[i]
        if -key[LO, x] - key[HI, x] >= -tol:
            _fix_vertex(work, x, (key[HI, x] - key[LO, x]) / 2)
    # then the other vertices of the set on the walks through these
    i = first
    while i < work.counts[FIXES]:
        x = work.order[i]
        i += 1
        for side in (HI, LO):
            indptr, indices, lengths = work.out if side == HI else work.into
            for e in range(indptr[x], indptr[x + 1]):
                y = indices[e]
                # the walk came from y if the sum is the same, bit by bit. Where the length is lost
                # to rounding both ends seem to come from each other, so all such y are taken
                if (
                    -np.inf < key[side, y]
                    and source[side, y] == source[side, x]
                    and distance[side, y] + lengths[e] == distance[side, x]
                    and key[HI, y] - key[LO, y] < np.inf
                ):
                    _fix_vertex(work, y, (key[HI, y] - key[LO, y]) / 2)
    _end_batch(work, alpha, first)
    return work.counts[FIXES] - first


@njit(cache=True, nogil=True, allocates=False)
def _fix_vertex(work: Workspace, x: int, value: float) -> None:
    """Set the value of a vertex, in the current batch, and take the vertex out of its set."""
    record, counts = work.record, work.counts
    record.value[x] = value
    record.tag[x] = FIXED
    record.key[HI, x] = -np.inf
    record.key[LO, x] = -np.inf
    work.order[counts[FIXES]] = x
    work.batch[x] = counts[BATCHES]
    counts[FIXES] += 1


@njit(cache=True, nogil=True, allocates=False)
def _end_batch(work: Workspace, slope: float, first: int) -> None:
    """Close the current batch: the vertices fixed since `first` lie on walks of this slope."""
    _tell_neighbours(work, work.order[first : work.counts[FIXES]])
    work.slopes[work.counts[BATCHES]] = slope
    work.counts[BATCHES] += 1


@njit(cache=True, nogil=True, allocates=False)
def _tell_neighbours(work: Workspace, fixed: IntArray) -> None:
    """Keep `Record.near` up to date where vertices have been fixed."""
    near, tag, value = work.record.near, work.record.tag, work.record.value
    for x in fixed:
        for side in (HI, LO):
            indptr, indices, _ = work.into if side == HI else work.out
            for e in range(indptr[x], indptr[x + 1]):
                y = indices[e]
                if tag[y] != FIXED:
                    near[side, y] = min(near[side, y], (1 - 2 * side) * value[x])
