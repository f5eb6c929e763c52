"""Dropping false sinks: labels at which a greedy plan would end before the goal.

**Method.** Extend, drop each label other than the goal's that has no arc to a smaller value, and
repeat until there is none. Each round drops a label, and the goal's label alone is never dropped,
so it terminates.

**Guarantee.** On an exact AMLE every unlabelled vertex of finite value has a descending arc (cost
fill), or lies on a plateau that has one or holds a label (flat fill). So once no label is a false
sink, steepest descent with exit ties reaches the goal from every start of finite value. These are
exactly the states that can reach it: among labels that cannot, the lowest is a false sink. Proof:
``docs/mathematics.md``. With other methods it terminates as well, but without this guarantee.

**No proofs needed.** It uses the same method as the plan will, so that ties fall the same way. But
a bracket that cannot be verified, as on graphs with many ties, is no reason to keep a false sink:
values are used as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import as_vertex, as_vertices, frozen
from ..errors import InputError
from ..fields import AMLE, MethodLike, check_field, extend
from ..graphs.graph import Graph, check_graph
from ..graphs.labels import Labels, check_labels
from ..numerics.workers import check_time
from ..words import number_of
from .planning import false_sinks


@dataclass(frozen=True, eq=False, repr=False)
class TrimmedLabels(Labels):
    """Labels without their false sinks, and the dropped ones.

    Attributes
    ----------
    dropped : (d,) int64 array
        Vertices with dropped labels, ascending.
    rounds : int
        Number of rounds of dropping and extending.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges(range(4), range(1, 5))
    >>> noisy = wf.Labels([0, 2, 4], [0.0, 5.0, 4.0])
    >>> kept = wf.drop_false_sinks(path, noisy, goal=0)
    >>> kept.dropped, kept.rounds
    (array([4]), 1)
    """

    dropped: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    rounds: int = 0

    def __init__(self, labels: Labels, dropped: ArrayLike, rounds: int) -> None:
        super().__init__(labels.vertices, labels.values, labels.error)
        object.__setattr__(self, "dropped", frozen(as_vertices(dropped, "dropped")))
        object.__setattr__(self, "rounds", rounds)

    def __reduce__(self) -> tuple[type[Labels], tuple[object, ...]]:
        labels = Labels(self.vertices, self.values, self.error)
        return type(self), (labels, self.dropped, self.rounds)

    def __repr__(self) -> str:
        kept = super().__repr__().removeprefix("Labels(").removesuffix(")")
        turns = number_of(self.rounds, "rounds")
        return f"TrimmedLabels({kept}, {self.dropped.size:,} dropped in {turns})"


def drop_false_sinks(
    graph: Graph,
    labels: Labels,
    goal: int,
    method: MethodLike = AMLE(),  # noqa: B008  (frozen settings)
    *,
    prior: ArrayLike | None = None,
) -> TrimmedLabels:
    """Drop the labels at which a greedy plan would end before the goal.

    A false sink is a label other than the goal's without an arc to a smaller value of the
    extension. False sinks are dropped and the rest is extended again, until there are none; at
    worst the goal alone remains. Then, with `AMLE`, the slope rule reaches the goal from every
    state that can reach it, on undirected and directed graphs. Vertices that reach no remaining
    label get +inf, or NaN if their component has none: extend with ``unreachable="nan"``, or use
    `solve`.

    Extensions are used as they are; `NotConverged` is never raised.

    Parameters
    ----------
    graph : Graph
        The graph to extend on.
    labels : Labels
        The known values.
    goal : int
        A labelled vertex; its label is never dropped.
    method : Method or function
        The extension method of the plan.
    prior : (n,) array, optional
        A field that the labels correct, if the plan uses one; see `extend`.

    Returns
    -------
    TrimmedLabels
        The remaining labels; ``dropped`` holds the vertices of the others.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges(range(4), range(1, 5))
    >>> noisy = wf.Labels([0, 2, 4], [0.0, 5.0, 4.0])  # greedy descent from 3 ends at 4
    >>> kept = wf.drop_false_sinks(path, noisy, goal=0)
    >>> kept
    TrimmedLabels(2 vertices, values 0 to 5, 1 dropped in 1 round)
    >>> kept.dropped
    array([4])
    """
    goal = as_vertex(goal, "goal", check_graph(graph).num_vertices)
    if goal not in check_labels(labels, graph).vertices:
        raise InputError(f"the goal must be labelled, got no label at vertex {goal}")
    kept, rounds = labels, 0
    while True:
        extension = extend(graph, kept, method, prior=prior, unreachable="nan", check=False)
        sinks = false_sinks(graph, check_field(graph, extension), kept, goal)
        if not sinks.size:
            return TrimmedLabels(kept, np.setdiff1d(labels.vertices, kept.vertices), rounds)
        stays = ~np.isin(kept.vertices, sinks)
        kept = Labels(kept.vertices[stays], kept.values[stays], kept.error)
        rounds += 1
        check_time()
