"""One table, whatever file it lies in: its columns, its rows on demand, and where a row stands."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._optional import need
from ..errors import InputError
from ._dialect import BLANKS, Style, guess_dialect, mostly_numbers, split, tidied
from ._roles import looks_like_header
from ._text import Block, Progress, TextFile

_SAMPLE_ROWS = 200


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
    decimal_comma : bool
        Whether a comma in a number can only be a decimal one.
    """

    path: Path
    header: tuple[str, ...] | None
    rows: tuple[tuple[str, ...], ...]
    said: str
    decimal_comma = False

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.rows[0] if self.header is None else self.header)

    @abstractmethod
    def load(self, columns: Sequence[int], progress: Progress | None = None) -> list[Any]:
        """Read some columns, each a `pyarrow.ChunkedArray` of text or of numbers."""

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
        """What of the file was not read; known once it has been loaded."""
        return []

    def understood(self, at: Mapping[str, int], besides: str = "") -> str:
        """Say which column is taken for what, and how the file is written."""
        word = "column " if self.header is None else ""
        told = ", ".join(f"{role} = {word}{self.called(i)}" for role, i in at.items())
        return f"{told}{besides}; {self.width} columns, {self.said}"

    def place(self, row: int, column: int) -> str:
        """Say where a cell stands: file, row and column."""
        return f"{self.path}, row {self.row_number(row)}, column {self.called(column)}"


