"""The paper's figures of the p-family: success, loops, ordering, monotony."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import inf
from typing import Any, TypeAlias

import numpy as np

from wayfield.kernels._types import FloatArray, IntArray

from ...engine import NO_ROWS, Measure, Records, Tables, mean_of, sd_of
from ...paper.grid import CELL, CONFIGURATION, GRID, REFINEMENTS, Configuration, covered, ids
from .. import lbfgs_budget
from .._readings import SCOPES
from .._shown import shares
from ..ordering import rate

Measures: TypeAlias = Mapping[str, Measure]
ENDS = {2.0: ("harmonic", ""), inf: ("sweeps", "amle")}
"""Arms at the ends of the family: at the paper's budget, and exact."""
POWERS = (4.0, 8.0, 16.0)
FAMILY = (2.0, *POWERS, inf)
ORDERING = {
    "low_tau": "tau_lt_05_rate",
    "best_agree": "best_agree_rate",
    "mean_gap": "mean_beta_true_gap",
    "mean_tau": "tau_mean",
}
"""Columns of the paper's table of the family that are of the ordering audit."""


def measures(tables: Tables) -> dict[str, Measure]:
    """Measure the paper's tables of the family, over all cells and by resolution."""
    found = _success_by_p(tables, list(GRID), "")
    for r in REFINEMENTS:
        found |= _success_by_p(tables, [each for each in GRID if each[1] == r], f"r{r}")
    ordering = [name for name in ids("p-family") if name.rsplit("/", 1)[1] in ORDERING]
    names = [*ids("monotone"), *ordering]
    stopped = tables.get("lbfgs_budget", NO_ROWS).where(arm=lbfgs_budget.ARM)
    return found | covered(tables.get("finite_p"), GRID, partial(_ordering, stopped), names)


def _success_by_p(tables: Tables, wanted: list[Configuration], row: str) -> dict[str, Measure]:
    """Measure success by p, over all cells or at one resolution.

    The ends of the family are the main rollouts, as in the paper. Its p = 4, 8, 16 come from
    L-BFGS-B stopped after 700 iterations; so do ours, beside the certified fields of the same
    goals. Without that experiment ours are the certified fields of `finite_p`.
    """
    found: dict[str, Measure] = {}
    for p, (budget, exact) in ENDS.items():

        def end(rows: Records, p: float = p, budget: str = budget, exact: str = exact) -> Measures:
            sure = shares(rows, exact) if exact else None
            return _named(p, row, shares(rows, budget), sure, rows.where(arm=budget))

        found |= covered(tables.get("rollout"), wanted, end, _names(p, row))
    for p in POWERS:

        def solved(rows: Records, p: float = p) -> Measures:
            chosen = rows.where(p=p)
            reached = chosen.share("reached", "pairs")
            return _named(p, row, reached, reached, chosen)

        def stopped(rows: Records, p: float = p) -> Measures:
            chosen = rows.where(p=p, arm=lbfgs_budget.ARM)
            exact = rows.where(p=p, arm="certified").share("reached", "pairs")
            return _named(p, row, chosen.share("reached", "pairs"), exact, chosen)

        certified = covered(tables.get("finite_p"), wanted, solved, _names(p, row))
        budgeted = covered(tables.get("lbfgs_budget"), wanted, stopped, _names(p, row))
        found |= {
            name: certified[name] if measure.value is None else measure
            for name, measure in budgeted.items()
        }
    return found


def _names(p: float, row: str) -> list[str]:
    names = ids("finite-p-by-r", row=row) if row else ids("finite-p", "p-family")
    columns = (f"p{p:g}", f"p{p:g}_sd", f"p{p:g}/success", f"p{p:g}/loop")
    return [name for name in names if name.split("/", 2 if row else 1)[-1] in columns]


