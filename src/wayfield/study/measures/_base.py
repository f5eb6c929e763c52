"""What a measure is, and when rows are enough for one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeAlias

import numpy as np

from ...kernels._types import FloatArray, IntArray
from ..cells import LABEL_FRACTIONS, MAZES, REFINEMENTS, SEEDS
from ..paper import FIGURES, TABLES
from ..tables import Rows

Configuration: TypeAlias = tuple[str, int, float]
Tables: TypeAlias = Mapping[str, Rows]

GRID: tuple[Configuration, ...] = tuple(product(MAZES, REFINEMENTS, LABEL_FRACTIONS))
"""The paper's 24 configurations."""
AUDITED: tuple[Configuration, ...] = tuple(product(MAZES, (8, 12), (0.02, 0.08)))
"""Those of its solver and iteration audits, which take three seeds."""
AUDIT_SEEDS = SEEDS[:3]
_COUNTS = ("cells", "cells24", "count")
"""Kinds of figures that need every cell."""


@dataclass(frozen=True)
class Measure:
    """Our figure for one of the paper's.

    Attributes
    ----------
    value : float or None
        At the paper's budget; None if it was not measured.
    exact : float or None
        The same with the solver doubt removed: exact AMLE, certified p-Laplacian. None where no
        solver is in doubt.
    error : float or None
        Standard error of the value's difference to a second such study, where known.
    paired : bool
        Whether value and exact are over the same cells and goals, so that they differ by the
        solver alone.
    note : str
        Why there is no value, or what to know about it.
    """

    value: float | None
    exact: float | None = None
    error: float | None = None
    paired: bool = True
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
        At the paper's budget.
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
    Measure(value=0.75, exact=1.0, error=0.25, paired=True, note='')
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


def covered(
    rows: Rows | None,
    wanted: Iterable[Configuration],
    figures: Callable[[Rows], Mapping[str, Measure]],
    names: Iterable[str],
    seeds: Iterable[int] = SEEDS,
) -> dict[str, Measure]:
    """Take measures over some configurations, if all of them are there.

    Parameters
    ----------
    rows : Rows or None
        Of one experiment; None if it was not run.
    wanted : iterable of (maze, r, lf)
        What the figures are over.
    figures : function of Rows
        Returns the measures by id.
    names : iterable of str
        Ids of the figures, for when they cannot be taken.
    seeds : iterable of int
        What the paper averages over; fewer are enough, and are noted.
    """
    everything, seeds = list(wanted), set(seeds)
    if rows is None or not len(rows):
        return dict.fromkeys(names, Measure(None, note="the experiment was not run"))
    kept = Rows.of(
        row
        for row in rows
        if (row["maze"], row["refinement"], row["label_fraction"]) in everything
        and row["seed"] in seeds
    )
    there = len(kept.configurations)
    if there < len(everything):
        note = f"{there} of its {len(everything)} configurations were run"
        return dict.fromkeys(names, Measure(None, note=note))
    found = dict(figures(kept))
    cells, all_cells = len(kept.cells), len(everything) * len(seeds)
    if cells == all_cells:
        return found
    note = f"over {cells} of {all_cells} cells"
    return {
        name: replace(each, note=each.note or note)
        if name not in FIGURES or FIGURES[name].kind not in _COUNTS
        else Measure(None, note=note)
        for name, each in found.items()
    }


def ids(*tables: str, row: str | None = None) -> list[str]:
    """Ids of the figures of some tables, or of one row of them."""
    return [
        figure.id
        for table in tables
        for figure in TABLES[table].figures
        if row is None or figure.row == row
    ]
