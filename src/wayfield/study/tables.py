"""From figures per cell to the tables of the report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..kernels._types import FloatArray
from .cells import Cell
from .rollout import Record
from .statistics import Estimate, estimate, paired_lift, wilson_interval


@dataclass(frozen=True)
class Results:
    """Figures of many cells, and ways to slice them.

    Attributes
    ----------
    records : mapping of Cell to Record
        Not empty.
    """

    records: Mapping[Cell, Record]

    def where(self, **settings: Any) -> Results:
        """Keep the cells with these settings, e.g. ``where(maze="large", refinement=8)``."""
        kept = {
            cell: record
            for cell, record in self.records.items()
            if all(getattr(cell, name) == value for name, value in settings.items())
        }
        return Results(kept)

    def values(self, setting: str) -> list[Any]:
        """Sorted values that a setting takes; mazes in the order of the records."""
        seen = dict.fromkeys(getattr(cell, setting) for cell in self.records)
        return list(seen) if setting == "maze" else sorted(seen)

    @cached_property
    def configurations(self) -> list[tuple[str, int, float]]:
        """Every (maze, refinement, label fraction) there is, in the order of the records."""
        return list(dict.fromkeys(cell.configuration for cell in self.records))

    def at(self, configuration: tuple[str, int, float]) -> Results:
        """Keep the cells of one configuration."""
        return Results({c: r for c, r in self.records.items() if c.configuration == configuration})

    def figure(self, name: str) -> FloatArray:
        """One figure of every cell."""
        return np.array([record[name] for record in self.records.values()], dtype=np.float64)

    def total(self, name: str) -> int:
        """Sum of a count over the cells."""
        return int(self.figure(name).sum())

    def success(self, arm: str) -> FloatArray:
        """Share of the sampled pairs that reach, per cell."""
        return self.figure(f"{arm}.reached") / self.figure("pairs")

    def mean_success(self, arm: str) -> float:
        """Mean of `success` over the cells."""
        return float(self.success(arm).mean())

    def all_starts(self, arm: str) -> float:
        """Share of all starts of all fields that reach, mean over the cells."""
        kinds = [self.figure(f"{arm}.{kind}_all") for kind in ("reached", "boundary", "interior")]
        return float((kinds[0] / sum(kinds)).mean())

    def starts(self, arm: str) -> int:
        """Count the starts of all fields."""
        return self.failing_starts(arm) + self.total(f"{arm}.reached_all")

    def failing_starts(self, arm: str) -> int:
        """Count the starts, over all fields, that never reach."""
        return self.total(f"{arm}.boundary_all") + self.total(f"{arm}.interior_all")

    def estimate(self, arm: str) -> Estimate:
        """Mean success, spread over cells and run-bootstrap interval."""
        return estimate(self.success(arm))

    def wilson(self, arm: str) -> tuple[float, float]:
        """Wilson interval of success over all pairs."""
        return wilson_interval(self.total(f"{arm}.reached"), self.total("pairs"))

    def lift(self, arm: str, base: str) -> Estimate:
        """Paired gain of one arm over another, as a share."""
        return paired_lift(self.success(arm), self.success(base))

    def boundary_share(self, arm: str) -> float:
        """Share of the failing pairs whose limit cycle holds a label; NaN if none fails."""
        touching, inside = self.total(f"{arm}.boundary"), self.total(f"{arm}.interior")
        return touching / (touching + inside) if touching + inside else float("nan")


def mean_difference(ours: Iterable[float], paper: Iterable[float]) -> float:
    """Mean absolute difference of two lists of figures."""
    pairs = list(zip(ours, paper, strict=True))
    return sum(abs(a - b) for a, b in pairs) / len(pairs)
