"""Methods beside the plain graph distance; labels left out in turn; many goals in one table."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wayfield as wf
from wayfield.advice.comparison import (
    Comparison,
    Folds,
    MethodScore,
    clearly_better,
    default_methods,
    error_text,
    mean_error,
)
from wayfield.advice.text import DISTANCE, median_ratio, route_margins
from wayfield.errors import OutOfTime
from wayfield.fields import Extension
from worlds import random_graph

RING = wf.Graph.from_edges(range(60), [*range(1, 60), 0])
WORLD = wf.Graph.from_edges(range(60), [*range(1, 60), 0], [1.0] * 30 + [5.0] * 30)
"""Half of the ring is slow, which the ring does not know."""


@cache
def measured() -> wf.Labels:
    """Return labels of the world, of which the ring knows half."""
    return wf.sample_labels(WORLD, 0, 0.4)


@pytest.fixture(scope="module")
def maze() -> wf.Graph:
    return wf.grid_graph(wf.load_layout("antmaze-medium"), 3)


@pytest.fixture(scope="module")
def labels(maze: wf.Graph) -> wf.Labels:
    return wf.sample_labels(maze, 5, 0.05, seed=1)


# ------------------------------------------------------------------ comparison


def test_on_the_graph_itself_nothing_beats_its_distance(maze: wf.Graph, labels: wf.Labels) -> None:
    found = wf.compare(maze, labels, 5)
    plain = found.scores[0]
    assert (plain.name, plain.success, plain.cost_ratio) == (DISTANCE, 1.0, 1.0)
    assert found.starts == maze.num_vertices - 1
    assert not found.labels_pay
    assert found.choice is plain
    told = "Use the graph distance: no field predicts labels left out clearly better"
    assert found.verdict == f"{told}; the mean error of the graph distance times 1 is 0."
    assert plain.label_error == 0.0
    assert all(score.held_out is not None for score in found.scores)
    by_name = {score.name: score for score in found.scores}
    assert by_name["AMLE()"].success == 1.0
    assert by_name["AMLE() on the graph distance"].cost_ratio == 1.0
    assert len(by_name) == len(default_methods(maze.directed)) + 3
    for name in ("Harmonic()", "PLaplacian(p=8)", "NearestLabel()", "AMLE(fill='cost')"):
        assert 0.0 <= by_name[name].success <= 1.0


def test_scores_are_those_of_solving_by_hand(maze: wf.Graph, labels: wf.Labels) -> None:
    told: list[str] = []
    found = wf.compare(maze, labels, 5, [wf.Harmonic(), wf.AMLE()], progress=told.append)
    assert told == [score.name for score in found.scores[1:]]
    answer = wf.solve(maze, labels, 5, wf.Harmonic())
    plan, margins = answer.plan, np.sort(route_margins(answer))
    others = plan.reached & (np.arange(maze.num_vertices) != 5)
    ratio = plan.cost[others] / wf.cost_to_go(maze, 5)[others]
    score = found.scores[1]
    assert score.success == plan.success < 1.0
    assert score.cost_ratio == pytest.approx(ratio.mean())
    assert score.margin == margins[(margins.size - 1) // 2]
    assert np.isnan(found.scores[0].margin)


@pytest.mark.parametrize("seed", range(3))
def test_directed_graphs_get_the_methods_that_have_a_directed_form(seed: int) -> None:
    graph = random_graph(np.random.default_rng(seed), 80, "spread", edges=400, directed=True)
    found = wf.compare(graph, wf.sample_labels(graph, 0, 0.1, seed=seed), 0)
    names = [score.name for score in found.scores]
    assert names[:3] == [DISTANCE, "AMLE()", "AMLE(fill='flat')"]
    assert not any("Harmonic" in name for name in names)
    assert found.starts == int(np.isfinite(wf.cost_to_go(graph, 0)).sum()) - 1
    assert found.scores[0].success == found.scores[1].success == 1.0


def test_rows_that_say_nothing_are_left_out() -> None:
    arcs = wf.Graph.from_edges([1, 2], [0, 1], directed=True)
    twice = [wf.AMLE(), wf.AMLE(fill="cost"), wf.AMLE()]  # the same thing on directed graphs
    found = wf.compare(arcs, wf.Labels([0, 2], [0.0, 2.0]), 0, twice)
    assert [score.name for score in found.scores] == [DISTANCE, "AMLE()"]
    graph = wf.Graph.from_edges([1, 0], [0, 2], directed=True)  # nothing leads from 2 to 0
    found = wf.compare(graph, wf.Labels([0, 2], [0.0, 4.0]), 0)
    assert "AMLE() on the graph distance" not in [score.name for score in found.scores]
    found = wf.compare(graph, wf.Labels([1], [4.0]), 0)  # a goal without a label
    assert "AMLE() without false sinks" not in [score.name for score in found.scores]


def test_the_table_and_the_remarks(maze: wf.Graph, labels: wf.Labels) -> None:
    late = [wf.PLaplacian(8), wf.NearestLabel()]
    found = wf.compare(maze, wf.Labels(labels.vertices, 60 * labels.values), 5, late, time_limit=0)
    first, head, plain, stopped, row, verdict, *remarks = repr(found).splitlines()
    assert first == f"Comparison over {maze.num_vertices - 1} starts"
    assert " ".join(head.split()) == "method success cost margin left out time"
    assert plain.split()[:4] == ["graph", "distance", "100", "%"]
    assert stopped.split()[:4] == ["PLaplacian(p=8)", "out", "of", "time"]
    assert row.startswith("NearestLabel()  ")
    assert len({len(line) for line in (head, plain, stopped, row)}) == 1
    assert verdict.startswith("Use the graph distance: no field predicts labels left out clearly")
    assert found.factor == 60.0
    assert remarks[0].startswith("labels are 60 times the graph's own distances: are both")
    told = "stopped by the time limit: PLaplacian(p=8); a larger time_limit gives more time"
    assert remarks[1:] == [told]


def test_a_method_that_runs_out_of_time_has_no_figures(maze: wf.Graph, labels: wf.Labels) -> None:
    methods = [wf.PLaplacian(8), wf.NearestLabel()]
    _, late, quick = wf.compare(maze, labels, 5, methods, time_limit=0.0).scores
    assert (late.out_of_time, quick.out_of_time) == (True, False)
    assert np.isnan([late.success, late.cost_ratio, late.margin, late.label_error]).all()
    assert late.seconds > 0.0
    assert quick.held_out is None  # no time to leave labels out
    only = wf.compare(maze, labels, 5, [wf.Harmonic()], time_limit=0.0)
    assert only.choice is only.scores[0]
    assert only.verdict == "Use the graph distance: no other field was ready in time."
    assert not wf.compare(maze, labels, 5, methods[:1], time_limit=None).scores[1].out_of_time


def test_labels_are_left_out_as_long_as_there_is_time(
    maze: wf.Graph, labels: wf.Labels, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The field is done, then the clock runs out over the labels left out."""

    def slow(*_: object, **__: object) -> None:
        raise OutOfTime(60.0)

    monkeypatch.setattr(Folds, "predict", slow)
    plain, amle = wf.compare(maze, labels, 5, [wf.AMLE()]).scores
    assert (amle.out_of_time, amle.held_out) == (False, None)
    assert plain.held_out is not None


