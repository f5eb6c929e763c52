"""Readings of the paper as a design, and other draws of the one that is adopted.

The paper leaves choices open. A `ProtocolReading` settles them, one level for each of five factors:

=========== ============================== ====================================================
lattice     open, closed                   r × r points of a maze cell, or (r + 1) × (r + 1), of
                                           which neighbouring cells share a side
solver      exact, averaged, stopped       harmonic solved; or 500 averages from the mean of the
                                           labels; or, from the nearest label, relaxed averages
                                           until the residual is 0.01, at most 500. The AMLE is
                                           swept from it
relaxation  1/2, 1                         how far a midrange sweep moves a value
tolerance   0, 0.01                        residual at which the midrange sweeps of the main runs
                                           stop, or 0 for all 500 of them
apart       0, 1, 2, 3                     least distance of a start from its goal, in maze cells
=========== ============================== ====================================================

All combinations are run, on seeds of their own. The text also leaves open whether the goals of a
cell share their labels. This changes no expectation, for a single goal's labels are uniform either
way, but only how much studies vary: the design has labels of its own for each goal, which vary
least, and is no evidence on this choice. One field serves every distance of starts, and one pass of
sweeps every budget. `paper.likelihood` ranks the combinations. `OTHER_DRAWS` runs the adopted one
on thirty further seeds, which no choice was made on: verdicts rest on them.

A row has the outcomes of one arm with the counts of the ordering audit (``all_``, ``eval_``) and of
the mechanism audit (``mechanism_``). `as_tables` splits rows of one reading into tables like those
of the rollouts and of the audits, so that the same measures can be taken of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

import wayfield as wf
from wayfield.typing import FloatArray

from ..engine import NO_ROWS, Experiment, Profile, Records, Row, Tables
from ..kernels.energy import relaxed_sweeps
from ..paper.figures import FIGURES
from ..paper.grid import (
    AUDIT_SEEDS,
    AUDITED,
    CELL,
    CONFIGURATION,
    DESIGN_SEEDS,
    GRID,
    MAZES,
    OTHER_SEEDS,
    PAPER_APART,
    PAPER_RELAXATION,
    PAPER_SWEEPS,
    SEEDS,
    papers_rows,
)
from ..paper.likelihood import GROUPS, Ranking, rank
from ..paper.measures import as_papers_seeds, measured_values
from ..paper.rules import Expected, ExpectedFigures, expect
from ..report import Table
from .comparison import SUCCESS, across, section, success, with_labels
from .mazes import Draw, MazeCell, cells_by_profile, draw_starts, grid, maze_experiment
from .ordering import columns_after
from .trial import SCOPES, Swept, Trial

MECHANISM = "mechanism_"
AVERAGES = PAPER_SWEEPS
"""Averages of an unfinished harmonic solve: the one budget that the paper names."""
STOP = 0.01
"""Residual at which unfinished solves of the design stop."""
BUDGETS = (50, 100, 200, PAPER_SWEEPS, 1000)
"""Midrange sweeps after which a field of the design is looked at; the last on audited cells."""
GROUPINGS = 5
"""Ways in which the other seeds are grouped into studies of as many as the paper has."""
RESAMPLED = 30
"""Studies that are made of our own seeds by resampling."""
PER_READING = 2
"""Studies that are made of the design's seeds by resampling, for each of its 96 readings."""
_WITNESSES = "search/witnesses/value"


# -------------------------------------------------------------------- readings


@dataclass(frozen=True)
class ProtocolReading:
    """One way to read the paper's protocol; for the factors see the module."""

    lattice: str = "open"
    solver: str = "exact"
    relaxation: float = PAPER_RELAXATION
    tolerance: float = 0.0
    apart: int = PAPER_APART

    @property
    def departures(self) -> tuple[int, int]:
        """In how many factors it differs from the plainest reading; how far starts are away."""
        changed = sum(each != plain for each, plain in zip(astuple(self), PLAIN, strict=True))
        return changed, self.apart

    def __str__(self) -> str:
        starts = f"starts {self.apart}r away" if self.apart else "any start"
        stop = f"stopped at {self.tolerance:g}" if self.tolerance else f"{PAPER_SWEEPS} sweeps"
        sweeps = f"ω = {self.relaxation:g}, {stop}"
        return f"{self.lattice} lattice, harmonic {self.solver}, {sweeps}, {starts}"


