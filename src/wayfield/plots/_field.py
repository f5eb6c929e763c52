"""The picture of a field: maze or graph below, plan and labels on top."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .._arrays import as_floats
from .._optional import need
from ..graph import Graph
from ..kernels._types import FloatArray, IntArray
from ..labels import Labels
from ..plans import Plan
from . import _marks as marks
from ._canvas import Canvas, make_canvas, plane
from ._graph import draw_graph
from ._maze import draw_maze

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def field(
    graph: Graph,
    values: ArrayLike,
    plan: Plan | None = None,
    labels: Labels | None = None,
    ax: Axes | None = None,
    *,
    contours: int = 16,
    arrows: bool = True,
    colour_bar: bool = True,
    legend: bool = True,
) -> Axes:
    """Draw a value for every vertex and, if given, the plan and the labels.

    On a directed graph a chevron marks what can be walked one way only: an edge of a graph, a
    border between two cells of a maze. Arcs of a maze that do not lead to a neighbour are dashed.
    Dots tell the ground of a maze: the larger, the longer the steps there. Edges of a graph are
    faint, so that its vertices and the plan stand out, and of very many a sample is drawn. A
    legend explains those of these marks that occur.

    Parameters
    ----------
    graph : Graph
        With positions in the plane.
    values : (n,) array
        The field. Vertices whose value is infinite or NaN are grey and crossed.
    plan : Plan, optional
        Adds the greedy arrows, the goal as a star, and starts that never reach the goal tinted by
        the limit cycle they end in (grey if it is a dead end); the cycles themselves are dark
        dots. On a large maze an arrow stands for a block of vertices: it shows where the plan
        leads from the block's middle within as many steps as the block is wide.
    labels : Labels, optional
        Adds the labelled vertices as small rings.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    contours : int
        Number of contour lines, on mazes; 0 for none.
    arrows, colour_bar, legend : bool
        Whether to draw them.

    Returns
    -------
    Axes
        What was drawn on; ``ax.figure.savefig("field.png")`` writes it.

    Examples
    --------
    >>> import wayfield as wf
    >>> maze = wf.grid_graph(wf.load_layout("umaze"), refinement=4)
    >>> values = wf.cost_to_go(maze, 0)
    >>> axes = wf.plots.field(maze, values, wf.plan(maze, values, goal=0))
    >>> axes.get_title()
    ''
    """
    if ax is None:
        plane(graph)  # before a figure is opened for nothing
        ax = need("matplotlib.pyplot", "plots").subplots(layout="constrained")[1]
    entries = draw_field(
        graph, values, plan, labels, ax, contours=contours, arrows=arrows, colour_bar=colour_bar
    )
    if legend:
        marks.draw_legend(ax, entries)
    return ax


def draw_field(
    graph: Graph,
    values: ArrayLike,
    plan: Plan | None,
    labels: Labels | None,
    ax: Axes,
    *,
    contours: int = 16,
    arrows: bool = True,
    colour_bar: bool = True,
) -> list[Any]:
    """Draw as `field` does, and return the entries of the legend that is still to be drawn."""
    positions = plane(graph)
    value = as_floats(values, "values", graph.num_vertices)
    canvas = make_canvas(ax, graph, positions)
    if canvas.lattice is None:
        image, entries = draw_graph(canvas, value, plan)
    else:
        image, entries = draw_maze(canvas, canvas.lattice, value, plan, contours)
    if labels is not None:
        place = positions[labels.check(graph).vertices]
        marks.draw_discs(ax, place, canvas.dot, "white", zorder=5)
        if plan is None or (labels.vertices != plan.goal).any():  # the star hides the goal's label
            entries.insert(0, marks.legend_disc("label", "white"))
    if plan is not None:
        entries = [marks.legend_star("goal"), *entries, *_draw_plan(canvas, plan, arrows)]
    if colour_bar and np.isfinite(value).any():
        bar = ax.figure.colorbar(image, ax=ax, shrink=0.7, aspect=26, pad=0.02)
        bar.outline.set_visible(False)
    ax.set_aspect("equal")
    ax.set_axis_off()
    return entries


def _draw_plan(canvas: Canvas, plan: Plan, arrows: bool) -> list[Any]:
    """Draw the moves, the limit cycles and the goal, and return their legend entries."""
    ax, positions = canvas.ax, canvas.positions
    entries = []
    marks.draw_star(ax, positions[plan.goal], canvas.star)
    if arrows:
        draw = _draw_moves if canvas.lattice is None else _draw_flow
        draw(canvas, plan)
        entries.append(marks.legend_arrow("next state" if canvas.lattice is None else "plan"))
    able, tint = np.isfinite(plan.values), marks.tints(plan)
    if plan.cycles:
        stuck = np.concatenate(plan.cycles)
        marks.draw_discs(ax, positions[stuck], 1.3 * canvas.dot, marks.INK, zorder=4)
        most = int(np.argmax(np.bincount(plan.basin[plan.basin >= 0])))
        told = "never arrives" + (" (by loop)" if len(plan.cycles) > 1 else "")
        entries.append(marks.legend_tint(told, tint[plan.basin == most][0]))
        entries.append(marks.legend_disc("loop", marks.INK))
    ends = able & (plan.basin < -1)
    if ends.any():
        entries.append(marks.legend_tint("ends where no move is left", tint[ends][0]))
    return entries


def _draw_flow(canvas: Canvas, plan: Plan) -> None:
    """One arrow per block, along the way of the plan's next steps from its middle."""
    positions = canvas.positions
    chosen = _block_middles(canvas)
    ahead = chosen
    for _ in range(canvas.steps):
        ahead = plan.successor[ahead]
    way = positions[ahead] - positions[chosen]
    length = np.hypot(*way.T)
    moves = length > 0
    block = canvas.steps * canvas.unit
    arrows = 0.78 * block * way[moves] / length[moves][:, None]
    width = min(0.068 * block, 2.5 * canvas.point)
    marks.draw_arrows(canvas.ax, positions[chosen][moves] - arrows / 2, arrows, width)


def _draw_moves(canvas: Canvas, plan: Plan) -> None:
    """One arrow per vertex, up to its successor's disc, in the tint of its loop if it fails."""
    tail = np.flatnonzero(plan.successor != np.arange(plan.successor.size))
    way = canvas.positions[plan.successor[tail]] - canvas.positions[tail]
    length = np.maximum(np.hypot(*way.T), 1e-300)
    way *= np.maximum(1 - 0.5 * canvas.disc * canvas.point / length, 0.5)[:, None]
    colour = marks.tints(plan)[tail]
    colour[colour[:, 3] == 0] = (*marks.INK_RGB, 0.8)
    width = float(np.clip(0.06 * canvas.room, 0.35, 1.1)) * canvas.point
    marks.draw_arrows(canvas.ax, canvas.positions[tail], way, width, color=colour, zorder=1.8)


def _block_middles(canvas: Canvas) -> IntArray:
    """Find the vertex nearest to the middle of every block."""
    positions: FloatArray = canvas.positions
    place = (positions - positions.min(axis=0)) / canvas.unit + 0.5
    cell = np.floor(place / canvas.steps).astype(np.int64)
    off = np.abs(place - canvas.steps * (cell + 0.5)).sum(axis=1)
    name = cell[:, 0] * (cell[:, 1].max() + 1) + cell[:, 1]
    order = np.lexsort((off, name))
    _, first = np.unique(name[order], return_index=True)
    return order[first]
