"""The solver of plans: accelerated sweeps against dense solutions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from wayfield import replay
from wayfield.replay.goal_plans import ERROR, LONGEST_WALK, judged, make_plan, settle
from wayfield.replay.kernels.outcomes import follow
from wayfield.replay.metric import DISCRETE_STEP
from wayfield.replay.model import BufferModel, intended

Array = np.ndarray[Any, Any]


@pytest.mark.parametrize("sensor", [0.0, 0.3])
def test_where_an_action_leads_is_known_also_on_a_noisy_circle(sensor: float) -> None:
    # two actions turn an angle one way or the other; it is seen as cosine and sine
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 2000)
    angle = np.append(0.0, np.cumsum(0.1 * (2 * kind - 1)))
    place = 10.0 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    seen = place + sensor * rng.normal(size=place.shape)
    following = np.append(np.ones(1999, bool), False)
    usual = intended(seen[:-1], np.diff(seen, axis=0), kind, following)
    assert np.abs(usual - np.diff(place, axis=0)).max() < 0.1 + sensor
    # actions that say nothing
    shuffled = rng.permutation(kind)
    assert not intended(seen[:-1], np.diff(seen, axis=0), shuffled, following).size


def test_slow_sweeps_are_sped_up() -> None:
    # a random walk on a line that is lost now and then; one end is the goal
    n = 120
    walk = 0.4999 * (np.eye(n, k=1) + np.eye(n, k=-1))
    source = np.zeros(n)
    source[0] = 0.4999
    exact = np.linalg.solve(np.eye(n) - walk, source)
    counts = []

    def sweep(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        counts[-1] += 1
        after = walk @ values + source
        change = float(np.abs(after - values).max())
        values[:] = after
        return change

    counts.append(0)
    values = np.zeros(n)
    assert settle(sweep, values, 1e-9) <= 1e-9
    assert values == pytest.approx(exact, abs=1e-5)
    counts.append(0)
    plain = np.zeros(n)
    while sweep(plain) > 1e-9:
        pass
    assert 5 * counts[0] < counts[1]


@pytest.mark.parametrize("seed", range(5))
def test_it_ends_at_the_fixed_point_of_kinked_contractions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 40
    onto, shift = rng.integers(0, n, (3, n)), rng.uniform(0.0, 0.05, n)

    def sweep(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        a, b, c = values[onto]
        after = 0.95 * np.maximum(np.minimum(a, b), 1.0 - c) + shift
        change = float(np.abs(after - values).max())
        values[:] = after
        return change

    values = np.zeros(n)
    settle(sweep, values, 1e-10)
    again = values.copy()
    for _ in range(100):
        sweep(again)
    assert values == pytest.approx(again, abs=1e-8)


def test_the_probability_of_arrival_is_never_too_high() -> None:
    rng = np.random.default_rng(0)
    episodes = []
    for _ in range(15):
        actions = rng.integers(0, 2, 60)
        steps = np.where(rng.random(60) < 0.7, 2 * actions - 1, rng.integers(-1, 2, 60))
        places = np.clip(np.cumsum(np.append(rng.integers(0, 30), steps)), 0, 30)
        episodes.append({"observations": places[:, None] * 1.0, "actions": actions})
    planner = replay.Planner(episodes)
    model, horizon = planner._model, planner._horizon
    made = make_plan(model, horizon, model.features[0])
    order = np.argsort(-made.values)
    plan = made.scores.argmax(axis=1)
    late = 1.0 - 1.0 / (LONGEST_WALK * horizon)
    n, half = len(order), model.to.shape[2] // 2
    for begin, end in ((0, half), (half, 2 * half)):
        samples = model.to, model.took, late, begin, end
        first, to, weight = follow(*samples, model.near, model.share, plan)
        matrix = np.zeros((n, n))
        np.add.at(matrix, (np.repeat(np.arange(n), np.diff(first)[:, 0]), to), weight)
        matrix[made.goal] = 0.0
        exact = np.linalg.solve(np.eye(n) - matrix, made.goal * 1.0)
        reach = judged(model, horizon, begin, end, made.goal, plan, order)
        assert (reach <= exact + 1e-9).all()
        assert (reach >= exact - 2.0 * ERROR[0]).all()
        assert reach.max() > 0.9


# -------------------------------------------------------------------- states on a line


def line(places: Array, actions: list[Array], hold: int = 1) -> BufferModel:
    """Return a model of states at these places, in which each action surely leads to one state."""
    m, samples = len(places), 12
    to = np.repeat(np.stack(actions, axis=1)[:, :, None], samples, axis=2).astype(np.int32)
    change = places[to[:, :, 0]] - places[:, None]
    return BufferModel(
        rows=places[:, None],
        features=places[:, None],
        num_living=m,
        num_places=m,
        to=to,
        took=np.ones(to.shape, np.float32),
        stitch=np.zeros(to.shape, np.float32),
        directions=np.ones((1, 1)),
        planes=np.full((m, 1, 2), np.inf, np.float32),
        near=np.arange(m)[:, None],
        share=np.ones((m, 1)),
        hold=hold,
        carry=np.zeros(1),
        drift=change[:, :, None].astype(np.float32),
        stride=np.abs(change).astype(np.float32),
        prior=np.zeros(m),
        least=0.75,
    )


@pytest.mark.parametrize(("nobody", "reached"), [(1, 3.0), (4, 9.0)])
def test_a_goal_that_no_episode_came_to_is_widened_as_little_as_need_be(
    nobody: int, reached: float
) -> None:
    """Moves lead both ways, but none to the first few states: the goal is the first of them."""
    here = np.arange(40)
    model = line(
        here * 1.0, [np.maximum(here - 1, np.minimum(here, nobody)), np.minimum(here + 1, 39)]
    )
    made = make_plan(model, 300.0, np.array([0.0]))
    assert not made.visited
    assert made.goal.tolist() == (here <= reached).tolist()
    assert (made.values > 0.0).all()
    assert made.low.tolist() == (here == 0).tolist(), "passing is not arriving"
    assert made.high[0] == 1.0
    assert 0.95 * 0.5 ** (reached / 3.0) < made.high[1:].min()
    assert made.high[1:].max() <= 0.5 ** (reached / 3.0)


def test_a_goal_that_episodes_came_to_is_not_widened() -> None:
    here = np.arange(40)
    model = line(here * 1.0, [np.maximum(here - 1, 0), np.minimum(here + 1, 39)])
    made = make_plan(model, 300.0, np.array([0.0]))
    assert (made.visited, made.away) == (True, 0.0)
    assert np.flatnonzero(made.goal).tolist() == [0]
    assert made.low.min() > 0.95


def test_instead_of_a_short_move_it_is_a_state_farther_along_the_path() -> None:
    here = np.arange(40)
    model = line(0.5 * here, [np.maximum(here - 1, 0), np.minimum(here + 1, 39)])
    made = make_plan(model, 300.0, np.array([0.0]))
    assert model.least == 0.75
    assert made.beyond[4:].tolist() == (here[4:] - 3).tolist()  # the first at twice that distance


def test_where_a_path_is_too_short_it_is_the_best_state_around_that_is_no_nearer() -> None:
    """Six moves of an eighth of a step end nearer than twice the least distance, 0.75."""
    here = np.arange(200)
    model = line(0.125 * here, [np.maximum(here - 1, 0), np.minimum(here + 1, 199)])
    made = make_plan(model, 300.0, np.array([0.0]))
    assert np.flatnonzero(made.goal).tolist() == [*range(6)]
    assert made.beyond[6:9].tolist() == [0, 1, 2]  # in the goal, and not the nearest states there
    gap = 0.125 * (here - made.beyond)[20:150]
    assert (gap > 0.75).all()
    assert (gap < DISCRETE_STEP).all()


# -------------------------------------------------------------------- the model


def test_a_stride_is_the_length_of_the_typical_move_in_steps() -> None:
    rng = np.random.default_rng(2)
    episodes = []
    for _ in range(20):
        actions = rng.integers(0, 2, 100)
        places = np.cumsum(np.append(0.0, 40.0 * actions - 20.0 + rng.normal(0, 2.0, 100)))
        episodes.append({"observations": places[:, None], "actions": actions})
    planner = replay.Planner(episodes)
    model = planner._model
    moved = planner._metric((model.rows[:, None] + model.drift).reshape(-1, 1))
    gap = moved.reshape(*model.stride.shape, -1) - model.features[:, None]
    assert model.stride == pytest.approx(np.linalg.norm(gap, axis=2), abs=1e-3)
    assert 0.5 < np.median(model.stride[model.stride > 0.0]) / model.hold < 2.0


def test_without_actions_directions_are_shrunk_next_to_deaths_only() -> None:
    rng = np.random.default_rng(3)
    rows, ends, timeouts = [], [], []
    for _ in range(60):  # death at 0
        x = rng.uniform(1.0, 20.0)
        for step in range(80):
            rows.append([x])
            x = min(x + rng.choice([-0.5, 0.5]) + rng.normal(0, 0.05), 20.0)
            ends.append(x <= 0.5 or step == 79)
            timeouts.append(step == 79 and x > 0.5)
            if x <= 0.5:
                break
    model = replay.Planner(
        {"observations": np.array(rows), "terminals": np.array(ends), "timeouts": timeouts}
    )._model
    deadly = (model.to >= model.num_living).any(axis=(1, 2))
    assert 0 < deadly.sum() < 0.5 * len(deadly)
    assert model.prior.tolist() == np.where(deadly, 1.0, 0.25).tolist()
