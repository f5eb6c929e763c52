"""What the commands write: tables of values and routes, and the picture."""

from __future__ import annotations

import warnings
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._optional import need
from ..errors import WayfieldError
from ..files import Names
from ..graph import Graph
from ..plots import answer as draw_answer
from ..plots._answer import SMALL, has_places
from ..solve import Answer


def value_columns(answer: Answer, names: Names) -> dict[str, Any]:
    """One row per vertex; what is unknown or infinite is empty.

    The values are those that the plan stands on. With repair a column says by how much they were
    raised above the extension, which `lower` and `upper` are bounds for.
    """
    pa = need("pyarrow", "files")
    field, moves = answer.field, answer.plan
    called = names.as_numbers()
    successor = pa.array(moves.successor, mask=moves.successor < 0)
    raised = {} if answer.lifted is None else {"raised": _known(answer.raised)}
    return {
        "name": called,
        "value": _known(answer.values),
        **raised,
        "lower": _known(field.values if field.lower is None else field.lower, field.lower),
        "upper": _known(field.values if field.upper is None else field.upper, field.upper),
        "labelled": pa.array(answer.labels.mask(answer.graph)),
        "successor": called.take(successor),
        "outcome": pa.array(answer.outcomes, pa.string()),
        "steps": pa.array(moves.steps, mask=~moves.reached),
        "cost": _known(moves.cost),
        "margin": _known(answer.certificate.margin),
    }


def route_columns(answer: Answer, names: Names, starts: tuple[int, ...]) -> dict[str, Any]:
    """One row per state of every route, in walking order."""
    rows = []
    for start in starts:
        path = answer.route(start).path
        for step, (x, cost) in enumerate(zip(path, _walked(answer.graph, path), strict=True)):
            value = float(answer.values[x]) if np.isfinite(answer.values[x]) else None
            rows.append((names[start], step, names[x], value, cost))
    columns = zip(*rows, strict=True)
    return dict(zip(("start", "step", "name", "value", "cost"), columns, strict=True))


def why_not_drawn(graph: Graph) -> str | None:
    """Return why there can be no picture of a graph, None if there can."""
    if not has_places(graph) and graph.num_vertices > SMALL:
        return "the graph is large and has no positions (--positions FILE)"
    try:
        need("matplotlib", "plots")
    except WayfieldError as error:
        return str(error)
    return None


def draw(
    answer: Answer,
    path: Path,
    names: Names | None = None,
    starts: tuple[int, ...] = (),
    diagram: bool | None = None,
) -> None:
    """Draw the field, the plan, the labels and the routes into a file."""
    figure = need("matplotlib.figure", "plots").Figure((8, 6), layout="constrained", dpi=150)
    draw_answer(answer, names, starts, figure.subplots(), diagram=diagram)
    with warnings.catch_warnings():  # a name the font has no letters for is drawn as boxes
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure.savefig(path)


def _walked(graph: Graph, path: NDArray[np.int64]) -> list[float]:
    """Cost from the start of a path to each of its states."""
    lengths = [0.0]
    for x, y in pairwise(path.tolist()):
        row = slice(graph.indptr[x], graph.indptr[x + 1])
        lengths.append(float(graph.lengths[row][graph.indices[row] == y][0]))
    return list(accumulate(lengths))


def _known(numbers: NDArray[np.float64], given: object = True) -> Any:
    pa = need("pyarrow", "files")
    unknown = ~np.isfinite(numbers) if given is not None else np.ones(numbers.size, dtype=bool)
    return pa.array(numbers, mask=unknown)
