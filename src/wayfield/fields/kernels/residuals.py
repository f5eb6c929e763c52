"""Residuals of the harmonic equation and of the AMLE's, and barriers held by the labels.

`balance` evaluates B_x(v) = Σ_y (v_y − v_x) / ℓ_xy of a field v = high + low held as an unevaluated
sum of two doubles, and bounds its own rounding error. Differences of the high parts are exact
(Knuth's two-sum), quotients carry their remainder (Dekker's product), and the quotients are summed
with the error of every addition kept; what is left is small, is added in plain doubles, and is
off by at most

    (deg + 8) · 2u · Σ |small parts|  +  2u · |B_x|  +  underflow,      u = 2⁻⁵³,

which holds a priori (Ogita, Rump, Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput.
26(6), 2005). An overflow anywhere ends in a NaN, which no sign test passes.
"""

from __future__ import annotations

import numpy as np

from ...numerics.csr import Arcs
from ...numerics.doubledouble import UNDERFLOW, UNIT_ROUNDOFF, Pair, add, two_product, two_sum
from ...numerics.jit import njit
from ...typing import BoolArray, FloatArray, IntArray


@njit(cache=True, nogil=True)
def balance(
    arcs: Arcs, vertices: IntArray, high: FloatArray, low: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return Σ_y (v_y − v_x) / ℓ at each of `vertices`, and a bound on its error."""
    value = np.empty(vertices.size)
    bound = np.empty(vertices.size)
    for i in range(vertices.size):
        x = vertices[i]
        total = 0.0
        small = 0.0
        size = 0.0
        lost = 0.0
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            y = arcs.indices[e]
            # high parts exactly; low parts are smaller by 2⁵³ and may be rounded
            quotient, rest = two_sum(high[y], -high[x])
            difference = low[y] - low[x]
            part = abs(rest) + abs(difference)
            rest += difference
            if arcs.lengths[e] != 1.0:
                length = arcs.lengths[e]
                # the quotient's remainder, divided in turn, is the rest of its digits
                numerator = quotient
                quotient = numerator / length
                product, error = two_product(quotient, length)
                remainder = (numerator - product) - error
                part = (part + abs(remainder)) / length
                rest = (rest + remainder) / length
                # an a-priori bound on underflow, whether there was any or not
                lost += UNDERFLOW + UNDERFLOW / length
            total, error = two_sum(total, quotient)
            small += rest + error
            size += part + abs(error)
        degree = arcs.indptr[x + 1] - arcs.indptr[x]
        value[i] = total + small
        # `size` adds up magnitudes, so cancellation in `small` does not hide its rounding
        slack = (degree + 8) * size + abs(value[i])
        bound[i] = 2.0 * UNIT_ROUNDOFF * slack + 2.0 * lost
    return value, bound


@njit(cache=True, nogil=True)
def imbalance(
    out: Arcs,
    into: Arcs,
    fixed: BoolArray,
    unit: bool,
    values: FloatArray,
) -> float:
    """Return the largest step that would balance a vertex that is not `fixed` on its own.

    Its neighbours keep their values. On a directed graph, slopes up are those of arcs into the
    vertex, and slopes down those of arcs out of it. Neighbours that are NaN do not count.
    """
    largest = 0.0
    for x in range(values.size):
        if fixed[x]:
            continue
        if unit:
            most = least = values[x]
            for e in range(into.indptr[x], into.indptr[x + 1]):
                most = max(most, values[into.indices[e]])
            for e in range(out.indptr[x], out.indptr[x + 1]):
                least = min(least, values[out.indices[e]])
            step = 0.5 * abs((most - values[x]) - (values[x] - least))
        else:
            step = abs(balance_between(out, into, values, x) - values[x])
        largest = max(largest, step)
    return largest


@njit(cache=True, nogil=True, inline="always")
def balance_between(out: Arcs, into: Arcs, values: FloatArray, x: int) -> float:
    """Return the balanced value at x: slopes up on the arcs into x, down on those out of it.

    Where no slope is positive any value between the two sides will do, and the nearest is taken;
    where one side is empty, the value itself.
    """
    # as in `midrange.balance`: each pass finds a pair of neighbours with a steeper slope, or ends
    slope = -1.0
    steeper = 0.0
    while steeper > slope:
        slope = steeper
        up = down = -1
        most = -np.inf
        least = np.inf
        for e in range(into.indptr[x], into.indptr[x + 1]):
            value = values[into.indices[e]] - slope * into.lengths[e]
            if value > most:
                most = value
                up = e
        for e in range(out.indptr[x], out.indptr[x + 1]):
            value = values[out.indices[e]] + slope * out.lengths[e]
            if value < least:
                least = value
                down = e
        if up < 0 or down < 0:
            return values[x]
        high, low = values[into.indices[up]], values[out.indices[down]]
        if high <= low:
            return min(max(values[x], high), low)
        steeper = (high - low) / (into.lengths[up] + out.lengths[down])
    share = out.lengths[down] / (into.lengths[up] + out.lengths[down])
    return float(low + (high - low) * share)


@njit(cache=True, nogil=True)
def held_by(
    labels: Pair,
    labelled: BoolArray,
    absent: BoolArray,
    component: IntArray,
    ends: IntArray,
    base: FloatArray,
    barrier: Pair,
    side: int,
) -> tuple[FloatArray, FloatArray]:
    """Return a barrier minus its base, clipped to its component's extreme label at `ends`.

    It is the label where one is given, and 0 where it is `absent`. The parts do not overlap. Labels
    minus their base must fit into two doubles.
    """
    high, low = np.zeros(base.size), np.zeros(base.size)
    for x in range(base.size):
        if absent[x]:
            continue
        # start with the bound: the label itself, or the extreme label of the component
        y = x if labelled[x] else ends[component[x]]
        near, rest = two_sum(labels.high[y], -base[x])
        high[x], low[x] = add(near, rest, labels.low[y], 0.0)
        if labelled[x]:
            continue
        near, rest = two_sum(barrier.high[x], barrier.low[x])
        if side * near < side * high[x] or (near == high[x] and side * rest < side * low[x]):
            high[x], low[x] = near, rest
    return high, low
