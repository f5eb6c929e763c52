"""The p-energy and its derivatives, and the fixed-point sweeps that minimise it.

With slopes s = (u_y − u_x) / ℓ over the edges, E(u) = (1/p) Σ ℓ |s|^p. The flow along an edge is
|s|^{p−2} s; the gradient at x is the flow out of x, downhill counted positive. The fixed point is

    u_x = Σ w u_y / Σ w,   w = |s|^{p−2} / ℓ,

and a vertex whose weights all vanish stays where it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wayfield.numerics.csr import Arcs
from wayfield.numerics.jit import njit
from wayfield.typing import FloatArray, IntArray


class EdgeList(NamedTuple):
    """Edges of an undirected graph, each once."""

    tails: IntArray
    heads: IntArray
    lengths: FloatArray


@njit(cache=True, nogil=True, inline="always")
def power(base: float, exponent: float) -> float:
    """Return a power of a number ≥ 0; whole exponents by squaring, which is faster."""
    left = int(exponent)
    if left != exponent:
        return float(base**exponent)
    result = 1.0
    while left > 0:
        if left & 1:
            result *= base
        left >>= 1
        base *= base
    return result


@njit(cache=True, nogil=True)
def energy_gradient(edges: EdgeList, values: FloatArray, p: float, gradient: FloatArray) -> float:
    """Return the energy of a field; write its gradient into `gradient`."""
    tails, heads, lengths = edges
    total = 0.0
    for x in range(gradient.size):
        gradient[x] = 0.0
    for e in range(tails.size):
        slope = (values[heads[e]] - values[tails[e]]) / lengths[e]
        # edge by edge, each once: the flow leaves one end and enters the other
        flow = power(abs(slope), p - 2.0) * slope
        total += lengths[e] * flow * slope
        gradient[tails[e]] -= flow
        gradient[heads[e]] += flow
    return total / p


@njit(cache=True, nogil=True)
def energy_curvature(
    edges: EdgeList, values: FloatArray, direction: FloatArray, p: float, product: FloatArray
) -> None:
    """Write the Hessian of the energy times a direction into `product`."""
    tails, heads, lengths = edges
    for x in range(product.size):
        product[x] = 0.0
    for e in range(tails.size):
        length = lengths[e]
        slope = abs(values[heads[e]] - values[tails[e]]) / length
        change = (direction[heads[e]] - direction[tails[e]]) / length
        flow = (p - 1.0) * power(slope, p - 2.0) * change
        product[tails[e]] -= flow
        product[heads[e]] += flow


@njit(cache=True, nogil=True)
def relaxed_sweep(
    arcs: Arcs, free: IntArray, values: FloatArray, p: float, relaxation: float, updated: FloatArray
) -> float:
    """One sweep over the free vertices from `values` into `updated`; returns the largest change."""
    indptr, indices, lengths = arcs
    largest = 0.0
    for x in free:
        total = 0.0
        pull = 0.0
        for e in range(indptr[x], indptr[x + 1]):
            rise = values[indices[e]] - values[x]
            weight = power(abs(rise) / lengths[e], p - 2.0) / lengths[e]
            total += weight
            pull += weight * rise
        # Σ w u_y / Σ w − u_x, in differences: the mean itself would lose their digits
        step = relaxation * pull / total if total > 0.0 else 0.0
        updated[x] = values[x] + step
        largest = max(largest, abs(step))
    return largest


@njit(cache=True, nogil=True)
def relaxed_sweeps(
    arcs: Arcs,
    free: IntArray,
    values: FloatArray,
    p: float,
    relaxation: float,
    tolerance: float,
    cap: int,
) -> tuple[FloatArray, int, bool]:
    """Sweep until the largest change is within the tolerance; return field, sweeps and success."""
    here = values.copy()
    there = values.copy()
    for sweep in range(1, cap + 1):
        change = relaxed_sweep(arcs, free, here, p, relaxation, there)
        # both start as copies, so the labels, which are never written, agree in both
        here, there = there, here
        if change <= tolerance:
            return here, sweep, True
    return here, cap, False


@njit(cache=True, nogil=True)
def fixed_point_residual(arcs: Arcs, free: IntArray, values: FloatArray, p: float) -> float:
    """Return the largest distance of a free value from its neighbours' weighted mean."""
    return relaxed_sweep(arcs, free, values, p, 1.0, np.empty_like(values))
