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


@njit(cache=True, nogil=True)
def crossings(
    here: Numbers, there: Numbers, valid: BoolArray, joined: BoolArray, num_states: int
) -> tuple[IntArray, Numbers, IntArray]:
    """Return the rows of the crossings, their dwells, and the number of stays in each state."""
    # count first, then fill: the arrays are as long as there are crossings
    count = 0
    for i in range(here.size):
        if valid[i] and here[i] != there[i]:
            count += 1
    when, dwell = np.empty(count, np.int64), np.empty(count, np.int32)
    visits = np.zeros(num_states, np.int64)
    count, clock = 0, 0
    for i in range(here.size):
        # a new episode, or a gap in the buffer: the stay so far is lost, and another begins
        if i == 0 or not joined[i - 1]:
            visits[here[i]] += 1
            clock = 0
        if valid[i]:
            clock += 1
            if here[i] != there[i]:
                when[count], dwell[count] = i, clock
                count += 1
                visits[there[i]] += 1
                clock = 0
    return when, dwell, visits


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
def spans(rows: Rows, joined: BoolArray, lag: int) -> FloatArray:
    """Return the distances between rows that follow each other `lag` steps apart."""
    found = np.empty(rows.shape[0])
    count, run = 0, 0
    for i in range(1, rows.shape[0]):
        # how many rows before this one belong to the same run
        run = run + 1 if joined[i - 1] else 0
        if run >= lag:
            found[count] = sqrt(squared_distance(rows[i], rows[i - lag]))
            count += 1
    return found[:count].copy()


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
