"""``wayfield plan``: a user's own graph and values, from files to a plan and back to files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from .._optional import missing
from .._text import number_of
from ..errors import InputError
from ._common import METHODS, Stages, compile_kernels, in_flags, notes
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
    Lift,
    NoOneWay,
    OneWayColumn,
    Places,
    SpeedColumn,
    TailColumn,
    Thousands,
    ValueColumn,
    VertexColumn,
    Wanted,
)
from ._show import show, tell
from ._solving import (
    DISTANCE,
    Drop,
    LengthUnit,
    NumFolds,
    Prior,
    Request,
    check_direction,
    in_units,
)

if TYPE_CHECKING:
    from ..files import Outbox
    from ..names import Names
    from ..pipeline import Answer

_FILES = ("values.csv", "values.parquet", "routes.csv", "plan.png")


def plan(
    edges: EdgeFile,
    labels: LabelFile = None,
    goal: Goal = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method", "-m", metavar="METHOD", help=METHODS, show_default="amle, none with --mend"
        ),
    ] = None,
    start: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Show the route from here; may be given again."),
    ] = None,
    directed: Directed = False,
    lift: Lift = False,
    drop_false_sinks: Drop = False,
    prior: Prior = None,
    mend: Annotated[
        bool,
        typer.Option("--mend", help="Mend the graph by the labels, and plan on its own distances."),
    ] = False,
    length_unit: LengthUnit = 1.0,
    error: Error = 0.0,
    folds: NumFolds = 5,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the results.")] = Path(
        "wayfield-plan"
    ),
    files: Annotated[bool, typer.Option("--files/--no-files", help="Write the results.")] = True,
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the proof of field and plan, for python -m wayfield_verify."
        ),
    ] = None,
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
    speed: SpeedColumn = None,
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
    .gz), Parquet or .npz; columns are guessed and the guess is printed. Without LABELS the plan
    follows the graph's own shortest paths.

    Writes values.csv and values.parquet (value, bounds, next state, outcome, cost and margin of
    every state), routes.csv, and plan.png unless the graph is large and no positions are given. Of
    these, what an earlier run left and this one does not write is removed; a file that wayfield
    did not write is never replaced, unless by --force.

    Example: wayfield plan roads.csv known.csv --goal Bern --start "La Chaux-de-Fonds"

    Example: wayfield plan wayfield-mend/mended.csv --goal Bern
    """
    from .._proof_file import check_path
    from ..extension import AMLE
    from ..extension._names import parse_method
    from ..files import Outbox
    from ..mending._names import DEFAULT, parse_mend
    from ..shortest_paths import cost_to_go

    if unreachable not in ("say", "error"):
        raise InputError(f"--unreachable must be say or error, not {unreachable!r}")
    prior_file = None if prior in (None, DISTANCE) else Path(prior)
    wanted = Wanted(
        edges, labels, goal, goal_value, directed, positions, prior_file,
        {
            "from": tail, "to": head, "length": length,
            "oneway": "none" if no_oneway else oneway, "speed": speed,
        },
        {"vertex": vertex, "value": value},
        (delimiter, header, encoding, decimal, thousands),
    )  # fmt: skip
    if mend and prior is not None:
        raise InputError("--mend and --prior exclude each other: a mended graph is its own prior")
    if mend and drop_false_sinks and method is None:
        raise InputError("--mend leaves no false sinks to drop: leave out --drop-false-sinks")
    if labels is None:
        needed = {"--mend": mend, "--prior": prior, "--method": method, "--lift": lift}
        needed |= {"--drop-false-sinks": drop_false_sinks}
        for option, given_option in needed.items():
            if given_option:
                raise InputError(f"{option} needs LABELS: without them, distances are planned on")
    by_distance = labels is None or (mend and method is None)
    chosen = None if by_distance else parse_method(method or "amle")
    mending = parse_mend(DEFAULT) if mend else None
    if certificate is not None and not force:
        check_path(certificate)
    if files:
        _spare(out, (edges, labels, positions, prior_file), bool(start), force)
    with Stages(notes()) as stages:
        contents = wanted.read(stages, error)
        starts = tuple(contents.names.index(name, "--start ") for name in start or ())
        if chosen is not None:
            check_direction(contents.directed, chosen)
        with stages.aside():
            used = [chosen] if chosen is not None else [AMLE(fill="flat")]
            compile_kernels(notes(), used, contents.directed, mend=mending)
        stages.begin("building the graph")
        given = contents.build()
        if not json_wanted:
            with stages.aside():
                show(given.said, Console())
        graph = in_units(given.graph, length_unit)
        measured = prior == DISTANCE or labels is None
        field = cost_to_go(graph, given.goal) if measured else given.prior
        doing = "mending, " if mend else "extending, " if chosen is not None else ""
        stages.begin(f"{doing}planning, certifying")
        how = AMLE(fill="flat") if labels is None else chosen  # 0 to add: the distances themselves
        request = Request(
            graph, given.labels, given.goal, how, field,
            drop_false_sinks, lift, error, folds, mending,
        )  # fmt: skip
        answer, held_out = request.solve()
        if unreachable == "error" and not answer.plan.reachable.all():
            raise InputError(_lost(answer, given.names))
        more: dict[str, Any] = {"input": given.facts, **held_out}
        if certificate is not None:
            stages.begin("writing the certificate")
            more["certificate"] = str(answer.write_proof(certificate))
        if files:
            stages.begin("writing")
            more |= _written(Outbox(out, force), answer, given.names, starts)
    tell(answer, given.names, starts, more, json_wanted)


