"""Who reaches the goal: arms, and how the walks from every start of a cell end.

An arm is a method, which gives the field, and a greedy rule, which walks on it. A `Trial` is a
drawn cell at work: the fields of all its goals are solved together, once for each method, and
every start's outcome is read off the plans. Two figures come out of each: success over the
sampled start–goal pairs, the paper's measure, and over *all* starts of all goals (``_all``),
which has no sampling error in the starts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import asdict, dataclass, replace
from math import inf, isnan
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

import wayfield as wf
from wayfield.audit import End, mechanism, ordering, pool, strict_extrema, walk_ends
from wayfield.audit.decisions import Ordering
from wayfield.fields import Extension
from wayfield.plans.planning import Plan, RuleName, TieName
from wayfield.typing import FloatArray

from ..engine.proofs import COLUMN, proof_digest
from ..engine.tasks import Row
from ..paper.grid import PAPER_RELAXATION, PAPER_SWEEPS
from ..report.charts import Look
from ..sweeps import MidrangeSweeps, swept
from .mazes import Draw, MazeCell
from .methods import find_method

ENDS = {
    "reached": End.REACHED,
    "boundary": End.BOUNDARY,
    "interior": End.INTERIOR,
    "dead_ends": End.DEAD_END,
}
"""Columns that count walks by how they end."""
NAMES = {end.value: end.name.lower() for end in End}
"""Ends of walks by their number, as stored for every sampled pair."""
PAIR_COLUMNS = ("pair_goal", "pair_start", "pair_end", "pair_cost", "pair_least")
"""What is stored of every sampled pair."""
SCOPES = {"all": "all_", "eval_rollouts": "eval_"}
"""Scopes of the ordering audit, and how their columns begin where an arm has one row."""
Fields: TypeAlias = Iterable[Extension | FloatArray]


@dataclass(frozen=True)
class Arm(Look):
    """One way to plan: a method, and how to move on its field; argmin Q, the paper's, by default.

    Attributes
    ----------
    name, title, colour, shape : str
        In tables of figures, for people, and in charts.
    method : Method, or function of a graph and labels
        Gives the field.
    ties : {"index", "exit"}
        How ties are broken.
    rule : {"q", "slope"}
        The greedy rule.
    """

    method: Any = dataclasses.field(kw_only=True)
    ties: TieName = dataclasses.field(default="index", kw_only=True)
    rule: RuleName = dataclasses.field(default="q", kw_only=True)

    def by_exits(self) -> Arm:
        """Return the same arm with ties broken towards exits."""
        name, title = f"{self.name}{EXIT}", f"{self.title}, exit ties"
        return replace(self, name=name, title=title, ties="exit")


EXIT = "_exit"
"""How names of arms with exit ties end."""


def power_arm(p: int) -> Arm:
    """Return the arm of the p-Laplacian extension, solved exactly.

    Examples
    --------
    >>> power_arm(8).name
    'p8'
    """
    return Arm(f"p{p}", f"p = {p}, exact", "line-c", "falling", method=wf.PLaplacian(p))


HARMONIC = Arm("harmonic", "harmonic", "harmonic", method=wf.Harmonic())
STOPPED = MidrangeSweeps(PAPER_SWEEPS, "harmonic", PAPER_RELAXATION)
SWEEPS = Arm("sweeps", "AMLE, stopped", "sweeps", "square", method=STOPPED)
EXACT = Arm("amle", "AMLE, exact", "exact-line", "triangle", method=wf.AMLE())
EXACT_EXIT = replace(EXACT.by_exits(), colour="exit", shape="diamond")
NEAREST = Arm("nearest", "nearest label", "nearest", "plus", method=wf.NearestLabel())
ORACLE = Look("oracle", "oracle", "oracle", "star")
"""Walks on the true cost-to-go: the most any field can do."""
ARMS = (HARMONIC, SWEEPS, EXACT, EXACT_EXIT, NEAREST)
"""The paper's, with the AMLE solved exactly beside it."""
RIVALS = tuple(
    Arm(name, title, method=find_method(name))
    for name, title in (
        ("game", "game p-Laplacian, p = 10"),
        ("wnll", "weighted nonlocal Laplacian"),
        ("properly-weighted", "properly weighted Laplacian"),
        ("poisson", "Poisson learning"),
        ("matern", "Matérn process"),
        ("biharmonic", "biharmonic"),
        ("inverse-distance", "inverse distance"),
        ("envelopes", "mean of envelopes"),
    )
)
COMPARED = (*ARMS, NEAREST.by_exits(), *RIVALS)
"""The arms of a table, if a study names no methods."""
KNOWN = {arm.name: arm for arm in (HARMONIC, SWEEPS, EXACT, NEAREST, *RIVALS)}


