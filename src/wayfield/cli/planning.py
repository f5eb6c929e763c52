"""``wayfield plan``: from a user's graph and values in files to a plan, written to files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from ..errors import InputError
from .options import (
    METHODS,
    EdgeFile,
    Files,
    Force,
    Goal,
    Json,
    Out,
    Places,
    Reading,
    Solving,
    Source,
    check_direction,
    with_options,
)
from .output import (
    Stages,
    check_results,
    draw,
    in_flags,
    report,
    route_columns,
    show,
    value_columns,
    why_not_drawn,
    write_results,
)

if TYPE_CHECKING:
    from ..typing import FloatArray
    from .options import Given

DISTANCE = "distance"
"""The prior that needs no file."""
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
        typer.Option("--method", "-m", metavar="METHOD", help=METHODS, show_default="amle"),
    ] = None,
    start: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Show the route from here; may be given again."),
    ] = None,
    prior: Annotated[
        str | None,
        typer.Option(
            metavar="distance", help="A field that the labels correct: the graph's own distances."
        ),
    ] = None,
    out: Out = Path("wayfield-plan"),
    files: Files = True,
    proof: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the proof of field and plan, for python -m wayfield_verify."
        ),
    ] = None,
    force: Force = False,
    json_wanted: Json = False,
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
    """
    from ..checks import missing
    from ..fields import AMLE
    from ..fields.names import load_method
    from ..graphs.tables import Outbox, write_table
    from ..numerics.proof_file import check_path

    # 1. options that exclude each other, and files that must be kept
    if labels is None:
        needed = {"--prior": prior, "--method": method, "--lift": solving.lift}
        needed |= {"--drop-false-sinks": solving.drop_false_sinks}
        for name, given_option in needed.items():
            if given_option:
                raise InputError(f"{name} needs LABELS: without them, distances are planned on")
    chosen = AMLE() if method is None else load_method(method)
    if labels is None:  # the plan follows the distances: the AMLE corrects them by 0
        chosen = AMLE(fill="flat")
    if prior not in (None, DISTANCE):
        raise InputError(f"--prior must be {DISTANCE}, got {prior!r}")
    if proof is not None and not force:
        check_path(proof)
    if files:
        check_results(out, _FILES, (edges, labels, positions), force, "" if start else "routes.csv")
    with Stages() as stages:
        # 2. read
        given = Source(edges, labels, goal, positions, reading).read(stages, solving.error)
        names, graph = given.names, given.graph
        starts = tuple(names.index(name, "--start ") for name in start or ())
        check_direction(graph.directed, chosen)
        if not json_wanted:
            with stages.aside():
                show(given.said, Console())

        # 3. solve
        stages.begin("extending, planning, certifying" if labels else "planning, certifying")
        field = _distances(given, reading.length_unit) if prior or labels is None else None
        answer, tested = solving.solve(graph, given.labels, given.goal, chosen, field)
        more: dict[str, Any] = {"input": given.facts}

        # 4. write
        if proof is not None:
            stages.begin("writing the proof")
            try:
                more["proof"] = str(answer.write_proof(proof, names))
            except OSError as error:
                more["no_proof"] = f"{error.strerror or error} ({proof})"
        box = Outbox(out, force)

        def write() -> dict[str, Any]:
            columns, no_parquet = value_columns(answer, names), missing("pyarrow", "files")
            write_table(columns, box.path("values.csv"))
            if no_parquet is None:
                write_table(columns, box.path("values.parquet"))
            if starts:
                write_table(route_columns(answer, names, starts), box.path("routes.csv"))
            no_picture = why_not_drawn(answer.graph)
            if no_picture is None:
                draw(answer, box.path("plan.png"), names, starts)
            for name in _FILES:
                box.discard(name)
            return {"no_picture": no_picture, "no_parquet": no_parquet}

        if files:
            stages.begin("writing")
            more |= write_results(box, write)
    words = edges, labels or "LABELS", "--goal", goal
    report(answer, tested, starts, more, json_wanted, names, reading.length_unit, words)


def _distances(given: Given, length_unit: float) -> FloatArray:
    """Return the graph's own distances to the goal; raise where labels cannot correct them."""
    import numpy as np

    from ..advice.text import above_goal, unit_question
    from ..graphs.shortest_paths import cost_to_go

    labels, distance = given.labels, cost_to_go(given.graph, given.goal)
    lost = labels.vertices[np.isinf(distance[labels.vertices])]
    if lost.size:
        raise InputError(
            f"{given.names[lost[0]]!r} has a label, but the graph has no path from it to the goal: "
            "is an edge missing, or one-way?"
        )
    # lengths and labels are added: nothing is written while their units may differ
    question = unit_question(*above_goal(labels, given.goal, distance))
    if question is not None:
        raise InputError(in_flags(question, length_unit))
    return distance
