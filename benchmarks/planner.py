"""Planner and `descending` at 1e6 vertices, in units of one plain midrange sweep.

Run it as ``python benchmarks/planner.py [side]``; the ratios, not the times, are the figures.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
from numba import njit

import wayfield as wf
from wayfield.kernels.csr import Arcs


@njit(cache=True, nogil=True)
def sweep(arcs: Arcs, values, fixed):
    """One in-place midrange sweep over the rows."""
    for x in range(values.size):
        if fixed[x]:
            continue
        low, high = np.inf, -np.inf
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            value = values[arcs.indices[e]]
            low, high = min(low, value), max(high, value)
        values[x] = 0.5 * (low + high)


def grid(side: int, terrain: np.random.Generator | None = None) -> wf.Graph:
    """Four-neighbour grid; unit lengths, or lengths drawn from 1 to 9."""
    index = np.arange(side * side).reshape(side, side)
    tails = np.concatenate([index[:, :-1].ravel(), index[:-1].ravel()])
    heads = np.concatenate([index[:, 1:].ravel(), index[1:].ravel()])
    lengths = None if terrain is None else terrain.integers(1, 10, tails.size)
    return wf.Graph.from_edges(tails, heads, lengths)


def best_of(work: Callable[[], object], times: int = 5) -> float:
    work()
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main(side: int) -> None:
    rng = np.random.default_rng(0)
    unit, terrain = grid(side), grid(side, rng)
    goal = side * side // 2 + side // 2
    fixed = np.zeros(side * side, dtype=bool)
    fixed[rng.choice(side * side, side * side // 50, replace=False)] = True
    work = rng.random(side * side)
    one = best_of(lambda: sweep(unit.arcs, work, fixed), 20)
    print(f"{side * side:,} vertices; one sweep {one * 1e3:.2f} ms")
    for name, graph in (("unit", unit), ("terrain", terrain)):
        truth = wf.cost_to_go(graph, goal)
        swept = np.where(fixed, truth, truth.mean())
        for _ in range(50):
            sweep(graph.arcs, swept, fixed)
        fields = {
            "truth": truth,
            "plateaus": np.floor(truth / 8),
            "50 sweeps": swept,
            "noisy": truth + rng.normal(0, 2, truth.size),
            "random": rng.random(truth.size),
        }
        for field, values in fields.items():
            seconds = best_of(lambda v=values, g=graph: wf.plan(g, v, goal), 3)
            lift = best_of(lambda v=values, g=graph: wf.descending(g, v, goal), 3)
            print(
                f"{name:8} {field:10} plan {seconds / one:6.1f} sweeps, "
                f"descending {lift / one:6.1f} sweeps; {wf.plan(graph, values, goal)}"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
