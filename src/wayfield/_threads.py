"""How many threads there are: for linear algebra, and for one solve that can use several."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]


def one_thread() -> AbstractContextManager[object]:
    """Linear algebra on one thread.

    On short vectors and small matrices waiting for other threads can take all of the time, a
    hundred times as long on a busy machine; and the last digits depend on how many there are.
    """
    limits: AbstractContextManager[object] = threadpool_limits(1)
    return limits


MOST = 8
"""More threads than this are of no use to one solve."""

_among_others: ContextVar[bool] = ContextVar("_among_others", default=False)


@contextmanager
def among_others() -> Iterator[None]:
    """Other solves run at the same time: each has one thread."""
    token = _among_others.set(True)
    try:
        yield
    finally:
        _among_others.reset(token)


def threads_here() -> int:
    """How many threads a solve may use: the processors that are ours, one among other solves."""
    return 1 if _among_others.get() else min(MOST, num_processors())


def num_processors() -> int:
    """How many processors are ours; Linux knows which."""
    ours = getattr(os, "sched_getaffinity", None)
    return len(ours(0)) if ours else os.cpu_count() or 1
