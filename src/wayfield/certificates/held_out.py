"""Held-out labels in place of audits: nobody has to check a move.

Follow the plan from a held-out label z to the first label w that the plan knows. With V the
cost-to-go in the world, each move x → y loses r(x) = ℓ(x, y) + V(y) − V(x) ≥ 0, so

    cost(z → w) + V(w) − V(z) = sum of r over the route ≥ r(z).

*If the left side is 0, the move at z is optimal.* If not, some move of the route is wrong, perhaps
another one. So the test finds every wrong move, and may blame right ones: the statement stays
valid, and certifies less. Labels within ε₁ and ε₂ prove that r(z) is at most ε₁ + ε₂. The cost is
the route's length, if its arcs cost what the graph says. Otherwise execute it once.

Let the labelled states be drawn uniformly at random, and let those to hold out be drawn from them
at random too. Given their number and the plan, the held-out ones are then a simple random sample.
(Labels that somebody chose, for example with `next_labels`, are not.) Rank moves as in
`certificates.audits`, and let P moves be proved. Among the first N_j of the ranking, let n_j be
held out, and k_j of these be wrong. Then P(Hyp(N_j, D, n_j) ≤ k_j) is a p-value for "D or more of
the first N_j are wrong". Here D = ⌊α (P + N_j)⌋ + 1, and the N_j are fixed beforehand. They are
tested in ascending order until one fails. With probability at least 1 − δ, at most a share α of the
largest set that passed is wrong. The number of held-out labels is fixed beforehand: this is one
sample, looked at once.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import hypergeom

from ..checks import KeepsReadOnly, as_flag, as_floats, as_share, as_whole, frozen, refuse
from ..errors import InputError, InputWarning
from ..graphs.labels import Labels, check_labels
from ..typing import BoolArray, FloatArray
from .audits import AuditedDecisions, Certified, certificate_of, decisions_of, ranked
from .gaps import Certificate

NO_LOSS = 1e-9
"""Loss of a route, relative to its label, that counts as none."""
POINTS, SPARE = 8, 2.0
"""Number of sets; and how many labels above the minimum the first set should hold, in standard
deviations of their number."""


@dataclass(frozen=True, eq=False, repr=False)
class HeldOutAudit(KeepsReadOnly):
    """Held-out labels, and where the plan leads from each.

    Attributes
    ----------
    states : (m,) int64 array
        The held-out states that are not proved.
    moves : (m,) int64 array
        The plan's moves there.
    ends : (m,) int64 array
        Where the plan's route from each state meets the first label of the plan; -1 if it meets
        none.
    proved : (n,) bool array
        Moves that count as right.
    """

    states: NDArray[np.int64]
    moves: NDArray[np.int64]
    ends: NDArray[np.int64]
    proved: BoolArray
    ranking: NDArray[np.int64]
    risk: float
    confidence: float
    lengths: FloatArray
    """Of the routes to `ends`."""
    allowed: FloatArray
    """Largest cost of each route that proves its first move right."""
    possible: FloatArray
    """Least cost of each route that does not contradict its labels."""
    left_out: int
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
        """Return the certified moves, given (m,) booleans: whether each held-out move is right."""
        judged = np.asarray(right, dtype=None if self.states.size else bool)
        if judged.dtype != bool or judged.shape != self.states.shape:
            raise InputError(
                f"right must be {self.states.size} booleans, one per held-out state, "
                f"got {judged.dtype} of shape {judged.shape}"
            )
        certified = self.proved.copy()
        certified[self.ranking[: self._top(~judged)]] = True
        certified[self.states[~judged]] = False
        decisions = int(self.proved.sum()) + self.ranking.size + self.left_out
        share = float(certified.sum()) / decisions if decisions else 1.0
        return AuditedDecisions(
            frozen(certified), share, self.risk, self.confidence, self.states.size
        )

    def _top(self, wrong: BoolArray) -> int:
        """Return the size of the largest top set that passes the fixed sequence of tests."""
        m, count, top = self.states.size, self.ranking.size, 0
        proved, doubt = int(self.proved.sum()), 1.0 - self.confidence
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
        for size in np.unique(np.ceil(np.linspace(first, count, POINTS)).astype(int)):
            inside = rank < size
            most = int(allowed[size - 1] * size)
            n, k = int(inside.sum()), int((inside & wrong).sum())
            if hypergeom.cdf(k, size, most + 1, n) > doubt:
                break
            top = int(size)
        return top

    def __repr__(self) -> str:
        done = f"{int(self.proved.sum()):,} moves proved"
        return f"HeldOutAudit({self.states.size} of {self.ranking.size:,} moves held out, {done})"


def audit_held_out(
    answer: Certified | Certificate,
    held_out: Labels,
    risk: float = 0.1,
    confidence: float = 0.9,
    *,
    use_proved: bool = True,
    seed: int = 0,
) -> HeldOutAudit:
    """Audit a plan with labels that it has not seen.

    Parameters
    ----------
    answer : Answer or Certificate
        From `wayfield.solve` or `wayfield.certify`.
    held_out : Labels
        They must be drawn uniformly at random from all states that are not labels of the plan, not
        chosen with `next_labels` or otherwise. Labels at proved moves are not used, nor those at
        states without a path to the goal.
    risk : float
        Largest share of wrong moves among those that will be certified.
    confidence : float
        Probability with which that holds, over the draw of the held-out labels.
    use_proved : bool
        Whether moves proved by the interval test count as right. Pass False if arcs of the graph
        may be false, or their costs wrong.
    seed : int
        Seed of the order of moves of equal slope.

    Examples
    --------
    >>> import numpy as np
    >>> import wayfield as wf
    >>> from wayfield.certificates import audit_held_out
    >>> maze = wf.grid_graph(wf.load_layout("antmaze-medium"), refinement=8)
    >>> labels = wf.sample_labels(maze, 40, fraction=0.1, seed=54)
    >>> held = np.random.default_rng(0).permutation(len(labels)) < len(labels) // 2
    >>> held &= labels.vertices != 40
    >>> kept, rest = (wf.Labels(labels.vertices[w], labels.values[w]) for w in (~held, held))
    >>> answer = wf.solve(maze, kept, goal=40)
    >>> audit = audit_held_out(answer, rest, use_proved=False)
    >>> audit.certify(audit.judge())
    AuditedDecisions(... moves certified, ... % of all, after ... audits; at most 10 % ...)
    """
    certificate = certificate_of(answer)
    risk, confidence = as_share(risk, "risk"), as_share(confidence, "confidence")
    rng = np.random.default_rng(as_whole(seed, "seed", least=0))
    plan = certificate.plan
    decided, proved = decisions_of(certificate, as_flag(use_proved, "use_proved"))
    check_labels(held_out, plan.graph)
    labels, n = certificate.labels, plan.values.size
    known = np.full(n, np.nan)
    known[plan.goal], known[labels.vertices] = 0.0, labels.values
    refuse(
        ~np.isnan(known[held_out.vertices]), held_out.vertices, "held_out", "is a label of the plan"
    )
    audited = decided & ~proved & np.isnan(known)
    ranking = ranked(certificate, np.flatnonzero(audited), rng)

    # follow the plan from each held-out label to the first label it knows; n steps mean a cycle
    used = audited[held_out.vertices]
    states = held_out.vertices[used]
    ends, cost = states.copy(), np.zeros(states.size)
    under_way = np.arange(states.size)
    for _ in range(n):
        if under_way.size == 0:
            break
        x = ends[under_way]
        cost[under_way] += plan.lengths[x]
        ends[under_way] = plan.successor[x]
        under_way = under_way[np.isnan(known[plan.successor[x]])]
    cost[under_way], ends[under_way] = np.inf, -1
    labelled, errors = held_out.values[used], held_out.error + labels.error
    slack = errors + NO_LOSS * np.abs(labelled)
    difference = labelled - np.where(ends < 0, 0.0, known[ends])
    return HeldOutAudit(
        states=frozen(states),
        moves=frozen(plan.successor[states].astype(np.int64)),
        ends=frozen(ends),
        proved=frozen(proved),
        ranking=frozen(ranking),
        risk=risk,
        confidence=confidence,
        lengths=frozen(cost),
        allowed=frozen(difference + slack),
        possible=frozen(difference - slack),
        left_out=int((decided & ~proved & ~audited).sum()),
    )
