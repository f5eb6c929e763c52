"""The AMLE in double-double: the order of fixing once more, with twice the digits.

The divide and conquer fixes vertices batch by batch. Within a batch they lie on walks of constant
slope between vertices fixed before. `retrace` follows each walk down and up by the steepest arcs,
or by lengths where the values are level, and interpolates between its ends.

**Level ground.** The steepest arcs lead along a walk as long as its values differ from vertex to
vertex. They do not where an arc is so short that its drop is lost in the last place of the values.
But the walks of one batch have one slope α. With t over the vertices done before, and distances
through the batch,

    down from x lies the t that attains  min v(t) + α · d(x → t),
    up from x    the t that attains      max v(t) − α · d(t → x).

Two searches from the done vertices (Dijkstra) find the next vertex on either path, whatever the
values in between. Each vertex is reached from one settled before it, so no path is a loop.

The result need not be trusted: `proof` proves how good it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....numerics.csr import Arcs
from ....numerics.doubledouble import Pair, add, divide, divide_double, multiply, multiply_double
from ....numerics.heap import Heap, drop_least, push
from ....numerics.jit import njit
from ....typing import BoolArray, FloatArray, IntArray

NO_PATH = -1
UNFIXED = 2**31 - 1
"""Batch of a vertex that is not fixed; labels have -1."""


class Positions(NamedTuple):
    """Where vertices lie on walks of unit lengths."""

    far: FloatArray
    """(k,) how far above the end of its batch each vertex lies, in the order of fixing."""
    ends: IntArray
    """(number of batches, 2) the ends of a batch that is one walk, above and below."""


class Fixing(NamedTuple):
    """A field, and an order of fixing: every vertex is interpolated between earlier ones."""

    values: FloatArray
    """(n,) the field, accurate to rounding; NaN where nothing was fixed."""
    fixed: BoolArray
    """(n,) the labels, and the vertices that got a value."""
    order: IntArray
    """(k,) the unlabelled vertices in the order of fixing."""
    batch: IntArray
    """(n,) the batch each was fixed in; -1 for labels, `UNFIXED` where nothing was fixed."""
    slopes: FloatArray
    """(number of batches,) the slope of the walks of each; 0 where it is a constant."""
    finished: bool
    """False if the limit on frames was reached, which should never happen."""
    rounds: int = 0
    """How many rounds the iteration took; 0 if the divide and conquer answered."""
    along: Positions | None = None
    """Where the vertices lie on their walks, if that is known."""
    frames: int = 0
    """How many frames the divide and conquer worked on."""
    visits: int = 0
    """How many vertices propagations spread from, counted with repetition."""
    pushes: int = 0
    """How many entries they sorted or kept in a heap."""


class Chains(NamedTuple):
    """The tape: c chains in an order of fixing, with k vertices in all."""

    vertices: IntArray
    """(k,) the vertices chain by chain, each chain from below to above."""
    share: FloatArray
    """(k,) weight λ of the upper end."""
    ptr: IntArray
    """(c + 1,) where a chain starts in `vertices`."""
    ends: IntArray
    """(c, 2) its lower and its upper end."""
    slopes: FloatArray
    """(c,) its slope."""
    arcs: IntArray
    """(k + c,) slots of its arcs from below to above, those of chain i from ptr[i] + i on; -1 for
    none. Arcs lead downwards."""


class Log(NamedTuple):
    """The order of fixing, the results so far, and storage for one walk."""

    out: Arcs
    into: Arcs
    unit: bool
    values: FloatArray
    order: IntArray
    batch: IntArray
    slopes: FloatArray
    field: Pair
    """(n,) the field in double-double, of the vertices that are done."""
    done: BoolArray
    path: IntArray
    """The vertices of a walk."""
    along: Pair
    """Where they lie on it; the whole distance behind the last."""
    chains: Chains
    """Where walks are noted."""
    noting: bool
    """Note the walks instead of interpolating along them."""


class Ways(NamedTuple):
    """The paths from the vertices of a batch, and storage for the search.

    Only the entries of the current batch are valid.
    """

    following: IntArray
    """(n, 2) the next vertex down and up; `NO_PATH` if there is no path."""
    step: FloatArray
    """(n, 2) length of the arc to it."""
    reach: FloatArray
    """(3, n) least sign · v + α · length so far, sign · v at the done vertex it belongs to, and the
    length of the path to it."""
    stamp: IntArray
    """(n,) the last vertex whose path down led through here, see `_foot`."""
    heap: Heap


def make_log(out: Arcs, into: Arcs, fixing: Fixing, chains: Chains | None) -> Log:
    """Allocate the working arrays; walks are noted if there are chains to note them in."""
    values, _, order, batch, slopes, *_ = fixing
    unit, path = bool((out.lengths == 1.0).all()), np.empty(order.size, np.int32)
    field = Pair(fixing.values.copy(), np.zeros(batch.size))
    along = Pair(np.empty(order.size + 1), np.empty(order.size + 1))
    noting = chains is not None
    if chains is None:
        none, pairs = np.empty(0, np.int64), np.empty((0, 2), np.int32)
        chains = Chains(path[:0], along.low[:0], none, pairs, along.low[:0], none)
    done = batch < 0
    return Log(
        out, into, unit, values, order, batch, slopes, field, done, path, along, chains, noting
    )


def retraced(out: Arcs, into: Arcs, fixing: Fixing) -> Pair:
    """Return a field in double-double, interpolated again in its order of fixing; else NaN."""
    log = make_log(out, into, fixing, None)
    first = 0 if fixing.along is None else _interpolate_chains(log, *fixing.along)
    follow(log, first, (0.0,))
    return log.field


def follow(log: Log, first: int, tolerances: tuple[float, ...]) -> int:
    """Follow the walks batch after batch, from place `first` of the order on.

    A vertex on no walk takes the value of a neighbour that differs by no more than a tolerance; the
    tolerances are tried in turn. Otherwise it keeps its double. Returns the number of chains noted.
    """
    room, count, order = None, 0, log.order
    while first < order.size:
        first, last, count, level = _retrace(log, first, count)
        if not level:
            continue
        members = order[first:last]
        # walks that came upon level ground: few graphs have any
        if log.slopes[log.batch[order[first]]] > 0.0:
            n, entries = log.batch.size, log.batch.size + log.out.indices.size
            room = room or Ways(
                np.empty((n, 2), np.int32),
                np.empty((n, 2)),
                np.empty((3, n)),
                np.full(n, NO_PATH, np.int32),
                Heap(np.empty(entries), np.empty(entries, np.int32)),
            )
            count = _follow_lengths(log, members, room, count)
        for tolerance in tolerances:
            count = copy_level(log, members, tolerance, False, count)
        if not log.noting:
            log.done[members] = True
        first = last
    return count


@njit(cache=True, nogil=True, allocates=False)
def _interpolate_chains(log: Log, far: FloatArray, ends: IntArray) -> int:
    """Interpolate along chains of unit lengths; return the first place whose batch is level."""
    order, batch, slopes = log.order, log.batch, log.slopes
    high, low = log.field
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
            log.done[x] = True
        first = last
    return first


@njit(cache=True, nogil=True, allocates=False)
def _retrace(log: Log, first: int, count: int) -> tuple[int, int, int, bool]:
    """Settle the walks of batch after batch, from place `first` of the order on.

    Stops at a batch in which a walk leads to level ground: returns where it begins and ends, the
    number of chains, and True. No other walk of it is tried then: every vertex of a long walk would
    run into the same place.
    """
    order, batch, slopes, done = log.order, log.batch, log.slopes, log.done
    path, along = log.path, log.along
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
            below, bottom = _walk(log, log.out, 1, -1.0)
            fall = (along.high[below], along.low[below])
            if bottom >= 0:
                size, top = _walk(log, log.into, below, 1.0)
            if bottom < 0 or top < 0:
                level = True
                continue
            count = _settle(log, size, below, fall, bottom, top, count)
        if level:
            return first, last, count, True
        first = last
    return first, last, count, False


@njit(cache=True, nogil=True, allocates=False)
def _follow_lengths(log: Log, members: IntArray, ways: Ways, count: int) -> int:
    """Settle the remaining walks of a batch, found by their lengths."""
    for side in range(2):
        _search(log, members, side, ways)
    done, path, along, following = log.done, log.path, log.along, ways.following
    for x in members:
        # no walk leads through a vertex without a way down or without one up
        if done[x] or following[x, 0] == NO_PATH or following[x, 1] == NO_PATH:
            continue
        last = _foot(ways, done, x)
        path[0] = last
        along.high[0] = 0.0
        along.low[0] = 0.0
        below, bottom = _follow(log, ways, 0, 1)
        fall = (along.high[below], along.low[below])
        size, top = _follow(log, ways, 1, below)
        count = _settle(log, size, below, fall, bottom, top, count)
        # what hangs on the walk takes the value where it does
        while not done[x]:
            count = _settle_copy(log, x, last, count)
            x = following[x, 0]
    return count


@njit(cache=True, nogil=True, allocates=False)
def _walk(log: Log, arcs: Arcs, count: int, sign: float) -> tuple[int, int]:
    """Follow the steepest arcs from ``path[0]``, up or down, to a vertex done before.

    Appends the vertices on the way to `path` and their signed distances to `along`, the whole
    distance behind the last; returns the new count and the end, or -1 if there is no way on.
    Values change strictly along the walk, so it ends.
    """
    indptr, indices, lengths = arcs
    unit, values, batch, path, along = log.unit, log.values, log.batch, log.path, log.along
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
        if log.done[following]:
            return count, following
        x = following
        path[count] = x
        count += 1


@njit(cache=True, nogil=True, allocates=False)
def _settle(
    log: Log, size: int, below: int, fall: tuple[float, float], bottom: int, top: int, count: int
) -> int:
    """Interpolate with constant slope along the walk in `log.path`, or note it.

    The path holds its first vertex, then those below it, then those above. `fall` is the position
    of the bottom. Returns the number of chains.
    """
    (high, low), path, along = log.field, log.path, log.along
    for j in range(size):
        log.done[path[j]] = True
    if not log.noting:
        run = add(along.high[size], along.low[size], -fall[0], -fall[1])
        rise = add(high[top], low[top], -high[bottom], -low[bottom])
        slope = divide(rise[0], rise[1], run[0], run[1])
        for j in range(size):
            x = path[j]
            far = add(along.high[j], along.low[j], -fall[0], -fall[1])
            climb = multiply(slope[0], slope[1], far[0], far[1])
            high[x], low[x] = add(high[bottom], low[bottom], climb[0], climb[1])
        return count
    vertices, share, ptr, ends, slopes, arcs = log.chains
    start = ptr[count]
    length = along.high[size] - fall[0]
    last = bottom
    # chains run from below to above: the lower part of the path is reversed
    for i in range(size):
        j = below - 1 - i if i < below else i
        x = path[j]
        vertices[start + i] = x
        share[start + i] = (along.high[j] - fall[0]) / length
        # arc i leads from vertex i down to the one before it; one more leads down from the top
        arcs[start + count + i] = _slot_of(log.out, x, last)
        last = x
    arcs[start + count + size] = _slot_of(log.out, top, last)
    ends[count, 0], ends[count, 1] = bottom, top
    slopes[count] = (log.values[top] - log.values[bottom]) / length
    ptr[count + 1] = start + size
    return count + 1


@njit(cache=True, nogil=True, allocates=False)
def _settle_copy(log: Log, x: int, origin: int, count: int) -> int:
    """Copy the value of another vertex, or note the copy; return the number of chains."""
    log.done[x] = True
    if not log.noting:
        log.field.high[x] = log.field.high[origin]
        log.field.low[x] = log.field.low[origin]
        return count
    # both ends of the chain are the origin, and there are no arcs: -1
    chains = log.chains
    start = chains.ptr[count]
    chains.vertices[start] = x
    chains.share[start] = 0.0
    chains.arcs[start + count] = chains.arcs[start + count + 1] = -1
    chains.ends[count, 0], chains.ends[count, 1] = origin, origin
    chains.slopes[count] = 0.0
    chains.ptr[count + 1] = start + 1
    return count + 1


@njit(cache=True, nogil=True, allocates=False)
def copy_level(log: Log, members: IntArray, tolerance: float, on: bool, count: int) -> int:
    """Spread values of done vertices over level ones of a batch, or `on` beyond it.

    Returns the number of chains.
    """
    out, into, values, batch = log.out, log.into, log.values, log.batch
    done, queue = log.done, log.path
    tail = 0
    # the seeds: vertices beside a done one of the same value
    for x in members:
        if done[x]:
            continue
        for e in range(out.indptr[x], out.indptr[x + 1]):
            y = out.indices[e]
            if done[y] and abs(values[y] - values[x]) <= tolerance:
                count = _settle_copy(log, x, y, count)
                queue[tail] = x
                tail += 1
                break
    head = 0
    while head < tail:
        x = queue[head]
        head += 1
        for e in range(into.indptr[x], into.indptr[x + 1]):
            y = into.indices[e]
            near = not done[y] and abs(values[y] - values[x]) <= tolerance
            if near and (batch[y] == batch[x] or (on and batch[y] < UNFIXED)):
                count = _settle_copy(log, y, x, count)
                queue[tail] = y
                tail += 1
    return count


@njit(cache=True, nogil=True, allocates=False)
def _slot_of(out: Arcs, x: int, y: int) -> int:
    """Return the slot of the arc x → y, by bisection; -1 if there is none."""
    first, last = out.indptr[x], out.indptr[x + 1]
    while first < last:
        middle = (first + last) // 2
        if out.indices[middle] < y:
            first = middle + 1
        else:
            last = middle
    return first if first < out.indptr[x + 1] and out.indices[first] == y else -1


@njit(cache=True, nogil=True, allocates=False)
def _search(log: Log, members: IntArray, side: int, ways: Ways) -> None:
    """Find the next vertex down (side 0) or up (1) of the members that are not done."""
    look, back = (log.out, log.into) if side == 0 else (log.into, log.out)
    batch, done, values = log.batch, log.done, log.field.high
    following, step, reach, _, heap = ways
    key, origin, far = reach[0], reach[1], reach[2]
    sign = 1.0 if side == 0 else -1.0
    mine = batch[members[0]]
    slope = log.slopes[mine]
    size = 0
    for x in members:
        if done[x]:
            continue
        key[x] = np.inf
        following[x, side] = NO_PATH
        for e in range(look.indptr[x], look.indptr[x + 1]):
            y = look.indices[e]
            if done[y] and sign * values[y] + slope * look.lengths[e] < key[x]:
                key[x] = sign * values[y] + slope * look.lengths[e]
                origin[x] = sign * values[y]
                far[x] = look.lengths[e]
                following[x, side] = y
                step[x, side] = look.lengths[e]
        if key[x] < np.inf:
            size = push(heap, size, key[x], x)
    while size > 0:
        settled = heap.keys[0]
        x = heap.vertices[0]
        size = drop_least(heap, size)
        if settled > key[x]:
            continue
        for e in range(back.indptr[x], back.indptr[x + 1]):
            y = back.indices[e]
            if batch[y] != mine or done[y]:
                continue
            # rounding is monotone: never below the key of x, so that what is settled stays
            candidate = origin[x] + slope * (far[x] + back.lengths[e])
            if candidate < key[y]:
                key[y] = candidate
                origin[y] = origin[x]
                far[y] = far[x] + back.lengths[e]
                following[y, side] = x
                step[y, side] = back.lengths[e]
                size = push(heap, size, candidate, y)


@njit(cache=True, nogil=True, allocates=False)
def _foot(ways: Ways, done: BoolArray, x: int) -> int:
    """Return the last vertex that the ways down and up from x have in common.

    That is x itself if a walk leads through it. Otherwise x is on a dead end, or on a loop, so
    short that rounding counts it to the walk it hangs on.
    """
    following, stamp = ways.following, ways.stamp
    y = x
    while not done[y]:
        stamp[y] = x
        y = following[y, 0]
    last = x
    y = x
    while not done[y]:
        if stamp[y] == x:
            last = y
        y = following[y, 1]
    return last


@njit(cache=True, nogil=True, allocates=False)
def _follow(log: Log, ways: Ways, side: int, count: int) -> tuple[int, int]:
    """Append the vertices on the path from ``path[0]`` down or up to a done one.

    Their signed distances go to `along`, the whole distance behind the last; returns the new count
    and the done vertex.
    """
    sign = -1.0 if side == 0 else 1.0
    path, along = log.path, log.along
    far = (0.0, 0.0)
    x = path[0]
    while True:
        y = ways.following[x, side]
        far = add(far[0], far[1], ways.step[x, side], 0.0)
        along.high[count] = sign * far[0]
        along.low[count] = sign * far[1]
        if log.done[y]:
            return count, y
        x = y
        path[count] = x
        count += 1
