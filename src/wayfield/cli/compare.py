"""``wayfield compare``: several methods on the same data, one table, and which to choose.

**Rule.** Most starts reached; among those, walks cheapest on average; then the largest margin on
the median route; then the least time. Success and cost need a truth to be measured by: it is the
graph's own shortest paths, so the table is as right as the graph.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from ..errors import InputError
from ..extension._words import METHOD_HELP, parse_method
from ._common import compile_kernels, explained, notes, read_layout, say
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
    TailColumn,
    Thousands,
    ValueColumn,
    VertexColumn,
    Wanted,
)
from ._stages import Stages

if TYPE_CHECKING:
    from ..compare import Comparison, Row
    from ..extension import Method
    from ..graph import Graph
    from ..labels import Labels

_DEFAULT = ("amle", "amle-cost", "p=8", "harmonic", "sweeps=300", "nearest")
_SAME = 1e-9


def compare(
    edges: Annotated[Path | None, typer.Argument(metavar="EDGES", help="As for plan.")] = None,
    labels: Annotated[Path | None, typer.Argument(metavar="LABELS", help="As for plan.")] = None,
    goal: Goal = None,
    method: Annotated[
        list[str] | None,
        typer.Option("--method", "-m", metavar="METHOD", help=f"May be given again. {METHOD_HELP}"),
    ] = None,
    directed: Directed = False,
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
    vertex: VertexColumn = None,
    value: ValueColumn = None,
    delimiter: Delimiter = None,
    header: Header = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    thousands: Thousands = None,
) -> None:
    """Put several methods side by side, and say which to choose.

    Success is the share of the starts that can reach the goal whose walk does; the cost ratio is
    what walks cost over the graph's own shortest paths; the margin is the error that the median
    route can bear.

    Example: wayfield compare roads.csv known.csv --goal Bern

    Example: wayfield compare --maze medium --label-fraction 0.02
    """
    from ._report import print_json

    if (edges is None or labels is None) == (maze is None):
        raise InputError("compare needs either EDGES and LABELS, or --maze NAME")
    words = method or None
    chosen = [parse_method(word) for word in words or _DEFAULT]
    if maze is not None:
        graph, known, target = _maze(maze, refinement, goal, label_fraction, seed)
    else:
        assert edges is not None
        assert labels is not None
        wanted = Wanted(
            edges, labels, goal, goal_value, directed, None,
            {"from": tail, "to": head, "length": length, "oneway": "none" if no_oneway else oneway},
            {"vertex": vertex, "value": value},
            (delimiter, header, encoding, decimal, thousands),
        )  # fmt: skip
        with Stages(notes()) as stages:
            contents = wanted.read(stages)
        compile_kernels(notes(), contents.directed)
        given = contents.build()
        for word, text in given.said:
            say(notes(), f"{word:<9} {text}")
        graph, known, target = given.graph, given.labels, given.goal
    methods = [each for each in chosen if words or each.directed or not graph.directed]
    with explained(notes(), "comparing …"):
        found = _facts(graph, known, target, methods)
    if json_wanted:
        print_json(found)
    else:
        _print(found)


def _maze(
    name: str, refinement: int, goal: str | None, fraction: float, seed: int
) -> tuple[Graph, Labels, int]:
    from .. import grid_graph, sample_labels

    layout, number = read_layout(name), goal or "0"
    if not number.isdecimal():
        raise InputError(f"the goal of a maze is the number of a vertex, not {goal!r}")
    compile_kernels(notes(), layout.directed)
    graph = grid_graph(layout, refinement)
    return graph, sample_labels(graph, int(number), fraction, seed), int(number)


def _facts(graph: Graph, labels: Labels, goal: int, methods: list[Method]) -> dict[str, Any]:
    """Compare, and choose by the rule above."""
    from .. import __version__
    from .. import compare as compared
    from ._facts import plain

    found: Comparison = compared(graph, labels, goal, methods)
    rows = [_row(found.rows[0], None)]
    for row, method in zip(found.rows[1:], methods, strict=True):
        rows.append(_row(row, _median_margin(graph, labels, goal, method)))
    best = max(rows[1:], key=_merit)
    facts: dict[str, Any] = plain(
        {
            "wayfield": __version__,
            "graph": repr(graph),
            "labels": repr(labels),
            "starts": found.starts,
            "truth": "the graph's own shortest paths",
            "rows": rows,
            "choose": best["method"],
            "rule": "most starts reached, then least cost, then largest margin, then least time",
            "verdict": found.verdict,
        }
    )
    return facts


def _median_margin(graph: Graph, labels: Labels, goal: int, method: Method) -> float | None:
    from ._facts import margins
    from ._result import Question, answer

    middle: float | None = margins(answer(Question(graph, labels, goal, method, str)))["median"]
    return middle


def _row(row: Row, margin: float | None) -> dict[str, Any]:
    return {
        "method": row.name,
        "success": row.success,
        "cost_ratio": row.cost_ratio,
        "margin": margin,
        "seconds": row.seconds,
    }


def _merit(row: dict[str, Any]) -> tuple[float, float, float, float]:
    """Order rows by the rule; figures that differ by rounding only are the same."""
    ratio = row["cost_ratio"] if row["cost_ratio"] == row["cost_ratio"] else float("inf")
    margin = -1.0 if row["margin"] is None else row["margin"]
    return row["success"], -round(ratio / _SAME) * _SAME, margin, -row["seconds"]


def _print(found: dict[str, Any]) -> None:
    from ._show import margin_text, percent

    title = f"{found['starts']:,} starts; truth: {found['truth']}"
    table = Table(title=title, title_justify="left", title_style="", header_style="bold")
    table.add_column("method")
    for heading in ("success", "cost ratio", "margin", "seconds"):
        table.add_column(heading, justify="right")
    for row in found["rows"]:
        ratio = "–" if row["cost_ratio"] is None else f"{row['cost_ratio']:.4f}"
        margin = "–" if row["margin"] is None else margin_text(row["margin"])
        style = "bold" if row["method"] == found["choose"] else ""
        cells = (row["method"], percent(row["success"]), ratio, margin, f"{row['seconds']:.3f}")
        table.add_row(*cells, style=style)
    screen = Console()
    screen.print(table)
    say(screen, f"choose {found['choose']}: {found['rule']}")
    say(screen, found["verdict"])
