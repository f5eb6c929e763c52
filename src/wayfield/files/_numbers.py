"""Numbers in text: what a point and a comma mean is found out, not assumed.

A column has one decimal mark. ``1.5`` and ``1,5`` can only be read in one way, but ``1.234`` is
1.234 to some and 1234 to others: a mark that stands before three digits wherever it occurs may as
well stand between thousands. What a mark means is *settled* by a cell that allows one reading only
(``0.5``, ``1234.5``, ``12,25``), in the column or in another of the same file. Then:

- points and commas in one column are an error, and so is a mark between thousands that nobody
  announced (``1.234,5``, ``1'234``);
- a comma that is not settled is an error; a point that is not settled is one where semicolons
  separate the columns, as they do where the decimal mark is a comma, and elsewhere a decimal point,
  with a note.

The user settles it by naming the decimal mark or what stands between thousands; naming a point or a
comma for one makes the other mark the decimal one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..errors import InputError
from ..kernels._types import BoolArray, FloatArray
from ._dialect import Style
from ._sheet import Piece, Sheet

_DECIMAL = {"point": ".", "comma": ","}
_THOUSANDS = _DECIMAL | {"apostrophe": "'", "space": " ", "underscore": "_"}
_WORDS = {mark: word for word, mark in _THOUSANDS.items()}
_ALIKE = {"'": "'’", " ": " \u00a0\u2009\u202f"}
"""Characters that are one mark to a reader."""
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
    """How numbers are written; None is "find out".

    Attributes
    ----------
    decimal : str or None
        A point or a comma.
    thousands : str or None
        What stands between thousands. None where the decimal mark is given: nothing.
    """

    decimal: str | None
    thousands: str | None

    @classmethod
    def told(cls, style: Style) -> Notation:
        """Return what the user says."""
        decimal = _named("decimal", style.decimal, _DECIMAL)
        thousands = _named("thousands", style.thousands, _THOUSANDS)
        if decimal is not None and decimal == thousands:
            raise InputError(
                f"Style.decimal and Style.thousands cannot both be the {_WORDS[decimal]}"
            )
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
        """Return what a cell says, NaN if nothing, None if it is not a number."""
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
    """A mark in a column: where, in what, and whether it can only be a decimal one."""

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
        values = None if self.notation.plain.search(text) else _floats(cells)
        empty = np.zeros(len(cells), dtype=bool)
        if values is None:
            read = [self.notation.value(cell) for cell in cells]
            if None in read:
                raise self._not_a_number(read.index(None), cells)
            values = np.array(read, dtype=np.float64)
            empty = np.array([not cell for cell in cells], dtype=bool)
        self._values.append(values)
        self._empty.append(empty)

    def _look(self, text: str, cells: Sequence[str]) -> None:
        """Note the marks in some rows; one that settles a mark takes the place of one before."""
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
        cell, decimal = cells[row], self.notation.decimal
        told = f"{self.sheet.place(self._rows + row, self.index)}: {_short(cell)!r} is not a number"
        if decimal is not None:
            told += f" with a decimal {_WORDS[decimal]}"
        return InputError(told + _hint(cell, self.notation))


def _floats(cells: Sequence[str]) -> FloatArray | None:
    """Read numbers as Python has them, None if some cell is not one: quick, for most columns."""
    try:
        return np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        return None


def judge(columns: Iterable[NumberColumn]) -> list[str]:
    """Raise `InputError` if it is not clear what the marks in a file's columns mean.

    Returns notes on what was taken for granted.
    """
    judged = [column for column in columns if column.notation.decimal is None]
    for column in judged:
        if len(column.seen) > 1:
            raise InputError(_mixed(column))
    settled = {mark for column in judged for mark, seen in column.seen.items() if seen.settled}
    notes = []
    for column in judged:
        for mark, seen in column.seen.items():
            if seen.settled or settled == {mark} or column.notation.thousands is not None:
                continue
            if mark == "," or settled or column.sheet.delimiter == ";":
                raise InputError(_doubtful(column, mark, seen))
            one, other = _readings(seen.cell, mark)
            where = f"{column.sheet.path}, column {column.sheet.called(column.index)}"
            notes.append(
                f"{where}: {seen.cell} is read as {one}, not {other}; "
                f"{_style('thousands', mark)} if the point stands between thousands"
            )
    return notes


def _mixed(column: NumberColumn) -> str:
    """Say that a column has points and commas, and how it would be read in either way."""
    sheet, both = column.sheet, sorted(column.seen.values())
    rows = ", ".join(f"row {sheet.row_number(seen.row)} has {seen.cell}" for seen in both)
    told = [f"{sheet.path}, column {sheet.called(column.index)}: points and commas, {rows}"]
    told.append(f"{_read_as(both, column.notation)} if both are decimal: write one of them only")
    for mark, seen in column.seen.items():
        if not seen.settled and column.notation.thousands is None:
            told.append(
                f"{_read_as(both, Notation(_OTHER[mark], mark))} with {_style('thousands', mark)}"
            )
    return "; ".join(told)


def _read_as(both: Iterable[Seen], notation: Notation) -> str:
    return " and ".join(f"{notation.value(seen.cell):.15g}" for seen in both)


def _doubtful(column: NumberColumn, mark: str, seen: Seen) -> str:
    one, other = _readings(seen.cell, mark)
    return (
        f"{column.sheet.place(seen.row, column.index)}: {seen.cell} may be {one} or {other}; "
        f"pass {_style('decimal', mark)} for the first, {_style('thousands', mark)} for the second"
    )


def _readings(cell: str, mark: str) -> tuple[str, str]:
    """Return what a cell is with a decimal mark, and with one between thousands."""
    decimal, between = Notation(mark, None).value(cell), Notation(_OTHER[mark], mark).value(cell)
    return f"{decimal:.15g}", f"{between:.15g}"


def _hint(cell: str, notation: Notation) -> str:
    """Say how to announce what stands between thousands."""
    found = _GROUPED.fullmatch(cell)
    mark = next((m for m in _WORDS if found and found[1] in _ALIKE.get(m, m)), None)
    if mark is None or mark == notation.thousands:
        return ""
    told = mark if mark in ".,_" else _WORDS[mark]
    return f"; {_style('thousands', told)} if the {_WORDS[mark]} stands between thousands"


def _style(option: str, mark: str) -> str:
    """Return what to pass so that a mark has this meaning."""
    return f'Style({option}="{mark}")'


def _named(option: str, text: str | None, words: dict[str, str]) -> str | None:
    mark = None if text is None else words.get(text.lower(), text)
    if mark is not None and mark not in words.values():
        listed = ", ".join(words)
        raise InputError(f"Style.{option} must be one of {listed}, not {text!r}")
    return mark


def _short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
