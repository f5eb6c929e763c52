"""Pieces of the unlabelled vertices, where the solver begins and brackets look; see `proof`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import njit
from .._types import BoolArray, FloatArray, IntArray
from ..csr import Arcs
from ..doubledouble import Pair

SLACK = 2.0**-52
"""More than the low part of a value of magnitude at most 1."""
FLAT_LEVELS = (1e-27, 1e-22, 1e-18, 1e-15, 1e-12, 1e-9)
"""Drops taken for flat, from where the rounding of the retracing ends upwards."""


class Sides(NamedTuple):
    """The arcs of a graph as a bracket looks at them."""

    up: Arcs
    """Into a vertex: where it can be reached from above."""
    down: Arcs
    """Out of a vertex: where it can go down."""
    around: tuple[Arcs, ...]
    """Both, or once if they are the same."""


def sides_of(out: Arcs, into: Arcs) -> Sides:
    """Look at a graph and its arcs turned round, the same arrays if it is undirected."""
    return Sides(into, out, (out,) if into.indices is out.indices else (into, out))


class Slope(NamedTuple):
    """The steepest slope at a vertex, in double-double, and the climb of its arc; 0 if none."""

    high: float
    low: float
    climb: float


class Ranges(NamedTuple):
    """The values of pieces lie between these."""

    least: FloatArray
    most: FloatArray


@njit(cache=True, nogil=True)
def pieces(sides: Sides, free: BoolArray) -> tuple[IntArray, int]:
    """Components of the free vertices, numbered by their first one; -1 elsewhere."""
    piece = np.empty(free.size, np.int32)
    undirected = len(sides.around) == 1
    # first a parent for each, with a lower number, up to the first vertex, which is its own
    for x in range(free.size):
        piece[x] = x if free[x] else -1
    indptr, indices, _ = sides.down
    for x in range(free.size):
        if not free[x]:
            continue
        root = _root(piece, x)
        for e in range(indptr[x], indptr[x + 1]):
            y = indices[e]
            # undirected, the arc that leads back says no more
            if free[y] and (y < x or not undirected):
                other = _root(piece, y)
                if other < root:
                    piece[root] = other
                    root = other
                else:
                    piece[other] = root
    count = 0
    for x in range(free.size):
        if piece[x] == x:
            piece[x] = count
            count += 1
        elif piece[x] >= 0:
            piece[x] = piece[piece[x]]
    return piece, count


@njit(cache=True, nogil=True, inline="always")
def _root(parent: IntArray, x: int) -> int:
    """Follow parents from x to one that is its own, and halve the way for the next time."""
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@njit(cache=True, nogil=True)
def ranges(
    sides: Sides, piece: IntArray, count: int, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Least and largest value of every piece, its rim of labels included."""
    least, most = np.full(count, np.inf), np.full(count, -np.inf)
    for x in range(piece.size):
        c = piece[x]
        if c >= 0:
            least[c] = min(least[c], high[x])
            most[c] = max(most[c], high[x])
        # x is a label: it bounds every piece it touches
        elif not np.isnan(high[x]):
            for arcs in sides.around:
                for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
                    c = piece[arcs.indices[e]]
                    if c >= 0:
                        least[c] = min(least[c], high[x])
                        most[c] = max(most[c], high[x])
    return least, most


@njit(cache=True, nogil=True, allocates=False)
def least_curvature(surplus: float, slope: float, climb: float) -> float:
    """Least k with k · climb ≥ 3/2 · surplus / slope, rounded up."""
    if surplus <= 0.0:
        return 0.0
    # no arc climbs, yet one falls: no curvature can mend that, flattening may
    if slope <= 0.0 or climb <= 0.0:
        return np.inf
    k = (1.5 + 1e-9) * (surplus / slope) / climb
    # an overflow on the way is a NaN, which compares false
    return k if k >= 0.0 else np.inf


def flattened(sides: Sides, piece: IntArray, field: Pair, flat: float, touched: BoolArray) -> Pair:
    """Return what `flatten` makes of a field."""
    result = Pair(field.high.copy(), field.low.copy())
    flatten(sides, piece, field, flat, touched, result)
    return result


@njit(cache=True, nogil=True)
def flatten(
    sides: Sides, piece: IntArray, field: Pair, flat: float, touched: BoolArray, result: Pair
) -> None:
    """Give every flat cluster the least value on and around it, in `result`, a copy of the field.

    Marks in `touched` the vertices whose value changed, and their neighbours.
    """
    high, low = result
    # decided for the field as it was: what changes below must not make further vertices flat
    is_flat = np.zeros(piece.size, np.bool_)
    for x in range(piece.size):
        is_flat[x] = piece[x] >= 0 and _is_flat(sides, field, x, flat)
    queue = np.empty(piece.size, np.int32)
    for root in range(piece.size):
        if not is_flat[root]:
            continue
        # clears its own marks as it goes: each cluster is gathered once
        is_flat[root] = False
        queue[0] = root
        head = 0
        tail = 1
        least = root
        while head < tail:
            x = queue[head]
            head += 1
            for arcs in sides.around:
                for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
                    y = arcs.indices[e]
                    if less(field, y, field, least):
                        least = y
                    if is_flat[y]:
                        is_flat[y] = False
                        queue[tail] = y
                        tail += 1
        # the new value lies below or at the old one everywhere, so the lower bound only falls
        for x in queue[:tail]:
            if less(field, least, field, x):
                high[x] = field.high[least]
                low[x] = field.low[least]
                touched[x] = True
                for arcs in sides.around:
                    for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
                        touched[arcs.indices[e]] = True


@njit(cache=True, nogil=True, allocates=False)
def _is_flat(sides: Sides, field: Pair, x: int, flat: float) -> bool:
    """Whether no neighbour of x differs from it by more than `flat`."""
    high, low = field
    for arcs in sides.around:
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            y = arcs.indices[e]
            if abs((high[y] - high[x]) + (low[y] - low[x])) > flat:
                return False
    return True


@njit(cache=True, nogil=True, allocates=False)
def less(field: Pair, x: int, other: Pair, y: int) -> bool:
    """Whether the value of one field at x is less than that of the other at y."""
    same = field.high[x] == other.high[y]
    return field.high[x] < other.high[y] or (same and field.low[x] < other.low[y])
