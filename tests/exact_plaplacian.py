"""p-Laplacian extensions to 60 digits, for small graphs."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import mpmath as mp
import numpy as np

import wayfield as wf
from wayfield.fields import Extension

DIGITS = 60


def exact_plaplacian(
    graph: wf.Graph, labels: wf.Labels, p: float, start: np.ndarray
) -> list[mp.mpf]:
    """Newton's method on F_x = M_x⁺ − M_x⁻ in 60 digits, until F vanishes to 50."""
    free = [x for x in range(graph.num_vertices) if x not in set(labels.vertices.tolist())]
    with mp.workdps(DIGITS):
        field = [mp.mpf(float(value)) for value in start]
        return to_60_digits(graph, field, free, p, mp.mpf(labels.span) or mp.mpf(1))


def to_60_digits(
    graph: wf.Graph, start: list[mp.mpf], free: list[int], p: float, span: mp.mpf
) -> list[mp.mpf]:
    """As `exact_plaplacian`, from any field; all but its free vertices are labels."""
    with mp.workdps(DIGITS):
        q, u = mp.mpf(p) - 1, list(start)
        for _ in range(80):
            rows = [_row(graph, u, x, q, span) for x in free]
            if all(abs(value) < span * mp.mpf(10) ** (-DIGITS + 10) for value, _ in rows):
                return u
            step = _solve(rows, free)
            for x, change in zip(free, step, strict=True):
                u[x] += change
        raise AssertionError("the reference did not converge")


def _row(
    graph: wf.Graph, u: list[mp.mpf], x: int, q: mp.mpf, span: mp.mpf
) -> tuple[mp.mpf, dict[int, mp.mpf]]:
    """F_x, and its derivatives by the neighbours' values."""
    arcs = range(graph.indptr[x], graph.indptr[x + 1])
    ends = [(int(graph.indices[e]), mp.mpf(float(graph.lengths[e]))) for e in arcs]
    slopes = [((u[y] - u[x]) / length, y, length) for y, length in ends]
    rise = sum((s**q for s, _, _ in slopes if s > 0), mp.mpf(0)) ** (1 / q)
    fall = sum(((-s) ** q for s, _, _ in slopes if s < 0), mp.mpf(0)) ** (1 / q)
    weights = {}
    flat = max(rise, fall) < span * mp.mpf(10) ** (-DIGITS // 2)
    for s, y, length in slopes:
        if flat:
            weights[y] = 1 / length
        elif s != 0:
            weights[y] = (abs(s) / (rise if s > 0 else fall)) ** (q - 1) / length
        else:
            weights[y] = mp.mpf(0)
    return rise - fall, weights


def _solve(rows: list[tuple[mp.mpf, dict[int, mp.mpf]]], free: list[int]) -> list[mp.mpf]:
    """Newton step, by elimination without pivoting: the matrix is an M-matrix."""
    place = {x: i for i, x in enumerate(free)}
    n = len(free)
    matrix = [[mp.mpf(0)] * (n + 1) for _ in range(n)]
    for i, (value, weights) in enumerate(rows):
        matrix[i][n] = value
        for y, weight in weights.items():
            matrix[i][i] += weight
            if y in place:
                matrix[i][place[y]] -= weight
    for k in range(n):
        for i in range(k + 1, n):
            if matrix[i][k] != 0:
                factor = matrix[i][k] / matrix[k][k]
                matrix[i] = [a - factor * b for a, b in zip(matrix[i], matrix[k], strict=True)]
    step = [mp.mpf(0)] * n
    for i in range(n - 1, -1, -1):
        rest = sum((matrix[i][j] * step[j] for j in range(i + 1, n)), mp.mpf(0))
        step[i] = (matrix[i][n] - rest) / matrix[i][i]
    return step


def tilt(graph: wf.Graph, values: Sequence[Fraction], x: int, p: float) -> int:
    """Sign of Σ_up s^{p−1} − Σ_down s^{p−1} at a vertex, for exact values; 0 within 1e-50."""
    arcs = range(graph.indptr[x], graph.indptr[x + 1])
    ends = [(int(graph.indices[e]), Fraction(float(graph.lengths[e]))) for e in arcs]
    slopes = [(values[y] - values[x]) / length for y, length in ends]
    most = max(map(abs, slopes))
    with mp.workdps(DIGITS):
        total = mp.mpf(0)
        for slope in filter(None, slopes):
            ratio = abs(slope) / most
            power = (mp.mpf(ratio.numerator) / ratio.denominator) ** (mp.mpf(p) - 1)
            total += power if slope > 0 else -power
        return int(mp.sign(total)) if abs(total) > mp.mpf(10) ** -50 else 0


def contains(extension: Extension, exact: list[mp.mpf]) -> bool:
    """Whether every value lies in its bracket, in 60 digits."""
    assert extension.lower is not None
    assert extension.upper is not None
    with mp.workdps(DIGITS):
        slack = mp.mpf(10) ** (-DIGITS + 15)  # what the reference may be off by
        return all(
            mp.mpf(float(low)) - slack <= value <= mp.mpf(float(high)) + slack
            for low, value, high in zip(extension.lower, exact, extension.upper, strict=True)
        )
