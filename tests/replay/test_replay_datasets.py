"""Datasets as OGBench, D4RL and Minari hand them out: one graph, whatever the form."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import wayfield as wf

RAW: dict[str, Any] = {
    "observations": np.array([[0], [1], [2], [7], [6], [5], [2], [3]], dtype=np.float32),
    "actions": np.array([[1], [1], [0], [-1], [-1], [0], [1], [0]], dtype=np.float32),
    "terminals": np.array([0, 0, 1, 0, 0, 1, 0, 1], dtype=np.float32),
}
"""Three trajectories as they lie in OGBench's files."""


def regular(raw: dict[str, Any]) -> dict[str, Any]:
    """OGBench's regular form: transitions."""
    last = raw["terminals"].astype(bool)
    begins = np.flatnonzero(~last)
    return {
        "observations": raw["observations"][begins],
        "next_observations": raw["observations"][begins + 1],
        "actions": raw["actions"][begins],
        "terminals": last[begins + 1].astype(np.float32),
    }


def compact(raw: dict[str, Any]) -> dict[str, Any]:
    """OGBench's compact form: a trajectory's last two rows are terminal, its last is not valid."""
    last = raw["terminals"]
    both = np.minimum(last + np.append(last[1:], 1.0), 1.0)
    return raw | {"terminals": both, "valids": 1.0 - last}


def d4rl(raw: dict[str, Any]) -> dict[str, Any]:
    timeouts = raw["terminals"].astype(bool)
    timeouts[2] = False
    ended = np.zeros(len(timeouts), bool)
    ended[2] = True
    return raw | {"terminals": ended, "timeouts": timeouts, "rewards": np.zeros(len(timeouts))}


def episodes(raw: dict[str, Any]) -> list[dict[str, Any]]:
    """Minari's form: an observation more than actions and flags."""
    cuts = np.flatnonzero(raw["terminals"])[:-1] + 1
    parts = zip(*(np.split(raw[name], cuts) for name in ("observations", "actions")), strict=True)
    return [
        {
            "observations": seen,
            "actions": done[:-1],
            "terminations": np.zeros(len(done) - 1, bool),
            "truncations": np.arange(len(done) - 1) == len(done) - 2,
        }
        for seen, done in parts
    ]


def as_objects(raw: dict[str, Any]) -> SimpleNamespace:
    found = [SimpleNamespace(**episode) for episode in episodes(raw)]
    return SimpleNamespace(iterate_episodes=lambda: iter(found))


def nested(raw: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        e | {"observations": {"observation": e["observations"], "desired_goal": None}}
        for e in episodes(raw)
    ]


def by_name(raw: dict[str, Any]) -> dict[str, Any]:
    return {f"episode_{i}": episode for i, episode in enumerate(episodes(raw))}


