"""How fields rank the neighbours of a state: `audit.ordering`, pooled over a cell's goals.

Two scopes: ``all`` decisions once, and ``eval_rollouts``, those of the arm's own walks from the
sampled starts, as often as they are met. Counts and sums, so that rates of any group of cells are
quotients of sums.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product

from ..engine import Measure, Profile, Records, Row
from ..paper.figures import FIGURES, shown_name, value
from ..paper.grid import AUDIT_SEEDS, GRID, SEEDS, papers_rows
from ..paper.measures import measured, on_papers_cells
from ..report import StudyFinding, Table
from .comparison import Rate, by_arm, section
from .mazes import MazeCell, cells_by_profile, grid, maze_experiment
from .trial import EXACT, HARMONIC, SCOPES, SWEEPS, Trial, arms_of

ARMS = (HARMONIC, SWEEPS, EXACT)
RATES = {
    "tau_lt_05_rate": ("low_tau", "ranked"),
    "best_agree_rate": ("agreed", "decisions"),
    "mean_beta_true_gap": ("regret_sum", "decisions"),
    "tau_mean": ("tau_sum", "ranked"),
}
"""The paper's figures as sums over sums."""

papers_cells = cells_by_profile(
    partial(grid, refinements=[4], label_fractions=[0.02, 0.12], seeds=SEEDS[:2]), grid
)
rivals_cells = cells_by_profile(
    partial(grid, refinements=[4], label_fractions=[0.02, 0.12], seeds=SEEDS[:1]),
    partial(grid, seeds=AUDIT_SEEDS),
    paper=8,
    full=32,
)


def cells(profile: Profile) -> list[MazeCell]:
    """Return some coarse cells, or the paper's whole grid; fewer seeds and goals for rivals."""
    rivals = [replace(cell, method="rivals") for cell in rivals_cells(profile)]
    return [*papers_cells(profile), *rivals]


def run(cell: MazeCell) -> list[Row]:
    """Return one row for every arm and scope."""
    trial = Trial(cell)
    rows: list[Row] = []
    for arm in arms_of(cell.method, ARMS):
        counts = trial.ordering_counts(trial.fields(arm.method), arm.ties)
        about = {"arm": arm.name, "ties": arm.ties}
        rows += [
            about | {"scope": scope} | columns_after(prefix, counts)
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


METHODS = {"harmonic": HARMONIC, "amle": SWEEPS}
"""The paper's methods, and the arms that stand for them."""
FORMULAS = {
    "τ-b": ("tau_sum", "low_tau", "ranked"),
    "printed formula": ("paired_tau_sum", "paired_tau_low", "paired"),
}
"""Two formulas for τ, as columns: sum, number below 0.5, number."""


def tau(rows: Records, scope: str, method: str, formula: str) -> tuple[float, float]:
    """Return mean τ by a formula, and the share of decisions with τ below 0.5."""
    some = rows.where(scope=scope, arm=METHODS[method].name)
    total, low, whole = (some.column(name).sum() for name in FORMULAS[formula])
    return total / whole, low / whole


RANKING = {
    "mean τ": Rate("tau_sum", "ranked", pooled=True),
    "τ < 0.5": Rate("low_tau", "ranked", pooled=True),
    "chooses a best neighbour": Rate("agreed", "decisions", pooled=True),
    "mean true gap": Rate("regret_sum", "decisions", pooled=True),
    "printed formula, mean": Rate("paired_tau_sum", "paired", pooled=True),
}
"""Columns of the table of a scope."""
PRINTED = dict(zip(RANKING, ("tau_mean", *list(RATES)[:3]), strict=False))
"""The paper's names of the first of them."""


def tables(rows: Records) -> Iterator[Table]:
    """Tabulate the ranking of every arm in both scopes, and τ by two formulas."""
    for scope, some in rows.by("scope").items():
        rates = {
            head: replace(
                rate,
                printed={
                    arm.name: f"ordering/{scope}/{PRINTED[head]}/{method}"
                    for method, arm in METHODS.items()
                    if head in PRINTED
                },
            )
            for head, rate in RANKING.items()
        }
        title = f"How fields rank neighbours: {shown_name(str(scope))}"
        yield by_arm(
            some, str(scope).replace("_", "-"), title, rates, "Every decision counts once."
        )
    papers = papers_rows(rows)
    if len(papers.where(scope="all", arm=SWEEPS.name)) == len(GRID) * len(SEEDS):
        yield from formulas(papers)


def formulas(rows: Records) -> Iterator[Table]:
    """Tabulate τ-b and the paper's printed formula, which has no correction for ties."""
    lines = []
    for scope, method in product(SCOPES, METHODS):
        theirs = [
            FIGURES[f"ordering/{scope}/{metric}/{method}"].text
            for metric in ("tau_mean", "tau_lt_05_rate")
        ]
        ours = [f"{each:.4f}" for title in FORMULAS for each in tau(rows, scope, method, title)]
        lines.append([f"{shown_name(scope)}, {shown_name(method)}", *theirs, *ours])
    heads = ["decisions, field", "paper, mean τ", "share with τ < 0.5"]
    for title in FORMULAS:
        heads += [f"{title}, mean", "share below 0.5"]
    note = (
        "The paper prints τ = 1 - 4I / (d (d - 1)), I inversions among d neighbours, ties by index."
    )
    yield Table("tau-formulas", "Kendall's τ by two formulas", heads, lines, note)


def printed_formula(rows: Records) -> Iterator[StudyFinding]:
    """Report which formula for τ gives the paper's figures."""
    near, far = (
        max(
            abs(tau(rows, scope, method, title)[0] - value(f"ordering/{scope}/tau_mean/{method}"))
            for scope, method in product(SCOPES, METHODS)
        )
        for title in FORMULAS
    )
    yield StudyFinding(
        "differs" if far > near else "new",
        "The paper: τ = 1 − 4I / d(d − 1), with I the inversions among d neighbours.",
        f"Mean τ by this formula is off the paper's own figures by up to {far:.3f}; by τ-b, which "
        f"corrects for ties, by up to {near:.3f}. Its figures were not computed by its formula.",
    )


SECTION = section(
    "ordering", tables=tables, findings=on_papers_cells([printed_formula], [printed_formula])
)
EXPERIMENT = maze_experiment(
    "ordering", "Ordering audit", 4, run, cells, 1.0, SECTION, measures=measures, compares=True
)
