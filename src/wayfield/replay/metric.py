"""Distances in steps, found in the buffer: which coordinates matter, and on what scale.

A metric maps observations to features; the typical step of the buffer is 1 long there. There are
three candidates. With D the covariance of changes per step and C that of rows,

- ``slow``: directions v of D v = m C v that change little per step for their spread. Units,
  rotations, mixtures and copies of columns do not matter. A direction's memory is 1 - m / 2;
  directions without memory are noise and are dropped;
- ``coords``: each coordinate by its change per step;
- ``steered``: slow directions with changes that place and action foretell.

**The held-out question.** Which recorded action led from this row to that one, k steps later?
Rows of other episodes, near at both ends, vote. The question does not depend on the metric, so that
none looks good by seeing little. The first candidate within `MARGIN` of the best is taken. It does
not see a switch; slow directions do, and are preferred for that reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh

from ..errors import InputError
from ..typing import BoolArray, FloatArray, IntArray

Embedding: TypeAlias = Callable[[FloatArray], ArrayLike]
Distance: TypeAlias = Callable[[FloatArray, FloatArray], ArrayLike]

MEMORY = 0.3
FLOOR = 0.01
MOST = 20
STEERED = 0.15
MARGIN = 0.02
SWITCH = 10.0
_ASKED, _KNOWN, _VOTES, _LATER = 1500, 15_000, 8, (1, 3)
"""Rows asked about, rows that vote, votes for each, and the steps between the two ends."""


@dataclass(frozen=True, eq=False)
class Metric:
    """Features of observations: (rows, those that wrap as circles, - middle) @ weights."""

    wrapped: BoolArray
    low: FloatArray
    span: FloatArray
    middle: FloatArray
    weights: FloatArray
    kind: str
    scores: dict[str, float] = field(default_factory=dict)
    embed: Embedding | None = None

    @property
    def used(self) -> BoolArray:
        """(d,) whether each coordinate matters."""
        if self.embed is not None:
            return np.ones(self.wrapped.size, bool)
        used: BoolArray = (self.weights != 0.0).any(axis=1)
        sines = np.flatnonzero(self.wrapped)
        used[sines] |= used[self.wrapped.size :]
        return used[: self.wrapped.size]

    def __call__(self, rows: NDArray[Any]) -> FloatArray:
        """Return the (n, e) features of observations."""
        rows = np.asarray(rows, float)
        if self.embed is not None:
            rows = embedded(self.embed, rows)
        return (unrolled(rows, self.wrapped, self.low, self.span) - self.middle) @ self.weights


def embedded(embed: Embedding, rows: FloatArray) -> FloatArray:
    """Return the features that a user's function gives to rows."""
    found = np.asarray(embed(rows), float)
    if found.ndim != 2 or len(found) != len(rows) or not np.isfinite(found).all():
        raise InputError(
            f"embed must return finite features, one row each for {len(rows)} rows, got shape "
            f"{found.shape}"
        )
    return found


def unrolled(rows: FloatArray, wrapped: BoolArray, low: FloatArray, span: FloatArray) -> FloatArray:
    """Return rows with every coordinate that wraps as the cosine and sine of an angle."""
    if not wrapped.any():
        return rows
    turn, radius = 2 * np.pi * (rows - low) / span, span / (2 * np.pi)
    sines = (np.sin(turn) * radius)[:, wrapped]
    return np.hstack([np.where(wrapped, np.cos(turn) * radius, rows), sines])


def given_metric(embed: Embedding, x: FloatArray, y: FloatArray) -> Metric:
    """Return the metric of a user's features, scaled so that the typical step is 1 long."""
    first, second = embedded(embed, x), embedded(embed, y)
    size = np.linalg.norm(second - first, axis=1)
    if not (size > 0.0).any():
        raise InputError("embed gives the same features to all rows")
    width, d = first.shape[1], x.shape[1]
    scale = np.eye(width) / np.median(size[size > 0.0])
    none = np.zeros(d, bool)
    return Metric(none, np.zeros(d), np.ones(d), first.mean(axis=0), scale, "given", {}, embed)


