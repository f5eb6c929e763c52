"""A binary min-heap in two preallocated arrays: keys and the vertices they belong to."""

from __future__ import annotations

from typing import NamedTuple

from ._jit import njit
from ._types import FloatArray, IntArray


class Heap(NamedTuple):
    """Storage of a heap; its size is the caller's to keep, so that it stays in a register."""

    keys: FloatArray
    vertices: IntArray


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def drop_least(heap: Heap, size: int) -> int:
    """Remove the least entry, which stands in slot 0; returns the new size."""
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
        if child + 1 < size and heap.keys[child + 1] < heap.keys[child]:
            child += 1
        if heap.keys[child] >= key:
            break
        heap.keys[slot] = heap.keys[child]
        heap.vertices[slot] = heap.vertices[child]
        slot = child
    heap.keys[slot] = key
    heap.vertices[slot] = vertex
    return size
