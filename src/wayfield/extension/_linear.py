"""Sparse linear systems on the free vertices: pattern, assembly, and three ways to solve.

- *Direct*: SuperLU with a minimum-degree ordering and diagonal pivots, which suits the M-matrices
  here (weakly diagonally dominant, symmetric pattern).
- *Multigrid*: Krylov iteration preconditioned by PyAMG (``pip install wayfield[fast]``), for large
  graphs. On grids the two cost the same at about `DIRECT_LIMIT` unknowns; without PyAMG these are
  solved directly.
- *Diagonal*: Krylov iteration preconditioned by the diagonal, for graphs without small separators
  (random graphs, nearest neighbours in many dimensions): their factors fill in, but the
  iteration converges in some dozen steps.

None is trusted: whoever calls refines the solution with residuals of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import Any, Protocol, Self

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import bicgstab, cg, splu

from ..graph import Graph
from ..kernels._types import FloatArray, IntArray
from ..kernels.harmonic import interior_pattern, laplacian_data, level_width

DIRECT_LIMIT = 300_000
"""Unknowns up to which a factorisation beats multigrid on a grid."""

GENERAL_LIMIT = 4_000_000
"""The same for the Jacobians of the p-Laplacian, on which multigrid does poorly: memory decides."""
SMALL = 4_000
"""Unknowns up to which a factorisation is cheap whatever the pattern."""
WIDE = 3_000
"""Width of a breadth-first level past which factors fill in too much."""
SHIFT = 2.0**-46
"""Relative shift of the diagonal that makes a numerically singular M-matrix regular."""


class LinearSolver(Protocol):
    """A matrix made ready for solving."""

    def solve(self, rhs: FloatArray) -> FloatArray:
        """Solution for one right-hand side (m,), or for several, (m, k) in Fortran order."""
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
        Where the entry of an arc between free vertices is held; -1 for other arcs.
    ordered : bool
        Whether the rows stand in a good order of elimination.
    """

    graph: Graph
    vertices: IntArray
    row: IntArray
    indptr: IntArray
    indices: IntArray
    slot: IntArray
    ordered: bool

    @classmethod
    def of(cls, graph: Graph, vertices: IntArray, ordered: bool = False) -> Self:
        """Pattern on the given free vertices, rows in that order."""
        index = np.int32 if graph.num_arcs + graph.num_vertices < 2**31 else np.int64
        vertices = vertices.astype(index)
        row = np.full(graph.num_vertices, -1, index)
        row[vertices] = np.arange(vertices.size, dtype=index)
        indptr = np.empty(vertices.size + 1, index)
        indices, slot = interior_pattern(graph.arcs, vertices, row, indptr)
        return cls(graph, vertices, row, indptr, indices, slot, ordered)

    @property
    def size(self) -> int:
        """Number of unknowns m."""
        return self.vertices.size

    @cached_property
    def laplacian(self) -> sparse.csr_array[np.float64]:
        """Interior Laplacian with conductance 1/ℓ, each rounded to the nearest double."""
        return self.matrix(laplacian_data(self.graph.arcs, self.vertices, self.indptr, self.slot))

    @cached_property
    def solver(self) -> type[Direct] | type[Multigrid] | type[Diagonal]:
        """The kind of solver that suits the pattern."""
        if self.size <= SMALL:
            return Direct
        if level_width(self.indptr, self.indices) > WIDE:
            return Diagonal
        if self.size <= DIRECT_LIMIT or find_spec("pyamg") is None:
            return Direct
        return Multigrid

    def matrix(self, data: FloatArray) -> sparse.csr_array[np.float64]:
        """Matrix with these entries in the slots of the pattern."""
        return sparse.csr_array((data, self.indices, self.indptr), shape=(self.size, self.size))


class Direct:
    """Factorisation of a matrix with a symmetric pattern.

    SuperLU holds columns, the pattern rows, so what is factored is the transpose: no copy is
    made, and `solve` asks for the transposed system unless the matrix is symmetric.

    Parameters
    ----------
    matrix : csr_array
        The matrix.
    symmetric : bool
        Whether its entries are symmetric too.
    ordered : bool
        Whether its rows already stand in a good order of elimination.
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
        columns.has_canonical_format = True  # no repeats; any order will do, so leave it alone
        return splu(
            columns,
            permc_spec="NATURAL" if self._ordered else "MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )

    @property
    def order(self) -> IntArray:
        """Rows in the order of elimination."""
        return np.argsort(self._lu.perm_c)

    def solve(self, rhs: FloatArray) -> FloatArray:
        """Solve for one right-hand side, or for the columns of several."""
        return np.asarray(self._lu.solve(rhs, trans=self._transposed))


class Multigrid:
    """Krylov iteration preconditioned by one cycle of Ruge–Stüben multigrid.

    Conjugate gradients for a symmetric matrix, stabilised biconjugate gradients for others.
    """

    def __init__(
        self, matrix: sparse.csr_array[np.float64], *, symmetric: bool, rtol: float = 1e-10
    ) -> None:
        import pyamg

        self._rtol = rtol
        self._krylov = "cg" if symmetric else "bicgstab"
        self._levels: Any = pyamg.ruge_stuben_solver(sparse.csr_matrix(matrix, copy=True))

    def solve(self, rhs: FloatArray) -> FloatArray:
        """Solve to the relative tolerance, column by column."""
        return _by_columns(self._solve, rhs)

    def _solve(self, rhs: FloatArray) -> FloatArray:
        return np.asarray(self._levels.solve(rhs, tol=self._rtol, accel=self._krylov, maxiter=200))


class Diagonal:
    """Krylov iteration preconditioned by the diagonal; direct after all if it does not converge."""

    def __init__(
        self, matrix: sparse.csr_array[np.float64], *, symmetric: bool, rtol: float = 1e-10
    ) -> None:
        self._matrix, self._symmetric, self._rtol = matrix, symmetric, rtol
        self._inverse = sparse.diags_array(1.0 / matrix.diagonal())
        self._direct: Direct | None = None

    def solve(self, rhs: FloatArray) -> FloatArray:
        """Solve to the relative tolerance, column by column."""
        return _by_columns(self._solve, rhs)

    def _solve(self, rhs: FloatArray) -> FloatArray:
        if self._direct is None:
            krylov: Any = cg if self._symmetric else bicgstab
            found, failed = krylov(self._matrix, rhs, rtol=self._rtol, maxiter=500, M=self._inverse)
            if not failed and np.isfinite(found).all():
                return np.asarray(found)
            self._direct = Direct(self._matrix, symmetric=self._symmetric)
        return self._direct.solve(rhs)


def symmetric_solver(interior: Interior) -> LinearSolver:
    """Solver for the interior Laplacian."""
    kind = interior.solver
    return kind(interior.laplacian, symmetric=True)


def general_solver(interior: Interior, data: FloatArray) -> LinearSolver:
    """Solver for an M-matrix with these entries."""
    kind, matrix = interior.solver, interior.matrix(data)
    if kind is Direct or (kind is Multigrid and interior.size <= GENERAL_LIMIT):
        return Direct(matrix, ordered=interior.ordered)
    return kind(matrix, symmetric=False)


def _by_columns(solve: Callable[[FloatArray], FloatArray], rhs: FloatArray) -> FloatArray:
    """Solve for one right-hand side or for each column; 0 for 0."""
    if rhs.ndim == 2:
        columns = [_by_columns(solve, rhs[:, k]) for k in range(rhs.shape[1])]
        return np.asfortranarray(np.column_stack(columns))
    return solve(rhs) if rhs.any() else np.zeros_like(rhs)
