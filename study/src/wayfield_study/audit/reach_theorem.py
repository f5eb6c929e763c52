"""The reach theorem as an audit: which of its premises a field meets, and what follows.

**Reach theorem** (``docs/planner.md``). Let the labels be exact up to a common factor c > 0, the
goal's among them, and u their exact AMLE. Then, by the slope rule with exit ties,

1. u = c·V* on every cheapest path from a label to the goal;
2. from a label, or once one is met, the walk is a cheapest path;
3. every start reaches the goal;
4. (undirected, flat fill) a start of steepest slope α > 0 walks at most (u(s) − u(g)) / α.

On a directed graph the AMLE with cost fill has 1 to 3, and not 4.

**Premises**, in the order in which they are checked; the theorem's own are the first and the third,
and the others are what its proof makes of them, checked on the field as computed:

- ``"labels"``: Y − Y(g) = c·V* at every label, c being the steepest slope from a label to the goal.
  Then c is also the labels' Lipschitz constant: V* is 1-Lipschitz.
- ``"finite"``: every vertex that can reach the goal has a finite value. The exact AMLE has; a
  prior, an array, or a label that is not reached may say otherwise.
- ``"balance"``: at every unlabelled vertex the steepest slope in equals the steepest slope out,
  vertices filled by cost left out; these have u(x) = min ℓ + u(y) and nothing descends into them.
- ``"geodesics"``: u − Y(g) = c·V*, within the bracket, on all cheapest paths from labels to the
  goal.
- ``"sinks"``: every label but the goal's has an arc to a smaller value.
- ``"plateaus"``: every unlabelled vertex has a level path to an exit.
- ``"planner"``: the plan is by the slope rule, without a tolerance, and breaks ties by exits; ties
  matter only if there is a plateau.

**Start by start.** If the premises do not all hold, some starts may still be proved to reach.
By the slope rule with exit ties values never rise, and only a *stuck* vertex (no level path to an
exit) stops the descent; so a start whose value does not exceed that of any stuck vertex reaches,
whatever the field is.

**The bound in doubles.** What the theorem says is that along the walk slopes never fall below that
of the first move, α. Rounded labels are exact up to rounding only, which makes the path between two
that are close together steeper or flatter, and the plan follows values as computed. So α is lowered
to the least slope on the walk, all slopes taken from the bracket: then the bound holds
up to the rounding of its own few sums. Without a bracket there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from wayfield._arrays import as_vertex
from wayfield.extension import Extension, check_field
from wayfield.graph import Graph, check_graph
from wayfield.kernels._types import BoolArray, FloatArray, IntArray
from wayfield.kernels.certificates import along_walks
from wayfield.kernels.planning import sunk
from wayfield.kernels.shortest import dijkstra
from wayfield.labels import Labels, check_labels, check_takes
from wayfield.plans import Plan
from wayfield.plans import plan as greedy_plan

from ..kernels.extrema import deficits, on_geodesics
from ._inputs import EPS, Field, FrozenArrays, check_plan, check_truth, plan_on, rounding
from .decisions import judge
from .outcomes import stuck

NEGLIGIBLE = 1e-9
"""Share of the field's range that a vertex equation, or a field without bracket, may be off by."""


class Premise(NamedTuple):
    """One premise of the theorem."""

    name: str
    """See the module."""
    holds: bool = True
    vertex: int = -1
    """Where it breaks first; -1 if it holds or is no matter of vertices."""
    excess: float = 0.0
    """By how much it breaks at worst, in units of the values; 0 if it holds, NaN if no number
    says so."""


