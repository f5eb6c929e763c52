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
from wayfield.advice.text import _tolerates, behind_labels, route_margins, unit_question
from wayfield.words import margin_text, number_of, percent, quoted, seconds_text

PATH = wf.Graph.from_edges(range(4), range(1, 5))
LONG = wf.Graph.from_edges(range(40), range(1, 41))
RING = wf.Graph.from_edges(range(6), [*range(1, 6), 0])
ARCS = wf.Graph.from_edges([3, 2, 1], [2, 1, 0], directed=True)
CHORD = wf.Graph.from_edges([*range(10), 0], [*range(1, 10), 0, 5])
"""A ring of ten with a chord that does not exist."""
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
    assert (answer.goal, answer.graph, answer.lifted) == (7, maze, None)
    assert not answer.raised.any()
    assert wf.solve(PATH, GOOD, 0).field.method == wf.AMLE()


def test_lift_raises_the_field_that_the_plan_stands_on(maze: wf.Graph) -> None:
    labels = wf.sample_labels(maze, 0, 0.02)
    stuck = wf.solve(maze, labels, 0, wf.Harmonic())
    safe = wf.solve(maze, labels, 0, wf.Harmonic(), lift=True)
    lifted = wf.lift(maze, stuck.values, 0)
    assert stuck.plan.success < safe.plan.success == 1.0
    assert np.array_equal(safe.values, lifted.values)
    assert np.array_equal(safe.field.values, stuck.values)
    assert np.array_equal(safe.raised, lifted.raised)
    up = safe.raised[safe.raised_states]
    assert up.size == (lifted.raised > 0).sum() > 0
    assert (np.diff(up) <= 0).all()
    assert not safe.certificate.bracketed
    assert np.array_equal(safe.false_sinks, stuck.plan.false_sinks(labels))
    same = wf.solve(PATH, GOOD, 0, lift=True)  # nothing to lift
    assert same.certificate.bracketed
    assert same.facts()["plan"]["raised"] == {"count": 0, "most": 0.0, "states": []}
    assert same.facts()["value_error_bound"]["largest"] < 1e-12


def test_lifting_does_not_change_which_labels_were_false_sinks() -> None:
    """Raised values are inf - inf where the goal cannot be reached: the field itself is asked."""
    ends, lengths = ([5, 4, 4, 4, 0], [2, 1, 5, 6, 3]), [100.0, 200, 100, 400, 200]
    graph = wf.Graph.from_edges(*ends, lengths, num_vertices=7)
    labels = wf.Labels([5, 4, 2, 3, 0, 6], [500.0, 200, 200, 400, 300, 400])
    plain, lifted = (wf.solve(graph, labels, 2, lift=r, check=False) for r in (False, True))
    assert plain.false_sinks.tolist() == lifted.false_sinks.tolist() == [0, 4]


def test_components_without_labels_cannot_reach() -> None:
    apart = wf.Graph.from_edges([0, 2], [1, 3])
    answer = wf.solve(apart, wf.Labels([0, 1], [0.0, 1.0]), 0)
    assert answer.values.tolist() == [0.0, 1.0, inf, inf]
    assert answer.outcomes.tolist() == ["reached", "reached", "unreachable", "unreachable"]
    assert answer.route(2).outcome is wf.Outcome.UNREACHABLE
    assert answer.route(2).path.tolist() == [2]
    assert said(answer)["lost"] == "2 of 4 states cannot reach the goal at all: 2, 3"


def test_every_outcome_has_its_name() -> None:
    tails, heads = zip((1, 0), (2, 3), (3, 2), (3, 0), (4, 5), strict=True)
    graph = wf.Graph.from_edges(tails, heads, [1.0, 1.0, 1.0, 100.0, 1.0], directed=True)
    plan = wf.plan(graph, [0.0, 1.0, 3.0, 4.0, 2.0, 1.0], 0)
    told = ["reached", "reached", "loop", "loop", "unreachable", "unreachable"]
    assert plan.outcomes.tolist() == told
    assert (plan.outcomes == "loop").tolist() == [outcome == "loop" for outcome in told]
    stuck = wf.plan(wf.Graph.from_edges([0, 1], [1, 2]), [0.0, inf, inf], 0)
    assert stuck.outcomes.tolist() == ["reached", "reached", "dead end"]


