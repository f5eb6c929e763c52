"""`mend`: fit edge costs to measured costs of labels or trips."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..advice.units import unit_question
from ..checks import as_lengths, as_vertex, as_whole, frozen, refuse
from ..errors import InputError
from ..fields import Status
from ..graphs.graph import Graph, check_graph
from ..graphs.interop import networkx_graph, with_lengths
from ..graphs.labels import Labels, check_labels
from ..graphs.names import Caller, Naming
from ..numerics.threads import one_thread
from ..typing import FloatArray
from ..words import short
from .base import CandidateScore, Fit, MendMethod, MendProblem
from .facts import edges_once, facts, suspects
from .findings import Finding, Found, Named, find
from .prediction import Prediction, predict
from .text import lines
from .trips import Bound, Trips, check_bound

SPEEDS = (1.0, 300.0)
"""Plausible range for the median speed of a road network, in km/h."""


@dataclass(frozen=True, eq=False, repr=False)
class Mended:
    """A graph with lengths fitted to the costs of labels or trips.

    Attributes
    ----------
    graph : Graph
        The graph to plan with: the same arcs, other lengths. The given graph itself if unchanged.
    problem : MendProblem
        The graph as given, and the trips that the lengths were fitted to.
    data : Labels or Trips
        The data as given.
    fit : Fit
        Result of the method: objective, bound, status, details.
    method : MendMethod
        The method and its settings.
    seconds : float
        Wall-clock time of the fit.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield import travel
    >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> slow = wf.Labels([0, 1, 3], [0.0, 1.0, 7.0])
    >>> mended = travel.mend(path, slow, goal=0, method=travel.LeastChange("unit", only_odd=None))
    >>> mended
    Mended(1 of 3 edges costlier, by 4 in all)
    >>> wf.cost_to_go(mended.graph, 0)[3]
    np.float64(7.0)
    """

    graph: Graph
    problem: MendProblem
    data: Labels | Trips
    fit: Fit
    method: MendMethod
    seconds: float

    @property
    def believed(self) -> Graph:
        """The graph as it was given."""
        return self.problem.graph

    @property
    def value(self) -> float:
        """Objective of the fit, as its method defines it."""
        return self.fit.value

    @property
    def bound(self) -> float:
        """Lower bound on the objective of every fit; ``-inf`` if the method proves none."""
        return self.fit.bound

    @property
    def status(self) -> Status:
        """How the solve ended."""
        return self.fit.status

    @property
    def details(self) -> Mapping[str, Any]:
        """Further results, named by the method."""
        return self.fit.details

    @cached_property
    def found(self) -> Found:
        """What the costs bear out, whatever the method was, and what follows from it."""
        found: Found | None = self.fit.details.get("found")
        return find(self.problem) if found is None else found

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong with the graph: kind, where, amount, probability, and what would settle it.

        Named findings first, then suspected ones.
        """
        return self.found.findings

    @cached_property
    def prediction(self) -> Prediction:
        """The graph that predicts costs best, used by `cost_to_go`; computed when first needed."""
        with one_thread():
            return predict(self.problem, self.method, self.fit)

    @property
    def chosen(self) -> str:
        """Name of the candidate that predicts held-out costs best; "plain" is the graph as it is.

        Empty if the method has no candidates.
        """
        return self._selection.chosen

    @property
    def scores(self) -> Mapping[str, CandidateScore]:
        """Scores of the candidates on held-out costs."""
        return self._selection.scores

    @property
    def _selection(self) -> Fit:
        """The fit that chose among candidates, if any did."""
        return self.prediction.fit if isinstance(self.method, Named) else self.fit

    @cached_property
    def added(self) -> FloatArray:
        """(m,) mended minus given length; negative where an arc became cheaper."""
        return frozen(self.graph.lengths - self.believed.lengths)

    @cached_property
    def suspects(self) -> NDArray[np.int64]:
        """Arcs of the findings, most probable first: false edges, slow and quick places.

        Of a method that was asked for by name: the arcs that it made costlier, by most first. One
        per edge. For an undirected edge it is the arc from the lower to the higher vertex.
        """
        return frozen(np.array([arc for arc, _ in suspects(self)], dtype=np.int64))

    @property
    def unchanged(self) -> bool:
        """Whether the graph was left unchanged."""
        return not self.added.any()

    @property
    def predicts_as_given(self) -> bool:
        """Whether predictions are the distances of the graph as it was given."""
        if not isinstance(self.method, Named):
            return self.unchanged
        same = self.prediction.graph is self.believed
        return same and not any(map(self.prediction.shrinkage, self.problem.goals.tolist()))

    def cost_to_go(self, goal: int | None = None) -> FloatArray:
        """Return the (n,) best prediction of the cost from every vertex to the goal; inf if none.

        It is the distance on the graph that predicts costs best (`prediction`), plus a share λ of
        the AMLE extension of what the labels add to it. λ is the share that held-out labels
        support, less one standard error, between 0 and 1.

        Parameters
        ----------
        goal : int, optional
            Default: the goal of the labels, or the only end of the trips. Other goals get
            distances, since no label corrects them.

        Raises
        ------
        InputError
            If costs and lengths seem to be in different units.

        Examples
        --------
        >>> import wayfield as wf
        >>> from wayfield import travel
        >>> path = wf.Graph.from_edges(range(9), range(1, 10))
        >>> mended = travel.mend(path, wf.Labels([0, 2, 4, 7, 9], [0.0, 3.0, 6.0, 10.5, 13.5]), goal=0)
        >>> [round(float(cost), 1) for cost in mended.cost_to_go()]
        [0.0, 1.5, 3.0, 4.5, 6.0, 7.5, 9.0, 10.5, 12.0, 13.5]
        """
        self._check_units()
        with one_thread():
            return self.prediction.cost_to_go(self._goal(goal))

    def next_measurements(self, k: int, goal: int | None = None) -> NDArray[np.int64]:
        """Return the k vertices whose cost to the goal is worth measuring next, best first.

        A-optimal: each takes most of the relative variance out of all costs to the goal, under the
        smooth slowness that was fitted. The vertices measured before are left out.

        Parameters
        ----------
        k : int
            Number of vertices.
        goal : int, optional
            Default: the goal of the labels, or the only end of the trips.

        Examples
        --------
        >>> import wayfield as wf
        >>> from wayfield import travel
        >>> path = wf.Graph.from_edges(range(9), range(1, 10))
        >>> mended = travel.mend(path, wf.Labels([0, 2, 4, 7], [0.0, 3.0, 6.0, 10.5]), goal=0)
        >>> mended.next_measurements(1)
        array([9])
        """
        self._check_units()
        count = as_whole(k, "k", least=1)
        with one_thread():
            return frozen(self.prediction.next_measurements(count, self._goal(goal)))

    def _goal(self, goal: int | None) -> int:
        """Return the goal, or the only end of the data."""
        if goal is not None:
            return as_vertex(goal, "goal", self.graph.num_vertices)
        ends = self.problem.goals
        if ends.size > 1:
            raise InputError(f"the trips have {ends.size} ends: pass goal=")
        return int(ends[0])

    def _check_units(self) -> None:
        """Raise `InputError` if costs and lengths seem to be in different units."""
        what = "labels" if isinstance(self.data, Labels) else "the costs of the trips"
        question = unit_question(self.problem.costs, self.problem.distances(), what)
        if question is not None:
            raise InputError(question)

    def summary(self, names: Naming | None = None) -> str:
        """Return a few lines on the data, the contradictions with the graph, and the findings.

        Parameters
        ----------
        names : sequence or mapping, optional
            Names of the vertices: ``names[x]``. Default: their indices.

        Examples
        --------
        >>> import wayfield as wf
        >>> from wayfield import travel
        >>> ring = wf.Graph.from_edges([*range(10), 0], [*range(1, 10), 0, 5])
        >>> mended = travel.mend(ring, wf.Labels([0, 4, 5], [0.0, 4.0, 5.0]), 0, travel.LeastChange())
        >>> print(mended.summary("abcdefghij"))  # doctest: +ELLIPSIS
        graph     10 vertices, 11 edges, lengths 1 to 1
        labels    3 (30 % of the vertices), values 0 to 5; goal a
        against   2 of 3 labels exceed the graph's shortest paths, by up to 4; proof only if the ...
        method    LeastChange(): converged; ...
        fit       labels are off by 3 on average on the graph as it is, by 0 on the mended one
        found     LeastChange() changes the cost of 1 edge: a – f (+4)
        """
        return "\n".join(f"{word:<9} {text}" for word, text in lines(self.facts(names)))

    def facts(self, names: Naming | None = None) -> dict[str, Any]:
        """Return the content of the summary, and more, as plain data that JSON can hold."""
        return facts(self, names)

    def finding(self, names: Naming | None = None) -> str:
        """Return one sentence: what is wrong with the graph, or what a method by name changed.

        Examples
        --------
        >>> import wayfield as wf
        >>> from wayfield import travel
        >>> ring = wf.Graph.from_edges([*range(10), 0], [*range(1, 10), 0, 5])
        >>> labels = wf.Labels([0, 4, 5], [0.0, 4.0, 5.0])
        >>> travel.mend(ring, labels, 0, travel.LeastChange()).finding("abcdefghij")
        'LeastChange() changes the cost of 1 edge: a – f (+4)'
        """
        return str(self.facts(names)["finding"])

    def to_networkx(
        self, source: Any = None, attribute: str = "length", length: str | None = "length"
    ) -> Any:
        """Return a networkx graph with the mended lengths as an attribute of its edges.

        Parameters
        ----------
        source : networkx graph, optional
            The graph passed to `Graph.from_networkx`, for instance from osmnx. A copy of it is
            returned; its lengths may be in any unit. Of parallel edges, the graph holds only the
            shortest: it gets the mended length, and the others are scaled by the same factor.
            Without `source`, a new graph is made with the vertices as nodes.
        attribute : str
            Attribute for the mended length, such as ``"travel_time"``.
        length : str or None
            Attribute of the believed length in `source`, as in `Graph.from_networkx`.
        """
        arcs = zip(self.believed.tails.tolist(), self.believed.indices.tolist(), strict=True)
        lengths = dict(zip(arcs, self.graph.lengths.tolist(), strict=True))
        if source is None:
            return networkx_graph(lengths, self.graph.num_vertices, self.graph.directed, attribute)
        return with_lengths(source, lengths, self.graph.num_vertices, attribute, length)

    def osrm_speeds(self, ids: ArrayLike, metres: ArrayLike) -> str:
        """Return speeds in OSRM's format for traffic updates: one line ``from,to,km/h`` per arc.

        Parameters
        ----------
        ids : (n,) integer array
            OpenStreetMap ids of the vertices.
        metres : (m,) array
            Length of each arc in metres. The cost of an arc is its time in seconds.

        Raises
        ------
        InputError
            If the median speed is below 1 km/h or above 300 km/h.

        Examples
        --------
        >>> import wayfield as wf
        >>> from wayfield import travel
        >>> road = wf.Graph.from_edges([0], [1], [60.0])
        >>> mended = travel.mend(road, travel.Trips([0], [1], [72.0]), method=travel.LeastChange(only_odd=None))
        >>> print(mended.osrm_speeds([101, 102], [500.0, 500.0]), end="")
        101,102,25
        102,101,25
        """
        graph, called = self.graph, np.asarray(ids)
        if called.shape != (graph.num_vertices,) or called.dtype.kind not in "iu":
            raise InputError(f"ids must be {graph.num_vertices:,} whole numbers, one per vertex")
        kmh = 3.6 * as_lengths(metres, "metres", graph.num_arcs) / graph.lengths
        middle = float(np.median(kmh))
        if not SPEEDS[0] <= middle <= SPEEDS[1]:
            raise InputError(
                f"the median speed would be {short(middle)} km/h: lengths must be in metres and "
                "costs in seconds"
            )
        rows = zip(called[graph.tails], called[graph.indices], kmh, strict=True)
        return "".join(f"{x},{y},{speed:.4g}\n" for x, y, speed in rows)

    def __repr__(self) -> str:
        chosen = f"{self.fit.chosen}: " if self.fit.chosen else ""
        if self.unchanged:
            return f"Mended({chosen}the graph as it is)"
        kind = "arcs" if self.believed.directed else "edges"
        added = edges_once(self).added
        parts = []
        for word, changes in (("costlier", added[added > 0]), ("cheaper", -added[added < 0])):
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
    """Find what is wrong with a graph by measured costs of labels or trips, and mend its lengths.

    ``mended.findings`` says what is wrong and how sure that is, ``mended.graph`` has the findings
    that are named, and ``mended.cost_to_go()`` the best prediction of costs.

    Parameters
    ----------
    graph : Graph
        The believed graph, directed or not.
    data : Labels or Trips
        Costs to `goal` from some vertices, or costs between pairs of vertices.
    goal : int, optional
        Goal of the labels. Required with labels, not allowed with trips.
    method : MendMethod, optional
        Default `Named()`: change what the costs bear out, and nothing else. `Best()` fits whatever
        predicts held-out costs best.
    bound : {"upper"} or None
        "upper" if the labels' values were paid on paths that may not be shortest. `Trips` have
        their own `bound`.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield import travel
    >>> ring = wf.Graph.from_edges([*range(10), 0], [*range(1, 10), 0, 5])
    >>> travel.mend(ring, wf.Labels([0, 4, 5], [0.0, 4.0, 5.0]), goal=0, method=travel.LeastChange())
    Mended(1 of 11 edges costlier, by 4 in all)
    """
    problem = make_problem(graph, data, goal, bound)
    settings = Named() if method is None else method
    if not isinstance(settings, MendMethod):
        raise InputError(f"method must be a mend method such as Smooth(), got {method!r}")
    start = time.perf_counter()
    with one_thread():
        fit = settings.fit(problem)
    same = np.array_equal(fit.lengths, graph.lengths)
    return Mended(
        graph if same else replace(graph, lengths=fit.lengths),
        problem,
        data,
        fit,
        settings,
        time.perf_counter() - start,
    )


