"""The paper's finite-p sweep: L-BFGS-B stopped after 700 iterations, beside the certified solver.

It also stops when a step lowers the energy by less than a share of 1e-10: our reading, with which
it stops about as often as the paper's, and with about its gradients and residuals.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ..engine import Measure, Profile, Records, Row, mean_of
from ..paper.grid import SEEDS
from ..paper.measures import measured, on_papers_cells
from ..report import Finding, Section
from ._mazes import MazeCell, grid, maze_experiment
from ._trial import Trial
from .solver_audit import POWERS, audited, converged_cells, lbfgs

ARM = "lbfgs700"
SOLVER = partial(lbfgs, cap=700, stall=1e-10, memory=10)
FEW_GOALS = {4: 8, 8: 4, 12: 2}
"""Goals per cell in the paper's profile, by resolution."""


def run(cell: MazeCell) -> list[Row]:
    """Audit L-BFGS-B with the cap of the paper's sweep, and the certified solver.

    With the counts of the ordering audit, ``all_`` and ``eval_``.
    """
    trial = Trial(cell)
    return [
        row | trial.ordering_counts([audit.values for audit in found])
        for row, found in audited(trial, {ARM: SOLVER})
    ]


def cells(profile: Profile) -> list[MazeCell]:
    """Two tiny cells, or the paper's whole grid with few goals: the solver is slow."""
    if profile.name == "quick":
        return grid(["medium"], [3], [0.02, 0.08], SEEDS[:1], profile.at_most(quick=1))
    return [
        cell
        for r, goals in FEW_GOALS.items()
        for cell in grid(refinements=[r], goals=profile.at_most(paper=goals, full=32))
    ]


@measured("lbfgs_budget", "lbfgs")
def measures(rows: Records) -> dict[str, Measure]:
    """Measure the paper's table of how L-BFGS-B ended; its success is in those of the family."""
    found: dict[str, Measure] = {}
    for p in POWERS:
        stopped = rows.where(p=p, arm=ARM)
        residuals = stopped.column("fixed_point")
        found |= {
            f"lbfgs/p{p:g}/converged": Measure(converged_cells(stopped)),
            f"lbfgs/p{p:g}/gradient": mean_of(stopped.column("gradient")),
            f"lbfgs/p{p:g}/residual": mean_of(residuals),
            f"lbfgs/p{p:g}/residual_max": Measure(float(residuals.max())),
        }
    return found


def stopped(rows: Records) -> Iterator[Finding]:
    """Report how far L-BFGS-B, stopped as in the paper, is from the solution."""
    told = [
        f"{group.total('converged')} of {group.total('solves')} at p = {p:g} "
        f"(worst error {float(group.column('error').max()):.1%} of the label range)"
        for p, group in rows.where(arm=ARM).by("p").items()
    ]
    yield Finding(
        "new",
        "How far from the solution is L-BFGS-B with the paper's 700 iterations?",
        f"Ours calls itself converged on {', '.join(told)}.",
    )


SECTION = Section(
    "lbfgs-budget",
    "Finite p by L-BFGS-B, stopped after 700 iterations",
    "The solver of the paper's finite-p sweep on all of its cells: how often it calls "
    "itself converged, and how large the gradient and the residual are where it stops.",
    compared={"lbfgs": ()},
    findings=on_papers_cells([stopped]),
)
EXPERIMENT = maze_experiment(
    "lbfgs_budget", "L-BFGS-B, 700 steps", 2, run, cells, 50.0, SECTION, measures=measures
)
