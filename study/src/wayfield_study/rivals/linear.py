"""Graph Laplacians and linear systems: what several rivals share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from wayfield.fields.base import Problem, Solution, Status
from wayfield.graphs.graph import Graph
from wayfield.typing import BoolArray, FloatArray, IntArray


def weights(graph: Graph) -> sparse.csr_array[np.float64]:
    """Return the (n, n) matrix of edge weights 1 / length."""
    shape = (graph.num_vertices, graph.num_vertices)
    return sparse.csr_array((1.0 / graph.lengths, graph.indices, graph.indptr), shape=shape)


def laplacian(weight: sparse.csr_array[np.float64]) -> sparse.csr_array[np.float64]:
    """Return degrees less weights."""
    degrees: FloatArray = np.asarray(weight.sum(axis=1)).ravel()
    return (sparse.diags_array(degrees) - weight).tocsr()


def factor(matrix: Any) -> Any:
    """Factor a symmetric positive definite matrix; the result has ``solve``."""
    columns = sparse.csc_array(matrix)
    mode = {"SymmetricMode": True}
    return splu(columns, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=mode)


def log_det(factors: Any) -> float:
    """Return the logarithm of the determinant of a matrix from its factors."""
    return float(np.log(np.abs(factors.U.diagonal())).sum())


def solved(values: FloatArray) -> Solution:
    """Return the solution of a direct method: no bracket, no residual known."""
    return Solution(values, status=Status.NO_BRACKET, residual=np.nan)


def dirichlet(matrix: sparse.csr_array[np.float64], problem: Problem) -> Solution:
    """Solve ``matrix @ u = 0`` off the labels, u given at them."""
    values = np.where(problem.orphaned, np.nan, problem.boundary)
    free = np.flatnonzero(~problem.labelled & ~problem.orphaned)
    if free.size:
        rows = matrix[free]
        values[free] = factor(rows[:, free]).solve(-(rows @ problem.boundary))
    return solved(values)


@dataclass(frozen=True)
class Conditional:
    """Means of Gaussian fields of one precision, given their values at some vertices.

    It is factored for vertices that many problems have in common; others are later observations.
    """

    precision: sparse.csr_array[np.float64]
    free: IntArray
    factors: Any
    size: float
    """Log det of the precision off the common vertices."""

    @classmethod
    def of(cls, precision: Any, common: IntArray) -> Self:
        """Factor the precision off the common vertices."""
        rows = precision.tocsr()
        free = np.setdiff1d(np.arange(rows.shape[0]), common)
        factors = factor(rows[free][:, free])
        return cls(rows, free, factors, log_det(factors))

    def given(self, known: FloatArray, where: BoolArray) -> tuple[FloatArray, FloatArray, float]:
        """Return means, their products in the precision, and log det of it off the vertices.

        Parameters
        ----------
        known : (n, k) array
            Values at the vertices `where`, 0 elsewhere, of k fields.
        where : (n,) bool array
            They include the common ones.
        """
        free, mean = self.free, known.copy()
        mean[free] = 0.0
        mean[free] = self.factors.solve(-np.asarray(self.precision @ mean)[free])
        gram: FloatArray = np.asarray(mean.T @ (self.precision @ mean))
        size = self.size
        later = np.flatnonzero(where[free])
        if later.size:
            pulses = np.zeros((free.size, later.size))
            pulses[later, np.arange(later.size)] = 1.0
            columns = self.factors.solve(pulses)
            off = known[free[later]] - mean[free[later]]
            pull = np.linalg.solve(columns[later], off)
            mean[free] += columns @ pull
            gram, size = gram + off.T @ pull, size + np.linalg.slogdet(columns[later])[1]
        return mean, gram, size
