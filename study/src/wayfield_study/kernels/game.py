"""Sweeps of the game-theoretic p-Laplacian, and the neighbours that it chooses."""

from __future__ import annotations

import numpy as np

from wayfield.numerics.jit import njit
from wayfield.typing import BoolArray, FloatArray, IntArray


@njit(cache=True, nogil=True)
def sweep(
    indptr: IntArray,
    heads: IntArray,
    weight: FloatArray,
    fixed: BoolArray,
    values: FloatArray,
    share: float,
    sweeps: int,
) -> float:
    """Solve every vertex equation in turn, forth and back; return the last sweep's largest change.

    The values are changed in place. `share` is the weight of the mean, the rest is the midrange's.
    """
    n, worst = values.size, 0.0
    for number in range(sweeps):
        worst = 0.0
        for k in range(n):
            x = k if number % 2 == 0 else n - 1 - k
            if fixed[x] or indptr[x] == indptr[x + 1]:
                continue
            total, mass, low, high = 0.0, 0.0, np.inf, -np.inf
            for e in range(indptr[x], indptr[x + 1]):
                value = values[heads[e]]
                total, mass = total + weight[e] * value, mass + weight[e]
                low, high = min(low, value), max(high, value)
            new = share * total / mass + (1.0 - share) * 0.5 * (low + high)
            worst = max(worst, abs(new - values[x]))
            values[x] = new
    return worst


@njit(cache=True, nogil=True)
def extreme_neighbours(
    indptr: IntArray, heads: IntArray, values: FloatArray
) -> tuple[IntArray, IntArray]:
    """Return the lowest and the highest neighbour of every vertex, the first of equals."""
    n = values.size
    low, high = np.arange(n, dtype=np.int32), np.arange(n, dtype=np.int32)
    for x in range(n):
        for e in range(indptr[x], indptr[x + 1]):
            y = heads[e]
            if e == indptr[x] or values[y] < values[low[x]]:
                low[x] = y
            if e == indptr[x] or values[y] > values[high[x]]:
                high[x] = y
    return low, high
