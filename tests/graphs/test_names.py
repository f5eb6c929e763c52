"""Vertices by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wayfield as wf
from wayfield.graphs.names import canonical


def test_names_are_numbered_as_they_appear() -> None:
    names = wf.Names(["b", "a", "b", " a ", "c"])
    assert (list(names), len(names)) == (["b", "a", "c"], 3)
    assert names.index(["c", "b"]).tolist() == [2, 0]
    assert (names.index("a"), names[np.int32(1)]) == (1, "a")
    assert names[np.array([2, 0])] == names[range(2, -1, -2)] == ["c", "b"]
    assert repr(wf.Names(["a", "b", "c", "d"])) == "Names(4: 'a', 'b', 'c', …)"
    assert repr(wf.Names([])) == "Names(0)"
    accents = wf.Names(["Gene\u0300ve", "Genève"])
    assert (list(accents), accents.index("Gene\u0300ve")) == (["Genève"], 0)
    assert "Genève " in accents
    ids = np.array([240_949_599, 7, 240_949_599])
    numbers = wf.Names(ids)
    assert (list(numbers), numbers.index(ids).tolist()) == ([240_949_599, 7], [0, 1, 0])
    assert "7" not in numbers
    assert wf.Names(np.array(["x", "y"])).index("y") == 1


def test_a_graph_by_names() -> None:
    tails, heads = ["Genève", "Lausanne"], ["Lausanne", "Bern"]
    names = wf.Names(tails + heads)
    graph = wf.Graph.from_edges(names.index(tails), names.index(heads), [62.0, 100.0])
    labels = wf.Labels(names.index(["Bern", "Genève"]), [0.0, 162.0])
    field = wf.extend(graph, labels, wf.AMLE())
    assert field.values[names.index("Lausanne")] == 100.0
    path = wf.plan(graph, field.values, names.index("Bern")).rollout(names.index("Genève")).path
    assert names[path] == ["Genève", "Lausanne", "Bern"]


@given(st.text(st.sampled_from("ae\u0301 \u00a0\u200b\x85\t\ufeff\u3000\x1f"), max_size=6))
def test_spelling_a_name_twice_changes_nothing(text: str) -> None:
    assert canonical(canonical(text)) == canonical(text)


ABC = ["a", "b", "c"]
REFUSED: list[tuple[Any, Any, str]] = [
    *((["a", name], [], "a name must") for name in ("", "  ", "\u200b", 1.5, None, True, ("a",))),
    ("Bern", [], "names must be a list of names, got 'Bern'"),
    *((ABC, vertex, "index") for vertex in (1.5, "a", None, True, slice(0, 2), -1, 3, [0, 3])),
    (ABC, -1, "is not a vertex of a graph with 3 vertices"),
    # a mask would give names of vertices 0 and 1
    (ABC, np.array([True, False, True]), "must be one vertex index, got True"),
]


@pytest.mark.parametrize(("names", "vertex", "words"), REFUSED)
def test_what_is_refused(names: Any, vertex: Any, words: str) -> None:
    with pytest.raises(wf.InputError, match=words):
        wf.Names(names)[vertex]


@pytest.mark.parametrize("name", ["Geneve", 3, 1.5, None])
def test_a_name_that_is_no_vertex(name: Any) -> None:
    names = wf.Names(["Genève", "Bern"])
    for asked in (name, ["Bern", name]):
        with pytest.raises(wf.InputError, match=f"^{name!r} is not a vertex of the graph"):
            names.index(asked)


def test_suggestions_among_long_names_and_very_many() -> None:
    names = wf.Names(["x" * 100_000, "Bern"])
    with pytest.raises(wf.InputError) as caught:
        names.index("x" * 99_999)
    assert len(str(caught.value)) < 250
    many = wf.Names([f"state {i}" for i in range(150_000)])
    assert "'state 149999'" in many.near("State 149999x")
    assert "its vertices are 'state 0', 'state 1', 'state 2' …" in many.near("?")


def test_names_of_whole_numbers_are_written_as_such() -> None:
    assert list(wf.Names(["7", "-10"]).as_numbers()) == [7, -10]
    for texts in (["007", "10"], ["7", "x"], ["7", "9" * 20], ["1_0", "7"], ["٣", "7"]):
        assert wf.Names(texts).as_numbers() == texts
