"""A planner from a buffer: agents arrive as often as predicted, and bad input is refused."""

from __future__ import annotations

import copy
import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wayfield as wf
from rooms import Room
from wayfield.replay._stitching import find_stitched, stitched_odds
from wayfield.replay.planner import Cache

Array = np.ndarray[Any, Any]
GOAL = np.array([1.0, 2.5])
BUFFER = Room().buffer()
TRAPPED = Room(trapdoor=True).buffer()


@pytest.fixture(scope="module")
def planner() -> wf.Planner:
    return wf.Planner(BUFFER)


@pytest.fixture(scope="module")
def wary() -> wf.Planner:
    return wf.Planner(TRAPPED)


# -------------------------------------------------------------------- sub-goals


def test_three_lines_lead_every_agent_round_the_wall(planner: wf.Planner) -> None:
    starts = Room().points(100, seed=9)
    assert Room().walk(planner, starts, GOAL).all()
    assert planner.reach(starts, GOAL) == pytest.approx(1.0)


def test_the_subgoal_is_on_the_way_and_near_the_goal_the_goal_itself(planner: wf.Planner) -> None:
    below = np.array([1.0, 0.5])  # the wall is between: the way is to the right
    assert planner.subgoal(below, GOAL)[0] > 1.1
    assert np.linalg.norm(planner.subgoal(below, GOAL) - below) < 2.0
    assert (planner.subgoal([1.2, 2.4], GOAL) == GOAL).all()


def test_values_grow_along_the_way(planner: wf.Planner) -> None:
    way = np.array([[2.0, 2.5], [4.5, 2.5], [5.5, 1.5], [4.5, 0.5], [1.0, 0.5]])
    assert (np.diff(planner.value(way, GOAL)) > 0).all()


def test_arrival_is_what_was_predicted_and_the_gamble_is_avoided(wary: wf.Planner) -> None:
    room, starts = Room(trapdoor=True), Room(trapdoor=True).points(150, seed=9)
    arrived, predicted = room.walk(wary, starts, GOAL), wary.reach(starts, GOAL)
    assert arrived.mean() > 0.97
    assert predicted.mean() == pytest.approx(arrived.mean(), abs=0.05)


def test_the_last_steps_to_a_goal_that_nobody_was_near_are_unobserved(planner: wf.Planner) -> None:
    outside, start = [4.0, 4.2], [1.0, 0.5]
    assert 0.4 < planner.reach(start, outside) < 0.99
    report = planner.report(outside)
    assert report.last < 1.0
    assert report.reach.max() == pytest.approx(report.last)
    assert "Nobody came nearer" in str(report)
    assert planner.report(GOAL).last == 1.0
    assert "Nobody came nearer" not in str(planner.report(GOAL))


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda given: pickle.loads(pickle.dumps(given))])
def test_a_copy_answers_the_same(planner: wf.Planner, clone: Any) -> None:
    below = np.array([1.0, 0.5])
    assert (clone(planner).subgoal(below, GOAL) == planner.subgoal(below, GOAL)).all()


def test_nothing_leads_out_of_the_closet(wary: wf.Planner) -> None:
    assert wary.reach([20.0, 0.0], GOAL) < 0.05
    assert wary.value([20.0, 0.0], GOAL) > 5 * wary.value([8.5, 0.5], GOAL)


def test_a_bold_planner_takes_the_risk() -> None:
    bold = wf.Planner(TRAPPED, give_up=30.0)
    assert bold.reach([5.5, 0.5], GOAL) < 0.9


def test_many_observations_are_answered_like_single_ones(planner: wf.Planner) -> None:
    rows = Room().points(20, seed=3)
    goals = Room().points(20, seed=4)
    for ask in (planner.subgoal, planner.value, planner.reach):
        assert np.array_equal(ask(rows, GOAL), [ask(row, GOAL) for row in rows])
        each = [ask(row, goal) for row, goal in zip(rows, goals, strict=True)]
        assert np.array_equal(ask(rows, goals), each)
    assert planner.subgoal(rows, GOAL).shape == (20, 2)
    assert np.ndim(planner.value(rows[0], GOAL)) == 0


