"""What the study finds beyond the paper, in sentences made by rule."""

from __future__ import annotations

from collections.abc import Iterator

from ..study.fits import FITS
from ..study.tables import Rows
from .finding import Finding, failing, success


def papers_witnesses(_: Rows) -> Iterator[Finding]:
    """Solve the paper's witnesses, on graphs that fit them."""
    kept, harmonic = [], []
    for number, fit in FITS.items():
        exact = fit.witnesses["exact"]
        if fit.success(exact.amle_plan) < fit.success(exact.harmonic_plan):
            kept.append(number)
        if fit.success(fit.swept_harmonic) < fit.success(exact.harmonic_plan):
            harmonic.append(number)
    exits = sum(fit.success(fit.witnesses["exit"].amle_plan) < 1.0 for fit in FITS.values())
    yield Finding(
        "artefact" if 2 * len(kept) < len(FITS) else "differs",
        f"The paper: {len(FITS)} graphs on which AMLE does worse than harmonic.",
        "It does not print them. On the graphs we found, the first of the 4 × 4 lattice that fit "
        "all numbers of a line, solved exactly with lowest-index ties, "
        f"{len(FITS) - len(kept)} of {len(FITS)} are witnesses no more, and with "
        f"exit ties the AMLE fails on {exits}. Harmonic below 1 (numbers "
        f"{' and '.join(map(str, harmonic))}) is an unfinished solve too.",
    )


def witnesses(rows: Rows) -> Iterator[Finding]:
    """Tell what becomes of our own witnesses once the AMLE is solved."""
    totals = rows.where(table="search", item="all").by("quantity")
    if "tested" not in totals:
        return
    tested, swept, exact, exits = (
        int(totals[name].column("value").sum())
        for name in ("tested", "witnesses_swept", "witnesses_exact", "witnesses_exit")
    )
    yield Finding(
        "new",
        "How often does harmonic beat the AMLE on random small graphs?",
        f"Of {tested:,} random lattice graphs, on {swept} after sweeps with an update tolerance of "
        f"10⁻⁸, on {exact} with the exact AMLE and lowest-index ties, and on {exits} with exit ties"
        + (": what loses is the tie rule, not the field." if not exits else "."),
    )


def sparse(rows: Rows) -> Iterator[Finding]:
    """Tell success with the fewest labels."""
    fewest = rows.where(count=min(rows.values("count")))
    lost = failing(rows, "amle_exit", "_all")
    yield Finding(
        "new" if lost == 0 else "differs",
        "How few labels are enough?",
        f"With {min(rows.values('count'))} labels and the goal's, harmonic reaches from "
        f"{success(fewest, 'harmonic'):.1%} of the starts and the exact AMLE from "
        f"{success(fewest, 'amle'):.1%}; with exit ties {lost:,} of "
        f"{rows.where(arm='amle_exit').total('starts_all'):,} starts fail, whatever the number of "
        "labels.",
    )


def noise(rows: Rows) -> Iterator[Finding]:
    """Tell success under the most noise."""
    worst = max(rows.values("sigma"))
    noisy = rows.where(sigma=worst)
    lost = failing(rows, "amle_trimmed", "_all")
    yield Finding(
        "new" if lost == 0 else "differs",
        "What is left when the labels are noisy?",
        f"At σ = {worst:g} steps, plain argmin-Q planning reaches from "
        f"{success(noisy, 'harmonic'):.1%} of the starts on harmonic and "
        f"{success(noisy, 'amle'):.1%} on AMLE values. With false sinks dropped and steepest "
        f"descent, {lost:,} of {rows.where(arm='amle_trimmed').total('starts_all'):,} starts "
        "fail, over all σ.",
    )


def resolution(rows: Rows) -> Iterator[Finding]:
    """Tell success on the finest graph."""
    finest = max(rows.values("refinement"))
    chosen = rows.where(refinement=finest)
    yield Finding(
        "new",
        "Does it last on finer graphs?",
        f"At r = {finest} harmonic reaches from {success(chosen, 'harmonic'):.1%} of the starts, "
        f"the exact AMLE from {success(chosen, 'amle'):.2%}, with exit ties from "
        f"{success(chosen, 'amle_exit'):.2%}.",
    )


def rules(rows: Rows) -> Iterator[Finding]:
    """Compare the greedy rules on edges of unequal length."""
    rough = Rows.of(row for row in rows if row["lengths"] == "random" and not row["tolerance"])
    if not len(rough):
        return
    reached = {
        rule: rough.where(rule=rule, ties="exit").ratio("reached_all", "starts_all")
        for rule in ("q", "slope")
    }
    yield Finding(
        "new" if reached["slope"] == 1.0 else "differs",
        "Is argmin Q the right rule when edges have lengths?",
        "On the same mazes with random lengths, exact labels, the exact AMLE and exit ties, argmin "
        f"Q reaches from {reached['q']:.1%} of all starts and steepest descent from "
        f"{reached['slope']:.1%}. On unit lengths the two are one rule.",
    )


def held_out(rows: Rows) -> Iterator[Finding]:
    """Tell success on mazes that the paper has not seen."""
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
