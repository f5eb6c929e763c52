"""The interval test: which moves labels and distances prove optimal, and where to measure next.

**Premise.** V is the cost-to-go in the world. Every label Y(z) is within ε of V(z), a goal without
a label costs 0, no cost is negative, and every arc of the graph can be used at a cost of no more
than its length. The world may have arcs that the graph lacks.

**Intervals.** With d(x → z) the length of the shortest path on the graph, define

    M(x) = min over labels z of  Y(z) + ε + d(x → z),
    W(x) = max(0, max over labels z of  Y(z) − ε − d(z → x)).

Then W ≤ V ≤ M. *Proof.* V(x) ≤ d(x → z) + V(z) and V(z) ≤ d(z → x) + V(x), and costs are not
negative. ∎

**Interval test.** *The plan moves from s to c. If ℓ(s, c) + M(c) ≤ ℓ(s, b) + W(b) for every other
arc s → b, then c is an optimal move among the arcs of s, provided these cost what the graph says.*
*Proof.* ℓ_c + V(c) ≤ ℓ_c + M(c) ≤ ℓ_b + W(b) ≤ ℓ_b + V(b). ∎ Ties are proved too; no test on the
lead of a move can do that. If all states of a route are proved, the route is optimal
(`certificates.gaps`).

**Error of any field.** |u − V| ≤ max(M − u, u − W). For the AMLE of exact labels on an undirected
graph W ≤ u ≤ M, so this is at most M − W. Let Γ be the set where M = W. It contains the labels and
every shortest path between labels z and w with Y(z) − Y(w) = d(z, w). If the graph is right, these
include all shortest paths from labels to a labelled goal. As M − W is 2-Lipschitz,
|u − V| ≤ 2 d(x, Γ). The paper's lemma on the AMLE's local extension error uses the distance to the
labels instead.

**Ends.** Let the graph be right and undirected. Call x an *end* if no neighbour y has
V(y) = V(x) + ℓ. *If the goal and all ends are labelled, M = W everywhere, so every 1-Lipschitz
extension is V.*
*Proof.* From x, move to such a neighbour and repeat. V rises at every move, so an end z is reached,
and x lies on a shortest path from z to the goal. ∎ A maze has about a dozen ends. `next_labels`
finds them, because M − W is wide there.

**Widest first.** Let the graph be undirected, and measure k labels, the goal first and then always
where M − W is widest. *Then M − W ≤ 4 h everywhere, with h the least fill distance of any k
labels.* *Proof.* Let w be the largest width at the end, at x. Widths only shrink, and M − W is at
most twice the distance to the labels, so the k labels and x are at least w / 2 apart from each
other. Of k + 1 such vertices, two have the same nearest label among any k, so one is at least w / 4
away from it. ∎ The paper's bound on the error, 2 h, holds for the best k labels; a rule that knows
nothing beforehand loses at most a factor of 2, and is exact as soon as all ends are labelled.

**Directed graphs.** Where paths back are long, d(z → x) is large, and W is low next to a label.
Such wide intervals say nothing about the moves. So the width at x counts as at most the distance
from x to the labels. (Chosen on 20 one-way mazes, 20 terrains and 20 replay graphs. On 40 others
of each kind the mean cost of plans is no higher than with the width alone, and lower on one-way
mazes.)

**Refutation.** If W > M somewhere, the premise is false: labels contradict each other or the graph
(`wayfield.contradictions` says which). Then nothing is proved. The converse does not hold: labels
may agree with a graph that is wrong elsewhere.

**Rounding.** M is rounded up and W down, sum by sum. Labels are rounded as well: a path summed in
doubles is off by up to n · 2⁻⁵³ of its length. So ε is the labels' error plus n · 2⁻⁵² · max |Y|.
The second term is left out if all lengths and labels are multiples of 2⁻²⁰, and neither the sum of
the lengths nor a label exceeds 2³²: then sums are exact. If ε = 0, nothing is rounded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..checks import KeepsReadOnly, as_vertex, as_whole, frozen
from ..errors import InputError
from ..graphs.graph import Graph, are_exact, check_graph
from ..graphs.labels import Labels, check_labels
from ..numerics.csr import Arcs
from ..numerics.doubledouble import EPSILON
from ..numerics.shortest import cone, sweep_cones
from ..plans.planning import Plan
from ..typing import BoolArray, FloatArray, IntArray
from ..words import percent
from .kernels import proved_moves


@dataclass(frozen=True, eq=False, repr=False)
class Intervals(KeepsReadOnly):
    """Intervals around the true cost-to-go, and what they prove about a plan.

    Attributes
    ----------
    lower, upper : (n,) float arrays
        W and M: the true cost-to-go lies between them. `upper` is +inf where no label can be
        reached.
    proved : (n,) bool array
        Whether the plan's move is optimal, provided that labels are right within their error and
        each arc costs what the graph says. True at the goal, False where there is no move.
    route_proved : (n,) bool array
        Whether the plan leads from this state to the goal by proved moves only.
    label_error : float
        ε: the error that the labels may have, including rounding.
    refuted : bool
        Whether labels and graph contradict each other; then nothing is proved.

    Examples
    --------
    >>> import wayfield as wf
    >>> ring = wf.Graph.from_edges(range(6), [1, 2, 3, 4, 5, 0])
    >>> answer = wf.solve(ring, wf.Labels([0, 2], [0.0, 2.0]), goal=0)
    >>> found = answer.certificate.intervals
    >>> found.lower, found.upper
    (array([0., 1., 2., 1., 0., 0.]), array([0., 1., 2., 3., 2., 1.]))
    >>> found.proved
    array([ True,  True,  True,  True,  True,  True])

    From 3 both directions cost 3. The plan's move is proved optimal, although it is a tie.
    """

    lower: FloatArray
    upper: FloatArray
    proved: BoolArray
    route_proved: BoolArray
    label_error: float
    refuted: bool

    def error_bound(self, lower: FloatArray, upper: FloatArray) -> FloatArray:
        """Return an (n,) bound on the error of a field between these bounds; +inf if unknown."""
        if self.refuted:
            return np.full(self.lower.size, np.inf)
        with np.errstate(invalid="ignore"):  # inf - inf: an infinite field says nothing here
            worst = np.maximum(self.upper - lower, upper - self.lower)
        return np.where(np.isnan(worst), np.inf, np.nextafter(np.maximum(worst, 0.0), np.inf))

    def __repr__(self) -> str:
        if self.refuted:
            return "Intervals(refuted: labels and graph contradict each other)"
        moves, routes = percent(self.proved.mean()), percent(self.route_proved.mean())
        return f"Intervals({moves} of moves proved optimal, {routes} of routes)"


def interval_test(graph: Graph, labels: Labels, plan: Plan) -> Intervals:
    """Return which moves of a plan labels and distances prove optimal, whatever the field.

    `certify` does the same and more. Of the plan only its goal and its moves count.

    Parameters
    ----------
    graph : Graph
        The graph that was planned on.
    labels : Labels
        The known values, right within their ``error``.
    plan : Plan
        Any plan on the graph.

    Examples
    --------
    >>> import wayfield as wf
    >>> ring = wf.Graph.from_edges(range(6), [1, 2, 3, 4, 5, 0])
    >>> plan = wf.plan(ring, [0.0, 1.0, 2.0, 9.0, 2.0, 1.0], goal=0)
    >>> interval_test(ring, wf.Labels([0, 2], [0.0, 2.0]), plan)
    Intervals(83.3 % of moves proved optimal, 83.3 % of routes)
    """
    check_labels(labels, graph)
    error = _label_error(graph, labels)
    at, goal, successor = labels.vertices, plan.goal, plan.successor
    arcs, reverse, local = graph.arcs, graph.reverse_arcs, graph.renumbered
    if local is not None:
        arcs = reverse = local.arcs
        at, goal = local.number[at], int(local.number[goal])
        successor = frozen(local.number[successor[local.order]].astype(successor.dtype))
    given = at, labels.values
    lower, upper = _intervals(arcs, reverse, graph.is_unit, given, goal, error)
    refuted = bool((lower > upper).any())
    if refuted:
        proved = routes = np.zeros(lower.size, dtype=bool)
    else:
        moves = arcs, lower, upper, successor, goal
        proved, routes = proved_moves(*moves, EPSILON if error else 0.0)
    if local is not None:
        lower, upper = lower[local.number], upper[local.number]
        proved, routes = proved[local.number], routes[local.number]
    return Intervals(
        lower=frozen(lower),
        upper=frozen(upper),
        proved=frozen(proved),
        route_proved=frozen(routes),
        label_error=error,
        refuted=refuted,
    )


def next_labels(graph: Graph, labels: Labels, goal: int, k: int = 1) -> NDArray[np.int64]:
    """Return the k states whose costs-to-go to measure next, the most useful one first.

    Each is the state with the widest interval around its true cost-to-go. On a directed graph an
    interval counts as no wider than the distance to the nearest label. The next state is chosen as
    if the middle of that interval had been measured. So measure one at a time if you can. The graph
    must be right: on a wrong one, distances do not bound the cost.

    Parameters
    ----------
    graph : Graph
        State graph; no arc costs more than its length.
    labels : Labels
        Costs-to-go measured so far.
    goal : int
        The goal.
    k : int
        Number of states. Fewer are returned once all costs-to-go are known.

    Examples
    --------
    On a path the farthest end determines everything:

    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges(range(9), range(1, 10))
    >>> wf.next_labels(path, wf.Labels([3], [0.0]), goal=3)
    array([9])
    >>> wf.next_labels(path, wf.Labels([0, 3, 9], [3.0, 0.0, 6.0]), goal=3, k=2)
    array([], dtype=int64)
    """
    n = check_graph(graph).num_vertices
    check_labels(labels, graph)
    goal, k = as_vertex(goal, "goal", n), as_whole(k, "k", least=1)
    error, sides = _label_error(graph, labels), (graph.arcs, graph.reverse_arcs, graph.is_unit)
    lower, upper = _intervals(*sides, (labels.vertices, labels.values), goal, error)
    if (lower > upper).any():
        raise InputError(
            f"labels contradict the graph, for example at vertex {np.argmax(lower - upper)}, "
            "so distances bound nothing; see wayfield.contradictions and wayfield.travel"
        )
    below, away = -lower, None
    if graph.directed:
        # distance to the labels: paths back may be much longer
        away = np.full(n, np.inf)
        known = np.union1d(labels.vertices, [goal])
        away[known] = 0.0
        cone(graph.reverse_arcs, known, away, graph.is_unit, 0.0)
    chosen: list[int] = []
    for _ in range(min(k, n)):
        width = np.where(np.isfinite(upper), upper + below, 0.0)
        # an interval as narrow as the labels' own error, or its rounding, cannot be narrowed
        width[width <= 2.000001 * error + 1e-9 * np.abs(upper)] = 0.0
        score = width if away is None else np.minimum(width, away)
        x = int(np.argmax(score))
        if score[x] == 0.0:
            break
        chosen.append(x)
        # as if the middle had been measured
        upper[x] = 0.5 * (upper[x] - below[x])
        below[x] = -upper[x]
        source = np.array([x])
        _spread(*sides, below, upper, (source, source))
        if away is not None:
            away[x] = 0.0
            cone(graph.reverse_arcs, source, away, graph.is_unit, 0.0)
    return np.array(chosen, dtype=np.int64)


def _intervals(
    arcs: Arcs,
    reverse: Arcs,
    unit: bool,
    labels: tuple[IntArray, FloatArray],
    goal: int,
    error: float,
) -> tuple[FloatArray, FloatArray]:
    """Return W and M."""
    slack = EPSILON if error else 0.0
    below, above = np.full((2, arcs.indptr.size - 1), np.inf)
    below[goal] = above[goal] = 0.0  # the goal costs 0 even if it has no label
    at, values = labels
    for side, given in ((below, -values), (above, values)):
        side[at] = np.nextafter(given + error, np.inf) if error else given
    if reverse is arcs:
        changed = sweep_cones(arcs, above, below, slack)
    else:
        changed = 2 * (np.flatnonzero(np.isfinite(above)),)
    _spread(arcs, reverse, unit, below, above, changed, slack)
    return np.maximum(-below, 0.0), above


def _spread(
    arcs: Arcs,
    reverse: Arcs,
    unit: bool,
    below: FloatArray,
    above: FloatArray,
    sources: tuple[IntArray, IntArray],
    slack: float = 0.0,
) -> None:
    """Lower −W (`below`) and M (`above`) in place, along paths from their sources."""
    for rows, side, changed in ((reverse, above, sources[0]), (arcs, below, sources[1])):
        if changed.size:
            order = changed[np.argsort(side[changed])].astype(np.int64)
            cone(rows, order, side, unit, slack)


def _label_error(graph: Graph, labels: Labels) -> float:
    """Return the labels' error, plus their rounding unless all sums are exact."""
    size = float(np.abs(labels.values).max())
    if graph.sums_exactly and are_exact(labels.values, size):
        return labels.error
    return float(np.nextafter(labels.error + graph.num_vertices * EPSILON * size, np.inf))
