"""Tables of trips: measured costs from one vertex to another, by the names of an edge list.

Columns are named by the user, or found by their headings (start, end, cost; from, to, time …), or
by their order. The same trip may occur several times. Its costs must not differ by more than twice
their error, unless they are upper bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..checks import frozen
from ..errors import InputError, Option
from ..graphs.names import Names
from ..graphs.tables.cells import checked_costs, refuse_cells, refuse_strangers
from ..graphs.tables.columns import (
    matching_columns,
    named_columns,
    take,
    unnamed_last,
    unused_note,
)
from ..graphs.tables.dialect import Style
from ..graphs.tables.numbers import read_columns
from ..graphs.tables.sheet import open_sheet
from ..graphs.tables.text import Progress
from ..graphs.tables.vertices import PAIR_ROLES
from ..typing import FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class TripTable:
    """Trips as read from a file.

    Attributes
    ----------
    starts, ends : (k,) int64 arrays
        Starts and ends of the trips, as indices of names.
    costs : (k,) float array
        Their costs.
    said : str
        How the file was understood, as text.
    notes : tuple of str
        What was not used, and other possible readings of the file.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    costs: FloatArray
    said: str
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"TripTable({self.starts.size:,} rows; {self.said})"


def read_trips(
    path: str | Path,
    names: Names,
    columns: Mapping[str, str] | None = None,
    style: Style | None = None,
    error: float = 0.0,
    upper: bool = False,
    progress: Progress | None = None,
) -> TripTable:
    r"""Read trips: a row has a start, an end and a cost.

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
    error : float
        Bound on the error of the costs. Costs of the same trip may differ by twice this much.
    upper : bool
        Whether the costs are upper bounds. Costs of the same trip may then differ.
    progress : callable, optional
        Called with the number of bytes read so far, and the total.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "trips.csv")
    ...     _ = file.write_text("origin,destination,minutes\nBern,Genève,105\nGenève,Bern,110.5\n")
    ...     found = read_trips(file, Names(["Genève", "Bern"]))
    >>> found.starts, found.ends, found.costs
    (array([1, 0]), array([0, 1]), array([105. , 110.5]))
    """
    style = style or Style()
    sheet = open_sheet(path, style, PAIR_ROLES)
    width, header = sheet.width, sheet.header
    named = named_columns(columns or {}, header, width, sheet.path)
    others = unnamed_last(range(width), header)
    for role in PAIR_ROLES:
        numeric = filter(sheet.numeric, others) if role == "cost" else ()
        take(named, role, [*matching_columns(role, header), *numeric, *others])
        if role not in named:
            raise sheet.lacks(f"{role} of a trip")
    at = {role: named[role] for role in PAIR_ROLES}
    found, numbers, _, notes = read_columns(sheet, at, names, style, progress)
    start, end = found.values()
    for role, vertices in found.items():
        refuse_strangers(vertices < 0, sheet, at[role], names)
    values = checked_costs(sheet, at["cost"], numbers["cost"].values, "cost")
    refuse_cells(start == end, sheet, at["end"], "is the start of this trip as well")
    if not upper:
        # costs of the same trip, by rows: the least and the largest may differ by twice the error
        order = np.lexsort((values, end, start))
        new = np.ones(order.size, dtype=bool)
        new[1:] = (np.diff(start[order]) != 0) | (np.diff(end[order]) != 0)
        first = np.flatnonzero(new)
        least, largest = order[first], order[np.append(first[1:], order.size) - 1]
        clash = values[largest] - values[least] > 2.0 * error
        if clash.any():
            one, two = sorted((int(least[np.argmax(clash)]), int(largest[np.argmax(clash)])))
            raise InputError(
                f"{sheet.place(two, at['cost'])}: the trip from {names[start[one]]!r} to "
                f"{names[end[one]]!r} costs {values[two]:g} here and {values[one]:g} in row "
                f"{sheet.row_number(one)}: pass ",
                Option("error", float(abs(values[two] - values[one]) / 2)),
                " if costs are as uncertain as that, or ",
                Option("bound", "upper"),
                " if they are what was paid",
            )
    return TripTable(
        frozen(start),
        frozen(end),
        values,
        sheet.understood(at),
        (*notes, *unused_note(sheet, at)),
    )