@dataclass(frozen=True, eq=False, repr=False)
class Reach(FrozenArrays):
    """Premises and conclusions of the reach theorem for one field.

    Attributes
    ----------
    premises : tuple of Premise
        In the order of the module.
    factor : float
        c, the steepest slope from a label to the goal; 0 if no other vertex is labelled.
    lipschitz : float
        Steepest slope between any two labels; equal to `factor` if these are exact, NaN if the
        goal has none.
    on_geodesic : (n,) bool array
        Whether the vertex lies on a cheapest path from a label to the goal.
    deviation : (n,) float array
        |u − Y(g) − c·V*| there, beyond the bracket; 0 elsewhere.
    starts : (n,) bool array
        Vertices other than the goal from which it can be reached.
    proved : (n,) bool array
        Starts that are proved to reach: if the premise ``"planner"`` holds, those of finite value
        that are not stuck and no higher than any stuck vertex. All, if every premise holds.
    certified : (n,) bool array
        Starts that the paper's certificate covers: half-gaps all along the argmin-Q walk.
    bound : (n,) float array
        Bound on the cost of the walk, (u(s) − u(g)) / α; inf where there is none: on plateaus, on
        directed graphs, with cost fill, without a bracket, and wherever a premise breaks.
    plan : Plan
        The plan audited; ``plan.reached`` and ``plan.cost`` are what was measured.
    labels_optimal : bool
        Whether the plan walks a cheapest path from every label: conclusion 2, measured.
    """

    premises: tuple[Premise, ...]
    factor: float
    lipschitz: float
    on_geodesic: BoolArray
    deviation: FloatArray
    starts: BoolArray
    proved: BoolArray
    certified: BoolArray
    bound: FloatArray
    plan: Plan
    labels_optimal: bool

    @property
    def guaranteed(self) -> bool:
        """Whether all premises hold, so that every start is bound to reach."""
        return all(premise.holds for premise in self.premises)

    @property
    def broken(self) -> Premise | None:
        """The first premise that does not hold."""
        return next((premise for premise in self.premises if not premise.holds), None)

    @property
    def proved_share(self) -> float:
        """Share of the starts that are proved to reach; 1 if there are none."""
        return _share(self.proved, self.starts)

    @property
    def certified_share(self) -> float:
        """Share of the starts that the paper's certificate covers; 1 if there are none."""
        return _share(self.certified, self.starts)

    @property
    def reached_share(self) -> float:
        """Share of the starts that do reach, measured; 1 if there are none."""
        return _share(self.plan.reached, self.starts)

    @property
    def bound_ratio(self) -> FloatArray:
        """(n,) measured cost over its bound, at most 1 up to rounding; 0 where there is none."""
        ratio = np.zeros(self.bound.size)
        bounded = self.starts & np.isfinite(self.bound)
        return np.divide(self.plan.cost, self.bound, out=ratio, where=bounded)

    def __repr__(self) -> str:
        broken = self.broken
        at = "" if broken is None or broken.vertex < 0 else f" at vertex {broken.vertex}"
        verdict = "guaranteed" if broken is None else f"premise {broken.name!r} breaks{at}"
        shares = f"{self.proved_share:.1%} of starts proved, {self.certified_share:.1%} certified"
        return f"Reach({verdict}; {shares}, {self.reached_share:.1%} reached)"


