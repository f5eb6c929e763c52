"""The directed AMLE in rationals, for ties that no interval can decide.

Whether a vertex between two fixed values is filled or fixed depends on whether they are equal, and
intervals around equal values overlap however narrow they are. Lengths and labels are doubles,
hence rationals, and so are the values: on a walk of length L that falls from b to a the value at
distance d from its lower end is a + d (b − a) / L. Unit lengths and whole-number labels keep the
numbers small.

**A part.** Few ties matter: those between fixed vertices next to one that may be filled. Let v be
the solution on the fixed vertices K, nowhere level, with known bounds around it. Let D be a part of
K such that at every unlabelled x of D, among the arcs of K into x, one is certainly steeper than
any that comes from outside D, and likewise for the arcs out of x. Then the steepest arcs at x in v
lie inside D, and v on D satisfies the vertex condition of the graph that D induces. By uniqueness
(``docs/proofs.md``), any field on D that satisfies it, nowhere level, is v. So `ties_decided`
collects the vertices whose order is in doubt and all that their values may depend on
(`kernels.fill.with_near_ties`). Only these are computed in rationals; the others keep bounds. If
there are too many near ties, or doubles got one wrong, `rational_amle` computes all of K.

**Candidate.** `_retraced` repeats the order of fixing, as `kernels.retrace` does. s(x) is
the slope of the walk through x. If a walk turns out to be exactly level, only rounding made it look
like a descent: its vertices are left unfixed.

**Proof.** The candidate is not trusted. At every unlabelled x in K, or in D, it is checked in
rationals that s(x) > 0 and that, among the arcs y → z inside this set,

    v(y) − v(z) ≤ s(x) ℓ   on those into x, with equality on one, and on those out of x likewise.

This is the vertex condition S⁺ = S⁻ = s, nowhere level. If also no walk through unfixed vertices
descends from K to K, v is the AMLE and K its fixed set (uniqueness). This last condition depends
only on the order of the values. It is exact where the values are (`Rational.rank`); elsewhere it is
taken from bounds.

**Near ties.** Slopes or values that differ by less than the rounding of doubles may look equal, so
that the order of fixing is wrong. Then some vertices are solved again by divide and conquer in
rationals, with all others as labels: those out of balance, those that take their value from them,
and all unfixed ones. The result is checked as before.

An arc is compared in doubles first, with a margin for rounding. Rationals are used only where that
is too close: on the walks themselves and where slopes tie.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ...numerics.csr import Arcs
from ...numerics.workers import check_time
from ...typing import BoolArray, FloatArray
from ..base import Problem
from .kernels import Fixing, fix
from .kernels.fill import (
    all_descend,
    certainly_filled,
    disputed,
    known_beside_unknown,
    with_near_ties,
)

MOST_RATIONALS = 2**20
"""Most vertices to compute in rationals, which takes 20 to 40 microseconds per vertex."""
MOST_BITS = 2000
"""The attempt ends if a numerator or denominator has more bits than this."""
MOST_CANDIDATES = 8
"""Largest number of candidates that are checked."""


class Rational(NamedTuple):
    """An exact solution on the fixed vertices; NaN on the others."""

    fixed: BoolArray
    """(n,) the labels and the vertices on a walk of positive slope."""
    values: FloatArray
    """(n,) rounded to nearest."""
    lower: FloatArray
    """(n,) rounded down."""
    upper: FloatArray
    """(n,) rounded up."""
    exact: list[Fraction]
    """The values of the fixed vertices, in ascending order of these."""
    rank: FloatArray
    """(n,) ordered, and equal, as the exact values are."""


def rational_amle(problem: Problem, fixing: Fixing) -> Rational | None:
    """Return the exact solution, with the filled vertices proved; None if that fails."""
    arcs = problem.graph.arcs, problem.graph.reverse_arcs
    values, slopes = _retraced(problem, fixing, fixing.fixed)
    for attempt in range(MOST_CANDIDATES):
        if not values:
            return None
        wrong = _out_of_balance(problem, values, slopes)
        if not wrong:
            found = _rounded(problem, values)
            if certainly_filled(*arcs, found.fixed, problem.labelled, found.rank, found.rank):
                return found
        if attempt + 1 < MOST_CANDIDATES:
            values, slopes = _solved_again(problem, values, slopes, wrong)
    return None


def ties_decided(problem: Problem, fixing: Fixing, lower: FloatArray, upper: FloatArray) -> bool:
    """Whether bounds prove which vertices to fill, with exact values where values tie."""
    graph, fixed, labelled = problem.graph, fixing.fixed, problem.labelled
    arcs = graph.arcs, graph.reverse_arcs
    if not all_descend(graph.arcs, fixed, labelled, lower, upper):
        return False
    ends = disputed(*arcs, fixed, lower, upper)
    if not ends.size:
        return True
    # The rim: fixed vertices next to unfixed ones. Those whose bounds overlap form clusters. The
    # order between clusters is known. A cluster in which an order is in doubt counts as tied.
    rim = np.flatnonzero(np.logical_or(*(known_beside_unknown(a, fixed) for a in arcs)))
    rim = rim[np.argsort(lower[rim], kind="stable")]
    apart = lower[rim[1:]] > np.maximum.accumulate(upper[rim[:-1]])
    cluster = np.concatenate([[0], np.cumsum(apart)])
    is_tied = np.isin(cluster, cluster[np.isin(rim, ends)])
    tied = rim[is_tied]
    part = with_near_ties(*arcs, fixed, labelled, lower, upper, tied)
    values, slopes = _retraced(problem, fixing, part)
    if len(values) < np.count_nonzero(part) or _out_of_balance(problem, values, slopes):
        return False
    # Bounds are replaced by their ranks. Between the rank of a cluster's least bound and the next
    # rank there is no bound of another cluster: there the exact values are placed.
    numbers = np.unique(np.append(lower[rim], upper[rim]))
    low, high = np.full(fixed.size, np.nan), np.full(fixed.size, np.nan)
    low[rim] = np.searchsorted(numbers, lower[rim])
    high[rim] = np.searchsorted(numbers, upper[rim])
    first = low[rim[np.searchsorted(cluster, cluster[is_tied])]]
    exact = [values[x] for x in tied.tolist()]
    place = {value: k for k, value in enumerate(sorted(set(exact)))}
    low[tied] = high[tied] = first + np.array([place[value] for value in exact]) / len(exact)
    return not disputed(*arcs, fixed, low, high).size


def _retraced(
    problem: Problem, fixing: Fixing, part: BoolArray
) -> tuple[dict[int, Fraction], dict[int, Fraction]]:
    """Return exact values and slopes by vertex, for the vertices of a part only.

    Both are empty if the part is too large or the numbers grow too long.
    """
    if np.count_nonzero(part) > MOST_RATIONALS:
        return {}, {}
    graph, at = problem.graph, problem.labels.vertices
    at = at[part[at]]
    values = dict(zip(at.tolist(), map(Fraction, problem.boundary[at].tolist()), strict=True))
    slopes: dict[int, Fraction] = {}
    level: set[int] = set()
    batch, rough = fixing.batch.item, fixing.values.item

    def walk(arcs: Arcs, x: int, sign: float) -> tuple[list[int], list[float]]:
        """Follow the steepest arcs, up or down, to a vertex with a value or until none is left.

        Returns the vertices met, x first, and the steps between them. The doubles change strictly
        along the walk, so it ends.
        """
        mine, path, steps = batch(x), [x], list[float]()
        while x not in values:
            steepest, following, step = 0.0, -1, 0.0
            row = slice(arcs.indptr[x], arcs.indptr[x + 1])
            for y, length in zip(
                arcs.indices[row].tolist(), arcs.lengths[row].tolist(), strict=True
            ):
                slope = sign * (rough(y) - rough(x)) / length
                leads_on = y in values or (batch(y) == mine and part[y] and y not in level)
                if slope > steepest and leads_on:
                    steepest, following, step = slope, y, length
            if following < 0:
                break
            x = following
            path.append(x)
            steps.append(step)
        return path, steps

    for x in fixing.order[part[fixing.order]].tolist():
        if x in values or x in level:
            continue
        check_time()
        down, down_steps = walk(graph.arcs, x, -1.0)
        up, up_steps = walk(graph.reverse_arcs, x, 1.0)
        path, lengths = down[::-1] + up[1:], [*map(Fraction, down_steps[::-1] + up_steps)]
        value, top = values.get(path[0]), values.get(path[-1])
        if value is None or top is None or not value < top:
            level.update(y for y in path if y not in values)
            continue
        slope = (top - value) / sum(lengths)
        for y, length in zip(path[1:-1], lengths, strict=False):
            value += slope * length
            if max(value.numerator.bit_length(), value.denominator.bit_length()) > MOST_BITS:
                return {}, {}
            values[y], slopes[y] = value, slope
    return values, slopes


def _out_of_balance(
    problem: Problem, values: dict[int, Fraction], slopes: dict[int, Fraction]
) -> set[int]:
    """Return the vertices whose slope is not that of the steepest arc in, or of that out."""
    indptr, heads, lengths = problem.graph.arcs
    n = indptr.size - 1
    tails = np.repeat(np.arange(n), np.diff(indptr))
    rough, steep = _as_doubles(values, n), _as_doubles(slopes, n)
    known = ~np.isnan(rough)
    inside = known[tails] & known[heads]
    tails, heads, lengths = tails[inside], heads[inside], lengths[inside]
    wrong = set[int]()
    for side in (tails, heads):
        attained = set[int]()
        for e in _too_close(rough[tails], rough[heads], steep[side], lengths):
            x = int(side[e])
            ends = values[int(tails[e])], values[int(heads[e])]
            excess = _excess(*ends, slopes[x], float(lengths[e]))
            if excess >= 0:
                (wrong if excess else attained).add(x)
        wrong |= slopes.keys() - attained
    return wrong


def _solved_again(
    problem: Problem, values: dict[int, Fraction], slopes: dict[int, Fraction], wrong: set[int]
) -> tuple[dict[int, Fraction], dict[int, Fraction]]:
    """Solve the wrong vertices again, with those that depend on them and the unfixed ones.

    Return all values and slopes; empty if this takes too long or too many bits.
    """
    graph, given = problem.graph, problem.boundary
    # a vertex depends on those at the other ends of its steepest arcs
    again, todo = set(wrong), list(wrong)
    while todo:
        x = todo.pop()
        for arcs, sign in ((graph.arcs, 1), (graph.reverse_arcs, -1)):
            for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
                y = int(arcs.indices[e])
                if y in slopes and y not in again:
                    drop = sign * (values[x] - values[y])
                    if drop == slopes[y] * Fraction(float(arcs.lengths[e])):
                        again.add(y)
                        todo.append(y)
    kept = {x: value for x, value in values.items() if x not in again}
    # in rationals, of magnitude at most 1 as `fix` requires
    scale = Fraction(2) ** int(np.frexp(np.abs(given).max())[1])
    labelled, labels = np.zeros(given.size, np.bool_), np.zeros(given.size, object)
    labelled[list(kept)] = True
    labels[list(kept)] = [value / scale for value in kept.values()]
    out, into = (
        side._replace(lengths=np.array([*map(Fraction, side.lengths.tolist())], object))
        for side in (graph.arcs, graph.reverse_arcs)
    )
    try:
        found = fix(out, into, labelled, labels, leave_flat=True, pause=_give_up)
    except _TooLong:
        return {}, {}
    steep = {x: slope for x, slope in slopes.items() if x not in again}
    for x in found.order.tolist():
        kept[x] = scale * found.values[x]
        steep[x] = scale * found.slopes[found.batch[x]]
        if max(kept[x].numerator.bit_length(), kept[x].denominator.bit_length()) > MOST_BITS:
            return {}, {}
    return kept, steep


class _TooLong(Exception):  # noqa: N818
    """Solving in rationals would take more than about ten seconds."""


def _give_up() -> None:
    check_time()
    raise _TooLong


def _excess(above: Fraction, below: Fraction, slope: Fraction, length: float) -> int:
    """Return a whole number of the sign of above − below − slope · length; nothing is reduced."""
    (a, b), (c, d) = above.as_integer_ratio(), below.as_integer_ratio()
    (p, q), (k, m) = slope.as_integer_ratio(), length.as_integer_ratio()
    return (a * d - b * c) * (q * m) - (p * k) * (b * d)


def _as_doubles(numbers: dict[int, Fraction], n: int) -> FloatArray:
    """Return the nearest double by vertex; NaN where there is no number."""
    rough = np.full(n, np.nan)
    rough[list(numbers)] = [float(number) for number in numbers.values()]
    return rough


def _too_close(
    above: FloatArray, below: FloatArray, slope: FloatArray, lengths: FloatArray
) -> list[int]:
    """Return the arcs on which doubles cannot prove that above − below < slope · length."""
    info, bound = np.finfo(np.float64), slope * lengths
    rounding = 8.0 * info.eps * (np.abs(above) + np.abs(below) + bound) + info.tiny
    unclear = ~((above - below) - bound < -rounding)
    found: list[int] = np.flatnonzero(unclear & ~np.isnan(slope)).tolist()
    return found


def _rounded(problem: Problem, values: dict[int, Fraction]) -> Rational:
    n = problem.labelled.size
    near = _as_doubles(values, n)
    near[problem.labels.vertices] = problem.labels.values
    lower, upper, rank = near.copy(), near.copy(), np.full(n, np.nan)
    doubles = near.tolist()
    place, last = -1, None
    for x in sorted(values, key=lambda x: (doubles[x], values[x])):
        exact, double = values[x], Fraction(doubles[x])
        if double > exact:
            lower[x] = np.nextafter(doubles[x], -np.inf)
        elif double < exact:
            upper[x] = np.nextafter(doubles[x], np.inf)
        place += exact != last
        last = exact
        rank[x] = place
    exact_values = [values[x] for x in sorted(values)]
    return Rational(~np.isnan(near), near, lower, upper, exact_values, rank)
