"""Audited decisions: check a few moves, and certify many at a stated risk.

The decisions are the plan's moves at all states that have a path to the goal, except the goal. A
move is *right* if it is optimal in the world. To *audit* a state is to find out whether its move is
right. From m audits a set of moves is certified. At most a share α of this set is wrong.

Moves are ranked by slope, (u(s) − u(c)) / ℓ, the steepest first. On mazes, steep moves are right
more often than moves with a large lead: in the open two moves tie and both are right. The ranking
affects how much is certified, never whether the statement holds. The P moves proved by the interval
test (`certificates.intervals`) count as right and are not ranked. This needs the premise of that
test: leave these moves out if arcs of the graph may be false, or cost otherwise than it says.

**With confidence 1 − δ** (stratified audits). Cut the ranking into m slices of q moves each. Audit
one move per slice, drawn uniformly. Let R_j be the share of wrong moves in the first j slices, and
K_j the number of wrong audits there. Among the first j slices and the proved moves together, the
share of wrong moves is at most α if R_j ≤ α_j = α (P + j q) / (j q).

    *If R_j > α_j and k ≤ j α_j − 1, then P(K_j ≤ k) ≤ P(Bin(j, α_j) ≤ k).*

*Proof.* K_j is a sum of independent indicators with mean j R_j. By Hoeffding [1]_ (theorem 4),
P(K_j ≥ k + 1) ≥ P(Bin(j, R_j) ≥ k + 1) for k + 1 ≤ j R_j, and the binomial law is monotone in its
rate. ∎ So the right side is a p-value for R_j > α_j. A few values of j, fixed beforehand, are
tested in ascending order until one fails. With probability at least 1 − δ, the share of wrong moves
in the largest set that passed is at most α. Audits are valid only for the ranking they were drawn
from.

**In expectation** (conformal selection [2]_). Audit m of the N moves that are not proved, drawn
without replacement. In the first t of the ranking let there be U unaudited moves, V of them wrong,
and W wrong audits. Certify the largest t with

    (1 + W) / (m + 1) · (N − m) / (P + U) ≤ α.

*In expectation over the draw, the share of wrong moves among those certified is at most α.*
*Proof.* Let t shrink past a wrong move. This move is audited with probability W / (V + W), so
V / (1 + W) is a supermartingale, and the chosen t is a stopping time. At t = N the expectation of
V / (1 + W) is at most (N − m) / (m + 1), by the hypergeometric law. Now V / (P + U) ≤ V / (1 + W) ·
α (m + 1) / (N − m). ∎ This certifies more than the first method, but does not bound the share for a
single draw.

**Held-out labels** are audits that nobody has to make. Follow the plan from a held-out label z to
the first label w that the plan knows. With V the cost-to-go in the world, each move x → y loses
r(x) = ℓ(x, y) + V(y) − V(x) ≥ 0, so

    cost(z → w) + V(w) − V(z) = sum of r over the route ≥ r(z).

*If the left side is 0, the move at z is optimal.* If not, some move of the route is wrong, perhaps
another one. So the test finds every wrong move, and may blame right ones: both methods stay valid,
and certify less. Labels within ε₁ and ε₂ prove that r(z) is at most ε₁ + ε₂. The cost is the
route's length, if its arcs cost what the graph says. Otherwise execute it once.

Let the labelled states be drawn uniformly at random, and let those to hold out be drawn from them
at random too. Given their number and the plan, the held-out ones are then a simple random sample.
(Labels that somebody chose, for example with `next_labels`, are not.) Among the first N_j of the
ranking, let n_j be audited, and k_j of these be wrong. Then P(Hyp(N_j, D, n_j) ≤ k_j) is a p-value
for "D or more of the first N_j are wrong". Here D = ⌊α (P + N_j)⌋ + 1, and the N_j are fixed
beforehand. They are tested in ascending order, as above.

All probabilities are over one draw of the audits. Graph, labels, plan and world are given. With
several draws or several risks, each statement holds on its own, not all of them at once. No method
assumes anything about graph, labels or field, except that proved moves are right. None says
anything about a single move: labels and graph cannot (``docs/open-problems.md``).

References
----------
.. [1] W. Hoeffding, "On the distribution of the number of successes in independent trials", Annals
   of Mathematical Statistics 27 (1956).
.. [2] Y. Jin, E. J. Candès, "Selection by prediction with conformal p-values", JMLR 24 (2023).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom, hypergeom

from ..checks import KeepsReadOnly, as_flag, as_floats, as_share, as_whole, frozen, refuse
from ..errors import InputError, InputWarning
from ..graphs.labels import Labels, check_labels
from ..typing import BoolArray, FloatArray
from ..words import percent
from .gaps import Certificate

POINTS, FIRST_SHARE = 4, 0.4
"""Number of sets to test, and the share of the slices in the first of them."""
NO_LOSS = 1e-9
"""Loss of a route, relative to its label, that counts as none."""
SAMPLE_POINTS, SPARE = 8, 2.0
"""For a simple random sample: number of sets; and how many audits above the minimum the first set
should hold, in standard deviations of their number."""


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
    confidence : float or None
        Probability that this holds, over the draw of the audits. None: it holds on average.
    """

    certified: BoolArray
    share: float
    risk: float
    confidence: float | None

    def __repr__(self) -> str:
        how = "on average" if self.confidence is None else f"confidence {self.confidence:g}"
        count = f"{int(self.certified.sum()):,} moves certified, {percent(self.share)} of all"
        return f"AuditedDecisions({count}; at most {percent(self.risk)} of them wrong, {how})"


