"""Comparison of methods with the plain graph distance, on one graph and goal.

Every field is planned on with the default rule, and every start is walked. If the graph and its
lengths are right, nothing beats its own shortest paths: the plain distance reaches the goal from
everywhere at cost ratio 1. Labels help when the graph is only a model. The labels themselves can
show this. They are left out in turn. If a field predicts them better than the graph distance times
one factor does, labels help (`cross_validation`).

**Choice.** Only fields that predict left-out labels clearly better than the graph distance are
considered. The one from which most starts reach the goal is chosen; shares that agree in the digits
shown are equal, and then the smaller error decides. If there is no such field, nothing supports the
labels. A mended graph is better if its errors are smaller by more than one standard error.

**One verdict.** Without a choice of methods, the verdict chooses from a few fields only: the AMLE,
the graph distance corrected by the AMLE, and, if the labels contradict the graph, the mended one.
`recommend` computes just these. So `wayfield plan`, `wayfield compare`, the explorer and Python
give the same verdict on the same data; the other rows are for information.

A comparison may use the truth. No module that extends or plans imports it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from math import isnan
from typing import NamedTuple

import numpy as np

from ..certificates.contradiction import Contradictions, contradictions
from ..checks import as_real, as_vertex, as_whole
from ..errors import InputError, Message, OutOfTime
from ..fields import AMLE, Method, describe
from ..fields import time_limit as stop_after
from ..fields.names import WORDS
from ..graphs.graph import Graph, arc_slots, check_graph
from ..graphs.labels import Labels, check_labels
from ..graphs.shortest_paths import cost_to_go
from ..plans.kernels import outcomes
from ..plans.planning import Plan, plan
from ..plans.sinks import drop_false_sinks
from ..travel import Mended, MendMethod
from ..travel.selection import FEWEST as FEWEST_TRIPS
from ..travel.selection import Best
from ..typing import BoolArray, FloatArray
from ..words import PROOF, against_text, margin_text, number_of, percent, seconds_text
from . import Answer, solve
from .cross_validation import (
    FEWEST,
    FOLDS,
    PATIENCE,
    Folds,
    above_goal,
    clearly_better,
    error_text,
    label_factor,
    mean_error,
    usable,
)
from .text import IN_PYTHON
from .units import unit_question

PLAIN = "graph distance"
MENDED = "mended graph"
DIGITS = 4
"""Digits of success and cost ratio that are shown and compared."""


class Recipe(NamedTuple):
    """How a field is made from labels: a method, and what is done to its input."""

    method: Method | None
    trimmed: bool = False
    """Without labels that are false sinks."""
    corrected: bool = False
    """With the graph distance as prior."""
    mend: MendMethod | None = None
    """Distances of a graph mended by this method, without an extension."""

    @property
    def name(self) -> str:
        """The method in Python syntax, and a note on its input."""
        if self.mend is not None:
            how = describe(self.mend)
            return MENDED if how == describe(Best()) else f"{MENDED}, {how}"
        note = ", false sinks dropped" if self.trimmed else ""
        note += f" on the {PLAIN}" if self.corrected else ""
        return f"{describe(self.method)}{note}"


@dataclass(frozen=True, eq=False)
class MethodScore:
    """The score of one method: how its plan and its predictions did.

    Attributes
    ----------
    name : str
        The method, with its non-default settings.
    success : float
        Share of the starts with a path to the goal from which the plan reaches it, without the goal
        itself. NaN if the field ran out of time.
    cost_ratio : float
        Mean ratio of walked to least cost over the starts that reach the goal; NaN if none does.
    margin : float
        Error of the values that the median route tolerates; NaN if none arrives, and for the graph
        distance.
    seconds : float
        Time to compute the field, without compilation; the time spent if it ran out.
    held_out : (k,) float array or None
        Errors at labels that were left out in turn; see `CrossValidation`. None if there are too
        few labels, or the method is too slow to repeat.
    recipe : Recipe or None
        How the field was made from the labels; None for the graph distance.
    out_of_time : bool
        Whether the time limit was reached; then there is no field, and nothing was walked.
    mended : Mended or None
        The mended graph, if the field is its distances.
    own_error : float
        Held-out error by which the mended graph was chosen; NaN unless mending again takes too
        long.

    Examples
    --------
    >>> import wayfield as wf
    >>> ring = wf.Graph.from_edges(range(8), [*range(1, 8), 0])
    >>> _, amle = wf.compare(ring, wf.Labels([0, 4], [0.0, 4.0]), 0, [wf.AMLE()]).scores
    >>> amle.name, amle.success, amle.cost_ratio, round(amle.margin, 3)
    ('AMLE()', 1.0, 1.0, 1.0)
    """

    name: str
    success: float
    cost_ratio: float
    margin: float
    seconds: float
    held_out: FloatArray | None = field(default=None, repr=False)
    recipe: Recipe | None = None
    out_of_time: bool = False
    mended: Mended | None = field(default=None, repr=False)
    own_error: float = field(default=np.nan, repr=False)

    @property
    def label_error(self) -> float:
        """Mean absolute error at left-out labels; NaN if none were left out.

        For a graph that takes too long to mend again, the error by which it was chosen.
        """
        if self.held_out is not None:
            return mean_error(self.held_out)[0]
        return self.own_error

    @property
    def label_spread(self) -> float:
        """Standard error of `label_error`; NaN if it is not known."""
        return np.nan if self.held_out is None else mean_error(self.held_out)[1]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Scores, the plain graph distance first, and what they imply about the labels.

    Attributes
    ----------
    scores : tuple of MethodScore
        One per field.
    starts : int
        Number of starts with a path to the goal.
    goal_labelled : bool
        Whether the goal is among the labels. If not, no field descends to it.
    factor : float
        Factor by which the graph distance fits the labels best; NaN if only the goal is labelled.
    contradictions : Contradictions or None
        Where labels and graph cannot both be right.
    units : Message or None
        A question, if labels and lengths seem to be in different units.
    deciding : tuple of Recipe or None
        The fields that the verdict chooses from, beside the graph distance; None for all. Without
        `methods` these are the same few everywhere, so that all verdicts on the same data agree.

    Examples
    --------
    >>> import wayfield as wf
    >>> ring = wf.Graph.from_edges(range(8), [*range(1, 8), 0])
    >>> found = wf.compare(ring, wf.sample_labels(ring, 0, count=3), goal=0)
    >>> found.labels_pay, found.starts
    (False, 7)
    """

    scores: tuple[MethodScore, ...]
    starts: int
    goal_labelled: bool
    factor: float = 1.0
    contradictions: Contradictions | None = None
    units: Message | None = None
    deciding: tuple[Recipe, ...] | None = None

    @property
    def choice(self) -> MethodScore:
        """The field to plan on: the best one, or the graph distance if the labels do not help."""
        return max(
            self._clear,
            key=lambda score: (round(score.success, DIGITS), -score.label_error),
            default=self.scores[0],
        )

    @property
    def labels_pay(self) -> bool:
        """Whether some field that used labels beats the plain graph distance."""
        return bool(self._clear)

    @property
    def _clear(self) -> list[MethodScore]:
        """Fields that predict left-out labels clearly better than the graph distance."""
        plain = self.scores[0].held_out
        if plain is None:
            return []
        clear = []
        for score in self._fields:
            ours, mended = score.held_out, score.mended
            if mended is None:
                better = ours is not None and clearly_better(ours, plain)
            elif mended.predicts_as_given or isnan(score.label_error):
                better = False
            elif ours is None:  # `Best` has changed the graph by the same rule
                better = True
            else:
                gain = np.abs(plain) - np.abs(ours)
                better = bool(gain.mean() > gain.std(ddof=1) / np.sqrt(gain.size))
            if better:
                clear.append(score)
        return clear

    @property
    def _fields(self) -> list[MethodScore]:
        """Fields that used labels, finished in time, and may be recommended."""
        fields = [score for score in self.scores[1:] if not score.out_of_time]
        if self.deciding is None:
            return fields
        return [score for score in fields if score.recipe in self.deciding]

    @property
    def verdict(self) -> str:
        """One sentence: what to plan on, and why."""
        if not self.goal_labelled:
            return "The goal is not among the labels, so no field leads to it: label it."
        if self.factor < 0.0:
            return "Labels decrease away from the goal. If they are rewards, negate them."
        if not self._fields:
            late = "no other field was ready in time"
            why = late if self.scores[1:] else "there is nothing to compare it with"
            return f"Use the {PLAIN}: {why}."
        plain, best = self.scores[0], self.choice
        if plain.held_out is None:
            return (
                f"Use the {PLAIN}: nothing beats it on the graph itself, and there are too few "
                "labels to test whether they help."
            )
        distance = f"the {PLAIN} times {self.factor:.3g}"
        graphs = error_text(plain.label_error, plain.label_spread)
        if self.labels_pay:
            called = f"the {best.name}" if best.name == MENDED else best.name
            ours = error_text(best.label_error, best.label_spread)
            return (
                f"Use {called}: its mean error at labels left out is {ours}; that of "
                f"{distance} is {graphs}."
            )
        best_at_labels = "no field predicts labels left out clearly better"
        return f"Use the {PLAIN}: {best_at_labels}; the mean error of {distance} is {graphs}."

    @property
    def remarks(self) -> tuple[str, ...]:
        """Further remarks, such as labels and lengths in different units."""
        return tuple(self.remarks_for(IN_PYTHON))

    def remarks_for(self, calls: Mapping[str, str]) -> Iterator[str]:
        """Yield the remarks; `calls` holds the calls to recommend."""
        if self.units is not None:
            yield self.units
        elif self.contradictions:
            against = self.contradictions.against
            found = against_text(against, self.contradictions.num_labels, "labels")
            more = f"; {calls['mend']} says what is wrong"
            tried = [s for s in self._fields if s.mended is not None and not isnan(s.label_error)]
            if tried and not any(score in self._clear for score in tried):
                more = "; no mending by these labels predicts the others better"
            yield f"{found}; {PROOF}{more}."
        late = [score.name for score in self.scores if score.out_of_time]
        if late:
            yield f"stopped by the time limit: {', '.join(late)}; {calls['limit']} gives more time"

    @property
    def table(self) -> str:
        """The scores as text, one line per field; costs are ratios to shortest paths."""
        rows = [("method", "success", "cost", "margin", "left out", "time")]
        for score in self.scores:
            success = "out of time" if score.out_of_time else percent(score.success)
            ratio = "–" if isnan(score.cost_ratio) else f"{score.cost_ratio:.{DIGITS}f}"
            margin = "–" if isnan(score.margin) else margin_text(score.margin)
            error = "–"
            if not isnan(score.label_error):
                error = error_text(score.label_error, score.label_spread)
            rows.append((score.name, success, ratio, margin, error, seconds_text(score.seconds)))
        first, *wide = (max(map(len, column)) for column in zip(*rows, strict=True))
        text = f"{{:{first}}}" + "".join(f"   {{:>{width}}}" for width in wide)
        return "\n".join(text.format(*row) for row in rows)

    def __repr__(self) -> str:
        starts = number_of(self.starts, "starts")
        return "\n".join([f"Comparison over {starts}", self.table, self.verdict, *self.remarks])


