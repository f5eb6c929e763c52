"""Graphs and planners of large replay buffers: seconds and memory.

Run with ``python -m benchmarks.buffers [rows …]``. The promise: a graph of 1e6 rows within 5
seconds, of 1e7 within 6 GB, arrays of the buffer included; a planner from 1e6 rows within 10
seconds, a goal in 0.5, a call in 0.1 ms. Buffers: walks in a square, as float32 observations; of 2
coordinates and of 29, as an ant has, two of which matter. Each graph is made in a process of its
own, so that its peak memory is its own; kernels are compiled before.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time

import numpy as np
from benchmarks.timing import best_of
from numpy.typing import NDArray

from wayfield import replay

OPTIONS: dict[str, dict[str, float]] = {
    "1,000 landmarks": {"landmarks": 1000},
    "tolerance 0.6": {"tolerance": 0.6},
    "exact": {},
}
LENGTH = 200
CALLS = 1000


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


def planner(rows: int) -> None:
    """Print the seconds to build a planner, to plan for a goal, and for a call."""
    replay.Planner(dataset(4000, 2, regular=False)).subgoal([1.0, 1.0], [2.0, 2.0])  # compiles
    data = dataset(rows, 2, regular=False)
    begun = time.process_time()
    made = replay.Planner(data)
    print(f"{made}: built from {rows:,} rows in {time.process_time() - begun:.1f} s")
    rng = np.random.default_rng(0)
    goals, here = rng.uniform(2, 28, (20, 2)), rng.uniform(2, 28, (CALLS, 2))
    begun = time.process_time()
    for goal in goals:
        made.reach(here[0], goal)
    print(f"{1e3 * (time.process_time() - begun) / len(goals):.1f} ms to plan for a goal")
    single = best_of(lambda: [made.subgoal(row, goals[0]) for row in here]) / CALLS
    together = best_of(lambda: made.subgoal(here, goals[0])) / CALLS
    print(f"{1e3 * single:.3f} ms a call; {1e6 * together:.2f} µs an observation, {CALLS} at once")


def main(sizes: list[int]) -> None:
    planner(min(sizes))
    for rows in sizes:
        for dims in (2, 29):
            for regular in (False, True):
                for name in OPTIONS:
                    case = [str(rows), str(dims), str(int(regular)), name]
                    command = [sys.executable, "-m", "benchmarks.buffers", "--case", *case]
                    subprocess.run(command, check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--case"]:
        print(measure(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "1", sys.argv[5]))
    else:
        main([int(text) for text in sys.argv[1:]] or [1_000_000, 10_000_000])
