"""Compile the kernels, or load them from the disk cache, before anyone waits for a result."""

from __future__ import annotations

from .certify import certify
from .extension import AMLE, Harmonic, MidrangeSweeps, PLaplacian, extend, extend_many
from .graph import Graph
from .grid import grid_graph
from .layouts import load_layout
from .oracle import cost_to_go, sample_labels
from .plan import plan


def warm_up(directed: bool = False, study: bool = False) -> None:
    """Extend, plan and certify on a small maze in every way the commands do.

    Several label sets, so that kernels for rare cases such as flat spots are among those compiled.
    Directed graphs and studies have kernels of their own, made ready only if asked for.
    """
    if directed:
        one_way = grid_graph(load_layout("teleport"), 2)
        extend(one_way, sample_labels(one_way, 0, 0.1, seed=0), AMLE())
    graph = grid_graph(load_layout("umaze"), 4)
    for seed in range(4):
        labels = [sample_labels(graph, goal, 0.2, seed) for goal in (0, 1)]
        for method in (Harmonic(), MidrangeSweeps(1), AMLE()):
            extend_many(graph, labels, method, workers=1)
    lengths = 1.0 + graph.tails % 2
    rough = Graph.from_edges(graph.tails, graph.indices, lengths, directed=True).symmetrised("max")
    for maze in (graph, rough):
        few = sample_labels(maze, 0, 0.1, seed=0)
        field = extend(maze, few, AMLE())
        certify(maze, few, field, plan(maze, field.values, 0))
    if study:
        _warm_up_study(graph)


def _warm_up_study(graph: Graph) -> None:
    from .audit import failures, mechanism, ordering

    labels, truth = sample_labels(graph, 0, 0.1, seed=0), cost_to_go(graph, 0)
    methods = (Harmonic(), PLaplacian(4.0), AMLE())
    smooth, _, sharp = (extend(graph, labels, method) for method in methods)
    plan(graph, sharp.values, 0, "q", "index")
    ordering(graph, smooth, truth, 0)
    mechanism(graph, smooth, sharp, truth, 0)
    failures(graph, smooth, labels, 0)
