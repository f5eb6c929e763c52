"""Where labels prove a graph too optimistic or too pessimistic.

Labels Y at some vertices are known to within an error ε. If arcs cost at least as much as the graph
says, the cost-to-go V obeys V(x) ≤ d(x, y) + V(y) along every path of the graph, and so

    upper(x) = min over labels z of  Y(z) + ε + d(x, z)    the most that the graph allows at x,
    lower(x) = max over labels i of  Y(i) - ε - d(i, x)    the least that the labels demand at x.

**Too optimistic.** Suppose Y(i) - ε of a label i exceeds the upper bound from another label z. Then
every path from i to z has arcs that cost more than given or do not exist. The shortfall of the path
is at least the *excess* Y(i) - ε - Y(z) - ε - d(i, z). An arc x → y lies on such a path exactly if
its own excess, lower(x) - ℓ - upper(y), is positive. All other arcs are acquitted: every path
between labels through them is long enough already, and no least change lengthens them.

**Too pessimistic.** The goal g is the label of least value. A label i with
Y(i) + ε < d(i, g) + Y(g) - ε proves that a cheaper path exists than any in the graph.

**Witnesses.** The witness path of a label that is too high is the shortest path to the label that
contradicts it most. Many witness paths through one arc are evidence against it: `blame` adds up
their excesses.

**Cost.** Three shortest-path runs, O(m + n log n). Excesses below 1e-12 of the largest label are
rounding and count as 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..checks import frozen
from ..graphs.graph import Graph, check_graph
from ..graphs.labels import Labels, check_labels
from ..numerics.csr import reverse_slots
from ..numerics.shortest import dijkstra, shortest_tree
from ..plans.kernels import visit_counts
from ..typing import FloatArray, IntArray
from ..words import against_text

LABEL_ROUNDING = 1e-12
"""Differences below this share of the largest label are rounding."""


class Envelopes(NamedTuple):
    """Bounds that labels imply on a graph.

    Attributes
    ----------
    upper, lower : (n,) float arrays
        The bounds. `upper` is inf where no label can be reached, `lower` is -inf where no label
        reaches.
    origin : (n,) int array
        The label that `upper` comes from, -1 if none.
    way : (n,) int array
        The first arc of the path to it, -1 at the label itself.
    excess : (m,) float array
        Per arc lower(tail) - length - upper(head): positive if it lies on a path that is too short.
    """

    upper: FloatArray
    lower: FloatArray
    origin: IntArray
    way: IntArray
    excess: FloatArray


def envelopes(
    graph: Graph, into: IntArray, vertices: IntArray, low: FloatArray, high: FloatArray
) -> Envelopes:
    """Return the bounds from labels between `low` and `high`; `into` holds the reverse slots."""
    upper, origin, slot = shortest_tree(graph.reverse_arcs, vertices, high)
    negative, _ = dijkstra(graph.arcs, vertices, -low, 1.0)
    way, onward = np.full_like(slot, -1), slot >= 0
    way[onward] = into[slot[onward]]
    excess = -negative[graph.tails] - graph.lengths - upper[graph.indices]
    noise = LABEL_ROUNDING * max(np.abs(low).max(), np.abs(high).max())
    excess[excess <= noise] = 0.0
    return Envelopes(upper, -negative, origin, way, excess)


class Optimistic(NamedTuple):
    """Labels that prove the graph too optimistic, strongest proof first.

    Attributes
    ----------
    labels : (k,) int64 array
        Their vertices.
    witnesses : (k,) int64 array
        For each, the label that contradicts it most.
    excess : (k,) float array
        By how much the graph's path between the two is too cheap.
    """

    labels: NDArray[np.int64]
    witnesses: NDArray[np.int64]
    excess: FloatArray


class Pessimistic(NamedTuple):
    """Labels that prove the graph too pessimistic, strongest proof first.

    Attributes
    ----------
    labels : (k,) int64 array
        Their vertices.
    excess : (k,) float array
        By how much the graph's distance to the goal is too large.
    """

    labels: NDArray[np.int64]
    excess: FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class Contradictions:
    """Where labels and graph cannot both be right.

    Attributes
    ----------
    optimistic : Optimistic
        Labels above the upper bound from another label.
    pessimistic : Pessimistic
        Labels below the graph's distance to the goal. The goal is the label of least value.
    upper, lower : (n,) float arrays
        Upper and lower bound on the value of each vertex.
    arcs : (m,) float array
        Largest excess of the paths through each arc; 0 if the arc is acquitted.
    blame : (m,) float array
        Sum of the excesses of the labels with a witness path through the arc.
    num_labels : int
        Number of labels.
    largest : float
        Largest absolute value of a label, the scale of the excesses.

    Examples
    --------
    A ring of ten with a chord 0 - 5 that does not exist.

    >>> import wayfield as wf
    >>> ring = wf.Graph.from_edges([*range(10), 0], [*range(1, 10), 0, 5])
    >>> found = wf.contradictions(ring, wf.Labels([0, 4, 5], [0.0, 4.0, 5.0]))
    >>> found
    Contradictions(2 of 3 labels exceed the graph's shortest paths, by up to 4)
    >>> found.optimistic.labels, found.optimistic.witnesses, found.optimistic.excess
    (array([5, 4]), array([0, 0]), array([4., 2.]))
    >>> worst = found.blame.argmax()
    >>> int(ring.tails[worst]), int(ring.indices[worst])
    (5, 0)
    """

    optimistic: Optimistic
    pessimistic: Pessimistic
    upper: FloatArray
    lower: FloatArray
    arcs: FloatArray
    blame: FloatArray
    num_labels: int
    largest: float

    def __bool__(self) -> bool:
        return bool(self.optimistic.labels.size or self.pessimistic.labels.size)

    @property
    def against(self) -> dict[str, float]:
        """Number of labels above and below the graph's bounds, and the largest excess of each."""
        above, below = self.optimistic.excess, self.pessimistic.excess
        return {
            "too_optimistic": above.size,
            "by_up_to": above.max(initial=0.0),
            "too_pessimistic": below.size,
            "over_by_up_to": below.max(initial=0.0),
        }

    def __repr__(self) -> str:
        return f"Contradictions({against_text(self.against, self.num_labels, 'labels') or 'none'})"


def contradictions(graph: Graph, labels: Labels, goal: int | None = None) -> Contradictions:
    """Find which labels the graph contradicts, by how much, and along which arcs.

    Parameters
    ----------
    graph : Graph
        The believed graph, directed or not.
    labels : Labels
        Costs to one goal, each within ``labels.error``.
    goal : int, optional
        The goal's vertex. If it is not given, or has no label, the goal is the label of least
        value.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> wf.contradictions(path, wf.Labels([0, 2, 3], [0.0, 2.0, 3.0]))
    Contradictions(none)
    >>> slow = wf.contradictions(path, wf.Labels([0, 2, 3], [0.0, 2.0, 7.0]))
    >>> slow.optimistic.labels, slow.optimistic.excess
    (array([3]), array([4.]))
    """
    check_graph(graph)
    vertices, values = check_labels(labels, graph).vertices, labels.values
    low, high = values - labels.error, values + labels.error
    bounds = envelopes(graph, reverse_slots(graph.arcs), vertices, low, high)
    tails = graph.tails

    # arcs out of labels, sorted so that the first arc of the shortest path comes first: its excess
    # is that of the label
    leaving = np.flatnonzero((bounds.excess > 0) & np.isin(tails, vertices))
    own = low[np.searchsorted(vertices, tails[leaving])]
    excess = own - graph.lengths[leaving] - bounds.upper[graph.indices[leaving]]
    order = np.lexsort((leaving, -excess, tails[leaving]))
    leaving, excess = leaving[order], excess[order]
    _, first = np.unique(tails[leaving], return_index=True)
    first = first[excess[first] > LABEL_ROUNDING * np.abs(values).max()]
    first = first[np.argsort(-excess[first], kind="stable")]
    leaving, excess = leaving[first], excess[first]
    entered = graph.indices[leaving]
    optimistic = Optimistic(
        frozen(tails[leaving].astype(np.int64)), frozen(bounds.origin[entered]), frozen(excess)
    )

    # labels below the graph's distance to the goal
    where = np.flatnonzero(vertices == goal)
    at = int(where[0]) if where.size else int(np.argmin(values))
    distance, _ = dijkstra(graph.reverse_arcs, vertices[[at]], values[[at]], 1.0)
    over = distance[vertices] - values - 2.0 * labels.error
    over[at] = 0.0
    below = np.flatnonzero(over > LABEL_ROUNDING * np.abs(values).max())
    below = below[np.argsort(-over[below], kind="stable")]

    return Contradictions(
        optimistic,
        Pessimistic(frozen(vertices[below]), frozen(over[below])),
        frozen(bounds.upper),
        frozen(bounds.lower),
        frozen(bounds.excess),
        frozen(_load(graph, bounds.way, leaving, excess)),
        len(labels),
        float(np.abs(values).max()),
    )


def _load(graph: Graph, way: IntArray, leaving: IntArray, weights: FloatArray) -> FloatArray:
    """Return the total weight of paths per arc; paths start with `leaving`, then follow `way`."""
    entering = np.zeros(graph.num_vertices)
    np.add.at(entering, graph.indices[leaving], weights)
    successor, onward = np.full_like(way, -1), way >= 0
    successor[onward] = graph.indices[way[onward]]
    passing = visit_counts(successor, -1, entering)
    load = np.zeros(graph.num_arcs)
    load[way[onward]] = passing[onward]
    load[leaving] += weights
    return load
