"""Approximate elimination and conjugate gradients beside dense twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wayfield as wf
from wayfield.errors import OutOfTime
from wayfield.fields import time_limit
from wayfield.numerics import laplacian
from wayfield.numerics.approximate import (
    MMatrix,
)
from wayfield.numerics.laplacian import Iterative, prepared, row_sums
from worlds import BACKBONES, labelled_graphs


def matrix_of(graph: wf.Graph, labels: wf.Labels, weights: np.ndarray | None = None) -> MMatrix:
    free = np.flatnonzero(~labels.mask(graph)).astype(np.int32)
    row = np.full(graph.num_vertices, -1, np.int32)
    row[free] = np.arange(free.size)
    weights = 1.0 / graph.lengths if weights is None else weights
    return MMatrix(graph.indptr, graph.indices, weights, free, row)


def dense(matrix: MMatrix) -> np.ndarray:
    found = np.zeros((matrix.vertices.size, matrix.vertices.size))
    for i, x in enumerate(matrix.vertices):
        for e in range(matrix.indptr[x], matrix.indptr[x + 1]):
            found[i, i] += matrix.weights[e]
            if matrix.row[matrix.indices[e]] >= 0:
                found[i, matrix.row[matrix.indices[e]]] -= matrix.weights[e]
    return found


def lopsided(graph: wf.Graph, seed: int) -> np.ndarray:
    """Weights whose rows have factors."""
    factors = np.exp(np.random.default_rng(seed).normal(size=graph.num_vertices))
    return factors[graph.tails] / graph.lengths


def grid(side: int, dimensions: int = 2) -> wf.Graph:
    ids = np.arange(side**dimensions).reshape((side,) * dimensions)
    axes = [np.moveaxis(ids, k, 0) for k in range(dimensions)]
    tails = np.concatenate([axis[:-1].ravel() for axis in axes])
    return wf.Graph.from_edges(tails, np.concatenate([axis[1:].ravel() for axis in axes]))


ENDS = wf.Labels([0, 1], [0.0, 1.0])


# ------------------------------------------------------------------ elimination


@pytest.mark.parametrize("kind", ["path", "tree", "star"])
@pytest.mark.parametrize("symmetric", [True, False])
def test_trees_are_eliminated_exactly(kind: str, symmetric: bool) -> None:
    rng = np.random.default_rng(1)
    edges = BACKBONES[kind](rng, 300)
    graph = wf.Graph.from_edges(*edges.T, np.exp(rng.normal(size=len(edges))))
    matrix = matrix_of(graph, ENDS, None if symmetric else lopsided(graph, 1))
    solver = Iterative(matrix, symmetric=symmetric)
    rhs = rng.normal(size=matrix.vertices.size)
    expected = np.linalg.solve(dense(matrix), rhs)
    np.testing.assert_allclose(solver.solve(rhs), expected, rtol=1e-8, atol=1e-9)
    if symmetric:
        assert solver.steps[-1] <= 4


# ------------------------------------------------------------------ products and preconditioner


# ------------------------------------------------------------------ solves


@given(labelled_graphs(max_vertices=30), st.booleans(), st.integers(0, 1000))
def test_solutions_are_those_of_dense_elimination(
    case: tuple[wf.Graph, wf.Labels], symmetric: bool, seed: int
) -> None:
    graph, labels = case
    matrix = matrix_of(graph, labels, None if symmetric else lopsided(graph, seed))
    if matrix.vertices.size == 0:
        return
    rhs = np.random.default_rng(seed).normal(size=matrix.vertices.size)
    expected = np.linalg.solve(dense(matrix), rhs)
    solver = prepared(matrix, symmetric=symmetric, rtol=1e-13)
    found, left = solver.attempt(rhs)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9 * np.abs(expected).max())
    assert left <= 1e-13 or not symmetric


def test_columns_do_not_depend_on_their_neighbours() -> None:
    matrix = matrix_of(grid(30), ENDS)
    solver = Iterative(matrix)
    rng = np.random.default_rng(0)
    rhs = np.asfortranarray(rng.normal(size=(matrix.vertices.size, 5)))
    rhs[:, 2] = 0.0
    rhs[:, 3] = dense(matrix)[:, 7]  # needs fewer steps than the others
    both = solver.solve(rhs)
    for c in range(rhs.shape[1]):
        assert (both[:, c] == solver.solve(rhs[:, c])).all()
    assert (both[:, 2] == 0.0).all()


@pytest.mark.parametrize("scale", [1e-250, 1e250])
@pytest.mark.parametrize("symmetric", [True, False])
def test_the_scale_of_the_right_hand_side_does_not_matter(scale: float, symmetric: bool) -> None:
    matrix = matrix_of(grid(20), ENDS)
    solver = Iterative(matrix, symmetric=symmetric)
    rhs = np.random.default_rng(0).normal(size=matrix.vertices.size)
    found = solver.solve(scale * rhs) / scale
    np.testing.assert_allclose(found, solver.solve(rhs), rtol=1e-6, atol=1e-6)


def test_the_same_input_gives_the_same_bytes() -> None:
    matrix = matrix_of(grid(12, 3), ENDS)
    rhs = np.random.default_rng(0).normal(size=matrix.vertices.size)
    assert (Iterative(matrix).solve(rhs) == Iterative(matrix).solve(rhs)).all()


def test_rows_without_a_way_to_a_label_are_left_at_rest() -> None:
    """All weights 0 there, as where slopes underflow."""
    graph = wf.Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 5])
    weights = np.where((graph.tails >= 4) | (graph.indices >= 4), 0.0, 1.0)
    matrix = matrix_of(graph, wf.Labels([0], [1.0]), weights)
    for symmetric in (True, False):
        found = Iterative(matrix, symmetric=symmetric).solve(np.array([1.0, 0.0, 0.0, 0.0, 0.0]))
        np.testing.assert_allclose(found, [1.0, 1.0, 1.0, 0.0, 0.0], atol=1e-9)


@pytest.mark.parametrize("sigma", [0.0, 3.0, 8.0])
def test_steps_hardly_grow_with_the_grid(sigma: float) -> None:
    """Also where weights are dozens of orders apart."""
    counts = []
    for side in (20, 80):
        unit = grid(side)
        up = unit.tails < unit.indices
        draw = np.random.default_rng(5).normal(size=int(up.sum()))
        ends = unit.tails[up], unit.indices[up]
        matrix = matrix_of(wf.Graph.from_edges(*ends, np.exp(sigma * draw)), ENDS)
        solver = Iterative(matrix)
        solver.solve(np.random.default_rng(0).normal(size=matrix.vertices.size))
        counts.append(solver.steps[-1])
    assert counts[0] <= 36
    assert counts[1] <= 45


# ------------------------------------------------------------------ the forecast, and limits


def test_the_forecast_takes_the_diagonal_where_that_is_quicker() -> None:
    rng = np.random.default_rng(0)
    n = 4_000
    tails, heads = np.tile(np.arange(n), 2), np.concatenate([rng.permutation(n) for _ in range(2)])
    regular = wf.Graph.from_edges(tails[tails != heads], heads[tails != heads])
    some = wf.Labels(rng.choice(n, 40, replace=False), np.zeros(40))
    assert prepared(matrix_of(regular, some)).diagonal
    assert not prepared(matrix_of(grid(64), ENDS)).diagonal
    # nearly every vertex is next to a label
    labelled = np.flatnonzero(rng.random(4_096) < 0.5)
    near = wf.Labels(labelled, np.zeros(labelled.size))
    assert prepared(matrix_of(grid(64), near)).diagonal


def test_the_diagonal_is_given_up_where_it_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = matrix_of(grid(40), ENDS)
    monkeypatch.setattr(Iterative.attempt, "__defaults__", (None, 60))
    solver = Iterative(matrix, diagonal=True)
    assert solver.diagonal
    rhs = np.random.default_rng(0).normal(size=matrix.vertices.size)
    found = solver.solve(rhs)
    assert not solver.diagonal
    np.testing.assert_allclose(found, np.linalg.solve(dense(matrix), rhs), rtol=1e-6, atol=1e-8)


def test_an_iteration_that_runs_out_of_steps_says_what_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    matrix = matrix_of(grid(30), ENDS)
    rhs = np.random.default_rng(0).normal(size=matrix.vertices.size)
    monkeypatch.setattr(laplacian, "CHUNK", 2)
    found, left = Iterative(matrix).attempt(rhs, 1e-10, steps=5)
    assert left > 1e-10
    residual = rhs - dense(matrix) @ found
    diagonal = row_sums(matrix)
    size = np.abs(rhs / diagonal).max()
    assert np.abs(residual / diagonal).max() / size == pytest.approx(left, rel=1e-6)


def test_the_clock_is_watched() -> None:
    matrix = matrix_of(grid(10), ENDS)
    with pytest.raises(OutOfTime), time_limit(0.0):
        Iterative(matrix)
    solver = Iterative(matrix)
    for rhs in (np.ones(98), np.ones((98, 3))):
        with pytest.raises(OutOfTime), time_limit(0.0):
            solver.solve(rhs)
