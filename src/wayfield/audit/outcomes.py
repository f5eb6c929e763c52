"""How plans fail: strict extrema, and the end of every walk.

# Strict interior extrema of a field, and what its midrange residual says about their depth

**Lemma (maximum principle: no strict interior extrema).** A harmonic, p-harmonic or AMLE field has
no unlabelled vertex below, or above, all of its neighbours: there every difference would have one
sign, and so would their weighted sum, or the step to the midrange.

**Lemma (residual–margin bound).** Let T u(x) be the value at which the steepest slopes from x up
and down agree, (min + max)/2 on unit lengths. If |T u − u| ≤ δ at every unlabelled vertex, strict
interior minima are at most δ deep. For T u(x) lies between the least and the largest neighbour, on
*any* lengths; at a minimum of depth γ it is therefore at least u(x) + γ. Likewise for maxima.
`MidrangeSweeps` reports δ as the residual of its field.

# Failures: the end of every walk, limit cycles and their basins

**Lemma (operational basin partition).** The moves of a plan map the states to themselves, so every
walk ends: at the goal, in a limit cycle that avoids it, or (where a graph has dead ends) at a state
without a move. Basins partition the states. A cycle that holds a label is *boundary-touching*, and
its basin is part of C^Γ; any other is *interior*.

**Remark (interior cycles are plateau cycles).** An exact harmonic, p-harmonic or AMLE field has no
strict interior minimum. So on unit lengths, or by the slope rule, a plan never climbs
from an unlabelled vertex, and around an interior cycle the field is constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from ..checks import as_vertex
from ..fields import Extension, check_field
from ..graphs.graph import Graph, check_graph
from ..graphs.labels import Labels, check_labels
from ..plans import kernels as planning
from ..plans.planning import Plan
from ..typing import BoolArray, FloatArray
from .inputs import Field, FrozenArrays, plan_on
from .kernels import neighbour_range


@dataclass(frozen=True, eq=False, repr=False)
class Extrema(FrozenArrays):
    """Unlabelled vertices below (or above) all of their neighbours, and by how much.

    Attributes
    ----------
    vertices : (k,) int64 array
        Ascending.
    depth : (k,) float array
        γ, the distance to the nearest value among the neighbours.
    proven : (k,) bool array
        Whether the bracket leaves no doubt: it is an extremum of the exact field too. False
        where there is no bracket.
    """

    vertices: NDArray[np.int64]
    depth: FloatArray
    proven: BoolArray

    @property
    def deepest(self) -> float:
        """Largest depth; 0 if there are none."""
        return float(self.depth.max(initial=0.0))

    def __len__(self) -> int:
        return self.vertices.size

    def __repr__(self) -> str:
        return f"Extrema({len(self):,}, {self.proven.sum():,} proven, depth up to {self.deepest:g})"


def strict_extrema(graph: Graph, labels: Labels, field: Field) -> tuple[Extrema, Extrema]:
    """Return the strict interior minima and maxima of a field (Lemma, maximum principle).

    A vertex is compared with the heads of its arcs; infinite values take no part. Exact
    harmonic, p-harmonic and AMLE fields of undirected graphs have none, the AMLE with flat fill
    and all of them without a prior: what there is in doubles is rounding, and never `proven`.
    Cost fill raises the far end of a filled region above its neighbours.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    >>> minima, maxima = strict_extrema(path, Labels([0, 4], [0, 3]), [0.0, 2.0, 1.5, 2.0, 3.0])
    >>> minima.vertices, minima.depth
    (array([2]), array([0.5]))
    >>> maxima.vertices, maxima.depth
    (array([1]), array([0.5]))
    """
    values = check_field(graph, field)
    free = ~check_labels(labels, graph).mask(graph) & np.isfinite(values)
    least, most = neighbour_range(graph.arcs, values, values)
    low = np.flatnonzero(free & (values < least) & (least < np.inf))
    high = np.flatnonzero(free & (values > most) & (most > -np.inf))
    proofs = np.zeros(low.size, dtype=bool), np.zeros(high.size, dtype=bool)
    if isinstance(field, Extension) and field.lower is not None and field.upper is not None:
        below, above = neighbour_range(graph.arcs, field.lower, field.upper)
        proofs = field.upper[low] < below[low], field.lower[high] > above[high]
    minima = Extrema(low, least[low] - values[low], proofs[0])
    return minima, Extrema(high, values[high] - most[high], proofs[1])


class End(IntEnum):
    """How the walk from a start ends."""

    REACHED = 0
    """At the goal."""
    INTERIOR = 1
    """In a cycle without a label."""
    BOUNDARY = 2
    """In a cycle that holds a label: the start is in C^Γ."""
    DEAD_END = 3
    """At a state without a move."""


@dataclass(frozen=True, eq=False, repr=False)
class Failures(FrozenArrays):
    """How the walk from every start ends, and the cycles of the plan.

    Attributes
    ----------
    end : (n,) int8 array
        How the walk from every start ends; see `End`.
    basin_sizes : (c,) int64 array
        Number of starts that end in each of ``plan.cycles``.
    touching : (c,) bool array
        Whether the cycle holds a label.
    spread : (c,) float array
        Largest less least value around the cycle.
    level : (c,) bool array
        Whether the exact field may be constant around the cycle: its brackets have a value in
        common, or without a bracket its spread is 0.
    partitions : bool
        Whether the basins are a partition as the lemma says: moves stay in their basin, cycles
        avoid the goal and close.
    minima, maxima : Extrema
        Strict interior extrema of the field.
    plan : Plan
        The plan audited.
    """

    end: NDArray[np.int8]
    basin_sizes: NDArray[np.int64]
    touching: BoolArray
    spread: FloatArray
    level: BoolArray
    partitions: bool
    minima: Extrema
    maxima: Extrema
    plan: Plan

    @property
    def counts(self) -> dict[End, int]:
        """Number of starts other than the goal by how they end."""
        found = np.bincount(self.end, minlength=len(End))
        found[End.REACHED] -= 1
        return {end: int(found[end]) for end in End}

    def __repr__(self) -> str:
        counts = [f"{count:,} {end.name.lower()}" for end, count in self.counts.items() if count]
        return f"Failures({', '.join(counts).replace('_', ' ') or 'no starts'})"


def walk_ends(plan: Plan, labels: Labels) -> NDArray[np.int8]:
    """Return how the walk from every start ends, an `End` each, (n,)."""
    # basins count cycles from 0, and the goal and dead ends, numbered -1 and -2, come from the back
    of_cycle = np.where(plan.touches(labels), End.BOUNDARY, End.INTERIOR)
    table = np.concatenate([of_cycle, np.empty(2, of_cycle.dtype)])
    table[planning.GOAL], table[planning.DEAD_END] = End.REACHED, End.DEAD_END
    return table[plan.basin].astype(np.int8)


def failures(
    graph: Graph, field: Field, labels: Labels, goal: int, plan: Plan | None = None
) -> Failures:
    """Return the end of every walk, basins and strict extrema (Lemma, Remark).

    Parameters
    ----------
    graph : Graph
        State graph, directed or not.
    field : Extension or (n,) array
        The field.
    labels : Labels
        Which vertices are boundary.
    goal : int
        Where the plan is to lead.
    plan : Plan, optional
        The paper's on this field, argmin Q with index ties, if not given. A plan on other
        values is described as it is; the remark is about plans on this field.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    >>> pit = failures(path, [0.0, 3.0, 2.0, 1.0, 2.0], wf.Labels([0, 3], [0.0, 1.0]), goal=0)
    >>> pit
    Failures(1 reached, 3 boundary)
    >>> pit.plan.cycles, pit.basin_sizes
    ((array([2, 3]),), array([3]))
    """
    goal = as_vertex(goal, "goal", check_graph(graph).num_vertices)
    values = check_field(graph, field)
    check_labels(labels, graph)
    route = plan_on(graph, values, goal, plan)
    touching = route.touches(labels)
    successor, basin, members = route.successor, route.basin, route.cycle_members
    begins, ends = route.cycle_offsets[:-1], route.cycle_offsets[1:]
    # spread of the values around every cycle, and whether the exact ones may be equal
    spread, level = np.empty(0), np.empty(0, dtype=bool)
    if begins.size:
        lower, upper = values, values
        if isinstance(field, Extension) and field.lower is not None and field.upper is not None:
            lower, upper = field.lower, field.upper
        most, least = np.maximum.reduceat, np.minimum.reduceat
        spread = most(values[members], begins) - least(values[members], begins)
        level = most(lower[members], begins) <= least(upper[members], begins)
    # the basin partition: moves stay in their basin; cycles close, own their members, avoid g
    following = np.roll(members, -1)
    following[ends - 1] = members[begins]
    partitions = (
        np.array_equal(basin[successor], basin)
        and bool((basin[route.dead_ends] == planning.DEAD_END).all())
        and np.array_equal(successor[members], following)
        and np.array_equal(basin[members], np.repeat(np.arange(begins.size), ends - begins))
        and goal not in members
    )
    end, sizes = walk_ends(route, labels), np.bincount(basin[basin >= 0], minlength=begins.size)
    extrema = strict_extrema(graph, labels, field)
    return Failures(end, sizes, touching, spread, level, partitions, *extrema, route)
