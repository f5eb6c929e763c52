"""Run tasks, keep each result as it arrives, and resume where a run ended.

Tasks already in the store are not run again. Each worker has one task at a time and its rows are
kept at once, so a run killed at any moment loses the tasks in flight and nothing else. A task that
fails is recorded with its traceback and the rest goes on.

`pools` does the work, in processes or on a Dask cluster. A process that dies
costs the task it had, which is tried again. Nothing is installed on the workers of a cluster: they
must have the same versions of wayfield and of what it computes with, or figures would not be ours
bit for bit.
"""

from __future__ import annotations

import platform
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import metadata
from typing import Any

from rich.console import Console

from wayfield.errors import InputError, WayfieldError
from wayfield.numerics.workers import num_processors

from .freshness import source, versions
from .pools import TRIES, in_processes, on_cluster
from .progress import Display
from .store import Condition, Entry, Store
from .tasks import Cell, Row, Task, as_table, refuse_namesakes

_NOTED = 5
"""Files of one kind that are named one by one; the rest are counted."""


@dataclass(frozen=True)
class Attempt:
    """How a task ended.

    Attributes
    ----------
    rows : list of Row
        The table, the cell's settings in front; empty if the task failed.
    failure : str
        The traceback; empty if it did not fail.
    seconds : float
        How long it took.
    """

    rows: list[Row]
    failure: str
    seconds: float


@dataclass(frozen=True)
class Run:
    """Result of a run.

    Attributes
    ----------
    tables : dict
        Rows of every task that is done, now or before, in the order asked for.
    failed : dict
        Traceback of every task that failed.
    reused, stale : int
        Tasks found in the store; files found out of date, their tasks run again.
    accepted : dict
        Stale results that were used all the same, on request: what has changed since.
    seconds : float
        Wall-clock time of this run.
    """

    tables: dict[Task, list[Row]]
    failed: dict[Task, str] = field(default_factory=dict)
    reused: int = 0
    stale: int = 0
    accepted: dict[Task, str] = field(default_factory=dict)
    seconds: float = 0.0


def run(
    tasks: Sequence[Task],
    store: Store,
    workers: int | None = None,
    cluster: str | None = None,
    console: Console | None = None,
    *,
    accept_stale: bool = False,
) -> Run:
    """Run the tasks that the store does not have, and return the tables of all.

    Parameters
    ----------
    tasks : sequence of Task
        What to run; the order does not matter for the results.
    store : Store
        Where results are looked up and kept.
    workers : int, optional
        Processes; 0 runs the tasks in this one. As many as there are processors if not given.
    cluster : str, optional
        Address of a Dask scheduler, such as ``"tcp://10.0.0.1:8786"``; its workers then do the
        work, and `workers` does not count.
    console : rich Console, optional
        Console for the progress display; by default nothing is shown.
    accept_stale : bool
        Whether to use results that other code or other packages computed; else those tasks are
        run again.

    Raises
    ------
    KeyboardInterrupt
        At Ctrl-C; what was finished is in the store.
    """
    if workers is not None and workers < 0:
        raise InputError(f"the number of workers must be at least 0, got {workers}")
    refuse_namesakes(task.experiment for task in tasks)
    began = time.perf_counter()
    with store.opened(), Display(console or Console(quiet=True)) as show:
        entries = look_up(list(dict.fromkeys(tasks)), store)
        found = what_is_there(entries, accept_stale)
        todo = [task for task in entries if task not in found.tables]
        todo.sort(key=lambda task: task.effort, reverse=True)  # long tasks first
        # tell the display what is done and what is still to do
        noted = [
            each.note for task, each in entries.items() if each.note and task not in found.tables
        ]
        for note in noted[:_NOTED]:
            show.note(f"{note}: running it again")
        if len(noted) > _NOTED:
            show.note(f"… and {len(noted) - _NOTED:,} more that are stale or damaged")
        if found.accepted:
            show.note(f"{len(found.accepted):,} stale results are used as they are")
        work: defaultdict[str, float] = defaultdict(float)
        for task in todo:
            work[task.experiment.name] += task.effort
        for name, count in Counter(task.experiment.name for task in entries).items():
            show.expect(name, count, work[name])
        for task, rows in found.tables.items():
            show.recall(task.experiment.name, rows)
        tables, failed = dict(found.tables), dict[Task, str]()
        with closing(_attempts(todo, workers, cluster, show)) as attempts:
            for task, ended in attempts:
                if ended.failure:
                    failed[task] = ended.failure
                    store.write_failure(task, ended.failure)
                    show.note(f"{task.key} failed: {ended.failure.strip().splitlines()[-1]}")
                else:
                    tables[task] = task.experiment.to_report(ended.rows)
                    store.write(task, ended.rows)
                    store.log(task, ended.seconds)
                show.count(task.experiment.name, ended.rows, task.effort, ended.seconds)
    tables = {task: tables[task] for task in entries if task in tables}  # in the order asked for
    return replace(found, tables=tables, failed=failed, seconds=time.perf_counter() - began)


