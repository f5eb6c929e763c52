"""How far a plan's cost and reach may be off because the odds rest on counts.

Three things are not known to somebody who has counts, and each has its part here.

**Few samples.** A choice with the posterior weights w_y (counts and prior), of total A, has Dirichlet
odds. The mean of a field f over its outcomes then has the variance (Σ p f² - (Σ p f)²) / (A + 1),
p = w / A. Let G be the expected number of visits, the inverse of I - P under the plan. To first
order in the odds the plan's field h varies with

    Var h(s) = Σ_x G(s, x)² Var_x .

Reach has the quantiles of the Beta distribution with this mean and variance, which is exact for a
single move. Cost has those of a log-normal one, above the least value that a walk can end with.

**Outcomes not yet seen.** The prior of a choice is worth `STRENGTH` samples, spread evenly over all
outcomes that any action had at the state. Something never seen there may follow, too. By Good and
Turing its odds are near (number of outcomes seen once) / (number of samples). A part of this mass,
`UNSEEN`, goes to the states two moves away, and of that part the share `SINK` to giving up. None of it
is used if the possible outcomes are given (`support`).

The prior makes a plan look worse, never better. So the low end of reach and the high end of cost
are those of the posterior. The other ends are the farther ones of the posterior and the plain counts.

**The choice of the plan.** A plan takes the best of several choices, which is the luckiest one if
they are alike (the optimiser's curse). Where it takes the best of j choices with the means Q_k and
the sample sizes n_k, their common mean m and their spread χ² = Σ n_k (Q_k - m)² / u about it, u the
variance of one sample, James and Stein [1]_ shrink the best one towards m by the share (j - 3) / χ².
Here it is (j - `FEWEST`) / χ², at most 1, for the j best choices of the state, with the j for which
it is most. What it costs is added up along the plan, G b, on the pessimistic side only.

Guarantee
    None that holds for every process: with few samples only intervals for the odds have one, and
    they are vacuous (`chance.intervals`). The four constants were chosen on slippery grids and
    random processes. Coverage on other families, never looked at before, is in the how-to
    "How sure is my agent?"; `benchmarks/coverage.py` measures it.

References
----------
.. [1] W. James, C. Stein, Estimation with quadratic loss, Fourth Berkeley Symposium, 1961.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse, special

from ..kernels._types import BoolArray, FloatArray, IntArray
from ..kernels.chance import Rows, policy_rows
from ._solver import PolicySystem
from .transitions import Transitions, spread_rows

STRENGTH = 1 / 2
"""Samples that the prior on outcomes seen at the state is worth."""
UNSEEN = 1 / 4
"""Part of Good and Turing's mass that goes to outcomes never seen at the state."""
SINK = 1 / 5
"""Share of that part that ends the walk."""
FEWEST = 2.0
"""Number of choices up to which nothing is shrunk: 3 in the theorem of James and Stein."""
DENSE = 1_000
"""Number of states up to which visits are computed exactly, by an inverse."""
PROBES = 100
"""Random signs by which variances are estimated beyond that: to 7 % of a standard deviation."""


class Moments(NamedTuple):
    """Per choice: mean cost to go and reach, their variances and covariance for one sample, size."""

    cost: FloatArray
    cost_variance: FloatArray
    reach_variance: FloatArray
    covariance: FloatArray
    size: FloatArray


def posterior(moves: Transitions, support: Transitions | None, *, sink: bool) -> Transitions:
    """Return the counts with their prior; the last state, one more than before, is the sink."""
    n, k = moves.num_states, moves.num_choices
    choices, states = np.arange(k), moves.states
    own = np.repeat(choices, np.diff(moves.outcome_indptr))
    mean_cost = (
        np.add.reduceat(moves.counts * moves.costs, moves.outcome_indptr[:-1]) / moves.totals
    )
    rows = [(own, moves.next_states.astype(np.int64), moves.counts, moves.costs)]
    if support is None:
        # every outcome seen at a state, with its count, and what was paid for it
        where = (states[own], moves.next_states)
        seen = sparse.csr_array((moves.counts, where), (n, n))
        paid = sparse.csr_array((moves.counts * moves.costs, where), (n, n))
        seen.sum_duplicates()
        paid.sum_duplicates()
        pattern = sparse.csr_array((np.ones(seen.nnz), seen.indices, seen.indptr), (n, n))
        once = np.bincount(
            np.repeat(np.arange(n), np.diff(seen.indptr))[seen.data <= 1.0], minlength=n
        )
        total = seen.sum(axis=1)
        mass = (UNSEEN * (once + 1.0) / (total + 1.0))[states] * moves.totals
        # states two moves away that did not follow here
        near = (pattern @ pattern).tocsr()
        near.data[:] = 1.0
        near = (near - pattern.multiply(near)).tocsr()
        near.eliminate_zeros()
        share = SINK if sink else 0.0
        owner, at = spread_rows(states, seen.indptr)
        cost = paid.data[at] / seen.data[at]
        rows.append((owner, seen.indices[at], STRENGTH / np.diff(seen.indptr)[states[owner]], cost))
        owner, at = spread_rows(states, near.indptr)
        weight = (1.0 - share) * mass[owner] / np.diff(near.indptr)[states[owner]]
        rows.append((owner, near.indices[at], weight, mean_cost[owner]))
        if sink:
            rows.append((choices, np.full(k, n), share * mass, mean_cost))
    else:
        _, (choice, following, cost) = moves._on_support(support)
        sizes = np.bincount(choice, minlength=k)
        rows.append((choice, following, STRENGTH / sizes[choice], cost))
    choice, following, count, cost = (np.concatenate(part) for part in zip(*rows, strict=True))
    return Transitions(states[choice], moves.actions[choice], following, count, cost, n + 1)


