"""What trips say about a hypothesis on a graph: one Gaussian model and its likelihood.

**Hypothesis.** Some edges do not exist, and some places (balls of vertices) are slower or quicker
by a factor each. It gives every arc a length. Let b_i be the length of the *ray* of trip i, its
shortest path under these lengths. The measured cost y_i of the trip is

    y_i / b_i - 1 = μ + κ p_i + g_i + σ ε_i,      g ~ N(0, a² C),

with a common factor 1 + μ, a wait of κ median lengths at each crossing (p_i crossings of the ray
per median length), a slowness that varies smoothly from place to place (`_slowness`; C is its
covariance along the rays), and independent errors in proportion to the costs. The costs decide
whether waits are at crossings of three streets or more, or only of four or more.

**Likelihood.** Restricted: μ and κ are integrated out, ρ = a² / σ² and σ are chosen best [1]_,

    -2 log L = (k - c) log σ² + log det V + log det Xᵀ V⁻¹ X + q / σ²,      V = 1 + ρ C,

for k trips, c columns X, and q the weighted square of the residuals. σ is at least `FLOOR`: no
model of a graph is more exact than that. Rays are computed anew for every hypothesis.

References
----------
.. [1] H. D. Patterson, R. Thompson, "Recovery of inter-block information when block sizes are
   unequal", Biometrika 58 (1971).
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import fdtrc

from ..numerics.shortest import dijkstra, shortest_tree
from ..typing import BoolArray, FloatArray, IntArray
from .base import MendProblem
from .kernels.rays import trace
from .slowness import price_of_arcs, slowness_of

FLOOR = 0.02
"""Least standard deviation of a cost, as a share of it."""
RATIOS = np.append(0.0, 10.0 ** (np.arange(-4, 13) / 2))
"""Choices for ρ."""
TIMES = np.array([0.35, 0.5, 0.7, 1.4, 1.8, 2.4, 3.2])
"""Choices for the factor of a place."""
CENTRES, RADII = 70, (0.08, 0.13, 0.2)
"""Number of centres of places, and their radii as shares of the diameter."""
LEAST_PLACE, MOST_PLACE = 4, 0.35
"""Number of vertices of a place: at least, and at most as a share of all."""
BASIS = 400
"""Largest number of coefficients of the smooth slowness."""
STREETS = (3, 4)
"""Choices for the least number of streets that meet at a crossing with a wait."""
FEWEST_FOR_WAITS = 6
"""Fewest trips that waits are read from."""
GONE = 1e7
"""Length of an edge that does not exist, in median lengths."""
WEAK = 1e-4
"""Precision of μ and κ before anything is measured: keeps collinear columns harmless."""


class Place(NamedTuple):
    """A ball of the dictionary by its number, and its factor."""

    ball: int
    times: float


class Hypothesis(NamedTuple):
    """Edges that do not exist, by the number of their pair of vertices, and places."""

    false: frozenset[int] = frozenset()
    places: tuple[Place, ...] = ()


class Fit(NamedTuple):
    """Most likely parameters: log-likelihood, (c,) coefficients, ρ and σ."""

    likelihood: float
    beta: FloatArray
    ratio: float
    sigma: float


class Along(NamedTuple):
    """The rays of a hypothesis, and the terms of the model along them.

    Attributes
    ----------
    indptr, arcs
        Arcs of ray ``i``: ``arcs[indptr[i]:indptr[i + 1]]``.
    lengths : (m,) array
        Lengths of the arcs under the hypothesis, without edges being gone.
    base, residual : (k,) arrays
        Length of each ray; cost / length - 1, beyond the error of the cost.
    terms : (k, c) array
        Columns of the factor and, if crossings differ between rays, of the waits.
    covariance : (k, k) array
        Of the relative slowness, at amplitude 1.
    """

    indptr: IntArray
    arcs: IntArray
    lengths: FloatArray
    base: FloatArray
    residual: FloatArray
    terms: FloatArray
    covariance: FloatArray

    def only(self, trips: BoolArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return residual, terms and covariance of some trips."""
        return self.residual[trips], self.terms[trips], self.covariance[np.ix_(trips, trips)]


