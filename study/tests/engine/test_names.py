"""Names of experiments and rows that cannot be kept: refused where they arise."""

from __future__ import annotations

from pathlib import Path

import pytest
from study_work import figures, other_figures, some_tasks

import wayfield as wf
from wayfield_study.engine import Condition, Experiment, Profile, Row, Store, Study, Task, run
from wayfield_study.engine.tasks import as_table
from wayfield_study.experiments import MazeCell

CELL = MazeCell("umaze", 2, 0.1, 54)


@pytest.mark.parametrize("name", ["", "../escaped", "a/b", "rollout/../rollout", "x" * 65, "a b"])
def test_a_name_that_is_no_folder(name: str) -> None:
    with pytest.raises(wf.InputError, match="an experiment's name must have at most 64 letters"):
        Experiment(name, "odd", 1, figures)


def test_two_experiments_of_one_name_would_share_their_results(tmp_path: Path) -> None:
    mine, yours = (Experiment("mine", "", 1, work) for work in (figures, other_figures))
    shouted = Experiment("MINE", "", 1, other_figures)
    with pytest.raises(wf.InputError, match="two experiments are called 'mine'"):
        run([Task(mine, CELL), Task(yours, CELL)], Store(tmp_path), workers=0)
    for other in (yours, shouted):
        with pytest.raises(wf.InputError, match="two experiments are called"):
            Study("both", "", (mine, other), (Profile("all", ""),))


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (2**70, "must fit into 64 bits"),
        (-(2**64), "must fit into 64 bits"),
        ("\udcff", "must be valid text"),
    ],
)
def test_what_no_file_can_hold(value: object, reason: str) -> None:
    with pytest.raises(wf.InputError, match=reason):
        as_table(CELL, [{"odd": value}])


def test_rows_are_a_list() -> None:
    with pytest.raises(wf.InputError, match="must return a list of rows, got generator"):
        as_table(CELL, (row for row in [{"x": 1}]))  # type: ignore[arg-type]


def fail_oddly(cell: MazeCell) -> list[Row]:
    raise ValueError("\udcff")


def test_a_failure_is_kept_whatever_it_says(tmp_path: Path) -> None:
    odd, good = Experiment("odd", "", 1, fail_oddly), some_tasks(54)[0]
    store = Store(tmp_path)
    outcome = run([Task(odd, CELL), good], store, workers=0)
    assert list(outcome.tables) == [good]
    assert store.look(Task(odd, CELL)).condition is Condition.FAILED
    assert "ValueError" in store.failure_path(Task(odd, CELL)).read_text()