def test_measured_labels_show_that_they_know_better() -> None:
    """No truth at hand: labels left out are predicted better than by the graph distance."""
    found = wf.compare(RING, measured(), 0, [wf.AMLE(), wf.NearestLabel()])
    assert found.labels_pay
    assert found.verdict.startswith("Use AMLE(): its mean error at labels left out is ")
    plain, amle, _ = found.scores
    assert found.choice is amle
    same = wf.cross_validate(RING, measured(), 0)
    assert (amle.label_error, plain.label_error) == (same.error, same.distance_error)
    assert amle.label_error < plain.label_error
    assert amle.label_spread == same.spread
    blind = wf.compare(RING, measured(), 0, [wf.AMLE()], folds=0)
    assert blind.scores[1].held_out is None
    assert "too few labels to test whether they help" in blind.verdict


@pytest.mark.parametrize(
    ("labels", "methods", "verdict"),
    [
        (wf.Labels([0], [0.0]), [], "Use the graph distance: there is nothing to compare it with."),
        (wf.Labels([9], [9.0]), None, "The goal is not among the labels, so no field leads to it"),
        (
            wf.Labels([0, 9, 20], [0.0, -9.0, -20.0]),
            None,
            "Labels decrease away from the goal. If they are rewards, negate them.",
        ),
        (
            wf.Labels(range(0, 60, 3), np.arange(0.0, 60.0, 3) ** 2),
            {"squares": lambda graph, labels: np.arange(60.0) ** 2},
            "Use squares: its mean error at labels left out is 0;",
        ),
    ],
)
def test_verdicts(labels: wf.Labels, methods: Any, verdict: str) -> None:
    assert wf.compare(RING, labels, 0, methods).verdict.startswith(verdict)


