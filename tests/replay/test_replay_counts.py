"""What a buffer says of its arcs: counts, dwell, visits, jumps, landmarks, actions."""

from __future__ import annotations

import pickle
from collections import defaultdict
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wayfield as wf
from wayfield import replay
from wayfield.replay.counts import merged, nearest
from wayfield.replay.dataset import read_rows
from wayfield.replay.kernels.landmarks import farthest_points, nearest_landmarks
from wayfield.replay.kernels.merging import merge_near

Array = np.ndarray[Any, Any]


def wandering(rng: np.random.Generator, rows: int, dims: int, kind: type = np.float32) -> Array:
    """A walk on a coarse lattice, so that ties and equal rows are common."""
    return np.cumsum(rng.integers(-1, 2, (rows, dims)), axis=0).astype(kind) / 2


def naive_merge(rows: Array, tolerance: float) -> list[int]:
    """State of every row: the first within the tolerance, one comparison after another."""
    states: list[Array] = []
    of_row = []
    for row in rows.astype(np.float64):
        near = [i for i, x in enumerate(states) if ((row - x) ** 2).sum() <= tolerance**2]
        if not near:
            states.append(row)
        of_row.append(near[0] if near else len(states) - 1)
    return of_row


# -------------------------------------------------------------------- merging


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("dims", [1, 2, 7, 40])
def test_merging_by_tolerance_is_that_of_the_naive_twin(dims: int, kind: type) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        rows = wandering(rng, 150, dims, kind)
        if seed % 2:
            rows += rng.normal(size=rows.shape).astype(kind)
        tolerance = float(rng.choice([0.5, 1.0, 2.5])) * np.sqrt(dims)
        here, _, states = merge_near(rows, rows[:0], tolerance)
        assert here.tolist() == naive_merge(rows, tolerance)
        assert np.array_equal(states, rows[np.unique(here, return_index=True)[1]])


def test_two_arrays_are_merged_in_the_order_of_time() -> None:
    rng = np.random.default_rng(1)
    first, second = wandering(rng, 60, 3), wandering(rng, 60, 3)
    both = np.stack([first, second], axis=1).reshape(-1, 3)
    here, there, _ = merge_near(first, second, 1.0)
    assert np.stack([here, there], axis=1).ravel().tolist() == naive_merge(both, 1.0)
    here, there, _ = merged(read_rows(first, second, None), 0.0)
    assert np.stack([here, there], axis=1).ravel().tolist() == naive_merge(both, 0.0)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_equal_rows_are_one_state_zeros_of_either_sign_too(kind: type) -> None:
    rng = np.random.default_rng(2)
    rows = rng.integers(-2, 3, (500, 3)).astype(kind) * kind(0.1)
    rows[::2] = np.where(rows[::2] == 0, -rows[::2], rows[::2])
    here, there, states = merged(read_rows(rows, None, None), 0.0)
    assert states.dtype == kind
    assert np.array_equal(there[:-1], here[1:])
    assert here.tolist() == naive_merge(rows, 0.0)
    assert len(states) == len(np.unique(rows, axis=0))


def test_merging_many_dimensions_takes_few_distances() -> None:
    """Work per row grows far slower than the number of states: it did not, once."""
    import time

    rng = np.random.default_rng(0)
    seconds = []
    for count in (20_000, 80_000):
        way = np.cumsum(rng.normal(size=(count, 2)), axis=0)
        rows = np.column_stack([way, rng.uniform(-0.1, 0.1, (count, 30))]).astype(np.float32)
        merge_near(rows[:10], rows[:0], 1.0)
        begun = time.process_time()
        _, _, states = merge_near(rows, rows[:0], 1.0)
        seconds.append((time.process_time() - begun) / count)
        assert len(states) > count / 6
    assert seconds[1] < 3 * seconds[0]


# -------------------------------------------------------------------- landmarks


