"""A rigorous bracket around the AMLE, from any field that is close to it.

Let v be a field close to the AMLE u, in double-double. Write S⁺(x) for the steepest slope up into
x, max (v_y − v_x)/ℓ over arcs y → x, and S⁻(x) for the steepest slope down, max (v_x − v_y)/ℓ over
arcs x → y. The AMLE has S⁺ = S⁻ at every unlabelled vertex. A field with S⁺ ≥ S⁻ there that does
not exceed the labels lies below u (comparison principle), one with S⁺ ≤ S⁻ above. On a component
let a ≤ v ≤ b, and for k ≥ 0 with k (b − a) ≤ 1/2 take

    g(t) = t + k (t − a)(t − b),     g increasing, g ≤ t on [a, b], g(a) = a, g(b) = b.

From g(s) − g(t) = (s − t)(g'(t) + k (s − t)): the arc that gives S⁺ = σ and climbs by δ = σ ℓ
has slope σ (g' + k δ) after g is applied, while no downward slope exceeds g' S⁻. As g' ≤ 3/2, the
field g(v) has S⁺ ≥ S⁻ wherever

    k δ ≥ (3/2) (S⁻ − S⁺) / S⁺.

The least such k over the component gives the lower bound v − k (v − a)(b − v), and in the same way,
with up and down exchanged, the upper bound. Slopes are evaluated in double-double, and their
rounding is counted in.

**Flat spots.** Where all drops around a vertex are of the order of the rounding of v itself the
condition can ask for a huge k. Then the vertices with no drop above some `flat` are gathered into
clusters, and a cluster takes the least value on itself and its neighbours: inside it S⁻ = 0, so
nothing is asked there, and the change is counted in the slopes of the vertices around it. (For the
upper bound the same is done to −v.)

**Pieces.** The bracket looks at each component of the vertices where the equation has to hold on
its own: it has a range [a, b] and a curvature k of its own.

**Barriers that can be written down.**
`bracket` proves margins around v; what they rest on is the field g(v) that is never written down. A
certificate needs one that is, and the rounded field B itself must have S⁺ ≥ S⁻, exactly. So
`barriers` takes the retraced field once more, and counts in the rounding of B.

**Rounding.** With |B − g(v)| ≤ η a climb loses at most 2η and a drop gains at most 2η. As g' ≥ 1/2,
this is as if v had 4η less to climb and 4η more to drop, so S⁺ and S⁻ are taken of such climbs and
drops. To begin with, v is rounded down to a multiple of 12η or more, so that no climb becomes a
drop; what is taken off it is rounded to a multiple of a much finer `grain`, so that equal v have
equal B. At a label B is the label. That is no less than g(v), which can only help its neighbours.
A label is not rounded before, either, and B is nowhere above the rounded v: a vertex that is not
above a label stays so.

The supersolution is minus the subsolution of −v, computed with up and down exchanged.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....numerics.csr import Arcs, weak_components
from ....numerics.doubledouble import (
    DD_ERROR,
    Pair,
    add,
    divide_double,
    fast_two_sum,
    multiply,
    multiply_double,
    two_sum,
)
from ....numerics.jit import njit
from ....typing import BoolArray, FloatArray, IntArray
from .retrace import Fixing, retraced

LOW_PART = 2.0**-52
"""More than the low part of a value of magnitude at most 1."""
BENDS = (1e-6, 0.499)
"""Bounds on k (b − a), tried in turn. The first gives a tight bracket. The second is nearly 1/2,
beyond which g is not increasing."""
FLAT_LEVELS = (1e-27, 1e-22, 1e-18, 1e-15, 1e-12, 1e-9)
"""Drops taken for flat, from where the rounding of the retracing ends upwards."""


class Domain(NamedTuple):
    """The arcs of a graph as seen from a bracket, and where the equation holds."""

    up: Arcs
    """Into a vertex: where it can be reached from above."""
    down: Arcs
    """Out of a vertex: where it can go down."""
    ways: int
    """Number of sides: 2, or 1 if both are the same."""
    piece: IntArray
    """(n,) components of the vertices at which the equation holds; -1 at all others."""
    pieces: int
    """Number of these components."""

    def mirrored(self) -> Domain:
        """Return the domain with up and down exchanged."""
        return self._replace(up=self.down, down=self.up)


class Slope(NamedTuple):
    """The steepest slope at a vertex, in double-double, and the climb of its arc; 0 if none."""

    high: float
    low: float
    climb: float


class Bracket(NamedTuple):
    """A field in double-double, and how far from it the AMLE can be; NaN where nothing is fixed."""

    field: Pair
    below: FloatArray
    """(n,) the AMLE is at least the field less this; inf where that could not be proved."""
    above: FloatArray
    """(n,) and at most the field plus this."""
    piece: IntArray
    """(n,) as in `Domain`."""

    @property
    def width(self) -> float:
        """Largest distance between the bounds; inf if there is none somewhere."""
        return float((self.below + self.above).max(initial=0.0))


def bracket(out: Arcs, into: Arcs, fixing: Fixing) -> Bracket:
    """Prove how far the field, computed again in double-double, can be from the AMLE.

    Parameters
    ----------
    out, into : Arcs
        The graph, and its arcs turned round: the same arrays if it is undirected.
    fixing : Fixing
        What `fix` returned, all of magnitude at most 1. Only its labels and its set of fixed
        vertices are trusted: the bracket holds for the AMLE among those.
    """
    ways = 1 if into.indices is out.indices else 2
    # vertices left unfixed bound the pieces, as labels do, and belong to none
    free = fixing.fixed & (fixing.batch >= 0)
    piece, count = weak_components(out, into, ways > 1, free)
    domain = Domain(into, out, ways, piece, count)
    field = retraced(out, into, fixing)
    if not (np.isfinite(field.high) | ~fixing.fixed).all():
        unknown = np.where(piece >= 0, np.inf, 0.0)
        return Bracket(Pair(fixing.values, np.zeros(piece.size)), unknown, unknown, piece)
    down, up = np.zeros(piece.size), np.zeros(piece.size)
    _curvatures(domain, field, np.ones(piece.size, np.bool_), down, up)
    below = _proved_margin(domain, field, down)
    # above the field is below its negative, with up and down exchanged
    above = _proved_margin(domain.mirrored(), Pair(-field.high, -field.low), up)
    return Bracket(field, below, above, piece)


def _proved_margin(domain: Domain, field: Pair, curvature: FloatArray) -> FloatArray:
    """Return how far below the field the AMLE can lie, flattening only as much as needed."""
    piece = domain.piece
    margin = np.where(piece >= 0, np.inf, 0.0)
    for bend in BENDS:
        unproved = _margins(domain, field, field, curvature, bend, margin)
        # flat spots need a large curvature: flattening at a lower level does not remove them
        least = _least_flat(domain, field, curvature, bend, margin) if unproved else 0.0
        for flat in FLAT_LEVELS:
            if not unproved:
                return margin
            if flat < least and flat < FLAT_LEVELS[-1]:
                continue
            touched = np.zeros(piece.size, np.bool_)
            used = Pair(*flattened(domain, field, flat, touched))
            # in place, because fields of ten million vertices are large; restored below
            before, unused = curvature[touched], np.empty(piece.size)
            _curvatures(domain, used, touched, curvature, unused)
            unproved = _margins(domain, field, used, curvature, bend, margin)
            curvature[touched] = before
    return margin


@njit(cache=True, nogil=True, allocates=False)
def _curvatures(
    domain: Domain, field: Pair, where: BoolArray, below: FloatArray, above: FloatArray
) -> None:
    """Return the least k of each vertex for the lower and the upper bound; inf if there is none.

    Only the entries that `where` asks for are written.
    """
    up, down, _, piece, _ = domain
    for x in range(piece.size):
        if piece[x] < 0 or not where[x]:
            continue
        # both sides at once: where up exceeds down nothing is asked of the lower bound, and
        # conversely; rounding can make both ask for something
        rise = steepest(up, field, x, 1.0)
        fall = steepest(down, field, x, -1.0)
        excess = add(fall.high, fall.low, -rise.high, -rise.low)[0]
        rounding = 4.0 * DD_ERROR * (fall.high + rise.high)
        below[x] = least_curvature(excess + rounding, rise.high, rise.climb)
        above[x] = least_curvature(rounding - excess, fall.high, fall.climb)


@njit(cache=True, nogil=True, allocates=False, inline="always")
def steepest(arcs: Arcs, field: Pair, x: int, sign: float) -> Slope:
    """Return the steepest slope up (sign 1) or down (-1) from x; NaN marks a missing value.

    Only arcs close to the steepest in doubles are examined in double-double.
    """
    indptr, indices, lengths = arcs
    high, low = field
    here = high[x]
    # first a slope in doubles that the steepest surely reaches; then double-double, only for the
    # arcs that may exceed it
    rough = 0.0
    for e in range(indptr[x], indptr[x + 1]):
        climb = sign * (high[indices[e]] - here) - LOW_PART
        # compared without dividing: most arcs are not steeper
        if climb > rough * lengths[e]:
            rough = climb / lengths[e]
    bar = (1.0 - 1e-10) * rough
    best = Slope(0.0, 0.0, 0.0)
    for e in range(indptr[x], indptr[x + 1]):
        y = indices[e]
        # `not … >=`: a neighbour without a value is NaN, and skipped
        if not sign * (high[y] - here) + LOW_PART >= bar * lengths[e]:
            continue
        step = add(high[y], low[y], -high[x], -low[x])
        fine = (sign * step[0], sign * step[1])
        # dividing by 1 is exact, and most graphs have unit lengths
        if lengths[e] != 1.0:
            fine = divide_double(fine[0], fine[1], lengths[e])
        if fine[0] > best.high or (fine[0] == best.high and fine[1] > best.low):
            best = Slope(fine[0], fine[1], sign * step[0])
    return best


@njit(cache=True, nogil=True)
def _margins(
    domain: Domain, field: Pair, used: Pair, curvature: FloatArray, most: float, margin: FloatArray
) -> int:
    """Return how far below `field` the AMLE can lie, proved by g applied to `used` ≤ `field`.

    `most` bounds the bend k (b − a). Vertices whose `margin` is finite already are left alone.
    Returns how many have no proof; their margin stays inf. The field is of scale 1: at most 1 in
    magnitude.
    """
    (high, low), piece = used, domain.piece
    # one k per piece, the largest that any of its vertices asks for
    steep = np.zeros(domain.pieces)
    for x in range(piece.size):
        if piece[x] >= 0:
            steep[piece[x]] = max(steep[piece[x]], curvature[x])
    lowest, highest = ranges(domain, high)
    unproved = 0
    for x in range(piece.size):
        c = piece[x]
        if c < 0 or margin[x] < np.inf:
            continue
        # low parts are left out of the range, so it is widened by more than they can be
        a = lowest[c] - LOW_PART
        b = highest[c] + LOW_PART
        if steep[c] * (b - a) <= most:
            bend = steep[c] * ((high[x] - a) + LOW_PART) * ((b - high[x]) + LOW_PART)
            change = (field.high[x] - high[x]) + (field.low[x] - low[x])
            # the field was flattened here; its change is a double again, rounded
            if change != 0.0:
                change += LOW_PART * LOW_PART
            margin[x] = (1.0 + 1e-9) * (bend + change)
        else:
            unproved += 1
    return unproved


@njit(cache=True, nogil=True)
def _least_flat(
    domain: Domain, field: Pair, curvature: FloatArray, most: float, margin: FloatArray
) -> float:
    """Return the least level at which some unproved piece is flat wherever it needs too much."""
    piece, level = domain.piece, np.full(domain.pieces, np.inf)
    for x in range(piece.size):
        c = piece[x]
        if c < 0 or margin[x] < np.inf:
            continue
        if level[c] == np.inf:
            level[c] = 0.0
        # the range of a piece is at most 2: no piece allows less curvature
        if curvature[x] > 0.4 * most:
            level[c] = max(level[c], _largest_drop(domain, field, x, np.inf))
    return level.min()


@njit(cache=True, nogil=True)
def ranges(domain: Domain, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the least and largest value of each piece, including the labels around it."""
    up, down, ways, piece, count = domain
    least, most = np.full(count, np.inf), np.full(count, -np.inf)
    for x in range(piece.size):
        c = piece[x]
        if c >= 0:
            least[c] = min(least[c], high[x])
            most[c] = max(most[c], high[x])
        # x is a label: it bounds every piece it touches
        elif not np.isnan(high[x]):
            for side in range(ways):
                arcs = up if side == 0 else down
                for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
                    c = piece[arcs.indices[e]]
                    if c >= 0:
                        least[c] = min(least[c], high[x])
                        most[c] = max(most[c], high[x])
    return least, most