def _named(
    p: float, row: str, reached: FloatArray, exact: FloatArray | None, rows: Records
) -> dict[str, Measure]:
    """Put success and its spread under the ids of the tables that print them."""
    strata: IntArray = rows.strata(*CONFIGURATION)
    loops = None if exact is None else 1 - exact
    shown = {
        f"finite-p-by-r/{row}/p{p:g}": mean_of(reached, exact, strata=strata),
        f"finite-p-by-r/{row}/p{p:g}_sd": sd_of(reached, exact),
        f"finite-p/p{p:g}/success": mean_of(reached, exact, strata=strata),
        f"p-family/p{p:g}/success": mean_of(reached, exact, strata=strata),
        f"p-family/p{p:g}/loop": mean_of(1 - reached, loops, strata=strata),
    }
    return {name: shown[name] for name in _names(p, row)}


def _ordering(stopped: Records, rows: Records) -> dict[str, Measure]:
    """Measure the ordering by p, the mean of the two scopes as in the paper, and the monotony."""
    budget, exact = _members(stopped, rows)
    found: dict[str, Measure] = {}
    for p in FAMILY:
        for column, metric in ORDERING.items():
            value, sure = (_scope_mean(each.where(p=p), metric) for each in (budget, exact))
            found[f"p-family/p{p:g}/{column}"] = Measure(value, None if p == 2.0 else sure)
    return found | _monotone(budget, exact)


def _members(stopped: Records, rows: Records) -> tuple[Records, Records]:
    """Take the family as the paper's solvers left it, and solved; a row for every cell and p.

    Without L-BFGS-B on the same goals of every cell, certified fields stand in for it.
    """
    certified = {p: rows.where(p=p, arm=f"p{p:g}") for p in POWERS}
    unfinished = {p: stopped.where(p=p) for p in POWERS}
    paired = all(_drawn(unfinished[p]) == _drawn(certified[p]) for p in POWERS)
    inner = unfinished if paired else certified
    low, (swept, solved) = rows.where(p=2.0), (rows.where(arm=arm) for arm in ENDS[inf])
    budget = [*low, *(row for p in POWERS for row in inner[p]), *swept]
    exact = [*low, *(row for p in POWERS for row in certified[p]), *solved]
    return Records.of(budget), Records.of(exact)


def _drawn(rows: Records) -> set[tuple[Any, ...]]:
    return {tuple(row[name] for name in (*CELL, "goals")) for row in rows}


def _scope_mean(rows: Records, metric: str) -> float:
    return float(np.mean([rate(rows, metric, prefix) for prefix in SCOPES.values()]))


def _monotone(budget: Records, exact: Records) -> dict[str, Measure]:
    """Count the cells in which success, or mean τ, never falls from one p to the next."""
    counts: dict[str, Callable[[Records], float]] = {
        "success_monotone": lambda some: _rising(_by_p(some, _success)),
        "tau_monotone": lambda some: _rising(_by_p(some, partial(_scope_mean, metric="tau_mean"))),
        "p16_between": lambda some: _between(_by_p(some, _success)),
    }
    return {
        f"monotone/{name}/count": Measure(count(budget), count(exact))
        for name, count in counts.items()
    }


def _success(rows: Records) -> float:
    return rows.ratio("reached", "pairs")


def _by_p(rows: Records, figure: Callable[[Records], float]) -> FloatArray:
    """(cells, 5) array of a figure along the family."""
    cells = [cell.by("p") for cell in rows.by(*CELL).values()]
    return np.array([[figure(members[p]) for p in FAMILY] for members in cells])


def _rising(table: FloatArray) -> float:
    return float((np.diff(table, axis=1) >= 0).all(axis=1).sum())


def _between(table: FloatArray) -> float:
    """Count the cells where p = 16 lies between p = 8 and ∞."""
    eight, sixteen, infinity = table[:, 2], table[:, 3], table[:, 4]
    low, high = np.minimum(eight, infinity), np.maximum(eight, infinity)
    return float(((low <= sixteen) & (sixteen <= high)).sum())
