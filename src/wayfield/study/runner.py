"""Run tasks, keep each result as it comes, and pick up where a run ended.

Tasks already in the store are not run again. Each worker has one task at a time and its result is
kept at once, so a run killed at any moment loses the tasks in flight and nothing else. A task that
fails is recorded with its traceback and the rest goes on.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from rich.console import Console

from ..errors import InputError
from .cluster import on_cluster
from .experiments import EXPERIMENTS
from .pools import Job, Result, Results, in_processes, in_this_process
from .progress import Display
from .store import Entry, State, Store
from .tasks import Experiment, Row, Task

DEFAULT_WORKERS = 2


@dataclass(frozen=True)
class Outcome:
    """What a run left behind.

    Attributes
    ----------
    tables : dict
        Rows of every task that is done, now or before, in the order asked for.
    failed : dict
        Traceback of every task that failed.
    reused, damaged, stale : int
        Tasks found in the store; files found damaged or out of date, their tasks run again.
    seconds : float
        Wall-clock time of this run.
    """

    tables: dict[Task, list[Row]]
    failed: dict[Task, str]
    reused: int
    damaged: int
    stale: int
    seconds: float


def run(
    tasks: Sequence[Task],
    store: Store,
    workers: int = DEFAULT_WORKERS,
    cluster: str | None = None,
    console: Console | None = None,
    experiments: Mapping[str, Experiment] | None = None,
) -> Outcome:
    """Run the tasks that the store does not have, and return the tables of all.

    Parameters
    ----------
    tasks : sequence of Task
        What to run; the order does not matter for the results.
    store : Store
        Where results are looked up and kept.
    workers : int
        Processes; 0 runs the tasks in this one.
    cluster : str, optional
        Address of a Dask scheduler, such as ``"tcp://10.0.0.1:8786"``; its workers then do the
        work, and `workers` does not count.
    console : rich Console, optional
        Where to show progress; nothing is shown if not given.
    experiments : mapping of str to Experiment, optional
        What the tasks' names stand for; the study's own if not given.

    Raises
    ------
    KeyboardInterrupt
        At Ctrl-C; what was finished is in the store.
    """
    if workers < 0:
        raise InputError(f"the number of workers must be at least 0, not {workers}")
    jobs = {task: Job(task, find_experiment(task.experiment, experiments)) for task in tasks}
    began = time.perf_counter()
    with store.opened(), Display(console or Console(quiet=True)) as show:
        entries = look_up(list(jobs), store, experiments)
        todo = [jobs[task] for task, entry in entries.items() if entry.state is not State.DONE]
        todo.sort(key=_work, reverse=True)  # long ones first: none is left alone at the end
        _announce(entries, todo, show)
        tables = {task: entry.rows for task, entry in entries.items() if entry.rows}
        failed: dict[Task, str] = {}
        with closing(_results(todo, workers, cluster, show)) as results:
            for done, result in results:
                _keep(store, done, result, show)
                if result.failure:
                    failed[done.task] = result.failure
                else:
                    tables[done.task] = result.rows
    states = Counter(entry.state for entry in entries.values())
    return Outcome(
        {task: tables[task] for task in jobs if task in tables},
        failed,
        reused=states[State.DONE],
        damaged=states[State.DAMAGED],
        stale=states[State.STALE],
        seconds=time.perf_counter() - began,
    )


def look_up(
    tasks: Sequence[Task], store: Store, experiments: Mapping[str, Experiment] | None = None
) -> dict[Task, Entry]:
    """Look up what the store has of every task, in the order given."""
    return {
        task: store.look(task, find_experiment(task.experiment, experiments).version)
        for task in tasks
    }


def find_experiment(name: str, experiments: Mapping[str, Experiment] | None = None) -> Experiment:
    """Return an experiment by its name; of the study's own unless others are given."""
    known = EXPERIMENTS if experiments is None else experiments
    if name not in known:
        raise InputError(f"unknown experiment {name!r}; known are {', '.join(known)}")
    return known[name]


def _announce(entries: Mapping[Task, Entry], todo: Sequence[Job], show: Display) -> None:
    """Tell the display what is there and what is to come."""
    for entry in entries.values():
        if entry.note:
            show.note(f"{entry.note}: running it again")
    for name, tasks in Counter(task.experiment for task in entries).items():
        show.expect(name, tasks, sum(_work(job) for job in todo if job.task.experiment == name))
    for task, entry in entries.items():
        if entry.state is State.DONE:
            show.recall(task.experiment, entry.rows)


def _keep(store: Store, job: Job, result: Result, show: Display) -> None:
    """Write a result down, and show it."""
    if result.failure:
        store.write_failure(job.task, result.failure)
        show.note(f"{job.task.key} failed: {result.failure.strip().splitlines()[-1]}")
    else:
        store.write(job.task, job.experiment.version, result.rows)
        store.log(job.task, result.seconds)
    show.count(job.task.experiment, result.rows, _work(job), result.seconds)


def _work(job: Job) -> float:
    """Estimate how long a job takes, in units of its experiment's weight."""
    cell = job.task.cell
    return job.experiment.weight * cell.goals * cell.refinement**2


def _results(jobs: Sequence[Job], workers: int, cluster: str | None, show: Display) -> Results:
    if cluster is not None:
        return on_cluster(jobs, cluster, show.note)
    return in_processes(jobs, workers) if workers else in_this_process(jobs)