def test_of_fields_that_predict_better_the_one_that_arrives_is_chosen() -> None:
    plain = MethodScore(DISTANCE, 1.0, 1.0, np.nan, 0.1, np.full(9, 5.0))
    stuck = MethodScore("stuck", 0.4, 1.0, 1.0, 0.1, np.full(9, 0.1))
    safe = MethodScore("safe", 1.0, 1.0, 1.0, 0.1, np.full(9, 0.2))
    close = MethodScore("close", 1.0 - 1e-6, 1.0, 1.0, 0.1, np.full(9, 0.15))
    assert Comparison((plain, stuck, safe), 10, True).choice is safe
    assert Comparison((plain, stuck, safe, close), 10, True).choice is close, "equal as shown"


class Unhashable:
    """A method of somebody's own that cannot be compared with others."""

    __hash__ = None  # type: ignore[assignment]

    def solve(self, problem: wf.fields.Problem) -> np.ndarray:
        return np.arange(problem.graph.num_vertices, dtype=float)

    def __eq__(self, other: object) -> bool:
        raise AssertionError


def nearest(graph: wf.Graph, labels: wf.Labels) -> np.ndarray:
    return wf.extend(graph, labels, wf.NearestLabel()).values


def test_methods_and_fields_of_ones_own_have_rows(maze: wf.Graph, labels: wf.Labels) -> None:
    critic, field = wf.cost_to_go(maze, 5) ** 2, wf.extend(maze, labels, wf.Harmonic())
    own = {"mine": nearest, "object": Unhashable(), "critic": critic, "extension": field}
    found = wf.compare(maze, labels, 5, own | {"library": wf.NearestLabel()})
    by_name = {score.name: score for score in found.scores}
    assert list(by_name) == [DISTANCE, *own, "library"]
    for name, values in (("critic", critic), ("extension", field)):
        assert by_name[name].success == wf.plan(maze, values, 5).success
        assert by_name[name].held_out is None
        assert f"{name} was given as it is, so leaving labels out does not test it" in found.remarks
    mine, theirs = by_name["mine"], by_name["library"]
    assert (mine.success, mine.cost_ratio) == (theirs.success, theirs.cost_ratio)
    assert np.array_equal(mine.held_out, theirs.held_out)  # type: ignore[arg-type]
    off = np.count_nonzero(critic[labels.vertices] - labels.values)
    assert by_name["critic"].missed.startswith(f"{off} of {len(labels)} labels")
    assert f"critic differs from {by_name['critic'].missed}" in found.remarks
    assert not theirs.missed
    assert critic.flags.writeable
    namesake = type("PLaplacian", (Unhashable,), {})()  # not the library's: it has no p
    listed = wf.compare(maze, labels, 5, [nearest, Unhashable(), namesake], folds=0)
    names = ["nearest", "Unhashable()", "PLaplacian()"]
    assert [score.name for score in listed.scores[1:]] == names


