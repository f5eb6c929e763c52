"""One question and its answer: the field, the plan on it, and the certificate of the plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..certify import Certificate, certify
from ..descending import Descending, descending
from ..errors import InputError
from ..extension import Extension, Method, extend
from ..graph import Graph
from ..labels import Labels
from ..plan import Outcome, Plan, plan

OUTCOMES = (Outcome.REACHED, Outcome.LOOP, Outcome.DEAD_END, Outcome.UNREACHABLE)


@dataclass(frozen=True, eq=False)
class Question:
    """What the user wants to know.

    Attributes
    ----------
    graph, labels, goal, method
        What to extend, how, and where to go.
    called : callable
        Name of a vertex, for a person.
    starts : tuple of int
        Where routes are to begin.
    error : float
        How far the values may be from the true cost-to-go.
    repair : bool
        Whether to lift the field, as little as possible, until greedy walks always arrive.
    """

    graph: Graph
    labels: Labels
    goal: int
    method: Method
    called: Callable[[int], str]
    starts: tuple[int, ...] = ()
    error: float = 0.0
    repair: bool = False


@dataclass(frozen=True, eq=False)
class Result:
    """The answer: field, plan and certificate."""

    question: Question
    field: Extension
    plan: Plan
    certificate: Certificate
    lifted: Descending | None

    @cached_property
    def outcomes(self) -> NDArray[np.int8]:
        """(n,) positions in `OUTCOMES`: how the walk from each start ends."""
        way = np.select([self.plan.reached, self.plan.basin >= 0], [0, 1], 2)
        way[~self.plan.reachable] = 3
        return way.astype(np.int8)

    @property
    def able(self) -> int:
        """Starts other than the goal that can reach it."""
        return int(self.plan.reachable.sum()) - 1

    @property
    def arrived(self) -> int:
        """Starts other than the goal whose walk reaches it."""
        return int(self.plan.reached.sum()) - 1

    @property
    def success(self) -> float:
        """Share of the starts that can reach the goal whose walk does; 1 if there are none."""
        return self.arrived / self.able if self.able else 1.0

    @property
    def good(self) -> bool:
        """Whether the solve kept its promise and every route asked for arrives."""
        reached = self.plan.reached[list(self.question.starts)]
        return bool(self.field.status.good and reached.all())


def check_method(method: Method, directed: bool) -> None:
    """Raise if the method has no meaning on the graph."""
    if directed and not method.directed:
        raise InputError(
            f"{type(method).__name__} is not defined on directed graphs: use --method amle, "
            "or an undirected graph"
        )


def answer(question: Question) -> Result:
    """Extend, plan and certify."""
    graph, goal, method = question.graph, question.goal, question.method
    check_method(method, graph.directed)
    field = extend(graph, question.labels, method, unreachable="nan", check=False)
    known = np.where(np.isnan(field.values), np.inf, field.values)
    lifted = descending(graph, known, goal) if question.repair else None
    judged, labels = field, question.labels
    if lifted is not None and not lifted.unchanged:
        # neither the bracket nor the labels that were lifted are those of the lifted field
        known = lifted.values
        judged = replace(field, values=known, lower=None, upper=None)
        kept = known[labels.vertices] == labels.values
        labels = Labels(labels.vertices[kept], labels.values[kept], labels.error)
    moves = plan(graph, known, goal)
    certificate = certify(graph, labels, judged, moves, question.error)
    return Result(question, field, moves, certificate, lifted)
