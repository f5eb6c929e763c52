"""A table in a file: its columns as text, some rows at a time, and where each cell stands.

Text or Parquet: the content of the file decides, not its name. Text may be compressed, and is UTF-8
or what the byte-order mark says; else Windows-1252, with a remark, or the encoding that the user
names. Comments and blank lines are left out. Cells may be quoted, as in CSV; a quoted cell may span
several lines.

**Delimiter.** The one of tab, semicolon, comma and bar that splits most of the first lines into the
same number of columns; then the one with the most columns; then the one with the most columns of
numbers; ties in this order. A tab that splits all lines alike comes first. If none splits half of
the lines alike, the first that occurs in most lines. If there is none, runs of blanks. A first line
``sep=;`` states the delimiter.

**Header.** The first line is a header in two cases: it holds words expected there (``from``,
``node`` …), or nothing in it begins with a digit, while something below it does, apart from marks
for missing numbers.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import lzma
import re
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from itertools import filterfalse, islice
from pathlib import Path
from typing import Any

from ...checks import need
from ...errors import InputError, Message, Option
from ...words import number_of
from ..names import Names
from ..npz import most_unpacked, refuse_bomb
from .cells import mostly_numbers, unmarked
from .columns import looks_like_header

Progress = Callable[[int, int], None]
"""Called with the number of bytes read so far, and the total."""

_BATCH = 1 << 13
"""Rows of a Parquet file in a piece."""
OFTEN = 1 << 16
"""Progress is reported after this many lines."""
_ROWS_READ = 1024
"""Rows in a piece. Few, so that they are freed before Python's garbage collector scans them."""
_SAMPLE = 200
"""Number of first lines to examine."""
_UNPACKED: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
_ENCODING_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_NEVER_IN_TEXT = re.compile(rb"[\x00-\x08\x0e-\x19\x1c-\x1f]")
_LEGACY = "cp1252"
"""Encoding of text that is not UTF-8, if the user names none: that of Western Windows."""
_OTHERS = {
    rb"PK\x03\x04|\xd0\xcf\x11\xe0": "a workbook or an archive: save the sheet as CSV",
    rb"SQLite format 3": "a database: save its table of edges as CSV or Parquet",
    rb"%%MatrixMarket": "a Matrix Market file: save the matrix with scipy's save_npz",
    rb"version https://git-lfs": "a pointer to a file in Git LFS, not the file: git lfs pull",
    rb"(\xef\xbb\xbf)?\s*<": "HTML or XML, not a table: save it as CSV",
    rb"(\xef\xbb\xbf)?\s*[\[{]\s*[\[{\"]": "JSON, not a table: save it as CSV",
    rb"(c[^\n]*\n)*p sp ": "a DIMACS file: keep the lines that begin with a, as CSV",
}
"""Files whose beginning might pass for a table, by their first bytes."""

BLANKS = " "
"""Delimiter that stands for any run of blanks and tabs."""
_CANDIDATES = {"\t": "tab", ";": "semicolon", ",": "comma", "|": "bar"}
_ALIASES = {word: mark for mark, word in _CANDIDATES.items()} | {"\\t": "\t", "space": BLANKS}
_SEP = re.compile(r'"?sep=(.)"?[,;\t| ]*\n?', re.IGNORECASE)
"""First line of some spreadsheet files: it states the delimiter."""
_AROUND = " \t,;|\x1a\n"
"""What a line without content may hold; \x1a ended files on DOS."""
_RUN_OR_QUOTED = re.compile(r'("(?:[^"]|"")*")|[ \t]+')
_NUMBER_BEGUN = re.compile(r"[^\w\"']*\d")
_SUSPECTS = "#%" + _AROUND
"""First characters of lines that may be empty or comments."""
_MISSING = ("", "-", "--", ".", "?", "na", "n/a", "none", "null", "missing")
_CSV_ERRORS = {
    "unexpected end": "a quotation mark is not closed",
    "expected after": "a cell goes on after its closing quotation mark",
    "field limit": f"a cell of over {csv.field_size_limit():,} characters; is a quotation mark not "
    "closed?",
}


