"""The two fields that the paper compares: the equations of the truth, and wrong rankings.

# Geometry: which operator the true cost-to-go satisfies where

On an undirected graph let the slopes of V* at x be (V*(y) - V*(x)) / ℓ over the neighbours y. All
lie in [-1, 1], since |V*(y) - V*(x)| ≤ ℓ. x is *geodesically extendable away from the goal* if one
is +1: some shortest path to the goal runs through x.

**Proposition (distance is graph-AMLE on the extendable interior; prop:3.7).** At x ≠ goal the
smallest slope is -1 (Bellman), so V* satisfies the AMLE's equation there, largest slope = minus
the smallest, if and only if x is extendable. This is true of any lengths; on unit ones the equation
is the midrange identity V*(x) = (min + max) / 2.

**Corollary (harmonic residual of the shortest-path distance; cor:harmonic-residual).** On unit
lengths slopes are +1, 0 or -1, n₊, n₀ and n₋ of them, and the averaging residual is

    Σ V*(y) / deg - V*(x) = (n₊ - n₋) / deg:

V* is harmonic at x if and only if n₊ = n₋. Since n₋ ≥ 1 at x ≠ goal, n₊ = n₋ makes x extendable:
nowhere is V* harmonic and not AMLE. On other lengths slopes lie in between as well, the identity
is lost, and `HARMONIC` alone does occur: slopes -1, 1/2 and 1/2. The residual is then the weighted
one, Σ slope / Σ (1 / ℓ), of the harmonic extension with conductances 1 / ℓ.

A decision at x looks at x and its neighbours, its *scope*. Over the scope an equation holds if it
does at each of these states: `over_scope`. A walk's last step is never compatible with either, for
its scope holds the goal.

The goal has slopes +1 alone: it satisfies neither equation. Where an arc is too short to show in
the digits of V* (see ``inputs``) its slope cannot be read, and the state has no class.

# Mechanism: where harmonic ranking goes wrong, and whether the AMLE puts it right

The decisions are those the harmonic plan's walks meet, each as often as it is met; the goal, where
a walk that arrives ends, is none. A decision has a geometry class, by the equations that the true
cost satisfies, at the state itself and over its *scope*, the state and its neighbours. One is
*untied* if one neighbour alone is truly optimal. It is *inverted* if the harmonic field ranks a
worse neighbour strictly before that one. An inversion is *corrected* if the AMLE's move at the same
state is optimal, *certified* if ε_s < Δ*_s / 2 for the AMLE there, which makes it so.

**Proposition (combined AMLE-vs-harmonic local separation; prop:local-separation).** At a state
where (i) ε_s < Δ*_s / 2 for the AMLE, and (ii) some b ∉ A*(s) has Q_h(s, b) < Q_h(s, a) for every
a ∈ A*(s), the AMLE's move is optimal and the harmonic one is not: (i) by the half-gap lemma, (ii)
because no minimiser of Q_h is in A*(s). Both are counted, ties or no ties, and so is how often the
conclusion is seen, which for argmin-Q plans is always.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import as_vertex
from ..errors import InputError
from ..fields import check_field
from ..graphs.graph import Graph, check_graph
from ..plans.planning import Plan
from ..plans.planning import plan as greedy_plan
from ..typing import BoolArray, FloatArray
from . import inputs
from .decisions import judge
from .kernels import misranked, operator_residuals


class Compatible(IntEnum):
    """Which equations the true cost-to-go satisfies at a state."""

    BLURRED = -2
    """Not known: an arc is too short to show in the digits of V*; never on unit lengths."""
    UNREACHABLE = -1
    """The goal cannot be reached, so there is nothing to classify."""
    NEITHER = 0
    """Neither the AMLE's nor the harmonic one."""
    AMLE = 1
    """The AMLE's alone: the paper's primary geometry."""
    HARMONIC = 2
    """The harmonic one alone; never on unit lengths."""
    BOTH = 3
    """Both."""


