"""The main experiment, and the same arms on mazes and resolutions the paper has not seen.

Harmonic, the AMLE at the paper's budget and exactly, with index and with exit ties, the nearest
label, and the true cost-to-go. One row per arm: see `study.rollout.Trial`.
"""

from __future__ import annotations

from ..cells import Cell
from ..rollout import ARMS, EXACT, EXACT_EXIT, HARMONIC, Trial
from ..tasks import Row


def run(cell: Cell) -> list[Row]:
    """All arms of the paper, exact ones beside them, and the references."""
    trial = Trial(cell)
    return [*(trial.row(arm) for arm in ARMS), trial.oracle_row()]


def run_ends(cell: Cell) -> list[Row]:
    """Harmonic and exact AMLE alone, for graphs on which sweeps would only be slow."""
    trial = Trial(cell)
    return [trial.row(arm) for arm in (HARMONIC, EXACT, EXACT_EXIT)]
