"""The reach theorem: labels exact up to a factor, exact AMLE, exit ties (``docs/planner.md``)."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given

import wayfield as wf
from exact_amle import exact_amle
from wayfield_study.experiments import grid
from worlds import tasks

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
