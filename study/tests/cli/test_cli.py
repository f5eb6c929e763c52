from __future__ import annotations

import dataclasses
import re
import shutil
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from small_run import TASKS
from study_work import BAD_SEED, Work, fail_on_bad_seed, figures

from wayfield import cli
from wayfield_study import experiments, report
from wayfield_study.engine import (
    Experiment,
    Profile,
    Row,
    Store,
    Study,
    by_experiment,
    freshness,
)
from wayfield_study.experiments import STUDIES, find_study, grid, read_grid
from wayfield_study.experiments.readings import ADOPTED, READINGS
from wayfield_study.paper.figures import FIGURES
from wayfield_study.paper.likelihood import rank

CONFIG = """
[grid]
mazes = ["umaze"]
refinements = [2]
label_fractions = [0.2]
seeds = [1, 2, 66]
goals = 2
"""


class Answer(NamedTuple):
    code: int
    out: str
    err: str


Command = Callable[..., Answer]


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Run the command line as a shell would, in a folder of its own with a study in it."""
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(CONFIG, encoding="utf-8")

    def call(*words: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["wayfield", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        return Answer(int(stop.value.code or 0), *capsys.readouterr())

    return call


Replace = Callable[..., None]


@pytest.fixture
def toy_instead(monkeypatch: pytest.MonkeyPatch, in_this_process: None) -> Replace:
    """Let a toy be the only experiment there is; it runs in this process."""

    def replace(work: Work, version: int = 1) -> None:
        toy = Experiment("toy", "a toy", version, work, read_grid=read_grid)
        monkeypatch.setattr(experiments, "EXPERIMENTS", (toy,))

    return replace


def counts(table: str) -> list[str]:
    """The words of the last line of a table but its frame."""
    lines = [line for line in table.splitlines() if "│" in line]
    return lines[-1].replace("│", " ").split()


# ------------------------------------------------------------------- one's own study


def test_a_study_of_ones_own(command: Command, in_this_process: None) -> None:
    assert counts(command("study", "status", "study.toml").out) == ["all", "0", "3", "0", "0", "0"]
    answer = command("study", "run", "study.toml", "--workers", 1)
    assert answer.code == 0, answer.err
    assert "tasks run: 3, reused: 0" in answer.out
    assert "3/3 tasks" in answer.err
    assert counts(command("study", "status", "study.toml").out) == ["all", "3", "0", "0", "0", "0"]
    assert "tasks run: 0, reused: 3" in command("study", "run", "study.toml").out
    sql = (
        "SELECT count(*) AS cells, sum(reached / pairs) AS total FROM rollout WHERE arm = 'oracle'"
    )
    answer = command("study", "query", sql)
    assert counts(answer.out) == ["3", "3.0"]
    for words, complaint in {
        "SELECT nothing FROM rollout": 'Binder Error: Referenced column "nothing"',
        "SELECT * FROM nothing": "Catalog Error: Table with name nothing",
        "COPY rollout TO 'elsewhere.csv'": "Permission Error",
    }.items():
        answer = command("study", "query", words)
        assert (answer.code, answer.err.count("\n")) == (2, 1)
        assert complaint in answer.err
        assert "SHOW TABLES" in answer.err


def test_failing_tasks_are_said(command: Command, toy_instead: Replace) -> None:
    toy_instead(fail_on_bad_seed)
    answer = command("study", "run", "study.toml", "--workers", 1)
    assert answer.code == 1
    name = "toy umaze-refinement2-label_fraction0.2-seed66-goals2-label_count0"
    assert f"{name} failed: RuntimeError: seed 66" in answer.err
    assert "1 task failed; see *.failed.txt in results" in answer.err
    assert counts(command("study", "status", "study.toml").out) == ["all", "2", "0", "1", "0", "0"]
    toy_instead(figures)
    assert "tasks run: 1, reused: 2" in command("study", "run", "study.toml", "--workers", 1).out


def test_when_all_tasks_fail(command: Command, toy_instead: Replace) -> None:
    toy_instead(fail_on_bad_seed)
    text = CONFIG.replace("[1, 2, 66]", f"[{BAD_SEED}]")
    Path("study.toml").write_text(text, encoding="utf-8")
    answer = command("study", "run", "study.toml", "--workers", 1)
    assert answer.code == 2
    assert "every task failed; see *.failed.txt in results" in answer.err


def test_damaged_results_are_said(command: Command, toy_instead: Replace) -> None:
    toy_instead(figures)
    command("study", "run", "study.toml", "--workers", 1)
    first, *_ = find_study("study.toml").tasks()
    path = Store(Path("results")).path(first)
    path.write_bytes(path.read_bytes()[:-9])
    answer = command("study", "status", "study.toml")
    assert counts(answer.out) == ["all", "2", "0", "0", "0", "1"]
    assert answer.err == f"{path} is damaged\n"
    toy_instead(figures, version=2)
    answer = command("study", "status", "study.toml")
    assert counts(answer.out) == ["all", "0", "0", "0", "2", "1"]
    assert "stale: 2 × version 1 of the experiment, now 2" in answer.err


@pytest.fixture
def stale(
    command: Command, toy_instead: Replace, monkeypatch: pytest.MonkeyPatch
) -> dict[Path, bytes]:
    """Three results, computed before the kernels changed."""
    toy_instead(figures)
    command("study", "run", "study.toml", "--workers", 1)
    now = freshness.source() | {"kernels": "another"}
    monkeypatch.setattr(freshness, "source", lambda: now)
    return {path: path.read_bytes() for path in Path("results").rglob("*.parquet")}


def test_stale_results_are_said_and_run_again(command: Command, stale: dict[Path, bytes]) -> None:
    answer = command("study", "status", "study.toml")
    assert counts(answer.out) == ["all", "0", "0", "0", "3", "0"]
    assert answer.err == "stale: 3 × kernels changed since\n"
    answer = command("study", "run", "study.toml", "--workers", 1)
    assert "tasks run: 3, reused: 0" in answer.out
    assert answer.err.count("is stale: kernels changed since: running it again") == 3
    answer = command("study", "status", "study.toml")
    assert counts(answer.out) == ["all", "3", "0", "0", "0", "0"]
    assert answer.err == ""
    assert "stale" not in Path("report/study/index.html").read_text(encoding="utf-8")


def test_stale_results_may_be_accepted(command: Command, stale: dict[Path, bytes]) -> None:
    answer = command("study", "study.toml", "--workers", 1, "--accept-stale")
    assert answer.code == 0, answer.err
    assert "3 stale results are used as they are" in answer.err
    assert "tasks run: 0, reused: 3" in answer.out
    said = "3 results are stale and used on request: kernels changed since."
    page = Path("report/study/index.html")
    assert said in page.read_text(encoding="utf-8")
    assert {path: path.read_bytes() for path in stale} == stale
    page.unlink()
    answer = command("report", "study.toml", "--accept-stale")
    assert (answer.code, answer.err) == (0, "")
    assert said in page.read_text(encoding="utf-8")


def test_a_report_leaves_stale_results_out(command: Command, stale: dict[Path, bytes]) -> None:
    answer = command("report", "study.toml")
    assert answer.code == 2
    assert "toy: 3 of 3 tasks are missing" in answer.err
    assert "stale results left out: 3 (--accept-stale uses them)" in answer.err
    assert "there are no results in results yet: wayfield study study" in answer.err


def test_an_interrupt_is_not_an_error(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("wayfield_study.engine.run", interrupted)
    answer = command("study", "run", "study.toml")
    assert answer.code == 130
    told = "finished tasks are kept in results: run again to continue\nwayfield: stopped\n"
    assert answer.err.endswith(told)
    assert answer.err.count("stopped") == 1


def test_a_sample_to_start_from(command: Command) -> None:
    assert command("study", "init", "mine.toml").code == 0
    assert len(find_study("mine.toml").tasks()) == 36
    answer = command("study", "init", "mine.toml")
    assert (answer.code, answer.err) == (2, "wayfield: mine.toml already exists\n")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["run", "none.toml"], "none.toml"),
        (["run", "/dev/zero"], "/dev/zero: a study file must have at most 1,048,576 bytes"),
        (["run", "study.toml", "--workers", "2", "--cluster", "tcp://a:1"], "exclude each other"),
        (["run", "study.toml", "--cluster", "nonsense"], "no Dask scheduler answers at 'nonsense'"),
        (["run", "study.toml", "--workers", "0"], "--workers"),
        (["run", "study.toml", "--results", "study.toml"], "study.toml"),
        (["query", "SELECT 1"], "there are no results in results yet"),
    ],
)
def test_errors_are_one_line(command: Command, words: list[str], complaint: str) -> None:
    answer = command("study", *words)
    assert answer.code == 2
    assert complaint in answer.err
    assert answer.err.startswith("wayfield: ")
    assert answer.err.count("\n") == 1


# ------------------------------------------------------------------- studies by name


def test_the_list_of_studies(command: Command) -> None:
    answer = command("study", "list")
    assert (answer.code, answer.err) == (0, "")
    words = " ".join(answer.out.split())
    for study in STUDIES.values():
        assert f"{study.name} {study.title}" in words
        assert ", ".join(experiment.name for experiment in study.experiments) in words
        for profile in study.profiles:
            count = len(study.tasks(profile))
            assert f"--profile {profile.name} {count:,} tasks {profile.about}" in words


@pytest.mark.parametrize("words", [["nonsense"], ["run", "nonsense"], ["status", "nonsense"]])
def test_a_study_nobody_knows(command: Command, words: list[str]) -> None:
    answer = command("study", *words)
    known = f"known are {', '.join(STUDIES)}, or give a TOML file"
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == f"wayfield: unknown study 'nonsense'; {known}\n"


def test_a_profile_nobody_knows(command: Command) -> None:
    answer = command("study", "directed", "--profile", "huge")
    told = "the study directed has no profile 'huge'; it has standard, quick"
    assert (answer.code, answer.out, answer.err) == (2, "", f"wayfield: {told}\n")


def test_the_directed_study(command: Command, in_this_process: None) -> None:
    answer = command("study", "directed", "--profile", "quick", "--workers", 1)
    assert answer.code == 0, answer.err
    assert "6/6 tasks" in answer.err
    assert "tasks run: 6, reused: 0" in answer.out
    assert "report: report/directed/index.html" in answer.out
    results = {path: path.read_bytes() for path in Path("results").rglob("*.parquet")}
    assert len(results) == 6
    assert "reverse Dijkstra" in Path("report/directed/index.html").read_text(encoding="utf-8")
    answer = command("study", "directed", "--profile", "quick", "--workers", 1)
    assert (answer.code, "tasks run: 0, reused: 6" in answer.out) == (0, True)
    assert {path: path.read_bytes() for path in Path("results").rglob("*.parquet")} == results
    status = command("study", "status", "directed", "--profile", "quick")
    assert counts(status.out) == ["all", "6", "0", "0", "0", "0"]


def test_an_experiment_that_lacks_something(
    command: Command, in_this_process: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = Experiment("toy", "a toy", 1, figures, cells=lambda _: grid(["umaze"], [2], [0.2], [54]))
    city = dataclasses.replace(toy, name="city", lacks=lambda: "this needs a map")
    both = Study("both", "Two toys", (toy, city), (Profile("all", "all of it"),))
    monkeypatch.setitem(experiments.STUDIES, "both", both)
    assert both.left_out() == {"city": "this needs a map"}
    answer = command("study", "both", "--workers", 1)
    assert answer.code == 0, answer.err
    assert "city is left out: this needs a map" in answer.err
    assert "tasks run: 1, reused: 0" in answer.out


# ------------------------------------------------------------------- the paper's


def test_reproduce_and_report(
    command: Command, in_this_process: None, paper_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the cells of the small run, with one result missing."""
    written: list[dict[str, list[Row]]] = []
    really_write = report.write_report

    def write(study: Study, tables: Any, *rest: Any) -> Path:
        written.append(tables)
        return really_write(study, tables, *rest)

    monkeypatch.setattr("wayfield_study.report.write_report", write)
    cells = {name: [] for name in (task.experiment.name for task in TASKS)}
    for task in TASKS:
        cells[task.experiment.name].append(task.cell)
    small = tuple(
        dataclasses.replace(each, cells=lambda profile, some=cells[each.name]: some)
        for each in STUDIES["paper"].experiments
    )
    study = dataclasses.replace(STUDIES["paper"], experiments=small)
    monkeypatch.setitem(experiments.STUDIES, "paper", study)
    shutil.copytree(paper_store.directory, "results")
    tasks, store = study.tasks(), Store(Path("results"))
    lost = next(task for task in tasks if task.experiment.name == "small_graphs")
    store.path(lost).unlink()
    answer = command("reproduce", "--profile", "quick", "--goals", 2, "--workers", 1)
    assert answer.code == 0, answer.err
    assert f"tasks run: 1, reused: {len(tasks) - 1}" in answer.out
    assert store.path(lost).read_bytes() == paper_store.path(lost).read_bytes()
    page = Path("report/index.html")
    assert "wayfield reproduce --profile quick --goals 2" in page.read_text(encoding="utf-8")
    assert set(written[0]) == {experiment.name for experiment in study.experiments}
    page.unlink()
    store.path(lost).unlink()
    answer = command("report", "--profile", "quick", "--goals", 2)
    assert answer.code == 0, answer.err
    total = sum(task.experiment is lost.experiment for task in tasks)
    assert f"{lost.experiment.name}: 1 of {total} tasks are missing" in answer.err
    assert page.exists()
    found = by_experiment({task: store.look(task).rows for task in tasks})
    assert str(written[1]) == str(found)  # with figures that are not a number


