"""A metric from time: features in which a step of the buffer has length about one.

Units of coordinates say nothing about how far apart two states are; time does. With f the features,

    distance(x, y) = |f(x) - f(y)|,    f_c(x) = x_c / (root mean square change of x_c per step),

with changes clipped at three times the 75th percentile of nonzero ones, so that jumps do not make
a coordinate short. Finally all features are divided by the median length of the steps that move.
Hence a key, which changes once in an episode, is many steps long, and a fast coordinate is short,
whatever its unit.

- **Dropped**: coordinates without memory, 1 - E (change)² / (2 variance) < `_MEMORY`. The next
  value has little to do with this one. Also those that wander by themselves: neither the
  other coordinates nor actions predict where they go, and they predict no other coordinate.
- **Wrapped**: coordinates that leap from one end of their range to the other, and hardly anywhere
  else, although the middle is not empty. They become a circle: cosine and sine.
- **Discrete**: coordinates of few values that rarely change. A change of one is made at least
  `DISCRETE_STEP` steps long, so that states that differ in it are never merged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from scipy.spatial import cKDTree

from ..errors import InputError
from ..typing import BoolArray, FloatArray, IntArray
from .kernels.merging import Rows

Embedding: TypeAlias = Callable[[Any], Any]
Distance: TypeAlias = Callable[[Any, Any], Any]

DISCRETE_STEP = 10.0
"""Least length, in steps, of a change of a discrete coordinate."""
_MEMORY = 0.3
_CLIP = 3.0
_FEWEST = 0.01
"""Least root mean square change of a coordinate, as a share of its standard deviation."""
_VALUES, _RARE = 20, 0.1
"""A discrete coordinate has at most this many values and changes in at most this share of steps."""
_LEAP, _MIDDLE = 0.7, 0.2
"""A wrapped coordinate leaps over more than this share of its range, and more than this share of
its values are away from the ends."""
_TESTED, _PREDICTORS = 3000, 8
"""Rows and neighbours that decide whether a coordinate wanders by itself."""
_LANDMARKS, _CHUNK = 32, 100_000
"""Landmarks for a user's distance, and rows passed to it at a time."""
_GAIN = 0.05
"""Least share of the variance of a change that counts as an influence."""


@dataclass(frozen=True, eq=False)
class Metric:
    """Features of observations.

    Attributes
    ----------
    low, span : (d,) float arrays
        Least value of each coordinate, and its range.
    wrapped, discrete, dropped : (d,) bool arrays
        What the coordinates are taken for.
    scale : (d + wrapped,) float array
        Factors of the coordinates, and of the sines of wrapped ones; 0 for dropped ones.
    """

    low: FloatArray
    span: FloatArray
    wrapped: BoolArray
    discrete: BoolArray
    dropped: BoolArray
    scale: FloatArray

    @cached_property
    def _circles(self) -> bool:
        """Whether any coordinate is wrapped."""
        return bool(self.wrapped.any())

    def __call__(self, rows: Rows) -> FloatArray:
        """Return the (n, e) features of (n, d) observations."""
        kept = self.scale > 0.0
        return np.ascontiguousarray((self._unrolled(rows) * self.scale)[:, kept])

    def moved(self, rows: Rows, change: Rows) -> FloatArray:
        """Return observations after a change; wrapped coordinates stay within their range."""
        moved: FloatArray = rows + change
        if not self._circles:
            return moved
        around = self.low + (moved - self.low) % self.span
        return np.where(self.wrapped, around, moved)

    def _unrolled(self, rows: Rows) -> FloatArray:
        """Return coordinates, wrapped ones as circles: cosines in place, sines at the end."""
        flat = np.asarray(rows, np.float64)
        if not self._circles:
            return flat
        turn = 2.0 * np.pi * (flat - self.low) / self.span
        size = self.span / (2.0 * np.pi)
        flat = np.where(self.wrapped, np.cos(turn) * size, flat)
        return np.hstack([flat, (np.sin(turn) * size)[:, self.wrapped]])