def compare(
    graph: Graph,
    labels: Labels,
    goal: int,
    methods: Iterable[Method | MendMethod | Recipe] | None = None,
    *,
    folds: int = FOLDS,
    time_limit: float | None = PATIENCE,
    progress: Callable[[str], None] | None = None,
) -> Comparison:
    """Compare extensions of the labels with the plain graph distance.

    Parameters
    ----------
    graph : Graph
        The model of the world on which fields are computed and plans are made.
    labels : Labels
        The known values.
    goal : int
        The goal.
    methods : iterable of Method, MendMethod or Recipe, optional
        What to compare. Default: every method that is defined on the graph, the AMLE without false
        sinks, the AMLE correction of the graph distance (``prior=``), and the distances of the
        graph that `Best` mends by the labels, if they contradict the graph.
    folds : int
        Number of parts of the labels that are left out in turn; 0 for none. Methods that would run
        out of time are skipped.
    time_limit : float or None
        Limit in seconds for each method, without compilation; None for no limit. A method that runs
        out of time has a row without figures. See `wayfield.fields.time_limit`.
    progress : callable, optional
        Called with the name of each field before it is computed.

    Examples
    --------
    >>> import wayfield as wf
    >>> ring = wf.Graph.from_edges(range(8), [*range(1, 8), 0])
    >>> found = wf.compare(ring, wf.sample_labels(ring, 0, count=3), goal=0)
    >>> found.scores[0].name, found.scores[0].success, found.scores[0].cost_ratio
    ('graph distance', 1.0, 1.0)
    """
    goal = as_vertex(goal, "goal", check_graph(graph).num_vertices)
    check_labels(labels, graph)
    limit = None if time_limit is None else as_real(time_limit, "time_limit", least=0.0)
    began = time.perf_counter()
    distance = cost_to_go(graph, goal)
    seconds = time.perf_counter() - began
    able = np.isfinite(distance)
    able[goal] = False
    if not able.any():
        raise InputError(f"no other vertex can reach the goal {goal}: there is nothing to compare")
    parts = None  # of the labels; None if there are too few, or if none are left out
    if as_whole(folds, "folds", least=0) and usable(labels, distance).size >= FEWEST:
        parts = Folds(graph, labels, goal, distance, folds)
    contest = _Contest(graph, labels, goal, distance, able, parts, limit)
    success, ratio = contest.walk(plan(graph, distance, goal))
    errors = None if parts is None else parts.by_distance() - parts.values
    scores = [MethodScore(PLAIN, success, ratio, np.nan, seconds, errors)]
    deciding, goal_labelled = None, goal in labels.vertices
    if methods is None:
        deciding = tuple(_deciding(graph, labels, goal, distance))
        trimmed = [Recipe(AMLE(), trimmed=True)] if goal_labelled else []
        every = [*map(Recipe, default_methods(graph.directed)), *trimmed, *deciding]
    else:
        every = _recipes(methods, graph.directed)
    for recipe in dict.fromkeys(every):
        if progress is not None:
            progress(recipe.name)
        scores.append(contest.score(recipe))
    return Comparison(
        tuple(scores),
        starts=int(able.sum()),
        goal_labelled=goal_labelled,
        factor=label_factor(labels, goal, distance),
        contradictions=contradictions(graph, labels),
        units=unit_question(*above_goal(labels, goal, distance)),
        deciding=deciding,
    )


