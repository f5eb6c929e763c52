"""The whole way in one call, what it says, and its advice."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
import pytest

import wayfield as wf
from wayfield.advice import Answer
from wayfield.advice.text import _tolerates
from wayfield.words import margin_text, number_of, percent, quoted, seconds_text

PATH = wf.Graph.from_edges(range(4), range(1, 5))
GOOD = wf.Labels([0, 4], [0.0, 4.0])
SINK = wf.Labels([0, 2, 3], [0.0, 5.0, 1.0])
"""Vertex 3 lies lower than all around it: walks end there."""
NAMES = ["home", "bridge", "old mill", "wood", "farm"]


@pytest.fixture(scope="module")
def maze() -> wf.Graph:
    return wf.grid_graph(wf.load_layout("medium"), 4)


def said(answer: Answer, **settings: Any) -> dict[str, str]:
    """The summary's lines by the words in their margin."""
    return {line[:9].strip(): line[10:] for line in answer.summary(**settings).splitlines()}


# ------------------------------------------------------------------ what is found


@pytest.mark.parametrize("method", [wf.AMLE(), wf.Harmonic(), wf.NearestLabel()], ids=str)
def test_it_is_extend_plan_and_certify_in_one(maze: wf.Graph, method: wf.fields.Method) -> None:
    labels = wf.sample_labels(maze, 7, 0.03, seed=2)
    answer = wf.solve(maze, labels, 7, method, error=0.25)
    field = wf.extend(maze, labels, method)
    plan = wf.plan(maze, field.values, 7)
    certificate = wf.certify(maze, labels, field, plan, 0.25)
    assert np.array_equal(answer.field.values, field.values)
    assert np.array_equal(answer.values, field.values)
    assert np.array_equal(answer.plan.successor, plan.successor)
    assert np.array_equal(answer.certificate.gap, certificate.gap)
    assert np.array_equal(answer.certificate.certified, certificate.certified)
    assert answer.goal == 7
    assert answer.graph is maze
    assert answer.lifted is None
    assert not answer.raised.any()


def test_the_default_is_the_amle() -> None:
    assert wf.solve(PATH, GOOD, 0).field.method == wf.AMLE()


def test_lift_raises_the_field_that_the_plan_stands_on(maze: wf.Graph) -> None:
    labels = wf.sample_labels(maze, 0, 0.02)
    stuck = wf.solve(maze, labels, 0, wf.Harmonic())
    safe = wf.solve(maze, labels, 0, wf.Harmonic(), lift=True)
    lifted = wf.lift(maze, stuck.values, 0)
    assert stuck.plan.success < 1.0
    assert safe.plan.success == 1.0
    assert np.array_equal(safe.values, lifted.values)
    assert np.array_equal(safe.field.values, stuck.values)
    assert np.array_equal(safe.raised, lifted.raised)
    up = safe.raised[safe.raised_states]
    assert up.size == (lifted.raised > 0).sum() > 0
    assert (np.diff(up) <= 0).all()
    assert not safe.certificate.bracketed
    assert np.array_equal(safe.false_sinks, stuck.plan.false_sinks(labels))


def test_lifting_a_good_field_changes_nothing() -> None:
    plain, safe = (wf.solve(PATH, GOOD, 0, lift=lift) for lift in (False, True))
    assert np.array_equal(plain.values, safe.values)
    assert safe.certificate.bracketed
    assert safe.facts()["plan"]["raised"] == {"count": 0, "most": 0.0, "states": []}


def test_a_prior_is_corrected() -> None:
    prior = [0.0, 1.0, 2.0, 3.0, 4.0]
    answer = wf.solve(PATH, wf.Labels([0, 2], [0.0, 4.0]), 0, prior=prior)
    assert answer.values.tolist() == [0.0, 2.0, 4.0, 5.0, 6.0]


