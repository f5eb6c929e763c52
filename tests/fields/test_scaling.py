"""Solvers' units: there and back without a loss, and brackets that hold on any scale of labels."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import wayfield as wf
from exact import contains
from wayfield.fields import Problem
from wayfield.fields.base import make_problem
from wayfield.fields.scaling import Scaled

LABELS = {
    "plain": [0.0, 3.0, 7.0],
    "offset": [1e15 + 1.0, 1e15, 1e15 + 3.0],
    "signs": [-1.0, 0.1, 0.7],
    "huge": [1e99, -1e99, 3e98],
    "tiny": [3e-300, 1e-300, 2e-300],
    "equal": [0.1, 0.1, 0.1],
    "zero": [0.0, 0.0, 0.0],
}


def path_problem(values: list[float], length: float = 1.0) -> Problem:
    n = 2 * len(values) - 1
    graph = wf.Graph.from_edges(range(n - 1), range(1, n), np.full(n - 1, length))
    return make_problem(graph, wf.Labels(range(0, n, 2), values), wf.AMLE(), "error")


@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize("way", ["centred", "in_doubles"])
def test_labels_are_exact_and_of_size_one(name: str, way: str) -> None:
    problem = path_problem(LABELS[name])
    scaled = getattr(Scaled, way)(problem)
    factor = Fraction(2) ** scaled.exponent
    for x, given in zip(problem.labels.vertices, problem.labels.values, strict=True):
        high, low = (Fraction(float(part[x])) for part in scaled.field)
        assert Fraction(scaled.offset) + factor * (high + low) == Fraction(float(given))
    assert scaled.size == 0.0 or 0.5 <= scaled.size < 1.0
    assert not scaled.field.high[~problem.labelled].any()
    assert np.array_equal(scaled.values(scaled.field)[::2], problem.labels.values)


@pytest.mark.parametrize(
    ("values", "offset"), [([0.0, 5.0, 7.0], 0.0), ([70.0, 71.0, 72.0], 71.0), ([-9.0, -8.0], -8.5)]
)
def test_doubles_stay_doubles(values: list[float], offset: float) -> None:
    scaled = Scaled.in_doubles(path_problem(values))
    assert scaled.offset == offset
    assert not scaled.field.low.any()
    assert scaled.exact


@pytest.mark.parametrize("values", [[0.0, 5e-324], [1e99, 1e-300]])
def test_next_to_underflow_nothing_is_exact(values: list[float]) -> None:
    assert not Scaled.in_doubles(path_problem(values)).exact


@pytest.mark.parametrize("method", [wf.Harmonic(), wf.PLaplacian(3.0), wf.PLaplacian(16.0)])
@pytest.mark.parametrize("length", [1e-99, 1e-50, 1.0, 1e50, 1e99])
@pytest.mark.parametrize("name", LABELS)
def test_a_bracket_on_every_scale(method: wf.fields.Method, length: float, name: str) -> None:
    """Between two labels on a path every p has the mean."""
    problem = path_problem(LABELS[name], length)
    result = wf.extend(problem.graph, problem.labels, method)
    given = [Fraction(value) for value in LABELS[name]]
    exact = [
        given[x // 2] if x % 2 == 0 else (given[x // 2] + given[x // 2 + 1]) / 2 for x in range(5)
    ]
    assert result.status is wf.Status.CONVERGED
    assert contains(result, exact)
    assert result.width <= 1e-14 * problem.labels.span + 4 * np.spacing(max(map(abs, LABELS[name])))


@pytest.mark.parametrize("method", [wf.Harmonic(), wf.PLaplacian(4.0)])
def test_labels_hundreds_of_orders_apart(method: wf.fields.Method) -> None:
    """What falls away in scaling is less than what the bounds step outward."""
    values = [1e99, 1e-300, -1e99]
    problem = path_problem(values)
    result = wf.extend(problem.graph, problem.labels, method)
    given = [Fraction(value) for value in values]
    between = [(given[0] + given[1]) / 2, (given[1] + given[2]) / 2]
    assert contains(result, [given[0], between[0], given[1], between[1], given[2]])
