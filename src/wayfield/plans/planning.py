"""Greedy plans: the move at each state, and where it leads from each start.

**Rule.** From a state s the plan moves along the arc s → y, y of finite value, that is best by

- ``"slope"``: steepest descent, argmax (u(s) - u(y)) / ℓ;
- ``"q"``: the paper's argmin ℓ + u(y).

On the true cost-to-go both are optimal, and on unit lengths they are the same rule. Otherwise "q"
is not scale-free: with values of half the truth it prefers short arcs to good ones. The goal is
absorbing.

**Ties** go to the lowest index (``"index"``, the paper's) or to the neighbour nearest to an exit
(``"exit"``): fewest level steps to the goal or to a vertex with a strictly lower neighbour, then
the lowest index.

**Guarantee** (slope, exit ties, no tolerance). The pair (value, hops) decreases at every step from
a state that has an exit. So a start fails only by entering a plateau without one: a local minimum
of the field other than the goal. Proofs, also with a tolerance: ``docs/proofs-of-plans.md``.

**Cost**: O(n + m) for all starts together, in one pass over the functional graph of moves.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import KeepsReadOnly, as_choice, as_real, as_vertex, frozen
from ..fields import Extension, check_field
from ..graphs.graph import Graph
from ..graphs.labels import Labels
from ..numerics.csr import entries_of
from ..typing import BoolArray, FloatArray
from ..words import number_of, percent
from .kernels import (
    DEAD_END,
    GOAL,
    SLOPE,
    UNIT,
    Q,
    Rule,
    first_moves,
    level_hops,
    limit_cycles,
    outcomes,
    prefer_exits,
    reaching,
    walk,
)

RuleName = Literal["slope", "q"]
TieName = Literal["exit", "index"]


class Outcome(StrEnum):
    """How a walk ends.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> wf.plan(path, [0.0, 4.0, 1.0, 2.0], goal=0).rollout(2).outcome
    <Outcome.LOOP: 'loop'>
    """

    REACHED = "reached"
    """At the goal."""
    LOOP = "loop"
    """At a state seen before, so the plan would circle for ever."""
    DEAD_END = "dead end"
    """At a state with no arc to a finite value."""
    UNREACHABLE = "unreachable"
    """Not begun: no path leads from the start to the goal."""


@dataclass(frozen=True, eq=False, repr=False)
class Rollout(KeepsReadOnly):
    """The walk of a plan from one start.

    Attributes
    ----------
    path : (k,) int64 array
        States visited, the start first. A loop ends with the state that was seen before.
    cost : float
        Sum of the lengths of the arcs taken, whatever the outcome.
    outcome : Outcome
        How the walk ended.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> walk = wf.plan(path, [0.0, 1.0, 2.0, 3.0], goal=0).rollout(3)
    >>> walk.path, walk.cost
    (array([3, 2, 1, 0]), 3.0)
    """

    path: NDArray[np.int64]
    cost: float
    outcome: Outcome

    def __repr__(self) -> str:
        return f"Rollout({self.outcome}, {self.path.size - 1:,} steps, cost {self.cost:g})"


@dataclass(frozen=True, eq=False, repr=False)
class Plan(KeepsReadOnly):
    """The greedy move at each state, and the outcome from each start.

    Attributes
    ----------
    successor : (n,) int64 array
        Next state; the state itself at the goal and at dead ends. A dead end has no arc to a finite
        value.
    reached : (n,) bool array
        Whether the plan leads from this start to the goal.
    steps : (n,) int64 array
        Number of moves to the goal; -1 if it is not reached.
    cost : (n,) float array
        Cost of the walk to the goal; inf if it is not reached.
    basin : (n,) int64 array
        Where a start ends: the position of its limit cycle in `cycles`, -1 for the goal, -2 for a
        dead end.
    cycle_members, cycle_offsets : (k,) and (number of cycles + 1,) int64 arrays
        The limit cycles one after another; see `cycles`.
    graph, values, goal, rule, ties, tie_tolerance
        Inputs and settings of the plan.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> pit = wf.plan(path, [0.0, 4.0, 1.0, 2.0], goal=0)
    >>> pit.reached, pit.basin
    (array([ True,  True, False, False]), array([-1, -1,  0,  0]))
    >>> pit.cycles
    (array([2, 3]),)
    """

    graph: Graph
    values: FloatArray
    goal: int
    rule: RuleName
    ties: TieName
    tie_tolerance: float
    successor: NDArray[np.int64]
    reached: BoolArray
    steps: NDArray[np.int64]
    cost: FloatArray
    basin: NDArray[np.int64]
    cycle_members: NDArray[np.int64]
    cycle_offsets: NDArray[np.int64]

    @cached_property
    def cycles(self) -> tuple[NDArray[np.int64], ...]:
        """Limit cycles, each in walking order from its lowest vertex, sorted by that vertex.

        The absorbing goal is not among them.
        """
        ends = self.cycle_offsets.tolist()
        return tuple(self.cycle_members[i:j] for i, j in pairwise(ends))

    @cached_property
    def dead_ends(self) -> NDArray[np.int64]:
        """States without a move, other than the goal, in ascending order."""
        states = np.arange(self.successor.size)
        return frozen(np.flatnonzero((self.successor == states) & (states != self.goal)))

    @cached_property
    def lengths(self) -> FloatArray:
        """(n,) length of the arc that each state's move takes; 1 where there is no move."""
        graph, found = self.graph, np.ones(self.successor.size)
        arcs = np.flatnonzero(self.successor[graph.tails] == graph.indices)
        found[graph.tails[arcs]] = graph.lengths[arcs]
        return frozen(found)

    @cached_property
    def reachable(self) -> BoolArray:
        """(n,) bool: whether any path leads from the state to the goal."""
        return frozen(reaching(self.graph.reverse_arcs, self.goal))

    @property
    def num_able(self) -> int:
        """Number of starts with a path to the goal, without the goal itself."""
        return int(self.reachable.sum()) - 1

    @property
    def num_arrived(self) -> int:
        """Number of starts from which the plan reaches the goal, without the goal itself."""
        return int(self.reached.sum()) - 1

    @property
    def success(self) -> float:
        """Share of the starts with a path to the goal from which the plan reaches it; 1 if none."""
        return self.num_arrived / self.num_able if self.num_able else 1.0

    @cached_property
    def outcomes(self) -> NDArray[np.object_]:
        """(n,) array of `Outcome`: how the walk from each start ends.

        It is "unreachable" where no path leads to the goal, whatever the plan does there.
        ``plan.outcomes == "loop"`` is the mask of the starts that run into loops.
        """
        kinds = np.array(
            [Outcome.REACHED, Outcome.LOOP, Outcome.DEAD_END, Outcome.UNREACHABLE], dtype=object
        )
        kind = np.select([self.reached, ~self.reachable, self.basin >= 0], [0, 3, 1], 2)
        return frozen(kinds[kind])

    def touches(self, labels: Labels) -> BoolArray:
        """Whether each cycle contains a labelled vertex; one entry per cycle."""
        labelled = labels.mask(self.graph)[self.cycle_members]
        begins = self.cycle_offsets[:-1]
        return np.logical_or.reduceat(labelled, begins) if begins.size else labelled

    def false_sinks(self, labels: Labels) -> NDArray[np.int64]:
        """Return the labelled vertices, without the goal, that have no arc to a smaller value.

        On an exact AMLE with cost fill every unlabelled vertex of finite value descends. If the
        result is empty, the slope rule is therefore proved to reach the goal from every such start.
        """
        return false_sinks(self.graph, self.values, labels, self.goal)

    def rollout(self, start: int) -> Rollout:
        """Return the walk from `start`: up to the goal, a dead end or the first revisit.

        Examples
        --------
        >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> pit = plan(path, [0.0, 4.0, 1.0, 2.0], goal=0)
        >>> pit.rollout(2)
        Rollout(loop, 2 steps, cost 2)
        """
        start = as_vertex(start, "start", self.graph.num_vertices)
        path = walk(self.successor, start)
        endings = {GOAL: Outcome.REACHED, DEAD_END: Outcome.DEAD_END}
        outcome = endings.get(int(self.basin[start]), Outcome.LOOP)
        # summed from the end, as the costs of all starts are
        paid = self.lengths[path[:-1]][::-1].cumsum()
        return Rollout(frozen(path), float(paid[-1]) if paid.size else 0.0, outcome)

    def __repr__(self) -> str:
        n, count = self.reached.size, self.cycle_offsets.size - 1
        whole = self.num_able == n - 1
        who = percent(self.success) + ("" if whole else f" of {self.num_able:,} with a path")
        return f"Plan({n:,} starts: {who} reach the goal, {number_of(count, 'cycles')})"


