"""The half-gap test: where the error of a field is too small to change a decision.

At a non-goal state s that can reach the goal,

    Q*(s, y) = ℓ(s, y) + V*(y),     A*(s) = argmin over y of Q*(s, y),
    Δ*_s = min over b ∉ A*(s) of Q*(s, b) - min Q*(s, ·)      (+inf where every y is optimal),
    ε_s  = max over y of |u(y) - V*(y)|.

**Lemma (local action-ordering preservation; lem:3.6.X.2).** If ε_s < Δ*_s / 2 then every minimiser
of ℓ + u(y) is in A*(s). For a ∈ A*(s) and b ∉ A*(s) the two Q-values move by at most ε_s each, so
Q_u(s, b) - Q_u(s, a) ≥ Δ*_s - 2 ε_s > 0.

**Theorem (planner-admissibility certificate; thm:planner-admissibility).** If that holds at every
non-goal state the argmin-Q walk from s₀ visits before it reaches the goal or repeats a state, then
every move of it is optimal, V* falls strictly, and it reaches the goal.

**Path-existential bound** (remark after the theorem). Hence for starts drawn from μ

    φ_μ = Pr[the walk fails] ≤ Pr[some state of the walk has ε ≥ Δ* / 2].

None has a converse: a right action may lack the half-gap, and a walk that lacks it may arrive.

All three are about argmin Q on the very field that is audited; a plan by another rule or on other
values is compared with the truth as it is, and owes its outcome to nothing here. Arcs may be
one-way and of any length. On other than unit lengths `holds` asks for the half-gap with room for
rounding, and for optimal arcs long enough to show in the truth's digits, so that what it certifies
is true of the plan as computed.

**Infinite values** mean "cannot reach". A field and the truth that agree on that differ by 0, one
alone makes ε_s infinite, and then nothing holds at s. States that cannot reach the goal decide
nothing: they are left out of every share, and counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfield._arrays import as_floats, as_vertex, frozen, refuse
from wayfield.errors import InputError
from wayfield.extension import Extension
from wayfield.graph import Graph, check_graph
from wayfield.kernels._types import BoolArray, FloatArray
from wayfield.kernels.walks import first_breaks
from wayfield.lifting import check_field
from wayfield.plans import Plan

from ..kernels.decisions import local_errors, regrets, true_actions
from ._inputs import blurred, check_truth, plan_on, rounding, starts_of
from ._tally import share


@dataclass(frozen=True)
class FailureBound:
    """The path-existential bound on the failure probability, beside the failures themselves.

    Attributes
    ----------
    bound : float
        Probability that the walk meets a state with ε ≥ Δ* / 2; NaN if no start can reach the
        goal.
    failure : float
        Probability that the walk does not reach the goal; at most `bound` for argmin Q on the
        field that was audited.
    excluded : int
        Number of starts that cannot reach the goal; the two above leave them out.
    """

    bound: float
    failure: float
    excluded: int


@dataclass(frozen=True, eq=False, repr=False)
class HalfGap:
    """The half-gap test at every state and along every walk.

    Attributes
    ----------
    decides : (n,) bool array
        Whether the state is not the goal and can reach it; the others decide nothing.
    optimal : (m,) bool array
        Whether an arc, in the order of ``graph.indices``, is truly optimal at its tail. False
        for arcs out of states that decide nothing.
    blurred : (n,) bool array
        Whether an arc that passes for optimal is too short to show in the truth's digits, so
        that it need not be. Never on unit lengths.
    gap : (n,) float array
        True action gap Δ*: +inf where every neighbour is optimal and at the goal, NaN where the
        goal cannot be reached.
    error : (n,) float array
        Local error ε: largest |u - V*| over the neighbours.
    holds : (n,) bool array
        Whether ε < Δ* / 2. True at the goal, False where it cannot be reached and where
        `blurred`.
    regret : (n,) float array
        True Q-value of the plan's move less V*: 0 where it is optimal and at the goal,
        inf where there is no move, NaN where the goal cannot be reached.
    first_break : (n,) int64 array
        First state on the walk from this start where `holds` is False; -1 if there is none.
    graph, goal, plan
        What was audited.
    """

    graph: Graph
    goal: int
    plan: Plan
    decides: BoolArray
    optimal: BoolArray
    blurred: BoolArray
    gap: FloatArray
    error: FloatArray
    holds: BoolArray
    regret: FloatArray
    first_break: NDArray[np.int64]

    @property
    def chosen_optimal(self) -> BoolArray:
        """(n,) bool: whether the plan's move is truly optimal; True at the goal."""
        optimal: BoolArray = self.regret == 0.0
        return optimal

    @property
    def start_holds(self) -> BoolArray:
        """(n,) bool: the theorem's premise, ε < Δ* / 2 all along the walk from this start."""
        holds: BoolArray = self.first_break < 0
        return holds

    @property
    def untied(self) -> BoolArray:
        """(n,) bool: whether exactly one neighbour is optimal."""
        running = np.concatenate([[0], np.cumsum(self.optimal)])
        alone: BoolArray = np.diff(running[self.graph.indptr]) == 1
        return alone

    def optimal_actions(self, state: int) -> NDArray[np.int64]:
        """List A*(state), the optimal neighbours, ascending."""
        s = as_vertex(state, "state", self.graph.num_vertices)
        row = slice(self.graph.indptr[s], self.graph.indptr[s + 1])
        return self.graph.indices[row][self.optimal[row]].astype(np.int64)

    def failure_bound(
        self, starts: ArrayLike | None = None, weights: ArrayLike | None = None
    ) -> FailureBound:
        """Path-existential bound on the failure probability, and that probability.

        Parameters
        ----------
        starts : (k,) array of vertices, optional
            Where walks begin, repeats allowed; every vertex but the goal if not given.
        weights : (k,) array, optional
            Their probabilities up to a common factor; equal if not given.
        """
        start = starts_of(self.graph, starts, self.goal)
        mass = np.ones(start.size) if weights is None else _weights(weights, start.size)
        known = self.decides[start] | (start == self.goal)
        start, mass, excluded = start[known], mass[known], int((~known).sum())
        total = mass.sum()
        bound = share(mass[~self.start_holds[start]].sum(), total)
        failure = share(mass[~self.plan.reached[start]].sum(), total)
        return FailureBound(float(bound), float(failure), excluded)

    def __repr__(self) -> str:
        total = int(self.decides.sum())
        states = share(int((self.holds & self.decides).sum()), total)
        starts = share(int((self.start_holds & self.decides).sum()), total)
        lost = self.decides.size - total - 1
        cut = f", {lost:,} cannot reach the goal" if lost else ""
        return (
            f"HalfGap({total:,} decisions: {states:.1%} hold, "
            f"{starts:.1%} hold all along their walk{cut})"
        )


