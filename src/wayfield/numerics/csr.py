"""Compressed sparse rows: building, checking, reversing, components, renumbering.

The arcs of a graph lie row by row: those of vertex ``x`` are the slots ``indptr[x]`` to
``indptr[x + 1]`` of ``indices`` (heads) and ``lengths``. All functions here are linear in the
number of vertices and arcs, and sort by counting, so that a star is as cheap as a path.

A sweep over a million vertices in random order waits for memory at every arc. In the order of a
breadth-first search (reverse Cuthill–McKee) neighbours share cache lines: on random points in the
plane, solvers then take a quarter of the time. Graphs that are numbered well already, such as grids
by rows, and graphs without any good order, such as random regular ones, are left alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..typing import BoolArray, FloatArray, IntArray
from .jit import njit

NEW = -2
"""A vertex whose component has not been found yet."""
LARGE, APART, MOST_NEIGHBOURS = 50_000, 0.05, 1000
"""Values of fewer vertices fit into a processor's cache. Neighbours are far apart if their numbers
differ by this share of all vertices on average. With more neighbours at a vertex, the search for an
order takes too long: SciPy sorts them by insertion."""


class Arcs(NamedTuple):
    """Arcs of a graph, row by row: what every kernel takes as "a graph"."""

    indptr: IntArray
    indices: IntArray
    lengths: FloatArray


def rows_of_edges(
    n: int, tails: IntArray, heads: IntArray, lengths: FloatArray, both_ways: bool
) -> tuple[Arcs, int, int]:
    """Return edges as sorted rows, with the shortest of parallel arcs; loops are skipped.

    Also return the number of arcs merged, and how many of those were longer than the one kept.
    """
    if (loops := tails == heads).any():
        tails, heads, lengths = tails[~loops], heads[~loops], lengths[~loops]
    if both_ways:
        tails, heads = np.concatenate([tails, heads]), np.concatenate([heads, tails])
        lengths = np.concatenate([lengths, lengths])
    # grouped by head, and then by tail: the rows come out sorted
    one_each = np.ones(heads.size, np.int8), heads, np.arange(heads.size + 1, dtype=np.int32)
    by_head = sparse.csr_array(one_each, shape=(heads.size, n)).tocsc()
    order = by_head.indices
    rows = reverse_arcs(Arcs(by_head.indptr, tails[order], lengths[order]))
    first = np.ones(heads.size, bool)
    first[1:] = rows.indices[1:] != rows.indices[:-1]
    first[rows.indptr[:-1][np.diff(rows.indptr) > 0]] = True
    merged, longer = heads.size - int(np.count_nonzero(first)), 0
    if merged:
        at, place = np.flatnonzero(first), np.cumsum(first)
        shortest = np.minimum.reduceat(rows.lengths, at)
        longer = int(np.count_nonzero(rows.lengths > shortest[place - 1]))
        indptr = np.append(0, place)[rows.indptr].astype(rows.indptr.dtype)
        rows = Arcs(indptr, rows.indices[at], shortest)
    return rows, merged, longer


def reverse_arcs(arcs: Arcs) -> Arcs:
    """Return the reversed arcs, in sorted rows."""
    n = arcs.indptr.size - 1
    columns = sparse.csr_array((arcs.lengths, arcs.indices, arcs.indptr), shape=(n, n)).tocsc()
    offset = np.int32 if arcs.indices.size < 2**31 else np.int64
    indptr, indices = columns.indptr.astype(offset), columns.indices.astype(np.int32, copy=False)
    return Arcs(indptr, indices, columns.data)


def reverse_slots(arcs: Arcs) -> IntArray:
    """Return, for every slot of the reversed arcs, the slot of the original arc.

    In an undirected graph these are the slots of the opposite arcs.
    """
    return np.argsort(arcs.indices, kind="stable")


def entries_of(rows: IntArray, indptr: IntArray) -> tuple[IntArray, IntArray]:
    """Return the entries of some rows, one after another: position in `rows`, and slot."""
    starts = indptr[rows].astype(np.int64)
    sizes = indptr[rows + 1] - starts
    owner = np.repeat(np.arange(rows.size), sizes)
    # slot of entry k = start of its row + (k - first entry of that row in the result)
    slots = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
    return owner, slots + np.arange(owner.size)


@njit(cache=True, nogil=True)
def first_flaw(indptr: IntArray, indices: IntArray) -> int:
    """Return the first vertex whose heads do not ascend or include itself, or -1."""
    n = indptr.size - 1
    for x in range(n):
        if not 0 <= indptr[x] <= indptr[x + 1] <= indices.size:
            return x
        previous = -1
        for e in range(indptr[x], indptr[x + 1]):
            y = indices[e]
            # y > previous ≥ -1 also rules out negative heads
            if y <= previous or y >= n or y == x:
                return x
            previous = y
    return -1


@njit(cache=True, nogil=True)
def first_asymmetry(arcs: Arcs) -> int:
    """Return a slot whose arc has no reverse of the same length, or -1.

    Rows are sorted, so the arcs into a vertex ``y`` come in the order of the arcs out of it: one
    cursor per row finds every reverse.
    """
    indptr, indices, lengths = arcs
    cursor = indptr[:-1].copy()
    for x in range(indptr.size - 1):
        for e in range(indptr[x], indptr[x + 1]):
            y = indices[e]
            slot = cursor[y]
            # the cursor of y is at its least head not matched yet: beyond x, the reverse of
            # this arc is missing; before x, the arc at the cursor is the one without a reverse
            if slot == indptr[y + 1] or indices[slot] > x or lengths[slot] != lengths[e]:
                return e
            if indices[slot] < x:
                return int(slot)
            cursor[y] = slot + 1
    return -1


@njit(cache=True, nogil=True)
def weak_components(
    arcs: Arcs, reverse: Arcs, directed: bool, among: BoolArray
) -> tuple[IntArray, int]:
    """Return weak components `among` some vertices, numbered by lowest vertex, and their number.

    Other vertices have -1. `reverse` is used only if `directed`.
    """
    n = arcs.indptr.size - 1
    component = np.empty(n, np.int32)
    for x in range(n):
        component[x] = NEW if among[x] else -1
    queue = np.empty(n, np.int32)
    count = 0
    for root in range(n):
        if component[root] != NEW:
            continue
        component[root] = count
        queue[0] = root
        head = 0
        tail = 1
        while head < tail:
            x = queue[head]
            head += 1
            tail = _spread(arcs, x, component, queue, tail)
            if directed:
                tail = _spread(reverse, x, component, queue, tail)
        count += 1
    return component, count


@njit(cache=True, nogil=True)
def _spread(arcs: Arcs, x: int, component: IntArray, queue: IntArray, tail: int) -> int:
    """Queue the heads of `x` that have no component yet, and assign them that of `x`."""
    for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
        y = arcs.indices[e]
        if component[y] == NEW:
            component[y] = component[x]
            queue[tail] = y
            tail += 1
    return tail


class Renumbered(NamedTuple):
    """The arcs of a graph, numbered so that vertex i is vertex ``order[i]`` of the graph."""

    order: IntArray
    number: IntArray
    """The reverse: vertex ``order[i]`` has number i."""
    arcs: Arcs


def renumber(arcs: Arcs) -> Renumbered | None:
    """Give neighbours in an undirected graph similar numbers; return None if there is no need."""
    n, m = arcs.indptr.size - 1, arcs.indices.size
    if n < LARGE or m == 0 or np.diff(arcs.indptr).max() > MOST_NEIGHBOURS:
        return None
    sample = np.arange(0, m, max(1, m // 1000))
    tails = np.searchsorted(arcs.indptr, sample, side="right") - 1
    if np.abs(tails - arcs.indices[sample]).mean() < APART * n or expands(arcs):
        return None
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    pattern = sparse.csr_array((np.ones(m, np.int8), arcs.indices, arcs.indptr), shape=(n, n))
    order = np.asarray(reverse_cuthill_mckee(pattern, symmetric_mode=True))
    number = np.empty_like(order)
    number[order] = np.arange(n, dtype=order.dtype)
    indptr = np.zeros_like(arcs.indptr)
    np.cumsum(np.diff(arcs.indptr)[order], out=indptr[1:])
    _, slots = entries_of(order, arcs.indptr)
    return Renumbered(order, number, Arcs(indptr, number[arcs.indices[slots]], arcs.lengths[slots]))


def expands(arcs: Arcs) -> bool:
    """Whether eight steps lead to thousands of vertices, as on random graphs but not on grids."""
    ball = reached = np.array([arcs.indptr.size // 2])
    for _ in range(8):
        rows = [arcs.indices[arcs.indptr[x] : arcs.indptr[x + 1]] for x in reached]
        reached = np.setdiff1d(np.concatenate(rows), ball)
        ball = np.concatenate([ball, reached])
        if ball.size > 2000 or reached.size == 0:
            break
    return ball.size > 2000
