"""Graphs on a raster: the positions of vertices, and which borders between them can be crossed.

Rows are counted from the bottom. Borders have whole coordinates, measured from the lower left
corner of the raster: border c is left of column c, or below row c.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from ..graphs.graph import Graph
from ..typing import FloatArray, IntArray

_AHEAD, _BACK = 1, 2
_JUMPS = 1 / 8  # the share of arcs that may lead elsewhere than to a neighbour


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
