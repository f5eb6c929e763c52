"""The solver of plans: accelerated sweeps against dense solutions."""

from __future__ import annotations

import numpy as np
import pytest

import wayfield as wf
from wayfield.kernels.outcomes import follow
from wayfield.replay._model import _meant
from wayfield.replay._plans import _ERROR, _PATIENCE, judged, make_plan, settle


@pytest.mark.parametrize("sensor", [0.0, 0.3])
def test_where_an_action_leads_is_known_also_on_a_noisy_circle(sensor: float) -> None:
    # two actions turn an angle one way or the other; it is seen as cosine and sine
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 2000)
    angle = np.append(0.0, np.cumsum(0.1 * (2 * kind - 1)))
    place = 10.0 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    seen = place + sensor * rng.normal(size=place.shape)
    following = np.append(np.ones(1999, bool), False)
    usual = _meant(seen[:-1], np.diff(seen, axis=0), kind, following)
    assert np.abs(usual - np.diff(place, axis=0)).max() < 0.1 + sensor
    # actions that say nothing
    shuffled = rng.permutation(kind)
    assert not _meant(seen[:-1], np.diff(seen, axis=0), shuffled, following).size


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
    planner = wf.Planner(episodes)
    model, horizon = planner._model, planner._horizon
    made = make_plan(model, horizon, model.features[0])
    order = np.argsort(-made.values)
    plan = made.scores.argmax(axis=1)
    late = 1.0 - 1.0 / (_PATIENCE * horizon)
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
        assert (reach >= exact - 2.0 * _ERROR[0]).all()
        assert reach.max() > 0.9
