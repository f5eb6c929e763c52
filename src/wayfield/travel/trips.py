"""Trips: measured times of going from one vertex to another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import KeepsReadOnly, as_array, as_lengths, as_vertices, frozen, refuse
from ..errors import InputError
from ..graphs.graph import Graph, check_graph
from ..graphs.labels import Labels
from ..typing import BoolArray, FloatArray, IntArray
from ..words import number_of


@dataclass(frozen=True, eq=False, repr=False)
class Trips(KeepsReadOnly):
    """Measured times from starts to ends, in the order given.

    The same pair may occur several times. Such trips are samples of one time, each with its noise.

    Parameters
    ----------
    starts, ends : (k,) integer arrays
        Start and end vertex of each trip.
    times : (k,) array
        Measured times, positive.
    group : (k,) array, optional
        Day or driver of each trip. Trips of one group may share a deviation.

    Examples
    --------
    >>> Trips([3, 5, 5], [0, 0, 0], [12.5, 7.0, 7.4])
    Trips(3 trips between 2 pairs, times 7 to 12.5)
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    times: FloatArray
    group: NDArray[np.int64] | None = None

    def __init__(
        self,
        starts: ArrayLike,
        ends: ArrayLike,
        times: ArrayLike,
        group: ArrayLike | None = None,
    ) -> None:
        start, end = as_vertices(starts, "trip starts"), as_vertices(ends, "trip ends")
        if start.size != end.size:
            raise InputError(f"trips need as many ends as starts, got {start.size} and {end.size}")
        time = as_lengths(times, "trip times", start.size)
        if start.size == 0:
            raise InputError("trips must hold at least one trip, got none")
        refuse(start == end, start, "trip starts", "is the end of its trip as well")
        number: Any = None
        if group is not None:
            of = as_array(group, "trip group")
            if of.shape != start.shape:
                raise InputError(f"trip group has shape {of.shape}, expected ({start.size},)")
            number = frozen(np.unique(of, return_inverse=True)[1].astype(np.int64))
        given = {"starts": start, "ends": end, "times": time.copy()}
        for name, value in given.items():
            object.__setattr__(self, name, frozen(value))
        object.__setattr__(self, "group", number)

    def __len__(self) -> int:
        return self.starts.size

    def take(self, which: IntArray | BoolArray) -> Trips:
        """Return some of the trips, by position or mask."""
        group = None if self.group is None else self.group[which]
        return Trips(self.starts[which], self.ends[which], self.times[which], group)

    def check(self, graph: Graph) -> Self:
        """Return these trips if all their vertices are in `graph`, else raise `InputError`."""
        n = check_graph(graph).num_vertices
        for name, vertices in (("trip starts", self.starts), ("trip ends", self.ends)):
            refuse(vertices >= n, vertices, name, f"is out of range for {n} vertices")
        return self

    def __repr__(self) -> str:
        pairs = np.unique(np.column_stack([self.starts, self.ends]), axis=0).shape[0]
        low, high = self.times.min(), self.times.max()
        span = f"time {low:g}" if low == high else f"times {low:g} to {high:g}"
        between = "" if pairs == len(self) else f" between {number_of(pairs, 'pairs')}"
        return f"Trips({number_of(len(self), 'trips')}{between}, {span})"


def as_trips(data: object, graph: Graph) -> Trips:
    """Return trips on a graph; labels are trips to the vertex with the value 0."""
    if isinstance(data, Trips):
        return data.check(graph)
    if not isinstance(data, Labels):
        raise InputError(f"trips must be Trips or wayfield.Labels, got {type(data).__name__}")
    goals = data.check(graph).vertices[data.values == 0.0]
    if goals.size != 1:
        raise InputError(
            f"labels need the value 0 at one vertex, the goal: got {number_of(goals.size, 'zeros')}"
        )
    away = data.values != 0.0
    vertices = data.vertices[away]
    return Trips(vertices, np.full(vertices.size, goals[0]), data.values[away])
