"""Sparse linear systems on the free vertices, and which solver suits them.

- *Iterative* (`numerics.laplacian`): near-linear time and memory in practice. The default.
- *Direct*: SuperLU with a minimum-degree ordering and diagonal pivots, which M-matrices allow. It
  is quicker on small systems, and on mazes and roads that are solved many times, whose factors are
  thin. Many matrices on one such pattern, the Jacobians of Newton's method, are factored row by row
  on a pattern found once (*Thin*). SuperLU finds it anew for each matrix.

The choice is a forecast. Eliminating level after level of a breadth-first search takes Σ w³
operations for levels of w vertices; dead ends do not count, since they cause no fill. A better
order takes less, but not by much where it matters. This bounds memory too.

No result is trusted: callers refine the solution with their own residuals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple, Protocol, Self, TypeAlias

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from ..graphs.graph import Graph
from ..numerics.approximate import MMatrix
from ..numerics.csr import entries_of
from ..numerics.elimination import (
    Factors,
    Fill,
    MatrixRows,
    factor,
    fill_counts,
    fill_in,
    level_work,
    solve_factored,
)
from ..numerics.laplacian import Iterative, prepared, row_sums
from ..typing import FloatArray, IntArray

SMALL = 2_000
"""Number of unknowns up to which a factorisation is cheap on any pattern."""
MOST_WORK = 1e12
"""Largest number of operations of a factorisation: minutes of work, and limited memory."""
MOST_DIRECT = 100_000
"""Number of unknowns beyond which a symmetric matrix is not factored."""
SOLVE_COST = 300.0
"""Time of a solve by iteration per matrix entry, in operations of an elimination.

A factorisation that takes as long as one more solve pays: it makes the others, and the preparation
of the iteration, almost free.
"""
HUB = 1_000
"""SuperLU takes too long to order a matrix with at least this many entries in a row."""
SOLVES = 3
"""Number of solves per problem: two refinements, and the hitting times."""
THIN = 40.0
"""Row-by-row elimination beats SuperLU up to this many operations per entry of the factors."""
NEWTON, NEWTON_STEPS = 1e-7, 100
"""Reduction of the residual of Newton's equation by an iteration, and the most steps it takes.

