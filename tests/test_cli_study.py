from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from wayfield.study.experiments import EXPERIMENTS, profile

from study_work import BAD_SEED, fail_on_bad_seed, figures
from wayfield import cli, report
from wayfield.study import Cell, Experiment, Row, Store, by_experiment
from wayfield.study.config import load_config

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


@pytest.fixture
def replace_rollouts(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Put another experiment in the place of the rollouts."""

    def replace(work: Callable[[Cell], list[Row]]) -> None:
        monkeypatch.setitem(EXPERIMENTS, "rollout", Experiment("rollout", "a toy", 1, work))

    return replace


def counts(table: str) -> list[str]:
    """The words of the last line of a table but its frame."""
    lines = [line for line in table.splitlines() if "│" in line]
    return lines[-1].replace("│", " ").split()


# ------------------------------------------------------------------- one's own study


def test_a_study_of_ones_own(command: Command) -> None:
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


def test_failing_tasks_are_said(command: Command, replace_rollouts: Callable[[Any], None]) -> None:
    replace_rollouts(fail_on_bad_seed)
    answer = command("study", "run", "study.toml", "--workers", 1)
    assert answer.code == 1
    assert "rollout umaze-r02-lf0.200-s66-g2 failed: RuntimeError: seed 66 is bad" in answer.err
    assert "1 tasks failed; their tracebacks are in results" in answer.err
    assert counts(command("study", "status", "study.toml").out) == ["all", "2", "0", "1", "0", "0"]
    replace_rollouts(figures)
    assert "tasks run: 1, reused: 2" in command("study", "run", "study.toml", "--workers", 1).out


def test_when_all_tasks_fail(command: Command, replace_rollouts: Callable[[Any], None]) -> None:
    replace_rollouts(fail_on_bad_seed)
    text = CONFIG.replace("[1, 2, 66]", f"[{BAD_SEED}]")
    Path("study.toml").write_text(text, encoding="utf-8")
    answer = command("study", "run", "study.toml", "--workers", 1)
    assert answer.code == 2
    assert "all 1 tasks failed; their tracebacks are in results" in answer.err


def test_damaged_and_stale_results_are_said(
    command: Command, replace_rollouts: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_rollouts(figures)
    command("study", "run", "study.toml", "--workers", 1)
    first, *_ = load_config(Path("study.toml"))
    path = Store(Path("results")).path(first)
    path.write_bytes(path.read_bytes()[:-9])
    answer = command("study", "status", "study.toml")
    assert counts(answer.out) == ["all", "2", "0", "0", "0", "1"]
    assert answer.err == f"{path} is damaged\n"
    monkeypatch.setitem(EXPERIMENTS, "rollout", Experiment("rollout", "a toy", 2, figures))
    answer = command("study", "status", "study.toml")
    assert counts(answer.out) == ["all", "0", "0", "0", "2", "1"]
    assert "is of version 1 of the experiment, now 2" in answer.err


def test_an_interrupt_is_not_an_error(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("wayfield.study.run", interrupted)
    answer = command("study", "run", "study.toml")
    assert answer.code == 130
    assert "what is finished is kept in results, run again to go on" in answer.err


def test_a_sample_to_start_from(command: Command) -> None:
    assert command("study", "init", "mine.toml").code == 0
    assert len(load_config(Path("mine.toml"))) == 36
    answer = command("study", "init", "mine.toml")
    assert (answer.code, answer.err) == (2, "wayfield: mine.toml is there already\n")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["run", "none.toml"], "none.toml"),
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


# ------------------------------------------------------------------- the paper's


def test_reproduce_and_report(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[dict[str, list[Row]]] = []
    really_write = report.write_report

    def write(tables: dict[str, list[Row]], out: Path, provenance: object) -> Path:
        written.append(tables)
        return really_write(tables, out, provenance)

    monkeypatch.setattr("wayfield.report.write_report", write)
    tasks, store = profile("quick", 2), Store(Path("results"))
    answer = command("reproduce", "--profile", "quick", "--goals", 2, "--workers", 2)
    assert answer.code == 0, answer.err
    assert f"tasks run: {len(tasks)}, reused: 0" in answer.out
    page = Path("report/index.html")
    assert "wayfield reproduce --profile quick --goals 2" in page.read_text(encoding="utf-8")
    assert set(written[0]) == set(EXPERIMENTS)
    page.unlink()
    lost = tasks[0]
    store.path(lost).unlink()
    answer = command("report", "--profile", "quick", "--goals", 2)
    assert answer.code == 0, answer.err
    total = sum(task.experiment == lost.experiment for task in tasks)
    assert f"{lost.experiment}: 1 of {total} tasks are missing" in answer.err
    assert page.exists()
    found = by_experiment({task: store.look(task, 1).rows for task in tasks})
    assert written[1] == found


def test_a_report_of_nothing(command: Command) -> None:
    answer = command("report")
    assert answer.code == 2
    assert "there are no results in results yet: wayfield reproduce" in answer.err
