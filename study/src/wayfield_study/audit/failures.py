"""How plans fail: the end of every walk, limit cycles and their basins.

**Lemma (operational basin partition).** The moves of a plan map the states to themselves, so every
walk ends: at the goal, in a limit cycle that avoids it, or (where a graph has dead ends) at a state
without a move. Basins partition the states. A cycle that holds a label is *boundary-touching*, and
its basin is part of C^Γ; any other is *interior*.

**Remark (interior cycles are plateau cycles).** An exact harmonic, p-harmonic or AMLE field has no
strict interior minimum (`extrema`). So on unit lengths, or by the slope rule, a plan never climbs
from an unlabelled vertex, and around an interior cycle the field is constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfield._arrays import as_vertex, frozen
from wayfield.extension import Extension
from wayfield.graph import Graph, check_graph
from wayfield.kernels._types import BoolArray, FloatArray
from wayfield.kernels.planning import DEAD_END, GOAL
from wayfield.labels import Labels, check_labels
from wayfield.lifting import check_field
from wayfield.plans import Plan

from ._inputs import plan_on
from .extrema import Extrema, strict_extrema
from .plateaus import Plateaus, plateaus


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
class Failures:
    """What becomes of every start, and the places where plans go round.

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
    plateaus : Plateaus
        Level ground of the field.
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
    plateaus: Plateaus
    plan: Plan

    @property
    def counts(self) -> dict[End, int]:
        """Number of starts other than the goal by how they end."""
        found = np.bincount(self.end, minlength=len(End))
        found[End.REACHED] -= 1
        return {end: int(found[end]) for end in End}

    @property
    def failure_rate(self) -> float:
        """φ: share of the starts other than the goal that do not reach it; 0 if there are none."""
        others = self.end.size - 1
        return int((self.end != End.REACHED).sum()) / others if others else 0.0

    @property
    def boundary_share(self) -> float:
        """Share of the failures that end in boundary-touching cycles; NaN without failures."""
        failing = int((self.end != End.REACHED).sum())
        return self.counts[End.BOUNDARY] / failing if failing else float("nan")

    @property
    def interior_cycles_level(self) -> bool:
        """Whether every interior cycle is a plateau cycle, as the remark says of exact fields."""
        return bool(self.level[~self.touching].all())

    def __repr__(self) -> str:
        told = [f"{count:,} {end.name.lower()}" for end, count in self.counts.items() if count]
        return f"Failures({', '.join(told).replace('_', ' ') or 'no starts'})"


def failures(
    graph: Graph,
    ext: Extension | ArrayLike,
    labels: Labels,
    goal: int,
    plan: Plan | None = None,
) -> Failures:
    """Class of every start, basins, strict extrema and plateaus (Lemma, basin partition; Remark).

    Parameters
    ----------
    graph : Graph
        State graph, directed or not.
    ext : Extension or (n,) array
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
    values = check_field(graph, ext)
    check_labels(labels, graph)
    route = plan_on(graph, values, goal, plan)
    touching = route.touches(labels)
    spread, level = _levels(ext, values, route)
    return Failures(
        frozen(_ends(route, touching)),
        frozen(np.bincount(route.basin[route.basin >= 0], minlength=touching.size)),
        frozen(touching),
        frozen(spread),
        frozen(level),
        _partitions(route),
        *strict_extrema(graph, labels, ext),
        plateaus(graph, labels, values, goal),
        route,
    )


def _ends(plan: Plan, touching: BoolArray) -> NDArray[np.int8]:
    of_cycle = np.where(touching, End.BOUNDARY, End.INTERIOR)
    # basins count cycles from 0; the goal and dead ends, numbered -1 and -2, come from the back
    table = np.concatenate([of_cycle, np.empty(2, of_cycle.dtype)])
    table[GOAL], table[DEAD_END] = End.REACHED, End.DEAD_END
    return table[plan.basin].astype(np.int8)


def _levels(
    ext: Extension | ArrayLike, values: FloatArray, plan: Plan
) -> tuple[FloatArray, BoolArray]:
    """Spread of the values around every cycle, and whether the exact ones may be equal."""
    members, begins = plan.cycle_members, plan.cycle_offsets[:-1]
    if not begins.size:
        return np.empty(0), np.empty(0, dtype=bool)
    lower, upper = values, values
    if isinstance(ext, Extension) and ext.lower is not None and ext.upper is not None:
        lower, upper = ext.lower, ext.upper
    most, least = np.maximum.reduceat, np.minimum.reduceat
    spread = most(values[members], begins) - least(values[members], begins)
    level: BoolArray = most(lower[members], begins) <= least(upper[members], begins)
    return spread, level


def _partitions(plan: Plan) -> bool:
    """Check the basin partition: O(n)."""
    successor, basin, members = plan.successor, plan.basin, plan.cycle_members
    stays = np.array_equal(basin[successor], basin)
    halts = bool((basin[plan.dead_ends] == DEAD_END).all())
    following = np.roll(members, -1)
    begins, ends = plan.cycle_offsets[:-1], plan.cycle_offsets[1:]
    following[ends - 1] = members[begins]
    closes = np.array_equal(successor[members], following)
    owns = np.array_equal(basin[members], np.repeat(np.arange(begins.size), ends - begins))
    return bool(stays and halts and closes and owns and plan.goal not in members)
