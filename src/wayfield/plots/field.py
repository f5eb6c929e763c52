"""The picture of a field: maze or graph below, plan and labels on top.

A maze is a raster with contour lines and walls, and marks for ground, one-way borders and jumps.

Any other graph is drawn as lines and discs, with chevrons on one-way edges. Vertices and plan must
stay visible however many edges there are. So the lines of all edges together darken the paper by at
most `_SHADE`: the more there are, the fainter they become. Beyond `_FAINTEST` only a sample is
drawn. Chevrons are drawn where there is room.

A graph of more than `STREETS` vertices, with few edges for each, is drawn as a map: its edges show
the field, and there are no discs and arrows.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import as_floats, need
from ..errors import InputError
from ..graphs.graph import Graph
from ..graphs.labels import Labels
from ..plans.planning import Plan
from ..typing import BoolArray, FloatArray, IntArray
from . import marks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SLOTS = 32  # arrows along the longer side of a picture
_SHADE = 0.06
_FAINTEST, _DARKEST = 0.12, 0.35
_POINTED = 0.06  # of the paper, for chevrons
_AHEAD, _BACK = 1, 2
STREETS, _AT_A_CROSSING = 500, 4
"""Largest graph that is drawn with discs, and the most edges per vertex of a map."""
_JUMPS = 1 / 8  # the share of arcs that may lead elsewhere than to a neighbour


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

    On a directed graph, a chevron marks an edge, or a border between two cells of a maze, that can
    be crossed in one direction only. Arcs of a maze that do not lead to a neighbour are dashed.
    Dots show the terrain of a maze: the larger a dot, the longer the steps there. Edges of a graph
    are faint, so that vertices and plan stand out; if there are very many, a sample is drawn. On a
    road network of more than 500 vertices the edges themselves show the field. A legend explains
    the marks that occur.

    Parameters
    ----------
    graph : Graph
        With positions in the plane.
    values : (n,) array
        The field. Vertices whose value is infinite or NaN are grey and crossed.
    plan : Plan, optional
        Adds arrows for the moves and a star for the goal. Starts that never reach the goal are
        tinted by the limit cycle they end in (grey for a dead end); the cycles themselves are dark
        dots. On a large maze an arrow stands for a block of vertices: it shows where the plan leads
        from the middle of the block, in as many steps as the block is wide.
    labels : Labels, optional
        Adds the labelled vertices as small rings.
    ax : matplotlib Axes, optional
        Axes to draw on. Default: a new figure.
    contours : int
        Number of contour lines, on mazes; 0 for none.
    arrows, colour_bar, legend : bool
        Whether to draw them.

    Returns
    -------
    Axes
        The axes of the picture; ``ax.figure.savefig("field.png")`` writes it.

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
    if canvas.is_map:
        image, entries = draw_map(canvas, value, plan)
    elif canvas.lattice is None:
        image, entries = draw_graph(canvas, value, plan)
    else:
        image, entries = draw_maze(canvas, canvas.lattice, value, plan, contours)
    if labels is not None:
        place = positions[labels.check(graph).vertices]
        if canvas.lattice is None:  # a ring, since the vertex below shows the value
            marks.draw_discs(ax, place, canvas.dot, "none", zorder=5, linewidths=1.5)
        else:
            marks.draw_discs(ax, place, canvas.dot, "white", zorder=5)
        if plan is None or (labels.vertices != plan.goal).any():  # the star hides the goal's label
            entries.insert(0, marks.entry("disc", "label", markerfacecolor="white"))
    if plan is not None:
        moves = _draw_plan(canvas, plan, arrows and not canvas.is_map)
        entries = [marks.entry("star", "goal"), *entries, *moves]
    if colour_bar and np.isfinite(value).any():
        bar = ax.figure.colorbar(image, ax=ax, shrink=0.7, aspect=26, pad=0.02, label="cost-to-go")
        bar.outline.set_visible(False)
    ax.set_aspect("equal")
    ax.set_axis_off()
    return entries


def _draw_plan(canvas: Canvas, plan: Plan, arrows: bool) -> list[Any]:
    """Draw the moves, the limit cycles and the goal, and return their legend entries."""
    ax, positions = canvas.ax, canvas.positions
    able, tint = np.isfinite(plan.values), marks.tints(plan)
    entries = []
    marks.draw_star(ax, positions[plan.goal], canvas.star)
    if arrows and canvas.lattice is None:
        # one arrow per vertex, up to its successor's disc, in the tint of its loop if it fails
        tail = np.flatnonzero(plan.successor != np.arange(plan.successor.size))
        way = positions[plan.successor[tail]] - positions[tail]
        length = np.maximum(np.hypot(*way.T), 1e-300)
        way *= np.maximum(1 - 0.5 * canvas.disc * canvas.point / length, 0.5)[:, None]
        colour = tint[tail]
        colour[colour[:, 3] == 0] = (*marks.INK_RGB, 0.8)
        width = float(np.clip(0.06 * canvas.room, 0.35, 1.1)) * canvas.point
        marks.draw_arrows(ax, positions[tail], way, width, color=colour, zorder=1.8)
        entries.append(marks.entry("arrow", "next state"))
    elif arrows and canvas.lattice is not None:
        # one arrow per block, from its middle, along the plan's next steps
        chosen = ahead = np.flatnonzero(canvas.lattice.middles(canvas.steps))
        for _ in range(canvas.steps):
            ahead = plan.successor[ahead]
        way = positions[ahead] - positions[chosen]
        length = np.hypot(*way.T)
        moves = length > 0
        block = canvas.steps * canvas.unit
        shown = 0.78 * block * way[moves] / length[moves][:, None]
        width = min(0.068 * block, 2.5 * canvas.point)
        marks.draw_arrows(ax, positions[chosen][moves] - shown / 2, shown, width)
        entries.append(marks.entry("arrow", "plan"))
    if plan.cycles:
        stuck = np.concatenate(plan.cycles)
        marks.draw_discs(ax, positions[stuck], 1.3 * canvas.dot, marks.INK, zorder=4)
        most = int(np.argmax(np.bincount(plan.basin[plan.basin >= 0])))
        text = "never arrives" + (" (by loop)" if len(plan.cycles) > 1 else "")
        entries.append(marks.entry("tint", text, markerfacecolor=tint[plan.basin == most][0]))
        entries.append(marks.entry("disc", "loop", markerfacecolor=marks.INK))
    ends = able & (plan.basin < -1)
    if ends.any():
        text = "ends where no move is left"
        entries.append(marks.entry("tint", text, markerfacecolor=tint[ends][0]))
    return entries


# -------------------------------------------------------------------- sizes


class Canvas(NamedTuple):
    """Axes and sizes of a picture, in the units of the positions, for figures of any size.

    For graphs that are not mazes, sizes follow from the room on paper: edges may have any length.
    """

    ax: Axes
    graph: Graph
    positions: FloatArray
    lattice: Lattice | None
    """Where the vertices lie on a raster, if they do."""
    unit: float
    """A typical edge."""
    point: float
    """A point on paper, nearly: a colour bar or a legend may still take some of the axes."""
    room: float
    """Side of the square on paper that each vertex would have, in points."""
    steps: int
    """Edges along a block; each block has one arrow."""
    dot: float
    """Diameter of a label."""
    disc: float
    """Diameter of a graph's vertex, in points."""
    star: float
    """Radius of the goal."""

    @property
    def is_map(self) -> bool:
        """Whether edges show the field."""
        n = self.graph.num_vertices
        edges = self.graph.num_arcs / (1 if self.graph.directed else 2)
        return self.lattice is None and n > STREETS and edges <= _AT_A_CROSSING * n


