"""Bounds on a plan's cost and reach: closed forms, principles, and coverage in known worlds."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.coverage import cards, drawn, judged, rare_failures, slippery_grid
from scipy.stats import beta, gamma

import wayfield as wf
from wayfield.mdp import doubt as rule


@pytest.mark.parametrize(("samples", "least", "widest"), [(10, 0.9, 0.7), (100, 0.9, 0.18)])
def test_the_truth_is_inside(samples: int, least: float, widest: float) -> None:
    """Before outcomes unseen and the choice of a plan counted, it was inside in .36 to .57."""
    tries = [judged(make, samples, seed) for make in (slippery_grid, cards) for seed in range(30)]
    found = [one for one in tries if one is not None]
    low, true, high = np.array([one.reach for one in found]).T
    assert len(found) > 50
    assert ((low <= true) & (true <= high)).mean() >= least
    assert (high - low).mean() <= widest
    low, true, high = np.array([one.cost for one in found]).T
    assert ((low <= true) & (true <= high)).mean() >= least


def counted(failures: list[int], samples: int) -> wf.Transitions:
    """A corridor with these failures at its states; the last state is the pit."""
    n = len(failures)
    state, fails = np.repeat(np.arange(n), 2), np.array(failures)
    ends = np.stack([np.arange(1, n + 1), np.full(n, n + 1)], axis=1).ravel()
    counts = np.stack([samples - fails, fails], axis=1).ravel()
    seen = counts > 0
    rows = (state[seen], np.zeros(seen.sum(), int), ends[seen], counts[seen])
    return wf.Transitions(*rows, num_states=n + 2)


def test_hazards_of_a_corridor_have_the_limits_of_a_poisson_mean() -> None:
    """Ten moves, four failures in all: Gamma(4), and for the lower end half Gamma(5)."""
    samples = 10_000
    moves = counted([1, 0, 0, 2, 0, 0, 0, 1, 0, 0], samples)
    found = wf.expected_cost(moves, 10, give_up=50.0).doubt(0.9)
    low, high = (-np.log(end[0]) * samples for end in (found.reach_high, found.reach_low))
    assert low == pytest.approx(gamma(4).ppf(0.05), rel=1e-3)
    assert (gamma(4).cdf(high) + gamma(5).cdf(high)) / 2 == pytest.approx(0.95, abs=1e-3)


def test_without_failures_reach_has_the_rule_of_three() -> None:
    """One sample for the whole walk, whatever its length; the mid-p end is -log 0.05 / n."""
    for length in (1, 40):
        found = wf.expected_cost(counted([0] * length, 1000), length, give_up=90.0).doubt()
        assert found.reach_high[0] == 1.0
        assert -np.log(found.reach_low[0]) * 1000 == pytest.approx(-np.log(0.05), rel=2e-3)
        assert found.cost_low[0] == pytest.approx(length)
        assert found.cost_high[0] > length + 0.1


def test_bounds_hold_in_a_corridor_and_are_not_its_estimate() -> None:
    """Fifty moves that fail with 1 %: half of the worlds were covered, most bounds an estimate."""
    rng, held, widths = np.random.default_rng(0), [], []
    for _ in range(100):
        field = wf.expected_cost(counted(rng.binomial(100, 0.01, 50).tolist(), 100), 50, 200.0)
        found = field.doubt()
        assert found.reach_low[0] < field.reach[0] < found.reach_high[0]
        assert found.cost_low[0] < field.values[0] < found.cost_high[0]
        held.append(found.reach_low[0] <= 0.99**50 <= found.reach_high[0])
        widths.append(found.reach_high[0] - found.reach_low[0])
    assert np.mean(held) >= 0.91
    # the estimate has a standard deviation of .043
    assert np.mean(widths) <= 1.15 * 2 * 1.96 * 0.043


def test_the_lower_bound_on_cost_is_that_of_the_walks_that_are_not_lost() -> None:
    """Ten moves, ten samples and a failure each: cost is skewed, as its bound must be."""
    field = wf.expected_cost(counted([1] * 10, 10), 10, 80.0)
    found = field.doubt()
    lost = (field.values[0] - 10.0) / (1.0 - field.reach[0])  # what a lost walk costs
    least = 10.0 + lost * (1.0 - found.reach_high[0])
    assert found.cost_low[0] == pytest.approx(least, rel=0.01)
    assert 39.0 < found.cost_low[0] < 40.5  # 41.9 from the excess alone


def test_a_ladder_of_retries_is_not_off_by_its_bias() -> None:
    """The mean of n / k is too large by 1 % at each rung, and rungs add up."""
    rng, held = np.random.default_rng(0), []
    rungs, samples = 60, 50
    for _ in range(100):
        k = rng.binomial(samples, 0.5, rungs)
        state = np.repeat(np.arange(rungs), 2)
        ends = state + np.tile([1, 0], rungs)
        counts = np.stack([k, samples - k], axis=1).ravel()
        moves = wf.Transitions(state, np.zeros(2 * rungs, int), ends, counts)
        found = wf.expected_cost(moves, rungs).doubt(0.9)
        held.append(found.cost_low[0] <= 2.0 * rungs <= found.cost_high[0])
    assert np.mean(held) >= 0.83  # .75 without the correction


def test_costs_that_differ_within_an_outcome_count() -> None:
    """Nine moves that cost 1 and one that costs 91: the mean of 10 says little."""
    costs = [1.0] * 9 + [91.0]
    moves = wf.Transitions([0] * 10, [0] * 10, [1] * 10, cost=costs)
    assert moves.cost_spread.tolist() == [pytest.approx(27.0)]
    found = wf.expected_cost(moves, 1).doubt()
    assert 0.0 <= found.cost_low[0] < 5.0
    assert 30.0 < found.cost_high[0] < 91.0
    # many samples: the interval of a mean
    many = wf.Transitions([0] * 1000, [0] * 1000, [1] * 1000, cost=costs * 100)
    found = wf.expected_cost(many, 1).doubt()
    assert found.cost_low[0] == pytest.approx(10 - 1.96 * 27 / np.sqrt(1000), abs=0.2)
    assert found.cost_high[0] == pytest.approx(10 + 1.96 * 27 / np.sqrt(1000), abs=0.4)
    assert wf.Transitions([0, 0], [0, 0], [1, 1], cost=[3.0, 3.0]).cost_spread.tolist() == [0.0]
    weighted = wf.Transitions([0, 0], [0, 0], [1, 1], [3, 1], cost=[1e99, 5e99])
    assert weighted.cost_spread[0] == pytest.approx(np.sqrt(3) * 1e99)


def test_a_tilt_costs_what_was_luck() -> None:
    """Two like choices, 80 and 73 of 100: part of what is between them was luck."""
    moves = wf.Transitions([0, 0, 0, 0], [0, 0, 1, 1], [1, 2, 1, 2], [80, 20, 73, 27])
    values, policy = np.array([0.0, 0.0, 10.0]), np.array([0, -1, -1])
    of = rule.moments(moves, values, np.array([0.0, 1.0, 0.0]), np.zeros(2))
    found = rule.tilted(moves, policy, values, of)
    chi = 100 * 2 * 0.35**2 / of.cost_variance.mean()
    assert chi > 1.0
    paid = np.add.reduceat(
        found.probabilities * (1.0 + values[found.next_states]), found.outcome_indptr[:-1]
    )
    assert paid[0] == pytest.approx(of.cost[0] + 0.35 / chi, rel=1e-12)
    assert paid[1] == pytest.approx(of.cost[1])
    assert found.totals == pytest.approx(moves.totals)


def looped(rng: np.random.Generator) -> tuple[wf.Transitions, np.ndarray]:
    """Counts of one action at five states, with moves from x to x, and their odds."""
    counts = rng.integers(0, 4, (6, 6)) + np.diag(rng.integers(1, 9, 6))
    counts[:, 5] += 1  # the goal follows everywhere
    tails, heads = np.nonzero(counts[:5])
    moves = wf.Transitions(tails, np.zeros(tails.size, int), heads, counts[tails, heads])
    return moves, counts[:5] / counts[:5].sum(axis=1, keepdims=True)


@pytest.mark.parametrize("dense", [1_000, 0])
def test_noise_against_dense_matrices(dense: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every visit counts; with `dense` = 0 as in large processes, by more random signs."""
    monkeypatch.setattr(rule, "DENSE", dense)
    monkeypatch.setattr(rule, "PROBES", 4_000)
    rng = np.random.default_rng(0)
    for _ in range(5):
        moves, odds = looped(rng)
        policy = np.append(np.arange(5), -1)
        visits = np.linalg.inv(np.eye(5) - odds[:, :5])
        values = np.append(visits @ np.ones(5), 0.0)
        after = moves.costs + values[moves.next_states]
        variance = odds @ (1.0 + values) ** 2 - values[:5] ** 2
        worst = [rng.uniform(0.0, 3.0, 5), np.zeros(5)]
        found = rule.noise(moves, policy, policy >= 0, values, after, variance, worst)
        near = 1e-8 if dense else 0.1
        assert found.variance[:5] == pytest.approx(visits**2 @ (variance / moves.totals), rel=near)
        again = np.einsum("xy,y,yx->x", odds[:, :5], values[:5], visits)
        again -= (values[:5] - 1.0) * np.einsum("xy,yx->x", odds[:, :5], visits)
        bias = visits @ (again / moves.totals)
        assert found.bias[:5] == pytest.approx(bias, rel=near, abs=near * bias.max())
        heaviest = (visits * worst[0] / (moves.totals + 1.0)).max(axis=1)
        if dense:
            assert found.seen[:5] == pytest.approx(heaviest)
        else:  # the returns to a state from others are left out, and where to wait is chosen
            assert (found.seen[:5] <= 2.0 * heaviest).all()
            assert (found.seen[:5] >= 0.2 * heaviest).all()


