"""A few threads that share the work of one solve; kernels let go of the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from threading import Condition, Thread
from types import TracebackType
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Task(Generic[T]):
    """Something to be done by whoever is free."""

    def __init__(self, call: Callable[[], T], urgent: bool) -> None:
        self._call = call
        self._result: T
        self._error: Exception | None = None
        self.urgent = urgent
        self.done = False

    def perform(self) -> None:
        """Do it; an error is kept for whoever asks for the result, an interrupt is not."""
        try:
            self._result = self._call()
        except Exception as error:
            self._error = error

    @property
    def result(self) -> T:
        """What the call returned; raises what it raised."""
        if self._error is not None:
            raise self._error
        return self._result


class Team:
    """The calling thread and `threads - 1` others, which live as long as the ``with`` block.

    Of urgent tasks the last begun is done first, as it is waited for soonest. Others are done by
    those who have nothing else to do.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._others: list[Thread] = []
        self._waiting: list[Task[Any]] = []
        self._idle = 0
        self._changed = Condition()
        self._closed = False

    def __enter__(self) -> Team:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()
        for other in self._others:
            other.join()

    def begin(self, calls: Iterable[Callable[[], T]], urgent: bool = True) -> list[Task[T]]:
        """Let others do this, or this thread when it has to wait."""
        tasks = [Task(call, urgent) for call in calls]
        with self._changed:
            # taken from the end: what is not urgent waits behind all else
            place = len(self._waiting) if urgent else 0
            self._waiting[place:place] = tasks
            self._changed.notify(len(tasks))
            wanted = len(self._waiting) - self._idle
        # threads are started when there is something to do for them
        for _ in range(min(wanted, self.threads - 1 - len(self._others))):
            other = Thread(target=self._serve, daemon=True)
            other.start()
            self._others.append(other)
        return tasks

    def finish(self, tasks: Sequence[Task[T]]) -> list[T]:
        """Return what the tasks return; helps until all are done, with what is as urgent."""
        for task in tasks:
            while not task.done:
                self._help(task)
        return [task.result for task in tasks]

    def run(self, calls: Sequence[Callable[[], T]]) -> list[T]:
        """Do all of this now, the first in this thread, and return the results."""
        others = self.begin(reversed(calls[1:]))
        return [calls[0](), *self.finish(others[::-1])]

    def parts(self, size: int) -> list[tuple[int, int]]:
        """Cut a range into one part for each thread: where it starts and stops."""
        return list(pairwise(size * k // self.threads for k in range(self.threads + 1)))

    def _serve(self) -> None:
        while True:
            with self._changed:
                self._idle += 1
                self._changed.wait_for(lambda: self._waiting or self._closed)
                self._idle -= 1
                if self._closed:
                    return
                task = self._waiting.pop()
            self._perform(task)

    def _help(self, wanted: Task[Any]) -> None:
        """Do something that waits and is as urgent; if nothing does, wait for the task itself."""

        def can_help() -> bool:
            return bool(self._waiting) and self._waiting[-1].urgent >= wanted.urgent

        with self._changed:
            self._changed.wait_for(lambda: can_help() or wanted.done)
            if wanted.done:
                return
            task = self._waiting.pop()
        self._perform(task)

    def _perform(self, task: Task[Any]) -> None:
        task.perform()
        with self._changed:
            task.done = True
            self._changed.notify_all()
