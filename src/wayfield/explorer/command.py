"""``wayfield explore``: the explorer in a browser, on a maze or on your own graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..cli.options import (
    Directed,
    Goal,
    LabelFraction,
    Places,
    Reading,
    Source,
    add_command,
    read_layout,
)
from ..cli.output import Stages, say
from ..errors import InputError

_TABLES = (".csv", ".tsv", ".parquet", ".npz", ".gz")
"""File endings of tables, in lower case; other files are mazes."""


def explore(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="LAYOUT | MAZE FILE | EDGES LABELS",
            help="A map such as large, a text file with a maze, the files of a graph of your own "
            "as `wayfield plan` takes them, or a scene that the page exported.",
            show_default="a maze with a loop",
        ),
    ] = None,
    goal: Goal = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            "-m",
            metavar="METHOD",
            help="Method shown first.",
            show_default="amle, harmonic on the first visit",
        ),
    ] = None,
    refinement: Annotated[int, typer.Option(min=1, help="Mazes: vertices along a cell.")] = 8,
    label_fraction: LabelFraction = 0.02,
    seed: Annotated[int, typer.Option(min=0, help="Mazes: seed of the labels.")] = 54,
    directed: Directed = False,
    positions: Places = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Port.", show_default="8642, or a free one"),
    ] = None,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address; by default this machine only.")
    ] = "127.0.0.1",
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
) -> None:
    """Draw walls and labels in a browser, and watch the plan: where it loops, and what helps.

    A local server with one page, which contacts no other machine. Without arguments it shows a maze
    with a plan that loops. Nothing is written to disk: the page keeps its state in its address, and
    exports pictures, scenes and Python. Needs the extra web.

    Example: wayfield explore medium

    Example: wayfield explore roads.csv known.csv --goal Bern
    """
    from ..checks import need

    need("starlette", "web")
    need("uvicorn", "web")
    import threading
    import webbrowser

    from rich.console import Console

    from ..fields.names import parse_method
    from .compute import FIRST_GOAL, FIRST_MAZE, FIRST_METHOD, maze_scene
    from .scene import DISTANCE, Panel, Scene, read_json, scene_of
    from .server import LARGEST_BODY, LOOPBACK, Pool, listen, run

    files = [Path(name) for name in what or []]
    if len(files) > 2:
        raise InputError(f"explore takes a maze, or EDGES and LABELS, got {len(files)} arguments")
    if method not in (None, DISTANCE):
        parse_method(method)
    opening: Scene
    if len(files) == 2 or (files and files[0].name.lower().endswith(_TABLES)):
        known = files[1] if len(files) == 2 else None
        reading = Reading(directed=directed)
        source = Source(files[0], known, goal, positions, reading)
        with Stages() as stages:
            given = source.read(stages)
        called = [str(name) for name in given.names]
        panels = [Panel(method or "amle")]
        opening = scene_of(given.graph, given.labels, given.goal, called, panels)
    elif files and files[0].suffix.lower() == ".json":
        with files[0].open("rb") as file:
            data = file.read(LARGEST_BODY + 1)
        if len(data) > LARGEST_BODY:
            raise InputError(
                f"{files[0]} must be at most {LARGEST_BODY:,} bytes, the limit of a scene, got more"
            )
        try:
            opening = Scene.from_json(read_json(data))
        except InputError as error:
            raise InputError(f"{files[0]}: ", error.message) from error
    else:  # a maze; by default one with a harmonic plan that loops
        if goal is not None and not (goal.isascii() and goal.isdigit()):
            raise InputError(f"--goal of a maze must be a vertex number, got {goal!r}")
        usual, how = (0, "amle") if what else (FIRST_GOAL, FIRST_METHOD)
        layout = read_layout(what[0] if what else FIRST_MAZE)
        vertex = usual if goal is None else int(goal[:20])
        opening = maze_scene(layout, refinement, vertex, label_fraction, seed, method or how)
    with listen(host, port) as listening:  # from here on, browsers wait for an answer
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{listening.getsockname()[1]}/"
        say(Console(), f"explorer: {address} (Ctrl-C ends it)")
        with Stages() as stages:
            stages.begin("loading the solvers; the first time, compiling takes a few minutes")
            pool = Pool()
        if browser:  # after a moment for the server to start
            timer = threading.Timer(0.5, webbrowser.open, [address])
            timer.daemon = True
            timer.start()
        run(opening, pool, listening, {*LOOPBACK, shown})


def register(app: typer.Typer) -> None:
    """Add the command to `wayfield`."""
    add_command(app, explore)
