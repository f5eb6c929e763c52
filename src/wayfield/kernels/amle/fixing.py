"""The exact AMLE by divide and conquer, shared among threads.

One thread leads: it works on large frames, and hands out the two sides of a propagation and the
runs of components that were put off (`divide`, `copies`). Others work on such a run while the first
goes on, until a frame comes up again that it is a part of; and when nothing is urgent they lay the
ground for the bracket (`stages`). Who takes what changes nothing: whoever works on a run writes
only what belongs to its own vertices, and nobody else looks there, so that the result is the same,
bit by bit, for every number of threads.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._team import Task, Team
from .._types import BoolArray, FloatArray, IntArray
from ..csr import Arcs, read_only
from .copies import Copy, join, make_copy, solve_job
from .divide import BOTH_SIDES, DONE, PUT_OFF, SAMPLE, STUCK, advance, spread
from .frames import (
    BATCHES,
    DUE,
    ENTER,
    FIXES,
    FRAMES,
    HEIGHT,
    JOBS,
    PUSHES,
    UNFIXED,
    VISITS,
    Workspace,
    arrange_pieces,
    make_frames,
    push_components,
    tell_neighbours,
)
from .packed import make_packed
from .pieces import pieces, sides_of
from .pressure import FIXED, HI, LO, Scratch, make_record, make_scratch
from .stages import Ground, Laying, Stages

SMALL = 32
"""Segments of at most this many vertices are solved whole (`small`)."""
WORK = [FRAMES, VISITS, PUSHES]
"""Slots of the counts that add up over copies."""
JOB = 2048
"""Components of at most so many vertices are put off, graphs of up to twice as many not divided."""

MOST_ARCS = 2**20
"""No copy has more arcs."""


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
    """False if the cap on frames was met, which should never happen."""
    frames: int = 0
    """How many frames were worked on."""
    visits: int = 0
    """How many vertices propagations spread from, counted with repetition."""
    pushes: int = 0
    """How many entries they sorted or kept in a heap."""
    ground: Ground | None = None
    """What a bracket begins with, if that was wanted."""


def fix(
    out: Arcs,
    into: Arcs,
    labelled: BoolArray,
    labels: FloatArray,
    leave_flat: bool,
    team: Team | None = None,
    groundwork: bool = False,
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
    team : Team, optional
        Who works on it; the calling thread alone if not given. The result does not depend on it.
    groundwork : bool
        Lay the ground for a bracket as well: whoever is free does so while others still fix.
    """
    team = team or Team(1)
    undirected = into.indices is out.indices
    out = read_only(out)
    into = out if undirected else read_only(into)
    [looking] = team.begin([partial(pieces, sides_of(out, into), ~labelled)])
    work = _workspace(out, into, labelled, labels, leave_flat)
    laying = None
    if groundwork:
        found = work.record.value, work.order, work.batch, work.slopes
        laying = Laying((work.out, work.into), *found, work.unit, looking, team)
    tell_neighbours(work, np.flatnonzero(labelled).astype(np.int32))
    [(piece, count)] = team.finish([looking])
    arrange_pieces(work, piece, count)
    push_components(work, count, ENTER, 0.0)
    stages = Stages(laying)
    if work.job_vertices:
        finished = _conquer(work, team, stages)
    else:
        finished = advance(work) == DONE
        stages.add([work.counts[FIXES]])
    ground = laying.finish() if laying is not None and finished else None
    fixed, values = work.record.tag == FIXED, work.record.value
    values[~fixed] = np.nan  # in place: a field of ten million vertices is large
    return Fixing(
        values=values,
        fixed=fixed,
        order=work.order[: work.counts[FIXES]],
        batch=work.batch,
        slopes=work.slopes[: work.counts[BATCHES]],
        stretches=stages.table,
        finished=finished,
        frames=int(work.counts[FRAMES]),
        visits=int(work.counts[VISITS]),
        pushes=int(work.counts[PUSHES]),
        ground=ground,
    )


def _workspace(
    out: Arcs, into: Arcs, labelled: BoolArray, labels: FloatArray, leave_flat: bool
) -> Workspace:
    unit = bool((out.lengths == 1.0).all())
    record = make_record(labelled.size)
    record.key[:] = -np.inf
    record.near[HI], record.near[LO] = np.inf, -np.inf
    record.tag[:] = np.where(labelled, FIXED, 0)
    record.value[:] = np.where(labelled, labels, 0.0)
    members = np.flatnonzero(~labelled).astype(np.int32)
    divided = members.size > 2 * JOB
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
        counts=np.zeros(1 + DUE, np.int64),
        stack=make_frames(8 * frames + 1024),
        jobs=make_frames(8 * frames + 1024 if divided else 0),
        job_batch=np.empty(members.size if divided else 0, np.int32),
        job_slopes=np.empty(members.size if divided else 0),
        sample=np.empty(SAMPLE),
        job_vertices=JOB if divided else 0,
        job_arcs=job_arcs if divided else 0,
        tol=(4.0 if unit else 32.0) * float(np.finfo(np.float64).eps),
        unit=unit,
        small=SMALL,
        flat=not leave_flat,
    )


def _conquer(work: Workspace, team: Team, stages: Stages) -> bool:
    """Work until all is fixed; whether that came about."""
    jobs = Jobs(work, team)
    other = make_scratch(work.batch.size, work.out.indices.size, work.unit)
    finished = True
    wanted = PUT_OFF
    while finished and wanted != DONE:
        wanted = advance(work)
        jobs.begin()
        if wanted == BOTH_SIDES:
            _spread_both(work, other, team)
            continue
        stages.add([work.counts[FIXES]])
        if wanted == PUT_OFF:
            finished, sizes = jobs.finish()
            before = work.counts[FIXES]
            join(work)
            stages.add(before + sizes.cumsum())
        finished = finished and wanted != STUCK
    work.counts[WORK] += jobs.close()[WORK]
    return finished


class Jobs:
    """What was put off, in the hands of a team: begun as soon as it can be, done when it is due."""

    def __init__(self, work: Workspace, team: Team) -> None:
        self._work = work
        self._team = team
        self._idle: list[Copy] = []
        self._begun: list[Task[bool]] = []

    def begin(self) -> None:
        """Hand out what was put off since the last call."""
        new = range(len(self._begun), int(self._work.counts[JOBS]))
        self._begun += self._team.begin(partial(self._solve, job) for job in new)

    def finish(self) -> tuple[bool, IntArray]:
        """Solve what is due; False if a job got stuck, and how many vertices each fixed."""
        due = int(self._work.counts[DUE])
        done = self._team.finish(self._begun[due:])
        sizes = self._work.jobs.spans[due : len(self._begun), 1]
        del self._begun[due:]
        return all(done), sizes

    def close(self) -> NDArray[np.int64]:
        """Let everything come to its end; what was counted on the copies, added up."""
        self._team.finish(self._begun)
        return sum((copy.work.counts for copy in self._idle), np.zeros_like(self._work.counts))

    def _solve(self, job: int) -> bool:
        try:
            copy = self._idle.pop()
        except IndexError:  # asked for, not looked up first: another thread may take the last one
            copy = make_copy(self._work)
        finished = solve_job(self._work, copy, job)
        self._idle.append(copy)
        return bool(finished)


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
