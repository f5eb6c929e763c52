"""Text files as lines, lines as rows of cells, and the dialect that they are written in.

Files are decompressed and decoded; comments and blank lines are left out. Cells may be quoted, as
in CSV; a quoted cell may span several lines.

A file is read in pieces, one in memory at a time. Nothing about it is assumed: it may not be text,
a line may never end, and it may be far larger when decompressed.

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

import bz2
import codecs
import csv
import gzip
import io
import lzma
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import filterfalse, islice
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple

from ...errors import InputError, Option
from ..npz import refuse_bomb

Progress = Callable[[int, int], None]
"""Called with the number of bytes read so far, and the total."""

OFTEN = 1 << 16
"""Progress is reported, and the size of a compressed file checked, after this many lines."""

LONGEST_LINE = 1 << 20
"""Largest number of characters in a line; a longer one is not a row of a table."""

_PACKED: tuple[tuple[bytes, Callable[[IO[bytes]], Any]], ...] = (
    (b"\x1f\x8b", lambda raw: gzip.GzipFile(fileobj=raw)),
    (b"BZh", bz2.BZ2File),
    (b"\xfd7zXZ\x00", lzma.LZMAFile),
)
_ENCODING_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NEVER_IN_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")

BLANKS = " "
"""Delimiter that stands for any run of blanks and tabs."""

SEP = re.compile(r'"?sep=(.)"?[,;\t| ]*', re.IGNORECASE)
"""First line of some spreadsheet files: it states the delimiter."""

_SUSPECTS = "#% \t,;|\x1a"
"""First characters of lines that may be empty or comments; the last one ended files on DOS."""
_RUN = re.compile(r"[ \t]+")
_RUN_OR_QUOTED = re.compile(r'("(?:[^"]|"")*")|[ \t]+')

_SAMPLE = 200
"""Number of first lines to examine."""
_CANDIDATES = ("\t", ";", ",", "|")
_NAMES = {"\t": "tab", ";": "semicolon", ",": "comma", "|": "bar", BLANKS: "blank"}
_ALIASES = {"tab": "\t", "\\t": "\t", "semicolon": ";", "comma": ",", "bar": "|", "space": BLANKS}
_NUMBER_LIKE = re.compile(
    r"[-+−]?(?=[.,]?[0-9])[0-9.,_'’\s]+(e[-+]?[0-9]+)?|[-+]?(inf(inity)?|nan)"
)
DURATION = re.compile(r"(?:([0-9]+):([0-5]?[0-9])|([0-9]+)):([0-5][0-9](?:[.,][0-9]+)?)")
"""Matches h:mm:ss, and also h:mm or mm:ss, which cannot be told apart."""
_NUMBER_BEGUN = re.compile(r"[^\w\"']*\d")
_MISSING = ("", "-", "--", ".", "?", "na", "n/a", "none", "null", "missing")


@dataclass(frozen=True)
class Style:
    """Settings for a text file; None means "guess"."""

    delimiter: str | None = None
    header: bool | None = None
    encoding: str | None = None
    decimal: str | None = None


@dataclass(frozen=True)
class TextFile:
    """A text file, perhaps compressed.

    Attributes
    ----------
    path : Path
        Where it is.
    encoding : str or None
        Encoding to use if there is no byte-order mark and the file is not UTF-8.
    """

    path: Path
    encoding: str | None = None

    def __post_init__(self) -> None:
        if self.encoding is not None:
            try:
                io.TextIOWrapper(io.BytesIO(), self.encoding)  # rejects base64: not a text encoding
            except (LookupError, ValueError) as error:
                raise InputError(f"unknown encoding {self.encoding!r}") from error

    def lines(self, progress: Progress | None = None) -> Iterator[str]:
        """Yield the lines of the file, without line ends."""
        number, size, total = 0, 0, self.path.stat().st_size
        encoding, marked = "utf-8", False
        try:
            encoding, marked = self._encoding()
            # TextIOWrapper decodes piece by piece and turns every line ending into a newline
            with self.path.open("rb") as raw, io.TextIOWrapper(_unpacked(raw), encoding) as text:
                text.read(int(marked))
                while line := text.readline(LONGEST_LINE + 2):
                    number, size = number + 1, size + len(line)
                    if len(line) > LONGEST_LINE + 1:
                        raise InputError(
                            f"{self.path}, row {number}: a line of over {LONGEST_LINE:,} "
                            "characters, which cannot be a row of a table"
                        )
                    if "\x00" in line:
                        raise InputError(
                            f"{self.path} is not a text file, or not one in {encoding}"
                        )
                    if number % OFTEN == 0:
                        refuse_bomb(self.path, total, size)
                        if progress is not None:
                            progress(raw.tell(), total)
                    yield line.removesuffix("\n")
            if progress is not None:
                progress(total, total)
        except UnicodeError as error:
            raise self._undecodable(error, number, encoding) from error
        except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
            raise InputError(f"{self.path} is cut off or damaged: {error}") from error

    def _encoding(self) -> tuple[str, bool]:
        """Return the encoding, and whether the file begins with a byte-order mark.

        An encoding named by the user counts only if there is no mark and the file is not UTF-8. In
        encodings such as ISO-2022-JP all bytes are those of ASCII: there it counts too.
        """
        with self.path.open("rb") as raw:
            start = _unpacked(raw).read(4)
        for mark, name in _ENCODING_MARKS:
            if start.startswith(mark):
                return name, True
        if self.encoding is not None:
            ascii_alone = "a".encode(self.encoding) == b"a"
            with self.path.open("rb") as raw, io.TextIOWrapper(_unpacked(raw), "utf-8") as text:
                try:
                    while piece := text.read(LONGEST_LINE):
                        if "\x00" in piece:
                            return self.encoding, False
                        ascii_alone = ascii_alone and piece.isascii()
                except UnicodeDecodeError:
                    return self.encoding, False
            if ascii_alone:
                return self.encoding, False
        return "utf-8", False

    def _undecodable(self, error: UnicodeError, lines: int, encoding: str) -> InputError:
        what = str(error)
        if isinstance(error, UnicodeDecodeError):
            if _NEVER_IN_TEXT.search(error.object):
                return InputError(f"{self.path} is not a text file, or not one in {encoding}")
            before = error.object[: error.start].replace(b"\r\n", b"\n")
            lines += before.count(b"\n") + before.count(b"\r")
            what = f"byte 0x{error.object[error.start]:02x} cannot be read"
        text = f"{self.path}, row {lines + 1}: not {encoding} text, {what}"
        if self.encoding:
            return InputError(text)
        latin = Option("encoding", "latin-1", "Style")
        return InputError(text, "; if it is Latin-1 (Windows), pass ", latin)


def _unpacked(raw: BinaryIO) -> Any:
    """Return the file as it is, or decompressed."""
    start = raw.read(6)
    raw.seek(0)
    unpack = next((f for magic, f in _PACKED if start.startswith(magic)), None)
    return raw if unpack is None else unpack(raw)


class TextRows:
    """The rows of a text table.

    Attributes
    ----------
    line : int
        Line on which the last row began, counted from 1.
    comments : int
        Comments below the first row, so far.
    within : int
        Lines so far that continue a cell begun on an earlier line.
    """

    def __init__(self, file: TextFile, delimiter: str, progress: Progress | None = None) -> None:
        self.file, self.delimiter, self.progress = file, delimiter, progress
        self.line = self.comments = self.within = 0
        self._begun = False

    def __iter__(self) -> Iterator[list[str]]:
        self.line = self.comments = self.within = 0
        self._begun = False
        try:
            for row in cut(self._lines(), self.delimiter, strict=True):
                self._begun = False
                yield row
        except csv.Error as error:
            why = "a quotation mark is not closed"
            if "expected after" in str(error):
                why = "a cell goes on after its closing quotation mark"
            if "field limit" in str(error):
                most = csv.field_size_limit()
                why = f"a cell of over {most:,} characters; is a quotation mark not closed?"
            raise InputError(f"{self.file.path}, row {self.line}: {why}") from error

    def _lines(self) -> Iterator[str]:
        """Yield the lines with content; once a row has begun, every line until it is complete."""
        for number, line in enumerate(self.file.lines(self.progress), 1):
            if self._begun:
                self.within += 1
            elif line[:1] in _SUSPECTS and is_nothing(line):
                self.comments += self.line > 0 and line.strip(_SUSPECTS[2:]) != ""
                continue
            elif number == 1 and SEP.fullmatch(line):
                continue
            else:
                self._begun, self.line = True, number
            yield line


def cut(lines: Iterator[str], delimiter: str, strict: bool = False) -> Iterator[list[str]]:
    """Split lines into cells; with `strict`, stray quotation marks are errors."""
    mark = delimiter
    if delimiter == BLANKS:  # runs of blanks outside quotes become one tab
        bare, mark = (line.strip(" \t") for line in lines), "\t"
        lines = (
            _RUN_OR_QUOTED.sub(lambda found: found[1] or "\t", line)
            if '"' in line
            else _RUN.sub("\t", line)  # the same, and quicker
            for line in bare
        )
    ended = map("{}\n".format, lines)
    return csv.reader(ended, delimiter=mark, skipinitialspace=True, strict=strict)


def is_nothing(line: str) -> bool:
    """Whether a line is blank, a comment, or nothing but delimiters."""
    return not line.strip(_SUSPECTS[2:]) or line.lstrip(" \t")[:1] in ("#", "%")


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
    header = tuple(map(str.strip, rows[0])) if found else None
    body = tuple(map(tuple, rows[int(found) :]))
    if not body:
        for _ in TextRows(file, delimiter):  # a row that cannot be cut raises here, with its number
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

    Malformed numbers, such as 1.234,5 or 12%, count too, and so do durations, h:mm:ss.
    """
    filled = list(filter(None, map(str.strip, cells)))
    meant = [cell for cell in filled if _NUMBER_LIKE.fullmatch(cell.lower().removesuffix("%"))]
    timed = [cell for cell in filled if DURATION.fullmatch(cell)]
    return bool(filled) and 2 * (len(meant) + len(timed)) >= len(filled)


def _guess_delimiter(lines: list[str]) -> str:
    """Choose the candidate that splits the most lines into equally many columns, then into most."""
    best, merit, whole = BLANKS, (0.0, 1, 0), "\n".join(lines)
    for mark in _CANDIDATES:
        if mark not in whole:
            continue
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
