"""Options that several commands share, help texts, and the user's files as commands read them.

A group of options is a dataclass with fields made by `option`. A command takes it as one parameter,
and `with_options` expands its fields into the command's signature, where typer reads them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from ..errors import InputError, WayfieldError
from ..fields.names import METHODS
from ..words import quoted
from .output import Line, Stages, in_flags

if TYPE_CHECKING:
    from ..advice.comparison import CrossValidation
    from ..advice.solving import Answer
    from ..fields import Method
    from ..graphs.graph import Graph
    from ..graphs.labels import Labels
    from ..graphs.layouts import Layout
    from ..graphs.names import Names
    from ..graphs.tables import EdgeTable, Style
    from ..typing import FloatArray


OWN_DATA, INSTALLATION = "Your own data", "This installation"
"""Panels of the help."""
_FILES = "Files"


class _BareSwitches:
    """Shows a switch without a value: beside ``<bool>`` it would look as if it took one."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, ``--help`` among them."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False) and param.metavar is None:
                param.metavar = ""
        return params


class Command(_BareSwitches, TyperCommand):
    """A command of ours."""


class Group(_BareSwitches, TyperGroup):
    """A group of our commands."""


def paragraphs(text: str | None) -> str:
    """Return a docstring with one line per paragraph, for terminals of any width."""
    whole = inspect.cleandoc(text or "")
    return "\n\n".join(" ".join(each.split()) for each in whole.split("\n\n"))


def add_command(app: typer.Typer, command: Callable[..., None], panel: str = OWN_DATA) -> None:
    """Add a command with its docstring as help."""
    app.command(cls=Command, rich_help_panel=panel, help=paragraphs(command.__doc__))(command)


def option(default: Any, *names: str, text: str, panel: str = "", metavar: str = "") -> Any:
    """Return a field of a group of options; without `metavar`, the help shows its type."""
    shown = typer.Option(*names, help=text, rich_help_panel=panel or None, metavar=metavar or None)
    return field(default=default, metadata={"option": shown})


def column_option(name: str, text: str) -> Any:
    """Return an option that names a column."""
    return typer.Option(name, metavar="COLUMN", help=text, rich_help_panel=_FILES)


