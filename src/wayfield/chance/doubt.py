"""How far a plan's cost and reach may be off because the odds rest on counts.

Three things are not known to somebody who has counts, and each has its part here.

**Few samples.** A choice with the posterior weights w_y (counts and prior), of total A, has
Dirichlet odds. The mean of a field f over its outcomes then has the variance
(Σ p f² - (Σ p f)²) / (A + 1), p = w / A. Let G be the expected number of visits, the inverse of
I - P under the plan. To first order in the odds the plan's field h varies with

    Var h(s) = Σ_x G(s, x)² Var_x .

Reach has the quantiles of the Beta distribution with this mean and variance, which is exact for a
single move. Cost has those of a log-normal one, above the least value that a walk can end with.

**Outcomes not yet seen.** The prior of a choice is worth `STRENGTH` samples, spread evenly over all
outcomes that any action had at the state. Something never seen there may follow, too. By Good and
Turing its odds are near (number of outcomes seen once) / (number of samples). A part of this mass,
`UNSEEN`, goes to the states two moves away, and of that part the share `SINK` to giving up. None of
it is used if the possible outcomes are given (`support`).

The prior mostly makes a plan look worse. So the low end of reach and the high end of cost are those
of the posterior. The other ends are the farther ones of the posterior and the plain counts.

**The choice of the plan.** A plan takes the best of several choices, which is the luckiest one if
they are alike (the optimiser's curse). Let the j best choices of a state have the means Q_k and the
sample sizes n_k, the common mean m, the variance u of one sample, and χ² = Σ n_k (Q_k - m)² / u.
Were they alike, χ² would be near j - 1. So the share min(1, (j - 1) / χ²) of their differences is
noise (empirical Bayes [1]_), less where a test says that they differ. The plan's choice is mixed
with the j in this share, odds and sample sizes, for the j at which this costs most, and the plan
is evaluated again. This can move the pessimistic ends outwards, and nothing else.

Guarantee
    None that holds for every process: with few samples only intervals for the odds have one, and
    they are vacuous (`chance.intervals`). The constants were chosen on twenty families of
    processes. Coverage on others, written afterwards, is in the how-to "How sure is my
    agent?"; `benchmarks/coverage.py` measures it.

References
----------
.. [1] R. DerSimonian, N. Laird, Meta-analysis in clinical trials, Controlled Clinical Trials 7,
   1986.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse, special

from ..kernels._types import BoolArray, FloatArray, IntArray
from ..kernels.chance import Rows, numbered
from ._solver import PolicySystem
from .transitions import Transitions, spread_rows

STRENGTH = 1 / 2
"""Samples that the prior on outcomes seen at the state is worth."""
UNSEEN = 1 / 4
"""Part of Good and Turing's mass that goes to outcomes never seen at the state."""
SINK = 1 / 5
"""Share of that part that ends the walk."""
DIFFERENT = 0.01
"""Level of the test of χ² below which choices count as different, and are mixed less."""
MOST_MIXED, LEAST_MIXED = 0.999, 1e-6
"""Largest share by which a choice is mixed with others, and the least that matters."""
DENSE = 1_000
"""Number of states up to which visits are computed exactly, by an inverse."""
PROBES = 100
"""Random signs by which variances are estimated beyond that: to 7 % of a standard deviation."""


class Moments(NamedTuple):
    """Per choice: mean cost to go, variance of cost and of reach in one sample, sample size."""

    cost: FloatArray
    cost_variance: FloatArray
    reach_variance: FloatArray
    size: FloatArray


def posterior(moves: Transitions, support: Transitions | None, *, sink: bool) -> Transitions:
    """Return the counts with their prior; the last state, one more than before, is the sink."""
    n, k = moves.num_states, moves.num_choices
    choices, states = np.arange(k), moves.states
    own = np.repeat(choices, np.diff(moves.outcome_indptr))
    mean_cost = (
        np.add.reduceat(moves.counts * moves.costs, moves.outcome_indptr[:-1]) / moves.totals
    )
    rows: list[tuple[IntArray, IntArray, FloatArray, FloatArray]]
    rows = [(own, moves.next_states, moves.counts, moves.costs)]
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
        total: FloatArray = np.asarray(seen.sum(axis=1))
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
            moves.totals + 1.0,
        )


