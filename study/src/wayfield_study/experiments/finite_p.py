"""The family from p = 2 to ∞, every member solved exactly: success, ordering and bracket width.

The ends are the harmonic extension and the exact AMLE; the AMLE at the paper's budget stands beside
them, since the paper's family ends there. Ordering figures are those of the ordering experiment,
``all_`` and ``eval_`` for its two scopes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np

from wayfield.words import number_of

from ..engine import NO_ROWS, Measure, Profile, Records, Row, Tables, mean_of, sd_of
from ..paper.figures import Figure, value
from ..paper.grid import CELL, GRID, SEEDS
from ..paper.measures import covered, figures_of, measure_slices, on_papers_cells
from ..report import SHAPES, TONES, Chart, Series, StudyFinding, Table, chart, power
from .comparison import Rate, by_arm, printed_points, section, success
from .mazes import MazeCell, grid, maze_experiment
from .ordering import rate
from .solver_audit import BUDGET_ARM, budget_cells
from .trial import EXACT, HARMONIC, SCOPES, SWEEPS, Trial, arms_of, power_arm

ARMS = (
    (2.0, HARMONIC),
    *((float(p), power_arm(p)) for p in (4, 8, 16, 32, 64, 128)),
    (inf, SWEEPS),
    (inf, EXACT),
)
POWERS = (4.0, 8.0, 16.0)
PAPERS_FAMILY = (2.0, *POWERS, inf)
ORDERING = {
    "low_tau": "tau_lt_05_rate",
    "best_agree": "best_agree_rate",
    "mean_gap": "mean_beta_true_gap",
    "mean_tau": "tau_mean",
}
"""Columns of the paper's table of the family that are of the ordering audit."""


def run(cell: MazeCell) -> list[Row]:
    """Return one row for every p, two for p = ∞; of other methods, with p = 0."""
    trial = Trial(cell)
    arms = ARMS if not cell.method else [(0.0, arm) for arm in arms_of(cell.method)]
    return [
        {"p": p} | trial.row(arm) | trial.ordering_counts(trial.fields(arm.method), arm.ties)
        for p, arm in arms
    ]


def cells(profile: Profile) -> list[MazeCell]:
    """Return two small cells, or the paper's whole grid, with the goals that L-BFGS-B is run on."""
    if profile.name == "quick":
        return grid(["medium"], [4], [0.02, 0.08], SEEDS[:1], profile.at_most())
    return budget_cells(profile)


# -------------------------------------------------------------------- the paper's figures


def measures(tables: Tables) -> dict[str, Measure]:
    """Measure the paper's tables of the family, over all cells and by resolution.

    The ends of the family are the main rollouts, as in the paper. Its p = 4, 8, 16 come from
    L-BFGS-B stopped after 700 iterations; so do ours, beside the certified fields of the same
    goals. Without that experiment ours are the certified fields of `finite_p`.
    """
    by_p: dict[float, list[Figure]] = {}
    ordered: list[str] = []
    for figure in figures_of("finite-p", "finite-p-by-r", "p-family"):
        if figure.column in ORDERING:
            ordered.append(figure.id)
        else:
            named = figure.column if figure.table == "finite-p-by-r" else figure.row
            by_p.setdefault(float(named.removesuffix("_sd")[1:]), []).append(figure)

    def success_at(
        p: float, experiment: str, budget: Mapping[str, Any], exact: Mapping[str, Any] | None
    ) -> dict[str, Measure]:
        """Measure success at one p, in the rows with these settings."""
        found = partial(_success_and_loops, budget, exact)
        return measure_slices(tables.get(experiment), by_p[p], found)

    found = success_at(2.0, "rollout", {"arm": "harmonic"}, None)
    found |= success_at(inf, "rollout", {"arm": "sweeps"}, {"arm": "amle"})
    for p in POWERS:
        stopped, solved = {"p": p, "arm": BUDGET_ARM}, {"p": p, "arm": "certified"}
        certified = success_at(p, "finite_p", {"p": p}, {"p": p})
        found |= {
            name: certified[name] if measure.value is None else measure
            for name, measure in success_at(p, "lbfgs_budget", stopped, solved).items()
        }
    last, end = found["finite-p/p16/success"], found["finite-p/pinf/success"]
    if last.value is not None and end.value is not None:
        # a lead below a quarter of the paper's does not count: ties cost the AMLE single starts
        least = 0.25 * (value("finite-p/p16/success") - value("finite-p/pinf/success"))
        exact = None
        if last.exact is not None and end.exact is not None:
            exact = float(last.exact - end.exact > least)
        above = Measure(float(last.value - end.value > least), exact)
        found["sentences/p16_above_amle/value"] = above
    names = [*ordered, *(figure.id for figure in figures_of("monotone"))]
    rows = tables.get("lbfgs_budget", NO_ROWS).where(arm=BUDGET_ARM)
    return found | covered(tables.get("finite_p"), GRID, partial(_ordering, rows), names)


