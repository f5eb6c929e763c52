"""Trips: measured costs of going from one vertex to another in the world."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import as_choice, as_lengths, as_real, as_vertices, frozen, refuse
from ..errors import InputError, Option
from ..graphs.graph import Graph, check_graph
from ..typing import FloatArray
from ..words import number_of

Bound = Literal["upper"] | None


@dataclass(frozen=True, eq=False, repr=False)
class Trips:
    """Costs of going from starts to ends, sorted by end and start.

    Parameters
    ----------
    starts, ends : (k,) integer arrays
        Start and end vertices of the trips.
    costs : (k,) array
        Cost of each trip, positive.
    error : float
        Bound on ``|cost - least cost in the world|``; 0 if the costs are exact.
    bound : {"upper"} or None
        "upper" if the trips may not have taken the shortest path: their costs bound the least cost
        from above, and imply no lower bound.

    Attributes
    ----------
    merged : int
        Number of trips that repeated another. Of upper bounds the least is kept. Other costs of the
        same trip may differ by twice `error`, and their midrange is kept. Larger differences raise
        `InputError`.

    Examples
    --------
    >>> Trips([3, 5], [0, 0], [12.5, 7.0], error=0.5)
    Trips(2 trips to 1 end, costs 7 to 12.5, error 0.5)
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    costs: FloatArray
    error: float = 0.0
    bound: Bound = None
    merged: int = field(default=0)

    def __init__(
        self,
        starts: ArrayLike,
        ends: ArrayLike,
        costs: ArrayLike,
        error: float = 0.0,
        bound: Bound = None,
    ) -> None:
        start = as_vertices(starts, "trip starts")
        end = as_vertices(ends, "trip ends")
        if start.size != end.size:
            raise InputError(f"trips need as many ends as starts, got {start.size} and {end.size}")
        cost = as_lengths(costs, "trip costs", start.size)
        if start.size == 0:
            raise InputError("trips must hold at least one trip, got none")
        refuse(start == end, start, "trip starts", "is the end of its trip as well")
        error = as_real(error, "trip error", least=0.0)
        upper = check_bound(bound)
        # sort by end and start, and keep one of each repeated trip
        order = np.lexsort((cost, start, end))
        start, end, cost = start[order], end[order], cost[order]
        new = np.concatenate([[True], (start[1:] != start[:-1]) | (end[1:] != end[:-1])])
        first = np.flatnonzero(new)
        last = np.append(first[1:], start.size) - 1
        least, largest = cost[first], cost[last]
        clash = (largest - least > 2.0 * error) & (not upper)
        if clash.any():
            i = int(np.argmax(clash))
            raise InputError(
                f"the trip from {start[first[i]]} to {end[first[i]]} costs {least[i]} at position "
                f"{order[first[i]]} and {largest[i]} at position {order[last[i]]}: pass an error "
                "of at least half the difference, or ",
                Option("bound", "upper"),
            )
        values = {
            "starts": frozen(start[first]),
            "ends": frozen(end[first]),
            "costs": frozen(least if upper else least + (largest - least) / 2),
            "error": error,
            "bound": bound,
            "merged": np.size(starts) - first.size,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[type[Trips], tuple[object, ...], dict[str, int]]:
        # a pickle does not keep arrays read-only
        given = self.starts, self.ends, self.costs, self.error, self.bound
        return type(self), given, {"merged": self.merged}

    def __len__(self) -> int:
        return self.starts.size

    def check(self, graph: Graph) -> Self:
        """Return these trips if all their vertices are in `graph`, else raise `InputError`."""
        n = check_graph(graph).num_vertices
        for name, vertices in (("trip starts", self.starts), ("trip ends", self.ends)):
            refuse(vertices >= n, vertices, name, f"is out of range for {n} vertices")
        return self

    def __repr__(self) -> str:
        trips = number_of(len(self), "trips")
        ends = number_of(np.unique(self.ends).size, "ends")
        error = f", error {self.error:g}" if self.error else ""
        bound = ", upper bounds" if self.bound else ""
        costs = f"costs {self.costs.min():g} to {self.costs.max():g}"
        return f"Trips({trips} to {ends}, {costs}{error}{bound})"


def check_bound(bound: Bound) -> bool:
    """Whether costs are upper bounds only."""
    return bound is not None and as_choice(bound, "bound", ("upper",)) == "upper"
