"""What the study finds about the paper's own claims, in sentences made by rule."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import inf

import numpy as np

from ..study.paper import TABLES, value
from ..study.rollout import PAPER_SWEEPS
from ..study.tables import CELL, Rows
from .finding import Finding, Mark, failing, success
from .words import plural, power

_NEAR = {"harmonic": 0.06, "sweeps": 0.03}
"""Mean absolute difference to the paper's grid that counts as reproduced."""
_ARTEFACT = 0.05
"""Share of the failures that may survive an exact solve of what is called an artefact."""


def artefact(rows: Rows) -> Iterator[Finding]:
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


def reach(rows: Rows) -> Iterator[Finding]:
    """Check the theorem that every start reaches."""
    starts = rows.where(arm="amle_exit").total("starts_all")
    exits, index = failing(rows, "amle_exit", "_all"), failing(rows, "amle", "_all")
    yield Finding(
        "new" if exits == 0 else "differs",
        "With exact labels, the exact AMLE and ties broken towards an exit, every start reaches.",
        f"A theorem, and checked: {exits:,} of {starts:,} starts fail, over all starts of all "
        f"fields. With lowest-index ties it is {index:,}.",
    )


def lifts(rows: Rows) -> Iterator[Finding]:
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


def row_by_row(rows: Rows) -> Iterator[Finding]:
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
        f"Over {plural(len(groups), 'configuration')} the mean absolute difference to the paper is "
        f"{means['harmonic']:.3f} for harmonic and {means['sweeps']:.3f} for AMLE after "
        f"{PAPER_SWEEPS} sweeps. (Within {_NEAR['harmonic']:g} and {_NEAR['sweeps']:g} counts as "
        f"reproduced.) The differences have a sign: ours is higher in {higher[0]} of them for "
        f"harmonic and in {higher[1]} for AMLE.".replace("-", "−"),
    )


def brackets(rows: Rows) -> Iterator[Finding]:
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


def family_end(rows: Rows) -> Iterator[Finding]:
    """Compare p = 16 with the AMLE, both solved."""
    last, end = success(rows, "p16"), success(rows, "amle")
    ahead = value("finite-p/p16/success") - value("finite-p/pinf/success")
    gone = last - end < 0.25 * ahead
    yield Finding(
        "artefact" if gone else "differs",
        f"The paper: p = 16 reaches {value('finite-p/p16/success'):.3f}, AMLE "
        f"{value('finite-p/pinf/success'):.3f}.",
        f"Certified p = 16 reaches {last:.4f} and the exact AMLE {end:.4f} on the same "
        f"{plural(len(rows.cells), 'cell')}: "
        + ("the lead of p = 16 is gone once both are solved." if gone else "the lead stays."),
    )


def monotone(rows: Rows) -> Iterator[Finding]:
    """Count the cells in which success never falls along the family, every member solved."""
    exact = Rows.of(row for row in rows if row["arm"] != "sweeps")
    family = sorted(exact.values("p"))
    falls = {part: _falls(exact, family, *part) for part in (_SAMPLED, _ALL)}
    cells = len(exact.cells)
    rising, always = (cells - sum(map(bool, some)) for some in falls.values())
    at_the_end = sum(some == [inf] for some in falls[_ALL])
    theirs = value("monotone/success_monotone/count")
    mark: Mark = "new" if rising / cells > theirs / 120 else "differs"
    yield Finding(
        mark,
        f"The paper: success never falls with p in {theirs:.0f} of 120 cells only.",
        f"With every member solved it never falls from p = 2 over {len(family) - 2} values of p "
        f"to ∞ in {rising} of {plural(cells, 'cell')} on the sampled pairs, and in {always} over "
        "all starts."
        + (
            f" Of the others {at_the_end} fall at the last step alone, to the AMLE, where "
            "lowest-index ties trap starts."
            if at_the_end
            else ""
        ),
    )


_SAMPLED, _ALL = ("reached", "pairs"), ("reached_all", "starts_all")


def _falls(rows: Rows, family: list[float], part: str, whole: str) -> list[list[float]]:
    """Tell for every cell the p at which success is less than at the p before."""
    found = []
    for cell in rows.by(*CELL).values():
        members = cell.by("p")
        shares = [members[p].ratio(part, whole) for p in family]
        steps = zip(pairwise(shares), family[1:], strict=True)
        found.append([p for (before, after), p in steps if after < before])
    return found


def certified(rows: Rows) -> Iterator[Finding]:
    """Tell success and brackets along the family."""
    finite = Rows.of(row for row in rows if 2 < float(row["p"]) < inf)
    powers = [int(p) for p in finite.values("p")]
    width = float(finite.column("width").max())
    told = ", ".join(f"{success(rows, f'p{p}'):.3f} at p = {p}" for p in powers)
    yield Finding(
        "new" if np.isfinite(width) else "differs",
        "Certified p-Laplacian fields exist for every p.",
        f"Every field for p = {', '.join(map(str, powers))} has a proved bracket, at most "
        f"{power(width)} of the label range wide. Success: {told}.",
    )


def stopped(rows: Rows) -> Iterator[Finding]:
    """Tell how far L-BFGS-B, stopped as in the paper, is from the solution."""
    stopped = rows.where(arm="lbfgs700")
    told = [
        f"{group.total('converged')} of {group.total('solves')} at p = {p:g} "
        f"(worst error {float(group.column('error').max()):.1%} of the label range)"
        for p, group in stopped.by("p").items()
    ]
    yield Finding(
        "new",
        "How far from the solution is L-BFGS-B with the paper's 700 iterations?",
        f"Ours calls itself converged on {', '.join(told)}.",
    )


def budget(rows: Rows) -> Iterator[Finding]:
    """Compare our budgets with the paper's main table, and say what we infer."""
    ours = {b: success(some, "sweeps") for b, some in rows.where(arm="sweeps").by("sweeps").items()}
    grid = _audited_grid()
    nearest = min(ours, key=lambda sweeps: abs(ours[sweeps] - grid))
    theirs = {b: value(f"iterations/sweeps{b}/success") for b in (200, 500)}
    yield Finding(
        "new",
        "How many sweeps did the paper's main table get?",
        f"It names 500 as the approximate budget. The audited configurations stand in its main "
        f"grid with {grid:.3f}; its own audit has {theirs[200]:.3f} after 200 and "
        f"{theirs[500]:.3f} after 500 sweeps, which is about {round(papers_budget(), -1):.0f} if "
        f"interpolated. Of our budgets {nearest} comes nearest, with {ours[nearest]:.3f}; after "
        f"500 ours have {ours[500]:.3f}. Our {PAPER_SWEEPS} sweeps in the main grid are our "
        "reading, not the paper's word.",
    )


def _audited_grid() -> float:
    names = [
        f"grid-{maze}/r{r}/lf{lf}/amle"
        for maze in ("medium", "large")
        for r in (8, 12)
        for lf in ("0.02", "0.08")
    ]
    return float(np.mean([value(name) for name in names]))


def papers_budget() -> float:
    """Sweeps that explain the paper's main grid, by its own iteration audit.

    Success on the audited configurations is interpolated in the logarithm of the sweeps.

    Examples
    --------
    >>> round(papers_budget(), -2)
    300.0
    """
    budgets = [int(row) for (row,) in TABLES["iterations"].rows]
    shares = [value(f"iterations/sweeps{budget}/success") for budget in budgets]
    return float(np.exp(np.interp(_audited_grid(), shares[:5], np.log(budgets[:5]))))