def _success_and_loops(
    budget: Mapping[str, Any], exact: Mapping[str, Any] | None, figures: list[Figure], rows: Records
) -> dict[str, Measure]:
    chosen = rows.where(**budget)
    reached = chosen.share("reached", "pairs")
    sure = None if exact is None else rows.where(**exact).share("reached", "pairs")
    found = {}
    for figure in figures:
        if figure.column.endswith("_sd"):
            found[figure.id] = sd_of(reached, sure)
        elif figure.column == "loop":
            loops = None if sure is None else 1 - sure
            found[figure.id] = mean_of(1 - reached, loops)
        else:
            found[figure.id] = mean_of(reached, sure)
    return found


def _ordering(stopped: Records, rows: Records) -> dict[str, Measure]:
    """Measure the ordering by p, the mean of the two scopes as in the paper, and the monotony.

    The family as the paper's solvers left it, and solved. Without L-BFGS-B on the same goals of
    every cell, certified fields stand in for it.
    """
    certified = {p: rows.where(p=p, arm=f"p{p:g}") for p in POWERS}
    unfinished = {p: stopped.where(p=p) for p in POWERS}
    drawn = (*CELL, "goals")
    paired = all(
        set(unfinished[p].distinct(*drawn)) == set(certified[p].distinct(*drawn)) for p in POWERS
    )
    budget, exact = (
        Records.of(row for some in (rows.where(p=2.0), *inner.values(), end) for row in some)
        for inner, end in (
            (unfinished if paired else certified, rows.where(arm="sweeps")),
            (certified, rows.where(arm="amle")),
        )
    )
    found: dict[str, Measure] = {}
    for p in PAPERS_FAMILY:
        for column, metric in ORDERING.items():
            figure, sure = (_scope_mean(each.where(p=p), metric) for each in (budget, exact))
            found[f"p-family/p{p:g}/{column}"] = Measure(figure, None if p == 2.0 else sure)

    # cells in which success, or mean τ, never falls, and in which p = 16 is between 8 and ∞
    counts: dict[str, list[float]] = {}
    for members in (budget, exact):
        by_cell = [cell.by("p") for cell in members.by(*CELL).values()]
        reached, tau = (
            np.array([[figure(cell[p]) for p in PAPERS_FAMILY] for cell in by_cell])
            for figure in (
                lambda some: some.ratio("reached", "pairs"),
                partial(_scope_mean, metric="tau_mean"),
            )
        )
        eight, sixteen, infinity = reached[:, 2:].T
        low, high = np.minimum(eight, infinity), np.maximum(eight, infinity)
        for name, holds in (
            ("success_monotone", (np.diff(reached, axis=1) >= 0).all(axis=1)),
            ("tau_monotone", (np.diff(tau, axis=1) >= 0).all(axis=1)),
            ("p16_between", (low <= sixteen) & (sixteen <= high)),
        ):
            counts.setdefault(name, []).append(float(holds.sum()))
    return found | {
        f"monotone/{name}/count": Measure(ours, sure) for name, (ours, sure) in counts.items()
    }


def _scope_mean(rows: Records, metric: str) -> float:
    return float(np.mean([rate(rows, metric, prefix) for prefix in SCOPES.values()]))


# -------------------------------------------------------------------- what is shown


def family(rows: Records) -> Records:
    """Keep the rows of the family, p from 2."""
    return Records.of(row for row in rows if row["p"])


