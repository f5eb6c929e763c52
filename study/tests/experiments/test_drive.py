"""The replanning walker, against a plain one that plans from scratch at every bump."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray

import wayfield as wf
from wayfield import travel
from wayfield.numerics.csr import Arcs
from wayfield.travel import Fit, MendMethod, MendProblem
from wayfield.travel.kernels.detour import detours
from wayfield_study.driving import drive
from wayfield_study.kernels.driving import plan_ahead, room_for_search
from worlds import arcs, network, path, random_graph

Floats = NDArray[np.float64]


def wrong_world(rng: np.random.Generator, graph: wf.Graph, missing: float = 0.3) -> wf.Graph:
    """A world whose arcs are a part of the graph's, at other costs, each way its own."""
    there = rng.random(graph.num_arcs) >= missing
    costs = graph.lengths[there] * rng.uniform(0.5, 3.0, int(there.sum()))
    tails, heads = graph.tails[there], graph.indices[there]
    return wf.Graph.from_edges(tails, heads, costs, graph.num_vertices, directed=True)


def as_step(world: wf.Graph, believed: wf.Graph) -> Any:
    cost, length = arcs(world), arcs(believed)

    def step(x: int, y: int) -> tuple[int, float]:
        return (y, cost[x, y]) if (x, y) in cost else (x, length[x, y])

    return step


def by_hand(
    graph: wf.Graph, world: wf.Graph, starts: list[int], goal: int, memory: bool
) -> tuple[list[bool], list[float], list[int]]:
    """Replanning Dijkstra with NetworkX: after every single step."""
    real, known = arcs(world), network(graph)
    reached, paid, found = [], [], []
    for start in starts:
        if not memory:
            known = network(graph)
        x, cost, bumps = start, 0.0, 0
        while x != goal and nx.has_path(known, x, goal):
            y = nx.shortest_path(known, x, goal, weight="weight")[1]
            if (x, y) in real:
                known[x][y]["weight"] = real[x, y]
                cost += real[x, y]
                x = y
            else:
                known.remove_edge(x, y)
                cost += arcs(graph)[x, y]
                bumps += 1
        reached.append(x == goal)
        paid.append(cost)
        found.append(bumps)
    return reached, paid, found


@pytest.mark.parametrize("memory", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_planning_anew_at_every_step(seed: int, memory: bool) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 20, "real", backbone="tree", directed=seed % 2 == 1, two_way=0.8)
    world, goal = wrong_world(rng, graph), int(rng.integers(20))
    starts = rng.integers(0, 20, 12).tolist()
    trip = drive(graph, world, starts, goal, memory)
    reached, paid, found = by_hand(graph, world, starts, goal, memory)
    assert trip.reached.tolist() == reached
    assert trip.paid == pytest.approx(paid)
    assert trip.found.tolist() == found
    set_out = wf.cost_to_go(graph, goal)[starts]
    assert np.allclose(
        trip.predicted[:1] if memory else trip.predicted, set_out[: 1 if memory else 12]
    )


@pytest.mark.parametrize("memory", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_a_function_for_a_world_is_the_same_walk(seed: int, memory: bool) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 25, backbone="grid", directed=seed % 2 == 1, two_way=0.8)
    world, goal = wrong_world(rng, graph), int(rng.integers(25))
    starts = rng.integers(0, 25, 10)
    one = drive(graph, world, starts, goal, memory)
    other = drive(graph, as_step(world, graph), starts, goal, memory)
    for name in ("reached", "predicted", "paid", "found"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


@pytest.mark.parametrize("seed", range(5))
def test_with_the_truth_every_start_pays_the_least_cost(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 40, ("unit", "whole"), backbone="tree", directed=True, two_way=0.8)
    goal = int(rng.integers(40))
    trip = drive(graph, graph, np.arange(40), goal)
    truth = wf.cost_to_go(graph, goal)
    able = np.isfinite(truth)
    assert trip.reached.tolist() == able.tolist()
    assert (trip.paid[able] == truth[able]).all()
    assert (trip.predicted == truth).all()
    assert not trip.found.any()


@pytest.mark.parametrize("seed", range(5))
def test_arrives_wherever_the_world_allows(seed: int) -> None:
    """Undirected worlds, so that no bump and no step can lead into a trap."""
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 40, backbone="tree", edges=80)
    edges = graph.tails < graph.indices
    kept = np.flatnonzero(edges)[rng.random(int(edges.sum())) < 0.7]
    costs = graph.lengths[kept] * rng.uniform(1.0, 5.0, kept.size)
    world = wf.Graph.from_edges(graph.tails[kept], graph.indices[kept], costs, 40)
    goal = int(rng.integers(40))
    truth = wf.cost_to_go(world, goal)
    trip = drive(graph, world, np.arange(40), goal)
    assert trip.reached.tolist() == np.isfinite(truth).tolist()
    assert (trip.paid[trip.reached] >= truth[trip.reached] - 1e-9).all()


