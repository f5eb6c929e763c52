from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest
from rich.console import Console

import wayfield
from study_work import BAD_SEED, fail_on_bad_seed
from wayfield import cli, study
from wayfield.study import Cell, Store, runner, select_cells


class Answer(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run the command line as a shell would."""

    def call(*words: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["wayfield", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        out, err = capsys.readouterr()
        return Answer(int(stop.value.code or 0), out, err)

    return call


Command = Callable[..., Answer]


def test_help_lists_the_commands(command: Command) -> None:
    answer = command("--help")
    assert answer.code == 0
    for word in ("reproduce", "maze", "version", "from every start"):
        assert word in answer.out


@pytest.mark.parametrize("name", ["reproduce", "maze", "version"])
def test_every_command_explains_itself(command: Command, name: str) -> None:
    answer = command(name, "-h")
    assert answer.code == 0
    assert "Usage: wayfield" in answer.out


def test_help_is_quick() -> None:
    started = time.perf_counter()
    run = [sys.executable, "-m", "wayfield.cli", "--help"]
    subprocess.run(run, check=True, capture_output=True)
    assert time.perf_counter() - started < 5


def test_version(command: Command) -> None:
    answer = command("version")
    assert answer.out.splitlines()[0] == f"wayfield {wayfield.__version__}"
    assert "numba" in answer.out


@pytest.mark.parametrize("method", ["amle", "harmonic"])
def test_maze_says_how_it_went(command: Command, method: str) -> None:
    answer = command("maze", "antmaze-medium", "--refinement", 4, "--method", method)
    assert answer.code == 0
    graph, labels, field, plan = answer.out.splitlines()
    assert graph.startswith("Graph(416 vertices")
    assert labels.startswith("Labels(")
    assert "bracket width" in field
    assert plan.startswith("Plan(416 starts")


ONE_WAY = """
#######
#..>59#
#.#.#.#
#.....#
###v###
###.###
#######
"""


def test_maze_of_a_file(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "one-way.txt"
    file.write_text(ONE_WAY, encoding="utf-8")
    answer = command("maze", file, "--refinement", 4, "--picture", tmp_path / "field.png")
    assert answer.code == 0
    graph, reach, labels, field, plan, wrote = answer.out.splitlines()
    assert graph == repr(wayfield.grid_graph(wayfield.Layout.from_text(ONE_WAY), 4))
    assert reach.endswith("strong components; 32 of 240 states cannot reach the goal")
    assert labels.startswith("Labels(")
    assert "bracket" in field
    assert plan.startswith("Plan(240 starts")
    assert wrote.startswith("wrote")


def test_maze_with_teleports_says_what_cannot_reach(command: Command) -> None:
    answer = command("maze", "teleport", "--refinement", 2)
    reach = "2 strong components; 4 of 180 states cannot reach the goal"
    assert answer.out.splitlines()[1] == reach


def test_maze_all_of_which_reaches(command: Command, tmp_path: Path) -> None:
    (tmp_path / "lane.txt").write_text(">>.", encoding="utf-8")
    answer = command("maze", tmp_path / "lane.txt", "--refinement", 1, "--goal", 2)
    assert answer.out.splitlines()[1] == "3 strong components; every state can reach the goal"


def test_maze_in_two_pieces(command: Command, tmp_path: Path) -> None:
    (tmp_path / "two.txt").write_text("..#..", encoding="utf-8")
    answer = command("maze", tmp_path / "two.txt", "--refinement", 2, "--method", "harmonic")
    assert answer.code == 0
    reach = "2 strong components; 8 of 16 states cannot reach the goal"
    assert answer.out.splitlines()[1] == reach


def test_maze_of_a_file_that_is_none(command: Command, tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text("#..\n..x", encoding="utf-8")
    (tmp_path / "bytes.txt").write_bytes(b"\x89PNG")
    answers = [command("maze", tmp_path / name) for name in ("bad.txt", "bytes.txt", "no.txt")]
    assert [answer.code for answer in answers] == [2, 2, 2]
    assert "unknown character 'x' at row 1, column 2" in answers[0].err
    assert "is not a text file" in answers[1].err
    assert "No such file" in answers[2].err


def test_directed_maze_needs_a_directed_method(command: Command) -> None:
    answer = command("maze", "teleport", "--method", "harmonic")
    assert answer.code == 2
    assert "Harmonic is not defined on directed graphs" in answer.err


def test_maze_draws_a_picture(command: Command, tmp_path: Path) -> None:
    answer = command("maze", "umaze", "--picture", tmp_path / "field.png")
    assert answer.code == 0
    assert (tmp_path / "field.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["maze", "lrage"], "unknown layout 'lrage'"),
        (["maze", "umaze", "--refinement", "0"], "refinement must be a whole number"),
        (["maze", "umaze", "--label-fraction", "1.5"], "label fraction 1.5 is outside (0, 1]"),
        (["maze", "umaze", "--goal", "9999"], "goal 9999 is not a vertex"),
        (["maze", "umaze", "--picture", "/no/such/folder/x.png"], "No such file or directory"),
        (["maze", "umaze", "--picture", "field.nonsense"], "cannot write field.nonsense"),
    ],
)
def test_errors_are_one_line(command: Command, words: list[str], complaint: str) -> None:
    answer = command(*words)
    assert answer.code == 2
    assert complaint in answer.err
    assert answer.err.startswith("wayfield: ")
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize("words", [["nonsense"], ["reproduce", "--goals", "513"], ["maze"]])
def test_usage_errors(command: Command, words: list[str]) -> None:
    answer = command(*words)
    assert answer.code == 2
    assert "Traceback" not in answer.err


def test_extras_keep_their_brackets(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.figure", raising=False)
    answer = command("maze", "umaze", "--picture", "field.png")
    assert "pip install wayfield[plots]" in answer.err


def test_reproduce_runs_and_picks_up(command: Command, tmp_path: Path) -> None:
    words = ["reproduce", "--cells", "quick", "--goals", 4, "--workers", 1]
    words += ["--out", tmp_path / "report", "--results", tmp_path / "results"]
    first = command(*words)
    assert first.code == 0
    assert "cells run: 8, reused: 0" in first.out
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert "wayfield reproduce --cells quick --goals 4" in page
    Store(tmp_path / "results").path(select_cells("quick", 4)[0]).unlink()
    second = command(*words)
    assert "cells run: 1, reused: 7" in second.out


def test_reproduce_says_when_cells_fail(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = select_cells("quick", 4)[:1]
    bad = [Cell("medium", 4, 0.02, BAD_SEED, 4)]

    def some(which: str, goals: int) -> list[Cell]:
        return good + bad

    def work(cell: Cell) -> study.Record:
        fail_on_bad_seed(cell)
        return study.run_cell(cell)

    monkeypatch.setattr(study, "select_cells", some)
    monkeypatch.setattr(study, "run", partial(runner.run, work=work))
    words = ["reproduce", "--workers", 1, "--out", tmp_path, "--results", tmp_path]
    answer = command(*words)
    assert answer.code == 1
    assert "1 cells failed" in answer.err
    assert "seed 66 is bad" in (tmp_path / "index.html").read_text(encoding="utf-8")
    good.clear()
    answer = command(*words)
    assert answer.code == 2
    assert "all 1 cells failed" in answer.err


def test_interrupt_is_not_an_error(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(study, "run", interrupted)
    answer = command("reproduce", "--out", tmp_path, "--results", tmp_path)
    assert answer.code == 130
    assert "run again to go on" in answer.err


@pytest.mark.parametrize("terminal", [False, True])
def test_slow_starts_are_explained(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "_SLOW", 0.01)
    console = Console(file=StringIO(), force_terminal=terminal, width=100)
    with cli._explained(console, "compiling"):
        time.sleep(0.3)
    assert "compiling" in console.file.getvalue()  # type: ignore[attr-defined]


def test_quick_starts_are_not() -> None:
    console = Console(file=StringIO(), width=100)
    with cli._explained(console, "compiling"):
        pass
    assert console.file.getvalue() == ""  # type: ignore[attr-defined]
