"""The study on a Dask cluster: a real scheduler and real workers, on loopback."""

from __future__ import annotations

import re
import socket
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest
from rich.console import Console
from study_work import (
    BAD_SEED,
    MARKER,
    die_on_bad_seed,
    fail_on_bad_seed,
    files,
    slow_figures,
    some_tasks,
)

from dask_cluster import LONGEST, Dask
from wayfield.errors import WayfieldError
from wayfield_study.engine import Store, run, runner
from wayfield_study.engine.freshness import source, versions
from wayfield_study.engine.runner import attempt_alike

pytest.importorskip("distributed")


def when(happened: Callable[[], object], act: Callable[[], object]) -> Thread:
    """Start a thread that waits until something has happened, and then acts."""

    def watch() -> None:
        deadline = time.monotonic() + LONGEST
        while not happened() and time.monotonic() < deadline:
            time.sleep(0.01)
        act()

    thread = Thread(target=watch)
    thread.start()
    return thread


def test_workers_come_late_and_die_and_then_the_scheduler_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One cluster for all of it: every process of Dask takes seconds to start."""
    with closing(Dask(tmp_path, **{MARKER: str(tmp_path / "begun")})) as dask:
        come_late_and_fail(dask, tmp_path, monkeypatch)
        lose_a_worker(dask, tmp_path)
        lose_the_scheduler(dask, tmp_path)


def come_late_and_fail(dask: Dask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers may come late, and failures come back."""
    log, store = tmp_path / "notes", Store(tmp_path / "late")
    tasks = some_tasks(1, BAD_SEED, 2, work=fail_on_bad_seed)
    log.touch()
    late = when(lambda: "has no workers" in log.read_text(), dask.add_worker)
    with monkeypatch.context() as hasty, log.open("w", buffering=1) as file:
        hasty.setattr(runner, "SILENCE", 0.2)
        outcome = run(tasks, store, 2, dask.address, Console(file=file))
    late.join(LONGEST)
    assert "has no workers: waiting for some" in log.read_text()
    assert list(outcome.failed) == [tasks[1]]
    assert "RuntimeError: seed 66\nis bad" in store.failure_path(tasks[1]).read_text()
    assert len(outcome.tables) == 2
    with runner.dask_client(dask.address) as client:
        (worker,) = client.nthreads()
    with pytest.raises(WayfieldError, match=f"{worker} is not a Dask scheduler but a worker"):
        run(tasks, store, cluster=worker)


def lose_a_worker(dask: Dask, tmp_path: Path) -> None:
    """A worker that is killed in mid-run costs nothing."""
    victim = dask.processes[-1]  # it has begun by now, the other comes while it works
    dask.add_worker()
    tasks, store = some_tasks(*range(30), work=slow_figures), Store(tmp_path / "cluster")
    killed_at: list[int] = []

    def kill() -> None:
        victim.kill()
        killed_at.append(len(files(store)))

    killer = when(lambda: len(files(store)) >= 5, kill)
    outcome = run(tasks, store, cluster=dask.address)
    killer.join(LONGEST)
    assert 0 < killed_at[0] < len(tasks)
    assert not outcome.failed
    assert list(outcome.tables) == tasks
    local = Store(tmp_path / "local")
    run(some_tasks(*range(30)), local, workers=0)
    assert files(store) == files(local)
    again = run(tasks, store, cluster=dask.address)
    assert again.reused == len(tasks)


def lose_the_scheduler(dask: Dask, tmp_path: Path) -> None:
    """A scheduler that is lost is reported in one line."""
    store = Store(tmp_path / "lost")
    killer = when(lambda: files(store), dask.scheduler.kill)
    with pytest.raises(WayfieldError, match=r"lost the scheduler at tcp://127.0.0.1"):
        run(some_tasks(*range(30), work=slow_figures), store, cluster=dask.address)
    killer.join(LONGEST)
    assert 0 < len(files(store)) < 30


def test_a_task_that_kills_its_workers_fails(tmp_path: Path) -> None:
    (task,), store = some_tasks(BAD_SEED, work=die_on_bad_seed), Store(tmp_path / "results")
    with closing(Dask(tmp_path, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")) as dask:
        dask.add_worker()
        outcome = run([task], store, cluster=dask.address)
    assert "KilledWorker" in outcome.failed[task]


@pytest.mark.parametrize("name", ["numpy", "kernels"])
def test_a_worker_of_another_kind_does_nothing(name: str) -> None:
    """Neither with other packages nor with other code of ours."""
    (task,) = some_tasks(1)
    order = task.experiment.run, task.cell
    ours = versions() | source()
    told = f"a worker has {name} {ours[name]}, here it is 9.0: install the same version there"
    with pytest.raises(WayfieldError, match=re.escape(told)):
        attempt_alike(ours | {name: "9.0"}, *order)
    assert attempt_alike(ours, *order).rows[0]["reached"] == 1


# ------------------------------------------------------------------- nobody there


def test_nobody_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "CONNECT", 0.5)
    with socket.socket() as taken:  # bound, but nobody listens
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(WayfieldError, match=f"no Dask scheduler answers at '{address}'"):
            run(some_tasks(1), Store(tmp_path), cluster=address)


def test_an_address_that_makes_no_sense(tmp_path: Path) -> None:
    with pytest.raises(WayfieldError, match=r"answers at 'nonsense' \(missing port number"):
        run(some_tasks(1), Store(tmp_path), cluster="nonsense")


def test_somebody_else_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "CONNECT", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            visitor, _ = server.accept()
            with visitor:
                visitor.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 4)

        Thread(target=answer, daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(WayfieldError, match="no Dask scheduler answers"):
            run(some_tasks(1), Store(tmp_path), cluster=address)


def test_without_dask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(WayfieldError, match=r"pip install '\.\[dask\]'"):
        run(some_tasks(1), Store(tmp_path), cluster="tcp://127.0.0.1:1")