@dataclass(frozen=True)
class Style:
    """Settings for a text file; None means "guess"."""

    delimiter: str | None = None
    header: bool | None = None
    encoding: str | None = None
    decimal: str | None = None


class Sheet(ABC):
    """A table.

    Attributes
    ----------
    path : Path
        The file.
    header : tuple of str or None
        Names of the columns.
    rows : list of lists of str
        The first rows.
    said : str
        How the file was understood, as text.
    delimiter : str
        Delimiter between columns, if there is one.
    declared, fractional : set of int
        Columns that the file itself declares as numbers, and those of them with fractions.
    """

    path: Path
    header: tuple[str, ...] | None
    rows: Sequence[Sequence[str]]
    said: str
    delimiter = ""
    declared: frozenset[int] = frozenset()
    fractional: frozenset[int] = frozenset()

    @property
    def notes(self) -> list[str]:
        """Notes on parts of the file that were skipped; complete once the file has been read."""
        return []

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.rows[0] if self.header is None else self.header)

    @abstractmethod
    def pieces(
        self, columns: Sequence[int], progress: Progress | None = None
    ) -> Iterator[Sequence[Sequence[str]]]:
        """Read some columns as text, a number of rows at a time."""

    def row_number(self, row: int) -> int:
        """Return the number of a row in the file, counted from 1 as an editor does."""
        return row + 1

    def cell(self, row: int, column: int) -> str:
        """Return one cell, for a message; the file is read again up to it."""
        for (cells,) in self.pieces([column]):
            if row < len(cells):
                return cells[row].strip()
            row -= len(cells)
        raise AssertionError("the file has no such row")

    def called(self, column: int) -> str:
        """Return the name of a column for a message."""
        return str(column + 1) if self.header is None else repr(self.header[column])

    def place(self, row: int, column: int) -> str:
        """Return the position of a cell: file, row and column."""
        return f"{self.path}, row {self.row_number(row)}, column {self.called(column)}"

    def first_cells(self, column: int) -> list[str]:
        """Return the first cells of a column."""
        return [row[column].strip() for row in self.rows if column < len(row)]

    def numeric(self, column: int) -> bool:
        """Whether the first cells of a column are mostly numbers."""
        return mostly_numbers(self.first_cells(column))

    def counts(self, column: int) -> bool:
        """Whether the first cells of a column count up by one, as the numbers of rows do."""
        cells = self.first_cells(column)
        if len(cells) < 3 or not all(map(str.isdecimal, cells)) or int(cells[0]) not in (0, 1):
            return False
        return list(map(int, cells)) == [*range(int(cells[0]), int(cells[0]) + len(cells))]

    def num_named(self, column: int, names: Names) -> int:
        """Return how many of the first cells of a column are names of vertices."""
        return int((names.find(list(map(unmarked, self.first_cells(column)))) >= 0).sum())

    def understood(self, at: Mapping[str, int], besides: str = "") -> str:
        """Return the roles of the columns and the format of the file, as text."""
        word = "column " if self.header is None else ""
        text = ", ".join(f"{role} = {word}{self.called(i)}" for role, i in at.items())
        return f"{text}{besides}; {self.width} columns, {self.said}"


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
    for pattern, what in _OTHERS.items():
        if re.match(pattern, start):
            raise InputError(f"{path} is {what}")
    return TextSheet(path, style, roles)


