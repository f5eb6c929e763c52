from __future__ import annotations

import json
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from io import StringIO
from itertools import starmap
from multiprocessing import active_children
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from rich.console import Console
from study_work import (
    BAD_SEED,
    CAST,
    MARKER,
    Dice,
    be_interrupted,
    count_threads,
    die_on_bad_seed,
    die_once,
    fail_on_bad_seed,
    figures,
    files,
    other_figures,
    return_odd_rows,
    slow_figures,
    some_tasks,
    toy,
)

import wayfield as wf
from wayfield_study.engine import (
    Condition,
    Experiment,
    Store,
    Task,
    by_experiment,
    run,
    runner,
)
from wayfield_study.engine.progress import Display
from wayfield_study.engine.tasks import headline
from wayfield_study.experiments import MazeCell

SMALL = MazeCell("umaze", 3, 0.1, 54, goals=4)


# ------------------------------------------------------------------- runner


def test_same_bytes_whatever_the_workers_and_the_order(tmp_path: Path) -> None:
    tasks = some_tasks(*range(12))
    shuffled = random.Random(0).sample(tasks, len(tasks))
    stores = [Store(tmp_path / name) for name in ("none", "one", "two")]
    orders = (tasks, tasks[::-1], shuffled)
    outcomes = [
        run(order, store, workers)
        for workers, (order, store) in enumerate(zip(orders, stores, strict=True))
    ]
    assert len(files(stores[0])) == 12
    for store, outcome in zip(stores, outcomes, strict=True):
        assert files(store) == files(stores[0])
        assert outcome.tables == outcomes[0].tables
    assert list(outcomes[2].tables) == shuffled


def test_only_what_is_missing_damaged_or_stale_runs_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker, store = tmp_path / "runs", Store(tmp_path / "results")
    monkeypatch.setenv(MARKER, str(marker))
    tasks = some_tasks(1, 2, 3, 4, work=slow_figures)
    (older,) = some_tasks(4, work=slow_figures, version=0)
    store.write(older, [{"seed": 4}])
    first = run(tasks, store, 0)
    assert (first.reused, first.stale, len(first.tables)) == (0, 1, 4)
    store.path(tasks[1]).unlink()
    store.path(tasks[2]).write_bytes(b"half a fi")
    marker.unlink()
    with (tmp_path / "log").open("w+") as log:
        second = run(tasks, store, 0, console=Console(file=log))
        log.seek(0)
        text = log.read()
    assert f"{store.path(tasks[2])} is damaged: running it again" in text
    assert sorted(marker.read_text().split()) == ["2", "3"]
    assert (second.reused, second.stale) == (2, 0)
    assert second.tables == first.tables


@pytest.mark.parametrize("workers", [0, 1])
def test_a_failing_task_is_recorded_and_the_rest_goes_on(tmp_path: Path, workers: int) -> None:
    tasks, store = some_tasks(1, BAD_SEED, 2, 3, work=fail_on_bad_seed), Store(tmp_path)
    bad = tasks[1]
    outcome = run(tasks, store, workers)
    assert list(outcome.tables) == [tasks[0], *tasks[2:]]
    assert list(outcome.failed) == [bad]
    assert "RuntimeError: seed 66 is bad" in store.failure_path(bad).read_text()
    assert store.look(bad).condition is Condition.FAILED
    again = run(some_tasks(1, BAD_SEED, 2, 3), store, workers)
    assert (again.reused, len(again.tables)) == (3, 4)
    assert not store.failure_path(bad).exists()


def test_rows_that_make_no_table_are_a_failure(tmp_path: Path) -> None:
    (task,) = some_tasks(1, work=return_odd_rows)
    outcome = run([task], Store(tmp_path), 1)
    assert "row 1: figure is float, in row 0 it is int" in outcome.failed[task]


def test_a_task_that_kills_its_workers_fails_alone(tmp_path: Path) -> None:
    tasks = some_tasks(1, 2, BAD_SEED, 3, 4, work=die_on_bad_seed)
    outcome = run(tasks, Store(tmp_path), workers=1)
    assert outcome.failed == {
        tasks[2]: "its worker process died 3 times, perhaps for lack of memory\n"
    }
    assert len(outcome.tables) == 4


