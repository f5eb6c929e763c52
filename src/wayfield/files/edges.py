"""Edge lists: from a file to a graph whose vertices have names.

Columns are found by the user's word, by their headings, or by their place: from, to, and then a
length: without a header the first further column that is mostly numbers, below one the third of
three if it is. Without a length every edge is 1 long.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .._arrays import LARGEST, frozen
from .._optional import need
from ..errors import InputError, InputWarning
from ..graph import Graph
from ..kernels._types import FloatArray
from ._cells import as_names, as_numbers, refuse_cells
from ._choice import doubts
from ._dialect import Style
from ._roles import matching_columns, named_columns, unnamed_last
from ._sheet import ArraySheet, Sheet, npz_arrays, open_sheet
from ._text import Progress
from .names import Names, canonical

ROLES = ("from", "to", "length")
_NONE = "none"
"""Instead of a column of lengths: every edge is 1 long."""


@dataclass(frozen=True, eq=False, repr=False)
class Edges:
    """An edge list as it stands in a file.

    Attributes
    ----------
    names : Names
        Names of the vertices, in the order in which they appear: tails first, then heads.
    tails, heads : (e,) int32 arrays
        Ends of the edges, as indices of names.
    lengths : (e,) float array or None
        None if the file has none: every edge is 1 long.
    said : str
        How the file was understood, in words.
    directed : bool
        Whether the file itself says that these are arcs; an edge list does not.
    positions : (n, d) float array or None
        Where the vertices are drawn, if the file says so.
    notes : tuple of str
        What was not used, and what else might have been meant.
    """

    names: Names
    tails: NDArray[np.int32]
    heads: NDArray[np.int32]
    lengths: FloatArray | None
    said: str
    directed: bool = False
    positions: FloatArray | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Edges({len(self.names):,} vertices, {self.tails.size:,} rows; {self.said})"

    def to_graph(
        self, directed: bool = False, positions: ArrayLike | None = None
    ) -> tuple[Graph, list[str]]:
        """Build the graph; the notes say what it holds otherwise than the file does."""
        place = self.positions if positions is None else positions
        directed = directed or self.directed
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", InputWarning)
            graph = Graph.from_edges(
                self.tails, self.heads, self.lengths, len(self.names), directed, place
            )
        return graph, [str(warning.message) for warning in caught]


def read_edges(
    path: str | Path,
    columns: Mapping[str, str] | None = None,
    style: Style | None = None,
    progress: Progress | None = None,
) -> Edges:
    r"""Read an edge list: text (CSV, TSV, semicolons, blanks; also compressed), Parquet or npz.

    Parameters
    ----------
    path : path
        The file. An npz may also be a `Graph.save` or a `scipy.sparse.save_npz`.
    columns : mapping, optional
        Which column is ``"from"``, ``"to"``, ``"length"``: its heading, or its number from 1;
        ``"none"`` for the length makes every edge 1 long.
    style : Style, optional
        What is known about a text file; the rest is guessed.
    progress : callable, optional
        Told how much has been read, of how much.

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
    stored = _stored_graph(Path(path)) if Path(path).suffix.lower() == ".npz" else None
    if stored is not None:
        return stored
    sheet = open_sheet(path, style or Style(), ROLES)
    told = dict(columns or {})
    unit = told.get("length") == _NONE and _NONE not in (sheet.header or ())
    if unit:
        del told["length"]
    at = _edge_columns(sheet, told, ROLES[:2] if unit else ROLES)
    loaded = sheet.load([at[role] for role in ROLES if role in at], progress)
    ends = [
        as_names(sheet, at[role], column) for role, column in zip(ROLES[:2], loaded, strict=False)
    ]
    names, tails, heads = _number(*ends)
    lengths = None
    if "length" in at:
        lengths = _lengths(sheet, at["length"], loaded[2])
    besides = "" if "length" in at else ", every edge 1 long"
    said = sheet.understood({role: at[role] for role in ROLES if role in at}, besides)
    notes = [*doubts(sheet, at, told), *sheet.notes]
    left = [sheet.called(i) for i in range(sheet.width) if i not in at.values()]
    if lengths is None and left and not unit:
        notes.append(
            f"{sheet.path}: no length found (columns left: {', '.join(left)}), so every edge is "
            "1 long; --length COLUMN names one"
        )
    return Edges(names, tails, heads, lengths, said, notes=tuple(notes))


def _edge_columns(sheet: Sheet, columns: Mapping[str, str], roles: Sequence[str]) -> dict[str, int]:
    """Decide which column is which."""
    width, header = sheet.width, sheet.header
    if width < 2:
        kind = "arrays" if isinstance(sheet, ArraySheet) else "columns"
        raise InputError(
            f"{sheet.path} has one column, but an edge has two ends at least ({kind} from and to); "
            "is the delimiter right?"
        )
    at = named_columns(columns, header, width, sheet.path)
    for role in roles:
        free = [i for i in matching_columns(role, header) if i not in at.values()]
        if role not in at and free:
            at[role] = free[0]
    for role in ROLES[:2]:
        if role not in at:
            free = [i for i in unnamed_last(range(width), header) if i not in at.values()]
            at[role] = next(iter(free), -1)
            if at[role] < 0:
                raise InputError(f"{sheet.path} has no column left for the edge's {role}")
    if "length" in roles and "length" not in at and (header is None or width == 3):
        free = [i for i in range(width) if i not in at.values() and sheet.numeric(i)]
        if free:
            at["length"] = free[0]
    return at


def _number(tails: Any, heads: Any) -> tuple[Names, NDArray[np.int32], NDArray[np.int32]]:
    """Give every name an index."""
    pa = need("pyarrow", "files")
    both = pa.chunked_array([*tails.chunks, *heads.chunks], pa.string()).dictionary_encode()
    encoded = canonical(both.combine_chunks())
    index = np.asarray(encoded.indices.to_numpy(), dtype=np.int32)
    return Names(encoded.dictionary), frozen(index[: len(tails)]), frozen(index[len(tails) :])


def _lengths(sheet: Sheet, index: int, column: Any) -> FloatArray:
    lengths = as_numbers(sheet, index, column)
    refuse_cells(np.isnan(lengths), sheet, index, column, "is not a length")
    refuse_cells(~(lengths > 0), sheet, index, column, "is not a positive length")
    beyond = (lengths > LARGEST) | (lengths < 1 / LARGEST)
    refuse_cells(beyond, sheet, index, column, f"is not between {1 / LARGEST:g} and {LARGEST:g}")
    return frozen(lengths)


def _stored_graph(path: Path) -> Edges | None:
    """Read a graph saved by `Graph.save`, or a matrix saved by scipy; None if it is neither."""
    arrays = npz_arrays(path)
    if not {"indptr", "indices", "format"} <= arrays.keys():
        return None
    try:
        own = arrays["format"].dtype.kind == "U"  # scipy writes bytes there
        graph = Graph.load(path) if own else Graph.from_scipy(sparse.load_npz(path))
    except InputError:
        raise
    except Exception as error:  # whatever a damaged matrix makes scipy say
        raise InputError(f"{path} is not a sparse matrix, or is damaged: {error}") from error
    said = "a saved graph" if own else "a sparse matrix, its entries the lengths"
    return Edges(
        Names.of(range(graph.num_vertices)),
        graph.tails,
        graph.indices,
        graph.lengths,
        f"{said}; vertices are called 0 to {graph.num_vertices - 1}",
        graph.directed,
        graph.positions,
    )
