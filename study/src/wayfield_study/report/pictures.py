"""Pictures of mazes: where starts fail, and fields with the plan they give; PNG inside the page.

Everything drawn was stored by an experiment; nothing is solved here.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from wayfield import plots
from wayfield._optional import need
from wayfield.graph import Graph
from wayfield.kernels._types import FloatArray
from wayfield.labels import Labels
from wayfield.plans import Plan

from ..engine.tasks import Row
from .drawings import stored_graph

_SCALE = ("#f3f1ea", "#f2cf8d", "#e5924c", "#bb4540", "#6d1f45")  # no start fails … all fail
_WALL = (0.62, 0.65, 0.68, 1.0)


@dataclass(frozen=True)
class Picture:
    """An image as a data URI, and what to say under it."""

    caption: str
    data: str


@dataclass(frozen=True)
class Gallery:
    """Pictures side by side: what they show, and a key to their colours.

    Attributes
    ----------
    about : str
        Stands above them.
    pictures : sequence of Picture
        Of one kind.
    kind : str
        Class of the style sheet: fields or maps.
    key : str
        HTML that explains the colours.
    """

    about: str
    pictures: Sequence[Picture]
    kind: str
    key: str = ""


def stored_maze(graph: Graph, labels: Labels) -> Row:
    """Return a graph in the plane and its labels as columns of a row."""
    lengths = graph.lengths[graph.tails < graph.indices]
    known = {"label_vertices": labels.vertices, "label_values": labels.values}
    return stored_graph(graph) | {"lengths": lengths} | known


def stored_plan(plan: Plan, prefix: str) -> Row:
    """Return a plan as columns of a row, their names prefixed."""
    return {
        f"{prefix}_values": plan.values,
        f"{prefix}_successor": plan.successor,
        f"{prefix}_basin": plan.basin,
        f"{prefix}_cycles": plan.cycle_members,
        f"{prefix}_cycle_ends": plan.cycle_offsets,
    }


def field_picture(row: Row, prefix: str, goal: int, caption: str) -> Picture:
    """Draw a stored field: labels as rings, contours, and the greedy plan as arrows."""
    positions = np.column_stack([row["x"], row["y"]])
    graph = Graph.from_edges(row["tails"], row["heads"], row["lengths"], positions=positions)
    names = ("values", "successor", "basin", "cycles", "cycle_ends")
    values, successor, basin, cycles, ends = (np.array(row[f"{prefix}_{name}"]) for name in names)
    unknown = np.full(graph.num_vertices, -1)
    # the stored plan put together again; what no picture shows is left out
    rule: dict[str, Any] = {"rule": "q", "ties": "index", "tie_tolerance": 0.0}
    walks = {"reached": basin == -1, "steps": unknown, "cost": unknown.astype(np.float64)}
    walks |= {"basin": basin, "cycle_members": cycles.astype(np.int64), "cycle_offsets": ends}
    plan = Plan(graph, values, goal, **rule, successor=successor, **walks)
    labels = Labels(row["label_vertices"], row["label_values"])
    width, height = np.ptp(positions, axis=0) + 1.0
    size = (6.4, 6.4 * height / width)
    figure: Any = need("matplotlib.figure", "study").Figure(size, layout="constrained")
    plots.field(graph, plan.values, plan, labels, figure.subplots(), colour_bar=False, legend=False)
    return Picture(caption, _png(figure, 130))


def failure_map(positions: FloatArray, share: FloatArray, caption: str) -> Picture:
    """Draw the share of goals that each vertex of a lattice misses, a pixel each."""
    places = np.rint(positions - positions.min(axis=0)).astype(np.int64)
    columns, rows = places.T
    colours = need("matplotlib.colors", "study")
    scale = colours.LinearSegmentedColormap.from_list("failures", _SCALE)
    image = np.full((rows.max() + 1, columns.max() + 1, 4), _WALL)
    image[rows.max() - rows, columns] = scale(share)
    buffer = io.BytesIO()
    need("matplotlib.image", "study").imsave(buffer, image, format="png")
    return Picture(caption, _data_uri(buffer))


def failure_scale() -> str:
    """Explain the colours of the failure maps."""
    return _colour_bar("0", _SCALE, "all goals missed")


def walks_picture(row: Row, caption: str) -> Picture:
    """Draw walks in a maze of blocks: those that arrive, and in red those that do not.

    `row` has the columns ``walls`` (a text for every row of blocks, 4 wide), ``x`` and ``y`` of all
    walks, ``lengths`` and ``reached`` of each, ``goal``, ``entrances`` and ``exits`` of teleports.
    """
    collections = need("matplotlib.collections", "study")
    walls = np.array([[mark == "#" for mark in line] for line in row["walls"]])
    rows, columns = walls.shape
    figure: Any = need("matplotlib.figure", "study").Figure((6.4, 6.4 * rows / columns))
    axes = figure.add_axes((0, 0, 1, 1))
    edges = (-6.0, 4.0 * columns - 6.0, 4.0 * rows - 6.0, -6.0)  # blocks are centred
    axes.imshow(walls, cmap="Greys", vmax=2.2, extent=edges)
    places = np.column_stack([row["x"], row["y"]])
    walks = np.split(places, np.cumsum(row["lengths"])[:-1])
    for walk, arrived in zip(walks, row["reached"], strict=True):
        colour = "#12806a" if arrived else "#c8452b"
        hops = np.stack([walk[:-1], walk[1:]], axis=1)
        hops = hops[np.linalg.norm(hops[:, 1] - hops[:, 0], axis=1) < 1.0]  # without teleports
        axes.add_collection(collections.LineCollection(hops, colors=colour, linewidths=1.1))
    disc = need("matplotlib.patches", "study").Circle
    for name, look in (("entrances", {"color": "#6db4e6"}), ("exits", {"fill": False})):
        for x, y in np.reshape(row[name], (-1, 2)):
            axes.add_patch(disc((x, y), 1.5, zorder=3, alpha=0.7, **look))
    axes.scatter(*row["goal"], s=230, marker="*", color="#222222", zorder=4)
    axes.set_axis_off()
    return Picture(caption, _png(figure, 110))


def _colour_bar(low: str, colours: Sequence[str], high: str) -> str:
    look = escape(f"background: linear-gradient(to right, {', '.join(colours)})")
    return f'<p class="bar"><span>{low}</span><i style="{look}"></i><span>{high}</span></p>'


def _data_uri(buffer: io.BytesIO) -> str:
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def _png(figure: Any, dpi: int) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi)
    return _data_uri(buffer)
