"""A planner from a buffer: seconds to build, to plan for a goal, and for a call.

Run with ``python -m benchmarks.buffer_planner [rows]``. Asked of a
million rows: at most 10 seconds to build, 0.5 to plan for a goal, and 0.1 ms an observation.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from benchmarks._timing import best_of
from benchmarks.replay import dataset

from wayfield import replay

CALLS = 1000


def main(rows: int) -> None:
    replay.Planner(dataset(4000, 2, regular=False)).subgoal([1.0, 1.0], [2.0, 2.0])  # compiles
    data = dataset(rows, 2, regular=False)
    begun = time.perf_counter()
    planner = replay.Planner(data)
    print(f"{planner}: built from {rows:,} rows in {time.perf_counter() - begun:.1f} s")
    rng = np.random.default_rng(0)
    goals, here = rng.uniform(2, 28, (20, 2)), rng.uniform(2, 28, (CALLS, 2))
    begun = time.perf_counter()
    for goal in goals:
        planner.reach(here[0], goal)
    print(f"{1e3 * (time.perf_counter() - begun) / len(goals):.1f} ms to plan for a goal")

    def one_by_one() -> None:
        for row in here:
            planner.subgoal(row, goals[0])

    single = best_of(one_by_one) / CALLS
    together = best_of(lambda: planner.subgoal(here, goals[0])) / CALLS
    print(f"{1e3 * single:.3f} ms a call; {1e6 * together:.2f} µs an observation, {CALLS} at once")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