@dataclass(frozen=True, eq=False, repr=False)
class Geometry(inputs.FrozenArrays):
    """How the true cost-to-go sits among its neighbours' values.

    Attributes
    ----------
    n_plus, n_zero, n_minus : (n,) int64 arrays
        Neighbours with V*(y) - V*(x) = ℓ, strictly between, and -ℓ; 0 where there is no class.
    midrange_residual : (n,) float array
        Half the sum of the largest and the smallest slope; on unit lengths (min + max) / 2 - V*.
        NaN where there is no class, and at a goal without neighbours.
    averaging_residual : (n,) float array
        Σ slope / Σ (1 / ℓ); on unit lengths mean - V*, which is (n₊ - n₋) / deg. NaN likewise.
    code : (n,) int64 array
        A `Compatible` for every state.
    """

    n_plus: NDArray[np.int64]
    n_zero: NDArray[np.int64]
    n_minus: NDArray[np.int64]
    midrange_residual: FloatArray
    averaging_residual: FloatArray
    code: NDArray[np.int64]

    @property
    def known(self) -> BoolArray:
        """(n,) bool: whether the state has a class."""
        return self.code >= Compatible.NEITHER

    @property
    def extendable(self) -> BoolArray:
        """(n,) bool: whether a shortest path to the goal runs through here, or ends here."""
        return self.n_plus > 0

    @property
    def primary(self) -> BoolArray:
        """(n,) bool: AMLE-compatible and harmonic-incompatible."""
        return np.asarray(self.code == Compatible.AMLE)

    def __repr__(self) -> str:
        known = self.code[self.known]
        kinds = (Compatible.BOTH, Compatible.AMLE, Compatible.NEITHER)
        both, primary, neither = ((known == kind).mean() for kind in kinds)
        return (
            f"Geometry({known.size:,} states: {both:.1%} both compatible, {primary:.1%} AMLE only, "
            f"{neither:.1%} neither)"
        )


def check_undirected(graph: Graph) -> None:
    """Refuse a directed graph."""
    if check_graph(graph).directed:
        raise InputError(
            "the operators compared here are those of undirected graphs: the harmonic extension "
            "has no directed form"
        )


def geometry(graph: Graph, truth: ArrayLike, goal: int) -> Geometry:
    """Classify every state by the equations that the true cost-to-go satisfies there.

    Proposition (distance is graph-AMLE on the extendable interior), Corollary (harmonic residual
    of the shortest-path distance). Undirected graphs of any lengths; the corollary's counting is
    for unit ones.

    Examples
    --------
    >>> import wayfield as wf
    >>> comb = wf.Graph.from_edges([0, 1, 2, 1], [1, 2, 3, 4])
    >>> shape = geometry(comb, wf.cost_to_go(comb, 0), goal=0)
    >>> shape
    Geometry(5 states: 20.0% both compatible, 20.0% AMLE only, 60.0% neither)
    >>> shape.n_plus - shape.n_minus, shape.primary
    (array([ 1,  1,  0, -1, -1]), array([False,  True, False, False, False]))
    """
    check_undirected(graph)
    goal = as_vertex(goal, "goal", graph.num_vertices)
    return classify(graph, inputs.check_truth(graph, truth, goal), goal)


def classify(graph: Graph, truth: FloatArray, goal: int) -> Geometry:
    """Classify every state of an undirected graph; nothing is checked."""
    reachable, unclear = np.isfinite(truth), inputs.blurred(graph, truth)
    known = reachable & ~unclear
    residuals = operator_residuals(graph.arcs, truth, known, inputs.rounding(graph))
    signs, midrange, average, balanced = residuals
    amle = signs[:, 0] > 0
    amle[goal] = False
    code = Compatible.AMLE * amle + Compatible.HARMONIC * balanced
    code[unclear] = Compatible.BLURRED
    code[~reachable] = Compatible.UNREACHABLE
    return Geometry(signs[:, 0], signs[:, 1], signs[:, 2], midrange, average, code)


