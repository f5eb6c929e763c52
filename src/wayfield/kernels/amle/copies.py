"""Runs of components, each copied into a small graph of its own and solved there.

Components do not feel each other: they can be solved in any order, by any thread, and each on a
copy of some thousand vertices that stays in the cache. A copy holds the vertices of a run, numbered
from 0. Where lengths are not all 1, a vertex follows for every arc to a fixed one, with its value;
on unit lengths the nearest values say enough. The results go back to the segment that the run came
from; `join` gives them their places in the order of fixing, run by run, so that it is the same
whoever solved which.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import njit
from .._types import IntArray
from ..csr import Arcs, read_only
from .divide import DONE, SAMPLE, advance
from .frames import (
    AGAIN,
    BATCHES,
    DUE,
    ENTER,
    FIXES,
    HEIGHT,
    JOBS,
    PIVOT,
    SPLIT,
    TAGS,
    Workspace,
    make_frames,
    push,
    push_steep,
    set_fixed,
    tell_neighbours,
)
from .packed import make_packed
from .pressure import FIXED, HI, LO, make_record, make_scratch


class Copy(NamedTuple):
    """Room for the copy of one run."""

    work: Workspace
    vertices: IntArray
    """(k,) the vertices of the run in the whole graph."""
    out: Arcs
    """The arcs of `work`, which are read-only there, as the whole graph's are."""
    into: Arcs


def make_copy(work: Workspace) -> Copy:
    """Allocate room for any job of a workspace."""
    size, arcs = work.job_vertices, work.job_arcs
    out = _make_arcs(size, arcs)
    into = out if work.into.indices is work.out.indices else _make_arcs(size, arcs)
    fixed = 0 if work.unit else arcs if into is out else 2 * arcs
    vertices = size + fixed
    ours = read_only(out)
    inner = work._replace(
        record=make_record(vertices),
        scratch=make_scratch(size, arcs, work.unit),
        packed=make_packed(),
        out=ours,
        into=ours if into is out else read_only(into),
        members=np.empty(size, np.int32),
        bounds=np.empty((size + 1, 3), np.int32),
        order=np.empty(size, np.int32),
        batch=np.empty(vertices, np.int32),
        slopes=np.empty(size),
        counts=np.zeros_like(work.counts),
        stack=make_frames(8 * size + 1024),
        sample=np.empty(SAMPLE),
        job_vertices=0,
        job_arcs=0,
    )
    return Copy(inner, np.empty(size, np.int32), out, into)


def _make_arcs(size: int, arcs: int) -> Arcs:
    return Arcs(np.empty(size + 1, np.int32), np.empty(arcs, np.int32), np.ones(arcs))


@njit(cache=True, nogil=True, allocates=False)
def solve_job(work: Workspace, copy: Copy, job: int) -> bool:
    """Solve a job and leave its results where it lies; False if it got stuck.

    Writes of `work` only what belongs to the job's own vertices.
    """
    spans, slopes = work.jobs
    start, stop = spans[job, 0], spans[job, 2]
    _fill(work, copy, start, stop)
    inner = copy.work
    _begin(inner, stop - start, spans[job, 3], slopes[job, 0])
    finished = advance(inner) == DONE
    _take_back(work, copy, job)
    return finished


@njit(cache=True, nogil=True, allocates=False)
def _fill(work: Workspace, copy: Copy, start: int, stop: int) -> None:
    """Copy a run: its arcs, the fixed values around it, and the slopes known of it."""
    record, inner, members = work.record, copy.work.record, work.members
    size = stop - start
    # keys of vertices that wait mean nothing, so that they can hold a vertex's number in the copy
    number = record.key[HI]
    for i in range(size):
        x = members[start + i]
        number[x] = i
        copy.vertices[i] = x
        copy.work.members[i] = i
        inner.tag[i] = 0
        inner.value[i] = record.value[x]
        inner.key[HI, i] = -np.inf
        inner.key[LO, i] = record.key[LO, x]
        inner.near[HI, i] = record.near[HI, x]
        inner.near[LO, i] = record.near[LO, x]
    end = _copy_arcs(work, copy, work.out, copy.out, size, size)
    if copy.work.into.indices is not copy.work.out.indices:
        _copy_arcs(work, copy, work.into, copy.into, size, end)


