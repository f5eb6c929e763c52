"""Exact AMLE by divide and conquer on slopes.

A walk between two fixed vertices through unfixed ones has a slope: the drop of u over its length.
The AMLE is built by fixing the steepest walk (u falls along it at a constant rate), then the
steepest walk of what is left, and so on. Doing so one walk at a time is quadratic. Instead, pick a
slope α: the vertices whose pressure exceeds α do not feel those that stay at or below it, so the
components of the former are solved first, each on its own, and the rest afterwards with them fixed.

Frames on an explicit stack own disjoint segments of ``members``, a permutation of the unfixed
vertices. A frame has a floor: only pressure above it is its business.

- SPLIT: drop the vertices fixed meanwhile, find components, enter each.
- ENTER: keep what has pressure above the floor.
- PIVOT: choose α above the floor and propagate. Nothing steeper than α: the vertices of pressure α
  get their values. Otherwise solve the components steeper than α first. Then the frame comes up
  AGAIN, for what is left of it.
- AGAIN: as SPLIT. If nothing was fixed meanwhile, the components are entered as STEEPEST.
- STEEPEST: as ENTER, then take the steepest slope of all for α: something is fixed for sure.

Components of some tens of vertices are not entered: they are solved whole on a packed copy
(`small`). And where both sides of a large frame are to be propagated, or runs of components wait
that can be solved apart, `advance` hands that out, so that several threads can share it (`fix`).
Such a run is waited for only when the frame that it was a part of comes up AGAIN, when there is no
room for more, or at the end.

Rounding. A gap lo − hi within ``tol`` of zero is zero. A component of {gap > tol} counts only if
the gap exceeds 4 tol somewhere (hysteresis): without it a component may have no vertex whose slope
is resolved, and the recursion would not progress. The rounding of a distance grows with the number
of arcs, and exceeds ``tol`` on walks of some hundred thousand. Such a walk seems steeper in some
places than in others, and where it seems steeper there is nothing to fix. Hence AGAIN and STEEPEST,
which do not wait for the same thing twice; and a walk is fixed as a whole if any vertex on it is.
"""

from __future__ import annotations

import numpy as np

from .._jit import njit
from .._types import FloatArray
from .frames import (
    AGAIN,
    DUE,
    ENTER,
    FIXES,
    FRAMES,
    HEIGHT,
    JOBS,
    PIVOT,
    PUSHES,
    SPLIT,
    STEEPEST,
    VISITS,
    Workspace,
    drop_fixed,
    end_batch,
    fix_vertex,
    members_of,
    push,
    push_components,
    push_steep,
    split_components,
    unpack,
)
from .pressure import FIXED, HI, LO, Record, Scratch, nearest, propagate
from .small import pack, solve

FEW = 64
"""Up to this many vertices the pivot is the largest slope; above, a quantile of a sample."""
SAMPLE = 31
"""Slopes in a sample."""
QUANTILE = 0.7
PROBED_QUANTILE = 0.8
"""Of slopes that are known everywhere, and of those found by a few probes."""
MOST_PROBED = 1024
"""No probe looks at more vertices."""

DONE, BOTH_SIDES, PUT_OFF, MANY_FIXED, STUCK = range(5)
"""What `advance` asks for: nothing more; both sides of the frame on top, propagated at its slope;
the jobs from the first that is due on, solved; nothing, but a large batch was fixed; or there were
too many frames, which should never happen."""


