"""What each action does at each state, read off the nearest rows of the buffer.

**States** are rows of the buffer, drawn at random. **Actions** are whole numbers as they are, or
k-means clusters of vectors. Without actions, or if these say nothing about where steps lead, the
direction of a step stands for its action. A jump has the direction of the step before it, since
nobody chooses where a jump leads.

**Moves.** A move from a row follows the episode while the action is held, for at most `hold` steps:
enough for a move to be longer than the spacing of states. Absorbing ends are states without moves.

**Outcomes.** For state s, action a and either half of the episodes: the nearest rows r with that
action, none behind a wall. Where the action was hardly ever taken, they are borrowed from up to
`_BORROWED` steps away; the plan counts that as a detour of this length. If the move from r led to
f, the same move from s leads to

    f + c · (s - r),   0 <= c <= 1 for each feature,

with c fitted on held-out rows: near 1 where dynamics are smooth and rows far apart (displacements
carry over), near 0 where rows are dense and noisy (places do). The outcome is one of the states
nearest to that point that are not behind a wall, drawn with weights 1 / distance: interpolation on
average.
"""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2
from scipy.spatial import cKDTree

from ..checks import refuse
from ..errors import InputError
from ..numerics.workers import num_processors
from ..typing import BoolArray, FloatArray, IntArray
from .counts import ACTION_KINDS, JUMP, USUAL, nearest
from .dataset import Buffer
from .kernels.outcomes import BEHIND, NO_SAMPLE, Sorted, find_nearest, find_planes, parted

MOST_STATES, _MOST_ENDS = 10_000, 2000
"""Largest number of states, and of absorbing ends among them."""
_CUBE, _LEAST_CUBE, _FEW = 0.35, 0.1, 3000
"""First and least side of the cubes that hold one state, in steps. Cubes are made smaller while
there are fewer states than the last number."""
_SAMPLES = 6
"""Rows of each half that an outcome is read from."""
_NEAREST_ROWS = 24
"""Nearest rows that these are chosen from."""
_FAR_AWAY, _CLOSE, _ENOUGH = 3.0, 0.5, 3
"""Rows beyond the first distance are far. Of those beyond the second, three are used."""
_BORROWED, LARGE_BUFFER = 9.0, 10_000
"""Where fewer than three rows are near, moves are borrowed from rows up to here. It is less than
`DISCRETE_STEP`, the length of a change of a discrete coordinate. Nothing is borrowed if kinds are
where steps led: then a direction that nobody took may be a wall. Nor from fewer rows than the
second number, where walls go unnoticed."""
_EXITS = 6, 12, 25, 50, 100
"""Candidates for the number of nearest jumps, of either half, that predict where a jump leads."""
_POOLS, _NEARLY, _TESTED = (3, 6, 12, 24), 1.1, 10_000
"""Candidates for the number of nearest rows whose share of fatal moves (jumps and absorbing ends)
gives the odds; how much larger than the least error that of the chosen number may be; and the
number of held-out rows that errors are measured on."""
_NOWHERE = 1e9
"""Feature of chance nodes, which are not places."""
_PRIOR, _WEAK = 1.0, 0.25
"""Weight, in samples, of the mean over all actions in the score of an action. Where kinds are
directions of steps it is the smaller one, except next to jumps and absorbing ends: the samples of a
kind did lead that way. Otherwise each step through a corridor with few rows would cost a little,
and a gamble on a jump would look better. Without any, agents circle where rows are few."""
_SHORT = 0.75
"""Moves shorter than this share of `hold` steps would bring an agent to rest."""
_AVERAGED = 3
"""States around an observation whose scores are averaged."""
_HELD = 6
"""Moves are at most this many steps long."""
_WALL_ROWS, _LEAST_CROSSING = 400, 8
"""Rows around a state that decide on walls, and the least number on either side that might have
crossed."""
_DIRECTIONS, WALL_RADIUS, _TRAIL, ENOUGH_ROWS = 24, 2.0, 3, 100
"""Number of normals of planes; how far away rows may be, in steps; number of steps of a state's own
episode, before and after, that no wall parts from it; and number of rows around a state from which
walls show well."""
_LARGE = 5000
"""Number of points from which searches for their neighbours use all processors; walls are searched
for in parts of as many states."""


