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
from .pressure import FIXED, Members, Record, Scratch

SPLIT, ENTER, PIVOT, AGAIN, STEEPEST = range(5)
"""Kinds of frames, see `divide`."""
UNFIXED = 2**31 - 1
"""Batch of a vertex that is not fixed; labels have -1."""

TAGS, FIXES, BATCHES, FRAMES, VISITS, PUSHES = range(6)
"""Slots of `Workspace.counts`: tags handed out, vertices fixed, batches of them, frames worked on,
vertices that a propagation spread from, and entries that one had to sort or to keep in a heap."""


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
    tol: float
    unit: bool
    """All lengths are 1."""
    small: int
    """Segments of at most this many vertices are solved on a packed copy."""
    flat: bool
    """Vertices of zero pressure take the constant around them; else they are left unfixed."""


class Frames(NamedTuple):
    """The stack: start, end of the rim, stop and kind of every frame, and its floor.

    The rim, the vertices with a fixed neighbour, comes first in a segment.
    """

    spans: NDArray[np.int64]
    floors: FloatArray


@njit(cache=True, nogil=True)
def push(
    frames: Frames, top: int, span: tuple[int, int, int], kind: int, floor: float
) -> tuple[Frames, int]:
    """Push a frame; returns the stack, moved to more room if it was full, and its height."""
    # copied entry by entry: slice assignment costs seconds of compile time
    if top == frames.floors.size:
        spans = np.empty((2 * top, 4), np.int64)
        floors = np.empty(2 * top)
        for i in range(top):
            floors[i] = frames.floors[i]
            for j in range(4):
                spans[i, j] = frames.spans[i, j]
        frames = Frames(spans, floors)
    frames.spans[top, 0] = span[0]
    frames.spans[top, 1] = span[1]
    frames.spans[top, 2] = span[2]
    frames.spans[top, 3] = kind
    frames.floors[top] = floor
    return frames, top + 1


@njit(cache=True, nogil=True)
def push_steep(
    work: Workspace, frames: Frames, top: int, start: int, stop: int, floor: float
) -> tuple[Frames, int]:
    """Push a frame for every component of the segment that has a resolved slope."""
    if stop == start:
        return frames, top
    # with a tag of their own they are cut off from the rest of their frame: what follows walks
    # over one tag only
    retag(work, start, stop)
    slopes = work.record.value
    components = split_components(work, start, stop)
    for c in range(components):
        span = bound_of(work, c)
        for x in work.members[span[0] : span[2]]:
            # components without a resolved slope are left to the frame below
            if slopes[x] > 0.0:
                frames, top = push(frames, top, span, PIVOT, floor)
                break
    return frames, top


@njit(cache=True, nogil=True, inline="always")
def bound_of(work: Workspace, c: int) -> tuple[int, int, int]:
    """Start, end of the rim and stop of a component found last."""
    bounds = work.bounds
    return bounds[c, 0], bounds[c, 1], bounds[c, 2]


@njit(cache=True, nogil=True, inline="always")
def members_of(work: Workspace, span: tuple[int, int, int]) -> Members:
    """Vertices of a frame, its rim apart."""
    members = work.members
    return Members(members[span[0] : span[1]], members[span[1] : span[2]])


@njit(cache=True, nogil=True)
def retag(work: Workspace, start: int, stop: int) -> None:
    """Give the vertices of a segment one tag of their own."""
    tag = work.counts[TAGS]
    work.counts[TAGS] += 1
    tags = work.record.tag
    for x in work.members[start:stop]:
        tags[x] = tag


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def split_components(work: Workspace, start: int, stop: int) -> int:
    """Components of a segment under one tag, arcs taken both ways; each gets a tag of its own.

    Reorders the segment so that every component is a segment, its rim first, breadth first
    within either part, and leaves the ends in `Workspace.bounds`.
    """
    if start == stop:
        return 0
    members, queue, tags = work.members, work.scratch.queue, work.record.tag
    # the heap is idle here: its keys serve as flags, so that no room is taken per call
    on_rim = work.scratch.heap.keys
    out, into, bounds, counts = work.out, work.into, work.bounds, work.counts
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
        bounds[found, 1] = start + tail
        head = tail
        tags[root] = new
        queue[tail] = root
        tail += 1
        while head < tail:
            x = queue[head]
            rim = False
            for e in range(out.indptr[x], out.indptr[x + 1]):
                y = out.indices[e]
                if tags[y] == old:
                    tags[y] = new
                    queue[tail] = y
                    tail += 1
                rim |= tags[y] == FIXED
            if both_ways:
                for e in range(into.indptr[x], into.indptr[x + 1]):
                    y = into.indices[e]
                    if tags[y] == old:
                        tags[y] = new
                        queue[tail] = y
                        tail += 1
                    rim |= tags[y] == FIXED
            on_rim[head] = rim
            bounds[found, 1] += rim
            head += 1
        bounds[found, 2] = start + tail
        found += 1
    # the queue holds the components one after another; `members`, which the loop above still read
    # its roots from, is rewritten only now
    for c in range(found):
        outer, inner = bounds[c, 0], bounds[c, 1]
        for i in range(bounds[c, 0] - start, bounds[c, 2] - start):
            if on_rim[i] != 0.0:
                members[outer] = queue[i]
                outer += 1
            else:
                members[inner] = queue[i]
                inner += 1
    return found


@njit(cache=True, nogil=True, inline="always")
def fix_vertex(work: Workspace, x: int, value: float) -> None:
    """Give a vertex its value, in the batch at hand."""
    work.record.value[x] = value
    work.record.tag[x] = FIXED
    work.order[work.counts[FIXES]] = x
    work.batch[x] = work.counts[BATCHES]
    work.counts[FIXES] += 1


@njit(cache=True, nogil=True, inline="always")
def end_batch(work: Workspace, slope: float) -> None:
    """Close the batch at hand: the vertices fixed in it lie on walks of this slope."""
    work.slopes[work.counts[BATCHES]] = slope
    work.counts[BATCHES] += 1


@njit(cache=True, nogil=True)
def unpack(
    packed: Packed,
    fixes: int,
    batches: int,
    record: Record,
    order: IntArray,
    batch: IntArray,
    slopes: FloatArray,
    counts: NDArray[np.int64],
) -> None:
    """Fix what was fixed on the packed copy of a segment, in the same order."""
    whole, real = packed.whole, packed.real
    for k in range(fixes):
        x = whole[VERTEX, whole[PACKED_FIXES, k]]
        record.value[x] = real[VALUE, k]
        record.tag[x] = FIXED
        order[counts[FIXES] + k] = x
        batch[x] = counts[BATCHES] + whole[BATCH, k]
    for k in range(batches):
        slopes[counts[BATCHES] + k] = real[SLOPE, k]
    counts[FIXES] += fixes
    counts[BATCHES] += batches
    counts[VISITS] += whole[SPREAD, 0]
