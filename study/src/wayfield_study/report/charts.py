"""Charts of success against something, and the parts to make others of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from ..engine.records import Records
from ..engine.statistics import bootstrap_interval
from .svg import SHAPES, Scale, Series, legend, line_chart, square_chart

TONES = ("line-a", "line-b", "line-c", "line-d")


@dataclass(frozen=True)
class Look:
    """How a method is shown, the same in all charts.

    Attributes
    ----------
    name, title : str
        In the rows, and for people.
    colour : str
        Class of the style sheet.
    shape : str
        Of its marks.
    """

    name: str
    title: str
    colour: str = "line-a"
    shape: str = "circle"


@dataclass(frozen=True)
class Chart:
    """A drawing, its title and its legend."""

    title: str
    svg: str
    legend: str = ""


def against(
    rows: Records,
    column: str,
    looks: Sequence[Look],
    title: str,
    say: Callable[[Any], str] = str,
    others: Sequence[Series] = (),
) -> Chart:
    """Draw success against a column of the rows, a line for each arm, with run-bootstrap intervals.

    Parameters
    ----------
    rows : Records
        With columns ``arm``, ``reached`` and ``pairs``.
    column : str
        What varies.
    looks : sequence of Look
        Arms to draw; those without rows are left out.
    title : str
        Of the chart.
    say : function
        Writes a value of the column.
    others : sequence of Series
        Lines from elsewhere; the place of a value is its rank among the column's.
    """
    values = rows.values(column)
    series = []
    for look in looks:
        groups = rows.where(arm=look.name).by(column)
        points, ends = [], []
        for place, each in enumerate(values):
            if each in groups:
                shares = groups[each].share("reached", "pairs")
                points.append((place, float(shares.mean())))
                ends.append(bootstrap_interval(shares))
        if points:
            series.append(Series(look.title, look.colour, points, ends, look.shape))
    ticks = [(float(place), say(each)) for place, each in enumerate(values)]
    return chart(title, [*series, *others], ticks)


def chart(
    title: str,
    series: Sequence[Series],
    ticks: Sequence[tuple[float, str]],
    scale: Scale | None = None,
    names: tuple[str, str] = ("", "success"),
) -> Chart:
    """Draw lines with their legend; by default on a scale of shares, near 1 if all of them are.

    Lines whose marks would look alike get others.
    """
    shown = _told_apart(series)
    chosen = scale or _share_scale(shown)
    return Chart(title, line_chart(shown, ticks, title, chosen, names), legend(shown))


def scatter(title: str, series: Sequence[Series], names: tuple[str, str]) -> Chart:
    """Draw shares against shares with their legend, and the diagonal on which they agree."""
    shown = _told_apart([replace(each, hollow=False) for each in series])
    marks = [replace(each, hollow=True) for each in shown]
    return Chart(title, square_chart(marks, title, names), legend(marks))


def _told_apart(series: Sequence[Series]) -> list[Series]:
    """Give each line, the paper's hollow ones apart, a mark that no line before it has."""
    taken: set[str] = set()
    found = []
    for each in series:
        shape = each.shape
        if not each.hollow:
            if shape in taken:
                shape = next((other for other in SHAPES if other not in taken), shape)
            taken.add(shape)
        found.append(replace(each, shape=shape))
    return found


def _share_scale(series: Sequence[Series]) -> Scale:
    """From 0 to 1, or from closer to 1 if all values and intervals are there."""
    values = [y for each in series for _, y in each.points]
    values += [low for each in series for low, _ in each.intervals]
    lowest = min((value for value in values if isfinite(value)), default=0.0)
    return Scale(next((s for s in (0.95, 0.9, 0.8, 0.6, 0.4) if lowest >= s), 0.0), 1.0)