@njit(cache=True, nogil=True, allocates=False)
def _copy_arcs(work: Workspace, copy: Copy, arcs: Arcs, target: Arcs, size: int, fixed: int) -> int:
    """Copy the arcs of a run; fixed vertices are numbered from `fixed` on; where they end."""
    record, inner = work.record, copy.work.record
    number, tag = record.key[HI], record.tag
    unit = work.unit
    slot = 0
    for i in range(size):
        x = copy.vertices[i]
        target.indptr[i] = slot
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            y = arcs.indices[e]
            if tag[y] == FIXED:
                if unit:
                    continue  # what is near says all
                target.indices[slot] = fixed
                inner.tag[fixed] = FIXED
                inner.value[fixed] = record.value[y]
                inner.key[HI, fixed] = -np.inf
                inner.key[LO, fixed] = -np.inf
                fixed += 1
            elif tag[y] == tag[x]:  # what waits for this run has another tag
                target.indices[slot] = int(number[y])
            else:
                continue
            if not unit:
                target.lengths[slot] = arcs.lengths[e]
            slot += 1
    target.indptr[size] = slot
    return fixed


@njit(cache=True, nogil=True, allocates=False)
def _begin(inner: Workspace, size: int, kind: int, floor: float) -> None:
    """Push what is to be done with a run."""
    counts = inner.counts
    for slot in (FIXES, BATCHES, HEIGHT, JOBS):
        counts[slot] = 0
    counts[TAGS] = 1
    if kind == PIVOT:
        push_steep(inner, 0, size, floor)
    else:
        # as AGAIN, where nothing was fixed: the steepest walk is wanted
        push(inner, (0, 0, size), SPLIT if kind == ENTER else AGAIN, floor, np.nan)


@njit(cache=True, nogil=True, allocates=False)
def _take_back(work: Workspace, copy: Copy, job: int) -> None:
    """Fix what was fixed on the copy, and leave the order and the slopes in the run's segment."""
    inner, spans = copy.work, work.jobs.spans
    start, size = spans[job, 0], spans[job, 2] - spans[job, 0]
    fixes, batches = inner.counts[FIXES], inner.counts[BATCHES]
    for k in range(fixes):
        i = inner.order[k]
        x = copy.vertices[i]
        set_fixed(work.record, x, inner.record.value[i])
        work.members[start + k] = x
        work.job_batch[start + k] = inner.batch[i]
    rest = start + fixes
    for i in range(size):
        if inner.record.tag[i] != FIXED:
            work.members[rest] = copy.vertices[i]
            rest += 1
    for k in range(batches):
        work.job_slopes[start + k] = inner.slopes[k]
    spans[job, 1] = fixes
    spans[job, 3] = batches


@njit(cache=True, nogil=True, allocates=False)
def join(work: Workspace) -> None:
    """Give what the jobs that were due fixed its places in the order of fixing, job by job."""
    counts, spans = work.counts, work.jobs.spans
    for job in range(counts[DUE], counts[JOBS]):
        start, fixes, batches = spans[job, 0], spans[job, 1], spans[job, 3]
        tell_neighbours(work, work.members[start : start + fixes])
        for k in range(start, start + fixes):
            x = work.members[k]
            work.order[counts[FIXES]] = x
            work.batch[x] = counts[BATCHES] + work.job_batch[k]
            counts[FIXES] += 1
        for k in range(batches):
            work.slopes[counts[BATCHES]] = work.job_slopes[start + k]
            counts[BATCHES] += 1
    counts[JOBS] = counts[DUE]
    # a frame waits for the jobs that are put off from now on, even if there were more before it
    for frame in range(counts[HEIGHT]):
        work.stack.spans[frame, 4] = min(work.stack.spans[frame, 4], counts[JOBS])
