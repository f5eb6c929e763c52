"""Barriers around the AMLE that can be written down: a sub- and a supersolution, exactly.

`proof.bracket` proves margins around a field v; what they rest on is a field g(v) that is
never written down. A certificate needs one that is, and the rounded field B itself must have
S⁺ ≥ S⁻, exactly. So this pass takes the retraced field once more, and counts in the rounding of B.

Write S⁺(x) for the steepest slope up into x, S⁻(x) for the steepest slope down out of it. On a
component of the unlabelled vertices let a ≤ v ≤ b, and for k ≥ 0 with k (b − a) ≤ 1/2 take

    g(t) = t + k (t − a)(t − b),     g increasing, g ≤ t on [a, b], g(a) = a, g(b) = b.

From g(s) − g(t) = (s − t)(g'(t) + k (s − t)): the arc that gives S⁺ = σ and climbs by δ = σ ℓ has
slope σ (g' + k δ) after g is applied, while no downward slope exceeds g' S⁻. As g' ≤ 3/2, the field
g(v) has S⁺ ≥ S⁻ wherever k δ ≥ (3/2) (S⁻ − S⁺) / S⁺.

**Rounding.** With |B − g(v)| ≤ η a climb loses at most 2η and a drop gains at most 2η. As g' ≥ 1/2,
this is as if v had 4η less to climb and 4η more to drop, so S⁺ and S⁻ are taken of such climbs and
drops. To begin with, v is rounded down to a multiple of 16η or more, so that no climb becomes a
drop; what is taken off it is rounded to a multiple of a much finer `grain`, so that equal v have
equal B. At a label B is the label. That is no less than g(v), which can only help its neighbours.

**Flat spots.** Where all drops around a vertex are of the order of the rounding of v itself the
condition can ask for a huge k. Then the vertices with no drop above some `flat` are gathered into
clusters, and a cluster takes the least value on itself and its neighbours: inside it S⁻ = 0, so
nothing is asked there, and the change is counted in the slopes of the vertices around it.

The supersolution is the subsolution of −v with up and down exchanged, negated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import njit
from .._types import BoolArray, FloatArray, IntArray
from ..csr import Arcs
from ..doubledouble import (
    DD_ERROR,
    Pair,
    add,
    divide_double,
    fast_two_sum,
    multiply,
    multiply_double,
    two_sum,
)
from .pieces import (
    FLAT_LEVELS,
    SLACK,
    Sides,
    Slope,
    flattened,
    least_curvature,
    less,
    pieces,
    ranges,
)

COARSEST = 2.0**-90
"""The bases of the barriers are multiples of this: a coarser grain than any that is used."""
GRAINS = (2.0**-126, 2.0**-118, 2.0**-112, 2.0**-106, COARSEST)
"""A barrier is held as its base plus 76 bits: a fine grain is for barriers close to the field."""


class Barriers(NamedTuple):
    """Base + high + low, below and above; the low parts are numbers of single precision."""

    base: FloatArray
    """(n,) doubles next to the field."""
    below: Pair
    above: Pair


def barriers(out: Arcs, into: Arcs, free: BoolArray, field: Pair) -> Barriers | None:
    """Return a sub- and a supersolution next to a field close to the AMLE; None if unproved.

    Parameters
    ----------
    out, into : Arcs
        The graph, and its arcs turned round: the same arrays if it is undirected.
    free : (n,) bool array
        Where the equation has to hold. Every other vertex is a label, or NaN and left out.
    field : Pair
        A field that takes the labels, of magnitude at most 1. Nothing else of it is believed.
    """
    sides = Sides(into, out, (out,) if into.indices is out.indices else (into, out))
    piece, count = pieces(sides, free)
    base = np.where(free, np.rint(field.high / COARSEST) * COARSEST, field.high)
    below = _subsolution(sides, piece, count, field, base)
    # above the field is below its negative, with up and down exchanged
    mirrored, negated = Sides(sides.down, sides.up, sides.around), Pair(-field.high, -field.low)
    above = _subsolution(mirrored, piece, count, negated, -base)
    if below is None or above is None:
        return None
    return Barriers(base, below, Pair(-above.high, -above.low))


def _subsolution(
    sides: Sides, piece: IntArray, count: int, field: Pair, base: FloatArray
) -> Pair | None:
    """Return a subsolution less its base, flattened as much as needed and no more."""
    barrier = Pair(np.zeros(piece.size), np.zeros(piece.size))
    open_pieces = np.ones(count, np.bool_)
    for grain in GRAINS:
        for flat in (0.0, *FLAT_LEVELS):
            used = _floored(piece, field, max(2.0**-110, 8.0 * grain))
            if flat > 0.0:
                used = flattened(sides, piece, used, flat, np.zeros(piece.size, np.bool_))
            curvature = _curvatures(sides, piece, used, open_pieces, grain)
            too_long = _bend(sides, piece, used, curvature, grain, base, open_pieces, barrier)
            if not open_pieces.any():
                return barrier
            # flattening does not shorten what has too many digits; a coarser grain does
            if too_long:
                break
    return None


@njit(cache=True, nogil=True)
def _floored(piece: IntArray, field: Pair, grid: float) -> Pair:
    """Return the field rounded down to multiples of `grid`; the labels as they are."""
    high, low = field.high.copy(), field.low.copy()
    per_unit = 1.0 / grid  # powers of two, so nothing is rounded
    for x in range(piece.size):
        if piece[x] < 0:
            continue
        # large numbers have no digits below the grid but in their low part
        if abs(high[x]) >= 2.0**53 * grid:
            low[x] = np.floor(low[x] * per_unit) * grid
            continue
        first = np.rint(high[x] * per_unit) * grid
        rest = np.floor(((high[x] - first) + low[x]) * per_unit) * grid
        high[x], low[x] = fast_two_sum(first, rest)
        # where the sum within was rounded up
        if less(field, x, Pair(high, low), x):
            high[x], low[x] = add(high[x], low[x], -grid, 0.0)
    return Pair(high, low)


@njit(cache=True, nogil=True)
def _curvatures(
    sides: Sides, piece: IntArray, field: Pair, open_pieces: BoolArray, grain: float
) -> FloatArray:
    """Least k in every piece that is still open; inf if there is none."""
    more = 2.05 * grain  # 4η, where η is half a grain and next to nothing
    curvature = np.zeros(open_pieces.size)
    for x in range(piece.size):
        c = piece[x]
        if c >= 0 and open_pieces[c] and curvature[c] < np.inf:
            rise = _steepest(sides.up, piece, field, x, 1.0, -more)
            fall = _steepest(sides.down, piece, field, x, -1.0, more)
            surplus = add(fall.high, fall.low, -rise.high, -rise.low)[0]
            surplus += 4.0 * DD_ERROR * (fall.high + rise.high)
            asked = least_curvature(surplus, rise.high, rise.climb)
            curvature[c] = max(curvature[c], asked)
    return curvature


@njit(cache=True, inline="always")
def _steepest(arcs: Arcs, piece: IntArray, field: Pair, x: int, sign: float, more: float) -> Slope:
    """Steepest slope up (sign 1) or down (-1) from x; neighbours without a value are NaN.

    Every step that is not level counts as longer by `more`. Only arcs that come close to the
    steepest in doubles are looked at twice.
    """
    indptr, indices, lengths = arcs
    high, low = field
    # first a slope in doubles that the steepest surely reaches; then double-double, only for the
    # arcs that may exceed it
    rough = 0.0
    for e in range(indptr[x], indptr[x + 1]):
        slope = (sign * (high[indices[e]] - high[x]) - SLACK) / lengths[e]
        if slope > rough:
            rough = slope
    bar = (1.0 - 1e-10) * rough
    best = Slope(0.0, 0.0, 0.0)
    for e in range(indptr[x], indptr[x + 1]):
        y = indices[e]
        # `not … >=`: a neighbour without a value is NaN, and skipped
        if not sign * (high[y] - high[x]) + SLACK >= bar * lengths[e]:
            continue
        step = add(high[y], low[y], -high[x], -low[x])
        climb = sign * step[0]
        # a label is not rounded, and what bounds the field at x is not above it: no step the other
        # way, however short, becomes one this way
        if climb == 0.0 or (climb < 0.0 and piece[y] < 0):
            continue
        # what is next to nothing beside the climb fits into its low part
        if climb > 2.0**48 * abs(more):
            fine = (climb, sign * step[1] + more)
        else:
            fine = add(climb, sign * step[1], more, 0.0)
        if lengths[e] != 1.0:
            fine = divide_double(fine[0], fine[1], lengths[e])
        if fine[0] > best.high or (fine[0] == best.high and fine[1] > best.low):
            best = Slope(fine[0], fine[1], climb)
    return best


@njit(cache=True, nogil=True)
def _bend(
    sides: Sides,
    piece: IntArray,
    used: Pair,
    curvature: FloatArray,
    grain: float,
    base: FloatArray,
    open_pieces: BoolArray,
    barrier: Pair,
) -> bool:
    """Write g of `used`, less its base, into the barrier of every open piece, and close it.

    A piece stays open if its curvature is too large, or its barrier has too many digits. Returns
    whether any has.
    """
    least, most = ranges(sides, piece, curvature.size, used.high)
    # low parts are left out of the range, so it is widened by more than they can be. The bound
    # k (b − a) ≤ 1/2 of the module, short of rounding: beyond it g is not increasing
    too_long = False
    bent = open_pieces & (curvature * ((most + SLACK) - (least - SLACK)) <= 0.499)
    for x in range(piece.size):
        c = piece[x]
        if c >= 0 and bent[c]:
            a, b = least[c] - SLACK, most[c] + SLACK
            first, rest = _bent(used, x, base[x], curvature[c], a, b, grain)
            barrier.high[x], barrier.low[x] = first, rest
            # what is to be written down must have no more digits than there is room for
            if rest != np.float32(rest):
                bent[c] = False
                too_long = True
    for c in range(bent.size):
        if bent[c]:
            open_pieces[c] = False
    return too_long


@njit(cache=True, nogil=True)
def _bent(
    field: Pair, x: int, base: float, k: float, a: float, b: float, grain: float
) -> tuple[float, float]:
    """Return v − k (v − a)(b − v) − base, what is taken off v being a multiple of the grain.

    All are multiples of the grain, and far shorter than 106 of them: nothing is rounded but that.
    """
    high, low = field.high[x], field.low[x]
    over = add(high, low, -a, 0.0)
    under = add(b, 0.0, -high, -low)
    square = multiply(over[0], over[1], under[0], under[1])
    bend = multiply_double(square[0], square[1], k)
    first = np.rint(bend[0] / grain) * grain
    rest = np.rint(((bend[0] - first) + bend[1]) / grain) * grain
    off = two_sum(high - base, low)
    return add(off[0], off[1], -first, -rest)
