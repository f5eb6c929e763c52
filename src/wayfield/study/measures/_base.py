"""What a measure is, and when rows are enough for one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import numpy as np

from ...kernels._types import FloatArray, IntArray
from ..cells import LABEL_FRACTIONS, MAZES, REFINEMENTS, SEEDS
from ..paper import TABLES
from ..tables import Rows

Configuration: TypeAlias = tuple[str, int, float]
Tables: TypeAlias = Mapping[str, Rows]

GRID: tuple[Configuration, ...] = tuple(product(MAZES, REFINEMENTS, LABEL_FRACTIONS))
"""The paper's 24 configurations."""
AUDITED: tuple[Configuration, ...] = tuple(product(MAZES, (8, 12), (0.02, 0.08)))
"""Those of its solver and iteration audits, which take three seeds."""
AUDIT_SEEDS = SEEDS[:3]


@dataclass(frozen=True)
class Measure:
    """Our figure for one of the paper's.

    Attributes
    ----------
    value : float or None
        At the paper's budget; None if it was not measured.
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


def covered(
    rows: Rows | None,
    wanted: Iterable[Configuration],
    figures: Callable[[Rows], Mapping[str, Measure]],
    names: Iterable[str],
    seeds: Iterable[int] = SEEDS,
) -> dict[str, Measure]:
    """Take measures over some of the paper's configurations, if every cell of them is there.

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
        What the paper averages over.
    """
    if rows is None or not len(rows):
        return dict.fromkeys(names, Measure(None, note="the experiment was not run"))
    configurations, seeds = set(wanted), set(seeds)
    kept = papers_rows(rows, configurations, seeds)
    there, all_cells = len(kept.cells), len(configurations) * len(seeds)
    if there < all_cells:
        note = f"{there} of the paper's {all_cells} cells were run"
        return dict.fromkeys(names, Measure(None, note=note))
    return dict(figures(kept))


def papers_rows(
    rows: Rows, configurations: Iterable[Configuration] = GRID, seeds: Iterable[int] = SEEDS
) -> Rows:
    """Keep the rows on cells of the paper's; a maze of one's own is none, whatever its name."""
    cells = set(product(configurations, seeds))
    return Rows.of(
        row
        for row in rows
        if ((row["maze"], row["refinement"], row["label_fraction"]), row["seed"]) in cells
        and not row.get("layout")
    )


def ids(*tables: str, row: str | None = None) -> list[str]:
    """Ids of the figures of some tables, or of one row of them."""
    return [
        figure.id
        for table in tables
        for figure in TABLES[table].figures
        if row is None or figure.row == row
    ]
