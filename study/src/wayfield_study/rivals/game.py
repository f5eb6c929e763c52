"""The game-theoretic p-Laplacian: between the mean and the midrange of the neighbours.

Equation. (1/p) (u − mean u) + (1 − 2/p) (2u − min u − max u) = 0 over the neighbours of every
unlabelled vertex, means weighted by w: harmonic at p = 2, the AMLE of unit lengths as p → ∞.

Method. Policy iteration: with lowest and highest neighbours held the equation is linear. Sweeps in
between, more of them if it cycles, make it end. It stops when a sweep changes no value by 10⁻¹¹ of
the labels' range.

Reference: J. Calder, "The game theoretic p-Laplacian and semi-supervised learning with few
labels", Nonlinearity 32 (2019). p = 10 is the default of its author's package GraphLearning.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from wayfield.checks import as_real
from wayfield.fields import AMLE
from wayfield.fields.base import Problem, Solution, Status

from ..kernels.game import extreme_neighbours, sweep
from .linear import weights

SWEEPS, POLICIES, TOLERANCE = 20, 100, 1e-11


@dataclass(frozen=True)
class GamePLaplacian:
    """The game-theoretic p-Laplacian, p at least 2."""

    p: float = 10.0
    directed: ClassVar[bool] = False

    def __post_init__(self) -> None:
        as_real(self.p, "p", least=2.0)

    def solve(self, problem: Problem) -> Solution:
        """Choose neighbours and solve, in turn."""
        graph, n, share = problem.graph, problem.graph.num_vertices, 1.0 / (2.0 * self.p - 3.0)
        fixed = problem.labelled | problem.orphaned
        free, weight = np.flatnonzero(~fixed), weights(graph)
        rows = graph.indptr, graph.indices, weight.data, fixed
        values = np.array(AMLE(bracket=False).solve(problem).values)
        mean = sparse.diags_array(1.0 / np.maximum(weight.sum(axis=1), 1e-300)) @ weight
        tolerance = TOLERANCE * max(problem.labels.span, 1.0)
        change, count, sweeps = sweep(*rows, values, share, 1), 0, SWEEPS
        while change > tolerance and count < POLICIES:
            before, count = change, count + 1
            sweep(*rows, values, share, sweeps)
            ends = np.concatenate(extreme_neighbours(*rows[:2], values))
            half = sparse.csr_array((np.full(2 * n, 0.5), (np.tile(np.arange(n), 2), ends)), (n, n))
            system = (sparse.eye_array(n) - share * mean - (1.0 - share) * half).tocsr()[free]
            values[free] = splu(system[:, free].tocsc()).solve(-(system @ problem.boundary))
            change = sweep(*rows, values, share, 1)
            sweeps = sweeps if change < before else 2 * sweeps
        done = Status.NO_BRACKET if change <= tolerance else Status.BUDGET
        return Solution(values, status=done, residual=change, iterations=count)
