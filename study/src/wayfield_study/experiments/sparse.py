"""The very sparse limit: from as many labels as the cell has down to two, and the goal's.

The counts are powers of two up to the cell's own number. Every set is a uniform draw of its own,
the same for all goals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from wayfield.shortest_paths import sample_labels

from ..engine import Records, Row, Tables
from ..paper.grid import AUDIT_SEEDS, CELL
from ..paper.measures import on_cells
from ..report import Finding, Section, against
from ._mazes import SMALL, MazeCell, cells_by_profile, grid, maze_experiment
from ._shared import failing, success, table_by
from ._trial import EXACT, EXACT_EXIT, HARMONIC, Trial, power_arm

ARMS = (HARMONIC, power_arm(8), EXACT, EXACT_EXIT)


def run(cell: MazeCell) -> list[Row]:
    """One row for every number of labels and arm."""
    drawn = cell.draw()
    graph, seed = drawn.graph, drawn.label_seed
    rows: list[Row] = []
    for count in label_counts(round(cell.label_fraction * graph.num_vertices)):
        labels = [sample_labels(graph, int(goal), None, seed, count=count) for goal in drawn.goals]
        trial = Trial(replace(drawn, labels=labels))
        rows += [{"count": count} | trial.row(arm) for arm in ARMS]
    return rows


def label_counts(most: int) -> Iterator[int]:
    """Powers of two from 2 below the most, then the most itself."""
    count = 2
    while count < most:
        yield count
        count *= 2
    yield most


cells = cells_by_profile(
    SMALL, partial(grid, label_fractions=[0.05], seeds=AUDIT_SEEDS), paper=16, full=64
)


def shared_counts(tables: Tables) -> Records:
    """Keep the numbers of labels that every cell has been tried with."""
    rows = tables["sparse"]
    every = len(rows.distinct(*CELL))
    common = [n for n, some in rows.by("count").items() if len(some.distinct(*CELL)) == every]
    return Records.of(row for row in rows if row["count"] in common)


@on_cells
def findings(rows: Records) -> Iterator[Finding]:
    """Report success with the fewest labels."""
    fewest = rows.where(count=min(rows.values("count")))
    lost = failing(rows, "amle_exit", "_all")
    yield Finding(
        "new" if lost == 0 else "differs",
        "How few labels are enough?",
        f"With {min(rows.values('count'))} labels and the goal's, harmonic reaches from "
        f"{success(fewest, 'harmonic'):.1%} of the starts and the exact AMLE from "
        f"{success(fewest, 'amle'):.1%}; with exit ties {lost:,} of "
        f"{rows.where(arm='amle_exit').total('starts_all'):,} starts fail, whatever the number of "
        "labels.",
    )


SECTION = Section(
    "sparse",
    "Beyond the paper: very few labels",
    "Down to two labels, and the goal's. Shown are the numbers of labels that every cell "
    "was tried with.",
    rows=shared_counts,
    charts=lambda rows: [against(rows, "count", ARMS, "Success against the number of labels")],
    tables=lambda rows: [table_by(rows, "count", "labels", ARMS, "Success by number of labels")],
    findings=findings,
)
EXPERIMENT = maze_experiment("sparse", "Down to two labels", 1, run, cells, 28.0, SECTION)
