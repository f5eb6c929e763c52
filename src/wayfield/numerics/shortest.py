"""Shortest paths from a set of sources: breadth first on unit lengths, Dijkstra otherwise.

`sweep_cones` and `cone` can round all sums up: a rounded sum plus 2⁻⁵² of itself is at least the
exact sum.
"""

from __future__ import annotations

import numpy as np

from ..typing import FloatArray, IntArray
from .csr import Arcs
from .heap import Heap, drop_least, push
from .jit import njit

FAR, FEW, SLOW = 0.05, 0.25, 0.7
"""When to sweep over n vertices. Sweeps begin if the indices of neighbours differ by less than the
first share of n on average. They stop when a sweep makes fewer changes, in both fields together,
than the second share of n. They also stop when it makes more than the third share of the changes
two sweeps before."""


@njit(cache=True, nogil=True)
def breadth_first(arcs: Arcs, sources: IntArray) -> tuple[FloatArray, IntArray]:
    """Return the least number of arcs from a source, and that source; inf and -1 if none."""
    n = arcs.indptr.size - 1
    distance = np.full(n, np.inf)
    origin = np.full(n, -1, np.int64)
    queue = np.empty(n, np.int64)
    tail = 0
    for s in sources:
        # a source listed twice is queued once
        if origin[s] < 0:
            distance[s] = 0.0
            origin[s] = s
            queue[tail] = s
            tail += 1
    head = 0
    while head < tail:
        x = queue[head]
        head += 1
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            y = arcs.indices[e]
            # ties go to the source listed first: queue order is source order, level by level
            if origin[y] < 0:
                distance[y] = distance[x] + 1.0
                origin[y] = origin[x]
                queue[tail] = y
                tail += 1
    return distance, origin


@njit(cache=True, nogil=True)
def dijkstra(
    arcs: Arcs, sources: IntArray, offsets: FloatArray, slope: float
) -> tuple[FloatArray, IntArray]:
    """Return the least ``offset(source) + slope · length`` over paths, and its source.

    Unreached vertices have inf and -1. Of sources with the same outcome the lowest vertex is kept.
    `slope` must not be negative.
    """
    n = arcs.indptr.size - 1
    best, origin, slot = np.full(n, np.inf), np.full(n, -1), np.full(n, -1)
    begin(sources, offsets, best, origin)
    search(arcs, sources, best, slope, 0.0, True, origin, slot)
    return best, origin


@njit(cache=True, nogil=True)
def shortest_tree(
    arcs: Arcs, sources: IntArray, offsets: FloatArray
) -> tuple[FloatArray, IntArray, IntArray]:
    """Return the least ``offset(source) + length`` over paths, its source, and the last arc.

    The slot of the arc a shortest path arrives by is -1 at sources that nothing reaches sooner and
    at unreached vertices. Going back by these arcs always ends, however small the lengths.
    """
    n = arcs.indptr.size - 1
    best, origin, slot = np.full(n, np.inf), np.full(n, -1), np.full(n, -1)
    begin(sources, offsets, best, origin)
    search(arcs, sources, best, 1.0, 0.0, False, origin, slot)
    return best, origin, slot


