"""From labels to a plan, and how far to trust it: one call.

    labels → extension → (lifted, if asked) → plan → certificate

Each step is a public function of its own, `extend`, `lift`, `plan` and `certify`; `solve` does what
has to be done between them. A component without a label cannot reach the goal. A field that was
lifted is no longer inside its bracket, and no longer takes the labels that were lifted: its plan is
certified for the lifted values themselves, and for the labels that are left.

If the graph is a guess, labels may serve to mend it instead (`mend`):

    labels → mended graph → its own distances → plan → certificate

Distances have no false sinks. A method named as well extends what the labels say beyond them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .._arrays import as_flag, as_vertex, frozen
from .._text import number_of
from ..certificates import Certificate, certify
from ..errors import InputError
from ..extension import AMLE, Extension, Method, check_field, describe, extend
from ..graph import Graph, check_graph
from ..kernels._types import FloatArray
from ..labels import Labels, check_labels
from ..lifting import Lifted
from ..lifting import lift as lift_field
from ..plans import Outcome, Plan, Rollout, false_sinks, plan
from ..shortest_paths import cost_to_go

if TYPE_CHECKING:
    from ..mending import Contradictions, Mended, MendMethod
    from ..names import Naming

DISTANCE = "graph distance"
"""What the method is called if there is none."""
FLAT = 1e-12
"""Part of the largest label by which a value may differ from it and still be the same."""


@dataclass(frozen=True, eq=False, repr=False)
class Answer:
    """A value and a move for every state, where they lead, and how far to trust them.

    Attributes
    ----------
    labels : Labels
        The labels as they were given.
    field : Extension
        Their extension, with its bracket and status.
    plan : Plan
        The greedy plan, on the field or on the lifted one.
    certificate : Certificate
        What the values prove about the plan's moves.
    lifted : Lifted or None
        The lifted field, if lift was asked for.
    mended : Mended or None
        What was mended, if that was asked for; the plan is on ``mended.graph``.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges(range(4), range(1, 5))
    >>> answer = wf.solve(path, wf.Labels([0, 4], [0.0, 4.0]), goal=0)
    >>> answer.values
    array([0., 1., 2., 3., 4.])
    >>> print(answer.summary(names=["home", "bridge", "mill", "wood", "farm"], starts=[4]))
    graph     5 vertices, 4 edges, all of length 1; in one piece
    labels    2 (40 % of the vertices), values 0 to 4; goal home
    method    AMLE(): converged; exact values known to within ...
    plan      4 of 4 starts reach the goal (100 %)
    margin    every route tolerates errors of the values below 1; weakest at mill (1, 3 routes), ...
    route     farm → wood → mill → bridge → home: cost 4, 4 steps; tolerates errors below 1, ...
    advice    compare(graph, labels, goal) shows whether the labels do better than ...
    """

    labels: Labels
    field: Extension
    plan: Plan
    certificate: Certificate
    lifted: Lifted | None = None
    mended: Mended | None = None

    @property
    def graph(self) -> Graph:
        """Where it was solved."""
        return self.plan.graph

    @property
    def goal(self) -> int:
        """Where the plan is to lead."""
        return self.plan.goal

    @property
    def values(self) -> FloatArray:
        """(n,) the values that the plan stands on: the field's, lifted if that was asked for.

        +inf where no label is in reach. A label at a state that cannot reach the goal stays as it
        was given; no start is sent there.
        """
        return self.plan.values

    @property
    def outcomes(self) -> NDArray[np.object_]:
        """(n,) array of `Outcome`: how the rollout from each start ends."""
        return self.plan.outcomes

    @cached_property
    def raised(self) -> FloatArray:
        """(n,) how much lift added to each value, as in `Lifted`; 0 without lift."""
        return frozen(np.zeros(self.values.size)) if self.lifted is None else self.lifted.raised

    @cached_property
    def raised_states(self) -> NDArray[np.int64]:
        """(k,) states that can reach the goal whose value was raised, the most raised first."""
        up = np.flatnonzero((self.raised > 0.0) & self.plan.reachable)
        amount = np.round(self.raised[up], 9)  # rounding alone orders nothing
        return frozen(up[np.argsort(-amount, kind="stable")])

    @cached_property
    def false_sinks(self) -> NDArray[np.int64]:
        """(k,) labels other than the goal's from which no arc descends, before any lift."""
        before = check_field(self.graph, self.field)
        return frozen(false_sinks(self.graph, before, self.labels, self.goal))

    @cached_property
    def behind_labels(self) -> NDArray[np.int64]:
        """(k,) states that have a label's own value, since no other value lies beyond them.

        Without the labels they would be cut off from the rest: around their part of the graph all
        labels have one value, and most methods have nothing else to go by. `AMLE` adds the way to
        the label if it fills by cost.
        """
        graph, labels = self.graph, self.labels
        free = ~labels.mask(graph)
        tails, heads, n = graph.tails, graph.indices, graph.num_vertices
        # the parts that the graph falls into without its labels
        inside = free[tails] & free[heads]
        ones = np.ones(inside.sum())
        apart = sparse.csr_array((ones, (tails[inside], heads[inside])), shape=(n, n))
        part = sparse.csgraph.connected_components(apart, directed=False)[1]
        # the least and the largest label beside each part; +inf and -inf if there is none
        values = np.zeros(n)
        values[labels.vertices] = labels.values
        least, largest = np.full(n, np.inf), np.full(n, -np.inf)
        for x, y in ((tails, heads), (heads, tails)):
            beside = free[x] & ~free[y]
            np.minimum.at(least, part[x[beside]], values[y[beside]])
            np.maximum.at(largest, part[x[beside]], values[y[beside]])
        same = np.abs(self.field.values - least[part]) <= FLAT * np.abs(labels.values).max()
        return frozen(np.flatnonzero(free & (least == largest)[part] & same))

    @cached_property
    def graph_distance(self) -> FloatArray:
        """(n,) the graph's own distance to the goal, whatever the labels say; inf where none."""
        return frozen(cost_to_go(self.graph, self.goal))

    @cached_property
    def distance_ratio(self) -> float:
        """The factor by which the graph's own distances to the goal fit the labels best.

        Far from 1 where labels and lengths are in different units, negative where the labels fall
        away from the goal, as rewards do; NaN if there is no label but the goal's.
        """
        from ..cross_validation import label_factor  # which loads the mending room

        return label_factor(self.labels, self.goal, self.graph_distance)

    @cached_property
    def contradictions(self) -> Contradictions:
        """Where labels and graph cannot both be right."""
        from ..mending import contradictions  # a plan needs nothing of that room

        return contradictions(self.graph, self.labels)

    @cached_property
    def route_margins(self) -> FloatArray:
        """(k,) margins of the routes that arrive, the goal's own left out; see `Certificate`."""
        walked = self.plan.reached.copy()
        walked[self.goal] = False
        return frozen(self.certificate.start_margin[walked])

    def route(self, start: int) -> Rollout:
        """Walk from a start by the plan; one that cannot reach the goal does not begin."""
        start = as_vertex(start, "start", self.graph.num_vertices)
        if self.outcomes[start] is Outcome.UNREACHABLE:
            return Rollout(frozen(np.array([start])), 0.0, Outcome.UNREACHABLE)
        return self.plan.rollout(start)

    def write_proof(self, path: str | os.PathLike[str]) -> Path:
        """Write the field, the plan, its certified moves and their proof into one file.

        ``python -m wayfield_verify FILE`` proves them again in exact arithmetic, with nothing of
        wayfield but the file. Returns the path.
        """
        return self.certificate.write_proof(path)

    def summary(self, names: Naming | None = None, starts: Iterable[int] = ()) -> str:
        """Return a few lines of text: what was found, and what to do next.

        Parameters
        ----------
        names : sequence or mapping, optional
            What to call the vertices: ``names[x]``. Their indices if not given.
        starts : iterable of int
            Where the routes begin that are to be shown.
        """
        from .text import lines

        told = lines(self.facts(names, starts))
        return "\n".join(f"{line.word:<9} {line.text}" for line in told)

    def facts(self, names: Naming | None = None, starts: Iterable[int] = ()) -> dict[str, Any]:
        """Return what the summary says, and more, as plain data that JSON can hold.

        Numbers that are infinite or unknown are None. Parameters as in `summary`.
        """
        from .text import facts

        return facts(self, names, starts)

    @property
    def made_by(self) -> str:
        """How the field was made: by a method, by mending, by both, or of distances alone."""
        known, made = self.plan.reachable, describe(self.field.method)
        given = self.field.prior is not None
        alone = given and np.array_equal(self.field.values[known], self.graph_distance[known])
        if self.mended is None:
            return DISTANCE if alone and len(self.labels) == 1 else made
        by = f"mended by {describe(self.mended.method)}"
        return by if alone else f"{made}, {by}"

    def __repr__(self) -> str:
        reach = f"{self.plan.num_arrived:,} of {self.plan.num_able:,} starts reach the goal"
        count = self.raised_states.size
        lift = f", {number_of(count, 'values')} raised" if count else ""
        return f"Answer({self.made_by}: {self.field.status}; {reach}{lift})"


