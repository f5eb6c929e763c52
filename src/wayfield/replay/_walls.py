"""Thin walls and one-way doors that run through the cell of a landmark.

**Problem.** Observations of one cell are one state. If a thin wall or a one-way door runs through
the cell, that joins its two sides, and a plan goes through the wall.

**Evidence.** `kernels.walls` finds planes that no step of a cell crosses downwards although at
least `LEAST` steps come within one step length of it. A wall continues through adjacent cells as
long as hardly any step crosses it there. One plane cuts them all: with one plane per cell, a step
that slips between two of them would join the sides again. A behaviour that lingers, or keeps to the
middle of corridors, leaves many lines that nobody crosses. So a wall counts only if it was
approached head-on, to within one step length, `ENOUGH` times, and if there is no short way around
it: elsewhere it would make no difference.

**Cure.** A cell that a wall cuts becomes two states, one above and one below. Counting goes on as
usual: nothing leads through a wall, since nobody went there. Stitched arcs through it are refuted
by the approaches: they work with Laplace's probability, 1 / (n + 2).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree

from .._arrays import frozen
from ..kernels._types import BoolArray, FloatArray, IntArray
from ..kernels.merging import Rows
from ..kernels.stays import step_lengths
from ..kernels.walls import find_walls, gap_across, steps_by_cell
from ._counts import Located, longest_step
from ._dataset import Buffer
from ._replay import assemble
from ._stitching import Stitched, has_path, median_arc

LEAST = 10
"""Least number of steps near a wall, and of observations on either side of it."""
ENOUGH = 10
"""Least number of approaches to a wall, over all cells that it cuts."""
_HEADING = 0.5
"""An approach comes nearer by at least this share of a step length in one step."""
_APART = 50
"""Least number of steps between two approaches of the same episode."""
_ANGLES = 24
"""Directions of walls to try in the plane."""
_AXES = 16
"""In more dimensions: largest number of axes, and of neighbours, to take directions from."""
_THIN = 0.01
"""The plane lies at most this share of a step length below the lowest step from above."""
_STRAY = 0.05
"""A wall continues where at most this share of the steps that come near cross it."""
_TURNED, _AS_MANY = 0.85, 0.2
"""Other directions are tried if the cosine of their angle to the first is at least the former, and
if at least this share of the steps comes near the wall then."""
_IN_ORDER = 0.5
"""Least share of rows that the next row continues."""
_AROUND = 3
"""A segment meets a wall if the wall cuts one of this many cells around the crossing point."""
_STRIDE = 0.9
"""The step length is this quantile of the nonzero steps."""


class Walls(NamedTuple):
    """Planes that nobody crosses downwards, and the cells that they cut."""

    sites: Rows
    """(m, d) landmarks whose cells may be cut, in the space of features."""
    plane: IntArray
    """(m,) wall that cuts the cell; -1 for none."""
    above: IntArray
    """(m,) state above the wall; the state below has the number of the cell."""
    normal: FloatArray
    """(w, d) unit vectors."""
    offset: FloatArray
    """(w,) offsets of the planes."""
    down: FloatArray
    """(w,) approaches from above; nobody crossed."""
    up: FloatArray
    """(w,) steps that came near from below if hardly any crossed upwards either, else 0."""
    shut: BoolArray
    """(m,) cells whose wall is not crossed upwards either."""

    @classmethod
    def of(cls, sites: Rows, plane: IntArray, *planes: FloatArray, shut: BoolArray) -> Walls:
        """Return walls; states above them are numbered after all cells."""
        cut = plane >= 0
        above = np.where(cut, plane.size + np.cumsum(cut) - 1, np.arange(plane.size))
        return cls(sites, *map(frozen, (plane, above, *planes, shut)))

    def side(self, cells: IntArray, features: Rows) -> IntArray:
        """Return the states of observations whose cells are known."""
        plane = self.plane[cells]
        cut = np.flatnonzero(plane >= 0)
        states = np.array(cells)
        which = plane[cut]
        heights = np.einsum("ij,ij->i", features[cut], self.normal[which])
        upper = cut[heights > self.offset[which]]
        states[upper] = self.above[cells[upper]]
        return states

    def only(self, kept: BoolArray) -> Walls | None:
        """Return the walls that are kept; None if none is."""
        if not kept.any():
            return None
        number = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)
        plane = number[self.plane]
        planes = self.normal[kept], self.offset[kept], self.down[kept], self.up[kept]
        return Walls.of(self.sites, plane, *planes, shut=self.shut & (plane >= 0))

    def between(self, tails: Rows, heads: Rows) -> tuple[BoolArray, FloatArray]:
        """Return whether a wall lies between points, and the approaches in this direction."""
        met, against = np.zeros(len(tails), dtype=bool), np.zeros(len(tails))
        tree = cKDTree(self.sites)
        for k in range(self.offset.size):
            x, y = tails @ self.normal[k] - self.offset[k], heads @ self.normal[k] - self.offset[k]
            through = np.flatnonzero((x > 0) != (y > 0))
            if not through.size:
                continue
            # the plane goes on for ever, the wall only where it cuts cells
            share = (x[through] / (x[through] - y[through]))[:, None]
            points = tails[through] + share * (heads[through] - tails[through])
            _, around = tree.query(points, np.arange(1, min(_AROUND, len(self.sites)) + 1))
            through = through[(self.plane[np.asarray(around)] == k).any(axis=1)]
            met[through] = True
            worth = np.where(x[through] > 0, self.down[k], self.up[k])
            against[through] = np.maximum(against[through], worth)
        return met, against

    def refute(self, arcs: Stitched, features: Rows) -> Stitched:
        """Lower the odds of stitched arcs that lead through a wall."""
        places = features.astype(np.float64)
        _, against = self.between(places[arcs.tail], places[arcs.head])
        odds = np.where(against > 0, np.minimum(arcs.odds, 1.0 / (against + 2.0)), arcs.odds)
        return arcs._replace(odds=odds)


class Cut(NamedTuple):
    """States after cells were cut in two."""

    located: Located
    walls: Walls
    halves: IntArray
    """States that are half a cell."""
    row: IntArray
    """Observation that represents each of them."""


def cut_cells(buffer: Buffer, located: Located, jump: float | None) -> Cut | None:
    """Cut the cells that a wall runs through into two states each; None if there is no wall.

    Steps longer than `jump` are jumps.
    """
    walls = _Steps(buffer, located, jump).find_walls()
    while walls is not None:
        cut = _cut_by(walls, buffer, located)
        # A wall matters if one cannot walk around it nearby: if some state that follows from below
        # it is far to go to from above.
        replay = assemble(buffer, cut.located, None, None, 0.0, jump, exact=False)
        graph = replay.graph
        halved = np.flatnonzero(walls.plane >= 0)
        above = np.full(graph.num_vertices, -1)
        above[halved] = walls.above[halved]
        on = (above[graph.tails] >= 0) & (above[graph.tails] != graph.indices) & replay.stepped
        below, heads = graph.tails[on], graph.indices[on].astype(np.int64)
        lengths = graph.lengths[on] + median_arc(replay)
        far = ~has_path(replay, above[below], heads, lengths)
        kept = np.zeros(walls.offset.size, dtype=bool)
        kept[walls.plane[below[far]]] = True
        if kept.all():
            return cut
        walls = walls.only(kept)
    return None


def _cut_by(walls: Walls, buffer: Buffer, cells: Located) -> Cut:
    """Cut cells by given walls."""
    here = walls.side(cells.here, buffer.first).astype(cells.here.dtype)
    if len(buffer.second):
        there = walls.side(cells.there, buffer.second).astype(cells.there.dtype)
    else:
        there = np.append(here[1:], here[-1:])
    # A plane does not fit exactly, and one step through it would join both sides for good: the few
    # steps that cross a wall end where they began.
    one, two = cells.here, cells.there
    same = buffer.valid & (walls.plane[one] >= 0) & (walls.plane[one] == walls.plane[two])
    begun, ended = here != one, there != two  # above
    crossed = (begun & ~ended) | (~begun & ended & walls.shut[one] & walls.shut[two])
    there = np.where(same & crossed, here, there)
    # Each half is represented by the observation nearest to the mean of its observations.
    cut = np.flatnonzero(walls.plane >= 0)
    halves = np.concatenate([cut, walls.above[cut]])
    order = np.argsort(here, kind="stable")
    begin, end = (np.searchsorted(here, halves, side, order) for side in ("left", "right"))
    row = np.empty(halves.size, np.int64)
    for i in range(halves.size):
        own = buffer.first[order[begin[i] : end[i]]]
        away = np.linalg.norm(own - own.mean(axis=0, dtype=np.float64), axis=1)
        row[i] = order[begin[i] + np.argmin(away)]
    states = np.concatenate([cells.states, cells.states[cut]])
    states[halves] = buffer.first[row]
    return Cut(Located(here, there, states), walls, halves, row)


class _Steps:
    """Steps of a buffer, by the cells that they begin or end in."""

    def __init__(self, buffer: Buffer, located: Located, jump: float | None) -> None:
        self.here, there, self.sites = located
        self.first, self.episode = buffer.first, np.cumsum(~buffer.joined)
        self.second = buffer.second if len(buffer.second) else buffer.first[1:]
        # rows in no order do not tell many approaches from one agent that stayed
        self.in_order = bool(buffer.joined.mean() >= _IN_ORDER)
        lengths = step_lengths(buffer.first, buffer.second, buffer.valid)
        moved = lengths[buffer.valid & (lengths > 0)]
        self.stride = float(np.quantile(moved, _STRIDE)) if moved.size else 0.0
        longest = longest_step(lengths) if jump is None else jump
        row, n = np.flatnonzero(buffer.valid & (lengths <= longest)), len(self.sites)
        self.begin, self.steps = steps_by_cell(row, self.here, there, n)
        # cells that a step joins, either way
        tails, heads = self.here[row], there[row]
        keys = np.unique(tails.astype(np.int64) * n + heads)
        one, two = (end[keys // n != keys % n] for end in np.divmod(keys, n))
        ends = np.concatenate([one, two]), np.concatenate([two, one])
        self.adjacent = sparse.csr_array((np.ones(ends[0].size), ends), shape=(n, n))

    def of(self, cell: int) -> IntArray:
        """Return the rows of a cell's steps."""
        rows: IntArray = self.steps[self.begin[cell] : self.begin[cell + 1]]
        return rows

    def heights(self, rows: IntArray, normal: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return where steps begin and end along a direction."""
        return self.first[rows] @ normal, self.second[rows] @ normal

    def find_walls(self) -> Walls | None:
        """Return all walls with enough approaches, or None."""
        n, d = self.sites.shape
        if d == 1 or self.stride == 0.0 or not self.in_order:
            return None
        normals = self._normals()
        options = self.first, self.second, self.here
        found = find_walls(self.begin, self.steps, *options, normals, self.stride, LEAST)
        normal, low, high, flux = found
        made: list[tuple[FloatArray, float, float]] = []
        owned: list[IntArray] = []
        met = np.zeros(n, dtype=bool)
        for cell in np.argsort(-flux, kind="stable").tolist():
            if flux[cell] == 0 or met[cell]:
                continue
            # In one cell a plane that is a little askew is as good as the right one. Only the right
            # one continues through the cells next to it.
            tried = [(normal[cell], low[cell], high[cell])]
            for way in normals[cell % len(normals)]:
                along = float(way @ normal[cell])
                if _TURNED <= abs(along) < 1.0 - 1e-12:
                    way = np.copysign(1.0, along) * way
                    gap = gap_across(self.of(cell), *options, cell, way, self.stride, LEAST)
                    if gap[2] >= _AS_MANY * flux[cell]:
                        tried.append((way, gap[0], gap[1]))
            best, bottom, top, cells = max(
                ((way, *self._follow(cell, way, *gap)) for way, *gap in tried),
                key=lambda wall: (wall[3].size, self._approaches(wall[3], wall[0], wall[2])),
            )
            made.append((best, bottom, top))
            owned.append(cells)
            met[cells] = True
        if not made:
            return None
        plane = np.full(n, -1)
        for k in sorted(range(len(made)), key=lambda k: owned[k].size):
            plane[owned[k]] = k  # the longest comes last, and is whole
        normal = np.array([one for one, *_ in made])
        # steps from above stop right at a wall; below, there may be few steps
        gaps = np.array([gap for _, *gap in made])
        offset = np.maximum(gaps.mean(axis=1), gaps[:, 1] - _THIN * self.stride)
        # a cell is cut only if it has observations on both sides
        row = np.flatnonzero(plane[self.here] >= 0)
        cell = self.here[row]
        upper = np.einsum("ij,ij->i", self.first[row], normal[plane[cell]]) > offset[plane[cell]]
        total, above = np.bincount(cell, None, n), np.bincount(cell, upper, n)
        plane = np.where((above > 0) & (above < total), plane, -1)
        down, up, shut = np.zeros(len(made)), np.zeros(len(made)), np.zeros(n, dtype=bool)
        for k in np.unique(plane[plane >= 0]):
            down[k] = self._approaches(np.flatnonzero(plane == k), normal[k], offset[k])
        # whether hardly any of the steps that come near from below cross upwards
        levels = -self.stride * np.linspace(0.0, 1.0, 9)[:, None]
        for cell in np.flatnonzero(plane >= 0).tolist():
            k = plane[cell]
            x, y = (of - offset[k] for of in self.heights(self.of(cell), normal[k]))
            through = ((x < levels) & (y > levels)).sum(axis=1)
            shut[cell] = through[0] <= _STRAY * through.max()
            up[k] += through.max() * shut[cell]
        return Walls.of(self.sites, plane, normal, offset, down, up, shut=shut).only(down >= ENOUGH)

    def _follow(
        self, cell: int, normal: FloatArray, low: float, high: float
    ) -> tuple[float, float, IntArray]:
        """Follow a wall through adjacent cells in which hardly any step crosses it.

        Returns the gap that its offset may lie in, and the cells.
        """
        queue, cells, asked = [cell], [cell], {cell}
        while queue:
            at = queue.pop(0)
            for other in self.adjacent.indices[slice(*self.adjacent.indptr[at : at + 2])].tolist():
                if other in asked:
                    continue
                asked.add(other)
                rows = self.of(other)
                x, y = self.heights(rows, normal)
                own = x[self.here[rows] == other]
                if not own.size or own.min() >= high or own.max() <= low:
                    continue
                # the part of the gap that the fewest steps of this cell lead down through
                across = (y < x) & (x > low) & (y < high)
                cuts = np.concatenate([[low, high], x[across], y[across]]).clip(low, high)
                cuts = np.unique(cuts)
                middles = 0.5 * (cuts[1:] + cuts[:-1])
                starts, ends = np.sort(y[y < x]), np.sort(x[y < x])
                flux = np.searchsorted(starts, middles) - np.searchsorted(ends, middles)
                best = int(np.flatnonzero(flux == flux.min())[-1])
                levels = high + self.stride * np.linspace(0.125, 1.0, 8)
                above = np.searchsorted(starts, levels) - np.searchsorted(ends, levels)
                if flux[best] <= _STRAY * above.max():
                    low, high = float(cuts[best]), float(cuts[best + 1])
                    cells.append(other)
                    queue.append(other)
        return low, high, np.array(cells)

    def _approaches(self, cells: IntArray, normal: FloatArray, offset: float) -> int:
        """Count the approaches to a plane from above, head-on and to within one step length.

        An agent that lingers there counts once: all of those steps are one piece of evidence.
        """
        rows = np.unique(np.concatenate([self.of(cell) for cell in cells]))
        x, y = (of - offset for of in self.heights(rows, normal))
        rows = rows[(y > 0) & (y <= self.stride) & (x - y >= _HEADING * self.stride)]
        new = (np.diff(rows) > _APART) | (np.diff(self.episode[rows]) > 0)
        return int(rows.size > 0) + int(new.sum())

    def _normals(self) -> FloatArray:
        """Return the directions of walls to try: (1, k, d) for all cells, or (m, k, d)."""
        n, d = self.sites.shape
        if d == 2:
            angle = np.pi * np.arange(_ANGLES) / _ANGLES
            return np.stack([np.cos(angle), np.sin(angle)], axis=1)[None]
        axes, adjacent = np.eye(d)[:_AXES], self.adjacent
        normals = np.tile(axes[:1], (n, len(axes) + _AXES, 1))
        normals[:, : len(axes)] = axes
        for cell in range(n):
            others = adjacent.indices[adjacent.indptr[cell] : adjacent.indptr[cell + 1]][:_AXES]
            way = self.sites[others].astype(np.float64) - self.sites[cell]
            size = np.linalg.norm(way, axis=1, keepdims=True)
            way, size = way[size[:, 0] > 0], size[size[:, 0] > 0]
            normals[cell, len(axes) : len(axes) + len(way)] = way / size
        return normals
