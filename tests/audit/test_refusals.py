"""What an audit refuses, by value and place; and what only looks wrong."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

import numpy as np
import pytest

import wayfield as wf
from wayfield import audit
from wayfield.audit.inputs import rounding
from worlds import PATH

TRUTH = [0.0, 1.0, 2.0, 3.0]
GOAL = wf.Labels([0], [0.0])
APART = wf.Graph.from_edges([0, 2], [1, 3])
STAR = wf.Graph.from_edges([0, 0, 0], [1, 2, 3])
SHORT = wf.Graph.from_edges([0, 1], [1, 2], [10.0, 1e-30])
TENTHS = wf.Graph.from_edges([0, 1, 2], [1, 2, 3], [0.1, 0.1, 0.1])
ONE_WAY = wf.Graph.from_edges([1, 2, 3], [0, 1, 2], directed=True)


def half(plan: wf.plans.planning.Plan | None = None, **change: Any) -> audit.decisions.HalfGap:
    call = {"graph": PATH, "field": TRUTH, "truth": TRUTH, "goal": 0} | change
    return audit.half_gap(**call, plan=plan)


def ordered(graph: wf.Graph = PATH, **change: Any) -> audit.decisions.Ordering:
    call = {"field": TRUTH, "truth": wf.cost_to_go(graph, 0), "goal": 0} | change
    return audit.ordering(graph, **call)


def amle(**change: Any) -> object:
    return audit.amle_half_gap(
        **({"graph": PATH, "labels": GOAL, "truth": TRUTH, "goal": 0} | change)
    )


def failed(**change: Any) -> object:
    return audit.failures(**({"graph": PATH, "field": TRUTH, "labels": GOAL, "goal": 0} | change))


def mechanism(
    graph: wf.Graph = PATH, one: Any = TRUTH, two: Any = TRUTH, truth: Any = TRUTH
) -> object:
    return audit.mechanism(graph, one, two, truth, 0)


def bound(labels: Any, graph: wf.Graph = PATH) -> object:
    return ordered(graph).amle_bound(labels)


ROWS: list[tuple[Callable[[], object], str]] = [
    # the truth
    (
        lambda: half(truth=[0.0, 1.0, 2.0, 2.5]),
        r"truth\[3\] = 2.5 violates the Bellman identity: .* walk to 0, is 3.0",
    ),
    (lambda: half(truth=[0.0, 1.0, 2.25, 9.0]), r"truth\[3\] = 9.0"),
    (lambda: half(truth=[0.0, 0.5, 1.0, 1.5]), r"truth\[\d\] = .* violates"),
    (lambda: half(goal=1), r"truth\[1\] = 1.0, but vertex 1 is the goal"),
    (lambda: half(truth=[0.0, 1.0, inf, inf]), r"truth\[2\] = inf violates"),
    (lambda: half(truth=[0.0, 1.0, 7.0, 7.0], graph=APART), r"truth\[[23]\] = 7.0 violates"),
    (lambda: half(truth=[0.0, 1.0, -1.0, 0.0]), r"truth\[2\] = -1.0 is not a cost"),
    (lambda: half(truth=[0.0, nan, 2.0, 3.0]), r"truth\[1\] = nan is not a cost"),
    (lambda: half(truth=TRUTH[:3]), "truth has 3 values but the graph has 4 vertices"),
    (lambda: half(truth=[TRUTH]), "truth must be one-dimensional"),
    # on unit lengths the truth is exact; on others it is, up to rounding
    (lambda: half(truth=[0.0, 1.0, 2.0, np.nextafter(3.0, 4.0)]), r"3.0000000000000004 violates"),
    (lambda: half(truth=[0.0, 0.1, 0.2, 0.3001], graph=TENTHS), r"truth\[3\] = 0.3001"),
    # 7 = 7 + 1e-30 in doubles: the identity alone would let any number pass
    (
        lambda: half(graph=SHORT, field=[0.0] * 3, truth=[0.0, 7.0, 7.0]),
        r"truth\[1\] = 7.0 violates the Bellman identity: .* is 10.0",
    ),
    # fields, goals and plans
    (lambda: half(field=TRUTH[:3]), "the field has 3 values but the graph has 4 vertices"),
    (
        lambda: half(field=wf.extend(STAR, GOAL, wf.AMLE())),
        "the field belongs to another graph",
    ),
    (lambda: half(field=[0.0, 1.0, nan, 3.0]), r"values\[2\] = nan is neither a number"),
    (lambda: half(field=[0.0, 1.0, -inf, 3.0]), r"values\[2\] = -inf is neither a number"),
    (lambda: half(field=["a", "b", "c", "d"]), "values must be real numbers"),
    (lambda: half(goal=4), "goal 4 is not a vertex"),
    (lambda: half(graph="maze"), "graph must be a wayfield.Graph, got str"),
    (lambda: half([0, 0, 1, 2]), "plan must be a Plan, the result of wf.plan, got list"),  # type: ignore[arg-type]
    (
        lambda: half(wf.plan(wf.Graph.from_edges([0], [1]), [0.0, 1.0], 0)),
        "the plan's graph has 2 vertices, but the graph has 4",
    ),
    (lambda: half(wf.plan(STAR, TRUTH, 0)), "the plan belongs to another graph"),
    (lambda: half(wf.plan(PATH, TRUTH, 1)), "the plan leads to vertex 1, but the goal is 0"),
    (lambda: half().failure_bound([0, 4]), r"starts\[1\] = 4 is out of range"),
    (lambda: ordered(starts=[4]), r"starts\[0\] = 4 is out of range"),
    (lambda: mechanism(one=TRUTH[:2]), "2 values but the graph has 4 vertices"),
    (lambda: mechanism(two=TRUTH[:2]), "2 values but the graph has 4 vertices"),
    (lambda: mechanism(truth=[0.0, 2.0, 4.0, 6.0]), "violates the Bellman identity"),
    (lambda: mechanism(ONE_WAY), "undirected"),
    (lambda: audit.geometry(ONE_WAY, TRUTH, 0), "undirected"),
    (lambda: failed(field=TRUTH[:3]), "it belongs to another graph"),
    (
        lambda: failed(field=[0.0, nan, 2.0, 3.0]),
        r"values\[1\] = nan is neither a number nor \+inf",
    ),
    (lambda: failed(labels=wf.Labels([7], [0.0])), r"label vertices\[0\] = 7 is out of range"),
    (lambda: failed(labels=[0]), r"labels must be wayfield.Labels, got list"),
    (lambda: audit.strict_extrema(PATH, None, TRUTH), r"labels must be wayfield.Labels, got"),  # type: ignore[arg-type]
    # bounds from labels
    (lambda: amle(labels=wf.Labels([1], [1.0])), "the goal 0 is not labelled"),
    (
        lambda: amle(labels=wf.Labels([0, 2], [0.0, 3.0])),
        r"label values\[1\] = 3.0 is off the truth",
    ),
    (lambda: amle(truth=[0.0, 1.0, 2.0, 5.0]), r"truth\[3\] = 5.0 violates"),
    (lambda: amle(goal=9), "goal 9"),
    (lambda: amle(graph=ONE_WAY), "for undirected graphs"),
    (lambda: bound([0]), r"labels must be wayfield.Labels, got list"),
    (lambda: bound(GOAL, ONE_WAY), "undirected"),
    (
        lambda: bound(wf.Labels([0, 3], [0.0, 3.5], error=0.25)),
        r"label values\[1\] = 3.5 is off the truth",
    ),
    (
        lambda: bound(wf.Labels([0, 2], [0.0, 1.0]), APART),
        r"label vertices\[1\] = 2 cannot reach the goal",
    ),
    (
        lambda: audit.fidelity(ordered(), [0.0, -1.0, 0.0, 0.0]),
        r"error\[1\] = -1.0 is not a bound",
    ),
    # tallies
    (lambda: audit.pool([]), "nothing to pool"),
    *[(lambda x=x: audit.pool(x), "records must be") for x in (None, 5, "abc", [1, 2], [None])],
    (
        lambda: audit.pool([ordered().all, mechanism()]),  # type: ignore[list-item]
        r"records\[1\] is Mechanism, records\[0\] Scope",
    ),
]


@pytest.mark.parametrize(("call", "message"), ROWS, ids=[message for _, message in ROWS])
def test_bad_input_is_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(wf.InputError, match=message):
        call()


def test_tallies_of_two_kinds_do_not_add() -> None:
    with pytest.raises(TypeError):
        ordered().all + 1  # type: ignore[operator]


def test_a_truth_that_drifts_along_a_path_is_found_out() -> None:
    """Off by less than rounding at every step, and by far more at the end."""
    n = 2000
    path = wf.Graph.from_edges(range(n - 1), range(1, n), np.full(n - 1, 1.25))
    drift = [0.0]
    for _ in range(n - 1):
        drift.append((drift[-1] + 1.25) * (1.0 + 0.9 * rounding(path)))
    assert drift[-1] > wf.cost_to_go(path, 0)[-1] * (1.0 + 100.0 * rounding(path))
    with pytest.raises(wf.InputError, match=r"truth\[1999\] = .* violates the Bellman identity"):
        half(graph=path, field=drift, truth=drift)


def test_what_only_looks_wrong_is_taken() -> None:
    twin = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    field = wf.extend(twin, wf.Labels([0, 3], [0.0, 3.0]), wf.AMLE())
    assert half(wf.plan(twin, TRUTH, 0), field=field).gap.tolist() == half().gap.tolist()
    half(truth=[0.0, 0.1, 0.2, 0.3], graph=TENTHS)  # 0.1 + 0.2 is not the double 0.3
    half(graph=SHORT, field=[0.0, 10.0, 10.0], truth=[0.0, 10.0, 10.0])
