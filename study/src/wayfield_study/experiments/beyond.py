"""Beyond the paper: the arms of the main experiment on public mazes that it has not seen."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ..engine import Records
from ..paper.grid import AUDIT_SEEDS, SEEDS
from ..paper.measures import on_cells
from ..report import StudyFinding
from .comparison import SUCCESS, across, failing, section, success
from .mazes import cells_by_profile, grid, maze_experiment
from .rollout import rows_of

MAZES = ("umaze", "umaze-eval", "medium-eval", "large-eval", "giant")

cells = cells_by_profile(
    partial(grid, MAZES, [3], [0.05], SEEDS[:1]),
    partial(grid, MAZES, label_fractions=[0.02, 0.05, 0.12], seeds=AUDIT_SEEDS),
    paper=16,
    full=64,
)


@on_cells
def on_other_mazes(rows: Records) -> Iterator[StudyFinding]:
    """Report success on mazes that the paper has not seen."""
    if not {"amle_exit", "harmonic"} <= set(rows.values("arm")):
        return
    lost, starts = failing(rows, "amle_exit", "_all"), rows.where(arm="amle_exit")
    shares = {str(maze): success(some, "harmonic") for maze, some in rows.by("maze").items()}
    worst = min(shares, key=lambda maze: shares[maze])
    yield StudyFinding(
        "new" if lost == 0 else "differs",
        "Does it hold on other mazes?",
        f"On {len(shares)} public maps the paper has not used, harmonic reaches from "
        f"{shares[worst]:.1%} ({worst}) to {max(shares.values()):.1%} of the starts; the exact "
        f"AMLE with exit ties fails from {lost:,} of {starts.total('starts_all'):,}.",
    )


SECTION = section(
    "held-out",
    tables=lambda rows: [across(rows, ["maze"], "by-maze", "Success by maze", SUCCESS)],
    findings=on_other_mazes,
)
EXPERIMENT = maze_experiment(
    "held_out", "Held-out mazes", 2, rows_of, cells, 3.0, SECTION, compares=True
)