EIGHT = wf.Graph.from_edges(range(8), [*range(1, 8), 0])
LANE = wf.Graph.from_edges([1], [0], directed=True)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"methods": [np.zeros(8)]}, r"methods\[0\] is array\(.*, not a method; a field needs a n"),
        ({"methods": np.zeros(8)}, r"methods\[0\] is 0.0, not a method; a field needs a name"),
        ({"methods": 3}, "methods must be a list of methods, or {name: method or field}, got 3"),
        ({"methods": wf.AMLE()}, r"methods must be a list of methods, or .*, got AMLE"),
        ({"methods": ["amle"]}, r"methods\[0\] must be an extension such as AMLE\(\), a function"),
        ({"methods": {"critic": np.zeros(7)}}, r"methods\['critic'\]: the field has 7 values but"),
        ({"methods": {"critic": [np.nan] * 8}}, r"methods\['critic'\]: values\[0\] = nan is neith"),
        ({"methods": {"critic": None}}, r"methods\['critic'\]: values must be real numbers"),
        ({"methods": {3: wf.AMLE()}}, "methods must have names, got 3"),
        ({"methods": {"mine": lambda graph, labels: None}}, "<lambda>: values must be an array of"),
        ({"goal": 9}, "goal 9 is not a vertex"),
        ({"labels": wf.Labels([9], [0.0])}, "out of range"),
        ({"folds": -1}, "folds must be"),
        ({"time_limit": -1.0}, "time_limit must be a finite number of at least 0"),
        ({"time_limit": "soon"}, "time_limit must be a finite number of at least 0"),
        ({"graph": LANE, "methods": [wf.Harmonic()]}, "not defined on directed graphs"),
        ({"graph": LANE, "goal": 1}, "no other vertex can reach the goal 1"),
    ],
)
def test_bad_input_is_named(given: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"graph": EIGHT, "labels": wf.Labels([0], [0.0]), "goal": 0}
    with pytest.raises(wf.InputError, match=message):
        wf.compare(**(arguments | given))


def test_nothing_is_solved_twice(
    maze: wf.Graph, labels: wf.Labels, monkeypatch: pytest.MonkeyPatch
) -> None:
    extended, searched = [], []
    extend, search = wf.extend, wf.cost_to_go

    def count_extension(graph: wf.Graph, *rest: object, **settings: object) -> Extension:
        extended.append(graph.num_vertices)
        return extend(graph, *rest, **settings)  # type: ignore[arg-type]

    def count_search(graph: wf.Graph, goal: int) -> np.ndarray:
        searched.append((graph.num_vertices, goal))
        return search(graph, goal)

    for room in ("plans.sinks", "advice.solving"):
        monkeypatch.setattr(sys.modules[f"wayfield.{room}"], "extend", count_extension)
    for room in ("advice.comparison", "advice.solving"):
        monkeypatch.setattr(sys.modules[f"wayfield.{room}"], "cost_to_go", count_search)
    wf.compare(maze, labels, 5, [wf.AMLE(), wf.Harmonic()])
    assert extended.count(maze.num_vertices) == 2  # labels left out are extended on their own
    ring = 8  # vertices of the graph on which kernels are compiled
    assert [each for each in searched if each[0] != ring] == [(maze.num_vertices, 5)]


def test_contradictions_are_a_reason_to_test_the_graph(maze: wf.Graph) -> None:
    false = np.random.default_rng(0).choice(maze.num_vertices, (4, 2), replace=False)
    tails, heads = np.append(maze.tails, false[:, 0]), np.append(maze.indices, false[:, 1])
    graph, labels = wf.Graph.from_edges(tails, heads), wf.sample_labels(maze, 0, 0.2, seed=0)
    found = wf.compare(graph, labels, 0, [wf.NearestLabel()])
    (remark,) = found.remarks
    assert remark.partition(" of ")[0] == str(found.contradictions.optimistic.labels.size)
    assert remark.endswith("exact; wayfield.travel tests what is wrong.")
    assert wf.compare(maze, labels, 0, [wf.NearestLabel()]).remarks == ()


# ------------------------------------------------------------------ cross-validation


