"""How much is certified as labels get sparse, and by which method: the paper's statements.

Every statement is tested on the fields of every method, from one label besides the goal's to 12 %
of the vertices. Some need the truth and say how often a theorem applies (`wayfield.audit`); others
are what a user has: moves that labels and distances prove (`wayfield.certify`), and moves certified
at a stated risk after a few audits (`wayfield.audit_decisions`).

Columns, counts over all goals of a cell:

``decisions``, ``holding``; ``met``, ``met_holding``
    States that decide, and those where the half-gap holds; the same as often as walks meet them.
``pairs``, ``broken``, ``failed``
    Sampled pairs, those whose walk meets a state without the half-gap (the path-existential bound),
    and those that do not arrive. ``premise``, the title theorem's: ``pairs`` less ``broken``.
``ranked``, ``tau_sum``, ``bound_sum``, ``bound_says``
    States with two neighbours or more, their τ_nbr, its gap-dependent lower bound, and how often
    the bound exceeds −1, which holds always.
``unlabelled``, ``extrema``
    Unlabelled vertices, and strict extrema among them.
``proved``, ``routes``, ``wrong``
    Moves, and routes of sampled pairs, proved by labels and distances; proved moves that are wrong.
``audited``, ``audited_wrong``
    Moves certified by 30 audits at a risk of 0.1 and a confidence of 0.9, and wrong ones.
``reached``, ``cost_all``, ``least_cost_all`` and the others of `Trial`
    How walks end, and what they cost.
``corollary_*``, ``amle_*``
    Of the exact AMLE: the half-gap and the bound on τ_nbr from labels alone; 0 for other methods.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial

import numpy as np

import wayfield as wf
from wayfield.audit import amle_half_gap, strict_extrema
from wayfield.audit.decisions import Ordering

from ..engine import Records, Row
from ..paper.grid import AUDIT_SEEDS, SEEDS
from ..paper.measures import on_cells
from ..report import Chart, StudyFinding, Table, against
from .comparison import Rate, across, looks_of, over_seeds, section, with_labels
from .mazes import MazeCell, cells_by_profile, grid, maze_experiment
from .trial import EXACT, Trial, arms_of

LABEL_COUNTS = (1, 2, 4, 8, 16)
AUDITS, RISK, CONFIDENCE = 30, 0.1, 0.9

cells = cells_by_profile(
    partial(grid, ["medium"], [4], [0.02, 0.12], SEEDS[:1], label_counts=[1, 4]),
    partial(grid, seeds=AUDIT_SEEDS, label_counts=LABEL_COUNTS),
    paper=8,
    full=32,
)
"""Two label counts and two fractions, or the paper's mazes with one label and more."""


def run(cell: MazeCell) -> list[Row]:
    """Return one row for each arm."""
    trial, rows = Trial(cell), []
    for arm in arms_of(cell.method):
        total: Row = {}
        for number, audit in enumerate(trial.audits(trial.fields(arm.method), arm.ties)):
            found = counts(trial, number, audit)
            found |= from_labels(trial, number, audit, isinstance(arm.method, wf.AMLE))
            total = {name: total.get(name, 0) + value for name, value in found.items()}
        walks = trial.outcomes(trial.fields(arm.method), arm.rule, arm.ties)
        rows.append({"arm": arm.name, "ties": arm.ties} | walks | total)
    return rows


def counts(trial: Trial, number: int, audit: Ordering) -> Row:
    """Count where the statements apply to the field of one goal."""
    drawn, gap, plan = trial.drawn, audit.half_gap, audit.half_gap.plan
    labels, starts = drawn.labels[number], drawn.starts[number]
    half, path = gap.counts(starts), gap.failure_bound(starts)
    known = ~np.isnan(audit.tau_nbr)
    certificate = wf.certify(drawn.graph, labels, plan.values, plan)
    audited = wf.audit_decisions(certificate, RISK, CONFIDENCE, seed=number)
    while audited.state is not None and audited.result.audits < AUDITS:
        audited.record(bool(gap.chosen_optimal[audited.state]))
    certified = audited.result.certified
    extrema = strict_extrema(drawn.graph, labels, plan.values)
    proved, decides, wrong = certificate.proved, gap.decides, ~gap.chosen_optimal
    return asdict(half) | {
        "pairs": path.starts,
        "broken": path.broken,
        "premise": path.starts - path.broken,
        "failed": path.failed,
        "ranked": int(known.sum()),
        "tau_sum": float(audit.tau_nbr[known].sum()),
        "bound_sum": float(audit.bound[known].sum()),
        "bound_says": int((audit.bound[known] > -1.0).sum()),
        "unlabelled": drawn.graph.num_vertices - len(labels),
        "extrema": sum(map(len, extrema)),
        "proved": int((proved & decides).sum()),
        "routes": int(certificate.route_proved[starts].sum()),
        "wrong": int((proved & decides & wrong).sum()),
        "audited": int((certified & decides).sum()),
        "audited_wrong": int((certified & decides & wrong).sum()),
    }


def from_labels(trial: Trial, number: int, audit: Ordering, amle: bool) -> Row:
    """Count where labels alone certify the exact AMLE of one goal; zeros for other methods."""
    if not amle:
        return dict.fromkeys(COROLLARY, 0) | {"amle_bound_sum": 0.0}
    drawn, plan = trial.drawn, audit.half_gap.plan
    labels, starts = drawn.labels[number], drawn.starts[number]
    gap = amle_half_gap(drawn.graph, labels, audit.truth, plan.goal, plan)
    half, path, bound = gap.counts(starts), gap.failure_bound(starts), audit.amle_bound(labels)
    known = ~np.isnan(bound)
    whole = (half.decisions, half.holding, path.starts, path.starts - path.broken)
    found = (*whole, int(known.sum()), int((bound[known] > -1.0).sum()))
    return dict(zip(COROLLARY, found, strict=True)) | {"amle_bound_sum": float(bound[known].sum())}


