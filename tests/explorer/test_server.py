"""The explorer's server, as a browser, a curious neighbour and a hostile page meet it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

import wayfield as wf
from browsing import first_visit
from shell import wayfield
from wayfield.explorer import server
from wayfield.explorer.api import Reply
from wayfield.explorer.scene import Panel, scene_of
from wayfield.explorer.server import LARGEST_BODY, SLOWEST_HEAD, Gone, Pool, SolverProcess, listen

JSON = {"content-type": "application/json"}


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=120.0) as found:
        yield found


def body(**more: Any) -> bytes:
    return json.dumps({"scene": first_visit().to_json(), **more}).encode()


def error(reply: httpx.Response) -> str:
    told: str = reply.json()["error"]
    return told


def slow_scene() -> dict[str, Any]:
    """A scene whose field takes seconds."""
    rng = np.random.default_rng(0)
    n = 20_000
    tails, away = rng.integers(n, size=5 * n), rng.integers(1, n, size=5 * n)
    pairs = np.unique(np.sort([tails, (tails + away) % n], axis=0), axis=1)
    graph = wf.Graph.from_edges(*pairs, None, n)
    labels = wf.Labels(np.arange(200), rng.normal(size=200) + 10.0)
    return scene_of(graph, labels, 0, panels=[Panel("p=64")]).to_json()


# ---------------------------------------------------------------- the page


def test_the_page_and_its_parts_come_from_here_and_may_load_nothing_else(
    client: httpx.Client,
) -> None:
    page = client.get("/")
    assert page.status_code == 200
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert page.headers["x-frame-options"] == "DENY"
    for name in ("main.js", "app.js", "style.css", "icon.svg"):
        assert client.get(f"/page/{name}").status_code == 200
    assert "http" not in page.text.replace("http-equiv", "")


@pytest.mark.parametrize(
    "path",
    ["/page/../server.py", "/page/..%2fserver.py", "/page/%2e%2e/api.py", "/etc/passwd", "/x"],
)
def test_no_other_file_is_read(client: httpx.Client, path: str) -> None:
    reply = client.send(client.build_request("GET", path))
    assert reply.status_code == 404
    assert "error" in reply.json()


def test_start_has_the_scene_and_the_maps(client: httpx.Client) -> None:
    facts = client.post("/api/start", json={}).json()
    assert facts["scene"] == first_visit().to_json()
    assert set(facts["layouts"]) == set(wf.layout_names())


def test_a_picture_comes_over_the_wire(client: httpx.Client) -> None:
    reply = client.post("/api/picture", content=body(), headers=JSON)
    assert reply.status_code == 200
    assert reply.json()["can_reach"] == 2943


# ---------------------------------------------------------------- hosts, origins, methods


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1:1", "", "localhost."]
)
def test_other_hosts_are_refused(client: httpx.Client, host: str) -> None:
    reply = client.post("/api/picture", content=body(), headers=JSON | {"host": host})
    assert reply.status_code in (400, 403)
    if reply.status_code == 403:
        assert "host" in error(reply)
    assert client.get("/", headers={"host": host}).status_code in (400, 403)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1", "file://"])
def test_other_origins_are_refused(client: httpx.Client, origin: str) -> None:
    reply = client.post("/api/picture", content=body(), headers=JSON | {"origin": origin})
    assert reply.status_code == 403
    assert "origin" in error(reply)


def test_other_sites_are_refused_and_the_own_origin_is_not(
    client: httpx.Client, address: str
) -> None:
    cross = JSON | {"sec-fetch-site": "cross-site"}
    assert client.post("/api/picture", content=body(), headers=cross).status_code == 403
    own = JSON | {"origin": address, "sec-fetch-site": "same-origin"}
    assert client.post("/api/picture", content=body(), headers=own).status_code == 200


def test_preflights_and_other_methods_get_nothing(client: httpx.Client) -> None:
    asked = {"origin": "http://evil.example", "access-control-request-method": "POST"}
    reply = client.request("OPTIONS", "/api/picture", headers=asked)
    assert reply.status_code == 403
    assert "access-control-allow-origin" not in reply.headers
    assert client.get("/api/picture").status_code == 405
    assert client.put("/api/picture").status_code == 405
    assert "POST" in error(client.get("/api/picture"))


def test_bodies_must_be_json(client: httpx.Client) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        reply = client.post("/api/picture", content=body(), headers={"content-type": kind})
        assert reply.status_code == 415


# ---------------------------------------------------------------- sizes


def test_a_body_of_100_mb_is_refused_before_it_is_read(address: str) -> None:
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as raw:
        head = f"POST /api/picture HTTP/1.1\r\nhost: {host}:{port}\r\n"
        head += f"content-type: application/json\r\ncontent-length: {100 * 2**20}\r\n\r\n"
        raw.sendall(head.encode())
        assert b" 413 " in raw.recv(4096)


def test_a_body_that_does_not_say_its_size_is_cut_off(client: httpx.Client) -> None:
    def parts() -> Iterator[bytes]:
        for _ in range(LARGEST_BODY // 2**20 + 2):
            yield b" " * 2**20

    try:
        reply = client.post("/api/picture", content=parts(), headers=JSON)
        assert reply.status_code == 413
    except httpx.TransportError:  # it hung up while we were still sending
        pass
    assert client.get("/").status_code == 200


def test_bodies_are_bounded_all_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MOST_BUFFERED", 3000)
    release = asyncio.Event()

    class Waiting:
        """Answers nothing before it is told to."""

        async def answer(self, *_: object) -> Reply:
            await release.wait()
            return Reply(200, b"{}")

    async def scene() -> list[int]:
        app = server.make_app(first_visit(), Waiting(), 80)  # type: ignore[arg-type]
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:

            async def send(size: int) -> int:
                reply = await client.post("/api/picture", content=b" " * size, headers=JSON)
                return reply.status_code

            held = [asyncio.create_task(send(1000)) for _ in range(3)]
            await asyncio.sleep(0.1)
            refused = await send(1)
            release.set()
            return [refused, *await asyncio.gather(*held), await send(3000), await send(3001)]

    assert asyncio.run(scene()) == [503, 200, 200, 200, 200, 503]


def test_a_client_that_leaves_in_the_middle_is_no_error() -> None:
    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        said.append(message["type"])

    said: list[str] = []
    app = server.make_app(first_visit(), object(), 80)  # type: ignore[arg-type]
    headers = [(b"host", b"127.0.0.1"), (b"content-length", b"9")]
    headers.append((b"content-type", b"application/json"))
    scope = {
        "type": "http", "method": "POST", "path": "/api/picture", "raw_path": b"/api/picture",
        "root_path": "", "scheme": "http", "query_string": b"", "headers": headers,
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80), "http_version": "1.1",
    }  # fmt: skip
    asyncio.run(app(scope, receive, send))
    assert said == ["http.response.start", "http.response.body"]


@pytest.mark.parametrize(
    "sent",
    [b"[" * 10**6, b'{"a":' * 10**5, b'{"scene": NaN}', b"\x00" * 100, b"", b"null",
     b'{"scene": {"graph": {"vertices": 1000000000}, "goal": 0}}',
     b'"' + b"\\u0000" * 10**5 + b'"'],
)  # fmt: skip
def test_hostile_bodies_are_a_4xx_with_a_reason(client: httpx.Client, sent: bytes) -> None:
    reply = client.post("/api/picture", content=sent, headers=JSON)
    assert 400 <= reply.status_code < 500
    assert error(reply)
    assert client.post("/api/picture", content=body(), headers=JSON).status_code == 200


def test_broken_http_does_not_end_it(client: httpx.Client, address: str) -> None:
    host, port = address.removeprefix("http://").split(":")
    lines = (
        b"\x00\xff\xfe" * 1000,
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /api/x HTTP/1.1\r\n",
        b"A" * 10**5,
    )
    for line in lines:
        with socket.create_connection((host, int(port)), timeout=10) as raw:
            raw.sendall(line)
    assert client.get("/").status_code == 200


def test_connections_that_never_finish_a_request_are_closed(
    client: httpx.Client, address: str
) -> None:
    host, port = address.removeprefix("http://").split(":")
    opened = [socket.create_connection((host, int(port)), timeout=30) for _ in range(220)]
    try:
        for number, raw in enumerate(opened):
            with suppress(OSError):  # those beyond the limit are refused at once
                raw.sendall(b"" if number % 2 else b"GET / HTTP/1.1\r\nx:")
        deadline = time.monotonic() + 30.0
        while client.get("/").status_code != 200:
            assert time.monotonic() < deadline
            time.sleep(0.5)
        begun, closed = time.monotonic(), False
        opened[0].settimeout(0.25)
        while not closed and time.monotonic() - begun < 2 * SLOWEST_HEAD:
            try:
                opened[0].sendall(b"a")  # a byte now and then does not help
                closed = opened[0].recv(1) == b""
            except TimeoutError:
                continue
            except OSError:  # it was closed while we sent
                closed = True
        assert closed
    finally:
        for raw in opened:
            raw.close()
    assert client.get("/").status_code == 200


# ---------------------------------------------------------------- time


class Halting:
    """Workers, some of which can be halted: however fast solvers are, these are slow."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.halted: list[SolverProcess] = []

    async def answer(self, lane: str = "", gone: Gone | None = None) -> int:
        return (await self.pool.answer("picture", body(), lane, gone)).status

    async def halt(self, most: int, gone: Gone | None = None) -> list[asyncio.Task[int]]:
        """Halt workers that are idle, and have each begin a request that it does not finish."""
        while self.pool.idle.qsize() < len(self.pool.workers):
            await self.answer()  # all that are expected are on their way
            await asyncio.sleep(0.1)
        while len(self.halted) < most:
            worker = await self.pool.idle.get()
            assert worker.process.pid is not None
            os.kill(worker.process.pid, signal.SIGSTOP)
            self.halted.append(worker)
        for worker in self.halted:
            self.pool.idle.put_nowait(worker)
        begun = [asyncio.create_task(self.answer(gone=gone)) for _ in self.halted]
        await asyncio.sleep(0.2)
        return begun

    def go_on(self) -> None:
        for worker in self.halted:
            assert worker.process.pid is not None
            os.kill(worker.process.pid, signal.SIGCONT)


