"""The flow problem behind the least change for one goal; see `least_change`."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..graph import Graph
from ..kernels._types import FloatArray, IntArray
from ..kernels.network_simplex import Network, circulation
from ._base import MendProblem
from .contradiction import Envelopes, envelopes


class Labelled(NamedTuple):
    """Costs to one goal as labels, and the bounds they imply.

    Attributes
    ----------
    goal : int
        The goal. It is the last label, with value 0 and no error.
    vertices, values, errors : (k,) arrays
        The labels.
    bounds : Envelopes
        Upper and lower bounds that the labels imply at each vertex.
    """

    goal: int
    vertices: NDArray[np.int64]
    values: FloatArray
    errors: FloatArray
    bounds: Envelopes


def labelled(problem: MendProblem, goal: int) -> Labelled:
    """Return the trips to one goal as labels."""
    trips = problem.ends == goal
    vertices = np.append(problem.starts[trips], goal)
    values = np.append(problem.costs[trips], 0.0)
    errors = np.append(np.full(vertices.size - 1, problem.error), 0.0)
    low, high = values - errors, values + errors
    bounds = envelopes(problem.graph, problem.into, vertices, low, high)
    return Labelled(goal, vertices, values, errors, bounds)


class Solved(NamedTuple):
    """The network simplex solution, on the graph's own arcs.

    Attributes
    ----------
    added, flow : (m,) float arrays
        Lengthening of each arc, and its dual flow.
    most : (k,) float array
        Largest value each label may have: value plus error, or more if the label is disbelieved.
    pivots : int
        Simplex steps taken.
    optimal : bool
        False if it stopped at the cap on pivots.
    """

    added: FloatArray
    flow: FloatArray
    most: FloatArray
    pivots: int
    optimal: bool


def solve(
    graph: Graph, labels: Labelled, price: FloatArray, trust: float, max_pivots: int | None
) -> Solved:
    """Find the least lengthening and the largest flow by network simplex."""
    added, flow = np.zeros(graph.num_arcs), np.zeros(graph.num_arcs)
    most = labels.values + labels.errors
    if not labels.bounds.excess.any():
        return Solved(added, flow, most, 0, True)
    reduced = _reduced(graph, labels, price, trust)
    size, network = reduced.num_vertices, reduced.network
    tolerance = 1e-11 * float(np.abs(network.costs).max(initial=0.0))
    cap = 20 * (size + network.tails.size) + 1000 if max_pivots is None else max_pivots
    flows, potential, pivots, optimal = circulation(size, network, reduced.start, tolerance, cap)
    needed = potential[network.tails] - potential[network.heads] - network.costs
    arcs, loops = reduced.arcs, reduced.loops
    added[arcs] = np.maximum(needed[: arcs.size], 0.0)
    flow[arcs] = flows[: arcs.size]
    # an arc between two exact labels is a flow problem of its own: it carries all or nothing
    added[loops] = reduced.loop_needs
    flow[loops] = np.where(reduced.loop_needs > 0, price[loops], 0.0)
    soft = reduced.soft
    most[soft] = np.maximum(most[soft], potential[reduced.soft_nodes])
    return Solved(added, flow, most, pivots, optimal)


class _Reduced(NamedTuple):
    """Suspected arcs as a network, with the exact labels merged into its vertex 0.

    Attributes
    ----------
    num_vertices : int
        Number of vertices of the network.
    network : Network
        Its arcs: first `arcs`, then one from each label in `soft` to the root, then one back.
    start : (num_vertices,) int array
        A tree of shortest paths to the root.
    arcs : int array
        The graph's arc for each of the first arcs of the network.
    soft, soft_nodes : int arrays
        Labels that may move: positions among the labels, and vertices of the network.
    loops : int array
        Arcs of the graph from one exact label to another.
    loop_needs : float array
        By how much each of these is too short.
    """

    num_vertices: int
    network: Network
    start: IntArray
    arcs: IntArray
    soft: IntArray
    soft_nodes: IntArray
    loops: IntArray
    loop_needs: FloatArray


def _reduced(graph: Graph, labels: Labelled, price: FloatArray, trust: float) -> _Reduced:
    tails, heads, way = graph.tails, graph.indices, labels.bounds.way
    exact = (labels.errors == 0.0) & (trust == inf)
    exact[-1] = True  # the goal
    merged = np.zeros(graph.num_vertices, dtype=bool)
    merged[labels.vertices[exact]] = True
    value = np.zeros(graph.num_vertices)
    value[labels.vertices[exact]] = labels.values[exact]
    lengths = graph.lengths + value[heads] - value[tails]

    # arcs of positive excess, their ends outside the root, and the shortest paths onward from them.
    # In exact arithmetic these paths have positive excess too, but rounding may have lost some
    kept = labels.bounds.excess > 0
    live = np.zeros(graph.num_vertices, dtype=bool)
    live[tails[kept]] = True
    live[heads[kept]] = True
    live &= ~merged
    fresh = np.flatnonzero(live)
    while fresh.size:
        onward_arcs = way[fresh]
        onward_arcs = onward_arcs[onward_arcs >= 0]
        kept[onward_arcs] = True
        ends = heads[onward_arcs]
        fresh = np.unique(ends[~live[ends] & ~merged[ends]])
        live[fresh] = True
    num_vertices = 1 + int(np.count_nonzero(live))
    node = np.zeros(graph.num_vertices, np.int64)
    node[live] = np.arange(1, num_vertices)
    looped = merged[tails] & merged[heads]
    loops, arcs = np.flatnonzero(kept & looped), np.flatnonzero(kept & ~looped)

    soft = np.flatnonzero(live[labels.vertices])
    own, root = node[labels.vertices[soft]], np.zeros(soft.size, np.int64)
    low, high = (labels.values + sign * labels.errors for sign in (-1.0, 1.0))
    network = Network(
        np.concatenate([node[tails[arcs]], own, root]),
        np.concatenate([node[heads[arcs]], root, own]),
        np.concatenate([lengths[arcs], high[soft], -low[soft]]),
        np.concatenate([price[arcs], np.full(2 * soft.size, trust)]),
    )

    # initial tree: a label that may move takes its own arc, unless another label is nearer
    start = np.full(num_vertices, -1)
    start[own] = arcs.size + np.arange(soft.size)
    place = np.full(graph.num_arcs, -1)
    place[arcs] = np.arange(arcs.size)
    onward = live & (way >= 0)
    start[node[onward]] = place[way[onward]]
    needs = np.maximum(-lengths[loops], 0.0)
    return _Reduced(num_vertices, network, start, arcs, soft, own, loops, needs)