def test_a_second_chance_suffices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MARKER, str(tmp_path / "died"))
    tasks = some_tasks(1, BAD_SEED, work=die_once)
    outcome = run(tasks, Store(tmp_path), workers=1)
    assert not outcome.failed
    assert (tmp_path / "died").exists()


def test_workers_may_be_killed_at_any_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MARKER, str(tmp_path / "runs"))
    tasks, rng = some_tasks(*range(25), work=slow_figures), random.Random(1)
    killed = 0

    def kill_now_and_then() -> None:
        nonlocal killed
        for _ in range(3):
            time.sleep(rng.uniform(0.1, 0.8))
            for process in rng.sample(found := active_children(), min(1, len(found))):
                process.kill()
                killed += 1

    killer = Thread(target=kill_now_and_then)
    killer.start()
    outcome = run(tasks, Store(tmp_path), workers=2)
    killer.join()
    assert killed
    assert not outcome.failed
    assert list(outcome.tables) == tasks
    runs = Counter((tmp_path / "runs").read_text().split())
    assert sum(runs.values()) <= len(tasks) + killed
    assert not active_children()


def test_workers_that_cannot_start_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wayfield.numerics.processes._serve", os.getpid)  # takes no argument
    with pytest.raises(wf.errors.WayfieldError, match="die before they are ready"):
        run(some_tasks(1), Store(tmp_path), workers=1)
    assert not active_children()


def test_an_interrupt_leaves_what_is_done(tmp_path: Path) -> None:
    tasks, store = some_tasks(1, 2, BAD_SEED, 3, work=be_interrupted), Store(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run(tasks, store, workers=0)
    conditions = [store.look(task).condition.value for task in tasks]
    assert conditions == ["done", "done", "missing", "missing"]


def test_workers_use_one_thread_and_the_environment_is_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    outcome = run(some_tasks(1, work=count_threads), Store(tmp_path), workers=1)
    ((row,),) = outcome.tables.values()
    assert row["threads"] == 1
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ


def test_long_tasks_are_begun_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MARKER, str(tmp_path / "runs"))
    sizes = {1: 2, 2: 5, 3: 1, 4: 3}
    slow = toy(slow_figures)
    tasks = [Task(slow, MazeCell("umaze", r, 0.1, seed, 2)) for seed, r in sizes.items()]
    run(tasks, Store(tmp_path), workers=0)
    assert (tmp_path / "runs").read_text().split() == ["2", "4", "1", "3"]


def test_several_experiments_have_tables_of_their_own(tmp_path: Path) -> None:
    (task,) = some_tasks(1)
    tasks = [task, Task(Experiment("other", "another", 1, other_figures), task.cell)]
    outcome = run(tasks, Store(tmp_path), 0)
    tables = by_experiment(outcome.tables)
    assert {name: len(rows) for name, rows in tables.items()} == {"toy": 2, "other": 1}
    assert tables["other"][0]["figure"] == 1.1


def test_times_are_kept_apart(tmp_path: Path) -> None:
    store, tasks = Store(tmp_path), some_tasks(1, 2)
    run(tasks, store, 0)
    lines = [json.loads(line) for line in store.log_path.read_text().splitlines()]
    assert [line["seed"] for line in lines] == [1, 2]
    assert all(line["seconds"] >= 0 for line in lines)
    store.log(tasks[0], 3.0)  # run again: the last time counts
    with store.log_path.open("a") as log:
        log.write('{"experiment": "toy", "fi')
    assert store.computing(tasks) == {"toy": pytest.approx(3.0 + lines[1]["seconds"])}
    assert Store(tmp_path / "none").computing(tasks) == {"toy": 0.0}


def test_number_of_workers(tmp_path: Path) -> None:
    with pytest.raises(wf.InputError, match="workers must be at least 0, got -1"):
        run([], Store(tmp_path), workers=-1)


