"""Comparison of methods with the plain graph distance, on one graph and goal.

Every field is planned on with the default rule, and every start is walked. If the graph and its
lengths are right, nothing beats its own shortest paths: the plain distance reaches the goal from
everywhere at cost ratio 1. Labels help when the graph is only a model. The labels themselves can
show this: they are left out in turn.

**Cross-validation.** The labels other than the goal's are divided into folds at random. Each fold
in turn is left out, the rest is extended, and the extension is compared with the labels left out.
The baseline is the graph alone: its distance to the goal times one factor, plus the goal's label.
The factor is fitted to the kept labels by least absolute error. The result is the mean absolute
error, with its standard error over the labels. Two predictions are compared label by label. One is
*clearly* better if the mean difference of their errors exceeds three of its standard errors, or the
equivalent quantile of Student's t for few labels. Only labels and graph are used, so no truth is
needed. Errors of the labels themselves are part of every figure, and better predictions need not
make a better plan.

**Choice.** Only fields that predict left-out labels clearly better than the graph distance are
considered. The one from which most starts reach the goal is chosen; shares that agree in the digits
shown are equal, and then the smaller error decides. If there is no such field, nothing supports the
labels.

**One verdict.** Without a choice of methods, the verdict chooses from two fields only: the AMLE,
and the graph distance corrected by the AMLE. `recommend` computes just these. So `wayfield
compare`, the explorer and Python give the same verdict on the same data; the other rows are for
information.

A comparison may use the truth. No module that extends or plans imports it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, is_dataclass, replace
from functools import cache
from math import isnan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from ..certificates.contradiction import Contradictions, contradictions
from ..checks import KeepsReadOnly, as_flag, as_real, as_vertex, as_whole, frozen
from ..checks import short as shortened
from ..errors import InputError, Message, Option, OutOfTime
from ..fields import AMLE, Extension, Method, MethodLike, check_field, describe, extend_many
from ..fields import time_limit as stop_after
from ..fields.base import GivenField, as_method, is_ours, takes_directed
from ..fields.extension import missed_text
from ..fields.names import WORDS, method_word
from ..graphs.graph import Graph, check_graph
from ..graphs.labels import Labels, check_labels
from ..graphs.shortest_paths import cost_to_go
from ..plans.planning import plan
from ..plans.sinks import drop_false_sinks
from ..typing import FloatArray
from ..words import PROOF, against_text, margin_text, number_of, percent, seconds_text, short
from . import text
from .solving import Answer, cost_ratio, solve
from .text import DISTANCE, above_goal, median_ratio, unit_question, usable

FOLDS = 5
PATIENCE = 60.0
"""Time limit in seconds when cross-validation was not requested explicitly."""
FEWEST = 2
"""Fewest labels, besides the goal's, that allow some to be left out."""
CHANCE = 0.00135
"""Significance level: about that of three standard errors if there are many labels."""
ROUNDING = 1e-9
"""Errors smaller than others by this factor are rounding."""


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation(KeepsReadOnly):
    """How well labels are predicted by the others, and by the graph alone.

    Attributes
    ----------
    vertices : (k,) int64 array
        Labels that were left out in turn: all that can reach the goal, except its own.
    values : (k,) float array
        Their values.
    predicted : (k,) float array
        The extension of the other labels at these vertices.
    by_distance : (k,) float array
        The graph distance at these vertices, times the factor that fits the other labels.
    factor : float
        The factor that fits all labels.
    error, spread : float
        Mean absolute error of the extension at labels left out, and its standard error.
    distance_error, distance_spread : float
        The same of the scaled graph distance.
    labels_help : bool or None
        Whether the extension is clearly better than the distance; None if neither is better.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges(range(9), range(1, 10))
    >>> labels = wf.Labels([0, 2, 4, 7, 9], [0.0, 3.0, 6.0, 10.5, 13.5])
    >>> found = wf.cross_validate(path, labels, goal=0)
    >>> found.factor, found.distance_error
    (1.5, 0.0)
    >>> print(found.errors)
    4 labels left out in turn: mean error 0.75 ± 0.75 predicted from the others, 0 by the graph
    distance times 1.5
    """

    vertices: NDArray[np.int64]
    values: FloatArray
    predicted: FloatArray
    by_distance: FloatArray
    factor: float
    error: float
    spread: float
    distance_error: float
    distance_spread: float
    labels_help: bool | None

    @property
    def errors(self) -> str:
        """Both errors in one sentence. What to use is the verdict of `compare`."""
        ours = error_text(self.error, self.spread)
        graphs = error_text(self.distance_error, self.distance_spread)
        return (
            f"{self.values.size:,} labels left out in turn: mean error {ours} predicted from the "
            f"others, {graphs} by the graph distance times {self.factor:.3g}"
        )

    def facts(self) -> dict[str, object]:
        """Return all figures by name."""
        names = ("error", "spread", "distance_error", "distance_spread", "factor", "labels_help")
        figures = {name: getattr(self, name) for name in names}
        return {"labels": self.values.size, **figures, "text": self.errors}

    def __repr__(self) -> str:
        return f"CrossValidation({self.errors})"


