"""How near observations are to states: by Euclid, in an embedding, or by a distance of the user's.

A distance is a function of two arrays of observations, ``distance(a, b)`` of shape ``(len(a),
len(b))``: how far it is from each of the first to each of the second, in steps. An embedding is a
function of one array, ``embed(a)`` of shape ``(len(a), e)``, in which Euclidean distances count.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy.spatial import cKDTree

from ..errors import InputError
from ..graph import Graph
from ..kernels._types import FloatArray, IntArray
from ..kernels.merging import Rows
from ._barriers import Barriers
from ._buffer import as_rows

Distance = Callable[[Rows, Rows], Any]
Embedding = Callable[[Rows], Any]

_AT_ONCE = 1 << 22
"""Pairs that a distance is asked for in one call."""


class Metric(Protocol):
    """Distances of observations from the states of a planner."""

    @property
    def function(self) -> str:
        """Name of the user's function that is needed, if any."""
        ...

    def nearest(self, rows: Rows) -> tuple[IntArray, FloatArray]:
        """Nearest state of every row, and how far away it is."""
        ...

    def from_states(self, goal: Rows) -> FloatArray:
        """Distance from every state to one goal, of shape (1, d)."""
        ...


class Euclidean:
    """Euclidean distances of observations or of what an embedding makes of them.

    The nearest state is on the same side of a barrier.
    """

    def __init__(
        self,
        features: Rows,
        embed: Embedding | None = None,
        barriers: Barriers | None = None,
    ) -> None:
        self._embed, self._features, self._barriers = embed, features, barriers
        self._tree = cKDTree(features if barriers is None else barriers.sites)

    @property
    def function(self) -> str:
        """Name of the user's function that is needed, if any."""
        return "" if self._embed is None else "embed"

    def nearest(self, rows: Rows) -> tuple[IntArray, FloatArray]:
        """Nearest state of every row, and how far away it is."""
        seen = self._seen(rows)
        away, at = map(np.asarray, self._tree.query(seen))
        return at if self._barriers is None else self._barriers.side(at, seen), away

    def from_states(self, goal: Rows) -> FloatArray:
        """Distance from every state to one goal."""
        away: FloatArray = np.linalg.norm(self._features - self._seen(goal), axis=1)
        return away

    def _seen(self, rows: Rows) -> Rows:
        if self._embed is None:
            return rows
        seen, width = embedded(self._embed, rows), self._features.shape[1]
        if seen.shape[1] != width:
            raise InputError(f"embed returned {seen.shape[1]} features, and {width} for the states")
        return seen


class Given:
    """A distance of the user's."""

    def __init__(self, states: Rows, distance: Distance) -> None:
        self._states, self._distance = states, distance

    @property
    def function(self) -> str:
        """Name of the user's function that is needed."""
        return "distance"

    def nearest(self, rows: Rows) -> tuple[IntArray, FloatArray]:
        """Nearest state of every row, and how far away it is."""
        at, away = np.empty(len(rows), np.int64), np.empty(len(rows))
        for part in self._parts(len(rows)):
            table = measured(self._distance, rows[part], self._states)
            at[part] = table.argmin(axis=1)
            away[part] = table.min(axis=1)
        return at, away

    @cached_property
    def _table(self) -> FloatArray:
        """Distances between all states."""
        parts = self._parts(len(self._states))
        return np.vstack(
            [measured(self._distance, self._states[part], self._states) for part in parts]
        )

    def _parts(self, count: int) -> list[slice]:
        """Slices of so many rows that the distance is asked about at once."""
        size = max(1, _AT_ONCE // len(self._states))
        return [slice(begin, begin + size) for begin in range(0, count, size)]

    def from_states(self, goal: Rows) -> FloatArray:
        """Distance from every state to one goal."""
        return measured(self._distance, self._states, goal)[:, 0]

    def median_span(self, tails: IntArray, heads: IntArray) -> float:
        """Median distance along arcs between states."""
        return float(np.median(self._table[tails, heads]))

    def graph(self, k: int) -> Graph:
        """Arcs from every state to the k nearest by the distance, and as long as it says."""
        n, table = len(self._states), self._table.copy()
        np.fill_diagonal(table, np.inf)
        most = min(k, n - 1)
        heads = np.argsort(table, axis=1, kind="stable")[:, :most]
        tails = np.repeat(np.arange(n), most)
        lengths = np.maximum(np.take_along_axis(table, heads, axis=1).ravel(), 1.0)
        return Graph.from_edges(tails, heads.ravel(), lengths, n, directed=True)


def farthest_rows(rows: Rows, count: int, distance: Distance) -> IntArray:
    """Rows each of which is as far as can be from those before it, by a given distance."""
    chosen = [0]
    gap = measured(distance, rows, rows[:1])[:, 0]
    while len(chosen) < min(count, len(rows)) and gap.max() > 0.0:
        chosen.append(int(gap.argmax()))
        gap = np.minimum(gap, measured(distance, rows, rows[chosen[-1:]])[:, 0])
    return np.array(chosen)


def measured(distance: Distance, first: Rows, second: Rows) -> FloatArray:
    """Return what a distance says, or why it is none."""
    table = np.asarray(distance(first, second))
    if table.shape != (len(first), len(second)) or table.dtype.kind not in "iuf":
        raise InputError(
            f"distance must return real numbers of shape ({len(first)}, {len(second)}) for so many "
            f"observations, not {table.dtype} of shape {table.shape}"
        )
    table = table.astype(np.float64)
    if not (table >= 0.0).all():  # NaN is refused as well
        bad = table[~(table >= 0.0)][0]
        raise InputError(f"distance returned {bad}: distances are 0 or more")
    return table


def embedded(embed: Embedding, rows: Rows) -> Rows:
    """Return what an embedding makes of observations, or say why that is none."""
    features = as_rows(embed(rows), "embedded observations")
    if len(features) != len(rows):
        raise InputError(f"embed returned {len(features)} rows for {len(rows)} observations")
    return features
