"""A world that is not what its graph says: what trying every arc comes to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wayfield.graph import Graph
from wayfield.kernels._types import BoolArray, FloatArray
from wayfield.kernels.shortest import breadth_first
from wayfield.shortest_paths import cost_to_go

PATIENCE = 20
"""Most steps of a walk, in times the hops of the longest of the shortest ways."""


@dataclass(frozen=True, eq=False)
class WrongWorld:
    """A believed graph, and what trying its arcs comes to.

    Attributes
    ----------
    kind : str
        One of `WRONG_WORLDS`.
    graph : Graph
        What is believed; undirected, its positions as they are seen.
    goal : int
        Where to go.
    lands : (m,) int64 array
        Where trying an arc ends: at its head, at its tail if there is no such arc, or elsewhere.
    costs : (m,) float array
        What trying it costs; of an arc that does not exist, its believed length.
    slips : (n,) float array
        Chance that an arc out of the state is drawn at random in place of the one chosen.
    sent : (n,) int64 array
        Where one comes out who is put at a state: elsewhere within a teleport.
    """

    kind: str
    graph: Graph
    goal: int
    lands: NDArray[np.int64]
    costs: FloatArray
    slips: FloatArray
    sent: NDArray[np.int64]

    @classmethod
    def as_believed(cls, kind: str, graph: Graph, goal: int) -> WrongWorld:
        """Return the world in which the graph is right."""
        n = graph.num_vertices
        heads = graph.indices.astype(np.int64)
        return cls(kind, graph, goal, heads, graph.lengths, np.zeros(n), np.arange(n))

    def without(self, missing: BoolArray) -> WrongWorld:
        """Return the world without some arcs: trying one ends where it began."""
        graph = self.graph
        lands = np.where(missing, graph.tails, self.lands)
        return replace(self, lands=lands, costs=np.where(missing, graph.lengths, self.costs))

    def toward(self, goal: int) -> WrongWorld:
        """Return the same world with another goal."""
        return replace(self, goal=goal)

    @cached_property
    def real(self) -> Graph:
        """The world as a directed graph, slips aside."""
        tails = self.graph.tails
        there = self.lands != tails
        n, positions = self.graph.num_vertices, self.graph.positions
        ends = tails[there], self.lands[there]
        return Graph.from_edges(*ends, self.costs[there], n, directed=True, positions=positions)

    @cached_property
    def truth(self) -> FloatArray:
        """(n,) least expected cost to the goal."""
        values = _expected_cost(self) if self.slippery else cost_to_go(self.real, self.goal)
        return values[self.sent]

    @cached_property
    def able(self) -> NDArray[np.int64]:
        """States to start from: other than the goal, outside teleports."""
        others = np.arange(self.graph.num_vertices) != self.goal
        return np.flatnonzero(others & (self.sent == np.arange(others.size)))

    @property
    def slippery(self) -> bool:
        """Whether trying the same arc twice may end differently."""
        return bool(self.slips.any())

    @property
    def max_steps(self) -> int:
        """Most steps of a walk; what is still under way then has failed."""
        hops, _ = breadth_first(self.graph.reverse_arcs, np.array([self.goal]))
        return int(PATIENCE * max(np.sqrt(hops.size), hops.max()))

    def world(self, seed: int = 0) -> Graph | Callable[[int, int], tuple[int, float]]:
        """Return the world as `drive` takes it: a graph, or a function where a graph cannot tell.

        `seed` is that of the slips.
        """
        graph, arcs = self.graph, self.graph.arcs
        stays, arrives = self.lands == graph.tails, self.lands == graph.indices
        if not self.slippery and (stays | arrives).all():
            return self.real
        rng = np.random.default_rng(seed)

        def step(x: int, y: int) -> tuple[int, float]:
            begin, end = int(arcs.indptr[x]), int(arcs.indptr[x + 1])
            arc = begin + int(np.searchsorted(arcs.indices[begin:end], y))
            if self.slips[x] > 0 and rng.random() < self.slips[x]:
                arc = int(rng.integers(begin, end))
            return int(self.lands[arc]), float(self.costs[arc])

        return step


def _expected_cost(world: WrongWorld) -> FloatArray:
    """Least expected cost to the goal where steps slip, by value iteration.

    V(x) = (1 - slip) · min over arcs of (cost + V) + slip · their mean, to 1e-9 in every state.
    """
    first, degrees = world.graph.indptr[:-1], world.graph.degrees
    values = cost_to_go(world.real, world.goal)
    for _ in range(100_000):
        outcomes = world.costs + values[world.lands]
        best = np.minimum.reduceat(outcomes, first)
        drawn = np.add.reduceat(outcomes, first) / degrees
        renewed = best + world.slips * (drawn - best)
        renewed[world.goal] = 0.0
        if np.abs(renewed - values).max() < 1e-9:
            return np.asarray(renewed)
        values = renewed
    raise ArithmeticError("value iteration did not settle")
