"""The phase diagram: success by maze, resolution and label fraction as a heat map."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from .svg import drawing, shortened, tag, text_width

_STOPS = ("#6d1f45", "#bf4b41", "#e9a15b", "#f5e3ae", "#98cbd3", "#23769c")
_BOX, _TALL, _LEFT, _HEAD = 82, 46, 48, 44
_WIDEST = 300  # a name of a maze that is longer is cut short; bold letters are a tenth wider

Configuration = tuple[str, int, float]


def phase_panel(
    shares: Mapping[Configuration, float], printed: Mapping[Configuration, float], title: str
) -> str:
    """Draw one method's success, the paper's figure under ours.

    Parameters
    ----------
    shares : mapping
        Success by (maze, r, lf).
    printed : mapping
        The paper's success, where it has one.
    title : str
        Name of the method, for readers who cannot see the picture.

    Examples
    --------
    >>> drawn = phase_panel({("large", 8, 0.02): 0.9}, {("large", 8, 0.02): 0.932}, "AMLE")
    >>> "<title>large, r = 8, lf = 0.02: 0.9000, paper 0.932</title>" in drawn
    True
    """
    mazes = list(dict.fromkeys(maze for maze, _, _ in shares))
    sizes = sorted({r for _, r, _ in shares})
    fractions = sorted({lf for _, _, lf in shares})
    tall = _HEAD + _TALL * len(sizes)
    room = _LEFT + _BOX * len(fractions)
    width = max(room, min(_WIDEST, 1.1 * max(map(text_width, mazes))))
    parts = []
    for above, maze in enumerate(mazes):
        top = above * (tall + 8)
        name = escape(shortened(maze, width / 1.1)) + tag("title", escape(maze))
        parts.append(tag("text", name, x=0, y=top + 16, class_="maze"))
        for column, lf in enumerate(fractions):
            x = _LEFT + (column + 0.5) * _BOX
            parts.append(tag("text", f"lf {lf:g}", x=x, y=top + 36, text_anchor="middle"))
        for row, r in enumerate(sizes):
            y = top + _HEAD + row * _TALL
            parts.append(tag("text", f"r {r}", x=_LEFT - 8, y=y + 27, text_anchor="end"))
            for column, lf in enumerate(fractions):
                where = (maze, r, lf)
                if where in shares:
                    place = (_LEFT + column * _BOX, y)
                    parts.append(_box(place, shares[where], printed.get(where), where))
    height = len(mazes) * (tall + 8) - 8
    told = f"success of {title} by maze, resolution and label fraction"
    return drawing(tag("g", "".join(parts), class_="phase"), width, height, told)


def colour_bar() -> str:
    """Draw the colours from 0 to 1."""
    stops = "".join(
        tag("stop", offset=f"{k / (len(_STOPS) - 1):.0%}", stop_color=each)
        for k, each in enumerate(_STOPS)
    )
    ramp = tag("defs", tag("linearGradient", stops, id="success-ramp"))
    bar = tag("rect", x=20, y=2, width=240, height=10, rx=2, fill="url(#success-ramp)")
    ends = tag("text", "0", x=14, y=11, text_anchor="end") + tag("text", "1 success", x=266, y=11)
    return drawing(ramp + tag("g", bar + ends, class_="phase"), 340, 14, "colours from 0 to 1")


def colour(share: float) -> str:
    """Colour of a share, between the stops.

    Examples
    --------
    >>> colour(0.0), colour(1.0)
    ('#6d1f45', '#23769c')
    """
    place = min(max(share, 0.0), 1.0) * (len(_STOPS) - 1)
    index = min(int(place), len(_STOPS) - 2)
    low, high = (_rgb(_STOPS[index + side]) for side in (0, 1))
    mixed = [round(a + (place - index) * (b - a)) for a, b in zip(low, high, strict=True)]
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _box(
    place: tuple[float, float], ours: float, theirs: float | None, where: Configuration
) -> str:
    x, y = place
    fill = colour(ours)
    dark = sum(weight * part for weight, part in zip((3, 6, 1), _rgb(fill), strict=True)) < 1350
    ink = "#ffffff" if dark else "#1b242d"
    paper = "" if theirs is None else f", paper {theirs:.3f}"
    told = tag("title", escape(f"{where[0]}, r = {where[1]}, lf = {where[2]:g}: {ours:.4f}{paper}"))
    box = tag("rect", told, x=x + 1, y=y + 1, width=_BOX - 2, height=_TALL - 2, rx=3, fill=fill)
    middle = x + _BOX / 2
    look = {"x": middle, "text_anchor": "middle", "fill": ink, "pointer_events": "none"}
    lift = 0 if theirs is None else 6
    box += tag("text", f"{ours:.3f}", y=y + 28 - lift, class_="ours", style=f"fill:{ink}", **look)
    if theirs is not None:
        look["style"] = f"fill:{ink};opacity:.8"
        box += tag("text", f"{theirs:.3f}", y=y + 37, class_="theirs", **look)
    return box


def _rgb(text: str) -> tuple[int, int, int]:
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)
