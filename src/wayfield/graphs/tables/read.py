"""Edge lists, labels and positions, from files to arrays.

Columns are named by the user, or found by their headings, or by their order.

**Edges**: from, to, length. Without a header, the length is the first further column that is mostly
numbers. With a header that does not name it, it is the third of three columns if it is mostly
numbers. Without a length column, every edge has length 1. A column ``oneway`` marks edges that can
be used in one direction only; the graph is then directed. A column of speeds is used only if the
user names it: lengths in metres become seconds.

**Vertices**: labels, positions, or both, by the names of an edge list. The column of names is the
one whose cells are names of vertices; if there are several, the heading decides. A row without a
value is not a label, so a table may list all vertices. A label for a vertex that the graph does not
have is an error.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ...checks import LARGEST, frozen
from ...errors import InputError, InputWarning, Message, Option
from ...typing import FloatArray
from ...words import number_of
from .. import npz as _npz
from ..graph import Graph
from ..labels import Labels
from ..names import Names
from .cells import (
    BACKWARD,
    FORWARD,
    Columns,
    checked_costs,
    read_columns,
    read_speeds,
    read_ways,
    refuse_cells,
    refuse_strangers,
)
from .columns import (
    NO_COLUMN,
    TABLE_WORDS,
    UNUSED,
    Roles,
    are_degrees,
    matching_columns,
    oneway_columns,
    tokens,
    unit_of,
)
from .sheet import Progress, Sheet, Style, open_sheet

EDGE_ROLES = ("from", "to", "length", "oneway", "speed")
ROLES = ("vertex", "value", "x", "y")
PAIR_ROLES = ("start", "end", "cost")
"""Roles of a table with two columns of vertices."""
KMH = 3.6
"""1 m/s in km/h."""


@dataclass(frozen=True, eq=False, repr=False)
class EdgeTable:
    """An edge list as read from a file.

    Attributes
    ----------
    names : Names
        Names of the vertices, in the order in which they appear.
    tails, heads : (e,) int32 arrays
        Ends of the edges, as indices of names.
    lengths : (e,) float array or None
        None if the file has none: every edge has length 1.
    said : str
        How the file was understood, as text.
    directed : bool
        Whether every row is an arc from tail to head, according to the user or the file.
    ways : (e,) int8 array or None
        1 where an edge leads from tail to head only, -1 from head to tail only, 0 both ways; None
        if the file has no such column.
    positions : (n, d) float array or None
        Positions of the vertices, if the file has them.
    notes : tuple of str
        What was not used, and other possible readings of the file.
    """

    names: Names
    tails: NDArray[np.int32]
    heads: NDArray[np.int32]
    lengths: FloatArray | None
    said: str
    directed: bool = False
    ways: NDArray[np.int8] | None = None
    positions: FloatArray | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"EdgeTable({len(self.names):,} vertices, {self.tails.size:,} rows; {self.said})"

    @property
    def one_way(self) -> bool:
        """Whether some edge is open in one direction only, so that the graph is directed."""
        return self.directed or (self.ways is not None and bool(self.ways.any()))

    def to_graph(self, positions: ArrayLike | None = None) -> tuple[Graph, list[str]]:
        """Build the graph; notes report where it differs from the file."""
        tails, heads, rows = self.arcs()
        lengths = None if self.lengths is None else self.lengths[rows]
        place = self.positions if positions is None else positions
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", InputWarning)
            graph = Graph.from_edges(tails, heads, lengths, len(self.names), self.one_way, place)
        return graph.with_names(self.names), [str(warning.message) for warning in caught]

    def arcs(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
        """Return the ends of the arcs of `to_graph`, and the row of each."""
        rows = np.arange(self.tails.size)
        if self.ways is None or not self.one_way:
            return self.tails, self.heads, rows
        there, back = rows[self.ways != BACKWARD], rows[self.ways != FORWARD]
        tails = np.concatenate([self.tails[there], self.heads[back]])
        heads = np.concatenate([self.heads[there], self.tails[back]])
        return tails, heads, np.concatenate([there, back])


def read_edges(
    path: str | Path,
    columns: Mapping[str, str] | None = None,
    style: Style | None = None,
    progress: Progress | None = None,
    directed: bool = False,
) -> EdgeTable:
    r"""Read an edge list: text (CSV, TSV, semicolons, blanks; also compressed) or Parquet.

    Parameters
    ----------
    path : path
        The file. It may also be a graph saved by `Graph.save` or `scipy.sparse.save_npz`.
    columns : mapping, optional
        Which column is ``"from"``, ``"to"``, ``"length"``, ``"oneway"``, ``"speed"``: its heading,
        or its number from 1. ``"none"`` as length gives every edge length 1; as oneway, it opens
        every edge in both directions. Lengths in metres are divided by the speed, in km/h or as
        written in OpenStreetMap. A column of speeds is used only if it is named.
    style : Style, optional
        Format of a text file; what is not given is guessed.
    progress : callable, optional
        Called with the number of bytes read so far, and the total.
    directed : bool
        Whether every row is an arc from tail to head; a oneway column is then not used.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "roads.csv")
    ...     _ = file.write_text("origin;dest;km\nGenève;Bern;158,5\nBern;Zürich;125\n")
    ...     edges = read_edges(file)
    >>> edges.to_graph()[0]
    Graph(3 vertices, 2 edges, lengths 125 to 158.5)
    >>> print(edges.said)
    from = 'origin', to = 'dest', length = 'km'; 3 columns, semicolon between columns, header found
    """
    if Path(path).suffix.lower() == ".npz":
        stored = _stored_graph(Path(path))
        return replace(stored, directed=stored.directed or directed)
    style, wanted = style or Style(), dict(columns or {})
    sheet = open_sheet(path, style, EDGE_ROLES[:3])
    roles = _edge_roles(sheet, wanted | ({"oneway": NO_COLUMN} if directed else {}))
    at = {role: roles[role] for role in EDGE_ROLES if roles.get(role, UNUSED) != UNUSED}
    heading = sheet.header[at["length"]] if sheet.header and "length" in at else ""
    if "speed" in at and unit_of(heading) == "km":
        raise InputError(f"{sheet.path}: speeds need lengths in metres, but {heading!r} says km")
    if "speed" in at and "length" not in at:
        raise InputError(f"{sheet.path}: a speed column needs a length column, and there is none")
    found = read_columns(sheet, at, style, progress)
    notes, lengths, ways = found.notes, None, None
    if "length" in at:
        lengths = checked_costs(sheet, at["length"], found.numbers["length"], "length")
    if lengths is not None and "speed" in at:
        kmh, of_speeds = read_speeds(sheet, at["speed"], found.cells["speed"])
        lengths = frozen(KMH * lengths / kmh)
        how = f"{sheet.called(at['length'])} in metres over {sheet.called(at['speed'])} in km/h"
        notes += [f"{sheet.path}: an edge costs {how}, in seconds", *of_speeds]
    if "oneway" in at:
        ways, of_ways = read_ways(sheet, at["oneway"], found.cells["oneway"])
        notes += of_ways
    named, left = Option("length", within="columns"), roles.unused
    lengthy = matching_columns("length", sheet.header, sure=True)
    others = [sheet.called(i) for i in lengthy if i not in at.values() and sheet.numeric(i)]
    if lengths is None and left and "length" not in roles:
        nothing = f"{sheet.path}: no length found (columns left: {', '.join(left)}), "
        notes.append(Message(nothing, "so every edge has length 1; ", named, " names one"))
    else:
        if others and not {"length", "speed"} & wanted.keys() and "length" in at:
            taken = f"{sheet.path}: {sheet.called(at['length'])} is the length, not "
            notes.append(Message(taken, f"{' or '.join(others)}; ", named, " names another"))
        notes += roles.notes
    if not directed and "oneway" not in {*at, *wanted}:
        for i in oneway_columns(sheet.header, "perhaps one way"):
            if i not in at.values():
                both = f"{sheet.path}: {sheet.called(i)} is not read: every edge is open both ways"
                which = Option("oneway", sheet.called(i).strip("'"))
                notes.append(Message(both, "; if it says which way, pass ", which))
    if directed and any(i not in at.values() for i in oneway_columns(sheet.header)):
        arcs = f"{sheet.path}: every row is an arc by "
        notes.append(Message(arcs, Option("directed", True), ", whatever its way"))
    said = sheet.understood(at, "" if lengths is not None else ", every edge of length 1")
    tails, heads = found.vertices.values()
    names = Names.numbered(found.names)
    return EdgeTable(names, tails, heads, lengths, said, directed, ways, None, tuple(notes))


def headings(path: str | Path, style: Style | None = None) -> tuple[str, ...]:
    """Return the headings of a table; none if it has no header, or is no table."""
    if Path(path).suffix.lower() == ".npz":
        return ()
    return open_sheet(path, style or Style(), (*EDGE_ROLES[:3], *PAIR_ROLES, *ROLES)).header or ()


def length_like(edges: str | Path, data: str | Path, style: Style | None = None) -> str | None:
    """Return the heading that both files have for a cost, if the edges have several lengths.

    An edge list with metres and minutes is read in minutes if the measured costs are in minutes.
    """
    here, there = headings(edges, style), headings(data, style)
    lengths = [here[i] for i in matching_columns("length", here)]
    shared = [heading for heading in lengths if heading in there]
    return shared[0] if len(lengths) > 1 and len(shared) == 1 else None


def _edge_roles(sheet: Sheet, columns: Mapping[str, str]) -> Roles:
    """Return the column of each role."""
    if sheet.width < 2:
        raise InputError(
            f"{sheet.path} has one column, but edges need two or more (columns from and to); "
            "is the delimiter right?"
        )
    at = Roles(sheet, columns)
    at.take("oneway", oneway_columns(sheet.header))
    for role in EDGE_ROLES[:3]:
        at.find(role)
    # headings such as a, b and t look like names of vertices, unless there is a header
    words = [tokens(heading) for heading in sheet.header or ()]
    if {"from", "to"}.isdisjoint(at) and all(any(_is(w, c) for w in words) for c in "ab"):
        for role, letter in (("from", "a"), ("to", "b")):
            at.take(role, (i for i, word in enumerate(words) if _is(word, letter)))
    at.take("length", (i for i, word in enumerate(words) if word == ["t"]))
    # a number or the name of an edge is none of its ends
    of_edges = TABLE_WORDS["other headings"]["edge"]
    without = {i for i, heading in enumerate(sheet.header or ()) if not heading.strip()}
    without |= {i for i, word in enumerate(words) if word and word[0] in of_edges}
    likely = sorted(at.in_order(), key=without.__contains__)
    for role in EDGE_ROLES[:2]:
        if not at.take(role, likely):
            taken = ", ".join(f"{each} = {sheet.called(i)}" for each, i in at.items())
            raise InputError(
                f"{sheet.path} has no column for the edge's {role} ({taken}); edges have two "
                "columns of vertices. Is this the file of labels? The edges come first"
            )
    left = [i for i in range(sheet.width) if i not in at.values()]
    if sheet.header is None or (len(left) == 1 and not sheet.counts(left[0])):
        at.take("length", sorted(filter(sheet.numeric, left), key=sheet.counts))
    return at


def _is(words: list[str], letter: str) -> bool:
    """Whether a heading names a node by a letter, such as ``node a``, ``a_node`` and ``ANODE``."""
    return [letter] in (words[-1:], words[:1]) or words == [f"{letter}node"]


def _stored_graph(path: Path) -> EdgeTable:
    """Read a graph saved by `Graph.save`, or a matrix saved by scipy."""
    if not {"indptr", "indices", "format"} <= set(_npz.entries(path)):
        raise InputError(
            f"{path} is an npz file, but neither a saved graph nor a sparse matrix: save the table "
            "as CSV or Parquet"
        )
    form = _npz.read_arrays(path, only="format")["format"]
    try:
        own = form.dtype.kind == "U"  # scipy writes bytes there
        graph = Graph.load(path) if own else Graph.from_scipy(sparse.load_npz(path))
    except InputError:
        raise
    except Exception as error:  # scipy raises many kinds of errors for a damaged file
        raise InputError(f"{path} is not a sparse matrix, or is damaged: {error}") from error
    said = "a saved graph" if own else "a sparse matrix, its entries the lengths"
    said = f"{said}; vertices are called 0 to {graph.num_vertices - 1}"
    names, place = Names(map(str, range(graph.num_vertices))), graph.positions
    ends = graph.tails, graph.indices, graph.lengths
    return EdgeTable(names, *ends, said, graph.directed, positions=place)


@dataclass(frozen=True, eq=False, repr=False)
class VertexTable:
    """Labels and positions as read from a file.

    Attributes
    ----------
    labels : Labels or None
        The values, if there is a column of them.
    positions : (n, 2) float array or None
        NaN where the file has none; None if it has no columns x and y.
    said : str
        How the file was understood, as text.
    notes : tuple of str
        What was not used, and other possible readings of the file.
    """

    labels: Labels | None
    positions: FloatArray | None
    said: str
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"VertexTable({self.labels}; {self.said})"


def read_labels(
    path: str | Path,
    names: Names,
    columns: Mapping[str, str] | None = None,
    style: Style | None = None,
    error: float = 0.0,
    progress: Progress | None = None,
) -> VertexTable:
    r"""Read labels, and positions if there are columns x and y beside them.

    Parameters
    ----------
    path : path
        Text or Parquet, as for `read_edges`.
    names : Names
        The vertices of the graph.
    columns : mapping, optional
        Which column is ``"vertex"``, ``"value"``, ``"x"``, ``"y"``.
    style : Style, optional
        Format of a text file; what is not given is guessed.
    error : float
        Bound on the error of the values.
    progress : callable, optional
        Called with the number of bytes read so far, and the total.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "known.tsv")
    ...     _ = file.write_text("Bern\t158.5\nGenève\t0\n")
    ...     found = read_labels(file, Names(["Genève", "Bern", "Zürich"]))
    >>> found.labels
    Labels(2 vertices, values 0 to 158.5)
    >>> found.said
    'vertex = column 1, value = column 2; 2 columns, tab between columns, no header'
    """
    style = style or Style()
    if are_pairs(path, names, columns, style):
        raise InputError(
            f"{path} has two columns of vertices, as trips have; labels have one. "
            "wayfield travel reads trips. If these are labels, name the columns: ",
            Option("vertex", within="columns"),
            " and ",
            Option("value", within="columns"),
        )
    sheet = open_sheet(path, style, ROLES)
    roles = _vertex_roles(sheet, columns or {}, names, needed="value")
    at = {role: roles[role] for role in ROLES if role in roles}
    found = read_columns(sheet, at, style, progress, names)
    notes = [*found.notes, *roles.notes]
    vertex, value = found.vertices["vertex"], found.numbers["value"]
    given = np.array(list(map(bool, found.cells["value"])))
    finite = np.isfinite(value)
    refuse_cells(
        given & ~finite,
        sheet,
        at["value"],
        "is not a value; leave the cell empty if the vertex has no label",
    )
    beyond = finite & (np.abs(value) > LARGEST)
    refuse_cells(beyond, sheet, at["value"], f"is not between {-LARGEST:g} and {LARGEST:g}")
    refuse_strangers(given & (vertex < 0), sheet, at["vertex"], names)
    if not given.any():
        raise InputError(f"{sheet.path}, column {sheet.called(at['value'])}: no row has a value")
    rows = np.flatnonzero(given)
    order = rows[np.argsort(vertex[rows], kind="stable")]
    one, two = order[:-1], order[1:]
    clash = (vertex[one] == vertex[two]) & (value[one] != value[two])
    if clash.any():
        i = int(np.argmax(clash))
        raise InputError(
            f"{sheet.place(int(two[i]), at['value'])}: {names[vertex[two[i]]]!r} is labelled "
            f"{value[two[i]]:g} here and {value[one[i]]:g} in row {sheet.row_number(int(one[i]))}"
        )
    repeated = int((vertex[one] == vertex[two]).sum())
    if repeated:
        again = number_of(repeated, "rows")
        notes.append(f"{sheet.path}: {again} with a label already given, counted once")
    if not given.all():
        empty = number_of(int((~given).sum()), "rows")
        notes.append(f"{sheet.path}: {empty} without a value, so without a label")
    positions = _positions(sheet, at, found, len(names), notes)
    labels = Labels(vertex[given], value[given], error)
    return VertexTable(labels, positions, sheet.understood(at), tuple(notes))


def are_pairs(
    path: str | Path,
    names: Names,
    columns: Mapping[str, str] | None = None,
    style: Style | None = None,
) -> bool:
    """Whether a table holds trips rather than labels: two columns of vertices and one of numbers.

    The words of the header decide, unless the cells of the end column are numbers and not vertices.
    Without a header, the table has trips if the first two of at least three columns are vertices;
    before them may be a column that numbers the rows. Columns named by the user come first.
    """
    named = set(columns or ())
    if named & set(PAIR_ROLES) or named & {"vertex", "value"}:
        return bool(named & set(PAIR_ROLES))
    sheet = open_sheet(path, style or Style(), (*PAIR_ROLES, "vertex", "value"))
    if sheet.width < 3:
        return False

    def mostly_named(column: int) -> bool:
        return 2 * sheet.num_named(column, names) >= len(sheet.rows)

    if sheet.header is None:
        first = int(sheet.width > 3 and sheet.counts(0) and not mostly_named(0))
        return mostly_named(first) and mostly_named(first + 1)
    starts = matching_columns("start", sheet.header)
    ends = [i for i in matching_columns("end", sheet.header) if starts and i != starts[0]]
    return bool(ends) and (mostly_named(ends[0]) or not sheet.numeric(ends[0]))


def read_positions(
    path: str | Path,
    names: Names,
    columns: Mapping[str, str] | None = None,
    style: Style | None = None,
    progress: Progress | None = None,
) -> VertexTable:
    r"""Read positions; every vertex of the graph needs an x and a y.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "places.txt")
    ...     _ = file.write_text("name x y\nBern 600 200\nGenève 500 118\n")
    ...     found = read_positions(file, Names(["Genève", "Bern"]))
    >>> found.positions
    array([[500., 118.],
           [600., 200.]])
    """
    style = style or Style()
    sheet = open_sheet(path, style, ROLES)
    roles = _vertex_roles(sheet, columns or {}, names, needed="x")
    at = {role: roles[role] for role in ROLES if role in roles and role != "value"}
    found = read_columns(sheet, at, style, progress, names)
    notes = [*found.notes, *roles.notes]
    positions = _positions(sheet, at, found, len(names), notes)
    assert positions is not None
    lost = np.isnan(positions).any(axis=1)
    if lost.any():
        first = names[int(np.argmax(lost))]
        raise InputError(
            f"{sheet.path} has no position for {int(lost.sum()):,} of {len(names):,} vertices: "
            f"{first!r} is the first"
        )
    strange = int((found.vertices["vertex"] < 0).sum())
    if strange:
        rows = number_of(strange, "rows")
        notes.append(f"{sheet.path}: {rows} for names that are not in the graph")
    return VertexTable(None, frozen(positions), sheet.understood(at), tuple(notes))


def _vertex_roles(sheet: Sheet, columns: Mapping[str, str], names: Names, needed: str) -> Roles:
    """Return the column of each role; a column of vertices is recognised by its cells."""
    width, header = sheet.width, sheet.header
    at = Roles(sheet, columns)
    if all(role in at or matching_columns(role, header) for role in "xy"):
        at.find("x")
        at.find("y")
    if "vertex" not in at:
        likely = [*matching_columns("vertex", header), *range(width)]
        free = [i for i in dict.fromkeys(likely) if i not in at.values()]
        at.take("vertex", sorted(free, key=lambda i: sheet.num_named(i, names), reverse=True))
    if needed == "value":
        numeric = (i for i in at.in_order() if sheet.numeric(i) and not sheet.counts(i))
        # under a heading, numbers of rows are no values
        at.find("value", numeric, (i for i in range(width) if not (header and sheet.counts(i))))
    if needed == "x" and "x" not in at and header is None and width == 3:
        at["x"], at["y"] = (i for i in range(3) if i != at["vertex"])
    for role in ("vertex", needed):
        if role not in at:
            raise at.lacks(role)
    return at


def _positions(
    sheet: Sheet, at: Mapping[str, int], found: Columns, n: int, notes: list[str]
) -> FloatArray | None:
    """Return (n, 2) positions, NaN where the file has none; degrees are projected.

    Near latitude φ a degree of longitude is cos φ times as long as one of latitude. All x are
    multiplied by the cosine of the mean latitude (local equirectangular projection). If the widest
    gap between longitudes does not hold the 180th meridian, those west of the gap are 360° larger.
    """
    if "x" not in at or "y" not in at:
        return None
    positions = np.full((n, 2), np.nan)
    vertex = found.vertices["vertex"]
    known = vertex >= 0
    for axis, role in enumerate(("x", "y")):
        values = found.numbers[role]
        refuse_cells(np.isinf(values), sheet, at[role], "is not a position")
        positions[vertex[known], axis] = values[known]
    held = positions[np.isfinite(positions).all(axis=1)]
    small = held.size > 0 and bool((np.abs(held) <= (180, 90)).all())
    if small and sheet.header is not None and are_degrees(*(sheet.header[at[r]] for r in "xy")):
        west = np.unique(held[:, 0])
        gaps = np.diff(west, append=west[0] + 360.0)
        widest, across = int(np.argmax(gaps)), ""
        if widest < gaps.size - 1:
            positions[positions[:, 0] <= west[widest], 0] += 360.0
            across = ", across 180°"
        middle = float(held[:, 1].mean())
        positions[:, 0] *= np.cos(np.radians(middle))
        notes.append(
            f"{sheet.path}: longitudes and latitudes are projected, to scale near latitude "
            f"{middle:.4g}°{across}"
        )
    return positions
