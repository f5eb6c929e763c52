"""What every mend method takes and returns.

A believed graph has lengths ℓ. What is known of the world is a list of *trips*: going from a start
to an end costs so much. A label Y at x, with its goal g, is the trip x → g at cost Y. A method
looks for lengths c on the same arcs under which the shortest paths cost what the trips say,

    d_c(start, end) ≈ cost        (≤ cost if costs were paid on paths that may not be shortest),

and returns them as a `Fit`. Whatever plans afterwards plans with c.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..extension import Status
from ..graph import Graph
from ..kernels._types import BoolArray, FloatArray, IntArray
from ..kernels.csr import Arcs, reverse_slots
from ..kernels.shortest import dijkstra


@dataclass(frozen=True)
class MendProblem:
    """A believed graph and what trips cost in the world. Already validated.

    Attributes
    ----------
    graph : Graph
        What is believed.
    starts, ends : (k,) int64 arrays
        Where the trips lead from and to: different vertices, the end within reach of the start.
    costs : (k,) float array
        What they cost, positive. A pair of start and end occurs once.
    error : float
        Bound on ``|cost - truth|``; 0 if the costs are exact.
    upper : bool
        Whether the costs are upper bounds only: they were paid on paths that may not be shortest.
    """

    graph: Graph
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    costs: FloatArray
    error: float = 0.0
    upper: bool = False

    @cached_property
    def into(self) -> IntArray:
        """(m,) slots: which arc stands at every slot of ``graph.reverse_arcs``.

        In an undirected graph it is the arc's opposite, so that ``per_arc[into]`` is what the
        opposite arcs have.
        """
        return reverse_slots(self.graph.arcs)

    @cached_property
    def goals(self) -> NDArray[np.int64]:
        """The distinct ends, ascending."""
        return np.unique(self.ends)

    @cached_property
    def notes(self) -> dict[object, Any]:
        """What methods have found out about this problem, so that others need not do it again."""
        return {}

    def arcs_to(self, lengths: FloatArray) -> Arcs:
        """Arcs into every vertex, with these `lengths` per arc: shortest paths *to* a goal."""
        reverse = self.graph.reverse_arcs
        return Arcs(reverse.indptr, reverse.indices, lengths[self.into])

    def distances(self, lengths: FloatArray | None = None) -> FloatArray:
        """(k,) least cost of every trip on the graph, or with other `lengths` on its arcs."""
        arcs = self.arcs_to(self.graph.lengths if lengths is None else lengths)
        least = np.empty(self.costs.size)
        for goal in self.goals:
            trips = self.ends == goal
            cost, _ = dijkstra(arcs, np.array([goal]), np.zeros(1), 1.0)
            least[trips] = cost[self.starts[trips]]
        return least

    def misfit(self, distances: FloatArray) -> FloatArray:
        """(k,) by how much these distances are off, beyond what the costs may be off by."""
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
        Mean of ``|least cost under the fit - cost of the trip|``, less the error of the costs where
        it is larger than that, over the trips held out.
    gain : float
        By how much that is below the error of the graph as it is, on average over the trips.
    spread : float
        Standard error of `gain`.
    """

    error: float
    gain: float
    spread: float


@dataclass(frozen=True)
class Fit:
    """What a method returns: a length for every arc, and how good it is.

    Attributes
    ----------
    lengths : (m,) float array
        Aligned with ``graph.indices``; the same both ways on an undirected graph. The graph's own
        lengths, untouched, if nothing is to be changed.
    value : float
        What the fit costs in the method's own measure.
    bound : float
        No fit costs less; ``-inf`` if the method proves nothing.
    status : Status
        How the solve ended.
    chosen : str
        Of several candidates, the one taken; else empty.
    scores : mapping of str to CandidateScore
        How the candidates did on trips held out.
    details : mapping of str to anything
        Further findings, named by the method.
    """

    lengths: FloatArray
    value: float = 0.0
    bound: float = -np.inf
    status: Status = Status.CONVERGED
    chosen: str = ""
    scores: Mapping[str, CandidateScore] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)


class MendMethod(ABC):
    """Base of the mend methods: frozen, hashable settings, and how to fit.

    A method says itself what it can read and how it is called, so that `Best` and the command
    line treat all of them alike.

    Attributes
    ----------
    reads_costs : bool
        False if the method looks at the graph alone: it does the same whichever trips are held out.
    reads_bounds : bool
        False if costs that are upper bounds mean nothing to it.
    """

    reads_costs: ClassVar[bool] = True
    reads_bounds: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """What the method is called among candidates."""
        return type(self).__name__

    @property
    def word(self) -> str:
        """What the method is called on the command line."""
        return self.name.replace(" ", "-")

    @property
    def steps(self) -> tuple[MendMethod, ...]:
        """The methods it runs one after another, each on the graph that the one before mended."""
        return (self,)

    def quick(self) -> MendMethod:
        """Return settings that fit in less time, and well enough to compare candidates."""
        return self

    @abstractmethod
    def fit(self, problem: MendProblem) -> Fit:
        """Fit a length for every arc to the trips."""
