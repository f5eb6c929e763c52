"""Marks, colours and legends of all pictures. Sizes are in units of the positions by default."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import need
from ..plans.planning import Plan
from ..typing import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIELD_COLOURS = ("#1b5e98", "#3d8cc0", "#74b4d8", "#abd2e7", "#d3e6f1", "#eef5f9")
"""Colours of the field, from the lowest value to the highest."""
CYCLE_COLOURS = ("#d7301f", "#8e1b5a", "#e8618c", "#9c4a12", "#c2a5cf", "#f7c948", "#6e0f12")
"""Tints of the starts that never arrive, one per limit cycle; none is the orange of routes."""
INK = "#16212c"
"""Colour of arrows, contour lines and outlines."""
INK_RGB = (0.086, 0.129, 0.173)
"""The same colour as numbers, for lighter shades."""
GOAL = "#ffd23f"
"""Colour of the goal's star."""
JUMP_INK = "#5b2a86"
"""Colour of arcs that do not lead to a lattice neighbour."""
GREY = "#c6cad0"
"""Colour of states without a value."""
CROSSES = "#7d848d"
"""Colour of the hatching of states without a value."""

_LETTERS = 8.0  # font size of the legend, in points
_DASHES = (0, (4, 2))
_CHEVRON = np.array([[-0.5, 0.6], [-0.05, 0.6], [0.5, 0], [-0.05, -0.6], [-0.5, -0.6], [0.05, 0]])


def collect(ax: Axes, kind: str, *shapes: Any, **look: Any) -> Any:
    """Draw a collection of matplotlib's, and return it."""
    drawn = getattr(need("matplotlib.collections", "plots"), kind)(*shapes, **look)
    return ax.add_collection(drawn, autolim=kind != "EllipseCollection")


def draw_lines(ax: Axes, ends: FloatArray, width: float, **look: Any) -> None:
    """Draw lines of a width in points, by default in ink."""
    collect(ax, "LineCollection", ends, linewidths=width, **({"colors": INK} | look))


def draw_discs(
    ax: Axes, places: FloatArray, diameter: float | FloatArray, colour: str, **look: Any
) -> None:
    """Draw discs, by default with a fine outline."""
    size = np.broadcast_to(diameter, len(places))
    look = {"edgecolors": INK, "linewidths": 0.5, "facecolors": colour, "units": "xy"} | look
    look |= {"offsets": places, "offset_transform": ax.transData}
    collect(ax, "EllipseCollection", size, size, np.zeros(len(places)), **look)


def draw_arrows(ax: Axes, tails: FloatArray, ways: FloatArray, width: float, **look: Any) -> None:
    """Draw arrows from their tails along the ways, by default in ink."""
    head: dict[str, Any] = {"headwidth": 4.6, "headlength": 4.8, "headaxislength": 4.2}
    head["minlength"] = 0.1  # shorter arrows would look like dots
    units: dict[str, Any] = {"units": "xy", "scale_units": "xy", "angles": "xy", "scale": 1}
    chosen: dict[str, Any] = {"color": INK, "zorder": 3} | look
    ax.quiver(*tails.T, *ways.T, width=width, **head, **units, **chosen)


def draw_chevrons(ax: Axes, places: FloatArray, ways: FloatArray, size: float, **look: Any) -> None:
    """Draw chevrons that point along the moves, by default white with an outline."""
    x, y = (ways / np.hypot(*ways.T)[:, None]).T
    turn = np.stack([np.stack([x, y], axis=-1), np.stack([-y, x], axis=-1)], axis=1)
    shapes = places[:, None, :] + size * (_CHEVRON @ turn)
    look = {"facecolors": "white", "edgecolors": INK, "linewidths": 0.7} | look
    collect(ax, "PolyCollection", shapes, **look)


def draw_jumps(ax: Axes, tails: FloatArray, heads: FloatArray) -> None:
    """Draw bent, dashed arrows."""
    patches = need("matplotlib.patches", "plots")
    for tail, head in zip(tails, heads, strict=True):
        look = {"linestyle": _DASHES, "linewidth": 1.3, "mutation_scale": 11, "zorder": 4}
        bend = "arc3,rad=0.18"
        look |= {"arrowstyle": "-|>", "connectionstyle": bend, "color": JUMP_INK}
        ax.add_patch(patches.FancyArrowPatch(tail, head, **look))


