"""The API: a name and a JSON body in, a status and a JSON body out, independent of HTTP.

The server's workers and the notebook widget both call `respond`. Every request is
``{"scene": …}``, most with a ``panel`` (0 or 1) and some with one more entry:

| name | more | answer |
|---|---|---|
| picture | | values, moves, outcomes, cycles, certified moves: everything that is drawn |
| words | | the summary, line by line |
| state | state | value, bracket, moves with Q and slope, gap, margin, nearest labels |
| why | state | the labels that its value rests on, with their weights |
| route | start | the walk from there, its cost and the least possible |
| verdict | | whether the labels beat the plain graph distance, in words |
| sample | share, seed | vertices to label |
| next-label | | the state to label next, null if all costs-to-go are known |
| contradictions | | labels and edges that cannot both be right |
| false-sinks | | labels from which no arc leads to a smaller value |
| layout | | positions for a graph that has none |
| python | | a program that builds the same answer |

An error is ``{"error": "what is wrong"}``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from ..errors import OutOfTime, WayfieldError
from ..fields import time_limit
from ..graphs.layouts import Layout
from . import compute
from .scene import MOST_DRAWN, Fields, Panel, Scene, read_draw, read_json

SOLVE_SECONDS = 20.0
"""Time limit of a solve in seconds."""


class Reply(NamedTuple):
    """An HTTP status and a JSON body."""

    status: int
    body: bytes


Handler = Callable[[Scene, Fields], dict[str, Any]]


def _panel(scene: Scene, fields: Fields) -> int:
    return fields.whole("panel", 0, len(scene.panels) - 1, 0)


def _of_panel(make: Callable[[Scene, int], dict[str, Any]]) -> Handler:
    return lambda scene, fields: make(scene, _panel(scene, fields))


def _of_vertex(make: Callable[[Scene, int, int], dict[str, Any]], key: str) -> Handler:
    return lambda scene, fields: make(
        scene, _panel(scene, fields), fields.whole(key, 0, MOST_DRAWN)
    )


HANDLERS: dict[str, Handler] = {
    "picture": _of_panel(compute.picture),
    "words": _of_panel(compute.words),
    "state": _of_vertex(compute.state, "state"),
    "why": _of_vertex(compute.why, "state"),
    "route": _of_vertex(compute.route, "start"),
    "verdict": _of_panel(compute.verdict),
    "sample": lambda scene, fields: compute.sample(scene, *read_draw(fields)),
    "next-label": lambda scene, _: compute.next_label(scene),
    "contradictions": lambda scene, _: compute.find_contradictions(scene),
    "false-sinks": _of_panel(compute.false_sinks),
    "layout": lambda scene, _: compute.layout(scene),
    "python": _of_panel(compute.python),
}


def respond(name: str, body: bytes | bytearray) -> Reply:
    """Answer one request; errors are replies as well."""
    handler = HANDLERS.get(name)
    if handler is None:
        return error_reply(404, f"there is no /api/{name[:40]}")
    try:
        fields = Fields(read_json(body), "request")
        scene = Scene.from_json(fields.take("scene"))
        with time_limit(SOLVE_SECONDS):
            reply = handler(scene, fields)
        fields.done()
    except OutOfTime as error:
        return error_reply(504, f"{error}; try fewer vertices, or another p")
    except WayfieldError as error:
        return error_reply(422, str(error))
    except MemoryError:
        return error_reply(507, "not enough memory for this")
    except Exception as error:  # an error must not end the worker
        return error_reply(500, f"internal error; please report it: {error!r}"[:500])
    return Reply(200, json.dumps(reply, allow_nan=False, separators=(",", ":")).encode())


def error_reply(status: int, text: str) -> Reply:
    """Return a reply with an error message."""
    return Reply(status, json.dumps({"error": text}).encode())


def warm_up() -> None:
    """Answer every kind of request on small scenes, to compile all kernels.

    The scenes are mazes with and without terrain, one-way cells and noise.
    """
    more: dict[str, dict[str, float]] = {
        "state": {"state": 1},
        "why": {"state": 1},
        "route": {"start": 1},
        "sample": {"share": 0.2, "seed": 0},
    }

    def ask(name: str, scene: Scene) -> None:
        respond(name, json.dumps({"scene": scene.to_json(), **more.get(name, {})}).encode())

    plain, rough, one_way = (
        compute.maze_scene(Layout.from_text(text), 3, 0, 0.3, 0)
        for text in ("....\n.#..\n....", "....\n.#5.\n....", "..>.\n.#..\n.<..")
    )
    noisy = replace(plain, noise=3.0)
    for scene in (plain, rough, one_way):
        for name in HANDLERS:
            ask(name, scene)
    for scene in (plain, rough, noisy):
        for method in ("harmonic", "p=8", "distance"):
            for panel in (Panel(method), Panel(method, "q", "index"),
                          Panel(method, lift=True)):  # fmt: skip
                ask("picture", replace(scene, panels=(panel,), budget=0.1))
    ask("contradictions", noisy)
