"""What a buffer's rows say about moving between states: counts, time, speed, jumps and actions.

A *crossing* is a transition from one state to another. Its *dwell* is the time spent in the first,
in steps: from entering it, or from the start of the episode, to leaving it. Between merged states
an arc is as long as its median dwell, but never shorter than the distance at the behaviour's speed:
the dwell alone makes a corner that is cut, and left at once, too cheap.

The *speed* is measured over ten steps, since single ones zigzag, but is at least half of theirs: a
behaviour that turns on the spot gets nowhere, and is not slow for that.

A *jump* is a single step far longer than the others are, as a teleporter makes. Its arc is as long
as its dwell, whatever the distance. Without actions it is all that can be told from choice:
whoever jumped did not choose where to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._arrays import KeepsReadOnly, as_real_array, frozen, refuse
from ..errors import InputError
from ..kernels._types import BoolArray, FloatArray, IntArray
from ..kernels.landmarks import farthest_points
from ..kernels.merging import Numbers, Rows
from ..kernels.stays import crossings, gather_arcs, mean_actions, spans, step_lengths
from ._buffer import Buffer
from ._states import POOL, Located, nearest

JUMP, _USUAL = 5.0, 0.9
"""A jump is longer than so many steps, a step being as long as this share of them are at most."""
_LAG, _BRISK, _ZIGZAG = 10, 0.75, 0.5
"""Speed is measured over so many steps, at this quantile, since the behaviour rests, too; it is at
least this share of what single steps make."""
ACTION_KINDS = 16
"""Continuous actions fall into that many kinds."""


class Crossings(NamedTuple):
    """Transitions from one state to another, in the order of the buffer."""

    row: IntArray
    tail: Numbers
    head: Numbers
    dwell: Numbers
    leaps: BoolArray
    """Whether it was a jump."""
    visits: IntArray
    """Stays in every state."""


class Arcs(NamedTuple):
    """Distinct crossings as sorted rows."""

    indptr: IntArray
    indices: Numbers
    counts: IntArray
    dwell: FloatArray
    """Median."""
    fastest: FloatArray
    """Least dwell."""
    leaps: IntArray


@dataclass(frozen=True, eq=False)
class Jumps(KeepsReadOnly):
    """Arcs that were crossed by jumps.

    Attributes
    ----------
    tail, head : (j,) int64 arrays
        States where they set in, and where they ended.
    count : (j,) int64 array
        How often.
    launch : (j, d) float64 array
        Mean observation from which they set in.
    """

    tail: NDArray[np.int64]
    head: NDArray[np.int64]
    count: NDArray[np.int64]
    launch: FloatArray


@dataclass(frozen=True, eq=False)
class ActionCounts(KeepsReadOnly):
    """What followed which action.

    Attributes
    ----------
    state, action, next_state : (k,) int64 arrays
        Taken here, the kind of action, and what followed.
    count : (k,) int64 array
        How often.
    cost : (k,) float array
        Mean time that it took, or mean of the lengths given.
    kinds : (a,) or (a, d) array
        The actions themselves: whole numbers as given, or the centre of each kind.
    """

    state: NDArray[np.int64]
    action: NDArray[np.int64]
    next_state: NDArray[np.int64]
    count: NDArray[np.int64]
    cost: FloatArray
    kinds: NDArray[np.float64]


def find_crossings(buffer: Buffer, located: Located, jump: float | None) -> Crossings:
    """Find the transitions that change the state; `jump`: the longest step that is none."""
    here, there, states = located
    when, dwell, visits = crossings(here, there, buffer.valid, buffer.joined, len(states))
    steps = step_lengths(buffer.first, buffer.second, buffer.valid)
    longest = longest_step(steps) if jump is None else jump
    return Crossings(when, here[when], there[when], dwell, steps[when] > longest, visits)


def arcs_of(moves: Crossings) -> Arcs:
    """Count the crossings of every arc."""
    return Arcs(*gather_arcs(*moves[1:5], moves.visits.size))


def speed_of(buffer: Buffer) -> float:
    """Distance per step of the behaviour; 0 if it never moves."""
    steps = step_lengths(buffer.first, buffer.second, buffer.valid)[buffer.valid]
    single = float(np.quantile(steps, _BRISK))
    many = spans(buffer.first, buffer.joined, _LAG)
    if not many.size:  # short episodes, or rows in no order
        return single
    return max(float(np.quantile(many, _BRISK)) / _LAG, _ZIGZAG * single)


def jumps_of(moves: Crossings, buffer: Buffer) -> Jumps:
    """Collect the jumps by arc."""
    leapt = np.flatnonzero(moves.leaps)
    tail, head = moves.tail[leapt].astype(np.int64), moves.head[leapt].astype(np.int64)
    size = moves.visits.size
    key, which, count = np.unique(tail * size + head, return_inverse=True, return_counts=True)
    launch = np.zeros((key.size, buffer.first.shape[1]))
    np.add.at(launch, which, buffer.first[moves.row[leapt]].astype(np.float64))
    launch /= count[:, None]
    return Jumps(*map(frozen, (key // size, key % size, count, launch)))


def count_actions(
    actions: ArrayLike,
    buffer: Buffer,
    located: Located,
    moves: Crossings,
    costs: FloatArray | None,
    exact: bool,
) -> ActionCounts:
    """Count what followed which action.

    Between exact states every transition counts, also those that stay; between merged ones the
    crossings, each with the last of its whole-numbered actions or the mean of its continuous ones.
    `costs` are those given for the transitions, in place of time.
    """
    given = _as_actions(actions, buffer.valid.size)
    row = np.flatnonzero(buffer.valid) if exact else moves.row
    cost = np.ones(row.size) if exact else moves.dwell.astype(np.float64)
    if costs is not None:
        cost = costs[np.searchsorted(np.flatnonzero(buffer.valid), row)]
    if given.ndim == 1:
        kinds, kind = np.unique(given[row], return_inverse=True)
    else:
        dwell = np.ones(row.size, np.int32) if exact else moves.dwell
        means = mean_actions(given, row, dwell)
        pool = means
        if len(means) > POOL:
            pool = means[np.random.default_rng(0).choice(len(means), POOL, replace=False)]
        kinds = pool[farthest_points(pool, ACTION_KINDS, 0.0)]
        kind = nearest(means, kinds).astype(np.int64)
    n = len(located.states)
    state, following = located.here[row].astype(np.int64), located.there[row]
    key = (state * len(kinds) + kind) * n + following
    key, which, count = np.unique(key, return_inverse=True, return_counts=True)
    mean = np.bincount(which, cost, key.size) / count
    choice = key // n
    state, action = np.divmod(choice, len(kinds))
    return ActionCounts(*map(frozen, (state, action, key % n, count, mean, kinds)))


def longest_step(steps: FloatArray) -> float:
    """Longest step that is no jump."""
    moved = steps[steps > 0.0]
    return JUMP * float(np.quantile(moved, _USUAL, method="lower")) if moved.size else np.inf


def _as_actions(actions: ArrayLike, size: int) -> Rows:
    """Return actions one per row: whole numbers as a list, others as a matrix."""
    array = as_real_array(actions, "actions")
    if array.ndim == 0 or len(array) != size:
        raise InputError(f"actions are of shape {array.shape}, but there are {size} observations")
    if array.ndim == 2 and array.shape[1] == 1 and array.dtype.kind in "iu":
        array = array[:, 0]
    if array.ndim == 1 and array.dtype.kind in "biu":
        return array.astype(np.int64)
    if array.ndim > 2:
        raise InputError(f"actions must be numbers or rows of numbers, not of shape {array.shape}")
    matrix = array.reshape(size, -1)
    refuse(~np.isfinite(matrix), matrix, "actions", "is not a finite number")
    return np.ascontiguousarray(matrix, dtype=np.float32)
