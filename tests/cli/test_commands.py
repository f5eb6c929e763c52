from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from importlib import metadata
from math import inf
from pathlib import Path
from typing import Any

import pytest
from numba.core.event import trigger_event

import wayfield as wf
from shell import Answer, wayfield
from wayfield.cli import output as _output
from wayfield.cli import warmup as _warmup
from wayfield.fields import Extension
from wayfield.fields.names import WORDS
from wayfield.numerics import compiled as _compiled


def summary(answer: Answer) -> dict[str, str]:
    """The summary's lines by the words in their margin."""
    return {line[:9].strip(): line[10:] for line in answer.out.splitlines()}


def test_help_lists_the_commands() -> None:
    answer = wayfield("--help")
    assert answer.code == 0
    for word in ("plan", "compare", "maze", "doctor", "reproduce", "Exit codes", "Examples"):
        assert word in answer.out


@pytest.mark.parametrize("name", ["plan", "compare", "maze", "doctor"])
def test_every_command_explains_itself(name: str) -> None:
    answer = wayfield(name, "-h")
    assert answer.code == 0
    assert "Usage: wayfield" in answer.out


@pytest.mark.parametrize("words", [[], ["plan"], ["study"], ["study", "run"]])
def test_help_shows_no_type_beside_a_switch(words: list[str]) -> None:
    told = wayfield(*words, "--help").out
    assert "--help" in told
    assert "bool" not in told.lower()


def test_help_loads_nothing_heavy() -> None:
    code = """
import sys
from wayfield.cli import main
for words in ([], ["plan"], ["compare"], ["maze"], ["doctor"], ["study"], ["travel", "trips"]):
    sys.argv = ["wayfield", *words, "--help"]
    try:
        main()
    except SystemExit as stop:
        assert stop.code == 0
print("LOADED", *sys.modules)
"""
    run = [sys.executable, "-c", code]
    told, _, loaded = subprocess.run(
        run, check=True, capture_output=True, text=True
    ).stdout.partition("LOADED")
    assert told.count("Usage") == 7
    heavy = {"numba", "numpy", "scipy", "matplotlib", "pyarrow", "duckdb", "jinja2", "sklearn"}
    assert heavy.isdisjoint(name.partition(".")[0] for name in loaded.split())


def test_help_of_the_module() -> None:
    run = [sys.executable, "-m", "wayfield.cli", "--help"]
    assert b"Exit codes" in subprocess.run(run, check=True, capture_output=True).stdout


def test_no_command_prints_the_help_once() -> None:
    answer = wayfield()
    assert answer.code == 2
    assert answer.out.count("Usage: wayfield") == 1
    assert answer.err == ""


def test_version_as_an_option() -> None:
    assert wayfield("--version").out == f"wayfield {wf.__version__}\n"


# ------------------------------------------------------------------ maze


@pytest.mark.parametrize("method", ["amle", "harmonic", "p=8", "nearest"])
def test_maze_says_how_it_went(method: str) -> None:
    answer = wayfield("maze", "antmaze-medium", "--refinement", 4, "--method", method)
    assert answer.code == 0
    said = summary(answer)
    assert said["graph"] == "416 vertices, 736 edges, all of length 1; in one piece"
    assert said["labels"].endswith("goal 0")
    assert "starts reach the goal" in said["plan"]


def test_maze_needs_no_name() -> None:
    facts = wayfield("maze", "--json").json
    assert facts["input"] == {"maze": "large", "refinement": 8, "seed": 0}
    assert facts["plan"]["success"] == 1.0


def test_maze_in_the_terminal_has_a_line_per_row(tmp_path: Path) -> None:
    (tmp_path / "u.txt").write_text("...\n##.\n...", encoding="utf-8")
    answer = wayfield("maze", tmp_path / "u.txt", "--refinement", 2, "--label-fraction", 1)
    assert answer.out.splitlines()[:9] == [  # quarters of the distance, at most 13
        "████████████████",
        "██GG▓▓▓▓▓▓▒▒▒▒██",
        "██▓▓▓▓▓▓▒▒▒▒▒▒██",
        "██████████▒▒░░██",
        "██████████░░░░██",
        "██      ░░░░░░██",
        "██        ░░  ██",
        "████████████████",
        "GG goal, dark to light: value 0 to 13",
    ]


