"""Exact AMLE against plain midrange sweeps: how many of them it costs.

Run with ``python -m benchmarks.amle [sizes …]``. Grids with 10 % obstacles, 2 % labels. The
promises, bracket included, on two cores: 50 sweeps at 1e5 vertices, 50 at 1e6, twice the time
without the bracket; the same graph as a directed one 1.5 times (1e5) and 1.8 times (1e6) as long;
1e7 vertices within 2.5 GB (``python -m benchmarks.amle 10000000``). And a path of lognormal lengths
with labels at its ends, on which rounding adds up: no more sweeps at 1e6 vertices than at 1e5, and
a bracket as narrow.
"""

from __future__ import annotations

import resource
import sys

import numpy as np
from benchmarks._timing import best_of, obstacle_grid, one_sweep

import wayfield as wf


def main(sizes: list[int]) -> None:
    for size in sizes:
        graph = obstacle_grid(size)
        labels = wf.sample_labels(graph, goal=graph.num_vertices // 2, fraction=0.02, seed=54)
        times = 7 if size <= 2_000_000 else 1
        sweep = one_sweep(graph, labels)
        proved = best_of(lambda g=graph, y=labels: wf.extend(g, y, wf.AMLE()), times)
        plain = best_of(lambda g=graph, y=labels: wf.extend(g, y, wf.AMLE(bracket=False)), times)
        both_ways = wf.Graph(graph.indptr, graph.indices, graph.lengths, directed=True)
        directed = best_of(lambda g=both_ways, y=labels: wf.extend(g, y, wf.AMLE()), times)
        result = wf.extend(graph, labels, wf.AMLE())
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"{graph.num_vertices:>10,} vertices: {proved:.3f} s = {proved / sweep:.0f} sweeps "
            f"with bracket, {plain / sweep:.0f} without (factor {proved / plain:.2f}); "
            f"as a directed graph {directed / proved:.2f} times that; "
            f"width {result.width / labels.span:.1e} and residual "
            f"{result.residual / labels.span:.1e} of the range; peak {peak:.2f} GiB",
            flush=True,
        )
        long_walk(size, times)


def long_walk(size: int, times: int) -> None:
    lengths = np.random.default_rng(0).lognormal(size=size - 1)
    graph = wf.Graph.from_edges(np.arange(size - 1), np.arange(1, size), lengths)
    labels = wf.Labels([0, size - 1], [0.0, 1.0])
    sweep = one_sweep(graph, labels)
    proved = best_of(lambda: wf.extend(graph, labels, wf.AMLE()), times)
    width = wf.extend(graph, labels, wf.AMLE()).width
    print(
        f"{size:>10,} vertices in one path: {proved:.3f} s = {proved / sweep:.0f} sweeps with "
        f"bracket; width {width:.1e}",
        flush=True,
    )


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [100_000, 1_000_000])
