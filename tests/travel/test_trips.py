"""Trips, promises, and what `mend` refuses: each bad input by name."""

from __future__ import annotations

import pickle
import time
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import wayfield as wf
from wayfield import travel
from wayfield.travel import MendMethod
from worlds import path

ONE_WAY = wf.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=True)


# ------------------------------------------------------------------ trips


def test_trips_are_sorted_and_repetitions_merged() -> None:
    trips = travel.Trips([5, 3, 5, 3], [1, 1, 0, 1], [2.0, 4.0, 7.0, 4.0])
    assert trips.ends.tolist() == [0, 1, 1]
    assert trips.starts.tolist() == [5, 3, 5]
    assert trips.costs.tolist() == [7.0, 4.0, 2.0]
    assert (len(trips), trips.merged) == (3, 1)
    assert not trips.costs.flags.writeable
    again = pickle.loads(pickle.dumps(trips))
    assert repr(again) == repr(trips) == "Trips(3 trips to 2 ends, costs 2 to 7)"
    assert again.merged == 1


def test_repeated_trips_within_the_error_meet_in_the_middle() -> None:
    trips = travel.Trips([3, 3, 3], [0, 0, 0], [4.0, 5.0, 4.2], error=0.5)
    assert trips.costs.tolist() == [4.5]
    assert trips.merged == 2


def test_of_upper_bounds_the_least_counts() -> None:
    trips = travel.Trips([3, 3], [0, 0], [9.0, 4.0], bound="upper")
    assert trips.costs.tolist() == [4.0]
    assert repr(trips) == "Trips(1 trip to 1 end, costs 4 to 4, upper bounds)"


@pytest.mark.parametrize(
    ("starts", "ends", "costs", "more", "message"),
    [
        ([], [], [], {}, "at least one trip, got none"),
        ([1, 2], [0], [1.0, 2.0], {}, "as many ends as starts, got 2 and 1"),
        ([1], [0], [1.0, 2.0], {}, "trip costs has 2 entries, expected 1"),
        ([1, 2], [0, 0], [1.0, -2.0], {}, r"trip costs\[1\] = -2.0 is not positive"),
        ([1, 2], [0, 0], [0.0, 2.0], {}, r"trip costs\[0\] = 0.0 is not positive"),
        ([1], [0], [float("nan")], {}, r"trip costs\[0\] = nan is not positive"),
        ([1], [0], [float("inf")], {}, r"trip costs\[0\] = inf is not finite"),
        ([1, -2], [0, 0], [1.0, 2.0], {}, r"trip starts\[1\] = -2 is negative"),
        ([1, 2], [0, 0.5], [1.0, 2.0], {}, r"trip ends\[1\] = 0.5 is not a whole number"),
        ([1, 2], [0, 2], [1.0, 2.0], {}, r"trip starts\[1\] = 2 is the end of its trip"),
        ([1], [0], [1.0], {"error": -1.0}, "trip error must be a finite number of at least 0"),
        ([1], [0], [1.0], {"bound": "lower"}, "bound must be one of 'upper', got 'lower'"),
        (
            [4, 1, 1],
            [0, 0, 0],
            [8.0, 5.0, 3.0],
            {"error": 0.5},
            "the trip from 1 to 0 costs 3.0 at position 2 and 5.0 at position 1",
        ),
    ],
    ids=str,
)
def test_bad_trips(
    starts: list[int], ends: list[int], costs: list[float], more: dict[str, Any], message: str
) -> None:
    with pytest.raises(wf.InputError, match=message):
        travel.Trips(starts, ends, costs, **more)


# ------------------------------------------------------------------ mend


@pytest.mark.parametrize(
    ("data", "more", "message"),
    [
        (travel.Trips([9], [0], [1.0]), {}, r"trip starts\[0\] = 9 is out of range for 4 vertices"),
        (travel.Trips([1], [9], [1.0]), {}, r"trip ends\[0\] = 9 is out of range for 4 vertices"),
        (travel.Trips([1], [3], [1.0]), {"goal": 3}, "goal and bound are for labels"),
        (travel.Trips([1], [3], [1.0]), {"bound": "upper"}, "goal and bound are for labels"),
        (
            travel.Trips([1, 3, 2], [3, 0, 0], [1.0, 5.0, 4.0]),
            {},
            r"no path from 2 to 0, though going there cost 4 \(and 1 more\)",
        ),
        (wf.Labels([1, 3], [2.0, 0.0]), {}, "labels are costs to a goal: pass goal="),
        (wf.Labels([1, 3], [2.0, 0.0]), {"goal": 4}, "goal 4 is not a vertex"),
        (wf.Labels([3, 9], [0.0, 1.0]), {"goal": 3}, "9 is out of range for 4 vertices"),
        (
            wf.Labels([1, 3], [2.0, 0.5]),
            {"goal": 3},
            r"values\[1\] = 0.5 is given for the goal",
        ),
        (wf.Labels([1, 3], [-2.0, 0.0]), {"goal": 3}, r"values\[0\] = -2.0 is not positive"),
        (wf.Labels([1, 3], [0.0, 0.0]), {"goal": 3}, r"values\[0\] = 0.0 is not positive"),
        (wf.Labels([3], [0.0]), {"goal": 3}, "only the goal 3 is labelled"),
        (wf.Labels([0, 2], [0.0, 2.0]), {"goal": 0}, "no path from 2 to 0, though going there"),
        (wf.Labels([1, 3], [2.0, 0.0]), {"goal": 3, "bound": "lower"}, "bound must be one of"),
        ([1.0, 2.0], {"goal": 3}, "labels must be wayfield.Labels, got list"),
        (
            wf.Labels([1], [2.0]),
            {"goal": 3, "method": wf.AMLE()},
            "must be a mend method",
        ),
        (wf.Labels([1], [2.0]), {"goal": 3, "method": travel.LeastChange}, r"such as Smooth\(\)"),
    ],
    ids=str,
)
def test_bad_data_to_mend_by(data: Any, more: dict[str, Any], message: str) -> None:
    with pytest.raises(wf.InputError, match=message):
        travel.mend(ONE_WAY, data, **{"method": travel.LeastChange(), **more})