class Evidence:
    """Trips, hypotheses about them, and likelihoods.

    Attributes
    ----------
    pair : (m,) int array
        Number of the pair of vertices that each arc joins; both directions share it.
    ends : (pairs, 2) int array
        The two vertices of each pair, the lower first.
    streets, wait
        How many streets meet at a crossing with a wait, and the cost of each arc per unit of κ.
    num_terms, num_waits : int
        Number of columns of the model, and of the choices for `streets` that differ between rays.
    """

    def __init__(self, problem: MendProblem) -> None:
        graph = problem.graph
        order = np.argsort(problem.ends, kind="stable")
        self.problem, self.graph = problem.only(order), graph
        self.pair, self.ends = self.problem.pairs
        slowness = slowness_of(graph, None, BASIS)
        count = slowness.size - slowness.shared.shape[1]
        self._per_arc = slowness.per_arc[:, :count].tocsr()
        self._root = np.linalg.cholesky(slowness.covariance[:count, :count])
        self._known: dict[int, FloatArray] = {}  # image of each ray by its mark
        self._likelihoods: dict[Hypothesis, float] = {}
        ends = self.problem.ends
        self._groups = [np.flatnonzero(ends == goal) for goal in self.problem.goals]
        self._plain = [self._rays(graph.lengths, group) for group in self._groups]
        # waits at crossings of how many streets: what explains the costs best
        self.num_terms, likely = 2, {}
        for self.streets in STREETS:
            self.wait = price_of_arcs(graph, self.streets)
            bare = self.along(Hypothesis())
            crossings = bare.terms[:, 1]
            # no column if all rays have the same share of these crossings, or trips are few
            if np.ptp(crossings) > 1e-6 * crossings.max() and ends.size >= FEWEST_FOR_WAITS:
                likely[self.streets] = fit(bare.residual, bare.terms, bare.covariance).likelihood
        self.num_terms, self.num_waits = 2 if likely else 1, len(likely)
        self.streets = max(likely, key=lambda each: likely[each], default=STREETS[0])
        self.wait = price_of_arcs(graph, self.streets)

    # ------------------------------------------------------------------ places

    @cached_property
    def inside(self) -> BoolArray:
        """(balls, n) bool: the vertices of each ball, around centres far from each other."""
        graph = self.graph.symmetrised("min") if self.graph.directed else self.graph
        n = graph.num_vertices
        centre, nearest, found = int(self.problem.ends[0]), np.full(n, np.inf), []
        for _ in range(min(CENTRES, n)):
            away, _ = dijkstra(graph.arcs, np.array([centre]), np.zeros(1), 1.0)
            found.append(away)
            nearest = np.minimum(nearest, away)
            centre = int(np.where(np.isfinite(nearest), nearest, -1.0).argmax())
        away = np.array(found)
        diameter = np.percentile(away[np.isfinite(away)], 99)
        balls = np.concatenate([away <= share * diameter for share in RADII])
        size = balls.sum(axis=1)
        balls = balls[(size >= LEAST_PLACE) & (size <= MOST_PLACE * n)]
        return np.asarray(np.unique(balls, axis=0)) if balls.size else balls

    def share(self, ball: int) -> FloatArray:
        """Return the (m,) share of each arc in a ball: 1, 1/2 or 0."""
        inside = self.inside[ball]
        return np.asarray((inside[self.graph.tails] + 0.0 + inside[self.graph.indices]) / 2)

    # ------------------------------------------------------------------ rays

    def along(self, hypothesis: Hypothesis) -> Along:
        """Return the rays of a hypothesis and the model along them."""
        graph, lengths = self.graph, self.graph.lengths
        for ball, times in hypothesis.places:
            lengths = lengths * (1.0 + (times - 1.0) * self.share(ball))
        route = lengths
        if hypothesis.false:
            route = lengths.copy()
            route[np.isin(self.pair, list(hypothesis.false))] = GONE * np.median(graph.lengths)
        rays = self._plain
        if route is not graph.lengths:
            # if nothing became cheaper, only rays with a costlier arc can change
            costlier, cheaper = route > graph.lengths, bool((route < graph.lengths).any())
            rays = [
                self._rays(route, group) if cheaper or costlier[plain[1]].any() else plain
                for group, plain in zip(self._groups, self._plain, strict=True)
            ]
        counts = np.concatenate([np.diff(indptr) for indptr, _, _ in rays])
        indptr, arcs = np.append(0, np.cumsum(counts)), np.concatenate([each[1] for each in rays])
        marks = np.concatenate([each[2] for each in rays]).tolist()

        # relative slowness of the rays in a basis where its covariance is the identity
        new = {mark: i for i, mark in enumerate(marks) if mark not in self._known}
        if new:
            which = list(new.values())
            taken = np.concatenate([arcs[indptr[i] : indptr[i + 1]] for i in which])
            starts = np.append(0, np.cumsum(counts[which]))
            shape = len(which), graph.num_arcs
            ways = sparse.csr_array((np.ones(taken.size), taken, starts), shape=shape)
            self._known |= zip(new, (ways @ self._per_arc) @ self._root, strict=True)
        base = np.add.reduceat(route[arcs], indptr[:-1])
        image = np.array([self._known[mark] for mark in marks]) / base[:, np.newaxis]
        waits = np.add.reduceat(self.wait[arcs], indptr[:-1]) / base
        terms = np.column_stack([np.ones(base.size), waits])[:, : self.num_terms]
        # a cost within its error of the ray says nothing
        error = self.problem.error
        residual = self.problem.costs / base - 1.0
        residual = np.sign(residual) * np.maximum(np.abs(residual) - error / base, 0.0)
        return Along(indptr, arcs, lengths, base, residual, terms, image @ image.T)

    def _rays(
        self, lengths: FloatArray, trips: IntArray
    ) -> tuple[IntArray, IntArray, NDArray[np.uint64]]:
        """Return the shortest paths of trips to one end: indptr, arcs, marks."""
        problem = self.problem
        goal = problem.ends[trips[:1]]
        _, _, slot = shortest_tree(problem.arcs_to(lengths), goal, np.zeros(1))
        indptr, arcs, _, marks = trace(
            self.graph.indices, problem.into, slot, problem.starts[trips]
        )
        return indptr, arcs, marks

    def pairs_of(self, along: Along) -> tuple[IntArray, IntArray]:
        """Return trips and pairs of vertices: which trip takes which, each once."""
        trip = np.repeat(np.arange(along.base.size), np.diff(along.indptr))
        both = np.unique(trip * len(self.ends) + self.pair[along.arcs])
        return np.divmod(both, len(self.ends))

    # ------------------------------------------------------------------ likelihood

    def likelihood(self, hypothesis: Hypothesis) -> float:
        """Return the log-likelihood of a hypothesis; computed once."""
        if hypothesis not in self._likelihoods:
            along = self.along(hypothesis)
            parts = along.residual, along.terms, along.covariance
            # trips were made, so what leaves one of them without a path is impossible
            possible = along.base.max() < 0.5 * GONE * np.median(self.graph.lengths)
            found = fit(*parts).likelihood if possible else -np.inf
            self._likelihoods[hypothesis] = found
        return self._likelihoods[hypothesis]

    def ball_effects(self, along: Along) -> FloatArray:
        """Return the (k, balls) relative extra cost of each ray if a ball were twice as slow."""
        graph, arcs = self.graph, along.arcs
        share = (self.inside[:, graph.tails[arcs]] + 0.0 + self.inside[:, graph.indices[arcs]]) / 2
        effect = np.add.reduceat(share * along.lengths[arcs], along.indptr[:-1], axis=1)
        return effect.T / along.base[:, np.newaxis]


