"""What is drawn on: the axes, the graph, and sizes that suit it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import InputError
from ..graph import Graph
from ..kernels._types import FloatArray
from ._lattice import Lattice, find_lattice

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SLOTS = 32  # arrows along the longer side of a picture


class Canvas(NamedTuple):
    """Sizes are in the units of the positions, so that they hold for a figure of any size.

    Those of graphs that are no mazes follow from the room on paper: an edge may be of any length.
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


def plane(graph: Graph) -> FloatArray:
    """Positions of the vertices, if they lie in the plane."""
    positions = graph.positions
    if positions is None:
        raise InputError("the graph has no positions; give it some with graph.with_positions")
    if positions.shape[1] != 2:
        raise InputError(f"a picture needs positions in the plane, not in {positions.shape[1]}-D")
    if graph.num_vertices == 0:
        raise InputError("the graph has no vertices to draw")
    return positions


def make_canvas(ax: Axes, graph: Graph, positions: FloatArray) -> Canvas:
    """Find out whether the graph is a maze, and choose sizes that suit it."""
    lattice = find_lattice(graph, positions)
    side = max(float(np.ptp(positions, axis=0).max()), 1e-12)
    point, room = _room(ax, positions, side)
    disc = float(np.clip(0.4 * room, 1.8, 9.5))
    edges = np.hypot(*(positions[graph.tails] - positions[graph.indices]).T)
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


def _room(ax: Axes, positions: FloatArray, side: float) -> tuple[float, float]:
    """Size of a point in units of the positions, and points to the side of a vertex's square."""
    paper = np.array([ax.bbox.width, ax.bbox.height]) * 72 / ax.figure.dpi
    span = np.maximum(np.ptp(positions, axis=0), side / 10)  # a path has room beside it
    point = float((span / paper).max())
    return point, math.sqrt(float(span.prod()) / len(positions)) / point
