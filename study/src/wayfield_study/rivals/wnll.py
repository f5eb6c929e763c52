"""The weighted nonlocal Laplacian: harmonic, with heavier edges at the labels.

Equation. Σ_y (a(x) + a(y)) w(x, y) (u(x) − u(y)) = 0 at every unlabelled x, with a = n / k at
the k labels and 1 elsewhere: a label counts as much as the vertices that it stands for.

Reference
---------
Z. Shi, S. Osher, W. Zhu, "Weighted nonlocal Laplacian on interpolation from sparse data", Journal
of Scientific Computing 73 (2017); μ = n / k is theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from wayfield.fields.base import Problem, Solution

from .linear import dirichlet, laplacian, weights


@dataclass(frozen=True)
class WeightedNonlocal:
    """The weighted nonlocal Laplacian.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    >>> wf.extend(path, wf.Labels([0, 4], [0.0, 4.0]), WeightedNonlocal()).values.round(4)
    array([0.    , 0.7273, 2.    , 3.2727, 4.    ])
    """

    directed: ClassVar[bool] = False

    def solve(self, problem: Problem) -> Solution:
        """Solve one sparse system."""
        weight = weights(problem.graph)
        ratio = problem.labelled.size / len(problem.labels)
        heavy = sparse.diags_array(np.where(problem.labelled, ratio, 1.0))
        return dirichlet(laplacian((heavy @ weight + weight @ heavy).tocsr()), problem)
