"""What is wrong with a network: hypotheses of the model, each judged by its evidence.

    road × a     both directions of a road take a times as long, a in `AMOUNTS`; ∞: closed
    area × a     all roads in a ball do
    trip         one measurement is off by about its own size, 3, 10 or many more times it
    start, wait  a constant time per trip, or at every crossing: beside every hypothesis above
    nothing      none of these

In all of them the common factor, smooth slowness, load and each road's own deviation remain, and
all variances are fitted anew. Routes are found anew under every hypothesis, at its own amount: so
none gets a new route for nothing while its rivals keep the old one. Priors are divided by the
number of places, so a thousand roads do not outvote one start-up time.

A finding is said at a probability of `SAID`, summed over its amounts and over a few places that the
trips cannot tell apart. It then joins the model, and the search goes on.

**Blocked.** Times cannot tell a closed road from a very slow one that everybody avoids. Where the
amounts at which nobody uses the road hold `SAID`, the finding says just that, with the detour as
the least amount.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from ..numerics.workers import one_thread
from ..typing import FloatArray, IntArray
from .evidence import Evidence
from .network import RouteRows, kernel

if TYPE_CHECKING:
    from .model import Model

AMOUNTS: dict[str, tuple[float, ...]] = {
    "road": (0.25, 0.4, 0.6, 1.6, 2.5, 4.0, 8.0, np.inf),
    "area": (0.5, 0.7, 1.4, 2.0, 3.0),
    "trip": (1.0, 10.0, 100.0, 1e3, 1e5, 1e7, 1e9, 1e11),
}
PRIOR = {"road": 0.3, "area": 0.2, "trip": 0.2, "start": 0.2, "wait": 0.1}
CLOSED = 0.3
"""Share of a road's prior for being closed."""
GROSS = 0.02
"""Share of a trip's prior for each amount above 100: for times that stand for "missing"."""
COARSE = 0.2
"""Relative standard deviation of an amount around its place in the grid."""
SAID = 0.9
"""Probability at which a finding is said."""
MOST_TRIPS = 300
"""Trips that the search reads, drawn at random from more."""
MOST_FINDINGS = 8
_CONSTANTS: tuple[tuple[str, ...], ...] = ((), ("start",), ("wait",), ("start", "wait"))
_FAR = 7.0
"""Hypotheses that are this many nats behind are not looked at again."""


@dataclass(frozen=True, eq=False)
class Finding:
    """Something that the trips say of the network, or of themselves.

    Attributes
    ----------
    kind : str
        "blocked", "road", "area", "trip", "start", "wait", or "unrelated".
    where : tuple of int arrays
        Places that the trips cannot tell apart, the likeliest first: each an array of arcs, as
        positions in ``graph.indices``, of areas those that trips use; for a trip, its position.
    probability : float
        Of the finding, beside all others.
    amount, low, high : float
        Median, and 5 % and 95 % quantiles. Roads and areas: how many times as long as the others
        in proportion to their lengths. Blocked: the least, its detour. Start and wait: time.
    trips : (t,) int array
        Trips that speak for it, the loudest first.
    """

    kind: str
    where: tuple[NDArray[np.int64], ...]
    probability: float
    amount: float
    low: float
    high: float
    trips: NDArray[np.int64]


@dataclass(eq=False)
class _Setting:
    """The trips under one hypothesis: routes, lengths of them, and covariances."""

    routes: Any
    far: FloatArray
    rows: RouteRows
    kernels: dict[str, FloatArray]
    fixed: FloatArray


@dataclass(eq=False)
class _Row:
    """One hypothesis with its log posterior, up to a constant."""

    kind: str
    place: tuple[int, ...]
    amount: float
    terms: tuple[str, ...]
    score: float
    setting: _Setting
    prior: float


def find(model: Model) -> tuple[Finding, ...]:
    """Return what the trips of a model say, the surest first."""
    if model.unrelated:
        none = np.empty(0, np.int64)
        return (Finding("unrelated", (), 1.0, 0.0, 0.0, 0.0, none),)
    with one_thread():
        return _Search(model).run()


