"""Trips: samples in the order given, labels as trips, and bad input."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import wayfield as wf
from wayfield.errors import InputError
from wayfield.travel import Trips
from wayfield.travel.trips import as_trips


def test_repeated_trips_are_samples() -> None:
    trips = Trips([3, 5, 5], [0, 0, 0], [12.5, 7.0, 7.4], group=["mo", "tu", "mo"])
    assert len(trips) == 3
    assert trips.times.tolist() == [12.5, 7.0, 7.4]
    assert trips.group is not None
    assert trips.group.tolist() == [0, 1, 0]
    assert repr(trips) == "Trips(3 trips between 2 pairs, times 7 to 12.5)"
    some = trips.take(np.array([2, 0]))
    assert some.times.tolist() == [7.4, 12.5]
    again = pickle.loads(pickle.dumps(trips))
    assert not again.times.flags.writeable


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([1], [2, 3], [1.0]), "as many ends as starts, got 1 and 2"),
        (([1, 2], [2, 3], [1.0]), "trip times has 1 entries, expected 2"),
        (([1, 2], [2, 3], [1.0, 0.0]), r"trip times\[1\] = 0.0 is not positive"),
        (([1, 2], [2, 2], [1.0, 1.0]), r"trip starts\[1\] = 2 is the end of its trip as well"),
        (([], [], []), "at least one trip"),
        (([1], [2], [1.0], [1, 2]), r"trip group has shape \(2,\), expected \(1,\)"),
    ],
)
def test_bad_trips(given: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Trips(*given)


def test_labels_are_trips_to_the_goal() -> None:
    graph = wf.Graph.from_edges([0, 1], [1, 2])
    trips = as_trips(wf.Labels([0, 1, 2], [2.0, 0.0, 1.5]), graph)
    assert trips.starts.tolist() == [0, 2]
    assert trips.ends.tolist() == [1, 1]
    for bad, message in (
        (wf.Labels([0], [2.0]), "value 0 at one vertex, the goal: got 0 zeros"),
        (wf.Labels([0, 1, 2], [0.0, 0.0, 1.0]), "got 2 zeros"),
        ([1.0], "must be Trips or wayfield.Labels, got list"),
        (Trips([7], [0], [1.0]), r"trip starts\[0\] = 7 is out of range for 3 vertices"),
    ):
        with pytest.raises(InputError, match=message):
            as_trips(bad, graph)
