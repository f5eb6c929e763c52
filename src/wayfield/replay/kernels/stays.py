"""Lengths of a buffer's steps, and mean actions of stays in a state.

Both take a single pass over the rows and copy none of them in double precision.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ...numerics.jit import njit
from ...typing import BoolArray, FloatArray, IntArray
from .merging import Numbers, Rows, squared_distance


@njit(cache=True, nogil=True)
def step_lengths(first: Rows, second: Rows, valid: BoolArray) -> FloatArray:
    """Return the distance between the ends of each transition; 0 for rows that are not transitions.

    `second` are the next observations, or empty where the next row is.
    """
    steps = np.zeros(first.shape[0])
    for i in range(first.shape[0]):
        if valid[i]:
            end = second[i] if second.shape[0] else first[i + 1]
            steps[i] = sqrt(squared_distance(first[i], end))
    return steps


@njit(cache=True, nogil=True)
def mean_actions(actions: Rows, when: IntArray, dwell: Numbers) -> Rows:
    """Return the mean action of every stay that ended in a crossing."""
    means = np.zeros((when.size, actions.shape[1]), np.float32)
    for i in range(when.size):
        for k in range(actions.shape[1]):
            total = 0.0
            for row in range(when[i] - dwell[i] + 1, when[i] + 1):
                total += actions[row, k]
            means[i, k] = total / dwell[i]
    return means
