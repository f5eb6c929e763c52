"""Decisions compared with the truth: one pass over the arcs per question.

At a state s the true Q-value of an arc s → y is ℓ + V*(y), V* being the cost-to-go. Two of them
are *equal* if they differ by no more than `relative` times the larger; infinite ones are equal.
A field u ranks the same arcs by ℓ + u(y), or by u(y) alone on unit lengths, as the planner does,
so that adding 1 rounds nothing away; its values are equal only if they are the same number.
"""

from __future__ import annotations

from math import inf, nan, sqrt

import numpy as np
from numba import njit

from ._types import BoolArray, FloatArray, IntArray
from .csr import Arcs


@njit(cache=True, nogil=True)
def apart(low: float, high: float, relative: float) -> bool:
    """Whether `high` exceeds `low` by more than rounding: `relative` times `high`."""
    return high > low and (high == inf or high - low > relative * high)


@njit(cache=True, nogil=True)
def order(one: float, other: float, relative: float) -> int:
    """-1 if `one` goes first, +1 if `other` does, 0 if they are equal."""
    if apart(one, other, relative):
        return -1
    return 1 if apart(other, one, relative) else 0


@njit(cache=True, nogil=True)
def toll(arcs: Arcs, values: FloatArray, e: int, unit: bool) -> float:
    """Return what a field ranks the arc in slot `e` by; smaller is better."""
    there = values[arcs.indices[e]]
    return there if unit else arcs.lengths[e] + there


@njit(cache=True, nogil=True)
def least_toll(arcs: Arcs, values: FloatArray, x: int) -> float:
    """Least ℓ + value over the arcs out of `x`; inf if there is none."""
    least = inf
    for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
        least = min(least, arcs.lengths[e] + values[arcs.indices[e]])
    return least


# ------------------------------------------------------------------ the truth


@njit(cache=True, nogil=True)
def worst_bellman(arcs: Arcs, truth: FloatArray, goal: int, relative: float) -> tuple[int, float]:
    """Vertex where truth and the least ℓ + truth(y) differ most, and the latter; -1 if equal."""
    worst, other, excess = -1, 0.0, 0.0
    for x in range(truth.size):
        if x == goal:
            continue
        best = least_toll(arcs, truth, x)
        low, high = min(best, truth[x]), max(best, truth[x])
        if apart(low, high, relative) and high - low > excess:
            worst, other, excess = x, best, high - low
    return worst, other


@njit(cache=True, nogil=True)
def true_actions(
    arcs: Arcs, truth: FloatArray, goal: int, relative: float
) -> tuple[BoolArray, FloatArray]:
    """Which arcs are optimal, and the gap from the best Q-value to the best that is not optimal.

    The gap is inf where every arc is optimal and at the goal, where no arc is; NaN where the goal
    cannot be reached, where none is either.
    """
    n = truth.size
    optimal = np.zeros(arcs.indices.size, np.bool_)
    gap = np.full(n, inf)
    for x in range(n):
        if x == goal:
            continue
        best = least_toll(arcs, truth, x)
        if best == inf:
            gap[x] = nan
            continue
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            q = arcs.lengths[e] + truth[arcs.indices[e]]
            if apart(best, q, relative):
                gap[x] = min(gap[x], q - best)
            else:
                optimal[e] = True
    return optimal, gap


@njit(cache=True, nogil=True)
def regrets(
    arcs: Arcs, truth: FloatArray, goal: int, optimal: BoolArray, successor: IntArray
) -> FloatArray:
    """Return the true Q-value of the chosen arc less the best; 0 if optimal, and at the goal.

    It is inf where nothing is chosen, NaN where the goal cannot be reached.
    """
    n = truth.size
    regret = np.full(n, inf)
    for x in range(n):
        best = least_toll(arcs, truth, x)
        if best == inf:
            regret[x] = nan
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            if arcs.indices[e] == successor[x] and best < inf:
                q = arcs.lengths[e] + truth[arcs.indices[e]]
                regret[x] = 0.0 if optimal[e] else q - best
    regret[goal] = 0.0
    return regret


@njit(cache=True, nogil=True)
def local_errors(arcs: Arcs, values: FloatArray, truth: FloatArray) -> FloatArray:
    """Largest |value - truth| over the heads of the arcs out of every vertex; inf - inf is 0."""
    n = truth.size
    error = np.zeros(n)
    for x in range(n):
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            y = arcs.indices[e]
            if values[y] != truth[y]:
                error[x] = max(error[x], abs(values[y] - truth[y]))
    return error