def recommend(
    graph: Graph,
    labels: Labels,
    goal: int,
    *,
    folds: int = FOLDS,
    time_limit: float | None = PATIENCE,
) -> Comparison:
    """Compare only the fields that a verdict chooses from: the same verdict as `compare`, faster.

    Examples
    --------
    >>> import wayfield as wf
    >>> ring = wf.Graph.from_edges(range(8), [*range(1, 8), 0])
    >>> labels = wf.sample_labels(ring, 0, count=3)
    >>> recommend(ring, labels, 0).verdict == wf.compare(ring, labels, 0).verdict
    True
    """
    distance = cost_to_go(graph, goal)
    methods = list[Method | MendMethod | Recipe](_deciding(graph, labels, goal, distance))
    return compare(graph, labels, goal, methods, folds=folds, time_limit=time_limit)


def default_methods(directed: bool) -> list[Method]:
    """Return all methods that are defined on directed, or on undirected graphs."""
    usual = "amle-cost" if directed else "amle-flat"  # what "amle" means there
    every = [
        known.make(known.usual if known.number else None)
        for word, known in WORDS.items()
        if word != usual
    ]
    return [method for method in every if method.directed or not directed]


def _recipes(methods: Iterable[Method | MendMethod | Recipe], directed: bool) -> list[Recipe]:
    """Return the recipe of each method."""
    recipes = []
    for method in methods:
        if isinstance(method, Recipe):
            recipes.append(method)
        elif isinstance(method, MendMethod):
            recipes.append(Recipe(None, mend=method))
        elif isinstance(method, AMLE) and method.fill == ("cost" if directed else "flat"):
            recipes.append(Recipe(replace(method, fill=None)))
        else:
            recipes.append(Recipe(method))
    return recipes


