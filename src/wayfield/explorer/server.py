"""The server: one page, its files, and the API behind it. It listens on this machine only.

**Safety.** Other pages must not control it. Requests are answered only if their ``Host`` is an
address of this server, not a name that someone else points at this machine. From a browser they
must come from the page itself. Bodies must be JSON, which other origins cannot send without a
preflight request. Bodies are limited in size, each and in total. Heads and bodies are limited in
the time they take to arrive. The only files read are those of the page, before the first request.

**Work is bounded.** Solves run in compiled code that cannot be interrupted, so they run in worker
processes. A worker that is late is killed and replaced. A hostile request affects only its own
worker.

**The newest wins.** Requests of one *lane* (one picture of one page) follow each other. A request
that a newer one of its lane has overtaken is not started. If it has been running for a while and no
other worker is free, its worker is replaced. So is the worker of a request with a sender that has
disconnected.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import socket
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from importlib import resources
from typing import TYPE_CHECKING, Any

from ..checks import need
from ..errors import InputError, WayfieldError
from ..graphs.layouts import layout_names, load_layout
from ..numerics.processes import Worker
from ..numerics.workers import num_processors
from .api import HANDLERS, Reply, error_reply, respond, warm_up
from .scene import MOST_CELLS, MOST_DRAWN, MOST_EDGES, MOST_REFINED, Scene

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

LARGEST_BODY = 16 * 2**20
"""Largest request in bytes: a graph of the largest size, with names, fits."""
MOST_BUFFERED = 4 * LARGEST_BODY
"""Largest total size of all open requests in bytes."""
SLOWEST_BODY = 10.0
"""Seconds within which a body must arrive."""
SLOWEST_HEAD = 5.0
"""Seconds within which the head of a request must arrive, or the connection is closed."""
ANSWER_SECONDS = 30.0
"""Seconds after which a worker is killed."""
GRACE_SECONDS = 1.0
"""Seconds after which a worker may be taken from a request that is no longer needed."""
QUEUE = 64
"""Largest number of waiting requests."""
USUAL_PORT = 8642
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

Gone = Callable[[], Awaitable[bool]]
"""Whether the sender of a request has disconnected."""

_MEDIA_TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


# ------------------------------------------------------------------ workers

_OVERTAKEN = error_reply(409, "a newer request has taken the place of this one")
_BUSY = error_reply(503, "too many requests at once: wait a moment")
_DIED = error_reply(500, "the computation ended unexpectedly; please try again")


class SolverProcess(Worker):
    """A worker process that answers requests; it is replaced when it is late or dies.

    `ask` is called from a thread and blocks it; `stop` may come from another.
    """

    def __init__(self, warm: bool = True) -> None:
        self.begun = 0.0
        self.stopped = False
        super().__init__(respond, warm_up if warm else None)

    def wait(self) -> None:
        """Return once the worker is ready; it imports modules and may have to compile first."""
        if not self.ready:
            self.receive()

    def ask(self, name: str, body: bytes | bytearray, limit: float) -> Reply:
        """Return the answer to a request; the worker is then ready for another."""
        try:
            self.wait()
            self.begun = time.monotonic()
            self.send(name, body)
            reply: Reply = self.receive(limit)
        except TimeoutError:
            reply = error_reply(504, f"this took longer than {limit:g} s and was stopped")
        except EOFError:
            reply = _OVERTAKEN if self.stopped else _DIED
        else:
            return reply
        finally:
            self.begun = 0.0
        self.close()
        self.stopped = False
        self.start()
        return reply

    def stop(self) -> None:
        """Kill the running request; `ask` returns, and a new process starts."""
        self.stopped = True
        self.kill()


class Pool:
    """Worker processes, the most recently used first: it has the fields of the latest page cached.

    The first one compiles the kernels, if necessary, before the others start.
    """

    def __init__(self, limit: float = ANSWER_SECONDS, warm: bool = True) -> None:
        self.limit = limit
        first = SolverProcess(warm)
        try:
            first.wait()
        except EOFError as error:
            raise WayfieldError("a worker of the explorer ended while starting") from error
        others = max(2, min(3, num_processors() - 1))
        self.workers = [first, *(SolverProcess(warm) for _ in range(others))]
        self.idle: asyncio.LifoQueue[SolverProcess] = asyncio.LifoQueue()
        self.expected = [*self.workers]
        self.joining: set[asyncio.Task[None]] = set()
        self.waiting = 0
        self.tickets = itertools.count()
        self.newest: dict[str, int] = {}
        self.running: dict[str, SolverProcess] = {}

    async def answer(
        self, name: str, body: bytes | bytearray, lane: str = "", gone: Gone | None = None
    ) -> Reply:
        """Return the answer of the next free worker, unless the sender has disconnected."""
        while self.expected:  # here, since only here an event loop is running
            self._welcome(self.expected.pop())
        if self.waiting >= QUEUE:
            return _BUSY
        ticket = next(self.tickets)
        if lane:
            self.newest[lane] = ticket
            # take a worker from requests that this lane no longer needs, if no other is free
            late = self.running.get(lane)
            begun = late.begun if late is not None and self.idle.empty() else 0.0
            if late is not None and begun and time.monotonic() - begun > GRACE_SECONDS:
                late.stop()
        self.waiting += 1
        try:
            worker = await self.idle.get()
        finally:
            self.waiting -= 1
        overtaken = bool(lane) and self.newest.get(lane) != ticket
        if overtaken or (gone is not None and await gone()):
            self.idle.put_nowait(worker)
            return _OVERTAKEN
        if lane:
            self.running[lane] = worker
        task = asyncio.ensure_future(asyncio.to_thread(worker.ask, name, body, self.limit))
        task.add_done_callback(lambda _: self._release(worker, lane, ticket))
        while not task.done():  # not awaited: a lost sender must not free the worker early
            await asyncio.wait({task}, timeout=GRACE_SECONDS)
            if self.waiting and not task.done() and gone is not None and await gone():
                worker.stop()
        return task.result()

    def _release(self, worker: SolverProcess, lane: str, ticket: int) -> None:
        if self.running.get(lane) is worker:
            del self.running[lane]
        if self.newest.get(lane) == ticket:
            del self.newest[lane]
        self._welcome(worker)

    def _welcome(self, worker: SolverProcess) -> None:
        """Add a worker to the idle ones, at once or when it is ready."""
        if worker.ready:
            self.idle.put_nowait(worker)
            return

        async def join() -> None:
            with suppress(EOFError):  # the next request will find out, and start a new process
                await asyncio.to_thread(worker.wait)
            self.idle.put_nowait(worker)

        task = asyncio.ensure_future(join())
        self.joining.add(task)
        task.add_done_callback(self.joining.discard)

    def close(self) -> None:
        """End all workers."""
        for worker in self.workers:
            worker.close()


# ------------------------------------------------------------------ the application


class Guard:
    """Reject requests that do not come from this machine's own page, before anything reads them."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str], port: int, busy: Counter[Any]) -> None:
        self.app = app
        self.busy = busy
        self.hosts = {f"{host}:{port}" for host in hosts}
        if port == 80:
            self.hosts |= set(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                extra = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
                message["headers"] = [*message["headers"], *extra]
            await send(message)

        refusal = self._refusal(scope)
        app = self.app if refusal is None else _answer(refusal)
        client = scope["client"]
        self.busy[client] += 1
        try:
            await app(scope, receive, send_guarded)
        finally:
            self.busy -= Counter([client])  # keeps no zeros

    def _refusal(self, scope: Scope) -> Reply | None:
        given: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            given.setdefault(name.decode("latin-1"), []).append(value.decode("latin-1"))
        host = given.get("host", [])
        if len(host) != 1 or host[0].lower() not in self.hosts:
            return error_reply(403, "this host name does not belong to this server")
        origin = given.get("origin")
        if origin is not None and origin != [f"http://{host[0]}"]:
            return error_reply(403, "requests from other origins are rejected")
        site = given.get("sec-fetch-site", ["none"])[0]
        if scope["path"].startswith("/api/") and site not in ("same-origin", "none"):
            return error_reply(403, "requests from other sites are rejected")
        return None


def make_app(
    opening: Scene,
    pool: Pool,
    port: int,
    hosts: Iterable[str] = LOOPBACK,
    connections: Callable[[], Iterable[Any]] = tuple,
) -> Starlette:
    """Return the application that shows a scene first; it closes the pool at the end.

    `connections` returns the open ones, each with its ``transport``: the application closes those
    on which a request takes too long to arrive.
    """
    starlette = need("starlette.applications", "web")
    routing = need("starlette.routing", "web")
    middleware = need("starlette.middleware", "web")
    responses = need("starlette.responses", "web")
    disconnected = need("starlette.requests", "web").ClientDisconnect
    start, held, busy = json.dumps(start_facts(opening)).encode(), 0, Counter[Any]()
    files = {  # kind and content by name
        file.name: (_MEDIA_TYPES[file.name[file.name.rindex(".") :]], file.read_bytes())
        for file in (resources.files(__package__) / "page").iterdir()
        if file.is_file()
    }

    async def page(request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        if name not in files:
            return _answer(error_reply(404, "there is no such page"))
        kind, body = files[name]
        page: Response = responses.Response(body, media_type=kind)
        return page

    async def api(request: Request) -> Response:
        nonlocal held
        name = request.path_params["name"]
        if name != "start" and name not in HANDLERS:
            return _answer(error_reply(404, f"there is no /api/{name[:40]}"))
        if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return _answer(error_reply(415, "the body must be application/json"))
        length = request.headers.get("content-length", "0")
        size = int(length[:20]) if length.isascii() and length.isdigit() else LARGEST_BODY + 1
        body = bytearray()
        try:
            async with asyncio.timeout(SLOWEST_BODY):
                if size <= LARGEST_BODY:  # the declared size; the body may also arrive in chunks
                    async for part in request.stream():
                        body += part
                        held += len(part)
                        size = max(size, len(body))
                        if size > LARGEST_BODY or held > MOST_BUFFERED:
                            break
            if size > LARGEST_BODY:
                return _answer(error_reply(413, f"the body is larger than {LARGEST_BODY:,} bytes"))
            if held > MOST_BUFFERED:
                return _answer(_BUSY)
            if name == "start":
                return _answer(Reply(200, start))
            lane = request.headers.get("wayfield-lane", "")[:100]
            return _answer(await pool.answer(name, body, lane, request.is_disconnected))
        except disconnected:
            return _answer(_OVERTAKEN)  # nobody reads it
        except TimeoutError:
            return _answer(error_reply(408, f"the body took longer than {SLOWEST_BODY:g} s"))
        finally:
            held -= len(body)

    async def close_idle() -> None:
        """Close connections without a complete request head after `SLOWEST_HEAD` s.

        uvicorn waits for ever: connections that send a head byte by byte, or nothing, would use up
        all connections.
        """
        since: dict[Any, float] = {}
        while True:
            await asyncio.sleep(SLOWEST_HEAD / 10)
            now, before = time.monotonic(), since
            since = {}
            for each in list(connections()):
                peer = each.transport.get_extra_info("peername")
                if peer is not None and tuple(peer[:2]) not in busy:
                    since[each] = before.get(each, now)
                    if now - since[each] > SLOWEST_HEAD:
                        each.transport.close()

    @asynccontextmanager
    async def lifespan(_: Any) -> Any:
        watch = asyncio.create_task(close_idle())
        yield
        watch.cancel()
        pool.close()

    async def wrong_method(_: Request, error: Any) -> Response:
        messages = {404: "there is no such page", 405: "the API takes POST, the pages GET"}
        text = messages.get(error.status_code, "this request cannot be answered")
        return _answer(error_reply(error.status_code, text))

    http = need("starlette.exceptions", "web").HTTPException
    app: Starlette = starlette.Starlette(
        routes=[
            routing.Route("/", page),
            routing.Route("/page/{name}", page),
            routing.Route("/api/{name}", api, methods=["POST"]),
        ],
        middleware=[middleware.Middleware(Guard, hosts=tuple(hosts), port=port, busy=busy)],
        exception_handlers={http: wrong_method},
        lifespan=lifespan,
    )
    return app


def start_facts(opening: Scene) -> dict[str, Any]:
    """Return the initial data of the page: the scene, the known maps, and the limits."""
    return {
        "scene": opening.to_json(),
        "layouts": {name: load_layout(name).to_text() for name in layout_names()},
        "limits": {
            "vertices": MOST_DRAWN,
            "edges": MOST_EDGES,
            "cells": MOST_CELLS,
            "refinement": MOST_REFINED,
        },
    }


def listen(host: str, port: int | None) -> socket.socket:
    """Return a listening socket: at this port, or at the default one or any that is free."""
    if host in ("0.0.0.0", "::", ""):  # requests are checked against the address they are sent to
        raise InputError(f"host must be one address of this machine, got {host!r}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    problem: OSError | None = None
    for wanted in (USUAL_PORT, 0) if port is None else (port,):
        found = socket.socket(family, socket.SOCK_STREAM)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((host, wanted))
            found.listen()
        except OSError as error:
            found.close()
            problem = error
        else:
            return found
    place = host if port is None else f"{host}:{port}"
    reason = problem.strerror if problem else ""
    raise InputError(f"cannot listen at {place}: {reason}") from problem


def run(
    opening: Scene, pool: Pool, listening: socket.socket, hosts: Iterable[str] = LOOPBACK
) -> None:
    """Serve until Ctrl-C."""
    uvicorn = need("uvicorn", "web")
    app = make_app(
        opening,
        pool,
        listening.getsockname()[1],
        hosts,
        lambda: server.server_state.connections,
    )
    config = uvicorn.Config(
        app,
        http="h11",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,  # the address of a request is that of its connection
        ws="none",
        limit_concurrency=200,
        timeout_keep_alive=int(SLOWEST_HEAD),
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    server.run(sockets=[listening])


def _answer(reply: Reply) -> Response:
    responses = need("starlette.responses", "web")
    answer: Response = responses.Response(
        reply.body, status_code=reply.status, media_type="application/json"
    )
    return answer