def test_a_goal_is_a_set_of_states_on_its_own_side_of_the_wall() -> None:
    planner = wf.Planner(BUFFER, radius=1.6)  # as far as the other side
    states = planner.states[planner.report([1.0, 0.9]).goal_states]
    assert len(states) > 5
    assert (states[:, 1] < 1.2).all()


def test_if_no_state_is_within_the_radius_the_nearest_is_the_goal(planner: wf.Planner) -> None:
    report = planner.report([1.0, 3.9])
    assert report.goal_states.size == 1
    assert report.away > planner.radius


def test_agents_off_the_graph_are_led_back(planner: wf.Planner) -> None:
    assert np.isfinite(planner.subgoal([50.0, 50.0], GOAL)).all()
    near, far = planner.reach([[6.0, 8.0], [50.0, 50.0]], GOAL)
    assert 1e-3 < near < 0.5
    assert far < 1e-6


# -------------------------------------------------------------------- stitched arcs and odds


def two_corridors(rounds: int = 20) -> list[Array]:
    """Walks along 0 … 4 and along 6 … 10, both ways; nobody is seen between them."""
    left, right = np.arange(0, 4.01, 0.25)[:, None], np.arange(6, 10.01, 0.25)[:, None]
    return [left, left[::-1], right, right[::-1]] * rounds


def test_a_stitched_arc_counts_with_its_odds() -> None:
    planner = wf.Planner(
        two_corridors(), landmarks=np.arange(0.0, 10.5, 1.0)[[*range(5), *range(6, 11)], None]
    )
    report = planner.report([10.0])
    assert report.coverage == 0.5
    relied = report.suspects
    assert (
        relied.tail.size,
        planner.states[relied.tail[0], 0],
        planner.states[relied.head[0], 0],
    ) == (1, 4.0, 6.0)
    assert planner.reach([0.0], [10.0]) == pytest.approx(relied.odds[0])
    assert planner.reach([7.0], [10.0]) == 1.0
    assert "relies on 1 stitched arc" in str(report)


def test_without_stitched_arcs_nothing_leads_across() -> None:
    planner = wf.Planner(two_corridors(), stitch=0)
    assert planner.reach([0.0], [10.0]) == 0.0
    assert planner.value([0.0], [10.0]) == np.inf


def test_odds_of_stitched_arcs_fall_with_evidence_and_rise_with_the_share_that_works() -> None:
    replay = wf.replay_graph(np.abs(np.arange(80.0) % 12 - 6)[:, None])
    tails, heads = np.array([0]), np.array([6])
    n = min(replay.departures[[0, 1]].mean(), replay.departures[[5, 6]].mean())
    short, long = np.ones(1), np.full(1, 9.0)
    assert stitched_odds(replay, tails, heads, short) == pytest.approx(1 / (2 + n / 3))
    pooled = [stitched_odds(replay, tails, heads, length, 0.9) for length in (short, 2 * short)]
    assert pooled[1] == pytest.approx(1 / (1 + (1 + n / 3) / 9))
    assert pooled[0] == pytest.approx(1 / (1 + (1 + n / 3) / 18))
    assert stitched_odds(replay, tails, heads, long) < 1e-9


def test_the_share_that_works_is_pooled_over_the_graph() -> None:
    replay = wf.replay_graph(BUFFER["observations"], terminals=BUFFER["terminals"], landmarks=200)
    rng = np.random.default_rng(0)
    right = find_stitched(replay, 5, pooled=True)
    pairs = rng.integers(200, size=(2, 900))
    pairs = pairs[:, pairs[0] != pairs[1]]
    made_up = wf.Graph.from_edges(*np.unique(np.sort(pairs, axis=0), axis=1), num_vertices=200)
    wrong = find_stitched(replay, made_up, pooled=True)
    plain = find_stitched(replay, made_up)
    assert right.odds.max() > 0.3
    assert wrong.odds.max() < 0.1
    assert (wrong.odds < plain.odds).all()


