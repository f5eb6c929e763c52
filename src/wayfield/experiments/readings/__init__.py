"""Other readings of the paper, and other draws: what an assumption buys, and what luck does."""

from __future__ import annotations

from ...paper import AUDIT_SEEDS, SEEDS
from ...study import Experiment, Profile, Row
from .. import iteration_audit
from .._mazes import grid, per_vertex
from .._readings import ADOPTED, READINGS, ReadingCell, audited, under
from .._trial import Trial

OTHER_SEEDS = tuple(range(101, 131))
"""Of the draws beside the paper's five seeds: six studies of five."""


def other_cells(profile: Profile) -> list[ReadingCell]:
    """Take the paper's grid with thirty other seeds, or a corner of it with ten."""
    goals = profile.at_most(full=32)
    if profile.name == "quick":
        return under(ADOPTED, grid(["medium"], [4], [0.02], OTHER_SEEDS[:10], goals))
    return under(ADOPTED, grid(seeds=OTHER_SEEDS, goals=goals))


def arm_cells(profile: Profile) -> list[ReadingCell]:
    """Take the paper's grid under every reading but the adopted one."""
    goals = profile.at_most(full=32)
    if profile.name == "quick":
        cells = grid(["medium"], [4], [0.02], SEEDS[:1], goals)
    else:
        cells = grid(goals=goals)
    return [each for reading in list(READINGS.values())[1:] for each in under(reading, cells)]


def sweeps(cell: ReadingCell) -> list[Row]:
    """Rows of the iteration audit under the cell's reading."""
    reading = READINGS[cell.reading]
    return iteration_audit.audited(Trial(reading.draw(cell)), reading.harmonic, reading.relaxation)


def sweep_cells(profile: Profile) -> list[ReadingCell]:
    """Take the audited cells under every reading but the adopted one, with few goals."""
    goals = profile.at_most(paper=8, full=32)
    if profile.name == "quick":
        cells = grid(["medium"], [4], [0.02], SEEDS[:1], goals)
    else:
        cells = grid(
            refinements=[8, 12], label_fractions=[0.02, 0.08], seeds=AUDIT_SEEDS, goals=goals
        )
    return [each for reading in list(READINGS.values())[1:] for each in under(reading, cells)]


OTHER_DRAWS = Experiment(
    "other_draws",
    "Other draws",
    version=1,
    run=audited,
    cells=other_cells,
    effort=per_vertex(1.5),
)
ARMS = Experiment(
    "readings",
    "Other readings",
    version=1,
    run=audited,
    cells=arm_cells,
    effort=per_vertex(1.5),
)
ARM_SWEEPS = Experiment(
    "reading_sweeps",
    "Other readings, by sweeps",
    version=1,
    run=sweeps,
    cells=sweep_cells,
    effort=per_vertex(5.0),
)