def test_a_drive_counts_what_it_refuted() -> None:
    believed = wf.Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 3])
    world = wf.Graph.from_edges([0, 1, 2], [1, 2, 3], [1.0, 5.0, 1.0])
    trip = drive(believed, world, [3], goal=0)
    assert [column.tolist() for column in trip] == [[True], [1.0], [8.0], [1]]
    assert [column.tolist() for column in drive(believed, world, [0], 0)] == [[True], [0], [0], [0]]


def test_memory_makes_the_second_walk_cheaper() -> None:
    believed = wf.Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 3])
    world = path(4)
    assert drive(believed, world, [3, 3], 0).paid.tolist() == [4.0, 4.0]
    assert drive(believed, world, [3, 3], 0, memory=True).paid.tolist() == [4.0, 3.0]


def test_a_mended_graph_is_planned_with_and_bumps_cost_what_was_believed() -> None:
    ring = wf.Graph.from_edges([*range(10), 0], [*range(1, 10), 0, 5])
    world = wf.Graph.from_edges(range(10), [*range(1, 10), 0])
    labels = wf.Labels([0, 4, 5], [0.0, 4.0, 5.0])
    mended = travel.mend(ring, labels, 0, travel.LeastChange())
    assert drive(ring, world, [5], 0).paid.tolist() == [6.0]
    assert drive(mended, world, [5], 0).paid.tolist() in ([5.0], [6.0])  # now it is a tie
    plain = drive(mended.graph, world, [5], 0).paid
    assert plain.tolist() in ([5.0], [10.0])  # there a vain try costs the mended length


@dataclass(frozen=True)
class Costlier(MendMethod):
    """A mend method that knows nothing: it makes some edges costlier."""

    factors: tuple[float, ...]

    def fit(self, problem: MendProblem) -> Fit:
        graph = problem.graph
        factor = np.resize(self.factors, graph.num_arcs)
        factor = np.maximum(factor, factor[problem.into])
        return Fit(graph.lengths * factor)


