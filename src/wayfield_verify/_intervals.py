"""Proving moves optimal by the interval test, from labels and distances alone.

Suppose that every label is within the file's label error of the true cost-to-go V, that V is 0 at
the goal, and that no arc costs more than its length. Let M(x) be the least label + error + distance
from x to the label. Let W(x) be the largest label − error − distance from the label to x, or 0 if
that is negative. Then W ≤ V ≤ M. A move from x to c is optimal if ℓ(x, c) + M(c) ≤ ℓ(x, b) + W(b)
for every other arc x → b. Both fields are computed here, by Dijkstra's algorithm in integers.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from ._field import NotProved
from ._file import Plan, Proof
from ._numbers import Arcs, Numbers


def require_proved(proof: Proof, plan: Plan, numbers: Numbers, out: Arcs, into: Arcs) -> None:
    """Raise `NotProved` if a move that the file calls proved does not pass the test."""
    if plan.label_error is None:
        return
    error, unit, vertex = numbers.whole(plan.label_error), numbers.length_unit, proof.vertex
    sources = {x: (numbers.whole(y), error) for x, y in proof.labels.items()}
    sources.setdefault(plan.goal, (0, 0))
    above = _cone(into, {x: y + e for x, (y, e) in sources.items()}, unit)
    negated = _cone(out, {x: e - y for x, (y, e) in sources.items()}, unit)
    below = [0 if u is None else max(0, -u) for u in negated]
    for x, (least, most) in enumerate(zip(below, above, strict=True)):
        if most is not None and least > most:
            raise NotProved(f"labels and graph contradict each other at {vertex(x)}")
    for x, claimed in enumerate(plan.proved):
        move = plan.successor[x]
        if not claimed or x == plan.goal:
            continue
        most = above[move]
        length = next((length for y, length in out[x] if y == move), None)
        if length is None or most is None:
            raise NotProved(f"the intervals do not prove the move from {vertex(x)} optimal")
        for y, other in out[x]:
            if y != move and length * unit + most > other * unit + below[y]:
                raise NotProved(
                    f"the intervals do not prove the move from {vertex(x)} to {vertex(move)} "
                    f"optimal: the move to {vertex(y)} may be better"
                )


def _cone(arcs: Arcs, sources: dict[int, int], unit: int) -> Sequence[int | None]:
    """Return the least source + distance along the arcs; None where no source can lead."""
    best: list[int | None] = [None] * len(arcs)
    heap = [(start, x) for x, start in sources.items()]
    heapq.heapify(heap)
    while heap:
        key, x = heapq.heappop(heap)
        if best[x] is not None:
            continue
        best[x] = key
        for y, length in arcs[x]:
            if best[y] is None:
                heapq.heappush(heap, (key + length * unit, y))
    return best
