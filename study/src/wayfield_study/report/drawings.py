"""Drawings of small graphs as SVG, with their values and plan.

Everything drawn was stored by an experiment; nothing is solved here.
"""

from __future__ import annotations

import numpy as np

from wayfield.graphs.graph import Graph
from wayfield.graphs.labels import Labels
from wayfield.plans.planning import Plan
from wayfield.typing import FloatArray

from ..engine.tasks import Row
from .charts import drawing, tag

_STEP, _RADIUS, _EDGE = 62.0, 17.0, 30.0
_ARROW = "M-6-4L4 0L-6 4Z"


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
