"""Stabilised biconjugate gradients, for systems that are not symmetric.

The preconditioner is on the right: a function applies it to a vector, and multiplies the result by
the matrix. Vectors are small enough, and products costly enough, for the loop to be Python.

**Policies**: (I - P) x = r for the odds P of a policy's moves. A policy drifts towards its goal, so
its matrix is far from symmetric, and one Gauss–Seidel sweep in the order of the moves is a good
preconditioner. Linearised p-Laplacians have another one, see `laplacian`.

Results do not depend on the threads of a BLAS, since sums are kernels.

Reference: van der Vorst, SIAM J. Sci. Stat. Comput. 13(2), 1992.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
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


def biconjugate(
    apply: Callable[[FloatArray, FloatArray, FloatArray], object],
    x: FloatArray,
    r: FloatArray,
    goal: float,
    steps: int,
    growth: float = np.inf,
) -> tuple[float, float]:
    """Improve x, with its residual r, until no entry of r exceeds the goal, or the step limit.

    ``apply(vector, preconditioned, product)`` fills the last two. The iteration ends early if the
    largest entry of r grows by the factor `growth`. Returns that entry at the end and at the peak;
    NaN after a breakdown that cannot be repaired.
    """
    shadow, direction, v = np.zeros((3, r.size))
    improved, t = np.empty_like(r), np.empty_like(r)
    size = peak = largest(r)
    limit = growth * size
    shadow_square = 0.0
    rho = alpha = omega = np.float64(1.0)  # which may be divided by 0, unlike Python's
    with np.errstate(all="ignore"):
        for _ in range(steps):
            if not goal < size < limit:
                break
            before, rho, square = rho, np.float64(dot(shadow, r)), dot(r, r)
            # Residual and shadow are nearly orthogonal: the recursion breaks down, so it restarts
            # with the present residual as its shadow. The shadow of 0 makes the first step do so.
            if not abs(rho) > ORTHOGONAL * np.sqrt(shadow_square * square):
                shadow[:] = direction[:] = r
                rho, shadow_square = np.float64(square), square
            else:
                beta = (rho / before) * (alpha / omega)
                direction -= omega * v
                direction *= beta
                direction += r
            apply(direction, improved, v)
            alpha = rho / dot(shadow, v)
            r -= alpha * v
            x += alpha * improved
            # half a step may be enough; x and r match here too
            size = largest(r)
            if not size > goal:
                break
            apply(r, improved, t)
            square = dot(t, t)
            omega = np.float64(dot(t, r) / square if square > 0.0 else 0.0)
            x += omega * improved
            r -= omega * t
            size = largest(r)
            peak = max(peak, size)
    return size, peak


def biconjugate_gradients(
    matrix: Matrix, x: FloatArray, r: FloatArray, goal: float, steps: int, growth: float
) -> float:
    """Do the work of `biconjugate` for a policy; NaN if rounding at the peak stays in x."""
    n, (indptr, indices, data) = x.size, matrix
    split, share = np.empty(n, indptr.dtype), np.empty(n)
    indices, data = indices.copy(), data.copy()
    _divide(indptr, indices, data, split, share)
    apply = partial(_apply, indptr, indices, data, split, share)
    size, peak = biconjugate(apply, x, r, goal, steps, growth)
    # after such a peak r is no longer the residual of x
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
            if np.isnan(most):
                break
    return most
