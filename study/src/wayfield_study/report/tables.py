"""Tables of our own, for the page and as CSV, and numbers as powers of ten."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

_SUPERSCRIPTS = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"
_POWER = re.compile("(?:([0-9.]+)\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE})?10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_RAISED = str.maketrans(_SUPERSCRIPTS, "-0123456789")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")


@dataclass(frozen=True)
class Table:
    """A table as a reader sees it.

    Attributes
    ----------
    name, title, note : str
        File name, heading, and what to know.
    heads : sequence of str
        Of the columns; the first names the rows.
    rows : sequence of sequence of str
        As shown.
    """

    name: str
    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    @classmethod
    def of(
        cls,
        name: str,
        title: str,
        head: str,
        groups: Mapping[str, T],
        columns: Mapping[str, Callable[[T], str]],
        note: str = "",
    ) -> Table:
        """Return a table with a row for every group: its name, then each column's text of it.

        Parameters
        ----------
        name, title, note : str
            File name, heading, and what to know.
        head : str
            Heading of the column of names.
        groups : mapping of str
            What the rows are about, by their names.
        columns : mapping of str to function of a group
            What each column holds, by its heading.

        Examples
        --------
        >>> groups = {"odd": [1, 3], "even": [2]}
        >>> Table.of("n", "Numbers", "kind", groups, {"sum": lambda some: str(sum(some))}).rows
        [['odd', '4'], ['even', '2']]
        """
        rows = [
            [key, *(write(group) for write in columns.values())] for key, group in groups.items()
        ]
        return cls(name, title, [head, *columns], rows, note)


def as_csv(table: Table) -> str:
    r"""Write a table as CSV, numbers as programs read them.

    Examples
    --------
    >>> as_csv(Table("w", "Widths", ["r", "width"], [["4", "4.4\u00a0×\u00a010⁻¹⁶"]]))
    'r,width\n4,4.4e-16\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([table.heads, *([plain(entry) for entry in row] for row in table.rows)])
    return text.getvalue()


def plain(text: str) -> str:
    """Write numbers in a text without powers, thousands or typographic signs."""
    text = _POWER.sub(lambda found: f"{found[1] or 1}e{found[2].translate(_RAISED)}", text)
    return _THOUSANDS.sub("", text).replace("−", "-")


def power(value: float) -> str:
    """Write two digits and a power of ten.

    Examples
    --------
    >>> power(4.4e-16).split()
    ['4.4', '×', '10⁻¹⁶']
    """
    if value == 0:
        return "0"
    digits, exponent = f"{value:.1e}".split("e")
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", _SUPERSCRIPTS))
    return f"{digits}\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}10{raised}"
