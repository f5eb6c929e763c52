"""What is wrong and what mending finds: one cell of some worlds, arc by arc.

One row per cell with all that the pictures need: positions, edges, and what each edge costs beyond
its believed length, in the world and on the mended graph, relative to that length.
"""

from __future__ import annotations

import numpy as np

from ...engine import Records, Row
from ...report import Gallery
from ...report.drawings import stored_graph
from ...report.pictures import edge_picture, edge_scale
from .._shared import make_experiment, percent
from . import _common as common
from ._worlds import WRONG_WORLDS

WORLDS = ("patch", "short1", "walls", "alias10", "road", "combo")
FALSE = 99.0
"""Stored in place of infinity: what an edge costs beyond its length if it does not exist."""


def run(cell: common.WrongCell) -> list[Row]:
    """Return one row: the graph, and what its edges cost beyond their lengths."""
    case = cell.draw()
    graph, world, ours = case.graph, case.world, common.mended(case, None)
    once = graph.tails < graph.indices
    # the share by which an edge costs more than believed, in the costlier of its two directions
    extra = np.where(world.lands == graph.indices, world.costs / graph.lengths - 1, FALSE)
    other = np.lexsort((graph.tails, graph.indices))  # undirected: where the opposite arcs are
    row: Row = {
        "really": np.maximum(extra, extra[other])[once],
        "found": (ours.added / graph.lengths)[once],
        "labelled": case.labels.vertices,
        "goal": world.goal,
        "chosen": ours.chosen,
    }
    return [stored_graph(graph) | row]


def galleries(rows: Records) -> list[Gallery]:
    """Draw what is wrong beside what was found."""
    shown = []
    for row in rows:
        found = row["chosen"] or "mended"
        captions = {"really": "the world", "found": f"what mend found ({found})"}
        pictures = [edge_picture(row, column, caption) for column, caption in captions.items()]
        about = (
            f"{WRONG_WORLDS[row['world']].capitalize()} ({row['world']}, seed {row['seed']}), "
            f"{percent(row['label_fraction'])} labels: cost of every edge beyond its believed "
            "length. Dots are labels, the star is the goal."
        )
        shown.append(Gallery(about, pictures, "fields", edge_scale()))
    return shown


EXPERIMENT = make_experiment(
    "wrong_pictures",
    "What is wrong, and what was found",
    1,
    run,
    common.grids(quick=(("short1",), (0.05,), (0,)), standard=(WORLDS, (0.05,), (0,))),
    "Edges by what they cost beyond their believed length, in the world and after mending.",
    {"galleries": galleries},
    **common.GRID,
)
