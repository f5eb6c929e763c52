"""What the commands write: tables of values and routes, and the picture."""

from __future__ import annotations

import warnings
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._optional import missing, need
from ..graph import Graph
from ..names import Names
from ..pipeline import Answer
from ..plans import Plan
from ..plots import answer as draw_answer
from ..plots._answer import MOST_PLACED, has_places


def value_columns(answer: Answer, names: Names) -> dict[str, Any]:
    """One row per vertex; what is unknown or infinite is masked, or None.

    The values are those that the plan stands on. With lift a column says by how much they were
    raised above the extension, which `lower` and `upper` are bounds for.
    """
    field, moves, called = answer.field, answer.plan, names.as_numbers()
    unknown = np.full(field.values.size, np.nan)
    raised = {} if answer.lifted is None else {"raised": np.ma.masked_invalid(answer.raised)}
    return {
        "name": called,
        "value": np.ma.masked_invalid(answer.values),
        **raised,
        "lower": np.ma.masked_invalid(unknown if field.lower is None else field.lower),
        "upper": np.ma.masked_invalid(unknown if field.upper is None else field.upper),
        "labelled": answer.labels.mask(answer.graph),
        "successor": _taken(called, moves),
        "outcome": list(map(str, answer.outcomes)),
        "steps": np.ma.masked_array(moves.steps, ~moves.reached),
        "cost": np.ma.masked_invalid(moves.cost),
        "margin": np.ma.masked_invalid(answer.certificate.margin),
    }


def route_columns(answer: Answer, names: Names, starts: tuple[int, ...]) -> dict[str, Any]:
    """One row per state of every route, in walking order."""
    paths = [answer.route(start).path for start in starts]
    states = np.concatenate(paths)
    return {
        "start": [names[path[0]] for path in paths for _ in path],
        "step": np.concatenate([np.arange(path.size) for path in paths]),
        "name": names[states],
        "value": np.ma.masked_invalid(answer.values[states]),
        "cost": np.concatenate([_walked(answer.graph, path) for path in paths]),
    }


def why_not_drawn(graph: Graph) -> str | None:
    """Return why there can be no picture of a graph, None if there can."""
    if not has_places(graph) and graph.num_vertices > MOST_PLACED:
        return f"the graph has over {MOST_PLACED:,} vertices, and no positions (--positions FILE)"
    return missing("matplotlib", "plots")


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


def _taken(called: NDArray[np.int64] | list[str], moves: Plan) -> Any:
    """Names of the next states, none where there is no move."""
    halts = np.zeros(moves.successor.size, dtype=bool)
    halts[moves.dead_ends] = True
    if isinstance(called, np.ndarray):
        return np.ma.masked_array(called[moves.successor], halts)
    heads = zip(moves.successor.tolist(), halts.tolist(), strict=True)
    return [None if none else called[y] for y, none in heads]