@dataclass(frozen=True, eq=False, repr=False)
class Audit(KeepsReadOnly):
    """States to audit, drawn from a ranking of the plan's moves.

    Attributes
    ----------
    states : (m,) int64 array
        States at which to check the plan's move in the world.
    moves : (m,) int64 array
        The plan's moves there.
    proved : (n,) bool array
        Moves that count as right without an audit.
    ends : (m,) int64 array or None
        With held-out labels: where the plan's route from each state meets the first label of the
        plan; -1 if it meets none.
    """

    states: NDArray[np.int64]
    moves: NDArray[np.int64]
    proved: BoolArray
    ranking: NDArray[np.int64]
    slice_size: int
    """Moves per slice; 0 if the states are a simple random sample."""
    risk: float
    confidence: float | None
    ends: NDArray[np.int64] | None = None
    lengths: FloatArray | None = None
    """Of the routes to `ends`."""
    allowed: FloatArray | None = None
    """Largest cost of each route that proves its first move right."""
    possible: FloatArray | None = None
    """Least cost of each route that does not contradict its labels."""
    left_out: int = 0
    """Number of moves at the plan's own labels that are neither proved nor ranked."""

    def judge(self, paid: ArrayLike | None = None) -> BoolArray:
        """Return (m,) booleans for `certify`: whether held-out labels prove each move right.

        A move counts as right if it loses no more than the errors of the labels, or than rounding.
        A held-out label must not exceed the cost of the route plus the label at its end, because a
        cost-to-go is the least cost. An `InputWarning` reports labels that do: with them, wrong
        moves may count as right.

        Parameters
        ----------
        paid : (m,) array, optional
            Cost of the plan's route from each of `states` to its end in the world; inf if it never
            got there. Default: the lengths of the graph; rely on them only if they are right.
        """
        if self.lengths is None or self.allowed is None or self.possible is None:
            raise InputError("judge needs held-out labels: audit_decisions(..., held_out=labels)")
        cost = self.lengths if paid is None else as_floats(paid, "paid", self.states.size)
        refuse(~(cost >= 0.0), cost, "paid", "is neither a cost nor inf")
        over = int(np.count_nonzero(cost < self.possible))
        if over:
            message = (
                f"{over:,} of {cost.size:,} held-out labels exceed the cost of the plan's route "
                "plus the label at its end: labels are too high or costs too low, so wrong moves "
                "may count as right"
            )
            warnings.warn(message, InputWarning, stacklevel=2)
        return np.asarray(cost <= self.allowed)

    def certify(self, right: ArrayLike) -> AuditedDecisions:
        """Return the certified moves, given (m,) booleans: whether each audited move is right."""
        judged = np.asarray(right, dtype=None if self.states.size else bool)
        if judged.dtype != bool or judged.shape != self.states.shape:
            raise InputError(
                f"right must be {self.states.size} booleans, one per audited state, "
                f"got {judged.dtype} of shape {judged.shape}"
            )
        wrong, proved = ~judged, int(self.proved.sum())
        if self.confidence is None:
            top = self._in_expectation(wrong, proved)
        elif self.slice_size:
            top = self._with_confidence(wrong, proved, self.confidence)
        else:
            top = self._by_sample(wrong, proved, 1.0 - self.confidence)
        certified = self.proved.copy()
        certified[self.ranking[:top]] = True
        certified[self.states[wrong]] = False
        decisions = proved + self.ranking.size + self.left_out
        share = float(certified.sum()) / decisions if decisions else 1.0
        return AuditedDecisions(frozen(certified), share, self.risk, self.confidence)

    def _with_confidence(self, wrong: BoolArray, proved: int, confidence: float) -> int:
        """Return the size of the largest top set that passes the fixed sequence of tests."""
        m, top = self.states.size, 0
        slices = np.arange(1, m + 1)
        size = slices * self.slice_size
        # with many proved moves even an all-wrong set would be allowed: allow one half at most
        allowed = np.minimum(0.5, self.risk * (proved + size) / size)
        # begin with a test that passes if no audit is wrong: the ones before it cannot pass
        able = np.flatnonzero((1.0 - allowed) ** slices <= 1.0 - confidence)
        if not able.size:
            return 0
        first = max(able[0] + 1, FIRST_SHARE * m)
        found = np.cumsum(wrong)
        for j in np.unique(np.round(np.linspace(first, m, POINTS)).astype(int)):
            k, rate = found[j - 1], allowed[j - 1]
            fits = k == 0 or k <= j * rate - 1.0
            if not (fits and binom.cdf(k, j, rate) <= 1.0 - confidence):
                break
            top = int(size[j - 1])
        return top

    def _by_sample(self, wrong: BoolArray, proved: int, doubt: float) -> int:
        """Return the same if the states are a simple random sample."""
        m, count, top = self.states.size, self.ranking.size, 0
        if m == 0:
            return 0
        # which sets are tested must not depend on the audits: their expected number decides
        sizes = np.arange(1, count + 1)
        allowed = np.minimum(0.5, self.risk * (proved + sizes) / sizes)
        least = np.log(doubt) / np.log1p(-allowed)
        able = np.flatnonzero(sizes * (m / count) >= least + SPARE * np.sqrt(least))
        first = able[0] + 1 if able.size else count
        place = np.empty(self.proved.size, dtype=np.int64)
        place[self.ranking] = np.arange(count)
        rank = place[self.states]
        for size in np.unique(np.ceil(np.linspace(first, count, SAMPLE_POINTS)).astype(int)):
            inside = rank < size
            most = int(allowed[size - 1] * size)
            n, k = int(inside.sum()), int((inside & wrong).sum())
            if hypergeom.cdf(k, size, most + 1, n) > doubt:
                break
            top = int(size)
        return top

    def _in_expectation(self, wrong: BoolArray, proved: int) -> int:
        """Return the size of the top set that conformal selection takes."""
        m, count = self.states.size, self.ranking.size
        audited = np.isin(self.ranking, self.states)
        is_wrong = np.isin(self.ranking, self.states[wrong])
        unaudited = proved + np.cumsum(~audited)
        estimate = (1.0 + np.cumsum(is_wrong)) / (m + 1.0) * (count - m) / np.maximum(unaudited, 1)
        passed = np.flatnonzero(estimate <= self.risk)
        return int(passed[-1]) + 1 if passed.size else 0

    def __repr__(self) -> str:
        done = f"{int(self.proved.sum()):,} moves proved"
        return f"Audit({self.states.size} of {self.ranking.size:,} moves to audit, {done})"


