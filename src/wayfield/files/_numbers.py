"""Numbers in text: the meaning of points and commas is found, not assumed.

A column has one decimal mark. ``1.5`` and ``1,5`` are unambiguous, but ``1.234`` may be 1.234 or
1234. A mark that is always followed by three digits may be a decimal mark or a thousands separator.
It is *settled* by a cell that allows only one reading (``0.5``, ``1234.5``, ``12,25``), in the same
column or in another column of the file. Then:

- points and commas in one column are an error, and so is an undeclared thousands separator
  (``1.234,5``, ``1'234``);
- a comma that is not settled is an error. A point that is not settled is an error in files
  separated by semicolons, which often have decimal commas. In other files it is read as a decimal
  point, with a note.

The user can settle it by naming the decimal mark or the thousands separator. If a point or a comma
is named as separator, the other one is the decimal mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, Message, Option
from ..kernels._types import BoolArray, FloatArray
from ..names import Names
from ._cells import as_names, shortened
from ._columns import unused_note
from ._dialect import Style
from ._sheet import Piece, Sheet
from ._text import Progress

_DECIMAL = {"point": ".", "comma": ","}
_THOUSANDS = _DECIMAL | {"apostrophe": "'", "space": " ", "underscore": "_"}
_WORDS = {mark: word for word, mark in _THOUSANDS.items()}
_ALIKE = {"'": "'’", " ": " \u00a0\u2009\u202f"}
"""Characters that look like the same mark."""
_OTHER = {".": ",", ",": "."}

_SIGN = "[-+−]?"
_POWER = "(?:[eE][-+]?[0-9]+)?"
_NO_NUMBER = f"{_SIGN}(?:inf(?:inity)?|nan)"
_SETTLED = {
    mark: re.compile(
        rf"^(?!{_SIGN}[1-9][0-9]{{0,2}}(?:\{mark}[0-9]{{3}})+$)[^\n{mark}]*\{mark}", re.MULTILINE
    )
    for mark in ".,"
}
"""Finds a line with the mark in it that cannot stand between thousands."""
_GROUPED = re.compile(
    rf"{_SIGN}[0-9]{{1,3}}([.,'’_ \u00a0\u2009\u202f])[0-9]{{3}}(?:\1[0-9]{{3}})*(?:[.,][0-9]*)?"
)


@dataclass(frozen=True)
class Notation:
    """How numbers are written; None means "find out".

    Attributes
    ----------
    decimal : str or None
        A point or a comma.
    thousands : str or None
        Mark between thousands. None where the decimal mark is given: there is none.
    """

    decimal: str | None
    thousands: str | None

    @classmethod
    def of(cls, style: Style) -> Notation:
        """Return the notation that the user has named."""
        decimal = _named("decimal", style.decimal, _DECIMAL)
        thousands = _named("thousands", style.thousands, _THOUSANDS)
        if decimal is not None and decimal == thousands:
            both = Option("decimal", within="Style"), " and ", Option("thousands", within="Style")
            raise InputError(*both, f" cannot both be the {_WORDS[decimal]}")
        return cls(decimal or _OTHER.get(thousands or ""), thousands)

    @cached_property
    def plain(self) -> re.Pattern[str]:
        """Finds a character for which a column must be read with care."""
        point = "" if "." in (self.thousands, _OTHER.get(self.decimal or "")) else "."
        return re.compile(rf"[^0-9eE+\-\n{point}]")

    @cached_property
    def number(self) -> re.Pattern[str]:
        """Matches a number."""
        digits, mark = "[0-9]+", re.escape(self.decimal) if self.decimal else "[.,]"
        if self.thousands is not None:
            between = f"[{_ALIKE.get(self.thousands, self.thousands)}]"
            digits = f"(?:[0-9]{{1,3}}(?:{between}[0-9]{{3}})+|[0-9]+)"
        written = f"{_SIGN}(?:{digits}(?:{mark}[0-9]*)?|{mark}[0-9]+){_POWER}"
        return re.compile(f"{written}|{_NO_NUMBER}", re.IGNORECASE)

    def value(self, cell: str) -> float | None:
        """Return the number in a cell; NaN if it is empty, None if it is not a number."""
        if not cell:
            return np.nan
        return float(cell.translate(self._spelling)) if self.number.fullmatch(cell) else None

    @cached_property
    def _spelling(self) -> dict[int, str | None]:
        """Translates a number into one that Python reads."""
        spelling: dict[int, str | None] = {ord("−"): "-", ord(","): "."}
        for mark in _ALIKE.get(self.thousands or "", self.thousands or ""):
            spelling[ord(mark)] = None
        return spelling


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
    """

    def __init__(self, sheet: Sheet, index: int, notation: Notation) -> None:
        self.sheet, self.index, self.notation = sheet, index, notation
        self.seen: dict[str, Seen] = {}
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

    @property
    def decimal(self) -> str | None:
        """The decimal mark, if there is any."""
        return self.notation.decimal or next(iter(self.seen), None)

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
        text = "\n".join(cells)
        if self.notation.decimal is None:
            self._look(text, cells)
        values, empty = None, np.zeros(len(cells), dtype=bool)
        if not self.notation.plain.search(text):  # Python's own numbers: quick, for most columns
            with suppress(ValueError):
                values = np.fromiter(map(float, cells), np.float64, len(cells))
        if values is None:
            read = [self.notation.value(cell) for cell in cells]
            if None in read:
                raise self._not_a_number(read.index(None), cells)
            values = np.array(read, dtype=np.float64)
            empty = np.array([not cell for cell in cells], dtype=bool)
        self._values.append(values)
        self._empty.append(empty)

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

    def _not_a_number(self, row: int, cells: Sequence[str]) -> InputError:
        cell, notation = cells[row], self.notation
        where = self.sheet.place(self._rows + row, self.index)
        text = f"{where}: {shortened(cell)!r} is not a number"
        if notation.decimal is not None:
            text += f" with a decimal {_WORDS[notation.decimal]}"
        # perhaps it has a thousands separator that was not declared
        found = _GROUPED.fullmatch(cell)
        mark = next((m for m in _WORDS if found and found[1] in _ALIKE.get(m, m)), None)
        if mark is None or mark == notation.thousands:
            return InputError(text)
        announced = _between(mark if mark in ".,_" else _WORDS[mark])
        return InputError(text, "; ", announced, f" if the {_WORDS[mark]} stands between thousands")


