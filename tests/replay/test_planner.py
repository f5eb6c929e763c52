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
from wayfield.replay.chains import read_transitions
from wayfield.replay.dataset import read_dataset, read_rows
from wayfield.replay.metric import Metric, find_metric
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
    return replay.Planner(Room().buffer())


@pytest.fixture(scope="module")
def wary() -> replay.Planner:
    return replay.Planner(Room(trapdoor=True).buffer())


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
    below = np.array([2.5, 0.5])  # the wall is between: the way is to the right
    assert planner.subgoal(below, GOAL)[0] > 2.6
    assert planner.subgoal(below, GOAL)[1] < 1.1
    assert (planner.subgoal([1.05, 2.45], GOAL) == GOAL).all()


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
    assert 19.0 <= planner.subgoal([30.0], [20.0])[0] < 30.0
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
        assert arrived.mean() > 0.85
    assert walled.value([1.5, 0.5], [2.5, 0.5]) > 10  # 4 steps as the crow flies


def test_an_open_room_has_no_walls() -> None:
    free = replay.Planner(actor(across(2.0, shut=False), room_starts()))
    assert free.value([1.5, 0.5], [2.5, 0.5]) < 8


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


def test_an_embedding_and_a_distance_of_ones_own(tmp_path: Path) -> None:
    data = Room().buffer(episodes=60)
    noisy = np.hstack([data["observations"], np.random.default_rng(0).normal(0, 9, (3600, 1))])
    wide = {**data, "observations": noisy}

    def embed(rows: Array) -> Array:
        return rows[:, :2]

    def distance(a: Array, b: Array) -> Array:
        return np.linalg.norm(a[:, None, :2] - b[None, :, :2], axis=2) / 0.2

    for option in ({"embed": embed}, {"distance": distance}):
        planner = replay.Planner(wide, **option)
        aim = planner.subgoal([1.0, 0.5, 7.0], [1.0, 2.5, 0.0])
        assert aim[1] < 1.1
        path = planner.save(tmp_path / "given")
        again = replay.Planner.load(path, **option)
        assert (again.subgoal([1.0, 0.5, 7.0], [1.0, 2.5, 0.0]) == aim).all()
        with pytest.raises(wf.InputError, match="which is not saved"):
            replay.Planner.load(path)
    with pytest.raises(wf.InputError, match="distance or embed, got both"):
        replay.Planner(wide, embed=embed, distance=distance)
    with pytest.raises(wf.InputError, match="embed must return finite features"):
        replay.Planner(wide, embed=lambda rows: rows[:5])
    with pytest.raises(wf.InputError, match="distance must return finite numbers"):
        replay.Planner(wide, distance=lambda a, b: np.zeros(3))


# -------------------------------------------------------------------- buffers


def test_the_same_buffer_gives_the_same_planner(tmp_path: Path) -> None:
    data = Room().buffer(episodes=100)
    first, second = (replay.Planner(data, states=2000).save(tmp_path / name) for name in "ab")
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
    assert not planner.actions.size  # actions that are all the same say nothing
    assert planner.reach([3], goal=[3]) == 1.0
    assert planner.value([3], goal=[3]) == 0.0


