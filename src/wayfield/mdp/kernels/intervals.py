"""Interval odds: the largest or least mean over a choice's outcomes, with a bound on rounding.

Outcome e of a choice has odds between ``low[e]`` and ``high[e]``, and the odds sum to 1. At the
extreme of Σ p x every outcome has its lower bound. The rest goes to the outcomes with the largest x
(or the smallest), as far as their upper bounds allow.
"""

from __future__ import annotations

import numpy as np

from ...numerics.jit import njit
from ...typing import FloatArray, IntArray

ROUNDING = 2.0**-53
FEW = 24
"""Largest number of outcomes that is sorted by insertion."""


@njit(cache=True, nogil=True)
def extremes(
    ptr: IntArray,
    heads: IntArray,
    owner: IntArray,
    low: FloatArray,
    high: FloatArray,
    costs: FloatArray,
    values: FloatArray,
    sign: float,
    odds: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the largest (sign 1) or least (-1) Σ p (cost + value there - value here) per choice.

    Also return a bound on its rounding error, for finite values. `odds` is set to odds that attain
    the extreme.
    """
    found, error = np.empty(owner.size), np.empty(owner.size)
    for k in range(owner.size):
        begin, end = np.int64(ptr[k]), np.int64(ptr[k + 1])
        size = end - begin
        gain, order = np.empty(size), np.empty(size, np.int64)
        left, largest = 1.0, 0.0
        for i in range(size):
            e = begin + i
            change = values[heads[e]] - values[owner[k]]
            gain[i] = costs[e] + change
            largest = max(largest, costs[e] + abs(change))
            odds[e] = low[e]
            left -= low[e]
            # insertion sort while the gains come in; a long row is sorted below, all at once
            j = i if size <= FEW else 0
            while j > 0 and sign * gain[order[j - 1]] < sign * gain[i]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = i
        if size > FEW:
            order = np.argsort(-sign * gain, kind="mergesort")
        # what the lower bounds leave of 1 goes to the most extreme outcomes first
        for j in range(size):
            if left <= 0.0:
                break
            e = begin + order[j]
            more = min(high[e] - low[e], left)
            odds[e] += more
            left -= more
        total = 0.0
        for i in range(size):
            # an outcome of odds 0 may have an infinite gain: 0 · inf would be NaN
            if odds[begin + i] > 0.0:
                total += odds[begin + i] * gain[i]
        found[k] = total
        # In units of 2⁻⁵³ · largest: 2 for a gain, twice because it also decides the order;
        # size + 1 for what is left of 1; size + 2 for odds, products and their sum.
        error[k] = 4.0 * (size + 4.0) * ROUNDING * largest
    return found, error
