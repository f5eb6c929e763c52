"""Policy iteration, with a proof of the error of its values.

Values v are double-doubles. Let C be the mean cost of a choice and R the mean change of v that it
brings. Bellman's equation is min (C + R) = 0 over the choices of a state. Let m be the least
boundary value, `give_up` included.

**Lower bound.** If C + R ≥ -ε C for every choice, then u = m + (1 - ε)(v - m) has

    C + (1 - ε) R = (1 - ε)(C + R) + ε C ≥ ε² C ≥ 0,

so u ≤ T u, and T's iterates rise from u to the expected cost.

**Upper bound.** If C + R ≤ δ C for the policy's own choices, δ < 1, then with ε = δ / (1 - δ) the
field m + (1 + ε)(v - m) lies above its image under the policy, and so above the expected cost.

Both ratios are measured for the stored numbers v, with all rounding included; ε is a relative
error. A field that a policy does not raise also proves that policy proper: its mean falls with
every move by the cost of the move, and it cannot fall for ever.

**Method.** Values and policy are corrected in doubles until the ratios are small enough, usually
once or twice (`Improvement`). Only the ratios need double-doubles, and only where a choice is
nearly as good as the best.

**Arrival.** The probability h of arrival satisfies R = 0 for the policy, and if |R| ≤ δ' C for a
computed h, then h ∓ ε'(v - m) with ε' = δ' / (1 - δ) are a sub- and a supersolution: v is the
barrier.

**Free choices.** Where C = 0 the ratios say nothing. Let b ≥ 0 be a field whose mean falls at free
choices, and C̃ = C plus the fall of its mean, the *relief*. If C̃ > 0, all of the above holds with
C̃ in place of C, and v - m + b in place of v - m. For a policy, b is its expected number of moves
(`relieved`).

For all choices, a free end component is a set of states in which free choices can keep the walk for
ever, and can lead it from any state to any other. All its states have the same expected cost,
because the walk moves to any of them at no cost. Each maximal component becomes a single state with
the choices of its members (`collapsed`). Choices that stay inside are never needed: they leave the
state as it is. After that, no policy makes free moves for ever: the states and choices that it used
for ever would form an end component. So policies that do not end have infinite cost, as with
positive costs, and policy iteration is the same. For its bounds b is the largest expected number of
free moves in a row, over all policies. It is also computed by policy iteration, but only roughly:
at every free choice it must fall by at least half a move in expectation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ..checks import frozen
from ..fields import Status
from ..fields.linear import SMALL, Direct
from ..numerics.csr import entries_of
from ..numerics.doubledouble import FEW_ROUNDINGS, Pair, outward_sum
from ..numerics.elimination import level_work
from ..numerics.krylov import Matrix, biconjugate_gradients
from ..typing import BoolArray, FloatArray, IntArray
from .kernels import (
    MDP,
    Choices,
    approach,
    choices_of,
    chosen_rows,
    components,
    correct,
    first_policy,
    infinite_layers,
    mean_falls,
    numbered,
    optimality_check,
    policy_check,
    policy_reaching,
    prepared,
    sweep,
)

STEP_COST = 12.0
"""Time of a step of an iteration per matrix entry, in operations of an elimination."""
FINEST = 2.0**-56
"""Relative error of expected costs by default: far below the last place of a double."""
EXACT = 2.0**-58
"""Relative accuracy of the evaluation of a given policy."""
ROUGH_EVALUATION = 0.01
"""Reduction of the residual by one evaluation of a policy that is still to be improved."""
FINE_EVALUATION = 1e-6
"""The same for a policy that sweeps no longer change."""
ROUGH_ROUNDS = 3
"""Number of evaluations in which a long iteration is left early: the policy is still poor."""
SWEEPS, SHRINK = 20, 0.8
"""Largest number of sweeps after an evaluation, and by how much each must shrink updates.