LEVELS: dict[str, tuple[Any, ...]] = {
    "lattice": ("open", "closed"),
    "solver": ("exact", "averaged", "stopped"),
    "relaxation": (0.5, 1.0),
    "tolerance": (0.0, STOP),
    "apart": (0, 1, 2, 3),
}
"""The factors of the design."""
TITLES = {
    "lattice": "{} lattice",
    "solver": "harmonic {}",
    "relaxation": "relaxation {:g}",
    "tolerance": "sweeps until the residual is {:g}",
    "apart": "starts at least {}r away",
}
"""Name of each level."""
PLAIN = ("open", "exact", 1.0, 0.0, 0)
"""The plainest level of each factor."""
READINGS = tuple(ProtocolReading(*levels) for levels in product(*LEVELS.values()))
ADOPTED = ProtocolReading()


@dataclass(frozen=True)
class ReadingCell(MazeCell):
    """A maze cell on one of the lattices, with labels of its own for each goal."""

    lattice: str = ADOPTED.lattice

    @property
    def graph(self) -> wf.Graph:
        """The maze on its lattice."""
        if self.lattice == "open":
            return super().graph
        return closed_lattice(wf.load_layout(self.maze), self.refinement)

    def draw(self) -> Draw:
        """Draw goals, starts and labels."""
        drawn = super().draw()
        seeds = np.random.SeedSequence(drawn.label_seed).generate_state(len(drawn.goals))
        labels = [
            wf.sample_labels(drawn.graph, int(goal), self.label_fraction, int(seed))
            for goal, seed in zip(drawn.goals, seeds, strict=True)
        ]
        return replace(drawn, labels=labels)


def closed_lattice(layout: wf.Layout, r: int) -> wf.Graph:
    r"""Return the lattice points of the closed free cells, numbered row by row.

    A cell has r + 1 points along a side and shares those of a side with the cell beyond it. Where
    two free cells touch at a corner only, that point is left out: it would be a passage.

    Examples
    --------
    >>> layout = wf.Layout.from_text("..\n#.")
    >>> closed_lattice(layout, 2).num_vertices
    21
    """
    free = np.pad(layout.free, 1)
    rows, columns = (np.arange(r * cells + 1) for cells in layout.shape)
    # the cells on either side of a line, by their place in the padded map
    above, below = (rows - 1) // r + 1, rows // r + 1
    left, right = (columns - 1) // r + 1, columns // r + 1
    touched = [free[np.ix_(y, x)] for y, x in product((above, below), (left, right))]
    falling = touched[0] & touched[3] & ~touched[1] & ~touched[2]
    rising = touched[1] & touched[2] & ~touched[0] & ~touched[3]
    inside = np.logical_or.reduce(touched) & ~falling & ~rising
    number = np.full(inside.shape, -1)
    number[inside] = np.arange(inside.sum())

    # an edge is there if its ends are, and one of the two cells beside it is free
    across = inside[:, :-1] & inside[:, 1:]
    across &= free[np.ix_(above, right[:-1])] | free[np.ix_(below, right[:-1])]
    down = inside[:-1] & inside[1:]
    down &= free[np.ix_(below[:-1], left)] | free[np.ix_(below[:-1], right)]
    tails = np.concatenate([number[:, :-1][across], number[:-1][down]])
    heads = np.concatenate([number[:, 1:][across], number[1:][down]])
    return wf.Graph.from_edges(tails, heads, num_vertices=int(inside.sum()))


# -------------------------------------------------------------------- rows


