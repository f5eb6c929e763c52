"""Numbers to the paper's own precision, with signs and powers that read well."""

from __future__ import annotations

import math
from fractions import Fraction

from ..report.text import power
from .figures import Figure

_LARGEST, _ROUNDING = 1000, 1e-12
"""Denominators of the fractions that are written as such, and how close a number must be."""


def number(value: float, figure: Figure) -> str:
    r"""Write a number to the precision of the paper's, a fraction as a fraction.

    Examples
    --------
    >>> number(0.97049, Figure("", "", "", "", "0.970", "share"))
    '0.970'
    >>> number(4 / 3, Figure("", "", "", "", "4/3", "exact"))
    '4/3'
    >>> number(0.0557, Figure("", "", "", "", "5.5e-2", "residual"))
    '5.6\xa0×\xa010⁻²'
    """
    tiny = 0 < abs(value) < figure.unit and figure.kind in ("coarse", "residual")
    if "e" in figure.printed or tiny:
        return power(value)
    near = Fraction(value).limit_denominator(_LARGEST)
    if not figure.unit and abs(near - Fraction(value)) < _ROUNDING:
        return str(near).replace("-", "−")
    decimals = max(0, -round(math.log10(figure.unit))) if figure.unit else 3
    return f"{value:,.{decimals}f}".replace("-", "−")


def as_printed(figure: Figure) -> str:
    """Write the paper's number as it has it, with signs and powers that read well.

    Examples
    --------
    >>> as_printed(Figure("", "", "", "", "-0.0239", "order"))
    '−0.0239'
    """
    if "e" in figure.printed:
        return power(figure.value)
    return figure.printed.replace("-", "−")


def signed(value: float, figure: Figure) -> str:
    """Write a difference with its sign, zero without.

    Examples
    --------
    >>> signed(-0.0994, Figure("", "", "", "", "0.970", "share"))
    '−0.099'
    """
    text = number(abs(value), figure)
    if not any(digit in "123456789" for digit in text):
        return text
    return ("+" if value > 0 else "−") + text
