"""Planners: each takes a problem, one goal on one graph, and returns a route.

Rivals are what others do on a graph of landmarks: graph distance as in SoRB [1]_, TTGS's weights
[2]_, a cut-off with components joined as in GAS [3]_; and tabular value iteration on counts of
(landmark, direction, landmark), which needs no graph. AMLE and harmonic values extend
hindsight labels: the least number of steps after which a visitor was at the goal.

References
----------
.. [1] B. Eysenbach, R. Salakhutdinov, S. Levine, Search on the replay buffer, NeurIPS 2019.
.. [2] Test-time graph search for goal-conditioned reinforcement learning, 2025.
.. [3] Graph-assisted stitching for offline hierarchical reinforcement learning, ICML 2025.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components, dijkstra

from wayfield.chance import ExpectedCost, Transitions, expected_cost
from wayfield.extension import AMLE, Harmonic, Method, extend
from wayfield.graph import Graph
from wayfield.kernels._types import BoolArray, FloatArray
from wayfield.labels import Labels
from wayfield.lifting import lift
from wayfield.plans import plan

from .odds import chance_of, with_chance
from .scene import Route, Scene

GIVE_UP = 2000.0
"""What stopping short of the goal costs where chance is counted: two episodes."""
HIT = 0.7
"""An observation this near to the goal has arrived, for labels."""
TTGS_LONG, TTGS_BASE, TTGS_POWER = 24.0, 1000.0, 30.0
"""Longer edges, in steps, count 1000^(length / 24) times; the published setting for PointMaze."""
GAS_REACH = 2.0
"""Edges longer than so many typical ones are cut off."""
WINDOW, DIRECTIONS, CLEAR = 5, 8, 0.3
"""Steps and directions of value iteration on counts; mean actions shorter than this have none."""
ENOUGH, FEW = 20, 3
"""Least samples of a direction: as counted, and shrunk."""
SHRINK = 10.0
"""Samples of a landmark's outcomes over all directions that are added to each direction's."""
DOOR = 0.2
"""Landmarks where jumps are more likely than this are doors, for the oracle."""

Matrix = sparse.csr_array[np.float64]


@dataclass(frozen=True, eq=False)
class Problem:
    """One goal on one graph.

    Attributes
    ----------
    scene : Scene
        The buffer.
    graph : Graph
        On its landmarks.
    place : (2,) float array
        The goal.
    """

    scene: Scene
    graph: Graph
    place: FloatArray

    @cached_property
    def goals(self) -> NDArray[np.int64]:
        """Landmarks of the goal, the nearest first."""
        return self.scene.goals(self.place)

    def route(self, following: NDArray[np.int64], able: BoolArray) -> Route:
        """Put a route together: -1 is no way on, and goals go nowhere."""
        here = np.arange(following.size)
        steps = np.where((following < 0) | ~able, here, following)
        steps[self.goals] = self.goals
        able = able.copy()
        able[self.goals] = True
        return Route(steps, able, self.goals)


Planner = Callable[[Problem], Route]


def shortest(problem: Problem, matrix: Matrix) -> Route:
    """Follow shortest ways."""
    distance, following, _ = dijkstra(
        matrix.T.tocsr(), indices=problem.goals, return_predecessors=True, min_only=True
    )
    return problem.route(following.astype(np.int64), np.isfinite(distance))


def expected(problem: Problem, field: ExpectedCost) -> Route:
    """Follow the plan of an expected cost, whose actions are landmarks."""
    return problem.route(field.plan, ~field.gives_up & np.isfinite(field.values))


def graph_distance(problem: Problem) -> Route:
    """Dijkstra's ways."""
    return shortest(problem, problem.graph.to_scipy())


def ttgs(problem: Problem) -> Route:
    """Dijkstra's ways, long edges being very long."""
    matrix = problem.graph.to_scipy().copy()
    far = matrix.data > TTGS_LONG
    matrix.data[far] *= TTGS_BASE ** np.minimum(matrix.data[far] / TTGS_LONG, TTGS_POWER)
    return shortest(problem, matrix)


def cut_off(problem: Problem) -> Route:
    """Fewest hops over short edges; components are joined by the shortest ones between them."""
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


def labelled(problem: Problem) -> Labels:
    """Hindsight labels: least steps after which a visitor of a landmark was at the goal."""
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
    return Labels(known, steps[known])


def extended(problem: Problem, method: Method) -> Route:
    """Follow the field that hindsight labels extend to, lifted so that greedy walks arrive."""
    graph, goal = problem.graph, int(problem.goals[0])
    fit = graph.symmetrised("min") if graph.directed and not method.directed else graph
    found = extend(fit, labelled(problem), method, unreachable="nan", check=False).values
    values = lift(graph, np.where(np.isnan(found), np.inf, found), goal).values
    return problem.route(plan(graph, values, goal).successor, np.isfinite(values))


