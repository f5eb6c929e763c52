"""Small graphs as drawings: values in the vertices, labels ringed, the plan as arrows.

A drawing is made from a row that an experiment stored, with the columns of `DRAWN`; nothing is
solved here.
"""

from __future__ import annotations

import numpy as np

from wayfield.graph import Graph
from wayfield.kernels._types import FloatArray
from wayfield.labels import Labels
from wayfield.plans import Plan

from ..engine.tasks import Row
from .svg import drawing, tag

_STEP, _RADIUS, _EDGE = 62.0, 17.0, 30.0
_ARROW = "M-6-4L4 0L-6 4Z"
DRAWN = ("x", "y", "tails", "heads", "values", "successor", "arrives", "labelled", "goal")
"""Columns a drawing needs."""


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
    once = graph.tails < graph.indices
    columns = (
        *graph.positions.T,
        graph.tails[once],
        graph.indices[once],
        plan.values,
        plan.successor,
        plan.reached,
        labels.mask(graph),
        plan.goal,
    )
    return dict(zip(DRAWN, columns, strict=True))


def graph_drawing(row: Row, description: str) -> str:
    """Draw a field on a small graph, and the greedy plan on it.

    Labelled vertices have a double ring, the goal is filled, and starts that never reach it are
    in a warning colour.
    """
    places = _places(np.column_stack([row["x"], row["y"]]))
    ends = zip(row["tails"], row["heads"], strict=True)
    parts = [tag("path", class_="edge", d=_segment(places[a], places[b])) for a, b in ends]
    for x, place in enumerate(places):
        parts.append(_vertex(row, x, place))
    for x, head in enumerate(row["successor"]):
        if head != x:
            parts.append(_arrow(places[x], places[head], row["arrives"][x]))
    width, height = places.max(axis=0) + _EDGE
    return drawing(tag("g", "".join(parts), class_="graph"), width, height, description)


def _places(positions: FloatArray) -> FloatArray:
    """Where the vertices are drawn; the closest two are one step apart."""
    apart = np.linalg.norm(positions[:, None] - positions, axis=2)
    closest = apart[apart > 0].min()
    moved = (positions - positions.min(axis=0)) / closest * _STEP
    moved[:, 1] = moved[:, 1].max() - moved[:, 1]
    return np.asarray(moved + _EDGE)


def _vertex(row: Row, x: int, place: FloatArray) -> str:
    cx, cy = (float(each) for each in place)
    kinds = ["vertex", *(["goal"] if x == row["goal"] else [])]
    kinds += [] if row["arrives"][x] else ["failing"]
    parts = tag("circle", cx=cx, cy=cy, r=_RADIUS)
    if row["labelled"][x]:
        parts += tag("circle", cx=cx, cy=cy, r=_RADIUS - 3, class_="ring")
    parts += tag("text", f"{row['values'][x]:.3g}", x=cx, y=cy + 4, text_anchor="middle")
    return tag("g", parts, class_=" ".join(kinds))


def _arrow(tail: FloatArray, head: FloatArray, arrives: bool) -> str:
    """Draw a step of the plan, a little beside the edge, so that two opposite ones do not hide."""
    along = (head - tail) / np.linalg.norm(head - tail)
    beside = np.array([-along[1], along[0]]) * 4.0
    start, end = tail + along * (_RADIUS + 1) + beside, head - along * (_RADIUS + 5) + beside
    turn = float(np.degrees(np.arctan2(along[1], along[0])))
    point = tag(
        "path", d=_ARROW, transform=f"translate({end[0]:.1f} {end[1]:.1f}) rotate({turn:.0f})"
    )
    line = tag("path", class_="shaft", d=_segment(start, end))
    return tag("g", line + point, class_="step" if arrives else "step failing")


def _segment(a: FloatArray, b: FloatArray) -> str:
    return f"M{a[0]:.1f} {a[1]:.1f}L{b[0]:.1f} {b[1]:.1f}"
