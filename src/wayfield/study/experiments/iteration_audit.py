"""What midrange sweeps cost in success: budgets from none to 5,000, and the exact AMLE.

One pass of sweeps from the harmonic extension, looked at whenever a budget is spent: the same
fields, bit for bit, as one run for each budget.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import inf

from ...kernels._types import FloatArray
from ...kernels.midrange import jacobi
from ..cells import Cell
from ..rollout import EXACT, HARMONIC, Trial
from ..tasks import Row

BUDGETS = (50, 100, 200, 500, 1000, 2000, 5000)


def run(cell: Cell) -> list[Row]:
    """One row for the harmonic start, for every budget and for the exact AMLE (arm, sweeps)."""
    trial = Trial(cell)
    start, exact = trial.row(HARMONIC), trial.row(EXACT)
    rows: list[Row] = [{"sweeps": 0} | start]
    for sweeps, fields, residual in _checkpoints(trial, BUDGETS):
        about: Row = {"sweeps": sweeps, "arm": "sweeps"}
        quality: Row = {"residual": residual, "width": inf}
        rows.append(about | trial.outcomes(fields) | quality)
    return [*rows, {"sweeps": 0} | exact]


def _checkpoints(
    trial: Trial, budgets: Sequence[int]
) -> Iterator[tuple[int, list[FloatArray], float]]:
    """Fields of all goals after each budget, and the largest residual among them."""
    graph = trial.drawn.graph
    fixed = [labels.mask(graph) for labels in trial.drawn.labels]
    fields = [field.values for field in trial.fields(HARMONIC.method)]
    for spent, budget in pairwise((0, *budgets)):
        stages = [
            jacobi(graph.arcs, held, graph.is_unit, values, budget - spent)
            for held, values in zip(fixed, fields, strict=True)
        ]
        fields = [values for values, _ in stages]
        yield budget, fields, max(residual for _, residual in stages)