def audit_decisions(
    answer: Certified | Certificate,
    m: int = 30,
    risk: float = 0.1,
    confidence: float | None = 0.9,
    *,
    held_out: Labels | None = None,
    use_proved: bool = True,
    seed: int = 0,
) -> Audit:
    """Draw a few states to audit, so that many more moves can be certified.

    Parameters
    ----------
    answer : Answer or Certificate
        From `wayfield.solve` or `wayfield.certify`.
    m : int
        Number of audits. With `held_out` it is the number of these labels.
    risk : float
        Largest share of wrong moves among those that will be certified.
    confidence : float or None
        Probability with which that holds, over the draw of the audits. None certifies more moves,
        but then the share holds only on average.
    held_out : Labels, optional
        Labels that the plan has not seen. They must be drawn uniformly at random from all states
        that are not labels of the plan, not chosen with `next_labels` or otherwise. They serve as
        audits: ``audit.certify(audit.judge())``. Labels at proved moves are not used, nor those at
        states without a path to the goal.
    use_proved : bool
        Whether moves proved by the interval test count as right. Pass False if arcs of the graph
        may be false, or cost otherwise than it says.
    seed : int
        Seed of the draw. Draw once: the confidence does not cover the best of several draws.

    Returns
    -------
    Audit
        Check ``audit.moves`` at ``audit.states`` in the world, then call ``audit.certify(right)``.

    Examples
    --------
    >>> import numpy as np
    >>> import wayfield as wf
    >>> maze = wf.grid_graph(wf.load_layout("antmaze-medium"), refinement=8)
    >>> answer = wf.solve(maze, wf.sample_labels(maze, 40, fraction=0.02, seed=54), goal=40)
    >>> audit = wf.audit_decisions(answer)
    >>> truth = wf.cost_to_go(maze, 40)  # in place of an audit in the world
    >>> audit.certify(truth[audit.moves] + 1.0 == truth[audit.states])
    AuditedDecisions(... moves certified, ... % of all; at most 10 % of them wrong, confidence 0.9)

    If some labels were held out at random, no move has to be checked:

    >>> labels = wf.sample_labels(maze, 40, fraction=0.1, seed=54)
    >>> held = np.random.default_rng(0).permutation(len(labels)) < len(labels) // 2
    >>> held &= labels.vertices != 40
    >>> kept, rest = (wf.Labels(labels.vertices[w], labels.values[w]) for w in (~held, held))
    >>> answer = wf.solve(maze, kept, goal=40)
    >>> audit = wf.audit_decisions(answer, held_out=rest, use_proved=False)
    >>> audit.certify(audit.judge())
    AuditedDecisions(... moves certified, ... % of all; at most 10 % of them wrong, confidence 0.9)
    """
    certificate = getattr(answer, "certificate", answer)
    if not isinstance(certificate, Certificate):
        raise InputError(
            f"answer must come from wayfield.solve or wayfield.certify, got {type(answer).__name__}"
        )
    m = as_whole(m, "m", least=1)
    as_share(risk, "risk")
    if confidence is not None:
        as_share(confidence, "confidence")
    rng = np.random.default_rng(as_whole(seed, "seed", least=0))
    plan, graph, u = certificate.plan, certificate.plan.graph, certificate.plan.values
    decided = plan.reachable & (plan.successor != np.arange(u.size))
    decided[plan.goal] = False
    proved = decided & certificate.proved & as_flag(use_proved, "use_proved")
    audited = decided & ~proved
    known = np.full(u.size, np.nan)
    if held_out is not None:
        check_labels(held_out, graph)
        labels = certificate.labels
        known[plan.goal], known[labels.vertices] = 0.0, labels.values
        refuse(
            ~np.isnan(known[held_out.vertices]),
            held_out.vertices,
            "held_out",
            "is a label of the plan",
        )
        audited &= np.isnan(known)
    rest = np.flatnonzero(audited)

    # rank by the slope of each move; order equal slopes at random
    arcs = np.flatnonzero(plan.successor[graph.tails] == graph.indices)
    length = np.ones(u.size)
    length[graph.tails[arcs]] = graph.lengths[arcs]
    with np.errstate(invalid="ignore"):
        slope = np.round((u - u[plan.successor]) / length, 9)
    ranking = rest[np.lexsort((rng.random(rest.size), -np.nan_to_num(slope[rest])))]

    found = partial(
        Audit,
        proved=frozen(proved),
        ranking=frozen(ranking),
        risk=float(risk),
        confidence=confidence,
    )
    if held_out is None:
        m = min(m, ranking.size)
        size = ranking.size // m if m else 0
        if confidence is None:
            states, size = np.sort(rng.choice(ranking, m, replace=False)), 0
        else:
            states = ranking[np.arange(m) * size + rng.integers(0, max(size, 1), m)]
        moves = plan.successor[states].astype(np.int64)
        return found(states=frozen(states), moves=frozen(moves), slice_size=size)

    # follow the plan from each held-out label to the first label it knows; n steps mean a cycle
    used = audited[held_out.vertices]
    states = held_out.vertices[used]
    ends, cost = states.copy(), np.zeros(states.size)
    under_way = np.arange(states.size)
    for _ in range(u.size):
        if under_way.size == 0:
            break
        x = ends[under_way]
        cost[under_way] += length[x]
        ends[under_way] = plan.successor[x]
        under_way = under_way[np.isnan(known[plan.successor[x]])]
    cost[under_way], ends[under_way] = np.inf, -1
    labelled, errors = held_out.values[used], held_out.error + certificate.labels.error
    slack = errors + NO_LOSS * np.abs(labelled)
    difference = labelled - np.where(ends < 0, 0.0, known[ends])
    return found(
        states=frozen(states),
        moves=frozen(plan.successor[states].astype(np.int64)),
        slice_size=0,
        left_out=int((decided & ~proved & ~audited).sum()),
        ends=frozen(ends),
        lengths=frozen(cost),
        allowed=frozen(difference + slack),
        possible=frozen(difference - slack),
    )
