"""Biconjugate gradients for policies: (I - P) x = r for the odds P of a policy's moves.

A policy drifts towards its goal, so its matrix is far from symmetric, and one Gauss–Seidel sweep in
the order of the moves is a good preconditioner. The iteration can be continued: it runs some steps
at a time and returns the size of the residual. The loops are written out: they are short, and
results do not depend on the threads of a BLAS.

Reference: van der Vorst, SIAM J. Sci. Stat. Comput. 13(2), 1992.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..typing import FloatArray, IntArray
from .doubledouble import EPSILON
from .jit import njit

LOWERING = 0.3
"""Least odds of moving to rows already swept that the preconditioner assumes."""
ORTHOGONAL = 1e-12
"""Cosine between residual and shadow residual below which biconjugate gradients restart."""


class Matrix(NamedTuple):
    """The odds of moves by rows, without a diagonal."""

    indptr: IntArray
    indices: IntArray
    data: FloatArray


@njit(cache=True, nogil=True, error_model="numpy")
def biconjugate_gradients(
    matrix: Matrix,
    x: FloatArray,
    r: FloatArray,
    goal: float,
    steps: int,
    growth: float,
) -> float:
    """Improve x, with its residual r, until no entry of r exceeds the goal, or the step limit.

    The iteration ends early if the largest entry of r grows by the factor `growth`. Returns that
    entry at the end; NaN after a breakdown that cannot be repaired.
    """
    n = x.size
    shadow, direction, v, t = np.zeros(n), np.empty(n), np.empty(n), np.empty(n)
    p_hat, s_hat = np.empty(n), np.empty(n)
    indptr, indices, data = matrix
    split, share = np.empty(n, indptr.dtype), np.empty(n)
    indices, data = indices.copy(), data.copy()
    _divide(indptr, indices, data, split, share)
    size = peak = largest(r)
    limit = growth * size
    shadow_square = 0.0
    rho = alpha = omega = 1.0
    for _ in range(steps):
        before = rho
        rho, square = dot(shadow, r), dot(r, r)
        # Residual and shadow are nearly orthogonal: the recursion breaks down, so it restarts
        # with the present residual as its shadow. The shadow of 0 makes the first step do so too.
        if not abs(rho) > ORTHOGONAL * np.sqrt(shadow_square * square):
            for i in range(n):  # a slice would take a second to compile
                shadow[i] = direction[i] = r[i]
            rho = shadow_square = square
        else:
            beta = (rho / before) * (alpha / omega)
            for i in range(n):
                direction[i] = r[i] + beta * (direction[i] - omega * v[i])
        _apply(indptr, indices, data, split, share, direction, p_hat, v)
        alpha = rho / dot(shadow, v)
        for i in range(n):
            r[i] -= alpha * v[i]
            x[i] += alpha * p_hat[i]
        # half a step may be enough; x and r match here too
        size = largest(r)
        if not size > goal:
            break
        _apply(indptr, indices, data, split, share, r, s_hat, t)
        square = dot(t, t)
        omega = dot(t, r) / square if square > 0.0 else 0.0
        for i in range(n):
            x[i] += omega * s_hat[i]
            r[i] -= omega * t[i]
        size = largest(r)
        peak = max(peak, size)
        if not goal < size < limit:
            break
    # after such a peak r is no longer the residual of x: rounding at the peak stays in x
    return size if not EPSILON * peak > goal else np.nan


@njit(cache=True, nogil=True)
def _divide(
    indptr: IntArray, indices: IntArray, data: FloatArray, split: IntArray, share: FloatArray
) -> None:
    """Move the entries of earlier rows to the front of each row: they end before ``split[i]``.

    ``share[i]`` is 1 over the odds of moving to one of them. A sweep assumes that values it does
    not know yet equal the row's own value. With 0 instead, an error that is the same over many
    states would shrink only near its ends, by a few states per sweep. The odds count as at least
    `LOWERING`, so that rare outcomes do not cause large steps.
    """
    for i in range(split.size):
        place = indptr[i]
        later = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            if indices[e] < i:
                indices[e], indices[place] = indices[place], indices[e]
                data[e], data[place] = data[place], data[e]
                place += 1
            else:
                later += data[e]
        split[i] = place
        share[i] = 1.0 / max(1.0 - later, LOWERING)


@njit(cache=True, nogil=True)
def _apply(
    indptr: IntArray,
    indices: IntArray,
    data: FloatArray,
    split: IntArray,
    share: FloatArray,
    r: FloatArray,
    x: FloatArray,
    product: FloatArray,
) -> None:
    """Set x to the preconditioned r, the result of one Gauss–Seidel sweep, and the product.

    The product is (I - P) x. Sums over the earlier rows are half of it, and computed only once.
    """
    for i in range(x.size):
        earlier = 0.0
        for e in range(indptr[i], split[i]):
            earlier += data[e] * x[indices[e]]
        x[i] = (r[i] + earlier) * share[i]
        product[i] = x[i] - earlier
    for i in range(x.size):
        total = product[i]
        for e in range(split[i], indptr[i + 1]):
            total -= data[e] * x[indices[e]]
        product[i] = total


@njit(cache=True, nogil=True)
def dot(a: FloatArray, b: FloatArray) -> float:
    """Return a · b."""
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@njit(cache=True, nogil=True)
def largest(a: FloatArray) -> float:
    """Return the largest magnitude of an entry; NaN if one is NaN."""
    most = 0.0
    for i in range(a.size):
        if not abs(a[i]) <= most:  # NaN is the largest of all
            most = abs(a[i])
    return most
