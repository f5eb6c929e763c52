"""Bounds on a plan's true cost and reach where the odds are estimated from counts.

**The scale on which chance adds up.** Let the *excess* be the cost above that of the luckiest walk
that was seen, and the *hazard* be -log(reach). Along a corridor of risky moves both are sums over
the moves, and so are their errors. Each has a Gamma distribution with the mean and the variance of
its estimate. For counts of rare failures this is exact: k failures in n trials each have the
hazard k / n, with the variance k / n².

**Walks that are lost.** Where failed walks give up, or pay for a fall, cost is bounded above and
skewed towards lower costs. In a corridor of risky moves the excess is a multiple of 1 - reach: what
a lost walk costs. Let B = excess / (1 - reach) be this multiple. The excess is then B (1 - e^-y),
with the hazard y, on which chance adds up. So the lower bound on the excess is no larger than the
one from the Gamma distribution of y, with the variance Var(excess) / (B reach)². It is no larger
than a normal one either, for walks that cannot be lost. The upper bound is always that of the
excess, which allows for retries.

**Mean and variance.** The mean of a field f over the outcomes of a choice with n samples has the
variance Var_x = Σ p (f - f̄)² / n. Costs that differ within an outcome add theirs. Let G be the
expected number of visits, the inverse of I - P under the plan. To first order in the odds, the
plan's field h has the variance

    Var h(s) = Σ_x G(s, x)² Var_x .

To second order it also has a bias, because a walk that comes back to x meets the same error again:
Σ_x G(s, x) Σ_y p_y (f_y - f̄) G(y, x) / n_x. The bias of a long ladder of retries is larger than its
standard deviation, and it is taken off.

**One more sample.** Samples are whole, so k failures say less than a distribution with mean k / n:
the upper end for a Poisson mean comes from Gamma(k + 1), the lower one from Gamma(k) [1]_. For sums
with weights, the one more sample is the heaviest on the walk [2]_: one sample for the whole walk,
and not one per choice. It is the worst outcome that any action had at a state, G(s, x) (f_y - f̄) /
(n_x + 1). It may be an outcome never seen, as bad as giving up (or as the worst state, where giving
up is not allowed). The more surprises were seen, the rarer is one of a new kind: it has the share
1 / (1 + K), K being the shape of the Gamma distribution. In a corridor K is the number of failures
seen. Retries are surprises of cost that say little about failures: where giving up is allowed, the
share for cost is the geometric mean of those of cost and hazard. The pessimistic end is a quantile
of the even mixture of both distributions (mid-p [3]_); the optimistic end is that without the
sample.

**The choice of the plan.** A plan takes the best of several choices, which is the luckiest one if
they are alike (the optimiser's curse). Let the j best choices of a state have the means Q_k and the
sample sizes n_k, the common mean m, the variance u of one sample, and χ² = Σ n_k (Q_k - m)² / u.
Were they alike, χ² would be near j - 1. So the share min(1, (j - 1) / χ²) of their differences is
noise (empirical Bayes [4]_). Let b be this share of m - Q, for the j at which it is largest. The
plan's choice should then cost b more. Its odds are tilted until it does: p_y grows by the factor
1 + b (f_y - Q) / u, f_y being the cost-to-go after the outcome y. To first order this is the least
change of the odds, in relative entropy, with that effect. A prior of `STRENGTH` samples of the odds
of all actions at the state lets an outcome grow that the choice never had.
The effect of the tilt on the plan's field, and the variance under the tilted odds, give a second
pessimistic end. The worse of the two counts.

Guarantee
    None that holds for every process. Intervals for the odds have one (`intervals.confident`), and
    are wide. The how-to "How sure is my agent?" has the coverage; `benchmarks/coverage.py`
    measures it, and says which families were used to choose the rule.

References
----------
.. [1] F. Garwood, Fiducial limits for the Poisson distribution, Biometrika 28, 1936.
.. [2] M. P. Fay, E. J. Feuer, Confidence intervals for directly standardized rates: a method based
   on the gamma distribution, Statistics in Medicine 16, 1997.
.. [3] M. P. Fay, S. Kim, Confidence intervals for directly standardized rates using mid-p gamma
   intervals, Biometrical Journal 59, 2017.
.. [4] R. DerSimonian, N. Laird, Meta-analysis in clinical trials, Controlled Clinical Trials 7,
   1986.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse, special

from ..numerics.csr import entries_of
from ..typing import BoolArray, FloatArray, IntArray
from .solver import PolicySystem, policy_rows
from .transitions import Transitions

if TYPE_CHECKING:
    from .expected import ExpectedCost

STRENGTH = 1 / 2
"""Samples that the prior on outcomes seen at the state is worth, where odds are tilted."""
FEW_DEVIATIONS = 3.0
"""Standard deviations by which a sample's cost may differ from the mean cost of its outcome."""
LEAST_FACTOR = 0.05
"""Least factor by which a tilt changes odds."""
DENSE = 1_000
"""Number of states up to which visits are computed exactly, by an inverse."""
PROBES = 100
"""Random signs by which variances are estimated beyond that: to 7 % of a standard deviation."""
MOST_SWEEPS = 10_000
"""Largest number of sweeps in the search for the heaviest sample, beyond `DENSE` states."""
HALVINGS = 50
"""Bisections for a quantile of a mixture."""


