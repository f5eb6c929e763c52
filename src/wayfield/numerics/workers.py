"""Parallel work on threads, or on an executor of `concurrent.futures`, and a time limit for solves.

**Ctrl-C raises KeyboardInterrupt at once**, without waiting for running tasks.

**A time limit.** Long loops call `check_time` between their steps. Once the limit has passed, it
raises `OutOfTime`, whatever the method and however deep the loop. The limit belongs to the caller's
context, so calls in different threads have separate limits. Other processes are sent the remaining
time.
"""

from __future__ import annotations

import os
import pickle
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any, TypeVar
from uuid import uuid4

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


def dispatch(
    work: Callable[[Task], Result],
    tasks: Iterable[Task],
    *,
    workers: int | None = None,
    executor: Executor | None = None,
) -> Generator[Result]:
    """Yield ``work(task)`` for each task, in order.

    Close the generator to cancel tasks that have not begun, and to end running solves of threads at
    their next `check_time`.

    Parameters
    ----------
    work : callable
        For an executor of processes it must be picklable. It may be large: each process reads it
        once.
    tasks : iterable
        Small; each is made when its turn comes.
    workers : int, optional
        Number of threads if there is no executor. Default: one per processor.
    executor : Executor, optional
        Executor to use; it is left running.
    """
    threads: _Threads | None = None
    stopped = Event()
    if executor is None:
        count = num_processors() if workers is None else workers
        if isinstance(count, bool) or not hasattr(count, "__index__") or count < 1:
            raise InputError(f"workers must be a whole number of at least 1, got {count!r}")
        if count > MOST_THREADS:
            raise InputError(f"workers must be at most {MOST_THREADS:,}, got {count}")
        executor = threads = _Threads(count)
    elif not isinstance(executor, Executor):
        is_client = hasattr(executor, "get_executor") and hasattr(executor, "scatter")
        hint = "; for a Dask client, pass client.get_executor()" if is_client else ""
        raise InputError(
            "executor must be a concurrent.futures executor, such as ProcessPoolExecutor(), "
            f"got {executor!r}{hint}"
        )
    elif workers is not None:
        raise InputError("workers and executor exclude each other: an executor has its own")

    submit: Callable[..., Future[Result]]
    if isinstance(executor, _Threads | ThreadPoolExecutor):
        submit = partial(_to_thread, executor, stopped, work)
    else:
        submit = _to_process(executor, work)
    waiting: deque[Future[Result]] = deque()
    ahead = max(AHEAD, threads.count if threads else 0)
    try:
        for task in tasks:
            try:
                waiting.append(submit(task))
            except RuntimeError as error:
                raise InputError(f"the executor takes no more tasks: {error}") from error
            if len(waiting) > ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        stopped.set()
        for future in waiting:
            future.cancel()
        if threads is not None:
            threads.shutdown()


class _Threads(Executor):
    """A pool of daemon threads.

    Python waits for the threads of a `ThreadPoolExecutor` at the end of its ``with`` block and at
    exit. After Ctrl-C that would take as long as the running solves.
    """

    def __init__(self, count: int) -> None:
        self.count, self.started = count, 0
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
        for _ in range(self.started):
            self.tasks.put(None)

    def _serve(self) -> None:
        while (perform := self.tasks.get()) is not None:
            perform()


def _to_thread(
    pool: Executor, stopped: Event, work: Callable[[Task], Result], task: Task
) -> Future[Result]:
    """Submit a task with the caller's context, and with the event that ends its solve."""
    context = copy_context()
    context.run(_stopped.set, stopped)
    return pool.submit(context.run, work, task)


def _to_process(
    executor: Executor, work: Callable[[Task], Result]
) -> Callable[[Task], Future[Result]]:
    """Return what submits a task to an executor of processes, with the time that is left."""
    try:
        parcel: Any = pickle.dumps(work, protocol=5)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(f"this cannot be sent to the executor's processes: {error}") from error
    options = {}
    client: Any = getattr(executor, "_client", None)  # Dask's executor offers no public access
    if hasattr(client, "scatter"):  # its workers hold the parcel as data
        parcel = client.scatter(parcel, broadcast=True, hash=False)
        options["pure"] = False
    key = uuid4().hex
    return lambda task: executor.submit(_in_process, key, parcel, task, time_left(), **options)


_kept: dict[str, Callable[[Any], Any]] = {}
"""The function of this process, by its key. Only one is kept: it may be large."""


def _in_process(key: str, parcel: bytes, task: Any, left: tuple[float, float]) -> Any:
    """Run a task in a worker process, with the function it has kept or the one in the parcel."""
    if key not in _kept:
        _kept.clear()
        _kept[key] = pickle.loads(parcel)
    with _limited(*left):
        return _kept[key](task)


# ------------------------------------------------------------------ a time limit

_stopped: ContextVar[Event | None] = ContextVar("stopped", default=None)
"""Set when the result of the task in this context is no longer needed."""
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
    with _limited(limit, limit):
        yield


@contextmanager
def _limited(left: float, seconds: float) -> Iterator[None]:
    """Limit the time of the solves inside to what is `left`; an earlier outer limit still holds."""
    deadline = time.perf_counter() + left, seconds
    token = _deadline.set(min(deadline, _deadline.get()))
    try:
        yield
    finally:
        _deadline.reset(token)


def time_left() -> tuple[float, float]:
    """Return the seconds left and the limit, inf without one: for a process with another clock."""
    stop, seconds = _deadline.get()
    return stop - time.perf_counter(), seconds


def check_time() -> None:
    """Raise `OutOfTime` past the limit, `CancelledError` if the result is no longer needed."""
    stopped = _stopped.get()
    if stopped is not None and stopped.is_set():
        raise CancelledError
    stop, seconds = _deadline.get()
    if time.perf_counter() > stop:
        raise OutOfTime(seconds)