@njit(cache=True, nogil=True, allocates=False)
def least_curvature(surplus: float, slope: float, climb: float) -> float:
    """Return the least k with k · climb ≥ 3/2 · surplus / slope, rounded up."""
    if surplus <= 0.0:
        return 0.0
    # no arc climbs, yet one falls: no curvature can repair that, but flattening may
    if slope <= 0.0 or climb <= 0.0:
        return np.inf
    k = (1.5 + 1e-9) * (surplus / slope) / climb
    # an overflow on the way is a NaN, which compares false
    return k if k >= 0.0 else np.inf


@njit(cache=True, nogil=True)
def flattened(
    domain: Domain, field: Pair, flat: float, touched: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Return the field with every flat cluster set to the least value on and around it.

    Marks in `touched` the vertices whose value changed, and their neighbours.
    """
    up, down, ways, piece, _ = domain
    high, low = field.high.copy(), field.low.copy()
    # decided for the field as it was: what changes below must not make further vertices flat
    is_flat = np.zeros(piece.size, np.bool_)
    for x in range(piece.size):
        is_flat[x] = piece[x] >= 0 and _largest_drop(domain, field, x, flat) <= flat
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
            for side in range(ways):
                arcs = up if side == 0 else down
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
                for side in range(ways):
                    arcs = up if side == 0 else down
                    for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
                        touched[arcs.indices[e]] = True
    return high, low


@njit(cache=True, nogil=True, allocates=False)
def _largest_drop(domain: Domain, field: Pair, x: int, enough: float) -> float:
    """Return the largest difference of a neighbour from x, or the first one above `enough`."""
    high, low = field
    most = 0.0
    for side in range(domain.ways):
        arcs = domain.up if side == 0 else domain.down
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            y = arcs.indices[e]
            drop = abs((high[y] - high[x]) + (low[y] - low[x]))
            if drop > most:
                most = drop
                if drop > enough:
                    return most
    return most


@njit(cache=True, nogil=True, allocates=False)
def less(field: Pair, x: int, other: Pair, y: int) -> bool:
    """Whether the value of one field at x is less than that of the other at y."""
    same = field.high[x] == other.high[y]
    return field.high[x] < other.high[y] or (same and field.low[x] < other.low[y])


# ------------------------------------------------------------------ barriers

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
def _least_bends(domain: Domain, field: Pair, grain: float) -> FloatArray:
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
    piece, curvature = domain.piece, _least_bends(domain, used, grain)
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