@pytest.mark.parametrize("words", [["reproduce"], ["study", "all"], ["report"]])
@pytest.mark.parametrize("name", ["index.html", "claims.json"])
def test_a_report_spares_files_of_others(command: Command, words: list[str], name: str) -> None:
    Path(name).write_text("mine", encoding="utf-8")
    answer = command(*words, "--out", ".")
    assert (answer.code, answer.out) == (2, "")
    told = f"wayfield: {name} was not written by wayfield, and stays as it is: write elsewhere, "
    assert answer.err == f"{told}move the file away, or pass --force to replace it\n"
    assert Path(name).read_text(encoding="utf-8") == "mine"
    assert not Path("results").exists()  # said before anything was computed


@pytest.mark.parametrize("words", [["reproduce"], ["study", "all"], ["report", "all"]])
def test_the_paper_and_what_lies_beyond_it_share_a_report(
    command: Command, words: list[str]
) -> None:
    Path("report").mkdir()
    Path("report/claims.json").write_text("mine", encoding="utf-8")
    answer = command(*words)
    assert answer.code == 2
    assert "claims.json was not written by wayfield" in answer.err
    assert not Path("results").exists()


def test_make_runs_the_paper_and_what_lies_beyond_it() -> None:
    lines = (Path(__file__).parents[3] / "Makefile").read_text(encoding="utf-8").splitlines()
    does = {line.partition(":")[0]: after for line, after in pairwise(lines)}
    assert does["reproduce"] == "\t$(BIN)/wayfield reproduce"
    assert does["evidence"] == "\t$(BIN)/wayfield study all"


