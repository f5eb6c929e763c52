"""Run tasks, keep each result as it arrives, and resume where a run ended.

Tasks already in the store are not run again. Each worker has one task at a time and its rows are
kept at once, so a run killed at any moment loses the tasks in flight and nothing else. A task that
fails is recorded with its traceback and the rest goes on.

**A lost worker costs only time.** A process that dies is replaced and its task is tried again. Dask
gives the tasks of a lost worker to another one. Nothing is installed on the workers of a cluster:
they must have the same versions of wayfield and of what it computes with, or figures would not be
ours bit for bit.

**Ctrl-C raises KeyboardInterrupt at once**, without waiting for running tasks.
"""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
import warnings
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import connection
from queue import Empty, SimpleQueue
from typing import Any

from rich.console import Console

from wayfield.checks import need
from wayfield.errors import InputError, WayfieldError
from wayfield.numerics.processes import Worker
from wayfield.numerics.workers import num_processors

from .freshness import source, versions
from .progress import Display
from .store import Condition, Entry, Store
from .tasks import Cell, Row, Task, as_table, refuse_namesakes

NOTED = 5
"""Files of one kind that are named one by one; the rest are counted."""
TRIES = 3
"""Attempts at a task whose worker process dies."""
STARTS = 5
"""Number of consecutive worker processes that may die before they are ready."""
CONNECT = 8.0
"""Seconds to wait for a Dask scheduler."""
SILENCE = 10.0
"""Seconds without a result before the cluster is checked."""


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
    reason : str
        Why it failed, in one line.
    """

    rows: list[Row]
    failure: str = ""
    seconds: float = 0.0
    reason: str = ""


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
        noted = [entries[task].note for task in entries if task not in found.tables]
        noted = [note for note in noted if note]
        for note in noted[:NOTED]:
            show.note(f"{note}: running it again")
        if len(noted) > NOTED:
            show.note(f"… and {len(noted) - NOTED:,} more that are stale or damaged")
        if found.accepted:
            show.note(f"{len(found.accepted):,} stale results are used as they are")
        work: defaultdict[str, float] = defaultdict(float)
        for task in todo:
            work[task.experiment.name] += task.effort
        for name, count in Counter(task.experiment.name for task in entries).items():
            show.expect(name, count, work[name])
        for task, rows in found.tables.items():
            show.recall(task.experiment.name, rows)

        # run them, and keep each result as it comes
        tables, failed = dict(found.tables), dict[Task, str]()
        with closing(_attempts(todo, workers, cluster, show)) as attempts:
            for task, ended in attempts:
                if ended.failure:
                    failed[task] = ended.failure
                    path = store.write_failure(task, ended.failure)
                    reason = ended.reason or ended.failure.strip()
                    show.note(f"{task.key} failed: {reason} (see {path})")
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
    tables = {
        task: entry.rows
        for task, entry in entries.items()
        if entry.condition is Condition.DONE or task in accepted
    }
    stale = sum(entry.condition is Condition.STALE for entry in entries.values())
    return Run(tables, reused=len(tables), stale=stale - len(accepted), accepted=accepted)


def attempt(run: Callable[[Any], list[Row]], cell: Cell) -> Attempt:
    """Run one task; if it raises, keep the traceback."""
    began = time.perf_counter()
    try:
        rows = as_table(cell, run(cell))
    except (Exception, SystemExit) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        return Attempt([], traceback.format_exc(), time.perf_counter() - began, reason)
    return Attempt(rows, "", time.perf_counter() - began)


def attempt_alike(
    expected: Mapping[str, str], run: Callable[[Any], list[Row]], cell: Cell
) -> Attempt:
    """Run one task on a worker of a cluster, unless its versions differ from those expected."""
    for name, found in (versions() | source()).items():
        if found != expected.get(name):
            raise WayfieldError(
                f"a worker has {name} {found}, here it is {expected.get(name)}: install the same "
                "version there"
            )
    return attempt(run, cell)


def _attempts(
    tasks: Sequence[Task], workers: int | None, cluster: str | None, show: Display
) -> Generator[tuple[Task, Attempt]]:
    """Yield each task's result as it ends: run here, in processes, or on a cluster."""
    orders = [(task.experiment.run, task.cell) for task in tasks]  # the experiments stay here
    if cluster is not None:
        work = partial(attempt_alike, versions() | source())
        for position, ended in on_cluster(work, orders, cluster, show.note):
            if isinstance(ended, BaseException):
                ended = Attempt([], f"its worker failed: {ended!r}\n")
            yield tasks[position], ended
    elif count := num_processors() if workers is None else workers:
        died = f"its worker process died {TRIES} times, perhaps for lack of memory\n"
        for position, ended in in_processes(attempt, orders, count):
            yield tasks[position], ended or Attempt([], died)
    else:
        for task, order in zip(tasks, orders, strict=True):
            yield task, attempt(*order)


