"""The user's files, as several commands take them: options, and how they are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._text import quoted
from ..errors import InputError
from ._common import METHODS, Stages
from ._show import Line

if TYPE_CHECKING:
    from ..files import Names, VertexTable
    from ..graph import Graph
    from ..kernels._types import FloatArray
    from ..labels import Labels

_FILES = "Files"
EdgeFile = Annotated[
    Path, typer.Argument(metavar="EDGES", help="Edges: from, to, length.", show_default=False)
]
LabelFile = Annotated[
    Path, typer.Argument(metavar="LABELS", help="Known values: vertex, value.", show_default=False)
]
Goal = Annotated[str | None, typer.Option("--goal", "-g", metavar="NAME", help="Where to go.")]
Method = Annotated[str, typer.Option("--method", "-m", metavar="METHOD", help=METHODS)]
Repair = Annotated[
    bool,
    typer.Option("--repair", help="Lift the field where walks get stuck, as little as will do."),
]
Error = Annotated[
    float,
    typer.Option(
        metavar="E", help="How far values may be off: which moves are optimal all the same?"
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, nothing else.")]
GoalValue = Annotated[
    float | None,
    typer.Option(metavar="V", help="Label of the goal, where LABELS has none."),
]
Directed = Annotated[bool, typer.Option("--directed", help="Edges are arcs, from → to.")]
Places = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Where the vertices are, for the picture: name, x, y."),
]


def _column(option: str, text: str) -> Any:
    return typer.Option(option, metavar="COLUMN", help=text, rich_help_panel=_FILES)


TailColumn = Annotated[str | None, _column("--tail", "EDGES: from. Its heading, or its number.")]
HeadColumn = Annotated[str | None, _column("--head", "EDGES: to.")]
LengthColumn = Annotated[str | None, _column("--length", "EDGES: length; none: every edge 1 long.")]
VertexColumn = Annotated[str | None, _column("--vertex", "LABELS: vertex.")]
ValueColumn = Annotated[str | None, _column("--value", "LABELS: value.")]
Delimiter = Annotated[
    str | None,
    typer.Option(
        metavar="CHAR",
        help="Between columns; also: tab, space. Of EDGES and LABELS both.",
        rich_help_panel=_FILES,
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="First row is a header. Of EDGES and LABELS both.",
        rich_help_panel=_FILES,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Of all files that are not UTF-8: latin-1 …",
        rich_help_panel=_FILES,
    ),
]


@dataclass(frozen=True, eq=False)
class Given:
    """What the files hold.

    Attributes
    ----------
    graph, labels, goal, names
        The data, vertices by their indices, and the names for them.
    said : list of lines
        How the files were understood, for a person.
    facts : dict
        The same for a program.
    """

    graph: Graph
    labels: Labels
    goal: int
    names: Names
    said: list[Line]
    facts: dict[str, Any]


@dataclass(frozen=True)
class Wanted:
    """What the user said about the files; None is "look and guess"."""

    edges: Path
    labels: Path
    goal: str | None
    goal_value: float | None
    directed: bool
    positions: Path | None
    edge_columns: Mapping[str, str | None]
    label_columns: Mapping[str, str | None]
    text: tuple[str | None, bool | None, str | None]

    def read(self, stages: Stages, error: float = 0.0) -> Given:
        """Read all of them, or raise `InputError` with the file, the row and the column."""
        from ..files import Style, read_edges, read_labels, read_positions

        style = Style(*self.text)
        tell = stages.begin(f"reading {self.edges.name}")
        edges = read_edges(self.edges, _said(self.edge_columns), style, tell)
        names = edges.names
        tell = stages.begin(f"reading {self.labels.name}")
        columns = _said(self.label_columns)
        table = read_labels(self.labels, names, columns, style, error, tell)
        places = None
        if self.positions is not None:
            places = read_positions(self.positions, names, None, style)
        labels, goal = self._with_goal(table, names)
        stages.begin("building the graph")
        graph, remarks = edges.to_graph(self.directed, _positions(table, places))
        if graph.parallel_merged and not graph.directed and any("parallel" in r for r in remarks):
            remarks.append("if the two ways between vertices differ, pass --directed")
        remarks = [*edges.notes, *remarks, *table.notes, *(places.notes if places else ())]
        facts: dict[str, Any] = {
            "edges": {"path": str(self.edges), "read_as": edges.said},
            "labels": {"path": str(self.labels), "read_as": table.said},
            "notes": remarks,
        }
        said = [("edges", f"{self.edges.name}: {edges.said}")]
        said.append(("labels", f"{self.labels.name}: {table.said}"))
        if self.positions is not None and places is not None:
            facts["positions"] = {"path": str(self.positions), "read_as": places.said}
            said.append(("places", f"{self.positions.name}: {places.said}"))
        said += [("note", remark) for remark in remarks]
        return Given(graph, labels, goal, names, said, facts)

    def _with_goal(self, table: VertexTable, names: Names) -> tuple[Labels, int]:
        """Find the goal, and make sure that it has a label."""
        import numpy as np

        from ..labels import Labels

        labels = table.labels
        assert labels is not None
        if self.goal is None:
            least = int(np.argmin(labels.values))
            lowest = quoted(names[labels.vertices[least]])
            raise InputError(
                f"which vertex is the goal? pass --goal (the smallest label is "
                f"{labels.values[least]:g}, at {lowest})"
            )
        goal = names.index(self.goal, "--goal ")
        if goal in labels.vertices:
            own = labels.values[labels.vertices == goal][0]
            if self.goal_value not in (None, own):
                raise InputError(
                    f"--goal-value {self.goal_value:g}, but {self.labels} labels the goal "
                    f"{self.goal!r} with {own:g}: leave out one of them"
                )
            return labels, goal
        if self.goal_value is None:
            raise InputError(
                f"the goal {self.goal!r} has no label in {self.labels}: "
                "add a row for it, or pass --goal-value 0"
            )
        vertices = np.append(labels.vertices, goal)
        return Labels(vertices, np.append(labels.values, self.goal_value), labels.error), goal


def _said(columns: Mapping[str, str | None]) -> dict[str, str]:
    return {role: column for role, column in columns.items() if column is not None}


def _positions(table: VertexTable, places: VertexTable | None) -> FloatArray | None:
    """Return positions of all vertices, if there are any of all of them."""
    import numpy as np

    if places is not None:
        return places.positions
    known = table.positions
    return None if known is None or np.isnan(known).any() else known
