"""Digests of proofs in a study's rows, and proving a sample of results again."""

from __future__ import annotations

from pathlib import Path

import pytest

from shell import wayfield
from wayfield_study.engine import Store, Task, has_proofs, recheck
from wayfield_study.engine.tasks import as_table
from wayfield_study.experiments import find_study

STUDY = """
[grid]
mazes = ["umaze"]
refinements = [2]
label_fractions = [0.1]
seeds = [54]
goals = 1
experiments = ["rollout"]
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a study and its results: one cell of the main experiment."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "small.toml").write_text(STUDY)
    (task,) = find_study(str(folder / "small.toml")).tasks()
    Store(folder / "results").write(task, as_table(task.cell, task.experiment.run(task.cell)))
    return folder


def only_task(folder: Path) -> Task:
    (task,) = find_study(str(folder / "small.toml")).tasks()
    return task


def test_exact_arms_hold_digests_and_others_none(results: Path) -> None:
    rows = Store(results / "results").look(only_task(results)).rows
    digests = {row["arm"]: row["proof"] for row in rows}
    exact = {arm: digests.pop(arm) for arm in ("harmonic", "amle", "amle_exit")}
    assert all(len(digest) == 64 for digest in exact.values())
    assert exact["amle"] == exact["amle_exit"] != exact["harmonic"]
    assert set(digests.values()) == {""}


def test_results_are_proved_again(results: Path) -> None:
    task = only_task(results)
    rows = Store(results / "results").look(task).rows
    assert has_proofs(rows)
    again = recheck(task, rows)
    assert again.faults == ()
    assert again.proved == 2  # harmonic and AMLE; exit ties walk on the same field
    rows[2]["proof"] = rows[0]["proof"]
    assert recheck(task, rows).faults == ("row 2 holds the digest of another proof",)
    assert len(recheck(task, rows[:-2]).faults) == 3  # with two rows that are missing


def test_the_command_line_verifies_a_sample(results: Path) -> None:
    words = ("study", "verify", str(results / "small.toml"), "--results")
    answer = wayfield(*words, str(results / "results"))
    assert answer.code == 0, answer.err
    assert "2 proved, digests as in the results" in " ".join(answer.out.split())
    nothing = wayfield(*words, str(results))
    assert nothing.code == 2
    assert "no results with proofs" in nothing.err


def test_a_folder_is_verified_for_every_study_of_its_own(tmp_path: Path) -> None:
    empty = wayfield("study", "verify", str(tmp_path))
    assert empty.code == 2
    assert str(tmp_path) in "".join(empty.err.split())
    study = find_study("paper")
    task = next(
        each for each in study.tasks(study.profile("quick")) if each.experiment.name == "rollout"
    )
    Store(tmp_path).write(task, as_table(task.cell, task.experiment.run(task.cell)))
    answer = wayfield("study", "verify", str(tmp_path))
    assert answer.code == 0, answer.err
    assert "digests as in the results" in " ".join(answer.out.split())


def test_neither_a_study_nor_a_folder_is_refused(tmp_path: Path) -> None:
    answer = wayfield("study", "verify", "papre")
    assert answer.code == 2
    assert "unknown study 'papre'" in " ".join(answer.err.split())


def test_a_spoiled_digest_is_found_on_the_command_line(results: Path, tmp_path: Path) -> None:
    task = only_task(results)
    rows = Store(results / "results").look(task).rows
    rows[0]["proof"] = "0" * 64
    Store(tmp_path).write(task, rows)
    study = str(results / "small.toml")
    answer = wayfield("study", "verify", study, "--results", str(tmp_path))
    assert answer.code == 1
    assert "row 0 holds the digest of another proof" in " ".join(answer.out.split())