def over_scope(graph: Graph, code: NDArray[np.int64]) -> NDArray[np.int64]:
    """Classify every state by the equations that hold at it and at all of its neighbours.

    Parameters
    ----------
    graph : Graph
        Undirected.
    code : (n,) int64 array
        A `Compatible` for every state.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    >>> shape = geometry(path, wf.cost_to_go(path, 0), goal=0)
    >>> shape.code, over_scope(path, shape.code)
    (array([0, 3, 3, 3, 0]), array([0, 0, 3, 0, 0]))
    """
    # the two equations are the two bits of a class, and what is not known has a sign of its own
    scope = code.copy()
    np.bitwise_and.at(scope, graph.tails, np.maximum(code, 0)[graph.indices])
    np.minimum.at(scope, graph.tails, np.where(code < 0, code, Compatible.BOTH)[graph.indices])
    return np.where(code < 0, code, scope)


_CLASSES = {
    "both": Compatible.BOTH,
    "primary": Compatible.AMLE,
    "harmonic_only": Compatible.HARMONIC,
    "neither": Compatible.NEITHER,
}


@dataclass(frozen=True)
class Mechanism(inputs.Tally):
    """Counts of decisions on harmonic rollouts; those of several goals add up with ``+``.

    Attributes
    ----------
    decisions : int
        All of them.
    arrivals : int
        Walks that end at the goal, which is no decision.
    both, primary, harmonic_only, neither : int
        Decisions by which equation the true cost satisfies at the state: both, the AMLE's alone,
        the harmonic alone (on unit lengths never), neither.
    scope_both, scope_primary, scope_harmonic_only, scope_neither : int
        The same over the scope: an equation holds if it does at the state and at all neighbours.
    untied : int
        Decisions with one optimal neighbour.
    inversions : int
        Untied ones where the harmonic field ranks a worse neighbour strictly first.
    inversions_primary, inversions_scope_primary : int
        Inversions in the primary geometry, AMLE-compatible and harmonic-incompatible, at the
        state and over the scope.
    corrected : int
        Inversions where the AMLE's move is optimal.
    certified : int
        Inversions where ε < Δ* / 2 for the AMLE.
    separated : int
        Decisions, ties included, where both clauses of the separation proposition hold.
    separated_seen : int
        Those of them where the AMLE's move is optimal and the harmonic one is not.
    excluded : int
        Visits of states that cannot reach the goal, or in whose scope an arc is too short to show
        in the truth's digits; left out of all above.
    """

    decisions: int
    arrivals: int
    both: int
    primary: int
    harmonic_only: int
    neither: int
    scope_both: int
    scope_primary: int
    scope_harmonic_only: int
    scope_neither: int
    untied: int
    inversions: int
    inversions_primary: int
    inversions_scope_primary: int
    corrected: int
    certified: int
    separated: int
    separated_seen: int
    excluded: int


