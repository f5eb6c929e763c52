"""States of a planner: landmarks of a dataset, and the buffer as seen between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._arrays import KeepsReadOnly, as_whole, frozen
from ..errors import InputError
from ..kernels._types import IntArray
from ..kernels.landmarks import farthest_points
from ..kernels.merging import Rows
from ._barriers import Barriers, cut_cells
from ._buffer import Buffer, as_rows, read_rows
from ._dataset import read_dataset
from ._metric import Distance, Embedding, Given, embedded, farthest_rows
from ._replay import Replay, assemble, replay_graph
from ._states import POOL, Located, as_landmarks, assigned

_PER_ROOT = 10.0
"""Landmarks per cube root of the number of observations."""
_RECURS, _WHOLE_RECURS = 10, 2
"""Observations recur if each is seen so many times, on average; whole numbers sooner."""
_POOL_OF_DISTANCE = 10_000
"""Landmarks by a distance of the user's are chosen among so many observations."""


@dataclass(frozen=True, eq=False)
class Landmarks(KeepsReadOnly):
    """A buffer between landmarks, and the observations that these are."""

    replay: Replay
    states: Rows
    barriers: Barriers | None = None


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
    rows = as_rows(columns["observations"], "observations")
    rng = np.random.default_rng(as_whole(seed, "seed", least=0))
    if landmarks is None and _recurs(rows, rng):
        return _exact(columns, embed, jump)
    if distance is not None:
        return _by_distance(columns, rows, landmarks, distance, jump, rng)
    if embed is None:
        buffer = read_rows(rows, columns["next_observations"], columns["terminals"])
        most = _usual(len(rows)) if landmarks is None else landmarks
        states = as_landmarks(most, buffer, 0.0, seed)
        return _cut(buffer, rows, states, states, columns["actions"], jump)
    features, onward = embedded(embed, rows), columns["next_observations"]
    following = None if onward is None else embedded(embed, as_rows(onward, "next_observations"))
    buffer = read_rows(features, following, columns["terminals"])
    states = _chosen(rows, features, landmarks, None, rng)
    return _cut(buffer, rows, states, embedded(embed, states), columns["actions"], jump)


def _cut(
    buffer: Buffer, rows: Rows, states: Rows, features: Rows, actions: Any, jump: float | None
) -> Landmarks:
    """Assign observations to landmarks, on either side of the barriers that are found."""
    located = assigned(buffer, features.astype(buffer.first.dtype))
    cut = cut_cells(buffer, located, jump)
    if cut is not None:
        located = cut.located
        states = np.concatenate(
            [states, np.empty_like(states[: len(located.states) - len(states)])]
        )
        states[cut.halves] = rows[cut.row]
    replay = assemble(buffer, located, actions, None, 0.0, jump, exact=False)
    return Landmarks(replay, frozen(states), None if cut is None else cut.barriers)


def _by_distance(
    columns: dict[str, Any],
    rows: Rows,
    landmarks: int | ArrayLike | None,
    distance: Distance,
    jump: float | None,
    rng: np.random.Generator,
) -> Landmarks:
    """Assign observations to the landmark that a distance of the user's says is nearest."""
    states = _chosen(rows, rows, landmarks, distance, rng)
    metric = Given(states, distance)
    buffer = read_rows(rows, columns["next_observations"], columns["terminals"])
    here = metric.nearest(buffer.first)[0].astype(np.int32)
    there = metric.nearest(buffer.second)[0].astype(np.int32) if len(buffer.second) else here[1:]
    located = Located(here, there if len(buffer.second) else np.append(there, here[-1]), states)
    replay = assemble(buffer, located, columns["actions"], None, 0.0, jump, exact=False)
    return Landmarks(replay, replay.states)


def _exact(columns: dict[str, Any], embed: Embedding | None, jump: float | None) -> Landmarks:
    if embed is not None:
        raise InputError("observations recur, and are states themselves: embed is of no use here")
    replay = replay_graph(**columns, jump=jump)
    return Landmarks(replay, replay.states)


def _usual(count: int) -> int:
    return max(2, min(count, round(_PER_ROOT * float(np.cbrt(count)))))


def _recurs(rows: Rows, rng: np.random.Generator) -> bool:
    """Whether observations are met again and again, each for itself."""
    pool = rows if len(rows) <= POOL else rows[rng.choice(len(rows), POOL, replace=False)]
    whole = np.ascontiguousarray(pool).view(np.dtype((np.void, pool.itemsize * pool.shape[1])))
    times = _WHOLE_RECURS if (pool == np.round(pool)).all() else _RECURS
    return np.unique(whole).size * times <= len(pool)


def _chosen(
    rows: Rows,
    features: Rows,
    landmarks: int | ArrayLike | None,
    distance: Distance | None,
    rng: np.random.Generator,
) -> Rows:
    """Observations that are landmarks: those given, or as many as lie far apart."""
    if landmarks is not None and np.ndim(landmarks) > 0:
        given = as_rows(landmarks, "landmarks")
        if given.shape[1] != rows.shape[1]:
            raise InputError(
                f"landmarks have {given.shape[1]} coordinates, observations {rows.shape[1]}"
            )
        return given
    count = _usual(len(rows)) if landmarks is None else as_whole(landmarks, "landmarks", least=1)
    most = POOL if distance is None else _POOL_OF_DISTANCE
    pool = np.arange(len(rows))
    if len(rows) > most:
        pool = rng.choice(len(rows), most, replace=False)
    far: IntArray
    if distance is None:
        far = farthest_points(features[pool], count, 0.0)
    else:
        far = farthest_rows(rows[pool], count, distance)
    return rows[pool[far]]
