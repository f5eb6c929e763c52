"""The main experiment: who reaches the goal on which field.

Harmonic, the AMLE at the paper's budget and exactly and the nearest label, both with index and with
exit ties, rivals from the literature, and the true cost-to-go; or the method that a cell names. One
row per arm: see `Trial`. Every sampled pair is stored beside it, for queries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import product

import numpy as np

import wayfield as wf
from wayfield.typing import FloatArray

from ..engine import Measure, Records, Row, Tables, mean_of, sd_of
from ..engine.statistics import bootstrap_interval, wilson_interval
from ..paper.figures import Figure, value
from ..paper.grid import (
    CELL,
    GRID,
    MAZES,
    PAPER_RELAXATION,
    PAPER_SWEEPS,
    REFINEMENTS,
    SEEDS,
)
from ..paper.measures import covered, figures_of, measure_slices, on_papers_cells
from ..report import Chart, StudyFinding, Table, against, power
from .comparison import (
    SUCCESS,
    Rate,
    across,
    base_arm,
    by_arm,
    failing,
    looks_of,
    printed_series,
    section,
    shares,
    success,
    with_labels,
)
from .mazes import MazeCell, cells_by_profile, grid, maze_experiment
from .trial import (
    EXACT,
    EXIT,
    HARMONIC,
    NEAREST,
    ORACLE,
    PAIR_COLUMNS,
    SWEEPS,
    Trial,
    arms_of,
    title_of,
)

MAIN = (HARMONIC, SWEEPS, EXACT)
STATISTICS = (
    "main", "taxonomy", "lift", "by-r", "by-lf", "by-lf-means", "grid-medium", "grid-large",
    "baselines", "baseline-gaps", "baselines-by-r",
)  # fmt: skip
"""Tables of means, standard deviations and intervals."""
SENTENCES = (
    "finer_lifts_more", "lift_at_every_lf", "equal_loop_counts", "label_loops_dominate",
    "amle_interior_rarer", "amle_fewer_minima",
)  # fmt: skip
"""What the paper says of the rollouts in words."""
_ARTEFACT = 0.05
"""Share of the failures that may survive an exact solve of what is called an artefact."""


cells = cells_by_profile(
    partial(grid, refinements=[4], label_fractions=[0.02, 0.12], seeds=SEEDS[:2]), grid
)
"""Some coarse cells, or the paper's whole grid."""


def run(cell: MazeCell) -> list[Row]:
    """Run all arms, or those of the cell's method, and keep how each sampled pair ends."""
    return rows_of(cell, pairs=True)


def rows_of(cell: MazeCell, pairs: bool = False) -> list[Row]:
    """Return a row for each arm of a cell; the oracle's too, if the cell names no method."""
    trial = Trial(cell)
    rows = [trial.row(arm, pairs) for arm in arms_of(cell.method)]
    return rows if cell.method else [*rows, trial.oracle_row(pairs)]


# -------------------------------------------------------------------- the paper's figures


def measures(tables: Tables) -> dict[str, Measure]:
    """Measure all figures that come from the rollouts, each over the cells it is printed for."""
    found: dict[str, Measure] = {}
    for names, measure in (
        (STATISTICS, _statistics),
        (("wilson", "failures"), _counts),
        (("setup",), _sizes),
    ):
        found |= measure_slices(tables.get("rollout"), figures_of(*names), measure)
    said = [f"sentences/{sentence}/value" for sentence in SENTENCES]
    return found | covered(tables.get("rollout"), GRID, _sentences, said)