def mechanism(
    graph: Graph,
    harmonic: inputs.Field,
    amle: inputs.Field,
    truth: ArrayLike,
    goal: int,
    starts: ArrayLike | None = None,
    plan: Plan | None = None,
) -> Mechanism:
    """Count inversions on the harmonic plan's walks, and those that the AMLE corrects.

    Proposition (combined AMLE-vs-harmonic local separation), and the figures of the paper's
    mechanism audit. Undirected graphs.

    Parameters
    ----------
    graph : Graph
        Undirected state graph.
    harmonic, amle : Extension or (n,) array
        The two fields; any two will do.
    truth : (n,) array
        The cost-to-go V*; checked by the Bellman identity.
    goal : int
        Where plans lead.
    starts : (k,) array of vertices, optional
        Starts of the walks, repeats counted; every vertex but the goal if not given.
    plan : Plan, optional
        The harmonic plan whose walks are meant; the paper's, argmin Q with index ties, if not
        given. The AMLE moves by the same rule. A plan on other values is compared with the
        truth as it is, and owes its outcome to nothing here.

    Examples
    --------
    >>> import wayfield as wf
    >>> tails, heads = [0, 0, 5, 1, 3, 3, 6, 4], [3, 5, 1, 4, 4, 6, 7, 7]
    >>> seven = wf.Graph.from_edges(tails, heads, num_vertices=8)  # the paper's; 2 stands alone
    >>> labels = wf.Labels([0, 2, 7], [0.0, 0.0, 3.0])
    >>> fields = [wf.extend(seven, labels, method) for method in (wf.Harmonic(), wf.AMLE())]
    >>> audit = mechanism(seven, *fields, wf.cost_to_go(seven, 0), goal=0, starts=[4])
    >>> audit.inversions, audit.corrected, audit.certified
    (1, 1, 0)
    """
    return separated_states(graph, harmonic, amle, truth, goal, plan).count(starts)


@dataclass(frozen=True, eq=False, repr=False)
class SeparatedStates(inputs.FrozenArrays):
    """What `mechanism` counts, state by state: one field's decisions serve many sets of starts.

    Attributes
    ----------
    plan : Plan
        The harmonic plan.
    decides : (n,) bool array
        Which states are decisions.
    counted : dict of (n,) bool arrays
        For each count of `Mechanism`, by its name: the states that it counts.
    """

    plan: Plan
    decides: BoolArray
    counted: dict[str, BoolArray]

    def count(self, starts: ArrayLike | None = None) -> Mechanism:
        """Count along the harmonic walks from some starts; from all if none are given."""
        visits = inputs.visits_from(self.plan, starts)
        met, arrivals = visits * self.decides, int(visits[self.plan.goal])
        counts = {name: int(where @ met) for name, where in self.counted.items()}
        excluded = int(visits.sum() - met.sum()) - arrivals
        return Mechanism(**counts, arrivals=arrivals, excluded=excluded)


def separated_states(
    graph: Graph,
    harmonic: inputs.Field,
    amle: inputs.Field,
    truth: ArrayLike,
    goal: int,
    plan: Plan | None = None,
) -> SeparatedStates:
    """Return where each count of `mechanism` holds; its parameters, but for the starts."""
    check_undirected(graph)
    goal = as_vertex(goal, "goal", graph.num_vertices)
    smooth, sharp = check_field(graph, harmonic), check_field(graph, amle)
    cost = inputs.check_truth(graph, truth, goal)
    shape = classify(graph, cost, goal)
    route = inputs.plan_on(graph, smooth, goal, plan)
    other = greedy_plan(graph, sharp, goal, route.rule, route.ties, route.tie_tolerance)
    by_harmonic, by_amle = judge(route, smooth, cost), judge(other, sharp, cost)

    inverted = misranked(graph.indptr, inputs.ranks(graph, smooth), by_harmonic.optimal)
    untied = by_harmonic.untied
    inversion = untied & inverted
    separated = by_amle.holds & inverted
    seen = separated & by_amle.chosen_optimal & ~by_harmonic.chosen_optimal

    scope = over_scope(graph, shape.code)
    decides = scope >= Compatible.NEITHER
    decides[goal] = False
    counted = {
        "decisions": decides,
        **{name: shape.code == code for name, code in _CLASSES.items()},
        **{f"scope_{name}": scope == code for name, code in _CLASSES.items()},
        "untied": untied,
        "inversions": inversion,
        "inversions_primary": inversion & shape.primary,
        "inversions_scope_primary": inversion & (scope == Compatible.AMLE),
        "corrected": inversion & by_amle.chosen_optimal,
        "certified": inversion & by_amle.holds,
        "separated": separated,
        "separated_seen": seen,
    }
    return SeparatedStates(route, decides, counted)
