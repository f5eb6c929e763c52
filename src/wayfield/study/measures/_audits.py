"""Measures of the ordering and mechanism audits, and of the ordering over the p-family."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf

import numpy as np

from ...kernels._types import FloatArray
from ..cells import REFINEMENTS
from ..tables import CELL, Rows
from ._base import GRID, Measure, Tables, covered, ids

SCOPES = {"all": "all", "eval_rollouts": "eval"}
RATES = {
    "tau_lt_05_rate": ("low_tau", "ranked"),
    "best_agree_rate": ("agreed", "decisions"),
    "mean_beta_true_gap": ("regret_sum", "decisions"),
    "tau_mean": ("tau_sum", "ranked"),
}
"""Figures of the ordering audit as sums over sums."""
FAMILY_COLUMNS = {
    "low_tau": "tau_lt_05_rate",
    "best_agree": "best_agree_rate",
    "mean_gap": "mean_beta_true_gap",
    "mean_tau": "tau_mean",
}
DIAGNOSTICS = {
    "both_compatible": ("both", "decisions"),
    "primary_geometry": ("primary", "decisions"),
    "both_incompatible": ("neither", "decisions"),
    "inversions": ("inversions", "untied"),
    "inversions_in_primary": ("inversions_primary", "inversions"),
    "corrected": ("corrected", "inversions"),
    "certified": ("certified", "inversions"),
}
"""Lines of the mechanism audit as counts over counts."""
FAMILY = (2.0, 4.0, 8.0, 16.0, inf)


def audit_measures(tables: Tables) -> dict[str, Measure]:
    """Take all measures of the audits."""
    mechanism = tables.get("mechanism")
    whole = ids("mechanism", "mechanism-main")
    found = covered(tables.get("ordering"), GRID, _ordering, ids("ordering"))
    found |= covered(mechanism, GRID, _mechanism, whole)
    for r in REFINEMENTS:
        wanted = [each for each in GRID if each[1] == r]
        names = ids("mechanism-by-r", row=f"r{r}")
        found |= covered(mechanism, wanted, partial(_mechanism_at, r), names)
    family = [*ids("monotone"), *(name for name in ids("p-family") if _is_ordering(name))]
    return found | covered(tables.get("finite_p"), GRID, _family, family)


def _is_ordering(name: str) -> bool:
    return name.rsplit("/", 1)[1] in FAMILY_COLUMNS


def _ordering(rows: Rows) -> dict[str, Measure]:
    found: dict[str, Measure] = {}
    for scope in SCOPES:
        groups = rows.where(scope=scope).by("arm")
        for metric in (*RATES, "positive_gap_rate"):
            place = f"ordering/{scope}/{metric}"
            harmonic, amle, exact = (
                _rate(groups[arm], metric) for arm in ("harmonic", "sweeps", "amle")
            )
            found[f"{place}/harmonic"] = Measure(harmonic)
            found[f"{place}/amle"] = Measure(amle, exact)
            found[f"{place}/delta"] = Measure(amle - harmonic, exact - harmonic)
    return found


def _rate(rows: Rows, metric: str, prefix: str = "") -> float:
    """Rate over all decisions of all cells together."""
    if metric == "positive_gap_rate":
        return 1.0 - _rate(rows, "best_agree_rate", prefix)
    part, whole = (prefix + name for name in RATES[metric])
    return float(rows.column(part).sum() / rows.column(whole).sum())


def _mechanism(rows: Rows) -> dict[str, Measure]:
    budget, exact = rows.where(arm="sweeps"), rows.where(arm="amle")
    found: dict[str, Measure] = {}
    for line, (part, whole) in DIAGNOSTICS.items():
        counts = {"count": part, "of": whole}
        for column, name in counts.items():
            found[f"mechanism/{line}/{column}"] = Measure(budget.total(name), exact.total(name))
        rate = Measure(100 * budget.ratio(part, whole), 100 * exact.ratio(part, whole))
        found[f"mechanism/{line}/rate"] = found[f"mechanism-main/{line}/rate"] = rate
    return found


def _mechanism_at(r: int, rows: Rows) -> dict[str, Measure]:
    return {
        f"mechanism-by-r/r{r}/{line}": Measure(
            100 * rows.where(arm="sweeps").ratio(part, whole),
            100 * rows.where(arm="amle").ratio(part, whole),
        )
        for line, (part, whole) in DIAGNOSTICS.items()
    }


def _family(rows: Rows) -> dict[str, Measure]:
    """Measure the ordering by p, the mean of the two scopes as in the paper."""
    found: dict[str, Measure] = {}
    for p in FAMILY:
        members = rows.where(p=p)
        ends = ("sweeps", "amle") if p == inf else (None, None)
        for column, metric in FAMILY_COLUMNS.items():
            value, exact = (_scope_mean(_member(members, arm), metric) for arm in ends)
            sure = None if p == 2.0 else exact
            found[f"p-family/p{p:g}/{column}"] = Measure(value, sure)
    return found | _monotone(rows)


def _member(rows: Rows, arm: str | None) -> Rows:
    return rows if arm is None else rows.where(arm=arm)


def _scope_mean(rows: Rows, metric: str) -> float:
    return float(np.mean([_rate(rows, metric, f"{short}_") for short in SCOPES.values()]))


def _monotone(rows: Rows) -> dict[str, Measure]:
    """Count the cells in which success, or mean τ, never falls from one p to the next."""
    counts: dict[str, Callable[[Rows], float]] = {
        "success_monotone": lambda some: _rising(_by_p(some, _success)),
        "tau_monotone": lambda some: _rising(_by_p(some, partial(_scope_mean, metric="tau_mean"))),
        "p16_between": lambda some: _between(_by_p(some, _success)),
    }
    budget = Rows.of(row for row in rows if row["arm"] != "amle")
    exact = Rows.of(row for row in rows if row["arm"] != "sweeps")
    return {
        f"monotone/{name}/count": Measure(count(budget), count(exact))
        for name, count in counts.items()
    }


def _success(rows: Rows) -> float:
    return rows.ratio("reached", "pairs")


def _by_p(rows: Rows, figure: Callable[[Rows], float]) -> FloatArray:
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
