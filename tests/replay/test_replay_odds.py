"""Chance from a buffer: jumps as odds, actions as choices."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

import numpy as np
import pytest

import wayfield as wf
from wayfield import replay

Array = np.ndarray[Any, Any]


def outcomes(moves: wf.Transitions) -> dict[tuple[int, int], dict[int, float]]:
    """Odds of every choice, as plain dictionaries."""
    choice = np.repeat(np.arange(moves.num_choices), np.diff(moves.outcome_indptr))
    found: dict[tuple[int, int], dict[int, float]] = {}
    for k, y, p in zip(choice, moves.next_states, moves.probabilities, strict=True):
        found.setdefault((int(moves.states[k]), int(moves.actions[k])), {})[int(y)] = float(p)
    return found


def casino(rounds: int = 300, seed: int = 0) -> tuple[Array, Array]:
    """Walks 0 … 9 along a line whose place 5 sends a third of its visitors to 50 and a third to 90.

    From 50 one walks on to the goal, 55; from 90 nothing leads back. A long way, 0 → -1 … -30 → 55,
    is safe.
    """
    rng = np.random.default_rng(seed)
    rows: list[float] = []
    final: list[bool] = []
    for turn in range(rounds):
        way = list(range(6))
        if turn % 3 == 0:
            way = [0, *range(-1, -31, -1), 55]
        else:
            end = rng.choice(3)
            way += [[6, 7, 8], [50, 51, 52, 53, 54, 55], [90, 91, 90]][end]
        rows += [float(place) for place in way]
        final += [False] * (len(way) - 1) + [True]
    return np.array(rows)[:, None], np.array(final)


def test_walks_fail_as_often_as_departures_ended_in_jumps() -> None:
    rows, final = casino()
    buffer = replay.replay_graph(rows, terminals=final, jump=10.0)
    place = {value: i for i, value in enumerate(buffer.states[:, 0].tolist())}
    odds = outcomes(buffer.transitions())
    left = Counter(
        float(b[0]) for a, b, end in zip(rows, rows[1:], final, strict=False) if a == 5 and not end
    )
    total = sum(left.values())
    want = {place[to]: count / total for to, count in left.items()}
    assert odds[place[5.0], place[6.0]] == pytest.approx(want)
    assert odds[place[4.0], place[5.0]] == {place[5.0]: 1.0}
    assert (place[5.0], place[50.0]) not in odds


def test_an_expected_cost_takes_the_safe_way_where_the_shortest_gambles() -> None:
    rows, final = casino()
    buffer = replay.replay_graph(rows, terminals=final, jump=10.0)
    start, goal = buffer.nearest([0.0]), buffer.nearest([55.0])
    assert wf.cost_to_go(buffer.graph, goal)[start] < 12  # by the lucky jump
    field = wf.expected_cost(buffer, goal)
    assert field.values[start] == 31.0
    assert field.reach[start] == 1.0
    bold = wf.expected_cost(buffer, goal, give_up=40.0)
    assert bold.reach[buffer.nearest([4.0])] == pytest.approx(1 / 3, abs=0.1)


@pytest.mark.parametrize("by", ["arc", "action"])
def test_lengths_given_are_what_moves_and_jumps_cost(by: Literal["arc", "action"]) -> None:
    rows, final = casino()
    options: dict[str, Any] = {"terminals": final, "actions": np.zeros(len(rows), int)}
    plain = replay.replay_graph(rows, **options, jump=10.0)
    dear = replay.replay_graph(rows, **options, jump=10.0, lengths=np.full(len(rows), 7.0))
    assert dear.graph.lengths == pytest.approx(7.0 * plain.graph.lengths)
    assert dear.transitions(by).costs == pytest.approx(7.0 * plain.transitions(by).costs)


def test_states_only_left_by_jumps_have_one_action_themselves() -> None:
    rows, final = [[0.0], [1.0], [50.0], [0.0], [1.0], [80.0]], [0, 0, 1, 0, 0, 1]
    buffer = replay.replay_graph(rows, terminals=final, jump=5.0)
    odds = outcomes(buffer.transitions())
    assert odds == {(0, 1): {1: 1.0}, (1, 1): {2: 0.5, 3: 0.5}}
    field = wf.expected_cost(buffer, 2, give_up=100.0)
    assert field.reach.tolist() == [0.5, 0.5, 1.0, 0.0]
    assert field.plan[:2].tolist() == [1, 1]


def test_exits_are_pooled_over_the_states_around() -> None:
    """Places 4 and 5 lie at one door; the first was left by it once, the second thrice."""
    walks = [[4, 5, 4, 5, 6], [4, 60], [5, 60], [5, 80], [5, 80]]
    rows = np.array([[float(x)] for walk in walks for x in walk])
    final = np.concatenate([np.arange(len(w)) == len(w) - 1 for w in walks])
    buffer = replay.replay_graph(rows, terminals=final, jump=10.0)
    four, five, six, far, farther = (buffer.nearest([x]) for x in (4.0, 5.0, 6.0, 60.0, 80.0))
    odds = outcomes(buffer.transitions())
    assert odds[four, five] == pytest.approx({five: 2 / 3, far: 1 / 6, farther: 1 / 6})
    assert odds[five, six] == pytest.approx({six: 2 / 5, far: 3 / 10, farther: 3 / 10})


def test_whole_numbered_actions_at_exact_states_are_the_choices() -> None:
    rng = np.random.default_rng(3)
    here, rows, actions = 0, [], []
    for _ in range(4000):
        action = int(rng.integers(2))
        rows.append([float(here)])
        actions.append(action)
        slips = rng.random() < 0.2
        here = int(np.clip(here + (1 if (action == 1) != slips else -1), 0, 5))
    moves = replay.replay_graph(rows, actions=actions).transitions()
    odds = outcomes(moves)
    assert odds[2, 1] == pytest.approx({3: 0.8, 1: 0.2}, abs=0.05)
    assert sum(moves.counts) == 3999
    field = wf.expected_cost(moves, 5)
    assert (field.plan[:5] == 1).all()


def test_continuous_actions_are_the_choices_if_asked_for() -> None:
    rng = np.random.default_rng(4)
    walk, actions = [np.zeros(2)], []
    for _ in range(3000):
        angle = rng.integers(4) * np.pi / 2
        actions.append([np.cos(angle), np.sin(angle)])
        walk.append(np.clip(walk[-1] + actions[-1], -3, 3))
    rows = np.array(walk[:-1])
    buffer = replay.replay_graph(rows, actions=actions, tolerance=0.2)
    assert buffer.transitions().num_choices == buffer.graph.num_arcs
    moves = buffer.transitions(by="action")
    assert moves.num_states == buffer.graph.num_vertices
    kinds = buffer.actions.kinds  # type: ignore[union-attr]
    east = int(np.argmin(np.linalg.norm(kinds - [1.0, 0.0], axis=1)))
    middle, right = buffer.nearest([0.0, 0.0]), buffer.nearest([1.0, 0.0])
    assert outcomes(moves)[middle, east] == {right: 1.0}


def test_actions_that_were_not_given_cannot_be_counted() -> None:
    buffer = replay.replay_graph([[0.0], [1.0]])
    with pytest.raises(wf.InputError, match="without actions"):
        buffer.transitions(by="action")
    with pytest.raises(wf.InputError, match="by must be one of 'arc', 'action', got 'deed'"):
        buffer.transitions(by="deed")  # type: ignore[arg-type]
    with pytest.raises(wf.InputError, match="no transition changes the state"):
        replay.replay_graph([[0.0], [0.0]]).transitions()
