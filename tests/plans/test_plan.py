"""The planner against walkers that follow its definition, and the guarantees it states."""

from __future__ import annotations

from itertools import pairwise
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wayfield as wf
from walkers import cycle_of, follow, level_hops, moves
from wayfield.plans.planning import WORK_LIMIT
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


@given(any_fields(), tie_rules, tolerances)
def test_rules_agree_on_unit_lengths(world, ties, tolerance) -> None:
    graph, values, goal = world
    unit = wf.Graph.from_edges(
        graph.tails, graph.indices, None, graph.num_vertices, directed=graph.directed
    )
    plans = [wf.plan(unit, values, goal, rule, ties, tolerance) for rule in ("slope", "q")]
    assert np.array_equal(plans[0].successor, plans[1].successor)


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


def test_index_ties_loop_where_exit_ties_leave() -> None:
    path = wf.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    values = [1.0, 1.0, 1.0, 1.0, 0.0]
    stuck = wf.plan(path, values, 4, ties="index")
    assert stuck.success == 0.25
    assert [cycle.tolist() for cycle in stuck.cycles] == [[0, 1]]
    assert wf.plan(path, values, 4).success == 1.0


def test_exit_ties_avoid_dead_ends_and_pits() -> None:
    """Of two equal neighbours the lower-numbered one is a dead end."""
    fork = wf.Graph.from_edges([0, 0, 2], [1, 2, 3], directed=True)
    assert wf.plan(fork, [2.0, 1.0, 1.0, 0.0], 3, ties="index").basin.tolist() == [-2, -2, -1, -1]
    assert wf.plan(fork, [2.0, 1.0, 1.0, 0.0], 3).reached.tolist() == [True, False, True, True]


def test_q_is_not_scale_free_and_slope_is() -> None:
    """Half of the true values: argmin-Q takes the short arc uphill, steepest descent does not."""
    graph = wf.Graph.from_edges([0, 1], [1, 2], lengths=[1.0, 10.0])
    half = wf.cost_to_go(graph, 2) / 2
    assert wf.plan(graph, half, 2, rule="q").success == 0.0
    assert wf.plan(graph, half, 2, rule="slope").success == 1.0


def test_infinite_states_are_left_but_never_entered() -> None:
    path = wf.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    plan = wf.plan(path, [0.0, 1.0, inf, 5.0, inf], 0)
    assert plan.successor.tolist() == [0, 0, 1, 3, 3]
    assert plan.dead_ends.tolist() == [3]
    assert plan.basin.tolist() == [-1, -1, -1, -2, -2]


def test_a_state_without_a_move_stays_and_points_at_no_other() -> None:
    """It was -1 there, and in silence an index of the last vertex."""
    arcs = wf.Graph.from_edges([0, 1], [1, 2], num_vertices=4, directed=True)
    plan = wf.plan(arcs, [2.0, 1.0, 0.0, 5.0], 2)
    assert plan.values[plan.successor].tolist() == [1.0, 0.0, 0.0, 5.0]
    assert plan.dead_ends.tolist() == [3]
    assert plan.rollout(3).path.tolist() == [3]
    assert plan.rollout(3).outcome == wf.Outcome.DEAD_END
    assert not plan.dead_ends.flags.writeable


def test_huge_values_and_lengths_do_not_overflow_the_choice() -> None:
    graph = wf.Graph.from_edges([0, 1], [1, 2], lengths=[1e-100, 1e100])
    with np.errstate(over="ignore"):
        for goal in range(3):
            assert not wf.plan(graph, [1e308, -1e308, 1.7e308], goal).dead_ends.size


# ---------------------------------------------------------------- single walks


@given(any_fields())
def test_learning_reaches_wherever_the_goal_can_be_reached(world) -> None:
    graph, values, goal = world
    plan, lengths = wf.plan(graph, values, goal), rows(graph)
    can_reach = np.isfinite(wf.cost_to_go(graph, goal))
    assert np.array_equal(plan.reachable, can_reach)
    for start in range(graph.num_vertices):
        rollout = plan.rollout(start, learn=True)
        path = rollout.path.tolist()
        assert path[0] == start
        if not can_reach[start]:
            assert (rollout.outcome, path) == ("unreachable", [start])
            continue
        assert rollout.outcome == "reached"
        assert path[-1] == goal
        assert path.count(goal) == 1
        cost = sum(lengths[x][y] for x, y in pairwise(path))
        assert rollout.cost == pytest.approx(cost, rel=1e-12)
        assert 0.0 <= rollout.detour <= rollout.cost
        if len(set(path)) == len(path):
            assert rollout.detour == 0.0
        if plan.reached[start]:
            assert path == plan.rollout(start).path.tolist()
            assert rollout.raised == 0.0


@given(any_fields())
def test_learning_costs_at_most_the_start_value_and_the_raise(world) -> None:
    graph, values, goal = world
    values = [min(v, 10.0) for v in values]
    plan, lengths = wf.plan(graph, values, goal), rows(graph)
    patience = WORK_LIMIT * (graph.num_vertices + graph.num_arcs)
    for start in np.flatnonzero(plan.reachable & ~plan.reached):
        rollout = plan.rollout(int(start), learn=True)
        if sum(len(lengths[int(x)]) for x in rollout.path[:-1]) > patience:
            continue
        bound = values[start] - values[goal] + rollout.raised
        scale = max(map(abs, values)) + rollout.raised + rollout.cost
        assert rollout.cost <= bound + 1e-9 * scale