def open_sheet(path: str | Path, style: Style, roles: Sequence[str]) -> Sheet:
    """Open a file by what it holds, not by its name; `roles` are the columns one hopes to find."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file")
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is a stream, which cannot be read twice: save it to a file first")
    with path.open("rb") as file:
        start = file.read(14)
    if not start:
        raise InputError(f"{path} is empty")
    if start.startswith(b"PAR1") or path.suffix.lower() in (".parquet", ".pq"):
        return ParquetSheet(path)
    if path.suffix.lower() == ".npz":
        return ArraySheet(path)
    if start.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise InputError(f"{path} is a workbook or an archive: save the sheet as CSV")
    if start == b"%%MatrixMarket":
        raise InputError(f"{path} is a Matrix Market file: save the matrix with scipy's save_npz")
    return TextSheet(path, style, roles)


class TextSheet(Sheet):
    """A table in a text file: CSV and its relatives."""

    def __init__(self, path: Path, style: Style, roles: Sequence[str]) -> None:
        self.path = path
        self.text = TextFile(path, style.encoding)
        self.dialect = guess_dialect(self.text, style, lambda rows: looks_like_header(rows, roles))
        self.header, self.rows = self.dialect.header, self.dialect.rows
        self.said = self.dialect.said
        self.decimal_comma = self.dialect.delimiter == ";"
        self._comments = 0

    def row_number(self, row: int) -> int:
        """Return the number of the line that holds the row."""
        return self.text.line_of(row + (self.header is not None))

    def load(self, columns: Sequence[int], progress: Progress | None = None) -> list[Any]:
        """Read some columns as text, block by block."""
        pa = need("pyarrow", "files")
        below_header = self.header is None
        tables = []
        self._comments = 0
        for block in self.text.blocks(progress=progress):
            self._comments += block.comments
            if not below_header and block.data.strip(b"\n"):
                block = _without_first_row(block)
                below_header = True
            if block.data.strip(b"\n"):
                tables.append(self._parse(block, columns))
        table = pa.concat_tables(tables)
        return [table.column(str(i)) for i in columns]

    @property
    def notes(self) -> list[str]:
        """Say how many lines below the first row were taken for comments."""
        if not self._comments:
            return []
        told = "1 line below the first row begins with # or % and is skipped as a comment"
        if self._comments > 1:
            told = f"{self._comments:,} lines below the first row begin with # or % and are skipped"
        return [f"{self.path}: {told}; a name that begins so needs quotes"]

    def _parse(self, block: Block, columns: Sequence[int]) -> Any:
        pa, csv = need("pyarrow", "files"), need("pyarrow.csv", "files")
        blanks = self.dialect.delimiter == BLANKS
        data = tidied(block.data, self.dialect.delimiter)
        names = [str(i) for i in range(self.width)]
        wanted = [str(i) for i in dict.fromkeys(columns)]
        try:
            return csv.read_csv(
                pa.BufferReader(_arrows_own(data)),
                csv.ReadOptions(column_names=names, block_size=1 << 20),
                csv.ParseOptions(delimiter="\t" if blanks else self.dialect.delimiter),
                csv.ConvertOptions(
                    include_columns=wanted,
                    column_types=dict.fromkeys(wanted, pa.string()),
                    check_utf8=False,  # decoded already
                ),
            )
        except pa.ArrowInvalid as error:
            raise self._ragged(block) or InputError(f"{self.path}: {error}") from error

    def _ragged(self, block: Block) -> InputError | None:
        """Find the row that has too few columns, or too many."""
        lines = block.data.decode().rstrip("\n").split("\n")
        for number, line in enumerate(lines, block.first_line):
            count = len(split([line], self.dialect.delimiter)[0]) if line else self.width
            if count != self.width:
                last = number == block.first_line + len(lines) - 1
                short = "is the file cut off?" if last else "is a delimiter missing?"
                if line.count('"') % 2:
                    short = "is a quotation mark not closed?"
                found = "1 column" if count == 1 else f"{count} columns"
                return InputError(
                    f"{self.path}, row {number}: {found}, but {self.width} expected; "
                    f"{short if count < self.width else 'are quotes missing?'}"
                )
        return None


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
        columns = [map(_as_cell, column.to_pylist()) for column in first.columns]
        self.rows = tuple(zip(*columns, strict=True))
        self.said = "Parquet"

    def load(self, columns: Sequence[int], progress: Progress | None = None) -> list[Any]:
        """Read some columns, row group by row group."""
        pa = need("pyarrow", "files")
        assert self.header is not None
        wanted = [self.header[i] for i in dict.fromkeys(columns)]
        groups = []
        try:
            for i in range(self.file.num_row_groups):
                groups.append(self.file.read_row_group(i, columns=wanted))
                if progress is not None:
                    progress(i + 1, self.file.num_row_groups)
            table = pa.concat_tables(groups)
            table.validate(full=True)  # text of a damaged file need not be UTF-8
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{self.path} is cut off or damaged: {error}") from error
        return [table.column(self.header[i]) for i in columns]


class ArraySheet(Sheet):
    """The arrays of one ``.npz`` file, each a column; the columns of a matrix are several."""

    def __init__(self, path: Path) -> None:
        self.path = path
        columns = _columns(npz_arrays(path))
        if not columns:
            raise InputError(f"{path} holds no arrays of rows")
        sizes = {name: column.size for name, column in columns.items()}
        if len(set(sizes.values())) > 1:
            told = ", ".join(f"{name} {size}" for name, size in sizes.items())
            raise InputError(f"the arrays of {path} are not of one length: {told}")
        self.header, self.arrays = tuple(columns), tuple(columns.values())
        if not self.arrays[0].size:
            raise InputError(f"{path} has arrays but no rows")
        sample = [map(_as_cell, array[:_SAMPLE_ROWS].tolist()) for array in self.arrays]
        self.rows = tuple(zip(*sample, strict=True))
        self.said = "npz"

    def load(self, columns: Sequence[int], progress: Progress | None = None) -> list[Any]:
        """Hand over some of the arrays."""
        pa = need("pyarrow", "files")
        try:
            return [pa.chunked_array([pa.array(self.arrays[i])]) for i in columns]
        except pa.ArrowException as error:
            raise InputError(f"{self.path} holds what is no name and no number: {error}") from error


def _arrows_own(data: bytes) -> Any:
    """Return a copy that Arrow may free at any time.

    Its threads can be late to let go of what they have read. Bytes of Python's they would then
    have to free through an interpreter that may be ending, which aborts the process.
    """
    sink = need("pyarrow", "files").BufferOutputStream()
    sink.write(data)
    return sink.getvalue()


def _without_first_row(block: Block) -> Block:
    """Empty the first line that holds something."""
    return block._replace(data=re.sub(rb"\A(\n*)[^\n]+", rb"\1", block.data, count=1))


def npz_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Read every array of an npz file, none of them trusted."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as entries:
            return dict(entries)
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except Exception as error:  # numpy, zipfile and zlib each have errors of their own
        raise InputError(f"{path} is not an npz file, or is damaged: {error}") from error


def _columns(arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    columns: dict[str, NDArray[Any]] = {}
    for name, array in arrays.items():
        if array.ndim == 1:
            columns[name] = array
        elif array.ndim == 2:
            tall = array.T if array.shape[0] <= 3 < array.shape[1] else array
            columns |= {f"{name}.{i}": tall[:, i] for i in range(min(tall.shape[1], 16))}
    return columns


def _as_cell(value: object) -> str:
    return "" if value is None else str(value)
