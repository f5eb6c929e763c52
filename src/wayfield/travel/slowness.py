"""The prior of tomography: slowness varies smoothly over the graph.

Vertex x is slower than believed by a share s_x, and an arc by the mean of its ends. An arc may
also carry a price of κ median lengths: on every arc, long or short, or only at crossings (vertices
with three neighbours or more). The price is paid on entering; on an undirected graph, half on
entering and half on leaving. So an arc costs

    ℓ (1 + μ + (s_x + s_y) / 2) + κ (median ℓ) π_xy,      s ~ N(0, a² Q⁻¹),

where π_xy is the arc's share of the price and μ, κ ~ N(0, a² / τ), before anything is measured.
Here μ is a factor of the whole graph, such as a unit or a mean speed, and Q = L + ε, where L is the
Laplacian of conductance (median ℓ) / ℓ: s is smooth over ε^(-1/2) ≈ 7 typical arcs. The caller
chooses the amplitude a.

**Basis.** On a large graph s is a combination of clusters of neighbours, each smoothed by a few
damped Jacobi steps, as in algebraic multigrid [1]_. There are at most `MOST` clusters on any graph,
so the covariance of their coefficients is a dense matrix of moderate size. The basis is cached with
the graph, since model selection fits many times.

References
----------
.. [1] P. Vaněk, J. Mandel, M. Brezina, "Algebraic multigrid by smoothed aggregation for second and
   fourth order elliptic problems", Computing 56 (1996).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse
from scipy.linalg import block_diag, cho_factor, cho_solve
from scipy.sparse.csgraph import connected_components

from ..graphs.graph import Graph
from ..numerics.csr import Arcs
from ..typing import FloatArray
from .kernels.rays import pair_up

RANGE = 0.02
"""ε: the inverse square of the distance, in typical arcs, over which slowness is smooth."""

COMMON = 0.1
"""Precision of each term common to all arcs, per term: τ is this times their number."""

CROSSING = 3
"""Least number of neighbours of a crossing."""

Price = Literal["arc", "crossing"] | None

SHORTEST = 0.05
"""Arcs shorter than this share of the median get the conductance of that length."""

MOST = 1000
"""Largest number of clusters; larger graphs have at least half of it."""


@dataclass(frozen=True, eq=False)
class Slowness:
    """A basis for the extra cost of arcs, and the precision of its coefficients.

    Attributes
    ----------
    per_arc : (m, p) sparse array
        Extra cost of each arc per unit of each coefficient.
    shared : (m, 1 or 2) array
        The last columns of `per_arc`, common to all arcs: the factor and the price.
    precision, covariance : (p, p) arrays
        Of the coefficients at amplitude 1; each is the inverse of the other.
    """

    per_arc: Any
    shared: FloatArray
    precision: FloatArray
    covariance: FloatArray

    @property
    def size(self) -> int:
        """Number of coefficients."""
        return int(self.per_arc.shape[1])

    def common(self, coefficients: FloatArray) -> FloatArray:
        """Return the (m,) extra cost of the arcs from the common factor and price."""
        return np.asarray(self.shared @ coefficients[-self.shared.shape[1] :])


_KNOWN: WeakKeyDictionary[Graph, dict[int, dict[Price, Slowness]]] = WeakKeyDictionary()


def slowness_of(graph: Graph, price: Price = None, most: int | None = None) -> Slowness:
    """Return the prior on a graph. It is computed once and cached with the graph.

    `price` selects where the price κ applies, if anywhere; `most` replaces `MOST`.
    """
    most = MOST if most is None else most
    known = _KNOWN.setdefault(graph, {}).setdefault(most, {})
    if not known:
        weights: Any = graph.to_scipy().copy()
        weights.data = np.minimum(np.median(graph.lengths) / graph.lengths, 1 / SHORTEST)
        if graph.directed:
            weights = ((weights + weights.T) / 2).tocsr()
        laplacian: Any = sparse.diags_array(weights.sum(axis=1)) - weights
        precision = (laplacian + RANGE * sparse.eye_array(graph.num_vertices)).tocsr()
        basis = _clusters(weights, most)
        jacobi = sparse.diags_array(2 / 3 / precision.diagonal())
        for _ in range(round(np.sqrt(graph.num_vertices / basis.shape[1]) / 2)):
            basis = (basis - jacobi @ (precision @ basis)).tocsr()
        half = sparse.diags_array(graph.lengths / 2)
        smooth = half @ (basis[graph.tails] + basis[graph.indices])
        of_clusters = (basis.T @ precision @ basis).toarray()
        inverse = cho_solve(cho_factor(of_clusters, lower=True), np.eye(basis.shape[1]))
        known[None] = _put_together(smooth, graph.lengths[:, np.newaxis], of_clusters, inverse)
    if price not in known:
        prices = price_of_arcs(graph, CROSSING if price == "crossing" else 0)
        prior = known[None]
        count = prior.size - prior.shared.shape[1]
        shared = np.column_stack([prior.shared, prices])
        blocks = prior.precision[:count, :count], prior.covariance[:count, :count]
        known[price] = _put_together(prior.per_arc[:, :count], shared, *blocks)
    return known[price]


def price_of_arcs(graph: Graph, neighbours: int) -> FloatArray:
    """Return the (m,) cost of each arc if vertices with enough neighbours cost a median length."""
    arcs: Any = graph.to_scipy()
    priced = np.diff((arcs + arcs.T).tocsr().indptr) >= neighbours  # in either direction
    share: FloatArray = priced[graph.indices].astype(float)
    if not graph.directed:
        share = (share + priced[graph.tails]) / 2
    return share * np.median(graph.lengths)


def _put_together(
    smooth: Any, shared: FloatArray, of_clusters: FloatArray, inverse: FloatArray
) -> Slowness:
    """Return the prior of the clusters and of the terms common to all arcs, independent of them."""
    per_arc = sparse.hstack([smooth, sparse.csr_array(shared)], format="csr")
    per_arc.sort_indices()  # so that sums over a row are equal in both directions of an edge
    count = shared.shape[1]
    common = COMMON * count * np.eye(count)
    return Slowness(
        per_arc, shared, block_diag(of_clusters, common), block_diag(inverse, np.linalg.inv(common))
    )


def _clusters(weights: Any, enough: int) -> Any:
    """Return an (n, p) sparse array of cluster memberships, merged in pairs, then pairs of pairs.

    The small components share one cluster, so that enough clusters are left for the large ones.
    """
    n = weights.shape[0]
    member, apart = np.arange(n), np.zeros(n, dtype=bool)
    if n > enough:
        _, piece = connected_components(weights, directed=False)
        small = np.argsort(-np.bincount(piece), kind="stable")[enough // 2 :]
        apart = np.isin(piece, small)
        weights = weights[~apart][:, ~apart]
    count = weights.shape[0]
    member[~apart] = np.arange(count)
    while count > enough:
        arcs = Arcs(weights.indptr, weights.indices, weights.data)
        cluster, fewer = pair_up(arcs)
        joined = sparse.csr_array((np.ones(count), cluster, np.arange(count + 1)))
        weights = (joined.T @ weights @ joined).tocsr()
        member[~apart], count = cluster[member[~apart]], fewer
    if apart.any():
        member[apart] = count
        count += 1
    return sparse.csr_array((np.ones(n), member, np.arange(n + 1)), shape=(n, count))
