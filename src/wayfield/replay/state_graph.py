"""The graph of a replay buffer, and temporary vertices attached to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import (
    KeepsReadOnly,
    as_choice,
    as_finite,
    as_floats,
    as_lengths,
    as_real,
    as_vertex,
    as_whole,
    frozen,
    refuse,
)
from ..errors import InputError
from ..graphs.graph import Graph, check_graph
from ..mdp import Transitions
from ..plans.kernels import reaching
from ..typing import BoolArray, FloatArray, IntArray
from .counts import (
    ActionCounts,
    Jumps,
    arcs_of,
    as_landmarks,
    assigned,
    count_actions,
    find_crossings,
    jumps_of,
    merged,
    nearest,
    speed_of,
)
from .dataset import as_rows, chosen_lengths, read_dataset, read_rows
from .kernels.merging import Rows
from .kernels.stays import step_lengths
from .process import BY, By, transitions_of
from .reports import ReachReport, ToleranceScan

Role = Literal["start", "goal", "both"]
ATTACHED_AS = get_args(Role)
_SCALES = (0.0, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
"""Tolerances that `scan_tolerances` tries, in median steps."""


@dataclass(frozen=True, eq=False, repr=False)
class Replay(KeepsReadOnly):
    """A directed graph of the states in a replay buffer, with statistics of each arc.

    Attributes
    ----------
    graph : Graph
        Directed, with an arc for each pair of states with a transition between them. The length of
        an arc is the time spent (see `replay_graph`). Positions are the states themselves if they
        have two or three coordinates.
    states : (n, d) float array
        One observation per vertex: the first one seen there, or the landmark.
    tail, head : (t,) int64 arrays
        Vertex where each transition started, and where it ended.
    ends : (e,) int64 array
        Vertices where an episode ended, ascending; empty if there were no terminals.
    stayed : int
        Transitions that ended in the state they started in; they are not arcs.
    tolerance : float
        Largest distance of an observation from the state of its vertex; with landmarks, the least
        distance between two of them.
    counts : (m,) int64 array
        Number of crossings of each arc; 0 for arcs of attached vertices.
    dwell : (m,) float array
        Median number of steps from entering the arc's tail to crossing it; NaN if never crossed.
    jump_counts : (m,) int64 array
        Number of the crossings that were jumps.
    visits : (n,) int64 array
        Number of stays in every state.
    jumps : Jumps
        Arcs that were crossed by jumps, and where these began.
    speed : float
        Distance per step of the behaviour; 0 if it never moved.
    exact : bool
        Whether only equal observations were merged.
    actions : ActionCounts or None
        Outcomes of each action, if there were actions.
    attached : int
        Number of temporary vertices, which come last; see `attach`.

    Examples
    --------
    >>> from wayfield import replay
    >>> buffer = replay.replay_graph([[0.0], [1.0], [2.0]], [[1.0], [2.0], [1.0]])
    >>> buffer.graph.neighbours(buffer.nearest([1.2]))
    array([2], dtype=int32)
    >>> replay.replay_graph([[0.0], [0.0], [0.0], [1.0], [0.0], [1.0]]).dwell
    array([2., 1.])
    """

    graph: Graph
    states: Rows
    tail: NDArray[np.int64]
    head: NDArray[np.int64]
    ends: NDArray[np.int64]
    stayed: int
    tolerance: float
    counts: NDArray[np.int64]
    dwell: FloatArray
    jump_counts: NDArray[np.int64]
    visits: NDArray[np.int64]
    jumps: Jumps
    speed: float
    exact: bool
    actions: ActionCounts | None = None
    attached: int = 0

    @classmethod
    def from_dataset(
        cls,
        dataset: Any,
        *,
        entry: str = "observation",
        **options: Any,
    ) -> Replay:
        """Build the graph of a dataset in the format of OGBench, D4RL, Minari or Stable-Baselines3.

        Parameters
        ----------
        dataset : mapping, path, sequence or object
            A dictionary with "observations" and, optionally, "next_observations", "actions",
            "terminals", "timeouts", "terminations", "truncations", "dones"; an ``.npz`` file with
            such arrays; a list of episodes, each a dictionary or an object with these names; an
            (n, T, d) array of n episodes; a replay buffer of Stable-Baselines3; or anything with
            ``iterate_episodes()``, such as a Minari dataset. OGBench's compact format, with
            "valids", is recognised. An episode may have one observation more than actions. Episodes
            of a single observation are skipped with a warning.
        entry : str
            Which part to use if observations are dictionaries, as in goal-conditioned environments.
        **options
            As for `replay_graph`: ``tolerance``, ``landmarks``, ``lengths``, ``jump``, ``seed``.

        Examples
        --------
        >>> compact = {
        ...     "observations": [[0.0], [1.0], [2.0], [5.0], [4.0]],
        ...     "actions": [[1.0], [1.0], [0.0], [-1.0], [0.0]],
        ...     "terminals": [0, 1, 1, 1, 1],
        ...     "valids": [1, 1, 0, 1, 0],
        ... }
        >>> Replay.from_dataset(compact)
        Replay(3 transitions, Graph(5 vertices, 3 arcs, directed, unit lengths))
        """
        columns = read_dataset(dataset, entry, "truncated")
        del columns["deaths"]  # a graph shows where episodes end, not what that means
        return replay_graph(**columns, **options)

    def nearest(self, observation: ArrayLike) -> int:
        """Return the vertex with the state nearest to an observation, by Euclidean distance."""
        return int(np.argmin(self._distances(observation)))

    def locate(self, observations: ArrayLike) -> NDArray[np.int64]:
        """Return the vertices with the states nearest to many observations, one per row.

        Examples
        --------
        >>> replay_graph([[0.0], [1.0], [2.0]]).locate([[0.4], [0.6], [9.0]])
        array([0, 1, 2])
        """
        rows = as_rows(observations, "observations")
        if rows.shape[1] != self.states.shape[1]:
            raise InputError(
                f"observations have {rows.shape[1]} coordinates, states {self.states.shape[1]}"
            )
        return nearest(rows, self.states).astype(np.int64)

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
            Position of the vertex.
        role : {"start", "goal", "both"}
            A start has arcs out to its neighbours, a goal arcs in from them.
        k : int, optional
            Largest number of nearest states to attach to.
        radius : float, optional
            Largest distance of these states. Pass k, radius or both.
        pace : float, optional
            Length of an arc per unit of distance. Default: the median over the buffer's arcs, so
            that an attached arc costs as much as a transition of the same span.

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
        as_choice(role, "role", ATTACHED_AS)
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
        # the arcs of the buffer keep their statistics, in the rows of the larger graph
        crossed = np.flatnonzero(self.counts)
        keys = self.graph.tails[crossed] * np.int64(new + 1) + self.graph.indices[crossed]
        slot = np.searchsorted(graph.tails * np.int64(new + 1) + graph.indices, keys)

        def moved(array: NDArray[Any], nothing: float) -> NDArray[Any]:
            larger = np.full(graph.num_arcs, nothing, dtype=array.dtype)
            larger[slot] = array[crossed]
            return frozen(larger)

        place = np.asarray(observation, dtype=self.states.dtype)
        larger = replace(
            self,
            graph=graph,
            states=frozen(np.vstack([self.states, place])),
            visits=frozen(np.append(self.visits, 0)),
            counts=moved(self.counts, 0),
            dwell=moved(self.dwell, np.nan),
            jump_counts=moved(self.jump_counts, 0),
            attached=self.attached + 1,
        )
        return larger, new

    def report(self, goal: int) -> ReachReport:
        """Report which states can reach the goal, before anything is planned.

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

    # ---------------------------------------------------------------- chance

    @cached_property
    def stepped(self) -> BoolArray:
        """(m,) whether each arc was crossed by steps, not by jumps alone."""
        return self.counts > self.jump_counts

    @cached_property
    def departures(self) -> NDArray[np.int64]:
        """(n,) how often each state was left for another one."""
        ends = self.graph.tails, self.counts, self.graph.num_vertices
        return frozen(np.bincount(*ends).astype(np.int64))

    def transitions(self, by: By | None = None) -> Transitions:
        """Return the buffer as a Markov decision process.

        Parameters
        ----------
        by : {"arc", "action"}, optional
            "arc": an action is the neighbour to walk to. It fails by a jump, as often as all
            departures from the state do; exits are pooled over adjacent states.
            "action": an action is one of those given, or a kind of them if they are continuous
            (``actions.kinds``). The default is "action" if actions are whole numbers and
            observations were merged only where equal, else "arc".

        Examples
        --------
        >>> slippery = replay_graph([[0.0], [0.0], [1.0], [0.0]], actions=[5, 5, 3, 3])
        >>> slippery.transitions()
        Transitions(2 states, 2 choices, 3 outcomes, counts 1 to 1)
        >>> slippery.transitions(by="arc")
        Transitions(2 states, 2 choices, 2 outcomes, counts 1 to 1)
        """
        if by is None:
            by = "action" if self.exact and self.actions and self.actions.kinds.ndim == 1 else "arc"
        return transitions_of(self, cast("By", as_choice(by, "by", BY)))

    @cached_property
    def _pace(self) -> float:
        """Median cost of the buffer's own arcs per unit of distance."""
        tails, heads = self.graph.tails, self.graph.indices
        own = len(self.states) - self.attached
        seen = (tails < own) & (heads < own)
        span = np.linalg.norm(self.states[tails[seen]] - self.states[heads[seen]], axis=1)
        if not span.size:
            raise InputError("pace must be given, since the buffer has no arcs to estimate it from")
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
    actions: ArrayLike | None = None,
    *,
    lengths: ArrayLike | None = None,
    tolerance: float = 0.0,
    landmarks: int | ArrayLike | None = None,
    jump: float | None = None,
    seed: int = 0,
) -> Replay:
    """Build a directed graph from observed transitions.

    The length of an arc is the time spent: the median number of steps from entering its tail to
    crossing it. Between merged states it is never below their distance over the behaviour's speed,
    since corners are cut and left too soon. A jump, one step far longer than the others, is as long
    as the time it took.

    Parameters
    ----------
    observations : (t, d) float array
        Where each transition started.
    next_observations : (t, d) float array, optional
        Where it ended. Without it, consecutive observations are transitions.
    terminals : (t,) bool array, optional
        Rows at which an episode ended, timeouts included. The last observation of an episode has
        no arc to the first of the next. With `next_observations` rows are never joined to each
        other, and the transition of a terminal row is like any other; in both cases
        ``ends`` lists the vertices where episodes ended.
    actions : (t,) integer array or (t, a) float array, optional
        The actions taken. They distinguish choice from chance; see `Replay.transitions`.
    lengths : (t,) float array, optional
        Cost of each transition, in place of time. Without `next_observations`, either one per
        transition, or one per row; then those at an episode's end are unused. Of several
        transitions between the same two states the cheapest counts. Costs of 1 count hops.
    tolerance : float
        Observations at most this far (Euclidean) from the first one seen at a vertex belong to
        that vertex; 0 merges equal observations only.
    landmarks : int or (k, d) array, optional
        States to assign observations to, each to the nearest, instead of merging. A number chooses
        that many observations as far apart as possible (fewer if all others are within the
        tolerance of one); an array gives the states.
    jump : float, optional
        Steps longer than this count as jumps. By default five times the 90th percentile of nonzero
        step lengths.
    seed : int
        Seed of the 60,000 observations among which landmarks are chosen.

    Examples
    --------
    >>> walk = [[0.0], [1.0], [2.0], [1.0], [0.02]]
    >>> replay_graph(walk, tolerance=0.1)
    Replay(4 transitions, Graph(3 vertices, 4 arcs, directed, unit lengths))
    >>> episodes = replay_graph(walk, terminals=[False, False, True, False, True])
    >>> episodes.tail, episodes.head, episodes.ends
    (array([0, 1, 1]), array([1, 2, 3]), array([2, 3]))
    >>> replay_graph(walk, landmarks=[[0.0], [2.0]]).tail
    array([0, 0, 1, 0])
    """
    buffer = read_rows(observations, next_observations, terminals)
    tolerance = as_real(tolerance, "tolerance", least=0.0)
    farthest = None if jump is None else as_real(jump, "jump", least=0.0, most=np.inf)
    exact = landmarks is None and tolerance == 0.0
    # states, and what happened between them
    if landmarks is None:
        located = merged(buffer, tolerance)
    else:
        located = assigned(buffer, as_landmarks(landmarks, buffer.first, tolerance, seed))
    here, there, states = located
    costs = None if lengths is None else chosen_lengths(lengths, buffer)
    steps = step_lengths(buffer.first, buffer.second, buffer.valid)
    moves = find_crossings(buffer, located, steps, farthest)
    arcs, speed = arcs_of(moves), speed_of(buffer, steps)

    # the length of every arc
    tails = np.repeat(np.arange(len(states)), np.diff(arcs.indptr))
    cost = arcs.dwell
    if costs is not None:  # the least of those given for the transitions of every arc
        tail, head = here[buffer.valid].astype(np.int64), there[buffer.valid]
        moved = tail != head
        key = tail[moved] * len(states) + head[moved]
        slot = np.searchsorted(tails * len(states) + arcs.indices, key)
        cost = np.full(arcs.indices.size, np.inf)
        np.minimum.at(cost, slot, costs[moved])
    elif not exact and speed > 0.0:  # not shorter than the distance at the usual speed
        span = np.linalg.norm(states[arcs.indices].astype(np.float64) - states[tails], axis=1)
        least = np.where(2 * arcs.jump_counts > arcs.counts, 0.0, span / speed)
        cost = np.maximum(cost, least)

    done = None
    if actions is not None:
        done = count_actions(actions, buffer, located, moves, costs, exact)
    places = states if states.shape[1] in (2, 3) else None
    ended = there if buffer.second.size else here
    return Replay(
        graph=Graph(arcs.indptr, arcs.indices, cost, True, places),
        states=frozen(states),
        tail=frozen(here[buffer.valid].astype(np.int64)),
        head=frozen(there[buffer.valid].astype(np.int64)),
        ends=frozen(np.unique(ended[buffer.final]).astype(np.int64)),
        stayed=buffer.num_transitions - moves.row.size,
        tolerance=tolerance,
        counts=frozen(arcs.counts),
        dwell=frozen(arcs.dwell),
        jump_counts=frozen(arcs.jump_counts),
        visits=frozen(moves.visits),
        jumps=jumps_of(moves, buffer),
        speed=speed,
        exact=exact,
        actions=done,
    )


