"""The study of PointMaze: from a buffer to plans that arrive, beside what others plan with."""

from __future__ import annotations

from typing import Any

from ...engine import NO_ROWS, Experiment, Study, Tables
from ...report import Cover, Tile
from . import official, success, teleport_map
from ._common import FEWEST_SEEDS, OURS, REFERENCE, share

POINT: tuple[Experiment[Any], ...] = (
    success.EXPERIMENT,
    teleport_map.EXPERIMENT,
    success.LESS_DATA,
    official.EXPERIMENT,
)
"""In the order of the report."""


def cover(study: Study, tables: Tables) -> Cover:
    """Return what comes before the sections."""
    rows, lead, worst = tables.get(success.EXPERIMENT.name, NO_ROWS), "", {}
    for arm, title in ((OURS, "Planner"), (REFERENCE, "graph distance")):
        groups = rows.where(arm=arm).by("dataset", "graph").values()
        if groups:
            worst[title] = f"{100 * min(map(share, groups)):.0f} %"
    if len(rows) and len(rows.values("seed")) < FEWEST_SEEDS:
        lead = "A quick profile shows that everything runs: its episodes are too few for findings."
    elif len(rows):
        lead = (
            "What fails a planner on a replay buffer is chance, such as a teleport that looks "
            "short because only the lucky ones are counted, and arcs that nobody took: one false "
            "arc in a thousand is enough. Worst success over datasets and graphs: "
            f"{', '.join(f'{title} {figure}' for title, figure in worst.items())}. With a few "
            "percent of the data much depends on the landmarks, and on given ones some rivals are "
            "as good or better: the tables say where."
        )
    return Cover(
        study.title,
        note="Planners get the same buffer, landmarks and low level, and are walked in PointMaze.",
        lead=lead,
        tiles=[
            Tile(title, figure, "worst success over datasets and graphs")
            for title, figure in worst.items()
        ],
    )
