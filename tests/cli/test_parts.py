"""Parts of the command line that a pipe does not show: colours, progress, places, pictures."""

from __future__ import annotations

import ast
import pickle
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.text import Text
from rich.console import Console

import wayfield as wf
from shell import wayfield
from wayfield import cli
from wayfield.advice import Answer
from wayfield.cli import app
from wayfield.cli.output import (
    Stages,
    draw,
    flag,
    in_flags,
    print_json,
    report,
    say,
    show,
    why_not_drawn,
)
from wayfield.cli.terminal import picture
from wayfield.errors import Option
from wayfield.plots.answer import MOST_PLACED, place_names, spread


def answer(method: wf.fields.Method, refinement: int = 4, fraction: float = 0.02) -> Answer:
    graph = wf.grid_graph(wf.load_layout("medium"), refinement)
    return wf.solve(graph, wf.sample_labels(graph, 0, fraction), 0, method)


# ------------------------------------------------------------------ places for vertices


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
def test_pictures_of_small_graphs_need_no_places(directed: bool, tmp_path: Path) -> None:
    graph = wf.Graph.from_edges([0, 1, 2, 4], [1, 2, 3, 5], directed=directed)
    found = wf.solve(graph, wf.Labels([0, 2, 3], [0.0, 5.0, 1.0]), 0)
    assert why_not_drawn(graph) is None
    draw(found, tmp_path / "plan.png")
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")


PATH = wf.Graph.from_edges(range(4), range(1, 5)).with_positions([[x + 0.5, 0] for x in range(5)])


def legend(found: Answer, starts: tuple[int, ...] = ()) -> list[str]:
    """The words of a picture's legend."""
    axes = wf.plots.answer(found, starts=starts, ax=Figure().subplots())
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_legends_explain_what_occurs_and_nothing_else() -> None:
    good = wf.solve(PATH, wf.Labels([0, 4], [0.0, 4.0]), 0)
    assert legend(good) == ["goal", "label", "next state"]
    assert legend(good, starts=(3,)) == ["goal", "route", "label", "next state"]
    maze = PATH.with_positions([[x, 0] for x in range(5)])
    drawn = wf.solve(maze, wf.Labels([0, 4], [0.0, 4.0]), 0)
    assert legend(drawn) == ["goal", "label", "wall", "plan"]
    only = wf.solve(PATH, wf.Labels([0], [0.0]), 0)
    assert legend(only) == ["goal", "next state"]
    noisy = wf.Labels([0, 2, 3], [0.0, 5.0, 1.0])
    stuck = ["goal", "false sink", "label", "next state", "never arrives", "loop"]
    assert legend(wf.solve(PATH, noisy, 0)) == stuck
    raised = ["goal", "false sink", "raised", "label", "next state"]
    assert legend(wf.solve(PATH, noisy, 0, lift=True)) == raised
    two = wf.solve(wf.Graph.from_edges([0, 2], [1, 3]), wf.Labels([0, 1], [0.0, 1.0]), 0)
    assert legend(two) == ["goal", "label", "cannot reach: 2", "next state"]


def test_culprits_are_pointed_at() -> None:
    found = wf.solve(PATH, wf.Labels([0, 2, 3], [0.0, 5.0, 1.0]), 0, lift=True)
    axes = wf.plots.answer(found, ax=Figure().subplots())
    *_, sinks, raised = [points.get_offsets()[:, 0].tolist() for points in axes.collections]
    assert sinks == [3.5]
    assert raised == (found.raised_states + 0.5).tolist()
    assert sorted(raised) == [3.5, 4.5]


def test_routes_are_drawn_from_their_starts_to_their_ends() -> None:
    found = wf.solve(PATH, wf.Labels([0, 4], [0.0, 4.0]), 0)
    axes = wf.plots.answer(found, starts=(3, 4), ax=Figure().subplots())
    drawn = [line.get_xdata().tolist() for line in axes.lines]
    assert drawn == [[3.5, 2.5, 1.5, 0.5], [4.5, 3.5, 2.5, 1.5, 0.5]]


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


