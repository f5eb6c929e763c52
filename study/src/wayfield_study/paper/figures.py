"""The paper's figures as data: every number it prints, with its place and its precision.

They are typed table by table in ``figures.txt``, as printed, and read here. A table is a title, a
heading and rows. The heading names the keys of a row and, after a bar, the columns, each with the
kind of its figures::

    [by-r] Main rollouts by resolution @ §5.2
    r | harmonic:share amle:share lift:points
    4 | 0.850 0.993 +14.3

A figure's id is its table, row and column: ``by-r/r4/lift``. A key with a dot before its name, as
in ``.method``, goes into the id without the name. The precision of a figure is that of its text.
The kinds are in ``kinds.txt``. A figure of the kind ``set`` is vertices, typed as 12+13; as a
number it has one bit for each. One of the kind ``sentence`` is 1 if it holds, or in how many cases.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import resources

from wayfield.errors import InputError

from ..report import power

TITLE = "Planner-Admissible Graph-PDE Value Extensions for Sparse Goal-Conditioned Planning"
AUTHOR = "S. Zhang"
_LEFT_OUT = "-"
_LARGEST, _ROUNDING = 1000, 1e-12
"""Denominators of the fractions that are written as such, and how close a number must be."""


@dataclass(frozen=True)
class Figure:
    """One number of the paper.

    Attributes
    ----------
    table, row, column : str
        Where it stands; together its id.
    printed : str
        The number as the paper has it.
    kind : str
        What sort of number it is; see the top of the module.
    """

    table: str
    row: str
    column: str
    printed: str
    kind: str

    @property
    def id(self) -> str:
        """Stable name: table, row and column."""
        return f"{self.table}/{self.row}/{self.column}"

    @property
    def text(self) -> str:
        """The number as the paper has it, with signs and powers that read well.

        Examples
        --------
        >>> Figure("", "", "", "-0.0239", "order").text
        '−0.0239'
        """
        if self.kind == "set":
            return number(self.value, self)
        return power(self.value) if "e" in self.printed else self.printed.replace("-", "−")

    @property
    def value(self) -> float:
        """The number.

        Examples
        --------
        >>> Figure("", "", "", "36/29", "exact").value
        1.2413793103448276
        >>> Figure("", "", "", "1+3", "set").value
        10.0
        """
        if self.kind == "set":
            return float(sum(2 ** int(vertex) for vertex in self.printed.split("+")))
        return float(Fraction(self.printed.replace(",", "")))

    @property
    def unit(self) -> float:
        """One unit of the last digit; 0 if the number is a fraction.

        Examples
        --------
        >>> [Figure("", "", "", text, "").unit for text in ("0.970", "5.5e-2", "120", "4/3")]
        [0.001, 0.001, 1.0, 0.0]
        """
        if "/" in self.printed:
            return 0.0
        mantissa, _, exponent = self.printed.partition("e")
        return float(f"1e{int(exponent or 0) - len(mantissa.partition('.')[2])}")


@dataclass(frozen=True)
class PaperTable:
    """One table of the paper, or the numbers of one paragraph.

    Attributes
    ----------
    name : str
        First part of the ids of its figures.
    title, place : str
        What it shows, and where the paper prints it.
    keys, columns : tuple of str
        Names of what tells the rows apart, and of the columns.
    rows : tuple of tuple of str
        The keys of every row.
    figures : tuple of Figure
        Row by row, without the entries the paper leaves out.
    """

    name: str
    title: str
    place: str
    keys: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    figures: tuple[Figure, ...]

    def id(self, row: tuple[str, ...], column: str) -> str:
        """Return the id of the figure in a row and column."""
        return f"{self.name}/{_row_name(self.keys, row)}/{column}"

    @property
    def key_names(self) -> list[str]:
        """Names of the keys, without the dots.

        Examples
        --------
        >>> TABLES["solvers"].key_names
        ['p', 'solver']
        """
        return [key.removeprefix(".") for key in self.keys]


def read_tables(text: str) -> list[PaperTable]:
    """Read tables typed as at the top of the module.

    Examples
    --------
    >>> text = '''
    ... [by-r] Main rollouts by resolution @ §5.2
    ... r | harmonic:share amle:share
    ... 4 | 0.850 -
    ... '''
    >>> table, = read_tables(text)
    >>> table.title, table.place
    ('Main rollouts by resolution', '§5.2')
    >>> [(figure.id, figure.value) for figure in table.figures]
    [('by-r/r4/harmonic', 0.85)]
    """
    blocks: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith("["):
            blocks.append([])
        if line and not line.startswith("#"):
            blocks[-1].append(line)
    tables = []
    for title_line, heading, *lines in blocks:
        name, _, rest = title_line[1:].partition("] ")
        title, _, place = rest.partition(" @ ")
        keys, columns = (tuple(half.split()) for half in heading.split("|"))
        kinds = dict(column.split(":") for column in columns)
        rows: list[tuple[str, ...]] = []
        figures: list[Figure] = []
        for line in lines:
            row, entries = (tuple(half.split()) for half in line.split("|"))
            if len(row) != len(keys) or len(entries) != len(kinds):
                raise InputError(
                    f"{line!r} does not have {len(keys)} keys and {len(kinds)} columns"
                )
            rows.append(row)
            figures += [
                Figure(name, _row_name(keys, row), column, entry, kind)
                for (column, kind), entry in zip(kinds.items(), entries, strict=True)
                if entry != _LEFT_OUT
            ]
        tables.append(
            PaperTable(name, title, place, keys, tuple(kinds), tuple(rows), tuple(figures))
        )
    return tables


def _row_name(keys: Sequence[str], row: Sequence[str]) -> str:
    """Return the row's part of an id."""
    pairs = zip(keys, row, strict=True)
    return "/".join(entry if key.startswith(".") else key + entry for key, entry in pairs)