def test_the_goal_needs_no_label_and_may_be_off_by_the_error() -> None:
    method = travel.LeastChange("unit", only_odd=None)
    bare = travel.mend(ONE_WAY, wf.Labels([0], [5.0]), goal=3, method=method)
    assert (bare.value, bare.bound) == (2.0, 2.0)
    vague = wf.Labels([0, 3], [5.0, 0.4], error=0.5)
    assert travel.mend(ONE_WAY, vague, goal=3, method=method).value == 1.5


def test_mended_says_what_changed() -> None:
    slow = wf.Labels([0, 1, 3], [0.0, 1.0, 7.0])
    mended = travel.mend(path(4), slow, 0, travel.LeastChange("unit", only_odd=None))
    assert repr(mended) == "Mended(1 of 3 edges costlier, by 4 in all)"
    assert mended.believed.is_unit
    assert mended.added.sum() == 8.0  # both ways
    assert mended.seconds >= 0.0
    one_way = travel.mend(
        ONE_WAY, wf.Labels([0], [5.0]), 3, travel.LeastChange("unit", only_odd=None)
    )
    assert repr(one_way) == "Mended(1 of 3 arcs costlier, by 2 in all)"
    same = travel.mend(path(4), wf.Labels([3], [3.0]), 0, travel.LeastChange())
    assert repr(same) == "Mended(the graph as it is)"


# ------------------------------------------------------------------ promises


@pytest.mark.parametrize(("level", "count"), [(0.9, 9), (0.5, 40), (0.8, 99)])
def test_cost_bounds_hold_as_often_as_they_say(level: float, count: int) -> None:
    """Scores of any distribution: level ≤ coverage ≤ level + 1 / (count + 1), over many draws."""
    rng = np.random.default_rng(count)
    kept, draws = 0, 2000
    for _ in range(draws):
        predicted = rng.uniform(1.0, 9.0, count + 1)
        paid = predicted * rng.lognormal(sigma=1.0, size=count + 1)
        made = travel.cost_bound(predicted[1:], paid[1:], level)
        kept += bool(paid[0] <= made.bound(predicted)[0])
    noise = 4.0 * np.sqrt(level * (1 - level) / draws)
    assert level - noise <= kept / draws <= level + 1.0 / (count + 1) + noise


def test_promise_is_an_order_statistic() -> None:
    made = travel.cost_bound(np.ones(9), np.arange(1.0, 10.0), level=0.9)
    assert (made.factor, made.level, made.count) == (9.0, 0.9, 9)
    assert travel.cost_bound(np.ones(9), np.arange(1.0, 10.0), level=0.5).factor == 5.0
    lost = travel.cost_bound(np.ones(9), [*range(1, 9), np.inf], level=0.8)
    assert lost.factor == 8.0


def test_bounds_with_confidence_hold_for_most_draws_of_a_population() -> None:
    """All 330 draws of 4 from 11, ties included: too few walks are covered at most that often."""
    scores = np.array([1.0, 1.0, 1.0, 1.1, 1.2, 1.2, 1.5, 1.6, 2.0, 2.0, np.inf])
    worst = 0.0
    for level, confidence in ((0.5, 0.8), (0.6, 0.7), (0.8, 0.5), (0.3, 0.9)):
        failed = runs = 0
        for draw in combinations(range(scores.size), 4):
            runs += 1
            try:
                made = travel.cost_bound(
                    np.ones(4), scores[list(draw)], level, confidence=confidence, population=11
                )
            except wf.InputError:  # no finite bound: nothing is stated
                continue
            assert (made.confidence, made.count) == (confidence, 4)
            failed += bool((scores <= made.factor).mean() < level)
        assert failed / runs <= 1.0 - confidence + 1e-12
        worst = max(worst, failed / runs / (1.0 - confidence))
    assert worst > 0.4  # and not far less often


