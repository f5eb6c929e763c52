"""Krylov iterations for the M-matrices of graphs, preconditioned by their diagonal.

A matrix comes by rows, the diagonal entry first in its row. With D the diagonal, a residual r is
measured as D⁻¹ r, the update it asks for, so that rows of any scale count alike. Both iterations go
on from where they are, some steps at a time, and return the size of the residual. The loops are
written out: they are short, and the outcome does not depend on the threads of a BLAS.

- Conjugate gradients for symmetric matrices: Hestenes and Stiefel, J. Res. NBS 49(6), 1952.
- Stabilised biconjugate gradients for others: van der Vorst, SIAM J. Sci. Stat. Comput. 13(2),
  1992.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ._jit import njit
from ._types import FloatArray, IntArray

ORTHOGONAL = 1e-12
"""Cosine between residual and shadow residual below which biconjugate gradients start anew."""


Product = Callable[[Any, FloatArray, FloatArray], None]
"""A kernel that writes a matrix times a vector, or the like, into another vector."""


class Matrix(NamedTuple):
    """A square matrix by rows, its diagonal entries first."""

    indptr: IntArray
    indices: IntArray
    data: FloatArray


@njit(cache=True, nogil=True)
def conjugate_gradients(
    matrix: Matrix,
    x: FloatArray,
    r: FloatArray,
    direction: FloatArray,
    size: float,
    goal: float,
    steps: int,
) -> float:
    """Improve x, with its residual r, for a symmetric matrix: some steps, or until the goal.

    Returns r · D⁻¹ r, which `size` is at the start; then the direction is D⁻¹ r.
    """
    product = np.empty(x.size)
    for _ in range(steps):
        curvature = 0.0
        for i in range(x.size):
            total = 0.0
            for e in range(matrix.indptr[i], matrix.indptr[i + 1]):
                total += matrix.data[e] * direction[matrix.indices[e]]
            product[i] = total
            curvature += direction[i] * total
        if not curvature > 0.0:  # rounding has the last word
            return size
        alpha = size / curvature
        before = size
        size = 0.0
        for i in range(x.size):
            x[i] += alpha * direction[i]
            r[i] -= alpha * product[i]
            size += r[i] * (r[i] / matrix.data[matrix.indptr[i]])
        if not size > goal:
            return size
        beta = size / before
        for i in range(x.size):
            direction[i] = r[i] / matrix.data[matrix.indptr[i]] + beta * direction[i]
    return size


@njit(cache=True, nogil=True, error_model="numpy")
def biconjugate_gradients(
    matrix: Matrix, x: FloatArray, r: FloatArray, goal: float, steps: int
) -> float:
    """Improve x, with its residual D⁻¹ r in `r`: some steps, or until the goal.

    Returns the largest entry of D⁻¹ r; NaN after a breakdown for good.
    """
    return stabilised(_scaled_product, _copied, matrix, x, r, goal, steps)


@njit(cache=False, nogil=True, error_model="numpy")  # compiled into the kernels that call it
def stabilised(
    product: Product,
    precondition: Product,
    matrix: Any,
    x: FloatArray,
    r: FloatArray,
    goal: float,
    steps: int,
) -> float:
    """Stabilised biconjugate gradients, preconditioned from the right.

    `product(matrix, x, out)` writes the matrix times x, `precondition(matrix, r, out)` a rough
    solution for r. Returns the largest entry of the residual, which `r` is then.
    """
    n = x.size
    shadow, direction, v, t = np.zeros(n), np.empty(n), np.empty(n), np.empty(n)
    p_hat, s_hat = np.empty(n), np.empty(n)
    size = largest(r)
    shadow_square = 0.0
    rho = alpha = omega = 1.0
    for _ in range(steps):
        before = rho
        rho, square = _dot(shadow, r), _dot(r, r)
        if not abs(rho) > ORTHOGONAL * np.sqrt(shadow_square * square):  # as at first
            shadow[:] = r
            direction[:] = r
            rho = shadow_square = square
        else:
            beta = (rho / before) * (alpha / omega)
            for i in range(n):
                direction[i] = r[i] + beta * (direction[i] - omega * v[i])
        precondition(matrix, direction, p_hat)
        product(matrix, p_hat, v)
        alpha = rho / _dot(shadow, v)
        for i in range(n):
            r[i] -= alpha * v[i]
            x[i] += alpha * p_hat[i]
        size = largest(r)
        if not size > goal:
            break
        precondition(matrix, r, s_hat)
        product(matrix, s_hat, t)
        square = _dot(t, t)
        omega = _dot(t, r) / square if square > 0.0 else 0.0
        for i in range(n):
            x[i] += omega * s_hat[i]
            r[i] -= omega * t[i]
        size = largest(r)
        if not size > goal:
            break
    return size


@njit(cache=True, nogil=True)
def _scaled_product(matrix: Matrix, x: FloatArray, product: FloatArray) -> None:
    """D⁻¹ times the matrix times x."""
    for i in range(x.size):
        total = 0.0
        for e in range(matrix.indptr[i], matrix.indptr[i + 1]):
            total += matrix.data[e] * x[matrix.indices[e]]
        product[i] = total / matrix.data[matrix.indptr[i]]


@njit(cache=True, nogil=True)
def _copied(matrix: Matrix, r: FloatArray, x: FloatArray) -> None:
    """No preconditioner beyond the diagonal, which the product has."""
    x[:] = r


@njit(cache=True, nogil=True)
def _dot(a: FloatArray, b: FloatArray) -> float:
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@njit(cache=True, nogil=True)
def largest(a: FloatArray) -> float:
    """Largest magnitude of an entry; NaN if one is."""
    most = 0.0
    for i in range(a.size):
        if not abs(a[i]) <= most:  # NaN is the largest of all
            most = abs(a[i])
    return most
