"""Compressed sparse rows: building, merging, reversing, components.

The arcs of a graph lie row by row: those of vertex ``x`` are the slots ``indptr[x]`` to
``indptr[x + 1]`` of ``indices`` (heads) and ``lengths``. All kernels here are linear in the
number of vertices and arcs and sort by counting, so that a star is as cheap as a path.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ._types import FloatArray, IntArray


class Arcs(NamedTuple):
    """Arcs of a graph, row by row: what every kernel takes as "a graph"."""

    indptr: IntArray
    indices: IntArray
    lengths: FloatArray


@njit(cache=True)
def group_arcs(
    tails: IntArray, heads: IntArray, lengths: FloatArray, indptr: IntArray, indices: IntArray
) -> FloatArray:
    """Stable counting sort of arcs by tail; fills `indptr` and `indices`, returns the lengths."""
    n = indptr.size - 1
    indptr[:] = 0
    for t in tails:
        indptr[t + 1] += 1
    for x in range(n):
        indptr[x + 1] += indptr[x]
    grouped = np.empty(heads.size, np.float64)
    for e in range(heads.size):
        slot = indptr[tails[e]]
        indices[slot] = heads[e]
        grouped[slot] = lengths[e]
        indptr[tails[e]] = slot + 1
    for x in range(n, 0, -1):
        indptr[x] = indptr[x - 1]
    indptr[0] = 0
    return grouped


@njit(cache=True)
def reverse_arcs(arcs: Arcs, indptr: IntArray, indices: IntArray) -> FloatArray:
    """Reverse every arc: in-arcs from out-arcs. Rows come out sorted by vertex.

    Reversing twice therefore sorts every row, without a comparison.
    """
    n = arcs.indptr.size - 1
    indptr[:] = 0
    for y in arcs.indices:
        indptr[y + 1] += 1
    for x in range(n):
        indptr[x + 1] += indptr[x]
    lengths = np.empty(arcs.indices.size, np.float64)
    for x in range(n):
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            y = arcs.indices[e]
            slot = indptr[y]
            indices[slot] = x
            lengths[slot] = arcs.lengths[e]
            indptr[y] = slot + 1
    for x in range(n, 0, -1):
        indptr[x] = indptr[x - 1]
    indptr[0] = 0
    return lengths


@njit(cache=True)
def merge_parallel(indptr: IntArray, indices: IntArray, lengths: FloatArray) -> tuple[int, int]:
    """Keep the shortest of parallel arcs, in place; rows must be sorted.

    Returns the number of arcs merged away, and how many of those had another length than the
    arc they were merged into.
    """
    out = 0
    differing = 0
    start = indptr[0]
    for x in range(indptr.size - 1):
        stop = indptr[x + 1]
        row = out
        for e in range(start, stop):
            if out > row and indices[out - 1] == indices[e]:
                if lengths[e] != lengths[out - 1]:
                    differing += 1
                    lengths[out - 1] = min(lengths[e], lengths[out - 1])
            else:
                indices[out] = indices[e]
                lengths[out] = lengths[e]
                out += 1
        start = stop
        indptr[x + 1] = out
    return indices.size - out, differing


@njit(cache=True)
def first_asymmetry(arcs: Arcs, reverse: Arcs) -> int:
    """Return the first slot where the arcs and the reversed arcs differ, or -1."""
    for x in range(arcs.indptr.size - 1):
        if arcs.indptr[x + 1] != reverse.indptr[x + 1]:
            return min(arcs.indptr[x + 1], arcs.indices.size) - 1
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            if arcs.indices[e] != reverse.indices[e] or arcs.lengths[e] != reverse.lengths[e]:
                return e
    return -1


@njit(cache=True)
def weak_components(arcs: Arcs, reverse: Arcs) -> tuple[IntArray, int]:
    """Component of every vertex, arcs taken both ways; numbered by their lowest vertex."""
    n = arcs.indptr.size - 1
    component = np.full(n, -1, np.int32)
    queue = np.empty(n, np.int32)
    count = 0
    for root in range(n):
        if component[root] >= 0:
            continue
        component[root] = count
        queue[0] = root
        head = 0
        tail = 1
        while head < tail:
            x = queue[head]
            head += 1
            for side in (arcs, reverse):
                for e in range(side.indptr[x], side.indptr[x + 1]):
                    y = side.indices[e]
                    if component[y] < 0:
                        component[y] = count
                        queue[tail] = y
                        tail += 1
        count += 1
    return component, count
