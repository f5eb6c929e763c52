"""What the experiments on PointMaze show alike: success by planner, with Wilson's intervals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ...engine.records import Records
from ...engine.statistics import wilson_interval
from ...report import Chart, Look, Series, Table, chart
from .._point import LOOKS

NOTES = (
    "Success in % of episodes, with Wilson's 95 % interval in brackets where it is not 100 or 0. "
    "All planners have the same landmarks, but for the one that gets the buffer alone and chooses "
    "its own; the same low level, and the same starts, goals, noise and luck.",
)


def say_success(rows: Records) -> str:
    """Write a share in percent, and its interval where there is one to speak of."""
    reached, pairs = rows.total("reached"), rows.total("pairs")
    if not pairs:
        return "–"
    told = f"{100 * reached / pairs:.0f}"
    if reached in (0, pairs):
        return told
    low, high = wilson_interval(reached, pairs)
    return f"{told} ({100 * low:.0f}–{100 * high:.0f})"


def say_steps(rows: Records) -> str:
    """Write the mean number of steps of those who arrived."""
    reached = rows.total("reached")
    return f"{rows.total('steps') / reached:.0f}" if reached else "–"


def looks_of(rows: Records) -> list[Look]:
    """Return the looks of the planners at hand, in the order of all."""
    known = set(rows.values("arm"))
    return [look for look in LOOKS if look.name in known]


def success_table(rows: Records, name: str, title: str, column: str = "graph") -> Table:
    """Success of every planner by a column, and the steps of the first value that has any."""
    values = rows.values(column)
    groups = rows.by("arm", column)
    lines = []
    for look in looks_of(rows):
        found = [groups.get((look.name, value), Records(())) for value in values]
        told = [say_success(some) if len(some) else "–" for some in found]
        steps = next((say_steps(some) for some in found if len(some)), "–")
        lines.append([look.title, *told, steps])
    heads = ["planner", *map(str, values), f"steps, {values[0]}"]
    episodes = max(some.total("pairs") for some in groups.values())
    return Table(name, title, heads, lines, f"{episodes} episodes each.")


def success_against(
    rows: Records, column: str, arms: Sequence[str], title: str, ticks: Sequence[tuple[object, str]]
) -> Chart:
    """Draw success against a column, a line for every planner, with Wilson's intervals."""
    series = []
    for look in looks_of(rows):
        groups = rows.where(arm=look.name).by(column)
        shown = [
            (place, groups[value]) for place, (value, _) in enumerate(ticks) if value in groups
        ]
        if look.name in arms and shown:
            points = [(float(place), some.ratio("reached", "pairs")) for place, some in shown]
            ends = [wilson_interval(s.total("reached"), s.total("pairs")) for _, s in shown]
            series.append(Series(look.title, look.colour, points, ends, look.shape))
    places = [(float(place), told) for place, (_, told) in enumerate(ticks)]
    return chart(title, series, places, names=("", "success"))


def spread(rows: Records, column: str) -> float:
    """Largest less smallest success over the values of a column."""
    shares = sorted(some.ratio("reached", "pairs") for some in rows.by(column).values())
    return sum(high - low for low, high in pairwise(shares))