@dataclass(frozen=True, eq=False)
class Steps:
    """A buffer as rows of observations; a step leads to the next row.

    Attributes
    ----------
    rows : (n, d) float array
        Observations. An absorbing end that nobody saw is where the step before it, repeated, leads.
    features : (n, e) float array
        Their features.
    onward, absorbing : (n,) bool arrays
        Rows that continue in the next one; rows that are absorbing ends.
    kind : (n,) int array
        Kind of the action taken there.
    vectors : (n, k) float array
        The action itself if it is a vector, or where the step led if there is none; empty if
        actions are whole numbers, which are held during a move.
    episode, half : (n,) int arrays
        Number of the episode, and the half of the episodes that it belongs to, 0 or 1.
    acted : bool
        Whether kinds are those of actions, not of where steps led.
    """

    rows: FloatArray
    features: FloatArray
    onward: BoolArray
    absorbing: BoolArray
    kind: IntArray
    vectors: FloatArray
    episode: IntArray
    half: IntArray
    acted: bool = True

    def moves(self, hold: int, seed: int) -> Moves:
        """Return the moves from all rows, of at most `hold` steps.

        A whole-numbered action is held: the move is over when it changes. The kind of a move with
        vectors is that of their mean.
        """
        at, held = np.arange(len(self.rows)), not self.vectors.size
        total = np.zeros_like(self.vectors)
        for _ in range(hold):
            going = self.onward[at]
            if held:
                going &= self.kind[at] == self.kind
            else:
                total += np.where(going[:, None], self.vectors[at], 0.0)
            at = at + going
        took = at - np.arange(at.size)
        if held or hold == 1:
            return Moves(at, took, self.kind, None)
        moving = np.flatnonzero(took)
        kind = np.zeros(at.size, np.int64)
        kind[moving], values = kinds_of(total[moving] / took[moving, None], seed)
        return Moves(at, took, kind, values)


class Moves(NamedTuple):
    """Moves from all rows: where they end, how long they take, and of which kind they are."""

    end: IntArray
    took: IntArray
    kind: IntArray
    values: NDArray[Any] | None
    """What each kind is, if that differs from single steps."""


def read_steps(buffer: Buffer) -> tuple[FloatArray, BoolArray, BoolArray, IntArray]:
    """Return the rows of a buffer, which continue, which are absorbing, and whose actions they had.

    Rows that end a run of transitions, or that nobody saw, are added; their action is -1.
    """
    first, size = buffer.first.astype(np.float64), len(buffer.first)
    if len(buffer.second):
        added = ~buffer.joined
        ends = buffer.second[added].astype(np.float64)
        absorbing = buffer.died[added]
    else:  # the step before, once more
        added = buffer.died & ~buffer.valid
        last = np.flatnonzero(added)
        before = np.maximum(last - 1, 0)
        same = buffer.joined[before] & (before < last)
        ends = first[last] + np.where(same[:, None], first[last] - first[before], 0.0)
        absorbing = np.ones(last.size, bool)
    place = np.arange(size) + np.append(0, np.cumsum(added)[:-1])
    total = size + int(added.sum())
    rows = np.empty((total, first.shape[1]))
    rows[place], rows[place[added] + 1] = first, ends
    onward, over, action = np.zeros(total, bool), np.zeros(total, bool), np.full(total, -1)
    onward[place] = buffer.joined | added
    over[place[added] + 1] = absorbing
    over[place[buffer.died & ~added] + 1] = True
    action[place] = np.arange(size)
    return rows, onward, over, action


