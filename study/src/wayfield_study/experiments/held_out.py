"""Mazes the paper has not seen: the arms of the main experiment on other public maps."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ..engine import Records
from ..paper.grid import AUDIT_SEEDS, SEEDS
from ..paper.measures import on_cells
from ..report import Finding, Section
from ._mazes import cells_by_profile, grid, maze_experiment
from ._shared import failing, success, table_by
from ._trial import ARMS, ORACLE
from .rollout import run

MAZES = ("umaze", "umaze-eval", "medium-eval", "large-eval", "giant")


cells = cells_by_profile(
    partial(grid, MAZES, [3], [0.05], SEEDS[:1]),
    partial(grid, mazes=MAZES, label_fractions=[0.02, 0.05, 0.12], seeds=AUDIT_SEEDS),
    paper=16,
    full=64,
)


@on_cells
def findings(rows: Records) -> Iterator[Finding]:
    """Report success on mazes that the paper has not seen."""
    lost = failing(rows, "amle_exit", "_all")
    shares = {str(maze): success(some, "harmonic") for maze, some in rows.by("maze").items()}
    worst = min(shares, key=lambda maze: shares[maze])
    yield Finding(
        "new" if lost == 0 else "differs",
        "Does it hold on other mazes?",
        f"On {len(shares)} public maps the paper has not used, harmonic reaches from "
        f"{shares[worst]:.1%} ({worst}) to {max(shares.values()):.1%} of the starts; the exact "
        f"AMLE with exit ties fails from {lost:,} of "
        f"{rows.where(arm='amle_exit').total('starts_all'):,}.",
    )


SECTION = Section(
    "held-out",
    "Beyond the paper: mazes it has not seen",
    "The same arms on other public maps.",
    tables=lambda rows: [table_by(rows, "maze", "maze", (*ARMS, ORACLE), "Success by maze")],
    findings=findings,
)
EXPERIMENT = maze_experiment("held_out", "Held-out mazes", 1, run, cells, 1.5, SECTION)
