"""What several experiments share: cells of settings, one section each, and what they show alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from wayfield.typing import FloatArray
from wayfield.words import number_of

from ..engine import Experiment, Profile, Records, Row
from ..engine.statistics import wilson_interval
from ..engine.tasks import C
from ..paper.figures import FIGURES, value
from ..paper.grid import CELL, CONFIGURATION, on_papers_mazes
from ..report import Figures, Look, Section, Series, Table
from .trial import HARMONIC, SWEEPS


@dataclass(frozen=True)
class Settings:
    """A cell: its fields are the settings of an experiment."""

    @property
    def columns(self) -> Row:
        """All settings."""
        return asdict(self)


def make_experiment(
    name: str,
    title: str,
    version: int,
    run: Callable[[C], list[Row]],
    cells: Callable[[Profile], Sequence[C]],
    about: str,
    shown: Mapping[str, Any],
    **settings: Any,
) -> Experiment[C]:
    """Make an experiment with one section of the same name; `shown` are the section's functions."""
    section = Section(name.replace("_", "-"), title, about, **shown)
    return Experiment(name, title, version, run, cells, sections=(section,), **settings)


def share_of(part: str, total: str) -> Figures:
    """Return the figures "share of a count in another", with Wilson's interval."""

    def figures(rows: Records) -> tuple[float, float, float]:
        return rows.ratio(part, total), *wilson_interval(rows.total(part), rows.total(total))

    return figures


# -------------------------------------------------------------------- success by arm


def shares(rows: Records, arm: str) -> FloatArray:
    """Share of the sampled pairs that reach, per cell."""
    return rows.where(arm=arm).share("reached", "pairs")


def success(rows: Records, arm: str) -> float:
    """Return the mean over cells of the share of sampled pairs that reach the goal."""
    return float(shares(rows, arm).mean())


def failing(rows: Records, arm: str, which: Literal["", "_all"] = "") -> int:
    """Count the sampled pairs, or all starts, that do not reach."""
    chosen = rows.where(arm=arm)
    return chosen.total("starts_all" if which else "pairs") - chosen.total(f"reached{which}")


COUNTED: dict[str, Callable[[Records], str]] = {
    "success, sampled pairs": lambda some: f"{some.share('reached', 'pairs').mean():.4f}",
    "success, all starts": lambda some: f"{some.share('reached_all', 'starts_all').mean():.5f}",
    "failing starts": lambda some: f"{some.total('starts_all') - some.total('reached_all'):,}",
}
"""Columns of a table of plans: success is the mean over cells, failing starts are counted."""


def table_by(rows: Records, column: str, head: str, looks: Sequence[Look], title: str) -> Table:
    """Tabulate success of every arm by the values of a column, over sampled pairs."""
    shown = [look for look in looks if look.name in rows.values("arm")]
    groups = rows.by(column, "arm")
    lines = []
    for each in rows.values(column):
        means = [
            groups[each, look.name].share("reached", "pairs").mean()
            for look in shown
            if (each, look.name) in groups
        ]
        name = f"{each:g}" if isinstance(each, float) else str(each)
        lines.append([name, *(f"{mean:.4f}" for mean in means)])
    heads = [head, *(look.title for look in shown)]
    cells = f"Means over {number_of(len(rows.distinct(*CELL)), 'cells')}."
    return Table(f"by-{column.replace('_', '-')}", title, heads, lines, cells)


# -------------------------------------------------------------------- the paper's figures


def printed_success(rows: Records, method: str) -> float | None:
    """Return the paper's mean over these configurations; None if it lacks one of them."""
    if not on_papers_mazes(rows):
        return None
    names = [f"grid-{m}/r{r}/lf{lf:.2f}/{method}" for m, r, lf in rows.distinct(*CONFIGURATION)]
    known = all(name in FIGURES for name in names)
    return float(np.mean([value(name) for name in names])) if known else None


def printed_series(rows: Records, column: str) -> list[Series]:
    """Return the paper's success by a column, on the same configurations, where it has them."""
    groups, found = rows.by(column), []
    for method, arm, name in (("harmonic", HARMONIC, "harmonic"), ("amle", SWEEPS, "AMLE")):
        means = [printed_success(groups[each], method) for each in rows.values(column)]
        points = [(float(k), mean) for k, mean in enumerate(means) if mean is not None]
        if points:
            found.append(Series(f"paper, {name}", arm.colour, points, (), "diamond", hollow=True))
    return found


def printed_points(
    rows: Records, names: Sequence[str], first: int = 0
) -> list[tuple[float, float]]:
    """Return the paper's figures by these ids, where it has them and the rows are on its mazes."""
    if not on_papers_mazes(rows):
        return []
    found = enumerate(names, first)
    return [(float(place), value(name)) for place, name in found if name in FIGURES]
