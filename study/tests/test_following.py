"""Following a field in a world that is not its graph, beside a walker in plain dicts."""

from __future__ import annotations

from math import inf, nextafter

import numpy as np
import pytest

import wayfield as wf
from wayfield_study.kernels.following import TriedArcs, follow_all, lift_by_length

SEEDS = range(5)


def lifted(row: dict[int, dict[int, tuple[int, float]]], u, goal: int, steep: bool) -> list[float]:
    """Least field above u that falls as it should, by sweeps from below."""
    v = [inf] * len(u)
    v[goal] = u[goal]
    while True:
        new = list(v)
        for x in row:
            if x != goal:
                arcs = [(z, length) for z, length in row[x].values() if z != x and v[z] < inf]
                if arcs:
                    least = min(nextafter(v[z], inf) if steep else v[z] + c for z, c in arcs)
                    new[x] = max(u[x], least)
        if new == v:
            return v
        v = new


def naive(graph, u, world, start: int, goal: int, steep: bool, cap: int):
    """Walk, lifting the field anew after every arc that is not as believed."""
    lands, costs = world
    ends = list(zip(graph.tails.tolist(), graph.indices.tolist(), strict=True))
    slot = {end: e for e, end in enumerate(ends)}
    row = {x: {} for x in range(graph.num_vertices)}
    for (x, y), length in zip(ends, graph.lengths.tolist(), strict=True):
        row[x][y] = y, length
    v = lifted(row, u, goal, steep)
    x, paid, found = start, 0.0, 0
    for _ in range(cap):
        if x == goal:
            break
        ways = {y: (z, c) for y, (z, c) in row[x].items() if z != x and v[z] < inf}
        if not ways:
            break
        toll = {y: (v[z] - v[x]) / c if steep else c + v[z] for y, (z, c) in ways.items()}
        y = min(toll, key=lambda y: (toll[y], y))
        e = slot[x, y]
        z, before = int(lands[e]), row[x][y][0]
        paid += costs[e]
        row[x][y] = z, float(costs[e])
        if z != before:
            found += 1
            v = lifted(row, u, goal, steep)
        x = z
    return x == goal, paid, found


def wrong(seed: int):
    """A small lattice with random values, a third of whose arcs do something else."""
    rng = np.random.default_rng(seed)
    graph = wf.grid_graph(wf.Layout.from_text("\n".join(["...."] * 3)), 1)
    lengths = rng.integers(1, 4, graph.num_arcs).astype(float)
    ends = graph.tails, graph.indices
    graph = wf.Graph.from_edges(*ends, lengths, graph.num_vertices, directed=True)
    lands = graph.indices.astype(np.int64)
    odd = rng.random(lands.size)
    lands = np.where(odd < 0.25, graph.tails, lands)
    lands = np.where(odd > 0.93, rng.integers(graph.num_vertices, size=lands.size), lands)
    costs = graph.lengths * rng.integers(1, 3, lands.size)
    values = rng.integers(0, 12, graph.num_vertices).astype(float)
    values[0] = 0.0
    return graph, values, lands, costs


@pytest.mark.parametrize("steep", [True, False])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_walker_and_its_naive_twin(seed: int, steep: bool) -> None:
    graph, values, lands, costs = wrong(seed)
    n = graph.num_vertices
    world = TriedArcs(lands, costs, np.zeros(n))
    rng = np.random.default_rng(0)
    walks = follow_all(graph.arcs, values, world, np.arange(n), 0, steep, True, 60, rng)
    for start, walk in enumerate(zip(*walks, strict=True)):
        assert walk == naive(graph, values.tolist(), (lands, costs), start, 0, steep, 60)


def test_a_walker_that_does_not_learn_ends_at_a_bump() -> None:
    ring = wf.Graph.from_edges(range(6), [1, 2, 3, 4, 5, 0])
    shut = (ring.tails == 5) & (ring.indices == 0)
    lands = np.where(shut, ring.tails, ring.indices).astype(np.int64)
    world = TriedArcs(lands, ring.lengths.copy(), np.zeros(6))
    distance, rng = wf.cost_to_go(ring, 0), np.random.default_rng(0)
    starts = np.array([5, 4, 1])
    given = ring.arcs, distance, world, starts, 0, True
    reached, paid, _ = follow_all(*given, False, 100, rng)
    assert reached.tolist() == [False, False, True]
    assert paid.tolist() == [1.0, 2.0, 1.0]
    reached, paid, found = follow_all(*given, True, 100, rng)
    assert reached.all()
    assert paid.tolist() == [6.0, 7.0, 1.0]
    assert found.tolist() == [1, 1, 0]


def test_a_walk_ends_at_the_cap() -> None:
    path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    world = TriedArcs(path.indices.astype(np.int64), path.lengths.copy(), np.zeros(4))
    rng = np.random.default_rng(0)
    starts = np.array([3, 2])
    reached, paid, _ = follow_all(path.arcs, np.arange(4.0), world, starts, 0, True, True, 2, rng)
    assert reached.tolist() == [False, True]
    assert paid.tolist() == [2.0, 2.0]


def test_slips_are_drawn_and_nothing_is_learnt_from_them() -> None:
    path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    slips = np.array([0.0, 0.5, 0.5, 0.0])
    world = TriedArcs(path.indices.astype(np.int64), path.lengths.copy(), slips)
    starts = np.full(2_000, 3)
    given = path.arcs, np.arange(4.0), world, starts, 0, True, True, 10_000
    reached, paid, found = follow_all(*given, np.random.default_rng(5))
    _, paid_again, _ = follow_all(*given, np.random.default_rng(5))
    assert reached.all()
    assert not found.any()
    assert np.array_equal(paid, paid_again)
    # a random walk on 0…3 that goes on with chance 3/4 at 1 and 2 and turns back at 3: 3 → 0
    # takes 1 + E2, E2 = 1 + E1 · 3/4 + (1 + E2) / 4, E1 = 1 + E2 / 4
    assert paid.mean() == pytest.approx(1 + 32 / 9, abs=0.15)


def test_lifting_zero_by_length_gives_the_distance() -> None:
    graph = wrong(3)[0]
    lifted_zero = lift_by_length(graph.reverse_arcs, np.zeros(graph.num_vertices), 0)
    assert np.array_equal(lifted_zero, wf.cost_to_go(graph, 0))
