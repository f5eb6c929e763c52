"""Lifting a field until every vertex descends to the goal: priority flooding.

The least field v ≥ u with v(goal) = u(goal) in which every other vertex x that can reach the goal
has an arc x → y with v(y) < v(x) is, in floating point, the one solution of

    v(x) = max(u(x), next(min over arcs x → y of v(y))),

where next is the next larger double. It is settled from the goal outwards in order of v. The
candidate that a vertex gets from its first settled neighbour is its least, so it is final: every
vertex enters the queue once. A vertex that is lifted gets exactly next(v(y)); those keys never
decrease, so they wait in a plain queue and only the others need the heap (Barnes, Lehman & Mulla
2014, "Priority-flood").

Vertices with a strictly descending path to the goal keep their value. They are found first,
without a heap, so that a field that is already good costs one search.
"""

from __future__ import annotations

from math import inf

import numpy as np

from ...numerics.csr import Arcs
from ...numerics.heap import Heap, drop_least, push
from ...numerics.jit import njit
from ...typing import BoolArray, FloatArray, IntArray


@njit(cache=True, nogil=True)
def sound(reverse: Arcs, values: FloatArray, goal: int) -> tuple[BoolArray, IntArray]:
    """Return which vertices have a strictly descending path to the goal: a mask, and a list."""
    n = reverse.indptr.size - 1
    settled = np.zeros(n, np.bool_)
    queue = np.empty(n, np.int64)
    queue[0] = goal
    settled[goal] = True
    head, tail = 0, 1
    while head < tail:
        y = queue[head]
        head += 1
        for e in range(reverse.indptr[y], reverse.indptr[y + 1]):
            x = reverse.indices[e]
            if not settled[x] and values[x] > values[y]:
                settled[x] = True
                queue[tail] = x
                tail += 1
    return settled, queue[:tail].copy()


@njit(cache=True, nogil=True)
def flood(reverse: Arcs, values: FloatArray, goal: int) -> FloatArray:
    """Return the least field above `values` that descends to the goal; inf where none can.

    `values` must be finite wherever the goal can be reached.
    """
    n = values.size
    # what descends already keeps its value; only its border has anything to flood
    settled, order = sound(reverse, values, goal)
    lifted = np.full(n, inf)
    heap = Heap(np.empty(n, np.float64), np.empty(n, np.int64))
    size = 0
    for y in order:
        lifted[y] = values[y]
        for e in range(reverse.indptr[y], reverse.indptr[y + 1]):
            if not settled[reverse.indices[e]]:
                # once is enough, however many of its neighbours are not settled
                size = push(heap, size, lifted[y], y)
                break
    queue = np.empty(n, np.int64)
    head, tail = 0, 0
    while size > 0 or head < tail:
        # two queues in order: lifted vertices come with keys that never decrease, the others
        # through the heap
        if head < tail and (size == 0 or lifted[queue[head]] <= heap.keys[0]):
            y = queue[head]
            head += 1
        else:
            y = heap.vertices[0]
            size = drop_least(heap, size)
        above = np.nextafter(lifted[y], inf)
        for e in range(reverse.indptr[y], reverse.indptr[y + 1]):
            x = reverse.indices[e]
            if settled[x]:
                continue
            # final at once: y is the least neighbour that x will ever see, since vertices are taken
            # in order
            settled[x] = True
            if values[x] <= above:
                lifted[x] = above
                queue[tail] = x
                tail += 1
            else:
                lifted[x] = values[x]
                size = push(heap, size, lifted[x], x)
    return lifted
