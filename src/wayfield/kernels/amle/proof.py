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
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import njit
from .._types import BoolArray, FloatArray, IntArray
from ..csr import Arcs, read_only
from ..doubledouble import DD_ERROR, Pair, add, divide_double
from .fixing import Fixing
from .pieces import (
    FLAT_LEVELS,
    SLACK,
    Sides,
    Slope,
    flattened,
    least_curvature,
    pieces,
    ranges,
    sides_of,
)
from .retrace import retraced


class Bracket(NamedTuple):
    """A field in double-double, and how far from it the AMLE can be; NaN where nothing is fixed."""

    field: Pair
    below: FloatArray
    """(n,) the AMLE is at least the field less this; inf where that could not be proved."""
    above: FloatArray
    """(n,) and at most the field plus this."""
    piece: IntArray
    """(n,) components of the vertices at which the equation holds; -1 at all others."""

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
        What `fix` returned, all of magnitude at most 1. Nothing of it is believed but the labels
        and which vertices are fixed: the bracket holds for the AMLE among those.
    """
    undirected = into.indices is out.indices
    out = read_only(out)
    into = out if undirected else read_only(into)
    sides = sides_of(out, into)
    # vertices left unfixed bound the pieces, as labels do, and belong to none
    piece, count = pieces(sides, fixing.fixed & (fixing.batch >= 0))
    found = fixing.values, fixing.order, fixing.batch, fixing.slopes, fixing.along
    field = retraced(out, into, *found)
    if not (np.isfinite(field.high) | ~fixing.fixed).all():
        unknown = np.where(piece >= 0, np.inf, 0.0)
        return Bracket(Pair(fixing.values, np.zeros(piece.size)), unknown, unknown, piece)
    down, up = np.zeros(piece.size), np.zeros(piece.size)
    _curvatures(sides, piece, field, np.ones(piece.size, np.bool_), down, up)
    below = _proved_margin(sides, piece, count, field, down)
    # above the field is below its negative, with up and down exchanged
    mirrored, negated = Sides(sides.down, sides.up, sides.around), Pair(-field.high, -field.low)
    above = _proved_margin(mirrored, piece, count, negated, up)
    return Bracket(field, below, above, piece)


def _proved_margin(
    sides: Sides, piece: IntArray, count: int, field: Pair, curvature: FloatArray
) -> FloatArray:
    """How far below the field the AMLE can lie, flattening as much as needed and no more."""
    margin = np.where(piece >= 0, np.inf, 0.0)
    # flat spots ask for a curvature beyond all bounds: nothing is proved until they are out
    hopeless = curvature.max(initial=0.0) > 1.0
    unproved = hopeless or _margins(sides, piece, count, field, field, curvature, margin)
    for flat in FLAT_LEVELS:
        if not unproved:
            break
        touched = np.zeros(piece.size, np.bool_)
        used = flattened(sides, piece, field, flat, touched)
        # in place, for a field of ten million vertices is large: what it was is put back
        before, unused = curvature[touched], np.empty(piece.size)
        _curvatures(sides, piece, used, touched, curvature, unused)
        unproved = _margins(sides, piece, count, field, used, curvature, margin)
        curvature[touched] = before
    return margin


@njit(cache=True, nogil=True, allocates=False)
def _curvatures(
    sides: Sides,
    piece: IntArray,
    field: Pair,
    where: BoolArray,
    below: FloatArray,
    above: FloatArray,
) -> None:
    """Least k at every vertex for the lower bound, and for the upper; inf if there is none.

    Only the entries that `where` asks for are written.
    """
    up, down = sides.up, sides.down
    for x in range(piece.size):
        if piece[x] < 0 or not where[x]:
            continue
        # both sides at once: where up exceeds down nothing is asked of the lower bound, and
        # conversely; rounding can make both ask for something
        rise = _steepest(up, field, x, 1.0)
        fall = _steepest(down, field, x, -1.0)
        excess = add(fall.high, fall.low, -rise.high, -rise.low)[0]
        rounding = 4.0 * DD_ERROR * (fall.high + rise.high)
        below[x] = least_curvature(excess + rounding, rise.high, rise.climb)
        above[x] = least_curvature(rounding - excess, fall.high, fall.climb)


@njit(cache=True, nogil=True, allocates=False, inline="always")
def _steepest(arcs: Arcs, field: Pair, x: int, sign: float) -> Slope:
    """Steepest slope up (sign 1) or down (-1) from x; neighbours without a value are NaN.

    Only arcs that come close to the steepest in doubles are looked at twice.
    """
    indptr, indices, lengths = arcs
    high, low = field
    here = high[x]
    # first a slope in doubles that the steepest surely reaches; then double-double, only for the
    # arcs that may exceed it
    rough = 0.0
    for e in range(indptr[x], indptr[x + 1]):
        climb = sign * (high[indices[e]] - here) - SLACK
        # compared without dividing: most arcs are not steeper
        if climb > rough * lengths[e]:
            rough = climb / lengths[e]
    bar = (1.0 - 1e-10) * rough
    best = Slope(0.0, 0.0, 0.0)
    for e in range(indptr[x], indptr[x + 1]):
        y = indices[e]
        # `not … >=`: a neighbour without a value is NaN, and skipped
        if not sign * (high[y] - here) + SLACK >= bar * lengths[e]:
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
    sides: Sides,
    piece: IntArray,
    count: int,
    field: Pair,
    used: Pair,
    curvature: FloatArray,
    margin: FloatArray,
) -> int:
    """How far below `field` the AMLE can lie at most, proved by g applied to `used` ≤ `field`.

    Vertices whose `margin` is finite already are left alone. Returns how many have no proof;
    their margin stays inf. The field is of scale 1: at most 1 in magnitude.
    """
    high, low = used
    # one k per piece, the largest that any of its vertices asks for
    steep = np.zeros(count)
    for x in range(piece.size):
        if piece[x] >= 0:
            steep[piece[x]] = max(steep[piece[x]], curvature[x])
    least, most = ranges(sides, piece, count, high)
    unproved = 0
    for x in range(piece.size):
        c = piece[x]
        if c < 0 or margin[x] < np.inf:
            continue
        # low parts are left out of the range, so it is widened by more than they can be
        a = least[c] - SLACK
        b = most[c] + SLACK
        # the bound k (b − a) ≤ 1/2 of the module, short of rounding: beyond it g is not increasing
        if steep[c] * (b - a) <= 0.499:
            bend = steep[c] * ((high[x] - a) + SLACK) * ((b - high[x]) + SLACK)
            change = (field.high[x] - high[x]) + (field.low[x] - low[x])
            # the field was flattened here; its change is a double again, rounded
            if change != 0.0:
                change += SLACK * SLACK
            margin[x] = (1.0 + 1e-9) * (bend + change)
        else:
            unproved += 1
    return unproved
