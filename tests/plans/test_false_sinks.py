"""False sinks: the only places where a plan on an AMLE can fail, and dropping them."""

from __future__ import annotations

import os
import pickle
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import wayfield as wf
from methods import methods
from worlds import ANY_LENGTH, WHOLE, labels_with_goal, random_graph

FEW = 40 if "NUMBA_DISABLE_JIT" in os.environ else 100
COST = wf.AMLE(bracket=False, fill="cost")
KINDS = pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])


def any_graph(
    rng: np.random.Generator, directed: bool, lengths: Sequence[str] = ANY_LENGTH
) -> wf.Graph:
    return random_graph(rng, int(rng.integers(2, 40)), lengths, directed=directed)


# ------------------------------------------------------------------ guarantees


@KINDS
def test_a_start_fails_only_at_a_false_sink(directed: bool) -> None:
    """Any labels at all. No false sinks: every start of finite value reaches."""
    rng = np.random.default_rng(1 + directed)
    clean = failing = 0
    for _ in range(FEW):
        graph = any_graph(rng, directed)
        goal = int(rng.integers(graph.num_vertices))
        labels = labels_with_goal(rng, graph, goal)
        plan = wf.plan(graph, wf.extend(graph, labels, COST, unreachable="nan"), goal)
        values = plan.values
        sinks = plan.false_sinks(labels)
        lost = np.flatnonzero(np.isfinite(values) & ~plan.reached)
        for start in lost:
            assert np.isin(plan.rollout(int(start)).path, sinks).any()
        assert sinks.size or not lost.size
        clean += not sinks.size
        failing += bool(lost.size)
    assert min(clean, failing) > 0.05 * FEW  # both cases were tried


@KINDS
def test_exact_labels_have_no_false_sinks_and_every_start_reaches(directed: bool) -> None:
    """Whole lengths, so that exact labels are exact; from a label the walk is a shortest path."""
    rng = np.random.default_rng(3 + directed)
    methods = (COST,) if directed else (COST, wf.AMLE(bracket=False))
    for _ in range(FEW):
        graph = any_graph(rng, directed, WHOLE)
        goal = int(rng.integers(graph.num_vertices))
        truth = wf.cost_to_go(graph, goal)
        drawn = wf.sample_labels(graph, goal, float(rng.uniform(0.01, 0.4)), int(rng.integers(99)))
        labels = wf.Labels(drawn.vertices, float(rng.choice([0.25, 1.0, 6.0])) * drawn.values)
        for method in methods:
            plan = wf.plan(graph, wf.extend(graph, labels, method, unreachable="nan"), goal)
            assert not plan.false_sinks(labels).size
            assert np.array_equal(plan.reached, np.isfinite(truth))
            assert np.array_equal(plan.cost[labels.vertices], truth[labels.vertices])
            assert (plan.cost[plan.reached] >= truth[plan.reached]).all()


@KINDS
def test_without_false_sinks_everything_that_can_reach_does(directed: bool) -> None:
    rng = np.random.default_rng(5 + directed)
    method = wf.AMLE()
    trimmed = 0
    for _ in range(FEW):
        graph = any_graph(rng, directed)
        goal = int(rng.integers(graph.num_vertices))
        labels = labels_with_goal(rng, graph, goal)
        kept = wf.drop_false_sinks(graph, labels, goal, method)
        plan = wf.plan(graph, wf.extend(graph, kept, method, unreachable="nan"), goal)
        values = plan.values
        truth = wf.cost_to_go(graph, goal)
        assert np.array_equal(plan.reached, np.isfinite(truth))
        assert np.array_equal(np.isfinite(values), np.isfinite(truth))
        assert not plan.false_sinks(kept).size
        both = np.concatenate([kept.vertices, kept.dropped])
        assert np.array_equal(np.sort(both), labels.vertices)
        assert goal in kept.vertices
        assert np.array_equal(kept.values, labels.values[np.isin(labels.vertices, kept.vertices)])
        assert (kept.rounds == 0) == (kept.dropped.size == 0)
        trimmed += kept.dropped.size > 0
    assert trimmed > 0.3 * FEW


# ------------------------------------------------------------------ dropping them


def test_what_is_dropped_is_said() -> None:
    path = wf.Graph.from_edges(range(5), range(1, 6))
    noisy = wf.Labels([0, 2, 3, 5], [0.0, 9.0, 7.0, 8.0], error=2.0)
    kept = wf.drop_false_sinks(path, noisy, 0)
    assert kept.dropped.tolist() == [3, 5]
    assert kept.vertices.tolist() == [0, 2]
    assert kept.rounds == 2  # 3 first; then 5, which was only above 3
    assert kept.error == 2.0
    assert repr(kept) == "TrimmedLabels(2 vertices, values 0 to 9, error 2, 2 dropped in 2 rounds)"
    assert isinstance(kept, wf.Labels)
    assert not kept.dropped.flags.writeable
    again = pickle.loads(pickle.dumps(kept))
    assert repr(again) == repr(kept)
    assert again.dropped.tolist() == [3, 5]


def test_brackets_that_cannot_be_proved_are_no_obstacle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ties on lengths that are multiples of a quarter can defeat the proof, not the values."""
    solve = wf.AMLE.solve

    def unproved(method: wf.AMLE, problem: Any) -> Any:
        return replace(solve(method, problem), status=wf.Status.UNVERIFIED)

    monkeypatch.setattr(wf.AMLE, "solve", unproved)
    path = wf.Graph.from_edges(range(4), range(1, 5), [0.25, 0.5, 0.25, 0.25])
    labels = wf.Labels([0, 2, 4], [0.0, 5.0, 4.0])
    with pytest.raises(wf.NotConverged):
        wf.extend(path, labels, wf.AMLE())
    assert wf.drop_false_sinks(path, labels, 0).dropped.tolist() == [4]


@methods(any_labels=True)
def test_it_ends_for_any_method(method: wf.fields.Method) -> None:
    rng = np.random.default_rng(9)
    for _ in range(10):
        graph = any_graph(rng, directed=False)
        labels = labels_with_goal(rng, graph, 0)
        kept = wf.drop_false_sinks(graph, labels, 0, method)
        assert 0 in kept.vertices


def test_with_a_prior_sinks_are_those_of_the_corrected_field() -> None:
    ends = [4, 2, 1, 7, 5, 3, 6, 0, 3, 4, 5], [7, 0, 2, 1, 2, 2, 1, 7, 1, 0, 6]
    lengths = [3e3, 2e3, 3e3, 3e3, 1e3, 4e3, 3e3, 4e3, 4e3, 1e3, 1e3]
    graph = wf.Graph.from_edges(*ends, lengths, 8, directed=True)
    labels, prior = wf.Labels([1, 3, 7, 2], [2e3, 2e3, 5e3, 3e3]), wf.cost_to_go(graph, 2)
    plain = wf.drop_false_sinks(graph, labels, 2)
    assert wf.solve(graph, plain, 2, prior=prior, check=False).false_sinks.size > 0
    kept = wf.drop_false_sinks(graph, labels, 2, prior=prior)
    assert wf.solve(graph, kept, 2, prior=prior, check=False).false_sinks.size == 0