def test_maze_in_the_terminal_marks_loops() -> None:
    words = ("maze", "medium", "--label-fraction", 0.02, "--method", "harmonic")
    harmonic, amle = wayfield(*words), wayfield(*words[:-2])
    assert "@@ loop" in harmonic.out
    assert "xx never arrives" in harmonic.out
    assert "loop" not in amle.out
    assert max(map(len, harmonic.out.splitlines()[:20])) <= 80


def test_maze_leaves_labels_out_as_compare_does() -> None:
    settings = ("--refinement", 4, "--label-fraction", 0.2, "--json")
    found = wayfield("maze", "umaze", *settings, "--drop-false-sinks").json
    assert found["plan"]["success"] == 1.0
    rows = wayfield("compare", "--maze", "umaze", *settings).json["rows"]
    (row,) = [row for row in rows if row["method"] == "amle --drop-false-sinks"]
    left_out = found["held_out"]["error"], found["held_out"]["spread"]
    assert left_out == (row["left_out"], row["left_out_spread"])
    assert found["advice"] == (
        "Use the graph distance: this field does not predict labels left out clearly better. "
        "`wayfield compare --maze umaze --goal 0` tries other fields."
    )


def test_maze_routes_and_repair() -> None:
    words = ("maze", "medium", "--label-fraction", 0.02, "--method", "harmonic", "--start", 440)
    lost = wayfield(*words)
    assert lost.code == 1
    assert summary(lost)["route"].endswith("loop!")
    found = wayfield(*words, "--lift")
    assert found.code == 0
    assert "values: " in summary(found)["raised"]


ONE_WAY = """
#######
#..>59#
#.#.#.#
#.....#
###v###
###.###
#######
"""


def test_maze_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "one-way.txt"
    file.write_text(ONE_WAY, encoding="utf-8")
    answer = wayfield("maze", file, "--refinement", 4, "--picture", tmp_path / "field.png")
    assert answer.code == 0
    said = summary(answer)
    assert said["lost"].startswith("32 of 240 states cannot reach the goal at all: ")
    assert said["wrote"].endswith("field.png")
    assert "·· cannot reach" in answer.out


def test_maze_with_teleports_says_what_cannot_reach() -> None:
    said = summary(wayfield("maze", "teleport", "--refinement", 2))
    assert said["lost"].startswith("4 of 180 states cannot reach the goal at all")
    assert said["graph"].endswith("2 strong components")


def test_maze_all_of_which_reaches(tmp_path: Path) -> None:
    (tmp_path / "lane.txt").write_text(">>.", encoding="utf-8")
    said = summary(wayfield("maze", tmp_path / "lane.txt", "--refinement", 1, "--goal", 2))
    assert said["graph"].endswith("3 strong components")
    assert "lost" not in said


def test_maze_in_two_pieces(tmp_path: Path) -> None:
    (tmp_path / "two.txt").write_text("..#..", encoding="utf-8")
    answer = wayfield("maze", tmp_path / "two.txt", "--refinement", 2, "--method", "harmonic")
    assert answer.code == 0
    assert summary(answer)["lost"].startswith("8 of 16 states cannot reach the goal at all")


def test_maze_of_a_file_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text("#..\n..x", encoding="utf-8")
    (tmp_path / "bytes.txt").write_bytes(b"\x89PNG")
    (tmp_path / "void.txt").write_text("\n \n", encoding="utf-8")
    (tmp_path / "short.txt").write_text("####\n#.#", encoding="utf-8")
    files = [tmp_path / f"{name}.txt" for name in ("bad", "bytes", "no", "void", "short")]
    answers = [wayfield("maze", file) for file in files]
    assert [answer.code for answer in answers] == [2] * 5
    assert f"{files[0]}: unknown character 'x' at row 1, column 2 (counted" in answers[0].err
    assert "is not a text file" in answers[1].err
    assert "No such file" in answers[2].err
    assert answers[3].err == f"wayfield: {files[3]} is empty\n"
    told = f"{files[4]}: row 1 has 3 cells, but row 0 has 4 (counted from 0)"
    assert answers[4].err == f"wayfield: {told}\n"