# -------------------------------------------------------------------- attaching


def attach(
    graph: Graph,
    lengths: ArrayLike,
    role: Role,
    *,
    k: int | None = None,
    radius: float | None = None,
    position: ArrayLike | None = None,
) -> tuple[Graph, int]:
    """Add a vertex to a graph, with arcs to or from its nearest vertices.

    The graph itself is not changed, and all its vertices keep their indices.

    Parameters
    ----------
    graph : Graph
        If it is undirected, `role` must be "both".
    lengths : (n,) float array
        Length of an arc between the new vertex and each other one; +inf where there can be none.
    role : {"start", "goal", "both"}
        A start has arcs out to its neighbours, a goal arcs in from them.
    k : int, optional
        Largest number of nearest vertices to attach to.
    radius : float, optional
        Largest length of an arc. Pass k, radius or both.
    position : (d,) float array, optional
        Position for drawing. Default: amid its neighbours.

    Returns
    -------
    Graph, int
        The larger graph, and the new vertex in it.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield import replay
    >>> one_way = wf.Graph.from_edges([0, 1], [1, 2], directed=True)
    >>> larger, start = replay.attach(one_way, [0.5, 0.7, 9.0], "start", k=2)
    >>> larger
    Graph(4 vertices, 4 arcs, directed, lengths 0.5 to 1)
    >>> wf.cost_to_go(larger, goal=2)[start]
    np.float64(1.7)
    """
    new = check_graph(graph).num_vertices
    if as_choice(role, "role", ATTACHED_AS) != "both" and not graph.directed:
        raise InputError(f"role must be 'both' on an undirected graph, got {role!r}")
    length = as_floats(lengths, "lengths", new)
    refuse(~(length > 0), length, "lengths", "is not positive")
    near = neighbours(length, k, radius)
    here, costs = np.full(near.size, new), as_lengths(length[near], "lengths")
    arcs = [(graph.tails, graph.indices, graph.lengths)]
    if role != "goal":
        arcs.append((here, near, costs))
    if role != "start":
        arcs.append((near, here, costs))
    tails, heads, every = (np.concatenate(parts) for parts in zip(*arcs, strict=True))
    places = graph.positions
    if places is not None:
        place = places[near].mean(axis=0) if position is None else as_floats(position, "position")
        places = np.vstack([places, place])
    return Graph.from_edges(tails, heads, every, new + 1, graph.directed, places), new


