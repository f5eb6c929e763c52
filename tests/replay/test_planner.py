"""A planner from a buffer: agents arrive as often as predicted, and bad input is refused."""

from __future__ import annotations

import copy
import pickle
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wayfield as wf
from rooms import Room
from wayfield import replay
from wayfield.replay import check
from wayfield.replay.dataset import read_dataset, read_rows
from wayfield.replay.metric import time_metric
from wayfield.replay.model import kinds_of, read_steps
from wayfield.replay.planner import Cache

Array = np.ndarray[Any, Any]
GOAL = np.array([1.0, 2.5])
EIGHT = np.stack([np.cos(np.arange(8) * np.pi / 4), np.sin(np.arange(8) * np.pi / 4)], axis=1)


def actor(
    step: Any, starts: Array, length: int = 50, kinds: int = 8, seed: int = 0
) -> dict[str, Array]:
    """Return a buffer of walks that keep one of several actions for a while."""
    rng = np.random.default_rng(seed)
    x, a = starts.copy(), rng.integers(kinds, size=len(starts))
    seen, done = [], []
    for _ in range(length):
        a = np.where(rng.random(len(a)) < 0.2, rng.integers(kinds, size=len(a)), a)
        seen.append(x)
        done.append(a)
        x = step(x, a, rng)
    return {
        "observations": np.stack(seen, axis=1).reshape(-1, starts.shape[1]),
        "actions": np.stack(done, axis=1).ravel(),
        "terminals": np.tile(np.arange(length) == length - 1, len(starts)),
    }


def across(wall: float, shut: bool = True) -> Any:
    """Return a step of 0.25 in a room of 4 by 2 that a thin wall parts at x, below y = 1.5."""

    def step(x: Array, a: Array, rng: np.random.Generator) -> Array:
        to = np.clip(x + 0.25 * EIGHT[a] + rng.normal(0, 0.02, x.shape), 0, [4, 2])
        crossed = ((x[:, 0] < wall) != (to[:, 0] < wall)) & (x[:, 1] < 1.5) & (to[:, 1] < 1.5)
        return np.where((crossed & shut)[:, None], x, to)

    return step


def room_starts(n: int = 250) -> Array:
    return np.random.default_rng(5).uniform(0, [4, 2], (n, 2))


@pytest.fixture(scope="module")
def planner() -> replay.Planner:
    return replay.Planner(Room().buffer(), states=4000)


@pytest.fixture(scope="module")
def wary() -> replay.Planner:
    return replay.Planner(Room(trapdoor=True).buffer(), states=4000)


@pytest.fixture(scope="module")
def walled() -> replay.Planner:
    return replay.Planner(actor(across(2.0), room_starts()))


# -------------------------------------------------------------------- walks


def test_three_lines_lead_every_agent_round_the_wall(planner: replay.Planner) -> None:
    starts = Room().points(60, seed=9)
    assert Room().walk(planner, starts, GOAL).mean() > 0.95
    assert planner.reach(starts, GOAL).mean() > 0.9


def test_the_subgoal_is_on_the_way_and_near_the_goal_the_goal_itself(
    planner: replay.Planner,
) -> None:
    below = np.array([1.0, 0.5])  # the wall is between: the way is to the right
    assert planner.subgoal(below, GOAL)[0] > 1.1
    assert np.linalg.norm(planner.subgoal(below, GOAL) - below) < 2.0
    assert (planner.subgoal([1.1, 2.45], GOAL) == GOAL).all()


def test_values_grow_along_the_way(planner: replay.Planner) -> None:
    way = np.array([[2.0, 2.5], [4.5, 2.5], [5.5, 1.5], [4.5, 0.5], [1.0, 0.5]])
    assert (np.diff(planner.value(way, GOAL)) > 0).all()


def test_arrival_is_what_was_predicted_and_the_gamble_is_avoided(wary: replay.Planner) -> None:
    room, starts = Room(trapdoor=True), Room(trapdoor=True).points(60, seed=9)
    arrived, predicted = room.walk(wary, starts, GOAL), wary.reach(starts, GOAL)
    assert arrived.mean() > 0.9
    assert predicted.mean() == pytest.approx(arrived.mean(), abs=0.1)


def test_nothing_leads_out_of_the_closet(wary: replay.Planner) -> None:
    assert wary.reach([20.0, 0.0], GOAL) < 0.01
    assert wary.value([20.0, 0.0], GOAL) > 1000