@pytest.fixture
def halting() -> Iterator[Halting]:
    pool = Pool(limit=10.0, warm=False)
    yield Halting(pool)
    pool.close()


def test_a_slow_request_does_not_block_the_next_and_ends_in_words(halting: Halting) -> None:
    async def scene() -> tuple[int, bool, int]:
        (slow,) = await halting.halt(1)
        other = await halting.answer()
        return other, slow.done(), await slow

    assert asyncio.run(scene()) == (200, False, 504)


def test_the_newest_of_a_lane_wins(halting: Halting) -> None:
    async def scene() -> list[int]:
        begun = await halting.halt(len(halting.pool.workers))
        lane = [asyncio.create_task(halting.answer("page/picture-0")) for _ in range(4)]
        await asyncio.sleep(0.2)
        halting.go_on()
        assert await asyncio.gather(*begun) == [200] * len(begun)
        return list(await asyncio.gather(*lane))

    assert asyncio.run(scene()) == [409, 409, 409, 200]


def test_slow_requests_whose_senders_have_gone_make_room(halting: Halting) -> None:
    left = False

    async def gone() -> bool:
        return left

    async def scene() -> tuple[int, list[int], int]:
        nonlocal left
        begun = await halting.halt(len(halting.pool.workers), gone)
        waiting = asyncio.create_task(halting.answer(gone=gone))
        left = True
        other = await halting.answer()
        return other, list(await asyncio.gather(*begun)), await waiting

    other, begun, waiting = asyncio.run(scene())
    assert other == 200
    assert 409 in begun
    assert waiting == 409


