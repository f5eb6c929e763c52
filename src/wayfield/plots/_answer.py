"""The picture of an answer: a diagram with names if the graph is small, else a field.

Both mark what a summary names: routes, labels, false sinks, values that lift raised, states that
never arrive or cannot. The legend explains those marks that occur.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .._optional import need
from ..graph import Graph
from ..kernels._types import BoolArray, FloatArray, IntArray
from ..names import Caller, Naming
from ..pipeline import Answer
from . import _marks as marks
from ._canvas import make_canvas
from ._field import draw_field
from ._graph import draw_edges
from ._spread import spread
from ._tags import place_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SMALL = 300
"""Vertices up to which a graph is drawn as a diagram."""
MOST_PLACED = 5_000
"""Vertices up to which a graph that has no positions is given some: seconds."""

_NAMED, _NAMED_LARGE = 60, 16  # names written at most, in diagrams and in fields
_INK, _ALARM = "#17222b", "#c8402a"
_LOST, _ROUTE, _RAISED, _MENDED = "#c4c9ce", "#f59f00", "#1b7837", "#d7301f"
_MOST_MENDED = 200  # edges that are dashed


def answer(
    found: Answer,
    names: Naming | None = None,
    starts: Iterable[int] = (),
    ax: Axes | None = None,
    *,
    diagram: bool | None = None,
) -> Axes:
    """Draw the field, the plan, the labels and some routes of an answer.

    If the graph was mended, the title says what was found, and edges that stand out are dashed.

    Parameters
    ----------
    found : Answer
        What `solve` returned. Its graph has positions in the plane, or at most 5,000 vertices:
        then places are found for them.
    names : sequence or mapping, optional
        What to call the vertices: ``names[x]``. Their indices if not given; then only diagrams
        write them. Of the names, those are written for which there is room, the goal's and the
        starts' first, then those of false sinks and of raised values. Large graphs have no others.
    starts : iterable of int
        Where the routes begin that are to be drawn.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    diagram : bool, optional
        Discs and arrows as in a drawing of a graph, or the colours of `field`. By default a
        diagram up to 300 vertices.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges(range(4), range(1, 5))
    >>> found = wf.solve(path, wf.Labels([0, 2, 4], [0.0, 5.0, 4.0]), goal=0)
    >>> axes = wf.plots.answer(found, names=["home", "bridge", "mill", "wood", "farm"])
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['goal', 'label', 'next state', 'no way down', 'never arrives']
    """
    graph = with_places(found.graph)
    if ax is None:
        ax = need("matplotlib.pyplot", "plots").subplots(figsize=(8, 6), layout="constrained")[1]
    small = graph.num_vertices <= SMALL if diagram is None else diagram
    routes = [found.route(start).path for start in starts]
    with warnings.catch_warnings():  # a name the font has no letters for is drawn as boxes
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        if small:
            _draw_diagram(found, graph, Caller(names, graph.num_vertices), routes, ax)
        else:
            _draw_large(found, graph, Caller(names, graph.num_vertices), routes, ax, bool(names))
    if found.mended is not None:
        which = "graph as it is" if found.mended.unchanged else "mended graph"
        marks.draw_title(ax, f"Planned on the {which}: {found.mended.finding(names)}")
    return ax


def has_places(graph: Graph) -> bool:
    """Whether the graph has positions in the plane."""
    return graph.positions is not None and graph.positions.shape[1] == 2


def with_places(graph: Graph) -> Graph:
    """Return the graph with places in the plane: its own, or if it has none some found for it."""
    if has_places(graph) or graph.num_vertices > MOST_PLACED:
        return graph
    return graph.with_positions(spread(graph))


def _draw_diagram(
    found: Answer, graph: Graph, call: Caller, routes: list[IntArray], ax: Axes
) -> None:
    """Discs and arrows of one size on paper, whatever the graph's: names are readable between."""
    places = _places(graph)
    canvas = make_canvas(ax, graph, places)
    size = float(np.clip(0.19 * canvas.room, 4.5, 9.0))
    entries = [*_draw_mended(found, graph, ax), *draw_edges(canvas)]
    _draw_routes(graph, routes, ax, zorder=1.5)
    for x in np.flatnonzero(_moves(found)).tolist():
        colour = _INK if found.plan.reached[x] else _ALARM
        _draw_arrow(ax, places[x], places[found.plan.successor[x]], colour, size)
    drawn = _draw_discs(ax, places, found, size)
    _draw_culprits(found, graph, ax, 1.9 * size)
    if np.ptp(found.values[found.plan.reachable]) > 0:
        bar = ax.figure.colorbar(drawn, ax=ax, shrink=0.7, aspect=26, pad=0.02, label="value")
        bar.outline.set_visible(False)
    marks.draw_legend(ax, [*_legend(found, routes), *entries])
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.12)
    ax.set_axis_off()
    sizes = np.full(graph.num_vertices, size)
    sizes[np.union1d(found.false_sinks, found.raised_states)] = 1.9 * size
    sizes[found.goal] = _star(size)
    others = range(graph.num_vertices) if graph.num_vertices <= _NAMED else ()
    chosen = [*_important(found, routes), *found.labels.vertices, *np.concatenate([[], *routes])]
    place_names(ax, places, _called(call, [*chosen, *others]), sizes)


