"""What a study is made of: an experiment, run on a cell, gives the rows of a table.

A task is one experiment on one cell, the unit that is run, kept and resumed. Experiments are pure:
the rows depend on the cell alone, bit for bit, whatever the worker, the order or the number of
workers. Timings therefore never stand in the rows.

The engine knows no experiment and no kind of cell. What an experiment shows of its rows, and how
its figures compare with published ones, it carries along for the report to read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar

from wayfield.errors import InputError

if TYPE_CHECKING:
    from .measure import Measure
    from .records import Records
    from .studies import Profile

Row: TypeAlias = dict[str, Any]
"""One line of a result table: numbers, texts, flags, or lists of one of these. All rows of an
experiment have the same columns, and a column has values of one type."""


class Cell(Protocol):
    """What an experiment runs on: a maze with some labels, a small graph, a directed world.

    Small, frozen and importable by workers: it travels to them and is drawn there.
    """

    @property
    def key(self) -> str:
        """Short name, for files and messages."""
        ...

    @property
    def columns(self) -> Row:
        """All its settings, as they stand in front of every row: they tell cells apart."""
        ...

    def draw(self) -> Any:
        """Make what the settings describe; everything random comes from them alone."""
        ...


C = TypeVar("C", bound=Cell)
_NAME = re.compile(r"\w[\w-]{0,63}")
_EMPTY = "empty list"


def _alike(cell: Cell) -> float:
    """Expect every cell to take as long as any other."""
    return 1.0


def _nothing() -> None:
    """Say that nothing is lacking."""


@dataclass(frozen=True, eq=False)
class Experiment(Generic[C]):
    """Something to measure on a cell, and all that belongs to it.

    Attributes
    ----------
    name : str
        Short name; results are kept in a folder called so.
    title : str
        Name for people.
    version : int
        Raised when the meaning of the figures changes; results of other versions are stale.
    run : function of a cell
        A function at the top level of a module, so that workers can import it; returns the rows.
    cells : function of a Profile
        Where it runs; the study has none of its cells if not given.
    effort : function of a cell
        Rough time it takes, in any unit: long tasks are begun first.
    read_grid : function of a table and a folder, optional
        Reads cells from the ``[grid]`` of a study of one's own; without it there are none there.
    sections : tuple
        What the report shows of it: `wayfield_study.report.Section`, read there.
    measures : function of the tables, optional
        Its figures by the ids of published ones: `wayfield_study.paper` compares them.
    lacks : function
        Says what it needs and is not installed, None if nothing is lacking. A study leaves out
        an experiment that lacks something.
    packages : tuple of str
        Packages beside NumPy, SciPy and Numba whose versions have a say in the figures.
    """

    name: str
    title: str
    version: int
    run: Callable[[C], list[Row]]
    cells: Callable[[Profile], Sequence[C]] = lambda _: ()
    effort: Callable[[C], float] = _alike
    read_grid: Callable[[Mapping[str, Any], Path], Sequence[C]] | None = None
    sections: tuple[Any, ...] = ()
    measures: Callable[[Mapping[str, Records]], Mapping[str, Measure]] | None = None
    lacks: Callable[[], str | None] = _nothing
    packages: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):  # it is a folder, and a table to query
            raise InputError(
                f"an experiment's name has at most 64 letters, digits, '_' and '-', unlike "
                f"{self.name[:80]!r}"
            )


@dataclass(frozen=True)
class Task:
    """One experiment on one cell."""

    experiment: Experiment[Any]
    cell: Cell

    @property
    def key(self) -> str:
        """Name of the task, for messages."""
        return f"{self.experiment.name} {self.cell.key}"

    @property
    def effort(self) -> float:
        """Rough time it takes, in the experiment's own unit."""
        return self.experiment.effort(self.cell)


