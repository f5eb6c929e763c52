"""The graph of a replay buffer, and vertices attached to it for a while."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._arrays import KeepsReadOnly, as_choice, as_finite, as_real, as_vertex, frozen
from ..chance import ExpectedCost, Transitions
from ..errors import InputError
from ..graph import Graph
from ..kernels._types import FloatArray, IntArray
from ..kernels.merging import Rows
from ..kernels.planning import reaching
from ..labels import Labels
from ._attach import ROLES, Role, attach, neighbours
from ._buffer import Buffer, as_rows, chosen_lengths, read_rows
from ._dataset import read_dataset
from ._guesses import Suspects, find_guesses, find_suspects, with_prices
from ._moves import (
    ActionCounts,
    Arcs,
    Jumps,
    arcs_of,
    count_actions,
    find_crossings,
    jumps_of,
    speed_of,
)
from ._odds import BY, By, observed_first, transitions_of
from ._reach import ReachReport
from ._states import Located, as_landmarks, assigned, merged, nearest


@dataclass(frozen=True, eq=False, repr=False)
class Replay(KeepsReadOnly):
    """A directed graph of the states in a replay buffer, and what the buffer says of each arc.

    Attributes
    ----------
    graph : Graph
        Directed; an arc for every pair of states with a transition between them, as long as the
        time spent (see `replay_graph`). Positions are the states themselves if they have two or
        three coordinates.
    states : (n, d) float array
        One observation per vertex: the first that was seen there, or the landmark.
    tail, head : (t,) int64 arrays
        Vertex where each transition started, and where it ended.
    ends : (e,) int64 array
        Vertices where an episode ended, ascending; empty if there were no terminals.
    stayed : int
        Transitions that ended in the state they started in; they are no arcs.
    tolerance : float
        How far from its vertex's state an observation may be; with landmarks, how far apart these
        are at least.
    counts : (m,) int64 array
        How often each arc of the graph was crossed; 0 for arcs that nobody has seen.
    dwell : (m,) float array
        Median number of steps from entering the arc's tail to crossing it; NaN where nobody did.
    fastest : (m,) float array
        Length that each arc would have by its least dwell in place of the median, nobody resting on
        the way; NaN where nobody crossed.
    leaps : (m,) int64 array
        How many of the crossings were jumps.
    visits : (n,) int64 array
        How many stays every state had.
    jumps : Jumps
        Arcs that were crossed by jumps, and where these set in.
    speed : float
        Distance per step of the behaviour; 0 if it never moved.
    exact : bool
        Whether only equal observations were merged.
    actions : ActionCounts or None
        What followed which action, if there were any.
    attached : int
        Temporary vertices, which come last; see `attach`.

    Examples
    --------
    >>> import wayfield as wf
    >>> replay = wf.replay_graph([[0.0], [1.0], [2.0]], [[1.0], [2.0], [1.0]])
    >>> replay.graph.neighbours(replay.nearest([1.2]))
    array([2], dtype=int32)
    >>> wf.replay_graph([[0.0], [0.0], [0.0], [1.0], [0.0], [1.0]]).dwell
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
    fastest: FloatArray
    leaps: NDArray[np.int64]
    visits: NDArray[np.int64]
    jumps: Jumps
    speed: float
    exact: bool
    actions: ActionCounts | None = None
    attached: int = 0

    @classmethod
    def from_dataset(cls, dataset: Any, *, entry: str = "observation", **options: Any) -> Replay:
        """Build the graph of a dataset as OGBench, D4RL and Minari hand it out.

        Parameters
        ----------
        dataset : mapping, path, sequence or object
            A dictionary with "observations" and, where there are any, "next_observations",
            "actions", "terminals", "timeouts", "terminations", "truncations"; an ``.npz`` file
            with such arrays; a list of episodes, each a dictionary or an object with these names;
            or anything with ``iterate_episodes()``, as Minari's datasets have it. OGBench's
            compact form, with "valids", is known for what it is. An episode may have one
            observation more than actions, its last.
        entry : str
            Which part of observations that are dictionaries themselves, as in goal-conditioned
            environments.
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
        return replay_graph(**read_dataset(dataset, entry), **options)

    def nearest(self, observation: ArrayLike) -> int:
        """Vertex whose state is nearest to an observation, by Euclidean distance."""
        return int(np.argmin(self._distances(observation)))

    def locate(self, observations: ArrayLike) -> NDArray[np.int64]:
        """Return the vertex whose state is nearest to each of many observations, one per row.

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
        place = np.asarray(observation, dtype=self.states.dtype)
        known = with_arcs(self, graph)
        states, visits = np.vstack([self.states, place]), np.append(self.visits, 0)
        count = self.attached + 1
        return replace(known, states=frozen(states), visits=frozen(visits), attached=count), new

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

    # ---------------------------------------------------------------- chance, guesses, suspects

    @cached_property
    def departures(self) -> NDArray[np.int64]:
        """(n,) how often each state was left for another one."""
        ends = self.graph.tails, self.counts, self.graph.num_vertices
        return frozen(np.bincount(*ends).astype(np.int64))

    def transitions(self, by: By | None = None) -> Transitions:
        """Return the buffer as a Markov decision process: what follows if one means to go there.

        Parameters
        ----------
        by : {"arc", "action"}, optional
            An action is the neighbour to walk to, which fails if one jumps instead: a share of
            all departures from a state did, and exits are pooled over the states around it. Or an
            action is one of those given, or a kind of them if they are continuous
            (``actions.kinds``). By default actions are used where they say it all: if they are
            whole numbers and observations were merged only where equal.

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

    def expected_cost(
        self,
        goal: ArrayLike,
        give_up: float | None = None,
        labels: Labels | None = None,
        *,
        check: bool = True,
    ) -> ExpectedCost:
        """Return the least expected cost of arriving, observed ways first.

        The parameters are those of `wayfield.expected_cost`, which calls this with a replay.
        Guesses (`with_guesses`) are used only from states where what was observed leads nowhere:
        where one would give up or, without `give_up`, where no policy surely arrives.

        Examples
        --------
        >>> gap = replay_graph([[0.0], [1.0], [3.0]], [[1.0], [0.0], [4.0]], tolerance=0.1)
        >>> gap.expected_cost(goal=3).values
        array([inf, inf,  1.,  0.])
        >>> gap.with_guesses(2).expected_cost(goal=3).values.round(1)
        array([47.3, 46.3,  1. ,  0. ])
        """
        return observed_first(self, goal, give_up, labels, check)

    def with_guesses(self, guesses: int | Graph) -> Replay:
        """Add arcs that nobody has seen, at a price.

        An arc of length ℓ that n departures around it never took costs ℓ + 20 · (2 + n / 3): one
        in n + 2 such arcs works, a third of the departures counts, and a try that fails costs 20
        steps. If it is longer than two median arcs, ℓ is taken times 1000^(ℓ / 2 median arcs), so
        that long guesses come last. The arcs of the buffer are as they were; `counts` is 0 for the
        others.

        Parameters
        ----------
        guesses : int or Graph
            How many nearest states to join each state to, both ways, as far apart in time as the
            behaviour's speed makes them; or a graph on the same vertices, its lengths in steps.

        Examples
        --------
        >>> gap = replay_graph([[0.0], [1.0], [3.0]], [[1.0], [0.0], [4.0]], tolerance=0.1)
        >>> guessed = gap.with_guesses(2)
        >>> guessed.graph.neighbours(1), guessed.counts[guessed.graph.tails == 1]
        (array([0, 2, 3], dtype=int32), array([1, 0, 0]))
        >>> guessed.graph.lengths[guessed.graph.tails == 1].round(1)
        array([1.00000e+00, 4.53000e+01, 9.49117e+04])
        """
        new = find_guesses(self, guesses)
        return with_arcs(self, with_prices(self.graph, new, new.price))

    @cached_property
    def observed(self) -> Replay:
        """The same without arcs that nobody has seen; itself if there are none."""
        seen = self.counts > 0
        if seen.all():
            return self
        graph = self.graph
        indptr = np.concatenate([[0], np.cumsum(seen)])[graph.indptr]
        rows = indptr, graph.indices[seen], graph.lengths[seen]
        return with_arcs(self, Graph(*rows, True, graph.positions))

    def suspects(self, graph: Graph, least: float = 1.0) -> Suspects:
        """List the arcs of a graph that the transitions speak against, the most doubtful first.

        The graph may be anybody's, of nearest neighbours or a learned distance, on the buffer's
        states, its lengths in steps. An arc is suspect if there was occasion to take it and nobody
        did, and if no observed way between its ends is at most twice as long, and one median arc.

        Parameters
        ----------
        graph : Graph
            On the same vertices.
        least : float
            How many departures there must have been around either end.

        Examples
        --------
        >>> corridor = replay_graph(np.abs(np.arange(80.0) % 12 - 6)[:, None])
        >>> wrong = Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 6])  # the ends are not neighbours
        >>> corridor.suspects(wrong)
        Suspects(2 of 8 arcs, the first left out 7 times)
        >>> print(corridor.suspects(wrong))
        tail  head  length  left out  odds
           0     6       1         7  0.19
           6     0       1         7  0.19
        """
        return find_suspects(self, graph, least)

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


def with_arcs(replay: Replay, graph: Graph) -> Replay:
    """Return the replay on a graph that has all arcs that were crossed, and perhaps others."""
    n = np.int64(max(graph.num_vertices, replay.graph.num_vertices))
    crossed = np.flatnonzero(replay.counts)
    keys = replay.graph.tails[crossed] * n + replay.graph.indices[crossed]
    slot = np.searchsorted(graph.tails * n + graph.indices, keys)

    def moved(array: NDArray[Any], nothing: float) -> NDArray[Any]:
        larger = np.full(graph.num_arcs, nothing, dtype=array.dtype)
        larger[slot] = array[crossed]
        return frozen(larger)

    return replace(
        replay,
        graph=graph,
        counts=moved(replay.counts, 0),
        dwell=moved(replay.dwell, np.nan),
        fastest=moved(replay.fastest, np.nan),
        leaps=moved(replay.leaps, 0),
    )


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
    crossing it. Where observations are merged, it is never below the distance between the two
    states over the behaviour's speed, since a corner that is cut is left too soon. A jump, one
    step far longer than the others, is as long as it took.

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
    actions : (t,) integer array or (t, a) float array, optional
        What was done. It tells choice from chance; see `Replay.transitions`.
    lengths : (t,) float array, optional
        Cost of each transition, in place of time. Without `next_observations` either one for each
        move that is a transition, or one per row, those at an episode's end unused. Of several
        transitions between the same two states the cheapest counts; a 1 each makes hops.
    tolerance : float
        Observations at most this far (Euclidean) from the first one seen at a vertex belong to
        that vertex; 0 merges equal observations only.
    landmarks : int or (k, d) array, optional
        States to assign observations to, the nearest each, in place of merging: as many
        observations, each as far as can be from those before it (fewer if all others are within
        the tolerance of one), or these.
    jump : float, optional
        Longest step that is no jump. By default five times the length that nine tenths of the
        steps that move do not exceed.
    seed : int
        Landmarks are chosen among 60,000 observations drawn with it.

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
    if landmarks is None:
        located = merged(buffer, tolerance)
    else:
        located = assigned(buffer, as_landmarks(landmarks, buffer, tolerance, seed))
    costs = None if lengths is None else chosen_lengths(lengths, buffer)
    return assemble(buffer, located, actions, costs, tolerance, farthest, exact)


def assemble(
    buffer: Buffer,
    located: Located,
    actions: ArrayLike | None,
    costs: FloatArray | None,
    tolerance: float,
    farthest: float | None,
    exact: bool,
) -> Replay:
    """Count what happened between states, however these were found."""
    moves = find_crossings(buffer, located, farthest)
    arcs, speed = arcs_of(moves), speed_of(buffer)
    if costs is not None:
        cost = fastest = _cheapest(costs, buffer, located, arcs)
    elif exact:
        cost, fastest = arcs.dwell, arcs.fastest
    else:
        cost, fastest = _times(arcs, located.states, speed)
    done = None
    if actions is not None:
        done = count_actions(actions, buffer, located, moves, costs, exact)
    here, there, states = located
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
        fastest=frozen(fastest),
        leaps=frozen(arcs.leaps),
        visits=frozen(moves.visits),
        jumps=jumps_of(moves, buffer),
        speed=speed,
        exact=exact,
        actions=done,
    )


def _times(arcs: Arcs, states: Rows, speed: float) -> tuple[FloatArray, FloatArray]:
    """Time that every arc takes, and at least: its dwell, or the way at the usual speed."""
    if speed == 0.0:
        return arcs.dwell, arcs.fastest
    tails = np.repeat(np.arange(len(states)), np.diff(arcs.indptr))
    way = states[arcs.indices].astype(np.float64) - states[tails]
    least = np.where(2 * arcs.leaps > arcs.counts, 0.0, np.linalg.norm(way, axis=1) / speed)
    return np.maximum(arcs.dwell, least), np.maximum(arcs.fastest, least)


def _cheapest(given: FloatArray, buffer: Buffer, located: Located, arcs: Arcs) -> FloatArray:
    """Least of the lengths given for the transitions of every arc."""
    n = len(located.states)
    tail, head = located.here[buffer.valid], located.there[buffer.valid]
    moved = tail != head
    key = tail[moved].astype(np.int64) * n + head[moved]
    tails = np.repeat(np.arange(n), np.diff(arcs.indptr))
    slot: IntArray = np.searchsorted(tails * n + arcs.indices, key)
    least = np.full(arcs.indices.size, np.inf)
    np.minimum.at(least, slot, given[moved])
    return least
