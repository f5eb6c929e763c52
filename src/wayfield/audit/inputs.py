"""Checks of what every audit is given (a field, the truth, a plan), and counts that add up.

**Truth.** V* is the cost-to-go to the goal g if and only if V*(g) = 0, V* ≥ 0 and

    V*(x) = min over arcs x → y of ℓ + V*(y)        at every x ≠ g        (Bellman),

inf = inf included. Lengths are positive. So where V*(x) is finite, the arc that attains the minimum
leads strictly down, hence to g, and V*(x) is the cost of that walk. No walk is cheaper, since
V*(x) ≤ ℓ + V*(y) along all of its arcs. The identity has one solution. In floating point many
fields nearly solve it, some of them far from that one: errors add up along walks, and arcs too
short for the digits bind nothing. So a truth is compared with the solution itself, `cost_to_go`.

**Rounding.** On unit lengths the comparison is exact. Otherwise a value is a sum of at most n - 1
lengths, which floating point gives to a relative (n - 1) eps / 2 in any order; two values or
Q-values are *equal* if they differ by no more than `rounding` times the larger one.

**Blurred arcs.** An arc so short that rounding hides it in the truth at its ends may pass for
optimal both ways: the digits of V* do not say which end is nearer to the goal. A state with such an
arc among its best moves is *blurred*: nothing that rests on A* is judged there.

**Counts.** Over goals, cells and seeds a rate is the sum of counts over the sum of counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import reduce
from operator import add
from typing import Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import as_floats, as_list, as_vertex, as_vertices, frozen, owned, refuse
from ..errors import InputError
from ..fields import Extension
from ..graphs.graph import Graph, check_graph, same_graph
from ..graphs.shortest_paths import cost_to_go
from ..plans.kernels import visit_counts
from ..plans.planning import Plan
from ..plans.planning import plan as greedy_plan
from ..typing import BoolArray, FloatArray

EPS = float(np.finfo(np.float64).eps)

Field: TypeAlias = Extension | ArrayLike
"""A field under audit: an extension, or its (n,) values."""


class FrozenArrays:
    """A frozen dataclass that makes its arrays read-only."""

    def __post_init__(self) -> None:
        for name, value in list(vars(self).items()):
            if isinstance(value, np.ndarray):
                object.__setattr__(self, name, frozen(value))


def rounding(graph: Graph) -> float:
    """Return the relative difference below which true values count as equal: 0 or n · eps.

    A few eps more are for the sums an audit forms itself.
    """
    return 0.0 if graph.is_unit else (graph.num_vertices + 8) * EPS


def check_truth(graph: Graph, truth: ArrayLike, goal: int) -> FloatArray:
    """Return `truth` as a frozen array; raise `InputError` if it is not the cost-to-go to `goal`.

    It is the one solution of the Bellman identity; see the module.
    """
    n = check_graph(graph).num_vertices
    goal = as_vertex(goal, "goal", n)
    cost = as_floats(truth, "truth")
    if cost.size != n:
        raise InputError(f"truth has {cost.size} values but the graph has {n} vertices")
    refuse(~(cost >= 0.0), cost, "truth", "is not a cost: neither positive nor zero")
    if cost[goal] != 0.0:
        raise InputError(f"truth[{goal}] = {cost[goal]}, but vertex {goal} is the goal: 0 expected")
    solution = cost_to_go(graph, goal)
    low, high = np.minimum(cost, solution), np.maximum(cost, solution)
    wrong = np.flatnonzero(low < high * (1.0 - rounding(graph)))
    if wrong.size:
        worst = wrong[np.argmax(high[wrong] - low[wrong])]
        raise InputError(
            f"truth[{worst}] = {cost[worst]} violates the Bellman identity: "
            f"its solution there, the cost of the cheapest walk to {goal}, is {solution[worst]}"
        )
    return owned(cost)


def blurred(graph: Graph, truth: FloatArray, arcs: BoolArray | None = None) -> BoolArray:
    """Return (n,) bool: states with an arc, of `arcs` if given, too short for the truth's digits.

    Never on unit lengths.
    """
    where = np.zeros(graph.num_vertices, dtype=bool)
    if not graph.is_unit:
        short = graph.lengths <= 2.0 * rounding(graph) * truth[graph.tails]
        where[graph.tails[short if arcs is None else short & arcs]] = True
    return where


def ranks(graph: Graph, values: FloatArray) -> FloatArray:
    """Return (m,) floats by which a field ranks the arcs: ℓ + u(y).

    On unit lengths u(y) alone, as the planner does, so that adding 1 rounds nothing away.
    """
    return values[graph.indices] if graph.is_unit else graph.lengths + values[graph.indices]


def plan_on(graph: Graph, values: FloatArray, goal: int, plan: Plan | None) -> Plan:
    """Return the given plan, checked, or the paper's on these values: argmin Q, index ties."""
    if plan is None:
        return greedy_plan(graph, values, goal, rule="q", ties="index")
    if not isinstance(plan, Plan):
        raise InputError(f"plan must be a Plan, the result of wf.plan, got {type(plan).__name__}")
    n, other = check_graph(graph).num_vertices, plan.graph.num_vertices
    if other != n:
        raise InputError(f"the plan's graph has {other} vertices, but the graph has {n}")
    if not same_graph(plan.graph, graph):
        raise InputError("the plan belongs to another graph: its arcs differ")
    if plan.goal != goal:
        raise InputError(f"the plan leads to vertex {plan.goal}, but the goal is {goal}")
    return plan


def starts_of(graph: Graph, starts: ArrayLike | None, goal: int) -> NDArray[np.int64]:
    """Return the starts, repeats kept; every vertex but the goal if none are given."""
    if starts is None:
        return np.delete(np.arange(graph.num_vertices), goal)
    return as_vertices(starts, "starts", graph.num_vertices)


def visits_from(plan: Plan, starts: ArrayLike | None) -> NDArray[np.int64]:
    """Count how often the plan's walks from the starts visit every state, the goal included."""
    start = starts_of(plan.graph, starts, plan.goal)
    begun = np.bincount(start, minlength=plan.graph.num_vertices).astype(np.float64)
    return visit_counts(plan.successor, plan.goal, begun).astype(np.int64)


@dataclass(frozen=True)
class Tally:
    """A record whose fields are all counts or sums; two of them add field by field."""

    def __add__(self, other: Self) -> Self:
        if type(other) is not type(self):
            return NotImplemented
        return type(self)(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


Record = TypeVar("Record", bound=Tally)


def pool(records: Iterable[Record]) -> Record:
    """Add up tallies of one type, such as those of several goals, weighing every decision equally.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield.audit import ordering, pool
    >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> truths = [wf.cost_to_go(path, goal) for goal in (0, 3)]
    >>> pool(ordering(path, V, V, goal).all for V, goal in zip(truths, (0, 3))).decisions
    6
    """
    known = as_list(records, "records")
    if not known:
        raise InputError("there is nothing to pool")
    for position, record in enumerate(known):
        if not isinstance(record, Tally) or type(record) is not type(known[0]):
            kinds = f"{type(record).__name__}, records[0] {type(known[0]).__name__}"
            raise InputError(f"records must be tallies of one type: records[{position}] is {kinds}")
    return reduce(add, known)


def share(part: float, whole: float) -> float:
    """Return a part as a share of the whole; NaN if the whole is 0."""
    return part / whole if whole else float("nan")
