"""Charts and drawings of small graphs as SVG: crisp at any size, in the page's own ink and colours.

Everything drawn was stored by an experiment; nothing is solved here. A chart takes its colours from
the page's style sheet (``class="harmonic"`` and so on), so one drawing serves a light page and a
dark one, and every mark says its number when pointed at. What the marks look like is in the
template ``drawings.html.j2``; where they are is computed here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from wayfield.checks import need
from wayfield.graphs.graph import Graph
from wayfield.graphs.labels import Labels
from wayfield.plans.planning import Plan
from wayfield.words import number_of

from ..engine.records import Records
from ..engine.statistics import bootstrap_interval
from ..engine.tasks import Row

TONES = ("line-a", "line-b", "line-c", "line-d")
SHAPES = (
    "circle", "square", "triangle", "diamond", "falling", "plus", "hexagon", "cross", "bar", "dash",
    "pentagon", "left", "star",
)  # fmt: skip
"""Names of the marks that there are."""
WIDTH, HEIGHT = 500, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 14, 16, HEIGHT - 40
_LETTER = 7.0  # width of a letter of 12 pixels, rather too much
_SLANT, _LONGEST = math.radians(35), 170.0
_BESIDE, _SPREAD = 9.0, 40.0
"""Most pixels between marks at one place of an axis: where it has several places, and only one."""
_STEPS = {0.95: 0.01, 0.9: 0.02, 0.8: 0.05, 0.6: 0.1, 0.4: 0.2, 0.0: 0.2}
"""Where an axis of shares may begin, and the distance of its ticks."""

Ticks: TypeAlias = Sequence[tuple[float, str]]
Names: TypeAlias = tuple[str, str]
"""Of the two axes."""
SUCCESS: Names = ("", "success")


@dataclass(frozen=True)
class Series:
    """A line of a chart.

    Attributes
    ----------
    label : str
        Name in the legend.
    colour : str
        Class of the style sheet.
    points : sequence of (float, float)
        Place along the axis, and a share; what is not a number is left out.
    intervals : sequence of (float, float), optional
        Low and high end at every point, if all of them are numbers.
    shape : str
        Of the marks, one of `SHAPES`.
    hollow : bool
        Marks without filling and without a line: the paper's figures.
    """

    label: str
    colour: str
    points: Sequence[tuple[float, float]]
    intervals: Sequence[tuple[float, float]] = ()
    shape: str = "circle"
    hollow: bool = False


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


Figures: TypeAlias = Callable[[Records], tuple[float, float, float]]
"""From rows to a figure and the ends of its interval."""


def mean_success(rows: Records) -> tuple[float, float, float]:
    """Return the mean over rows of the share that reaches, with its run-bootstrap interval.

    The rows have columns ``reached`` and ``pairs``.
    """
    shares = rows.share("reached", "pairs")
    return float(shares.mean()), *bootstrap_interval(shares)


def against(
    rows: Records,
    column: str,
    looks: Sequence[Look],
    title: str,
    say: Callable[[Any], str] = str,
    others: Sequence[Series] = (),
    figures: Figures = mean_success,
    names: Names = SUCCESS,
) -> Chart:
    """Draw figures against a column of the rows, a line for each arm, with their intervals.

    Parameters
    ----------
    rows : Records
        With a column ``arm`` and those that the figures need.
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
    figures : function of the rows of a point
        By default success with run-bootstrap intervals.
    names : (str, str)
        Of the two axes.
    """
    values = rows.values(column)
    series = []
    for look in looks:
        groups = rows.where(arm=look.name).by(column)
        found = {k: figures(groups[each]) for k, each in enumerate(values) if each in groups}
        if found:
            points = [(float(place), mean) for place, (mean, *_) in found.items()]
            ends = [(low, high) for _, low, high in found.values()]
            series.append(Series(look.title, look.colour, points, ends, look.shape))
    ticks = [(float(place), say(each)) for place, each in enumerate(values)]
    return chart(title, [*series, *others], ticks, names=names)


def chart(title: str, series: Sequence[Series], ticks: Ticks, names: Names = SUCCESS) -> Chart:
    """Draw shares against places along an axis; the scale ends at 1, and begins at 0 or near 1.

    Lines whose marks would look alike get others.

    Parameters
    ----------
    title : str
        Of the chart.
    series : sequence of Series
        The lines; those of the paper last, so that their hollow marks stay visible.
    ticks : sequence of (float, str)
        Places along the axis and what to write there.
    names : (str, str)
        Of the two axes.

    Examples
    --------
    >>> drawn = chart("success", [Series("ours", "exact-line", [(0, 0.5)])], [(0, "r = 4")])
    >>> "<title>ours, r = 4: 0.5</title>" in drawn.svg
    True
    """
    shown = _with_own_marks(series)
    values = [y for each in shown for _, y in each.points]
    values += [low for each in shown for low, _ in each.intervals]
    least = min((value for value in values if math.isfinite(value)), default=0.0)
    low = next((start for start in _STEPS if least >= start), 0.0)
    places = [place for place, _ in ticks]
    first, last = min(places) - 0.4, max(places) + 0.4
    room = WIDTH - _LEFT - _RIGHT

    def across(place: float) -> float:
        return _LEFT + (place - first) / (last - first) * room

    # names that do not fit beside each other are slanted, and need height beyond one line
    placed, widths = [across(place) for place in places], [_LETTER * len(text) for _, text in ticks]
    gaps = zip(pairwise(placed), pairwise(widths), strict=True)
    crowded = any(right - left < (a + b) / 2 + 4 for (left, right), (a, b) in gaps)
    deep = math.sin(_SLANT) * min(max(widths), _LONGEST) if crowded else 0.0
    written = []
    for x, (_, text) in zip(placed, ticks, strict=True):
        most = max(int(min(_LONGEST, (x - 10) / math.cos(_SLANT)) / _LETTER), 3)
        whole = not crowded or len(text) <= most
        short = text if whole else f"{text[: most // 2]}…{text[len(text) - (most - 1) // 2 :]}"
        written.append((x, short, text))

    lines, names_of = [], dict(ticks)
    for each, shift in zip(shown, _shifts(shown, placed, places), strict=True):
        known = [(x, y) for x, y in each.points if math.isfinite(y)]
        marks = [
            (across(x) + shift, _up(y, low), f"{each.label}, {names_of.get(x, f'{x:g}')}: {y:.4g}")
            for x, y in known
        ]
        bars = [
            (x, _up(bottom, low), _up(top, low))
            for (x, *_), (bottom, top) in zip(marks, each.intervals, strict=False)
        ]
        lines.append((each, marks, bars))
    return Chart(title, _drawn(lines, written, low, names, title, deep=deep), _legend(shown))


def scatter(title: str, series: Sequence[Series], names: Names) -> Chart:
    """Draw shares against shares with their legend, and the diagonal on which they agree.

    Parameters
    ----------
    title : str
        Of the chart.
    series : sequence of Series
        The marks: both numbers of a point are shares.
    names : (str, str)
        Of the two axes.

    Examples
    --------
    >>> ours = Series("ours", "exact-line", [(0.5, 0.75)])
    >>> drawn = scatter("", [ours], ("predicted", "measured"))
    >>> "<title>ours: predicted 0.5, measured 0.75</title>" in drawn.svg
    True
    """
    shown = _with_own_marks([replace(each, hollow=False) for each in series])
    side = _BOTTOM - _TOP

    def across(share: float) -> float:
        return _LEFT + share * side

    lines = []
    for each in (replace(one, hollow=True) for one in shown):
        marks = [
            (across(x), _up(y), f"{each.label}: {names[0]} {x:.4g}, {names[1]} {y:.4g}")
            for x, y in each.points
            if math.isfinite(x) and math.isfinite(y)
        ]
        lines.append((each, marks, ()))
    ticks = [(across(tick), f"{tick:.4g}", f"{tick:.4g}") for tick in _ticks(0.0)]
    diagonal = [(across(end), _up(end)) for end in (0.0, 1.0)]
    svg = _drawn(lines, ticks, 0.0, names, title, _LEFT + side + _RIGHT, diagonal=diagonal)
    return Chart(title, svg, _legend([each for each, *_ in lines]))


# -------------------------------------------------------------------- parts of charts


def _ticks(low: float) -> list[float]:
    """Return round numbers from `low` to 1."""
    step = _STEPS[low]
    return [low + k * step for k in range(round((1.0 - low) / step) + 1)]


def _up(share: float, low: float = 0.0) -> float:
    """Return the height of a share in the drawing; those below the axis are put on it."""
    return _BOTTOM - (min(max(share, low), 1.0) - low) / (1.0 - low) * (_BOTTOM - _TOP)


def _drawn(
    lines: Iterable[Any],
    across: Iterable[Any],
    low: float,
    names: Names,
    description: str,
    right: float = WIDTH - _RIGHT,
    deep: float = 0.0,
    diagonal: Sequence[Any] = (),
) -> str:
    """Write a chart whose marks, bars and names along the axis have their places."""
    frame = {
        "left": _LEFT, "right": right, "margin": _RIGHT, "top": _TOP, "bottom": _BOTTOM,
        "height": HEIGHT,
    }  # fmt: skip
    up = [(_up(tick, low), f"{tick:.4g}") for tick in _ticks(low)]
    return _macro("chart", lines, across, up, low, names, description, frame, deep, diagonal)


def _legend(series: Sequence[Series]) -> str:
    """Name the lines of a chart, as a list for the page."""
    return _macro("legend", series)


def _with_own_marks(series: Sequence[Series]) -> list[Series]:
    """Return the lines with marks that differ; the paper's hollow ones keep theirs."""
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


