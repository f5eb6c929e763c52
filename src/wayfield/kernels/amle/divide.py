"""The exact AMLE by divide and conquer on slopes.

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

**Rounding.** A gap lo − hi within ``tol`` of zero is zero. A component of {gap > tol} counts only
if the gap exceeds 4 tol somewhere (hysteresis): without it a component may have no vertex whose
slope is resolved, and the recursion would not progress. The rounding of a distance grows with the
number of arcs, and exceeds ``tol`` on walks of some hundred thousand. Such a walk seems steeper in
some places than in others, and where it seems steeper there is nothing to fix. Hence AGAIN and
STEEPEST, which do not wait for the same thing twice; and a walk is fixed as a whole if any vertex
on it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._jit import njit
from .._types import BoolArray, FloatArray, IntArray
from ..csr import Arcs
from .pressure import FIXED, HI, LO, Record, Scratch, make_record, make_scratch, propagate

ENTER, PIVOT, AGAIN, STEEPEST = np.arange(4)
"""Kinds of frames. NumPy's integers: for literals Numba would compile kernels anew."""
UNFIXED = 2**31 - 1
"""Batch of a vertex that is not fixed; labels have -1."""
TAGS, FIXES, BATCHES, FRAMES, VISITS, PUSHES, HEIGHT = range(7)
"""Slots of `Workspace.counts`: tags handed out, vertices fixed, batches of them, frames worked on,
vertices that a propagation spread from, entries that one had to sort or to keep in a heap, frames
on the stack."""
FEW = 64
"""Up to this many vertices the pivot is the largest slope; above, a quantile of a sample."""
SAMPLE = 31
"""Slopes in a sample."""
QUANTILE, PROBED_QUANTILE = 0.7, 0.8
"""Of slopes that are known everywhere, and of those found by a few probes."""
PROBED = 2048
"""In larger frames probes find the pivot."""
MOST_PROBED = 1024
"""No probe looks at more vertices."""
UNBOUNDED = -2.0
"""See `_propagate_both`."""
STRETCH = 200_000
"""After so many visits `advance` returns, so that an interrupt is seen."""


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
    flat: bool
    """Undirected, and vertices of no pressure take the constant around them; else they are left
    unfixed."""


def make_workspace(
    out: Arcs, into: Arcs, labelled: BoolArray, labels: FloatArray, leave_flat: bool
) -> Workspace:
    """Allocate all that is worked on, with nothing fixed but the labels."""
    unit = bool((out.lengths == 1.0).all())
    n = labelled.size
    record = make_record(n)
    record.key[:] = -np.inf
    record.near[HI], record.near[LO] = np.inf, -np.inf
    record.tag[:] = np.where(labelled, FIXED, 0)
    record.value[:] = np.where(labelled, labels, 0.0)
    members = np.flatnonzero(~labelled).astype(np.int32)
    work = Workspace(
        record,
        make_scratch(n, out.indices.size, unit),
        out,
        into,
        members,
        bounds=np.empty((members.size + 1, 3), np.int64),
        order=np.empty(members.size, np.int32),
        batch=np.where(labelled, np.int32(-1), np.int32(UNFIXED)),
        slopes=np.empty(members.size),
        counts=np.zeros(1 + HEIGHT, np.int64),
        spans=np.empty((2 * members.size + 1024, 4), np.int64),
        floors=np.empty(2 * members.size + 1024),
        sample=np.empty(SAMPLE),
        tol=(4.0 if unit else 32.0) * float(np.finfo(np.float64).eps),
        unit=unit,
        flat=not leave_flat,
    )
    _tell_neighbours(work, np.flatnonzero(labelled).astype(np.int32))
    return work


def cones(work: Workspace, slope: float) -> tuple[FloatArray, FloatArray]:
    """Least and largest field, as far as these go, of the steepest slope of the whole graph.

    Where they meet this is the AMLE. `slope` is that of some walk; nothing may be fixed yet.
    """
    members, record = work.members, work.record
    on_rim = np.isfinite(record.near[:, members]).any(axis=0)
    members[:] = np.concatenate([members[on_rim], members[~on_rim]])
    record.value[members[:1]] = slope
    frame = 0, int(np.count_nonzero(on_rim)), members.size
    _propagate_both(work, *frame, _propagate_steepest(work, *frame), UNBOUNDED)
    return -record.key[LO], record.key[HI].copy()


def divide(work: Workspace, pause: Callable[[], object]) -> bool:
    """Fix what has pressure, from where it is on; whether that came to an end."""
    if work.counts[FRAMES] == 0:
        _push(work, 0, 0, work.members.size, AGAIN, 0.0)
    # no frame but an AGAIN leaves things as they were: the cap only guards against a hang
    cap = 1000 + 100 * work.members.size
    while work.counts[HEIGHT] > 0 and work.counts[FRAMES] <= cap:
        _advance(work, work.counts[VISITS] + STRETCH)
        pause()
    return bool(work.counts[HEIGHT] == 0)