def _column(name: str, text: str) -> Any:
    return option(None, name, text=text, panel=_FILES, metavar="COLUMN")


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Expand parameters that are groups of options into options of the command."""
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, Any] = {}
    parameters: list[inspect.Parameter] = []

    def add(name: str, default: object, annotation: object) -> None:
        kind = inspect.Parameter.KEYWORD_ONLY
        each = inspect.Parameter(name, kind, default=default, annotation=annotation)
        parameters.append(each)

    for each in signature.parameters.values():
        if not is_dataclass(each.annotation):
            add(each.name, each.default, each.annotation)
            continue
        groups[each.name] = each.annotation
        hints = get_type_hints(each.annotation, include_extras=True)
        for one in fields(each.annotation):
            hint = hints[one.name]
            if "option" in one.metadata:
                hint = Annotated[hint, one.metadata["option"]]
            add(one.name, one.default, hint)

    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{each.name: given.pop(each.name) for each in fields(group)})
        command(**given)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


EdgeFile = Annotated[
    Path, typer.Argument(metavar="EDGES", help="Edges: from, to, length.", show_default=False)
]
Goal = Annotated[str | None, typer.Option("--goal", "-g", metavar="NAME", help="Name of the goal.")]
Places = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Where the vertices are: name, x, y. For pictures."),
]
Directed = Annotated[bool, typer.Option("--directed", help="Edges are arcs, from → to.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that wayfield did not write.")]
METHOD = typer.Option("--method", "-m", metavar="METHOD", help=METHODS)
"""One method, or several in ``compare``."""
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, nothing else.")]
Files = Annotated[bool, typer.Option("--files/--no-files", help="Write the results.")]
Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder for the results.")]
LabelFraction = Annotated[float, typer.Option(help="Mazes: share of the vertices labelled.")]
"""Checked by `sample_labels`, whose error names the value."""


def _folds(count: int) -> int:
    if count == 1:
        raise InputError("--folds must be 0, or at least 2")
    return count


NumFolds = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=0,
        callback=_folds,
        help="Cross-validate with N folds: leave out one fold of the labels at a time; 0 for none.",
    ),
]


@dataclass(frozen=True)
class Reading:
    """How to read the user's files; None means automatic."""

    directed: Directed = False
    length_unit: float = option(
        1.0, text="One unit of length is X units of the labels' values.", metavar="X"
    )
    tail: str | None = _column("--tail", "EDGES: from. Its heading, or its number.")
    head: str | None = _column("--head", "EDGES: to.")
    length: str | None = _column("--length", "EDGES: length; none: every edge has length 1.")
    oneway: str | None = _column(
        "--oneway", "EDGES: one-way: yes, no, -1; none: all edges are two-way."
    )
    speed: str | None = _column(
        "--speed", "EDGES: speed in km/h; the cost is the length in metres divided by it."
    )
    vertex: str | None = _column("--vertex", "LABELS: vertex.")
    value: str | None = _column("--value", "LABELS: value.")
    origin: str | None = _column("--from", "Any file with this heading: from, or start.")
    destination: str | None = _column("--to", "Likewise: to, or end.")
    time: str | None = _column("--time", "Likewise: time, as length, value or cost.")
    x: str | None = _column("--x", "Likewise: x of positions.")
    y: str | None = _column("--y", "Likewise: y of positions.")
    delimiter: str | None = option(
        None, text="Delimiter of EDGES and LABELS; also: tab, space.", panel=_FILES, metavar="CHAR"
    )
    header: bool | None = option(
        None, "--header/--no-header", text="Whether EDGES and LABELS have a header.", panel=_FILES
    )
    encoding: str | None = option(
        None, text="Encoding of files that are not UTF-8: latin-1 …", panel=_FILES, metavar="NAME"
    )
    decimal: str | None = option(
        None, text="Decimal mark in all files: point or comma.", panel=_FILES, metavar="MARK"
    )

    def __post_init__(self) -> None:
        if not 0.0 < self.length_unit < float("inf"):
            raise InputError(f"--length-unit must be positive and finite, got {self.length_unit:g}")

    @property
    def style(self) -> Style:
        """Format of text files."""
        from ..graphs.tables import Style

        return Style(self.delimiter, self.header, self.encoding, self.decimal)

    @property
    def edge_columns(self) -> dict[str, str]:
        """Columns of EDGES named by the user, by role."""
        if self.directed and self.oneway not in (None, "none"):
            raise InputError("--directed and --oneway exclude each other: is every row an arc?")
        return named(
            {"from": self.tail, "to": self.head, "length": self.length}
            | {"oneway": self.oneway, "speed": self.speed}
        )

    @property
    def label_columns(self) -> dict[str, str]:
        """Columns of LABELS named by the user, by role."""
        return named({"vertex": self.vertex, "value": self.value})

    def also(self, columns: dict[str, str], path: Path, **roles: str) -> dict[str, str]:
        """Return columns, with those of --from, --to, --time, --x and --y that a file has."""
        from ..graphs.tables import headings

        wished = named({role: getattr(self, option) for role, option in roles.items()})
        known = headings(path, self.style) if wished else ()
        return {role: column for role, column in wished.items() if column in known} | columns

    def check_anywhere(self, *paths: Path | None) -> None:
        """Raise `InputError` for a column of --from, --to, --time, --x or --y that no file has."""
        from ..graphs.tables import headings

        wished = {
            "from": self.origin,
            "to": self.destination,
            "time": self.time,
            "x": self.x,
            "y": self.y,
        }
        if any(wished.values()):
            known = {each for path in paths if path for each in headings(path, self.style)}
            for option, column in named(wished).items():
                if column not in known:
                    raise InputError(f"--{option}: no file has a column {column!r}")

    def scale(self, graph: Graph) -> Graph:
        """Return the graph with its lengths in units of the labels."""
        unit = self.length_unit
        try:
            return graph if unit == 1.0 else replace(graph, lengths=unit * graph.lengths)
        except InputError as error:
            raise InputError(f"--length-unit {unit:g}: ", error.message) from error


def named(columns: dict[str, str | None]) -> dict[str, str]:
    """Return the columns named by the user."""
    return {role: column for role, column in columns.items() if column is not None}


