"""The planner against walkers that follow its definition, and the guarantees it states."""

from __future__ import annotations

from itertools import pairwise
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wayfield as wf
from walkers import cycle_of, follow, level_hops, moves
from worlds import any_fields, rows

rules = st.sampled_from(["slope", "q"])
tie_rules = st.sampled_from(["exit", "index"])
tolerances = st.sampled_from([0.0, 0.0, 1e-9, 0.5, 1.0])


@given(any_fields(), rules, tie_rules, tolerances)
def test_every_outcome_is_the_walkers(world, rule, ties, tolerance) -> None:
    graph, values, goal = world
    plan = wf.plan(graph, values, goal, rule, ties, tolerance)
    move = moves(graph, values, goal, rule, ties, tolerance)
    assert plan.successor.tolist() == [s if y < 0 else y for s, y in move.items()]
    assert plan.dead_ends.tolist() == [s for s, y in move.items() if y < 0]
    lengths = rows(graph)
    cycles = set()
    for start in range(graph.num_vertices):
        outcome, path = follow(move, start, goal)
        cost = sum(lengths[x][y] for x, y in pairwise(path))
        assert plan.reached[start] == (outcome == "reached")
        assert plan.steps[start] == (len(path) - 1 if outcome == "reached" else -1)
        if outcome == "reached":
            assert plan.basin[start] == -1
            assert plan.cost[start] == pytest.approx(cost, rel=1e-14)
        else:
            assert plan.cost[start] == inf
        if outcome == "dead end":
            assert plan.basin[start] == -2
        if outcome == "loop":
            assert plan.cycles[plan.basin[start]].tolist() == cycle_of(path)
            cycles.add(tuple(cycle_of(path)))
        rollout = plan.rollout(start)
        assert rollout.outcome == outcome
        assert rollout.path.tolist() == path
        assert rollout.cost == pytest.approx(cost, rel=1e-14)
    assert [tuple(c.tolist()) for c in plan.cycles] == sorted(cycles)


# ---------------------------------------------------------------- guarantees


@given(any_fields())
def test_exit_ties_fail_only_in_a_plateau_without_exit(world) -> None:
    """Slope, exit ties: (value, hops) falls until the goal or a vertex without an exit."""
    graph, values, goal = world
    plan = wf.plan(graph, values, goal)
    hops = level_hops(graph, values, goal, 0.0)
    for s in range(graph.num_vertices):
        y = int(plan.successor[s])
        if y != s and hops[s] < inf:
            assert (values[y], hops[y]) < (values[s], hops[s])
    for cycle in plan.cycles:
        assert max(hops[int(x)] for x in cycle) == inf


@given(any_fields(), st.sampled_from([1e-9, 0.5, 1.0]))
def test_a_tolerance_keeps_plateaus_free_of_loops(world, tolerance) -> None:
    """A step from a vertex with an exit drops beyond the tolerance, or is level and nears it."""
    graph, values, goal = world
    plan = wf.plan(graph, values, goal, tie_tolerance=tolerance)
    hops = level_hops(graph, values, goal, tolerance)
    for s in range(graph.num_vertices):
        y = int(plan.successor[s])
        if y == s or hops[s] == inf:
            continue
        if hops[s] == 0:
            assert values[s] - values[y] > tolerance
        else:
            assert abs(values[s] - values[y]) <= tolerance
            assert hops[y] == hops[s] - 1


@given(any_fields())
def test_the_truth_is_walked_optimally(world) -> None:
    graph, _, goal = world
    if graph.lengths.size and graph.lengths.max() / graph.lengths.min() > 1e6:
        return
    truth = wf.cost_to_go(graph, goal)
    for rule in ("slope", "q"):
        plan = wf.plan(graph, truth, goal, rule)
        assert np.array_equal(plan.reached, np.isfinite(truth))
        assert plan.cost == pytest.approx(truth, rel=1e-12)