@pytest.mark.parametrize("n", [12, 60, 400])
def test_names_keep_off_the_colour_bar_and_the_legend(n: int) -> None:
    places = np.random.default_rng(n).random((n, 2)) * [3, 2]
    order = np.argsort(places[:, 0])
    graph = wf.Graph.from_edges(order[:-1], order[1:], positions=places)
    values = np.arange(n) * 0.5
    labels = wf.Labels(order[[0, n // 2, n - 1]], values[[0, n // 2, 3]])
    found = wf.solve(graph, labels, int(order[0]))
    figure = Figure((8, 6), layout="constrained")
    called = [f"a place of a long name, number {x}" for x in range(n)]
    axes = wf.plots.answer(found, called, [int(order[-1])], figure.subplots())
    figure.draw_without_rendering()
    bar = figure.axes[1].get_tightbbox()
    written = [text for text in axes.texts if text.get_text()]
    assert [called[found.goal], called[order[-1]]] == [text.get_text() for text in written[:2]]
    for text in written:
        box = Text.get_window_extent(text)
        assert not box.overlaps(bar)
        assert not box.overlaps(axes.get_legend().get_window_extent())
        assert figure.bbox.x0 <= box.x0
        assert box.x1 <= figure.bbox.x1


def test_the_middle_of_a_very_long_name_is_left_out() -> None:
    axes = Figure((6, 4)).subplots()
    place_names(axes, np.zeros((1, 2)), {0: "A" * 50 + "Z" * 50}, np.full(1, 5.0))
    (text,) = axes.texts
    assert text.get_text() == "A" * 20 + "…" + "Z" * 19


def test_names_without_room_are_left_out() -> None:
    axes = Figure((3, 2)).subplots()
    places = np.column_stack([np.repeat(np.arange(30), 30), np.tile(np.arange(30), 30)]).astype(
        float
    )
    axes.scatter(*places.T)
    called = dict.fromkeys(range(900), "a name as long as this one")
    assert len(place_names(axes, places, called, np.full(900, 5.0))) < 30


def test_large_graphs_need_places() -> None:
    path = wf.Graph.from_edges(range(MOST_PLACED), range(1, MOST_PLACED + 1))
    assert "no positions" in str(why_not_drawn(path))
    assert why_not_drawn(path.with_positions(np.zeros((MOST_PLACED + 1, 2)))) is None


# ------------------------------------------------------------------ options in messages


def test_every_option_that_a_message_names_is_a_flag() -> None:
    cli._register_others()  # the core names columns of trips, a file that a sister reads
    commands: list[Any] = [typer.main.get_command(app)]
    known, commands_named = set[str](), set[str]()
    for command in commands:  # grows while groups are met
        commands.extend(getattr(command, "commands", {}).values())
        commands_named.add(command.name)
        known |= {word for param in command.params for word in (*param.opts, *param.secondary_opts)}
    named, recommended = set(), set[str]()
    for file in Path(wf.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != "Option":
                continue
            name, *others = node.args
            place = [each.value for each in node.keywords if each.arg == "within"] + others[1:]
            if isinstance(name, ast.Constant):
                within = place[0].value if place else ""  # type: ignore[attr-defined]
                if within == "command":
                    recommended |= set(name.value.split())
                else:
                    named.add(flag(Option(name.value, within=within)))
    assert {"--decimal", "--directed", "--method", "--length", "--force"} <= named
    assert named <= known
    assert {"compare", "travel", "trips"} <= recommended <= commands_named
    columns = ("from", "to", "length", "oneway", "speed", "vertex", "value", "start", "end", "cost")
    assert {flag(Option(role, within="columns")) for role in columns} <= known


def test_an_error_carries_its_options_and_survives_a_pickle() -> None:
    error = wf.InputError("pass ", Option("decimal", ",", "Style"), " or ", Option("force", True))
    again = pickle.loads(pickle.dumps(error))
    for each in (error, again):
        assert str(each) == 'pass Style(decimal=",") or force=True'
        assert [(option.name, option.value) for option in each.options] == [
            ("decimal", ","),
            ("force", True),
        ]
        assert in_flags(each.message) == "pass --decimal , or --force"
    wrapped = wf.InputError("roads.csv: ", error.message)
    assert wrapped.options == error.options


# ------------------------------------------------------------------ the terminal


def test_colours_shade_the_field_and_mark_loops() -> None:
    found = answer(wf.Harmonic())
    text = picture(found, 4, 80, colour=True)
    styles = {str(span.style) for span in text.spans}
    assert "bold black on gold1" in styles
    assert "bold white on red3" in styles
    assert sum(style.startswith("on rgb(") for style in styles) > 20
    assert "░" not in text.plain


@pytest.mark.parametrize(("width", "expected"), [(200, 52), (80, 52), (40, 28), (5, 16)])
def test_pictures_fit_where_cells_allow(width: int, expected: int) -> None:
    rows = picture(answer(wf.AMLE()), 4, width, colour=False).plain.splitlines()[:-1]
    assert {len(row) for row in rows} == {expected}
    assert rows[0] == rows[-1] == "█" * expected
    assert all(row[:2] == row[-2:] == "██" for row in rows)


def test_summaries_wrap_in_a_terminal() -> None:
    screen = Console(file=StringIO(), force_terminal=True, width=60)
    told = answer(wf.Harmonic()).summary().splitlines()
    show([(line[:9].strip(), line[10:]) for line in told], screen)
    text = screen.file.getvalue()  # type: ignore[attr-defined]
    assert "advice" in text
    assert max(len(line) for line in text.splitlines()) < 100


def test_what_was_written_stands_above_the_advice(capsys: pytest.CaptureFixture[str]) -> None:
    more = {"files": ["a.csv"], "no_picture": "too large", "removed": ["b.csv"]}
    report(answer(wf.AMLE()), None, (), more, as_json=False)
    *_, wrote, removed, advice = capsys.readouterr().out.splitlines()
    assert wrote == "wrote     a.csv; no picture: too large"
    assert removed == "removed   b.csv, of an earlier run"
    assert advice.endswith("--start VERTEX shows its route")


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


@pytest.mark.parametrize("broken", [True, False])
def test_commands_work_without_a_study_that_loads(
    broken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Entry:
        name = "study"

        def load(self) -> None:
            raise ModuleNotFoundError("No module named 'duckdb'")

    app = typer.Typer()
    app.command("there")(lambda: None)
    monkeypatch.setattr(cli, "app", app)
    monkeypatch.setattr(cli, "entry_points", lambda group: [Entry()] if broken else [])
    monkeypatch.setattr(cli, "_register_others", cli._register_others.__wrapped__)
    said = "cannot be loaded: No module named 'duckdb'" if broken else "is not installed: run"
    refusal = wayfield("reproduce", "--out", "x")
    assert refusal.code == 2
    assert said in refusal.err
    assert wayfield("there").code == 0


def test_json_without_standard_output(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As under ``pythonw``: nothing is printed, and nothing fails."""
    monkeypatch.setattr("sys.stdout", None)
    print_json({"a": 1})
    assert capfd.readouterr() == ("", "")


def test_lines_are_printed_as_they_are() -> None:
    file = StringIO()
    say(Console(file=file), "cannot import nomod:X: [bold] :heart:")
    assert file.getvalue() == "cannot import nomod:X: [bold] :heart:\n"
