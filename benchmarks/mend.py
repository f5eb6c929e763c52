"""The least change at 1e5 vertices, and beside HiGHS on small graphs.

Run with ``python -m benchmarks.mend [vertices]``. The promise: 2 % labels, 1e5 vertices, 2 seconds.
Worlds: a grid with slow patches, where every arc stays under suspicion; a grid with false
shortcuts; a road-like graph of real lengths with congestion. Seconds are those of the processor, so
that neighbours on the machine do not count.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog
from scipy.spatial import Delaunay

import wayfield as wf

Problem = tuple[wf.Graph, wf.Labels]


def processor_seconds(work: Callable[[], object], times: int = 3) -> float:
    """Least processor time of several runs, after one that is not counted."""
    work()
    seconds = []
    for _ in range(times):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def grid(side: int, extra: NDArray[np.int64] | None = None) -> wf.Graph:
    index = np.arange(side * side).reshape(side, side)
    pairs = [
        np.column_stack([index[:, :-1].ravel(), index[:, 1:].ravel()]),
        np.column_stack([index[:-1].ravel(), index[1:].ravel()]),
    ]
    if extra is not None:
        pairs.append(extra)
    return wf.Graph.from_edges(*np.vstack(pairs).T)


def labelled(believed: wf.Graph, world: wf.Graph, share: float, seed: int) -> Problem:
    return believed, wf.sample_labels(world, 0, share, seed)


def slow_patches(n: int, seed: int, share: float = 0.02) -> Problem:
    rng, side = np.random.default_rng(seed), round(np.sqrt(n))
    graph = grid(side)
    x, y = np.divmod(np.arange(side * side), side)
    slowness = np.ones(side * side)
    for _ in range(n // 100):
        centre, radius = rng.uniform(0, side, 2), rng.uniform(2.0, 8.0)
        near = (x - centre[0]) ** 2 + (y - centre[1]) ** 2 < radius**2
        slowness[near] = rng.uniform(2.0, 10.0)
    costs = (slowness[graph.tails] + slowness[graph.indices]) / 2
    world = wf.Graph.from_edges(graph.tails, graph.indices, costs, graph.num_vertices)
    return labelled(graph, world, share, seed)


def false_shortcuts(n: int, seed: int, share: float = 0.02) -> Problem:
    rng, side = np.random.default_rng(seed), round(np.sqrt(n))
    pairs = rng.integers(0, side * side, (n // 100, 2))
    return labelled(grid(side, pairs[pairs[:, 0] != pairs[:, 1]]), grid(side), share, seed)


def congested_roads(n: int, seed: int, share: float = 0.02) -> Problem:
    rng = np.random.default_rng(seed)
    points = rng.random((n, 2))
    corners = Delaunay(points).simplices
    pairs = np.unique(np.sort(np.vstack([corners[:, [0, 1]], corners[:, [1, 2]]]), axis=1), axis=0)
    lengths = np.linalg.norm(np.diff(points[pairs], axis=1)[:, 0], axis=1)
    believed = wf.Graph.from_edges(*pairs.T, lengths, n)
    waves = np.sin(40 * points[:, 0]) * np.sin(40 * points[:, 1])
    slowness = np.exp(np.maximum(waves, 0.0))[pairs].mean(axis=1) * rng.uniform(
        1.0, 1.5, len(pairs)
    )
    world = wf.Graph.from_edges(*pairs.T, lengths * slowness, n)
    return labelled(believed, world, share, seed)


WORLDS = {"patches": slow_patches, "shortcuts": false_shortcuts, "roads": congested_roads}


def by_highs(graph: wf.Graph, labels: wf.Labels) -> float:
    """The same linear programme at unit prices, by HiGHS' dual simplex."""
    n, m = graph.num_vertices, graph.num_arcs
    arcs = np.arange(m)
    signs = np.repeat([1.0, -1.0], m)
    ends = np.concatenate([graph.tails, graph.indices])
    slope = sparse.csr_array((signs, (np.tile(arcs, 2), ends)), (m, n))
    rows = sparse.hstack([slope, -sparse.eye(m)]).tocsr()
    low, high = np.full(n + m, -np.inf), np.full(n + m, np.inf)
    low[n:] = 0.0
    low[labels.vertices] = high[labels.vertices] = labels.values
    costs = np.repeat([0.0, 1.0], [n, m])
    bounds = np.column_stack([low, high])
    found = linprog(costs, rows, graph.lengths, bounds=bounds, method="highs-ds")
    return float(found.fun)


def main(n: int) -> None:
    for name, make in WORLDS.items():
        graph, labels = make(1600, 0)
        method = wf.LeastChange("unit", only_odd=None)
        ours = processor_seconds(lambda g=graph, y=labels, m=method: wf.mend(g, y, 0, m))
        highs = processor_seconds(lambda g=graph, y=labels: by_highs(g, y), 1)
        value = by_highs(graph, labels)
        mended = wf.mend(graph, labels, 0, method)
        off = abs(value - mended.value) / max(value, 1.0)
        print(
            f"{name:10} {graph.num_vertices:>9,} vertices: HiGHS takes {highs / ours:7.1f} times "
            f"as long ({highs:.2f} s); values differ by {off:.0e} of themselves"
        )
    for name, make in WORLDS.items():
        graph, labels = make(n, 0)
        found = processor_seconds(lambda g=graph, y=labels: wf.contradictions(g, y))
        seconds = processor_seconds(lambda g=graph, y=labels: wf.mend(g, y, 0, wf.LeastChange()))
        mended = wf.mend(graph, labels, 0, wf.LeastChange())
        (change,) = mended.details["changes"]
        gap = abs(change.gap) / max(change.value, 1e-300)
        print(
            f"{name:10} {graph.num_vertices:>9,} vertices: {seconds:.2f} s, {change.pivots:,} "
            f"pivots, gap {gap:.0e} of the value; contradictions alone {found:.2f} s"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
