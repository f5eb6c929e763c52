"""Action gaps: a move is optimal if it leads every other by more than the errors can make up.

Write Q(s, y) = ℓ(s, y) + u(y) for the field u and Q*(s, y) = ℓ(s, y) + V(y) for the true cost-to-go
V. At a state s other than the goal the plan moves to c. Its **gap** is

    gap(s) = min over the other out-neighbours b of Q(s, b) - Q(s, c),

0 at a tie, negative if the plan did not take the least Q (the slope rule need not), +inf at the
goal and where there is no other move, -inf where there is no move or the move leads to a state that
cannot reach the goal on the graph. The **margin** is gap / 2.

**Half-gap lemma.** *Let arcs cost what the graph says, and let |u(y) - V(y)| ≤ e at c and at every
other out-neighbour of s from which the goal can be reached. If gap(s) > 2e, then c is the only
optimal move from s.*

*Proof.* For such a neighbour b, Q*(s, b) - Q*(s, c) ≥ Q(s, b) - e - Q(s, c) - e ≥ gap(s) - 2e > 0.
For any other b, Q*(s, b) = +inf, and Q*(s, c) is finite, as c can reach the goal. So Q*(s, ·) has
its only minimum at c, and by Bellman's equation V(s) = Q*(s, c). ∎ With a separate bound e_y at
each vertex, the proof needs Q(s, b) - Q(s, c) > e_b + e_c at every b.

**Planner admissibility.** *If all states on the walk from a start are certified, and the error
bounds hold, the walk reaches the goal, at the least possible cost.*

*Proof.* Each step has V(s) = ℓ(s, c) + V(c) with ℓ > 0, so V falls strictly: no state recurs,
and the graph is finite. The walk ends where there is no certified move to make, at the goal. Adding
up the steps, its cost is V(start) - V(goal) = V(start). ∎ This holds on directed graphs too,
whatever the lengths.

The converses are not claimed. A move that is not certified may well be optimal, and two optimal
moves that tie are never certified. But a cycle of certified states contradicts the theorem, so it
proves the error bounds wrong (`refuted`).

**Numbers.** With a bracket, lower ≤ u ≤ upper, the gap is computed from lower(b) and upper(c), with
all sums rounded against the plan. So `gap` is a lower bound for the exact extension, and for every
other field in the bracket. A tie inside the bracket is never certified. Without a bracket the
values themselves are the field u. The comparison with e_b + e_c is exact; the sum is rounded up.

**Unreachable goal.** A neighbour that cannot reach the goal is ignored, whatever its value. +inf
(or NaN, which a plan reads as +inf) means "cannot reach the goal". Where the graph contradicts
this, as may happen with a prior or an unlabelled goal, the value is unknown and s is not certified:
gap -inf.

**Cost**: O(n + m), one pass over the arcs and one over the moves.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import KeepsReadOnly, as_floats, as_real, as_real_array, frozen, owned, refuse
from ..errors import InputError
from ..fields import Extension, Status, check_field, field_sections
from ..fields.base import GivenField
from ..fields.extension import missed_text
from ..graphs.graph import Graph, check_graph, same_graph
from ..graphs.labels import Labels, check_labels
from ..numerics import proof_file
from ..plans.planning import Plan
from ..typing import BoolArray, FloatArray
from ..words import percent
from .intervals import Intervals, interval_test
from .kernels import along_walks, decisions

RULES = ("slope", "q")
"""The planner's rules, in the order of their numbers in a file."""


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(KeepsReadOnly):
    """Which moves of a plan are proved optimal.

    `proved` and `route_proved` use the labels and the graph's distances (the interval test). The
    attributes below use the field and a bound on its error.

    Attributes
    ----------
    gap : (n,) float array
        Lower bound on the lead of each state's move over its best rival; see the module.
    margin : (n,) float array
        Half the gap: no error below the margin changes the best move.
    certified : (n,) bool array
        Whether the move is optimal if the field is within `error` of the truth, and each arc costs
        what the graph says. Never where the goal cannot be reached.
    start_margin : (n,) float array
        Least margin on the walk from each start, including its cycle. A start that reaches the goal
        is certified for every error below it. +inf at the goal.
    weakest : (n,) int64 array
        First state of the walk with that margin; -1 for the goal.
    first_weak : (n,) int64 array
        First state of the walk that is not certified; -1 if there is none.
    error : float or (n,) float array
        The assumed bound on the field's error.
    bracketed : bool
        Whether the gaps hold for the exact extension; otherwise only for the computed values.
    labels, extension, plan
        Inputs of the certificate. An array is an `Extension` without a bracket; without labels,
        `labels` is the goal's 0 alone.
    field : Extension
        The field that was extended: `extension`, or the field before `solve` lifted it.
    labelled : bool
        Whether labels were given. If not, only `error` proves.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield.certificates import certify
    >>> path = wf.Graph.from_edges(range(5), range(1, 6))
    >>> labels = wf.Labels([0, 5], [0.0, 5.0])
    >>> field = wf.extend(path, labels, wf.AMLE())
    >>> cert = certify(path, labels, field, wf.plan(path, field.values, goal=0))
    >>> cert.margin
    array([inf, 1., 1., 1., 1., inf])
    >>> bool(cert.start_certified.all()), cert.refuted
    (True, False)
    """

    gap: FloatArray
    margin: FloatArray
    certified: BoolArray
    start_margin: FloatArray
    weakest: NDArray[np.int64]
    first_weak: NDArray[np.int64]
    error: float | FloatArray
    bracketed: bool
    labels: Labels
    extension: Extension
    plan: Plan
    field: Extension
    labelled: bool = True

    @cached_property
    def start_certified(self) -> BoolArray:
        """(n,) bool: whether the walk from each start reaches the goal through certified states."""
        return frozen(self.plan.reached & (self.first_weak < 0))

    @property
    def refuted(self) -> bool:
        """Whether some cycle is fully certified: then the error bound is wrong."""
        return bool((~self.plan.reached & (self.first_weak < 0)).any())

    @cached_property
    def intervals(self) -> Intervals:
        """What labels and distances prove, for any field; computed on first use."""
        if not self.labelled:
            below = frozen(np.zeros(self.gap.size))
            goal = frozen(np.arange(below.size) == self.plan.goal)
            above = frozen(np.where(goal, 0.0, np.inf))
            return Intervals(below, above, goal, goal, label_error=0.0, refuted=False)
        labels = self.field.labels or self.labels
        # the error may have been stated only here
        error = max(labels.error, self.labels.error)
        return interval_test(
            self.plan.graph, Labels(labels.vertices, labels.values, error), self.plan
        )

    @property
    def proved(self) -> BoolArray:
        """(n,) bool: whether each move is proved optimal by the interval test.

        This assumes that the labels are right within their error, that no arc is false, and that
        each costs what the graph says. It needs no bound on the error of the field.
        """
        return self.intervals.proved

    @property
    def route_proved(self) -> BoolArray:
        """(n,) bool: whether the whole route from each start is proved optimal."""
        return self.intervals.route_proved

    @cached_property
    def error_bound(self) -> FloatArray:
        """(n,) bound on the distance of the field from the true cost-to-go, by the intervals."""
        ext = self.extension
        lower = ext.values if ext.lower is None else ext.lower
        upper = ext.values if ext.upper is None else ext.upper
        return frozen(self.intervals.error_bound(lower, upper))

    def write_proof(
        self, path: str | os.PathLike[str], names: Collection[object] | bool = False
    ) -> Path:
        """Write field, proof, plan, and the proved and certified moves to one file.

        Like `Extension.write_proof`, with the plan: ``python -m wayfield_verify FILE`` follows
        every start, sums its cost, and proves these moves again. For a lifted plan, the lifted
        values are written as well. Return the path.

        Examples
        --------
        >>> import tempfile
        >>> import wayfield as wf
        >>> path = wf.Graph.from_edges(range(5), range(1, 6))
        >>> answer = wf.solve(path, wf.Labels([0, 5], [0.0, 5.0]), goal=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     answer.write_proof(f"{folder}/plan.proof").name
        'plan.proof'
        """
        return proof_file.write(path, self.sections(names))

    def sections(self, names: Collection[object] | bool = False) -> list[proof_file.Section]:
        """Return the sections of the file."""
        plan, field = self.plan, self.field
        moves = struct.pack("<IBd", plan.goal, RULES.index(plan.rule), plan.tie_tolerance)
        found = [
            *field_sections(field, names),
            ("goal", moves),
            proof_file.indices("succ", plan.successor),
            proof_file.counts("hops", np.maximum(plan.steps, 0)),
        ]
        if not plan.graph.is_unit:
            found.append(proof_file.doubles("cost", plan.cost))
        if self.extension is not field:
            found.append(proof_file.doubles("lift", plan.values))
        found.append(proof_file.doubles("erro", np.atleast_1d(self.error)))
        found.append(proof_file.bits("opti", self.certified))
        if self.proved.any():
            found.append(("intv", struct.pack("<d", self.intervals.label_error)))
            found.append(proof_file.bits("prov", self.proved))
        return found

    def __repr__(self) -> str:
        moves, routes = percent(self.proved.mean()), percent(self.route_proved.mean())
        text = f"{moves} of moves and {routes} of routes proved optimal"
        if not self.labelled:
            text = "no labels"
        elif self.intervals.refuted:
            text = "labels and graph contradict each other, so nothing is proved"
        if np.max(self.error) > 0.0:
            states, starts = percent(self.certified.mean()), percent(self.start_certified.mean())
            least, most = np.min(self.error), np.max(self.error)
            error = f"up to {most:g}" if least == most else f"of {least:g} to {most:g}"
            text += f"; {states} and {starts} certified for errors {error}"
        text += "" if self.bracketed else "; no bracket"
        missed = self.plan.values[self.labels.vertices] - self.labels.values
        if self.labelled and missed.any():
            text += f"; the field differs from {missed_text(missed)}"
        text += "; a certified cycle refutes this error bound" if self.refuted else ""
        return f"Certificate({self.gap.size:,} states: {text})"


