"""Tables of trips: measured times from one vertex to another, by the names of an edge list.

Columns are named by the user, or found by their headings (start, end, cost; from, to, time …), or
by their order. The same trip may occur several times, with other times: these are samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, Option
from ..graphs.names import Names
from ..graphs.tables.cells import checked_costs, read_columns, refuse_cells, refuse_strangers
from ..graphs.tables.columns import TABLE_WORDS, Roles, bare, matching_columns, tokens, unit_of
from ..graphs.tables.read import PAIR_ROLES
from ..graphs.tables.sheet import Progress, Style, open_sheet
from ..typing import FloatArray

COST = Option("cost", within="columns")
_NO_TIME = frozenset(TABLE_WORDS["other headings"]["no time"])


@dataclass(frozen=True, eq=False, repr=False)
class TripTable:
    """Trips, or pairs, as read from a file.

    Attributes
    ----------
    starts, ends : (k,) int64 arrays
        Starts and ends, as indices of names.
    times : (k,) float array
        Their times; empty if the file has pairs only.
    unit : str
        Unit of the times, such as "minutes"; empty if the heading names none.
    said : str
        How the file was understood, as text.
    notes : tuple of str
        What was not used, and other possible readings of the file.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    times: FloatArray
    unit: str
    said: str
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"TripTable({self.starts.size:,} rows; {self.said})"


def read_trips(
    path: str | Path,
    names: Names,
    columns: Mapping[str, str] | None = None,
    style: Style | None = None,
    progress: Progress | None = None,
    timed: bool = True,
) -> TripTable:
    r"""Read trips: a row has a start, an end and a time. Without `timed`, only pairs are read.

    Parameters
    ----------
    path : path
        Text or Parquet, as for `read_edges`.
    names : Names
        The vertices of the graph.
    columns : mapping, optional
        Which column is ``"start"``, ``"end"``, ``"cost"``.
    style : Style, optional
        Format of a text file; what is not given is guessed.
    progress : callable, optional
        Called with the number of bytes read so far, and the total.
    timed : bool
        Whether a column of times is read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "trips.csv")
    ...     _ = file.write_text("origin,destination,minutes\nBern,Genève,105\nGenève,Bern,110.5\n")
    ...     found = read_trips(file, Names(["Genève", "Bern"]))
    >>> found.starts, found.ends, found.times, found.unit
    (array([1, 0]), array([0, 1]), array([105. , 110.5]), 'minutes')
    """
    style = style or Style()
    roles = PAIR_ROLES if timed else PAIR_ROLES[:2]
    sheet = open_sheet(path, style, roles)
    given = {role: name for role, name in (columns or {}).items() if role in roles}
    named = Roles(sheet, given)
    others = named.in_order()
    places = sorted(others, key=lambda i: 2 * sheet.num_named(i, names) < len(sheet.rows))
    for role in roles:
        likely = matching_columns(role, sheet.header)
        likely += [*filter(sheet.numeric, others), *others] if role == "cost" else places
        # numbers of rows are no times
        if not named.take(role, sorted(likely, key=sheet.counts) if role == "cost" else likely):
            raise named.lacks(f"{role} of a trip")
        if role == "cost" and role not in given and sheet.counts(named[role]):
            column = f"{sheet.path}: column {sheet.called(named[role])} numbers the rows, and no "
            raise InputError(f"{column}other is a time; name the column of times: ", COST)
        heading = sheet.header[named[role]] if sheet.header else ""
        if role == "cost" and role not in given and _NO_TIME & set(map(bare, tokens(heading))):
            column = f"{sheet.path}: column {sheet.called(named[role])} seems to hold distances or "
            raise InputError(f"{column}speeds; name the column of times: ", COST)
    at = {role: named[role] for role in roles}
    found = read_columns(sheet, at, style, progress, names)
    start, end = found.vertices.values()
    for role, vertices in found.vertices.items():
        refuse_strangers(vertices < 0, sheet, at[role], names)
    times, unit = np.empty(0), ""
    if timed:
        times = checked_costs(sheet, at["cost"], found.numbers["cost"], "cost")
        unit = "" if sheet.header is None else unit_of(sheet.header[at["cost"]])
        unit = "minutes" if "cost" in found.timed else unit
    refuse_cells(start == end, sheet, at["end"], "is the start of this trip as well")
    notes = (*found.notes, *named.notes)
    return TripTable(start, end, times, unit, sheet.understood(at), notes)


def read_words(path: str | Path, column: str, style: Style | None = None) -> NDArray[np.str_]:
    """Return a column of a table as text, such as classes of roads or days of trips."""
    sheet = open_sheet(path, style or Style(), (*PAIR_ROLES, "from", "to", "length"))
    at = Roles(sheet, {"column": column})["column"]
    return np.array([cell.strip() for (piece,) in sheet.pieces([at]) for cell in piece])
