"""Units of the solvers: labels shifted by an offset and scaled to size 1, and back.

A solver's field v stands for the extension

    u = offset + 2^exponent · v.

The three equations are invariant under an offset or a factor, so only digits could be lost. They
are kept: v is an unevaluated sum of two doubles, in which a label minus the offset is exact, and a
power of two moves no digit. The largest |v| of a label lies in [1/2, 1).

Only what is more than 300 decimal places below the largest label can be lost. By the comparison
principle the extension moves no further than the labels do, and bounds are rounded outward by more
than that (`doubledouble.UNDERFLOW`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from ..graphs.labels import Labels
from ..numerics.doubledouble import Pair, beyond, corrected, enclose, rounded
from ..typing import FloatArray
from .base import Problem
from .kernels import held_by

SMALLEST_EXPONENT = -900
"""Below this exponent a field next to 0 would underflow on the way back."""


@dataclass(frozen=True, eq=False)
class Enclosure:
    """Barriers: a subsolution and a supersolution, (n,) each; 0 where they are not needed.

    Each is the unevaluated sum offset + 2^exponent · (base + high + low).
    """

    offset: float
    exponent: int
    below: Pair
    above: Pair
    base: FloatArray | None = None
    """Common to both; 0 if None. With a base the low parts are single precision."""


@dataclass(frozen=True, eq=False)
class Scaled:
    """A problem in its solver's units.

    Attributes
    ----------
    offset, exponent : float, int
        See the module.
    field : Pair of (n,) float arrays
        The labels less the offset, of magnitude below 1; 0 at all other vertices.
    """

    problem: Problem
    offset: float
    exponent: int
    field: Pair

    @classmethod
    def centred(cls, problem: Problem) -> Self:
        """Return the problem with the labels' midrange subtracted."""
        return cls._less(problem, midrange(problem.labels))

    @classmethod
    def in_doubles(cls, problem: Problem) -> Self:
        """Return the problem with the labels' midrange subtracted if that leaves doubles.

        Where the midrange exceeds four times the labels' spread, every label is within a factor
        of 2 of it, so that the difference is a double (Sterbenz).
        """
        middle = midrange(problem.labels)
        spread = float(np.abs(problem.labels.values - middle).max())
        return cls._less(problem, middle if abs(middle) > 4.0 * spread else 0.0)

    @classmethod
    def _less(cls, problem: Problem, offset: float) -> Self:
        moved = _moved(problem, offset)
        exponent = int(np.frexp(np.abs(moved.high).max())[1])
        return cls(problem, offset, exponent, Pair(*(np.ldexp(part, -exponent) for part in moved)))

    @property
    def scale(self) -> float:
        """The factor 2^exponent."""
        return float(np.ldexp(1.0, self.exponent))

    @cached_property
    def size(self) -> float:
        """Largest magnitude of a label, in the solver's units: half their range where centred."""
        return float(np.abs(self.field.high).max())

    @property
    def span(self) -> float:
        """Range of the labels, in the solver's units."""
        return float(np.ldexp(self.problem.labels.span, -self.exponent))

    @property
    def keeps_labels(self) -> bool:
        """Whether no digit of a label is lost to underflow in the solver's units."""
        at, moved = self.problem.labels.vertices, _moved(self.problem, self.offset)
        back = (np.ldexp(part[at], self.exponent) for part in self.field)
        return all((one[at] == other).all() for one, other in zip(moved, back, strict=True))

    @property
    def exact(self) -> bool:
        """Whether the labels are the doubles `field.high`, far enough from underflow both ways."""
        given = self.problem.labels
        back = np.ldexp(self.field.high[given.vertices], self.exponent)
        kept = bool((back == given.values - self.offset).all())
        return kept and not self.field.low.any() and self.exponent > SMALLEST_EXPONENT

    def rounded_problem(self) -> Problem:
        """Return the problem in the solver's units, its labels rounded to doubles."""
        vertices = self.problem.labels.vertices
        return self.problem.relabelled(Labels(vertices, self.field.high[vertices]))

    def values(self, field: Pair, side: int = 0) -> FloatArray:
        """Return a field in the caller's units, rounded to nearest, up (side +1) or down (-1)."""
        return self._settled(rounded(field, self.scale, self.offset, side))

    def enclosed(
        self, field: Pair, below: FloatArray, above: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return values, and the tightest doubles around field − below and field + above."""
        size = field.high.size
        result = np.empty(size), np.empty(size), np.empty(size)
        enclose(field, below, above, self.scale, self.offset, result)
        values, lower, upper = map(self._settled, result)
        return values, lower, upper

    def barriers(self, below: Pair, above: Pair, base: FloatArray | None = None) -> Enclosure:
        """Return a sub- and a supersolution that stay within the labels and agree with them.

        As `_settled` does with bounds. They stay sub- and supersolutions: the larger of two
        subsolutions is one, the least label is another, and at a label its value is the most a
        subsolution may have.
        """
        problem = self.problem
        absent, start = problem.orphaned, np.zeros(problem.boundary.size)
        if base is not None:
            absent = absent | ~np.isfinite(base)
            base = start = np.where(absent, 0.0, base)
        least, largest = problem.extreme_labels
        fixed = self.field, problem.labelled, absent, problem.graph.components
        below = Pair(*held_by(*fixed, least, start, below, -1))
        above = Pair(*held_by(*fixed, largest, start, above, +1))
        return Enclosure(self.offset, self.exponent, below, above, base)

    def around(self, barriers: Enclosure) -> tuple[FloatArray, FloatArray]:
        """Return the doubles next below the lower barrier and next above the upper one."""
        assert barriers.base is not None
        lower = beyond(barriers.base, barriers.below, self.scale, self.offset, -1)
        upper = beyond(barriers.base, barriers.above, self.scale, self.offset, +1)
        return self._settled(lower), self._settled(upper)

    def _settled(self, field: FloatArray) -> FloatArray:
        """Keep the maximum principle and the labels as given; NaN without a label, in place."""
        labels = self.problem.labels
        np.clip(field, *self.problem.label_range, out=field)
        field[labels.vertices] = labels.values
        field[self.problem.orphaned] = np.nan
        return field


def _moved(problem: Problem, offset: float) -> Pair:
    """Return the labels minus an offset, exactly; 0 elsewhere."""
    vertices, zero = problem.labels.vertices, np.zeros(problem.boundary.size)
    labels = Pair(problem.boundary, zero)
    return Pair(*corrected(labels, vertices, np.full(vertices.size, -offset)))


def midrange(labels: Labels) -> float:
    """Return the middle between the least and the largest label."""
    return 0.5 * float(labels.values.min()) + 0.5 * float(labels.values.max())
