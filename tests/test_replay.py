"""Replay buffers: transitions to arcs, nearby observations to one vertex."""

from __future__ import annotations

import numpy as np
import pytest

import wayfield as wf


def test_exact_merging_numbers_states_as_they_appear() -> None:
    replay = wf.replay_graph([[5.0], [3.0], [5.0], [4.0]], [[3.0], [5.0], [4.0], [4.0]])
    assert np.array_equal(replay.states, [[5.0], [3.0], [4.0]])
    assert np.array_equal(replay.tail, [0, 1, 0, 2])
    assert np.array_equal(replay.head, [1, 0, 2, 2])
    assert replay.stayed == 1
    assert replay.graph.directed
    assert replay.graph.num_arcs == 3


def test_every_observation_is_near_its_state() -> None:
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.normal(size=(2000, 2)), axis=0)
    replay = wf.replay_graph(walk, tolerance=0.7)
    assert (np.linalg.norm(replay.states[replay.tail] - walk[:-1], axis=1) <= 0.7).all()
    gaps = np.linalg.norm(replay.states[:, None] - replay.states[None], axis=2)
    assert gaps[~np.eye(len(gaps), dtype=bool)].min() > 0.7
    assert replay.graph.positions is not None


def test_the_cheapest_transition_counts() -> None:
    replay = wf.replay_graph([[0.0]] * 3, [[1.0]] * 3, lengths=[3.0, 1.5, 2.0])
    assert np.array_equal(replay.graph.lengths, [1.5])


def test_episodes_do_not_run_into_each_other() -> None:
    rows = [[0.0], [1.0], [2.0], [3.0]]
    replay = wf.replay_graph(rows, terminals=[False, True, False, True])
    assert np.array_equal(np.column_stack([replay.tail, replay.head]), [[0, 1], [2, 3]])


def test_from_a_buffer_to_a_plan() -> None:
    rng = np.random.default_rng(1)
    steps = rng.choice([-1.0, 1.0], size=(4000, 2))
    walk = [np.array([10.0, 10.0])]
    for step in steps:
        walk.append(np.clip(walk[-1] + step, 0.0, 20.0))
    replay = wf.replay_graph(walk)
    goal = replay.nearest([10.0, 10.0])
    labels = wf.sample_labels(replay.graph, goal, fraction=0.1, seed=0)
    field = wf.extend(replay.graph, labels, wf.AMLE())
    plan = wf.plan(replay.graph, field.values, goal)
    assert plan.reached[np.isfinite(wf.cost_to_go(replay.graph, goal))].all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"observations": [[0.0]]}, "no transition"),
        ({"observations": [[0.0], [np.nan]]}, r"observations\[1, 0\] = nan"),
        ({"observations": [[0.0]], "next_observations": [[0.0, 1.0]]}, r"\(1, 1\)"),
        ({"observations": [[0.0], [1.0]], "terminals": [0, 2]}, "terminals"),
        ({"observations": [[0.0], [1.0]], "terminals": [True]}, "shape"),
        ({"observations": [[0.0], [1.0]], "tolerance": -1.0}, "tolerance"),
        ({"observations": [[0.0], [1.0]], "lengths": [0.0]}, "lengths"),
        ({"observations": [0.0, 1.0]}, "observations"),
        (
            {"observations": [[0.0]], "next_observations": [[1.0]], "terminals": [True]},
            "terminals",
        ),
    ],
)
def test_bad_buffers_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(wf.InputError, match=message):
        wf.replay_graph(**arguments)  # type: ignore[arg-type]
