"""What the experiments on wrong graphs show alike: SPL by arm, and differences with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isnan
from typing import Any

import numpy as np

from ...kernels._types import FloatArray
from ...report import Chart, Look, Series, Table, chart
from ...study.records import Records
from ...study.statistics import t_interval
from ...study.tasks import Row
from .._wrong import LOOKS, OURS, REFERENCE, WRONG_WORLDS

NOTES = (
    "SPL: mean over starts of (reached) × least cost / cost paid. ± are 95 % intervals of paired "
    "differences over seeds, by Student's t.",
)
PAIRED_BY = ("world", "size", "label_fraction", "seed", "source", "data", "episodes")


def looks_of(rows: Records, names: Sequence[str] | None = None) -> list[Look]:
    """Return the looks of the arms at hand, or of those of these names, in the order of all."""
    known = set(rows.values("arm") if names is None else names)
    return [look for look in LOOKS if look.name in known]


def paired(
    rows: Records, arm: str = OURS, other: str = REFERENCE, column: str = "spl"
) -> FloatArray:
    """By how much an arm is above another on the same cells: the mean for every seed."""
    pairs = Records.of(cell_by_cell(rows, arm, other, column))
    groups = pairs.by("seed")
    return np.array([groups[seed].mean("difference") for seed in pairs.values("seed")])


def cell_by_cell(
    rows: Records, arm: str = OURS, other: str = REFERENCE, column: str = "spl"
) -> list[Row]:
    """By how much an arm is above another in every cell that has both."""
    sides = []
    for name in (arm, other):
        chosen = rows.where(arm=name)
        keys = [tuple(row[key] for key in PAIRED_BY if key in row) for row in chosen]
        sides.append(dict(zip(keys, chosen, strict=True)))
    ours, theirs = sides
    return [
        {"seed": row["seed"], "difference": row[column] - theirs[key][column]}
        for key, row in ours.items()
        if key in theirs
    ]


def say_difference(differences: FloatArray) -> str:
    """Write a mean difference and its interval.

    Examples
    --------
    >>> say_difference(np.array([-0.1, -0.2, -0.3]))
    '−0.200 ± 0.248'
    """
    if not differences.size:
        return "–"
    mean, half = t_interval(differences)
    return signed(mean) + ("" if isnan(half) else f" ± {half:.3f}")


def signed(number: float) -> str:
    """Write a number with its sign.

    Examples
    --------
    >>> signed(-0.25)
    '−0.250'
    """
    return f"{number:+.3f}".replace("-", "−")


def surely_above(differences: FloatArray) -> bool:
    """Whether the whole interval of the mean lies above 0."""
    if differences.size < 2:
        return False
    mean, half = t_interval(differences)
    return bool(mean - half > 0 and mean > 1e-9)


def named(worlds: Sequence[str]) -> str:
    """Name worlds in a sentence.

    Examples
    --------
    >>> named(["patch", "oneway"])
    'slow patches (patch); doors that open one way only (oneway)'
    """
    return "; ".join(f"{WRONG_WORLDS[world]} ({world})" for world in worlds)


def by_world(rows: Records, name: str, title: str, note: str = "") -> Table:
    """SPL of every arm in every world, the mean over worlds, and what mending changes."""
    looks = looks_of(rows)
    groups = rows.by("world")
    lines = [[world, *_entries(some, looks)] for world, some in groups.items()]
    if len(groups) > 1:
        lines.append(["mean", *_entries(rows, looks)])
    heads = ["world", *(look.title for look in looks)]
    if {OURS, REFERENCE} <= {look.name for look in looks}:
        heads.append("mend − replanning Dijkstra")
    return Table(name, title, heads, lines, note)


def _entries(rows: Records, looks: Sequence[Look]) -> list[str]:
    arms = rows.by("arm")
    means = [f"{arms[look.name].mean('spl'):.3f}" if look.name in arms else "–" for look in looks]
    both = {OURS, REFERENCE} <= {look.name for look in looks}
    return [*means, say_difference(paired(rows))] if both else means


def spl_against(
    rows: Records, column: str, arms: Sequence[str], title: str, say: Callable[[Any], str] = str
) -> Chart:
    """Draw SPL against a column of the rows, a line for each arm, with intervals over seeds."""
    values = rows.values(column)
    series = []
    for look in looks_of(rows, arms):
        groups = rows.where(arm=look.name).by(column)
        points, ends = [], []
        for place, value in enumerate(values):
            if value in groups:
                mean, half = t_interval(
                    [some.mean("spl") for some in groups[value].by("seed").values()]
                )
                points.append((float(place), mean))
                ends.append((mean, mean) if isnan(half) else (mean - half, mean + half))
        if points:
            series.append(Series(look.title, look.colour, points, ends, look.shape))
    ticks = [(float(place), say(value)) for place, value in enumerate(values)]
    return chart(title, series, ticks, names=("", "SPL"))


def percent(fraction: float) -> str:
    """Write a share.

    Examples
    --------
    >>> percent(0.005)
    '0.5 %'
    """
    return f"{100 * fraction:g} %"