def test_learning_of_a_hopeless_field_ends_all_the_same() -> None:
    """A pit 1e300 deep would take 1e300 raises of 1."""
    path = wf.Graph.from_edges(range(9), range(1, 10))
    plan = wf.plan(path, [1e300] * 5 + [0.0] * 5, 0)
    rollout = plan.rollout(9, learn=True)
    assert rollout.outcome == wf.Outcome.REACHED
    assert rollout.path.size <= WORK_LIMIT * (10 + 18) + 10
    top = np.finfo(float).max
    assert wf.plan(path, [top] * 5 + [0.0] * 5, 0).rollout(9, learn=True).path[-1] == 0


def test_learning_on_a_star_does_not_scan_its_hub_for_ever() -> None:
    n = 100_000
    star = wf.Graph.from_edges(np.zeros(n, int), np.arange(1, n + 1))
    values = np.zeros(n + 1)
    values[n] = 1e9
    assert wf.plan(star, values, n).rollout(1, learn=True).outcome == wf.Outcome.REACHED


def test_learning_never_enters_a_trap() -> None:
    """0 → 1 ⇄ 2 looks better than 0 → 3 → 4, but cannot reach the goal 4."""
    trap = wf.Graph.from_edges([0, 1, 2, 0, 3], [1, 2, 1, 3, 4], directed=True)
    plan = wf.plan(trap, [2.0, 0.5, 0.0, 9.0, 0.0], 4)
    assert plan.rollout(0).outcome == wf.Outcome.LOOP
    assert plan.rollout(0, learn=True).path.tolist() == [0, 3, 4]
    assert plan.rollout(1, learn=True).outcome == wf.Outcome.UNREACHABLE


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


def test_an_extension_is_planned_on_with_what_its_nan_means() -> None:
    apart = wf.Graph.from_edges([0, 2], [1, 3])
    field = wf.extend(apart, wf.Labels([0], [0.0]), wf.AMLE(fill="cost"), unreachable="nan")
    assert np.isnan(field.values).tolist() == [False, False, True, True]
    plan = wf.plan(apart, field, 0)
    assert plan.values.tolist() == [0.0, 1.0, inf, inf]
    assert wf.lift(apart, field, 0).values.tolist() == [0.0, 1.0, inf, inf]
    with pytest.raises(wf.InputError, match=r"values\[2\] = nan is neither a number nor"):
        wf.plan(apart, field.values, 0)
    with pytest.raises(wf.InputError, match="the field belongs to another graph"):
        wf.plan(wf.Graph.from_edges([0, 1], [2, 3]), field, 0)


def test_a_plan_for_one_vertex() -> None:
    assert wf.plan(wf.Graph.from_edges([], [], num_vertices=1), [0.0], 0).success == 1.0


def test_arrays_are_frozen_and_the_callers_left_alone() -> None:
    path = wf.Graph.from_edges([0, 1], [1, 2])
    values = np.array([0.0, 1.0, 2.0])
    plan = wf.plan(path, values, 0)
    values[:] = 7.0
    assert plan.values.tolist() == [0.0, 1.0, 2.0]
    for array in (plan.successor, plan.reached, plan.steps, plan.cost, plan.basin, plan.values):
        assert not array.flags.writeable


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"graph": "maze"}, "graph must be a wayfield.Graph, got str"),
        ({"values": [0.0, nan, 1.0]}, r"values\[1\] = nan"),
        ({"values": [0.0, 1.0, -inf]}, r"values\[2\] = -inf"),
        ({"values": [0.0, 1.0]}, "the field has 2 values but the graph has 3 vertices"),
        ({"values": [[0.0, 1.0, 2.0]]}, "one-dimensional"),
        ({"values": ["a", "b", "c"]}, "values must be real numbers"),
        ({"goal": 3}, "goal 3 is not a vertex"),
        ({"goal": -1}, "goal -1 is not a vertex"),
        ({"goal": 10**5000}, r"goal 10\^5000 is not a vertex"),
        ({"goal": 0.5}, "goal must be a whole number"),
        ({"rule": "greedy"}, "rule must be one of .* got 'greedy'"),
        ({"rule": ["slope", "q"]}, "rule must be one of"),
        ({"ties": None}, "ties must be one of .* got None"),
        ({"tie_tolerance": -1e-9}, "tie_tolerance must be a finite number of at least 0"),
        ({"tie_tolerance": nan}, "tie_tolerance"),
        ({"tie_tolerance": inf}, "tie_tolerance"),
        ({"tie_tolerance": "small"}, "tie_tolerance"),
    ],
)
def test_bad_input_is_named(change, message) -> None:
    call = {"graph": wf.Graph.from_edges([0, 1], [1, 2]), "values": [0.0, 1.0, 2.0], "goal": 0}
    with pytest.raises(wf.InputError, match=message):
        wf.plan(**(call | change))


def test_bad_rollouts_are_named() -> None:
    plan = wf.plan(wf.Graph.from_edges([0], [1]), [0.0, 1.0], 0)
    with pytest.raises(wf.InputError, match="start 2 is not a vertex"):
        plan.rollout(2)
    with pytest.raises(wf.InputError, match="learn must be True or False"):
        plan.rollout(1, learn="yes")  # type: ignore[arg-type]
    with pytest.raises(wf.InputError, match="out of range"):
        plan.false_sinks(wf.Labels([5], [1.0]))