def test_farthest_points_are_those_of_the_naive_twin() -> None:
    for seed in range(5):
        points = wandering(np.random.default_rng(seed), 200, 3)
        exact = points.astype(np.float64)
        naive, gap = [0], np.linalg.norm(exact - exact[0], axis=1)
        while len(naive) < 40 and gap.max() > 0.6:
            naive.append(int(gap.argmax()))
            gap = np.minimum(gap, np.linalg.norm(exact - exact[naive[-1]], axis=1))
        assert farthest_points(points, 40, 0.6).tolist() == naive


@pytest.mark.parametrize("neighbours", [1, 4, 30])
def test_nearest_landmarks_are_exact_whatever_is_known_of_neighbours(neighbours: int) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        rows, landmarks = wandering(rng, 300, 2), wandering(rng, 30, 2)
        if seed % 2:
            rows = rng.permutation(rows)
        gaps = np.linalg.norm(landmarks[:, None].astype(float) - landmarks, axis=2)
        near = np.argsort(gaps, axis=1, kind="stable")[:, :neighbours]
        found = nearest_landmarks(rows, landmarks, near, np.take_along_axis(gaps, near, axis=1))
        squares = ((rows[:, None].astype(float) - landmarks.astype(float)) ** 2).sum(axis=2)
        assert found.tolist() == squares.argmin(axis=1).tolist()
        assert nearest(rows, landmarks).tolist() == found.tolist()


def test_landmarks_by_number_cover_the_buffer_and_by_array_are_those_given() -> None:
    rng = np.random.default_rng(4)
    walk = np.cumsum(rng.normal(size=(900, 2)), axis=0)
    buffer = replay.replay_graph(walk, landmarks=50)
    assert buffer.states.shape == (50, 2)
    own = np.linalg.norm(walk[:-1] - buffer.states[buffer.tail], axis=1)
    every = np.linalg.norm(walk[:-1, None] - buffer.states, axis=2)
    assert np.array_equal(own, every.min(axis=1))
    again = replay.replay_graph(walk, landmarks=buffer.states)
    assert np.array_equal(again.graph.lengths, buffer.graph.lengths)
    assert np.array_equal(again.counts, buffer.counts)
    few = replay.replay_graph(walk, landmarks=50, tolerance=float(every.max()))
    assert len(few.states) == 1


def test_locate_is_nearest_for_many() -> None:
    rng = np.random.default_rng(5)
    buffer = replay.replay_graph(rng.normal(size=(80, 3)), tolerance=0.5)
    points = rng.normal(size=(40, 3))
    assert buffer.locate(points).tolist() == [buffer.nearest(point) for point in points]
    with pytest.raises(wf.InputError, match="observations have 2 coordinates, states 3"):
        buffer.locate(points[:, :2])


# -------------------------------------------------------------------- counts and time


def naive_arcs(episodes: list[list[int]]) -> tuple[dict[tuple[int, int], list[int]], Any]:
    """Dwells of every arc's crossings, and stays of every state, episode by episode."""
    dwells, visits = defaultdict(list), defaultdict(int)
    for states in episodes:
        visits[states[0]] += 1
        since = 0
        for step, (x, y) in enumerate(pairwise(states), start=1):
            if x != y:
                dwells[x, y].append(step - since)
                visits[y] += 1
                since = step
    return dwells, visits


