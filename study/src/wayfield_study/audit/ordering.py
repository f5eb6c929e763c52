"""The ordering audit: how well a field ranks the neighbours of every state.

At a state s with d = d(s) neighbours both Q* and Q_u = ℓ + u(y) rank them. Two measures:

- Kendall's **τ-b**, which takes ties out of account: (concordant - discordant pairs) over the
  geometric mean of the numbers of pairs either ranking tells apart. Undefined, NaN, where there
  are fewer than two neighbours or one ranking ties them all; such decisions are left out of the
  figures about τ and kept in the others. True Q-values tie up to rounding (see ``_inputs``), the
  field's where they are the same number. The paper's tables show τ-b: on mazes true ties abound,
  and a field that tells all four neighbours apart where two are optimal has at most 4/√24 = 0.82.
- The paper's **τ_nbr** = 1 - 4 I / (d (d - 1)), I being the number of inversions between the two
  rankings, ties in both broken by index. This is the one its statements are about.

**Lemma (gap-dependent local ordinal fidelity; lem:3.6.X).** With M_s(η) the number of pairs whose
true Q-values differ by at most η, τ_nbr(s) ≥ 1 - 4 M_s(2 ε_s) / (d (d - 1)): a pair further apart
than 2 ε_s cannot swap. `Ordering.bound`.

**Corollary (end-to-end ordinal fidelity; cor:3.6.X.3).** For the AMLE of labels with error at most
ε_lab, ε_s ≤ ε_lab + 2 L h(N(s)), h(N(s)) being the largest distance from a neighbour of s to its
nearest label and L the Lipschitz constant of V*, so M_s(2 ε_lab + 4 L h(N(s))) may stand above.
L = 1, since V*(x) ≤ ℓ + V*(y) along every arc. `Ordering.amle_bound`.

**Scopes.** `all`: every state that decides, once. `eval_rollouts`: by how often the plan's walks
from the starts visit it; a walk ends at the goal or at the first state it has seen before. States
that are `blurred` (see ``half_gap``) are left out of both, and counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfield._arrays import as_vertex, frozen, refuse
from wayfield.errors import InputError
from wayfield.extension import Extension
from wayfield.graph import Graph, check_graph
from wayfield.kernels._types import FloatArray
from wayfield.labels import Labels, check_labels, label_distance
from wayfield.lifting import check_field
from wayfield.plans import Plan

from ..kernels.decisions import local_errors, neighbour_orders, small_gap_pairs
from ._inputs import check_truth, plan_on, ranks, rounding, true_q, visits_from
from ._tally import Tally, share
from .half_gap import HalfGap, judge

LOW_TAU = 0.5
"""A ranking with a smaller τ-b counts as poor."""


@dataclass(frozen=True)
class Scope(Tally):
    """Figures of the decisions in one scope; scopes of several goals add up with ``+``.

    Attributes
    ----------
    decisions : int
        Decisions, each as often as it is met.
    ranked : int
        Those where τ-b is defined.
    low_tau : int
        Those where it is below 0.5.
    agreed : int
        Decisions whose move is truly optimal.
    tau_sum : float
        Sum of τ-b over the ranked decisions.
    regret_sum : float
        Sum of the true gaps Q*(s, chosen) - min Q*; inf if a state has no move or moves to one
        that cannot reach the goal.
    excluded : int
        Visits of states that cannot reach the goal or are blurred, left out of all above.
    """

    decisions: int
    ranked: int
    low_tau: int
    agreed: int
    tau_sum: float
    regret_sum: float
    excluded: int

    @property
    def tau_lt_05_rate(self) -> float:
        """Share of the ranked decisions with τ-b below 0.5."""
        return share(self.low_tau, self.ranked)

    @property
    def best_agree_rate(self) -> float:
        """Share of the decisions whose move is truly optimal."""
        return share(self.agreed, self.decisions)

    @property
    def mean_beta_true_gap(self) -> float:
        """Mean true gap of the chosen action."""
        return share(self.regret_sum, self.decisions)

    @property
    def positive_gap_rate(self) -> float:
        """Share of the decisions whose move is not optimal."""
        return share(self.decisions - self.agreed, self.decisions)

    @property
    def tau_mean(self) -> float:
        """Mean τ-b of the ranked decisions."""
        return share(self.tau_sum, self.ranked)


@dataclass(frozen=True, eq=False, repr=False)
class Ordering:
    """How a field ranks neighbours, state by state and over two scopes of decisions.

    Attributes
    ----------
    tau : (n,) float array
        Kendall's τ-b; NaN where undefined, and where `half_gap.decides` is False.
    tau_nbr : (n,) float array
        The paper's 1 - 4 I / (d (d - 1)); NaN with fewer than two neighbours, and where
        `half_gap.decides` is False.
    bound : (n,) float array
        Its gap-dependent lower bound 1 - 4 M(2 ε) / (d (d - 1)), NaN at the same states.
    visits : (n,) int64 array
        Visits by the walks from the starts.
    half_gap : HalfGap
        The half-gap test of the same field and plan.
    truth : (n,) float array
        The cost-to-go.
    """

    tau: FloatArray
    tau_nbr: FloatArray
    bound: FloatArray
    visits: NDArray[np.int64]
    half_gap: HalfGap
    truth: FloatArray

    @cached_property
    def all(self) -> Scope:
        """Every decision once."""
        return self._scope(self.half_gap.decides.astype(np.int64))

    @cached_property
    def eval_rollouts(self) -> Scope:
        """Every decision as often as the walks from the starts meet it."""
        return self._scope(self.visits)

    def amle_bound(self, labels: Labels) -> FloatArray:
        """Lower bound on τ_nbr of the exact AMLE of these labels, from their density alone.

        Corollary (end-to-end ordinal fidelity), with ``labels.error`` for ε_lab: undirected
        graphs, the goal labelled, every label within its error of the truth. (n,) floats, NaN
        where `tau_nbr` is.

        Examples
        --------
        >>> import wayfield as wf
        >>> star = wf.Graph.from_edges([0, 1, 1], [1, 2, 3], lengths=[1.0, 5.0, 9.0])
        >>> V = wf.cost_to_go(star, 0)
        >>> ordering(star, V, V, goal=0).amle_bound(wf.Labels([0, 2, 3], V[[0, 2, 3]]))
        array([nan,  1., nan, nan])
        """
        graph, goal = self.half_gap.graph, self.half_gap.goal
        if graph.directed:
            raise InputError("the fill-distance bound of the AMLE is for undirected graphs")
        _check_close(graph, check_labels(labels, graph), self.truth, goal)
        far = label_distance(graph, labels)
        reach = local_errors(graph.arcs, far, np.zeros(far.size))
        widths = 2.0 * labels.error + 4.0 * reach
        pairs = small_gap_pairs(graph.indptr, true_q(graph, self.truth), widths, rounding(graph))
        return _per_pair(self.half_gap, pairs)

    def _scope(self, counts: NDArray[np.int64]) -> Scope:
        audit = self.half_gap
        judged = audit.decides & ~audit.blurred
        met = judged & (counts > 0)
        weight, tau, regret = counts[met], self.tau[met], audit.regret[met]
        ranked = ~np.isnan(tau)
        lost = ~judged
        lost[audit.goal] = False
        return Scope(
            decisions=int(weight.sum()),
            ranked=int(weight[ranked].sum()),
            low_tau=int(weight[tau < LOW_TAU].sum()),
            agreed=int(weight[regret == 0.0].sum()),
            tau_sum=float(weight[ranked] @ tau[ranked]),
            regret_sum=float(weight @ regret),
            excluded=int(counts[lost].sum()),
        )

    def __repr__(self) -> str:
        scope = self.eval_rollouts
        return (
            f"Ordering({scope.decisions:,} decisions on rollouts: mean τ {scope.tau_mean:.3f}, "
            f"{scope.tau_lt_05_rate:.1%} below 0.5, {scope.best_agree_rate:.1%} choose the best)"
        )


def ordering(
    graph: Graph,
    ext: Extension | ArrayLike,
    truth: ArrayLike,
    goal: int,
    plan: Plan | None = None,
    starts: ArrayLike | None = None,
) -> Ordering:
    """Compare the field's ranking of every state's neighbours with the true one.

    Lemma (gap-dependent local ordinal fidelity), Corollary (end-to-end ordinal fidelity), and
    the figures of the paper's ordering audit. Takes time Σ d(s)².

    Parameters
    ----------
    graph : Graph
        State graph, directed or not; neighbours are the heads of the arcs out of a state.
    ext : Extension or (n,) array
        The field u.
    truth : (n,) array
        The cost-to-go V*; checked by the Bellman identity.
    goal : int
        Where plans lead.
    plan : Plan, optional
        Whose moves and walks; the paper's, argmin Q with index ties, if not given.
    starts : (k,) array of vertices, optional
        Starts of the walks, repeats counted; every vertex but the goal if not given.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    >>> audit = ordering(path, [0.0, 3.0, 2.0, 1.5, 4.0], wf.cost_to_go(path, 0), 0, starts=[2])
    >>> audit
    Ordering(2 decisions on rollouts: mean τ 0.000, 50.0% below 0.5, 50.0% choose the best)
    >>> audit.tau
    array([nan,  1., -1.,  1., nan])
    """
    goal = as_vertex(goal, "goal", check_graph(graph).num_vertices)
    values, cost = check_field(graph, ext), check_truth(graph, truth, goal)
    audit = judge(plan_on(graph, values, goal, plan), values, cost)
    q, relative = true_q(graph, cost), rounding(graph)
    tau, inversions = neighbour_orders(graph.indptr, q, ranks(graph, values), relative)
    small = small_gap_pairs(graph.indptr, q, 2.0 * audit.error, relative)
    return Ordering(
        tau=frozen(np.where(audit.decides, tau, np.nan)),
        tau_nbr=_per_pair(audit, inversions),
        bound=_per_pair(audit, small),
        visits=visits_from(audit.plan, starts),
        half_gap=audit,
        truth=cost,
    )


def _per_pair(audit: HalfGap, pairs: NDArray[np.int64]) -> FloatArray:
    """1 - 4 · pairs / (d (d - 1)); NaN where nothing is decided between two neighbours or more."""
    degree = audit.graph.degrees.astype(np.float64)
    ranked = audit.decides & (degree >= 2)
    value = np.full(degree.size, np.nan)
    value[ranked] = 1.0 - 4.0 * pairs[ranked] / (degree[ranked] * (degree[ranked] - 1.0))
    return frozen(value)


def _check_close(graph: Graph, labels: Labels, truth: FloatArray, goal: int) -> None:
    if not labels.mask(graph)[goal]:
        raise InputError(f"the goal {goal} is not labelled")
    true = truth[labels.vertices]
    refuse(np.isinf(true), labels.vertices, "label vertices", "cannot reach the goal")
    off = np.abs(labels.values - true) > labels.error + rounding(graph) * true
    refuse(off, labels.values, "label values", "is off the truth by more than its error")
