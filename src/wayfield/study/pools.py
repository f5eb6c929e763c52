"""Who does the work: this process, a pool of processes, or a Dask cluster.

Each is a generator of results as they come, given the jobs in the order to begin them. A job that
raises is a result too, with its traceback. A worker that dies costs the job it had, which is tried
again, `TRIES` times in all; the others do not notice.
"""

from __future__ import annotations

import os
import signal
import time
import traceback
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import connection, get_context, parent_process, resource_tracker
from threading import Thread
from typing import TypeAlias

from ..errors import WayfieldError
from .tasks import Experiment, Row, Task, as_table

TRIES = 3
"""How often a job is tried whose worker dies."""

_STARTS = 5  # workers in a row that may die before they are ready for work
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class Job:
    """A task, and the experiment it names."""

    task: Task
    experiment: Experiment


@dataclass(frozen=True)
class Result:
    """What became of a job.

    Attributes
    ----------
    rows : list of Row
        The table, the cell's settings in front; empty if the job failed.
    failure : str
        The traceback; empty if it did not fail.
    seconds : float
        How long it took.
    """

    rows: list[Row]
    failure: str
    seconds: float


Results: TypeAlias = Generator[tuple[Job, Result]]


def attempt(job: Job) -> Result:
    """Run one job; if it raises, the result holds the traceback."""
    began = time.perf_counter()
    try:
        rows = as_table(job.task.cell, job.experiment.run(job.task.cell))
    except Exception:
        return Result([], traceback.format_exc(), time.perf_counter() - began)
    return Result(rows, "", time.perf_counter() - began)


def in_this_process(jobs: Sequence[Job]) -> Results:
    """Run the jobs one after another."""
    for job in jobs:
        yield job, attempt(job)


def in_processes(jobs: Sequence[Job], workers: int) -> Results:
    """Run the jobs in a pool of processes, each with one thread for linear algebra."""
    crew = _Crew(jobs)
    try:
        yield from crew.work(min(workers, len(jobs)))
    finally:
        crew.stop()


class _Crew:
    """Workers, and the jobs that wait for them."""

    def __init__(self, jobs: Iterable[Job]) -> None:
        self.waiting = deque(jobs)
        self.workers: dict[connection.Connection, _Worker] = {}
        self.deaths: Counter[Task] = Counter()
        self.stillborn = 0

    def work(self, count: int) -> Results:
        """Start workers and yield results until every job has one."""
        for _ in range(count):
            self._start()
        while self.waiting or any(worker.job for worker in self.workers.values()):
            for pipe in connection.wait(list(self.workers)):
                worker = self.workers[pipe]  # type: ignore[index]
                job = worker.job
                try:
                    result = worker.answer()
                except (EOFError, OSError):
                    result = self._replace(worker)
                else:
                    self.stillborn = 0
                    self._hand_out()  # before the result is looked at: that takes a moment
                if job and result:
                    yield job, result
            self._hand_out()

    def stop(self) -> None:
        for worker in self.workers.values():
            worker.stop()

    def _start(self) -> None:
        worker = _Worker()
        self.workers[worker.pipe] = worker

    def _hand_out(self) -> None:
        for worker in self.workers.values():
            if worker.ready and not worker.job and self.waiting:
                worker.begin(self.waiting.popleft())

    def _replace(self, worker: _Worker) -> Result | None:
        """Start another worker for one that died; a result if its job has had all its tries."""
        self.stillborn = 0 if worker.ready else self.stillborn + 1
        if self.stillborn == _STARTS:
            raise WayfieldError("worker processes die before they can work")
        del self.workers[worker.pipe]
        worker.stop()
        self._start()
        if worker.job is None:
            return None
        self.deaths[worker.job.task] += 1
        if self.deaths[worker.job.task] == TRIES:
            return Result([], f"its worker died {TRIES} times; out of memory?\n", 0.0)
        self.waiting.appendleft(worker.job)
        return None


class _Worker:
    """A process at the other end of a pipe: it says that it is ready, then a result per job."""

    def __init__(self) -> None:
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self.ready = False
        self.job: Job | None = None
        with _one_thread_each(), _interrupts_held():
            self.process.start()
        theirs.close()  # so that the pipe ends when the process does

    def begin(self, job: Job) -> None:
        self.job = job
        with suppress(OSError):  # it died just now: whoever waits for its answer will see
            self.pipe.send(job)

    def answer(self) -> Result | None:
        """Receive what is there: a result, or None for "ready". Raise if the process died."""
        result: Result | None = self.pipe.recv()
        self.ready, self.job = True, None
        return result

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
            pipe.send(attempt(pipe.recv()))


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
