"""Exact elimination on a symmetric pattern: dead ends, an estimate of the work, LU factors.

A pattern is stored by rows, with the diagonal entry first in its row.

A *dead end* is a row with at most one other entry, once other dead ends are removed: a vertex of a
tree that hangs on the rest, at its *mouth*. Eliminating it causes no fill-in.

**LU factors** of an M-matrix, in an elimination order that is known beforehand. Rows are eliminated
one by one without pivoting, which M-matrices do not need: row i of the factors is row i of the
matrix minus multiples of some rows k < i of U. Which rows these are depends only on the pattern. So
it is found once for all matrices with the pattern, by walking up the elimination tree (Liu, "The
role of elimination trees in sparse factorization", SIAM J. Matrix Anal. Appl. 11, 1990). The
patterns of L and U are each other's transpose.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..typing import BoolArray, FloatArray, IntArray
from .jit import njit


@njit(cache=True, nogil=True)
def dead_ends(indptr: IntArray, indices: IntArray) -> tuple[IntArray, IntArray]:
    """Return the dead ends in elimination order, and (n,) the row each hangs on, -1 if none."""
    n = indptr.size - 1
    order = np.empty(n, np.int64)
    mouth = np.full(n, -1, np.int64)
    gone = np.zeros(n, np.bool_)
    left = np.empty(n, np.int64)
    count = 0
    for x in range(n):
        left[x] = indptr[x + 1] - indptr[x] - 1
        if left[x] <= 1:
            order[count] = x
            count += 1
    # `order` doubles as the queue: removing a dead end may turn its mouth into another one
    k = 0
    while k < count:
        x = order[k]
        k += 1
        gone[x] = True
        for e in range(indptr[x] + 1, indptr[x + 1]):
            y = indices[e]
            if not gone[y]:
                mouth[x] = y
                left[y] -= 1
                # exactly 1: at 0 it is in the queue already
                if left[y] == 1:
                    order[count] = y
                    count += 1
    return order[:count], mouth


@njit(cache=True, nogil=True)
def level_work(indptr: IntArray, indices: IntArray) -> float:
    """Return Σ w³ over the levels, of w rows each, of breadth-first searches.

    Dead ends are left out. A level separates earlier rows from later ones, so elimination level by
    level takes about this many operations: none for trees, n² on a plane grid of n rows, n³ on an
    expander.
    """
    n = indptr.size - 1
    queue = np.empty(n, np.int64)
    seen = np.zeros(n, np.bool_)
    order, _ = dead_ends(indptr, indices)
    for x in order:
        seen[x] = True
    reached = seen.copy()
    total = 0.0
    for root in range(n):
        if not seen[root]:
            # The first search only finds a row at the rim. Levels seen from there are usually
            # narrower than those around a row in the middle.
            count, _ = _search(indptr, indices, root, reached, queue)
            _, work = _search(indptr, indices, queue[count - 1], seen, queue)
            total += work
    return total


@njit(cache=True, nogil=True)
def _search(
    indptr: IntArray, indices: IntArray, root: int, seen: BoolArray, queue: IntArray
) -> tuple[int, float]:
    """Fill the queue with the rows reached from a root; return their number and Σ w³."""
    seen[root] = True
    queue[0] = root
    start = 0
    stop = 1
    work = 0.0
    while start < stop:
        work += float(stop - start) ** 3
        tail = stop
        for k in range(start, stop):
            for e in range(indptr[queue[k]], indptr[queue[k] + 1]):
                y = indices[e]
                if not seen[y]:
                    seen[y] = True
                    queue[tail] = y
                    tail += 1
        start, stop = stop, tail
    return stop, work


# ------------------------------------------------------------------ LU factors


class MatrixRows(NamedTuple):
    """A matrix by rows, the diagonal entry first."""

    indptr: IntArray
    indices: IntArray
    data: FloatArray


class Fill(NamedTuple):
    """Entries of the factors off the diagonal: of U and of L by rows, columns ascending."""

    upper_start: IntArray
    upper: IntArray
    lower_start: IntArray
    lower: IntArray


class Factors(NamedTuple):
    """Entries of U and of L, whose diagonal is 1, and the reciprocals of U's diagonal."""

    upper: FloatArray
    lower: FloatArray
    reciprocal: FloatArray


