"""Readings of the paper's protocol, and everything cheap that it measures under one of them.

The paper leaves choices open. A `Reading` settles them; `ADOPTED` is the study's, the others show
what an assumption that the text does not make would buy. A row of `audited` holds the outcomes of
one arm with the counts of the ordering audit (``all_``, ``eval_``) and of the mechanism audit
(``mechanism_``); `as_tables` takes such rows apart again, into tables like those of the rollouts
and of the two audits, so that the same measures can be taken of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import ClassVar

import numpy as np

from wayfield.extension import Extension, Harmonic, Method, NearestLabel, Problem, Solution, Status
from wayfield.kernels._types import FloatArray

from ..audit import mechanism, ordering, pool
from ..engine.records import Records
from ..engine.tasks import Row
from ..kernels.energy import relaxed_sweeps
from ..paper.grid import PAPER_RELAXATION, PAPER_SWEEPS
from ._mazes import Draw, MazeCell
from ._trial import Trial

SCOPES = {"all": "all_", "eval_rollouts": "eval_"}
"""Scopes of the ordering audit, and how their columns begin where an arm has one row."""
MECHANISM = "mechanism_"
SOLVED = Harmonic(bracket=False)


@dataclass(frozen=True)
class UnfinishedHarmonic:
    """Averaging sweeps towards the harmonic extension, from the nearest label: an assumption.

    ``u ← (1 - ω) u + ω · mean of the neighbours``, all values at once, so many times.
    """

    sweeps: int = 200
    relaxation: float = 0.5
    directed: ClassVar[bool] = False

    def solve(self, problem: Problem) -> Solution:
        """Run the sweeps."""
        graph, first = problem.graph, NearestLabel().solve(problem).values
        free = np.flatnonzero(~problem.labelled & ~problem.orphaned).astype(graph.indices.dtype)
        # the fixed point of the p-Laplacian at p = 2 is the mean
        values, *_ = relaxed_sweeps(
            graph.arcs, free, first, 2.0, self.relaxation, -1.0, self.sweeps
        )
        return Solution(values, None, None, Status.STOPPED, float("nan"), self.sweeps)


@dataclass(frozen=True)
class Reading:
    """One way to read the paper's protocol.

    Attributes
    ----------
    name, title : str
        In tables, and for people: what it assumes.
    harmonic : Method
        Gives the harmonic field, from which the AMLE's sweeps start too.
    sweeps, relaxation : int, float
        The AMLE's budget.
    apart : int
        Least distance of a start from its goal, in maze cells.
    goals : int
        Goals per cell.
    former : bool
        Whether figures are defined as in version 0.1.0: see `as_formerly`.
    """

    name: str
    title: str
    harmonic: Method = SOLVED
    sweeps: int = PAPER_SWEEPS
    relaxation: float = PAPER_RELAXATION
    apart: int = 0
    goals: int = 32
    former: bool = False

    def draw(self, cell: MazeCell) -> Draw:
        """Draw a cell, its pairs as far apart as the reading has them."""
        drawn = cell.draw()
        return far_pairs(drawn, self.apart * cell.refinement) if self.apart else drawn


ADOPTED = Reading("adopted", "the adopted reading")
FAR = Reading("far pairs", "pairs at least 3r apart", apart=3)
UNFINISHED = Reading("unfinished", "an unfinished harmonic solve", harmonic=UnfinishedHarmonic())
BOTH = replace(
    UNFINISHED,
    name="both",
    title="pairs at least 3r apart and an unfinished harmonic solve",
    apart=3,
)
FORMER = Reading(
    "former", "the reading of version 0.1.0", sweeps=300, relaxation=1.0, goals=16, former=True
)
READINGS = {each.name: each for each in (ADOPTED, FAR, UNFINISHED, BOTH, FORMER)}
"""All of them by name, the study's own first."""


@dataclass(frozen=True)
class ReadingCell(MazeCell):
    """A maze cell under one of the `READINGS`."""

    reading: str = ADOPTED.name

    @property
    def key(self) -> str:
        """Name of the cell."""
        return f"{super().key}-{self.reading.replace(' ', '-')}"

    @property
    def columns(self) -> Row:
        """The settings."""
        return super().columns | {"reading": self.reading}


def under(reading: Reading, cells: Iterable[MazeCell]) -> list[ReadingCell]:
    """Put cells under a reading, each with no more goals than the reading has."""
    return [
        ReadingCell(
            **asdict(replace(cell, goals=min(cell.goals, reading.goals))), reading=reading.name
        )
        for cell in cells
    ]


