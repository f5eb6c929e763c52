"""Places for the vertices of a graph that has none: stress majorisation, deterministic.

**Stress** Σ w (|x_i - x_j| - d_ij)² over all pairs, w = 1/d², d the shortest way in edges, asks
that distances in the picture be those in the graph. From classical scaling as a start, each step
puts all points at the minimum of a quadratic that lies above the stress, so that it never grows
(E. R. Gansner, Y. Koren, S. North, *Graph drawing by stress majorization*, 2004).

Of more than `_FEW` vertices not all pairs are looked at, but those with an edge, and those with one
of `_PIVOTS` vertices spread over the graph, each of which stands for the vertices nearest to it
(U. Brandes, C. Pich, *Eigensolver methods for progressive multidimensional scaling of large data*,
2007; M. Ortmann, M. Klimenta, U. Brandes, *A sparse stress model*, 2016). Points then move one by
one towards where their own terms want them, all at once, which serves though it proves nothing.

Every component is spread on its own; the largest comes first, the others follow in rows, smaller.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import shortest_path

from ..graph import Graph
from ..kernels._types import FloatArray

_FEW, _PIVOTS = 300, 50
_STEPS, _PIVOT_STEPS = 200, 100
_NEAR = 1e-9  # points are never taken for nearer
_GAP = 1.2
"""Room between components, in edges of the largest."""

_SMALLER = 0.5
"""Edges of the other components, in edges of the largest."""


def spread(graph: Graph) -> FloatArray:
    """(n, 2) positions, typical edges of length 1."""
    n = graph.num_vertices
    hops = sparse.csr_array((np.ones(graph.num_arcs), graph.indices, graph.indptr), shape=(n, n))
    members = [np.flatnonzero(graph.components == c) for c in np.unique(graph.components)]
    members.sort(key=len, reverse=True)
    pieces = [_spread_piece(hops[at][:, at] if at.size < n else hops) for at in members]
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


def _spread_piece(hops: sparse.csr_array) -> FloatArray:
    """(k, 2) positions of the vertices of one component."""
    if hops.shape[0] == 1:
        return np.zeros((1, 2))
    if hops.shape[0] > _FEW:
        return _by_pivots(hops)
    return _by_all_pairs(shortest_path(hops, directed=False, unweighted=True))


def _by_pivots(hops: sparse.csr_array) -> FloatArray:
    """(n, 2) positions by edges, and by distances from some vertices that are far apart."""
    pivots, distance = _pivots(hops)
    points = _scaled_by_pivots(pivots, distance)
    stands_for = np.bincount(distance.argmin(axis=1), minlength=pivots.size)
    distance[pivots, np.arange(pivots.size)] = 1.0
    weight = stands_for / distance**2
    weight[pivots, np.arange(pivots.size)] = 0.0
    both = (hops + hops.T).tocoo()
    tails, heads = both.coords
    total = weight.sum(axis=1) + np.bincount(tails, minlength=len(points))
    for _ in range(_PIVOT_STEPS):
        way = points[:, None] - points[pivots]
        reach = distance / np.maximum(np.hypot(way[..., 0], way[..., 1]), _NEAR)
        wanted = np.einsum("np,npd->nd", weight, points[pivots] + way * reach[..., None])
        step = points[tails] - points[heads]
        step /= np.maximum(np.hypot(*step.T), _NEAR)[:, None]
        for axis in range(2):
            there = points[heads, axis] + step[:, axis]
            wanted[:, axis] += np.bincount(tails, there, minlength=len(points))
        points = 0.5 * (points + wanted / total[:, None])
    return points


def _pivots(hops: sparse.csr_array) -> tuple[NDArray[np.int64], FloatArray]:
    """Vertices far from each other, (k,), and the (n, k) distances from them."""
    chosen, columns = [0], [_hops_from(hops, 0)]
    nearest = columns[0]
    while len(chosen) < min(_PIVOTS, nearest.size):
        chosen.append(int(nearest.argmax()))
        columns.append(_hops_from(hops, chosen[-1]))
        nearest = np.minimum(nearest, columns[-1])
    return np.array(chosen), np.column_stack(columns)


def _hops_from(hops: sparse.csr_array, vertex: int) -> FloatArray:
    found: FloatArray = shortest_path(hops, "D", directed=False, unweighted=True, indices=vertex)
    return found


def _scaled_by_pivots(pivots: NDArray[np.int64], distance: FloatArray) -> FloatArray:
    """Pivot scaling: the two leading left singular vectors, at the size of the distances."""
    squares = distance**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    _, vectors = np.linalg.eigh(centred.T @ centred)
    points = _told_apart(centred @ vectors[:, :-3:-1])
    between = np.hypot(*(points[:, None] - points[pivots]).transpose(2, 0, 1))
    size: FloatArray = points * ((between * distance).sum() / (between**2).sum())
    return size


def _by_all_pairs(distance: FloatArray) -> FloatArray:
    """(k, 2) positions of vertices at these distances from each other."""
    np.fill_diagonal(distance, 1.0)
    weight = distance**-2.0
    np.fill_diagonal(weight, 0.0)
    laplacian = np.diag(weight.sum(axis=1)) - weight
    inverse = np.linalg.pinv(laplacian, hermitian=True)
    points = _scaled(distance)
    for _ in range(_STEPS):
        between = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
        np.fill_diagonal(between, 1.0)
        pull = -weight * distance / np.maximum(between, _NEAR)
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
    return _told_apart(vectors[:, :-3:-1] * np.sqrt(n))


def _told_apart(points: FloatArray) -> FloatArray:
    """Return the points with a sign of their own, no two in one place: they would stay there."""
    points = points * np.sign(points.sum(axis=0) + 1e-12)  # an eigenvector's sign is nobody's
    turn = np.arange(len(points))
    spread = 1e-3 * np.sqrt(np.square(points).mean())
    apart: FloatArray = points + spread * np.column_stack([np.cos(turn), np.sin(turn)])
    return apart