def test_a_choice_of_many_alike_is_doubted_more() -> None:
    """The best of ten like actions was lucky; the same counts by themselves were not chosen."""
    rng = np.random.default_rng(0)
    won = rng.binomial(100, 0.8, 10)
    state, action = np.zeros(20, int), np.repeat(np.arange(10), 2)
    ends, counts = np.tile([1, 2], 10), np.stack([won, 100 - won], axis=1).ravel()
    several = wf.expected_cost(wf.Transitions(state, action, ends, counts), 1, give_up=50.0)
    best = int(np.argmax(won))
    assert several.plan[0] == best
    alone = wf.Transitions([0, 0], [best, best], [1, 2], [won[best], 100 - won[best]])
    single = wf.expected_cost(alone, 1, give_up=50.0)
    assert several.doubt().reach_low[0] < single.doubt().reach_low[0] - 0.01
    assert several.doubt().reach_low[0] < 0.8


ROOMS = [
    (0, 0, 1, 14, 1.0), (0, 0, 0, 5, 1.0), (0, 0, 4, 1, 2.0), (0, 1, 1, 9, 1.5),
    (0, 1, 0, 4, 1.0), (0, 1, 4, 1, 1.0), (1, 0, 2, 30, 2.0), (1, 0, 2, 10, 5.0),
    (1, 0, 0, 6, 1.0), (1, 0, 4, 1, 1.0), (1, 1, 2, 22, 3.0), (1, 1, 4, 2, 1.0),
    (2, 0, 3, 18, 1.0), (2, 0, 1, 7, 0.5), (2, 0, 4, 1, 1.0), (2, 1, 3, 8, 1.0),
    (2, 1, 2, 3, 1.0), (2, 1, 4, 1, 1.0),
]  # fmt: skip
"""Three rooms with two doors each: retries, a pit, and costs that differ within an outcome."""