An iteration takes as long as some 20 sweeps, and reduces the residual to a hundredth.
"""
SHRINK_SETTLED = 0.2
"""The same for sweeps that change no choice: an evaluation does that in a quarter of the time."""
SWEEPS_PER_FACTORING, SHRINK_PER_FACTORING = 80, 0.95
"""The same after a factorisation, which takes as long as some 80 sweeps."""
ATTEMPTS = 2
"""Largest number of corrections in a row that do not halve the error."""
MOST_EVALUATIONS = 200
"""Largest number of evaluations."""
MOST_CORRECTIONS = 12
"""Largest number of corrections of one evaluation."""
RTOL = 1e-9
"""Reduction of the residual by one correction."""
PROVED = 1e-9
"""Largest relative width of a bracket that counts as a proof; usually it is 2⁻⁵²."""
FREE_MOVE = 2.0**-20
"""What a free move counts for in a barrier; the largest cost is between 1/2 and 1."""
ROUGH_MOVES = 0.01
"""Relative accuracy of the expected number of free moves, over all policies."""
ROUGHLY_FREE = 1e-6
"""Relative accuracy of a policy with free moves before its relief counts in full."""
BEFORE_FACTORING, BEFORE_FACTORING_PER_ROOT = 40, 0.6
"""Steps of the linear iteration, to `ROUGH_EVALUATION`, before a factorisation is considered.