@dataclass(frozen=True, eq=False)
class BufferModel:
    """States, and what every action does there.

    Attributes
    ----------
    rows : (m, d) float array
        Observations that are the states; those of absorbing ends come last.
    features : (m, e) float array
        Their features.
    num_living, num_places : int
        Number of states that are not absorbing ends, and of all places. Chance nodes follow.
    to : (m, actions, samples) int32 array
        Outcomes, those of the first half of the episodes first; see `kernels.outcomes`.
    took, stitch : (m, actions, samples) float32 arrays
        Steps that a sample took, and how far it was from the state and from its outcome.
    directions, planes : arrays
        Normals of walls, and their distances from the states, ahead and behind.
    near, share : (m, k) arrays
        States around each state, itself first, and their weights.
    hold : int
        Largest number of steps of a move.
    carry : (e,) float array
        Share of a row's offset that its outcome is corrected by.
    drift : (m, actions, d) float32 array
        Change of the observation in the most typical sample of an action.
    stride : (m, actions) float32 array
        Length of this change, in steps.
    prior : (m,) float array
        Weight, in samples, of the mean over all actions in the score of an action.
    least : float
        Length in steps of the shortest move that does not bring an agent to rest; 0 if actions say
        what an agent does.
    """

    rows: FloatArray
    features: FloatArray
    num_living: int
    num_places: int
    to: NDArray[np.int32]
    took: NDArray[np.float32]
    stitch: NDArray[np.float32]
    directions: FloatArray
    planes: NDArray[np.float32]
    near: IntArray
    share: FloatArray
    hold: int
    carry: FloatArray
    drift: NDArray[np.float32]
    stride: NDArray[np.float32]
    prior: FloatArray
    least: float

    def validate(self, width: int) -> None:
        """Raise `ValueError` if arrays do not fit each other, or features are not this wide."""
        m = len(self.features)
        shape = self.to.shape
        fits = len(shape) == 3 and shape[0] == m == len(self.rows) == len(self.near)
        fits = fits and self.took.shape == self.stitch.shape == shape
        fits = fits and self.drift.shape == (m, shape[1], self.rows.shape[1])
        fits = fits and self.stride.shape == shape[:2] and self.prior.shape == (m,)
        fits = fits and self.planes.shape == (m, len(self.directions), 2)
        fits = (
            fits and self.directions.shape[1] == width == self.carry.size == self.features.shape[1]
        )
        fits = (
            fits
            and self.share.shape == self.near.shape
            and 0 < self.num_living <= self.num_places <= m
        )
        if not fits:
            raise ValueError("the arrays of the model do not fit each other")
        if (
            self.to.min() < NO_SAMPLE
            or self.to.max() >= m
            or self.near.min() < 0
            or self.near.max() >= m
        ):
            raise ValueError(f"a state is not below {m}")

    @cached_property
    def tree(self) -> cKDTree:
        """Tree of the features of living states."""
        return cKDTree(self.features[: self.num_living])

    @cached_property
    def by_coordinate(self) -> Sorted:
        """Living states sorted by the coordinate along which they are least dense."""
        places, some = self.features[: self.num_living], min(64, self.num_living - 1)
        spread = np.sort(places, axis=0)
        axis = int(np.median(spread[some:] - spread[: len(places) - some], axis=0).argmax())
        order = np.argsort(places[:, axis], kind="stable")
        places = np.ascontiguousarray(places[order])
        return Sorted(axis, order, np.ascontiguousarray(places[:, axis]), places)

    def around(self, points: FloatArray, k: int) -> tuple[FloatArray, IntArray]:
        """Return the same as `nearest`, faster for few points; of equals the first comes first."""
        walls = self.features, self.directions, self.planes
        return find_nearest(points, k, self.by_coordinate, *walls)

    def nearest(self, points: FloatArray, k: int) -> tuple[FloatArray, IntArray]:
        """Return distances and states nearest to points; those behind a wall seem 1e3 farther."""
        k = min(k, self.num_living)
        away, near = query(self.tree, points, k)
        behind = parted(points, near, self.features, self.directions, self.planes)
        if not behind.any():
            return away, near
        away = np.where(behind, away + BEHIND, away)
        order = np.argsort(away, axis=1, kind="stable")
        return np.take_along_axis(away, order, 1), np.take_along_axis(near, order, 1)


def kinds_of(actions: Any, seed: int) -> tuple[IntArray, NDArray[Any]]:
    """Return the kind of every action, and what each kind is: a number or a mean vector."""
    actions = np.asarray(actions)
    if actions.dtype.kind not in "biuf":
        raise InputError(f"actions must be numbers, got {actions.dtype}")
    refuse(~np.isfinite(actions), actions, "actions", "is not a finite number")
    actions = actions[:, 0] if actions.ndim == 2 and actions.shape[1] == 1 else actions
    whole = actions.ndim == 1 and (
        actions.dtype.kind in "biu" or (actions == np.rint(actions)).all()
    )
    if whole:
        values, kind = np.unique(actions, return_inverse=True)
        if values.size <= 4 * ACTION_KINDS:  # whole numbers may have more kinds
            return kind.astype(np.int64), values
    vectors = actions.reshape(len(actions), -1).astype(np.float64)
    spread = vectors.std(axis=0)
    scale = np.where(spread > 0.0, spread, 1.0)
    count = min(3 ** vectors.shape[1], ACTION_KINDS, len(np.unique(vectors[:1000], axis=0)))
    drawn = np.random.default_rng(seed).permutation(len(vectors))[:20_000]
    with warnings.catch_warnings():  # of empty clusters, which are dropped below
        warnings.simplefilter("ignore", UserWarning)
        centres, _ = kmeans2(vectors[drawn] / scale, count, minit="++", seed=seed)
    kind = nearest(vectors / scale, centres).astype(np.int64)
    total = np.bincount(kind, minlength=count)
    kept = np.flatnonzero(total)
    means = np.stack([np.bincount(kind, column, count) for column in vectors.T], axis=1)
    values = (means[kept] / total[kept, None]).reshape(kept.size, *actions.shape[1:])
    return np.searchsorted(kept, kind), values


def where_steps_led(features: FloatArray, onward: IntArray) -> FloatArray:
    """Return the change of features in every step; for a jump, that of the step before it.

    Nobody chooses where a jump leads.
    """
    moves = np.zeros_like(features)
    moves[onward] = features[onward + 1] - features[onward]
    sizes = np.linalg.norm(moves, axis=1)
    usual = sizes[sizes > 0.0]
    limit = JUMP * float(np.quantile(usual, USUAL)) if usual.size else np.inf
    continued = np.zeros(len(features), bool)
    continued[onward + 1] = True
    before = np.arange(len(features))
    for _ in range(3):
        before -= (sizes[before] > limit) & continued[before]
    return moves[before]