def test_as_many_workers_as_processors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def note(
        work: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], count: int
    ) -> Iterator[tuple[int, Any]]:
        asked.append(count)
        yield from enumerate(starmap(work, tasks))

    monkeypatch.setattr(runner, "in_processes", note)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(13)), raising=False)
    run(some_tasks(1), Store(tmp_path / "default"))
    run(some_tasks(1), Store(tmp_path / "two"), workers=2)
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    run(some_tasks(1), Store(tmp_path / "elsewhere"))
    assert asked == [13, 2, 5]


@pytest.mark.parametrize("workers", [0, 1])
def test_a_cell_of_ones_own_kind(tmp_path: Path, workers: int) -> None:
    """Whatever has columns and a draw is a cell; the engine asks for nothing else."""
    tasks = [Task(CAST, Dice(sides)) for sides in (4, 6)]
    store = Store(tmp_path)
    outcome = run(tasks, store, workers)
    assert list(outcome.tables.values()) == [
        [{"sides": sides, "cast": cast} for cast in range(1, sides + 1)] for sides in (4, 6)
    ]
    assert store.path(tasks[0]).name.startswith("sides4-")
    assert run(tasks, store, workers).reused == 2


def test_nothing_to_do(tmp_path: Path) -> None:
    outcome = run([], Store(tmp_path), workers=2)
    assert (outcome.tables, outcome.failed, outcome.reused) == ({}, {}, 0)


# ------------------------------------------------------------------- progress


def test_plain_lines_where_there_is_no_terminal(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w+") as log:
        with Display(Console(file=log), every=0.0) as show:
            show.expect("toy", 2)
            show.expect("other", 1)
            show.recall("toy", figures(MazeCell("umaze", 2, 0.1, 128)))
            show.count("toy", figures(MazeCell("umaze", 2, 0.1, 256)))
            show.count("other", [])
        log.seek(0)
        first, second = log.read().splitlines()
    assert first.startswith("2/3 tasks, ")
    assert first.endswith("; toy 2/2: success harmonic 0.375 · exact 1.000")
    assert second.startswith("3/3 tasks, ")
    assert second.endswith(" 0:00 left; other 1/1")


def test_progress_shows_the_measure_of_the_final_table() -> None:
    rows = [{"arm": "oracle", "reached": 1, "pairs": 2, "spl": 0.25}]
    assert headline(rows) == ("SPL", {"oracle": 0.25})
    out = StringIO()
    with Display(Console(file=out), every=0.0) as show:
        show.expect("toy", 1)
        show.count("toy", rows)
    assert out.getvalue().endswith("; toy 1/1: SPL oracle 0.250\n")


def test_lines_are_not_too_many(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w+") as log:
        with Display(Console(file=log), every=60.0) as show:
            show.expect("toy", 50)
            for _ in range(50):
                show.count("toy", figures(SMALL))
        log.seek(0)
        assert len(log.read().splitlines()) == 1


def test_time_left_goes_by_what_an_experiments_tasks_took(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    show = Display(Console(quiet=True))
    show.expect("toy", 3, work=10.0)
    show.expect("other", 2, work=4.0)
    assert show.pace == "0/5 tasks"
    now = 30.0
    show.count("toy", [], work=2.0)
    assert show.pace == "1/5 tasks, 2.0/min, 3:00 left"  # 12 units of work at 15 s each
    show.count("toy", [], work=4.0, seconds=30.0)  # by another worker, at the same time
    assert show.pace == "2/5 tasks, 4.0/min, 0:40 left"  # 8 units at 10 s each, two at a time
    now = 50.0
    show.count("other", [], work=2.0, seconds=40.0)
    assert show.pace == "3/5 tasks, 3.6/min, 0:40 left"  # 4 at 10 s and 2 at 20 s


def test_live_table_on_a_terminal(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w+") as log:
        console = Console(file=log, force_terminal=True, width=160)
        run(some_tasks(256), Store(tmp_path / "r"), 0, console=console)
        with Display(console) as show:
            show.expect("toy", 1)
            show.count("toy", figures(MazeCell("umaze", 2, 0.1, 256)))
            console.print(show._render())
        log.seek(0)
        text = log.read()
    assert "1/1 tasks" in text
    assert "success harmonic 0.500 · exact 1.000" in text