def test_components_without_labels_cannot_reach() -> None:
    apart = wf.Graph.from_edges([0, 2], [1, 3])
    answer = wf.solve(apart, wf.Labels([0, 1], [0.0, 1.0]), 0)
    assert answer.values.tolist() == [0.0, 1.0, inf, inf]
    assert answer.outcomes.tolist() == ["reached", "reached", "unreachable", "unreachable"]
    assert answer.route(2).outcome is wf.Outcome.UNREACHABLE
    assert answer.route(2).path.tolist() == [2]
    assert answer.plan.success == 1.0
    assert said(answer)["lost"] == "2 of 4 states cannot reach the goal at all: 2, 3"


def test_every_outcome_has_its_name() -> None:
    arcs = [(1, 0), (2, 3), (3, 2), (3, 0), (4, 4 + 1)]
    tails, heads = zip(*arcs, strict=True)
    graph = wf.Graph.from_edges(tails, heads, [1.0, 1.0, 1.0, 100.0, 1.0], directed=True)
    plan = wf.plan(graph, [0.0, 1.0, 3.0, 4.0, 2.0, 1.0], 0)
    told = ["reached", "reached", "loop", "loop", "unreachable", "unreachable"]
    assert plan.outcomes.tolist() == told
    assert (plan.outcomes == "loop").tolist() == [outcome == "loop" for outcome in told]
    assert plan.outcomes[1] is wf.Outcome.REACHED
    stuck = wf.plan(wf.Graph.from_edges([0, 1], [1, 2]), [0.0, inf, inf], 0)
    assert stuck.outcomes.tolist() == ["reached", "reached", "dead end"]


def test_a_solve_that_misses_its_guarantee_raises_unless_told(maze: wf.Graph) -> None:
    labels = wf.sample_labels(maze, 0, 0.02)
    hasty = wf.PLaplacian(16, max_steps=1)
    with pytest.raises(wf.NotConverged):
        wf.solve(maze, labels, 0, hasty)
    answer = wf.solve(maze, labels, 0, hasty, check=False)
    assert not answer.field.status.good
    assert "missed its guarantee" in said(answer)["advice"]
    assert said(answer)["advice"].endswith("try AMLE()")


def test_answers_are_one_line() -> None:
    assert repr(wf.solve(PATH, GOOD, 0)) == (
        "Answer(AMLE(): converged; 4 of 4 starts reach the goal)"
    )
    assert repr(wf.solve(PATH, SINK, 0, lift=True)).endswith("goal, 2 values raised)")


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"goal": 5}, "goal 5 is not a vertex"),
        ({"lift": "yes"}, "lift"),
        ({"error": -1.0}, "error"),
        ({"prior": [0.0]}, "prior has 1 entries"),
        ({"labels": wf.Labels([9], [0.0])}, "out of range"),
        ({"method": "amle"}, "method must be an extension"),
        ({"graph": "path"}, "graph"),
    ],
)
def test_bad_input_is_named(settings: dict[str, Any], told: str) -> None:
    arguments: dict[str, Any] = {"graph": PATH, "labels": GOOD, "goal": 0} | settings
    with pytest.raises(wf.InputError, match=told):
        wf.solve(**arguments)


def test_names_must_be_those_of_all_vertices() -> None:
    with pytest.raises(wf.InputError, match="names must have one entry per vertex, 5, got 2"):
        wf.solve(PATH, GOOD, 0).summary(names=["a", "b"])
    with pytest.raises(wf.InputError, match="start 9 is not a vertex"):
        wf.solve(PATH, GOOD, 0).summary(starts=[9])


# ------------------------------------------------------------------ what is said


def test_the_summary_of_a_good_field() -> None:
    told = said(wf.solve(PATH, GOOD, 0), names=NAMES, starts=[4])
    lines = ["graph", "labels", "method", "plan", "proved", "margin", "bound", "route", "advice"]
    assert list(told) == lines
    assert told["proved"].startswith("4 moves and 4 routes are optimal, if labels are right")
    assert told["bound"] == "the field is the true cost-to-go, if graph and labels are right"
    assert told["labels"] == "2 (40 % of the vertices), values 0 to 4; goal home"
    assert told["margin"].startswith(
        "every route tolerates errors of the values below 1; weakest at"
    )
    assert told["route"] == (
        "farm → wood → “old mill” → bridge → home: cost 4, 4 steps; "
        "tolerates errors below 1, weakest at “old mill”"
    )


