"""The verb: costs of the world, from a graph that is a guess and what a few trips cost."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import as_vertex, frozen, refuse
from .._interop import networkx_graph, with_lengths
from .._threads import one_thread
from ..errors import InputError
from ..extension import Status
from ..graph import Graph, check_graph
from ..kernels._types import FloatArray
from ..labels import Labels, check_labels
from ..names import Naming
from ._base import Fit, MendMethod, MendProblem, Score
from .findings import facts, suspects
from .selection import Best
from .trips import Bound, Trips, check_bound


@dataclass(frozen=True, eq=False, repr=False)
class Mended:
    """A graph whose lengths were fitted to what labels or trips cost.

    Attributes
    ----------
    graph : Graph
        To be planned with: the same arcs, other lengths; the given graph itself if unchanged.
    believed : Graph
        The graph as it was given.
    value, bound : float
        What the fit costs in its method's measure, and what every fit costs at least.
    status : Status
        How the solve ended.
    chosen : str
        Of several candidates, the one taken; else empty.
    scores : mapping of str to Score
        How well the candidates predicted trips held out.
    details : mapping of str to anything
        Further findings, named by the method.
    method : MendMethod
        The settings that made it.
    seconds : float
        Wall-clock time of the fit.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> slow = wf.Labels([0, 1, 3], [0.0, 1.0, 7.0])
    >>> mended = wf.mend(path, slow, goal=0, method=wf.LeastChange("unit", only_odd=None))
    >>> mended
    Mended(1 of 3 edges dearer, by 4 in all)
    >>> wf.cost_to_go(mended.graph, 0)[3]
    np.float64(7.0)
    """

    graph: Graph
    believed: Graph
    value: float
    bound: float
    status: Status
    chosen: str
    scores: Mapping[str, Score]
    details: Mapping[str, Any]
    method: MendMethod
    seconds: float

    @cached_property
    def added(self) -> FloatArray:
        """(m,) what every arc costs more than believed; negative where it costs less."""
        return frozen(self.graph.lengths - self.believed.lengths)

    @cached_property
    def suspects(self) -> NDArray[np.int64]:
        """Arcs that stand out: dearer than believed by more than the whole graph is, most first.

        One for every edge: of an undirected one the arc from the lower to the higher vertex, of
        two ways between the same vertices the one that stands out more.
        """
        return frozen(suspects(self)[0])

    @property
    def unchanged(self) -> bool:
        """Whether the graph was left as it is."""
        return not self.added.any()

    def facts(self, names: Naming | None = None) -> dict[str, Any]:
        """Return what was found as plain data that JSON can hold.

        Parameters
        ----------
        names : sequence or mapping, optional
            What to call the vertices: ``names[x]``. Their indices if not given.
        """
        return facts(self, names)

    def finding(self, names: Naming | None = None) -> str:
        """Say in one sentence what was found: false edges, slow places, or nothing.

        Examples
        --------
        >>> import wayfield as wf
        >>> ring = wf.Graph.from_edges([*range(10), 0], [*range(1, 10), 0, 5])
        >>> labels = wf.Labels([0, 4, 5], [0.0, 4.0, 5.0])
        >>> wf.mend(ring, labels, 0, wf.LeastChange()).finding("abcdefghij")
        '1 edge is probably false: a – f (+4)'
        """
        told: str = self.facts(names)["finding"]
        return told

    def to_networkx(
        self, source: Any = None, attribute: str = "length", length: str | None = "length"
    ) -> Any:
        """Return a networkx graph with the mended lengths as an attribute of its edges.

        Parameters
        ----------
        source : networkx graph, optional
            The graph that was handed to `Graph.from_networkx`, of osmnx for instance: a copy of it
            is returned, its lengths in whatever unit. Of parallel edges the shortest, which alone
            is in the graph, has the mended length, and the others more in proportion. Without it
            a graph is made, its nodes the vertices.
        attribute : str
            What the mended length is called, such as ``"travel_time"``.
        length : str or None
            What the believed length is called in `source`, as in `Graph.from_networkx`.
        """
        arcs = zip(self.believed.tails.tolist(), self.believed.indices.tolist(), strict=True)
        lengths = dict(zip(arcs, self.graph.lengths.tolist(), strict=True))
        if source is None:
            return networkx_graph(lengths, self.graph.num_vertices, self.graph.directed, attribute)
        return with_lengths(source, lengths, self.graph.num_vertices, attribute, length)

    @property
    def _edges(self) -> NDArray[np.bool_]:
        graph = self.believed
        return np.full(graph.num_arcs, graph.directed) | (graph.tails < graph.indices)

    def __repr__(self) -> str:
        chosen = f"{self.chosen}: " if self.chosen else ""
        if self.unchanged:
            return f"Mended({chosen}the graph as it is)"
        kind = "arcs" if self.believed.directed else "edges"
        added = self.added[self._edges]
        parts = []
        for word, changes in (("dearer", added[added > 0]), ("cheaper", -added[added < 0])):
            if changes.size:
                share = f"{changes.size:,} of {added.size:,} {kind} {word}"
                parts.append(f"{share}, by {changes.sum():.3g} in all")
        status = "" if self.status == Status.CONVERGED else f", {self.status}"
        return f"Mended({chosen}{'; '.join(parts)}{status})"


def mend(
    graph: Graph,
    data: Labels | Trips,
    goal: int | None = None,
    method: MendMethod | None = None,
    *,
    bound: Bound = None,
) -> Mended:
    """Fit the lengths of a graph to what labels or trips cost in the world.

    Plan with the result: ``wf.cost_to_go(mended.graph, goal)``, `wf.plan`, `wf.drive`. It serves
    goals that no trip led to, too.

    Parameters
    ----------
    graph : Graph
        What is believed, directed or not.
    data : Labels or Trips
        Costs to `goal` from some vertices, or costs between pairs of vertices.
    goal : int, optional
        Where the labels lead; needed with labels, and only with them.
    method : MendMethod, optional
        `Best()` unless given: of several ways the one that predicts held-out costs best, or none.
    bound : {"upper"} or None
        "upper" if the labels' values were paid by ways that may not be the cheapest. Trips say so
        themselves.

    Examples
    --------
    >>> import wayfield as wf
    >>> ring = wf.Graph.from_edges([*range(10), 0], [*range(1, 10), 0, 5])
    >>> wf.mend(ring, wf.Labels([0, 4, 5], [0.0, 4.0, 5.0]), goal=0, method=wf.LeastChange())
    Mended(1 of 11 edges dearer, by 4 in all)
    """
    problem = make_problem(graph, data, goal, bound)
    settings = Best() if method is None else method
    if isinstance(settings, type) or not isinstance(settings, MendMethod):
        raise InputError(f"method must be a way of mending such as Best(), not {method!r}")
    start = time.perf_counter()
    with one_thread():
        fit = settings.fit(problem)
    return _package(fit, graph, settings, time.perf_counter() - start)


def make_problem(
    graph: Graph, data: Labels | Trips, goal: int | None = None, bound: Bound = None
) -> MendProblem:
    """Validate once what every method takes for granted."""
    check_graph(graph)
    if isinstance(data, Trips):
        if goal is not None or bound is not None:
            raise InputError("goal and bound are for labels: trips have their own")
        data.check(graph)
        upper = check_bound(data.bound)
        problem = MendProblem(graph, data.starts, data.ends, data.costs, data.error, upper)
    else:
        problem = _from_labels(graph, check_labels(data, graph), goal, check_bound(bound))
    lost = np.flatnonzero(np.isinf(problem.distances()))
    if lost.size:
        k = lost[0]
        more = f" (and {lost.size - 1:,} more)" if lost.size > 1 else ""
        raise InputError(
            f"the graph has no way from {problem.starts[k]} to {problem.ends[k]}, though going "
            f"there cost {problem.costs[k]}{more}"
        )
    return problem


def _from_labels(graph: Graph, labels: Labels, goal: int | None, upper: bool) -> MendProblem:
    if goal is None:
        raise InputError("labels are costs to a goal: pass goal=")
    end = as_vertex(goal, "goal", graph.num_vertices)
    here = labels.vertices == end
    wrong = here & (np.abs(labels.values) > labels.error)
    refuse(wrong, labels.values, "label values", f"is the cost at the goal {end}, which is 0")
    starts, costs = labels.vertices[~here], labels.values[~here]
    refuse(~here & (labels.values <= 0), labels.values, "label values", "is not positive")
    if starts.size == 0:
        raise InputError(f"only the goal {end} is labelled: there is nothing to mend by")
    ends = np.full(starts.size, end)
    return MendProblem(graph, frozen(starts), frozen(ends), frozen(costs), labels.error, upper)


def _package(fit: Fit, graph: Graph, method: MendMethod, seconds: float) -> Mended:
    same = np.array_equal(fit.lengths, graph.lengths)
    return Mended(
        graph if same else replace(graph, lengths=fit.lengths),
        graph,
        float(fit.value),
        float(fit.bound),
        fit.status,
        fit.chosen,
        dict(fit.scores),
        dict(fit.details),
        method,
        seconds,
    )
