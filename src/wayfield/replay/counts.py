"""States of a buffer, and what was counted between them: crossings, time, speed, jumps, actions.

Observations become states by merging (equal ones, or those within a tolerance) or by assignment to
the nearest landmark.

A *crossing* is a transition from one state to another. Its *dwell* is the time spent in the first
state, in steps: from entering it, or from the start of the episode, to leaving it. Between merged
states an arc is as long as its median dwell, but never shorter than the distance over the
behaviour's speed. The dwell alone makes corners too cheap: they are cut, and left at once.

The *speed* is measured over ten steps, since single steps zigzag. It is at least half the speed of
single steps: a behaviour that turns on the spot gets nowhere, but is not slow.

A *jump* is a single step far longer than the others, such as a teleport. Its arc is as long as its
dwell, whatever the distance. Without actions, jumps are the only sign of chance: nobody chooses
where a jump leads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree

from ..checks import KeepsReadOnly, as_real_array, as_whole, frozen, refuse
from ..errors import InputError
from ..typing import BoolArray, FloatArray, IntArray
from .dataset import Buffer, as_rows
from .kernels.landmarks import farthest_points, nearest_landmarks
from .kernels.merging import Numbers, Rows, merge_near
from .kernels.stays import mean_actions, step_lengths

POOL = 60_000
"""Landmarks are chosen among this many observations, drawn at random."""
_NEIGHBOURS = 128
"""Neighbouring landmarks that are listed for each landmark."""
JUMP, USUAL = 5.0, 0.9
"""A step is a jump if it is longer than `JUMP` times this quantile of the nonzero steps."""
_LAG, _BRISK, _ZIGZAG = 10, 0.75, 0.5
"""Speed is the `_BRISK` quantile of the distances over `_LAG` steps (the behaviour also rests), but
at least `_ZIGZAG` times the same quantile of single steps."""
ACTION_KINDS = 16
"""Continuous actions are grouped into this many kinds."""


# -------------------------------------------------------------------- states


class Located(NamedTuple):
    """The state where every row begins, the state where it ends, and all states."""

    here: Numbers
    there: Numbers
    states: Rows

    @classmethod
    def of(cls, here: Numbers, there: Numbers, states: Rows) -> Located:
        """Return the states of rows; a row without an end of its own ends where the next begins."""
        return cls(here, there if there.size else np.append(here[1:], here[-1:]), states)


def merged(buffer: Buffer, tolerance: float) -> Located:
    """Merge observations that are equal or, with a tolerance, near the first one of a state."""
    first, second = buffer.first, buffer.second
    if tolerance > 0.0:
        return Located.of(*merge_near(first, second, tolerance))
    # in the order in which rows were seen; adding 0 makes one zero of 0 and -0
    turns = 2 if len(second) else 1
    rows = np.stack([first, second][:turns], axis=1).reshape(-1, first.shape[1]) + 0.0
    bits = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    begin, which = np.unique(bits, return_index=True, return_inverse=True)[1:]
    order = np.argsort(begin)
    state = np.empty(order.size, np.int32)
    state[order] = np.arange(order.size)
    here, there = (np.ascontiguousarray(state[which[turn::turns]]) for turn in (0, 1))
    return Located.of(here, there if turns == 2 else there[:0], rows[begin[order]])


def assigned(buffer: Buffer, landmarks: Rows) -> Located:
    """Assign every observation to its nearest landmark."""
    here, there = (nearest(rows, landmarks) for rows in (buffer.first, buffer.second))
    return Located.of(here, there, landmarks)


def nearest(rows: Rows, landmarks: Rows) -> Numbers:
    """Return the nearest landmark of every row; exact, ties to the lowest index."""
    most = min(len(landmarks), _NEIGHBOURS)
    apart, near = cKDTree(landmarks).query(landmarks, np.arange(1, most + 1))
    return nearest_landmarks(rows, landmarks, np.asarray(near), np.asarray(apart))


def as_landmarks(landmarks: int | ArrayLike, rows: Rows, gap: float, seed: int) -> Rows:
    """Return the landmarks given, or this many farthest points of `rows`, more than `gap` apart."""
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


# -------------------------------------------------------------------- crossings, speed and jumps


class Crossings(NamedTuple):
    """Transitions from one state to another, in the order of the buffer."""

    row: IntArray
    tail: Numbers
    head: Numbers
    dwell: Numbers
    """Transitions since the stay in the tail began, the crossing included."""
    jumped: BoolArray
    """Whether it was a jump."""
    visits: IntArray
    """Number of stays in every state."""


class CrossedArcs(NamedTuple):
    """Distinct crossings as sorted rows."""

    indptr: IntArray
    indices: Numbers
    counts: IntArray
    dwell: FloatArray
    """Median."""
    jump_counts: IntArray
    """Crossings that were jumps."""


@dataclass(frozen=True, eq=False)
class Jumps(KeepsReadOnly):
    """Arcs that were crossed by jumps.

    Attributes
    ----------
    tail, head : (j,) int64 arrays
        States where the jumps began and ended.
    count : (j,) int64 array
        Number of jumps.
    launch : (j, d) float64 array
        Mean observation from which they began.
    """

    tail: NDArray[np.int64]
    head: NDArray[np.int64]
    count: NDArray[np.int64]
    launch: FloatArray


def find_crossings(
    buffer: Buffer, located: Located, steps: FloatArray, jump: float | None
) -> Crossings:
    """Find the transitions that change the state; those longer than `jump` are jumps.

    `steps` holds the length of the step of every row.
    """
    here, there, states = located
    crossed = buffer.valid & (here != there)
    when = np.flatnonzero(crossed)
    # a stay begins where an episode does, after a gap in the buffer, and after a crossing
    fresh = np.append(True, ~buffer.joined[:-1])
    begins = np.flatnonzero(fresh | np.append(False, crossed[:-1]))
    begin = begins[np.searchsorted(begins, when, side="right") - 1]
    passed = np.append(0, np.cumsum(buffer.valid))  # transitions before each row
    dwell = (passed[when + 1] - passed[begin]).astype(np.int32)
    size = len(states)
    visits = np.bincount(here[fresh], minlength=size) + np.bincount(there[when], minlength=size)
    if jump is None:
        moved = steps[steps > 0.0]
        usual = float(np.quantile(moved, USUAL, method="lower")) if moved.size else np.inf
        jump = JUMP * usual
    return Crossings(when, here[when], there[when], dwell, steps[when] > jump, visits)


def arcs_of(moves: Crossings) -> CrossedArcs:
    """Group the crossings by arc."""
    size = moves.visits.size
    key = moves.tail.astype(np.int64) * size + moves.head
    key, arc, counts = np.unique(key, return_inverse=True, return_counts=True)
    # sorted by arc, then by dwell: the median is in the middle of an arc's crossings
    longest = int(moves.dwell.max(initial=0)) + 1
    dwell = np.sort(arc * longest + moves.dwell) % longest
    middle = np.cumsum(counts) - counts + counts // 2
    median = (dwell[middle - 1 + counts % 2] + dwell[middle]) / 2
    tails, heads = np.divmod(key, size)
    indptr = np.searchsorted(tails, np.arange(size + 1))
    jump_counts = np.bincount(arc[moves.jumped], minlength=key.size)
    return CrossedArcs(indptr, heads.astype(np.int32), counts, median, jump_counts)


def speed_of(buffer: Buffer, steps: FloatArray) -> float:
    """Return the distance per step of the behaviour, given step lengths; 0 if it never moves."""
    single = float(np.quantile(steps[buffer.valid], _BRISK))
    # rows that follow each other without a break
    rows, size = buffer.first, max(len(buffer.first) - _LAG, 0)
    breaks = np.append(0, np.cumsum(~buffer.joined))
    together = breaks[_LAG : _LAG + size] == breaks[:size]
    many = step_lengths(rows[:size], rows[_LAG:], together)[together]
    if not many.size:  # short episodes, or rows in no order
        return single
    return max(float(np.quantile(many, _BRISK)) / _LAG, _ZIGZAG * single)


def jumps_of(moves: Crossings, buffer: Buffer) -> Jumps:
    """Collect the jumps by arc."""
    jumped = np.flatnonzero(moves.jumped)
    tail, head = moves.tail[jumped].astype(np.int64), moves.head[jumped].astype(np.int64)
    size = moves.visits.size
    key, which, count = np.unique(tail * size + head, return_inverse=True, return_counts=True)
    launch = np.zeros((key.size, buffer.first.shape[1]))
    np.add.at(launch, which, buffer.first[moves.row[jumped]].astype(np.float64))
    launch /= count[:, None]
    return Jumps(*map(frozen, (key // size, key % size, count, launch)))


# -------------------------------------------------------------------- actions


@dataclass(frozen=True, eq=False)
class ActionCounts(KeepsReadOnly):
    """Outcomes of every kind of action at every state.

    Attributes
    ----------
    state, action, next_state : (k,) int64 arrays
        Where the action was taken, its kind, and the state that followed.
    count : (k,) int64 array
        Number of times.
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