def time_metric(rows: Rows, onward: IntArray, kind: IntArray) -> Metric:
    """Fit the metric to a buffer.

    Parameters
    ----------
    rows : (n, d) array
        Observations.
    onward : (m,) int array
        Rows that continue in the next one.
    kind : (n,) int array
        Kind of the action taken at each row; all equal if unknown.
    """
    rows = np.asarray(rows, np.float64)
    low, span = rows.min(axis=0), np.ptp(rows, axis=0)
    span[span == 0.0] = 1.0
    change = np.abs(rows[onward + 1] - rows[onward])

    # wrapped: leaps over the range, nearly nothing between these and ordinary steps
    share = change / span
    leaps = share > _LEAP
    between = ((share > 0.3) & ~leaps).sum(axis=0)
    inner = ((rows > low + 0.2 * span) & (rows < low + 0.8 * span)).mean(axis=0)
    wrapped = (leaps.sum(axis=0) >= 5) & (between < 0.2 * leaps.sum(axis=0))
    wrapped &= (np.median(share, axis=0) < 0.1) & (inner > _MIDDLE)

    # discrete: few values, rarely changed
    values = np.array([np.unique(column[:100_000]).size for column in rows.T])
    discrete = (values <= _VALUES) & ((change > 0.0).mean(axis=0) <= _RARE)

    nothing = np.zeros(low.size, bool)
    plain = Metric(low, span, wrapped, discrete, nothing, np.ones(low.size + wrapped.sum()))
    flat = plain._unrolled(rows)
    moved = np.abs(flat[onward + 1] - flat[onward]) if wrapped.any() else change
    large = np.array([np.quantile(c[c > 0.0], 0.75) if (c > 0.0).any() else 0.0 for c in moved.T])
    pace = np.sqrt((np.minimum(moved, _CLIP * large) ** 2).mean(axis=0))
    variance = flat.var(axis=0)
    pace = np.maximum(pace, _FEWEST * np.sqrt(variance))
    memory = 1.0 - (moved**2).mean(axis=0) / np.maximum(2.0 * variance, 1e-300)
    kept = (variance > 0.0) & (memory > _MEMORY)
    if not kept.any():
        kept = variance > 0.0
    scale = np.where(kept, 1.0 / np.maximum(pace, 1e-300), 0.0)

    alone = _wanderers(flat * scale, onward, kind, kept, np.append(discrete, wrapped[wrapped]))
    scale[alone] = 0.0
    scale /= median_step(flat * scale, onward)
    for c in np.flatnonzero(discrete & (scale[: low.size] > 0.0)):
        scale[c] = max(scale[c], DISCRETE_STEP / np.diff(np.unique(rows[:, c])).min())
    return Metric(low, span, wrapped, discrete, scale[: low.size] == 0.0, scale)


