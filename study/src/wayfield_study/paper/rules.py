"""Verdicts, worded by rule from the numbers.

A figure of the paper is compared with what our protocol gives at the paper's own budget: with its
mean over many draws, where they were made, else with our one draw. Where a solver has a say in it,
the same cells solved exactly stand beside. In this order:

1. *not measured*: there is no figure of ours; the verdict says why.
2. *solver artefact*: ours is close to the paper's, but solving the same cells and goals exactly
   moves the figure away from the paper's, by more than the grain of its kind: what the paper
   printed belongs to the stopped solver.
3. *reproduced*: ours is close to the paper's.
4. *differs*: it is not. The verdict names the difference, and which other readings of the protocol
   were tried on this figure and would meet it.

Close means within the tolerance of the kind of figure, `KINDS`, plus half a unit of the last digit
printed. An absolute tolerance says little about a small figure: one that is not 0 but less than
twice its tolerance must also be met within half of itself. Close is as well what another draw of
as many seeds could have given: within two standard deviations between such studies, but never
further than twice the tolerance, lest a figure be met merely because it varies wildly. A verdict's
``basis`` says which of the two it rests on.

What a verdict rests on beside one draw of our own is `Evidence`. The study's five seeds are one
draw; others, of the same protocol, say what its figures are on average and how far two studies of
five seeds lie apart. Other readings of the protocol say whether a difference would go away under
an assumption that the paper's text does not make.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from wayfield._text import number_of

from ..engine.statistics import Measure
from .figures import Figure, number, signed

VerdictMark = Literal["reproduced", "differs", "artefact", "missing"]
WORDS: dict[VerdictMark, str] = {
    "reproduced": "reproduced",
    "artefact": "solver artefact",
    "differs": "differs",
    "missing": "not measured",
}
NOT_IN_THE_TEXT = "an assumption the text does not make"
EXACT = 1e-9
"""Rounding that a figure which should be exact may show."""
SMALL, PART = 2, 0.5
"""Figures below so many tolerances must be met within this part of themselves."""


# -------------------------------------------------------------------- kinds of figures


@dataclass(frozen=True)
class Kind:
    """How close is close for one kind of figure.

    Attributes
    ----------
    title : str
        What such figures are.
    tolerance : float
        Largest difference that counts as reproduced.
    grain : float
        Smallest change by an exact solve that counts as one.
    relative : bool
        Whether both are relative to the larger of the two figures.
    """

    title: str
    tolerance: float
    grain: float
    relative: bool = False

    def difference(self, ours: float, theirs: float) -> float:
        """Return the size of a difference, on the scale of the tolerance."""
        apart = abs(ours - theirs)
        largest = max(abs(ours), abs(theirs))
        return apart / largest if self.relative and largest > 0 else apart

    def described(self, size: float | None = None) -> str:
        """Return a size on this scale in words: the tolerance, unless another is given."""
        size = self.tolerance if size is None else size
        if size == EXACT:
            return "printed precision"
        return f"{size:.0%}" if self.relative else f"{size:g}"


KINDS = {
    "share": Kind("success or failure over many cells", 0.05, 0.005),
    "share5": Kind("success or failure of one configuration, five cells", 0.10, 0.005),
    "rare": Kind("a share of a few per cent", 0.01, 0.002),
    "points": Kind("lift, in percentage points", 5.0, 0.5),
    "points5": Kind("lift of one configuration, in percentage points", 10.0, 0.5),
    "spread": Kind("standard deviation over cells", 0.05, 0.005),
    "order": Kind("rate or mean of the ordering audit", 0.02, 0.005),
    "percent": Kind("rate in per cent", 3.0, 0.5),
    "trace": Kind("rate of hardly any, in per cent", 0.5, 0.1),
    "residual": Kind("residual after a fixed number of sweeps", 0.25, math.inf, relative=True),
    "coarse": Kind("residual or budget that hangs on a solver's details", 0.5, math.inf, True),
    "cells": Kind("number of cells, of 120", 12, 6),
    "cells24": Kind("number of cells, of 24", 2, 2),
    "count": Kind("number of decisions or of candidates", 0.10, 0.05, relative=True),
    "exact": Kind("what mathematics or the maps settle", EXACT, EXACT),
}

# -------------------------------------------------------------------- what a verdict rests on

NONE_MEETS, UNTRIED = "no reading", "untried"
"""Reasons of a difference that no reading explains; the others are what a reading assumes."""


@dataclass(frozen=True)
class Expected:
    """A figure over many draws of the same protocol.

    Attributes
    ----------
    value : float
        Its mean.
    error : float
        Standard error of that mean.
    spread : float
        Standard deviation of the figure between studies with as many seeds as the paper's.
    """

    value: float
    error: float
    spread: float

    @property
    def apart(self) -> float:
        """Standard deviation of another study's figure about this mean, whose own error counts."""
        return float(np.hypot(self.spread, self.error))


def expect(draws: Sequence[Sequence[float]]) -> Expected:
    """Sum up a figure's values in several groupings of the same draws into studies.

    Parameters
    ----------
    draws : sequence of sequences
        For every grouping the figure's value in each of its studies, which are independent.

    Examples
    --------
    >>> expect([[1.0, 3.0], [2.0, 2.0]])
    Expected(value=2.0, error=0.707..., spread=1.0)
    """
    values = np.array(draws, dtype=np.float64)
    spread = float(np.sqrt(values.var(axis=1, ddof=1).mean()))
    return Expected(float(values.mean()), float(spread / np.sqrt(values.shape[1])), spread)


