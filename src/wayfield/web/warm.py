"""Every question of the API, asked once on small scenes: compiled kernels are ready afterwards."""

from __future__ import annotations

import json
from dataclasses import replace

from ..layouts import Layout
from .api import HANDLERS, respond
from .opening import maze_scene
from .scene import Scene, Settings

_MORE: dict[str, dict[str, float]] = {
    "state": {"state": 1},
    "route": {"start": 1},
    "sample": {"share": 0.2, "seed": 0},
}
_SQUARE = Layout.from_text("....\n.#5.\n....")
_ONE_WAY = Layout.from_text("..>.\n.#..\n.<..")


def warm_up() -> None:
    """Answer every question about mazes with and without terrain, one-way cells and noise."""
    plain = maze_scene(Layout.from_text(_SQUARE.to_text().replace("5", ".")), 3, 0, 0.3, 0)
    rough, one_way = maze_scene(_SQUARE, 3, 0, 0.3, 0), maze_scene(_ONE_WAY, 3, 0, 0.3, 0)
    for scene in (plain, rough, one_way):
        _ask_all(scene)
    noisy = replace(plain, noise=3.0)
    for scene in (plain, rough, noisy):
        for method in ("harmonic", "p=8", "distance", "mended"):
            panels = (
                Settings(method),
                Settings(method, "q", "index"),
                Settings(method, lift=True),
            )
            for panel in panels:
                _ask("picture", replace(scene, panels=(panel,), budget=0.1))
    _ask("mend", noisy)
    _ask("contradictions", noisy)


def _ask_all(scene: Scene) -> None:
    for name in HANDLERS:
        _ask(name, scene)


def _ask(name: str, scene: Scene) -> None:
    respond(name, json.dumps({"scene": scene.to_json(), **_MORE.get(name, {})}).encode())
