"""BarrierPair around the AMLE that can be written down: a sub- and a supersolution, exactly.

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
drops. To begin with, v is rounded down to a multiple of 12η or more, so that no climb becomes a
drop; what is taken off it is rounded to a multiple of a much finer `grain`, so that equal v have
equal B. At a label B is the label. That is no less than g(v), which can only help its neighbours.
A label is not rounded before, either, and B is nowhere above the rounded v: a vertex that is not
above a label stays so.

**Flat spots.** Where all drops around a vertex are of the order of the rounding of v itself the
condition can ask for a huge k. Then the vertices with no drop above some `flat` are gathered into
clusters, and a cluster takes the least value on itself and its neighbours: inside it S⁻ = 0, so
nothing is asked there, and the change is counted in the slopes of the vertices around it.

The supersolution is minus the subsolution of −v, computed with up and down exchanged.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....numerics.csr import Arcs
from ....numerics.doubledouble import (
    DD_ERROR,
    Pair,
    add,
    fast_two_sum,
    multiply,
    multiply_double,
    two_sum,
)
from ....numerics.jit import njit
from ....typing import BoolArray, FloatArray, IntArray
from .proof import FLAT_LEVELS, LOW_PART, Domain, flattened, least_curvature, less, ranges, steepest

COARSEST = 2.0**-90
"""The bases of the barriers are multiples of this: a coarser grain than any that is used."""
GRAINS = (2.0**-126, 2.0**-118, 2.0**-112, 2.0**-106, COARSEST)
"""A barrier is held as its base plus 76 bits: a fine grain is for barriers close to the field."""


class BarrierPair(NamedTuple):
    """Base + high + low, below and above; the low parts are numbers of single precision."""

    base: FloatArray
    """(n,) doubles next to the field."""
    below: Pair
    above: Pair


def barriers(out: Arcs, into: Arcs, piece: IntArray, field: Pair) -> BarrierPair | None:
    """Return a sub- and a supersolution next to a field close to the AMLE; None if unproved.

    Parameters
    ----------
    out, into : Arcs
        The graph, and its arcs turned round: the same arrays if it is undirected.
    piece : (n,) int array
        Components of the vertices where the equation has to hold. Every other vertex is -1, and a
        label, or NaN and left out.
    field : Pair
        A field that equals the labels, of magnitude at most 1. Nothing else about it is trusted.
    """
    ways = 1 if into.indices is out.indices else 2
    domain = Domain(into, out, ways, piece, int(piece.max(initial=-1)) + 1)
    base = np.where(piece >= 0, np.rint(field.high / COARSEST) * COARSEST, field.high)
    below = _subsolution(domain, field, base)
    above = _subsolution(domain.mirrored(), Pair(-field.high, -field.low), -base)
    if below is None or above is None:
        return None
    return BarrierPair(base, below, Pair(-above.high, -above.low))


def _subsolution(domain: Domain, field: Pair, base: FloatArray) -> Pair | None:
    """Return a subsolution minus its base, as coarse and as flat as each piece needs."""
    piece = domain.piece
    barrier = Pair(np.zeros(piece.size), np.zeros(piece.size))
    unbent = np.ones(domain.pieces, np.bool_)
    for grain in GRAINS:
        rounded = Pair(*_floored(piece, field, max(2.0**-110, 8.0 * grain)))
        for flat in (0.0, *FLAT_LEVELS):
            used = rounded
            if flat > 0.0:
                unused = np.zeros(piece.size, np.bool_)
                used = Pair(*flattened(domain, rounded, flat, unused))
            too_long = _bend(domain, used, grain, base, unbent, barrier)
            if not unbent.any():
                return barrier
            # flattening does not shorten what has too many digits; a coarser grain does
            if too_long:
                break
    return None


@njit(cache=True, nogil=True)
def _floored(piece: IntArray, field: Pair, grid: float) -> tuple[FloatArray, FloatArray]:
    """Return the field rounded down to multiples of `grid`, in two parts; labels are unchanged."""
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
    return high, low


@njit(cache=True, nogil=True, error_model="numpy")
def _curvatures(domain: Domain, field: Pair, grain: float) -> FloatArray:
    """Return the least k of each piece; inf if there is none."""
    more = 2.51 * grain  # 4η, where η is half a grain and an eighth
    up, down, ways, piece, count = domain
    curvature = np.zeros(count)
    for x in range(piece.size):
        c = piece[x]
        if c < 0:
            continue
        rise, fall = steepest(up, field, x, 1.0), steepest(down, field, x, -1.0)
        shortest = np.inf
        for side in range(ways):
            arcs = up if side == 0 else down
            for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
                shortest = min(shortest, arcs.lengths[e])
        excess = add(fall.high, fall.low, -rise.high, -rise.low)[0]
        rounding = 4.0 * DD_ERROR * (fall.high + rise.high)
        # climbs lose `more` by rounding, drops gain it, if there are any: most on the shortest arc
        change = more / shortest
        if rise.climb > 0.0 or fall.climb > 0.0:
            rounding += 2.0 * change
        k = least_curvature(excess + rounding, rise.high - change, rise.climb)
        curvature[c] = max(curvature[c], k)
    return curvature


@njit(cache=True, nogil=True, error_model="numpy")
def _bend(
    domain: Domain, used: Pair, grain: float, base: FloatArray, unbent: BoolArray, barrier: Pair
) -> bool:
    """Write g(v) less its base into the barrier of every piece not yet bent.

    A piece stays unbent if its curvature is too large, or its barrier has too many digits. Returns
    whether any barrier has too many.
    """
    piece, curvature = domain.piece, _curvatures(domain, used, grain)
    least, most = ranges(domain, used.high)
    # low parts are left out of the range, so it is widened by more than they can be. The bound
    # k (b − a) ≤ 1/2 of the module, short of rounding: beyond it g is not increasing
    a, b = least - LOW_PART, most + LOW_PART
    bent = unbent & (curvature * (b - a) <= 0.499)
    too_long = False
    for x in range(piece.size):
        c = piece[x]
        if c < 0 or not bent[c]:
            continue
        high, low = used.high[x], used.low[x]
        over, under = add(high, low, -a[c], 0.0), add(high, low, -b[c], 0.0)
        bend = multiply(over[0], over[1], under[0], under[1])
        bend = multiply_double(bend[0], bend[1], curvature[c])
        # the grain is a power of two, so that nothing is rounded except to the grain
        first = np.rint(bend[0] / grain) * grain
        rest = np.rint(((bend[0] - first) + bend[1]) / grain) * grain
        # all are multiples of the grain and far shorter than 106 bits, or a flat spot has taken the
        # value of a label, which may be far from its base: nothing is rounded
        near, off = two_sum(high, -base[x])
        near, off = add(near, off, low, 0.0)
        barrier.high[x], barrier.low[x] = add(near, off, first, rest)
        # the barrier must have no more digits than fit
        if barrier.low[x] != np.float32(barrier.low[x]):
            bent[c] = False
            too_long = True
    for c in range(bent.size):
        if bent[c]:
            unbent[c] = False
    return too_long
