"""How many threads there are, how to keep linear algebra to one, and how to stop a solve in one."""

from __future__ import annotations

import os
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager
from contextvars import ContextVar
from threading import Event

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]


def one_thread() -> AbstractContextManager[object]:
    """Linear algebra on one thread.

    On short vectors and small matrices waiting for other threads can take all of the time, a
    hundred times as long on a busy machine; and the last digits depend on how many there are.
    """
    limits: AbstractContextManager[object] = threadpool_limits(1)
    return limits


def num_processors() -> int:
    """How many processors are ours; Linux knows which."""
    ours = getattr(os, "sched_getaffinity", None)
    return len(ours(0)) if ours else os.cpu_count() or 1


stop_event: ContextVar[Event | None] = ContextVar("stop_event", default=None)
"""Set once nobody waits for the result of the task that runs in this context."""


def check_stopped() -> None:
    """Raise `CancelledError` in a task whose result nobody waits for any more."""
    stop = stop_event.get()
    if stop is not None and stop.is_set():
        raise CancelledError
