"""Audited decisions: check a few moves, one after another, and certify many at a stated risk.

The decisions are the plan's moves at all states that have a path to the goal, except the goal. A
move is *right* if it is optimal in the world. To *audit* a state is to find out whether its move is
right. Audits certify a set of moves. At most a share α of this set is wrong, with confidence 1 − δ,
whenever the auditor stops and for whatever reason.

Moves are ranked by slope, (u(s) − u(c)) / ℓ, the steepest first. On mazes, steep moves are right
more often than moves with a large lead: in the open two moves tie and both are right. The ranking
affects how much is certified, never whether the statement holds. The P moves proved by the interval
test (`certificates.intervals`) count as right and are not ranked. This needs the premise of that
test: leave these moves out if arcs of the graph may be false, or their costs wrong.

**Rule.** Cut the ranking into slices of q moves, the last perhaps of fewer. Put each into random
order. Round r of the audits looks at the r-th move of every slice. For j slices let H_j be the
hypothesis that they hold B_j or more wrong moves. B_j is one more than α times their number and P
allow, and never more than one more than half of them. The first slices, a number fixed beforehand,
are audited in rounds until their H_j is refuted. Then they are certified, the next slice is audited
in as many rounds, and so on. H_j is refuted in one of three ways.

- *First round.* At most k_j audits of the first j slices are wrong. Here k_j is the largest k with
  β_j = P(Bin(j, η) ≤ k) ≤ δ and either k = 0 or k ≤ j η − 1, where η = B_j / (j q).
- *Any round.* (δ − β_j) M_j ≥ 1 for the martingale below.
- *Count.* Fewer moves are left than H_j needs to be wrong.

**The martingale** bets against H_j with shares θ of the rate that it claims:

    M_j = mean over θ of  Π_r ((1 − θ η_r) / (1 − η_r))^(right audits) · θ^(wrong audits),

where η_r = (B_j − W_r) / ((q − r + 1) J_r). In round r, W_r wrong moves were found before, and J_r
slices still have a move to look at. This is ALPHA [1]_, or betting on samples drawn without
replacement [2]_, for strata that are looked at in rounds.

**Theorem.** *With probability at least 1 − δ over the random orders, no set that is ever certified
holds more than a share α of wrong moves.*

*Proof.* (1) Let H_j be true. Given the rounds before r, the r-th move of slice i is wrong with a
probability m_i, independently for all slices. The slices still hold B_j − W_r wrong moves or more,
and at most q − r + 1 moves each, so the mean of the m_i is at least η_r. A factor of M_j is linear
in its audit, and its expectation is a − (a − θ) m_i with a = (1 − θ η_r) / (1 − η_r) ≥ θ. By the
inequality of arithmetic and geometric means the product of these over the slices is at most
(a − (a − θ) η_r)^J_r = 1. So M_j is a supermartingale in the rounds, and by Ville's inequality it
ever reaches 1 / (δ − β_j) with a probability of at most δ − β_j. (2) The wrong audits of the first
round are independent with a mean of at least η. By Hoeffding [3]_ (theorem 4) their number is at
most k_j with a probability of at most β_j. The two together: a true H_j is ever refuted with a
probability of at most δ. (3) The H_j are tested in ascending order, each only after all before it
were refuted. If a set with too many wrong moves is ever certified, then the first true H_j was
refuted. The orders of the slices are drawn beforehand, so it does not matter when an audit is made
or when the auditor stops. Wrong moves that were found are left out, which lowers the share. ∎

Nothing is assumed about graph, labels, field or ranking, except that proved moves are right. All
probabilities are over one draw of the orders. With several draws or several risks, each statement
holds on its own, not all of them at once. None says anything about a single move: labels and graph
cannot (``docs/open-problems.md``). Labels that were held out can stand for audits: see
`certificates.held_out`.

References
----------
.. [1] P. B. Stark, "ALPHA: Audit that learns from previously hand-audited ballots" (2022),
   arXiv 2201.02707.
.. [2] I. Waudby-Smith, A. Ramdas, "Confidence sequences for sampling without replacement",
   NeurIPS (2020).
.. [3] W. Hoeffding, "On the distribution of the number of successes in independent trials", Annals
   of Mathematical Statistics 27 (1956).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log, log1p
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from ..checks import KeepsReadOnly, as_flag, as_share, as_whole, frozen
from ..errors import InputError
from ..typing import BoolArray
from ..words import number_of, percent
from .gaps import Certificate

SPREAD, FIRST_SHARE = 15 / 11, 0.4
"""Slices per audit that is needed at least, and the least share of slices in the first set."""
SHARES = np.array([0.3, 0.6])
"""Of the rate of wrong moves that is to be refuted: the rates that the martingale bets on."""


class Certified(Protocol):
    """Anything with a certified plan, such as the answer of `wayfield.solve`."""

    @property
    def certificate(self) -> Certificate:
        """The certificate of the plan."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class AuditedDecisions(KeepsReadOnly):
    """Moves certified at a stated risk.

    Attributes
    ----------
    certified : (n,) bool array
        The certified moves. They include the proved ones, but no audited move that was wrong.
    share : float
        Certified moves as a share of all decisions; 1 if there are none.
    risk : float
        At most this share of the certified moves is wrong.
    confidence : float
        Probability that this holds, over the draw of the audits.
    audits : int
        Number of moves that were audited.
    """

    certified: BoolArray
    share: float
    risk: float
    confidence: float
    audits: int

    def __repr__(self) -> str:
        count = f"{int(self.certified.sum()):,} moves certified, {percent(self.share)} of all"
        after = f"after {number_of(self.audits, 'audits')}"
        risk = f"at most {percent(self.risk)} of them wrong, confidence {self.confidence:g}"
        return f"AuditedDecisions({count}, {after}; {risk})"


