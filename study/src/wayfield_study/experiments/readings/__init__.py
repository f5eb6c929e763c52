"""Other readings of the paper, and other draws: what an assumption buys, and what luck does."""

from __future__ import annotations

from ...engine import Experiment, Profile, Records, Row
from ...paper.grid import AUDIT_SEEDS, SEEDS
from ...report import Section, Table, power
from .. import iteration_audit
from .._mazes import grid, per_vertex
from .._readings import ADOPTED, READINGS, ReadingCell, audited, under
from .._shown import success
from .._trial import Trial
from .searches import EXPERIMENT as OTHER_SEARCHES
from .solvers import EXPERIMENT as SOLVERS

__all__ = ["ARMS", "ARM_SWEEPS", "OTHER_DRAWS", "OTHER_SEARCHES", "OTHER_SEEDS", "SOLVERS"]

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


def by_reading(rows: Records) -> list[Table]:
    """Tell what a reading does to the walks: success, loops without a label, decisions."""
    lines = []
    for name, some in rows.by("reading").items():
        harmonic, swept = some.where(arm="harmonic"), some.where(arm="sweeps")
        lines.append(
            [
                READINGS[str(name)].title,
                *(f"{success(some, arm):.3f}" for arm in ("harmonic", "sweeps", "nearest")),
                f"{harmonic.ratio('interior', 'pairs'):.2%}",
                f"{swept.ratio('interior', 'pairs'):.2%}",
                f"{harmonic.ratio('mechanism_decisions', 'pairs'):.1f}",
            ]
        )
    heads = ["reading", "harmonic", "AMLE, swept", "nearest label"]
    heads += ["harmonic loops without a label", "AMLE loops without a label", "decisions per walk"]
    return [Table("walks", "Walks by reading", heads, lines)]


def by_budget(rows: Records) -> list[Table]:
    """Tell success and residual after every budget of sweeps, by reading."""
    swept = rows.where(arm="sweeps")
    budgets = swept.values("sweeps")
    lines = []
    for name, some in swept.by("reading").items():
        groups = some.by("sweeps")
        told = [
            f"{success(groups[budget], 'sweeps'):.3f} ({power(groups[budget].mean('residual'))})"
            for budget in budgets
        ]
        lines.append([READINGS[str(name)].title, *told])
    heads = ["reading", *(f"{budget:,} sweeps" for budget in budgets)]
    return [Table("sweeps", "Success and residual by reading", heads, lines)]


OTHER_DRAWS = Experiment(
    "other_draws",
    "Other draws",
    version=1,
    run=audited,
    cells=other_cells,
    effort=per_vertex(1.5),
    sections=(
        Section(
            "other-draws",
            "Other draws",
            "The protocol of the study with other seeds: what its figures are on average, and how "
            "far studies of five seeds lie apart. Verdicts rest on it.",
            tables=by_reading,
        ),
    ),
)
ARMS = Experiment(
    "readings",
    "Other readings",
    version=1,
    run=audited,
    cells=arm_cells,
    effort=per_vertex(1.5),
    sections=(
        Section(
            "other-readings",
            "Sensitivity: other readings of the paper",
            "The paper's cells under assumptions that its text does not make, and under the "
            "reading of version 0.1.0; how many figures each would meet is told further down.",
            tables=by_reading,
        ),
    ),
)
ARM_SWEEPS = Experiment(
    "reading_sweeps",
    "Other readings, by sweeps",
    version=1,
    run=sweeps,
    cells=sweep_cells,
    effort=per_vertex(5.0),
    sections=(
        Section(
            "other-sweeps",
            "Sensitivity: sweeps under other readings",
            "The iteration audit on fewer goals under the same assumptions.",
            tables=by_budget,
        ),
    ),
)
