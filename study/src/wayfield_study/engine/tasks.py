"""Studies, experiments, cells and tasks: an experiment, run on a cell, returns rows.

A task is one experiment on one cell, the unit that is run, kept and resumed. Experiments are pure:
the rows depend on the cell alone, bit for bit, whatever the worker, the order or the number of
workers. The rows therefore hold no timings.

The engine knows no experiment and no kind of cell. What an experiment shows of its rows, and how
its figures compare with published ones, it carries along for the report to read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar

from wayfield.checks import as_whole
from wayfield.errors import InputError

if TYPE_CHECKING:
    from .records import Records
    from .statistics import Measure

Row: TypeAlias = dict[str, Any]
"""One line of a result table: numbers, texts, flags, or lists of one of these. All rows of an
experiment have the same columns, and a column has values of one type."""


class Cell(Protocol):
    """What an experiment runs on: a maze with some labels, a small graph, a directed world.

    Small, frozen and importable by workers: it travels to them and is drawn there.
    """

    @property
    def columns(self) -> Row:
        """All its settings, which begin every row and identify the cell."""
        ...

    def draw(self) -> Any:
        """Build what the settings describe; all randomness comes from them."""
        ...


C = TypeVar("C", bound=Cell)
_NAME = re.compile(r"\w[\w-]{0,63}")
_EMPTY = "empty list"


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
        Reads cells from the ``[grid]`` of a user's study; None if the experiment has no grid.
    sections : tuple
        What the report shows of it: `wayfield_study.report.Section`, read there.
    measures : function of the tables, optional
        Its figures by the ids of published ones: `wayfield_study.paper` compares them.
    lacks : function
        Says what it needs and is not installed, None if nothing is lacking. A study leaves out
        an experiment that lacks something.
    packages : tuple of str
        Packages besides NumPy, SciPy and Numba on whose versions the figures depend.
    compares : bool
        Whether it runs the ``method`` that a cell names in place of its own.
    for_queries : tuple of str
        Columns that are stored for queries alone: no report reads them, nor does a later run.
    """

    name: str
    title: str
    version: int
    run: Callable[[C], list[Row]]
    cells: Callable[[Profile], Sequence[C]] = lambda _: ()
    effort: Callable[[C], float] = lambda _: 1.0
    read_grid: Callable[[Mapping[str, Any], Path], Sequence[C]] | None = None
    sections: tuple[Any, ...] = ()
    measures: Callable[[Mapping[str, Records]], Mapping[str, Measure]] | None = None
    lacks: Callable[[], str | None] = lambda: None
    packages: tuple[str, ...] = ()
    compares: bool = False
    for_queries: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):  # it is a folder, and a table to query
            raise InputError(
                f"an experiment's name must have at most 64 letters, digits, '_' and '-', got "
                f"{self.name[:80]!r}"
            )

    def to_report(self, rows: list[Row]) -> list[Row]:
        """Return the rows without the columns that are for queries alone."""
        names = self.for_queries
        return [{k: v for k, v in row.items() if k not in names} for row in rows]


@dataclass(frozen=True)
class Task:
    """One experiment on one cell."""

    experiment: Experiment[Any]
    cell: Cell

    @property
    def cell_name(self) -> str:
        """Settings of the cell as one word: text as it is, numbers preceded by their names."""
        settings = self.cell.columns.items()
        return "-".join(value if isinstance(value, str) else f"{k}{value}" for k, value in settings)

    @property
    def key(self) -> str:
        """Name of the task, for messages."""
        return f"{self.experiment.name} {self.cell_name}"

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
      'label_count': 0, 'arm': 'exact', 'reached': 512}]
    """
    if not isinstance(rows, list):
        raise InputError(f"an experiment must return a list of rows, got {type(rows).__name__}")
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
        seen: dict[str, int] = {}  # the types in this column, each with its first row
        for number, row in enumerate(table):
            seen.setdefault(_kind(row[name]), number)
        if all("list" in kind for kind in seen):
            seen.pop(_EMPTY, None)  # an empty list matches lists of any type
        if len(seen) > 1:
            (before, there), (kind, here) = list(seen.items())[:2]
            raise InputError(f"row {here}: {name} is {kind}, in row {there} it is {before}")
    return table


def by_experiment(tables: Mapping[Task, list[Row]]) -> dict[str, list[Row]]:
    """Concatenate the tables of many tasks, one for every experiment's name."""
    joined: dict[str, list[Row]] = {}
    for task, rows in tables.items():
        joined.setdefault(task.experiment.name, []).extend(rows)
    return joined


