"""Proving a field's bracket: the equation's barriers checked vertex by vertex, without rounding.

Write a and b for the lower and the upper barrier. The theorems are proved on the page "Proofs that
travel"; what they ask for is checked here, by these names.

- **The graph as it is** (Theorems 1 and 2): a ≤ labels ≤ b, and at every other vertex that is
  connected to a label a is a subsolution and b a supersolution. Then the extension exists, is
  unique, and lies between a and b.
- **Filled** (Theorem 3, the AMLE alone): the same on the fixed vertices and the arcs between them,
  and a ≤ b there; from every fixed vertex that is not a label some arc leads to a fixed y
  with a(x) > b(y); and no walk through vertices that are not fixed descends, in the sense that
  b(t) > a(t') for its ends t ≠ t'. Then these are the vertices that the AMLE fixes, it lies between
  a and b on them, and filling a and b bounds what it is filled with.

With a prior P the extension is that of the labels less P. The file holds these rounded, and δ is by
how much they are off at most: the extension moves by no more (Theorem 4).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from ._file import Barriers, Proof
from ._numbers import Arcs, Number, Numbers
from ._powers import sign_of_balance, sign_of_sum

NONE = math.inf
"""In place of a bound at a vertex from which no fixed vertex can be reached."""


class NotProved(Exception):  # noqa: N818
    """The file's proof fails."""


def prove_field(proof: Proof, numbers: Numbers) -> list[str]:
    """Prove the bracket of every vertex, and return what was proved; or raise `NotProved`."""
    out, into = numbers.arcs(proof)
    n, fixed, reasons, vertex = len(out), proof.fixed, proof.reasons, proof.vertex
    labels = {x: numbers.whole(y) for x, y in proof.corrections.items()}
    connected = reached_from(labels, [out] if out is into else [out, into], n)

    # the barriers by vertex; entries that are not needed are ignored
    if isinstance(reasons, Barriers):
        below = numbers.barrier(reasons, reasons.below)
        above = numbers.barrier(reasons, reasons.above)
    else:
        exact, given = [Fraction(0)] * n, iter(reasons)
        for x, is_fixed in enumerate(fixed or ()):
            if is_fixed:
                exact[x] = next(given)
        below = above = [numbers.exact(value) for value in exact]
    for x, label in labels.items():
        if below[x] > label:
            raise NotProved(f"the lower barrier exceeds the label of {vertex(x)}")
        if above[x] < label:
            raise NotProved(f"the upper barrier is below the label of {vertex(x)}")

    low: Sequence[Number | float] = below
    high: Sequence[Number | float] = above
    if fixed is None:  # the graph as it is
        free = [x for x in range(n) if connected[x] and x not in labels]
        _require_barriers(proof, free, out, into, below, above)
    else:  # filled: the same on the fixed vertices, and it must be certain which these are
        for x in labels:
            if not fixed[x]:
                raise NotProved(f"{vertex(x)} is labelled, and should be fixed")
        among = _between(out, fixed)
        back = among if into is out else _between(into, fixed)
        free = [x for x in range(n) if fixed[x] and x not in labels]
        _require_barriers(proof, free, among, back, below, above)
        for x in range(n):
            if fixed[x] and below[x] > above[x]:
                raise NotProved(f"the barriers are exchanged at {vertex(x)}")
        for x in free:
            if not any(below[x] > above[y] for y, _ in among[x]):
                raise NotProved(f"no arc certainly descends from the fixed {vertex(x)}")
        # b(t) <= a(t') whenever a walk leads from t to another t' through unfixed vertices: at an
        # unfixed x it is enough to know the two least a(t') that x leads to, the two largest b(t)
        # that lead to x, and whose they are
        reached = _two_least(fixed, into, below)
        leading = _two_least(fixed, out, [-value for value in above])
        for x, is_fixed in enumerate(fixed):
            for most, t in leading[x]:
                for least, end in reached[x]:
                    if not is_fixed and t != end and -most > least:
                        raise NotProved(
                            f"a walk through {vertex(x)} may descend "
                            f"from {vertex(t)} to {vertex(end)}"
                        )
        rate = numbers.length_unit if proof.fill == "cost" else 0
        filled = []
        for barrier in (below, above):
            known = [value if held else NONE for value, held in zip(barrier, fixed, strict=True)]
            filled.append(continued(known, fixed, into, rate))
        low, high = filled
    _require_bracket(proof, numbers, connected, low, high)
    return _sentences(proof, connected)


