"""Who reaches the goal: arms, and what became of every start of a cell.

An arm is a method, which gives the field, and a greedy rule, which walks on it. A `Trial` is a
drawn cell at work: the fields of all its goals are solved together, once for each method, and
every start's outcome is read off the plans. Two figures come out of each: success over the
sampled start–goal pairs, the paper's measure, and over *all* starts of all goals (``_all``),
which has no sampling error in the starts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..audit.extrema import strict_extrema
from ..extension import (
    AMLE,
    Extension,
    Harmonic,
    Method,
    MidrangeSweeps,
    NearestLabel,
    PLaplacian,
    extend_many,
)
from ..kernels._types import FloatArray
from ..labels import Labels
from ..plan import Plan, RuleName, TieName, plan
from .cells import Cell, Draw, draw
from .tasks import Row

PAPER_SWEEPS = 300
"""Midrange sweeps that stand for the paper's budget: our reading of it, see the report."""

REACHED, BOUNDARY, INTERIOR, DEAD_END = range(4)
"""Ends of a walk: the goal, a cycle through a label, one without, a state without a move."""
ENDS = ("reached", "boundary", "interior", "dead_ends")
COSTS = ("cost", "least_cost", "cost_all", "least_cost_all")


@dataclass(frozen=True)
class Arm:
    """One way to plan: a method, and how to move on its field; argmin Q, the paper's, by default.

    Attributes
    ----------
    name, title : str
        In tables of figures, and for people.
    method : Method
        Gives the field.
    ties : {"index", "exit"}
        How ties are told apart.
    rule : {"q", "slope"}
        The greedy rule.
    tie_tolerance : float
        Differences of values that count as ties.
    """

    name: str
    title: str
    method: Method
    ties: TieName = "index"
    rule: RuleName = "q"
    tie_tolerance: float = 0.0


def power_arm(p: int) -> Arm:
    """Return the arm of the certified p-Laplacian extension.

    Examples
    --------
    >>> power_arm(8).name
    'p8'
    """
    return Arm(f"p{p}", f"p = {p}", PLaplacian(p))


HARMONIC = Arm("harmonic", "harmonic", Harmonic())
SWEEPS = Arm("sweeps", f"AMLE, {PAPER_SWEEPS} sweeps", MidrangeSweeps(PAPER_SWEEPS, "harmonic"))
EXACT = Arm("amle", "AMLE, exact", AMLE())
EXACT_EXIT = replace(EXACT, name="amle_exit", title="AMLE, exact, exit ties", ties="exit")
NEAREST = Arm("nearest", "nearest label", NearestLabel())
ARMS = (HARMONIC, SWEEPS, EXACT, EXACT_EXIT, NEAREST)
ORACLE = "oracle"
"""Name of the arm that walks on the true cost-to-go: the most any field can do."""


