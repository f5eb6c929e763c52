"""``wayfield maze``: extend a few labels over a maze, plan from every start, show the result."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import InputError
from .options import (
    METHODS,
    Force,
    Json,
    LabelFraction,
    Solving,
    check_direction,
    read_layout,
    with_options,
)
from .output import Stages, draw, report, write_results


@with_options
def maze(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FILE",
            help="A map such as umaze, medium, large or giant, or a text file: "
            "any name with a dot or a slash in it.",
        ),
    ] = "large",
    refinement: Annotated[int, typer.Option(help="Vertices along the side of a cell.")] = 8,
    label_fraction: LabelFraction = 0.05,
    method: Annotated[str, typer.Option("--method", "-m", metavar="METHOD", help=METHODS)] = "amle",
    goal: Annotated[
        int, typer.Option(help="Goal vertex, numbered row by row from the top left.")
    ] = 0,
    start: Annotated[
        list[int] | None,
        typer.Option(metavar="VERTEX", help="Show the route from here; may be given again."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the labels.")] = 0,
    picture: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the field and the plan (.png, .svg, .pdf)."),
    ] = None,
    force: Force = False,
    json_wanted: Json = False,
    *,
    solving: Solving,
) -> None:
    """Extend a few labels over a maze, plan from every start, and show the result.

    A maze of your own is a text file, one character per cell: # is wall, . is
    free, 1 to 9 are free at that cost per step, ^ v < > are one-way. Below it,
    4,6 -> 1,7 6,1 gives the teleports out of row 4, column 6, counted from 0.
    Letters such as S and G are free cells; the goal is the vertex you name.

    Example: wayfield maze medium --method harmonic --picture field.png
    """
    from .. import grid_graph, sample_labels
    from ..checks import as_vertex, as_whole, need
    from ..fields.names import load_method
    from ..graphs.labels import Labels
    from ..graphs.tables import Outbox, check_outputs

    # everything is checked before anything is computed
    chosen = load_method(method)
    layout = read_layout(name)
    check_direction(layout.directed, chosen)
    size = layout.num_free * as_whole(refinement, "--refinement", least=1) ** 2
    goal = as_vertex(goal, "--goal", size)
    starts = tuple(as_vertex(x, "--start", size) for x in start or ())
    if picture is not None:
        known = need("matplotlib.figure", "plots").Figure().canvas.get_supported_filetypes()
        if picture.suffix[1:].lower() not in known:
            raise InputError(f"cannot write {picture}: its name must end in .png, .svg or .pdf")
        if not picture.parent.is_dir():
            raise InputError(f"cannot write {picture}: there is no folder {picture.parent}")
        check_outputs(picture.parent, [picture.name], force)
    with Stages() as stages:
        stages.begin("extending, planning, certifying")
        graph = grid_graph(layout, refinement)
        sample = sample_labels(graph, goal, label_fraction, seed)
        labels = Labels(sample.vertices, sample.values, solving.error)
        answer, tested = solving.solve(graph, labels, goal, chosen)
    about = {"maze": layout.name, "refinement": refinement, "seed": seed}
    more: dict[str, Any] = {"input": about}
    if picture is not None:
        box, name_of_file = Outbox(picture.parent, force), picture.name

        def write() -> dict[str, Any]:
            draw(answer, box.path(name_of_file), starts=starts)
            return {}

        more |= write_results(box, write)
    report(answer, tested, starts, more, json_wanted, words=("--maze", name, "--goal", goal))
