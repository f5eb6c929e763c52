"""Digests of proofs in a study's rows, and proving a sample of results again."""

from __future__ import annotations

from pathlib import Path

import pytest

from shell import wayfield
from wayfield_study.engine import Row, Store, Task, has_proofs, recheck
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
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with one cell of the main experiment."""
    path = tmp_path_factory.mktemp("study") / "small.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture(scope="module")
def task(study: Path) -> Task:
    (task,) = find_study(str(study)).tasks()
    return task


@pytest.fixture(scope="module")
def rows(task: Task) -> list[Row]:
    return as_table(task.cell, task.experiment.run(task.cell))


def test_exact_arms_hold_digests_and_others_none(rows: list[Row]) -> None:
    digests = {row["arm"]: row["proof"] for row in rows}
    exact = {arm: digests.pop(arm) for arm in ("harmonic", "amle", "amle_exit")}
    assert all(len(digest) == 64 for digest in exact.values())
    assert exact["amle"] == exact["amle_exit"] != exact["harmonic"]
    assert set(digests.values()) == {""}


def test_results_are_proved_again(task: Task, rows: list[Row]) -> None:
    assert has_proofs(rows)
    again = recheck(task, rows)
    assert (again.proved, again.faults) == (2, ())  # exit ties walk on the same field
    spoiled = [*rows[:2], rows[2] | {"proof": rows[0]["proof"]}, *rows[3:]]
    assert recheck(task, spoiled).faults == ("row 2 holds the digest of another proof",)
    assert len(recheck(task, rows[:-2]).faults) == 2  # rows that are missing


def test_the_command_line_verifies_a_sample(
    study: Path, task: Task, rows: list[Row], tmp_path: Path
) -> None:
    good, bad = Store(tmp_path / "good"), Store(tmp_path / "bad")
    good.write(task, rows)
    bad.write(task, [rows[0] | {"proof": "0" * 64}, *rows[1:]])
    quick = find_study("paper")
    other = next(each for each in quick.tasks(quick.profile("quick")) if each.cell != task.cell)
    found = Store(tmp_path / "folder")
    found.write(other, as_table(other.cell, other.experiment.run(other.cell)))
    named = (str(study), "--results")
    for words, code, told in (
        ([*named, good.directory], 0, "2 proved, digests as in the results"),
        ([*named, bad.directory], 1, "row 0 holds the digest of another proof"),
        ([found.directory], 0, "digests as in the results"),  # every study that has any there
        ([*named, study.parent], 2, "no results with proofs"),
        (["papre"], 2, "unknown study 'papre'"),
    ):
        answer = wayfield("study", "verify", *map(str, words))
        assert answer.code == code, answer
        assert told in " ".join((answer.out + answer.err).split())
