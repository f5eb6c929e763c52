"""The commands ``wayfield plan``, ``compare`` and ``maze``: files or a maze, an answer, its report.

Each checks its options first, then reads, computes by `wayfield.advice`, writes, and reports.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from .. import __version__
from ..errors import InputError
from ..words import number_of
from . import output
from .options import (
    METHOD,
    Drawing,
    EdgeFile,
    Files,
    Force,
    Given,
    Goal,
    Json,
    NumFolds,
    Out,
    Places,
    Reading,
    Solving,
    Source,
    check_direction,
    read_layout,
    with_options,
)
from .output import Stages, in_flags

if TYPE_CHECKING:
    from ..advice.comparison import MethodScore
    from ..typing import FloatArray

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
    method: Annotated[str | None, METHOD] = None,
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
        output.check_results(
            out, _FILES, (edges, labels, positions), force, "" if start else "routes.csv"
        )
    with Stages() as stages:
        # 2. read
        given = Source(edges, labels, goal, positions, reading).read(stages, solving.error)
        names, graph = given.names, given.graph
        starts = tuple(names.index(name, "--start ") for name in start or ())
        check_direction(graph.directed, chosen)
        if not json_wanted:
            with stages.aside():
                output.show(given.said, Console())

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
            except InputError as error:
                if answer.field.lower is None:  # the method has no proofs: another one is asked for
                    raise
                more["no_proof"] = str(error)
        box = Outbox(out, force)

        def write() -> dict[str, Any]:
            columns, no_parquet = output.value_columns(answer, names), missing("pyarrow", "files")
            write_table(columns, box.path("values.csv"))
            if no_parquet is None:
                write_table(columns, box.path("values.parquet"))
            if starts:
                write_table(output.route_columns(answer, names, starts), box.path("routes.csv"))
            no_picture = output.why_not_drawn(answer.graph)
            if no_picture is None:
                output.draw(answer, box.path("plan.png"), names, starts)
            for name in _FILES:
                box.discard(name)
            return {"no_picture": no_picture, "no_parquet": no_parquet}

        if files:
            stages.begin("writing")
            more |= output.write_results(box, write)
    words = edges, labels or "LABELS", "--goal", goal
    output.report(answer, tested, starts, more, json_wanted, names, reading.length_unit, words)


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


@with_options
def compare(
    edges: Annotated[Path | None, typer.Argument(metavar="EDGES", help="As for plan.")] = None,
    labels: Annotated[Path | None, typer.Argument(metavar="LABELS", help="As for plan.")] = None,
    goal: Goal = None,
    method: Annotated[list[str] | None, METHOD] = None,
    folds: NumFolds = 5,
    time_limit: Annotated[
        float,
        typer.Option(metavar="SECONDS", min=0.0, help="Time limit of each method."),
    ] = 60.0,
    json_wanted: Json = False,
    maze: Annotated[
        str | None, typer.Option(metavar="NAME|FILE", help="Compare on this map or file instead.")
    ] = None,
    *,
    drawing: Drawing,
    reading: Reading,
) -> None:
    """Compare several methods, and recommend one.

    Success is the share of the starts with a path to the goal that reach it. Cost is the ratio to
    the graph's own shortest paths. The margin is the error of the values that the median route
    tolerates. Left out is the error at labels that were left out in turn and predicted from the
    others, or by the graph distance times one factor. Only this figure does not take the graph to
    be right.

    Example: wayfield compare roads.csv known.csv --goal Bern

    Example: wayfield compare --maze medium --label-fraction 0.02
    """
    from ..advice.comparison import Recipe, default_methods
    from ..advice.comparison import compare as run_comparison
    from ..checks import plain
    from ..fields.names import load_method
    from ..graphs.names import shown
    from .warmup import warm_up

    if (maze is None and labels is None) or (maze is not None and edges is not None):
        raise InputError("compare needs either EDGES and LABELS, or --maze NAME")
    chosen = {word: load_method(word) for word in method or ()}
    methods = [Recipe(each, label=word) if ":" in word else each for word, each in chosen.items()]
    with Stages() as stages:
        # the graph and the labels
        if maze is not None:
            layout, number = read_layout(maze), goal or "0"
            if not (number.isdecimal() and len(number) < 20):
                raise InputError(f"--goal of a maze must be a vertex number, got {shown(goal)}")
            target = drawing.check_vertex(layout, int(number), "--goal")
            graph, known = drawing.draw(layout, target)
            graph = reading.scale(graph)
        else:
            assert edges is not None
            given = Source(edges, labels, goal, reading=reading).read(stages)
            output.show(given.said, output.notes())
            graph, known, target = given.graph, given.labels, given.goal
        for each in chosen.values():
            check_direction(graph.directed, each)

        # the comparison
        stages.begin("loading the kernels")  # so that this is not timed
        size = graph.num_vertices + graph.num_arcs
        warm_up([*chosen.values()] or default_methods(graph.directed), graph.directed, size)

        def progress(field: str) -> None:
            stages.begin(f"comparing: {field}")

        found = run_comparison(
            graph, known, target, methods or None,
            folds=folds, time_limit=time_limit, progress=progress,
        )  # fmt: skip
    words = [str(word) for word in (edges, labels, "--goal", goal) if word is not None]

    def spelt(text: str) -> str:
        return in_flags(text, reading.length_unit, words)

    def named(score: MethodScore) -> str:
        return spelt(score.name).removeprefix("--method ")  # the column is called method

    scores = tuple(replace(score, name=named(score)) for score in found.scores)
    remarks = list(map(spelt, found.remarks))
    if not json_wanted:
        title = f"{number_of(found.starts, 'starts')}; truth: the graph's own shortest paths"
        table = replace(found, scores=scores).table
        for line in (title, "", table, "", spelt(found.verdict), *remarks):
            output.say(Console(), line)
        return
    figures = ("success", "cost_ratio", "margin", "seconds", "out_of_time")
    rows = [
        {"method": score.name, "left_out": score.label_error, "left_out_spread": score.label_spread}
        | {name: getattr(score, name) for name in figures}
        for score in scores
    ]
    facts: dict[str, Any] = {
        "wayfield": __version__,
        "graph": repr(graph),
        "labels": repr(known),
        "starts": found.starts,
        "truth": "the graph's own shortest paths",
        "rows": rows,
        "per_graph_distance": found.factor,
        "choose": named(found.choice),
        "verdict": spelt(found.verdict),
        "remarks": remarks,
    }
    output.print_json(plain(facts))


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
    method: Annotated[str, METHOD] = "amle",
    goal: Annotated[
        int, typer.Option(help="Goal vertex, numbered row by row from the top left.")
    ] = 0,
    start: Annotated[
        list[int] | None,
        typer.Option(metavar="VERTEX", help="Show the route from here; may be given again."),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the field and the plan (.png, .svg, .pdf)."),
    ] = None,
    force: Force = False,
    json_wanted: Json = False,
    *,
    drawing: Drawing,
    solving: Solving,
) -> None:
    """Extend a few labels over a maze, plan from every start, and show the result.

    A maze of your own is a text file, one character per cell: # is wall, . is
    free, 1 to 9 are free at that cost per step, ^ v < > are one-way. Below it,
    4,6 -> 1,7 6,1 gives the teleports out of row 4, column 6, counted from 0.
    Letters such as S and G are free cells; the goal is the vertex you name.

    Example: wayfield maze medium --method harmonic --picture field.png
    """
    from ..checks import need
    from ..fields.names import load_method
    from ..graphs.labels import Labels
    from ..graphs.tables import Outbox, check_outputs

    # everything is checked before anything is computed
    chosen = load_method(method)
    layout = read_layout(name)
    check_direction(layout.directed, chosen)
    goal = drawing.check_vertex(layout, goal, "--goal")
    starts = tuple(drawing.check_vertex(layout, x, "--start") for x in start or ())
    if picture is not None:
        known = need("matplotlib.figure", "plots").Figure().canvas.get_supported_filetypes()
        if picture.suffix[1:].lower() not in known:
            raise InputError(f"cannot write {picture}: its name must end in .png, .svg or .pdf")
        if not picture.parent.is_dir():
            raise InputError(f"cannot write {picture}: there is no folder {picture.parent}")
        check_outputs(picture.parent, [picture.name], force)
    with Stages() as stages:
        stages.begin("extending, planning, certifying")
        graph, sample = drawing.draw(layout, goal)
        labels = Labels(sample.vertices, sample.values, solving.error)
        answer, tested = solving.solve(graph, labels, goal, chosen)
    about = {"maze": layout.name, "refinement": drawing.refinement, "seed": drawing.seed}
    more: dict[str, Any] = {"input": about}
    if picture is not None:
        box, name_of_file = Outbox(picture.parent, force), picture.name

        def write() -> dict[str, Any]:
            output.draw(answer, box.path(name_of_file), starts=starts)
            return {}

        more |= output.write_results(box, write)
    output.report(answer, tested, starts, more, json_wanted, words=("--maze", name, "--goal", goal))
