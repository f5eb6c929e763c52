"""Sparse linear systems on the free vertices: pattern, assembly, and two solvers.

- *Direct*: SuperLU with a minimum-degree ordering and diagonal pivots. This suits the M-matrices
  here (weakly diagonally dominant, symmetric pattern). SuperLU finds the pattern of the factors
  anew for each matrix. Where many matrices share a pattern and the factors stay thin, as on mazes
  and roads, they are factored row by row on a pattern found once (*Thin*).
- *Krylov*: conjugate gradients preconditioned by the diagonal, for graphs without small separators
  (grids in space, random graphs, nearest neighbours in many dimensions). Their factors fill in, but
  they have no long paths either, so the iteration takes some dozens to some hundreds of steps.

The cheaper solver is predicted beforehand. Eliminating level after level of a breadth-first search
takes Σ w³ operations for levels of w vertices; dead ends do not count, since they cause no fill. A
better order takes less, but not by much where it matters. The cost of an iteration also depends on
labels and lengths, so it is measured: one rough solve counts the steps to one digit. It stops as
soon as factoring is known to be faster. This bounds memory too: matrices that would fill in more
are not factored.

Neither result is trusted: callers refine the solution with their own residuals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Protocol, Self

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from ..graphs.graph import Graph
from ..numerics.csr import entries_of
from ..numerics.elimination import (
    Factors,
    Fill,
    dead_ends,
    eliminate,
    factor,
    fill_counts,
    fill_in,
    level_work,
    solve_factored,
    substitute,
)
from ..numerics.krylov import Matrix, biconjugate_gradients, conjugate_gradients
from ..numerics.workers import check_time
from ..typing import FloatArray, IntArray

SMALL = 2_000
"""Number of unknowns up to which a factorisation is cheap on any pattern."""
STEP_COST = 12.0
"""Time of a Krylov step per matrix entry, in operations of an elimination."""
FINE, ROUGH = 1e-10, 1e-3
"""Reductions of the residual: of a solve, and of the one that counts steps."""
SOLVES = 4
"""Number of solves per problem: two or three refinements, and the hitting times."""
HUB = 1_000
"""Dead ends are eliminated beforehand if a row has at least this many entries."""
THIN = 40.0
"""Row-by-row elimination beats SuperLU up to this many operations per entry of the factors."""
MOST_WORK = 1e12
"""Largest number of operations of a factorisation: minutes of work, and limited memory."""
MOST_STEPS = 5_000
"""Steps after which an iteration has failed."""
CHUNK = 250
"""Steps between checks of the clock."""
SHIFT = 2.0**-46
"""Relative shift of the diagonal that makes a numerically singular M-matrix regular."""


class LinearSolver(Protocol):
    """A matrix prepared for solving."""

    def solve(self, rhs: FloatArray, rtol: float | None = None) -> FloatArray:
        """Return the solution for one right-hand side (m,), or several, (m, k) in Fortran order.

        `rtol` overrides the reduction of the residual at which an iteration stops.
        """
        ...


@dataclass(frozen=True, eq=False)
class Interior:
    """Rows and sparsity pattern of a matrix on the free vertices of a graph.

    Attributes
    ----------
    vertices : (m,) integer array
        The free vertices, in the order of the rows.
    row : (n,) integer array
        Row of a free vertex; -1 elsewhere.
    indptr, indices : integer arrays
        Pattern by rows, symmetric; the diagonal entry is first in its row.
    slot : (num_arcs,) integer array
        Slot of the entry of an arc between free vertices; -1 for other arcs.
    ordered : bool
        Whether the rows are in a good order of elimination.
    solves : int
        Expected number of solves, used to choose a solver.
    """

    graph: Graph
    vertices: IntArray
    row: IntArray
    indptr: IntArray
    indices: IntArray
    slot: IntArray
    ordered: bool = False
    solves: int = SOLVES

    @classmethod
    def of(
        cls, graph: Graph, vertices: IntArray, *, ordered: bool = False, solves: int = SOLVES
    ) -> Self:
        """Return the pattern on the given free vertices, with rows in that order."""
        index = np.int32 if graph.num_arcs + graph.num_vertices < 2**31 else np.int64
        vertices = vertices.astype(index)
        row: IntArray = np.full(graph.num_vertices, -1, index)
        row[vertices] = np.arange(vertices.size, dtype=index)
        # the arcs between free vertices, row by row; in each row the diagonal entry comes first
        owner, arcs = entries_of(vertices, graph.indptr)
        inner = row[graph.indices[arcs]] >= 0
        owner, arcs = owner[inner].astype(index), arcs[inner]
        slots = np.arange(1, owner.size + 1, dtype=index) + owner
        ends = np.searchsorted(owner, np.arange(vertices.size + 1))
        indptr = (ends + np.arange(vertices.size + 1)).astype(index)
        indices = np.empty(indptr[-1], index)
        indices[indptr[:-1]] = np.arange(vertices.size)
        indices[slots] = row[graph.indices[arcs]]
        slot = np.full(graph.num_arcs, -1, index)
        slot[arcs] = slots
        return cls(graph, vertices, row, indptr, indices, slot, ordered, solves)

    def __reduce__(self) -> tuple[Any, ...]:
        # the rest is computed from the graph and the vertices
        again = partial(type(self).of, ordered=self.ordered, solves=self.solves)
        return again, (self.graph, self.vertices)

    @property
    def size(self) -> int:
        """Number of unknowns m."""
        return self.vertices.size

    @cached_property
    def laplacian(self) -> sparse.csr_array[np.float64]:
        """Interior Laplacian with conductance 1/ℓ, each rounded to the nearest double."""
        graph, inner, data = self.graph, self.slot >= 0, np.empty(self.indices.size)
        conductances = 1.0 / graph.lengths
        data[self.slot[inner]] = -conductances[inner]
        total = np.bincount(graph.tails, conductances, graph.num_vertices)
        data[self.indptr[:-1]] = total[self.vertices]
        return self.matrix(data)

    @cached_property
    def degree(self) -> FloatArray:
        """(m,) sums of conductances: the diagonal of the Laplacian."""
        return self.laplacian.data[self.indptr[:-1]]

    @cached_property
    def elimination_work(self) -> float:
        """Approximate number of operations of a factorisation."""
        return float(level_work(self.indptr, self.indices))

    @cached_property
    def thin_fill(self) -> Fill | None:
        """Pattern of the factors, if the rows are ordered and it is thin."""
        if not self.ordered:
            return None
        count, parent = fill_counts(self.indptr, self.indices)
        if np.square(count, dtype=float).sum() > THIN * count.sum():
            return None
        return Fill(*fill_in(self.indptr, self.indices, count, parent))

    @property
    def has_hub(self) -> bool:
        """Whether some row has very many entries."""
        return bool(np.diff(self.indptr).max(initial=0) > HUB)

    @cached_property
    def fills_in(self) -> bool:
        """Whether factors would cost more than iterations."""
        if self.size <= SMALL:
            return False
        if self.elimination_work > MOST_WORK:
            return True
        roughly = self.solves * np.log(FINE) / np.log(ROUGH)
        affordable = self.elimination_work / (STEP_COST * self.indices.size * roughly)
        # one rough solve for the hitting times counts the steps
        matrix = Matrix(self.indptr, self.indices, self.laplacian.data)
        return conjugate(matrix, self.degree, ROUGH, min(affordable, MOST_STEPS))[1]

    def matrix(self, data: FloatArray) -> sparse.csr_array[np.float64]:
        """Return a matrix with these entries in the slots of the pattern."""
        return sparse.csr_array((data, self.indices, self.indptr), shape=(self.size, self.size))


class Direct:
    """Factorisation of a matrix with a symmetric pattern.

    SuperLU works by columns and the pattern by rows, so the transpose is factored. No copy is made,
    and `solve` solves the transposed system unless the matrix is symmetric.

    Parameters
    ----------
    matrix : csr_array
        The matrix.
    symmetric : bool
        Whether its entries are symmetric too.
    ordered : bool
        Whether its rows are already in a good order of elimination.
    """

    def __init__(
        self,
        matrix: sparse.csr_array[np.float64],
        *,
        symmetric: bool = False,
        ordered: bool = False,
    ) -> None:
        self._transposed = "N" if symmetric else "T"
        self._ordered = ordered
        try:
            self._lu: Any = self._factor(matrix)
        except RuntimeError:  # singular in doubles, never in exact arithmetic
            safe = matrix + sparse.diags_array(SHIFT * matrix.diagonal())
            self._lu = self._factor(safe.tocsr())

    def _factor(self, matrix: sparse.csr_array[np.float64]) -> Any:
        columns = sparse.csc_array((matrix.data, matrix.indices, matrix.indptr), matrix.shape)
        columns.has_canonical_format = True  # no repeats; the order does not matter
        return splu(
            columns,
            permc_spec="NATURAL" if self._ordered else "MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            panel_size=1,  # separators are small: wider panels are mostly empty
            options={"SymmetricMode": True},
        )

    @property
    def order(self) -> IntArray:
        """Rows in the order of elimination."""
        return np.argsort(self._lu.perm_c)

    def solve(self, rhs: FloatArray, rtol: float | None = None) -> FloatArray:
        """Solve for one right-hand side, or for the columns of several."""
        return np.asarray(self._lu.solve(rhs, trans=self._transposed))


class Thin:
    """Factorisation row by row on a pattern that is known beforehand, see `kernels.elimination`."""

    def __init__(self, interior: Interior, data: FloatArray, fill: Fill) -> None:
        self._fill = fill
        matrix = Matrix(interior.indptr, interior.indices, data)
        self._factors = Factors(*factor(matrix, fill, SHIFT))

    def solve(self, rhs: FloatArray, rtol: float | None = None) -> FloatArray:
        """Solve for one right-hand side, or for the columns of several."""
        return _by_columns(partial(solve_factored, self._fill, self._factors), rhs)


class Pruned:
    """Elimination of the dead ends, then a factorisation of the rest, if any.

    SuperLU's ordering takes time that grows with the square of the leaves of a star.
    """

    def __init__(self, matrix: sparse.csr_array[np.float64], *, symmetric: bool = False) -> None:
        self._order, self._mouth = dead_ends(matrix.indptr, matrix.indices)
        entries = Matrix(matrix.indptr, matrix.indices, matrix.data)
        found = eliminate(entries, self._order, self._mouth, SHIFT)
        self._diagonal, self._into, self._out = found
        kept = np.ones(self._diagonal.size, dtype=bool)
        kept[self._order] = False
        self._core = np.flatnonzero(kept)
        self._direct: Direct | None = None
        if self._core.size:
            core = matrix[self._core][:, self._core]
            core.setdiag(self._diagonal[self._core])
            self._direct = Direct(core, symmetric=symmetric)

    def solve(self, rhs: FloatArray, rtol: float | None = None) -> FloatArray:
        """Solve for one right-hand side, or for the columns of several."""
        return _by_columns(self._solve, rhs)

    def _solve(self, rhs: FloatArray) -> FloatArray:
        values = rhs.copy()
        tree = (self._order, self._mouth, self._diagonal)
        substitute(*tree, self._into, values, False)
        if self._direct is not None:
            values[self._core] = self._direct.solve(values[self._core])
        substitute(*tree, self._out, values, True)
        return values


class Krylov:
    """Conjugate gradients preconditioned by the diagonal, biconjugate ones if not symmetric.

    They may fail if lengths are many orders of magnitude apart. Then the matrix is factored, unless
    that takes too much memory; in that case the best iterate is returned.

    Parameters
    ----------
    interior : Interior
        The pattern.
    data : (nnz,) float array
        The entries.
    symmetric : bool
        Whether the matrix is symmetric.
    rtol : float
        Default reduction of the residual at which to stop.
    """

    def __init__(
        self, interior: Interior, data: FloatArray, *, symmetric: bool, rtol: float
    ) -> None:
        self._interior, self._symmetric, self._rtol = interior, symmetric, rtol
        self._matrix = Matrix(interior.indptr, interior.indices, data)
        self._diagonal = data[interior.indptr[:-1]]
        self._direct: Direct | None = None

    def solve(self, rhs: FloatArray, rtol: float | None = None) -> FloatArray:
        """Solve to the relative tolerance, column by column."""
        return _by_columns(partial(self._solve, self._rtol if rtol is None else rtol), rhs)

    def _solve(self, rtol: float, rhs: FloatArray) -> FloatArray:
        if self._direct is None:
            scale = np.abs(rhs).max()  # squares of its entries could underflow
            if self._symmetric:
                found, converged = conjugate(self._matrix, rhs / scale, rtol, MOST_STEPS)
            else:
                found, converged = self._biconjugate(rhs / scale, rtol)
            if converged or self._interior.elimination_work > MOST_WORK:
                return np.asarray(scale * found)
            matrix = self._interior.matrix(self._matrix.data)
            self._direct = Direct(matrix, symmetric=self._symmetric)
        return self._direct.solve(rhs)

    def _biconjugate(self, rhs: FloatArray, rtol: float) -> tuple[FloatArray, bool]:
        found, residual = np.zeros_like(rhs), rhs / self._diagonal
        goal = rtol * float(np.abs(residual).max())
        for _ in range(0, MOST_STEPS, CHUNK):
            check_time()
            size = biconjugate_gradients(self._matrix, False, found, residual, goal, CHUNK, np.inf)
            if not size > goal:
                break
        return found, size <= goal


def conjugate(
    matrix: Matrix, rhs: FloatArray, rtol: float, steps: float
) -> tuple[FloatArray, bool]:
    """Return the result of conjugate gradients, and whether they converged within these steps."""
    found, residual = np.zeros_like(rhs), rhs.copy()
    direction = rhs / matrix.data[matrix.indptr[:-1]]
    size = float((residual * direction).sum())  # not by BLAS, whose threads would wake
    goal = rtol**2 * size
    while steps >= 1.0 and size > goal:
        check_time()
        some = int(min(steps, CHUNK))
        size = conjugate_gradients(matrix, found, residual, direction, size, goal, some)
        steps -= some
    return found, size <= goal


def symmetric_solver(interior: Interior) -> LinearSolver:
    """Return a solver for the interior Laplacian."""
    if interior.fills_in:
        return Krylov(interior, interior.laplacian.data, symmetric=True, rtol=FINE)
    if interior.has_hub:
        return Pruned(interior.laplacian, symmetric=True)
    return Direct(interior.laplacian, symmetric=True)


def general_solver(interior: Interior, data: FloatArray) -> LinearSolver:
    """Return a solver for an M-matrix; iterations are only as accurate as Newton needs."""
    if interior.fills_in:
        return Krylov(interior, data, symmetric=False, rtol=1e-4)
    if interior.has_hub:
        return Pruned(interior.matrix(data))
    if interior.thin_fill is not None:
        return Thin(interior, data, interior.thin_fill)
    return Direct(interior.matrix(data), ordered=interior.ordered)


def _by_columns(solve: Callable[[FloatArray], FloatArray], rhs: FloatArray) -> FloatArray:
    """Solve for one right-hand side or for each column; zero columns are 0."""
    if rhs.ndim == 2:
        columns = [_by_columns(solve, rhs[:, k]) for k in range(rhs.shape[1])]
        return np.asfortranarray(np.column_stack(columns))
    return solve(rhs) if rhs.any() else np.zeros_like(rhs)
