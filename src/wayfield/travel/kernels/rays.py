"""Rays, the arcs of shortest paths from many starts; and clusters of neighbouring vertices."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.csr import Arcs
from ...numerics.jit import njit
from ...typing import IntArray


class Rays(NamedTuple):
    """Paths, one after the other.

    Attributes
    ----------
    indptr : (q + 1,) int64 array
        Path ``i`` has the slots ``indptr[i]`` to ``indptr[i + 1]`` of `arcs`.
    arcs : int64 array
        Arcs in the order of the path.
    ends : (q,) int64 array
        Where the paths end.
    marks : (q,) uint64 array
        A hash of the arcs: paths with the same mark are the same.
    """

    indptr: IntArray
    arcs: IntArray
    ends: IntArray
    marks: NDArray[np.uint64]


@njit(cache=True, nogil=True)
def trace(
    heads: IntArray, into: IntArray, slot: IntArray, starts: IntArray
) -> tuple[IntArray, IntArray, IntArray, NDArray[np.uint64]]:
    """Return the arrays of the `Rays` along a tree of shortest paths, from each start to the root.

    `slot` is the tree as `shortest_tree` finds it on the reversed arcs, `into` the arc that stands
    at each of their slots.
    """
    indptr = np.empty(starts.size + 1, np.int64)
    ends = np.empty(starts.size, np.int64)
    marks = np.empty(starts.size, np.uint64)
    arcs = np.empty(max(64, 16 * starts.size), np.int64)
    used = 0
    for i in range(starts.size):
        indptr[i] = used
        mark = np.uint64(14695981039346656037)  # the hash of Fowler, Noll and Vo
        x = starts[i]
        while slot[x] >= 0:
            e = into[slot[x]]
            # the total length is not known beforehand: the array doubles
            if used == arcs.size:
                longer = np.empty(2 * used, np.int64)
                for k in range(used):
                    longer[k] = arcs[k]
                arcs = longer
            arcs[used] = e
            used += 1
            mark = (mark ^ np.uint64(e)) * np.uint64(1099511628211)
            x = heads[e]
        ends[i], marks[i] = x, mark
    indptr[starts.size] = used
    return indptr, arcs[:used].copy(), ends, marks


@njit(cache=True, nogil=True)
def pair_up(weights: Arcs) -> tuple[IntArray, int]:
    """Return the cluster of each vertex, and their number: pairs joined by the heaviest arcs.

    `weights` has weights in place of lengths, the same in both directions. If all neighbours of a
    vertex are in clusters already, it joins the cluster of the one with the heaviest arc. So a star
    becomes one cluster. Without isolated vertices, there are at most half as many clusters as
    vertices.
    """
    n = weights.indptr.size - 1
    cluster = np.full(n, -1, np.int64)
    count = 0
    for x in range(n):
        if cluster[x] >= 0:
            continue
        # of the neighbours, the one tied most among those free, and among those taken
        free, taken = -1, -1
        most_free = most_taken = -np.inf
        for e in range(weights.indptr[x], weights.indptr[x + 1]):
            y, weight = weights.indices[e], weights.lengths[e]
            if y == x:
                continue
            if cluster[y] < 0 and weight > most_free:
                free, most_free = y, weight
            elif cluster[y] >= 0 and weight > most_taken:
                taken, most_taken = y, weight
        if free >= 0:
            cluster[x] = cluster[free] = count
            count += 1
        elif taken >= 0:
            cluster[x] = cluster[taken]
        else:
            cluster[x] = count
            count += 1
    return cluster, count