def plane(graph: Graph) -> FloatArray:
    """Return the positions of the vertices; raise `InputError` if they are not in the plane."""
    positions = graph.positions
    if positions is None:
        raise InputError("the graph has no positions: add some with graph.with_positions")
    if positions.shape[1] != 2:
        raise InputError(f"a picture needs positions in the plane, not in {positions.shape[1]}-D")
    if graph.num_vertices == 0:
        raise InputError("the graph has no vertices to draw")
    return positions


def make_canvas(ax: Axes, graph: Graph, positions: FloatArray) -> Canvas:
    """Detect whether the graph is a maze, and choose sizes for it."""
    lattice = find_lattice(graph, positions)
    side = max(float(np.ptp(positions, axis=0).max()), 1e-12)
    paper = np.array([ax.bbox.width, ax.bbox.height]) * 72 / ax.figure.dpi
    span = np.maximum(np.ptp(positions, axis=0), side / 10)  # a path has room beside it
    point = float((span / paper).max())
    room = math.sqrt(float(span.prod()) / len(positions)) / point
    disc = float(np.clip(0.4 * room, 1.8, 9.5))
    edges = np.hypot(*(positions[graph.tails] - positions[graph.indices]).T)
    edges = edges[edges > 1e-9 * side]  # vertices may share a place
    unit = float(np.median(edges)) if edges.size else side
    steps = max(1, math.ceil(side / (_SLOTS * unit)))
    if lattice is not None:  # whole blocks per cell of the maze, so that arrows keep off the walls
        cell = lattice.cell
        steps = next((k for k in range(steps, cell + 1) if cell % k == 0), steps)
        dot, star = max(0.3 * unit, side / 110), max(0.5 * unit, side / 42)
        dot, star = min(dot, 12 * point), min(star, 18 * point)  # a maze may have few cells
    else:
        dot, star = max(1.1 * disc, 4.0) * point, max(1.3 * disc, 9.0) * point
    return Canvas(ax, graph, positions, lattice, unit, point, room, steps, dot, disc, star)


