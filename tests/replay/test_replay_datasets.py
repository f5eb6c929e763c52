"""Datasets of OGBench, D4RL, Minari and Stable-Baselines3: one graph, whatever the form."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import wayfield as wf
from wayfield import replay
from wayfield.errors import InputWarning
from wayfield.replay.dataset import read_dataset, read_rows

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


def sb3(raw: dict[str, Any]) -> SimpleNamespace:
    """A full replay buffer of Stable-Baselines3 with two environments, its oldest row at 2.

    The second environment stands still, beside the first.
    """
    rows = regular(raw)
    count, pos = len(rows["actions"]), 2

    def doubled(column: Any, beside: Any) -> Any:
        return np.roll(np.stack([column, beside], axis=1), pos, axis=0)

    still = np.full_like(rows["observations"], 2.0)
    columns = {
        "observations": doubled(rows["observations"], still),
        "next_observations": doubled(rows["next_observations"], still),
        "actions": doubled(rows["actions"], rows["actions"]),
        "dones": doubled(rows["terminals"], np.zeros(count, np.float32)),
        "timeouts": doubled(rows["terminals"], np.zeros(count, np.float32)),
    }
    return SimpleNamespace(**columns, pos=pos, full=True, n_envs=2)


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
    want = replay.replay_graph(
        RAW["observations"], terminals=final, actions=RAW["actions"], **options
    )
    buffer = replay.Replay.from_dataset(form(RAW), **options)
    place, wanted = buffer.states[:, 0], want.states[:, 0]
    assert np.array_equal(place[buffer.tail], wanted[want.tail])
    assert np.array_equal(place[buffer.head], wanted[want.head])
    order = np.lexsort((place[buffer.graph.indices], place[buffer.graph.tails]))
    same = np.lexsort((wanted[want.graph.indices], wanted[want.graph.tails]))
    for name in ("counts", "dwell", "jump_counts"):
        assert np.array_equal(getattr(buffer, name)[order], getattr(want, name)[same])
    assert np.array_equal(buffer.graph.lengths[order], want.graph.lengths[same])
    assert np.array_equal(np.sort(place[buffer.ends]), np.sort(wanted[want.ends]))
    assert buffer.actions is not None
    assert want.actions is not None
    assert buffer.actions.count.sum() == want.actions.count.sum()


def test_files_are_read_without_what_is_not_needed(tmp_path: Path) -> None:
    np.savez(tmp_path / "set.npz", **RAW, qpos=np.zeros((8, 3)), words=np.array(["a"]))
    buffer = replay.Replay.from_dataset(tmp_path / "set.npz")
    assert buffer.tail.size == 5
    assert replay.Replay.from_dataset(str(tmp_path / "set.npz")).tail.size == 5
    with np.load(tmp_path / "set.npz") as opened:
        assert replay.Replay.from_dataset(opened).tail.size == 5


def test_rows_that_are_not_valid_are_no_transitions_with_next_observations_either() -> None:
    rows = np.array([[0.0], [1.0], [2.0], [50.0], [51.0]])
    padded = {
        "observations": rows,
        "next_observations": np.roll(rows, -1, axis=0),
        "actions": [1, 1, 0, 1, 0],
        "valids": [1, 1, 0, 1, 0],
    }
    buffer = replay.Replay.from_dataset(padded)
    assert buffer.states[buffer.tail, 0].tolist() == [0.0, 1.0, 50.0]
    assert buffer.states[buffer.head, 0].tolist() == [1.0, 2.0, 51.0]


def test_a_single_episode_may_be_a_dictionary() -> None:
    buffer = replay.Replay.from_dataset(episodes(RAW)[0])
    assert buffer.tail.tolist() == [0, 1]


def test_other_parts_of_observations_can_be_chosen() -> None:
    seen = {"observation": np.zeros((3, 4)), "achieved_goal": np.arange(6.0).reshape(3, 2)}
    whole = [{"observations": seen, "actions": np.zeros((2, 1))}]
    assert replay.Replay.from_dataset(whole, entry="achieved_goal").states.shape == (3, 2)
    with pytest.raises(wf.InputError, match="no entry 'goal', only observation, achieved_goal"):
        replay.Replay.from_dataset(whole, entry="goal")


def test_numbered_observations_are_states() -> None:
    buffer = replay.Replay.from_dataset([{"observations": [0, 4, 4, 8], "actions": [1, 0, 1]}])
    assert buffer.states.ravel().tolist() == [0, 4, 8]
    assert buffer.stayed == 1


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
        (changed(observations=np.zeros((8, 2, 2, 2))), "two-dimensional"),
        (
            {"observations": np.zeros((8, 2, 2)), "terminals": np.zeros(8)},
            r"observations are of shape \(8, 2, 2\), so terminals must begin with \(8, 2\), got",
        ),
        (changed(observations=np.empty((0, 1)), terminals=[], actions=[]), "empty"),
        ([], "no episodes"),
        ([{"actions": [1]}], "episode 0 has no observations"),
        ([{"observations": [[1.0]], "actions": []}], "no episodes with a transition: 1 of one obs"),
        ([{"observations": np.eye(4), "actions": [1, 0]}], "4 observations but 2 actions"),
        (
            [{"observations": np.eye(3), "actions": [1, 0], "truncations": [True, True]}],
            r"episode 0: truncations\[0\] is set before its last step",
        ),
        (
            [{"observations": np.eye(3), "actions": [1, 0], "truncations": [True]}],
            r"episode 0: truncations must be of shape \(2,\)",
        ),
        (
            [{"observations": np.eye(2)}, {"observations": np.eye(3)}],
            "the same shape in all episodes",
        ),
        (np.eye(3), "does not say where episodes end"),
        (7, "got int"),
        ("walks.hdf5", "h5py"),
    ],
)
def test_bad_datasets_are_refused(dataset: Any, message: str) -> None:
    with pytest.raises(wf.InputError, match=message):
        replay.Replay.from_dataset(dataset)


def test_damaged_and_missing_files_are_named(tmp_path: Path) -> None:
    whole, part = tmp_path / "whole.npz", tmp_path / "part.npz"
    np.savez(whole, **RAW)
    part.write_bytes(whole.read_bytes()[:-200])
    with pytest.raises(wf.InputError, match="is not an npz file, or is damaged"):
        replay.Replay.from_dataset(part)
    with pytest.raises(FileNotFoundError):
        replay.Replay.from_dataset(tmp_path / "none.npz")


def test_a_dataset_in_which_no_episode_ends() -> None:
    rows = {"observations": np.arange(6.0)[:, None], "terminals": np.zeros(6)}
    with pytest.raises(wf.errors.InputError, match="no row of the dataset ends an episode"):
        replay.Replay.from_dataset(rows)
    rows["timeouts"] = np.arange(6) == 2
    assert replay.Replay.from_dataset(rows).graph.num_arcs == 4


# -------------------------------------------------------------------- other layouts


def test_a_buffer_of_stable_baselines3_is_read_per_environment_from_its_oldest_row() -> None:
    columns = read_dataset(sb3(RAW), "observation")
    want = regular(RAW)
    count = len(want["actions"])
    for name in ("observations", "next_observations", "actions"):
        assert np.array_equal(columns[name][:count], want[name])
    assert np.array_equal(columns["terminals"][:count], want["terminals"].astype(bool))
    assert (columns["observations"][count:] == 2.0).all()
    assert columns["terminals"][count:].tolist() == [False] * (count - 1) + [True]
    assert not columns["deaths"].any()
    buffer = sb3(RAW)
    buffer.timeouts[:] = 0.0
    assert np.array_equal(read_dataset(buffer, "")["deaths"][:count], want["terminals"])
    buffer.handle_timeout_termination = False  # lengths 2, 2, 1 decide
    assert np.array_equal(read_dataset(buffer, "")["deaths"][:count], want["terminals"])
    assert not read_dataset(buffer, "", "truncated")["deaths"].any()


def test_a_buffer_that_is_not_full_has_no_rows_beyond_its_position() -> None:
    rows = np.arange(12.0).reshape(6, 2, 1)
    flags = np.zeros((6, 2))
    buffer = SimpleNamespace(
        observations={"observation": rows, "desired_goal": rows},
        next_observations={"observation": rows + 2, "desired_goal": rows},
        actions=rows,
        dones=flags,
        timeouts=flags,
        pos=3,
        full=False,
    )
    columns = read_dataset(buffer, "observation")
    assert columns["observations"].ravel().tolist() == [0, 2, 4, 1, 3, 5]
    assert columns["terminals"].tolist() == [False, False, True] * 2
    buffer.pos = 0
    with pytest.raises(wf.InputError, match="the replay buffer is empty"):
        read_dataset(buffer, "observation")


def test_a_buffer_without_next_observations_drops_the_row_at_its_position() -> None:
    rows = np.array([6.0, 7.0, 2.0, 3.0, 4.0, 5.0])[:, None, None]
    flags = np.zeros((6, 1))
    buffer = SimpleNamespace(observations=rows, actions=rows, dones=flags, pos=2, full=True)
    columns = read_dataset(buffer, "")
    assert columns["observations"].ravel().tolist() == [3, 4, 5, 6, 7]
    assert columns["next_observations"] is None


@pytest.mark.parametrize("form", [np.asarray, lambda rows: {"observations": rows}])
def test_an_array_of_three_dimensions_is_episodes(form: Any) -> None:
    columns = read_dataset(form(np.arange(12.0).reshape(3, 4, 1)), "observation")
    assert columns["observations"].ravel().tolist() == list(range(12))
    assert np.flatnonzero(columns["terminals"]).tolist() == [3, 7, 11]
    assert not columns["deaths"].any()


# -------------------------------------------------------------------- absorbing or truncated


def ending(lengths: list[int], **flags: Any) -> dict[str, Any]:
    """Episodes of these lengths, flagged by `terminals` unless other flags are given."""
    final = np.zeros(sum(lengths), bool)
    final[np.cumsum(lengths) - 1] = True
    return {"observations": np.arange(len(final))[:, None], "terminals": final} | flags


def deaths(dataset: Any, ends: Any = None) -> list[int]:
    columns = read_dataset(dataset, "observation", ends)
    assert read_rows(
        *(columns[name] for name in ("observations", "next_observations", "terminals", "deaths"))
    ).died.tolist() == list(columns["deaths"])
    return np.flatnonzero(columns["deaths"]).tolist()


def test_terminals_beside_timeouts_are_absorbing() -> None:
    data = d4rl(RAW)
    assert deaths(data) == [2]
    assert deaths(data, "absorbing") == [2]
    assert deaths(data, "truncated") == []


def test_terminations_of_episodes_are_absorbing() -> None:
    found = episodes(RAW)
    assert deaths(found) == []
    found[1]["terminations"][-1] = True
    assert deaths(found) == [4]  # the step from 6 to 5
    assert deaths([{"observations": np.eye(3)}] * 2, "absorbing") == [1, 4]


@pytest.mark.parametrize("name", ["terminals", "dones"])
def test_dones_at_timeouts_are_truncations_but_terminals_are_not(name: str) -> None:
    flag = np.array([0, 0, 1, 0, 0, 1])
    data = {"observations": np.arange(6)[:, None], name: flag, "timeouts": [0, 0, 0, 0, 0, 1]}
    assert deaths(data) == ([2] if name == "dones" else [2, 5])
    if name == "dones":
        infos = {"TimeLimit.truncated": data.pop("timeouts")}
        assert deaths(data | {"infos": infos}) == [2]


def test_without_timeouts_lengths_decide() -> None:
    assert deaths(ending([5, 5, 5])) == []
    assert deaths(ending([5, 5, 5]), "absorbing") == [4, 9, 14]
    assert deaths(ending([3, 7, 4, 6])) == [2, 9, 13, 19]
    for lengths, died in (([5, 5, 5, 3], [17]), ([2, 3, 2, 4, 4, 4, 3], [1, 4, 6, 21])):
        with pytest.warns(InputWarning, match=r'time limit.* ends="absorbing" if all'):
            assert deaths(ending(lengths)) == died
        assert deaths(ending(lengths), "truncated") == []
    data = ending([3, 4])
    data["terminals"][-1] = False  # cut off: a length of no meaning
    assert deaths(data) == []
    with pytest.raises(
        wf.InputError, match="ends must be one of 'absorbing', 'truncated', got 'dead'"
    ):
        read_dataset(data, "observation", "dead")


def test_the_last_step_of_the_compact_format_is_before_the_last_observation() -> None:
    assert deaths(compact(RAW), "absorbing") == [1, 4, 6]


# -------------------------------------------------------------------- short episodes


def test_episodes_of_one_observation_are_skipped_and_counted() -> None:
    whole = episodes(RAW)
    single = {"observations": [[1.0]], "actions": np.empty((0, 1))}
    with pytest.warns(InputWarning, match="2 episodes of a single observation skipped"):
        columns = read_dataset([single, *whole, single], "observation")
    assert np.array_equal(columns["observations"], RAW["observations"])
    timed = ending([3, 1, 3], terminals=None, timeouts=[0, 0, 1, 1, 0, 0, 1])
    with pytest.warns(InputWarning, match="1 episode of a single observation skipped"):
        assert replay.Replay.from_dataset(timed).tail.size == 4


def test_a_single_step_into_death_is_kept() -> None:
    fatal = {"observations": [[1.0]], "actions": [[0.0]], "terminals": [1], "timeouts": [0]}
    assert deaths([*episodes(RAW), fatal]) == [8]
    rows = ending([3, 1, 3], terminals=[0, 0, 0, 1, 0, 0, 0], timeouts=[0, 0, 1, 0, 0, 0, 1])
    assert deaths(rows) == [3]