def test_a_solve_that_misses_its_guarantee_raises_unless_told(maze: wf.Graph) -> None:
    labels, hasty = wf.sample_labels(maze, 0, 0.02), wf.PLaplacian(16, max_steps=1)
    with pytest.raises(wf.NotConverged):
        wf.solve(maze, labels, 0, hasty)
    answer = wf.solve(maze, labels, 0, hasty, check=False)
    assert not answer.field.status.good
    assert said(answer)["advice"].startswith("the solver missed its guarantee")
    assert said(answer)["advice"].endswith("try AMLE()")
    exact = wf.solve(PATH, GOOD, 0)
    missed = replace(exact, field=replace(exact.field, status=wf.Status.UNVERIFIED))
    assert said(missed)["advice"].endswith("the values may be right, but this is not proved")


def test_answers_are_one_line() -> None:
    told = "Answer(AMLE(): converged; 4 of 4 starts reach the goal"
    assert repr(wf.solve(PATH, GOOD, 0)) == f"{told})"
    assert repr(wf.solve(PATH, SINK, 0, lift=True)) == f"{told}, 2 values raised)"


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"goal": 5}, "goal 5 is not a vertex"),
        ({"lift": "yes"}, "lift must be True or False, got 'yes'"),
        ({"error": -1.0}, "error"),
        ({"prior": [0.0]}, "prior has 1 entries"),
        ({"labels": wf.Labels([9], [0.0])}, "out of range"),
        ({"method": "amle"}, "method must be an extension"),
        ({"graph": "path"}, "graph"),
        # without a label at the goal all others may lie below it, or out of its reach
        ({"labels": wf.Labels([1], [2.0]), "lift": True}, "lifting raised every label, since the"),
        (
            {"graph": wf.Graph.from_edges([0, 1], [1, 2], num_vertices=4), "goal": 3, "lift": True}
            | {"labels": wf.Labels([1], [2.0])},
            "no label is in reach of the goal 3",
        ),
    ],
)
def test_bad_input_is_named(settings: dict[str, Any], told: str) -> None:
    arguments: dict[str, Any] = {"graph": PATH, "labels": GOOD, "goal": 0} | settings
    with pytest.raises(wf.InputError, match=told):
        wf.solve(**arguments)


@pytest.mark.parametrize(
    ("names", "starts", "told"),
    [
        (["a", "b"], [], "names must have one entry per vertex, 5, got 2"),
        (None, [9], "start 9 is not a vertex"),
    ],
)
def test_bad_names_and_starts(names: Any, starts: list[int], told: str) -> None:
    with pytest.raises(wf.InputError, match=told):
        wf.solve(PATH, GOOD, 0).summary(names, starts)


def test_copies_are_read_only_too() -> None:
    noisy = wf.Labels([0, 2, 4], [0.0, 5.0, 4.0])
    answer, found = wf.solve(PATH, noisy, 0), wf.solve(PATH, noisy, 0, lift=True)
    assert answer.plan.cycles  # kept with the plan once it is asked for
    assert found.lifted is not None
    again = pickle.loads(pickle.dumps(answer))
    copies = {
        "values": again.field.values,
        "upper": again.field.upper,
        "successor": copy.deepcopy(answer.plan).successor,
        "cycles": again.plan.cycles[0],
        "path": pickle.loads(pickle.dumps(answer.route(1))).path,
        "margin": again.certificate.margin,
        "bound": again.certificate.error_bound,
        "lifted": pickle.loads(pickle.dumps(found.lifted)).values,
        "predicted": pickle.loads(pickle.dumps(wf.cross_validate(PATH, noisy, 0))).predicted,
    }
    assert not [name for name, array in copies.items() if array.flags.writeable]
    assert copies["values"].tolist() == answer.field.values.tolist()


# ------------------------------------------------------------------ what is said


def test_facts_are_plain_data() -> None:
    facts = wf.solve(PATH, SINK, 0, lift=True, error=inf).facts(NAMES, [4])
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert facts["labels"]["false_sinks"] == [{"name": "wood", "value": 1.0}]
    assert facts["plan"]["raised"]["states"] == [
        {"name": "wood", "by": pytest.approx(4.0)},
        {"name": "farm", "by": pytest.approx(4.0)},
    ]
    assert facts["certified"]["error"] is None
    assert facts["value_error_bound"] == {"largest": None, "median": None}
    assert facts["routes"][0]["path"] == NAMES[::-1]
    assert wf.solve(PATH, SINK, 0).facts()["plan"]["raised"] is None