def amle(problem: Problem) -> Route:
    """AMLE of hindsight labels, descending."""
    return extended(problem, AMLE())


def harmonic(problem: Problem) -> Route:
    """Harmonic extension of hindsight labels, descending."""
    return extended(problem, Harmonic())


def direction_counts(scene: Scene, least: int) -> Transitions | None:
    """Count where landmarks lead within `WINDOW` steps, by the direction of the mean action.

    Directions that were taken fewer than `least` times at a landmark are left out; None if all are.
    """
    buffer, n = scene.buffer, len(scene.states)
    length = int(np.argmax(buffer.terminals)) + 1
    sums = np.cumsum(buffer.actions.reshape(-1, length, 2), axis=1, dtype=np.float64)
    mean = (sums[:, WINDOW:] - sums[:, :-WINDOW]) / WINDOW
    at = scene.replay.locate(buffer.observations).reshape(-1, length)
    angle = np.arctan2(mean[..., 1], mean[..., 0]) / (2 * np.pi)
    kind = np.rint(DIRECTIONS * angle).astype(np.int64) % DIRECTIONS
    clear = np.linalg.norm(mean, axis=2) > CLEAR
    begin, end = at[:, 1 : length - WINDOW + 1], at[:, WINDOW:]
    key = ((begin * DIRECTIONS + kind) * n + end)[clear]
    key, count = np.unique(key, return_counts=True)
    choice = key // n
    often = np.bincount(choice, count, n * DIRECTIONS)[choice] >= least
    if not often.any():
        return None
    state, action = np.divmod(choice[often], DIRECTIONS)
    return Transitions(state, action, (key % n)[often], count[often], float(WINDOW), n)


def counted(problem: Problem, least: int, shrink: float) -> Route:
    """Value iteration on counts; its field is followed along observed steps."""
    scene, graph = problem.scene, problem.scene.replay.graph
    moves = direction_counts(scene, least)
    if moves is None:
        return problem.route(np.full(graph.num_vertices, -1), np.zeros(graph.num_vertices, bool))
    field = expected_cost(moves.shrunk(shrink) if shrink else moves, problem.goals, GIVE_UP)
    values = np.where(field.gives_up, np.inf, field.values)
    steps = ~scene.leaps(graph.tails.astype(np.int64), graph.indices.astype(np.int64))
    tails, heads = graph.tails[steps], graph.indices[steps]
    score = graph.lengths[steps] + values[heads]
    order = np.lexsort((score, tails))
    first = order[np.unique(tails[order], return_index=True)[1]]
    following = np.full(len(values), -1)
    following[tails[first]] = heads[first]
    return problem.route(following, np.isfinite(values))


def counts(problem: Problem) -> Route:
    """Take odds as counted, where there are enough."""
    return counted(problem, ENOUGH, 0.0)


def counts_shrunk(problem: Problem) -> Route:
    """Shrink odds to a landmark's outcomes over all directions."""
    return counted(problem, FEW, SHRINK)


def chance_only(problem: Problem) -> Route:
    """Take the graph as it is, with the jumps of the buffer, and minimise the expected cost."""
    scene, graph = problem.scene, problem.graph
    plain = ~scene.leaps(graph.tails.astype(np.int64), graph.indices.astype(np.int64))
    walked = Graph.from_edges(
        graph.tails[plain], graph.indices[plain], graph.lengths[plain], graph.num_vertices, True
    )
    moves = with_chance(walked, chance_of(scene))
    return expected(problem, expected_cost(moves, problem.goals, GIVE_UP))


def evidence_only(problem: Problem) -> Route:
    """Dijkstra's ways over what was observed, and the graph's other arcs at their price."""
    return shortest(problem, problem.scene.replay.stitched(problem.graph).graph.to_scipy())


def observed_first(problem: Problem) -> Route:
    """Minimise the expected cost on what was observed; elsewhere over the graph's other arcs."""
    replay = problem.scene.replay.stitched(problem.graph)
    return expected(problem, expected_cost(replay, problem.goals, GIVE_UP))


def oracle(problem: Problem) -> Route:
    """Shortest observed ways that keep away from doors."""
    scene, graph = problem.scene, problem.scene.replay.graph
    tails, heads = graph.tails.astype(np.int64), graph.indices.astype(np.int64)
    safe = ~scene.leaps(tails, heads) & (chance_of(scene).odds[heads] < DOOR)
    n = graph.num_vertices
    ends = tails[safe], heads[safe]
    return shortest(problem, sparse.csr_array((graph.lengths[safe], ends), shape=(n, n)))
