"""Rounding outward: bounds that stay bounds when they become doubles."""

from __future__ import annotations

import numpy as np

from ..kernels._types import FloatArray


def two_sum(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sum of two doubles as a double and its remainder, exactly (Knuth)."""
    with np.errstate(invalid="ignore"):
        total = a + b
        part = total - a
        return total, (a - (total - part)) + (b - part)


def sum_below(a: FloatArray, b: FloatArray) -> FloatArray:
    """Largest double that is not above a + b."""
    total, rest = two_sum(a, b)
    return np.where(rest < 0.0, np.nextafter(total, -np.inf), total)


def sum_above(a: FloatArray, b: FloatArray) -> FloatArray:
    """Least double that is not below a + b."""
    return -sum_below(-a, -b)
