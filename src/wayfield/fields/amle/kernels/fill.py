"""Filling: values for the vertices that the equation of the AMLE leaves open.

The equation leaves a vertex open if no walk through it descends from one fixed vertex to another.
Its value is then the least u(t) + rate · length over walks to a fixed vertex t, with all inner
vertices unfixed. At rate 1 this adds the cost of the path to t. At rate 0 it is the least value
within reach. `certainly_filled` tests whether bounds on the fixed values prove that exactly these
vertices are open.
"""

from __future__ import annotations

import numpy as np

from ....numerics.csr import Arcs
from ....numerics.doubledouble import FEW_ROUNDINGS, two_sum
from ....numerics.heap import Heap, drop_least, push
from ....numerics.jit import njit
from ....typing import BoolArray, FloatArray, IntArray


@njit(cache=True, nogil=True)
def fill(into: Arcs, known: BoolArray, values: FloatArray, rate: float, rounding: int) -> None:
    """Fill `values` where they are not `known`; inf where no known vertex can be reached.

    Sums are rounded to nearest (`rounding` 0), down (-1) or up (1): filling lower bounds with -1
    and upper bounds with 1 bounds the filled field.
    """
    n = known.size
    for x in range(n):
        if not known[x]:
            values[x] = np.inf
    capacity = into.indices.size + 1
    heap = Heap(np.empty(capacity), np.empty(capacity, np.int32))
    size = 0
    for x in range(n):
        # the known vertices are sources with their values as keys, but none of them enters the heap
        if known[x] and values[x] < np.inf:
            size = _relax(into, known, values, rate, rounding, x, heap, size)
    while size > 0:
        key = heap.keys[0]
        x = heap.vertices[0]
        size = drop_least(heap, size)
        # otherwise x has been reached at less since: the entry is outdated
        if key == values[x]:
            size = _relax(into, known, values, rate, rounding, x, heap, size)


@njit(cache=True, nogil=True)
def _relax(
    into: Arcs,
    known: BoolArray,
    values: FloatArray,
    rate: float,
    rounding: int,
    x: int,
    heap: Heap,
    size: int,
) -> int:
    for e in range(into.indptr[x], into.indptr[x + 1]):
        y = into.indices[e]
        if known[y]:
            continue
        # the rate is 0, 1 or 2, so the product is exact; the sum is rounded in the direction asked
        # for
        total, error = two_sum(values[x], rate * into.lengths[e])
        if error * rounding > 0.0:
            total = np.nextafter(total, rounding * np.inf)
        if total < values[y]:
            values[y] = total
            size = push(heap, size, total, y)
    return size


