"""Drawings as SVG: the phase diagram, and small graphs with their values and plan.

Everything drawn was stored by an experiment; nothing is solved here.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np

from wayfield.graph import Graph
from wayfield.kernels._types import FloatArray
from wayfield.labels import Labels
from wayfield.plans import Plan

from ..engine.tasks import Row
from .charts import drawing, shortened, tag, text_width

_STOPS = ("#6d1f45", "#bf4b41", "#e9a15b", "#f5e3ae", "#98cbd3", "#23769c")
_BOX, _TALL, _LEFT, _HEAD = 82, 46, 48, 44
_WIDEST = 300  # a name of a maze that is longer is cut short; bold letters are a tenth wider

Configuration = tuple[str, int, float]
_STEP, _RADIUS, _EDGE = 62.0, 17.0, 30.0
_ARROW = "M-6-4L4 0L-6 4Z"


# -------------------------------------------------------------------- the phase diagram


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
                if (maze, r, lf) not in shares:
                    continue
                ours, theirs = shares[maze, r, lf], printed.get((maze, r, lf))
                x, fill = _LEFT + column * _BOX, colour(ours)
                light = sum(k * part for k, part in zip((3, 6, 1), _rgb(fill), strict=True))
                ink = "#ffffff" if light < 1350 else "#1b242d"
                paper = "" if theirs is None else f", paper {theirs:.3f}"
                said = tag("title", escape(f"{maze}, r = {r}, lf = {lf:g}: {ours:.4f}{paper}"))
                box: dict[str, Any] = {"width": _BOX - 2, "height": _TALL - 2, "rx": 3}
                parts.append(tag("rect", said, x=x + 1, y=y + 1, **box, fill=fill))
                look: dict[str, Any] = {"x": x + _BOX / 2, "text_anchor": "middle", "fill": ink}
                look["pointer_events"] = "none"
                high = y + 28 - (0 if theirs is None else 6)
                style = f"fill:{ink}"
                parts.append(tag("text", f"{ours:.3f}", y=high, class_="ours", style=style, **look))
                if theirs is not None:
                    look["style"] = f"{style};opacity:.8"
                    parts.append(tag("text", f"{theirs:.3f}", y=y + 37, class_="theirs", **look))
    height = len(mazes) * (tall + 8) - 8
    phrase = f"success of {title} by maze, resolution and label fraction"
    return drawing(tag("g", "".join(parts), class_="phase"), width, height, phrase)


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
    """Return the colour of a share, between the stops.

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


def _rgb(text: str) -> tuple[int, int, int]:
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


# -------------------------------------------------------------------- small graphs


def stored_graph(graph: Graph) -> Row:
    """Return a graph in the plane as columns of a row: its vertices, and every edge once."""
    assert graph.positions is not None
    once = graph.tails < graph.indices
    ends = {"tails": graph.tails[once], "heads": graph.indices[once]}
    return {"x": graph.positions[:, 0], "y": graph.positions[:, 1], **ends}


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
    about = {"values": plan.values, "successor": plan.successor, "arrives": plan.reached}
    return stored_graph(graph) | about | {"labelled": labels.mask(graph), "goal": plan.goal}


def graph_drawing(row: Row, description: str) -> str:
    """Draw a field on a small graph, and the greedy plan on it.

    Labelled vertices have a double ring, the goal is filled, and starts that never reach it are
    in a warning colour.
    """
    # where the vertices are drawn: the closest two are one step apart
    positions = np.column_stack([row["x"], row["y"]])
    apart = np.linalg.norm(positions[:, None] - positions, axis=2)
    places = (positions - positions.min(axis=0)) / apart[apart > 0].min() * _STEP
    places[:, 1] = places[:, 1].max() - places[:, 1]
    places += _EDGE
    ends = zip(row["tails"], row["heads"], strict=True)
    parts = [tag("path", class_="edge", d=_segment(places[a], places[b])) for a, b in ends]
    for x, (cx, cy) in enumerate(places.tolist()):
        kinds = ["vertex", *(["goal"] if x == row["goal"] else [])]
        kinds += [] if row["arrives"][x] else ["failing"]
        vertex = tag("circle", cx=cx, cy=cy, r=_RADIUS)
        if row["labelled"][x]:
            vertex += tag("circle", cx=cx, cy=cy, r=_RADIUS - 3, class_="ring")
        vertex += tag("text", f"{row['values'][x]:.3g}", x=cx, y=cy + 4, text_anchor="middle")
        parts.append(tag("g", vertex, class_=" ".join(kinds)))
    for x, head in enumerate(row["successor"]):
        if head == x:
            continue
        # a step of the plan, a little beside the edge, so that two opposite ones do not hide
        along = (places[head] - places[x]) / np.linalg.norm(places[head] - places[x])
        beside = np.array([-along[1], along[0]]) * 4.0
        start = places[x] + along * (_RADIUS + 1) + beside
        end = places[head] - along * (_RADIUS + 5) + beside
        turn = float(np.degrees(np.arctan2(along[1], along[0])))
        move = f"translate({end[0]:.1f} {end[1]:.1f}) rotate({turn:.0f})"
        arrow = tag("path", class_="shaft", d=_segment(start, end))
        arrow += tag("path", d=_ARROW, transform=move)
        parts.append(tag("g", arrow, class_="step" if row["arrives"][x] else "step failing"))
    width, height = places.max(axis=0) + _EDGE
    return drawing(tag("g", "".join(parts), class_="graph"), width, height, description)


def _segment(a: FloatArray, b: FloatArray) -> str:
    return f"M{a[0]:.1f} {a[1]:.1f}L{b[0]:.1f} {b[1]:.1f}"
