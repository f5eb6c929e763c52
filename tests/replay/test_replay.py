"""Replay buffers: transitions to arcs, nearby observations to one vertex."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wayfield as wf
from wayfield import replay
from wayfield.replay import attach


def test_exact_merging_numbers_states_as_they_appear() -> None:
    buffer = replay.replay_graph([[5.0], [3.0], [5.0], [4.0]], [[3.0], [5.0], [4.0], [4.0]])
    assert np.array_equal(buffer.states, [[5.0], [3.0], [4.0]])
    assert np.array_equal(buffer.tail, [0, 1, 0, 2])
    assert np.array_equal(buffer.head, [1, 0, 2, 2])
    assert buffer.stayed == 1
    assert buffer.graph.directed
    assert buffer.graph.num_arcs == 3


def test_every_observation_is_near_its_state() -> None:
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.normal(size=(2000, 2)), axis=0)
    buffer = replay.replay_graph(walk, tolerance=0.7)
    assert (np.linalg.norm(buffer.states[buffer.tail] - walk[:-1], axis=1) <= 0.7).all()
    gaps = np.linalg.norm(buffer.states[:, None] - buffer.states[None], axis=2)
    assert gaps[~np.eye(len(gaps), dtype=bool)].min() > 0.7
    assert buffer.graph.positions is not None


def test_the_cheapest_transition_counts() -> None:
    buffer = replay.replay_graph([[0.0]] * 3, [[1.0]] * 3, lengths=[3.0, 1.5, 2.0])
    assert np.array_equal(buffer.graph.lengths, [1.5])


def test_episodes_do_not_run_into_each_other() -> None:
    rows = [[0.0], [1.0], [2.0], [3.0]]
    buffer = replay.replay_graph(rows, terminals=[False, True, False, True])
    assert np.array_equal(np.column_stack([buffer.tail, buffer.head]), [[0, 1], [2, 3]])


def test_from_a_buffer_to_a_plan() -> None:
    rng = np.random.default_rng(1)
    steps = rng.choice([-1.0, 1.0], size=(4000, 2))
    walk = [np.array([10.0, 10.0])]
    for step in steps:
        walk.append(np.clip(walk[-1] + step, 0.0, 20.0))
    buffer = replay.replay_graph(walk)
    goal = buffer.nearest([10.0, 10.0])
    labels = wf.sample_labels(buffer.graph, goal, fraction=0.1, seed=0)
    field = wf.extend(buffer.graph, labels, wf.AMLE())
    plan = wf.plan(buffer.graph, field.values, goal)
    assert plan.reached[np.isfinite(wf.cost_to_go(buffer.graph, goal))].all()


def test_terminals_beside_next_observations_join_nothing_and_drop_nothing() -> None:
    start, end = [[0.0], [1.0], [5.0]], [[1.0], [2.0], [6.0]]
    plain = replay.replay_graph(start, end)
    marked = replay.replay_graph(start, end, terminals=[0, 1, 1])
    assert np.array_equal(marked.graph.to_scipy().toarray(), plain.graph.to_scipy().toarray())
    assert np.array_equal(marked.states[marked.ends], [[2.0], [6.0]])
    assert plain.ends.size == 0


def test_an_episode_of_one_observation_is_a_vertex_without_arcs() -> None:
    buffer = replay.replay_graph([[0.0], [1.0], [9.0]], terminals=[False, True, True])
    assert buffer.graph.num_vertices == 3
    assert buffer.graph.num_arcs == 1
    assert np.array_equal(buffer.ends, [1, 2])


def test_lengths_are_one_per_row_or_one_per_transition() -> None:
    rows, final = [[0.0], [1.0], [5.0], [6.0]], [False, True, False, True]
    by_row = replay.replay_graph(rows, terminals=final, lengths=[2.0, 9.0, 3.0, 9.0])
    by_transition = replay.replay_graph(rows, terminals=final, lengths=[2.0, 3.0])
    assert np.array_equal(by_row.graph.lengths, [2.0, 3.0])
    assert np.array_equal(by_transition.graph.lengths, [2.0, 3.0])


# -------------------------------------------------------------------- attaching


@cache
def corridor() -> replay.Replay:
    """Four states in a row, made once, and not while tests are collected: it needs kernels."""
    return replay.replay_graph(
        [[0.0], [2.0], [4.0]], [[2.0], [4.0], [6.0]], lengths=[4.0, 4.0, 4.0]
    )


def arcs_of(buffer: replay.Replay) -> dict[tuple[int, int], float]:
    graph = buffer.graph
    ends = zip(graph.tails.tolist(), graph.indices.tolist(), strict=True)
    return dict(zip(ends, graph.lengths.tolist(), strict=True))


@pytest.mark.parametrize(
    ("role", "new"),
    [
        ("start", {(4, 1): 2.0, (4, 2): 2.0}),
        ("goal", {(1, 4): 2.0, (2, 4): 2.0}),
        ("both", {(4, 1): 2.0, (4, 2): 2.0, (1, 4): 2.0, (2, 4): 2.0}),
    ],
)
def test_attached_arcs_cost_the_pace_of_the_buffer(
    role: str, new: dict[tuple[int, int], float]
) -> None:
    before = arcs_of(corridor())
    larger, vertex = corridor().attach([3.0], role, k=2)  # type: ignore[arg-type]
    assert vertex == 4
    assert arcs_of(larger) == before | new
    assert arcs_of(corridor()) == before
    assert np.array_equal(larger.states[:4], corridor().states)
    assert larger.tail is corridor().tail


def test_neighbours_are_within_the_radius_and_among_the_nearest() -> None:
    buffer, vertex = corridor().attach([2.5], "start", radius=2.0)
    assert buffer.graph.neighbours(vertex).tolist() == [1, 2]
    assert (arcs_of(buffer)[vertex, 1], arcs_of(buffer)[vertex, 2]) == (1.0, 3.0)  # by distance
    buffer, vertex = corridor().attach([2.5], "start", k=1, radius=2.0)
    assert buffer.graph.neighbours(vertex).tolist() == [1]


def test_a_pace_of_ones_own() -> None:
    buffer, vertex = corridor().attach([5.0], "goal", k=1, pace=10.0)
    assert arcs_of(buffer)[2, vertex] == 10.0


def test_temporary_vertices_are_not_neighbours_of_each_other() -> None:
    first, start = corridor().attach([3.0], "start", k=4)
    both, goal = first.attach([3.1], "goal", k=4)
    assert both.attached == 2
    assert (start, goal) not in arcs_of(both)
    assert (start, 0) in arcs_of(both)
    again, twin = first.attach([3.0], "goal", k=1)
    assert twin != start
    assert again.graph.neighbours(twin).size == 0


def test_an_observation_within_the_tolerance_of_a_state_is_that_state() -> None:
    merged = replay.replay_graph([[0.0], [2.0]], [[2.0], [4.0]], tolerance=0.5)
    same, vertex = merged.attach([2.4], "goal", k=1)
    assert same is merged
    assert vertex == 1


def test_labels_stay_valid_and_the_attached_start_reaches_the_attached_goal() -> None:
    rng = np.random.default_rng(3)
    places = rng.uniform(size=(400, 2))
    order = np.argsort(np.linalg.norm(places[:, None] - places, axis=2), axis=1)[:, 1:7]
    tails = np.repeat(np.arange(400), 6)
    buffer = replay.replay_graph(places[tails], places[order.ravel()])
    buffer, start = buffer.attach([0.05, 0.05], "start", k=3)
    buffer, goal = buffer.attach([0.95, 0.95], "goal", k=3)
    able = buffer.report(goal).reaches
    assert able[start]
    labels = wf.sample_labels(buffer.graph, goal, fraction=0.05, seed=1)
    field = wf.extend(buffer.graph, labels, wf.AMLE(), unreachable="nan")
    plan = wf.plan(buffer.graph, np.nan_to_num(field.values, nan=np.inf, posinf=np.inf), goal)
    assert np.array_equal(plan.reached, able)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"observation": [0.5, 1.0], "k": 1}, "observation has 2 entries, expected 1"),
        ({"observation": [np.inf], "k": 1}, r"observation\[0\] = inf"),
        ({"observation": [0.5], "role": "end", "k": 1}, "role"),
        ({"observation": [2.0], "role": "end", "k": 1}, "role"),
        ({"observation": [0.5]}, "pass k, radius or both"),
        ({"observation": [0.5], "k": 0}, "k must be"),
        ({"observation": [0.5], "radius": -1.0}, "radius"),
        ({"observation": [9.0], "radius": 1.0}, "nearest, vertex 3, is 3 away"),
        ({"observation": [0.5], "k": 1, "pace": 0.0}, r"lengths\[0\] = 0.0"),
        ({"observation": [0.5], "k": 1, "pace": np.nan}, "pace"),
    ],
)
def test_bad_attachments_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(wf.InputError, match=message):
        corridor().attach(**({"role": "start"} | arguments))  # type: ignore[arg-type]


def test_without_arcs_there_is_no_pace() -> None:
    still = replay.replay_graph([[0.0], [5.0]], [[0.0], [5.0]])
    assert still.stayed == 2
    with pytest.raises(wf.InputError, match="pace must be given"):
        still.attach([1.0], "start", k=1)


def test_any_graph_can_be_attached_to_by_distances_of_its_own() -> None:
    graph = wf.Graph.from_distances([[0.0, 1.0, 9.0], [5.0, 0.0, 1.0], [9.0, 9.0, 0.0]], cutoff=5.0)
    larger, goal = attach(graph, [np.inf, 4.0, 2.0], "goal", k=2)
    larger, start = attach(larger, [0.5, 3.0, np.inf, np.inf], "start", radius=1.0)
    assert wf.cost_to_go(larger, goal).tolist() == [4.0, 3.0, 2.0, 0.0, 4.5]
    assert larger.neighbours(start).tolist() == [0]
    assert larger.neighbours(goal).size == 0
    assert graph.num_vertices == 3


def test_an_undirected_graph_stays_one() -> None:
    square = wf.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    places = square.with_positions([(0, 0), (1, 0), (1, 1), (0, 1)])
    larger, new = attach(places, [1.0, 1.0, 5.0, 5.0], "both", k=2)
    assert not larger.directed
    assert larger.num_edges == 6
    assert larger.positions is not None
    assert larger.positions[new].tolist() == [0.5, 0.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lengths": [1.0]}, "lengths has 1 entries, expected 2"),
        ({"lengths": [1.0, 0.0]}, r"lengths\[1\] = 0.0 is not positive"),
        ({"lengths": [np.nan, 1.0]}, r"lengths\[0\] = nan"),
        ({"lengths": [np.inf, np.inf]}, "nothing to attach to"),
        ({"role": "start"}, "role must be 'both'"),
        ({"k": None}, "pass k, radius or both"),
        ({"graph": [[0, 1]]}, "graph"),
    ],
)
def test_bad_distances_are_refused(arguments: dict[str, object], message: str) -> None:
    edge = wf.Graph.from_edges([0], [1])
    good = {"graph": edge, "lengths": [1.0, 2.0], "role": "both", "k": 1}
    with pytest.raises(wf.InputError, match=message):
        attach(**(good | arguments))  # type: ignore[arg-type]


# -------------------------------------------------------------------- what cannot reach


def test_the_report_says_first_what_cannot_reach() -> None:
    buffer = replay.replay_graph(
        [[0.0], [1.0], [2.0], [2.0], [4.0], [5.0], [7.0]],
        [[1.0], [0.0], [1.0], [4.0], [5.0], [4.0], [7.0]],
    )
    report = buffer.report(buffer.nearest([0.0]))
    assert report.reaches.tolist() == [True, True, True, False, False, False]
    assert [trap.tolist() for trap in report.traps] == [[3, 4], [5]]
    assert str(report).splitlines() == [
        "3 of 6 states cannot reach the goal 0: no plan can help them.",
        "They end in 2 traps; the largest has 2 states (vertex 3).",
        "4 strong components; the goal's has 2 states, and 1 lead into it one way.",
    ]


def test_the_report_of_a_buffer_that_leads_everywhere() -> None:
    ring = replay.replay_graph([[0.0], [1.0], [2.0]], [[1.0], [2.0], [0.0]]).report(1)
    assert ring.traps == ()
    assert str(ring).startswith("All 3 states can reach the goal 1.")


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=1, max_size=30))
def test_whatever_cannot_reach_the_goal_leads_into_a_trap(pairs: list[tuple[int, int]]) -> None:
    start, end = (np.array(column, dtype=float)[:, None] for column in zip(*pairs, strict=True))
    buffer = replay.replay_graph(start, end)
    report = buffer.report(0)
    assert np.array_equal(report.reaches, np.isfinite(wf.cost_to_go(buffer.graph, 0)))
    trapped = np.zeros(buffer.graph.num_vertices, dtype=bool)
    for trap in report.traps:
        trapped |= np.isfinite(wf.cost_to_go(buffer.graph, int(trap[0])))
        assert not report.reaches[trap].any()
    assert trapped[~report.reaches].all()


def test_a_goal_that_is_no_vertex_is_refused() -> None:
    with pytest.raises(wf.InputError, match="goal 9"):
        corridor().report(9)


# -------------------------------------------------------------------- pairwise distances


def test_k_nearest_by_a_distance_matrix_is_a_directed_graph_to_plan_on() -> None:
    places = np.array([0.0, 1.0, 1.5, 4.0])
    graph = wf.Graph.from_distances(abs(places[:, None] - places), k=1)
    assert graph.directed
    assert graph.to_scipy().toarray()[3, 2] == 2.5
    assert graph.to_scipy().toarray()[2, 3] == 0.0
    field = wf.extend(graph, wf.Labels([1], [0.0]), wf.AMLE())
    assert wf.plan(graph, field.values, 1).reached.tolist() == [True, True, True, True]
    assert field.values.tolist() == [1.0, 0.0, 0.5, 3.0]


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
        ({"observations": [[0.0], [1.0]], "terminals": [True, True]}, "2 episodes: no transition"),
        ({"observations": [[0.0]] * 4, "lengths": [1.0, 2.0]}, "lengths has 2 entries, expected 3"),
        ({"observations": np.empty((0, 2))}, "empty"),
    ],
)
def test_bad_buffers_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(wf.InputError, match=message):
        replay.replay_graph(**arguments)  # type: ignore[arg-type]


# ------------------------------------------------------------------ tolerances


def test_scans_count_what_the_graphs_hold() -> None:
    rng = np.random.default_rng(3)
    walk = np.cumsum(rng.normal(size=(400, 2)), axis=0)
    ends = np.arange(400) % 50 == 49
    scan = wf.replay.scan_tolerances(walk, terminals=ends, tolerances=[0.0, 0.5, 2.0])
    for i, tolerance in enumerate(scan.tolerances):
        buffer = replay.replay_graph(walk, terminals=ends, tolerance=tolerance)
        assert scan.states[i] == buffer.graph.num_vertices
        assert scan.arcs[i] == buffer.graph.num_arcs
        assert scan.stayed[i] == buffer.stayed
        parts = buffer.graph.strong_components
        assert scan.joined[i] == max(int((parts == part).sum()) for part in set(parts.tolist()))
    assert scan.states[0] == 400


def test_tolerances_to_try_are_multiples_of_the_median_step() -> None:
    scan = wf.replay.scan_tolerances([[0.0], [2.0], [4.0], [9.0]])
    assert scan.tolerances.tolist() == [0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0]
    still = wf.replay.scan_tolerances([[0.0], [0.0]])
    assert still.tolerances[-1] == 4.0
    assert still.states.tolist() == [1] * 7


@pytest.mark.parametrize("tolerances", [[-1.0], [np.nan], [], [[1.0]], ["a"]])
def test_bad_tolerances_are_refused(tolerances: object) -> None:
    with pytest.raises(wf.InputError, match="tolerances"):
        wf.replay.scan_tolerances([[0.0], [1.0]], tolerances=tolerances)  # type: ignore[arg-type]
