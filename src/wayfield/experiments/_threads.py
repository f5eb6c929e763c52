"""Linear algebra on one thread, where problems are small and every figure has to repeat."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext


def one_thread() -> AbstractContextManager[object]:
    """Linear algebra on one thread, if threadpoolctl is there to say so.

    On short vectors and small matrices, waiting for other threads can take all of the time; and
    the last digits depend on how many there are.
    """
    try:
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
    except ImportError:
        return nullcontext()
    limits: AbstractContextManager[object] = threadpool_limits(1)
    return limits
