"""``wayfield maze``: extend a few labels over a maze, plan from every start, say how it went."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from .._optional import need
from ..errors import InputError
from ._common import compile_kernels, explained, in_flags, notes, read_layout
from ._inputs import Error, Force, Json, Lift, Method
from ._show import tell
from ._solving import DISTANCE, Drop, NumFolds, Request, check_direction

if TYPE_CHECKING:
    from ..pipeline import Answer


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
    label_fraction: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Share of the vertices labelled.")
    ] = 0.05,
    method: Method = "amle",
    goal: Annotated[
        int, typer.Option(help="Goal vertex, numbered row by row from the top left.")
    ] = 0,
    start: Annotated[
        list[int] | None,
        typer.Option(metavar="VERTEX", help="Show the route from here; may be given again."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the labels.")] = 0,
    lift: Lift = False,
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
    force: Force = False,
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
    from .._arrays import as_vertex, as_whole
    from ..extension._names import parse_method
    from ..labels import Labels
    from ._terminal import picture as drawn

    chosen = parse_method(method)
    if prior not in (None, DISTANCE):
        raise InputError(f"--prior of a maze must be {DISTANCE}, not {prior!r}")
    layout = read_layout(name)
    check_direction(layout.directed, chosen)
    size = layout.num_free * as_whole(refinement, "refinement", least=1) ** 2
    goal = as_vertex(goal, "goal", size)
    starts = tuple(as_vertex(x, "start", size) for x in start or ())
    if picture is not None:
        _check_picture(picture, force)
    compile_kernels(notes(), [chosen], layout.directed)
    graph = grid_graph(layout, refinement)
    sample = sample_labels(graph, goal, label_fraction, seed)
    labels = Labels(sample.vertices, sample.values, error)
    field = None if prior is None else cost_to_go(graph, goal)
    request = Request(graph, labels, goal, chosen, field, drop_false_sinks, lift, error, folds)
    with explained(notes(), "extending, planning, certifying …"):
        answer, held_out = request.solve()
    written = {} if picture is None else _write(answer, starts, picture, force)
    if not json_wanted:
        screen = Console()
        colour = screen.color_system in ("256", "truecolor")
        screen.print(drawn(answer, refinement, screen.width, colour), soft_wrap=True)
    about = {"maze": layout.name, "refinement": refinement, "seed": seed}
    more = {"input": about, **held_out, **written}
    tell(answer, None, starts, more, json_wanted)


def _check_picture(path: Path, force: bool) -> None:
    """Raise, before there is anything to draw, if it could not be written."""
    from ..files import check_outputs

    known = need("matplotlib.figure", "plots").Figure().canvas.get_supported_filetypes()
    if path.suffix[1:].lower() not in known:
        raise InputError(f"cannot write {path}: the name of a picture ends in .png, .svg or .pdf")
    if not path.parent.is_dir():
        raise InputError(f"cannot write {path}: there is no folder {path.parent}")
    check_outputs(path.parent, [path.name], force)


def _write(answer: Answer, starts: tuple[int, ...], path: Path, force: bool) -> dict[str, Any]:
    """Draw the field into a file, whole or not at all; or say what prevents it."""
    from ..files import Outbox
    from ._output import draw

    try:
        with Outbox(path.parent, force) as outbox:
            draw(answer, outbox.path(path.name), starts=starts, diagram=False)
    except OSError as error:
        return {"not_written": f"{error.strerror or error} ({path})"}
    except InputError as error:  # someone has put a file there meanwhile
        return {"not_written": in_flags(str(error))}
    return {"files": [str(path)]}
