"""The picture of a result: a diagram with names if the graph is small, else a field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .._optional import need
from ..graph import Graph
from ..kernels._types import FloatArray
from ._layout2d import spread
from ._result import Result

SMALL = 300
"""Vertices up to which a graph is drawn as a diagram, and given places if it has none."""

_NAMED = 60
_INK, _LOOP, _GOAL, _EDGE = "#17222b", "#c8402a", "#ffd23f", "#b6bfc7"


def drawable(graph: Graph) -> Graph | None:
    """Return the graph with places in the plane, its own or found; None if it is too large."""
    if graph.positions is not None and graph.positions.shape[1] == 2:
        return graph
    return graph.with_positions(spread(graph)) if graph.num_vertices <= SMALL else None


def draw(result: Result, graph: Graph, path: Path, diagram: bool = True) -> None:
    """Draw the field, the plan and the labels of a graph with places in the plane."""
    from ..plots import field as draw_field

    figure = need("matplotlib.figure", "plots").Figure((8, 6), layout="constrained")
    axes = figure.subplots()
    if diagram and graph.num_vertices <= SMALL:
        _draw_diagram(result, graph, axes)
    else:
        draw_field(graph, result.field.values, result.plan, result.question.labels, axes)
    figure.savefig(path, dpi=150)


def _draw_diagram(result: Result, graph: Graph, axes: Any) -> None:
    """Discs and arrows of one size on paper, whatever the graph's: names are readable between."""
    places, values, moves = graph.positions, result.field.values, result.plan
    assert places is not None
    few = graph.num_vertices <= _NAMED
    size = 9.0 if few else 5.0
    ends = np.stack([places[graph.tails], places[graph.indices]], axis=1)
    lines = need("matplotlib.collections", "plots").LineCollection(ends, colors=_EDGE, lw=0.8)
    axes.add_collection(lines)
    _draw_moves(axes, places, moves.successor, moves.reached, size)
    known = np.isfinite(values)
    labelled = result.question.labels.mask(graph)
    ring = np.where(labelled, 2.2, 0.7)
    edge = np.where(result.outcomes == 1, _LOOP, _INK)
    disc: dict[str, Any] = {"s": size**2, "zorder": 3}
    axes.scatter(*places[~known].T, c="#dddddd", marker="X", **disc)
    drawn = axes.scatter(
        *places[known].T,
        c=values[known],
        cmap="Blues",
        edgecolors=edge[known],
        linewidths=ring[known],
        **disc,
    )
    axes.scatter(
        *places[moves.goal], s=5 * size**2, marker="*", c=_GOAL, edgecolors=_INK, lw=0.8, zorder=4
    )
    if few:
        for x, place in enumerate(places):
            name = result.question.called(x)
            box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.6}
            look = {"textcoords": "offset points", "fontsize": 8, "bbox": box, "zorder": 5}
            axes.annotate(name, place, (6, 6), **look)
    if known.any():
        bar = axes.figure.colorbar(drawn, ax=axes, shrink=0.7, aspect=26, pad=0.02)
        bar.outline.set_visible(False)
    axes.set_title(_caption(result), fontsize=9, loc="left")
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.12)
    axes.set_axis_off()


def _draw_moves(axes: Any, places: FloatArray, successor: Any, reached: Any, size: float) -> None:
    """One arrow from every state to the next, red where the walk never arrives."""
    for x, y in enumerate(successor.tolist()):
        if y >= 0 and y != x:
            colour = _INK if reached[x] else _LOOP
            look = {"arrowstyle": "-|>", "color": colour, "lw": 1.1, "mutation_scale": 1.3 * size}
            look |= {"shrinkA": size / 2, "shrinkB": size / 2 + 1}
            axes.annotate("", places[y], places[x], arrowprops=look, zorder=2)


def _caption(result: Result) -> str:
    text = "shade: value · thick ring: label · arrow: next state · star: goal"
    return text + (" · red: never arrives" if not result.plan.reached.all() else "")
