"""The plain graph distance beside every method, and what is said about the labels."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import wayfield as wf
from wayfield.advice.comparison import Comparison, MethodScore, default_methods
from wayfield.advice.cross_validation import Folds
from wayfield.advice.text import DISTANCE
from wayfield.errors import OutOfTime
from wayfield.fields import Extension
from worlds import random_graph


@pytest.fixture(scope="module")
def maze() -> wf.Graph:
    return wf.grid_graph(wf.load_layout("antmaze-medium"), 3)


def test_on_the_graph_itself_nothing_beats_its_distance(maze: wf.Graph) -> None:
    found = wf.compare(maze, wf.sample_labels(maze, 5, 0.05, seed=1), 5)
    plain = found.scores[0]
    assert (plain.name, plain.success, plain.cost_ratio) == (DISTANCE, 1.0, 1.0)
    assert found.starts == maze.num_vertices - 1
    assert not found.labels_pay
    assert found.choice is plain
    told = "Use the graph distance: no field predicts labels left out clearly better"
    assert found.verdict == f"{told}; the mean error of the graph distance times 1 is 0."
    assert found.scores[0].label_error == 0.0
    assert all(score.held_out is not None for score in found.scores)
    by_name = {score.name: score for score in found.scores}
    assert by_name["AMLE()"].success == 1.0
    assert by_name["AMLE()"].cost_ratio >= 1.0
    assert by_name["AMLE() on the graph distance"].cost_ratio == 1.0
    assert len(by_name) == len(default_methods(maze.directed)) + 3
    for name in ("Harmonic()", "PLaplacian(p=8)", "NearestLabel()", "AMLE(fill='cost')"):
        assert 0.0 <= by_name[name].success <= 1.0


def test_it_agrees_with_extending_and_planning_by_hand(maze: wf.Graph) -> None:
    labels = wf.sample_labels(maze, 5, 0.05, seed=1)
    found = wf.compare(maze, labels, 5, [wf.Harmonic()])
    plan = wf.plan(maze, wf.extend(maze, labels, wf.Harmonic()).values, 5)
    assert found.scores[1].success == plan.success
    others = plan.reached & (np.arange(maze.num_vertices) != 5)
    ratio = plan.cost[others] / wf.cost_to_go(maze, 5)[others]
    assert found.scores[1].cost_ratio == pytest.approx(ratio.mean())


@pytest.mark.parametrize("seed", range(5))
def test_directed_graphs_get_the_methods_that_have_a_directed_form(seed: int) -> None:
    graph = random_graph(np.random.default_rng(seed), 80, "spread", edges=400, directed=True)
    found = wf.compare(graph, wf.sample_labels(graph, 0, 0.1, seed=seed), 0)
    names = [score.name for score in found.scores]
    assert names[:3] == [DISTANCE, "AMLE()", "AMLE(fill='flat')"]
    assert not any("Harmonic" in name for name in names)
    assert found.starts == int(np.isfinite(wf.cost_to_go(graph, 0)).sum()) - 1
    assert found.scores[0].success == found.scores[1].success == 1.0


def test_the_table_is_readable(maze: wf.Graph) -> None:
    text = repr(wf.compare(maze, wf.sample_labels(maze, 5, 0.05), 5, [wf.NearestLabel()]))
    first, head, plain, row, verdict = text.splitlines()
    assert first == f"Comparison over {maze.num_vertices - 1} starts"
    assert " ".join(head.split()) == "method success cost margin left out time"
    assert plain.startswith("graph distance  ")
    assert row.startswith("NearestLabel()  ")
    assert verdict.startswith("Use the graph distance")
    assert len(head) == len(plain) == len(row)


def test_without_methods_there_is_nothing_to_compare() -> None:
    path = wf.Graph.from_edges([0, 1], [1, 2])
    found = wf.compare(path, wf.Labels([0], [0.0]), 0, [])
    assert found.choice is found.scores[0]
    assert not found.labels_pay
    assert found.verdict == "Use the graph distance: there is nothing to compare it with."


def test_margins_are_those_of_the_median_route(maze: wf.Graph) -> None:
    labels = wf.sample_labels(maze, 5, 0.05, seed=1)
    found = wf.compare(maze, labels, 5, [wf.Harmonic()])
    margins = np.sort(wf.solve(maze, labels, 5, wf.Harmonic()).route_margins)
    assert found.scores[1].margin == margins[(margins.size - 1) // 2]
    assert np.isnan(found.scores[0].margin)


def test_no_field_stands_in_the_table_twice() -> None:
    arcs = wf.Graph.from_edges([1, 2], [0, 1], directed=True)
    twice = [wf.AMLE(), wf.AMLE(fill="cost"), wf.AMLE()]  # the same thing on directed graphs
    found = wf.compare(arcs, wf.Labels([0, 2], [0.0, 2.0]), 0, twice)
    assert [score.name for score in found.scores] == [DISTANCE, "AMLE()"]


def test_labels_that_are_rewards_still_make_a_table(maze: wf.Graph) -> None:
    labels = wf.sample_labels(maze, 5, 0.05, seed=1)
    found = wf.compare(maze, wf.Labels(labels.vertices, -labels.values), 5)
    assert found.scores[1].success == 0.0
    assert np.isnan(found.scores[1].cost_ratio)
    assert not found.labels_pay
    assert found.verdict == "Labels decrease away from the goal. If they are rewards, negate them."


def test_units_that_differ_are_remarked_on(maze: wf.Graph) -> None:
    labels = wf.sample_labels(maze, 5, 0.05, seed=1)
    assert wf.compare(maze, labels, 5, []).remarks == ()
    found = wf.compare(maze, wf.Labels(labels.vertices, 60.0 * labels.values), 5, [])
    assert found.factor == 60.0
    assert found.remarks[0].startswith("labels are 60 times the graph's own distances: are both")
    assert repr(found).endswith(found.remarks[0])


def ring_in_two_worlds() -> tuple[wf.Graph, wf.Labels]:
    """Half of the ring is slow, which the graph does not know but the labels do."""
    ring = wf.Graph.from_edges(range(60), [*range(1, 60), 0])
    slow = wf.Graph.from_edges(range(60), [*range(1, 60), 0], [1.0] * 30 + [5.0] * 30)
    return ring, wf.sample_labels(slow, 0, 0.4)


def test_measured_labels_show_that_they_know_better() -> None:
    """No truth at hand: labels left out are predicted better than by the graph distance."""
    ring, labels = ring_in_two_worlds()
    found = wf.compare(ring, labels, 0, [wf.AMLE(), wf.NearestLabel()])
    assert found.labels_pay
    assert found.choice.name == "AMLE()"
    assert found.verdict.startswith("Use AMLE(): its mean error at labels left out is ")
    amle, plain = found.scores[1], found.scores[0]
    assert amle.label_error < plain.label_error
    same = wf.cross_validate(ring, labels, 0)
    assert (amle.label_error, plain.label_error) == (same.error, same.distance_error)


def test_labels_need_not_be_left_out() -> None:
    ring, labels = ring_in_two_worlds()
    found = wf.compare(ring, labels, 0, [wf.AMLE()], folds=0)
    assert found.scores[1].held_out is None
    assert np.isnan(found.scores[1].label_error)
    assert "too few" in found.verdict or "labels left out" not in found.verdict
    slow = wf.compare(ring, labels, 0, [wf.AMLE()], time_limit=0.0)  # no time to repeat it
    assert slow.scores[0].held_out is not None
    assert slow.scores[1].held_out is None
    assert not slow.labels_pay
    with pytest.raises(wf.InputError, match="folds"):
        wf.compare(ring, labels, 0, [wf.AMLE()], folds=-1)


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


def test_methods_and_fields_of_ones_own_have_rows(maze: wf.Graph) -> None:
    labels, critic = wf.sample_labels(maze, 5, 0.05, seed=1), wf.cost_to_go(maze, 5) ** 2
    given = {
        "mine": nearest,
        "object": Unhashable(),
        "critic": critic,
        "an extension": wf.extend(maze, labels, wf.Harmonic()),
        "library": wf.NearestLabel(),
    }
    found = wf.compare(maze, labels, 5, given)
    by_name = {score.name: score for score in found.scores}
    assert list(by_name) == [DISTANCE, *given]
    for name, values in (("critic", critic), ("an extension", given["an extension"])):
        plan = wf.plan(maze, values, 5)
        assert by_name[name].success == plan.success
        assert by_name[name].held_out is None
        assert f"{name} was given as it is, so leaving labels out does not test it" in found.remarks
    mine, theirs = by_name["mine"], by_name["library"]
    assert (mine.success, mine.cost_ratio) == (theirs.success, theirs.cost_ratio)
    assert mine.held_out is not None
    assert np.array_equal(mine.held_out, theirs.held_out)
    off = critic[labels.vertices] - labels.values
    assert by_name["critic"].missed.startswith(f"{np.count_nonzero(off)} of {len(labels)} labels")
    assert not theirs.missed
    assert f"critic differs from {by_name['critic'].missed}" in found.remarks
    assert critic.flags.writeable
    namesake = type("PLaplacian", (Unhashable,), {})()  # not the library's: it has no p
    listed = wf.compare(maze, labels, 5, [nearest, Unhashable(), namesake], folds=0)
    assert [score.name for score in listed.scores[1:]] == [
        "nearest",
        "Unhashable()",
        "PLaplacian()",
    ]


def test_a_method_of_ones_own_can_be_recommended() -> None:
    ring, away = wf.Graph.from_edges(range(60), [*range(1, 60), 0]), np.arange(60.0) ** 2
    labels = wf.Labels(range(0, 60, 3), away[::3])
    found = wf.compare(ring, labels, 0, {"squares": lambda graph, labels: away})
    assert found.verdict.startswith("Use squares: its mean error at labels left out is 0;")


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ([np.zeros(8)], r"methods\[0\] is array\(.*, not a method; a field needs a name: "),
        (np.zeros(8), r"methods\[0\] is 0.0, not a method; a field needs a name"),
        (3, "methods must be a list of methods, or {name: method or field}, got 3"),
        (wf.AMLE(), r"methods must be a list of methods, or .*, got AMLE"),
        (["amle"], r"methods\[0\] must be an extension such as AMLE\(\), a function of"),
        (
            {"critic": np.zeros(7)},
            r"methods\['critic'\]: the field has 7 values but the graph",
        ),
        ({"critic": [np.nan] * 8}, r"methods\['critic'\]: values\[0\] = nan is neither"),
        ({"critic": None}, r"methods\['critic'\]: values must be real numbers"),
        ({3: wf.AMLE()}, "methods must have names, got 3"),
        ({"mine": lambda graph, labels: None}, "<lambda>: values must be an array of 8 numbers"),
    ],
)
def test_bad_methods_are_named(methods, message: str) -> None:
    ring = wf.Graph.from_edges(range(8), [*range(1, 8), 0])
    with pytest.raises(wf.InputError, match=message):
        wf.compare(ring, wf.Labels([0, 4], [0.0, 4.0]), 0, methods)


def test_progress_names_every_field(maze: wf.Graph) -> None:
    told: list[str] = []
    labels = wf.sample_labels(maze, 5, 0.05)
    found = wf.compare(maze, labels, 5, [wf.AMLE(), wf.Harmonic()], progress=told.append)
    assert told == [score.name for score in found.scores[1:]]


def test_nothing_is_solved_twice(maze: wf.Graph, monkeypatch: pytest.MonkeyPatch) -> None:
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
    wf.compare(maze, wf.sample_labels(maze, 5, 0.05), 5, [wf.AMLE(), wf.Harmonic()])
    assert extended.count(maze.num_vertices) == 2  # labels left out are extended on their own
    ring = 8  # vertices of the graph on which kernels are compiled
    assert [each for each in searched if each[0] != ring] == [(maze.num_vertices, 5)]


def test_labels_where_the_graph_says_one_cannot_reach_have_no_prior_row() -> None:
    graph = wf.Graph.from_edges([1, 0], [0, 2], directed=True)
    found = wf.compare(graph, wf.Labels([0, 2], [0.0, 4.0]), 0)
    assert "AMLE() on the graph distance" not in [score.name for score in found.scores]
    found = wf.compare(graph, wf.Labels([1], [4.0]), 0)  # a goal without a label
    assert "AMLE(), false sinks dropped" not in [score.name for score in found.scores]


def test_bad_input_is_named() -> None:
    path = wf.Graph.from_edges([0, 1], [1, 2])
    labels = wf.Labels([0], [0.0])
    with pytest.raises(wf.InputError, match="goal 3 is not a vertex"):
        wf.compare(path, labels, 3)
    with pytest.raises(wf.InputError, match="no other vertex can reach the goal 0"):
        wf.compare(wf.Graph.from_edges([0], [1], directed=True), labels, 0)
    arcs = wf.Graph.from_edges([1], [0], directed=True)
    with pytest.raises(wf.InputError, match="not defined on directed graphs"):
        wf.compare(arcs, labels, 0, [wf.Harmonic()])
    with pytest.raises(wf.InputError, match="out of range"):
        wf.compare(path, wf.Labels([9], [0.0]), 0)


def test_a_method_that_runs_out_of_time_has_a_row_that_says_so(maze: wf.Graph) -> None:
    labels = wf.sample_labels(maze, 5, 0.05, seed=1)
    methods = [wf.PLaplacian(8), wf.NearestLabel()]
    found = wf.compare(maze, labels, 5, methods, time_limit=0.0)
    late, done = found.scores[1:]
    assert late.out_of_time
    assert not done.out_of_time
    assert np.isnan([late.success, late.cost_ratio, late.margin, late.label_error]).all()
    assert late.seconds > 0.0
    assert done.held_out is None  # no time for it
    assert found.choice is found.scores[0]
    _, head, _, row, _, _, remark = repr(found).splitlines()
    assert row.split()[:4] == ["PLaplacian(p=8)", "out", "of", "time"]
    assert len(row) == len(head)
    told = "stopped by the time limit: PLaplacian(p=8); a larger time_limit gives more time"
    assert remark == told


def test_if_nothing_is_done_in_time_the_graph_distance_is_left(maze: wf.Graph) -> None:
    labels = wf.sample_labels(maze, 5, 0.05, seed=1)
    found = wf.compare(maze, labels, 5, [wf.Harmonic()], time_limit=0.0)
    assert found.choice is found.scores[0]
    assert not found.labels_pay
    assert found.verdict == "Use the graph distance: no other field was ready in time."


def test_labels_are_left_out_as_long_as_there_is_time(
    maze: wf.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The field is done, then the clock runs out over the labels left out."""

    def slow(*_: object, **__: object) -> None:
        raise OutOfTime(60.0)

    monkeypatch.setattr(Folds, "predict", slow)
    found = wf.compare(maze, wf.sample_labels(maze, 5, 0.05, seed=1), 5, [wf.AMLE()])
    assert not found.scores[1].out_of_time
    assert found.scores[1].held_out is None
    assert found.scores[0].held_out is not None