@pytest.mark.parametrize(
    ("column", "data", "why"),
    [
        ("observations", np.zeros((20, 2)), "no coordinate that changes"),
        ("actions", np.full(20, np.nan), "actions\\[0\\] = nan is not a finite number"),
        ("actions", np.array(["left"] * 20), "actions must be real numbers"),
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


# -------------------------------------------------------------------- reading


def rows_of(dataset: Any) -> Any:
    columns = read_dataset(dataset, "observation")
    actions = columns.pop("actions")
    return read_transitions(read_rows(**columns), actions)


def test_transitions_keep_their_last_observation() -> None:
    rows = rows_of(
        {
            "observations": [[0.0], [1.0], [5.0]],
            "next_observations": [[1.0], [2.0], [6.0]],
            "terminals": [False, True, False],
            "timeouts": [False, False, True],
        }
    )
    assert rows.before[:, 0].tolist() == [0, 1, 5]
    assert rows.after[:, 0].tolist() == [1, 2, 6]
    assert rows.died.tolist() == [False, True, False]
    assert rows.episode.tolist() == [0, 0, 1]
    assert not rows.unseen.any()


def test_an_end_that_nobody_saw_is_where_the_step_before_would_have_led() -> None:
    rows = rows_of(
        {
            "observations": [[0.0], [1.0], [2.0], [9.0], [8.0]],
            "terminals": [False, False, True, False, False],
            "timeouts": [False, False, False, False, True],
        }
    )
    assert rows.before[:, 0].tolist() == [0, 1, 2, 9]
    assert rows.after[:, 0].tolist() == [1, 2, 3, 8]
    assert rows.died.tolist() == rows.unseen.tolist() == [False, False, True, False]
    assert rows.episode.tolist() == [0, 0, 0, 1]


def test_more_than_64_kinds_of_actions_are_refused() -> None:
    walk = {"observations": np.arange(200.0)[:, None] % 50, "terminals": np.arange(200) % 50 == 49}
    with pytest.raises(wf.InputError, match="actions have 66 kinds"):
        replay.Planner({**walk, "actions": np.arange(200) % 66})
    replay.Planner({**walk, "actions": (np.arange(200) % 66).astype(float)})


@pytest.mark.parametrize(
    ("dataset", "why"),
    [
        ([np.zeros((3, 1)) + np.arange(3)[:, None]], "the dataset has 2 transitions"),
        ([np.arange(50.0)[:, None]], "a single episode of 49 transitions"),
    ],
)
def test_too_little_to_plan_with(dataset: Any, why: str) -> None:
    with pytest.raises(wf.InputError, match=why):
        replay.Planner(dataset)


def test_masks_are_refused_by_name() -> None:
    walk = {"observations": np.arange(40.0)[:, None] % 10, "terminals": np.arange(40) % 10 == 9}
    masked = np.ma.array(walk["terminals"], mask=np.arange(40) == 3)
    with pytest.raises(wf.InputError, match="terminals has masked entries"):
        replay.Planner({**walk, "terminals": masked})
    with pytest.raises(wf.InputError, match="terminals has masked entries"):
        replay.replay_graph(walk["observations"], terminals=masked)
    with pytest.raises(wf.InputError, match="observations has masked entries"):
        replay.Planner({**walk, "observations": np.ma.array(walk["observations"], mask=True)})
    hidden = np.ma.array(np.ones(40), mask=np.arange(40) == 5)
    with pytest.raises(wf.InputError, match="actions has masked entries"):
        replay.Planner({**walk, "actions": hidden})
    with pytest.raises(wf.InputError, match="the dataset has masks"):
        replay.Planner({**walk, "masks": np.ones(40)})


# -------------------------------------------------------------------- metric


def metric_of(rows: Array, action: Array | None = None) -> Metric:
    n = len(rows) - 1
    return find_metric(rows[:-1], rows[1:], action, np.arange(n) // 100)


def test_units_cancel_and_noise_is_dropped() -> None:
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.normal(size=(3000, 2)), axis=0)
    rows = np.hstack([walk * [1.0, 1000.0], rng.normal(0, 50, (3000, 1))])
    metric = metric_of(rows)
    lengths = [
        np.linalg.norm(metric(rows[:1] + e) - metric(rows[:1])) for e in np.diag([1, 1e3, 1])
    ]
    assert lengths[0] == pytest.approx(lengths[1], rel=0.2)
    assert lengths[2] < 0.01 * lengths[0]
    steps = np.linalg.norm(np.diff(metric(rows), axis=0), axis=1)
    assert np.median(steps) == pytest.approx(1.0, abs=0.1)


def test_mixed_columns_give_the_same_distances() -> None:
    rng = np.random.default_rng(1)
    rows = np.hstack([np.cumsum(rng.normal(size=(3000, 2)), axis=0), rng.normal(size=(3000, 1))])
    mix = rng.normal(size=(3, 3))
    plain, mixed = metric_of(rows), metric_of(rows @ mix)
    one = np.linalg.norm(plain(rows[:50]) - plain(rows[100:150]), axis=1)
    other = np.linalg.norm(mixed(rows[:50] @ mix) - mixed(rows[100:150] @ mix), axis=1)
    assert other == pytest.approx(one, rel=0.1)


def test_angles_become_circles_and_switches_are_long() -> None:
    rng = np.random.default_rng(0)
    angle = (np.cumsum(rng.normal(0, 0.2, 5000)) + np.pi) % (2 * np.pi) - np.pi
    switch = (np.arange(5000) // 100 % 2).astype(float)
    metric = metric_of(np.stack([angle, switch], axis=1))
    assert list(metric.wrapped) == [True, False]
    ends = metric(np.array([[-3.14, 0.0], [3.14, 0.0], [3.14, 1.0]]))
    assert np.linalg.norm(ends[0] - ends[1]) < 0.2
    assert np.linalg.norm(ends[1] - ends[2]) > 9


def test_what_wanders_by_itself_is_dropped_by_the_question() -> None:
    rng = np.random.default_rng(0)
    kind = rng.integers(2, size=6000)
    place, alone = np.zeros(6000), np.zeros((6000, 4))
    for t in range(1, 6000):
        place[t] = np.clip(place[t - 1] + (1 if kind[t - 1] else -1), -30, 30)
        alone[t] = 0.9 * alone[t - 1] + rng.normal(size=4)
    rows = np.hstack([place[:, None], alone])
    metric = metric_of(rows, 3.0 * np.eye(2)[kind[:-1]])
    assert metric.kind == "steered"
    apart = metric(rows[:1] + np.eye(5)) - metric(rows[:1])
    lengths = np.linalg.norm(apart, axis=1)
    assert (lengths[1:] < 0.2 * lengths[0]).all()


# -------------------------------------------------------------------- arrival within a radius


def test_arrival_within_a_radius_means_what_the_task_means(walled: replay.Planner) -> None:
    goal, starts = np.array([3.0, 0.5]), np.random.default_rng(4).uniform(0, [4, 2], (50, 2))
    wide, usual = walled.reach(starts, goal, radius=0.5), walled.reach(starts, goal)
    assert (wide >= usual - 0.02).all()
    near = np.linalg.norm(starts - goal, axis=1) <= 0.5
    assert (wide[near] == 1.0).all()
    assert walled.reach([3.4, 0.5], goal, radius=[np.inf, 0.1]) == 1.0
    assert walled.reach([2.0, 1.0], goal, radius=1e-6) < wide.max()
    for radius in (0.0, -1.0, np.nan, [1.0, 2.0, 3.0]):
        with pytest.raises(wf.InputError, match="radius must be a positive number"):
            walled.reach(starts, goal, radius=radius)


# -------------------------------------------------------------------- the test


def test_plans_are_followed_through_held_out_episodes(walled: replay.Planner) -> None:
    found = walled.check()
    assert found.kept > 0.85
    assert abs(found.predicted - found.kept) < 0.1
    assert str(found).startswith(f"Verdict: {found.verdict}")
    assert sum(number for _, _, number in found.goals) == 320
    assert found is walled.check()


def test_without_actions_there_is_no_trust() -> None:
    data = actor(across(2.0), room_starts())
    del data["actions"]
    planner = replay.Planner(data)
    check = planner.check()
    assert check.verdict != "trust"
    assert "no actions" in check.fails
    low, high = planner.reach_interval([1.0, 1.0], [3.0, 1.0])
    assert low == 0.0
    assert low < planner.reach([1.0, 1.0], [3.0, 1.0]) <= high


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
    planner = replay.Planner(data)
    assert planner.check().verdict == "do not use"
    with pytest.warns(wf.errors.TrustWarning, match="failed its test"):
        planner.reach(names[:1], names[5:6])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        planner.reach(names[:1], names[5:6])


def test_report_and_diagnosis_say_what_the_plan_rests_on(walled: replay.Planner) -> None:
    report = walled.report([3.0, 0.5])
    assert report.coverage > 0.9
    assert "The plan leads there from" in str(report)
    here = walled.diagnose([1.5, 0.5], [3.0, 0.5])
    assert here.arrives
    assert here.path[:, 1].max() > 1.4  # over the wall
    assert here.low <= here.reach <= here.high
    assert here.gaps.size == len(here.path) - 1
    assert "Predicted arrival" in str(here)


def test_the_picture_of_the_test(walled: replay.Planner) -> None:
    pytest.importorskip("matplotlib").use("agg")
    assert walled.check().plot().get_xlabel() == "predicted"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a.pop("episode"), "it has no episode"),
        (lambda a: a.update(before=a["before"][:-1]), "do not fit each other"),
        (lambda a: a.update(after=a["after"] * np.nan), "not finite numbers"),
        (lambda a: a.update(metric_weights=a["metric_weights"][:1]), "damaged"),
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
