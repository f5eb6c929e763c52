"""Elimination on a symmetric pattern: what costs nothing, and how much the rest would fill in.

A *dead end* is a row with at most one other entry, or with at most one once other dead ends are
gone: a tree hung on the rest, at its *mouth*. Eliminating it fills nothing in. A pattern comes by
rows, the diagonal entry first.
"""

from __future__ import annotations

import numpy as np

from ._jit import njit
from ._types import BoolArray, FloatArray, IntArray
from .krylov import Matrix


@njit(cache=True, nogil=True)
def dead_ends(indptr: IntArray, indices: IntArray) -> tuple[IntArray, IntArray]:
    """Dead ends in an order of elimination, and (n,) the row that each hangs on, -1 if none."""
    n = indptr.size - 1
    order = np.empty(n, np.int64)
    mouth = np.full(n, -1, np.int64)
    gone = np.zeros(n, np.bool_)
    left = np.empty(n, np.int64)
    count = 0
    for x in range(n):
        left[x] = indptr[x + 1] - indptr[x] - 1
        if left[x] <= 1:
            order[count] = x
            count += 1
    k = 0
    while k < count:
        x = order[k]
        k += 1
        gone[x] = True
        for e in range(indptr[x] + 1, indptr[x + 1]):
            y = indices[e]
            if not gone[y]:
                mouth[x] = y
                left[y] -= 1
                if left[y] == 1:
                    order[count] = y
                    count += 1
    return order[:count], mouth


@njit(cache=True, nogil=True)
def eliminate(
    matrix: Matrix, order: IntArray, mouth: IntArray, least: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Eliminate dead ends: the diagonal it leaves, and the entries (mouth, x) and (x, mouth).

    The diagonal of an M-matrix stays positive; where rounding would have it otherwise, at least
    the share `least` of an entry is left.
    """
    n = matrix.indptr.size - 1
    diagonal = matrix.data[matrix.indptr[:-1]]
    into = np.zeros(n)
    out = np.zeros(n)
    for x in range(n):
        for e in range(matrix.indptr[x] + 1, matrix.indptr[x + 1]):
            y = matrix.indices[e]
            if mouth[x] == y:
                out[x] = matrix.data[e]
            elif mouth[y] == x:
                into[y] = matrix.data[e]
    for x in order:
        y = mouth[x]
        if y >= 0:
            rest = diagonal[y] - into[x] / diagonal[x] * out[x]
            diagonal[y] = max(rest, least * matrix.data[matrix.indptr[y]])
    return diagonal, into, out


@njit(cache=True, nogil=True)
def substitute(
    order: IntArray,
    mouth: IntArray,
    diagonal: FloatArray,
    entries: FloatArray,
    values: FloatArray,
    back: bool,
) -> None:
    """Carry right-hand sides from dead ends to their mouths, or (`back`) solutions the other way.

    In place; `entries` are those at (mouth, x), or (x, mouth) on the way back.
    """
    for k in range(order.size):
        x = order[order.size - 1 - k if back else k]
        y = mouth[x]
        if back:
            across = entries[x] * values[y] if y >= 0 else 0.0
            values[x] = (values[x] - across) / diagonal[x]
        elif y >= 0:
            values[y] -= entries[x] / diagonal[x] * values[x]


@njit(cache=True, nogil=True)
def level_work(indptr: IntArray, indices: IntArray) -> float:
    """Σ w³ over the levels, of w rows each, of breadth-first searches without the dead ends.

    A level separates what came before from what comes after, so that elimination level by level
    takes about as many operations: none for trees, n² on a grid of n rows in the plane, n³ with a
    large factor on an expander. Searches start where another one ended, at the rim.
    """
    n = indptr.size - 1
    queue = np.empty(n, np.int64)
    seen = np.zeros(n, np.bool_)
    order, _ = dead_ends(indptr, indices)
    for x in order:
        seen[x] = True
    reached = seen.copy()
    total = 0.0
    for root in range(n):
        if not seen[root]:
            count, _ = _search(indptr, indices, root, reached, queue)
            _, work = _search(indptr, indices, queue[count - 1], seen, queue)
            total += work
    return total


@njit(cache=True, nogil=True)
def _search(
    indptr: IntArray, indices: IntArray, root: int, seen: BoolArray, queue: IntArray
) -> tuple[int, float]:
    """Fill the queue with the rows reached from a root; how many, and the cubes of the levels."""
    seen[root] = True
    queue[0] = root
    start = 0
    stop = 1
    work = 0.0
    while start < stop:
        work += float(stop - start) ** 3
        tail = stop
        for k in range(start, stop):
            for e in range(indptr[queue[k]], indptr[queue[k] + 1]):
                y = indices[e]
                if not seen[y]:
                    seen[y] = True
                    queue[tail] = y
                    tail += 1
        start, stop = stop, tail
    return stop, work
