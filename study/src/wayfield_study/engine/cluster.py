"""The same tasks on a Dask cluster, by the address of its scheduler.

Results come back here, so workers need no common disk. The scheduler gives the tasks of a worker
that is lost to another one. Nothing is installed on workers: they must have the same versions of
wayfield and of what it computes with, or the figures would not be ours bit for bit.
"""

from __future__ import annotations

import asyncio
import logging
import platform
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from importlib import metadata
from queue import Empty, SimpleQueue
from typing import Any

from wayfield._optional import need
from wayfield.errors import WayfieldError

from .freshness import source, versions
from .pools import Attempt, Attempts, Order, attempt, order
from .tasks import Task

CONNECT = 8.0
"""Seconds to wait for the scheduler."""

PATIENCE = 10.0
"""Seconds without a result after which it is worth a look why."""


def on_cluster(tasks: Sequence[Task], address: str, note: Callable[[str], None]) -> Attempts:
    """Run the tasks on a cluster.

    Parameters
    ----------
    tasks : sequence of Task
        In the order to begin them.
    address : str
        Of the scheduler, such as ``"tcp://10.0.0.1:8786"``.
    note : function of a str
        Called with anything a person should know.
    """
    if not tasks:
        return
    with _connected(address) as client:
        _wait_for_workers(client, address, note)
        _check_versions(client)
        done: SimpleQueue[Any] = SimpleQueue()
        pending, made_by = {}, versions() | source()
        for number, task in enumerate(tasks):
            future = client.submit(_work, order(task), made_by, pure=False, priority=-number)
            pending[future.key] = future, task
            future.add_done_callback(done.put)
        while pending:
            try:
                future = done.get(timeout=PATIENCE)
            except Empty:
                _check_presence(client, address, note)
            else:
                _, task = pending.pop(future.key)
                yield task, _attempt(future, address)


def _work(ordered: Order, expected: dict[str, str]) -> Attempt:
    """Run one task on a worker, which may have joined after the others were checked."""
    for name, found in (versions() | source()).items():
        if found != expected.get(name):
            return Attempt([], f"its worker has {name} {found}, not {expected.get(name)}\n", 0.0)
    return attempt(*ordered)


def _attempt(future: Any, address: str) -> Attempt:
    """Fetch how a task ended, or say why nobody knows."""
    try:
        if future.status == "error":
            return Attempt([], f"its worker failed: {future.exception()!r}\n", 0.0)
        ended: Attempt = future.result()
    except (CancelledError, asyncio.CancelledError, OSError) as error:  # also time-outs
        raise _lost(address) from error
    return ended


def _wait_for_workers(client: Any, address: str, note: Callable[[str], None]) -> None:
    """Wait a moment for the first worker; a cluster may also start them when there is work."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except OSError:
        _check_presence(client, address, note)


def _check_presence(client: Any, address: str, note: Callable[[str], None]) -> None:
    """Tell the reasons for silence apart: no scheduler, no workers, or long tasks."""
    try:
        workers = client.nthreads() if client.status == "running" else None
    except OSError:
        workers = None
    if workers is None:
        raise _lost(address)
    if not workers:
        note(f"the scheduler at {address} has no workers: waiting for some")


def _lost(address: str) -> WayfieldError:
    return WayfieldError(
        f"lost the scheduler at {address}; what was finished is kept, run again to go on"
    )


def _check_versions(client: Any) -> None:
    """Refuse workers whose figures would not be ours; asks them for nothing of wayfield's."""
    for name in versions():
        asked = (platform.python_version,) if name == "python" else (metadata.version, name)
        ours = asked[0](*asked[1:])
        for worker, answer in client.run(*asked, on_error="return").items():
            missing = isinstance(answer, metadata.PackageNotFoundError)
            theirs = "missing" if missing else answer
            if isinstance(theirs, str) and theirs != ours:  # anything else: it left just now
                found = f"the worker at {worker} has {name} {theirs}"
                raise WayfieldError(f"{found}, here it is {ours}: install the same there")


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    """Connect to a scheduler, or say in one line why that cannot be."""
    distributed = need("distributed", "dask")
    with _quietly():
        try:
            with ThreadPoolExecutor(1) as thread:  # this one may have an event loop: notebooks do
                kind = thread.submit(asyncio.run, _greet(address)).result()
        except Exception as error:  # whatever answers there may send anything
            reason = f" ({error})" if isinstance(error, ValueError) else ""
            raise WayfieldError(f"no Dask scheduler answers at {address!r}{reason}") from error
        if kind != "Scheduler":
            raise WayfieldError(f"{address} is not a Dask scheduler but a {kind.lower()}")
        client = distributed.Client(address, timeout=CONNECT, set_as_default=False)
        try:
            yield client
        finally:
            client.close()


async def _greet(address: str) -> str:
    """Ask who is there, in a way that leaves nothing behind if nobody is."""
    core = need("distributed.core", "dask")
    async with asyncio.timeout(CONNECT), core.rpc(address, timeout=CONNECT) as server:
        return str((await server.identity())["type"])


@contextmanager
def _quietly() -> Iterator[None]:
    """Keep Dask's own messages out of the display: what matters is said here."""
    handlers = {handler: handler.level for handler in logging.getLogger("distributed").handlers}
    for handler in handlers:
        handler.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about versions: checked here, and more strictly
            yield
    finally:
        for handler, level in handlers.items():
            handler.setLevel(level)
