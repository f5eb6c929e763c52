"""The explorer's API: what it shows is what the library says, and bad requests are told so."""

from __future__ import annotations

import base64
import importlib
import json
import re
from collections import Counter
from dataclasses import asdict, replace
from importlib import resources
from typing import Any

import numpy as np
import pytest

import wayfield as wf
from browsing import first_visit
from wayfield import explorer
from wayfield.explorer import notebook
from wayfield.explorer.api import HANDLERS, respond
from wayfield.explorer.compute import maze_scene
from wayfield.explorer.scene import MazeWorld, Panel, Scene, maze_of, scene_of
from wayfield.graphs.labels import label_distance

SQUARE = wf.Layout.from_text("......\n.##.#.\n...4..\n.#..#.\n......")
METHODS = {
    "harmonic": wf.Harmonic(),
    "p=8": wf.PLaplacian(8.0),
    "amle": wf.AMLE(),
    "nearest": wf.NearestLabel(),
}


def small(method: str = "amle") -> dict[str, Any]:
    return maze_scene(SQUARE, 3, 5, 0.1, 2, method).to_json()


def road_scene() -> Scene:
    graph = wf.Graph.from_edges(
        [0, 1, 2, 3, 4, 0, 1], [1, 2, 3, 4, 5, 5, 4], [2.0, 1.0, 2.0, 1.0, 3.0, 9.0, 7.5]
    )
    names = ["Bern", "Thun", "Spiez", "Brig", "Visp", "Sion <&>"]
    return scene_of(graph, wf.Labels([0, 3, 5], [0.0, 5.5, 8.0]), 0, names)


def ask(name: str, scene: dict[str, Any], **more: Any) -> dict[str, Any]:
    reply = respond(name, json.dumps({"scene": scene, **more}).encode())
    answer: dict[str, Any] = json.loads(reply.body)
    assert reply.status == 200, answer
    return answer


def refused(name: str, body: bytes | dict[str, Any]) -> str:
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    reply = respond(name, sent)
    assert reply.status == 422, reply
    told: str = json.loads(reply.body)["error"]
    return told


def array(text: str, dtype: str) -> np.ndarray[Any, Any]:
    return np.frombuffer(base64.b64decode(text), dtype)


# ---------------------------------------------------------------- what is shown


@pytest.mark.parametrize("method", METHODS)
def test_a_picture_is_the_library_s_answer(method: str) -> None:
    scene = small(method)
    shown = ask("picture", scene)
    graph = wf.grid_graph(SQUARE, 3)
    labels = wf.sample_labels(graph, 5, 0.1, seed=2)
    answer = wf.solve(graph, labels, 5, METHODS[method], check=False)
    np.testing.assert_array_equal(array(shown["values"], "<f8"), answer.values)
    np.testing.assert_array_equal(array(shown["successor"], "<i4"), answer.plan.successor)
    np.testing.assert_array_equal(array(shown["basin"], "<i4"), answer.plan.basin)
    assert shown["reach"] == answer.plan.num_arrived
    assert [cycle["states"] for cycle in shown["cycles"]] == [
        c.tolist() for c in answer.plan.cycles
    ]
    touches = answer.plan.touches(labels).tolist()
    assert [cycle["touches"] for cycle in shown["cycles"]] == touches


def test_a_picture_says_how_the_walk_from_every_state_ends() -> None:
    named = ["reached", "loop", "dead end", "unreachable"]
    trap = wf.Graph.from_edges([1, 2, 1], [0, 1, 3], directed=True)
    labels = wf.Labels([0, 2], [0.0, 2.0])
    looping = wf.grid_graph(SQUARE, 3)
    drawn = wf.sample_labels(looping, 5, 0.2, seed=28)
    maze = maze_scene(SQUARE, 3, 5, 0.2, 28, "harmonic").to_json()
    for scene, answer, ends in (
        (scene_of(trap, labels, 0).to_json(), wf.solve(trap, labels, 0), {0, 3}),
        (maze, wf.solve(looping, drawn, 5, wf.Harmonic(), check=False), {0, 1}),
    ):
        outcome = array(ask("picture", scene)["outcome"], "u1").tolist()
        assert [named[each] for each in outcome] == answer.plan.outcomes.tolist()
        assert set(outcome) == ends