def _spare(out: Path, inputs: Iterable[Path | None], routes: bool, force: bool) -> None:
    """Raise if a result would overwrite what it is made from, or a file that is not ours."""
    from ..files import check_outputs

    for file in inputs:
        if file is not None and file.name in _FILES and file.resolve().parent == out.resolve():
            raise InputError(f"the results would overwrite {file}: choose another --out folder")
    check_outputs(out, [name for name in _FILES if routes or name != "routes.csv"], force)


def _lost(answer: Answer, names: Names) -> str:
    import numpy as np

    lost = np.flatnonzero(~answer.plan.reachable)
    return (
        f"{lost.size:,} of {number_of(answer.graph.num_vertices, 'states')} cannot reach the goal, "
        f"such as {names[lost[0]]!r}; leave out --unreachable error to go on without them"
    )


def _written(box: Outbox, answer: Answer, names: Names, starts: tuple[int, ...]) -> dict[str, Any]:
    """Write the results; what a full disk or the like prevents is said, and the result stays."""
    try:
        with box:
            said = _write(box, answer, names, starts)
    except OSError as error:
        return {"not_written": f"{error.strerror or error} ({box.folder})"}
    except InputError as error:  # someone has put a file there meanwhile
        return {"not_written": in_flags(str(error))}
    return said | {"removed": [str(file) for file in box.removed]}


def _write(outbox: Outbox, answer: Answer, names: Names, starts: tuple[int, ...]) -> dict[str, Any]:
    """Write the results into the box; say which files there will be, and why some are not."""
    from ..files import write_table
    from ._output import draw, route_columns, value_columns, why_not_drawn

    columns = value_columns(answer, names)
    write_table(columns, outbox.path("values.csv"))
    no_parquet = missing("pyarrow", "files")
    if no_parquet is None:
        write_table(columns, outbox.path("values.parquet"))
    if starts:
        write_table(route_columns(answer, names, starts), outbox.path("routes.csv"))
    no_picture = why_not_drawn(answer.graph)
    if no_picture is None:
        draw(answer, outbox.path("plan.png"), names, starts)
    for name in _FILES:
        outbox.discard(name)
    files = [str(file) for file in outbox.files]
    return {"files": files, "no_picture": no_picture, "no_parquet": no_parquet}
