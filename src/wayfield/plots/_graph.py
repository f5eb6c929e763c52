"""Graphs that are no mazes: edges as lines, vertices as discs, chevrons on one-way edges."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph import Graph
from ..kernels._types import BoolArray, FloatArray
from ..plan import Plan
from . import _marks as marks
from ._canvas import Canvas


def draw_graph(canvas: Canvas, values: FloatArray, plan: Plan | None) -> tuple[Any, list[Any]]:
    """Draw a graph; return the image of the field, for its colour bar, and legend entries."""
    ax, graph, positions = canvas.ax, canvas.graph, canvas.positions
    entries = []
    alone = one_way_arcs(graph)
    ends = np.stack([positions[graph.tails], positions[graph.indices]], axis=1)
    marks.draw_lines(ax, ends[alone | (graph.tails < graph.indices)], 0.6, alpha=0.35, zorder=1)
    way = ends[:, 1] - ends[:, 0]
    pointed = alone & way.any(axis=1)
    if pointed.any():
        places = ends[pointed, 0] + 0.6 * way[pointed]
        marks.draw_chevrons(ax, places, way[pointed], 0.16 * canvas.unit, zorder=1.5)
        entries.append(marks.legend_chevron("one way"))
    edge = np.tile([0.09, 0.13, 0.17, 0.6], (graph.num_vertices, 1))
    if plan is not None:
        tint = marks.tints(plan)
        edge[tint[:, 3] > 0] = tint[tint[:, 3] > 0]
    known = np.isfinite(values)
    area = float(np.clip(20_000 / graph.num_vertices, 6, 90))
    look: dict[str, Any] = {"s": area, "linewidths": 1, "zorder": 2}
    colours: dict[str, Any] = {"c": values[known], "edgecolors": edge[known]}
    x, y = positions[known].T
    drawn = ax.scatter(x, y, cmap=marks.colour_map(), **colours, **look)
    if not known.all():
        grey: dict[str, Any] = {
            "facecolors": marks.GREY,
            "edgecolors": marks.CROSSES,
            "marker": "X",
        }
        x, y = positions[~known].T
        ax.scatter(x, y, **grey, **look)
        entries.append(marks.legend_cross(marks.why_unknown(values)))
    ax.margins(0.05)
    return drawn, entries


def one_way_arcs(graph: Graph) -> BoolArray:
    """(m,) bool: whether an arc has no arc back."""
    if not graph.directed:
        return np.zeros(graph.num_arcs, dtype=bool)
    tails, heads = graph.tails.astype(np.int64), graph.indices.astype(np.int64)
    n = graph.num_vertices
    return ~np.isin(heads * n + tails, tails * n + heads)
