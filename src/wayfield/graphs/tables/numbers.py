"""Numbers in text: the meaning of points and commas is found, not assumed.

A column has one decimal mark and no thousands separators. ``1.5`` and ``1,5`` are unambiguous, but
``1.234`` may mean 1.234 or 1234. A mark that is always followed by three digits is *settled* by a
cell that allows only one reading (``0.5``, ``1234.5``, ``12,25``), in the same column or in another
column of the file. The rules are:

- points and commas in one column are an error, and so are thousands separators (``1.234,5``,
  ``1'234``);
- a column of durations, h:mm:ss, is read in minutes. Two numbers, such as 6:36, are an error;
- a comma that is not settled is an error. A point that is not settled is an error in files
  separated by semicolons, which often have decimal commas. In other files it is read as a decimal
  point, with a note.

The user can settle it by naming the decimal mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, Option
from ...typing import BoolArray, FloatArray
from ..names import Names, Numbering
from .cells import WordColumn, as_names, shortened
from .sheet import Piece, Sheet
from .text import DURATION, Progress, Style

VERTICES = ("from", "to", "start", "end", "vertex")
WORD_ROLES = ("oneway", "speed")
"""Roles of columns that hold vertices, and words; the others hold numbers."""

_DECIMAL_MARKS = {"point": ".", "comma": ","}
_WORDS = {mark: word for word, mark in _DECIMAL_MARKS.items()}

_SIGN = "[-+−]?"
_PLAIN_NUMBER = {
    mark: re.compile(
        rf"{_SIGN}(?:[0-9]+(?:{any_of}[0-9]*)?|{any_of}[0-9]+)(?:e[-+]?[0-9]+)?"
        rf"|{_SIGN}(?:inf(?:inity)?|nan)",
        re.IGNORECASE,
    )
    for mark, any_of in {None: "[.,]", ".": "[.]", ",": "[,]"}.items()
}
"""Matches a number with this decimal mark, or with any."""
_SETTLED = {
    mark: re.compile(
        rf"^(?!{_SIGN}[1-9][0-9]{{0,2}}(?:\{mark}[0-9]{{3}})+$)[^\n{mark}]*\{mark}", re.MULTILINE
    )
    for mark in ".,"
}
"""Finds a line in which the mark cannot be a thousands separator."""
_GROUPED = re.compile(
    rf"{_SIGN}[0-9]{{1,3}}([.,'’_ \u00a0\u2009\u202f])[0-9]{{3}}(?:\1[0-9]{{3}})*(?:[.,][0-9]*)?"
)
"""Matches a number with thousands separators."""


def decimal_mark(style: Style) -> str | None:
    """Return the decimal mark that the user has named."""
    mark = (
        None if style.decimal is None else _DECIMAL_MARKS.get(style.decimal.lower(), style.decimal)
    )
    if mark not in (None, *_WORDS):
        named = Option("decimal", within="Style")
        raise InputError(named, f" must be point or comma, got {style.decimal!r}")
    return mark


class Seen(NamedTuple):
    """A mark in a column: its row, its cell, and whether it can only be a decimal mark."""

    row: int
    cell: str
    settled: bool


class NumberColumn:
    """The numbers of one column, read piece by piece.

    Attributes
    ----------
    seen : dict
        Marks found so far, if the decimal mark is to be found out.
    timed : bool
        Whether there are durations; the numbers are then minutes.
    """

    def __init__(self, sheet: Sheet, index: int, style: Style) -> None:
        self.sheet, self.index, self.decimal = sheet, index, decimal_mark(style)
        self.seen: dict[str, Seen] = {}
        self.timed = False
        self._rows = 0
        self._values: list[FloatArray] = []
        self._empty: list[BoolArray] = []

    @property
    def values(self) -> FloatArray:
        """(k,) the numbers, NaN where a cell is empty."""
        return np.concatenate(self._values)

    @property
    def empty(self) -> BoolArray:
        """(k,) bool: where a cell is empty."""
        return np.concatenate(self._empty)

    def add(self, piece: Piece) -> None:
        """Read more rows, or raise `InputError` for the first cell that is not a number."""
        if isinstance(piece, np.ma.MaskedArray):
            if piece.dtype.kind not in "iuf":
                where = f"{self.sheet.path}, column {self.sheet.called(self.index)}"
                raise InputError(f"{where}: {piece.dtype} is not a number")
            empty = np.ma.getmaskarray(piece)
            self._values.append(np.where(empty, np.nan, piece.data.astype(np.float64)))
            self._empty.append(empty)
        else:
            self._read([cell.strip() for cell in piece])
        self._rows += len(piece)

    def _read(self, cells: list[str]) -> None:
        if ":" in "".join(cells):
            cells = [self._minutes(row, cell) for row, cell in enumerate(cells, self._rows)]
        text = "\n".join(cells)
        if self.decimal is None and not self.timed:
            self._look(text, cells)
        values, empty = None, np.zeros(len(cells), dtype=bool)
        if not re.search(r"[^0-9eE+\-\n]" if self.decimal == "," else r"[^0-9eE+\-\n.]", text):
            with suppress(ValueError):  # Python's own numbers: quick, for most columns
                values = np.fromiter(map(float, cells), np.float64, len(cells))
        if values is None:
            number = _PLAIN_NUMBER[self.decimal]
            for row, cell in enumerate(cells):
                if cell and not number.fullmatch(cell):
                    of_kind = f" with a decimal {_WORDS[self.decimal]}" if self.decimal else ""
                    grouped = "; remove the thousands separators"
                    raise InputError(
                        f"{self.sheet.place(self._rows + row, self.index)}: {shortened(cell)!r} is "
                        f"not a number{of_kind}{grouped if _GROUPED.fullmatch(cell) else ''}"
                    )
            spelt = text.replace("−", "-").replace(",", ".").split("\n")
            values = np.array([float(cell) if cell else np.nan for cell in spelt])
            empty = np.array([not cell for cell in cells], dtype=bool)
        self._values.append(values)
        self._empty.append(empty)

    def _minutes(self, row: int, cell: str) -> str:
        """Return a duration as a number of minutes, and any other cell as it is."""
        duration = DURATION.fullmatch(cell)
        if duration is None:
            return cell
        hours, minutes, short, seconds = duration.groups()
        if short is not None:
            raise InputError(
                f"{self.sheet.place(row, self.index)}: {cell!r} is not a number: it may be "
                f"hours and minutes or minutes and seconds; write 0:{cell} or {cell}:00"
            )
        self.timed = True
        total = 60 * int(hours) + int(minutes) + float(seconds.replace(",", ".")) / 60
        mark = "," if self.decimal == "," else "."
        return repr(total).replace(".", mark)

    def _look(self, text: str, cells: Sequence[str]) -> None:
        """Record the marks in some rows; one that is settled replaces an earlier one."""
        for mark, settled in _SETTLED.items():
            known = self.seen.get(mark)
            if mark not in text or (known is not None and known.settled):
                continue
            found = settled.search(text)
            if known is None or found is not None:
                place = text.index(mark) if found is None else found.start()
                row = text.count("\n", 0, place)
                self.seen[mark] = Seen(self._rows + row, cells[row], found is not None)


class Columns(NamedTuple):
    """The columns of a table by role, and notes on the table."""

    vertices: dict[str, NDArray[Any]]
    numbers: dict[str, NumberColumn]
    words: dict[str, WordColumn]
    notes: list[str]


def read_columns(
    sheet: Sheet,
    at: Mapping[str, int],
    names: Names | Numbering,
    style: Style,
    progress: Progress | None,
) -> Columns:
    """Read the columns of a table by role.

    Vertices are indices of `names`, -1 if unknown. A `Numbering` is extended by new names, in the
    order of the rows.
    """
    places = [role for role in at if role in VERTICES]
    words = {r: WordColumn(sheet, i) for r, i in at.items() if r in WORD_ROLES}
    others = {r: i for r, i in at.items() if r not in (*VERTICES, *WORD_ROLES)}
    numbers = {role: NumberColumn(sheet, i, style) for role, i in others.items()}
    found: dict[str, list[NDArray[Any]]] = {role: [] for role in places}
    done = 0
    for pieces in sheet.pieces(list(at.values()), progress):
        cells = dict(zip(at, pieces, strict=True))
        called = [as_names(sheet, at[role], cells[role], done) for role in places]
        if isinstance(names, Numbering):
            index = names.number([name for row in zip(*called, strict=True) for name in row])
            for i, role in enumerate(places):
                found[role].append(index[i :: len(places)])
        else:
            for role, some in zip(places, called, strict=True):
                found[role].append(names.find(some))
        for role, number_column in numbers.items():
            number_column.add(cells[role])
        for role, word_column in words.items():
            word_column.add(cells[role])
        done += len(pieces[0])
    vertices = {role: np.concatenate(parts) for role, parts in found.items()}
    timed = [sheet.called(column.index) for column in numbers.values() if column.timed]
    notes = [f"{sheet.path}: column {each} is h:mm:ss, read in minutes" for each in timed]
    return Columns(vertices, numbers, words, [*sheet.notes, *notes, *judge(numbers.values())])


def judge(columns: Iterable[NumberColumn]) -> list[str]:
    """Raise `InputError` if the marks in a file's columns are ambiguous.

    Returns notes on assumptions that were made.
    """
    judged = [column for column in columns if column.decimal is None]
    for column in judged:
        if len(column.seen) > 1:
            sheet, both = column.sheet, sorted(column.seen.values())
            rows = ", ".join(f"row {sheet.row_number(seen.row)} has {seen.cell}" for seen in both)
            raise InputError(
                f"{sheet.path}, column {sheet.called(column.index)}: points and commas: {rows}; "
                "use only one of them, as the decimal mark"
            )
    settled = {mark for column in judged for mark, seen in column.seen.items() if seen.settled}
    notes: list[str] = []
    for column in judged:
        for mark, seen in column.seen.items():
            if seen.settled or settled == {mark}:
                continue
            cell = seen.cell.replace("−", "-")
            one, other = (f"{float(cell.replace(mark, to)):.15g}" for to in (".", ""))
            if mark == "," or settled or column.sheet.delimiter == ";":
                where = column.sheet.place(seen.row, column.index)
                raise InputError(
                    f"{where}: {seen.cell} may be {one} or {other}; pass ",
                    Option("decimal", mark, "Style"),
                    f" for the first, write {other} for the second",
                )
            where = f"{column.sheet.path}, column {column.sheet.called(column.index)}"
            notes.append(f"{where}: {seen.cell} is read as {one}; write {other} if that is meant")
    return notes