@pytest.mark.parametrize(
    ("level", "known", "bounds"),
    [
        (0.95, False, [[5.9528615, 4.2077919, 1.0], [23.983374, 17.687555, 12.8249212],
                       [0.56209, 0.6966988, 0.7525579], [0.9694354, 0.9845889, 0.9957502]]),
        (0.95, True, [[5.9528615, 4.2077919, 1.0], [24.2896978, 17.9938418, 13.1466887],
                      [0.5485907, 0.6866778, 0.7441812], [0.9694354, 0.9845889, 0.9957502]]),
        (0.8, False, [[8.1989869, 5.8561439, 1.953674], [20.3662808, 14.9367029, 9.8773963],
                      [0.6458134, 0.7621668, 0.8179907], [0.9436447, 0.9695231, 0.988027]]),
    ],
)  # fmt: skip
def test_the_rule_is_the_one_whose_coverage_was_measured(
    level: float, known: bool, bounds: list[list[float]]
) -> None:
    """Another rule gives other numbers, and needs another run of `benchmarks/coverage.py`."""
    moves = wf.Transitions(*map(list, zip(*ROOMS, strict=True)), num_states=5)
    field = wf.expected_cost(moves, 3, 40.0)
    found = field.doubt(level, moves.shrunk(1.0) if known else None)
    ends = (found.cost_low, found.cost_high, found.reach_low, found.reach_high)
    for end, expected in zip(ends, bounds, strict=True):
        assert end[:3] == pytest.approx(expected, rel=1e-6)


