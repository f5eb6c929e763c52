"""What does not match, and why: one paragraph for each class of reasons, from the claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import comb

from ..report.words import plural
from .budget import PAPER_SWEEPS, papers_budget
from .claims import Claim
from .figures import TABLES, value
from .grid import GRID
from .rules import REASONS
from .tables import name

_TOLD = 4  # figures quoted in a paragraph
_UNLIKELY = 0.05  # chance below which a lopsided list of differences is no accident
_OFF = 0.015  # difference of a certified success to the paper's that is quoted


@dataclass(frozen=True)
class Mismatch:
    """A class of reasons: a heading, what is known about it, and which figures differ."""

    title: str
    text: str
    figures: str = ""


def mismatches(claims: Sequence[Claim]) -> list[Mismatch]:
    """Tell what is off in one direction, then group what differs by the order of `REASONS`.

    Examples
    --------
    >>> from wayfield.paper import make_claims
    >>> from wayfield.study import Measure
    >>> found = mismatches(make_claims({"baselines/nearest/success": Measure(0.05)}))
    >>> found[0].title, found[0].figures
    ('Probably other graphs: 1 figure.',
     'For example nearest label, success: 0.032 in the paper, 0.050 here. All: Reference baselines,
      all 120 cells (1).')
    """
    by_id = {claim.figure.id: claim for claim in claims}
    found = _systematic(by_id)
    for reason, title in REASONS.items():
        some = [claim for claim in claims if claim.verdict.reason == reason]
        if some:
            heading = f"{title[0].upper()}{title[1:]}: {plural(len(some), 'figure')}."
            figures = f"{_largest(some)} {_tables(some)}"
            found.append(Mismatch(heading, _BECAUSE[reason](by_id), figures))
    return found or [Mismatch("Nothing differs", "among the figures that were measured.")]


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


def _pair(claims: Mapping[str, Claim], figure: str, unit: str = "") -> str:
    claim = claims[figure]
    return f"{claim.ours_text}{unit} against {claim.paper_text}{unit}"


Because = Callable[[Mapping[str, Claim]], str]


def _graphs(claims: Mapping[str, Claim]) -> str:
    rows, columns = (claims[f"setup/medium/r4/{side}/value"] for side in ("rows", "columns"))
    text = (
        f"The paper's medium graph has {rows.figure.printed} × {columns.figure.printed} places at "
        f"r = 4, which fits no public map; here it is the public one, {rows.ours_text} × "
        f"{columns.ours_text}, walls included."
    )
    both = claims["mechanism/both_compatible/rate"]
    if both.measure.value is not None:
        text += (
            " Where decisions are both-compatible, no wall is near: "
            f"{_pair(claims, both.figure.id, ' %')}, so the paper's graphs seem to touch walls "
            "more often."
        )
    return text


def _harmonic(claims: Mapping[str, Claim]) -> str:
    minima = claims["failures/harmonic/strict_minima"]
    if minima.measure.value is None:
        return "Here harmonic fields are solved exactly."
    inside = claims["failures/harmonic/interior"]
    return (
        "An exact harmonic field has no strict interior minimum. Up to rounding ours keep to it: "
        f"cells with one are {_pair(claims, minima.figure.id)}, and pairs that end in a loop "
        f"without a label {_pair(claims, inside.figure.id, ' %')}. The paper's solver was "
        "probably iterative and stopped early."
    )


def _budget(claims: Mapping[str, Claim]) -> str:
    return (
        "The paper does not say from which start, in which order or how long it sweeps. By its "
        f"own iteration audit the main grid fits about {round(papers_budget(), -1):.0f} sweeps by "
        "our reading; ours are Jacobi sweeps from the exact harmonic field, "
        f"{PAPER_SWEEPS} in the main grid."
    )


def _finite_p(claims: Mapping[str, Claim]) -> str:
    text = (
        "The paper stops L-BFGS-B after 700 iterations and leaves its other settings open; by its "
        "own account it converges on "
        + ", ".join(f"{claims[f'lbfgs/p{p}/converged'].paper_text} (p = {p})" for p in (4, 8, 16))
        + " of 120 cells."
    )
    apart = [
        f"{solved:.3f} against {claim.paper_text} at p = {p}, r = {r}"
        for p in (4, 8, 16)
        for r in (4, 8, 12)
        if (claim := claims[f"finite-p-by-r/r{r}/p{p}"]).measure.exact is not None
        and abs((solved := claim.measure.exact) - claim.figure.value) > _OFF
    ]
    return f"{text} Certified on the same goals, success is {'; '.join(apart)}." if apart else text


_BECAUSE: dict[str, Because] = {
    "seeds": lambda _: "The difference is within two standard errors of the spread over seeds.",
    "graphs": _graphs,
    "harmonic": _harmonic,
    "budget": _budget,
    "both": lambda _: "A lift is the difference of two methods: both reasons above add up in it.",
    "finite p": _finite_p,
    "search": lambda _: "The paper does not say how candidates are drawn; ours are other graphs.",
    "unknown": lambda _: "We have no explanation.",
}


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
        "The iteration audit names 500 sweeps as the main experiment's approximate budget; "
        "interpolated in that audit, the main grid fits about "
        f"{round(papers_budget(), -1):.0f}, which is our reading.",
    ]
