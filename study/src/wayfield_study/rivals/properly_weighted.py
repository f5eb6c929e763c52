"""The properly weighted Laplacian: harmonic, with weights that grow towards the labels.

Equation. Σ_y γ(x) γ(y) w(x, y) (u(x) − u(y)) = 0 at every unlabelled x, with
γ = 1 + (r / d)^α, d the distance to the labels, capped where γ² would pass `cap`.

Reference
---------
J. Calder, D. Slepčev, "Properly-weighted graph Laplacian for semi-supervised learning", Applied
Mathematics and Optimization 82 (2020): α = 2 and cap 10⁷. Their r is a length of the point cloud;
ours is the largest distance to a label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from wayfield.fields.base import Problem, Solution
from wayfield.graphs.labels import label_distance

from .linear import dirichlet, laplacian, weights


@dataclass(frozen=True)
class ProperlyWeighted:
    """The properly weighted Laplacian.

    Parameters
    ----------
    alpha : float
        How fast weights grow towards the labels, above 0.
    cap : float
        Largest product of the factors at both ends of an edge.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    >>> wf.extend(path, wf.Labels([0, 4], [0.0, 4.0]), ProperlyWeighted()).values.round(2)
    array([0., 0., 2., 4., 4.])
    """

    alpha: float = 2.0
    cap: float = 1e7
    directed: ClassVar[bool] = False

    def solve(self, problem: Problem) -> Solution:
        """Solve one sparse system."""
        away = label_distance(problem.graph, problem.labels)
        largest = max(float(away[np.isfinite(away)].max()), 1.0)
        with np.errstate(divide="ignore"):
            grown = 1.0 + (largest / away) ** self.alpha
        scale = sparse.diags_array(np.minimum(grown, np.sqrt(self.cap)))
        return dirichlet(laplacian((scale @ weights(problem.graph) @ scale).tocsr()), problem)