# -------------------------------------------------------------------- mazes


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
    entries = [marks.entry("line", "wall", linewidth=1.2)]
    marks.draw_lines(ax, lattice.walls - 0.5 + lattice.corner, 0.9, zorder=2)
    if contours > 0 and min(lattice.shape) > 1 and known.any() and np.ptp(values[known]) > 0:
        ax.contour(
            np.arange(lattice.shape[1]) + lattice.corner[0],
            np.arange(lattice.shape[0]) + lattice.corner[1],
            np.ma.masked_invalid(image),
            levels=contours,
            colors=marks.INK,
            linewidths=0.5,
            alpha=0.45,
        )
        entries.append(marks.entry("line", "equal values", linewidth=0.5, alpha=0.6))
    graph, positions = canvas.graph, canvas.positions
    if graph.num_arcs and np.ptp(graph.lengths) > 0:
        # dots whose area grows with the mean length of a vertex's steps, thinned on large mazes
        way = positions[graph.indices] - positions[graph.tails]
        step = np.abs(way).sum(axis=1) == 1
        ends = np.concatenate([graph.tails[step], graph.indices[step]])
        total = np.bincount(ends, np.tile(graph.lengths[step], 2), graph.num_vertices)
        mean = total / np.maximum(np.bincount(ends, minlength=graph.num_vertices), 1)
        least, most = float(graph.lengths.min()), float(graph.lengths.max())
        apart = max(1, canvas.steps // 2)
        dotted = lattice.middles(apart) & (mean > least)
        size = 0.6 * apart * np.sqrt((mean[dotted] - least) / (most - least))
        look: dict[str, Any] = {"alpha": 0.3, "linewidths": 0, "zorder": 1.2}
        marks.draw_discs(ax, positions[dotted], size, marks.INK, **look)
        text = f"steps of length up to {most:g} (blank: {least:g})"
        entries.append(marks.entry("ground", text))
    places, ways = lattice.one_way()
    if len(places):
        large = min(0.3 * lattice.cell, 1.2 * canvas.star)
        marks.draw_chevrons(ax, places, ways, large, zorder=3.5)
        entries.append(marks.entry("chevron", "one way"))
    tails, heads = find_jumps(graph, positions, lattice)
    if len(tails):
        marks.draw_jumps(ax, tails, heads)
        entries.append(marks.entry("jump", "jump"))
    if not known.all():
        marks.draw_bars(ax, lattice.bars(~known))
        entries.append(marks.entry("bars", marks.why_unknown(values)))
    left, right, bottom, top = lattice.extent
    margin = 0.01 * max(lattice.shape)
    ax.set(xlim=(left - margin, right + margin), ylim=(bottom - margin, top + margin))
    return drawn, entries


# -------------------------------------------------------------------- other graphs


def draw_graph(canvas: Canvas, values: FloatArray, plan: Plan | None) -> tuple[Any, list[Any]]:
    """Draw a graph; return the image of the field, for its colour bar, and legend entries."""
    ax, graph, positions = canvas.ax, canvas.graph, canvas.positions
    entries = draw_edges(canvas)
    edge = np.tile([*marks.INK_RGB, 0.6], (graph.num_vertices, 1))
    if plan is not None:
        tint = marks.tints(plan)
        edge[tint[:, 3] > 0] = tint[tint[:, 3] > 0]
    known = np.isfinite(values)
    look: dict[str, Any] = {"s": canvas.disc**2, "linewidths": 0.1 * canvas.disc, "zorder": 2}
    colours: dict[str, Any] = {"c": values[known], "edgecolors": edge[known]}
    x, y = positions[known].T
    drawn = ax.scatter(x, y, cmap=marks.colour_map(), **colours, **look)
    if not known.all():
        grey: dict[str, Any] = {
            "facecolors": marks.GREY,
            "edgecolors": marks.CROSSES,
            "marker": "X",
        }
        x, y = positions[~known].T
        ax.scatter(x, y, **grey, **look)
        entries.append(marks.entry("cross", marks.why_unknown(values)))
    ax.margins(0.05)
    return drawn, entries


def draw_map(canvas: Canvas, values: FloatArray, plan: Plan | None) -> tuple[Any, list[Any]]:
    """Draw edges in the colour of the mean value of their ends; return image and entries.

    Edges between starts that end in the same loop have its tint instead.
    """
    ax, graph = canvas.ax, canvas.graph
    once = graph.tails < graph.indices
    if graph.directed:
        once |= ~_has_way_back(graph)
    x, y = graph.tails[once], graph.indices[once]
    ends = canvas.positions[np.column_stack([x, y])]
    width = float(np.clip(0.16 * canvas.room, 0.5, 2.2))
    mean = 0.5 * (values[x] + values[y])
    known = np.isfinite(mean)
    look: dict[str, Any] = {"capstyle": "round"}
    shown: dict[str, Any] = {"array": mean[known], "cmap": marks.colour_map(dark=True)}
    drawn = marks.collect(ax, "LineCollection", ends[known], linewidths=width, **shown, **look)
    entries = []
    if not known.all():
        marks.draw_lines(ax, ends[~known], width, colors=marks.GREY, **look)
        text = marks.why_unknown(values)
        entries.append(marks.entry("line", text, color=marks.GREY, linewidth=width))
    if plan is not None:
        failing = (plan.basin[x] == plan.basin[y]) & (plan.basin[x] != -1) & known
        tint = marks.tints(plan)[x[failing]]
        tint[:, 3] = (tint[:, 3] > 0).astype(float)
        marks.draw_lines(ax, ends[failing], width, colors=tint, **look)
    ax.update_datalim(canvas.positions)
    ax.autoscale_view()
    ax.margins(0.05)
    return drawn, entries


def _has_way_back(graph: Graph) -> BoolArray:
    """Whether each arc has an arc back."""
    n, x, y = graph.num_vertices, graph.tails.astype(np.int64), graph.indices.astype(np.int64)
    return np.isin(y * n + x, x * n + y)


def draw_edges(canvas: Canvas) -> list[Any]:
    """Draw the edges and their one-way marks, and return the legend entries of those."""
    graph, paper = canvas.graph, canvas.room**2 * canvas.graph.num_vertices
    alone = np.zeros(graph.num_arcs, dtype=bool)
    if graph.directed:
        alone = ~_has_way_back(graph)
    tails = canvas.positions[graph.tails]
    way = canvas.positions[graph.indices] - tails
    length = np.hypot(*way.T) / canvas.point
    entries = []
    once = np.flatnonzero((alone | (graph.tails < graph.indices)) & (length > 0))
    width = float(np.clip(0.06 * canvas.room, 0.3, 0.7))
    faint = _SHADE * paper / max(width * float(length[once].sum()), 1e-300)
    kept = _sample(once, faint / _FAINTEST)
    ends = np.stack([tails[kept], tails[kept] + way[kept]], axis=1)
    alpha = float(np.clip(faint, _FAINTEST, _DARKEST))
    marks.draw_lines(canvas.ax, ends, width, alpha=alpha, zorder=1)
    if kept.size < once.size:
        text = f"edge ({kept.size:,} of {once.size:,})"
        entries.append(marks.entry("line", text, linewidth=0.7, alpha=0.35))
    pointed = once[alone[once]]
    if pointed.size:
        size = float(np.clip(0.2 * canvas.room, 3.2, 8.0))
        kept = _sample(pointed, _POINTED * paper / (pointed.size * size**2))
        look: dict[str, Any] = {"edgecolors": marks.CROSSES, "linewidths": 0.1 * size}
        places = tails[kept] + 0.6 * way[kept]
        marks.draw_chevrons(canvas.ax, places, way[kept], size * canvas.point, zorder=1.5, **look)
        some = f" ({kept.size:,} of {pointed.size:,})" if kept.size < pointed.size else ""
        entries.append(marks.entry("chevron", "one way" + some))
    return entries


def _sample(chosen: IntArray, share: float) -> IntArray:
    """Return a random share of the edges, the same every time; all if the share is 1 or more."""
    if share >= 1:
        return chosen
    return chosen[np.random.default_rng(0).random(chosen.size) < share]


# A maze as a raster. Rows are counted from the bottom. Borders have whole coordinates, measured
# from the lower left corner of the raster: border c is left of column c, or below row c.


class Lattice(NamedTuple):
    """Vertices on a raster, and the moves between them.

    Attributes
    ----------
    rows, columns : (n,) int arrays
        Place of every vertex.
    corner : (int, int)
        Position, x and y, of the place at row 0 and column 0.
    shape : (int, int)
        Number of rows and of columns.
    across : (rows, columns + 1) int8 array
        For every border beside a place: 1 if an arc crosses it to the right, 2 to the left, 3 both.
    upright : (rows + 1, columns) int8 array
        For every border below or above a place: 1 if an arc crosses it upwards, 2 downwards.
    """

    rows: IntArray
    columns: IntArray
    corner: tuple[int, int]
    shape: tuple[int, int]
    across: NDArray[np.int8]
    upright: NDArray[np.int8]

    def raster(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return values at their places, NaN (or transparent) elsewhere."""
        image = np.full(self.shape + values.shape[1:], np.nan)
        image[self.rows, self.columns] = values
        return image

    def middles(self, side: int) -> BoolArray:
        """Return a mask of the vertices in the middle of square blocks of this side."""
        row, column = self.rows % side == side // 2, self.columns % side == side // 2
        middle: BoolArray = row & column
        return middle

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, right, bottom and top of the raster."""
        x, y = self.corner
        return (x - 0.5, x + self.shape[1] - 0.5, y - 0.5, y + self.shape[0] - 0.5)

    @property
    def walls(self) -> FloatArray:
        """(k, 2, 2) lines, as coordinates of borders, that no arc crosses."""
        inside = np.isfinite(self.raster(np.zeros(self.rows.size)))
        flat, steep = (np.pad(inside, pad) for pad in (((1, 1), (0, 0)), ((0, 0), (1, 1))))
        level = _runs((flat[1:] | flat[:-1]) & (self.upright == 0))
        plumb = _runs(((steep[:, 1:] | steep[:, :-1]) & (self.across == 0)).T)[..., ::-1]
        return np.concatenate([level, plumb])

    @property
    def cell(self) -> int:
        """Side of the largest square cells at whose borders all walls and one-way borders lie."""
        changes = [_changes(self.across), _changes(self.upright.T)]
        return math.gcd(*self.walls.astype(int).ravel().tolist(), *np.concatenate(changes).tolist())

    def one_way(self) -> tuple[FloatArray, FloatArray]:
        """Return (k, 2) middles of the cells' one-way borders, and their directions."""
        side = self.cell
        places, ways = [], []
        for axis, borders in enumerate((self.across, self.upright.T)):
            kind = borders[side // 2 :: side, ::side]
            line, border = np.nonzero((kind == _AHEAD) | (kind == _BACK))
            place = np.column_stack([border * side, (line + 0.5) * side])
            way = np.zeros(place.shape)
            way[:, axis] = np.where(kind[line, border] == _AHEAD, 1.0, -1.0)
            places.append(place[:, ::-1] if axis else place)
            ways.append(way)
        return np.concatenate(places) + self.corner - 0.5, np.concatenate(ways)

    def bars(self, chosen: NDArray[np.bool_]) -> FloatArray:
        """Return (k, 4, 2) corners of bars along the rows that cover the chosen vertices."""
        image = np.nan_to_num(self.raster(chosen.astype(float))) > 0
        ends = _runs(image) + self.corner - 0.5
        return np.concatenate([ends, ends[:, ::-1] + [0.0, 1.0]], axis=1)


def find_lattice(graph: Graph, positions: FloatArray) -> Lattice | None:
    """Find the raster that a graph lies on; None unless nearly all arcs join lattice neighbours."""
    if (np.round(positions) != positions).any() or np.abs(positions).max() > 2.0**53:
        return None
    place = positions.astype(np.int64)
    corner = place.min(axis=0)
    columns, rows = (place - corner).T
    shape = (int(rows.max()) + 1, int(columns.max()) + 1)
    if math.prod(shape) > 100 * graph.num_vertices:
        return None
    if np.unique(rows * shape[1] + columns).size < graph.num_vertices:
        return None
    step = place[graph.indices] - place[graph.tails]
    if np.count_nonzero(np.abs(step).sum(axis=1) != 1) > _JUMPS * graph.num_arcs:
        return None
    across = np.zeros((shape[0], shape[1] + 1), np.int8)
    upright = np.zeros((shape[0] + 1, shape[1]), np.int8)
    for borders, x, y in ((across, 1, 0), (upright, 0, 1)):
        ahead, back = (graph.indices[(step == way).all(axis=1)] for way in ((x, y), (-x, -y)))
        borders[rows[ahead], columns[ahead]] |= _AHEAD  # the border behind the head
        borders[rows[back] + y, columns[back] + x] |= _BACK
    return Lattice(rows, columns, (int(corner[0]), int(corner[1])), shape, across, upright)


def find_jumps(graph: Graph, positions: FloatArray, lattice: Lattice) -> tuple[FloatArray, ...]:
    """Return (k, 2) tails and heads of the jumps of a lattice, one for those side by side."""
    from scipy import ndimage  # slow to import, and only lattices have jumps

    step = positions[graph.indices] - positions[graph.tails]
    far = np.flatnonzero(np.abs(step).sum(axis=1) != 1)
    tails, ways = [np.empty((0, 2))], [np.empty((0, 2))]
    for way in np.unique(step[far], axis=0):
        tail = graph.tails[far[(step[far] == way).all(axis=1)]]
        image = np.zeros(lattice.shape, dtype=bool)
        image[lattice.rows[tail], lattice.columns[tail]] = True
        patches, count = ndimage.label(image)
        middles = ndimage.center_of_mass(image, patches, range(1, count + 1))
        tails.append(np.array(middles)[:, ::-1] + lattice.corner)
        ways.append(np.tile(way, (count, 1)))
    tail = np.concatenate(tails)
    return tail, tail + np.concatenate(ways)


def _changes(borders: NDArray[np.int8]) -> IntArray:
    """Return the coordinates at which one-way borders meet borders open both ways."""
    both = borders == (_AHEAD | _BACK)
    one = (borders != 0) & ~both
    first, last = slice(None, -1), slice(1, None)
    beside = (one[first] & both[last]) | (both[first] & one[last])
    ends = [one[:, first] & both[:, last], both[:, first] & one[:, last]]
    return np.concatenate(
        [np.nonzero(beside)[0] + 1, np.nonzero(ends[0])[1], np.nonzero(ends[1])[1] + 1]
    )


def _runs(flags: NDArray[np.bool_]) -> FloatArray:
    """Return (k, 2, 2) ends, as (column, row), of the runs of True along each row."""
    change = np.diff(np.pad(flags, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    row, start = np.nonzero(change == 1)
    _, end = np.nonzero(change == -1)
    ends = [np.column_stack([column, row]) for column in (start, end)]
    return np.stack(ends, axis=1).astype(np.float64)
