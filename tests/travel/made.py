"""Made cities and trips for the tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import wayfield as wf
from wayfield.travel import Trips

Floats = NDArray[np.float64]


def city(seed: int, directed: bool = False, side: int = 8) -> wf.Graph:
    """Blocks with lengths that differ a little; both directions alike unless directed."""
    rng = np.random.default_rng(seed)
    index = np.arange(side * side).reshape(side, side)
    tails = np.concatenate([index[:, :-1].ravel(), index[:-1].ravel()])
    heads = np.concatenate([index[:, 1:].ravel(), index[1:].ravel()])
    if directed:
        tails, heads = np.concatenate([tails, heads]), np.concatenate([heads, tails])
    places = np.column_stack(np.divmod(np.arange(side * side), side)).astype(float)
    lengths = rng.uniform(1.0, 1.5, tails.size)
    return wf.Graph.from_edges(tails, heads, lengths, directed=directed, positions=places)


def with_lengths(graph: wf.Graph, lengths: Floats) -> wf.Graph:
    return wf.Graph(graph.indptr, graph.indices, lengths, graph.directed, graph.positions)


def pairs(rng: np.random.Generator, n: int, count: int) -> NDArray[np.int64]:
    starts = rng.integers(n, size=count)
    return np.column_stack([starts, (starts + rng.integers(1, n, size=count)) % n])


def times(world: wf.Graph, ends: NDArray[np.int64]) -> Floats:
    goals = {int(goal): wf.cost_to_go(world, int(goal)) for goal in np.unique(ends[:, 1])}
    return np.array([goals[int(goal)][start] for start, goal in ends])


def drive(
    world: wf.Graph, seed: int, count: int, noise: float = 0.05, **more: Any
) -> tuple[Trips, NDArray[np.int64]]:
    """Measured trips between random pairs, and the pairs."""
    rng = np.random.default_rng(seed)
    ends = pairs(rng, world.num_vertices, count)
    measured = times(world, ends) * (1.0 + noise * rng.standard_normal(count))
    return Trips(*ends.T, measured, **more), ends