def arms_of(method: str, usual: Sequence[Arm] = COMPARED) -> Sequence[Arm]:
    """Return the arms of a cell: of the method that it names, by both tie rules, or the usual ones.

    ``"rivals"`` names all rivals at once, by the paper's tie rule.

    Examples
    --------
    >>> [arm.name for arm in arms_of("p=8")]
    ['p8', 'p8_exit']
    >>> [arm.title for arm in arms_of("game=20")]
    ['game=20', 'game=20, exit ties']
    """
    if not method:
        return usual
    if method == "rivals":
        return RIVALS
    power = method.removeprefix("p=")
    if method in KNOWN:
        arm = KNOWN[method]
    elif power != method and power.isdecimal():
        arm = power_arm(int(power))
    else:
        arm = Arm(method, method, "line-a", "square", method=find_method(method))
    return arm, arm.by_exits()


def title_of(arm: str) -> str:
    """Return the name of an arm for people, without its tie rule.

    Examples
    --------
    >>> title_of("amle_exit"), title_of("mine:game_exit"), title_of("p8")
    ('AMLE, exact', 'mine:game', 'p = 8, exact')
    """
    name = arm.removesuffix(EXIT)
    if name == ORACLE.name:
        return ORACLE.title
    if name[:1] == "p" and name[1:].isdecimal():
        return power_arm(int(name[1:])).title
    return KNOWN[name].title if name in KNOWN else name