def charts(rows: Records) -> list[Chart]:
    """Draw success along the p-family by resolution."""
    rows = family(rows)
    if not len(rows):
        return []
    powers = sorted({float(p) for p in rows.values("p")})
    ticks = [(float(k), "∞" if p == inf else f"{p:g}") for k, p in enumerate(powers)]
    exact = Records.of(row for row in rows if row["arm"] != "sweeps")
    lines, printed = [], []
    groups = exact.by("refinement").items()
    for (r, chosen), tone, shape in zip(groups, TONES, SHAPES, strict=False):
        members = chosen.by("p")
        points = [(float(k), members[p].ratio("reached", "pairs")) for k, p in enumerate(powers)]
        lines.append(Series(f"r = {r}, exact", tone, points, (), shape))
        theirs = printed_points(rows, [f"finite-p-by-r/r{r}/p{p:g}" for p in powers])
        if theirs:
            printed.append(Series(f"r = {r}, paper", tone, theirs, (), shape, hollow=True))
    return [chart("Success against p", [*lines, *printed], ticks, names=("p", "success"))]


def tables(rows: Records) -> Iterator[Table]:
    """Tabulate success and the widest bracket along the whole family."""

    def widest(some: Records) -> str:
        width = float(some.column("width").max())
        return "none" if width == inf else power(width)

    rates = {
        "success, sampled pairs": Rate("reached", "pairs"),
        "success, all starts": Rate("reached_all", "starts_all", 5),
        "mean τ, all": Rate("all_tau_sum", "all_ranked", pooled=True),
        "mean τ, rollouts": Rate("eval_tau_sum", "eval_ranked", pooled=True),
    }
    note = "Widths are relative to the range of the labels, the widest over all cells and goals."
    yield by_arm(
        rows, "family", "The p-family, solved exactly", rates, note, {"widest bracket": widest}
    )


# -------------------------------------------------------------------- what is said


def family_end(rows: Records) -> Iterator[StudyFinding]:
    """Compare p = 16 with the AMLE, both solved."""
    rows = family(rows)
    if not len(rows):
        return
    last, end = success(rows, "p16"), success(rows, "amle")
    ahead = value("finite-p/p16/success") - value("finite-p/pinf/success")
    gone = last - end < 0.25 * ahead
    yield StudyFinding(
        "artefact" if gone else "differs",
        f"The paper: p = 16 reaches {value('finite-p/p16/success'):.3f}, AMLE "
        f"{value('finite-p/pinf/success'):.3f}.",
        f"Solved exactly, p = 16 reaches {last:.4f} and the exact AMLE {end:.4f} on the same "
        f"{number_of(len(rows.distinct(*CELL)), 'cells')}: "
        + ("the lead of p = 16 is gone once both are solved." if gone else "the lead stays."),
    )


def monotone(rows: Records) -> Iterator[StudyFinding]:
    """Count the cells in which success never falls along the family, every member solved."""
    exact = Records.of(row for row in family(rows) if row["arm"] != "sweeps")
    powers = sorted(exact.values("p"))
    if not powers:
        return
    by_cell = [cell.by("p") for cell in exact.by(*CELL).values()]
    sampled, everyone = (
        [
            [q for p, q in pairwise(powers) if cell[q].ratio(*counts) < cell[p].ratio(*counts)]
            for cell in by_cell
        ]
        for counts in (("reached", "pairs"), ("reached_all", "starts_all"))
    )  # for every cell the p at which success is less than at the p before
    cells = len(by_cell)
    rising, always = (cells - sum(map(bool, falls)) for falls in (sampled, everyone))
    at_the_end = sum(falls == [inf] for falls in everyone)
    theirs = value("monotone/success_monotone/count")
    last = f" Of the others {at_the_end} fall at the last step alone, to the AMLE, where "
    last += "lowest-index ties trap starts."
    yield StudyFinding(
        "new" if rising / cells > theirs / 120 else "differs",
        f"The paper: success never falls with p in {theirs:.0f} of 120 cells only.",
        f"With every member solved it never falls from p = 2 over {len(powers) - 2} values of p "
        f"to ∞ in {rising} of {number_of(cells, 'cells')} on the sampled pairs, and in {always} "
        "over all starts." + (last if at_the_end else ""),
    )


SECTION = section(
    "finite-p", charts=charts, tables=tables, findings=on_papers_cells([family_end, monotone])
)
EXPERIMENT = maze_experiment(
    "finite_p", "The family from p = 2 to ∞", 4, run, cells, 18.0, SECTION,
    measures=measures, compares=True,
)  # fmt: skip
