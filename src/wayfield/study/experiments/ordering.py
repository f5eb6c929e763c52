"""How fields rank the neighbours of a state: `audit.ordering`, pooled over a cell's goals.

Two scopes: ``all`` decisions once, and ``eval_rollouts``, those of the arm's own walks from the
sampled starts, as often as they are met. Counts and sums, so that rates of any group of cells are
quotients of sums.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from ...audit import Scope, ordering, pool
from ...kernels._types import FloatArray
from ..cells import Cell
from ..rollout import EXACT, HARMONIC, SWEEPS, Arm, Trial
from ..tasks import Row

ARMS = (HARMONIC, SWEEPS, EXACT)
SCOPES = ("all", "eval_rollouts")


def run(cell: Cell) -> list[Row]:
    """One row for every arm and scope."""
    trial = Trial(cell)
    rows: list[Row] = []
    for arm in ARMS:
        fields = [field.values for field in trial.fields(arm.method)]
        scopes = scopes_of(trial, fields, arm)
        rows += [{"arm": arm.name, "scope": name} | asdict(scopes[name]) for name in SCOPES]
    return rows


def scopes_of(trial: Trial, fields: Iterable[FloatArray], arm: Arm) -> dict[str, Scope]:
    """Audit the fields of all goals, planned on by the arm's rule, and add them up by scope."""
    drawn = trial.drawn
    values = list(fields)
    found = [
        ordering(drawn.graph, values[i], drawn.truths[i], route.goal, route, drawn.starts[i])
        for i, route in enumerate(trial.plans(values, arm))
    ]
    return {
        "all": pool(audit.all for audit in found),
        "eval_rollouts": pool(audit.eval_rollouts for audit in found),
    }
