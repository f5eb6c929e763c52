"""The columns of the files that ``wayfield plan`` writes."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._optional import need
from ._result import OUTCOMES, Result

if TYPE_CHECKING:
    from ..files import Names


def value_columns(result: Result, names: Names) -> dict[str, Any]:
    """One row per vertex; what is unknown or infinite is empty."""
    pa = need("pyarrow", "files")
    field, moves, margin = result.field, result.plan, result.certificate.margin
    called = names.as_numbers()
    successor = pa.array(moves.successor, mask=moves.successor < 0)
    kinds = pa.array([str(outcome) for outcome in OUTCOMES])
    return {
        "name": called,
        "value": _known(field.values),
        "lower": _known(field.values if field.lower is None else field.lower, field.lower),
        "upper": _known(field.values if field.upper is None else field.upper, field.upper),
        "labelled": pa.array(result.question.labels.mask(moves.graph)),
        "successor": called.take(successor),
        "outcome": kinds.take(pa.array(result.outcomes)),
        "steps": pa.array(moves.steps, mask=~moves.reached),
        "cost": _known(moves.cost),
        "margin": _known(margin),
    }


def route_columns(result: Result) -> dict[str, Any]:
    """One row per state of every route, in walking order."""
    asked, values = result.question, result.field.values
    rows = []
    for start in asked.starts:
        path = result.plan.rollout(start).path
        for step, (x, cost) in enumerate(zip(path, _walked(result, path), strict=True)):
            value = float(values[x]) if np.isfinite(values[x]) else None
            rows.append((asked.called(start), step, asked.called(x), value, cost))
    columns = zip(*rows, strict=True)
    return dict(zip(("start", "step", "name", "value", "cost"), columns, strict=True))


def _walked(result: Result, path: NDArray[np.int64]) -> list[float]:
    """Cost from the start of a path to each of its states."""
    graph, lengths = result.question.graph, [0.0]
    for x, y in pairwise(path.tolist()):
        row = slice(graph.indptr[x], graph.indptr[x + 1])
        lengths.append(float(graph.lengths[row][graph.indices[row] == y][0]))
    return list(accumulate(lengths))


def _known(numbers: NDArray[np.float64], given: object = True) -> Any:
    pa = need("pyarrow", "files")
    unknown = ~np.isfinite(numbers) if given is not None else np.ones(numbers.size, dtype=bool)
    return pa.array(numbers, mask=unknown)
