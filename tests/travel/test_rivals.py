"""Simple predictions, each by its closed form, and all of them on trips left out."""

from __future__ import annotations

import numpy as np
import pytest

from travel.made import city, drive, pairs, times, with_lengths
from wayfield import travel
from wayfield.travel import rivals
from wayfield.travel.network import Network


def test_each_rival_is_exact_where_its_rule_holds() -> None:
    graph = city(1, directed=True)
    net = Network(graph)
    _, ends = drive(graph, 1, 60, noise=0.0)
    new = pairs(np.random.default_rng(2), graph.num_vertices, 20)
    far, wanted = times(graph, ends), times(graph, new)
    for rule, measured, answer in (
        (rivals.factor, 1.7 * far, 1.7 * wanted),
        (rivals.line, 3.0 + 1.2 * far, 3.0 + 1.2 * wanted),
        (rivals.nearest, 1.7 * far, 1.7 * wanted),
        (rivals.per_link, 1.7 * far, 1.7 * wanted),
    ):
        found = rule(net, travel.Trips(*ends.T, measured), *new.T)
        np.testing.assert_allclose(found, answer, rtol=1e-9)
    # the nearest five of six: the pair itself counts, another end of the town does not
    near = travel.Trips([0] * 5 + [63], [9] * 5 + [62], [1.0, 2.0, 3.0, 4.0, 5.0, 99.0])
    way = times(graph, np.array([[0, 9], [1, 9]]))
    assert rivals.nearest(net, near, np.array([1]), np.array([9]))[0] == pytest.approx(
        3.0 / way[0] * way[1]
    )
    # per link explains every trip, if no two contradict each other
    rough = with_lengths(graph, graph.lengths * np.random.default_rng(3).uniform(1, 2, 224))
    known = travel.Trips(*ends[:20].T, times(rough, ends[:20]))
    again = rivals.per_link(net, known, *ends[:20].T)
    np.testing.assert_allclose(again, known.times, rtol=1e-6)


def test_trips_left_out_are_predicted_by_the_others() -> None:
    graph = city(4, directed=True)
    slow = with_lengths(graph, graph.lengths * (1.0 + (graph.positions[graph.tails][:, 0] > 3)))
    trips, _ = drive(slow, 4, 60)
    found = travel.leave_out(travel.fit(graph, trips))
    assert found is not None
    assert found.count == 60
    assert set(found.errors) == {"model", *rivals.RIVALS}
    assert found.errors["model"] < found.errors["one factor"]
    assert 0.75 < found.below <= 1.0
    assert "prefer" not in found.sentence()
    # pairs measured twice are left out together: the twin tells nothing
    twice = travel.Trips(np.tile(trips.starts, 2), np.tile(trips.ends, 2), np.tile(trips.times, 2))
    again = travel.leave_out(travel.fit(graph, twice))
    assert again is not None
    assert again.errors["one factor"] == pytest.approx(found.errors["one factor"], rel=0.15)
    assert travel.leave_out(travel.fit(graph, trips.take(np.arange(9)))) is None


def test_a_better_rival_is_named() -> None:
    worse = travel.HeldOut(20, {"model": 0.2, "one factor": 0.3, "a line": 0.1}, 0.9)
    assert worse.sentence() == (
        "20 trips left out were predicted 20.0 % off on average, 30.0 % by one factor, 10.0 % by "
        "a line; 90 % took less than their p90. Here a line is better: prefer it, or measure more"
    )
