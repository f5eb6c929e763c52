"""Pictures of an answer and of a mended graph, names included.

An answer is a field with all that a summary names: routes, labels, false sinks, values that `lift`
raised, states that never arrive or cannot.
A mended graph shows false edges crossed out, and slow and quick places in colour. Legends explain
the marks that occur.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..advice import Answer
from ..checks import need
from ..graphs.graph import Graph
from ..graphs.labels import Labels
from ..graphs.names import Caller, Naming
from ..travel import Mended, Named, Trips
from ..travel.facts import edges_once
from ..travel.text import SAME
from ..typing import BoolArray, FloatArray, IntArray
from . import marks
from .field import draw_field, make_canvas, plane
from .places import place_names, spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_PLACED = 5_000
"""Largest graph without positions for which some are computed, in vertices: it takes seconds."""

_NAMED, _NAMED_LARGE, _NAMED_MENDED = 60, 16, 12  # names written at most
_INK, _ALARM = "#17222b", "#c8402a"
_ROUTE, _RAISED, _MENDED = "#f59f00", "#1b7837", "#d7301f"
_UNCHANGED, _FALSE = "#b9c0c7", "#6a1b9a"
_MOST_MENDED = 200  # edges that are dashed
_WIDEST = 3.2  # lines, in points
_MARK = 7.0  # diameter of false sinks and raised values, in points


def answer(
    found: Answer,
    names: Naming | None = None,
    starts: Iterable[int] = (),
    ax: Axes | None = None,
) -> Axes:
    """Draw the field, the plan, the labels and some routes of an answer.

    If the graph was mended, the title says what was found, and edges that stand out are dashed.

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
    >>> from wayfield import travel
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
    entries = [*_draw_mended(found, graph, places, ax), *entries]
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
        _write_names(ax, places, names, first, _NAMED, sizes)
    if found.mended is not None:
        which = "graph as it is" if found.mended.unchanged else "mended graph"
        marks.draw_title(ax, f"Planned on the {which}: {found.mended.finding(names)}")
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
    band: dict[str, Any] = {"color": _ROUTE, "linewidth": 5, "alpha": 0.6}
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
        _scatter(ax, places[states], marker=marker, edgecolors=colour, **look)
        if states.size:
            tip: dict[str, Any] = {"markerfacecolor": "none", "markeredgewidth": 1.6}
            tip |= {"markeredgecolor": colour, "markersize": 8}
            entries.append(marks.entry("other", text, marker=marker, **tip))
    return entries


def _scatter(ax: Axes, points: FloatArray, **look: Any) -> Any:
    x, y = points.T
    return ax.scatter(x, y, **look)


def _draw_mended(found: Answer, graph: Graph, places: FloatArray, ax: Axes) -> list[Any]:
    """Dash the edges that cost more than the graph says; return their legend entry."""
    if found.mended is None or not found.mended.suspects.size:
        return []
    arcs = found.mended.suspects[:_MOST_MENDED]
    ends = np.stack([places[graph.tails[arcs]], places[graph.indices[arcs]]], axis=1)
    look: dict[str, Any] = {"linewidths": 2.0, "linestyles": "dashed", "zorder": 2.5}
    lines = need("matplotlib.collections", "plots").LineCollection(ends, colors=_MENDED, **look)
    ax.add_collection(lines, autolim=False)
    dashes = {"color": _MENDED, "linewidth": 2, "linestyle": "--"}
    return [marks.entry("line", "costs more than the graph says", **dashes)]


