"""Run tasks, keep each result as it comes, and pick up where a run ended.

Tasks already in the store are not run again. Each worker has one task at a time and its rows are
kept at once, so a run killed at any moment loses the tasks in flight and nothing else. A task that
fails is recorded with its traceback and the rest goes on.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from rich.console import Console

from wayfield.errors import InputError

from .cluster import on_cluster
from .pools import Attempt, Attempts, in_processes, in_this_process, processors
from .progress import Display
from .store import Condition, Entry, Store
from .studies import refuse_namesakes
from .tasks import Row, Task

_NOTED = 5
"""Files of one kind that are named one by one; the rest are counted."""


@dataclass(frozen=True)
class Run:
    """What a run left behind.

    Attributes
    ----------
    tables : dict
        Rows of every task that is done, now or before, in the order asked for.
    failed : dict
        Traceback of every task that failed.
    reused, damaged, stale : int
        Tasks found in the store; files found damaged or out of date, their tasks run again.
    accepted : dict
        Stale results that were used all the same, on request: what has changed since.
    seconds : float
        Wall-clock time of this run.
    """

    tables: dict[Task, list[Row]]
    failed: dict[Task, str] = field(default_factory=dict)
    reused: int = 0
    damaged: int = 0
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
        Where to show progress; nothing is shown if not given.
    accept_stale : bool
        Whether to use results that other code or other packages computed; else those tasks are
        run again.

    Raises
    ------
    KeyboardInterrupt
        At Ctrl-C; what was finished is in the store.
    """
    if workers is not None and workers < 0:
        raise InputError(f"the number of workers must be at least 0, not {workers}")
    refuse_namesakes(task.experiment for task in tasks)
    began = time.perf_counter()
    with store.opened(), Display(console or Console(quiet=True)) as show:
        entries = look_up(list(dict.fromkeys(tasks)), store)
        found = what_is_there(entries, accept_stale)
        todo = [task for task in entries if task not in found.tables]
        todo.sort(key=lambda task: task.effort, reverse=True)  # none is left alone at the end
        _announce(entries, found, todo, show)
        tables, failed = dict(found.tables), dict[Task, str]()
        with closing(_attempts(todo, workers, cluster, show)) as attempts:
            for task, attempt in attempts:
                _keep(store, task, attempt, show)
                if attempt.failure:
                    failed[task] = attempt.failure
                else:
                    tables[task] = attempt.rows
    return Run(
        {task: tables[task] for task in entries if task in tables},
        failed,
        found.reused,
        found.damaged,
        found.stale,
        found.accepted,
        time.perf_counter() - began,
    )


def look_up(tasks: Sequence[Task], store: Store) -> dict[Task, Entry]:
    """Look up what the store has of every task, in the order given."""
    return {task: store.look(task) for task in tasks}


def what_is_there(entries: Mapping[Task, Entry], accept_stale: bool = False) -> Run:
    """Return what can be used of what was found: all that is done, and what is stale on request."""
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
        damaged=conditions[Condition.DAMAGED],
        stale=conditions[Condition.STALE] - len(accepted),
        accepted=accepted,
    )


def _announce(
    entries: Mapping[Task, Entry], found: Run, todo: Sequence[Task], show: Display
) -> None:
    """Tell the display what is there and what is to come."""
    noted = [each.note for task, each in entries.items() if each.note and task not in found.tables]
    for note in noted[:_NOTED]:
        show.note(f"{note}: running it again")
    if len(noted) > _NOTED:
        show.note(f"… and {len(noted) - _NOTED:,} more that are stale or damaged")
    if found.accepted:
        show.note(f"{len(found.accepted):,} stale results are used as they are")
    work: defaultdict[str, float] = defaultdict(float)
    for task in todo:
        work[task.experiment.name] += task.effort
    for name, tasks in Counter(task.experiment.name for task in entries).items():
        show.expect(name, tasks, work[name])
    for task, rows in found.tables.items():
        show.recall(task.experiment.name, rows)


def _keep(store: Store, task: Task, attempt: Attempt, show: Display) -> None:
    """Write down how a task ended, and show it."""
    if attempt.failure:
        store.write_failure(task, attempt.failure)
        show.note(f"{task.key} failed: {attempt.failure.strip().splitlines()[-1]}")
    else:
        store.write(task, attempt.rows)
        store.log(task, attempt.seconds)
    show.count(task.experiment.name, attempt.rows, task.effort, attempt.seconds)


def _attempts(
    tasks: Sequence[Task], workers: int | None, cluster: str | None, show: Display
) -> Attempts:
    if cluster is not None:
        return on_cluster(tasks, cluster, show.note)
    count = processors() if workers is None else workers
    return in_processes(tasks, count) if count else in_this_process(tasks)
