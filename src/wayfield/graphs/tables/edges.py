"""Edge lists: from a file to a graph whose vertices have names.

Columns are named by the user, or found by their headings, or by their order: from, to, length.
Without a header, the length is the first further column that is mostly numbers. With a header that
does not name it, it is the third of three columns if it is mostly numbers. Without a length column,
every edge has length 1. A column ``oneway`` marks edges that can be used in one direction only; the
graph is then directed. A column of speeds is used only if the user names it: lengths in metres
become seconds.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ...checks import frozen
from ...errors import InputError, InputWarning, Message, Option
from ...typing import FloatArray
from .. import npz as _npz
from ..graph import Graph
from ..names import Names, Numbering
from .cells import BACKWARD, FORWARD, checked_costs, read_speeds, read_ways
from .columns import (
    matching_columns,
    named_columns,
    oneway_columns,
    refuse_twins,
    take,
    tokens,
    unnamed_last,
    unused,
    unused_note,
)
from .numbers import read_columns
from .sheet import Sheet, open_sheet
from .text import Progress, Style

EDGE_ROLES = ("from", "to", "length", "oneway", "speed")
NO_COLUMN = "none"
"""Word that stands for no column: every edge has length 1, or is open in both directions."""
_OF_EDGES = (["id"], ["fid"], ["key"], ["osmid"], ["street"], ["way"], ["name"])
"""Headings of columns that name an edge, not one of its ends."""
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
    declined = {
        r
        for r in EDGE_ROLES[2:4]
        if wanted.get(r) == NO_COLUMN and NO_COLUMN not in (sheet.header or ())
    }
    wanted = {role: column for role, column in wanted.items() if role not in declined}
    at = _edge_columns(sheet, wanted, declined | ({"oneway"} if directed else set()))
    refuse_twins(sheet, at, wanted)
    if "speed" in at and "length" not in at:
        raise InputError(f"{sheet.path}: a speed column needs a length column, and there is none")
    numbering = Numbering()
    ends, numbers, words, notes = read_columns(sheet, at, numbering, style, progress)
    tails, heads = frozen(ends["from"]), frozen(ends["to"])
    length, speed, way = numbers.get("length"), words.get("speed"), words.get("oneway")
    lengths, ways = None, None
    if length is not None:
        lengths = checked_costs(sheet, at["length"], length.values, "length")
    if lengths is not None and speed is not None:
        kmh, of_speeds = read_speeds(speed)
        lengths = frozen(KMH * lengths / kmh)
        how = f"{sheet.called(at['length'])} in metres over {sheet.called(at['speed'])} in km/h"
        notes += [f"{sheet.path}: an edge costs {how}, in seconds", *of_speeds]
    if way is not None:
        ways, of_ways = read_ways(way)
        notes += of_ways
    left = unused(sheet, at)
    if length is None and left and "length" not in declined:
        found = f"{sheet.path}: no length found (columns left: {', '.join(left)}), "
        named = Option("length", within="columns")
        notes.append(Message(found, "so every edge has length 1; ", named, " names one"))
    else:
        notes += unused_note(sheet, at)
    if directed and any(i not in at.values() for i in oneway_columns(sheet.header)):
        arcs = f"{sheet.path}: every row is an arc by "
        notes.append(Message(arcs, Option("directed", True), ", whatever its way"))
    said = sheet.understood(at, "" if length else ", every edge of length 1")
    names = Names.numbered(numbering)
    return EdgeTable(names, tails, heads, lengths, said, directed, ways, None, tuple(notes))


def length_like(edges: str | Path, data: str | Path, style: Style | None = None) -> str | None:
    """Return the heading that both files have for a cost, if the edges have several lengths.

    An edge list with metres and minutes is read in minutes if the measured costs are in minutes.
    """
    headers: list[list[str]] = []
    for path in (edges, data):
        if Path(path).suffix.lower() == ".npz":
            return None
        headers.append(list(open_sheet(path, style or Style(), EDGE_ROLES[:3]).header or ()))
    lengths = [headers[0][i] for i in matching_columns("length", headers[0])]
    shared = [heading for heading in lengths if heading in headers[1]]
    return shared[0] if len(lengths) > 1 and len(shared) == 1 else None


def _edge_columns(
    sheet: Sheet, columns: Mapping[str, str], declined: Collection[str]
) -> dict[str, int]:
    """Return the column of each role, in the order of `EDGE_ROLES`."""
    width, header = sheet.width, sheet.header
    if width < 2:
        raise InputError(
            f"{sheet.path} has one column, but edges need two or more (columns from and to); "
            "is the delimiter right?"
        )
    at = named_columns(columns, header, width, sheet.path)

    def find(role: str, likely: Iterable[int]) -> None:
        if role not in declined:
            take(at, role, likely)

    find("oneway", oneway_columns(header))
    for role in EDGE_ROLES[:3]:
        find(role, matching_columns(role, header))
    # headings such as a, b and t look like names of vertices, unless there is a header
    words = [tokens(heading) for heading in header or ()]
    if {"from", "to"}.isdisjoint(at) and all(any(_is(w, c) for w in words) for c in "ab"):
        for role, letter in (("from", "a"), ("to", "b")):
            find(role, (i for i, word in enumerate(words) if _is(word, letter)))
    find("length", (i for i, word in enumerate(words) if word == ["t"]))
    for role in EDGE_ROLES[:2]:
        # a number or the name of an edge is none of its ends
        rest = sorted(range(width), key=lambda i: bool(words) and words[i][:1] in _OF_EDGES)
        find(role, unnamed_last(rest, header))
        if role not in at:
            taken = ", ".join(f"{each} = {sheet.called(i)}" for each, i in at.items())
            raise InputError(
                f"{sheet.path} has no column for the edge's {role} ({taken}); edges have two "
                "columns of vertices. Is this the file of labels? The edges come first"
            )
    left = [i for i in range(width) if i not in at.values()]
    if header is None:
        find("length", sorted(filter(sheet.numeric, left), key=sheet.counts))
    elif len(left) == 1 and not sheet.counts(left[0]):
        find("length", filter(sheet.numeric, left))
    return {role: at[role] for role in EDGE_ROLES if role in at}


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
    return EdgeTable(
        Names(map(str, range(graph.num_vertices))),
        graph.tails,
        graph.indices,
        graph.lengths,
        f"{said}; vertices are called 0 to {graph.num_vertices - 1}",
        graph.directed,
        positions=graph.positions,
    )
