"""Decisions: which moves of a field the truth proves right, and how well it ranks neighbours.

# The half-gap test: where the error of a field is too small to change a decision

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

**Corollary (AMLE planner-admissibility certificate).** On an undirected graph let u be the exact
AMLE of labels within ε_lab of the truth, the goal among them, and h(N(s)) the largest distance from
a neighbour of s to its nearest label. Then ε_s ≤ ε_lab + 2 h(N(s)), since u and V* change by at
most the distance to a label. So the lemma and the theorem hold with 2 h(N(s)) + ε_lab < Δ*_s / 2 in
place of the half-gap: of the field, only its labels count. `amle_half_gap`. On unit lengths a
finite gap is at most 2, so with exact labels the premise asks for labels at all neighbours.

None has a converse: a right action may lack the half-gap, and a walk that lacks it may arrive.

All three are about argmin Q on the very field that is audited. A plan by another rule or on other
values is compared with the truth too, but these statements do not cover it. Arcs may be one-way
and of any length. On other than unit lengths `holds` asks for the half-gap with room for
rounding, and for optimal arcs long enough to show in the truth's digits, so that what it certifies
is true of the plan as computed.

**Infinite values** mean "cannot reach". A field and the truth that agree on that differ by 0, one
alone makes ε_s infinite, and then nothing holds at s. States that cannot reach the goal decide
nothing: they are left out of every share, and counted.

# The ordering audit: how well a field ranks the neighbours of every state

At a state s with d = d(s) neighbours both Q* and Q_u = ℓ + u(y) rank them. Two measures:

- Kendall's **τ-b**, which takes ties out of account: (concordant - discordant pairs) over the
  geometric mean of the numbers of pairs either ranking tells apart. Undefined, NaN, where there
  are fewer than two neighbours or one ranking ties them all; such decisions are left out of the
  figures about τ and kept in the others. True Q-values tie up to rounding (see ``inputs``), the
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
that are `blurred` are left out of both, and counted.

# Expected ordinal fidelity: what a distribution of action gaps and one of errors say together

Draw a decision s with two neighbours or more from μ, then a pair of its neighbours. Let δ be the
distance of their true Q-values. The pair is *inverted* if δ > 0 and the field does not rank it as
the truth does. By the lemma of `ordering`, then δ ≤ 2 ε_s.

**Theorem (expected ordinal fidelity).** Let G be the distribution of gaps, G(t) = P(0 < δ ≤ t), and
H that of local errors, H(t) = P(2 ε_s > t). Whatever the dependence of gaps and errors,

    P(inverted) ≤ P(0 < δ ≤ 2 ε_s) ≤ min over t ≥ 0 of  G(t) + H(t),
    E[τ_nbr] ≥ 1 - 2 P(δ = 0) - 2 min over t of (G(t) + H(t)).

*Proof.* If 0 < δ ≤ 2 ε_s then δ ≤ t or 2 ε_s > t, for every t. Without inversions only pairs with
δ = 0 count in τ_nbr, and each pair takes 2 from it. ∎

**It is sharp.** For any n gaps and n errors there is a graph with n decisions of these gaps and
errors in which equality holds. *Proof.* Connect a gap with every error of at least half of it. The
gaps up to t and the errors beyond t / 2 cover all these connections, for every t; each least cover
is of that form, and by König's theorem there are as many disjoint connections. Give each connected
pair to one decision of two neighbours, whose values err by ε upwards and downwards. ∎

**Rate.** If G(t) ≤ C t^α, then by Markov's inequality, with m = E[2 ε_s],

    P(inverted) ≤ min over t of (C t^α + m / t) = (1 + α) α^(-α/(1+α)) C^(1/(1+α)) m^(α/(1+α)).

The paper's corollary on bad tails has m^α, from G_s(t) ≤ C₀ t^α at *every* decision, for the share
G_s of pairs at most t apart. No C₀ satisfies this where neighbours tie and there is no error, as
on every maze. Here the bound on G is assumed on average only. The price is the smaller exponent
α / (1 + α).

Any bound on the errors serves as ε_s. That of `wayfield.certify(…).error_bound` needs no truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..certificates.kernels import along_walks
from ..checks import as_floats, as_vertex, frozen, refuse
from ..errors import InputError
from ..fields import AMLE, check_field, extend
from ..graphs.graph import Graph, check_graph
from ..graphs.labels import Labels, check_labels, label_distance
from ..plans.planning import Plan
from ..typing import BoolArray, FloatArray
from . import inputs, kernels

LOW_TAU = 0.5
"""A ranking with a smaller τ-b counts as poor."""


@dataclass(frozen=True)
class FailureBound(inputs.Tally):
    """The path-existential bound on failures beside the failures; several goals add up with ``+``.

    Attributes
    ----------
    starts : int
        Number of starts that can reach the goal, each as often as it was given.
    broken : int
        Those with a state of ε ≥ Δ* / 2 on their walk.
    failed : int
        Those whose walk does not reach the goal; at most `broken` for argmin Q on the field that
        was audited.
    excluded : int
        Number of starts that cannot reach the goal.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield.audit import half_gap, pool
    >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> fields = {0: [0.0, 1.0, 2.0, 3.0], 3: [0.0, 1.0, 1.0, 0.0]}
    >>> audits = [half_gap(path, u, wf.cost_to_go(path, goal), goal) for goal, u in fields.items()]
    >>> found = pool(audit.failure_bound() for audit in audits)
    >>> found.starts, round(found.bound, 3), round(found.failure, 3)
    (6, 0.5, 0.333)
    """

    starts: int
    broken: int
    failed: int
    excluded: int

    @property
    def bound(self) -> float:
        """Share of walks that meet a state with ε ≥ Δ* / 2; NaN if no start can reach the goal."""
        return inputs.share(self.broken, self.starts)

    @property
    def failure(self) -> float:
        """Share of walks that do not reach the goal; NaN if no start can."""
        return inputs.share(self.failed, self.starts)


@dataclass(frozen=True)
class HalfGapCounts(inputs.Tally):
    """Decisions where the half-gap holds; those of several goals add up with ``+``.

    Attributes
    ----------
    decisions, holding : int
        States that decide, and those of them where it holds.
    met, met_holding : int
        The same, each state as often as the walks from the starts meet it.
    """

    decisions: int
    holding: int
    met: int
    met_holding: int


@dataclass(frozen=True, eq=False, repr=False)
class HalfGap(inputs.FrozenArrays):
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
        return np.asarray(self.regret == 0.0)

    @property
    def start_holds(self) -> BoolArray:
        """(n,) bool: the theorem's premise, ε < Δ* / 2 all along the walk from this start."""
        return self.first_break < 0

    @property
    def untied(self) -> BoolArray:
        """(n,) bool: whether exactly one neighbour is optimal."""
        graph = self.graph
        counts = np.bincount(graph.tails[self.optimal], minlength=graph.num_vertices)
        return np.asarray(counts == 1)

    def optimal_actions(self, state: int) -> NDArray[np.int64]:
        """List A*(state), the optimal neighbours, ascending."""
        s = as_vertex(state, "state", self.graph.num_vertices)
        row = slice(self.graph.indptr[s], self.graph.indptr[s + 1])
        return self.graph.indices[row][self.optimal[row]].astype(np.int64)

    def failure_bound(self, starts: ArrayLike | None = None) -> FailureBound:
        """Return the path-existential bound on the failure probability, and that probability.

        Parameters
        ----------
        starts : (k,) array of vertices, optional
            Where walks begin, repeats counted. Default: every vertex except the goal.
        """
        start = inputs.starts_of(self.graph, starts, self.goal)
        known = start[self.decides[start] | (start == self.goal)]
        broken, failed = ~self.start_holds[known], ~self.plan.reached[known]
        counts = known.size, int(broken.sum()), int(failed.sum())
        return FailureBound(*counts, excluded=start.size - known.size)

    def counts(self, starts: ArrayLike | None = None) -> HalfGapCounts:
        """Count the decisions where it holds, all of them and along the walks from the starts.

        Parameters
        ----------
        starts : (k,) array of vertices, optional
            Where walks begin, repeats counted. Default: every vertex except the goal.
        """
        met, holds = inputs.visits_from(self.plan, starts) * self.decides, self.holds & self.decides
        counts = self.decides.sum(), holds.sum(), met.sum(), met[holds].sum()
        return HalfGapCounts(*map(int, counts))

    def __repr__(self) -> str:
        total = int(self.decides.sum())
        states = inputs.share(int((self.holds & self.decides).sum()), total)
        starts = inputs.share(int((self.start_holds & self.decides).sum()), total)
        lost = self.decides.size - total - 1
        cut = f", {lost:,} cannot reach the goal" if lost else ""
        return (
            f"HalfGap({total:,} decisions: {states:.1%} hold, "
            f"{starts:.1%} hold all along their walk{cut})"
        )


