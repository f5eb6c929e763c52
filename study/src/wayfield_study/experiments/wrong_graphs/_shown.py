"""What the experiments on wrong graphs show alike: SPL by arm, and differences with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wayfield.kernels._types import FloatArray

from ...engine.records import Records
from ...engine.statistics import t_interval
from ...engine.tasks import Row
from ...report import Chart, Look, Series, Table, chart
from .._wrong import LOOKS, MENDS, OURS, REFERENCE, WRONG_WORLDS

NOTES = (
    "SPL: mean over starts of (reached) × least cost / cost paid. ± are 95 % intervals of paired "
    "differences over seeds, by Student's t.",
)
FEWEST_SEEDS = 4
"""With fewer there are no intervals, and nothing is stated as a finding."""
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


def too_few(rows: Records) -> bool:
    """Whether there are too few seeds to state anything."""
    return len(rows.values("seed")) < FEWEST_SEEDS


def interval(values: Sequence[float] | FloatArray) -> tuple[float, float]:
    """Return the mean and half the width of its interval over seeds, 0 if they are too few.

    Examples
    --------
    >>> interval([0.1, 0.3])
    (0.2, 0.0)
    """
    mean, half = t_interval(values)
    return mean, half if len(values) >= FEWEST_SEEDS else 0.0


def say_difference(differences: FloatArray) -> str:
    """Write a mean difference, and its interval if there are seeds enough.

    Examples
    --------
    >>> say_difference(np.array([-0.1, -0.2, -0.3, -0.2]))
    '−0.200 ± 0.130'
    >>> say_difference(np.array([-0.1, -0.3]))
    '−0.200'
    """
    if not differences.size:
        return "–"
    mean, half = interval(differences)
    return signed(mean) + (f" ± {half:.3f}" if half else "")


def signed(number: float) -> str:
    """Write a number with its sign.

    Examples
    --------
    >>> signed(-0.25)
    '−0.250'
    """
    return f"{number:+.3f}".replace("-", "−")


def clearly_above(differences: FloatArray) -> bool:
    """Whether the whole interval of the mean lies above 0."""
    if differences.size < FEWEST_SEEDS:
        return False
    mean, half = interval(differences)
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
    """SPL of every arm in every world, and the mean over worlds.

    First comes what it is about: mend, replanning Dijkstra and their difference; then the other
    ways of mending, and the rest.
    """
    looks = sorted(looks_of(rows), key=_place)
    compared = {OURS, REFERENCE} <= {look.name for look in looks}
    groups = rows.by("world")
    lines = [[world, *_entries(some, looks, compared)] for world, some in groups.items()]
    if len(groups) > 1:
        lines.append(["mean", *_entries(rows, looks, compared)])
    heads = [look.title for look in looks]
    if compared:
        heads.insert(2, "mend − replanning Dijkstra")
    return Table(name, title, ["world", *heads], lines, note)


def _place(look: Look) -> int:
    """Say where a column stands in a table: ours, what it is compared with, other mends, others."""
    return [look.name == OURS, look.name == REFERENCE, look.name in MENDS, True].index(True)


def _entries(rows: Records, looks: Sequence[Look], compared: bool) -> list[str]:
    arms = rows.by("arm")
    means = [f"{arms[look.name].mean('spl'):.3f}" if look.name in arms else "–" for look in looks]
    if compared:
        means.insert(2, say_difference(paired(rows)))
    return means


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
                seeds = groups[value].by("seed").values()
                mean, half = interval([some.mean("spl") for some in seeds])
                points.append((float(place), mean))
                ends.append((mean - half, mean + half))
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