def sobered(moves: Transitions, policy: IntArray, of: Moments) -> Transitions:
    """Return the process with the policy's choices mixed with those they were chosen from."""
    taken = policy[moves.states]
    choice = np.flatnonzero((taken >= 0) & np.isfinite(of.cost_variance))
    choice = choice[np.isfinite(of.cost_variance[taken[choice]])]
    if choice.size == 0:
        return moves
    # choices of a state one after the other, the policy's own first, then by their cost
    order = np.lexsort((of.cost[choice], choice != taken[choice], moves.states[choice]))
    choice = choice[order]
    own, size = taken[choice], of.size[choice]
    begins = np.flatnonzero(np.append(True, np.diff(own) != 0))
    group = np.repeat(begins, np.diff(np.append(begins, choice.size)))

    def running(values: FloatArray) -> FloatArray:
        total = np.cumsum(values)
        return np.asarray(total - (total[group] - values[group]))

    # the share in which the best of the first j choices is mixed with them, and what that costs
    over = of.cost[choice] - of.cost[own]
    weight, first, second = running(size), running(size * over), running(size * over**2)
    within = running(size * of.cost_variance[choice]) / weight
    members = np.arange(choice.size) - group + 1
    with np.errstate(divide="ignore", invalid="ignore"):
        chi = np.maximum(second - first**2 / weight, 0.0) / within
        share = np.minimum((members - 1.0) / chi, MOST_MIXED)
        share = share * np.minimum(special.chdtrc(members - 1.0, chi) / DIFFERENT, 1.0)
    share = np.where((within > 0.0) & (members > 1) & (share > LEAST_MIXED), share, 0.0)
    effect = share * first / weight
    # the first place at which the effect is the largest ends the group that is used
    place, number = np.arange(choice.size), np.searchsorted(begins, group)
    largest = effect == np.maximum.reduceat(effect, begins)[number]
    last = np.minimum.reduceat(np.where(largest, place, choice.size), begins)[number]
    used = (place <= last) & (effect[last] > 0.0)
    choice, own, size, last = choice[used], own[used], size[used], last[used]
    if choice.size == 0:
        return moves
    # what is mixed borrows samples from the others: its size grows with the share
    owner, at = spread_rows(choice, moves.outcome_indptr)
    part, whole = share[last], weight[last] - 1.0
    total = (1.0 - part) * moves.totals[own] + part * whole
    mixed = (part * size / weight[last] * total)[owner] * moves.probabilities[at]
    kept = np.ones(moves.num_choices)
    kept[own] = (1.0 - part) * total / moves.totals[own]
    every = np.repeat(np.arange(moves.num_choices), np.diff(moves.outcome_indptr))
    target = np.append(every, own[owner])
    return Transitions(
        moves.states[target],
        moves.actions[target],
        np.append(moves.next_states, moves.next_states[at]),
        np.append(moves.counts * kept[every], mixed),
        np.append(moves.costs, moves.costs[at]),
        moves.num_states,
    )


def standard_deviations(
    moves: Transitions, policy: IntArray, inside: BoolArray, rank: FloatArray, variance: FloatArray
) -> FloatArray:
    """Return √(G² variance) for the policy's moves at the states `inside`; 0 elsewhere."""
    found = np.zeros(policy.size)
    states = np.flatnonzero(inside)
    if states.size == 0:
        return found
    order = states[np.argsort(rank[states], kind="stable")]
    chosen = np.zeros(moves.num_choices, dtype=bool)
    chosen[policy[order]] = True
    own = numbered(moves._process, chosen, order)  # one for each state: a row of the matrix
    rows = Rows(own.ptr, own.heads, own.odds)
    # `Rows` leave out what stays where it is: the noise of one move becomes that until it is left
    stays = np.repeat(moves.states, np.diff(moves.outcome_indptr)) == moves.next_states
    kept = np.add.reduceat(moves.probabilities * stays, moves.outcome_indptr[:-1])
    noise = np.sqrt(variance[order]) / (1.0 - kept[policy[order]])
    if order.size <= DENSE:
        size = np.diff(rows.ptr)
        matrix = np.eye(order.size)
        np.subtract.at(matrix, (np.repeat(np.arange(order.size), size), rows.columns), rows.data)
        found[order] = np.sqrt(np.linalg.inv(matrix) ** 2 @ noise**2)
        return found
    system, rng = PolicySystem(rows), np.random.default_rng(0)
    squares = np.zeros(order.size)
    for _ in range(PROBES):
        squares += system.solve(noise * rng.choice([-1.0, 1.0], order.size), 1e-3) ** 2
    found[order] = np.sqrt(squares / PROBES)
    return found


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
