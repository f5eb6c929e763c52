"""One table, whatever its file format: its columns, its rows on demand, and their positions.

Text or Parquet: the content of the file decides, not its name.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ...checks import need
from ...errors import InputError, Option
from ...words import number_of
from ..names import Names
from ..npz import refuse_bomb
from .columns import looks_like_header, unmarked
from .text import Progress, Style, TextFile, TextRows, guess_dialect, mostly_numbers

Piece = Sequence[str] | np.ma.MaskedArray[Any, Any]
"""Some rows of a column: text, or numbers that are masked where there are none."""

_ROWS_READ = 1024
"""Rows in a piece. Few, so that they are freed before Python's garbage collector scans them."""
_SAMPLE_ROWS = 200
_OTHERS = {
    rb"SQLite format 3": (
        "a database, such as a GeoPackage: save its table of edges as CSV or Parquet"
    ),
    rb"\x00\x00\x27\x0a": "a shapefile: save its table of edges as CSV or Parquet",
    rb"%%MatrixMarket": "a Matrix Market file: save the matrix with scipy's save_npz",
    rb"version https://git-lfs": "a pointer to a file in Git LFS, not the file: git lfs pull",
    rb"(?i)(\xef\xbb\xbf)?\s*<(!doctype|html|\?xml|graphml|gexf|osm)\b": (
        "HTML or XML, not a table: save it as CSV"
    ),
    rb"(\xef\xbb\xbf)?\s*[\[{]\s*[\[{\"]": "JSON, not a table: save it as CSV",
    rb"(c[^\n]*\n)*p sp ": ("a DIMACS file: keep the lines that begin with a, as CSV, and pass "),
}
"""Other kinds of files, by their first bytes."""


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
        How the file was understood, as text.
    delimiter : str
        Delimiter between columns, if there is one.
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
        """Return one cell, for a message."""

    def row_number(self, row: int) -> int:
        """Return the number of a row in the file, counted from 1 as an editor does."""
        return row + 1

    def called(self, column: int) -> str:
        """Return the name of a column for a message."""
        return str(column + 1) if self.header is None else repr(self.header[column])

    def lacks(self, role: str) -> InputError:
        """Return the error for a table that has no column for a role."""
        found = ", ".join(self.called(i) for i in range(self.width))
        hint = "call the columns of positions x and y, or lon and lat; " if role == "x" else ""
        return InputError(
            f"{self.path} has no column for the {role} ({self.width} found: {found}); {hint}is "
            "the delimiter right?"
        )

    def num_named(self, column: int, names: Names) -> int:
        """Return how many of the first cells of a column are names of vertices."""
        cells = [unmarked(row[column]) for row in self.rows if column < len(row)]
        return int((names.find(cells) >= 0).sum())

    def numeric(self, column: int) -> bool:
        """Whether the first cells of a column are mostly numbers."""
        return mostly_numbers([row[column] for row in self.rows if column < len(row)])

    def counts(self, column: int) -> bool:
        """Whether the first cells of a column count up by one, as the numbers of rows do."""
        cells = [row[column].strip() for row in self.rows if column < len(row)]
        if len(cells) < 3 or not all(cell.isdecimal() for cell in cells):
            return False
        first = int(cells[0])
        return first in (0, 1) and [int(cell) - first for cell in cells] == [*range(len(cells))]

    @property
    def notes(self) -> list[str]:
        """Notes on parts of the file that were skipped; complete once the file has been read."""
        return []

    def understood(self, at: Mapping[str, int], besides: str = "") -> str:
        """Return the roles of the columns and the format of the file, as text."""
        word = "column " if self.header is None else ""
        text = ", ".join(f"{role} = {word}{self.called(i)}" for role, i in at.items())
        return f"{text}{besides}; {self.width} columns, {self.said}"

    def place(self, row: int, column: int) -> str:
        """Return the position of a cell: file, row and column."""
        return f"{self.path}, row {self.row_number(row)}, column {self.called(column)}"