@njit(cache=True, nogil=True)
def sweep_cones(
    arcs: Arcs, one: FloatArray, other: FloatArray, slack: float
) -> tuple[IntArray, IntArray]:
    """Lower two fields to the least of ``field(neighbour) + length``, by sweeps over all vertices.

    The graph is undirected. Sweeps are made only if neighbours have close indices, as on grids. If
    many vertices are given, a few sweeps in the order of memory do nearly all the work of `cone`.
    They stop when few vertices change, or hardly fewer than before.

    Return the vertices from which each field may still be lowered: those that changed last. Each
    sum is raised by its share `slack`.
    """
    indptr, indices, lengths = arcs
    n, grow, shrink = one.size, 1.0 + slack, 1.0 - slack
    changed = np.empty((2, n), np.int32)
    first = second = 0
    for x in range(n):
        # without branches, which would be mispredicted half of the time
        changed[0, first] = changed[1, second] = x
        first += one[x] < np.inf
        second += other[x] < np.inf
    apart = 0
    step = max(1, indices.size // 1000)
    for x in range(0, n, step):
        for e in range(indptr[x], indptr[x + 1]):
            apart += abs(x - indices[e]) - FAR * n
    forward = True
    before = last = 8 * n
    now = 4 * n if apart < 0 else 0
    while FEW * n <= now <= SLOW * before:
        first = second = 0
        for k in range(n):
            x = k if forward else n - 1 - k
            least = lowest = np.inf
            for e in range(indptr[x], indptr[x + 1]):
                y = indices[e]
                length = lengths[e]
                through = one[y] + length
                least = through if through < least else least
                through = other[y] + length
                lowest = through if through < lowest else lowest
            least *= grow if least > 0.0 else shrink
            less = least < one[x]
            one[x] = least if less else one[x]
            changed[0, first] = x
            first += less
            lowest *= grow if lowest > 0.0 else shrink
            less = lowest < other[x]
            other[x] = lowest if less else other[x]
            changed[1, second] = x
            second += less
        before, last, now = last, now, first + second
        forward = not forward
    return changed[0, :first], changed[1, :second]


def cone(arcs: Arcs, sources: IntArray, best: FloatArray, unit: bool, slack: float) -> None:
    """Lower `best` to the least ``best(source) + length`` over paths, in place.

    Sources must be distinct and sorted by `best`. Each sum is raised by its share `slack`: with
    2⁻⁵² it is at least the exact sum. `unit` says that all lengths are 1.
    """
    if unit:
        _cone_of_steps(arcs, sources, best, slack)
    else:
        unused = np.empty((2, best.size), np.int64)
        search(arcs, sources, best, 1.0, slack, False, unused[0], unused[1])


@njit(cache=True, nogil=True)
def _cone_of_steps(arcs: Arcs, sources: IntArray, best: FloatArray, slack: float) -> None:
    """Do the work of `cone` on unit lengths, without a heap.

    Keys enter the queue in ascending order, so a vertex is queued once, with its least key.
    """
    indptr, indices, _ = arcs
    grow, shrink = 1.0 + slack, 1.0 - slack
    queue = np.empty(indptr.size, np.int32)  # with room for one more that is not kept
    offsets = best[sources]
    head = size = given = 0
    while head < size or given < sources.size:
        # the least key is at the head of the queue, or belongs to the next source
        if head < size and (given == sources.size or best[queue[head]] < offsets[given]):
            x = np.int64(queue[head])
            key = best[x]
            head += 1
        else:
            x = np.int64(sources[given])
            key = offsets[given]
            given += 1
        # a source that was reached earlier
        if best[x] < key:
            continue
        onward = key + 1.0
        onward *= grow if onward > 0.0 else shrink
        for e in range(indptr[x], indptr[x + 1]):
            # without a branch, which would be mispredicted half of the time
            y = indices[e]
            old = best[y]
            less = onward < old
            best[y] = onward if less else old
            queue[size] = y
            size += less


@njit(cache=True, nogil=True)
def begin(sources: IntArray, offsets: FloatArray, best: FloatArray, origin: IntArray) -> None:
    """Set the sources to their offsets: the least one where a source is listed twice."""
    for i in range(sources.size):
        if offsets[i] < best[sources[i]]:
            best[sources[i]] = offsets[i]
            origin[sources[i]] = sources[i]


@njit(cache=True, nogil=True)
def search(
    arcs: Arcs,
    sources: IntArray,
    best: FloatArray,
    slope: float,
    slack: float,
    lowest: bool,
    origin: IntArray,
    slot: IntArray,
) -> None:
    """Run Dijkstra's algorithm; with `lowest`, ties between sources go to the lowest vertex."""
    grow, shrink = 1.0 + slack, 1.0 - slack
    capacity = arcs.indices.size + sources.size + 1
    heap = Heap(np.empty(capacity, np.float64), np.empty(capacity, np.int64))
    size = 0
    for s in sources:
        if best[s] < np.inf:
            size = push(heap, size, best[s], s)
    while size > 0:
        key = heap.keys[0]
        x = heap.vertices[0]
        size = drop_least(heap, size)
        # an outdated entry: a vertex is pushed again only with a smaller key, and settled once
        if key > best[x]:
            continue
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            y = arcs.indices[e]
            candidate = key + slope * arcs.lengths[e]
            candidate *= grow if candidate > 0.0 else shrink
            if candidate < best[y]:
                best[y] = candidate
                origin[y] = origin[x]
                slot[y] = e
                size = push(heap, size, candidate, y)
            # not pushed again: y is either still in the heap, or settled at the same key as x,
            # where slope or length round to nothing. The arc stays, so that arcs form a tree
            elif lowest and candidate == best[y] and origin[x] < origin[y]:
                origin[y] = origin[x]
