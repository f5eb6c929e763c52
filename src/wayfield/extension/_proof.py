"""What a bracket rests on: kept as the solver found it, and turned into a proof when asked for.

A solver hands on its `Evidence`, in its own units, as it stands: this costs no time. `field.
certificate` makes a `Proof` of it, which says all that `wayfield_verify` needs to prove the bracket
again: the equation, the set of vertices where it holds, and there either

- **barriers**: a sub- and a supersolution with the labels between them, each an unevaluated sum
  offset + 2^exponent · (base + high + low). The exact field lies between them, by comparison;
- or the **exact** values, where ties had to be decided in rationals: both barriers in one.

What is proved from them, and how, is on the page ``docs/proofs.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from ..kernels._types import BoolArray, FloatArray
from ..kernels.doubledouble import Pair

if TYPE_CHECKING:
    from ._base import Problem

Fill: TypeAlias = Literal["cost", "flat", "lower"]


@dataclass(frozen=True, eq=False)
class Barriers:
    """A subsolution and a supersolution, (n,) each; 0 where they are not asked for."""

    offset: float
    exponent: int
    below: Pair
    above: Pair
    base: FloatArray | None = None
    """Common to both; 0 if None. With a base the low parts are numbers of single precision."""


@dataclass(frozen=True, eq=False)
class Proof:
    """A bracket's reasons.

    Attributes
    ----------
    p : float
        The equation: 2 for the harmonic extension, inf for the AMLE.
    reasons : Barriers or list of Fraction
        Barriers, or the exact values of the fixed vertices in ascending order.
    fixed : (n,) bool array or None
        The labels and the vertices that the AMLE does not leave level; None where nothing is
        filled.
    fill : str or None
        How the others were filled.
    bounds : pair of (n,) float arrays, or None
        What the reasons prove, filled; None if that is the bracket itself.
    """

    p: float
    reasons: Barriers | list[Fraction]
    fixed: BoolArray | None = None
    fill: Fill | None = None
    bounds: tuple[FloatArray, FloatArray] | None = None


class Evidence(Protocol):
    """What a solver keeps of its bracket, in its own units."""

    def proof(self, problem: Problem) -> Proof | None:
        """Return the proof of the bracket of this problem; None if it cannot be written down."""
        ...
