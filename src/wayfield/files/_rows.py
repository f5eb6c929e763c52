"""Rows of a text table: lines cut into cells, comments and blank lines left out, lines counted.

Cells are in quotes or not, as in CSV; a cell in quotes may run over several lines.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from ..errors import InputError
from ._text import Progress, TextFile

BLANKS = " "
"""Delimiter that stands for any run of blanks and tabs."""

SEP = re.compile(r'"?sep=(.)"?[,;\t| ]*', re.IGNORECASE)
"""First line of some files, written and read by spreadsheets: what stands between columns."""

_SUSPECTS = "#% \t,;|\x1a"
"""Beginnings of lines that may hold nothing; the last is how files ended on DOS."""
_RUN = re.compile(r"[ \t]+")
_RUN_OR_QUOTED = re.compile(r'("(?:[^"]|"")*")|[ \t]+')


class Rows:
    """The rows of a text table, from its beginning.

    Attributes
    ----------
    line : int
        Line on which the last row began, counted from 1.
    comments : int
        Comments below the first row, so far.
    within, first_within : int
        Lines that belong to a cell begun on a line before, so far, and the first such row's line.
    """

    def __init__(self, file: TextFile, delimiter: str, progress: Progress | None = None) -> None:
        self.file, self.delimiter, self.progress = file, delimiter, progress
        self.line = self.comments = self.within = self.first_within = 0
        self._begun = False

    def __iter__(self) -> Iterator[list[str]]:
        self.line = self.comments = self.within = self.first_within = 0
        self._begun = False
        try:
            for row in cut(self._lines(), self.delimiter, strict=True):
                self._begun = False
                yield row
        except csv.Error as error:
            raise InputError(f"{self.file.path}, row {self.line}: {_said(error)}") from error

    def _lines(self) -> Iterator[str]:
        """Lines that hold something; once a row is begun, every line until it is whole."""
        for number, line in enumerate(self.file.lines(self.progress), 1):
            if self._begun:
                self.within += 1
                self.first_within = self.first_within or self.line
            elif line[:1] in _SUSPECTS and is_nothing(line):
                self.comments += self.line > 0 and line.strip(_SUSPECTS[2:]) != ""
                continue
            elif number == 1 and SEP.fullmatch(line):
                continue
            else:
                self._begun, self.line = True, number
            yield line


def cut(lines: Iterator[str], delimiter: str, strict: bool = False) -> Iterator[list[str]]:
    """Cut lines into cells; `strict` about quotation marks."""
    mark = delimiter
    if delimiter == BLANKS:
        lines, mark = map(_tabbed, lines), "\t"
    ended = (f"{line}\n" for line in lines)
    return csv.reader(ended, delimiter=mark, skipinitialspace=True, strict=strict)


def is_nothing(line: str) -> bool:
    """Whether a line is blank, a comment, or nothing but delimiters."""
    return not line.strip(_SUSPECTS[2:]) or line.lstrip(" \t")[:1] in ("#", "%")


def _tabbed(line: str) -> str:
    """Return a line in which runs of blanks outside quotes are one tab."""
    line = line.strip(" \t")
    if '"' not in line:
        return _RUN.sub("\t", line)
    return _RUN_OR_QUOTED.sub(lambda found: found[1] or "\t", line)


def _said(error: csv.Error) -> str:
    """Say in other words what the csv module complains about."""
    if "expected after" in str(error):
        return "a cell goes on after its closing quotation mark"
    if "field limit" in str(error):
        most = csv.field_size_limit()
        return f"a cell of over {most:,} characters; is a quotation mark not closed?"
    return "a quotation mark is not closed"
