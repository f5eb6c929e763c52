"""Parts of the command line that a pipe does not show: colours, progress, places, pictures."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.text import Text
from rich.console import Console

import wayfield as wf
from wayfield.cli._draw import SMALL, _draw_diagram, draw, drawable, why_not_drawn
from wayfield.cli._facts import facts
from wayfield.cli._layout2d import spread
from wayfield.cli._result import Question, Result, answer
from wayfield.cli._show import advice, percent, quoted, show, summary
from wayfield.cli._stages import Stages
from wayfield.cli._tags import place_names
from wayfield.cli._terminal import picture


def result(method: str = "amle", refinement: int = 4, fraction: float = 0.02) -> Result:
    from wayfield.extension._words import parse_method

    graph = wf.grid_graph(wf.load_layout("medium"), refinement)
    labels = wf.sample_labels(graph, 0, fraction)
    return answer(Question(graph, labels, 0, parse_method(method), str))


# ------------------------------------------------------------------ places for vertices


@settings(deadline=None, max_examples=30)
@given(st.integers(2, 30), st.integers(0, 10**6), st.booleans())
def test_places_are_finite_distinct_and_always_the_same(n: int, seed: int, directed: bool) -> None:
    rng = np.random.default_rng(seed)
    tails, heads = rng.integers(0, n, (2, 2 * n))
    keep = tails != heads
    pairs = np.unique(np.sort([tails[keep], heads[keep]], axis=0), axis=1)
    graph = wf.Graph.from_edges(pairs[0], pairs[1], num_vertices=n, directed=directed)
    places = spread(graph)
    assert np.isfinite(places).all()
    assert np.unique(places.round(6), axis=0).shape == (n, 2)
    np.testing.assert_array_equal(places, spread(graph))


def test_places_of_a_path_are_a_line_with_steps_of_one() -> None:
    places = spread(wf.Graph.from_edges(range(9), range(1, 10)))
    steps = np.hypot(*np.diff(places, axis=0).T)
    np.testing.assert_allclose(steps, 1.0, atol=0.05)
    assert np.hypot(*(places[-1] - places[0])) == pytest.approx(9.0, abs=0.2)


def test_components_do_not_lie_on_each_other() -> None:
    graph = wf.Graph.from_edges([0, 1, 3, 4], [1, 2, 4, 5])
    places = spread(graph)
    between = np.hypot(*(places[:3, None] - places[None, 3:]).transpose(2, 0, 1))
    assert between.min() > 1.0


def test_lost_components_take_little_room() -> None:
    ends = [(x, x + 1) for x in range(19)] + [(20 + x, 21 + x) for x in range(9)]
    places = spread(wf.Graph.from_edges(*zip(*ends, strict=True), num_vertices=40))
    room = np.ptp(places, axis=0)
    assert np.ptp(places[:20], axis=0).max() == pytest.approx(19.0, abs=0.5)
    assert np.ptp(places[20:30], axis=0).max() == pytest.approx(4.5, abs=0.2)
    assert room.max() == pytest.approx(19.0, abs=0.5)
    assert room.min() < 8.0


def test_one_vertex_has_a_place() -> None:
    assert spread(wf.Graph.from_edges([], [], num_vertices=1)).tolist() == [[0.0, 0.0]]


# ------------------------------------------------------------------ pictures


@pytest.mark.parametrize("directed", [False, True])
def test_diagrams_of_small_graphs(directed: bool, tmp_path: Path) -> None:
    graph = wf.Graph.from_edges([0, 1, 2, 4], [1, 2, 3, 5], directed=directed)
    labels = wf.Labels([0, 2, 3], [0.0, 5.0, 1.0])
    found = answer(Question(graph, labels, 0, wf.AMLE(), str))
    assert why_not_drawn(graph) is None
    draw(found, drawable(graph), tmp_path / "plan.png")
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")


def legend(found: Result, graph: wf.Graph) -> list[str]:
    """The words of a diagram's legend."""
    figure = Figure()
    _draw_diagram(found, graph, figure.subplots())
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_legends_explain_what_occurs_and_nothing_else() -> None:
    path = wf.Graph.from_edges(range(4), range(1, 5)).with_positions([[x, 0] for x in range(5)])
    good = Question(path, wf.Labels([0, 4], [0.0, 4.0]), 0, wf.AMLE(), str)
    assert legend(answer(good), path) == ["goal", "label", "next state"]
    routed = replace(good, starts=(3,))
    assert legend(answer(routed), path) == ["goal", "label", "next state", "route"]
    only = replace(good, labels=wf.Labels([0], [0.0]))
    assert legend(answer(only), path) == ["goal", "next state"]
    stuck = replace(good, labels=wf.Labels([0, 2, 3], [0.0, 5.0, 1.0]))
    assert legend(answer(stuck), path) == ["goal", "label", "next state", "never arrives"]
    two = wf.Graph.from_edges([0, 2], [1, 3])
    apart = Question(two, wf.Labels([0, 1], [0.0, 1.0]), 0, wf.AMLE(), str)
    words = ["goal", "label", "next state", "cannot reach the goal"]
    assert legend(answer(apart), drawable(two)) == words


