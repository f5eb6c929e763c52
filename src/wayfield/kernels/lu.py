"""LU factors of an M-matrix on a pattern that is known beforehand.

A pattern comes by rows in an order of elimination, symmetric, the diagonal entry first in its row.
Rows are eliminated one by one without pivoting, which M-matrices do not need: row i of the factors
is row i of the matrix less multiples of the rows k < i of U that it meets. Which these are depends
on the pattern alone, so it is found once, by walking up the elimination tree (Liu, "The role of
elimination trees in sparse factorization", SIAM J. Matrix Anal. Appl. 11, 1990), and serves
for every matrix on the pattern. L and U have patterns that are each other's transpose.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._jit import njit
from ._types import FloatArray, IntArray
from .krylov import Matrix


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
    """(m,) entries of each row of U off the diagonal, and (m,) the row's parent in the tree."""
    m = indptr.size - 1
    count = np.zeros(m, np.int64)
    parent = np.full(m, m, indices.dtype)
    seen = np.full(m, -1, indices.dtype)
    for i in range(m):
        seen[i] = i
        for e in range(indptr[i] + 1, indptr[i + 1]):
            k = indices[e]
            while k < i and seen[k] != i:
                # the first row that k fills in is where it hangs on the tree
                parent[k] = min(parent[k], i)
                count[k] += 1
                seen[k] = i
                k = parent[k]
    return count, parent


@njit(cache=True, nogil=True)
def fill_in(
    indptr: IntArray, indices: IntArray, count: IntArray, parent: IntArray
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Arrays of the `Fill` of the factors, given what `fill_counts` found."""
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
        for e in range(indptr[i] + 1, indptr[i + 1]):
            k = indices[e]
            while k < i and seen[k] != i:
                upper[free[k]] = i
                free[k] += 1
                lower_start[i + 1] += 1
                seen[k] = i
                k = parent[k]
    # L's pattern is the transpose; row after row of U fills it with columns ascending
    free[:] = lower_start[:-1]
    for k in range(m):
        for s in range(upper_start[k], upper_start[k + 1]):
            lower[free[upper[s]]] = k
            free[upper[s]] += 1
    return upper_start, upper, lower_start, lower


@njit(cache=True, nogil=True)
def factor(matrix: Matrix, fill: Fill, least: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Arrays of the `Factors` of a matrix on the pattern.

    The pivots of an M-matrix are positive; where rounding would have it otherwise, the share
    `least` of the diagonal entry is one.
    """
    m = matrix.indptr.size - 1
    upper = np.empty(fill.upper.size)
    lower = np.empty(fill.lower.size)
    reciprocal = np.empty(m)
    row = np.zeros(m)  # row i of the factors while it is made; 0 wherever it has no entry
    for i in range(m):
        for e in range(matrix.indptr[i], matrix.indptr[i + 1]):
            row[matrix.indices[e]] = matrix.data[e]
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
def solve(fill: Fill, factors: Factors, rhs: FloatArray) -> FloatArray:
    """Solve for one right-hand side."""
    found = rhs.copy()
    m = found.size
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
