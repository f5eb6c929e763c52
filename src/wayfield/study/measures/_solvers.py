"""Measures of the finite-p sweep, of the solver audit and of the iteration audit."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import TypeAlias

import numpy as np

from ...kernels._types import FloatArray, IntArray
from ..cells import REFINEMENTS
from ..tables import CELL, Rows
from ._base import (
    AUDIT_SEEDS,
    AUDITED,
    GRID,
    Configuration,
    Measure,
    Tables,
    covered,
    ids,
    mean_of,
    sd_of,
)
from ._rollouts import success

Measures: TypeAlias = Mapping[str, Measure]
ENDS = {2.0: ("harmonic", ""), inf: ("sweeps", "amle")}
"""Arms at the ends of the family: at the paper's budget, and exact."""
POWERS = (4.0, 8.0, 16.0)
BUDGET_SOLVER = "lbfgs700"
SOLVERS = ("lbfgs", "picard", "newton")
LAST_BUDGET = 5000
STABLE = 0.95
"""Share of the converged success at which an unfinished solve counts as stable."""


def solver_measures(tables: Tables) -> dict[str, Measure]:
    """Take all measures of solvers and budgets."""
    found = _family(tables, list(GRID), "")
    for r in REFINEMENTS:
        found |= _family(tables, [each for each in GRID if each[1] == r], f"r{r}")
    found |= covered(tables.get("lbfgs_budget"), GRID, _lbfgs, ids("lbfgs"))
    names = ids("solvers", "solver-gradient")
    found |= covered(tables.get("solver_audit"), AUDITED, _solvers, names, AUDIT_SEEDS)
    names = ids("iterations", "iteration-gap", "stable")
    return found | covered(tables.get("iteration_audit"), AUDITED, _iterations, names, AUDIT_SEEDS)


def _family(tables: Tables, wanted: list[Configuration], row: str) -> dict[str, Measure]:
    """Measure success by p, over all cells or at one resolution.

    The ends of the family are the main rollouts, as in the paper. Its p = 4, 8, 16 come from
    L-BFGS-B stopped after 700 iterations; so do ours, beside the certified fields of the same
    goals. Without that experiment ours are the certified fields of `finite_p`.
    """
    found: dict[str, Measure] = {}
    for p, (budget, exact) in ENDS.items():

        def end(rows: Rows, p: float = p, budget: str = budget, exact: str = exact) -> Measures:
            sure = success(rows, exact) if exact else None
            return _named(p, row, success(rows, budget), sure, rows.where(arm=budget).strata)

        found |= covered(tables.get("rollout"), wanted, end, _names(p, row))
    for p in POWERS:

        def solved(rows: Rows, p: float = p) -> Measures:
            chosen = rows.where(p=p)
            reached = chosen.share("reached", "pairs")
            return _named(p, row, reached, reached, chosen.strata)

        def stopped(rows: Rows, p: float = p) -> Measures:
            chosen = rows.where(p=p, arm=BUDGET_SOLVER)
            reached, exact = chosen.share("reached", "pairs"), _certified(rows, p)
            return _named(p, row, reached, exact, chosen.strata)

        certified = covered(tables.get("finite_p"), wanted, solved, _names(p, row))
        budgeted = covered(tables.get("lbfgs_budget"), wanted, stopped, _names(p, row))
        found |= {
            name: certified[name] if measure.value is None else measure
            for name, measure in budgeted.items()
        }
    return found


def _certified(rows: Rows, p: float) -> FloatArray:
    """Success on the certified fields of a solver experiment's own goals, per cell."""
    return rows.where(p=p, arm="certified").share("reached", "pairs")


def _names(p: float, row: str) -> list[str]:
    names = ids("finite-p-by-r", row=row) if row else ids("finite-p", "p-family")
    columns = (f"p{p:g}", f"p{p:g}_sd", f"p{p:g}/success", f"p{p:g}/loop")
    return [name for name in names if name.split("/", 2 if row else 1)[-1] in columns]


