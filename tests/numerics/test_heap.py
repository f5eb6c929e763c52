"""The heap, and sorting in its room, against `sorted`."""

from __future__ import annotations

import numpy as np
import pytest

from wayfield.numerics.heap import Heap, drop_least, push, sort_entries

KEYS = {
    "none": lambda rng: [],
    "equal": lambda rng: [0.5] * 100,
    "spread": lambda rng: rng.random(1000),
    "two": lambda rng: rng.integers(0, 2, 500),
    "crowded": lambda rng: np.append(rng.random(500) * 1e-12, 1.0),
    "tiny": lambda rng: rng.integers(0, 9, 50) * 5e-324,
    "signs": lambda rng: rng.normal(size=77),
}


def entries(name: str) -> Heap:
    keys = np.asarray(KEYS[name](np.random.default_rng(0)), float)
    return Heap(keys, np.arange(keys.size, dtype=np.int32))


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("buckets", [2, 16, 4096])
def test_entries_are_sorted_in_place(name: str, buckets: int) -> None:
    given, heap = entries(name), entries(name)
    sort_entries(heap, heap.keys.size, np.empty((2, buckets), np.int32))
    assert heap.keys.tolist() == sorted(given.keys.tolist())
    assert sorted(heap.vertices.tolist()) == given.vertices.tolist()
    assert np.array_equal(given.keys[heap.vertices], heap.keys)


@pytest.mark.parametrize("name", KEYS)
def test_the_least_comes_first(name: str) -> None:
    given = entries(name)
    heap = Heap(np.empty_like(given.keys), np.empty_like(given.vertices))
    size = 0
    for key, vertex in zip(*given, strict=True):
        size = push(heap, size, key, vertex)
    popped = []
    while size > 0:
        popped.append(float(heap.keys[0]))
        size = drop_least(heap, size)
    assert popped == sorted(given.keys.tolist())