@njit(cache=True, nogil=True)
def misranked(arcs: Arcs, values: FloatArray, optimal: BoolArray, unit: bool) -> BoolArray:
    """Where the field puts an arc that is not optimal strictly before all that are."""
    n = values.size
    wrong = np.zeros(n, np.bool_)
    for x in range(n):
        best, rival, some = inf, inf, False
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            cost = toll(arcs, values, e, unit)
            if optimal[e]:
                best, some = min(best, cost), True
            else:
                rival = min(rival, cost)
        wrong[x] = some and rival < best
    return wrong


# ------------------------------------------------------------------ rankings


@njit(cache=True, nogil=True)
def neighbour_orders(
    arcs: Arcs, values: FloatArray, truth: FloatArray, relative: float, unit: bool
) -> tuple[FloatArray, IntArray]:
    """Kendall's τ-b of the two rankings of the arcs out of every vertex, and their inversions.

    τ-b is NaN where fewer than two arcs are ranked, or a ranking ties them all. For inversions
    ties are broken by index, in both rankings.
    """
    n = truth.size
    tau = np.full(n, nan)
    inversions = np.zeros(n, np.int64)
    for x in range(n):
        score, truth_untied, field_untied = 0, 0, 0
        for i in range(arcs.indptr[x], arcs.indptr[x + 1]):
            true_i = arcs.lengths[i] + truth[arcs.indices[i]]
            field_i = toll(arcs, values, i, unit)
            for j in range(i + 1, arcs.indptr[x + 1]):
                true_j = arcs.lengths[j] + truth[arcs.indices[j]]
                field_j = toll(arcs, values, j, unit)
                by_truth = order(true_i, true_j, relative)
                by_field = order(field_i, field_j, 0.0)
                score += by_truth * by_field
                truth_untied += by_truth != 0
                field_untied += by_field != 0
                inversions[x] += (by_truth > 0) != (by_field > 0)
        if truth_untied > 0 and field_untied > 0:
            tau[x] = score / sqrt(float(truth_untied) * float(field_untied))
    return tau, inversions


@njit(cache=True, nogil=True)
def small_gap_pairs(arcs: Arcs, truth: FloatArray, widths: FloatArray, relative: float) -> IntArray:
    """M_s(η): pairs of arcs out of s whose true Q-values differ by at most η = `widths`[s]."""
    n = truth.size
    count = np.zeros(n, np.int64)
    for x in range(n):
        for i in range(arcs.indptr[x], arcs.indptr[x + 1]):
            one = arcs.lengths[i] + truth[arcs.indices[i]]
            for j in range(i + 1, arcs.indptr[x + 1]):
                other = arcs.lengths[j] + truth[arcs.indices[j]]
                low, high = min(one, other), max(one, other)
                slack = relative * high if high < inf else 0.0
                if low == high or high - low <= widths[x] + slack:
                    count[x] += 1
    return count


# ------------------------------------------------------------------ operators


@njit(cache=True, nogil=True)
def operator_residuals(
    arcs: Arcs, truth: FloatArray, relative: float
) -> tuple[IntArray, FloatArray, FloatArray, BoolArray]:
    """How the true cost sits among its neighbours' values, by slopes (V*(y) - V*(x)) / ℓ.

    Returns, per vertex: how many slopes are +1, strictly between and -1, an (n, 3) array; the
    midrange residual, half the sum of the largest and the smallest slope; the averaging residual,
    Σ slope / Σ (1 / ℓ); and whether the latter is zero but for rounding. NaN and False where the
    cost is infinite or there is no arc.
    """
    n = truth.size
    signs = np.zeros((n, 3), np.int64)
    midrange, average = np.full(n, nan), np.full(n, nan)
    balanced = np.zeros(n, np.bool_)
    for x in range(n):
        begin, end = arcs.indptr[x], arcs.indptr[x + 1]
        here = truth[x]
        if begin == end or here == inf:
            continue
        steepest, lowest, total, conductance, blur = -inf, inf, 0.0, 0.0, 0.0
        for e in range(begin, end):
            there, length = truth[arcs.indices[e]], arcs.lengths[e]
            slope = (there - here) / length
            if not apart(there, here + length, relative):
                signs[x, 0] += 1
                slope = 1.0
            elif not apart(here, there + length, relative):
                signs[x, 2] += 1
                slope = -1.0
            else:
                signs[x, 1] += 1
            steepest, lowest = max(steepest, slope), min(lowest, slope)
            total += slope
            conductance += 1.0 / length
            blur += relative * max(here, there) / length
        midrange[x] = 0.5 * (steepest + lowest)
        average[x] = total / conductance
        balanced[x] = abs(total) <= blur
    return signs, midrange, average, balanced
