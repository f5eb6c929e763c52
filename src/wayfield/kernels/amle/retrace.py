"""The AMLE in double-double: the order of fixing once more, with twice the digits.

The divide and conquer fixes vertices batch by batch. Within a batch they lie on walks of constant
slope between vertices fixed before. `retrace` follows each walk down and up by the steepest arcs,
or by lengths where the values are level (`walks`), and interpolates between its ends.

Nothing about the outcome needs to be believed: `proof` proves how good it is.
"""

from __future__ import annotations

import numpy as np

from .._jit import njit
from .._types import BoolArray, FloatArray, IntArray
from ..csr import Arcs
from ..doubledouble import Pair, add, divide, divide_double, multiply, multiply_double
from .iterate import Along
from .walks import NONE, Ways, follow, foot, make_ways, search


def retraced(
    out: Arcs,
    into: Arcs,
    values: FloatArray,
    order: IntArray,
    batch: IntArray,
    slopes: FloatArray,
    given_along: Along | None,
) -> Pair:
    """Return a field in double-double, interpolated again in its order of fixing.

    See `Fixing` for what is given; where nothing was fixed the field is NaN.
    """
    n = batch.size
    field, done = Pair(values.copy(), np.zeros(n)), batch < 0
    path = np.empty(order.size, np.int32)
    along = Pair(np.empty(order.size + 1), np.empty(order.size + 1))
    unit = bool((out.lengths == 1.0).all())
    room, first = None, 0
    if given_along is not None:
        first = _interpolate_chains(order, batch, slopes, *given_along, field, done)
    while first < order.size:
        given = out, into, order, batch, slopes
        first, last, level = _retrace(*given, values, field, done, path, along, unit, first)
        if not level:
            continue
        # walks that came upon level ground: few graphs have any
        members = order[first:last]
        if slopes[batch[members[0]]] > 0.0:
            room = room or make_ways(n, out.indices.size)
            slope = float(slopes[batch[members[0]]])
            _follow_lengths(out, into, members, batch, slope, done, path, along, field, room)
        _copy_neighbours(out, into, values, members, batch, done, path, field)
        first = last
    return field


@njit(cache=True, nogil=True, allocates=False)
def _interpolate_chains(
    order: IntArray,
    batch: IntArray,
    slopes: FloatArray,
    far: FloatArray,
    ends: IntArray,
    field: Pair,
    done: BoolArray,
) -> int:
    """Interpolate along chains of unit lengths, as they are, up to what is level; where that is."""
    high, low = field
    first = 0
    while first < order.size and slopes[batch[order[first]]] > 0.0:
        mine = batch[order[first]]
        last = first
        while last < order.size and batch[order[last]] == mine:
            last += 1
        top, bottom = ends[mine, 0], ends[mine, 1]
        rise, rest = add(high[top], low[top], -high[bottom], -low[bottom])
        slope, rest = divide_double(rise, rest, last - first + 1.0)
        for k in range(first, last):
            climb, small = multiply_double(slope, rest, far[k])
            x = order[k]
            high[x], low[x] = add(high[bottom], low[bottom], climb, small)
            done[x] = True
        first = last
    return first


@njit(cache=True, nogil=True, allocates=False)
def _retrace(
    out: Arcs,
    into: Arcs,
    order: IntArray,
    batch: IntArray,
    slopes: FloatArray,
    values: FloatArray,
    field: Pair,
    done: BoolArray,
    path: IntArray,
    along: Pair,
    unit: bool,
    first: int,
) -> tuple[int, int, bool]:
    """Interpolate along the walks of batch after batch, from place `first` of the order on.

    `field` holds what is `done`, at first the labels, and receives the rest. Stops at a batch in
    which a walk leads to level ground: returns where it begins and ends, and True. No other walk of
    it is tried then: every vertex of a long walk would run into the same place.
    """
    last = first
    while last < order.size:
        mine = batch[order[first]]
        # a batch without a slope is a constant, and has no walks to follow
        level = not slopes[mine] > 0.0
        while last < order.size and batch[order[last]] == mine:
            x = order[last]
            last += 1
            if level or done[x]:
                continue
            path[0] = x
            along.high[0] = 0.0
            along.low[0] = 0.0
            count, bottom = _walk(out, values, batch, done, path, along, 1, -1.0, unit)
            fall = (along.high[count], along.low[count])
            if bottom >= 0:
                count, top = _walk(into, values, batch, done, path, along, count, 1.0, unit)
            if bottom < 0 or top < 0:
                level = True
                continue
            _interpolate(field, path, along, count, fall, bottom, top)
            for j in range(count):
                done[path[j]] = True
        if level:
            return first, last, True
        first = last
    return first, last, False


