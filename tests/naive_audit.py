"""Audits by their definitions, state by state in rationals, and random cases to try them on."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import inf, isinf

import numpy as np
from hypothesis import strategies as st

import wayfield as wf
from exact import random_edges
from wayfield.audit._inputs import rounding

Number = Fraction | float
"""A rational, or inf."""


def seven() -> tuple[wf.Graph, wf.Labels]:
    """The paper's seven-node graph, its vertex 7 called 2, and its labels; the goal is 0."""
    graph = wf.Graph.from_edges([0, 0, 5, 1, 3, 3, 6, 4], [3, 5, 1, 4, 4, 6, 2, 2])
    return graph, wf.Labels([0, 2], [0.0, 3.0])


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


@st.composite
def cases(draw, lengths=("unit", "whole", "real"), directed: bool | None = None, most: int = 10):
    """A graph with a truth, a field not far from it, and a goal: (graph, field, truth, goal)."""
    n = draw(st.integers(2, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    one_way = draw(st.booleans()) if directed is None else directed
    graph = random_graph(rng, n, draw(st.sampled_from(lengths)), one_way)
    goal = draw(st.integers(0, n - 1))
    truth = wf.cost_to_go(graph, goal)
    return graph, noisy(rng, truth, draw(st.sampled_from(NOISE))), truth, goal


NOISE = ("none", "small", "half", "rough", "rounded", "other")


def random_graph(rng: np.random.Generator, n: int, kind: str, directed: bool) -> wf.Graph:
    tails, heads = random_edges(rng, n, int(rng.integers(0, 2 * n)))
    if directed:  # some edges one way, some the other, some both
        way = rng.integers(0, 3, tails.size)
        there, back = way != 1, way != 0
        tails, heads = (
            np.concatenate([tails[there], heads[back]]),
            np.concatenate([heads[there], tails[back]]),
        )
    size = tails.size
    length = {
        "unit": np.ones(size),
        "whole": rng.integers(1, 5, size).astype(float),
        "real": np.exp(rng.normal(0.0, 1.0, size)),
    }[kind]
    return wf.Graph.from_edges(tails, heads, length, n, directed)


def noisy(rng: np.random.Generator, truth, kind: str):
    """A field made from the truth; a few values that say "cannot reach" wrongly, or fail to."""
    n = truth.size
    field = (
        truth
        + {
            "none": np.zeros(n),
            "small": rng.uniform(-0.4, 0.4, n),
            "half": rng.choice([-0.5, 0.0, 0.5], n),
            "rough": rng.normal(0.0, 2.0, n),
            "rounded": rng.integers(-2, 3, n) / 2.0,
            "other": rng.choice([0.0, 0.0, 0.0, inf], n),
        }[kind]
    )
    lost = np.isinf(truth)
    return np.where(lost & (rng.random(n) < 0.3), rng.integers(0, 4, n), field)
