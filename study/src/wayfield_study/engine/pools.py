"""Who does the work: this process, a pool of processes, or a Dask cluster.

Each is a generator of attempts as they end, given the tasks in the order to begin them. A task that
raises ends too, with its traceback. A worker that dies costs the task it had, which is tried again,
`TRIES` times in all; the others do not notice.
"""

from __future__ import annotations

import os
import signal
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import connection, get_context, parent_process, resource_tracker
from threading import Thread
from typing import Any, TypeAlias

from wayfield.errors import WayfieldError

from .tasks import Cell, Row, Task, as_table

TRIES = 3
"""How often a task is tried whose worker dies."""

_STARTS = 5  # workers in a row that may die before they are ready for work
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class Attempt:
    """What became of a task that was tried.

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


Attempts: TypeAlias = Generator[tuple[Task, Attempt]]
Order: TypeAlias = tuple[Callable[[Any], list[Row]], Cell]
"""What a worker is sent: the function to run, and on which cell."""


def order(task: Task) -> Order:
    """Return what a worker needs of a task; the rest of an experiment stays here."""
    return task.experiment.run, task.cell


def attempt(run: Callable[[Any], list[Row]], cell: Cell) -> Attempt:
    """Run one task; if it raises, the traceback is kept."""
    began = time.perf_counter()
    try:
        rows = as_table(cell, run(cell))
    except Exception:
        return Attempt([], traceback.format_exc(), time.perf_counter() - began)
    return Attempt(rows, "", time.perf_counter() - began)


def processors() -> int:
    """Return the number of processors this process may use."""
    ours = getattr(os, "sched_getaffinity", None)  # Linux knows which of them are ours
    return len(ours(0)) if ours else os.cpu_count() or 1


def in_this_process(tasks: Sequence[Task]) -> Attempts:
    """Run the tasks one after another."""
    for task in tasks:
        yield task, attempt(*order(task))


def in_processes(tasks: Sequence[Task], workers: int) -> Attempts:
    """Run the tasks in a pool of processes, each with one thread for linear algebra."""
    crew = _Crew(tasks)
    try:
        yield from crew.work(min(workers, len(tasks)))
    finally:
        crew.stop()


class _Crew:
    """Workers, and the tasks that wait for them."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self.waiting = deque(tasks)
        self.workers: dict[connection.Connection, _Worker] = {}
        self.deaths: Counter[Task] = Counter()
        self.stillborn = 0

    def work(self, count: int) -> Attempts:
        """Start workers and yield attempts until every task has ended."""
        for _ in range(count):
            self._start()
        while self.waiting or any(worker.task for worker in self.workers.values()):
            for pipe in connection.wait(list(self.workers)):
                worker = self.workers[pipe]  # type: ignore[index]
                task = worker.task
                try:
                    ended = worker.answer()
                except (EOFError, OSError):
                    ended = self._replace(worker)
                else:
                    self.stillborn = 0
                    self._hand_out()  # before the rows are looked at: that takes a moment
                if task and ended:
                    yield task, ended
            self._hand_out()

    def stop(self) -> None:
        for worker in self.workers.values():
            worker.stop()

    def _start(self) -> None:
        worker = _Worker()
        self.workers[worker.pipe] = worker

    def _hand_out(self) -> None:
        for worker in self.workers.values():
            if worker.ready and not worker.task and self.waiting:
                worker.begin(self.waiting.popleft())

    def _replace(self, worker: _Worker) -> Attempt | None:
        """Start another worker for one that died; an end if its task has had all its tries."""
        self.stillborn = 0 if worker.ready else self.stillborn + 1
        if self.stillborn == _STARTS:
            raise WayfieldError("worker processes die before they can work")
        del self.workers[worker.pipe]
        worker.stop()
        self._start()
        if worker.task is None:
            return None
        self.deaths[worker.task] += 1
        if self.deaths[worker.task] == TRIES:
            return Attempt([], f"its worker died {TRIES} times; out of memory?\n", 0.0)
        self.waiting.appendleft(worker.task)
        return None


class _Worker:
    """A process at the other end of a pipe: it says that it is ready, then how each task ended."""

    def __init__(self) -> None:
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self.ready = False
        self.task: Task | None = None
        with _one_thread_each(), _interrupts_held():
            self.process.start()
        theirs.close()  # so that the pipe ends when the process does

    def begin(self, task: Task) -> None:
        self.task = task
        with suppress(OSError):  # it died just now: whoever waits for its answer will see
            self.pipe.send(order(task))

    def answer(self) -> Attempt | None:
        """Receive what is there: an attempt, or None for "ready". Raise if the process died."""
        ended: Attempt | None = self.pipe.recv()
        self.ready, self.task = True, None
        return ended

    def stop(self) -> None:
        """End the process now: it holds nothing that could be lost."""
        self.process.kill()
        self.process.join()
        self.process.close()
        self.pipe.close()


def _serve(pipe: connection.Connection) -> None:
    """Work until the other end of the pipe is closed or its process ends, however that happens."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):
        pipe.send(None)
        while True:
            pipe.send(attempt(*pipe.recv()))


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Set the environment of processes that start now: theirs is one core."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back for a moment; processes that start now never see it."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # it would let Ctrl-C through again as it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
