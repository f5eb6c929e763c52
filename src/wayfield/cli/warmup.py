"""Compile the kernels, or load them from the disk cache, before a result is timed or awaited."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..advice import solve
from ..fields import AMLE, Harmonic, Method, extend_many
from ..fields.base import is_ours, takes_directed
from ..graphs.graph import Graph
from ..graphs.grid import grid_graph
from ..graphs.layouts import load_layout
from ..graphs.shortest_paths import sample_labels
from ..numerics.jit import compiling

COMMON: tuple[Method, ...] = (Harmonic(), AMLE())
"""Methods used by most commands and all studies."""
SMALL = 16_000
"""Vertices and arcs of a graph that is solved sooner than its kernels are loaded."""


def warm_up(
    methods: Sequence[Method] = COMMON, directed: bool = False, size: float = np.inf
) -> None:
    """Extend, plan and certify on small mazes as the commands do, with these methods.

    Several label sets also compile the kernels for rare cases, such as plateaus. Directed graphs
    have their own kernels, compiled only on request. `size` is the number of vertices and arcs of
    the graph to be solved: if it is small, nothing is done. Methods from outside are left out.
    """
    if size <= SMALL:
        return
    methods = list(filter(is_ours, methods))
    if directed:
        one_way = grid_graph(load_layout("teleport"), 2)
        for method in methods:
            if takes_directed(method):
                with compiling("always"):
                    solve(one_way, sample_labels(one_way, 0, 0.1, seed=0), 0, method, check=False)
    graph = grid_graph(load_layout("umaze"), 4)
    lengths = 1.0 + graph.tails % 2
    rough = Graph.from_edges(graph.tails, graph.indices, lengths, directed=True).symmetrised("max")
    with compiling("always"):
        for method in methods:
            for seed in range(4):
                labels = [sample_labels(graph, goal, 0.2, seed) for goal in (0, 1)]
                extend_many(graph, labels, method, workers=1, check=False)
            for maze in (graph, rough):
                solve(maze, sample_labels(maze, 0, 0.1, seed=0), 0, method, check=False)
