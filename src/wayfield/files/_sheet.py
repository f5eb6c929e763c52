"""One table, whatever file it lies in: its columns, its rows on demand, and where a row stands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ._dialect import Style, guess_dialect, mostly_numbers
from ._roles import looks_like_header
from ._rows import Rows
from ._text import Progress, TextFile

Piece = Sequence[str] | np.ma.MaskedArray[Any, Any]
"""Some rows of a column: text, or numbers that are masked where there are none."""

_BATCH = 1024
"""Rows in a piece. Few, so that they are gone before Python's collector looks for garbage."""


class Sheet(ABC):
    """A table.

    Attributes
    ----------
    path : Path
        The file.
    header : tuple of str or None
        Names of the columns.
    rows : tuple of tuples of str
        The first rows.
    said : str
        How the file was understood, in words.
    delimiter : str
        What stands between columns, if anything does.
    """

    path: Path
    header: tuple[str, ...] | None
    rows: tuple[tuple[str, ...], ...]
    said: str
    delimiter = ""

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.rows[0] if self.header is None else self.header)

    @abstractmethod
    def pieces(
        self, columns: Sequence[int], progress: Progress | None = None
    ) -> Iterator[Sequence[Piece]]:
        """Read some columns, a number of rows at a time."""

    @abstractmethod
    def cell(self, row: int, column: int) -> str:
        """Return one cell, for a message about it."""

    def row_number(self, row: int) -> int:
        """Return the number of a row in the file, counted from 1 as an editor does."""
        return row + 1

    def called(self, column: int) -> str:
        """Return what a column is called."""
        return str(column + 1) if self.header is None else repr(self.header[column])

    def numeric(self, column: int) -> bool:
        """Whether a column is mostly of numbers, by its first cells."""
        return mostly_numbers([row[column] for row in self.rows if column < len(row)])

    @property
    def notes(self) -> list[str]:
        """What of the file was not read; known once it has been read."""
        return []

    def understood(self, at: Mapping[str, int], besides: str = "") -> str:
        """Say which column is taken for what, and how the file is written."""
        word = "column " if self.header is None else ""
        told = ", ".join(f"{role} = {word}{self.called(i)}" for role, i in at.items())
        return f"{told}{besides}; {self.width} columns, {self.said}"

    def place(self, row: int, column: int) -> str:
        """Say where a cell stands: file, row and column."""
        return f"{self.path}, row {self.row_number(row)}, column {self.called(column)}"


class TextSheet(Sheet):
    """A table in a text file: CSV and its relatives."""

    def __init__(self, path: Path, style: Style, roles: Sequence[str]) -> None:
        self.path = path
        self.text = TextFile(path, style.encoding)
        self.dialect = guess_dialect(self.text, style, lambda rows: looks_like_header(rows, roles))
        self.header, self.rows = self.dialect.header, self.dialect.rows
        self.said, self.delimiter = self.dialect.said, self.dialect.delimiter
        self._comments = self._within = self._first_within = 0
        self._refuse_title()

    def pieces(
        self, columns: Sequence[int], progress: Progress | None = None
    ) -> Iterator[Sequence[Piece]]:
        """Read some columns as text."""
        source = Rows(self.text, self.delimiter, progress)
        rows = islice(source, int(self.header is not None), None)
        done = 0
        while batch := list(islice(rows, _BATCH)):
            if set(map(len, batch)) != {self.width}:
                short = next(i for i, row in enumerate(batch) if len(row) != self.width)
                last = len(batch) < _BATCH and short == len(batch) - 1
                raise self._ragged(done + short, batch[short], last)
            cells = tuple(zip(*batch, strict=True))
            yield [cells[i] for i in columns]
            done += len(batch)
        self._comments, self._within = source.comments, source.within
        self._first_within = source.first_within

    def _refuse_title(self) -> None:
        """Complain about a first line that stands alone above the table."""
        usual = Counter(map(len, self.rows)).most_common(1)[0][0]
        if self.width == 1 < usual:
            source = Rows(self.text, self.delimiter)
            next(iter(source))
            raise InputError(
                f"{self.path}, row {source.line}: 1 column, but {usual} in most rows; if it is a "
                "title, leave it out or write # before it"
            )

    def cell(self, row: int, column: int) -> str:
        """Read the file again as far as the cell."""
        return self._find(row)[1][column].strip()

    def row_number(self, row: int) -> int:
        """Return the number of the line on which the row begins."""
        return self._find(row)[0]

    def _find(self, row: int) -> tuple[int, list[str]]:
        source = Rows(self.text, self.delimiter)
        number = row + int(self.header is not None)
        cells = next(islice(source, number, None))
        return source.line, cells

    @property
    def notes(self) -> list[str]:
        """Say how many lines were taken for comments, or for parts of cells."""
        notes = []
        if self._comments:
            told = "1 line below the first row begins with # or % and is skipped as a comment"
            if self._comments > 1:
                count = f"{self._comments:,} lines below the first row"
                told = f"{count} begin with # or % and are skipped"
            notes.append(f"{self.path}: {told}; a name that begins so needs quotes")
        if self._within:
            lines = "1 line is" if self._within == 1 else f"{self._within:,} lines are"
            notes.append(
                f"{self.path}: {lines} part of a cell in quotes that began on a line before, first "
                f"in row {self._first_within}; is a quotation mark not closed?"
            )
        return notes

    def _ragged(self, row: int, cells: Sequence[str], last: bool) -> InputError:
        """Complain about a row that has too few columns, or too many."""
        found = "1 column" if len(cells) == 1 else f"{len(cells)} columns"
        why = "are quotes missing?"
        if len(cells) < self.width:
            why = "is the file cut off?" if last else "is a delimiter missing?"
        elif not any(cells[self.width :]):
            why = "does the row end in a delimiter?"
        elif self.delimiter == ",":
            why = "are quotes missing, or are there decimal commas?"
        number = self.row_number(row)
        return InputError(f"{self.path}, row {number}: {found}, but {self.width} expected; {why}")