def test_a_hub_takes_no_more_memory_than_its_outcomes() -> None:
    k = 20_000
    state = np.append(np.zeros(k, int), np.arange(1, k + 1))
    following = np.append(np.arange(1, k + 1), np.where(np.arange(k) % 2, 0, k + 1))
    counts = np.random.default_rng(0).integers(1, 5, 2 * k)
    hub = wf.Transitions(state, np.zeros(2 * k, int), following, counts)
    found = wf.expected_cost(hub, k + 1).doubt()
    assert found.cost_low[0] < found.cost_high[0]


# ------------------------------------------------------------------ with a guarantee


def test_a_guarantee_for_one_move_is_that_of_clopper_and_pearson() -> None:
    """With known outcomes and a given plan; with a plan of one's own making, for all choices."""
    moves = wf.Transitions([0, 0, 0], [0, 0, 1], [1, 2, 2], [9, 3, 4])
    field = wf.expected_cost(moves, 1, give_up=10.0, plan=[0, -1, -1])
    support = wf.Transitions([0, 0, 0, 0], [0, 0, 1, 1], [1, 2, 1, 2])
    found = field.doubt(0.9, support, guarantee=True)
    assert found.reach_low[0] == pytest.approx(beta(9, 4).ppf(0.05), abs=1e-9)
    assert found.reach_high[0] == pytest.approx(beta(10, 3).ppf(0.95), abs=1e-9)
    assert found.cost_low[0] == pytest.approx(1 + 10 * (1 - found.reach_high[0]), abs=1e-6)
    assert found.cost_high[0] == pytest.approx(1 + 10 * (1 - found.reach_low[0]), abs=1e-6)
    chosen = wf.expected_cost(moves, 1, give_up=10.0).doubt(0.9, support, guarantee=True)
    assert chosen.reach_low[0] == pytest.approx(beta(9, 4).ppf(0.025), abs=1e-9)


def test_a_guarantee_allows_for_outcomes_never_seen() -> None:
    """Ten moves that never failed may fail; two that had one outcome each may lead anywhere."""
    sure = wf.expected_cost(wf.Transitions([0], [0], [1], [10], num_states=3), 1, 10.0)
    found = sure.doubt(0.9, guarantee=True)
    # half of the risk, over the sets of one of three states, which have half of that
    assert found.reach_low[0] == pytest.approx((0.05 / 3 / 2) ** 0.1, abs=1e-9)
    assert found.reach_high[0] == 1.0
    assert found.cost_low[0] <= 1.0 < found.cost_high[0]
    only = wf.Transitions([0], [0], [1], num_states=3)
    assert sure.doubt(0.9, only, guarantee=True).reach_low[0] == pytest.approx(1.0, abs=1e-6)
    # without giving up, it may lead to where one never arrives
    stays = wf.expected_cost(wf.Transitions([0], [0], [1], [10], num_states=3), 1)
    assert stays.doubt(guarantee=True).cost_high[0] == np.inf


def test_a_guarantee_contains_the_truth_and_the_sharp_bounds() -> None:
    tries = [
        (drawn(make(rng), 30, rng, guarantee=True), drawn(make(again), 30, again))
        for seed in range(15)
        for make in (slippery_grid, rare_failures)
        for rng, again in [(np.random.default_rng(seed), np.random.default_rng(seed))]
    ]
    for wide, sharp in tries:
        if wide is None or sharp is None:
            continue
        for of, near in ((wide.reach, sharp.reach), (wide.cost, sharp.cost)):
            assert of[0] <= of[1] <= of[2]
            assert of[2] - of[0] > near[2] - near[0]


def test_what_a_guarantee_cannot_hold() -> None:
    """Costs that differ within an outcome have no bound."""
    moves = wf.Transitions([0, 0], [0, 0], [1, 1], cost=[1.0, 2.0])
    found = wf.expected_cost(moves, 1).doubt(guarantee=True)
    assert (found.cost_low[0], found.cost_high[0]) == (0.0, np.inf)
    # where the plan makes no move there is nothing to doubt
    given_up = wf.expected_cost(moves, 1, give_up=0.5).doubt(guarantee=True)
    assert given_up.cost_low.tolist() == pytest.approx([0.5, 0.0])
    assert given_up.cost_high.tolist() == pytest.approx([0.5, 0.0])