def test_where_nothing_leads_to_the_goal_it_is_the_nearest_state_that_does() -> None:
    ahead = [np.arange(begin, 40.0)[:, None] for begin in range(10)]  # nobody ever turned round
    planner = replay.Planner(ahead)
    assert np.isinf(planner.value([30.0], [20.0]))
    assert planner.subgoal([30.0], [20.0]) == pytest.approx(20.0)
    assert 10.0 < planner.subgoal([[10.0], [30.0]], [20.0])[0, 0] <= 20.0


def test_a_thin_wall_is_walked_around_by_actions_and_by_sub_goals(walled: replay.Planner) -> None:
    rng, step, goal = np.random.default_rng(3), across(2.0), np.array([3.0, 0.5])
    for by_action in (True, False):
        x, arrived = np.tile([1.5, 0.5], (20, 1)), np.zeros(20, bool)
        for _ in range(80):
            aim = walled.subgoal(x, goal) - x
            a = np.argmax(aim @ EIGHT.T, axis=1)
            x = step(x, walled.action(x, goal) if by_action else a, rng)
            arrived |= np.linalg.norm(x - goal, axis=1) < 0.4
        assert arrived.mean() > 0.9
    assert walled.value([1.8, 0.5], [2.2, 0.5]) > 5  # 1.6 steps as the crow flies


def test_without_actions_there_is_no_trust() -> None:
    data = actor(across(2.0), room_starts())
    del data["actions"]
    planner = replay.Planner(data, states=500)
    check = planner.check()
    # chance would look like choice, and a wall in the way may have gone unnoticed
    assert (check.verdict, check.fails[:2]) == ("careful", ("coverage", "chance"))
    low, high = planner.reach_interval([1.0, 1.0], [3.0, 1.0])
    assert low == 0.0
    assert low < planner.reach([1.0, 1.0], [3.0, 1.0]) <= high


def test_sub_goals_are_not_so_near_that_a_body_comes_to_rest() -> None:
    rng = np.random.default_rng(0)
    episodes = []
    for _ in range(80):  # steps of very different lengths
        x, angle, path = rng.uniform(0, [6, 2]), rng.uniform(0, 2 * np.pi), []
        for _ in range(80):
            path.append(x)
            angle = rng.uniform(0, 2 * np.pi) if rng.random() < 0.1 else angle
            step = 0.2 * rng.random() ** 2 * np.array([np.cos(angle), np.sin(angle)])
            x = np.clip(x + step, 0, [6, 2])
        episodes.append({"observations": np.array(path)})
    planner = replay.Planner(episodes)
    agents = rng.uniform(0, [4, 2], (1000, 2))
    gap = planner._metric(planner.subgoal(agents, [5.0, 1.0])) - planner._metric(agents)
    assert np.quantile(np.linalg.norm(gap, axis=1), 0.005) > 0.6


def test_to_pass_by_a_goal_where_nobody_came_is_not_to_arrive() -> None:
    """Episodes may begin at 0, but none returns there: they turn at 2."""
    rng = np.random.default_rng(0)
    episodes = []
    for number in range(40):
        x, path = (rng.integers(3, 30), []) if number % 4 else (2, [0.0])
        for _ in range(60):
            path.append(float(x))
            x = np.clip(x + rng.choice([-1, 1]), 2, 30)
        episodes.append({"observations": np.array(path)[:, None]})
    planner = replay.Planner(episodes)
    assert 0.0 < planner.reach([20.0], [0.0]) < 0.3
    assert planner.reach_interval([20.0], [0.0])[0] == 0.0
    assert 0.0 < planner.subgoal([20.0], [0.0])[0] < 20.0
    assert "Hardly any plan leads to the goal itself" in str(planner.report([0.0]))
    assert planner.reach([0.0], [0.0]) == 1.0
    assert planner.reach([20.0], [3.0]) > 0.9


