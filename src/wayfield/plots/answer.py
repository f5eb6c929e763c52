"""Pictures of an answer, names included.

An answer is a field with all that a summary names: routes, labels, false sinks, values that `lift`
raised, states that never arrive or cannot. Legends explain the marks that occur.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..advice import Answer
from ..checks import need
from ..graphs.graph import Graph
from ..graphs.names import Caller, Naming
from ..typing import FloatArray, IntArray
from . import marks
from .field import draw_field, plane
from .places import place_names, spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_PLACED = 5_000
"""Largest graph without positions for which some are computed, in vertices: it takes seconds."""

_NAMED, _NAMED_LARGE = 60, 16  # names written at most
_ALARM, ROUTE, _RAISED = "#c8402a", "#f59f00", "#1b7837"
_MARK = 7.0  # diameter of false sinks and raised values, in points


def answer(
    found: Answer,
    names: Naming | None = None,
    starts: Iterable[int] = (),
    ax: Axes | None = None,
) -> Axes:
    """Draw the field, the plan, the labels and some routes of an answer.

    Parameters
    ----------
    found : Answer
        Result of `solve`. Its graph has positions in the plane, or at most 5,000 vertices: then
        positions are computed.
    names : sequence or mapping, optional
        Names of the vertices: ``names[x]``. Default: the graph's own. Names are written where there
        is room: first the goal and the starts, then false sinks and raised values. Only small
        graphs show others.
    starts : iterable of int
        Starts of the routes to draw.
    ax : matplotlib Axes, optional
        Axes to draw on. Default: a new figure.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges(range(4), range(1, 5))
    >>> found = wf.solve(path, wf.Labels([0, 2, 4], [0.0, 5.0, 4.0]), goal=0)
    >>> axes = wf.plots.answer(found, names=["home", "bridge", "mill", "wood", "farm"])
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['goal', 'false sink', 'label', 'next state', 'never arrives', 'loop']
    """
    graph = with_places(found.graph)
    names = graph.names if names is None else names
    places = plane(graph)
    if ax is None:
        ax = need("matplotlib.pyplot", "plots").subplots(figsize=(8, 6), layout="constrained")[1]
    routes = [found.route(start).path for start in starts]
    starting = [int(path[0]) for path in routes]
    first = [found.goal, *starting, *found.false_sinks.tolist(), *found.raised_states.tolist()]
    star, *entries = draw_field(graph, found.values, found.plan, found.labels, ax)
    added = _draw_found(found, places, routes, ax)
    marks.draw_legend(ax, [star, *added, *entries])
    sizes = np.zeros(graph.num_vertices)  # names avoid marks, but may cover other vertices
    sizes[np.union1d(found.labels.vertices, found.raised_states)] = _MARK
    sizes[found.goal] = 15.0
    if graph.num_vertices <= _NAMED:  # on small graphs they cover no vertex
        sizes[sizes == 0.0] = _MARK
        first += [*found.labels.vertices, *np.concatenate([[], *routes]), *range(len(places))]
    first = first if graph.num_vertices <= _NAMED else first[:_NAMED_LARGE]
    if names is not None:
        write_names(ax, places, names, first, _NAMED, sizes)
    return ax


def has_places(graph: Graph) -> bool:
    """Whether the graph has positions in the plane."""
    return graph.positions is not None and graph.positions.shape[1] == 2


def with_places(graph: Graph) -> Graph:
    """Return the graph with positions in the plane: its own, or computed ones."""
    if has_places(graph) or graph.num_vertices > MOST_PLACED:
        return graph
    return graph.with_positions(spread(graph))


def _draw_found(found: Answer, places: FloatArray, routes: list[IntArray], ax: Axes) -> list[Any]:
    """Draw routes, labels without a descending arc and raised values; return legend entries."""
    entries = []
    band: dict[str, Any] = {"color": ROUTE, "linewidth": 5, "alpha": 0.6}
    for path in routes:
        caps: dict[str, Any] = {"solid_capstyle": "round", "solid_joinstyle": "round"}
        ax.plot(*places[path].T, zorder=1.7, **band, **caps)  # below arrows and discs
    if routes:
        entries.append(marks.entry("line", "route", **band))
    look: dict[str, Any] = {"s": _MARK**2, "facecolors": "none", "linewidths": 1.6, "zorder": 7}
    for text, states, marker, colour in (
        ("false sink", found.false_sinks, "v", _ALARM),
        ("raised", found.raised_states, "^", _RAISED),
    ):
        scatter(ax, places[states], marker=marker, edgecolors=colour, **look)
        if states.size:
            tip: dict[str, Any] = {"markerfacecolor": "none", "markeredgewidth": 1.6}
            tip |= {"markeredgecolor": colour, "markersize": 8}
            entries.append(marks.entry("other", text, marker=marker, **tip))
    return entries


def scatter(ax: Axes, points: FloatArray, **look: Any) -> Any:
    """Draw marks at these points."""
    x, y = points.T
    return ax.scatter(x, y, **look)


def write_names(
    ax: Axes,
    places: FloatArray,
    names: Naming | None,
    vertices: Iterable[int],
    most: int,
    sizes: FloatArray,
) -> None:
    """Write the names of these vertices, the first ones first, where there is room."""
    call = Caller(names, len(places))
    first = list(dict.fromkeys(int(x) for x in vertices))[:most]
    with warnings.catch_warnings():  # letters that the font lacks are drawn as boxes
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        place_names(ax, places, {x: call(x) for x in first}, sizes)