@dataclass(frozen=True)
class Drawing:
    """How a maze becomes a graph with labels, in ``maze`` and ``compare --maze``."""

    refinement: int = option(8, text="Mazes: vertices along the side of a cell.")
    label_fraction: LabelFraction = 0.05
    seed: Annotated[int, typer.Option(min=0, help="Mazes: seed of the labels.")] = 0

    def check_vertex(self, layout: Layout, vertex: int, name: str) -> int:
        """Return a vertex of the maze; raise `InputError` before the graph is made."""
        from ..checks import as_vertex, as_whole

        size = layout.num_free * as_whole(self.refinement, "--refinement", least=1) ** 2
        return as_vertex(vertex, name, size)

    def draw(self, layout: Layout, goal: int) -> tuple[Graph, Labels]:
        """Return the graph of a maze, and labels at some of its vertices."""
        from .. import grid_graph, sample_labels

        graph = grid_graph(layout, self.refinement)
        return graph, sample_labels(graph, goal, self.label_fraction, self.seed)


@dataclass(frozen=True)
class Solving:
    """How labels are extended and checked, in ``plan`` and ``maze``."""

    lift: bool = option(False, "--lift", text="Raise values just enough that no walk gets stuck.")
    drop_false_sinks: bool = option(
        False, "--drop-false-sinks", text="Drop labels from which no arc leads to a smaller value."
    )
    error: float = option(
        0.0, text="Error bound of the values: which moves are still optimal?", metavar="E"
    )
    folds: NumFolds = 5

    def __post_init__(self) -> None:
        if not 0.0 <= self.error < float("inf"):
            raise InputError(f"--error must be a finite number of at least 0, got {self.error:g}")

    def solve(
        self,
        graph: Graph,
        labels: Labels,
        goal: int,
        method: Method,
        prior: FloatArray | None = None,
    ) -> tuple[Answer, CrossValidation | None]:
        """Return the answer, and its cross-validation if that is quick."""
        from ..advice.comparison import held_out
        from ..advice.solving import solve
        from ..plans.sinks import drop_false_sinks

        kept, trim = labels, self.drop_false_sinks
        if trim:
            kept = drop_false_sinks(graph, labels, goal, method, prior=prior)
        answer = solve(
            graph, kept, goal, method, prior=prior, lift=self.lift, error=self.error, check=False
        )
        return answer, held_out(answer, labels, self.folds, trimmed=trim) if self.folds else None


def check_direction(directed: bool, method: Method) -> None:
    """Raise `InputError` if a method is not defined on a directed graph, before any computation."""
    from ..fields.base import takes_directed

    if directed and not takes_directed(method):
        raise InputError(
            f"{type(method).__name__} is not defined on directed graphs: use --method amle, "
            "or an undirected graph"
        )


# ------------------------------------------------------------------ files


class Given(NamedTuple):
    """The files as a graph, and labels on it.

    Attributes
    ----------
    table : EdgeTable
        The edges as they were read.
    graph, labels, goal
        The data by vertex index; lengths are in the unit of the values.
    said : list of lines
        How the files were read, for the user.
    facts : dict
        The same as data.
    """

    table: EdgeTable
    graph: Graph
    labels: Labels
    goal: int
    said: list[Line]
    facts: dict[str, Any]

    @property
    def names(self) -> Names:
        """Names of the vertices."""
        return self.table.names


