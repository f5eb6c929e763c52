"""From what solvers keep of their brackets to proofs that others can check."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..numerics.doubledouble import Pair
from ..typing import BoolArray, IntArray
from .amle.exact import rational_amle
from .amle.kernels import Fixing
from .amle.kernels.barriers import barriers
from .base import Problem
from .filling import certainly_filled, fill
from .proof import Fill, Proof
from .scaling import Scaled


@dataclass(frozen=True, eq=False)
class Enclosed:
    """A sub- and a supersolution of the p-Laplacian's equation, for centred labels."""

    p: float
    below: Pair
    above: Pair

    def proof(self, problem: Problem) -> Proof | None:
        """Return both solutions unchanged; None if the labels are too far apart to store."""
        scaled = Scaled.centred(problem)
        if not scaled.keeps_labels:
            return None
        return Proof(self.p, scaled.barriers(self.below, self.above))


class Retraced(NamedTuple):
    """The AMLE's field in double-double, for labels in doubles."""

    piece: IntArray
    """(n,) components of the vertices at which the equation holds; -1 at all others."""
    field: Pair
    log: Fixing
    """The order of fixing, with the field in doubles."""


@dataclass(frozen=True, eq=False)
class Steepest:
    """The AMLE's field: retraced, or exact on the fixed vertices."""

    field: Retraced | list[Fraction]
    fixed: BoolArray
    rule: Fill | None
    """How the other vertices were filled; None if there are none."""

    def proof(self, problem: Problem) -> Proof | None:
        """Return barriers bent from the field, and how far apart they are, or exact values."""
        fixed = None if self.rule is None else self.fixed
        if isinstance(self.field, list):
            return Proof(np.inf, self.field, fixed, self.rule)
        arcs, back = problem.graph.arcs, problem.graph.reverse_arcs
        piece, field, log = self.field
        bent = barriers(arcs, back, piece, field)
        if bent is None:
            return None
        scaled = Scaled.in_doubles(problem)
        reasons = scaled.barriers(bent.below, bent.above, bent.base)
        for low in (reasons.below.low, reasons.above.low):
            if not np.array_equal(low, low.astype(np.float32)):  # as it is written down
                return None
        lower, upper = scaled.around(reasons)
        if self.rule is not None:
            if not certainly_filled(problem, self.fixed, lower, upper):
                # a file holds the exact values of all fixed vertices, or of none
                exact = rational_amle(problem, log)
                return None if exact is None else Proof(np.inf, exact.exact, fixed, self.rule)
            fill(problem, self.fixed, self.rule, lower, -1)
            fill(problem, self.fixed, self.rule, upper, +1)
        return Proof(np.inf, reasons, fixed, self.rule, (lower, upper))
