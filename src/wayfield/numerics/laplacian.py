"""Linear systems of M-matrices on graphs, in near-linear time and memory in practice.

Equation
    Σ_y w_xy (u_x − u_y) + g_x u_x = b_x at every row x, where the weights w and g, the weight to
    labels, are nonnegative. Laplacians with conductances w = 1/ℓ are symmetric; linearised
    p-Laplacians are symmetric up to a factor for each row, and near their solution only.
Method
    1. *Exact elimination* of an independent set of vertices of low degree, about half of all. It is
       never formed: conjugate gradients run on its Schur complement (`conjugate`).
    2. *Approximate elimination* of the others is the preconditioner (`approximate`): each vertex
       leaves a tree drawn by weight on its neighbours instead of a clique. The factor has at most
       as many entries as the graph has edges, plus those that trees cause, and is kept in single
       precision. Trees and chains are eliminated exactly, so that two or three steps suffice.
    3. On graphs that expand, and where labels are dense, the diagonal of the Schur complement is
       the better preconditioner: a factor takes as long as hundreds of steps. It is tried there,
       kept if some steps show that it converges, and given up if a solve fails after all.
    4. Systems that are not symmetric take biconjugate gradients, with the same elimination.
Stopping rule
    max |D⁻¹ r| ≤ rtol · max |D⁻¹ b|, with D the diagonal and r the residual of the recursion.
Guarantee
    None is needed: callers take residuals of their own. All pivots are positive, so the
    preconditioner is positive definite whatever was drawn: a bad draw costs steps, not accuracy.
    Rows are stored as (other entries, weight to labels). The diagonal is their sum and never used
    otherwise, so nothing cancels, at any contrast of weights. The energy p · S p is added up edge
    by edge. A vertex without a path to a label has pivot 0 and keeps the value 0. The same input
    gives the same bytes: draws depend on the seed only, and there are no threads.

Drift (rows that are not close to symmetric after scaling, as in decision processes) is out of
scope: the iteration may diverge there.

References: Kyng and Sachdeva, "Approximate Gaussian elimination for Laplacians: fast, sparse, and
simple", FOCS 2016, for approximate elimination; Gao, Kyng and Spielman, "Robust and practical
solution of Laplacian equations by approximate elimination", arXiv:2303.00709, 2023, for trees
drawn in sorted order.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ..typing import FloatArray, IntArray
from .approximate import Factor, MMatrix, approximate, bordering
from .conjugate import (
    Rows,
    apply,
    begin,
    begin_general,
    conjugate,
    finish,
    finish_general,
    halve,
    reorder,
)
from .csr import Arcs, expands
from .krylov import biconjugate
from .workers import check_time

SEED = 1
MOST_STEPS = 1_000
"""Steps after which an iteration has failed."""
CHUNK = 50
"""Steps between checks of the clock."""
TRIAL_STEPS, TRIAL_LEFT = 24, 0.5
"""The trial of the diagonal: its steps, and the residual they may leave.