@njit(cache=True, nogil=True, allocates=False)
def _advance(work: Workspace, until: int) -> None:
    """Work on frames until none is left, or so many vertices have been visited."""
    spans, floors, counts = work.spans, work.floors, work.counts
    while counts[HEIGHT] > 0 and counts[VISITS] < until:
        # the last frame pushed is taken first, so that whatever is steeper is fixed before the
        # frame that waits for it
        counts[HEIGHT] -= 1
        counts[FRAMES] += 1
        counts[VISITS] += 1
        top = counts[HEIGHT]
        start, rim, stop, kind = spans[top, 0], spans[top, 1], spans[top, 2], spans[top, 3]
        floor = floors[top]
        if kind == AGAIN:
            # frames above this one have fixed some of its vertices since it was pushed; if not,
            # what seemed steeper there was rounding
            end = _drop_fixed(work, start, stop)
            nothing = end == stop and counts[FRAMES] > 1
            _push_components(work, start, end, STEEPEST if nothing else ENTER, floor)
            continue
        slope = 0.0
        known = -1.0
        if kind == ENTER and stop - start > PROBED:
            slope = _probe(work, start, rim, stop, floor)
        if kind != PIVOT and slope <= floor:
            if floor > 0.0:
                _propagate_both(work, start, rim, stop, floor, known)
                kept = _sift(work, start, stop, floor)
            else:
                kept = _enter_ground(work, start, rim, stop)
            # what has no pressure above the floor may have held the segment together: split again
            if kept < stop:
                _push_steep(work, start, kept, floor)
                continue
            if kind == STEEPEST:
                slope = _propagate_steepest(work, start, rim, stop)
                if _fix_at_slope(work, start, stop, slope, -np.inf) < stop - start:
                    _push(work, start, rim, stop, AGAIN, floor)
                continue
        if slope <= floor:
            slope = _choose_slope(work, start, stop, floor)
            # what is known at a lower slope bounds the search; on the ground nothing is
            known = floor
        _propagate_both(work, start, rim, stop, slope, known)
        steep = _sift(work, start, stop, slope)
        # nothing is steeper than α: the vertices of pressure α itself get their values, and the
        # rest, if any, is split anew; otherwise this frame waits under its steeper part
        if steep > start:
            _push(work, start, rim, stop, AGAIN, floor)
            _push_steep(work, start, steep, slope)
        elif _fix_at_slope(work, start, stop, slope, -work.tol) < stop - start:
            _push(work, start, rim, stop, AGAIN, floor)


# ------------------------------------------------------------------ frames and their components


@njit(cache=True, nogil=True, allocates=False)
def _push(work: Workspace, start: int, rim: int, stop: int, kind: int, floor: float) -> None:
    top = work.counts[HEIGHT]
    work.spans[top, 0] = start
    work.spans[top, 1] = rim
    work.spans[top, 2] = stop
    work.spans[top, 3] = kind
    work.floors[top] = floor
    work.counts[HEIGHT] += 1


@njit(cache=True, nogil=True, allocates=False)
def _push_steep(work: Workspace, start: int, stop: int, floor: float) -> None:
    """Push a frame for every component of the segment that has a resolved slope."""
    # with a tag of their own they are cut off from the rest of their frame
    tag = work.counts[TAGS]
    work.counts[TAGS] += 1
    for i in range(start, stop):
        work.record.tag[work.members[i]] = tag
    _push_components(work, start, stop, PIVOT, floor)


@njit(cache=True, nogil=True, allocates=False)
def _drop_fixed(work: Workspace, start: int, stop: int) -> int:
    """Move the unfixed vertices of a segment to its front, under one tag; where they end."""
    tag = work.counts[TAGS]
    work.counts[TAGS] += 1
    members, tags = work.members, work.record.tag
    end = start
    for i in range(start, stop):
        x = members[i]
        if tags[x] != FIXED:
            tags[x] = tag
            members[i] = members[end]
            members[end] = x
            end += 1
    return end


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
            if near[HI, x] < np.inf or near[LO, x] > -np.inf:
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
            largest = max(largest, work.record.value[x])
        if kind != PIVOT or largest > 0.0:
            _push(work, bounds[c, 0], bounds[c, 1], end, kind, floor)


# ------------------------------------------------------------------ what has pressure