def run(cell: ReadingCell) -> list[Row]:
    """Return rows of every arm under every reading on the cell's lattice."""
    trial = Trial(cell)
    drawn, rng = trial.drawn, np.random.default_rng([trial.drawn.label_seed, 1])
    trials = {
        apart: trial.from_starts(
            draw_starts(drawn.truths, cell.starts, apart * cell.refinement, rng)
        )
        for apart in LEVELS["apart"]
    }
    configuration = (cell.maze, cell.refinement, cell.label_fraction)
    audited = configuration in AUDITED and cell.seed in DESIGN_SEEDS[: len(AUDIT_SEEDS)]
    rows: list[Row] = []

    def add(arm: str, fields: Sequence[FloatArray], harmonic: Any = None, **about: Any) -> None:
        settings = {"solver": "any", "relaxation": 0.0, "tolerance": 0.0, "sweeps": 0}
        settings |= {"residual": 0.0} | about
        for apart, each in trials.items():
            rows.append({"arm": arm, "apart": apart} | settings | counted(each, fields, harmonic))

    nearest = [field.values for field in trial.fields(wf.NearestLabel())]
    add("nearest", nearest)
    add("oracle", drawn.truths)
    solved = [field.values for field in trial.fields(wf.Harmonic(bracket=False))]
    averaged = [averages(drawn.graph, labels) for labels in drawn.labels]
    stopped = [
        averages(drawn.graph, labels, AVERAGES, first, PAPER_RELAXATION, STOP)
        for labels, first in zip(drawn.labels, nearest, strict=True)
    ]
    for solver, harmonic in zip(LEVELS["solver"], (solved, averaged, stopped), strict=True):
        add("harmonic", harmonic, harmonic, solver=solver)
        for relaxation in LEVELS["relaxation"]:
            # one pass of sweeps until the residual is small, and on to the full number
            passes = [[(STOP, PAPER_SWEEPS), (0.0, PAPER_SWEEPS)]]
            if audited:  # by another pass, at other numbers of sweeps too
                passes = [passes[0][:1], [(0.0, budget) for budget in BUDGETS]]
            for stages in passes:
                swept = [Swept(values) for values in harmonic]
                for tolerance, budget in stages:
                    swept = trial.swept(swept, budget, relaxation, tolerance)
                    about = {"relaxation": relaxation, "tolerance": tolerance, "sweeps": budget}
                    about["residual"] = float(np.mean([each.residual for each in swept]))
                    compared = harmonic if budget == PAPER_SWEEPS else None
                    fields = [each.values for each in swept]
                    add("sweeps", fields, compared, solver=solver, **about)
    return filled(rows)


def run_adopted(cell: MazeCell) -> list[Row]:
    """Return one row per arm of the paper under the adopted reading, with two audits."""
    trial = Trial(cell)
    harmonic = [field.values for field in trial.fields(wf.Harmonic(bracket=False))]
    done = trial.swept(map(Swept, harmonic), PAPER_SWEEPS, PAPER_RELAXATION)
    swept = [each.values for each in done]
    nearest = [field.values for field in trial.fields(wf.NearestLabel())]
    return filled(
        {"arm": arm} | counted(trial, fields, audited)
        for arm, fields, audited in (
            ("harmonic", harmonic, harmonic),
            ("sweeps", swept, harmonic),
            ("nearest", nearest, None),
            ("oracle", trial.drawn.truths, None),
        )
    )


def filled(rows: Iterable[Row]) -> list[Row]:
    """Return the rows with the columns of the widest; those that an arm lacks are empty."""
    known = list(rows)
    empty = {name: type(value)() for name, value in max(known, key=len).items()}
    return [empty | row for row in known]


def counted(
    trial: Trial, fields: Sequence[FloatArray], harmonic: Sequence[FloatArray] | None = None
) -> Row:
    """Count how walks on a field for each goal end; given harmonic ones, also for two audits."""
    row = trial.outcomes(fields)
    if harmonic is None:
        return row
    states = trial.mechanism_counts(harmonic, fields)
    row |= trial.ordering_counts(fields)
    return row | {MECHANISM + name: count for name, count in states.items()}


def averages(
    graph: wf.Graph,
    labels: wf.Labels,
    count: int = AVERAGES,
    first: FloatArray | None = None,
    relaxation: float = 1.0,
    tolerance: float = -1.0,
) -> FloatArray:
    """Return the field after at most `count` averages, from the mean of the labels by default.

    ``u ← (1 − ω) u + ω · mean of the neighbours`` at every unlabelled vertex, all at once, until
    the residual is within the tolerance.
    """
    if first is None:
        first = np.full(graph.num_vertices, labels.values.mean())
        first[labels.vertices] = labels.values
    free = np.flatnonzero(~labels.mask(graph)).astype(graph.indices.dtype)
    # the fixed point of the p-Laplacian at p = 2 is the mean
    change = relaxation * tolerance
    values, *_ = relaxed_sweeps(graph.arcs, free, first, 2.0, relaxation, change, count)
    return values


