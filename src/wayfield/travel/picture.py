"""Picture of a model: slow roads red, quick roads blue, and what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import need
from ..graphs.names import Naming
from ..plots import marks
from ..plots.answer import scatter, with_places, write_names
from ..plots.field import make_canvas, plane
from .model import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAMED = 12  # names written at most
_INK, _FOUND = "#17222b", "#6a1b9a"
_COLOURS = ("#08519c", "#6baed6", "#c9ced3", "#fc8d59", "#a50f15")
_MOST = 3.0  # times as slow or quick: the ends of the colours


def draw(model: Model, names: Naming | None = None, ax: Axes | None = None) -> Axes:
    """Draw how slow each road is, the ends of the trips, and the places that are wrong.

    The colour of a road is its expected time, beside the median road of the same length. A road is
    the wider, the surer that is. Roads of findings are dashed.

    Parameters
    ----------
    model : Model
        Its graph has positions in the plane, or at most 5,000 vertices: then they are computed.
    names : sequence or mapping, optional
        Names of the vertices. Only ends of roads that were found are named.
    ax : matplotlib Axes, optional
        Axes to draw on. Default: a new figure.
    """
    graph = with_places(model.given)
    names = graph.names if names is None else names
    places = plane(graph)
    if ax is None:
        ax = need("matplotlib.pyplot", "plots").subplots(figsize=(8, 6), layout="constrained")[1]
    canvas = make_canvas(ax, graph, places)
    colours = need("matplotlib.colors", "plots")
    lines = need("matplotlib.collections", "plots").LineCollection

    mean, sd = model.edge_times()
    slow = mean / graph.lengths
    slow /= np.median(slow)
    tails, heads = graph.tails, graph.indices
    arcs = np.arange(graph.num_arcs) if graph.directed else np.flatnonzero(tails < heads)
    ends = places[np.column_stack([tails, heads])]
    if graph.directed:  # move arcs to their right, so that there and back lie side by side
        way = ends[:, 1] - ends[:, 0]
        length = np.hypot(*way.T)
        length[length == 0.0] = 1.0
        right = np.column_stack([way[:, 1], -way[:, 0]]) / length[:, None]
        ends = ends + 0.9 * canvas.point * right[:, None, :]
    # known within a factor of two and narrower: from thin to broad
    sure = np.clip(1.0 - 2.0 * sd / mean, 0.0, 1.0)
    thin = float(np.clip(0.08 * canvas.room, 0.4, 1.2))
    order = arcs[np.argsort(np.abs(np.log(slow[arcs])), kind="stable")]
    drawn = lines(
        ends[order],
        array=slow[order],
        norm=colours.LogNorm(1.0 / _MOST, _MOST),
        cmap=colours.LinearSegmentedColormap.from_list("slow", _COLOURS),
        linewidths=thin + 2.4 * sure[order],
        capstyle="round",
        zorder=1,
    )
    ax.add_collection(drawn)
    bar = ax.figure.colorbar(drawn, ax=ax, shrink=0.7, aspect=26, pad=0.02, extend="both")
    bar.set_label("time, beside the median road of this length")
    bar.set_ticks([1 / 3, 1 / 2, 1, 2, 3], labels=["1/3", "1/2", "1", "2", "3"])
    bar.minorticks_off()
    bar.outline.set_visible(False)

    # the ends of the trips, and the roads of findings
    size = 0.6 * max(canvas.disc, 4.0)
    entries: list[Any] = []
    ends_of = np.unique(np.concatenate([model.trips.starts, model.trips.ends]))
    look: dict[str, Any] = {"marker": "o", "c": "white", "edgecolors": _INK, "lw": 0.8}
    scatter(ax, places[ends_of], s=size**2, zorder=3, **look)
    face = {"markerfacecolor": "white", "markeredgecolor": _INK, "markersize": 5}
    entries.append(marks.entry("other", "end of a trip", marker="o", **face))
    for text, width in (("well known", thin + 2.4), ("hardly known", thin)):
        entries.append(marks.entry("line", text, color="#8d979f", linewidth=width))
    first: list[int] = []
    for found in model.findings:
        if found.kind in ("blocked", "road", "area"):
            which = np.unique(np.concatenate(found.where))
            dash: dict[str, Any] = {"linewidths": 2.2, "linestyles": [(0, (2, 2))], "zorder": 2}
            ax.add_collection(lines(ends[which], colors=_FOUND, **dash))
            first += [] if found.kind == "area" else [int(tails[which[0]]), int(heads[which[0]])]
            if len(entries) == 3:
                line = {"color": _FOUND, "linewidth": 2.2, "linestyle": (0, (2, 2))}
                entries.append(marks.entry("line", "found: see the summary", **line))
    marks.draw_legend(ax, entries)
    ax.update_datalim(places)
    ax.autoscale_view()
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.06)
    ax.set_axis_off()
    if names is not None and first:
        write_names(ax, places, names, first, _NAMED, np.full(len(places), size))
    return ax
