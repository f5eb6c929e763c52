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
    """Sizes are in the units of the positions, so that they hold for a figure of any size."""

    ax: Axes
    graph: Graph
    positions: FloatArray
    lattice: Lattice | None
    """Where the vertices lie on a raster, if they do."""
    unit: float
    """A typical edge."""
    steps: int
    """Edges along a block; each block has one arrow."""
    dot: float
    """Diameter of a label."""
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
    edges = np.hypot(*(positions[graph.tails] - positions[graph.indices]).T)
    unit = float(np.median(edges)) if edges.size else side
    steps = max(1, math.ceil(side / (_SLOTS * unit)))
    if lattice is not None:  # whole blocks per cell of the maze, so that arrows keep off the walls
        cell = lattice.cell
        steps = next((k for k in range(steps, cell + 1) if cell % k == 0), steps)
    dot, star = max(0.3 * unit, side / 110), max(0.5 * unit, side / 42)
    return Canvas(ax, graph, positions, lattice, unit, steps, dot, star)