class TextSheet(Sheet):
    """A table in a text file: CSV and similar formats."""

    def __init__(self, path: Path, style: Style, roles: Sequence[str]) -> None:
        self.path = path
        self.text = TextFile(path, style.encoding)
        self.delimiter, self.header, self.rows, self.said = guess_dialect(
            self.text, style, lambda rows: looks_like_header(rows, roles)
        )
        self._comments = self._within = 0
        usual = Counter(map(len, self.rows)).most_common(1)[0][0]
        if self.width == 1 < usual:
            source = TextRows(self.text, self.delimiter)
            next(iter(source))
            raise InputError(
                f"{self.path}, row {source.line}: 1 column, but {usual} in most rows; if it is a "
                "title, leave it out or write # before it"
            )

    def pieces(
        self, columns: Sequence[int], progress: Progress | None = None
    ) -> Iterator[Sequence[Piece]]:
        """Read some columns as text."""
        source = TextRows(self.text, self.delimiter, progress)
        rows = islice(source, int(self.header is not None), None)
        done = 0
        while batch := list(islice(rows, _ROWS_READ)):
            if set(map(len, batch)) != {self.width}:
                short = next(i for i, row in enumerate(batch) if len(row) != self.width)
                last = len(batch) < _ROWS_READ and short == len(batch) - 1
                raise self._ragged(done + short, batch[short], last)
            cells = tuple(zip(*batch, strict=True))
            yield [cells[i] for i in columns]
            done += len(batch)
        self._comments, self._within = source.comments, source.within

    def cell(self, row: int, column: int) -> str:
        """Return one cell; the file is read again up to it."""
        return self._find(row)[1][column].strip()

    def row_number(self, row: int) -> int:
        """Return the number of the line on which the row begins."""
        return self._find(row)[0]

    def _find(self, row: int) -> tuple[int, list[str]]:
        source = TextRows(self.text, self.delimiter)
        number = row + int(self.header is not None)
        cells = next(islice(source, number, None))
        return source.line, cells

    @property
    def notes(self) -> list[str]:
        """Notes on lines that were read as comments, or as parts of cells."""
        notes = []
        if self._comments:
            lines = number_of(self._comments, "lines")
            skipped = "skipped below the first row, because of # or %"
            notes.append(
                f"{self.path}: {lines} {skipped}; a name that begins like this needs quotes"
            )
        if self._within:
            lines = number_of(self._within, "lines")
            why = "inside quoted cells; is a closing quotation mark missing?"
            notes.append(f"{self.path}: {lines} {why}")
        return notes

    def _ragged(self, row: int, cells: Sequence[str], last: bool) -> InputError:
        """Return an error for a row with too few or too many columns."""
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


class ParquetSheet(Sheet):
    """A table in a Parquet file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        parquet, pa = need("pyarrow.parquet", "files"), need("pyarrow", "files")
        try:
            self.file = parquet.ParquetFile(path)
            self.header = tuple(self.file.schema_arrow.names)
            first = next(self.file.iter_batches(_SAMPLE_ROWS), None)
            if first is not None:
                first.validate(full=True)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path} is not a Parquet file, or is cut off: {error}") from error
        if first is None or not first.num_rows:
            raise InputError(f"{path} has columns but no rows")
        refuse_bomb(path, path.stat().st_size, self.file.metadata.num_rows)
        columns = [map(_as_cell, column.to_pylist()) for column in first.columns]
        self.rows = tuple(zip(*columns, strict=True))
        self.said = "Parquet"

    def pieces(
        self, columns: Sequence[int], progress: Progress | None = None
    ) -> Iterator[Sequence[Piece]]:
        """Read some columns, row group by row group."""
        pa = need("pyarrow", "files")
        assert self.header is not None
        wanted = [self.header[i] for i in dict.fromkeys(columns)]
        twice = next((name for name in wanted if self.header.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"{self.path} has two columns {twice!r}")
        for i in range(self.file.num_row_groups):
            try:
                table = self.file.read_row_group(i, columns=wanted)
                table.validate(full=True)  # text of a damaged file need not be UTF-8
                yield [self._piece(table.column(self.header[j]), j) for j in columns]
            except (pa.ArrowException, OSError) as error:
                raise InputError(f"{self.path} is cut off or damaged: {error}") from error
            if progress is not None:
                progress(i + 1, self.file.num_row_groups)

    def cell(self, row: int, column: int) -> str:
        """Return one cell; the column is read again up to it."""
        for (piece,) in self.pieces([column]):
            if row < len(piece):
                return _as_cell(piece[row])
            row -= len(piece)
        raise AssertionError("the file has no such row")

    def _piece(self, column: Any, index: int) -> Piece:
        """Return an Arrow column as text or as numbers."""
        pa, compute = need("pyarrow", "files"), need("pyarrow.compute", "files")
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        kind = column.type
        if pa.types.is_decimal(kind):
            column, kind = column.cast(pa.float64()), pa.float64()
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            numbers = np.asarray(compute.fill_null(column, 0).to_numpy())
            return np.ma.masked_array(numbers, np.asarray(compute.is_null(column).to_numpy()))
        try:
            return list(compute.fill_null(column.cast(pa.string()), "").to_pylist())
        except pa.ArrowException as error:
            where = f"{self.path}, column {self.called(index)}"
            raise InputError(f"{where}: {kind} is neither a name nor a number") from error


def _as_cell(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return "" if value is None or value is np.ma.masked else str(value)


def open_sheet(path: str | Path, style: Style, roles: Sequence[str]) -> Sheet:
    """Open a table; `roles` are the columns to look for."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file")
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is a stream, which cannot be read twice: save it to a file first")
    with path.open("rb") as file:
        start = file.read(200)
    if not start:
        raise InputError(f"{path} is empty")
    if start.startswith(b"PAR1") or path.suffix.lower() in (".parquet", ".pq"):
        return ParquetSheet(path)
    if path.suffix.lower() == ".npz":
        raise InputError(f"{path} is an npz file, not a table: save the table as CSV or Parquet")
    if start.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise InputError(f"{path} is a workbook or an archive: save the sheet as CSV")
    for pattern, what in _OTHERS.items():
        if re.match(pattern, start):
            directed = [Option("directed", True)] if what.endswith("pass ") else []
            raise InputError(f"{path} is {what}", *directed)
    return TextSheet(path, style, roles)
