"""One record per figure of the paper: what it prints, what we find, and the verdict."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..engine.statistics import Measure
from .evidence import Evidence, Expected, reading_of
from .figures import FIGURES, TABLES, Figure
from .rules import Verdict, VerdictMark, judge
from .text import as_printed, number, signed


@dataclass(frozen=True)
class Claim:
    """A figure of the paper beside ours.

    Attributes
    ----------
    figure : Figure
        The paper's.
    measure : Measure
        Ours, at the paper's budget and exactly.
    expected : Expected or None
        What many draws of our protocol give, where they were made.
    tried : mapping of str to float
        What other readings of the protocol give, by what they assume.
    """

    figure: Figure
    measure: Measure
    expected: Expected | None = None
    tried: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def verdict(self) -> Verdict:
        """What the rules say."""
        return judge(self.figure, self.measure, self.expected, self.tried)

    @property
    def difference(self) -> float | None:
        """Ours less the paper's."""
        return None if self.measure.value is None else self.measure.value - self.figure.value

    @property
    def exact(self) -> float | None:
        """Our figure with the solver doubt removed, where that changes it."""
        return None if self.measure.exact == self.measure.value else self.measure.exact

    @property
    def paper_text(self) -> str:
        """The paper's figure."""
        return as_printed(self.figure)

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
        """What many draws give to the paper's precision, and its error."""
        if self.expected is None:
            return ""
        mean, error = self.expected.value, self.expected.error
        return f"{number(mean, self.figure)} ± {number(error, self.figure)}"

    @property
    def spread_text(self) -> str:
        """How far two studies lie apart, to the paper's precision."""
        return "" if self.expected is None else number(self.expected.spread, self.figure)

    def record(self) -> dict[str, Any]:
        """Return the claim as plain data.

        Examples
        --------
        >>> record = Claim(FIGURES["main/amle/success"], Measure(0.975, exact=1.0)).record()
        >>> record["id"], record["paper"], record["ours"], record["ours_exact"], record["verdict"]
        ('main/amle/success', 0.97, 0.975, 1.0, 'solver artefact: 0.975 stopped early, ...')
        """
        return {
            "id": self.figure.id,
            "table": f"{TABLES[self.figure.table].place}: {TABLES[self.figure.table].title}",
            "paper": self.figure.value,
            "printed": self.figure.printed,
            "ours": self.measure.value,
            "ours_exact": self.exact,
            "difference": self.difference,
            "expected": None if self.expected is None else self.expected.value,
            "expected_error": None if self.expected is None else self.expected.error,
            "expected_spread": None if self.expected is None else self.expected.spread,
            "verdict": self.verdict.text,
            "basis": self.verdict.basis,
            "reading": reading_of(self.figure.table),
            "tried": dict(self.tried),
            "kind": self.figure.kind,
            "note": self.measure.note,
        }


def make_claims(measures: Mapping[str, Measure], evidence: Evidence | None = None) -> list[Claim]:
    """Put ours beside every figure of the paper; what was not measured says so.

    Examples
    --------
    >>> claims = make_claims({"main/amle/success": Measure(0.9704)})
    >>> [claim.verdict.text for claim in claims if claim.measure.value is not None]
    ['reproduced: to the last digit']
    """
    missing = Measure(None, note="not among the experiments that were run")
    known = Evidence() if evidence is None else evidence
    return [
        Claim(
            figure,
            measures.get(name, missing),
            known.expected.get(name),
            known.tried.get(name, {}),
        )
        for name, figure in FIGURES.items()
    ]


def count_marks(claims: Sequence[Claim]) -> dict[VerdictMark, int]:
    """Count the claims by mark; every mark is there."""
    found = Counter(claim.verdict.mark for claim in claims)
    marks: tuple[VerdictMark, ...] = ("reproduced", "artefact", "differs", "missing")
    return {mark: found[mark] for mark in marks}


def as_json(claims: Sequence[Claim]) -> str:
    """Write the records as JSON, one to a line."""
    lines = [json.dumps(claim.record(), ensure_ascii=False, allow_nan=False) for claim in claims]
    return "[\n" + ",\n".join(lines) + "\n]\n"
