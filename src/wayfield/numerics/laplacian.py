"""Linear systems of M-matrices on graphs, in near-linear time and memory in practice.

Equation
    Σ_y w_xy (u_x − u_y) + g_x u_x = b_x at every row x, where the weights w and g, the weight to
    labels, are nonnegative. Laplacians with conductances w = 1/ℓ are symmetric; linearised
    p-Laplacians are symmetric up to a factor for each row, and near their solution only.
Method
    1. *Exact elimination* of an independent set of vertices of low degree, about half of all. It is
       never formed: conjugate gradients run on its Schur complement S, that of the *inner* rows. A
       product with S takes one pass over the edges.
    2. *Approximate elimination* of the others is the preconditioner (`approximate`): each vertex
       leaves a tree drawn by weight on its neighbours instead of a clique. The factor has at most
       as many entries as the graph has edges, plus those that trees cause, and is kept in single
       precision. Trees and chains are eliminated exactly, so that two or three steps suffice.
    3. On graphs that expand, and where labels are dense, the diagonal of the Schur complement is
       the better preconditioner: a factor takes as long as hundreds of steps. It is tried there,
       kept if some steps show that it converges, and given up if a solve fails after all.
    4. Systems that are not symmetric take biconjugate gradients (`krylov`), with the same
       elimination, and with every row divided by its diagonal entry.
Stopping rule
    max |D⁻¹ r| ≤ rtol · max |D⁻¹ b|, with D the diagonal and r the residual of the recursion.
Guarantee
    None is needed: callers take residuals of their own. All pivots are positive, so the
    preconditioner is positive definite whatever was drawn: a bad draw costs steps, not accuracy.
    Rows are stored as (other entries, weight to labels). The diagonal is their sum and never used
    otherwise, so nothing cancels, at any contrast of weights. The energy p · S p is added up edge
    by edge. A vertex without a path to a label has pivot 0 and keeps the value 0. The same input
    gives the same bytes: draws depend on the seed only, and there are no threads.

Drift (rows that are not close to symmetric after scaling, as in decision processes) is out of
scope: the iteration may diverge there.

References: Kyng and Sachdeva, "Approximate Gaussian elimination for Laplacians: fast, sparse, and
simple", FOCS 2016, for approximate elimination; Gao, Kyng and Spielman, "Robust and practical
solution of Laplacian equations by approximate elimination", arXiv:2303.00709, 2023, for trees
drawn in sorted order; Hestenes and Stiefel, J. Res. NBS 49(6), 1952, for conjugate
gradients.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..typing import FloatArray, IntArray
from .approximate import Factor, MMatrix, approximate, bordering, by_degree
from .csr import Arcs, expands
from .jit import njit
from .krylov import biconjugate
from .workers import check_time

SEED = 1
MOST_STEPS = 1_000
"""Steps after which an iteration has failed."""
CHUNK = 50
"""Steps between checks of the clock."""
TRIAL_STEPS, TRIAL_LEFT = 24, 0.5
"""The trial of the diagonal: its steps, and the residual they may leave.

