"""Shortest paths: the graph's own cost to a goal, and labels drawn from it.

No module that extends, plans or certifies imports this one. If the graph is right, these costs are
the truth that an extension should predict.
"""

from __future__ import annotations

import numpy as np

from ..checks import as_real, as_vertex, as_whole
from ..errors import InputError
from ..numerics.shortest import breadth_first, dijkstra
from ..typing import FloatArray
from .graph import Graph, check_graph
from .labels import Labels


def cost_to_go(graph: Graph, goal: int) -> FloatArray:
    """Return the cost of the shortest path from every vertex *to* the goal; inf if none.

    Breadth-first search on unit lengths, Dijkstra otherwise; against the arcs of a directed graph.

    Examples
    --------
    >>> one_way = Graph.from_edges([0, 1], [1, 2], directed=True)
    >>> cost_to_go(one_way, goal=1)
    array([ 1.,  0., inf])
    """
    goals = np.array([as_vertex(goal, "goal", check_graph(graph).num_vertices)])
    if graph.is_unit:
        cost, _ = breadth_first(graph.reverse_arcs, goals)
    else:
        cost, _ = dijkstra(graph.reverse_arcs, goals, np.zeros(1), 1.0)
    return cost


def sample_labels(
    graph: Graph,
    goal: int,
    fraction: float | None = None,
    seed: int = 0,
    *,
    count: int | None = None,
) -> Labels:
    """Draw exact labels at uniformly chosen vertices, and at the goal.

    The draw depends only on the number of vertices, the number of labels and the seed, so all goals
    of a graph share it. The goal is added to it. Vertices that cannot reach the goal have no finite
    value and are left out.

    Parameters
    ----------
    fraction : float in (0, 1], optional
        Share of the vertices to label, rounded to a whole number (half to even).
    seed : int
        Seed of the draw.
    count : int, optional
        Number of vertices to label, in place of `fraction`.

    Examples
    --------
    >>> path = Graph.from_edges(range(9), range(1, 10))
    >>> sample_labels(path, goal=0, fraction=0.2, seed=54)
    Labels(3 vertices, values 0 to 9)
    """
    n = check_graph(graph).num_vertices
    goal = as_vertex(goal, "goal", n)
    rng = np.random.default_rng(as_whole(seed, "seed", least=0))
    if (fraction is None) == (count is None):
        raise InputError("pass exactly one of fraction and count")
    if fraction is not None:
        if not 0.0 < as_real(fraction, "label fraction") <= 1.0:
            raise InputError(f"label fraction must be above 0 and at most 1, got {fraction}")
        count = round(fraction * n)
    elif as_whole(count, "label count", least=0) > n:
        raise InputError(f"label count must be at most the number of vertices, {n}, got {count}")
    truth = cost_to_go(graph, goal)
    drawn = rng.choice(n, size=count, replace=False)
    vertices = np.union1d(drawn, [goal])
    vertices = vertices[np.isfinite(truth[vertices])]
    return Labels(vertices, truth[vertices])
