"""Which edges of a graph look false before any cost is measured.

**With positions.** The *pace* of an edge is the distance of its ends over its length. An edge leaps
if its pace is at least `LEAP` times the median: it claims to lead much farther than its length
allows. Edges of a fast road leap as well, one after the other. So an edge is excused if it is part
of a row of three or more leaping edges. If many edges leap, positions and lengths do not belong
together, and none is suspected. Edges that do not leap are acquitted.

**Without positions.** False edges join places that are far apart on the rest of the graph. Three
signs are multiplied: the edge is steep in the lowest `MODES` eigenvectors of the Laplacian (smooth
coordinates of the vertices), steeper than the edges next to it, and the path around its chain of
edges is long (by its square root). Edges that hold the graph together are excused. The signs rank
false edges high, but are not good enough to accuse an edge: they are a prior, and trips decide.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import eigsh

from ..graphs.graph import Graph, arc_slots
from ..typing import BoolArray, FloatArray
from .kernels.detour import detours
from .shortcuts import LEAP

MODES = 8
"""Number of eigenvectors that serve as coordinates."""
MOST_LEAPS = 0.1
"""Share of leaping edges above which positions and lengths do not belong together."""
SHIFT = 1e-6
"""Added to the Laplacian, relative to its scale, so that it can be inverted."""
STEEP = 2.0
"""Power of the signs in the prior without positions."""


class Suspicion(NamedTuple):
    """Prior suspicion of the edges, by pair of vertices.

    Attributes
    ----------
    leaps : (pairs,) bool array
        Edges that their positions accuse; none without positions.
    weight : (pairs,) float array
        Share of each edge in the suspicion if positions are missing; 0 with positions.
    """

    leaps: BoolArray
    weight: FloatArray


def suspicion(graph: Graph, pair: NDArray[np.int64], ends: NDArray[np.int64]) -> Suspicion:
    """Return the prior suspicion; `pair` numbers the pairs of vertices of arcs, `ends` are they."""
    count = len(ends)
    length = np.full(count, np.inf)
    np.minimum.at(length, pair, graph.lengths)
    none = np.zeros(count)
    if graph.positions is not None:
        apart = graph.positions[ends[:, 0]] - graph.positions[ends[:, 1]]
        pace = np.sqrt((apart**2).sum(axis=1)) / length
        leaps = pace >= LEAP * np.median(pace)
        if np.median(pace) > 0.0 and leaps.mean() <= MOST_LEAPS:
            # rows of leaping edges: those with a leaping neighbour at each end, and the next ones
            at = np.bincount(ends[leaps].ravel(), minlength=graph.num_vertices)
            inner = leaps & (at[ends] >= 2).all(axis=1)
            row = np.isin(ends, ends[inner]).any(axis=1)
            return Suspicion(leaps & ~row, none)
    weight = _oddness(graph.num_vertices, ends, length) ** STEEP
    return Suspicion(none > 0, weight / max(float(weight.sum()), 1e-300))


def _oddness(n: int, ends: NDArray[np.int64], length: FloatArray) -> FloatArray:
    """Return the (pairs,) product of the three signs; 0 for edges that hold the graph together."""
    count, typical = len(ends), float(np.median(length))
    if count <= MODES + 2 or n <= MODES + 2:
        return np.ones(count)
    low, high = ends.T

    # 1. steepness in the lowest eigenvectors
    conductance = np.minimum(typical / length, 20.0)
    weights: Any = sparse.coo_array((conductance, (low, high)), shape=(n, n))
    weights = (weights + weights.T).tocsr()
    laplacian = sparse.diags_array(weights.sum(axis=1)) - weights
    start = np.random.default_rng(0).standard_normal(n)  # the same every time
    shifted = (laplacian + SHIFT * sparse.eye_array(n)).tocsc()
    value, mode = eigsh(shifted, MODES + 1, sigma=0.0, v0=start)
    keep = np.argsort(value)[1:]
    mode = mode[:, keep] / np.sqrt(np.maximum(value[keep], SHIFT))  # commute-time coordinates
    steep = np.sqrt(((mode[low] - mode[high]) ** 2).sum(axis=1) / length)

    # 2. the steepest other edge at either end: the largest at a vertex, or the second largest
    at, both_ends = np.concatenate([low, high]), np.concatenate([steep, steep])
    order = np.lexsort((-both_ends, at))
    degree = np.bincount(at, minlength=n)
    begin = np.cumsum(degree) - degree
    largest = both_ends[order[np.minimum(begin, order.size - 1)]]
    second = np.where(degree > 1, both_ends[order[np.minimum(begin + 1, order.size - 1)]], 0.0)
    beside = np.zeros(count)
    for x in (low, high):
        beside = np.maximum(beside, np.where(largest[x] == steep, second[x], largest[x]))
    local = steep / np.maximum(beside, 1e-3 * np.median(steep) + 1e-300)

    # 3. the path around the chain of each edge: one search per chain
    chain = _chains(ends, degree == 2)
    _, first_of = np.unique(chain, return_index=True)
    whole = np.bincount(chain, length)
    both = Graph.from_edges(low, high, length, n)
    arc = arc_slots(both, low, high)[first_of]
    around = detours(both.arcs, both.reverse_arcs, both.tails, arc, np.full(arc.size, np.inf))
    detour = (around - (whole - length[first_of])) / whole  # of the chain, in its own lengths
    bridge = ~np.isfinite(detour)
    detour = np.where(bridge, 0.0, np.maximum(detour, 0.0))
    return np.where(steep > 0, steep / np.median(steep) * local, 0.0) * np.sqrt(detour)[chain]


def _chains(ends: NDArray[np.int64], inner: BoolArray) -> NDArray[np.int64]:
    """Return the number of the chain of each edge: edges joined at vertices of degree 2."""
    count = len(ends)
    edge = np.concatenate([np.arange(count), np.arange(count)])
    at = np.concatenate([ends[:, 0], ends[:, 1]])
    edge, at = edge[inner[at]], at[inner[at]]
    order = np.argsort(at, kind="stable")
    left, right = edge[order][::2], edge[order][1::2]  # the two edges at each inner vertex
    joined = sparse.coo_array((np.ones(left.size), (left, right)), shape=(count, count))
    _, chain = sparse.csgraph.connected_components(joined, directed=False)
    return np.asarray(chain, dtype=np.int64)
