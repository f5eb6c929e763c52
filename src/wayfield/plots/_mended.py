"""The picture of a mended graph: what every edge costs more than believed, as its colour."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from .._optional import need
from ..kernels._types import FloatArray
from ..labels import Labels
from ..mending import Mended, Trips
from ..mending.findings import edges_once
from ..mending.text import SAME
from ..names import Caller, Naming
from . import _marks as marks
from ._answer import with_places
from ._canvas import make_canvas, plane
from ._tags import place_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_UNCHANGED, _ENDS = "#b9c0c7", "#17222b"
_NAMED = 12  # names written at most
_WIDEST = 3.2  # lines, in points


def mended(
    found: Mended,
    names: Naming | None = None,
    data: Labels | Trips | None = None,
    goal: int | None = None,
    ax: Axes | None = None,
    *,
    unit: str = "",
) -> Axes:
    """Draw every edge in the colour of what it costs more than believed; the title says the rest.

    Edges that cost what was believed, give or take 5 %, are grey and thin, dearer ones red, cheaper
    ones blue; the more, the darker and the broader.

    Parameters
    ----------
    found : Mended
        What `mend` returned. Its graph has positions in the plane, or at most 5,000 vertices: then
        places are found for them.
    names : sequence or mapping, optional
        What to call the vertices: ``names[x]``. Ends of the edges that stand out most
        (`Mended.suspects`) are named, and no others but the goal.
    data : Labels or Trips, optional
        What the graph was mended by: its vertices are marked.
    goal : int, optional
        Where the labels lead, marked by a star.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    unit : str
        Of the costs, for the colour bar.

    Examples
    --------
    >>> import wayfield as wf
    >>> ring = wf.Graph.from_edges([*range(10), 0], [*range(1, 10), 0, 5])
    >>> labels = wf.Labels([0, 4, 5], [0.0, 4.0, 5.0])
    >>> found = wf.mend(ring, labels, 0, wf.LeastChange())
    >>> axes = wf.plots.mended(found, data=labels, goal=0)
    >>> axes.figure.axes[-1].get_ylabel()
    'added cost'
    """
    graph = with_places(found.believed)
    places = plane(graph)
    if ax is None:
        ax = need("matplotlib.pyplot", "plots").subplots(figsize=(8, 6), layout="constrained")[1]
    canvas = make_canvas(ax, graph, places)
    edges = edges_once(found)
    added, order = edges.added, np.argsort(np.abs(edges.added), kind="stable")
    ends = np.stack([places[edges.tails], places[edges.heads]], axis=1)
    if graph.directed:
        ends = _aside(ends, 0.9 * canvas.point)
    thin = float(np.clip(0.08 * canvas.room, 0.4, 1.2))
    near = np.abs(edges.times - 1.0) <= SAME
    same = order[near[order]]
    lines = need("matplotlib.collections", "plots").LineCollection
    ax.add_collection(lines(ends[same], colors=_UNCHANGED, linewidths=thin, zorder=1))
    changed = order[~near[order]]
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
        bar.set_label(f"added cost ({unit})" if unit else "added cost")
        bar.ax.set_ylim(min(added.min(), 0.0), max(added.max(), 0.0))
        bar.outline.set_visible(False)
    sizes = _draw_data(ax, places, data, goal, 0.8 * max(canvas.disc, 4.0))
    marks.draw_legend(ax, _legend(bool(same.size), data, goal))
    marks.draw_title(ax, found.finding(names))
    ax.update_datalim(places)
    ax.autoscale_view()
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.06)
    ax.set_axis_off()
    if names is not None:
        tails, heads = found.believed.tails, found.believed.indices
        worst = [int(x) for arc in found.suspects for x in (tails[arc], heads[arc])]
        call = Caller(names, graph.num_vertices)
        chosen = dict.fromkeys([*([] if goal is None else [goal]), *worst])
        with warnings.catch_warnings():  # a name the font has no letters for is drawn as boxes
            warnings.filterwarnings("ignore", message="Glyph .* missing")
            place_names(ax, places, {x: call(x) for x in list(chosen)[:_NAMED]}, sizes)
    return ax


def _aside(ends: FloatArray, shift: float) -> FloatArray:
    """Move every arc to its right, so that the two ways between vertices lie side by side."""
    way = ends[:, 1] - ends[:, 0]
    length = np.hypot(*way.T)
    length[length == 0.0] = 1.0
    right = np.column_stack([way[:, 1], -way[:, 0]]) / length[:, None]
    moved: FloatArray = ends + shift * right[:, None, :]
    return moved


def _scale(added: FloatArray) -> tuple[Any, Any]:
    """Colours for what is added: from pale to dark by the root, blue below 0 if there is any."""
    colours = need("matplotlib.colors", "plots")
    low, high = float(added.min()), float(added.max())
    most = max(-low, high)
    red = ("#fdd49e", "#fc8d59", "#d7301f", "#7f0000")
    blue = ("#08306b", "#2171b5", "#6baed6", "#c6dbef")
    parts: tuple[str, ...] = red if low >= 0.0 else blue if high <= 0.0 else (*blue, *red)
    first, last = (0.0 if low >= 0.0 else -most), (0.0 if high <= 0.0 else most)
    norm = colours.FuncNorm((_root, _square), vmin=first, vmax=last)
    return norm, colours.LinearSegmentedColormap.from_list("added", parts)


def _root(value: FloatArray) -> FloatArray:
    rooted: FloatArray = np.sign(value) * np.sqrt(np.abs(value))
    return rooted


def _square(value: FloatArray) -> FloatArray:
    squared: FloatArray = np.sign(value) * np.square(value)
    return squared


def _draw_data(
    ax: Axes, places: FloatArray, data: Labels | Trips | None, goal: int | None, size: float
) -> FloatArray:
    """Mark what the graph was mended by; return the diameters of the marks, in points."""
    sizes = np.zeros(len(places))
    for vertices, marker, colour in _marked(data):
        look: dict[str, Any] = {"marker": marker, "c": colour, "edgecolors": _ENDS, "lw": 1.0}
        x, y = places[vertices].T
        ax.scatter(x, y, s=size**2, zorder=3, **look)
        sizes[vertices] = size
    if goal is not None:
        star: dict[str, Any] = {"marker": "*", "c": marks.GOAL, "edgecolors": _ENDS, "lw": 0.8}
        x, y = places[goal]
        ax.scatter(x, y, s=(2.4 * size) ** 2, zorder=4, **star)
        sizes[goal] = 2.4 * size
    return sizes


def _marked(data: Labels | Trips | None) -> list[tuple[Any, str, str]]:
    if isinstance(data, Labels):
        return [(data.vertices, "o", "white")]
    if isinstance(data, Trips):
        return [(np.unique(data.starts), "o", "white"), (np.unique(data.ends), "s", marks.GOAL)]
    return []


def _legend(same: bool, data: Labels | Trips | None, goal: int | None) -> list[Any]:
    """Legend entries of what occurs."""
    line: Any = need("matplotlib.lines", "plots").Line2D
    dot: dict[str, Any] = {"ls": "", "mec": _ENDS, "ms": 6}
    entries = []
    if goal is not None:
        entries.append(marks.legend_star("goal"))
    if isinstance(data, Labels):
        entries.append(line([], [], marker="o", mfc="white", label="label", **dot))
    if isinstance(data, Trips):
        entries.append(line([], [], marker="o", mfc="white", label="start of a trip", **dot))
        entries.append(line([], [], marker="s", mfc=marks.GOAL, label="end of a trip", **dot))
    if same:
        told = f"as believed, within {100 * SAME:g} %"
        entries.append(line([], [], color=_UNCHANGED, lw=1.2, label=told))
    return entries