def test_names_may_be_a_mapping_or_an_array() -> None:
    answer = wf.solve(PATH, GOOD, 0)
    mapping = answer.summary(names=dict(enumerate(NAMES)))
    assert mapping == answer.summary(names=np.array(NAMES)) == answer.summary(names=NAMES)


def test_the_culprits_are_named() -> None:
    stuck = said(wf.solve(PATH, SINK, 0), names=NAMES)
    assert (
        stuck["sinks"]
        == "1 label is no higher than any neighbour, so walks can get stuck there: wood (1)"
    )
    assert stuck["loops"] == "wood → farm → wood, where 3 starts end"
    assert stuck["advice"].startswith("walks can get stuck at 1 label: check it, drop it")
    assert "drop_false_sinks" in stuck["advice"]
    safe = said(wf.solve(PATH, SINK, 0, lift=True), names=NAMES)
    assert safe["sinks"] == stuck["sinks"]
    assert safe["raised"].startswith("2 values: wood by 4, farm by 4")
    assert safe["advice"].endswith("check the labels around wood, farm")


def test_facts_are_plain_data() -> None:
    facts = wf.solve(PATH, SINK, 0, lift=True, error=inf).facts(NAMES, [4])
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert facts["labels"]["false_sinks"] == [{"name": "wood", "value": 1.0}]
    assert [state["name"] for state in facts["plan"]["raised"]["states"]] == ["wood", "farm"]
    assert facts["certified"]["error"] is None
    assert facts["routes"][0]["path"] == NAMES[::-1]


def test_only_some_states_are_named() -> None:
    star = wf.Graph.from_edges([0] * 9, range(1, 10))
    answer = wf.solve(star, wf.Labels(range(10), [0.0, *[-1.0] * 9]), 0)
    assert said(answer)["sinks"].endswith("5 (-1) …")
    assert answer.facts()["labels"]["false_sink_count"] == 9


def margin_line(lengths: list[float], labels: wf.Labels) -> str:
    ring = wf.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], lengths)
    return said(wf.solve(ring, labels, 0))["margin"]


def test_margins_in_words() -> None:
    alone = wf.solve(wf.Graph.from_edges([0], [1]), wf.Labels([0, 1], [0.0, 1.0]), 0)
    assert said(alone)["margin"].startswith("no route has a choice of moves")
    tie = margin_line([1.0] * 4, wf.Labels([0, 2], [0.0, 2.0]))
    assert tie.startswith("some routes tolerate no error: another move looks as cheap")
    # the slope rule takes the steeper arc, though the other is cheaper by ℓ + u
    dearer = margin_line([10.0, 1.0, 5.0, 5.0], wf.Labels([0, 1, 2, 3], [0.0, 17.0, 20.0, 10.0]))
    assert dearer.startswith(
        "some routes take a move that looks 3 more costly than another, the median"
    )


def test_a_route_beside_an_unknown_value_bears_nothing() -> None:
    square = wf.Graph.from_edges([1, 2, 1, 3], [0, 1, 3, 0], directed=True)
    prior = [0.0, 1.0, 2.0, inf]
    answer = wf.solve(square, wf.Labels([0, 1], [0.0, 1.0]), 0, prior=prior)
    assert said(answer)["margin"].startswith("some routes pass next to a state of unknown value")
    assert "weakest at 1 (unknown, 2 routes)" in said(answer)["margin"]
    assert said(answer, starts=[2])["route"].endswith("tolerates no error, weakest at 1")