def _draw_large(
    found: Answer, graph: Graph, call: Caller, routes: list[IntArray], ax: Axes, named: bool
) -> None:
    """Draw the field, with routes and culprits on top; names keep off what is marked, not all."""
    star, *entries = draw_field(graph, found.values, found.plan, found.labels, ax)
    entries = [*_draw_mended(found, graph, ax), *entries]
    _draw_routes(graph, routes, ax, zorder=6)
    _draw_culprits(found, graph, ax, 7.0)
    marks.draw_legend(ax, [star, *_legend_answer(found, routes), *entries])
    if named:
        sizes = np.zeros(graph.num_vertices)
        sizes[np.union1d(found.labels.vertices, found.raised_states)] = 7.0
        sizes[found.goal] = 15.0
        called = _called(call, _important(found, routes)[:_NAMED_LARGE])
        place_names(ax, _places(graph), called, sizes)


def _places(graph: Graph) -> FloatArray:
    assert graph.positions is not None
    return graph.positions


def _draw_mended(found: Answer, graph: Graph, ax: Axes) -> list[Any]:
    """Dash the edges that were found to be dearer than believed; return their legend entry."""
    if found.mended is None or not found.mended.suspects.size:
        return []
    arcs, places = found.mended.suspects[:_MOST_MENDED], _places(graph)
    ends = np.stack([places[graph.tails[arcs]], places[graph.indices[arcs]]], axis=1)
    look: dict[str, Any] = {"linewidths": 2.0, "linestyles": "dashed", "zorder": 2.5}
    lines = need("matplotlib.collections", "plots").LineCollection(ends, colors=_MENDED, **look)
    ax.add_collection(lines, autolim=False)
    return [_entry("costs more than believed", color=_MENDED, lw=2, ls="--")]


def _draw_routes(graph: Graph, routes: list[IntArray], ax: Axes, zorder: float) -> None:
    """Draw routes as broad bands."""
    look: dict[str, Any] = {"color": _ROUTE, "lw": 5, "alpha": 0.6, "zorder": zorder}
    for path in routes:
        x, y = _places(graph)[path].T
        ax.plot(x, y, solid_capstyle="round", solid_joinstyle="round", **look)


def _draw_discs(ax: Axes, places: FloatArray, found: Answer, size: float) -> Any:
    """One disc per vertex: shaded by its value, ringed if it is a label; a star is the goal."""
    able = found.plan.reachable
    rings: dict[str, Any] = {
        "linewidths": np.where(_labelled(found), 2.2, 0.7)[able],
        "edgecolors": np.where(_stuck(found), _ALARM, _INK)[able],
    }
    disc: dict[str, Any] = {"s": size**2, "zorder": 3}
    x, y = places[~able].T
    ax.scatter(x, y, c=_LOST, marker="X", **disc)
    x, y = places[able].T
    drawn = ax.scatter(x, y, c=found.values[able], cmap="Blues_r", **rings, **disc)
    star: dict[str, Any] = {"marker": "*", "c": marks.GOAL, "edgecolors": _INK, "zorder": 4}
    x, y = places[found.goal]
    ax.scatter(x, y, s=_star(size) ** 2, linewidths=0.8, **star)
    return drawn


