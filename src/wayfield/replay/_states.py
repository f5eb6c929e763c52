"""States of a buffer: observations merged by tolerance, or assigned to landmarks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from .._arrays import as_whole
from ..errors import InputError
from ..kernels.landmarks import farthest_points, nearest_landmarks
from ..kernels.merging import Numbers, Rows, merge_equal, merge_near
from ._buffer import Buffer, as_rows

POOL = 60_000
"""Landmarks are chosen among that many observations, drawn at random."""
_NEIGHBOURS = 128
"""How many other landmarks each one knows, by distance."""


class Located(NamedTuple):
    """The state where every row begins, the one where it ends, and all states."""

    here: Numbers
    there: Numbers
    states: Rows


def merged(buffer: Buffer, tolerance: float) -> Located:
    """Take observations for one state if they are equal or, with a tolerance, near its first."""
    first, second = buffer.first, buffer.second
    if tolerance > 0.0:
        here, there, states = merge_near(first, second, tolerance)
    else:
        bits = np.uint32 if first.dtype == np.float32 else np.uint64
        here, there, states = merge_equal(first, second, first.view(bits), second.view(bits))
    return Located(here, _following(here, there), states)


def assigned(buffer: Buffer, landmarks: Rows) -> Located:
    """Take every observation for the landmark nearest to it."""
    here = nearest(buffer.first, landmarks)
    there = nearest(buffer.second, landmarks)
    return Located(here, _following(here, there), landmarks)


def nearest(rows: Rows, landmarks: Rows) -> Numbers:
    """Nearest landmark of every row, ties to the lowest; exact."""
    most = min(len(landmarks), _NEIGHBOURS)
    apart, near = cKDTree(landmarks).query(landmarks, np.arange(1, most + 1))
    return nearest_landmarks(rows, landmarks, np.asarray(near), np.asarray(apart))


def as_landmarks(landmarks: int | ArrayLike, buffer: Buffer, gap: float, seed: int) -> Rows:
    """Return the landmarks given, or as many farthest points, more than `gap` apart."""
    rows = buffer.first
    if np.ndim(landmarks) == 0:
        count = as_whole(landmarks, "landmarks", least=1)
        rng = np.random.default_rng(as_whole(seed, "seed", least=0))
        pool = rows if len(rows) <= POOL else rows[rng.choice(len(rows), POOL, replace=False)]
        return pool[farthest_points(pool, count, gap)]
    given = as_rows(landmarks, "landmarks")
    if given.shape[1] != rows.shape[1]:
        raise InputError(
            f"landmarks have {given.shape[1]} coordinates, observations {rows.shape[1]}"
        )
    return given.astype(rows.dtype)


def _following(here: Numbers, there: Numbers) -> Numbers:
    """States where rows end: those of the next observations, or where the next row begins."""
    return there if there.size else np.append(here[1:], here[-1:])