def count_actions(
    actions: ArrayLike,
    buffer: Buffer,
    located: Located,
    moves: Crossings,
    costs: FloatArray | None,
    exact: bool,
) -> ActionCounts:
    """Count what followed every kind of action.

    Between exact states every transition counts, even those that stay. Between merged states only
    crossings count, each with the last of its whole-numbered actions or the mean of its continuous
    ones. `costs`, one per transition, replace the time.
    """
    given = as_real_array(actions, "actions")
    size = buffer.valid.size
    if given.ndim == 0 or len(given) != size:
        raise InputError(f"actions are of shape {given.shape}, but there are {size} observations")
    if given.ndim == 2 and given.shape[1] == 1 and given.dtype.kind in "iu":
        given = given[:, 0]
    if given.ndim > 2:
        raise InputError(f"actions must be numbers or rows of numbers, got shape {given.shape}")
    row = np.flatnonzero(buffer.valid) if exact else moves.row
    if given.ndim == 1 and given.dtype.kind in "biu":
        kinds, kind = np.unique(given[row].astype(np.int64), return_inverse=True)
    else:  # continuous actions: the mean over a stay, grouped around farthest points
        given = given.reshape(size, -1)
        refuse(~np.isfinite(given), given, "actions", "is not a finite number")
        dwell = np.ones(row.size, np.int32) if exact else moves.dwell
        means = mean_actions(np.ascontiguousarray(given, dtype=np.float32), row, dwell)
        kinds = as_landmarks(ACTION_KINDS, means, gap=0.0, seed=0)
        kind = nearest(means, kinds).astype(np.int64)
    cost = np.ones(row.size) if exact else moves.dwell.astype(np.float64)
    if costs is not None:
        cost = costs[np.searchsorted(np.flatnonzero(buffer.valid), row)]
    n = len(located.states)
    key = (located.here[row].astype(np.int64) * len(kinds) + kind) * n + located.there[row]
    key, which, count = np.unique(key, return_inverse=True, return_counts=True)
    mean = np.bincount(which, cost, key.size) / count
    state, action = np.divmod(key // n, len(kinds))
    return ActionCounts(*map(frozen, (state, action, key % n, count, mean, kinds)))
