"""Cross-validation: how well labels predict each other, compared with the graph alone.

**Method.** The labels other than the goal's are divided into folds at random. Each fold in turn is
left out, the rest is extended, and the extension is compared with the labels left out. The baseline
is the graph alone: its distance to the goal times one factor, plus the goal's label. The factor is
fitted to the kept labels by least absolute error.

**Result.** The mean absolute error, with its standard error over the labels. Two predictions are
compared label by label. One is *clearly* better if the mean difference of their errors exceeds
three of its standard errors, or the equivalent quantile of Student's t for few labels. Only labels
and graph are used, so no truth is needed. Errors of the labels themselves are part of every figure,
and better predictions need not make a better plan.
"""

from __future__ import annotations

from dataclasses import dataclass, is_dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from ..checks import KeepsReadOnly, as_flag, as_vertex, as_whole, frozen
from ..errors import InputError
from ..fields import AMLE, MethodLike, extend_many
from ..fields.base import as_method
from ..graphs.graph import Graph, check_graph
from ..graphs.labels import Labels, check_labels
from ..graphs.shortest_paths import cost_to_go
from ..plans.sinks import drop_false_sinks
from ..typing import FloatArray
from ..words import short
from .text import median_ratio, usable

if TYPE_CHECKING:
    from .solving import Answer

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

    @property
    def error(self) -> float:
        """Mean absolute error of the extension at labels left out."""
        return mean_error(self.predicted - self.values)[0]

    @property
    def spread(self) -> float:
        """Standard error of `error`."""
        return mean_error(self.predicted - self.values)[1]

    @property
    def distance_error(self) -> float:
        """Mean absolute error of the scaled graph distance."""
        return mean_error(self.by_distance - self.values)[0]

    @property
    def distance_spread(self) -> float:
        """Standard error of `distance_error`."""
        return mean_error(self.by_distance - self.values)[1]

    @property
    def labels_help(self) -> bool | None:
        """Whether the extension is clearly better than the distance; None if neither is better."""
        ours, graphs = self.predicted - self.values, self.by_distance - self.values
        if clearly_better(ours, graphs):
            return True
        return False if clearly_better(graphs, ours) else None

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
        predicted = self.predict(method, prior, trimmed)
        factor = median_ratio(self.above, self.distance)
        return CrossValidation(self.vertices, self.values, predicted, self.by_distance(), factor)

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
        for part, field in enumerate(fields):
            out = self.part == part
            predicted[out] = field.values[self.vertices[out]]
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