def explained_locally(steps: Steps, seed: int) -> float:
    """Return the share of the variance of steps, among near rows, that kinds of actions explain."""
    onward = np.flatnonzero(steps.onward)
    rng = np.random.default_rng(seed)
    pool = rng.permutation(onward)[:60_000]
    tree = cKDTree(steps.features[pool])
    near = pool[query(tree, steps.features[pool[:500]], min(60, pool.size))[1]]
    change = steps.features[near + 1] - steps.features[near]
    size = np.linalg.norm(change, axis=2, keepdims=True)
    change *= np.minimum(1.0, 3.0 / np.maximum(size, 1e-300))  # jumps are matters of chance
    kind = steps.kind[near]
    total = within = 0.0
    freedom = 0
    for moves, which in zip(change, kind, strict=True):
        total += float(((moves - moves.mean(axis=0)) ** 2).sum()) / (len(moves) - 1)
        names, which = np.unique(which, return_inverse=True)
        counts = np.bincount(which)
        means = np.stack([np.bincount(which, c) / counts for c in moves.T], axis=1)
        left = len(moves) - names.size
        if left > 0:
            within += float(((moves - means[which]) ** 2).sum()) / left
            freedom += 1
    return 1.0 - (within / max(freedom, 1)) / max(total / len(near), 1e-300)