def test_a_teleporter_is_entered_where_jumps_began() -> None:
    walk = np.array([[0.0], [1.0], [2.2], [50.0], [51.0]])
    planner = wf.Planner([walk] * 10, landmarks=walk.round(), jump=10.0)
    assert planner.subgoal([1.9], [51.0]) == pytest.approx([2.2])


def test_three_lucky_jumps_do_not_win() -> None:
    """One door was lucky three times; another, which all use, arrives in one case of three."""
    long_way = [float(x) for x in range(0, -31, -1)] + [100.0]
    walks = [[0.0, 1, 2, 3, 100]] * 3 + [[0.0, -1, -2, 3.5, 100], [0.0, -1, -2, 3.5, 200]] * 20
    walks += [[0.0, 1, 2, 3.5, 200]] * 20 + [long_way] * 20
    replay = wf.replay_graph(
        [[x] for walk in walks for x in walk],
        terminals=[i == len(walk) - 1 for walk in walks for i in range(len(walk))],
        jump=20.0,
    )
    lucky = wf.expected_cost(replay, replay.nearest([100.0]), give_up=1000.0)
    planner = wf.Planner(replay)
    start = replay.nearest([2.0])
    assert lucky.reach[start] == 1.0
    assert planner.reach([2.0], [100.0]) < 0.9


# -------------------------------------------------------------------- grids and actions


def slippery(episodes: int = 600, seed: int = 0) -> dict[str, Array]:
    """Random walks in a 4 × 4 grid, two of five moves going astray; a pit in (1, 1) ends them."""
    rng = np.random.default_rng(seed)
    ways = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
    rows, actions, pits, late = [], [], [], []
    for _ in range(episodes):
        place = rng.integers(4, size=2)
        for step in range(12):
            action = int(rng.integers(4))
            rows.append(place)
            actions.append(action)
            fallen = (place == 1).all()
            pits.append(bool(fallen))
            late.append(step == 11)
            if fallen:
                break
            taken = action if rng.random() < 0.6 else int(rng.integers(4))
            place = np.clip(place + ways[taken], 0, 3)
    return {
        "observations": np.array(rows, dtype=float),
        "actions": np.array(actions),
        "terminals": np.array(pits),
        "timeouts": np.array(late),
    }


def test_recurring_observations_are_states_and_whole_actions_choices() -> None:
    planner = wf.Planner(slippery())
    assert planner.states.shape == (16, 2)
    assert planner.reach([1.0, 1.0], [3.0, 3.0]) == 0.0  # the pit
    assert planner.value([1.0, 1.0], [3.0, 3.0]) == np.inf
    # from (0, 1) away from the pit beside it, though through it the goal is nearer
    assert planner.subgoal([0.0, 1.0], [3.0, 3.0]).tolist() in ([0.0, 2.0], [0.0, 0.0])
    assert 0.6 < planner.reach([0.0, 1.0], [3.0, 3.0]) < 1.0


def test_whole_numbers_that_are_met_twice_are_states() -> None:
    few = {name: rows[:40] for name, rows in slippery().items()}
    few["terminals"][-1] = True
    met = len(np.unique(few["observations"], axis=0))
    assert 10 * met > 40 >= 2 * met
    assert len(wf.Planner(few).states) == met
    shifted = few | {"observations": few["observations"] + 0.25}
    assert not wf.Planner(shifted).replay.exact


def test_a_goal_that_is_no_state_of_a_grid_world() -> None:
    planner = wf.Planner(slippery())
    with pytest.raises(wf.InputError, match=r"no state is near the goal \[4. 3.\]"):
        planner.reach([0.0, 0.0], [4.0, 3.0])
    assert planner.reach([0.0, 0.0], [3.0, 3.0 + 1e-6]) == planner.reach([0.0, 0.0], [3.0, 3.0])