def test_directed_maze_needs_a_directed_method() -> None:
    answer = wayfield("maze", "teleport", "--method", "harmonic")
    assert answer.code == 2
    assert "Harmonic is not defined on directed graphs" in answer.err


def test_maze_draws_a_picture(tmp_path: Path) -> None:
    answer = wayfield("maze", "umaze", "--picture", tmp_path / "field.png", pictures=True)
    assert answer.code == 0
    assert (tmp_path / "field.png").read_bytes().startswith(b"\x89PNG")
    words = ("maze", "umaze", "--refinement", 2, "--picture", tmp_path / "field.png")
    assert wayfield(*words).code == 0
    (tmp_path / "field.png").write_bytes(b"mine")
    refused = wayfield(*words)
    assert refused.code == 2
    assert "has changed since it was written by wayfield" in refused.err
    assert (tmp_path / "field.png").read_bytes() == b"mine"
    assert wayfield(*words, "--force").code == 0


def test_maze_whose_picture_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys.modules["wayfield.cli.maze"], "draw", full)
    answer = wayfield("maze", "umaze", "--picture", tmp_path / "field.png")
    assert answer.code == 1
    assert "plan      " in answer.out
    assert "wrote     nothing: No space left on device" in answer.out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["maze", "lrage"], "unknown layout 'lrage'"),
        (["maze", "umaze", "--refinement", "0"], "refinement must be a whole number"),
        (["maze", "umaze", "--label-fraction", "1.5"], "above 0 and at most 1, got 1.5"),
        (["maze", "umaze", "--goal", "9999"], "goal 9999 is not a vertex"),
        (["maze", "umaze", "--goal", "9" * 4000], "goal 10^4000 is not a vertex"),
        (["maze", "umaze", "--goal", "9" * 5000], "'--goal'"),
        (["compare", "--maze", "umaze", "--goal", "9" * 5000], "must be a vertex number, got '999"),
        (["maze", "umaze", "--picture", "/no/such/folder/x.png"], "there is no folder"),
        (["maze", "umaze", "--picture", "field.nonsense"], "cannot write field.nonsense"),
    ],
)
def test_errors_are_one_line(words: list[str], complaint: str) -> None:
    answer = wayfield(*words)
    assert answer.code == 2
    assert complaint in answer.err
    assert answer.err.startswith("wayfield: ")
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize("words", [["nonsense"], ["reproduce", "--goals", "513"], ["plan"]])
def test_usage_errors(words: list[str]) -> None:
    answer = wayfield(*words)
    assert answer.code == 2
    assert answer.err.startswith("wayfield: ")
    assert answer.err.count("\n") == 1


def test_extras_keep_their_brackets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.figure", raising=False)
    answer = wayfield("maze", "umaze", "--picture", "field.png")
    assert "pip install '.[plots]'" in answer.err


# ------------------------------------------------------------------ compare


def test_compare_is_the_librarys_with_the_words_of_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(WORDS, "sweeps", raising=False)  # a word once the study has been imported
    facts = wayfield("compare", "--maze", "medium", "--refinement", 4, "--json").json
    graph = wf.grid_graph(wf.load_layout("medium"), 4)
    found = wf.compare(graph, wf.sample_labels(graph, 0, 0.05), 0)
    assert [row["success"] for row in facts["rows"]] == [s.success for s in found.scores]
    words = [row["method"] for row in facts["rows"]]
    assert words == [
        "graph distance",
        "amle",
        "amle-cost",
        "p=8",
        "harmonic",
        "nearest",
        "mcshane",
        "whitney",
        "amle --drop-false-sinks",
        "amle --prior distance",
    ]
    assert facts["choose"] == "graph distance"
    assert facts["verdict"].startswith(
        "Use the graph distance: no field predicts labels left out clearly better"
    )
    assert facts["rows"][0]["left_out"] == 0.0
    assert facts["rows"][1]["left_out"] == pytest.approx(found.scores[1].label_error)
    assert facts["remarks"] == []
    assert facts["truth"] == "the graph's own shortest paths"


