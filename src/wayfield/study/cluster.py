"""The same jobs on a Dask cluster, by the address of its scheduler.

Results come back here, so workers need no common disk. The scheduler gives the jobs of a worker
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

from .._optional import need
from ..errors import WayfieldError
from .pools import Job, Result, Results, attempt
from .store import versions

CONNECT = 8.0
"""Seconds to wait for the scheduler."""

PATIENCE = 10.0
"""Seconds without a result after which it is worth a look why."""


def on_cluster(jobs: Sequence[Job], address: str, note: Callable[[str], None]) -> Results:
    """Run the jobs on a cluster.

    Parameters
    ----------
    jobs : sequence of Job
        In the order to begin them.
    address : str
        Of the scheduler, such as ``"tcp://10.0.0.1:8786"``.
    note : function of a str
        Called with anything a person should know.
    """
    if not jobs:
        return
    with _connected(address) as client:
        _wait_for_workers(client, address, note)
        _check_versions(client)
        done: SimpleQueue[Any] = SimpleQueue()
        pending = {}
        for number, job in enumerate(jobs):
            future = client.submit(_work, job, versions(), pure=False, priority=-number)
            pending[future.key] = future, job
            future.add_done_callback(done.put)
        while pending:
            try:
                future = done.get(timeout=PATIENCE)
            except Empty:
                _check_presence(client, address, note)
            else:
                _, job = pending.pop(future.key)
                yield job, _result(future, address)


def _work(job: Job, expected: dict[str, str]) -> Result:
    """Run one job on a worker, which may have joined after the others were checked."""
    for name, found in versions().items():
        if found != expected[name]:
            return Result([], f"its worker has {name} {found}, not {expected[name]}\n", 0.0)
    return attempt(job)


def _result(future: Any, address: str) -> Result:
    """Fetch a result, or say why there is none."""
    try:
        if future.status == "error":
            return Result([], f"its worker failed: {future.exception()!r}\n", 0.0)
        result: Result = future.result()
    except (CancelledError, asyncio.CancelledError, OSError) as error:  # also time-outs
        raise _lost(address) from error
    return result


def _wait_for_workers(client: Any, address: str, note: Callable[[str], None]) -> None:
    """Wait a moment for the first worker; a cluster may also start them when there is work."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except OSError:
        _check_presence(client, address, note)


def _check_presence(client: Any, address: str, note: Callable[[str], None]) -> None:
    """Tell the reasons for silence apart: no scheduler, no workers, or long jobs."""
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
    for name, ours in versions().items():
        asked = (platform.python_version,) if name == "python" else (metadata.version, name)
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
