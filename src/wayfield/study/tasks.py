"""What the study is made of: an experiment, run on a cell, gives the rows of a table.

A task is one experiment on one cell, the unit that is run, kept and resumed. Experiments are pure:
the rows depend on the cell alone, bit for bit, whatever the worker, the order or the number of
workers. Timings therefore never stand in the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from numbers import Integral, Real
from typing import Any, TypeAlias

from ..errors import InputError
from .cells import Cell

Row: TypeAlias = dict[str, int | float | str | bool]
"""One line of a result table; the same columns, of the same types, in all rows of an experiment."""


@dataclass(frozen=True)
class Experiment:
    """Something to measure on a cell.

    Attributes
    ----------
    name : str
        Short name; results are kept in a folder called so.
    title : str
        Name for people.
    version : int
        Raised when the meaning of the figures changes; results of other versions are stale.
    run : function of a Cell
        A function at the top level of a module, so that workers can import it; returns the rows.
    weight : float
        Rough time per vertex and goal beside the other experiments; long tasks are begun first.
    on_mazes : bool
        Whether it runs on any maze; if not, on cells of its own alone.
    """

    name: str
    title: str
    version: int
    run: Callable[[Cell], list[Row]]
    weight: float = 1.0
    on_mazes: bool = True


@dataclass(frozen=True)
class Task:
    """One experiment on one cell."""

    experiment: str
    cell: Cell

    @property
    def key(self) -> str:
        """Name of the task, for messages.

        Examples
        --------
        >>> Task("rollout", Cell("medium", 4, 0.02, 54)).key
        'rollout medium-r04-lf0.020-s54-g16'
        """
        return f"{self.experiment} {self.cell.key}"


def settings(cell: Cell) -> dict[str, Any]:
    """Return all settings of a cell: what its results are kept under.

    Examples
    --------
    >>> settings(Cell("medium", 4, 0.02, 54))
    {'maze': 'medium', 'refinement': 4, 'label_fraction': 0.02, 'seed': 54, 'goals': 16}
    """
    return {name: value for name, value in asdict(cell).items() if name != "layout" or value}


def columns(cell: Cell) -> Row:
    """Return the settings that stand in every row: all but the text of a maze of one's own."""
    return {name: value for name, value in settings(cell).items() if name != "layout"}


def as_table(cell: Cell, rows: list[Row]) -> list[Row]:
    """Check the rows an experiment returned and put the cell's settings in front of each.

    NumPy's scalars become Python's. Every row must have the same columns, and a column values of
    one type.

    Examples
    --------
    >>> as_table(Cell("umaze", 2, 0.1, 54), [{"arm": "exact", "reached": 512}])
    [{'maze': 'umaze', 'refinement': 2, 'label_fraction': 0.1, 'seed': 54, 'goals': 16,
      'arm': 'exact', 'reached': 512}]
    """
    if not rows:
        raise InputError("an experiment must return at least one row")
    about = columns(cell)
    table = [about | {name: _plain(value, name) for name, value in row.items()} for row in rows]
    first = {name: type(value) for name, value in table[0].items()}
    for number, (row, whole) in enumerate(zip(rows, table, strict=True)):
        if changed := [name for name in about if whole[name] != about[name]]:
            raise InputError(f"row {number}: column {changed[0]!r} is a setting of the cell")
        if row.keys() != rows[0].keys():
            odd = sorted(row.keys() ^ rows[0].keys())
            raise InputError(f"row {number} and row 0 differ in the columns {', '.join(odd)}")
        for name, value in whole.items():
            if type(value) is not first[name]:
                kind, other = type(value).__name__, first[name].__name__
                raise InputError(f"row {number}: {name} is {kind}, in row 0 it is {other}")
    return table


def by_experiment(tables: Mapping[Task, list[Row]]) -> dict[str, list[Row]]:
    """Put the tables of many tasks under each other, one for every experiment.

    Rows on a maze of one's own have its text as one more column, ``layout``.

    Examples
    --------
    >>> cells = [Cell("umaze", 2, 0.1, seed) for seed in (54, 55)]
    >>> tables = {Task("toy", cell): [{"seed": cell.seed}] for cell in cells}
    >>> by_experiment(tables)
    {'toy': [{'seed': 54}, {'seed': 55}]}
    """
    joined: dict[str, list[Row]] = {}
    for task, rows in tables.items():
        own: Row = {"layout": task.cell.layout} if task.cell.layout else {}
        joined.setdefault(task.experiment, []).extend(row | own for row in rows)
    return joined


def success(rows: Sequence[Row]) -> dict[str, float]:
    """Share of the pairs that reached, by arm; empty if the rows do not say.

    Examples
    --------
    >>> success([{"arm": "harmonic", "reached": 128, "pairs": 512}])
    {'harmonic': 0.25}
    >>> success([{"figure": 3}])
    {}
    """
    counts: dict[str, tuple[float, float]] = {}
    for row in rows:
        if not {"arm", "reached", "pairs"} <= row.keys():
            return {}
        reached, pairs = counts.get(str(row["arm"]), (0.0, 0.0))
        counts[str(row["arm"])] = reached + float(row["reached"]), pairs + float(row["pairs"])
    return {arm: reached / pairs for arm, (reached, pairs) in counts.items() if pairs}


def _plain(value: Any, name: str) -> int | float | str | bool:
    """Return the value as one of Python's own types."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, bool | str):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    raise InputError(f"{name} must be a number, a string or a flag, not {value!r}")
