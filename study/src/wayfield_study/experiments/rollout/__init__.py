"""The main experiment: who reaches the goal on which field.

Harmonic, the AMLE at the paper's budget and exactly, with index and with exit ties, the nearest
label, and the true cost-to-go. One row per arm: see `Trial`.
"""

from __future__ import annotations

from ...engine import Experiment, Records, Row
from ...paper.grid import PAPER_RELAXATION, PAPER_SWEEPS
from ...report import Chart, Section, Table, against
from .._mazes import MazeCell, per_vertex, read_grid
from .._shown import printed_series
from .._trial import ARMS, EXACT, HARMONIC, ORACLE, SWEEPS, Trial
from ..ordering import cells
from .findings import findings
from .measures import measures

__all__ = ["EXPERIMENT", "run"]

MAIN = (HARMONIC, SWEEPS, EXACT)
TITLES = {look.name: look.title for look in (*ARMS, ORACLE)}


def run(cell: MazeCell) -> list[Row]:
    """All arms of the paper, exact ones beside them, and the references."""
    trial = Trial(cell)
    return [*(trial.row(arm) for arm in ARMS), trial.oracle_row()]


def charts(rows: Records) -> list[Chart]:
    """Success against resolution and against labels."""
    by_r, by_lf = (printed_series(rows, column) for column in ("refinement", "label_fraction"))
    return [
        against(rows, "refinement", MAIN, "Success against resolution", lambda r: f"r = {r}", by_r),
        against(
            rows, "label_fraction", MAIN, "Success against labels", lambda lf: f"lf = {lf:g}", by_lf
        ),
    ]


def tables(rows: Records) -> list[Table]:
    """All arms over all cells: success, failures over all starts, cost of the walks that reach."""
    lines = []
    for arm, chosen in rows.by("arm").items():
        failing = chosen.total("starts_all") - chosen.total("reached_all")
        cost = chosen.column("cost_all").sum() / max(chosen.column("least_cost_all").sum(), 1e-300)
        lines.append(
            [
                TITLES[str(arm)],
                f"{chosen.share('reached', 'pairs').mean():.4f}",
                f"{chosen.share('reached_all', 'starts_all').mean():.5f}",
                f"{failing:,}",
                f"{cost:.3f}",
            ]
        )
    heads = [
        "method",
        "success, sampled pairs",
        "success, all starts",
        "failing starts",
        "cost of walks that reach",
    ]
    note = (
        "“All starts” takes every start of every field instead of the sampled ones. Success is the "
        "mean over cells, failing starts are counted. Cost is the sum over the walks that reach, "
        "divided by the least possible."
    )
    return [Table("arms", "All methods, all cells at hand", heads, lines, note)]


EXPERIMENT = Experiment(
    "rollout",
    "Main rollouts",
    version=2,
    run=run,
    cells=cells,
    effort=per_vertex(1.0),
    read_grid=read_grid,
    measures=measures,
    sections=(
        Section(
            "rollouts",
            "Main rollouts",
            f"Harmonic values, the AMLE stopped after {PAPER_SWEEPS} midrange sweeps, relaxed by "
            f"{PAPER_RELAXATION:g} (our reading), and the exact AMLE, planned on by argmin Q with "
            "lowest-index ties. Figures marked “exact” are those of the exact AMLE.",
            compared={
                "main": ("success", "sd", "low", "high"),
                "lift": (),
                "wilson": (),
                "by-r": (),
                "by-lf": (),
                "grid-medium": ("harmonic", "amle", "lift"),
                "grid-large": ("harmonic", "amle", "lift"),
                "setup": (),
            },
            charts=charts,
            tables=tables,
            findings=findings,
            notes=(
                "The run bootstrap resamples whole cells; Wilson's interval takes all rollouts as "
                "independent, which pairs that share labels and goals are not.",
            ),
        ),
        Section(
            "failures",
            "How plans fail",
            "Every failing walk ends in a loop. The loop either passes through a label or does "
            "not; a field that solves its equation exactly has no strict minimum away from the "
            "labels, so the second kind needs a plateau. Strict minima are counted at any vertex "
            "but the goal, labels included, in the field of each cell's first goal.",
            compared={"failures": ("total", "interior", "boundary", "strict_minima")},
        ),
        Section(
            "baselines",
            "Reference baselines",
            "The value of the nearest label, and the true cost-to-go, planned on by the same rule.",
            compared={
                "baselines": (),
                "baselines-by-r": ("amle", "nearest", "oracle"),
                "baseline-gaps": (),
            },
        ),
    ),
)