def _named(
    p: float, row: str, reached: FloatArray, exact: FloatArray | None, strata: IntArray
) -> dict[str, Measure]:
    """Put success and its spread under the ids of the tables that print them."""
    loops = None if exact is None else 1 - exact
    shown = {
        f"finite-p-by-r/{row}/p{p:g}": mean_of(reached, exact, strata=strata),
        f"finite-p-by-r/{row}/p{p:g}_sd": sd_of(reached, exact),
        f"finite-p/p{p:g}/success": mean_of(reached, exact, strata=strata),
        f"p-family/p{p:g}/success": mean_of(reached, exact, strata=strata),
        f"p-family/p{p:g}/loop": mean_of(1 - reached, loops, strata=strata),
    }
    return {name: shown[name] for name in _names(p, row)}


def _lbfgs(rows: Rows) -> dict[str, Measure]:
    found: dict[str, Measure] = {}
    for p in POWERS:
        stopped = rows.where(p=p, arm=BUDGET_SOLVER)
        found |= {
            f"lbfgs/p{p:g}/converged": Measure(_converged(stopped)),
            f"lbfgs/p{p:g}/gradient": mean_of(stopped.column("gradient")),
            f"lbfgs/p{p:g}/residual": mean_of(stopped.column("fixed_point")),
            f"lbfgs/p{p:g}/residual_max": Measure(float(stopped.column("fixed_point").max())),
        }
    return found


def _converged(rows: Rows) -> float:
    """Count the cells whose solves all call themselves converged."""
    return float((rows.column("converged") == rows.column("solves")).sum())


def _solvers(rows: Rows) -> dict[str, Measure]:
    found: dict[str, Measure] = {}
    for p in POWERS:
        exact = _certified(rows, p)
        for solver in SOLVERS:
            place, chosen = f"solvers/p{p:g}/{solver}", rows.where(p=p, arm=solver)
            reached = chosen.share("reached", "pairs")
            found |= {
                f"{place}/success": mean_of(reached, exact, strata=chosen.strata),
                f"{place}/sd": sd_of(reached, exact),
                f"{place}/converged": Measure(_converged(chosen)),
                f"{place}/residual": mean_of(chosen.column("fixed_point")),
            }
    gradients = rows.where(p=16.0, arm="lbfgs").column("gradient")
    return found | {"solver-gradient/p16/lbfgs": mean_of(gradients)}


def _iterations(rows: Rows) -> dict[str, Measure]:
    found: dict[str, Measure] = {}
    swept = rows.where(arm="sweeps")
    for budget, chosen in swept.by("sweeps").items():
        place, reached = f"iterations/sweeps{budget}", chosen.share("reached", "pairs")
        residual = chosen.column("residual")
        found |= {
            f"{place}/success": mean_of(reached, strata=chosen.strata),
            f"{place}/sd": sd_of(reached),
            f"{place}/loop": mean_of(1 - reached, strata=chosen.strata),
            f"{place}/residual": mean_of(residual),
            f"{place}/residual_max": Measure(float(residual.max())),
        }
    start = success(rows, "harmonic")
    for budget in (50, LAST_BUDGET):
        chosen = swept.where(sweeps=budget)
        lead = chosen.share("reached", "pairs") - start
        found[f"iteration-gap/at_{budget}/value"] = mean_of(lead, None, 100, chosen.strata)
    return found | {"stable/median/value": Measure(_stable(swept))}


def _stable(swept: Rows) -> float:
    """Median over cells of the first budget at which success is 95 % of the converged one."""
    first = []
    for cell in swept.by(*CELL).values():
        budgets, shares = cell.column("sweeps"), cell.share("reached", "pairs")
        enough = shares >= STABLE * shares[budgets == LAST_BUDGET]
        first.append(budgets[enough].min())
    return float(np.median(first))