class TextSheet(Sheet):
    """A table in a text file: CSV and similar formats."""

    def __init__(self, path: Path, style: Style, roles: Sequence[str]) -> None:
        self.path, self._notes = path, list[str]()
        self._read_content(style.encoding)

        # the delimiter
        text = io.TextIOWrapper(io.BytesIO(self._data), self._encoding)
        lines = list(islice(filterfalse(_is_nothing, text), _SAMPLE))
        declared = _SEP.fullmatch(lines[0]) if lines else None
        lines = lines[1:] if declared else lines
        if not lines:
            raise InputError(f"{path} is empty")
        given = style.delimiter or (declared[1] if declared else None)
        mark = _guess_delimiter(lines) if given is None else _ALIASES.get(given.lower(), given)
        if len(mark) != 1 or mark in '"\n\r':
            raise InputError(f"the delimiter must be one character, tab or space, got {given!r}")
        self.delimiter = mark

        # the header
        rows = _split(lines, mark)
        found = _has_header(rows, roles) if style.header is None else style.header
        self.header = tuple(map(str.strip, rows[0])) if found else None
        self.rows = rows[int(found) :]
        if not self.rows:
            for _ in self._rows():  # a row that cannot be cut raises here, with its number
                pass
            raise InputError(f"{path} has a header but no rows")
        wider = next((i for i, row in enumerate(self.rows) if len(row) > 1), None)
        if self.width == 1 and wider is not None:
            raise self._ragged(wider, self.rows[wider], False)
        between = {**_CANDIDATES, BLANKS: "blank"}.get(mark, repr(mark))
        self.said = f"{between} between columns, {'header found' if found else 'no header'}"

    def _read_content(self, named: str | None) -> None:
        """Read and decompress the file, and find its encoding.

        An encoding named by the user counts only if there is no byte-order mark and the file is not
        UTF-8. In encodings such as ISO-2022-JP all bytes are those of ASCII: there it counts too.
        """
        path, data = self.path, self.path.read_bytes()
        unpack = next((f for magic, f in _UNPACKED.items() if data.startswith(magic)), None)
        if unpack is not None:
            size = len(data)
            try:
                with unpack(io.BytesIO(data)) as file:
                    data = file.read(most_unpacked(size) + 1)
            except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
                raise InputError(f"{path} is cut off or damaged: {error}") from error
            refuse_bomb(path, size, len(data))
        if named is not None:
            try:
                io.TextIOWrapper(io.BytesIO(), named)  # rejects base64: not a text encoding
            except (LookupError, ValueError) as error:
                raise InputError(f"unknown encoding {named!r}") from error
        tried = [e for mark, e in _ENCODING_MARKS.items() if data.startswith(mark)][:1]
        if not tried:
            coded = b"\x00" in data or (data.isascii() and "a".encode(named or "utf-8") == b"a")
            tried = [named] if named and coded else ["utf-8", named or _LEGACY]
        encoding = next((each for each in tried if not _flaw(data, each)), tried[0])
        flaw, other = _flaw(data, encoding), Option("encoding", within="Style")
        guessed = encoding == _LEGACY and not named
        if "\x00" in flaw or ((flaw or guessed) and _NEVER_IN_TEXT.search(data)):
            raise InputError(f"{path} is not a text file, or not one in utf-8")
        if flaw:
            raise InputError(f"{path}, {flaw} is not {encoding} text; ", other, " names another")
        if guessed:
            note = f"{path}, {_flaw(data, 'utf-8')} is not UTF-8, so it is read as Windows-1252; "
            self._notes.append(Message(note, other, " names another encoding"))
        self._data, self._encoding = data, encoding

    def _rows(self, progress: Progress | None = None) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows, each with the number of the line on which it begins.

        Lines without content are left out, but not within a quoted cell. Comments below the first
        row are counted, and so are lines that continue a cell.
        """
        self._comments = self._within = line_of_row = 0
        begun = False

        def lines() -> Iterator[str]:
            nonlocal line_of_row, begun
            data, size = io.BytesIO(self._data), len(self._data)
            for number, line in enumerate(io.TextIOWrapper(data, self._encoding), 1):
                if progress is not None and number % OFTEN == 0:
                    progress(data.tell(), size)
                if begun:
                    self._within += 1
                elif line[0] in _SUSPECTS and _is_nothing(line):
                    self._comments += line_of_row > 0 and line.strip(_AROUND) != ""
                    continue
                elif number == 1 and _SEP.fullmatch(line):
                    continue
                else:
                    begun, line_of_row = True, number
                yield line

        try:
            for row in _cut(lines(), self.delimiter, strict=True):
                begun = False
                yield line_of_row, row
        except csv.Error as error:
            why = next(why for kind, why in _CSV_ERRORS.items() if kind in str(error))
            raise InputError(f"{self.path}, row {line_of_row}: {why}") from error

    def pieces(
        self, columns: Sequence[int], progress: Progress | None = None
    ) -> Iterator[Sequence[Sequence[str]]]:
        """Read some columns."""
        done, rows = 0, islice(self._rows(progress), int(self.header is not None), None)
        while batch := [row for _, row in islice(rows, _ROWS_READ)]:
            if set(map(len, batch)) != {self.width}:
                short = next(i for i, row in enumerate(batch) if len(row) != self.width)
                last = len(batch) < _ROWS_READ and short == len(batch) - 1
                raise self._ragged(done + short, batch[short], last)
            cells = tuple(zip(*batch, strict=True))
            yield [cells[i] for i in columns]
            done += len(batch)
        if progress is not None:
            progress(len(self._data), len(self._data))

    @property
    def notes(self) -> list[str]:
        """Notes on the encoding, and on lines read as comments or as parts of cells."""
        notes, lines = list(self._notes), number_of(self._comments, "lines")
        if self._comments:
            skipped = "skipped below the first row, because of # or %"
            quotes = "a name that begins like this needs quotes"
            notes.append(f"{self.path}: {lines} {skipped}; {quotes}")
        if self._within:
            lines = number_of(self._within, "lines")
            why = "inside quoted cells; is a closing quotation mark missing?"
            notes.append(f"{self.path}: {lines} {why}")
        return notes

    def row_number(self, row: int) -> int:
        """Return the number of the line on which the row begins."""
        line, _ = next(islice(self._rows(), row + int(self.header is not None), None))
        return line

    def _ragged(self, row: int, cells: Sequence[str], last: bool) -> InputError:
        """Return an error for a row with too few or too many columns."""
        found = "1 column" if len(cells) == 1 else f"{len(cells)} columns"
        why = "are quotes missing?"
        if self.width == 1:
            why = f"is row {next(self._rows())[0]} a title? Leave it out, or write # before it"
        elif len(cells) < self.width:
            why = "is the file cut off?" if last else "is a delimiter missing?"
        elif not any(cells[self.width :]):
            why = "does the row end in a delimiter?"
        elif self.delimiter == ",":
            why = "are quotes missing, or are there decimal commas?"
        number = self.row_number(row)
        return InputError(f"{self.path}, row {number}: {found}, but {self.width} expected; {why}")


def _flaw(data: bytes, encoding: str) -> str:
    """Return the first byte that an encoding has not, with its row; a NUL; or nothing."""
    try:
        # as a stream is decoded: without a byte-order mark, UTF-16 is refused
        text = codecs.getincrementaldecoder(encoding)().decode(data, True)
    except UnicodeError as error:
        if not isinstance(error, UnicodeDecodeError):
            return "row 1"
        before = data[: error.start].replace(b"\r\n", b"\n")
        row = 1 + before.count(b"\n") + before.count(b"\r")
        return f"row {row}: byte 0x{data[error.start]:02x}"
    return "\x00" if "\x00" in text else ""


def _is_nothing(line: str) -> bool:
    """Whether a line is blank, a comment, or nothing but delimiters."""
    return not line.strip(_AROUND) or line.lstrip(" \t")[:1] in ("#", "%")


def _cut(lines: Iterable[str], delimiter: str, strict: bool = False) -> Iterator[list[str]]:
    """Split lines into cells; with `strict`, stray quotation marks are errors."""
    if delimiter == BLANKS:  # runs of blanks outside quotes become one tab
        delimiter, bare = "\t", (line.strip(" \t\n") for line in lines)
        lines = (_RUN_OR_QUOTED.sub(lambda found: found[1] or "\t", line) + "\n" for line in bare)
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=strict)


def _split(lines: list[str], delimiter: str) -> list[list[str]]:
    """Split the first lines into cells; errors in them are raised when the file is read."""
    rows: list[list[str]] = []
    with suppress(csv.Error):
        rows.extend(_cut(lines, delimiter))
    return rows or [[""]]


def _guess_delimiter(lines: list[str]) -> str:
    """Choose the candidate that splits the most lines into equally many columns, then into most."""
    merits: dict[str, tuple[float, int, int]] = {}
    whole = "".join(lines)
    for mark in filter(whole.__contains__, _CANDIDATES):
        rows = _split(lines, mark)
        width, count = max(Counter(map(len, rows)).items(), key=lambda item: (item[1], item[0]))
        if width > 1 and 2 * count >= len(rows):
            columns = zip(*[row for row in rows if len(row) == width], strict=True)
            merits[mark] = count / len(rows), width, sum(map(mostly_numbers, columns))
    if merits.get("\t", (0,))[0] == 1:
        return "\t"
    if merits:
        return max(merits, key=lambda mark: merits[mark])
    # rows of different lengths: reading them will raise an error
    occurs = (mark for mark in _CANDIDATES if 2 * sum(mark in line for line in lines) > len(lines))
    return next(occurs, BLANKS)


def _has_header(rows: list[list[str]], roles: Sequence[str]) -> bool:
    """Whether the first row is a header, by its words or because numbers stand below it.

    No cell of a header begins like a number (5 km, €7), and at least one of its words heads a
    column of mostly numbers.
    """
    first, below = rows[0], zip(*[row for row in rows[1:] if len(row) == len(rows[0])], strict=True)
    return looks_like_header(rows, roles) or (
        not any(map(_NUMBER_BEGUN.match, first))
        and any(
            cell.strip().lower() not in _MISSING and mostly_numbers(column)
            for cell, column in zip(first, below, strict=False)
        )
    )


class ParquetSheet(Sheet):
    """A table in a Parquet file."""

    header: tuple[str, ...]

    def __init__(self, path: Path) -> None:
        self.path, self.said = path, "Parquet"
        parquet, pa = need("pyarrow.parquet", "files"), need("pyarrow", "files")
        try:
            self._file = parquet.ParquetFile(path)
            schema = self._file.schema_arrow
            self.header = tuple(schema.names)
            kinds, types = list(enumerate(schema.types)), pa.types
            self.fractional = frozenset(
                i for i, kind in kinds if types.is_floating(kind) or types.is_decimal(kind)
            )
            self.declared = self.fractional | {i for i, kind in kinds if types.is_integer(kind)}
            first = next(self._file.iter_batches(_SAMPLE), None)
            if first is not None:
                first.validate(full=True)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path} is not a Parquet file, or is cut off: {error}") from error
        if first is None or not first.num_rows:
            raise InputError(f"{path} has columns but no rows")
        refuse_bomb(path, path.stat().st_size, self._file.metadata.num_rows)
        columns = [map(_as_cell, column.to_pylist()) for column in first.columns]
        self.rows = list(zip(*columns, strict=True))

    def pieces(
        self, columns: Sequence[int], progress: Progress | None = None
    ) -> Iterator[Sequence[Sequence[str]]]:
        """Read some columns, a batch of rows at a time."""
        pa = need("pyarrow", "files")
        wanted = [self.header[i] for i in dict.fromkeys(columns)]
        twice = next((name for name in wanted if self.header.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"{self.path} has two columns {twice!r}")
        done, total = 0, self._file.metadata.num_rows
        try:
            for batch in self._file.iter_batches(_BATCH, columns=wanted):
                batch.validate(full=True)  # text of a damaged file need not be UTF-8
                yield [self._text(batch.column(self.header[i]), i) for i in columns]
                done += batch.num_rows
                if progress is not None:
                    progress(done, total)
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{self.path} is cut off or damaged: {error}") from error

    def _text(self, column: Any, index: int) -> list[str]:
        """Return an Arrow column as text; a missing cell is empty."""
        pa = need("pyarrow", "files")
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if index in self.fractional:
            column = column.cast(pa.float64())
        if pa.types.is_duration(column.type):
            return [_as_cell(value) for value in column.cast(pa.duration("us"), False).to_pylist()]
        try:
            cells = column.cast(pa.string()).fill_null("")
            return list(cells.to_numpy(zero_copy_only=False).tolist())  # quicker than to_pylist
        except pa.ArrowException as error:
            where = f"{self.path}, column {self.called(index)}"
            raise InputError(f"{where}: {column.type} is neither a name nor a number") from error


def _as_cell(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, timedelta):  # as text: h:mm:ss
        minutes, seconds = divmod(value.total_seconds(), 60.0)
        return f"{minutes // 60:.0f}:{minutes % 60:02.0f}:{seconds:09.6f}"
    return "" if value is None else str(value)
