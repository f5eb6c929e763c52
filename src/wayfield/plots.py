"""Pictures of a field and of the plan it gives, drawn with matplotlib.

A maze (positions on a whole-number lattice, edges between lattice neighbours) is drawn as a
raster with contour lines, walls left blank; any other graph with positions in the plane as its
edges and vertices. Colours of the field are cool and those of failing starts warm, so that the
two are told apart at a glance.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arrays import as_floats
from ._optional import need
from .errors import InputError
from .graph import Graph
from .kernels._types import FloatArray, IntArray
from .labels import Labels
from .plan import Plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["field"]

FIELD_COLOURS = ("#1b5e98", "#3d8cc0", "#74b4d8", "#abd2e7", "#d3e6f1", "#eef5f9")
"""Of the field, from the lowest value to the highest."""
CYCLE_COLOURS = ("#d7301f", "#f29e2e", "#8e1b5a", "#f7c948", "#e8618c", "#9c4a12", "#c2a5cf")
"""Of the starts that never reach, one per limit cycle, in turn."""
INK = "#16212c"
"""Of arrows, contour lines and outlines."""
_SLOTS = 32  # arrows along the longer side of a picture


class _Lattice(NamedTuple):
    """Vertices on a raster: their rows (from the bottom) and columns, and where it starts."""

    rows: IntArray
    columns: IntArray
    corner: tuple[int, int]
    shape: tuple[int, int]

    def raster(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values at their places, NaN (or transparent) elsewhere."""
        image = np.full(self.shape + values.shape[1:], np.nan)
        image[self.rows, self.columns] = values
        return image

    @property
    def walls(self) -> FloatArray:
        """(k, 2, 2) lines around the vertices' cells, measured from the lower left corner."""
        inside = np.isfinite(self.raster(np.zeros(self.rows.size)))
        across = _runs(np.diff(np.pad(inside, ((1, 1), (0, 0))), axis=0))
        upright = _runs(np.diff(np.pad(inside.T, ((1, 1), (0, 0))), axis=0))[..., ::-1]
        return np.concatenate([across, upright])

    @property
    def extent(self) -> tuple[float, float, float, float]:
        x, y = self.corner
        return (x - 0.5, x + self.shape[1] - 0.5, y - 0.5, y + self.shape[0] - 0.5)


class _Scale(NamedTuple):
    """Sizes in the units of the positions, so that they hold for a figure of any size."""

    unit: float
    """A typical edge."""
    steps: int
    """Edges along a block; each block has one arrow."""
    dot: float
    """Diameter of a label."""
    star: float
    """Radius of the goal."""


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
) -> Axes:
    """Draw a value for every vertex and, if given, the plan and the labels.

    Parameters
    ----------
    graph : Graph
        With positions in the plane.
    values : (n,) array
        The field; NaN and infinite values are left blank.
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
    arrows, colour_bar : bool
        Whether to draw them.

    Returns
    -------
    Axes
        What was drawn on; ``ax.figure.savefig("field.png")`` writes it.
    """
    positions = _plane(graph)
    value = as_floats(values, "values", graph.num_vertices)
    if ax is None:
        ax = need("matplotlib.pyplot", "plots").subplots(layout="constrained")[1]
    shown = np.where(np.isfinite(value), value, np.nan)
    lattice = _lattice(graph, positions)
    if lattice is None:
        image = _draw_graph(ax, graph, positions, shown, plan)
    else:
        image = _draw_maze(ax, lattice, shown, plan, contours)
    scale = _scale(graph, positions, lattice)
    if plan is not None and arrows:
        draw = _draw_moves if lattice is None else _draw_flow
        draw(ax, positions, plan, scale)
    if labels is not None:
        place = positions[labels.check(graph).vertices]
        _draw_discs(ax, place, scale.dot, "white", zorder=5)
    if plan is not None:
        stuck = positions[np.concatenate([[], *plan.cycles]).astype(np.int64)]
        _draw_discs(ax, stuck, 1.3 * scale.dot, INK, zorder=4)
        _draw_goal(ax, positions[plan.goal], scale)
    if colour_bar:
        bar = ax.figure.colorbar(image, ax=ax, shrink=0.7, aspect=26, pad=0.02)
        bar.outline.set_visible(False)
    ax.set_aspect("equal")
    ax.set_axis_off()
    return ax