class Audit:
    """An audit of a plan: it proposes states one by one, and records what was found there.

    The statement of `result` holds whenever you stop, and for whatever reason.

    Attributes
    ----------
    state, move : int or None
        The state to audit next, and the plan's move there; None if no audit can certify more.
    result : AuditedDecisions
        What the audits so far certify.
    proved : (n,) bool array
        Moves that count as right without an audit.
    """

    state: int | None
    move: int | None
    result: AuditedDecisions

    def __init__(
        self,
        certificate: Certificate,
        ranking: NDArray[np.int64],
        proved: BoolArray,
        risk: float,
        confidence: float,
        rng: np.random.Generator,
    ) -> None:
        self.proved = frozen(proved)
        self._successor = certificate.plan.successor
        self._certified, self._decisions = proved.copy(), int(proved.sum()) + ranking.size
        self._risk, self._confidence = risk, confidence
        doubt = 1.0 - confidence
        needed = ceil(log(doubt) / log1p(-risk))
        count = min(ceil(SPREAD * needed), ranking.size)
        self._size = ranking.size // max(count, 1)
        begins = range(0, ranking.size, self._size or 1)
        self._slices = [rng.permutation(ranking[i : i + self._size]) for i in begins]
        self._found: list[list[bool]] = [[] for _ in begins]  # whether each audit was wrong
        self._rounds = 1

        # by number of slices: what H_j claims, and what of δ the first round takes
        slices = np.arange(1, len(begins) + 1)
        self._ends = np.minimum(slices * self._size, ranking.size)
        allowed = np.minimum(0.5 * self._ends, risk * (int(proved.sum()) + self._ends))
        self._claimed = allowed.astype(np.int64) + 1
        rate = self._claimed / (slices * self._size)
        few = np.arange(int((slices * rate).max(initial=0.0)) + 1)[:, None]
        tails = np.asarray(binom.cdf(few, slices, rate))
        passing = (tails <= doubt) & ((few == 0) | (few <= slices * rate - 1.0))
        self._most = passing.sum(axis=0) - 1
        taken = tails[np.maximum(self._most, 0), slices - 1]
        self._left = doubt - np.where(self._most >= 0, taken, 0.0)
        able = np.flatnonzero(self._most >= 0)
        first = int(able[0]) + 1 if able.size else min(needed, count)
        self._tested = max(first, ceil(FIRST_SHARE * count), 1)  # slices to certify next
        self._go_on()

    def record(self, right: bool) -> AuditedDecisions:
        """Return what is certified once the move at `state` was found to be right, or wrong.

        `state` and `move` are then those to audit next.
        """
        if self._slice is None:
            raise InputError("there is nothing left to audit")
        wrong = not as_flag(right, "right")
        self._found[self._slice].append(wrong)
        self._certified[self.state] &= not wrong
        self._go_on()
        return self.result

    def _refuted(self, j: int) -> bool:
        """Whether the audits refute that the first j slices hold the claimed wrong moves."""
        found, claimed = self._found[:j], int(self._claimed[j - 1])
        if sum(each[0] for each in found) <= self._most[j - 1]:
            return True
        score, before = np.zeros(SHARES.size), 0
        for turn in range(self._rounds):
            audits = [each[turn] for each in found if len(each) > turn]
            wrong = sum(audits)
            right = len(audits) - wrong
            rate = (claimed - before) / ((self._size - turn) * len(audits))
            if rate <= 0.0:
                return False
            if rate > 1.0 or (rate == 1.0 and right):
                return True
            score += wrong * np.log(SHARES)
            if right:
                score += right * np.log((1.0 - SHARES * rate) / (1.0 - rate))
            before += wrong
        unseen = int(self._ends[j - 1]) - sum(map(len, found))
        return claimed - before > unseen or float(self._left[j - 1] * np.exp(score).mean()) >= 1.0

    def _go_on(self) -> None:
        """Certify slices as the tests allow, choose the state to audit next, update the result."""
        self._slice: int | None = None
        while self._tested <= len(self._slices):
            j = self._tested
            sizes = (min(self._rounds, each.size) for each in self._slices[:j])
            waiting = (i for i, size in enumerate(sizes) if len(self._found[i]) < size)
            self._slice = next(waiting, None)
            if self._slice is not None:
                break
            if self._refuted(j):
                for states, found in zip(self._slices[:j], self._found[:j], strict=True):
                    self._certified[states] = True
                    self._certified[states[: len(found)][found]] = False
                self._tested += 1
            elif self._rounds < self._size:
                self._rounds += 1
            else:
                break
        self.state = self.move = None
        if self._slice is not None:
            self.state = int(self._slices[self._slice][len(self._found[self._slice])])
            self.move = int(self._successor[self.state])
        certified = self._certified.copy()
        share = float(certified.sum()) / self._decisions if self._decisions else 1.0
        audits = sum(map(len, self._found))
        self.result = AuditedDecisions(
            frozen(certified), share, self._risk, self._confidence, audits
        )

    def __repr__(self) -> str:
        following = "nothing left to audit" if self.state is None else f"next: state {self.state}"
        return f"Audit({self.result!r}; {following})"