@dataclass(frozen=True)
class Source:
    """The user's files, and the options for reading them."""

    edges: Path
    data: Path | None
    goal: str | None
    positions: Path | None = None
    reading: Reading = field(default_factory=Reading)

    def read(self, stages: Stages, error: float = 0.0) -> Given:
        """Read all files; the `InputError` names the file, the row and the column."""
        import numpy as np

        from ..graphs.labels import Labels
        from ..graphs.tables import read_labels

        # 1. edges, then labels
        edges = self.read_edges(stages)
        names, places, labels = edges.names, None, None
        read: list[tuple[str, Path, Any]] = []
        if self.data is not None:
            progress = stages.begin(f"reading {self.data.name}")
            columns, style = self.reading.label_columns, self.reading.style
            columns = self.reading.also(columns, self.data, value="time", x="x", y="y")
            table = read_labels(self.data, names, columns, style, error, progress)
            labels = table.labels
            read.append(("labels", self.data, table))
            if table.positions is not None and not np.isnan(table.positions).any():
                places = table.positions

        # 2. the goal
        if self.goal is None:
            hint = ""
            if labels is not None:
                least = int(np.argmin(labels.values))
                lowest = quoted(names[labels.vertices[least]])
                hint = f" (the smallest label is {labels.values[least]:g}, at {lowest})"
            raise InputError(f"no goal given: pass --goal NAME{hint}")
        goal = names.index(self.goal, "--goal ")
        if labels is None:
            labels = Labels([goal], [0.0])
        elif goal not in labels.vertices:
            raise InputError(
                f"the goal {self.goal!r} has no label in {self.data}: add a row for it, with the "
                "value 0 if labels are costs to the goal"
            )
        # 3. the graph
        graph, said, facts = self.build(stages, edges, read, places)
        return Given(edges, graph, labels, goal, said, facts)

    def read_edges(self, stages: Stages) -> EdgeTable:
        """Read the edges; the `InputError` names the row and the column."""
        from ..graphs.tables import read_edges
        from ..graphs.tables.read import length_like

        columns, style = self.reading.edge_columns, self.reading.style
        self.reading.check_anywhere(self.edges, self.data, self.positions)
        ends = {"from": "origin", "to": "destination", "length": "time"}
        columns = self.reading.also(columns, self.edges, **ends)
        if not {"length", "speed"} & columns.keys() and self.data is not None:
            # of several columns that may be the length, the one with a heading that the costs have
            shared = length_like(self.edges, self.data, style)
            columns |= {"length": shared} if shared else {}
        progress = stages.begin(f"reading {self.edges.name}")
        return read_edges(self.edges, columns, style, progress, self.reading.directed)

    def build(
        self,
        stages: Stages,
        edges: EdgeTable,
        read: list[tuple[str, Path, Any]],
        places: FloatArray | None = None,
    ) -> tuple[Graph, list[Line], dict[str, Any]]:
        """Return the graph, and how all files were read: as lines, and as data.

        `read` lists the other tables with their words and files. `places` are positions that were
        read with them; a file of positions comes first.
        """
        from ..graphs.tables import read_positions

        if self.positions is not None:
            columns = self.reading.also({}, self.positions, x="x", y="y")
            file = read_positions(self.positions, edges.names, columns, self.reading.style)
            read, places = [*read, ("positions", self.positions, file)], file.positions
        stages.begin("building the graph")
        graph, remarks = edges.to_graph(places)
        if graph.parallel_merged and not graph.directed and any("parallel" in r for r in remarks):
            remarks.append("if costs depend on the direction, pass --directed")
        for _, _, each in read:
            remarks += each.notes
        remarks = [in_flags(remark) for remark in (*edges.notes, *remarks)]
        said = [("edges", f"{self.edges.name}: {edges.said}")]
        facts: dict[str, Any] = {"edges": {"path": str(self.edges), "read_as": edges.said}}
        for word, path, each in read:
            facts[word] = {"path": str(path), "read_as": each.said}
            said.append(("places" if word == "positions" else word, f"{path.name}: {each.said}"))
        said += [("note", remark) for remark in remarks]
        facts["notes"] = remarks
        return self.reading.scale(graph), said, facts


def read_layout(name: str) -> Layout:
    """Load a map by name, or from a file if the name contains a dot or a slash."""
    from ..graphs.layouts import Layout, load_layout, read_maze_file

    if not any(mark in name for mark in "./\\"):
        return load_layout(name)
    path = Path(name)
    try:
        text = read_maze_file(path)
        if text.strip():
            return Layout.from_text(text, path.stem)
    except UnicodeDecodeError as error:
        raise WayfieldError(f"{name} is not a text file: {error}") from error
    except OSError as error:
        raise WayfieldError(f"cannot read {name}: {error.strerror}") from error
    except InputError as error:
        raise InputError(f"{name}: ", error.message) from error
    raise InputError(f"{name} is empty")
