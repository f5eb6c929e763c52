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
- ``"plateaus"``: every unlabelled vertex has a level way to an exit.
- ``"planner"``: the plan is by the slope rule, without a tolerance, and breaks ties by exits; ties
  matter only if there is a plateau.

**Start by start.** If the premises do not all hold, some starts may still be proved to reach.
By the slope rule with exit ties values never rise, and only a *stuck* vertex (no level way to an
exit) stops the descent; so a start whose value does not exceed that of any stuck vertex reaches,
whatever the field is.

**The bound in doubles.** What the theorem says is that along the walk slopes never fall below that
of the first move, α. Rounded labels are exact up to rounding only, which makes the way between two
that are close together steeper or flatter, and the plan follows values as computed. So α is lowered
to the least slope on the walk, all slopes taken from the bracket: then the bound holds
up to the rounding of its own few sums. Without a bracket there is none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from wayfield._arrays import as_vertex, frozen
from wayfield.extension import Extension
from wayfield.graph import Graph, check_graph
from wayfield.kernels._types import BoolArray, FloatArray
from wayfield.labels import Labels, check_labels, check_takes
from wayfield.lifting import check_field
from wayfield.plans import Plan
from wayfield.plans import plan as greedy_plan

from ._inputs import check_plan, check_truth, plan_on
from ._premises import Case, Premise, listed, planner
from .half_gap import judge
from .plateaus import stuck


@dataclass(frozen=True, eq=False, repr=False)
class Reach:
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
    graph: Graph,
    labels: Labels,
    ext: Extension | ArrayLike,
    truth: ArrayLike,
    goal: int,
    plan: Plan | None = None,
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
    case = Case(graph, labels, ext, values, cost, goal)
    factor, lipschitz, exact = case.label_slopes()
    marked, deviation, geodesics = case.geodesics(factor)
    filled, balance = case.balance()
    halted = stuck(graph, values, goal)
    premises = (
        exact,
        case.finite(),
        balance,
        geodesics,
        case.sinks(),
        listed("plateaus", np.flatnonzero(halted & ~case.labelled)),
        planner(route, values),
    )
    starts = np.isfinite(cost)
    starts[goal] = False
    below = values <= values[halted].min(initial=np.inf)
    proved = starts & np.isfinite(values) & below & ~halted & premises[-1].holds
    holds = all(premise.holds for premise in premises)
    bounded = holds and not graph.directed and not filled.any()
    return Reach(
        premises,
        factor,
        lipschitz,
        frozen(marked),
        frozen(deviation),
        frozen(starts),
        frozen(proved),
        frozen(judge(plan_on(graph, values, goal, None), values, cost).start_holds & starts),
        frozen(case.cost_bound(route) if bounded else np.full(values.size, np.inf)),
        route,
        case.cheapest(route),
    )


def _share(chosen: BoolArray, starts: BoolArray) -> float:
    total = int(starts.sum())
    return int((chosen & starts).sum()) / total if total else 1.0
