"""A figure of ours, made to stand beside a published one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wayfield.kernels._types import FloatArray, IntArray


@dataclass(frozen=True)
class Measure:
    """Our figure for a published one.

    Attributes
    ----------
    value : float or None
        With the settings of the publication; None if it was not measured.
    exact : float or None
        The same cells and goals with the solver doubt removed: exact AMLE, certified p-Laplacian.
        None where no solver is in doubt.
    error : float or None
        Standard error of the value's difference to a second such study, where known.
    note : str
        Why there is no value, or what to know about it.
    """

    value: float | None
    exact: float | None = None
    error: float | None = None
    note: str = ""


def mean_of(
    values: FloatArray,
    exact: FloatArray | None = None,
    scale: float = 1.0,
    strata: IntArray | None = None,
) -> Measure:
    """Measure a mean over cells, and its exact counterpart.

    Parameters
    ----------
    values : (cells,) array
        With the settings of the publication.
    exact : (cells,) array, optional
        The same, solved exactly.
    scale : float
        100 for percentage points.
    strata : (cells,) array, optional
        Number of each cell's configuration. With it the measure knows how far two studies with
        other seeds, but the same configurations, lie apart.

    Examples
    --------
    >>> mean_of(np.array([0.5, 1.0, 1.0, 0.5]), np.ones(4), strata=np.array([0, 0, 1, 1]))
    Measure(value=0.75, exact=1.0, error=0.25, note='')
    """
    sure = None if exact is None else float(scale * exact.mean())
    error = None if strata is None else _seed_error(scale * values, strata)
    return Measure(float(scale * values.mean()), sure, error)


def _seed_error(values: FloatArray, strata: IntArray) -> float | None:
    """Return the standard error of the difference of two means over the same configurations.

    The variance of a mean is Σ n_c s_c² / n², with s_c the spread of the n_c seeds of a
    configuration; a difference has twice that.
    """
    sizes = np.bincount(strata)
    if sizes.min() < 2:
        return None
    means = np.bincount(strata, values) / sizes
    within = np.bincount(strata, (values - means[strata]) ** 2) / (sizes - 1)
    return float(np.sqrt(2 * (sizes * within).sum()) / values.size)


def sd_of(values: FloatArray, exact: FloatArray | None = None, scale: float = 1.0) -> Measure:
    """Measure a standard deviation over cells."""
    if values.size < 2:
        return Measure(None, note="one cell has no spread")
    sure = None if exact is None else float(scale * exact.std(ddof=1))
    return Measure(float(scale * values.std(ddof=1)), sure)
