"""Discounted values to costs and back."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import wayfield as wf


@pytest.mark.parametrize(("reward", "at_goal"), [(-1.0, 0.0), (0.0, 1.0), (-0.5, 3.0)])
def test_values_are_the_sums_of_discounted_rewards(reward: float, at_goal: float) -> None:
    gamma = Fraction(9, 10)
    exact = [Fraction(at_goal)]
    for _ in range(30):  # V(n) = r + γ V(n - 1)
        exact.append(Fraction(reward) + gamma * exact[-1])
    moves = np.arange(31.0)
    settings = {"discount": 0.9, "reward": reward, "at_goal": at_goal}
    assert wf.rewards.values_from_costs(moves, **settings) == pytest.approx(
        [float(v) for v in exact]
    )
    assert wf.rewards.costs_from_values([float(v) for v in exact], **settings) == pytest.approx(
        moves
    )


@given(st.floats(0.5, 1.0), st.floats(-5.0, 0.0), st.floats(0.0, 5.0), st.lists(st.floats(0, 20)))
def test_there_and_back(gamma: float, reward: float, goal: float, moves: list[float]) -> None:
    assume(gamma < 0.999 or reward < -0.1)
    assume(gamma == 1.0 or goal - reward / (1 - gamma) > 0.1)
    settings = {"discount": gamma, "reward": reward, "at_goal": goal}
    values = wf.rewards.values_from_costs(moves, **settings)
    assert wf.rewards.costs_from_values(values, **settings) == pytest.approx(
        np.array(moves), abs=1e-6
    )


def test_without_a_discount_costs_are_negated_values() -> None:
    assert wf.rewards.costs_from_values([-4.0, 0.0], discount=1.0).tolist() == [4.0, 0.0]
    assert wf.rewards.costs_from_values([-4.0], discount=1.0, reward=-2.0).tolist() == [2.0]
    assert wf.rewards.values_from_costs([4.0, inf], discount=1.0).tolist() == [-4.0, -inf]


def test_values_of_never_arriving_and_overestimates() -> None:
    costs = wf.rewards.costs_from_values([-10.0, -12.0, 0.5], discount=0.9)
    assert costs[:2].tolist() == [inf, inf]
    assert costs[2] < 0.0


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"discount": 0.0}, "discount must be above 0 and at most 1, got 0"),
        ({"discount": 1.5}, "at most 1, got 1.5"),
        ({"discount": 0.9, "reward": 1.0}, "reward must be at most 0, got 1"),
        ({"discount": 1.0, "reward": 0.0}, "reward must be below 0 if discount is 1, got 0"),
        ({"discount": 0.9, "at_goal": -10.0}, "at_goal must be above -10, the value of never"),
        ({"discount": 0.9, "reward": 0.0, "at_goal": 0.0}, "at_goal must be above 0"),
        ({"discount": "much"}, "discount"),
    ],
)
def test_settings_without_sense_are_named(settings: dict[str, float], told: str) -> None:
    for convert in (wf.rewards.costs_from_values, wf.rewards.values_from_costs):
        with pytest.raises(wf.InputError, match=told):
            convert([0.0], **settings)


def test_values_that_are_no_numbers_are_named() -> None:
    with pytest.raises(wf.InputError, match=r"values\[1\] = nan"):
        wf.rewards.costs_from_values([0.0, np.nan], discount=0.9)
    with pytest.raises(wf.InputError, match=r"costs\[0\] = nan"):
        wf.rewards.values_from_costs([np.nan], discount=0.9)


def test_without_a_reward_of_moves_nothing_cancels() -> None:
    values = [5e-17, 1e-300]
    found = wf.rewards.costs_from_values(values, discount=0.5, reward=0.0, at_goal=1.0)
    np.testing.assert_allclose(found, -np.log2(values))
