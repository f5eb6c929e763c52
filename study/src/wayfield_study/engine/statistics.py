"""The study's statistics: two kinds of 95 % interval, and figures to compare with published ones.

The *run bootstrap* resamples whole cells with replacement, since pairs within a cell share a
graph, labels and goals; the *Wilson* interval takes every rollout as independent, as the paper
does, and is therefore too narrow. Both are reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from wayfield.checks import as_finite
from wayfield.errors import InputError
from wayfield.typing import FloatArray, IntArray

RESAMPLES = 10_000
BOOTSTRAP_SEED = 0
_Z = 1.959963984540054  # the standard normal's 97.5 % point


def bootstrap_interval(values: ArrayLike, seed: int = BOOTSTRAP_SEED) -> tuple[float, float]:
    """Return the bootstrap percentile 95 % interval of the mean; the order does not matter.

    Examples
    --------
    >>> bootstrap_interval([0.5, 0.5, 0.5])
    (0.5, 0.5)
    """
    figures = np.sort(_figures(values))
    means = figures.take(_draws(figures.size, seed)).mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


@lru_cache(maxsize=4)  # a report takes hundreds of intervals of a few sizes
def _draws(size: int, seed: int) -> IntArray:
    return np.random.default_rng(seed).integers(size, size=(RESAMPLES, size))


def wilson_interval(successes: int, trials: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share.

    Examples
    --------
    >>> low, high = wilson_interval(0, 10)
    >>> print(f"{low:.3f} {high:.3f}")
    0.000 0.278
    """
    if not 0 <= successes <= trials or trials == 0:
        raise InputError(f"successes must be from 0 to {trials}, the trials, got {successes}")
    share = successes / trials
    middle = share + _Z**2 / (2 * trials)
    spread = _Z * np.sqrt(share * (1 - share) / trials + _Z**2 / (4 * trials**2))
    scale = 1 + _Z**2 / trials
    low, high = float((middle - spread) / scale), float((middle + spread) / scale)
    return max(low, 0.0), min(high, 1.0)


def _figures(values: ArrayLike) -> FloatArray:
    figures = as_finite(values, "figures")
    if figures.size == 0:
        raise InputError("a mean needs at least one figure, got none")
    return figures


# ------------------------------------------------------------------ measures


@dataclass(frozen=True)
class Measure:
    """Our figure for a published one.

    Attributes
    ----------
    value : float or None
        With the settings of the publication; None if it was not measured.
    exact : float or None
        The same cells and goals with every field solved exactly.
        None where no solver is in doubt.
    note : str
        Why there is no value, or what to know about it.
    """

    value: float | None
    exact: float | None = None
    note: str = ""


def mean_of(values: FloatArray, exact: FloatArray | None = None, scale: float = 1.0) -> Measure:
    """Measure a mean over cells, and its exact counterpart.

    Parameters
    ----------
    values : (cells,) array
        With the settings of the publication.
    exact : (cells,) array, optional
        The same, solved exactly.
    scale : float
        100 for percentage points.

    Examples
    --------
    >>> mean_of(np.array([0.5, 1.0, 1.0, 0.5]), np.ones(4))
    Measure(value=0.75, exact=1.0, note='')
    """
    sure = None if exact is None else float(scale * exact.mean())
    return Measure(float(scale * values.mean()), sure)


def sd_of(values: FloatArray, exact: FloatArray | None = None, scale: float = 1.0) -> Measure:
    """Measure a standard deviation over cells."""
    if values.size < 2:
        return Measure(None, note="one cell has no spread")
    sure = None if exact is None else float(scale * exact.std(ddof=1))
    return Measure(float(scale * values.std(ddof=1)), sure)
