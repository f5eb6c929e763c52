"""Numbers and counts in words."""

from __future__ import annotations


def power(value: float) -> str:
    """Write two digits and a power of ten.

    Examples
    --------
    >>> power(4.4e-16).split()
    ['4.4', '×', '10⁻¹⁶']
    """
    if value == 0:
        return "0"
    digits, exponent = f"{value:.1e}".split("e")
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{digits}\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}10{raised}"


def plural(count: int, noun: str) -> str:
    """Write a count and its noun.

    Examples
    --------
    >>> plural(1, "figure"), plural(1200, "figure")
    ('1 figure', '1,200 figures')
    """
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
