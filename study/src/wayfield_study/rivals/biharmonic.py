"""Biharmonic fields: the square of the Laplacian vanishes off the labels.

Equation. L² u = 0 at every unlabelled vertex, L = D − W the graph Laplacian: the field of least
Σ (L u)². There is no maximum principle, so values can leave the range of the labels.

Reference
---------
X. Zhou, M. Belkin, "Semi-supervised learning by higher order regularization", AISTATS (2011).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from wayfield.fields.base import Problem, Solution

from .linear import dirichlet, laplacian, weights


@dataclass(frozen=True)
class Biharmonic:
    """The field of least squared Laplacian.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> wf.extend(path, wf.Labels([0, 1], [0.0, 1.0]), Biharmonic()).values.round(6)
    array([0.      , 1.      , 1.666667, 2.      ])
    """

    directed: ClassVar[bool] = False

    def solve(self, problem: Problem) -> Solution:
        """Solve one sparse system."""
        matrix = laplacian(weights(problem.graph))
        return dirichlet((matrix @ matrix).tocsr(), problem)
