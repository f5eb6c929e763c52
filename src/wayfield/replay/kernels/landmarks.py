"""Landmarks: points that lie far apart, and the nearest one of every row.

**Farthest points.** Each landmark is the point that is farthest from those before it, so that after
k of them every point has one within twice the least radius that any k balls could do with
(Gonzalez 1985). A point is measured against a new landmark only if that is less than twice as far
from the point's landmark as the point is: otherwise it cannot be nearer.

**Nearest landmark.** By the same triangle inequality, from a candidate: the landmark of the row
before, since observations follow each other. Landmarks are tried in the order of their distance
from the candidate. A nearer one is the next candidate, and the first that is twice as far from the
candidate as the row ends the search. The result is exact, ties to the lowest landmark.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ...numerics.jit import njit
from ...typing import FloatArray, IntArray
from .merging import ENLARGED, Numbers, Rows, squared_distance


@njit(cache=True, nogil=True)
def farthest_points(points: Rows, most: int, least_gap: float) -> IntArray:
    """Choose up to `most` points, the first one first, all more than `least_gap` apart."""
    n = points.shape[0]
    chosen = np.zeros(min(most, n), np.int64)
    owner = np.zeros(n, np.int64)
    gap, between = np.empty(n), np.empty(chosen.size)
    for i in range(n):
        gap[i] = sqrt(squared_distance(points[i], points[0]))
    for count in range(1, chosen.size):
        far = np.argmax(gap)
        if gap[far] <= least_gap:
            return chosen[:count].copy()
        chosen[count] = far
        for k in range(count):
            between[k] = sqrt(squared_distance(points[far], points[chosen[k]]))
        for i in range(n):
            # otherwise the triangle inequality says that the new landmark is not nearer
            if between[owner[i]] <= 2.0 * gap[i] * ENLARGED:
                distance = sqrt(squared_distance(points[i], points[far]))
                if distance < gap[i]:
                    gap[i], owner[i] = distance, count
    return chosen


@njit(cache=True, nogil=True)
def nearest_landmarks(rows: Rows, landmarks: Rows, near: IntArray, apart: FloatArray) -> Numbers:
    """Return the nearest landmark of every row.

    `near` are the landmarks nearest to each landmark, ascending by their distance `apart`.
    """
    nearest = np.empty(rows.shape[0], np.int32)
    count, last = landmarks.shape[0], near.shape[1] - 1
    some = max(1, int(sqrt(count)))
    candidate = 0
    for i in range(rows.shape[0]):
        squared = squared_distance(rows[i], landmarks[candidate])
        if apart[candidate, last] <= 2.0 * sqrt(squared) * ENLARGED:
            # far from the row before: begin with a better candidate
            candidate, squared = _improved(rows[i], landmarks, some, candidate, squared)
        turn = 0
        while turn <= last and apart[candidate, turn] <= 2.0 * sqrt(squared) * ENLARGED:
            other = near[candidate, turn]
            turn += 1
            distance = squared_distance(rows[i], landmarks[other])
            if distance < squared or (distance == squared and other < candidate):
                candidate, squared, turn = other, distance, 0
        if turn > last and last + 1 < count:
            # the list of neighbours was too short to end the search
            candidate, squared = _improved(rows[i], landmarks, 1, candidate, squared)
        nearest[i] = candidate
    return nearest


@njit(cache=True, nogil=True)
def _improved(
    row: Rows, landmarks: Rows, stride: int, candidate: int, squared: float
) -> tuple[int, float]:
    """Return the nearest of the candidate and every `stride`-th landmark."""
    for other in range(0, landmarks.shape[0], stride):
        distance = squared_distance(row, landmarks[other])
        if distance < squared or (distance == squared and other < candidate):
            candidate, squared = other, distance
    return candidate, squared
