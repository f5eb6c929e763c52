"""Interval odds: the most or the least that a choice can come to, with a bound on the rounding.

Outcome e of a choice has odds between ``low[e]`` and ``high[e]``, which sum to 1. The extreme of
Σ p x over such odds gives every outcome its least odds, and what is left to the outcomes with the
largest x (or the smallest), as far as their bounds allow.
"""

from __future__ import annotations

import numpy as np

from ._jit import njit
from ._types import BoolArray, FloatArray, IntArray
from .doubledouble import two_sum

ROUNDING = 2.0**-53
FEW = 24
"""Up to so many outcomes are sorted by insertion."""
ONE = 1.0 - 2.0**-48
"""Bounds that sum to this count as 1: thirds and tenths are rounded."""


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
    """Largest (sign 1) or least (-1) Σ p (cost + value there - value here) of every choice.

    And a bound on its error, for values that are finite. `odds` are set to odds that attain it.
    """
    found, error = np.empty(owner.size), np.empty(owner.size)
    for k in range(owner.size):
        begin, end = ptr[k], ptr[k + 1]
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
            j = i if size <= FEW else 0
            while j > 0 and sign * gain[order[j - 1]] < sign * gain[i]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = i
        if size > FEW:
            order = np.argsort(-sign * gain, kind="mergesort")
        for j in range(size):
            if left <= 0.0:
                break
            e = begin + order[j]
            more = min(high[e] - low[e], left)
            odds[e] += more
            left -= more
        total = 0.0
        for i in range(size):
            if odds[begin + i] > 0.0:
                total += odds[begin + i] * gain[i]
        found[k] = total
        # In units of 2⁻⁵³ · largest: 2 for a gain, twice, as it decides the order too; size + 1
        # for what is left of 1; size + 2 for odds, products and their sum.
        error[k] = 4.0 * (size + 4.0) * ROUNDING * largest
    return found, error


@njit(cache=True, nogil=True)
def attainable(ptr: IntArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Upper bounds, with the lower ones in their place where these sum to 1 already."""
    found = high.copy()
    for k in range(ptr.size - 1):
        total = rest = 0.0
        for e in range(ptr[k], ptr[k + 1]):
            total, more = two_sum(total, low[e])
            rest += more
        if total + rest >= ONE:
            found[ptr[k] : ptr[k + 1]] = low[ptr[k] : ptr[k + 1]]
    return found


@njit(cache=True, nogil=True)
def surely_ending(
    ptr: IntArray,
    heads: IntArray,
    owner: IntArray,
    low: FloatArray,
    high: FloatArray,
    fixed: BoolArray,
    worst: bool,
) -> tuple[BoolArray, BoolArray]:
    """States from which a policy ends surely, for all odds (worst) or for some; choices to use.

    A choice can be used if all it can lead to is such a state (worst), or if all of it can be kept
    among them. It makes progress if some of it must, or can, go to states found before. Both are
    searched for backwards, so each search is linear in the number of outcomes.
    """
    n = fixed.size
    # outcomes by the state that they lead to, and choices by the state that has them
    into_ptr, first = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    for e in range(heads.size):
        into_ptr[heads[e] + 1] += 1
    for k in range(owner.size):
        first[owner[k] + 1] += 1
    into_ptr, first = np.cumsum(into_ptr), np.cumsum(first)
    place, into, choice = into_ptr.copy(), np.empty(heads.size, np.int64), np.empty_like(heads)
    for k in range(owner.size):
        for e in range(ptr[k], ptr[k + 1]):
            into[place[heads[e]]] = e
            place[heads[e]] += 1
            choice[e] = k
    # upper bounds of what stays inside (best) or outside what was found (worst), and remainders
    room = np.zeros((owner.size, 2))
    for e in range(heads.size):
        room[choice[e], 0], more = two_sum(room[choice[e], 0], high[e])
        room[choice[e], 1] += more
    alive, usable = np.ones(n, np.bool_), np.ones(owner.size, np.bool_)
    left = np.diff(first)
    stack = np.empty(n, np.int64)
    while True:
        found, away = fixed.copy(), room.copy()
        size = 0
        for s in range(n):
            if fixed[s]:
                stack[size] = s
                size += 1
        while size > 0:
            size -= 1
            y = stack[size]
            for i in range(into_ptr[y], into_ptr[y + 1]):
                e = into[i]
                k = choice[e]
                s = owner[k]
                if found[s] or not usable[k] or high[e] == 0.0:
                    continue
                away[k, 0], more = two_sum(away[k, 0], -high[e])
                away[k, 1] += more
                if not worst or low[e] > 0.0 or away[k, 0] + away[k, 1] < ONE:
                    found[s] = True
                    stack[size] = s
                    size += 1
        for s in range(n):
            if alive[s] and not found[s]:
                alive[s] = False
                stack[size] = s
                size += 1
        if size == 0:
            return alive, usable
        # what leads there cannot be used, and a state without a choice left is lost as well
        while size > 0:
            size -= 1
            x = stack[size]
            usable[first[x] : first[x + 1]] = False
            for i in range(into_ptr[x], into_ptr[x + 1]):
                e = into[i]
                k = choice[e]
                if not usable[k] or high[e] == 0.0:
                    continue
                room[k, 0], more = two_sum(room[k, 0], -high[e])
                room[k, 1] += more
                if worst or low[e] > 0.0 or room[k, 0] + room[k, 1] < ONE:
                    usable[k] = False
                    s = owner[k]
                    left[s] -= 1
                    if left[s] == 0 and alive[s] and not fixed[s]:
                        alive[s] = False
                        stack[size] = s
                        size += 1
