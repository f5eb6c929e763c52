"""The least change of a graph: which arcs must cost more than given, and by how much.

**Problem.** Labels Y (costs to a goal g, Y(g) = 0) that the graph contradicts, and a price w per
unit by which an arc is lengthened:

    minimise  Σ w δ    subject to  d_{ℓ+δ}(i, z) ≥ Y(i) - Y(z)  for all labels i, z,   δ ≥ 0.

A field φ certifies the constraints: it suffices that φ = Y at the labels and φ(x) - φ(y) ≤ ℓ + δ
on every arc, and the field φ(x) = min over z of Y(z) + d_{ℓ+δ}(x, z) shows that it is necessary. So

    value  =  min over φ with φ = Y at the labels of  Σ w (φ(x) - φ(y) - ℓ)₊ .

*Error and trust.* With an error ε, φ may differ from Y by ε for nothing. Beyond that it costs
``trust`` per unit: either the graph is wrong or the label is, whichever is cheaper.

**Dual.** A flow f with 0 ≤ f ≤ w that is conserved away from the labels and leaves label i with
net amount b_i, |b_i| ≤ trust:

    bound  =  max over f of  Σ Y(i) b_i - ε Σ |b_i| - Σ ℓ f .

Every flow bounds every change from below, and at the optimum the two agree: the duality gap is the
proof. It is a minimum-cost flow ([1]_ for one pair of labels; [2]_, inverse optimisation). An arc
is lengthened only where it is saturated, f = w.

**Method.** (1) Arcs that lie on no path between labels that is too short are acquitted, exactly
(`contradictions`). (2) Exact labels are merged into one root of potential 0: an arc out of label x
has length ℓ - Y(x), one into label y ℓ + Y(y). A label with error or trust stays a vertex with two
arcs of its own, to the root at Y + ε and from it at -(Y - ε), of capacity trust. (3) Network
simplex (`kernels.network_simplex`) from the flow 0 and the tree of shortest paths to labels. Its
potentials are the upper bound of `contradictions`, so only arcs out of labels have negative reduced
cost at first.

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
from typing import Literal

import numpy as np

from .._arrays import as_choice, as_lengths, as_real, as_whole, owned
from ..errors import InputError
from ..extension import Status
from ..kernels._types import FloatArray
from ..kernels.detour import detours
from ..kernels.shortest import dijkstra
from ._base import Fit, MendMethod, MendProblem
from ._flow import Labelled, Solved, labelled, solve

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
    doubt : float
        Part of the value that pays for disbelieved costs.
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
    doubt: float
    pivots: int
    status: Status

    @property
    def gap(self) -> float:
        """Largest possible difference to the price of the least change."""
        return self.value - self.bound


@dataclass(frozen=True, eq=False)
class LeastChange(MendMethod):
    """Lengthen arcs at the least price until costs and graph agree: exact, with a proof.

    Parameters
    ----------
    price : {"detour", "unit"} or (m,) array
        Price per unit of lengthening: 1 over the arc's detour, 1, or a positive array. An array
        must be equal in both directions of an undirected edge.
    trust : float
        Price per unit by which a cost may be disbelieved instead; inf if all costs are certain.
    only_odd : float or None
        Lengthen only arcs with a detour of at least this many times their own length; None: all.
        The value is always that of the change of all arcs.
    max_pivots : int, optional
        Cap on the steps of the network simplex per goal. Default: 20 per vertex and arc.

    Notes
    -----
    Costs that are upper bounds cannot show that a graph is too optimistic. Nothing is changed
    then, and the value is 0.

    Examples
    --------
    A ring of ten with a chord 0 - 5 that does not exist.

    >>> import wayfield as wf
    >>> ring = wf.Graph.from_edges([*range(10), 0], [*range(1, 10), 0, 5])
    >>> labels = wf.Labels([0, 4, 5], [0.0, 4.0, 5.0])
    >>> mended = wf.mend(ring, labels, goal=0, method=wf.LeastChange())
    >>> mended
    Mended(1 of 11 edges costlier, by 4 in all)
    >>> ring.tails[mended.suspects], ring.indices[mended.suspects], mended.added[mended.suspects]
    (array([0], dtype=int32), array([5], dtype=int32), array([4.]))
    >>> round(mended.value, 12), round(mended.bound, 12)  # 4 at the price of 1 / 5
    (0.8, 0.8)
    """

    reads_bounds = False

    price: Literal["detour", "unit"] | FloatArray = "detour"
    trust: float = inf
    only_odd: float | None = 4.0
    max_pivots: int | None = None

    def __post_init__(self) -> None:
        checked: dict[str, object] = {}
        if isinstance(self.price, str):
            as_choice(self.price, "price", ("detour", "unit"))
        else:
            checked["price"] = owned(as_lengths(self.price, "price"))
        if self.trust != inf:
            checked["trust"] = as_real(self.trust, "trust", least=0.0)
        if self.only_odd is not None:
            checked["only_odd"] = as_real(self.only_odd, "only_odd", least=1.0, most=FAR)
        if self.max_pivots is not None:
            checked["max_pivots"] = as_whole(self.max_pivots, "max_pivots", least=0)
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def name(self) -> str:
        """Name of the method among candidates."""
        return "least change" if self.only_odd is None else "odd least change"

    @property
    def word(self) -> str:
        """Name of the method on the command line."""
        return "least-change-all" if self.only_odd is None else "least-change"

    def fit(self, problem: MendProblem) -> Fit:
        """Change the graph for each goal, and lengthen each arc by the largest of these changes.

        ``details``: "changes", one `Change` per goal; "applied", the price of what was lengthened.
        """
        graph = problem.graph
        if problem.upper or self.trust == 0.0:
            return Fit(graph.lengths, 0.0, 0.0, details={"changes": (), "applied": 0.0})
        around, price, changes = self._solve(problem)
        added = np.max([change.added for change in changes], axis=0)
        if not graph.directed:
            added = np.maximum(added, added[problem.into])
        edges = np.ones(added.size, bool) if graph.directed else graph.tails < graph.indices
        value, bound = changes[0].value, changes[0].bound
        if len(changes) > 1:  # value and bound of the changes for all goals together
            value = fsum((price * added)[edges]) + fsum(change.doubt for change in changes)
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
            details={"changes": tuple(changes), "applied": fsum((price * added)[edges])},
        )

    def _solve(self, problem: MendProblem) -> tuple[FloatArray, FloatArray, list[Change]]:
        """Return the detours and prices of arcs, and the change of all arcs for each goal."""
        detour = isinstance(self.price, str) and self.price == "detour"
        wanted = self.only_odd is not None or detour
        # the optimisation does not depend on `only_odd`: it is solved once for all its settings
        key = (self.price, self.trust, self.max_pivots, wanted)
        if isinstance(self.price, str) and key in problem.notes:
            known: tuple[FloatArray, FloatArray, list[Change]] = problem.notes[key]
            return known
        goals = [labelled(problem, int(goal)) for goal in problem.goals]
        graph, tails = problem.graph, problem.graph.tails

        # 1. detours of suspected arcs; other arcs keep their own length
        around = graph.lengths.copy()
        if wanted:
            suspect = np.any([labels.bounds.excess > 0 for labels in goals], axis=0)
            if not graph.directed:  # the same detour in both directions
                suspect = (suspect | suspect[problem.into]) & (tails < graph.indices)
            which = np.flatnonzero(suspect)
            limits = FAR * graph.lengths[which]
            around[which] = detours(graph.arcs, graph.reverse_arcs, tails, which, limits)
            if not graph.directed:
                around[problem.into[which]] = around[which]

        # 2. prices; those of acquitted arcs do not matter
        if isinstance(self.price, str):
            price = 1.0 / around if detour else np.ones(around.size)
        else:
            price = as_lengths(self.price, "price", around.size)
            if not graph.directed and (price != price[problem.into]).any():
                e = int(np.argmax(price != price[problem.into]))
                raise InputError(
                    f"price must be equal in both directions of an edge, got price[{e}] = "
                    f"{price[e]} and price[{problem.into[e]}] = {price[problem.into[e]]}"
                )

        # 3. one flow problem per goal
        changes = []
        for labels in goals:
            solved = solve(graph, labels, price, self.trust, self.max_pivots)
            changes.append(_verified(problem, labels, price, self.trust, solved))
        if isinstance(self.price, str):
            problem.notes[key] = around, price, changes
        return around, price, changes


_SEVERITY = (Status.CONVERGED, Status.BUDGET, Status.UNVERIFIED)


def _verified(
    problem: MendProblem, labels: Labelled, price: FloatArray, trust: float, solved: Solved
) -> Change:
    """Evaluate value and bound on the whole graph, from lengthening, labels and flow alone."""
    graph, tails, heads = problem.graph, problem.graph.tails, problem.graph.indices
    scale = float(np.abs(labels.values).max()) + problem.error
    rounding = 1e-11 * scale

    arcs = problem.arcs_to(graph.lengths + solved.added)
    field, _ = dijkstra(arcs, labels.vertices, solved.most, 1.0)
    known = np.isfinite(field)
    inner = known[tails] & known[heads]
    added = np.zeros(graph.num_arcs)
    added[inner] = field[tails[inner]] - field[heads[inner]] - graph.lengths[inner]
    # labels may be far below the distances that lengthening is computed from
    digits = 4.0 * np.finfo(np.float64).eps * np.where(inner, field[tails], 0.0)
    added[added <= np.maximum(rounding, digits)] = 0.0
    off = np.abs(field[labels.vertices] - labels.values) - labels.errors
    off[off <= rounding] = 0.0
    broken = trust == inf and bool(off.any())
    doubt = 0.0 if trust == inf else trust * fsum(off)
    value = fsum(price * added) + doubt

    balance = np.bincount(tails, solved.flow, graph.num_vertices)
    balance -= np.bincount(heads, solved.flow, graph.num_vertices)
    leaving = balance[labels.vertices]
    leaving[-1] = 0.0  # the goal's field is 0, whatever flows in
    balance[labels.vertices] = 0.0
    spilt = fsum(np.abs(balance)) + fsum(np.maximum(np.abs(leaving) - trust, 0.0))
    gained, spent = fsum(labels.values * leaving), fsum(graph.lengths * solved.flow)
    bound = gained - fsum(labels.errors * np.abs(leaving)) - spent - 2.0 * scale * spilt
    bound = max(bound, 0.0)

    agreed = value - bound <= GAP * (value + spent)
    if agreed and not broken:
        status = Status.CONVERGED
    else:
        status = Status.UNVERIFIED if solved.optimal or broken else Status.BUDGET
    return Change(
        labels.goal, added, field, solved.flow, value, bound, doubt, solved.pivots, status
    )