def test_results_lie_beside_the_report_unless_a_folder_is_named(
    command: Command, toy_instead: Replace
) -> None:
    toy_instead(figures)
    words = ("study", "run", "study.toml", "--workers", 1, "--out", "there")
    assert command(*words).code == 0
    assert len(list(Path("there/toy").glob("*.parquet"))) == 3
    assert not Path("results").exists()
    assert "tasks run: 0, reused: 3" in command(*words).out
    assert command("report", "study.toml", "--out", "there").code == 0  # finds them again
    assert "tasks run: 3" in command(*words, "--results", "apart").out
    assert len(list(Path("apart/toy").glob("*.parquet"))) == 3
    command("study", "run", "study.toml", "--workers", 1)
    assert len(list(Path("results/toy").glob("*.parquet"))) == 3
    answer = command("report", "study.toml", "--out", "another")  # where there are none yet
    assert answer.code == 0, answer.err
    assert [path.name for path in Path("another").glob("*.html")] == ["index.html"]


def test_the_status_of_every_study_there_is(
    command: Command, toy_instead: Replace, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = command("study", "status")
    assert (answer.code, answer.out) == (2, "")
    assert "there are no results in results yet" in answer.err
    toy = Experiment("toy", "a toy", 1, figures, lambda profile: grid(["umaze"], [2], [0.2], [1]))
    profiles = (Profile("standard", "all"), Profile("quick", "less"))
    others = Experiment("idle", "idle", 1, figures, lambda _: grid(["umaze"], [2], [0.2], [2]))
    named = {"toys": toy, "idle": others}
    studies = {name: Study(name, name, (each,), profiles) for name, each in named.items()}
    monkeypatch.setattr(experiments, "STUDIES", studies)
    command("study", "run", "toys", "--workers", 1)
    answer = command("study", "status")
    assert answer.code == 0, answer.err
    assert counts(answer.out)[:3] == ["toys", "quick", "1"]
    assert "idle" not in answer.out
    assert answer.err == ""
    toy_instead(figures)
    command("study", "run", "study.toml", "--workers", 1)
    assert (
        "3 results belong to other settings or to your own studies"
        in command("study", "status").err
    )
    answer = command("study", "status", "--profile", "quick")
    assert answer.code == 2
    assert "--profile and --goals need the name of a study" in answer.err


def test_a_report_that_was_changed_is_replaced_by_force(
    command: Command, toy_instead: Replace
) -> None:
    toy_instead(figures)
    assert command("study", "run", "study.toml", "--workers", 1).code == 0
    folder = Path("report/study")
    (folder / "index.html").write_text("mine", encoding="utf-8")
    assert "has changed since it was written" in command("report", "study.toml").err
    assert command("report", "study.toml", "--force").code == 0
    assert (folder / "index.html").read_text(encoding="utf-8") != "mine"


def test_the_rank_of_every_reading(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """The best readings, and the one in use wherever it is."""
    answer = command("study", "readings")
    assert (answer.code, answer.out) == (2, "")
    assert "results lacks results of the design: run wayfield study all" in answer.err
    names = [f"grid-{maze}/r4/lf0.02/harmonic" for maze in ("medium", "large")]
    # the further from the paper's figure, the worse; the reading in use is last but one
    others = [reading for reading in READINGS if reading != ADOPTED][:11]
    order = [*others[:10], ADOPTED, others[10]]
    values = {
        reading: {name: FIGURES[name].value + 0.05 * far for name in names}
        for far, reading in enumerate(order)
    }
    made = rank(values, dict.fromkeys(names, 0.02), ADOPTED, lambda each: each.departures)
    monkeypatch.setattr("wayfield_study.experiments.readings.ranking", lambda *_: made)
    answer = command("study", "readings")
    assert answer.code == 0, answer.err
    told = " ".join(answer.out.split())
    assert "12 readings by 2 figures of the paper" in told
    shown = re.findall(r"^[│|] (\d+)", answer.out, re.MULTILINE)
    assert [int(place) for place in shown] == [1, 2, 3, 4, 5, 6, 7, 8, 11]
    assert told.count("(adopted)") == 1


def test_a_report_of_nothing(command: Command) -> None:
    answer = command("report")
    assert answer.code == 2
    assert "there are no results in results yet: wayfield study paper" in answer.err


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("stat", "there is no study or command 'stat'; did you mean status?"),
        ("lst", "there is no study or command 'lst'; did you mean list?"),
        ("papr", "unknown study 'papr'; did you mean paper?"),
        ("zzz", "unknown study 'zzz'; known are paper, all, directed"),
    ],
)
def test_a_word_that_is_no_study_and_no_command(command: Command, word: str, told: str) -> None:
    answer = command("study", word)
    assert (answer.code, answer.out) == (2, "")
    assert told in answer.err


def test_a_query_over_a_damaged_result(command: Command, toy_instead: Replace) -> None:
    toy_instead(figures)
    command("study", "run", "study.toml", "--workers", 1)
    damaged = next(Path("results/toy").glob("*.parquet"))
    damaged.write_bytes(damaged.read_bytes()[:100])
    answer = command("study", "query", "SELECT count(*) FROM toy")
    assert (answer.code, answer.out) == (2, "")
    assert "wayfield study status names damaged results" in answer.err
    assert f"{damaged} is damaged" in command("study", "status", "study.toml").err


def test_a_folder_with_brackets_in_its_name_is_no_markup(command: Command) -> None:
    answer = command("study", "status", "study.toml", "--results", "[/]")
    assert answer.code == 0
    assert "tasks in [/]" in answer.out