@pytest.mark.parametrize("seed", range(5))
def test_doubting_a_mend_is_the_same_walk_in_a_graph_and_by_steps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 25, backbone="grid", edges=30)
    world = wrong_world(rng, graph, missing=0.2)
    method = Costlier(tuple(rng.choice([1.0, 1.0, 4.0], 50)))
    mended = travel.mend(graph, wf.Labels([3], [1.0]), 0, method)
    starts = rng.integers(0, 25, 60)
    one = drive(mended, world, starts, 0, memory=True)
    other = drive(mended, as_step(world, graph), starts, 0, memory=True)
    for name in ("reached", "predicted", "paid", "found"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


def test_memory_overrules_a_mend_that_was_wrong() -> None:
    """A mend has made the short side of a ring dear: sooner or later it is tried, and kept."""
    ring = wf.Graph.from_edges(range(10), [*range(1, 10), 0])
    short = (ring.tails < 4) & (ring.indices < 4)
    mended = travel.mend(ring, wf.Labels([5], [1.0]), 0, Costlier(tuple(np.where(short, 9.0, 1.0))))
    forgetful = drive(mended, ring, np.full(20, 3), 0)
    assert (forgetful.paid == 7.0).all()
    for world in (ring, as_step(ring, ring)):
        trip = drive(mended, world, np.full(20, 3), 0, memory=True)
        assert trip.paid.tolist() == [7.0] * 7 + [3.0] * 13


def test_doubt_risks_no_more_than_its_share() -> None:
    """Where the mend was right, few walks doubt it, and each loses little."""
    ring = wf.Graph.from_edges(range(40), [*range(1, 40), 0])
    slow = np.where((ring.tails < 16) & (ring.indices < 16), 9.0, 1.0)
    world = wf.Graph.from_edges(ring.tails, ring.indices, slow, 40)
    mended = travel.mend(ring, wf.Labels([20], [1.0]), 0, Costlier(tuple(slow)))
    trip = drive(mended, world, np.full(100, 15), 0, memory=True)
    lost = trip.paid - 25.0  # the way by the other side
    assert trip.reached.all()
    assert (lost >= 0.0).all()
    assert np.flatnonzero(lost)[0] == 7
    assert lost[7] == 18.0  # one step of 9 showed it, and one back
    assert np.count_nonzero(lost) <= 4


def test_teleports_are_learnt_and_used() -> None:
    """Trying 4 → 3 on a path leads to 1; from then on that is the way."""
    tried = []

    def step(x: int, y: int) -> tuple[int, float]:
        tried.append((x, y))
        return (1, 1.0) if (x, y) == (4, 3) else (y, 1.0)

    trip = drive(path(8), step, [6, 6], 0, memory=True)
    assert trip.paid.tolist() == [4.0, 4.0]
    assert trip.predicted.tolist() == [6.0, 4.0]
    assert trip.found.tolist() == [1, 0]
    assert tried.count((4, 3)) == 2


def test_patience_outlasts_slips() -> None:
    """Every other try slips; an arc that never works is refuted all the same."""
    tries: dict[tuple[int, int], int] = {}

    def step(x: int, y: int) -> tuple[int, float]:
        tries[x, y] = tries.get((x, y), 0) + 1
        shut = {x, y} == {0, 5}
        return (x, 1.0) if shut or tries[x, y] % 2 else (y, 1.0)

    ring = wf.Graph.from_edges(range(6), [1, 2, 3, 4, 5, 0])
    hasty = drive(ring, step, [4], 0)
    assert not hasty.reached.any()
    assert hasty.found.tolist() == [2]
    tries.clear()
    calm = drive(ring, step, [4], 0, patience=3)
    assert calm.reached.all()
    assert calm.found.tolist() == [1]


@pytest.mark.parametrize(("cap", "tries"), [(50, 50), (None, 1050)])
def test_a_cap_on_steps_ends_what_would_not_end(cap: int | None, tries: int) -> None:
    trip = drive(path(5), lambda x, y: (x, 1.0), [4], 0, patience=10**9, max_steps=cap)
    assert (trip.reached.tolist(), trip.paid.tolist()) == ([False], [tries])
    compiled = drive(path(5), path(5), [4, 2], 0, max_steps=2)
    assert (compiled.reached.tolist(), compiled.paid.tolist()) == ([False, True], [2.0, 2.0])


@pytest.mark.parametrize(
    ("world", "starts", "more", "message"),
    [
        (path(5), [3], {}, "world must have the 4 vertices of the graph, got 5"),
        (
            wf.Graph.from_edges([0, 3], [2, 1]),
            [3],
            {},
            "no arc of the world is an arc of the graph",
        ),
        ("city", [3], {}, "world must be a Graph or a function"),
        (path(4), [3, 9], {}, r"starts\[1\] = 9 is out of range"),
        (path(4), [3], {"goal": 7}, "goal 7 is not a vertex"),
        (path(4), [3], {"memory": "yes"}, "memory must be True or False"),
        (path(4), [3], {"patience": 0}, "patience must be a whole number of at least 1"),
        (path(4), [3], {"max_steps": -1}, "max_steps must be a whole number of at least 0"),
        (lambda x, y: y, [3], {}, "step from 3 to 2 must be a vertex and a cost, got 2"),
        (lambda x, y: (9, 1.0), [3], {}, r"step from 3 to 2 must be a vertex and a cost, got \(9"),
        (lambda x, y: (y, "much"), [3], {}, "must be a vertex and a cost"),
        (lambda x, y: (y, 0.0), [3], {}, "step from 3 to 2 must have a positive cost, got 0.0"),
        (lambda x, y: (y, float("nan")), [3], {}, "must have a positive cost, got nan"),
    ],
    ids=range(13),
)
def test_bad_input(world: Any, starts: list[int], more: dict[str, Any], message: str) -> None:
    with pytest.raises(wf.InputError, match=message):
        drive(path(4), world, starts, **{"goal": 0, **more})


# ------------------------------------------------------------------ kernels


@pytest.mark.parametrize("seed", range(5))
def test_plans_stay_shortest_while_arcs_vanish(seed: int) -> None:
    """One search after another with the heuristic they raise, beside Dijkstra from scratch."""
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 30, backbone="grid", directed=seed % 2 == 1, two_way=0.8)
    goal = int(rng.integers(30))
    toward, search = wf.cost_to_go(graph, goal), room_for_search(graph.arcs)
    known = Arcs(graph.indptr, graph.indices, graph.lengths.copy())
    twin = network(graph)
    for _ in range(30):
        start = int(rng.integers(30))
        cost, size = plan_ahead(known, toward, start, goal, search)
        there = nx.has_path(twin, start, goal)
        least = nx.shortest_path_length(twin, start, goal, "weight") if there else np.inf
        assert cost == pytest.approx(least)
        way = search.path[:size][::-1]
        assert known.lengths[way].sum() == pytest.approx(cost if there else 0.0)
        gone = int(rng.integers(graph.num_arcs))
        known.lengths[gone] = np.inf
        pair = int(graph.tails[gone]), int(graph.indices[gone])
        if twin.has_edge(*pair):
            twin.remove_edge(*pair)


@pytest.mark.parametrize("seed", range(5))
def test_ways_round_every_arc(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 20, backbone="tree", directed=seed % 2 == 1, two_way=0.8)
    reach = float(rng.choice([3.0, 1e6]))
    which = np.arange(graph.num_arcs)
    around = detours(graph.arcs, graph.reverse_arcs, graph.tails, which, reach * graph.lengths)
    twin = network(graph)
    for e, length in zip(which, around, strict=True):
        x, y = int(graph.tails[e]), int(graph.indices[e])
        without = nx.restricted_view(twin, [], [(x, y)])
        least = reach * graph.lengths[e]
        if nx.has_path(without, x, y):
            least = min(least, nx.shortest_path_length(without, x, y, "weight"))
        assert length == pytest.approx(least)