def rows_of(rows: Records, reading: ProtocolReading) -> Records:
    """Keep the rows of the design that belong to a reading, whatever their sweeps stop at."""
    return Records.of(
        row
        for row in rows
        if (row["lattice"], row["apart"]) == (reading.lattice, reading.apart)
        and row["solver"] in ("any", reading.solver)
        and row["relaxation"] in (0.0, reading.relaxation)
    )


def as_tables(rows: Records, tolerance: float = ADOPTED.tolerance) -> dict[str, Records]:
    """Split rows of one reading into tables of rollouts and of the audits.

    Sweeps of the main runs stop at the tolerance, those of their audit do not. There is no exact
    AMLE among them; the sweeps stand in for it, so that nothing moves.
    """
    found: dict[str, list[Row]] = {
        "rollout": [], "ordering": [], "mechanism": [], "iteration_audit": []
    }  # fmt: skip
    for row in rows:
        settings = (row.get("sweeps", PAPER_SWEEPS), row.get("tolerance", tolerance))
        if "sweeps" in row and row["arm"] in ("harmonic", "sweeps") and row["tolerance"] == 0.0:
            found["iteration_audit"].append(row)
        if row["arm"] == "sweeps" and settings != (PAPER_SWEEPS, tolerance):
            continue
        for arm in (row["arm"], "amle") if row["arm"] == "sweeps" else (row["arm"],):
            cell = {name: row[name] for name in (*CELL, "goals")} | {"arm": arm}
            found["rollout"].append(row | cell)
            found["mechanism"].append(cell | columns_after(MECHANISM, row))
            found["ordering"] += [
                cell | {"scope": scope} | columns_after(prefix, row)
                for scope, prefix in SCOPES.items()
            ]
    return {name: Records.of(some) for name, some in found.items()}


# -------------------------------------------------------------------- evidence


def evidence(experiments: Sequence[Experiment[Any]], tables: Tables) -> ExpectedFigures:
    """Return the distribution of every figure under the adopted reading.

    Parameters
    ----------
    experiments : sequence of Experiment
        Those of the study, whose measures are taken of the other rows too.
    tables : mapping of str to Records
        The rows at hand.
    """
    expected, exact = _of_own_seeds(experiments, tables)
    expected |= _of_other_seeds(experiments, tables.get("other_draws", NO_ROWS))
    searched = tables.get("other_searches", NO_ROWS)
    if len(counts := searched.column("swept")) > 1:
        expected[_WITNESSES] = expect([counts.tolist()], counts.size)
    return ExpectedFigures(expected, exact)


def _of_other_seeds(experiments: Sequence[Experiment[Any]], rows: Records) -> dict[str, Expected]:
    """Return what other seeds give, grouped into studies of as many as the paper has.

    Seeds of which a run that was stopped has only some configurations are left out.
    """
    cells = {seed: len(some.distinct(*CONFIGURATION)) for seed, some in rows.by("seed").items()}
    seeds = sorted(seed for seed, count in cells.items() if count == max(cells.values()))
    studies = len(seeds) // len(SEEDS)
    if studies < 2:
        return {}
    found: list[list[dict[str, float]]] = []
    for grouping in range(GROUPINGS):
        order = np.random.default_rng(grouping).permutation(seeds)
        groups = np.split(order[: studies * len(SEEDS)], studies)
        kept = (as_papers_seeds(rows, group.tolist()) for group in groups)
        found.append([measured_values(experiments, as_tables(some)) for some in kept])
    return {
        name: expect([[study[name] for study in some] for some in found], studies * len(SEEDS))
        for name in FIGURES
        if all(name in study for some in found for study in some)
    }


