"""Worlds in which the given graph is wrong: walls, slow patches, congested roads; made from a seed.

Walls and patches are in mazes, and about 1,600 states. Roads join random places.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.spatial import Delaunay

import wayfield as wf
from wayfield.typing import BoolArray, FloatArray, IntArray

Rng: TypeAlias = np.random.Generator
MAZES = (
    (wf.load_layout("antmaze-medium"), 8),
    (wf.load_layout("antmaze-large"), 6),
    (wf.Layout.from_text("\n".join(["....."] * 5)), 8),
)
"""Layouts and steps along the side of a cell, taken in turn by the seed."""
TRIES = 400
"""Largest number of places at which a wall is tried."""
HALF_WALL = 0.45
"""Half the length of a wall, in sides of a cell."""
PATCH = (2.0, 10.0)
"""Least and largest factor on the costs in a patch."""
PLACES = 1_500
"""Number of places in a network of roads."""
SPEEDS = ((0.5, 1.0, 1.5), (0.2, 0.5, 0.3))
"""Lengths of roads relative to their length in the plane, and how often each occurs."""
INCIDENTS = 0.02
"""Share of the roads' directions in which something blocks them: ten times the cost."""


class DecisionCase(NamedTuple):
    """A graph, and what its arcs cost in the world."""

    graph: wf.Graph
    goal: int
    truth: FloatArray
    """(n,) cost-to-go in the world."""
    costs: FloatArray
    """(m,) cost of every arc; inf for one that does not exist."""

    def judge(self, successor: IntArray) -> tuple[BoolArray, FloatArray]:
        """Whether each move is right, and what it costs."""
        graph, n = self.graph, self.graph.num_vertices
        q = self.costs + self.truth[graph.indices]
        best, own, cost = (np.full(n, np.inf) for _ in range(3))
        np.minimum.at(best, graph.tails, q)
        slots = np.flatnonzero(successor[graph.tails] == graph.indices)
        own[graph.tails[slots]], cost[graph.tails[slots]] = q[slots], self.costs[slots]
        return np.isfinite(own) & (own <= best * (1.0 + 1e-9)), cost


def make_wrong_world(kind: str, seed: int) -> DecisionCase:
    """Build the walls, the patches or the roads of a seed.

    Examples
    --------
    >>> world = make_wrong_world("walls", seed=0)
    >>> world.graph, int(np.isinf(world.costs).sum())  # arcs through walls
    (Graph(1,664 vertices, 3,136 edges, unit lengths), 150)
    """
    rng = np.random.default_rng([seed, sum(map(ord, kind))])
    if kind == "road":
        return _judged(*roads(rng))
    layout, side = MAZES[seed % len(MAZES)]
    graph = wf.grid_graph(layout, side)
    goal, several = int(rng.integers(graph.num_vertices)), graph.num_vertices // (2 * side**2)
    defect = {"walls": walls, "patch": slow_patches}[kind]
    return _judged(graph, goal, defect(graph, goal, side, max(3, several), rng))


def _judged(graph: wf.Graph, goal: int, costs: FloatArray) -> DecisionCase:
    """Add the cost-to-go over the arcs that exist."""
    there = np.isfinite(costs)
    ends = graph.tails[there], graph.indices[there]
    world = wf.Graph.from_edges(*ends, costs[there], graph.num_vertices, directed=True)
    return DecisionCase(graph, goal, wf.cost_to_go(world, goal), costs)


def walls(graph: wf.Graph, goal: int, side: int, count: int, rng: Rng) -> FloatArray:
    """Draw straight walls across open ground; every state can still reach the goal."""
    positions, costs = _positions(graph), graph.lengths
    start, end = positions[graph.tails], positions[graph.indices]
    for _ in range(TRIES):
        if count == 0:
            break
        # steps across a line through a random place
        place = positions[rng.integers(len(positions))]
        axis = int(rng.random() < 0.5)
        middle = (start + end) / 2 - place
        steps = (np.abs(start - end).sum(axis=1) < 1.5) & (start[:, axis] != end[:, axis])
        crossing: BoolArray = steps & (np.abs(middle[:, axis] - 0.5) < 0.1)
        crossing &= np.abs(middle[:, 1 - axis]) < HALF_WALL * side
        walled = np.where(crossing, np.inf, costs)
        if crossing.any() and np.isfinite(_judged(graph, goal, walled).truth).all():
            costs, count = walled, count - 1
    return costs


def slow_patches(graph: wf.Graph, goal: int, side: int, count: int, rng: Rng) -> FloatArray:
    """Draw discs in which moving costs more; later discs cover earlier ones."""
    positions, slow = _positions(graph), np.ones(graph.num_vertices)
    for _ in range(count):
        factor, radius = rng.uniform(*PATCH), rng.uniform(0.3, 1.0) * side
        away = positions - positions[rng.integers(len(positions))] + rng.uniform(-0.5, 0.5, 2)
        slow[(away**2).sum(axis=1) < radius**2] = factor
    return graph.lengths * (slow[graph.tails] + slow[graph.indices]) / 2


def roads(rng: Rng) -> tuple[wf.Graph, int, FloatArray]:
    """Make roads of three speeds, with congestion in places and incidents on single arcs."""
    places = rng.uniform(0, 1, (PLACES, 2))
    corners = Delaunay(places).simplices
    pairs = np.vstack([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [0, 2]]])
    a, b = np.unique(np.sort(pairs, axis=1), axis=0).astype(np.int64).T
    lengths = np.linalg.norm(places[a] - places[b], axis=1) * np.sqrt(PLACES)
    kept = (lengths < 4) & (rng.random(lengths.size) < 0.75)
    component = wf.Graph.from_edges(a[kept], b[kept], num_vertices=PLACES).components
    inside = component == np.argmax(np.bincount(component))
    kept &= inside[a]
    lengths = np.maximum(lengths[kept], 0.05)
    lengths *= rng.choice(SPEEDS[0], lengths.size, p=SPEEDS[1])
    number, places = np.cumsum(inside) - 1, places[inside]
    ends = number[a[kept]], number[b[kept]]
    graph = wf.Graph.from_edges(*ends, lengths, len(places), positions=places)
    goal = int(rng.integers(len(places)))
    # congestion: a smooth lognormal field of factors, at least 1
    heat = np.zeros(len(places))
    for _ in range(40):
        height = rng.normal()
        away = ((places - rng.uniform(0, 1, 2)) ** 2).sum(axis=1)
        heat += height * np.exp(-away / (2 * rng.uniform(0.04, 0.15) ** 2))
    slow = np.maximum(1.0, np.exp(1.2 * heat))
    costs = graph.lengths * 0.5 * (slow[graph.tails] + slow[graph.indices])
    return graph, goal, np.where(rng.random(graph.num_arcs) < INCIDENTS, 10 * costs, costs)


def _positions(graph: wf.Graph) -> FloatArray:
    assert graph.positions is not None
    return graph.positions
