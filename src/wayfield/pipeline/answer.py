"""What `solve` returns: all that was found, as arrays, as plain data and as a few lines of text."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._arrays import as_vertex, frozen, plain
from .._text import number_of
from ..certificates import Certificate
from ..cross_validation import label_factor
from ..extension import Extension, describe
from ..graph import Graph
from ..kernels._types import FloatArray
from ..labels import Labels
from ..lifting import Lifted, check_field
from ..mending import Contradictions, Mended, contradictions
from ..names import Caller, Naming
from ..plans import Outcome, Plan, Rollout, false_sinks
from ..shortest_paths import cost_to_go
from ..sinks import TrimmedLabels
from .advice import IN_PYTHON, advise
from .text import DISTANCE, lines

MOST_NAMED = 5
"""States of one kind that are named; the arrays hold all of them."""
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
    plan      4 of 4 starts that can reach the goal do (100 %)
    margin    every route tolerates errors of the values below 1; weakest at mill (1, 3 routes), ...
    route     farm → wood → mill → bridge → home: cost 4, 4 steps; tolerates errors below 1, ...
    advice    compare(graph, labels, goal) tells whether the labels do better than ...
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
        """(n,) the values that the plan stands on: the field's, lifted if it was repaired.

        +inf where no label is in reach. A label at a state that cannot reach the goal stays as it
        was given; no start is sent there.
        """
        return self.plan.values

    @property
    def outcomes(self) -> NDArray[np.object_]:
        """(n,) array of `Outcome`: how the walk from each start ends."""
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
        labelled = self.labels.mask(self.graph)
        least, largest = labels_around(self.graph, self.labels)
        size = np.abs(self.labels.values).max()
        same = np.abs(self.field.values - least) <= FLAT * size
        return frozen(np.flatnonzero(~labelled & (least == largest) & same))

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
        return label_factor(self.labels, self.goal, self.graph_distance)

    @cached_property
    def contradictions(self) -> Contradictions:
        """Where labels and graph cannot both be right."""
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
        """Say in a few lines what was found, and what to do next.

        Parameters
        ----------
        names : sequence or mapping, optional
            What to call the vertices: ``names[x]``. Their indices if not given.
        starts : iterable of int
            Where the routes begin that are to be shown.
        """
        told = lines(self.facts(names, starts))
        return "\n".join(f"{line.word:<9} {line.text}" for line in told)

    def facts(self, names: Naming | None = None, starts: Iterable[int] = ()) -> dict[str, Any]:
        """Return what the summary says, and more, as plain data that JSON can hold.

        Numbers that are infinite or unknown are None. Parameters as in `summary`.
        """
        call = Caller(names, self.graph.num_vertices)
        certificate = self.certificate
        found: dict[str, Any] = plain(
            {
                "graph": self._graph_facts(call),
                "labels": self._label_facts(call),
                "goal": call(self.goal),
                "method": self._made_by,
                "status": str(self.field.status),
                "converged": self.field.status.good,
                "seconds": self.field.seconds,
                "bracket_width": self.field.width,
                "residual": self.field.residual,
                "mended": None if self.mended is None else self.mended.facts(names),
                "contradictions": self._contradiction_facts(),
                "plan": self._plan_facts(call),
                "margin": self._margin_facts(call),
                "certified": {
                    "error": np.max(certificate.error),
                    "states": certificate.certified.mean(),
                    "starts": certificate.start_certified.mean(),
                },
                "value_error_bound": self._bound_facts(),
                "routes": [self._route_facts(call, start) for start in starts],
            }
        )
        return found | {"advice": advise(self, found, IN_PYTHON)}

    def _graph_facts(self, call: Caller) -> dict[str, Any]:
        graph, lost = self.graph, np.flatnonzero(~self.plan.reachable)
        return {
            "vertices": graph.num_vertices,
            "edges": graph.num_edges,
            "directed": graph.directed,
            "least_length": graph.lengths.min(initial=np.inf),
            "largest_length": graph.lengths.max(initial=-np.inf),
            "components": int(graph.components.max(initial=-1)) + 1,
            "strong_components": int(graph.strong_components.max(initial=-1)) + 1,
            "cannot_reach_goal": lost.size,
            "cannot_reach_examples": [call(x) for x in lost[:MOST_NAMED]],
            "without_value": int((~np.isfinite(self.field.values)).sum()),
            "behind_labels": self.behind_labels.size,
            "behind_labels_examples": [call(x) for x in self.behind_labels[:MOST_NAMED]],
        }

    def _label_facts(self, call: Caller) -> dict[str, Any]:
        values, sinks = self.labels.values, self.false_sinks
        dropped = self.labels.dropped if isinstance(self.labels, TrimmedLabels) else values[:0]
        by_vertex = dict(zip(self.labels.vertices.tolist(), values.tolist(), strict=True))
        return {
            "count": len(self.labels),
            "least": values.min(),
            "largest": values.max(),
            "false_sink_count": sinks.size,
            "false_sinks": [
                {"name": call(x), "value": by_vertex[x]} for x in sinks[:MOST_NAMED].tolist()
            ],
            "dropped_count": dropped.size,
            "dropped": [call(x) for x in dropped[:MOST_NAMED]],
            "per_graph_distance": self.distance_ratio,
        }

    def _contradiction_facts(self) -> dict[str, Any]:
        """Count what the labels prove about the graph that was solved on."""
        high, low = self.contradictions.optimistic.excess, self.contradictions.pessimistic.excess
        return {
            "too_optimistic": high.size,
            "by_up_to": high.max(initial=0.0),
            "too_pessimistic": low.size,
            "over_by_up_to": low.max(initial=0.0),
        }

    @property
    def _made_by(self) -> str:
        """How the field was made: by a method, by mending, by both, or of distances alone."""
        known, made = self.plan.reachable, describe(self.field.method)
        given = self.field.prior is not None
        alone = given and np.array_equal(self.field.values[known], self.graph_distance[known])
        if self.mended is None:
            return DISTANCE if alone and len(self.labels) == 1 else made
        by = f"mended by {describe(self.mended.method)}"
        return by if alone else f"{made}, {by}"

    def _plan_facts(self, call: Caller) -> dict[str, Any]:
        """Outcomes of the starts that can reach the goal; the others are not the plan's fault."""
        moves = self.plan
        fatal = np.flatnonzero(moves.reachable[moves.cycle_members[moves.cycle_offsets[:-1]]])
        return {
            "can_reach": moves.num_able,
            "reach": moves.num_arrived,
            "success": moves.success,
            "dead_ends": int((self.outcomes == Outcome.DEAD_END).sum()),
            "loop_count": fatal.size,
            "loops": self._loop_facts(call, fatal),
            "raised": None if self.lifted is None else self._raised_facts(call),
        }

    def _loop_facts(self, call: Caller, which: NDArray[np.int64]) -> list[dict[str, Any]]:
        """Describe those of the loops that catch the most starts."""
        moves = self.plan
        caught = np.bincount(moves.basin[moves.basin >= 0], minlength=len(moves.cycles))
        touching = moves.touches(self.labels)
        worst = which[np.argsort(-caught[which], kind="stable")[:MOST_NAMED]]
        return [
            {
                "states": [call(x) for x in moves.cycles[i][: 2 * MOST_NAMED]],
                "size": moves.cycles[i].size,
                "catches": int(caught[i]),
                "touches_a_label": bool(touching[i]),
            }
            for i in worst
        ]

    def _raised_facts(self, call: Caller) -> dict[str, Any]:
        states = self.raised_states
        return {
            "count": states.size,
            "most": self.raised[states].max(initial=0.0),
            "states": [{"name": call(x), "by": self.raised[x]} for x in states[:MOST_NAMED]],
        }

    def _margin_facts(self, call: Caller) -> dict[str, Any]:
        """Least and median margin of the routes, and the states that decide the least ones."""
        least, certificate = self.route_margins, self.certificate
        if not least.size:
            return {"least": None, "median": None, "weakest": []}
        walked = self.plan.reached.copy()
        walked[self.goal] = False
        counts = np.bincount(certificate.weakest[walked], minlength=walked.size)
        states = np.flatnonzero(counts)
        states = states[certificate.margin[states] < np.inf]
        rounded = np.round(certificate.margin[states], 9)  # rounding alone orders nothing
        order = np.lexsort((states, -counts[states], rounded))
        return {
            "least": least.min(),
            "median": np.quantile(least, 0.5, method="lower"),
            "weakest": [
                {"name": call(x), "margin": certificate.margin[x], "routes": int(counts[x])}
                for x in states[order[:MOST_NAMED]]
            ],
        }

    def _bound_facts(self) -> dict[str, Any]:
        """How far the values can be from the truth if labels and graph are right."""
        if self.lifted is not None and not self.lifted.unchanged:
            return {"largest": None, "median": None}
        bound: FloatArray = self.certificate.by_distance.bound[self.plan.reachable]
        return {"largest": bound.max(), "median": np.quantile(bound, 0.5, method="lower")}

    def _route_facts(self, call: Caller, start: int) -> dict[str, Any]:
        walk = self.route(start)
        begun = walk.outcome is not Outcome.UNREACHABLE
        margin, weakest = self.certificate.start_margin[start], self.certificate.weakest[start]
        return {
            "start": call(start),
            "outcome": str(walk.outcome),
            "steps": walk.path.size - 1 if begun else None,
            "cost": walk.cost if begun else None,
            "margin": margin,
            "weakest": call(weakest) if begun and margin < np.inf else None,
            "path": [call(x) for x in walk.path],
        }

    def __repr__(self) -> str:
        made = f"{self._made_by}: {self.field.status}"
        moves = self.plan
        reach = f"{moves.num_arrived:,} of {moves.num_able:,} starts that can reach the goal do"
        count = self.raised_states.size
        lift = f", {number_of(count, 'values')} raised" if count else ""
        return f"Answer({made}; {reach}{lift})"


def labels_around(graph: Graph, labels: Labels) -> tuple[FloatArray, FloatArray]:
    """Least and largest label beside the part of the graph that each vertex is in, labels removed.

    (n,) each; +inf and -inf at labels, and where there is none.
    """
    free = ~labels.mask(graph)
    tails, heads, n = graph.tails, graph.indices, graph.num_vertices
    inside = free[tails] & free[heads]
    ones = np.ones(inside.sum())
    apart = sparse.csr_array((ones, (tails[inside], heads[inside])), shape=(n, n))
    part = sparse.csgraph.connected_components(apart, directed=False)[1]
    values = np.zeros(n)
    values[labels.vertices] = labels.values
    least, largest = np.full(n, np.inf), np.full(n, -np.inf)
    for x, y in ((tails, heads), (heads, tails)):
        beside = free[x] & ~free[y]
        np.minimum.at(least, part[x[beside]], values[y[beside]])
        np.maximum.at(largest, part[x[beside]], values[y[beside]])
    return np.where(free, least[part], np.inf), np.where(free, largest[part], -np.inf)
