"""Processes that answer calls and can be killed at any time."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import connection, get_context, parent_process, resource_tracker
from threading import Lock, Thread
from typing import Any


class Worker:
    """A process that answers one call after another and can be killed at any time.

    It ignores Ctrl-C, uses one thread for linear algebra, and ends when this process does.

    Parameters
    ----------
    answer : callable
        Importable function, called in the process with the arguments that are sent.
    prepare : callable, optional
        Importable function, called once before the worker is ready.
    """

    def __init__(
        self, answer: Callable[..., Any], prepare: Callable[[], None] | None = None
    ) -> None:
        self.jobs = answer, prepare
        self.start()

    def start(self) -> None:
        """Start the process."""
        # on Linux they are forked by a server that has imported the module of the function once
        context: Any = get_context("forkserver" if sys.platform == "linux" else "spawn")
        context.set_forkserver_preload(["__main__", self.jobs[0].__module__])
        self.pipe, theirs = context.Pipe()
        self.ready = False
        with _starting_workers():
            # the server keeps the environment of its own start
            arguments = theirs, dict(os.environ), *self.jobs
            self.process = context.Process(target=_serve, args=arguments, daemon=True)
            self.process.start()
        theirs.close()  # so that the pipe ends when the process does

    def send(self, *arguments: Any) -> None:
        """Send the arguments of a call. If the process has died, `receive` raises."""
        with suppress(OSError):
            self.pipe.send(arguments)

    def receive(self, timeout: float | None = None) -> Any:
        """Return one message: the result of a call, or None when the worker is ready.

        Raises
        ------
        EOFError
            If the process has died.
        TimeoutError
            If no message arrives within this many seconds.
        """
        try:
            arrived = self.pipe.poll(timeout)
            message = self.pipe.recv() if arrived else None
        except OSError as error:
            raise EOFError from error
        if not arrived:
            raise TimeoutError
        self.ready = True
        return message

    def kill(self) -> None:
        """Kill the process. A caller waiting in `receive` gets an EOFError."""
        self.process.kill()

    def close(self) -> None:
        """Kill the process and wait until it is gone."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


def _serve(
    pipe: connection.Connection,
    environment: dict[str, str],
    answer: Callable[..., Any],
    prepare: Callable[[], None] | None,
) -> None:
    """Answer calls until the other end of the pipe is closed or its process ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    os.environ.clear()
    os.environ.update(environment)

    def end_with_parent() -> None:
        parent = parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=end_with_parent, daemon=True).start()
    if prepare is not None:
        prepare()
    with suppress(EOFError, OSError):
        pipe.send(None)
        while True:
            pipe.send(answer(*pipe.recv()))


_start = Lock()


@contextmanager
def _starting_workers() -> Iterator[None]:
    """Set what new processes inherit: one thread each, and Ctrl-C ignored."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    masks = hasattr(signal, "pthread_sigmask")  # not on Windows
    with _start:
        if masks:
            resource_tracker.ensure_running()  # it would let Ctrl-C through again as it starts
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        set_before = {name: os.environ.get(name) for name in names}
        os.environ.update(dict.fromkeys(names, "1"))
        try:
            yield
        finally:
            for name, value in set_before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value
            if masks:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
