"""The server: one page, its files, and the API behind it. It listens on this machine only.

**Safety.** A page elsewhere must not drive it: requests are answered only if their ``Host`` is an
address of this server (a name that somebody points at this machine is not), and, from a browser,
only if they come from the page itself; bodies must be JSON, which other origins cannot send without
being asked first. Bodies are bounded in size and in the time they take to arrive, work is bounded
by `workers`, and no file is read but those of the page, which are read before the first request.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterable
from contextlib import asynccontextmanager
from importlib import resources
from typing import TYPE_CHECKING, Any

from .._optional import need
from ..errors import InputError
from ..layouts import layout_names, load_layout
from .api import HANDLERS, Reply, error_reply
from .scene import FINEST, MOST_CELLS, MOST_EDGES, MOST_VERTICES, Scene
from .workers import Pool

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

LARGEST_BODY = 16 * 2**20
"""Bytes of a request: a graph of the largest size, with names, fits in."""
SLOWEST_BODY = 10.0
"""Seconds in which a body must have arrived."""
USUAL_PORT = 8642
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

_KINDS = {
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


class Guard:
    """Refuse whatever does not come from this machine's own page, before anything reads it."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str], port: int) -> None:
        self.app = app
        self.hosts = {f"{host}:{port}" for host in hosts}
        if port == 80:
            self.hosts |= set(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
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
        await app(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> Reply | None:
        given: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            given.setdefault(name.decode("latin-1"), []).append(value.decode("latin-1"))
        host = given.get("host", [])
        if len(host) != 1 or host[0].lower() not in self.hosts:
            return error_reply(403, "this host name is not one of this server")
        origin = given.get("origin")
        if origin is not None and origin != [f"http://{host[0]}"]:
            return error_reply(403, "requests of other origins are refused")
        site = given.get("sec-fetch-site", ["none"])[0]
        if scope["path"].startswith("/api/") and site not in ("same-origin", "none"):
            return error_reply(403, "requests of other sites are refused")
        return None


class TooLarge(Exception):  # noqa: N818  (a state of affairs)
    """A body is larger than it may be."""


def make_app(opening: Scene, pool: Pool, port: int, hosts: Iterable[str] = LOOPBACK) -> Starlette:
    """Return the application that shows a scene first; it closes the pool at its end."""
    starlette = need("starlette.applications", "web")
    routing = need("starlette.routing", "web")
    middleware = need("starlette.middleware", "web")
    responses = need("starlette.responses", "web")
    files, start = _page(), json.dumps(start_facts(opening)).encode()

    async def page(request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        if name not in files:
            return _answer(error_reply(404, "there is no such page"))
        kind, body = files[name]
        page: Response = responses.Response(body, media_type=kind)
        return page

    async def api(request: Request) -> Response:
        name = request.path_params["name"]
        if name != "start" and name not in HANDLERS:
            return _answer(error_reply(404, f"there is no /api/{name[:40]}"))
        if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return _answer(error_reply(415, "the body must be application/json"))
        try:
            async with asyncio.timeout(SLOWEST_BODY):
                body = await _read_body(request)
        except TooLarge:
            return _answer(error_reply(413, f"the body is larger than {LARGEST_BODY:,} bytes"))
        except TimeoutError:
            return _answer(error_reply(408, f"the body took longer than {SLOWEST_BODY:g} s"))
        if name == "start":
            return _answer(Reply(200, start))
        lane = request.headers.get("wayfield-lane", "")[:100]
        return _answer(await pool.answer(name, body, lane))

    @asynccontextmanager
    async def lifespan(_: Any) -> Any:
        yield
        pool.close()

    async def wrong_method(_: Request, error: Any) -> Response:
        told = {404: "there is no such page", 405: "the API takes POST, the pages GET"}
        text = told.get(error.status_code, "this cannot be done")
        return _answer(error_reply(error.status_code, text))

    http = need("starlette.exceptions", "web").HTTPException
    app: Starlette = starlette.Starlette(
        routes=[
            routing.Route("/", page),
            routing.Route("/page/{name}", page),
            routing.Route("/api/{name}", api, methods=["POST"]),
        ],
        middleware=[middleware.Middleware(Guard, hosts=tuple(hosts), port=port)],
        exception_handlers={http: wrong_method},
        lifespan=lifespan,
    )
    return app


def start_facts(opening: Scene) -> dict[str, Any]:
    """Return what the page asks for first: what to show, the maps there are, and the bounds."""
    return {
        "scene": opening.to_json(),
        "layouts": {name: load_layout(name).to_text() for name in layout_names()},
        "limits": {
            "vertices": MOST_VERTICES,
            "edges": MOST_EDGES,
            "cells": MOST_CELLS,
            "refinement": FINEST,
        },
    }


def _page() -> dict[str, tuple[str, bytes]]:
    """Read the page's files, once: kind and content by name."""
    folder = resources.files(__package__) / "page"
    return {
        file.name: (_KINDS[file.name[file.name.rindex(".") :]], file.read_bytes())
        for file in folder.iterdir()
        if file.is_file()
    }


def listen(host: str, port: int | None) -> socket.socket:
    """Return a socket that listens: at this port, or at the usual one or any that is free."""
    if host in ("0.0.0.0", "::", ""):  # requests are known by the address they are sent to
        raise InputError(f"listen at an address of this machine that others use, not {host!r}")
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
    app = make_app(opening, pool, listening.getsockname()[1], hosts)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        limit_concurrency=200,
        timeout_graceful_shutdown=1,
    )
    uvicorn.Server(config).run(sockets=[listening])


async def _read_body(request: Request) -> bytes:
    told = request.headers.get("content-length", "0")
    if not told.isascii() or not told.isdigit() or int(told[:20]) > LARGEST_BODY:
        raise TooLarge
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > LARGEST_BODY:
            raise TooLarge
        parts.append(part)
    return b"".join(parts)


def _answer(reply: Reply) -> Response:
    responses = need("starlette.responses", "web")
    answer: Response = responses.Response(
        reply.body, status_code=reply.status, media_type="application/json"
    )
    return answer