def _of_own_seeds(
    experiments: Sequence[Experiment[Any]], tables: Tables
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


def under_readings(
    experiments: Sequence[Experiment[Any]], tables: Tables
) -> tuple[dict[ProtocolReading, dict[str, float]], dict[str, float]]:
    """Return what every reading gives for every figure, and the deviations between studies.

    A variance is the mean over all readings of the variance under resampling, so that it depends on
    none of them. There is nothing of either if the design was not run completely.
    """
    rows = tables.get("design", NO_ROWS)
    cells = len(LEVELS["lattice"]) * len(GRID) * len(DESIGN_SEEDS)
    if len(rows.distinct("lattice", *CELL)) < cells:
        return {}, {}
    rows = as_papers_seeds(rows, DESIGN_SEEDS)
    found: dict[ProtocolReading, dict[str, float]] = {}
    squares: defaultdict[str, list[float]] = defaultdict(list)
    for number, reading in enumerate(READINGS):
        kept = as_tables(rows_of(rows, reading), reading.tolerance)
        kept["iteration_audit"] = papers_rows(kept["iteration_audit"], AUDITED, AUDIT_SEEDS)
        given = measured_values(experiments, kept)
        # sizes of maps are the same under every reading
        found[reading] = {name: x for name, x in given.items() if FIGURES[name].table != "setup"}
        for draw in range(PER_READING):
            again = measured_values(experiments, _resampled(kept, PER_READING * number + draw))
            for name, value in found[reading].items():
                n = len(AUDIT_SEEDS if FIGURES[name].table in GROUPS["iterations"] else SEEDS)
                squares[name].append((again[name] - value) ** 2 * n / (n - 1))
    return found, {name: float(np.sqrt(np.mean(some))) for name, some in squares.items()}


def ranking(
    experiments: Sequence[Experiment[Any]], tables: Tables
) -> Ranking[ProtocolReading] | None:
    """Rank all readings by the rule; None if the design was not run completely."""
    values, deviations = under_readings(experiments, tables)
    return rank(values, deviations, ADOPTED, lambda each: each.departures) if values else None


# -------------------------------------------------------------------- the experiments

FEW = partial(grid, ["medium"], [4], [0.02])
other_cells = cells_by_profile(
    partial(FEW, seeds=OTHER_SEEDS[:10]), partial(grid, seeds=OTHER_SEEDS), full=32
)
_whole = cells_by_profile(
    partial(FEW, seeds=DESIGN_SEEDS[:1]), partial(grid, seeds=DESIGN_SEEDS), paper=8, full=8
)


def design_cells(profile: Profile) -> list[ReadingCell]:
    """Return the cells of a profile on both lattices."""
    return [
        ReadingCell(**vars(cell) | {"lattice": lattice})
        for cell in _whole(profile)
        for lattice in LEVELS["lattice"]
    ]


def by_level(rows: Records) -> Iterator[Table]:
    """Tabulate what each level of a factor does to the walks, all else as adopted."""

    def of(arm: str, part: str, form: str) -> Callable[[Records], str]:
        return lambda some: format(some.where(arm=arm).ratio(part, "pairs"), form)

    groups = {}
    for factor, level in ((name, each) for name, some in LEVELS.items() for each in some):
        reading = replace(ADOPTED, **{factor: level})
        walks = as_tables(rows_of(rows, reading), reading.tolerance)["rollout"]
        if len(walks):
            adopted = " (adopted)" if reading == ADOPTED else ""
            groups[f"{TITLES[factor].format(level)}{adopted}"] = walks
    yield Table.of(
        "walks",
        "Walks by the levels of a factor, all else as adopted",
        "factor",
        groups,
        {
            "harmonic": lambda some: f"{success(some, 'harmonic'):.3f}",
            "AMLE, swept": lambda some: f"{success(some, 'sweeps'):.3f}",
            "nearest label": lambda some: f"{success(some, 'nearest'):.3f}",
            "harmonic loops without a label": of("harmonic", "interior", ".2%"),
            "AMLE loops without a label": of("sweeps", "interior", ".2%"),
            "decisions per walk": of("harmonic", "mechanism_decisions", ".1f"),
        },
    )


DRAWS_SECTION = section(
    "other-draws",
    tables=lambda rows: [
        across(with_labels(rows), ["labels"], "by-labels", "Success, other seeds", SUCCESS)
    ],
)
OTHER_DRAWS = maze_experiment(
    "other_draws", "Other draws", 4, run_adopted, other_cells, 1.5, DRAWS_SECTION, read_grid=None
)
DESIGN_SECTION = section(
    "design",
    about=f"The paper's cells on seeds {DESIGN_SEEDS[0]} to {DESIGN_SEEDS[-1]} under every "
    "combination of what its text leaves open: 8 goals of 64 starts each. Which combination fits "
    "best is further down.",
    tables=by_level,
)
DESIGN = maze_experiment(
    "design", "Design of readings", 2, run, design_cells, 8.0, DESIGN_SECTION, read_grid=None
)