def make_problem(
    graph: Graph,
    data: Labels | Trips,
    goal: int | None = None,
    bound: Bound = None,
    names: Naming | None = None,
) -> MendProblem:
    """Validate what the methods assume, and return the problem; `names` are used in errors."""
    call = Caller(names, check_graph(graph).num_vertices)
    if isinstance(data, Trips):
        if goal is not None or bound is not None:
            raise InputError("goal and bound are for labels: trips have their own")
        data.check(graph)
        upper = check_bound(data.bound)
        problem = MendProblem(graph, data.starts, data.ends, data.costs, data.error, upper)
    else:
        labels, upper = check_labels(data, graph), check_bound(bound)
        if goal is None:
            raise InputError("labels are costs to a goal: pass goal=")
        end = as_vertex(goal, "goal", graph.num_vertices)
        here, values = labels.vertices == end, labels.values
        called = end if names is None else repr(call(end))
        wrong = here & (np.abs(values) > labels.error)
        refuse(
            wrong, values, "label values", f"is given for the goal {called}, where the cost is 0"
        )
        below = ~here & (values <= 0)
        place = "" if names is None else f"at {call(int(labels.vertices[np.argmax(below)]))!r} "
        refuse(below, values, "label values", f"{place}is not positive")
        if here.all():
            raise InputError(f"only the goal {called} is labelled: there is nothing to mend by")
        starts, costs = frozen(labels.vertices[~here]), frozen(values[~here])
        ends = frozen(np.full(starts.size, end))
        problem = MendProblem(graph, starts, ends, costs, labels.error, upper)
    lost = np.flatnonzero(np.isinf(problem.distances()))
    if lost.size:
        k = lost[0]
        pair = (call(int(x)) for x in (problem.starts[k], problem.ends[k]))
        x, y = pair if names is None else map(repr, pair)
        more = f" (and {lost.size - 1:,} more)" if lost.size > 1 else ""
        raise InputError(
            f"the graph has no path from {x} to {y}, though going there cost "
            f"{problem.costs[k]:g}{more}: is an edge missing, or one-way?"
        )
    return problem
