"""The sections of a field's certificate; the format is on the page "Proofs that travel"."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from .. import _proof_file as proof_file
from .._proof_file import Section
from ..graph import Graph
from ..kernels._types import FloatArray
from ..kernels.csr import edges_once
from ..labels import Labels
from ._prior import bound_plus_prior, less_prior
from ._proof import Barriers, Proof

if TYPE_CHECKING:
    from ._base import Extension

FILLS = (None, "cost", "flat", "lower")


def field_sections(field: Extension) -> list[Section]:
    """Return the field, its bracket and its proof; `InputError` if there is none."""
    proof = field.proof()
    graph, labels, lower, upper = field.graph, field.labels, field.lower, field.upper
    assert graph is not None
    assert labels is not None
    assert lower is not None
    assert upper is not None
    if proof.bounds is not None:
        lower, upper = _no_narrower(field, lower, upper, proof.bounds)
    return [
        *_graph_sections(graph, labels, proof),
        *_label_sections(labels, field.prior),
        proof_file.doubles("valu", field.values),
        proof_file.counts("lowr", proof_file.doubles_between(lower, field.values)),
        proof_file.counts("uppr", proof_file.doubles_between(field.values, upper)),
        *_proof_sections(proof),
    ]


def _no_narrower(
    field: Extension, lower: FloatArray, upper: FloatArray, proved: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Return the bracket, widened where its barriers, which are rounded, prove no more."""
    below, above = proved
    if field.prior is not None:
        assert field.labels is not None
        below = bound_plus_prior(field.labels, field.prior, below, -1)
        above = bound_plus_prior(field.labels, field.prior, above, +1)
    return np.where(below < lower, below, lower), np.where(above > upper, above, upper)


def _graph_sections(graph: Graph, labels: Labels, proof: Proof) -> list[Section]:
    tails, heads = (graph.tails, graph.indices) if graph.directed else edges_once(graph.arcs)
    sections: list[Section] = [
        ("size", struct.pack("<3Q", graph.num_vertices, tails.size, len(labels))),
        ("kind", struct.pack("<BBd", graph.directed, FILLS.index(proof.fill), proof.p)),
        proof_file.indices("tail", tails),
        proof_file.indices("head", heads),
    ]
    if not graph.is_unit:
        once = slice(None) if graph.directed else graph.tails < graph.indices
        sections.append(proof_file.doubles("leng", graph.lengths[once]))
    return sections


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