def reach(
    graph: Graph, labels: Labels, ext: Field, truth: ArrayLike, goal: int, plan: Plan | None = None
) -> Reach:
    """Check the premises of the reach theorem on a field, beside the paper's certificate.

    Parameters
    ----------
    graph : Graph
        State graph, directed or not.
    labels : Labels
        The labels of the field; the goal's among them, or the premise ``"labels"`` breaks.
    ext : Extension or (n,) array
        The field, of any method. Its bracket, if it has one, is counted in.
    truth : (n,) array
        The cost-to-go V*.
    goal : int
        Where plans lead.
    plan : Plan, optional
        On this field; the slope rule with exit ties if not given.

    Examples
    --------
    >>> import wayfield as wf
    >>> graph = wf.grid_graph(wf.load_layout("umaze"), 4)
    >>> labels = wf.sample_labels(graph, goal=0, fraction=0.1, seed=54)
    >>> truth = wf.cost_to_go(graph, 0)
    >>> reach(graph, labels, wf.extend(graph, labels, wf.AMLE()), truth, 0)
    Reach(guaranteed; 100.0% of starts proved, 66.7% certified, 100.0% reached)
    >>> harmonic = wf.extend(graph, labels, wf.Harmonic())
    >>> reach(graph, labels, harmonic, truth, 0).broken.name
    'balance'
    """
    goal = as_vertex(goal, "goal", check_graph(graph).num_vertices)
    values, cost = check_field(graph, ext), check_truth(graph, truth, goal)
    check_takes(values, check_labels(labels, graph))
    route = greedy_plan(graph, values, goal) if plan is None else check_plan(graph, plan, goal)
    labelled, n = labels.mask(graph), values.size
    others = labels.vertices[labels.vertices != goal]
    slack = NEGLIGIBLE * float(np.ptp(values[np.isfinite(values)]))
    lower, upper, bracketed = values, values, False
    if isinstance(ext, Extension) and ext.lower is not None and ext.upper is not None:
        lower, upper, bracketed = ext.lower, ext.upper, True
    halted = stuck(graph, values, goal)

    factor, lipschitz, exact = _label_slopes(graph, labels, cost, goal)
    filled, balance = _balance(graph, values, ~labelled & np.isfinite(values), slack)
    # label–goal geodesics, and the deviation from c·V* there
    marked = on_geodesics(graph.arcs, cost, labels.vertices, rounding(graph))
    deviation, geodesics = np.zeros(n), Premise("geodesics", False, goal, np.nan)
    if labelled[goal]:
        line = factor * np.where(marked, cost, 0.0) + values[goal]
        beyond = np.maximum(lower - line, line - upper)
        deviation = np.where(marked, np.maximum(beyond, 0.0), 0.0)
        broken = np.flatnonzero(deviation > slack)
        geodesics = Premise("geodesics")
        if broken.size:
            first = int(broken[np.argmin(cost[broken])])
            geodesics = Premise("geodesics", False, first, float(deviation.max()))
    # the plan follows this field by the slope rule, its ties broken by exits
    steepest = route.rule == "slope" or graph.is_unit
    follows = np.array_equal(route.values, values) and route.tie_tolerance == 0.0
    decides = np.flatnonzero(np.isfinite(values) & (np.arange(n) != goal))
    tied_by_exits = route.ties == "exit" or not sunk(graph.arcs, values, decides).any()
    premises = (
        exact,
        _listed("finite", np.flatnonzero(np.isfinite(cost) & np.isinf(values))),
        balance,
        geodesics,
        _listed("sinks", others[sunk(graph.arcs, values, others)]),
        _listed("plateaus", np.flatnonzero(halted & ~labelled)),
        Premise("planner", bool(steepest and follows and tied_by_exits)),
    )

    starts = np.isfinite(cost)
    starts[goal] = False
    below = values <= values[halted].min(initial=np.inf)
    proved = starts & np.isfinite(values) & below & ~halted & premises[-1].holds
    # (u(s) − u(g)) / α, u(s) at most and the least slope α at least what the bracket allows
    bound = np.full(n, np.inf)
    holds = all(premise.holds for premise in premises)
    if holds and bracketed and not graph.directed and not filled.any():
        taken = graph.indices == route.successor[graph.tails]
        tails, heads = graph.tails[taken], graph.indices[taken]
        slope = np.full(n, np.inf)
        slope[tails] = (lower[tails] - upper[heads]) / graph.lengths[taken]
        least, _, _ = along_walks(route.successor, goal, slope, np.ones(n, bool))
        descends = route.reached & (least > 0.0) & (least < np.inf)
        bound[descends] = (upper[descends] - lower[goal]) / least[descends]
    known = labels.vertices[np.isfinite(cost[labels.vertices])]
    optimal = bool((route.cost[known] <= cost[known] * (1.0 + rounding(graph))).all())
    certified = judge(plan_on(graph, values, goal, None), values, cost).start_holds & starts
    constants = factor, lipschitz, marked, deviation
    return Reach(premises, *constants, starts, proved, certified, bound, route, optimal)