@pytest.mark.parametrize("trimmed", [False, True])
@pytest.mark.parametrize("method", [wf.AMLE(), wf.Harmonic(), wf.NearestLabel()], ids=str)
def test_each_label_is_predicted_once_from_those_of_other_folds(
    maze: wf.Graph, method: wf.fields.Method, trimmed: bool
) -> None:
    labels = wf.sample_labels(maze, 7, 0.1)
    parts = Folds(maze, labels, 7, wf.cost_to_go(maze, 7), folds=4)
    predicted, sizes = parts.predict(method, None, trimmed), []
    for i in range(4):
        kept = parts.labels_without(i)
        left = np.setdiff1d(labels.vertices, kept.vertices)
        sizes.append(left.size)
        kept = wf.drop_false_sinks(maze, kept, 7, method) if trimmed else kept
        field = wf.extend(maze, kept, method)
        out = np.isin(parts.vertices, left)
        assert predicted[out] == pytest.approx(field.values[parts.vertices[out]], abs=1e-9)
    assert sum(sizes) == parts.vertices.size == len(labels) - 1
    assert max(sizes) - min(sizes) <= 1
    found = wf.cross_validate(maze, labels, 7, method, trimmed=trimmed, folds=4)
    assert np.array_equal(found.predicted, predicted)


def test_the_deal_depends_on_the_seed_alone(maze: wf.Graph, labels: wf.Labels) -> None:
    one, same, other = (wf.cross_validate(maze, labels, 5, seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(one.predicted, same.predicted)
    assert not np.array_equal(one.predicted, other.predicted)
    truth = wf.cost_to_go(maze, 5)
    assert wf.cross_validate(maze, labels, 5, prior=truth).error == 0.0


def test_labels_that_cannot_reach_the_goal_are_kept() -> None:
    apart = wf.Graph.from_edges([0, 1, 2, 4], [1, 2, 3, 5])
    labels = wf.Labels([0, 1, 2, 3, 4], [0.0, 1.0, 2.0, 3.0, 9.0])
    assert wf.cross_validate(apart, labels, 0).vertices.tolist() == [1, 2, 3]


def test_whether_labels_help(maze: wf.Graph, labels: wf.Labels) -> None:
    scaled = wf.cross_validate(maze, wf.Labels(labels.vertices, 5.0 + 3.0 * labels.values), 5)
    assert (scaled.factor, scaled.distance_error, scaled.labels_help) == (3.0, 0.0, False)
    count, help_text = len(labels) - 1, "labels left out in turn: mean error"
    assert scaled.errors.startswith(f"{count} {help_text}")
    assert scaled.errors.endswith(", 0 by the graph distance times 3")
    assert repr(scaled) == f"CrossValidation({scaled.errors})"
    assert wf.cross_validate(RING, measured(), 0).labels_help is True
    few = wf.sample_labels(maze, 5, count=8, seed=1)
    noise = np.random.default_rng(0).normal(scale=20.0, size=len(few))
    noisy = wf.Labels(few.vertices, few.values + noise)
    assert wf.cross_validate(maze, noisy, 5).labels_help is None


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.floats(-50, 50), st.floats(0.1, 9)), min_size=1, max_size=12))
def test_the_factor_has_the_least_absolute_error(pairs: list[tuple[float, float]]) -> None:
    values, distance = np.array(pairs).T
    factor = median_ratio(values, distance)
    ours = np.abs(values - factor * distance).sum()
    for rival in values / distance:  # the sum is convex and its kinks are here
        assert ours <= np.abs(values - rival * distance).sum() + 1e-9


def test_clearly_is_more_than_chance() -> None:
    rng = np.random.default_rng(0)
    small, large = rng.normal(size=200), rng.normal(scale=3.0, size=200)
    never, always = np.full(200, inf), np.full(200, inf)
    assert clearly_better(small, large)
    assert not clearly_better(large, small)
    assert not clearly_better(small, -small)
    assert not clearly_better(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.1, 1.9, 3.2, 4.1]))
    assert clearly_better(small, never)
    assert not clearly_better(always, small)
    assert clearly_better(np.zeros(2), np.ones(2))
    assert not clearly_better(np.zeros(2), np.zeros(2))
    assert mean_error(np.array([1.0, -3.0])) == (2.0, 1.0)
    assert mean_error(np.array([1.0, inf])) == (inf, inf)
    told = [error_text(2.0, 1.0), error_text(2.0, 0.0), error_text(inf, inf), error_text(5e3, 100)]
    assert told == ["2 ± 1", "2", "∞", "5,000 ± 100"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"labels": wf.Labels([0, 3], [0.0, 3.0])},
            "at least 2 labels .* can reach the goal, got 1",
        ),
        ({"folds": 1}, "folds must be"),
        ({"seed": -1}, "seed must be"),
        ({"goal": 99}, "goal 99 is not a vertex"),
        ({"labels": wf.Labels([99], [0.0])}, "out of range"),
        ({"labels": [0.0]}, "labels must be"),
        ({"trimmed": 1}, "trimmed must be True or False"),
    ],
)
def test_bad_input_of_cross_validation_is_named(given: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"graph": RING, "labels": measured(), "goal": 0}
    with pytest.raises(wf.InputError, match=message):
        wf.cross_validate(**(arguments | given))


