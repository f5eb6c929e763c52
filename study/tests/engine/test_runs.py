"""Runs: the same bytes whatever the workers, what is run again, failures, and the display."""

from __future__ import annotations

import json
import os
import random
import time
from collections import Counter
from io import StringIO
from multiprocessing import active_children
from pathlib import Path
from threading import Thread

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
    fail_oddly,
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
    Profile,
    Store,
    Study,
    Task,
    by_experiment,
    run,
)
from wayfield_study.engine.progress import Display
from wayfield_study.engine.tasks import headline
from wayfield_study.experiments import MazeCell


def said(tasks: list[Task], store: Store, **options: bool) -> str:
    """What a run in this process says."""
    out = StringIO()
    run(tasks, store, 0, console=Console(file=out), **options)
    return out.getvalue()


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
    assert run([], stores[0], workers=2).tables == {}


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
    assert f"{store.path(tasks[2])} is damaged: running it again" in said(tasks, store)
    assert sorted(marker.read_text().split()) == ["2", "3"]
    again = run(tasks, store, 0)
    assert (again.reused, again.stale, again.tables) == (4, 0, first.tables)


@pytest.mark.parametrize("workers", [0, 1])
def test_a_failing_task_is_recorded_and_the_rest_goes_on(tmp_path: Path, workers: int) -> None:
    tasks, store = some_tasks(1, BAD_SEED, 2, 3, work=fail_on_bad_seed), Store(tmp_path)
    bad = tasks[1]
    outcome = run(tasks, store, workers)
    assert list(outcome.tables) == [tasks[0], *tasks[2:]]
    assert list(outcome.failed) == [bad]
    kept = store.failure_path(bad)
    assert "Traceback" in kept.read_text()
    assert "RuntimeError: seed 66\nis bad" in kept.read_text()
    assert store.look(bad).condition is Condition.FAILED
    assert f"{bad.key} failed: RuntimeError: seed 66 is bad (see {kept})\n" in said(tasks, store)
    again = run(some_tasks(1, BAD_SEED, 2, 3), store, workers)
    assert (again.reused, len(again.tables)) == (3, 4)
    assert not kept.exists()


def test_whatever_goes_wrong_is_a_failure_of_its_task(tmp_path: Path) -> None:
    good, store = some_tasks(1)[0], Store(tmp_path)
    odd = [Task(Experiment(f"odd{k}", "", 1, work), good.cell)
           for k, work in enumerate((return_odd_rows, fail_oddly))]  # fmt: skip
    outcome = run([*odd, good], store, workers=0)
    assert list(outcome.tables) == [good]
    assert "row 1: figure is float, in row 0 it is int" in outcome.failed[odd[0]]
    assert "ValueError" in store.failure_path(odd[1]).read_text()  # half a surrogate


