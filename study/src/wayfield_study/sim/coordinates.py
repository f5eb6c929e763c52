"""Positions of a graph's vertices in an environment, and the vertex of an (x, y).

A cell of a maze is a square of side `unit` metres. Both suites put x along the columns. OGBench
counts y along the rows, downwards in the layout's text; Gymnasium-Robotics counts it upwards:

- OGBench: cell (i, j) is centred at (unit · (j - 1), unit · (i - 1));
- Gymnasium-Robotics: at (unit · (j + ½ - columns / 2), unit · (rows / 2 - i - ½)).

`wayfield.grid_graph` with refinement r places r × r vertices in each free cell, each in the middle
of its own small square. A point belongs to the vertex of its square. The centre of a body may be
over a wall while its legs are not; such a point belongs to the nearest vertex.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt

from wayfield.checks import KeepsReadOnly, as_whole, frozen
from wayfield.errors import InputError
from wayfield.graphs.graph import Graph
from wayfield.graphs.grid import grid_graph
from wayfield.graphs.layouts import Layout
from wayfield.typing import FloatArray

Point: TypeAlias = FloatArray | Sequence[float]
"""An (x, y) in metres."""


@dataclass(frozen=True, eq=False, repr=False)
class Coordinates(KeepsReadOnly):
    """The vertices of a maze in metres, at one refinement.

    Attributes
    ----------
    layout : Layout
        The maze.
    refinement : int
        Vertices along the side of a cell, r.
    unit : float
        Side of a cell in metres.
    corner : (float, float)
        (x, y) of the outer corner of cell (0, 0).
    down : int
        1 where y grows with the rows, as in OGBench, -1 where it falls.

    Examples
    --------
    >>> import wayfield as wf
    >>> places = ogbench_coordinates(wf.load_layout("medium"), refinement=2)
    >>> places.xy[0], places.vertex((-1.0, -1.0)), places.spacing
    (array([-1., -1.]), 0, 2.0)
    """

    layout: Layout
    refinement: int
    unit: float
    corner: tuple[float, float]
    down: int

    @property
    def spacing(self) -> float:
        """Metres between adjacent vertices."""
        return self.unit / self.refinement

    @cached_property
    def xy(self) -> FloatArray:
        """(n, 2) positions in metres of the vertices of ``grid_graph(layout, refinement)``."""
        rows, columns = np.nonzero(self._free)
        return frozen(self._metres(rows + 0.5, columns + 0.5))

    @cached_property
    def clearance(self) -> FloatArray:
        """(n,) metres from every vertex to the nearest wall; inf if there is none."""
        walls = self.at(1)._metres(*(np.argwhere(~self.layout.free).T + 0.5))
        if not len(walls):
            return frozen(np.full(len(self.xy), np.inf))
        nearest = np.full(len(self.xy), np.inf)
        for wall in walls:
            gap = np.maximum(np.abs(self.xy - wall) - self.unit / 2, 0.0)
            np.minimum(nearest, np.hypot(*gap.T), out=nearest)
        return frozen(nearest)

    @property
    def roomy(self) -> NDArray[np.int64]:
        """Vertices at least a quarter of a cell from every wall, where a body has room to start."""
        return np.flatnonzero(self.clearance >= self.unit / 4 - 1e-9)

    def vertex(self, xy: Point) -> int:
        """Return the vertex of the square that holds the point; over a wall, the nearest one."""
        return int(self.vertices(np.asarray(xy)[None])[0])

    def vertices(self, points: FloatArray) -> NDArray[np.int64]:
        """Return the (k,) vertices of (k, 2) points, each as by `vertex`."""
        return self._nearest[self.squares(points)]

    def squares(self, points: FloatArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return rows and columns of the squares, walls included, that hold (k, 2) points.

        For a point outside the map, it is the nearest square at the border.
        """
        rows, columns = self._free.shape
        place = np.clip(np.floor(self._off(points)).astype(np.int64), 0, (columns - 1, rows - 1))
        return place[:, 1], place[:, 0]

    def is_free(self, xy: Point) -> bool:
        """Whether the point lies in a free cell."""
        x, y = self._off(np.asarray(xy))
        rows, columns = self._free.shape
        return 0 <= y < rows and 0 <= x < columns and bool(self._free[int(y), int(x)])

    def at(self, refinement: int) -> Coordinates:
        """Return the same maze at another refinement."""
        refinement = as_whole(refinement, "refinement", least=1)
        return Coordinates(self.layout, refinement, self.unit, self.corner, self.down)

    def of(self, graph: Graph) -> Coordinates:
        """Return the same maze at the refinement of a graph; raise if it is not of this maze.

        Raises
        ------
        InputError
            If the vertices are not those of ``grid_graph(layout, r)`` for any r.
        """
        cells, n = self.layout.num_free, graph.num_vertices
        refinement = round((n / cells) ** 0.5)
        if refinement < 1 or cells * refinement**2 != n:
            raise InputError(
                f"the plan must be on a graph of {self.layout.name!r}, which has {cells} free "
                f"cells, got one of {n} vertices"
            )
        expected = grid_graph(self.layout, refinement).positions
        assert expected is not None
        if graph.positions is None or not np.array_equal(graph.positions, expected):
            raise InputError(
                f"the plan must be on grid_graph({self.layout.name!r}, {refinement}), got a graph "
                "with other positions"
            )
        return self.at(refinement)

    @cached_property
    def _free(self) -> NDArray[np.bool_]:
        return self.layout.free.repeat(self.refinement, axis=0).repeat(self.refinement, axis=1)

    @cached_property
    def _nearest(self) -> NDArray[np.int64]:
        """Vertex of every square of the refined grid, walls included."""
        number = np.full(self._free.shape, -1, dtype=np.int64)
        number[self._free] = np.arange(np.count_nonzero(self._free))
        where = distance_transform_edt(~self._free, return_distances=False, return_indices=True)
        return frozen(number[tuple(where)])

    def _off(self, points: FloatArray) -> FloatArray:
        """Return columns and rows of points, counted in squares from the outer corner."""
        off: FloatArray = (points - self.corner) * (1.0, self.down) / self.spacing
        return off

    def _metres(self, rows: NDArray[Any], columns: NDArray[Any]) -> FloatArray:
        x = self.corner[0] + self.spacing * columns
        y = self.corner[1] + self.down * self.spacing * rows
        return np.stack([x, y], axis=-1)

    def __repr__(self) -> str:
        return f"Coordinates({self.layout!r}, refinement {self.refinement}, {self.spacing:g} m)"


def ogbench_coordinates(layout: Layout, refinement: int = 1, unit: float = 4.0) -> Coordinates:
    """Return the coordinates of OGBench's mazes: cell (1, 1) at the origin, y downwards.

    Examples
    --------
    >>> import wayfield as wf
    >>> ogbench_coordinates(wf.load_layout("medium")).xy[:2]
    array([[0., 0.],
           [4., 0.]])
    """
    return Coordinates(layout, refinement, unit, (-1.5 * unit, -1.5 * unit), 1)


def robotics_coordinates(layout: Layout, refinement: int = 1, unit: float = 1.0) -> Coordinates:
    """Return the coordinates of Gymnasium-Robotics' mazes: centre at the origin, y upwards.

    Examples
    --------
    >>> import wayfield as wf
    >>> robotics_coordinates(wf.load_layout("umaze")).xy[:2]
    array([[-1.,  1.],
           [ 0.,  1.]])
    """
    rows, columns = layout.shape
    return Coordinates(layout, refinement, unit, (-columns / 2 * unit, rows / 2 * unit), -1)