def test_compare_on_files_and_chosen_methods(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("a,b,1\nb,c,2\nc,d,3\n", encoding="utf-8")
    (tmp_path / "labels.csv").write_text("a,6\nd,0\n", encoding="utf-8")
    files = (tmp_path / "edges.csv", tmp_path / "labels.csv", "--goal", "d")
    answer = wayfield("compare", *files, "-m", "amle", "-m", "p=8", "-m", "amle")
    assert answer.code == 0
    assert answer.out.count("amle") == 1
    assert "Use the graph distance: nothing beats it on the graph itself, and the" in answer.out
    assert "no header" in answer.err
    directed = wayfield("compare", *files, "--directed", "--json").json
    words = [row["method"] for row in directed["rows"]]
    assert words == [
        "graph distance",
        "amle",
        "amle-flat",
        "amle --drop-false-sinks",
        "amle --prior distance",
    ]


def test_compare_stops_a_method_that_takes_too_long() -> None:
    words = ("compare", "--maze", "umaze", "-m", "p=8", "-m", "nearest", "--time-limit", 0)
    answer = wayfield(*words)
    assert answer.code == 0
    assert any(line.split()[:4] == ["p=8", "out", "of", "time"] for line in answer.out.splitlines())
    assert (
        "stopped by the time limit: --method p=8; a larger --time-limit gives more time"
        in answer.out
    )
    rows = {row["method"]: row for row in wayfield(*words, "--json").json["rows"]}
    assert rows["p=8"]["out_of_time"]
    assert rows["p=8"]["success"] is None
    assert not rows["nearest"]["out_of_time"]  # it does not look at the clock
    assert "--time-limit" in wayfield("compare", "--maze", "umaze", "--time-limit", -1).err


def test_compare_on_labels_that_are_rewards(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("a,b,1\nb,c,2\nc,d,3\n", encoding="utf-8")
    (tmp_path / "labels.csv").write_text("a,-6\nb,-5\nd,0\n", encoding="utf-8")
    answer = wayfield("compare", tmp_path / "edges.csv", tmp_path / "labels.csv", "--goal", "d")
    assert answer.code == 0, answer.err
    assert "graph distance" in answer.out
    assert "Labels decrease away from the goal. If they are rewards, negate them" in answer.out


def test_compare_offers_a_unit(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("a,b,1\nb,c,2\nc,d,3\n", encoding="utf-8")
    (tmp_path / "labels.csv").write_text("a,360\nb,300\nc,180\nd,0\n", encoding="utf-8")
    words = ("compare", tmp_path / "edges.csv", tmp_path / "labels.csv", "--goal", "d")
    answer = wayfield(*words)
    assert "are both in the same unit? If not, pass --length-unit 60\n" in answer.out
    facts = wayfield(*words, "--length-unit", 60, "--json").json
    assert facts["remarks"] == []
    assert facts["per_graph_distance"] == 1.0
    assert wayfield(*words, "--length-unit", 0).code == 2


def test_rows_of_the_table_are_not_broken() -> None:
    answer = wayfield("compare", "--maze", "medium", "--refinement", 4)
    table = answer.out.splitlines()
    assert all(len(line) <= 80 for line in table[:-1])
    assert sum(line.strip().startswith("amle --drop-false-sinks ") for line in table) == 1
    assert sum("±" in line for line in table) > 5


def test_leaving_labels_out_may_be_left_out() -> None:
    facts = wayfield("compare", "--maze", "umaze", "--folds", 0, "--json").json
    assert {row["left_out"] for row in facts["rows"]} == {None}
    assert wayfield("maze", "umaze", "--folds", 0, "--json").json["held_out"] is None
    assert wayfield("maze", "umaze", "--json").json["held_out"]["labels"] > 0


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "either EDGES and LABELS, or --maze NAME"),
        (["only-one.csv"], "either EDGES and LABELS, or --maze NAME"),
        (["--maze", "umaze", "--goal", "Bern"], "--goal of a maze must be a vertex number"),
        (["--maze", "umaze", "-m", "amle2"], "unknown method 'amle2'; did you mean amle?"),
        (["--maze", "teleport", "-m", "harmonic"], "not defined on directed graphs"),
    ],
)
def test_compare_refuses(words: list[str], complaint: str) -> None:
    answer = wayfield("compare", *words)
    assert answer.code == 2
    assert complaint in answer.err
    assert answer.err.count("\n") == 1


