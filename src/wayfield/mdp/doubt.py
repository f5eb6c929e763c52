"""Bounds on a plan's true cost and reach where the odds are estimated from counts.

There are three sources of error.

**Few samples.** A choice with the posterior weights w_y (counts and prior), of total A, has
Dirichlet odds. The mean of a field f over its outcomes then has the variance
(Σ p f² - (Σ p f)²) / (A + 1), p = w / A. Let G be the expected number of visits, the inverse of
I - P under the plan. To first order in the odds, the plan's field h has the variance

    Var h(s) = Σ_x G(s, x)² Var_x .

Reach has the quantiles of the Beta distribution with this mean and variance, which is exact for a
single move. Cost has those of a log-normal one, above the least value that a walk can end with.

**Outcomes not yet seen.** The prior of a choice is worth `STRENGTH` samples, spread evenly over all
outcomes that any action had at the state. Something never seen there may follow, too. By Good and
Turing its odds are near (number of outcomes seen once) / (number of samples). The part
`UNSEEN_ODDS` of this mass is used. Of that, the share `SINK` goes to giving up, and the rest to the
states two moves away. None of it is used if the possible outcomes are given (`support`).

**The choice of the plan.** A plan takes the best of several choices, which is the luckiest one if
they are alike (the optimiser's curse). Let the j best choices of a state have the means Q_k and the
sample sizes n_k, the common mean m, the variance u of one sample, and χ² = Σ n_k (Q_k - m)² / u.
Were they alike, χ² would be near j - 1. So the share min(1, (j - 1) / χ²) of their differences is
noise (empirical Bayes [1]_). Let b be this share of m - Q, for the j at which it is largest. The
plan's choice should then cost b more. Its odds are tilted until it does: p_y grows by the factor
1 + b (f_y - Q) / u, f_y being the cost-to-go after the outcome y. To first order this is the least
change of the odds, in relative entropy, with that effect. The plan is evaluated again under the
tilted odds.

**The bounds.** The corrections for unseen outcomes and for luck both make a plan look worse. They
are not added up: the tilted odds have no unseen outcomes. The pessimistic bound is the worse of
two, from the full posterior and from the tilted odds. The second has a tail twice as large, because
the tilt takes the largest effect. The optimistic bound comes from the full posterior, or is the
figure of the plain counts if that is better.

Guarantee
    None that holds for every process: with few samples only intervals for the odds have one, and
    they are vacuous (`intervals`). The constants were chosen on 35 families of processes.
    The how-to "How sure is my agent?" has the coverage on ten others, written afterwards;
    `benchmarks/coverage.py` measures it.

References
----------
.. [1] R. DerSimonian, N. Laird, Meta-analysis in clinical trials, Controlled Clinical Trials 7,
   1986.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse, special

from ..numerics.csr import entries_of
from ..typing import BoolArray, FloatArray, IntArray
from .solver import PolicySystem, policy_rows
from .transitions import Transitions

STRENGTH = 1 / 2
"""Samples that the prior on outcomes seen at the state is worth."""
UNSEEN_ODDS = 1 / 4
"""Part of the Good–Turing mass that goes to outcomes never seen at the state."""
SINK = 2 / 5
"""Share of that part that ends the walk."""
MOST_NEAR = 100
"""States with more outcomes count as hubs, through which no unseen outcome is sought."""
LEAST_FACTOR = 0.05
"""Least factor by which a tilt changes odds."""
DENSE = 1_000
"""Number of states up to which visits are computed exactly, by an inverse."""
PROBES = 100
"""Random signs by which variances are estimated beyond that: to 7 % of a standard deviation."""


class Moments(NamedTuple):
    """Per choice: mean cost-to-go, variance of cost and of reach in one sample, sample size."""

    cost: FloatArray
    cost_variance: FloatArray
    reach_variance: FloatArray
    size: FloatArray


def posterior(
    moves: Transitions, support: Transitions | None, *, unseen: bool, sink: bool
) -> Transitions:
    """Return the counts with their prior; the last state, one more than before, is the sink."""
    n, k = moves.num_states, moves.num_choices
    choices, states, own = np.arange(k), moves.states, moves._outcome_choices
    mean_cost = np.bincount(own, moves.counts * moves.costs) / moves.totals
    rows: list[tuple[IntArray, IntArray, FloatArray, FloatArray]]
    rows = [(own, moves.next_states, moves.counts, moves.costs)]
    if support is None:
        # every outcome seen at a state, with its count, and what was paid for it
        where = (states[own], moves.next_states)
        seen = sparse.csr_array((moves.counts, where), (n, n))
        paid = sparse.csr_array((moves.counts * moves.costs, where), (n, n))
        seen.sum_duplicates()
        paid.sum_duplicates()
        owner, at = entries_of(states, seen.indptr)
        cost = paid.data[at] / seen.data[at]
        rows.append((owner, seen.indices[at], STRENGTH / np.diff(seen.indptr)[states[owner]], cost))
        if unseen:
            pattern = sparse.csr_array((np.ones(seen.nnz), seen.indices, seen.indptr), (n, n))
            once = np.bincount(
                np.repeat(np.arange(n), np.diff(seen.indptr))[seen.data <= 1.0], minlength=n
            )
            total: FloatArray = np.asarray(seen.sum(axis=1))
            mass = (UNSEEN_ODDS * (once + 1.0) / (total + 1.0))[states] * moves.totals
            # States two moves away that did not follow here. Not through hubs: all that follows a
            # hub would be near to all that leads there.
            narrow = np.diff(pattern.indptr) <= MOST_NEAR
            near = (pattern @ (sparse.diags_array(narrow.astype(float)) @ pattern)).tocsr()
            near.eliminate_zeros()
            near.data[:] = 1.0
            near = (near - pattern.multiply(near)).tocsr()
            near.eliminate_zeros()
            share = SINK if sink else 0.0
            owner, at = entries_of(states, near.indptr)
            weight = (1.0 - share) * mass[owner] / np.diff(near.indptr)[states[owner]]
            rows.append((owner, near.indices[at], weight, mean_cost[owner]))
            if sink:
                rows.append((choices, np.full(k, n), share * mass, mean_cost))
    else:
        choice, following, cost = moves._on_support(support)
        sizes = np.bincount(choice, minlength=k)
        rows.append((choice, following, STRENGTH / sizes[choice], cost))
    choice, following, count, cost = (np.concatenate(part) for part in zip(*rows, strict=True))
    return moves._with_outcomes(choice, following, count, cost, n + 1)


def moments(moves: Transitions, values: FloatArray, reach: FloatArray) -> Moments:
    """Return the moments of one sample of every choice; not finite where its outcomes are not."""
    first, odds, own = moves.outcome_indptr[:-1], moves.probabilities, moves._outcome_choices
    cost, arrived = moves.costs + values[moves.next_states], reach[moves.next_states]
    with np.errstate(invalid="ignore"):
        mean, hit = np.add.reduceat(odds * cost, first), np.add.reduceat(odds * arrived, first)
        # centred first: the values may be far from 0
        cost, arrived = cost - mean[own], arrived - hit[own]
        return Moments(
            mean,
            np.add.reduceat(odds * cost**2, first),
            np.add.reduceat(odds * arrived**2, first),
            moves.totals + 1.0,
        )


def tilted(moves: Transitions, policy: IntArray, values: FloatArray, of: Moments) -> Transitions:
    """Return the process with the odds of the policy's choices made worse by what was luck."""
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

    # the share of luck in the best of the first j choices, and what it costs: the largest counts
    over = of.cost[choice] - of.cost[own]
    weight, first, second = running(size), running(size * over), running(size * over**2)
    within = running(size * of.cost_variance[choice]) / weight
    members = np.arange(choice.size) - group + 1
    with np.errstate(divide="ignore", invalid="ignore"):
        chi = np.maximum(second - first**2 / weight, 0.0) / within
        share = np.minimum((members - 1.0) / chi, 1.0)
    share = np.where((within > 0.0) & (members > 1), share, 0.0)
    luck = np.zeros(moves.num_choices)
    luck[own[begins]] = np.maximum.reduceat(share * first / weight, begins)
    # tilt odds until the mean cost-to-go is higher by this; totals stay
    at = moves._outcome_choices
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        slope = np.where((luck > 0.0) & (of.cost_variance > 0.0), luck / of.cost_variance, 0.0)
        above = moves.costs + values[moves.next_states] - of.cost[at]
        factor = np.maximum(1.0 + slope[at] * above, LEAST_FACTOR)
    counts = moves.counts * np.where(slope[at] > 0.0, factor, 1.0)
    return moves._with_odds(counts * (moves.totals / np.bincount(at, counts))[at])


def standard_deviations(
    moves: Transitions, policy: IntArray, inside: BoolArray, rank: FloatArray, variance: FloatArray
) -> FloatArray:
    """Return √(G² variance) for the policy's moves at the states `inside`; 0 elsewhere."""
    found = np.zeros(policy.size)
    states = np.flatnonzero(inside)
    if states.size == 0:
        return found
    order = states[np.argsort(rank[states], kind="stable")]
    system = PolicySystem(policy_rows(moves._process, policy, order))
    # the matrix leaves out moves that stay, so count the noise of all moves until the state is left
    at = moves._outcome_choices
    kept = np.bincount(at, moves.probabilities * (moves.states[at] == moves.next_states))
    noise = np.sqrt(variance[order]) / (1.0 - kept[policy[order]])
    if order.size <= DENSE:
        found[order] = np.sqrt(np.linalg.inv(system.matrix.toarray()) ** 2 @ noise**2)
        return found
    rng, squares = np.random.default_rng(0), np.zeros(order.size)
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
