"""What to measure next: the pairs that take most uncertainty out of the table of all times.

Times of pairs have a posterior covariance C. Measuring a pair x with the noise σ f d(x) conditions
it by one rank. The next pair is

    argmax_x  Σ_y C(y, x)² / t(y)² / (C(x, x) + noise(x)²),

the one that reduces the expected squared relative error over all pairs most (A-optimal design). It
is chosen greedily, on a random sample of pairs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..numerics.workers import one_thread
from ..typing import FloatArray, IntArray

if TYPE_CHECKING:
    from .model import Model

POOL = 600
"""Pairs, or vertices, that are looked at."""


def choose(model: Model, count: int) -> NDArray[np.int64]:
    """Return the pairs to measure next, (count, 2); with one goal, the (count,) vertices."""
    n, rng = model.given.num_vertices, np.random.default_rng(0)
    goals = np.unique(model.trips.ends)
    if goals.size == 1:
        starts = np.setdiff1d(np.arange(n), np.append(model.trips.starts, goals))
        starts = rng.choice(starts, min(POOL, starts.size), replace=False)
        ends = np.full(starts.size, goals[0])
    else:
        pairs = rng.integers(n, size=(2 * POOL, 2))
        pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
        starts, ends = rng.permutation(pairs)[:POOL].T
    with one_thread():
        mean, covariance, noise, able = model.joint(starts, ends)
    starts, ends = starts[able], ends[able]
    chosen = greedy(covariance, noise, mean, min(count, starts.size))
    if goals.size == 1:
        return starts[chosen].astype(np.int64)
    return np.column_stack([starts[chosen], ends[chosen]]).astype(np.int64)


def greedy(covariance: FloatArray, noise: FloatArray, mean: FloatArray, count: int) -> IntArray:
    """Return the positions to measure, in order; see the module."""
    left = covariance.copy()
    # the nearest pairs, hardly worth a prediction, count as the 5th percentile
    weight = 1.0 / np.maximum(mean, np.percentile(mean, 5)) ** 2
    free, chosen = np.ones(mean.size, bool), list[int]()
    for _ in range(count):
        gain = weight @ left**2 / (np.diag(left) + noise)
        best = int(np.argmax(np.where(free, gain, -np.inf)))
        chosen.append(best)
        free[best] = False
        left -= np.outer(left[best], left[best]) / (left[best, best] + noise[best])
    return np.array(chosen, dtype=np.int64)
