"""Places for the vertices of a small graph that has none: stress majorisation, deterministic.

**Stress** Σ w (|x_i - x_j| - d_ij)² over all pairs, w = 1/d², d the shortest way in edges, asks
that distances in the picture be those in the graph. From classical scaling as a start, each step
puts all points at the minimum of a quadratic that lies above the stress, so that it never grows
(E. R. Gansner, Y. Koren, S. North, *Graph drawing by stress majorization*, 2004).
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import shortest_path

from ..graph import Graph
from ..kernels._types import FloatArray

_STEPS = 200


def spread(graph: Graph) -> FloatArray:
    """(n, 2) positions, typical edges of length 1."""
    n = graph.num_vertices
    if n == 1:
        return np.zeros((1, 2))
    hops = sparse.csr_array((np.ones(graph.num_arcs), graph.indices, graph.indptr), shape=(n, n))
    distance = shortest_path(hops, directed=False, unweighted=True)
    apart = np.isinf(distance)
    distance[apart] = distance[~apart].max() + 2.0  # components beside each other
    np.fill_diagonal(distance, 1.0)
    weight = distance**-2.0
    np.fill_diagonal(weight, 0.0)
    laplacian = np.diag(weight.sum(axis=1)) - weight
    inverse = np.linalg.pinv(laplacian, hermitian=True)
    points = _scaled(distance)
    for _ in range(_STEPS):
        between = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
        np.fill_diagonal(between, 1.0)
        pull = -weight * distance / np.maximum(between, 1e-9)
        np.fill_diagonal(pull, 0.0)
        np.fill_diagonal(pull, -pull.sum(axis=1))
        points = inverse @ (pull @ points)
    return points


def _scaled(distance: FloatArray) -> FloatArray:
    """Classical scaling: the two leading eigenvectors of the doubly centred squares."""
    n = len(distance)
    squares = distance**2
    np.fill_diagonal(squares, 0.0)
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    _, vectors = np.linalg.eigh(-centred / 2)
    points = vectors[:, :-3:-1] * np.sqrt(n)
    points *= np.sign(points.sum(axis=0) + 1e-12)  # an eigenvector's sign is nobody's
    turn = np.arange(n)  # no two points in one place, or they would stay there
    start: FloatArray = points + 1e-3 * np.column_stack([np.cos(turn), np.sin(turn)])
    return start
