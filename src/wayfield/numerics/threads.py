"""Number of threads, single-threaded linear algebra, and stopping a solve in a thread."""

from __future__ import annotations

import os
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager
from contextvars import ContextVar
from threading import Event

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]


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
