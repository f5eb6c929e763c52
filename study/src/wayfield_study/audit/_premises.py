"""The premises of the reach theorem, one by one; `reach` says what they are for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from wayfield.extension import Extension
from wayfield.graph import Graph
from wayfield.kernels._types import BoolArray, FloatArray, IntArray
from wayfield.kernels.certificates import along_walks
from wayfield.kernels.planning import sunk
from wayfield.kernels.shortest import dijkstra
from wayfield.labels import Labels
from wayfield.plans import Plan

from ..kernels.extrema import deficits, on_geodesics
from ._inputs import EPS, rounding

NEGLIGIBLE = 1e-9
"""Share of the field's range that a vertex equation, or a field without bracket, may be off by."""


class Premise(NamedTuple):
    """One premise of the theorem."""

    name: str
    """See the module."""
    holds: bool = True
    vertex: int = -1
    """Where it breaks first; -1 if it holds or is no matter of vertices."""
    excess: float = 0.0
    """By how much it breaks at worst, in units of the values; 0 if it holds, NaN if no number
    says so."""


@dataclass(frozen=True, eq=False)
class Case:
    """One field under audit, already validated."""

    graph: Graph
    labels: Labels
    ext: Extension | ArrayLike
    values: FloatArray
    truth: FloatArray
    goal: int

    @property
    def labelled(self) -> BoolArray:
        """(n,) bool: whether the vertex has a label."""
        return self.labels.mask(self.graph)

    @property
    def slack(self) -> float:
        """What counts as rounding of a value."""
        return NEGLIGIBLE * float(np.ptp(self.values[np.isfinite(self.values)]))

    def label_slopes(self) -> tuple[float, float, Premise]:
        """Factor, Lipschitz constant, and whether the labels are exact up to the factor.

        If they are, the constants are equal: V* is 1-Lipschitz, and the goal is a label.
        """
        vertices, heights = self.labels.vertices, self.labels.values
        if not self.labelled[self.goal]:
            return 0.0, np.nan, Premise("labels", False, self.goal, np.nan)
        base = heights[np.searchsorted(vertices, self.goal)]
        others = vertices != self.goal
        vertices, rise = vertices[others], (heights - base)[others]
        far = self.truth[vertices]
        factor = float((rise / far).max(initial=0.0))
        lost = np.isinf(far)
        off = np.abs(rise - factor * np.where(lost, 0.0, far))
        room = (rounding(self.graph) + 16.0 * EPS) * (np.abs(rise) + 2.0 * abs(base))
        bad = lost | (off > room) | (factor <= 0.0)
        if not bad.any():
            return factor, factor, Premise("labels")
        lipschitz = _steepest_pair(self.graph, self.labels, factor)
        worst = int(np.argmax(np.where(bad, np.where(lost, np.inf, off), -1.0)))
        return factor, lipschitz, Premise("labels", False, int(vertices[worst]), float(off[worst]))

    def finite(self) -> Premise:
        """Whether every vertex that can reach the goal has a finite value."""
        return listed("finite", np.flatnonzero(np.isfinite(self.truth) & np.isinf(self.values)))

    def balance(self) -> tuple[BoolArray, Premise]:
        """Which vertices are filled by cost, and whether the AMLE's equation holds at the others.

        Cost fill has u(x) = min ℓ + u(y) and no descent into x but from vertices filled
        themselves, so these are found from the far end of a filled region inwards.
        """
        arcs, reverse = self.graph.arcs, self.graph.reverse_arcs
        free = ~self.labelled & np.isfinite(self.values)
        filled = np.zeros(free.size, dtype=bool)
        deficit = deficits(arcs, reverse, self.values, filled)
        if (deficit[free] > self.slack).any():
            fillable = free & self._costs_its_best_move()
            while (more := fillable & ~filled & (deficit > self.slack)).any():
                filled |= more
                deficit = deficits(arcs, reverse, self.values, filled)
        off = np.where(free & ~filled, np.abs(deficit), 0.0)
        return filled, _within("balance", off, self.slack)

    def _costs_its_best_move(self) -> BoolArray:
        """Whether u(x) = min ℓ + u(y)."""
        least = np.full(self.values.size, np.inf)
        tolls = self.graph.lengths + self.values[self.graph.indices]
        np.minimum.at(least, self.graph.tails, tolls)
        close = np.zeros(least.size, dtype=bool)
        known = np.isfinite(least) & np.isfinite(self.values)
        close[known] = np.abs(self.values[known] - least[known]) <= self.slack
        return close

    def geodesics(self, factor: float) -> tuple[BoolArray, FloatArray, Premise]:
        """Label–goal geodesics, the deviation from c·V* there, and the premise about it."""
        arcs, sources = self.graph.arcs, self.labels.vertices
        marked = on_geodesics(arcs, self.truth, sources, rounding(self.graph))
        if not self.labelled[self.goal]:
            nothing = np.zeros(self.values.size)
            return marked, nothing, Premise("geodesics", False, self.goal, np.nan)
        line = factor * np.where(marked, self.truth, 0.0) + self.values[self.goal]
        lower, upper = self.bracket() or (self.values, self.values)
        beyond = np.maximum(lower - line, line - upper)
        deviation = np.where(marked, np.maximum(beyond, 0.0), 0.0)
        broken = np.flatnonzero(deviation > self.slack)
        if not broken.size:
            return marked, deviation, Premise("geodesics")
        first = int(broken[np.argmin(self.truth[broken])])
        return marked, deviation, Premise("geodesics", False, first, float(deviation.max()))

    def bracket(self) -> tuple[FloatArray, FloatArray] | None:
        """Bounds on the exact field, if there are any."""
        if isinstance(self.ext, Extension) and self.ext.lower is not None:
            assert self.ext.upper is not None
            return self.ext.lower, self.ext.upper
        return None

    def sinks(self) -> Premise:
        """Whether every label but the goal's has an arc to a smaller value."""
        others = self.labels.vertices[self.labels.vertices != self.goal]
        return listed("sinks", others[sunk(self.graph.arcs, self.values, others)])

    def cost_bound(self, plan: Plan) -> FloatArray:
        """(u(s) − u(g)) / α, u(s) at most and α at least what the bracket allows; inf without one.

        α is the least slope of the moves on the walk: see `wayfield_study.audit.reach`.
        """
        bound = np.full(self.values.size, np.inf)
        bracket = self.bracket()
        if bracket is None:
            return bound
        lower, upper = bracket
        taken = self.graph.indices == plan.successor[self.graph.tails]
        tails, heads = self.graph.tails[taken], self.graph.indices[taken]
        slope = np.full(bound.size, np.inf)
        slope[tails] = (lower[tails] - upper[heads]) / self.graph.lengths[taken]
        least, _, _ = along_walks(plan.successor, self.goal, slope, np.ones(bound.size, bool))
        descends = plan.reached & (least > 0.0) & (least < np.inf)
        bound[descends] = (upper[descends] - lower[self.goal]) / least[descends]
        return bound

    def cheapest(self, plan: Plan) -> bool:
        """Whether the plan's walk from every label is a cheapest path."""
        vertices = self.labels.vertices[np.isfinite(self.truth[self.labels.vertices])]
        most = self.truth[vertices] * (1.0 + rounding(self.graph))
        return bool((plan.cost[vertices] <= most).all())


