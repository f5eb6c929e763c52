"""The study of PointMaze: from a buffer to plans that arrive, beside what others plan with."""

from __future__ import annotations

from typing import Any

from ...engine import NO_ROWS, Experiment, Records, Study, Tables
from ...report import Cover, Tile
from .._point import FEWEST_SEEDS, OURS, REFERENCE
from . import constants, official, shares, success, teleport_map

POINT: tuple[Experiment[Any], ...] = (
    success.EXPERIMENT,
    teleport_map.EXPERIMENT,
    shares.EXPERIMENT,
    constants.EXPERIMENT,
    official.EXPERIMENT,
)
"""In the order of the report."""


def cover(study: Study, tables: Tables) -> Cover:
    """Put together what stands before the sections."""
    rows = tables.get(success.EXPERIMENT.name, NO_ROWS)
    return Cover(
        study.title,
        note="Planners get the same buffer, landmarks and low level, and are walked in PointMaze.",
        lead=_lead(rows) if len(rows) else "",
        tiles=[
            Tile(name, f"{_worst(rows, arm):.0f} %", "worst success over datasets and graphs")
            for name, arm in (("Planner", OURS), ("graph distance", REFERENCE))
            if len(rows.where(arm=arm))
        ],
    )


def _lead(rows: Records) -> str:
    if len(rows.values("seed")) < FEWEST_SEEDS:
        return "A quick profile shows that everything runs: its episodes are too few for findings."
    return (
        "What fails a planner on a replay buffer is chance, such as a teleport that looks short "
        "because only the lucky ones are counted, and guessed arcs: one false arc in a thousand is "
        "enough. "
        f"Worst success over datasets and graphs: Planner {_worst(rows, OURS):.0f} %, graph "
        f"distance {_worst(rows, REFERENCE):.0f} %. With a few percent of the data much depends "
        "on the landmarks, and on given ones some rivals are as good or better: the tables say "
        "where."
    )


def _worst(rows: Records, arm: str) -> float:
    groups = rows.where(arm=arm).by("dataset", "graph").values()
    return 100 * min(some.ratio("reached", "pairs") for some in groups)
