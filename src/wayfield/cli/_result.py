"""One extension and its plan, and the figures a person or a program wants from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from ..certify import Certificate, certify
from ..descending import Descending, descending
from ..errors import InputError
from ..extension import Extension, Method, describe, extend
from ..graph import Graph
from ..kernels._types import FloatArray
from ..labels import Labels
from ..plan import Outcome, Plan, plan

MOST_NAMED = 5
"""Loops and weakest states that are named; the files have all of them."""

OUTCOMES = (Outcome.REACHED, Outcome.LOOP, Outcome.DEAD_END, Outcome.UNREACHABLE)


@dataclass(frozen=True, eq=False)
class Question:
    """What the user wants to know.

    Attributes
    ----------
    graph, labels, goal, method
        What to extend, how, and where to go.
    called : callable
        Name of a vertex, for a person.
    starts : tuple of int
        Where routes are to begin.
    error : float
        How far the values may be from the true cost-to-go.
    repair : bool
        Whether to lift the field, as little as possible, until greedy walks always arrive.
    """

    graph: Graph
    labels: Labels
    goal: int
    method: Method
    called: Callable[[int], str]
    starts: tuple[int, ...] = ()
    error: float = 0.0
    repair: bool = False


@dataclass(frozen=True, eq=False)
class Result:
    """The answer: field, plan and certificate."""

    question: Question
    field: Extension
    plan: Plan
    certificate: Certificate
    lifted: Descending | None

    @cached_property
    def outcomes(self) -> NDArray[np.int8]:
        """(n,) positions in `OUTCOMES`: how the walk from each start ends."""
        way = np.select([self.plan.reached, self.plan.basin >= 0], [0, 1], 2)
        way[~self.plan.reachable] = 3
        return way.astype(np.int8)

    @property
    def able(self) -> int:
        """Starts other than the goal that can reach it."""
        return int(self.plan.reachable.sum()) - 1

    @property
    def arrived(self) -> int:
        """Starts other than the goal whose walk reaches it."""
        return int(self.plan.reached.sum()) - 1

    @property
    def success(self) -> float:
        """Share of the starts that can reach the goal whose walk does; 1 if there are none."""
        return self.arrived / self.able if self.able else 1.0

    @property
    def good(self) -> bool:
        """Whether the solve kept its promise and every route asked for arrives."""
        reached = self.plan.reached[list(self.question.starts)]
        return bool(self.field.status.good and reached.all())


def answer(question: Question) -> Result:
    """Extend, plan and certify."""
    graph, goal, method = question.graph, question.goal, question.method
    if graph.directed and not method.directed:
        raise InputError(
            f"{type(method).__name__} is not defined on directed graphs: use --method amle, "
            "or an undirected graph"
        )
    field = extend(graph, question.labels, method, unreachable="nan", check=False)
    known = np.where(np.isnan(field.values), np.inf, field.values)
    lifted = descending(graph, known, goal) if question.repair else None
    judged = field
    if lifted is not None and not lifted.unchanged:  # the bracket is not one of the lifted field
        known = lifted.values
        judged = replace(field, values=known, lower=None, upper=None)
    moves = plan(graph, known, goal)
    certificate = certify(graph, question.labels, judged, moves, question.error)
    return Result(question, field, moves, certificate, lifted)


def facts(result: Result) -> dict[str, Any]:
    """Return everything as plain data, for ``--json``; infinite and unknown numbers are None."""
    asked, field, moves = result.question, result.field, result.plan
    graph, labels = asked.graph, asked.labels
    lost = graph.num_vertices - result.able - 1
    found: dict[str, Any] = plain(
        {
            "wayfield": __version__,
            "graph": {
                "vertices": graph.num_vertices,
                "edges": graph.num_edges,
                "directed": graph.directed,
                "least_length": graph.lengths.min(initial=np.inf),
                "largest_length": graph.lengths.max(initial=-np.inf),
                "components": int(graph.components.max(initial=-1)) + 1,
                "strong_components": int(graph.strong_components.max(initial=-1)) + 1,
                "cannot_reach_goal": lost,
                "cannot_reach_examples": _some(asked, ~moves.reachable),
                "without_value": int((~np.isfinite(field.values)).sum()),
            },
            "labels": {
                "count": len(labels),
                "least": labels.values.min(),
                "largest": labels.values.max(),
                "false_sinks": moves.false_sinks(labels).size,
            },
            "goal": asked.called(asked.goal),
            "method": describe(asked.method),
            "status": str(field.status),
            "converged": field.status.good,
            "seconds": field.seconds,
            "bracket_width": field.width,
            "residual": field.residual,
            "plan": {
                "can_reach": result.able,
                "reach": result.arrived,
                "success": result.success,
                "dead_ends": int((result.outcomes == 2).sum()),
                "loop_count": len(moves.cycles),
                "loops": _loops(result),
                "raised": _raised(result.lifted),
            },
            "margin": margins(result),
            "certified": {
                "error": asked.error,
                "states": result.certificate.certified.mean(),
                "starts": result.certificate.start_certified.mean(),
            },
            "value_error_bound": _bound(result),
            "routes": [_route(result, start) for start in asked.starts],
        }
    )
    return found


def _loops(result: Result) -> list[dict[str, Any]]:
    """Describe the loops that catch the most starts."""
    moves, called = result.plan, result.question.called
    caught = np.bincount(moves.basin[moves.basin >= 0], minlength=len(moves.cycles))
    touching = moves.touches(result.question.labels)
    worst = np.argsort(-caught, kind="stable")[:MOST_NAMED]
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
    return {
        "start": result.question.called(start),
        "outcome": str(outcome),
        "steps": walk.path.size - 1,
        "cost": walk.cost,
        "margin": result.certificate.start_margin[start],
        "path": [result.question.called(x) for x in walk.path],
    }


def _raised(lifted: Descending | None) -> dict[str, Any] | None:
    if lifted is None:
        return None
    up = lifted.raised[lifted.reachable & (lifted.raised > 0)]
    return {"states": up.size, "most": up.max(initial=0.0)}


def _some(question: Question, chosen: NDArray[np.bool_]) -> list[str]:
    return [question.called(x) for x in np.flatnonzero(chosen)[:MOST_NAMED]]


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
