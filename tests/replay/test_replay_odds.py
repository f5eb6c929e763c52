"""Chance from a buffer: jumps as odds, actions as choices, stitched arcs after observed ones."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

import numpy as np
import pytest

import wayfield as wf
from wayfield.replay._process import transitions_of
from wayfield.replay._stitching import TRY, departures_around, steep

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
    replay = wf.replay_graph(rows, terminals=final, jump=10.0)
    place = {value: i for i, value in enumerate(replay.states[:, 0].tolist())}
    odds = outcomes(replay.transitions())
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
    replay = wf.replay_graph(rows, terminals=final, jump=10.0)
    start, goal = replay.nearest([0.0]), replay.nearest([55.0])
    assert wf.cost_to_go(replay.graph, goal)[start] < 12  # by the lucky jump
    field = wf.expected_cost(replay, goal)
    assert field.values[start] == 31.0
    assert field.reach[start] == 1.0
    bold = wf.expected_cost(replay, goal, give_up=40.0)
    assert bold.reach[replay.nearest([4.0])] == pytest.approx(1 / 3, abs=0.1)


@pytest.mark.parametrize("by", ["arc", "action"])
def test_lengths_given_are_what_moves_and_jumps_cost(by: Literal["arc", "action"]) -> None:
    rows, final = casino()
    options: dict[str, Any] = {"terminals": final, "actions": np.zeros(len(rows), int)}
    plain = wf.replay_graph(rows, **options, jump=10.0)
    dear = wf.replay_graph(rows, **options, jump=10.0, lengths=np.full(len(rows), 7.0))
    assert dear.graph.lengths == pytest.approx(7.0 * plain.graph.lengths)
    assert dear.transitions(by).costs == pytest.approx(7.0 * plain.transitions(by).costs)


def test_states_only_left_by_jumps_have_one_action_themselves() -> None:
    rows, final = [[0.0], [1.0], [50.0], [0.0], [1.0], [80.0]], [0, 0, 1, 0, 0, 1]
    replay = wf.replay_graph(rows, terminals=final, jump=5.0)
    odds = outcomes(replay.transitions())
    assert odds == {(0, 1): {1: 1.0}, (1, 1): {2: 0.5, 3: 0.5}}
    stitched = replay.stitched(wf.Graph.from_edges([1, 3], [3, 2], [1.0, 1.0], 4))
    assert outcomes(stitched.transitions())[1, 1] == {2: 0.5, 3: 0.5}
    field = wf.expected_cost(stitched, 2)
    assert field.reach.tolist() == [1.0] * 4
    assert field.plan[:2].tolist() == [1, 1]


def test_exits_are_pooled_over_the_states_around() -> None:
    """Places 4 and 5 lie at one door; the first was left by it once, the second thrice."""
    walks = [[4, 5, 4, 5, 6], [4, 60], [5, 60], [5, 80], [5, 80]]
    rows = np.array([[float(x)] for walk in walks for x in walk])
    final = np.concatenate([np.arange(len(w)) == len(w) - 1 for w in walks])
    replay = wf.replay_graph(rows, terminals=final, jump=10.0)
    four, five, six, far, farther = (replay.nearest([x]) for x in (4.0, 5.0, 6.0, 60.0, 80.0))
    odds = outcomes(replay.transitions())
    assert odds[four, five] == pytest.approx({five: 2 / 3, far: 1 / 6, farther: 1 / 6})
    assert odds[five, six] == pytest.approx({six: 2 / 5, far: 3 / 10, farther: 3 / 10})
    # a prior of 5 samples: half of the departures around were jumps, and half of these lead to 60
    shrunk = outcomes(transitions_of(replay, "arc", strength=5.0))
    assert shrunk[four, five] == pytest.approx({five: 4.5 / 8, far: 1.75 / 8, farther: 1.75 / 8})
    assert shrunk[five, six] == pytest.approx({six: 0.45, far: 0.275, farther: 0.275})


def test_whole_numbered_actions_at_exact_states_are_the_choices() -> None:
    rng = np.random.default_rng(3)
    here, rows, actions = 0, [], []
    for _ in range(4000):
        action = int(rng.integers(2))
        rows.append([float(here)])
        actions.append(action)
        slips = rng.random() < 0.2
        here = int(np.clip(here + (1 if (action == 1) != slips else -1), 0, 5))
    moves = wf.replay_graph(rows, actions=actions).transitions()
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
    replay = wf.replay_graph(rows, actions=actions, tolerance=0.2)
    assert replay.transitions().num_choices == replay.graph.num_arcs
    moves = replay.transitions(by="action")
    assert moves.num_states == replay.graph.num_vertices
    kinds = replay.actions.kinds  # type: ignore[union-attr]
    east = int(np.argmin(np.linalg.norm(kinds - [1.0, 0.0], axis=1)))
    middle, right = replay.nearest([0.0, 0.0]), replay.nearest([1.0, 0.0])
    assert outcomes(moves)[middle, east] == {right: 1.0}


def test_actions_that_were_not_given_cannot_be_counted() -> None:
    replay = wf.replay_graph([[0.0], [1.0]])
    with pytest.raises(wf.InputError, match="without actions"):
        replay.transitions(by="action")
    with pytest.raises(wf.InputError, match="by must be one of 'arc', 'action', got 'deed'"):
        replay.transitions(by="deed")  # type: ignore[arg-type]
    with pytest.raises(wf.InputError, match="no transition changes the state"):
        wf.replay_graph([[0.0], [0.0]]).transitions()


# -------------------------------------------------------------------- stitched arcs


def two_corridors(rows: int = 6000, seed: int = 5) -> tuple[Array, Array]:
    """Walks up and down two corridors, 1 apart, that are joined at one end."""
    rng = np.random.default_rng(seed)
    length = 20
    track = [(float(x), 0.0) for x in range(length)]
    track += [(float(length), 0.5)]
    track += [(float(x), 1.0) for x in reversed(range(length))]
    place = np.array(track)
    seen, final = [], []
    for _ in range(rows // 30):
        at, way = int(rng.integers(len(track))), int(rng.choice([-1, 1]))
        for step in range(30):
            seen.append(place[at] + rng.uniform(-0.02, 0.02, 2))
            final.append(step == 29)
            way = -way if rng.random() < 0.05 else way
            at = int(np.clip(at + way, 0, len(track) - 1))
    return np.array(seen), np.array(final)


def knn(states: Array, k: int, speed: float) -> wf.Graph:
    gaps = np.linalg.norm(states[:, None] - states, axis=2)
    near = np.argsort(gaps, axis=1)[:, 1 : k + 1]
    tails = np.repeat(np.arange(len(states)), k)
    pairs = np.unique(np.sort(np.stack([tails, near.ravel()]), axis=0), axis=1)
    lengths = np.maximum(gaps[pairs[0], pairs[1]] / speed, 1.0)
    return wf.Graph.from_edges(pairs[0], pairs[1], lengths, len(states))


def test_suspects_are_the_arcs_through_the_wall_and_no_others() -> None:
    rows, final = two_corridors()
    replay = wf.replay_graph(rows, terminals=final, tolerance=0.3)
    graph = knn(np.asarray(replay.states), 4, replay.speed)
    suspects = replay.suspects(graph)
    side = np.round(4 * replay.states[:, 1])
    middle = replay.states[:, 0] < 17
    crossing = (side[graph.tails] != side[graph.indices]) & middle[graph.tails]
    through = set(zip(graph.tails[crossing], graph.indices[crossing], strict=True))
    found = set(zip(suspects.tail, suspects.head, strict=True))
    assert through
    assert through <= found
    assert all(side[x] != side[y] for x, y in found)
    assert (np.diff(suspects.odds) >= 0).all()
    assert np.array_equal(suspects.count, replay.departures[suspects.tail])
    assert len(suspects) == len(found)
    assert suspects.num_arcs == graph.num_arcs


def test_no_observed_arc_and_none_with_a_short_way_round_is_suspect() -> None:
    rows, final = two_corridors()
    replay = wf.replay_graph(rows, terminals=final, tolerance=0.3)
    assert len(replay.suspects(replay.graph)) == 0
    skip = wf.Graph.from_edges([0], [0 + 2], [2.0], len(replay.states))
    assert replay.graph.to_scipy().toarray()[0, 2] == 0
    assert len(replay.suspects(skip)) == 0
    assert repr(replay.suspects(skip)) == "Suspects(none of 2 arcs)"
    assert str(replay.suspects(skip)).split() == ["tail", "head", "length", "left", "out", "odds"]


def test_arcs_where_nobody_was_are_not_suspect() -> None:
    rows, final = [[0.0], [1.0], [2.0], [30.0]], [0, 0, 1, 1]
    replay = wf.replay_graph(rows, terminals=final)
    claims = wf.Graph.from_edges([2, 0], [3, 2], [1.0, 0.1], 4)
    suspects = replay.suspects(claims, least=0.0)
    assert list(zip(suspects.tail, suspects.head, strict=True)) == [(0, 2)]
    assert len(replay.suspects(claims, least=5.0)) == 0


def test_stitched_arcs_cost_what_the_evidence_and_their_length_say() -> None:
    rows, final = two_corridors()
    replay = wf.replay_graph(rows, terminals=final, tolerance=0.3)
    near = knn(np.asarray(replay.states), 4, replay.speed)
    for stitched in (replay.stitched(4), replay.stitched(near)):
        graph, old = stitched.graph, stitched.counts > 0
        assert np.array_equal(graph.lengths[old], replay.graph.lengths)
        assert np.array_equal(stitched.counts[old], replay.counts)
        assert stitched.observed.graph.num_arcs == replay.graph.num_arcs
        assert np.array_equal(stitched.observed.counts, replay.counts)
        tails, heads = graph.tails[~old], graph.indices[~old]
        span = np.linalg.norm(replay.states[tails] - replay.states[heads], axis=1) / replay.speed
        median = np.median(replay.graph.lengths)
        price = steep(np.maximum(span, 1.0), 2 * median)
        price += TRY * (2 + departures_around(replay, tails, heads) / 3)
        assert graph.lengths[~old] == pytest.approx(price)
        arcs = set(zip(graph.tails.tolist(), graph.indices.tolist(), strict=True))
        claimed = set(zip(near.tails.tolist(), near.indices.tolist(), strict=True))
        known = set(zip(replay.graph.tails.tolist(), replay.graph.indices.tolist(), strict=True))
        assert arcs == claimed | known
    assert replay.observed is replay


def test_departures_around_are_means_over_neighbours() -> None:
    rows, final = two_corridors(600)
    replay = wf.replay_graph(rows, terminals=final, tolerance=0.3)
    graph = replay.graph
    for x in range(graph.num_vertices):
        next_to = {x, *graph.indices[graph.tails == x], *graph.tails[graph.indices == x]}
        mean = np.mean([replay.departures[y] for y in next_to])
        assert departures_around(replay, x, x) == pytest.approx(mean)


def test_long_stitched_arcs_are_steep() -> None:
    assert steep(np.array([1.0, 2.0, 3.0, 1e9]), 2.0).tolist() == pytest.approx(
        [1.0, 2.0, 3.0 * 1000**1.5, 1e9 * 1000.0**30]
    )


def test_observed_arcs_come_first_and_stitched_ones_help_the_others() -> None:
    """The casino again; a stitched arc past its table is cheap, and an island has nothing else."""
    rows, final = casino()
    rows = np.concatenate([rows, [[200.0], [201.0]]])
    replay = wf.replay_graph(rows, terminals=[*final, False, True], jump=10.0)
    start, goal = replay.nearest([0.0]), replay.nearest([55.0])
    island, last = replay.nearest([200.0]), replay.nearest([201.0])
    n = len(replay.states)
    claims = wf.Graph.from_edges([start, last], [goal, goal], [1.0, 1.0], n)
    stitched = replay.stitched(claims)
    field = wf.expected_cost(stitched, goal)
    plain = wf.expected_cost(replay, goal)
    assert field.values[start] == plain.values[start] == 31.0
    assert plain.values[island] == np.inf
    prices = stitched.graph.to_scipy().toarray()
    assert field.values[island] == pytest.approx(1.0 + prices[last, goal])
    assert field.reach[island] == 1.0
    known = np.isfinite(plain.values)
    assert np.array_equal(field.plan[known], plain.plan[known])
    assert (field.lower <= field.values).all()
    assert (field.values <= field.upper).all()


def test_a_stitched_arc_that_leads_to_a_gamble_arrives_as_often_as_the_gamble() -> None:
    rows, final = casino()
    keep = rows[:, 0] >= 0  # without the safe way
    replay = wf.replay_graph(
        np.concatenate([rows[keep], [[200.0], [201.0]]]),
        terminals=[*(final | (rows[:, 0] == 55))[keep], False, True],
        jump=10.0,
    )
    goal, last, four = (replay.nearest([x]) for x in (55.0, 201.0, 4.0))
    claims = wf.Graph.from_edges([last], [four], [1.0], len(replay.states))
    field = wf.expected_cost(replay.stitched(claims), goal, give_up=500.0)
    assert 0.2 < field.reach[four] < 0.5
    assert field.reach[last] == pytest.approx(field.reach[four])


@pytest.mark.parametrize(
    ("arcs", "message"),
    [
        (0, "k must be a whole number of at least 1"),
        (1.5, "k must be"),
        ("3", "k must be"),
        (wf.Graph.from_edges([0], [1]), "2 vertices, the buffer 3 states"),
    ],
)
def test_bad_stitched_arcs_are_refused(arcs: Any, message: str) -> None:
    with pytest.raises(wf.InputError, match=message):
        wf.replay_graph([[0.0], [1.0], [2.0]]).stitched(arcs)


def test_a_buffer_that_never_moves_has_no_speed() -> None:
    still = wf.replay_graph([[0.0], [0.0]])
    with pytest.raises(wf.InputError, match="the buffer never moves"):
        still.stitched(1)
    with pytest.raises(wf.InputError, match="no transition changes the state"):
        still.stitched(wf.Graph.from_edges([], [], num_vertices=1))
    with pytest.raises(wf.InputError, match="graph must be"):
        still.suspects(3)  # type: ignore[arg-type]
