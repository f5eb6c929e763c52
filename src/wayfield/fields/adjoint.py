"""The derivative of a harmonic or p-Laplacian extension: the adjoint equation.

At a free vertex F_x(u, ℓ) = Σ sign(Δ) (|Δ|/ℓ)^{p−1} = 0 with Δ = u_y − u_x. Let
w_xy = ∂F_x/∂u_y = |Δ/ℓ|^{p−2}/ℓ, each row divided by a positive number (its steepest slope to the
power p − 2, so that nothing overflows), and A = −∂F/∂u, an M-matrix. With Aᵀ λ = c on the free
vertices,

    ∂/∂y_z = c_z + Σ_x λ_x w_xz,        ∂/∂ℓ_xy = −λ_x w_xy Δ/ℓ   at the arc x → y.

*Stopping rule and guarantee.* A residual r = c − Aᵀ λ moves the gradient by the labels by at most
Σ |r|, since the weights of each vertex sum to 1. λ is refined until this is 1e-12 of Σ |c|; above
1e-6 an error is raised (unit corridors of a million steps). An error ε of the values changes w by a
share of (p − 2) ε / max |Δ|. Labels that differ little compared with their size are shifted first,
so that ε is small compared with their range. If the share exceeds 1e-4 at a vertex that has a part
in the gradient, an error is raised. Where all slopes vanish around a set of vertices with two or
more neighbours outside, the equation is degenerate and u has a kink.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import WayfieldError
from ..graphs.labels import Labels
from ..numerics.csr import reverse_slots
from ..numerics.doubledouble import EPSILON
from ..numerics.workers import check_time
from ..typing import BoolArray, FloatArray
from .base import Problem, Solution
from .derivatives import STEPS, VALUE_ERROR, Direction, Gradient, both_ways, component_max
from .linear import Interior, general_solver, symmetric_solver
from .newton import plateaus

REFINED, INACCURATE = 1e-12, 1e-6
"""Residuals of the adjoint, relative to the cotangent: where refinement stops; where it failed."""
BLUR = 1e-4
"""Largest relative error of the coefficients of a vertex that matters."""
MOST_REFINEMENTS = 8


class Adjoint:
    """The linearised equation at a field, prepared for solving with its transpose."""

    def __init__(self, problem: Problem, values: FloatArray, p: float, error: FloatArray) -> None:
        graph = self._graph = problem.graph
        self._labels, tails = problem.labels, graph.tails
        free = np.flatnonzero(~(problem.labelled | problem.orphaned))
        self._interior = interior = Interior.of(graph, free)
        self._at = at = np.flatnonzero(interior.row[tails] >= 0)
        """Arcs out of free vertices."""
        self._row = row = interior.row[tails[at]]
        lengths = graph.lengths[at]
        change = values[graph.indices[at]] - values[tails[at]]
        self._slope = slope = change / lengths
        self._weight = 1.0 / lengths
        self._flat: BoolArray = np.zeros(free.size, dtype=bool)
        """Free vertices without a slope."""
        self._blur = np.zeros(free.size)
        """Relative error of the weights of each free vertex."""
        if interior.size == 0:
            return
        if p == 2.0:
            self._matrix, self._solver = interior.laplacian, symmetric_solver(interior)
            return
        # w_xy, the rows divided by their steepest slope to the power p − 2
        largest, steepest = np.zeros(free.size), np.zeros(free.size)
        np.maximum.at(largest, row, np.abs(change))
        np.maximum.at(steepest, row, np.abs(slope))
        self._flat = flat = largest <= VALUE_ERROR * component_max(graph, problem.boundary)[free]
        self._blur = np.where(flat, 0.0, (p - 2.0) * error[free] / np.where(flat, 1.0, largest))
        with np.errstate(under="ignore"):
            ratio = np.abs(slope) / np.where(flat, 1.0, steepest)[row]
            self._weight *= np.where(flat[row], 1.0, ratio ** (p - 2.0))
        # the transpose has the entry of the opposite arc in every slot
        entries = np.zeros(graph.num_arcs)
        entries[at] = -self._weight
        inner = interior.slot >= 0
        data = np.empty(interior.indices.size)
        data[interior.indptr[:-1]] = np.bincount(row, self._weight, free.size)
        data[interior.slot[inner]] = entries[reverse_slots(graph.arcs)][inner]
        self._matrix, self._solver = interior.matrix(data), general_solver(interior, data)

    @property
    def has_kink(self) -> bool:
        """Whether a set of vertices without a slope has two or more neighbours outside."""
        flat = np.zeros(self._graph.num_vertices, dtype=bool)
        flat[self._interior.vertices[self._flat]] = True
        _, home, rim = plateaus(self._graph, flat)
        piece = np.unique(np.column_stack([home, rim]), axis=0)[:, 0]
        return bool((np.diff(piece) == 0).any())

    def pull(self, cotangent: FloatArray) -> Gradient:
        """Return the gradient of cotangent · field: one solve, refined."""
        graph, labels, heads = self._graph, self._labels, self._graph.indices[self._at]
        adjoint = self._adjoint(cotangent[self._interior.vertices])
        share = adjoint[self._row] * self._weight
        passing = np.bincount(self._row, np.abs(share), adjoint.size)
        blurred = (self._blur > BLUR) & (passing > INACCURATE * np.abs(cotangent).sum())
        if blurred.any():
            raise WayfieldError(
                f"the derivative is inaccurate at vertex {self._interior.vertices[blurred][0]}: "
                "compared with the largest label, the values around it differ too little for this "
                "p; use a smaller p, or labels of similar size"
            )
        total = np.bincount(heads, share, graph.num_vertices) + cotangent
        by_length = np.zeros(graph.num_arcs)
        by_length[self._at] = -share * self._slope
        return Gradient(total[labels.vertices], both_ways(graph, by_length))

    def _adjoint(self, right: FloatArray) -> FloatArray:
        """Solve Aᵀ λ = c to a negligible residual."""
        found, left = np.zeros(right.size), right
        size = float(np.abs(right).sum())
        for _ in range(MOST_REFINEMENTS):
            if float(np.abs(left).sum()) <= REFINED * size:
                break
            check_time()
            trial = found + self._solver.solve(left, rtol=REFINED)
            rest = right - self._matrix @ trial
            if not np.abs(rest).sum() < 0.5 * np.abs(left).sum():
                break
            found, left = trial, rest
        residual = float(np.abs(left).sum())
        if residual > INACCURATE * size:
            raise WayfieldError(
                f"the derivative is only known to within {residual / size:.1e} of the cotangent, "
                f"more than {INACCURATE:g}: (a) labels are hundreds of thousands of steps apart: "
                "label states in between; (b) slopes or lengths are too many orders apart: use a "
                "smaller p; or take AMLE(), whose derivative needs no linear solve"
            )
        return found


def adjoint_of(
    problem: Problem,
    solved: Solution,
    direction: Direction | None,
    solve: Callable[[Problem], Solution],
    p: float,
) -> Adjoint:
    """Linearise at the field, or a step towards a direction if it has a kink.

    `solve` solves other problems of this kind.
    """
    labels = problem.labels
    if 0.0 < 2.0 * labels.span < np.abs(labels.values).max():
        # slopes are differences: without the common part of the labels they keep their digits
        shifted = Labels(labels.vertices, labels.values - labels.values.min())
        problem = problem.relabelled(shifted)
        solved = solve(problem)

    def at(problem: Problem, solved: Solution) -> Adjoint:
        error = EPSILON * component_max(problem.graph, problem.boundary)
        if solved.lower is not None and solved.upper is not None:
            with np.errstate(invalid="ignore"):  # inf − inf
                error += component_max(problem.graph, solved.upper - solved.lower) / 2
        return Adjoint(problem, solved.values, p, error)

    found = at(problem, solved)
    if p > 2.0 and found.has_kink:
        direction = direction or Direction.generic(problem.graph, problem.labels)
        moved, _ = direction.step(problem, STEPS[0])
        found = at(moved, solve(moved))
    return found
