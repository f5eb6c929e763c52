"""One record per figure of the paper: what it prints, what we find, and the verdict.

The paper's tables are laid out for the page (`view`), and written as CSV.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from ..engine.statistics import Measure
from ..report import Table
from ..report.tables import as_csv as write_csv
from .figures import (
    FIGURES,
    READINGS,
    TABLES,
    Figure,
    PaperTable,
    number,
    same_as,
    shown_name,
    signed,
)
from .rules import WORDS, Expected, ExpectedFigures, Verdict, VerdictMark, judge


@dataclass(frozen=True)
class Claim:
    """A figure of the paper beside ours.

    Attributes
    ----------
    figure : Figure
        The paper's.
    measure : Measure
        Ours, at the paper's budget and exactly.
    expected, solved : Expected or None
        What draws of our protocol give: at the paper's budget, and with every field solved.
    """

    figure: Figure
    measure: Measure
    expected: Expected | None = None
    solved: Expected | None = None

    @cached_property
    def verdict(self) -> Verdict:
        """What the rules say."""
        return judge(self.figure, self.measure, self.expected, self.solved)

    @property
    def same_as(self) -> str:
        """What the paper's figure follows from; empty if it is independent."""
        return same_as(self.figure.id)

    @property
    def difference(self) -> float | None:
        """Ours less the paper's."""
        return None if self.measure.value is None else self.measure.value - self.figure.value

    @property
    def exact(self) -> float | None:
        """Our figure with every field solved, where that changes it."""
        return None if self.measure.exact == self.measure.value else self.measure.exact

    @property
    def ours_text(self) -> str:
        """Our figure to the paper's precision."""
        value = self.measure.value
        return "–" if value is None else number(value, self.figure)

    @property
    def exact_text(self) -> str:
        """Our exact figure to the paper's precision."""
        return "" if self.exact is None else number(self.exact, self.figure)

    @property
    def difference_text(self) -> str:
        """Difference to the paper's precision, with its sign."""
        return "" if self.difference is None else signed(self.difference, self.figure)

    @property
    def expected_text(self) -> str:
        """Mean over many draws to the paper's precision, and the deviation of one study."""
        if self.expected is None:
            return ""
        mean, apart = self.expected.mean, self.expected.apart
        return f"{number(mean, self.figure)} ± {number(apart, self.figure)}"

    @property
    def z(self) -> float | None:
        """Standard deviations from the mean to the paper's figure; None if no draw changes it."""
        return None if self.expected is None else self.expected.z(self.figure)

    def record(self) -> dict[str, Any]:
        """Return the claim as plain data.

        Examples
        --------
        >>> record = Claim(FIGURES["main/amle/success"], Measure(0.975, exact=1.0)).record()
        >>> record["id"], record["paper"], record["ours"], record["ours_exact"], record["verdict"]
        ('main/amle/success', 0.97, 0.975, 1.0, 'close: +0.005')
        """
        chance = self.expected
        return {
            "id": self.figure.id,
            "table": f"{TABLES[self.figure.table].place}: {TABLES[self.figure.table].title}",
            "paper": self.figure.value,
            "printed": self.figure.printed,
            "ours": self.measure.value,
            "ours_exact": self.exact,
            "difference": self.difference,
            "mean": None if chance is None else chance.mean,
            "sd": None if chance is None else chance.sd,
            "draws": None if chance is None else chance.draws,
            "z": self.z,
            "exact_sd": None if self.solved is None else self.solved.sd,
            "mark": self.verdict.mark,
            "verdict": self.verdict.text,
            "same_as": self.same_as,
            "reading": READINGS[self.figure.table],
            "kind": self.figure.kind,
            "note": self.measure.note,
        }


def make_claims(
    measures: Mapping[str, Measure], evidence: ExpectedFigures | None = None
) -> list[Claim]:
    """Compare every figure of the paper with ours; what was not measured says so.

    Examples
    --------
    >>> claims = make_claims({"main/amle/success": Measure(0.9704)})
    >>> [claim.verdict.text for claim in claims if claim.measure.value is not None]
    ['reproduced: to the last digit']
    """
    missing = Measure(None, note="not among the experiments that were run")
    known = ExpectedFigures() if evidence is None else evidence
    return [
        Claim(figure, measures.get(name, missing), known.expected.get(name), known.exact.get(name))
        for name, figure in FIGURES.items()
    ]


def count_marks(claims: Sequence[Claim]) -> dict[VerdictMark, int]:
    """Count claims by mark; every mark is there."""
    found = Counter(claim.verdict.mark for claim in claims)
    return {mark: found[mark] for mark in WORDS}


def as_json(claims: Sequence[Claim]) -> str:
    """Write the records as JSON, one to a line."""
    lines = [json.dumps(claim.record(), ensure_ascii=False, allow_nan=False) for claim in claims]
    return "[\n" + ",\n".join(lines) + "\n]\n"


# -------------------------------------------------------------------- the paper's tables


@dataclass(frozen=True)
class View:
    """A table for the page: the columns shown side by side, and all figures one below the other.

    Attributes
    ----------
    table : PaperTable
        The paper's.
    groups : list of (str, bool)
        Headings of the columns shown, and whether any of their figures has an exact one.
    rows : list of (list of str, list of (Claim or None))
        Names of a row, and its claims in the columns shown.
    claims : list of Claim
        All of the table.
    """

    table: PaperTable
    groups: list[tuple[str, bool]]
    rows: list[tuple[list[str], list[Claim | None]]]
    claims: list[Claim]

    @property
    def marks(self) -> dict[VerdictMark, int]:
        """Number of claims by mark, in the order of the page."""
        return count_marks(self.claims)


def view(table: PaperTable, claims: Mapping[str, Claim], columns: Sequence[str] = ()) -> View:
    """Lay a table out.

    Parameters
    ----------
    table : PaperTable
        Which.
    claims : mapping of str to Claim
        By id.
    columns : sequence of str
        Those to show side by side; all if none are named.
    """
    shown = list(columns) or list(table.columns)
    rows = [
        ([shown_name(entry) for entry in row], [claims.get(table.id(row, each)) for each in shown])
        for row in table.rows
    ]
    columns_of_claims = zip(*(row for _, row in rows), strict=True)
    exact = [any(c is not None and c.exact is not None for c in some) for some in columns_of_claims]
    groups = [(shown_name(each), some) for each, some in zip(shown, exact, strict=True)]
    return View(table, groups, rows, [claims[figure.id] for figure in table.figures])


def as_csv(table: PaperTable, claims: Mapping[str, Claim]) -> str:
    """Write a table as CSV: a line per figure, the keys of its row in columns of their own.

    Parameters
    ----------
    table : PaperTable
        Which table.
    claims : mapping of str to Claim
        By the figure's id.

    Examples
    --------
    >>> claims = {claim.figure.id: claim for claim in make_claims({})}
    >>> print(as_csv(TABLES["by-r"], claims).splitlines()[1])
    4,harmonic,0.850,,,,not measured: not among the experiments that were run
    """
    heads = [*table.key_names, "figure", "paper", "ours", "ours_exact", "difference", "verdict"]
    lines = []
    for row, column in product(table.rows, table.columns):
        if claim := claims.get(table.id(row, column)):
            numbers = (claim.measure.value, claim.exact, claim.difference)
            ours = ["" if value is None else repr(value) for value in numbers]
            lines.append([*row, column, claim.figure.printed, *ours, claim.verdict.text])
    return write_csv(Table(table.name, table.title, heads, lines))