WORLDS: dict[str, tuple[wf.Graph, wf.Labels, dict[str, Any]]] = {
    "good": (PATH, GOOD, {}),
    "stuck": (PATH, SINK, {}),
    "lifted": (PATH, SINK, {"lift": True}),
    "harmonic": (PATH, SINK, {"method": wf.Harmonic()}),
    "known to 0.5": (PATH, GOOD, {"error": 0.5}),
    "known to inf": (PATH, GOOD, {"error": inf}),
    "two ends": (wf.Graph.from_edges([0], [1]), wf.Labels([0, 1], [0.0, 1.0]), {}),
    "tie": (wf.Graph.from_edges(range(4), [1, 2, 3, 0]), wf.Labels([0, 2], [0.0, 2.0]), {}),
    "costlier": (  # the slope rule takes the steeper arc, though the other is cheaper by ℓ + u
        wf.Graph.from_edges(range(4), [1, 2, 3, 0], [10.0, 1.0, 5.0, 5.0]),
        wf.Labels(range(4), [0.0, 17.0, 20.0, 10.0]),
        {},
    ),
    "half": (PATH, wf.Labels([0, 2], [0.0, 2.0]), {}),
    "half by cost": (PATH, wf.Labels([0, 2], [0.0, 2.0]), {"method": wf.AMLE(fill="cost")}),
    "last behind": (LONG, wf.Labels([0, 39], [0.0, 39.0]), {}),
    "two behind": (LONG, wf.Labels(range(0, 40, 2), np.arange(0.0, 40, 2)), {}),
    "rewards": (LONG, wf.Labels(range(0, 40, 2), -np.arange(0.0, 40, 2)), {}),
    "all low": (
        wf.Graph.from_edges([0] * 9, range(1, 10)),
        wf.Labels(range(10), [0.0, *[-1.0] * 9]),
        {},
    ),
    "wrong": (CHORD, wf.Labels([0, 3, 9], [0.0, 3.5, 1.0]), {}),
    "right": (CHORD, wf.Labels([0, 3, 5, 7, 9], [0.0, 3.0, 1.0, 3.0, 1.0]), {}),
    "units": (PATH, wf.Labels([0, 4], [0.0, 4e3]), {}),
    "goal unknown": (PATH, wf.Labels([1, 4], [1.0, 4.0]), {}),
    "all equal": (PATH, wf.Labels([0, 4], [2.0, 2.0]), {}),
    "only the goal": (PATH, wf.Labels([0], [0.0]), {}),
    "goal by cost": (PATH, wf.Labels([0], [0.0]), {"method": wf.AMLE(fill="cost")}),
    "one way": (wf.Graph.from_edges([0], [1], directed=True), wf.Labels([0], [0.0]), {}),
}
SENTENCES = """
good          | proved    | 4 moves and 4 routes are optimal, if labels are right, no edge is
stuck         | proved    | no moves: labels and graph contradict each other
units         | proved    |
good          | bound     | the field is the true cost-to-go, if graph and labels are right
two behind    | bound     | the true cost-to-go is within 2 of the field (at half of the states, eq
rewards       | bound     |
stuck         | sinks     | 1 label is no higher than any neighbour, so walks can get stuck there:
all low       | sinks     | 9 labels are no higher than any neighbour, so walks can get stuck there
good          | sinks     |
stuck         | loops     | 3 → 4 → 3, where 3 starts end
stuck         | plan      | 1 of 4 starts reach the goal (25 %); 3 run into 1 loop
lifted        | raised    | 2 values: 3 by 4, 4 by 4
good          | certified |
known to 0.5  | certified | with errors up to 0.5, 100 % of the moves are proved optimal, and 100 %
known to inf  | certified | with errors of any size, 20 % of the moves are proved optimal, and 20 %
wrong         | against   | 1 of 3 labels exceeds the graph's shortest paths, by up to 0.5; proof
right         | against   |
half          | flat      | 2 states lie behind labels and have the same values: 3, 4
last behind   | flat      | 1 state lies behind a label and has the same value: 40
half by cost  | flat      |
two ends      | margin    | no route has a choice of moves, so errors of the values change nothing
good          | margin    | every route tolerates errors of the values below 1; weakest at
tie           | margin    | some routes tolerate no error: another move looks as cheap
costlier      | margin    | some routes take a move that looks 3 more costly than another, the med
good          | advice    | every start with a path to the goal reaches it; answer.route(start)
units         | advice    | labels are 1e+03 times the graph's own distances: are both in the same
harmonic      | advice    | walks get stuck on this field: try AMLE(), or lift it (lift=True). comp
stuck         | advice    | walks can get stuck at 1 label: check it, drop it (drop_false_sinks) or
lifted        | advice    | values were raised so that every walk arrives: check the labels around
rewards       | advice    | labels decrease away from the goal: if they are rewards, negate them
goal unknown  | advice    | the goal has no label, so nothing leads there: label it
all equal     | advice    | the labels are all equal, so the field is constant: label states with
only the goal | advice    | only the goal is labelled, so the field is constant: label states with
goal by cost  | advice    | every start with a path to the goal reaches it; answer.route(start)
one way       | advice    | no other state can reach the goal: is it the right one, and do the arcs
half          | advice    | 2 states lie behind labels: AMLE(fill="cost") adds the cost from there
last behind   | advice    | every start with a path to the goal reaches it; answer.route(start)
wrong         | advice    | compare(graph, labels, goal) says what to use. wayfield.travel tests
right         | advice    | every start with a path to the goal reaches it; answer.route(start)
"""


