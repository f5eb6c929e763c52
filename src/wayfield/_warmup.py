"""Compile the kernels, or load them from the disk cache, before anyone waits for a result."""

from __future__ import annotations

import numpy as np

from .extension import AMLE, Harmonic, MidrangeSweeps, extend, extend_many
from .grid import grid_graph
from .layouts import load_layout
from .oracle import sample_labels
from .plan import plan


def warm_up(directed: bool = False) -> None:
    """Extend and plan on a small maze in every way the study and the commands do.

    Several label sets, so that kernels for rare cases such as flat spots are among those compiled.
    Directed graphs have kernels of their own, made ready only if asked for.
    """
    if directed:
        one_way = grid_graph(load_layout("teleport"), 2)
        extend(one_way, sample_labels(one_way, 0, 0.1, seed=0), AMLE())
    graph = grid_graph(load_layout("umaze"), 4)
    for seed in range(4):
        labels = [sample_labels(graph, goal, 0.2, seed) for goal in (0, 1)]
        for method in (Harmonic(), MidrangeSweeps(1), AMLE()):
            extend_many(graph, labels, method, workers=1)
    plan(graph, np.zeros(graph.num_vertices), 0, "q", "index")
    plan(graph, np.zeros(graph.num_vertices), 0, "q", "exit")
