"""Filling: values for the vertices that the equation of the AMLE leaves open.

These are the vertices through which no walk descends. `fill` continues the fixed field over them by
one of two rules. `certainly_filled` tests whether bounds on the fixed values prove that exactly
these vertices are open.
"""

from __future__ import annotations

import numpy as np

from ..numerics.csr import Arcs
from ..typing import BoolArray, FloatArray, IntArray
from .base import Problem
from .kernels import fill as kernels
from .proof import Fill


def fill(problem: Problem, fixed: BoolArray, rule: Fill, values: FloatArray, rounding: int) -> None:
    """Fill `values` where they are not fixed, rounded to nearest (0), down (-1) or up (+1).

    +inf where no fixed vertex can be reached, NaN where no label is connected.
    """
    back, rate = problem.graph.reverse_arcs, 1.0 if rule == "cost" else 0.0
    kernels.fill(back, fixed, values, rate, rounding)
    values[problem.orphaned] = np.nan


def certainly_filled(
    problem: Problem, fixed: BoolArray, lower: FloatArray, upper: FloatArray
) -> bool:
    """Whether no descent leads through the unfixed vertices, and one through every fixed one.

    Then the fixed vertices are exactly those of positive slope: the fixed values, filled flat,
    satisfy the equation everywhere, and two solutions of the equation agree wherever one of them
    has a slope. Only the order of the values matters, so ranks may be passed instead of values.
    """
    descend = kernels.all_descend(problem.graph.arcs, fixed, problem.labelled, lower, upper)
    return descend and not disputed(problem, fixed, lower, upper).size


def disputed(problem: Problem, fixed: BoolArray, lower: FloatArray, upper: FloatArray) -> IntArray:
    """Return fixed vertices at the ends of walks through unfixed ones that may descend.

    For each unfixed vertex on such a walk, these are the fixed vertex of the largest upper bound
    that leads to it, and the one of the least lower bound that it can reach.
    """
    out, into = problem.graph.arcs, problem.graph.reverse_arcs
    # The steepest descent through x would lead from the largest value that leads to x to the least
    # value that x can reach. If both belong to the same vertex, a walk needs another one at one of
    # its ends.
    low, low_owner, next_low = _two_least(into, fixed, lower)
    high, high_owner, next_high = _two_least(out, fixed, -upper)
    same = (low_owner == high_owner) & (low_owner >= 0)
    may = ~fixed & np.where(same, (-next_high > low) | (-high > next_low), -high > low)
    return np.union1d(low_owner[may], high_owner[may])


def _two_least(
    back: Arcs, fixed: BoolArray, values: FloatArray
) -> tuple[FloatArray, IntArray, FloatArray]:
    at = np.flatnonzero(kernels.known_beside_unknown(back, fixed))
    return kernels.two_least(back, fixed, at[np.argsort(values[at])], values)