def test_a_long_corridor_with_few_rows_is_no_gamble() -> None:
    """Without actions: few episodes walk the corridor, and a jump leads to its end or nowhere."""
    rng = np.random.default_rng(0)
    episodes = []
    for number in range(120):
        x = np.array([rng.uniform(-6, 6) if number % 10 else rng.uniform(0, 60), 0.0])
        heading, path = rng.choice([-1, 1]), []
        for _ in range(200):
            path.append(x)
            if x[1] > 40:  # nowhere
                x = np.clip(x + rng.normal(0, 0.2, 2), [99, 49], [101, 51])
            elif x[0] < -7:
                x = np.array([59.0, 0.0]) if rng.random() < 1 / 3 else np.array([100.0, 50.0])
            else:
                heading = -heading if rng.random() < 0.03 else heading
                x = x + np.array([0.3 * heading, 0.0]) + rng.normal(0, 0.1, 2)
                x = np.array([min(x[0], 60.0), np.clip(x[1], -0.6, 0.6)])
        episodes.append({"observations": np.array(path)})
    planner, goal = replay.Planner(episodes), np.array([59.0, 0.0])
    for start in ([-5.0, 0.0], [0.0, 0.0], [5.0, 0.0]):
        assert planner.reach(start, goal) > 0.9
        assert planner.subgoal(start, goal)[0] > start[0]


def test_an_open_room_has_no_walls() -> None:
    free = replay.Planner(actor(across(2.0, shut=False), room_starts()), states=1000)
    assert free.value([1.8, 0.5], [2.2, 0.5]) < 4


def test_actions_that_are_lethal_are_avoided() -> None:
    """Two ways along a corridor: one of them kills in a third of the cases."""
    rng = np.random.default_rng(0)
    rows, actions, dead, over = [], [], [], []
    for _ in range(400):
        x = rng.integers(0, 10)
        for t in range(20):
            a = rng.integers(4)  # left and right, at a walk or at a run
            rows.append(float(x))
            actions.append(a)
            killed = a >= 2 and rng.random() < 1 / 3
            dead.append(killed)
            over.append(t == 19 and not killed)
            if killed:
                break
            x = int(np.clip(x + (1 if a % 2 else -1), 0, 10))
    data = {
        "observations": np.array(rows)[:, None],
        "actions": np.array(actions),
        "terminals": np.array(dead),
        "timeouts": np.array(over),
    }
    planner = replay.Planner(data)
    assert planner.action([2.0], [8.0]) == 1
    assert planner.action([8.0], [2.0]) == 0
    assert planner.reach([2.0], [8.0]) > 0.9


def test_slips_are_counted_in() -> None:
    """On a ring each move slips off for good with probability 1/10: eight moves arrive in .43."""

    def step(x: Array, a: Array, rng: np.random.Generator) -> Array:
        to = (x + np.where(a == 1, 1.0, -1.0)[:, None]).clip(0, 16)
        slip = (rng.random(len(x)) < 0.1) | (x[:, 0] < 0)
        return np.where(slip[:, None], -9.0, to)

    starts = np.random.default_rng(0).integers(0, 17, (1500, 1)).astype(float)
    planner = replay.Planner(actor(step, starts, length=12, kinds=2))
    low, high = planner.reach_interval([0.0], [8.0])
    reach = planner.reach([0.0], [8.0])
    assert low <= reach <= high
    assert reach == pytest.approx(0.9**8, abs=0.15)


# -------------------------------------------------------------------- metric


def metric_of(rows: Array, seed: int = 0) -> Any:
    n = len(rows)
    return time_metric(rows, np.arange(n - 1), np.zeros(n, np.int64))


def test_units_cancel_and_noise_is_dropped() -> None:
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.normal(size=(3000, 2)), axis=0)
    rows = np.hstack([walk * [1.0, 1000.0], rng.normal(0, 50, (3000, 1))])
    metric = metric_of(rows)
    assert list(metric.dropped) == [False, False, True]
    assert metric.scale[0] == pytest.approx(1000 * metric.scale[1], rel=0.2)
    steps = np.linalg.norm(np.diff(metric(rows), axis=0), axis=1)
    assert np.median(steps) == pytest.approx(1.0, abs=0.1)


