"""How fields rank the neighbours of a state: `audit.ordering`, pooled over a cell's goals.

Two scopes: ``all`` decisions once, and ``eval_rollouts``, those of the arm's own walks from the
sampled starts, as often as they are met. Counts and sums, so that rates of any group of cells are
quotients of sums.
"""

from __future__ import annotations

from dataclasses import asdict

from ...audit import Scope, ordering, pool
from ...extension import Method
from ..cells import Cell
from ..rollout import EXACT, HARMONIC, SWEEPS, Trial
from ..tasks import Row

ARMS = (HARMONIC, SWEEPS, EXACT)
SCOPES = ("all", "eval_rollouts")


def run(cell: Cell) -> list[Row]:
    """One row for every arm and scope."""
    trial = Trial(cell)
    rows: list[Row] = []
    for arm in ARMS:
        scopes = scopes_of(trial, arm.method)
        rows += [{"arm": arm.name, "scope": name} | asdict(scopes[name]) for name in SCOPES]
    return rows


def scopes_of(trial: Trial, method: Method) -> dict[str, Scope]:
    """Audit a method's fields for all goals, planned on as the paper does, and add them up."""
    drawn = trial.drawn
    found = [
        ordering(drawn.graph, field, truth, int(goal), starts=starts)
        for field, truth, goal, starts in zip(
            trial.fields(method), drawn.truths, drawn.goals, drawn.starts, strict=True
        )
    ]
    return {
        "all": pool(audit.all for audit in found),
        "eval_rollouts": pool(audit.eval_rollouts for audit in found),
    }