_DATA = resources.files(__package__)
TABLES = {
    table.name: table for table in read_tables(_DATA.joinpath("figures.txt").read_text("utf-8"))
}
"""The tables by name, in the order of the report."""
FIGURES = {figure.id: figure for table in TABLES.values() for figure in table.figures}
"""The figures by id."""


def read_lines(file: str, parts: int = 2) -> list[list[str]]:
    """Read lines of two parts or more with bars between them."""
    lines = _DATA.joinpath(file).read_text("utf-8").splitlines()
    split = (line.split(" | ", parts - 1) for line in lines if line and not line.startswith("#"))
    return [[part.strip() for part in line] for line in split]


NAMES = {line[0]: line[1] for line in read_lines("names.txt")}
"""What the report calls rows and columns; the rest keep their names."""
RESTATED = [(re.compile(pattern), sources) for pattern, sources in read_lines("restated.txt")]
KINDS = {name: (close, title) for name, close, title in read_lines("kinds.txt", 3)}
"""How close is close for each kind of figure, as text, and what such figures are."""
READINGS = {table: text for tables, text in read_lines("readings.txt") for table in tables.split()}
"""How we read what the paper leaves open, by table."""


def same_as(figure_id: str) -> str:
    """Return what a figure follows from; empty if it is independent of all others.

    Examples
    --------
    >>> same_as("by-r/r8/lift"), same_as("grid-large/r8/lf0.02/amle")
    ('by-r/r8/harmonic by-r/r8/amle', '')
    """
    for pattern, sources in RESTATED:
        if found := pattern.fullmatch(figure_id):
            return found.expand(sources)
    return ""


def value(figure_id: str) -> float:
    """Return a number of the paper.

    Examples
    --------
    >>> value("main/amle/success"), value("grid-large/r12/lf0.02/harmonic")
    (0.97, 0.167)
    """
    return FIGURES[figure_id].value


# -------------------------------------------------------------------- names and numbers as text


def shown_name(text: str) -> str:
    """Return the report's name of a row or column.

    Examples
    --------
    >>> shown_name("tau_mean"), shown_name("oracle_over_amle/r4"), shown_name("0.02")
    ('mean τ', 'oracle over AMLE, r4', '0.02')
    """
    return ", ".join(NAMES.get(part, part.replace("_", " ")) for part in text.split("/"))


def number(value: float, figure: Figure) -> str:
    r"""Write a number to the precision of the paper's, a fraction as a fraction.

    Examples
    --------
    >>> number(0.97049, Figure("", "", "", "0.970", "share"))
    '0.970'
    >>> number(4 / 3, Figure("", "", "", "4/3", "exact"))
    '4/3'
    >>> number(0.0557, Figure("", "", "", "5.5e-2", "residual"))
    '5.6\xa0×\xa010⁻²'
    """
    if figure.kind == "set":
        vertices = [bit for bit in range(int(value).bit_length()) if int(value) >> bit & 1]
        return "{" + ", ".join(map(str, vertices)) + "}"
    tiny = 0 < abs(value) < figure.unit and figure.kind in ("coarse", "residual")
    if "e" in figure.printed or tiny:
        return power(value)
    near = Fraction(value).limit_denominator(_LARGEST)
    if not figure.unit and abs(near - Fraction(value)) < _ROUNDING:
        return str(near).replace("-", "−")
    decimals = max(0, -round(math.log10(figure.unit))) if figure.unit else 3
    return f"{value:,.{decimals}f}".replace("-", "−")


def signed(value: float, figure: Figure) -> str:
    """Write a difference with its sign, zero without.

    Examples
    --------
    >>> signed(-0.0994, Figure("", "", "", "0.970", "share"))
    '−0.099'
    """
    if figure.kind == "set":  # sets have no difference
        return "" if value == 0 else "others"
    text = number(abs(value), figure)
    if not any(digit in "123456789" for digit in text):
        return text
    return ("+" if value > 0 else "−") + text
