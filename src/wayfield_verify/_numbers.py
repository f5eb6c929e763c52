"""The proof's numbers as integers: no rounding and no floating point from here on.

A double is a whole number times a power of two. So there is an s such that every value, bound,
label and barrier of the file is a whole multiple of 2^−s, and arithmetic on these multiples is that
of the integers. Lengths are whole multiples of a unit of their own, `length_unit` times as large.
Slopes are quotients, compared by multiplying out: the units do not matter there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from ._file import Barriers, Proof

Number = int | Fraction
"""A multiple of the file's unit 2^−s: whole, or a fraction where exact values are given."""
Arcs = list[list[tuple[int, int]]]
"""For every vertex its neighbours, each with the length of the arc, in units of lengths."""


class Numbers:
    """All numbers of a proof, in units of 2^−s."""

    def __init__(self, proof: Proof) -> None:
        reasons, plan = proof.reasons, proof.plan
        self._length_places = places(proof.lengths or ())
        doubles: list[Iterable[float]] = [
            proof.labels.values(), proof.corrections.values(),
            proof.values, proof.lower, proof.upper, proof.prior or (),
        ]  # fmt: skip
        if plan is not None:
            doubles += [plan.cost or (), plan.lifted or (), plan.error or ()]
            doubles.append(() if plan.label_error is None else (plan.label_error,))
        s = max(self._length_places, *map(places, doubles))
        if isinstance(reasons, Barriers):
            parts = (reasons.base, *reasons.below, *reasons.above)
            s = max(s, places([reasons.offset]), max(map(places, parts)) - reasons.exponent)
        self._s = s
        self.length_unit = 1 << s - self._length_places

    def whole(self, number: float) -> int:
        """Return a finite double as a multiple of 2^−s."""
        return whole(number, self._s)

    def barrier(self, barriers: Barriers, parts: tuple[Iterable[float], ...]) -> list[Number]:
        """Return offset + 2^exponent · (base + high + low), by vertex."""
        offset, shift = self.whole(barriers.offset), self._s + barriers.exponent
        found: list[Number] = []
        for numbers in zip(barriers.base, *parts, strict=True):
            total = offset
            for top, bottom in map(float.as_integer_ratio, numbers):
                total += top << shift - bottom.bit_length() + 1
            found.append(total)
        return found

    def exact(self, number: Fraction) -> Number:
        """Return a rational as a multiple of 2^−s."""
        scaled = number * (1 << self._s)
        return scaled.numerator if scaled.denominator == 1 else scaled

    def arcs(self, proof: Proof) -> tuple[Arcs, Arcs]:
        """Return the arcs out of each vertex and into it; one list if the graph is undirected."""
        n, edges, unit = proof.num_vertices, proof.edges, self._length_places
        out: Arcs = [[] for _ in range(n)]
        into: Arcs = [[] for _ in range(n)] if proof.directed else out
        for (x, y), number in zip(edges, proof.lengths or [1.0] * len(edges), strict=True):
            length = whole(number, unit)
            out[x].append((y, length))
            into[y].append((x, length))
        return out, into


def whole(number: float, s: int) -> int:
    """Return a finite double as a multiple of 2^−s; s must be large enough."""
    top, bottom = number.as_integer_ratio()
    return top << s - bottom.bit_length() + 1


def places(numbers: Iterable[float]) -> int:
    """Return the least s such that 2^s times every finite one of them is whole."""
    finite = filter(math.isfinite, numbers)
    return max((x.as_integer_ratio()[1].bit_length() - 1 for x in finite), default=0)
