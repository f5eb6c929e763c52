"""The paper's protocol: its grid of cells, rows that are on it, and its budget for the AMLE.

Settings of experiments stand here and nothing else: results are stale when this file changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from operator import itemgetter
from typing import TypeAlias

import numpy as np

from ..engine.records import Records
from .figures import TABLES, value

MAZES = ("medium", "large")
REFINEMENTS = (4, 8, 12)
LABEL_FRACTIONS = (0.02, 0.05, 0.08, 0.12)
SEEDS = (54, 55, 56, 57, 58)
DESIGN_SEEDS = (201, 202, 203, 204, 205)
"""What readings of the paper are fitted on."""
OTHER_SEEDS = tuple(range(301, 331))
"""What the adopted one is judged on: six studies of five seeds."""
PAIRS = 512
"""Start–goal pairs per cell."""
AUDIT_SEEDS = SEEDS[:3]
"""Seeds of the paper's two audits on 24 cells, and of every experiment beyond the paper."""

CONFIGURATION = ("maze", "refinement", "label_fraction")
"""Columns that tell the rows of the paper's large tables apart."""
CELL = (*CONFIGURATION, "seed")
"""Columns that tell cells apart."""

Configuration: TypeAlias = tuple[str, int, float]
GRID: tuple[Configuration, ...] = tuple(product(MAZES, REFINEMENTS, LABEL_FRACTIONS))
"""The paper's 24 configurations."""
AUDITED: tuple[Configuration, ...] = tuple(product(MAZES, (8, 12), (0.02, 0.08)))
"""Those of its solver and iteration audits."""

PAPER_SWEEPS = 500
"""Midrange sweeps of the main grid: the paper's own word, "approximate iteration budget"."""
PAPER_RELAXATION = 0.5
"""How far a sweep moves a value towards its update: fitted, see docs/reading-the-paper.md."""
PAPER_APART = 2
"""Least distance of a start from its goal, in maze cells: fitted, see docs/reading-the-paper.md."""


def papers_rows(
    rows: Records, configurations: Iterable[Configuration] = GRID, seeds: Iterable[int] = SEEDS
) -> Records:
    """Keep the rows on cells of the paper's. A maze of one's own has another name than its maps."""
    cells = {(*configuration, seed) for configuration, seed in product(configurations, seeds)}
    cell = itemgetter(*CELL)
    return Records.of([row for row in rows if cell(row) in cells])


def on_papers_mazes(rows: Records) -> bool:
    """Whether all rows are on the paper's mazes.

    Examples
    --------
    >>> on_papers_mazes(Records.of([{"maze": "medium"}]))
    True
    >>> on_papers_mazes(Records.of([{"maze": "medium@1f0c2a"}]))
    False
    """
    return all(row["maze"] in MAZES for row in rows)


# -------------------------------------------------------------------- the paper's budget


def audited_success() -> float:
    """Return the paper's AMLE success in its main grid, on the configurations it audits."""
    names = [f"grid-{maze}/r{r}/lf{lf:.2f}/amle" for maze, r, lf in AUDITED]
    return float(np.mean([value(name) for name in names]))


def papers_budget() -> float:
    """Return the sweeps that explain the paper's main grid, by its own iteration audit.

    Success on the audited configurations is interpolated in the logarithm of the sweeps.

    Examples
    --------
    >>> round(papers_budget(), -2)
    300.0
    """
    budgets = [int(row) for (row,) in TABLES["iterations"].rows]
    shares = [value(f"iterations/sweeps{budget}/success") for budget in budgets]
    return float(np.exp(np.interp(audited_success(), shares[:5], np.log(budgets[:5]))))