@njit(cache=True, nogil=True, allocates=False)
def advance(work: Workspace) -> int:
    """Fix every vertex that has pressure, or go on until something is to be handed out."""
    spans, slopes = work.stack
    counts = work.counts
    whole = work.job_vertices == 0
    # no frame but an AGAIN leaves things as they were: the cap only guards against a hang. A copy
    # counts on from job to job
    cap = 1000 + 100 * work.members.size + (counts[FRAMES] if whole else 0)
    while counts[HEIGHT] > 0:
        # the last frame pushed is taken first, so that whatever is steeper is fixed before the
        # frame that waits for it
        top = counts[HEIGHT] - 1
        span = (spans[top, 0], spans[top, 1], spans[top, 2])
        kind = spans[top, 3]
        start, _, stop = span
        floor, slope = slopes[top, 0], slopes[top, 1]
        # whatever was put off since it was pushed lies within the frame that comes up again; the
        # rest can wait, while there is room for it
        counts[DUE] = spans[top, 4] if kind == AGAIN else counts[JOBS]
        if 2 * counts[JOBS] > work.jobs.spans.shape[0]:
            counts[DUE] = 0
        if counts[JOBS] > counts[DUE]:
            return PUT_OFF
        counts[HEIGHT] = top
        counts[FRAMES] += 1
        if counts[FRAMES] > cap or 2 * top > spans.shape[0]:
            return STUCK
        if kind in (SPLIT, AGAIN):
            # frames above this one have fixed some of its vertices since it was pushed; if not,
            # what seemed steeper there was rounding
            end = drop_fixed(work, start, stop)
            how = STEEPEST if kind == AGAIN and end == stop else ENTER
            push_components(work, split_components(work, start, end), how, floor)
            continue
        known = not np.isnan(slope)
        if stop - start <= work.small and not known and _solve_small(work, start, stop, floor):
            continue
        if kind == PIVOT:
            if not known:
                slope = _choose_slope(work, start, stop, floor)
                if whole:
                    # on the ground, nothing was propagated yet
                    _propagate_both(work, span, slope, floor > 0.0)
                else:
                    push(work, span, kind, floor, slope)
                    return BOTH_SIDES
            steep = _sift(work, span, slope)
            # nothing is steeper than α: the vertices of pressure α itself get their values, and the
            # rest, if any, is split anew; otherwise this frame waits under its steeper part
            if steep > start:
                push(work, span, AGAIN, floor, np.nan)
                push_steep(work, start, steep, slope)
                continue
            fixed = _fix_at_slope(work, start, stop, slope, False)
            if fixed < stop - start:
                push(work, span, AGAIN, floor, np.nan)
            if fixed > work.job_vertices and not whole:
                return MANY_FIXED
            continue
        if kind == ENTER and not known and not whole:
            slope = _probe(work, span, floor)
            if slope > floor:
                push(work, span, PIVOT, floor, slope)
                return BOTH_SIDES
        if floor > 0.0:
            if not known:
                if whole:
                    _propagate_both(work, span, floor, False)
                else:
                    push(work, span, kind, floor, floor)
                    return BOTH_SIDES
            kept = _sift(work, span, floor)
        else:
            kept = _enter_ground(work, span)
        # what has no pressure above the floor may have held the segment together: split again
        if kept < stop:
            push_steep(work, start, kept, floor)
        elif kind == ENTER:
            push(work, span, PIVOT, floor, np.nan)
        else:
            slope = _steepest_slope(work, span)
            if _fix_at_slope(work, start, stop, slope, True) < stop - start:
                push(work, span, AGAIN, floor, np.nan)
    counts[DUE] = 0
    return PUT_OFF if counts[JOBS] > 0 else DONE


@njit(cache=True, nogil=True, allocates=False, inline="always")
def _solve_small(work: Workspace, start: int, stop: int, floor: float) -> bool:
    """Fix what has pressure above the floor, on a packed copy; False if there is no room for it."""
    packed, record, unit, flat = work.packed, work.record, work.unit, work.flat
    if not pack(packed, record, work.out, work.into, work.members[start:stop], unit, flat):
        return False
    fixes, batches = solve(packed, stop - start, floor, work.tol, unit, flat)
    unpack(packed, fixes, batches, work)
    return True


@njit(cache=True, nogil=True, allocates=False)
def spread(
    work: Workspace, scratch: Scratch, side: int, alpha: float, span: tuple[int, int, int]
) -> tuple[int, int]:
    """Fill one side of the record for the vertices of a frame, whatever is known of the other."""
    arcs = (work.out, work.into) if side == HI else (work.into, work.out)
    return propagate(
        work.record, scratch, arcs, members_of(work, span), side, alpha, False, work.unit
    )


