"""The mechanism audit: where harmonic ranking goes wrong, and whether the AMLE puts it right.

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

from collections.abc import Mapping
from dataclasses import dataclass

from numpy.typing import ArrayLike

from wayfield._arrays import as_vertex
from wayfield.extension import Extension
from wayfield.graph import Graph
from wayfield.lifting import check_field
from wayfield.plans import Plan
from wayfield.plans import plan as greedy_plan

from ..kernels.decisions import misranked
from ._inputs import check_truth, plan_on, ranks, visits_from
from ._tally import Tally, share
from .half_gap import judge
from .operators import Compatible, check_undirected, classify, over_scope

_CLASSES = {
    "both": Compatible.BOTH,
    "primary": Compatible.AMLE,
    "harmonic_only": Compatible.HARMONIC,
    "neither": Compatible.NEITHER,
}


@dataclass(frozen=True)
class Mechanism(Tally):
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

    @property
    def rates(self) -> Mapping[str, float]:
        """Shares, by name: of all decisions, of the untied ones, and of the inversions."""
        classes = (*_CLASSES, *(f"scope_{name}" for name in _CLASSES))
        primary = ("inversions_primary", "inversions_scope_primary")
        outcomes = (*primary, "corrected", "certified")
        return (
            {name: share(getattr(self, name), self.decisions) for name in classes}
            | {"inversions": share(self.inversions, self.untied)}
            | {name: share(getattr(self, name), self.inversions) for name in outcomes}
        )


def mechanism(
    graph: Graph,
    harmonic: Extension | ArrayLike,
    amle: Extension | ArrayLike,
    truth: ArrayLike,
    goal: int,
    starts: ArrayLike | None = None,
    plan: Plan | None = None,
) -> Mechanism:
    """Count inversions on the harmonic plan's walks, and what the AMLE makes of them.

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
    check_undirected(graph)
    goal = as_vertex(goal, "goal", graph.num_vertices)
    smooth, sharp = check_field(graph, harmonic), check_field(graph, amle)
    cost = check_truth(graph, truth, goal)
    shape = classify(graph, cost, goal)
    route = plan_on(graph, smooth, goal, plan)
    other = greedy_plan(graph, sharp, goal, route.rule, route.ties, route.tie_tolerance)
    by_harmonic, by_amle = judge(route, smooth, cost), judge(other, sharp, cost)

    inverted = misranked(graph.indptr, ranks(graph, smooth), by_harmonic.optimal)
    untied = by_harmonic.untied
    inversion = untied & inverted
    separated = by_amle.holds & inverted
    seen = separated & by_amle.chosen_optimal & ~by_harmonic.chosen_optimal

    visits = visits_from(route, starts)
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
    met = visits * decides
    counts = {name: int(met[where].sum()) for name, where in counted.items()}
    arrivals = int(visits[goal])
    return Mechanism(**counts, arrivals=arrivals, excluded=int(visits.sum() - met.sum()) - arrivals)