@dataclass(frozen=True)
class Evidence:
    """All of it, by the id of a figure.

    Attributes
    ----------
    expected : mapping of str to Expected
        What other draws give; figures that none was made for are missing.
    tried : mapping of str to mapping of str to float
        What other readings give, by what they assume.
    """

    expected: Mapping[str, Expected] = field(default_factory=dict)
    tried: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


# -------------------------------------------------------------------- verdicts


@dataclass(frozen=True)
class Verdict:
    """A mark, the full sentence, and what it rests on.

    Attributes
    ----------
    mark, text : str
        The verdict in one word, and in a sentence.
    reason : str
        Of a difference: the reading that would meet the figure.
    basis : {"", "tolerance", "draws"}
        Of a figure that is met: within its tolerance, or only within what other draws give.
    """

    mark: VerdictMark
    text: str
    reason: str = ""
    basis: str = ""


def judge(
    figure: Figure,
    measure: Measure,
    expected: Expected | None = None,
    tried: Mapping[str, float] | None = None,
) -> Verdict:
    """Compare a figure of the paper with ours.

    Parameters
    ----------
    figure : Figure
        The paper's.
    measure : Measure
        Our draw of the same seeds.
    expected : Expected, optional
        What many draws give.
    tried : mapping of str to float, optional
        What other readings give, by what they assume.

    Examples
    --------
    >>> from wayfield_study.paper.figures import FIGURES
    >>> figure = FIGURES["main/amle/success"]
    >>> from wayfield_study.engine import Measure
    >>> judge(figure, Measure(0.971)).text
    'reproduced: within 0.05'
    >>> judge(figure, Measure(0.971, exact=1.0)).text
    'solver artefact: 0.971 stopped early, 1.000 solved exactly'
    >>> judge(figure, Measure(0.871), tried={"walls of glass": 0.969, "others": 0.5}).text
    'differs: −0.099; met by walls of glass, an assumption the text does not make'
    >>> judge(figure, Measure(0.871), Expected(0.91, 0.01, 0.03)).text
    'reproduced: another draw may give it, 0.910 ± 0.032'
    >>> judge(figure, Measure(None, note="8 of 120 cells")).text
    'not measured: 8 of 120 cells'
    """
    if measure.value is None:
        return Verdict("missing", f"not measured: {measure.note}")
    kind, scope = KINDS[figure.kind], f" ({measure.note})" if measure.note else ""
    # what the protocol gives, and the standard deviation of another draw about it
    centre, apart = measure.value, measure.error or 0.0
    if expected is not None:
        centre, apart = expected.value, expected.apart

    # 1. close: within the tolerance, or what another draw could have given
    within = close(figure, centre)
    unit = max(abs(centre), abs(figure.value)) if kind.relative else 1.0
    furthest = 2 * min(apart, kind.tolerance * unit) + 0.5 * figure.unit * (1 + 1e-9)
    basis = "tolerance" if within else "draws"
    if not within and abs(centre - figure.value) > furthest:
        off = signed(measure.value - figure.value, figure)
        meeting = [assumed for assumed, other in (tried or {}).items() if close(figure, other)]
        if meeting:
            reason, phrase = meeting[0], f"met by {meeting[0]}, {NOT_IN_THE_TEXT}"
        elif tried:
            others = number_of(len(tried), "other readings")
            reason, phrase = NONE_MEETS, f"{others} tried, none meets it"
        else:
            reason, phrase = UNTRIED, "no other reading was tried on it"
        return Verdict("differs", f"differs: {off}; {phrase}{scope}", reason)

    # 2. close, but only because the solver was stopped
    if measure.exact is not None:
        away = abs(measure.exact - figure.value) > abs(measure.value - figure.value)
        if away and kind.difference(measure.exact, measure.value) > kind.grain:
            stopped, exact = (number(each, figure) for each in (measure.value, measure.exact))
            phrase = f"solver artefact: {stopped} stopped early, {exact} solved exactly{scope}"
            return Verdict("artefact", phrase, basis=basis)

    # 3. close, and how close
    if not figure.unit:
        how = ""
    elif abs(measure.value - figure.value) <= 0.5 * figure.unit:
        how = ": to the last digit"
    elif not within:
        how = f": another draw may give it, {number(centre, figure)} ± {number(apart, figure)}"
    elif _is_small(figure):
        how = f": within {PART:.0%} of a small figure"
    else:
        how = f": within {kind.described()}"
    return Verdict("reproduced", f"reproduced{how}{scope}", basis=basis)


def close(figure: Figure, ours: float) -> bool:
    """Whether a number is within the tolerance of the figure's kind."""
    kind = KINDS[figure.kind]
    rounding = 0.5 * figure.unit * (1 + 1e-9)
    if kind.relative:
        rounding /= max(abs(ours), abs(figure.value), rounding)
    apart = kind.difference(ours, figure.value) - rounding
    if _is_small(figure) and apart > PART * abs(figure.value):
        return False
    return apart <= kind.tolerance


def _is_small(figure: Figure) -> bool:
    """Whether the absolute tolerance is too coarse for a figure."""
    kind = KINDS[figure.kind]
    return not kind.relative and 0 < abs(figure.value) < SMALL * kind.tolerance
