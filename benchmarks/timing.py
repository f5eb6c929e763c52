"""Timing side by side: figures are ratios taken in one run, never absolute promises."""

from __future__ import annotations

import time
from collections.abc import Callable


def best_of(
    work: Callable[[], object], times: int = 5, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Least time of several runs by a clock, after one that is not counted."""
    work()
    seconds = []
    for _ in range(times):
        start = clock()
        work()
        seconds.append(clock() - start)
    return min(seconds)