def _statistics(figures: list[Figure], rows: Records) -> dict[str, Measure]:
    """Measure means, standard deviations and intervals over cells."""
    harmonic, amle, exact, nearest, oracle = (
        shares(rows, arm) for arm in ("harmonic", "sweeps", "amle", "nearest", "oracle")
    )
    # per cell: at the paper's budget, solved exactly where a solver is in doubt, and the unit
    quantities: dict[str, tuple[FloatArray, FloatArray | None, float]] = {
        "harmonic": (harmonic, None, 1.0),
        "harmonic_loop": (1 - harmonic, None, 1.0),
        "amle": (amle, exact, 1.0),
        "amle_loop": (1 - amle, 1 - exact, 1.0),
        "lift": (amle - harmonic, exact - harmonic, 100.0),
        "nearest": (nearest, None, 1.0),
        "oracle": (oracle, None, 1.0),
        "over_nearest": (amle - nearest, exact - nearest, 100.0),
        "over_nearest_appendix": (amle - nearest, exact - nearest, 100.0),
        "oracle_over_amle": (oracle - amle, oracle - exact, 100.0),
    }

    @cache
    def interval(quantity: str) -> tuple[Measure, Measure]:
        values, sure, scale = quantities[quantity]
        ends = bootstrap_interval(values)
        others = (None, None) if sure is None else bootstrap_interval(sure)
        low, high = (
            Measure(scale * end, None if other is None else scale * other)
            for end, other in zip(ends, others, strict=True)
        )
        return low, high

    found = {}
    for figure in figures:
        # the quantity is named by the row or by the column, the statistic by the other or neither
        first = figure.row.split("/")[0]
        quantity, statistic = first if first in quantities else figure.column, figure.column
        if figure.table == "lift":
            quantity, statistic = "lift", figure.row
        if statistic in ("low", "high"):
            found[figure.id] = interval(quantity)[statistic == "high"]
            continue
        if statistic == "loop":
            quantity = f"{quantity}_loop"
        values, sure, scale = quantities[quantity.removesuffix("_sd")]
        if statistic == "loop":  # in per cent here, in the large tables a share
            scale = 100.0
        if statistic.endswith("sd"):
            found[figure.id] = sd_of(values, sure, scale)
        else:
            found[figure.id] = mean_of(values, sure, scale)
    return found


def _sizes(figures: list[Figure], rows: Records) -> dict[str, Measure]:
    """Measure the experiment, and the public maps with their walls."""
    pairs = rows.where(arm="harmonic").column("pairs")
    numbers = {"cells": pairs.size, "rollouts": pairs.sum(), "pairs_per_cell": np.median(pairs)}
    for maze, r in product(MAZES, REFINEMENTS):
        for side, length in zip(("rows", "columns"), wf.load_layout(maze).shape, strict=True):
            numbers[f"{maze}/r{r}/{side}"] = r * length
    return {figure.id: Measure(float(numbers[figure.row])) for figure in figures}


def _counts(figures: list[Figure], rows: Records) -> dict[str, Measure]:
    """Split the failures by the kind of loop they end in, per cent; and Wilson's interval."""
    counted: dict[str, dict[str, float | None]] = {}
    for arm, some in rows.by("arm").items():
        pairs, boundary, interior = (some.total(n) for n in ("pairs", "boundary", "interior"))
        lost = boundary + interior
        low, high = wilson_interval(some.total("reached"), pairs)
        counted[str(arm)] = {
            "total": 100 * lost / pairs,
            "interior": 100 * interior / pairs,
            "boundary": 100 * boundary / pairs,
            "boundary_share": 100 * boundary / lost if lost else None,
            "strict_minima": float((some.column("sinks") > 0).sum()),
            "low": low,
            "high": high,
        }
    found = {}
    for figure in figures:
        harmonic = figure.row == "harmonic"
        budget = counted["harmonic" if harmonic else "sweeps"][figure.column]
        exact = None if harmonic else counted["amle"][figure.column]
        note = "" if budget is not None else "no pair fails"
        found[figure.id] = Measure(budget, exact, note=note)
    return found