def _label_slopes(
    graph: Graph, labels: Labels, truth: FloatArray, goal: int
) -> tuple[float, float, Premise]:
    """Return factor, Lipschitz constant, and whether the labels are exact up to the factor.

    If they are, the constants are equal: V* is 1-Lipschitz, and the goal is a label. If not, the
    constant is found by Dinkelbach's iteration: a label z is violated by the cones
    Y(w) + slope · d(z → w) if one is below Y(z), and then the worst such pair is steeper. From the
    largest slope to the goal, as a rule, there is none.
    """
    sources, heights = labels.vertices, labels.values
    if goal not in sources:
        return 0.0, np.nan, Premise("labels", False, goal, np.nan)
    base = heights[np.searchsorted(sources, goal)]
    others = sources != goal
    vertices, rise = sources[others], (heights - base)[others]
    far = truth[vertices]
    factor = float((rise / far).max(initial=0.0))
    lost = np.isinf(far)
    off = np.abs(rise - factor * np.where(lost, 0.0, far))
    room = (rounding(graph) + 16.0 * EPS) * (np.abs(rise) + 2.0 * abs(base))
    bad = lost | (off > room) | (factor <= 0.0)
    if not bad.any():
        return factor, factor, Premise("labels")
    worst = int(np.argmax(np.where(bad, np.where(lost, np.inf, off), -1.0)))
    premise = Premise("labels", False, int(vertices[worst]), float(off[worst]))
    lipschitz, room = factor, graph.num_vertices * EPS * float(np.abs(heights).max())
    while True:
        cone, origin = dijkstra(graph.reverse_arcs, sources, heights, lipschitz)
        excess = heights - cone[sources]
        z = int(np.argmax(excess))
        if excess[z] <= room:
            return factor, lipschitz, premise
        w = int(origin[sources[z]])
        distance, _ = dijkstra(graph.arcs, sources[z : z + 1], np.zeros(1), 1.0)
        height = heights[np.searchsorted(sources, w)]
        steeper = float(heights[z] - height) / float(distance[w])
        if steeper <= lipschitz:
            return factor, lipschitz, premise
        lipschitz = steeper


def _balance(
    graph: Graph, values: FloatArray, free: BoolArray, slack: float
) -> tuple[BoolArray, Premise]:
    """Return which vertices are filled by cost, and whether the AMLE's equation holds elsewhere.

    Cost fill has u(x) = min ℓ + u(y) and no descent into x but from vertices filled
    themselves, so these are found from the far end of a filled region inwards.
    """
    arcs, reverse = graph.arcs, graph.reverse_arcs
    filled = np.zeros(free.size, dtype=bool)
    deficit = deficits(arcs, reverse, values, filled)
    if (deficit[free] > slack).any():
        least = np.full(values.size, np.inf)
        np.minimum.at(least, graph.tails, graph.lengths + values[graph.indices])
        fillable = free & np.isfinite(least)
        fillable[fillable] = np.abs(values[fillable] - least[fillable]) <= slack
        while (more := fillable & ~filled & (deficit > slack)).any():
            filled |= more
            deficit = deficits(arcs, reverse, values, filled)
    off = np.where(free & ~filled, np.abs(deficit), 0.0)
    beyond = np.flatnonzero(off > slack)
    if not beyond.size:
        return filled, Premise("balance")
    return filled, Premise("balance", False, int(beyond[0]), float(off.max()))


def _listed(name: str, vertices: IntArray) -> Premise:
    """Return the premise that a list of vertices is empty."""
    if not vertices.size:
        return Premise(name)
    return Premise(name, False, int(vertices[0]), np.nan)


def _share(chosen: BoolArray, starts: BoolArray) -> float:
    total = int(starts.sum())
    return int((chosen & starts).sum()) / total if total else 1.0
