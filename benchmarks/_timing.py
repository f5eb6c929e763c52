"""Timing side by side: these figures are ratios taken in one run, never absolute promises."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import wayfield as wf
from wayfield.numerics.csr import Arcs
from wayfield.numerics.jit import njit
from wayfield_study.kernels.midrange import midrange


@njit(cache=True, nogil=True)
def sweep_in_place(arcs: Arcs, fixed: np.ndarray, values: np.ndarray) -> None:
    """Run one Gauss–Seidel sweep on unit lengths, in index order: the benchmarks' unit of time."""
    for x in range(values.size):
        if not fixed[x]:
            values[x] = midrange(arcs, values, x)


def best_of(
    work: Callable[[], object], times: int = 5, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Least time of several runs by a clock, after one that is not counted."""
    work()
    seconds = []
    for _ in range(times):
        start = clock()
        work()
        seconds.append(clock() - start)
    return min(seconds)


def one_sweep(graph: wf.Graph, labels: wf.Labels, times: int = 10) -> float:
    """Time of one plain in-place midrange sweep on unit lengths: the unit of the figures."""
    fixed = labels.mask(graph)
    values = np.where(fixed, 0.0, labels.values.mean())
    values[labels.vertices] = labels.values
    return best_of(lambda: sweep_in_place(graph.arcs, fixed, values), times)


def obstacle_grid(num_vertices: int, obstacles: float = 0.1, seed: int = 0) -> wf.Graph:
    """Largest component of a square grid with a share of its cells removed."""
    side = round(np.sqrt(num_vertices / (1.0 - obstacles)))
    rng = np.random.default_rng(seed)
    graph = wf.grid_graph(wf.Layout("obstacles", rng.random((side, side)) >= obstacles))
    component = graph.components
    keep = component == np.bincount(component).argmax()
    number = np.cumsum(keep) - 1
    inside = keep[graph.tails] & keep[graph.indices] & (graph.tails < graph.indices)
    tails, heads = number[graph.tails[inside]], number[graph.indices[inside]]
    return wf.Graph.from_edges(tails, heads, num_vertices=int(keep.sum()))
