"""Worker processes: each answers one request at a time, and can be ended when it takes too long.

Solves run in compiled code that nobody can interrupt, so time limits and newer requests are
enforced from outside: a worker that is late is killed and another takes its place. What a hostile
request does to its worker, it does to nothing else.

**The newest wins.** Requests of one *lane* (one picture of one page) follow each other. One that a
newer request of its lane has overtaken is not begun, and if it has been running for a while and
nobody else is free, its worker is replaced.
"""

from __future__ import annotations

import asyncio
import itertools
import multiprocessing
import os
import signal
import time
from contextlib import suppress
from multiprocessing.connection import Connection

from ..errors import WayfieldError
from .api import Reply, error_reply, respond

LIMIT = 30.0
"""Seconds after which a worker is given up."""
IMPATIENCE = 1.0
"""Seconds after which a worker may be taken away from a request that a newer one has overtaken."""
QUEUE = 64
"""Requests that may wait."""

_OVERTAKEN = error_reply(409, "a newer request has taken the place of this one")
_BUSY = error_reply(503, "too many requests at once: wait a moment")
_DIED = error_reply(500, "the computation ended unexpectedly; the next one starts afresh")


def _late(seconds: float) -> Reply:
    return error_reply(504, f"this took longer than {seconds:g} s and was stopped")


def serve(connection: Connection, warm: bool) -> None:
    """Answer requests until the other end is closed: what runs in a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's to handle
    if warm:
        from .warm import warm_up

        warm_up()
    connection.send(True)
    try:
        while True:
            connection.send(respond(*connection.recv()))
    except (EOFError, OSError):
        return


class Worker:
    """One process; `ask` is called from a thread and blocks it, `stop` may come from another."""

    def __init__(self, warm: bool = True) -> None:
        self.warm = warm
        self.begun = 0.0
        self.stopped = False
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, self.warm), daemon=True)
        self.process.start()
        theirs.close()
        self.ready = False

    def wait(self) -> None:
        """Return once it is ready for requests: it imports, and perhaps compiles, before."""
        try:
            self.ready = self.ready or bool(self.connection.recv())
        except (EOFError, OSError) as error:
            raise WayfieldError("a worker of the explorer ended as soon as it began") from error

    def ask(self, name: str, body: bytes, limit: float) -> Reply:
        """Have a request answered; afterwards the worker is ready for another, come what may."""
        try:
            self.ready = self.ready or bool(self.connection.recv())
            self.begun = time.monotonic()
            self.connection.send((name, body))
            if self.connection.poll(limit):
                reply: Reply = self.connection.recv()
                return reply
            reply = _late(limit)
        except (EOFError, OSError):
            reply = _OVERTAKEN if self.stopped else _DIED
        finally:
            self.begun = 0.0
        self.restart()
        return reply

    def stop(self) -> None:
        """End what is running; `ask` says so, and begins anew."""
        self.stopped = True
        self.process.kill()

    def restart(self) -> None:
        """Replace the process."""
        self.close()
        self.stopped = False
        self._start()

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self.process.kill()
        self.process.join()
        self.connection.close()


class Pool:
    """Some workers, the last used first: it has the fields of the page that was drawn last.

    The first worker compiles what has to be compiled, if anything, before the others start.
    """

    def __init__(self, limit: float = LIMIT) -> None:
        self.limit = limit
        first = Worker()
        first.wait()
        others = max(2, min(3, (os.cpu_count() or 2) - 1))
        self.workers = [first, *(Worker() for _ in range(others))]
        self.idle: asyncio.LifoQueue[Worker] = asyncio.LifoQueue()
        self.expected = [*self.workers]
        self.joining: set[asyncio.Task[None]] = set()
        self.waiting = 0
        self.tickets = itertools.count()
        self.newest: dict[str, int] = {}
        self.running: dict[str, Worker] = {}

    async def answer(self, name: str, body: bytes, lane: str = "") -> Reply:
        """Have a request answered by the next worker that is free."""
        while self.expected:  # here, since only here is there a loop to wait in
            self._welcome(self.expected.pop())
        if self.waiting >= QUEUE:
            return _BUSY
        ticket = next(self.tickets)
        if lane:
            self.newest[lane] = ticket
            self._hurry(lane)
        self.waiting += 1
        try:
            worker = await self.idle.get()
        finally:
            self.waiting -= 1
        if lane and self.newest.get(lane) != ticket:
            self.idle.put_nowait(worker)
            return _OVERTAKEN
        if lane:
            self.running[lane] = worker
        task = asyncio.ensure_future(asyncio.to_thread(worker.ask, name, body, self.limit))
        task.add_done_callback(lambda _: self._release(worker, lane, ticket))
        return await asyncio.shield(task)  # who went away does not free the worker early

    def _hurry(self, lane: str) -> None:
        """Take a worker away from what this lane no longer needs, if nobody else is free."""
        worker = self.running.get(lane)
        if worker is None or not self.idle.empty() or not worker.begun:
            return
        if time.monotonic() - worker.begun > IMPATIENCE:
            worker.stop()

    def _release(self, worker: Worker, lane: str, ticket: int) -> None:
        if self.running.get(lane) is worker:
            del self.running[lane]
        if self.newest.get(lane) == ticket:
            del self.newest[lane]
        self._welcome(worker)

    def _welcome(self, worker: Worker) -> None:
        """Count a worker among the idle ones: at once, or as soon as it is ready."""
        if worker.ready:
            self.idle.put_nowait(worker)
            return
        task = asyncio.ensure_future(self._join(worker))
        self.joining.add(task)
        task.add_done_callback(self.joining.discard)

    async def _join(self, worker: Worker) -> None:
        with suppress(WayfieldError):  # then the next request to it says so, and begins anew
            await asyncio.to_thread(worker.wait)
        self.idle.put_nowait(worker)

    def close(self) -> None:
        """End all of them."""
        for worker in self.workers:
            worker.close()
