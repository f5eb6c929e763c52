"""Graphs of large replay buffers: seconds, memory, and merging beside a k-d tree.

Run with ``python -m benchmarks.replay [rows …]``. The promise: 1e6 rows within 5 seconds, 1e7
within 6 GB, arrays of the buffer included. Buffers: walks in a square, as float32 observations; of
2 coordinates and of 29, as an ant has, two of which matter. Each runs in a process of its own, so
that its peak memory is its own; kernels are compiled before.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from wayfield import replay
from wayfield.replay.kernels.merging import merge_near

OPTIONS: dict[str, dict[str, float]] = {
    "1,000 landmarks": {"landmarks": 1000},
    "tolerance 0.6": {"tolerance": 0.6},
    "exact": {},
}
LENGTH = 200


def dataset(rows: int, dims: int, regular: bool, seed: int = 0) -> dict[str, NDArray[np.float32]]:
    """Walks of 200 observations in a square that grows with their number, in OGBench's forms."""
    rng = np.random.default_rng(seed)
    count, side = rows // LENGTH, 30.0
    seen = np.empty((count, LENGTH, dims), np.float32)
    heading = rng.uniform(0, 2 * np.pi, count)
    place = rng.uniform(0, side, (count, 2))
    for step in range(LENGTH):
        heading += rng.normal(0, 0.3, count)
        place += 0.2 * np.stack([np.cos(heading), np.sin(heading)], axis=1)
        seen[:, step, :2] = place = np.clip(place, 0, side)
        if dims > 2:
            seen[:, step, 2:] = rng.normal(0, 0.03, (count, dims - 2))
    last = np.arange(LENGTH) == LENGTH - 1
    if not regular:
        flags = np.tile(last, count).astype(np.float32)
        return {"observations": seen.reshape(-1, dims), "terminals": flags}
    first, onward = seen[:, :-1].reshape(-1, dims), seen[:, 1:].reshape(-1, dims)
    del seen
    flags = np.tile(last[1:], count).astype(np.float32)
    return {"observations": first, "next_observations": onward, "terminals": flags}


def measure(rows: int, dims: int, regular: bool, name: str) -> str:
    """Build one graph; how long it took, and the peak of memory with the buffer in it."""
    replay.Replay.from_dataset(dataset(2000, dims, regular), **OPTIONS[name])
    data = dataset(rows, dims, regular)
    held = sum(array.nbytes for array in data.values()) / 1e9
    begun, wall = time.process_time(), time.perf_counter()
    buffer = replay.Replay.from_dataset(data, **OPTIONS[name])
    seconds, wall = time.process_time() - begun, time.perf_counter() - wall
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    form = "transitions" if regular else "observations"
    return (
        f"{rows:>10,} {form:12} of {dims:2}, {name:15}: {seconds:5.1f} s ({wall:.1f} s on the "
        f"clock), peak {peak:.1f} GB ({held:.1f} the buffer); {buffer.graph.num_vertices:,} states"
    )


def by_tree(points: NDArray[np.float32], tolerance: float) -> int:
    """States found as a loop over a k-d tree's balls finds them."""
    leader = np.full(len(points), -1)
    tree = cKDTree(points)
    for x in range(len(points)):
        if leader[x] < 0:
            near = np.asarray(tree.query_ball_point(points[x], tolerance))
            leader[near[leader[near] < 0]] = x
    return len(np.unique(leader))


def merging() -> None:
    """Merge rows of many coordinates, ever more of them: seconds a row should not grow."""
    for dims in (2, 10, 30):
        for count in (20_000, 40_000, 80_000):
            rng = np.random.default_rng(0)
            way = rng.uniform(0, np.sqrt(count) / 2, (count, 2))
            wobble = rng.uniform(-0.1, 0.1, (count, dims - 2))
            points = np.column_stack([way, wobble]).astype(np.float32)
            merge_near(points[:9], points[:0], 1.0)
            begun = time.process_time()
            states = len(merge_near(points, points[:0], 1.0)[2])
            ours = time.process_time() - begun
            begun = time.process_time()
            assert by_tree(points, 1.0) == states
            tree = time.process_time() - begun
            print(
                f"{dims:2} coordinates, {count:>7,} rows, {states:>6,} states: "
                f"{1e6 * ours / count:5.1f} µs a row; a k-d tree takes {tree / ours:.1f} times that"
            )


def main(sizes: list[int]) -> None:
    merging()
    for rows in sizes:
        for dims in (2, 29):
            for regular in (False, True):
                for name in OPTIONS:
                    case = [str(rows), str(dims), str(int(regular)), name]
                    command = [sys.executable, "-m", "benchmarks.replay", "--case", *case]
                    subprocess.run(command, check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--case"]:
        print(measure(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "1", sys.argv[5]))
    else:
        main([int(text) for text in sys.argv[1:]] or [1_000_000, 10_000_000])