def test_rule_ties_repair_and_budget_are_the_library_s() -> None:
    scene = small("harmonic")
    scene["panels"] = [{"method": "harmonic", "rule": "q", "ties": "index"}]
    scene["budget"] = 0.2
    graph = wf.grid_graph(SQUARE, 3)
    labels = wf.sample_labels(graph, 5, 0.1, seed=2)
    field = wf.extend(graph, labels, wf.Harmonic())
    moves = wf.plan(graph, field, 5, "q", "index")
    proof = wf.certify(graph, labels, field, moves, 0.2)
    shown = ask("picture", scene)
    np.testing.assert_array_equal(array(shown["successor"], "<i4"), moves.successor)
    np.testing.assert_array_equal(array(shown["certified"], "u1"), proof.certified)
    scene["panels"] = [{"method": "harmonic", "lift": True}]
    lifted = wf.solve(graph, labels, 5, wf.Harmonic(), lift=True)
    shown = ask("picture", scene)
    np.testing.assert_array_equal(array(shown["values"], "<f8"), lifted.values)
    assert shown["reach"] == shown["can_reach"]


def test_graph_distance_and_typed_and_noisy_labels() -> None:
    scene = small("distance")
    truth = wf.cost_to_go(wf.grid_graph(SQUARE, 3), 5)
    np.testing.assert_array_equal(array(ask("picture", scene)["values"], "<f8"), truth)
    scene["noise"] = {"spread": 2.0, "seed": 7}
    scene["labels"]["values"][0] = 41.5
    shown = ask("picture", scene)["labels"]
    noise = np.random.default_rng(7).normal(0.0, 2.0, truth.size)
    noise[5] = 0.0
    expected = (truth + noise)[shown["vertices"]]
    expected[shown["vertices"].index(scene["labels"]["vertices"][0])] = 41.5
    np.testing.assert_array_equal(shown["values"], expected)


def test_a_state_has_its_moves_with_q_and_slope_gap_margin_and_bracket() -> None:
    scene = small("harmonic")
    graph = wf.grid_graph(SQUARE, 3)
    labels = wf.sample_labels(graph, 5, 0.1, seed=2)
    answer = wf.solve(graph, labels, 5, wf.Harmonic())
    assert answer.field.lower is not None
    told = ask("state", scene, state=70)
    assert told["value"] == answer.values[70]
    assert told["lower"] == answer.field.lower[70]
    assert told["gap"] == answer.certificate.gap[70]
    assert told["margin"] == answer.certificate.margin[70]
    assert [move["state"] for move in told["moves"]] == graph.neighbours(70).tolist()
    for move in told["moves"]:
        assert move["q"] == move["length"] + move["value"]
        assert move["slope"] == (told["value"] - move["value"]) / move["length"]
        assert move["taken"] == (move["state"] == answer.plan.successor[70])
    nearest = told["nearest"]
    assert nearest[0]["distance"] == label_distance(graph, labels)[70]
    assert [n["distance"] for n in nearest] == sorted(n["distance"] for n in nearest)


def test_a_route_has_its_cost_beside_the_least() -> None:
    scene = small("harmonic")
    graph = wf.grid_graph(SQUARE, 3)
    answer = wf.solve(graph, wf.sample_labels(graph, 5, 0.1, seed=2), 5, wf.Harmonic())
    for start in (0, 40, graph.num_vertices - 1):
        told = ask("route", scene, start=start)
        walk = answer.route(start)
        assert told["path"] == walk.path.tolist()
        assert (told["cost"], told["outcome"]) == (walk.cost, str(walk.outcome))
        assert told["least"] == wf.cost_to_go(graph, 5)[start]