def certify(
    graph: Graph,
    labels: Labels | None,
    field: Extension | ArrayLike,
    plan: Plan,
    error: ArrayLike = 0.0,
) -> Certificate:
    """Return which moves of a plan are proved optimal: by the labels, or by the field's error.

    Parameters
    ----------
    graph : Graph
        The graph that was planned on.
    labels : Labels or None
        All labels that were extended: `Certificate.proved` relies on them, within their error. The
        field may differ from them. None if there are none; then only `error` proves.
    field : Extension or (n,) array
        The field, with its bracket if it has one. An array is any field that you have, such as a
        learned critic.
    plan : Plan
        A plan on that field: ``wf.plan(graph, field, goal)``.
    error : float or (n,) array
        Bound on the difference between field and true cost-to-go: one for all, or one per vertex,
        +inf where nothing is known. With 0 a move is certified if it is optimal for a field that is
        exactly right.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges(range(5), range(1, 6))
    >>> labels = wf.Labels([0, 5], [0.0, 5.0])
    >>> field = wf.extend(path, labels, wf.AMLE())
    >>> plan = wf.plan(path, field, goal=0)
    >>> cert = certify(path, labels, field, plan, error=0.9)
    >>> cert
    Certificate(6 states: 100 % of moves and 100 % of routes proved optimal; 100 % and 100 % ...)
    >>> cert.gap, cert.start_margin
    (array([inf, 2., 2., 2., 2., inf]), array([inf, 1., 1., 1., 1., 1.]))
    >>> certify(path, labels, field, plan, error=1.0).first_weak
    array([-1,  1,  2,  3,  4,  4])

    Here the labels determine the true cost-to-go, so every move is proved without `error`:

    >>> cert.intervals.lower, cert.intervals.upper
    (array([0., 1., 2., 3., 4., 5.]), array([0., 1., 2., 3., 4., 5.]))
    >>> cert.proved
    array([ True,  True,  True,  True,  True,  True])

    A field from elsewhere, without labels, whose values are off by at most 0.4:

    >>> critic = [0.0, 1.2, 1.8, 3.3, 4.0, 5.4]
    >>> certify(path, None, critic, wf.plan(path, critic, goal=0), error=0.4)
    Certificate(6 states: no labels; 100 % and 100 % certified for errors up to 0.4; no bracket)
    """
    # check that all parts belong together
    check_graph(graph)
    if not isinstance(plan, Plan):
        raise InputError(f"plan must be a Plan, the result of wf.plan, got {type(plan).__name__}")
    if not same_graph(graph, plan.graph):
        raise InputError(f"plan must be on the given graph, {graph!r}, got one on {plan.graph!r}")
    known = Labels([plan.goal], [0.0]) if labels is None else check_labels(labels, graph)
    values, why = plan.values, "is not the field's value there"
    refuse(check_field(graph, field) != values, values, "plan.values", why)
    ext = field
    if not isinstance(ext, Extension):
        ext = Extension(
            values, None, None, Status.NO_BRACKET, np.nan, 0, 0.0, GivenField(values), {}, graph,
            labels=labels,
        )  # fmt: skip

    # the bound on the error: one number, or a frozen array of one per vertex
    bound = as_real_array(error, "error")
    budget: float | FloatArray
    if bound.ndim == 0:
        budget = as_real(bound.item(), "error", least=0.0, most=np.inf)
        errors = frozen(np.full(values.size, budget))
    else:
        budget = errors = owned(as_floats(bound, "error", values.size))
        refuse(~(errors >= 0.0), errors, "error", "is not a bound of at least 0")

    # the gaps of the worst fields in the bracket
    lower = values if ext.lower is None else ext.lower
    upper = values if ext.upper is None else ext.upper
    rivals = np.where(np.isinf(values), -np.inf, lower)
    lower = np.where(plan.reachable, rivals, np.inf)
    moves, goal = plan.successor, plan.goal
    gap, safe = decisions(graph.arcs, frozen(lower), frozen(upper), errors, moves, goal)
    margin, certified = frozen(gap / 2.0), frozen(safe)
    least, weakest, first_weak = along_walks(moves, goal, margin, certified)
    return Certificate(
        gap=frozen(gap),
        margin=margin,
        certified=certified,
        start_margin=frozen(least),
        weakest=frozen(weakest),
        first_weak=frozen(first_weak),
        error=budget,
        bracketed=ext.lower is not None and ext.upper is not None,
        labels=known,
        extension=ext,
        plan=plan,
        field=ext,
        labelled=labels is not None,
    )