The limit is the larger of the first number and the second times √n: on plane graphs, a
factorisation takes as long as some multiple of √n steps.
"""
HOPELESS = 1e4
"""Growth of the residual after which no further steps are tried before a factorisation."""
REUSE = 0.5
"""Factors of a previous policy are used as long as they reduce the residual to this share."""
MOST_LINEAR_STEPS = 3_000
"""Steps after which the linear iteration has failed and the matrix is factored."""


class Bounded(NamedTuple):
    """A field with bounds: ``lower <= exact <= upper`` wherever it is finite."""

    values: FloatArray
    lower: FloatArray
    upper: FloatArray


@dataclass(frozen=True)
class Boundary:
    """How walks end: values at some states, and the cost of stopping elsewhere.

    In the units of the prepared process; inf where stopping is not allowed. A walk does not arrive
    at the fixed states where a given plan `stops`.
    """

    fixed: BoolArray
    values: FloatArray
    give_up: float
    stops: BoolArray | None = None

    @property
    def arrived(self) -> BoolArray:
        """Where a walk has arrived."""
        return self.fixed if self.stops is None else self.fixed & ~self.stops

    @property
    def floor(self) -> float:
        """The least value that a walk can end with."""
        return float(min(self.values[self.fixed].min(initial=np.inf), self.give_up))


@dataclass
class Solved:
    """Values of a policy, and the relative error of their bracket."""

    pair: Pair
    policy: IntArray
    below: float
    above: float
    rounds: int
    settled: bool
    asked: float = PROVED
    barrier: FloatArray | float = 0.0
    """The field b for free choices; 0 if there are none."""

    @property
    def status(self) -> Status:
        """Whether this is a proof."""
        if max(self.below, self.above) <= max(self.asked, PROVED):
            return Status.CONVERGED
        return Status.UNVERIFIED if self.settled else Status.BUDGET


@dataclass(frozen=True)
class PolicyBounds:
    """Expected cost and probability of arrival in the units of the process, and their policy."""

    cost: Bounded
    reach: Bounded
    policy: IntArray
    rounds: int
    error: float
    status: Status


def least_cost(
    process: MDP, boundary: Boundary, rtol: float = FINEST, *, from_above: bool = False
) -> Solved:
    """Minimise the expected cost of ending on the boundary or giving up.

    `from_above` begins with giving up everywhere, where that is allowed. Then no policy on the way
    costs more than `give_up`, so no walk is too long for doubles. It is usually slower.
    """
    if not free_choices(process).any():
        return _least_cost(process, boundary, rtol, from_above)
    small, barrier, part, inside, kept = collapsed(process, boundary.fixed)
    first = np.unique(part, return_index=True)[1]
    ends = Boundary(boundary.fixed[first], boundary.values[first], boundary.give_up)
    solved = _least_cost(small, ends, rtol, from_above)
    # back to all states: members of a component move to the member that the policy leaves from
    policy = np.full(part.size, -1, np.int64)
    chosen = kept[solved.policy[solved.policy >= 0]]
    policy[process.owner[chosen]] = chosen
    leaving = policy >= 0
    policy = np.where(leaving, policy, approach(process, inside, leaving)[1])
    pair = Pair(solved.pair.high[part], solved.pair.low[part])
    return replace(solved, pair=pair, policy=policy, barrier=barrier[part])


def _least_cost(process: MDP, boundary: Boundary, rtol: float, from_above: bool) -> Solved:
    """Do the same in a process without free end components."""
    fixed, give_up = boundary.fixed, boundary.give_up
    allowed = process.fee < np.inf
    alive = np.ones_like(fixed)
    if give_up == np.inf:
        alive = infinite_layers(process, fixed, allowed) < 0
    free = np.flatnonzero(alive & ~fixed)
    values = Pair(boundary.values.copy(), np.zeros(fixed.size))
    policy = first_policy(process, fixed, allowed, values.high, give_up)
    gaps = np.zeros(process.owner.size)
    order = free[np.argsort(values.high[free], kind="stable")]
    if from_above and give_up < np.inf:
        values.high[free], policy[free] = give_up, -1
    improvement = Improvement(process, allowed, give_up, order, policy)
    best, least, attempts = Solved(values, policy, np.inf, np.inf, 0, True), np.inf, 0
    while True:
        where = (process, allowed, free, give_up, values, policy)
        above, below = optimality_check(*where, gaps, rtol / 16)
        error = max(above, below)
        attempts = 0 if error < least / 2 else attempts + 1
        if error < least:
            kept = Pair(values.high.copy(), values.low.copy())
            best = Solved(kept, policy.copy(), below, excess(above), 0, True)
            least = error
        if max(below, excess(above)) <= rtol or attempts > ATTEMPTS:
            break
        if improvement.rounds >= MOST_EVALUATIONS:
            best.settled = False
            break
        improvement.correct(values, policy, gaps, rtol / 4)
    best.rounds, best.asked = improvement.rounds, rtol
    return best


class Improvement:
    """Policy iteration in doubles on the change d that values v still need.

    With the gaps C + R of all choices at v, Bellman's equation for v + d is one of the same kind,

        d(s) = min( g - v(s), min_k gap_k + Σ_y P_k(y) d(y) ),

    and d is small. So what doubles lose is small too. The gaps are measured in double-doubles, so
    they also decide ties that v itself is too coarse for. Each round evaluates the policy by a
    linear system, roughly, and then sweeps: a front of near-ties moves by one state with an
    evaluation, and by many with a sweep.
    """

    def __init__(
        self,
        process: MDP,
        allowed: BoolArray,
        give_up: float,
        order: IntArray,
        policy: IntArray,
    ) -> None:
        self._process, self._allowed, self._give_up = process, allowed, give_up
        self._proper = policy.copy()
        self._sort(order)
        self.rounds = 0

    def _sort(self, order: IntArray) -> None:
        """Sort states and their choices anew, into this order."""
        self._order = order
        self._system: PolicySystem | None = None
        self._choices = Choices(*numbered(self._process, self._allowed, order))
        which = self._choices.which
        self._place = np.full(self._allowed.size + 1, -1, dtype=np.int64)  # last entry: no choice
        self._place[which] = np.arange(which.size)

    def correct(self, values: Pair, policy: IntArray, gaps: FloatArray, accuracy: float) -> None:
        """Improve values and policy in place, to the given accuracy or the limit of doubles."""
        change, latest, settled = np.zeros(policy.size), np.inf, False
        while self.rounds < MOST_EVALUATIONS:
            if self._system is not None and self._system.slow:
                # values give a better order than the first one, and so do strong parts of the graph
                part = components(self._process, policy)[self._order]
                height = values.high[self._order] + change[self._order]
                self._sort(self._order[np.lexsort((height, part))])
            order, choices = self._order, self._choices
            d, own = change[order], self._place[policy[order]]
            stops = self._give_up - values.high[order] - values.low[order]
            problem = (choices, gaps[choices.which], stops, d, own)
            *rows, residual, most, proper = chosen_rows(*problem)
            if not proper:
                # Only rounding can make a policy cycle for ever. There, use the moves of the
                # previous policy: it stops, or leads to states from which the new policy stops.
                stuck = ~policy_reaching(self._process, policy, policy < 0)
                if stuck.any():
                    policy[stuck] = self._proper[stuck]
                    own[:] = self._place[policy[order]]
                    *rows, residual, most, _ = chosen_rows(*problem)
            self._proper[:] = policy
            # evaluate the policy: only roughly while it still changes
            if not most <= accuracy:  # NaN included: rounds must come to an end
                self.rounds += 1
                self._system = PolicySystem(Matrix(*rows), self._system)
                enough = max(FINE_EVALUATION if settled else ROUGH_EVALUATION, accuracy / most)
                d += self._system.solve(residual, enough, rough=self.rounds <= ROUGH_ROUNDS)
            # sweep as long as that does more than another evaluation in the same time
            factored = self._system is not None and self._system.factored
            changes, before = 0, np.inf
            for sweeps in range(SWEEPS_PER_FACTORING if factored else SWEEPS):
                most, changed = sweep(*problem)
                changes += changed
                shrink = most / before
                settled = changed == 0 and shrink > SHRINK_SETTLED
                slowly = shrink > (SHRINK_PER_FACTORING if factored else SHRINK)
                if most <= accuracy or settled or (slowly and sweeps > 2):
                    break
                before = most
            change[order] = d
            policy[order] = np.where(own >= 0, choices.which[own], -1)
            if most <= accuracy or (changes == 0 and most > latest / 2):
                break
            latest = most
        correct(values, self._order, change[self._order])
        stopped = self._order[policy[self._order] < 0]
        values.high[stopped], values.low[stopped] = self._give_up, 0.0


def value_of(process: MDP, policy: IntArray, boundary: Boundary, begin: FloatArray) -> Solved:
    """Return the expected cost of a given policy; it ends where it makes no move."""
    chosen = choices_of(process, policy)
    ends = boundary.fixed | ((policy < 0) & (boundary.give_up < np.inf))
    alive = infinite_layers(process, ends, chosen & (process.fee < np.inf)) < 0
    values = Pair(np.where(boundary.fixed, boundary.values, boundary.give_up), np.zeros(ends.size))
    moving = np.where(alive & ~ends, policy, -1)
    start = np.where(np.isfinite(begin), begin, 0.0)
    values.high[moving >= 0], values.high[~alive] = start[moving >= 0], np.inf
    process, barrier = relieved(process, moving)
    if process.relief.any():
        # roughly at first: a first correction in doubles is too coarse for the small relief
        rough = process._replace(relief=process.relief / FREE_MOVE)
        evaluate(rough, moving, values, start, 1.0, ROUGHLY_FREE)
    above, below = evaluate(process, moving, values, start, 1.0, EXACT)
    return Solved(values, policy, below, excess(above), 1, True, barrier=barrier)


# ------------------------------------------------------------------ free choices


def free_choices(process: MDP) -> BoolArray:
    """Whether no outcome of a choice costs anything."""
    if process.costs.all():  # the usual case, and much quicker to check
        return np.zeros(process.owner.size, dtype=bool)
    return ~np.logical_or.reduceat(process.costs > 0.0, process.ptr[:-1])


def counting_moves(process: MDP) -> tuple[MDP, FloatArray]:
    """Return the process in which leaving a state costs 1, and each choice's counts of leaving."""
    sizes = np.diff(process.ptr)
    away = process.heads != np.repeat(process.owner, sizes)
    leaving = np.add.reduceat(np.where(away, process.counts, 0.0), process.ptr[:-1])
    return process._replace(costs=away.astype(np.float64)), leaving


