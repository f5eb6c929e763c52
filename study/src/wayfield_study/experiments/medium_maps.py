"""Which map is the paper's medium? Rollouts on three candidates.

The paper gives medium 18 × 24 vertices at r = 4. No public map has that size, but large has it at
half the resolution. Candidates: D4RL's medium, which the study uses, its variant for evaluation,
and large with r/2 vertices along the side of a cell. `paper.likelihood` ranks them by Table 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ..engine import NO_ROWS, Experiment, Profile, Records, Tables
from ..paper.figures import FIGURES
from ..paper.grid import DESIGN_SEEDS
from ..paper.measures import as_papers_seeds, measured_values
from ..report import Section
from .mazes import MazeCell, cells_by_profile, grid, maze_experiment
from .readings import as_tables, run_adopted
from .shared import table_by
from .trial import HARMONIC, SWEEPS

MAPS = {"medium": 1, "medium-eval": 1, "large": 2}
"""Maps, and by what r is divided there."""
TITLES = {
    "medium": "D4RL's medium",
    "medium-eval": "medium for evaluation",
    "large": "large at half the resolution",
}
MARKED = {TITLES["medium"]: "adopted"}
_whole = cells_by_profile(
    partial(grid, ["medium"], [4], [0.02], DESIGN_SEEDS[:1]),
    partial(grid, ["medium"], seeds=DESIGN_SEEDS),
    paper=8,
    full=32,
)


def cells(profile: Profile) -> list[MazeCell]:
    """Return the paper's cells of medium on every candidate."""
    return [
        MazeCell(maze, cell.refinement // part, cell.label_fraction, cell.seed, cell.goals)
        for maze, part in MAPS.items()
        for cell in _whole(profile)
    ]


def under_maps(
    experiments: Sequence[Experiment[Any]], tables: Tables
) -> dict[str, dict[str, float]]:
    """Return what every candidate gives for the figures of Table 4."""
    found, rows = {}, tables.get("medium_maps", NO_ROWS)
    if set(rows.values("seed")) != set(DESIGN_SEEDS):
        return {}
    for maze, part in MAPS.items():
        stand_in = Records.of(
            row | {"maze": "medium", "refinement": part * row["refinement"]}
            for row in as_papers_seeds(rows.where(maze=maze), DESIGN_SEEDS)
        )
        given = measured_values(experiments, as_tables(stand_in)).items()
        found[TITLES[maze]] = {
            name: figure for name, figure in given if FIGURES[name].table == "grid-medium"
        }
    return found if all(found.values()) else {}


SECTION = Section(
    "medium-maps",
    "Which map is medium?",
    f"Rollouts on three candidates, {len(DESIGN_SEEDS)} seeds of 8 goals; on large the resolution "
    "is half of the paper's.",
    tables=lambda rows: [
        table_by(rows, "maze", "map", (HARMONIC, SWEEPS), "Success by map, all cells")
    ],
)
EXPERIMENT = maze_experiment(
    "medium_maps", "Candidates for medium", 1, run_adopted, cells, 1.5, SECTION, read_grid=None
)