def half_gap(
    graph: Graph, field: inputs.Field, truth: ArrayLike, goal: int, plan: Plan | None = None
) -> HalfGap:
    """Test ε < Δ* / 2 at every state, and along the walk from every start.

    Lemma (local action-ordering preservation), Theorem (planner-admissibility certificate): where
    it holds the plan's move is optimal, and where it holds all along the walk reaches the goal.

    Parameters
    ----------
    graph : Graph
        State graph, directed or not.
    field : Extension or (n,) array
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
    values, cost = check_field(graph, field), inputs.check_truth(graph, truth, goal)
    return judge(inputs.plan_on(graph, values, goal, plan), values, cost)


def amle_half_gap(
    graph: Graph, labels: Labels, truth: ArrayLike, goal: int, plan: Plan | None = None
) -> HalfGap:
    """Test ε_lab + 2 h(N(s)) < Δ* / 2 at every state, and along the AMLE's walk from every start.

    Corollary (AMLE planner-admissibility certificate): `half_gap` for the exact AMLE, with a bound
    on its error from the labels alone. ``error`` of the result is that bound.

    Parameters
    ----------
    graph : Graph
        Undirected state graph.
    labels : Labels
        Labels within their ``error`` of the truth, the goal among them.
    truth : (n,) array
        The cost-to-go V*; checked by the Bellman identity.
    goal : int
        Where plans lead.
    plan : Plan, optional
        A plan on the exact AMLE of these labels; the paper's, argmin Q with index ties, if not
        given.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges(range(6), range(1, 7))
    >>> V = wf.cost_to_go(path, 0)
    >>> amle_half_gap(path, wf.Labels([0, 1, 2, 3], V[[0, 1, 2, 3]]), V, goal=0)
    HalfGap(6 decisions: 50.0% hold, 33.3% hold all along their walk)
    """
    goal = as_vertex(goal, "goal", check_graph(graph).num_vertices)
    cost = inputs.check_truth(graph, truth, goal)
    error = _label_errors(graph, labels, cost, goal)
    field = extend(graph, labels, AMLE(bracket=False), unreachable="nan")
    values = check_field(graph, field)
    return judge(inputs.plan_on(graph, values, goal, plan), values, cost, error)


def _label_errors(graph: Graph, labels: Labels, truth: FloatArray, goal: int) -> FloatArray:
    """Return the (n,) bound ε_lab + 2 h(N(s)) on the AMLE's local error, if the premise holds."""
    if graph.directed:
        raise InputError("the bound from label distances is for undirected graphs")
    if not check_labels(labels, graph).mask(graph)[goal]:
        raise InputError(f"the goal {goal} is not labelled")
    true = truth[labels.vertices]
    refuse(np.isinf(true), labels.vertices, "label vertices", "cannot reach the goal")
    off = np.abs(labels.values - true) > labels.error + inputs.rounding(graph) * true
    refuse(off, labels.values, "label values", "is off the truth by more than its error")
    far = label_distance(graph, labels)
    return labels.error + 2.0 * kernels.local_errors(graph.arcs, far, np.zeros(far.size))


