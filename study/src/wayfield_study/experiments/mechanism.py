"""Where the harmonic ranking goes wrong and whether the AMLE puts it right: `audit.mechanism`.

The decisions are those of the harmonic walks from the sampled starts, the goal none of them. Their
geometry classes are over the decision's scope, the state and its neighbours; those at the state
stand beside them. One row for the AMLE at the
paper's budget and one for the exact AMLE, pooled over the cell's goals.
"""

from __future__ import annotations

from functools import partial

from ..engine import Experiment, Measure, Records, Row, Tables
from ..paper.grid import GRID, REFINEMENTS, covered, ids
from ..report import SHAPES, TONES, Chart, Scale, Section, Series, Table, chart
from ._mazes import MazeCell, per_vertex, read_grid
from ._readings import mechanism_counts
from ._shown import printed_points
from ._trial import EXACT, HARMONIC, SWEEPS, Arm, Trial
from .ordering import cells

DIAGNOSTICS = {
    "both_compatible": ("scope_both", "decisions"),
    "primary_geometry": ("scope_primary", "decisions"),
    "both_incompatible": ("scope_neither", "decisions"),
    "inversions": ("inversions", "untied"),
    "inversions_in_primary": ("inversions_scope_primary", "inversions"),
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
    fields = trial.fields(HARMONIC.method), trial.fields(arm.method)
    return {"arm": arm.name} | mechanism_counts(trial, *fields)


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


def tables(rows: Records) -> list[Table]:
    """Tell the geometry classes at the state alone beside those over its scope, by resolution."""
    swept = rows.where(arm="sweeps")
    lines = []
    for title, some in (
        *((f"r = {r}", group) for r, group in sorted(swept.by("refinement").items())),
        ("all", swept),
    ):
        shares = [
            some.ratio(prefix + name, "decisions")
            for name in ("both", "primary", "neither")
            for prefix in ("scope_", "")
        ]
        inside = [
            some.ratio(name, "inversions")
            for name in ("inversions_scope_primary", "inversions_primary")
        ]
        lines.append([title, *(f"{share:.1%}" for share in (*shares, *inside))])
    heads = [
        f"{what}, {where}"
        for what in ("both", "AMLE only", "neither", "inversions in AMLE only")
        for where in ("scope", "state")
    ]
    note = "Scope: the state and its neighbours. The goal is no decision."
    title = "Geometry classes over the scope and at the state"
    return [Table("classes", title, ["cells", *heads], lines, note)]


EXPERIMENT = Experiment(
    "mechanism",
    "Mechanism audit",
    version=2,
    run=run,
    cells=cells,
    effort=per_vertex(1.0),
    read_grid=read_grid,
    measures=measures,
    sections=(
        Section(
            "mechanism",
            "Mechanism audit",
            "The decisions of the harmonic walks: which equation the true cost satisfies at the "
            "state and all of its neighbours, where harmonic ranks a worse neighbour first, and "
            "whether the AMLE puts it right.",
            compared={"mechanism": ("rate", "count"), "mechanism-main": (), "mechanism-by-r": ()},
            charts=charts,
            tables=tables,
        ),
    ),
)
