"""The referee: several ways of mending, judged by trips that they have not seen.

**Judgement.** Trips are dealt into folds. Each fold is foretold by every candidate fitted to the
others, and by the plain graph. A candidate's error is the mean of |least cost under its fit - cost|
over all trips, less what their costs may be off by. Differences are taken trip by trip. Candidates
stand in order of preference: the first is taken that none beats by more than one standard error,
provided that it beats the plain graph by more than one; else the graph stays as it is. Whatever is
taken is fitted anew, to all trips.

**Upper bounds.** What was paid need not be the least cost: such trips cannot prove an arc false,
and no least change is a candidate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from .._arrays import as_whole
from ..errors import InputError
from ..extension._deadline import check_time
from ..graph import Graph
from ..kernels._types import FloatArray
from ._base import Fit, MendMethod, MendProblem, Score, name_of
from .both import Both
from .least_change import LeastChange
from .shortcuts import NoShortcuts
from .smooth import Smooth

PLAIN = "plain"
"""Name of the graph as it is, among candidates."""

_SMOOTH = Smooth(caution=0.04)
CANDIDATES: tuple[MendMethod, ...] = (
    Both(NoShortcuts(), _SMOOTH),
    _SMOOTH,
    Both(then=_SMOOTH),
    Both(NoShortcuts(), replace(_SMOOTH, noise=0.2)),
    LeastChange(only_odd=None),
)

HASTE = 10
"""Rounds of tomography that are enough to compare."""

FEWEST = 3
"""Trips without which nothing can be held out."""


@dataclass(frozen=True)
class Best:
    """Of several ways of mending, the one that foretells held-out trips best; or none.

    Parameters
    ----------
    candidates : tuple of MendMethod
        In order of preference: no shortcuts and a smooth slowness; shortcuts and all; with a least
        change of odd arcs; no shortcuts, from costs that are noisy; the least change of all arcs,
        and no more.
    folds : int
        Parts that the trips are dealt into; one per trip if there are fewer.
    seed : int
        For the dealing.

    Examples
    --------
    >>> import wayfield as wf
    >>> maze = wf.grid_graph(wf.load_layout("umaze"), 8)
    >>> labels = wf.sample_labels(maze, 0, 0.1)
    >>> wf.mend(maze, labels, goal=0)
    Mended(plain: the graph as it is)
    """

    candidates: tuple[MendMethod, ...] = CANDIDATES
    folds: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        candidates = tuple(self.candidates)
        if not candidates:
            raise InputError("candidates are empty: at least one is needed")
        for candidate in candidates:
            if isinstance(candidate, type) or not isinstance(candidate, MendMethod):
                raise InputError(f"a candidate must be a way of mending, not {candidate!r}")
            if type(candidate).__hash__ is None:
                raise InputError(
                    f"candidates must be hashable, as frozen settings are: {candidate!r}"
                )
        object.__setattr__(self, "candidates", candidates)
        object.__setattr__(self, "folds", as_whole(self.folds, "folds", least=2))
        object.__setattr__(self, "seed", as_whole(self.seed, "seed", least=0))

    @property
    def name(self) -> str:
        """What the method is called."""
        return "best"

    def fit(self, problem: MendProblem) -> Fit:
        """Judge the candidates and fit the best one to all trips."""
        count = problem.costs.size
        if count < FEWEST:
            have = "1 is" if count == 1 else f"{count} are"
            raise InputError(
                f"{have} too few to hold any out: the best of several ways of mending is chosen by "
                f"{FEWEST} labels or trips at least; name one way instead, such as Smooth()"
            )
        candidates = self.candidates
        if problem.upper:
            candidates = tuple(filter(_believes_bounds, candidates)) or (Smooth(),)
        named = _named(_without_idle_steps(candidates, problem))
        foretold = self._foretold(problem, named)
        errors = {name: problem.misfit(costs) for name, costs in foretold.items()}
        scores = {name: _score(error, errors[PLAIN]) for name, error in errors.items()}
        chosen = _preferred(named, errors)
        if scores[chosen].gain <= scores[chosen].spread:
            return Fit(problem.graph.lengths, scores[PLAIN].error, chosen=PLAIN, scores=scores)
        return replace(named[chosen].fit(problem), chosen=chosen, scores=scores)

    def _foretold(
        self, problem: MendProblem, named: dict[str, MendMethod]
    ) -> dict[str, FloatArray]:
        """(k,) what every candidate foretells, fold by fold."""
        count = problem.costs.size
        fold = np.random.default_rng(self.seed).permutation(count) % min(self.folds, count)
        foretold = {name: np.empty(count) for name in named}
        foretold[PLAIN] = problem.distances()
        graphs = {problem.graph.lengths.tobytes(): problem.graph}
        for turn in range(int(fold.max()) + 1):
            seen, unseen = problem.only(fold != turn), problem.only(fold == turn)
            fits = _Fits(graphs)
            for name, candidate in named.items():
                check_time()
                fit = fits.make(candidate, seen)
                foretold[name][fold == turn] = unseen.distances(fit.lengths)
        return foretold


def _believes_bounds(method: MendMethod) -> bool:
    """Whether a method makes sense of upper bounds: it takes none of them for a proof."""
    if isinstance(method, Both):
        return _believes_bounds(method.first) and _believes_bounds(method.then)
    return not isinstance(method, LeastChange)


def _without_idle_steps(
    candidates: Iterable[MendMethod], problem: MendProblem
) -> Iterator[MendMethod]:
    """Yield every candidate once, and without a search for shortcuts if there are none."""
    seen = set()
    for candidate in candidates:
        method = candidate
        if isinstance(method, Both) and isinstance(method.first, NoShortcuts):
            lengths = method.first.fit(problem).lengths
            if np.array_equal(lengths, problem.graph.lengths):
                method = method.then
        if method not in seen:
            seen.add(method)
            yield method


def _named(candidates: Iterable[MendMethod]) -> dict[str, MendMethod]:
    """Candidates by name, the second of one name numbered 2."""
    named: dict[str, MendMethod] = {}
    for candidate in candidates:
        name = usual = name_of(candidate)
        number = 1
        while name in named or name == PLAIN:
            number += 1
            name = f"{usual} {number}"
        named[name] = candidate
    return named


def _preferred(named: Iterable[str], errors: dict[str, FloatArray]) -> str:
    """Return the first of the candidates that none beats by more than one standard error."""
    least = min(named, key=lambda name: float(errors[name].mean()))
    for name in named:
        lead = _score(errors[least], errors[name])
        if lead.gain <= lead.spread:
            return name
    return least


def _score(error: FloatArray, plain: FloatArray) -> Score:
    gain = plain - error
    return Score(
        error=float(error.mean()),
        gain=float(gain.mean()),
        spread=float(gain.std(ddof=1) / np.sqrt(gain.size)),
    )


class _Fits:
    """Fits to the same trips in few rounds, which is enough to compare; none is made twice."""

    def __init__(self, graphs: dict[bytes, Graph]) -> None:
        self._graphs = graphs  # one per vector of lengths, so that priors on them are shared
        self._made: dict[tuple[MendMethod, Graph], Fit] = {}

    def make(self, method: MendMethod, problem: MendProblem) -> Fit:
        if isinstance(method, Both):
            lengths = self.make(method.first, problem).lengths
            mended = replace(problem.graph, lengths=lengths)
            graph = self._graphs.setdefault(lengths.tobytes(), mended)
            return self.make(method.then, replace(problem, graph=graph))
        if isinstance(method, Smooth):
            method = replace(method, rounds=min(method.rounds, HASTE))
        key = (method, problem.graph)
        if key not in self._made:
            self._made[key] = method.fit(problem)
        return self._made[key]
