"""The exact AMLE by divide and conquer, shared among threads.

One thread leads: it works on large frames, and hands out the two sides of a propagation and the
runs of components that were put off (`divide`, `copies`). Who takes what changes nothing: the
result is the same, bit by bit, for every number of threads.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

import numpy as np

from .._team import Team
from .._types import BoolArray, FloatArray, IntArray
from ..csr import Arcs, read_only
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
    tell_neighbours,
)
from .packed import make_packed
from .pressure import FIXED, HI, LO, Scratch, make_record, make_scratch

SMALL = 32
"""Segments of at most this many vertices are solved whole (`small`)."""
WORK = [FRAMES, VISITS, PUSHES]
"""Slots of the counts that add up over copies."""
JOB = 4096
"""Components of at most this many vertices are put off, and graphs of so many not divided."""

MOST_ARCS = 2**20
"""No copy has more arcs."""


class Stretches:
    """Collects `Fixing.stretches`."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, int]] = []
        self._stage = 0

    def add(self, ends: Iterable[int]) -> None:
        """Add the parts of one stage; empty ones are left out."""
        for end in ends:
            if end > (self._rows[-1][0] if self._rows else 0):
                self._rows.append((int(end), self._stage))
        self._stage += 1

    @property
    def table(self) -> IntArray:
        """One row for each part."""
        return np.array(self._rows, np.int32).reshape(-1, 2)


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
    stretches: IntArray
    """(s, 2) parts of the order, one after another: where each ends, and its stage. Parts of one
    stage do not touch each other, so that they can be looked at in any order."""
    finished: bool
    """False if the cap on frames was met, which never should happen."""
    frames: int = 0
    """How many frames were worked on."""
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
    tell_neighbours(work, np.flatnonzero(labelled).astype(np.int32))
    if work.members.size > 0:
        push(work, (0, 0, work.members.size), SPLIT, 0.0, np.nan)
    if work.job_vertices:
        with Team(min(threads, work.members.size // JOB)) as team:
            finished, stretches = _conquer(work, team)
    else:
        finished = advance(work) == DONE
        stretches = np.array([[work.counts[FIXES], 0]], np.int32)
    fixed = work.record.tag == FIXED
    values = np.where(fixed, work.record.value, np.nan)
    order, slopes = work.order[: work.counts[FIXES]], work.slopes[: work.counts[BATCHES]]
    frames, visits, pushes = (int(work.counts[slot]) for slot in (FRAMES, VISITS, PUSHES))
    counted = (frames, visits, pushes)
    return Fixing(values, fixed, order, work.batch, slopes, stretches, finished, *counted)


def _workspace(
    out: Arcs, into: Arcs, labelled: BoolArray, labels: FloatArray, leave_flat: bool
) -> Workspace:
    undirected = into.indices is out.indices
    out = read_only(out)
    into = out if undirected else read_only(into)
    unit = bool((out.lengths == 1.0).all())
    record = make_record(labelled.size)
    record.key[:] = -np.inf
    record.near[HI], record.near[LO] = np.inf, -np.inf
    record.tag[:] = np.where(labelled, FIXED, 0)
    record.value[:] = np.where(labelled, labels, 0.0)
    members = np.flatnonzero(~labelled).astype(np.int32)
    divided = members.size > JOB
    # copies have room for twice the arcs that so many vertices have on average, within reason
    job_arcs = min(2 * JOB * (1 + out.indices.size // labelled.size), MOST_ARCS)
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


def _conquer(work: Workspace, team: Team) -> tuple[bool, IntArray]:
    """Work until all is fixed; whether that came about, and the stretches of the order."""
    copies = [make_copy(work) for _ in range(team.threads)]
    other = make_scratch(work.batch.size, work.out.indices.size, work.unit)
    stretches = Stretches()
    while True:
        wanted = advance(work)
        if wanted == BOTH_SIDES:
            _spread_both(work, other, team)
        elif wanted == PUT_OFF:
            stretches.add([work.counts[FIXES]])
            finished = _solve_jobs(work, copies, team)
            stretches.add(work.counts[FIXES] + work.jobs.spans[: work.counts[JOBS], 1].cumsum())
            join(work)
            if not finished:
                return False, stretches.table
        else:
            stretches.add([work.counts[FIXES]])
            return bool(wanted == DONE), stretches.table


def _spread_both(work: Workspace, other: Scratch, team: Team) -> None:
    """Propagate both sides of the frame on top, each on its own."""
    spans, slopes = work.stack
    top = work.counts[HEIGHT] - 1
    start, rim, stop = (int(each) for each in spans[top, :3])
    alpha = float(slopes[top, 1])
    sides = (work.scratch, HI), (other, LO)
    for visits, pushes in team.run(
        [partial(spread, work, room, side, alpha, (start, rim, stop)) for room, side in sides]
    ):
        work.counts[VISITS] += visits
        work.counts[PUSHES] += pushes


def _solve_jobs(work: Workspace, copies: list[Copy], team: Team) -> bool:
    """Solve all jobs, every thread on a copy of its own; False if one got stuck."""
    count = int(work.counts[JOBS])
    following = iter(range(count))  # the next job goes to whoever asks first

    def take(copy: Copy) -> bool:
        finished = True
        for job in following:
            finished &= solve_job(work, copy, job)
        return finished

    for copy in copies:
        copy.work.counts[WORK] = 0
    done = team.run([partial(take, copy) for copy in copies[: max(count, 1)]])
    for copy in copies:
        work.counts[WORK] += copy.work.counts[WORK]
    return all(done)