@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=12), min_size=1, max_size=5))
def test_counts_dwell_and_visits_are_those_of_the_naive_twin(episodes: list[list[int]]) -> None:
    if max(map(len, episodes)) < 2:
        return
    rows = np.array([[float(x)] for episode in episodes for x in episode])
    final = np.concatenate([np.arange(len(e)) == len(e) - 1 for e in episodes])
    compact = replay.replay_graph(rows, terminals=final, jump=np.inf)
    dwells, visits = naive_arcs(episodes)
    name = compact.states[:, 0].astype(int)
    arcs = list(zip(name[compact.graph.tails], name[compact.graph.indices], strict=True))
    assert set(arcs) == set(dwells)
    assert compact.counts.tolist() == [len(dwells[arc]) for arc in arcs]
    assert compact.dwell.tolist() == [median(dwells[arc]) for arc in arcs]
    assert np.array_equal(compact.graph.lengths, compact.dwell)
    assert compact.visits.tolist() == [visits[x] for x in name]
    assert compact.departures.sum() == compact.counts.sum()
    # the same with every transition spelt out
    begin = np.flatnonzero(~final)
    last = final[begin + 1]
    spelt = replay.replay_graph(rows[begin], rows[begin + 1], terminals=last, jump=np.inf)
    told = spelt.states[:, 0].astype(int)
    arcs_too = list(zip(told[spelt.graph.tails], told[spelt.graph.indices], strict=True))
    assert dict(zip(arcs_too, spelt.counts.tolist(), strict=True)) == {
        arc: len(seen) for arc, seen in dwells.items()
    }
    assert dict(zip(arcs_too, spelt.dwell.tolist(), strict=True)) == {
        arc: median(seen) for arc, seen in dwells.items()
    }


def test_time_between_merged_states_is_never_below_distance_over_speed() -> None:
    rng = np.random.default_rng(6)
    walk = np.cumsum(rng.normal(0.2, 0.3, size=(400, 2)), axis=0)
    buffer = replay.replay_graph(walk, landmarks=40)
    graph = buffer.graph
    way = np.linalg.norm(buffer.states[graph.tails] - buffer.states[graph.indices], axis=1)
    assert (graph.lengths >= way / buffer.speed * (1 - 1e-12)).all()
    assert (graph.lengths >= buffer.dwell).all()
    assert (graph.lengths > buffer.dwell).any()


def test_speed_is_that_of_ten_steps_and_half_of_one_at_least() -> None:
    straight = np.arange(50.0)[:, None]
    assert replay.replay_graph(straight).speed == 1.0
    there_and_back = np.tile([0.0, 1.0], 30)[:, None]
    assert replay.replay_graph(there_and_back).speed == 0.5
    still = replay.replay_graph(np.zeros((5, 1)), tolerance=1.0)
    assert still.speed == 0.0
    assert still.graph.num_arcs == 0


def test_pairs_in_no_order_take_a_step_each() -> None:
    rng = np.random.default_rng(7)
    walk = np.arange(30.0)[:, None]
    order = rng.permutation(29)
    buffer = replay.replay_graph(walk[order], walk[order + 1])
    assert (buffer.dwell == 1.0).all()
    assert buffer.speed == 1.0


# -------------------------------------------------------------------- jumps


def teleporting(count: int = 200) -> tuple[Array, Array]:
    """Walks along a line; whoever comes to 10 is sent to 40 or 80."""
    rng = np.random.default_rng(8)
    rows: list[float] = []
    final: list[bool] = []
    for _ in range(count):
        here = float(rng.integers(0, 10))
        for step in range(20):
            rows.append(here)
            final.append(step == 19)
            here = float(rng.choice([40.0, 80.0])) if here == 10.0 else here + 1.0
    return np.array(rows)[:, None], np.array(final)


def test_jumps_are_counted_and_know_where_they_set_in() -> None:
    rows, final = teleporting()
    for options in ({}, {"tolerance": 0.5}):
        buffer = replay.replay_graph(rows, terminals=final, **options)
        places = buffer.states[:, 0]
        jumps = buffer.jumps
        assert set(zip(places[jumps.tail], places[jumps.head], strict=True)) == {
            (10.0, 40.0),
            (10.0, 80.0),
        }
        assert (jumps.launch == 10.0).all()
        assert jumps.count.sum() == buffer.jump_counts.sum() == buffer.departures[places == 10.0]
        leapt = buffer.jump_counts > 0
        assert np.array_equal(buffer.jump_counts[leapt], buffer.counts[leapt])
        assert (buffer.graph.lengths == 1.0).all()  # a jump takes its time, not its distance
    assert replay.replay_graph(rows, terminals=final, jump=100.0).jumps.tail.size == 0


