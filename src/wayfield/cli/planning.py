"""``wayfield plan``: from a user's graph and values in files to a plan, written to files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from .._optional import missing
from ..errors import InputError
from ._common import Stages, compile_kernels, in_flags, notes
from ._inputs import Source
from ._options import (
    DISTANCE,
    METHODS,
    EdgeFile,
    Files,
    Force,
    Goal,
    GoalValue,
    Json,
    Out,
    Places,
    Reading,
    Solving,
    check_direction,
    with_options,
)
from ._output import (
    check_results,
    draw,
    in_options,
    report,
    route_columns,
    show,
    value_columns,
    why_not_drawn,
    write_results,
)

if TYPE_CHECKING:
    from ..files import EdgeTable, Outbox

PATIENCE = 10.0
"""Time limit in seconds of each field that the verdict chooses from."""
_FILES = ("values.csv", "values.parquet", "routes.csv", "plan.png")


@with_options
def plan(
    edges: EdgeFile,
    labels: Annotated[
        Path | None,
        typer.Argument(
            metavar="LABELS",
            help="Known values: vertex, value. Without them: the graph's own distances.",
            show_default=False,
        ),
    ] = None,
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
    prior: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|distance",
            help="A field that the labels correct: vertex, value; or the graph's own distances.",
        ),
    ] = None,
    mend: Annotated[
        bool,
        typer.Option(
            "--mend", help="Mend the graph by the labels, and plan by its best predictions."
        ),
    ] = False,
    out: Out = Path("wayfield-plan"),
    files: Files = True,
    proof: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the proof of field and plan, for python -m wayfield_verify."
        ),
    ] = None,
    proof_names: Annotated[
        bool, typer.Option("--proof-names", help="Store the names of the vertices in the proof.")
    ] = False,
    force: Force = False,
    json_wanted: Json = False,
    goal_value: GoalValue = None,
    positions: Places = None,
    *,
    solving: Solving,
    reading: Reading,
) -> None:
    """Plan on your own graph, from a few known values.

    EDGES has a row per edge: from, to and a length. LABELS has a row per known state: its name
    and its cost to the goal, the goal's own included. Both may be CSV, TSV, other text (also
    .gz) or Parquet; columns are guessed and the guess is printed. Without LABELS the plan
    follows the graph's own shortest paths.

    Writes values.csv and values.parquet (value, bounds, next state, outcome, cost and margin of
    every state), routes.csv, and plan.png unless the graph is large and has no positions. Results
    of an earlier run that this one does not write are removed. A file that wayfield did not write
    is replaced only with --force.

    Example: wayfield plan roads.csv known.csv --goal Bern --start "La Chaux-de-Fonds"

    Example: wayfield plan wayfield-mend/mended.csv --goal Bern
    """
    import numpy as np

    from .._proof_file import check_path
    from ..comparison import recommend
    from ..cross_validation import above_goal
    from ..extension import AMLE
    from ..extension._names import parse_method
    from ..files import Outbox, write_table
    from ..mending import contradictions
    from ..mending.selection import FEWEST, Best
    from ..shortest_paths import cost_to_go
    from ..units import unit_question

    # 1. options that exclude each other, and files that must be kept
    if mend and prior is not None:
        raise InputError("--mend and --prior exclude each other: a mended graph is its own prior")
    if mend and solving.drop_false_sinks and method is None:
        raise InputError("--mend leaves no false sinks to drop: leave out --drop-false-sinks")
    if labels is None:
        needed = {"--mend": mend, "--prior": prior, "--method": method, "--lift": solving.lift}
        needed |= {"--drop-false-sinks": solving.drop_false_sinks}
        for option, given_option in needed.items():
            if given_option:
                raise InputError(f"{option} needs LABELS: without them, distances are planned on")
    by_distance = labels is None or (mend and method is None)
    chosen = None if by_distance else parse_method(method or "amle")
    prior_file = None if prior in (None, DISTANCE) else Path(prior)
    if proof is not None and not force:
        check_path(proof)
    if files:
        inputs = edges, labels, positions, prior_file
        check_results(out, _FILES, inputs, force, "" if start else "routes.csv")
    source = Source(edges, labels, goal, goal_value, positions, prior_file, reading)
    starts = tuple[int, ...]()
    with Stages(notes()) as stages:
        # 2. read, and compile the kernels
        def ready(table: EdgeTable) -> None:
            nonlocal starts
            starts = tuple(table.names.index(name, "--start ") for name in start or ())
            if chosen is not None:
                check_direction(table.one_way, chosen)
            with stages.aside():
                used = [chosen] if chosen is not None else [AMLE(fill="flat")]
                size, best = len(table.names) + 2 * table.tails.size, Best() if mend else None
                compile_kernels(notes(), used, table.one_way, mend=best, size=size)

        given = source.read(stages, ready, solving.error)
        graph = given.graph
        if not json_wanted:
            with stages.aside():
                show(given.said, Console())

        # 3. solve
        doing = "mending, " if mend else "extending, " if chosen is not None else ""
        stages.begin(f"{doing}planning, certifying")
        measured = prior == DISTANCE or labels is None
        field = given.prior
        if measured or mend:
            distance = cost_to_go(graph, given.goal)
            lost = given.labels.vertices[np.isinf(distance[given.labels.vertices])]
            if lost.size:
                raise InputError(
                    f"{given.names[lost[0]]!r} has a label, but the graph has no path from it to "
                    "the goal: is an edge missing, or one-way?"
                )
            field = distance if measured else field
        if mend and given.labels.vertices.size <= FEWEST:
            raise InputError(
                f"--mend needs labels at {FEWEST} states besides the goal, got "
                f"{given.labels.vertices.size - 1}; wayfield mend --method smooth mends by fewer"
            )
        if mend or prior == DISTANCE:
            # lengths and labels are added: nothing is written while their units may differ
            question = unit_question(*above_goal(given.labels, given.goal, distance))
            if question is not None:
                raise InputError(in_flags(question, reading.length_unit))
        how = AMLE(fill="flat") if labels is None else chosen  # corrects the distances by 0
        answer, held_out = solving.solve(graph, given.labels, given.goal, how, field, mend)

        # 4. compare with the graph distance, unless the user brings a field to compare with
        more: dict[str, Any] = {"input": given.facts, **held_out}
        if labels is not None and prior_file is None and solving.folds and answer.plan.num_able:
            if not mend and contradictions(graph, given.labels):
                with stages.aside():
                    compile_kernels(notes(), [], graph.directed, mend=Best())
            stages.begin("comparing with the graph distance")
            found = recommend(
                graph, given.labels, given.goal, folds=solving.folds, time_limit=PATIENCE
            )
            more["verdict"] = in_options(found).verdict

        # 5. write
        if proof is not None:
            stages.begin("writing the proof")
            try:
                names = given.names if proof_names else False
                more["proof"] = str(answer.write_proof(proof, names))
            except OSError as error:
                more["no_proof"] = f"{error.strerror or error} ({proof})"

        def write(box: Outbox) -> dict[str, Any]:
            columns, no_parquet = value_columns(answer, given.names), missing("pyarrow", "files")
            write_table(columns, box.path("values.csv"))
            if no_parquet is None:
                write_table(columns, box.path("values.parquet"))
            if starts:
                write_table(route_columns(answer, given.names, starts), box.path("routes.csv"))
            no_picture = why_not_drawn(answer.graph)
            if no_picture is None:
                draw(answer, box.path("plan.png"), given.names, starts)
            for name in _FILES:
                box.discard(name)
            return {"no_picture": no_picture, "no_parquet": no_parquet}

        if files:
            stages.begin("writing")
            more |= write_results(Outbox(out, force), write)
    report(answer, given.names, starts, more, json_wanted, reading.length_unit)