def reached_from(begin: Iterable[int], ways: Sequence[Arcs], n: int) -> list[bool]:
    """Return, by vertex, whether it can be reached from the first ones by any of the arcs."""
    todo, reached = list(begin), [False] * n
    for x in todo:
        reached[x] = True
    while todo:
        x = todo.pop()
        for arcs in ways:
            for y, _ in arcs[x]:
                if not reached[y]:
                    reached[y] = True
                    todo.append(y)
    return reached


# ---------------------------------------------------------------- the equations


def _require_barriers(
    proof: Proof,
    free: Iterable[int],
    out: Arcs,
    into: Arcs,
    below: Sequence[Number],
    above: Sequence[Number],
) -> None:
    """Check that the lower barrier is a subsolution at the free vertices, the upper the reverse."""
    p, vertex = proof.p, proof.vertex
    for x in free:
        for values, side, word in ((below, 1, "lower"), (above, -1, "upper")):
            here = values[x]
            sign: int | None
            if p == math.inf:
                sign = _steepness(values, x, out, into)
            elif p == 2.0:
                sign = sign_of_sum([(int(values[y] - here), length) for y, length in out[x]])
            else:
                slopes = [Fraction(values[y] - here) / length for y, length in out[x]]
                sign = sign_of_balance(slopes, Fraction(p) - 1)
            if sign is None:
                raise NotProved(f"the {word} barrier's balance at {vertex(x)} is undecided")
            if sign * side < 0:
                kind = "sub" if side > 0 else "super"
                raise NotProved(f"the {word} barrier is not a {kind}solution at {vertex(x)}")


def _steepness(values: Sequence[Number], x: int, out: Arcs, into: Arcs) -> int:
    """Return the sign of S⁺ − S⁻: steepest slope down into x, less the steepest out of it."""
    here = values[x]
    up: Number = 0
    down: Number = 0
    up_length = down_length = 1
    for y, length in into[x]:
        rise = values[y] - here
        if rise * up_length > up * length:
            up, up_length = rise, length
    for y, length in out[x]:
        fall = here - values[y]
        if fall * down_length > down * length:
            down, down_length = fall, length
    excess = up * down_length - down * up_length
    return (excess > 0) - (excess < 0)


# ---------------------------------------------------------------- filling


def _between(arcs: Arcs, fixed: Sequence[bool]) -> Arcs:
    """Return the arcs between fixed vertices."""
    return [
        [(y, length) for y, length in row if fixed[y]] if fixed[x] else []
        for x, row in enumerate(arcs)
    ]


def _two_least(
    fixed: Sequence[bool], back: Arcs, values: Sequence[Number]
) -> list[list[tuple[Number, int]]]:
    """Return, for each unfixed vertex, the two least values that walks lead to, and where."""
    found: list[list[tuple[Number, int]]] = [[] for _ in fixed]
    ends = (t for t, is_fixed in enumerate(fixed) if is_fixed)
    for t in sorted(ends, key=values.__getitem__):
        todo = [t]
        while todo:
            for y, _ in back[todo.pop()]:
                have = found[y]
                # a third is turned away, and t itself if it has been here
                if not fixed[y] and len(have) < 2 and not (have and have[-1][1] == t):
                    have.append((values[t], t))
                    todo.append(y)
    return found


def continued(
    known: Sequence[Number | float], stays: Sequence[bool], back: Arcs, rate: int
) -> list[Number | float]:
    """Return the least value + rate · length over walks to a known vertex, by Dijkstra's algorithm.

    A value that stays is not lowered, and no walk leads through it.
    """
    field = list(known)
    queue = [(value, x) for x, value in enumerate(field) if value != NONE]
    heapq.heapify(queue)
    while queue:
        value, x = heapq.heappop(queue)
        if value > field[x]:
            continue
        for y, length in back[x]:
            through = value + rate * length
            if not stays[y] and through < field[y]:
                field[y] = through
                heapq.heappush(queue, (through, y))
    return field


