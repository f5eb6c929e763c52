"""``wayfield plan``: a user's own graph and values, from files to a plan and back to files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from .._optional import missing
from ..errors import InputError
from ..extension._words import parse_method
from ._common import compile_kernels, notes
from ._inputs import (
    Decimal,
    Delimiter,
    Directed,
    EdgeFile,
    Encoding,
    Error,
    Force,
    Goal,
    GoalValue,
    HeadColumn,
    Header,
    Json,
    LabelFile,
    LengthColumn,
    Method,
    NoOneWay,
    OneWayColumn,
    Places,
    Repair,
    TailColumn,
    Thousands,
    ValueColumn,
    VertexColumn,
    Wanted,
)
from ._stages import Stages

if TYPE_CHECKING:
    from ..files import Outbox
    from ..names import Names
    from ._result import Result

_FILES = ("values.csv", "values.parquet", "routes.csv", "plan.png")
_NOTHING_WRITTEN: dict[str, Any] = {
    "files": [], "removed": [], "no_picture": None, "no_parquet": None, "not_written": None
}  # fmt: skip


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
    error: Error = 0.0,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the results.")] = Path(
        "wayfield-plan"
    ),
    files: Annotated[bool, typer.Option("--files/--no-files", help="Write the results.")] = True,
    force: Force = False,
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
    oneway: OneWayColumn = None,
    no_oneway: NoOneWay = False,
    vertex: VertexColumn = None,
    value: ValueColumn = None,
    delimiter: Delimiter = None,
    header: Header = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    thousands: Thousands = None,
) -> None:
    """Plan on a graph of your own, from the few values that you know.

    EDGES has a row per edge: from, to and a length. LABELS has a row per known state: its name
    and its cost to the goal, the goal's own included. Both may be CSV, TSV, other text (also
    .gz), Parquet or .npz; columns are guessed and the guess is printed.

    Writes values.csv and values.parquet (value, bounds, next state, outcome, cost and margin of
    every state), routes.csv, and plan.png if the graph is small or positions are given. Of these,
    what an earlier run left and this one does not write is removed; a file that wayfield did not
    write is never replaced, unless by --force.

    Example: wayfield plan roads.csv known.csv --goal Bern --start "La Chaux-de-Fonds"
    """
    from ..files import Outbox
    from ._report import tell
    from ._result import Question, answer, check_method
    from ._show import show

    if unreachable not in ("say", "error"):
        raise InputError(f"--unreachable must be say or error, not {unreachable!r}")
    wanted = Wanted(
        edges, labels, goal, goal_value, directed, positions,
        {"from": tail, "to": head, "length": length, "oneway": "none" if no_oneway else oneway},
        {"vertex": vertex, "value": value},
        (delimiter, header, encoding, decimal, thousands),
    )  # fmt: skip
    chosen = parse_method(method)
    if files:
        _spare(out, (edges, labels, positions), bool(start), force)
    with Stages(notes()) as stages:
        contents = wanted.read(stages, error)
        starts = tuple(contents.names.index(name, "--start ") for name in start or ())
        check_method(chosen, contents.directed)
        with stages.aside():
            compile_kernels(notes(), contents.directed)
        stages.begin("building the graph")
        given = contents.build()
        if not json_wanted:
            with stages.aside():
                show(given.said, Console())
        stages.begin(f"extending ({method}), planning, certifying")
        asked = Question(given.graph, given.labels, given.goal, chosen, given.names.__getitem__)
        result = answer(replace(asked, starts=starts, error=error, repair=repair))
        if unreachable == "error" and result.able + 1 < given.graph.num_vertices:
            raise InputError(_lost(result))
        more: dict[str, Any] = {"input": given.facts, **_NOTHING_WRITTEN}
        if files:
            stages.begin("writing")
            more |= _written(Outbox(out, force), result, given.names)
    tell(result, more, json_wanted)


def _spare(out: Path, inputs: Iterable[Path | None], routes: bool, force: bool) -> None:
    """Raise if a result would overwrite what it is made from, or a file that is not ours."""
    from ..files import check_outputs

    for file in inputs:
        if file is not None and file.name in _FILES and file.resolve().parent == out.resolve():
            raise InputError(f"the results would overwrite {file}: choose another --out folder")
    check_outputs(out, [name for name in _FILES if routes or name != "routes.csv"], force)


def _lost(result: Result) -> str:
    import numpy as np

    lost = np.flatnonzero(~result.plan.reachable)
    first = result.question.called(int(lost[0]))
    return (
        f"{lost.size:,} of {result.plan.reachable.size:,} states cannot reach the goal, such as "
        f"{first!r}; leave out --unreachable error to go on without them"
    )


def _written(box: Outbox, result: Result, names: Names) -> dict[str, Any]:
    """Write the results; what a full disk or the like prevents is said, and the result stays."""
    try:
        with box:
            said = _write(box, result, names)
    except OSError as error:
        return {"not_written": f"{error.strerror or error} ({box.folder})"}
    except InputError as error:  # someone has put a file there meanwhile
        return {"not_written": str(error)}
    return said | {"removed": [str(file) for file in box.removed]}


def _write(outbox: Outbox, result: Result, names: Names) -> dict[str, Any]:
    """Write the results into the box; say which files there will be, and why some are not."""
    from ..files import write_table
    from ._draw import draw, drawable, why_not_drawn
    from ._tables import route_columns, value_columns

    columns = value_columns(result, names)
    write_table(columns, outbox.path("values.csv"))
    no_parquet = missing("pyarrow", "files")
    if no_parquet is None:
        write_table(columns, outbox.path("values.parquet"))
    if result.question.starts:
        write_table(route_columns(result), outbox.path("routes.csv"))
    reason = why_not_drawn(result.question.graph)
    if reason is None:
        draw(result, drawable(result.question.graph), outbox.path("plan.png"))
    for name in _FILES:
        outbox.discard(name)
    files = [str(file) for file in outbox.files]
    return {"files": files, "no_picture": reason, "no_parquet": no_parquet}