def test_angles_become_circles_and_modes_are_never_merged() -> None:
    rng = np.random.default_rng(0)
    angle = (np.cumsum(rng.normal(0, 0.2, 5000)) + np.pi) % (2 * np.pi) - np.pi
    mode = (np.arange(5000) // 100 % 2).astype(float)
    rows = np.stack([angle, mode], axis=1)
    metric = metric_of(rows)
    assert list(metric.wrapped) == [True, False]
    assert list(metric.discrete) == [False, True]
    ends = metric(np.array([[-3.14, 0.0], [3.14, 0.0], [3.14, 1.0]]))
    assert np.linalg.norm(ends[0] - ends[1]) < 0.2
    assert np.linalg.norm(ends[1] - ends[2]) > 9
    moved = metric.moved(rows[:1] * 0 + [[3.0, 0.0]], np.array([[0.5, 1.0]]))
    assert moved[0, 0] < -2.5
    assert moved[0, 1] == 1.0


def test_what_wanders_by_itself_is_dropped() -> None:
    rng = np.random.default_rng(0)
    n = 6000
    kind = rng.integers(2, size=n)
    place = np.zeros(n)
    for t in range(1, n):
        place[t] = np.clip(place[t - 1] + (1 if kind[t - 1] else -1), -30, 30)
    alone = np.zeros(n)
    for t in range(1, n):
        alone[t] = 0.99 * alone[t - 1] + rng.normal()
    metric = time_metric(np.stack([place, alone], axis=1), np.arange(n - 1), kind)
    assert list(metric.dropped) == [False, True]


def test_an_embedding_and_a_distance_of_ones_own(tmp_path: Path) -> None:
    data = Room().buffer(episodes=60)
    noisy = np.hstack([data["observations"], np.random.default_rng(0).normal(0, 9, (3600, 1))])
    wide = {**data, "observations": noisy}

    def embed(rows: Array) -> Array:
        return rows[:, :2]

    def distance(a: Array, b: Array) -> Array:
        return np.linalg.norm(a[:, None, :2] - b[None, :, :2], axis=2) / 0.2

    for option in ({"embed": embed}, {"distance": distance}):
        planner = replay.Planner(wide, states=500, **option)
        aim = planner.subgoal([1.0, 0.5, 7.0], [1.0, 2.5, 0.0])
        assert aim[0] > 1.1
        path = planner.save(tmp_path / "given")
        again = replay.Planner.load(path, **option)
        assert (again.subgoal([1.0, 0.5, 7.0], [1.0, 2.5, 0.0]) == aim).all()
        with pytest.raises(wf.InputError, match="which is not saved"):
            replay.Planner.load(path)
    with pytest.raises(wf.InputError, match="embed is not what the planner was made with"):
        replay.Planner.load(
            replay.Planner(wide, states=50, embed=embed).save(path),
            embed=lambda rows: 2 * rows[:, :2],
        )
    with pytest.raises(wf.InputError, match="distance or embed, got both"):
        replay.Planner(wide, embed=embed, distance=distance)
    with pytest.raises(wf.InputError, match="embed must return finite features"):
        replay.Planner(wide, embed=lambda rows: rows[:5])
    with pytest.raises(wf.InputError, match="distance must return finite numbers"):
        replay.Planner(wide, distance=lambda a, b: np.zeros(3))


# -------------------------------------------------------------------- buffers


def steps_of(dataset: Any) -> tuple[Array, Array, Array, Array]:
    columns = read_dataset(dataset, "observation")
    columns.pop("actions")
    return read_steps(read_rows(**columns))


def test_transitions_get_their_last_observation() -> None:
    rows, onward, absorbing, source = steps_of(
        {
            "observations": [[0.0], [1.0], [5.0]],
            "next_observations": [[1.0], [2.0], [6.0]],
            "terminals": [False, True, False],
            "timeouts": [False, False, True],
        }
    )
    assert rows[:, 0].tolist() == [0, 1, 2, 5, 6]
    assert onward.tolist() == [True, True, False, True, False]
    assert absorbing.tolist() == [False, False, True, False, False]
    assert source.tolist() == [0, 1, -1, 2, -1]


def test_an_end_that_nobody_saw_is_where_the_step_before_would_have_led() -> None:
    rows, onward, absorbing, _ = steps_of(
        {
            "observations": [[0.0], [1.0], [2.0], [9.0], [8.0]],
            "terminals": [False, False, True, False, False],
            "timeouts": [False, False, False, False, True],
        }
    )
    assert rows[:, 0].tolist() == [0, 1, 2, 3, 9, 8]
    assert onward.tolist() == [True, True, True, False, True, False]
    assert absorbing.tolist() == [False, False, False, True, False, False]


def test_vectors_become_kinds_and_whole_numbers_stay() -> None:
    kind, values = kinds_of(np.array([3, 7, 7, 3]), 0)
    assert kind.tolist() == [0, 1, 1, 0]
    assert values.tolist() == [3, 7]
    vectors = np.random.default_rng(0).normal(size=(500, 2))
    kind, values = kinds_of(vectors, 0)
    assert values.shape == (9, 2)
    assert np.allclose(values[0], vectors[kind == 0].mean(axis=0))


def test_the_same_buffer_gives_the_same_planner(tmp_path: Path) -> None:
    data = Room().buffer(episodes=100)
    first, second = (replay.Planner(data, states=500).save(tmp_path / name) for name in "ab")
    a, b = np.load(first), np.load(second)
    assert all(np.array_equal(a[name], b[name]) for name in a.files)


# -------------------------------------------------------------------- answers


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda given: pickle.loads(pickle.dumps(given))])
def test_a_copy_answers_the_same(planner: replay.Planner, clone: Any) -> None:
    below = np.array([1.0, 0.5])
    assert (clone(planner).subgoal(below, GOAL) == planner.subgoal(below, GOAL)).all()


