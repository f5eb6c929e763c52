"""Decisions compared with the truth: one pass over the arcs per question.

At a state s the true Q-value of an arc s → y is ℓ + V*(y), V* being the cost-to-go; `q` is the
array of them, arc by arc. Two are *equal* if they differ by no more than `relative` times the
larger; infinite ones are equal. A field's own ranking of the same arcs is an array `ranks`, smaller
is better, and equal only where it is the same number.
"""

from __future__ import annotations

from math import inf, nan, sqrt

import numpy as np

from ..numerics.csr import Arcs
from ..numerics.jit import njit
from ..typing import BoolArray, FloatArray, IntArray


@njit(cache=True, nogil=True)
def apart(low: float, high: float, relative: float) -> bool:
    """Whether `high` exceeds `low` by more than rounding: `relative` times `high`."""
    return high * (1.0 - relative) > low


@njit(cache=True, nogil=True)
def order(one: float, other: float, relative: float) -> int:
    """Return -1 if `one` goes first, +1 if `other` does, 0 if they are equal."""
    return int(apart(other, one, relative)) - int(apart(one, other, relative))


# ------------------------------------------------------------------ the truth


@njit(cache=True, nogil=True)
def true_actions(
    arcs: Arcs, truth: FloatArray, goal: int, relative: float
) -> tuple[BoolArray, FloatArray]:
    """Return which arcs are optimal, and the gap from the best Q-value to the next.

    The gap is inf where every arc is optimal and at the goal, where no arc is; NaN where the goal
    cannot be reached, where none is either.
    """
    indptr, heads, lengths = arcs.indptr, arcs.indices, arcs.lengths
    n = truth.size
    optimal = np.zeros(heads.size, np.bool_)
    gap = np.full(n, inf)
    for x in range(n):
        if x == goal:
            continue
        # two passes over the arcs: which are optimal is known only once the best is
        best = inf
        for e in range(indptr[x], indptr[x + 1]):
            best = min(best, lengths[e] + truth[heads[e]])
        if best == inf:
            gap[x] = nan
            continue
        for e in range(indptr[x], indptr[x + 1]):
            q = lengths[e] + truth[heads[e]]
            if apart(best, q, relative):
                gap[x] = min(gap[x], q - best)
            else:
                optimal[e] = True
    return optimal, gap


@njit(cache=True, nogil=True)
def regrets(
    arcs: Arcs, truth: FloatArray, goal: int, optimal: BoolArray, successor: IntArray
) -> FloatArray:
    """Return the Q-value of the chosen arc less the truth; 0 if it is optimal, and at the goal.

    It is inf where nothing is chosen, NaN where the goal cannot be reached.
    """
    indptr, heads, lengths = arcs.indptr, arcs.indices, arcs.lengths
    n = truth.size
    regret = np.empty(n)
    for x in range(n):
        regret[x] = inf if truth[x] < inf else nan
        for e in range(indptr[x], indptr[x + 1]):
            # no early exit needed: rows are short, and a head comes once
            if heads[e] == successor[x] and truth[x] < inf:
                cost = lengths[e] + truth[heads[e]]
                regret[x] = 0.0 if optimal[e] else cost - truth[x]
    regret[goal] = 0.0
    return regret


@njit(cache=True, nogil=True)
def local_errors(arcs: Arcs, values: FloatArray, truth: FloatArray) -> FloatArray:
    """Return the largest |value - truth| over the heads of each vertex; inf - inf is 0."""
    indptr, heads = arcs.indptr, arcs.indices
    n = truth.size
    error = np.zeros(n)
    for x in range(n):
        for e in range(indptr[x], indptr[x + 1]):
            y = heads[e]
            # compared first: inf − inf would be NaN
            if values[y] != truth[y]:
                error[x] = max(error[x], abs(values[y] - truth[y]))
    return error


@njit(cache=True, nogil=True)
def misranked(indptr: IntArray, ranks: FloatArray, optimal: BoolArray) -> BoolArray:
    """Return where an arc that is not optimal is ranked strictly before all that are."""
    n = indptr.size - 1
    wrong = np.zeros(n, np.bool_)
    for x in range(n):
        best, rival, some = inf, inf, False
        for e in range(indptr[x], indptr[x + 1]):
            if optimal[e]:
                best, some = min(best, ranks[e]), True
            else:
                rival = min(rival, ranks[e])
        # where nothing is optimal nothing can be misranked
        wrong[x] = some and rival < best
    return wrong