def test_margins_rank_the_weakest_states_that_decide_routes(maze: wf.Graph) -> None:
    found = wf.solve(maze, wf.sample_labels(maze, 0, 0.05), 0, wf.Harmonic()).facts()
    weakest = found["margin"]["weakest"]
    margins = [round(state["margin"], 9) for state in weakest]
    assert margins == sorted(margins)
    assert found["margin"]["least"] == pytest.approx(margins[0], abs=1e-9)
    assert all(state["routes"] > 0 for state in weakest)


def test_certified_shares_are_told_with_an_error() -> None:
    told = said(wf.solve(PATH, GOOD, 0, error=0.5))["certified"]
    assert told == (
        "with errors up to 0.5, 100 % of the moves are proved optimal, and 100 % of the routes, "
        "if each edge costs what the graph says"
    )
    assert "certified" not in said(wf.solve(PATH, GOOD, 0))


# ------------------------------------------------------------------ advice


def advice(labels: wf.Labels, method: wf.fields.Method = wf.AMLE(), **settings: Any) -> str:  # noqa: B008
    return said(wf.solve(PATH, labels, 0, method, **settings))["advice"]


def test_advice_follows_from_what_was_found() -> None:
    assert advice(GOOD).endswith("answer.route(start) shows its route")
    assert "the same unit" in advice(wf.Labels([0, 4], [0.0, 4000.0]))
    assert "try AMLE(), or lift it (lift=True)" in advice(SINK, wf.Harmonic())
    assert "if they are rewards, negate them" in advice(wf.Labels([0, 2, 4], [0.0, -2.0, -4.0]))
    assert "the goal has no label" in advice(wf.Labels([1, 4], [1.0, 4.0]))
    told = said(wf.solve(PATH, GOOD, 0), starts=[4])["advice"]
    assert told.startswith("compare(graph, labels, goal) says what to use")


def test_advice_never_recommends_what_was_just_tried() -> None:
    exact = advice(SINK)
    assert "AMLE" not in exact
    assert "lift=True" in exact
    assert "lift=True" not in advice(SINK, lift=True)
    plain = wf.solve(PATH, GOOD, 0)
    missed = replace(plain, field=replace(plain.field, status=wf.Status.UNVERIFIED))
    assert said(missed)["advice"].endswith("the values may be right, but this is not proved")


def test_advice_on_labels_that_say_nothing() -> None:
    same, only = wf.Labels([0, 4], [2.0, 2.0]), wf.Labels([0], [0.0])
    nothing = "the field is constant: label states with different values"
    assert advice(same).startswith(f"the labels are all equal, so {nothing}")
    assert advice(only).startswith(f"only the goal is labelled, so {nothing}")
    rising = advice(only, wf.AMLE(fill="cost"))  # there the field rises with the lengths
    assert nothing not in rising


def test_advice_on_a_goal_that_nothing_reaches() -> None:
    lane = wf.Graph.from_edges([0], [1], directed=True)
    told = said(wf.solve(lane, wf.Labels([0], [0.0]), 0))["advice"]
    assert told.endswith("is it the right one, and do the arcs point the right way?")
    alone = wf.Graph.from_edges([], [], num_vertices=1)
    assert said(wf.solve(alone, wf.Labels([0], [0.0]), 0))["advice"].endswith("the right one?")


# ------------------------------------------------------------------ numbers and names in words


def test_percentages_have_three_digits_and_are_all_only_where_it_is_all() -> None:
    assert percent(1.0) == "100 %"
    assert percent(0.99999999) == "99.99 %"
    assert percent(2 / 3) == "66.7 %"
    assert percent(0.0002) == "0.02 %"
    assert percent(0.0) == "0 %"


def test_names_of_several_words_are_quoted_and_escapes_are_shown() -> None:
    assert [quoted(name) for name in ("Bern", "12", "Zürich HB", "", "\x1b[2J", "a\nb")] == [
        "Bern",
        "12",
        "“Zürich HB”",
        "“”",
        "“\\x1b[2J”",
        "“a\\nb”",
    ]