class Swept(NamedTuple):
    """A field, its residual, and the number of midrange sweeps that it has seen."""

    values: FloatArray
    residual: float = np.nan
    sweeps: int = 0


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
    ``cost_all``, ``least_cost_all``
        Sums over all starts that arrive: cost paid, and least cost.
    ``weighted``
        Sum over the sampled pairs of least cost over cost, 0 where the walk does not arrive
        (success weighted by path length).
    ``sinks``
        Strict minima of the first goal's field at any vertex but the goal, labels included.
    ``residual``, ``width``
        Largest residual of a field, averaged over goals, inf if unknown; and width of the widest
        bracket relative to the range of the labels, inf without a bracket.
    ``proof``
        Digest of the proof of the first goal's field; empty if its method has no bracket.
    """

    def __init__(self, drawn: MazeCell | Draw) -> None:
        self.drawn = drawn.draw() if isinstance(drawn, MazeCell) else drawn
        self._solved: dict[Any, list[Extension]] = {}
        self._planned: dict[Any, tuple[list[FloatArray], list[Plan]]] = {}

    def from_starts(self, starts: NDArray[np.int64]) -> Trial:
        """Return the same trial from other starts; fields and plans are shared."""
        other = copy(self)
        other.drawn = replace(self.drawn, starts=starts)
        return other

    @property
    def spans(self) -> list[float]:
        """Range of every goal's labels, at least 1: errors are given relative to it."""
        return [max(labels.span, 1.0) for labels in self.drawn.labels]

    def fields(self, method: Any) -> list[Extension]:
        """Return the extensions of every goal's labels."""
        key = method if isinstance(method, Hashable) else id(method)
        if key not in self._solved:
            drawn = self.drawn
            self._solved[key] = wf.extend_many(drawn.graph, drawn.labels, method, workers=1)
        return self._solved[key]

    def swept(
        self, fields: Iterable[Swept], sweeps: int, relaxation: float, tolerance: float = 0.0
    ) -> list[Swept]:
        """Sweep a field for every goal until its residual is within the tolerance.

        `sweeps` is the largest number, those made before counted in.
        """
        graph, found, known = self.drawn.graph, dict[int, Swept](), list(fields)
        fixed = [labels.mask(graph) for labels in self.drawn.labels]
        # together those that have as many sweeps to go
        for before in {field.sweeps for field in known}:
            some = [k for k, field in enumerate(known) if field.sweeps == before]
            masks, first = [fixed[k] for k in some], [known[k].values for k in some]
            done = swept(graph, masks, first, sweeps - before, relaxation, tolerance)
            for k, (values, residual, made) in zip(some, done, strict=True):
                found[k] = Swept(values, residual, before + made)
        return [found[k] for k in range(len(known))]

    def plans(self, fields: Fields, rule: RuleName, ties: TieName) -> list[Plan]:
        """Plan on one field for every goal; the latest plans are kept for the next question."""
        known = [field.values if isinstance(field, Extension) else field for field in fields]
        asked = (*map(id, known), rule, ties)
        if asked not in self._planned:
            goals = zip(known, self.drawn.goals.tolist(), strict=True)
            made = [wf.plan(self.drawn.graph, field, goal, rule, ties) for field, goal in goals]
            self._planned.clear()
            self._planned[asked] = known, made  # an object that is kept shares its id with none
        return self._planned[asked][1]

    def row(self, arm: Arm, pairs: bool = False) -> Row:
        """Count how an arm's walks end, and measure how good its fields are."""
        fields = self.fields(arm.method)
        widths = [field.width / span for field, span in zip(fields, self.spans, strict=True)]
        residuals = [inf if isnan(field.residual) else field.residual for field in fields]
        quality: Row = {"residual": float(np.mean(residuals)), "width": max(widths)}
        quality |= {COLUMN: proof_digest(fields[0])}
        return self._row(arm, fields, quality, pairs, arm.rule, arm.ties)

    def oracle_row(self, pairs: bool = False) -> Row:
        """Return the same row for walks on the true cost-to-go."""
        quality: Row = {"residual": 0.0, "width": 0.0, COLUMN: ""}
        return self._row(ORACLE, self.drawn.truths, quality, pairs)

    def _row(
        self,
        look: Look,
        fields: Fields,
        quality: Row,
        pairs: bool,
        rule: RuleName = "q",
        ties: TieName = "index",
    ) -> Row:
        kept: Row = {name: [] for name in PAIR_COLUMNS} if pairs else {}
        outcomes = self.outcomes(fields, rule, ties, kept)
        return {"arm": look.name, "ties": ties} | outcomes | quality | kept

    def outcomes(
        self,
        fields: Fields,
        rule: RuleName = "q",
        ties: TieName = "index",
        pairs: Row | None = None,
    ) -> Row:
        """Plan on one field for every goal, by the paper's rule if no other is given, and count.

        Goal, start, end, cost and least cost of every sampled pair are added to the lists in
        `pairs`; the cost is infinite where the walk does not arrive.
        """
        drawn, graph = self.drawn, self.drawn.graph
        known = [field.values if isinstance(field, Extension) else field for field in fields]
        sampled, everyone = np.zeros((2, len(End)), dtype=np.int64)
        cost, least, weighted = 0.0, 0.0, 0.0
        routes = self.plans(known, rule, ties)
        for route, labels, goal, truth, starts in zip(
            routes, drawn.labels, drawn.goals.tolist(), drawn.truths, drawn.starts, strict=True
        ):
            # how the walks end, from the sampled starts and from all but the goal
            ends = walk_ends(route, labels)
            sampled += np.bincount(ends[starts], minlength=len(End))
            everyone += np.bincount(np.delete(ends, goal), minlength=len(End))
            # cost paid by the walks that arrive, and their least cost; both are 0 at the goal
            cost += float(route.cost[route.reached].sum())
            least += float(truth[route.reached].sum())
            arrive = starts[route.reached[starts]]  # none is the goal itself
            weighted += float((truth[arrive] / route.cost[arrive]).sum())
            if pairs:
                paid = np.where(route.reached, route.cost, np.inf)[starts]
                named = [NAMES[each] for each in ends[starts].tolist()]
                columns = [goal] * starts.size, starts, named, paid, truth[starts]
                for name, column in zip(PAIR_COLUMNS, columns, strict=True):
                    pairs[name] += list(column)

        # with the goal as the only label, all other vertices are interior
        sinks, _ = strict_extrema(graph, wf.Labels([int(drawn.goals[0])], [0.0]), known[0])
        return {
            "vertices": graph.num_vertices,
            "labels": max(len(labels) for labels in drawn.labels),
            "pairs": sampled.sum(),
            **{name: sampled[end] for name, end in ENDS.items()},
            "starts_all": everyone.sum(),
            **{f"{name}_all": everyone[end] for name, end in ENDS.items()},
            "cost_all": cost,
            "least_cost_all": least,
            "weighted": weighted,
            "sinks": len(sinks),
        }

    def audits(self, fields: Fields, ties: TieName = "index") -> Iterator[Ordering]:
        """Audit how the fields of all goals rank neighbours, argmin Q as the plan."""
        drawn, known = self.drawn, list(fields)
        for field, route, truth, starts in zip(
            known, self.plans(known, "q", ties), drawn.truths, drawn.starts, strict=True
        ):
            yield ordering(drawn.graph, field, truth, route.goal, route, starts)

    def ordering_counts(self, fields: Fields, ties: TieName = "index") -> Row:
        """Audit how fields of all goals rank neighbours, in both scopes."""
        found = list(self.audits(fields, ties))
        return {
            prefix + figure: value
            for scope, prefix in SCOPES.items()
            for figure, value in asdict(pool(getattr(audit, scope) for audit in found)).items()
        }

    def mechanism_counts(self, harmonic: Fields, amle: Fields) -> Row:
        """Audit the harmonic walks of all goals, and another field's decisions at their states."""
        drawn, smooth = self.drawn, list(harmonic)
        audits = (
            mechanism(drawn.graph, field, sharp, truth, route.goal, starts, route)
            for field, route, sharp, truth, starts in zip(
                smooth, self.plans(smooth, "q", "index"), amle, drawn.truths, drawn.starts,
                strict=True,
            )
        )  # fmt: skip
        return asdict(pool(audits))
