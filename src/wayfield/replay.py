"""State graphs from a replay buffer: observed transitions become arcs, nearby states one vertex."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree

from ._arrays import as_finite, as_lengths, as_matrix, as_real, frozen, refuse
from .errors import InputError
from .graph import Graph
from .kernels._types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False, repr=False)
class Replay:
    """A directed graph of the states in a replay buffer.

    Attributes
    ----------
    graph : Graph
        Directed; an arc for every pair of states with a transition between them. Positions are
        the states themselves if they have two or three coordinates.
    states : (n, d) float array
        One observation per vertex: the first that was seen there.
    tail, head : (t,) int64 arrays
        Vertex where each transition started, and where it ended.
    stayed : int
        Transitions that ended in the state they started in; they are no arcs.
    """

    graph: Graph
    states: FloatArray
    tail: NDArray[np.int64]
    head: NDArray[np.int64]
    stayed: int

    def nearest(self, observation: ArrayLike) -> int:
        """Vertex whose state is nearest to an observation, by Euclidean distance."""
        point = as_finite(observation, "observation", self.states.shape[1])
        return int(np.argmin(((self.states - point) ** 2).sum(axis=1)))

    def __repr__(self) -> str:
        return f"Replay({self.tail.size:,} transitions, {self.graph})"


def replay_graph(
    observations: ArrayLike,
    next_observations: ArrayLike | None = None,
    terminals: ArrayLike | None = None,
    *,
    lengths: ArrayLike | None = None,
    tolerance: float = 0.0,
) -> Replay:
    """Build a directed graph from observed transitions.

    Parameters
    ----------
    observations : (t, d) float array
        Where each transition started.
    next_observations : (t, d) float array, optional
        Where it ended. Without it, consecutive observations are transitions.
    terminals : (t,) bool array, optional
        Only without `next_observations`: the observations at which an episode ended; from these
        no transition leads to the next row.
    lengths : (t,) float array, optional
        Cost of each transition, 1 if not given. Of several between the same two states the
        cheapest counts.
    tolerance : float
        Observations at most this far (Euclidean) from the first one seen at a vertex belong to
        that vertex; 0 merges equal observations only.

    Examples
    --------
    >>> walk = [[0.0], [1.0], [2.0], [1.0], [0.02]]
    >>> replay_graph(walk, tolerance=0.1)
    Replay(4 transitions, Graph(3 vertices, 4 arcs, directed, unit lengths))
    """
    start, end = _transitions(observations, next_observations, terminals)
    length = np.ones(len(start)) if lengths is None else as_lengths(lengths, "lengths", len(start))
    seen = np.stack([start, end], axis=1).reshape(-1, start.shape[1])
    vertex, states = _merged(seen, as_real(tolerance, "tolerance", least=0.0))
    tail, head = vertex[::2], vertex[1::2]
    moved = tail != head
    arcs, cheapest = _cheapest(tail[moved], head[moved], length[moved])
    positions = states if states.shape[1] in (2, 3) else None
    graph = Graph.from_edges(arcs[0], arcs[1], cheapest, len(states), True, positions)
    stayed = int(moved.size - moved.sum())
    return Replay(graph, frozen(states), frozen(tail), frozen(head), stayed)


def _transitions(
    observations: ArrayLike, next_observations: ArrayLike | None, terminals: ArrayLike | None
) -> tuple[FloatArray, FloatArray]:
    start = _finite_rows(observations, "observations")
    if next_observations is not None:
        if terminals is not None:
            raise InputError("terminals are only for buffers without next_observations")
        end = _finite_rows(next_observations, "next_observations")
        if end.shape != start.shape:
            raise InputError(
                f"observations are of shape {start.shape}, next_observations {end.shape}"
            )
        return start, end
    if len(start) < 2:
        raise InputError(f"{len(start)} observations hold no transition")
    leads_on = np.ones(len(start) - 1, dtype=bool)
    if terminals is not None:
        leads_on = ~_flags(terminals, len(start))[:-1]
    return start[:-1][leads_on], start[1:][leads_on]


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


def _merged(points: FloatArray, tolerance: float) -> tuple[NDArray[np.int64], FloatArray]:
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


def _cheapest(
    tail: IntArray, head: IntArray, length: FloatArray
) -> tuple[tuple[IntArray, IntArray], FloatArray]:
    """Return the distinct arcs, each with the least of its lengths."""
    order = np.lexsort((length, head, tail))
    tail, head, length = tail[order], head[order], length[order]
    first = np.ones(tail.size, dtype=bool)
    first[1:] = (tail[1:] != tail[:-1]) | (head[1:] != head[:-1])
    return (tail[first], head[first]), length[first]
