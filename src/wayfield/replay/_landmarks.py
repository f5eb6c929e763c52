"""States of a planner: landmarks of a dataset, the buffer between them, and distances to them.

A distance is a function of two arrays of observations, ``distance(a, b)`` of shape ``(len(a),
len(b))``: how far it is from each of the first to each of the second, in steps. An embedding is a
function of one array, ``embed(a)`` of shape ``(len(a), e)``: features with Euclidean distances.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from .._arrays import KeepsReadOnly, as_whole, frozen
from ..errors import InputError
from ..graph import Graph
from ..kernels._types import FloatArray, IntArray
from ..kernels.landmarks import farthest_points
from ..kernels.merging import Rows
from ._counts import POOL, Located, as_landmarks, assigned, given_landmarks
from ._dataset import as_rows, read_dataset, read_rows
from ._replay import Replay, assemble, replay_graph
from ._walls import Walls, cut_cells

Distance = Callable[[Rows, Rows], Any]
Embedding = Callable[[Rows], Any]

_PER_ROOT = 10.0
"""Landmarks per cube root of the number of observations."""
_RECURS, _WHOLE_RECURS = 10, 2
"""Observations recur if each is seen this many times on average; the latter for whole numbers."""
_POOL_OF_DISTANCE = 10_000
"""With a user's distance, landmarks are chosen among this many observations."""
_AT_ONCE = 1 << 22
"""Pairs that a distance is asked for in one call."""


# -------------------------------------------------------------------- distances to states


class Euclidean:
    """Euclidean distances between observations, or between their features.

    The nearest state is on the same side of a wall.
    """

    def __init__(
        self, features: Rows, embed: Embedding | None = None, walls: Walls | None = None
    ) -> None:
        self._embed, self._features, self._walls = embed, features, walls
        self._tree = cKDTree(features if walls is None else walls.sites)
        self.function = "" if embed is None else "embed"
        """Name of the user's function that is needed, if any."""

    def nearest(self, rows: Rows) -> tuple[IntArray, FloatArray]:
        """Return the nearest state of every row, and its distance."""
        seen = self._seen(rows)
        away, at = map(np.asarray, self._tree.query(seen))
        return at if self._walls is None else self._walls.side(at, seen), away

    def from_states(self, goal: Rows) -> FloatArray:
        """Return the distance from every state to one goal, of shape (1, d)."""
        away: FloatArray = np.linalg.norm(self._features - self._seen(goal), axis=1)
        return away

    def spans(self, tails: IntArray, heads: IntArray) -> FloatArray:
        """Return the distances between pairs of states."""
        features = self._features.astype(np.float64)
        lengths: FloatArray = np.linalg.norm(features[tails] - features[heads], axis=1)
        return lengths

    def _seen(self, rows: Rows) -> Rows:
        if self._embed is None:
            return rows
        seen, width = embedded(self._embed, rows), self._features.shape[1]
        if seen.shape[1] != width:
            raise InputError(f"embed returned {seen.shape[1]} features, and {width} for the states")
        return seen