def test_words_and_verdict_are_those_of_solve_and_compare() -> None:
    scene = small("harmonic")
    graph = wf.grid_graph(SQUARE, 3)
    labels = wf.sample_labels(graph, 5, 0.1, seed=2)
    lines = wf.solve(graph, labels, 5, wf.Harmonic()).summary().splitlines()
    told = {line["word"]: line["text"] for line in ask("words", scene)["lines"]}
    for line in lines:
        word, _, text = line.partition(" ")
        if word not in ("method", "loops", "advice"):  # seconds differ; several loops; buttons
            assert told[word] == text.strip()
    assert told["advice"].endswith("the tool “Walk” shows its route")
    expected = wf.compare(graph, labels, 5)
    answer = ask("verdict", scene)
    assert answer["verdict"] == expected.verdict
    assert answer["labels_pay"] is False


def test_contradictions_and_false_sinks_are_the_library_s() -> None:
    ring = wf.Graph.from_edges([*range(10), 0], [*range(1, 10), 0, 5])
    labels = wf.Labels([0, 2, 3, 4, 5, 7, 8], [0.0, 2.0, 3.0, 4.0, 5.0, 3.0, 2.0])
    scene = scene_of(ring, labels, 0).to_json()
    told = ask("contradictions", scene)
    assert told["labels"] == wf.contradictions(ring, labels).optimistic.labels.tolist()
    assert [5, 0] in told["edges"]
    assert told["finding"] == "2 of 7 labels exceed the graph's shortest paths, by up to 4; " + (
        "proof only if the measured costs are exact."
    )
    noisy = small()
    noisy["noise"] = {"spread": 6.0, "seed": 1}
    dropped = ask("false-sinks", noisy)["dropped"]
    assert dropped
    assert noisy["goal"] not in dropped


def test_why_a_value_names_the_labels_that_decide_it() -> None:
    path = wf.Graph.from_edges(range(4), range(1, 5))
    scene = scene_of(path, wf.Labels([0, 4], [0.0, 4.0]), 0)
    told = ask("why", scene.to_json(), state=1)
    assert told["text"] == "It rests on 2 labels: 75 % on 0 (0), 25 % on 4 (4)."
    assert [label for label, _ in told["labels"]] == [0, 4]
    assert [weight for _, weight in told["labels"]] == pytest.approx([0.75, 0.25])
    assert ask("why", scene.to_json(), state=4)["text"] == "It rests on 1 label: 100 % on 4 (4)."
    distance = replace(scene, panels=(Panel("distance"),))
    assert "uses no labels" in ask("why", distance.to_json(), state=1)["text"]


def test_the_next_label_is_the_library_s_and_none_if_all_is_known() -> None:
    ring = wf.Graph.from_edges(range(10), [*range(1, 10), 0])
    labels = wf.Labels([0, 2], [0.0, 2.0])
    told = ask("next-label", scene_of(ring, labels, 0).to_json())
    assert told == {"state": int(wf.next_labels(ring, labels, 0)[0])}
    known = wf.Labels(range(10), wf.cost_to_go(ring, 0))
    assert ask("next-label", scene_of(ring, known, 0).to_json()) == {"state": None}


def test_sample_draws_what_the_library_draws() -> None:
    drawn = ask("sample", small(), share=0.2, seed=9)["vertices"]
    expected = wf.sample_labels(wf.grid_graph(SQUARE, 3), 5, 0.2, seed=9)
    assert drawn == expected.vertices.tolist()


def test_a_graph_of_one_s_own_has_names_and_gets_places() -> None:
    scene = road_scene().to_json()
    assert ask("state", scene, state=5)["name"] == "Sion <&>"
    places = array(ask("layout", scene)["positions"], "<f8").reshape(-1, 2)
    assert places.shape == (6, 2)
    assert len({tuple(place) for place in places.tolist()}) == 6


def test_lists_and_packed_arrays_say_the_same() -> None:
    scene = road_scene()
    packed = scene.to_json()
    plain = packed | {
        "graph": packed["graph"]
        | {
            "tails": array(packed["graph"]["tails"], "<i4").tolist(),
            "heads": array(packed["graph"]["heads"], "<i4").tolist(),
            "lengths": array(packed["graph"]["lengths"], "<f8").tolist(),
        }
    }
    assert ask("picture", plain)["values"] == ask("picture", packed)["values"]
    assert Scene.from_json(plain) == scene