def audit_decisions(
    answer: Certified | Certificate,
    risk: float = 0.1,
    confidence: float = 0.9,
    *,
    use_proved: bool = True,
    seed: int = 0,
) -> Audit:
    """Begin an audit: check moves one by one, so that many more are certified.

    Parameters
    ----------
    answer : Answer or Certificate
        From `wayfield.solve` or `wayfield.certify`.
    risk : float
        Largest share of wrong moves among those that will be certified.
    confidence : float
        Probability with which that holds, over the draw of the audits, whenever you stop.
    use_proved : bool
        Whether moves proved by the interval test count as right. Pass False if arcs of the graph
        may be false, or their costs wrong.
    seed : int
        Seed of the draw. Draw once: the confidence does not cover the best of several draws.

    Returns
    -------
    Audit
        Check ``audit.move`` at ``audit.state`` in the world, then call ``audit.record(right)``.

    Examples
    --------
    >>> import wayfield as wf
    >>> maze = wf.grid_graph(wf.load_layout("antmaze-medium"), refinement=8)
    >>> answer = wf.solve(maze, wf.sample_labels(maze, 40, fraction=0.02, seed=54), goal=40)
    >>> truth = wf.cost_to_go(maze, 40)  # in place of an audit in the world
    >>> audit = wf.audit_decisions(answer)
    >>> while audit.result.share < 0.9 and audit.state is not None:
    ...     found = audit.record(truth[audit.move] + 1.0 == truth[audit.state])
    >>> found
    AuditedDecisions(... moves certified, 9... % of all, after ... audits; at most 10 % ...)
    """
    certificate = certificate_of(answer)
    risk, confidence = as_share(risk, "risk"), as_share(confidence, "confidence")
    rng = np.random.default_rng(as_whole(seed, "seed", least=0))
    decided, proved = decisions_of(certificate, as_flag(use_proved, "use_proved"))
    ranking = ranked(certificate, np.flatnonzero(decided & ~proved), rng)
    return Audit(certificate, ranking, proved, risk, confidence, rng)


def certificate_of(answer: object) -> Certificate:
    """Return the certificate of an answer, or the certificate itself."""
    certificate = getattr(answer, "certificate", answer)
    if not isinstance(certificate, Certificate):
        raise InputError(
            f"answer must come from wayfield.solve or wayfield.certify, got {type(answer).__name__}"
        )
    return certificate


def decisions_of(certificate: Certificate, use_proved: bool) -> tuple[BoolArray, BoolArray]:
    """Return the states with a decision, and those with a proved one, as (n,) booleans."""
    plan = certificate.plan
    decided = plan.reachable & (plan.successor != np.arange(plan.values.size))
    decided[plan.goal] = False
    return decided, decided & certificate.proved & use_proved


def ranked(
    certificate: Certificate, states: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return states by the slope of their moves, the steepest first; ties in random order."""
    plan = certificate.plan
    u = plan.values
    with np.errstate(invalid="ignore"):
        slope = np.round((u - u[plan.successor]) / plan.lengths, 9)
    return states[np.lexsort((rng.random(states.size), -np.nan_to_num(slope[states])))]
