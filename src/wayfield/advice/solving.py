"""From labels to a plan with its certificate, in one call.

    labels → extension → (lifted, if asked) → plan → certificate

Each step is a public function: `extend`, `lift`, `plan` and `certify`. `solve` does what is needed
between them. A component without a label cannot reach the goal. A lifted field is no longer inside
its bracket, and differs from the labels that were lifted. So its plan is certified for the lifted
values, and for the remaining labels.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..certificates import Certificate, certify
from ..checks import as_flag, as_vertex, frozen
from ..errors import InputError
from ..fields import AMLE, Extension, MethodLike, check_field, describe, extend
from ..graphs.graph import Graph, check_graph
from ..graphs.labels import Labels
from ..graphs.shortest_paths import cost_to_go
from ..plans.lifting import Lifted
from ..plans.lifting import lift as lift_field
from ..plans.planning import Outcome, Plan, Rollout, false_sinks, plan
from ..typing import FloatArray
from ..words import number_of
from .text import facts, lines

if TYPE_CHECKING:
    from ..graphs.names import Naming


@dataclass(frozen=True, eq=False, repr=False)
class Answer:
    """A value and a move for each state, where they lead, and how far to trust them.

    Attributes
    ----------
    labels : Labels
        The given labels.
    field : Extension
        Their extension, with its bracket and status.
    plan : Plan
        The greedy plan, on the field or on the lifted field.
    certificate : Certificate
        What the values prove about the plan's moves.
    lifted : Lifted or None
        The lifted field, or None without `lift`.

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
    method    AMLE(): converged; its equation is solved to within ...
    plan      4 of 4 starts reach the goal (100 %)
    proved    4 moves and 4 routes are optimal, if labels are right, no edge is false and ...
    margin    every route tolerates errors of the values below 1; weakest at mill (1, 3 routes), ...
    bound     the field is the true cost-to-go, if graph and labels are right
    route     farm → wood → mill → bridge → home: cost 4, 4 steps; tolerates errors below 1, ...
    advice    compare(graph, labels, goal) says what to use: the labels, or ...
    """

    labels: Labels
    field: Extension
    plan: Plan
    certificate: Certificate
    lifted: Lifted | None = None

    @property
    def graph(self) -> Graph:
        """The graph of the plan."""
        return self.plan.graph

    @property
    def goal(self) -> int:
        """The goal of the plan."""
        return self.plan.goal

    @property
    def values(self) -> FloatArray:
        """(n,) values that the plan follows: those of the field, or of the lifted field.

        +inf where no label can be reached. A label at a state that cannot reach the goal keeps its
        value; no start is sent there.
        """
        return self.plan.values

    @property
    def outcomes(self) -> NDArray[np.object_]:
        """(n,) array of `Outcome`: how the rollout from each start ends."""
        return self.plan.outcomes

    @cached_property
    def raised(self) -> FloatArray:
        """(n,) amount that `lift` added to each value, as in `Lifted`; 0 without `lift`."""
        return frozen(np.zeros(self.values.size)) if self.lifted is None else self.lifted.raised

    @cached_property
    def raised_states(self) -> NDArray[np.int64]:
        """(k,) states with a path to the goal and a raised value, most raised first."""
        up = np.flatnonzero((self.raised > 0.0) & self.plan.reachable)
        amount = np.round(self.raised[up], 9)  # differences of rounding do not count
        return frozen(up[np.argsort(-amount, kind="stable")])

    @cached_property
    def false_sinks(self) -> NDArray[np.int64]:
        """(k,) labels other than the goal's without a descending arc, before any lift."""
        before = check_field(self.graph, self.field)
        return frozen(false_sinks(self.graph, before, self.labels, self.goal))

    @cached_property
    def graph_distance(self) -> FloatArray:
        """(n,) graph distance to the goal, independent of the labels; inf if there is no path."""
        return frozen(cost_to_go(self.graph, self.goal))

    def route(self, start: int) -> Rollout:
        """Walk from a start by the plan; a start without a path to the goal does not begin."""
        start = as_vertex(start, "start", self.graph.num_vertices)
        if self.outcomes[start] is Outcome.UNREACHABLE:
            return Rollout(frozen(np.array([start])), 0.0, Outcome.UNREACHABLE)
        return self.plan.rollout(start)

    def write_proof(
        self, path: str | os.PathLike[str], names: Collection[object] | bool = False
    ) -> Path:
        """Write the field, the plan, its certified moves and their proof into one file.

        ``python -m wayfield_verify FILE`` proves them again in exact arithmetic, using nothing but
        the file. With ``names=True`` it calls vertices by their names in the graph; pass a list
        for other names. Returns the path.
        """
        return self.certificate.write_proof(path, names)

    def summary(self, names: Naming | None = None, starts: Iterable[int] = ()) -> str:
        """Return a few lines of text: the findings, and what to do next.

        Parameters
        ----------
        names : sequence or mapping, optional
            Names of the vertices: ``names[x]``. Default: the graph's own names, or indices.
        starts : iterable of int
            Start vertices of the routes to show.
        """
        rows = lines(self.facts(names, starts))
        return "\n".join(f"{word:<9} {text}" for word, text in rows)

    def facts(
        self,
        names: Naming | None = None,
        starts: Iterable[int] = (),
        held_out: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return the content of the summary, and more, as plain data that JSON can hold.

        Numbers that are infinite or unknown are None. `names` and `starts` as in `summary`;
        `held_out` holds the facts of a `CrossValidation` of the same field, for the advice.
        """
        return facts(self, self.graph.names if names is None else names, starts, held_out)

    def __repr__(self) -> str:
        reach = f"{self.plan.num_arrived:,} of {self.plan.num_able:,} starts reach the goal"
        count = self.raised_states.size
        lift = f", {number_of(count, 'values')} raised" if count else ""
        return f"Answer({describe(self.field.method)}: {self.field.status}; {reach}{lift})"


def solve(
    graph: Graph,
    labels: Labels,
    goal: int,
    method: MethodLike = AMLE(),  # noqa: B008  (frozen settings)
    *,
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
        The known values, including the goal's.
    goal : int
        The goal.
    method : Method or function
        How to extend the labels; see `extend`.
    prior : (n,) array, optional
        A field that the labels correct, such as ``cost_to_go(graph, goal)``; see `extend`.
    lift : bool
        Lift the field as little as possible, so that every start with a path to the goal reaches
        it; see `wayfield.lift`.
    error : float or (n,) array, optional
        Bound on the difference between the values and the true cost-to-go. The certificate then
        says which moves are optimal in spite of it; without it, by how much each move leads.
    check : bool
        Raise `NotConverged` if the method misses its guarantee. If False, return an answer with a
        ``field.status`` that says so.

    Returns
    -------
    Answer
        Field, plan, certificate and outcomes; see ``answer.summary()``.

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
    """
    goal = as_vertex(goal, "goal", check_graph(graph).num_vertices)
    as_flag(lift, "lift")
    field = extend(graph, labels, method, prior=prior, unreachable="nan", check=check)
    known = labels
    lifted, judged = None, field
    if lift:
        if not np.isfinite(field.values[goal]):
            raise InputError(
                f"no label is in reach of the goal {goal}, so it has no value: label it"
            )
        lifted = lift_field(graph, field, goal)
        if not lifted.unchanged:
            # the lifted field is certified as it is, for the labels that were not raised
            judged = replace(field, values=lifted.values, lower=None, upper=None)
            stays = lifted.raised[known.vertices] == 0.0
            if not stays.any():  # a label at the goal would have stayed
                raise InputError("lifting raised every label, since the goal has none: label it")
            known = Labels(known.vertices[stays], known.values[stays], known.error)
    moves = plan(graph, judged, goal)
    certificate = certify(graph, known, judged, moves, 0.0 if error is None else error)
    return Answer(labels, field, moves, replace(certificate, field=field), lifted)
