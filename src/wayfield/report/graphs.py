"""Small graphs as drawings: values in the vertices, labels ringed, the plan as arrows."""

from __future__ import annotations

import numpy as np

from ..graph import Graph
from ..kernels._types import FloatArray
from ..labels import Labels
from ..plan import Plan
from .svg import drawing, tag

_STEP, _RADIUS, _EDGE = 62.0, 17.0, 30.0
_ARROW = "M-6-4L4 0L-6 4Z"


def graph_drawing(graph: Graph, labels: Labels, plan: Plan, description: str) -> str:
    """Draw a field on a small graph with positions, and the greedy plan on it.

    Labelled vertices have a double ring, the goal is filled, and starts that never reach it are
    in a warning colour.

    Examples
    --------
    >>> import wayfield as wf
    >>> graph = wf.Graph.from_edges([0, 1], [1, 2], positions=[(0, 0), (1, 0), (2, 0)])
    >>> labels = wf.Labels([0, 2], [0.0, 2.0])
    >>> values = wf.extend(graph, labels, wf.AMLE()).values
    >>> graph_drawing(graph, labels, wf.plan(graph, values, 0), "a path").count("<circle")
    5
    """
    assert graph.positions is not None
    places = _places(graph.positions)
    once = graph.tails < graph.indices
    ends = zip(graph.tails[once], graph.indices[once], strict=True)
    parts = [tag("path", class_="edge", d=_segment(places[a], places[b])) for a, b in ends]
    labelled = labels.mask(graph)
    for x in range(graph.num_vertices):
        parts.append(_vertex(plan, x, places[x], bool(labelled[x])))
    for x in range(graph.num_vertices):
        head = int(plan.successor[x])
        if x != plan.goal and head >= 0:
            parts.append(_arrow(places[x], places[head], bool(plan.reached[x])))
    width, height = places.max(axis=0) + _EDGE
    return drawing(tag("g", "".join(parts), class_="graph"), width, height, description)


def _places(positions: FloatArray) -> FloatArray:
    """Where the vertices are drawn; the closest two are one step apart."""
    apart = np.linalg.norm(positions[:, None] - positions, axis=2)
    closest = apart[apart > 0].min()
    moved = (positions - positions.min(axis=0)) / closest * _STEP
    moved[:, 1] = moved[:, 1].max() - moved[:, 1]
    return np.asarray(moved + _EDGE)


def _vertex(plan: Plan, x: int, place: FloatArray, labelled: bool) -> str:
    cx, cy = (float(each) for each in place)
    kinds = ["vertex", *(["goal"] if x == plan.goal else [])]
    kinds += ["failing"] if not plan.reached[x] else []
    told = f"{plan.values[x]:.3g}"
    parts = tag("circle", cx=cx, cy=cy, r=_RADIUS)
    if labelled:
        parts += tag("circle", cx=cx, cy=cy, r=_RADIUS - 3, class_="ring")
    parts += tag("text", told, x=cx, y=cy + 4, text_anchor="middle")
    return tag("g", parts, class_=" ".join(kinds))


def _arrow(tail: FloatArray, head: FloatArray, reached: bool) -> str:
    """Draw a step of the plan, a little beside the edge, so that two opposite ones do not hide."""
    along = (head - tail) / np.linalg.norm(head - tail)
    beside = np.array([-along[1], along[0]]) * 4.0
    start, end = tail + along * (_RADIUS + 1) + beside, head - along * (_RADIUS + 5) + beside
    turn = float(np.degrees(np.arctan2(along[1], along[0])))
    point = tag(
        "path", d=_ARROW, transform=f"translate({end[0]:.1f} {end[1]:.1f}) rotate({turn:.0f})"
    )
    line = tag("path", class_="shaft", d=_segment(start, end))
    return tag("g", line + point, class_="step" if reached else "step failing")


def _segment(a: FloatArray, b: FloatArray) -> str:
    return f"M{a[0]:.1f} {a[1]:.1f}L{b[0]:.1f} {b[1]:.1f}"
