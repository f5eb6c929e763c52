"""From rows to tables: slicing, and figures over cells.

An experiment's rows carry the settings of their cell and the experiment's own columns; `Rows`
keeps some of them, groups them and takes means, so that every figure of the report is one line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernels._types import FloatArray, IntArray
from .cells import MAZES
from .tasks import Row

CELL = ("maze", "refinement", "label_fraction", "seed")
"""What tells cells apart within an experiment."""
CONFIGURATION = CELL[:3]
"""What tells the rows of the paper's large tables apart."""


@dataclass(frozen=True)
class Rows:
    """Rows of one experiment.

    Attributes
    ----------
    rows : tuple of Row
        All with the same columns; there may be none.

    Examples
    --------
    >>> rows = Rows.of([{"seed": 54, "p": 4, "reached": 500}, {"seed": 55, "p": 4, "reached": 510}])
    >>> rows.mean("reached"), rows.where(seed=55).total("reached")
    (505.0, 510)
    """

    rows: tuple[Row, ...]

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Rows:
        """Wrap any rows."""
        return cls(tuple(rows))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def where(self, **settings: Any) -> Rows:
        """Keep the rows with these values, e.g. ``where(maze="large", refinement=8)``."""
        kept = (
            row for row in self.rows if all(row[name] == value for name, value in settings.items())
        )
        return Rows(tuple(kept))

    def values(self, column: str) -> list[Any]:
        """Distinct values of a column: words as they come, numbers sorted."""
        seen = list(dict.fromkeys(row[column] for row in self.rows))
        return seen if any(isinstance(value, str) for value in seen) else sorted(seen)

    def by(self, *columns: str) -> dict[Any, Rows]:
        """Group by the values of a column, or of several, as they come.

        Examples
        --------
        >>> rows = Rows.of([{"p": 4, "x": 1}, {"p": 8, "x": 2}, {"p": 4, "x": 3}])
        >>> {p: group.total("x") for p, group in rows.by("p").items()}
        {4: 4, 8: 2}
        """
        groups: dict[Any, list[Row]] = {}
        for row in self.rows:
            key = tuple(row[column] for column in columns)
            groups.setdefault(key if len(columns) > 1 else key[0], []).append(row)
        return {key: Rows(tuple(rows)) for key, rows in groups.items()}

    def column(self, name: str) -> FloatArray:
        """One number of every row."""
        return np.array([row[name] for row in self.rows], dtype=np.float64)

    def total(self, name: str) -> int:
        """Sum of a count."""
        return int(self.column(name).sum())

    def mean(self, name: str) -> float:
        """Mean of a column; NaN if there are no rows."""
        return float(self.column(name).mean()) if self.rows else float("nan")

    def ratio(self, part: str, whole: str) -> float:
        """Sum of a count over the sum of another; NaN if that is 0."""
        divisor = self.total(whole)
        return self.total(part) / divisor if divisor else float("nan")

    def share(self, part: str, whole: str) -> FloatArray:
        """Share of a count in another, per row."""
        return self.column(part) / self.column(whole)

    @property
    def cells(self) -> list[tuple[Any, ...]]:
        """The cells there are, as they come."""
        return list(dict.fromkeys(tuple(row[name] for name in CELL) for row in self.rows))

    @property
    def configurations(self) -> list[tuple[str, int, float]]:
        """The cells without their seeds, as they come."""
        seen = dict.fromkeys(tuple(row[name] for name in CONFIGURATION) for row in self.rows)
        return [(str(maze), int(r), float(lf)) for maze, r, lf in seen]

    @property
    def on_papers_mazes(self) -> bool:
        """Whether all rows are on the paper's mazes; one's own map is none, whatever its name.

        Examples
        --------
        >>> rows = Rows.of([{"maze": "medium"}])
        >>> rows.on_papers_mazes, Rows.of([{"maze": "medium", "layout": "..."}]).on_papers_mazes
        (True, False)
        """
        return all(row["maze"] in MAZES and not row.get("layout") for row in self.rows)

    @property
    def strata(self) -> IntArray:
        """Number of the configuration of every row."""
        numbers = {where: number for number, where in enumerate(self.configurations)}
        places = [tuple(row[name] for name in CONFIGURATION) for row in self.rows]
        return np.array([numbers[place] for place in places], dtype=np.int64)  # type: ignore[index]


def as_rows(tables: Mapping[str, Iterable[Row]]) -> dict[str, Rows]:
    """Wrap the rows of every experiment."""
    return {name: Rows.of(rows) for name, rows in tables.items()}