def headline(rows: Sequence[Row]) -> tuple[str, dict[str, float]]:
    """Return the measure that sums up a table, with its value for every arm.

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
    for measure, part, whole in (
        ("SPL", "spl", None),
        ("success", "reached", "pairs"),
        ("success", "arrived", "episodes"),
    ):
        if rows and all({"arm", part, whole or part} <= row.keys() for row in rows):
            parts, wholes = Counter[str](), Counter[str]()
            for row in rows:
                parts[str(row["arm"])] += row[part]
                wholes[str(row["arm"])] += row[whole] if whole else 1
            return measure, {arm: parts[arm] / count for arm, count in wholes.items() if count}
    return "success", {}


def _plain(value: Any, name: str) -> Any:
    """Return the value as one of Python's own types, or a list of them."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, list | tuple):
        entries = [_plain(entry, name) for entry in value]
        if len({_kind(entry) for entry in entries}) > 1 or any(
            isinstance(entry, list) for entry in entries
        ):
            raise InputError(f"{name} must be a list of values of one type, got {value!r}")
        return entries
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise InputError(f"{name} must be valid text, got {value!r}: {error.reason}") from error
        return value
    if isinstance(value, Integral):
        number = int(value)
        if not -(2**63) <= number < 2**63:
            raise InputError(f"{name} must fit into 64 bits, got {number}")
        return number
    if isinstance(value, Real):
        return float(value)
    raise InputError(f"{name} must be a number, a string or a flag, got {value!r}")


def _kind(value: Any) -> str:
    """Return the type of a value by name; that of a list by its first entry."""
    if isinstance(value, list):
        return f"list of {_kind(value[0])}" if value else _EMPTY
    return type(value).__name__


# ------------------------------------------------------------------ studies


@dataclass(frozen=True)
class Profile:
    """A profile: how much of a study to run.

    Attributes
    ----------
    name, about : str
        Its name, and a short description.
    goals : int or None
        Goals per cell; None where cells have no choice of goals.
    """

    name: str
    about: str
    goals: int | None = None

    def with_goals(self, goals: int | None) -> Profile:
        """Return the profile with another number of goals per cell; the same if none is given."""
        if goals is None:
            return self
        if self.goals is None:
            raise InputError("this study has no option for the number of goals")
        return replace(self, goals=as_whole(goals, "goals", least=1))

    def at_most(self, **limits: int) -> int:
        """Return the goals per cell, limited by the number under this profile's name.

        Examples
        --------
        >>> [Profile(name, "", 16).at_most(quick=4) for name in ("quick", "paper")]
        [4, 16]
        """
        assert self.goals is not None
        return min(self.goals, limits.get(self.name, self.goals))


@dataclass(frozen=True, eq=False)
class Study:
    """Experiments that belong together.

    Attributes
    ----------
    name, title : str
        What it is called on the command line, and for people.
    experiments : tuple of Experiment
        In the order of the report.
    profiles : tuple of Profile
        The first one is the default.
    cover : function of the tables, optional
        The report's beginning and end: `wayfield_study.report.Cover`, read there.
    """

    name: str
    title: str
    experiments: tuple[Experiment[Any], ...]
    profiles: tuple[Profile, ...]
    cover: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        refuse_namesakes(self.experiments)

    def profile(self, name: str | None = None, goals: int | None = None) -> Profile:
        """Return a profile by its name, the first if none is given."""
        known = {profile.name: profile for profile in self.profiles}
        if name is not None and name not in known:
            raise InputError(
                f"the study {self.name} has no profile {name!r}; it has {', '.join(known)}"
            )
        chosen = self.profiles[0] if name is None else known[name]
        return chosen.with_goals(goals)

    def tasks(self, profile: Profile | None = None) -> list[Task]:
        """List the tasks of a profile, experiment by experiment, of all that lack nothing."""
        chosen = self.profile() if profile is None else profile
        return [
            Task(experiment, cell)
            for experiment in self.experiments
            if experiment.lacks() is None
            for cell in experiment.cells(chosen)
        ]

    def left_out(self, profile: Profile | None = None) -> dict[str, str]:
        """Return what is missing for the experiments of a profile that are left out, by name."""
        chosen = self.profile() if profile is None else profile
        lacking = {each.name: each.lacks() for each in self.experiments if each.cells(chosen)}
        return {name: lack for name, lack in lacking.items() if lack is not None}

    def command(self, experiment: Experiment[Any]) -> str:
        """Return the command that runs an experiment: the first profile that has cells of it.

        Examples
        --------
        >>> from wayfield_study.experiments import STUDIES
        >>> study = STUDIES["pointmaze"]
        >>> [study.command(study.experiments[k]) for k in (0, -1)]
        ['wayfield study pointmaze', 'wayfield study pointmaze --official']
        """
        command = f"wayfield study {self.name}"
        names = [each.name for each in self.profiles if experiment.cells(each)]
        if not names or names[0] == self.profiles[0].name:
            return command
        flag = "--official" if names[0] == "official" else f"--profile {names[0]}"
        return f"{command} {flag}"


def refuse_namesakes(experiments: Iterable[Experiment[Any]]) -> None:
    """Raise if two experiments have the same name, since they would share a folder."""
    known: dict[str, Experiment[Any]] = {}
    for experiment in experiments:
        other = known.setdefault(experiment.name.casefold(), experiment)
        if other.run is not experiment.run:
            raise InputError(f"two experiments are called {experiment.name!r}")