def find_metric(
    x: FloatArray, y: FloatArray, action: FloatArray | None, episode: IntArray
) -> Metric:
    """Choose a metric by the held-out question; `action` are action vectors, or None."""
    low, span = x.min(axis=0), np.ptp(x, axis=0)
    span[span == 0.0] = 1.0
    # a coordinate wraps if it leaps over most of its span, never over half of it
    share = np.abs(y - x) / span
    leaps, halves = (share > 0.7).sum(axis=0), ((share > 0.3) & (share <= 0.7)).sum(axis=0)
    inner = ((x > low + 0.2 * span) & (x < low + 0.8 * span)).mean(axis=0)
    wrapped: BoolArray = (leaps >= 5) & (inner > 0.2) & (halves < 0.2 * leaps)
    wrapped &= np.median(share, axis=0) < 0.1
    rows = unrolled(x, wrapped, low, span)
    change = unrolled(y, wrapped, low, span) - rows
    middle, spread = rows.mean(axis=0), rows.std(axis=0)
    alive = spread > 1e-9 * np.maximum(np.abs(middle), 1e-300)
    alive &= (change != 0.0).any(axis=0)
    if not alive.any():
        raise InputError("observations have no coordinate that changes from step to step")
    switches = np.array([np.unique(column[:100_000]).size <= 20 for column in rows.T])
    switches &= ((change != 0.0).mean(axis=0) <= 0.1) & alive
    centred = rows - middle

    slow = _slow(centred, change, spread, alive, switches)
    found = {"slow": slow, "coords": _coordinates(centred, change, spread, alive)}
    if action is not None:
        found["steered"] = _steered(slow, centred, change, action, episode, switches & alive)
    scores: dict[str, float] = {}
    for name, weights in found.items():
        size = np.linalg.norm(change @ weights, axis=1)
        size = size[size > 0.0]
        if size.size:
            weights /= np.median(size[size >= 0.2 * np.quantile(size, 0.75)])
        for c in np.flatnonzero(switches):
            used = np.flatnonzero(weights[c])
            gap = np.diff(np.unique(rows[:, c])).min()
            weights[c, used] = np.maximum(weights[c, used], SWITCH / gap)
        if action is not None:
            scores[name] = _known_actions(centred @ weights, change, action, episode)
    best = max(scores.values(), default=0.0)
    kind = next((name for name in found if scores.get(name, -1.0) >= best - MARGIN), "slow")
    return Metric(wrapped, low, span, middle, found[kind], kind, scores)


def _clipped(change: FloatArray) -> FloatArray:
    """Return changes without the length of jumps."""
    sizes = np.abs(change)
    large = [np.quantile(c[c > 0.0], 0.75) if (c > 0.0).any() else 0.0 for c in sizes.T]
    return np.clip(change, -3.0 * np.array(large), 3.0 * np.array(large))


def _coordinates(
    rows: FloatArray, change: FloatArray, spread: FloatArray, alive: BoolArray
) -> FloatArray:
    """Return weights of coordinates; of their principal directions if they are many."""
    pace = np.maximum(np.sqrt((_clipped(change) ** 2).mean(axis=0)), FLOOR * spread)
    memory = 1.0 - (change**2).mean(axis=0) / np.maximum(2 * spread**2, 1e-300)
    keep = alive & (memory > MEMORY)
    if not keep.any():
        keep = alive
    weights = np.diag(1.0 / np.where(keep, pace, 1.0))[:, keep]
    if weights.shape[1] > MOST:
        weights = weights @ np.linalg.eigh(np.cov((rows @ weights).T))[1][:, ::-1][:, :MOST]
    return weights


