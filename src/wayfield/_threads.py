"""How many threads there are, and how to keep linear algebra to one."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager

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