@njit(cache=True, nogil=True, allocates=False)
def _enter_ground(work: Workspace, span: tuple[int, int, int]) -> int:
    """Keep at the front what has pressure at all, with slopes; where that ends.

    Returns `start` if there is none. Where nothing lies below, a cheaper search often does.
    """
    if work.flat:
        return _enter_flat_ground(work, span)
    if _slopes_across_cells(work, span) > 0.0:
        return span[2]
    _propagate_both(work, span, 0.0, False)
    return _sift(work, span, 0.0)  # a descent may still lead through several cells


@njit(cache=True, nogil=True, allocates=False)
def _enter_flat_ground(work: Workspace, span: tuple[int, int, int]) -> int:
    """Undirected ground level: if all values around are equal, so is the inside."""
    start, _, stop = span
    if _slopes_across_cells(work, span) > 0.0:
        return stop
    members, record = work.members, work.record
    # all fixed vertices around have one value: whichever is nearest to the first member will do
    if record.key[HI, members[start]] < np.inf:
        constant = record.source[HI, members[start]]
        first = work.counts[FIXES]
        for x in members[start:stop]:
            fix_vertex(work, x, constant)
        end_batch(work, 0.0, first)
    return start


@njit(cache=True, nogil=True, allocates=False)
def _slopes_across_cells(work: Workspace, span: tuple[int, int, int]) -> float:
    """Slopes of walks between the nearest fixed vertices of neighbours; returns the largest.

    On a directed graph the nearest against the arcs is looked up apart from the nearest along
    them; otherwise they are the same and one pass serves.
    """
    members = members_of(work, span)
    record = work.record
    both = not work.flat
    for side in (HI, LO):
        arcs = (work.out, work.into) if side == HI else (work.into, work.out)
        if side == HI or both:
            visits, pushes = nearest(record, work.scratch, arcs, members, side, work.unit)
            work.counts[VISITS] += visits
            work.counts[PUSHES] += pushes
    # undirected, the nearest fixed vertex up is the nearest down
    above = LO if both else HI
    key, source, distance, tag, value = (
        record.key,
        record.source,
        record.distance,
        record.tag,
        record.value,
    )
    indptr, indices, lengths = work.out
    near = record.near
    largest = 0.0
    for x in work.members[span[0] : span[2]]:
        slope = 0.0
        if key[above, x] < np.inf:
            top = source[above, x]
            far = distance[above, x]
            # a walk from the nearest fixed vertex of x over one arc to a fixed vertex, or on to the
            # nearest one of y in the same segment: where two Voronoi cells touch
            if work.unit and near[HI, x] < np.inf:
                drop = top - near[HI, x]
                if not both:
                    drop = max(drop, near[LO, x] - top)
                slope = max(0.0, drop / (far + 1.0))
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
                if not both:
                    drop = abs(drop)
                # compared without dividing: most arcs are not steeper
                if drop > slope * run:
                    slope = drop / run
        value[x] = slope
        largest = max(largest, slope)
    return largest


@njit(cache=True, nogil=True, allocates=False)
def _sift(work: Workspace, span: tuple[int, int, int], alpha: float) -> int:
    """Move the vertices of pressure above alpha, propagated at it, to the front.

    Their slopes go to ``record.value`` (0 where unresolved). Returns where they end, the start of
    the segment if no slope is resolved.
    """
    members, tol = work.members, work.tol
    record = work.record
    key, value = record.key, record.value
    start, _, stop = span
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
    for x in members[end:stop]:
        key[HI, x] = -np.inf
        key[LO, x] = -np.inf
    return end


@njit(cache=True, nogil=True, allocates=False, inline="always")
def _slope_through(record: Record, x: int) -> float:
    """Slope of the walk from the winner above x down to the one below."""
    drop = record.source[LO, x] - record.source[HI, x]
    return drop / (record.distance[LO, x] + record.distance[HI, x])


@njit(cache=True, nogil=True, allocates=False, inline="always")
def _propagate_both(
    work: Workspace, span: tuple[int, int, int], alpha: float, steeper: bool
) -> None:
    """Fill both sides of the record for the vertices of a frame; `steeper` than they are filled."""
    segment = members_of(work, span)
    for side in (HI, LO):
        arcs = (work.out, work.into) if side == HI else (work.into, work.out)
        visits, pushes = propagate(
            work.record, work.scratch, arcs, segment, side, alpha, side == LO or steeper, work.unit
        )
        work.counts[VISITS] += visits
        work.counts[PUSHES] += pushes