def make_model(steps: Steps, states: int, seed: int) -> tuple[BufferModel, Moves, float]:
    """Choose states and read off what every action does there.

    Also return the moves, and the share of the states with few rows around them.
    """
    width, features = steps.features.shape[1], steps.features
    rng = np.random.default_rng(seed)

    shuffled = rng.permutation(np.flatnonzero(~steps.absorbing))
    drawn = np.sort(_spread(features, shuffled, states, rng))
    own = np.ascontiguousarray(features[drawn])
    tree = cKDTree(own)
    apart = float(np.median(query(tree, own, min(3, len(own)))[0][:, -1]))
    living = len(drawn)
    ends = np.sort(rng.permutation(np.flatnonzero(steps.absorbing))[:_MOST_ENDS])
    drawn = np.append(drawn, ends)

    # walls: planes around each state that far fewer steps cross than might
    directions = _normals(width, rng)
    planes = np.full((len(drawn), len(directions), 2), np.inf, np.float32)
    planes[:living], rows_around = _walls(steps, drawn[:living], directions)

    # moves long enough to get from one state to another; if observations recur, a step is enough
    around, at = query(tree, features, 1)
    gap, beside = around[:, 0], at[:, 0]  # the state next to a row sees walls from its side
    recurs = 3 * living < len(features) and float(np.quantile(gap, 0.9)) == 0.0
    hold = 1 if recurs else int(np.clip(np.ceil(2.0 * apart), 1, _HELD))
    moves = steps.moves(hold, seed)
    end, took = moves.end, moves.took
    usable = np.flatnonzero(took > 0)
    carry = _carried(steps, usable, moves, rng)

    count = int(moves.kind.max()) + 1
    shape = (len(drawn), count, 2 * _SAMPLES)
    model = BufferModel(
        rows=np.ascontiguousarray(steps.rows[drawn]),
        features=np.ascontiguousarray(features[drawn]),
        num_living=living,
        num_places=len(drawn),
        to=np.full(shape, NO_SAMPLE, np.int32),
        took=np.zeros(shape, np.float32),
        stitch=np.zeros(shape, np.float32),
        directions=directions,
        planes=planes,
        near=np.arange(len(drawn))[:, None],
        share=np.ones((len(drawn), 1)),
        hold=hold,
        carry=carry,
        drift=np.zeros((len(drawn), count, steps.rows.shape[1]), np.float32),
        stride=np.zeros((len(drawn), count), np.float32),
        prior=np.zeros(0),
        least=0.0 if steps.acted else _SHORT * hold,
    )
    k = min(_AVERAGED, living)
    away, near = model.nearest(own, _AVERAGED + 2)
    near, share = near[:, :k], weights(away[:, :k])
    lone = np.arange(living, len(drawn))[:, None].repeat(k, axis=1)  # ends are their own
    near, share = np.vstack([near, lone]), np.vstack([share, np.full(lone.shape, 1.0 / k)])
    model = replace(model, near=near, share=share)

    # outcomes: where the nearest rows with the same action led
    walls = model.features, directions, planes
    if ends.size:
        absorbing = np.flatnonzero(steps.absorbing)
        beside[absorbing] = living + query(cKDTree(features[ends]), features[absorbing], 1)[1][:, 0]
    everyone = np.arange(living)[:, None]
    leap = np.linalg.norm(features[end] - features, axis=1) > 2.0 * _FAR_AWAY * hold
    leaps: list[tuple[IntArray, IntArray, IntArray]] = []
    known = [
        [usable[(moves.kind[usable] == kind) & (steps.half[usable] == half)] for half in (0, 1)]
        for kind in range(count)
    ]
    fatal = leap | steps.absorbing[end]
    pooled = _pool(steps, known, fatal, rng)
    farthest = _BORROWED if steps.acted and len(steps.rows) >= LARGE_BUFFER else _FAR_AWAY
    for kind in range(count):
        moved = np.zeros((living, 2 * _SAMPLES, width))
        source = np.full((living, 2 * _SAMPLES), -1)
        for half in (0, 1):
            some = known[kind][half]
            if some.size < _ENOUGH:
                continue
            k = min(_NEAREST_ROWS, some.size)
            away, near = query(cKDTree(features[some]), own, k)
            near = some[near]
            # a wall parts row and state if it is seen from either side
            flat = features[near].reshape(-1, width)
            behind = parted(flat, np.repeat(everyone, k, 0).reshape(-1, 1), *walls)
            behind |= parted(np.repeat(own, k, 0), beside[near].reshape(-1, 1), *walls)
            # neither jumps nor deaths are borrowed: they belong to their places
            behind = behind.reshape(away.shape) | (fatal[near] & (away > _FAR_AWAY))
            away = np.where(behind, np.inf, away)
            # of the rows close by any will do, so that neighbouring states use different ones
            first = np.where(away <= 0.5 * _CLOSE, 0.5 * _CLOSE * rng.random(away.shape), away)
            order = np.argsort(first, axis=1, kind="stable")
            away, near = np.take_along_axis(away, order, 1), np.take_along_axis(near, order, 1)
            rank = np.arange(k)
            good = (away <= farthest) & ((away <= _CLOSE) | (rank < _ENOUGH)) & (rank < _SAMPLES)
            if fatal[near].any():
                good = _at_the_odds(good, fatal[near], (away <= _FAR_AWAY) & (rank < pooled), rng)
                order = np.argsort(~good, axis=1, kind="stable")
                away, near, good = (np.take_along_axis(a, order, 1) for a in (away, near, good))
            i, j = np.nonzero(good)
            row, slot = near[i, j], half * _SAMPLES + j
            reached, gap = _snapped(model, steps, i, row, end[row], beside[end[row]], rng)
            jumps = np.flatnonzero(leap[row] & ~steps.absorbing[end[row]])
            leaps.append((i[jumps], np.full(jumps.size, kind), slot[jumps]))
            model.to[i, kind, slot] = reached
            model.took[i, kind, slot] = took[row]
            detour = np.maximum(away[i, j] - _FAR_AWAY, 0.0)
            model.stitch[i, kind, slot] = away[i, j] * (1.0 - carry.mean()) + detour + gap
            moved[i, slot] = features[end[row]] - features[row]
            source[i, slot] = row
        # the sample nearest to the mean is typical, however far a few of them went
        found = source >= 0
        mean = (moved * found[..., None]).sum(axis=1) / np.maximum(found.sum(axis=1), 1)[:, None]
        off = np.where(found, np.linalg.norm(moved - mean[:, None], axis=2), np.inf)
        typical = source[np.arange(living), off.argmin(axis=1)]
        change = steps.rows[end[typical]] - steps.rows[typical]
        model.drift[:living, kind] = np.where(typical[:, None] >= 0, change, 0.0)
        length = np.linalg.norm(features[end[typical]] - features[typical], axis=1)
        model.stride[:living, kind] = np.where(typical >= 0, length, 0.0)
    model = _with_chance(model, steps, leaps, usable[leap[usable]], end, beside)
    fatal_near = (model.to >= living).any(axis=(1, 2))
    model = replace(model, prior=np.where(steps.acted | fatal_near, _PRIOR, _WEAK))
    return model, moves, float((rows_around < ENOUGH_ROWS).mean())


def _spread(
    features: FloatArray, shuffled: IntArray, states: int, rng: np.random.Generator
) -> IntArray:
    """Return rows spread over the space: one in each cube, the cubes as small as need be.

    Where the behaviour lingers, there are more rows than states needed.
    """
    if shuffled.size <= states:
        return shuffled
    mix = rng.integers(1, 2**62, features.shape[1]) | 1
    points = features[shuffled]

    def one_each(side: float) -> IntArray | None:
        """Return the first row in each cube; None if there are too many cubes."""
        first = shuffled[:0]
        for some in (points[: 8 * states], points):  # mostly the first rows have too many already
            keys = (np.floor(some / side).astype(np.int64) * mix).sum(axis=1)
            first = np.unique(keys, return_index=True)[1]
            if first.size > states:
                return None
        return np.asarray(shuffled[np.sort(first)])

    side, found = _CUBE, one_each(_CUBE)
    if found is None:
        while found is None:
            side *= 1.1
            found = one_each(side)
        return found
    while found.size < min(_FEW, states) and side / 1.25 >= _LEAST_CUBE:
        # smaller cubes as long as there are few states
        side /= 1.25
        finer = one_each(side)
        if finer is None:
            break
        found = finer
    return found


