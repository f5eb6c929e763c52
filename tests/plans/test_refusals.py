"""Bad input is named, before anything is computed."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

import pytest

import wayfield as wf

CALLS: dict[str, Callable[..., object]] = {
    "plan": wf.plan,
    "lift": wf.lift,
    "rollout": lambda start, **call: wf.plan(**call).rollout(start),
    "sinks": lambda labels, **call: wf.plan(**call).false_sinks(labels),
    "drop": lambda values, **call: wf.drop_false_sinks(
        **({"labels": wf.Labels([0, 2], [0.0, 2.0])} | call)
    ),
}


@pytest.mark.parametrize(
    ("call", "change", "message"),
    [
        ("plan", {"graph": "maze"}, "graph must be a wayfield.Graph, got str"),
        ("plan", {"values": [0.0, nan, 1.0]}, r"values\[1\] = nan is neither a number nor"),
        ("plan", {"values": [0.0, 1.0, -inf]}, r"values\[2\] = -inf"),
        ("plan", {"values": [0.0, 1.0]}, "the field has 2 values but the graph has 3 vertices"),
        ("plan", {"values": [[0.0, 1.0, 2.0]]}, "one-dimensional"),
        ("plan", {"values": ["a", "b", "c"]}, "values must be real numbers"),
        ("plan", {"goal": 3}, "goal 3 is not a vertex"),
        ("plan", {"goal": -1}, "goal -1 is not a vertex"),
        ("plan", {"goal": 10**5000}, r"goal 10\^5000 is not a vertex"),
        ("plan", {"goal": 0.5}, "goal must be a whole number"),
        ("plan", {"rule": "greedy"}, "rule must be one of .* got 'greedy'"),
        ("plan", {"rule": ["slope", "q"]}, "rule must be one of"),
        ("plan", {"ties": None}, "ties must be one of .* got None"),
        ("plan", {"tie_tolerance": -1e-9}, "tie_tolerance must be a finite number of at least 0"),
        ("plan", {"tie_tolerance": nan}, "tie_tolerance"),
        ("plan", {"tie_tolerance": "small"}, "tie_tolerance"),
        ("rollout", {"start": 3}, "start 3 is not a vertex"),
        ("sinks", {"labels": wf.Labels([5], [1.0])}, "out of range"),
        ("lift", {"graph": None}, "graph must be a wayfield.Graph, got NoneType"),
        ("lift", {"values": [0.0, nan, 1.0]}, r"values\[1\] = nan"),
        ("lift", {"values": [inf, 1.0, 2.0]}, r"values\[0\] must be finite at the goal, got inf"),
        ("lift", {"values": [0.0, 1e301, 2.0]}, r"values\[1\] = 1e\+301 is beyond"),
        ("lift", {"goal": 3}, "goal 3 is not a vertex"),
        ("drop", {"goal": 1}, "the goal must be labelled, got no label at vertex 1"),
        ("drop", {"goal": 3}, "goal 3 is not a vertex"),
        ("drop", {"method": None}, "method must be an extension"),
        ("drop", {"labels": wf.Labels([7], [0.0])}, "out of range"),
        (
            "drop",
            {"graph": wf.Graph.from_edges([1, 2], [0, 1], directed=True), "method": wf.Harmonic()},
            "not defined on directed graphs",
        ),
    ],
)
def test_bad_input_is_named(call: str, change: dict[str, Any], message: str) -> None:
    good = {"graph": wf.Graph.from_edges([0, 1], [1, 2]), "values": [0.0, 1.0, 2.0], "goal": 0}
    with pytest.raises(wf.InputError, match=message):
        CALLS[call](**(good | change))