def _plane(graph: Graph) -> FloatArray:
    """Positions of the vertices, if they lie in the plane."""
    positions = graph.positions
    if positions is None:
        raise InputError("the graph has no positions; give it some with graph.with_positions")
    if positions.shape[1] != 2:
        raise InputError(f"a picture needs positions in the plane, not in {positions.shape[1]}-D")
    if graph.num_vertices == 0:
        raise InputError("the graph has no vertices to draw")
    return positions


def _lattice(graph: Graph, positions: FloatArray) -> _Lattice | None:
    """Places on a raster; None unless positions are whole and edges join lattice neighbours."""
    place = np.round(positions).astype(np.int64)
    if not (place == positions).all():
        return None
    step = np.abs(place[graph.tails] - place[graph.indices]).sum(axis=1)
    corner = place.min(axis=0)
    columns, rows = (place - corner).T
    shape = (int(rows.max()) + 1, int(columns.max()) + 1)
    if (step != 1).any() or math.prod(shape) > 100 * graph.num_vertices:
        return None
    if np.unique(rows * shape[1] + columns).size < graph.num_vertices:
        return None
    return _Lattice(rows, columns, (int(corner[0]), int(corner[1])), shape)


def _scale(graph: Graph, positions: FloatArray, lattice: _Lattice | None) -> _Scale:
    side = max(float(np.ptp(positions, axis=0).max()), 1e-12)
    edges = np.hypot(*(positions[graph.tails] - positions[graph.indices]).T)
    unit = float(np.median(edges)) if edges.size else side
    steps = max(1, math.ceil(side / (_SLOTS * unit)))
    if lattice is not None:  # whole blocks per cell of the maze, so that arrows keep off the walls
        cell = math.gcd(*lattice.walls.astype(int).ravel().tolist())
        steps = next((k for k in range(steps, cell + 1) if cell % k == 0), steps)
    return _Scale(
        unit,
        steps=steps,
        dot=max(0.3 * unit, side / 110),
        star=max(0.5 * unit, side / 42),
    )


def _draw_maze(
    ax: Axes, lattice: _Lattice, values: FloatArray, plan: Plan | None, contours: int
) -> Any:
    image = lattice.raster(values)
    place: dict[str, Any] = {"origin": "lower", "extent": lattice.extent}
    drawn = ax.imshow(image, cmap=_colour_map(), interpolation="nearest", **place)
    if plan is not None and not plan.reached.all():
        tint = lattice.raster(_tints(plan))
        ax.imshow(np.nan_to_num(tint), interpolation="nearest", **place)
    if contours > 0 and min(lattice.shape) > 1 and np.nanmax(image) > np.nanmin(image):
        x, y = lattice.corner
        ax.contour(
            np.arange(lattice.shape[1]) + x,
            np.arange(lattice.shape[0]) + y,
            np.ma.masked_invalid(image),
            levels=contours,
            colors=INK,
            linewidths=0.5,
            alpha=0.45,
        )
    collections = need("matplotlib.collections", "plots")
    walls = lattice.walls - 0.5 + lattice.corner
    ax.add_collection(collections.LineCollection(walls, colors=INK, linewidths=0.9, zorder=2))
    left, right, bottom, top = lattice.extent
    margin = 0.01 * max(lattice.shape)
    ax.set(xlim=(left - margin, right + margin), ylim=(bottom - margin, top + margin))
    return drawn


