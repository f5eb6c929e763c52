"""The user's files, as several commands take them: options, and how they are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._text import quoted
from ..errors import InputError
from ._common import METHODS, Stages, in_flags
from ._show import Line

if TYPE_CHECKING:
    from ..files import EdgeTable, Style, VertexTable
    from ..graph import Graph
    from ..kernels._types import FloatArray
    from ..labels import Labels
    from ..names import Names

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
Force = Annotated[bool, typer.Option("--force", help="Replace files that wayfield did not write.")]
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
OneWayColumn = Annotated[
    str | None, _column("--oneway", "EDGES: which way an edge leads: yes, no, -1 …")
]
NoOneWay = Annotated[
    bool,
    typer.Option("--no-oneway", help="EDGES: all edges both ways.", rich_help_panel=_FILES),
]
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
Decimal = Annotated[
    str | None,
    typer.Option(
        metavar="MARK", help="Decimal mark: point or comma. Of all files.", rich_help_panel=_FILES
    ),
]
Thousands = Annotated[
    str | None,
    typer.Option(
        metavar="MARK",
        help="Between thousands: point, comma, space, apostrophe. Of all files.",
        rich_help_panel=_FILES,
    ),
]


@dataclass(frozen=True, eq=False)
class Contents:
    """What the files hold, before there is a graph; nothing had to be compiled to know it."""

    wanted: Wanted
    edges: EdgeTable
    table: VertexTable
    places: VertexTable | None
    prior: VertexTable | None
    labels: Labels
    goal: int

    @property
    def names(self) -> Names:
        """What the vertices are called."""
        return self.edges.names

    @property
    def directed(self) -> bool:
        """Whether the graph will be directed."""
        return self.edges.one_way

    def build(self) -> Given:
        """Build the graph, and say how the files were understood."""
        wanted, edges, table, places = self.wanted, self.edges, self.table, self.places
        graph, remarks = edges.to_graph(_positions(table, places))
        if graph.parallel_merged and not graph.directed and any("parallel" in r for r in remarks):
            remarks.append("if the two ways between vertices differ, pass --directed")
        for read in (table, places, self.prior):
            remarks += () if read is None else read.notes
        remarks = [in_flags(remark) for remark in (*edges.notes, *remarks)]
        if {edges.decimal, table.decimal} == {".", ","}:
            remarks.append("one file has decimal points, the other decimal commas")
        facts: dict[str, Any] = {
            "edges": {"path": str(wanted.edges), "read_as": edges.said},
            "labels": {"path": str(wanted.labels), "read_as": table.said},
            "notes": remarks,
        }
        said = [("edges", f"{wanted.edges.name}: {edges.said}")]
        said.append(("labels", f"{wanted.labels.name}: {table.said}"))
        if wanted.positions is not None and places is not None:
            facts["positions"] = {"path": str(wanted.positions), "read_as": places.said}
            said.append(("places", f"{wanted.positions.name}: {places.said}"))
        if wanted.prior is not None and self.prior is not None:
            facts["prior"] = {"path": str(wanted.prior), "read_as": self.prior.said}
            said.append(("prior", f"{wanted.prior.name}: {self.prior.said}"))
        said += [("note", remark) for remark in remarks]
        field = _field(self.prior, graph.num_vertices)
        return Given(graph, self.labels, self.goal, self.names, field, said, facts)


@dataclass(frozen=True, eq=False)
class Given:
    """What the files hold, as a graph and labels on it.

    Attributes
    ----------
    graph, labels, goal, names
        The data, vertices by their indices, and the names for them.
    prior : (n,) array or None
        The field that the labels correct, if a file has one; +inf where it has no value.
    said : list of lines
        How the files were understood, for a person.
    facts : dict
        The same for a program.
    """

    graph: Graph
    labels: Labels
    goal: int
    names: Names
    prior: FloatArray | None
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
    prior: Path | None
    edge_columns: Mapping[str, str | None]
    label_columns: Mapping[str, str | None]
    text: tuple[str | None, bool | None, str | None, str | None, str | None]

    def read(self, stages: Stages, error: float = 0.0) -> Contents:
        """Read all of them, or raise `InputError` with the file, the row and the column."""
        from ..files import Style, read_edges, read_labels, read_positions

        style, columns = Style(*self.text), _said(self.edge_columns)
        if self.directed and columns.get("oneway") not in (None, "none"):
            raise InputError("--directed and --oneway exclude each other: is every row an arc?")
        tell = stages.begin(f"reading {self.edges.name}")
        edges = read_edges(self.edges, columns, style, tell, self.directed)
        tell = stages.begin(f"reading {self.labels.name}")
        columns = _said(self.label_columns)
        table = read_labels(self.labels, edges.names, columns, style, error, tell)
        places = None
        if self.positions is not None:
            places = read_positions(self.positions, edges.names, None, style)
        labels, goal = self._with_goal(table, edges.names)
        prior = None if self.prior is None else self._read_prior(labels, edges.names, style)
        return Contents(self, edges, table, places, prior, labels, goal)

    def _read_prior(self, labels: Labels, names: Names, style: Style) -> VertexTable:
        """Read the field that the labels correct: where they are, it needs a value."""
        import numpy as np

        from ..files import read_labels

        assert self.prior is not None
        found = read_labels(self.prior, names, None, style)
        assert found.labels is not None
        lacking = np.setdiff1d(labels.vertices, found.labels.vertices)
        if lacking.size:
            raise InputError(
                f"{self.prior} has no value for {names[lacking[0]]!r}, which is labelled"
            )
        return found

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


def _field(prior: VertexTable | None, n: int) -> FloatArray | None:
    """Return the values of a table as a field, +inf where it has none."""
    import numpy as np

    if prior is None or prior.labels is None:
        return None
    field = np.full(n, np.inf)
    field[prior.labels.vertices] = prior.labels.values
    return field


def _positions(table: VertexTable, places: VertexTable | None) -> FloatArray | None:
    """Return positions of all vertices, if there are any of all of them."""
    import numpy as np

    if places is not None:
        return places.positions
    known = table.positions
    return None if known is None or np.isnan(known).any() else known
