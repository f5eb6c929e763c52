"""The linear system of a policy, (I - P) x = r: a short iteration, or factors.

The iteration, preconditioned by a Gauss-Seidel sweep in the order in which the policy's moves lead,
takes a dozen steps where moves mostly do what they are meant to, whatever the pattern. Where they
hardly do, it takes thousands, and the matrix is factored, unless the factors would fill in.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy import sparse

from ..extension._linear import SMALL, STEP_COST, Direct
from ..kernels._types import FloatArray
from ..kernels.chance import Rows, solve_rows
from ..kernels.elimination import level_work

PATIENCE = 60
"""Steps after which factors are considered."""
MOST_STEPS = 3_000
"""Steps after which the iteration has failed, and the matrix is factored after all."""


class PolicySystem:
    """The matrix I - P of a proper policy, ready for several right-hand sides."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._factors: Direct | None = None

    @cached_property
    def _matrix(self) -> sparse.csr_array[np.float64]:
        ptr, columns, data = self._rows
        size = ptr.size - 1
        moves = sparse.csr_array((data, columns, ptr), (size, size))
        return sparse.csr_array(sparse.eye_array(size) - moves)

    @cached_property
    def _fills_in(self) -> bool:
        """Whether factors would cost more than the most steps of an iteration."""
        size = self._rows.ptr.size - 1
        if size <= SMALL:
            return False
        pattern = abs(self._matrix)
        pattern = (pattern + pattern.T).tocsr()
        pattern.setdiag(0.0)
        pattern.eliminate_zeros()
        # the diagonal first in its row, as `level_work` has it
        indices = np.insert(pattern.indices, pattern.indptr[:-1], np.arange(size))
        work = level_work(pattern.indptr + np.arange(size + 1), indices)
        return bool(work > STEP_COST * MOST_STEPS * indices.size)

    def solve(self, rhs: FloatArray, rtol: float) -> FloatArray:
        """Solve to the relative tolerance; not trusted, whoever calls takes the residual."""
        found = np.zeros_like(rhs)
        scale = np.abs(rhs).max()  # squares of its entries could underflow
        if not 0.0 < scale < np.inf:
            return found
        if self._factors is None:
            rest = rhs / scale
            left = solve_rows(self._rows, rest, found, rtol, PATIENCE)
            if left > rtol and self._fills_in:
                left *= solve_rows(self._rows, rest, found, rtol / left, MOST_STEPS)
            if left <= rtol:
                return np.asarray(found * scale)
            self._factors = Direct(self._matrix)
        return self._factors.solve(rhs)
