"""Audits by their definitions, state by state in rationals."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import inf, isinf

import wayfield as wf
from wayfield.audit.inputs import rounding

Number = Fraction | float
"""A rational, or inf."""


def exact(value: float) -> Number:
    return value if isinf(value) else Fraction(float(value))


def q_values(graph: wf.Graph, field, s: int) -> dict[int, Number]:
    """ℓ + field(y) of every neighbour, ascending."""
    row = range(graph.indptr[s], graph.indptr[s + 1])
    return {
        int(graph.indices[e]): exact(graph.lengths[e]) + exact(field[graph.indices[e]]) for e in row
    }


def same(graph: wf.Graph, one: Number, other: Number) -> bool:
    """Whether two true values are equal, up to the stated rounding."""
    if isinf(one) or isinf(other):
        return one == other
    return abs(one - other) <= Fraction(rounding(graph)) * max(one, other)


def optimal(graph: wf.Graph, truth, s: int) -> set[int]:
    q = q_values(graph, truth, s)
    return {y for y in q if same(graph, q[y], min(q.values()))}


def action_gap(graph: wf.Graph, truth, s: int) -> Number:
    q, best = q_values(graph, truth, s), optimal(graph, truth, s)
    return min((q[y] - min(q.values()) for y in q if y not in best), default=inf)


def local_error(graph: wf.Graph, field, truth, s: int) -> Number:
    pairs = [(exact(field[y]), exact(truth[y])) for y in graph.neighbours(s)]
    return max((abs(u - v) for u, v in pairs if u != v), default=Fraction(0))


def minimisers(graph: wf.Graph, field, s: int) -> set[int]:
    """Neighbours of least ℓ + field(y), the finite ones."""
    q = q_values(graph, field, s)
    least = min(q.values(), default=inf)
    return set() if isinf(least) else {y for y in q if q[y] == least}


def inversions(graph: wf.Graph, field, truth, s: int) -> int:
    """Pairs the two rankings order differently, ties broken by index in both."""
    true, other = q_values(graph, truth, s), q_values(graph, field, s)

    def later(q: dict[int, Number], y: int, z: int, tied: bool) -> bool:
        return not tied and q[y] > q[z]

    return sum(
        later(true, y, z, same(graph, true[y], true[z])) != later(other, y, z, tied=False)
        for y, z in combinations(true, 2)
    )


def small_gaps(graph: wf.Graph, truth, s: int, width: Number) -> int:
    """Pairs of neighbours whose true Q-values differ by no more than the width."""
    q = list(q_values(graph, truth, s).values())
    return sum(one == other or abs(one - other) <= width for one, other in combinations(q, 2))


def deciding(truth, goal: int) -> list[int]:
    return [s for s in range(len(truth)) if s != goal and not isinf(truth[s])]
