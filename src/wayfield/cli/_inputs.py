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
    from ..files import EdgeTable, Style, TripTable, VertexTable
    from ..graph import Graph
    from ..kernels._types import FloatArray
    from ..labels import Labels
    from ..names import Names

    Table = VertexTable | TripTable

_FILES = "Files"
EdgeFile = Annotated[
    Path, typer.Argument(metavar="EDGES", help="Edges: from, to, length.", show_default=False)
]
LabelFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="LABELS",
        help="Known values: vertex, value. Without them: the graph's own distances.",
        show_default=False,
    ),
]
Goal = Annotated[str | None, typer.Option("--goal", "-g", metavar="NAME", help="Where to go.")]
Method = Annotated[str, typer.Option("--method", "-m", metavar="METHOD", help=METHODS)]
Lift = Annotated[
    bool,
    typer.Option("--lift", help="Lift the field where walks get stuck, as little as will do."),
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


def column_option(option: str, text: str) -> Any:
    """Return an option that names a column."""
    return typer.Option(option, metavar="COLUMN", help=text, rich_help_panel=_FILES)


TailColumn = Annotated[
    str | None, column_option("--tail", "EDGES: from. Its heading, or its number.")
]
HeadColumn = Annotated[str | None, column_option("--head", "EDGES: to.")]
OneWayColumn = Annotated[
    str | None, column_option("--oneway", "EDGES: which way an edge leads: yes, no, -1 …")
]
NoOneWay = Annotated[
    bool,
    typer.Option("--no-oneway", help="EDGES: all edges both ways.", rich_help_panel=_FILES),
]
LengthColumn = Annotated[
    str | None, column_option("--length", "EDGES: length; none: every edge 1 long.")
]
SpeedColumn = Annotated[
    str | None,
    column_option("--speed", "EDGES: speed in km/h; an edge costs its length in metres over it."),
]
VertexColumn = Annotated[str | None, column_option("--vertex", "LABELS: vertex.")]
ValueColumn = Annotated[str | None, column_option("--value", "LABELS: value.")]
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
    table: VertexTable | None
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
        wanted = self.wanted
        read: dict[str, tuple[Path, Table]] = {}
        if wanted.labels is not None and self.table is not None:
            read["labels"] = (wanted.labels, self.table)
        if wanted.positions is not None and self.places is not None:
            read["positions"] = (wanted.positions, self.places)
        if wanted.prior is not None and self.prior is not None:
            read["prior"] = (wanted.prior, self.prior)
        place = _positions(self.table, self.places)
        graph, said, facts = describe_files(wanted.edges, self.edges, read, place)
        field = _field(self.prior, graph.num_vertices)
        return Given(graph, self.labels, self.goal, self.names, field, said, facts)


def describe_files(
    path: Path,
    edges: EdgeTable,
    read: Mapping[str, tuple[Path, Table]],
    positions: FloatArray | None,
) -> tuple[Graph, list[Line], dict[str, Any]]:
    """Build the graph, and say how it and the other files were understood, in words and as facts.

    `read` has the other files, the data first, by what they hold.
    """
    graph, remarks = edges.to_graph(positions)
    if graph.parallel_merged and not graph.directed and any("parallel" in r for r in remarks):
        remarks.append("if the two ways between vertices differ, pass --directed")
    for _, table in read.values():
        remarks += table.notes
    remarks = [in_flags(remark) for remark in (*edges.notes, *remarks)]
    marks = {edges.decimal, *(data.decimal for _, data in list(read.values())[:1])}
    if marks == {".", ","}:
        remarks.append("one file has decimal points, the other decimal commas")
    said, facts = [("edges", f"{path.name}: {edges.said}")], {}
    facts["edges"] = {"path": str(path), "read_as": edges.said}
    for word, (file, table) in read.items():
        facts[word] = {"path": str(file), "read_as": table.said}
        said.append(("places" if word == "positions" else word, f"{file.name}: {table.said}"))
    said += [("note", remark) for remark in remarks]
    return graph, said, {**facts, "notes": remarks}


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
    labels: Path | None
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
        from ..files import Style, read_labels

        edges, style = self.read_edges(stages), Style(*self.text)
        table = None
        if self.labels is not None:
            tell = stages.begin(f"reading {self.labels.name}")
            columns = said_columns(self.label_columns)
            table = read_labels(self.labels, edges.names, columns, style, error, tell)
        places = self.read_places(edges.names)
        labels, goal = self._with_goal(table, edges.names)
        prior = None if self.prior is None else self._read_prior(labels, edges.names, style)
        return Contents(self, edges, table, places, prior, labels, goal)

    def read_edges(self, stages: Stages) -> EdgeTable:
        """Read the edges, or raise `InputError` with the row and the column."""
        from ..files import Style, read_edges

        columns = said_columns(self.edge_columns)
        if self.directed and columns.get("oneway") not in (None, "none"):
            raise InputError("--directed and --oneway exclude each other: is every row an arc?")
        tell = stages.begin(f"reading {self.edges.name}")
        return read_edges(self.edges, columns, Style(*self.text), tell, self.directed)

    def read_places(self, names: Names) -> VertexTable | None:
        """Read where the vertices are, if there is a file for it."""
        from ..files import Style, read_positions

        if self.positions is None:
            return None
        return read_positions(self.positions, names, None, Style(*self.text))

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

    def _with_goal(self, table: VertexTable | None, names: Names) -> tuple[Labels, int]:
        """Find the goal, and make sure that it has a label."""
        import numpy as np

        from ..labels import Labels

        if table is None:
            if self.goal is None:
                raise InputError("which vertex is the goal? pass --goal")
            goal = names.index(self.goal, "--goal ")
            return Labels([goal], [self.goal_value or 0.0]), goal
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


def said_columns(columns: Mapping[str, str | None]) -> dict[str, str]:
    """Return the columns that the user named."""
    return {role: column for role, column in columns.items() if column is not None}


def _field(prior: VertexTable | None, n: int) -> FloatArray | None:
    """Return the values of a table as a field, +inf where it has none."""
    import numpy as np

    if prior is None or prior.labels is None:
        return None
    field = np.full(n, np.inf)
    field[prior.labels.vertices] = prior.labels.values
    return field


def _positions(table: VertexTable | None, places: VertexTable | None) -> FloatArray | None:
    """Return positions of all vertices, if there are any of all of them."""
    import numpy as np

    if places is not None:
        return places.positions
    known = None if table is None else table.positions
    return None if known is None or np.isnan(known).any() else known
