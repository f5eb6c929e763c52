"""Text tables as streams of whole lines: compression, encoding and comments dealt with.

Whatever the file is, what comes out is blocks of UTF-8 lines ending in a newline, one block in
memory at a time. Comments and blank lines are emptied, not removed, so that the number of a line
in the file can be told from its place in a block.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any, NamedTuple

from ..errors import InputError

Progress = Callable[[int, int], None]
"""Told how many bytes of how many have been read."""

BLOCK = 16 << 20
_SAMPLE = 1 << 16
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
_SUSPECTS = (b"#", b"%", b" ", b"\t", b",", b";", b"|")
_EMPTY = re.compile(rb"^(?:[ \t,;|]+|[ \t]*[#%][^\n]*)$", re.MULTILINE)
_COMMENT = re.compile(rb"^[ \t]*[#%]", re.MULTILINE)
_NEVER_IN_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


class Block(NamedTuple):
    """Whole lines, and the number of the first of them in the file, counted from 1.

    Of the lines that were emptied, `comments` counts the comments below the file's first row.
    """

    first_line: int
    data: bytes
    comments: int = 0


@dataclass(frozen=True)
class TextFile:
    """A text file, perhaps compressed.

    Attributes
    ----------
    path : Path
        Where it is.
    encoding : str or None
        Its encoding if it has no byte-order mark and is not UTF-8.
    """

    path: Path
    encoding: str | None = None

    def __post_init__(self) -> None:
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except LookupError as error:
                raise InputError(f"unknown encoding {self.encoding!r}") from error

    def blocks(self, size: int = BLOCK, progress: Progress | None = None) -> Iterator[Block]:
        """Read the file from its beginning, comments and blank lines emptied."""
        line, rest, begun = 1, b"", False
        for text in self._decoded(size, progress):
            rest += text
            cut = rest.rfind(b"\n") + 1
            if cut:
                block, rest = Block(line, rest[:cut]), rest[cut:]
                line += block.data.count(b"\n")
                yield (block := _cleaned(block, begun))
                begun = begun or bool(block.data.strip(b"\n"))
        if rest:
            yield _cleaned(Block(line, rest + b"\n"), begun)

    def sample(self, most: int = 200) -> list[str]:
        """Return the first lines that hold something."""
        lines: list[str] = []
        for block in self.blocks(_SAMPLE):
            lines += [line for line in block.data.decode().split("\n") if line]
            if len(lines) >= most:
                break
        return lines[:most]

    def line_of(self, row: int) -> int:
        """Return the number of the line that holds row `row`, both counted: 0 is the first row."""
        seen = 0
        for block in self.blocks():
            for number, line in enumerate(block.data.split(b"\n"), block.first_line):
                if line:
                    if seen == row:
                        return number
                    seen += 1
        raise AssertionError(f"{self.path} has no row {row}")

    def _decoded(self, size: int, progress: Progress | None) -> Iterator[bytes]:
        """Read pieces of the file as UTF-8 with newlines at the ends of lines."""
        chunks = self._chunks(size, progress)
        first = next(chunks, b"")
        mark, encoding = next(
            ((mark, name) for mark, name in _MARKS if first.startswith(mark)), (b"", "utf-8")
        )
        if not mark and self.encoding is not None and not self._is_utf8:
            encoding = self.encoding
        decoder = codecs.getincrementaldecoder(encoding)()
        lines, held, chunk, ends = 0, "", first[len(mark) :], False
        while not ends:
            following = next(chunks, b"")
            ends = not following
            try:
                text = decoder.decode(chunk, final=ends)
            except UnicodeError as error:
                raise self._undecodable(error, lines, encoding) from error
            if "\x00" in text:
                raise InputError(f"{self.path} is not a text file, or not one in {encoding}")
            text = held + text
            held = "\r" if text.endswith("\r") and not ends else ""  # its newline may follow
            text = text.removesuffix(held).replace("\r\n", "\n").replace("\r", "\n")
            lines += text.count("\n")
            yield text.encode()
            chunk = following

    @cached_property
    def _is_utf8(self) -> bool:
        """Whether all of the file is UTF-8, whatever the user says about files that are not."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            texts = (decoder.decode(chunk) for chunk in self._chunks(BLOCK, None))
            return not any("\x00" in text for text in texts)
        except UnicodeDecodeError:
            return False

    def _chunks(self, size: int, progress: Progress | None) -> Iterator[bytes]:
        """Read pieces of the file as bytes, unpacked."""
        with self.path.open("rb") as raw:
            total = self.path.stat().st_size
            start = raw.read(6)
            raw.seek(0)
            unpack = next((f for magic, f in _PACKED if start.startswith(magic)), None)
            file = raw if unpack is None else unpack(raw)
            try:
                while chunk := file.read(size):
                    if progress is not None:
                        progress(raw.tell(), total)
                    yield chunk
            except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, OSError) as error:
                raise InputError(f"{self.path} is cut off or damaged: {error}") from error

    def _undecodable(self, error: UnicodeError, lines: int, encoding: str) -> InputError:
        what = str(error)
        if isinstance(error, UnicodeDecodeError):
            if _NEVER_IN_TEXT.search(error.object):
                return InputError(f"{self.path} is not a text file, or not one in {encoding}")
            lines += error.object[: error.start].count(b"\n")
            what = f"byte 0x{error.object[error.start]:02x} cannot be read"
        hint = "" if self.encoding else "; if it is Latin-1 (Windows), pass --encoding latin-1"
        return InputError(f"{self.path}, row {lines + 1}: not {encoding} text, {what}{hint}")


def _cleaned(block: Block, begun: bool) -> Block:
    """Empty comments, and lines of nothing but delimiters; most blocks have neither.

    Comments are counted below the first row, which an earlier block may hold: then it has `begun`.
    """
    data = block.data
    if data[:1] not in _SUSPECTS and not any(b"\n" + mark in data for mark in _SUSPECTS):
        return block
    kept = _EMPTY.sub(b"", data)
    above = 0 if begun else len(kept) - len(kept.lstrip(b"\n"))
    below = data.split(b"\n", above)[-1]
    return block._replace(data=kept, comments=len(_COMMENT.findall(below)))