def _sentences(rows: Records) -> dict[str, Measure]:
    """Judge what the paper says of the rollouts in words, at its budget and solved exactly."""
    smooth = rows.where(arm="harmonic")
    judged: list[dict[str, float]] = []
    for arm in ("sweeps", "amle"):
        sharp = rows.where(arm=arm)
        both = Records.of((*smooth, *sharp))
        by_r, by_lf = (
            [success(some, arm) - success(some, "harmonic") for _, some in sorted(groups.items())]
            for groups in (both.by("refinement"), both.by("label_fraction"))
        )
        touched = [some.total("boundary") - some.total("interior") for some in (smooth, sharp)]
        minima = [(some.column("sinks") > 0).sum() for some in (smooth, sharp)]
        # a walk that does not reach ends in a loop, counted by its kind: the two must add up
        lost = both.column("pairs") - both.column("reached")
        loops = both.column("boundary") + both.column("interior")
        unequal = {
            tuple(row[name] for name in CELL)
            for row, equal in zip(both, lost == loops, strict=True)
            if not equal
        }
        judged.append(
            {
                "finer_lifts_more": by_r == sorted(by_r),
                "lift_at_every_lf": min(by_lf) > 0,
                "equal_loop_counts": len(smooth) - len(unequal),
                "label_loops_dominate": min(touched) >= 0,
                "amle_interior_rarer": sharp.total("interior") < smooth.total("interior"),
                "amle_fewer_minima": minima[1] < minima[0],
            }
        )
    stopped, solved = judged
    return {
        f"sentences/{name}/value": Measure(float(stopped[name]), float(solved[name]))
        for name in SENTENCES
    }


# -------------------------------------------------------------------- what is shown


def charts(rows: Records) -> Iterator[Chart]:
    """Draw success against resolution and against labels.

    Drawn are the three main methods if all of them ran, else every method, by index ties.
    """
    looks = [look for look in looks_of(rows) if not look.name.endswith(EXIT)]
    if {arm.name for arm in MAIN} <= {look.name for look in looks}:
        looks = [*MAIN]
    title, labels = "Success against labels", with_labels(rows)
    by_r, by_lf = (
        printed_series(some, name) for some, name in ((rows, "refinement"), (labels, "labels"))
    )
    yield against(
        rows, "refinement", looks, "Success against resolution", lambda r: f"r = {r}", by_r
    )
    yield against(labels, "labels", looks, title, others=by_lf)


PAPERS = {HARMONIC.name: "harmonic", SWEEPS.name: "amle"}
"""The paper's names of its two methods, by the arms that stand for them."""


def _printed(figure: str) -> dict[str, str]:
    """Return the id of a figure that the paper has for both of its methods, by arm."""
    return {arm: figure.format(method) for arm, method in PAPERS.items()}


_BASELINES = {arm.name: f"baselines/{arm.name}/success" for arm in (NEAREST, ORACLE)}
RATES = {
    "success, sampled pairs": replace(SUCCESS, printed=_printed("main/{}/success") | _BASELINES),
    "success, all starts": Rate("reached_all", "starts_all", 5),
    "cost / least, of those that arrive": Rate("cost_all", "least_cost_all", 3),
    "least / cost, of all": Rate("weighted", "pairs", 3),
}
LOOPS = {
    "fail": Rate("failed", "pairs", 2, True, _printed("failures/{}/total")),
    "in a loop through a label": Rate(
        "boundary", "pairs", 2, True, _printed("failures/{}/boundary")
    ),
    "in another loop": Rate("interior", "pairs", 2, True, _printed("failures/{}/interior")),
    "at a dead end": Rate("dead_ends", "pairs", 2, True),
}


def tables(rows: Records) -> Iterator[Table]:
    """Tabulate success beside cost, paired differences, and success by number of labels."""
    yield by_arm(
        rows,
        "arms",
        "Success and cost",
        RATES,
        "“All starts” takes every start of every goal instead of the sampled ones. Cost is the sum "
        "over the walks that arrive, divided by the least possible; “of all” is the mean of least "
        "cost over cost, 0 for a walk that does not arrive.",
        {
            "failing starts": lambda some: (
                f"{some.total('starts_all') - some.total('reached_all'):,}"
            )
        },
    )
    base, labels = base_arm(rows), with_labels(rows)
    than = f"{title_of(base)}, {'exit' if base.endswith(EXIT) else 'index'} ties"
    points = replace(SUCCESS, percent=True, digits=1)
    won = "On the same cells; in brackets the cells won and lost."
    cost = RATES["cost / least, of those that arrive"]
    for name, title, rate, note, other in (
        ("paired", f"Success less that of {than}, in points", points, won, base),
        ("by-labels", "Success by labels, sampled pairs", SUCCESS, "", ""),
        ("cost-by-labels", "Cost over least cost, of walks that arrive", cost, "", ""),
    ):
        yield across(labels, ["labels"], name, title, rate, note=note, base=other)


