"""The very sparse limit: from as many labels as the cell has down to two, and the goal's.

The counts are powers of two up to the cell's own number. Every set is a uniform draw of its own,
the same for all goals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...oracle import sample_labels
from ..cells import Cell, draw
from ..rollout import EXACT, EXACT_EXIT, HARMONIC, Trial, power_arm
from ..tasks import Row

ARMS = (HARMONIC, power_arm(8), EXACT, EXACT_EXIT)


def run(cell: Cell) -> list[Row]:
    """One row for every number of labels and arm."""
    drawn = draw(cell)
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