def test_noise_on_a_plateau_needs_the_tolerance() -> None:
    """A level corridor with rounding noise: pits without a tolerance, a way out with one."""
    n = 200
    path = wf.Graph.from_edges(range(n - 1), range(1, n))
    values = 1.0 + 1e-12 * np.random.default_rng(0).random(n)
    values[0] = 0.0
    assert wf.plan(path, values, 0).success < 0.1
    assert wf.plan(path, values, 0, tie_tolerance=1e-11).success == 1.0


def test_huge_values_and_lengths_do_not_overflow_the_choice() -> None:
    graph = wf.Graph.from_edges([0, 1], [1, 2], lengths=[1e-100, 1e100])
    with np.errstate(over="ignore"):
        for goal in range(3):
            assert not wf.plan(graph, [1e308, -1e308, 1.7e308], goal).dead_ends.size


# ---------------------------------------------------------------- labels


def test_cycles_are_told_apart_by_labels() -> None:
    path = wf.Graph.from_edges(range(6), range(1, 7))
    plan = wf.plan(path, [0.0, 3.0, 1.0, 2.0, 3.0, 1.0, 1.0], 0)
    assert [cycle.tolist() for cycle in plan.cycles] == [[2, 3], [5, 6]]
    assert plan.touches(wf.Labels([0, 3], [0.0, 2.0])).tolist() == [True, False]
    assert wf.plan(path, np.arange(7.0), 0).touches(wf.Labels([0], [0.0])).size == 0


def test_false_sinks_are_labels_without_descent() -> None:
    path = wf.Graph.from_edges(range(4), range(1, 5))
    labels = wf.Labels([0, 2, 3, 4], [0.0, 1.0, 1.0, 2.0])
    plan = wf.plan(path, [0.0, 1.5, 1.0, 1.0, 2.0], 0)
    assert plan.false_sinks(labels).tolist() == [2, 3]
    assert wf.plan(path, np.arange(5.0), 0).false_sinks(labels).size == 0


# ---------------------------------------------------------------- looks and bad input


def test_repr_counts_and_never_rounds_up_to_all() -> None:
    values = np.ones(30_001)
    values[[0, 1, -2, -1]] = 0.0, 4.0, 2.0, 1.0
    star = wf.Graph.from_edges([*[0] * 29_998, 1, 29_999], range(1, 30_001))
    shown = repr(wf.plan(star, values, 0))
    assert shown == "Plan(30,001 starts: 99.99 % reach the goal, 1 cycle)"


def test_starts_that_cannot_reach_the_goal_are_no_failures() -> None:
    apart = wf.Graph.from_edges([0, 2], [1, 3])
    plan = wf.plan(apart, [0.0, 1.0, 2.0, 3.0], 0)
    assert (plan.num_able, plan.num_arrived, plan.success) == (1, 1, 1.0)
    assert repr(plan) == "Plan(4 starts: 100 % of 1 with a path reach the goal, 1 cycle)"


def test_arrays_are_frozen_and_the_callers_left_alone() -> None:
    path = wf.Graph.from_edges([0, 1], [1, 2])
    values = np.array([0.0, 1.0, 2.0])
    plan = wf.plan(path, values, 0)
    values[:] = 7.0
    assert plan.values.tolist() == [0.0, 1.0, 2.0]
    for array in (plan.successor, plan.reached, plan.steps, plan.cost, plan.basin, plan.values):
        assert not array.flags.writeable


def test_an_extension_is_planned_on_with_what_its_nan_means() -> None:
    apart = wf.Graph.from_edges([0, 2], [1, 3])
    field = wf.extend(apart, wf.Labels([0], [0.0]), wf.AMLE(fill="cost"), unreachable="nan")
    assert np.isnan(field.values).tolist() == [False, False, True, True]
    plan = wf.plan(apart, field, 0)
    assert plan.values.tolist() == [0.0, 1.0, inf, inf]
    assert wf.lift(apart, field, 0).values.tolist() == [0.0, 1.0, inf, inf]
    assert plan.outcomes.tolist() == ["reached", "reached", "unreachable", "unreachable"]
    assert wf.plan(apart, [0.0, 1.0, 2.0, inf], 0).outcomes[2] == "unreachable"
