"""The interface of the mend methods: `MendProblem` in, `Fit` out.

A believed graph has lengths ℓ. The data are *trips*: a start, an end, and what it cost to go from
one to the other in the world. A label Y at x, with its goal g, is the trip x → g at cost Y. A
method looks for lengths c on the same arcs such that shortest paths cost what the trips cost,

    d_c(start, end) ≈ cost        (≤ cost if the trips may not have taken the shortest path),

and returns them as a `Fit`. All later planning uses c.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..fields import Status
from ..graphs.graph import Graph
from ..numerics.csr import Arcs, reverse_slots
from ..numerics.shortest import dijkstra, shortest_tree
from ..typing import BoolArray, FloatArray, IntArray
from .kernels.detour import detours
from .kernels.rays import trace

LEAST = 0.1
"""Arcs are not shortened to less than this share of their length, apart from a change of unit."""


@dataclass(frozen=True)
class MendProblem:
    """A believed graph and the costs of trips in the world, already validated.

    Attributes
    ----------
    graph : Graph
        The graph with its believed lengths.
    starts, ends : (k,) int64 arrays
        Endpoints of the trips. A start differs from its end and can reach it.
    costs : (k,) float array
        Cost of each trip, positive. Each pair of start and end occurs once.
    error : float
        Bound on ``|cost - truth|``; 0 if the costs are exact.
    upper : bool
        Whether the costs are only upper bounds: the trips may not have taken the shortest path.
    """

    graph: Graph
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    costs: FloatArray
    error: float = 0.0
    upper: bool = False

    @cached_property
    def into(self) -> IntArray:
        """(m,) array: the arc at each slot of ``graph.reverse_arcs``.

        In an undirected graph it is the opposite arc, so ``per_arc[into]`` holds the values of the
        opposite arcs.
        """
        return reverse_slots(self.graph.arcs)

    @cached_property
    def pairs(self) -> tuple[IntArray, NDArray[np.int64]]:
        """(m,) number of the pair of vertices that each arc joins, and the (pairs, 2) vertices.

        Both directions of an edge share a number; the lower vertex of a pair comes first.
        """
        tails, heads, n = self.graph.tails, self.graph.indices, self.graph.num_vertices
        joined = np.minimum(tails, heads).astype(np.int64) * n + np.maximum(tails, heads)
        keys, pair = np.unique(joined, return_inverse=True)
        return pair, np.column_stack(np.divmod(keys, n))

    @cached_property
    def goals(self) -> NDArray[np.int64]:
        """The distinct ends, in ascending order."""
        return np.unique(self.ends)

    def arcs_to(self, lengths: FloatArray) -> Arcs:
        """Return the arcs into each vertex with these `lengths`, for shortest paths *to* a goal."""
        reverse = self.graph.reverse_arcs
        return Arcs(reverse.indptr, reverse.indices, lengths[self.into])

    def distances(self, lengths: FloatArray | None = None) -> FloatArray:
        """Return the (k,) least cost of each trip, on the graph's lengths or on others."""
        arcs = self.arcs_to(self.graph.lengths if lengths is None else lengths)
        least = np.empty(self.costs.size)
        for goal in self.goals:
            trips = self.ends == goal
            cost, _ = dijkstra(arcs, np.array([goal]), np.zeros(1), 1.0)
            least[trips] = cost[self.starts[trips]]
        return least

    def paths(
        self, goal: int, starts: NDArray[np.int64], lengths: FloatArray
    ) -> tuple[FloatArray, Any]:
        """Return the (n,) least costs to a goal, and the shortest paths from some starts.

        The paths are a (starts, m) sparse array: 1 where a path takes an arc.
        """
        cost, _, slot = shortest_tree(self.arcs_to(lengths), np.array([goal]), np.zeros(1))
        indptr, arcs, _, _ = trace(self.graph.indices, self.into, slot, starts)
        shape = starts.size, self.graph.num_arcs
        return cost, sparse.csr_array((np.ones(arcs.size), arcs, indptr), shape=shape)

    def detours(self, lengths: FloatArray, which: BoolArray, reach: float) -> FloatArray:
        """Return the (m,) detours of some arcs on these lengths, up to `reach` times the graph's.

        0 for the other arcs. An edge has the same detour in both directions, computed once.
        """
        graph = self.graph
        arcs = np.flatnonzero(which if graph.directed else which & (graph.tails < graph.indices))
        ahead, limits = Arcs(graph.indptr, graph.indices, lengths), reach * graph.lengths[arcs]
        around = np.zeros(graph.num_arcs)
        around[arcs] = detours(ahead, self.arcs_to(lengths), graph.tails, arcs, limits)
        if not graph.directed:
            around[self.into[arcs]] = around[arcs]
        return around

    def misfit(self, distances: FloatArray) -> FloatArray:
        """Return the (k,) errors of these distances beyond the error of the costs."""
        return np.maximum(np.abs(distances - self.costs) - self.error, 0.0)

    def only(self, trips: BoolArray | IntArray) -> Self:
        """Return the problem with some of its trips, by mask or position."""
        return replace(
            self, starts=self.starts[trips], ends=self.ends[trips], costs=self.costs[trips]
        )

    def on(self, lengths: FloatArray) -> Self:
        """Return the same trips on a graph with other `lengths`, one per arc."""
        return replace(self, graph=replace(self.graph, lengths=lengths))


class CandidateScore(NamedTuple):
    """How well a candidate predicted trips it had not seen.

    Attributes
    ----------
    error : float
        Mean of ``|least cost under the fit - cost of the trip|`` over the held-out trips, beyond
        the error of the costs.
    gain : float
        Mean reduction of this error compared with the graph as it is.
    spread : float
        Standard error of `gain`.
    """

    error: float
    gain: float
    spread: float


@dataclass(frozen=True)
class Fit:
    """The result of a method: a length for each arc, and how well it fits.

    Attributes
    ----------
    lengths : (m,) float array
        Aligned with ``graph.indices``; equal in both directions on an undirected graph. If nothing
        changes, these are the graph's own lengths.
    value : float
        Objective of the fit, as the method defines it.
    bound : float
        Lower bound on the objective of every fit; ``-inf`` if the method proves none.
    status : Status
        How the solve ended.
    chosen : str
        Name of the chosen candidate, if there were several; else empty.
    scores : mapping of str to CandidateScore
        Scores of the candidates on held-out trips.
    details : mapping of str to anything
        Further results, named by the method.
    """

    lengths: FloatArray
    value: float = 0.0
    bound: float = -np.inf
    status: Status = Status.CONVERGED
    chosen: str = ""
    scores: Mapping[str, CandidateScore] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)


class MendMethod(ABC):
    """Base class of the mend methods: frozen, hashable settings, and `fit`.

    A method declares what it reads and what it is called, so `Best` treats all methods alike.

    Attributes
    ----------
    reads_costs : bool
        False if the method reads the graph alone, so its fit does not depend on the trips.
    reads_bounds : bool
        False if the method cannot use costs that are only upper bounds.
    """

    reads_costs: ClassVar[bool] = True
    reads_bounds: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """Name of the method among candidates."""
        return type(self).__name__

    @property
    def steps(self) -> tuple[MendMethod, ...]:
        """Methods it runs in order, each on the graph that the previous one mended."""
        return (self,)

    def quick(self) -> MendMethod:
        """Return settings for a quicker fit that is good enough to compare candidates."""
        return self

    @abstractmethod
    def fit(self, problem: MendProblem) -> Fit:
        """Fit a length for each arc to the trips."""
