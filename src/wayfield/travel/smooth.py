"""Tomography: fit a smooth slowness of the vertices to the costs of trips.

**Model.** Arcs cost c = ℓ max(`LEAST`, 1 + slowness), with the smooth random slowness of
`_slowness`. A trip costs as much as its shortest path, plus a normal error of deviation σ.

**Fit.** Given the paths (*rays*), costs are linear in the coefficients z of the slowness. With R
the rows of the rays in units of their σ, and y the costs of the trips less the believed lengths of
their rays in the same units, the most probable coefficients solve

    (K⁻¹ / a² + Rᵀ R) z = Rᵀ y,      that is,      z = a² K Rᵀ (1 + a² R K Rᵀ)⁻¹ y,

with K the covariance of the coefficients: one equation per coefficient or one per ray, whichever
are fewer. Given z, the rays are one tree of shortest paths per end. The two steps alternate; the
first solution is taken in full, later ones are damped.

**All paths cost enough.** An exact cost is a condition on *every* path, not only on the shortest.
So a ray of an earlier round that is still too cheap is kept. Trips to one end imply more: with
costs Y(i) and Y(z), no path from i to z is cheaper than Y(i) - Y(z). Where one is, it becomes a ray
too; one shortest-path search finds them, as in `contradictions`. Such rays are short and locate the
slowness. Upper bounds and noisy costs imply neither, so only the newest rays count for them.
They also get no price per arc or crossing: it would explain costs of collisions. Exact costs get
one if the evidence supports it.

**Units.** Slowness does not model a change of units. If the median trip costs hundreds of times as
much as believed, or less than a fifth, costs are divided by this ratio first, and lengths are
multiplied by it in the end.

**Which round.** Alternation need not improve the fit. With exact costs, the round that fits them
best is kept. With other costs it is the first round that fits all of them within their error, or
the last of a few, since later rounds fit noise. The amplitude is the most probable one given the
rays of the first rounds (evidence), on a grid.

**Caution.** Few costs determine small differences of slowness badly, and a detour around a slightly
slow place is seldom worth it. With a caution t, an arc that is exp(d) times as slow as the common
factor and price counts as exp(sign(d) max(|d| - t, 0)) times as slow. Lengths are then scaled so
that the total cost of the trips is as fitted.

**Cost.** A round is two Dijkstra searches per end and one dense solve of at most a thousand
unknowns. With more rays than coefficients, the Cholesky factor of an earlier round preconditions
conjugate gradients until the rays have changed too much.

References
----------
.. [1] A. Tarantola, *Inverse Problem Theory*, SIAM (2005), chapters 3 and 7.
.. [2] C. E. Rasmussen, C. K. I. Williams, *Gaussian Processes for Machine Learning*, MIT (2006).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from ..checks import as_real, as_whole
from ..numerics.shortest import shortest_tree
from ..typing import FloatArray, IntArray
from .base import LEAST, Fit, MendMethod, MendProblem
from .kernels.rays import Rays, trace
from .slowness import Price, Slowness, slowness_of

AMPLITUDES = 10.0 ** (np.arange(-6, 9) / 4)
"""Choices for the standard deviation of slowness."""

EXACT = 0.02
"""Standard deviation of exact costs, relative to their mean: what the model cannot resolve."""

EXACT_BETWEEN = 0.1
"""The same between trips, relative to the difference of their costs."""

PRICES: tuple[Price, ...] = ("arc", "crossing")
LIKELIER = 1.0
"""Least reduction of -2 log evidence at which a price is included."""

SAMPLE = 100
"""Largest number of rays that the evidence is computed from."""

QUICK = 10
"""Number of rounds that suffices to compare candidates."""

TUNING = 3
"""Number of rounds in which the amplitude is chosen anew."""

NOISY_ROUNDS = 8
"""Largest number of rounds with noisy costs; later rounds fit noise."""

STEP = 0.7
"""Step length of later rounds: full steps oscillate."""

UNITS = (0.2, 100.0)
"""If the median ratio of cost to believed cost is outside this range, the units differ."""

MET = 1e-9
"""Exact costs count as met within this share of their mean."""

TOLERANCE = 1e-6
PATIENCE = 40
"""Conjugate gradients: relative residual, and steps before the factor is renewed."""


@dataclass(frozen=True)
class Smooth(MendMethod):
    """Fit a smooth slowness: slow patches, slip, congestion, a wrong unit.

    Parameters
    ----------
    rounds : int
        Number of times that paths and costs are fitted in turn.
    noise : float
        Standard deviation of the trips' costs as a share of each; 0 if they are exact.
    caution : float
        Shrinkage of the slowness of single arcs towards the common factor, on a log scale: small
        deviations vanish. With 0 the costs are fitted best; a little more avoids needless detours.

    Examples
    --------
    A row of ten edges, slow on the right.

    >>> import wayfield as wf

    >>> from wayfield import travel
    >>> row = wf.Graph.from_edges(range(10), range(1, 11))
    >>> labels = wf.Labels([0, 3, 5, 8, 10], [0.0, 3.0, 5.0, 14.0, 20.0])
    >>> mended = travel.mend(row, labels, goal=0, method=travel.Smooth())
    >>> [round(float(cost)) for cost in wf.cost_to_go(mended.graph, 0)[[3, 5, 8, 10]]]
    [3, 5, 14, 20]
    """

    rounds: int = 20
    noise: float = 0.0
    caution: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "rounds", as_whole(self.rounds, "rounds", least=1))
        object.__setattr__(self, "noise", as_real(self.noise, "noise", least=0.0))
        object.__setattr__(self, "caution", as_real(self.caution, "caution", least=0.0))

    @property
    def name(self) -> str:
        """Name of the method among candidates."""
        return "noisy smooth" if self.noise else "smooth"

    def quick(self) -> Smooth:
        """Return the same method with at most `QUICK` rounds."""
        return replace(self, rounds=min(self.rounds, QUICK))

    def fit(self, problem: MendProblem) -> Fit:
        """Fit slowness to the trips.

        The value is the mean of ``|least cost under the fit - cost|``; it has no bound.
        ``details``: "amplitude" of the slowness.
        """
        # ratio of the unit of cost to that of length, if they differ
        unit = float(np.median(problem.costs / problem.distances()))
        if UNITS[0] <= unit <= UNITS[1]:
            unit = 1.0
        costs, error = problem.costs / unit, problem.error / unit
        lengths, amplitude = self._fitted(replace(problem, costs=costs, error=error))
        if unit != 1.0:
            lengths = unit * lengths
        value = float(np.abs(problem.distances(lengths) - problem.costs).mean())
        return Fit(lengths, value, details={"amplitude": amplitude})

    def _fitted(self, problem: MendProblem) -> tuple[FloatArray, float]:
        """Return lengths fitted to trips in the unit of the graph, and the amplitude."""
        believed, costs = problem.graph.lengths, problem.costs
        exact = not (self.noise or problem.error or problem.upper)
        slowness = slowness_of(problem.graph)
        if exact and not problem.graph.is_unit:
            # a price per arc or per crossing, if the costs are more probable with it. The evidence
            # is that of exact costs along the shortest paths as given
            def surprise(prior: Slowness) -> float:
                rays = _Rays(problem, prior, 0.0, exact=True)
                rays.renew(believed)
                return _most_probable(rays, rays.wanted - rays.ways @ believed)[1]

            least = surprise(slowness) - LIKELIER
            for prior in (slowness_of(problem.graph, price) for price in PRICES):
                if (found := surprise(prior)) < least:
                    slowness, least = prior, found
        rays = _Rays(problem, slowness, self.noise, exact)
        posterior = _Posterior(slowness)
        lengths, coefficients, amplitude = believed, np.zeros(slowness.size), 0.0
        common, kept, best = believed, (believed, believed), np.inf
        for turn in range((self.rounds if exact else min(self.rounds, NOISY_ROUNDS)) + 1):
            error, worst, excess = rays.renew(lengths)
            if not exact or error + excess < best:
                kept, best = (lengths, common), error + excess
            if best <= MET * costs.mean() if exact else worst <= problem.error:
                break
            wanted = rays.wanted - rays.ways @ believed
            if turn < TUNING:
                amplitude, _ = _most_probable(rays, wanted)
            coefficients = posterior.mean(rays, wanted, amplitude, coefficients)
            fitted = np.maximum(LEAST * believed, believed + slowness.per_arc @ coefficients)
            shared = np.maximum(LEAST * believed, believed + slowness.common(coefficients))
            step = STEP if turn else 1.0
            lengths, common = lengths + step * (fitted - lengths), common + step * (shared - common)
        return self._calmed(problem, *kept), amplitude

    def _calmed(self, problem: MendProblem, lengths: FloatArray, common: FloatArray) -> FloatArray:
        """Return lengths without small deviations, scaled to the same total cost of the trips."""
        if not self.caution or lengths is problem.graph.lengths:
            return lengths
        away = np.log(lengths / common)
        calmed = common * np.exp(np.sign(away) * np.maximum(np.abs(away) - self.caution, 0.0))
        times = float(problem.distances(lengths).sum() / problem.distances(calmed).sum())
        return np.asarray(np.maximum(LEAST * problem.graph.lengths, times * calmed))


class _Rays:
    """The rays in use.

    Attributes
    ----------
    wanted : (q,) float array
        Cost that each ray should have.
    spread : (q,) float array
        Standard deviation of that cost.
    ways : (q, m) sparse array
        Number of times that each ray takes each arc.
    rows : (q, p) array
        Extra cost of each ray per unit of each coefficient of the slowness.
    images : (q, p) array
        Covariance of every ray with each coefficient.
    """

    def __init__(self, problem: MendProblem, slowness: Slowness, noise: float, exact: bool) -> None:
        self._problem, self._slowness = problem, slowness
        self._noise, self._exact = noise, exact
        self._least_spread = EXACT * float(problem.costs.mean()) + problem.error / 2
        self._marks = np.empty(0, np.uint64)
        self.wanted, self.spread = np.empty(0), np.empty(0)
        self.ways: Any = sparse.csr_array((0, problem.graph.num_arcs))
        self.rows = np.empty((0, slowness.size))
        self.images = np.empty((0, slowness.size))

    def renew(self, lengths: FloatArray) -> tuple[float, float, float]:
        """Add the shortest paths and, if costs are exact, paths that prove arcs too cheap.

        Return the mean and the largest error of the trips, and the mean excess of contradictions
        between them.
        """
        problem = self._problem
        kept = self._exact & (self.ways @ lengths < self.wanted - self.spread)
        self.wanted, self.spread, self._marks = (
            each[kept] for each in (self.wanted, self.spread, self._marks)
        )
        self.ways, self.rows, self.images = self.ways[kept], self.rows[kept], self.images[kept]
        arcs = problem.arcs_to(lengths)
        error = worst = excess = 0.0
        for goal in problem.goals:
            trips = np.flatnonzero(problem.ends == goal)
            starts, costs = problem.starts[trips], problem.costs[trips]
            cost, _, slot = shortest_tree(arcs, np.array([goal]), np.zeros(1))
            off = np.abs(cost[starts] - costs)
            error, worst = error + float(off.sum()), max(worst, float(off.max()))
            self._take(slot, starts, costs, self._least_spread + self._noise * costs)
            if not self._exact:
                continue
            known = np.full(problem.graph.num_vertices, np.nan)
            known[starts], known[goal] = costs, 0.0
            sources = np.append(starts, goal)
            upper, origin, slot = shortest_tree(arcs, sources, known[sources])
            wanted = costs - known[origin[starts]]
            spread = np.minimum(self._least_spread, EXACT_BETWEEN * (wanted + self._least_spread))
            low = costs - upper[starts]
            excess += float(low.sum())
            cheap = low > spread
            self._take(slot, starts[cheap], wanted[cheap], spread[cheap])
        count = problem.costs.size
        return error / count, worst, excess / count

    def _take(
        self, slot: IntArray, starts: NDArray[np.int64], wanted: FloatArray, spread: FloatArray
    ) -> None:
        """Add the rays of a tree from some starts, without duplicates."""
        graph = self._problem.graph
        rays = Rays(*trace(graph.indices, self._problem.into, slot, starts))
        new = ~np.isin(rays.marks, self._marks) & (np.diff(rays.indptr) > 0)
        shape = (starts.size, graph.num_arcs)
        ways = sparse.csr_array((np.ones(rays.arcs.size), rays.arcs, rays.indptr), shape=shape)
        ways = ways[new]
        self.wanted = np.append(self.wanted, wanted[new])
        self.spread = np.append(self.spread, spread[new])
        self._marks = np.append(self._marks, rays.marks[new])
        self.ways = sparse.vstack([self.ways, ways], format="csr")
        rows = (ways @ self._slowness.per_arc).toarray()
        self.rows = np.concatenate([self.rows, rows])
        self.images = np.concatenate([self.images, rows @ self._slowness.covariance])


def _most_probable(rays: _Rays, wanted: FloatArray) -> tuple[float, float]:
    """Return the amplitude of greatest evidence and its -2 log evidence.

    The model is ``wanted`` ~ N(0, a² covariance + spread²).
    """
    some = np.unique(np.linspace(0, wanted.size - 1, SAMPLE).astype(np.int64))
    spread = rays.spread[some]
    covariance = rays.rows[some] @ rays.images[some].T
    power, modes = np.linalg.eigh(covariance / np.outer(spread, spread))
    parts = (modes.T @ (wanted[some] / spread)) ** 2
    variance = np.outer(AMPLITUDES**2, np.maximum(power, 0.0)) + 1.0
    surprise = (parts / variance + np.log(variance)).sum(axis=1)
    best = int(np.argmin(surprise))
    return float(AMPLITUDES[best]), float(surprise[best])


class _Posterior:
    """Solver for the most probable coefficients."""

    def __init__(self, slowness: Slowness) -> None:
        self._precision = slowness.precision
        self._amplitude = 0.0
        self._factor: tuple[FloatArray, bool] | None = None

    def mean(
        self, rays: _Rays, wanted: FloatArray, amplitude: float, start: FloatArray
    ) -> FloatArray:
        """Return the coefficients; the iteration begins at `start`."""
        if wanted.size <= self._precision.shape[0]:
            return self._by_rays(rays, wanted, amplitude)
        return self._by_coefficients(rays, wanted, amplitude, start)

    def _by_rays(self, rays: _Rays, wanted: FloatArray, amplitude: float) -> FloatArray:
        covariance = amplitude**2 * (rays.rows @ rays.images.T)
        covariance[np.diag_indices_from(covariance)] += rays.spread**2
        weights = cho_solve(cho_factor(covariance, lower=True, overwrite_a=True), wanted)
        return np.asarray(amplitude**2 * (weights @ rays.images))

    def _by_coefficients(
        self, rays: _Rays, wanted: FloatArray, amplitude: float, start: FloatArray
    ) -> FloatArray:
        rows = rays.rows / rays.spread[:, np.newaxis]
        target: FloatArray = (wanted / rays.spread) @ rows
        prior = self._precision / amplitude**2
        if amplitude != self._amplitude:
            self._amplitude, self._factor = amplitude, None
        if self._factor is not None:
            factor, size = self._factor, target.size
            normal = LinearOperator((size, size), lambda z: prior @ z + (rows @ z) @ rows)
            inverse = LinearOperator((size, size), lambda z: cho_solve(factor, z))
            mean, more = cg(normal, target, start, rtol=TOLERANCE, maxiter=PATIENCE, M=inverse)
            if more == 0:
                return np.asarray(mean)
        self._factor = cho_factor(rows.T @ rows + prior, lower=True)
        return np.asarray(cho_solve(self._factor, target))
