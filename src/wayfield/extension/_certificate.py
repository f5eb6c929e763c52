"""The sections of a field's certificate; the format is on the page "Proofs that travel"."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from .. import _proof_file as proof_file
from .._proof_file import Section
from ..errors import InputError
from ..graph import Graph
from ..kernels._types import FloatArray
from ..labels import Labels
from ._prior import less_prior
from ._proof import Barriers, Proof

if TYPE_CHECKING:
    from ._base import Extension

FILLS = (None, "cost", "flat", "lower")


def field_sections(field: Extension) -> list[Section]:
    """Return the field, its bracket and its proof; `InputError` if there is none."""
    graph, labels, lower, upper, proof = (
        field.graph, field.labels, field.lower, field.upper, field.proof
    )  # fmt: skip
    if graph is None or labels is None or proof is None or lower is None or upper is None:
        raise InputError(f"this field has no bracket that could be proved: {field!r}")
    statement = (("valu", field.values), ("lowr", lower), ("uppr", upper))
    return [
        *_graph_sections(graph, labels, proof),
        *_label_sections(labels, field.prior),
        *(proof_file.doubles(tag, numbers) for tag, numbers in statement),
        *_proof_sections(proof),
    ]


def _graph_sections(graph: Graph, labels: Labels, proof: Proof) -> list[Section]:
    tails, heads, lengths = graph.tails, graph.indices, graph.lengths
    if not graph.directed:
        once = tails < heads
        tails, heads, lengths = tails[once], heads[once], lengths[once]
    sections = [
        ("size", struct.pack("<3Q", graph.num_vertices, tails.size, len(labels))),
        ("kind", struct.pack("<BBd", graph.directed, FILLS.index(proof.fill), proof.p)),
        proof_file.indices("tail", tails),
        proof_file.indices("head", heads),
    ]
    return sections if graph.is_unit else [*sections, proof_file.doubles("leng", lengths)]


def _label_sections(labels: Labels, prior: FloatArray | None) -> list[Section]:
    sections = [
        proof_file.indices("labv", labels.vertices),
        proof_file.doubles("laby", labels.values),
    ]
    if prior is not None:
        sections.append(proof_file.doubles("prio", prior))
        sections.append(proof_file.doubles("corr", less_prior(labels, prior).values))
    return sections


def _proof_sections(proof: Proof) -> list[Section]:
    sections = [] if proof.fixed is None else [proof_file.bits("fixd", proof.fixed)]
    if not isinstance(proof.reasons, Barriers):
        return [*sections, ("rati", _rationals(proof.reasons))]
    barriers = proof.reasons
    sections.append(("shif", struct.pack("<dq", barriers.offset, barriers.exponent)))
    low = proof_file.doubles
    if barriers.base is not None:
        sections.append(proof_file.doubles("base", barriers.base))
        low = proof_file.singles
    for side, barrier in (("sub", barriers.below), ("sup", barriers.above)):
        sections.append(proof_file.doubles(f"{side}h", barrier.high))
        sections.append(low(f"{side}l", barrier.low))
    return sections


def _rationals(numbers: Sequence[Fraction]) -> bytes:
    """Numerators and denominators, each behind its number of bytes."""
    parts = []
    for number in numbers:
        top, bottom = number.as_integer_ratio()
        for part, signed in ((top, True), (bottom, False)):
            size = part.bit_length() // 8 + 1
            parts.append(struct.pack("<I", size) + part.to_bytes(size, "little", signed=signed))
    return b"".join(parts)
