"""Whether measured costs and lengths are in the same unit: one rule, one question.

If the ratio of costs to graph distances is far from 1, the units may differ. Then nothing about the
graph can be concluded from the costs, and the user is asked. The question offers a round ratio of
common units if one is near.
"""

from __future__ import annotations

from math import log

from .errors import Message, Option

SAME_UNIT = (1.0 / 3.0, 3.0)
"""Ratios of costs to graph distances within this range are consistent with one unit."""
ROUND = (3.6, 60.0, 1000.0, 3600.0)
"""km/h and m/s, minutes and seconds, kilometres and metres, hours and seconds."""
NEAR = 1.5
"""A measured ratio within this factor of a round one may be that one."""


def differ_in_unit(ratio: float) -> bool:
    """Whether the ratio of costs to graph distances is far enough from 1 to ask about units."""
    return 0.0 <= ratio < SAME_UNIT[0] or ratio > SAME_UNIT[1]


def unit_question(ratio: float, what: str = "labels") -> Message | None:
    """Return the question about units, or None if costs and distances are consistent with one.

    Examples
    --------
    >>> print(unit_question(59.0))
    labels are 59 times the graph's own distances: are both in the same unit? If not, multiply ...
    >>> unit_question(1.4)
    """
    if not differ_in_unit(ratio):
        return None
    unit = round_unit(ratio)
    call = Option("length_unit", unit, python=f"multiply the lengths by {unit:.3g}")
    said = f"{what} are {ratio:.3g} times the graph's own distances"
    return Message(f"{said}: are both in the same unit? If not, ", call)


def round_unit(ratio: float) -> float:
    """Return the round ratio of units next to a measured one, or that itself if none is near.

    Examples
    --------
    >>> round_unit(59.0), round_unit(0.0003), round_unit(8.0)
    (60.0, 0.0002777777777777778, 8.0)
    """
    if ratio <= 0.0:
        return ratio
    ratios = [*ROUND, *(1.0 / unit for unit in ROUND)]
    nearest = min(ratios, key=lambda unit: abs(log(unit / ratio)))
    return nearest if abs(log(nearest / ratio)) < log(NEAR) else ratio