def draw_star(ax: Axes, place: FloatArray, radius: float) -> None:
    """Draw a five-pointed star."""
    star = need("matplotlib.path", "plots").Path.unit_regular_star(5, 0.42)
    outline = type(star)(star.vertices * radius + place, star.codes)
    patches = need("matplotlib.patches", "plots")
    ax.add_patch(patches.PathPatch(outline, facecolor=GOAL, edgecolor=INK, linewidth=0.8, zorder=6))


def draw_bars(ax: Axes, bars: FloatArray) -> None:
    """Draw grey, crossed bars."""
    look: dict[str, Any] = {"facecolors": GREY, "edgecolors": CROSSES, "hatch": "xxx"}
    collect(ax, "PolyCollection", bars, linewidths=0, zorder=1.5, **look)


_KINDS: dict[str, dict[str, Any]] = {
    "cross": {"marker": "X", "markerfacecolor": GREY, "markeredgecolor": CROSSES, "markersize": 8},
    "chevron": {
        "marker": [*_CHEVRON.tolist(), _CHEVRON[0].tolist()],
        "markerfacecolor": "white",
        "markeredgewidth": 0.7,
        "markersize": 8,
    },
    "ground": {"marker": "o", "alpha": 0.4, "markeredgewidth": 0, "markersize": 7},
    "star": {"marker": "*", "markerfacecolor": GOAL, "markeredgewidth": 0.8, "markersize": 11},
    "disc": {"marker": "o", "markeredgewidth": 0.5, "markersize": 6.0},
    "arrow": {"linestyle": "-", "linewidth": 1.1, "marker": ">", "markersize": 5},
    "tint": {"marker": "s", "markeredgewidth": 0, "markersize": 8},
    "line": {"linestyle": "-"},
    "jump": {"linestyle": _DASHES, "color": JUMP_INK},
    "other": {},
}


def entry(kind: str, text: str, **look: Any) -> Any:
    """Return a legend entry: "bars", or one of the kinds above with other properties."""
    if kind == "bars":
        patch = need("matplotlib.patches", "plots").Patch
        return patch(facecolor=GREY, edgecolor=CROSSES, hatch="xxxx", linewidth=0, label=text)
    line = need("matplotlib.lines", "plots").Line2D
    return line([], [], label=text, **({"color": INK, "linestyle": "none"} | _KINDS[kind] | look))


def draw_legend(ax: Axes, entries: list[Any]) -> None:
    """Draw the legend below the picture, if there are entries."""
    if entries:
        place: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0)}
        place |= {"columnspacing": 1.4, "handletextpad": 0.6, "labelspacing": 0.35}
        # as many columns as the axes have room for, going by the letters of the longest entry
        widest = _LETTERS * (0.5 * max(len(entry.get_label()) for entry in entries) + 4.0)
        columns = max(1, int(ax.bbox.width * 72 / ax.figure.dpi / widest))
        ax.legend(handles=entries, ncols=columns, frameon=False, fontsize=_LETTERS, **place)


def colour_map(dark: bool = False) -> Any:
    """Return the colours of the field; dark ones for thin lines, which must show on white."""
    colours = need("matplotlib.colors", "plots")
    return colours.LinearSegmentedColormap.from_list(
        "wayfield", FIELD_COLOURS[:4] if dark else FIELD_COLOURS
    )


def tints(plan: Plan) -> FloatArray:
    """Return (n, 4) colours: one per limit cycle for the starts that end there, else clear."""
    colours = need("matplotlib.colors", "plots").to_rgba_array(CYCLE_COLOURS, alpha=0.62)
    failing = plan.basin >= 0
    size = np.bincount(plan.basin[failing], minlength=len(plan.cycles))
    rank = np.empty(size.size, dtype=np.int64)
    rank[np.argsort(-size, kind="stable")] = np.arange(size.size)
    tint = np.zeros((plan.basin.size, 4))
    tint[failing] = colours[rank[plan.basin[failing]] % len(colours)]
    tint[plan.basin < -1] = (0.5, 0.5, 0.5, 0.62)  # dead ends
    return tint


def why_unknown(values: FloatArray) -> str:
    """Return the kinds of states without a finite value, with their numbers."""
    kinds = {"cannot reach": np.isinf(values), "no value": np.isnan(values)}
    return ", ".join(f"{kind}: {where.sum():,}" for kind, where in kinds.items() if where.any())
