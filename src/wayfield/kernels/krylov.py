"""Krylov iterations for the M-matrices of graphs, preconditioned by their diagonal.

A matrix comes by rows, the diagonal entry first in its row. With D the diagonal, a residual r is
measured as D⁻¹ r, the update it asks for, so that rows of any scale count alike. Both iterations go
on from where they are, some steps at a time, and hand back the square of the residual's norm. The
loops are written out: they are short, and the outcome does not depend on the threads of a BLAS.

- Conjugate gradients for symmetric matrices: Hestenes and Stiefel, J. Res. NBS 49(6), 1952.
- Stabilised biconjugate gradients for others: van der Vorst, SIAM J. Sci. Stat. Comput. 13(2),
  1992.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._jit import njit
from ._types import FloatArray, IntArray

ORTHOGONAL = 1e-12
"""Cosine between residual and shadow residual below which biconjugate gradients start anew."""


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

    Returns the square of the Euclidean norm of D⁻¹ r; NaN after a breakdown for good.
    """
    n = x.size
    shadow = np.zeros(n)
    direction = np.empty(n)
    v = np.empty(n)
    t = np.empty(n)
    size = _dot(r, r)
    shadow_size = 0.0
    rho = alpha = omega = 1.0
    for _ in range(steps):
        before = rho
        rho = _dot(shadow, r)
        if not abs(rho) > ORTHOGONAL * np.sqrt(shadow_size * size):  # as at first
            shadow[:] = r
            direction[:] = r
            rho = shadow_size = size
        else:
            beta = (rho / before) * (alpha / omega)
            for i in range(n):
                direction[i] = r[i] + beta * (direction[i] - omega * v[i])
        _scaled_product(matrix, direction, v)
        alpha = rho / _dot(shadow, v)
        for i in range(n):
            r[i] -= alpha * v[i]
        _scaled_product(matrix, r, t)
        square = _dot(t, t)
        omega = _dot(t, r) / square if square > 0.0 else 0.0
        for i in range(n):
            x[i] += alpha * direction[i] + omega * r[i]
            r[i] -= omega * t[i]
        size = _dot(r, r)
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
def _dot(a: FloatArray, b: FloatArray) -> float:
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total
