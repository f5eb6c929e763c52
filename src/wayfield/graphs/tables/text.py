"""Text files as lines, and lines as rows of cells.

Files are decompressed and decoded; comments and blank lines are left out. Cells may be quoted, as
in CSV; a quoted cell may span several lines.

A file is read in pieces, one in memory at a time. Nothing about it is assumed: it may not be text,
a line may never end, and it may be far larger when decompressed.
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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO

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
_MARKS = (
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

        An encoding named by the user counts only if there is no mark and the file is not UTF-8.
        """
        with self.path.open("rb") as raw:
            start = _unpacked(raw).read(4)
        for mark, name in _MARKS:
            if start.startswith(mark):
                return name, True
        if self.encoding is not None:
            with self.path.open("rb") as raw, io.TextIOWrapper(_unpacked(raw), "utf-8") as text:
                try:
                    while piece := text.read(LONGEST_LINE):
                        if "\x00" in piece:
                            return self.encoding, False
                except UnicodeDecodeError:
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


class Rows:
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
