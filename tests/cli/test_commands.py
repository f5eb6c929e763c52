"""The commands: help, mazes, comparisons, the doctor, exit codes, and what is said meanwhile."""

from __future__ import annotations

import ast
import pickle
import subprocess
import sys
from dataclasses import replace
from importlib import metadata
from io import StringIO
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from rich.console import Console

import wayfield as wf
from shell import Answer, wayfield
from wayfield import cli
from wayfield.cli import output as _output
from wayfield.cli import warmup as _warmup
from wayfield.cli.output import Stages, flag, in_flags, print_json, say, show
from wayfield.errors import Option
from wayfield.fields import Extension
from wayfield.fields.names import WORDS
from wayfield.numerics import compiled as _compiled


def summary(answer: Answer) -> dict[str, str]:
    """The summary's lines by the words in their margin."""
    return {line[:9].strip(): line[10:] for line in answer.out.splitlines()}


def refused(*words: object) -> str:
    """The one line that a command says before it refuses."""
    answer = wayfield(*words)
    assert answer.code == 2
    assert answer.err.startswith("wayfield: ")
    assert answer.err.count("\n") == 1
    return answer.err


# ------------------------------------------------------------------ help


def test_help_explains_every_command_and_loads_nothing_heavy() -> None:
    code = """
import sys
from wayfield.cli import main
for words in ([], ["plan"], ["compare"], ["maze"], ["doctor"], ["study"], ["travel", "trips"]):
    sys.argv = ["wayfield", *words, "-h" if words == ["plan"] else "--help"]
    try:
        main()
    except SystemExit as stop:
        assert stop.code == 0
print("LOADED", *sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    told, _, loaded = run.stdout.partition("LOADED")
    assert told.count("Usage: wayfield") == 7
    assert "bool" not in told.lower()  # a switch takes no value
    for word in ("plan", "compare", "maze", "doctor", "reproduce", "Exit codes", "Examples"):
        assert word in told
    heavy = {"numba", "numpy", "scipy", "matplotlib", "pyarrow", "duckdb", "jinja2", "sklearn"}
    assert heavy.isdisjoint(name.partition(".")[0] for name in loaded.split())


def test_the_package_is_a_command_too() -> None:
    run = [sys.executable, "-m", "wayfield", "--version"]
    told = subprocess.run(run, check=True, capture_output=True, text=True).stdout
    assert told == f"wayfield {wf.__version__}\n"


def test_a_reader_that_closes_the_pipe_hears_nothing() -> None:
    run = [sys.executable, "-m", "wayfield", "--help"]
    with subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()  # as head or less do
        assert process.wait(60) == 1
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_no_command_prints_the_help_once() -> None:
    answer = wayfield()
    assert (answer.code, answer.err) == (2, "")
    assert answer.out.count("Usage: wayfield") == 1


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
    assert " ".join(facts) == (  # the same facts as those of plan
        "wayfield graph labels goal method status converged seconds bracket_width residual "
        "contradictions plan margin certified proved value_error_bound routes held_out units "
        "advice files removed no_picture no_parquet not_written input"
    )
    assert facts["plan"]["success"] == 1.0


def test_maze_leaves_labels_out_as_compare_does() -> None:
    settings = ("--refinement", 4, "--label-fraction", 0.2, "--json")
    found = wayfield("maze", "umaze", *settings, "--drop-false-sinks").json
    rows = wayfield("compare", "--maze", "umaze", *settings).json["rows"]
    (row,) = [row for row in rows if row["method"] == "amle --drop-false-sinks"]
    left_out = found["held_out"]["error"], found["held_out"]["spread"]
    assert left_out == (row["left_out"], row["left_out_spread"])
    assert "`wayfield compare --maze umaze --goal 0` tries other fields." in found["advice"]
    assert wayfield("maze", "umaze", "--folds", 0, "--json").json["held_out"] is None


def test_maze_routes_and_lift() -> None:
    words = ("maze", "medium", "--label-fraction", 0.02, "--method", "harmonic", "--start", 440)
    lost, found = wayfield(*words), wayfield(*words, "--lift")
    assert (lost.code, found.code) == (1, 0)
    assert summary(lost)["route"].endswith("loop!")
    assert "values: " in summary(found)["raised"]


@pytest.mark.parametrize(
    ("text", "words", "lost", "pieces"),
    [
        ("#..>59#\n#.#.#.#\n#.....#\n###v###\n###.###", (4,), "32 of 240", "6 strong components"),
        ("..#..", (2, "--method", "harmonic"), "8 of 16", "2 components"),
        (">>.", (1, "--goal", 2), "", "3 strong components"),
        ("..#.\n\n0,1 -> 0,3", (2,), "4 of 12", "2 strong components"),
    ],
)
def test_maze_of_a_file(
    text: str, words: tuple[object, ...], lost: str, pieces: str, tmp_path: Path
) -> None:
    file = tmp_path / "own.txt"
    file.write_text(text, encoding="utf-8")
    answer = wayfield("maze", file, "--refinement", *words)
    assert answer.code == 0
    said = summary(answer)
    assert said["graph"].endswith(pieces)
    assert said.get("lost", "").startswith(f"{lost} states cannot reach" if lost else "")
    assert ("lost" in said) == bool(lost)


def test_maze_draws_a_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "field.png"
    words = ("maze", "umaze", "--refinement", 2, "--picture", file)
    answer = wayfield(*words, pictures=True)
    assert summary(answer)["wrote"].endswith("field.png")
    assert file.read_bytes().startswith(b"\x89PNG")
    assert wayfield(*words).code == 0
    file.write_bytes(b"mine")
    assert "has changed since it was written by wayfield" in refused(*words)
    assert file.read_bytes() == b"mine"
    assert wayfield(*words, "--force").code == 0
    assert "there is no folder" in refused(*words[:-1], tmp_path / "no" / "field.png")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys.modules["wayfield.cli.output"], "draw", full)
    answer = wayfield(*words, "--force")
    assert answer.code == 1
    assert "plan      " in answer.out
    assert "wrote     nothing: No space left on device" in answer.out
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.figure", raising=False)
    assert "pip install '.[plots]'" in refused(*words)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("maze lrage", "unknown layout 'lrage'"),
        ("maze bad.txt", "bad.txt: unknown character 'x' at row 1, column 2 (counted from 0)"),
        ("maze bytes.txt", "bytes.txt is not a text file"),
        ("maze no.txt", "no.txt: No such file"),
        ("maze void.txt", "void.txt is empty"),
        ("maze short.txt", "short.txt: row 1 has 3 cells, but row 0 has 4 (counted from 0)"),
        ("maze umaze --refinement 0", "--refinement must be a whole number of at least 1"),
        ("maze umaze --label-fraction 1.5", "above 0 and at most 1, got 1.5"),
        ("maze umaze --goal 9999", "--goal 9999 is not a vertex"),
        ("maze umaze --start 9999", "--start 9999 is not a vertex"),
        (f"maze umaze --goal {'9' * 4000}", "goal 10^4000 is not a vertex"),
        (f"maze umaze --goal {'9' * 5000}", "'--goal'"),
        (f"compare --maze umaze --goal {'9' * 5000}", "must be a vertex number, got '999"),
        ("maze umaze --picture field.nonsense", "cannot write field.nonsense: its name must end"),
        ("maze teleport --method harmonic", "Harmonic is not defined on directed graphs"),
        ("compare", "either EDGES and LABELS, or --maze NAME"),
        ("compare only-one.csv", "either EDGES and LABELS, or --maze NAME"),
        ("compare --maze umaze --goal Bern", "--goal of a maze must be a vertex number"),
        ("compare --maze umaze -m amle2", "unknown method 'amle2'; did you mean amle?"),
        ("compare --maze umaze --time-limit -1", "--time-limit"),
        ("compare --maze umaze --folds -1", "--folds"),
        ("compare --maze umaze --length-unit 0", "--length-unit must be positive"),
        ("compare --maze teleport -m harmonic", "not defined on directed graphs"),
        ("nonsense", "No such command 'nonsense'"),
        ("reproduce --goals 513", "--goals"),
        ("plan", "Missing argument"),
        ("plan --no-such-option", "No such option"),
    ],
)
def test_refusals(words: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.txt").write_text("#..\n..x", encoding="utf-8")
    Path("bytes.txt").write_bytes(b"\x89PNG")
    Path("void.txt").write_text("\n \n", encoding="utf-8")
    Path("short.txt").write_text("####\n#.#", encoding="utf-8")
    assert said in refused(*words.split())


# ------------------------------------------------------------------ compare


@pytest.fixture
def chain(tmp_path: Path) -> Any:
    """The words of a comparison on a chain of four cities with these labels."""

    def words(labels: str) -> tuple[object, ...]:
        (tmp_path / "edges.csv").write_text("a,b,1\nb,c,2\nc,d,3\n", encoding="utf-8")
        (tmp_path / "labels.csv").write_text(labels, encoding="utf-8")
        return "compare", tmp_path / "edges.csv", tmp_path / "labels.csv", "--goal", "d"

    return words


def test_compare_is_the_librarys_with_the_words_of_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(WORDS, "sweeps", raising=False)  # a word once the study has been imported
    facts = wayfield("compare", "--maze", "medium", "--refinement", 4, "--json").json
    graph = wf.grid_graph(wf.load_layout("medium"), 4)
    found = wf.compare(graph, wf.sample_labels(graph, 0, 0.05), 0)
    words = (
        "graph distance/amle/amle-cost/p=8/harmonic/nearest/mcshane/whitney/"
        "amle --drop-false-sinks/amle --prior distance"
    )
    assert "/".join(row["method"] for row in facts["rows"]) == words
    for row, score in zip(facts["rows"], found.scores, strict=True):
        figures = [score.success, score.cost_ratio, score.label_error, score.label_spread]
        assert [row[key] for key in ("success", "cost_ratio", "left_out", "left_out_spread")] == [
            pytest.approx(figure) for figure in figures
        ]
    assert facts["choose"] == "graph distance"
    assert facts["verdict"] == found.verdict
    kinds = {key: type(value) for key, value in facts.items()}
    assert kinds == {
        "wayfield": str, "graph": str, "labels": str, "starts": int, "truth": str, "rows": list,
        "per_graph_distance": float, "choose": str, "verdict": str, "remarks": list,
    }  # fmt: skip
    table = wayfield("compare", "--maze", "medium", "--refinement", 4).out.splitlines()
    assert all(len(line) <= 80 for line in table[:-1])
    assert sum("±" in line for line in table) > 5


def test_compare_on_files_and_chosen_methods(chain: Any) -> None:
    words = chain("a,6\nd,0\n")
    answer = wayfield(*words, "-m", "amle", "-m", "p=8", "-m", "amle", "-m", "amle-flat")
    assert answer.code == 0
    assert answer.out.count("amle") == 1  # the same on undirected graphs
    assert "Use the graph distance: nothing beats it on the graph itself, and the" in answer.out
    assert "no header" in answer.err
    rows = wayfield(*words, "--directed", "--folds", 0, "--json").json["rows"]
    names = ["amle", "amle-flat", "amle --drop-false-sinks", "amle --prior distance"]
    assert [row["method"] for row in rows] == ["graph distance", *names]
    assert {row["left_out"] for row in rows} == {None}


def test_compare_stops_a_method_that_takes_too_long() -> None:
    words = ("compare", "--maze", "umaze", "-m", "p=8", "-m", "nearest", "--time-limit", 0)
    answer = wayfield(*words)
    assert answer.code == 0
    assert any(line.split()[:4] == ["p=8", "out", "of", "time"] for line in answer.out.splitlines())
    stopped = "stopped by the time limit: --method p=8; a larger --time-limit gives more time"
    assert stopped in answer.out
    _, late, quick = wayfield(*words, "--json").json["rows"]
    assert (late["out_of_time"], late["success"]) == (True, None)
    assert not quick["out_of_time"]  # it does not look at the clock


def test_compare_on_rewards_and_other_units(chain: Any) -> None:
    rewards = wayfield(*chain("a,-6\nb,-5\nd,0\n"))
    assert "Labels decrease away from the goal. If they are rewards, negate them" in rewards.out
    words = chain("a,360\nb,300\nc,180\nd,0\n")
    said = "are both in the same unit? If not, pass --length-unit 60\n"
    assert said in wayfield(*words).out
    facts = wayfield(*words, "--length-unit", 60, "--json").json
    assert (facts["remarks"], facts["per_graph_distance"]) == ([], 1.0)


# ------------------------------------------------------------------ doctor


def test_doctor_finds_all_well() -> None:
    answer = wayfield("doctor")
    assert answer.code == 0
    assert answer.out.count("✓ Exact fields") == 1
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
    assert answer.code == 0  # a missing extra is no failure
    findings = {finding["what"]: finding for finding in answer.json["findings"]}
    assert "missing pyarrow: run pip install '.[files]'" in findings["extra files"]["found"]
    assert findings["extra files"]["well"] is None
    assert findings["extra plots"]["well"] is True
    assert list(answer.json) == ["wayfield", "well", "findings"]
    assert {tuple(finding) for finding in answer.json["findings"]} == {("what", "well", "found")}
    assert answer.json["well"] is True


def test_doctor_notices_a_wrong_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    right, solve = wf.extend, wf.solve

    def wrong(*arguments: Any, **settings: Any) -> Extension:
        field = right(*arguments, **settings)
        return replace(field, lower=field.values + 1e-12, upper=field.values + 2e-12)

    def astray(graph: wf.Graph, labels: wf.Labels, goal: int) -> Any:
        return solve(graph, wf.Labels(labels.vertices, -labels.values), goal)

    monkeypatch.setattr(wf, "extend", wrong)
    answer = wayfield("doctor")
    assert answer.code == 1
    assert "✗ Exact fields" in answer.out
    assert "at vertex 0, but 0 is exact" in answer.out
    assert "check failed" in answer.out
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
        (OSError(5, "Input/output error"), 1, "Input/output error"),
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


def test_a_command_that_cannot_be_loaded_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    class Entry:
        name = "study"

        def load(self) -> None:
            raise ModuleNotFoundError("No module named 'duckdb'")

    app = typer.Typer()
    app.command("there")(lambda: None)
    monkeypatch.setattr(cli, "app", app)
    monkeypatch.setattr(cli, "entry_points", lambda group: [Entry()])
    monkeypatch.setattr(cli, "_register_others", cli._register_others.__wrapped__)
    why = "wayfield study cannot be loaded: No module named 'duckdb'"
    assert refused("study", "run", "--out", "x") == f"wayfield: {why}\n"
    assert wayfield("there").code == 0


# ------------------------------------------------------------------ options in messages


def test_every_option_that_a_message_names_is_a_flag() -> None:
    cli._register_others()  # the core names columns of trips, a file that a sister reads
    commands: list[Any] = [typer.main.get_command(cli.app)]
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
    for each in (error, pickle.loads(pickle.dumps(error))):
        assert str(each) == 'pass Style(decimal=",") or force=True'
        assert [(option.name, option.value) for option in each.options] == [
            ("decimal", ","),
            ("force", True),
        ]
        assert in_flags(each.message) == "pass --decimal , or --force"
    assert wf.InputError("roads.csv: ", error.message).options == error.options


# ------------------------------------------------------------------ the terminal


def test_summaries_wrap_in_a_terminal() -> None:
    screen = Console(file=StringIO(), force_terminal=True, width=60)
    show([("graph", "word " * 30), ("lost", "some [bold] states")], screen)
    text = screen.file.getvalue()  # type: ignore[attr-defined]
    assert max(map(len, text.splitlines())) < 90
    assert text.count("word") == 30
    assert "\x1b[33msome [bold] states" in text  # a warning's colour; names are no markup


def test_progress_shows_the_stage_and_is_silent_in_a_pipe() -> None:
    screen = Console(file=StringIO(), force_terminal=True, width=80)
    pipe = Console(file=StringIO())
    for console in (screen, pipe):
        with Stages(console) as stages:
            stages.begin("reading roads.csv")(1, 2)
            stages.display.refresh()
            with stages.aside():
                pass
            stages.begin("building the graph")
            stages.display.refresh()
    text = screen.file.getvalue()  # type: ignore[attr-defined]
    assert "reading roads.csv" in text
    assert "building the graph" in text
    assert pipe.file.getvalue().strip() == ""  # type: ignore[attr-defined]


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


def test_compiling_is_announced_once_and_only_if_it_takes_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    listener = _output.announce_compiling()
    for lost, kept in (([], "once only"), (["the disk is full"], "NUMBA_CACHE_DIR=FOLDER names")):
        listener.since, listener.done = inf, False
        monkeypatch.setattr(_compiled, "_lost", lost)
        monkeypatch.setattr(_output, "SLOW", 3600.0)
        listener()
        assert capsys.readouterr().err == ""
        monkeypatch.setattr(_output, "SLOW", 0.0)
        listener()
        listener()  # whichever step compiles
        told = capsys.readouterr().err
        assert told.count("compiling kernels: a minute or two, ") == 1
        assert kept in told
        assert all(why in told for why in lost)
    listener.since = inf


def test_large_graphs_need_places() -> None:
    path = wf.Graph.from_edges(range(5000), range(1, 5001))
    assert "over 5,000 vertices, and no positions" in str(_output.why_not_drawn(path))
    assert _output.why_not_drawn(path.with_positions(np.zeros((5001, 2)))) is None


def test_without_the_study_its_commands_say_where_they_are() -> None:
    """`wayfield reproduce` on a machine with the library alone."""
    code = (
        "import sys, wayfield.cli as cli; cli.entry_points = lambda group: ();"
        "sys.argv = ['wayfield', 'reproduce', '--profile', 'quick']; cli.main()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert "reproduce is a command of wayfield-study, which is not installed" in ended.stderr
