"""What the main rollouts say about the paper's claims, in sentences made by rule."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wayfield._text import number_of

from ...engine import Records
from ...paper.figures import value
from ...paper.grid import PAPER_SWEEPS, on_papers_cells
from ...report import Finding, power
from .._shown import failing, success

_NEAR = {"harmonic": 0.06, "sweeps": 0.03}
"""Mean absolute difference to the paper's grid that counts as reproduced."""
_ARTEFACT = 0.05
"""Share of the failures that may survive an exact solve of what is called an artefact."""


def artefact(rows: Records) -> Iterator[Finding]:
    """Tell how many failures an exact solve removes."""
    pairs = rows.where(arm="amle").total("pairs")
    budget, exact = failing(rows, "sweeps"), failing(rows, "amle")
    gone = budget > 0 and exact <= _ARTEFACT * budget
    verdict = " The failures are unfinished sweeps, not the AMLE's." if gone else ""
    yield Finding(
        "artefact" if gone else "differs",
        f"The paper: AMLE leaves {value('main/amle/loop'):.1f} % of the starts in loops.",
        f"After {PAPER_SWEEPS} sweeps {budget:,} of {pairs:,} pairs fail here "
        f"({budget / pairs:.1%}); on the same labels solved exactly, with the same planner and "
        f"ties, {exact:,}.{verdict}",
    )


def reach(rows: Records) -> Iterator[Finding]:
    """Check the theorem that every start reaches."""
    starts = rows.where(arm="amle_exit").total("starts_all")
    exits, index = failing(rows, "amle_exit", "_all"), failing(rows, "amle", "_all")
    yield Finding(
        "new" if exits == 0 else "differs",
        "With exact labels, the exact AMLE and ties broken towards an exit, every start reaches.",
        f"A theorem, and checked: {exits:,} of {starts:,} starts fail, over all starts of all "
        f"fields. With lowest-index ties it is {index:,}.",
    )


def lifts(rows: Records) -> Iterator[Finding]:
    """Tell where AMLE lifts success over harmonic, and by how much."""
    configurations = rows.by("maze", "refinement", "label_fraction").values()
    lifts = [success(each, "sweeps") - success(each, "harmonic") for each in configurations]
    by_r = {
        r: 100 * (success(each, "amle") - success(each, "harmonic"))
        for r, each in sorted(rows.by("refinement").items())
    }
    positive = sum(lift > 0 for lift in lifts)
    grows = bool((np.diff(list(by_r.values())) > 0).all())
    told = ", ".join(f"{lift:+.1f} points at r = {r}" for r, lift in by_r.items())
    yield Finding(
        "reproduced" if positive == len(lifts) and grows else "differs",
        "The paper: AMLE lifts success over harmonic everywhere, the more the finer the graph.",
        f"After {PAPER_SWEEPS} sweeps the lift is positive in {positive} of {len(lifts)} "
        f"configurations. Solved exactly it is {told}"
        + (", growing with r." if grows and len(by_r) > 1 else "."),
    )


def row_by_row(rows: Records) -> Iterator[Finding]:
    """Compare the paper's large tables with ours."""
    groups = rows.by("maze", "refinement", "label_fraction")
    apart = {
        arm: np.array(
            [
                success(some, arm) - value(f"grid-{maze}/r{r}/lf{lf:.2f}/{method}")
                for (maze, r, lf), some in groups.items()
            ]
        )
        for arm, method in (("harmonic", "harmonic"), ("sweeps", "amle"))
    }
    means = {arm: float(np.abs(some).mean()) for arm, some in apart.items()}
    near = means["harmonic"] <= _NEAR["harmonic"] and means["sweeps"] <= _NEAR["sweeps"]
    higher = [f"{int((some > 0).sum())} ({some.mean():+.3f})" for some in apart.values()]
    yield Finding(
        "reproduced" if near else "differs",
        "The paper's two large tables, row by row.",
        f"Over {number_of(len(groups), 'configurations')} the mean absolute difference to the paper is "
        f"{means['harmonic']:.3f} for harmonic and {means['sweeps']:.3f} for AMLE after "
        f"{PAPER_SWEEPS} sweeps. (Within {_NEAR['harmonic']:g} and {_NEAR['sweeps']:g} counts as "
        f"reproduced.) The differences have a sign: ours is higher in {higher[0]} of them for "
        f"harmonic and in {higher[1]} for AMLE.".replace("-", "−"),
    )


def brackets(rows: Records) -> Iterator[Finding]:
    """Tell the widest proved bracket."""
    amle, harmonic = (
        float(rows.where(arm=arm).column("width").max()) for arm in ("amle", "harmonic")
    )
    yield Finding(
        "new",
        "How far can the fields themselves be trusted?",
        "Every exact field comes with a proved bracket. The widest, over all cells and goals, is "
        f"{power(amle)} of the label range for AMLE and {power(harmonic)} for harmonic.",
    )


findings = on_papers_cells([artefact, reach, lifts, row_by_row, brackets], [row_by_row])