def _normals(width: int, rng: np.random.Generator) -> FloatArray:
    """Return normals of planes: all around in the plane, axes and random ones beyond."""
    if width == 1:
        return np.ones((1, 1))
    if width == 2:
        angle = np.arange(_DIRECTIONS) * np.pi / _DIRECTIONS
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)
    drawn = rng.normal(size=(_DIRECTIONS, width))
    return np.vstack([np.eye(width), drawn / np.linalg.norm(drawn, axis=1, keepdims=True)])


def _walls(
    steps: Steps, drawn: IntArray, directions: FloatArray
) -> tuple[NDArray[np.float32], IntArray]:
    """Return the distances of walls from states, ahead and behind in every direction.

    Also return the number of rows around each state that these rest on, at most `_WALL_ROWS`.
    """
    features, own = steps.features, steps.features[drawn]
    onward = np.flatnonzero(steps.onward)
    begin = features[onward]
    change = features[onward + 1] - begin
    change[np.linalg.norm(change, axis=1) > 2.0 * _FAR_AWAY] = 0.0  # jumps cross no walls
    following = np.append(np.diff(onward) == 1, False)  # steps that continue in the next one
    meant = intended(begin, change, steps.kind[onward], following)
    # where the episode of each state was just before and after
    trail = np.zeros((len(drawn), 2 * _TRAIL, own.shape[1]))
    for offset in range(1, _TRAIL + 1):
        for slot, other in ((offset - 1, drawn - offset), (_TRAIL + offset - 1, drawn + offset)):
            other = np.clip(other, 0, len(features) - 1)
            gap = features[other] - own
            same = steps.episode[other] == steps.episode[drawn]
            same &= np.linalg.norm(gap, axis=1) <= _FAR_AWAY * offset
            trail[:, slot] = np.where(same[:, None], gap, 0.0)
    away, near = query(cKDTree(begin), own, min(_WALL_ROWS, onward.size), WALL_RADIUS)
    reach = np.minimum(away[:, -1], WALL_RADIUS)
    about = begin, change, meant, steps.acted, directions, _LEAST_CROSSING
    parts = [slice(i, i + _LARGE) for i in range(0, len(own), _LARGE)]
    with ThreadPoolExecutor(num_processors()) as pool:
        planes = pool.map(
            lambda some: find_planes(own[some], trail[some], near[some], reach[some], *about), parts
        )
        found = np.concatenate(list(planes))
    return found, np.isfinite(away).sum(axis=1)