# ------------------------------------------------------------------ doctor


def test_doctor_finds_all_well() -> None:
    answer = wayfield("doctor")
    assert answer.code == 0
    assert answer.out.count("✓ Seven-node graph") == 1
    assert "36/29" in answer.out
    assert answer.out.endswith("everything works\n")


def test_doctor_counts_kernels_when_they_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules["wayfield.cli.doctor"]
    done: list[str] = []
    monkeypatch.setattr(_warmup, "warm_up", lambda *_, **__: done.append("compiled"))
    for each in module._diagnoses():
        if each.what == "kernels":
            done.append("counted")
            break
    assert done == ["compiled", "counted"]


def test_doctor_for_programs_names_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    found = metadata.version

    def lacking(package: str) -> str:
        if package == "pyarrow":
            raise metadata.PackageNotFoundError(package)
        return found(package)

    monkeypatch.setattr(metadata, "version", lacking)
    answer = wayfield("doctor", "--json")
    assert answer.code == 0  # an extra is no illness
    findings = {finding["what"]: finding for finding in answer.json["findings"]}
    assert "pip install '.[files]'" in findings["extra files"]["found"]
    assert findings["extra files"]["well"] is None
    assert answer.json["well"]


def test_doctor_notices_a_wrong_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    right = wf.extend

    def wrong(*arguments: Any, **settings: Any) -> Extension:
        field = right(*arguments, **settings)
        return replace(field, lower=field.values + 1e-12, upper=field.values + 2e-12)

    monkeypatch.setattr(wf, "extend", wrong)
    answer = wayfield("doctor")
    assert answer.code == 1
    assert "✗ Path of 101 vertices" in answer.out
    assert "checks failed" in answer.out

    def astray(graph: wf.Graph, labels: wf.Labels, goal: int) -> Any:
        return solve(graph, wf.Labels(labels.vertices, -labels.values), goal)

    solve = wf.solve
    monkeypatch.setattr(wf, "extend", right)
    monkeypatch.setattr(wf, "solve", astray)
    answer = wayfield("doctor")
    assert "starts do not arrive" in answer.out
    assert "1 check failed" in answer.out


# ------------------------------------------------------------------ whatever goes wrong


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (wf.NotConverged("stalled", 1.0, 2.0), 1, "stalled"),
        (MemoryError(), 1, "not enough memory"),
        (KeyboardInterrupt(), 130, "wayfield: stopped"),
        (ZeroDivisionError("by zero"), 1, "internal error; please report it: ZeroDivisionError"),
        (PermissionError(13, "Permission denied", "x.csv"), 2, "x.csv: Permission denied"),
    ],
)
def test_every_error_has_a_code_and_at_most_a_line(
    error: BaseException, code: int, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(sys.modules["wayfield.advice.solving"], "solve", fail)
    answer = wayfield("maze", "umaze", "--refinement", 2)
    assert answer.code == code
    assert told in answer.err
    assert answer.err.count("\n") <= 1


# ------------------------------------------------------------------ waiting


@pytest.fixture
def announcement() -> Any:
    """What listens for compiling in this process, as if nothing had been compiled."""
    listener = _output.announce_compiling()
    listener.since, listener.done = inf, False
    yield listener
    listener.since = inf


@pytest.mark.usefixtures("announcement")
def test_compiling_is_announced_once_and_only_if_it_takes_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with trigger_event("numba:compile"):
        pass
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(_output, "SLOW", 0.0)
    for _ in range(2):  # whichever step compiles
        with trigger_event("numba:compile"):
            pass
    assert capsys.readouterr().err == "compiling kernels: a minute or two, once only …\n"


@pytest.mark.usefixtures("announcement")
def test_kernels_that_cannot_be_kept_are_mentioned(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_output, "SLOW", 0.0)
    monkeypatch.setattr(_compiled, "_shortfalls", ["they are not kept"])
    with trigger_event("numba:compile"):
        pass
    said = "they are not kept; NUMBA_CACHE_DIR=FOLDER names a place for them …\n"
    assert capsys.readouterr().err == f"compiling kernels: a minute or two, {said}"