def test_the_longest_step_that_is_no_jump() -> None:
    walk = np.arange(0.0, 9.0, 0.1)
    leap = np.concatenate([walk[walk < 4.0], walk[walk > 4.3]])[:, None]  # four steps long
    episodes = [leap, leap[::-1]] * 10
    assert wf.Planner(episodes, landmarks=40).replay.jumps.tail.size == 0
    assert wf.Planner(episodes, landmarks=40, jump=0.2).replay.jumps.tail.size > 0
    with pytest.raises(wf.InputError, match="jump must be a finite number of at least 0"):
        wf.Planner(episodes, jump=-1.0)
    replay = wf.Replay.from_dataset(episodes, tolerance=0.05)
    with pytest.raises(wf.InputError, match="landmarks, embed and jump are for datasets"):
        wf.Planner(replay, jump=1.0)


# -------------------------------------------------------------------- distances of one's own


def euclid(a: Array, b: Array) -> Array:
    gaps: Array = np.linalg.norm(a[:, None] - b[None], axis=2)
    return gaps / 0.2


def test_a_distance_of_ones_own() -> None:
    planner = wf.Planner(BUFFER, landmarks=150, distance=euclid)
    assert Room().walk(planner, Room().points(40, seed=9), GOAL).all()


def test_an_embedding_leaves_out_what_does_not_matter() -> None:
    noise = np.random.default_rng(0).normal(0, 5, (len(BUFFER["observations"]), 1))
    wide = BUFFER | {"observations": np.hstack([BUFFER["observations"], noise])}
    planner = wf.Planner(wide, landmarks=150, embed=lambda rows: rows[:, :2])
    assert planner.states.shape == (150, 3)
    assert planner.subgoal([1.0, 0.5, 99.0], [1.0, 2.5, 0.0])[0] > 1.2
    assert planner.reach([1.0, 0.5, 99.0], [1.0, 2.5, 0.0]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"distance": lambda a, b: np.zeros(3)}, r"distance must return .* shape \(\d+, 1\)"),
        ({"distance": lambda a, b: np.full((len(a), len(b)), -1.0)}, "distance returned -1"),
        ({"distance": lambda a, b: np.full((len(a), len(b)), np.nan)}, "distance returned nan"),
        ({"embed": lambda rows: rows[:5]}, "embed returned 5 rows"),
        ({"embed": lambda rows: rows * np.nan}, "is not a finite number"),
        ({"distance": euclid, "embed": lambda rows: rows}, "distance or embed, got both"),
    ],
)
def test_bad_functions_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(wf.InputError, match=message):
        wf.Planner(BUFFER, **options)


# -------------------------------------------------------------------- memory, threads, files


def test_plans_are_kept_and_few() -> None:
    planner = wf.Planner(BUFFER, landmarks=60, plans=3)
    for goal in Room().points(12, seed=5):
        planner.subgoal([1.0, 0.5], goal)
    assert len(planner._by_states) == 3
    first = planner._by_point[GOAL.tobytes()]
    assert planner._by_point[GOAL.tobytes()] is first