def intended(
    features: FloatArray, change: FloatArray, kind: IntArray, following: BoolArray
) -> FloatArray:
    """Return where the action of each step leads if nothing is in the way; empty if unknown.

    For each kind of action it is an affine function of the features, fitted by least squares to the
    steps of at least half the usual length. Turning an angle that is observed as cosine and sine is
    such a function. It counts as known if it explains most of the steps' squared length, apart from
    the noise of the observations. Such noise makes the errors of consecutive steps opposite, and
    its size is estimated from that. `following` marks the steps that the next one continues.
    """
    size = np.linalg.norm(change, axis=1)
    free = np.flatnonzero(size >= 0.5 * np.quantile(size, 0.9))
    drawn = free[:: max(1, free.size // 50_000)]
    design = np.hstack([features - features.mean(axis=0), np.ones((len(features), 1))])
    usual = np.zeros_like(change)
    for each in np.unique(kind):
        some = drawn[kind[drawn] == each]
        if some.size >= 2 * design.shape[1]:
            fit = np.linalg.lstsq(design[some], change[some], rcond=None)[0]
            mine = kind == each
            usual[mine] = design[mine] @ fit
    off = change - usual
    off *= np.minimum(
        1.0, _FAR_AWAY / np.maximum(np.linalg.norm(off, axis=1, keepdims=True), 1e-300)
    )
    pairs = drawn[following[drawn]]
    opposite = -float((off[pairs] * off[pairs + 1]).sum()) / max(pairs.size, 1)
    noise = 2.0 * drawn.size * max(opposite, 0.0)
    left = float((off[drawn] ** 2).sum()) - noise
    whole = float((change[drawn] ** 2).sum()) - noise
    return usual if left < 0.5 * whole else usual[:0]


def _carried(steps: Steps, usable: IntArray, moves: Moves, rng: np.random.Generator) -> FloatArray:
    """Return for each feature how much of the offset of a near row carries over to its outcome."""
    features, width, end = steps.features, steps.features.shape[1], moves.end
    alive = usable[~steps.absorbing[end[usable]]]
    over, under = np.zeros(width), np.full(width, 1e-12)
    for kind in range(int(moves.kind.max()) + 1):
        some = rng.permutation(alive[moves.kind[alive] == kind])[:20_000]
        train, test = some[steps.half[some] == 0], some[steps.half[some] == 1][:1000]
        if train.size < 2 * _ENOUGH or not test.size:
            continue
        away, near = query(cKDTree(features[train]), features[test], 2)
        good = away[:, 1] <= _FAR_AWAY
        offset = (features[test] - features[train[near[:, 1]]])[good]
        gap = (features[end[test]] - features[end[train[near[:, 1]]]])[good]
        keep = np.linalg.norm(gap, axis=1) < 3.0 * _FAR_AWAY
        over += (offset * gap)[keep].sum(axis=0)
        under += (offset**2)[keep].sum(axis=0)
    return np.asarray(np.clip(over / under, 0.0, 1.0))


def _pool(
    steps: Steps,
    known: list[list[IntArray]],
    fatal: BoolArray,
    rng: np.random.Generator,
) -> int:
    """Return how many of the nearest rows best tell whether a move of the other half is fatal.

    A plan picks actions whose odds look low by luck. Hence this is the largest number whose squared
    error is nearly the least.
    """
    error, tested = np.zeros(len(_POOLS)), max(_TESTED // len(known), 50)
    if not fatal.any():
        return _POOLS[0]
    for train, test in known:
        if train.size < _NEAREST_ROWS or not test.size:
            continue
        test = test[rng.permutation(test.size)[:tested]]
        tree = cKDTree(steps.features[train])
        bad = fatal[train[query(tree, steps.features[test], _NEAREST_ROWS)[1]]]
        for i, most in enumerate(_POOLS):
            error[i] += float(((bad[:, :most].mean(axis=1) - fatal[test]) ** 2).sum())
    return max(
        most for most, off in zip(_POOLS, error, strict=True) if off <= _NEARLY * error.min()
    )


def _at_the_odds(
    good: BoolArray, fatal: BoolArray, pool: BoolArray, rng: np.random.Generator
) -> BoolArray:
    """Return as many samples as are good, with the pool's share of fatal ones among them.

    The share is rounded at random. Rows are sorted by distance, and the nearest of either kind are
    taken.
    """
    count = good.sum(axis=1)
    share = (fatal & pool).sum(axis=1) / np.maximum(pool.sum(axis=1), 1)
    wanted = np.floor(share * count + rng.random(len(good))).astype(int)
    wanted = np.where(pool.any(axis=1), wanted, (good & fatal).sum(axis=1))
    usable = pool | good
    worse, better = np.cumsum(usable & fatal, axis=1), np.cumsum(usable & ~fatal, axis=1)
    left = (count - np.minimum(wanted, worse[:, -1]))[:, None]
    return np.asarray(usable & np.where(fatal, worse <= wanted[:, None], better <= left))


def _snapped(
    model: BufferModel,
    steps: Steps,
    state: IntArray,
    row: IntArray,
    end: IntArray,
    beside: IntArray,
    rng: np.random.Generator,
) -> tuple[IntArray, FloatArray]:
    """Return the state that the move of each row ends in if begun at a state, and how far off.

    `end` are the rows that moves end in, and `beside` the states next to these.
    """
    walls = model.features, model.directions, model.planes
    own, last = model.features[state], steps.features[end]
    point = last + model.carry * (own - steps.features[row])
    # jumps lead to places; and so does a move that would be carried through a wall
    exact = np.linalg.norm(last - steps.features[row], axis=1) > 2.0 * _FAR_AWAY * model.hold
    exact |= (
        parted(point, state[:, None], *walls)[:, 0] & ~parted(last, state[:, None], *walls)[:, 0]
    )
    point = np.where(exact[:, None], last, point)
    away, near = model.nearest(point, _AVERAGED + 2)
    places, k = model.features[near].reshape(-1, own.shape[1]), near.shape[1]
    behind = parted(places, np.repeat(beside, k)[:, None], *walls).reshape(away.shape)
    behind &= (beside < model.num_living)[:, None]
    # nor may a wall part it from where the move begins, unless the move is a jump
    across = parted(places, np.repeat(state, k)[:, None], *walls).reshape(away.shape)
    across |= parted(np.repeat(own, k, 0), near.reshape(-1, 1), *walls).reshape(away.shape)
    away = away + BEHIND * (behind | (across & ~exact[:, None]))
    order = np.argsort(away, axis=1, kind="stable")[:, :_AVERAGED]
    away, near = np.take_along_axis(away, order, 1), np.take_along_axis(near, order, 1)
    share = np.cumsum(weights(away), axis=1)
    pick = np.minimum((rng.random((len(point), 1)) > share).sum(axis=1), near.shape[1] - 1)
    which = np.arange(len(point))
    dead = beside >= model.num_living
    reached = np.where(dead, beside, near[which, pick])
    return reached, np.where(dead, 0.0, away[which, pick] % BEHIND)


def _with_chance(
    model: BufferModel,
    steps: Steps,
    leaps: list[tuple[IntArray, IntArray, IntArray]],
    pool: IntArray,
    end: IntArray,
    beside: IntArray,
) -> BufferModel:
    """Route jumps to chance nodes, and these to where jumps around there ended.

    Nobody chooses where a jump leads, and a few dozen jumps say more about the odds than the three
    of one action. The samples of a node are every n-th of the jumps around it, whatever the action,
    sorted by where they ended: so the shares of the exits are kept.
    """
    state, kind, slot = (
        np.concatenate(part) if part else np.zeros(0, int)
        for part in (zip(*leaps, strict=True) if leaps else ((), (), ()))
    )
    alone, node = np.unique(state, return_inverse=True)
    if not alone.size:
        return model
    first, count = len(model.rows), alone.size
    to = np.full((count, *model.to.shape[1:]), NO_SAMPLE, np.int32)
    # exits: cubes that jumps end in
    landed = np.floor(steps.features[end[pool]] / (2.0 * _FAR_AWAY))
    exit_ = np.unique(landed, axis=0, return_inverse=True)[1].ravel()
    order = np.argsort(exit_, kind="stable")
    pool, exit_ = pool[order], exit_[order]
    halves = [np.flatnonzero(steps.half[pool] == half) for half in (0, 1)]
    most = _exit_pool(steps.features[pool], exit_, halves)
    for half, some in enumerate(halves):
        if not some.size:
            continue
        tree = cKDTree(steps.features[pool[some]])
        away, near = query(tree, model.features[alone], min(most, some.size))
        close = away <= np.maximum(_BORROWED, away[:, :1])
        near = np.sort(np.where(close, near, some.size), axis=1)  # by exit, then those too far away
        share = (np.arange(_SAMPLES) + 0.5) / _SAMPLES
        place = (share * close.sum(axis=1, keepdims=True)).astype(int)
        ends = end[pool[some[np.take_along_axis(near, place, 1)]]]
        to[:, 0, half * _SAMPLES : (half + 1) * _SAMPLES] = beside[ends]
    model.to[state, kind, slot] = first + node
    model.stitch[state, kind, slot] = 0.0
    own = np.repeat(np.arange(first, first + count)[:, None], model.near.shape[1], axis=1)

    def longer(array: NDArray[Any], value: float) -> NDArray[Any]:
        more = np.full((count, *array.shape[1:]), value, array.dtype)
        return np.concatenate([array, more])

    return replace(
        model,
        rows=np.concatenate([model.rows, model.rows[alone]]),
        features=longer(model.features, _NOWHERE),
        num_places=first,
        to=np.concatenate([model.to, to]),
        took=longer(model.took, 0.0),
        stitch=longer(model.stitch, 0.0),
        planes=longer(model.planes, np.inf),
        near=np.concatenate([model.near, own]),
        share=longer(model.share, 1.0 / own.shape[1]),
        drift=longer(model.drift, 0.0),
        stride=longer(model.stride, 0.0),
    )


def _exit_pool(launch: FloatArray, exit_: IntArray, halves: list[IntArray]) -> int:
    """Return how many nearest jumps of one half best predict where jumps of the other half end.

    A plan picks the place whose odds look best by luck. Large pools leave less to luck, so this is
    the largest number whose squared error is nearly the least.
    """
    error = np.zeros(len(_EXITS))
    for train, test in (halves, halves[::-1]):
        if not train.size or not test.size:
            continue
        most = min(_EXITS[-1], train.size)
        near = query(cKDTree(launch[train]), launch[test], most)[1]
        same = exit_[train[near]] == exit_[test][:, None]
        for i, count in enumerate(_EXITS):
            # squared error of the shares of exits, up to a constant: Σ share² - 2 · share of this
            some = np.sort(exit_[train[near[:, :count]]], axis=1)
            begins = np.append(np.ones((len(some), 1), bool), np.diff(some, axis=1) != 0, axis=1)
            runs = np.diff(np.append(np.flatnonzero(begins), some.size))
            squares = np.bincount(np.nonzero(begins)[0], runs.astype(float) ** 2, len(some))
            shares = same[:, :count].mean(axis=1)
            error[i] += float((squares / some.shape[1] ** 2 - 2.0 * shares + 1.0).sum())
    good = np.flatnonzero(error <= 1.02 * error.min())
    return _EXITS[good[-1]]


def weights(away: FloatArray) -> FloatArray:
    """Return weights for distances: those of states behind a wall are next to nothing."""
    weight = 1.0 / (away + 0.1)
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def query(
    tree: cKDTree, points: FloatArray, k: int, within: float = np.inf
) -> tuple[FloatArray, IntArray]:
    """Return distances and indices of the k nearest, both of shape (points, k)."""
    threads = num_processors() if len(points) >= _LARGE else 1
    away, near = tree.query(
        points, np.arange(1, k + 1), distance_upper_bound=within, workers=threads
    )
    return np.asarray(away), np.asarray(near)
