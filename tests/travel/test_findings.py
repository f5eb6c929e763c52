"""Findings: planted faults are named, right networks are not accused, and what to measure next."""

from __future__ import annotations

import numpy as np
import pytest

import wayfield as wf
from travel.made import city, drive, pairs, times, with_lengths
from wayfield import travel
from wayfield.travel import findings as search
from wayfield.travel.measuring import greedy
from wayfield.travel.model import Model
from wayfield.travel.text import lines, shorter_than_straight


def kinds(model: Model) -> list[str]:
    return [found.kind for found in model.findings]


def test_a_right_network_is_not_accused() -> None:
    for seed in range(4):
        graph = city(seed, directed=True)
        for scale in (1.0, 1.6):
            trips, _ = drive(with_lengths(graph, scale * graph.lengths), seed, 40)
            model = travel.fit(graph, trips)
            assert kinds(model) == []
            assert "nothing that is wrong at one place" in model.summary()


def barred(seed: int) -> tuple[wf.Graph, travel.Trips, set[int]]:
    """A city with a wide river and two bridges, of which one is closed; and its two arcs."""
    side = 8
    graph = city(seed, directed=True, side=side)
    east, west = graph.tails % side, graph.indices % side
    river = (np.minimum(east, west) == 3) & (np.maximum(east, west) == 4)
    bridges = (graph.tails // side == 1) | (graph.tails // side == 6)
    keep = ~river | bridges
    ends = graph.tails[keep], graph.indices[keep]
    given = wf.Graph.from_edges(*ends, graph.lengths[keep], 64, True, graph.positions)
    closed = (given.tails // side == 1) & (
        np.minimum(given.tails % side, given.indices % side) == 3
    )
    closed &= np.maximum(given.tails % side, given.indices % side) == 4
    world = with_lengths(given, np.where(closed, 1e6, given.lengths))
    trips, _ = drive(world, seed, 50)
    return given, trips, set(np.flatnonzero(closed).tolist())


def test_a_closed_bridge_is_named_and_nothing_else() -> None:
    blocked = 0
    for seed in range(3):
        graph, trips, bridge = barred(seed)
        model = travel.fit(graph, trips)
        (found,) = (each for each in model.findings if each.kind in ("blocked", "road"))
        assert set(found.where[0].tolist()) == bridge
        assert found.probability >= 0.9
        assert found.amount > 2.0
        assert found.high >= 8.0
        assert "exist" not in model.summary()
        blocked += found.kind == "blocked"
        assert ("trips run as if" in model.summary()) == (found.kind == "blocked")
        # those that speak for it drove a long way round
        far = times(graph, np.column_stack([trips.starts, trips.ends]))
        assert (trips.times[found.trips[:2]] > 1.2 * far[found.trips[:2]]).all()
    assert blocked >= 1


def test_a_slow_area_is_named() -> None:
    graph = city(3, directed=True, side=12)
    x, y = graph.positions[graph.tails].T
    slow = (np.abs(x - 5) <= 2) & (np.abs(y - 5) <= 2)
    trips, _ = drive(with_lengths(graph, graph.lengths * np.where(slow, 3.0, 1.0)), 4, 80)
    found = next(each for each in travel.fit(graph, trips).findings if each.kind == "area")
    assert found.amount > 1.3
    named = np.zeros(graph.num_arcs, bool)
    named[found.where[0]] = True
    assert (named & slow).sum() > 0.5 * named.sum()


def test_a_slip_and_a_start_up_time_are_named() -> None:
    graph = city(2)
    trips, _ = drive(graph, 5, 50)
    measured = trips.times.copy()
    measured[31] *= 10
    model = travel.fit(graph, travel.Trips(trips.starts, trips.ends, measured))
    (found,) = model.findings
    assert found.kind == "trip"
    assert found.where[0].tolist() == [31]
    assert "trip 32 is off" in model.summary(unit="minutes")

    late = travel.fit(graph, travel.Trips(trips.starts, trips.ends, trips.times + 4.0))
    (found,) = late.findings
    assert found.kind == "start"
    assert found.low < 4.0 < found.high
    assert "each trip takes" in late.summary()


def test_few_of_many_trips_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MOST_TRIPS", 40)
    graph, trips, bridge = barred(1)
    found = travel.fit(graph, trips).findings[0]
    assert set(found.where[0].tolist()) == bridge
    assert (found.trips < 50).all()


def test_changed_settings_are_those_computed_from_scratch() -> None:
    graph, trips, bridge = barred(0)
    model = travel.fit(graph, trips)
    one = search._Search(model)
    null = one.null()
    place = tuple(sorted(bridge))
    for amount in (0.6, 4.0, np.inf):
        quick = one.changed(null, place, amount, None)
        assert quick is not None
        again = search._Search(model)
        if np.isinf(amount):
            again.open[list(place)] = False
        else:
            again.scale[list(place)] = amount
            again.known = [(np.array(place), search.COARSE)]
        slow = again.null()
        np.testing.assert_allclose(quick.far, slow.far)
        np.testing.assert_allclose(quick.fixed, slow.fixed, atol=1e-12)
        for term, wanted in slow.kernels.items():
            np.testing.assert_allclose(quick.kernels[term], wanted, atol=1e-9)


def test_tiny_networks_have_nothing_to_find() -> None:
    path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    model = travel.fit(path, travel.Trips([0, 1, 0], [3, 3, 2], [3.1, 2.1, 1.9]))
    assert kinds(model) == []
    assert model.predict([0], [3])[0, 0] == pytest.approx(3.0, rel=0.1)
    edge = travel.fit(wf.Graph.from_edges([0], [1]), travel.Trips([0, 1, 0], [1, 0, 1], [3, 2, 2]))
    assert kinds(edge) == []
    assert edge.next_measurements(5).shape == (2, 2)


def test_short_edges_are_a_remark_about_the_file() -> None:
    graph = city(1, directed=True)
    lengths = graph.lengths.copy()
    lengths[:5] = 0.3
    short = with_lengths(graph, lengths)
    assert shorter_than_straight(graph) == 0
    assert shorter_than_straight(short) == 5
    assert shorter_than_straight(with_lengths(graph, 60 * lengths)) == 0  # another unit
    model = travel.fit(short, drive(graph, 1, 20)[0])
    assert ("file", "5 edges are shorter than the straight line between their ends") in lines(model)


def test_the_next_measurement_reduces_the_error_most() -> None:
    rng = np.random.default_rng(0)
    factor = rng.standard_normal((12, 6))
    covariance, noise, mean = factor @ factor.T, rng.random(12) + 0.1, rng.uniform(3, 9, 12)
    weight = 1.0 / np.maximum(mean, np.percentile(mean, 5)) ** 2

    def left(chosen: list[int]) -> float:
        C = covariance[np.ix_(chosen, chosen)] + np.diag(noise[chosen])
        cross = covariance[:, chosen]
        return float(weight @ np.diag(covariance - cross @ np.linalg.solve(C, cross.T)))

    wanted: list[int] = []
    for _ in range(4):
        rest = [i for i in range(12) if i not in wanted]
        wanted.append(min(rest, key=lambda i: left([*wanted, i])))
    assert greedy(covariance, noise, mean, 4).tolist() == wanted


def test_next_measurements_are_pairs_or_vertices_and_better_than_chance() -> None:
    graph = city(5, directed=True)
    rng = np.random.default_rng(2)
    slow = 1.0 + 0.8 * (graph.positions[graph.tails][:, 0] > 4)
    world = with_lengths(graph, graph.lengths * slow * rng.uniform(0.8, 1.2, graph.num_arcs))
    trips, _ = drive(world, 3, 12)
    model = travel.fit(graph, trips)
    chosen = model.next_measurements(6)
    assert chosen.shape == (6, 2)
    labels = wf.Labels([3, 9, 20, 30, 50], [0.0, *wf.cost_to_go(world, 3)[[9, 20, 30, 50]]])
    vertices = travel.fit(graph, labels).next_measurements(4)
    assert vertices.shape == (4,)
    assert not {3, 9, 20, 30, 50} & set(vertices.tolist())
    # measured, they leave less uncertainty than random pairs do
    test = pairs(np.random.default_rng(9), 64, 200)

    def doubt(more: np.ndarray) -> float:
        starts, ends = np.concatenate([np.column_stack([trips.starts, trips.ends]), more]).T
        measured = np.append(trips.times, times(world, more))
        mean, sd = travel.fit(graph, travel.Trips(starts, ends, measured)).moments(*test.T)
        return float(np.mean((sd / mean) ** 2))

    chance = np.mean([doubt(pairs(np.random.default_rng(s), 64, 6)) for s in range(4)])
    assert doubt(chosen) < chance
