"""Charts as SVG, drawn by hand: crisp at any size, in the page's own ink and colours.

A chart takes its colours from the page's style sheet (``class="harmonic"`` and so on), so one
drawing serves a light page and a dark one, and every mark says its number when pointed at.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise
from typing import Any, TypeAlias

from ..engine.records import Records
from ..engine.statistics import bootstrap_interval

TONES = ("line-a", "line-b", "line-c", "line-d")
WIDTH, HEIGHT = 500, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 14, 16, 40
_LETTER = 7.0  # width of a letter of 12 pixels, rather too much
_SLANT, _LONGEST = math.radians(35), 170.0
_SHAPES = {
    "circle": "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0",
    "square": "M-4-4H4V4H-4Z",
    "triangle": "M0-5.5L5.2 4H-5.2Z",
    "diamond": "M0-6L6 0L0 6L-6 0Z",
    "falling": "M0 5.5L5.2-4H-5.2Z",
    "plus": "M-2-5.5H2V-2H5.5V2H2V5.5H-2V2H-5.5V-2H-2Z",
    "hexagon": "M-5.4 0L-2.7-4.7H2.7L5.4 0L2.7 4.7H-2.7Z",
    "cross": "M-5-2.5L-2.5-5L0-2.5L2.5-5L5-2.5L2.5 0L5 2.5L2.5 5L0 2.5L-2.5 5L-5 2.5L-2.5 0Z",
    "bar": "M-2.2-6H2.2V6H-2.2Z",
    "dash": "M-6-2.2H6V2.2H-6Z",
    "pentagon": "M0-5.5L5.2-1.7L3.2 4.4H-3.2L-5.2-1.7Z",
    "left": "M-5.5 0L4-5.2V5.2Z",
    "star": "M0-6.5L1.7-2L6.2-2L2.6.9L4 5.5L0 2.7L-4 5.5L-2.6.9L-6.2-2L-1.7-2Z",
}
SHAPES = tuple(_SHAPES)
"""Names of the marks that there are."""
_BESIDE, _SPREAD = 9.0, 40.0
"""Most pixels between marks at one place of an axis: where it has several places, and only one."""


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
        Place along the axis, and value; what is not a number is left out.
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
class Scale:
    """The vertical axis: a range, linear or logarithmic, and where its ticks are."""

    low: float
    high: float
    log: bool = False

    def place(self, value: float) -> float:
        """Return the height of a value in the drawing; values outside are put on the edge."""
        value = min(max(value, self.low), self.high)
        low, high = self.low, self.high
        if self.log:
            value, low, high = math.log(value), math.log(low), math.log(high)
        share = (value - low) / (high - low)
        return HEIGHT - _BOTTOM - share * (HEIGHT - _TOP - _BOTTOM)

    @property
    def ticks(self) -> list[float]:
        """Round numbers in the range."""
        if self.log:
            first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
            return [10.0**power for power in range(first, last + 1)]
        size = (self.high - self.low) / 5
        power = 10.0 ** math.floor(math.log10(size))
        # the least of 1, 2 or 5 times a power of ten that is not below a fifth of the range
        step = next(k * power for k in (1, 2, 5, 10) if k * power >= size * (1 - 1e-9))
        first = math.ceil(self.low / step - 1e-9)
        return [step * k for k in range(first, math.floor(self.high / step + 1e-9) + 1)]

    def label(self, tick: float) -> str:
        """Write a tick."""
        return f"10^{round(math.log10(tick))}" if self.log else f"{tick:.4g}"


SHARE = Scale(0.0, 1.0)
Ticks: TypeAlias = Sequence[tuple[float, str]]
Names: TypeAlias = tuple[str, str]
"""Of the two axes."""
SUCCESS: Names = ("", "success")


def tag(name: str, content: str = "", **attributes: Any) -> str:
    """Return an element. In attribute names, underscores become hyphens; a final one is dropped.

    Examples
    --------
    >>> tag("text", "1 < 2", x=1.25, class_="dim")
    '<text x="1.2" class="dim">1 < 2</text>'
    """
    written = ""
    for key, value in attributes.items():
        text = f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
        written += f' {key.rstrip("_").replace("_", "-")}="{text}"'
    return f"<{name}{written}>{content}</{name}>"


def drawing(content: str, width: float, height: float, description: str) -> str:
    """Wrap a drawing that shrinks to the width available but is never enlarged.

    Examples
    --------
    >>> drawing("", 100, 40, "nothing")
    '<svg viewBox="0 0 100 40" style="max-width: 125px" role="img" aria-label="nothing"></svg>'
    """
    box, most = f"0 0 {width:g} {height:g}", f"max-width: {1.25 * width:.0f}px"
    return tag("svg", content, viewBox=box, style=most, role="img", aria_label=escape(description))


def line_chart(
    series: Sequence[Series],
    ticks: Ticks,
    description: str,
    scale: Scale = SHARE,
    names: Names = SUCCESS,
) -> str:
    """Draw values against places along an axis.

    Parameters
    ----------
    series : sequence of Series
        The lines; those of the paper last, so that their hollow marks stay visible.
    ticks : sequence of (float, str)
        Places along the axis and what to write there.
    description : str
        For readers who cannot see it.
    scale : Scale
        The vertical axis.
    names : (str, str)
        Of the two axes.

    Examples
    --------
    >>> drawn = line_chart([Series("ours", "exact-line", [(0, 0.5)])], [(0, "r = 4")], "success")
    >>> "<title>ours, r = 4: 0.5</title>" in drawn
    True
    """
    places = [place for place, _ in ticks]
    low, high = min(places) - 0.4, max(places) + 0.4

    def across(place: float) -> float:
        return _LEFT + (place - low) / (high - low) * (WIDTH - _LEFT - _RIGHT)

    placed = [(across(place), text) for place, text in ticks]
    # names that do not fit beside each other are slanted, and need height beyond one line
    widths = [text_width(text) for _, text in ticks]
    gaps = zip(pairwise(x for x, _ in placed), pairwise(widths), strict=True)
    crowded = any(right - left < (a + b) / 2 + 4 for (left, right), (a, b) in gaps)
    deep = math.sin(_SLANT) * min(max(widths), _LONGEST) if crowded else 0.0
    parts = [_axes(scale, placed, names, deep)]
    names_of = dict(ticks)
    for each, shift in zip(series, _shifts(series, placed, places), strict=True):
        known = [(x, y) for x, y in each.points if math.isfinite(y)]
        marks = [(across(x) + shift, scale.place(y)) for x, y in known]
        inside = "" if each.hollow or not marks else _path(marks)
        for (x, _), (bottom, top) in zip(marks, each.intervals, strict=False):
            inside += tag("path", d=f"M{x:.1f} {scale.place(bottom):.1f}V{scale.place(top):.1f}")
        for (x, y), (place, value) in zip(marks, known, strict=True):
            where = names_of.get(place, f"{place:g}")
            inside += _mark(each, x, y, f"{each.label}, {where}: {value:.4g}")
        parts.append(_group(each, inside))
    return drawing("".join(parts), WIDTH, HEIGHT + deep, description)


def text_width(text: str) -> float:
    """Return the width of a text in the page's letters, rather too large than too small.

    Examples
    --------
    >>> text_width("r = 4") < text_width("antmaze-large")
    True
    """
    return _LETTER * len(text)


def shortened(text: str, room: float) -> str:
    """Return a text that fits into this width: its middle is left out if it is too long.

    Examples
    --------
    >>> shortened("harmonic", 100.0), shortened("harmonic-with-many-sweeps", 100.0)
    ('harmonic', 'harmoni…sweeps')
    """
    most = max(int(room / _LETTER), 3)
    if len(text) <= most:
        return text
    return f"{text[: most // 2]}…{text[len(text) - (most - 1) // 2 :]}"


def legend(series: Sequence[Series]) -> str:
    """Name the lines of a chart, as a list for the page.

    Examples
    --------
    >>> legend([Series("ours", "exact-line", [])]).endswith("ours</li></ul>")
    True
    """
    items = []
    for each in series:
        mark = tag("path", class_="mark", d=_SHAPES[each.shape], transform="translate(12 7)")
        line = "" if each.hollow else tag("path", d="M1 7H23")
        group = tag("g", line + mark, class_=f"series {each.colour}{' hollow' * each.hollow}")
        key = tag("svg", group, viewBox="0 0 24 14", class_="key", aria_hidden="true")
        items.append(tag("li", key + escape(each.label)))
    return tag("ul", "".join(items), class_="legend")


# -------------------------------------------------------------------- charts of a report


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


def chart(
    title: str,
    series: Sequence[Series],
    ticks: Ticks,
    scale: Scale | None = None,
    names: Names = SUCCESS,
) -> Chart:
    """Draw lines with their legend; by default on a scale of shares, near 1 if all of them are.

    Lines whose marks would look alike get others.
    """
    shown = _with_own_marks(series)
    if scale is None:
        values = [y for each in shown for _, y in each.points]
        values += [low for each in shown for low, _ in each.intervals]
        lowest = min((value for value in values if math.isfinite(value)), default=0.0)
        scale = Scale(next((s for s in (0.95, 0.9, 0.8, 0.6, 0.4) if lowest >= s), 0.0), 1.0)
    return Chart(title, line_chart(shown, ticks, title, scale, names), legend(shown))


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
    marks = [replace(each, hollow=True) for each in shown]
    side = HEIGHT - _TOP - _BOTTOM
    width = _LEFT + side + 2 * _RIGHT

    def across(share: float) -> float:
        return _LEFT + share * side

    ticks = [(across(tick), f"{tick:.4g}") for tick in SHARE.ticks]
    ends = [(across(share), SHARE.place(share)) for share in (0.0, 1.0)]
    parts = [_axes(SHARE, ticks, names, 0.0, width), tag("g", _path(ends), class_="diagonal")]
    for each in marks:
        inside = ""
        for x, y in each.points:
            said = f"{each.label}: {names[0]} {x:.4g}, {names[1]} {y:.4g}"
            if math.isfinite(x) and math.isfinite(y):
                inside += _mark(each, across(x), SHARE.place(y), said)
        parts.append(_group(each, inside))
    return Chart(title, drawing("".join(parts), width, HEIGHT, title), legend(marks))


# -------------------------------------------------------------------- parts


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


def _shifts(series: Sequence[Series], placed: Ticks, places: Sequence[float]) -> list[float]:
    """Return the pixels by which each line moves sideways, so that no mark hides another.

    None where marks lie elsewhere than at the ticks. The paper's hollow marks stay with the line
    of their colour.
    """
    if not {x for each in series for x, _ in each.points} <= set(places):
        return [0.0] * len(series)
    first = {each.colour: each for each in reversed(series) if not each.hollow}
    leaders = [first.get(each.colour, each) if each.hollow else each for each in series]
    slots = {leader: slot for slot, leader in enumerate(dict.fromkeys(map(id, leaders)))}
    if len(placed) > 1:
        gap = min(right - left for (left, _), (right, _) in pairwise(placed))
        step = min(_BESIDE, 0.5 * gap / max(len(slots), 1))
    else:
        step = min(_SPREAD, 0.7 * (WIDTH - _LEFT - _RIGHT) / max(len(slots), 1))
    return [step * (slots[id(leader)] - (len(slots) - 1) / 2) for leader in leaders]


def _mark(series: Series, x: float, y: float, text: str) -> str:
    """Draw a mark that says its number when pointed at."""
    move = f"translate({x:.1f} {y:.1f})"
    title = tag("title", escape(text))
    return tag("path", title, class_="mark", d=_SHAPES[series.shape], transform=move)


def _group(series: Series, inside: str) -> str:
    kind = "series hollow" if series.hollow else "series"
    return tag("g", inside, class_=f"{kind} {series.colour}")


def _axes(scale: Scale, ticks: Ticks, names: Names, deep: float, width: float = WIDTH) -> str:
    parts = []
    for tick in scale.ticks:
        y = scale.place(tick)
        parts.append(tag("path", class_="rule", d=f"M{_LEFT} {y:.1f}H{width - _RIGHT:.1f}"))
        parts.append(_text(_LEFT - 7, y + 4, f"{tick:.4g}", "end"))
    bottom = HEIGHT - _BOTTOM
    if scale.low > 0:  # the axis does not begin at 0: mark that
        parts.append(tag("path", class_="cut", d=f"M{_LEFT} {bottom - 14}v3l-5 2l10 3l-5 2v4"))
    for x, text in ticks:
        if not deep:
            parts.append(_text(x, bottom + 17, text, "middle"))
            continue
        # a slanted name below its tick; the full name appears on hover
        x, y = x + 4, bottom + 14
        short = shortened(text, min(_LONGEST, (x - 14) / math.cos(_SLANT)))
        turn = f"rotate({-math.degrees(_SLANT):.0f} {x:.1f} {y:.1f})"
        title = "" if short == text else tag("title", escape(text))
        name = escape(short) + title
        parts.append(tag("text", name, x=x, y=y, text_anchor="end", transform=turn))
    parts.append(_text((_LEFT + width) / 2, HEIGHT + deep - 5, names[0], "middle"))
    middle = (_TOP + bottom) / 2
    turn = f"rotate(-90 13 {middle:.1f})"
    parts.append(
        tag("text", escape(names[1]), x=13, y=middle, text_anchor="middle", transform=turn)
    )
    return tag("g", "".join(parts), class_="axes")


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return tag("text", escape(text), x=x, y=y, text_anchor=anchor)


def _path(points: Sequence[tuple[float, float]]) -> str:
    return tag("path", class_="line", d="M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points))
