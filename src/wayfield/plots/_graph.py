"""Graphs that are no mazes: edges as lines, vertices as discs, chevrons on one-way edges.

A picture is to show its vertices and its plan, however many edges there are. The lines of all edges
together may darken the paper by `_SHADE` at most: the more there are, the fainter they become, and
from `_FAINTEST` on only a sample is drawn. Chevrons, too, are drawn as far as there is room.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph import Graph
from ..kernels._types import BoolArray, FloatArray, IntArray
from ..plans import Plan
from . import _marks as marks
from ._canvas import Canvas

_SHADE = 0.06
_FAINTEST, _DARKEST = 0.12, 0.35
_POINTED = 0.06  # of the paper, for chevrons


def draw_graph(canvas: Canvas, values: FloatArray, plan: Plan | None) -> tuple[Any, list[Any]]:
    """Draw a graph; return the image of the field, for its colour bar, and legend entries."""
    ax, graph, positions = canvas.ax, canvas.graph, canvas.positions
    entries = draw_edges(canvas)
    edge = np.tile([*marks.INK_RGB, 0.6], (graph.num_vertices, 1))
    if plan is not None:
        tint = marks.tints(plan)
        edge[tint[:, 3] > 0] = tint[tint[:, 3] > 0]
    known = np.isfinite(values)
    look: dict[str, Any] = {"s": canvas.disc**2, "linewidths": 0.1 * canvas.disc, "zorder": 2}
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


def draw_edges(canvas: Canvas) -> list[Any]:
    """Draw the edges and their one-way marks, and return the legend entries of those."""
    graph, paper = canvas.graph, canvas.room**2 * canvas.graph.num_vertices
    alone = one_way_arcs(graph)
    tails = canvas.positions[graph.tails]
    way = canvas.positions[graph.indices] - tails
    length = np.hypot(*way.T) / canvas.point
    entries = []
    once = np.flatnonzero((alone | (graph.tails < graph.indices)) & (length > 0))
    width = float(np.clip(0.06 * canvas.room, 0.3, 0.7))
    faint = _SHADE * paper / max(width * float(length[once].sum()), 1e-300)
    kept = _sample(once, faint / _FAINTEST)
    ends = np.stack([tails[kept], tails[kept] + way[kept]], axis=1)
    alpha = float(np.clip(faint, _FAINTEST, _DARKEST))
    marks.draw_lines(canvas.ax, ends, width, alpha=alpha, zorder=1)
    if kept.size < once.size:
        told = f"edge ({kept.size:,} of {once.size:,})"
        entries.append(marks.legend_line(told, 0.7, alpha=0.35))
    pointed = once[alone[once]]
    if pointed.size:
        size = float(np.clip(0.2 * canvas.room, 3.2, 8.0))
        kept = _sample(pointed, _POINTED * paper / (pointed.size * size**2))
        look: dict[str, Any] = {"edgecolors": marks.CROSSES, "linewidths": 0.1 * size}
        places = tails[kept] + 0.6 * way[kept]
        marks.draw_chevrons(canvas.ax, places, way[kept], size * canvas.point, zorder=1.5, **look)
        some = f" ({kept.size:,} of {pointed.size:,})" if kept.size < pointed.size else ""
        entries.append(marks.legend_chevron("one way" + some))
    return entries


def _sample(chosen: IntArray, share: float) -> IntArray:
    """Return a share of them, the same whenever the graph is drawn; all if it is 1 or more."""
    if share >= 1:
        return chosen
    return chosen[np.random.default_rng(0).random(chosen.size) < share]


def one_way_arcs(graph: Graph) -> BoolArray:
    """(m,) bool: whether an arc has no arc back."""
    if not graph.directed:
        return np.zeros(graph.num_arcs, dtype=bool)
    tails, heads = graph.tails.astype(np.int64), graph.indices.astype(np.int64)
    n = graph.num_vertices
    return ~np.isin(heads * n + tails, tails * n + heads)