def test_each_value_is_made_once_however_many_threads_ask() -> None:
    made: list[int] = []
    kept = Cache(lambda key: made.append(key) or key, most=100)
    threads = [threading.Thread(target=lambda: [kept[key] for key in range(50)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(made) == list(range(50))


def test_threads_get_the_same_answers(planner: wf.Planner) -> None:
    goals, rows = Room().points(6, seed=6), Room().points(30, seed=7)
    want = [planner.subgoal(rows, goal) for goal in goals]
    fresh = wf.Planner(BUFFER)
    got: dict[int, list[Array]] = {}

    def ask(name: int) -> None:
        got[name] = [fresh.subgoal(rows, goal) for goal in goals]

    threads = [threading.Thread(target=ask, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(got[name], want) for name in range(4))


@pytest.mark.parametrize("data", [BUFFER, slippery(200)], ids=["room", "grid"])
def test_a_saved_planner_answers_as_before(data: dict[str, Array], tmp_path: Path) -> None:
    planner = wf.Planner(data, give_up=700.0)
    path = planner.save(tmp_path / "planner")
    again = wf.Planner.load(path)
    rows, goal = data["observations"][:40], data["observations"][50]
    for ask in ("subgoal", "value", "reach"):
        assert np.array_equal(getattr(planner, ask)(rows, goal), getattr(again, ask)(rows, goal))
    assert repr(again) == repr(planner)
    assert str(again.report(goal)) == str(planner.report(goal))


def test_a_function_is_not_saved_and_has_to_be_given_again(tmp_path: Path) -> None:
    planner = wf.Planner(BUFFER, landmarks=60, distance=euclid)
    path = planner.save(tmp_path / "planner.npz")
    with pytest.raises(wf.InputError, match="pass distance=, which is not saved"):
        wf.Planner.load(path)
    again = wf.Planner.load(path, distance=euclid)
    assert np.array_equal(again.subgoal([1.0, 0.5], GOAL), planner.subgoal([1.0, 0.5], GOAL))
    plain = wf.Planner(BUFFER, landmarks=60).save(tmp_path / "plain.npz")
    with pytest.raises(wf.InputError, match="it was made without embed"):
        wf.Planner.load(plain, embed=lambda rows: rows)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("counts", lambda of: of - 1000),
        ("counts", lambda of: of.astype(str)),
        ("speed", lambda of: of * np.nan),
        ("set_radius", lambda of: of * np.nan),
        ("set_ahead", lambda of: -of),
        ("set_plans", lambda of: of * np.inf),
        ("states", lambda of: of * np.nan),
        ("stitched_odds", lambda of: of + 1.0),
        ("stitched_odds", lambda of: of[1:]),
        ("jump_count", lambda of: of[None]),
    ],
)
def test_files_that_were_changed_are_refused(
    planner: wf.Planner, name: str, change: Any, tmp_path: Path
) -> None:
    with np.load(planner.save(tmp_path / "planner.npz")) as saved:
        arrays = dict(saved)
    np.savez(tmp_path / "changed.npz", **arrays | {name: change(arrays[name])})
    with pytest.raises(wf.InputError, match=r"changed.npz is not a .*, or is damaged: " + name):
        wf.Planner.load(tmp_path / "changed.npz")


@pytest.mark.parametrize("other", [lambda a: a, lambda a: np.c_[a, a[:, 0]]])
def test_another_embedding_than_the_planner_was_made_with(other: Any, tmp_path: Path) -> None:
    made = wf.Planner(BUFFER, 50, embed=lambda a: np.c_[a, a.sum(axis=1)])
    with pytest.raises(wf.InputError, match="embed is not what the planner was made with"):
        wf.Planner.load(made.save(tmp_path / "planner.npz"), embed=other)


def test_an_embedding_that_changes_its_width() -> None:
    made = wf.Planner(BUFFER, 50, embed=lambda a: a if len(a) > 1 else a[:, :1])
    with pytest.raises(wf.InputError, match="embed returned 1 features, and 2 for the states"):
        made.subgoal([1.0, 0.5], GOAL)


def test_one_goal_may_be_a_row(planner: wf.Planner) -> None:
    here = np.array([1.0, 0.5])
    assert np.array_equal(planner.subgoal(here, GOAL[None]), planner.subgoal(here, GOAL))


def test_ragged_observations(planner: wf.Planner) -> None:
    with pytest.raises(wf.InputError, match="observation"):
        planner.subgoal([[1.0, 0.5], [1.0]], GOAL)


def test_truncated_and_foreign_files_are_refused(tmp_path: Path) -> None:
    whole = wf.Planner(BUFFER, landmarks=60).save(tmp_path / "planner.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(wf.InputError, match="damaged"):
        wf.Planner.load(tmp_path / "cut.npz")
    np.savez(tmp_path / "foreign.npz", states=np.zeros((3, 2)))
    with pytest.raises(wf.InputError, match="is missing or different"):
        wf.Planner.load(tmp_path / "foreign.npz")
    arrays = dict(np.load(tmp_path / "planner.npz"))
    np.savez(tmp_path / "less.npz", **{k: v for k, v in arrays.items() if k != "visits"})
    with pytest.raises(wf.InputError, match="it has no visits"):
        wf.Planner.load(tmp_path / "less.npz")
    np.savez(tmp_path / "odd.npz", **(arrays | {"counts": arrays["counts"][:5]}))
    with pytest.raises(wf.InputError, match="counts has 5 entries"):
        wf.Planner.load(tmp_path / "odd.npz")


# -------------------------------------------------------------------- bad input


def test_terminals_that_do_not_fit() -> None:
    with pytest.raises(wf.InputError, match="but 7 terminals: is it cut off"):
        wf.Planner(BUFFER | {"terminals": BUFFER["terminals"][:7]})


def test_terminals_that_are_missing() -> None:
    with pytest.raises(wf.InputError, match="to mark where episodes end, got none"):
        wf.Planner({"observations": BUFFER["observations"]})
    with pytest.raises(wf.InputError, match="does not say where episodes end"):
        wf.Planner(BUFFER["observations"])


def test_nan_observations() -> None:
    rows = BUFFER["observations"].copy()
    rows[17, 1] = np.nan
    with pytest.raises(wf.InputError, match=r"observations\[17, 1\] = nan"):
        wf.Planner(BUFFER | {"observations": rows})


def test_nan_questions(planner: wf.Planner) -> None:
    with pytest.raises(wf.InputError, match=r"observation\[0, 0\] = nan"):
        planner.subgoal([np.nan, 0.0], GOAL)
    with pytest.raises(wf.InputError, match=r"goal\[0, 1\] = inf"):
        planner.reach([0.0, 0.0], [0.0, np.inf])


def test_a_goal_no_state_is_near(planner: wf.Planner) -> None:
    with pytest.raises(wf.InputError, match=r"no state is near the goal \[40. 40.\]"):
        planner.subgoal([0.0, 0.0], [40.0, 40.0])


def test_observations_of_another_dimension(planner: wf.Planner) -> None:
    with pytest.raises(wf.InputError, match=r"observation has 3 coordinates, .* have 2"):
        planner.subgoal([0.0, 0.0, 0.0], GOAL)
    with pytest.raises(wf.InputError, match=r"goal has 1 coordinate, .* have 2"):
        planner.value([0.0, 0.0], [1.0])
    with pytest.raises(wf.InputError, match="rows of them"):
        planner.reach(np.zeros((2, 2, 2)), GOAL)
    with pytest.raises(wf.InputError, match="goal must be one or 3 observations, got 2"):
        planner.subgoal(np.zeros((3, 2)), np.zeros((2, 2)))


def test_a_dataset_cut_off_in_the_middle(tmp_path: Path) -> None:
    np.savez(tmp_path / "whole.npz", **BUFFER)
    whole = (tmp_path / "whole.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(wf.InputError, match="damaged"):
        wf.Planner(tmp_path / "cut.npz")
    assert wf.Planner(tmp_path / "whole.npz", landmarks=50).states.shape == (50, 2)


def test_zero_counts_and_negative_costs() -> None:
    with pytest.raises(wf.InputError, match=r"count\[1\] = 0.0 is not positive"):
        wf.Transitions([0, 0], [0, 0], [1, 2], count=[1, 0])
    with pytest.raises(wf.InputError, match=r"cost\[0\] = -1.0 is negative"):
        wf.Transitions([0, 0], [0, 0], [1, 2], cost=[-1, 1])


def test_probabilities_that_do_not_sum_to_one() -> None:
    with pytest.raises(wf.InputError, match=r"action 0 at state 0 sum to 0.9, not 1"):
        wf.Transitions.from_probabilities([0, 0], [0, 0], [1, 2], [0.5, 0.4])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"landmarks": 0}, "landmarks"),
        ({"landmarks": np.zeros((3, 5))}, "landmarks have 5 coordinates"),
        ({"stitch": -1}, "stitch must be a whole number"),
        ({"radius": -1.0}, "radius"),
        ({"ahead": np.nan}, "ahead"),
        ({"give_up": -3}, "give_up"),
        ({"plans": 0}, "plans"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(wf.InputError, match=message):
        wf.Planner(BUFFER, **options)


def test_a_replay_has_its_states() -> None:
    replay = wf.Replay.from_dataset(BUFFER, landmarks=80)
    assert wf.Planner(replay).states is replay.states
    with pytest.raises(wf.InputError, match="a Replay has its states"):
        wf.Planner(replay, landmarks=10)
