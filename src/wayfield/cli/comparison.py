"""``wayfield compare``: several methods on the same data, one table, and a recommendation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from .. import __version__
from ..errors import InputError
from ..words import number_of
from .options import (
    METHODS,
    Goal,
    Json,
    NumFolds,
    Reading,
    Source,
    check_direction,
    read_layout,
    with_options,
)
from .output import Stages, in_flags, notes, print_json, say, show

if TYPE_CHECKING:
    from ..advice.comparison import MethodScore

HELP = f"May be given again. {METHODS}"


@with_options
def compare(
    edges: Annotated[Path | None, typer.Argument(metavar="EDGES", help="As for plan.")] = None,
    labels: Annotated[Path | None, typer.Argument(metavar="LABELS", help="As for plan.")] = None,
    goal: Goal = None,
    method: Annotated[
        list[str] | None,
        typer.Option("--method", "-m", metavar="METHOD", help=HELP),
    ] = None,
    folds: NumFolds = 5,
    time_limit: Annotated[
        float,
        typer.Option(metavar="SECONDS", min=0.0, help="Time limit of each method."),
    ] = 60.0,
    json_wanted: Json = False,
    maze: Annotated[
        str | None, typer.Option(metavar="NAME|FILE", help="Compare on this map or file instead.")
    ] = None,
    refinement: Annotated[int, typer.Option(help="Of the maze.")] = 8,
    label_fraction: Annotated[float, typer.Option(help="Of the maze's vertices.")] = 0.05,
    seed: Annotated[int, typer.Option(min=0, help="Of the maze's labels.")] = 0,
    *,
    reading: Reading,
) -> None:
    """Compare several methods, and recommend one.

    Success is the share of the starts with a path to the goal that reach it. Cost is the ratio to
    the graph's own shortest paths. The margin is the error of the values that the median route
    tolerates. Left out is the error at labels that were left out in turn and predicted from the
    others, or by the graph distance times one factor. It is the only figure that needs no truth.

    Example: wayfield compare roads.csv known.csv --goal Bern

    Example: wayfield compare --maze medium --label-fraction 0.02
    """
    from .. import grid_graph, sample_labels
    from ..advice.comparison import Recipe, default_methods
    from ..advice.comparison import compare as run_comparison
    from ..checks import as_vertex, as_whole, plain
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
            size = layout.num_free * as_whole(refinement, "--refinement", least=1) ** 2
            target = as_vertex(int(number), "--goal", size)
            graph = grid_graph(layout, refinement)
            known = sample_labels(graph, target, label_fraction, seed)
            graph = reading.scale(graph)
        else:
            assert edges is not None
            given = Source(edges, labels, goal, reading=reading).read(stages)
            show(given.said, notes())
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
            say(Console(), line)
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
    print_json(plain(facts))
