"""Everything a result says, as plain data: what ``--json`` prints and the summary is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from ..descending import Descending
from ..extension import describe
from ..kernels._types import FloatArray
from ..oracle import cost_to_go
from ..plan import Outcome
from ._result import OUTCOMES, Question, Result

MOST_NAMED = 5
"""Loops and weakest states that are named; the files have all of them."""


def facts(result: Result) -> dict[str, Any]:
    """Return everything as plain data, for ``--json``; infinite and unknown numbers are None."""
    asked, field, certificate = result.question, result.field, result.certificate
    found: dict[str, Any] = plain(
        {
            "wayfield": __version__,
            "graph": _graph(result),
            "labels": _labels(result),
            "goal": asked.called(asked.goal),
            "method": describe(asked.method),
            "status": str(field.status),
            "converged": field.status.good,
            "seconds": field.seconds,
            "bracket_width": field.width,
            "residual": field.residual,
            "plan": _plan(result),
            "margin": margins(result),
            "certified": {
                "error": asked.error,
                "states": certificate.certified.mean(),
                "starts": certificate.start_certified.mean(),
            },
            "value_error_bound": _bound(result),
            "routes": [_route(result, start) for start in asked.starts],
        }
    )
    return found


def _graph(result: Result) -> dict[str, Any]:
    graph, lost = result.question.graph, ~result.plan.reachable
    return {
        "vertices": graph.num_vertices,
        "edges": graph.num_edges,
        "directed": graph.directed,
        "least_length": graph.lengths.min(initial=np.inf),
        "largest_length": graph.lengths.max(initial=-np.inf),
        "components": int(graph.components.max(initial=-1)) + 1,
        "strong_components": int(graph.strong_components.max(initial=-1)) + 1,
        "cannot_reach_goal": int(lost.sum()),
        "cannot_reach_examples": [
            result.question.called(x) for x in np.flatnonzero(lost)[:MOST_NAMED]
        ],
        "without_value": int((~np.isfinite(result.field.values)).sum()),
    }


def _labels(result: Result) -> dict[str, Any]:
    labels = result.question.labels
    return {
        "count": len(labels),
        "least": labels.values.min(),
        "largest": labels.values.max(),
        "false_sinks": result.plan.false_sinks(labels).size,
        "per_graph_distance": _scale(result.question),
    }


def _plan(result: Result) -> dict[str, Any]:
    """Outcomes of the starts that can reach the goal; the others are not the plan's fault."""
    moves = result.plan
    fatal = np.flatnonzero(moves.reachable[moves.cycle_members[moves.cycle_offsets[:-1]]])
    return {
        "can_reach": result.able,
        "reach": result.arrived,
        "success": result.success,
        "dead_ends": int((result.outcomes == 2).sum()),
        "loop_count": fatal.size,
        "loops": _loops(result, fatal),
        "raised": _raised(result.lifted),
    }


def _scale(asked: Question) -> float:
    """Labels over the graph's own distance to the goal, at the median; NaN if there are none.

    Far from 1 where labels and lengths are in different units.
    """
    at, value = asked.labels.vertices, asked.labels.values
    distance = cost_to_go(asked.graph, asked.goal)[at]
    base = value[at == asked.goal]
    usable = np.isfinite(distance) & (distance > 0)
    ratio = (value - (base[0] if base.size else 0.0))[usable] / distance[usable]
    return float(np.median(ratio)) if ratio.size else np.nan


def _loops(result: Result, which: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Describe those of the loops that catch the most starts."""
    moves, called = result.plan, result.question.called
    caught = np.bincount(moves.basin[moves.basin >= 0], minlength=len(moves.cycles))
    touching = moves.touches(result.question.labels)
    worst = which[np.argsort(-caught[which], kind="stable")[:MOST_NAMED]]
    return [
        {
            "states": [called(x) for x in moves.cycles[i][: 2 * MOST_NAMED]],
            "size": moves.cycles[i].size,
            "catches": int(caught[i]),
            "touches_a_label": bool(touching[i]),
        }
        for i in worst
    ]


def margins(result: Result) -> dict[str, Any]:
    """Least and median margin of the routes, and the states that decide most of the least ones."""
    moves, certificate = result.plan, result.certificate
    walked = moves.reached.copy()
    walked[moves.goal] = False
    least = certificate.start_margin[walked]
    if not least.size:
        return {"least": None, "median": None, "weakest": []}
    deciding = certificate.weakest[walked]
    counts = np.bincount(deciding, minlength=walked.size)
    states = np.unique(deciding)
    states = states[np.isfinite(certificate.margin[states])]
    order = np.lexsort((states, -counts[states], _rounded(certificate.margin[states])))
    return {
        "least": least.min(),
        "median": np.quantile(least, 0.5, method="lower"),
        "weakest": [
            {
                "name": result.question.called(x),
                "margin": certificate.margin[x],
                "routes": int(counts[x]),
            }
            for x in states[order[:MOST_NAMED]]
        ],
    }


def _rounded(margin: FloatArray) -> FloatArray:
    """Margins without their last digits, so that rounding alone does not order states."""
    rounded: FloatArray = np.round(margin, 9)
    return rounded


def _bound(result: Result) -> dict[str, Any]:
    """How far the values can be from the truth, given the labels and the graph are right."""
    if result.lifted is not None and not result.lifted.unchanged:
        return {"largest": None, "median": None}
    bound: FloatArray = result.certificate.fill.bound[result.plan.reachable]
    return {"largest": bound.max(), "median": np.quantile(bound, 0.5, method="lower")}


def _route(result: Result, start: int) -> dict[str, Any]:
    walk = result.plan.rollout(start)
    outcome = OUTCOMES[result.outcomes[start]]
    lost = outcome is Outcome.UNREACHABLE
    return {
        "start": result.question.called(start),
        "outcome": str(outcome),
        "steps": None if lost else walk.path.size - 1,
        "cost": None if lost else walk.cost,
        "margin": result.certificate.start_margin[start],
        "path": [result.question.called(x) for x in walk.path],
    }


def _raised(lifted: Descending | None) -> dict[str, Any] | None:
    if lifted is None:
        return None
    up = lifted.raised[lifted.reachable & (lifted.raised > 0)]
    return {"states": up.size, "most": up.max(initial=0.0)}


def plain(data: Any) -> Any:
    """Turn NumPy's numbers into Python's, and what JSON has no word for into None."""
    if isinstance(data, Mapping):
        return {key: plain(value) for key, value in data.items()}
    if isinstance(data, list):
        return [plain(value) for value in data]
    if isinstance(data, np.generic):
        data = data.item()
    if isinstance(data, float) and not np.isfinite(data):
        return None
    return data
