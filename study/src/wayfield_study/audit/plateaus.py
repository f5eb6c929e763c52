"""Plateaus of a field: level ground, where ties decide whether a plan goes on or goes round.

An *exit* is the goal, or a vertex with an arc to a smaller value. From a vertex that has a level
way to an exit, the slope rule with exit ties always moves on (``docs/planner.md``, Theorem 1); one
that has none is *stuck*, and only by entering a stuck vertex does such a plan fail.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from wayfield._arrays import as_real, as_vertex, frozen
from wayfield.extension import Extension
from wayfield.graph import Graph
from wayfield.kernels._types import BoolArray, FloatArray
from wayfield.kernels.planning import SLOPE, STUCK, UNIT, Rule, first_moves, level_hops
from wayfield.labels import Labels, check_labels
from wayfield.lifting import check_field


@dataclass(frozen=True, eq=False, repr=False)
class Plateaus:
    """Connected sets of two or more unlabelled vertices of equal value.

    Attributes
    ----------
    region : (n,) int64 array
        Plateau of every vertex, numbered by their lowest vertices; -1 where there is none.
    sizes : (k,) int64 array
        Number of vertices.
    values : (k,) float array
        Value of the lowest-numbered vertex.
    has_exit : (k,) bool array
        Whether every vertex of it has a level way to an exit, over labels of the same value
        too.
    """

    region: NDArray[np.int64]
    sizes: NDArray[np.int64]
    values: FloatArray
    has_exit: BoolArray

    def __len__(self) -> int:
        return self.sizes.size

    def __repr__(self) -> str:
        closed, states = int((~self.has_exit).sum()), int(self.sizes.sum())
        return f"Plateaus({len(self):,} of {states:,} vertices, {closed:,} without exit)"


def plateaus(
    graph: Graph,
    labels: Labels,
    ext: Extension | ArrayLike,
    goal: int,
    tolerance: float = 0.0,
) -> Plateaus:
    """Find the plateaus of a field, and which of them a plan cannot leave.

    Parameters
    ----------
    tolerance : float
        Arcs that change the value by no more than this are level; absolute.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    >>> behind = plateaus(path, Labels([0, 2], [0.0, 2.0]), [0.0, 1.0, 2.0, 2.0, 2.0], goal=0)
    >>> behind
    Plateaus(1 of 2 vertices, 0 without exit)
    >>> behind.region
    array([-1, -1, -1,  0,  0])
    """
    values = check_field(graph, ext)
    goal = as_vertex(goal, "goal", graph.num_vertices)
    tolerance = as_real(tolerance, "tolerance", least=0.0)
    region, count = _regions(graph, values, ~check_labels(labels, graph).mask(graph), tolerance)
    inside = region >= 0
    closed = np.zeros(count, dtype=bool)
    np.logical_or.at(closed, region[inside], stuck(graph, values, goal, tolerance)[inside])
    _, lowest = np.unique(region[inside], return_index=True)
    return Plateaus(
        frozen(region),
        frozen(np.bincount(region[inside], minlength=count)),
        frozen(values[inside][lowest]),
        frozen(~closed),
    )


def stuck(graph: Graph, values: FloatArray, goal: int, tolerance: float = 0.0) -> BoolArray:
    """(n,) bool: vertices of finite value from which no level way leads to an exit."""
    rule = Rule(UNIT if graph.is_unit else SLOPE, tolerance, True)
    _, hops, count = first_moves(graph.arcs, values, goal, rule)
    if count:
        level_hops(graph.arcs, graph.reverse_arcs, values, hops, tolerance)
    halted: BoolArray = (hops == STUCK) & np.isfinite(values)
    return halted


def _regions(
    graph: Graph, values: FloatArray, free: BoolArray, tolerance: float
) -> tuple[NDArray[np.int64], int]:
    """Region of every vertex, -1 for none, and how many regions there are."""
    tails, heads = graph.tails, graph.indices
    region = np.full(graph.num_vertices, -1, np.int64)
    free = free & np.isfinite(values)
    between = np.flatnonzero(free[tails] & free[heads])
    drop = values[tails[between]] - values[heads[between]]
    level = between[np.abs(drop) <= tolerance]
    members, ends = np.unique(np.stack([tails[level], heads[level]]), return_inverse=True)
    if not members.size:
        return region, 0
    ends = ends.reshape(2, level.size)
    shape = (members.size, members.size)
    joins = sparse.csr_array((np.ones(level.size), (ends[0], ends[1])), shape=shape)
    count, component = connected_components(joins, directed=False)
    _, first = np.unique(component, return_index=True)
    region[members] = np.argsort(np.argsort(first))[component]
    return region, int(count)
