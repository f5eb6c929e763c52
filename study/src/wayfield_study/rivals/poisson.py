"""Poisson learning: labels are sources, not boundary values.

Equation. L u = Σ_i (y_i − ȳ) δ_i over the labels i, on a connected graph. The solution, known up to
a constant, does not take the labels' values and has another scale: made for classes, it is used for
costs here after the straight line that fits the labels best, if it rises, else after a shift.

Reference
---------
J. Calder, B. Cook, M. Thorpe, D. Slepčev, "Poisson learning: graph based semi-supervised learning
at very low label rates", ICML (2020). The line is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wayfield.errors import InputError
from wayfield.fields.base import Problem, Solution

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
        graph, at, known = problem.graph, problem.labels.vertices, problem.labels.values
        if graph.components.any():
            raise InputError("Poisson learning needs a connected graph")
        source = np.zeros(graph.num_vertices)
        source[at] = known - known.mean()
        grounded = factor(laplacian(weights(graph))[1:, 1:]) if graph.num_vertices > 1 else None
        values = np.append(0.0, [] if grounded is None else grounded.solve(source[1:]))
        values -= values[at].mean()
        spread = values[at] @ values[at]
        slope = (values[at] @ known) / spread if spread > 0.0 else 1.0
        return solved(known.mean() + (slope if slope > 0.0 else 1.0) * values)
