"""Dropping false sinks: labels at which a greedy plan would end short of the goal.

Method. Extend, drop every label other than the goal's that has no arc to a smaller value, extend
again, until there are none. Each round drops a label, so it ends; the goal's alone has none.

Guarantee. On an exact AMLE every unlabelled vertex of finite value has a descending arc (cost
fill), or lies on a plateau that has one or holds a label (flat fill). So once no label is a false
sink, steepest descent with exit ties reaches the goal from every start of finite value, and those
are the states that can: labels of the others are false sinks themselves, the lowest first. Proof:
``docs/directed.md``. For other methods it ends as well, and promises nothing.
"""

from __future__ import annotations

import numpy as np

from ._arrays import as_vertex
from .errors import InputError
from .extension import Method, extend
from .graph import Graph, check_graph
from .labels import Labels, TrimmedLabels, trims_labels
from .plan import plan


@trims_labels
def without_false_sinks(labels: Labels, graph: Graph, goal: int, method: Method) -> TrimmedLabels:
    """Drop false sinks until there are none; see `Labels.without_false_sinks`.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges(range(4), range(1, 5))
    >>> noisy = wf.Labels([0, 2, 4], [0.0, 5.0, 4.0])
    >>> wf.sinks.without_false_sinks(noisy, path, 0, wf.AMLE())
    TrimmedLabels(2 vertices, values 0 to 5, 1 dropped in 1 round)
    """
    goal = as_vertex(goal, "goal", check_graph(graph).num_vertices)
    if not labels.mask(graph)[goal]:
        raise InputError(f"the goal {goal} is not labelled: every plan to it would end elsewhere")
    kept, rounds = labels, 0
    while True:
        field = extend(graph, kept, method, unreachable="nan").values
        known = np.where(np.isnan(field), np.inf, field)
        sinks = plan(graph, known, goal).false_sinks(kept)
        if not sinks.size:
            dropped = np.setdiff1d(labels.vertices, kept.vertices)
            return TrimmedLabels(kept, dropped, rounds)
        stays = ~np.isin(kept.vertices, sinks)
        kept = Labels(kept.vertices[stays], kept.values[stays], kept.error)
        rounds += 1