def _shifts(
    series: Sequence[Series], placed: Sequence[float], places: Sequence[float]
) -> list[float]:
    """Return the pixels by which each line moves sideways, so that no mark hides another.

    None where marks lie elsewhere than at the ticks. The paper's hollow marks stay with the line
    of their colour.
    """
    if not {x for each in series for x, _ in each.points} <= set(places):
        return [0.0] * len(series)
    first = {each.colour: each for each in reversed(series) if not each.hollow}
    leaders = [first.get(each.colour, each) if each.hollow else each for each in series]
    slots = {leader: slot for slot, leader in enumerate(dict.fromkeys(map(id, leaders)))}
    count = max(len(slots), 1)
    if len(placed) > 1:
        gap = min(right - left for left, right in pairwise(placed))
        step = min(_BESIDE, 0.5 * gap / count)
    else:
        step = min(_SPREAD, 0.7 * (WIDTH - _LEFT - _RIGHT) / count)
    return [step * (slots[id(leader)] - (len(slots) - 1) / 2) for leader in leaders]


# -------------------------------------------------------------------- drawings of graphs

_STEP, _RADIUS, _EDGE = 62.0, 17.0, 30.0
"""Pixels between the two closest vertices, of their radius, and around the drawing."""


def drawn_graph(graph: Graph, labels: Labels, plan: Plan) -> Row:
    """Return what a drawing of a field and its plan needs, as columns of a row.

    Examples
    --------
    >>> import wayfield as wf
    >>> graph = wf.Graph.from_edges([0, 1], [1, 2], positions=[(0, 0), (1, 0), (2, 0)])
    >>> labels = wf.Labels([0, 2], [0.0, 2.0])
    >>> row = drawn_graph(graph, labels, wf.plan(graph, [0.0, 1.0, 2.0], 0))
    >>> graph_drawing(row, "a path").count("<circle")
    5
    """
    assert graph.positions is not None
    once = graph.tails < graph.indices  # every edge once
    return {
        "x": graph.positions[:, 0],
        "y": graph.positions[:, 1],
        "tails": graph.tails[once],
        "heads": graph.indices[once],
        "values": plan.values,
        "successor": plan.successor,
        "arrives": plan.reached,
        "labelled": labels.mask(graph),
        "goal": plan.goal,
    }


