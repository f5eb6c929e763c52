"""``wayfield plan``: a user's own graph and values, from files to a plan and back to files."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from .._text import number_of
from ..errors import InputError
from ._common import Stages, compile_kernels, notes
from ._inputs import (
    Delimiter,
    Directed,
    EdgeFile,
    Encoding,
    Error,
    Goal,
    GoalValue,
    HeadColumn,
    Header,
    Json,
    LabelFile,
    LengthColumn,
    Method,
    Places,
    Repair,
    TailColumn,
    ValueColumn,
    VertexColumn,
    Wanted,
)
from ._show import show, tell
from ._solving import DISTANCE, Drop, LengthUnit, NumFolds, Prior, Request, in_units

if TYPE_CHECKING:
    from ..files import Names, Outbox
    from ..graph import Graph
    from ..kernels._types import FloatArray
    from ..solve import Answer
    from ._inputs import Given

_ALWAYS = ("values.csv", "values.parquet")
_FILES = (*_ALWAYS, "routes.csv", "plan.png")


def plan(
    edges: EdgeFile,
    labels: LabelFile,
    goal: Goal = None,
    method: Method = "amle",
    start: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Show the route from here; may be given again."),
    ] = None,
    directed: Directed = False,
    repair: Repair = False,
    drop_false_sinks: Drop = False,
    prior: Prior = None,
    length_unit: LengthUnit = 1.0,
    error: Error = 0.0,
    folds: NumFolds = 5,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the results.")] = Path(
        "wayfield-plan"
    ),
    files: Annotated[bool, typer.Option("--files/--no-files", help="Write the results.")] = True,
    json_wanted: Json = False,
    unreachable: Annotated[
        str,
        typer.Option(metavar="say|error", help="What to do if states cannot reach the goal."),
    ] = "say",
    goal_value: GoalValue = None,
    positions: Places = None,
    tail: TailColumn = None,
    head: HeadColumn = None,
    length: LengthColumn = None,
    vertex: VertexColumn = None,
    value: ValueColumn = None,
    delimiter: Delimiter = None,
    header: Header = None,
    encoding: Encoding = None,
) -> None:
    """Plan on a graph of your own, from the few values that you know.

    EDGES has a row per edge: from, to and a length. LABELS has a row per known state: its name
    and its cost to the goal, the goal's own included. Both may be CSV, TSV, other text (also
    .gz), Parquet or .npz; columns are guessed and the guess is printed.

    Writes values.csv and values.parquet (value, bounds, next state, outcome, cost and margin of
    every state), routes.csv, and plan.png if the graph is small or positions are given. Of these,
    what an earlier run left and this one does not write is removed.

    Example: wayfield plan roads.csv known.csv --goal Bern --start "La Chaux-de-Fonds"
    """
    from ..extension._words import parse_method

    if unreachable not in ("say", "error"):
        raise InputError(f"--unreachable must be say or error, not {unreachable!r}")
    wanted = Wanted(
        edges, labels, goal, goal_value, directed, positions,
        {"from": tail, "to": head, "length": length},
        {"vertex": vertex, "value": value},
        (delimiter, header, encoding),
    )  # fmt: skip
    chosen = parse_method(method)
    if files:
        _spare_inputs(out, edges, labels, positions)
    compile_kernels(notes(), directed)
    with Stages(notes()) as stages, _outbox(out if files else None) as outbox:
        given = wanted.read(stages, error)
        if not json_wanted:
            with stages.aside():
                show(given.said, Console())
        starts = tuple(given.names.index(name, "--start ") for name in start or ())
        graph = in_units(given.graph, length_unit)
        field = None if prior is None else _prior(prior, graph, given, wanted)
        stages.begin(f"extending ({method}), planning, certifying")
        request = Request(
            graph, given.labels, given.goal, chosen, field, drop_false_sinks, repair, error, folds
        )
        answer, held_out = request.solve()
        if unreachable == "error" and not answer.plan.reachable.all():
            raise InputError(_lost(answer, given.names))
        more: dict[str, Any] = {"input": given.facts, **held_out, "files": [], "no_picture": None}
        if outbox is not None:
            stages.begin("writing")
            more |= _write(outbox, answer, given.names, starts)
    more["removed"] = [] if outbox is None else [str(file) for file in outbox.removed]
    tell(answer, given.names, starts, more, json_wanted)


def _prior(word: str, graph: Graph, given: Given, wanted: Wanted) -> FloatArray:
    """Return the field that the labels correct; +inf where a file has no value."""
    import numpy as np

    from ..files import Style, read_labels
    from ..oracle import cost_to_go

    if word == DISTANCE:
        return cost_to_go(graph, given.goal)
    known = read_labels(Path(word), given.names, None, Style(*wanted.text)).labels
    assert known is not None
    field = np.full(graph.num_vertices, np.inf)
    field[known.vertices] = known.values
    lacking = given.labels.vertices[np.isinf(field[given.labels.vertices])]
    if lacking.size:
        first = given.names[lacking[0]]
        raise InputError(f"{word} has no value for {first!r}, which is labelled")
    return field


def _spare_inputs(out: Path, *inputs: Path | None) -> None:
    """Raise if a result would overwrite what it is made from."""
    for file in inputs:
        if file is not None and file.name in _FILES and file.resolve().parent == out.resolve():
            raise InputError(f"the results would overwrite {file}: choose another --out folder")


def _outbox(folder: Path | None) -> Any:
    from ..files import Outbox

    return nullcontext() if folder is None else Outbox(folder)


def _lost(answer: Answer, names: Names) -> str:
    import numpy as np

    lost = np.flatnonzero(~answer.plan.reachable)
    return (
        f"{lost.size:,} of {number_of(answer.graph.num_vertices, 'states')} cannot reach the goal, "
        f"such as {names[lost[0]]!r}; leave out --unreachable error to go on without them"
    )


def _write(outbox: Outbox, answer: Answer, names: Names, starts: tuple[int, ...]) -> dict[str, Any]:
    """Write the results into the box; say which files there will be, and why no picture."""
    from ..files import write_table
    from ._output import draw, route_columns, value_columns, why_not_drawn

    columns = value_columns(answer, names)
    write_table(columns, outbox.path("values.csv"))
    write_table(columns, outbox.path("values.parquet"))
    if starts:
        write_table(route_columns(answer, names, starts), outbox.path("routes.csv"))
    reason = why_not_drawn(answer.graph)
    if reason is None:
        draw(answer, outbox.path("plan.png"), names, starts)
    if all((outbox.folder / name).exists() for name in _ALWAYS):  # else they are not ours
        for name in set(_FILES) - {file.name for file in outbox.files}:
            outbox.discard(name)
    return {"files": [str(file) for file in outbox.files], "no_picture": reason}