def failure_tables(rows: Records) -> Iterator[Table]:
    """Tabulate failures by kind."""
    failed = Records.of(row | {"failed": row["pairs"] - row["reached"]} for row in rows)
    minima = {"cells with strict minima": lambda some: f"{(some.column('sinks') > 0).sum():,}"}
    yield by_arm(failed, "kinds", "Failures by kind, % of the sampled pairs", LOOPS, "", minima)


# -------------------------------------------------------------------- what is said


def artefact(rows: Records) -> Iterator[StudyFinding]:
    """Report how many failures an exact solve removes."""
    if not {"amle", "sweeps"} <= set(rows.values("arm")):
        return
    pairs = rows.where(arm="amle").total("pairs")
    budget, exact = failing(rows, "sweeps"), failing(rows, "amle")
    gone = budget > 0 and exact <= _ARTEFACT * budget
    verdict = " The failures are unfinished sweeps, not the AMLE's." if gone else ""
    yield StudyFinding(
        "artefact" if gone else "differs",
        f"The paper: AMLE leaves {value('main/amle/loop'):.1f} % of the starts in loops.",
        f"Stopped as in the paper, {budget:,} of {pairs:,} pairs fail here "
        f"({budget / pairs:.1%}); on the same labels solved exactly, with the same planner and "
        f"ties, {exact:,}.{verdict}",
    )


def reach(rows: Records) -> Iterator[StudyFinding]:
    """Check the theorem that every start reaches."""
    starts = rows.where(arm="amle_exit").total("starts_all")
    if not starts:
        return
    exits, index = failing(rows, "amle_exit", "_all"), failing(rows, "amle", "_all")
    yield StudyFinding(
        "new" if exits == 0 else "differs",
        "With exact labels, the exact AMLE and ties broken towards an exit, every start reaches.",
        f"A theorem, and checked: {exits:,} of {starts:,} starts fail, over all starts of all "
        f"fields. With lowest-index ties it is {index:,}.",
    )


def brackets(rows: Records) -> Iterator[StudyFinding]:
    """Report the widest proved bracket."""
    if not {"amle", "harmonic"} <= set(rows.values("arm")):
        return
    amle, harmonic = (
        float(rows.where(arm=arm).column("width").max()) for arm in ("amle", "harmonic")
    )
    yield StudyFinding(
        "new",
        "How far can the fields themselves be trusted?",
        "Every exact field comes with a proved bracket. The widest, over all cells and goals, is "
        f"{power(amle)} of the label range for AMLE and {power(harmonic)} for harmonic.",
    )


def about(rows: Records) -> str:
    """Return a sentence on what ran: the paper's methods, or others."""
    if len(rows) and not {HARMONIC.name, SWEEPS.name, EXACT.name} <= set(rows.values("arm")):
        return (
            "The methods below, planned on by argmin Q with lowest-index ties, and with exit ties."
        )
    return (
        f"Harmonic values, the AMLE by midrange sweeps, relaxed by {PAPER_RELAXATION:g} and "
        f"stopped after {PAPER_SWEEPS} (our reading), and the exact AMLE, planned on by argmin Q "
        "with lowest-index ties. Figures marked “exact” are those of the exact AMLE."
    )


EXPERIMENT = maze_experiment(
    "rollout", "Main rollouts", 4, run, cells, 4.0,
    section(
        "rollouts",
        about=about,
        charts=charts,
        tables=tables,
        findings=on_papers_cells([artefact, reach, brackets]),
    ),
    section("failures", tables=failure_tables),
    section("baselines"),
    measures=measures, compares=True, for_queries=PAIR_COLUMNS,
)  # fmt: skip
