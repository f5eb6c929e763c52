"""Fields stored as unevaluated sums of two doubles: correcting them, and rounding to doubles.

A solver's field v = high + low stands for u = offset + scale · v, where the scale is a power of
two. `rounded` and `enclose` give u back in doubles, to nearest or outward. Barriers (`held_by`,
`beyond`) are measured from a field of doubles, their base.
"""

from __future__ import annotations

import numpy as np

from ...numerics.csr import Arcs
from ...numerics.doubledouble import Pair, add, two_sum
from ...numerics.jit import njit
from ...typing import BoolArray, FloatArray, IntArray

UNIT_ROUNDOFF = 2.0**-53
SUCCESSOR = UNIT_ROUNDOFF * (1.0 + 2.0**-52)
"""c + SUCCESSOR·|c| + TINY rounds to a double beyond c (Rump and others, BIT 49(2), 2009)."""
TINY = 2.0**-1060
"""More than underflow can lose in scaling a value, on the way there or back."""


@njit(cache=True, nogil=True)
def corrected(field: Pair, vertices: IntArray, step: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the parts of the field with `step` added at `vertices`; they do not overlap."""
    high = field.high.copy()
    low = field.low.copy()
    for i in range(vertices.size):
        x = vertices[i]
        # normalised again: otherwise low parts would pile up over the steps
        total, error = two_sum(high[x], step[i])
        high[x], low[x] = two_sum(total, low[x] + error)
    return high, low


@njit(cache=True, nogil=True)
def rounded(field: Pair, scale: float, offset: float, side: int) -> FloatArray:
    """Return offset + scale · field as doubles: nearest (side 0), above (+1) or below (-1)."""
    high, low = field
    tiny = TINY * max(1.0, scale)
    result = np.empty(high.size)
    for x in range(high.size):
        total, error = two_sum(offset, scale * high[x])
        small = error + scale * low[x]
        if side == 0:
            result[x] = total + small
        else:
            # `small` is off by its own last place, and the sum by half a unit more: stepping on by
            # a whole one covers that whichever way it was rounded
            value = total + (small + side * (2.0 * UNIT_ROUNDOFF * abs(small) + tiny))
            result[x] = value + side * (SUCCESSOR * abs(value) + tiny)
    return result


@njit(cache=True, nogil=True)
def enclose(
    field: Pair,
    below: FloatArray,
    above: FloatArray,
    scale: float,
    offset: float,
    result: tuple[FloatArray, FloatArray, FloatArray],
) -> None:
    """Set values to offset + scale · field, with bounds on field − below and field + above.

    Unlike those of `rounded`, the bounds step outward only where rounding went inward. So an exact
    value keeps equal bounds. Nothing may underflow. `result` receives the values, the lower and the
    upper bounds.
    """
    high, low = field
    values, lower, upper = result
    for x in range(high.size):
        near, rest = two_sum(offset, scale * high[x])
        small = rest + scale * low[x]
        rounding = 2.0**-52 * abs(small)
        # what rounding took off is known, so the bounds are measured from the value exactly
        value, rest = two_sum(near, small)
        values[x] = value
        least, error = two_sum(value, rest - (rounding + scale * below[x]))
        lower[x] = np.nextafter(least, -np.inf) if error < 0.0 else least
        most, error = two_sum(value, rest + (rounding + scale * above[x]))
        upper[x] = np.nextafter(most, np.inf) if error > 0.0 else most


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


@njit(cache=True, nogil=True)
def beyond(base: FloatArray, barrier: Pair, scale: float, offset: float, side: int) -> FloatArray:
    """Return the doubles next beyond offset + scale · (base + barrier), below (side -1) or above.

    A number that is a double is returned unchanged. Nothing may underflow.
    """
    bound = np.empty(base.size)
    for x in range(base.size):
        high, rest = two_sum(base[x], barrier.high[x])
        high, low = two_sum(high, rest + barrier.low[x])
        near, rest = two_sum(offset, scale * high)
        small = rest + scale * low
        # the last sums were rounded, by less than this
        slack = 2.0**-52 * (abs(small) + scale * abs(low))
        value, rest = two_sum(near, small)
        value, error = two_sum(value, rest + side * slack)
        bound[x] = value + (side * (SUCCESSOR * abs(value) + TINY) if side * error > 0.0 else 0.0)
    return bound


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
