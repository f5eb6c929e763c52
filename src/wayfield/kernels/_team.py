"""A few threads that share the work of one solve; kernels let go of the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from types import TracebackType
from typing import TypeVar

T = TypeVar("T")


class Team:
    """The calling thread and `threads - 1` others, which live as long as the ``with`` block."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        # threads are started when there is something to do for them
        self._others = ThreadPoolExecutor(threads - 1) if threads > 1 else None

    def __enter__(self) -> Team:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._others is not None:
            self._others.shutdown()

    def run(self, tasks: Sequence[Callable[[], T]]) -> list[T]:
        """Run all tasks, the first in this thread, and return what they return."""
        if self._others is None:
            return [task() for task in tasks]
        later = [self._others.submit(task) for task in tasks[1:]]
        return [tasks[0](), *(each.result() for each in later)]

    def later(self, task: Callable[[], T]) -> Callable[[], T]:
        """Begin a task elsewhere, or put it off; the result is had by calling what is returned."""
        return task if self._others is None else self._others.submit(task).result

    def parts(self, size: int) -> list[tuple[int, int]]:
        """Cut a range into one part for each: where it starts and stops."""
        return list(pairwise(size * k // self.threads for k in range(self.threads + 1)))