def profile(
    residuals: FloatArray, terms: FloatArray, covariance: FloatArray, restricted: bool = True
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return log-likelihood, coefficients and variance of each row of residuals, for all ρ.

    The arrays have shapes (rows, ratios), (rows, ratios, c) and (rows, ratios).
    """
    power, modes = np.linalg.eigh(covariance)
    r, columns = residuals @ modes, modes.T @ terms
    weight = 1.0 / (1.0 + np.outer(RATIOS, np.maximum(power, 0.0)))  # (ratios, k)
    count, used = columns.shape
    weighted = weight[:, :, np.newaxis] * columns  # (ratios, k, c)
    normal = columns.T @ weighted + WEAK * np.eye(used)
    right = np.einsum("rkc,bk->rcb", weighted, r)
    beta = np.linalg.solve(normal, right).transpose(2, 0, 1)
    rest = r[:, np.newaxis, :] - beta @ columns.T
    square = (weight * rest * rest).sum(axis=2)
    free = max(count - used, 1) if restricted else count
    variance = np.maximum(square / free, FLOOR**2)
    twice = free * np.log(variance) - np.log(weight).sum(axis=1) + square / variance
    if restricted:
        twice += np.linalg.slogdet(normal)[1]
    return -0.5 * twice, beta, variance


def fit(
    residual: FloatArray, terms: FloatArray, covariance: FloatArray, restricted: bool = True
) -> Fit:
    """Return the most likely parameters, of the restricted or of the full likelihood."""
    found, beta, variance = profile(residual[np.newaxis], terms, covariance, restricted)
    best = int(np.argmax(found[0]))  # of equal ones the least ρ
    sigma = float(np.sqrt(variance[0, best]))
    return Fit(float(found[0, best]), beta[0, best], float(RATIOS[best]), sigma)


def chance_of(gain: float, count: int, used: int) -> float:
    """Return the p-value of one more column that raises the full log-likelihood by `gain`.

    The F-test of least squares, which is exact for any number of trips if ρ = 0.
    """
    free = max(count - used, 1)
    return float(fdtrc(1, free, np.expm1(min(2.0 * max(gain, 0.0) / count, 700.0)) * free))