COROLLARY = (
    "corollary_decisions", "corollary_holds", "corollary_pairs", "corollary_premise",
    "amle_ranked", "amle_says",
)  # fmt: skip
"""Counts of what labels alone say of the exact AMLE."""
PROVED = Rate("proved", "decisions", 1, True)
ROUTES = Rate("routes", "pairs", 1, True)
PREMISE = Rate("premise", "pairs", 1, True)
FROM_LABELS = Rate("corollary_holds", "corollary_decisions", 2, True)
STATEMENTS: dict[str, tuple[str, tuple[Rate, ...]]] = {
    "success": ("Success, share of the sampled pairs", (Rate("reached", "pairs"),)),
    "cost": (
        "Cost over least cost, of walks that arrive, from all starts",
        (Rate("cost_all", "least_cost_all", 3),),
    ),
    "half-gap": (
        "Lemma: decisions where the half-gap holds, and as walks meet them, %",
        (Rate("holding", "decisions", 1, True), Rate("met_holding", "met", 1, True)),
    ),
    "premise": ("Theorem: pairs whose walk has the half-gap all along, %", (PREMISE,)),
    "bound": (
        "Path-existential bound on failures, and the failures, % of the pairs",
        (Rate("broken", "pairs", 1, True), Rate("failed", "pairs", 1, True)),
    ),
    "corollary": (
        "Corollary, from labels alone: decisions, and pairs all along their walk, %",
        (FROM_LABELS, Rate("corollary_premise", "corollary_pairs", 2, True)),
    ),
    "fidelity": (
        "Lemma: least τ_nbr by gaps and errors, and τ_nbr; means",
        (Rate("bound_sum", "ranked", 3), Rate("tau_sum", "ranked", 3)),
    ),
    "label-fidelity": (
        "Corollary, from labels alone: least τ_nbr, mean, and where it exceeds −1, %",
        (Rate("amle_bound_sum", "amle_ranked", 3), Rate("amle_says", "amle_ranked", 2, True)),
    ),
    "extrema": (
        "Maximum principle: strict extrema, % of the unlabelled vertices",
        (Rate("extrema", "unlabelled", 2, True),),
    ),
    "proved": (
        "Proved by labels and distances: moves, and routes of the pairs, %",
        (PROVED, ROUTES),
    ),
    "audits": (
        f"Certified by {AUDITS} audits (risk {RISK:g}, confidence {CONFIDENCE:g}): moves, and "
        "wrong ones among them, %",
        (Rate("audited", "decisions", 1, True), Rate("audited_wrong", "audited", 2, True)),
    ),
}
"""One table for each statement, and its columns; before them, who arrives at what cost."""


# -------------------------------------------------------------------- what is shown


def tables(rows: Records) -> Iterator[Table]:
    """Tabulate every statement by method and labels."""
    labelled = with_labels(rows)
    for name, (title, rates) in STATEMENTS.items():
        whole = rates[0].whole
        some = Records.of(row for row in labelled if row[whole])
        if len(some):
            yield across(some, ["labels"], name, title, *rates)


def charts(rows: Records) -> Iterator[Chart]:
    """Draw what is certified against labels, a line for each method."""
    labelled = with_labels(rows)
    for title, rate in (
        ("Routes proved by labels and distances", ROUTES),
        ("Walks with the half-gap all along", PREMISE),
    ):
        yield against(
            labelled,
            "labels",
            [look for look in looks_of(rows) if not look.name.endswith("_exit")] or looks_of(rows),
            title,
            figures=partial(_with_error, rate),
            names=("", "share of pairs"),
        )


def _with_error(rate: Rate, rows: Records) -> tuple[float, float, float]:
    mean, error, _ = over_seeds(rows, rate.part, rate.whole)
    room = error if np.isfinite(error) else 0.0
    return mean, max(mean - room, 0.0), min(mean + room, 1.0)


@on_cells
def theorem(rows: Records) -> Iterator[StudyFinding]:
    """Report how often the title theorem applies, and what labels prove instead."""
    exact = rows.where(arm=EXACT.name)
    if not len(exact):
        return
    premise, failed, routes = (
        exact.ratio(name, "pairs") for name in ("premise", "failed", "routes")
    )
    alone, wrong = exact.total("corollary_premise"), rows.total("wrong")
    yield StudyFinding(
        "new" if wrong == 0 else "differs",
        "How often does the paper's certificate apply?",
        f"On the exact AMLE its premise holds all along {premise:.1%} of the walks, so that its "
        f"bound on failures is {1 - premise:.1%}, where {failed:.2%} fail. From labels alone, as "
        f"in its corollary, it holds on {alone:,} of {exact.total('pairs'):,} walks. The interval "
        f"test proves {routes:.1%} of the same routes from labels. Of all methods together, "
        f"{wrong:,} of {rows.total('proved'):,} proved moves are wrong.",
    )


SECTION = section("certificates", charts=charts, tables=tables, findings=theorem)
EXPERIMENT = maze_experiment(
    "certificates", "Certificates by method", 1, run, cells, 8.0, SECTION, compares=True
)
