"""The least descending field against all simple paths, and the guarantee it carries."""

from __future__ import annotations

from itertools import pairwise
from math import inf, nextafter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wayfield as wf
from worlds import any_fields, rows


def lifted(graph: wf.Graph, values: list[float], goal: int) -> list[float]:
    """v(x) = least over simple paths to the goal of the value climbed to along them, backwards."""
    into: dict[int, list[int]] = {x: [] for x in range(graph.num_vertices)}
    for x, row in rows(graph).items():
        for y in row:
            into[y].append(x)
    can = np.isfinite(wf.cost_to_go(graph, goal))
    largest = max(v for v, ok in zip(values, can, strict=True) if ok and v < inf)
    least = [inf] * graph.num_vertices

    def climb(path: list[int], height: float) -> None:
        y = path[-1]
        least[y] = min(least[y], height)
        for x in into[y]:
            if x not in path:
                climb([*path, x], max(min(values[x], largest), nextafter(height, inf)))

    climb([goal], values[goal])
    return least


def is_good(graph: wf.Graph, values: np.ndarray, goal: int) -> bool:
    """Whether every state that can reach the goal descends, and no other is finite."""
    can = np.isfinite(wf.cost_to_go(graph, goal))
    descends = all(
        x == goal or not can[x] or any(values[y] < values[x] for y in row)
        for x, row in rows(graph).items()
    )
    return descends and np.array_equal(np.isfinite(values), can)


@given(any_fields(max_vertices=6))
def test_it_is_the_least_over_all_paths(world) -> None:
    graph, values, goal = world
    values[goal] = min(values[goal], 2.0)
    safe = wf.lift(graph, values, goal)
    assert safe.values.tolist() == lifted(graph, values, goal)
    assert is_good(graph, safe.values, goal)
    assert safe.unchanged == is_good(graph, np.array(values), goal)
    both = np.isfinite(values) & safe.reachable
    assert (safe.raised[both] >= 0).all()
    assert np.array_equal(safe.values == values, safe.raised == 0)


@given(any_fields(max_vertices=6))
def test_no_value_could_be_smaller(world) -> None:
    """Any one raised value, lowered to the double below it, breaks the field."""
    graph, values, goal = world
    values = [min(v, 5.0) for v in values]
    safe = wf.lift(graph, values, goal)
    for x in np.flatnonzero(safe.reachable & (safe.raised > 0)):
        lower = safe.values.copy()
        lower[x] = nextafter(lower[x], -inf)
        assert not is_good(graph, lower, goal)


@given(any_fields(max_vertices=12), st.sampled_from(["exit", "index"]))
def test_steepest_descent_on_it_always_reaches(world, ties) -> None:
    graph, values, goal = world
    values[goal] = min(values[goal], 2.0)
    safe = wf.lift(graph, values, goal)
    plan = wf.plan(graph, safe.values, goal, ties=ties)
    assert (plan.reached | ~safe.reachable).all()
    for x in np.flatnonzero(safe.reachable):
        path = safe.values[plan.rollout(int(x)).path]
        assert (np.diff(path) < 0).all()
    again = wf.lift(graph, safe.values, goal)
    assert again.unchanged


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("field", ["random", "reversed", "noisy", "level", "tiny", "infinite"])
def test_bad_fields_on_large_graphs(field, directed) -> None:
    rng = np.random.default_rng(7)
    n = 3_000
    tails, heads = rng.integers(0, n, (2, 4 * n))
    keep = tails != heads
    pairs = np.unique(np.column_stack([tails, heads])[keep], axis=0)
    if not directed:
        pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    graph = wf.Graph.from_edges(*pairs.T, rng.lognormal(size=len(pairs)), n, directed)
    truth = wf.cost_to_go(graph, 0)
    known = np.where(np.isfinite(truth), truth, 1.0)
    values = {
        "random": rng.normal(size=n),
        "reversed": -known,
        "noisy": known + rng.normal(size=n),
        "level": np.zeros(n),
        "tiny": 5e-324 * rng.integers(0, 3, n),
        "infinite": np.where(rng.random(n) < 0.5, np.inf, known),
    }[field]
    values[0] = min(values[0], 1.0)
    safe = wf.lift(graph, values, 0)
    plan = wf.plan(graph, safe.values, 0)
    assert np.array_equal(plan.reached, np.isfinite(truth))
    assert np.array_equal(safe.reachable, np.isfinite(truth))
    assert not safe.unchanged


def test_argmin_q_reaches_on_unit_lengths_but_may_climb_on_others() -> None:
    rng = np.random.default_rng(3)
    tails, heads = np.arange(99), np.arange(1, 100)
    path = wf.Graph.from_edges(tails, heads)
    safe = wf.lift(path, rng.random(100), 50)
    assert wf.plan(path, safe.values, 50, rule="q").success == 1.0
    long = wf.Graph.from_edges([0, 1], [1, 2], lengths=[1.0, 10.0])
    assert wf.lift(long, [2.0, 1.0, 0.0], 2).unchanged
    assert wf.plan(long, [2.0, 1.0, 0.0], 2, rule="q").success == 0.0


def test_a_pit_is_filled_to_its_rim() -> None:
    path = wf.Graph.from_edges(range(4), range(1, 5))
    safe = wf.lift(path, [0.0, 4.0, 1.0, 1.0, 5.0], 0)
    assert all(x < y for x, y in pairwise(safe.values))
    assert safe.values[2] == nextafter(4.0, inf)
    assert safe.raised.tolist() == [0.0, 0.0, safe.values[2] - 1.0, safe.values[3] - 1.0, 0.0]


def test_what_is_said_of_infinities() -> None:
    arcs = wf.Graph.from_edges([1, 2, 0], [0, 1, 3], directed=True)
    safe = wf.lift(arcs, [0.0, inf, 3.0, 2.0], 0)
    assert safe.values.tolist() == [0.0, 3.0, nextafter(3.0, inf), inf]
    assert safe.raised.tolist() == [0.0, -inf, safe.values[2] - 3.0, inf]
    assert repr(safe).startswith("Lifted(4 values: 1 raised by at most 4.44e-16, 1 cannot reach")
