"""The finite-p solvers of the paper beside the certified one: what they claim, and the truth.

One row for every p and solver, over the goals of the cell: how many solves call themselves
converged, the largest residuals, and the largest error against the certified field, relative to
the range of the labels. `run_budget` is the paper's finite-p sweep: L-BFGS-B, 700 iterations.

L-BFGS-B also stops when a step lowers the energy by less than a share of 1e-12, in the sweep of
1e-10. The paper does not say where its own gave up; with these shares it stops about as often,
and with about the gradients and residuals that the paper prints.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np

from ...extension import Extension, PLaplacian, Status
from ...graph import Graph
from ...labels import Labels
from ..cells import Cell
from ..rollout import Trial
from ..solvers import Audit, Energy, lbfgs, newton_cg, relaxed_picard
from ..tasks import Row

POWERS = (4, 8, 16)
Solver: TypeAlias = Callable[[Graph, Labels, float], Audit]
AUDITED: dict[str, Solver] = {
    "lbfgs": partial(lbfgs, stall=1e-12, memory=10),
    "picard": relaxed_picard,
    "newton": newton_cg,
}
SWEEP: dict[str, Solver] = {"lbfgs700": partial(lbfgs, cap=700, stall=1e-10, memory=10)}


def run(cell: Cell) -> list[Row]:
    """Audit the three solvers with the caps of the paper's audit, and the certified one."""
    return _rows(cell, AUDITED)


def run_budget(cell: Cell) -> list[Row]:
    """Audit L-BFGS-B with the cap of the paper's finite-p sweep, and the certified solver."""
    return _rows(cell, SWEEP)


def _rows(cell: Cell, solvers: dict[str, Solver]) -> list[Row]:
    trial = Trial(cell)
    graph, labels = trial.drawn.graph, trial.drawn.labels
    rows: list[Row] = []
    for p in map(float, POWERS):
        exact = trial.fields(PLaplacian(p))
        audits = {
            name: [solver(graph, known, p) for known in labels] for name, solver in solvers.items()
        }
        audits["certified"] = [
            _certified(graph, known, p, field) for known, field in zip(labels, exact, strict=True)
        ]
        for name, found in audits.items():
            about: Row = {"p": p, "arm": name}
            rows.append(about | _row(trial, found, exact))
    return rows


def _certified(graph: Graph, labels: Labels, p: float, field: Extension) -> Audit:
    """Measure the certified field as the others are."""
    converged = field.status is Status.CONVERGED
    return Energy(graph, labels, p).audit(np.array(field.values), converged, field.iterations)


def _row(trial: Trial, found: list[Audit], exact: list[Extension]) -> Row:
    errors = [
        np.abs(audit.values - field.values).max() / span
        for audit, field, span in zip(found, exact, trial.spans, strict=True)
    ]
    return trial.outcomes([audit.values for audit in found]) | {
        "solves": len(found),
        "converged": sum(audit.converged for audit in found),
        "iterations": max(audit.iterations for audit in found),
        "gradient": max(audit.gradient for audit in found),
        "fixed_point": max(audit.fixed_point for audit in found),
        "update": max(audit.update for audit in found),
        "gap": max(audit.gap for audit in found),
        "error": float(max(errors)),
        "width": max(field.details["width"] for field in exact),
    }
