"""Findings: what is wrong with a graph, as far as measured costs bear it out.

Each finding is tested against leaving it out, and against every rival in its stead. It is *named*
at a probability of at least `NAMED`, and *suspected* below. The model is that of `_evidence`.

1. **Units first.** If nearly all trips cost less than a third or more than three times their
   shortest paths, nothing is named: the units may differ, and the only finding is a question.
2. **Positions.** An edge that leaps (`_suspicion`) is false with odds of `ODDS` : 1, before trips
   are read. A trip that used it at the graph's own cost acquits it. It is named if trips bear it
   out. If no trip tells, it is named where trips bear out most of the leaping edges that they tell
   of, and suspected elsewhere. No other edge is suspected.
3. **Search.** False edges (without positions) and slow or quick places are added greedily while the
   posterior rises. The log prior of a place is minus the logarithm of the size of the dictionary,
   that of an edge follows from `_suspicion`. Without positions the search is made in three orders,
   and hypotheses are averaged by their posterior.
4. **Rivals.** The probability of a finding is its share of the posterior when it is taken out and
   everything else may come in its stead. No single trip may carry an edge alone, no fifth of the
   trips a place. Only arcs that some trip took are named as part of a place.
5. **Gate.** Places are named only if slowness differs from place to place at all: an exact Monte
   Carlo test of the best ball, free of the scale of the errors, or a parametric bootstrap of
   ρ > 0, at `LEVEL`.
6. **Factor and wait**: F-tests of leaving each out, at `LEVEL`. For the factor, most trips must
   also be on its side (sign test). Waits are at crossings of three streets or more, or of four or
   more, whichever explains the costs better; the p-value counts both choices.
7. **Abstention.** No places beside a wait, or beside suspected edges without positions. Without
   positions, edges are only suspected beside a wait (the world's paths avoid crossings, the graph's
   do not), or if slowness varies beyond what is named.

Costs that are only upper bounds prove no path too cheap; they are not used.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from ..advice.units import unit_question
from ..checks import frozen
from ..numerics.deadline import check_time
from ..typing import BoolArray, FloatArray
from .base import LEAST, Fit, MendMethod, MendProblem
from .evidence import TIMES, Along, Evidence, Hypothesis, Place, chance_of, fit, profile
from .shortcuts import lengthened
from .suspicion import Suspicion, suspicion

NAMED = 0.9
"""Least probability of a finding that is named."""
SHOWN = 0.3
"""Least probability of a finding that is shown as suspected."""
LEVEL = 0.01
"""Level of the tests for places, the factor and the wait."""
ODDS = 50.0
"""Odds that an edge is false if its positions say so."""
UNTOLD = 1e-6
"""If an edge changes the log-likelihood by no more than this, no trip tells whether it exists."""
EXPECTED_EDGES, EXPECTED_PLACES = 2.0, 1.0
"""Number of false edges and of places that are expected before anything is measured."""
STABLE = 0.5
"""Share of its prior that a finding must still make up for without the trips that speak loudest."""
LEAST_FACTOR = 0.03
"""Common factors nearer to 1 than this are not mentioned."""
FEWEST = 5
"""Fewest trips that anything but units and positions is read from."""
MOST_TRIPS = 200
"""Largest number of trips that findings are tested on; a random part of more."""
MOST_WORK = 2_000_000
"""Largest number of vertices visited per hypothesis; it limits the number of ends of trips."""
STEPS, MOST_PLACES = 14, 4
"""Largest number of steps of a search, and of places."""
DRAWS = 199
"""Number of draws of the Monte Carlo tests."""
OVERLAP = 0.3
"""Balls that share this part of the smaller one are the same place."""
CORE = 0.5
"""Arcs with at least this share of the largest expected effect are part of a place."""
LEAST_EFFECT = 1.15
"""Least expected factor of an arc that is part of a place."""

Kind = Literal["unit", "false edge", "slow place", "quick place", "factor", "wait"]


@dataclass(frozen=True, eq=False)
class Finding:
    """One thing that is wrong with a graph, and how sure that is.

    Attributes
    ----------
    kind : str
        "unit" (a question), "false edge", "slow place", "quick place", "factor" or "wait".
    where : (k,) int64 array
        Arcs concerned. For a false edge, one arc or both directions; empty if it is everywhere.
    amount : float
        Of a false edge: how much longer its detour is. Of a place and of a common factor: how many
        times the cost that the graph says. Of a wait: the cost per crossing. Of a unit: the median
        ratio of costs to graph distances.
    probability : float
        Of the finding, given the costs, against leaving it out and against its rivals.
    named : bool
        Whether it is stated and contained in the mended graph. If not, it is suspected.
    around : int or None
        A vertex in the middle of a place.
    evidence : str
        What it rests on: "positions" or "costs".
    settles : str
        What would settle the matter.
    streets : int
        Of a wait: how many streets or more meet at the crossings that have it, 3 or 4; else 0.
    """

    kind: Kind
    where: NDArray[np.int64]
    amount: float
    probability: float
    named: bool
    around: int | None = None
    evidence: str = "costs"
    settles: str = ""
    streets: int = 0


class Found(NamedTuple):
    """Everything that was found, and what follows from it.

    Attributes
    ----------
    findings : tuple of Finding
        Named ones first, then by probability.
    lengths : (m,) array
        The graph's lengths with the named findings, and nothing else.
    vague : bool
        Whether slowness varies from place to place beyond what is named.
    """

    findings: tuple[Finding, ...]
    lengths: FloatArray
    vague: bool


def find(problem: MendProblem) -> Found:
    """Return what the trips and the positions of the graph bear out."""
    graph = problem.graph
    distances = problem.distances()
    if unit_question(problem.costs, distances) is not None:
        ratio = float(np.median(problem.costs / distances))
        none = np.empty(0, np.int64)
        settles = "the unit of the lengths and that of the costs"
        asked = Finding("unit", frozen(none), ratio, 1.0, False, settles=settles)
        return Found((asked,), graph.lengths, False)
    # a part of many trips: those to the ends with most trips, since each end costs a search
    trips, most_ends = problem, max(MOST_WORK // graph.num_vertices, FEWEST)
    if problem.goals.size > most_ends:
        ends, counts = np.unique(problem.ends, return_counts=True)
        kept = ends[np.argsort(-counts, kind="stable")[:most_ends]]
        trips = problem.only(np.isin(problem.ends, kept))
    if trips.costs.size > MOST_TRIPS:
        some = np.random.default_rng(0).choice(trips.costs.size, MOST_TRIPS, replace=False)
        trips = trips.only(np.sort(some))
    evidence = Evidence(trips)
    odd = suspicion(graph, evidence.pair, evidence.ends)
    return _Tests(evidence, odd, reads_costs=not problem.upper and trips.costs.size >= FEWEST).run()


@dataclass(frozen=True)
class Named(MendMethod):
    """Change what the costs bear out, and nothing else: the default of `mend`.

    The mended graph holds the findings that are named. ``details["found"]`` has all of them.

    Examples
    --------
    Two rows of twenty vertices, and an edge between their far ends that does not exist.

    >>> import wayfield as wf

    >>> from wayfield import travel
    >>> x = list(range(19))
    >>> tails, heads = [*x, *(20 + i for i in x)], [*(i + 1 for i in x), *(21 + i for i in x)]
    >>> tails, heads = [*tails, *range(20), 0], [*heads, *range(20, 40), 39]
    >>> places = [[i % 20, i // 20] for i in range(40)]
    >>> ladder = wf.Graph.from_edges(tails, heads, positions=places)
    >>> labels = wf.Labels([0, 5, 9, 16, 23, 30, 38, 39], [0.0, 5, 9, 16, 4, 11, 19, 20])
    >>> [finding] = travel.mend(ladder, labels, goal=0).findings
    >>> finding.kind, finding.evidence, finding.amount, finding.named
    ('false edge', 'positions', 19.0, True)
    """

    name = "named"

    def fit(self, problem: MendProblem) -> Fit:
        """Find what is wrong. ``details``: "found"."""
        found = find(problem)
        off = np.abs(problem.distances(found.lengths) - problem.costs).mean()
        return Fit(found.lengths, float(off), details={"found": found})


class _Tests:
    """Search and tests on one set of trips."""

    def __init__(self, evidence: Evidence, odd: Suspicion, reads_costs: bool) -> None:
        self.evidence, self.odd, self.graph = evidence, odd, evidence.graph
        self.reads_costs = reads_costs
        balls = len(evidence.inside) if reads_costs else 0
        self.prior_place = float(np.log(EXPECTED_PLACES * 3.0 / max(balls * TIMES.size, 1)))
        with np.errstate(divide="ignore"):
            self.prior_edge = np.log(odd.weight * EXPECTED_EDGES)

    def run(self) -> Found:
        """Make all tests, and return the findings."""
        evidence, findings = self.evidence, list[Finding]()
        leaps = frozenset(np.flatnonzero(self.odd.leaps).tolist())
        if not self.reads_costs:
            likely = ODDS / (1.0 + ODDS)
            findings = [self._edge(p, likely, True, "positions") for p in sorted(leaps)]
            return self._found(findings, [], {}, False)

        # 1. edges that leap, unless trips acquit them: taken back while that is more likely
        out = leaps
        for _ in range(len(leaps)):
            check_time()
            gains = {p: self._gain(Hypothesis(out), Hypothesis(out - {p})) for p in sorted(out)}
            worst = min(gains, key=lambda p: gains[p], default=-1)
            if worst < 0 or gains[worst] + np.log(ODDS) > 0.0:
                break
            out = out - {worst}

        # 2. search, in several orders if edges are to be found by trips
        orders: tuple[tuple[str, ...], ...] = (("places",),)
        if self.odd.weight.any():
            orders = (("edges places",), ("edges", "edges places"), ("places", "edges places"))
        posterior = dict(self._search(out, order) for order in orders)
        best = max(posterior, key=lambda hypothesis: posterior[hypothesis])
        share = {h: np.exp(value - posterior[best]) for h, value in posterior.items()}
        total = sum(share.values())
        share = {h: float(x / total) for h, x in share.items()}

        # 3. edges: by positions, and by trips. A ferry leaps too, so positions alone name nothing:
        # trips must bear out the edge itself or, where none would tell, most others that leap
        gains = {p: self._gain(best, best._replace(false=best.false - {p})) for p in sorted(out)}
        borne_out = sum(gain > UNTOLD for gain in gains.values())
        credible = 2 * borne_out > len(leaps) - sum(abs(gain) <= UNTOLD for gain in gains.values())
        for p, gain in gains.items():
            likely = float(1.0 / (1.0 + np.exp(-gain - np.log(ODDS))))
            named = likely >= NAMED and (gain > UNTOLD or (credible and gain >= -UNTOLD))
            findings.append(self._edge(p, likely, named, "positions"))
        by_trips = []
        for p in sorted(best.false - out):
            rivals = self._rivals(best._replace(false=best.false - {p}))
            likely = sum(x for x, h in rivals if p in h.false)
            likely *= sum(x for h, x in share.items() if p in h.false)
            by_trips.append((p, likely, self._stable_edge(best, p)))
        places = [self._place(best, i, share) for i in range(len(best.places))]

        # 4. the common factor and the wait, beside what is likely
        likely_edges = best.false - {p for p, likely, _ in by_trips if likely < 0.5}
        kept = tuple(
            place
            for place, (likely, _, _) in zip(best.places, places, strict=True)
            if likely >= 0.5
        )
        along = evidence.along(Hypothesis(likely_edges, kept))
        bare = evidence.along(Hypothesis(likely_edges))
        terms, chances = self._common(along, bare)
        vague = self._chance_of_variation(along, [0, 1] if 1 in terms else [0]) <= LEVEL
        none = frozen(np.empty(0, np.int64))
        for column, value in terms.items():
            kind: Kind = "wait" if column else "factor"
            amount = value * float(np.median(self.graph.lengths)) if column else 1.0 + value
            streets = evidence.streets if column else 0
            sure = 1.0 - chances[column]
            findings.append(Finding(kind, none, amount, sure, True, streets=streets))

        # 5. abstain where the model is not to be trusted
        abstain = 1 in terms or bool(by_trips)
        if not abstain and any(named for _, named, _ in places):
            abstain = min(self._chance_of_best_ball(bare), self._chance_of_variation(bare)) > LEVEL
        heats = []
        for place, (likely, named, heat) in zip(best.places, places, strict=True):
            arcs, named = np.flatnonzero(heat), named and not abstain
            if arcs.size and (named or likely >= SHOWN):
                heats += [heat] * named
                kind = "slow place" if place.times > 1.0 else "quick place"
                own = self.graph.lengths[arcs]
                times = float((np.exp(heat[arcs]) * own).sum() / own.sum())
                at = np.bincount(self.graph.tails[arcs], np.abs(heat[arcs]) * own)
                settles = "costs of more trips through it and past it"
                middle = int(at.argmax())
                findings.append(
                    Finding(kind, frozen(arcs), times, likely, named, middle, settles=settles)
                )
        for p, likely, stable in by_trips:
            named = likely >= NAMED and stable and not vague and 1 not in terms
            if named or likely >= SHOWN:
                findings.append(self._edge(p, likely, named, "costs"))
        return self._found(findings, heats, terms, vague)

    # ------------------------------------------------------------------ search

    def _gain(self, hypothesis: Hypothesis, other: Hypothesis) -> float:
        return self.evidence.likelihood(hypothesis) - self.evidence.likelihood(other)

    def _options(
        self, at: Hypothesis, kinds: str, edges: int, balls: int
    ) -> list[tuple[float, Hypothesis]]:
        """Return the most promising additions to a hypothesis, with what the posterior gains."""
        evidence = self.evidence
        along = evidence.along(at)
        found = fit(along.residual, along.terms, along.covariance)
        base, options = found.likelihood, list[tuple[float, Hypothesis]]()
        if "edges" in kinds:
            # edges of trips that cost more than their rays
            trip, pair = evidence.pairs_of(along)
            more = np.maximum(along.residual - np.median(along.residual), 0.0) ** 2
            gain = np.bincount(pair, more[trip], len(evidence.ends)) / (2.0 * found.sigma**2)
            taken = np.unique(pair)
            taken = taken[np.isfinite(self.prior_edge[taken])]
            taken = taken[~np.isin(taken, list(at.false))]
            order = np.argsort(-(gain[taken] + self.prior_edge[taken]), kind="stable")
            for p in taken[order[:edges]].tolist():
                new = at._replace(false=at.false | {p})
                gained = evidence.likelihood(new) - base + self.prior_edge[p]
                options.append((float(gained), new))
        if "places" in kinds and len(evidence.inside):
            # score test of each ball, then its factors
            effect = evidence.ball_effects(along)
            inverse = np.linalg.inv(np.eye(along.base.size) + found.ratio * along.covariance)
            terms = inverse @ along.terms
            project = inverse - terms @ np.linalg.pinv(along.terms.T @ terms) @ terms.T
            slope = effect.T @ (project @ along.residual)
            power = np.einsum("kb,kb->b", effect, project @ effect)
            score = np.where(power > 1e-9, slope**2 / np.maximum(power, 1e-9), 0.0)
            for ball in np.argsort(-score, kind="stable")[:balls].tolist():
                for times in TIMES[(TIMES > 1.0) == (slope[ball] > 0.0)].tolist():
                    new = at._replace(places=(*at.places, Place(ball, times)))
                    gained = evidence.likelihood(new) - base + self.prior_place
                    options.append((float(gained), new))
        return options

    def _search(self, out: frozenset[int], order: tuple[str, ...]) -> tuple[Hypothesis, float]:
        """Add edges and places greedily, in phases of what may be added.

        Return the hypothesis at the end, and its log posterior up to a constant.
        """
        at, total, phase = Hypothesis(out), 0.0, 0
        for _ in range(STEPS):
            check_time()
            kinds = order[phase]
            if len(at.places) >= MOST_PLACES:
                kinds = kinds.replace("places", "")
            gained, new = max(self._options(at, kinds, 20, 5), default=(0.0, at), key=itemgetter(0))
            if gained > 0.0:
                at, total = new, total + gained
            elif phase + 1 < len(order):
                phase += 1
            else:
                break
        return at, total

    # ------------------------------------------------------------------ tests by leaving out

    def _rivals(self, without: Hypothesis) -> list[tuple[float, Hypothesis]]:
        """Return what may come in the stead of a finding, with its posterior share."""
        kinds = "edges places" if self.odd.weight.any() else "places"
        options = [(0.0, without), *self._options(without, kinds, 25, 10)]
        gains = np.array([gained for gained, _ in options])
        share = np.exp(gains - gains.max())
        share /= share.sum()
        return [(float(x), h) for x, (_, h) in zip(share, options, strict=True)]

    def _stable_edge(self, best: Hypothesis, p: int) -> bool:
        """Whether no single trip carries the edge alone."""
        with_it = self.evidence.along(best)
        less = self.evidence.along(best._replace(false=best.false - {p}))
        trip, pair = self.evidence.pairs_of(less)
        parts = (np.arange(less.base.size) == i for i in trip[pair == p])
        return bool(self._least_gain(with_it, less, parts) + STABLE * self.prior_edge[p] > 0.0)

    def _least_gain(self, more: Along, less: Along, parts: Iterable[BoolArray]) -> float:
        """Return the least gain in likelihood when parts of the trips are left out in turn."""
        gains = (
            fit(*more.only(~part)).likelihood - fit(*less.only(~part)).likelihood for part in parts
        )
        return min(gains, default=-np.inf)  # no trip at all carries nothing

    def _place(
        self, best: Hypothesis, i: int, shares: dict[Hypothesis, float]
    ) -> tuple[float, bool, FloatArray]:
        """Return the probability of a place, whether it can be named, and its effect per arc.

        The (m,) effect is the expected logarithm of the factor over the rival balls, 0 where it is
        small or no trip went.
        """
        evidence, place = self.evidence, best.places[i]
        inside, slow = evidence.inside, place.times > 1.0
        without = best._replace(places=best.places[:i] + best.places[i + 1 :])

        def same(other: Place) -> bool:
            common = (inside[other.ball] & inside[place.ball]).sum()
            smaller = min(inside[other.ball].sum(), inside[place.ball].sum())
            return bool((other.times > 1.0) == slow and common >= OVERLAP * smaller)

        likely, heat, heavy = 0.0, np.zeros(self.graph.num_arcs), 0.0
        for share, rival in self._rivals(without):
            if len(rival.places) > len(without.places):
                other = rival.places[-1]
                likely += share * same(other)
                if (other.times > 1.0) == slow:
                    heat += share * np.log(other.times) * evidence.share(other.ball)
                    heavy += share
        likely *= sum(x for h, x in shares.items() if any(map(same, h.places)))
        heat /= max(heavy, 1e-9)
        with_it, less = evidence.along(best), evidence.along(without)
        count = less.base.size
        fold = np.random.default_rng(0).permutation(count) % 5
        least = self._least_gain(with_it, less, (fold == t for t in range(min(5, count))))
        size = np.abs(heat) * heavy
        size[size < max(np.log(LEAST_EFFECT), CORE * size.max())] = 0.0
        taken = np.zeros(len(evidence.ends), bool)
        taken[evidence.pair[np.concatenate([with_it.arcs, less.arcs])]] = True
        heat = np.where((size > 0.0) & taken[evidence.pair], heat, 0.0)
        stable = least + STABLE * self.prior_place > 0.0
        return likely, bool(likely >= NAMED and stable and heat.any()), heat

    # ------------------------------------------------------------------ tests of chance

    def _common(self, along: Along, bare: Along) -> tuple[dict[int, float], dict[int, float]]:
        """Test the factor (column 0) and the wait (column 1).

        Returns the coefficients of those that are named, by column, and all p-values.
        """
        count, used = along.base.size, self.evidence.num_terms

        def full(at: Along, columns: list[int]) -> float:
            return fit(
                at.residual, at.terms[:, columns], at.covariance, restricted=False
            ).likelihood

        chances = {0: 1.0, 1: 1.0}
        wait = False
        if used == 2:
            both = fit(along.residual, along.terms, along.covariance, restricted=False)
            chances[1] = self.evidence.num_waits * max(
                chance_of(full(at, [0, 1]) - full(at, [0]), count, 2) for at in (along, bare)
            )
            wait = chances[1] < LEVEL and both.beta[1] > 0.0
        others = [1] if wait else []
        whole = fit(
            along.residual, along.terms[:, [0, *others]], along.covariance, restricted=False
        )
        chances[0] = chance_of(whole.likelihood - full(along, others), count, 1 + len(others))
        away = bare.residual[np.abs(bare.residual) > 1e-9]
        above = int((away > 0.0).sum())
        one_sided = away.size > 0 and binomtest(above, away.size).pvalue < LEVEL
        mean = float(whole.beta[0])
        agrees = np.sign(np.median(bare.residual)) == np.sign(mean)
        factor = bool(chances[0] < LEVEL and one_sided and agrees and abs(mean) > LEAST_FACTOR)
        terms = [0] * factor + others
        used_terms = along.terms[:, terms]
        found = fit(along.residual, used_terms, along.covariance, restricted=False)
        # a wait that is none without the factor is no wait
        named = dict(zip(terms, found.beta.tolist(), strict=True))
        return {c: value for c, value in named.items() if c == 0 or value > 0.0}, chances

    def _chance_of_best_ball(self, along: Along) -> float:
        """Return the exact Monte Carlo p-value of the best ball's share of the variance."""
        basis, _ = np.linalg.qr(along.terms)

        def rest(v: FloatArray) -> FloatArray:
            return np.asarray(v - basis @ (basis.T @ v))

        effect = rest(self.evidence.ball_effects(along))
        size = (effect**2).sum(axis=0)
        effect = effect[:, size > 1e-9] / np.sqrt(size[size > 1e-9])
        if np.abs(along.residual).max() < 1e-9 or not effect.size:
            return 1.0
        draws = np.random.default_rng(0).standard_normal((along.base.size, DRAWS))
        errors = rest(np.column_stack([along.residual, draws]))
        best = ((effect.T @ errors) ** 2).max(axis=0) / np.maximum((errors**2).sum(axis=0), 1e-300)
        return float((1 + (best[1:] >= best[0]).sum()) / (DRAWS + 1))

    def _chance_of_variation(self, along: Along, terms: list[int] | None = None) -> float:
        """Return the bootstrap p-value of ρ > 0: slowness varies from place to place."""
        columns = along.terms if terms is None else along.terms[:, terms]
        plain = fit(along.residual, columns, 0.0 * along.covariance, restricted=False)
        draws = plain.sigma * np.random.default_rng(0).standard_normal((DRAWS, along.base.size))
        rows = np.concatenate([along.residual[np.newaxis], draws])
        found, _, _ = profile(rows, columns, along.covariance, restricted=False)
        gain = found.max(axis=1) - found[:, 0]
        if gain[0] <= 1e-9:
            return 1.0
        return float((1 + (gain[1:] >= gain[0]).sum()) / (DRAWS + 1))

    # ------------------------------------------------------------------ findings

    def _edge(self, p: int, likely: float, named: bool, evidence: str) -> Finding:
        arcs = np.flatnonzero(self.evidence.pair == p)
        settles = "the cost of a trip between its ends"
        return Finding("false edge", frozen(arcs), 0.0, likely, named, None, evidence, settles)

    def _found(
        self, findings: list[Finding], heats: list[FloatArray], terms: dict[int, float], vague: bool
    ) -> Found:
        """Apply the named findings to the lengths, and return the outcome."""
        graph, evidence = self.graph, self.evidence
        lengths = graph.lengths
        for heat in heats:
            lengths = lengths * np.exp(heat)
        if terms:
            fitted = lengths * (1.0 + terms.get(0, 0.0)) + terms.get(1, 0.0) * evidence.wait
            lengths = np.maximum(fitted, LEAST * lengths)
        false = np.zeros(graph.num_arcs, bool)
        for each in findings:
            if each.kind == "false edge" and each.named:
                false[each.where] = True
        # the length of the detour, also of edges that are only suspected
        for i, each in enumerate(findings):
            if each.kind == "false edge":
                mask = false.copy()
                mask[each.where] = True
                longer = lengthened(evidence.problem.on(lengths), mask)[each.where].max()
                amount = float(longer - lengths[each.where].max())
                findings[i] = replace(each, amount=amount)
        if false.any():
            # twice the way round: as long as it, a plan might still take the edge on a tie
            lengths = lengthened(evidence.problem.on(lengths), false)
            lengths[false] *= 2.0
        order = sorted(findings, key=lambda each: (not each.named, -each.probability))
        return Found(tuple(order), lengths, vague)
