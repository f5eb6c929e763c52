"""Compile the kernels, or load them from the disk cache, before anyone waits for a result."""

from __future__ import annotations

import numpy as np

from .extension import AMLE, Harmonic, MidrangeSweeps, extend_many
from .grid import grid_graph
from .layouts import load_layout
from .oracle import sample_labels
from .plan import plan


def warm_up() -> None:
    """Extend and plan on a small maze in every way the study and the commands do.

    A few goals, so that kernels for rare cases (flat spots, ties) are among those compiled.
    """
    graph = grid_graph(load_layout("medium"), 4)
    labels = [sample_labels(graph, goal, 0.02, seed=0) for goal in range(8)]
    for method in (Harmonic(), MidrangeSweeps(1), AMLE()):
        extend_many(graph, labels, method, workers=1)
    plan(graph, np.zeros(graph.num_vertices), 0, "q", "index")
    plan(graph, np.zeros(graph.num_vertices), 0, "q", "exit")