@njit(cache=True, nogil=True, allocates=False)
def _steepest_slope(work: Workspace, span: tuple[int, int, int]) -> float:
    """Slope of the steepest walk through a frame, as it is computed; leaves it propagated so.

    Dinkelbach's iteration: the winners at one slope give a steeper one, until none does.
    """
    key = work.record.key
    steeper = _largest_slope(work, span[0], span[2])
    alpha = 0.0
    while True:
        again = alpha > 0.0
        alpha = steeper
        _propagate_both(work, span, alpha, again)
        for x in work.members[span[0] : span[2]]:
            if -key[LO, x] - key[HI, x] > work.tol:
                steeper = max(steeper, _slope_through(work.record, x))
        if steeper == alpha:
            return alpha


@njit(cache=True, nogil=True, allocates=False)
def _probe(work: Workspace, span: tuple[int, int, int], floor: float) -> float:
    """Choose a pivot by walks that begin at random places of the rim; 0 if too few descend.

    Cheaper than to know a slope everywhere (`_slopes_across_cells`). Each is the slope of some
    walk: α is not above all of them.
    """
    start, rim, stop = span
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
    key, tag, value = record.key[HI], record.tag, record.value
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
    key[x] = mark
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
            elif tag[z] == mine and key[z] != mark and tail < limit:
                key[z] = mark
                queue[tail] = z
                far[tail] = far[head] + lengths[e]
                tail += 1
        head += 1
    return steepest


@njit(cache=True, nogil=True, allocates=False)
def _insert(sample: FloatArray, size: int, slope: float) -> None:
    """Insert a slope into a sorted sample."""
    place = size
    while place > 0 and sample[place - 1] > slope:
        sample[place] = sample[place - 1]
        place -= 1
    sample[place] = slope


@njit(cache=True, nogil=True, allocates=False)
def _choose_slope(work: Workspace, start: int, stop: int, floor: float) -> float:
    """Pivot: the largest known slope of a small segment, a high quantile of a large one."""
    members, slopes = work.members, work.record.value
    size = int(stop - start)
    if size > FEW:
        sample = work.sample
        found = 0
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
        # too few slopes are known: fall through to the largest
        if found >= 5:
            return sample[int(QUANTILE * found)]
    return _largest_slope(work, start, stop)


@njit(cache=True, nogil=True, allocates=False)
def _largest_slope(work: Workspace, start: int, stop: int) -> float:
    slopes = work.record.value
    largest = 0.0
    for x in work.members[start:stop]:
        largest = max(largest, slopes[x])
    return largest


@njit(cache=True, nogil=True, allocates=False)
def _fix_at_slope(work: Workspace, start: int, stop: int, alpha: float, steepest: bool) -> int:
    """Fix the vertices where lo and hi meet, and the walks they lie on; how many.

    None if no descent is among them, unless α is the steepest slope: then where they come closest.
    """
    key, source = work.record.key, work.record.source
    closest = -np.inf
    where = -1
    for x in work.members[start:stop]:
        gap = -key[LO, x] - key[HI, x]
        # lo and hi of one fixed vertex meet a short way off as well, but that is no descent
        if gap > closest and (source[LO, x] > source[HI, x] or steepest):
            closest = gap
            where = x
            if gap >= -work.tol:
                break
    if where < 0 or not (closest >= -work.tol or steepest):
        return 0
    first = work.counts[FIXES]
    if closest < -work.tol:
        fix_vertex(work, where, 0.5 * (key[HI, where] - key[LO, where]))
    for x in work.members[start:stop]:
        if -key[LO, x] - key[HI, x] >= -work.tol:
            fix_vertex(work, x, 0.5 * (key[HI, x] - key[LO, x]))
    # sums of ones are exact, and those of a few lengths nearly so
    if not work.unit and stop - start > FEW:
        _fix_whole_walks(work, first)
    end_batch(work, alpha, first)
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
                    fix_vertex(work, y, 0.5 * (key[HI, y] - key[LO, y]))
