"""The fill-distance certificate: a field is close to the truth near its labels.

**Error bound.** Let V be the true cost-to-go, u the field, Y(z) = u(z) the labels with
|Y - V| ≤ ε, and L ≥ 1 such that u(x) - u(y) ≤ L ℓ on every arc x → y. V obeys the same with 1 on
any lengths: from x one can go to y and on. Let ρ(x) be the least round trip
d(x → z) + d(z → x) to a label z. Then

    |u(x) - V(x)|  ≤  ε + L ρ(x),

on an undirected graph ε + 2 L h(x), with h the distance to the nearest label.

*Proof.* Along a path of length a = d(x → z) both fields fall by at most L a, and along one of
length b = d(z → x) by at most L b. So u(x) lies in [Y(z) - L b, Y(z) + L a] and V(x) in
[Y(z) - ε - L b, Y(z) + ε + L a], and two numbers from these differ by at most ε + L (a + b). ∎

**The constant** L is computed from the field, with bracket and rounding included. So the bound
holds for any method, with noisy labels, directed or not; the goal need not be labelled. The AMLE of
exact labels has L = 1, whatever its fill: V(z) - V(w) ≤ d(z → w), the AMLE is nowhere steeper than
its steepest pair of labels, and filled vertices fall by no more than the path costs. On an
undirected graph the
*bound* of the plain AMLE holds with L = 1 for noisy labels too, though the field may be steeper
(the paper's lemma on the AMLE's local extension error): it moves by no more than its labels do, so
it is within ε of the AMLE of the exact ones, to which the bound with ε = 0 applies.

This requires all the extended labels, each within ε of the truth. A field steeper than 1 although
ε = 0 shows that other labels were used as well: then its own L is used. With ε > 0 nothing shows
it, and missing labels make the bound wrong.

Round trips are computed step by step, over arcs that have a reverse. On a directed graph this may
overstate ρ, which is +inf beyond one-way arcs. In return it costs only one search.

**True gap.** Let Δ be a lower bound, over all states, on how much worse than the best move any
non-optimal move is. It comes from the graph. If all closed walks, arcs walked backwards counting
negative, have lengths that are multiples of m, two walks with the same ends differ by a multiple of
m; and Q*(s, y) is the length of a walk from s to the goal that begins with y. So Δ = m: 1 on unit
lengths, 2 if the graph is bipartite besides, the greatest common divisor of the lengths or twice
it on other undirected graphs, +inf if all walks with the same ends are equally long (no move is
worse than another). Lengths without a common measure have none: Δ = 0, nothing is certified. Any
doubles have one, but unless sums of n lengths are doubles too, labels are not that exact.

**Verdict** (the paper's corollary on AMLE admissibility). *Let |u - V| ≤ e on the neighbours of s
that can reach the goal, and the move c of the plan among them. If 2 e + δ < Δ, where
δ = max(0, -gap(s)) is how far c is from the least Q of these, then c is optimal.*

*Proof.* Let a be optimal and c not. Then Q(c) ≥ Q*(c) - e ≥ Q*(a) + Δ - e ≥ Q(a) + Δ - 2e, but
Q(c) ≤ Q(a) + δ. So Δ ≤ 2e + δ. ∎ Where c has the least Q, δ = 0, this is e < Δ/2.

**It is weak.** On a unit bipartite maze 2 (2h) < 2 leaves h = 0: it certifies only states with all
neighbours labelled, and on an arbitrary unit graph no other. The same bound can be compared with
the field's own gaps, vertex by vertex: ``certify(graph, labels, ext, plan,
error=cert.by_distance.bound)``. This requires nothing of the lengths, but it never certifies a tie.
Where ties are common, as on a lattice, it certifies less. Neither test implies the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._arrays import KeepsReadOnly, frozen
from ..extension import AMLE, Extension
from ..kernels._types import BoolArray, FloatArray
from ..kernels.certificates import (
    along_walks,
    distance_verdicts,
    error_bounds,
    period,
    round_trips,
    steepest_descent,
)
from ..kernels.csr import Arcs
from ..kernels.fill import fill
from ..labels import Labels
from ..plans import Plan


@dataclass(frozen=True, eq=False, repr=False)
class DistanceCertificate(KeepsReadOnly):
    """What the distance from the labels proves about the field and the plan's moves.

    Attributes
    ----------
    round_trip : (n,) float array
        Length of a round trip to a label, ρ; twice the fill distance on an undirected graph.
    bound : (n,) float array
        Bound on the field's error, ε + L ρ. 0 where the field is rightly +inf because the goal
        cannot be reached; +inf where it is wrongly finite there, and where nothing is known.
    local : (n,) float array
        The largest bound among a state's out-neighbours that can reach the goal.
    certified : (n,) bool array
        Whether the move is optimal by this bound and `gap_bound` alone.
    start_certified : (n,) bool array
        Whether the walk from each start reaches the goal through such states.
    label_error : float
        ε, the bound on the labels' error that they came with.
    lipschitz : float
        L of the bound: 1 for the plain AMLE on an undirected graph, which may be steeper if its
        labels are noisy; else a bound on the steepest descent of the field and of the truth.
    gap_bound : float
        Δ, a lower bound on the true action gap; 0 if the graph gives none.
    graph_kind : str
        The structure of the graph that gives `gap_bound`.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield.certificates import certify
    >>> path = wf.Graph.from_edges(range(5), range(1, 6))
    >>> labels = wf.Labels([0, 5], [0.0, 5.0])
    >>> field = wf.extend(path, labels, wf.AMLE())
    >>> cert = certify(path, labels, field, wf.plan(path, field.values, goal=0))
    >>> cert.by_distance.bound
    array([0., 2., 4., 4., 2., 0.])
    """

    round_trip: FloatArray
    bound: FloatArray
    local: FloatArray
    certified: BoolArray
    start_certified: BoolArray
    label_error: float
    lipschitz: float
    gap_bound: float
    graph_kind: str

    def __repr__(self) -> str:
        known = self.bound[np.isfinite(self.bound)]
        error = f"error at most {known.max():.3g}" if known.size else "no bound on the error"
        share = f"{self.certified.sum():,} of {self.certified.size:,} states certified"
        gap = f"true gap ≥ {self.gap_bound:g}"
        return f"DistanceCertificate({self.graph_kind}, {gap}: {share}, {error})"


def distance_certificate(
    labels: Labels, ext: Extension, plan: Plan, gap: FloatArray
) -> DistanceCertificate:
    """Bound the field's error by the distance from its labels, and check the plan's moves by it.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield.certificates import certify
    >>> path = wf.Graph.from_edges(range(4), range(1, 5))
    >>> labels = wf.Labels([0, 1, 2, 3], [0.0, 1.0, 2.0, 3.0])
    >>> ext = wf.extend(path, labels, wf.AMLE())
    >>> near = certify(path, labels, ext, wf.plan(path, ext.values, goal=0)).by_distance
    >>> near
    DistanceCertificate(unit bipartite, true gap ≥ 2: 4 of 5 states certified, error at most 2)
    >>> near.bound, near.certified
    (array([0., 0., 0., 0., 2.]), array([ True,  True,  True, False,  True]))
    """
    graph = plan.graph
    # least round trips to a label over arcs that have a reverse, rounded up; inf without one
    both_ways = graph.arcs
    if graph.directed:
        both_ways = Arcs(*round_trips(graph.arcs, graph.reverse_arcs))
    trip = np.zeros(graph.num_vertices)
    fill(both_ways, labels.mask(graph), trip, 1.0 if graph.directed else 2.0, 1)

    # the constant L; without a bracket the values themselves are the field
    lower = ext.values if ext.lower is None else ext.lower
    upper = ext.values if ext.upper is None else ext.upper
    bracketed = ext.lower is not None and ext.upper is not None
    classical = isinstance(ext.method, AMLE) and ext.method.fill in (None, "flat")
    plain = classical and bracketed and ext.prior is None and not graph.directed
    # lower minus upper is the least that the exact field can fall
    if plain and (labels.error > 0.0 or steepest_descent(graph.arcs, upper, lower) == 1.0):
        lipschitz = 1.0
    else:
        lipschitz = float(steepest_descent(graph.arcs, lower, upper))
    bound = error_bounds(trip, lipschitz, labels.error)
    says_lost = np.isinf(plan.values)
    bound[says_lost | ~plan.reachable] = np.inf
    bound[says_lost & ~plan.reachable] = 0.0

    # the true gap; 0 if costs-to-go, its multiples, need not be doubles
    true_gap = float(period(graph.arcs, graph.reverse_arcs))
    if true_gap * 2.0**53 < graph.num_vertices * float(graph.lengths.max(initial=0.0)):
        true_gap = 0.0
    kinds = {0.0: "general lengths", np.inf: "walks equally long"}
    if graph.is_unit:
        kinds |= {1.0: "unit", 2.0: "unit bipartite"}
    of_period = f"unit, period {true_gap:g}" if graph.is_unit else f"lengths of period {true_gap:g}"
    relevant = frozen(np.where(plan.reachable, bound, 0.0))
    local, safe = distance_verdicts(graph.arcs, relevant, gap, true_gap, plan.goal)
    certified = frozen(safe)
    _, _, first_weak = along_walks(plan.successor, plan.goal, gap, certified)
    return DistanceCertificate(
        round_trip=frozen(trip),
        bound=frozen(bound),
        local=frozen(local),
        certified=certified,
        start_certified=frozen(plan.reached & (first_weak < 0)),
        label_error=labels.error,
        lipschitz=lipschitz,
        gap_bound=true_gap,
        graph_kind=kinds.get(true_gap, of_period),
    )
