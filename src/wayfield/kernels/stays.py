"""Stays in states, and the crossings that end them.

Row i of a buffer is a transition from `here[i]` to `there[i]` if `valid[i]`, and row i + 1 goes on
from there if `joined[i]`. A stay begins where an episode does or a state is entered; a crossing is
a transition that leaves the state, and its dwell is the number of transitions since the stay began,
itself among them.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ._jit import njit
from ._types import BoolArray, FloatArray, IntArray
from .merging import Numbers, Rows, squared_distance


def crossings(
    here: Numbers, there: Numbers, valid: BoolArray, joined: BoolArray, num_states: int
) -> tuple[IntArray, Numbers, IntArray]:
    """Return the rows of the crossings, their dwells, and the number of stays in each state."""
    crossed = valid & (here != there)
    # after the end of an episode, or a gap in the buffer, the stay so far is lost
    fresh = np.append(True, ~joined)[: here.size]
    begins = fresh.copy()
    begins[1:] |= crossed[:-1]
    when = np.flatnonzero(crossed)
    made: IntArray = np.append(0, np.cumsum(valid))
    dwell = made[when + 1] - made[_latest(begins)[when]]
    entered = np.concatenate([here[fresh], there[when]])
    return when, dwell.astype(np.int32), np.bincount(entered, minlength=num_states)


def gather_arcs(
    tail: Numbers, head: Numbers, dwell: Numbers, leaps: BoolArray, num_states: int
) -> tuple[IntArray, Numbers, IntArray, FloatArray, IntArray]:
    """Return crossings as arcs: row pointers, heads, counts, median dwells, numbers of jumps."""
    order = np.lexsort((dwell, head, tail))
    tail, head, dwell = tail[order], head[order], dwell[order]
    differs = (tail[1:] != tail[:-1]) | (head[1:] != head[:-1])
    starts = np.flatnonzero(np.append(True, differs)[: tail.size])
    counts = np.diff(np.append(starts, tail.size))
    # an arc's crossings are sorted by dwell, so the median is in the middle
    upper = starts + counts // 2
    lower = upper - (counts % 2 == 0)
    median = 0.5 * dwell[lower] + 0.5 * dwell[upper]
    indptr = np.searchsorted(tail[starts], np.arange(num_states + 1))
    leapt = np.add.reduceat(leaps[order], starts, dtype=np.int64)
    return indptr, head[starts], counts, median, leapt


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


def spans(rows: Rows, joined: BoolArray, lag: int) -> FloatArray:
    """Return the distances between rows that follow each other `lag` steps apart."""
    begins = np.append(True, ~joined)[: len(rows)]
    # how many rows before each one belong to the same run
    run = np.arange(len(rows)) - _latest(begins)
    near = run[lag:] >= lag
    distances: FloatArray = step_lengths(rows[lag:], rows[:-lag], near)[near]
    return distances


def continues(first: Rows, second: Rows, final: BoolArray) -> BoolArray:
    """Whether the next row begins where this one ended, and in the same episode."""
    joined = np.zeros(len(first), np.bool_)
    joined[:-1] = ~final[:-1] & (second[:-1] == first[1:]).all(axis=1)
    return joined


def _latest(marked: BoolArray) -> IntArray:
    """Return, for every row, the last marked one up to it; the first row is marked."""
    latest: IntArray = np.maximum.accumulate(np.where(marked, np.arange(marked.size), 0))
    return latest


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
