"""Pictures of an answer, names included.

An answer is a field with all that a summary names: routes, labels, false sinks, values that `lift`
raised, states that never arrive or cannot. Legends explain the marks that occur.

**Positions** of vertices that have none: the stress Σ w (|x_i - x_j| - d_ij)², with w = 1/d² and d
the shortest path in edges, is least when distances in the picture match those in the graph. Only
some pairs count: those with an edge, and those with one of `_PIVOTS` vertices spread over the
graph. Each pivot represents the vertices nearest to it (U. Brandes, C. Pich, *Eigensolver methods
for progressive multidimensional scaling of large data*, 2007; M. Ortmann, M. Klimenta, U. Brandes,
*A sparse stress model*, 2016).
The layout starts from classical scaling. In each step, all points move halfway to the minimum of
their own terms. This works well in practice, but the stress may grow.

Every component is laid out separately. The largest comes first, the others follow in a row below
it, smaller.

**Names** are placed one after another, the important ones first. Each takes the first place round
its vertex, beside it or a little way off, where its box is inside the picture and overlaps no disc,
name, colour bar or legend. A name without such a place is not drawn.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import shortest_path

from ..advice import Answer
from ..checks import need
from ..graphs.graph import Graph
from ..graphs.names import Caller, Naming
from ..typing import FloatArray, IntArray
from . import marks
from .field import draw_field, plane

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


# ------------------------------------------------------------------ positions and names

_PIVOTS, _STEPS = 50, 100
_NEAR = 1e-9  # points are never treated as closer than this
_GAP, _SMALLER = 1.2, 0.5
"""Room between components, and edges of all but the largest, in edges of the largest."""

_SIDES = ((1, 1), (1, -1), (-1, 1), (-1, -1), (0, 1), (0, -1), (1, 0), (-1, 0))
_AWAY = (1.02, 3.0, 5.0)
"""Distances from a vertex to its name, in radii of the disc; a thin line leads to the far ones."""
_LETTERS = 40
"""Number of letters of the longest name that is written in full."""
_BOX = {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.6}


def spread(graph: Graph) -> FloatArray:
    """Return (n, 2) positions, typical edges of length 1."""
    n = graph.num_vertices
    hops = sparse.csr_array((np.ones(graph.num_arcs), graph.indices, graph.indptr), shape=(n, n))
    members = [np.flatnonzero(graph.components == c) for c in np.unique(graph.components)]
    members.sort(key=len, reverse=True)
    points, left, top, wide = np.zeros((n, 2)), 0.0, 0.0, 0.0
    for at in members:  # the largest, then rows of the others below, no wider than they are deep
        piece = _by_pivots(hops[at][:, at]) if at.size > 1 else np.zeros((1, 2))
        piece = piece if at is members[0] else _SMALLER * piece
        width = np.ptp(piece[:, 0]) + _GAP
        if left and left + width > wide:
            left, top = 0.0, points[:, 1].min() - _GAP
        points[at] = piece - [piece[:, 0].min(), piece[:, 1].max()] + [left, top]
        left, wide = left + width, max(wide, width, -top)
    return points


def _by_pivots(hops: sparse.csr_array) -> FloatArray:
    """Return (n, 2) positions by edges, and by distances from vertices that are far apart."""

    def hops_from(vertex: int) -> FloatArray:
        found: FloatArray = shortest_path(
            hops, "D", directed=False, unweighted=True, indices=vertex
        )
        return found

    chosen, columns = [0], [hops_from(0)]
    nearest = columns[0]
    while len(chosen) < min(_PIVOTS, nearest.size):
        chosen.append(int(nearest.argmax()))
        columns.append(hops_from(chosen[-1]))
        nearest = np.minimum(nearest, columns[-1])
    pivots, distance = np.array(chosen), np.column_stack(columns)
    # pivot scaling: the two leading left singular vectors, at the size of the distances
    squares = distance**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    _, vectors = np.linalg.eigh(centred.T @ centred)
    points: FloatArray = centred @ vectors[:, :-3:-1]
    points *= np.sign(points.sum(axis=0) + 1e-12)  # the sign of an eigenvector is arbitrary
    turn = np.arange(len(points))  # no two in one place: they would stay there
    size = 1e-3 * np.sqrt(np.square(points).mean())
    points += size * np.column_stack([np.cos(turn), np.sin(turn)])
    between = np.hypot(*(points[:, None] - points[pivots]).transpose(2, 0, 1))
    points *= (between * distance).sum() / (between**2).sum()
    # each pivot stands for the vertices nearest to it
    stands_for = np.bincount(distance.argmin(axis=1), minlength=pivots.size)
    distance[pivots, np.arange(pivots.size)] = 1.0
    weight = stands_for / distance**2
    weight[pivots, np.arange(pivots.size)] = 0.0
    tails, heads = (hops + hops.T).tocoo().coords
    total = weight.sum(axis=1) + np.bincount(tails, minlength=len(points))
    for _ in range(_STEPS):
        way = points[:, None] - points[pivots]
        reach = distance / np.maximum(np.hypot(way[..., 0], way[..., 1]), _NEAR)
        wanted = np.einsum("np,npd->nd", weight, points[pivots] + way * reach[..., None])
        step = points[tails] - points[heads]
        step /= np.maximum(np.hypot(*step.T), _NEAR)[:, None]
        np.add.at(wanted, tails, points[heads] + step)
        points = 0.5 * (points + wanted / total[:, None])
    return points


def write_names(
    ax: Axes,
    places: FloatArray,
    names: Naming | None,
    vertices: Iterable[int],
    most: int,
    sizes: FloatArray,
) -> list[int]:
    """Write names of vertices, the first ones first, where there is room; return those written.

    Parameters
    ----------
    ax : matplotlib Axes
        Axes on which everything else has been drawn.
    places : (n, 2) float array
        The vertices.
    names : sequence or mapping, optional
        Their names; by default their indices.
    vertices : iterable of int
        The vertices to name, in this order.
    most : int
        The most names to write.
    sizes : (n,) float array
        Diameters of the discs, in points; names may lie over those of size 0.
    """
    call = Caller(names, len(places))
    figure: Any = ax.figure
    look: dict[str, Any] = {"fontsize": 8, "bbox": _BOX, "zorder": 5, "parse_math": False}
    look |= {"textcoords": "offset points", "va": "bottom", "annotation_clip": False}
    figure.draw_without_rendering()  # where vertices lie in pixels
    reach = (sizes[:, None] / 2 + 1) * figure.dpi / 72
    discs = ax.transData.transform(places)
    # boxes of the discs, the legend and all other axes, their numbers included
    furniture = [each.get_tightbbox() for each in figure.axes if each is not ax]
    legend = ax.get_legend()
    furniture += [] if legend is None else [legend.get_window_extent()]
    kept = [box.extents for box in furniture if box is not None]
    taken = np.vstack([np.hstack([discs - reach, discs + reach])[sizes > 0], *kept])
    whole = figure.bbox.extents + np.array([4, 4, -4, -4])
    written: list[int] = []
    for x in list(dict.fromkeys(map(int, vertices)))[:most]:
        name = call(x)
        if len(name) > _LETTERS:  # without its middle: names differ mostly at their ends
            name = f"{name[: _LETTERS // 2]}…{name[1 - _LETTERS // 2 :]}"
        text = ax.annotate(name, places[x], (0, 0), **look)
        with warnings.catch_warnings():  # letters that the font lacks are drawn as boxes
            warnings.filterwarnings("ignore", message="Glyph .* missing")
            extent = text.get_window_extent()
        text.remove()
        size = np.array([extent.width, extent.height])
        for away, side in product(_AWAY, _SIDES):
            middle = discs[x] + np.array(side) * (away * reach[x, 0] + size / 2)
            box = np.concatenate([middle - size / 2, middle + size / 2])
            inside = (box[:2] >= whole[:2]).all() and (box[2:] <= whole[2:]).all()
            apart = (taken[:, :2] >= box[2:]) | (taken[:, 2:] <= box[:2])
            if inside and apart.any(axis=1).all():
                line = {"arrowstyle": "-", "lw": 0.6, "color": "#5c6770"}
                look["arrowprops"] = line if away > _AWAY[0] else None
                offset = (box[:2] - discs[x]) * 72 / figure.dpi
                ax.annotate(name, places[x], offset, **look).set_in_layout(False)
                taken = np.vstack([taken, box])
                written.append(x)
                break
    return written
