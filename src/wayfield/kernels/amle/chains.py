"""The chains of an AMLE: its values as a tape of interpolations, run forward and backward.

In its order of fixing every vertex lies on a chain of constant slope between two vertices fixed
before. With d the distance above the lower end a, D the length of the chain and λ = d / D,

    u(x) = (1 − λ) u(a) + λ u(b),        slope s = (u(b) − u(a)) / D.

As long as the chains stay the same, u is linear in the labels and rational in the lengths:

    du(x) = (1 − λ) du(a) + λ du(b) + s (1 − λ) Σ_below dℓ − s λ Σ_above dℓ,

with sums over the arcs of the chain below x and above it. `push` runs this forward. `pull` is its
adjoint: one pass backward, linear in the number of vertices, whatever the number of labels.

A vertex that takes its value from one other vertex, u(x) = u(a) + rate · ℓ, is a chain of one
vertex with both ends a, share 0 and the rate for its slope: plateaus (rate 0), and vertices that
the directed AMLE fills.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import njit
from .._types import BoolArray, FloatArray, IntArray
from ..csr import Arcs
from ..doubledouble import Pair
from ..heap import Heap
from .pressure import UNFIXED
from .retrace import NONE, Fixing, Log, Ways, _follow, _foot, _search, _walk

LEVEL = 2.0**-40
"""Vertices of a plateau may differ by this share of the largest value from rounding."""
TIE = 2.0**-30
"""Slopes closer than this share of the steepest count as equal."""


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


def trace(out: Arcs, into: Arcs, fixing: Fixing) -> Chains:
    """Return the chains of a field, found as `retrace.retraced` finds them."""
    _, _, order, batch, slopes, *_ = fixing
    values = fixing.values.copy()  # one that can be written: to Numba others are of another type
    n, k = batch.size, order.size
    unit, path = bool((out.lengths == 1.0).all()), np.empty(k, np.int32)
    along = Pair(np.empty(k + 1), np.empty(k + 1))
    field = Pair(values, np.zeros(n))
    log = Log(out, into, unit, values, order, batch, slopes, field, batch < 0, path, along)
    chains = Chains(
        np.empty(k, np.int32),
        np.empty(k),
        np.zeros(k + 1, np.int64),
        np.empty((k, 2), np.int32),
        np.empty(k),
        np.empty(2 * k, np.int64),
    )
    room, first, count = None, 0, 0
    size = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
    while first < k:
        first, last, count, level = _trace(log, chains, first, count)
        if not level:
            continue
        members = order[first:last]
        if slopes[batch[order[first]]] > 0.0:
            entries = n + out.indices.size
            room = room or Ways(
                np.empty((n, 2), np.int32),
                np.empty((n, 2)),
                np.empty((3, n)),
                np.full(n, NONE, np.int32),
                Heap(np.empty(entries), np.empty(entries, np.int32)),
            )
            count = _trace_by_lengths(log, chains, members, room, count)
        for tolerance in (0.0, LEVEL * size):
            count = _copy(log, chains, members, tolerance, False, count)
        first = last
    # rounding makes batches of a plateau, of which some wait for others that come later
    count = _copy(log, chains, order, LEVEL * size, True, count)
    end = chains.ptr[count]
    return Chains(
        chains.vertices[:end],
        chains.share[:end],
        chains.ptr[: count + 1],
        chains.ends[:count],
        chains.slopes[:count],
        chains.arcs[: end + count],
    )


@njit(cache=True, nogil=True, allocates=False)
def _trace(log: Log, chains: Chains, first: int, count: int) -> tuple[int, int, int, bool]:
    """Note the walks of batch after batch, from place `first` of the order on: as `_retrace` does.

    Stops at a batch in which a walk leads to level ground; returns where that begins and ends, the
    number of chains, and whether it stopped so.
    """
    order, batch, slopes, done = log.order, log.batch, log.slopes, log.done
    path, along = log.path, log.along
    last = first
    while last < order.size:
        mine = batch[order[first]]
        level = not slopes[mine] > 0.0
        while last < order.size and batch[order[last]] == mine:
            x = order[last]
            last += 1
            if level or done[x]:
                continue
            path[0] = x
            along.high[0] = 0.0
            along.low[0] = 0.0
            size, bottom = _walk(log, log.out, 1, -1.0)
            below, fall = size, along.high[size]
            if bottom >= 0:
                size, top = _walk(log, log.into, size, 1.0)
            if bottom < 0 or top < 0:
                level = True
                continue
            count = _note(log, chains, size, below, fall, bottom, top, count)
        if level:
            return first, last, count, True
        first = last
    return first, last, count, False


@njit(cache=True, nogil=True, allocates=False)
def _trace_by_lengths(log: Log, chains: Chains, members: IntArray, ways: Ways, count: int) -> int:
    """Note what is left of the walks of a batch, found by lengths: as `_follow_lengths` does."""
    done, path, along, following = log.done, log.path, log.along, ways.following
    for side in range(2):
        _search(log, members, side, ways)
    for x in members:
        if done[x] or following[x, 0] == NONE or following[x, 1] == NONE:
            continue
        last = _foot(ways, done, x)
        path[0] = last
        along.high[0] = 0.0
        along.low[0] = 0.0
        size, bottom = _follow(log, ways, 0, 1)
        below, fall = size, along.high[size]
        size, top = _follow(log, ways, 1, size)
        count = _note(log, chains, size, below, fall, bottom, top, count)
        # what hangs on the walk takes the value where it does
        while not done[x]:
            count = _note_copy(log, chains, x, last, count)
            x = following[x, 0]
    return count


@njit(cache=True, nogil=True, allocates=False)
def _note(
    log: Log, chains: Chains, size: int, below: int, fall: float, bottom: int, top: int, count: int
) -> int:
    """Append the walk in `log.path`: its first vertex, then those below it, then those above."""
    vertices, share, ptr, ends, slopes, arcs = chains
    path, along = log.path, log.along.high
    start = ptr[count]
    run = along[size] - fall
    last = bottom
    for i in range(size):
        j = below - 1 - i if i < below else i
        x = path[j]
        vertices[start + i] = x
        share[start + i] = (along[j] - fall) / run
        arcs[start + count + i] = _slot(log.out, x, last)
        log.done[x] = True
        last = x
    arcs[start + count + size] = _slot(log.out, top, last)
    ends[count, 0], ends[count, 1] = bottom, top
    slopes[count] = (log.values[top] - log.values[bottom]) / run
    ptr[count + 1] = start + size
    return count + 1


@njit(cache=True, nogil=True, allocates=False)
def _note_copy(log: Log, chains: Chains, x: int, origin: int, count: int) -> int:
    """Append a vertex that takes its value from another."""
    start = chains.ptr[count]
    chains.vertices[start] = x
    chains.share[start] = 0.0
    chains.arcs[start + count] = chains.arcs[start + count + 1] = -1
    chains.ends[count, 0], chains.ends[count, 1] = origin, origin
    chains.slopes[count] = 0.0
    chains.ptr[count + 1] = start + 1
    log.done[x] = True
    return count + 1


@njit(cache=True, nogil=True, allocates=False)
def _copy(
    log: Log, chains: Chains, members: IntArray, tolerance: float, on: bool, count: int
) -> int:
    """Spread the values of done vertices over the rest of a batch, or `on` beyond it."""
    out, into, values, batch = log.out, log.into, log.values, log.batch
    done, queue = log.done, log.path
    tail = 0
    for x in members:
        if done[x]:
            continue
        for e in range(out.indptr[x], out.indptr[x + 1]):
            y = out.indices[e]
            if done[y] and abs(values[y] - values[x]) <= tolerance:
                count = _note_copy(log, chains, x, y, count)
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
                count = _note_copy(log, chains, y, x, count)
                queue[tail] = y
                tail += 1
    return count


@njit(cache=True, nogil=True, allocates=False)
def _slot(out: Arcs, x: int, y: int) -> int:
    """Slot of the arc x → y, by bisection; -1 if there is none."""
    first, last = out.indptr[x], out.indptr[x + 1]
    while first < last:
        middle = (first + last) // 2
        if out.indices[middle] < y:
            first = middle + 1
        else:
            last = middle
    return first if first < out.indptr[x + 1] and out.indices[first] == y else -1


@njit(cache=True, nogil=True)
def copies(
    back: Arcs, known: BoolArray, values: FloatArray, rate: float
) -> tuple[IntArray, IntArray]:
    """Vertices that take u(y) + rate · ℓ from a neighbour y, breadth first, and that neighbour.

    Spreads from the known vertices against the arcs `back`, wherever the sum is the value, bit by
    bit. What was found is known afterwards, in place.
    """
    found, origin = np.empty(known.size, np.int32), np.empty(known.size, np.int32)
    queue = np.empty(known.size, np.int32)
    size = 0
    for x in range(known.size):
        if known[x]:
            queue[size] = x
            size += 1
    seeds = size
    head = 0
    while head < size:
        x = queue[head]
        head += 1
        for e in range(back.indptr[x], back.indptr[x + 1]):
            y = back.indices[e]
            if not known[y] and values[x] + rate * back.lengths[e] == values[y]:
                known[y] = True
                found[size - seeds] = y
                origin[size - seeds] = x
                queue[size] = y
                size += 1
    return found[: size - seeds], origin[: size - seeds]


def filled(chains: Chains, out: Arcs, found: IntArray, origin: IntArray, rate: float) -> Chains:
    """Return the chains with `copies` appended to them."""
    slots = np.full((found.size, 2), -1, np.int64)
    if rate:
        slots[:, 0] = _slots(out, found, origin)
    return Chains(
        np.concatenate([chains.vertices, found]),
        np.concatenate([chains.share, np.zeros(found.size)]),
        np.concatenate([chains.ptr, chains.ptr[-1] + 1 + np.arange(found.size)]),
        np.concatenate([chains.ends, np.column_stack([origin, origin])]),
        np.concatenate([chains.slopes, np.full(found.size, rate)]),
        np.concatenate([chains.arcs, slots.ravel()]),
    )


@njit(cache=True, nogil=True)
def _slots(out: Arcs, tails: IntArray, heads: IntArray) -> IntArray:
    found = np.empty(tails.size, np.int64)
    for i in range(tails.size):
        found[i] = _slot(out, tails[i], heads[i])
    return found


@njit(cache=True, nogil=True, allocates=False)
def push(chains: Chains, field: FloatArray, stretch: FloatArray) -> None:
    """Carry changes of the labels, held in `field`, and of the lengths to all vertices, in place.

    With the labels and the lengths themselves this is the field: a chain does not change when all
    lengths grow in proportion.
    """
    vertices, share, ptr, ends, slopes, arcs = chains
    for c in range(ptr.size - 1):
        low, high = field[ends[c, 0]], field[ends[c, 1]]
        below = above = 0.0
        for k in range(ptr[c] + c, ptr[c + 1] + c + 1):
            if arcs[k] >= 0:
                above += stretch[arcs[k]]
        for i in range(ptr[c], ptr[c + 1]):
            if arcs[i + c] >= 0:
                below += stretch[arcs[i + c]]
                above -= stretch[arcs[i + c]]
            t = share[i]
            moved = slopes[c] * ((1.0 - t) * below - t * above)
            field[vertices[i]] = (1.0 - t) * low + t * high + moved


@njit(cache=True, nogil=True, allocates=False)
def pull(chains: Chains, cotangent: FloatArray, by_length: FloatArray) -> None:
    """Turn a cotangent into the gradient by labels, in place, and add that by lengths, by slot."""
    vertices, share, ptr, ends, slopes, arcs = chains
    for c in range(ptr.size - 2, -1, -1):
        low = high = 0.0
        for i in range(ptr[c], ptr[c + 1]):
            g = cotangent[vertices[i]]
            low += (1.0 - share[i]) * g
            high += share[i] * g
        # an arc counts (1 − λ) g for the vertices above it, and −λ g for those below
        above, below = low, 0.0
        for k in range(ptr[c] + c, ptr[c + 1] + c + 1):
            if arcs[k] >= 0:
                by_length[arcs[k]] += slopes[c] * (above - below)
            i = k - c
            if i < ptr[c + 1]:
                above -= (1.0 - share[i]) * cotangent[vertices[i]]
                below += share[i] * cotangent[vertices[i]]
                cotangent[vertices[i]] = 0.0
        cotangent[ends[c, 0]] += low
        cotangent[ends[c, 1]] += high


@njit(cache=True, nogil=True)
def keeps_ties(
    out: Arcs,
    into: Arcs,
    free: BoolArray,
    values: FloatArray,
    rates: FloatArray,
    noise: float,
    unsure: float,
) -> bool:
    """Whether arcs that tie for the steepest at a free vertex change alike.

    If not, one of them takes over when the labels move along these rates, and another when they
    move against them: a kink. Values are known up to `noise`, rates up to `unsure`. Neighbours
    without a rate (NaN) do not count.
    """
    for x in range(free.size):
        if not free[x]:
            continue
        for side in range(2):
            indptr, indices, lengths = into if side == 0 else out
            sign = 1.0 - 2.0 * side
            steepest = 0.0
            for e in range(indptr[x], indptr[x + 1]):
                y = indices[e]
                if rates[y] == rates[y]:
                    steepest = max(steepest, sign * (values[y] - values[x]) / lengths[e])
            least, most, shortest = np.inf, -np.inf, np.inf
            for e in range(indptr[x], indptr[x + 1]):
                y = indices[e]
                level = steepest * lengths[e] * (1.0 - TIE) - noise
                if rates[y] == rates[y] and sign * (values[y] - values[x]) >= level:
                    change = (rates[y] - rates[x]) / lengths[e]
                    least, most = min(least, change), max(most, change)
                    shortest = min(shortest, lengths[e])
            if (most - least) * shortest > unsure:
                return False
    return True