def _steepest_pair(graph: Graph, labels: Labels, slope: float) -> float:
    """Lipschitz constant of the labels, max (Y(z) − Y(w)) / d(z → w), from a lower bound.

    Dinkelbach's iteration: z is violated by the cones Y(w) + slope · d(z → w) if one is below
    Y(z), and then the worst such pair is steeper. From the largest slope to the goal, as a rule,
    there is none.
    """
    sources, heights = labels.vertices, labels.values
    height = dict(zip(sources.tolist(), heights.tolist(), strict=True))
    room = graph.num_vertices * EPS * float(np.abs(heights).max())
    while True:
        cone, origin = dijkstra(graph.reverse_arcs, sources, heights, slope)
        excess = heights - cone[sources]
        worst = int(np.argmax(excess))
        if excess[worst] <= room:
            return slope
        z = int(sources[worst])
        w = int(origin[z])
        distance, _ = dijkstra(graph.arcs, sources[worst : worst + 1], np.zeros(1), 1.0)
        steeper = (height[z] - height[w]) / float(distance[w])
        if steeper <= slope:
            return slope
        slope = steeper


def _within(name: str, off: FloatArray, slack: float) -> Premise:
    """Premise that no entry exceeds the slack; the first that does is where it breaks."""
    beyond = np.flatnonzero(off > slack)
    if not beyond.size:
        return Premise(name)
    return Premise(name, False, int(beyond[0]), float(off.max()))


def listed(name: str, vertices: IntArray) -> Premise:
    """Premise that a list of vertices is empty."""
    if not vertices.size:
        return Premise(name)
    return Premise(name, False, int(vertices[0]), np.nan)


def planner(plan: Plan, values: FloatArray) -> Premise:
    """Whether the plan follows this field by the slope rule, its ties broken by exits."""
    steepest = plan.rule == "slope" or plan.graph.is_unit
    follows = np.array_equal(plan.values, values) and plan.tie_tolerance == 0.0
    others = np.flatnonzero(np.isfinite(values) & (np.arange(values.size) != plan.goal))
    tied_by_exits = plan.ties == "exit" or not sunk(plan.graph.arcs, values, others).any()
    return Premise("planner", bool(steepest and follows and tied_by_exits))
