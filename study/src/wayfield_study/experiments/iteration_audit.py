"""What midrange sweeps cost in success: budgets from none to 5,000, and the exact AMLE.

One pass of sweeps from the harmonic extension, looked at whenever a budget is spent: the same
fields, bit for bit, as one run for each budget.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import inf

import numpy as np

from ..engine import Measure, Records, Row, mean_of, sd_of
from ..engine.proofs import COLUMN
from ..paper.figures import value
from ..paper.grid import (
    AUDIT_SEEDS,
    AUDITED,
    CELL,
    PAPER_RELAXATION,
    PAPER_SWEEPS,
    SEEDS,
    audited_success,
    papers_budget,
)
from ..paper.measures import measured, on_papers_cells
from ..report import Chart, Series, StudyFinding, chart
from .comparison import printed_points, section, shares, success
from .mazes import MazeCell, cells_by_profile, grid, maze_experiment
from .trial import EXACT, HARMONIC, SWEEPS, Swept, Trial

BUDGETS = (50, 100, 200, 500, 1000, 2000, 5000)
STABLE = 0.95
"""Share of the converged success at which an unfinished solve counts as stable."""


def run(cell: MazeCell) -> list[Row]:
    """Return rows for the harmonic start, for every budget and for the exact AMLE."""
    trial = Trial(cell)
    rows: list[Row] = [{"sweeps": 0} | trial.row(HARMONIC)]
    swept = [Swept(field.values) for field in trial.fields(HARMONIC.method)]
    for budget in BUDGETS:
        swept = trial.swept(swept, budget, PAPER_RELAXATION)
        residual = float(np.mean([each.residual for each in swept]))
        quality: Row = {"residual": residual, "width": inf, COLUMN: ""}
        about: Row = {"sweeps": budget, "arm": "sweeps", "ties": "index"}
        rows.append(about | trial.outcomes([each.values for each in swept]) | quality)
    return [*rows, {"sweeps": 0} | trial.row(EXACT)]


WHOLE = partial(grid, refinements=[8, 12], label_fractions=[0.02, 0.08], seeds=AUDIT_SEEDS)
cells = cells_by_profile(partial(grid, ["medium"], [4], [0.02, 0.08], SEEDS[:1]), WHOLE)
"""Two small cells, or the paper's 24."""


@measured(
    "iteration_audit", "iterations", "iteration-gap", "stable", wanted=AUDITED, seeds=AUDIT_SEEDS
)
def measures(rows: Records) -> dict[str, Measure]:
    """Measure the paper's iteration audit."""
    found: dict[str, Measure] = {}
    swept, start = rows.where(arm="sweeps"), shares(rows, "harmonic")
    for budget, chosen in swept.by("sweeps").items():
        place, reached = f"iterations/sweeps{budget}", chosen.share("reached", "pairs")
        residual = chosen.column("residual")
        found |= {
            f"{place}/success": mean_of(reached),
            f"{place}/sd": sd_of(reached),
            f"{place}/loop": mean_of(1 - reached),
            f"{place}/residual": mean_of(residual),
            f"{place}/residual_max": Measure(float(residual.max())),
        }
        if budget in (BUDGETS[0], BUDGETS[-1]):
            found[f"iteration-gap/at_{budget}/value"] = mean_of(reached - start, None, 100)

    means = [success(swept.where(sweeps=budget), "sweeps") for budget in swept.values("sweeps")]
    found["sentences/sweeps_never_hurt/value"] = Measure(float(means == sorted(means)))
    # from the same harmonic start
    found["sentences/lead_widens/value"] = Measure(float(means[-1] > means[0]))
    if BUDGETS[-1] not in swept.values("sweeps"):  # a design stops earlier
        return found
    # the median over cells of the first budget at which success is 95 % of the converged one
    first = []
    for cell in swept.by(*CELL).values():
        budgets, reached = cell.column("sweeps"), cell.share("reached", "pairs")
        enough = reached >= STABLE * reached[budgets == BUDGETS[-1]]
        first.append(budgets[enough].min())
    return found | {"stable/median/value": Measure(float(np.median(first)))}


def charts(rows: Records) -> list[Chart]:
    """Draw success against the number of sweeps, the paper's beside ours."""
    swept = rows.where(arm="sweeps").by("sweeps")
    budgets = sorted(swept)
    last = float(len(budgets) + 1)
    ticks = [(0.0, "0"), *((float(k), f"{b:,}") for k, b in enumerate(budgets, 1)), (last, "exact")]
    start, exact = (rows.where(arm=arm).ratio("reached", "pairs") for arm in ("harmonic", "amle"))
    points = [(place, swept[b].ratio("reached", "pairs")) for place, b in enumerate(budgets, 1)]
    ours = [(0.0, start), *points]
    series = [
        Series("ours, from the harmonic field", SWEEPS.colour, ours, (), SWEEPS.shape),
        Series("ours, exact", EXACT.colour, [(last, exact)], (), EXACT.shape),
    ]
    names = [f"iterations/sweeps{budget}/success" for budget in budgets]
    if theirs := printed_points(rows, names, first=1):
        series.append(Series("paper", "harmonic", theirs, (), "diamond", hollow=True))
    return [chart("Success against sweeps", series, ticks, names=("midrange sweeps", "success"))]


def budget(rows: Records) -> Iterator[StudyFinding]:
    """Compare our budgets with the paper's main table, and with the one it names."""
    ours = {b: success(some, "sweeps") for b, some in rows.where(arm="sweeps").by("sweeps").items()}
    main, named = audited_success(), value(f"iterations/sweeps{PAPER_SWEEPS}/success")
    nearest = min(ours, key=lambda sweeps: abs(ours[sweeps] - main))
    yield StudyFinding(
        "new",
        "How many sweeps did the paper's main table get?",
        f"It names {PAPER_SWEEPS} as the approximate budget. On the audited configurations its "
        f"main grid has {main:.3f}, its audit {named:.3f} after {PAPER_SWEEPS} sweeps; the grid "
        f"fits about {round(papers_budget(), -1):.0f} if interpolated. Ours, relaxed by "
        f"{PAPER_RELAXATION:g}, have {ours[PAPER_SWEEPS]:.3f} after {PAPER_SWEEPS}, and come "
        f"nearest to the main grid after {nearest}, with {ours[nearest]:.3f}. The relaxation is "
        "fitted.",
    )


SECTION = section(
    "iterations",
    about=f"Midrange sweeps, relaxed by {PAPER_RELAXATION:g}, from the harmonic field, looked at "
    "whenever a budget is spent; the same labels and pairs at every budget.",
    charts=charts,
    findings=on_papers_cells([budget], [budget], AUDITED, AUDIT_SEEDS),
)
EXPERIMENT = maze_experiment(
    "iteration_audit", "Midrange sweeps", 4, run, cells, 5.0, SECTION, measures=measures
)
