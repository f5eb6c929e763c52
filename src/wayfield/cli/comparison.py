"""``wayfield compare``: several methods on the same data, one table, and which to choose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from .. import __version__
from .._text import margin_text, number_of, percent, seconds_text
from ..errors import InputError
from ._common import METHODS, Stages, compile_kernels, notes, read_layout, say
from ._inputs import (
    Decimal,
    Delimiter,
    Directed,
    Encoding,
    Goal,
    GoalValue,
    HeadColumn,
    Header,
    Json,
    LengthColumn,
    NoOneWay,
    OneWayColumn,
    SpeedColumn,
    TailColumn,
    Thousands,
    ValueColumn,
    VertexColumn,
    Wanted,
)
from ._show import AS_OPTIONS, print_json
from ._solving import LengthUnit, NumFolds, check_direction, in_units

if TYPE_CHECKING:
    from ..comparison import Comparison, MethodScore
    from ..extension import Method
    from ..graph import Graph
    from ..labels import Labels
    from ..mending import MendMethod


MEND = "mend"
HELP = f"May be given again. {METHODS} {MEND}: the graph mended by the labels."


def compare(
    edges: Annotated[Path | None, typer.Argument(metavar="EDGES", help="As for plan.")] = None,
    labels: Annotated[Path | None, typer.Argument(metavar="LABELS", help="As for plan.")] = None,
    goal: Goal = None,
    method: Annotated[
        list[str] | None,
        typer.Option("--method", "-m", metavar="METHOD", help=HELP),
    ] = None,
    directed: Directed = False,
    length_unit: LengthUnit = 1.0,
    folds: NumFolds = 5,
    time_limit: Annotated[
        float,
        typer.Option(metavar="SECONDS", help="What each method may take; then it is stopped."),
    ] = 60.0,
    json_wanted: Json = False,
    maze: Annotated[
        str | None, typer.Option(metavar="NAME|FILE", help="Compare on this map or file instead.")
    ] = None,
    refinement: Annotated[int, typer.Option(help="Of the maze.")] = 8,
    label_fraction: Annotated[float, typer.Option(help="Of the maze's vertices.")] = 0.05,
    seed: Annotated[int, typer.Option(min=0, help="Of the maze's labels.")] = 0,
    goal_value: GoalValue = None,
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
    """Put several methods side by side, and say which to choose.

    Success is the share of the starts that can reach the goal whose walk does; cost is that of the
    walks over the graph's own shortest paths; the margin is the error of the values that the median
    route tolerates. Left out is the error at labels that were left out in turn and predicted from
    the others, or by the graph distance times one factor: the one figure that needs no truth.

    Example: wayfield compare roads.csv known.csv --goal Bern

    Example: wayfield compare --maze medium --label-fraction 0.02
    """
    from ..comparison import compare as compared
    from ..extension._names import parse_method
    from ..mending._names import DEFAULT, parse_mend

    if (edges is None or labels is None) == (maze is None):
        raise InputError("compare needs either EDGES and LABELS, or --maze NAME")
    chosen = [parse_mend(DEFAULT) if word == MEND else parse_method(word) for word in method or ()]
    with Stages(notes()) as stages:
        ready = partial(_make_ready, stages, chosen)
        if maze is not None:
            graph, known, target = _maze(maze, refinement, goal, label_fraction, seed, ready)
        else:
            assert edges is not None
            assert labels is not None
            wanted = Wanted(
                edges, labels, goal, goal_value, directed, None, None,
                {
                    "from": tail, "to": head, "length": length,
                    "oneway": "none" if no_oneway else oneway, "speed": speed,
                },
                {"vertex": vertex, "value": value},
                (delimiter, header, encoding, decimal, thousands),
            )  # fmt: skip
            contents = wanted.read(stages)
            ready(contents.directed)
            given = contents.build()
            with stages.aside():
                for word, text in given.said:
                    say(notes(), f"{word:<9} {text}")
            graph, known, target = given.graph, given.labels, given.goal
        graph = in_units(graph, length_unit)
        told = partial(_begin, stages)
        found = compared(
            graph, known, target, chosen or None,
            folds=folds, time_limit=time_limit, progress=told,
        )  # fmt: skip
    found = replace(
        found, scores=tuple(replace(score, name=_word(score)) for score in found.scores)
    )
    if json_wanted:
        print_json(_facts(graph, known, found))
    else:
        _print(found)


def _make_ready(stages: Stages, chosen: list[Method | MendMethod], directed: bool) -> None:
    """Compile what is needed, once it is known that every method is defined on the graph."""
    from ..comparison import default_methods
    from ..mending import MendMethod
    from ..mending._names import DEFAULT, parse_mend

    methods = [method for method in chosen if not isinstance(method, MendMethod)]
    mends = [method for method in chosen if isinstance(method, MendMethod)]
    for method in methods:
        check_direction(directed, method)
    if not chosen:
        methods, mends = default_methods(directed), [parse_mend(DEFAULT)]
    with stages.aside():
        compile_kernels(notes(), methods, directed, mend=mends[0] if mends else None)


def _maze(
    name: str,
    refinement: int,
    goal: str | None,
    fraction: float,
    seed: int,
    ready: Callable[[bool], None],
) -> tuple[Graph, Labels, int]:
    from .. import grid_graph, sample_labels
    from .._arrays import as_vertex, as_whole
    from ..names import shown

    layout, number = read_layout(name), goal or "0"
    if not (number.isdecimal() and len(number) < 20):
        raise InputError(f"the goal of a maze is the number of a vertex, not {shown(goal)}")
    size = layout.num_free * as_whole(refinement, "refinement", least=1) ** 2
    target = as_vertex(int(number), "goal", size)
    ready(layout.directed)
    graph = grid_graph(layout, refinement)
    return graph, sample_labels(graph, target, fraction, seed), target


def _begin(stages: Stages, field: str) -> None:
    stages.begin(f"comparing: {field}")


def _facts(graph: Graph, labels: Labels, found: Comparison) -> dict[str, Any]:
    from .._arrays import plain

    facts: dict[str, Any] = plain(
        {
            "wayfield": __version__,
            "graph": repr(graph),
            "labels": repr(labels),
            "starts": found.starts,
            "truth": "the graph's own shortest paths",
            "rows": [
                {
                    "method": score.name,
                    "success": score.success,
                    "cost_ratio": score.cost_ratio,
                    "margin": score.margin,
                    "left_out": score.label_error,
                    "left_out_spread": score.label_spread,
                    "seconds": score.seconds,
                    "out_of_time": score.out_of_time,
                }
                for score in found.scores
            ],
            "per_graph_distance": found.factor,
            "choose": found.choice.name,
            "verdict": found.verdict,
            "remarks": list(found.remarks_for(AS_OPTIONS)),
        }
    )
    return facts


def _word(score: MethodScore) -> str:
    """Return what to type for a row of the table."""
    from ..comparison import PLAIN
    from ..extension._names import method_word

    if score.recipe is None:
        return PLAIN
    if score.recipe.method is None:
        return "--mend"
    word = method_word(score.recipe.method)
    word += " --drop-false-sinks" if score.recipe.trimmed else ""
    return f"{word} --prior distance" if score.recipe.corrected else word


def _print(found: Comparison) -> None:
    from ..comparison import left_out_text

    title = f"{number_of(found.starts, 'starts')}; truth: the graph's own shortest paths"
    look: dict[str, Any] = {"title_justify": "left", "title_style": "", "header_style": "bold"}
    table = Table(title=title, box=SIMPLE_HEAD, pad_edge=False, **look)
    table.add_column("method", no_wrap=True)
    for heading in ("success", "cost", "margin", "left out", "time"):
        table.add_column(heading, justify="right", no_wrap=True)
    for score in found.scores:
        ratio = "–" if isnan(score.cost_ratio) else f"{score.cost_ratio:.4f}"
        margin = "–" if isnan(score.margin) else margin_text(score.margin)
        success = "out of time" if score.out_of_time else percent(score.success)
        cells = (score.name, success, ratio, margin, left_out_text(score))
        style = "bold" if score is found.choice else ""
        table.add_row(*cells, seconds_text(score.seconds), style=style)
    screen = Console()
    screen.print(table)
    for line in (found.verdict, *found.remarks_for(AS_OPTIONS)):
        say(screen, line)
