"""One record per figure of the paper: what it prints, what we find, and a verdict that can fail.

Verdicts are worded by rule from the numbers.

A figure of the paper is one draw: a study of some seeds. Our protocol, drawn again and again, says
what such a study gives on average and how far two of them lie apart. With the mean m over k
studies, and the standard deviation s between studies,

    z = (printed − m) / (s √(1 + 1/k)).

In this order:

1. *not measured*: there is no figure of ours; the verdict says why.
2. *solver artefact*: the paper's figure is reproduced by the solver stopped at the paper's budget,
   and rejected for the same cells solved exactly, by the same rule.
3. *reproduced*: |z| ≤ 2, half a unit of the last digit printed counted in.
4. *close*: not reproduced, but within the tolerance of its kind, in ``kinds.txt``. This says
   nothing about chance, and is counted apart.
5. *differs*: neither.

What no draw changes, such as mathematics and the sizes of maps, has s = 0: it is reproduced to the
last digit or not at all. A share and its complement have the same z, and so the same verdict.

The distributions are `ExpectedFigures`. Where the protocol was run on other seeds, m and s are
theirs; elsewhere m is our own figure and s comes from resampling our own seeds within each
configuration.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ..engine.statistics import Measure
from .figures import FIGURES, KINDS, READINGS, TABLES, Figure, number, same_as, signed

VerdictMark = Literal["reproduced", "artefact", "close", "differs", "missing"]
WORDS: dict[VerdictMark, str] = {
    "reproduced": "reproduced",
    "artefact": "solver artefact",
    "close": "close",
    "differs": "differs",
    "missing": "not measured",
}
DEVIATIONS = 2.0
"""Standard deviations within which a figure is reproduced."""
EXACT = 1e-9
"""Rounding that a figure which should be exact may show."""


def is_close(figure: Figure, ours: float) -> bool:
    """Whether a number is within the tolerance of the figure's kind, rounding counted in."""
    close, _ = KINDS[figure.kind]
    allowed = EXACT
    if close.endswith("%"):  # relative to the larger of the two
        allowed = float(close[:-1]) / 100 * max(abs(ours), abs(figure.value))
    elif close != "printed precision":
        allowed = float(close)
    return abs(ours - figure.value) <= allowed + _rounding(figure)


def _rounding(figure: Figure) -> float:
    """Half a unit of the last digit, and what a figure that should be exact may show."""
    return 0.5 * figure.unit * (1 + EXACT) + EXACT


# -------------------------------------------------------------------- what a verdict rests on


@dataclass(frozen=True)
class Expected:
    """Distribution of a figure over studies of the paper's size.

    Attributes
    ----------
    mean : float
        Over all draws.
    sd : float
        Standard deviation between studies; 0 if no draw changes the figure.
    draws : int
        Seeds it is computed from.
    studies : float
        The same number in studies of the paper's size.
    """

    mean: float
    sd: float = 0.0
    draws: int = 1
    studies: float = 1.0

    @property
    def apart(self) -> float:
        """Standard deviation of another study's figure about the mean, whose own error counts."""
        return self.sd * math.sqrt(1 + 1 / self.studies)

    def z(self, figure: Figure) -> float | None:
        """Standardised difference of the printed figure; None if no draw changes the figure."""
        return (figure.value - self.mean) / self.apart if self.apart > 0 else None

    def allows(self, figure: Figure) -> bool:
        """Whether another study could have given the printed figure."""
        return abs(figure.value - self.mean) <= DEVIATIONS * self.apart + _rounding(figure)


def expect(values: Sequence[Sequence[float]], draws: int) -> Expected:
    """Return the distribution of a figure from several groupings of the same draws into studies.

    Parameters
    ----------
    values : sequence of sequences
        For every grouping the figure's value in each of its studies, which are independent.
    draws : int
        Number of seeds.

    Examples
    --------
    >>> expect([[1.0, 3.0], [2.0, 2.0]], draws=10)
    Expected(mean=2.0, sd=1.0, draws=10, studies=2)
    """
    groups = np.array(values, dtype=np.float64)
    sd = float(np.sqrt(groups.var(axis=1, ddof=1).mean()))
    return Expected(float(groups.mean()), sd, draws, groups.shape[1])


