"""The paper's figures as data: every number it prints, with its place and its precision.

They are typed table by table in ``figures.txt``, as printed, and read here. A table is a title, a
heading and rows. The heading names the keys of a row and, after a bar, the columns, each with the
kind of its figures::

    [by-r] Main rollouts by resolution @ §5.2
    r | harmonic:share amle:share lift:points
    4 | 0.850 0.993 +14.3

A figure's id is its table, row and column: ``by-r/r4/lift``. A key with a dot before its name, as
in ``.method``, goes into the id without the name. The precision of a figure is that of its text.
The kinds:

=================  ============================================================================
share, share5      success or failure over many cells; over the five cells of one configuration
rare               a share of a few per cent
points, points5    difference of two such shares, in percentage points
spread             standard deviation of a share over cells
order              rate or mean of the ordering audit
percent, trace     rate in per cent; one of hardly any
residual           residual after a fixed number of sweeps
coarse             residual of a solver, or budget, whose details the paper leaves open
cells, cells24     number of cells, of 120 or of 24
count              number of decisions, or of candidates of a search
exact              what mathematics, or the maps, settle
=================  ============================================================================
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from importlib import resources

from wayfield.errors import InputError

TITLE = "Planner-Admissible Graph-PDE Value Extensions for Sparse Goal-Conditioned Planning"
AUTHOR = "S. Zhang"
_LEFT_OUT = "-"


@dataclass(frozen=True)
class Figure:
    """One number of the paper.

    Attributes
    ----------
    id : str
        Stable name: table, row and column.
    table, row, column : str
        The parts of the id.
    printed : str
        The number as the paper has it.
    kind : str
        What sort of number it is; see the top of the module.
    """

    id: str
    table: str
    row: str
    column: str
    printed: str
    kind: str

    @property
    def value(self) -> float:
        """The number.

        Examples
        --------
        >>> Figure("", "", "", "", "36/29", "exact").value
        1.2413793103448276
        """
        return float(Fraction(self.printed.replace(",", "")))

    @property
    def unit(self) -> float:
        """One unit of the last digit; 0 if the number is a fraction.

        Examples
        --------
        >>> [Figure("", "", "", "", text, "").unit for text in ("0.970", "5.5e-2", "120", "4/3")]
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
        """Id of the figure in a row and column."""
        return f"{self.name}/{self.row_name(row)}/{column}"

    def row_name(self, row: tuple[str, ...]) -> str:
        """Return the row's part of an id."""
        pairs = zip(self.keys, row, strict=True)
        return "/".join(entry if key.startswith(".") else key + entry for key, entry in pairs)

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
    tables = []
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    for block in _blocks(lines):
        name, _, rest = block[0][1:].partition("] ")
        title, _, place = rest.partition(" @ ")
        keys, columns = (half.split() for half in block[1].split("|"))
        kinds = dict(column.split(":") for column in columns)
        rows = [_read_row(line, len(keys), len(kinds)) for line in block[2:]]
        names = tuple(tuple(row) for row, _ in rows)
        empty = PaperTable(name, title, place, tuple(keys), tuple(kinds), names, ())
        figures = tuple(
            Figure(empty.id(row, column), name, empty.row_name(row), column, entry, kind)
            for row, (_, entries) in zip(names, rows, strict=True)
            for (column, kind), entry in zip(kinds.items(), entries, strict=True)
            if entry != _LEFT_OUT
        )
        tables.append(PaperTable(name, title, place, tuple(keys), tuple(kinds), names, figures))
    return tables


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Lines of one table at a time, its title first."""
    starts = [place for place, line in enumerate(lines) if line.startswith("[")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield lines[start:end]


def _read_row(line: str, keys: int, columns: int) -> tuple[list[str], list[str]]:
    row, _, entries = line.partition("|")
    if len(row.split()) != keys or len(entries.split()) != columns:
        raise InputError(f"{line!r} does not have {keys} keys and {columns} columns")
    return row.split(), entries.split()


TABLES = {
    table.name: table
    for table in read_tables(
        resources.files(__package__).joinpath("figures.txt").read_text("utf-8")
    )
}
"""The tables by name, in the order of the report."""
FIGURES = {figure.id: figure for table in TABLES.values() for figure in table.figures}
"""The figures by id."""


def value(figure_id: str) -> float:
    """Return a number of the paper.

    Examples
    --------
    >>> value("main/amle/success"), value("grid-large/r12/lf0.02/harmonic")
    (0.97, 0.167)
    """
    return FIGURES[figure_id].value
