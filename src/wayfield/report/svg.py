"""Small SVG charts, drawn by hand: crisp at any size, in the page's own ink and colours.

A chart takes its colours from the page's style sheet (``class="harmonic"`` and so on), so one
drawing serves a light page and a dark one, and every mark says its number when pointed at.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any

WIDTH, HEIGHT = 500, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 14, 16, 40
_LETTER = 7.0  # width of a letter of 12 pixels, rather too much
_SLANT, _LONGEST = math.radians(35), 170.0
_SHAPES = {
    "circle": "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0",
    "square": "M-4-4H4V4H-4Z",
    "diamond": "M0-6L6 0L0 6L-6 0Z",
    "triangle": "M0-5.5L5.2 4H-5.2Z",
}


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
        Of the marks: circle, square, diamond or triangle.
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
        """Height of a value in the drawing; what lies outside is put on the edge."""
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
        step = _round_step((self.high - self.low) / 5)
        first = math.ceil(self.low / step - 1e-9)
        return [step * k for k in range(first, math.floor(self.high / step + 1e-9) + 1)]

    def label(self, tick: float) -> str:
        """Write a tick."""
        return f"10^{round(math.log10(tick))}" if self.log else f"{tick:.4g}"


SHARE = Scale(0.0, 1.0)


def tag(name: str, content: str = "", **attributes: Any) -> str:
    """Write an element; an underscore in an attribute's name is a hyphen, a final one nothing.

    Examples
    --------
    >>> tag("text", "1 < 2", x=1.25, class_="dim")
    '<text x="1.2" class="dim">1 < 2</text>'
    """
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_attribute(value)}"'
        for key, value in attributes.items()
    )
    return f"<{name}{told}>{content}</{name}>"


def drawing(content: str, width: float, height: float, description: str) -> str:
    """Wrap a drawing that takes the width of its place, but is not blown up.

    Examples
    --------
    >>> drawing("", 100, 40, "nothing")
    '<svg viewBox="0 0 100 40" style="max-width: 125px" role="img" aria-label="nothing"></svg>'
    """
    box, most = f"0 0 {width:g} {height:g}", f"max-width: {1.25 * width:.0f}px"
    return tag("svg", content, viewBox=box, style=most, role="img", aria_label=escape(description))


def line_chart(
    series: Sequence[Series],
    ticks: Sequence[tuple[float, str]],
    description: str,
    scale: Scale = SHARE,
    names: tuple[str, str] = ("", "success"),
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
    deep = _depth(placed)
    parts = [_axes(scale, placed, names, deep)]
    for each in series:
        known = [(x, y) for x, y in each.points if math.isfinite(y)]
        marks = [(across(x), scale.place(y)) for x, y in known]
        inside = "" if each.hollow or not marks else _path(marks)
        for (x, _), (bottom, top) in zip(marks, each.intervals, strict=False):
            inside += tag("path", d=f"M{x:.1f} {scale.place(bottom):.1f}V{scale.place(top):.1f}")
        for (x, y), (place, value) in zip(marks, known, strict=True):
            told = next((text for at, text in ticks if at == place), f"{place:g}")
            title = tag("title", escape(f"{each.label}, {told}: {value:.4g}"))
            move = f"translate({x:.1f} {y:.1f})"
            inside += tag("path", title, class_="mark", d=_SHAPES[each.shape], transform=move)
        kind = "series hollow" if each.hollow else "series"
        parts.append(tag("g", inside, class_=f"{kind} {each.colour}"))
    return drawing("".join(parts), WIDTH, HEIGHT + deep, description)


def text_width(text: str) -> float:
    """Width of a text in the page's letters, rather too much than too little.

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


def _depth(ticks: list[tuple[float, str]]) -> float:
    """Height that names along the axis need beyond one line; 0 if they fit beside each other."""
    widths = [text_width(text) for _, text in ticks]
    pairs = zip(pairwise(x for x, _ in ticks), pairwise(widths), strict=True)
    if all(right - left >= (a + b) / 2 + 4 for (left, right), (a, b) in pairs):
        return 0.0
    return math.sin(_SLANT) * min(max(widths), _LONGEST)


def _slanted(x: float, y: float, text: str) -> str:
    """Write a name that rises to its tick; what is cut short is said when pointed at."""
    room = min(_LONGEST, (x - 14) / math.cos(_SLANT))
    short = shortened(text, room)
    turn = f"rotate({-math.degrees(_SLANT):.0f} {x:.1f} {y:.1f})"
    title = "" if short == text else tag("title", escape(text))
    return tag("text", escape(short) + title, x=x, y=y, text_anchor="end", transform=turn)


def _axes(scale: Scale, ticks: list[tuple[float, str]], names: tuple[str, str], deep: float) -> str:
    parts = []
    for tick in scale.ticks:
        y = scale.place(tick)
        parts.append(tag("path", class_="rule", d=f"M{_LEFT} {y:.1f}H{WIDTH - _RIGHT}"))
        parts.append(_text(_LEFT - 7, y + 4, scale.label(tick), "end"))
    bottom = HEIGHT - _BOTTOM
    for x, text in ticks:
        parts.append(
            _slanted(x + 4, bottom + 14, text) if deep else _text(x, bottom + 17, text, "middle")
        )
    parts.append(_text((_LEFT + WIDTH) / 2, HEIGHT + deep - 5, names[0], "middle"))
    middle = (_TOP + bottom) / 2
    turn = f"rotate(-90 13 {middle:.1f})"
    parts.append(
        tag("text", escape(names[1]), x=13, y=middle, text_anchor="middle", transform=turn)
    )
    return tag("g", "".join(parts), class_="axes")


def _text(x: float, y: float, text: str, anchor: str) -> str:
    if text.startswith("10^"):
        raised = tag("tspan", text[3:].replace("-", "−"), dy=-5, font_size=9)
        return tag("text", f"10{raised}", x=x, y=y, text_anchor=anchor)
    return tag("text", escape(text), x=x, y=y, text_anchor=anchor)


def _path(points: Sequence[tuple[float, float]]) -> str:
    return tag("path", class_="line", d="M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points))


def _attribute(value: Any) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def _round_step(size: float) -> float:
    """Return the least of 1, 2 or 5 times a power of ten that is not below a size."""
    power = 10.0 ** math.floor(math.log10(size))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= size * (1 - 1e-9))