def scenes() -> dict[str, dict[str, Any]]:
    return {
        "first visit": first_visit().to_json(),
        "a maze of one's own": small("p=8"),
        "noise": small("amle") | {"noise": {"spread": 1.5, "seed": 4}},
        "typed": small("harmonic")
        | {"labels": {"vertices": [5, 30, 31], "values": [0.0, None, 20.0]}},
        "other rule": small() | {"panels": [{"method": "harmonic", "rule": "q", "ties": "index"}]},
        "lifted": small() | {"panels": [{"method": "harmonic", "lift": True}]},
        "distance": small("distance"),
        "roads": road_scene().to_json(),
    }


def test_the_python_that_is_exported_builds_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    for name, scene in scenes().items():
        code = ask("python", scene)["code"]
        assert len(code.splitlines()) <= 12, name
        scope: dict[str, Any] = {}
        exec(code, scope)  # what a user does with it
        assert capsys.readouterr().out, name
        shown = ask("picture", scene)
        values, moves = scope["answer"].values, scope.get("plan", scope["answer"].plan)
        np.testing.assert_array_equal(values, array(shown["values"], "<f8"), name)
        np.testing.assert_array_equal(moves.successor, array(shown["successor"], "<i4"), name)


def test_python_of_a_large_graph_reads_the_exported_file(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = wf.Graph.from_edges(range(99), range(1, 100), np.linspace(1.0, 2.0, 99))
    scene = scene_of(graph, wf.Labels([0, 99], [0.0, 150.0]), 0).to_json()
    code = ask("python", scene)["code"]
    lists = {
        "tails": array(scene["graph"]["tails"], "<i4").tolist(),
        "heads": array(scene["graph"]["heads"], "<i4").tolist(),
        "lengths": array(scene["graph"]["lengths"], "<f8").tolist(),
    }
    exported = scene | {"graph": scene["graph"] | lists}
    (tmp_path / "wayfield-scene.json").write_text(json.dumps(exported))
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {}
    exec(code, scope)
    np.testing.assert_array_equal(
        scope["answer"].values, array(ask("picture", scene)["values"], "<f8")
    )
    assert "# needs wayfield-scene.json beside this program" in code


def test_the_python_that_is_exported_keeps_names(capsys: pytest.CaptureFixture[str]) -> None:
    code = ask("python", road_scene().to_json())["code"]
    exec(code, {})
    assert "goal Bern" in capsys.readouterr().out


def test_the_first_visit_shows_loops_that_the_amle_does_not_have() -> None:
    scene = first_visit().to_json()
    shown = ask("picture", scene)
    assert shown["reach"] < shown["can_reach"] / 2
    assert shown["cycles"]
    scene["panels"] = [{"method": "amle"}]
    shown = ask("picture", scene)
    assert shown["reach"] == shown["can_reach"]


# ---------------------------------------------------------------- what is refused


def changed(**entries: Any) -> dict[str, Any]:
    return {"scene": small() | entries}


def labelled(vertices: object, values: object) -> dict[str, Any]:
    return changed(labels={"vertices": vertices, "values": values})


def bad_requests() -> dict[str, tuple[bytes | dict[str, Any], str]]:
    return {
        "no JSON": (b"{", "not JSON"),
        "not UTF-8": (b'{"\xe9": 1}', "not UTF-8"),
        "a list": (b"[]", "request must be an object"),
        "deep": (b"[" * 200_000, "nested too deeply"),
        "deep objects": (b'{"a":' * 100_000, "nested too deeply"),
        "NaN": (b'{"scene": NaN}', "NaN is not a valid JSON"),
        "infinity": (b'{"scene": -Infinity}', "Infinity is not a valid JSON"),
        "5,000 digits": (b'{"scene": ' + b"9" * 5000 + b"}", "limit"),
        "no scene": ({}, "scene must be an object"),
        "nothing in it": ({"scene": {}}, "exactly one of maze and graph"),
        "something unknown": (changed(colour="red"), "'colour'"),
        "a goal that is no number": (changed(goal="x"), "scene.goal must be a whole number"),
        "a goal that is no vertex": (changed(goal=49_999), "goal 49999 is not a vertex"),
        "a goal that is true": (changed(goal=True), "scene.goal must be a whole number"),
        "a billion cells": (
            changed(maze={"text": "." * 10_000, "refinement": 64}),
            "more than 50,000",
        ),
        "a refinement of 10⁹": (
            changed(maze={"text": "..", "refinement": 10**9}),
            "scene.maze.refinement must be at most 64",
        ),
        "a maze that is none": (changed(maze={"text": "..x", "refinement": 1}), "'x'"),
        "a maze without cells": (changed(maze={"text": "###", "refinement": 1}), "no free cell"),
        "no labels": (labelled([], []), "the goal has no label"),
        "a label twice": (labelled([5, 5], [0, 0]), "twice"),
        "a label below 0": (labelled([5, -1], [0, 0]), "more, got -1"),
        "a label beyond": (labelled([5, 9999], [0, 0]), "not a vertex"),
        "a value too few": (labelled([5, 6], [0]), "2 vertices and 1"),
        "a value of text": (labelled([5], ["0"]), "must be a finite number of at least -1e+15"),
        "a value of 1e999": (
            json.dumps(changed(budget=3)).replace('"budget": 3', '"budget": 1e999').encode(),
            "scene.budget must be a finite number of at least 0 and at most 1e+15, got inf",
        ),
        "base64 that is none": (labelled("***", []), "not base64"),
        "base64 cut short": (labelled("AAA=", []), "4 bytes"),
        "an unknown method": (changed(panels=[{"method": "magic"}]), "unknown method"),
        "p below 2": (changed(panels=[{"method": "p=1"}]), "p"),
        "p that is no number": (changed(panels=[{"method": "p=nan"}]), "p"),
        "p in other digits": (changed(panels=[{"method": "p=١"}]), "'١' is not a number"),
        "a vertex of 1e99": (
            labelled([1e99], [0]),
            "scene.labels.vertices[0] must be a whole number, got 1e+99",
        ),
        "a goal of 1e99": (changed(goal=1e99), "a whole number of at least 0, got 1e+99"),
        "an unknown rule": (changed(panels=[{"rule": "luck"}]), "scene.panels.rule"),
        "three panels": (changed(panels=[{}, {}, {}]), "more than 2"),
        "no panels": (changed(panels=[]), "one or two"),
        "a negative budget": (changed(budget=-1), "a finite number of at least 0 and at most"),
        "endless noise": (changed(noise={"spread": 1e300, "seed": 0}), "scene.noise.spread"),
        "both worlds": (changed(graph={"vertices": 1}), "exactly one of maze and graph"),
        "a billion vertices": (
            {"scene": road_scene().to_json() | {"graph": {"vertices": 10**9}}},
            "scene.graph.vertices must be at most 50000, got 1000000000",
        ),
    }  # fmt: skip


def test_bad_requests_are_refused_in_words() -> None:
    for case, (body, words) in bad_requests().items():
        assert words in refused("picture", body), case


GRAPHS = {
    "a tail beyond": ({"tails": [0, 9]}, "out of range"),
    "a length of 0": ({"lengths": [1.0, 0.0]}, "not positive"),
    "too few lengths": ({"lengths": [1.0]}, "lengths"),
    "positions of others": ({"positions": [0.0]}, "6 numbers"),
    "names of others": ({"names": ["a"]}, "1 names for 3 vertices"),
    "a name that is none": ({"names": [1, 2, 3]}, "scene.graph.names must be text"),
    "a bad flag": ({"directed": "yes"}, "true or false"),
    "more edges than allowed": ({"tails": [0] * 250_001}, "more than 250,000"),
    "a tail of 10²⁰": ({"tails": [0, 10**20]}, "too large"),
    "a tail that is a fraction": ({"tails": [0, 0.5]}, "scene.graph.tails[1]"),
}  # fmt: skip


def test_bad_graphs_are_refused_in_words() -> None:
    for case, (change, words) in GRAPHS.items():
        graph = {"vertices": 3, "tails": [0, 1], "heads": [1, 2]} | change
        labels = {"vertices": [0], "values": [0]}
        scene = {"graph": graph, "goal": 0, "labels": labels, "panels": [{}]}
        assert words in refused("picture", {"scene": scene}), case


def test_bad_questions_are_refused_in_words() -> None:
    scene = small()
    assert "request.panel must be at most 0, got 1" in refused(
        "picture", {"scene": scene, "panel": 1}
    )
    assert "state 9999 is not a vertex" in refused("state", {"scene": scene, "state": 9999})
    assert "request.state is missing" in refused("state", {"scene": scene})
    assert "start 9999" in refused("route", {"scene": scene, "start": 9999})
    assert "request.share" in refused("sample", {"scene": scene, "share": 7, "seed": 0})
    assert "'more'" in refused("picture", {"scene": scene, "more": 1})
    assert respond("nothing", b"{}").status == 404


def test_a_label_behind_a_wall_is_left_out_unless_its_value_is_typed() -> None:
    scene = small() | {
        "maze": {"text": "..#.", "refinement": 1},
        "goal": 0,
        "labels": {"vertices": [0, 2], "values": [0, None]},
    }
    shown = ask("picture", scene)
    assert (shown["left_out"], shown["labels"]["vertices"]) == (1, [0])
    assert np.isfinite(array(shown["values"], "<f8")).tolist() == [True, True, False]
    assert (shown["can_reach"], shown["reach"]) == (1, 1)
    scene["labels"]["values"] = [0, 4.0]
    shown = ask("picture", scene)
    assert (shown["left_out"], shown["can_reach"]) == (0, 1)
    assert array(shown["values"], "<f8")[2] == 4.0


def test_a_mistake_of_ours_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(HANDLERS, "picture", lambda scene, fields: 1 / 0)
    reply = respond("picture", json.dumps({"scene": small()}).encode())
    assert reply.status == 500
    assert "ZeroDivisionError" in json.loads(reply.body)["error"]


def test_methods_that_need_both_ways_are_refused_where_moves_are_one_way() -> None:
    scene = small("harmonic") | {
        "maze": {"text": "..>..", "refinement": 2},
        "goal": 0,
        "labels": {"vertices": [0], "values": [0]},
    }
    assert "directed" in refused("picture", {"scene": scene})


def test_scenes_are_themselves_again() -> None:
    for scene in scenes().values():
        once = Scene.from_json(scene)
        assert Scene.from_json(json.loads(json.dumps(once.to_json()))) == once
    assert Scene.from_json(small() | {"view": {"anything": [1]}}) == Scene.from_json(small())


def test_a_graph_that_is_too_large_to_draw_is_refused() -> None:
    n = 50_002
    path = wf.Graph.from_edges(range(n - 1), range(1, n))
    with pytest.raises(wf.InputError, match="draws up to 50,000"):
        scene_of(path, wf.Labels([0], [0.0]), 0)


@pytest.mark.parametrize("name", ["umaze", "open", "medium", "large-eval"])
@pytest.mark.parametrize("refinement", [1, 3, 5])
def test_the_graph_of_a_maze_is_shown_as_that_maze(name: str, refinement: int) -> None:
    layout = wf.load_layout(name)
    assert maze_of(wf.grid_graph(layout, refinement)) == MazeWorld(layout.to_text(), refinement)


def test_a_maze_without_walls_around_it_gets_some_and_stays_the_same_graph() -> None:
    bare = wf.grid_graph(wf.Layout.from_text("......\n..#...\n......"), 2)
    maze = maze_of(bare)
    assert maze is not None
    assert maze.refinement == 2
    again = wf.grid_graph(maze.layout, maze.refinement)
    np.testing.assert_array_equal(again.indices, bare.indices)


def lattice(**changes: Any) -> wf.Graph:
    maze = wf.grid_graph(wf.load_layout("small"), 2)
    once = maze.tails < maze.indices
    made = {"tails": maze.tails[once], "heads": maze.indices[once], "positions": maze.positions}
    return wf.Graph.from_edges(**{**made, "num_vertices": maze.num_vertices, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"positions": None},
        {"positions": np.arange(80.0).reshape(40, 2) / 3.0},
        {"positions": np.zeros((40, 2))},
        {"positions": 1e300 * np.arange(80.0).reshape(40, 2)},
        {"directed": True},
        {"lengths": np.full(60, 2.0)},
        {"tails": np.arange(39), "heads": np.arange(1, 40)},
    ],
    ids=["nowhere", "between cells", "one place", "far", "directed", "lengths", "other edges"],
)
def test_a_graph_that_is_no_maze_stays_a_graph(changes: dict[str, Any]) -> None:
    assert maze_of(lattice()) is not None
    assert maze_of(lattice(**changes)) is None


