"""The columns of the files that ``wayfield plan`` writes."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._result import OUTCOMES, Result

if TYPE_CHECKING:
    from ..names import Names


def value_columns(result: Result, names: Names) -> dict[str, Any]:
    """One row per vertex; what is unknown or infinite is masked, or None."""
    field, moves, margin = result.field, result.plan, result.certificate.margin
    called = names.as_numbers()
    kinds = [str(outcome) for outcome in OUTCOMES]
    unknown = np.full(field.values.size, np.nan)
    return {
        "name": called,
        "value": np.ma.masked_invalid(field.values),
        "lower": np.ma.masked_invalid(unknown if field.lower is None else field.lower),
        "upper": np.ma.masked_invalid(unknown if field.upper is None else field.upper),
        "labelled": result.question.labels.mask(moves.graph),
        "successor": _taken(called, moves.successor),
        "outcome": [kinds[kind] for kind in result.outcomes.tolist()],
        "steps": np.ma.masked_array(moves.steps, ~moves.reached),
        "cost": np.ma.masked_invalid(moves.cost),
        "margin": np.ma.masked_invalid(margin),
    }


def route_columns(result: Result) -> dict[str, Any]:
    """One row per state of every route, in walking order."""
    asked, values = result.question, result.field.values
    starts: list[str] = []
    steps: list[int] = []
    states: list[int] = []
    costs: list[float] = []
    for start in asked.starts:
        path = result.plan.rollout(start).path
        starts += [asked.called(start)] * path.size
        steps += range(path.size)
        states += path.tolist()
        costs += _walked(result, path)
    return {
        "start": starts,
        "step": np.array(steps),
        "name": [asked.called(x) for x in states],
        "value": np.ma.masked_invalid(values[states]),
        "cost": np.array(costs),
    }


def _taken(called: NDArray[np.int64] | list[str], vertices: NDArray[np.int64]) -> Any:
    """Names of vertices, none where a vertex is negative."""
    if isinstance(called, np.ndarray):
        return np.ma.masked_array(called[np.maximum(vertices, 0)], vertices < 0)
    return [None if x < 0 else called[x] for x in vertices.tolist()]


def _walked(result: Result, path: NDArray[np.int64]) -> list[float]:
    """Cost from the start of a path to each of its states."""
    graph, lengths = result.question.graph, [0.0]
    for x, y in pairwise(path.tolist()):
        row = slice(graph.indptr[x], graph.indptr[x + 1])
        lengths.append(float(graph.lengths[row][graph.indices[row] == y][0]))
    return list(accumulate(lengths))
