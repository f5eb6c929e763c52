"""Cost bounds: exchangeable walks, order statistics, and no claim lost to rounding."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wayfield as wf
from wayfield import travel


@pytest.mark.parametrize(("level", "count"), [(0.9, 9), (0.5, 40), (0.8, 99)])
def test_cost_bounds_hold_as_often_as_they_say(level: float, count: int) -> None:
    """Scores of any distribution: level ≤ coverage ≤ level + 1 / (count + 1), over many draws."""
    rng = np.random.default_rng(count)
    kept, draws = 0, 2000
    for _ in range(draws):
        predicted = rng.uniform(1.0, 9.0, count + 1)
        paid = predicted * rng.lognormal(sigma=1.0, size=count + 1)
        made = travel.cost_bound(predicted[1:], paid[1:], level)
        kept += bool(paid[0] <= made.bound(predicted)[0])
    noise = 4.0 * np.sqrt(level * (1 - level) / draws)
    assert level - noise <= kept / draws <= level + 1.0 / (count + 1) + noise


def test_promise_is_an_order_statistic() -> None:
    made = travel.cost_bound(np.ones(9), np.arange(1.0, 10.0), level=0.9)
    assert (made.factor, made.level, made.count) == (9.0, 0.9, 9)
    assert travel.cost_bound(np.ones(9), np.arange(1.0, 10.0), level=0.5).factor == 5.0
    lost = travel.cost_bound(np.ones(9), [*range(1, 9), np.inf], level=0.8)
    assert lost.factor == 8.0


def test_bounds_with_confidence_hold_for_most_draws_of_a_population() -> None:
    """All 330 draws of 4 from 11, ties included: too few walks are covered at most that often."""
    scores = np.array([1.0, 1.0, 1.0, 1.1, 1.2, 1.2, 1.5, 1.6, 2.0, 2.0, np.inf])
    worst = 0.0
    for level, confidence in ((0.5, 0.8), (0.6, 0.7), (0.8, 0.5), (0.3, 0.9)):
        failed = runs = 0
        for draw in combinations(range(scores.size), 4):
            runs += 1
            try:
                made = travel.cost_bound(
                    np.ones(4), scores[list(draw)], level, confidence=confidence, population=11
                )
            except wf.InputError:  # no finite bound: nothing is stated
                continue
            assert (made.confidence, made.count) == (confidence, 4)
            failed += bool((scores <= made.factor).mean() < level)
        assert failed / runs <= 1.0 - confidence + 1e-12
        worst = max(worst, failed / runs / (1.0 - confidence))
    assert worst > 0.4  # and not far less often


def test_bounds_with_confidence_hold_for_most_draws() -> None:
    """Independent walks: the share covered is below the level in at most one draw of ten."""
    rng, count = np.random.default_rng(22), 22
    draws, level = 1000, 0.9
    factors = [
        travel.cost_bound(np.ones(count), 1.0 + rng.exponential(size=count), level, confidence=0.9)
        for _ in range(draws)
    ]
    covered = 1.0 - np.exp(-(np.array([made.factor for made in factors]) - 1.0))
    missed = (covered < level).mean()
    assert missed <= 0.1 + 4.0 * np.sqrt(0.09 / draws)
    assert missed > 0.02  # the bound is not wider than it has to be


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"confidence": 1.0}, "confidence must be between 0 and 1, got 1.0"),
        ({"population": 30}, "population needs a confidence"),
        ({"confidence": 0.9, "population": 20}, "population must be"),
        ({"confidence": 0.9, "population": 10**12}, "population must be at most 2147483647"),
        ({"confidence": 0.99}, "needs more walks for confidence 0.99, got 30"),
    ],
)
def test_bad_bounds_with_confidence(more: dict[str, Any], message: str) -> None:
    with pytest.raises(wf.InputError, match=message):
        travel.cost_bound(np.ones(30), np.ones(30), **more)


@pytest.mark.parametrize(
    ("predicted", "paid", "level", "message"),
    [
        (np.ones(8), np.ones(8), 0.9, "at level 0.9 needs at least 9 walks, got 8"),
        (np.ones(20), np.ones(20), 0.99, "needs at least 99 walks, got 20"),
        ([], [], 0.5, "needs at least 1 walks, got 0"),
        (np.ones(9), np.ones(9), 1.0, "level must be between 0 and 1, got 1.0"),
        (np.ones(9), np.ones(9), 0.0, "level must be between 0 and 1, got 0.0"),
        ([1.0, 0.0], [1.0, 1.0], 0.5, r"predicted\[1\] = 0.0 is not positive"),
        ([1.0, np.inf], [1.0, 1.0], 0.5, r"predicted\[1\] = inf is not finite"),
        ([1.0, 1.0], [np.nan, 1.0], 0.5, r"paid\[0\] = nan is neither a cost nor inf"),
        ([1.0, 1.0], [1.0, -1.0], 0.5, r"paid\[1\] = -1.0 is neither a cost nor inf"),
        ([1.0, 1.0], [1.0], 0.5, "paid has 1 entries, expected 2"),
        (np.ones(9), [1.0] * 5 + [np.inf] * 4, 0.9, "4 of 9 walks did not arrive"),
    ],
    ids=str,
)
def test_bad_cost_bounds(predicted: Any, paid: Any, level: float, message: str) -> None:
    with pytest.raises(wf.InputError, match=message):
        travel.cost_bound(predicted, paid, level)


def test_a_level_is_never_rounded_down() -> None:
    with pytest.raises(wf.InputError, match="needs at least 10 walks, got 9"):
        travel.cost_bound(np.ones(9), np.ones(9), level=0.9 + 1e-11)


def test_the_bound_at_next_to_no_level_is_the_least() -> None:
    assert travel.cost_bound(np.ones(3), [3.0, 1.0, 2.0], level=1e-300).factor == 1.0


def test_the_walk_that_sets_the_bound_stays_within_it() -> None:
    bound = travel.cost_bound([49.0] * 30, [1.0] * 30, level=0.9, confidence=0.9)
    assert bound.bound([49.0])[0] >= 1.0


@given(st.lists(st.tuples(st.floats(1e-3, 1e3), st.floats(0.0, 1e3)), min_size=12, max_size=12))
def test_rounding_costs_no_claim(walks: list[tuple[float, float]]) -> None:
    predicted, paid = np.array(walks).T
    made = travel.cost_bound(predicted, paid, level=0.8)
    # the score of 11 of 12 walks at least is within the factor
    assert (made.bound(predicted) >= paid).sum() >= 11