The right-hand side of the mean hitting times excites the slowest modes. On grids in space, random
regular graphs and hubs, a residual that has begun to fall after 24 steps is down to 1e-10 after 40
to 130 steps. Where it has not, hundreds follow, and a factor is cheaper.
"""
DENSE = 0.1
"""Share of the rows next to a label from which labels are dense."""


class Iterative:
    """An M-matrix prepared for solving by iteration.

    Parameters
    ----------
    matrix : MMatrix
        The matrix, with at least one row.
    symmetric : bool
        Whether both arcs of an edge have the same weight.
    diagonal : bool
        Precondition by the diagonal, not by approximate elimination.
    rtol : float
        Default reduction of the residual.

    Attributes
    ----------
    steps : list of int
        Steps of each solve so far.
    """

    def __init__(
        self,
        matrix: MMatrix,
        *,
        symmetric: bool = True,
        diagonal: bool = False,
        rtol: float = 1e-10,
    ) -> None:
        self.symmetric, self.rtol, self.steps = symmetric, rtol, list[int]()
        self._prepare(matrix, diagonal)

    def _prepare(self, matrix: MMatrix, diagonal: bool) -> None:
        symmetric = self.symmetric
        self._order: IntArray
        self._given = matrix if diagonal else None
        if diagonal:
            self._order, place, self._outer, inverse = halve(matrix, symmetric)
            none: FloatArray = np.empty(0, np.float32 if symmetric else np.float64)
            start = np.zeros(inverse.size + 1, np.uint64)
            self._factor = Factor(start, np.empty(0, np.uint32), none, none, inverse)
        else:
            found = approximate(matrix, symmetric, SEED)
            self._order, place, self._outer, self._factor = found
        self._rows = Rows(*reorder(matrix, self._order, place, self._outer, symmetric))

    @property
    def diagonal(self) -> bool:
        """Whether the diagonal is the preconditioner."""
        return self._given is not None

    def solve(self, rhs: FloatArray, rtol: float | None = None) -> FloatArray:
        """Return the solution for one right-hand side (m,), or for the columns of several (m, k).

        If the iteration fails, it is the last iterate.
        """
        rtol = self.rtol if rtol is None else rtol
        found, left = self.attempt(rhs, rtol)
        if self._given is not None and not left <= rtol:
            self._prepare(self._given, diagonal=False)
            found, left = self.attempt(rhs, rtol)
        return found

    def attempt(
        self, rhs: FloatArray, rtol: float | None = None, steps: int = MOST_STEPS
    ) -> tuple[FloatArray, float]:
        """Return what `solve` does, and the worst max |D⁻¹ r| / max |D⁻¹ b| that is left."""
        rtol = self.rtol if rtol is None else rtol
        if rhs.ndim == 1:
            return self._one(rhs, rtol, steps)
        # in a trial, columns solved side by side took as long: they do not fit into the cache
        found, left = np.empty(rhs.shape, order="F"), 0.0
        for c in range(rhs.shape[1]):
            found[:, c], rest = self._one(np.ascontiguousarray(rhs[:, c]), rtol, steps)
            left = max(left, rest)
        return found, left

    def _one(self, rhs: FloatArray, rtol: float, steps: int) -> tuple[FloatArray, float]:
        scale = float(np.abs(rhs).max())  # squares of the entries could underflow
        if not scale > 0.0:
            return np.zeros_like(rhs), 0.0
        if not self.symmetric:
            return self._general(rhs / scale, rtol, steps, scale)
        rhs, m = rhs / scale, rhs.size - self._outer
        state = np.zeros(m), np.empty(m), np.zeros(m)
        size, left = begin(self._order, self._outer, self._rows, rhs, state[1])
        goal, before, done = rtol * size, 0.0, 0
        while left > goal and done < steps:
            check_time()
            some = min(CHUNK, steps - done)
            given = self._outer, self._rows, self._factor, state, before, goal, some
            now, before, made = conjugate(*given)
            left, done = min(left, now), done + made
            if made < some:
                break
        self.steps.append(done)
        found = np.empty(rhs.size)
        finish(self._order, self._outer, self._rows, rhs, state[0], found)
        found *= scale
        return found, left / size if size > 0.0 else 0.0

    def _general(
        self, rhs: FloatArray, rtol: float, steps: int, scale: float
    ) -> tuple[FloatArray, float]:
        m = rhs.size - self._outer
        x, r = np.zeros(rhs.size), np.empty(m)
        size = begin_general(self._order, self._outer, self._rows, rhs, np.empty(rhs.size), r)
        product = partial(apply, self._rows, self._outer, self._factor, np.empty(rhs.size))
        goal, left, done = rtol * size, np.inf, 0
        while left > goal and done < steps:
            check_time()
            left, _ = biconjugate(product, x[self._outer :], r, goal, CHUNK)
            done += CHUNK
        self.steps.append(done)
        found = finish_general(self._order, self._outer, self._rows, rhs, x)
        found *= scale
        return found, left / size if size > 0.0 else 0.0


def prepared(matrix: MMatrix, *, symmetric: bool = True, rtol: float = 1e-10) -> Iterative:
    """Return the matrix with the preconditioner that is cheaper, by a forecast from a few steps."""
    if symmetric and _easy(matrix):
        trial = Iterative(matrix, diagonal=True, rtol=rtol)
        if trial.attempt(row_sums(matrix), TRIAL_LEFT, TRIAL_STEPS)[1] <= TRIAL_LEFT:
            return trial
        del trial
    return Iterative(matrix, symmetric=symmetric, rtol=rtol)


def row_sums(matrix: MMatrix) -> FloatArray:
    """Return (m,) sums of the weights of each row: the diagonal."""
    n = matrix.indptr.size - 1
    tails = np.repeat(np.arange(n, dtype=matrix.indices.dtype), np.diff(matrix.indptr))
    sums: FloatArray = np.bincount(tails, matrix.weights, n).astype(float, copy=False)
    return sums[matrix.vertices]


def _easy(matrix: MMatrix) -> bool:
    """Whether the diagonal could be the better preconditioner."""
    dense = bordering(matrix) >= DENSE * matrix.vertices.size
    return dense or expands(Arcs(matrix.indptr, matrix.indices, matrix.weights))