def judge(
    plan: Plan, values: FloatArray, truth: FloatArray, error: FloatArray | None = None
) -> HalfGap:
    """Apply the half-gap test to a plan and a field, or to a bound on its local error.

    Nothing is checked.
    """
    graph, goal = plan.graph, plan.goal
    arcs, relative = graph.arcs, inputs.rounding(graph)
    optimal, gap = kernels.true_actions(arcs, truth, goal, relative)
    if error is None:
        error = kernels.local_errors(arcs, values, truth)
    # 2 ε < Δ*, with room for the rounding of Q-values of the size of the rival's. Rivals worse
    # than the second best have larger Q-values and larger gaps: room that suffices for the second
    # best suffices for them. On unit lengths there is nothing to round but ε, and rounding is
    # monotone: ε ≥ Δ* / 2 stays so.
    second = np.where(np.isfinite(gap), truth + gap, 0.0)
    with np.errstate(over="ignore"):
        holds: BoolArray = 2.0 * error * (1.0 + relative) + relative * second < gap
    unclear = inputs.blurred(graph, truth, optimal)
    holds[unclear] = False
    holds[goal] = True
    decides = np.isfinite(truth)
    decides[goal] = False
    regret = kernels.regrets(arcs, truth, goal, optimal, plan.successor)
    first_break = along_walks(plan.successor, goal, gap, holds)[2]
    return HalfGap(
        graph, goal, plan, decides, optimal, unclear, gap, error, holds, regret, first_break
    )


