"""How many sweeps the paper's main table had: it does not say, its own audit lets one infer it."""

from __future__ import annotations

import numpy as np

from .figures import TABLES, value
from .grid import AUDITED

PAPER_SWEEPS = 300
"""Midrange sweeps that stand for the paper's budget: our reading of it, see the report."""


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
