"""One function with much in it, many small tasks: by threads here, or by anybody's executor.

To the processes of an executor the function travels once each, not with every task: as a file that
every process reads and keeps, or, on a Dask cluster, as data that the workers hold. A process that
cannot see the file, being on another machine, is sent the function along with a task.

**A lost worker** costs nothing but time. Dask gives its tasks to others; where an executor breaks
for good, as a `ProcessPoolExecutor` does, the tasks that are left are done here, with a warning.
"""

from __future__ import annotations

import pickle
import sys
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
)
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Any, TypeAlias, TypeVar

from ._threads import num_processors
from .errors import InputError

Task = TypeVar("Task")
Result = TypeVar("Result")
Submit: TypeAlias = Callable[[Task], "Future[Result]"]

MOST_WORKERS = 1024
"""More threads than this are a mistake."""
AHEAD = 64
"""Tasks that wait at an executor; the others are made when it is their turn."""

_kept: dict[str, Callable[[Any], Any]] = {}
"""The function that this process works with, by the file it came in. One: it may be large."""


class Elsewhere(Exception):  # noqa: N818  (a state of affairs, which is put right)
    """The process of a worker has no access to the file with the function."""


def dispatch(
    work: Callable[[Task], Result],
    tasks: Iterable[Task],
    *,
    workers: int | None = None,
    executor: Executor | None = None,
) -> Generator[Result]:
    """Yield ``work(task)`` for every task, in order.

    Parameters
    ----------
    work : callable
        What is done; for an executor of processes it must be picklable.
    tasks : iterable
        What it is done to.
    workers : int, optional
        Threads, if there is no executor; as many as there are processors if not given.
    executor : Executor, optional
        Who does it. It is left running.
    """
    if executor is None:
        pool, stop = ThreadPoolExecutor(worker_count(workers)), Event()
        try:
            yield from _in_order(partial(_in_thread, pool, stop, work), work, tasks, sys.maxsize)
        finally:
            # after an interrupt nobody waits: what runs ends by itself at its next `check_stopped`
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
        return
    _check(executor, workers)
    if isinstance(executor, ThreadPoolExecutor):
        yield from _in_order(partial(_in_thread, executor, Event(), work), work, tasks, sys.maxsize)
        return
    client = getattr(executor, "_client", None)  # a Dask client's executor has no other way to it
    sent = _scattered(executor, client, work) if _is_client(client) else _filed(executor, work)
    with sent as submit:
        yield from _in_order(submit, work, tasks, AHEAD)


def worker_count(workers: int | None) -> int:
    """Return a number of threads: that asked for, or one for every processor of ours."""
    if workers is None:
        return num_processors()
    if isinstance(workers, bool) or not hasattr(workers, "__index__") or workers < 1:
        raise InputError(f"workers must be a whole number of at least 1, not {workers!r}")
    if workers > MOST_WORKERS:
        raise InputError(f"workers must be at most {MOST_WORKERS:,}, got {workers:,}")
    return int(workers)


def _check(executor: object, workers: int | None) -> None:
    if not isinstance(executor, Executor):
        hint = "; of a Dask client use client.get_executor()" if _is_client(executor) else ""
        raise InputError(
            "executor must be one of concurrent.futures, such as ProcessPoolExecutor(), "
            f"not {executor!r}{hint}"
        )
    if workers is not None:
        raise InputError("workers and executor exclude each other: an executor has its own")


def _is_client(candidate: object) -> bool:
    return hasattr(candidate, "get_executor") and hasattr(candidate, "scatter")


def _in_order(
    submit: Submit[Task, Result],
    work: Callable[[Task], Result],
    tasks: Iterable[Task],
    ahead: int,
) -> Iterator[Result]:
    """Submit tasks, so many ahead, and yield their results; those that nobody did are done here."""
    waiting: deque[tuple[Task, Future[Result] | None]] = deque()
    lost = False

    def result() -> Result:
        nonlocal lost
        task, future = waiting.popleft()
        try:
            if future is not None:
                return future.result()
        except _lost() as error:
            if not lost:
                warnings.warn(
                    f"the executor lost its workers ({type(error).__name__}: {error}); what they "
                    "had not done is done in this process",
                    RuntimeWarning,
                    stacklevel=5,
                )
            lost = True
        return work(task)

    try:
        for task in tasks:
            waiting.append((task, None if lost else _submitted(submit, task)))
            if len(waiting) > ahead:
                yield result()
        while waiting:
            yield result()
    finally:
        for _, future in waiting:
            if future is not None:
                future.cancel()


