"""Poisson learning: labels are sources, not boundary values.

Equation. L u = Σ_i (y_i − ȳ) δ_i over the labels i, on a connected graph. The solution, known up to
a constant, does not take the labels' values and has another scale: made for classes, it is used for
costs here after the straight line that fits the labels best, if it rises, else after a shift.

Reference: J. Calder, B. Cook, M. Thorpe, D. Slepčev, "Poisson learning: graph based semi-supervised
learning at very low label rates", ICML (2020). The line is ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from wayfield.errors import InputError
from wayfield.fields.base import Problem, Shared, Solution, one_by_one
from wayfield.graphs.graph import Graph
from wayfield.graphs.labels import Labels

from .linear import factor, laplacian, solved, weights


@dataclass(frozen=True)
class PoissonLearning:
    """Poisson learning, scaled and shifted to the labels; it does not interpolate them.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    >>> wf.extend(path, wf.Labels([0, 4], [0.0, 4.0]), PoissonLearning()).values.round(6)
    array([0., 1., 2., 3., 4.])
    """

    directed: ClassVar[bool] = False

    def solve(self, problem: Problem) -> Solution:
        """Solve one sparse system, one vertex grounded."""
        return self.share(problem.graph, [problem.labels]).solve([problem])[0]

    def share(self, graph: Graph, label_sets: Sequence[Labels]) -> Shared:
        """Factor the Laplacian, which no label changes."""
        if graph.components.any():
            raise InputError("Poisson learning needs a connected graph")
        grounded = factor(laplacian(weights(graph))[1:, 1:]) if graph.num_vertices > 1 else None
        return Shared(partial(one_by_one, partial(_scaled, grounded)))


def _scaled(grounded: Any, problem: Problem) -> Solution:
    at, known = problem.labels.vertices, problem.labels.values
    source = np.zeros(problem.graph.num_vertices)
    source[at] = known - known.mean()
    values = np.append(0.0, [] if grounded is None else grounded.solve(source[1:]))
    values -= values[at].mean()
    spread = values[at] @ values[at]
    slope = (values[at] @ known) / spread if spread > 0.0 else 1.0
    return solved(known.mean() + (slope if slope > 0.0 else 1.0) * values)
