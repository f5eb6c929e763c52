"""Other readings of the paper, and other draws: what an assumption buys, and what luck does.

The paper leaves choices open. A `Reading` settles them; `ADOPTED` is the study's, the others show
what an assumption that the text does not make would buy. A row of `audited` holds the outcomes of
one arm with the counts of the ordering audit (``all_``, ``eval_``) and of the mechanism audit
(``mechanism_``); `as_tables` splits such rows again into tables like those of the rollouts
and of the two audits, so that the same measures can be taken of them. `evidence` is what all other
draws and readings together say of the paper's figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

import wayfield as wf
from wayfield.extension import Method, Problem, Solution

from ..engine import NO_ROWS, Experiment, Measure, Profile, Records, Row, Tables
from ..kernels.energy import relaxed_sweeps
from ..paper.figures import FIGURES
from ..paper.grid import (
    CELL,
    CONFIGURATION,
    MAZES,
    PAPER_RELAXATION,
    PAPER_SWEEPS,
    REFINEMENTS,
    SEEDS,
    papers_rows,
)
from ..paper.measures import measures
from ..paper.rules import Evidence, Expected, expect
from ..report import Section, Table, power
from . import iteration_audit, solver_readings
from ._mazes import Draw, MazeCell, cells_by_profile, grid, maze_experiment
from ._shared import success
from ._trial import SCOPES, Trial
from .ordering import columns_after

MECHANISM = "mechanism_"
SOLVED = wf.Harmonic(bracket=False)
OTHER_SEEDS = tuple(range(101, 131))
"""Of the draws beside the paper's five seeds: six studies of five."""
GROUPINGS = 5
"""Ways in which the other seeds are grouped into studies of as many as the paper has."""
RESAMPLED = 30
"""Studies that are made of our own seeds by resampling."""
_WITNESSES = "search/witnesses/value"
_FORMERLY = {
    "sinks": "minima",
    "residual": "residual_max",
    "scope_both": "both",
    "scope_primary": "primary",
    "scope_neither": "neither",
    "inversions_scope_primary": "inversions_primary",
}
"""Columns, and those that version 0.1.0 had for them."""


# -------------------------------------------------------------------- readings


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
        graph, first = problem.graph, wf.NearestLabel().solve(problem).values
        free = np.flatnonzero(~problem.labelled & ~problem.orphaned).astype(graph.indices.dtype)
        # the fixed point of the p-Laplacian at p = 2 is the mean
        values, *_ = relaxed_sweeps(
            graph.arcs, free, first, 2.0, self.relaxation, -1.0, self.sweeps
        )
        return Solution(values, None, None, wf.Status.STOPPED, float("nan"), self.sweeps)


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