@pytest.mark.parametrize("world", WORLDS)
def test_each_sentence_where_it_is_true(world: str) -> None:
    rows = [map(str.strip, line.split("|")) for line in SENTENCES.strip().splitlines()]
    wanted = [(word, told) for name, word, told in rows if name == world]
    assert wanted
    graph, labels, settings = WORLDS[world]
    lines = said(wf.solve(graph, labels, 0, **settings))
    for word, told in wanted:
        line = lines.get(word, "")
        assert line.startswith(told) if told else not line, line


def test_advice_with_routes_and_with_labels_left_out() -> None:
    answer = wf.solve(PATH, GOOD, 0)
    paths = (
        "compare(graph, labels, goal) says what to use: the labels, or the graph's own distances"
    )
    assert said(answer, starts=[4])["advice"] == paths
    worse = answer.facts(held_out={"labels_help": False, "text": "3 labels"})
    assert worse["advice"].startswith("Use the graph distance: this field does not predict labels")
    assert (
        answer.facts(held_out={"labels_help": True, "text": "3 labels"})["advice"]
        != (worse["advice"])
    )
    plain = wf.solve(PATH, wf.Labels([0], [0.0]), 0, prior=wf.cost_to_go(PATH, 0))
    facts = plain.facts(starts=[4])
    assert facts["method"] == "graph distance"
    assert facts["advice"].startswith("these are the graph's own shortest paths; with a few")


@pytest.mark.parametrize(
    ("graph", "line"),
    [
        (PATH, "5 vertices, 4 edges, all of length 1; in one piece"),
        (wf.Graph.from_edges([0, 2], [1, 3], [2, 3]), "4 vertices, 2 edges, lengths 2 to 3; 2 com"),
        (ARCS, "4 vertices, 3 arcs (directed), all of length 1; 4 strong components"),
        (
            wf.Graph.from_edges([], [], num_vertices=1),
            "1 vertex, 0 edges, no lengths; in one piece",
        ),
    ],
)
def test_the_graph_in_words(graph: wf.Graph, line: str) -> None:
    answer = wf.solve(graph, wf.Labels([0], [0.0]), 0)
    assert said(answer)["graph"].startswith(line)
    found = answer.facts()["graph"]
    assert found["components"] == int(graph.components.max()) + 1
    assert found["strong_components"] == int(graph.strong_components.max()) + 1


def test_routes_and_names_in_words() -> None:
    answer = wf.solve(PATH, GOOD, 0)
    told = said(answer, names=NAMES, starts=[4])
    order = ["graph", "labels", "method", "plan", "proved", "margin", "bound", "route", "advice"]
    assert list(told) == order
    assert told["labels"] == "2 (40 % of the vertices), values 0 to 4; goal home"
    assert told["route"] == (
        "farm → wood → “old mill” → bridge → home: cost 4, 4 steps; "
        "tolerates errors below 1, weakest at “old mill”"
    )
    mapping = answer.summary(names=dict(enumerate(NAMES)))
    assert mapping == answer.summary(names=np.array(NAMES)) == answer.summary(names=NAMES)
    road = PATH.with_names(NAMES)
    own = wf.solve(road, wf.Labels({"home": 0.0, "farm": 4.0}, graph=road), 0)
    assert "goal home" in own.summary()
    assert "goal a" in own.summary("abcde")
    away = wf.solve(LONG, wf.sample_labels(LONG, 0, 0.2), 0).summary(starts=[40])
    assert "40 → 39 → 38 → 37 → 36 → 35 → … → 5 → 4 → 3 → 2 → 1 → 0: cost 40" in away


