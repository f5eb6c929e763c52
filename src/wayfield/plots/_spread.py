"""Places for the vertices of a small graph that has none: stress majorisation, deterministic.

**Stress** Σ w (|x_i - x_j| - d_ij)² over all pairs, w = 1/d², d the shortest way in edges, asks
that distances in the picture be those in the graph. From classical scaling as a start, each step
puts all points at the minimum of a quadratic that lies above the stress, so that it never grows
(E. R. Gansner, Y. Koren, S. North, *Graph drawing by stress majorization*, 2004).

Every component is spread on its own; the largest comes first, the others follow in rows, smaller.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import shortest_path

from ..graph import Graph
from ..kernels._types import FloatArray

_STEPS = 200
_GAP = 1.2
"""Room between components, in edges of the largest."""

_SMALLER = 0.5
"""Edges of the other components, in edges of the largest."""


def spread(graph: Graph) -> FloatArray:
    """(n, 2) positions, typical edges of length 1."""
    n = graph.num_vertices
    hops = sparse.csr_array((np.ones(graph.num_arcs), graph.indices, graph.indptr), shape=(n, n))
    distance = shortest_path(hops, directed=False, unweighted=True)
    members = [np.flatnonzero(graph.components == c) for c in np.unique(graph.components)]
    members.sort(key=len, reverse=True)
    pieces = [_spread_piece(distance[np.ix_(at, at)]) for at in members]
    pieces[1:] = [_SMALLER * piece for piece in pieces[1:]]
    return _packed(n, members, pieces)


def _packed(n: int, members: list[NDArray[np.int64]], pieces: list[FloatArray]) -> FloatArray:
    """Put pieces into rows, none wider than the widest or than they are tall together."""
    points = np.zeros((n, 2))
    boxes = [np.ptp(piece, axis=0) + _GAP for piece in pieces]
    wide = max([*(box[0] for box in boxes), np.sqrt(sum(np.prod(box) for box in boxes))])
    left = top = deep = 0.0
    for at, piece, (width, height) in zip(members, pieces, boxes, strict=True):
        if left and left + width > wide:
            left, top, deep = 0.0, top - deep, 0.0
        corner = np.array([piece[:, 0].min(), piece[:, 1].max()])
        points[at] = piece - corner + np.array([left, top])
        left, deep = left + width, max(deep, height)
    return points


def _spread_piece(distance: FloatArray) -> FloatArray:
    """(k, 2) positions of vertices at these distances from each other."""
    if len(distance) == 1:
        return np.zeros((1, 2))
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
