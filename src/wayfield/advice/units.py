"""Whether measured costs and lengths are in the same unit: one rule, one question.

If the ratios of costs to graph distances are far from 1, the units may differ. Then nothing on the
graph can be concluded from the costs, and the user is asked. The question offers a round ratio of
common units if one is near.
"""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import NDArray

from ..errors import Message, Option
from ..graphs.labels import Labels
from ..typing import FloatArray

OTHERS = 0.1
"""Share of the ratios that may be on the other side."""
SAME_UNIT = (1.0 / 3.0, 3.0)
"""Ratios of costs to graph distances within this range are consistent with one unit."""
ROUND = (3.6, 60.0, 1000.0, 3600.0)
"""km/h and m/s, minutes and seconds, kilometres and metres, hours and seconds."""
NEAR = 1.5
"""A measured ratio within this factor of a round one may be that one."""


def unit_question(costs: FloatArray, distances: FloatArray, what: str = "labels") -> Message | None:
    """Return the question about units, or None if costs and distances are consistent with one.

    Another unit scales all ratios alike. So it is asked about only if nearly all of them are far
    from 1, on the same side: false edges and slow places change some ratios, but not the least.

    Examples
    --------
    >>> print(unit_question(np.array([59.0, 61.0]), np.array([1.0, 1.0])))
    labels are 59 times the graph's own distances: are both in the same unit? If not, multiply ...
    >>> unit_question(np.array([1.4, 2.0, 30.0, 30.0]), np.ones(4))
    >>> unit_question(np.zeros(4), np.ones(4))
    """
    ratios = costs / distances
    if not ratios.size:
        return None
    low, high = np.quantile(ratios, [OTHERS, 1.0 - OTHERS])
    if low <= SAME_UNIT[1] and not 0.0 <= high < SAME_UNIT[0]:
        return None
    middle = median_ratio(costs, distances)
    if middle <= 0.0:  # no unit makes such costs out of distances
        return None
    unit = round_unit(middle)
    call = Option("length_unit", unit, python=f"multiply the lengths by {unit:.3g}")
    said = f"{what} are {middle:.3g} times the graph's own distances"
    return Message(f"{said}: are both in the same unit? If not, ", call)


def above_goal(labels: Labels, goal: int, distance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the usable labels above the goal's, and their distances to it."""
    at, own = usable(labels, distance), labels.values[labels.vertices == goal]
    base = own[0] if own.size else 0.0
    return labels.values[at] - base, distance[labels.vertices[at]]


def usable(labels: Labels, distance: FloatArray) -> NDArray[np.int64]:
    """Return the positions of the labels that can reach the goal, without the goal's own."""
    away = distance[labels.vertices]
    return np.flatnonzero(np.isfinite(away) & (away > 0.0))


def median_ratio(above: FloatArray, below: FloatArray) -> float:
    """Return the c that minimises Σ |above - c below|: the weighted median of the ratios.

    Examples
    --------
    >>> median_ratio(np.array([2.0, 4.0, 9.0]), np.array([1.0, 2.0, 3.0]))
    2.0
    """
    ratio = above / below
    order = np.argsort(ratio, kind="stable")
    weight = np.cumsum(below[order])  # long trips count more
    return float(ratio[order][np.searchsorted(weight, 0.5 * weight[-1])])


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
