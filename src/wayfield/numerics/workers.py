"""Parallel work on threads, or on an executor of `concurrent.futures`, and a time limit for solves.

**A lost worker costs only time.** An executor may break for good, as a `ProcessPoolExecutor` does
when a process dies. `dispatch` then finishes the tasks in this process and warns.

**Ctrl-C raises KeyboardInterrupt at once**, without waiting for running tasks.

**A time limit.** Long loops call `check_time` between their steps. Once the limit has passed, it
raises `OutOfTime`, whatever the method and however deep the loop. The limit belongs to the caller's
context, so calls in different threads have separate limits. Other processes are sent the remaining
time.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
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
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from ..checks import as_real
from ..errors import InputError, OutOfTime

Task = TypeVar("Task")
Result = TypeVar("Result")

MOST_THREADS = 1024
"""Largest number of threads that `dispatch` starts."""

AHEAD = 64
"""Number of tasks submitted ahead; others are made when it is their turn."""


def one_thread() -> AbstractContextManager[object]:
    """Run linear algebra on one thread.

    On short vectors and small matrices, waiting for other threads can take a hundred times as long
    as the work. The last digits also depend on the number of threads.
    """
    limits: AbstractContextManager[object] = threadpool_limits(1)
    return limits


def num_processors() -> int:
    """Return the number of processors this process may use, where the system reports it."""
    ours = getattr(os, "sched_getaffinity", None)
    return len(ours(0)) if ours else os.cpu_count() or 1


stop_event: ContextVar[Event | None] = ContextVar("stop_event", default=None)
"""Set when the result of the task in this context is no longer needed."""


def check_stopped() -> None:
    """Raise `CancelledError` in a task with a result that is no longer needed."""
    stop = stop_event.get()
    if stop is not None and stop.is_set():
        raise CancelledError


def dispatch(
    work: Callable[[Task], Result],
    tasks: Iterable[Task],
    *,
    workers: int | None = None,
    executor: Executor | None = None,
) -> Generator[Result]:
    """Yield ``work(task)`` for each task, in order.

    `work` may be large: it is sent once to each process of an executor. Close the generator to
    cancel tasks that have not begun.

    Parameters
    ----------
    work : callable
        For an executor of processes it must be picklable.
    tasks : iterable
        Small; each is made when its turn comes.
    workers : int, optional
        Number of threads if there is no executor. Default: one per processor.
    executor : Executor, optional
        Executor to use; it is left running.
    """
    if executor is None:
        count = num_processors() if workers is None else workers
        if isinstance(count, bool) or not hasattr(count, "__index__") or count < 1:
            raise InputError(f"workers must be a whole number of at least 1, got {count!r}")
        if count > MOST_THREADS:
            raise InputError(f"workers must be at most {MOST_THREADS:,}, got {count}")
        threads = _Threads(count)
        try:
            yield from _in_order(partial(_in_thread, threads, work), work, tasks, max(AHEAD, count))
        finally:
            threads.shutdown()
        return
    if not isinstance(executor, Executor):
        is_client = hasattr(executor, "get_executor") and hasattr(executor, "scatter")
        hint = "; for a Dask client, pass client.get_executor()" if is_client else ""
        raise InputError(
            "executor must be a concurrent.futures executor, such as ProcessPoolExecutor(), "
            f"got {executor!r}{hint}"
        )
    if workers is not None:
        raise InputError("workers and executor exclude each other: an executor has its own")
    if isinstance(executor, ThreadPoolExecutor):
        yield from _in_order(partial(_in_thread, executor, work), work, tasks, AHEAD)
        return
    try:
        parcel = pickle.dumps(work, protocol=5)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(f"this cannot be sent to the executor's processes: {error}") from error
    client: Any = getattr(executor, "_client", None)  # Dask's executor offers no public access
    if hasattr(client, "scatter"):
        shared = client.scatter(work, broadcast=True, hash=False)  # the workers hold it as data
        yield from _in_order(partial(_on_dask, executor, shared), work, tasks, AHEAD)
        return
    with TemporaryDirectory(prefix="wayfield-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "work.pickle"
        path.write_bytes(parcel)
        del parcel

        def submit(task: Task) -> Future[Result]:
            return executor.submit(_from_file, str(path), task)

        yield from _in_order(submit, work, tasks, AHEAD)


def _in_order(
    submit: Callable[[Task], Future[Result]],
    work: Callable[[Task], Result],
    tasks: Iterable[Task],
    ahead: int,
) -> Iterator[Result]:
    """Submit tasks, `ahead` of them in advance, and yield results; redo here what workers lost."""
    waiting: deque[tuple[Task, Future[Result] | None]] = deque()
    lost = False

    def result() -> Result:
        nonlocal lost
        task, future = waiting.popleft()
        scheduler = sys.modules.get("distributed.scheduler")
        killed = () if scheduler is None else (scheduler.KilledWorker,)
        try:
            if future is not None:
                return future.result()
        except (BrokenExecutor, CancelledError, *killed) as error:
            if not lost:
                warnings.warn(
                    f"the executor lost its workers ({type(error).__name__}: {error}); the "
                    "remaining tasks run in this process",
                    RuntimeWarning,
                    stacklevel=5,
                )
            lost = True
        return work(task)

    try:
        for task in tasks:
            future: Future[Result] | None = None
            try:
                future = None if lost else submit(task)
            except BrokenExecutor as error:  # a worker died just now or earlier
                future = Future()
                future.set_exception(error)
            except RuntimeError as error:
                raise InputError(f"the executor takes no more tasks: {error}") from error
            waiting.append((task, future))
            if len(waiting) > ahead:
                yield result()
        while waiting:
            yield result()
    finally:
        for _, future in waiting:
            if future is not None:
                future.cancel()


class _Threads(Executor):
    """A pool of daemon threads.

    Python waits for the threads of a `ThreadPoolExecutor` at the end of its ``with`` block and at
    exit. After Ctrl-C that would take as long as the running solves.
    """

    def __init__(self, count: int) -> None:
        self.count, self.started = count, 0
        self.stopped = Event()
        """Set when nobody needs the results: running solves end at their next `check_stopped`."""
        self.tasks: SimpleQueue[Callable[[], None] | None] = SimpleQueue()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()

        def perform() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(fn(*args, **kwargs))
                except BaseException as error:
                    future.set_exception(error)

        self.tasks.put(perform)
        if self.started < self.count:
            self.started += 1
            Thread(target=self._serve, daemon=True).start()
        return future

    def shutdown(self, wait: bool = False, *, cancel_futures: bool = False) -> None:
        self.stopped.set()
        for _ in range(self.started):
            self.tasks.put(None)

    def _serve(self) -> None:
        while (perform := self.tasks.get()) is not None:
            perform()


def _in_thread(pool: Executor, work: Callable[[Task], Result], task: Task) -> Future[Result]:
    context = copy_context()
    if isinstance(pool, _Threads):
        context.run(stop_event.set, pool.stopped)
    return pool.submit(context.run, work, task)


def _on_dask(executor: Any, shared: Any, task: Any) -> Future[Any]:
    """Submit a task to Dask, with a function that its workers hold as data."""
    done: Future[Any] = executor.submit(_call, shared, task, pure=False)
    return done


def _call(work: Callable[[Task], Result], task: Task) -> Result:
    return work(task)


# Other processes get the function as a file, which each process reads once and keeps.

_kept: dict[str, Callable[[Any], Any]] = {}
"""The function of this process, by its file. Only one is kept: it may be large."""


def _from_file(path: str, task: Any) -> Any:
    """Run a task in a worker process, with the function it has kept or the one in the file."""
    if path not in _kept:
        try:
            work = pickle.loads(Path(path).read_bytes())
        except OSError as error:
            raise InputError(
                "the executor's processes must run on this machine, but one cannot read its files; "
                "for other machines, pass the executor of a Dask client"
            ) from error
        _kept.clear()
        _kept[path] = work
    return _kept[path](task)


# ------------------------------------------------------------------ a time limit

_deadline = ContextVar("deadline", default=(np.inf, np.inf))
"""Time to stop, by `time.perf_counter`, and the limit behind it, in seconds."""


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Limit the time of the solves inside; None is no limit.

    Once it has passed, the running solve raises `OutOfTime`, a `NotConverged`. `Harmonic` and
    `PLaplacian` check the clock between factorisations and every few hundred steps of an iteration,
    `AMLE` every few passes over the graph, `extend_many` before each batch, `drop_false_sinks`
    between its rounds. Other code runs to its end. If limits are nested, the earliest one counts.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield.fields import time_limit
    >>> maze = wf.grid_graph(wf.load_layout("large"), refinement=12)
    >>> labels = wf.sample_labels(maze, goal=0, fraction=0.02)
    >>> try:
    ...     with time_limit(1e-3):
    ...         wf.extend(maze, labels, wf.PLaplacian(16))
    ... except wf.NotConverged as error:
    ...     print(error)
    the time limit of 0.001 s ran out
    """
    if seconds is None:
        yield
        return
    limit = as_real(seconds, "time limit", least=0.0)
    with TimeLeft(limit, limit).limit():
        yield


def check_time() -> None:
    """Raise `OutOfTime` past the limit, `CancelledError` if the result is no longer needed."""
    check_stopped()
    stop, seconds = _deadline.get()
    if time.perf_counter() > stop:
        raise OutOfTime(seconds)


@dataclass(frozen=True)
class TimeLeft:
    """The remaining part of a limit, for a process with another clock.

    Attributes
    ----------
    left : float
        Seconds left when the task was sent; inf without a limit.
    seconds : float
        The limit.
    """

    left: float
    seconds: float

    @classmethod
    def now(cls) -> TimeLeft:
        """Return what remains now."""
        stop, seconds = _deadline.get()
        return cls(stop - time.perf_counter(), seconds)

    @contextmanager
    def limit(self) -> Iterator[None]:
        """Limit the time of the solves inside; an earlier outer limit still holds."""
        deadline = time.perf_counter() + self.left, self.seconds
        token = _deadline.set(min(deadline, _deadline.get()))
        try:
            yield
        finally:
            _deadline.reset(token)