def under(reading: Reading, cells: Iterable[MazeCell]) -> list[ReadingCell]:
    """Return cells under a reading, each with no more goals than the reading has."""
    goals, name = reading.goals, reading.name
    return [
        ReadingCell(**vars(cell) | {"goals": min(cell.goals, goals), "reading": name})
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
    """Return one row per arm of the paper under the cell's reading, with two audits."""
    reading = READINGS[cell.reading]
    trial = Trial(reading.draw(cell))
    harmonic = [field.values for field in trial.fields(reading.harmonic)]
    swept = [values for values, _ in trial.swept(harmonic, reading.sweeps, reading.relaxation)]
    nearest = [field.values for field in trial.fields(wf.NearestLabel())]
    rows = [
        {"arm": arm}
        | trial.outcomes(fields)
        | trial.ordering_counts(fields)
        | {MECHANISM + name: n for name, n in trial.mechanism_counts(harmonic, fields).items()}
        for arm, fields in (("harmonic", harmonic), ("sweeps", swept))
    ]
    unaudited = {name: type(value)() for name, value in rows[0].items()}  # no audits of these two
    baselines = (("nearest", nearest), ("oracle", trial.drawn.truths))
    return rows + [unaudited | {"arm": arm} | trial.outcomes(fields) for arm, fields in baselines]


def sweeps(cell: ReadingCell) -> list[Row]:
    """Return rows of the iteration audit under the cell's reading."""
    reading = READINGS[cell.reading]
    return iteration_audit.audited(Trial(reading.draw(cell)), reading.harmonic, reading.relaxation)


def as_tables(rows: Records) -> dict[str, Records]:
    """Split the rows of `audited` into tables of rollouts and of the two audits.

    There is no exact AMLE among them; the sweeps stand in for it, so that nothing moves.
    """
    found: dict[str, list[Row]] = {"rollout": [], "ordering": [], "mechanism": []}
    for row in (*rows, *(swept | {"arm": "amle"} for swept in rows.where(arm="sweeps"))):
        cell = {name: row[name] for name in (*CELL, "goals", "arm")}
        found["rollout"].append(row)
        found["mechanism"].append(cell | columns_after(MECHANISM, row))
        found["ordering"] += [
            cell | {"scope": scope} | columns_after(prefix, row) for scope, prefix in SCOPES.items()
        ]
    return {name: Records.of(some) for name, some in found.items()}


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


# -------------------------------------------------------------------- evidence


def evidence(experiments: Iterable[Experiment[Any]], tables: Tables) -> Evidence:
    """Return the distribution of every figure, and what other readings give where they are whole.

    Parameters
    ----------
    experiments : iterable of Experiment
        Those of the study, whose measures are taken of the other rows too.
    tables : mapping of str to Records
        The rows at hand.
    """
    every = list(experiments)
    searched = tables.get("other_searches", NO_ROWS)
    expected, exact = _of_own_seeds(every, tables)
    expected |= _of_other_seeds(every, tables.get("other_draws", NO_ROWS))
    if len(counts := searched.where(way="grown").column("swept")) > 1:
        expected[_WITNESSES] = expect([counts.tolist()], counts.size)

    # the paper's size of medium: no public map has it, half of large does
    rows, columns = wf.load_layout("large").shape
    half: dict[str, float] = {}
    for r in REFINEMENTS:
        half[f"setup/medium/r{r}/rows/value"] = 0.5 * r * rows
        half[f"setup/medium/r{r}/columns/value"] = 0.5 * r * columns

    assumed = _readings(every, tables)
    assumed["the large map at half the resolution"] = half
    if len(thinned := searched.where(way="thinned")):
        assumed["subgraphs thinned until connected"] = {_WITNESSES: thinned.mean("swept")}
    tried: dict[str, dict[str, float]] = {}
    for reading, figures in assumed.items():
        for name, value in figures.items():
            tried.setdefault(name, {})[reading] = value
    return Evidence(expected, exact, tried)


def _of_other_seeds(experiments: list[Experiment[Any]], rows: Records) -> dict[str, Expected]:
    """Return what other seeds give, grouped into studies of as many as the paper has."""
    seeds = rows.values("seed")
    studies = len(seeds) // len(SEEDS)
    if studies < 2:
        return {}
    found: list[list[dict[str, Measure]]] = []
    for grouping in range(GROUPINGS):
        order = np.random.default_rng(grouping).permutation(seeds)
        found.append([])
        for group in np.split(order[: studies * len(SEEDS)], studies):
            names = dict(zip(group.tolist(), SEEDS, strict=True))  # they stand for the paper's
            kept = (row | {"seed": names[row["seed"]]} for row in rows if row["seed"] in names)
            found[-1].append(measures(experiments, as_tables(Records.of(kept))))
    return {
        name: expect(
            [[float(study[name].value or 0.0) for study in some] for some in found], len(seeds)
        )
        for name in FIGURES
        if all(study[name].value is not None for some in found for study in some)
    }


def _of_own_seeds(
    experiments: list[Experiment[Any]], tables: Tables
) -> tuple[dict[str, Expected], dict[str, Expected]]:
    """Return the distribution of every figure, at the paper's budget and exactly, by resampling.

    The seeds of each configuration are drawn with replacement, all arms of a cell together. With n
    seeds the variance of a mean comes out too small by (n − 1)/n, which is put right.
    """
    expected: dict[str, Expected] = {}
    exact: dict[str, Expected] = {}
    resampled = [_resampled(tables, number) for number in range(RESAMPLED)]
    for experiment in experiments:
        rows = tables.get(experiment.name, NO_ROWS)
        if experiment.measures is None or not len(rows):
            continue
        ours = experiment.measures(tables)
        others = [experiment.measures(some) for some in resampled]
        drawn = set(CELL) <= rows.rows[0].keys()
        n = len({row["seed"] for row in papers_rows(rows)}) if drawn else 1
        for name, measure in ours.items():
            for found, part in ((expected, "value"), (exact, "exact")):
                centre = getattr(measure, part)
                values = [getattr(other[name], part) for other in others]
                if centre is None or None in values:
                    continue
                sd = float(np.std(values, ddof=1) * np.sqrt(n / (n - 1))) if n > 1 else 0.0
                found[name] = Expected(centre, sd, n)
    return expected, exact


def _resampled(tables: Tables, number: int) -> Tables:
    """Return the paper's cells with the seeds of each configuration drawn with replacement."""
    found: dict[str, Records] = {}
    for name, rows in tables.items():
        if not len(rows) or not set(CELL) <= rows.rows[0].keys():
            found[name] = rows
            continue
        kept: list[Row] = []
        for (maze, r, lf), some in papers_rows(rows).by(*CONFIGURATION).items():
            by_seed = some.by("seed")
            seeds = sorted(by_seed)
            # the same draw for every table with as many seeds
            entropy = [number, len(seeds), MAZES.index(maze), r, round(100 * lf)]
            picks = np.random.default_rng(entropy).integers(len(seeds), size=len(seeds))
            for seed, pick in zip(seeds, picks.tolist(), strict=True):
                kept += [row | {"seed": seed} for row in by_seed[seeds[pick]]]
        found[name] = Records.of(kept)
    return found


def _readings(experiments: list[Experiment[Any]], tables: Tables) -> dict[str, dict[str, float]]:
    """Return the figures under every other reading of the protocol and of its solvers."""
    whole, swept, solved = (
        tables.get(name, NO_ROWS) for name in ("readings", "reading_sweeps", "solver_readings")
    )
    rows_under: dict[str, Tables] = {}
    for name, reading in READINGS.items():
        if len(some := whole.where(reading=name)):
            parts = as_tables(some) | {"iteration_audit": swept.where(reading=name)}
            if reading.former:
                parts = {table: Records.of(map(as_formerly, rows)) for table, rows in parts.items()}
            rows_under[reading.title] = parts
    for assumed in solver_readings.ASSUMED:
        if len(solved.where(assumed=assumed)):
            rows_under[assumed] = solver_readings.as_tables(solved, assumed)
    # sizes of maps are the same under every reading
    return {
        assumed: {
            name: measure.value
            for name, measure in measures(experiments, parts).items()
            if measure.value is not None and FIGURES[name].table != "setup"
        }
        for assumed, parts in rows_under.items()
    }


# -------------------------------------------------------------------- the experiments


def cells_under(
    readings: Iterable[Reading], cells: Callable[[Profile], list[MazeCell]]
) -> Callable[[Profile], list[ReadingCell]]:
    """Return the cells of every profile, under each of the readings."""
    return lambda profile: [each for reading in readings for each in under(reading, cells(profile))]


FEW = partial(grid, ["medium"], [4], [0.02])
ONE = partial(FEW, SEEDS[:1])
OTHERS = tuple(READINGS.values())[1:]
draw_cells = cells_under(
    [ADOPTED],
    cells_by_profile(partial(FEW, OTHER_SEEDS[:10]), partial(grid, seeds=OTHER_SEEDS), full=32),
)
reading_cells = cells_under(OTHERS, cells_by_profile(ONE, grid, full=32))
sweep_cells = cells_under(OTHERS, cells_by_profile(ONE, iteration_audit.WHOLE, paper=8, full=32))


def by_reading(rows: Records) -> Iterator[Table]:
    """Tabulate what a reading does to the walks: success, loops without a label, decisions."""

    def of(arm: str, part: str, form: str) -> Callable[[Records], str]:
        return lambda some: format(some.where(arm=arm).ratio(part, "pairs"), form)

    yield Table.of(
        "walks",
        "Walks by reading",
        "reading",
        {READINGS[str(name)].title: some for name, some in rows.by("reading").items()},
        {
            "harmonic": lambda some: f"{success(some, 'harmonic'):.3f}",
            "AMLE, swept": lambda some: f"{success(some, 'sweeps'):.3f}",
            "nearest label": lambda some: f"{success(some, 'nearest'):.3f}",
            "harmonic loops without a label": of("harmonic", "interior", ".2%"),
            "AMLE loops without a label": of("sweeps", "interior", ".2%"),
            "decisions per walk": of("harmonic", "mechanism_decisions", ".1f"),
        },
    )


def by_budget(rows: Records) -> list[Table]:
    """Tabulate success and residual after every budget of sweeps, by reading."""

    def after(budget: int) -> Callable[[Records], str]:
        def phrase(some: Records) -> str:
            chosen = some.where(sweeps=budget)
            return f"{success(chosen, 'sweeps'):.3f} ({power(chosen.mean('residual'))})"

        return phrase

    swept = rows.where(arm="sweeps")
    groups = {READINGS[str(name)].title: some for name, some in swept.by("reading").items()}
    columns = {f"{budget:,} sweeps": after(budget) for budget in swept.values("sweeps")}
    return [Table.of("sweeps", "Success and residual by reading", "reading", groups, columns)]


DRAWS_SECTION = Section(
    "other-draws",
    "Other draws",
    "The protocol of the study with other seeds: what its figures are on average, and how "
    "far studies of five seeds lie apart. Verdicts rest on it.",
    tables=by_reading,
)
OTHER_DRAWS = maze_experiment(
    "other_draws", "Other draws", 1, audited, draw_cells, 1.5, DRAWS_SECTION, read_grid=None
)
READINGS_SECTION = Section(
    "other-readings",
    "Sensitivity: other readings of the paper",
    "The paper's cells under assumptions that its text does not make, and under the "
    "reading of version 0.1.0; the number of figures that each would meet is given further down.",
    tables=by_reading,
)
ARMS = maze_experiment(
    "readings", "Other readings", 1, audited, reading_cells, 1.5, READINGS_SECTION, read_grid=None
)
SWEEPS_SECTION = Section(
    "other-sweeps",
    "Sensitivity: sweeps under other readings",
    "The iteration audit on fewer goals under the same assumptions.",
    tables=by_budget,
)
TITLE = "Other readings, by sweeps"
ARM_SWEEPS = maze_experiment(
    "reading_sweeps", TITLE, 1, sweeps, sweep_cells, 5.0, SWEEPS_SECTION, read_grid=None
)
EXPERIMENTS = (OTHER_DRAWS, ARMS, ARM_SWEEPS)
