"""Picture of a mended graph: false edges crossed out, slow and quick places in colour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import need
from ..graphs.labels import Labels
from ..graphs.names import Naming
from ..plots import marks
from ..plots.answer import scatter, with_places, write_names
from ..plots.field import make_canvas, plane
from ..typing import BoolArray, FloatArray, IntArray
from .facts import edges_once
from .findings import Named
from .fitting import Mended
from .text import SAME
from .trips import Trips

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAMED_MENDED = 12  # names written at most
_INK, _UNCHANGED, _FALSE = "#17222b", "#b9c0c7", "#6a1b9a"
_WIDEST = 3.2  # lines, in points


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
    >>> from wayfield.travel.picture import mended
    >>> ring = wf.Graph.from_edges([*range(10), 0], [*range(1, 10), 0, 5])
    >>> labels = wf.Labels([0, 4, 5], [0.0, 4.0, 5.0])
    >>> found = travel.mend(ring, labels, 0, travel.LeastChange())
    >>> axes = mended(found, data=labels, goal=0)
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
        scatter(ax, middle, s=70.0, zorder=2.6, marker="x", c=_FALSE, linewidths=2.0)

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
        scatter(ax, places[vertices], s=size**2, zorder=3, **look)
        sizes[vertices] = size
        face = {"markerfacecolor": colour, "markeredgecolor": _INK, "markersize": 6}
        entries.append(marks.entry("other", text, marker=marker, **face))
    if goal is not None:
        star: dict[str, Any] = {"marker": "*", "c": marks.GOAL, "edgecolors": _INK, "lw": 0.8}
        scatter(ax, places[[goal]], s=(2.4 * size) ** 2, zorder=4, **star)
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
        write_names(ax, places, names, first, _NAMED_MENDED, sizes)
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
