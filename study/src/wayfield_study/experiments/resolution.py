"""Finer graphs than the paper's: harmonic and exact AMLE up to r = 24.

Sweeps are left out: on such graphs they would only be slow.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ..engine import NO_ROWS, Records, Row, Tables
from ..paper.grid import AUDIT_SEEDS, SEEDS
from ..paper.measures import on_cells
from ..report import Chart, Finding, Section, against
from ._mazes import MazeCell, cells_by_profile, grid, maze_experiment
from ._shared import printed_series, success, table_by
from ._trial import EXACT, EXACT_EXIT, HARMONIC, Trial

ARMS = (HARMONIC, EXACT, EXACT_EXIT)


def run(cell: MazeCell) -> list[Row]:
    """One row for each arm."""
    trial = Trial(cell)
    return [trial.row(arm) for arm in ARMS]


cells = cells_by_profile(
    partial(grid, ["medium"], [16], [0.05], SEEDS[:1]),
    partial(grid, refinements=[16, 20, 24], label_fractions=[0.02, 0.08], seeds=AUDIT_SEEDS),
    paper=16,
    full=64,
)
"""Resolutions beyond the paper's 12."""


def all_resolutions(tables: Tables) -> Records:
    """Return the paper's resolutions and then the finer ones, with the same labels and seeds."""
    finer, coarser = tables["resolution"], tables.get("rollout", NO_ROWS)
    same = {
        name: set(finer.values(name)) for name in ("arm", "maze", "label_fraction", "seed")
    }.items()
    alike = (row for row in coarser if all(row[name] in known for name, known in same))
    return Records((*alike, *finer))


def charts(rows: Records) -> list[Chart]:
    """Success against resolution."""
    theirs = printed_series(rows, "refinement")
    return [
        against(rows, "refinement", ARMS, "Success on finer graphs", lambda r: f"r = {r}", theirs)
    ]


@on_cells
def findings(rows: Records) -> Iterator[Finding]:
    """Report success on the finest graph."""
    finest = max(rows.values("refinement"))
    chosen = rows.where(refinement=finest)
    yield Finding(
        "new",
        "Does it last on finer graphs?",
        f"At r = {finest} harmonic reaches from {success(chosen, 'harmonic'):.1%} of the starts, "
        f"the exact AMLE from {success(chosen, 'amle'):.2%}, with exit ties from "
        f"{success(chosen, 'amle_exit'):.2%}.",
    )


SECTION = Section(
    "resolution",
    "Beyond the paper: finer graphs",
    "Harmonic and exact AMLE on graphs up to thirty-six times as large as the paper's coarsest.",
    rows=all_resolutions,
    charts=charts,
    tables=lambda rows: [table_by(rows, "refinement", "r", ARMS, "Success by resolution")],
    findings=findings,
)
EXPERIMENT = maze_experiment("resolution", "Finer graphs", 1, run, cells, 0.3, SECTION)
