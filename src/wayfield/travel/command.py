"""``wayfield travel trips``: find and mend errors of a graph, by a few labels or trips."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from .. import __version__
from ..cli.common import Stages, in_flags
from ..cli.inputs import Source, Table
from ..cli.options import (
    OWN_DATA,
    EdgeFile,
    Files,
    Force,
    Goal,
    Group,
    Json,
    Out,
    Places,
    Reading,
    add_command,
    column_option,
    named,
    with_options,
)
from ..cli.output import (
    NOTHING_WRITTEN,
    about_files,
    check_results,
    picture,
    print_json,
    show,
    why_not_drawn,
    write_results,
)
from ..errors import InputError
from ..words import quoted

if TYPE_CHECKING:
    from ..graphs.tables import EdgeTable, Outbox
    from . import Mended

HELP = "Travel times from few measurements: estimates, not proofs."
_FILES = ("mended.csv", "suspects.csv", "summary.json", "mended.png")


@with_options
def trips(
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
        typer.Option(
            "--method",
            "-m",
            metavar="METHOD",
            help="named: what the costs bear out; best: what predicts them best; or factor, "
            "no-shortcuts, smooth, least-change.",
        ),
    ] = "named",
    error: Annotated[
        float,
        typer.Option(
            metavar="E", min=0.0, help="Error of the costs: half the last digit if rounded."
        ),
    ] = 0.0,
    bound: Annotated[
        str | None,
        typer.Option(metavar="upper", help="Costs were paid on routes that may not be cheapest."),
    ] = None,
    following: Annotated[
        int,
        typer.Option("--next", metavar="K", min=0, help="Name K places to measure next."),
    ] = 0,
    out: Out = Path("wayfield-travel"),
    files: Files = True,
    force: Force = False,
    json_wanted: Json = False,
    positions: Places = None,
    trip_start: Annotated[str | None, column_option("--trip-start", "TRIPS: start.")] = None,
    trip_end: Annotated[str | None, column_option("--trip-end", "TRIPS: end.")] = None,
    trip_cost: Annotated[str | None, column_option("--trip-cost", "TRIPS: cost.")] = None,
    *,
    reading: Reading,
) -> None:
    """Find where a graph is wrong, from a few measured costs, and mend its edges.

    EDGES is a graph as for plan that may be wrong: slower in places than it says, or with edges
    that do not exist. LABELS are costs to the goal from a few vertices, TRIPS costs between pairs.
    What they bear out is named and mended, what is only suspected is shown with its probability.
    With --positions, it distinguishes false edges from slow streets.

    Writes mended.csv (the rows of EDGES with believed, added, length; a graph that plan reads),
    suspects.csv (the edges that are named or suspected, and how sure that is), summary.json, and
    mended.png if positions are given or the graph has up to 5,000 vertices.

    Example: wayfield travel trips network.csv trips.csv --positions places.csv

    Example: wayfield travel trips roads.csv known.csv --goal Bern
    """
    import numpy as np

    from ..graphs.labels import Labels
    from ..graphs.tables import Outbox, are_pairs, read_labels, write_table
    from . import mend as fit
    from .facts import suspect_columns
    from .fitting import make_problem
    from .picture import mended
    from .selection import parse_mend
    from .tables import read_trips
    from .text import lines, suspected
    from .trips import Trips

    # 1. options, and files that must stay
    if bound not in (None, "upper"):
        raise InputError(f"--bound must be upper, got {bound!r}")
    chosen = parse_mend(method)
    if files:
        check_results(out, _FILES, (edges, data, positions), force)

    with Stages() as stages:
        # 2. read
        columns = named({"start": trip_start, "end": trip_end, "cost": trip_cost})
        source = Source(edges, data, goal, positions, reading)
        table = source.read_edges(stages)
        names, style, progress = table.names, reading.style, stages.begin(f"reading {data.name}")
        target = None if goal is None else names.index(goal, "--goal ")
        columns |= reading.label_columns
        measured: Labels | Trips
        places = None
        if are_pairs(data, names, columns, style):
            word, other, option = "trips", "labels", "--vertex"
            rows = read_trips(data, names, columns, style, error, bound == "upper", progress)
            measured = Trips(rows.starts, rows.ends, rows.costs, error, bound)
            read: Table = rows
        else:
            word, other, option = "labels", "trips", "--trip-start"
            listed = read_labels(data, names, columns, style, error, progress)
            assert listed.labels is not None
            measured, read, places = listed.labels, listed, listed.positions
            if target is None:
                raise InputError("no goal given: pass --goal NAME")
        if places is not None and np.isnan(places).any():
            places = None
        graph, said, facts = source.build(stages, table, [(word, data, read)], places)
        note = f"{data.name} is read as {word}; if it has {other}, name their columns ({option} …)"
        said.append(("note", note))
        settings: Any = {"goal": target, "bound": bound} if word == "labels" else {}
        try:
            make_problem(graph, measured, names=names, **settings)
        except InputError as wrong:
            raise InputError(f"{data}: ", wrong.message) from wrong
        if not json_wanted:
            with stages.aside():
                show(said, Console())

        # 3. mend
        stages.begin(f"mending ({method})")
        found = fit(graph, measured, method=chosen, **settings)
        result: dict[str, Any] = {
            "wayfield": __version__,
            "input": facts | {"notes": [*facts["notes"], note]},
        }
        result |= found.facts(names)
        result["goal"] = None if target is None else str(names[target])

        def in_own_flags(text: str) -> str:
            return in_flags(text, reading.length_unit)

        result["units"] = in_own_flags(result["units"]) if result["units"] else None
        asked = result["units"] is not None and result["findings"] is not None
        result["suspected"] = [in_own_flags(text) for text in suspected(result)]
        result["next"] = None
        if following and result["units"] is None:
            stages.begin("choosing what to measure next")
            best = found.next_measurements(following, target)
            result["next"] = [str(names[x]) for x in best.tolist()]

        # 4. advise, as a command that can be run
        proofs = result["against"]["too_optimistic"] + result["against"]["too_pessimistic"]
        if asked:
            advice = "answer the question about units first; nothing is named or written before"
        elif found.unchanged and proofs:
            advice = f"more {word} would show where the graph is wrong"
            advice += " (--next 5 names places to measure)"
            if word == "labels":
                words = ["wayfield", "compare", str(edges), str(data), "--goal", str(goal)]
                advice = f"`{shlex.join(words)}` says what to plan on; {advice}"
        elif found.unchanged:
            advice = f"plan on the graph as it is; more {word} might show a fault"
        elif not files:
            advice = "leave out --no-files to write the mended graph, which `wayfield plan` reads"
        else:
            if target is None:  # the end of most trips
                ends, counts = np.unique(found.problem.ends, return_counts=True)
                target = int(ends[np.argmax(counts)])
            words = ["wayfield", "plan", str(out / "mended.csv"), "--goal", str(names[target])]
            words += [] if positions is None else ["--positions", str(positions)]
            look = f"check the edges in {out / 'suspects.csv'}, starting at the top; "
            look = look if found.suspects.size else ""
            advice = f"{look}`{shlex.join(words)}` plans on the mended graph"
        result["advice"] = advice

        # 5. write
        def write(box: Outbox) -> dict[str, Any]:
            write_table(_edge_columns(found, table), box.path("mended.csv"))
            write_table(suspect_columns(found, names), box.path("suspects.csv"))
            summary = json.dumps(result, ensure_ascii=False, indent=1, allow_nan=False)
            box.path("summary.json").write_text(summary + "\n", encoding="utf-8")
            no_picture = why_not_drawn(graph)
            if no_picture is None:
                with picture(box.path("mended.png")) as axes:
                    mended(found, names, measured, target, axes)
            for name in _FILES:
                box.discard(name)
            return {"no_picture": no_picture}

        stages.begin("writing")
        files = files and not asked
        result |= NOTHING_WRITTEN | (write_results(Outbox(out, force), write) if files else {})
    if json_wanted:
        print_json(result)
    else:
        summary = [(margin, in_own_flags(text)) for margin, text in lines(result)]
        if result["next"]:
            summary.append(("next", f"measure {', '.join(map(quoted, result['next']))}"))
        show([*summary, *about_files(result), ("advice", advice)], Console())
    if not found.status.good or result["not_written"]:
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    """Add the commands of this package to `wayfield`."""
    travel = typer.Typer(cls=Group, help=HELP, no_args_is_help=True)
    add_command(travel, trips, "")
    app.add_typer(travel, name="travel", rich_help_panel=OWN_DATA)


def _edge_columns(found: Mended, table: EdgeTable) -> dict[str, Any]:
    """Return the rows of the edge list with their mended lengths, in a form that plan reads.

    A row that leads both ways appears twice if its two directions now differ. Of parallel rows,
    the graph holds the least; the others change by the same factor.
    """
    import numpy as np

    from ..graphs.graph import arc_slots

    graph = found.believed
    tails, heads, rows = table.arcs()
    slot = arc_slots(graph, tails, heads)
    there = slot >= 0  # a loop is in no graph
    times = np.where(there, found.graph.lengths[slot] / graph.lengths[slot], 1.0)
    own = np.ones(table.tails.size) if table.lengths is None else table.lengths
    scale = float(np.median(graph.lengths[slot][there] / own[rows][there])) if there.any() else 1.0
    believed = scale * own[rows]
    # in the order of the file; of a row with two equal ways, the first
    order = np.argsort(rows, kind="stable")
    again = np.append(False, (np.diff(rows[order]) == 0) & (np.diff(times[order]) == 0.0))
    both = np.isin(rows, rows[order][again])
    keep = order[~again]
    columns = {
        "row": rows[keep] + 1,
        "from": table.names.column(tails[keep]),
        "to": table.names.column(heads[keep]),
        "believed": believed[keep],
        "added": (believed * (times - 1.0))[keep],
        "length": (believed * times)[keep],
    }
    if graph.directed:
        columns["oneway"] = ["no" if two else "yes" for two in both[keep].tolist()]
    return columns