class UserDistance:
    """A distance given as a function."""

    function = "distance"

    def __init__(self, states: Rows, distance: Distance) -> None:
        self._states, self._distance = states, distance

    def nearest(self, rows: Rows) -> tuple[IntArray, FloatArray]:
        """Return the nearest state of every row, and its distance."""
        size = max(1, _AT_ONCE // len(self._states))
        at, away = np.empty(len(rows), np.int64), np.empty(len(rows))
        for begin in range(0, len(rows), size):
            part = slice(begin, begin + size)
            table = measured(self._distance, rows[part], self._states)
            at[part], away[part] = table.argmin(axis=1), table.min(axis=1)
        return at, away

    def from_states(self, goal: Rows) -> FloatArray:
        """Return the distance from every state to one goal, of shape (1, d)."""
        return measured(self._distance, self._states, goal)[:, 0]

    def spans(self, tails: IntArray, heads: IntArray) -> FloatArray:
        """Return the distances between pairs of states."""
        lengths: FloatArray = self._table[tails, heads]
        return lengths

    def graph(self, k: int) -> Graph:
        """Return arcs from every state to the k nearest, with their distances as lengths."""
        n, table = len(self._states), self._table.copy()
        np.fill_diagonal(table, np.inf)
        most = min(k, n - 1)
        heads = np.argsort(table, axis=1, kind="stable")[:, :most]
        tails = np.repeat(np.arange(n), most)
        lengths = np.maximum(np.take_along_axis(table, heads, axis=1).ravel(), 1.0)
        return Graph.from_edges(tails, heads.ravel(), lengths, n, directed=True)

    @cached_property
    def _table(self) -> FloatArray:
        """(n, n) distances between all states."""
        n, size = len(self._states), max(1, _AT_ONCE // len(self._states))
        parts = [self._states[begin : begin + size] for begin in range(0, n, size)]
        return np.vstack([measured(self._distance, part, self._states) for part in parts])


Metric: TypeAlias = Euclidean | UserDistance


def measured(distance: Distance, first: Rows, second: Rows) -> FloatArray:
    """Return the table of distances; raise `InputError` if it is not one."""
    table = np.asarray(distance(first, second))
    if table.shape != (len(first), len(second)) or table.dtype.kind not in "iuf":
        raise InputError(
            f"distance must return real numbers of shape ({len(first)}, {len(second)}), "
            f"got {table.dtype} of shape {table.shape}"
        )
    table = table.astype(np.float64)
    if not (table >= 0.0).all():  # NaN is refused as well
        bad = table[~(table >= 0.0)][0]
        raise InputError(f"distance returned {bad}: distances are 0 or more")
    return table


def embedded(embed: Embedding, rows: Rows) -> Rows:
    """Return the features of observations; raise `InputError` if there is not one row each."""
    features = as_rows(embed(rows), "embedded observations")
    if len(features) != len(rows):
        raise InputError(f"embed returned {len(features)} rows for {len(rows)} observations")
    return features


# -------------------------------------------------------------------- choosing landmarks


@dataclass(frozen=True, eq=False)
class Landmarks(KeepsReadOnly):
    """A buffer between landmarks, and the observations that these are."""

    replay: Replay
    states: Rows
    walls: Walls | None = None

    def metric(self, distance: Distance | None, embed: Embedding | None) -> Metric:
        """Return distances to the states."""
        if distance is not None:
            return UserDistance(self.states, distance)
        features = self.states if embed is None else self.replay.states
        return Euclidean(features, embed, self.walls)


def landmarks_of(
    dataset: Any,
    landmarks: int | ArrayLike | None,
    distance: Distance | None,
    embed: Embedding | None,
    jump: float | None,
    seed: int,
) -> Landmarks:
    """Choose landmarks and count what happened between them."""
    if isinstance(dataset, Replay):
        if any(given is not None for given in (landmarks, embed, jump)):
            raise InputError("a Replay has its states: landmarks, embed and jump are for datasets")
        seen = dataset.observed
        return Landmarks(seen, seen.states)
    columns = read_dataset(dataset, "observation")
    rows, onward = as_rows(columns["observations"], "observations"), columns["next_observations"]
    rng = np.random.default_rng(as_whole(seed, "seed", least=0))
    count = len(rows)

    # Observations that recur, as in a grid world, are states themselves.
    if landmarks is None:
        pool = rows if count <= POOL else rows[rng.choice(count, POOL, replace=False)]
        whole = np.ascontiguousarray(pool).view(np.dtype((np.void, pool.itemsize * pool.shape[1])))
        times = _WHOLE_RECURS if (pool == np.round(pool)).all() else _RECURS
        if np.unique(whole).size * times <= len(pool):
            if embed is not None:
                raise InputError(
                    "observations recur, and are states themselves: embed is of no use here"
                )
            replay = replay_graph(**columns, jump=jump)
            return Landmarks(replay, replay.states)
        landmarks = max(2, min(count, round(_PER_ROOT * float(np.cbrt(count)))))

    # Otherwise landmarks are those given, or observations far apart.
    features = rows
    if embed is not None:
        features = embedded(embed, rows)
        if onward is not None:
            onward = embedded(embed, as_rows(onward, "next_observations"))
    buffer = read_rows(features, onward, columns["terminals"], columns["deaths"])
    if distance is None and embed is None:
        states = as_landmarks(landmarks, buffer.first, 0.0, seed)
    elif np.ndim(landmarks) > 0:
        states = given_landmarks(landmarks, rows)
    else:
        number = as_whole(landmarks, "landmarks", least=1)
        most = POOL if distance is None else _POOL_OF_DISTANCE
        drawn = np.arange(count) if count <= most else rng.choice(count, most, replace=False)
        if distance is None:
            states = rows[drawn[farthest_points(features[drawn], number, 0.0)]]
        else:
            pool, far = rows[drawn], [0]
            gap = measured(distance, pool, pool[:1])[:, 0]
            while len(far) < min(number, len(pool)) and gap.max() > 0.0:
                far.append(int(gap.argmax()))
                gap = np.minimum(gap, measured(distance, pool, pool[far[-1:]])[:, 0])
            states = pool[far]

    # Every observation belongs to its nearest landmark, on the same side of walls.
    cut = None
    if distance is not None:
        metric = UserDistance(states, distance)
        here, there = (
            metric.nearest(of)[0].astype(np.int32) for of in (buffer.first, buffer.second)
        )
        located = Located.of(here, there, states)
    else:
        sites = states if embed is None else embedded(embed, states)
        located = assigned(buffer, sites.astype(buffer.first.dtype))
        cut = cut_cells(buffer, located, jump)
    if cut is not None:
        located = cut.located
        added = len(located.states) - len(states)
        states = np.concatenate([states, np.empty_like(states[:added])])
        states[cut.halves] = rows[cut.row]
    replay = assemble(buffer, located, columns["actions"], None, 0.0, jump, exact=False)
    return Landmarks(replay, frozen(states), None if cut is None else cut.walls)