def half_gap(
    graph: Graph,
    ext: Extension | ArrayLike,
    truth: ArrayLike,
    goal: int,
    plan: Plan | None = None,
) -> HalfGap:
    """Test ε < Δ* / 2 at every state, and along the walk from every start.

    Lemma (local action-ordering preservation), Theorem (planner-admissibility certificate): where
    it holds the plan's move is optimal, and where it holds all along the walk reaches the goal.

    Parameters
    ----------
    graph : Graph
        State graph, directed or not.
    ext : Extension or (n,) array
        The field u.
    truth : (n,) array
        The cost-to-go V*, `cost_to_go(graph, goal)`; checked by the Bellman identity.
    goal : int
        Where plans lead.
    plan : Plan, optional
        Whose moves and walks; the paper's, argmin Q with index ties, if not given.

    Examples
    --------
    >>> import wayfield as wf
    >>> square = wf.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> audit = half_gap(square, [0.0, 1.0, 1.8, 1.4], wf.cost_to_go(square, 0), goal=0)
    >>> audit
    HalfGap(3 decisions: 100.0% hold, 100.0% hold all along their walk)
    >>> audit.gap, audit.optimal_actions(2)
    (array([inf,  2., inf,  2.]), array([1, 3]))
    """
    goal = as_vertex(goal, "goal", check_graph(graph).num_vertices)
    values, cost = check_field(graph, ext), check_truth(graph, truth, goal)
    return judge(plan_on(graph, values, goal, plan), values, cost)


def judge(plan: Plan, values: FloatArray, truth: FloatArray) -> HalfGap:
    """Make the half-gap test of a plan and a field; nothing is checked."""
    graph, goal = plan.graph, plan.goal
    arcs, relative = graph.arcs, rounding(graph)
    optimal, gap = true_actions(arcs, truth, goal, relative)
    error = local_errors(arcs, values, truth)
    holds = _half_gap_holds(truth, gap, error, relative)
    unclear = blurred(graph, truth, optimal)
    holds[unclear] = False
    holds[goal] = True
    decides = np.isfinite(truth)
    decides[goal] = False
    return HalfGap(
        graph,
        goal,
        plan,
        decides=frozen(decides),
        optimal=frozen(optimal),
        blurred=frozen(unclear),
        gap=frozen(gap),
        error=frozen(error),
        holds=frozen(holds),
        regret=frozen(regrets(arcs, truth, goal, optimal, plan.successor)),
        first_break=frozen(first_breaks(plan.successor, goal, holds)),
    )


def _half_gap_holds(
    truth: FloatArray, gap: FloatArray, error: FloatArray, relative: float
) -> BoolArray:
    """Whether 2 ε < Δ*, with room for the rounding of Q-values of the size of the rival's.

    Rivals worse than the second best have larger Q-values and larger gaps: room that suffices
    for the second best suffices for them. On unit lengths there is nothing to round but ε, and
    rounding is monotone: ε ≥ Δ* / 2 stays so.
    """
    finite = np.isfinite(gap)
    second = np.where(finite, truth + gap, 0.0)
    with np.errstate(over="ignore"):
        needed = 2.0 * error * (1.0 + relative) + relative * second
    holds: BoolArray = needed < gap
    return holds


def _weights(weights: ArrayLike, size: int) -> FloatArray:
    mass = as_floats(weights, "weights", size)
    refuse(~((mass >= 0.0) & np.isfinite(mass)), mass, "weights", "is not a finite weight")
    if size and not mass.any():
        raise InputError("weights are all zero")
    return mass