@njit(cache=True, nogil=True)
def fill_counts(indptr: IntArray, indices: IntArray) -> tuple[IntArray, IntArray]:
    """Return (m,) entries of each row of U off the diagonal, and (m,) its parent in the tree."""
    m = indptr.size - 1
    count = np.zeros(m, np.int64)
    parent = np.full(m, m, indices.dtype)
    seen = np.full(m, -1, indices.dtype)
    for i in range(m):
        seen[i] = i
        for e in range(indptr[i] + 1, indptr[i + 1]):
            # Every entry (i, k) below the diagonal fills in (i, ancestor) for all ancestors of k
            # below i. `seen` stops the walk where an earlier entry of row i has been.
            k = indices[e]
            while k < i and seen[k] != i:
                # the first row with an entry in column k is its parent
                parent[k] = min(parent[k], i)
                count[k] += 1
                seen[k] = i
                k = parent[k]
    return count, parent


@njit(cache=True, nogil=True)
def fill_in(
    indptr: IntArray, indices: IntArray, count: IntArray, parent: IntArray
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return the arrays of the `Fill` of the factors, given what `fill_counts` found."""
    m = indptr.size - 1
    upper_start = np.zeros(m + 1, np.int64)
    lower_start = np.zeros(m + 1, np.int64)
    for i in range(m):
        upper_start[i + 1] = upper_start[i] + count[i]
    upper = np.empty(upper_start[m], indices.dtype)
    lower = np.empty(upper_start[m], indices.dtype)
    free = upper_start[:-1].copy()
    seen = np.full(m, -1, indices.dtype)
    for i in range(m):
        seen[i] = i
        lower_start[i + 1] = lower_start[i]
        # the same walk as in `fill_counts`, now with room for the entries
        for e in range(indptr[i] + 1, indptr[i + 1]):
            k = indices[e]
            while k < i and seen[k] != i:
                upper[free[k]] = i
                free[k] += 1
                lower_start[i + 1] += 1
                seen[k] = i
                k = parent[k]
    # L's pattern is the transpose; row after row of U fills it with columns ascending
    free = lower_start[:-1].copy()
    for k in range(m):
        for s in range(upper_start[k], upper_start[k + 1]):
            lower[free[upper[s]]] = k
            free[upper[s]] += 1
    return upper_start, upper, lower_start, lower


@njit(cache=True, nogil=True)
def factor(
    matrix: MatrixRows, fill: Fill, least: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the arrays of the `Factors` of a matrix on the pattern.

    The pivots of an M-matrix are positive. If rounding makes one smaller, the share `least` of the
    diagonal entry is used.
    """
    m = matrix.indptr.size - 1
    upper = np.empty(fill.upper.size)
    lower = np.empty(fill.lower.size)
    reciprocal = np.empty(m)
    row = np.zeros(m)  # row i of the factors while it is made; 0 wherever it has no entry
    for i in range(m):
        for e in range(matrix.indptr[i], matrix.indptr[i + 1]):
            row[matrix.indices[e]] = matrix.data[e]
        # columns of L ascend, so row[k] is final when its turn comes
        for t in range(fill.lower_start[i], fill.lower_start[i + 1]):
            k = fill.lower[t]
            times = row[k] * reciprocal[k]
            row[k] = 0.0
            lower[t] = times
            for s in range(fill.upper_start[k], fill.upper_start[k + 1]):
                row[fill.upper[s]] -= times * upper[s]
        pivot = row[i]
        row[i] = 0.0
        if not pivot > 0.0:
            pivot = least * matrix.data[matrix.indptr[i]]
        reciprocal[i] = 1.0 / pivot
        for s in range(fill.upper_start[i], fill.upper_start[i + 1]):
            upper[s] = row[fill.upper[s]]
            row[fill.upper[s]] = 0.0
    return upper, lower, reciprocal


@njit(cache=True, nogil=True)
def solve_factored(fill: Fill, factors: Factors, rhs: FloatArray) -> FloatArray:
    """Solve for one right-hand side."""
    found = rhs.copy()
    m = found.size
    # forward with L, whose diagonal is 1, then backward with U
    for i in range(m):
        total = found[i]
        for t in range(fill.lower_start[i], fill.lower_start[i + 1]):
            total -= factors.lower[t] * found[fill.lower[t]]
        found[i] = total
    for i in range(m - 1, -1, -1):
        total = found[i]
        for s in range(fill.upper_start[i], fill.upper_start[i + 1]):
            total -= factors.upper[s] * found[fill.upper[s]]
        found[i] = total * factors.reciprocal[i]
    return found
