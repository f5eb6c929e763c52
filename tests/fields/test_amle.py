"""The exact AMLE: against rationals, closed forms and the properties that characterise it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

import wayfield as wf
from exact import contains
from exact_amle import exact_amle
from wayfield_study.kernels.midrange import balance
from worlds import (
    ANY_LENGTH,
    VALUES,
    labelled_graphs,
    maze_problem,
    path,
    random_graph,
    random_labels,
)

LENGTHS = (*ANY_LENGTH, "wide")
NORMAL = labelled_graphs(22, LENGTHS, ["normal"])


@given(labelled_graphs(22, LENGTHS, sorted(VALUES)))
@settings(max_examples=80, deadline=None)
def test_exact_rationals(problem: tuple[wf.Graph, wf.Labels]) -> None:
    graph, labels = problem
    exact = exact_amle(graph, labels)
    result = wf.extend(graph, labels, wf.AMLE())
    error = max(abs(Fraction(float(u)) - v) for u, v in zip(result.values, exact, strict=True))
    # no double lies closer to a value near 1e6 than half a unit in its last place
    assert error <= 1e-12 * labels.span + np.spacing(np.abs(labels.values).max())
    assert contains(result, exact)
    assert result.width <= 1e-11 * labels.span + 4 * np.spacing(np.abs(labels.values).max())


@given(labelled_graphs(22, LENGTHS, ["levels", "normal", "offset", "offset levels"]))
@settings(max_examples=60, deadline=None)
def test_without_certificate(problem: tuple[wf.Graph, wf.Labels]) -> None:
    graph, labels = problem
    plain = wf.extend(graph, labels, wf.AMLE(bracket=False))
    assert plain.lower is None
    assert plain.upper is None
    proved = wf.extend(graph, labels, wf.AMLE())
    tolerance = 1e-11 * labels.span + 4 * np.spacing(np.abs(labels.values).max())
    np.testing.assert_allclose(plain.values, proved.values, rtol=0, atol=tolerance)


def test_long_path_with_two_labels() -> None:
    """Where iterative solvers stop far away: error below rounding on 100,001 vertices."""
    n = 100_001
    result = wf.extend(path(n), wf.Labels([0, n - 1], [0.0, n - 1.0]), wf.AMLE())
    assert np.array_equal(result.values, np.arange(n))
    assert result.width <= 1e-15 * n


def test_star_takes_the_steepest_pair() -> None:
    star = wf.Graph.from_edges([0, 0, 0], [1, 2, 3], [1.0, 1.0, 2.0])
    result = wf.extend(star, wf.Labels([1, 2, 3], [0.0, 1.0, 4.0]), wf.AMLE())
    assert result.values[0] == pytest.approx(4 / 3, abs=1e-15)


def test_cycle_between_two_labels() -> None:
    cycle = wf.Graph.from_edges(range(8), [*range(1, 8), 0])
    result = wf.extend(cycle, wf.Labels([0, 4], [0.0, 4.0]), wf.AMLE())
    assert np.array_equal(result.values, [0, 1, 2, 3, 4, 3, 2, 1])


@pytest.mark.parametrize("maze", ["medium", "large"])
@pytest.mark.parametrize("refinement", [4, 12])
def test_maze_cells_have_narrow_brackets(maze: str, refinement: int) -> None:
    graph = wf.grid_graph(wf.load_layout(maze), refinement)
    for fraction in (0.02, 0.12):
        labels = wf.sample_labels(graph, 5, fraction, seed=54)
        result = wf.extend(graph, labels, wf.AMLE())
        assert result.width <= 1e-12 * labels.span
        assert result.residual <= 1e-13 * labels.span


def test_same_bits_twice() -> None:
    graph, labels = maze_problem("large", 6, goal=5, fraction=0.03, seed=1)
    first, second = (wf.extend(graph, labels, wf.AMLE()) for _ in range(2))
    assert np.array_equal(first.values, second.values)
    assert np.array_equal(first.lower, second.lower)


def test_vertex_equation_on_a_weighted_graph() -> None:
    rng = np.random.default_rng(3)
    graph = random_graph(rng, 400, "real", backbone="tree")
    labels = random_labels(rng, graph, 20)
    values = wf.extend(graph, labels, wf.AMLE()).values
    free = np.setdiff1d(np.arange(400), labels.vertices)
    update = np.array([balance(graph.arcs, values, int(x)) for x in free])
    np.testing.assert_allclose(values[free], update, rtol=0, atol=1e-13 * labels.span)


def test_extreme_scales() -> None:
    for scale in (1e-90, 1e90):
        labels = wf.Labels([0, 3], [scale, 4 * scale])
        result = wf.extend(path(4), labels, wf.AMLE())
        np.testing.assert_allclose(result.values, scale * np.arange(1, 5), rtol=1e-15)


def test_labels_next_to_underflow_make_no_false_claim() -> None:
    labels = wf.Labels([0, 2], [0.0, 5e-324])
    with pytest.raises(wf.NotConverged):
        wf.extend(path(3), labels, wf.AMLE())


def test_replay_that_loses_its_way_does_not_replace_the_field() -> None:
    """Where the proof fails the field of the divide and conquer is handed back, not the replay."""
    failed = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        graph = random_graph(rng, 25, "wild", backbone="grid", edges=0)
        labels = random_labels(rng, graph, 4)
        result = wf.extend(graph, labels, wf.AMLE(), check=False)
        if result.status is wf.Status.UNVERIFIED:
            failed += 1
            plain = wf.extend(graph, labels, wf.AMLE(bracket=False))
            np.testing.assert_allclose(result.values, plain.values, rtol=0, atol=1e-14)
    assert failed > 0
