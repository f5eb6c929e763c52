"""The charts of the report, each from the rows of one experiment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

import numpy as np

from ..study.paper import FIGURES, value
from ..study.rollout import SWEEPS
from ..study.statistics import bootstrap_interval
from ..study.tables import Rows
from .phase import Configuration, phase_panel
from .svg import SHARE, Scale, Series, legend, line_chart

LOOKS = {
    "harmonic": ("harmonic", "harmonic", "circle"),
    "sweeps": (SWEEPS.title, "sweeps", "square"),
    "amle": ("AMLE, exact", "exact-line", "triangle"),
    "amle_exit": ("AMLE, exact, exit ties", "exit", "diamond"),
    "nearest": ("nearest label", "nearest", "diamond"),
    "oracle": ("oracle", "oracle", "circle"),
    "p8": ("p = 8, certified", "line-c", "circle"),
    "amle_trimmed": ("AMLE, false sinks dropped", "exit", "diamond"),
}
"""Name, colour and shape of each method, the same in all charts."""
TONES = ("line-a", "line-b", "line-c", "line-d")
SHAPES = ("circle", "square", "triangle", "diamond")
_PANELS = (("harmonic", "harmonic"), ("sweeps", "amle"), ("amle", None))


@dataclass(frozen=True)
class Chart:
    """A drawing, its title and its legend."""

    title: str
    svg: str
    legend: str = ""


def panels(rows: Rows) -> list[tuple[str, str]]:
    """Draw the phase diagram: harmonic, AMLE stopped early, AMLE solved."""
    drawn = []
    for arm, method in _PANELS:
        cells = rows.where(arm=arm).by("maze", "refinement", "label_fraction")
        shares = {key: group.ratio("reached", "pairs") for key, group in cells.items()}
        known = {key: _printed(key, method) for key in shares if cells[key].on_papers_mazes}
        printed = {key: theirs for key, theirs in known.items() if theirs is not None}
        title = LOOKS[arm][0]
        drawn.append((title, phase_panel(shares, printed, title)))
    return drawn


def _printed(where: Configuration, method: str | None) -> float | None:
    maze, r, lf = where
    figure = FIGURES.get(f"grid-{maze}/r{r}/lf{lf:.2f}/{method}")
    return None if figure is None else figure.value


def against(
    rows: Rows, column: str, arms: Sequence[str], title: str, say: Callable[[Any], str] = str
) -> Chart:
    """Draw success against a column of the rows, a line for each arm, with run-bootstrap intervals.

    Parameters
    ----------
    rows : Rows
        With columns ``arm``, ``reached`` and ``pairs``.
    column : str
        What varies.
    arms : sequence of str
        Which to draw; those without rows are left out.
    title : str
        Of the chart.
    say : function
        Writes a value of the column.
    """
    values = rows.values(column)
    series = []
    for arm in arms:
        groups = rows.where(arm=arm).by(column)
        points, ends = [], []
        for place, each in enumerate(values):
            if each in groups:
                shares = groups[each].share("reached", "pairs")
                points.append((place, float(shares.mean())))
                ends.append(bootstrap_interval(shares))
        if points:
            name, colour, shape = LOOKS[arm]
            series.append(Series(name, colour, points, ends, shape))
    if column in ("refinement", "label_fraction"):
        series += _paper_series(rows.by(column), values)
    return _chart(title, series, [(place, say(each)) for place, each in enumerate(values)])


def _paper_series(groups: Mapping[Any, Rows], values: Sequence[Any]) -> list[Series]:
    """Return the paper's success on the same configurations, where its grid has them."""
    found = []
    for method, look, name in (("harmonic", "harmonic", "harmonic"), ("amle", "sweeps", "AMLE")):
        shares = [printed_success(groups[each], method) for each in values]
        points = [(float(k), share) for k, share in enumerate(shares) if share is not None]
        if points:
            colour = LOOKS[look][1]
            found.append(Series(f"paper, {name}", colour, points, (), "diamond", hollow=True))
    return found


def printed_success(rows: Rows, method: str) -> float | None:
    """Mean of the paper's grid over the configurations at hand; None if it has not all of them."""
    if not rows.on_papers_mazes:
        return None
    names = [f"grid-{maze}/r{r}/lf{lf:.2f}/{method}" for maze, r, lf in rows.configurations]
    known = all(name in FIGURES for name in names)
    return float(np.mean([value(name) for name in names])) if known else None


def iteration_charts(rows: Rows) -> list[Chart]:
    """Draw success and residual against the number of sweeps, the paper's beside ours."""
    swept = rows.where(arm="sweeps").by("sweeps")
    budgets = sorted(swept)
    ticks = [(0.0, "0"), *((float(k), f"{b:,}") for k, b in enumerate(budgets, 1))]
    last = float(len(budgets) + 1)
    points = [(place, swept[b].ratio("reached", "pairs")) for place, b in enumerate(budgets, 1)]
    start = rows.where(arm="harmonic").ratio("reached", "pairs")
    exact = rows.where(arm="amle").ratio("reached", "pairs")
    lines = [
        Series("ours, from the harmonic field", "sweeps", [(0.0, start), *points], (), "square"),
        Series("ours, exact", "exact-line", [(last, exact)], (), "triangle"),
        *_paper_sweeps(rows, "success", budgets),
    ]
    residuals = [(place, swept[b].mean("residual")) for place, b in enumerate(budgets, 1)]
    size = [
        Series("ours, mean over cells", "sweeps", residuals, (), "square"),
        *_paper_sweeps(rows, "residual", budgets),
    ]
    names = ("midrange sweeps", "success"), ("midrange sweeps", "residual")
    return [
        _chart("Success against sweeps", lines, [*ticks, (last, "exact")], names=names[0]),
        _chart("Residual against sweeps", size, ticks[1:], Scale(1e-5, 1e-1, log=True), names[1]),
    ]


