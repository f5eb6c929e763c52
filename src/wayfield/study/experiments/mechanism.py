"""Where the harmonic ranking goes wrong and whether the AMLE puts it right: `audit.mechanism`.

The decisions are those of the harmonic walks from the sampled starts. One row for the AMLE at the
paper's budget and one for the exact AMLE, pooled over the cell's goals.
"""

from __future__ import annotations

from dataclasses import asdict

from ...audit import mechanism, pool
from ..cells import Cell
from ..rollout import EXACT, HARMONIC, SWEEPS, Arm, Trial
from ..tasks import Row


def run(cell: Cell) -> list[Row]:
    """One row for each way to compute the AMLE."""
    trial = Trial(cell)
    return [_row(trial, arm) for arm in (SWEEPS, EXACT)]


def _row(trial: Trial, arm: Arm) -> Row:
    drawn = trial.drawn
    fields = trial.fields(HARMONIC.method), trial.fields(arm.method)
    counts = pool(
        mechanism(drawn.graph, harmonic, amle, truth, int(goal), starts)
        for harmonic, amle, truth, goal, starts in zip(
            *fields, drawn.truths, drawn.goals, drawn.starts, strict=True
        )
    )
    return {"arm": arm.name} | asdict(counts)