def _between(mark: str) -> Option:
    """Return the option to pass if a mark separates thousands."""
    return Option("thousands", mark, "Style")


def read_rows(
    sheet: Sheet,
    at: Mapping[str, int],
    names: Names,
    places: Sequence[str],
    style: Style,
    progress: Progress | None,
) -> tuple[dict[str, NDArray[np.int64]], dict[str, NumberColumn], list[str]]:
    """Read the columns of a table by role: vertices in `places`, -1 if unknown; else numbers.

    The third result holds notes on the table.
    """
    notation = Notation.of(style)
    numbers = {r: NumberColumn(sheet, i, notation) for r, i in at.items() if r not in places}
    found: dict[str, list[NDArray[np.int64]]] = {role: [] for role in places}
    roles, done = [*places, *numbers], 0
    for pieces in sheet.pieces([at[role] for role in roles], progress):
        for role, piece in zip(roles, pieces, strict=True):
            if role in numbers:
                numbers[role].add(piece)
            else:
                found[role].append(names.find(as_names(sheet, at[role], piece, done)))
        done += len(pieces[0])
    notes = [*sheet.notes, *judge(numbers.values()), *unused_note(sheet, at)]
    return {role: np.concatenate(each) for role, each in found.items()}, numbers, notes


def judge(columns: Iterable[NumberColumn]) -> list[str]:
    """Raise `InputError` if the marks in a file's columns are ambiguous.

    Returns notes on assumptions that were made.
    """
    judged = [column for column in columns if column.notation.decimal is None]
    for column in judged:
        if len(column.seen) > 1:
            raise _mixed(column)
    settled = {mark for column in judged for mark, seen in column.seen.items() if seen.settled}
    notes: list[str] = []
    for column in judged:
        for mark, seen in column.seen.items():
            if seen.settled or settled == {mark} or column.notation.thousands is not None:
                continue
            readings = Notation(mark, None), Notation(_OTHER[mark], mark)
            one, other = (f"{each.value(seen.cell):.15g}" for each in readings)
            if mark == "," or settled or column.sheet.delimiter == ";":
                where = column.sheet.place(seen.row, column.index)
                raise InputError(
                    f"{where}: {seen.cell} may be {one} or {other}; pass ",
                    Option("decimal", mark, "Style"),
                    " for the first, ",
                    _between(mark),
                    " for the second",
                )
            where = f"{column.sheet.path}, column {column.sheet.called(column.index)}"
            text = f"{where}: {seen.cell} is read as {one}, not {other}; "
            notes.append(Message(text, _between(mark), " if the point stands between thousands"))
    return notes


def _mixed(column: NumberColumn) -> InputError:
    """Return an error for a column with points and commas, with both possible readings."""
    sheet, both = column.sheet, sorted(column.seen.values())

    def read(notation: Notation) -> str:
        return " and ".join(f"{notation.value(seen.cell):.15g}" for seen in both)

    rows = ", ".join(f"row {sheet.row_number(seen.row)} has {seen.cell}" for seen in both)
    text: list[str | Option] = [
        f"{sheet.path}, column {sheet.called(column.index)}: points and commas, {rows}; "
        f"{read(column.notation)} if both are decimal: write one of them only"
    ]
    for mark, seen in column.seen.items():
        if not seen.settled and column.notation.thousands is None:
            text += [f"; {read(Notation(_OTHER[mark], mark))} with ", _between(mark)]
    return InputError(*text)


def _named(option: str, text: str | None, words: dict[str, str]) -> str | None:
    mark = None if text is None else words.get(text.lower(), text)
    if mark is not None and mark not in words.values():
        listed = ", ".join(words)
        raise InputError(Option(option, within="Style"), f" must be one of {listed}, got {text!r}")
    return mark