The right-hand side of the mean hitting times excites the slowest modes. On grids in space, random
regular graphs and hubs, a residual that has begun to fall after 24 steps is down to 1e-10 after 40
to 130 steps. Where it has not, hundreds follow, and a factor is cheaper.
"""
DENSE = 0.1
"""Share of the rows next to a label from which labels are dense."""


class Iterative:
    """An M-matrix prepared for solving by iteration.

    Parameters
    ----------
    matrix : MMatrix
        The matrix, with at least one row.
    symmetric : bool
        Whether both arcs of an edge have the same weight.
    diagonal : bool
        Precondition by the diagonal, not by approximate elimination.
    rtol : float
        Default reduction of the residual.

    Attributes
    ----------
    steps : list of int
        Steps of each solve so far.
    """

    def __init__(
        self,
        matrix: MMatrix,
        *,
        symmetric: bool = True,
        diagonal: bool = False,
        rtol: float = 1e-10,
    ) -> None:
        self.symmetric, self.rtol, self.steps = symmetric, rtol, list[int]()
        self._prepare(matrix, diagonal)

    def _prepare(self, matrix: MMatrix, diagonal: bool) -> None:
        symmetric = self.symmetric
        self._order: IntArray
        self._given = matrix if diagonal else None
        if diagonal:
            self._order, place, self._outer, inverse = halve(matrix, symmetric)
            none: FloatArray = np.empty(0, np.float32 if symmetric else np.float64)
            start = np.zeros(inverse.size + 1, np.uint64)
            self._factor = Factor(start, np.empty(0, np.uint32), none, none, inverse)
        else:
            found = approximate(matrix, symmetric, SEED)
            self._order, place, self._outer, self._factor = found
        self._rows = Rows(*reorder(matrix, self._order, place, self._outer, symmetric))

    @property
    def diagonal(self) -> bool:
        """Whether the diagonal is the preconditioner."""
        return self._given is not None

    def solve(self, rhs: FloatArray, rtol: float | None = None) -> FloatArray:
        """Return the solution for one right-hand side (m,), or for the columns of several (m, k).

        If the iteration fails, it is the last iterate.
        """
        rtol = self.rtol if rtol is None else rtol
        found, left = self.attempt(rhs, rtol)
        if self._given is not None and not left <= rtol:
            self._prepare(self._given, diagonal=False)
            found, left = self.attempt(rhs, rtol)
        return found

    def attempt(
        self, rhs: FloatArray, rtol: float | None = None, steps: int = MOST_STEPS
    ) -> tuple[FloatArray, float]:
        """Return what `solve` does, and the worst max |D⁻¹ r| / max |D⁻¹ b| that is left."""
        rtol = self.rtol if rtol is None else rtol
        if rhs.ndim == 1:
            return self._one(rhs, rtol, steps)
        # in a trial, columns solved side by side took as long: they do not fit into the cache
        found, left = np.empty(rhs.shape, order="F"), 0.0
        for c in range(rhs.shape[1]):
            found[:, c], rest = self._one(np.ascontiguousarray(rhs[:, c]), rtol, steps)
            left = max(left, rest)
        return found, left

    def _one(self, rhs: FloatArray, rtol: float, steps: int) -> tuple[FloatArray, float]:
        scale = float(np.abs(rhs).max())  # squares of the entries could underflow
        if not scale > 0.0:
            return np.zeros_like(rhs), 0.0
        if not self.symmetric:
            return self._general(rhs / scale, rtol, steps, scale)
        rhs, m = rhs / scale, rhs.size - self._outer
        state = np.zeros(m), np.empty(m), np.zeros(m)
        size, left = begin(self._order, self._outer, self._rows, rhs, state[1])
        goal, before, done = rtol * size, 0.0, 0
        while left > goal and done < steps:
            check_time()
            some = min(CHUNK, steps - done)
            given = self._outer, self._rows, self._factor, state, before, goal, some
            now, before, made = conjugate(*given)
            left, done = min(left, now), done + made
            if made < some:
                break
        self.steps.append(done)
        found = np.empty(rhs.size)
        finish(self._order, self._outer, self._rows, rhs, state[0], found)
        found *= scale
        return found, left / size if size > 0.0 else 0.0

    def _general(
        self, rhs: FloatArray, rtol: float, steps: int, scale: float
    ) -> tuple[FloatArray, float]:
        m = rhs.size - self._outer
        x, r = np.zeros(rhs.size), np.empty(m)
        size = begin_general(self._order, self._outer, self._rows, rhs, np.empty(rhs.size), r)
        product = partial(apply, self._rows, self._outer, self._factor, np.empty(rhs.size))
        goal, left, done = rtol * size, np.inf, 0
        while left > goal and done < steps:
            check_time()
            left, _ = biconjugate(product, x[self._outer :], r, goal, CHUNK)
            done += CHUNK
        self.steps.append(done)
        found = finish_general(self._order, self._outer, self._rows, rhs, x)
        found *= scale
        return found, left / size if size > 0.0 else 0.0


def prepared(matrix: MMatrix, *, symmetric: bool = True, rtol: float = 1e-10) -> Iterative:
    """Return the matrix with the preconditioner that is cheaper, by a forecast from a few steps."""
    if symmetric and _easy(matrix):
        trial = Iterative(matrix, diagonal=True, rtol=rtol)
        if trial.attempt(row_sums(matrix), TRIAL_LEFT, TRIAL_STEPS)[1] <= TRIAL_LEFT:
            return trial
        del trial
    return Iterative(matrix, symmetric=symmetric, rtol=rtol)


def row_sums(matrix: MMatrix) -> FloatArray:
    """Return (m,) sums of the weights of each row: the diagonal."""
    n = matrix.indptr.size - 1
    tails = np.repeat(np.arange(n, dtype=matrix.indices.dtype), np.diff(matrix.indptr))
    sums: FloatArray = np.bincount(tails, matrix.weights, n).astype(float, copy=False)
    return sums[matrix.vertices]


def _easy(matrix: MMatrix) -> bool:
    """Whether the diagonal could be the better preconditioner."""
    dense = bordering(matrix) >= DENSE * matrix.vertices.size
    return dense or expands(Arcs(matrix.indptr, matrix.indices, matrix.weights))


# ------------------------------------------------------------------ kernels
# Rows are in the order of elimination: first the `outer` ones, an independent set, then the inner.


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
