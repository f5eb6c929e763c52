"""The picture of a result: a diagram with names if the graph is small, else a field."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from .._optional import need
from ..errors import WayfieldError
from ..graph import Graph
from ..kernels._types import BoolArray, FloatArray
from ._layout2d import spread
from ._result import Result
from ._tags import place_names

SMALL = 300
"""Vertices up to which a graph is drawn as a diagram, and given places if it has none."""

_NAMED = 60
_INK, _LOOP, _GOAL, _EDGE = "#17222b", "#c8402a", "#ffd23f", "#b6bfc7"
_LOST, _ROUTE = "#c4c9ce", "#f59f00"


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
    """Draw the field, the plan, the labels and the routes of a graph with places in the plane."""
    from ..plots import field as draw_field

    figure = need("matplotlib.figure", "plots").Figure((8, 6), layout="constrained", dpi=150)
    axes = figure.subplots()
    with warnings.catch_warnings():  # a name the font has no letters for is drawn as boxes
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        if diagram and graph.num_vertices <= SMALL:
            _draw_diagram(result, graph, axes)
        else:
            draw_field(graph, result.field.values, result.plan, result.question.labels, axes)
            _draw_routes(result, graph, axes, zorder=6)
        figure.savefig(path)


def _draw_diagram(result: Result, graph: Graph, axes: Any) -> None:
    """Discs and arrows of one size on paper, whatever the graph's: names are readable between."""
    places = graph.positions
    assert places is not None
    size = 9.0 if graph.num_vertices <= _NAMED else 5.0
    _draw_edges(graph, axes, size)
    _draw_routes(result, graph, axes, zorder=1.5)
    for x in np.flatnonzero(_moves(result)).tolist():
        colour = _INK if result.plan.reached[x] else _LOOP
        _draw_arrow(axes, places[x], places[result.plan.successor[x]], colour, size)
    drawn = _draw_discs(axes, places, result, size)
    if np.ptp(result.field.values[result.plan.reachable]) > 0:
        bar = axes.figure.colorbar(drawn, ax=axes, shrink=0.7, aspect=26, pad=0.02, label="value")
        bar.outline.set_visible(False)
    _draw_legend(result, axes.figure)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.12)
    axes.set_axis_off()
    sizes = np.full(graph.num_vertices, size)
    sizes[result.plan.goal] = _star(size)
    place_names(axes, places, _names(result), sizes)


def _draw_edges(graph: Graph, axes: Any, size: float) -> None:
    places = graph.positions
    assert places is not None
    if graph.directed:
        for x, y in zip(graph.tails.tolist(), graph.indices.tolist(), strict=True):
            _draw_arrow(axes, places[x], places[y], _EDGE, size)
    else:
        ends = np.stack([places[graph.tails], places[graph.indices]], axis=1)
        lines = need("matplotlib.collections", "plots").LineCollection(ends, colors=_EDGE, lw=0.8)
        axes.add_collection(lines)


def _draw_routes(result: Result, graph: Graph, axes: Any, zorder: float) -> None:
    """Draw the routes that were asked for as broad bands."""
    places = graph.positions
    assert places is not None
    look: dict[str, Any] = {"color": _ROUTE, "lw": 5, "alpha": 0.6, "zorder": zorder}
    for start in result.question.starts:
        path = result.plan.rollout(start).path
        axes.plot(*places[path].T, solid_capstyle="round", solid_joinstyle="round", **look)


def _draw_discs(axes: Any, places: FloatArray, result: Result, size: float) -> Any:
    """One disc per vertex: shaded by its value, ringed if it is a label; a star is the goal."""
    able = result.plan.reachable
    rings: dict[str, Any] = {
        "linewidths": np.where(_labelled(result), 2.2, 0.7)[able],
        "edgecolors": np.where(_stuck(result), _LOOP, _INK)[able],
    }
    disc: dict[str, Any] = {"s": size**2, "zorder": 3}
    axes.scatter(*places[~able].T, c=_LOST, marker="X", **disc)
    shades = result.field.values[able]
    drawn = axes.scatter(*places[able].T, c=shades, cmap="Blues_r", **rings, **disc)
    star: dict[str, Any] = {"marker": "*", "c": _GOAL, "edgecolors": _INK, "lw": 0.8, "zorder": 4}
    axes.scatter(*places[result.plan.goal], s=_star(size) ** 2, **star)
    return drawn


def _star(size: float) -> float:
    """Width of the goal's star among discs of this width, in points."""
    return max(2.2 * size, 15.0)


def _draw_legend(result: Result, figure: Any) -> None:
    """Explain the marks that occur, and no others."""
    line = need("matplotlib.lines", "plots").Line2D
    ring: dict[str, Any] = {"marker": "o", "ls": "", "mfc": "white", "ms": 7}
    marks = {
        "goal": (True, {"marker": "*", "ls": "", "mfc": _GOAL, "mec": _INK, "ms": 11}),
        "label": (_labelled(result).sum() > 1, ring | {"mec": _INK, "mew": 2.2}),
        "next state": (_moves(result).any(), {"color": _INK, "lw": 1.1, "marker": ">", "ms": 5}),
        "route": (result.question.starts, {"color": _ROUTE, "lw": 5, "alpha": 0.6}),
        "never arrives": (_stuck(result).any(), ring | {"mec": _LOOP, "mew": 1.4}),
        "cannot reach the goal": (
            not result.plan.reachable.all(),
            {"marker": "X", "ls": "", "mfc": _LOST, "mec": _LOST, "ms": 7},
        ),
    }
    shown = [line([], [], label=word, **look) for word, (occurs, look) in marks.items() if occurs]
    look = {"ncols": len(shown), "fontsize": 8, "frameon": False}
    figure.legend(handles=shown, loc="outside lower left", **look)


def _labelled(result: Result) -> BoolArray:
    return result.question.labels.mask(result.question.graph)


def _moves(result: Result) -> BoolArray:
    """Whether a state has a move that is drawn; those that cannot reach the goal have none."""
    successor = result.plan.successor
    elsewhere: BoolArray = (successor >= 0) & (successor != np.arange(successor.size))
    return result.plan.reachable & elsewhere


def _stuck(result: Result) -> BoolArray:
    """Whether the goal can be reached, but not by the plan."""
    return result.plan.reachable & ~result.plan.reached


def _names(result: Result) -> dict[int, str]:
    """Names to draw, the important ones first; of a large graph no others."""
    asked = result.question
    routes = [int(x) for start in asked.starts for x in result.plan.rollout(start).path]
    chosen = [asked.goal, *asked.starts, *asked.labels.vertices.tolist(), *routes]
    n = asked.graph.num_vertices
    if n <= _NAMED:
        chosen += range(n)
    return {x: asked.called(x) for x in list(dict.fromkeys(chosen))[:_NAMED]}


def _draw_arrow(axes: Any, tail: FloatArray, head: FloatArray, colour: str, size: float) -> None:
    """Draw an arrow from disc to disc, those of the graph below those of the plan."""
    look = {"arrowstyle": "-|>", "color": colour, "lw": 1.1, "mutation_scale": 1.3 * size}
    look |= {"shrinkA": size / 2, "shrinkB": size / 2 + 1}
    axes.annotate("", head, tail, arrowprops=look, zorder=1 if colour == _EDGE else 2)
