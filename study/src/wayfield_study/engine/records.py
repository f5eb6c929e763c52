"""Rows of results: selecting, grouping, totals and means.

An experiment's rows carry the settings of their cell and the experiment's own columns; `Records`
keeps some of them, groups them and takes means, so that every figure of a report is one line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np

from wayfield.typing import FloatArray

from .tasks import Row


@dataclass(frozen=True)
class Records:
    """Records of one experiment.

    Attributes
    ----------
    rows : tuple of Row
        All with the same columns; there may be none.

    Examples
    --------
    >>> rows = Records.of([{"seed": 54, "reached": 500}, {"seed": 55, "reached": 510}])
    >>> rows.mean("reached"), rows.where(seed=55).total("reached")
    (505.0, 510)
    """

    rows: tuple[Row, ...]

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Records:
        """Wrap any rows."""
        return cls(tuple(rows))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def where(self, **settings: Any) -> Records:
        """Keep the rows with these values, e.g. ``where(maze="large", refinement=8)``."""
        key = itemgetter(*settings)
        wanted = key(settings)
        return Records(tuple([row for row in self.rows if key(row) == wanted]))

    def values(self, column: str) -> list[Any]:
        """Return the distinct values of a column: words in order of appearance, numbers sorted."""
        seen = list(dict.fromkeys(row[column] for row in self.rows))
        return seen if any(isinstance(value, str) for value in seen) else sorted(seen)

    def by(self, *columns: str) -> dict[Any, Records]:
        """Group by the values of a column, or of several, in order of appearance.

        Examples
        --------
        >>> rows = Records.of([{"p": 4, "x": 1}, {"p": 8, "x": 2}, {"p": 4, "x": 3}])
        >>> {p: group.total("x") for p, group in rows.by("p").items()}
        {4: 4, 8: 2}
        """
        groups: dict[Any, list[Row]] = {}
        key = itemgetter(*columns)
        for row in self.rows:
            groups.setdefault(key(row), []).append(row)
        return {value: Records(tuple(rows)) for value, rows in groups.items()}

    def column(self, name: str) -> FloatArray:
        """(k,) numbers, one per row."""
        return np.array([row[name] for row in self.rows], dtype=np.float64)

    def total(self, name: str) -> int:
        """Sum of a count."""
        return int(self.column(name).sum())

    def mean(self, name: str) -> float:
        """Return the mean of a column; NaN if there are no rows."""
        return float(self.column(name).mean()) if self.rows else float("nan")

    def ratio(self, part: str, whole: str) -> float:
        """Sum of a count over the sum of another; NaN if that is 0."""
        divisor = self.total(whole)
        return self.total(part) / divisor if divisor else float("nan")

    def share(self, part: str, whole: str) -> FloatArray:
        """Share of a count in another, per row."""
        return self.column(part) / self.column(whole)

    def distinct(self, *columns: str) -> list[tuple[Any, ...]]:
        """List the distinct combinations of values in several columns, in order of appearance.

        Examples
        --------
        >>> rows = Records.of([{"r": 4, "seed": 1}, {"r": 4, "seed": 2}, {"r": 4, "seed": 1}])
        >>> rows.distinct("r", "seed")
        [(4, 1), (4, 2)]
        """
        return list(dict.fromkeys(map(itemgetter(*columns), self.rows)))


Tables: TypeAlias = Mapping[str, Records]
"""The available rows by experiment; any may be missing."""
NO_ROWS = Records(())


def as_records(tables: Mapping[str, Iterable[Row]]) -> dict[str, Records]:
    """Wrap the rows of every experiment."""
    return {name: Records.of(rows) for name, rows in tables.items()}