def moments(moves: Transitions, values: FloatArray, reach: FloatArray) -> Moments:
    """Return the moments of one sample of every choice; not finite where its outcomes are not."""
    first, odds = moves.outcome_indptr[:-1], moves.probabilities
    size = np.diff(moves.outcome_indptr)
    cost, arrived = moves.costs + values[moves.next_states], reach[moves.next_states]
    with np.errstate(invalid="ignore"):
        mean, hit = np.add.reduceat(odds * cost, first), np.add.reduceat(odds * arrived, first)
        # centred first: the values may be far from 0
        cost, arrived = cost - np.repeat(mean, size), arrived - np.repeat(hit, size)
        return Moments(
            mean,
            np.add.reduceat(odds * cost**2, first),
            np.add.reduceat(odds * arrived**2, first),
            np.add.reduceat(odds * cost * arrived, first),
            moves.totals + 1.0,
        )


def optimism(moves: Transitions, policy: IntArray, of: Moments) -> tuple[FloatArray, FloatArray]:
    """Return by how much each choice of the policy looks too good: in cost, and in reach (≤ 0)."""
    bias, lost = np.zeros(policy.size), np.zeros(policy.size)
    taken = policy[moves.states]
    usable = (taken >= 0) & np.isfinite(of.cost_variance)
    usable &= np.isfinite(of.cost_variance[taken])
    choice = np.flatnonzero(usable)
    if choice.size == 0:
        return bias, lost
    # choices of a state one after the other, the policy's own first, then by their cost
    own = choice == taken[choice]
    state = moves.states[choice]
    order = np.lexsort((of.cost[choice], ~own, state))
    choice, state = choice[order], state[order]
    begins = np.flatnonzero(np.append(True, np.diff(state) != 0))
    group = np.repeat(begins, np.diff(np.append(begins, choice.size)))

    def running(values: FloatArray) -> FloatArray:
        total = np.cumsum(values)
        return np.asarray(total - (total[group] - values[group]))

    size = of.size[choice]
    over = of.cost[choice] - of.cost[taken[choice]]
    weight, first, second = running(size), running(size * over), running(size * over**2)
    within = running(size * of.cost_variance[choice]) / weight
    mean = first / weight
    members = np.arange(choice.size) - group + 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        chi = (second - mean * first) / within
        part = np.clip((members - FEWEST) / chi, 0.0, 1.0)
    shift = np.where((within > 0.0) & (members > FEWEST), part * mean, 0.0)
    bias[state[begins]] = np.maximum(np.maximum.reduceat(np.nan_to_num(shift), begins), 0.0)
    moving = policy >= 0
    variance = of.cost_variance[policy[moving]]
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(variance > 0.0, of.covariance[policy[moving]] / variance, 0.0)
    lost[moving] = bias[moving] * np.minimum(np.nan_to_num(slope), 0.0)
    return bias, lost


def propagated(
    moves: Transitions,
    policy: IntArray,
    inside: BoolArray,
    rank: FloatArray,
    variance: FloatArray,
    shift: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return √(G² variance) and G shift for the policy's moves at the states `inside`; 0 elsewhere."""
    spread, moved = np.zeros(policy.size), np.zeros(policy.size)
    states = np.flatnonzero(inside)
    if states.size == 0:
        return spread, moved
    order = states[np.argsort(rank[states], kind="stable")]
    process = moves._process
    moving = np.where(inside, policy, -1)
    rows = Rows(*policy_rows(process, moving, order))
    # `Rows` leave out what stays where it is: figures of one move become figures until it is left
    stays = np.repeat(moves.states, np.diff(moves.outcome_indptr)) == moves.next_states
    kept = np.add.reduceat(moves.probabilities * stays, moves.outcome_indptr[:-1])
    leaving = 1.0 - kept[policy[order]]
    noise, pull = np.sqrt(variance[order]) / leaving, shift[order] / leaving
    if order.size <= DENSE:
        size = np.diff(rows.ptr)
        matrix = np.eye(order.size)
        np.subtract.at(matrix, (np.repeat(np.arange(order.size), size), rows.columns), rows.data)
        visits = np.linalg.inv(matrix)
        spread[order], moved[order] = np.sqrt(visits**2 @ noise**2), visits @ pull
        return spread, moved
    system = PolicySystem(rows)
    rng = np.random.default_rng(0)
    squares = np.zeros(order.size)
    for _ in range(PROBES):
        squares += system.solve(noise * rng.choice([-1.0, 1.0], order.size), 1e-3) ** 2
    spread[order], moved[order] = np.sqrt(squares / PROBES), system.solve(pull, 1e-6)
    return spread, moved


def beta_quantile(mean: FloatArray, spread: FloatArray, share: float) -> FloatArray:
    """Return quantiles of Beta distributions with this mean and standard deviation."""
    room = mean * (1.0 - mean)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        size = room / spread**2 - 1.0
        found = special.betaincinv(mean * size, (1.0 - mean) * size, share)
    # more spread than any distribution on [0, 1] can have
    found = np.where(size <= 1e-3, float(share > 0.5), found)
    certain = (room <= 0.0) | (spread**2 <= 1e-24 * room)
    return np.where(certain | np.isnan(found), mean, found)
