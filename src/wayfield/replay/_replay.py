"""The graph of a replay buffer, and vertices attached to it for a while."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._arrays import as_choice, as_finite, as_real, as_vertex, frozen
from ..errors import InputError
from ..graph import Graph
from ..kernels._types import FloatArray
from ..kernels.flooding import reaching
from ._attach import ROLES, Role, attach, neighbours
from ._buffer import cheapest, chosen_lengths, merged, read_rows
from ._reach import ReachReport


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
    ends : (e,) int64 array
        Vertices where an episode ended, ascending; empty if there were no terminals.
    stayed : int
        Transitions that ended in the state they started in; they are no arcs.
    tolerance : float
        How far from its vertex's state an observation may be.
    attached : int
        Temporary vertices, which come last; see `attach`.

    Examples
    --------
    >>> import wayfield as wf
    >>> replay = wf.replay_graph([[0.0], [1.0], [2.0]], [[1.0], [2.0], [1.0]])
    >>> replay.graph.neighbours(replay.nearest([1.2]))
    array([2], dtype=int32)
    """

    graph: Graph
    states: FloatArray
    tail: NDArray[np.int64]
    head: NDArray[np.int64]
    ends: NDArray[np.int64]
    stayed: int
    tolerance: float
    attached: int = 0

    def nearest(self, observation: ArrayLike) -> int:
        """Vertex whose state is nearest to an observation, by Euclidean distance."""
        return int(np.argmin(self._distances(observation)))

    def attach(
        self,
        observation: ArrayLike,
        role: Role,
        *,
        k: int | None = None,
        radius: float | None = None,
        pace: float | None = None,
    ) -> tuple[Replay, int]:
        """Add a temporary vertex for an observation, with arcs to or from its neighbours.

        Neighbours are states of the buffer, never other temporary vertices. An observation within
        `tolerance` of a state is that state: then nothing is added. The buffer itself is not
        changed, and all its vertices keep their indices, so that labels stay valid.

        Parameters
        ----------
        observation : (d,) float array
            Where the vertex lies.
        role : {"start", "goal", "both"}
            A start has arcs out to its neighbours, a goal arcs in from them.
        k : int, optional
            How many of the nearest states to attach to, at most.
        radius : float, optional
            How far away they may be. Give one of the two, or both.
        pace : float, optional
            Length of an arc per unit of distance. By default the median over the buffer's arcs,
            so that an attached arc costs what a transition of its span does.

        Returns
        -------
        Replay, int
            The larger graph, and the vertex of the observation in it.

        Examples
        --------
        >>> corridor = replay_graph([[0.0], [2.0], [4.0]], [[2.0], [4.0], [6.0]])
        >>> larger, start = corridor.attach([1.0], "start", k=2)
        >>> larger
        Replay(3 transitions, 1 attached, Graph(5 vertices, 5 arcs, directed, lengths 0.5 to 1))
        >>> start, larger.graph.neighbours(start)
        (4, array([0, 1], dtype=int32))
        """
        as_choice(role, "role", ROLES)
        distance = self._distances(observation)
        distance[len(distance) - self.attached :] = np.inf
        nearest = int(np.argmin(distance))
        if distance[nearest] <= self.tolerance:
            return self, nearest
        near = neighbours(distance, k, radius)
        pace = self._pace if pace is None else as_real(pace, "pace", least=0.0)
        lengths = np.full(distance.size, np.inf)
        lengths[near] = pace * distance[near]
        graph, new = attach(self.graph, lengths, role, k=near.size, position=observation)
        states = frozen(np.vstack([self.states, np.asarray(observation, dtype=np.float64)]))
        return replace(self, graph=graph, states=states, attached=self.attached + 1), new

    def report(self, goal: int) -> ReachReport:
        """Say which states can reach the goal at all, before anything is planned.

        Examples
        --------
        >>> replay = replay_graph([[0.0], [1.0], [1.0]], [[1.0], [2.0], [0.0]])
        >>> print(replay.report(goal=0))
        1 of 3 states cannot reach the goal 0: no plan can help them.
        They end in 1 trap; the largest has 1 state (vertex 2).
        2 strong components; the goal's has 2 states, and 0 lead into it one way.
        """
        goal = as_vertex(goal, "goal", self.graph.num_vertices)
        reaches = reaching(self.graph.reverse_arcs, goal)
        return ReachReport(goal, frozen(reaches), self.graph.strong_components, self.graph)

    @cached_property
    def _pace(self) -> float:
        """Median cost of the buffer's own arcs per unit of distance."""
        tails, heads = self.graph.tails, self.graph.indices
        own = len(self.states) - self.attached
        seen = (tails < own) & (heads < own)
        span = np.linalg.norm(self.states[tails[seen]] - self.states[heads[seen]], axis=1)
        if not span.size:
            raise InputError("the buffer has no arcs to take a pace from: give pace")
        return float(np.median(self.graph.lengths[seen] / span))

    def _distances(self, observation: ArrayLike) -> FloatArray:
        point = as_finite(observation, "observation", self.states.shape[1])
        distances: FloatArray = np.linalg.norm(self.states - point, axis=1)
        return distances

    def __repr__(self) -> str:
        extra = f"{self.attached} attached, " if self.attached else ""
        return f"Replay({self.tail.size:,} transitions, {extra}{self.graph})"


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
        Rows at which an episode ended, timeouts included. The last observation of an episode has
        no arc to the first of the next. With `next_observations` rows are never joined to each
        other, and the transition of a terminal row is one like any other; in both cases
        ``ends`` lists the vertices where episodes ended.
    lengths : (t,) float array, optional
        Cost of each transition, 1 if not given. Without `next_observations` either one for each
        move that is a transition, or one per row, those at an episode's end unused. Of several
        transitions between the same two states the cheapest counts.
    tolerance : float
        Observations at most this far (Euclidean) from the first one seen at a vertex belong to
        that vertex; 0 merges equal observations only.

    Examples
    --------
    >>> walk = [[0.0], [1.0], [2.0], [1.0], [0.02]]
    >>> replay_graph(walk, tolerance=0.1)
    Replay(4 transitions, Graph(3 vertices, 4 arcs, directed, unit lengths))
    >>> episodes = replay_graph(walk, terminals=[False, False, True, False, True])
    >>> episodes.tail, episodes.head, episodes.ends
    (array([0, 1, 1]), array([1, 2, 3]), array([2, 3]))
    """
    rows = read_rows(observations, next_observations, terminals)
    vertex, states = merged(rows.seen, as_real(tolerance, "tolerance", least=0.0))
    tail, head = vertex[rows.tail], vertex[rows.head]
    length = np.ones(tail.size) if lengths is None else chosen_lengths(lengths, rows)
    moved = tail != head
    arcs, least = cheapest(tail[moved], head[moved], length[moved])
    graph = Graph.from_edges(arcs[0], arcs[1], least, len(states), True, _positions(states))
    ends, stayed = np.unique(vertex[rows.ends]), int(moved.size - moved.sum())
    states, tail, head, ends = (frozen(array) for array in (states, tail, head, ends))
    return Replay(graph, states, tail, head, ends, stayed, float(tolerance))


def _positions(states: FloatArray) -> FloatArray | None:
    return states if states.shape[1] in (2, 3) else None