def _wanderers(
    features: FloatArray, onward: IntArray, kind: IntArray, kept: BoolArray, discrete: BoolArray
) -> BoolArray:
    """Return which features wander by themselves: influenced by nothing, influencing nothing.

    Changes are predicted by the mean over the nearest rows with the same action, half of the rows
    predicting the other half.
    """
    alone = np.zeros(kept.size, bool)
    asked = np.flatnonzero(kept & ~discrete)
    if asked.size < 2 or onward.size < 200:
        return alone
    rng = np.random.default_rng(0)
    drawn = rng.permutation(onward)[: 10 * _TESTED]
    test, train = drawn[: drawn.size // 10], drawn[drawn.size // 10 :]
    change = features[drawn + 1] - features[drawn]
    limit = 5.0 * np.sqrt((change**2).mean(axis=0))  # jumps say nothing about single coordinates
    change = np.clip(change, -limit, limit)
    there, here = change[: test.size], change[test.size :]

    def error(columns: IntArray, by_action: bool) -> FloatArray:
        """Mean square error of the changes of all features, predicted from some of them."""
        guess = np.tile(here.mean(axis=0), (test.size, 1))
        for action in np.unique(kind[test]) if by_action else (None,):
            some = np.flatnonzero(kind[train] == action) if by_action else np.arange(train.size)
            whom = np.flatnonzero(kind[test] == action) if by_action else np.arange(test.size)
            if some.size < _PREDICTORS:
                continue
            tree = cKDTree(features[train[some]][:, columns])
            near = tree.query(features[test[whom]][:, columns], _PREDICTORS)[1]
            guess[whom] = here[some[near]].mean(axis=1)
        return np.asarray(((guess - there) ** 2).mean(axis=0))

    whole = error(np.flatnonzero(kept), True)
    for c in asked:
        rest = np.flatnonzero(kept & (np.arange(kept.size) != c))
        influenced = whole[c] < (1.0 - _GAIN) * error(np.array([c]), False)[c]
        without = error(rest, True)
        matters = (without[rest] > (1.0 + _GAIN) * whole[rest]).any()
        alone[c] = not influenced and not matters
    if alone[asked].all():
        alone[:] = False
    return alone


# -------------------------------------------------------------------- metrics of users


@dataclass(frozen=True, eq=False)
class EmbeddingMetric:
    """Features that a user's function returns, divided by the median length of a step."""

    function: Embedding
    unit: float
    width: int

    @classmethod
    def fitted(cls, function: Embedding, rows: Rows, onward: IntArray) -> EmbeddingMetric:
        """Measure a step of the buffer."""
        features = embedded(function, rows)
        return cls(function, median_step(features, onward), rows.shape[1])

    @property
    def dropped(self) -> BoolArray:
        """Coordinates that sub-goals leave as they are: none."""
        return np.zeros(self.width, bool)

    def __call__(self, rows: Rows) -> FloatArray:
        """Return the features of observations."""
        return embedded(self.function, rows) / self.unit

    def moved(self, rows: Rows, change: Rows) -> FloatArray:
        """Return observations after a change."""
        return np.asarray(rows + change, np.float64)


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Observations described by a user's distances to a few of them, in steps."""

    function: Distance
    places: FloatArray
    unit: float

    @classmethod
    def fitted(cls, function: Distance, rows: Rows, onward: IntArray, seed: int) -> Landmarks:
        """Draw landmarks and measure a step of the buffer."""
        drawn = np.random.default_rng(seed).permutation(len(rows))[:_LANDMARKS]
        made = cls(function, np.ascontiguousarray(rows[drawn]), 1.0)
        return cls(function, made.places, median_step(made(rows), onward))

    @property
    def dropped(self) -> BoolArray:
        """Coordinates that sub-goals leave as they are: none."""
        return np.zeros(self.places.shape[1], bool)

    def __call__(self, rows: Rows) -> FloatArray:
        """Return the distances of observations to the landmarks."""
        parts = []
        for begin in range(0, len(rows), _CHUNK):
            some = np.asarray(rows[begin : begin + _CHUNK])
            found = np.asarray(self.function(some, self.places), np.float64)
            if found.shape != (len(some), len(self.places)) or not np.isfinite(found).all():
                raise InputError(
                    f"distance must return finite numbers for {len(some)} rows and "
                    f"{len(self.places)} landmarks, got shape {found.shape}"
                )
            parts.append(found)
        return np.concatenate(parts) / self.unit

    def moved(self, rows: Rows, change: Rows) -> FloatArray:
        """Return observations after a change."""
        return np.asarray(rows + change, np.float64)


def embedded(function: Embedding, rows: Rows) -> FloatArray:
    """Return a user's features, checked."""
    found = np.asarray(function(np.asarray(rows)), np.float64)
    if found.ndim != 2 or len(found) != len(rows) or not np.isfinite(found).all():
        raise InputError(
            f"embed must return finite features of shape ({len(rows)}, e), got shape {found.shape}"
        )
    return np.ascontiguousarray(found)


def median_step(features: FloatArray, onward: IntArray) -> float:
    """Return the median length of the steps that move, without those that tremble on the spot."""
    sizes = np.linalg.norm(features[onward + 1] - features[onward], axis=1)
    sizes = sizes[sizes > 0.0]
    if not sizes.size:
        return 1.0
    return float(np.median(sizes[sizes >= 0.2 * np.quantile(sizes, 0.75)]))
