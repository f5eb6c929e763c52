"""A lake whose ice sends one astray two times out of three: actions are what to plan with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wayfield as wf

Array = np.ndarray[Any, Any]
LAKE = "....", ".o.o", "...o", "o..."  # holes, from which nothing leads out
MOVES = np.array([[0, -1], [1, 0], [0, 1], [-1, 0]])
GOAL = np.array([3.0, 3.0])
BEST = 0.8235
"""Probability of arrival of the best policy from the far corner, by value iteration."""


def step(place: Array, action: int, rng: np.random.Generator) -> Array:
    """Move as meant in one of three cases, else to either side; the shore holds one back."""
    if ended(place):
        return place
    return np.clip(place + MOVES[(action + rng.integers(-1, 2)) % 4], 0, 3)


def ended(place: Array) -> bool:
    return LAKE[place[0]][place[1]] == "o" or bool((place == GOAL).all())


def episodes(count: int) -> list[dict[str, Array]]:
    rng, made = np.random.default_rng(0), []
    for _ in range(count):
        places, actions = [rng.integers(0, 4, 2)], []
        while len(actions) < 20 and not (actions and ended(places[-1])):
            actions.append(int(rng.integers(4)))
            places.append(step(places[-1], actions[-1], rng))
        made.append({"observations": np.array(places, float), "actions": np.array(actions)})
    return made


@pytest.fixture(scope="module")
def planner() -> wf.Planner:
    return wf.Planner(episodes(3000))


def test_patience_is_many_times_what_walks_take_not_what_lucky_ones_would(
    planner: wf.Planner,
) -> None:
    assert planner.reach([0.0, 0.0], GOAL) == pytest.approx(BEST, abs=0.05)


def test_actions_of_the_plan_arrive_as_often_as_predicted(planner: wf.Planner) -> None:
    rng, arrived, walks = np.random.default_rng(1), 0, 400
    for _ in range(walks):
        place, steps = np.array([0, 0]), 0
        while not ended(place) and steps < 1000:
            place, steps = step(place, int(planner.action(place, GOAL)), rng), steps + 1
        arrived += bool((place == GOAL).all())
    assert arrived / walks == pytest.approx(planner.reach([0.0, 0.0], GOAL), abs=0.06)


def test_many_actions_are_those_of_single_observations(planner: wf.Planner) -> None:
    rows, goals = np.array([[0, 0], [2, 1], [0, 2]]), np.array([[3, 3], [0, 0], [3, 3]])
    single = [planner.action(row, goal) for row, goal in zip(rows, goals, strict=True)]
    assert planner.action(rows, goals).tolist() == single


def test_where_there_is_no_action(planner: wf.Planner) -> None:
    with pytest.raises(wf.InputError, match=r"\[1. 1.\]: nothing observed leads to the goal"):
        planner.action([[0, 0], [1, 1]], GOAL)
    walk = [np.linspace(0.0, 1.0, 30)[:, None]]
    with pytest.raises(wf.InputError, match="actions need a buffer with recurring observations"):
        wf.Planner(walk).action([0.0], [1.0])