With 1e-4, lengths that are 12 orders apart needed more Newton steps than there are.
"""
MOST_KEPT = 4
"""Number of prepared Laplacians that are kept for other solves, if any are."""
SHIFT = 2.0**-46
"""Relative shift of the diagonal that makes a numerically singular M-matrix regular."""


class LinearSolver(Protocol):
    """A matrix prepared for solving."""

    def solve(self, rhs: FloatArray, rtol: float | None = None) -> FloatArray:
        """Return the solution for one right-hand side (m,), or several, (m, k) in Fortran order.

        `rtol` overrides the reduction of the residual at which an iteration stops.
        """
        ...


Kept: TypeAlias = tuple[Graph, IntArray, LinearSolver]
_kept: ContextVar[list[Kept] | None] = ContextVar("kept", default=None)


class Pattern(NamedTuple):
    """Sparsity pattern by rows, symmetric; the diagonal entry is first in its row."""

    indptr: IntArray
    indices: IntArray
    slot: IntArray
    """(num_arcs,) slot of the entry of an arc between free vertices; -1 for other arcs."""


@dataclass(frozen=True, eq=False)
class Interior:
    """The matrices on the free vertices of a graph: their rows, and their sparsity pattern.

    A matrix is given by the weights ≥ 0 of the graph's arcs, see `approximate.MMatrix`.

    Attributes
    ----------
    vertices : (m,) integer array
        The free vertices, in the order of the rows.
    row : (n,) integer array
        Row of a free vertex; -1 elsewhere.
    ordered : bool
        Whether the rows are in a good order of elimination.
    solves : int
        Expected number of solves, used to choose a solver.
    """

    graph: Graph
    vertices: IntArray
    row: IntArray
    ordered: bool = False
    solves: int = SOLVES

    @classmethod
    def of(
        cls, graph: Graph, vertices: IntArray, *, ordered: bool = False, solves: int = SOLVES
    ) -> Self:
        """Return the system on the given free vertices, with rows in that order."""
        index = np.int32 if graph.num_arcs + graph.num_vertices < 2**31 else np.int64
        vertices = vertices.astype(index)
        row: IntArray = np.full(graph.num_vertices, -1, index)
        row[vertices] = np.arange(vertices.size, dtype=index)
        return cls(graph, vertices, row, ordered, solves)

    def __reduce__(self) -> tuple[Any, ...]:
        # the rest is computed from the graph and the vertices
        again = partial(type(self).of, ordered=self.ordered, solves=self.solves)
        return again, (self.graph, self.vertices)

    @property
    def size(self) -> int:
        """Number of unknowns m."""
        return self.vertices.size

    @cached_property
    def pattern(self) -> Pattern:
        """The sparsity pattern, for factorisations."""
        # the arcs between free vertices, row by row; in each row the diagonal entry comes first
        graph, vertices, row = self.graph, self.vertices, self.row
        owner, arcs = entries_of(vertices, graph.indptr)
        inner = row[graph.indices[arcs]] >= 0
        owner, arcs = owner[inner].astype(row.dtype), arcs[inner]
        slots = np.arange(1, owner.size + 1, dtype=row.dtype) + owner
        ends = np.searchsorted(owner, np.arange(vertices.size + 1))
        indptr = (ends + np.arange(vertices.size + 1)).astype(row.dtype)
        indices = np.empty(indptr[-1], row.dtype)
        indices[indptr[:-1]] = np.arange(vertices.size)
        indices[slots] = row[graph.indices[arcs]]
        slot = np.full(graph.num_arcs, -1, row.dtype)
        slot[arcs] = slots
        return Pattern(indptr, indices, slot)

    @property
    def conductances(self) -> FloatArray:
        """(num_arcs,) weights of the Laplacian: 1/ℓ, each rounded to the nearest double."""
        return 1.0 / self.graph.lengths

    @cached_property
    def degree(self) -> FloatArray:
        """(m,) sums of conductances: the diagonal of the Laplacian."""
        return row_sums(self.weighted(self.conductances))

    @cached_property
    def elimination_work(self) -> float:
        """Approximate number of operations of a factorisation."""
        return float(level_work(self.pattern.indptr, self.pattern.indices))

    @cached_property
    def thin_fill(self) -> Fill | None:
        """Pattern of the factors, if the rows are ordered and it is thin."""
        if not self.ordered:
            return None
        count, parent = fill_counts(self.pattern.indptr, self.pattern.indices)
        if np.square(count, dtype=float).sum() > THIN * count.sum():
            return None
        return Fill(*fill_in(self.pattern.indptr, self.pattern.indices, count, parent))

    @cached_property
    def factors_well(self) -> bool:
        """Whether factoring costs less than iterating."""
        if self.size <= SMALL:
            return True
        if self.size > MOST_DIRECT or np.diff(self.pattern.indptr).max() > HUB:
            return False
        affordable = SOLVE_COST * self.pattern.indices.size * max(1, self.solves - 2)
        return self.elimination_work <= affordable

    @property
    def can_factor(self) -> bool:
        """Whether factors need no more than minutes, and memory to match."""
        return self.size <= SMALL or self.elimination_work <= MOST_WORK

    def weighted(self, weights: FloatArray) -> MMatrix:
        """Return the matrix with these weights of arcs, for iterations."""
        return MMatrix(self.graph.indptr, self.graph.indices, weights, self.vertices, self.row)

    def matrix(self, weights: FloatArray) -> sparse.csr_array[np.float64]:
        """Return the matrix with these weights of arcs, for factorisations."""
        indptr, indices, slot = self.pattern
        data, inner = np.empty(indices.size), slot >= 0
        data[slot[inner]] = -weights[inner]
        data[indptr[:-1]] = row_sums(self.weighted(weights))
        return sparse.csr_array((data, indices, indptr), shape=(self.size, self.size))


class Direct:
    """Factorisation of a matrix with a symmetric pattern.

    SuperLU works by columns and the pattern by rows, so the transpose is factored. No copy is made.

    Parameters
    ----------
    matrix : csr_array
        The matrix.
    transposed : bool
        Solve with the transpose, which is quicker; the same if the matrix is symmetric.
    ordered : bool
        Whether its rows are already in a good order of elimination.
    """

    def __init__(
        self,
        matrix: sparse.csr_array[np.float64],
        *,
        transposed: bool = False,
        ordered: bool = False,
    ) -> None:
        self._transposed = "N" if transposed else "T"
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
        """MatrixRows in the order of elimination."""
        return np.argsort(self._lu.perm_c)

    def solve(self, rhs: FloatArray, rtol: float | None = None) -> FloatArray:
        """Solve for one right-hand side, or for the columns of several."""
        return np.asarray(self._lu.solve(rhs, trans=self._transposed))


class Thin:
    """Factorisation row by row on a pattern known beforehand, see `numerics.elimination`."""

    def __init__(self, matrix: sparse.csr_array[np.float64], fill: Fill) -> None:
        self._fill = fill
        rows = MatrixRows(matrix.indptr, matrix.indices, matrix.data)
        self._factors = Factors(*factor(rows, fill, SHIFT))

    def solve(self, rhs: FloatArray, rtol: float | None = None) -> FloatArray:
        """Solve for one right-hand side, or for the columns of several."""
        return _by_columns(partial(solve_factored, self._fill, self._factors), rhs)


class Rescued:
    """An iteration for Newton's equation, and a factorisation once it fails, if that is possible.

    It fails where slopes or lengths are many orders of magnitude apart, far from the solution.
    """

    def __init__(self, interior: Interior, weights: FloatArray) -> None:
        self._interior, self._weights = interior, weights
        self._iterative = Iterative(interior.weighted(weights), symmetric=False, rtol=NEWTON)
        self._direct: Direct | None = None

    def solve(self, rhs: FloatArray, rtol: float | None = None) -> FloatArray:
        """Solve for one right-hand side, or for the columns of several."""
        if self._direct is None:
            found, left = self._iterative.attempt(rhs, rtol, NEWTON_STEPS)
            if left <= (rtol or NEWTON) or not self._interior.can_factor:
                return found
            self._direct = Direct(self._interior.matrix(self._weights))
        return self._direct.solve(rhs)


@contextmanager
def keeping(kept: list[Kept]) -> Iterator[None]:
    """Keep the prepared Laplacians of the solves inside in a list, the latest `MOST_KEPT`.

    They are used again for the same graph and the same free vertices, and their transposes.
    """
    token = _kept.set(kept)
    try:
        yield
    finally:
        _kept.reset(token)


def symmetric_solver(interior: Interior) -> LinearSolver:
    """Return a solver for the interior Laplacian."""
    kept = _kept.get()
    for graph, vertices, solver in kept or ():
        if graph is interior.graph and np.array_equal(vertices, interior.vertices):
            return solver
    weights = interior.conductances
    made: LinearSolver
    if interior.factors_well:
        made = Direct(interior.matrix(weights), transposed=True)
    else:
        made = prepared(interior.weighted(weights))
    if kept is not None:
        kept[:] = [*kept[1 - MOST_KEPT :], (interior.graph, interior.vertices, made)]
    return made


def general_solver(interior: Interior, weights: FloatArray) -> LinearSolver:
    """Return a solver for an M-matrix; iterations are only as accurate as Newton needs."""
    if not interior.factors_well:
        return Rescued(interior, weights)
    if interior.thin_fill is not None:
        return Thin(interior.matrix(weights), interior.thin_fill)
    return Direct(interior.matrix(weights), ordered=interior.ordered)


def _by_columns(solve: Callable[[FloatArray], FloatArray], rhs: FloatArray) -> FloatArray:
    """Solve for one right-hand side or for each column."""
    if rhs.ndim == 2:
        return np.asfortranarray(np.column_stack([solve(column) for column in rhs.T]))
    return solve(rhs)