def plan(
    graph: Graph,
    values: ArrayLike | Extension,
    goal: int,
    rule: RuleName = "slope",
    ties: TieName = "exit",
    tie_tolerance: float = 0.0,
) -> Plan:
    """Plan greedily on a field of values, and find the outcome from each start.

    Parameters
    ----------
    graph : Graph
        State graph; moves follow its arcs.
    values : (n,) array or Extension
        Estimated cost-to-go. +inf means "cannot reach": the plan never moves there. NaN in an
        extension means the same, where no label is connected. In an array, NaN and -inf are errors.
    goal : int
        Goal of the plan.
    rule : {"slope", "q"}
        Steepest descent, or the paper's argmin ℓ + u(y).
    ties : {"exit", "index"}
        How to choose among equally good moves; see the module.
    tie_tolerance : float
        Moves tie if lowering one's value by this much would make it as good as the best. With exit
        ties, values within it also count as level. Absolute, in units of the values. It is meant
        for rounding noise: above about 1e-6 of the range it blurs the field itself.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> route = plan(path, [0.0, 1.0, 1.0, 1.0], goal=0)
    >>> route
    Plan(4 starts: 100 % reach the goal, 0 cycles)
    >>> route.successor, route.steps
    (array([0, 0, 1, 2]), array([0, 1, 2, 3]))
    """
    field = check_field(graph, values)
    goal = as_vertex(goal, "goal", graph.num_vertices)
    tolerance = as_real(tie_tolerance, "tie_tolerance", 0.0)
    as_choice(rule, "rule", get_args(RuleName))
    as_choice(ties, "ties", get_args(TieName))
    toll = UNIT if graph.is_unit else SLOPE if rule == "slope" else Q
    law = Rule(toll, tolerance, ties == "exit")
    slots, hops, num_stuck = first_moves(graph.arcs, field, goal, law)
    if num_stuck:  # on plateaus: by the fewest level steps to an exit
        level_hops(graph.arcs, graph.reverse_arcs, field, hops, tolerance)
        prefer_exits(graph.arcs, field, slots, hops, law)
    successor, steps, cost, basin, entries = outcomes(graph.arcs, slots, goal)
    members, offsets = limit_cycles(successor, basin, entries)
    return Plan(
        graph,
        field,
        goal,
        rule,
        ties,
        tolerance,
        successor=frozen(successor),
        reached=frozen(steps >= 0),
        steps=frozen(steps),
        cost=frozen(cost),
        basin=frozen(basin),
        cycle_members=frozen(members),
        cycle_offsets=frozen(offsets),
    )


def false_sinks(graph: Graph, values: FloatArray, labels: Labels, goal: int) -> NDArray[np.int64]:
    """Return the labelled vertices, without the goal, that have no arc to a smaller value."""
    vertices = labels.check(graph).vertices
    candidates = vertices[vertices != goal]
    row, arcs = entries_of(candidates, graph.indptr)
    descends = values[graph.indices[arcs]] < values[candidates[row]]
    return np.setdiff1d(candidates, candidates[row[descends]])
