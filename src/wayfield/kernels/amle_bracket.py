"""From the order of fixing to a rigorous bracket around the AMLE.

**Replay.** The divide and conquer fixes vertices batch by batch. Within a batch they lie on walks
of constant slope between vertices fixed before. `replay` follows each walk down and up by the
steepest arcs, and interpolates between its ends in double-double. The outcome v is a better
approximation of the same field; nothing about it needs to be believed.

**Bracket.** Write S⁺(x) for the steepest slope up into x, max (v_y − v_x)/ℓ over arcs y → x, and
S⁻(x) for the steepest slope down, max (v_x − v_y)/ℓ over arcs x → y. The AMLE u has S⁺ = S⁻ at
every unlabelled vertex. A field with S⁺ ≥ S⁻ there that does not exceed the labels lies below u
(comparison principle), one with S⁺ ≤ S⁻ above. On a component let a ≤ v ≤ b, and for k ≥ 0 with
k (b − a) ≤ 1/2 take

    g(t) = t + k (t − a)(t − b),     g increasing, g ≤ t on [a, b], g(a) = a, g(b) = b.

From g(s) − g(t) = (s − t)(g'(t) + k (s − t)): the arc that gives S⁺ = σ and climbs by δ = σ ℓ
has slope σ (g' + k δ) after g is applied, while no downward slope exceeds g' S⁻. As g' ≤ 3/2, the
field g(v) has S⁺ ≥ S⁻ wherever

    k δ ≥ (3/2) (S⁻ − S⁺) / S⁺.

The least such k over the component gives the lower bound v − k (v − a)(b − v). The upper bound is
the lower bound of −v with the arcs reversed. Slopes are evaluated in double-double, and their
rounding is counted in.

**Flat spots.** Where all drops around a vertex are of the order of the rounding of v itself the
condition can ask for a huge k. Vertices with no drop above `flat` are therefore gathered into
clusters, and a cluster takes the least value on itself and its neighbours: inside it S⁻ = 0 then,
so nothing is asked there, and the change is counted in the slopes of the vertices around it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ._types import BoolArray, FloatArray, IntArray
from .csr import Arcs
from .doubledouble import DD_ERROR, add, divide, divide_double, multiply

UNFIXED = 2**31 - 1
"""Batch number of a vertex that was never fixed; labels have -1."""
SLACK = 2.0**-98
"""More than the rounding of a difference of two values of magnitude at most 1."""


class Twofold(NamedTuple):
    """A field in double-double."""

    high: FloatArray
    low: FloatArray


@njit(cache=True, nogil=True)
def replay(
    out: Arcs, into: Arcs, values: FloatArray, order: IntArray, batch: IntArray, field: Twofold
) -> None:
    """Interpolate again, in double-double, in the order of fixing.

    `values` is the field in doubles, `field` holds the labels and receives the rest. A vertex
    from which no walk leads both up and down lies on a plateau, and copies its neighbour.
    """
    done = batch < 0
    path = np.empty(order.size, np.int32)
    along = Twofold(np.empty(order.size + 1), np.empty(order.size + 1))
    first = 0
    while first < order.size:
        last = first
        stranded = 0
        while last < order.size and batch[order[last]] == batch[order[first]]:
            x = order[last]
            last += 1
            if done[x]:
                continue
            path[0] = x
            along.high[0] = 0.0
            along.low[0] = 0.0
            count, bottom = _walk(out, values, batch, done, path, along, 1, -1.0)
            fall = (along.high[count], along.low[count])
            if bottom >= 0:
                count, top = _walk(into, values, batch, done, path, along, count, 1.0)
            if bottom < 0 or top < 0:
                stranded += 1
                continue
            _interpolate(field, path, along, count, fall, bottom, top)
            for j in range(count):
                done[path[j]] = True
        if stranded > 0:
            _copy_neighbours(out, into, values, order[first:last], batch, done, path, field)
        first = last


@njit(cache=True, nogil=True)
def _walk(
    arcs: Arcs,
    values: FloatArray,
    batch: IntArray,
    done: BoolArray,
    path: IntArray,
    along: Twofold,
    count: int,
    sign: float,
) -> tuple[int, int]:
    """Follow the steepest arcs from ``path[0]``, up or down, to a vertex done before.

    Appends the vertices on the way to `path` and their signed distances to `along`, the whole
    distance behind the last; returns the new count and the end, or -1 if there is no way on.
    Values change strictly along the walk, so it ends.
    """
    indptr, indices, lengths = arcs
    x = path[0]
    mine = batch[x]
    far = (0.0, 0.0)
    while True:
        steepest = 0.0
        following = -1
        step = 0.0
        for e in range(indptr[x], indptr[x + 1]):
            y = indices[e]
            if batch[y] <= mine:
                slope = sign * (values[y] - values[x]) / lengths[e]
                if slope > steepest:
                    steepest = slope
                    following = y
                    step = lengths[e]
        if following < 0:
            return count, -1
        far = add(far[0], far[1], step, 0.0)
        along.high[count] = sign * far[0]
        along.low[count] = sign * far[1]
        if done[following]:
            return count, following
        x = following
        path[count] = x
        count += 1


@njit(cache=True, nogil=True)
def _interpolate(
    field: Twofold,
    path: IntArray,
    along: Twofold,
    count: int,
    fall: tuple[float, float],
    bottom: int,
    top: int,
) -> None:
    """Constant slope from `bottom` to `top` along the path; `fall` is where the bottom lies."""
    high, low = field
    run = add(along.high[count], along.low[count], -fall[0], -fall[1])
    rise = add(high[top], low[top], -high[bottom], -low[bottom])
    slope = divide(rise[0], rise[1], run[0], run[1])
    for j in range(count):
        x = path[j]
        far = add(along.high[j], along.low[j], -fall[0], -fall[1])
        climb = multiply(slope[0], slope[1], far[0], far[1])
        high[x], low[x] = add(high[bottom], low[bottom], climb[0], climb[1])


@njit(cache=True, nogil=True)
def _copy_neighbours(
    out: Arcs,
    into: Arcs,
    values: FloatArray,
    members: IntArray,
    batch: IntArray,
    done: BoolArray,
    queue: IntArray,
    field: Twofold,
) -> None:
    """Spread the values of done vertices over the rest of a batch, breadth first.

    Only vertices of equal double value are copied; what is left keeps its double.
    """
    high, low = field
    tail = 0
    for x in members:
        if done[x]:
            continue
        for e in range(out.indptr[x], out.indptr[x + 1]):
            y = out.indices[e]
            if done[y] and values[y] == values[x]:
                high[x] = high[y]
                low[x] = low[y]
                done[x] = True
                queue[tail] = x
                tail += 1
                break
    head = 0
    while head < tail:
        x = queue[head]
        head += 1
        for e in range(into.indptr[x], into.indptr[x + 1]):
            y = into.indices[e]
            if batch[y] == batch[x] and not done[y] and values[y] == values[x]:
                high[y] = high[x]
                low[y] = low[x]
                done[y] = True
                queue[tail] = y
                tail += 1
    for x in members:
        if not done[x]:
            high[x] = values[x]
            low[x] = 0.0
            done[x] = True


class Sides(NamedTuple):
    """The arcs of a graph as the bracket looks at them."""

    up: Arcs
    """Into a vertex: where it can be reached from above."""
    down: Arcs
    """Out of a vertex: where it can go down."""
    around: tuple[Arcs, ...]
    """Both, or once if they are the same."""


@njit(cache=True, nogil=True)
def margin_below(
    sides: Sides, batch: IntArray, field: Twofold, flat: float, margin: FloatArray
) -> int:
    """How far below `field` the AMLE can lie at most, at every fixed vertex.

    Vertices whose `margin` is finite already are left alone. Returns how many have no proof at
    this `flat`; their margin stays inf. The field is of scale 1: at most 1 in magnitude.
    """
    lowered = _lower_flat_clusters(sides, batch, field, flat)
    high, low = lowered
    seen = np.empty(batch.size, np.bool_)
    for x in range(batch.size):
        seen[x] = margin[x] < np.inf
    queue = np.empty(batch.size, np.int32)
    unproved = 0
    for root in range(batch.size):
        if seen[root]:
            continue
        least, most, curvature, size = _component(sides, batch, lowered, seen, root, queue)
        proved = curvature * (high[most] - high[least]) <= 0.499
        for x in queue[:size]:
            if not proved:
                unproved += 1
                continue
            above = (high[x] - high[least]) + (low[x] - low[least]) + SLACK
            below = (high[most] - high[x]) + (low[most] - low[x]) + SLACK
            change = (field.high[x] - high[x]) + (field.low[x] - low[x])
            if change > 0.0:
                change += SLACK
            margin[x] = (1.0 + 1e-9) * (curvature * above * below + change)
    return unproved


@njit(cache=True, nogil=True)
def _component(
    sides: Sides, batch: IntArray, field: Twofold, seen: BoolArray, root: int, queue: IntArray
) -> tuple[int, int, float, int]:
    """Vertices of the least and the largest value, needed curvature k, and size.

    The members are left in `queue`. The least and the largest value are over the component and
    the labels around it.
    """
    least = root
    most = root
    curvature = 0.0
    seen[root] = True
    queue[0] = root
    head = 0
    tail = 1
    while head < tail:
        x = queue[head]
        head += 1
        curvature = max(curvature, _needed_curvature(sides, batch, field, x))
        for arcs in sides.around:
            for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
                y = arcs.indices[e]
                if batch[y] == UNFIXED:
                    continue
                if _less(field, y, least):
                    least = y
                if _less(field, most, y):
                    most = y
                if batch[y] >= 0 and not seen[y]:
                    seen[y] = True
                    queue[tail] = y
                    tail += 1
    return least, most, curvature, tail


@njit(cache=True, nogil=True)
def _needed_curvature(sides: Sides, batch: IntArray, field: Twofold, x: int) -> float:
    """Least k for which g(field) has S⁺ ≥ S⁻ at x, rounded up; inf if there is none."""
    fall = _steepest(sides.down, batch, field, x, -1.0)
    if fall[0] <= 0.0:
        return 0.0
    rise = _steepest(sides.up, batch, field, x, 1.0)
    if rise[0] <= 0.0:
        return np.inf
    excess = add(fall[0], fall[1], -rise[0], -rise[1])
    surplus = excess[0] + 4.0 * DD_ERROR * (fall[0] + rise[0])
    if surplus <= 0.0:
        return 0.0
    return (1.5 + 1e-9) * (surplus / rise[0]) / rise[2]


@njit(cache=True, nogil=True)
def _steepest(
    arcs: Arcs, batch: IntArray, field: Twofold, x: int, sign: float
) -> tuple[float, float, float]:
    """Steepest slope from x over fixed neighbours, in double-double, and its climb."""
    high, low = field
    steepest = (0.0, 0.0)
    climb = 0.0
    for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
        y = arcs.indices[e]
        if batch[y] == UNFIXED or sign * (high[y] - high[x]) < 0.0:
            continue
        step = add(high[y], low[y], -high[x], -low[x])
        slope = divide_double(sign * step[0], sign * step[1], arcs.lengths[e])
        if slope[0] > steepest[0] or (slope[0] == steepest[0] and slope[1] > steepest[1]):
            steepest = slope
            climb = sign * step[0]
    return steepest[0], steepest[1], climb


@njit(cache=True, nogil=True)
def _lower_flat_clusters(sides: Sides, batch: IntArray, field: Twofold, flat: float) -> Twofold:
    """Give every flat cluster the least value on and around it; the same field if none changes."""
    is_flat = np.zeros(batch.size, np.bool_)
    uneven = False
    for x in range(batch.size):
        if batch[x] >= 0 and batch[x] != UNFIXED:
            step = _largest_step(sides, batch, field, x, flat)
            is_flat[x] = step <= flat
            uneven |= 0.0 < step <= flat
    if not uneven:
        return field
    lowered = Twofold(field.high.copy(), field.low.copy())
    queue = np.empty(batch.size, np.int32)
    for root in range(batch.size):
        if not is_flat[root]:
            continue
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
                    if batch[y] != UNFIXED and _less(field, y, least):
                        least = y
                    if is_flat[y]:
                        is_flat[y] = False
                        queue[tail] = y
                        tail += 1
        for x in queue[:tail]:
            lowered.high[x] = field.high[least]
            lowered.low[x] = field.low[least]
    return lowered


@njit(cache=True, nogil=True)
def _largest_step(sides: Sides, batch: IntArray, field: Twofold, x: int, enough: float) -> float:
    """Largest difference in value between x and its fixed neighbours; stops above `enough`."""
    high, low = field
    largest = 0.0
    for arcs in sides.around:
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            y = arcs.indices[e]
            if batch[y] != UNFIXED:
                step = abs((high[y] - high[x]) + (low[y] - low[x]))
                if step > enough:
                    return step
                largest = max(largest, step)
    return largest


@njit(cache=True, nogil=True)
def _less(field: Twofold, x: int, y: int) -> bool:
    high, low = field
    return high[x] < high[y] or (high[x] == high[y] and low[x] < low[y])