@njit(cache=True, nogil=True, allocates=False)
def _propagate_both(
    work: Workspace, start: int, rim: int, stop: int, alpha: float, known: float
) -> None:
    """Fill both sides of the record for the vertices of a frame.

    They may be `known` at a positive slope that is not above α; `UNBOUNDED` makes no use of one side
    to bound the other. With α < 0 instead, the nearest fixed vertex of each is looked up;
    undirected, the one side is both.
    """
    near = alpha < 0.0
    for side in range(1 if near and work.flat else 2):
        visits, pushes = propagate(
            work.record,
            work.scratch,
            work.out if side == HI else work.into,
            work.into if side == HI else work.out,
            work.members[start:rim],
            work.members[rim:stop],
            side,
            abs(alpha),
            # with sign 0 all sources start at key 0: at slope 1 the key is the distance
            0.0 if near else 1.0 - 2.0 * side,
            np.inf if near or known == UNBOUNDED else 0.0,
            known > 0.0 or (side == LO and not near and known != UNBOUNDED),
            work.unit,
        )
        work.counts[VISITS] += visits
        work.counts[PUSHES] += pushes


@njit(cache=True, nogil=True, allocates=False)
def _sift(work: Workspace, start: int, stop: int, alpha: float) -> int:
    """Move the vertices of pressure above alpha, propagated at it, to the front.

    Their slopes go to ``record.value`` (0 where unresolved; on the ground, if what is known there
    is less). Returns where they end, the start of the segment if no slope is resolved.
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
                if alpha == 0.0:
                    slope = max(slope, value[x])
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
    """Slope of the walk from the winner above x down to the one below."""
    drop = record.source[LO, x] - record.source[HI, x]
    return drop / (record.distance[LO, x] + record.distance[HI, x])


@njit(cache=True, nogil=True, allocates=False)
def _enter_ground(work: Workspace, start: int, rim: int, stop: int) -> int:
    """Keep at the front what has pressure at all, with slopes; where that ends.

    Undirected, if all values around are equal, so is the inside.
    """
    members, record = work.members, work.record
    steep = _slopes_across_cells(work, start, rim, stop) > 0.0
    if not work.flat:
        _propagate_both(work, start, rim, stop, 0.0, -1.0)
        return _sift(work, start, stop, 0.0)
    if steep:
        return stop
    # all fixed vertices around have one value: whichever is nearest to the first member will do
    if record.key[HI, members[start]] < np.inf:
        constant = record.source[HI, members[start]]
        first = work.counts[FIXES]
        for i in range(start, stop):
            _fix_vertex(work, members[i], constant)
        _end_batch(work, 0.0, first)
    return start


@njit(cache=True, nogil=True, allocates=False)
def _slopes_across_cells(work: Workspace, start: int, rim: int, stop: int) -> float:
    """Slopes of walks between the nearest fixed vertices of neighbours; returns the largest.

    Where two Voronoi cells touch, or a cell a fixed vertex. On a directed graph the nearest against
    the arcs is looked up apart from the nearest along them; otherwise they are the same.
    """
    record, flat = work.record, work.flat
    _propagate_both(work, start, rim, stop, -1.0, -1.0)
    above = HI if flat else LO
    key, source, distance = record.key, record.source, record.distance
    tag, value = record.tag, record.value
    indptr, indices, lengths = work.out
    largest = 0.0
    for i in range(start, stop):
        x = work.members[i]
        slope = 0.0
        if key[above, x] < np.inf:
            top = source[above, x]
            far = distance[above, x]
            for e in range(indptr[x], indptr[x + 1]):
                y = indices[e]
                if tag[y] == FIXED:
                    drop = top - value[y]
                    run = far + lengths[e]
                elif -np.inf < key[HI, y] < np.inf:
                    drop = top - source[HI, y]
                    run = far + lengths[e] + distance[HI, y]
                else:
                    continue
                if flat:
                    drop = abs(drop)
                # compared without dividing: most arcs are not steeper
                if drop > slope * run:
                    slope = drop / run
        value[x] = slope
        largest = max(largest, slope)
    return largest


# ------------------------------------------------------------------ the pivot


@njit(cache=True, nogil=True, allocates=False)
def _choose_slope(work: Workspace, start: int, stop: int, floor: float) -> float:
    """Pivot: the largest known slope of a small segment, a high quantile of a large one."""
    members, slopes, sample = work.members, work.record.value, work.sample
    size = stop - start
    found = 0
    if size > FEW:
        # a linear congruential generator seeded by the frame: the same pivots in every run
        seed = (size * 7919 + int(members[start])) & 0x7FFFFFFF
        for _ in range(400):
            seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
            slope = slopes[members[start + ((seed * size) >> 31)]]
            # slopes at the floor would only find the same segment again
            if slope > floor * (1.0 + 1e-13):
                _insert(sample, found, slope)
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
def _insert(sample: FloatArray, size: int, slope: float) -> None:
    """Insert a slope into a sorted sample."""
    place = size
    while place > 0 and sample[place - 1] > slope:
        sample[place] = sample[place - 1]
        place -= 1
    sample[place] = slope


@njit(cache=True, nogil=True, allocates=False)
def _probe(work: Workspace, start: int, rim: int, stop: int, floor: float) -> float:
    """Choose a pivot by walks that begin at random places of the rim; 0 if too few descend.

    Cheaper than to know a slope everywhere (`_slopes_across_cells`). Each is the slope of some
    walk: α is not above all of them.
    """
    members, sample = work.members, work.sample
    size = int(rim - start)
    # as many vertices as some cells have
    limit = min(MOST_PROBED, 64 + 8 * (stop - start) // max(size, 1))
    seed = (size * 7919 + int(members[start])) & 0x7FFFFFFF
    found = 0
    for k in range(2 * SAMPLE):
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        x = members[start + ((seed * size) >> 31)]
        slope = _slope_down_from(work, x, limit, -10.0 - k)
        if slope > floor * (1.0 + 1e-13):
            _insert(sample, found, slope)
            found += 1
            if found == SAMPLE:
                break
    return sample[int(PROBED_QUANTILE * found)] if found >= 5 else 0.0


@njit(cache=True, nogil=True, allocates=False)
def _slope_down_from(work: Workspace, x: int, limit: int, mark: float) -> float:
    """Steepest slope found from a fixed vertex that leads to x, over at most so many vertices.

    Nothing is known of the set yet, so that a key can be a mark, which no key is.
    """
    record, queue, far = work.record, work.scratch.queue, work.scratch.heap.keys
    key, tag, value = record.key, record.tag, record.value
    indptr, indices, lengths = work.into
    top = -np.inf
    for e in range(indptr[x], indptr[x + 1]):
        if tag[indices[e]] == FIXED and value[indices[e]] > top:
            top = value[indices[e]]
            far[0] = lengths[e]
    if top == -np.inf:
        return 0.0
    indptr, indices, lengths = work.out
    mine = tag[x]
    key[HI, x] = mark
    queue[0] = x
    tail = 1
    head = 0
    steepest = 0.0
    while head < tail:
        y = queue[head]
        for e in range(indptr[y], indptr[y + 1]):
            z = indices[e]
            if tag[z] == FIXED:
                steepest = max(steepest, (top - value[z]) / (far[head] + lengths[e]))
            elif tag[z] == mine and key[HI, z] != mark and tail < limit:
                key[HI, z] = mark
                queue[tail] = z
                far[tail] = far[head] + lengths[e]
                tail += 1
        head += 1
    return steepest


@njit(cache=True, nogil=True, allocates=False)
def _propagate_steepest(work: Workspace, start: int, rim: int, stop: int) -> float:
    """Slope of the steepest walk through a frame, as it is computed; leaves it propagated so.

    Dinkelbach's iteration: the winners at one slope give a steeper one, until none does.
    """
    key = work.record.key
    steeper = 0.0
    for i in range(start, stop):
        steeper = max(steeper, work.record.value[work.members[i]])
    alpha = -1.0
    while steeper > alpha:
        _propagate_both(work, start, rim, stop, steeper, alpha)
        alpha = steeper
        for i in range(start, stop):
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
    key, source, members, tol = work.record.key, work.record.source, work.members, work.tol
    closest = -np.inf
    where = members[start]
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
        _fix_vertex(work, where, 0.5 * (key[HI, where] - key[LO, where]))
    for i in range(start, stop):
        x = members[i]
        if -key[LO, x] - key[HI, x] >= -tol:
            _fix_vertex(work, x, 0.5 * (key[HI, x] - key[LO, x]))
    # sums of ones are exact, and those of a few lengths nearly so
    if not work.unit and stop - start > FEW:
        _fix_whole_walks(work, first)
    _end_batch(work, alpha, first)
    return work.counts[FIXES] - first


@njit(cache=True, nogil=True, allocates=False)
def _fix_whole_walks(work: Workspace, first: int) -> None:
    """Fix what else of the set lies on the walks through the vertices fixed since `first`."""
    key, source, distance = work.record.key, work.record.source, work.record.distance
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
                    _fix_vertex(work, y, 0.5 * (key[HI, y] - key[LO, y]))


@njit(cache=True, nogil=True, allocates=False)
def _fix_vertex(work: Workspace, x: int, value: float) -> None:
    """Give a vertex its value, in the batch at hand, and take it out of its set."""
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
    """Close the batch at hand: the vertices fixed since `first` lie on walks of this slope."""
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
                    if side == HI:
                        near[HI, y] = min(near[HI, y], value[x])
                    else:
                        near[LO, y] = max(near[LO, y], value[x])
