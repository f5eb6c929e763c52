"""The reach theorem: labels exact up to a factor, exact AMLE, exit ties (``docs/planner.md``)."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wayfield as wf
from exact_amle import exact_amle
from wayfield_study.experiments import grid
from worlds import graphs, tasks

FACTORS = (1.0, 0.375, 7.0)  # labels stay exact


def check(graph, goal, truth, labels, values) -> None:
    """Points 1 to 4 of the theorem."""
    plan = wf.plan(graph, values, goal)
    assert plan.reached.all()
    assert plan.false_sinks(labels).size == 0
    assert np.array_equal(plan.cost[labels.vertices], truth[labels.vertices])
    factor = labels.values.max() / truth[labels.vertices].max() if len(labels) > 1 else 0.0
    span = labels.span
    for z in labels.vertices:
        path = plan.rollout(int(z)).path
        assert values[path] == pytest.approx(factor * truth[path], abs=1e-12 * span)
    for s in range(graph.num_vertices):
        y = int(plan.successor[s])
        if s == goal or values[y] >= values[s] * (1 - 1e-9):
            continue
        slope = (values[s] - values[y]) / graph.lengths[graph.indptr[s] :][
            np.searchsorted(graph.neighbours(s), y)
        ]
        assert plan.cost[s] <= values[s] / slope * (1 + 1e-6)


@given(tasks(factors=FACTORS, max_vertices=10))
def test_in_rationals(task) -> None:
    graph, goal, truth, labels, _ = task
    check(graph, goal, truth, labels, np.array([float(v) for v in exact_amle(graph, labels)]))


@given(tasks(factors=FACTORS, max_vertices=40))
def test_with_the_solver(task) -> None:
    graph, goal, truth, labels, _ = task
    check(graph, goal, truth, labels, wf.extend(graph, labels, wf.AMLE()).values)


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="120 mazes need compiled kernels")
def test_on_the_papers_cells() -> None:
    """All 120 cells, two goals each: every start of every field."""
    starts = 0
    for cell in grid(goals=2):
        world = cell.draw()
        for goal, labels in zip(world.goals, world.labels, strict=True):
            truth = wf.cost_to_go(world.graph, int(goal))
            field = wf.extend(world.graph, labels, wf.AMLE(bracket=False))
            plan = wf.plan(world.graph, field.values, int(goal))
            starts += plan.reached.size
            assert plan.reached.all(), cell
            assert np.array_equal(plan.cost[labels.vertices], truth[labels.vertices])
    assert starts == 645_120


# ------------------------------------------------------------------ the nearest label


def nearest(graph: wf.Graph, labels: wf.Labels):
    """The nearest label by its definition, on directed graphs too."""
    away = np.array([wf.cost_to_go(graph, int(z)) for z in labels.vertices])
    return labels.values[np.argmin(away, axis=0)]


@given(tasks(factors=FACTORS, max_vertices=30))
def test_the_nearest_label_reaches(task) -> None:
    """Unit and whole lengths: all sums are exact."""
    graph, goal, _, labels, _ = task
    field = wf.extend(graph, labels, wf.NearestLabel())
    assert np.array_equal(field.values, nearest(graph, labels))
    assert wf.plan(graph, field, goal).reached.all()


@given(graphs(30), st.data())
def test_the_nearest_label_reaches_on_any_lengths(graph, data) -> None:
    """Real lengths, on which no two paths tie: the tolerance is for the rounding of one path."""
    goal = data.draw(st.integers(0, graph.num_vertices - 1))
    truth = wf.cost_to_go(graph, goal)
    others = data.draw(st.lists(st.integers(0, graph.num_vertices - 1), max_size=8))
    at = np.unique([goal, *others])
    field = wf.extend(graph, wf.Labels(at, truth[at]), wf.NearestLabel())
    plan = wf.plan(graph, field, goal, tie_tolerance=1e-12 * truth.max())
    assert plan.reached.all()
    if len(at) == 1:  # a plateau everywhere: the fewest steps
        assert np.array_equal(plan.steps, wf.cost_to_go(unit(graph), goal))


def unit(graph: wf.Graph) -> wf.Graph:
    return wf.Graph(graph.indptr, graph.indices, np.ones(graph.num_arcs), graph.directed)


def test_index_ties_lose_the_nearest_label() -> None:
    maze = wf.grid_graph(wf.load_layout("medium"), refinement=4)
    field = wf.extend(maze, wf.sample_labels(maze, 0, 0.05, seed=54), wf.NearestLabel())
    assert wf.plan(maze, field, 0).reached.all()
    assert wf.plan(maze, field, 0, ties="index").success < 0.5


def test_argmin_q_on_the_nearest_label_may_fail() -> None:
    path = wf.Graph.from_edges([0, 1], [1, 2], [4.0, 3.0])
    field = wf.extend(path, wf.Labels([0], [0.0]), wf.NearestLabel())
    assert wf.plan(path, field, 0).reached.all()
    assert wf.plan(path, field, 0, rule="q").reached.tolist() == [True, False, False]


def test_the_nearest_label_on_arcs_may_fail() -> None:
    """The state 3 takes the 4 of state 1, one arc away, though it is two arcs from the goal."""
    tails, heads = [1, 2, 2, 3, 3, 4, 5], [2, 1, 3, 1, 4, 0, 3]
    graph = wf.Graph.from_edges(tails, heads, directed=True)
    truth = wf.cost_to_go(graph, 0)
    labels = wf.Labels([0, 1, 2, 4], truth[[0, 1, 2, 4]])
    field = wf.extend(graph, labels, nearest)
    assert field.values.tolist() == [0.0, 4.0, 3.0, 4.0, 1.0, 4.0]
    plan = wf.plan(graph, field, 0)
    assert np.flatnonzero(~plan.reached).tolist() == [1, 2]
    assert plan.false_sinks(labels).tolist() == [2]


def test_a_label_that_is_too_low_stops_the_nearest_label() -> None:
    path = wf.Graph.from_edges(range(4), range(1, 5))
    right, low = (wf.Labels([0, 2, 4], [0.0, 2.0, top]) for top in (4.0, 1.5))
    for labels, reached in ((right, 5), (low, 3)):
        plan = wf.plan(path, wf.extend(path, labels, wf.NearestLabel()), 0)
        assert plan.reached.sum() == reached


def test_rounded_costs_need_a_tolerance() -> None:
    """The labels 2 and 5 both cost 1.6, but for the last digit of a sum of three lengths."""
    tails, heads = [0, 0, 1, 2, 3, 4], [1, 6, 4, 3, 4, 5]
    tree = wf.Graph.from_edges(tails, heads, [0.6, 0.9, 0.4, 0.2, 0.4, 0.6])
    truth = wf.cost_to_go(tree, 0)
    assert 0.0 < truth[5] - truth[2] < 1e-15
    field = wf.extend(tree, wf.Labels([0, 2, 5, 6], truth[[0, 2, 5, 6]]), wf.NearestLabel())
    assert not wf.plan(tree, field, 0).reached.all()
    assert wf.plan(tree, field, 0, tie_tolerance=1e-12).reached.all()
