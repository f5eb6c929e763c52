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
(`small`).

Rounding. A gap lo − hi within ``tol`` of zero is zero. A component of {gap > tol} counts only if
the gap exceeds 4 tol somewhere (hysteresis): without it a component may have no vertex whose slope
is resolved, and the recursion would not progress. The rounding of a distance grows with the number
of arcs, and exceeds ``tol`` on walks of some hundred thousand. Such a walk seems steeper in some
places than in others, and where it seems steeper there is nothing to fix. Hence AGAIN and STEEPEST,
which do not wait for the same thing twice; and a walk is fixed as a whole if any vertex on it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import njit
from .._types import BoolArray, FloatArray, IntArray
from ..csr import Arcs
from .frames import (
    AGAIN,
    BATCHES,
    ENTER,
    FIXES,
    FRAMES,
    PIVOT,
    PUSHES,
    SPLIT,
    STEEPEST,
    UNFIXED,
    VISITS,
    Frames,
    Workspace,
    bound_of,
    drop_fixed,
    end_batch,
    fix_vertex,
    members_of,
    push,
    push_steep,
    split_components,
    unpack,
)
from .packed import make_packed
from .pressure import FIXED, HI, LO, make_record, make_scratch, nearest, propagate
from .small import pack, solve

SMALL = 64
"""Segments of at most this many vertices are solved whole (`small`)."""
FEW = 64
"""Up to this many vertices the pivot is the largest slope; above, a quantile of a sample."""
SAMPLE = 31
QUANTILE = 0.7


class Fixing(NamedTuple):
    """What the divide and conquer did."""

    values: FloatArray
    """(n,) the field, accurate to rounding; NaN where nothing was fixed."""
    fixed: BoolArray
    """(n,) the labels, and the vertices that got a value."""
    order: IntArray
    """(k,) the unlabelled vertices in the order of fixing."""
    batch: IntArray
    """(n,) the batch each was fixed in; -1 for labels, `UNFIXED` where nothing was fixed."""
    slopes: FloatArray
    """(number of batches,) the slope of the walks of each; 0 where it is a constant."""
    frames: int
    """How many frames were worked on."""
    finished: bool
    """False if the cap on frames was met, which never should happen."""
    visits: int = 0
    """How many vertices propagations spread from, counted with repetition."""
    pushes: int = 0
    """How many entries they sorted or kept in a heap."""


