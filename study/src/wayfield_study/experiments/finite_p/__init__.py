"""The family from p = 2 to ∞, every member certified: success, ordering and bracket width.

The ends are the harmonic extension and the exact AMLE; the AMLE at the paper's budget stands beside
them, since the paper's family ends there. Ordering figures are those of the ordering experiment,
``all_`` and ``eval_`` for its two scopes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite

from ...engine import Experiment, Profile, Records, Row
from ...paper.grid import PAPER_SWEEPS, SEEDS
from ...report import SHAPES, TONES, Chart, Scale, Section, Series, Table, chart, power
from .. import lbfgs_budget
from .._mazes import MazeCell, grid, per_vertex, read_grid
from .._readings import ordering_counts
from .._shown import printed_points
from .._trial import EXACT, HARMONIC, SWEEPS, Trial, power_arm
from .findings import findings
from .measures import measures

__all__ = ["EXPERIMENT", "FAMILY"]

POWERS = (4, 8, 16, 32, 64, 128)
FAMILY = (
    (2.0, HARMONIC),
    *((float(p), power_arm(p)) for p in POWERS),
    (inf, SWEEPS),
    (inf, EXACT),
)


def run(cell: MazeCell) -> list[Row]:
    """One row for every p, two for p = ∞."""
    trial = Trial(cell)
    return [
        {"p": p} | trial.row(arm) | ordering_counts(trial, trial.fields(arm.method))
        for p, arm in FAMILY
    ]


def cells(profile: Profile) -> list[MazeCell]:
    """Two small cells, or the paper's whole grid, with the goals that L-BFGS-B is run on."""
    if profile.name == "quick":
        return grid(["medium"], [4], [0.02, 0.08], SEEDS[:1], profile.at_most())
    return lbfgs_budget.cells(profile)


def charts(rows: Records) -> list[Chart]:
    """Draw success along the p-family by resolution, and the ordering along it."""
    powers = sorted({float(p) for p in rows.values("p")})
    ticks = [(float(k), "∞" if p == inf else f"{p:g}") for k, p in enumerate(powers)]
    exact = Records.of(row for row in rows if row["arm"] != "sweeps")
    series, printed = [], []
    for (r, chosen), tone, shape in zip(
        exact.by("refinement").items(), TONES, SHAPES, strict=False
    ):
        groups = chosen.by("p")
        points = [(float(k), groups[p].ratio("reached", "pairs")) for k, p in enumerate(powers)]
        series.append(Series(f"r = {r}, certified", tone, points, (), shape))
        theirs = printed_points(rows, [f"finite-p-by-r/r{r}/p{p:g}" for p in powers])
        if theirs:
            printed.append(Series(f"r = {r}, paper", tone, theirs, (), shape, hollow=True))
    names = ("p", "success")
    charts = [chart("Success against p", [*series, *printed], ticks, names=names)]
    return [*charts, _low_tau(exact, powers, ticks)]


def _low_tau(rows: Records, powers: Sequence[float], ticks: list[tuple[float, str]]) -> Chart:
    """Draw the share of poorly ranked decisions along the family, in both scopes."""
    groups = rows.by("p")
    series = [
        Series(
            title,
            tone,
            [
                (float(k), groups[p].ratio(f"{scope}_low_tau", f"{scope}_ranked"))
                for k, p in enumerate(powers)
            ],
            (),
            shape,
        )
        for scope, title, tone, shape in (
            ("all", "all decisions", "line-a", "circle"),
            ("eval", "decisions of the rollouts", "line-b", "square"),
        )
    ]
    printed = printed_points(rows, [f"p-family/p{p:g}/low_tau" for p in powers])
    if printed:
        title = "paper, mean of the two"
        series.append(Series(title, "line-c", printed, (), "diamond", hollow=True))
    highest = max((y for each in series for _, y in each.points if isfinite(y)), default=1.0)
    names = ("p", "share with τ < 0.5")
    return chart(
        "Poorly ranked decisions against p", series, ticks, Scale(0, 1.1 * highest or 1.0), names
    )


def tables(rows: Records) -> list[Table]:
    """Tell success and the widest bracket along the whole family."""
    ends = {"sweeps": f"∞, {PAPER_SWEEPS} sweeps", "amle": "∞, exact"}
    lines = []
    for (p, arm), chosen in rows.by("p", "arm").items():
        width = float(chosen.column("width").max())
        lines.append(
            [
                ends.get(str(arm), f"{p:g}"),
                f"{chosen.share('reached', 'pairs').mean():.4f}",
                f"{chosen.share('reached_all', 'starts_all').mean():.5f}",
                "none" if width == inf else power(width),
            ]
        )
    heads = ["p", "success, sampled pairs", "success, all starts", "widest bracket"]
    note = (
        "Success is the mean over cells. Widths are relative to the range of the labels, the "
        "widest over all cells and goals."
    )
    return [Table("family", "The p-family, certified", heads, lines, note)]


EXPERIMENT = Experiment(
    "finite_p",
    "The family from p = 2 to ∞",
    version=2,
    run=run,
    cells=cells,
    effort=per_vertex(18.0),
    read_grid=read_grid,
    measures=measures,
    sections=(
        Section(
            "finite-p",
            "From p = 2 to ∞",
            "Success along the p-family. “Ours” is L-BFGS-B stopped after 700 iterations as in the "
            "paper, where that was run; “exact” is the certified p-Laplacian on the same goals. "
            "The chart shows certified fields.",
            compared={
                "finite-p": (),
                "finite-p-by-r": ("p4", "p8", "p16"),
                "p-family": ("low_tau", "best_agree", "mean_gap", "mean_tau"),
                "monotone": (),
            },
            charts=charts,
            tables=tables,
            findings=findings,
            notes=(
                "The paper's ordering along the family is the mean of the two scopes of the "
                "ordering audit; so is ours. In that table and in the counts of monotone cells, "
                "p = 4, 8 and 16 are L-BFGS-B's fields, with the certified ones beside them, and ∞ "
                "the stopped sweeps, with the exact AMLE beside them; all on the same goals, fewer "
                "than in the main rollouts.",
            ),
        ),
    ),
)
