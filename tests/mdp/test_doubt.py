"""Bounds on a plan's cost and reach: closed forms, principles, and coverage in known worlds."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.coverage import cards, judged, rare_failures, slippery_grid
from scipy.stats import beta

import wayfield as wf
from wayfield.mdp import doubt as rule


@pytest.mark.parametrize(("samples", "least", "widest"), [(10, 0.85, 0.6), (100, 0.85, 0.16)])
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


def test_moves_that_never_failed_may_fail() -> None:
    """Ten samples of rare failures: the counts alone say reach 1, and are wrong."""
    tries = [judged(rare_failures, 10, seed) for seed in range(40)]
    low, true, high = np.array([one.reach for one in tries if one is not None]).T
    assert (true < 1.0).mean() > 0.5
    assert ((low <= true) & (true <= high)).mean() >= 0.85


def test_one_move_has_the_quantiles_of_a_beta_distribution() -> None:
    """Where the outcomes are known and there is no other choice, both ends are the posterior's."""
    moves = wf.Transitions([0, 0], [0, 0], [1, 2], [9, 3])
    field = wf.expected_cost(moves, 1, give_up=10.0)
    found = field.doubt(0.8, support=moves)
    posterior = beta(9 + rule.STRENGTH / 2, 3 + rule.STRENGTH / 2)
    assert found.reach_high[0] == pytest.approx(posterior.ppf(0.9), abs=1e-9)
    assert found.reach_low[0] == pytest.approx(posterior.ppf(0.1), abs=1e-9)
    # what the counts say is always inside
    sure = wf.Transitions([0], [0], [1], [10], num_states=3)
    assert wf.expected_cost(sure, 1, 10.0).doubt(0.1).reach_high[0] == 1.0


def test_a_tilt_costs_what_was_luck() -> None:
    """Two like choices, 80 and 73 of 100: part of what is between them was luck."""
    moves = wf.Transitions([0, 0, 0, 0], [0, 0, 1, 1], [1, 2, 1, 2], [80, 20, 73, 27])
    values, policy = np.array([0.0, 0.0, 10.0]), np.array([0, -1, -1])
    of = rule.moments(moves, values, np.array([0.0, 1.0, 0.0]))
    found = rule.tilted(moves, policy, values, of)
    chi = 101 * 2 * 0.35**2 / of.cost_variance.mean()
    assert chi > 1.0
    paid = np.add.reduceat(
        found.probabilities * (1.0 + values[found.next_states]), found.outcome_indptr[:-1]
    )
    assert paid[0] == pytest.approx(of.cost[0] + 0.35 / chi, rel=1e-12)
    assert paid[1] == pytest.approx(of.cost[1])
    assert found.totals == pytest.approx(moves.totals)


def test_noise_counts_once_for_every_visit_also_where_a_move_stays() -> None:
    """Standard deviations against the dense inverse, in processes with moves from x to x."""
    rng = np.random.default_rng(0)
    for _ in range(10):
        counts = rng.integers(0, 4, (6, 6)) + np.diag(rng.integers(1, 9, 6))
        counts[:, 5] += 1  # the goal follows everywhere
        tails, heads = np.nonzero(counts[:5])
        moves = wf.Transitions(tails, np.zeros(tails.size, int), heads, counts[tails, heads])
        policy = np.append(np.arange(5), -1)
        odds = counts[:5, :5] / counts[:5].sum(axis=1, keepdims=True)
        visits = np.linalg.inv(np.eye(5) - odds)
        variance = np.append(rng.uniform(0.1, 2.0, 5), 0.0)
        found = rule.standard_deviations(moves, policy, policy >= 0, np.arange(6.0)[::-1], variance)
        assert found[:5] == pytest.approx(np.sqrt(visits**2 @ variance[:5]))


def test_doubt_narrows_with_the_sample() -> None:
    spans = []
    for size in (4, 40, 400):
        moves = wf.Transitions([0, 0], [0, 0], [1, 2], [3 * size, size])
        field = wf.expected_cost(moves, 1, give_up=10.0)
        doubt = field.doubt()
        assert doubt.reach_low[0] < 0.75 < doubt.reach_high[0]
        assert doubt.cost_low[0] < field.values[0] < doubt.cost_high[0]
        spans.append(doubt.reach_high[0] - doubt.reach_low[0])
    assert spans[0] > 2 * spans[1] > 4 * spans[2]


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


def test_a_hub_takes_no_more_memory_than_its_outcomes() -> None:
    k = 20_000
    state = np.append(np.zeros(k, int), np.arange(1, k + 1))
    following = np.append(np.arange(1, k + 1), np.where(np.arange(k) % 2, 0, k + 1))
    counts = np.random.default_rng(0).integers(1, 5, 2 * k)
    hub = wf.Transitions(state, np.zeros(2 * k, int), following, counts)
    found = wf.expected_cost(hub, k + 1).doubt()
    assert found.cost_low[0] < found.cost_high[0]