def test_bounds_with_confidence_hold_for_most_draws() -> None:
    """Independent walks: the share covered is below the level in at most one draw of ten."""
    rng, count = np.random.default_rng(22), 22
    draws, level = 1000, 0.9
    factors = [
        travel.cost_bound(np.ones(count), 1.0 + rng.exponential(size=count), level, confidence=0.9)
        for _ in range(draws)
    ]
    covered = 1.0 - np.exp(-(np.array([made.factor for made in factors]) - 1.0))
    missed = (covered < level).mean()
    assert missed <= 0.1 + 4.0 * np.sqrt(0.09 / draws)
    assert missed > 0.02  # the bound is not wider than it has to be


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"confidence": 1.0}, "confidence must be between 0 and 1, got 1.0"),
        ({"population": 30}, "population needs a confidence"),
        ({"confidence": 0.9, "population": 20}, "population must be"),
        ({"confidence": 0.9, "population": 10**12}, "population must be at most 2147483647"),
        ({"confidence": 0.99}, "needs more walks for confidence 0.99, got 30"),
    ],
)
def test_bad_bounds_with_confidence(more: dict[str, Any], message: str) -> None:
    with pytest.raises(wf.InputError, match=message):
        travel.cost_bound(np.ones(30), np.ones(30), **more)


@pytest.mark.parametrize(
    ("predicted", "paid", "level", "message"),
    [
        (np.ones(8), np.ones(8), 0.9, "at level 0.9 needs at least 9 walks, got 8"),
        (np.ones(20), np.ones(20), 0.99, "needs at least 99 walks, got 20"),
        ([], [], 0.5, "needs at least 1 walks, got 0"),
        (np.ones(9), np.ones(9), 1.0, "level must be between 0 and 1, got 1.0"),
        (np.ones(9), np.ones(9), 0.0, "level must be between 0 and 1, got 0.0"),
        ([1.0, 0.0], [1.0, 1.0], 0.5, r"predicted\[1\] = 0.0 is not positive"),
        ([1.0, np.inf], [1.0, 1.0], 0.5, r"predicted\[1\] = inf is not finite"),
        ([1.0, 1.0], [np.nan, 1.0], 0.5, r"paid\[0\] = nan is neither a cost nor inf"),
        ([1.0, 1.0], [1.0, -1.0], 0.5, r"paid\[1\] = -1.0 is neither a cost nor inf"),
        ([1.0, 1.0], [1.0], 0.5, "paid has 1 entries, expected 2"),
        (np.ones(9), [1.0] * 5 + [np.inf] * 4, 0.9, "4 of 9 walks did not arrive"),
    ],
    ids=str,
)
def test_bad_cost_bounds(predicted: Any, paid: Any, level: float, message: str) -> None:
    with pytest.raises(wf.InputError, match=message):
        travel.cost_bound(predicted, paid, level)


def test_the_bound_at_next_to_no_level_is_the_least() -> None:
    assert travel.cost_bound(np.ones(3), [3.0, 1.0, 2.0], level=1e-300).factor == 1.0


def test_nothing_changed_by_one_method_does_not_acquit_the_graph() -> None:
    slow = wf.Labels([0, 3], [0.0, 9.0])
    found = travel.mend(path(4), slow, 0, travel.NoShortcuts()).finding()
    assert found == "NoShortcuts() changes nothing by the labels"


def test_a_method_by_name_says_what_it_changed_and_accuses_nothing() -> None:
    graph = path(30)
    lengths = np.where((graph.tails < 20) & (graph.indices < 20), 2.0, 1.1)
    slow = wf.Labels(np.arange(30), wf.cost_to_go(replace(graph, lengths=lengths), 0))
    mended = travel.mend(graph, slow, 0, travel.LeastChange("unit", only_odd=None))
    assert mended.finding() == (
        "LeastChange(price='unit', only_odd=None) changes the cost of 29 edges: "
        "0 – 1 (+1), 1 – 2 (+1), 2 – 3 (+1) …"
    )
    assert mended.facts()["findings"] is None


@pytest.mark.parametrize(
    ("method", "changed"), [(travel.LeastChange(), 3200), (travel.NoShortcuts(), 0), (None, 0)]
)
def test_a_hub_of_many_arcs_takes_no_longer(method: MendMethod | None, changed: int) -> None:
    leaves = np.arange(1, 20_001)
    star = wf.Graph.from_edges(np.zeros_like(leaves), leaves)
    labels = wf.Labels(leaves[:8_000], np.where(leaves[:8_000] % 5 < 2, 4.0, 1.0))
    began = time.process_time()
    assert travel.mend(star, labels, 0, method).facts()["changed"] == changed
    assert time.process_time() - began < 30.0  # hours, if every arc looked at all others