def moves_barrier(process: MDP, policy: IntArray) -> FloatArray:
    """Return `FREE_MOVE` times the expected number of moves of a proper policy."""
    pair = Pair(np.zeros(policy.size), np.zeros(policy.size))
    evaluate(counting_moves(process)[0], policy, pair, np.zeros(policy.size), 1.0, PROVED)
    return FREE_MOVE * np.maximum(pair.high, 0.0)


def relieved(process: MDP, policy: IntArray) -> tuple[MDP, FloatArray]:
    """Return the process with relief for the moves of a proper policy, and the barrier behind it.

    The barrier is 0 if no move is free.
    """
    barrier = np.zeros(policy.size)
    chosen = policy[policy >= 0]
    if not free_choices(process)[chosen].any():
        return process, barrier
    barrier = moves_barrier(process, policy)
    falls = mean_falls(process, chosen, Pair(barrier, np.zeros(policy.size)))
    # a barrier that does not fall proves nothing, and NaN passes no check
    falls[chosen] = np.where(falls[chosen] > 0.0, falls[chosen], np.nan)
    return process._replace(relief=falls), barrier


def free_components(process: MDP, fixed: BoolArray, free: BoolArray) -> tuple[IntArray, BoolArray]:
    """Return the maximal free end component of every state, and the choices inside components.

    Components are numbered by their first state. A state in no component has its own number.
    """
    n, owner = fixed.size, process.owner
    inside = free & ~fixed[owner]
    while True:
        # strongly connected components; then drop the choices that may leave theirs
        edges = np.repeat(inside, np.diff(process.ptr))
        tails = np.repeat(owner, np.diff(process.ptr))[edges]
        arcs = (np.ones(tails.size), (tails, process.heads[edges]))
        _, part = connected_components(
            sparse.csr_array(arcs, (n, n)), directed=True, connection="strong"
        )
        same = np.logical_and.reduceat(
            part[process.heads] == np.repeat(part[owner], np.diff(process.ptr)), process.ptr[:-1]
        )
        if not (inside & ~same).any():
            break
        inside &= same
    _, first, number = np.unique(part, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))
    return order[number], inside