# ---------------------------------------------------------------- the widget


def test_the_bundle_gives_no_name_to_two_things() -> None:
    folder = resources.files("wayfield.explorer") / "page"
    names: Counter[str] = Counter()
    for module in notebook._MODULES:
        text = (folder / module).read_text(encoding="utf-8")
        found = r"^(?:export )?(?:async )?(?:function|const|let|class)\s+(\w+)"
        names.update(re.findall(found, text, re.MULTILINE))
    assert [name for name, count in names.items() if count > 1] == []
    bundle = notebook.bundle()
    assert not re.search(r"^import\s", bundle, re.MULTILINE)
    assert bundle.count("export ") == 1
    imported = {
        name
        for module in notebook._MODULES
        for name in re.findall(r'from "\./([\w.]+)"', (folder / module).read_text("utf-8"))
    }
    assert imported <= set(notebook._MODULES)


def test_a_widget_answers_as_the_server_does_and_leaves_a_still_picture() -> None:
    graph = wf.grid_graph(SQUARE, 2)
    view = explorer.explore(
        graph, wf.sample_labels(graph, 5, 0.2, seed=1), goal=5, method="harmonic"
    )
    assert view.scene["panels"] == [asdict(Panel("harmonic"))]
    assert "run `wayfield explore`" in repr(view)  # where there is no notebook
    sent: list[dict[str, Any]] = []
    view.send = sent.append
    view._answer(view, {"id": 3, "name": "start", "body": "{}"}, [])
    view._answer(view, {"id": 4, "name": "picture", "body": json.dumps({"scene": view.scene})}, [])
    view._answer(view, {"id": 5, "name": "picture", "body": "{"}, [])
    assert [(each["id"], each["status"]) for each in sent] == [(3, 200), (4, 200), (5, 422)]
    shown = json.loads(sent[1]["body"])
    answer = wf.solve(graph, wf.sample_labels(graph, 5, 0.2, seed=1), 5, wf.Harmonic())
    np.testing.assert_array_equal(array(shown["values"], "<f8"), answer.values)


def test_a_notebook_keeps_a_still_picture_beside_the_widget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = wf.grid_graph(SQUARE, 2)
    view = explorer.explore(graph, wf.sample_labels(graph, 5, 0.2, seed=1), goal=5)
    outputs: list[Any] = []
    display = importlib.import_module("IPython.display")
    monkeypatch.setattr(display, "display", lambda shown, raw=False: outputs.append(shown))
    view._ipython_display_()
    alive, kept = outputs
    assert "application/vnd.jupyter.widget-view+json" in alive
    assert "image/png" not in alive  # Jupyter would never show it
    found = re.fullmatch(
        r'<img class="(\S+)" alt="[^"]+" src="data:image/png;base64,(\S+)">', kept.data
    )
    assert found is not None
    assert found[1] == view.still  # by which a widget that is alive hides it
    assert base64.b64decode(found[2]).startswith(b"\x89PNG")


def test_a_widget_refuses_what_is_no_graph() -> None:
    with pytest.raises(wf.InputError, match="graph must be"):
        explorer.explore("maze", wf.Labels([0], [0.0]), 0)  # type: ignore[arg-type]