def _runs(flags: NDArray[np.bool_]) -> FloatArray:
    """(k, 2, 2) ends, as (column, row), of the runs of True along each row."""
    change = np.diff(np.pad(flags, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    row, start = np.nonzero(change == 1)
    _, end = np.nonzero(change == -1)
    ends = [np.column_stack([column, row]) for column in (start, end)]
    return np.stack(ends, axis=1).astype(np.float64)


def _draw_graph(
    ax: Axes, graph: Graph, positions: FloatArray, values: FloatArray, plan: Plan | None
) -> Any:
    collections = need("matplotlib.collections", "plots")
    ends = np.stack([positions[graph.tails], positions[graph.indices]], axis=1)
    once = np.ones(len(ends), dtype=bool) if graph.directed else graph.tails < graph.indices
    ax.add_collection(
        collections.LineCollection(ends[once], colors=INK, linewidths=0.6, alpha=0.35, zorder=1)
    )
    edge = np.tile([0.09, 0.13, 0.17, 0.6], (graph.num_vertices, 1))
    if plan is not None:
        tint = _tints(plan)
        edge[tint[:, 3] > 0] = tint[tint[:, 3] > 0]
    size = float(np.clip(20_000 / graph.num_vertices, 6, 90))
    x, y = positions.T
    look: dict[str, Any] = {"edgecolors": edge, "linewidths": 1, "zorder": 2}
    drawn = ax.scatter(x, y, s=size, c=values, cmap=_colour_map(), **look)
    ax.margins(0.05)
    return drawn


def _tints(plan: Plan) -> FloatArray:
    """(n, 4) colours: one per limit cycle for the starts that end there, clear for the others."""
    colours = need("matplotlib.colors", "plots").to_rgba_array(CYCLE_COLOURS, alpha=0.62)
    failing = plan.basin >= 0
    size = np.bincount(plan.basin[failing], minlength=len(plan.cycles))
    rank = np.empty(size.size, dtype=np.int64)
    rank[np.argsort(-size, kind="stable")] = np.arange(size.size)
    tint = np.zeros((plan.basin.size, 4))
    tint[failing] = colours[rank[plan.basin[failing]] % len(colours)]
    tint[plan.basin < -1] = (0.5, 0.5, 0.5, 0.62)  # dead ends
    return tint


def _draw_flow(ax: Axes, positions: FloatArray, plan: Plan, scale: _Scale) -> None:
    """One arrow per block, along the way of the plan's next steps from its middle."""
    chosen = _block_middles(positions, scale)
    ahead = chosen
    for _ in range(scale.steps):
        ahead = np.where(plan.successor[ahead] >= 0, plan.successor[ahead], ahead)
    way = positions[ahead] - positions[chosen]
    length = np.hypot(*way.T)
    moves = length > 0
    block = scale.steps * scale.unit
    arrows = 0.78 * block * way[moves] / length[moves][:, None]
    _draw_arrows(ax, positions[chosen][moves] - arrows / 2, arrows, 0.068 * block)


def _draw_moves(ax: Axes, positions: FloatArray, plan: Plan, scale: _Scale) -> None:
    """One arrow per vertex, most of the way to its successor."""
    tail = np.flatnonzero((plan.successor >= 0) & (np.arange(plan.successor.size) != plan.goal))
    way = positions[plan.successor[tail]] - positions[tail]
    _draw_arrows(ax, positions[tail], 0.85 * way, 0.05 * scale.unit)


def _draw_arrows(ax: Axes, tails: FloatArray, ways: FloatArray, width: float) -> None:
    """Arrows of a size in data units."""
    head: dict[str, Any] = {"headwidth": 4.6, "headlength": 4.8, "headaxislength": 4.2}
    units: dict[str, Any] = {"units": "xy", "scale_units": "xy", "angles": "xy", "scale": 1}
    ax.quiver(*tails.T, *ways.T, width=width, color=INK, zorder=3, **head, **units)


def _block_middles(positions: FloatArray, scale: _Scale) -> IntArray:
    """Find the vertex nearest to the middle of every block."""
    place = (positions - positions.min(axis=0)) / scale.unit + 0.5
    cell = np.floor(place / scale.steps).astype(np.int64)
    off = np.abs(place - scale.steps * (cell + 0.5)).sum(axis=1)
    name = cell[:, 0] * (cell[:, 1].max() + 1) + cell[:, 1]
    order = np.lexsort((off, name))
    _, first = np.unique(name[order], return_index=True)
    return order[first]


def _draw_discs(ax: Axes, places: FloatArray, diameter: float, colour: str, zorder: int) -> None:
    """Discs of a size in data units."""
    size = np.full(len(places), diameter)
    discs = need("matplotlib.collections", "plots").EllipseCollection(
        size,
        size,
        np.zeros(len(places)),
        units="xy",
        offsets=places,
        offset_transform=ax.transData,
        facecolors=colour,
        edgecolors=INK,
        linewidths=0.5,
        zorder=zorder,
    )
    ax.add_collection(discs, autolim=False)


def _draw_goal(ax: Axes, place: FloatArray, scale: _Scale) -> None:
    star = need("matplotlib.path", "plots").Path.unit_regular_star(5, 0.42)
    outline = type(star)(star.vertices * scale.star + place, star.codes)
    ax.add_patch(
        need("matplotlib.patches", "plots").PathPatch(
            outline, facecolor="#ffd23f", edgecolor=INK, linewidth=0.8, zorder=6
        )
    )


def _colour_map() -> Any:
    colours = need("matplotlib.colors", "plots")
    return colours.LinearSegmentedColormap.from_list("wayfield", FIELD_COLOURS)
