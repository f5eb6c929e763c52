"""The user's files, as several commands read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._text import quoted
from ..errors import InputError
from ._common import Stages, in_flags
from ._options import Reading

if TYPE_CHECKING:
    from ..files import EdgeTable, TripTable, VertexTable
    from ..graph import Graph
    from ..kernels._types import FloatArray
    from ..labels import Labels
    from ..names import Names
    from ._output import Line

    Table = VertexTable | TripTable
    Ready = Callable[[EdgeTable], None]


@dataclass(frozen=True, eq=False)
class Given:
    """The files as a graph and labels on it.

    Attributes
    ----------
    graph, labels, goal, names
        The data by vertex index, and the names of the vertices; lengths are in the unit of the
        labels.
    prior : (n,) array or None
        The field that the labels correct, if a file has one; +inf where it has no value.
    said : list of lines
        How the files were read, for the user.
    facts : dict
        The same as data.
    """

    graph: Graph
    labels: Labels
    goal: int
    names: Names
    prior: FloatArray | None
    said: list[Line]
    facts: dict[str, Any]


@dataclass(frozen=True)
class Source:
    """The user's files, and the options for reading them."""

    edges: Path
    labels: Path | None
    goal: str | None
    goal_value: float | None = None
    positions: Path | None = None
    prior: Path | None = None
    reading: Reading = field(default_factory=Reading)

    def read(self, stages: Stages, ready: Ready, error: float = 0.0) -> Given:
        """Read all files; the `InputError` names the file, the row and the column.

        `ready` is called when everything has been read, before anything is computed.
        """
        import numpy as np

        from ..files import are_trips, read_labels, read_positions

        edges, style = self.read_edges(stages), self.reading.style
        names, table, places, field = edges.names, None, None, None
        read: dict[str, tuple[Path, Table]] = {}
        if self.labels is not None:
            progress = stages.begin(f"reading {self.labels.name}")
            columns = self.reading.label_columns
            if are_trips(self.labels, names, columns, style):
                raise InputError(
                    f"{self.labels} has two columns of vertices, as trips have; labels have one. "
                    "wayfield mend reads trips. If these are labels, name the columns: --vertex "
                    "and --value"
                )
            table = read_labels(self.labels, names, columns, style, error, progress)
            read["labels"] = self.labels, table
            if table.positions is not None and not np.isnan(table.positions).any():
                places = table.positions
        if self.positions is not None:
            file = read_positions(self.positions, names, None, style)
            read["positions"], places = (self.positions, file), file.positions
        labels, goal = self._labels_with_goal(None if table is None else table.labels, names)
        if self.prior is not None:
            prior = read_labels(self.prior, names, None, style)
            assert prior.labels is not None
            lacking = np.setdiff1d(labels.vertices, prior.labels.vertices)
            if lacking.size:
                raise InputError(
                    f"{self.prior} has no value for {names[lacking[0]]!r}, which is labelled"
                )
            read["prior"], field = (self.prior, prior), np.full(len(names), np.inf)
            field[prior.labels.vertices] = prior.labels.values
        ready(edges)
        stages.begin("building the graph")
        graph, said, facts = describe_files(self.edges, edges, read, places)
        return Given(self.reading.scale(graph), labels, goal, names, field, said, facts)

    def read_edges(self, stages: Stages) -> EdgeTable:
        """Read the edges; the `InputError` names the row and the column."""
        from ..files import read_edges
        from ..files.edges import length_like

        columns, style = self.reading.edge_columns, self.reading.style
        if not {"length", "speed"} & columns.keys() and self.labels is not None:
            # of several columns that may be the length, the one with a heading that the costs have
            shared = length_like(self.edges, self.labels, style)
            columns |= {"length": shared} if shared else {}
        progress = stages.begin(f"reading {self.edges.name}")
        return read_edges(self.edges, columns, style, progress, self.reading.directed)

    def _labels_with_goal(self, labels: Labels | None, names: Names) -> tuple[Labels, int]:
        """Find the goal, and check that it has a label."""
        import numpy as np

        from .._arrays import LARGEST
        from ..labels import Labels

        if self.goal is None:
            hint = ""
            if labels is not None:
                least = int(np.argmin(labels.values))
                lowest = quoted(names[labels.vertices[least]])
                hint = f" (the smallest label is {labels.values[least]:g}, at {lowest})"
            raise InputError(f"no goal given: pass --goal NAME{hint}")
        goal = names.index(self.goal, "--goal ")
        if self.goal_value is not None and not abs(self.goal_value) <= LARGEST:
            limits = f"from {-LARGEST:g} to {LARGEST:g}"
            raise InputError(f"--goal-value must be {limits}, got {self.goal_value:g}")
        if labels is None:
            return Labels([goal], [self.goal_value or 0.0]), goal
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


def describe_files(
    path: Path,
    edges: EdgeTable,
    read: Mapping[str, tuple[Path, Table]],
    positions: FloatArray | None,
) -> tuple[Graph, list[Line], dict[str, Any]]:
    """Build the graph, and return how the files were read, as lines and as facts.

    `read` holds the other files by content, the data first.
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