def _draw_culprits(found: Answer, graph: Graph, ax: Axes, size: float) -> None:
    """Point down at labels without a way down, and up at values that were raised."""
    look: dict[str, Any] = {"s": size**2, "facecolors": "none", "linewidths": 1.6, "zorder": 7}
    culprits = ((found.false_sinks, "v", _ALARM), (found.raised_states, "^", _RAISED))
    for states, marker, colour in culprits:
        x, y = _places(graph)[states].T
        ax.scatter(x, y, marker=marker, edgecolors=colour, **look)


def _star(size: float) -> float:
    """Width of the goal's star among discs of this width, in points."""
    return max(2.2 * size, 15.0)


def _legend(found: Answer, routes: list[IntArray]) -> Iterator[Any]:
    """Legend entries of a diagram: of the marks that occur, and of no others."""
    ring: dict[str, Any] = {"marker": "o", "ls": "", "mfc": "white", "ms": 7}
    yield marks.legend_star("goal")
    if _labelled(found).sum() > 1:
        yield _entry("label", mec=_INK, mew=2.2, **ring)
    if _moves(found).any():
        yield marks.legend_arrow("next state")
    yield from _legend_answer(found, routes)
    if _stuck(found).any():
        yield _entry("never arrives", mec=_ALARM, mew=1.4, **ring)
    if not found.plan.reachable.all():
        yield _entry("cannot reach the goal", marker="X", ls="", mfc=_LOST, mec=_LOST, ms=7)


def _legend_answer(found: Answer, routes: list[IntArray]) -> Iterator[Any]:
    """Legend entries of what an answer adds to its field."""
    tip: dict[str, Any] = {"ls": "", "mfc": "none", "mew": 1.6, "ms": 8}
    if routes:
        yield _entry("route", color=_ROUTE, lw=5, alpha=0.6)
    if found.false_sinks.size:
        yield _entry("no way down", marker="v", mec=_ALARM, **tip)
    if found.raised_states.size:
        yield _entry("raised", marker="^", mec=_RAISED, **tip)


def _entry(text: str, **look: Any) -> Any:
    return need("matplotlib.lines", "plots").Line2D([], [], label=text, **look)


def _labelled(found: Answer) -> BoolArray:
    return found.labels.mask(found.graph)


def _moves(found: Answer) -> BoolArray:
    """Whether a state has a move that is drawn; those that cannot reach the goal have none."""
    successor = found.plan.successor
    elsewhere: BoolArray = successor != np.arange(successor.size)
    return found.plan.reachable & elsewhere


def _stuck(found: Answer) -> BoolArray:
    """Whether the goal can be reached, but not by the plan."""
    return found.plan.reachable & ~found.plan.reached


def _important(found: Answer, routes: list[IntArray]) -> list[int]:
    """Vertices to name before all others, in this order."""
    starts = [int(path[0]) for path in routes]
    return [found.goal, *starts, *found.false_sinks.tolist(), *found.raised_states.tolist()]


def _called(call: Caller, vertices: Iterable[int]) -> dict[int, str]:
    """Names of the first of these vertices."""
    first = list(dict.fromkeys(int(x) for x in vertices))[:_NAMED]
    return {x: call(x) for x in first}


def _draw_arrow(ax: Axes, tail: FloatArray, head: FloatArray, colour: str, size: float) -> None:
    """Draw an arrow from disc to disc."""
    look = {"arrowstyle": "-|>", "color": colour, "lw": 0.5 + size / 15}
    look |= {"mutation_scale": 1.3 * size, "shrinkA": size / 2, "shrinkB": size / 2 + 1}
    ax.annotate("", tuple(head), tuple(tail), arrowprops=look, zorder=2)
