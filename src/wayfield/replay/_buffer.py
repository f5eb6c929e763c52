"""A replay buffer's arrays: checked, and as transitions between merged observations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree

from .._arrays import as_lengths, as_matrix, refuse
from ..errors import InputError
from ..kernels._types import BoolArray, FloatArray, IntArray


class Buffer(NamedTuple):
    """A buffer as one list of observations and the transitions between them."""

    seen: FloatArray
    tail: NDArray[np.int64]
    head: NDArray[np.int64]
    ends: NDArray[np.int64]
    size: int
    """Rows of the buffer."""


def read_rows(
    observations: ArrayLike, next_observations: ArrayLike | None, terminals: ArrayLike | None
) -> Buffer:
    start = _finite_rows(observations, "observations")
    size = len(start)
    final = np.zeros(size, dtype=bool) if terminals is None else _flags(terminals, size)
    if next_observations is not None:
        end = _finite_rows(next_observations, "next_observations")
        if end.shape != start.shape:
            raise InputError(
                f"observations are of shape {start.shape}, next_observations {end.shape}"
            )
        seen = np.stack([start, end], axis=1).reshape(-1, start.shape[1])
        tail = 2 * np.arange(size)
        return Buffer(seen, tail, tail + 1, tail[final] + 1, size)
    tail = np.flatnonzero(~final[:-1])
    if not tail.size:
        raise InputError(f"{size} observations in {final[:-1].sum() + 1} episodes: no transition")
    return Buffer(start, tail, tail + 1, np.flatnonzero(final), size)


def chosen_lengths(lengths: ArrayLike, rows: Buffer) -> FloatArray:
    """Lengths of the transitions, out of one per row or one per transition."""
    given = np.asarray(lengths).size
    if given == rows.tail.size or given != rows.size:
        return as_lengths(lengths, "lengths", rows.tail.size)
    return as_lengths(lengths, "lengths", rows.size)[rows.tail]


def _flags(terminals: ArrayLike, size: int) -> BoolArray:
    array = np.asarray(terminals)
    if array.shape != (size,):
        raise InputError(f"terminals must be of shape ({size},), not {array.shape}")
    if array.dtype != np.bool_:
        refuse(~np.isin(array, (0, 1)), array, "terminals", "is neither 0 nor 1")
    return array.astype(bool)


def _finite_rows(data: ArrayLike, name: str) -> FloatArray:
    array = as_matrix(data, name)
    refuse(~np.isfinite(array), array, name, "is not a finite number")
    if array.size == 0:
        raise InputError(f"{name} are empty")
    return array


def merged(points: FloatArray, tolerance: float) -> tuple[NDArray[np.int64], FloatArray]:
    """Vertex of every point, and the first point of every vertex, in the order of appearance."""
    unique, first, inverse = np.unique(points, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    vertex, states = rank[inverse.ravel()], unique[order]
    if tolerance == 0.0:
        return vertex, states
    leader = np.full(len(states), -1, dtype=np.int64)
    tree = cKDTree(states)
    for x in range(len(states)):
        if leader[x] < 0:
            near = np.asarray(tree.query_ball_point(states[x], tolerance))
            leader[near[leader[near] < 0]] = x
    leaders, group = np.unique(leader, return_inverse=True)
    return group[vertex], states[leaders]


def cheapest(
    tail: IntArray, head: IntArray, length: FloatArray
) -> tuple[tuple[IntArray, IntArray], FloatArray]:
    """Return the distinct arcs, each with the least of its lengths."""
    order = np.lexsort((length, head, tail))
    tail, head, length = tail[order], head[order], length[order]
    first = np.ones(tail.size, dtype=bool)
    first[1:] = (tail[1:] != tail[:-1]) | (head[1:] != head[:-1])
    return (tail[first], head[first]), length[first]
