"""``wayfield watch``: film a body that walks plans in a maze."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..errors import InputError
from ._common import Stages, read_layout, say
from ._options import DISTANCE, Force, LabelFraction

MAZE, REFINEMENT = "antmaze-medium", 4
GOAL, START, SEED = 22, 390, 58
"""A case in that maze in which the harmonic plan's ant circles for ever and the AMLE's arrives."""


def watch(
    maze: Annotated[
        str,
        typer.Argument(
            metavar="MAZE|FILE",
            help="An environment such as antmaze-medium, pointmaze-large or AntMaze_UMaze-v5, or "
            "a text file with your own maze: any name with a dot or a slash in it.",
        ),
    ] = MAZE,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="Method to extend the labels, or distance for the true values; may be given "
            "again to show walks side by side.",
            show_default="harmonic and amle",
        ),
    ] = None,
    refinement: Annotated[
        int, typer.Option(min=1, help="Vertices along a cell's side.")
    ] = REFINEMENT,
    label_fraction: LabelFraction = 0.05,
    goal: Annotated[
        int | None, typer.Option(help="Goal vertex.", show_default="drawn by the seed")
    ] = None,
    start: Annotated[
        int | None, typer.Option(help="Vertex to begin at.", show_default="drawn by the seed")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Seed of the labels and of the walk.", show_default="0"),
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="The film: .gif, .webp or .png (animated).")
    ] = Path("walk.gif"),
    force: Force = False,
) -> None:
    """Film a body that walks plans in a MuJoCo maze. Needs the extra sim.

    In the default maze, without goal, start or seed, these are 22, 390 and 58: the harmonic plan's
    ant circles for ever, and the AMLE's arrives.

    Example: wayfield watch antmaze-large --method distance --method amle --seed 3 --out large.gif
    """
    import numpy as np

    from .. import cost_to_go, extend, grid_graph, plan, plots, sample_labels, sim
    from .._arrays import as_vertex
    from .._text import number_of
    from ..extension._names import parse_method
    from ..files import Outbox, check_outputs
    from ..plots._walks import FILMS

    names = method or ["harmonic", "amle"]
    methods = {name: None if name == DISTANCE else parse_method(name) for name in names}
    if out.suffix.lower() not in FILMS:
        raise InputError(f"cannot write {out}: its name must end in {', '.join(FILMS)}")
    if not out.parent.is_dir():
        raise InputError(f"cannot write {out}: there is no folder {out.parent}")
    check_outputs(out.parent, [out.name], force)
    body = sim.make(read_layout(maze) if any(mark in maze for mark in "./\\") else maze)
    if (maze, refinement) == (MAZE, REFINEMENT) and (goal, start, seed) == (None, None, None):
        goal, start, seed = GOAL, START, SEED
    seed = seed or 0
    graph = grid_graph(body.layout.without_teleports(), refinement)
    places = body.coordinates.at(refinement)
    drawn = np.random.default_rng(seed).choice(places.roomy, 2, replace=False).tolist()
    ends = [
        as_vertex(given, name, graph.num_vertices) if given is not None else own
        for given, own, name in zip((start, goal), drawn, ("start", "goal"), strict=True)
    ]
    if ends[0] == ends[1]:
        raise InputError(f"start and goal must differ, got vertex {ends[0]} for both")
    labels = sample_labels(graph, ends[1], label_fraction, seed)
    (x0, y0), (x1, y1) = places.xy[ends]
    where = f"start {ends[0]} at ({x0:g}, {y0:g}), goal {ends[1]} at ({x1:g}, {y1:g})"
    say(Console(), f"{maze}, seed {seed}: {where}, {number_of(len(labels), 'labels')}")
    plans, walks = [], []
    for name, each in methods.items():
        with Stages() as stages:
            stages.begin(f"{name}: planning and walking")
            values = cost_to_go(graph, ends[1]) if each is None else extend(graph, labels, each)
            plans.append(plan(graph, values, ends[1]))
            walks.append(sim.walk(body, plans[-1], start=ends[0], seed=seed))
        say(Console(), f"{name}: {walks[-1].ending} after {walks[-1].steps:,} steps")
    with Stages() as stages, Outbox(out.parent, force) as outbox:
        stages.begin("filming")
        plots.film(walks, plans, body, outbox.path(out.name), names, labels)
    say(Console(), f"film: {out}")
