"""What is wrong and what mending finds: one cell of some worlds, arc by arc.

One row per cell with all that the pictures need: positions, edges, and what each edge costs beyond
its believed length, in the world and on the mended graph, relative to that length.
"""

from __future__ import annotations

import numpy as np

from wayfield.kernels._types import FloatArray

from ...engine import Experiment, Profile, Records, Row
from ...report import Gallery, Section
from ...report.pictures import edge_picture, edge_scale
from .._wrong import SMALL, WRONG_WORLDS, WrongCell, WrongWorld, read_grid, wrong_grid
from .._wrong.arms import mended
from ._shown import percent

WORLDS = ("patch", "short1", "walls", "alias10", "road", "combo")
FALSE = 99.0
"""Stored in place of infinity: what an edge costs beyond its length if it does not exist."""


def run(cell: WrongCell) -> list[Row]:
    """One row: the graph, and what its edges cost beyond their lengths."""
    case = cell.draw()
    graph, ours = case.graph, mended(case, None)
    assert graph.positions is not None
    once = graph.tails < graph.indices
    return [
        {
            "x": graph.positions[:, 0],
            "y": graph.positions[:, 1],
            "tails": graph.tails[once],
            "heads": graph.indices[once],
            "really": _dearer(case.world)[once],
            "found": (ours.added / graph.lengths)[once],
            "labelled": case.labels.vertices,
            "goal": case.world.goal,
            "chosen": ours.chosen,
        }
    ]


def _dearer(world: WrongWorld) -> FloatArray:
    """Return the share by which edges cost more than believed, the dearer of their two ways."""
    graph = world.graph
    extra = world.costs / graph.lengths - 1
    extra = np.where(world.lands == graph.indices, extra, FALSE)
    other = np.lexsort((graph.tails, graph.indices))  # undirected: where the opposite arcs stand
    return np.maximum(extra, extra[other])


def cells(profile: Profile) -> list[WrongCell]:
    """One cell of each world that can be drawn well; a small one if quick."""
    if profile.name == "quick":
        return wrong_grid(("short1",), (0.05,), (0,), SMALL)
    return wrong_grid(WORLDS, (0.05,), (0,))


def galleries(rows: Records) -> list[Gallery]:
    """Draw what is wrong beside what was found."""
    shown = []
    for row in rows:
        found = row["chosen"] or "mended"
        captions = {"really": "the world", "found": f"what mend found ({found})"}
        pictures = [edge_picture(row, column, told) for column, told in captions.items()]
        about = (
            f"{WRONG_WORLDS[row['world']].capitalize()} ({row['world']}, seed {row['seed']}), "
            f"{percent(row['label_fraction'])} labels: cost of every edge beyond its believed "
            "length. Dots are labels, the star is the goal."
        )
        shown.append(Gallery(about, pictures, "fields", edge_scale()))
    return shown


EXPERIMENT = Experiment(
    "wrong_pictures",
    "What is wrong, and what was found",
    version=1,
    run=run,
    cells=cells,
    read_grid=read_grid,
    sections=(
        Section(
            "wrong-pictures",
            "What is wrong, and what was found",
            "Edges by what they cost beyond their believed length, in the world and after mending.",
            galleries=galleries,
        ),
    ),
)
