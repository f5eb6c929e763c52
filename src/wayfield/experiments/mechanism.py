"""Where the harmonic ranking goes wrong and whether the AMLE puts it right: `audit.mechanism`.

The decisions are those of the harmonic walks from the sampled starts. One row for the AMLE at the
paper's budget and one for the exact AMLE, pooled over the cell's goals.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial

from ..audit import mechanism, pool
from ..paper import GRID, covered, ids
from ..paper.grid import REFINEMENTS
from ..report import SHAPES, TONES, Chart, Scale, Section, Series, chart
from ..study import Experiment, Measure, Records, Row, Tables
from ._mazes import MazeCell, per_vertex, read_grid
from ._shown import printed_points
from ._trial import EXACT, HARMONIC, SWEEPS, Arm, Trial
from .ordering import cells

DIAGNOSTICS = {
    "both_compatible": ("both", "decisions"),
    "primary_geometry": ("primary", "decisions"),
    "both_incompatible": ("neither", "decisions"),
    "inversions": ("inversions", "untied"),
    "inversions_in_primary": ("inversions_primary", "inversions"),
    "corrected": ("corrected", "inversions"),
    "certified": ("certified", "inversions"),
}
"""Lines of the paper's table as counts over counts."""
CHARTED = {
    "primary_geometry": "AMLE-compatible only",
    "corrected": "inversions corrected by AMLE",
    "certified": "inversions certified",
}


def run(cell: MazeCell) -> list[Row]:
    """One row for each way to compute the AMLE."""
    trial = Trial(cell)
    return [_row(trial, arm) for arm in (SWEEPS, EXACT)]


def _row(trial: Trial, arm: Arm) -> Row:
    drawn = trial.drawn
    fields = trial.fields(HARMONIC.method), trial.fields(arm.method)
    counts = pool(
        mechanism(drawn.graph, harmonic, amle, truth, int(goal), starts)
        for harmonic, amle, truth, goal, starts in zip(
            *fields, drawn.truths, drawn.goals, drawn.starts, strict=True
        )
    )
    return {"arm": arm.name} | asdict(counts)


def measures(tables: Tables) -> dict[str, Measure]:
    """Measure the paper's three tables of the mechanism audit."""
    rows = tables.get("mechanism")
    found = covered(rows, GRID, _whole, ids("mechanism", "mechanism-main"))
    for r in REFINEMENTS:
        wanted = [each for each in GRID if each[1] == r]
        found |= covered(rows, wanted, partial(_at, r), ids("mechanism-by-r", row=f"r{r}"))
    return found


def _whole(rows: Records) -> dict[str, Measure]:
    budget, exact = rows.where(arm="sweeps"), rows.where(arm="amle")
    found: dict[str, Measure] = {}
    for line, (part, whole) in DIAGNOSTICS.items():
        for column, name in {"count": part, "of": whole}.items():
            found[f"mechanism/{line}/{column}"] = Measure(budget.total(name), exact.total(name))
        rate = _rate(rows, line)
        found[f"mechanism/{line}/rate"] = found[f"mechanism-main/{line}/rate"] = rate
    return found


def _at(r: int, rows: Records) -> dict[str, Measure]:
    return {f"mechanism-by-r/r{r}/{line}": _rate(rows, line) for line in DIAGNOSTICS}


def _rate(rows: Records, line: str) -> Measure:
    """Measure a rate in per cent, by sweeps and exactly."""
    budget, exact = rows.where(arm="sweeps"), rows.where(arm="amle")
    return Measure(100 * budget.ratio(*DIAGNOSTICS[line]), 100 * exact.ratio(*DIAGNOSTICS[line]))


def charts(rows: Records) -> list[Chart]:
    """Draw some rates by resolution, the paper's beside ours."""
    groups = rows.where(arm="sweeps").by("refinement")
    sizes = sorted(groups)
    series, printed = [], []
    for (name, title), tone, shape in zip(CHARTED.items(), TONES, SHAPES, strict=False):
        ours = [(float(k), groups[r].ratio(*DIAGNOSTICS[name])) for k, r in enumerate(sizes)]
        series.append(Series(title, tone, ours, (), shape))
        rates = printed_points(rows, [f"mechanism-by-r/r{r}/{name}" for r in sizes])
        theirs = [(place, rate / 100) for place, rate in rates]
        if theirs:
            printed.append(Series(f"paper, {title}", tone, theirs, (), shape, hollow=True))
    ticks = [(float(k), f"r = {r}") for k, r in enumerate(sizes)]
    title = "Mechanism audit against resolution"
    return [chart(title, [*series, *printed], ticks, Scale(0.0, 1.0), ("", "share"))]


EXPERIMENT = Experiment(
    "mechanism",
    "Mechanism audit",
    version=1,
    run=run,
    cells=cells,
    effort=per_vertex(1.0),
    read_grid=read_grid,
    measures=measures,
    sections=(
        Section(
            "mechanism",
            "Mechanism audit",
            "The decisions of the harmonic walks: which equation the true cost satisfies there, "
            "where harmonic ranks a worse neighbour first, and whether the AMLE puts it right.",
            compared={"mechanism": ("rate", "count"), "mechanism-main": (), "mechanism-by-r": ()},
            charts=charts,
        ),
    ),
)
