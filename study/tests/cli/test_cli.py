"""The commands of the studies, as a shell would run them."""

from __future__ import annotations

import dataclasses
import re
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from small_run import TASKS
from study_work import BAD_SEED, Work, fail_on_bad_seed, figures

from shell import Answer, wayfield
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
RUN = ("study", "run", "study.toml", "--workers", 1)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command runs in a folder of its own with a study in it."""
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(CONFIG, encoding="utf-8")


Replace = Callable[..., None]


@pytest.fixture
def toy_instead(monkeypatch: pytest.MonkeyPatch, in_this_process: None) -> Replace:
    """Let a toy be the only experiment there is; it runs in this process."""

    def replace(work: Work, version: int = 1, **settings: Any) -> None:
        toy = Experiment("toy", "a toy", version, work, read_grid=read_grid, **settings)
        monkeypatch.setattr(experiments, "EXPERIMENTS", (toy,))

    return replace


def counts(table: str) -> list[str]:
    """The words of the last line of a table but its frame."""
    lines = [line for line in table.splitlines() if "│" in line]
    return lines[-1].replace("│", " ").split()


def status() -> list[str]:
    """Tasks that are done, missing, failed, stale, damaged."""
    name, *numbers = counts(wayfield("study", "status", "study.toml").out)
    assert name == "all"
    return numbers


# ------------------------------------------------------------------- one's own study


def test_a_study_of_ones_own(in_this_process: None) -> None:
    """All of it by its commands: status, run, resume, query, report."""
    assert status() == ["0", "3", "0", "0", "0"]
    answer = wayfield(*RUN)
    assert answer.code == 0, answer.err
    assert "tasks run: 3, reused: 0" in answer.out
    assert re.search(r"oracle *│ 3 *│ 1\.0000", answer.out)
    assert "3/3 tasks" in answer.err
    assert status() == ["3", "0", "0", "0", "0"]
    assert "tasks run: 0, reused: 3" in wayfield(*RUN).out
    sql = "SELECT count(*) AS n, sum(reached / pairs) AS x FROM rollout WHERE arm = 'oracle'"
    assert counts(wayfield("study", "query", sql).out) == ["3", "3.0"]
    pairs = "SELECT count(*) AS n, min(ended) AS w FROM pairs WHERE arm = 'oracle' AND cost = least"
    assert counts(wayfield("study", "query", pairs).out)[0] == str(3 * 512)
    for words, complaint in {
        "SELECT nothing FROM rollout": 'Binder Error: Referenced column "nothing"',
        "SELECT * FROM nothing": "Catalog Error: Table with name nothing",
        "COPY rollout TO 'elsewhere.csv'": "Permission Error",
    }.items():
        answer = wayfield("study", "query", words)
        assert (answer.code, answer.err.count("\n")) == (2, 1)
        assert complaint in answer.err
        assert "SHOW TABLES" in answer.err


def test_failing_tasks_are_said_in_one_line_each(toy_instead: Replace) -> None:
    toy_instead(fail_on_bad_seed)
    answer = wayfield(*RUN)
    assert answer.code == 1
    name = "umaze-refinement2-label_fraction0.2-seed66-goals2-label_count0"
    (kept,) = Path("results/toy").glob("*.failed.txt")
    told = f"toy {name} failed: RuntimeError: seed {BAD_SEED} is bad (see {kept})\n"
    assert told in answer.err
    assert "Traceback" not in answer.err
    assert "1 task failed; see *.failed.txt in results" in answer.err
    assert status() == ["2", "0", "1", "0", "0"]
    toy_instead(figures)
    assert "tasks run: 1, reused: 2" in wayfield(*RUN).out
    toy_instead(fail_on_bad_seed)
    Path("study.toml").write_text(CONFIG.replace("[1, 2, 66]", f"[{BAD_SEED}]"), encoding="utf-8")
    shutil.rmtree("results")
    answer = wayfield(*RUN)
    assert answer.code == 2
    assert "every task failed; see *.failed.txt in results" in answer.err


def test_damaged_and_stale_results(toy_instead: Replace, monkeypatch: pytest.MonkeyPatch) -> None:
    toy_instead(figures)
    wayfield(*RUN)
    first, *_ = find_study("study.toml").tasks()
    path = Store(Path("results")).path(first)
    path.write_bytes(path.read_bytes()[:-9])
    assert status() == ["2", "0", "0", "0", "1"]
    assert wayfield("study", "status", "study.toml").err == f"{path} is damaged\n"
    answer = wayfield("study", "query", "SELECT count(*) FROM toy")
    assert (answer.code, answer.out) == (2, "")
    assert "wayfield study status names damaged results" in answer.err
    toy_instead(figures, version=2)
    answer = wayfield("study", "status", "study.toml")
    assert "stale: 2 × version 1 of the experiment, now 2" in answer.err
    wayfield(*RUN)
    now = freshness.source() | {"kernels": "another"}
    monkeypatch.setattr(freshness, "source", lambda: now)
    kept = {path: path.read_bytes() for path in Path("results").rglob("*.parquet")}

    # a report leaves stale results out, or uses them on request and says so
    answer = wayfield("report", "study.toml")
    assert answer.code == 2
    assert "toy: 3 of 3 tasks are missing" in answer.err
    assert "stale results left out: 3 (--accept-stale uses them)" in answer.err
    assert "there are no results in results yet: wayfield study study" in answer.err
    page, told = Path("report/study/index.html"), "3 results are stale and used on request: kernels"
    for words in (("report", "study.toml"), ("study", "study.toml", "--workers", 1)):
        page.unlink(missing_ok=True)
        answer = wayfield(*words, "--accept-stale")
        assert answer.code == 0, answer.err
        assert told in page.read_text(encoding="utf-8")
        assert {path: path.read_bytes() for path in kept} == kept
    assert "3 stale results are used as they are" in answer.err
    assert status() == ["0", "0", "0", "3", "0"]
    answer = wayfield(*RUN)
    assert "tasks run: 3, reused: 0" in answer.out
    assert answer.err.count("is stale: kernels changed since: running it again") == 3
    assert "stale" not in page.read_text(encoding="utf-8")


def fail_as_the_method(cell: Any) -> list[Row]:
    if cell.method:
        raise ValueError("no values")
    return figures(cell)


def test_a_method_of_ones_own_has_tasks_of_its_own(toy_instead: Replace) -> None:
    """The status lists them on request, and a failure names the method."""
    Path("mine.py").write_text("def f(graph, labels):\n    return labels\n", encoding="utf-8")
    toy_instead(fail_as_the_method, compares=True)
    words = ("study.toml", "--method", "mine:f")
    assert counts(wayfield("study", "status", *words).out) == ["all", "0", "6", "0", "0", "0"]
    answer = wayfield("study", *words, "--workers", 1)
    assert re.search(r"seed2-.*-mine:f failed: ValueError: no values \(see results/", answer.err)
    assert counts(wayfield("study", "status", *words).out) == ["all", "3", "0", "3", "0", "0"]
    assert status() == ["3", "0", "0", "0", "0"]


def test_an_interrupt_is_not_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("wayfield_study.engine.run", interrupted)
    answer = wayfield(*RUN)
    assert answer.code == 130
    told = "finished tasks are kept in results: run again to continue\nwayfield: stopped\n"
    assert answer.err.endswith(told)
    assert answer.err.count("stopped") == 1


def test_a_sample_to_start_from() -> None:
    assert wayfield("study", "init", "mine.toml").code == 0
    assert len(find_study("mine.toml").tasks()) == 36
    answer = wayfield("study", "init", "mine.toml")
    assert (answer.code, answer.err) == (2, "wayfield: mine.toml already exists\n")


KNOWN = f"known are {', '.join(STUDIES)}, or give a TOML file"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("study run none.toml", "none.toml"),
        ("study run /dev/zero", "/dev/zero: a study file must have at most 1,048,576 bytes"),
        ("study run study.toml --workers 2 --cluster tcp://a:1", "exclude each other"),
        ("study pointmaze --official --profile quick", "--official and --profile exclude"),
        ("study run study.toml --cluster nonsense", "no Dask scheduler answers at 'nonsense'"),
        ("study run study.toml --workers 0", "--workers"),
        ("study run study.toml --results study.toml", "study.toml"),
        ("study query SELECT", "there are no results in results yet"),
        ("study status", "there are no results in results yet"),
        (
            "study status --profile quick",
            "--profile, --goals and --method need the name of a study",
        ),
        ("study readings", "results lacks results of the design: run wayfield study all"),
        ("report", "there are no results in results yet: wayfield study paper"),
        ("study nonsense", f"unknown study 'nonsense'; {KNOWN}"),
        ("study run nonsense", f"unknown study 'nonsense'; {KNOWN}"),
        ("study status nonsense", f"unknown study 'nonsense'; {KNOWN}"),
        ("study papr", "unknown study 'papr'; did you mean paper?"),
        ("study stat", "there is no study or command 'stat'; did you mean status?"),
        ("study directed --method amle", "no experiment of the study directed compares methods"),
        (
            "study directed --profile huge",
            "the study directed has no profile 'huge'; it has standard, quick",
        ),
        ("study directed --goals 3", "this study has no option for the number of goals"),
    ],
)
def test_errors_are_one_line(words: str, complaint: str) -> None:
    answer = wayfield(*words.split())
    assert (answer.code, answer.out) == (2, "")
    last = answer.err.splitlines()[-1]
    assert last.startswith("wayfield: ")
    assert complaint in last


# ------------------------------------------------------------------- studies by name


def test_the_list_of_studies() -> None:
    answer = wayfield("study", "list")
    assert (answer.code, answer.err) == (0, "")
    words = " ".join(answer.out.split())
    for study in STUDIES.values():
        assert f"{study.name} {study.title}" in words
        assert ", ".join(experiment.name for experiment in study.experiments) in words
        for profile in study.profiles:
            count = len(study.tasks(profile))
            assert f"--profile {profile.name} {count:,} tasks {profile.about}" in words


def test_the_directed_study(in_this_process: None) -> None:
    words = ("study", "directed", "--profile", "quick", "--workers", 1)
    answer = wayfield(*words)
    assert answer.code == 0, answer.err
    assert "6/6 tasks" in answer.err
    assert "tasks run: 6, reused: 0" in answer.out
    assert "report: report/directed/index.html" in answer.out
    assert "reverse Dijkstra" in Path("report/directed/index.html").read_text(encoding="utf-8")
    assert "tasks run: 0, reused: 6" in wayfield(*words).out
    found = wayfield("study", "status", "directed", "--profile", "quick")
    assert counts(found.out) == ["all", "6", "0", "0", "0", "0"]


def test_an_experiment_that_lacks_something(
    in_this_process: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = Experiment("toy", "a toy", 1, figures, cells=lambda _: grid(["umaze"], [2], [0.2], [54]))
    city = dataclasses.replace(toy, name="city", lacks=lambda: "this needs a map")
    for name, some, told in (
        ("both", (toy, city), "city is left out: this needs a map"),
        ("alone", (city,), "wayfield: this needs a map"),
    ):
        study = Study(name, "Two toys", some, (Profile("all", "all of it"),))
        monkeypatch.setitem(experiments.STUDIES, name, study)
        answer = wayfield("study", name, "--workers", 1)
        assert told in answer.err
        assert answer.code == (0 if toy in some else 2)


# ------------------------------------------------------------------- the paper's


def test_reproduce_and_report(
    in_this_process: None, paper_store: Store, monkeypatch: pytest.MonkeyPatch
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
    answer = wayfield("reproduce", "--profile", "quick", "--goals", 2, "--workers", 1)
    assert answer.code == 0, answer.err
    assert f"tasks run: 1, reused: {len(tasks) - 1}" in answer.out
    assert store.path(lost).read_bytes() == paper_store.path(lost).read_bytes()
    page = Path("report/index.html")
    assert "wayfield reproduce --profile quick --goals 2" in page.read_text(encoding="utf-8")
    assert set(written[0]) == {experiment.name for experiment in study.experiments}
    page.unlink()
    store.path(lost).unlink()
    answer = wayfield("report", "--profile", "quick", "--goals", 2)
    assert answer.code == 0, answer.err
    total = sum(task.experiment is lost.experiment for task in tasks)
    assert f"{lost.experiment.name}: 1 of {total} tasks are missing" in answer.err
    assert page.exists()
    found = by_experiment({task: store.look(task).rows for task in tasks})
    assert str(written[1]) == str(found)  # with figures that are not a number


@pytest.mark.parametrize("words", [["reproduce"], ["study", "all"], ["report", "all"]])
@pytest.mark.parametrize("name", ["index.html", "claims.json"])
def test_a_report_spares_files_of_others(words: list[str], name: str) -> None:
    """The paper and what lies beyond it share a report."""
    for out, more in ((Path("mine"), ["--out", "mine"]), (Path("report"), [])):
        out.mkdir()
        (out / name).write_text("mine", encoding="utf-8")
        answer = wayfield(*words, *more)
        assert (answer.code, answer.out) == (2, "")
        told = f"wayfield: {out / name} was not written by wayfield, and stays as it is: write "
        assert answer.err == f"{told}elsewhere, move the file away, or pass --force to replace it\n"
        assert (out / name).read_text(encoding="utf-8") == "mine"
    assert not Path("results").exists()  # said before anything was computed


def test_make_runs_the_paper_and_what_lies_beyond_it() -> None:
    lines = (Path(__file__).parents[3] / "Makefile").read_text(encoding="utf-8").splitlines()
    does = {line.partition(":")[0]: after for line, after in pairwise(lines)}
    assert does["reproduce"] == "\t$(BIN)/wayfield reproduce"
    assert does["evidence"] == "\t$(BIN)/wayfield study all"


def test_where_results_and_reports_lie(toy_instead: Replace) -> None:
    toy_instead(figures)
    words = (*RUN, "--out", "there")
    assert wayfield(*words).code == 0
    assert len(list(Path("there/toy").glob("*.parquet"))) == 3
    assert not Path("results").exists()
    assert "tasks run: 0, reused: 3" in wayfield(*words).out
    assert wayfield("report", "study.toml", "--out", "there").code == 0  # finds them again
    assert "tasks run: 3" in wayfield(*words, "--results", "apart").out
    assert len(list(Path("apart/toy").glob("*.parquet"))) == 3
    wayfield(*RUN)
    assert len(list(Path("results/toy").glob("*.parquet"))) == 3
    answer = wayfield("report", "study.toml", "--out", "another")  # where there are none yet
    assert answer.code == 0, answer.err
    page = Path("another/index.html")
    page.write_text("mine", encoding="utf-8")
    again = ("report", "study.toml", "--out", "another")
    assert "has changed since it was written" in wayfield(*again).err
    assert wayfield(*again, "--force").code == 0
    assert page.read_text(encoding="utf-8") != "mine"


def test_the_status_of_every_study_there_is(
    toy_instead: Replace, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = Experiment("toy", "a toy", 1, figures, lambda profile: grid(["umaze"], [2], [0.2], [1]))
    profiles = (Profile("standard", "all"), Profile("quick", "less"))
    others = Experiment("idle", "idle", 1, figures, lambda _: grid(["umaze"], [2], [0.2], [2]))
    named = {"toys": toy, "idle": others}
    studies = {name: Study(name, name, (each,), profiles) for name, each in named.items()}
    monkeypatch.setattr(experiments, "STUDIES", studies)
    wayfield("study", "run", "toys", "--workers", 1)
    answer = wayfield("study", "status", "--results", "results")
    assert (answer.code, answer.err) == (0, "")
    assert counts(answer.out)[:3] == ["toys", "quick", "1"]
    assert "idle" not in answer.out
    toy_instead(figures)
    wayfield(*RUN)
    told = "3 results belong to other settings or to your own studies: name the file"
    assert told in wayfield("study", "status").err
    assert (
        "tasks in [/]" in wayfield("study", "status", "toys", "--results", "[/]").out
    )  # no markup


def test_the_rank_of_every_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """The best readings, and the one in use wherever it is."""
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
    answer: Answer = wayfield("study", "readings")
    assert answer.code == 0, answer.err
    told = " ".join(answer.out.split())
    assert "12 readings by 2 figures of the paper" in told
    shown = re.findall(r"^[│|] (\d+)", answer.out, re.MULTILINE)
    assert [int(place) for place in shown] == [1, 2, 3, 4, 5, 6, 7, 8, 11]
    assert told.count("(adopted)") == 1