# ------------------------------------------------------------------ rankings


@njit(cache=True, nogil=True)
def neighbour_orders(
    indptr: IntArray, q: FloatArray, ranks: FloatArray, relative: float
) -> tuple[FloatArray, IntArray]:
    """Return Kendall's τ-b of two rankings of each vertex's arcs, and their inversions.

    τ-b is NaN where fewer than two arcs are ranked, or a ranking ties them all. For inversions
    ties are broken by index, in both rankings.
    """
    n = indptr.size - 1
    tau = np.full(n, nan)
    inversions = np.zeros(n, np.int64)
    for x in range(n):
        # every pair of arcs: degrees are small, so sorting would not pay
        score, truth_untied, field_untied, inverted = 0, 0, 0, 0
        for i in range(indptr[x], indptr[x + 1]):
            for j in range(i + 1, indptr[x + 1]):
                by_truth = order(q[i], q[j], relative)
                by_field = order(ranks[i], ranks[j], 0.0)
                score += by_truth * by_field
                truth_untied += abs(by_truth)
                field_untied += abs(by_field)
                # i < j: a tie goes to i in both rankings, as an order of −1 does
                inverted += int((by_truth > 0) != (by_field > 0))
        inversions[x] = inverted
        if truth_untied > 0 and field_untied > 0:
            tau[x] = score / sqrt(float(truth_untied) * float(field_untied))
    return tau, inversions


@njit(cache=True, nogil=True)
def small_gap_pairs(
    indptr: IntArray, q: FloatArray, widths: FloatArray, relative: float
) -> IntArray:
    """Return M_s(η): pairs of arcs out of s with true Q-values at most η = `widths`[s] apart."""
    n = indptr.size - 1
    pairs = np.zeros(n, np.int64)
    for x in range(n):
        count, width = 0, widths[x]
        for i in range(indptr[x], indptr[x + 1]):
            for j in range(i + 1, indptr[x + 1]):
                low, high = min(q[i], q[j]), max(q[i], q[j])
                # two infinite values are no further apart than any width
                count += int(not apart(low + width, high, relative))
        pairs[x] = count
    return pairs


# ------------------------------------------------------------------ operators


@njit(cache=True, nogil=True)
def operator_residuals(
    arcs: Arcs, truth: FloatArray, known: BoolArray, relative: float
) -> tuple[IntArray, FloatArray, FloatArray, BoolArray]:
    """Return how the true cost fits its equations, by slopes (V*(y) - V*(x)) / ℓ.

    Returns, per vertex: how many slopes are +1, strictly between and -1, an (n, 3) array; the
    midrange residual, half the sum of the largest and the smallest slope; the averaging residual,
    Σ slope / Σ (1 / ℓ); and whether the latter is zero but for rounding. 0, NaN and False where
    slopes are not `known` or there is no arc.
    """
    indptr, heads, lengths = arcs.indptr, arcs.indices, arcs.lengths
    n = truth.size
    signs = np.zeros((n, 3), np.int64)
    midrange, average = np.full(n, nan), np.full(n, nan)
    balanced = np.zeros(n, np.bool_)
    for x in range(n):
        begin, end = indptr[x], indptr[x + 1]
        here = truth[x]
        if begin == end or not known[x]:
            continue
        steepest, lowest, total, conductance, blur = -inf, inf, 0.0, 0.0, 0.0
        for e in range(begin, end):
            there, length = truth[heads[e]], lengths[e]
            slope = (there - here) / length
            # a true cost rises by at most ℓ along an arc: within rounding of that, the slope is ±1
            # exactly
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
            # how far rounding of the truth alone can move the sum of slopes
            blur += relative * max(here, there) / length
        midrange[x] = 0.5 * (steepest + lowest)
        average[x] = total / conductance
        balanced[x] = abs(total) <= blur
    return signs, midrange, average, balanced


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
