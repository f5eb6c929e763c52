"""Mazes: a raster with contour lines and walls, and marks for ground, one-way borders and jumps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..kernels._types import FloatArray
from ..plans import Plan
from . import _marks as marks
from ._canvas import Canvas
from ._lattice import Lattice, find_jumps

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_maze(
    canvas: Canvas, lattice: Lattice, values: FloatArray, plan: Plan | None, contours: int
) -> tuple[Any, list[Any]]:
    """Draw a maze; return the image of the field, for its colour bar, and legend entries."""
    ax, known = canvas.ax, np.isfinite(values)
    image = lattice.raster(np.where(known, values, np.nan))
    place: dict[str, Any] = {"origin": "lower", "extent": lattice.extent}
    drawn = ax.imshow(image, cmap=marks.colour_map(), interpolation="nearest", **place)
    if plan is not None and not plan.reached[known].all():
        tint = lattice.raster(marks.tints(plan))
        ax.imshow(np.nan_to_num(tint), interpolation="nearest", **place)
    entries = [marks.legend_line("wall", 1.2)]
    marks.draw_lines(ax, lattice.walls - 0.5 + lattice.corner, 0.9, zorder=2)
    if contours > 0 and min(lattice.shape) > 1 and known.any() and np.ptp(values[known]) > 0:
        _draw_contours(ax, lattice, image, contours)
        entries.append(marks.legend_line("equal values", 0.5, alpha=0.6))
    entries += _draw_marks(canvas, lattice)
    if not known.all():
        marks.draw_bars(ax, lattice.bars(~known))
        entries.append(marks.legend_patch(marks.why_unknown(values)))
    left, right, bottom, top = lattice.extent
    margin = 0.01 * max(lattice.shape)
    ax.set(xlim=(left - margin, right + margin), ylim=(bottom - margin, top + margin))
    return drawn, entries


def _draw_contours(ax: Axes, lattice: Lattice, image: FloatArray, contours: int) -> None:
    x, y = lattice.corner
    ax.contour(
        np.arange(lattice.shape[1]) + x,
        np.arange(lattice.shape[0]) + y,
        np.ma.masked_invalid(image),
        levels=contours,
        colors=marks.INK,
        linewidths=0.5,
        alpha=0.45,
    )


def _draw_marks(canvas: Canvas, lattice: Lattice) -> list[Any]:
    """Draw the ground, the one-way borders and the jumps, and return their legend entries."""
    ax, graph = canvas.ax, canvas.graph
    entries = []
    if graph.num_arcs and np.ptp(graph.lengths) > 0:
        entries.append(_draw_ground(canvas, lattice))
    places, ways = lattice.one_way()
    if len(places):
        marks.draw_chevrons(
            ax, places, ways, min(0.3 * lattice.cell, 1.2 * canvas.star), zorder=3.5
        )
        entries.append(marks.legend_chevron("one way"))
    tails, heads = find_jumps(graph, canvas.positions, lattice)
    if len(tails):
        marks.draw_jumps(ax, tails, heads)
        entries.append(marks.legend_jump("jump"))
    return entries


def _draw_ground(canvas: Canvas, lattice: Lattice) -> Any:
    """Dots whose area grows with the mean length of a vertex's steps, thinned on large mazes."""
    graph = canvas.graph
    way = canvas.positions[graph.indices] - canvas.positions[graph.tails]
    step = np.abs(way).sum(axis=1) == 1
    ends = np.concatenate([graph.tails[step], graph.indices[step]])
    total = np.bincount(ends, np.tile(graph.lengths[step], 2), graph.num_vertices)
    mean = total / np.maximum(np.bincount(ends, minlength=graph.num_vertices), 1)
    least, most = float(graph.lengths.min()), float(graph.lengths.max())
    apart = max(1, canvas.steps // 2)
    middle = (lattice.rows % apart == apart // 2) & (lattice.columns % apart == apart // 2)
    dotted = middle & (mean > least)
    size = 0.6 * apart * np.sqrt((mean[dotted] - least) / (most - least))
    look: dict[str, Any] = {"alpha": 0.3, "linewidths": 0, "zorder": 1.2}
    marks.draw_discs(canvas.ax, canvas.positions[dotted], size, marks.INK, **look)
    return marks.legend_ground(f"steps of length up to {most:g} (blank: {least:g})")