def test_workers_that_die(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A task that kills its workers fails alone; one that kills the first has a second chance."""
    tasks = some_tasks(1, 2, BAD_SEED, 3, 4, work=die_on_bad_seed)
    outcome = run(tasks, Store(tmp_path / "a"), workers=1)
    died = "its worker process died 3 times, perhaps for lack of memory\n"
    assert outcome.failed == {tasks[2]: died}
    assert len(outcome.tables) == 4
    monkeypatch.setenv(MARKER, str(tmp_path / "died"))
    assert not run(some_tasks(1, BAD_SEED, work=die_once), Store(tmp_path / "b"), workers=1).failed
    assert (tmp_path / "died").exists()
    monkeypatch.setattr("wayfield.numerics.processes._serve", os.getpid)  # takes no argument
    with pytest.raises(wf.errors.WayfieldError, match="die before they are ready"):
        run(some_tasks(1), Store(tmp_path / "c"), workers=1)
    assert not active_children()


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


def test_long_tasks_are_begun_first_and_times_are_kept_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MARKER, str(tmp_path / "runs"))
    sizes, store = {1: 2, 2: 5, 3: 1, 4: 3}, Store(tmp_path)
    slow = toy(slow_figures)
    tasks = [Task(slow, MazeCell("umaze", r, 0.1, seed, 2)) for seed, r in sizes.items()]
    run(tasks, store, workers=0)
    assert (tmp_path / "runs").read_text().split() == ["2", "4", "1", "3"]
    lines = [json.loads(line) for line in store.log_path.read_text().splitlines()]
    assert [line["seed"] for line in lines] == [2, 4, 1, 3]
    with store.log_path.open("a") as log:  # one line is cut short, one is of a later run
        log.write('{"experiment": "toy", "file"\n' + json.dumps(lines[0] | {"seconds": 7.0}) + "\n")
    spent = sum(line["seconds"] for line in lines[1:]) + 7.0
    assert store.computing(tasks) == {"toy": pytest.approx(spent)}


@pytest.mark.parametrize("workers", [0, 1])
def test_cells_and_experiments_of_any_kind(tmp_path: Path, workers: int) -> None:
    """Whatever has columns is a cell; the engine asks for nothing else."""
    tasks = [Task(CAST, Dice(sides)) for sides in (4, 6)]
    tasks += [
        *some_tasks(1),
        Task(Experiment("other", "", 1, other_figures), MazeCell("x", 1, 1, 1)),
    ]
    store = Store(tmp_path)
    tables = by_experiment(run(tasks, store, workers).tables)
    casts = [{"sides": sides, "cast": cast} for sides in (4, 6) for cast in range(1, sides + 1)]
    assert tables["cast"] == casts
    assert (len(tables["toy"]), tables["other"][0]["figure"]) == (2, 1.1)
    assert store.path(tasks[0]).name.startswith("sides4-")
    assert run(tasks, store, workers).reused == 4


def test_two_experiments_of_one_name_would_share_their_results(tmp_path: Path) -> None:
    mine, yours = (Experiment("mine", "", 1, work) for work in (figures, other_figures))
    cell = MazeCell("umaze", 2, 0.1, 54)
    with pytest.raises(wf.InputError, match="two experiments are called 'mine'"):
        run([Task(mine, cell), Task(yours, cell)], Store(tmp_path), workers=0)
    for other in (yours, Experiment("MINE", "", 1, other_figures)):
        with pytest.raises(wf.InputError, match="two experiments are called"):
            Study("both", "", (mine, other), (Profile("all", ""),))
    for name in ("", "../escaped", "a/b", "rollout/../rollout", "x" * 65, "a b"):
        with pytest.raises(wf.InputError, match="an experiment's name must have at most 64"):
            Experiment(name, "no folder", 1, figures)
    with pytest.raises(wf.InputError, match="number of workers must be at least 0, got -1"):
        run([], Store(tmp_path), workers=-1)


# ------------------------------------------------------------------- progress


def test_plain_lines_where_there_is_no_terminal() -> None:
    out = StringIO()
    with Display(Console(file=out), every=0.0) as show:
        show.expect("toy", 2)
        show.expect("other", 1)
        show.recall("toy", figures(MazeCell("umaze", 2, 0.1, 128)))
        show.count("toy", figures(MazeCell("umaze", 2, 0.1, 256)))
        show.count("other", [])
    first, second = out.getvalue().splitlines()
    assert first.startswith("2/3 tasks, ")
    assert first.endswith("; toy 2/2: success harmonic 0.375 · exact 1.000")
    assert second.startswith("3/3 tasks, ")
    assert second.endswith(" 0:00 left; other 1/1")
    with Display(Console(file=(few := StringIO())), every=60.0) as show:
        show.expect("toy", 50)
        for _ in range(50):
            show.count("toy", figures(MazeCell("umaze", 2, 0.1, 256)))
    assert len(few.getvalue().splitlines()) == 1


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


def test_bars_on_a_terminal(tmp_path: Path) -> None:
    out = StringIO()
    console = Console(file=out, force_terminal=True, width=160)
    run(some_tasks(256), Store(tmp_path), 0, console=console)
    with Display(console) as show:
        show.expect("toy", 1)
        show.count("toy", figures(MazeCell("umaze", 2, 0.1, 256)))
        console.print(show.bars)
    assert "1/1 tasks" in out.getvalue()
    assert "success harmonic 0.500 · exact 1.000" in out.getvalue()


def test_the_measure_that_sums_a_table_up() -> None:
    rows = [{"arm": "oracle", "reached": 1, "pairs": 2, "spl": 0.25}]
    assert headline(rows) == ("SPL", {"oracle": 0.25})
    episodes = [{"arm": "a", "arrived": n, "episodes": 4} for n in (1, 2)]
    assert headline(episodes) == ("success", {"a": 0.375})