def solve(
    graph: Graph,
    labels: Labels,
    goal: int,
    method: Method | None = None,
    *,
    mend: MendMethod | None = None,
    prior: ArrayLike | None = None,
    lift: bool = False,
    error: ArrayLike | None = None,
    check: bool = True,
) -> Answer:
    """Extend labels over a graph, plan from every start, and certify the plan.

    Parameters
    ----------
    graph : Graph
        State graph; moves follow its arcs.
    labels : Labels
        The known values, that of the goal among them.
    goal : int
        Where to go.
    method : Method, optional
        How to extend the labels: `AMLE()`, or not at all if the graph is mended.
    mend : MendMethod, optional
        Mend the graph by the labels first, and plan on the mended graph, by its own distances; see
        `wayfield.mend`. With a `method`, these are the prior that the labels correct.
    prior : (n,) array, optional
        A field that the labels correct, such as ``cost_to_go(graph, goal)``; see `extend`.
    lift : bool
        Lift the field, as little as possible, until every start that can reach the goal does; see
        `wayfield.lift`.
    error : float or (n,) array, optional
        How far the values may be from the true cost-to-go. The certificate then says which moves
        are optimal all the same; without it, by how much each move leads.
    check : bool
        Raise `NotConverged` if the method misses its guarantee, or hand back an answer whose
        ``field.status`` says so.

    Returns
    -------
    Answer
        Field, plan, certificate and outcomes; ``answer.summary()`` says it all in a few lines.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges(range(4), range(1, 5))
    >>> noisy = wf.Labels([0, 2, 4], [0.0, 5.0, 4.0])
    >>> wf.solve(path, noisy, goal=0)
    Answer(AMLE(): converged; 2 of 4 starts reach the goal)
    >>> safe = wf.solve(path, noisy, goal=0, lift=True)
    >>> safe
    Answer(AMLE(): converged; 4 of 4 starts reach the goal, 2 values raised)
    >>> safe.route(4)
    Rollout(reached, 4 steps, cost 4)
    >>> ring = wf.Graph.from_edges([*range(10), 0], [*range(1, 10), 0, 5])
    >>> wf.solve(ring, wf.Labels([0, 4, 5], [0.0, 4.0, 5.0]), 0, mend=wf.LeastChange())
    Answer(mended by LeastChange(): converged; 9 of 9 starts reach the goal)
    """
    goal = as_vertex(goal, "goal", check_graph(graph).num_vertices)
    as_flag(lift, "lift")
    mended, known = None, labels
    if mend is not None:
        if prior is not None:
            raise InputError("prior and mend exclude each other: a mended graph is its own prior")
        from ..mending import mend as fit  # a room as large as all that a plain solve loads

        mended = fit(graph, labels, goal, mend)
        graph, labels = mended.graph, check_labels(labels, graph).with_goal(goal)
        prior = cost_to_go(graph, goal)
        known = Labels([goal], [0.0]) if method is None else labels
        method = AMLE(fill="flat") if method is None else method  # 0 everywhere: the prior itself
    how = AMLE() if method is None else method
    field = extend(graph, known, how, prior=prior, unreachable="nan", check=check)
    lifted, judged = None, field
    if lift:
        if not np.isfinite(field.values[goal]):
            raise InputError(
                f"no label is in reach of the goal {goal}, so it has no value: label it"
            )
        lifted = lift_field(graph, field, goal)
        if not lifted.unchanged:
            # the lifted field is certified as it is, and for the labels that it still takes
            judged = replace(field, values=lifted.values, lower=None, upper=None)
            stays = lifted.values[known.vertices] == known.values
            if not stays.any():  # the goal's own label would have stayed
                raise InputError("lifting raised every label, since the goal has none: label it")
            known = Labels(known.vertices[stays], known.values[stays], known.error)
    moves = plan(graph, judged, goal)
    certificate = certify(graph, known, judged, moves, 0.0 if error is None else error)
    return Answer(labels, field, moves, replace(certificate, field=field), lifted, mended)