def cross_validate(
    graph: Graph,
    labels: Labels,
    goal: int,
    method: MethodLike = AMLE(),  # noqa: B008  (frozen settings)
    *,
    prior: ArrayLike | None = None,
    trimmed: bool = False,
    folds: int = FOLDS,
    seed: int = 0,
) -> CrossValidation:
    """Leave labels out in turn, and predict them from the others and from the graph alone.

    Parameters
    ----------
    graph : Graph
        State graph.
    labels : Labels
        The known values.
    goal : int
        The goal; its label is never left out.
    method : Method or function
        The extension, see `extend`; no bracket is computed.
    prior : (n,) array, optional
        A field that the labels correct; see `extend`.
    trimmed : bool
        Drop false sinks from the labels that are kept, every time; see `drop_false_sinks`.
    folds : int
        Number of folds; at most one per label.
    seed : int
        Seed of the random folds.

    Examples
    --------
    >>> import wayfield as wf
    >>> ring = wf.Graph.from_edges(range(60), [*range(1, 60), 0])
    >>> world = wf.Graph.from_edges(range(60), [*range(1, 60), 0], [1.0] * 30 + [5.0] * 30)
    >>> labels = wf.sample_labels(world, goal=0, fraction=0.4)  # the graph differs from the world
    >>> wf.cross_validate(ring, labels, goal=0).labels_help
    True
    """
    goal = as_vertex(goal, "goal", check_graph(graph).num_vertices)
    parts = Folds(graph, labels, goal, cost_to_go(graph, goal), folds, seed)
    return parts.validate(method, prior, as_flag(trimmed, "trimmed"))


def held_out(
    answer: Answer, labels: Labels, folds: int = FOLDS, *, trimmed: bool = False
) -> CrossValidation | None:
    """Return the cross-validation of an answer's method on the labels that were given.

    None if there are too few labels, or if it would take longer than a minute. Parameters as in
    `cross_validate`.
    """
    distance = answer.graph_distance
    if usable(labels, distance).size < FEWEST or folds * answer.field.seconds > PATIENCE:
        return None
    parts = Folds(answer.graph, labels, answer.goal, distance, folds)
    return parts.validate(answer.field.method, answer.field.prior, trimmed)