def look_up(tasks: Sequence[Task], store: Store) -> dict[Task, Entry]:
    """Return the store's entry for every task, in the order given."""
    return {task: store.look(task) for task in tasks}


def what_is_there(entries: Mapping[Task, Entry], accept_stale: bool = False) -> Run:
    """Return the usable entries: those that are done and, on request, stale ones."""
    accepted = {
        task: entry.changed
        for task, entry in entries.items()
        if accept_stale and entry.condition is Condition.STALE and entry.rows
    }
    conditions = Counter(entry.condition for entry in entries.values())
    return Run(
        {
            task: entry.rows
            for task, entry in entries.items()
            if entry.condition is Condition.DONE or task in accepted
        },
        reused=conditions[Condition.DONE] + len(accepted),
        stale=conditions[Condition.STALE] - len(accepted),
        accepted=accepted,
    )


def _attempts(
    tasks: Sequence[Task], workers: int | None, cluster: str | None, show: Display
) -> Generator[tuple[Task, Attempt]]:
    """Yield each task's result as it ends: run here, in processes, or on a cluster."""
    orders = [(task.experiment.run, task.cell) for task in tasks]  # the experiments stay here
    if cluster is not None:
        work = partial(attempt_alike, versions() | source())
        for position, ended in on_cluster(work, orders, cluster, show.note, check_versions):
            if isinstance(ended, BaseException):
                ended = Attempt([], f"its worker failed: {ended!r}\n", 0.0)
            yield tasks[position], ended
    elif count := num_processors() if workers is None else workers:
        for position, ended in in_processes(attempt, orders, count):
            died = Attempt(
                [], f"its worker process died {TRIES} times, perhaps for lack of memory\n", 0.0
            )
            yield tasks[position], ended or died
    else:
        for task, order in zip(tasks, orders, strict=True):
            yield task, attempt(*order)


def attempt(run: Callable[[Any], list[Row]], cell: Cell) -> Attempt:
    """Run one task; if it raises, keep the traceback."""
    began = time.perf_counter()
    try:
        rows = as_table(cell, run(cell))
    except (Exception, SystemExit):
        return Attempt([], traceback.format_exc(), time.perf_counter() - began)
    return Attempt(rows, "", time.perf_counter() - began)


def attempt_alike(
    expected: Mapping[str, str], run: Callable[[Any], list[Row]], cell: Cell
) -> Attempt:
    """Run one task on a worker of a cluster, unless its versions differ from those expected.

    It may have joined after the others were checked.
    """
    for name, found in (versions() | source()).items():
        if found != expected.get(name):
            return Attempt([], f"its worker has {name} {found}, not {expected.get(name)}\n", 0.0)
    return attempt(run, cell)


def check_versions(client: Any) -> None:
    """Raise if a worker of a cluster has other versions.

    The check uses nothing of wayfield, which may be missing there.
    """
    for name in versions():
        asked = (platform.python_version,) if name == "python" else (metadata.version, name)
        ours = asked[0](*asked[1:])
        for worker, answer in client.run(*asked, on_error="return").items():
            missing = isinstance(answer, metadata.PackageNotFoundError)
            theirs = "missing" if missing else answer
            if isinstance(theirs, str) and theirs != ours:  # otherwise the worker has just left
                found = f"the worker at {worker} has {name} {theirs}"
                raise WayfieldError(f"{found}, here it is {ours}: install the same version there")