def collapsed(
    process: MDP, fixed: BoolArray
) -> tuple[MDP, FloatArray, IntArray, BoolArray, IntArray]:
    """Return the process with one state per free component and relief for all choices.

    Also return the barrier behind the relief, the component of every state, which choices stay
    inside components, and the original index of each choice.
    """
    free = free_choices(process)
    part, inside = free_components(process, fixed, free)
    owner = part[process.owner]
    kept = np.argsort(owner, kind="stable")
    _, rows = entries_of(kept, process.ptr)
    # the types of every other process: for other types, kernels would be compiled again
    owner = owner[kept].astype(np.uint32)
    first = frozen(np.searchsorted(owner, np.arange(int(part.max()) + 2)))
    ptr = np.append(0, np.cumsum(np.diff(process.ptr)[kept])).astype(np.uint32)
    heads = part[process.heads[rows]].astype(np.uint32)
    small = prepared(first, ptr, heads, process.counts[rows], process.costs[rows], owner)
    ends = fixed[np.unique(part, return_index=True)[1]]
    return *_relieved_everywhere(small, free[kept], ends), part, inside, kept


def _relieved_everywhere(process: MDP, free: BoolArray, fixed: BoolArray) -> tuple[MDP, FloatArray]:
    """Return the process with relief for all choices, and the barrier.

    It must have no free end components.
    """
    n = fixed.size
    moves = np.flatnonzero(free & (process.fee < np.inf) & ~fixed[process.owner])
    policy = np.full(n, -1, np.int64)
    policy[process.owner[moves]] = moves
    steps, leaving = counting_moves(process)
    pair = Pair(np.zeros(n), np.zeros(n))
    everything = np.flatnonzero(process.fee < np.inf)
    for _ in range(MOST_EVALUATIONS):
        evaluate(steps, policy, pair, np.zeros(n), 1.0, ROUGH_MOVES)
        barrier = np.maximum(pair.high, 0.0)
        falls = mean_falls(process, everything, Pair(barrier, np.zeros(n)))
        share = falls[moves] / leaving[moves]
        if not (share < 0.5).any():
            break
        # at every state, switch to the choice with the most moves, if it is not the policy's own
        order = np.lexsort((-share, process.owner[moves]))
        last = np.append(np.diff(process.owner[moves[order]]) != 0, True)
        worst = moves[order[last]]
        better = falls[worst] / leaving[worst] < 0.5
        policy[process.owner[worst[better]]] = worst[better]
        pair.low[:] = 0.0
    # costly choices may raise the barrier, in expectation by at most half of their cost
    paid = np.add.reduceat(process.counts * process.costs, process.ptr[:-1])
    scale = FREE_MOVE
    raised = everything[(falls[everything] < 0.0) & (paid[everything] > 0.0)]
    if raised.size:
        scale = min(scale, float((paid[raised] / -falls[raised]).min()) / 4)
    scale = 2.0 ** np.floor(np.log2(scale))
    relief = scale * falls
    hopeless = everything[paid[everything] + relief[everything] <= 0.0]
    relief[hopeless] = np.nan
    return process._replace(relief=relief), scale * barrier


