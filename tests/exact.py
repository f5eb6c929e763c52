"""Exact references for the tests, in rationals."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isnan

import wayfield as wf
from wayfield.fields import Extension


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


def contains(extension: Extension, exact: Sequence[Fraction | float]) -> bool:
    """Whether every exact value lies in its bracket; NaN, where no label is connected, is out."""
    assert extension.lower is not None
    assert extension.upper is not None
    fields = (extension.values, extension.lower, extension.upper)
    rows = zip(exact, *(field.tolist() for field in fields), strict=True)
    return all(low <= value <= high for value, own, low, high in rows if not isnan(own))
