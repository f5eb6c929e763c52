"""``wayfield travel trips``: travel times of a network from measured trips."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from .. import __version__
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
    Source,
    add_command,
    column_option,
    named,
    with_options,
)
from ..cli.output import (
    NOTHING_WRITTEN,
    Stages,
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
    from ..graphs.tables import EdgeTable
    from . import Model
    from .tables import TripTable

HELP = "Travel times from few measurements: estimates, not proofs."
UNRELATED = 3
"""Exit code if times and distances do not go together."""
_FILES = ("predicted.csv", "times.csv", "summary.json", "times.png")


@with_options
def trips(
    edges: EdgeFile,
    data: Annotated[
        Path,
        typer.Argument(
            metavar="TRIPS|LABELS",
            help="Trips: start, end, time. Or labels, times to the goal: vertex, value.",
            show_default=False,
        ),
    ],
    goal: Goal = None,
    predict: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Pairs to predict: start, end. Default: the trips."),
    ] = None,
    following: Annotated[
        int,
        typer.Option("--next", metavar="K", min=0, help="Name K pairs to measure next."),
    ] = 0,
    out: Out = Path("wayfield-travel"),
    files: Files = True,
    force: Force = False,
    json_wanted: Json = False,
    positions: Places = None,
    trip_start: Annotated[str | None, column_option("--trip-start", "TRIPS: start.")] = None,
    trip_end: Annotated[str | None, column_option("--trip-end", "TRIPS: end.")] = None,
    trip_cost: Annotated[str | None, column_option("--trip-cost", "TRIPS: time.")] = None,
    group: Annotated[str | None, column_option("--group", "TRIPS: day or driver.")] = None,
    road_class: Annotated[str | None, column_option("--class", "EDGES: class of a road.")] = None,
    *,
    reading: Reading,
) -> None:
    """Predict travel times from a few measured trips, and find what is wrong with the network.

    EDGES is a graph as for plan; its lengths are times or distances. TRIPS are measured times
    between pairs, as often as you like; LABELS are times to one goal.

    Writes predicted.csv (for each pair the median, p50, and p90 of the next measurement, and given,
    the time or distance along EDGES as they are), times.csv (for each row of EDGES its given
    length, the expected time, and a 90 % interval), summary.json, and times.png if positions are
    given or the graph has up to 5,000 vertices. Trips are left out in turn and predicted, beside
    one factor and a line.

    Exit code 3: times and distances on the graph do not go together.

    Example: wayfield travel trips network.csv trips.csv --predict pairs.csv --positions places.csv

    Example: wayfield travel trips roads.csv known.csv --goal Bern
    """
    import numpy as np

    from ..graphs.labels import Labels
    from ..graphs.tables import Outbox, are_pairs, read_labels, write_table
    from . import Trips, fit, leave_out
    from .picture import draw
    from .tables import read_trips, read_words
    from .text import lines
    from .trips import as_trips

    if files:
        check_results(out, _FILES, (edges, data, positions, predict), force)

    with Stages() as stages:
        # 1. read the network, the trips or labels, and the pairs
        columns = named({"start": trip_start, "end": trip_end, "cost": trip_cost})
        source = Source(edges, data, goal, positions, reading)
        table = source.read_edges(stages)
        names, style, progress = table.names, reading.style, stages.begin(f"reading {data.name}")
        target = None if goal is None else names.index(goal, "--goal ")
        columns |= reading.label_columns
        places, unit, measured = None, "", None
        read: list[tuple[str, Path, Any]] = []
        ends = {"start": "origin", "end": "destination"}
        if are_pairs(data, names, reading.also(columns, data, **ends), style):
            columns = reading.also(columns, data, cost="time", **ends)
            rows = read_trips(data, names, columns, style, progress)
            days = None if group is None else read_words(data, group, style)
            measured, unit = Trips(rows.starts, rows.ends, rows.times, days), rows.unit
            read.append(("trips", data, rows))
            note = f"{data.name} is read as trips; if it has labels, name their columns "
            note = f"{note}(--vertex …)" if "no header" in rows.said else ""
        else:
            columns = reading.also(columns, data, value="time", x="x", y="y")
            listed = read_labels(data, names, columns, style, 0.0, progress)
            assert listed.labels is not None
            if target is None:
                raise InputError("no goal given: pass --goal NAME")
            read.append(("labels", data, listed))
            if listed.positions is not None and not np.isnan(listed.positions).any():
                places = listed.positions
            note = f"{data.name} is read as labels; if it has trips, name their columns "
            note += "(--trip-start …)"
        pairs: TripTable | None = None
        if predict is not None:
            wished = reading.also({}, predict, **ends)
            pairs = read_trips(predict, names, wished | columns, style, None, timed=False)
            read.append(("pairs", predict, pairs))
        graph, said, facts = source.build(stages, table, read, places)
        if measured is None:
            assert listed.labels is not None
            assert target is not None
            known = listed.labels.with_goal(target)
            measured = as_trips(Labels(known.vertices, known.values), graph)
        kinds = None
        if road_class is not None:
            kinds = _arc_rows(table, read_words(edges, road_class, style))
        if note:
            said.append(("note", note))
        if not json_wanted:
            with stages.aside():
                show(said, Console())

        # 2. fit, search, and leave trips out
        try:
            model = fit(graph, measured, kinds, progress=stages.begin("fitting"))
        except InputError as wrong:
            raise InputError(f"{data}: ", wrong.message) from wrong
        summary = lines(model, names, unit)
        result: dict[str, Any] = {
            "wayfield": __version__,
            "input": facts | {"notes": [*facts["notes"], note]},
            "unrelated": model.unrelated,
            "factor": model.factor,
            "sigma": model.sigma,
            "start_up": model.start_up,
            "held_out": None,
            "next": None,
        } | NOTHING_WRITTEN
        if not model.unrelated:
            stages.begin("searching for what is wrong")
            result["findings"] = [_facts(model, i, names, unit) for i in range(len(model.findings))]
            held_out = leave_out(model, stages.begin("leaving trips out"))
            if held_out is not None:
                result["held_out"] = held_out.errors | {"count": held_out.count}
                summary.append(("check", held_out.sentence()))
            if following:
                stages.begin("choosing what to measure next")
                best = model.next_measurements(following)
                result["next"] = [[str(names[x]) for x in np.atleast_1d(row)] for row in best]
                ways = [" → ".join(map(quoted, row)) for row in result["next"]]
                summary.append(("next", f"measure {', '.join(ways)}"))

        # 3. write
        box = Outbox(out, force)

        def write() -> dict[str, Any]:
            at = (measured.starts, measured.ends) if pairs is None else (pairs.starts, pairs.ends)
            stages.begin("predicting")
            p50, p90 = model.predict(*at).T
            _, given = model.network.routes(model.network.given, *at)
            predicted: dict[str, Any] = {
                "start": names.column(at[0]), "end": names.column(at[1]),
                "p50": np.ma.masked_invalid(p50), "p90": np.ma.masked_invalid(p90),
                "given": np.ma.masked_invalid(given),
            }  # fmt: skip
            if pairs is None:
                predicted["measured"] = measured.times
            write_table(predicted, box.path("predicted.csv"))
            write_table(_edge_columns(model, table), box.path("times.csv"))
            text = json.dumps(result, ensure_ascii=False, indent=1, allow_nan=False)
            box.path("summary.json").write_text(text + "\n", encoding="utf-8")
            no_picture = why_not_drawn(graph)
            if no_picture is None:
                with picture(box.path("times.png")) as axes:
                    draw(model, names, axes)
            for name in _FILES:
                box.discard(name)
            return {"no_picture": no_picture}

        stages.begin("writing")
        if files and not model.unrelated:
            result |= write_results(box, write)
    if json_wanted:
        print_json(result)
    else:
        show([*summary, *about_files(result)], Console())
    if model.unrelated or result["not_written"]:
        raise typer.Exit(UNRELATED if model.unrelated else 1)


def register(app: typer.Typer) -> None:
    """Add the commands of this package to `wayfield`."""
    travel = typer.Typer(cls=Group, help=HELP, no_args_is_help=True)
    add_command(travel, trips, "")
    app.add_typer(travel, name="travel", rich_help_panel=OWN_DATA)


def _facts(model: Model, i: int, names: Any, unit: str) -> dict[str, Any]:
    """Return a finding as data."""
    import numpy as np

    from ..checks import plain
    from .text import sentence

    found, graph = model.findings[i], model.given
    places = [
        [[str(names[graph.tails[a]]), str(names[graph.indices[a]])] for a in arcs.tolist()]
        for arcs in found.where
        if found.kind != "trip"
    ]
    return plain(  # type: ignore[no-any-return]
        {
            "kind": found.kind,
            "text": sentence(model, found, names, unit),
            "probability": found.probability,
            "amount": found.amount,
            "low": found.low,
            "high": found.high,
            "where": places,
            "trips": (np.asarray(found.trips) + 1).tolist(),
        }
    )


def _arc_rows(table: EdgeTable, words: Any) -> Any:
    """Return a column of the edge list for each arc of its graph; of parallel rows the shortest."""
    import numpy as np

    from ..graphs.graph import arc_slots

    graph, _ = table.to_graph()
    tails, heads, rows = table.arcs()
    if not graph.directed:  # each row is open both ways
        tails, heads, rows = np.r_[tails, heads], np.r_[heads, tails], np.r_[rows, rows]
    slot = arc_slots(graph, tails, heads)
    lengths = np.ones(rows.size) if table.lengths is None else table.lengths[rows]
    order = np.argsort(-lengths, kind="stable")
    order = order[slot[order] >= 0]  # a loop is in no graph
    found = np.empty(graph.num_arcs, words.dtype)
    found[slot[order]] = words[rows[order]]
    return found


def _edge_columns(model: Model, table: EdgeTable) -> dict[str, Any]:
    """Return the rows of the edge list with given and expected times, in a form that plan reads.

    A row that leads both ways appears twice if the graph is directed.
    """
    import numpy as np
    from scipy.special import ndtri

    from ..graphs.graph import arc_slots

    graph, half = model.given, float(ndtri(0.95))
    tails, heads, rows = table.arcs()
    order = np.argsort(rows, kind="stable")
    tails, heads, rows = tails[order], heads[order], rows[order]
    slot = arc_slots(graph, tails, heads)
    there = slot >= 0  # a loop is in no graph
    tails, heads, rows, slot = tails[there], heads[there], rows[there], slot[there]
    mean, sd = model.edge_times()
    columns = {
        "row": rows + 1,
        "from": table.names.column(tails),
        "to": table.names.column(heads),
        "given": graph.lengths[slot],
        "length": mean[slot],
        "low": np.maximum(mean - half * sd, 0.0)[slot],
        "high": (mean + half * sd)[slot],
    }
    if graph.directed:
        columns["oneway"] = ["yes"] * rows.size
    return columns