def test_a_route_beside_an_unknown_value_bears_nothing() -> None:
    square = wf.Graph.from_edges([1, 2, 1, 3], [0, 1, 3, 0], directed=True)
    answer = wf.solve(square, wf.Labels([0, 1], [0.0, 1.0]), 0, prior=[0.0, 1.0, 2.0, inf])
    told = said(answer, starts=[2])
    assert told["margin"].startswith("some routes pass next to a state of unknown value")
    assert "weakest at 1 (unknown, 2 routes)" in told["margin"]
    assert told["route"].endswith("tolerates no error, weakest at 1")


def test_margins_rank_the_weakest_states_that_decide_routes(maze: wf.Graph) -> None:
    answer = wf.solve(maze, wf.sample_labels(maze, 0, 0.05), 0, wf.Harmonic())
    found, margins = answer.facts()["margin"], np.sort(route_margins(answer))
    assert margins.size == answer.plan.num_arrived
    assert found["median"] == margins[(margins.size - 1) // 2]
    assert found["least"] == margins[0]
    weakest = [round(state["margin"], 9) for state in found["weakest"]]
    assert weakest == sorted(weakest)
    assert found["least"] == pytest.approx(weakest[0], abs=1e-9)
    assert all(state["routes"] > 0 for state in found["weakest"])


@pytest.mark.parametrize(
    ("graph", "labels", "settings", "behind"),
    [
        (PATH, wf.Labels([0, 2], [0.0, 2.0]), {"method": wf.Harmonic()}, [3, 4]),
        (PATH, wf.Labels([0, 2], [0.0, 2.0]), {"method": wf.PLaplacian(8)}, [3, 4]),
        (PATH, wf.Labels([0, 2], [0.0, 2.0]), {"method": wf.NearestLabel()}, [3, 4]),
        (PATH, wf.Labels([0, 2], [0.0, 2.0]), {"prior": np.arange(5.0)}, []),
        (RING, wf.Labels([0, 2, 4], [0.0, 2.0, 2.0]), {}, [3]),  # between labels of one value
        (ARCS, wf.Labels([0, 1], [0.0, 1.0]), {}, []),
        (ARCS, wf.Labels([0, 1], [0.0, 1.0]), {"method": wf.AMLE(fill="flat")}, [2, 3]),
    ],
)
def test_states_behind_labels(
    graph: wf.Graph, labels: wf.Labels, settings: dict[str, Any], behind: list[int]
) -> None:
    assert behind_labels(wf.solve(graph, labels, 0, **settings)).tolist() == behind


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        ([60.0] * 9, "60 times the graph's own distances"),
        ([59.0] * 9, "multiply the lengths by 60"),
        ([8.0] * 9, "multiply the lengths by 8"),
        ([0.001] * 9, "multiply the lengths by 0.001"),
        ([3.0] * 9, ""),
        ([0.4] * 9, ""),
        ([1.0] * 5 + [30.0] * 4, ""),
        ([-60.0] * 9, ""),
        ([], ""),
    ],
)
def test_units_are_asked_about_if_nearly_all_ratios_are_off(costs: list[float], said: str) -> None:
    question = unit_question(np.array(costs), np.ones(len(costs)))
    assert said in question if said and question else question is None


# ------------------------------------------------------------------ numbers and names in words


@pytest.mark.parametrize(
    ("function", "given", "told"),
    [
        (percent, [1.0, 0.99999999, 2 / 3, 0.0002, 0.0], "100 %/99.99 %/66.7 %/0.02 %/0 %"),
        (
            quoted,
            ["Bern", "12", "Zürich HB", "", "\x1b[2J", "a\nb"],
            "Bern/12/“Zürich HB”/“”/“\\x1b[2J”/“a\\nb”",
        ),
        (lambda n: number_of(n, "labels"), [0, 1, 12345], "0 labels/1 label/12,345 labels"),
        (lambda n: number_of(n, "vertices", "vertex"), [1, 2], "1 vertex/2 vertices"),
        (
            seconds_text,
            [0.0, 3e-5, 0.012, 0.099, 1.26, 99.4, 150.0, 1200.0, 7261.0],
            "0 ms/0.03 ms/12 ms/99 ms/1.3 s/99 s/150 s/20 min/2 h 1 min",
        ),
        (margin_text, [None, inf, 1e-12, 0.12345, -2.0], "∞/∞/0/0.123/-2"),
        (
            _tolerates,
            [None, 1e-12, 0.5],
            "tolerates no error/tolerates no error/tolerates errors below 0.5",
        ),
    ],
)
def test_numbers_and_names_in_words(function: Any, given: list[Any], told: str) -> None:
    assert "/".join(map(function, given)) == told