@dataclass(frozen=True)
class Scope(inputs.Tally):
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
    paired, paired_tau_low, paired_tau_sum : int, int, float
        Decisions with two neighbours or more, those of them where the paper's printed formula
        ``1 - 4 I / (d (d - 1))`` is below 0.5, and its sum.
    excluded : int
        Visits of states that cannot reach the goal or are blurred, left out of all above.
    """

    decisions: int
    ranked: int
    low_tau: int
    agreed: int
    tau_sum: float
    regret_sum: float
    paired: int
    paired_tau_low: int
    paired_tau_sum: float
    excluded: int


@dataclass(frozen=True, eq=False, repr=False)
class Ordering(inputs.FrozenArrays):
    """How a field ranks neighbours, state by state and over two scopes of decisions.

    Attributes
    ----------
    tau : (n,) float array
        Kendall's τ-b; NaN where undefined, and where `half_gap.decides` is False.
    tau_nbr : (n,) float array
        The paper's 1 - 4 I / (d (d - 1)); NaN with fewer than two neighbours, and where
        `half_gap.decides` is False.
    visits : (n,) int64 array
        Visits by the walks from the starts.
    half_gap : HalfGap
        The half-gap test of the same field and plan.
    truth : (n,) float array
        The cost-to-go.
    """

    tau: FloatArray
    tau_nbr: FloatArray
    visits: NDArray[np.int64]
    half_gap: HalfGap
    truth: FloatArray

    @cached_property
    def all(self) -> Scope:
        """Every decision once."""
        return self.scope(self.half_gap.decides.astype(np.int64))

    @cached_property
    def eval_rollouts(self) -> Scope:
        """Every decision as often as the walks from the starts meet it."""
        return self.scope(self.visits)

    @cached_property
    def bound(self) -> FloatArray:
        """(n,) gap-dependent lower bound on τ_nbr: 1 - 4 M(2 ε) / (d (d - 1)). NaN as for τ_nbr."""
        return frozen(self._bound_for(2.0 * self.half_gap.error))

    def amle_bound(self, labels: Labels) -> FloatArray:
        """Return a lower bound on τ_nbr of the exact AMLE of these labels, from their density.

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
        audit = self.half_gap
        return self._bound_for(2.0 * _label_errors(audit.graph, labels, self.truth, audit.goal))

    def _bound_for(self, widths: FloatArray) -> FloatArray:
        """Return 1 - 4 M(η) / (d (d - 1)) for the (n,) gaps η = `widths`."""
        graph = self.half_gap.graph
        q = graph.lengths + self.truth[graph.indices]
        pairs = kernels.small_gap_pairs(graph.indptr, q, widths, inputs.rounding(graph))
        return _per_pair(self.half_gap, pairs)

    def scope(self, counts: NDArray[np.int64]) -> Scope:
        """Return the figures of decisions weighted by (n,) visit counts."""
        audit = self.half_gap
        judged = audit.decides & ~audit.blurred
        met = judged & (counts > 0)
        weight, tau, regret = counts[met], self.tau[met], audit.regret[met]
        ranked = ~np.isnan(tau)
        printed = self.tau_nbr[met]
        paired = ~np.isnan(printed)
        lost = ~judged
        lost[audit.goal] = False
        return Scope(
            decisions=int(weight.sum()),
            ranked=int(weight[ranked].sum()),
            low_tau=int(weight[tau < LOW_TAU].sum()),
            agreed=int(weight[regret == 0.0].sum()),
            tau_sum=float(weight[ranked] @ tau[ranked]),
            regret_sum=float(weight @ regret),
            paired=int(weight[paired].sum()),
            paired_tau_low=int(weight[printed < LOW_TAU].sum()),
            paired_tau_sum=float(weight[paired] @ printed[paired]),
            excluded=int(counts[lost].sum()),
        )

    def __repr__(self) -> str:
        scope = self.eval_rollouts
        tau, low = (inputs.share(part, scope.ranked) for part in (scope.tau_sum, scope.low_tau))
        right = inputs.share(scope.agreed, scope.decisions)
        return (
            f"Ordering({scope.decisions:,} decisions on rollouts: mean τ {tau:.3f}, "
            f"{low:.1%} below 0.5, {right:.1%} choose the best)"
        )


