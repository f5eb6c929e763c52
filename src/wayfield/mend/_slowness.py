"""The prior of tomography: what is slow is slow all around.

Vertex x is slower than believed by a share s_x, and an arc by the mean of its ends; and every arc,
long or short, costs κ median lengths more, as crossings do. So an arc costs

    ℓ (1 + μ + (s_x + s_y) / 2) + κ (median ℓ),      s ~ N(0, a² Q⁻¹),   μ, κ ~ N(0, a² / τ),

before anything is measured, with μ a factor of the whole graph, such as a unit or a mean speed, and
Q = L + ε, where L is the Laplacian of conductance (median ℓ) / ℓ: s is smooth over ε^(-1/2) ≈ 7
typical arcs. Whoever uses the prior chooses the amplitude a.

**Basis.** On a large graph s is a combination of clusters of neighbours, each smoothed by a few
damped Jacobi steps, as in algebraic multigrid [1]_: at most `MOST`, whatever the graph, so that the
covariance of their coefficients is a dense matrix of moderate size. It is kept as long as the graph
is, since a referee fits many times.

References
----------
.. [1] P. Vaněk, J. Mandel, M. Brezina, "Algebraic multigrid by smoothed aggregation for second and
   fourth order elliptic problems", Computing 56 (1996).
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.csgraph import connected_components

from ..graph import Graph
from ..kernels._types import FloatArray
from ..kernels.csr import Arcs
from ..kernels.rays import pair_up

RANGE = 0.02
"""ε: the inverse square of the distance, in typical arcs, over which slowness is smooth."""

COMMON = 0.1
"""Precision of what is common to all arcs: τ is as many times this as there is of it."""

SHORTEST = 0.05
"""Arcs shorter than this share of the median conduct no better than one that is so long."""

MOST = 1000
"""Clusters, at most; at least half as many on graphs that have more vertices."""


class Slowness:
    """A basis for what arcs may cost more than believed, and the precision of its coefficients.

    Parameters
    ----------
    graph : Graph
        What is believed.
    per_hop : bool
        Whether there may be a price κ per arc.

    Attributes
    ----------
    per_arc : (m, p) sparse array
        What every arc costs more per unit of each coefficient.
    precision, covariance : (p, p) arrays
        Of the coefficients, for the amplitude 1; inverse to one another.
    """

    def __init__(self, graph: Graph, per_hop: bool = True) -> None:
        weights: Any = graph.to_scipy().copy()
        weights.data = np.minimum(np.median(graph.lengths) / graph.lengths, 1 / SHORTEST)
        if graph.directed:
            weights = ((weights + weights.T) / 2).tocsr()
        laplacian: Any = sparse.diags_array(weights.sum(axis=1)) - weights
        precision = (laplacian + RANGE * sparse.eye_array(graph.num_vertices)).tocsr()
        basis = _clusters(weights, MOST)
        jacobi = sparse.diags_array(2 / 3 / precision.diagonal())
        for _ in range(round(np.sqrt(graph.num_vertices / basis.shape[1]) / 2)):
            basis = (basis - jacobi @ (precision @ basis)).tocsr()
        half = sparse.diags_array(graph.lengths / 2)
        smooth = half @ (basis[graph.tails] + basis[graph.indices])
        common = [graph.lengths]
        if per_hop:
            common.append(np.full(graph.num_arcs, np.median(graph.lengths)))
        columns = sparse.csr_array(np.stack(common, axis=1))
        self.per_arc: Any = sparse.hstack([smooth, columns], format="csr")
        self.per_arc.sort_indices()  # so that sums over a row are the same both ways of an edge
        self.precision: FloatArray = np.zeros((self.size, self.size))
        clusters = basis.shape[1]
        self.precision[:clusters, :clusters] = (basis.T @ precision @ basis).toarray()
        last = np.arange(clusters, self.size)
        self.precision[last, last] = COMMON * last.size
        factor = cho_factor(self.precision, lower=True)
        self.covariance: FloatArray = cho_solve(factor, np.eye(self.size))

    @property
    def size(self) -> int:
        """How many coefficients there are."""
        return int(self.per_arc.shape[1])


_KNOWN: WeakKeyDictionary[Graph, dict[bool, Slowness]] = WeakKeyDictionary()


def slowness_of(graph: Graph, per_hop: bool = True) -> Slowness:
    """Return the prior on a graph, computed once as long as the graph lives."""
    known = _KNOWN.setdefault(graph, {})
    if per_hop not in known:
        known[per_hop] = Slowness(graph, per_hop)
    return known[per_hop]


def _clusters(weights: Any, enough: int) -> Any:
    """(n, p) sparse array that says which cluster each vertex is in: pairs of pairs of ….

    Of a graph in many pieces the small ones share a cluster, so that some are left for the large.
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