class _Search:
    """Search for findings one by one; each joins the model."""

    def __init__(self, model: Model) -> None:
        self.model, self.network = model, model.network
        k = len(model.trips)
        rng = np.random.default_rng(1)
        self.some = np.sort(rng.choice(k, min(k, MOST_TRIPS), replace=False))
        self.trips = model.trips.take(self.some)
        self.core: tuple[str, ...] = ("common", "smooth", "load", "own")
        self.core += () if self.network.kinds is None else ("class",)
        self.core += () if self.trips.group is None else ("group",)
        self.unit = model.unit[self.some]
        e = self.network.given.size
        self.scale, self.open = np.ones(e), np.ones(e, bool)
        self.known: list[tuple[IntArray, float]] = []
        self.own = np.zeros(self.some.size)
        self.balls = self._balls()
        opposite = self.network.opposite
        low, high = np.minimum(np.arange(e), opposite), np.maximum(np.arange(e), opposite)
        self.road_of = np.where(opposite < 0, np.arange(e), low)
        self.roads = {
            int(a): tuple({int(a), int(b)}) for a, b in zip(self.road_of, high, strict=True)
        }

    def _balls(self, centres: int = 40) -> list[tuple[int, ...]]:
        """Return balls of three sizes around random vertices, as edges."""
        network, graph = self.network, self.model.given
        n = graph.num_vertices
        arcs = sparse.csr_array((graph.lengths, graph.indices, graph.indptr), shape=(n, n))
        chosen = np.random.default_rng(0).choice(n, min(centres, n), replace=False)
        found: dict[tuple[int, ...], None] = {}
        for far in dijkstra(arcs, directed=False, indices=chosen):
            for share in (0.03, 0.08, 0.2):
                inside = far <= np.quantile(far, share)
                ball = np.flatnonzero(inside[network.tails] & inside[network.heads])
                if ball.size:
                    found[tuple(ball.tolist())] = None
        return list(found)

    # ------------------------------------------------------------------ settings

    def _rows(self, routes: Any, lengths: FloatArray, which: IntArray) -> RouteRows:
        starts, ends = self.trips.starts[which], self.trips.ends[which]
        return self.network.rows(
            routes, lengths, starts, ends, self.unit[which], self.model.middle
        )  # fmt: skip

    def _through(self, routes: Any, edges: IntArray, lengths: FloatArray) -> FloatArray:
        """Return the share of each trip's expected time that is spent on some edges."""
        return np.asarray(routes[:, edges] @ lengths[edges]) / self.unit

    def null(self) -> _Setting:
        """Return the setting in which nothing else is wrong than what was found."""
        self.lengths = self.model.factor * self.network.given * self.scale
        times = np.where(self.open, self.lengths, np.inf)
        routes, far = self.network.routes(times, self.trips.starts, self.trips.ends)
        every = np.arange(self.some.size)
        rows = self._rows(routes, self.lengths, every)
        terms = (*self.core, "start", "wait")
        kernels = {term: kernel(term, rows, rows) for term in terms if term != "group"}
        if self.trips.group is not None:
            group = self.trips.group
            kernels["group"] = (group[:, None] == group).astype(np.float64)
        fixed = np.diag(self.own)
        for edges, spread in self.known:
            u = spread * self._through(routes, edges, self.lengths)
            fixed += np.outer(u, u)
        return _Setting(routes, far, rows, kernels, fixed)

    def changed(
        self, null: _Setting, place: tuple[int, ...], amount: float, gone: _Setting | None
    ) -> _Setting | None:
        """Return the setting in which edges take `amount` times as long; None without a route.

        `gone` is the setting without these edges, to be returned if nobody uses them.
        """
        edges = np.array(place)
        there = np.asarray(null.routes[:, edges] @ self.lengths[edges])
        which = np.flatnonzero(there > 0.0) if amount > 1.0 else np.arange(self.some.size)
        if gone is not None and amount > 1.0:
            longer = null.far[which] + (amount - 1.0) * there[which]
            if (gone.far[which] <= longer).all():
                return gone
        lengths = self.lengths.copy()
        lengths[edges] *= 1.0 if np.isinf(amount) else amount
        times = np.where(self.open, lengths, np.inf)
        times[edges] = times[edges] if np.isfinite(amount) else np.inf
        starts, ends = self.trips.starts[which], self.trips.ends[which]
        routes, far = self.network.routes(times, starts, ends)
        if np.isinf(far).any():
            return None
        fresh = self._rows(routes, lengths, which)
        rows, kernels, all_far = null.rows.with_rows(which, fresh), {}, null.far.copy()
        all_far[which] = far
        for term, old in null.kernels.items():
            kernels[term] = old
            if term not in ("start", "group"):
                new = kernels[term] = old.copy()
                new[which] = kernel(term, fresh, rows)
                new[:, which] = new[which].T
        put = sparse.csr_array(
            (np.ones(which.size), (which, np.arange(which.size))), shape=(all_far.size, which.size)
        )
        stay = sparse.diags_array(1.0 - np.ravel(put.sum(axis=1)))
        mixed, fixed = (stay @ null.routes + put @ routes).tocsr(), null.fixed
        if np.isfinite(amount):
            u = COARSE * self._through(mixed, edges, lengths)
            fixed = fixed + np.outer(u, u)
        return _Setting(mixed, all_far, rows, kernels, fixed)

    def evidence(self, setting: _Setting, terms: tuple[str, ...]) -> Evidence:
        """Return the posterior of the variances under a hypothesis."""
        terms = self.core + terms
        kernels = np.array([setting.kernels[term] for term in terms])
        # the common factor is fitted anew: a closed road makes the old one too large
        scale = float(np.median(self.trips.times / setting.far))
        y = (self.trips.times - scale * setting.far) / self.unit
        # noise grows with the time that is expected under the hypothesis
        noise = np.maximum(scale * setting.far / self.unit, 1.0) ** 2
        return Evidence(terms, kernels, y, setting.fixed, noise)

    # ------------------------------------------------------------------ one step

    def step(self) -> list[_Row]:
        """Return the hypotheses with the best chances, the best first."""
        null = self.null()
        peaks = {terms: self.evidence(null, terms).peak() for terms in _CONSTANTS}
        scores = {terms: peak.evidence + _odds(terms) for terms, peak in peaks.items()}
        best = max(scores, key=lambda terms: scores[terms])
        theta = peaks[best].theta
        z = np.log(theta)
        there = self.evidence(null, best).loss(z)[0]
        nothing = [_Row("nothing", (), 1.0, t, scores[t], null, 0.0) for t in _CONSTANTS]

        # 1. every amount of the shortlisted places, at the variances of "nothing"
        rows: list[_Row] = []
        for kind, place, count, up in self.shortlist(null, best, theta):
            gone: _Setting | None = None
            for amount in reversed(AMOUNTS[kind]):
                if kind == "trip":
                    one = np.arange(self.some.size) == place[0]
                    fixed = null.fixed + np.diag(amount * one)
                    setting: _Setting | None = _Setting(
                        null.routes, null.far, null.rows, null.kernels, fixed
                    )
                elif (amount > 1.0) != up:
                    continue
                else:
                    setting = self.changed(null, place, amount, gone)
                if setting is None:
                    continue
                gone = setting if np.isinf(amount) else gone
                share = 1.0 / len(AMOUNTS[kind])
                if kind == "trip":
                    share = GROSS if amount > 100.0 else (1.0 - 5 * GROSS) / 3
                if kind == "road":
                    finite = len(AMOUNTS[kind]) - 1
                    share = CLOSED if np.isinf(amount) else (1.0 - CLOSED) / finite
                prior = float(np.log(PRIOR[kind] / count * share))
                gain = there - self.evidence(setting, best).loss(z)[0]
                rows.append(
                    _Row(kind, place, amount, best, scores[best] + gain + prior, setting, prior)
                )
        rows.sort(key=lambda row: -row.score)

        # 2. variances fitted anew for the leaders, then other constants beside them
        least = max(rows[0].score, scores[best]) - _FAR if rows else 0.0
        leaders = {row.place for row in rows[:3]}
        for i, row in enumerate(rows):
            if row.place in leaders or (i < 12 and row.score > least):
                found = self.evidence(row.setting, best).peak(theta).evidence
                row.score = max(row.score, found + row.prior + _odds(best))
        rows.sort(key=lambda row: -row.score)
        for row in rows[:5]:
            if row.score > rows[0].score - _FAR and row.score > scores[best] - _FAR:
                for terms in _CONSTANTS:
                    if terms != best:
                        found = self.evidence(row.setting, terms).peak().evidence
                        score = found + row.prior + _odds(terms)
                        rows.append(
                            _Row(
                                row.kind,
                                row.place,
                                row.amount,
                                terms,
                                score,
                                row.setting,
                                row.prior,
                            )
                        )
        return sorted([*nothing, *rows], key=lambda row: -row.score)

    def shortlist(
        self, null: _Setting, terms: tuple[str, ...], theta: FloatArray
    ) -> list[tuple[str, tuple[int, ...], int, bool]]:
        """Return places with kind, place, number of such places, and whether they are slower."""
        solver = self.evidence(null, terms).solver(theta)
        inverse = solver.solve(np.eye(self.some.size))
        w = solver.w

        def rank(columns: FloatArray) -> tuple[FloatArray, FloatArray]:
            """Return what each column gains, and the sign and size of its effect."""
            q = np.einsum("ij,jk,ik->i", columns, inverse, columns)
            b = columns @ w
            return 0.5 * (b**2 / (1.0 + q) - np.log1p(q)), b / np.sqrt(1e-12 + q)

        # roads by a small change of their time, and by closing them
        used = np.unique(self.road_of[np.unique(null.routes.indices)])
        through = np.array(
            [self._through(null.routes, np.array(self.roads[int(r)]), self.lengths) for r in used]
        )
        gain, score = rank(through)
        chosen = {int(used[i]) for i in np.argsort(-gain)[:6]}
        slower = dict(zip(used.tolist(), (score > 0.0).tolist(), strict=True))
        closed = list[tuple[float, int]]()
        for i in np.argsort(-score)[:60]:
            if score[i] < 1.0:
                break
            users = np.flatnonzero(through[i] > 0.0)
            times = np.where(self.open, self.lengths, np.inf)
            times[list(self.roads[int(used[i])])] = np.inf
            starts, ends = self.trips.starts[users], self.trips.ends[users]
            _, far = self.network.routes(times, starts, ends)
            if np.isfinite(far).all():
                more = np.zeros(self.some.size)
                more[users] = (far - null.far[users]) / self.unit[users]
                closed.append((float(w @ more - 0.5 * more @ inverse @ more), int(used[i])))
        chosen |= {road for _, road in sorted(closed, reverse=True)[:8]}
        total = np.unique(self.road_of).size
        found = [("road", self.roads[r], total, slower[r]) for r in sorted(chosen)]
        # areas, and single trips
        balls = [self._through(null.routes, np.array(ball), self.lengths) for ball in self.balls]
        gain, score = rank(np.array(balls).reshape(-1, self.some.size))
        for i in np.argsort(-gain)[:6]:
            found.append(("area", self.balls[i], len(self.balls), bool(score[i] > 0.0)))
        gain, _ = rank(np.eye(self.some.size))
        found += [("trip", (int(i),), self.some.size, True) for i in np.argsort(-gain)[:3]]
        return found

    # ------------------------------------------------------------------ the search

    def run(self) -> tuple[Finding, ...]:
        """Return the findings, each beside those before it."""
        found: list[Finding] = []
        while True:
            rows = self.step()
            chance = np.exp(np.array([row.score for row in rows]) - rows[0].score)
            chance /= chance.sum()
            named = _named(rows, chance) if len(found) < MOST_FINDINGS else None
            if named is None:
                break
            found.append(self._join(rows, chance, *named))
        for term in ("start", "wait"):
            sure = float(sum(p for row, p in zip(rows, chance, strict=True) if term in row.terms))
            mean, sd, loud = self._constant(rows[0], term)
            if sure >= SAID and mean > 2.0 * sd:
                low, high = mean - 1.645 * sd, mean + 1.645 * sd
                found.append(Finding(term, (), sure, mean, low, high, loud))
        return tuple(found)

    def _join(
        self,
        rows: list[_Row],
        chance: FloatArray,
        kind: str,
        places: list[tuple[int, ...]],
        sure: float,
    ) -> Finding:
        """Return a finding, and make it part of the model."""
        mine = [
            (row, p)
            for row, p in zip(rows, chance, strict=True)
            if row.kind == kind and row.place in places
        ]
        lead = max(mine, key=lambda each: each[1])[0]
        amounts = np.array(sorted({row.amount for row, _ in mine}))
        mass = np.array([sum(p for row, p in mine if row.amount == a) for a in amounts])
        mass /= mass.sum()
        at = np.minimum(np.searchsorted(np.cumsum(mass), (0.05, 0.5, 0.95)), amounts.size - 1)
        low, middle, high = amounts[at].tolist()
        loud = self._loud(rows, lead)
        if kind == "trip":
            self.own[lead.place[0]] += lead.amount
            at_trip = self.some[list(lead.place)]
            return Finding(kind, (at_trip,), sure, middle, low, high, at_trip)
        edges = np.array(lead.place)
        # of an area, the roads that trips use: they say nothing of the others
        used = [np.unique(row.setting.routes.indices) for row in (lead, _nothing(rows))]
        seen = np.unique(np.concatenate(used)) if kind == "area" else np.arange(self.scale.size)
        where = tuple(self._arcs(np.intersect1d(place, seen)) for place in places)
        if kind == "road":
            detour = self._detour(edges)
            if mass[amounts >= detour].sum() >= SAID:
                self.open[edges] = False
                return Finding("blocked", where, sure, detour, detour, np.inf, loud)
        finite = np.isfinite(amounts)
        logs, weights = np.log(amounts[finite]), mass[finite] + 1e-9
        spread = np.average((logs - np.average(logs, weights=weights)) ** 2, weights=weights)
        if np.isfinite(lead.amount):
            self.scale[edges] *= lead.amount
            self.known.append((edges, float(np.sqrt(COARSE**2 + spread))))
        else:
            self.open[edges] = False
        return Finding(kind, where, sure, middle, low, high, loud)

    def _arcs(self, place: IntArray) -> NDArray[np.int64]:
        return np.flatnonzero(np.isin(self.network.edge, place))

    def _detour(self, edges: IntArray) -> float:
        """Return the time of the best way round a road, in times of its own."""
        times = np.where(self.open, self.lengths, np.inf)
        times[edges] = np.inf
        tails, heads = self.network.tails[edges], self.network.heads[edges]
        _, far = self.network.routes(times, tails, heads)
        return float(np.min(far / self.lengths[edges]))

    def _loud(self, rows: list[_Row], lead: _Row) -> NDArray[np.int64]:
        """Return the trips through the place that are predicted better by half a nat or more."""
        null = _nothing(rows).setting
        through = np.abs(lead.setting.far - null.far) > 0.01 * null.far
        densities = []
        for row in (lead, _nothing(rows)):
            evidence = self.evidence(row.setting, row.terms)
            solver = evidence.solver(evidence.peak(curved=False).theta)
            precision = np.diag(solver.solve(np.eye(self.some.size)))
            # each trip given all others: mean y - w / precision, variance 1 / precision
            densities.append(0.5 * (np.log(precision) - solver.w**2 / precision))
        gain = np.where(through, densities[0] - densities[1], 0.0)
        order = np.argsort(-gain, kind="stable")
        return self.some[order[gain[order] >= 0.5]]

    def _constant(self, row: _Row, term: str) -> tuple[float, float, NDArray[np.int64]]:
        """Return mean and standard deviation of a constant, and the trips that speak for it."""
        if term not in row.terms:
            return 0.0, 1.0, np.empty(0, np.int64)
        evidence = self.evidence(row.setting, row.terms)
        theta = evidence.peak().theta
        solver = evidence.solver(theta)
        u, size = getattr(row.setting.rows, term), theta[evidence.terms.index(term)]
        unit = self.model.middle if term == "start" else self.model.factor * self.network.unit
        mean = unit * size * (u @ solver.w)
        left = max(size - size**2 * (u @ solver.solve(u)), 0.0)
        order = np.argsort(-u * solver.w, kind="stable")
        return (
            float(mean),
            float(unit * np.sqrt(left)),
            self.some[order[(u * solver.w)[order] > 0.0]],
        )


def _nothing(rows: list[_Row]) -> _Row:
    return next(row for row in rows if row.kind == "nothing")


def _odds(terms: tuple[str, ...]) -> float:
    """Return the log prior probability of the constants in a hypothesis."""
    return float(sum(np.log(PRIOR[t] if t in terms else 1.0 - PRIOR[t]) for t in ("start", "wait")))


def _named(rows: list[_Row], chance: FloatArray) -> tuple[str, list[tuple[int, ...]], float] | None:
    """Return the fewest places of one kind that hold `SAID`: up to 3 roads, 6 areas, or 1 trip."""
    for kind, most in (("road", 3), ("area", 6), ("trip", 1)):
        mass: dict[tuple[int, ...], float] = {}
        for row, p in zip(rows, chance, strict=True):
            if row.kind == kind:
                mass[row.place] = mass.get(row.place, 0.0) + float(p)
        order = sorted(mass, key=lambda place: -mass[place])[:most]
        held = np.cumsum([mass[place] for place in order])
        if held.size and held[-1] >= SAID:
            size = int(np.searchsorted(held, SAID)) + 1
            return kind, order[:size], min(float(held[size - 1]), 1.0)
    return None