def test_a_naive_twin(maze: wf.Graph) -> None:
    """Dense linear systems, and every ratio tried as the factor, on the same deal."""
    rng = np.random.default_rng(4)
    rough = replace(maze, lengths=1.0 + (maze.tails + maze.indices) % 3)
    truth = wf.cost_to_go(rough, 5)
    vertices = np.append(rng.choice(np.arange(6, rough.num_vertices), 25, replace=False), 5)
    noise = np.where(vertices == 5, 1.0, rng.uniform(0.7, 1.3, vertices.size))
    labels = wf.Labels(vertices, noise * truth[vertices])
    found = wf.cross_validate(rough, labels, 5, wf.Harmonic(), folds=4, seed=11)

    n = rough.num_vertices
    laplacian = np.zeros((n, n))
    np.subtract.at(laplacian, (rough.tails, rough.indices), 1.0 / rough.lengths)
    np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
    values = dict(zip(labels.vertices.tolist(), labels.values.tolist(), strict=True))
    left_out = [x for x in values if x != 5]
    part = np.random.default_rng(11).permutation(np.arange(len(left_out)) % 4)
    assert found.vertices.tolist() == left_out
    for number, (x, ours, graphs) in enumerate(
        zip(left_out, found.predicted, found.by_distance, strict=True)
    ):
        kept = [y for y, p in zip(left_out, part, strict=True) if p != part[number]]
        fixed = [5, *kept]
        free = np.setdiff1d(np.arange(n), fixed)
        known = np.array([values[y] for y in fixed])
        inner, outer = laplacian[np.ix_(free, free)], laplacian[np.ix_(free, fixed)]
        field = np.linalg.solve(inner, -outer @ known)
        assert ours == pytest.approx(field[np.searchsorted(free, x)], abs=1e-9)

        def misfit(factor: float, kept: list[int] = kept) -> float:
            return sum(abs(values[y] - factor * truth[y]) for y in kept)

        best = min((values[y] / truth[y] for y in kept), key=misfit)
        assert graphs == pytest.approx(best * truth[x])
    errors = np.abs(found.predicted - found.values)
    assert found.error == pytest.approx(errors.mean())
    assert found.spread == pytest.approx(np.std(errors, ddof=1) / np.sqrt(errors.size))


# ------------------------------------------------------------------ many goals


def test_a_table_counts_the_starts_of_each_goal() -> None:
    graph = wf.Graph.from_edges([*range(4), 5], [*range(1, 5), 6])
    sets = [wf.Labels([0, 2, 3], [0.0, 5.0, 1.0]), wf.Labels([0, 4], [4.0, 0.0])]
    table = wf.plan_many(graph, sets, [0, 4], unreachable="nan")
    expected = {"reached": [1, 4], "loop": [3, 0], "dead_end": [0, 0], "unreachable": [2, 2]}
    assert {name: getattr(table, name).tolist() for name in expected} == expected
    assert table.able.tolist() == [4, 4]
    assert table.success.tolist() == [0.25, 1.0]
    assert table.cost_ratio.tolist() == [1.0, 1.0]
    first = table.records()[0]
    assert (first["goals"], first["success"], first["status"]) == (0, 0.25, "converged")
    told = "2 goals by AMLE(): 62.5 % of the starts reach their goal, from 25 % to 100 %"
    assert repr(table) == f"PlanTable({told})"
    assert repr(wf.plan_many(graph, [], [])) == "PlanTable(0 goals by AMLE())"
    with pytest.raises(wf.InputError, match="1 goal for 2 label sets"):
        wf.plan_many(graph, sets, [0], unreachable="nan")
