"""Linear algebra on one thread, where problems are small and every figure has to repeat."""

from __future__ import annotations

from contextlib import AbstractContextManager

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]


def one_thread() -> AbstractContextManager[object]:
    """Linear algebra on one thread.

    On short vectors and small matrices waiting for other threads can take all of the time, a
    hundred times as long on a busy machine; and the last digits depend on how many there are.
    """
    limits: AbstractContextManager[object] = threadpool_limits(1)
    return limits
