"""``wayfield maze``: extend a few labels over a maze, plan from every start, say how it went."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from ..errors import InputError
from ._common import compile_kernels, explained, notes, read_layout
from ._inputs import Error, Json, Method, Repair
from ._show import tell
from ._solving import DISTANCE, Drop, NumFolds, Request

if TYPE_CHECKING:
    from ..solve import Answer


def maze(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FILE",
            help="A map such as umaze, medium, large or giant, or a text file: "
            "anything with a dot or a slash in it.",
        ),
    ] = "large",
    refinement: Annotated[int, typer.Option(help="Vertices along the side of a cell.")] = 8,
    label_fraction: Annotated[float, typer.Option(help="Share of the vertices labelled.")] = 0.05,
    method: Method = "amle",
    goal: Annotated[
        int, typer.Option(help="Goal vertex, numbered row by row from the top left.")
    ] = 0,
    start: Annotated[
        list[int] | None,
        typer.Option(metavar="VERTEX", help="Show the route from here; may be given again."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the labels.")] = 0,
    repair: Repair = False,
    drop_false_sinks: Drop = False,
    prior: Annotated[
        str | None,
        typer.Option(
            metavar="distance", help="Let the labels correct a field: the maze's own distances."
        ),
    ] = None,
    error: Error = 0.0,
    folds: NumFolds = 5,
    picture: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the field and the plan (.png, .svg, .pdf)."),
    ] = None,
    json_wanted: Json = False,
) -> None:
    """Extend a few labels over a maze, plan from every start, and show how it went.

    A maze of your own is a text file, one character per cell: # is wall, . is
    free, 1 to 9 are free at that cost per step, ^ v < > are one-way. Below it,
    4,6 -> 1,7 6,1 gives the teleports out of row 4, column 6, counted from 0.
    Letters such as S and G are free cells; the goal is the vertex you name.

    Example: wayfield maze medium --method harmonic --label-fraction 0.02
    """
    from .. import cost_to_go, grid_graph, sample_labels
    from .._arrays import as_vertex
    from ..extension._words import parse_method
    from ..labels import Labels
    from ._terminal import picture as drawn

    chosen = parse_method(method)
    layout = read_layout(name)
    compile_kernels(notes(), layout.directed)
    graph = grid_graph(layout, refinement)
    if graph.num_vertices == 0:
        raise InputError(f"the maze {name} has no free cell")
    sample = sample_labels(graph, goal, label_fraction, seed)
    labels = Labels(sample.vertices, sample.values, error)
    starts = tuple(as_vertex(x, "start", graph.num_vertices) for x in start or ())
    if prior not in (None, DISTANCE):
        raise InputError(f"--prior of a maze must be {DISTANCE}, not {prior!r}")
    field = None if prior is None else cost_to_go(graph, goal)
    request = Request(graph, labels, goal, chosen, field, drop_false_sinks, repair, error, folds)
    with explained(notes(), "extending, planning, certifying …"):
        answer, held_out = request.solve()
    written = [] if picture is None else [_write(answer, starts, picture)]
    if not json_wanted:
        screen = Console()
        colour = screen.color_system in ("256", "truecolor")
        screen.print(drawn(answer, refinement, screen.width, colour), soft_wrap=True)
    about = {"maze": layout.name, "refinement": refinement, "seed": seed}
    more = {"input": about, **held_out, "files": written, "no_picture": None}
    tell(answer, None, starts, more, json_wanted)


def _write(answer: Answer, starts: tuple[int, ...], path: Path) -> str:
    """Draw the field into a file, whole or not at all."""
    from ..files import Outbox
    from ._output import draw

    if not path.parent.is_dir():
        raise InputError(f"cannot write {path}: No such file or directory")
    try:
        with Outbox(path.parent) as outbox:
            draw(answer, outbox.path(path.name), starts=starts, diagram=False)
    except ValueError as error:  # matplotlib's word for a suffix it does not know
        raise InputError(f"cannot write {path}: {error}") from error
    return str(path)
