from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wayfield as wf
from wayfield.numerics.csr import Arcs
from wayfield_study.kernels.midrange import balance, jacobi, midrange
from wayfield_study.sweeps import MidrangeSweeps
from worlds import REAL, UNIT, small_problems

Neighbours = list[tuple[float, float]]  # (value, length)


def naive_balance(neighbours: Neighbours) -> Fraction:
    """Steepest pair of neighbours, in exact arithmetic, and the value on the line between them."""
    exact = [(Fraction(value), Fraction(length)) for value, length in neighbours]
    slope = max((v - w) / (a + b) for v, a in exact for w, b in exact)
    value = min(w + slope * b for w, b in exact)
    assert value == max(v - slope * a for v, a in exact)
    return value


def naive_sweep(
    graph: wf.Graph, labelled: set[int], field: list[float], relaxation: float = 1.0
) -> list[float]:
    swept = list(field)
    for x in set(range(graph.num_vertices)) - labelled:
        row = slice(graph.indptr[x], graph.indptr[x + 1])
        heads, lengths = graph.indices[row].tolist(), graph.lengths[row].tolist()
        neighbours = [(field[y], length) for y, length in zip(heads, lengths, strict=True)]
        if neighbours:
            update = float(naive_balance(neighbours))
            swept[x] = field[x] + relaxation * (update - field[x])
    return swept


def star(neighbours: Neighbours) -> tuple[Arcs, np.ndarray]:
    leaves = range(1, len(neighbours) + 1)
    lengths = [length for _, length in neighbours]
    graph = wf.Graph.from_edges([0] * len(neighbours), leaves, lengths)
    return graph.arcs, np.array([0.0] + [value for value, _ in neighbours])


PROBLEMS = small_problems(10, (UNIT, REAL), st.floats(-5, 5), connected=True)
values = st.floats(-100, 100)
lengths = st.floats(0.01, 100)


@given(st.lists(st.tuples(values, lengths), min_size=1, max_size=6))
def test_balance_is_its_exact_twin(neighbours: Neighbours) -> None:
    arcs, field = star(neighbours)
    scale = max(abs(value) for value, _ in neighbours)
    error = Fraction(balance(arcs, field, 0)) - naive_balance(neighbours)
    assert abs(error) <= 8 * np.finfo(float).eps * scale


@given(st.lists(values, min_size=1, max_size=6))
def test_balance_on_unit_lengths_is_the_midrange(row: list[float]) -> None:
    arcs, field = star([(value, 1.0) for value in row])
    assert midrange(arcs, field, 0) == 0.5 * (min(row) + max(row))
    assert balance(arcs, field, 0) == pytest.approx(midrange(arcs, field, 0), abs=1e-13)


@given(
    PROBLEMS,
    st.integers(0, 4),
    st.sampled_from(["mean", "upper", "lower"]),
    st.sampled_from([1.0, 0.5, 0.05]),
)
def test_sweeps_are_their_naive_twin(
    problem: tuple[wf.Graph, wf.Labels], sweeps: int, start: str, relaxation: float
) -> None:
    graph, labels = problem
    level = {"mean": np.mean, "upper": np.max, "lower": np.min}[start](labels.values)
    field = np.full(graph.num_vertices, level)
    field[labels.vertices] = labels.values
    expected = field.tolist()
    labelled = set(labels.vertices.tolist())
    for _ in range(sweeps):
        expected = naive_sweep(graph, labelled, expected, relaxation)
    method = MidrangeSweeps(sweeps, start, relaxation)  # type: ignore[arg-type]
    ext = wf.extend(graph, labels, method)
    np.testing.assert_allclose(ext.values, expected, atol=1e-13)
    again = np.array(naive_sweep(graph, labelled, expected))
    assert ext.residual == pytest.approx(np.abs(again - expected).max(), abs=1e-13)


