"""The family from p = 2 to ∞, every member certified: success, ordering and bracket width.

The ends are the harmonic extension and the exact AMLE; the AMLE at the paper's budget stands beside
them, since the paper's family ends there. Ordering figures are those of the ordering experiment,
``all_`` and ``eval_`` for its two scopes.
"""

from __future__ import annotations

from dataclasses import asdict
from math import inf

from ..cells import Cell
from ..rollout import EXACT, HARMONIC, SWEEPS, Arm, Trial, power_arm
from ..tasks import Row
from .ordering import scopes_of

POWERS = (4, 8, 16, 32, 64, 128)
FAMILY = (
    (2.0, HARMONIC),
    *((float(p), power_arm(p)) for p in POWERS),
    (inf, SWEEPS),
    (inf, EXACT),
)


def run(cell: Cell) -> list[Row]:
    """One row for every p, two for p = ∞."""
    trial = Trial(cell)
    return [{"p": p} | trial.row(arm) | _ordering(trial, arm) for p, arm in FAMILY]


def _ordering(trial: Trial, arm: Arm) -> Row:
    short = {"all": "all", "eval_rollouts": "eval"}
    return {
        f"{short[name]}_{figure}": value
        for name, scope in scopes_of(trial, arm.method).items()
        for figure, value in asdict(scope).items()
    }