class Folds:
    """Labels divided into folds that are left out in turn.

    Attributes
    ----------
    vertices, values, distance : (k,) arrays
        The labels that are left out, and their graph distance to the goal.
    above : (k,) float array
        Value of each label above the goal's, or above 0 if it has none.
    """

    def __init__(
        self,
        graph: Graph,
        labels: Labels,
        goal: int,
        distance: FloatArray,
        folds: int = FOLDS,
        seed: int = 0,
    ) -> None:
        check_labels(labels, graph)
        self.graph, self.labels, self.goal = graph, labels, goal
        own = labels.values[labels.vertices == goal]
        self.base = float(own[0]) if own.size else 0.0
        self.used = usable(labels, distance)
        count = self.used.size
        if count < FEWEST:
            raise InputError(
                f"cross-validation needs at least {FEWEST} labels besides the goal's that can "
                f"reach the goal, got {count}"
            )
        self.vertices = frozen(labels.vertices[self.used])
        self.values = frozen(labels.values[self.used])
        self.above = frozen(self.values - self.base)
        self.distance = frozen(distance[self.vertices])
        parts = min(as_whole(folds, "folds", least=2), count)
        rng = np.random.default_rng(as_whole(seed, "seed", least=0))
        self.part = rng.permutation(np.arange(count) % parts)
        self.parts = parts

    def validate(
        self, method: MethodLike, prior: ArrayLike | None = None, trimmed: bool = False
    ) -> CrossValidation:
        """Predict the labels left out from the others, and from the graph alone."""
        predicted, scaled = self.predict(method, prior, trimmed), self.by_distance()
        ours, graphs = predicted - self.values, scaled - self.values
        worse = False if clearly_better(graphs, ours) else None
        return CrossValidation(
            self.vertices,
            self.values,
            predicted,
            scaled,
            median_ratio(self.above, self.distance),
            *mean_error(ours),
            *mean_error(graphs),
            True if clearly_better(ours, graphs) else worse,
        )

    def predict(
        self, method: MethodLike, prior: ArrayLike | None = None, trimmed: bool = False
    ) -> FloatArray:
        """Return (k,) values at the labels left out, extended from the other labels."""
        graph, settings = self.graph, as_method(method)
        kept = [self.labels_without(part) for part in range(self.parts)]
        if trimmed:
            kept = [drop_false_sinks(graph, each, self.goal, method, prior=prior) for each in kept]
        if is_dataclass(settings) and hasattr(settings, "bracket"):  # it is not looked at
            settings = replace(settings, bracket=False)
        fields = extend_many(graph, kept, settings, prior=prior, unreachable="nan", check=False)
        predicted = np.empty(self.values.size)
        for part, extended in enumerate(fields):
            out = self.part == part
            predicted[out] = extended.values[self.vertices[out]]
        return frozen(np.where(np.isnan(predicted), np.inf, predicted))

    def by_distance(self) -> FloatArray:
        """Return the (k,) graph distance, times the factor that fits the kept labels."""
        predicted = np.empty(self.values.size)
        for part in range(self.parts):
            out = self.part == part
            factor = median_ratio(self.above[~out], self.distance[~out])
            predicted[out] = self.base + factor * self.distance[out]
        return frozen(predicted)

    def labels_without(self, part: int) -> Labels:
        """Return the labels without those of one fold."""
        stays = np.ones(len(self.labels), dtype=bool)
        stays[self.used[self.part == part]] = False
        return Labels(self.labels.vertices[stays], self.labels.values[stays], self.labels.error)


def mean_error(errors: FloatArray) -> tuple[float, float]:
    """Return the mean absolute error, and its standard error."""
    size = np.abs(errors)
    if not np.isfinite(size).all():
        return np.inf, np.inf
    return float(size.mean()), float(size.std(ddof=1) / np.sqrt(size.size))


def clearly_better(ours: FloatArray, others: FloatArray) -> bool:
    """Whether errors are significantly smaller than others, label by label."""
    if not np.isfinite(ours).all():
        return False
    if not np.isfinite(others).all():
        return True
    ours, others = np.abs(ours), np.abs(others)
    tiny = ROUNDING * others.max()
    if ours.max() <= tiny:  # exact, while the others are not
        return bool(others.max() > 0.0)
    gain = others - ours
    spread = gain.std(ddof=1) / np.sqrt(gain.size)
    needed = float(stdtrit(gain.size - 1, 1.0 - CHANCE))
    return bool(gain.mean() > max(needed * spread, tiny))


def error_text(error: float, spread: float) -> str:
    """Return an error with its spread, rounded to the digits that the spread supports."""
    if not np.isfinite(error):
        return "∞"
    if spread == 0.0 or np.isnan(spread):
        return short(error)
    return f"{short(error)} ± {f'{spread:.2g}' if spread < 1e2 else short(spread)}"


# ------------------------------------------------------------------ comparison

DIGITS = 4
"""Digits of success and cost ratio that are shown and compared."""


class Recipe(NamedTuple):
    """How a field is made from labels: a method, and what is done to its input."""

    method: Method
    trimmed: bool = False
    """Without labels that are false sinks."""
    corrected: bool = False
    """With the graph distance as prior."""
    label: str = ""
    """The name that the caller gave; empty for the method's own."""

    @property
    def name(self) -> Message:
        """The method and what is done to its input, as options."""
        word, python = method_word(self.method), describe(self.method)
        parts: list[str | Option] = [
            Option("method", self.label or word, python=self.label or python)
        ]
        if self.trimmed:
            parts += [" ", Option("drop_false_sinks", True, python="without false sinks")]
        if self.corrected:
            parts += [" ", Option("prior", "distance", python=f"on the {DISTANCE}")]
        return Message(*parts)