def test_many_observations_are_answered_like_single_ones(walled: replay.Planner) -> None:
    here = np.random.default_rng(2).uniform(0, [4, 2], (6, 2))
    goals = here[::-1]
    for ask in (walled.subgoal, walled.action, walled.value, walled.reach):
        together = ask(here, goals)
        one_by_one = [ask(x, goal) for x, goal in zip(here, goals, strict=True)]
        assert np.allclose(together, one_by_one)


def test_a_goal_is_checked_also_if_it_has_a_plan(walled: replay.Planner) -> None:
    walled.subgoal([0.5, 0.5], [3.0, 0.5])
    masked = np.ma.array([3.0, 9.0], mask=[False, True], fill_value=0.5)
    with pytest.raises(wf.InputError, match="masked"):
        walled.subgoal([0.5, 0.5], masked)


def test_predictions_that_are_all_wrong_fail() -> None:
    happened = np.ones(50, dtype=bool)
    assert check.Test(np.zeros(50), happened, 0.0, 0.0, 0.0).verdict == "do not use"
    assert (
        check.Test(np.ones(50), happened, 0.0, 0.0, 0.0).verdict == "careful"
    )  # there is nothing to tell


def test_an_agent_that_has_arrived_is_one_of_many(walled: replay.Planner) -> None:
    goal = np.array([3.0, 0.5])
    here = np.array([goal, [0.5, 0.5]])
    assert (walled.subgoal(here, goal)[0] == goal).all()
    assert walled.action(here, goal).shape == (2,)
    assert walled.reach(here, goal)[0] > 0.95


def test_a_saved_planner_answers_as_before(walled: replay.Planner, tmp_path: Path) -> None:
    assert walled.save(tmp_path / "planner") == tmp_path / "planner.npz"
    again = replay.Planner.load(tmp_path / "planner")  # the suffix is added, as in save
    here = np.random.default_rng(2).uniform(0, [4, 2], (20, 2))
    for name in ("subgoal", "action", "value", "reach"):
        assert np.array_equal(
            getattr(again, name)(here, [3.0, 0.5]), getattr(walled, name)(here, [3.0, 0.5])
        )
    assert repr(again) == repr(walled)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a.pop("m_to"), "it has no m_to"),
        (lambda a: a.update(m_to=a["m_to"] + 10**6), "is not below"),
        (lambda a: a.update(m_rows=a["m_rows"][:-1]), "do not fit each other"),
        (lambda a: a.update(m_features=a["m_features"] * np.nan), "not finite numbers"),
        (lambda a: a.update(f_scale=a["f_scale"][:1]), "damaged"),
    ],
)
def test_files_that_were_changed_are_refused(
    walled: replay.Planner, tmp_path: Path, change: Any, message: str
) -> None:
    path = walled.save(tmp_path / "planner")
    with np.load(path) as file:
        arrays = dict(file)
    change(arrays)
    np.savez(path, **arrays)
    with pytest.raises(wf.InputError, match=message):
        replay.Planner.load(path)


def test_check_report_and_diagnosis_say_what_the_plan_rests_on(walled: replay.Planner) -> None:
    check = walled.check()
    assert check.verdict == "trust"
    assert 0.35 < check.skill <= 1.0
    assert check.brier == pytest.approx(
        np.mean((walled._test.predicted - walled._test.happened) ** 2)
    )
    assert str(check).startswith("Verdict: trust")
    assert sum(number for _, _, number in check.reliability) == check.num_tested
    report = walled.report([3.0, 0.5])
    assert report.coverage > 0.9
    assert (report.low <= report.high).all()
    assert "The plan leads there from" in str(report)
    here = walled.diagnose([1.5, 0.5], [3.0, 0.5])
    assert here.arrives
    assert here.path[:, 1].max() > 1.4  # over the wall
    assert here.low <= here.reach <= here.high
    assert "Predicted arrival" in str(here)


