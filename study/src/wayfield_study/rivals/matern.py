"""Matérn processes on graphs: the kriging mean of a Gaussian process with an unknown constant.

u = c + f, f of precision Q = (4/κ² + L)², L = D − W. The mean solves Q's rows off the labels; c is
the generalised least-squares estimate, and κ maximises, up to constants, the likelihood
log det Q − log det Q_FF − k log(zᵀ S z): F off the labels, S the Schur complement, z = labels − c.

Reference: V. Borovitskiy et al., "Matérn Gaussian processes on graphs", AISTATS (2021). The
smoothness ν = 2 and the grid for κ, in edges, are ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import ClassVar

import numpy as np
from scipy import sparse

from wayfield.fields.base import Problem, Shared, Solution, one_by_one
from wayfield.graphs.graph import Graph
from wayfield.graphs.labels import Labels

from .linear import Conditional, factor, laplacian, log_det, solved, weights


@dataclass(frozen=True)
class Matern:
    """The kriging mean of a Matérn process of smoothness 2, at the likeliest scale."""

    scales: tuple[float, ...] = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
    directed: ClassVar[bool] = False

    def solve(self, problem: Problem) -> Solution:
        """Krige at every scale, and keep the likeliest field."""
        return self.share(problem.graph, [problem.labels]).solve([problem])[0]

    def share(self, graph: Graph, label_sets: Sequence[Labels]) -> Shared:
        """Factor at every scale, for the labels that all sets have in common."""
        common = reduce(np.intersect1d, (labels.vertices for labels in label_sets))
        matrix, n = laplacian(weights(graph)), graph.num_vertices
        roots = [matrix + 4.0 / scale**2 * sparse.eye_array(n) for scale in self.scales]
        systems = [
            (Conditional.of(root @ root, common), 2.0 * log_det(factor(root))) for root in roots
        ]
        return Shared(partial(one_by_one, partial(_krige, systems)))


def _krige(systems: Sequence[tuple[Conditional, float]], problem: Problem) -> Solution:
    known = np.column_stack([problem.boundary, problem.labelled.astype(np.float64)])
    best = -np.inf, problem.boundary
    for system, size in systems:
        field, gram, rest = system.given(known, problem.labelled)
        constant = gram[0, 1] / gram[1, 1]
        square = max(gram[0, 0] - constant * gram[0, 1], 1e-300)
        likelihood = size - rest - len(problem.labels) * np.log(square)
        if likelihood > best[0]:
            best = likelihood, field[:, 0] + constant * (1.0 - field[:, 1])
    return solved(np.where(problem.labelled, problem.boundary, best[1]))