def test_routes_are_drawn_from_their_starts_to_their_ends() -> None:
    path = wf.Graph.from_edges(range(4), range(1, 5)).with_positions([[x, 0] for x in range(5)])
    asked = Question(path, wf.Labels([0, 4], [0.0, 4.0]), 0, wf.AMLE(), str, starts=(3, 4))
    axes = Figure().subplots()
    _draw_diagram(answer(asked), path, axes)
    drawn = [line.get_xdata().tolist() for line in axes.lines]
    assert drawn == [[3, 2, 1, 0], [4, 3, 2, 1, 0]]


@settings(deadline=None, max_examples=10)
@given(st.integers(1, 40), st.integers(0, 10**6))
def test_names_meet_no_disc_and_no_other_name(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    figure = Figure((4, 3))
    axes = figure.subplots()
    places = rng.random((n, 2))
    axes.scatter(*places.T)
    written = place_names(axes, places, {x: f"state {x}" for x in range(n)}, np.full(n, 6.0))
    figure.draw_without_rendering()
    boxes = np.array([Text.get_window_extent(text).extents for text in axes.texts])
    discs = axes.transData.transform(places)
    assert [text.get_text() for text in axes.texts] == [f"state {x}" for x in written]
    assert written[:1] == [0]  # the first is the most important
    for i, (left, low, right, high) in enumerate(boxes):
        inside = (discs > [left, low]) & (discs < [right, high])
        assert not inside.all(axis=1).any()
        others = np.delete(boxes, i, axis=0)
        across = (others[:, 0] < right - 0.1) & (others[:, 2] > left + 0.1)
        upright = (others[:, 1] < high - 0.1) & (others[:, 3] > low + 0.1)
        assert not (across & upright).any()


def test_names_without_room_are_left_out() -> None:
    axes = Figure((3, 2)).subplots()
    places = np.column_stack([np.repeat(np.arange(30), 30), np.tile(np.arange(30), 30)]).astype(
        float
    )
    axes.scatter(*places.T)
    called = dict.fromkeys(range(900), "a name as long as this one")
    assert len(place_names(axes, places, called, np.full(900, 5.0))) < 30


def test_large_graphs_need_places() -> None:
    path = wf.Graph.from_edges(range(SMALL), range(1, SMALL + 1))
    assert "no positions" in str(why_not_drawn(path))
    assert why_not_drawn(path.with_positions(np.zeros((SMALL + 1, 2)))) is None


# ------------------------------------------------------------------ the terminal


def test_colours_shade_the_field_and_mark_loops() -> None:
    found = result("harmonic")
    text = picture(found, 4, 80, colour=True)
    styles = {str(span.style) for span in text.spans}
    assert "bold black on gold1" in styles
    assert "bold white on red3" in styles
    assert sum(style.startswith("on rgb(") for style in styles) > 20
    assert "░" not in text.plain


@pytest.mark.parametrize(("width", "expected"), [(200, 52), (80, 52), (40, 28), (5, 16)])
def test_pictures_fit_where_cells_allow(width: int, expected: int) -> None:
    rows = picture(result(), 4, width, colour=False).plain.splitlines()[:-1]
    assert {len(row) for row in rows} == {expected}
    assert rows[0] == rows[-1] == "█" * expected
    assert all(row[:2] == row[-2:] == "██" for row in rows)


def test_summaries_wrap_in_a_terminal() -> None:
    screen = Console(file=StringIO(), force_terminal=True, width=60)
    found = facts(result("harmonic")) | {"files": ["a.csv"], "no_picture": "too large"}
    found["advice"] = advice(found)
    show(summary(found), screen)
    text = screen.file.getvalue()  # type: ignore[attr-defined]
    assert "no picture: too large" in text
    assert "advice" in text


def test_progress_shows_the_stage() -> None:
    screen = Console(file=StringIO(), force_terminal=True, width=80)
    with Stages(screen) as stages:
        tell = stages.begin("reading roads.csv")
        tell(1, 2)
        stages.display.refresh()
        with stages.aside():
            pass
        stages.begin("building the graph")
        stages.display.refresh()
    text = screen.file.getvalue()  # type: ignore[attr-defined]
    assert "reading roads.csv" in text
    assert "building the graph" in text


def test_progress_is_silent_in_a_pipe() -> None:
    screen = Console(file=StringIO())
    with Stages(screen) as stages:
        stages.begin("reading")(1, 2)
    assert screen.file.getvalue().strip() == ""  # type: ignore[attr-defined]


# ------------------------------------------------------------------ words


def test_percentages_have_three_digits_and_are_all_only_where_it_is_all() -> None:
    assert percent(1.0) == "100 %"
    assert percent(0.99999999) == "99.99 %"
    assert percent(2 / 3) == "66.7 %"
    assert percent(0.0002) == "0.02 %"
    assert percent(0.0) == "0 %"


def test_names_of_several_words_are_quoted() -> None:
    assert [quoted(name) for name in ("Bern", "12", "Zürich HB", "")] == [
        "Bern",
        "12",
        "“Zürich HB”",
        "“”",
    ]


def advised(labels: wf.Labels, method: str = "amle", **changes: object) -> str:
    from wayfield.extension._words import parse_method

    path = wf.Graph.from_edges(range(4), range(1, 5))
    found = facts(answer(Question(path, labels, 0, parse_method(method), str)))
    return advice(found | changes)


def test_advice() -> None:
    good = wf.Labels([0, 4], [0.0, 4.0])
    sink = wf.Labels([0, 2, 3], [0.0, 5.0, 1.0])
    assert "name a --start" in advised(good)
    assert "the same unit" in advised(wf.Labels([0, 4], [0.0, 4000.0]))
    assert "1 label is lower" in advised(sink)
    assert "try --method amle" in advised(sink, "harmonic")
    assert "missed its guarantee" in advised(good, converged=False)


def test_advice_on_labels_that_say_nothing() -> None:
    same, only = wf.Labels([0, 4], [2.0, 2.0]), wf.Labels([0], [0.0])
    nothing = "the field says nothing about distance"
    assert advised(same).startswith(f"the labels are all equal: {nothing}")
    assert advised(same, "amle-cost").startswith(f"the labels are all equal: {nothing}")
    assert advised(only).startswith(f"only the goal is labelled: {nothing}")
    assert "name a --start" in advised(only, "amle-cost")  # there the field rises with the lengths


def test_margins_rank_the_weakest_states_that_decide_routes() -> None:
    found = facts(result("harmonic", fraction=0.05))
    weakest = found["margin"]["weakest"]
    margins = [round(state["margin"], 9) for state in weakest]
    assert margins == sorted(margins)
    assert found["margin"]["least"] == pytest.approx(margins[0], abs=1e-9)
    assert all(state["routes"] > 0 for state in weakest)
