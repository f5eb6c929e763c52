"""Proofs of brackets: the solver keeps its evidence, and a proof is made from it on request.

A solver passes on its evidence (`HasProof`) in its own units, which takes no time. `proof_of` turns
it into a `BracketProof`: all that `wayfield_verify` needs to prove the bracket again. It holds the
equation, the set of vertices where it holds, and there either

- **barriers**: a sub- and a supersolution with the labels between them (`scaling.Enclosure`). The
  exact field lies between them, by comparison;
- or the **exact** values, where ties had to be decided in rationals: both barriers in one.

`field_sections` writes it. The page ``docs/proofs.md`` has the theorems and their proofs,
`wayfield_verify._file` the file format.
"""

from __future__ import annotations

import struct
from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

import numpy as np

from ..errors import InputError
from ..numerics import proof_file
from ..numerics.doubledouble import Pair
from ..numerics.proof_file import Section
from ..typing import BoolArray, FloatArray
from .base import Problem, bound_plus_prior, describe
from .scaling import Enclosure, Scaled

if TYPE_CHECKING:
    from .extension import Extension

FillRule: TypeAlias = Literal["cost", "flat"]

FILLS = (None, "cost", "flat")
"""Ways to fill, in the order of their numbers in a file."""


class HasProof(Protocol):
    """What a solver keeps for the proof of its bracket, in its own units."""

    def proof(self, problem: Problem) -> BracketProof | None:
        """Return the proof of the bracket of this problem; None if it cannot be written down."""
        ...


@dataclass(frozen=True, eq=False)
class BracketProof:
    """The proof of a bracket.

    Attributes
    ----------
    p : float
        The equation: 2 for the harmonic extension, inf for the AMLE.
    reasons : Enclosure or list of Fraction
        Barriers, or the exact values of the fixed vertices in ascending order.
    fixed : (n,) bool array or None
        The labels and the vertices that the AMLE fixes; None if nothing is filled.
    fill : str or None
        How the others were filled.
    bounds : pair of (n,) float arrays, or None
        What the reasons prove, after filling; None if that is the bracket itself.
    """

    p: float
    reasons: Enclosure | list[Fraction]
    fixed: BoolArray | None = None
    fill: FillRule | None = None
    bounds: tuple[FloatArray, FloatArray] | None = None


@dataclass(frozen=True, eq=False)
class Enclosed:
    """A sub- and a supersolution of the p-Laplacian's equation, for centred labels."""

    p: float
    below: Pair
    above: Pair

    def proof(self, problem: Problem) -> BracketProof | None:
        """Return both solutions unchanged; None if the labels are too far apart to store."""
        scaled = Scaled.centred(problem)
        if not scaled.keeps_labels:
            return None
        return BracketProof(self.p, scaled.barriers(self.below, self.above))


def proof_of(field: Extension) -> BracketProof:
    """Return the proof of a field's bracket; raise `InputError` if there is none."""
    known = field.graph is not None and field.labels is not None
    if field.evidence is None or field.lower is None or field.upper is None or not known:
        raise InputError(
            f"{describe(field.method)} has no verified bracket here: proofs are for AMLE, "
            "Harmonic and PLaplacian with a bracket"
        )
    found = field.evidence.proof(field.problem())
    if found is None:
        raise InputError("the bracket of this field cannot be written as a proof")
    return found


def field_sections(field: Extension, names: Collection[object] | bool = False) -> list[Section]:
    """Return the sections of a field, its bracket and its proof; `InputError` if it has none.

    `names` are those of the vertices: a list, True for the graph's own, or False for none.
    """
    proof = proof_of(field)
    graph, labels, prior = field.graph, field.labels, field.prior
    lower, upper = field.lower, field.upper
    assert graph is not None
    assert labels is not None
    assert lower is not None
    assert upper is not None
    if proof.bounds is not None:
        # the barriers are rounded: where they prove less, the bracket is widened
        below, above = proof.bounds
        if prior is not None:
            below = bound_plus_prior(labels, prior, below, -1)
            above = bound_plus_prior(labels, prior, above, +1)
        lower, upper = np.where(below < lower, below, lower), np.where(above > upper, above, upper)

    # the graph
    tails, heads, lengths = graph.tails, graph.indices, graph.lengths
    if not graph.directed:  # each edge once, from its lower end
        once = tails < heads
        tails, heads, lengths = tails[once], heads[once], lengths[once]
    sections: list[Section] = [
        ("size", struct.pack("<3Q", graph.num_vertices, tails.size, len(labels))),
        ("kind", struct.pack("<BBd", graph.directed, FILLS.index(proof.fill), proof.p)),
    ]
    if names is True:
        if graph.names is None:
            raise InputError("the graph has no names; pass a list, or use graph.with_names")
        names = graph.names
    if names is not False:
        sections += proof_file.names(names, graph.num_vertices, "vertices")
    sections += [proof_file.indices("tail", tails), proof_file.indices("head", heads)]
    if not graph.is_unit:
        sections.append(proof_file.doubles("leng", lengths))

    # the labels, and the prior that they correct
    sections.append(proof_file.indices("labv", labels.vertices))
    sections.append(proof_file.doubles("laby", labels.values))
    if prior is not None:
        sections.append(proof_file.doubles("prio", prior))
        sections.append(proof_file.doubles("corr", labels.values - prior[labels.vertices]))

    # the field and its bracket
    sections.append(proof_file.doubles("valu", field.values))
    sections.append(proof_file.counts("lowr", proof_file.doubles_between(lower, field.values)))
    sections.append(proof_file.counts("uppr", proof_file.doubles_between(field.values, upper)))

    # the reasons
    if proof.fixed is not None:
        sections.append(proof_file.bits("fixd", proof.fixed))
    barriers = proof.reasons
    if not isinstance(barriers, Enclosure):
        parts = []  # numerators and denominators, each after its number of bytes
        for number in barriers:
            top, bottom = number.as_integer_ratio()
            for part, signed in ((top, True), (bottom, False)):
                size = part.bit_length() // 8 + 1
                parts += [struct.pack("<I", size), part.to_bytes(size, "little", signed=signed)]
        return [*sections, ("rati", b"".join(parts))]
    sections.append(("shif", struct.pack("<dq", barriers.offset, barriers.exponent)))
    low = proof_file.doubles
    if barriers.base is not None:
        sections.append(proof_file.doubles("base", barriers.base))
        low = proof_file.singles
    for side, barrier in (("sub", barriers.below), ("sup", barriers.above)):
        sections.append(proof_file.doubles(f"{side}h", barrier.high))
        sections.append(low(f"{side}l", barrier.low))
    return sections