FORMS = {
    "files": dict,
    "regular": regular,
    "compact": compact,
    "d4rl": d4rl,
    "episodes": episodes,
    "objects": as_objects,
    "nested": nested,
    "by name": by_name,
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("options", [{}, {"tolerance": 0.5}, {"landmarks": 4}], ids=str)
def test_every_form_is_the_same_buffer(form: Any, options: dict[str, Any]) -> None:
    final = RAW["terminals"]
    if "landmarks" in options:
        options = {"landmarks": [[0.0], [2.0], [5.0], [7.0]]}
    want = wf.replay_graph(RAW["observations"], terminals=final, actions=RAW["actions"], **options)
    replay = wf.Replay.from_dataset(form(RAW), **options)
    place, wanted = replay.states[:, 0], want.states[:, 0]
    assert np.array_equal(place[replay.tail], wanted[want.tail])
    assert np.array_equal(place[replay.head], wanted[want.head])
    order = np.lexsort((place[replay.graph.indices], place[replay.graph.tails]))
    same = np.lexsort((wanted[want.graph.indices], wanted[want.graph.tails]))
    for name in ("counts", "dwell", "jump_counts"):
        assert np.array_equal(getattr(replay, name)[order], getattr(want, name)[same])
    assert np.array_equal(replay.graph.lengths[order], want.graph.lengths[same])
    assert np.array_equal(np.sort(place[replay.ends]), np.sort(wanted[want.ends]))
    assert replay.actions is not None
    assert want.actions is not None
    assert replay.actions.count.sum() == want.actions.count.sum()


def test_files_are_read_without_what_is_not_needed(tmp_path: Path) -> None:
    np.savez(tmp_path / "set.npz", **RAW, qpos=np.zeros((8, 3)), words=np.array(["a"]))
    replay = wf.Replay.from_dataset(tmp_path / "set.npz")
    assert replay.tail.size == 5
    assert wf.Replay.from_dataset(str(tmp_path / "set.npz")).tail.size == 5
    with np.load(tmp_path / "set.npz") as opened:
        assert wf.Replay.from_dataset(opened).tail.size == 5


def test_rows_that_are_not_valid_are_no_transitions_with_next_observations_either() -> None:
    rows = np.array([[0.0], [1.0], [2.0], [50.0], [51.0]])
    padded = {
        "observations": rows,
        "next_observations": np.roll(rows, -1, axis=0),
        "actions": [1, 1, 0, 1, 0],
        "valids": [1, 1, 0, 1, 0],
    }
    replay = wf.Replay.from_dataset(padded)
    assert replay.states[replay.tail, 0].tolist() == [0.0, 1.0, 50.0]
    assert replay.states[replay.head, 0].tolist() == [1.0, 2.0, 51.0]


def test_a_single_episode_may_be_a_dictionary() -> None:
    replay = wf.Replay.from_dataset(episodes(RAW)[0])
    assert replay.tail.tolist() == [0, 1]


def test_other_parts_of_observations_can_be_chosen() -> None:
    seen = {"observation": np.zeros((3, 4)), "achieved_goal": np.arange(6.0).reshape(3, 2)}
    whole = [{"observations": seen, "actions": np.zeros((2, 1))}]
    assert wf.Replay.from_dataset(whole, entry="achieved_goal").states.shape == (3, 2)
    with pytest.raises(wf.InputError, match="no entry 'goal', only observation, achieved_goal"):
        wf.Replay.from_dataset(whole, entry="goal")


def test_numbered_observations_are_states() -> None:
    replay = wf.Replay.from_dataset([{"observations": [0, 4, 4, 8], "actions": [1, 0, 1]}])
    assert replay.states.ravel().tolist() == [0, 4, 8]
    assert replay.stayed == 1


def changed(**entries: Any) -> dict[str, Any]:
    return {name: value for name, value in (RAW | entries).items() if value is not None}


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        ({}, "dataset must have observations, got only nothing"),
        ({"obs": [1]}, "dataset must have observations, got only obs"),
        (changed(terminals=None), "to mark where episodes end, got none"),
        ({**RAW, "terminals": None}, "to mark where episodes end, got none"),
        ({**RAW, "observations": None}, "observations are None"),
        (changed(terminals=False), "terminals must have one entry per observation, got False"),
        (changed(terminals=RAW["terminals"][:5]), "8 observations but 5 terminals: is it cut off"),
        (changed(actions=RAW["actions"][:7]), "8 observations but 7 actions: is it cut off"),
        (changed(next_observations=RAW["observations"][:5]), r"next_observations \(5, 1\)"),
        (changed(terminals=RAW["terminals"] + 1), r"terminals\[2\] = 2.0 is neither 0 nor 1"),
        (changed(timeouts=np.zeros((8, 2))), r"timeouts must be of shape \(8,\), got \(8, 2\)"),
        (changed(observations=np.full((8, 1), np.nan)), r"observations\[0, 0\] = nan"),
        (changed(observations=np.zeros((8, 2, 2))), "two-dimensional"),
        (changed(observations=np.empty((0, 1)), terminals=[], actions=[]), "empty"),
        ([], "no episodes"),
        ([{"actions": [1]}], "episode 0 has no observations"),
        ([{"observations": [[1.0]], "actions": []}], "episode 0 has 1 observations"),
        ([{"observations": np.eye(4), "actions": [1, 0]}], "4 observations but 2 actions"),
        (
            [{"observations": np.eye(3), "actions": [1, 0], "truncations": [True, True]}],
            r"episode 0: truncations\[0\] is set before its last step",
        ),
        (
            [{"observations": np.eye(3), "actions": [1, 0], "truncations": [True]}],
            r"episode 0: truncations must be of shape \(2,\)",
        ),
        ([{"observations": np.eye(2)}, {"observations": np.eye(3)}], "episodes differ"),
        (np.eye(3), "does not say where episodes end"),
        (7, "got int"),
        ("walks.hdf5", "h5py"),
    ],
)
def test_bad_datasets_are_refused(dataset: Any, message: str) -> None:
    with pytest.raises(wf.InputError, match=message):
        wf.Replay.from_dataset(dataset)


def test_damaged_and_missing_files_are_named(tmp_path: Path) -> None:
    whole, part = tmp_path / "whole.npz", tmp_path / "part.npz"
    np.savez(whole, **RAW)
    part.write_bytes(whole.read_bytes()[:-200])
    with pytest.raises(wf.InputError, match="is not an npz file, or is damaged"):
        wf.Replay.from_dataset(part)
    with pytest.raises(FileNotFoundError):
        wf.Replay.from_dataset(tmp_path / "none.npz")


def test_a_dataset_in_which_no_episode_ends() -> None:
    rows = {"observations": np.arange(6.0)[:, None], "terminals": np.zeros(6)}
    with pytest.raises(wf.errors.InputError, match="no row of the dataset ends an episode"):
        wf.Replay.from_dataset(rows)
    rows["timeouts"] = np.arange(6) == 2
    assert wf.Replay.from_dataset(rows).graph.num_arcs == 4
