"""Biconjugate gradients: exact where the preconditioner is, and right in general."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from wayfield.numerics.krylov import Matrix, biconjugate_gradients, dot, largest


def policy(n: int, seed: int, only_earlier: bool) -> Matrix:
    """Odds of three moves for each state, less than 1 in all; perhaps only to earlier states."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(n), 3)
    heads = rng.integers(0, np.maximum(rows, 1) if only_earlier else n, rows.size)
    odds = rng.uniform(0.05, 0.33, rows.size)
    kept = heads != rows
    odds = sparse.csr_array((odds[kept], (rows[kept], heads[kept])), shape=(n, n))
    odds.sum_duplicates()
    return Matrix(odds.indptr.astype(np.int64), odds.indices.astype(np.int32), odds.data)


def solved(matrix: Matrix, rhs: np.ndarray, steps: int) -> tuple[np.ndarray, float]:
    x = np.zeros(rhs.size)
    return x, biconjugate_gradients(matrix, x, rhs.copy(), 1e-12, steps, 1e3)


@pytest.mark.parametrize("seed", range(4))
def test_one_step_is_enough_where_moves_lead_to_rows_already_swept(seed: int) -> None:
    matrix = policy(50, seed, only_earlier=True)
    rhs = np.random.default_rng(seed).uniform(1, 2, 50)
    x, size = solved(matrix, rhs, 1)
    assert size <= 1e-12
    whole = sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=(50, 50))
    np.testing.assert_allclose(x - whole @ x, rhs, rtol=1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_any_policy_is_solved_in_few_steps(seed: int) -> None:
    matrix = policy(400, seed, only_earlier=False)
    rhs = np.random.default_rng(seed).uniform(1, 2, 400)
    x, size = solved(matrix, rhs, 18)
    assert size <= 1e-12
    whole = sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=(400, 400))
    np.testing.assert_allclose(x, np.linalg.solve(np.eye(400) - whole.toarray(), rhs), rtol=1e-11)


def test_sums_and_largest_entries() -> None:
    a, b = np.array([1.0, -4.0, 2.0]), np.array([3.0, 0.5, -2.0])
    assert dot(a, b) == -3.0
    assert largest(a) == 4.0
    assert np.isnan(largest(np.array([1.0, np.nan, 2.0])))
