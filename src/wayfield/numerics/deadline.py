"""A time limit for solves.

Long loops call `check_time` between their steps. Once the limit has passed, it raises `OutOfTime`,
whatever the method and however deep the loop. The limit belongs to the caller's context, so calls
in different threads have separate limits. Other processes are sent the remaining time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np

from ..checks import as_real
from ..errors import OutOfTime
from .workers import check_stopped

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