def neighbours(distance: FloatArray, k: int | None, radius: float | None) -> IntArray:
    """Return vertices within `radius` and among the `k` nearest, ascending."""
    if k is None and radius is None:
        raise InputError("pass k, radius or both: how many neighbours to attach to, how far away")
    near = np.argsort(distance, kind="stable")[: np.isfinite(distance).sum()]
    if not near.size:
        raise InputError("there is nothing to attach to: all lengths are inf")
    if k is not None:
        near = near[: as_whole(k, "k", least=1)]
    if radius is not None:
        reach, nearest = as_real(radius, "radius", least=0.0), near[0]
        if distance[nearest] > reach:
            raise InputError(
                f"nothing within radius {reach:g}: the nearest, vertex {nearest}, is "
                f"{distance[nearest]:g} away"
            )
        near = near[distance[near] <= reach]
    return np.sort(near)


# -------------------------------------------------------------------- tolerances


def scan_tolerances(
    observations: ArrayLike,
    next_observations: ArrayLike | None = None,
    terminals: ArrayLike | None = None,
    *,
    tolerances: ArrayLike | None = None,
) -> ToleranceScan:
    """Build the graph of a replay buffer for several tolerances, and count what is in it.

    If the tolerance is too small, hardly any state is visited twice, and each episode is a separate
    component. If it is too large, transitions begin and end in the same state, and walls disappear.
    In between, most states are joined.

    Parameters
    ----------
    observations, next_observations, terminals
        As for `replay_graph`.
    tolerances : (k,) float array, optional
        Tolerances to try. Default: 0 and six multiples of the median nonzero step, from an eighth
        to four times.

    Examples
    --------
    >>> import numpy as np
    >>> import wayfield as wf
    >>> from wayfield import replay
    >>> there = np.linspace(0, 1, 11)
    >>> walk = np.concatenate([there, 1 - there + 0.01])[:, None]
    >>> scan = replay.scan_tolerances(walk, tolerances=[0, 0.02, 0.5])
    >>> print(scan)
    tolerance  states  arcs  stayed  joined
            0      22    21       0   4.5 %
         0.02      11    20       1 100.0 %
          0.5       2     2      19 100.0 %
    >>> scan.states
    array([22, 11,  2])
    """
    if tolerances is None:
        buffer = read_rows(observations, next_observations, terminals)
        step = step_lengths(buffer.first, buffer.second, buffer.valid)
        chosen = np.array(_SCALES) * (float(np.median(step[step > 0])) if step.any() else 1.0)
    else:
        chosen = as_finite(tolerances, "tolerances")
        refuse(chosen < 0, chosen, "tolerances", "is negative")
        if not chosen.size:
            raise InputError("tolerances must hold at least one number, got none")
    counts = []
    for tolerance in chosen.tolist():
        replay = replay_graph(observations, next_observations, terminals, tolerance=tolerance)
        graph = replay.graph
        joined = np.bincount(graph.strong_components).max()
        counts.append((graph.num_vertices, graph.num_arcs, replay.stayed, joined))
    columns = (frozen(np.array(column, dtype=np.int64)) for column in zip(*counts, strict=True))
    return ToleranceScan(frozen(chosen), *columns)
