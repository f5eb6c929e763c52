"""Conjugate gradients on a Schur complement that is never formed: kernels of `laplacian`.

Rows are in the order of elimination. The first `outer` of them, an independent set, are eliminated
exactly: the iteration runs on the Schur complement S of the others, the *inner* rows. A product
with S takes one pass over the edges.

- Conjugate gradients for symmetric matrices: Hestenes and Stiefel, J. Res. NBS 49(6), 1952.
- Stabilised biconjugate gradients for others (`krylov`), with every row divided by its diagonal
  entry.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..typing import FloatArray, IntArray
from .approximate import Factor, MMatrix, by_degree
from .jit import njit


class Rows(NamedTuple):
    """The matrix without its diagonal, signs turned, in the order of elimination.

    A symmetric matrix has every edge once, in the row eliminated first, with heads counted from the
    first inner row. Outer rows come first. The inner rows are listed in `which`, sorted by their
    number of entries, so that the branches of the loops are predictable. Other matrices have all
    entries of all rows.
    """

    start: IntArray
    other: IntArray
    value: FloatArray
    ground: FloatArray
    inverse: FloatArray
    """1 over the diagonal entries; 0 for a row of zeros."""
    which: IntArray


@njit(cache=True, nogil=True)
def halve(matrix: MMatrix, symmetric: bool) -> tuple[IntArray, IntArray, int, FloatArray]:
    """Return an order with an independent set first, its places, the set's size, and 1/diag S."""
    indptr, indices, weights, vertices, row = matrix
    n = vertices.size
    degree, diagonal = np.zeros(n, np.int32), np.zeros(n)
    entries = 0
    for i in range(n):
        for s in range(indptr[vertices[i]], indptr[vertices[i] + 1]):
            diagonal[i] += weights[s]
            degree[i] += row[indices[s]] >= 0
        entries += degree[i]
    order = np.empty(n, np.int32)
    found = by_degree(np.arange(n), n, degree, entries // n + 1, order)
    inside = np.zeros(n, np.int8)  # 1 in the independent set, 2 beside it
    outer = 0
    for u in range(found):
        i = order[u]
        if inside[i] != 0:
            continue
        inside[i] = 1
        order[outer] = i
        outer += 1
        for s in range(indptr[vertices[i]], indptr[vertices[i] + 1]):
            j = row[indices[s]]
            if j >= 0:
                inside[j] = 2
                if symmetric and diagonal[i] > 0.0:
                    diagonal[j] -= weights[s] * (weights[s] / diagonal[i])
    free = outer
    place, inverse = np.empty(n, np.int32), np.empty(n - outer)
    for i in range(n):
        if inside[i] != 1:
            order[free] = i
            inverse[free - outer] = 1.0 / diagonal[i] if diagonal[i] > 0.0 else 0.0
            free += 1
    for k in range(n):
        place[order[k]] = k
    return order, place, outer, inverse


@njit(cache=True, nogil=True)
def reorder(
    matrix: MMatrix, order: IntArray, place: IntArray, outer: int, symmetric: bool
) -> tuple[IntArray, IntArray, FloatArray, FloatArray, FloatArray, IntArray]:
    """Return the arrays of `Rows`."""
    indptr, indices, weights, vertices, row = matrix
    n = order.size
    count = np.zeros(n, np.int32)
    most = 0
    for k in range(n):
        x = vertices[order[k]]
        for s in range(indptr[x], indptr[x + 1]):
            j = row[indices[s]]
            count[k] += j >= 0 and (not symmetric or place[j] > k)
        if k >= outer:
            most = max(most, count[k])
    # sort the inner rows by their number of entries, by counting
    which, bucket = np.empty(n, np.uint32), np.zeros(most + 2, np.int64)
    for k in range(outer):
        which[k] = k
    for k in range(outer, n):
        bucket[count[k] + 1] += 1
    for d in range(most):
        bucket[d + 1] += bucket[d]
    for k in range(outer, n):
        which[outer + bucket[count[k]]] = k
        bucket[count[k]] += 1
    start = np.zeros(n + 1, np.uint64)
    free = 0
    for q in range(n):
        free += count[which[q]]
        start[q + 1] = free
    other, value = np.empty(free, np.uint32), np.empty(free)
    ground, inverse = np.zeros(n), np.zeros(n)
    free = 0
    for q in range(n):
        k = which[q]
        x = vertices[order[k]]
        total = 0.0
        for s in range(indptr[x], indptr[x + 1]):
            total += weights[s]
            j = row[indices[s]]
            if j < 0:
                ground[k] += weights[s]
            elif not symmetric or place[j] > k:
                other[free] = place[j] - outer if symmetric else place[j]
                value[free] = weights[s]
                free += 1
        if total > 0.0:
            inverse[k] = 1.0 / total
        if symmetric and q >= outer:
            which[q] = k - outer
    return start, other, value, ground, inverse, which


# ------------------------------------------------------------------ symmetric


@njit(cache=True, nogil=True)
def begin(
    order: IntArray, outer: int, rows: Rows, rhs: FloatArray, r: FloatArray
) -> tuple[float, float]:
    """Set r to the Schur complement's right-hand side; return max |D⁻¹ b| and max |D⁻¹ r|."""
    start, other, value, _, inverse, _ = rows
    size = left = 0.0
    for k in range(order.size):
        here = rhs[order[k]]
        size = max(size, abs(here) * inverse[k])
        if k >= outer:
            r[k - outer] = here
    for k in range(outer):
        mean = rhs[order[k]] * inverse[k]
        for s in range(start[k], start[k + 1]):
            r[other[s]] += value[s] * mean
    for i in range(r.size):
        left = max(left, abs(r[i]) * inverse[outer + i])
    return size, left


@njit(cache=True, nogil=True)
def finish(
    order: IntArray, outer: int, rows: Rows, rhs: FloatArray, x: FloatArray, found: FloatArray
) -> None:
    """Set `found` to the solution of all rows, given that of the inner ones."""
    start, other, value, _, inverse, _ = rows
    for i in range(x.size):
        found[order[outer + i]] = x[i]
    for k in range(outer):
        total = rhs[order[k]]
        for s in range(start[k], start[k + 1]):
            total += value[s] * x[other[s]]
        found[order[k]] = total * inverse[k]


@njit(cache=True, nogil=True)
def precondition(factor: Factor, r: FloatArray, z: FloatArray) -> float:
    """Set z to M⁻¹ r; return r · z."""
    start, other, upper, lower, inverse = factor
    for i in range(r.size):
        z[i] = r[i]
    for k in range(r.size):
        here = z[k]
        for s in range(start[k], start[k + 1]):
            z[other[s]] += lower[s] * here
    size = 0.0
    for k in range(r.size - 1, -1, -1):
        total = z[k] * inverse[k]
        for s in range(start[k], start[k + 1]):
            total += upper[s] * z[other[s]]
        z[k] = total
        size += total * r[k]
    return size


@njit(cache=True, nogil=True)
def multiply(rows: Rows, outer: int, x: FloatArray, y: FloatArray) -> float:
    """Set y to S x; return x · y.

    The product is added up edge by edge, as an energy in which nothing cancels: x · y itself loses
    its sign where weights are some 15 orders of magnitude apart.
    """
    start, other, value, ground, inverse, which = rows
    size = 0.0
    for i in range(x.size):
        y[i] = ground[outer + i] * x[i]
        size += y[i] * x[i]
    for k in range(outer):
        mean = 0.0
        for s in range(start[k], start[k + 1]):
            mean += value[s] * x[other[s]]
        mean *= inverse[k]
        size += ground[k] * mean * mean
        for s in range(start[k], start[k + 1]):
            rise = x[other[s]] - mean
            flow = value[s] * rise
            y[other[s]] += flow
            size += flow * rise
    for q in range(outer, which.size):
        if start[q] == start[q + 1]:
            continue
        i = which[q]
        here = x[i]
        total = 0.0
        for s in range(start[q], start[q + 1]):
            rise = here - x[other[s]]
            flow = value[s] * rise
            total += flow
            y[other[s]] -= flow
            size += flow * rise
        y[i] += total
    return size


@njit(cache=True, nogil=True)
def conjugate(
    outer: int,
    rows: Rows,
    factor: Factor,
    state: tuple[FloatArray, FloatArray, FloatArray],
    before: float,
    goal: float,
    steps: int,
) -> tuple[float, float, int]:
    """Improve x with residual r along direction p, the state, until max |D⁻¹ r| is at the goal.

    `before` is r · M⁻¹ r of the previous step, 0 at the start. Returns max |D⁻¹ r|, the new r ·
    M⁻¹ r, and the number of steps made: fewer than asked for at the goal, or where the direction
    has no energy left.
    """
    x, r, p = state
    z, q = np.empty(x.size), np.empty(x.size)
    inverse = rows.inverse
    left = np.inf
    for step in range(steps):
        size = precondition(factor, r, z)
        beta = size / before if before > 0.0 else 0.0
        before = size
        for i in range(x.size):
            p[i] = z[i] + beta * p[i]
        energy = multiply(rows, outer, p, q)
        if not energy > 0.0:  # only rounding is left to work on
            return left, before, step
        alpha = size / energy
        left = 0.0
        for i in range(x.size):
            x[i] += alpha * p[i]
            rest = r[i] - alpha * q[i]
            r[i] = rest
            left = max(left, abs(rest) * inverse[outer + i])
        if not left > goal:
            return left, before, step + 1
    return left, before, steps


# ------------------------------------------------------------------ not symmetric


@njit(cache=True, nogil=True)
def means(rows: Rows, outer: int, x: FloatArray) -> None:
    """Set the outer values to the means of their neighbours."""
    start, other, value, _, inverse, _ = rows
    for k in range(outer):
        total = 0.0
        for s in range(start[k], start[k + 1]):
            total += value[s] * x[other[s]]
        x[k] = total * inverse[k]


@njit(cache=True, nogil=True)
def apply(
    rows: Rows,
    outer: int,
    factor: Factor,
    full: FloatArray,
    r: FloatArray,
    z: FloatArray,
    y: FloatArray,
) -> None:
    """Set z to M⁻¹ D r, and y to D⁻¹ S z. `full` is scratch, y before as well."""
    start, other, value, ground, inverse, which = rows
    for i in range(r.size):
        scale = inverse[outer + i]
        y[i] = r[i] / scale if scale > 0.0 else 0.0
    precondition(factor, y, z)
    for i in range(r.size):
        full[outer + i] = z[i]
    means(rows, outer, full)
    for q in range(outer, which.size):
        k = which[q]
        here = full[k]
        total = ground[k] * here
        for s in range(start[q], start[q + 1]):
            total += value[s] * (here - full[other[s]])
        y[np.int64(k) - outer] = total * inverse[k]


@njit(cache=True, nogil=True)
def begin_general(
    order: IntArray, outer: int, rows: Rows, rhs: FloatArray, full: FloatArray, r: FloatArray
) -> float:
    """Set r to D⁻¹ times the Schur complement's right-hand side; return max |D⁻¹ b|."""
    start, other, value, _, inverse, which = rows
    size = 0.0
    for k in range(order.size):
        full[k] = rhs[order[k]] * inverse[k] if k < outer else 0.0
        size = max(size, abs(rhs[order[k]]) * inverse[k])
    for q in range(outer, order.size):
        k = which[q]
        total = rhs[order[k]]
        for s in range(start[q], start[q + 1]):
            total += value[s] * full[other[s]]
        r[np.int64(k) - outer] = total * inverse[k]
    return size


@njit(cache=True, nogil=True)
def finish_general(order: IntArray, outer: int, rows: Rows, rhs: FloatArray, x: FloatArray) -> Any:
    """Return the solution of all rows, given that of the inner ones."""
    means(rows, outer, x)
    found = np.empty(x.size)
    for k in range(x.size):
        found[order[k]] = x[k] + (rhs[order[k]] * rows.inverse[k] if k < outer else 0.0)
    return found
