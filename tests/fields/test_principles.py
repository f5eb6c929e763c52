"""What the harmonic, p-harmonic and absolutely minimal extensions have in common."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wayfield as wf
from methods import has, methods
from wayfield.fields import Extension, Method
from worlds import (
    ANY_LENGTH,
    Problem,
    labelled_graphs,
    maze_problem,
    path,
)

PROBLEMS = labelled_graphs(30, (*ANY_LENGTH, "wide"))
of_each = methods(bracket=True, within=True)


def width_of(*fields: Extension) -> float:
    """How far values may be off: what the methods say, and a few units in the last place."""
    largest = max(float(np.nanmax(np.abs(field.values))) for field in fields)
    return sum(field.width for field in fields) + 8 * float(np.spacing(largest))


# ------------------------------------------------------------------ principles


@methods(within=True)
@given(problem=PROBLEMS)
def test_maximum_principle_and_labels_kept(method: Method, problem: Problem) -> None:
    graph, labels = problem
    result = wf.extend(graph, labels, method)
    assert result.values.min() >= labels.values.min()
    assert result.values.max() <= labels.values.max()
    assert (result.lower is not None) == has(method, "bracket")
    for field in (result.values, result.lower, result.upper):
        if field is not None:
            assert np.array_equal(field[labels.vertices], labels.values)


@of_each
@given(problem=PROBLEMS, seed=st.integers(0, 2**32 - 1))
def test_comparison_principle(method: Method, problem: Problem, seed: int) -> None:
    """Larger labels give a larger field; the brackets respect it rigorously."""
    graph, labels = problem
    rise = np.random.default_rng(seed).exponential(size=len(labels))
    below = wf.extend(graph, labels, method)
    above = wf.extend(graph, wf.Labels(labels.vertices, labels.values + rise), method)
    assert (below.lower <= above.upper).all()


@of_each
@given(
    problem=PROBLEMS,
    factor=st.floats(0.01, 100.0),
    sign=st.sampled_from([-1, 1]),
    offset=st.floats(-1e6, 1e6, allow_subnormal=False),
)
def test_scale_and_offset(
    method: Method, problem: Problem, factor: float, sign: int, offset: float
) -> None:
    graph, labels = problem
    moved = wf.Labels(labels.vertices, sign * factor * labels.values + offset)
    here, there = wf.extend(graph, labels, method), wf.extend(graph, moved, method)
    size = np.abs(factor * labels.values).max() + abs(offset)
    atol = 8 * np.spacing(size) + factor * here.width + there.width
    expected = sign * factor * here.values + offset
    np.testing.assert_allclose(there.values, expected, rtol=0, atol=atol)


@of_each
@given(problem=PROBLEMS, seed=st.integers(0, 2**32 - 1))
def test_names_of_vertices_do_not_matter(method: Method, problem: Problem, seed: int) -> None:
    graph, labels = problem
    new = np.random.default_rng(seed).permutation(graph.num_vertices)
    renamed = wf.Graph.from_edges(
        new[graph.tails], new[graph.indices], graph.lengths, graph.num_vertices
    )
    here = wf.extend(graph, labels, method)
    there = wf.extend(renamed, wf.Labels(new[labels.vertices], labels.values), method)
    assert (there.lower[new] <= here.upper).all()
    assert (here.lower <= there.upper[new]).all()
    np.testing.assert_allclose(there.values[new], here.values, rtol=0, atol=width_of(here, there))


@of_each
@given(problem=PROBLEMS, k=st.integers(2, 4))
def test_subdivision(method: Method, problem: Problem, k: int) -> None:
    """k edges in series for every edge: the field on the original vertices is the same."""
    graph, labels = problem
    here, there = wf.extend(graph, labels, method), wf.extend(graph.subdivide(k), labels, method)
    values = there.values[: graph.num_vertices]
    np.testing.assert_allclose(values, here.values, rtol=0, atol=width_of(here, there))


# ------------------------------------------------------------------ closed forms


@of_each
def test_orphans_are_nan_and_the_rest_is_solved(method: Method) -> None:
    graph = wf.Graph.from_edges([0, 1, 3], [1, 2, 4], num_vertices=6)
    result = wf.extend(graph, wf.Labels([0, 2], [0.0, 2.0]), method, unreachable="nan")
    for field in (result.values, result.lower, result.upper):
        assert np.isnan(field).tolist() == [False] * 3 + [True] * 3
    assert result.values[1] == pytest.approx(1.0, rel=1e-14)
    assert result.width <= 1e-13
    assert result.details.get("gap", 0.0) <= 1e-12


@of_each
def test_everything_labelled(method: Method) -> None:
    values = [0.1, 0.7, -3.0]
    result = wf.extend(path(3), wf.Labels(range(3), values), method)
    assert result.values.tolist() == values
    assert result.width == result.residual == result.details.get("gap", 0.0) == 0.0


@of_each
@pytest.mark.parametrize("labelled", [[3], [3, 17]])
def test_equal_labels_give_a_constant(method: Method, labelled: list[int]) -> None:
    result = wf.extend(path(50), wf.Labels(labelled, [0.1] * len(labelled)), method)
    assert (result.values == 0.1).all()
    assert result.width == result.details.get("gap", 0.0) == 0.0


@of_each
def test_a_large_offset_costs_its_own_rounding(method: Method) -> None:
    graph, labels = maze_problem("antmaze-medium", goal=5)
    near = wf.extend(graph, labels, method)
    far = wf.extend(graph, wf.Labels(labels.vertices, labels.values + 1e6), method)
    np.testing.assert_allclose(
        far.values - 1e6, near.values, rtol=0, atol=near.width + np.spacing(1e6)
    )
    assert far.width <= near.width + 3 * np.spacing(1e6)
