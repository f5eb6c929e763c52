"""Tables of vertices: labels, positions, or both, by the names of an edge list.

The column of names is the one whose cells are names of vertices; if there are several, the heading
decides. A row without a value is not a label, so a table may list all vertices. A label for a
vertex that the graph does not have is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...checks import LARGEST, frozen
from ...errors import InputError, Option
from ...typing import FloatArray
from ...words import number_of
from ..labels import Labels
from ..names import Names
from .cells import refuse_cells, refuse_strangers
from .columns import (
    are_degrees,
    matching_columns,
    named_columns,
    refuse_twins,
    take,
    unnamed_last,
    unused_note,
)
from .numbers import NumberColumn, read_columns
from .sheet import Sheet, open_sheet
from .text import Progress, Style

ROLES = ("vertex", "value", "x", "y")
PAIR_ROLES = ("start", "end", "cost")
"""Roles of a table with two columns of vertices."""


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
    at = _vertex_columns(sheet, columns or {}, names, needed="value")
    found, numbers, _, notes = read_columns(sheet, at, names, style, progress)
    notes += unused_note(sheet, at)
    vertex = found["vertex"]
    value, given = numbers["value"].values, ~numbers["value"].empty
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
    return VertexTable(
        Labels(vertex[given], value[given], error),
        _positions(sheet, at, numbers, vertex, len(names), notes),
        _said(sheet, at),
        tuple(notes),
    )


def are_pairs(
    path: str | Path,
    names: Names,
    columns: Mapping[str, str] | None = None,
    style: Style | None = None,
) -> bool:
    """Whether a table holds trips rather than labels: two columns of vertices and one of numbers.

    The words of the header decide, unless the cells of the end column are numbers and not vertices.
    Without a header, the table has trips if the first two of at least three columns are vertices.
    Columns named by the user come first.
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
        return mostly_named(0) and mostly_named(1)
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
    at = _vertex_columns(sheet, columns or {}, names, needed="x")
    at.pop("value", None)
    found, numbers, _, notes = read_columns(sheet, at, names, style, progress)
    notes += unused_note(sheet, at)
    vertex = found["vertex"]
    positions = _positions(sheet, at, numbers, vertex, len(names), notes)
    assert positions is not None
    lost = np.isnan(positions).any(axis=1)
    if lost.any():
        first = names[int(np.argmax(lost))]
        raise InputError(
            f"{sheet.path} has no position for {int(lost.sum()):,} of {len(names):,} vertices: "
            f"{first!r} is the first"
        )
    strange = int((vertex < 0).sum())
    if strange:
        rows = number_of(strange, "rows")
        notes.append(f"{sheet.path}: {rows} for names that are not in the graph")
    return VertexTable(None, frozen(positions), _said(sheet, at), tuple(notes))


def _vertex_columns(
    sheet: Sheet, columns: Mapping[str, str], names: Names, needed: str
) -> dict[str, int]:
    """Return the column of each role; a column of vertices is recognised by its cells."""
    width, header = sheet.width, sheet.header
    at = named_columns(columns, header, width, sheet.path)
    for role in ("x", "y"):
        take(at, role, matching_columns(role, header))
    if not {"x", "y"} <= at.keys():
        at = {role: i for role, i in at.items() if role in columns}
    if "vertex" not in at:
        likely = [*matching_columns("vertex", header), *range(width)]
        free = [i for i in dict.fromkeys(likely) if i not in at.values()]
        at["vertex"] = max(free, key=lambda i: sheet.num_named(i, names), default=-1)
    if needed == "value":
        likely = unnamed_last(range(width), header)
        numeric = (i for i in likely if sheet.numeric(i) and not sheet.counts(i))
        take(at, "value", [*matching_columns("value", header), *numeric, *range(width)])
    if needed == "x" and "x" not in at and header is None and width == 3:
        at["x"], at["y"] = (i for i in range(3) if i != at["vertex"])
    for role in ("vertex", needed):
        if at.get(role, -1) < 0:
            raise sheet.lacks(role)
    refuse_twins(sheet, at, columns)
    return at


def _positions(
    sheet: Sheet,
    at: Mapping[str, int],
    numbers: Mapping[str, NumberColumn],
    vertex: NDArray[np.int64],
    n: int,
    notes: list[str],
) -> FloatArray | None:
    """Return (n, 2) positions, NaN where the file has none; degrees are put into a plane.

    Near latitude φ a degree of longitude is cos φ times as long as one of latitude. All x are
    multiplied by the cosine of the mean latitude (local equirectangular projection).
    """
    if "x" not in at or "y" not in at:
        return None
    positions = np.full((n, 2), np.nan)
    known = vertex >= 0
    for axis, role in enumerate(("x", "y")):
        values = numbers[role].values
        refuse_cells(np.isinf(values), sheet, at[role], "is not a position")
        positions[vertex[known], axis] = values[known]
    held = positions[np.isfinite(positions).all(axis=1)]
    small = held.size > 0 and bool((np.abs(held) <= (180, 90)).all())
    if small and sheet.header is not None and are_degrees(*(sheet.header[at[r]] for r in "xy")):
        middle = float(held[:, 1].mean())
        positions[:, 0] *= np.cos(np.radians(middle))
        notes.append(
            f"{sheet.path}: longitudes and latitudes are put into a plane, true near latitude "
            f"{middle:.4g}°"
        )
    return positions


def _said(sheet: Sheet, at: Mapping[str, int]) -> str:
    return sheet.understood({role: at[role] for role in ROLES if role in at})