def _write_names(
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


def mended(
    found: Mended,
    names: Naming | None = None,
    data: Labels | Trips | None = None,
    goal: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw what is wrong with the graph, under a title that sums up the findings.

    Edges that do not exist are dashed and crossed out, suspected ones are dotted. Edges of slow
    places are red, those of quick places blue: the larger the difference, the darker and the
    broader. A common factor and waits are left out of the colours, so that places stand out. All
    other edges are grey and thin.

    A method that was asked for by name makes no findings. Then every edge has the colour of its
    added cost, beyond the median factor.

    Parameters
    ----------
    found : Mended
        Result of `mend`. Its graph has positions in the plane, or at most 5,000 vertices: then
        positions are computed.
    names : sequence or mapping, optional
        Names of the vertices: ``names[x]``. Only the goal and the ends of the edges that stand out
        most (`Mended.suspects`) are named.
    data : Labels or Trips, optional
        The data that the graph was mended by; its vertices are marked.
    goal : int, optional
        Goal of the labels, marked by a star.
    ax : matplotlib Axes, optional
        Axes to draw on. Default: a new figure.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield import travel
    >>> ring = wf.Graph.from_edges([*range(10), 0], [*range(1, 10), 0, 5])
    >>> labels = wf.Labels([0, 4, 5], [0.0, 4.0, 5.0])
    >>> found = travel.mend(ring, labels, 0, travel.LeastChange())
    >>> axes = wf.plots.mended(found, data=labels, goal=0)
    >>> axes.figure.axes[-1].get_ylabel()
    'added cost'
    """
    graph = with_places(found.believed)
    names = graph.names if names is None else names
    places = plane(graph)
    if ax is None:
        ax = need("matplotlib.pyplot", "plots").subplots(figsize=(8, 6), layout="constrained")[1]
    canvas = make_canvas(ax, graph, places)
    edges = edges_once(found)
    # a factor that all edges share would hide the places that are slower than the rest
    by_findings = isinstance(found.method, Named)
    findings = found.findings if by_findings else ()
    factor = float(np.median(edges.times)) if edges.times.size and not by_findings else 1.0
    factor = next((each.amount for each in findings if each.kind == "factor"), factor)
    factor = 1.0 if abs(factor - 1.0) <= SAME else factor
    added = edges.lengths - factor * edges.believed
    near = np.abs(edges.times / factor - 1.0) <= SAME

    def drawn_arcs(*kinds: str, named: bool) -> BoolArray:
        """Whether each edge belongs to findings of these kinds."""
        chosen = [each for each in findings if each.kind in kinds and each.named == named]
        some = [np.empty(0, np.int64), *(each.where for each in chosen)]
        return np.isin(edges.arcs, np.concatenate(some))

    crossed = drawn_arcs("false edge", named=True)
    dotted = drawn_arcs("false edge", named=False)
    if by_findings:
        near = ~drawn_arcs("slow place", "quick place", named=True)
        added = np.where(near, 0.0, added)
    order = np.argsort(np.abs(added), kind="stable")
    ends = places[np.column_stack([graph.tails[edges.arcs], graph.indices[edges.arcs]])]
    if graph.directed:  # move arcs to their right, so that there and back lie side by side
        way = ends[:, 1] - ends[:, 0]
        length = np.hypot(*way.T)
        length[length == 0.0] = 1.0
        right = np.column_stack([way[:, 1], -way[:, 0]]) / length[:, None]
        ends = ends + 0.9 * canvas.point * right[:, None, :]
    thin = float(np.clip(0.08 * canvas.room, 0.4, 1.2))
    plain = near & ~crossed & ~dotted
    same, changed = order[plain[order]], order[~near[order]]
    lines = need("matplotlib.collections", "plots").LineCollection
    ax.add_collection(lines(ends[same], colors=_UNCHANGED, linewidths=thin, zorder=1))
    if changed.size:
        norm, colours = _scale(added)
        share = np.sqrt(np.abs(added[changed]) / np.abs(added).max())
        drawn = lines(
            ends[changed],
            array=added[changed],
            norm=norm,
            cmap=colours,
            linewidths=thin + share * (_WIDEST - thin),
            zorder=2,
            capstyle="round",
        )
        ax.add_collection(drawn)
        bar = ax.figure.colorbar(drawn, ax=ax, shrink=0.7, aspect=26, pad=0.02)
        beyond = f" beyond {factor:.2g} times the given cost" if factor != 1.0 else ""
        bar.set_label(f"added cost{beyond}")
        bar.ax.set_ylim(min(added.min(), 0.0), max(added.max(), 0.0))
        bar.outline.set_visible(False)

    # Edges that do not exist, or may not.
    false_marks = []
    for which, dashes, word in (
        (crossed, (0, (5, 3)), "does not exist"),
        (dotted, (0, (1, 2)), "may not exist"),
    ):
        if which.any():
            bold: dict[str, Any] = {"colors": _FALSE, "linewidths": 1.8, "linestyles": [dashes]}
            ax.add_collection(lines(ends[which], zorder=2.5, **bold))
            dash: dict[str, Any] = {"color": _FALSE, "linewidth": 1.8, "linestyle": dashes}
            false_marks.append(marks.entry("line", word, **dash))
    if crossed.any():
        middle = ends[crossed].mean(axis=1)
        _scatter(ax, middle, s=70.0, zorder=2.6, marker="x", c=_FALSE, linewidths=2.0)

    # What the graph was mended by, and the goal.
    size = 0.8 * max(canvas.disc, 4.0)
    sizes, entries = np.zeros(len(places)), []
    marked: list[tuple[str, IntArray, str, str]] = []
    if isinstance(data, Labels):
        marked = [("label", data.vertices, "o", "white")]
    elif isinstance(data, Trips):
        marked = [("start of a trip", np.unique(data.starts), "o", "white")]
        marked += [("end of a trip", np.unique(data.ends), "s", marks.GOAL)]
    for text, vertices, marker, colour in marked:
        look: dict[str, Any] = {"marker": marker, "c": colour, "edgecolors": _INK, "lw": 1.0}
        _scatter(ax, places[vertices], s=size**2, zorder=3, **look)
        sizes[vertices] = size
        face = {"markerfacecolor": colour, "markeredgecolor": _INK, "markersize": 6}
        entries.append(marks.entry("other", text, marker=marker, **face))
    if goal is not None:
        star: dict[str, Any] = {"marker": "*", "c": marks.GOAL, "edgecolors": _INK, "lw": 0.8}
        _scatter(ax, places[[goal]], s=(2.4 * size) ** 2, zorder=4, **star)
        sizes[goal] = 2.4 * size
        entries.insert(0, marks.entry("star", "goal"))
    entries += false_marks
    if same.size:
        times = f"{factor:.2g} times " if factor != 1.0 else ""
        text = f"within {100 * SAME:g} % of {times}the given cost"
        if by_findings:
            wait = any(each.kind == "wait" for each in findings)
            text = f"{times}the given cost{', and waits' if wait else ''}"
            text = text if times or wait else "as given"
        entries.append(marks.entry("line", text, color=_UNCHANGED, linewidth=1.2))
    marks.draw_legend(ax, entries)
    marks.draw_title(ax, found.finding(names))
    ax.update_datalim(places)
    ax.autoscale_view()
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.06)
    ax.set_axis_off()
    if names is not None:
        tails, heads = found.believed.tails, found.believed.indices
        worst = [x for arc in found.suspects for x in (tails[arc], heads[arc])]
        first = [*([] if goal is None else [goal]), *worst]
        _write_names(ax, places, names, first, _NAMED_MENDED, sizes)
    return ax


def _scale(added: FloatArray) -> tuple[Any, Any]:
    """Return the norm and the colours of added cost: by its root, blue below 0 if there is any."""
    colours = need("matplotlib.colors", "plots")
    low, high = float(added.min()), float(added.max())
    most = max(-low, high)
    red = ("#fdd49e", "#fc8d59", "#d7301f", "#7f0000")
    blue = ("#08306b", "#2171b5", "#6baed6", "#c6dbef")
    parts: tuple[str, ...] = red if low >= 0.0 else blue if high <= 0.0 else (*blue, *red)
    first, last = (0.0 if low >= 0.0 else -most), (0.0 if high <= 0.0 else most)

    def root(value: FloatArray) -> FloatArray:
        return np.sign(value) * np.sqrt(np.abs(value))

    def square(value: FloatArray) -> FloatArray:
        return np.sign(value) * np.square(value)

    norm = colours.FuncNorm((root, square), vmin=first, vmax=last)
    return norm, colours.LinearSegmentedColormap.from_list("added", parts)
