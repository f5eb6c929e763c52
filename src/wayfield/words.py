"""Names, counts, shares and durations as readable text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

PROOF = "proof only if the measured costs are exact"
"""Said with every contradiction between costs and graph."""
TIE = 1e-9
"""Margins below this are rounding."""


def quoted(name: str) -> str:
    """Return a name as it is if it is one word, else quoted; unprintable characters are escaped.

    Examples
    --------
    >>> print(quoted("Bern"), quoted("La Chaux-de-Fonds"), quoted(chr(27) + "[31m"))
    Bern “La Chaux-de-Fonds” “...x1b[31m”
    """
    if re.fullmatch(r"[\w.:/+-]+", name):
        return name
    shown = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
    return f"“{''.join(shown)}”"


def number_of(count: int, things: str, thing: str = "") -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> number_of(1, "labels"), number_of(1200, "vertices", "vertex")
    ('1 label', '1,200 vertices')
    """
    return f"1 {thing or things.removesuffix('s')}" if count == 1 else f"{count:,} {things}"


def percent(share: float) -> str:
    """Return a percentage with three digits; 100 % only for exactly all.

    Examples
    --------
    >>> percent(2 / 3), percent(0.99999999), percent(1.0)
    ('66.7 %', '99.99 %', '100 %')
    """
    text = f"{100 * share:.3g}"
    if text == "100" and share < 1.0:
        text = f"{int(1e4 * share) / 1e2:g}"
    return f"{text} %"


def seconds_text(seconds: float) -> str:
    """Return a duration with two or three digits, in a suitable unit.

    Examples
    --------
    >>> seconds_text(0.00048), seconds_text(0.31), seconds_text(152.3), seconds_text(7261)
    ('0.48 ms', '0.31 s', '152 s', '2 h 1 min')
    """
    if seconds < 0.1:
        return f"{1e3 * seconds:.2g} ms"
    if seconds < 600.0:
        return f"{seconds:.2g} s" if seconds < 99.5 else f"{seconds:.0f} s"
    minutes = round(seconds / 60.0)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def short(number: float) -> str:
    """Return a number with three digits, whole thousands in full.

    Examples
    --------
    >>> short(0.012345), short(-14.44), short(5481.7), short(2.5e9)
    ('0.0123', '-14.4', '5,482', '2.5e+09')
    """
    return f"{number:,.0f}" if 1e3 <= abs(number) < 1e7 else f"{number:.3g}"


def margin_text(margin: float | None) -> str:
    """Return a margin as text: infinite where there is no choice, 0 where only rounding decides."""
    if margin is None or margin == float("inf"):
        return "∞"
    return "0" if abs(margin) < TIE else short(margin)


def against_text(against: Mapping[str, Any], count: int, word: str) -> str:
    """Return how many costs contradict the graph, and by how much; empty if none does."""
    found = []
    for key, size, verbs in (
        ("too_optimistic", "by_up_to", ("exceeds", "exceed")),
        ("too_pessimistic", "over_by_up_to", ("is below", "are below")),
    ):
        if against[key]:
            who = f"{against[key]:,} of {number_of(count, word)} {verbs[against[key] > 1]}"
            most = "∞" if against[size] is None else short(against[size])
            found.append(f"{who} the graph's shortest paths, by up to {most}")
    return "; ".join(found)
