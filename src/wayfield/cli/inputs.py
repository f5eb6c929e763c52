"""The user's files, as several commands read them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import InputError
from ..words import quoted
from .common import Stages, in_flags
from .options import Reading

if TYPE_CHECKING:
    from ..graphs.graph import Graph
    from ..graphs.labels import Labels
    from ..graphs.names import Names
    from ..graphs.tables import EdgeTable
    from ..typing import FloatArray
    from .output import Line


class Table(Protocol):
    """A table as it was read: how, and what was not used."""

    @property
    def said(self) -> str:
        """How the file was understood."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was not used, and other possible readings."""


@dataclass(frozen=True, eq=False)
class Given:
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
        read: list[tuple[str, Path, Table]] = []
        if self.data is not None:
            progress = stages.begin(f"reading {self.data.name}")
            columns, style = self.reading.label_columns, self.reading.style
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
        read: list[tuple[str, Path, Table]],
        places: FloatArray | None = None,
    ) -> tuple[Graph, list[Line], dict[str, Any]]:
        """Return the graph, and how all files were read: as lines, and as data.

        `read` lists the other tables with their words and files. `places` are positions that were
        read with them; a file of positions comes first.
        """
        from ..graphs.tables import read_positions

        if self.positions is not None:
            file = read_positions(self.positions, edges.names, None, self.reading.style)
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