def test_the_reliability_picture(walled: replay.Planner) -> None:
    pytest.importorskip("matplotlib").use("agg")
    assert walled.check().plot().get_xlabel() == "predicted"


def test_a_planner_that_failed_its_test_warns_once() -> None:
    """Observations that say nothing about what follows: a walk on a shuffled ring."""
    rng = np.random.default_rng(0)
    names = rng.permutation(4000).astype(float)
    at = (rng.integers(4000, size=(150, 1)) + np.arange(40)) % 4000
    data = {
        "observations": names[at].reshape(-1, 1),
        "actions": rng.integers(2, size=6000),
        "terminals": np.tile(np.arange(40) == 39, 150),
    }
    planner = replay.Planner(data, states=1000)
    assert planner.check().verdict == "do not use"
    with pytest.warns(wf.errors.TrustWarning, match="failed its test"):
        planner.reach(names[:1], names[5:6])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        planner.reach(names[:1], names[5:6])


# -------------------------------------------------------------------- bad input


def test_bad_questions(planner: replay.Planner) -> None:
    with pytest.raises(wf.InputError, match="has 3 coordinates"):
        planner.subgoal([1.0, 2.0, 3.0], GOAL)
    with pytest.raises(wf.InputError, match="not a finite number"):
        planner.reach([np.nan, 1.0], GOAL)
    with pytest.raises(wf.InputError, match="one or 2 observations, got 3"):
        planner.reach([[1.0, 1.0]] * 2, [GOAL] * 3)
    with pytest.raises(wf.InputError, match="no state is near the goal"):
        planner.reach([1.0, 1.0], [50.0, 50.0])
    with pytest.raises(wf.InputError, match="level must be between 0 and 1, got 2"):
        planner.reach_interval([1.0, 1.0], GOAL, level=2)
    with pytest.raises(wf.InputError, match="the plan has no actions"):
        planner.action([1.0, 1.0], GOAL)
    with pytest.raises(wf.InputError, match="goal must be one observation, got 2"):
        planner.report([GOAL, GOAL])


def test_bad_options() -> None:
    data = Room().buffer(episodes=10)
    with pytest.raises(wf.InputError, match="states"):
        replay.Planner(data, states=2)
    with pytest.raises(wf.InputError, match="plans"):
        replay.Planner(data, plans=0)
    with pytest.raises(wf.InputError, match="actions"):
        replay.Planner({**data, "actions": np.zeros(7)})


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.npz"
    np.savez(path, a=np.zeros(3))
    with pytest.raises(wf.InputError, match="is not a wayfield planner"):
        replay.Planner.load(path)


# -------------------------------------------------------------------- the cache


def test_each_value_is_made_once_however_many_threads_ask() -> None:
    made: list[int] = []

    def make(key: int) -> int:
        made.append(key)
        return key * key

    cache, found = Cache(make, most=10), []
    threads = [threading.Thread(target=lambda: found.append(cache[3])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [9] * 8
    assert made == [3]


def test_dummy_actions_of_last_rows_do_not_count() -> None:
    walk = {"observations": [[0], [1], [2], [3]], "actions": [7, 7, 7]}
    planner = replay.Planner([walk] * 10)
    assert planner.actions.tolist() == [7]
    assert planner.reach([3], goal=[3]) == 1.0
    assert planner.value([3], goal=[3]) == 0.0


@pytest.mark.parametrize(
    ("column", "data", "why"),
    [
        ("observations", np.zeros((20, 2)), "no coordinate that changes"),
        ("actions", np.full(20, np.nan), "actions\\[0\\] = nan is not a finite number"),
        ("actions", np.array(["left"] * 20), "actions must be numbers"),
    ],
)
def test_columns_that_are_none(column: str, data: Any, why: str) -> None:
    walk = {"observations": np.arange(20.0)[:, None], "actions": np.zeros(20, int)}
    ends = {"terminals": np.arange(20) % 5 == 4}
    with pytest.raises(wf.InputError, match=why):
        replay.Planner({**walk, **ends, column: data})


def test_far_from_all_data_nothing_is_ruled_out() -> None:
    there = np.linspace(0.0, 40.0, 81)[:, None]
    planner = replay.Planner([there, there[::-1]] * 10)
    low, high = planner.reach_interval([1e6], goal=[30.0])
    assert (low, high) == (0.0, 1.0)
    assert planner.reach([1e6], goal=[30.0]) < 1e-6
