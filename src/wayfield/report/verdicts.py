"""Sentences about the numbers, worded by rule.

A figure is *reproduced* if it lies within `CLOSE` of the paper's, otherwise it *differs*. Failures
after a fixed number of sweeps are a *solver artefact* if solving exactly removes 99 % of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from ..study import paper
from ..study.rollout import EXACT, EXACT_EXIT, HARMONIC, PAPER_SWEEPS, SWEEPS
from ..study.tables import Results, mean_difference

CLOSE = 0.05
"""Largest difference of two shares that counts as reproduced."""
_ARTEFACT = 0.01  # share of the failures that may survive an exact solve

Mark = Literal["reproduced", "differs", "artefact", "new"]


@dataclass(frozen=True)
class Verdict:
    """One finding: a mark, what was claimed or asked, and what was found."""

    mark: Mark
    claim: str
    finding: str


def verdicts(results: Results) -> list[Verdict]:
    """List the findings of the study, in the order of the report."""
    return [
        _success(results, HARMONIC.name, "harmonic"),
        _success(results, SWEEPS.name, "amle"),
        _lift(results),
        _artefact(results),
        _reach(results),
        _boundary(results),
        _brackets(results),
    ]


def compare(ours: float, theirs: float) -> str:
    """Word a difference of two shares."""
    difference = ours - theirs
    for bound in (0.01, 0.02, CLOSE):
        if abs(difference) <= bound:
            return f"reproduced within {bound:.2f}"
    return f"differs by {signed(difference)}"


def signed(number: float, digits: int = 3) -> str:
    """Write a number with its sign, zero without."""
    text = f"{number:+.{digits}f}".replace("-", "−")
    return text[1:] if float(f"{number:.{digits}f}") == 0 else text


def power(number: float) -> str:
    """Write a small number with its power of ten."""
    if number == 0:
        return "0"
    digits, exponent = f"{number:.1e}".split("e")
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{digits}\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}10{raised}"


def printed_success(results: Results, method: Literal["harmonic", "amle"]) -> float:
    """Mean of the paper's table over the configurations at hand."""
    rows = [paper.GRID[each] for each in results.configurations]
    return float(sum(getattr(row, method) for row in rows) / len(rows))


def _success(results: Results, arm: str, method: Literal["harmonic", "amle"]) -> Verdict:
    ours, theirs = results.mean_success(arm), printed_success(results, method)
    by_row = [results.at(each).mean_success(arm) for each in results.configurations]
    printed = [getattr(paper.GRID[each], method) for each in results.configurations]
    apart = mean_difference(by_row, printed)
    name, note = {
        "harmonic": ("Harmonic", ""),
        "amle": ("AMLE", f", {PAPER_SWEEPS} sweeps,"),
    }[method]
    return Verdict(
        "reproduced" if abs(ours - theirs) <= CLOSE else "differs",
        f"{name} reaches the goal from {theirs:.3f} of the starts.",
        f"Ours{note} {ours:.3f}: {compare(ours, theirs)}. Row by row, the mean absolute "
        f"difference over {len(by_row)} configurations is {apart:.3f}.",
    )


def _lift(results: Results) -> Verdict:
    lifts = [
        results.at(each).lift(SWEEPS.name, HARMONIC.name).mean for each in results.configurations
    ]
    by_r = [
        results.where(refinement=r).lift(SWEEPS.name, HARMONIC.name).mean
        for r in results.values("refinement")
    ]
    positive = sum(lift > 0 for lift in lifts)
    grows = all(a < b for a, b in pairwise(by_r))
    listed = ", ".join(f"{signed(100 * lift, 1)}" for lift in by_r)
    verb = "grows" if grows else "does not always grow"
    return Verdict(
        "reproduced" if positive == len(lifts) and grows else "differs",
        "AMLE lifts success over harmonic everywhere, the more the finer the graph.",
        f"Positive in {positive} of {len(lifts)} configurations; it {verb} with r: "
        f"{listed} points.",
    )


def _artefact(results: Results) -> Verdict:
    budget = results.total("pairs") - results.total(f"{SWEEPS.name}.reached")
    exact = results.total("pairs") - results.total(f"{EXACT.name}.reached")
    share = budget / results.total("pairs")
    gone = budget > 0 and exact <= _ARTEFACT * budget
    found = (
        f"Ours at {PAPER_SWEEPS} sweeps: {budget:,} of {results.total('pairs'):,} ({share:.1%}). "
        f"The same fields solved exactly, same planner and ties: {exact:,}."
    )
    ending = " Solver artefact: the failures are unfinished sweeps." if gone else ""
    claim = f"AMLE leaves {1 - printed_success(results, 'amle'):.1%} of the starts in loops."
    return Verdict("artefact" if gone else "differs", claim, found + ending)


def _reach(results: Results) -> Verdict:
    starts = results.starts(EXACT_EXIT.name)
    exits, index = results.failing_starts(EXACT_EXIT.name), results.failing_starts(EXACT.name)
    return Verdict(
        "new" if exits == 0 else "differs",
        "Exact labels, exact AMLE, ties broken towards an exit: every start reaches (theorem).",
        f"{exits:,} of {starts:,} starts fail, over all starts of all fields; with the paper's "
        f"lowest-index ties {index:,}.",
    )


def _boundary(results: Results) -> Verdict:
    ours = results.boundary_share(HARMONIC.name)
    inside = results.total(f"{HARMONIC.name}.interior")
    claim = f"{paper.HARMONIC_BOUNDARY:.1%} of harmonic's loops pass through a label."
    if math.isnan(ours):
        return Verdict("differs", claim, "Ours: no sampled pair ends in a loop.")
    return Verdict(
        "reproduced" if abs(ours - paper.HARMONIC_BOUNDARY) <= CLOSE else "differs",
        claim,
        f"Ours {ours:.1%}; {inside:,} of the sampled pairs end in a loop without one. An exact "
        "harmonic field has no strict interior minimum, so none is expected beyond ties.",
    )


def _brackets(results: Results) -> Verdict:
    exact = results.figure(f"{EXACT.name}.relative_width").max()
    harmonic = results.figure(f"{HARMONIC.name}.relative_width").max()
    return Verdict(
        "new",
        "How far can the fields themselves be trusted?",
        "Every exact field comes with a proved bracket. The widest, over all cells and goals, is "
        f"{power(exact)} of the label range for AMLE and {power(harmonic)} for harmonic.",
    )
