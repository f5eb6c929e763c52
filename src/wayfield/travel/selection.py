"""Model selection: compare mend methods on held-out trips.

**Comparison.** Trips are divided into folds. For each fold, every candidate is fitted to the other
folds and predicts this one; so does the plain graph. A candidate's error is the mean of
|least cost under its fit - cost| over all trips, beyond the error of the costs. Differences are
taken trip by trip. Candidates are in order of preference. The first candidate that no other beats
by more than one standard error is chosen, if it beats the plain graph by more than one standard
error. Otherwise the graph stays as it is. The chosen method is fitted anew to all trips.

**Upper bounds.** A paid cost need not be the least cost. Methods that do not read bounds, such as a
least change, are then left out.

`CANDIDATES` and `METHODS` are the only lists of mend methods.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field, replace

import numpy as np

from ..errors import InputError, Option
from ..graphs.graph import Graph
from ..numerics.deadline import check_time
from ..typing import FloatArray, IntArray
from .base import CandidateScore, Fit, MendMethod, MendProblem
from .factor import Factor
from .findings import Named
from .least_change import LeastChange
from .shortcuts import NoShortcuts
from .smooth import Smooth
from .text import PLAIN

FEWEST = 3
"""Fewest trips that allow some to be held out."""
FOLDS = 5
"""Number of folds; one per trip if there are fewer trips."""


@dataclass(frozen=True)
class Both(MendMethod):
    """Fit twice: `first` for false arcs, `then` for what remains unexplained.

    Parameters
    ----------
    first : MendMethod
        Default: the least change of odd arcs. `NoShortcuts` needs no costs.
    then : MendMethod
        Default: `Smooth`. It is fitted on the graph that `first` has mended.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield import travel
    >>> ring = wf.Graph.from_edges([*range(10), 0], [*range(1, 10), 0, 5])
    >>> labels = wf.Labels([0, 2, 4, 5, 7], [0.0, 4.0, 8.0, 10.0, 6.0])
    >>> mended = travel.mend(ring, labels, goal=0, method=travel.Both())
    >>> [round(float(cost)) for cost in wf.cost_to_go(mended.graph, 0)[[2, 4, 5, 7]]]
    [4, 8, 10, 6]
    """

    first: MendMethod = field(default_factory=LeastChange)
    then: MendMethod = field(default_factory=Smooth)

    @property
    def name(self) -> str:
        """Name of the method among candidates."""
        usual = isinstance(self.first, LeastChange) and isinstance(self.then, Smooth)
        return "both" if usual else f"{self.first.name}, then {self.then.name}"

    @property
    def steps(self) -> tuple[MendMethod, ...]:
        """Methods it runs in order."""
        return *self.first.steps, *self.then.steps

    def fit(self, problem: MendProblem) -> Fit:
        """Fit one after the other. Value and bound are those of `then`; ``details`` are of both."""
        first = self.first.fit(problem)
        changed = not np.array_equal(first.lengths, problem.graph.lengths)
        then = self.then.fit(problem.on(first.lengths) if changed else problem)
        return replace(then, details={"first": first.details, "then": then.details})


_SMOOTH = Smooth(caution=0.04)
CANDIDATES: tuple[MendMethod, ...] = (
    Both(NoShortcuts(), _SMOOTH),
    _SMOOTH,
    Both(then=_SMOOTH),
    Both(NoShortcuts(), replace(_SMOOTH, noise=0.2)),
    LeastChange(only_odd=None),
    Factor(),
    Factor(waits=True),
)
"""Default candidates of `Best`, in order of preference."""


@dataclass(frozen=True)
class Best(MendMethod):
    """Choose the mend method that predicts held-out trips best, or leave the graph as it is.

    Parameters
    ----------
    candidates : tuple of MendMethod
        In order of preference. Default: no shortcuts, then smooth slowness; smooth slowness with
        all shortcuts; a least change of odd arcs, then smooth slowness; no shortcuts, then smooth
        slowness from noisy costs; the least change of all arcs alone; a common factor, without and
        with waits.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield import travel
    >>> maze = wf.grid_graph(wf.load_layout("umaze"), 8)
    >>> labels = wf.sample_labels(maze, 0, 0.1)
    >>> travel.mend(maze, labels, goal=0, method=travel.Best())
    Mended(plain: the graph as it is)
    """

    name = "best"

    candidates: tuple[MendMethod, ...] = CANDIDATES

    def __post_init__(self) -> None:
        candidates = tuple(self.candidates)
        if not candidates:
            raise InputError("candidates must hold at least one mend method, got none")
        for candidate in candidates:
            if not isinstance(candidate, MendMethod):
                raise InputError(
                    f"candidates must be mend methods such as Smooth(), got {candidate!r}"
                )
            if type(candidate).__hash__ is None:
                raise InputError(
                    f"candidates must be hashable, as frozen settings are, got {candidate!r}"
                )
        object.__setattr__(self, "candidates", candidates)

    def fit(self, problem: MendProblem) -> Fit:
        """Compare the candidates and fit the best one to all trips."""
        count = problem.costs.size
        if count < FEWEST:
            raise InputError(
                Option("method", "best", python="Best()"),
                f" needs at least {FEWEST} labels or trips, got {count}: name one method "
                "instead, such as ",
                Option("method", "smooth", python="Smooth()"),
            )
        candidates = self.candidates
        if problem.upper:
            reads = (each for each in candidates if all(step.reads_bounds for step in each.steps))
            candidates = tuple(reads) or (Smooth(),)

        # each candidate once, by name; without its first step if that step changes nothing
        named: dict[str, MendMethod] = {}
        for candidate in candidates:
            method = candidate
            if isinstance(candidate, Both) and not candidate.first.reads_costs:
                lengths = candidate.first.fit(problem).lengths
                if np.array_equal(lengths, problem.graph.lengths):
                    method = candidate.then
            if method in named.values():
                continue
            name, number = method.name, 1
            while name in named or name == PLAIN:
                number += 1
                name = f"{method.name} {number}"
            named[name] = method

        fold = fold_of(count)
        predicted, by_fold = self._predict(problem, named, fold)
        errors = {name: problem.misfit(costs) for name, costs in predicted.items()}
        scores = {name: _score(error, errors[PLAIN]) for name, error in errors.items()}
        # the first candidate that no other beats by more than one standard error
        least = min(named, key=lambda name: float(errors[name].mean()))
        leads = {name: _score(errors[least], errors[name]) for name in named}
        chosen = next((name for name in named if leads[name].gain <= leads[name].spread), least)
        if scores[chosen].gain <= scores[chosen].spread:
            plain = {"fold": fold, "held_out": tuple(by_fold[PLAIN])}
            error = scores[PLAIN].error
            return Fit(problem.graph.lengths, error, chosen=PLAIN, scores=scores, details=plain)
        fit = named[chosen].fit(problem)
        details = {**fit.details, "fold": fold, "held_out": tuple(by_fold[chosen])}
        return replace(fit, chosen=chosen, scores=scores, details=details)

    def _predict(
        self, problem: MendProblem, named: dict[str, MendMethod], fold: IntArray
    ) -> tuple[dict[str, FloatArray], dict[str, list[FloatArray]]]:
        """Return the (k,) predictions of each candidate by quick fits, and its lengths by fold."""
        count = problem.costs.size
        predicted = {name: np.empty(count) for name in named}
        by_fold: dict[str, list[FloatArray]] = {name: [] for name in (*named, PLAIN)}
        predicted[PLAIN] = problem.distances()
        # one graph per vector of lengths, so that they share the prior
        graphs = {problem.graph.lengths.tobytes(): problem.graph}
        for turn in range(int(fold.max()) + 1):
            seen, unseen = problem.only(fold != turn), problem.only(fold == turn)
            made: dict[tuple[MendMethod, Graph], FloatArray] = {}
            by_fold[PLAIN].append(problem.graph.lengths)
            for name, candidate in named.items():
                check_time()
                at, lengths = seen, problem.graph.lengths
                for step in candidate.steps:
                    if lengths.tobytes() not in graphs:
                        graphs[lengths.tobytes()] = replace(problem.graph, lengths=lengths)
                    if graphs[lengths.tobytes()] is not at.graph:
                        at = replace(at, graph=graphs[lengths.tobytes()])
                    key = (step.quick(), at.graph)
                    if key not in made:
                        made[key] = key[0].fit(at).lengths
                    lengths = made[key]
                predicted[name][fold == turn] = unseen.distances(lengths)
                by_fold[name].append(lengths)
        return predicted, by_fold


def fold_of(count: int) -> IntArray:
    """Return the (count,) fold of each trip, drawn at random from a fixed seed."""
    fold: IntArray = np.random.default_rng(0).permutation(count) % min(FOLDS, count)
    return fold


def _score(error: FloatArray, plain: FloatArray) -> CandidateScore:
    gain = plain - error
    return CandidateScore(
        error=float(error.mean()),
        gain=float(gain.mean()),
        spread=float(gain.std(ddof=1) / np.sqrt(gain.size)),
    )


METHODS: dict[str, MendMethod] = {
    "named": Named(),
    "best": Best(),
    "factor": Factor(),
    "factor-and-waits": Factor(waits=True),
    "smooth": Smooth(),
    "both": Both(),
    "no-shortcuts": NoShortcuts(),
    "least-change": LeastChange(),
    "least-change-all": LeastChange(only_odd=None),
}
"""Mend methods by name on the command line, the default first."""


def parse_mend(text: str) -> MendMethod:
    """Return the mend method with this name.

    Examples
    --------
    >>> parse_mend("least-change-all").name
    'least change'
    >>> parse_mend("least-chang")
    Traceback (most recent call last):
    wayfield.errors.InputError: unknown method 'least-chang'; did you mean least-change?
    """
    word = text.strip().lower()
    if word in METHODS:
        return METHODS[word]
    close = difflib.get_close_matches(word, METHODS, 1)
    hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(METHODS)}"
    raise InputError(f"unknown method {text!r}; {hint}")