def _slow(
    rows: FloatArray,
    change: FloatArray,
    spread: FloatArray,
    alive: BoolArray,
    switches: BoolArray,
) -> FloatArray:
    """Return weights of slow directions, and of switches as they are, which come last."""
    mix = np.flatnonzero(alive & ~switches)
    own = np.zeros((spread.size, 0))
    if switches.any():
        own = _coordinates(rows, change, spread, alive & switches)
    if not mix.size:
        return own
    white, sizes = rows[:, mix] / spread[mix], _clipped(change[:, mix]) / spread[mix]
    variance, axes = np.linalg.eigh(white.T @ white / len(white))
    real = variance > 1e-6 * variance[-1]
    axes = axes[:, real] / np.sqrt(variance[real])
    m, directions = np.linalg.eigh(axes.T @ (sizes.T @ sizes / len(sizes)) @ axes)
    keep = 1.0 - m / 2 > MEMORY
    keep[MOST:] = False
    if not keep.any():
        keep[0] = True
    weights = np.zeros((spread.size, int(keep.sum())))
    weights[mix] = (axes @ directions[:, keep]) / np.sqrt(np.maximum(m[keep], FLOOR**2))
    weights[mix] /= spread[mix][:, None]
    return np.hstack([weights, own])


def _steered(
    slow: FloatArray,
    rows: FloatArray,
    change: FloatArray,
    action: FloatArray,
    episode: IntArray,
    switches: BoolArray,
) -> FloatArray:
    """Return slow directions with changes that neighbours with a like action foretell.

    Directions that hardly ever change are kept: no action moves a switch from most places.
    """
    weights, free = slow, slow.shape[1] - int(switches.sum())
    for _ in range(2):
        rng = np.random.default_rng(0)
        some = rng.permutation(len(rows))[: _ASKED + _KNOWN]
        asked = min(_ASKED, len(some) // 3)
        if asked < 10 or free < 2:
            return weights
        moved = _clipped(change[some] @ weights[:, :free])
        points = np.hstack([rows[some] @ weights, action[some]])
        near = _nearest(points[:asked], points[asked:], episode[some], asked)
        expected = moved[asked:][near].mean(axis=1)
        match = expected.T @ moved[:asked] / asked
        share, turn = eigh(
            (match + match.T) / 2, moved.T @ moved / len(moved) + 1e-9 * np.eye(free)
        )
        turned = weights[:, :free] @ turn
        size = np.abs(change @ turned)
        rare = (size > 0.1 * size.max(axis=0)).mean(axis=0) < 0.1
        keep = (share > STEERED) | rare
        if not keep.any():
            keep[-1] = True
        weights, free = np.hstack([turned[:, keep], weights[:, free:]]), int(keep.sum())
    return weights


def _nearest(
    asked: FloatArray, known: FloatArray, episode: IntArray, count: int
) -> NDArray[np.int64]:
    """Return rows of `known` near those asked about, from other episodes."""
    one, other = asked.astype(np.float32), known.astype(np.float32)
    away = (other**2).sum(axis=1) - 2 * one @ other.T
    away[episode[:count, None] == episode[count:]] = np.inf
    return np.argpartition(away, _VOTES, axis=1)[:, :_VOTES]


def _known_actions(
    features: FloatArray, change: FloatArray, action: FloatArray, episode: IntArray
) -> float:
    """Return the share of the variance of actions that neighbours at both ends know."""
    known = []
    for later in _LATER:
        rng = np.random.default_rng(0)
        pairs = rng.permutation(np.flatnonzero(episode[later:] == episode[:-later]))
        pairs = pairs[: _ASKED + _KNOWN]
        asked = min(_ASKED, len(pairs) // 3)
        if asked < 10:
            return 0.0
        ends = np.hstack([features[pairs], features[pairs + later]])
        near = _nearest(ends[:asked], ends[asked:], episode[pairs], asked)
        guess, truth = action[pairs[asked:]][near].mean(axis=1), action[pairs[:asked]]
        spread = float(((action[pairs[asked:]].mean(axis=0) - truth) ** 2).sum())
        known.append(1.0 - float(((guess - truth) ** 2).sum()) / spread if spread > 0.0 else 0.0)
    return float(np.mean(known))
