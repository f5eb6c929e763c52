"""Double-double arithmetic: a number is an unevaluated sum ``high + low``, about 32 digits.

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

from ..typing import FloatArray
from .jit import njit

DD: TypeAlias = tuple[float, float]

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