def as_table(cell: Cell, rows: list[Row]) -> list[Row]:
    """Check the rows an experiment returned and put the cell's settings in front of each.

    NumPy's scalars and arrays become Python's. Every row must have the same columns, and a column
    values of one type.

    Examples
    --------
    >>> from wayfield_study.experiments import MazeCell
    >>> as_table(MazeCell("umaze", 2, 0.1, 54), [{"arm": "exact", "reached": 512}])
    [{'maze': 'umaze', 'refinement': 2, 'label_fraction': 0.1, 'seed': 54, 'goals': 32,
      'arm': 'exact', 'reached': 512}]
    """
    if not isinstance(rows, list):
        raise InputError(f"an experiment must return a list of rows, not {type(rows).__name__}")
    if not rows:
        raise InputError("an experiment must return at least one row")
    about = cell.columns
    table = [about | {name: _plain(value, name) for name, value in row.items()} for row in rows]
    for number, (row, whole) in enumerate(zip(rows, table, strict=True)):
        if changed := [name for name in about if whole[name] != about[name]]:
            raise InputError(f"row {number}: column {changed[0]!r} is a setting of the cell")
        if row.keys() != rows[0].keys():
            odd = sorted(row.keys() ^ rows[0].keys())
            raise InputError(f"row {number} and row 0 differ in the columns {', '.join(odd)}")
    for name in table[0]:
        _check_kinds(name, [row[name] for row in table])
    return table


def by_experiment(tables: Mapping[Task, list[Row]]) -> dict[str, list[Row]]:
    """Put the tables of many tasks under each other, one for every experiment's name."""
    joined: dict[str, list[Row]] = {}
    for task, rows in tables.items():
        joined.setdefault(task.experiment.name, []).extend(rows)
    return joined


def headline(rows: Sequence[Row]) -> tuple[str, dict[str, float]]:
    """Name the measure that sums up a table, with its value for every arm.

    SPL where every row has one; else success, the share of the pairs that reached or of the
    episodes that arrived. No values if the rows do not say.

    Examples
    --------
    >>> headline([{"arm": "harmonic", "reached": 128, "pairs": 512}])
    ('success', {'harmonic': 0.25})
    >>> headline([{"arm": "oracle", "reached": 512, "pairs": 512, "spl": 0.75}])
    ('SPL', {'oracle': 0.75})
    >>> headline([{"figure": 3}])
    ('success', {})
    """
    if rows and all({"arm", "spl"} <= row.keys() for row in rows):
        return "SPL", _ratios((str(row["arm"]), float(row["spl"]), 1.0) for row in rows)
    for part, whole in (("reached", "pairs"), ("arrived", "episodes")):
        if all({"arm", part, whole} <= row.keys() for row in rows):
            counts = ((str(row["arm"]), float(row[part]), float(row[whole])) for row in rows)
            return "success", _ratios(counts)
    return "success", {}


def _ratios(counts: Iterable[tuple[str, float, float]]) -> dict[str, float]:
    """By name, the sum of all parts over the sum of all wholes."""
    sums: dict[str, tuple[float, float]] = {}
    for name, part, whole in counts:
        parts, wholes = sums.get(name, (0.0, 0.0))
        sums[name] = parts + part, wholes + whole
    return {name: parts / wholes for name, (parts, wholes) in sums.items() if wholes}


def _plain(value: Any, name: str) -> Any:
    """Return the value as one of Python's own types, or a list of them."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, list | tuple):
        entries = [_plain(entry, name) for entry in value]
        if len({_kind(entry) for entry in entries}) > 1 or any(
            isinstance(entry, list) for entry in entries
        ):
            raise InputError(f"{name} must be a list of values of one type, not {value!r}")
        return entries
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _checked_text(value, name)
    if isinstance(value, Integral):
        number = int(value)
        if not -(2**63) <= number < 2**63:
            raise InputError(f"{name} must fit into 64 bits, which {number} does not")
        return number
    if isinstance(value, Real):
        return float(value)
    raise InputError(f"{name} must be a number, a string or a flag, not {value!r}")


def _check_kinds(name: str, values: Sequence[Any]) -> None:
    """Refuse a column with values of two types; an empty list goes with every other list."""
    seen: dict[str, int] = {}
    for number, value in enumerate(values):
        seen.setdefault(_kind(value), number)
    if all("list" in kind for kind in seen):
        seen.pop(_EMPTY, None)
    if len(seen) > 1:
        (before, there), (kind, here) = list(seen.items())[:2]
        raise InputError(f"row {here}: {name} is {kind}, in row {there} it is {before}")


def _checked_text(value: str, name: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{name} = {value!r} is no text: {error.reason}") from error
    return value


def _kind(value: Any) -> str:
    """Name the type of a value; that of a list by its first entry."""
    if isinstance(value, list):
        return f"list of {_kind(value[0])}" if value else _EMPTY
    return type(value).__name__