@given(PROBLEMS, st.sampled_from([1.0, 0.5]))
def test_upper_and_lower_starts_close_in_from_their_sides(
    problem: tuple[wf.Graph, wf.Labels], relaxation: float
) -> None:
    graph, labels = problem
    runs = [
        [wf.extend(graph, labels, MidrangeSweeps(k, start, relaxation)).values for k in (0, 3, 10)]
        for start in ("lower", "upper")
    ]
    chain = [*runs[0], *reversed(runs[1])]
    for below, above in itertools.pairwise(chain):
        assert (below <= above + 1e-12).all()


@pytest.mark.parametrize("relaxation", [1.0, 0.5])
@pytest.mark.parametrize("start", ["harmonic", "mean", "upper", "lower"])
def test_every_start_ends_at_the_straight_line_on_a_path(start: str, relaxation: float) -> None:
    path = wf.Graph.from_edges(range(6), range(1, 7), [1, 2, 1, 3, 1, 2])
    labels = wf.Labels([0, 6], [0.0, 20.0])
    method = MidrangeSweeps(2000, start, relaxation)  # type: ignore[arg-type]
    ext = wf.extend(path, labels, method)
    np.testing.assert_allclose(ext.values, 2.0 * wf.cost_to_go(path, 0), atol=1e-12)
    assert ext.residual < 1e-13


@pytest.mark.parametrize("relaxation", [1.0, 0.5])
@pytest.mark.parametrize("start", ["harmonic", "lower"])
def test_fields_side_by_side_are_each_alone(start: str, relaxation: float) -> None:
    """To the last bit: on a maze with a hub of eleven neighbours, and another component."""
    maze = wf.grid_graph(wf.load_layout("umaze"), 3)
    n = maze.num_vertices
    once, far = maze.tails < maze.indices, np.arange(0, 44, 4)
    tails = [*maze.tails[once], *[n] * far.size, n + 1]
    graph = wf.Graph.from_edges(tails, [*maze.indices[once], *far, n + 2])
    rng = np.random.default_rng(0)
    sets = [wf.Labels([n + 1, 5, 30, k], rng.uniform(0, 9, 4)) for k in range(7, 28)]
    method = MidrangeSweeps(9, start, relaxation)  # type: ignore[arg-type]
    first = wf.extend_many(graph, sets, replace(method, sweeps=0))
    for labels, begin, many in zip(sets, first, wf.extend_many(graph, sets, method), strict=True):
        values, residual, _ = jacobi(
            graph.arcs, labels.mask(graph), True, begin.values, 9, relaxation, 0.0
        )
        np.testing.assert_array_equal(many.values, values)
        assert (many.residual, many.iterations) == (residual, 9)


@pytest.mark.parametrize("start", ["harmonic", "mean", "upper", "lower"])
def test_components_keep_to_their_own_labels(start: str) -> None:
    graph = wf.Graph.from_edges([0, 2, 4], [1, 3, 5])
    labels = wf.Labels([0, 2], [10.0, -10.0])
    method = MidrangeSweeps(1, start)  # type: ignore[arg-type]
    field = wf.extend(graph, labels, method, unreachable="nan")
    np.testing.assert_array_equal(field.values, [10, 10, -10, -10, np.nan, np.nan])
    assert field.residual == 0.0


@pytest.mark.parametrize("relaxation", [1.0, 0.5])
@pytest.mark.parametrize("tolerance", [0.3, 0.1, 0.0])
def test_sweeps_stop_at_the_first_field_below_the_tolerance(
    relaxation: float, tolerance: float
) -> None:
    graph = wf.grid_graph(wf.load_layout("umaze"), 4)
    labels = wf.sample_labels(graph, 0, 0.1, 1)
    rule = ("harmonic", relaxation)
    fields = [wf.extend(graph, labels, MidrangeSweeps(k, *rule)) for k in range(60)]  # type: ignore[arg-type]
    first = next((k for k, field in enumerate(fields) if field.residual < tolerance), 59)
    stopped = wf.extend(graph, labels, MidrangeSweeps(59, *rule, tolerance))  # type: ignore[arg-type]
    np.testing.assert_array_equal(stopped.values, fields[first].values)
    assert (stopped.iterations, stopped.residual) == (first, fields[first].residual)
    assert 0 < first < 59 or tolerance == 0.0