def test_counts_agree_with_their_nouns() -> None:
    assert number_of(1, "labels") == "1 label"
    assert number_of(0, "labels") == "0 labels"
    assert number_of(1, "vertices", "vertex") == "1 vertex"
    assert number_of(12345, "steps") == "12,345 steps"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 ms"),
        (3e-5, "0.03 ms"),
        (0.012, "12 ms"),
        (0.099, "99 ms"),
        (1.26, "1.3 s"),
        (99.4, "99 s"),
        (150.0, "150 s"),
        (1200.0, "20 min"),
        (7261.0, "2 h 1 min"),
    ],
)
def test_times_are_read_without_exponents(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text


def test_margins_are_zero_where_rounding_decides() -> None:
    assert [margin_text(m) for m in (None, 1e-12, 0.12345, -2.0)] == ["∞", "0", "0.123", "-2"]


def test_lifting_does_not_change_which_labels_were_false_sinks() -> None:
    """Raised values are inf - inf where the goal cannot be reached: the field itself is asked."""
    ends, lengths = ([5, 4, 4, 4, 0], [2, 1, 5, 6, 3]), [100.0, 200, 100, 400, 200]
    graph = wf.Graph.from_edges(*ends, lengths, num_vertices=7)
    labels = wf.Labels([5, 4, 2, 3, 0, 6], [500.0, 200, 200, 400, 300, 400])
    plain, lifted = (wf.solve(graph, labels, 2, lift=r, check=False) for r in (False, True))
    assert plain.false_sinks.tolist() == lifted.false_sinks.tolist() == [0, 4]


def test_states_behind_labels_are_said() -> None:
    """A path 0 – 5 with labels at 0 and 3: beyond 3 nothing tells how values go on."""
    path = wf.Graph.from_edges(range(5), range(1, 6))
    labels = wf.Labels([0, 3], [0.0, 3.0])
    for method in (wf.AMLE(), wf.Harmonic(), wf.PLaplacian(8), wf.NearestLabel()):
        answer = wf.solve(path, labels, 0, method)
        assert answer.behind_labels.tolist() == [4, 5], method
        assert "flat      2 states lie behind labels and have the same values: 4, 5" in (
            answer.summary()
        )
    assert 'AMLE(fill="cost") adds the cost from there' in answer.summary()
    further = wf.solve(path, labels, 0, wf.AMLE(fill="cost"))
    assert further.behind_labels.size == 0
    assert further.values.tolist() == [0, 1, 2, 3, 4, 5]
    assert "flat" not in further.summary()
    corrected = wf.solve(path, labels, 0, prior=wf.cost_to_go(path, 0))
    assert corrected.behind_labels.size == 0


def test_one_state_behind_a_label() -> None:
    path = wf.Graph.from_edges(range(40), range(1, 41))
    answer = wf.solve(path, wf.Labels([0, 39], [0.0, 39.0]), 0)
    assert "flat      1 state lies behind a label and has the same value: 40" in answer.summary()
    assert "adds the cost" not in answer.summary()  # one of 41 is not worth it


def test_states_between_labels_of_one_value_are_behind_them_too() -> None:
    ring = wf.Graph.from_edges(range(6), [*range(1, 6), 0])
    answer = wf.solve(ring, wf.Labels([0, 2, 4], [0.0, 2.0, 2.0]), 0)
    assert answer.behind_labels.tolist() == [3]


def test_on_directed_graphs_the_fill_by_cost_leaves_nothing_flat() -> None:
    arcs = wf.Graph.from_edges([3, 2, 1], [2, 1, 0], directed=True)
    labels = wf.Labels([0, 1], [0.0, 1.0])
    assert wf.solve(arcs, labels, 0).behind_labels.size == 0
    assert wf.solve(arcs, labels, 0, wf.AMLE(fill="flat")).behind_labels.tolist() == [2, 3]


def test_rewards_have_no_bound_on_their_distance_from_costs() -> None:
    path = wf.Graph.from_edges(range(9), range(1, 10))
    every_second = np.arange(0, 10, 2)
    costs = wf.Labels(every_second, every_second.astype(float))
    assert "the true cost-to-go is within" in wf.solve(path, costs, 0).summary()
    rewards = wf.Labels(every_second, -every_second.astype(float))
    told = wf.solve(path, rewards, 0).summary()
    assert "the true cost-to-go is within" not in told
    assert "if they are rewards" in told


def test_copies_are_read_only_too() -> None:
    path = wf.Graph.from_edges(range(4), range(1, 5))
    noisy = wf.Labels([0, 2, 4], [0.0, 5.0, 4.0])
    answer = wf.solve(path, noisy, 0)
    assert answer.plan.cycles  # kept with the plan once it is asked for
    found = wf.solve(path, noisy, 0, lift=True)
    assert found.lifted is not None
    copies = {
        "values": pickle.loads(pickle.dumps(answer)).field.values,
        "upper": pickle.loads(pickle.dumps(answer.field)).upper,
        "successor": copy.deepcopy(answer.plan).successor,
        "cycles": pickle.loads(pickle.dumps(answer.plan)).cycles[0],
        "path": pickle.loads(pickle.dumps(answer.route(1))).path,
        "margin": pickle.loads(pickle.dumps(answer.certificate)).margin,
        "bound": pickle.loads(pickle.dumps(answer.certificate)).error_bound,
        "lifted": pickle.loads(pickle.dumps(found.lifted)).values,
        "predicted": pickle.loads(pickle.dumps(wf.cross_validate(path, noisy, 0))).predicted,
    }
    for name, array in copies.items():
        assert not array.flags.writeable, name
    assert copies["values"].tolist() == answer.field.values.tolist()


# ------------------------------------------------------------------ a graph that is wrong


def false_chord() -> wf.Graph:
    """A ring of ten with a chord that does not exist."""
    return wf.Graph.from_edges([*range(10), 0], [*range(1, 10), 0, 5])


def test_advice_where_labels_contradict_the_graph() -> None:
    slow = wf.Labels([0, 3, 9], [0.0, 3.5, 1.0])
    told = wf.solve(false_chord(), slow, 0).facts()["advice"]
    assert told == (
        "compare(graph, labels, goal) says what to use. wayfield.travel tests what is wrong with "
        "the graph."
    )


def test_a_graph_that_labels_agree_with_is_not_called_wrong() -> None:
    graph = false_chord()
    answer = wf.solve(graph, wf.sample_labels(graph, 0, count=5), 0)
    assert "travel" not in answer.facts()["advice"]
    assert not answer.contradictions


def test_lifting_needs_a_label_that_stays() -> None:
    """Without a label at the goal all others may lie below it, or out of its reach."""
    path = wf.Graph.from_edges([0, 1], [1, 2], num_vertices=4)
    with pytest.raises(wf.InputError, match="lifting raised every label, since the goal has none"):
        wf.solve(path, wf.Labels([1], [2.0]), 0, lift=True)
    with pytest.raises(wf.InputError, match="no label is in reach of the goal 3"):
        wf.solve(path, wf.Labels([1], [2.0]), 3, lift=True)
    assert "label it" in wf.solve(path, wf.Labels([1], [2.0]), 0).summary()


@pytest.mark.parametrize(
    ("margin", "text"),
    [(None, "tolerates no error"), (1e-12, "tolerates no error"), (0.5, "errors below 0.5")],
)
def test_a_margin_of_rounding_tolerates_nothing(margin: float | None, text: str) -> None:
    assert text in _tolerates(margin)


def test_the_graph_s_own_names_are_used() -> None:
    road = wf.Graph.from_edges([0, 1], [1, 2]).with_names(["Genève", "Lausanne", "Bern"])
    labels = wf.Labels({"Bern": 0.0, "Genève": 2.0}, graph=road)
    answer = wf.solve(road, labels, 2)
    assert "goal Bern" in answer.summary()
    assert answer.facts(starts=[0])["routes"][0]["path"] == ["Genève", "Lausanne", "Bern"]
    assert "goal c" in answer.summary("abc")