def test_an_even_walk_has_no_jumps() -> None:
    walk = np.random.default_rng(9).normal(size=(2000, 2)).cumsum(axis=0)
    assert replay.replay_graph(walk, tolerance=1.0).jump_counts.sum() == 0


# -------------------------------------------------------------------- actions


def test_actions_at_exact_states_are_counted_one_by_one() -> None:
    rows = [[0.0], [0.0], [1.0], [0.0], [1.0]]
    buffer = replay.replay_graph(rows, actions=[7, 7, 3, 7, 3])
    done = buffer.actions
    assert done is not None
    table = zip(done.state, done.action, done.next_state, done.count, done.cost, strict=True)
    assert sorted(table) == [(0, 1, 0, 1, 1.0), (0, 1, 1, 2, 1.0), (1, 0, 0, 1, 1.0)]
    assert done.kinds.tolist() == [3, 7]


def test_actions_between_merged_states_are_means_of_stays() -> None:
    rows = np.array([[0.0], [0.4], [1.0], [1.4], [2.0], [1.0], [0.0]])
    actions = np.array([[1.0], [1.0], [1.0], [1.0], [-1.0], [-1.0], [0.0]])
    done = replay.replay_graph(rows, actions=actions, tolerance=0.5).actions
    assert done is not None
    assert sorted(done.kinds[done.action, 0].tolist()) == [-1.0, -1.0, 1.0, 1.0]
    assert dict(zip(done.state.tolist(), done.cost.tolist(), strict=False)) == {0: 2, 1: 1, 2: 1}
    assert done.count.sum() == 4


# -------------------------------------------------------------------- what goes along


def test_attached_vertices_leave_the_counts_where_they_were() -> None:
    rows, final = teleporting(20)
    buffer = replay.replay_graph(rows, terminals=final)
    larger, _ = buffer.attach([5.5], "both", k=3)
    old = larger.counts > 0
    assert np.array_equal(larger.counts[old], buffer.counts)
    assert np.array_equal(larger.graph.tails[old], buffer.graph.tails)
    assert np.array_equal(larger.graph.indices[old], buffer.graph.indices)
    assert np.array_equal(larger.dwell[old], buffer.dwell)
    assert np.isnan(larger.dwell[~old]).all()
    assert larger.visits.size == larger.graph.num_vertices


def test_a_copy_is_read_only_too() -> None:
    buffer = pickle.loads(pickle.dumps(replay.replay_graph([[0.0], [1.0]])))
    assert not buffer.counts.flags.writeable
    assert not buffer.jumps.tail.flags.writeable


def test_float32_rows_stay_float32() -> None:
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    assert replay.replay_graph(rows).states.dtype == np.float32
    assert replay.replay_graph(rows, rows.astype(float)).states.dtype == np.float64


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"landmarks": 0}, "landmarks must be a whole number of at least 1, got 0"),
        ({"landmarks": [[0.0, 1.0]]}, "landmarks have 2 coordinates, observations 1"),
        ({"landmarks": [[np.nan]]}, r"landmarks\[0, 0\] = nan"),
        ({"landmarks": np.empty((0, 1))}, "landmarks must not be empty"),
        ({"jump": -1.0}, "jump must be"),
        ({"jump": np.nan}, "jump must be"),
        ({"seed": -1, "landmarks": 2}, "seed must be"),
        ({"actions": [1, 2]}, r"actions are of shape \(2,\), but there are 3 observations"),
        ({"actions": [[0.0], [np.inf], [0.0]]}, r"actions\[1, 0\] = inf"),
        ({"observations": [[0.0], [1e200], [1.0]]}, r"observations\[1, 0\] = 1e\+200"),
    ],
)
def test_bad_settings_are_refused(arguments: dict[str, Any], message: str) -> None:
    good = {"observations": [[0.0], [1.0], [2.0]]}
    with pytest.raises(wf.InputError, match=message):
        replay.replay_graph(**(good | arguments))
