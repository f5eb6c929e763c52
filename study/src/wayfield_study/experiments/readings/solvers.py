"""Other readings of the paper's finite-p solvers: where they start, and when they stop.

The paper names solvers, caps and tolerances, but neither the start nor the share of the energy at
which its L-BFGS-B gives up. One goal of every configuration, under each of a few choices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from typing import TypeAlias

import numpy as np

from wayfield.extension import NearestLabel, extend
from wayfield.graph import Graph
from wayfield.kernels._types import FloatArray
from wayfield.labels import Labels

from ...engine import Experiment, Profile, Records, Row
from ...paper.grid import AUDITED, SEEDS
from ...report import Section, Table
from .. import lbfgs_budget
from .._mazes import MazeCell, grid, per_vertex
from .._readings import ordering_counts
from .._trial import HARMONIC, SWEEPS, Trial
from ..solver_audit import POWERS
from ..solver_audit.solvers import Audit, lbfgs, newton_cg, relaxed_picard

Start: TypeAlias = Callable[[Graph, Labels], FloatArray]
SCIPY_STALL = 2.2e-9
"""Share of the energy at which SciPy's L-BFGS-B stops if nothing is said."""
WARM = "each p from the field of the one before"


def _nearest(graph: Graph, labels: Labels) -> FloatArray:
    return np.array(extend(graph, labels, NearestLabel()).values)


def _mean(graph: Graph, labels: Labels) -> FloatArray:
    return _level(graph, labels, float(labels.values.mean()))


def _zero(graph: Graph, labels: Labels) -> FloatArray:
    return _level(graph, labels, 0.0)


def _level(graph: Graph, labels: Labels, value: float) -> FloatArray:
    """Set every value but the labels'."""
    field = np.full(graph.num_vertices, value)
    field[labels.vertices] = labels.values
    return field


STARTS: dict[str, Start] = {
    "solvers from the nearest label": _nearest,
    "solvers from the mean of the labels": _mean,
    "solvers from zero": _zero,
}
STALLS = {"L-BFGS-B with SciPy's own stopping share": SCIPY_STALL}
ASSUMED = (*STARTS, WARM, *STALLS)
"""What each reading assumes."""


def run(cell: MazeCell) -> list[Row]:
    """One row for every reading, p and solver, and for the ends of the family."""
    trial = Trial(cell)
    graph, labels = trial.drawn.graph, trial.drawn.labels
    audited = (cell.maze, cell.refinement, cell.label_fraction) in AUDITED
    rows: list[Row] = []
    for assumed in ASSUMED:
        chosen = STARTS.get(assumed)
        starts = [None if chosen is None else chosen(graph, known) for known in labels]
        stall = STALLS.get(assumed, 1e-10)
        solvers: dict[str, Callable[..., Audit]] = {
            lbfgs_budget.ARM: partial(lbfgs, cap=700, stall=stall, memory=10)
        }
        if audited and chosen is not None:
            solvers |= {"picard": relaxed_picard, "newton": newton_cg}
        if audited and assumed in STALLS:
            solvers["lbfgs"] = partial(lbfgs, stall=stall, memory=10)
        for p in POWERS:
            for arm, solver in solvers.items():
                found = [
                    solver(graph, known, p, start=start)
                    for known, start in zip(labels, starts, strict=True)
                ]
                rows.append(_row(trial, assumed, p, arm, found))
            if assumed == WARM:  # where L-BFGS-B is alone
                starts = [audit.values for audit in found]
    ends = ((2.0, HARMONIC), (inf, SWEEPS))
    return rows + [
        _counts(trial, "", p, arm.name, [field.values for field in trial.fields(arm.method)])
        for p, arm in ends
    ]


def _row(trial: Trial, assumed: str, p: float, arm: str, found: Sequence[Audit]) -> Row:
    return _counts(trial, assumed, p, arm, [audit.values for audit in found]) | {
        "converged": sum(audit.converged for audit in found),
        "gradient": max(audit.gradient for audit in found),
        "fixed_point": max(audit.fixed_point for audit in found),
    }


def _counts(trial: Trial, assumed: str, p: float, arm: str, fields: Sequence[FloatArray]) -> Row:
    about: Row = {"assumed": assumed, "p": p, "arm": arm}
    unsolved: Row = {"solves": len(fields), "converged": 0, "gradient": 0.0, "fixed_point": 0.0}
    return about | trial.outcomes(fields) | ordering_counts(trial, fields) | unsolved


def cells(profile: Profile) -> list[MazeCell]:
    """Take a tiny cell, or one goal of every configuration, of one seed."""
    if profile.name == "quick":
        return grid(["medium"], [3], [0.08], SEEDS[:1], 1)
    return grid(seeds=SEEDS[:1], goals=1)


def as_tables(rows: Records, assumed: str) -> dict[str, Records]:
    """Take the rows of one reading apart into tables of the family and of the two audits.

    The one seed stands for all of the paper's, and what is solved exactly there is not at hand:
    the stopped fields stand in for it, so that nothing moves.
    """
    solved, ends = rows.where(assumed=assumed), rows.where(assumed="")
    stopped = solved.where(arm=lbfgs_budget.ARM)
    audits = Records.of(row for row in solved if row["arm"] != lbfgs_budget.ARM)
    twins = [row | {"arm": "amle"} for row in ends.where(arm=SWEEPS.name)]
    twins += [row | {"arm": f"p{row['p']:g}"} for row in stopped]
    sure = [row | {"arm": "certified"} for row in stopped]
    return {
        "finite_p": _all_seeds([*ends, *twins]),
        "lbfgs_budget": _all_seeds([*stopped, *sure]),
        "solver_audit": _all_seeds([*audits, *sure]) if len(audits) else Records.of([]),
    }


def _all_seeds(rows: list[Row]) -> Records:
    return Records.of(row | {"seed": seed} for seed in SEEDS for row in rows)


def by_reading(rows: Records) -> list[Table]:
    """Tell success by resolution, and how L-BFGS-B ends, under every reading."""
    lines = []
    for (assumed, p), some in rows.where(arm=lbfgs_budget.ARM).by("assumed", "p").items():
        groups = some.by("refinement")
        lines.append(
            [
                f"{assumed}, p = {p:g}",
                *(f"{group.ratio('reached', 'pairs'):.3f}" for group in groups.values()),
                f"{some.total('converged')} of {some.total('solves')}",
                f"{some.mean('gradient'):.4f}",
                f"{some.mean('fixed_point'):.3f}",
            ]
        )
    sizes = [f"success, r = {r}" for r in rows.values("refinement")]
    heads = ["L-BFGS-B, 700 iterations", *sizes, "converged, it says", "gradient", "residual"]
    return [Table("starts", "Finite p by L-BFGS-B, by start and stop", heads, lines)]


EXPERIMENT = Experiment(
    "solver_readings",
    "Other readings of the solvers",
    version=2,
    run=run,
    cells=cells,
    effort=per_vertex(250.0),
    sections=(
        Section(
            "solver-readings",
            "Sensitivity: where the finite-p solvers start and stop",
            "One goal of every configuration, by L-BFGS-B with the paper's 700 iterations from "
            "other starts and with another stopping share. The paper says neither.",
            tables=by_reading,
        ),
    ),
)