def _deciding(graph: Graph, labels: Labels, goal: int, distance: FloatArray) -> Iterator[Recipe]:
    """Yield the recipes that a verdict chooses from: AMLE, its correction of distances, mending."""
    yield Recipe(AMLE())
    own = labels.vertices == goal
    if np.isfinite(distance[labels.vertices]).all():
        yield Recipe(AMLE(), corrected=True)
        # labels must be costs to the goal, and enough to leave some out twice
        at_goal, others = labels.values[own], labels.values[~own]
        costs = (others > 0.0).all() and (np.abs(at_goal) <= labels.error).all()
        alike = unit_question(*above_goal(labels, goal, distance)) is None
        # labels that contradict nothing are the graph's own distances: nothing is left to mend
        if costs and alike and others.size > FEWEST_TRIPS and contradictions(graph, labels):
            yield Recipe(None, mend=Best())


class _Contest(NamedTuple):
    """Inputs that all fields of a comparison share."""

    graph: Graph
    labels: Labels
    goal: int
    distance: FloatArray
    able: BoolArray
    parts: Folds | None
    limit: float | None

    def score(self, recipe: Recipe) -> MethodScore:
        """Follow a recipe and score the result, or record that it ran out of time."""
        _compile(recipe, self.graph.directed, self.graph.is_unit)
        began = time.perf_counter()
        with stop_after(self.limit):
            try:
                found, seconds = self.follow(recipe)
            except OutOfTime:
                spent, nothing = time.perf_counter() - began, (np.nan,) * 3
                return MethodScore(recipe.name, *nothing, spent, recipe=recipe, out_of_time=True)
            margins = found.route_margins
            margin = float(np.quantile(margins, 0.5, method="lower")) if margins.size else np.nan
            success, ratio = self.walk(found.plan)
            errors, mended = self._errors(recipe, seconds), found.mended
            own = None if mended is None else mended.scores.get(mended.chosen)
            late = errors is None and self.parts is not None
            own_error = np.nan if own is None or not late else own.error
            return MethodScore(
                recipe.name, success, ratio, margin, seconds, errors, recipe,
                mended=mended, own_error=own_error,
            )  # fmt: skip

    def walk(self, moves: Plan) -> tuple[float, float]:
        """Walk a plan from every start with a path to the goal; return success and cost ratio."""
        slots = arc_slots(self.graph, np.arange(moves.successor.size), moves.successor)
        _, steps, cost, _, _ = outcomes(self.graph.arcs, slots, self.goal)
        done = self.able & (steps >= 0)
        ratio = float((cost[done] / self.distance[done]).mean()) if done.any() else np.nan
        return float(done.sum() / self.able.sum()), ratio

    def follow(self, recipe: Recipe) -> tuple[Answer, float]:
        """Solve by a recipe; return the answer and the seconds that its field took."""
        seconds, method, labels = 0.0, recipe.method, self.labels
        prior = self.distance if recipe.corrected else None
        if recipe.mend is not None:
            began = time.perf_counter()
            best = recipe.mend == Best()
            found = solve(self.graph, labels, self.goal, mend=True if best else recipe.mend)
            return found, time.perf_counter() - began
        assert method is not None
        if recipe.trimmed:
            began = time.perf_counter()
            labels = drop_false_sinks(self.graph, labels, self.goal, method, prior=prior)
            seconds = time.perf_counter() - began
        found = solve(self.graph, labels, self.goal, method, prior=prior, check=False)
        return found, seconds + found.field.seconds

    def _errors(self, recipe: Recipe, seconds: float) -> FloatArray | None:
        """Return the errors at left-out labels; None if there are none or it takes too long."""
        parts, prior = self.parts, self.distance if recipe.corrected else None
        if parts is None or (self.limit is not None and parts.parts * seconds > self.limit):
            return None
        try:
            if recipe.method is None:
                assert recipe.mend is not None
                predicted = parts.predict_mended(recipe.mend)
            else:
                predicted = parts.predict(recipe.method, prior=prior, trimmed=recipe.trimmed)
        except OutOfTime:
            return None
        errors: FloatArray = predicted - parts.values
        return errors


@cache
def _compile(recipe: Recipe, directed: bool, unit: bool) -> None:
    """Follow the recipe once on a small graph of the same kind, so that compiling is not timed."""
    if recipe.method is not None and directed and not recipe.method.directed:
        return  # the same error will come with the real graph
    lengths = None if unit else [1.0, 2.0, 1.5, 1.0] * 2
    ring = Graph.from_edges(range(8), [*range(1, 8), 0], lengths, directed=directed)
    labels, distance = Labels([0, 2, 4, 6], [0.0, 4.0, 5.0, 1.0]), cost_to_go(ring, 0)
    _Contest(ring, labels, 0, distance, np.ones(8, dtype=bool), None, None).follow(recipe)
