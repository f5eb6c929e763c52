"""The paper's budget for the AMLE: what it says, and what its own audit lets one infer."""

from __future__ import annotations

import numpy as np

from .figures import TABLES, value
from .grid import AUDITED

PAPER_SWEEPS = 500
"""Midrange sweeps of the main grid: the paper's own word, "approximate iteration budget"."""
PAPER_RELAXATION = 0.5
"""How far a sweep moves a value towards its update: our reading, see docs/reading-the-paper.md."""


def audited_success() -> float:
    """Success of the AMLE in the paper's main grid, on the configurations it audits."""
    names = [f"grid-{maze}/r{r}/lf{lf:.2f}/amle" for maze, r, lf in AUDITED]
    return float(np.mean([value(name) for name in names]))


def papers_budget() -> float:
    """Sweeps that explain the paper's main grid, by its own iteration audit.

    Success on the audited configurations is interpolated in the logarithm of the sweeps.

    Examples
    --------
    >>> round(papers_budget(), -2)
    300.0
    """
    budgets = [int(row) for (row,) in TABLES["iterations"].rows]
    shares = [value(f"iterations/sweeps{budget}/success") for budget in budgets]
    return float(np.exp(np.interp(audited_success(), shares[:5], np.log(budgets[:5]))))
