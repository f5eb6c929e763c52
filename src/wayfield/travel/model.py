"""Travel times on a road network from few noisy trips: one model, its variances by evidence.

    time of an edge = f ℓ (1 + s)                 ℓ: given length, s: slowness, see `network`
    time of a trip  = its edges on the quickest route + start-up + time at its ends + noise
    noise ~ N(0, σ² (f d)²)                       d: length of the trip's shortest path as given

f is the median of time / d. All else is Gaussian with variances that the marginal likelihood sets,
see `evidence`. Routes are found again as the times change. Start-up and time at the ends are in the
model or not. These four models and the one of a single factor are averaged by their evidence. The
last one matters where nothing is congested: variances that are all zero are likely, and a peak
among small ones would not know. An interval averages over draws of the
variances, so it knows that these are guesses.

**The unit of noise is the expected time.** With the measured one, short draws get more weight, and
predictions are too short by 2 σ².

**Odd measurements come first.** The trip that the others predict worst gets a variance of its own,
1, 10 or 100 times the square of its time, where the evidence asks for it. Then the next one. A
time that stands for "missing", such as 9999, asks for a much larger one, which counts as a tenth as
likely. Without this step, one decimal slip among fifty trips quadruples the error of predictions.

**Quantiles** are those of Student's t with k / 2 degrees of freedom, 5 at least. With the normal
ones, intervals of 90 % held .88 of the measurements on the networks that this was tried on.

**Many trips.** Variances are fitted to at most `EXACT` trips, drawn at random; the posterior uses
all of them. The cost is that of factoring k × k matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from ..checks import as_array, as_floats, as_vertex, as_vertices, as_whole, frozen, refuse
from ..errors import InputError
from ..graphs.graph import Graph, check_graph
from ..graphs.labels import Labels
from ..graphs.names import Naming
from ..numerics.workers import one_thread
from ..typing import FloatArray, IntArray
from .evidence import FLOOR, Evidence, Peak, Solver
from .network import CELLS, Network, RouteRows, kernel, variance
from .trips import Trips, as_trips

if TYPE_CHECKING:
    from .findings import Finding

CORE = ("common", "smooth", "load", "own", "wait")
"""Terms of slowness in every model."""
ODDS = {"start": 0.2, "ends": 0.02}
"""Prior probability of the terms that a model may have."""
ODD = 0.2
"""Prior probability that some measurement is off."""
SIZES = dict.fromkeys((1.0, 10.0, 100.0), 1 / 3) | {10.0**e: 1 / 60 for e in range(3, 13, 2)}
"""Variances of an odd measurement, in squares of its expected time, and how likely each is."""
EXACT = 800
"""Trips that variances are fitted to, at most."""
ROUNDS = 6
"""How often routes are found."""
PLAIN = 0.4
"""Prior probability of the model of one factor, in which no road differs from another."""
LEAST = 0.2
"""No time is expected to be below this share of the given one times f."""
RANDOM, TELLING = 0.01, 8
"""Times and distances are unrelated if chance alone orders them as well with this probability. With
fewer trips than the second number it often does: then they count as related, unless one falls where
the other rises."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class _Draw:
    """One setting of the variances, with its weight in the average."""

    terms: tuple[str, ...]
    theta: FloatArray
    weight: float
    solver: Solver


