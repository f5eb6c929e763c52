"""Double-double arithmetic: a number is an unevaluated sum ``high + low``, about 32 digits.

Fields of them are corrected, and rounded to doubles. A field v = high + low stands for
u = offset + scale · v, where the scale is a power of two. `rounded` and `enclose` give u back, to
nearest or outward, and `beyond` does so with barriers that are measured from a field of doubles.

With u = 2⁻⁵³, and short of overflow and underflow, the relative errors are at most

- ``two_sum``, ``two_product``: none, they are exact;
- ``add``: 3 u² + 13 u³ (also under cancellation);
- ``multiply_double``: 2 u² (1 + 4 u);
- ``divide_double``: 3.5 u²;
- ``divide``: 15 u² + 56 u³.

The proofs are in Joldes, Muller and Popescu, "Tight and rigorous error bounds for basic building
blocks of double-word arithmetic", ACM TOMS 44(2), 2017 (their AccurateDWPlusDW, DWTimesFP3,
DWDivFP3 and DWDivDW2). `DD_ERROR` is a common bound with room to spare.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from ..typing import FloatArray, IntArray
from .jit import njit

DD: TypeAlias = tuple[float, float]

UNIT_ROUNDOFF = 2.0**-53
"""Largest relative error of one operation in doubles."""
EPSILON = 2.0 * UNIT_ROUNDOFF
"""Distance from 1 to the next double."""
FEW_ROUNDINGS = 2.0**-50
"""More than the relative error of a few operations in doubles."""
SUCCESSOR = UNIT_ROUNDOFF * (1.0 + EPSILON)
"""c + SUCCESSOR·|c| + UNDERFLOW rounds to a double beyond c (Rump and others, BIT 49(2), 2009)."""
UNDERFLOW = 2.0**-1060
"""More than underflow can lose in a quotient, or in scaling a value, and in what is left over."""
DD_ERROR = 2.0**-101
"""Bound on the relative error of any one operation of this module."""


class Pair(NamedTuple):
    """A field of double-doubles: at every vertex the unevaluated sum high + low."""

    high: FloatArray
    low: FloatArray


@njit(cache=True, inline="always")
def two_sum(a: float, b: float) -> DD:
    """Return the sum of two doubles, exactly (Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@njit(cache=True, inline="always")
def fast_two_sum(a: float, b: float) -> DD:
    """Return the sum of two doubles, exactly, if |a| >= |b| or a = 0 (Dekker)."""
    s = a + b
    return s, b - (s - a)


@njit(cache=True, inline="always")
def two_product(a: float, b: float) -> DD:
    """Return the product of two doubles, exactly (Dekker and Veltkamp)."""
    p = a * b
    # 2²⁷ + 1 splits a double into two halves of at most 26 bits, whose products are exact
    c = 134217729.0 * a
    a_high = c - (c - a)
    a_low = a - a_high
    c = 134217729.0 * b
    b_high = c - (c - b)
    b_low = b - b_high
    return p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low


@njit(cache=True, inline="always")
def add(a_high: float, a_low: float, b_high: float, b_low: float) -> DD:
    """Return the sum of two double-doubles."""
    # the low parts are added exactly too: without that, cancellation could leave no correct digit
    s_high, s_low = two_sum(a_high, b_high)
    t_high, t_low = two_sum(a_low, b_low)
    s_high, s_low = fast_two_sum(s_high, s_low + t_high)
    return fast_two_sum(s_high, t_low + s_low)


@njit(cache=True, inline="always")
def multiply_double(a_high: float, a_low: float, b: float) -> DD:
    """Return a double-double times a double."""
    p_high, p_low = two_product(a_high, b)
    return fast_two_sum(p_high, p_low + a_low * b)


@njit(cache=True, inline="always")
def divide_double(a_high: float, a_low: float, b: float) -> DD:
    """Return a double-double divided by a double."""
    q = a_high / b
    p_high, p_low = two_product(q, b)
    # what q leaves over of a_high is a double, exactly; divided in turn it gives the low part
    rest = (a_high - p_high) - p_low + a_low
    return fast_two_sum(q, rest / b)


@njit(cache=True, inline="always")
def multiply(a_high: float, a_low: float, b_high: float, b_low: float) -> DD:
    """Return a double-double times a double-double."""
    p_high, p_low = two_product(a_high, b_high)
    return fast_two_sum(p_high, p_low + (a_high * b_low + a_low * b_high))


@njit(cache=True, inline="always")
def divide(a_high: float, a_low: float, b_high: float, b_low: float) -> DD:
    """Return a double-double divided by a double-double."""
    q = a_high / b_high
    p_high, p_low = multiply_double(b_high, b_low, q)
    rest = (a_high - p_high) + (a_low - p_low)
    return fast_two_sum(q, rest / b_high)


# ------------------------------------------------------------------ fields


def sum_and_error(a: FloatArray, b: FloatArray | float) -> tuple[FloatArray, FloatArray]:
    """Return a + b rounded, and the exact rounding error (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def outward_sum(a: FloatArray, b: FloatArray | float, sign: float) -> FloatArray:
    """Return the sum rounded down (`sign` -1) or up (+1), unless it is exact or not finite."""
    with np.errstate(invalid="ignore"):  # inf and NaN have no remainder
        total, error = sum_and_error(a, b)
    return np.where(error * sign > 0.0, np.nextafter(total, sign * np.inf), total)


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
    tiny = UNDERFLOW * max(1.0, scale)
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
        rounding = EPSILON * abs(small)
        # what rounding took off is known, so the bounds are measured from the value exactly
        value, rest = two_sum(near, small)
        values[x] = value
        least, error = two_sum(value, rest - (rounding + scale * below[x]))
        lower[x] = np.nextafter(least, -np.inf) if error < 0.0 else least
        most, error = two_sum(value, rest + (rounding + scale * above[x]))
        upper[x] = np.nextafter(most, np.inf) if error > 0.0 else most


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
        slack = EPSILON * (abs(small) + scale * abs(low))
        value, rest = two_sum(near, small)
        value, error = two_sum(value, rest + side * slack)
        bound[x] = value + (
            side * (SUCCESSOR * abs(value) + UNDERFLOW) if side * error > 0.0 else 0.0
        )
    return bound