def test_a_worker_that_is_late_or_dies_is_replaced() -> None:
    worker = SolverProcess(warm=False)
    try:
        slow = json.dumps({"scene": slow_scene()}).encode()
        late = worker.ask("picture", slow, limit=0.2)
        assert late.status == 504
        assert b"took longer than 0.2 s" in late.body
        worker.process.kill()
        died = worker.ask("picture", b"{}", limit=60.0)
        assert died.status == 500
        assert worker.ask("picture", b"{}", limit=60.0).status == 422
    finally:
        worker.close()


# ---------------------------------------------------------------- the command


def test_a_port_that_is_taken_is_said() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        done = wayfield("explore", "--no-browser", "--port", port)
    assert done.code == 2
    assert f"cannot listen at 127.0.0.1:{port}" in done.err


BAD = {
    "every address": (["--host", "0.0.0.0"], "one address of this machine"),
    "an address of another machine": (["--host", "192.0.2.1"], "cannot listen at 192.0.2.1"),
    "an unknown map": (["larg"], "did you mean 'large'?"),
    "a file that is not there": (["none.txt"], "cannot read none.txt"),
    "a scene that is not there": (["none.json"], "none.json"),
    "three arguments": (["a.csv", "b.csv", "c.csv"], "got 3 arguments"),
    "a goal that is no number": (["umaze", "--goal", "Bern"], "a vertex number, got 'Bern'"),
    "a goal that is no vertex": (["umaze", "--goal", "99999"], "goal 99999 is not a vertex"),
    "an unknown method": (["umaze", "--method", "magic"], "unknown method 'magic'"),
    "a maze that is too fine": (["giant", "--refinement", "64"], "more than 50,000"),
    "edges that are not there": (["none.csv", "known.csv"], "none.csv"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_said_in_one_line(case: str) -> None:
    words, told = BAD[case]
    done = wayfield("explore", "--no-browser", *words)
    assert done.code == 2
    assert told in done.err
    assert done.err.count("\n") == 1


def test_a_scene_file_that_is_none_is_said(tmp_path: Path) -> None:
    file = tmp_path / "scene.json"
    file.write_text('{"goal": 1}')
    done = wayfield("explore", "--no-browser", file)
    assert done.code == 2
    assert "scene.json: scene must have exactly one of maze and graph" in done.err