# ------------------------------------------------------------------ a policy


def policy_rows(process: MDP, policy: IntArray, order: IntArray) -> Matrix:
    """Return the odds of a policy's moves at the states in `order`."""
    # one choice for each state: a row of the matrix
    choices = Choices(*numbered(process, choices_of(process, policy), order))
    return Matrix(choices.ptr, choices.heads, choices.odds)


def evaluate(
    process: MDP,
    policy: IntArray,
    values: Pair,
    rank: FloatArray,
    costs: float,
    accuracy: float,
) -> tuple[float, float]:
    """Set the values of the states from which a proper policy moves; return their error.

    With costs = 1 these are its expected costs, with 0 the mean end values. Moves mostly lead down
    in `rank`, which makes it a good order. The ratios are those of `policy_check`.
    """
    moving = np.flatnonzero(policy >= 0)
    if moving.size == 0:
        return 0.0, 0.0
    part = components(process, policy)[moving]
    places = np.lexsort((rank[moving], part))
    order = moving[places]
    system = PolicySystem(policy_rows(process, policy, order))
    # checked in the order of memory, which is much faster
    residual, above, below = policy_check(process, policy, moving, values, costs)
    for _ in range(MOST_CORRECTIONS):
        if max(above, below) <= accuracy:
            break
        kept = values.high[order], values.low[order], above, below
        rtol = max(RTOL, min(0.1, accuracy / max(above, below) / 4))
        correct(values, order, system.solve(residual[places], rtol))
        residual, above, below = policy_check(process, policy, moving, values, costs)
        if not max(above, below) < max(kept[2:]):  # no further improvement, or NaN
            values.high[order], values.low[order], above, below = kept
            break
    return above, below


