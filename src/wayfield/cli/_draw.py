"""The picture of a result: a diagram with names if the graph is small, else a field."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from .._optional import need
from ..errors import WayfieldError
from ..graph import Graph
from ..kernels._types import FloatArray
from ._layout2d import spread
from ._result import Result

SMALL = 300
"""Vertices up to which a graph is drawn as a diagram, and given places if it has none."""

_NAMED = 60
_INK, _LOOP, _GOAL, _EDGE = "#17222b", "#c8402a", "#ffd23f", "#b6bfc7"


def why_not_drawn(graph: Graph) -> str | None:
    """Return why there can be no picture of a graph, None if there can."""
    if not _has_places(graph) and graph.num_vertices > SMALL:
        return "the graph is large and has no positions (--positions FILE)"
    try:
        need("matplotlib", "plots")
    except WayfieldError as error:
        return str(error)
    return None


def drawable(graph: Graph) -> Graph:
    """Return the graph with places in the plane, its own or found."""
    return graph if _has_places(graph) else graph.with_positions(spread(graph))


def _has_places(graph: Graph) -> bool:
    return graph.positions is not None and graph.positions.shape[1] == 2


def draw(result: Result, graph: Graph, path: Path, diagram: bool = True) -> None:
    """Draw the field, the plan and the labels of a graph with places in the plane."""
    from ..plots import field as draw_field

    figure = need("matplotlib.figure", "plots").Figure((8, 6), layout="constrained")
    axes = figure.subplots()
    if diagram and graph.num_vertices <= SMALL:
        _draw_diagram(result, graph, axes)
    else:
        draw_field(graph, result.field.values, result.plan, result.question.labels, axes)
    with warnings.catch_warnings():  # a name the font has no letters for is drawn as boxes
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure.savefig(path, dpi=150)


def _draw_diagram(result: Result, graph: Graph, axes: Any) -> None:
    """Discs and arrows of one size on paper, whatever the graph's: names are readable between."""
    places = graph.positions
    assert places is not None
    size = 9.0 if graph.num_vertices <= _NAMED else 5.0
    if graph.directed:
        for x, y in zip(graph.tails.tolist(), graph.indices.tolist(), strict=True):
            _draw_arrow(axes, places[x], places[y], _EDGE, size)
    else:
        ends = np.stack([places[graph.tails], places[graph.indices]], axis=1)
        lines = need("matplotlib.collections", "plots").LineCollection(ends, colors=_EDGE, lw=0.8)
        axes.add_collection(lines)
    for x, y in enumerate(result.plan.successor.tolist()):
        if y >= 0 and y != x:
            colour = _INK if result.plan.reached[x] else _LOOP
            _draw_arrow(axes, places[x], places[y], colour, size)
    drawn = _draw_discs(axes, places, result, size)
    _draw_names(axes, places, result)
    if np.isfinite(result.field.values).any():
        bar = axes.figure.colorbar(drawn, ax=axes, shrink=0.7, aspect=26, pad=0.02)
        bar.outline.set_visible(False)
    axes.set_title(_caption(result), fontsize=9, loc="left")
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.12)
    axes.set_axis_off()


def _draw_discs(axes: Any, places: FloatArray, result: Result, size: float) -> Any:
    """One disc per vertex: shaded by its value, ringed if it is a label; a star is the goal."""
    values = result.field.values
    known = np.isfinite(values)
    labelled = result.question.labels.mask(result.question.graph)
    rings: dict[str, Any] = {
        "linewidths": np.where(labelled, 2.2, 0.7)[known],
        "edgecolors": np.where(result.outcomes == 1, _LOOP, _INK)[known],
    }
    disc: dict[str, Any] = {"s": size**2, "zorder": 3}
    axes.scatter(*places[~known].T, c="#dddddd", marker="X", **disc)
    drawn = axes.scatter(*places[known].T, c=values[known], cmap="Blues_r", **rings, **disc)
    star: dict[str, Any] = {"marker": "*", "c": _GOAL, "edgecolors": _INK, "lw": 0.8, "zorder": 4}
    axes.scatter(*places[result.plan.goal], s=max(5 * size**2, 220), **star)
    return drawn


def _draw_names(axes: Any, places: FloatArray, result: Result) -> None:
    """Name all vertices if they are few, else the labelled ones if those are."""
    vertices = np.arange(len(places)) if len(places) <= _NAMED else result.question.labels.vertices
    if vertices.size > _NAMED:
        return
    box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.6}
    look = {"textcoords": "offset points", "fontsize": 8, "bbox": box, "zorder": 5}
    for x in vertices.tolist():
        axes.annotate(result.question.called(x), places[x], (6, 6), parse_math=False, **look)


def _draw_arrow(axes: Any, tail: FloatArray, head: FloatArray, colour: str, size: float) -> None:
    """Draw an arrow from disc to disc, those of the graph below those of the plan."""
    look = {"arrowstyle": "-|>", "color": colour, "lw": 1.1, "mutation_scale": 1.3 * size}
    look |= {"shrinkA": size / 2, "shrinkB": size / 2 + 1}
    axes.annotate("", head, tail, arrowprops=look, zorder=1 if colour == _EDGE else 2)


def _caption(result: Result) -> str:
    text = "shade: value · thick ring: label · arrow: next state · star: goal"
    return text + (" · red: never arrives" if not result.plan.reached.all() else "")
