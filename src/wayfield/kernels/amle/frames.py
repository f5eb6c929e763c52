"""The stack of the exact AMLE: frames that own disjoint segments of the unfixed vertices."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._jit import njit
from .._types import FloatArray, IntArray
from ..csr import Arcs
from .packed import BATCH, SLOPE, SPREAD, VALUE, VERTEX, Packed
from .packed import FIXES as PACKED_FIXES
from .pressure import FIXED, HI, LO, Members, Record, Scratch

SPLIT, ENTER, PIVOT, AGAIN, STEEPEST = range(5)
"""Kinds of frames, see `divide`."""
UNFIXED = 2**31 - 1
"""Batch of a vertex that is not fixed; labels have -1."""

TAGS, FIXES, BATCHES, FRAMES, VISITS, PUSHES, HEIGHT, JOBS, DUE = range(9)
"""Slots of `Workspace.counts`: tags handed out, vertices fixed, batches of them, frames worked on,
vertices that a propagation spread from, entries that one had to sort or to keep in a heap; frames
on the stack, jobs put off, and the first of those that are waited for."""


class Frames(NamedTuple):
    """Frames on a stack, or put off as jobs: where they lie, what they are, from which slope on.

    The rim, the vertices with a fixed neighbour, comes first in a segment.
    """

    spans: IntArray
    """(k, 5) start, end of the rim, stop, kind, and how many jobs there were before. Of a job that
    is done: start, how many vertices were fixed, stop, and in how many batches."""
    slopes: FloatArray
    """(k, 2) the floor, and the slope that was propagated at already; NaN if at none."""


class Workspace(NamedTuple):
    """Everything the divide and conquer works on."""

    record: Record
    scratch: Scratch
    packed: Packed
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
    stack: Frames
    jobs: Frames
    """Runs of components that were put off, to be solved on copies (`copies`)."""
    job_batch: IntArray
    """(f,) what batch the vertices that a job fixed are in, as they lie in `members`, from 0."""
    job_slopes: FloatArray
    """(f,) the slopes of the batches of a job, from where its vertices lie on."""
    sample: FloatArray
    """Room for slopes to choose from."""
    job_vertices: int
    """Components of at most so many vertices are put off; 0 on a copy, and where nothing is."""
    job_arcs: int
    """And of at most so many arcs."""
    tol: float
    unit: bool
    """All lengths are 1."""
    small: int
    """Segments of at most this many vertices are solved on a packed copy."""
    flat: bool
    """Vertices of zero pressure take the constant around them; else they are left unfixed."""


def make_frames(count: int) -> Frames:
    """Allocate room for so many frames."""
    return Frames(np.empty((count, 5), np.int32), np.empty((count, 2)))


@njit(cache=True, nogil=True, allocates=False)
def push(
    work: Workspace, span: tuple[int, int, int], kind: int, floor: float, slope: float
) -> None:
    """Push a frame; `slope` is what it was propagated at already, NaN if nothing."""
    spans, slopes = work.stack
    top = work.counts[HEIGHT]
    spans[top, 0] = span[0]
    spans[top, 1] = span[1]
    spans[top, 2] = span[2]
    spans[top, 3] = kind
    spans[top, 4] = work.counts[JOBS]
    slopes[top, 0] = floor
    slopes[top, 1] = slope
    work.counts[HEIGHT] += 1


@njit(cache=True, nogil=True, allocates=False)
def push_components(work: Workspace, found: int, kind: int, floor: float) -> None:
    """Push a frame for each of the components found last, or put it off."""
    fits, fits_arcs = work.job_vertices, work.job_arcs
    # the run of components that the last job consists of: none yet
    size = fits
    arcs = 0
    for c in range(found):
        span = bound_of(work, c)
        count = span[2] - span[0]
        more = _arcs_of(work, span) if count <= fits else 0
        if count <= fits and more <= fits_arcs:
            if size + count > fits or arcs + more > fits_arcs:
                _begin_job(work, span[0], kind, floor)
                size = 0
                arcs = 0
            size += count
            arcs += more
            work.jobs.spans[work.counts[JOBS] - 1, 2] = span[2]
        else:
            size = fits  # a run has no gaps
            # components without a resolved slope are left to the frame below
            if kind != PIVOT or _is_resolved(work, span):
                push(work, span, kind, floor, np.nan)


@njit(cache=True, nogil=True, allocates=False)
def _arcs_of(work: Workspace, span: tuple[int, int, int]) -> int:
    ahead, back = work.out.indptr, work.into.indptr
    arcs = 0
    for x in work.members[span[0] : span[2]]:
        arcs += max(ahead[x + 1] - ahead[x], back[x + 1] - back[x])
    return arcs


@njit(cache=True, nogil=True, allocates=False)
def _begin_job(work: Workspace, start: int, kind: int, floor: float) -> None:
    job = work.counts[JOBS]
    work.jobs.spans[job, 0] = start
    work.jobs.spans[job, 3] = kind
    work.jobs.slopes[job, 0] = floor
    work.counts[JOBS] += 1


@njit(cache=True, nogil=True, allocates=False)
def _is_resolved(work: Workspace, span: tuple[int, int, int]) -> bool:
    slopes = work.record.value
    largest = 0.0
    for x in work.members[span[0] : span[2]]:
        largest = max(largest, slopes[x])
    return largest > 0.0


@njit(cache=True, nogil=True, allocates=False)
def push_steep(work: Workspace, start: int, stop: int, floor: float) -> None:
    """Push a frame for every component of the segment that has a resolved slope."""
    if stop > start:
        # with a tag of their own they are cut off from the rest of their frame
        retag(work, start, stop)
        push_components(work, split_components(work, start, stop), PIVOT, floor)


@njit(cache=True, nogil=True, allocates=False, inline="always")
def bound_of(work: Workspace, c: int) -> tuple[int, int, int]:
    """Start, end of the rim and stop of a component found last."""
    bounds = work.bounds
    return bounds[c, 0], bounds[c, 1], bounds[c, 2]


@njit(cache=True, nogil=True, allocates=False, inline="always")
def members_of(work: Workspace, span: tuple[int, int, int]) -> Members:
    """Vertices of a frame, its rim apart."""
    members = work.members
    return Members(members[span[0] : span[1]], members[span[1] : span[2]])


@njit(cache=True, nogil=True, allocates=False)
def retag(work: Workspace, start: int, stop: int) -> None:
    """Give the vertices of a segment one tag of their own."""
    tag = work.counts[TAGS]
    work.counts[TAGS] += 1
    tags = work.record.tag
    for x in work.members[start:stop]:
        tags[x] = tag


@njit(cache=True, nogil=True, allocates=False)
def drop_fixed(work: Workspace, start: int, stop: int) -> int:
    """Move the unfixed vertices of a segment to its front, under one tag; where they end."""
    tag = work.counts[TAGS]
    work.counts[TAGS] += 1
    members, tags = work.members, work.record.tag
    end = start
    for i in range(start, stop):
        x = members[i]
        # a partition in place; the order within is of no account, `split_components` makes its own
        if tags[x] != FIXED:
            tags[x] = tag
            members[i] = members[end]
            members[end] = x
            end += 1
    return end


@njit(cache=True, nogil=True, allocates=False, inline="always")
def is_on_rim(near: FloatArray, x: int, both_ways: bool) -> bool:
    """Whether a vertex has a fixed neighbour; undirected, it is near on both sides or on none."""
    return near[HI, x] < np.inf or (both_ways and near[LO, x] > -np.inf)


@njit(cache=True, nogil=True, allocates=False)
def split_components(work: Workspace, start: int, stop: int) -> int:
    """Components of a segment under one tag, arcs taken both ways; each gets a tag of its own.

    Reorders the segment so that every component is a segment, its rim first, breadth first
    within either part, and leaves the ends in `Workspace.bounds`.
    """
    if start == stop:
        return 0
    members, queue, tags = work.members, work.scratch.queue, work.record.tag
    out, into, bounds, counts = work.out, work.into, work.bounds, work.counts
    near = work.record.near
    both_ways = not work.flat
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
        rim_size = 0
        head = tail
        tags[root] = new
        queue[tail] = root
        tail += 1
        while head < tail:
            x = queue[head]
            # one that is on the rim is kept turned round: −1 − x
            if is_on_rim(near, x, both_ways):
                queue[head] = -1 - x
                rim_size += 1
            head += 1
            for e in range(out.indptr[x], out.indptr[x + 1]):
                y = out.indices[e]
                if tags[y] == old:
                    tags[y] = new
                    queue[tail] = y
                    tail += 1
            if both_ways:
                for e in range(into.indptr[x], into.indptr[x + 1]):
                    y = into.indices[e]
                    if tags[y] == old:
                        tags[y] = new
                        queue[tail] = y
                        tail += 1
        bounds[found, 1] = bounds[found, 0] + rim_size
        bounds[found, 2] = start + tail
        found += 1
    # the queue holds the components one after another; `members`, which the loop above still read
    # its roots from, is rewritten only now
    for c in range(found):
        outer, inner = bounds[c, 0], bounds[c, 1]
        for x in queue[bounds[c, 0] - start : bounds[c, 2] - start]:
            if x < 0:
                members[outer] = -1 - x
                outer += 1
            else:
                members[inner] = x
                inner += 1
    return found


@njit(cache=True, nogil=True, allocates=False)
def arrange_pieces(work: Workspace, piece: IntArray, count: int) -> None:
    """Do as `split_components` with all members, whose components are known.

    On the rim and within they stay in the order of their numbers, in which neighbours are mostly
    close.
    """
    members, queue, tags = work.members, work.scratch.queue, work.record.tag
    bounds, near = work.bounds, work.record.near
    both_ways = not work.flat
    for c in range(count):
        bounds[c, 0] = bounds[c, 1] = 0
    for x in members:
        c = piece[x]
        tags[x] = 1 + c
        bounds[c, 0 if is_on_rim(near, x, both_ways) else 1] += 1
    end = 0
    for c in range(count):
        rim, inner = bounds[c, 0], bounds[c, 1]
        # for now, where the next vertex on the rim goes, and the next one within
        bounds[c, 0] = end
        bounds[c, 1] = end + rim
        end += rim + inner
        bounds[c, 2] = end
    for x in members:
        c, part = piece[x], 0 if is_on_rim(near, x, both_ways) else 1
        queue[bounds[c, part]] = x
        bounds[c, part] += 1
    for i in range(members.size):
        members[i] = queue[i]
    # either part has come to where the next one begins
    start = 0
    for c in range(count):
        bounds[c, 1] = bounds[c, 0]
        bounds[c, 0] = start
        start = bounds[c, 2]
    work.counts[TAGS] = 1 + count


@njit(cache=True, nogil=True, allocates=False, inline="always")
def fix_vertex(work: Workspace, x: int, value: float) -> None:
    """Give a vertex its value, in the batch at hand."""
    set_fixed(work.record, x, value)
    work.order[work.counts[FIXES]] = x
    work.batch[x] = work.counts[BATCHES]
    work.counts[FIXES] += 1


@njit(cache=True, nogil=True, allocates=False, inline="always")
def set_fixed(record: Record, x: int, value: float) -> None:
    """Note the value of a vertex, which takes it out of its set."""
    record.value[x] = value
    record.tag[x] = FIXED
    record.key[HI, x] = -np.inf
    record.key[LO, x] = -np.inf


@njit(cache=True, nogil=True, allocates=False)
def tell_neighbours(work: Workspace, fixed: IntArray) -> None:
    """Keep `Record.near` up to date where vertices have been fixed."""
    near, tag, value = work.record.near, work.record.tag, work.record.value
    out, into = work.out, work.into
    for x in fixed:
        for e in range(into.indptr[x], into.indptr[x + 1]):
            y = into.indices[e]
            if tag[y] != FIXED:
                near[HI, y] = min(near[HI, y], value[x])
                if work.flat:
                    near[LO, y] = max(near[LO, y], value[x])
        if not work.flat:
            for e in range(out.indptr[x], out.indptr[x + 1]):
                y = out.indices[e]
                if tag[y] != FIXED:
                    near[LO, y] = max(near[LO, y], value[x])


@njit(cache=True, nogil=True, allocates=False, inline="always")
def end_batch(work: Workspace, slope: float, first: int) -> None:
    """Close the batch at hand: the vertices fixed since `first` lie on walks of this slope."""
    tell_neighbours(work, work.order[first : work.counts[FIXES]])
    work.slopes[work.counts[BATCHES]] = slope
    work.counts[BATCHES] += 1


@njit(cache=True, nogil=True, allocates=False)
def unpack(packed: Packed, fixes: int, batches: int, work: Workspace) -> None:
    """Fix what was fixed on the packed copy of a segment, in the same order."""
    whole, real, counts = packed.whole, packed.real, work.counts
    for k in range(fixes):
        x = whole[VERTEX, whole[PACKED_FIXES, k]]
        set_fixed(work.record, x, real[VALUE, k])
        work.order[counts[FIXES] + k] = x
        work.batch[x] = counts[BATCHES] + whole[BATCH, k]
    for k in range(batches):
        work.slopes[counts[BATCHES] + k] = real[SLOPE, k]
    tell_neighbours(work, work.order[counts[FIXES] : counts[FIXES] + fixes])
    counts[FIXES] += fixes
    counts[BATCHES] += batches
    counts[VISITS] += whole[SPREAD, 0]
