"""The user's files, as several commands read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..words import quoted
from .common import Stages, in_flags
from .options import Reading

if TYPE_CHECKING:
    from ..graphs.graph import Graph
    from ..graphs.labels import Labels
    from ..graphs.names import Names
    from ..graphs.tables import EdgeTable, VertexTable
    from ..travel import Trips
    from ..travel.tables import TripTable
    from .output import Line

    Table = VertexTable | TripTable


@dataclass(frozen=True, eq=False)
class Given:
    """The files as a graph, and labels or trips on it.

    Attributes
    ----------
    table : EdgeTable
        The edges as they were read.
    graph, data, goal
        The data by vertex index; lengths are in the unit of the values. Trips may have no goal.
    said : list of lines
        How the files were read, for the user.
    facts : dict
        The same as data.
    """

    table: EdgeTable
    graph: Graph
    data: Labels | Trips
    goal: int | None
    said: list[Line]
    facts: dict[str, Any]

    @property
    def names(self) -> Names:
        """Names of the vertices."""
        return self.table.names


@dataclass(frozen=True)
class Source:
    """The user's files, and the options for reading them.

    `trip_columns` are the columns of trips that the user named; None if only labels will do.
    """

    edges: Path
    data: Path | None
    goal: str | None
    positions: Path | None = None
    reading: Reading = field(default_factory=Reading)
    trip_columns: Mapping[str, str] | None = None

    def read(self, stages: Stages, error: float = 0.0, bound: Any = None) -> Given:
        """Read all files; the `InputError` names the file, the row and the column."""
        import numpy as np

        from ..graphs.labels import Labels
        from ..graphs.tables import read_labels, read_positions
        from ..travel import Trips
        from ..travel.tables import are_trips, read_trips

        # 1. edges, then labels or trips
        edges, style = self.read_edges(stages), self.reading.style
        names, places = edges.names, None
        data: Labels | Trips | None = None
        read: dict[str, tuple[Path, Table]] = {}
        if self.data is not None:
            progress = stages.begin(f"reading {self.data.name}")
            columns = self.reading.label_columns | dict(self.trip_columns or {})
            if self.trip_columns is not None and are_trips(self.data, names, columns, style):
                upper = bound == "upper"
                trips = read_trips(self.data, names, columns, style, error, upper, progress)
                data = Trips(trips.starts, trips.ends, trips.costs, error, bound)
                read["trips"] = self.data, trips
            else:
                table = read_labels(self.data, names, columns, style, error, progress)
                data, read["labels"] = table.labels, (self.data, table)
                if table.positions is not None and not np.isnan(table.positions).any():
                    places = table.positions
        if self.positions is not None:
            file = read_positions(self.positions, names, None, style)
            read["positions"], places = (self.positions, file), file.positions

        # 2. the goal
        goal = None if self.goal is None else names.index(self.goal, "--goal ")
        if not isinstance(data, Trips):
            if goal is None:
                hint = ""
                if data is not None:
                    least = int(np.argmin(data.values))
                    lowest = quoted(names[data.vertices[least]])
                    hint = f" (the smallest label is {data.values[least]:g}, at {lowest})"
                raise InputError(f"no goal given: pass --goal NAME{hint}")
            if data is None:
                data = Labels([goal], [0.0])
            elif self.trip_columns is None and goal not in data.vertices:
                raise InputError(
                    f"the goal {self.goal!r} has no label in {self.data}: add a row for it, with "
                    "the value 0 if labels are costs to the goal"
                )
        # 3. the graph, and how everything was read
        stages.begin("building the graph")
        graph, remarks = edges.to_graph(places)
        if graph.parallel_merged and not graph.directed and any("parallel" in r for r in remarks):
            remarks.append("if costs depend on the direction, pass --directed")
        for _, each in read.values():
            remarks += each.notes
        remarks = [in_flags(remark) for remark in (*edges.notes, *remarks)]
        if self.trip_columns is not None and self.data is not None:
            word, other = ("trips", "labels") if "trips" in read else ("labels", "trips")
            option = "--vertex" if other == "labels" else "--trip-start"
            note = f"{self.data.name} is read as {word}; if it has {other}, name their columns"
            remarks.append(f"{note} ({option} …)")
        said = [("edges", f"{self.edges.name}: {edges.said}")]
        facts: dict[str, Any] = {"edges": {"path": str(self.edges), "read_as": edges.said}}
        for word, (path, each) in read.items():
            facts[word] = {"path": str(path), "read_as": each.said}
            said.append(("places" if word == "positions" else word, f"{path.name}: {each.said}"))
        said += [("note", remark) for remark in remarks]
        facts["notes"] = remarks
        graph = self.reading.scale(graph)
        return Given(edges, graph, data, goal, said, facts)

    def read_edges(self, stages: Stages) -> EdgeTable:
        """Read the edges; the `InputError` names the row and the column."""
        from ..graphs.tables import read_edges
        from ..graphs.tables.edges import length_like

        columns, style = self.reading.edge_columns, self.reading.style
        if not {"length", "speed"} & columns.keys() and self.data is not None:
            # of several columns that may be the length, the one with a heading that the costs have
            shared = length_like(self.edges, self.data, style)
            columns |= {"length": shared} if shared else {}
        progress = stages.begin(f"reading {self.edges.name}")
        return read_edges(self.edges, columns, style, progress, self.reading.directed)