# ---------------------------------------------------------------- the statement


def _require_bracket(
    proof: Proof,
    numbers: Numbers,
    connected: list[bool],
    low: Sequence[Number | float],
    high: Sequence[Number | float],
) -> None:
    """Check that the bounds follow, and that every value lies within its own."""
    whole, labels, prior, vertex = numbers.whole, proof.labels, proof.prior, proof.vertex
    delta = 0
    if prior is not None:
        for x, label in labels.items():
            if prior[x] == math.inf:
                raise NotProved(f"the prior is infinite at the label of {vertex(x)}")
            rest = whole(label) - whole(prior[x]) - whole(proof.corrections[x])
            delta = max(delta, abs(rest))
        if delta and proof.fill not in (None, "flat"):
            raise NotProved(f"rounded corrections prove nothing with the fill {proof.fill!r}")
    rows = zip(proof.values, proof.lower, proof.upper, strict=True)
    for x, row in enumerate(rows):
        base = 0.0 if prior is None else prior[x]
        if base == math.inf or (connected[x] and low[x] == NONE):
            if any(number != math.inf for number in row):
                raise NotProved(f"the value of {vertex(x)} is infinite, and must be marked so")
        elif not connected[x]:
            if not all(map(math.isnan, row)):
                raise NotProved(f"{vertex(x)} is connected to no label, and has no value")
        elif not all(map(math.isfinite, row)):
            raise NotProved(f"a value or bound of {vertex(x)} is not a number")
        else:
            value, lower, upper = map(whole, row)
            if not lower <= value <= upper:
                raise NotProved(f"the value of {vertex(x)} is outside its bounds")
            if x in labels:
                if value != whole(labels[x]):
                    raise NotProved(f"the value of {vertex(x)} is not its label")
            elif lower > whole(base) + low[x] - delta:
                raise NotProved(f"the lower bound of {vertex(x)} does not follow")
            elif upper < whole(base) + high[x] + delta:
                raise NotProved(f"the upper bound of {vertex(x)} does not follow")


def _sentences(proof: Proof, connected: list[bool]) -> list[str]:
    p = proof.p
    name = {2.0: "harmonic extension", math.inf: "AMLE"}.get(
        p, f"p-Laplacian extension (p = {p!r})"
    )
    way = "directed" if proof.directed else "undirected"
    rule = "" if proof.fill is None else f", filled by the rule {proof.fill!r},"
    prior = "" if proof.prior is None else ", as corrections of a prior,"
    size = f"{number_of(proof.num_vertices, 'vertex', 'vertices')} and "
    size += number_of(len(proof.edges), "arc" if proof.directed else "edge")
    where = "" if all(connected) else " connected to a label"
    rows = zip(proof.lower, proof.upper, strict=True)
    widths = (high - low for low, high in rows if math.isfinite(high) and math.isfinite(low))
    found = [
        f"The {name} of {number_of(len(proof.labels), 'label')}{prior} on this {way} graph "
        f"of {size}{rule} exists and is unique.",
        f"At every vertex{where} it lies between the file's bounds, and so does the file's value; "
        f"the bounds are about {max(widths, default=0.0):.3g} apart at most.",
    ]
    if proof.fixed is not None:
        states = zip(connected, proof.fixed, proof.values, strict=True)
        filled = sum(a and not b and value < math.inf for a, b, value in states)
        found.append(
            f"Filled, since no walk through them descends from label to label: exactly "
            f"{number_of(filled, 'vertex', 'vertices')}."
        )
    if lone := connected.count(False):
        found.append(f"Connected to no label: {number_of(lone, 'vertex', 'vertices')}.")
    return found


def number_of(count: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun."""
    return f"{count} {one if count == 1 else many or one + 's'}"
