"""What each action does at each state, read off the nearest rows of the buffer.

**States** are rows of the buffer, drawn at random. **Actions** are whole numbers as they are, or
k-means clusters of vectors. Without actions, or if these say nothing about where steps lead, a step
is taken for what its direction was meant to be: an ordinary step for itself, a jump for the step
before it, since nobody chooses where a jump leads.

**Moves.** From a row one follows the episode as long as the action is held, at most `hold` steps:
so many that a move is longer than states are apart. A move ends in a death where the step did.

**Outcomes.** For state s, action a and either half of the episodes: the nearest rows r with that
action, no farther than `_FAR` steps, none behind a wall. If f is where the move from r led, it led
from s to

    f + c · (s - r),   0 <= c <= 1 for each feature,

with c fitted on held-out rows: near 1 where dynamics are smooth and rows far apart (displacements
carry over), near 0 where rows are dense and noisy (places do). The outcome is one of the states
nearest to it that is not behind a wall, drawn with weights 1 / distance: interpolation on average.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2
from scipy.spatial import cKDTree

from ..kernels._types import BoolArray, FloatArray, IntArray
from ..kernels.outcomes import DEAD, NONE, find_planes, parted

STATES = 12_000
"""States at most."""
_DENSE = 0.4
"""States are close enough if the second nearest is this many steps away."""
_SAMPLES = 6
"""Rows of each half that an outcome is read from."""
_FAR, _CLOSE, _ENOUGH = 3.0, 0.5, 3
"""Rows beyond the first distance say nothing. Of those beyond the second three are used."""
_AVERAGED = 3
"""States around an observation whose scores are averaged."""
_KINDS = 16
"""Kinds of actions at most, if they are not whole numbers; whole numbers may be 64."""
_JUMP = 5.0
"""Steps longer than this many times the 90th percentile of nonzero steps are jumps."""
_HELD = 6
"""Moves are at most this many steps long."""
_AROUND, _LEAST = 400, 8
"""Rows around a state that decide on walls, and those on either side that might have crossed."""
_DIRECTIONS, _LOCAL, _TRAIL = 24, 2.0, 3
_EXPLAINED = 0.1
"""Least share of the local variance of steps that actions must explain."""


@dataclass(frozen=True, eq=False)
class Steps:
    """A buffer in features: what the model is made of.

    Attributes
    ----------
    features : (n, e) float array
        Features of the rows.
    onward, died : (n,) bool arrays
        Rows that continue in the next one; rows whose step ended in an absorbing state.
    kind : (n,) int array
        Kind of the action, -1 if the row has no step.
    episode : (n,) int array
        Number of the episode.
    half : (n,) int array
        Half of the episodes that it belongs to, 0 or 1.
    """

    features: FloatArray
    onward: BoolArray
    died: BoolArray
    kind: IntArray
    episode: IntArray
    half: IntArray

    def moves(self, hold: int, held: bool) -> tuple[IntArray, IntArray]:
        """Return where the move from each row ends, or `DEAD` or `NONE`, and how long it takes.

        If `held`, a move is over when the kind of the action changes.
        """
        n = len(self.features)
        at, took, going = np.arange(n), np.zeros(n, np.int64), np.ones(n, bool)
        for _ in range(hold):
            going &= at >= 0
            here = np.maximum(at, 0)
            going &= self.onward[here] | self.died[here]
            if held:
                going &= self.kind[here] == self.kind
            at = np.where(going, np.where(self.died[here], DEAD, here + 1), at)
            took += going
        return np.where(took > 0, at, NONE), took


@dataclass(frozen=True, eq=False)
class Model:
    """States, and what every action does there.

    Attributes
    ----------
    rows : (m,) int array
        Rows of the buffer that are the states.
    features : (m, e) float array
        Their features.
    to : (m, actions, samples) int32 array
        Outcomes, those of the first half of the episodes first; see `kernels.outcomes`.
    took, stitch : (m, actions, samples) float32 arrays
        Steps that a sample took, and how far it was from the state and from its outcome.
    directions, planes : arrays
        Normals of walls, and their distances from the states, ahead and behind.
    near, share : (m, k) arrays
        States around each state, itself first, and their weights.
    hold : int
        Most steps of a move.
    carry : (e,) float array
        Share of a row's offset that its outcome is corrected by.
    """

    rows: IntArray
    features: FloatArray
    to: NDArray[np.int32]
    took: NDArray[np.float32]
    stitch: NDArray[np.float32]
    directions: FloatArray
    planes: NDArray[np.float32]
    near: IntArray
    share: FloatArray
    hold: int
    carry: FloatArray

    def nearest(self, tree: cKDTree, points: FloatArray, k: int) -> tuple[FloatArray, IntArray]:
        """Return distances and states nearest to points; those behind a wall are 1e3 farther."""
        k = min(k, len(self.features))
        away, near = tree.query(points, np.arange(1, k + 1))
        behind = parted(points, near, self.features, self.directions, self.planes)
        away = np.where(behind, away + 1e3, away)
        order = np.argsort(away, axis=1, kind="stable")
        return np.take_along_axis(away, order, 1), np.take_along_axis(near, order, 1)


def kinds_of(actions: Any, seed: int) -> tuple[IntArray, NDArray[Any]]:
    """Return the kind of every action, and what each kind is: a number or a mean vector."""
    actions = np.asarray(actions)
    actions = actions[:, 0] if actions.ndim == 2 and actions.shape[1] == 1 else actions
    whole = actions.ndim == 1 and (actions.dtype.kind in "biu" or (actions == np.rint(actions)).all())
    if whole:
        values, kind = np.unique(actions, return_inverse=True)
        if values.size <= 4 * _KINDS:
            return kind.astype(np.int64), values
    vectors = actions.reshape(len(actions), -1).astype(np.float64)
    scale = np.maximum(vectors.std(axis=0), 1e-300)
    count = min(3 ** vectors.shape[1], _KINDS, len(np.unique(vectors[:1000], axis=0)))
    drawn = np.random.default_rng(seed).permutation(len(vectors))[:20_000]
    centres, _ = kmeans2(vectors[drawn] / scale, count, minit="++", seed=seed)
    kind = cKDTree(centres).query(vectors / scale)[1].astype(np.int64)
    total = np.bincount(kind, minlength=count)
    kept = np.flatnonzero(total)
    means = np.stack([np.bincount(kind, column, count) for column in vectors.T], axis=1)
    values = (means[kept] / total[kept, None]).reshape(kept.size, *actions.shape[1:])
    return np.searchsorted(kept, kind), values


def directions_of_steps(features: FloatArray, onward: IntArray, seed: int) -> IntArray:
    """Return kinds of steps by where they lead; a jump is of the kind of the step before it."""
    moves = np.zeros_like(features)
    moves[onward] = features[onward + 1] - features[onward]
    sizes = np.linalg.norm(moves, axis=1)
    usual = sizes[sizes > 0.0]
    limit = _JUMP * float(np.quantile(usual, 0.9)) if usual.size else np.inf
    before = np.arange(len(features))
    for _ in range(3):  # back to an ordinary step of the same episode
        jump = (sizes[before] > limit) & (before > 0)
        goes = np.zeros(len(features), bool)
        goes[onward + 1] = True
        before = np.where(jump & goes[before], before - 1, before)
    return kinds_of(moves[before], seed)[0] if usual.size else np.zeros(len(features), np.int64)


def explained_locally(steps: Steps, seed: int) -> float:
    """Return the share of the variance of steps, among near rows, that kinds of actions explain."""
    onward = np.flatnonzero(steps.onward)
    rng = np.random.default_rng(seed)
    pool = rng.permutation(onward)[:60_000]
    tree = cKDTree(steps.features[pool])
    near = pool[tree.query(steps.features[pool[:500]], min(60, pool.size))[1]]
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


def make_model(steps: Steps, states: int, held: bool, seed: int) -> Model:
    """Choose states and read off what every action does there."""
    n, width = steps.features.shape
    rng = np.random.default_rng(seed)
    features = steps.features
    shuffled = rng.permutation(n)
    for count in (3000, 6000, states):  # as many as it takes to have them close to each other
        rows = np.sort(shuffled[: min(count, states)])
        own = np.ascontiguousarray(features[rows])
        tree = cKDTree(own)
        apart = float(np.median(tree.query(own, np.arange(1, min(3, len(own)) + 1))[0][:, -1]))
        if apart <= _DENSE:
            break

    # walls: planes around each state that far fewer steps cross than might
    onward = np.flatnonzero(steps.onward)
    change = features[onward + 1] - features[onward]
    change[np.linalg.norm(change, axis=1) > 2.0 * _FAR] = 0.0  # jumps cross no walls
    meant = _meant(features[onward], change, steps.kind[onward])
    away, near = cKDTree(features[onward]).query(
        own, np.arange(1, min(_AROUND, onward.size) + 1), distance_upper_bound=_LOCAL
    )
    directions = _normals(width, rng)
    trail = np.zeros((len(rows), 2 * _TRAIL, width))
    for offset in range(1, _TRAIL + 1):
        for slot, other in ((offset - 1, rows - offset), (_TRAIL + offset - 1, rows + offset)):
            other = np.clip(other, 0, n - 1)
            same = steps.episode[other] == steps.episode[rows]
            gap = features[other] - own
            same &= np.linalg.norm(gap, axis=1) <= _FAR * offset
            trail[:, slot] = np.where(same[:, None], gap, 0.0)
    planes = find_planes(
        own, trail, near, np.minimum(away[:, -1], _LOCAL), features[onward], change, meant, directions, _LEAST
    )

    # moves long enough to get from one state to another
    hold = int(np.clip(np.ceil(2.0 * apart), 1, _HELD))
    end, took = steps.moves(hold, held)
    usable = np.flatnonzero(end != NONE)
    carry = _carried(steps, usable, end, rng)

    beside = tree.query(features)[1]  # the state next to every row: it sees walls from that side
    count = int(steps.kind.max()) + 1
    shape = (len(rows), count, 2 * _SAMPLES)
    to = np.full(shape, NONE, np.int32)
    spent, stitch = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    around = np.arange(len(rows))[:, None]  # filled in below
    model = Model(rows, own, to, spent, stitch, directions, planes, around, around, hold, carry)
    gap, around = model.nearest(tree, own, _AVERAGED + 2)
    share = weights(gap)[:, :_AVERAGED]
    model = replace(model, near=around[:, :_AVERAGED], share=share)
    everyone = np.arange(len(rows))[:, None]
    for half in (0, 1):
        for kind in range(count):
            some = usable[(steps.half[usable] == half) & (steps.kind[usable] == kind)]
            if some.size < _ENOUGH:
                continue
            k = min(_SAMPLES + 4, some.size)
            away, near = cKDTree(features[some]).query(own, np.arange(1, k + 1))
            near = some[near]
            points = features[near]
            # a wall parts row and state if it is seen from either side
            flat = points.reshape(-1, width)
            behind = parted(flat, np.repeat(everyone, k, 0).reshape(-1, 1), own, directions, planes)
            at = beside[near].reshape(-1, 1)
            behind |= parted(np.repeat(own, k, 0), at, own, directions, planes)
            away = np.where(behind.reshape(away.shape), np.inf, away)
            order = np.argsort(away, axis=1, kind="stable")[:, :_SAMPLES]
            away, near = np.take_along_axis(away, order, 1), np.take_along_axis(near, order, 1)
            good = (away <= _FAR) & ((away <= _CLOSE) | (np.arange(near.shape[1]) < _ENOUGH))
            i, j = np.nonzero(good)
            row = near[i, j]
            goal = end[row]
            alive = goal >= 0
            reached, gap = np.full(row.size, DEAD, np.int64), np.zeros(row.size)
            reached[alive], gap[alive] = _snapped(
                model, tree, i[alive], features[row[alive]], features[goal[alive]],
                beside[goal[alive]], rng,
            )
            slot = half * _SAMPLES + j
            to[i, kind, slot] = reached
            spent[i, kind, slot] = took[row]
            stitch[i, kind, slot] = away[i, j] * (1.0 - carry.mean()) + gap
    return model


def weights(away: FloatArray) -> FloatArray:
    """Return weights for distances: those of states behind a wall are next to nothing."""
    weight: FloatArray = 1.0 / (away + 0.1)
    return weight / weight.sum(axis=1, keepdims=True)


def _snapped(
    model: Model, tree: cKDTree, state: IntArray, row: FloatArray, end: FloatArray,
    beside: IntArray, rng: np.random.Generator,
) -> tuple[IntArray, FloatArray]:
    """Return the state that each move ends in, and how far from there it ended."""
    own = model.features[state]
    point = end + model.carry * (own - row)
    jump = np.linalg.norm(end - row, axis=1) > 2.0 * _FAR * model.hold
    lost = parted(point, state[:, None], model.features, model.directions, model.planes)[:, 0]
    lost &= ~parted(end, state[:, None], model.features, model.directions, model.planes)[:, 0]
    point = np.where((jump | lost)[:, None], end, point)
    away, near = model.nearest(tree, point, 5)
    # nor may a wall part them as seen from the state beside the end of the move
    places, k = model.features[near].reshape(-1, own.shape[1]), near.shape[1]
    seen = np.repeat(beside, k)[:, None]
    behind = parted(places, seen, model.features, model.directions, model.planes)
    away = away + 1e3 * behind.reshape(away.shape)
    order = np.argsort(away, axis=1, kind="stable")
    away, near = np.take_along_axis(away, order, 1), np.take_along_axis(near, order, 1)
    weight = 1.0 / (away + 0.1)
    weight[:, 3:] = 0.0
    share = np.cumsum(weight, axis=1) / weight.sum(axis=1, keepdims=True)
    pick = np.minimum((rng.random((len(point), 1)) > share).sum(axis=1), near.shape[1] - 1)
    which = np.arange(len(point))
    away = away % 1e3
    return near[which, pick], away[which, pick]


def _normals(width: int, rng: np.random.Generator) -> FloatArray:
    """Return normals of planes: all around in the plane, axes and random ones beyond."""
    if width == 1:
        return np.ones((1, 1))
    if width == 2:
        angle = np.arange(_DIRECTIONS) * np.pi / _DIRECTIONS
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)
    drawn = rng.normal(size=(_DIRECTIONS, width))
    return np.vstack([np.eye(width), drawn / np.linalg.norm(drawn, axis=1, keepdims=True)])


def _meant(features: FloatArray, change: FloatArray, kind: IntArray) -> FloatArray:
    """Return where the action of each step leads if nothing is in the way; nothing if unknown.

    It is linear in the features, plus a constant for each kind of action: a least squares fit to
    the steps of at least half the usual length. It is known if it explains most of their squares.
    """
    size = np.linalg.norm(change, axis=1)
    free = np.flatnonzero(size >= 0.5 * np.quantile(size, 0.9))
    centred = features - features.mean(axis=0)
    design = np.hstack([np.eye(int(kind.max()) + 1)[kind], centred, np.ones((len(kind), 1))])
    drawn = free[:: max(1, free.size // 50_000)]
    fit = np.linalg.lstsq(design[drawn], change[drawn], rcond=None)[0]
    usual = design @ fit
    left = float(((change - usual)[drawn] ** 2).sum())
    whole = float((change[drawn] ** 2).sum())
    return usual if left < 0.5 * whole else usual[:0]


def _carried(
    steps: Steps, usable: IntArray, end: IntArray, rng: np.random.Generator
) -> FloatArray:
    """Return for each feature how much of the offset of a near row carries over to its outcome."""
    features, width = steps.features, steps.features.shape[1]
    alive = usable[end[usable] >= 0]
    over, under = np.zeros(width), np.full(width, 1e-12)
    for kind in range(int(steps.kind.max()) + 1):
        some = rng.permutation(alive[steps.kind[alive] == kind])[:20_000]
        train, test = some[steps.half[some] == 0], some[steps.half[some] == 1][:1000]
        if train.size < 2 * _ENOUGH or not test.size:
            continue
        away, near = cKDTree(features[train]).query(features[test], 2)
        good = away[:, 1] <= _FAR
        offset = (features[test] - features[train[near[:, 1]]])[good]
        gap = (features[end[test]] - features[end[train[near[:, 1]]]])[good]
        keep = np.linalg.norm(gap, axis=1) < 3.0 * _FAR
        over += (offset * gap)[keep].sum(axis=0)
        under += (offset**2)[keep].sum(axis=0)
    return np.clip(over / under, 0.0, 1.0)
