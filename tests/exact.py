"""Exact references for the tests: rationals, and small graphs to try them on."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

import wayfield as wf


def exact_harmonic(graph: wf.Graph, labels: wf.Labels) -> list[Fraction]:
    """Harmonic extension by Gaussian elimination in rationals, for the given doubles."""
    n = graph.num_vertices
    known = {
        int(v): Fraction(float(y)) for v, y in zip(labels.vertices, labels.values, strict=True)
    }
    rows = []
    for x in range(n):
        row = [Fraction(0)] * (n + 1)
        if x in known:
            row[x], row[n] = Fraction(1), known[x]
        else:
            for e in range(graph.indptr[x], graph.indptr[x + 1]):
                conductance = 1 / Fraction(float(graph.lengths[e]))
                row[x] += conductance
                row[int(graph.indices[e])] -= conductance
        rows.append(row)
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [a / rows[k][k] for a in rows[k]]
        for i in range(n):
            if i != k and rows[i][k]:
                factor = rows[i][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[n] for row in rows]


def contains(extension: wf.Extension, exact: list[Fraction]) -> bool:
    """Whether every exact value lies in its bracket, in exact arithmetic."""
    assert extension.lower is not None
    assert extension.upper is not None
    return all(
        Fraction(float(low)) <= value <= Fraction(float(high))
        for low, value, high in zip(extension.lower, exact, extension.upper, strict=True)
    )


def random_edges(rng: np.random.Generator, n: int, extra: int) -> np.ndarray:
    """(2, e) edges of a random connected graph: a tree and up to `extra` more, no parallels."""
    parents = [int(rng.integers(0, x)) for x in range(1, n)]
    tails = np.concatenate([np.arange(1, n), rng.integers(0, n, extra)])
    heads = np.concatenate([parents, rng.integers(0, n, extra)])
    proper = tails != heads
    ends = np.stack([np.minimum(tails, heads)[proper], np.maximum(tails, heads)[proper]])
    return np.unique(ends, axis=1).astype(np.int64)


@st.composite
def labelled_graphs(
    draw: st.DrawFn, max_vertices: int = 12, lengths: str = "any"
) -> tuple[wf.Graph, wf.Labels]:
    """Connected graphs with unit, integer or odd float lengths, and labels on some vertices."""
    n = draw(st.integers(2, max_vertices))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    edges = random_edges(rng, n, draw(st.integers(0, n)))
    kind = draw(st.sampled_from(["unit", "integer", "float"])) if lengths == "any" else lengths
    length = {
        "unit": np.ones(edges.shape[1]),
        "integer": rng.integers(1, 6, edges.shape[1]).astype(float),
        "float": np.exp(rng.normal(0.0, 1.5, edges.shape[1])),
    }[kind]
    graph = wf.Graph.from_edges(*edges, length, n)
    count = draw(st.integers(1, n))
    vertices = rng.choice(n, count, replace=False)
    values = {
        "integer": rng.integers(-3, 4, count).astype(float),
        "float": rng.normal(size=count),
        "offset": 1e6 + rng.normal(size=count),
        "equal": np.full(count, 0.1),
    }[draw(st.sampled_from(["integer", "float", "offset", "equal"]))]
    return graph, wf.Labels(vertices, values)