def graph_drawing(row: Row, description: str) -> str:
    """Draw a field on a small graph, and the greedy plan on it."""
    # where the vertices are drawn: the closest two are one step apart
    positions = np.column_stack([row["x"], row["y"]])
    apart = np.linalg.norm(positions[:, None] - positions, axis=2)
    places = (positions - positions.min(axis=0)) / apart[apart > 0].min() * _STEP
    places[:, 1] = places[:, 1].max() - places[:, 1]
    places += _EDGE

    count = len(places)
    about = zip(
        row["values"], row["labelled"], row["arrives"], np.arange(count) == row["goal"], strict=True
    )
    edges = zip(places[row["tails"]].tolist(), places[row["heads"]].tolist(), strict=True)
    steps = []
    for x, head in enumerate(row["successor"]):
        if head != x:
            # a little beside the edge, so that two opposite steps do not hide each other
            along = (places[head] - places[x]) / np.linalg.norm(places[head] - places[x])
            beside = np.array([-along[1], along[0]]) * 4.0
            start = places[x] + along * (_RADIUS + 1) + beside
            end = places[head] - along * (_RADIUS + 5) + beside
            turn = float(np.degrees(np.arctan2(along[1], along[0])))
            steps.append((start.tolist(), end.tolist(), turn, row["arrives"][x]))
    size = (places.max(axis=0) + _EDGE).tolist()
    vertices = list(zip(places.tolist(), about, strict=True))
    return _macro("graph", edges, vertices, steps, size, description)


# -------------------------------------------------------------------- templates


def render(package: str, template: str, **context: Any) -> str:
    """Render a template that a package has in its folder ``templates``."""
    return str(_environment(package).get_template(template).render(number_of=number_of, **context))


def _macro(name: str, *given: Any) -> str:
    """Render a macro of the drawings."""
    drawings = _environment("wayfield_study.report").get_template("drawings.html.j2").module
    return str(getattr(drawings, name)(*given)).strip()


@cache  # a page renders some forty templates, and compiling them takes longer than all the rest
def _environment(package: str) -> Any:
    jinja2 = need("jinja2", "study")
    return jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader(package), jinja2.PackageLoader("wayfield_study.report")]
        ),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
