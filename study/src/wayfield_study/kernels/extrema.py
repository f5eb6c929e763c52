"""What a field does around a vertex: extreme neighbours, slopes in and out, midrange residuals."""

from __future__ import annotations

from math import inf

import numpy as np

from wayfield.kernels._jit import njit
from wayfield.kernels._types import BoolArray, FloatArray, IntArray
from wayfield.kernels.csr import Arcs
from wayfield.kernels.midrange import balance, midrange


@njit(cache=True, nogil=True)
def neighbour_range(
    arcs: Arcs, lower: FloatArray, upper: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the least `lower` and largest `upper` over the heads; inf and -inf if none.

    With the same field for both, the least and the largest neighbour. Heads whose upper value is
    infinite or NaN take no part.
    """
    n = arcs.indptr.size - 1
    least = np.full(n, inf)
    most = np.full(n, -inf)
    for x in range(n):
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            y = arcs.indices[e]
            # false for NaN as well
            if upper[y] < inf:
                least[x] = min(least[x], lower[y])
                most[x] = max(most[x], upper[y])
    return least, most


@njit(cache=True, nogil=True)
def midrange_residuals(arcs: Arcs, fixed: BoolArray, unit: bool, values: FloatArray) -> FloatArray:
    """Return update minus value at every vertex that is not `fixed`; 0 at those that are.

    The update is the value at which the steepest slopes up and down agree; see `midrange`.
    """
    residual = np.zeros(values.size)
    for x in range(values.size):
        if not fixed[x]:
            update = midrange(arcs, values, x) if unit else balance(arcs, values, x)
            residual[x] = update - values[x]
    return residual


@njit(cache=True, nogil=True)
def deficits(arcs: Arcs, reverse: Arcs, values: FloatArray, left_out: BoolArray) -> FloatArray:
    """Return the steepest slope out of each vertex less the steepest into it.

    Given as the change of value that balances the two arcs, on unit lengths half of their
    difference. Vertices without a finite value have 0.
    """
    n = arcs.indptr.size - 1
    deficit = np.zeros(n)
    for x in range(n):
        if not values[x] < inf:
            continue
        fall, behind = 0.0, 0.0
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            slope = (values[x] - values[arcs.indices[e]]) / arcs.lengths[e]
            if slope > fall:
                fall, behind = slope, arcs.lengths[e]
        rise, ahead = 0.0, 0.0
        for e in range(reverse.indptr[x], reverse.indptr[x + 1]):
            y = reverse.indices[e]
            # a label left out keeps its own arcs down; only what it gives to x is ignored
            if left_out[y] or not values[y] < inf:
                continue
            slope = (values[y] - values[x]) / reverse.lengths[e]
            if slope > rise:
                rise, ahead = slope, reverse.lengths[e]
        behind, ahead = behind or ahead, ahead or behind  # where only one way there is a slope
        if behind > 0.0:
            deficit[x] = (fall - rise) * (behind * ahead / (behind + ahead))
    return deficit


@njit(cache=True, nogil=True)
def on_geodesics(arcs: Arcs, cost: FloatArray, sources: IntArray, slack: float) -> BoolArray:
    """Return which vertices lie on a cheapest path from a source to the goal.

    An arc x → y is on one if ℓ + cost(y) = cost(x), up to the relative `slack`.
    """
    marked = np.zeros(cost.size, np.bool_)
    stack = np.empty(cost.size, np.int64)
    size = 0
    for s in sources:
        if not marked[s] and cost[s] < inf:
            marked[s] = True
            stack[size] = s
            size += 1
    while size > 0:
        size -= 1
        x = stack[size]
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            y = arcs.indices[e]
            through = arcs.lengths[e] + cost[y]
            # a strict fall of the cost too: an arc shorter than the slack would pass for optimal
            # both ways
            if not marked[y] and cost[y] < cost[x] and through <= cost[x] + slack * through:
                marked[y] = True
                stack[size] = y
                size += 1
    return marked
