"""Where the harmonic ranking goes wrong and whether the AMLE puts it right: `audit.mechanism`.

The decisions are those of the harmonic walks from the sampled starts, the goal none of them. Their
geometry classes are over the decision's scope, the state and its neighbours; those at the state
stand beside them. One row for the AMLE at the
paper's budget and one for the exact AMLE, pooled over the cell's goals.
"""

from __future__ import annotations

from ..engine import Measure, Records, Row, Tables
from ..paper.figures import Figure
from ..paper.measures import figures_of, measure_slices
from ..report import Table
from .comparison import Rate, by_arm, section
from .mazes import MazeCell, maze_experiment
from .ordering import cells
from .trial import EXACT, HARMONIC, SWEEPS, Trial, arms_of

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


def run(cell: MazeCell) -> list[Row]:
    """Return one row for each way to compute the AMLE, or for other methods in its place.

    The field alone is judged, so that tie rules make no difference.
    """
    trial = Trial(cell)
    harmonic = trial.fields(HARMONIC.method)
    arms = [arm for arm in arms_of(cell.method, (SWEEPS, EXACT)) if arm.ties == "index"]
    return [
        {"arm": arm.name} | trial.mechanism_counts(harmonic, trial.fields(arm.method))
        for arm in arms
    ]


def measures(tables: Tables) -> dict[str, Measure]:
    """Measure the paper's three tables of the mechanism audit."""
    figures = figures_of("mechanism", "mechanism-main", "mechanism-by-r")
    found = measure_slices(tables.get("mechanism"), figures, _counts_and_rates)
    share = found["mechanism/primary_geometry/rate"]
    above = None if share.value is None else float(share.value > 50.0)
    return found | {"sentences/primary_above_half/value": Measure(above, note=share.note)}


def _counts_and_rates(figures: list[Figure], rows: Records) -> dict[str, Measure]:
    """Measure counts, and rates in per cent, by sweeps and exactly."""
    budget, exact = rows.where(arm="sweeps"), rows.where(arm="amle")
    found = {}
    for figure in figures:
        part, whole = DIAGNOSTICS[figure.row if figure.row in DIAGNOSTICS else figure.column]
        if figure.column in ("count", "of"):
            name = part if figure.column == "count" else whole
            found[figure.id] = Measure(budget.total(name), exact.total(name))
        else:
            ours, sure = 100 * budget.ratio(part, whole), 100 * exact.ratio(part, whole)
            found[figure.id] = Measure(ours, sure)
    return found


SHARES = {
    "inversions of harmonic": "inversions",
    "in states where only distance is right": "inversions_in_primary",
    "put right": "corrected",
    "certified": "certified",
}
"""Columns of the table by method, and the lines of the paper's table that they are."""


def tables(rows: Records) -> list[Table]:
    """Tabulate what each method does where the harmonic walks go wrong."""
    rates = {
        head: Rate(*DIAGNOSTICS[row], 1, True, {SWEEPS.name: f"mechanism/{row}/rate"}, pooled=True)
        for head, row in SHARES.items()
    }
    note = (
        "Of untied decisions of the harmonic walks, then of the inversions. Every one counts once."
    )
    return [
        by_arm(rows, "mechanism", "Harmonic inversions, and what each field does, %", rates, note)
    ]


EXPERIMENT = maze_experiment(
    "mechanism", "Mechanism audit", 4, run, cells, 1.0, section("mechanism", tables=tables),
    measures=measures, compares=True,
)  # fmt: skip