class PolicySystem:
    """The linear system (I - P) x = r of a proper policy, for several right-hand sides.

    The iteration is preconditioned by a Gauss-Seidel sweep in the order of the policy's moves. It
    takes a dozen steps where moves mostly succeed, whatever the pattern. Where they mostly fail, it
    takes thousands. Then the matrix is factored, unless the factors would fill in. The factors of a
    `previous` policy on the same states are tried first: few moves differ.
    """

    def __init__(self, rows: Matrix, previous: PolicySystem | None = None) -> None:
        self._rows = rows
        self._factors: Direct | None = None
        self._nearly: Direct | None = None
        if previous is not None:
            self._nearly = previous._factors or previous._nearly
        self.slow = False

    @cached_property
    def matrix(self) -> sparse.csr_array[np.float64]:
        """The matrix I - P."""
        ptr, columns, data = self._rows
        size = ptr.size - 1
        moves = sparse.csr_array((data, columns, ptr), (size, size))
        return sparse.csr_array(sparse.eye_array(size) - moves)

    @cached_property
    def _fills_in(self) -> bool:
        """Whether a factorisation would cost more than the longest iteration."""
        size = self._rows.indptr.size - 1
        if size <= SMALL:
            return False
        pattern = abs(self.matrix)
        pattern = (pattern + pattern.T).tocsr()
        pattern.setdiag(0.0)
        pattern.eliminate_zeros()
        # the diagonal first in its row, as `level_work` has it
        indices = np.insert(pattern.indices, pattern.indptr[:-1], np.arange(size))
        work = level_work(pattern.indptr + np.arange(size + 1), indices)
        return bool(work > STEP_COST * MOST_LINEAR_STEPS * indices.size)

    @property
    def factored(self) -> bool:
        """Whether the matrix had to be factored."""
        return self._factors is not None

    def solve(self, rhs: FloatArray, rtol: float, *, rough: bool = False) -> FloatArray:
        """Solve to the relative tolerance; callers must check the residual.

        If `rough`, an iteration that takes long is left early, and what it has found is returned
        if it is any better than 0.
        """
        found = np.zeros_like(rhs)
        scale = np.abs(rhs).max()  # squares of its entries could underflow
        if not 0.0 < scale < np.inf:
            return found
        scaled = rhs / scale
        rest, left = scaled.copy(), 1.0
        if self._factors is None and self._nearly is not None:
            before = np.inf
            while left > rtol and left < REUSE * before:
                before = left
                found += self._nearly.solve(rest)
                rest = scaled - self.matrix @ found
                left = float(np.abs(rest).max())
        elif self._factors is None:
            # One Gauss-Seidel sweep is exact where moves lead to earlier rows only. The diagonal
            # alone would not do: on a chain of 2,000 states with moves that fail one time in ten it
            # takes thousands of steps, and the sweep 8.
            digits = max(1.0, np.log(rtol) / np.log(ROUGH_EVALUATION))
            patience = max(BEFORE_FACTORING, BEFORE_FACTORING_PER_ROOT * np.sqrt(rhs.size))
            self.slow = False
            for steps, growth in ((int(patience * digits), HOPELESS), (MOST_LINEAR_STEPS, np.inf)):
                left = biconjugate_gradients(self._rows, found, rest, rtol, steps, growth)
                if np.isnan(left):  # breakdown: start again from 0 if that is as good
                    rest[:] = scaled - self.matrix @ found
                    left = float(np.abs(rest).max())
                    if not left < 1.0:
                        found[:], rest[:], left = 0.0, scaled, 1.0
                self.slow = self.slow or (not left <= rtol and self._fills_in)
                if rough or not self.slow:
                    break
            if rough and self.slow and not left < 1.0:
                found[:] = 0.0
        if left <= rtol or (self.slow and rough):
            return np.asarray(found * scale)
        if self._factors is None:
            self._factors = Direct(self.matrix)
        return self._factors.solve(rhs)


def excess(above: float) -> float:
    """Return ε = δ / (1 - δ) of the upper bound."""
    return above / (1.0 - above) if above < 1.0 else np.inf


# ------------------------------------------------------------------ bounds


def cost_bounds(solved: Solved, boundary: Boundary, most: float) -> Bounded:
    """Return values with their bracket; boundary values are exact, and no value exceeds `most`."""
    values, floor = solved.pair.high, boundary.floor
    lower, upper = values.copy(), values.copy()
    free = np.flatnonzero(np.isfinite(values) & ~boundary.fixed)
    pair = Pair(values[free], solved.pair.low[free])
    extra = np.broadcast_to(solved.barrier, values.shape)[free]
    height = rounded_up(np.abs(pair.high) + abs(floor) + extra)
    # a factor of 1 or more proves nothing: then the bound is the trivial one
    down = solved.below if solved.below < 1.0 else np.inf
    lower[free] = np.maximum(shifted(pair, times(down, height), -1.0), floor)
    upper[free] = np.minimum(shifted(pair, times(solved.above, height), +1.0), most)
    # values that were not verified may lie anywhere, even below 0
    return Bounded(np.clip(values, lower, upper), lower, upper)


