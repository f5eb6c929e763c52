"""What the studies beyond the paper share: cells, grids, one section each, lines with intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, TypeAlias, TypeVar

from wayfield._arrays import as_choice, as_real, as_whole

from ..engine import Experiment, Profile, Records, Row
from ..engine.config import read_list, refuse_others
from ..engine.statistics import wilson_interval
from ..engine.tasks import Cell
from ..report import Chart, Look, Section, Series, chart

C = TypeVar("C", bound=Cell)
Reader: TypeAlias = Callable[[Any, str], Any]
Measure: TypeAlias = Callable[[Records], tuple[float, float, float]]
"""From rows to a figure and the ends of its interval."""


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


def one_of(choices: Iterable[str]) -> Reader:
    """Return a reader of names."""
    return partial(as_choice, choices=tuple(choices))


def real(least: float, most: float) -> Reader:
    """Return a reader of numbers."""
    return partial(as_real, least=least, most=most)


def whole(least: int, most: int) -> Reader:
    """Return a reader of whole numbers."""
    return partial(as_whole, least=least, most=most)


def read_lists(
    given: Mapping[str, Any],
    lists: Mapping[str, tuple[Sequence[Any], Reader]],
    others: Sequence[str] = (),
) -> list[list[Any]]:
    """Read the lists of a ``[grid]``, each with its default and the reader of an entry.

    Keys that are neither lists nor `others` are refused.
    """
    table = dict(given)
    refuse_others(table, (*lists, *others), "grid.")
    return [read_list(table, key, default, read) for key, (default, read) in lists.items()]


def percent(fraction: float) -> str:
    """Write a share.

    Examples
    --------
    >>> percent(0.005)
    '0.5 %'
    """
    return f"{100 * fraction:g} %"


def share_of(part: str, total: str) -> Measure:
    """Return the measure "share of a count in another", with Wilson's interval."""
    return lambda rows: (
        rows.ratio(part, total),
        *wilson_interval(rows.total(part), rows.total(total)),
    )


def lines_against(
    rows: Records,
    column: str,
    looks: Iterable[Look],
    title: str,
    measure: Measure,
    names: tuple[str, str],
    say: Callable[[Any], str] = str,
) -> Chart:
    """Draw a measure against a column, a line for each arm that has rows, with its intervals."""
    values = rows.values(column)
    series = []
    for look in looks:
        groups = rows.where(arm=look.name).by(column)
        at = [place for place, value in enumerate(values) if value in groups]
        figures = [measure(groups[values[place]]) for place in at]
        if figures:
            points = [(float(place), mean) for place, (mean, *_) in zip(at, figures, strict=True)]
            ends = [(low, high) for _, low, high in figures]
            series.append(Series(look.title, look.colour, points, ends, look.shape))
    ticks = [(float(place), say(value)) for place, value in enumerate(values)]
    return chart(title, series, ticks, names=names)
