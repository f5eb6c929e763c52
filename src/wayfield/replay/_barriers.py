"""Barriers: doors that open one way and thin walls that run through the cell of a landmark.

**Problem.** Whoever enters a cell may leave it for wherever anybody did. If a door that opens one
way, or a thin wall, runs through a cell, that joins both sides, and a plan walks through it.

**Evidence.** `kernels.barriers` finds planes that nobody of a cell crosses downwards although at
least `LEAST` steps come within one step of it. A barrier goes on through the cells next to it for
as long as hardly anybody crosses it there either, so that one plane cuts them all: with a plane
each, someone who slips through between two of them would join the sides again. A behaviour that
lingers, or keeps to the middle of its ways, has many a line that nobody crosses. So a barrier
counts only if somebody headed straight for it and came within one step of it `ENOUGH` times, and if
one cannot walk around it nearby: elsewhere it would make no difference.

**Cure.** A cell that a barrier cuts becomes two states, one above and one below. The rest is
counted as always: nothing leads through a barrier, since nobody went. Guesses through it are
refuted by those who came near: they work with Laplace's odds, 1 / (n + 2).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree

from .._arrays import frozen
from ..kernels._types import BoolArray, FloatArray, IntArray
from ..kernels.barriers import find_barriers, gap_across, steps_by_cell
from ..kernels.merging import Rows
from ..kernels.stays import step_lengths
from ._buffer import Buffer
from ._guesses import SLACK, Guesses, median_arc, ways_between
from ._moves import longest_step
from ._replay import assemble
from ._states import Located

LEAST = 10
"""Steps that come near a barrier and observations on either side of it, at least."""
ENOUGH = 10
"""Approaches to a barrier, over all cells that it cuts, at least."""
_HEADING = 0.5
"""Whoever heads for a barrier comes nearer by at least this share of a step at once."""
_APART = 50
"""Steps that lie at least between two approaches of the same walk."""
_ANGLES = 24
"""Directions that barriers of a plane world are looked for in."""
_AXES = 16
"""In more dimensions: so many axes, and as many neighbours to look towards."""
_THIN = 0.01
"""The plane is taken to be so much of a step below the lowest that anybody from above comes."""
_STRAY = 0.05
"""A barrier goes on where at most this share of the steps that come near cross it, all the same."""
_TURNED, _AS_MANY = 0.85, 0.2
"""Cosine of the angle that a barrier is turned by at most to see whether it goes on further, and
the share of the steps that must come near it then."""
_IN_ORDER = 0.5
"""Rows that the next one continues, at least."""
_AROUND = 3
"""A barrier is met where it cuts one of so many cells around."""
_STRIDE = 0.9
"""One step is as long as this share of the steps is at most."""


class Barriers(NamedTuple):
    """Planes that nobody crosses downwards, and the cells that they cut."""

    sites: Rows
    """(m, d) landmarks whose cells may be cut, in the space of features."""
    plane: IntArray
    """(m,) which barrier cuts the cell; -1 for none."""
    above: IntArray
    """(m,) state above it; the one below has the number of the cell."""
    normal: FloatArray
    """(b, d) unit vectors."""
    offset: FloatArray
    """(b,) where the planes lie."""
    down: FloatArray
    """(b,) approaches from above; nobody crossed."""
    up: FloatArray
    """(b,) steps that came near from below if hardly anybody crossed that way either, else 0."""
    shut: BoolArray
    """(m,) cells whose barrier is not crossed upwards either."""

    def side(self, cells: IntArray, features: Rows) -> IntArray:
        """States of observations whose cells are known."""
        plane = self.plane[cells]
        cut = np.flatnonzero(plane >= 0)
        states = np.array(cells)
        which = plane[cut]
        heights = np.einsum("ij,ij->i", features[cut], self.normal[which])
        upper = cut[heights > self.offset[which]]
        states[upper] = self.above[cells[upper]]
        return states

    def only(self, kept: BoolArray) -> Barriers | None:
        """Those that are kept; None if none is."""
        if not kept.any():
            return None
        number = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)
        plane = number[self.plane]
        planes = self.normal[kept], self.offset[kept], self.down[kept], self.up[kept]
        shut = self.shut & (plane >= 0)
        return Barriers(self.sites, *map(frozen, (plane, _upper_states(plane), *planes, shut)))

    def between(self, tails: Rows, heads: Rows) -> FloatArray:
        """Evidence against going straight from each point to another; 0 where nothing is met."""
        against, _ = self._met(tails, heads)
        return against

    def parted(self, tails: Rows, heads: Rows) -> BoolArray:
        """Whether a barrier lies between points, in either direction."""
        _, met = self._met(tails, heads)
        return met

    def _met(self, tails: Rows, heads: Rows) -> tuple[FloatArray, BoolArray]:
        against, met = np.zeros(len(tails)), np.zeros(len(tails), dtype=bool)
        tree = cKDTree(self.sites)
        for k in range(self.offset.size):
            x, y = tails @ self.normal[k] - self.offset[k], heads @ self.normal[k] - self.offset[k]
            through = np.flatnonzero((x > 0) != (y > 0))
            share = (x[through] / (x[through] - y[through]))[:, None]
            points = tails[through] + share * (heads[through] - tails[through])
            if not through.size:
                continue
            _, around = tree.query(points, np.arange(1, min(_AROUND, len(self.sites)) + 1))
            through = through[(self.plane[np.asarray(around)] == k).any(axis=1)]
            met[through] = True
            worth = np.where(x[through] > 0, self.down[k], self.up[k])
            against[through] = np.maximum(against[through], worth)
        return against, met


def refuted(guesses: Guesses, barriers: Barriers, features: Rows) -> Guesses:
    """Lower the odds of guesses that lead through a barrier."""
    places = features.astype(np.float64)
    against = barriers.between(places[guesses.tail], places[guesses.head])
    odds = np.where(against > 0, np.minimum(guesses.odds, 1.0 / (against + 2.0)), guesses.odds)
    return guesses._replace(odds=odds)


def _upper_states(plane: IntArray) -> IntArray:
    """Numbers of the states above, which come after all cells."""
    cut = plane >= 0
    return np.where(cut, plane.size + np.cumsum(cut) - 1, np.arange(plane.size))


class Cut(NamedTuple):
    """States after cells were cut in two."""

    located: Located
    barriers: Barriers
    halves: IntArray
    """States that are half a cell."""
    row: IntArray
    """Observation that stands for each of them."""


def cut_cells(buffer: Buffer, located: Located, jump: float | None) -> Cut | None:
    """Cut the cells that a barrier runs through into two states each; None if there is none.

    `jump` is the longest step that is none, if not the usual.
    """
    barriers = _Walk(buffer, located, jump).barriers()
    while barriers is not None:
        cut = _cut_by(barriers, buffer, located)
        kept = _in_the_way(cut, buffer, jump)
        if kept.all():
            return cut
        barriers = barriers.only(kept)
    return None


def _in_the_way(cut: Cut, buffer: Buffer, jump: float | None) -> BoolArray:
    """Barriers that one cannot walk around nearby, out of all.

    One is in the way if something follows from below it that is far to go to from above.
    """
    barriers = cut.barriers
    replay = assemble(buffer, cut.located, None, None, 0.0, jump, exact=False)
    graph, usual = replay.graph, median_arc(replay)
    above = np.full(graph.num_vertices, -1)
    halved = np.flatnonzero(barriers.plane >= 0)
    above[halved] = barriers.above[halved]
    on = (above[graph.tails] >= 0) & (above[graph.tails] != graph.indices)
    on &= replay.counts > replay.leaps
    below, heads = graph.tails[on], graph.indices[on].astype(np.int64)
    limits = SLACK * (graph.lengths[on] + usual) + usual
    far = ways_between(replay, above[below], heads, limits) >= limits
    kept = np.zeros(barriers.offset.size, dtype=bool)
    kept[barriers.plane[below[far]]] = True
    return kept


def _cut_by(barriers: Barriers, buffer: Buffer, located: Located) -> Cut:
    here, there, sites = located
    here = barriers.side(here, buffer.first).astype(here.dtype)
    if len(buffer.second):
        there = barriers.side(there, buffer.second).astype(there.dtype)
    else:
        there = np.append(here[1:], here[-1:])
    there = _without_strays(buffer, barriers, located, here, there)
    cut = np.flatnonzero(barriers.plane >= 0)
    halves = np.concatenate([cut, barriers.above[cut]])
    row = _middles(buffer.first, here, halves)
    states = np.concatenate([sites, sites[cut]])
    states[halves] = buffer.first[row]
    return Cut(Located(here, there, states), barriers, halves, row)


def _without_strays(
    buffer: Buffer, barriers: Barriers, cells: Located, here: IntArray, there: IntArray
) -> IntArray:
    """Where rows end, the few that cross a barrier staying where they began.

    A plane does not fit exactly, and one step through it joins both sides for good.
    """
    one, two = cells.here, cells.there
    same = buffer.valid & (barriers.plane[one] >= 0) & (barriers.plane[one] == barriers.plane[two])
    begun, ended = here != one, there != two  # above
    down = begun & ~ended
    up = ~begun & ended & barriers.shut[one] & barriers.shut[two]
    return np.where(same & (down | up), here, there)


def _middles(rows: Rows, here: IntArray, states: IntArray) -> IntArray:
    """Row of each state that is nearest to the mean of all of its."""
    order = np.argsort(here, kind="stable")
    begin, end = (np.searchsorted(here, states, side, order) for side in ("left", "right"))
    found = []
    for low, high in zip(begin, end, strict=True):
        own = rows[order[low:high]]
        away = np.linalg.norm(own - own.mean(axis=0, dtype=np.float64), axis=1)
        found.append(order[low + np.argmin(away)])
    return np.array(found)


class _Walk:
    """Steps of a buffer, by the cells that they begin or end in."""

    def __init__(self, buffer: Buffer, located: Located, jump: float | None) -> None:
        self.here, self.there, self.sites = located
        self.first, self.walk = buffer.first, np.cumsum(~buffer.joined)
        self.second = buffer.second if len(buffer.second) else buffer.first[1:]
        # of transitions in any order nobody can say how many came near: many, or one who stayed
        self.in_order = bool(buffer.joined.mean() >= _IN_ORDER)
        lengths = step_lengths(buffer.first, buffer.second, buffer.valid)
        moved = lengths[buffer.valid & (lengths > 0)]
        self.stride = float(np.quantile(moved, _STRIDE)) if moved.size else 0.0
        longest = longest_step(lengths) if jump is None else jump
        row = np.flatnonzero(buffer.valid & (lengths <= longest))
        self.row = row
        self.begin, self.steps = steps_by_cell(row, self.here, self.there, len(self.sites))

    def barriers(self) -> Barriers | None:
        """All barriers, or None."""
        n, d = self.sites.shape
        if d == 1 or self.stride == 0.0 or not self.in_order:
            return None
        joined = self._next_to()
        normals = self._normals(joined)
        found = find_barriers(
            self.begin, self.steps, self.first, self.second, self.here, normals, self.stride, LEAST
        )
        normal, low, high, flux = found
        made: list[tuple[FloatArray, float, float]] = []
        owned: list[IntArray] = []
        met = np.zeros(n, dtype=bool)
        for cell in np.argsort(-flux, kind="stable"):
            if flux[cell] == 0 or met[cell]:
                continue
            turned = self._turned(int(cell), normal[cell], flux[cell], normals)
            best, bottom, top, cells = max(
                (
                    (way, *self._spread(int(cell), way, *gap, joined))
                    for way, gap in [(normal[cell], (low[cell], high[cell])), *turned]
                ),
                key=lambda found: (found[3].size, self._approaches(found[3], found[0], found[2])),
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
        # whoever comes near from above stops right at a barrier; below, there may be few steps
        gaps = np.array([gap for _, *gap in made])
        offset = np.maximum(gaps.mean(axis=1), gaps[:, 1] - _THIN * self.stride)
        plane = self._on_both_sides(plane, normal, offset)
        down = np.zeros(len(made))
        for k in np.unique(plane[plane >= 0]):
            down[k] = self._approaches(np.flatnonzero(plane == k), normal[k], offset[k])
        up, shut = np.zeros(len(made)), np.zeros(n, dtype=bool)
        for cell in np.flatnonzero(plane >= 0):
            k = plane[cell]
            near, crossed = self._upward(int(cell), normal[k], offset[k])
            shut[cell] = crossed <= _STRAY * near
            up[k] += near * shut[cell]
        made_of = plane, _upper_states(plane), normal, offset, down, up, shut
        return Barriers(self.sites, *map(frozen, made_of)).only(down >= ENOUGH)

    def _turned(
        self, cell: int, normal: FloatArray, flux: float, normals: FloatArray
    ) -> list[tuple[FloatArray, tuple[float, float]]]:
        """Directions near that of a cell's barrier that nobody crosses either, with their gaps.

        In one cell a plane that is a little askew is as good as the right one. Only the right one
        goes on through the cells next to it.
        """
        found = []
        rows = self.steps[self.begin[cell] : self.begin[cell + 1]]
        for way in normals[cell % len(normals)]:
            along = float(way @ normal)
            if not _TURNED <= abs(along) < 1.0 - 1e-12:
                continue
            way = np.copysign(1.0, along) * way
            args = self.first, self.second, self.here, cell, way, self.stride, LEAST
            low, high, above = gap_across(rows, *args)
            if above >= _AS_MANY * flux:
                found.append((way, (low, high)))
        return found

    def _on_both_sides(self, plane: IntArray, normal: FloatArray, offset: FloatArray) -> IntArray:
        """Barriers of cells that have observations on both sides of it."""
        row = np.flatnonzero(plane[self.here] >= 0)
        cell = self.here[row]
        which = plane[cell]
        upper = np.einsum("ij,ij->i", self.first[row], normal[which]) > offset[which]
        total, above = np.bincount(cell, None, plane.size), np.bincount(cell, upper, plane.size)
        return np.where((above > 0) & (above < total), plane, -1)

    def _spread(
        self,
        cell: int,
        normal: FloatArray,
        low: float,
        high: float,
        joined: sparse.csr_array[np.float64],
    ) -> tuple[float, float, IntArray]:
        """Follow a barrier from its cell through those around that hardly anybody crosses it in.

        Returns its gap and the cells.
        """
        queue, cells = [cell], [cell]
        asked = {cell}
        while queue:
            at = queue.pop(0)
            for other in joined.indices[joined.indptr[at] : joined.indptr[at + 1]]:
                if int(other) in asked:
                    continue
                asked.add(int(other))
                gap = self._gap(int(other), normal, low, high)
                if gap is not None:
                    low, high = gap
                    cells.append(int(other))
                    queue.append(int(other))
        return low, high, np.array(cells)

    def _gap(
        self, cell: int, normal: FloatArray, low: float, high: float
    ) -> tuple[float, float] | None:
        """Part of a gap that the fewest steps of another cell lead down through, if hardly any."""
        rows = self.steps[self.begin[cell] : self.begin[cell + 1]]
        x, y = self.first[rows] @ normal, self.second[rows] @ normal
        own = x[self.here[rows] == cell]
        if not own.size or own.min() >= high or own.max() <= low:
            return None
        across = (y < x) & (x > low) & (y < high)
        cuts = np.unique(np.concatenate([[low, high], x[across], y[across]]).clip(low, high))
        middles = 0.5 * (cuts[1:] + cuts[:-1])
        starts, ends = np.sort(y[y < x]), np.sort(x[y < x])
        flux = np.searchsorted(starts, middles) - np.searchsorted(ends, middles)
        best = int(np.flatnonzero(flux == flux.min())[-1])
        heights = high + self.stride * np.linspace(0.125, 1.0, 8)
        above = np.searchsorted(starts, heights) - np.searchsorted(ends, heights)
        if flux[best] > _STRAY * above.max():
            return None
        return float(cuts[best]), float(cuts[best + 1])

    def _approaches(self, cells: IntArray, normal: FloatArray, offset: float) -> int:
        """Count how often somebody headed for a plane from above, and came within one step of it.

        Whoever lingers there comes once: all of those steps are one piece of evidence.
        """
        slices = [self.steps[self.begin[cell] : self.begin[cell + 1]] for cell in cells]
        rows = np.unique(np.concatenate(slices))
        x, y = self.first[rows] @ normal - offset, self.second[rows] @ normal - offset
        rows = rows[(y > 0) & (y <= self.stride) & (x - y >= _HEADING * self.stride)]
        new = (np.diff(rows) > _APART) | (np.diff(self.walk[rows]) > 0)
        return int(rows.size > 0) + int(new.sum())

    def _upward(self, cell: int, normal: FloatArray, offset: float) -> tuple[int, int]:
        """Count the steps of a cell that come near from below, and those that cross."""
        rows = self.steps[self.begin[cell] : self.begin[cell + 1]]
        x, y = self.first[rows] @ normal - offset, self.second[rows] @ normal - offset
        heights = -self.stride * np.linspace(0.0, 1.0, 9)[:, None]
        through = ((x < heights) & (y > heights)).sum(axis=1)
        return int(through.max()), int(through[0])

    def _next_to(self) -> sparse.csr_array[np.float64]:
        """Cells that a step joins, either way."""
        n = len(self.sites)
        tails, heads = self.here[self.row], self.there[self.row]
        moved = tails != heads
        keys = np.unique(tails[moved].astype(np.int64) * n + heads[moved])
        one, two = np.divmod(keys, n)
        ends = np.concatenate([one, two]), np.concatenate([two, one])
        return sparse.csr_array((np.ones(ends[0].size), ends), shape=(n, n))

    def _normals(self, joined: sparse.csr_array[np.float64]) -> FloatArray:
        """Directions to look for barriers in."""
        n, d = self.sites.shape
        if d == 2:
            angle = np.pi * np.arange(_ANGLES) / _ANGLES
            return np.stack([np.cos(angle), np.sin(angle)], axis=1)[None]
        axes = np.eye(d)[:_AXES]
        normals = np.tile(axes[:1], (n, len(axes) + _AXES, 1))
        normals[:, : len(axes)] = axes
        for cell in range(n):
            others = joined.indices[joined.indptr[cell] : joined.indptr[cell + 1]][:_AXES]
            way = self.sites[others].astype(np.float64) - self.sites[cell]
            size = np.linalg.norm(way, axis=1, keepdims=True)
            way, size = way[size[:, 0] > 0], size[size[:, 0] > 0]
            normals[cell, len(axes) : len(axes) + len(way)] = way / size
        return normals