@njit(cache=True, nogil=True, allocates=False)
def _follow_lengths(
    out: Arcs,
    into: Arcs,
    members: IntArray,
    batch: IntArray,
    slope: float,
    done: BoolArray,
    path: IntArray,
    along: Pair,
    field: Pair,
    ways: Ways,
) -> None:
    """Interpolate along what is left of the walks of a batch, found by their lengths."""
    search(out, into, members, batch, done, field.high, slope, 0, ways)
    search(into, out, members, batch, done, field.high, slope, 1, ways)
    following = ways.following
    for x in members:
        # no walk leads through a vertex without a way down or without one up
        if done[x] or following[x, 0] == NONE or following[x, 1] == NONE:
            continue
        last = foot(ways, done, x)
        path[0] = last
        along.high[0] = 0.0
        along.low[0] = 0.0
        count, bottom = follow(ways, done, 0, path, along, 1)
        fall = (along.high[count], along.low[count])
        count, top = follow(ways, done, 1, path, along, count)
        _interpolate(field, path, along, count, fall, bottom, top)
        for j in range(count):
            done[path[j]] = True
        # what hangs on the walk takes the value where it does
        while not done[x]:
            field.high[x] = field.high[last]
            field.low[x] = field.low[last]
            done[x] = True
            x = following[x, 0]


@njit(cache=True, nogil=True, allocates=False)
def _walk(
    arcs: Arcs,
    values: FloatArray,
    batch: IntArray,
    done: BoolArray,
    path: IntArray,
    along: Pair,
    count: int,
    sign: float,
    unit: bool,
) -> tuple[int, int]:
    """Follow the steepest arcs from ``path[0]``, up or down, to a vertex done before.

    Appends the vertices on the way to `path` and their signed distances to `along`, the whole
    distance behind the last; returns the new count and the end, or -1 if there is no way on.
    Values change strictly along the walk, so it ends.
    """
    indptr, indices, lengths = arcs
    x = path[0]
    mine = batch[x]
    far, rest = 0.0, 0.0
    while True:
        steepest = 0.0
        following = -1
        step = 1.0
        here = values[x]
        for e in range(indptr[x], indptr[x + 1]):
            y = indices[e]
            climb = sign * (values[y] - here)
            # lengths of 1 are not even looked up: there are as many of them as arcs
            if climb > (steepest if unit else steepest * lengths[e]) and batch[y] <= mine:
                steepest = climb if unit else climb / lengths[e]
                following = y
                step = 1.0 if unit else lengths[e]
        if following < 0:
            return count, -1
        # sums of ones are exact
        if unit:
            far += 1.0
        else:
            far, rest = add(far, rest, step, 0.0)
        along.high[count] = sign * far
        along.low[count] = sign * rest
        if done[following]:
            return count, following
        x = following
        path[count] = x
        count += 1


@njit(cache=True, nogil=True, allocates=False)
def _interpolate(
    field: Pair,
    path: IntArray,
    along: Pair,
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


@njit(cache=True, nogil=True, allocates=False)
def _copy_neighbours(
    out: Arcs,
    into: Arcs,
    values: FloatArray,
    members: IntArray,
    batch: IntArray,
    done: BoolArray,
    queue: IntArray,
    field: Pair,
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
