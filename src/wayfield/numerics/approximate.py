"""Approximate elimination of an M-matrix: kernels of the preconditioner in `laplacian`.

Vertices lose their edges one by one. A vertex v with neighbours 1, …, k, sorted by ascending weight
w_1 ≤ … ≤ w_k, would leave a clique with edges w_a w_b / Σ w. It leaves a tree instead: each a < k
is joined to one later b, drawn with odds proportional to w_b, by the weight w_a Σ_{b > a} w_b / Σ w
(Σ w contains the weight to labels). In the mean this is the clique. Edges never become more, and a
vertex of degree 1 or 2 is eliminated exactly. Up to `CYCLE` neighbours, the three heaviest are
joined to each other, as exact elimination joins them.

Each round eliminates an independent set of vertices of about average degree or less, the lowest
degrees first. The first round is not part of the factor: `laplacian` eliminates it exactly.

Edges are stored as pairs of half-edges: e and e ^ 1 are the two halves of an edge. Each vertex has
a linked list of its halves, and the value of a half is the weight in its own vertex's row. An edge
moves to another vertex by changing hands, so no memory is needed for new ones.

References: Kyng and Sachdeva, "Approximate Gaussian elimination for Laplacians", FOCS 2016; Gao,
Kyng and Spielman, "Robust and practical solution of Laplacian equations by approximate
elimination", arXiv:2303.00709, 2023.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..typing import FloatArray, IntArray
from .jit import njit
from .workers import check_time

HALF_EDGE = np.dtype([("head", np.int32), ("next", np.int32), ("value", np.float64)], align=True)
"""Half an edge in the list of its tail; its head is -1 if it is dead."""
CYCLE = 4
"""Up to this many neighbours, the three heaviest are joined exactly."""
DROP = 0.1
"""An edge is dropped if all like it together weigh at most this share of the way to labels."""
TINY = 1e-37
"""Factor entries below this are 0: single precision would store them as slow subnormals."""
WIDE = 256
"""Room for this many neighbours at first."""
MIX = 0x9E3779B97F4A7C15
"""2⁶⁴ over the golden ratio, odd: spreads the bits of a small seed."""
RELAXED = 1.5
"""Factor on the largest degree after a round that eliminated nothing."""


class MMatrix(NamedTuple):
    """An M-matrix on some vertices of a graph, as weights of arcs: no diagonal, no cancellation.

    Row i belongs to ``vertices[i]``. The entry at an arc to another such vertex is -weight, and the
    diagonal is the sum of the weights of all arcs of the row, those to other vertices included.

    Attributes
    ----------
    indptr, indices : integer arrays
        The arcs of the graph by rows, both ways.
    weights : (num_arcs,) float array
        Weights ≥ 0 of the arcs.
    vertices : (m,) integer array
        The vertices of the rows, ascending or not.
    row : (n,) integer array
        The row of a vertex; -1 if it has none.
    """

    indptr: IntArray
    indices: IntArray
    weights: FloatArray
    vertices: IntArray
    row: IntArray


class Lists(NamedTuple):
    """The edges left, in linked lists by tail, and what is left of the rows."""

    edges: Any
    first: IntArray
    degree: IntArray
    """Live half-edges of a vertex; -1 once it is eliminated."""
    ground: FloatArray
    """Weight to labels."""


class Work(NamedTuple):
    """Scratch space: the neighbours of one vertex, and marks on all vertices."""

    near: IntArray
    slot: IntArray
    out: FloatArray
    into: FloatArray
    sums: FloatArray
    place: IntArray
    touched: IntArray


class Growing(NamedTuple):
    """The factor as it grows, in the order of elimination."""

    order: IntArray
    pivot: FloatArray
    start: IntArray
    other: IntArray
    upper: FloatArray
    lower: FloatArray
    counts: IntArray
    """Vertices eliminated, entries of the factor, live half-edges."""


class Factor(NamedTuple):
    """M = (I - L) D (I - U) without the first round: L by columns, U by rows, 1/D."""

    start: IntArray
    other: IntArray
    upper: FloatArray
    lower: FloatArray
    inverse: FloatArray


@njit(cache=True, nogil=True)
def bordering(matrix: MMatrix) -> int:
    """Return the number of rows with an arc to a vertex that has none."""
    indptr, indices, _, vertices, row = matrix
    count = 0
    for x in vertices:
        for s in range(indptr[x], indptr[x + 1]):
            if row[indices[s]] < 0:
                count += 1
                break
    return count


@njit(cache=True, nogil=True)
def half_edges(matrix: MMatrix, symmetric: bool) -> tuple[Any, IntArray, IntArray, FloatArray]:
    """Return the arrays of `Lists`."""
    indptr, indices, weights, vertices, row = matrix
    m = vertices.size
    ground = np.zeros(m)
    first, degree = np.full(m, -1, np.int32), np.zeros(m, np.int32)
    inner = 0
    for i in range(m):
        for s in range(indptr[vertices[i]], indptr[vertices[i] + 1]):
            if row[indices[s]] >= 0:
                degree[i] += 1
            else:
                ground[i] += weights[s]
        inner += degree[i]
    edges = np.empty(inner, HALF_EDGE)
    place = np.empty(0 if symmetric else m, np.int32)
    free = 0
    for i in range(m):
        if not symmetric:
            # so far the list of i holds its halves of edges to earlier rows, without their values
            e = first[i]
            while e >= 0:
                place[edges[e]["head"]] = e
                e = edges[e]["next"]
        for s in range(indptr[vertices[i]], indptr[vertices[i] + 1]):
            j = row[indices[s]]
            if j > i:
                edges[free]["head"], edges[free]["next"] = j, first[i]
                edges[free + 1]["head"], edges[free + 1]["next"] = i, first[j]
                edges[free]["value"] = edges[free + 1]["value"] = weights[s]
                first[i], first[j] = free, free + 1
                free += 2
            elif j >= 0 and not symmetric:
                edges[place[j]]["value"] = weights[s]
    return edges, first, degree, ground


@njit(cache=True, nogil=True)
def by_degree(
    left: IntArray, remaining: int, degree: IntArray, limit: int, chosen: IntArray
) -> int:
    """Fill `chosen` with the vertices of degree up to a limit, by degree; return their number."""
    bucket = np.zeros(limit + 2, np.int64)
    for u in range(remaining):
        if degree[left[u]] <= limit:
            bucket[degree[left[u]] + 1] += 1
    for d in range(limit + 1):
        bucket[d + 1] += bucket[d]
    for u in range(remaining):
        d = degree[left[u]]
        if d <= limit:
            chosen[bucket[d]] = left[u]
            bucket[d] += 1
    return int(bucket[limit])


@njit(cache=True, nogil=True)
def compact(left: IntArray, remaining: int, degree: IntArray) -> int:
    """Keep the vertices not eliminated yet at the front of `left`; return how many."""
    kept = 0
    for u in range(remaining):
        if degree[left[u]] >= 0:
            left[kept] = left[u]
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def sort_by_weight(
    k: int, out: FloatArray, into: FloatArray, near: IntArray, slot: IntArray
) -> None:
    """Sort the first k entries of all arrays by the first array, ascending (Shell)."""
    gap = 1
    while 3 * gap < k:
        gap = 3 * gap + 1
    while gap > 0:
        for a in range(gap, k):
            b = a
            w, back, h, e = out[a], into[a], near[a], slot[a]
            while b >= gap and out[b - gap] > w:
                out[b], into[b] = out[b - gap], into[b - gap]
                near[b], slot[b] = near[b - gap], slot[b - gap]
                b -= gap
            out[b], into[b], near[b], slot[b] = w, back, h, e
        gap //= 3


@njit(cache=True, nogil=True)
def gather(v: int, lists: Lists, work: Work, counts: IntArray) -> int:
    """List the neighbours of v, with parallel edges merged into one; return how many."""
    edges, first, degree, _ = lists
    near, slot, out, into, _, place, _ = work
    k = 0
    e = first[v]
    while e >= 0:
        h = edges[e]["head"]
        if h >= 0:
            at = place[h]
            if at < 0:
                place[h] = k
                near[k], slot[k] = h, e
                out[k], into[k] = edges[e]["value"], edges[e ^ 1]["value"]
                k += 1
            else:
                out[at] += edges[e]["value"]
                into[at] += edges[e ^ 1]["value"]
                edges[e ^ 1]["head"] = -1
                degree[h] -= 1
                counts[2] -= 2
        e = edges[e]["next"]
    for a in range(k):
        place[near[a]] = -1
    return k


@njit(cache=True, nogil=True)
def leave_tree(
    k: int, share: float, lists: Lists, work: Work, counts: IntArray, states: Any
) -> None:
    """Join the neighbours of an eliminated vertex to each other, by its own edges."""
    edges, first, degree, ground = lists
    near, slot, out, into, sums, _, _ = work
    cycle = 3 <= k <= CYCLE
    state = states[0]
    for a in range(k if cycle else k - 1):
        if cycle and a >= k - 3:
            # the three heaviest, each joined to the next
            b = a + 1 if a < k - 1 else k - 3
            later = out[b] * share
        elif a == k - 2:
            b = k - 1
            later = out[b] * share
        else:
            later = sums[k] - sums[a + 1]
            # xorshift: the same numbers on every machine
            state ^= state << np.uint64(13)
            state ^= state >> np.uint64(7)
            state ^= state << np.uint64(17)
            aim = sums[a + 1] + later * ((state >> np.uint64(11)) * 2.0**-53)
            b = a + 1
            high = k - 1
            while b < high:
                middle = (b + high) // 2
                if sums[middle + 1] > aim:
                    high = middle
                else:
                    b = middle + 1
        # the edge from a to v becomes one from a to b: its other half moves to the list of b
        e = slot[a]
        i, j = near[a], near[b]
        there = into[a] * later
        back = into[b] * (out[a] / out[b]) * later if out[b] > 0.0 else 0.0
        if there * degree[i] <= DROP * ground[i] and back * degree[j] <= DROP * ground[j]:
            edges[e ^ 1]["head"] = -1
            degree[i] -= 1
            counts[2] -= 2
            continue
        edges[e ^ 1]["head"], edges[e ^ 1]["value"] = j, there
        edges[e]["head"], edges[e]["value"], edges[e]["next"] = i, back, first[j]
        first[j] = e
        degree[j] += 1
    if k > 0 and not cycle:
        edges[slot[k - 1] ^ 1]["head"] = -1
        degree[near[k - 1]] -= 1
        counts[2] -= 2
    states[0] = state


@njit(cache=True, nogil=True)
def eliminate(
    u: int,
    candidates: int,
    chosen: IntArray,
    stamp: int,
    lists: Lists,
    work: Work,
    growing: Growing,
    states: Any,
) -> int:
    """Eliminate candidates from the u-th on unless they touch another one; round 1 keeps no factor.

    Returns where room ran out, or the number of candidates. No array may be replaced in this loop:
    its references would be counted at every step.
    """
    _, _, degree, ground = lists
    near, _, out, into, sums, _, touched = work
    order, pivot, start, other, upper, lower, counts = growing
    while u < candidates:
        v = chosen[u]
        if touched[v] == stamp:
            u += 1
            continue
        if degree[v] > near.size or counts[1] + degree[v] > other.size:
            break
        u += 1
        k = gather(v, lists, work, counts)
        sort_by_weight(k, out, into, near, work.slot)
        total = ground[v]
        for a in range(k):
            total += out[a]
        share = 1.0 / total if total > 0.0 else 0.0
        leak = ground[v] * share
        fill = counts[1]
        sums[0] = 0.0
        for a in range(k):
            touched[near[a]] = stamp
            sums[a + 1] = sums[a] + out[a] * share
            ground[near[a]] += into[a] * leak
            if stamp > 1:
                ahead, behind = out[a] * share, into[a] * share
                other[fill + a] = near[a]
                upper[fill + a] = ahead if ahead > TINY else 0.0
                lower[fill + a] = behind if behind > TINY else 0.0
        leave_tree(k, share, lists, work, counts, states)
        order[counts[0]], pivot[counts[0]] = v, share
        degree[v] = -1
        counts[0] += 1
        counts[1] += k if stamp > 1 else 0
        start[counts[0]] = counts[1]
    return u


@njit(cache=True, nogil=True)
def arrange(ends: IntArray, growing: Growing, symmetric: bool) -> Any:
    """Return the rows in their final order, their places, and the arrays of `Factor`.

    Within a round any order will do. Rows are sorted by their number of entries, so that the
    branches of the solves are predictable.
    """
    order, pivot, start, other, upper, lower, counts = growing
    n, outer = order.size, ends[1]
    final, row = order.copy(), np.empty(n, np.int32)
    was = np.empty(n, np.int32)
    for q in range(1, ends.size - 1):
        low, high = ends[q], ends[q + 1]
        most = 0
        for k in range(low, high):
            most = max(most, start[k + 1] - start[k])
        bucket = np.zeros(most + 2, np.int64)
        for k in range(low, high):
            bucket[start[k + 1] - start[k] + 1] += 1
        for d in range(most):
            bucket[d + 1] += bucket[d]
        for k in range(low, high):
            d = start[k + 1] - start[k]
            was[low + bucket[d]] = k
            bucket[d] += 1
    for k in range(outer, n):
        final[k] = order[was[k]]
    for k in range(n):
        row[final[k]] = k
    begin, inverse = np.zeros(n - outer + 1, np.uint64), np.empty(n - outer)
    others, uppers = np.empty(counts[1], np.uint32), np.empty(counts[1], upper.dtype)
    lowers = uppers if symmetric else np.empty(counts[1], lower.dtype)
    free = 0
    for k in range(outer, n):
        w = was[k]
        for s in range(start[w], start[w + 1]):
            others[free], uppers[free] = row[other[s]] - outer, upper[s]
            lowers[free] = lower[s]
            free += 1
        begin[k - outer + 1] = free
        inverse[k - outer] = pivot[w]
    return final, row, begin, others, uppers, lowers, inverse


def approximate(
    matrix: MMatrix, symmetric: bool, seed: int
) -> tuple[IntArray, IntArray, int, Factor]:
    """Eliminate all rows; return their order, their places, the size of round 1, the factor.

    There must be a row. The factor of a symmetric matrix is in single precision.
    """
    lists = Lists(*half_edges(matrix, symmetric))
    m = lists.first.size
    room = lists.edges.size // 2 + m
    upper = np.empty(room, np.float32 if symmetric else np.float64)
    growing = Growing(
        order=np.empty(m, np.int32),
        pivot=np.empty(m),
        start=np.zeros(m + 1, np.int64),
        other=np.empty(room, np.uint32),
        upper=upper,
        lower=upper if symmetric else np.empty_like(upper),
        counts=np.array([0, 0, lists.edges.size]),
    )
    marks = np.full(m, -1, np.int32), np.zeros(m, np.int32)
    work = Work(*scratch(WIDE), *marks)
    states = generator(seed)
    left, chosen = np.arange(m, dtype=np.int32), np.empty(m, np.int32)
    remaining, boost, ends = m, 1.0, [0]
    while remaining > 0:
        check_time()
        limit = int(boost * growing.counts[2] / remaining) + 1
        candidates = by_degree(left, remaining, lists.degree, limit, chosen)
        u = 0
        while True:
            u = eliminate(u, candidates, chosen, len(ends), lists, work, growing, states)
            if u == candidates:
                break
            needed = int(lists.degree[chosen[u]])
            if needed > work.near.size:
                work = Work(*scratch(2 * needed), *marks)
            size = growing.other.size
            if growing.counts[1] + needed > size:
                size += size // 2 + needed
                longer = np.resize(growing.upper, size)
                growing = growing._replace(
                    other=np.resize(growing.other, size),
                    upper=longer,
                    lower=longer if symmetric else np.resize(growing.lower, size),
                )
        boost = 1.0 if growing.counts[0] > ends[-1] else RELAXED * boost
        ends.append(int(growing.counts[0]))
        remaining = compact(left, remaining, lists.degree)
    del lists, work, left, chosen
    order, row, *factor = arrange(np.array(ends), growing, symmetric)
    return order, row, ends[1], Factor(*factor)


def generator(seed: int) -> Any:
    """Return the state of a generator of random numbers, its bits mixed."""
    return np.array([(2 * seed + 1) * MIX % 2**64], np.uint64)


def scratch(size: int) -> tuple[IntArray, IntArray, FloatArray, FloatArray, FloatArray]:
    """Return room for this many neighbours."""
    ints = np.empty(size, np.int32), np.empty(size, np.int32)
    return *ints, np.empty(size), np.empty(size), np.empty(size + 1)
