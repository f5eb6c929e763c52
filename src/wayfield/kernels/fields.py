"""Fields held as unevaluated sums of two doubles: correcting them, and rounding them to doubles.

A solver's field v = high + low stands for u = offset + scale · v, where the scale is a power of
two. `rounded` and `enclosed` give u back in doubles, to nearest or outward.
"""

from __future__ import annotations

import numpy as np

from ._jit import njit
from ._types import FloatArray, IntArray
from .doubledouble import Pair, two_sum

UNIT_ROUNDOFF = 2.0**-53
SUCCESSOR = UNIT_ROUNDOFF * (1.0 + 2.0**-52)
"""c + SUCCESSOR·|c| + TINY rounds to a double beyond c (Rump and others, BIT 49(2), 2009)."""
TINY = 2.0**-1060
"""More than underflow can lose in scaling a value, on the way there or back."""


@njit(cache=True, nogil=True)
def corrected(field: Pair, vertices: IntArray, step: FloatArray) -> Pair:
    """Field with `step` added at `vertices`; its two parts do not overlap."""
    high = field.high.copy()
    low = field.low.copy()
    for i in range(vertices.size):
        x = vertices[i]
        # normalised again: otherwise low parts would pile up over the steps
        total, error = two_sum(high[x], step[i])
        high[x], low[x] = two_sum(total, low[x] + error)
    return Pair(high, low)


@njit(cache=True, nogil=True)
def normalised(field: Pair) -> Pair:
    """Return the same field in parts that do not overlap: ordered as they are by high, then low."""
    high, low = np.empty(field.high.size), np.empty(field.high.size)
    for x in range(high.size):
        high[x], low[x] = two_sum(field.high[x], field.low[x])
    return Pair(high, low)


@njit(cache=True, nogil=True)
def rounded(field: Pair, scale: float, offset: float, side: int) -> FloatArray:
    """Offset + scale · field as doubles: to nearest (side 0), surely above (+1) or below (-1)."""
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
def enclosed(
    field: Pair, below: FloatArray, above: FloatArray, scale: float, offset: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Offset + scale · field to nearest, and bounds on that of field − below and field + above.

    Unlike those of `rounded` the bounds step outward only where rounding went inward, so that a
    value which is exact keeps bounds that are equal. Nothing may underflow.
    """
    high, low = field
    values, lower, upper = np.empty(high.size), np.empty(high.size), np.empty(high.size)
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
    return values, lower, upper