def ordering(
    graph: Graph,
    field: inputs.Field,
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
    field : Extension or (n,) array
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
    values, cost = check_field(graph, field), inputs.check_truth(graph, truth, goal)
    audit = judge(inputs.plan_on(graph, values, goal, plan), values, cost)
    q, relative = graph.lengths + cost[graph.indices], inputs.rounding(graph)
    ranks = inputs.ranks(graph, values)
    tau, inversions = kernels.neighbour_orders(graph.indptr, q, ranks, relative)
    return Ordering(
        tau=np.where(audit.decides, tau, np.nan),
        tau_nbr=_per_pair(audit, inversions),
        visits=inputs.visits_from(audit.plan, starts),
        half_gap=audit,
        truth=cost,
    )


def _per_pair(audit: HalfGap, pairs: NDArray[np.int64]) -> FloatArray:
    """Return 1 - 4 · pairs / (d (d - 1)); NaN where fewer than two neighbours are ranked."""
    degree = audit.graph.degrees.astype(np.float64)
    ranked = audit.decides & (degree >= 2)
    value = np.full(degree.size, np.nan)
    value[ranked] = 1.0 - 4.0 * pairs[ranked] / (degree[ranked] * (degree[ranked] - 1.0))
    return value


@dataclass(frozen=True)
class Fidelity:
    """Shares of pairs of neighbours, a decision drawn uniformly and then a pair.

    Attributes
    ----------
    inverted : float
        Pairs of different true cost that the field does not rank as the truth does.
    overlap : float
        Pairs of different true cost, by no more than twice the local error.
    bound : float
        The theorem's: the most that `overlap` can be for these distributions of gaps and errors.
    tied : float
        Pairs of equal true cost.
    """

    inverted: float
    overlap: float
    bound: float
    tied: float


def fidelity(audit: Ordering, error: ArrayLike | None = None) -> Fidelity:
    """Bound the expected share of inverted pairs by the distributions of gaps and errors.

    Theorem (expected ordinal fidelity). Decisions with two neighbours or more, each once.

    Parameters
    ----------
    audit : Ordering
        Of the field in question.
    error : (n,) array, optional
        Bound on the error of the values; their true error if not given.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield import audit
    >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> rough = audit.ordering(path, [0.0, 2.0, 2.0, 1.0], wf.cost_to_go(path, 0), goal=0)
    >>> fidelity(rough)
    Fidelity(inverted=0.5, overlap=0.5, bound=0.5, tied=0.0)
    """
    half, graph = audit.half_gap, audit.half_gap.graph
    local = half.error
    if error is not None:
        given = as_floats(error, "error", graph.num_vertices)
        refuse(~(given >= 0.0), given, "error", "is not a bound of at least 0")
        local = kernels.local_errors(graph.arcs, given, np.zeros(given.size))
    relative = inputs.rounding(graph)
    rounded = relative * np.where(np.isfinite(audit.truth), audit.truth, 0.0)
    twice = 2.0 * local * (1.0 + relative) + rounded
    decides = half.decides & ~half.blurred & (graph.degrees >= 2)
    states = np.flatnonzero(decides)
    if not states.size:
        return Fidelity(0.0, 0.0, 0.0, 0.0)
    # all pairs of slots of one row
    slots = [np.arange(graph.num_arcs - k) for k in range(1, int(graph.degrees.max()))]
    first = np.concatenate(slots)
    second = np.concatenate([some + k for k, some in enumerate(slots, 1)])
    at = graph.tails[first]
    kept = (at == graph.tails[second]) & decides[at]
    first, second, at = first[kept], second[kept], at[kept]
    q, field = (graph.lengths + values[graph.indices] for values in (audit.truth, half.plan.values))
    with np.errstate(invalid="ignore"):  # two neighbours without a path to the goal tie
        gap = np.nan_to_num(np.abs(q[first] - q[second]), nan=0.0, posinf=inf)
        swapped = ~((q[first] - q[second]) * (field[first] - field[second]) > 0.0)
        apart = gap > relative * np.minimum(q[first], q[second])
    degree = graph.degrees[at].astype(np.float64)
    weight = 2.0 / (degree * (degree - 1.0)) / states.size
    overlap = apart & (gap <= twice[at])
    # G rises and H falls in steps: the least sum is at 0 or where H has just fallen
    order = np.argsort(gap[apart])
    rises = np.concatenate([[0.0], np.cumsum(weight[apart][order])])
    ends = np.sort(twice[states])
    t = np.concatenate([[0.0], ends])
    below = rises[np.searchsorted(gap[apart][order], t, "right")]
    beyond = 1.0 - np.searchsorted(ends, t, "right") / ends.size
    return Fidelity(
        inverted=float(weight[apart & swapped].sum()),
        overlap=float(weight[overlap].sum()),
        bound=float((below + beyond).min()),
        tied=float(weight[~apart].sum()),
    )
