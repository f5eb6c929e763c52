"""A binary min-heap in two preallocated arrays: keys and the vertices they belong to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..typing import FloatArray, IntArray
from .jit import njit


class Heap(NamedTuple):
    """Storage of a heap. The caller keeps its size, so that it stays in a register."""

    keys: FloatArray
    vertices: IntArray


@njit(cache=True, nogil=True, allocates=False)
def push(heap: Heap, size: int, key: float, vertex: int) -> int:
    """Add an entry to a heap of `size` entries; returns the new size."""
    slot = size
    # the hole moves, not the entry: one write per level in place of three
    while slot > 0:
        parent = (slot - 1) >> 1
        if heap.keys[parent] <= key:
            break
        heap.keys[slot] = heap.keys[parent]
        heap.vertices[slot] = heap.vertices[parent]
        slot = parent
    heap.keys[slot] = key
    heap.vertices[slot] = vertex
    return size + 1


@njit(cache=True, nogil=True, allocates=False)
def drop_least(heap: Heap, size: int) -> int:
    """Remove the least entry, which is in slot 0; return the new size."""
    size -= 1
    # the last entry fills the hole at the top, which first sinks to where it fits
    key = heap.keys[size]
    vertex = heap.vertices[size]
    slot = 0
    while True:
        child = 2 * slot + 1
        if child >= size:
            break
        # of equal keys the left one rises: the order depends on nothing but the pushes
        # without a branch, which would be mispredicted half of the time; slot `size` can be read
        child += (child + 1 < size) & (heap.keys[child + 1] < heap.keys[child])
        if heap.keys[child] >= key:
            break
        heap.keys[slot] = heap.keys[child]
        heap.vertices[slot] = heap.vertices[child]
        slot = child
    heap.keys[slot] = key
    heap.vertices[slot] = vertex
    return size


@njit(cache=True, nogil=True, allocates=False)
def sort_entries(heap: Heap, size: int, buckets: NDArray[np.int32]) -> None:
    """Sort the first `size` entries by their keys, in place: a queue that does not grow.

    By buckets of equal width, and within a bucket by insertion or, where many keys crowd into it,
    as a heap: linear where keys are spread out, n log n at worst. `buckets` is room, of two rows.
    """
    keys, vertices = heap
    least = np.inf
    most = -np.inf
    for k in range(size):
        least = min(least, keys[k])
        most = max(most, keys[k])
    if not least < most:
        return
    count = min(size, buckets.shape[1] - 1)
    # if the keys hardly differ, they all go into one bucket
    scale = count / (most - least) if most - least > 1e-290 else 0.0
    starts, places = buckets[0], buckets[1]
    for b in range(count + 1):
        starts[b] = 0
    for k in range(size):
        starts[min(int((keys[k] - least) * scale), count - 1) + 1] += 1
    for b in range(count):
        starts[b + 1] += starts[b]
        places[b] = starts[b]
    # every entry that is not in its bucket changes places with the next free one there
    for b in range(count):
        while places[b] < starts[b + 1]:
            here = places[b]
            target = min(int((keys[here] - least) * scale), count - 1)
            there = places[target]
            places[target] += 1
            if there != here:
                keys[here], keys[there] = keys[there], keys[here]
                vertices[here], vertices[there] = vertices[there], vertices[here]
    for b in range(count):
        if starts[b + 1] - starts[b] <= 32:
            _insertion_sort(heap, starts[b], starts[b + 1])
        else:
            _heap_sort(heap, starts[b], starts[b + 1])


@njit(cache=True, nogil=True, allocates=False)
def _insertion_sort(heap: Heap, start: int, stop: int) -> None:
    keys, vertices = heap
    for k in range(start + 1, stop):
        key = keys[k]
        vertex = vertices[k]
        place = k
        while place > start and keys[place - 1] > key:
            keys[place] = keys[place - 1]
            vertices[place] = vertices[place - 1]
            place -= 1
        keys[place] = key
        vertices[place] = vertex


@njit(cache=True, nogil=True, allocates=False)
def _heap_sort(heap: Heap, start: int, stop: int) -> None:
    part = Heap(heap.keys[start:stop], heap.vertices[start:stop])
    size = 0
    # with keys negated, the largest is on top: it goes to the place freed at the end
    for k in range(stop - start):
        size = push(part, size, -part.keys[k], part.vertices[k])
    while size > 0:
        key, vertex = -part.keys[0], part.vertices[0]
        size = drop_least(part, size)
        part.keys[size] = key
        part.vertices[size] = vertex