class Trial:
    """A drawn cell at work: its fields, solved once for each method, and their outcomes.

    Notes
    -----
    Columns of a row, over all goals of the cell:

    ``vertices``, ``labels``
        Of the graph, and the most labels any goal has, its own included.
    ``pairs`` = ``reached`` + ``boundary`` + ``interior`` + ``dead_ends``
        Sampled pairs by how the walk ends: at the goal, in a cycle through a label, in one
        without, at a state without a move.
    ``starts_all`` = ``reached_all`` + …
        The same of every start of every goal.
    ``cycles``, ``perfect_goals``
        Limit cycles, and goals reached from everywhere.
    ``cost``, ``least_cost``, ``cost_all``, ``least_cost_all``
        Sums over those that reach: lengths walked, and the least there is.
    ``minima``, ``proven_minima``, ``minimum_depth``
        Strict interior minima of the fields, those a bracket proves, and the deepest.
    ``residual``, ``width``
        Largest residual, and widest bracket relative to the range of the labels; inf if none.
    """

    def __init__(self, drawn: Cell | Draw) -> None:
        self.drawn = draw(drawn) if isinstance(drawn, Cell) else drawn
        self._solved: dict[Method, list[Extension]] = {}

    @property
    def spans(self) -> list[float]:
        """Range of every goal's labels, at least 1: errors are told relative to it."""
        return [max(labels.span, 1.0) for labels in self.drawn.labels]

    def fields(self, method: Method) -> list[Extension]:
        """Extensions of every goal's labels."""
        if method not in self._solved:
            drawn = self.drawn
            self._solved[method] = extend_many(drawn.graph, drawn.labels, method, workers=1)
        return self._solved[method]

    def row(self, arm: Arm) -> Row:
        """Say what became of an arm's starts, and how good its fields are."""
        fields = self.fields(arm.method)
        widths = [field.width / span for field, span in zip(fields, self.spans, strict=True)]
        quality: Row = {"residual": max(f.residual for f in fields), "width": max(widths)}
        values = [field.values for field in fields]
        plans = self.plans(values, arm.rule, arm.ties, arm.tie_tolerance)
        return {"arm": arm.name} | self.outcomes(plans) | self.minima(fields) | quality

    def oracle_row(self) -> Row:
        """Say the same of the true cost-to-go."""
        truths = self.drawn.truths
        exact: Row = {"residual": 0.0, "width": 0.0}
        return {"arm": ORACLE} | self.outcomes(self.plans(truths)) | self.minima(truths) | exact

    def plans(
        self,
        fields: Iterable[FloatArray],
        rule: RuleName = "q",
        ties: TieName = "index",
        tie_tolerance: float = 0.0,
    ) -> list[Plan]:
        """One plan for every goal; the paper's rule by default."""
        graph, goals = self.drawn.graph, self.drawn.goals.tolist()
        return [
            plan(graph, values, goal, rule, ties, tie_tolerance)
            for values, goal in zip(fields, goals, strict=True)
        ]

    def outcomes(self, plans: Sequence[Plan]) -> Row:
        """Count starts by where they end; add up costs of those that reach beside the least."""
        drawn = self.drawn
        pairs, everyone = np.zeros(4, dtype=np.int64), np.zeros(4, dtype=np.int64)
        costs = np.zeros(4)
        for index, route in enumerate(plans):
            ends = endings(route, drawn.labels[index])
            others, starts = np.delete(np.arange(ends.size), route.goal), drawn.starts[index]
            pairs += np.bincount(ends[starts], minlength=4)
            everyone += np.bincount(ends[others], minlength=4)
            costs += (
                *_cost_and_least(route, drawn.truths[index], starts),
                *_cost_and_least(route, drawn.truths[index], others),
            )
        return {
            "vertices": drawn.graph.num_vertices,
            "labels": max(len(labels) for labels in drawn.labels),
            "pairs": int(pairs.sum()),
            **dict(zip(ENDS, pairs.tolist(), strict=True)),
            "starts_all": int(everyone.sum()),
            **{f"{end}_all": n for end, n in zip(ENDS, everyone.tolist(), strict=True)},
            "cycles": sum(len(route.cycles) for route in plans),
            "perfect_goals": sum(bool(route.reached.all()) for route in plans),
            **dict(zip(COSTS, costs.tolist(), strict=True)),
        }

    def minima(self, fields: Sequence[Extension | FloatArray]) -> Row:
        """Strict interior minima of the fields: how many, how many proven, the deepest."""
        found = [
            strict_extrema(self.drawn.graph, labels, field)[0]
            for labels, field in zip(self.drawn.labels, fields, strict=True)
        ]
        return {
            "minima": sum(len(minima) for minima in found),
            "proven_minima": sum(int(minima.proven.sum()) for minima in found),
            "minimum_depth": max(minima.deepest for minima in found),
        }


def endings(route: Plan, labels: Labels) -> NDArray[np.int64]:
    """(n,) array: how the walk from every start ends."""
    ends = np.full(route.basin.size, DEAD_END)
    ends[route.reached] = REACHED
    looping = route.basin >= 0
    touching = route.touches(labels)[route.basin[looping]]
    ends[looping] = np.where(touching, BOUNDARY, INTERIOR)
    return ends


def _cost_and_least(
    route: Plan, truth: FloatArray, starts: NDArray[np.int64]
) -> tuple[float, float]:
    """Add up, over the starts that reach, what the walks cost and what they could."""
    reached = starts[route.reached[starts]]
    return float(route.cost[reached].sum()), float(truth[reached].sum())
