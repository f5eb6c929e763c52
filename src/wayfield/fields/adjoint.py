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
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ..errors import WayfieldError
from ..graphs.graph import Graph
from ..graphs.labels import Labels
from ..numerics.doubledouble import EPSILON
from ..numerics.laplacian import Iterative, prepared
from ..numerics.workers import check_time
from ..typing import BoolArray, FloatArray, IntArray
from .base import Problem, Solution
from .derivatives import (
    STEPS,
    VALUE_ERROR,
    Gradient,
    both_ways,
    component_max,
    generic_direction,
    moved,
)
from .linear import Direct, Interior, LinearSolver, symmetric_solver

REFINED, INACCURATE = 1e-12, 1e-6
"""Residuals of the adjoint, relative to the cotangent: where refinement stops; where it failed."""
BLUR = 1e-4
"""Largest relative error of the coefficients of a vertex that matters."""
FAINT = 1e-8
"""Scale of a row without a slope, as a share of the least scale beside it."""
MOST_REFINEMENTS = 8


def plateaus(graph: Graph, flat: BoolArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the connected pieces of flat vertices, and their rims.

    The result is the (n,) piece of each vertex and, for each arc that leaves a piece, the piece and
    the arc's head.
    """
    tails, heads = graph.tails, graph.indices
    inside, out = flat[tails] & flat[heads], flat[tails] & ~flat[heads]
    arcs = np.ones(int(inside.sum()), np.int8), (tails[inside], heads[inside])
    joined = sparse.coo_array(arcs, shape=(flat.size, flat.size))
    _, piece = connected_components(joined, directed=False)
    return piece, piece[tails[out]], heads[out]


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
        self._solver: LinearSolver
        self._scale = np.ones(free.size)
        if interior.size == 0:
            return
        if p > 2.0:
            # w_xy, the rows divided by their steepest slope to the power p − 2
            largest, steepest = np.zeros(free.size), np.zeros(free.size)
            np.maximum.at(largest, row, np.abs(change))
            np.maximum.at(steepest, row, np.abs(slope))
            self._flat = flat = (
                largest <= VALUE_ERROR * component_max(graph, problem.boundary)[free]
            )
            self._blur = np.where(flat, 0.0, (p - 2.0) * error[free] / np.where(flat, 1.0, largest))
            steepest[flat] = 1.0
            sloped = steepest[~flat]
            with np.errstate(under="ignore"):
                ratio = np.abs(slope) / steepest[row]
                self._weight *= np.where(flat[row], 1.0, ratio ** (p - 2.0))
                self._scale[~flat] = (sloped / sloped.max(initial=0.0)) ** (p - 2.0)
            self._scale[flat] = self._faint()
        entries = np.zeros(graph.num_arcs)
        entries[at] = self._weight
        self._matrix = interior.matrix(entries)
        if p == 2.0:
            self._solver = symmetric_solver(interior)
        elif interior.factors_well:
            self._solver = self._factored()
        else:
            self._solver = prepared(interior.weighted(self._balanced(entries)), rtol=REFINED)

    def _factored(self) -> LinearSolver:
        self._scale = np.ones(self._scale.size)
        return Direct(self._matrix, transposed=True)

    def _faint(self) -> FloatArray:
        """Return scales of the flat rows, far below those of the rows beside them."""
        graph, free = self._graph, self._interior.vertices
        flat, scale = np.zeros(graph.num_vertices, dtype=bool), np.ones(graph.num_vertices)
        flat[free[self._flat]], scale[free] = True, self._scale
        piece, home, rim = plateaus(graph, flat)
        least = np.ones(int(piece.max()) + 1)
        np.minimum.at(least, home, scale[rim])
        return FAINT * least[piece][free[self._flat]]

    def _balanced(self, entries: FloatArray) -> FloatArray:
        """Return weights of arcs, the rows times their scales: symmetric, at flat vertices too."""
        graph, interior = self._graph, self._interior
        flat, scale = np.zeros(graph.num_vertices, dtype=bool), np.zeros(graph.num_vertices)
        flat[interior.vertices], scale[interior.vertices] = self._flat, self._scale
        weights = scale[graph.tails] * entries
        beside = flat[graph.indices] & ~flat[graph.tails]
        weights[beside] = (scale[graph.indices] / graph.lengths)[beside]
        return weights

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
            with np.errstate(over="ignore", invalid="ignore"):
                trial = found + self._scale * self._solver.solve(left, rtol=REFINED)
                rest = right - self._matrix.T @ trial
            if np.abs(rest).sum() < 0.5 * np.abs(left).sum():
                found, left = trial, rest
            elif isinstance(self._solver, Iterative) and self._interior.can_factor:
                self._solver = self._factored()
            else:
                break
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
    direction: FloatArray | None,
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
        direction = generic_direction(problem.labels) if direction is None else direction
        beside, _ = moved(problem, direction, STEPS[0])
        found = at(beside, solve(beside))
    return found
