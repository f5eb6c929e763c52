"""``wayfield mend``: a graph that may be wrong, and what a few labels or trips say of it."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from .. import __version__
from .._optional import need
from ..errors import InputError
from ._common import Stages, compile_kernels, in_flags, notes
from ._inputs import (
    Decimal,
    Delimiter,
    Directed,
    EdgeFile,
    Encoding,
    Force,
    Goal,
    HeadColumn,
    Header,
    Json,
    LengthColumn,
    NoOneWay,
    OneWayColumn,
    Places,
    SpeedColumn,
    TailColumn,
    Thousands,
    ValueColumn,
    VertexColumn,
    Wanted,
    column_option,
)
from ._show import NOTHING_WRITTEN, about_files, print_json, show
from ._solving import LengthUnit

if TYPE_CHECKING:
    from ..files import Outbox
    from ..mending import Mended, MendMethod
    from ._mending import Evidence

MENDS = (
    "best (of the others, or none of them), smooth, both, no-shortcuts, least-change, "
    "least-change-all."
)
"""The words that --method takes, for the help: asking the library would load all of it."""
_FILES = ("mended.csv", "suspects.csv", "summary.json", "mended.png")


def mend(
    edges: EdgeFile,
    data: Annotated[
        Path,
        typer.Argument(
            metavar="LABELS|TRIPS",
            help="Labels, costs to the goal: vertex, value. Or trips: start, end, cost.",
            show_default=False,
        ),
    ],
    goal: Goal = None,
    method: Annotated[
        str,
        typer.Option("--method", "-m", metavar="METHOD", help=MENDS),
    ] = "best",
    start: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Show the route from here to the goal."),
    ] = None,
    kind: Annotated[
        bool | None,
        typer.Option("--trips/--labels", help="What the second file holds, if it is not clear."),
    ] = None,
    error: Annotated[
        float,
        typer.Option(
            metavar="E", min=0.0, help="How far costs may be off: half the last digit if rounded."
        ),
    ] = 0.0,
    bound: Annotated[
        str | None,
        typer.Option(metavar="upper", help="Costs were paid on routes that may not be cheapest."),
    ] = None,
    directed: Directed = False,
    length_unit: LengthUnit = 1.0,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the results.")] = Path(
        "wayfield-mend"
    ),
    files: Annotated[bool, typer.Option("--files/--no-files", help="Write the results.")] = True,
    osrm: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write speeds for OSRM's traffic updates."),
    ] = None,
    force: Force = False,
    json_wanted: Json = False,
    positions: Places = None,
    tail: TailColumn = None,
    head: HeadColumn = None,
    length: LengthColumn = None,
    oneway: OneWayColumn = None,
    no_oneway: NoOneWay = False,
    speed: SpeedColumn = None,
    vertex: VertexColumn = None,
    value: ValueColumn = None,
    trip_start: Annotated[str | None, column_option("--trip-start", "TRIPS: start.")] = None,
    trip_end: Annotated[str | None, column_option("--trip-end", "TRIPS: end.")] = None,
    trip_cost: Annotated[str | None, column_option("--trip-cost", "TRIPS: cost.")] = None,
    delimiter: Delimiter = None,
    header: Header = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    thousands: Thousands = None,
) -> None:
    """Find where a graph is wrong, from a few measured costs, and mend its edges.

    EDGES is a graph as for plan that may be wrong: slower in places than it says, or with edges
    that do not exist. LABELS are costs to the goal from a few vertices, TRIPS costs between pairs.
    The costs of the edges are fitted to them, and left as they are unless the fit predicts
    held-out costs better.

    Writes mended.csv (every edge: believed, added, length; a graph that plan reads), suspects.csv
    (the edges that stand out as dearer, and how), summary.json, and mended.png if positions are
    given or the graph has up to 5,000 vertices. --osrm FILE also writes from,to,km/h of every arc,
    for lengths in metres, costs in seconds and OpenStreetMap's ids as names.

    Example: wayfield mend roads.csv trips.csv

    Example: wayfield mend roads.csv known.csv --goal Bern --start Genève
    """
    from ..files import Outbox, check_outputs
    from ..mending import mend as fit
    from ..mending._names import parse_mend
    from . import _mending as mending

    if bound not in (None, "upper"):
        raise InputError(f"--bound must be upper, not {bound!r}")
    chosen = parse_mend(method)
    trip_columns = {"start": trip_start, "end": trip_end, "cost": trip_cost}
    label_columns = {"vertex": vertex, "value": value}
    columns = {None: label_columns | trip_columns, True: trip_columns, False: label_columns}[kind]
    wanted = Wanted(
        edges, data, goal, None, directed, positions, None,
        {
            "from": tail, "to": head, "length": length,
            "oneway": "none" if no_oneway else oneway, "speed": speed,
        },
        columns,
        (delimiter, header, encoding, decimal, thousands),
    )  # fmt: skip
    if start and goal is None:
        raise InputError("--start shows a route to the goal: pass --goal, too")
    if files:
        for file in (edges, data, positions):
            if file is not None and file.name in _FILES and file.resolve().parent == out.resolve():
                raise InputError(f"the results would overwrite {file}: choose another --out folder")
        check_outputs(out, _FILES, force)
    if osrm is not None:
        check_outputs(osrm.parent, [osrm.name], force)
    upper, words = bound == "upper", {None: None, True: "trips", False: "labels"}
    with Stages(notes()) as stages:
        asked = mending.Asked(words[kind], columns, error, upper, length_unit)
        given = mending.read_evidence(wanted, asked, stages, partial(_make_ready, stages, chosen))
        starts = [given.names.index(name, "--start ") for name in start or ()]
        if not json_wanted:
            with stages.aside():
                show(given.said, Console())
        stages.begin(f"mending ({method})")
        labels = given.word == "labels"
        found = fit(
            given.graph,
            given.data,
            given.goal if labels else None,
            chosen,
            bound="upper" if upper and labels else None,
        )
        told: dict[str, Any] = {"wayfield": __version__, "input": given.facts}
        told |= mending.facts(given, found, upper, starts)
        told["advice"] = _advice(
            given, found, out if files else None, positions, told["against"]["too_optimistic"]
        )
        speeds = None if osrm is None else mending.osrm_rows(given, found, length_unit)
        stages.begin("writing")
        told |= _written(Outbox(out, force) if files else None, given, found, told)
        if osrm is not None and speeds is not None:
            with Outbox(osrm.parent, force) as box:
                box.path(osrm.name).write_text(speeds, encoding="utf-8")
            told["files"] = [*told["files"], str(osrm)]
    if json_wanted:
        print_json(told)
    else:
        summary = mending.lines(told, given.word)
        show([*summary, *about_files(told), ("advice", told["advice"])], Console())
    if not found.status.good or told["not_written"]:
        raise typer.Exit(1)


def _make_ready(stages: Stages, method: MendMethod, directed: bool) -> None:
    with stages.aside():
        compile_kernels(notes(), mend=method, directed=directed)


def _advice(
    given: Evidence, found: Mended, out: Path | None, positions: Path | None, proofs: int
) -> str:
    """Say what to do next, as a command that can be run.

    `proofs` is how many of the data prove the graph too optimistic.
    """
    if found.unchanged and proofs:
        return (
            f"more {given.word} would tell where; `--method least-change` shows the least change "
            "that explains these, though others may, too"
        )
    if found.unchanged:
        return f"plan on the graph as it is; more {given.word} might show a fault"
    if out is None:
        return "leave out --no-files to write the mended graph, which `wayfield plan` reads"
    look = f"check the edges in {out / 'suspects.csv'}, starting at the top; "
    words = ["wayfield", "plan", str(out / "mended.csv"), "--goal", given.some_goal]
    words += [] if positions is None else ["--positions", str(positions)]
    return f"{look if found.suspects.size else ''}`{shlex.join(words)}` plans on the mended graph"


def _written(
    box: Outbox | None, given: Evidence, found: Mended, told: dict[str, Any]
) -> dict[str, Any]:
    """Write the results; what a full disk or the like prevents is said, and the result stays."""
    nothing = dict(NOTHING_WRITTEN)
    if box is None:
        return nothing
    try:
        with box:
            said = _write(box, given, found, told)
    except OSError as error:
        return nothing | {"not_written": f"{error.strerror or error} ({box.folder})"}
    except InputError as error:  # someone has put a file there meanwhile
        return nothing | {"not_written": in_flags(str(error))}
    return nothing | said | {"removed": [str(file) for file in box.removed]}


def _write(box: Outbox, given: Evidence, found: Mended, told: dict[str, Any]) -> dict[str, Any]:
    import json

    from ..files import write_table
    from ._mending import edge_columns, suspect_columns
    from ._output import why_not_drawn

    write_table(edge_columns(found, given.names), box.path("mended.csv"))
    write_table(suspect_columns(found, given.names), box.path("suspects.csv"))
    summary = json.dumps(told, ensure_ascii=False, indent=1, allow_nan=False)
    box.path("summary.json").write_text(summary + "\n", encoding="utf-8")
    no_picture = why_not_drawn(given.graph)
    if no_picture is None:
        _draw(given, found, box.path("mended.png"))
    for name in _FILES:
        box.discard(name)
    return {"files": [str(file) for file in box.files], "no_picture": no_picture}


def _draw(given: Evidence, found: Mended, path: Path) -> None:
    import warnings

    from ..plots import mended

    figure = need("matplotlib.figure", "plots").Figure((8, 6), layout="constrained", dpi=150)
    where = given.data, given.goal, figure.subplots()
    mended(found, given.names, *where, unit=given.measured_in)
    with warnings.catch_warnings():  # a name the font has no letters for is drawn as boxes
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure.savefig(path)
