"""What does not match, and what was tried on it: a paragraph for each outcome, from the claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb

from ..report.text import plural
from .budget import audited_success, papers_budget
from .claims import Claim
from .evidence import NOT_IN_THE_TEXT
from .figures import TABLES, value
from .grid import GRID
from .rules import NONE_MEETS, UNTRIED
from .tables import name

_TOLD = 4  # figures quoted in a paragraph
_UNLIKELY = 0.05  # chance below which a lopsided list of differences is no accident


@dataclass(frozen=True)
class Mismatch:
    """An outcome of what was tried: a heading, what it means, and which figures differ."""

    title: str
    text: str
    figures: str = ""


def mismatches(claims: Sequence[Claim]) -> list[Mismatch]:
    """Tell what is off in one direction, then group what differs by the reading that meets it.

    Examples
    --------
    >>> from wayfield_study.paper import Evidence, make_claims
    >>> from wayfield_study.engine import Measure
    >>> ours = {"baselines/nearest/success": Measure(0.05)}
    >>> tried = {"baselines/nearest/success": {"far pairs": 0.033}}
    >>> found = mismatches(make_claims(ours, Evidence(tried=tried)))
    >>> found[0].title, found[0].figures
    ('Met by far pairs: 1 figure.',
     'For example nearest label, success: 0.032 in the paper, 0.050 here. All: Reference baselines,
      all 120 cells (1).')
    """
    by_id = {claim.figure.id: claim for claim in claims}
    differing = [claim for claim in claims if claim.verdict.mark == "differs"]
    found = _systematic(by_id)
    reasons = dict.fromkeys(claim.verdict.reason for claim in differing)
    for reason in sorted(reasons, key=[*_LAST, *reasons].index, reverse=True):
        some = [claim for claim in differing if claim.verdict.reason == reason]
        met = f"Met by {reason}", f"It is {NOT_IN_THE_TEXT}; one draw of our seeds."
        title, text = _LAST.get(reason, met)
        figures = f"{_largest(some)} {_tables(some)}"
        found.append(Mismatch(f"{title}: {plural(len(some), 'figure')}.", text, figures))
    return found or [Mismatch("Nothing differs", "among the figures that were measured.")]


_LAST = {
    UNTRIED: (
        "Nothing else was tried",
        "The figure stands by itself, or no other reading of it has been run.",
    ),
    NONE_MEETS: (
        "No reading that was tried meets them",
        "What the other readings give stands in claims.json, under “tried”.",
    ),
}
"""Headings and texts of what no reading explains; at the end of the list."""


def _systematic(claims: Mapping[str, Claim]) -> list[Mismatch]:
    """Tell which method is off in one direction throughout the paper's large tables.

    By the sign test: if a difference were as likely up as down, so many on one side of all
    configurations would have a probability below 5 %.
    """
    found = []
    for method, title in (("harmonic", "Harmonic"), ("amle", "AMLE")):
        grid = [claims[f"grid-{maze}/r{r}/lf{lf:.2f}/{method}"] for maze, r, lf in GRID]
        apart = [claim.difference for claim in grid if claim.difference is not None]
        higher, lower = (sum(sign * each > 0 for each in apart) for sign in (1, -1))
        if len(apart) < len(grid) or _chance(max(higher, lower), higher + lower) >= _UNLIKELY:
            continue
        where = "higher" if higher > lower else "lower"
        text = (
            f"Of {len(grid)} configurations ours is higher in {higher} and lower in {lower}, the "
            f"mean difference {sum(apart) / len(apart):+.3f}: {_interval_told(claims, method)}. "
            "Each figure may be within its tolerance, all of them together are not: graphs, draws "
            "or solver are not quite the paper's."
        )
        found.append(Mismatch(f"{title} is systematically {where}.", text))
    return found


def _interval_told(claims: Mapping[str, Claim], method: str) -> str:
    """Tell overall success, and whether our interval holds the paper's."""
    whole, low, high = (claims[f"main/{method}/{each}"] for each in ("success", "low", "high"))
    told = f"{whole.ours_text} against {whole.paper_text}"
    ends = low.measure.value, high.measure.value
    if ends[0] is None or ends[1] is None:
        return told
    holds = "holds" if ends[0] <= whole.figure.value <= ends[1] else "excludes"
    return f"{told}, and our 95 % interval {low.ours_text} to {high.ours_text} {holds} it"


def _chance(larger: int, tried: int) -> float:
    """Probability of a coin's showing one side at least so often."""
    return 2 * sum(comb(tried, k) for k in range(larger, tried + 1)) * 0.5**tried


def _tables(claims: Sequence[Claim]) -> str:
    counts: dict[str, int] = {}
    for claim in claims:
        counts[claim.figure.table] = counts.get(claim.figure.table, 0) + 1
    told = [f"{TABLES[table].title} ({count})" for table, count in counts.items()]
    return f"All: {', '.join(told)}."


def _largest(claims: Sequence[Claim]) -> str:
    """Quote the figures that are furthest off, in units of the paper's own."""

    def off(claim: Claim) -> float:
        assert claim.difference is not None
        return abs(claim.difference) / max(abs(claim.figure.value), claim.figure.unit, 1e-9)

    first: dict[str, Claim] = {}
    for claim in sorted(claims, key=off, reverse=True):
        first.setdefault(f"{claim.figure.table}/{claim.figure.column}", claim)
    told = [_quote(claim) for claim in list(first.values())[:_TOLD]]
    return f"For example {'; '.join(told)}."


def _quote(claim: Claim) -> str:
    where = name(f"{claim.figure.row}/{claim.figure.column}".removesuffix("/value"))
    return f"{where}: {claim.paper_text} in the paper, {claim.ours_text} here"


def inconsistencies() -> list[str]:
    """Say where the paper's figures do not agree with each other.

    Examples
    --------
    >>> inconsistencies()[0]
    "AMLE's lead over the nearest label is 93.8 points in §5.4 and 93.9 in Appendix A.5."
    """
    gaps = [
        value(f"baseline-gaps/{each}/value") for each in ("over_nearest", "over_nearest_appendix")
    ]
    short = [row for row in range(1, 6) if value(f"witnesses/witness{row}/harmonic") < 1]
    failing, vertices, labels, share = (
        value(f"witnesses/witness1/{column}")
        for column in ("failing", "vertices", "labels", "amle")
    )
    return [
        f"AMLE's lead over the nearest label is {gaps[0]} points in §5.4 and {gaps[1]} in "
        "Appendix A.5.",
        "Appendix A.10 says that harmonic succeeds from every start on all five witnesses; its "
        f"table has less for numbers {' and '.join(map(str, short))}.",
        "The same table says that success counts starts from non-boundary vertices. For witness "
        f"1 that would be {1 - failing / (vertices - labels):.3f}; the printed {share} fits "
        f"starts from all vertices but the goal, {1 - failing / (vertices - 1):.3f}, and so do "
        "the other four.",
        "The iteration audit names 500 sweeps as the main experiment's approximate budget. On its "
        f"configurations the main grid has {audited_success():.3f}, the audit after 500 sweeps "
        f"{value('iterations/sweeps500/success'):.3f}: interpolated in the audit, the main grid "
        f"fits about {round(papers_budget(), -1):.0f}. The one has five seeds, the other three.",
    ]