@pytest.mark.parametrize("limit", [-1.0, np.nan, "soon"])
def test_a_time_limit_is_a_number(maze: wf.Graph, limit: float) -> None:
    with pytest.raises(wf.InputError, match="time_limit must be a finite number of at least 0"):
        wf.compare(maze, wf.Labels([5], [0.0]), 5, [wf.AMLE()], time_limit=limit)


def test_without_a_limit_there_is_none(maze: wf.Graph) -> None:
    labels = wf.sample_labels(maze, 5, 0.05, seed=1)
    found = wf.compare(maze, labels, 5, [wf.PLaplacian(8)], time_limit=None)
    assert not found.scores[1].out_of_time
    assert found.scores[1].held_out is not None


# ------------------------------------------------------------------ a graph that is wrong


def test_contradictions_are_a_reason_to_test_the_graph(maze: wf.Graph) -> None:
    false = np.random.default_rng(0).choice(maze.num_vertices, (4, 2), replace=False)
    tails, heads = np.append(maze.tails, false[:, 0]), np.append(maze.indices, false[:, 1])
    graph, labels = wf.Graph.from_edges(tails, heads), wf.sample_labels(maze, 0, 0.2, seed=0)
    found = wf.compare(graph, labels, 0, [wf.NearestLabel()])
    (remark,) = found.remarks
    assert remark.partition(" of ")[0] == str(found.contradictions.optimistic.labels.size)
    assert remark.endswith(
        "proof only if the measured costs are exact; wayfield.travel tests what is wrong."
    )
    assert wf.compare(maze, labels, 0, [wf.NearestLabel()]).remarks == ()
