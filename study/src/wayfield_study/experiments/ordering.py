"""How fields rank the neighbours of a state: `audit.ordering`, pooled over a cell's goals.

Two scopes: ``all`` decisions once, and ``eval_rollouts``, those of the arm's own walks from the
sampled starts, as often as they are met. Counts and sums, so that rates of any group of cells are
quotients of sums.
"""

from __future__ import annotations

from functools import partial

from ..engine import Measure, Records, Row
from ..paper.grid import SEEDS
from ..paper.measures import measured
from ..report import Section
from ._mazes import MazeCell, cells_by_profile, grid, maze_experiment
from ._trial import EXACT, HARMONIC, SCOPES, SWEEPS, Trial

ARMS = (HARMONIC, SWEEPS, EXACT)
RATES = {
    "tau_lt_05_rate": ("low_tau", "ranked"),
    "best_agree_rate": ("agreed", "decisions"),
    "mean_beta_true_gap": ("regret_sum", "decisions"),
    "tau_mean": ("tau_sum", "ranked"),
}
"""The paper's figures as sums over sums."""

cells = cells_by_profile(
    partial(grid, refinements=[4], label_fractions=[0.02, 0.12], seeds=SEEDS[:2]), grid
)
"""Some coarse cells, or the paper's whole grid."""


def run(cell: MazeCell) -> list[Row]:
    """Return one row for every arm and scope."""
    trial = Trial(cell)
    rows: list[Row] = []
    for arm in ARMS:
        counts = trial.ordering_counts(trial.fields(arm.method))
        rows += [
            {"arm": arm.name, "scope": scope} | columns_after(prefix, counts)
            for scope, prefix in SCOPES.items()
        ]
    return rows


def columns_after(prefix: str, row: Row) -> Row:
    """Return the columns that begin with a prefix, without it."""
    return {
        name.removeprefix(prefix): value for name, value in row.items() if name.startswith(prefix)
    }


def rate(rows: Records, metric: str, prefix: str = "") -> float:
    """Return the rate over all decisions of all cells together."""
    if metric == "positive_gap_rate":
        return 1.0 - rate(rows, "best_agree_rate", prefix)
    part, whole = (prefix + name for name in RATES[metric])
    return float(rows.column(part).sum() / rows.column(whole).sum())


@measured("ordering", "ordering")
def measures(rows: Records) -> dict[str, Measure]:
    """Measure the paper's ordering table."""
    found: dict[str, Measure] = {}
    for scope in SCOPES:
        groups = rows.where(scope=scope).by("arm")
        for metric in (*RATES, "positive_gap_rate"):
            place = f"ordering/{scope}/{metric}"
            harmonic, amle, exact = (rate(groups[arm.name], metric) for arm in ARMS)
            found[f"{place}/harmonic"] = Measure(harmonic)
            found[f"{place}/amle"] = Measure(amle, exact)
            found[f"{place}/delta"] = Measure(amle - harmonic, exact - harmonic)
    return found


SECTION = Section(
    "ordering",
    "Ordering audit",
    "How well a field ranks the neighbours of a state: Kendall's τ-b against the truth, "
    "over all states once (“all”) and over the states that the method's own walks meet "
    "(“rollouts”).",
    compared={"ordering": ("harmonic", "amle")},
)
EXPERIMENT = maze_experiment(
    "ordering", "Ordering audit", 2, run, cells, 1.0, SECTION, measures=measures
)