class Model:
    """Times on a road network, fitted to trips. Made by `fit`.

    Attributes
    ----------
    given : Graph
        The graph as it was given.
    graph : Graph
        The same arcs with their expected times as lengths.
    trips : Trips
        The trips it was fitted to.
    factor : float
        Median of measured time over distance on the given graph.
    sigma : float
        Standard deviation of one measurement, as a share of the expected time.
    start_up : float
        Expected start-up time of a trip, in the unit of the times.
    odd : (k,) bool array
        Trips that are off: a slip, a break, a wrong pair. They have hardly any weight.
    unrelated : bool
        Whether times and distances on the graph do not go together. Then nothing else should be
        believed.
    """

    def __init__(self, graph: Graph, trips: Trips, network: Network, progress: Progress) -> None:
        self.given, self.trips, self.network = graph, trips, network
        _, self._far = network.routes(network.given, trips.starts, trips.ends)
        lost = np.isinf(self._far)
        refuse(lost, trips.starts, "trip starts", "has no path to the end of its trip")
        random = RANDOM if len(trips) >= TELLING else 0.5
        self.unrelated = bool(_chance(self._far, trips.times) >= random)
        self.factor = float(np.median(trips.times / self._far))
        # very short trips have about the same noise as somewhat longer ones
        self.unit = self.factor * np.maximum(self._far, np.percentile(self._far, 10))
        self.middle = float(np.median(trips.times))
        self._ends: FloatArray | None = None
        self._base = self.factor * network.given
        self._core = CORE + (() if network.kinds is None else ("class",))
        self._core += () if trips.group is None else ("group",)
        rng = np.random.default_rng(0)
        k = len(trips)
        self._some = np.sort(rng.choice(k, EXACT, replace=False)) if k > EXACT else np.arange(k)
        with one_thread():
            self._fit(progress)

    def _fit(self, progress: Progress) -> None:
        trips, network, base = self.trips, self.network, self._base
        every, steps = (*self._core, *ODDS), ROUNDS + 8
        progress(0, steps)

        # 1. odd measurements, on the given routes
        self._route(base)
        extra = self._odd_variances((*self._core, "start"))
        self._own_noise, self.odd = extra, frozen(extra > 0.0)
        progress(2, steps)

        # 2. routes and slowness in turn
        times, theta = base, np.exp(self._evidence(every).centre)
        for turn in range(ROUNDS):
            self._route(times)
            if turn < ROUNDS - 1:
                theta = self._evidence(every).peak(theta, curved=False).theta
            w = self._solver(every, theta).w
            slow = np.zeros(base.size)
            for term, size in zip(every, theta, strict=False):
                if term not in ("start", "ends", "group"):
                    slow += size * network.slowness(term, self._rows, w)
            new = np.maximum(base * (1.0 + slow), LEAST * base)
            times = new if turn in (0, ROUNDS - 1) else times + 0.7 * (new - times)
            progress(3 + turn, steps)
        self.times = frozen(times)

        # 3. five models on these routes, and draws of their variances
        choices = [self._core + more for more in ((), ("start",), ("ends",), ("start", "ends"))]
        choices.append(("common",) if trips.group is None else ("common", "group"))
        fits: list[tuple[Evidence, Peak]] = []
        for terms in choices:
            evidence = self._evidence(terms)
            first = np.append(theta[[every.index(term) for term in terms]], theta[-1])
            fits.append((evidence, evidence.peak(first)))
            progress(2 + ROUNDS + len(fits), steps)
        prior = [_prior(evidence.terms) for evidence, _ in fits]
        scores = np.array([peak.evidence for _, peak in fits]) + prior
        weights = np.exp(scores - scores.max())
        weights = np.where(weights > 0.02 * weights.sum(), weights, 0.0)
        weights /= weights.sum()
        k, self._draws = len(trips), list[_Draw]()
        for (evidence, peak), weight in zip(fits, weights, strict=True):
            if weight == 0.0:
                continue
            thetas, shares = peak.theta[None], np.ones(1)
            if k <= EXACT:
                thetas, shares = evidence.draws(peak, 16 if k <= 300 else 4)
            for each, share in zip(thetas, shares, strict=True):
                solver = self._solver(evidence.terms, each)
                self._draws.append(_Draw(evidence.terms, each, float(weight * share), solver))
        self._best = self._draws[int(np.argmax([draw.weight for draw in self._draws]))]

        # 4. what users read
        lengths = self.times[network.edge]
        self.graph = replace(self.given, lengths=frozen(lengths))
        self.sigma = float(np.sqrt(sum(draw.weight * draw.theta[-1] for draw in self._draws)))
        self.start_up = 0.0
        for draw in self._draws:
            if "start" in draw.terms:
                size = draw.theta[draw.terms.index("start")]
                mean = self.middle * size * float(self._rows.start @ draw.solver.w)
                self.start_up += draw.weight * mean
        progress(steps, steps)

    def _route(self, times: FloatArray) -> None:
        """Find the quickest routes, and what the kernels read of them."""
        trips = self.trips
        routes, _ = self.network.routes(times, trips.starts, trips.ends)
        self._rows = self._rows_of(routes, trips.starts, trips.ends, self.unit, self._ends)
        self._ends = self._rows.smooth_ends  # the same on all routes
        self._y = (trips.times - routes @ self._base) / self.unit
        self._kernels: dict[str, FloatArray] = {}

    def _rows_of(
        self,
        routes: Any,
        starts: IntArray,
        ends: IntArray,
        unit: FloatArray,
        smooth_ends: FloatArray | None = None,
    ) -> RouteRows:
        given = routes, self._base, starts, ends, unit, self.middle
        return self.network.rows(*given, smooth_ends)

    def _kernel(self, term: str) -> FloatArray:
        """Return the covariance of the trips that variances are fitted to, computed once."""
        if term not in self._kernels:
            if term == "group":
                assert self.trips.group is not None
                group = self.trips.group[self._some]
                found = (group[:, None] == group).astype(np.float64)
            else:
                rows = (
                    self._rows
                    if self._some.size == len(self.trips)
                    else self._rows.take(self._some)
                )
                found = kernel(term, rows, rows)
            self._kernels[term] = found
        return self._kernels[term]

    def _evidence(self, terms: tuple[str, ...], own: FloatArray | None = None) -> Evidence:
        own = self._own_noise if own is None else own
        kernels = np.array([self._kernel(term) for term in terms])
        return Evidence(terms, kernels, self._y[self._some], np.diag(own[self._some]))

    def _solver(self, terms: tuple[str, ...], theta: FloatArray) -> Solver:
        """Return the factored covariance of all trips."""
        k = len(self.trips)
        if self._some.size == k:
            return self._evidence(terms).solver(theta)
        C = np.diag(self._own_noise + theta[-1] + FLOOR)
        for term, size in zip(terms, theta, strict=False):
            if term == "group":
                assert self.trips.group is not None
                C += size * (self.trips.group[:, None] == self.trips.group)
            else:
                C += size * kernel(term, self._rows, self._rows)
        return Solver(C, self._y)

    def _odd_variances(self, terms: tuple[str, ...]) -> FloatArray:
        """Return the variance that each odd measurement has on top, 0 for the others."""
        k = len(self.trips)
        own, theta, sizes = np.zeros(k), None, np.array([*SIZES])
        self._own_noise = own
        price = np.log(ODD * np.array([*SIZES.values()]) / k)
        most = k // 5
        while (own > 0.0).sum() < most:
            here = self._evidence(terms).peak(theta, curved=False)
            theta = here.theta
            # one by one at these variances: with other ones, the evidence can only grow further
            solver = self._solver(terms, theta)
            inverse = solver.solve(np.eye(k))
            w, found = solver.w.copy(), False
            while (own > 0.0).sum() < most:
                q = np.diag(inverse)
                gain = 0.5 * (w**2 / (1.0 / sizes[:, None] + q) - np.log1p(sizes[:, None] * q))
                gain += price[:, None]
                gain[:, own > 0.0] = -np.inf
                size, i = np.unravel_index(int(np.argmax(gain)), gain.shape)
                if gain[size, i] < 0.0:
                    break
                found = True
                own[i] = sizes[size]
                column = inverse[:, i] / (1.0 / sizes[size] + q[i])
                w = w - column * w[i]
                inverse = inverse - np.outer(column, inverse[i])
            if found:
                continue
            # none is odd at these variances; with a smaller noise, the oddest may be
            oddest = np.argmax(np.where(own > 0.0, -np.inf, w**2 / np.diag(inverse)))
            one = (np.arange(k) == oddest).astype(np.float64)
            tried = [self._evidence(terms, own + v * one).peak(None, curved=False) for v in sizes]
            heights = np.array([each.height for each in tried]) - here.height + price
            if heights.max() < 0.0:
                break
            own[oddest] = sizes[np.argmax(heights)]
        return own

    # ------------------------------------------------------------------ predictions

    def predict(
        self, starts: ArrayLike, ends: ArrayLike, levels: ArrayLike = (0.5, 0.9)
    ) -> FloatArray:
        """Return quantiles of the next measurement of some trips.

        Parameters
        ----------
        starts, ends : (q,) integer arrays
            Pairs of vertices.
        levels : (L,) array
            Levels of the quantiles, between 0 and 1.

        Returns
        -------
        (q, L) array
            In the unit of the times; inf where no path leads to the end.
        """
        n = self.given.num_vertices
        start, end = as_vertices(starts, "starts", n), as_vertices(ends, "ends", n)
        if start.size != end.size:
            raise InputError(
                f"predictions need as many ends as starts, got {start.size} and {end.size}"
            )
        refuse(start == end, start, "starts", "is the end of its pair as well")
        return self._quantiles(start, end, levels)

    def cost_to_go(self, goal: int, levels: ArrayLike = (0.5, 0.9)) -> FloatArray:
        """Return quantiles of the next measured time from every vertex to a goal, (n, L) array.

        They are 0 at the goal, and inf where no path leads to it.
        """
        n = self.given.num_vertices
        goal = as_vertex(goal, "goal", n)
        others = np.delete(np.arange(n), goal)
        found = self._quantiles(others, np.full(n - 1, goal), levels)
        return np.insert(found, goal, 0.0, axis=0)

    def _quantiles(self, starts: IntArray, ends: IntArray, levels: ArrayLike) -> FloatArray:
        level = as_floats(levels, "levels")
        refuse(~((level > 0.0) & (level < 1.0)), level, "levels", "is not between 0 and 1")
        mean, sd = self.moments(starts, ends)
        there = np.isfinite(mean)[:, None]
        found = mean[:, None] + stdtrit(max(len(self.trips) / 2, 5.0), level) * np.where(
            there, sd[:, None], 0.0
        )
        return np.maximum(found, 0.0)

    def moments(self, starts: IntArray, ends: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation of the next measurement of pairs."""
        routes, far = self.network.routes(self.times, starts, ends)
        mean, sd = np.full(starts.size, np.inf), np.full(starts.size, np.inf)
        able = np.flatnonzero(np.isfinite(far))
        step = max(1, CELLS // max(self.given.num_vertices, len(self.trips)))
        with one_thread():
            for i in range(0, able.size, step):
                part = able[i : i + step]
                rows = self._rows_of(routes[part], starts[part], ends[part], np.ones(part.size))
                mean[part], sd[part] = self._moments(rows, routes[part] @ self._base, True)
        return mean, sd

    def joint(
        self, starts: IntArray, ends: IntArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
        """Return means, covariance and noise variance of pairs at the likeliest variances.

        Also return which of the pairs have a path: the others are left out.
        """
        routes, far = self.network.routes(self.times, starts, ends)
        able = np.flatnonzero(np.isfinite(far))
        rows = self._rows_of(routes[able], starts[able], ends[able], np.ones(able.size))
        draw, noise = self._best, self._best.theta[-1]
        X, covariance = np.zeros((able.size, len(self.trips))), np.zeros((able.size, able.size))
        for term, size in zip(draw.terms, draw.theta, strict=False):
            if term == "group":
                noise = noise + size
                continue
            X += size * kernel(term, rows, self._rows)
            covariance += size * kernel(term, rows, rows)
        mean = routes[able] @ self._base + X @ draw.solver.w
        covariance -= X @ draw.solver.solve(X.T)
        return mean, covariance, noise * mean**2, able

    def edge_times(self) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation of the time of each arc, (m,) arrays."""
        from scipy import sparse

        network = self.network
        e = network.given.size
        mean, sd = np.empty(e), np.empty(e)
        step = max(1, CELLS // max(self.given.num_vertices, len(self.trips)))
        single = sparse.eye_array(e, format="csr")
        with one_thread():
            for i in range(0, e, step):
                part = np.arange(i, min(i + step, e))
                ends = network.tails[part], network.heads[part]
                rows = self._rows_of(single[part], *ends, np.ones(part.size))
                # a bare edge: no start-up, no time at its ends
                rows = replace(rows, start=0 * rows.start, ends=0 * rows.ends)
                mean[part], sd[part] = self._moments(rows, self._base[part], False)
        return mean[network.edge], sd[network.edge]

    def _moments(
        self, rows: RouteRows, prior: FloatArray, measured: bool
    ) -> tuple[FloatArray, FloatArray]:
        used = {term for draw in self._draws for term in draw.terms} - {"group"}
        cross = {term: kernel(term, rows, self._rows) for term in used}
        var = {term: variance(term, rows) for term in used}
        mean, square = np.zeros(prior.size), np.zeros(prior.size)
        for draw in self._draws:
            X, left, noise = np.zeros_like(cross["common"]), np.zeros(prior.size), draw.theta[-1]
            for term, size in zip(draw.terms, draw.theta, strict=False):
                if term == "group":  # the next measurement is of another group
                    noise = noise + size
                    continue
                X += size * cross[term]
                left += size * var[term]
            one = prior + X @ draw.solver.w
            left = np.maximum(left - np.sum(X * draw.solver.solve(X.T).T, axis=1), 0.0)
            left += noise * one**2 if measured else 0.0
            mean += draw.weight * one
            square += draw.weight * (left + one**2)
        sd = np.sqrt(np.maximum(square - mean**2, 0.0))
        return np.maximum(mean, LEAST * prior), sd

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What the trips say of the network, or of themselves; see `findings`."""
        from .findings import find

        return find(self)

    def next_measurements(self, count: int) -> NDArray[np.int64]:
        """Return the pairs to measure next, the best first; see `measuring`.

        Returns
        -------
        (count, 2) array of starts and ends, or the (count,) starts if all trips have one end
        """
        from .measuring import choose

        return choose(self, as_whole(count, "count", least=1))

    def summary(self, names: Naming | None = None, unit: str = "") -> str:
        """Return what the trips say, in lines of text; `unit` is that of the times."""
        from .text import lines

        return "\n".join(f"{margin:9} {text}" for margin, text in lines(self, names, unit))

    def __repr__(self) -> str:
        return f"Model({self.trips!r}, sigma {self.sigma:.3f}, factor {self.factor:.4g})"


def fit(
    graph: Graph,
    trips: Trips | Labels,
    classes: ArrayLike | None = None,
    *,
    progress: Progress | None = None,
) -> Model:
    """Fit the times of a road network to measured trips.

    Parameters
    ----------
    graph : Graph
        The network. Its lengths may be times or distances.
    trips : Trips or Labels
        Measured times. Labels are trips to the vertex with the value 0.
    classes : (m,) array, optional
        Class of each arc, aligned with ``graph.indices``: arcs of one class may share a speed.
    progress : callable, optional
        Called with the steps done and their number.
    """
    data = as_trips(trips, check_graph(graph))
    kinds: NDArray[Any] | None = None
    if classes is not None:
        kinds = as_array(classes, "classes")
        if kinds.shape != (graph.num_arcs,):
            raise InputError(f"classes has shape {kinds.shape}, expected ({graph.num_arcs},)")
    return Model(graph, data, Network(graph, kinds), progress or (lambda done, total: None))


def _prior(terms: tuple[str, ...]) -> float:
    """Return the log prior probability of a model."""
    if "own" not in terms:
        return float(np.log(PLAIN))
    odds = [np.log(p if term in terms else 1.0 - p) for term, p in ODDS.items()]
    return float(np.log(1.0 - PLAIN) + sum(odds))


def _chance(distance: FloatArray, times: FloatArray) -> float:
    """Return the one-sided p-value of Spearman's rank correlation; 0 with two distances or one."""
    if np.unique(distance).size < 3:
        return 0.0
    one, other = _ranks(distance), _ranks(times)
    if other.std() == 0.0:
        return 1.0
    r = float(np.corrcoef(one, other)[0, 1])
    if r > 1.0 - 1e-12:
        return 0.0
    free = distance.size - 2
    return float(stdtr(free, -r * np.sqrt(free / (1.0 - r * r))))


def _ranks(values: FloatArray) -> FloatArray:
    _, where, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return (last - (count - 1) / 2)[where]
