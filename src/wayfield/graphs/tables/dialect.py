"""The dialect of a text table: its delimiter, and whether it has a header.

**Delimiter.** A tab, if it splits all of the first lines into the same number of columns. Otherwise
the one of tab, semicolon, comma and bar that splits most of the lines alike; then the one with the
most columns; then the one with the most columns of numbers; ties in this order. If none splits half
of the lines alike, the first that occurs in most lines. If there is none, runs of blanks. A first
line ``sep=;`` states the delimiter.

**Header.** The first line is a header in two cases: it holds words expected there (``from``,
``node`` …), or nothing in it begins with a digit, while something below it does, apart from marks
for missing numbers.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import filterfalse, islice
from typing import NamedTuple

from ...errors import InputError
from .text import BLANKS, SEP, Rows, TextFile, cut, is_nothing

_SAMPLE = 200
"""Number of first lines to examine."""
_CANDIDATES = ("\t", ";", ",", "|")
_NAMES = {"\t": "tab", ";": "semicolon", ",": "comma", "|": "bar", BLANKS: "blank"}
_ALIASES = {"tab": "\t", "\\t": "\t", "semicolon": ";", "comma": ",", "bar": "|", "space": BLANKS}
_NUMBER_LIKE = re.compile(
    r"[-+−]?(?=[.,]?[0-9])[0-9.,_'’\s]+(e[-+]?[0-9]+)?|[-+]?(inf(inity)?|nan)"
)
_NUMBER_BEGUN = re.compile(r"[^\w\"']*\d")
_MISSING = ("", "-", "--", ".", "?", "na", "n/a", "none", "null", "missing")


@dataclass(frozen=True)
class Style:
    """Settings for a text file; None means "guess"."""

    delimiter: str | None = None
    header: bool | None = None
    encoding: str | None = None
    decimal: str | None = None


class Dialect(NamedTuple):
    """How one text table is written.

    Attributes
    ----------
    delimiter : str
        Between two columns; `BLANKS` stands for any run of blanks.
    header : tuple of str or None
        Names of the columns, if the first row is a header.
    rows : tuple of tuples of str
        The first rows below the header.
    said : str
        Description for a note to the user.
    """

    delimiter: str
    header: tuple[str, ...] | None
    rows: tuple[tuple[str, ...], ...]
    said: str


def guess_dialect(
    file: TextFile, style: Style, is_header: Callable[[list[list[str]]], bool]
) -> Dialect:
    """Guess the dialect from the first lines; `is_header` knows the words of headers."""
    lines = list(islice(filterfalse(is_nothing, file.lines()), _SAMPLE))
    declared = SEP.fullmatch(lines[0]) if lines else None
    if declared:
        lines = lines[1:]
    if not lines:
        raise InputError(f"{file.path} is empty")
    given = style.delimiter or (declared[1] if declared else None)
    delimiter = _guess_delimiter(lines) if given is None else _ALIASES.get(given.lower(), given)
    if len(delimiter) != 1 or delimiter in '"\n\r':
        raise InputError(f"the delimiter must be one character, tab or space, got {given!r}")
    rows = _split(lines, delimiter)
    found = style.header
    if found is None:
        # no cell of a header begins like a number (5 km, €7), and at least one of its words heads
        # a column of mostly numbers
        below = zip(*[row for row in rows[1:] if len(row) == len(rows[0])], strict=True)
        found = is_header(rows) or (
            not any(map(_NUMBER_BEGUN.match, rows[0]))
            and any(
                cell.strip().lower() not in _MISSING and mostly_numbers(column)
                for cell, column in zip(rows[0], below, strict=False)
            )
        )
    header = tuple(cell.strip() for cell in rows[0]) if found else None
    body = tuple(tuple(row) for row in rows[int(found) :])
    if not body:
        for _ in Rows(file, delimiter):  # a row that cannot be cut raises here, with its number
            pass
        raise InputError(f"{file.path} has a header but no rows")
    between = f"{_NAMES.get(delimiter, repr(delimiter))} between columns"
    return Dialect(
        delimiter, header, body, f"{between}, {'header found' if found else 'no header'}"
    )


def _split(lines: list[str], delimiter: str) -> list[list[str]]:
    """Split the first lines into cells; errors in them are raised when the file is read."""
    rows: list[list[str]] = []
    with suppress(csv.Error):
        rows.extend(cut(iter(lines), delimiter))
    return rows or [[""]]


def mostly_numbers(cells: Sequence[str]) -> bool:
    """Whether at least half of the nonempty cells are meant to be numbers.

    Malformed numbers, such as 1.234,5 or 12%, count too.
    """
    filled = list(filter(None, map(str.strip, cells)))
    meant = [cell for cell in filled if _NUMBER_LIKE.fullmatch(cell.lower().removesuffix("%"))]
    return bool(filled) and 2 * len(meant) >= len(filled)


def _guess_delimiter(lines: list[str]) -> str:
    """Choose the candidate that splits the most lines into equally many columns, then into most."""
    best, merit = BLANKS, (0.0, 1, 0)
    for mark in _CANDIDATES:
        rows = _split(lines, mark)
        widths = Counter(map(len, rows))
        (width, count) = max(widths.items(), key=lambda item: (item[1], item[0]))
        if width == 1 or (count / len(rows), width) < merit[:2]:
            continue
        columns = zip(*[row for row in rows if len(row) == width], strict=True)
        numeric = sum(map(mostly_numbers, columns))
        if (count / len(rows), width, numeric) > merit:
            best, merit = mark, (count / len(rows), width, numeric)
        if best == "\t" and merit[0] == 1.0:
            break
    if merit[0] >= 0.5:
        return best
    occurs = (mark for mark in _CANDIDATES if 2 * sum(mark in line for line in lines) > len(lines))
    return next(occurs, BLANKS)  # rows of different lengths: reading them will raise an error
