"""The least change of a graph: which arcs must cost more than given, and by how much.

**Problem.** Labels Y (costs to a goal g, Y(g) = 0) that the graph contradicts, and a price w per
unit by which an arc is lengthened:

    minimise  Σ w δ    subject to  d_{ℓ+δ}(i, z) ≥ Y(i) - Y(z)  for all labels i, z,   δ ≥ 0.

A field φ certifies the constraints: it suffices that φ = Y at the labels and φ(x) - φ(y) ≤ ℓ + δ
on every arc, and the field φ(x) = min over z of Y(z) + d_{ℓ+δ}(x, z) shows that it is necessary. So

    value  =  min over φ with φ = Y at the labels of  Σ w (φ(x) - φ(y) - ℓ)₊ .

*Error.* With an error ε, φ may differ from Y by up to ε at no price.

**Dual.** A flow f with 0 ≤ f ≤ w that is conserved away from the labels and leaves label i with
net amount b_i:

    bound  =  max over f of  Σ Y(i) b_i - ε Σ |b_i| - Σ ℓ f .

Every flow bounds every change from below, and at the optimum the two agree: the duality gap is the
proof. It is a minimum-cost flow ([1]_ for one pair of labels; [2]_, inverse optimisation). An arc
is lengthened only where it is saturated, f = w.

**Method.** (1) An arc is acquitted if it lies on no path between labels that is too short. This
is exact (`contradictions`). (2) Exact labels are merged into one root of potential 0. An arc out of
label x then has length ℓ - Y(x), and an arc into label y has length ℓ + Y(y). A label with an error
stays a vertex with two arcs of its own, to the root at Y + ε and from it at -(Y - ε). (3) Network
simplex (`kernels.network_simplex`) starts from the flow 0 and the tree of shortest paths to labels.
Its potentials are the upper bound of `contradictions`, so at first only arcs out of labels have
negative reduced cost.

**Verification.** Value and bound are evaluated anew on the whole graph, from the result alone. The
field comes from shortest paths, φ(x) = min over z of Y(z) + ε + d_{ℓ+δ}(x, z). This proves the
constraints along acquitted arcs as well. The bound is that of the flow. Where rounding leaves a
vertex with more inflow than outflow, the bound is reduced by the difference times twice the largest
label, since some least field lies within the range of the labels. With whole lengths, labels and
prices all of it is exact, and the gap is 0.

**Prices.** ``"unit"``: 1 for every arc; the value does not change when an arc is subdivided.
``"detour"``: 1 / d₋ₑ, where d₋ₑ is the length of the shortest path between the arc's ends that
avoids the arc. Between neighbours the detour is short. An edge between two distant states that only
look alike has a very long detour, and so it is cheap to lengthen. d₋ₑ is cut off at `FAR` times the
length.

**Odd edges only.** The least change explains *all* the labels by lengthening. Where the world is
slow everywhere, that isolates single labels. With ``only_odd`` the change is computed for all arcs,
but applied only to arcs with a detour of at least that many times their length: false shortcuts.
The rest is left to `Smooth`.

**Several goals.** One change per goal; each arc gets the largest lengthening. A joint optimum would
be a multi-commodity flow. The value is then the price of everything that is lengthened. Two lower
bounds hold for a change for all goals: the largest of the single bounds, and their sum over q if
the flows together are nowhere above q times the price.

An undirected edge is lengthened in both directions, even if only one needs it, and counts once.

References
----------
.. [1] D. R. Fulkerson, G. C. Harding, "Maximizing the minimum source-sink path subject to a budget
   constraint", Mathematical Programming 13 (1977).
.. [2] R. K. Ahuja, J. B. Orlin, "Inverse optimization", Operations Research 49 (2001).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, inf
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..certificates.contradiction import Envelopes, envelopes
from ..checks import as_choice, as_real
from ..fields import Status
from ..numerics.shortest import dijkstra
from ..typing import FloatArray
from .base import Fit, MendMethod, MendProblem
from .kernels.network_simplex import Network, circulation

FAR = 50.0
"""Detours are searched up to this many times the length of an arc."""

GAP = 1e-9
"""Largest duality gap of a verified change, as a share of the sums it is made of."""


@dataclass(frozen=True, eq=False)
class Change:
    """Least change for one goal, with its proof.

    Attributes
    ----------
    goal : int
        Goal of the costs.
    added : (m,) float array
        Lengthening of each arc, each direction on its own.
    field : (n,) float array
        φ: shortest paths to labels on the lengthened arcs; inf where no label can be reached.
    flow : (m,) float array
        The dual flow, nowhere above the price.
    value, bound : float
        Price of this change, and a lower bound on the price of every change.
    pivots : int
        Steps of the network simplex.
    status : Status
        CONVERGED: value and bound agree. BUDGET: the cap on pivots was reached; the change is
        valid, and the least change costs between `bound` and `value`.
    """

    goal: int
    added: FloatArray
    field: FloatArray
    flow: FloatArray
    value: float
    bound: float
    pivots: int
    status: Status

    @property
    def gap(self) -> float:
        """Largest possible difference to the price of the least change."""
        return self.value - self.bound


@dataclass(frozen=True)
class LeastChange(MendMethod):
    """Lengthen arcs at the least price until costs and graph agree: exact, with a proof.

    Parameters
    ----------
    price : {"detour", "unit"}
        Price per unit of lengthening: 1 divided by the length of the arc's detour, or 1.
    only_odd : float or None
        Lengthen only arcs with a detour of at least this many times their own length; None: all.
        The value is always that of the change of all arcs.

    Notes
    -----
    Costs that are upper bounds cannot show that a graph is too optimistic. Nothing is changed
    then, and the value is 0.

    Examples
    --------
    A ring of ten with a chord 0 - 5 that does not exist.

    >>> import wayfield as wf

    >>> from wayfield import travel
    >>> ring = wf.Graph.from_edges([*range(10), 0], [*range(1, 10), 0, 5])
    >>> labels = wf.Labels([0, 4, 5], [0.0, 4.0, 5.0])
    >>> mended = travel.mend(ring, labels, goal=0, method=travel.LeastChange())
    >>> mended
    Mended(1 of 11 edges costlier, by 4 in all)
    >>> ring.tails[mended.suspects], ring.indices[mended.suspects], mended.added[mended.suspects]
    (array([0], dtype=int32), array([5], dtype=int32), array([4.]))
    >>> round(mended.value, 12), round(mended.bound, 12)  # 4 at the price of 1 / 5
    (0.8, 0.8)
    """

    reads_bounds = False

    price: Literal["detour", "unit"] = "detour"
    only_odd: float | None = 4.0

    def __post_init__(self) -> None:
        as_choice(self.price, "price", ("detour", "unit"))
        if self.only_odd is not None:
            odd = as_real(self.only_odd, "only_odd", least=1.0, most=FAR)
            object.__setattr__(self, "only_odd", odd)

    @property
    def name(self) -> str:
        """Name of the method among candidates."""
        return "least change" if self.only_odd is None else "odd least change"

    def fit(self, problem: MendProblem) -> Fit:
        """Change the graph for each goal, and lengthen each arc by the largest of these changes.

        ``details``: "changes", one `Change` per goal.
        """
        graph = problem.graph
        if problem.upper:
            return Fit(graph.lengths, 0.0, 0.0, details={"changes": ()})
        # 1. detours of suspected arcs; other arcs keep their own length
        goals = [_labelled(problem, int(goal)) for goal in problem.goals]
        around = graph.lengths
        if self.only_odd is not None or self.price == "detour":
            suspect = np.any([labels.bounds.excess > 0 for labels in goals], axis=0)
            if not graph.directed:
                suspect |= suspect[problem.into]
            detours = problem.detours(graph.lengths, suspect, FAR)
            around = np.where(suspect, detours, graph.lengths)

        # 2. one flow problem per goal; prices of acquitted arcs do not matter
        price = 1.0 / around if self.price == "detour" else np.ones(around.size)
        changes = [_least_change(problem, labels, price) for labels in goals]

        # 3. the changes together
        added = np.max([change.added for change in changes], axis=0)
        if not graph.directed:
            added = np.maximum(added, added[problem.into])
        value, bound = changes[0].value, changes[0].bound
        if len(changes) > 1:  # value and bound of the changes for all goals together
            once = graph.directed | (graph.tails < graph.indices)
            value = fsum((price * added)[once])
            load = np.sum([change.flow for change in changes], axis=0)
            if not graph.directed:
                load += load[problem.into]
            crowding = max(float((load / price).max()), 1.0)
            bounds = [change.bound for change in changes]
            bound = max(max(bounds), fsum(bounds) / crowding)
        if self.only_odd is not None:
            added = np.where(around >= self.only_odd * graph.lengths, added, 0.0)
        return Fit(
            lengths=graph.lengths + added if added.any() else graph.lengths,
            value=value,
            bound=bound,
            status=max((change.status for change in changes), key=_SEVERITY.index),
            details={"changes": tuple(changes)},
        )


_SEVERITY = (Status.CONVERGED, Status.BUDGET, Status.UNVERIFIED)


class _Labelled(NamedTuple):
    """Costs to one goal as labels, and the bounds they imply; the goal is the last label."""

    goal: int
    vertices: NDArray[np.int64]
    values: FloatArray
    errors: FloatArray
    bounds: Envelopes


def _labelled(problem: MendProblem, goal: int) -> _Labelled:
    """Return the trips to one goal as labels."""
    trips = problem.ends == goal
    vertices = np.append(problem.starts[trips], goal)
    values = np.append(problem.costs[trips], 0.0)
    errors = np.append(np.full(vertices.size - 1, problem.error), 0.0)
    low, high = values - errors, values + errors
    bounds = envelopes(problem.graph, problem.into, vertices, low, high)
    return _Labelled(goal, vertices, values, errors, bounds)


def _least_change(problem: MendProblem, labels: _Labelled, price: FloatArray) -> Change:
    """Find the least lengthening and the largest flow for one goal, and verify them."""
    graph, tails, heads = problem.graph, problem.graph.tails, problem.graph.indices
    added, flow = np.zeros(graph.num_arcs), np.zeros(graph.num_arcs)
    low, high = labels.values - labels.errors, labels.values + labels.errors
    if not labels.bounds.excess.any():
        return _verified(problem, labels, price, added, flow, high, 0, True)

    # 1. exact labels are merged into the root, vertex 0 of the network
    exact = labels.errors == 0.0
    merged = np.zeros(graph.num_vertices, dtype=bool)
    merged[labels.vertices[exact]] = True
    value = np.zeros(graph.num_vertices)
    value[labels.vertices[exact]] = labels.values[exact]
    lengths = graph.lengths + value[heads] - value[tails]

    # 2. arcs of positive excess, their ends outside the root, and the shortest paths onward from
    # them. In exact arithmetic these have positive excess too, but rounding may have lost some
    kept, way = labels.bounds.excess > 0, labels.bounds.way
    live = np.zeros(graph.num_vertices, dtype=bool)
    live[tails[kept]] = True
    live[heads[kept]] = True
    live &= ~merged
    fresh = np.flatnonzero(live)
    while fresh.size:
        onward_arcs = way[fresh]
        onward_arcs = onward_arcs[onward_arcs >= 0]
        kept[onward_arcs] = True
        ends = heads[onward_arcs]
        fresh = np.unique(ends[~live[ends] & ~merged[ends]])
        live[fresh] = True
    size = 1 + int(np.count_nonzero(live))
    node = np.zeros(graph.num_vertices, np.int64)
    node[live] = np.arange(1, size)
    looped = merged[tails] & merged[heads]
    loops, arcs = np.flatnonzero(kept & looped), np.flatnonzero(kept & ~looped)

    # 3. the network: these arcs, then arcs from each label with an error to the root, then back
    soft = np.flatnonzero(live[labels.vertices])
    own, root = node[labels.vertices[soft]], np.zeros(soft.size, np.int64)
    network = Network(
        np.concatenate([node[tails[arcs]], own, root]),
        np.concatenate([node[heads[arcs]], root, own]),
        np.concatenate([lengths[arcs], high[soft], -low[soft]]),
        np.concatenate([price[arcs], np.full(2 * soft.size, inf)]),
    )
    # initial tree: a label that may move takes its own arc, unless another label is nearer
    start = np.full(size, -1)
    start[own] = arcs.size + np.arange(soft.size)
    place = np.full(graph.num_arcs, -1)
    place[arcs] = np.arange(arcs.size)
    onward = live & (way >= 0)
    start[node[onward]] = place[way[onward]]

    # 4. solve; an arc between two exact labels is a problem of its own: it carries all or nothing
    tolerance = 1e-11 * float(np.abs(network.costs).max(initial=0.0))
    cap = 20 * (size + network.tails.size) + 1000
    flows, potential, pivots, optimal = circulation(size, network, start, tolerance, cap)
    needed = potential[network.tails] - potential[network.heads] - network.costs
    added[arcs] = np.maximum(needed[: arcs.size], 0.0)
    flow[arcs] = flows[: arcs.size]
    added[loops] = np.maximum(-lengths[loops], 0.0)
    flow[loops] = np.where(added[loops] > 0, price[loops], 0.0)
    high[soft] = np.maximum(high[soft], potential[own])
    return _verified(problem, labels, price, added, flow, high, pivots, optimal)


def _verified(
    problem: MendProblem,
    labels: _Labelled,
    price: FloatArray,
    lengthened: FloatArray,
    flow: FloatArray,
    most: FloatArray,
    pivots: int,
    optimal: bool,
) -> Change:
    """Evaluate value and bound on the whole graph, from lengthening, labels and flow alone."""
    graph, tails, heads = problem.graph, problem.graph.tails, problem.graph.indices
    scale = float(np.abs(labels.values).max()) + problem.error
    rounding = 1e-11 * scale

    arcs = problem.arcs_to(graph.lengths + lengthened)
    field, _ = dijkstra(arcs, labels.vertices, most, 1.0)
    known = np.isfinite(field)
    inner = known[tails] & known[heads]
    added = np.zeros(graph.num_arcs)
    added[inner] = field[tails[inner]] - field[heads[inner]] - graph.lengths[inner]
    # labels may be far below the distances that lengthening is computed from
    digits = 4.0 * np.finfo(np.float64).eps * np.where(inner, field[tails], 0.0)
    added[added <= np.maximum(rounding, digits)] = 0.0
    off = np.abs(field[labels.vertices] - labels.values) - labels.errors
    broken = bool((off > rounding).any())
    value = fsum(price * added)

    balance = np.bincount(tails, flow, graph.num_vertices)
    balance -= np.bincount(heads, flow, graph.num_vertices)
    leaving = balance[labels.vertices]
    leaving[-1] = 0.0  # the goal's field is 0, whatever flows in
    balance[labels.vertices] = 0.0
    gained, spent = fsum(labels.values * leaving), fsum(graph.lengths * flow)
    spilt = 2.0 * scale * fsum(np.abs(balance))
    bound = max(gained - fsum(labels.errors * np.abs(leaving)) - spent - spilt, 0.0)

    agreed = value - bound <= GAP * (value + spent)
    if agreed and not broken:
        status = Status.CONVERGED
    else:
        status = Status.UNVERIFIED if optimal or broken else Status.BUDGET
    return Change(labels.goal, added, field, flow, value, bound, pivots, status)