@njit(cache=True, nogil=True)
def _two_least(
    back: Arcs, known: BoolArray, order: IntArray, values: FloatArray
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Do the work of `two_least`; `order` lists the known vertices by value, the least first."""
    n = known.size
    first = np.full(n, np.inf)
    owner = np.full(n, -1, np.int64)
    second = np.full(n, np.inf)
    queue = np.empty(n + 1, np.int64)
    # from the least value upwards: the first two vertices t to arrive at y are its two least, and a
    # third is turned away, so that every arc is looked at no more than twice
    for t in order:
        queue[0] = t
        head = 0
        tail = 1
        while head < tail:
            x = queue[head]
            head += 1
            for e in range(back.indptr[x], back.indptr[x + 1]):
                y = back.indices[e]
                # t has been here before, or y has its two already
                if known[y] or owner[y] == t or second[y] < np.inf:
                    continue
                if owner[y] < 0:
                    first[y] = values[t]
                    owner[y] = t
                else:
                    second[y] = values[t]
                queue[tail] = y
                tail += 1
    return first, owner, second


def certainly_filled(
    out: Arcs,
    into: Arcs,
    known: BoolArray,
    labelled: BoolArray,
    lower: FloatArray,
    upper: FloatArray,
) -> bool:
    """Whether no descent leads through the unknown vertices, and one through every known one.

    Then the known vertices are exactly those of positive slope: the known values, filled flat,
    satisfy the equation everywhere, and two solutions of the equation agree wherever one of them
    has a slope. Only the order of the values matters, so ranks may be passed instead of values.
    """
    descend = all_descend(out, known, labelled, lower, upper)
    return descend and not disputed(out, into, known, lower, upper).size


def disputed(
    out: Arcs, into: Arcs, known: BoolArray, lower: FloatArray, upper: FloatArray
) -> IntArray:
    """Return known vertices at the ends of walks through unknown ones that may descend.

    For each unknown vertex on such a walk, these are the known vertex of the largest upper bound
    that leads to it, and the one of the least lower bound that it can reach.
    """
    # The steepest descent through x would lead from the largest value that leads to x to the least
    # value that x can reach. If both belong to the same vertex, a walk needs another one at one of
    # its ends.
    low, low_owner, next_low = two_least(into, known, lower)
    high, high_owner, next_high = two_least(out, known, -upper)
    same = (low_owner == high_owner) & (low_owner >= 0)
    may = ~known & np.where(same, (-next_high > low) | (-high > next_low), -high > low)
    return np.union1d(low_owner[may], high_owner[may])


def two_least(
    back: Arcs, known: BoolArray, values: FloatArray
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return the least value each unknown vertex can reach, its vertex, and the next least.

    Walks run through unknown vertices, against the arcs `back`. inf and -1 where there is none.
    """
    at = np.flatnonzero(known_beside_unknown(back, known))
    return _two_least(back, known, at[np.argsort(values[at])], values)


def all_descend(
    out: Arcs, known: BoolArray, labelled: BoolArray, lower: FloatArray, upper: FloatArray
) -> bool:
    """Whether every known vertex but the labels has an arc that certainly descends."""
    tails = np.repeat(np.arange(known.size), np.diff(out.indptr))
    # unknown neighbours are filled from known ones later, and prove nothing now
    descends = ~known | labelled
    descends[tails[known[out.indices] & (lower[tails] > upper[out.indices])]] = True
    return bool(descends.all())


@njit(cache=True, nogil=True)
def with_near_ties(
    out: Arcs,
    into: Arcs,
    known: BoolArray,
    labelled: BoolArray,
    lower: FloatArray,
    upper: FloatArray,
    some: IntArray,
) -> BoolArray:
    """Return a mask of some known vertices and all known ones that their values may depend on.

    A value depends on the other ends of the steepest arcs in and out. An end is left out only if
    another arc is certainly steeper.
    """
    inside = np.zeros(known.size, np.bool_)
    queue = np.empty(known.size, np.int64)
    tail = 0
    for x in some:
        inside[x] = True
        queue[tail] = x
        tail += 1
    head = 0
    while head < tail:
        x = queue[head]
        head += 1
        # a label takes its value from nowhere
        for side in range(0 if labelled[x] else 2):
            indptr, indices, lengths = out if side == 0 else into
            least = -np.inf  # lower bound on the steepest slope
            for e in range(indptr[x], indptr[x + 1]):
                y = indices[e]
                if known[y]:
                    drop = lower[x] - upper[y] if side == 0 else lower[y] - upper[x]
                    least = max(least, drop / lengths[e])
            for e in range(indptr[x], indptr[x + 1]):
                y = indices[e]
                if not known[y] or inside[y]:
                    continue
                drop = upper[x] - lower[y] if side == 0 else upper[y] - lower[x]
                most = drop / lengths[e]
                # both quotients are rounded, and may underflow
                if not most < least - FEW_ROUNDINGS * (abs(most) + abs(least)) - 2.0**-1022:
                    inside[y] = True
                    queue[tail] = y
                    tail += 1
    return inside


def known_beside_unknown(back: Arcs, known: BoolArray) -> BoolArray:
    """Return the known vertices that some unknown vertex leads to."""
    tails = np.repeat(np.arange(known.size), np.diff(back.indptr))
    beside = np.zeros(known.size, np.bool_)
    beside[tails[~known[back.indices]]] = True
    return beside & known