def far_pairs(drawn: Draw, least: float) -> Draw:
    """Draw the starts again, uniformly among the vertices at least so far from their goal."""
    rng = np.random.default_rng([drawn.label_seed, round(least)])
    count = drawn.starts.shape[1]
    starts = [rng.choice(np.flatnonzero(truth >= least), count) for truth in drawn.truths]
    return replace(drawn, starts=np.array(starts, dtype=np.int64))


# -------------------------------------------------------------------- rows of everything


def audited(cell: ReadingCell) -> list[Row]:
    """One row for every arm of the paper under the cell's reading, with the audits of its two."""
    reading = READINGS[cell.reading]
    trial = Trial(reading.draw(cell))
    harmonic = [field.values for field in trial.fields(reading.harmonic)]
    swept = [values for values, _ in trial.swept(harmonic, reading.sweeps, reading.relaxation)]
    nearest = [field.values for field in trial.fields(NearestLabel())]
    rows = [
        {"arm": arm}
        | trial.outcomes(fields)
        | ordering_counts(trial, fields)
        | {MECHANISM + name: n for name, n in mechanism_counts(trial, harmonic, fields).items()}
        for arm, fields in (("harmonic", harmonic), ("sweeps", swept))
    ]
    unaudited = {name: type(value)() for name, value in rows[0].items()}  # no audits of these two
    baselines = (("nearest", nearest), ("oracle", trial.drawn.truths))
    return rows + [unaudited | {"arm": arm} | trial.outcomes(fields) for arm, fields in baselines]


def ordering_counts(trial: Trial, fields: Iterable[Extension | FloatArray]) -> Row:
    """Audit how fields of all goals rank neighbours, in both scopes."""
    drawn = trial.drawn
    found = [
        ordering(drawn.graph, field, truth, int(goal), starts=starts)
        for field, truth, goal, starts in zip(
            fields, drawn.truths, drawn.goals, drawn.starts, strict=True
        )
    ]
    scopes = {name: pool(getattr(audit, name) for audit in found) for name in SCOPES}
    return {
        SCOPES[name] + figure: value
        for name, scope in scopes.items()
        for figure, value in asdict(scope).items()
    }


def mechanism_counts(
    trial: Trial,
    harmonic: Iterable[Extension | FloatArray],
    amle: Iterable[Extension | FloatArray],
) -> Row:
    """Audit the harmonic walks of all goals, and what another field makes of their decisions."""
    drawn = trial.drawn
    audits = (
        mechanism(drawn.graph, smooth, sharp, truth, int(goal), starts)
        for smooth, sharp, truth, goal, starts in zip(
            harmonic, amle, drawn.truths, drawn.goals, drawn.starts, strict=True
        )
    )
    return asdict(pool(audits))


def as_tables(rows: Records) -> dict[str, Records]:
    """Take the rows of `audited` apart into tables of rollouts and of the two audits.

    There is no exact AMLE among them; the sweeps stand in for it, so that nothing moves.
    """
    about = ("maze", "refinement", "label_fraction", "seed", "goals", "arm")
    found: dict[str, list[Row]] = {"rollout": [], "ordering": [], "mechanism": []}
    for row in (*rows, *(swept | {"arm": "amle"} for swept in rows.where(arm="sweeps"))):
        cell = {name: row[name] for name in about}
        found["rollout"].append(row)
        found["mechanism"].append(cell | part(row, MECHANISM))
        found["ordering"] += [
            cell | {"scope": scope} | part(row, prefix) for scope, prefix in SCOPES.items()
        ]
    return {name: Records.of(some) for name, some in found.items()}


def part(row: Row, prefix: str) -> Row:
    """Return the columns that begin so, without their beginning."""
    return {
        name.removeprefix(prefix): value for name, value in row.items() if name.startswith(prefix)
    }


def as_formerly(row: Row) -> Row:
    """Return a row of any of the tables with its figures as version 0.1.0 defined them.

    Strict minima away from labels, of all goals; the largest residual over goals; geometry classes
    at the state, with the goal a decision that satisfies neither equation.
    """
    former = row | {now: row[then] for now, then in _FORMERLY.items() if then in row}
    if "arrivals" in row:
        for name in ("decisions", "scope_neither"):
            former[name] += row["arrivals"]
    return former


_FORMERLY = {
    "sinks": "minima",
    "residual": "residual_max",
    "scope_both": "both",
    "scope_primary": "primary",
    "scope_neither": "neither",
    "inversions_scope_primary": "inversions_primary",
}