def _paper_sweeps(rows: Rows, column: str, budgets: Sequence[int]) -> list[Series]:
    names = [f"iterations/sweeps{budget}/{column}" for budget in budgets]
    points = _paper_points(rows, names, first=1)
    return [Series("paper", "harmonic", points, (), "diamond", hollow=True)] if points else []


def _paper_points(rows: Rows, names: Sequence[str], first: int = 0) -> list[tuple[float, float]]:
    """Return the paper's figures by these ids, where it has them and the rows are on its mazes."""
    if not rows.on_papers_mazes:
        return []
    found = enumerate(names, first)
    return [(float(place), value(name)) for place, name in found if name in FIGURES]


def family_charts(rows: Rows) -> list[Chart]:
    """Draw success along the p-family by resolution, and the ordering along it."""
    powers = sorted({float(p) for p in rows.values("p")})
    ticks = [(float(k), "∞" if p == inf else f"{p:g}") for k, p in enumerate(powers)]
    exact = Rows.of(row for row in rows if row["arm"] != "sweeps")
    series, printed = [], []
    for (r, chosen), tone, shape in zip(
        exact.by("refinement").items(), TONES, SHAPES, strict=False
    ):
        groups = chosen.by("p")
        points = [(float(k), groups[p].ratio("reached", "pairs")) for k, p in enumerate(powers)]
        series.append(Series(f"r = {r}, certified", tone, points, (), shape))
        theirs = _paper_points(rows, [f"finite-p-by-r/r{r}/p{p:g}" for p in powers])
        if theirs:
            printed.append(Series(f"r = {r}, paper", tone, theirs, (), shape, hollow=True))
    names = ("p", "success")
    charts = [_chart("Success against p", [*series, *printed], ticks, names=names)]
    return [*charts, _low_tau(exact, powers, ticks)]


def _low_tau(rows: Rows, powers: Sequence[float], ticks: list[tuple[float, str]]) -> Chart:
    """Draw the share of poorly ranked decisions along the family, in both scopes."""
    groups = rows.by("p")
    series = [
        Series(
            title,
            tone,
            [
                (float(k), groups[p].ratio(f"{scope}_low_tau", f"{scope}_ranked"))
                for k, p in enumerate(powers)
            ],
            (),
            shape,
        )
        for scope, title, tone, shape in (
            ("all", "all decisions", "line-a", "circle"),
            ("eval", "decisions of the rollouts", "line-b", "square"),
        )
    ]
    printed = _paper_points(rows, [f"p-family/p{p:g}/low_tau" for p in powers])
    if printed:
        title = "paper, mean of the two"
        series.append(Series(title, "line-c", printed, (), "diamond", hollow=True))
    highest = max((y for each in series for _, y in each.points if isfinite(y)), default=1.0)
    names = ("p", "share with τ < 0.5")
    return _chart(
        "Poorly ranked decisions against p", series, ticks, Scale(0, 1.1 * highest or 1.0), names
    )


def mechanism_chart(rows: Rows) -> Chart:
    """Draw the rates of the mechanism audit by resolution, the paper's beside ours."""
    groups = rows.where(arm="sweeps").by("refinement")
    sizes = sorted(groups)
    lines = (
        ("primary_geometry", "AMLE-compatible only", "primary", "decisions"),
        ("corrected", "inversions corrected by AMLE", "corrected", "inversions"),
        ("certified", "inversions certified", "certified", "inversions"),
    )
    series, printed = [], []
    for (name, title, part, whole), tone, shape in zip(lines, TONES, SHAPES, strict=False):
        points = [(float(k), groups[r].ratio(part, whole)) for k, r in enumerate(sizes)]
        series.append(Series(title, tone, points, (), shape))
        rates = _paper_points(rows, [f"mechanism-by-r/r{r}/{name}" for r in sizes])
        theirs = [(place, rate / 100) for place, rate in rates]
        if theirs:
            printed.append(Series(f"paper, {title}", tone, theirs, (), shape, hollow=True))
    ticks = [(float(k), f"r = {r}") for k, r in enumerate(sizes)]
    title = "Mechanism audit against resolution"
    return _chart(title, [*series, *printed], ticks, SHARE, ("", "share"))


def _chart(
    title: str,
    series: Sequence[Series],
    ticks: Sequence[tuple[float, str]],
    scale: Scale | None = None,
    names: tuple[str, str] = ("", "success"),
) -> Chart:
    chosen = scale or _share_scale(series)
    return Chart(title, line_chart(series, ticks, title, chosen, names), legend(series))


def _share_scale(series: Sequence[Series]) -> Scale:
    """From 0 to 1, or from closer to 1 if all values are there."""
    lowest = min((y for each in series for _, y in each.points if isfinite(y)), default=0.0)
    return Scale(next((s for s in (0.95, 0.9, 0.8, 0.6, 0.4) if lowest >= s + 0.02), 0.0), 1.0)