def in_processes(
    work: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], count: int
) -> Generator[tuple[int, Any]]:
    """Yield (position, ``work(*task)``) as tasks finish, from a pool of worker processes.

    Parameters
    ----------
    work : callable
        Importable function.
    tasks : sequence of tuples
        Arguments of each task, in the order to start them.
    count : int
        Number of processes.

    Yields
    ------
    (int, object)
        The result is None if the task's worker died `TRIES` times.

    Raises
    ------
    WayfieldError
        If worker processes die before they are ready.
    """
    waiting, deaths = deque(range(len(tasks))), Counter[int]()
    workers: dict[Any, Worker] = {}
    busy: dict[Any, int] = {}
    stillborn = 0

    def hand_out() -> None:
        for pipe, worker in workers.items():
            if worker.ready and pipe not in busy and waiting:
                busy[pipe] = waiting.popleft()
                worker.send(*tasks[busy[pipe]])

    try:
        while waiting or busy:
            while len(workers) < min(count, len(tasks)):
                worker = Worker(work)
                workers[worker.pipe] = worker
            hand_out()
            for pipe in connection.wait(list(workers)):
                position = busy.pop(pipe, None)
                try:
                    result, stillborn = workers[pipe].receive(), 0
                except EOFError:
                    worker, result = workers.pop(pipe), None
                    worker.close()
                    stillborn = 0 if worker.ready else stillborn + 1
                    if stillborn == STARTS:
                        raise WayfieldError("worker processes die before they are ready") from None
                    if position is not None:
                        deaths[position] += 1
                        if deaths[position] < TRIES:
                            waiting.appendleft(position)
                            position = None
                hand_out()  # before the result is processed, which takes a moment
                if position is not None:
                    yield position, result
    finally:
        for worker in workers.values():
            worker.close()


def on_cluster(
    work: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    address: str,
    note: Callable[[str], None],
) -> Generator[tuple[int, Any]]:
    """Yield (position, ``work(*task)``) as tasks finish, from a Dask cluster.

    Results come back here, so workers need no common disk.

    Parameters
    ----------
    work : callable
        Small function that the workers can import.
    tasks : sequence of tuples
        Arguments of each task, in the order to start them.
    address : str
        Of the scheduler, such as ``"tcp://10.0.0.1:8786"``.
    note : callable
        Called with messages for the user.

    Yields
    ------
    (int, object)
        The result is an exception if the task's workers failed.

    Raises
    ------
    WayfieldError
        If no scheduler answers at the address, the scheduler is lost, or a worker is not like this
        machine.
    """
    if not tasks:
        return
    with dask_client(address) as client:

        def check_presence(lost: bool = False) -> None:
            """Raise if the scheduler is lost, and note if it has no workers."""
            try:
                lost = lost or client.status != "running"
                present = not lost and client.nthreads()
            except OSError:
                lost = True
            if lost:
                raise WayfieldError(
                    f"lost the scheduler at {address}; finished tasks are kept, run again to "
                    "continue"
                )
            if not present:
                note(f"the scheduler at {address} has no workers: waiting for some")

        executor, done = client.get_executor(), SimpleQueue[Future[Any]]()
        pending: dict[Future[Any], int] = {}
        for position, task in enumerate(tasks):
            future = executor.submit(partial(work, *task), pure=False, priority=-position)
            pending[future] = position
            future.add_done_callback(done.put)
        while pending:
            try:
                future = done.get(timeout=SILENCE)
            except Empty:
                check_presence()
                continue
            if future.cancelled() or future.exception() is not None:
                check_presence(future.cancelled())  # tasks of a lost scheduler do not fail
            error = future.exception()
            if isinstance(error, WayfieldError):
                raise error
            if isinstance(error, ModuleNotFoundError):
                raise WayfieldError(f"a worker lacks {error.name}: install it there") from error
            yield pending.pop(future), error or future.result()


@contextmanager
def dask_client(address: str) -> Iterator[Any]:
    """Connect to a Dask scheduler, or raise `WayfieldError` with the reason in one line."""
    distributed = need("distributed", "dask")

    async def greet() -> str:
        """Return the type of the server at the address; raise if none answers in time."""
        core = need("distributed.core", "dask")
        async with asyncio.timeout(CONNECT), core.rpc(address, timeout=CONNECT) as server:
            return str((await server.identity())["type"])

    before = logging.root.manager.disable
    logging.disable()  # Dask's own messages: the errors below say what matters
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about versions: these are checked more strictly
            try:
                with ThreadPoolExecutor(1) as thread:  # a notebook already runs an event loop here
                    kind = thread.submit(asyncio.run, greet()).result()
            except Exception as error:  # any service may answer there
                reason = f" ({error})" if isinstance(error, ValueError) else ""
                raise WayfieldError(f"no Dask scheduler answers at {address!r}{reason}") from error
            if kind != "Scheduler":
                raise WayfieldError(f"{address} is not a Dask scheduler but a {kind.lower()}")
            with distributed.Client(address, timeout=CONNECT, set_as_default=False) as client:
                yield client
    finally:
        logging.disable(before)
