"""Values after mending, and what to measure next.

**Values.** Let D be the distance to the goal on the graph that predicts costs best, and R the AMLE
extension of what the labels add to D. The prediction is

    V = D + λ R,      0 ≤ λ ≤ 1.

λ comes from labels held out in turn, with D and R refitted without them: the least-squares slope of
the relative error of D on the relative residual predicted, less one standard error. Where noise is
all that is left, λ is 0.

**What to measure next.** Along the shortest paths of the fitted graph, costs to the goal have the
covariance C = a² R K Rᵀ, with R the rows of the rays, K the prior of slowness and a its fitted
amplitude. Labels condition it, one rank each. The next vertex is

    argmax_x  Σ_y C(y, x)² / D(y)² / (C(x, x) + s(x)²),      s(x) = EXACT mean(D) + error,

the one that takes most relative variance out of all costs (A-optimal design).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ..checks import frozen
from ..fields import AMLE, extend
from ..graphs.graph import Graph
from ..graphs.labels import Labels
from ..numerics.shortest import dijkstra
from ..typing import FloatArray, IntArray
from .base import Fit, MendMethod, MendProblem
from .factor import Factor
from .findings import Named
from .selection import CANDIDATES, FEWEST, Best, fold_of
from .shortcuts import lengthened
from .slowness import slowness_of
from .smooth import EXACT

PREDICTOR = Best(tuple(sorted(CANDIDATES, key=lambda each: not isinstance(each, Factor))))
"""Model selection for values: the simplest candidates first."""
MOST_VERTICES = 3000
"""Larger graphs are sampled for the choice of measurements."""
AMPLITUDE = 0.3
"""Amplitude of slowness, if the fit found none."""
NEAR = 5.0
"""Percentile of distances; nearer vertices count as this far, so that they do not dominate."""


@dataclass(frozen=True, eq=False)
class Prediction:
    """The graph that predicts costs best, and how it was chosen.

    Attributes
    ----------
    graph : Graph
        The given arcs with the predicting lengths.
    problem : MendProblem
        The graph as given and the trips.
    fit : Fit
        The fit: lengths, chosen candidate, scores.
    fold : (k,) int array
        Fold of each trip.
    held_out : tuple of (m,) arrays
        Lengths fitted without each fold of the trips.
    """

    graph: Graph
    problem: MendProblem
    fit: Fit
    fold: IntArray
    held_out: tuple[FloatArray, ...]
    _shares: dict[int, float] = field(default_factory=dict, init=False, repr=False)

    def shrinkage(self, goal: int) -> float:
        """Return λ for the labels of a goal; computed once."""
        if goal not in self._shares:
            self._shares[goal] = self._supported_share(goal)
        return self._shares[goal]

    def _supported_share(self, goal: int) -> float:
        problem = self.problem
        mine = np.flatnonzero(problem.ends == goal)
        if mine.size < FEWEST or not self.held_out:
            return 0.0
        distance, residual = np.empty(mine.size), np.empty(mine.size)
        for turn, lengths in enumerate(self.held_out):
            out = self.fold[mine] == turn
            if not out.any() or out.all():
                return 0.0
            graph = replace(self.graph, lengths=lengths)
            far = self._distance(graph, goal)
            distance[out] = far[problem.starts[mine[out]]]
            residual[out] = self._residual(graph, far, goal, mine[~out])[problem.starts[mine[out]]]
        costs = problem.costs[mine]
        known, wanted = residual / costs, (costs - distance) / costs
        power = float(known @ known)
        if power <= 1e-12:
            return 0.0
        slope = float(known @ wanted) / power
        rest = wanted - slope * known
        spread = np.sqrt(float(rest @ rest) / max(known.size - 1, 1) / power)
        return float(np.clip(slope - spread, 0.0, 1.0))

    def cost_to_go(self, goal: int) -> FloatArray:
        """Return the (n,) predicted costs to a goal."""
        distance = self._distance(self.graph, goal)
        share = self.shrinkage(goal)
        if share == 0.0:
            return distance
        mine = np.flatnonzero(self.problem.ends == goal)
        change = share * self._residual(self.graph, distance, goal, mine)
        return np.where(np.isfinite(distance), np.maximum(distance + change, 0.0), np.inf)

    def _distance(self, graph: Graph, goal: int) -> FloatArray:
        arcs = self.problem.arcs_to(graph.lengths)
        return dijkstra(arcs, np.array([goal]), np.zeros(1), 1.0)[0]

    def _residual(
        self, graph: Graph, distance: FloatArray, goal: int, trips: NDArray[np.int64]
    ) -> FloatArray:
        """Return the AMLE extension of what some trips add to the distance."""
        problem = self.problem
        vertices = np.append(problem.starts[trips], goal)
        labels = Labels(vertices, np.append(problem.costs[trips], 0.0))
        how = AMLE(bracket=False)
        known = extend(graph, labels, how, prior=distance, unreachable="nan", check=False).values
        reached = np.isfinite(distance)
        return np.where(reached, known - np.where(reached, distance, 0.0), 0.0)

    def next_measurements(self, count: int, goal: int) -> NDArray[np.int64]:
        """Return the vertices to measure next; see the module."""
        problem, graph = self.problem, self.graph
        distance = self._distance(graph, goal)
        able = np.flatnonzero(np.isfinite(distance) & (distance > 0.0))
        measured = np.unique(problem.starts[problem.ends == goal])
        if able.size > MOST_VERTICES:
            some = np.random.default_rng(0).choice(able, MOST_VERTICES, replace=False)
            able = np.union1d(some, measured)
        slowness = slowness_of(problem.graph)
        _, ways = problem.paths(goal, able, graph.lengths)
        rows = ways @ slowness.per_arc
        details = self.fit.details.get("then", self.fit.details)  # of `Both`, the second fit
        amplitude = float(details.get("amplitude") or AMPLITUDE)
        covariance = amplitude**2 * np.asarray((rows @ slowness.covariance) @ rows.T)
        far = distance[able]
        noise = (EXACT * far.mean() + problem.error) ** 2
        weight = 1.0 / np.maximum(far, np.percentile(far, NEAR)) ** 2
        free, chosen = np.ones(able.size, bool), list[int]()

        def measure(at: int) -> None:
            nonlocal covariance
            column = covariance[:, at].copy()
            covariance -= np.outer(column, column) / (column[at] + noise)
            free[at] = False

        for x in np.searchsorted(able, measured).tolist():
            measure(x)
        for _ in range(min(count, int(free.sum()))):
            gain = weight @ covariance**2 / (np.diag(covariance) + noise)
            best = int(np.where(free, gain, -np.inf).argmax())
            chosen.append(int(able[best]))
            measure(best)
        return np.array(chosen, dtype=np.int64)


def predict(problem: MendProblem, method: MendMethod, fit: Fit) -> Prediction:
    """Return the graph that predicts best: by model selection, or by the method asked for.

    Model selection begins with the named false edges taken out, and prefers simple candidates:
    values gain from a common factor as soon as costs are noisy, plans do not.
    """
    count, on = problem.costs.size, problem
    if isinstance(method, Named) and count >= FEWEST:
        false = np.zeros(problem.graph.num_arcs, bool)
        for each in fit.details["found"].findings:
            false[each.where] |= each.named and each.kind == "false edge"
        if false.any():
            on = problem.on(lengthened(problem, false))
        method = PREDICTOR
        fit = method.fit(on)
    fold, held_out = fit.details.get("fold"), fit.details.get("held_out")
    if fold is None or held_out is None:
        fold, quick, held_out = fold_of(count), method.quick(), ()
        if count >= FEWEST:
            parts = (on.only(fold != turn) for turn in range(int(fold.max()) + 1))
            held_out = tuple(quick.fit(part).lengths for part in parts)
    lengths = frozen(fit.lengths)
    same = np.array_equal(lengths, problem.graph.lengths)
    graph = problem.graph if same else replace(problem.graph, lengths=lengths)
    return Prediction(graph, problem, fit, fold, held_out)
