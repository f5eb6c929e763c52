from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayfield.errors import InputError
from wayfield.graphs.graph import Graph
from wayfield.graphs.shortest_paths import cost_to_go, sample_labels
from worlds import REAL, UNIT, network, small_graphs


@given(small_graphs(14, (UNIT, REAL), directed=None), st.data())
def test_cost_to_go_is_that_of_networkx(graph: Graph, data: st.DataObject) -> None:
    goal = data.draw(st.integers(0, graph.num_vertices - 1))
    to_goal = nx.single_source_dijkstra_path_length(network(graph).reverse(), goal)
    expected = [to_goal.get(x, np.inf) for x in range(graph.num_vertices)]
    np.testing.assert_allclose(cost_to_go(graph, goal), expected, rtol=1e-14)


@given(small_graphs(14, (UNIT, REAL), directed=None), st.data())
def test_cost_to_go_solves_the_bellman_equation(graph: Graph, data: st.DataObject) -> None:
    """Bit for bit: V(x) = min over arcs of fl(length + V(y)), and 0 at the goal."""
    goal = data.draw(st.integers(0, graph.num_vertices - 1))
    cost = cost_to_go(graph, goal)
    best = np.full(graph.num_vertices, np.inf)
    np.minimum.at(best, graph.tails, graph.lengths + cost[graph.indices])
    best[goal] = 0.0
    np.testing.assert_array_equal(cost, best)


def test_cost_is_to_the_goal_along_the_arcs() -> None:
    one_way = Graph.from_edges([0, 1, 2], [1, 2, 0], [1.0, 2.0, 4.0], directed=True)
    assert cost_to_go(one_way, goal=0).tolist() == [0.0, 6.0, 4.0]


def test_unreachable_is_infinite() -> None:
    assert cost_to_go(Graph.from_edges([0], [1], num_vertices=3), 0).tolist() == [0, 1, np.inf]


def test_whole_float_will_do_as_a_goal() -> None:
    path = Graph.from_edges([0, 1], [1, 2])
    for goal in (2.0, np.int8(2), np.array(2), np.float32(2)):
        assert cost_to_go(path, goal).tolist() == [2, 1, 0]  # type: ignore[arg-type]
        assert sample_labels(path, goal, count=1).values.min() == 0.0  # type: ignore[arg-type]


# -------------------------------------------------------------------- sample_labels

GRID = Graph.from_networkx(nx.grid_2d_graph(12, 9))


@pytest.mark.parametrize("goal", [0, 50, 107])
def test_sampled_labels_are_exact_and_hold_the_goal(goal: int) -> None:
    labels = sample_labels(GRID, goal, fraction=0.1, seed=54)
    np.testing.assert_array_equal(labels.values, cost_to_go(GRID, goal)[labels.vertices])
    assert goal in labels.vertices
    assert len(labels) - 11 in (0, 1)
    assert labels.error == 0.0


def test_goals_share_the_draw() -> None:
    drawn = [set(sample_labels(GRID, g, 0.1, seed=3).vertices.tolist()) - {g} for g in range(108)]
    shared = set.union(*drawn)
    assert len(shared) == 11
    assert all(draw == shared - {goal} for goal, draw in enumerate(drawn))


def test_draw_depends_on_the_seed_alone() -> None:
    once, again = (sample_labels(GRID, 4, 0.1, seed=7) for _ in range(2))
    np.testing.assert_array_equal(once.vertices, again.vertices)
    other = sample_labels(GRID, 4, 0.1, seed=8)
    assert set(other.vertices.tolist()) != set(once.vertices.tolist())


def test_default_seed_is_fixed() -> None:
    once, again = (sample_labels(GRID, 4, 0.1) for _ in range(2))
    np.testing.assert_array_equal(once.vertices, again.vertices)


def test_count_in_place_of_a_fraction() -> None:
    by_count = sample_labels(GRID, 0, count=11, seed=3)
    by_fraction = sample_labels(GRID, 0, fraction=0.1, seed=3)
    np.testing.assert_array_equal(by_count.vertices, by_fraction.vertices)
    assert sample_labels(GRID, 5, count=0).vertices.tolist() == [5]


def test_fraction_of_one_labels_everything() -> None:
    assert len(sample_labels(GRID, 0, fraction=1.0)) == GRID.num_vertices


def test_fraction_rounds_half_to_even() -> None:
    path = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    for fraction, drawn in ((0.1, 0), (0.3, 2), (0.5, 2)):
        sizes = {len(sample_labels(path, goal, fraction)) for goal in range(5)}
        assert max(sizes) == drawn + 1


def test_labels_that_cannot_reach_the_goal_are_left_out() -> None:
    graph = Graph.from_edges([0, 2], [1, 3])
    assert sample_labels(graph, 0, fraction=1.0).vertices.tolist() == [0, 1]


@pytest.mark.parametrize("fraction", [0.0, -0.1, 1.0001, 7])
def test_fraction_outside_its_range_is_refused(fraction: float) -> None:
    with pytest.raises(InputError, match=f"at most 1, got {fraction}"):
        sample_labels(GRID, 0, fraction)


@pytest.mark.parametrize("fraction", [np.nan, np.inf, "0.1", [0.1], 1j, True])
def test_fraction_that_is_no_number_is_refused(fraction: float) -> None:
    with pytest.raises(InputError, match="label fraction must be a finite number"):
        sample_labels(GRID, 0, fraction)


@pytest.mark.parametrize("count", [-1, 1.5, "3", True])
def test_bad_count_is_refused(count: int) -> None:
    with pytest.raises(InputError, match="label count must be a whole number of at least 0"):
        sample_labels(GRID, 0, count=count)


def test_count_beyond_the_graph_is_refused() -> None:
    with pytest.raises(InputError, match="number of vertices, 108, got 109"):
        sample_labels(GRID, 0, count=109)


def test_either_fraction_or_count() -> None:
    for arguments in ({}, {"fraction": 0.1, "count": 3}):
        with pytest.raises(InputError, match="pass exactly one of fraction and count"):
            sample_labels(GRID, 0, **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [-1, None, "54", 1.5])
def test_bad_seed_is_refused(seed: int) -> None:
    with pytest.raises(InputError, match="seed must be a whole number of at least 0"):
        sample_labels(GRID, 0, 0.1, seed=seed)


@pytest.mark.parametrize("graph", [None, np.eye(3), "graph"])
def test_what_is_no_graph_is_refused(graph: object) -> None:
    with pytest.raises(InputError, match=r"graph must be a wayfield\.Graph"):
        cost_to_go(graph, 0)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"graph must be a wayfield\.Graph"):
        sample_labels(graph, 0, 0.1)  # type: ignore[arg-type]
