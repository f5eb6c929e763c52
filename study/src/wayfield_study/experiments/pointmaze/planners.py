"""Graphs on a buffer's landmarks, and planners on them.

**Graphs.** ``time`` has the observed changes of landmark, directed; ``xy-k`` the k nearest
neighbours on (x, y), and ``noisy-k`` those on (x, y) with noise, which stands for learned features.
Lengths are in steps.

**Planners** take a problem, one goal on one graph, and return a route. Rivals are what others do on
a graph of landmarks: graph distance as in SoRB [1]_, TTGS's weights [2]_, a cut-off with components
joined as in GAS [3]_. AMLE values extend hindsight labels: the least number of steps after which a
visitor was at the goal.

References
----------
.. [1] B. Eysenbach, R. Salakhutdinov, S. Levine, Search on the replay buffer, NeurIPS 2019.
.. [2] Test-time graph search for goal-conditioned reinforcement learning, 2025.
.. [3] Graph-assisted stitching for offline hierarchical reinforcement learning, ICML 2025.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.spatial import cKDTree

import wayfield as wf
from wayfield.fields import Method
from wayfield.fields.base import takes_directed
from wayfield.mdp import ExpectedCost
from wayfield.typing import BoolArray, FloatArray

from .maze import LandmarkScene, Route

GRAPHS = ("time", "xy-5", "xy-10", "xy-20", "xy-50", "noisy-10")
BLUR = 2.0
"""Noise of noisy features."""
GIVE_UP = 2000.0
"""What stopping short of the goal costs where chance is counted: two episodes."""
HIT = 0.7
"""Observations within this distance of the goal have arrived, for labels."""
TTGS_LONG, TTGS_BASE, TTGS_POWER = 24.0, 1000.0, 30.0
"""Longer edges, in steps, count 1000^(length / 24) times; the published setting for PointMaze."""
GAS_REACH = 2.0
"""Edges longer than this many typical ones are cut off."""
TELEPORT = 0.2
"""Landmarks where jumps are more likely than this are teleports, for the oracle."""

Matrix = sparse.csr_array[np.float64]


def make_graph(scene: LandmarkScene, name: str) -> wf.Graph:
    """Return a graph on the landmarks by its name."""
    if name == "time":
        return scene.replay.graph
    kind, number = name.split("-")
    features = scene.states
    if kind == "noisy":
        rng = np.random.default_rng([scene.seed, 2])
        features = features + rng.normal(0.0, BLUR, features.shape)
    return nearest_neighbours(features, int(number), 1.0 / scene.replay.speed)


def nearest_neighbours(features: FloatArray, k: int, pace: float) -> wf.Graph:
    """Join every row to its k nearest ones, both ways; lengths are distances times `pace`.

    Examples
    --------
    >>> nearest_neighbours(np.array([[0.0], [3.0], [9.0]]), 1, pace=2.0)
    Graph(3 vertices, 2 edges, lengths 6 to 12)
    """
    n = len(features)
    found = cKDTree(features).query(features, k + 1)
    distance, heads = np.ravel(found[0]), np.ravel(found[1])
    tails = np.repeat(np.arange(n), k + 1)
    proper = tails != heads
    lengths = np.maximum(pace * distance[proper], 1.0)
    ends = np.sort([tails[proper], heads[proper]], axis=0)
    pairs, first = np.unique(ends, axis=1, return_index=True)
    return wf.Graph.from_edges(pairs[0], pairs[1], lengths[first], n)


# -------------------------------------------------------------------- chance


@dataclass(frozen=True, eq=False)
class Chance:
    """Jumps of a buffer.

    Attributes
    ----------
    odds : (n,) float array
        Share of the departures from a landmark that ended in a jump.
    exits : (n, n) sparse array
        Where to, as shares of 1 in every row with a jump.
    cost : (n,) float array
        Steps that it took; 1 where there is none.
    """

    odds: FloatArray
    exits: Matrix
    cost: FloatArray


@cache
def chance_of(scene: LandmarkScene) -> Chance:
    """Read the jumps out of the transitions of a buffer."""
    moves, n = scene.replay.transitions("arc"), len(scene.states)
    states = np.flatnonzero(np.diff(moves.indptr))
    first = moves.indptr[states]  # every action of a state has the same exits
    outcomes = np.repeat(np.arange(moves.num_choices), np.diff(moves.outcome_indptr))
    place = np.full(moves.num_choices, -1)
    place[first] = states
    at, to = place[outcomes], moves.next_states
    jumps = (at >= 0) & ((to != moves.actions[outcomes]) | (at == moves.actions[outcomes]))
    at, to, share = at[jumps], to[jumps], moves.probabilities[jumps]
    odds: FloatArray = np.zeros(n)
    np.add.at(odds, at, share)
    cost = np.ones(n)
    cost[at] = moves.costs[jumps]
    return Chance(odds, sparse.csr_array((share / odds[at], (at, to)), shape=(n, n)), cost)


def with_chance(graph: wf.Graph, chance: Chance) -> wf.Transitions:
    """Return the graph's arcs as moves that succeed unless a jump sets in at their tails.

    A landmark with jumps and no arcs has one action, itself: to stay and be sent somewhere.
    """
    tails, heads = graph.tails.astype(np.int64), graph.indices.astype(np.int64)
    stuck = np.setdiff1d(np.flatnonzero(chance.odds > 0), tails)
    walks = chance.odds[tails] < 1
    state = np.concatenate([tails, stuck])
    action = np.concatenate([heads, stuck])
    exits = chance.exits[state].tocoo()
    row, to = exits.coords
    weight = np.where(row < tails.size, chance.odds[state[row]], 1.0)
    return wf.Transitions(
        np.concatenate([tails[walks], state[row]]),
        np.concatenate([heads[walks], action[row]]),
        np.concatenate([heads[walks], to]),
        np.concatenate([1 - chance.odds[tails[walks]], weight * exits.data]),
        np.concatenate([graph.lengths[walks], chance.cost[state[row]]]),
        graph.num_vertices,
    )


# -------------------------------------------------------------------- planners


@dataclass(frozen=True, eq=False)
class PointProblem:
    """One goal on one graph.

    Attributes
    ----------
    scene : LandmarkScene
        The buffer.
    graph : Graph
        On its landmarks.
    place : (2,) float array
        The goal.
    """

    scene: LandmarkScene
    graph: wf.Graph
    place: FloatArray

    @cached_property
    def goals(self) -> NDArray[np.int64]:
        """Landmarks of the goal, the nearest first."""
        return self.scene.goals(self.place)

    def route(self, following: NDArray[np.int64], able: BoolArray) -> Route:
        """Return a route: -1 is no path on, and goals go nowhere."""
        here = np.arange(following.size)
        steps = np.where((following < 0) | ~able, here, following)
        steps[self.goals] = self.goals
        able = able.copy()
        able[self.goals] = True
        return Route(steps, able, self.goals)


def shortest(problem: PointProblem, matrix: Matrix) -> Route:
    """Follow shortest paths."""
    distance, following, _ = dijkstra(
        matrix.T.tocsr(), indices=problem.goals, return_predecessors=True, min_only=True
    )
    return problem.route(following.astype(np.int64), np.isfinite(distance))


def expected(problem: PointProblem, field: ExpectedCost) -> Route:
    """Follow the plan of an expected cost, whose actions are landmarks."""
    return problem.route(field.plan, ~field.gives_up & np.isfinite(field.values))


def graph_distance(problem: PointProblem) -> Route:
    """Follow shortest paths of the graph as it is."""
    return shortest(problem, problem.graph.to_scipy())


def ttgs(problem: PointProblem) -> Route:
    """Follow shortest paths, long edges being very long."""
    matrix = problem.graph.to_scipy().copy()
    far = matrix.data > TTGS_LONG
    matrix.data[far] *= TTGS_BASE ** np.minimum(matrix.data[far] / TTGS_LONG, TTGS_POWER)
    return shortest(problem, matrix)


def cut_off(problem: PointProblem) -> Route:
    """Follow the fewest hops over short edges; components are joined by their shortest edges."""
    graph = problem.graph
    tails, heads, lengths = graph.tails, graph.indices, graph.lengths
    n = graph.num_vertices
    order = np.argsort(lengths, kind="stable")
    keep = lengths <= GAS_REACH * np.median(lengths[order[:n]])
    while True:
        matrix = sparse.csr_array((np.ones(keep.sum()), (tails[keep], heads[keep])), shape=(n, n))
        part = connected_components(matrix, directed=False)[1]
        between = order[part[tails[order]] != part[heads[order]]]
        if not between.size:
            return shortest(problem, matrix)
        keep[between[lengths[between] <= lengths[between[0]]]] = True


def hindsight_labels(problem: PointProblem) -> wf.Labels:
    """Return the least steps after which a visitor of a landmark was at the goal."""
    scene = problem.scene
    ends = scene.buffer.terminals
    away = np.linalg.norm(scene.buffer.observations - problem.place, axis=1)
    rows = np.arange(away.size)
    arrived = np.where(away <= HIT, rows, away.size)
    following = np.minimum.accumulate(arrived[::-1])[::-1]
    last = np.where(ends, rows, away.size)
    final = np.minimum.accumulate(last[::-1])[::-1]
    within = (following <= final) & ~ends
    steps = np.full(len(scene.states), np.inf)
    where = scene.replay.tail[within[~ends]]
    np.minimum.at(steps, where, (following - rows)[within] + HIT / scene.replay.speed)
    steps[problem.goals] = 0.0
    known = np.flatnonzero(np.isfinite(steps))
    return wf.Labels(known, steps[known])


def extended(problem: PointProblem, method: Method) -> Route:
    """Follow the field that hindsight labels extend to, lifted so that greedy walks arrive."""
    graph, goal = problem.graph, int(problem.goals[0])
    fit = graph.symmetrised("min") if graph.directed and not takes_directed(method) else graph
    labels = hindsight_labels(problem)
    found = wf.extend(fit, labels, method, unreachable="nan", check=False).values
    values = wf.lift(graph, np.where(np.isnan(found), np.inf, found), goal).values
    return problem.route(wf.plan(graph, values, goal).successor, np.isfinite(values))


def chance_only(problem: PointProblem) -> Route:
    """Minimise the expected cost on the graph as it is, with the jumps of the buffer."""
    scene, graph = problem.scene, problem.graph
    plain = ~scene.leaps(graph.tails, graph.indices)
    rows = graph.tails[plain], graph.indices[plain], graph.lengths[plain]
    moves = with_chance(wf.Graph.from_edges(*rows, graph.num_vertices, True), chance_of(scene))
    return expected(problem, wf.expected_cost(moves, problem.goals, GIVE_UP))


def oracle(problem: PointProblem) -> Route:
    """Follow shortest observed paths that keep away from teleports."""
    scene, graph = problem.scene, problem.scene.replay.graph
    tails, heads = graph.tails, graph.indices
    safe = ~scene.leaps(tails, heads) & (chance_of(scene).odds[heads] < TELEPORT)
    n = graph.num_vertices
    ends = tails[safe], heads[safe]
    return shortest(problem, sparse.csr_array((graph.lengths[safe], ends), shape=(n, n)))