def policy_bounds(
    process: MDP, solved: Solved, boundary: Boundary, *, optimal: bool
) -> PolicyBounds:
    """Return bounds on the cost and on the arrival of an optimal policy, or of a given one."""
    cost = cost_bounds(solved, boundary, boundary.give_up if optimal else np.inf)
    reach, proved = arrival(process, solved, boundary.fixed, boundary.floor, sure=optimal)
    status = Status.UNVERIFIED if solved.status.good and not proved else solved.status
    error = max(solved.below, solved.above)
    return PolicyBounds(cost, reach, solved.policy, solved.rounds, error, status)


def arrival(
    process: MDP, solved: Solved, arrived: BoolArray, floor: float, *, sure: bool
) -> tuple[Bounded, bool]:
    """Return the probability that a policy ends in `arrived`, and whether its bracket is proved.

    Where the graph of moves alone decides, it is exactly 0 or 1. `sure` means that the policy ends
    with probability 1 wherever it moves, and `solved` has its expected cost.
    """
    policy = solved.policy
    finite = np.isfinite(solved.pair.high)
    if sure and solved.status.good and not (finite & (policy < 0) & ~arrived).any():
        values = finite.astype(np.float64)  # the policy ends only where it arrives
        return Bounded(values, values, values), True
    can = policy_reaching(process, policy, arrived)
    may_fail = policy_reaching(process, policy, ~can | ((policy < 0) & ~arrived))
    values = (can & ~may_fail).astype(np.float64)
    open_ = np.flatnonzero(can & may_fail)
    if open_.size == 0:
        return Bounded(values, values, values), True
    moves = np.full_like(policy, -1)
    moves[open_] = policy[open_]
    extra, rank = np.zeros(values.size), solved.pair.high
    if sure:
        process, extra = relieved(process, moves)
        barrier = solved.pair
        above = policy_check(process, moves, open_, barrier, 1.0)[1]
    else:
        # where costs may be infinite, the expected number of moves is the barrier
        process, barrier = counting_moves(process)[0], Pair(extra.copy(), extra.copy())
        floor = 0.0
        above, _ = evaluate(process, moves, barrier, rank, 1.0, PROVED)
    above = excess(above)
    pair = Pair(values.copy(), np.zeros(values.size))
    accuracy = EXACT / max(1.0, float(np.abs(barrier.high[open_]).max()))
    ratio = max(evaluate(process, moves, pair, rank, 0.0, accuracy))
    # above = δ / (1 - δ), so that 1 + above = 1 / (1 - δ)
    factor = ratio * (1.0 + above) * (1.0 + FEW_ROUNDINGS)
    slack = times(factor, rounded_up(np.abs(barrier.high[open_]) + abs(floor) + extra[open_]))
    inner = Pair(pair.high[open_], pair.low[open_])
    lower, upper = values.copy(), values.copy()
    values[open_] = np.clip(inner.high, 0.0, 1.0)
    lower[open_] = np.maximum(shifted(inner, slack, -1.0), 0.0)
    upper[open_] = np.minimum(shifted(inner, slack, +1.0), 1.0)
    return Bounded(values, lower, upper), bool(slack.max() <= PROVED)


def times(factor: float, height: FloatArray) -> FloatArray:
    """Return the product; an infinite factor proves nothing, not even at height 0."""
    return factor * height if factor < np.inf else np.full_like(height, np.inf)


def rounded_up(a: FloatArray) -> FloatArray:
    """Return a little more than a ≥ 0, whatever a few roundings lost."""
    return a * (1.0 + FEW_ROUNDINGS)


def shifted(pair: Pair, shift: FloatArray, sign: float) -> FloatArray:
    """Return pair + sign · shift, rounded in the direction of the sign."""
    step = np.nextafter(pair.low + sign * rounded_up(shift), sign * np.inf)
    return np.where(np.isfinite(shift), outward_sum(pair.high, step, sign), sign * np.inf)
