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

import numpy as np

from ....numerics.csr import Arcs
from ....numerics.jit import njit
from ....typing import BoolArray, FloatArray, IntArray
from .retrace import Chains, Fixing, copy_level, follow, make_log

PLATEAU_ROUNDING = 2.0**-40
"""Vertices of a plateau may differ by this share of the largest value from rounding."""
EQUAL_SLOPES = 2.0**-30
"""Slopes closer than this share of the steepest count as equal."""


def trace(out: Arcs, into: Arcs, fixing: Fixing) -> Chains:
    """Return the chains of a field: the walks that `retrace.retraced` interpolates along."""
    values, k = fixing.values, fixing.order.size
    chains = Chains(
        np.empty(k, np.int32),
        np.empty(k),
        np.zeros(k + 1, np.int64),
        np.empty((k, 2), np.int32),
        np.empty(k),
        np.empty(2 * k, np.int64),
    )
    log = make_log(out, into, fixing, chains)
    level = PLATEAU_ROUNDING * float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
    count = follow(log, 0, (0.0, level))
    # rounding makes batches of a plateau, of which some wait for others that come later
    count = copy_level(log, fixing.order, level, True, count)
    end = chains.ptr[count]
    used = end, end, count + 1, count, count, end + count
    return Chains(*(each[:size] for each, size in zip(chains, used, strict=True)))


@njit(cache=True, nogil=True)
def copies(
    back: Arcs, known: BoolArray, values: FloatArray, rate: float
) -> tuple[IntArray, IntArray]:
    """Return the vertices with value u(y) + rate · ℓ, breadth first, and their neighbours y.

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
        # rows are sorted, so these numbers ascend with the slots
        number = np.repeat(np.arange(n := out.indptr.size - 1), np.diff(out.indptr)) * n
        slots[:, 0] = np.searchsorted(number + out.indices, found.astype(np.int64) * n + origin)
    return Chains(
        np.concatenate([chains.vertices, found]),
        np.concatenate([chains.share, np.zeros(found.size)]),
        np.concatenate([chains.ptr, chains.ptr[-1] + 1 + np.arange(found.size)]),
        np.concatenate([chains.ends, np.column_stack([origin, origin])]),
        np.concatenate([chains.slopes, np.full(found.size, rate)]),
        np.concatenate([chains.arcs, slots.ravel()]),
    )


@njit(cache=True, nogil=True, allocates=False)
def push(chains: Chains, field: FloatArray, stretch: FloatArray) -> None:
    """Propagate changes of labels, held in `field`, and of lengths to all vertices, in place.

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
    """Turn a cotangent into the gradient by labels, in place; add that by lengths, per slot."""
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
    noise: FloatArray,
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
                level = steepest * lengths[e] * (1.0 - EQUAL_SLOPES) - noise[x]
                if rates[y] == rates[y] and sign * (values[y] - values[x]) >= level:
                    change = (rates[y] - rates[x]) / lengths[e]
                    least, most = min(least, change), max(most, change)
                    shortest = min(shortest, lengths[e])
            if (most - least) * shortest > unsure:
                return False
    return True
