"""Planner and `descending` at 1e6 vertices, in units of one plain midrange sweep.

Run with ``python -m benchmarks.planner [side]``. The promises, on unit lengths: a plan in the time
of 20 sweeps, a descending field in that of 60.
"""

from __future__ import annotations

import sys

import numpy as np
from benchmarks._timing import best_of

import wayfield as wf
from wayfield.kernels.midrange import sweep_in_place


def grid(side: int, terrain: np.random.Generator | None = None) -> wf.Graph:
    """Four-neighbour grid; unit lengths, or lengths drawn from 1 to 9."""
    index = np.arange(side * side).reshape(side, side)
    tails = np.concatenate([index[:, :-1].ravel(), index[:-1].ravel()])
    heads = np.concatenate([index[:, 1:].ravel(), index[1:].ravel()])
    lengths = None if terrain is None else terrain.integers(1, 10, tails.size)
    return wf.Graph.from_edges(tails, heads, lengths)


def main(side: int) -> None:
    rng = np.random.default_rng(0)
    unit, terrain = grid(side), grid(side, rng)
    goal = side * side // 2 + side // 2
    fixed = np.zeros(side * side, dtype=bool)
    fixed[rng.choice(side * side, side * side // 50, replace=False)] = True
    fixed[goal] = True
    work = rng.random(side * side)
    one = best_of(lambda: sweep_in_place(unit.arcs, fixed, work), 20)
    print(f"{side * side:,} vertices; one sweep {one * 1e3:.2f} ms")
    for name, graph in (("unit", unit), ("terrain", terrain)):
        truth = wf.cost_to_go(graph, goal)
        swept = np.where(fixed, truth, truth.mean())
        for _ in range(50):
            sweep_in_place(graph.arcs, fixed, swept)
        labels = wf.Labels(np.flatnonzero(fixed), truth[fixed])
        exact = wf.extend(graph, labels, wf.AMLE(bracket=False))
        fields = {
            "truth": truth,
            "AMLE": exact.values,
            "plateaus": np.floor(truth / 8),
            "50 sweeps": swept,
            "noisy": truth + rng.normal(0, 2, truth.size),
            "random": rng.random(truth.size),
        }
        for field, values in fields.items():
            seconds = best_of(lambda v=values, g=graph: wf.plan(g, v, goal), 3)
            lift = best_of(lambda v=values, g=graph: wf.lift(g, v, goal), 3)
            print(
                f"{name:8} {field:10} plan {seconds / one:6.1f} sweeps, "
                f"descending {lift / one:6.1f} sweeps; {wf.plan(graph, values, goal)}"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