@dataclass(frozen=True)
class ExpectedFigures:
    """All of it, by the id of a figure.

    Attributes
    ----------
    expected : mapping of str to Expected
        What our protocol gives at the paper's budget.
    exact : mapping of str to Expected
        What it gives with every field solved; figures that no solver is in doubt of are missing.
    """

    expected: Mapping[str, Expected] = field(default_factory=dict)
    exact: Mapping[str, Expected] = field(default_factory=dict)


# -------------------------------------------------------------------- verdicts


@dataclass(frozen=True)
class Verdict:
    """A mark, the verdict in one word, and the full sentence."""

    mark: VerdictMark
    text: str


def judge(
    figure: Figure,
    measure: Measure,
    expected: Expected | None = None,
    exact: Expected | None = None,
) -> Verdict:
    """Compare a figure of the paper with ours.

    Parameters
    ----------
    figure : Figure
        The paper's.
    measure : Measure
        Our draw of the same seeds.
    expected : Expected, optional
        What our protocol gives at the paper's budget; by default the measure, without chance.
    exact : Expected, optional
        What it gives solved exactly; by default the exact measure, without chance.

    Examples
    --------
    >>> from wayfield_study.paper.figures import FIGURES
    >>> figure = FIGURES["main/amle/success"]
    >>> from wayfield_study.engine import Measure
    >>> ours = Expected(0.975, 0.004, 30, 6.0)
    >>> judge(figure, Measure(0.975), ours).text
    'reproduced: 0.975 ± 0.004 expected'
    >>> judge(figure, Measure(0.975, exact=1.0), ours).text
    'solver artefact: 0.975 ± 0.004 expected of the stopped solver, 1.000 solved exactly'
    >>> judge(figure, Measure(0.985), Expected(0.985, 0.004, 30, 6.0)).text
    'close: +0.015, 3.5 standard deviations'
    >>> judge(figure, Measure(0.871)).text
    'differs: −0.099'
    >>> judge(figure, Measure(None, note="8 of 120 cells")).text
    'not measured: 8 of 120 cells'
    """
    if measure.value is None:
        return Verdict("missing", f"not measured: {measure.note}")
    scope = f" ({measure.note})" if measure.note else ""
    if expected is None:
        expected = Expected(measure.value)
    if exact is None and measure.exact is not None:
        exact = Expected(measure.exact)

    if expected.allows(figure):
        said = f"{number(expected.mean, figure)} ± {number(expected.apart, figure)} expected"
        if expected.apart == 0:
            said = "to the last digit" if figure.unit else "exactly"
        if exact is None or exact.allows(figure):
            return Verdict("reproduced", f"reproduced: {said}{scope}")
        solved = number(exact.mean, figure)
        if expected.apart == 0:
            said = number(expected.mean, figure)
        text = f"solver artefact: {said} of the stopped solver, {solved} solved exactly{scope}"
        return Verdict("artefact", text)

    off = signed(expected.mean - figure.value, figure)
    if z := expected.z(figure):
        off += f", {abs(z):.1f} standard deviations"
    mark: VerdictMark = "close" if is_close(figure, expected.mean) else "differs"
    return Verdict(mark, f"{mark}: {off}{scope}")


# -------------------------------------------------------------------- claims


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
    def z(self) -> float | None:
        """Standard deviations from the mean to the paper's figure; None if no draw changes it."""
        return None if self.expected is None else self.expected.z(self.figure)

    def text(self, value: float | None) -> str:
        """Write a number to the paper's precision; empty if there is none."""
        return "" if value is None else number(value, self.figure)

    def record(self) -> dict[str, Any]:
        """Return the claim as plain data.

        Examples
        --------
        >>> record = Claim(FIGURES["main/amle/success"], Measure(0.975, exact=1.0)).record()
        >>> record["id"], record["paper"], record["ours"], record["ours_exact"], record["verdict"]
        ('main/amle/success', 0.97, 0.975, 1.0, 'close: +0.005')
        """
        chance, table = self.expected, TABLES[self.figure.table]
        return {
            "id": self.figure.id,
            "table": f"{table.place}: {table.title}",
            "paper": self.figure.value,
            "printed": self.figure.printed,
            "ours": self.measure.value,
            "ours_exact": self.exact,
            "difference": self.difference,
            "mean": chance and chance.mean,
            "sd": chance and chance.sd,
            "draws": chance and chance.draws,
            "z": self.z,
            "exact_sd": self.solved and self.solved.sd,
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