def fix(out: Arcs, into: Arcs, labelled: BoolArray, labels: FloatArray, leave_flat: bool) -> Fixing:
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
    """
    work = _workspace(out, into, labelled, labels, leave_flat)
    finished = _divide_and_conquer(work)
    fixed = work.record.tag == FIXED
    values = np.where(fixed, work.record.value, np.nan)
    order, slopes = work.order[: work.counts[FIXES]], work.slopes[: work.counts[BATCHES]]
    frames, visits, pushes = (int(work.counts[slot]) for slot in (FRAMES, VISITS, PUSHES))
    return Fixing(values, fixed, order, work.batch, slopes, frames, finished, visits, pushes)


def _workspace(
    out: Arcs, into: Arcs, labelled: BoolArray, labels: FloatArray, leave_flat: bool
) -> Workspace:
    unit = bool((out.lengths == 1.0).all())
    record = make_record(labelled.size)
    record.tag[:] = np.where(labelled, FIXED, 0)
    record.value[:] = np.where(labelled, labels, 0.0)
    members = np.flatnonzero(~labelled).astype(np.int32)
    return Workspace(
        record,
        make_scratch(labelled.size, out.indices.size, unit),
        make_packed(),
        out,
        into,
        members,
        bounds=np.empty((members.size + 1, 3), np.int32),
        order=np.empty(members.size, np.int32),
        batch=np.where(labelled, np.int32(-1), np.int32(UNFIXED)),
        slopes=np.empty(members.size),
        counts=np.zeros(6, np.int64),
        tol=(4.0 if unit else 32.0) * float(np.finfo(np.float64).eps),
        unit=unit,
        small=SMALL,
        flat=not leave_flat,
    )


@njit(cache=True, nogil=True)
def _divide_and_conquer(work: Workspace) -> bool:
    """Fix every vertex that has pressure; False if there were too many frames, which never are."""
    # no frame but an AGAIN leaves things as they were: the cap only guards against a hang
    cap = 1000 + 100 * work.members.size
    frames = Frames(np.empty((1024, 4), np.int64), np.empty(1024))
    top = 0
    if work.members.size > 0:
        frames, top = push(frames, top, (0, 0, work.members.size), SPLIT, 0.0)
    while top > 0:
        work.counts[FRAMES] += 1
        if work.counts[FRAMES] > cap:
            return False
        # the last frame pushed is taken first, so that whatever is steeper is fixed before the
        # frame that waits for it
        top -= 1
        span = (frames.spans[top, 0], frames.spans[top, 1], frames.spans[top, 2])
        kind = frames.spans[top, 3]
        start, _, stop = span
        floor = frames.floors[top]
        if kind in (SPLIT, AGAIN):
            # frames above this one have fixed some of its vertices since it was pushed; if not,
            # what seemed steeper there was rounding
            end = drop_fixed(work, start, stop)
            how = STEEPEST if kind == AGAIN and end == stop else ENTER
            components = split_components(work, start, end)
            for c in range(components):
                frames, top = push(frames, top, bound_of(work, c), how, floor)
            continue
        if stop - start <= work.small and _solve_small(work, start, stop, floor):
            continue
        if kind != PIVOT:
            kept = _enter(work, span, floor)
            # what has no pressure above the floor may have held the segment together: split again
            if kept < stop:
                frames, top = push_steep(work, frames, top, start, kept, floor)
                continue
        if kind == STEEPEST:
            alpha = _steepest_slope(work, span)
            steep = start
        else:
            alpha = _choose_slope(work, start, stop, floor)
            steep = _steeper_than(work, span, alpha)
        # nothing is steeper than α: the vertices of pressure α itself get their values, and the
        # rest, if any, is split anew; otherwise this frame waits under its steeper part
        if steep == start:
            if _fix_at_slope(work, start, stop, alpha, kind == STEEPEST) < stop - start:
                frames, top = push(frames, top, span, AGAIN, floor)
        else:
            frames, top = push(frames, top, span, AGAIN, floor)
            frames, top = push_steep(work, frames, top, start, steep, alpha)
    return True


@njit(cache=True, nogil=True, inline="always")
def _solve_small(work: Workspace, start: int, stop: int, floor: float) -> bool:
    """Fix what has pressure above the floor, on a packed copy; False if there is no room for it."""
    packed, record, unit, flat = work.packed, work.record, work.unit, work.flat
    if not pack(packed, record, work.out, work.into, work.members[start:stop], unit, flat):
        return False
    fixes, batches = solve(packed, stop - start, floor, work.tol, unit, flat)
    unpack(packed, fixes, batches, record, work.order, work.batch, work.slopes, work.counts)
    return True


@njit(cache=True, nogil=True)
def _enter(work: Workspace, span: tuple[int, int, int], floor: float) -> int:
    """Keep at the front what has pressure above the floor, with slopes; where that ends.

    Returns `start` if there is none.
    """
    # on the ground, where nothing lies below the floor, a cheaper search often does
    if floor > 0.0:
        return _steeper_than(work, span, floor)
    if work.flat:
        return _enter_flat_ground(work, span)
    if _slopes_across_cells(work, span) > 0.0:
        return span[2]
    return _steeper_than(work, span, 0.0)  # a descent may still lead through several cells


@njit(cache=True, nogil=True)
def _enter_flat_ground(work: Workspace, span: tuple[int, int, int]) -> int:
    """Undirected ground level: if all values around are equal, so is the inside."""
    start, _, stop = span
    if _slopes_across_cells(work, span) > 0.0:
        return stop
    members, record = work.members, work.record
    # all fixed vertices around have one value: whichever is nearest to the first member will do
    if record.key[members[start], HI] < np.inf:
        constant = record.source[members[start], HI]
        for x in members[start:stop]:
            fix_vertex(work, x, constant)
        end_batch(work, 0.0)
    return start


@njit(cache=True, nogil=True)
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
    key, source, distance, tag, value = record
    indptr, indices, lengths = work.out
    mine = tag[work.members[span[0]]]
    largest = 0.0
    for x in work.members[span[0] : span[2]]:
        slope = 0.0
        if key[x, above] < np.inf:
            top = source[x, above]
            far = distance[x, above]
            for e in range(indptr[x], indptr[x + 1]):
                y = indices[e]
                # a walk from the nearest fixed vertex of x over one arc to a fixed vertex, or on to
                # the nearest one of y in the same segment: where two Voronoi cells touch
                if tag[y] == FIXED:
                    drop = top - value[y]
                    run = far + lengths[e]
                elif tag[y] == mine and key[y, HI] < np.inf:
                    drop = top - source[y, HI]
                    run = far + lengths[e] + distance[y, HI]
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


@njit(cache=True, nogil=True)
def _steeper_than(work: Workspace, span: tuple[int, int, int], alpha: float) -> int:
    """Propagate at slope alpha; move the vertices of larger pressure to the front.

    Their slopes go to ``record.value`` (0 where unresolved). Returns where they end, the start of
    the segment if no slope is resolved.
    """
    members, tol = work.members, work.tol
    key, source, distance, _, value = work.record
    start, _, stop = span
    _propagate_both(work, span, alpha)
    # a partition in place: members[start:end] have pressure above α, found so far
    end = start
    resolved = False
    for i in range(start, stop):
        x = members[i]
        gap = -key[x, LO] - key[x, HI]
        if gap > tol:
            slope = 0.0
            # hysteresis, see the module: a gap this wide has a slope that rounding cannot invent
            if gap > 4.0 * tol:
                drop = source[x, LO] - source[x, HI]
                slope = drop / (distance[x, LO] + distance[x, HI])
            if slope > alpha:
                resolved = True
            else:
                slope = 0.0
            value[x] = slope
            members[i] = members[end]
            members[end] = x
            end += 1
    # a segment without one resolved slope could be entered for ever: it counts as empty
    return end if resolved else start


@njit(cache=True, nogil=True, inline="always")
def _propagate_both(work: Workspace, span: tuple[int, int, int], alpha: float) -> None:
    """Fill both sides of the record for the vertices of a frame."""
    segment = members_of(work, span)
    for side in (HI, LO):
        arcs = (work.out, work.into) if side == HI else (work.into, work.out)
        visits, pushes = propagate(work.record, work.scratch, arcs, segment, side, alpha, work.unit)
        work.counts[VISITS] += visits
        work.counts[PUSHES] += pushes


@njit(cache=True, nogil=True)
def _steepest_slope(work: Workspace, span: tuple[int, int, int]) -> float:
    """Slope of the steepest walk through a frame, as it is computed; leaves it propagated so.

    Dinkelbach's iteration: the winners at one slope give a steeper one, until none does.
    """
    key, source, distance, _, _ = work.record
    steeper = _largest_slope(work, span[0], span[2])
    while True:
        alpha = steeper
        _propagate_both(work, span, alpha)
        for x in work.members[span[0] : span[2]]:
            if -key[x, LO] - key[x, HI] > work.tol:
                drop = source[x, LO] - source[x, HI]
                steeper = max(steeper, drop / (distance[x, LO] + distance[x, HI]))
        if steeper == alpha:
            return alpha


@njit(cache=True, nogil=True)
def _choose_slope(work: Workspace, start: int, stop: int, floor: float) -> float:
    """Pivot: the largest known slope of a small segment, a high quantile of a large one."""
    members, slopes = work.members, work.record.value
    size = stop - start
    if size > FEW:
        sample = np.empty(SAMPLE)
        found = 0
        # a linear congruential generator seeded by the frame: the same pivots in every run
        seed = (size * 7919 + work.counts[FRAMES]) & 0x7FFFFFFF
        for _ in range(400):
            seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
            slope = slopes[members[start + ((seed * size) >> 31)]]
            # slopes at the floor would only find the same segment again; the sample is kept sorted
            # by insertion
            if slope > floor * (1.0 + 1e-13):
                place = found
                while place > 0 and sample[place - 1] > slope:
                    sample[place] = sample[place - 1]
                    place -= 1
                sample[place] = slope
                found += 1
                if found == SAMPLE:
                    break
        # too few slopes are known: fall through to the largest
        if found >= 5:
            return sample[int(QUANTILE * found)]
    return _largest_slope(work, start, stop)


@njit(cache=True, nogil=True)
def _largest_slope(work: Workspace, start: int, stop: int) -> float:
    slopes = work.record.value
    largest = 0.0
    for x in work.members[start:stop]:
        largest = max(largest, slopes[x])
    return largest


@njit(cache=True, nogil=True)
def _fix_at_slope(work: Workspace, start: int, stop: int, alpha: float, steepest: bool) -> int:
    """Fix the vertices where lo and hi meet, and the walks they lie on; how many.

    None if no descent is among them, unless α is the steepest slope: then where they come closest.
    """
    key, source, _, tag, _ = work.record
    mine = tag[work.members[start]]
    closest = -np.inf
    where = -1
    for x in work.members[start:stop]:
        gap = -key[x, LO] - key[x, HI]
        # lo and hi of one fixed vertex meet a short way off as well, but that is no descent
        if gap > closest and (source[x, LO] > source[x, HI] or steepest):
            closest = gap
            where = x
            if gap >= -work.tol:
                break
    if where < 0 or not (closest >= -work.tol or steepest):
        return 0
    first = work.counts[FIXES]
    if closest < -work.tol:
        fix_vertex(work, where, 0.5 * (key[where, HI] - key[where, LO]))
    for x in work.members[start:stop]:
        if -key[x, LO] - key[x, HI] >= -work.tol:
            fix_vertex(work, x, 0.5 * (key[x, HI] - key[x, LO]))
    # sums of ones are exact, and those of a few lengths nearly so
    if not work.unit and stop - start > FEW:
        _fix_whole_walks(work, first, mine)
    end_batch(work, alpha)
    return work.counts[FIXES] - first


@njit(cache=True, nogil=True)
def _fix_whole_walks(work: Workspace, first: int, mine: int) -> None:
    """Fix what else of this tag lies on the walks through the vertices fixed since `first`."""
    key, source, distance, tag, _ = work.record
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
                    tag[y] == mine
                    and source[y, side] == source[x, side]
                    and distance[y, side] + lengths[e] == distance[x, side]
                    and key[y, HI] - key[y, LO] < np.inf
                ):
                    fix_vertex(work, y, 0.5 * (key[y, HI] - key[y, LO]))
