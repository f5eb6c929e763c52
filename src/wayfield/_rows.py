"""Rows of a graph: built from edges, and checked, before a kernel may trust them."""

from __future__ import annotations

import numpy as np

from ._arrays import MOST_VERTICES, as_lengths, as_whole, frozen, owned, refuse
from .errors import InputError
from .kernels._types import FloatArray, IntArray
from .kernels.csr import Arcs, first_asymmetry, first_flaw, group_edges, keep_shortest, reverse_arcs


def vertex_count(tail: IntArray, head: IntArray, num_vertices: int | None) -> int:
    """Return the number of vertices given, or told by the largest index."""
    largest = int(max(tail.max(initial=-1), head.max(initial=-1)))
    if num_vertices is None:
        if largest >= max(1_000_000, 100 * tail.size):
            raise InputError(
                f"the largest vertex index is {largest} with only {tail.size} edges; "
                "if most vertices are meant to be isolated, pass num_vertices"
            )
        return largest + 1
    n = as_whole(num_vertices, "num_vertices", least=0, most=MOST_VERTICES)
    for name, ends in (("tails", tail), ("heads", head)):
        refuse(ends >= n, ends, name, f"is out of range for {n} vertices")
    return n


def empty_rows(n: int, m: int) -> Arcs:
    """Allocate rows for n vertices and m arcs."""
    offset = np.int32 if m < 2**31 else np.int64
    return Arcs(np.empty(n + 1, offset), np.empty(m, np.int32), np.empty(m))


def sorted_rows(
    n: int, loops: int, edges: tuple[IntArray, IntArray, FloatArray], directed: bool
) -> tuple[Arcs, int, int]:
    """Sorted rows without parallel arcs; how many were merged, and how many of those longer."""
    ways = 1 if directed else 2
    m = ways * (edges[0].size - loops)
    by_head, rows = empty_rows(n, m), empty_rows(n, m)
    group_edges(*edges, not directed, by_head)
    reverse_arcs(by_head, rows)
    merged, longer = keep_shortest(rows)
    indptr, indices, lengths = rows
    if merged:
        indices, lengths = indices[: m - merged].copy(), lengths[: m - merged].copy()
    return Arcs(frozen(indptr), frozen(indices), frozen(lengths)), merged // ways, longer // ways


def checked_rows(indptr: IntArray, indices: IntArray, lengths: FloatArray, directed: bool) -> Arcs:
    """Return the rows read-only and in the kernels' types, or say what is wrong with them."""
    for name, array in (("indptr", indptr), ("indices", indices)):
        flat = isinstance(array, np.ndarray) and array.ndim == 1
        if not flat or array.dtype not in (np.int32, np.int64):
            raise InputError(f"{name} must be a one-dimensional int32 or int64 array")
    if not 1 <= indptr.size <= MOST_VERTICES + 1 or indptr[0] != 0 or indptr[-1] != indices.size:
        raise InputError(f"indptr does not start at 0 and end at {indices.size} arcs")
    indptr, indices = np.ascontiguousarray(indptr), np.ascontiguousarray(indices)
    lengths = as_lengths(lengths, "lengths", indices.size)
    x = first_flaw(indptr, indices)
    if x >= 0:
        raise InputError(f"row {x} is not an ascending list of other vertices")
    offset = np.int32 if indices.size < 2**31 else np.int64
    indptr, indices = indptr.astype(offset, copy=False), indices.astype(np.int32, copy=False)
    arcs = Arcs(owned(indptr), owned(indices), owned(lengths))
    slot = -1 if directed else first_asymmetry(arcs)
    if slot >= 0:
        raise InputError(f"an undirected graph must be symmetric: {one_way(arcs, slot)}")
    return arcs


def one_way(arcs: Arcs, slot: int) -> str:
    """Say what is wrong with an arc whose reverse is missing or of another length."""
    x, y = int(np.searchsorted(arcs.indptr, slot, side="right")) - 1, int(arcs.indices[slot])
    row = slice(arcs.indptr[y], arcs.indptr[y + 1])
    back = arcs.lengths[row][arcs.indices[row] == x]
    reverse = f"is {back[0]}" if back.size else "is missing"
    return f"entry ({x}, {y}) is {arcs.lengths[slot]}, but ({y}, {x}) {reverse}"
