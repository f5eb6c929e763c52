from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from wayfield import Graph, InputError, Layout, cost_to_go, grid_graph, layout_names, load_layout


def naive_edges(free: NDArray[np.bool_], refinement: int) -> set[tuple[int, int]]:
    """Edges by looking at every pair of neighbouring refined cells."""
    rows, columns = free.shape
    cells = [
        (row, column)
        for row in range(rows * refinement)
        for column in range(columns * refinement)
        if free[row // refinement, column // refinement]
    ]
    number = {cell: index for index, cell in enumerate(cells)}
    edges = set()
    for (row, column), index in number.items():
        for neighbour in ((row, column + 1), (row + 1, column)):
            if neighbour in number:
                edges.add((index, number[neighbour]))
    return edges


def edges_of(graph: Graph) -> set[tuple[int, int]]:
    return {(int(x), int(y)) for x, y in zip(graph.tails, graph.indices, strict=True) if x < y}


@given(
    free=hnp.arrays(np.bool_, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6)).filter(np.any),
    refinement=st.integers(1, 4),
)
def test_same_edges_as_the_naive_loop(free: NDArray[np.bool_], refinement: int) -> None:
    graph = grid_graph(Layout("random", free), refinement)
    assert graph.num_vertices == free.sum() * refinement**2
    assert graph.is_unit
    assert not graph.directed
    assert edges_of(graph) == naive_edges(free, refinement)


@pytest.mark.parametrize("name", layout_names())
def test_positions_draw_the_text(name: str) -> None:
    layout = load_layout(name)
    graph = grid_graph(layout, 3)
    positions = graph.positions
    assert positions is not None
    x, y = positions.astype(int).T
    height = 3 * layout.shape[0]
    drawn = np.zeros((height, 3 * layout.shape[1]), dtype=bool)
    drawn[height - 1 - y, x] = True
    np.testing.assert_array_equal(drawn, np.kron(layout.free, np.ones((3, 3), dtype=bool)))
    assert ((np.diff(y) < 0) | ((np.diff(y) == 0) & (np.diff(x) > 0))).all()  # row-major order


def test_neighbours_are_one_step_apart() -> None:
    graph = grid_graph(load_layout("large"), 4)
    assert graph.positions is not None
    step = np.abs(graph.positions[graph.tails] - graph.positions[graph.indices]).sum(axis=1)
    assert (step == 1).all()


@pytest.mark.parametrize(("name", "cells"), [("medium", 26), ("large", 46)])
@pytest.mark.parametrize("refinement", [4, 8, 12])
def test_study_graphs_have_their_sizes(name: str, cells: int, refinement: int) -> None:
    graph = grid_graph(load_layout(name), refinement)
    assert graph.num_vertices == cells * refinement**2
    assert np.isfinite(cost_to_go(graph, 0)).all()


def test_open_square_has_manhattan_distances() -> None:
    graph = grid_graph(Layout("room", np.ones((2, 3), dtype=bool)), 2)
    assert graph.positions is not None
    expected = np.abs(graph.positions - graph.positions[5]).sum(axis=1)
    np.testing.assert_array_equal(cost_to_go(graph, 5), expected)


def test_a_million_vertices() -> None:
    graph = grid_graph(Layout("room", np.ones((10, 10), dtype=bool)), 100)
    assert graph.num_vertices == 1_000_000
    assert graph.num_edges == 2 * 1000 * 999


@pytest.mark.parametrize("refinement", [0, -1, 1.5, 2.0, True, "4", None, np.nan])
def test_refinement_must_be_whole_and_positive(refinement: Any) -> None:
    with pytest.raises(InputError, match="refinement must be a whole number of at least 1"):
        grid_graph(load_layout("umaze"), refinement)


def test_layout_must_be_a_layout() -> None:
    with pytest.raises(InputError, match=r"layout must be a wayfield\.Layout, got str"):
        grid_graph("umaze")  # type: ignore[arg-type]


def test_numpy_refinement_is_welcome() -> None:
    assert grid_graph(load_layout("umaze"), np.int64(2)).num_vertices == 28  # type: ignore[arg-type]