def _submitted(submit: Submit[Task, Result], task: Task) -> Future[Result]:
    try:
        return submit(task)
    except BrokenExecutor as error:  # a worker died just now, or before we came
        broken: Future[Result] = Future()
        broken.set_exception(error)
        return broken
    except RuntimeError as error:
        raise InputError(f"the executor takes no tasks: {error}") from error


def _lost() -> tuple[type[BaseException], ...]:
    """Return what says that a task was not done because its worker is gone."""
    scheduler = sys.modules.get("distributed.scheduler")
    killed = () if scheduler is None else (scheduler.KilledWorker,)
    return (BrokenExecutor, CancelledError, *killed)


def _in_thread(
    pool: ThreadPoolExecutor, stop: Event, work: Callable[[Task], Result], task: Task
) -> Future[Result]:
    context = copy_context()
    context.run(_stop.set, stop)
    return pool.submit(context.run, work, task)


_stop: ContextVar[Event | None] = ContextVar("_stop", default=None)


def check_stopped() -> None:
    """Raise `CancelledError` in a thread whose result nobody waits for any more."""
    stop = _stop.get()
    if stop is not None and stop.is_set():
        raise CancelledError


# ------------------------------------------------------------------ to other processes


@contextmanager
def _filed(executor: Executor, work: Callable[[Task], Result]) -> Iterator[Submit[Task, Result]]:
    """Lay the function down in a file that processes on this machine read."""
    with TemporaryDirectory(prefix="wayfield-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "work.pickle"
        try:
            with path.open("wb") as file:
                pickle.dump(work, file, protocol=5)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise _not_sent(error) from error
        yield partial(_with_file, executor, str(path))


def _with_file(executor: Executor, path: str, task: Any) -> Future[Any]:
    """Submit a task; where the file cannot be read it goes along, in a second attempt."""
    outcome: Future[Any] = Future()

    def settle(future: Future[Any], again: bool = True) -> None:
        error = CancelledError() if future.cancelled() else future.exception()
        if isinstance(error, Elsewhere) and again:
            try:
                carried = executor.submit(_with_parcel, path, Path(path).read_bytes(), task)
            except RuntimeError as broken:
                outcome.set_exception(broken)
            else:
                carried.add_done_callback(partial(settle, again=False))
        elif outcome.cancelled():
            return
        elif error is not None:
            outcome.set_exception(error)
        else:
            outcome.set_result(future.result())

    submitted = executor.submit(_from_file, path, task)
    outcome.add_done_callback(lambda done: submitted.cancel() if done.cancelled() else None)
    submitted.add_done_callback(settle)
    return outcome


def _from_file(path: str, task: Any) -> Any:
    """Do a task in a worker's process, which reads the function when it first needs it."""
    if path not in _kept:
        try:
            parcel = Path(path).read_bytes()
        except OSError as error:
            raise Elsewhere(path) from error
        return _with_parcel(path, parcel, task)
    return _kept[path](task)


def _with_parcel(path: str, parcel: bytes, task: Any) -> Any:
    """Do a task with the function as it was sent, and keep it for the next ones."""
    if path not in _kept:
        work = pickle.loads(parcel)
        _kept.clear()
        _kept[path] = work
    return _kept[path](task)


@contextmanager
def _scattered(
    executor: Any, client: Any, work: Callable[[Task], Result]
) -> Iterator[Submit[Task, Result]]:
    """Hand the function to every worker of a Dask cluster, as data that tasks refer to."""
    try:
        pickle.dumps(work, protocol=5)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise _not_sent(error) from error
    shared = client.scatter(work, broadcast=True, hash=False)
    yield partial(_with_data, executor, shared)


def _with_data(executor: Any, shared: Any, task: Any) -> Future[Any]:
    done: Future[Any] = executor.submit(_call, shared, task, pure=False)
    return done


def _call(work: Callable[[Task], Result], task: Task) -> Result:
    return work(task)


def _not_sent(error: Exception) -> InputError:
    return InputError(f"this cannot be sent to the executor's processes: {error}")