class Moments(NamedTuple):
    """Per choice: mean cost-to-go, and the variance of cost and of reach in one sample."""

    cost: FloatArray
    cost_variance: FloatArray
    reach_variance: FloatArray


class Noise(NamedTuple):
    """Per state: a field's variance, its bias, and the effect of one more sample.

    `seen` is that of the worst outcome possible at some state of the walk, `unseen` that of the
    worst conceivable.
    """

    variance: FloatArray
    bias: FloatArray
    seen: FloatArray
    unseen: FloatArray


def posterior(moves: Transitions, support: Transitions | None) -> Transitions:
    """Return the counts with a prior on all outcomes that are known to be possible."""
    if support is None:
        return moves.shrunk(STRENGTH)
    both = moves._on_support(support)
    choice = both._outcome_choices
    prior = STRENGTH / np.bincount(choice)[choice]
    return moves._with_more(choice, both.next_states, prior, both.costs, both.cost_spread)


def moments(
    moves: Transitions, values: FloatArray, reach: FloatArray, within: FloatArray
) -> Moments:
    """Return the moments of one sample of every choice; not finite where its outcomes are not.

    `within` is the mean variance of costs within the outcomes of every choice.
    """
    first, odds, own = moves.outcome_indptr[:-1], moves.probabilities, moves._outcome_choices
    cost, arrived = moves.costs + values[moves.next_states], reach[moves.next_states]
    with np.errstate(invalid="ignore"):
        mean, hit = np.add.reduceat(odds * cost, first), np.add.reduceat(odds * arrived, first)
        # centred first: the values may be far from 0
        cost, arrived = cost - mean[own], arrived - hit[own]
        return Moments(
            mean,
            np.add.reduceat(odds * cost**2, first) + within,
            np.add.reduceat(odds * arrived**2, first),
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
    own, size = taken[choice], moves.totals[choice]
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


def luckiest(moves: Transitions, policy: IntArray, values: FloatArray) -> FloatArray:
    """Return the least cost of a walk under the policy; `values` where it makes no move."""
    states = np.flatnonzero((policy >= 0) & np.isfinite(values))
    least = values.copy()
    if states.size == 0:
        return least
    least[states] = np.inf
    own, at = entries_of(policy[states], moves.outcome_indptr)
    first = np.flatnonzero(np.append(True, np.diff(own) != 0))
    paid = np.maximum(moves.costs - FEW_DEVIATIONS * moves.cost_spread, 0.0)[at]
    while True:
        found = np.minimum.reduceat(paid + least[moves.next_states[at]], first)
        if (found == least[states]).all():
            return np.minimum(least, values)
        least[states] = found


def noise(
    moves: Transitions,
    policy: IntArray,
    inside: BoolArray,
    rank: FloatArray,
    following: FloatArray,
    variance: FloatArray,
    worst: list[FloatArray],
) -> Noise:
    """Return the noise of a plan's field at the states `inside`; 0 elsewhere.

    `following` is the field after every outcome, with what the outcome costs; `variance` is that of
    one sample of every choice. `worst` is how much worse than the mean an outcome of every choice
    can be, seen and unseen.
    """
    found = Noise(*(np.zeros(policy.size) for _ in range(4)))
    states = np.flatnonzero(inside)
    if states.size == 0:
        return found
    order = states[np.argsort(rank[states], kind="stable")]
    taken = policy[order]
    system = PolicySystem(policy_rows(moves._process, policy, order))
    # the matrix leaves out moves that stay, so count the noise of all moves until the state is left
    at = moves._outcome_choices
    kept = np.bincount(at, moves.probabilities * (moves.states[at] == moves.next_states))
    visits, size = 1.0 / (1.0 - kept[taken]), moves.totals[taken]
    deviation = np.sqrt(variance[taken] / size)

    # outcomes of the plan's choices, by places in the order, and how they differ from the mean
    place = np.full(policy.size, -1)
    place[order] = np.arange(order.size)
    row, at = entries_of(taken, moves.outcome_indptr)
    column, odds = place[moves.next_states[at]], moves.probabilities[at]
    after = np.where(np.isfinite(following[at]), following[at], 0.0)
    share = odds * (after - np.bincount(row, odds * after, order.size)[row])
    inner = column >= 0
    row, column, share = row[inner], column[inner], share[inner]
    heavy = [visits * np.maximum(more[taken], 0.0) / (size + 1.0) for more in worst]
    if order.size <= DENSE:
        inverse = np.linalg.inv(system.matrix.toarray())
        found.variance[order] = inverse**2 @ (visits * deviation) ** 2
        returns = np.bincount(row, share * inverse[column, row], order.size) * visits
        for weights, into in zip(heavy, found[2:], strict=True):
            into[order] = (inverse * weights).max(axis=1)
    else:
        rng = np.random.default_rng(0)
        squares, returns = np.zeros(order.size), np.zeros(order.size)
        for _ in range(PROBES):
            signs = rng.choice([-1.0, 1.0], order.size)
            x = system.solve(visits * deviation * signs, 1e-3)
            squares += x**2
            returns += signs * np.bincount(row, share * x[column], order.size)
        found.variance[order] = squares / PROBES
        with np.errstate(invalid="ignore", divide="ignore"):
            returns = np.where(deviation > 0.0, returns / deviation / PROBES, 0.0)
        # the heaviest sample that a walk can wait for: the least superharmonic majorant
        step = sparse.eye_array(order.size, format="csr") - system.matrix
        for weights, into in zip(heavy, found[2:], strict=True):
            for _ in range(MOST_SWEEPS):
                before, weights = weights, np.maximum(weights, np.asarray(step @ weights))
                if (weights <= before * (1.0 + 1e-6)).all():
                    break
            into[order] = weights
    found.bias[order] = system.solve(visits * returns / size, 1e-9)
    return found


def unbiased(mean: FloatArray, bias: FloatArray) -> FloatArray:
    """Return a mean of 0 or more without its bias."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((bias > 0.0) & (mean > 0.0), mean / (1.0 + bias / mean), mean - bias)


def gamma_quantile(
    mean: FloatArray, variance: FloatArray, share: float, more: FloatArray | float = 0.0
) -> FloatArray:
    """Return quantiles of Gamma distributions with this mean and variance.

    With `more`, they are those of an even mixture with the Gamma distribution of a sum with one
    more term, of this mean and standard deviation.
    """
    means = np.stack([mean, mean + more])
    variances = np.stack([variance, variance + np.square(more)])
    certain = (means <= 0.0) | (variances <= 1e-24 * means**2)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        scale = variances / means
        found = np.where(certain, means, special.gammaincinv(means / scale, share) * scale)
        low, high = found.min(axis=0), found.max(axis=0)
        for _ in range(HALVINGS if np.any(more) else 0):
            middle = (low + high) / 2
            below = special.gammainc(means / scale, middle / scale)
            below = np.where(certain, middle >= means, below).mean(axis=0) < share
            low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(high)


def new_kinds(mean: FloatArray, variance: FloatArray) -> FloatArray:
    """Return the share of surprises that are of a new kind: 1 / (1 + shape)."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.asarray(1.0 / (1.0 + np.nan_to_num(mean**2 / variance, nan=0.0)))


def ends(
    mean: FloatArray, plain: Noise, worse: Noise, luck: FloatArray, new: FloatArray, tail: float
) -> tuple[FloatArray, FloatArray]:
    """Return both quantiles of an excess or a hazard; `luck` is what the tilt adds to it."""
    extra = np.maximum(plain.seen, new * plain.unseen)
    high = gamma_quantile(mean, plain.variance, 1.0 - tail, extra)
    higher = gamma_quantile(mean + luck, worse.variance, 1.0 - tail, worse.seen)
    low = gamma_quantile(mean, plain.variance, tail)
    return low, np.where(luck > 1e-9 * mean, np.maximum(high, higher), high)


def noises(
    at: ExpectedCost, possible: Transitions, within: FloatArray, unseen: float | None
) -> tuple[Noise, Noise]:
    """Return the noise of a plan's cost and of its reach; arguments as in `confidence_bounds`."""
    moves, values, reach = at.transitions, at.values, at.reach
    policy, first = moves._choices(at.plan), possible.outcome_indptr[:-1]
    of = moments(moves, values, reach, within)
    after, arrived = possible.costs + values[possible.next_states], reach[possible.next_states]
    with np.errstate(invalid="ignore"):
        # what the worst outcome and the worst conceivable one would change, for every choice
        most = np.maximum.reduceat(np.where(np.isfinite(after), after, -np.inf), first)
        most += np.minimum(np.sqrt(moves.totals), FEW_DEVIATIONS) * np.sqrt(within)
        cost = [most - values[moves.states]] * 2
        lost = [reach[moves.states] - np.minimum.reduceat(arrived, first)] * 2
        if unseen is not None:
            bottom = unseen if unseen < np.inf else values[np.isfinite(values)].max()
            paid = np.bincount(moves._outcome_choices, moves.probabilities * moves.costs)
            cost[1] = bottom + paid - values[moves.states]
            lost[1] = reach[moves.states] * (unseen < np.inf)
    inside = (policy >= 0) & np.isfinite(values), (policy >= 0) & (reach > 0.0)
    after, arrived = moves.costs + values[moves.next_states], reach[moves.next_states]
    return (
        noise(moves, policy, inside[0], values, after, of.cost_variance, cost),
        noise(moves, policy, inside[1], values, arrived, of.reach_variance, lost),
    )


def confidence_bounds(
    plain: ExpectedCost,
    seen: ExpectedCost,
    worse: ExpectedCost,
    within: FloatArray,
    unseen: float | None,
    tail: float,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return bounds on cost and reach, from the counts, all possible outcomes, and tilted odds.

    `within` is the mean variance of costs within the outcomes of every choice, and `unseen` the
    cost of an outcome never seen: infinite for that of the worst state, None if there is none.
    """
    values, reach, policy = plain.values, plain.reach, plain.transitions._choices(plain.plan)
    finite = (policy >= 0) & np.isfinite(values) & np.isfinite(worse.values)
    arriving = (policy >= 0) & (reach > 0.0) & (worse.reach > 0.0)
    both = [noises(at, seen.transitions, within, unseen) for at in (plain, worse)]
    with np.errstate(invalid="ignore", divide="ignore"):
        # Reach: the hazard.
        hazards, bias = [], both[0][1].bias
        for at, (_, of) in zip((plain, worse), both, strict=True):
            h = np.where(arriving, at.reach, 1.0)
            more = np.log1p(of.seen / h), np.log1p(of.unseen / h)
            hazards.append(Noise(of.variance / h**2, of.bias, *more))
        h = np.where(arriving, reach, 1.0)
        h = np.where(bias > 0.0, unbiased(h, bias), 1.0 - unbiased(1.0 - h, -bias))
        hazard = np.maximum(-np.log(h), 0.0)
        luck = np.where(arriving, np.maximum(np.log(seen.reach / worse.reach), 0.0), 0.0)
        failures = new_kinds(hazard, hazards[0].variance)
        least, most = ends(hazard, hazards[0], hazards[1], luck, failures, tail)

        # Cost: the excess over the luckiest walk; the lower end also by what lost walks cost.
        floor, of = luckiest(plain.transitions, policy, values), both[0][0]
        luck = np.where(finite, np.maximum(worse.values - seen.values, 0.0), 0.0)
        excess = unbiased(np.where(finite, values - floor, 0.0), of.bias)
        new = new_kinds(excess, of.variance)
        if unseen is not None and unseen < np.inf:
            new = np.sqrt(new * failures)
        low, high = ends(excess, of, both[1][0], luck, new, tail)
        low = np.minimum(low, excess + special.ndtri(tail) * np.sqrt(of.variance))
        lost = arriving & (h < 1.0)
        whole = np.where(lost, excess / (1.0 - h), 1.0)
        fewest = gamma_quantile(hazard, of.variance / (whole * h) ** 2, tail)
        low = np.where(lost, np.minimum(low, -whole * np.expm1(-fewest)), low)
        cost_low = np.where(finite, floor + np.maximum(low, 0.0), values)
        cost_high = np.where(finite, floor + high, np.where(policy >= 0, np.inf, values))
    # where no sample led to an arrival, there is no hazard to bound
    open_ = (policy >= 0) & ~arriving
    reach_low = np.where(arriving, np.exp(-most), np.where(open_, 0.0, reach))
    reach_high = np.where(
        open_ & (seen.reach > 0.0), 1.0, np.where(arriving, np.exp(-least), reach)
    )
    return cost_low, cost_high, reach_low, reach_high
