"""The exact AMLE by divide and conquer, shared among threads.

One thread leads: it works on large frames, and hands out the two sides of a propagation and the
runs of components that were put off (`divide`, `copies`). Who takes what changes nothing: the
result is the same, bit by bit, for every number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from .._types import BoolArray, FloatArray, IntArray
from ..csr import Arcs
from .copies import Copy, join, make_copy, solve_job
from .divide import BOTH_SIDES, DONE, PUT_OFF, SAMPLE, advance, spread
from .frames import (
    BATCHES,
    FIXES,
    FRAMES,
    HEIGHT,
    JOBS,
    PUSHES,
    SPLIT,
    UNFIXED,
    VISITS,
    Workspace,
    make_frames,
    push,
)
from .packed import make_packed
from .pressure import FIXED, HI, LO, Scratch, make_record, make_scratch

SMALL = 64
"""Segments of at most this many vertices are solved whole (`small`)."""
JOB = 4096
"""Components of at most this many vertices are put off, and graphs of so many not divided."""


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


def fix(
    out: Arcs,
    into: Arcs,
    labelled: BoolArray,
    labels: FloatArray,
    leave_flat: bool,
    threads: int = 1,
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
    threads : int
        How many threads work on it at most. The result does not depend on it.
    """
    work = _workspace(out, into, labelled, labels, leave_flat)
    if work.members.size > 0:
        push(work, (0, 0, work.members.size), SPLIT, 0.0, np.nan)
    finished = _conquer(work, threads) if work.job_vertices else advance(work) == DONE
    fixed = work.record.tag == FIXED
    values = np.where(fixed, work.record.value, np.nan)
    order, slopes = work.order[: work.counts[FIXES]], work.slopes[: work.counts[BATCHES]]
    frames, visits, pushes = (int(work.counts[slot]) for slot in (FRAMES, VISITS, PUSHES))
    return Fixing(values, fixed, order, work.batch, slopes, frames, finished, visits, pushes)


def _workspace(
    out: Arcs, into: Arcs, labelled: BoolArray, labels: FloatArray, leave_flat: bool
) -> Workspace:
    unit = bool((out.lengths == 1.0).all())
    record = make_record(labelled.size, unit)
    record.tag[:] = np.where(labelled, FIXED, 0)
    record.value[:] = np.where(labelled, labels, 0.0)
    members = np.flatnonzero(~labelled).astype(np.int32)
    divided = members.size > JOB
    # copies have room for twice the arcs that so many vertices have on average
    job_arcs = 2 * JOB * (1 + out.indices.size // labelled.size)
    frames = 8 * (members.size // JOB + out.indices.size // job_arcs) if divided else members.size
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
        counts=np.zeros(8, np.int64),
        stack=make_frames(8 * frames + 1024),
        jobs=make_frames(8 * frames + 1024 if divided else 0),
        sample=np.empty(SAMPLE),
        job_vertices=JOB if divided else 0,
        job_arcs=job_arcs if divided else 0,
        tol=(4.0 if unit else 32.0) * float(np.finfo(np.float64).eps),
        unit=unit,
        small=SMALL,
        flat=not leave_flat,
    )


def _conquer(work: Workspace, threads: int) -> bool:
    """Work until all is fixed; False if that did not come about."""
    copies = [make_copy(work) for _ in range(threads)]
    other = make_scratch(work.batch.size, work.out.indices.size, work.unit)
    counts = work.counts
    with ThreadPoolExecutor(max(1, threads - 1)) as pool:
        while True:
            wanted = advance(work)
            if wanted == BOTH_SIDES:
                _spread_both(work, other, pool if threads > 1 else None)
            elif wanted == PUT_OFF:
                if not _solve_jobs(work, copies, pool):
                    return False
            else:
                return bool(wanted == DONE)


def _spread_both(work: Workspace, other: Scratch, pool: ThreadPoolExecutor | None) -> None:
    """Propagate both sides of the frame on top, side by side if there is a pool."""
    spans, slopes = work.stack
    top = work.counts[HEIGHT] - 1
    start, rim, stop = (int(each) for each in spans[top, :3])
    alpha = float(slopes[top, 1])
    sides = (work.scratch, HI), (other, LO)
    jobs = [(work, scratch, side, alpha, (start, rim, stop)) for scratch, side in sides]
    if pool is None:
        done = [spread(*job) for job in jobs]
    else:
        later = pool.submit(spread, *jobs[0])
        done = [spread(*jobs[1]), later.result()]
    for visits, pushes in done:
        work.counts[VISITS] += visits
        work.counts[PUSHES] += pushes


def _solve_jobs(work: Workspace, copies: list[Copy], pool: ThreadPoolExecutor) -> bool:
    """Solve all jobs, every thread on a copy of its own; False if one got stuck."""
    count = int(work.counts[JOBS])
    following = iter(range(count))  # the next job goes to whoever asks first

    def take(copy: Copy) -> tuple[bool, int, int, int]:
        finished, totals = True, np.zeros(3, np.int64)
        for job in following:
            finished &= solve_job(work, copy, job)
            totals += copy.work.counts[[FRAMES, VISITS, PUSHES]]
        return finished, *totals

    busy = copies[: max(1, min(len(copies), count))]
    later = [pool.submit(take, copy) for copy in busy[1:]]
    done = [take(busy[0]), *(each.result() for each in later)]
    for _, *totals in done:
        work.counts[[FRAMES, VISITS, PUSHES]] += totals
    join(work)
    return all(finished for finished, *_ in done)
