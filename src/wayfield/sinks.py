"""Dropping false sinks: labels at which a greedy plan would end short of the goal.

**Method.** Extend, drop every label other than the goal's that has no arc to a smaller value,
extend again, until there are none. Each round drops a label, so it ends; the goal's alone has none.

**Guarantee.** On an exact AMLE every unlabelled vertex of finite value has a descending arc (cost
fill), or lies on a plateau that has one or holds a label (flat fill). So once no label is a false
sink, steepest descent with exit ties reaches the goal from every start of finite value, and those
are the states that can: labels of the others are false sinks themselves, the lowest first. Proof:
``docs/directed.md``. For other methods it ends as well, with no such guarantee.

**Proofs are not asked for.** The same method is used as will be planned on, so that ties fall the
same way; but a bracket that could not be verified, as on graphs with many ties, is no reason to
keep a false sink: values are taken as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arrays import as_vertex, as_vertices, frozen
from ._text import number_of
from .errors import InputError
from .extension import AMLE, Method, check_field, extend
from .extension._deadline import check_time
from .graph import Graph, check_graph
from .labels import Labels, check_labels
from .plans import false_sinks


@dataclass(frozen=True, eq=False, repr=False)
class TrimmedLabels(Labels):
    """Labels without their false sinks, and what was dropped.

    Attributes
    ----------
    dropped : (d,) int64 array
        Vertices whose labels were dropped, ascending.
    rounds : int
        How often labels were dropped and the rest extended again.

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
    method: Method = AMLE(),  # noqa: B008  (frozen settings)
    *,
    prior: ArrayLike | None = None,
) -> TrimmedLabels:
    """Drop the labels where a greedy plan would end short of the goal.

    A false sink is a label other than the goal's from which no arc leads to a smaller value of the
    extension. They are dropped, the rest is extended again, and so on until there are none; at
    worst the goal alone remains. Then, with `AMLE` (on undirected graphs as on directed ones), the
    slope rule reaches the goal from every state that can. Vertices from which no remaining label
    can be reached get +inf, or NaN if the component has none: extend with ``unreachable="nan"``,
    or let `solve` do it.

    Extensions are taken as they are, with `NotConverged` never raised.

    Parameters
    ----------
    graph : Graph
        Where to extend.
    labels : Labels
        The known values.
    goal : int
        A labelled vertex; its label is never dropped.
    method : Method
        The extension to be planned on.
    prior : (n,) array, optional
        A field that the labels correct, if that is what will be planned on; see `extend`.

    Returns
    -------
    TrimmedLabels
        The labels that stay, with ``dropped``, the vertices that did not.

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
        raise InputError(f"the goal {goal} is not labelled: every plan to it would end elsewhere")
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
