"""Tasks on all processors of this machine, or on a Dask cluster; results come as they are ready.

**A lost worker costs only time.** A process that dies is replaced and its task is tried again. Dask
gives the tasks of a lost worker to another one.

**Ctrl-C raises KeyboardInterrupt at once**, without waiting for running tasks.
"""

from __future__ import annotations

import asyncio
import logging
import warnings
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import connection
from queue import Empty, SimpleQueue
from typing import Any

from wayfield.checks import need
from wayfield.errors import WayfieldError
from wayfield.numerics.processes import Worker

TRIES = 3
"""Attempts at a task whose worker process dies."""

STARTS = 5
"""Number of consecutive worker processes that may die before they are ready."""

CONNECT = 8.0
"""Seconds to wait for a Dask scheduler."""

SILENCE = 10.0
"""Seconds without a result before the cluster is checked."""


def in_processes(
    work: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], count: int
) -> Generator[tuple[int, Any]]:
    """Yield (position, ``work(*task)``) as tasks finish, from a pool of worker processes.

    Parameters
    ----------
    work : callable
        Importable function.
    tasks : sequence of tuples
        Arguments of each task, in the order to start them.
    count : int
        Number of processes.

    Yields
    ------
    (int, object)
        The result is None if the task's worker died `TRIES` times.

    Raises
    ------
    WayfieldError
        If worker processes die before they are ready.
    """
    waiting, deaths = deque(range(len(tasks))), Counter[int]()
    workers: dict[Any, Worker] = {}
    busy: dict[Any, int] = {}
    stillborn = 0

    def start() -> None:
        worker = Worker(work)
        workers[worker.pipe] = worker

    def hand_out() -> None:
        for pipe, worker in workers.items():
            if worker.ready and pipe not in busy and waiting:
                busy[pipe] = waiting.popleft()
                worker.send(*tasks[busy[pipe]])

    try:
        for _ in range(min(count, len(tasks))):
            start()
        while waiting or busy:
            for pipe in connection.wait(list(workers)):
                worker, position = workers[pipe], busy.pop(pipe, None)
                try:
                    result = worker.receive()
                except EOFError:
                    stillborn = 0 if worker.ready else stillborn + 1
                    if stillborn == STARTS:
                        raise WayfieldError("worker processes die before they are ready") from None
                    del workers[pipe]
                    worker.close()
                    start()
                    if position is None:
                        continue
                    deaths[position] += 1
                    if deaths[position] < TRIES:
                        waiting.appendleft(position)
                        continue
                    result = None
                else:
                    stillborn = 0
                    hand_out()  # before the result is processed, which takes a moment
                if position is not None:
                    yield position, result
            hand_out()
    finally:
        for worker in workers.values():
            worker.close()


def on_cluster(
    work: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    address: str,
    note: Callable[[str], None],
    check: Callable[[Any], None],
) -> Generator[tuple[int, Any]]:
    """Yield (position, ``work(*task)``) as tasks finish, from a Dask cluster.

    Results come back here, so workers need no common disk.

    Parameters
    ----------
    work : callable
        Small function that the workers can import.
    tasks : sequence of tuples
        Arguments of each task, in the order to start them.
    address : str
        Of the scheduler, such as ``"tcp://10.0.0.1:8786"``.
    note : callable
        Called with messages for the user.
    check : callable
        Called with the Dask client before any task is sent; raises if the workers are unsuitable.

    Yields
    ------
    (int, object)
        The result is an exception if the task's workers failed.

    Raises
    ------
    WayfieldError
        If no scheduler answers at the address, or the scheduler is lost.
    """

    def check_presence(client: Any, cancelled: bool = False) -> None:
        """Raise if the scheduler is lost, and note if it has no workers."""
        try:
            lost = cancelled or client.status != "running"
            present = not lost and client.nthreads()
        except OSError:
            lost = True
        if lost:
            raise WayfieldError(
                f"lost the scheduler at {address}; finished tasks are kept, run again to continue"
            )
        if not present:
            note(f"the scheduler at {address} has no workers: waiting for some")

    if not tasks:
        return
    with dask_client(address) as client:
        try:
            client.wait_for_workers(1, timeout=SILENCE)
        except OSError:  # some clusters start workers only when there is work
            check_presence(client)
        check(client)
        executor, done = client.get_executor(), SimpleQueue[Future[Any]]()
        pending: dict[Future[Any], int] = {}
        for position, task in enumerate(tasks):
            future = executor.submit(_call, work, *task, pure=False, priority=-position)
            pending[future] = position
            future.add_done_callback(done.put)
        while pending:
            try:
                future = done.get(timeout=SILENCE)
            except Empty:
                check_presence(client)
                continue
            if future.cancelled() or future.exception() is not None:
                check_presence(client, future.cancelled())  # tasks of a lost scheduler do not fail
            error = future.exception()
            yield pending.pop(future), future.result() if error is None else error


def _call(work: Callable[..., Any], *task: Any) -> Any:
    return work(*task)


@contextmanager
def dask_client(address: str) -> Iterator[Any]:
    """Connect to a Dask scheduler, or raise `WayfieldError` with the reason in one line."""
    distributed = need("distributed", "dask")

    async def greet() -> str:
        """Return the type of the server at the address; raise if none answers in time."""
        core = need("distributed.core", "dask")
        async with asyncio.timeout(CONNECT), core.rpc(address, timeout=CONNECT) as server:
            return str((await server.identity())["type"])

    # Dask's own messages are kept out of the display; the errors below say what matters
    handlers = {handler: handler.level for handler in logging.getLogger("distributed").handlers}
    for handler in handlers:
        handler.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about versions: callers check them more strictly
            try:
                with ThreadPoolExecutor(1) as thread:  # a notebook already runs an event loop here
                    kind = thread.submit(asyncio.run, greet()).result()
            except Exception as error:  # any service may answer there
                reason = f" ({error})" if isinstance(error, ValueError) else ""
                raise WayfieldError(f"no Dask scheduler answers at {address!r}{reason}") from error
            if kind != "Scheduler":
                raise WayfieldError(f"{address} is not a Dask scheduler but a {kind.lower()}")
            with distributed.Client(address, timeout=CONNECT, set_as_default=False) as client:
                yield client
    finally:
        for handler, level in handlers.items():
            handler.setLevel(level)
