"""Other readings of the paper's finite-p solvers: where they start, and when they stop.

The paper names solvers, caps and tolerances, but neither the start nor the share of the energy at
which its L-BFGS-B gives up. One goal of every configuration, under each of a few choices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import inf
from typing import TypeAlias

import numpy as np

import wayfield as wf
from wayfield.kernels._types import FloatArray

from ..engine import Profile, Records, Row
from ..paper.grid import AUDITED, SEEDS
from ..report import Section, Table
from ._mazes import MazeCell, grid, maze_experiment
from ._trial import HARMONIC, SWEEPS, Trial
from .solver_audit import BUDGET_ARM, POWERS, Energy, Solver, lbfgs, newton_cg, relaxed_picard

Start: TypeAlias = Callable[[wf.Graph, wf.Labels], FloatArray]
SCIPY_STALL = 2.2e-9
"""Share of the energy at which SciPy's L-BFGS-B stops if nothing is said."""
WARM = "each p from the field of the one before"


def _level(graph: wf.Graph, labels: wf.Labels, value: float) -> FloatArray:
    """Return a field of one value, but for the labels."""
    field = np.full(graph.num_vertices, value)
    field[labels.vertices] = labels.values
    return field


STARTS: dict[str, Start] = {
    "solvers from the nearest label": lambda graph, labels: np.array(
        wf.extend(graph, labels, wf.NearestLabel()).values
    ),
    "solvers from the mean of the labels": lambda graph, labels: _level(
        graph, labels, float(labels.values.mean())
    ),
    "solvers from zero": lambda graph, labels: _level(graph, labels, 0.0),
}
STALLS = {"L-BFGS-B with SciPy's own stopping share": SCIPY_STALL}
ASSUMED = (*STARTS, WARM, *STALLS)
"""What each reading assumes."""


def run(cell: MazeCell) -> list[Row]:
    """Return one row for every reading, p and solver, and for the ends of the family."""
    trial = Trial(cell)
    graph, labels = trial.drawn.graph, trial.drawn.labels
    audited = (cell.maze, cell.refinement, cell.label_fraction) in AUDITED
    rows: list[Row] = []

    def add(assumed: str, p: float, arm: str, fields: list[FloatArray], **solved: float) -> None:
        about: Row = {"assumed": assumed, "p": p, "arm": arm}
        quality: Row = {"converged": 0, "gradient": 0.0, "fixed_point": 0.0} | solved
        counts = trial.outcomes(fields) | trial.ordering_counts(fields)
        rows.append(about | counts | {"solves": len(fields)} | quality)

    for assumed in ASSUMED:
        chosen = STARTS.get(assumed)
        starts = [None if chosen is None else chosen(graph, known) for known in labels]
        stall = STALLS.get(assumed, 1e-10)
        solvers: dict[str, Solver] = {BUDGET_ARM: partial(lbfgs, cap=700, stall=stall, memory=10)}
        if audited and chosen is not None:
            solvers |= {"picard": relaxed_picard, "newton": newton_cg}
        if audited and assumed in STALLS:
            solvers["lbfgs"] = partial(lbfgs, stall=stall, memory=10)
        for p in POWERS:
            for arm, solver in solvers.items():
                found = [
                    solver(Energy(graph, known, p, start))
                    for known, start in zip(labels, starts, strict=True)
                ]
                add(
                    assumed,
                    p,
                    arm,
                    [audit.values for audit in found],
                    converged=sum(audit.converged for audit in found),
                    gradient=max(audit.gradient for audit in found),
                    fixed_point=max(audit.fixed_point for audit in found),
                )
            if assumed == WARM:  # where L-BFGS-B is alone
                starts = [audit.values for audit in found]
    for p, end in ((2.0, HARMONIC), (inf, SWEEPS)):
        add("", p, end.name, [field.values for field in trial.fields(end.method)])
    return rows


def cells(profile: Profile) -> list[MazeCell]:
    """Return a tiny cell, or one goal of every configuration, of one seed."""
    if profile.name == "quick":
        return grid(["medium"], [3], [0.08], SEEDS[:1], 1)
    return grid(seeds=SEEDS[:1], goals=1)


def as_tables(rows: Records, assumed: str) -> dict[str, Records]:
    """Split the rows of one reading into tables of the family and of the two audits.

    The one seed stands for all of the paper's, and what is solved exactly there is not at hand:
    the stopped fields stand in for it, so that nothing moves.
    """
    solved, ends = rows.where(assumed=assumed), rows.where(assumed="")
    stopped = solved.where(arm=BUDGET_ARM)
    audits = Records.of(row for row in solved if row["arm"] != BUDGET_ARM)
    twins = [row | {"arm": "amle"} for row in ends.where(arm=SWEEPS.name)]
    twins += [row | {"arm": f"p{row['p']:g}"} for row in stopped]
    sure = [row | {"arm": "certified"} for row in stopped]
    parts = {"finite_p": [*ends, *twins], "lbfgs_budget": [*stopped, *sure]}
    parts["solver_audit"] = [*audits, *sure] if len(audits) else []
    return {
        name: Records.of(row | {"seed": seed} for seed in SEEDS for row in some)
        for name, some in parts.items()
    }


def tables(rows: Records) -> Iterator[Table]:
    """Tabulate success by resolution, and how L-BFGS-B ends, under every reading."""

    def at(r: int) -> Callable[[Records], str]:
        return lambda some: f"{some.where(refinement=r).ratio('reached', 'pairs'):.3f}"

    groups = rows.where(arm=BUDGET_ARM).by("assumed", "p").items()
    yield Table.of(
        "starts",
        "Finite p by L-BFGS-B, by start and stop",
        "L-BFGS-B, 700 iterations",
        {f"{assumed}, p = {p:g}": some for (assumed, p), some in groups},
        {f"success, r = {r}": at(r) for r in rows.values("refinement")}
        | {
            "converged, it says": lambda some: (
                f"{some.total('converged')} of {some.total('solves')}"
            ),
            "gradient": lambda some: f"{some.mean('gradient'):.4f}",
            "residual": lambda some: f"{some.mean('fixed_point'):.3f}",
        },
    )


SECTION = Section(
    "solver-readings",
    "Sensitivity: where the finite-p solvers start and stop",
    "One goal of every configuration, by L-BFGS-B with the paper's 700 iterations from "
    "other starts and with another stopping share. The paper says neither.",
    tables=tables,
)
TITLE = "Other readings of the solvers"
EXPERIMENT = maze_experiment(
    "solver_readings", TITLE, 2, run, cells, 250.0, SECTION, read_grid=None
)