@dataclass(frozen=True, eq=False)
class MethodScore:
    """The score of one method: how its plan and its predictions did.

    Attributes
    ----------
    name : str
        The method, with its non-default settings; a `Message` if it may be chosen by options.
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
    missed : str
        How many labels the field differs from, and by how much; empty if it agrees with all.

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
    missed: str = ""

    @property
    def label_error(self) -> float:
        """Mean absolute error at left-out labels; NaN if none were left out."""
        return np.nan if self.held_out is None else mean_error(self.held_out)[0]

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
    def _fields(self) -> list[MethodScore]:
        """Fields that used labels, finished in time, and may be recommended."""
        return [
            score
            for score in self.scores[1:]
            if not score.out_of_time and (self.deciding is None or score.recipe in self.deciding)
        ]

    @property
    def _clear(self) -> list[MethodScore]:
        """Fields that predict left-out labels clearly better than the graph distance."""
        plain = self.scores[0].held_out
        return [
            score
            for score in self._fields
            if plain is not None
            and score.held_out is not None
            and clearly_better(score.held_out, plain)
        ]

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
    def verdict(self) -> Message:
        """One sentence: what to plan on, and why."""
        plain, best = self.scores[0], self.choice
        error = error_text(plain.label_error, plain.label_spread)
        distance = f"the {DISTANCE} times {self.factor:.3g} is {error}"
        if not self.goal_labelled:
            said = "The goal is not among the labels, so no field leads to it: label it."
        elif self.factor < 0.0:
            said = "Labels decrease away from the goal. If they are rewards, negate them."
        elif not self._fields:
            late = "no other field was ready in time"
            why = late if self.scores[1:] else "there is nothing to compare it with"
            said = f"Use the {DISTANCE}: {why}."
        elif plain.held_out is None:
            why = "nothing beats it on the graph itself, and there are too few labels to test"
            said = f"Use the {DISTANCE}: {why} whether they help."
        elif best is plain:
            none = "no field predicts labels left out clearly better; the mean error of"
            said = f"Use the {DISTANCE}: {none} {distance}."
        else:
            ours = error_text(best.label_error, best.label_spread)
            errors = f"its mean error at labels left out is {ours}"
            return Message("Use ", best.name, f": {errors}; that of {distance}.")
        return Message(said)

    @property
    def remarks(self) -> tuple[Message, ...]:
        """Further remarks, such as labels and lengths in different units."""
        found = [] if self.units is None else [self.units]
        if self.contradictions and self.units is None:
            against = self.contradictions.against
            said = against_text(against, self.contradictions.num_labels, "labels")
            found.append(Message(f"{said}; {PROOF}; ", text.TRAVEL, " tests what is wrong."))
        late = [part for each in self.scores if each.out_of_time for part in (", ", each.name)]
        if late:
            stopped, more = "stopped by the time limit: ", (text.TIME_LIMIT, " gives more time")
            found.append(Message(stopped, *late[1:], "; a larger ", *more))
        for score in self.scores:
            if score.missed:
                found.append(Message(score.name, " differs from ", score.missed))
            if score.recipe is not None and isinstance(score.recipe.method, GivenField):
                untested = " was given as it is, so leaving labels out does not test it"
                found.append(Message(score.name, untested))
        return tuple(found)

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
        line = f"{{:{first}}}" + "".join(f"   {{:>{width}}}" for width in wide)
        return "\n".join(line.format(*row) for row in rows)

    def __repr__(self) -> str:
        starts = number_of(self.starts, "starts")
        return "\n".join([f"Comparison over {starts}", self.table, self.verdict, *self.remarks])


def compare(
    graph: Graph,
    labels: Labels,
    goal: int,
    methods: Iterable[MethodLike | Recipe]
    | Mapping[str, MethodLike | Extension | ArrayLike]
    | None = None,
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
    methods : iterable of methods, or mapping of name to method or field, optional
        What to compare: methods as `extend` takes them, or ``{name: method}``. In a mapping an (n,)
        array is a field, such as a learned critic. It is planned on as it is, and not tested on
        labels left out, since it may rest on them. Default: every method that is defined on the
        graph, the AMLE without false sinks, and the AMLE correction of the graph distance
        (``prior=``).
    folds : int
        Number of parts of the labels that are left out in turn; 0 for none. Methods that would run
        out of time are skipped.
    time_limit : float or None
        Limit in seconds for each method, without compilation; None for no limit. A method that runs
        out of time has a row without figures. See `wayfield.fields.time_limit`. A method of your
        own is not stopped.
    progress : callable, optional
        Called with the name of each field before it is computed.

    Examples
    --------
    >>> import wayfield as wf
    >>> ring = wf.Graph.from_edges(range(8), [*range(1, 8), 0])
    >>> found = wf.compare(ring, wf.sample_labels(ring, 0, count=3), goal=0)
    >>> found.scores[0].name, found.scores[0].success, found.scores[0].cost_ratio
    ('graph distance', 1.0, 1.0)

    A method of your own, and a field that you have:

    >>> def flat(graph, labels):
    ...     return np.full(graph.num_vertices, labels.values.mean())
    >>> critic = [0.0, 1.0, 2.0, 3.0, 4.0, 3.0, 2.0, 3.0]
    >>> mine = wf.compare(ring, wf.Labels([0], [0.0]), 0, {"flat": flat, "critic": critic})
    >>> [(score.name, round(score.success, 2)) for score in mine.scores[1:]]
    [('flat', 1.0), ('critic', 0.71)]
    """
    goal = as_vertex(goal, "goal", check_graph(graph).num_vertices)
    check_labels(labels, graph)
    limit = None if time_limit is None else as_real(time_limit, "time_limit", least=0.0)
    # the graph's own distance
    began = time.perf_counter()
    distance = cost_to_go(graph, goal)
    seconds = time.perf_counter() - began
    moves = plan(graph, distance, goal)
    if not moves.num_able:
        raise InputError(f"no other vertex can reach the goal {goal}: there is nothing to compare")
    parts = errors = None  # None if there are too few labels, or if none are left out
    if as_whole(folds, "folds", least=0) and usable(labels, distance).size >= FEWEST:
        parts = Folds(graph, labels, goal, distance, folds)
        errors = parts.by_distance() - parts.values
    ratio = cost_ratio(moves, distance)
    scores = [MethodScore(DISTANCE, moves.success, ratio, np.nan, seconds, errors)]
    # the fields
    deciding, goal_labelled = None, goal in labels.vertices
    if methods is None:
        deciding = _deciding(labels, distance)
        trimmed = [Recipe(AMLE(), trimmed=True)] if goal_labelled else []
        every = [*map(Recipe, default_methods(graph.directed)), *trimmed, *deciding]
    else:
        every = _recipes(methods, graph)
    contest, done = _Contest(graph, labels, goal, distance, parts, limit), list[Recipe]()
    for recipe in every:
        if is_ours(recipe.method):  # others need not be comparable
            if recipe in done:
                continue
            done.append(recipe)
        if progress is not None:
            progress(recipe.name)
        scores.append(contest.score(recipe))
    above, away = above_goal(labels, goal, distance)
    return Comparison(
        tuple(scores),
        starts=moves.num_able,
        goal_labelled=goal_labelled,
        factor=median_ratio(above, away),
        contradictions=contradictions(graph, labels),
        units=unit_question(above, away),
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
    deciding = _deciding(labels, cost_to_go(graph, goal))
    return compare(graph, labels, goal, deciding, folds=folds, time_limit=time_limit)


def default_methods(directed: bool) -> list[Method]:
    """Return all our methods that are defined on directed, or on undirected graphs."""
    usual = "amle-cost" if directed else "amle-flat"  # what "amle" means there
    every = [
        known.make(known.usual if known.number else None)
        for word, known in WORDS.items()
        if word != usual and known.home == "wayfield"  # others have added words
    ]
    return [method for method in every if takes_directed(method) or not directed]


def _recipes(
    methods: Iterable[MethodLike | Recipe] | Mapping[str, MethodLike | Extension | ArrayLike],
    graph: Graph,
) -> list[Recipe]:
    """Return the recipe of each method, and of each field in a mapping."""
    recipes = []
    if isinstance(methods, Mapping):
        for name, given in methods.items():
            if not isinstance(name, str):
                raise InputError(f"methods must have names, got {shortened(name)}")
            where = f"methods[{name!r}]"
            if isinstance(given, Method) or callable(given):
                recipes.append(Recipe(as_method(given, where), label=name))
                continue
            try:
                recipes.append(Recipe(GivenField(check_field(graph, given)), label=name))
            except InputError as error:
                raise InputError(f"{where}: ", error.message) from error
        return recipes
    try:
        listed = list(methods)
    except TypeError as error:
        what = "a list of methods, or {name: method or field}"
        raise InputError(f"methods must be {what}, got {shortened(methods)}") from error
    for position, each in enumerate(listed):
        if isinstance(each, Recipe):
            recipes.append(each)
            continue
        if isinstance(each, np.ndarray | np.generic | Extension | float | int | list):
            hint = 'a field needs a name: {"critic": values}'
            raise InputError(f"methods[{position}] is {shortened(each)}, not a method; {hint}")
        method = as_method(each, f"methods[{position}]")
        if isinstance(method, AMLE) and method.fill == ("cost" if graph.directed else "flat"):
            method = replace(method, fill=None)
        recipes.append(Recipe(method))
    return recipes


def _deciding(labels: Labels, distance: FloatArray) -> tuple[Recipe, ...]:
    """Return the recipes that a verdict chooses from: the AMLE, and its correction of distances."""
    if np.isfinite(distance[labels.vertices]).all():
        return Recipe(AMLE()), Recipe(AMLE(), corrected=True)
    return (Recipe(AMLE()),)


class _Contest(NamedTuple):
    """Inputs that all fields of a comparison share."""

    graph: Graph
    labels: Labels
    goal: int
    distance: FloatArray
    parts: Folds | None
    limit: float | None

    def score(self, recipe: Recipe) -> MethodScore:
        """Follow a recipe and score the result, or record that it ran out of time."""
        tested = not isinstance(recipe.method, GivenField)
        if is_ours(recipe.method) and tested:
            _compile(recipe, self.graph.directed, self.graph.is_unit)
        began, parts = time.perf_counter(), self.parts
        with stop_after(self.limit):
            try:
                found, seconds = self.follow(recipe)
            except OutOfTime:
                spent, nothing = time.perf_counter() - began, (np.nan,) * 3
                return MethodScore(recipe.name, *nothing, spent, recipe=recipe, out_of_time=True)
            errors = None  # at labels left out, if there is time for it
            if parts is not None and tested:
                prior = self.distance if recipe.corrected else None
                if self.limit is None or parts.parts * seconds <= self.limit:
                    with suppress(OutOfTime):
                        predicted = parts.predict(recipe.method, prior, recipe.trimmed)
                        errors = predicted - parts.values
        off = found.field.missed
        return MethodScore(
            recipe.name,
            found.plan.success,
            cost_ratio(found.plan, self.distance),
            text.middle(text.route_margins(found)),
            seconds,
            errors,
            recipe,
            missed=missed_text(off) if off.any() else "",
        )

    def follow(self, recipe: Recipe) -> tuple[Answer, float]:
        """Solve by a recipe; return the answer and the seconds that its field took."""
        seconds, method, labels = 0.0, recipe.method, self.labels
        prior = self.distance if recipe.corrected else None
        if recipe.trimmed:
            began = time.perf_counter()
            labels = drop_false_sinks(self.graph, labels, self.goal, method, prior=prior)
            seconds = time.perf_counter() - began
        found = solve(self.graph, labels, self.goal, method, prior=prior, check=False)
        return found, seconds + found.field.seconds


@cache
def _compile(recipe: Recipe, directed: bool, unit: bool) -> None:
    """Follow the recipe once on a small graph of the same kind, so that compiling is not timed."""
    if directed and not takes_directed(recipe.method):
        return  # the same error will come with the real graph
    lengths = None if unit else [1.0, 2.0, 1.5, 1.0] * 2
    ring = Graph.from_edges(range(8), [*range(1, 8), 0], lengths, directed=directed)
    labels, distance = Labels([0, 2, 4, 6], [0.0, 4.0, 5.0, 1.0]), cost_to_go(ring, 0)
    _Contest(ring, labels, 0, distance, None, None).follow(recipe)
