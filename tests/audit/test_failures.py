"""Ends of walks, basins and strict extrema."""

from __future__ import annotations

from dataclasses import replace
from math import inf, isinf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wayfield as wf
from methods import methods
from walkers import cycle_of, follow, moves
from wayfield.audit import End, failures, strict_extrema
from wayfield.audit.kernels import neighbour_range
from wayfield_study.lattice_search import search
from worlds import any_fields, label_sets, labelled_graphs, rough_fields, rows

# ------------------------------------------------------------------ ends and basins


@given(any_fields(), st.sampled_from(["slope", "q"]), st.sampled_from(["exit", "index"]), st.data())
def test_ends_are_those_of_a_walker(world, rule: str, ties: str, data) -> None:
    graph, values, goal = world
    labels = data.draw(label_sets(graph))
    plan = wf.plan(graph, values, goal, rule, ties)
    found = failures(graph, values, labels, goal, plan)
    move = moves(graph, values, goal, rule, ties)
    boundary = set(labels.vertices.tolist())
    for start in range(graph.num_vertices):
        outcome, path = follow(move, start, goal)
        if outcome == "loop":
            touching = bool(boundary & set(cycle_of(path)))
            expected = End.BOUNDARY if touching else End.INTERIOR
        else:
            expected = End.REACHED if outcome == "reached" else End.DEAD_END
        assert found.end[start] == expected
    assert found.partitions
    assert sum(found.counts.values()) == graph.num_vertices - 1
    dead = found.counts[End.DEAD_END]
    assert found.basin_sizes.sum() + dead + plan.reached.sum() == graph.num_vertices


def test_c_gamma_is_counted() -> None:
    """Two cycles: one holds the label 3, the other lies on a plateau without labels."""
    path = wf.Graph.from_edges(range(8), range(1, 9))
    values = [0.0, 3.0, 2.0, 1.0, 2.0, 9.0, 4.0, 4.0, 5.0]
    found = failures(path, values, wf.Labels([0, 3, 8], [0.0, 1.0, 5.0]), 0)
    assert found.counts == {End.REACHED: 1, End.INTERIOR: 3, End.BOUNDARY: 4, End.DEAD_END: 0}
    assert found.touching.tolist() == [True, False]
    assert found.basin_sizes.tolist() == [4, 3]
    assert found.spread.tolist() == [1.0, 0.0]
    assert found.level[~found.touching].all()
    assert repr(found) == "Failures(1 reached, 3 interior, 4 boundary)"


@pytest.mark.parametrize("flaw", ["basin", "cycle", "halt", "goal"])
def test_a_false_partition_is_seen(flaw: str) -> None:
    path = wf.Graph.from_edges(range(4), range(1, 5))
    values = [0.0, 3.0, 2.0, 1.0, 2.0]
    plan = wf.plan(path, values, 0)
    assert plan.cycles[0].tolist() == [2, 3]
    false = {
        "basin": {"basin": np.array([-1, 0, 0, 0, 0])},
        "cycle": {"cycle_members": np.array([3, 4])},
        "halt": {"successor": np.array([0, 0, 3, 2, 4])},
        "goal": {"cycle_members": np.array([0, 3])},
    }[flaw]
    labels = wf.Labels([0, 3], [0.0, 1.0])
    assert failures(path, values, labels, 0, plan).partitions
    assert not failures(path, values, labels, 0, replace(plan, **false)).partitions


# ------------------------------------------------------------------ interior cycles are level


@given(labelled_graphs(), st.data())
@methods(bracket=True, within=True)
def test_interior_cycles_of_exact_fields_are_plateau_cycles(method, problem, data) -> None:
    """Steepest descent, index ties; brackets stand in for the exact values."""
    graph, labels = problem
    goal = data.draw(st.sampled_from(labels.vertices.tolist()))
    field = wf.extend(graph, labels, method)
    plan = wf.plan(graph, field.values, goal, "slope", "index")
    found = failures(graph, field, labels, goal, plan)
    assert found.level[~found.touching].all()


def test_there_are_such_cycles() -> None:
    """The witnesses of the exact AMLE with index ties fail on plateaus, and only there."""
    witnesses = search((5, 5), candidates=200).witnesses["exact"].values()
    assert witnesses
    for w in witnesses:
        field = wf.extend(w.graph, w.labels, wf.AMLE())
        found = failures(w.graph, field, w.labels, w.goal, w.amle_plan)
        assert found.counts[End.INTERIOR] > 0
        assert found.level[~found.touching].all()
        assert wf.plan(w.graph, field.values, w.goal).reached.all()  # exit ties leave plateaus


def test_argmin_q_on_lengths_may_climb_inside() -> None:
    """The remark is about unit lengths: elsewhere argmin-Q turns back on an exact field."""
    path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3], [1.0, 1.0, 10.0])
    labels = wf.Labels([0, 3], [6.0, 0.0])
    field = wf.extend(path, labels, wf.AMLE())
    found = failures(path, field, labels, 3)
    assert found.plan.cycles[0].tolist() == [1, 2]
    assert found.spread.tolist() == [0.5]
    assert not found.level[~found.touching].all()
    assert wf.plan(path, field.values, 3).reached.all()


# ------------------------------------------------------------------ strict extrema


@given(rough_fields())
def test_extrema_by_their_definition(problem) -> None:
    graph, labels, values = problem
    minima, maxima = strict_extrema(graph, labels, values)
    free = set(range(graph.num_vertices)) - set(labels.vertices.tolist())
    for found, sign in ((minima, 1), (maxima, -1)):
        depth = {x: min(sign * (values[y] - values[x]) for y in graph.neighbours(x)) for x in free}
        expected = {x: gap for x, gap in sorted(depth.items()) if gap > 0}
        assert found.vertices.tolist() == list(expected)
        assert found.depth.tolist() == list(expected.values())
        assert found.deepest == max(expected.values(), default=0.0)
        assert not found.proven.any()


@given(labelled_graphs())
@methods(bracket=True, within=True)
def test_exact_fields_have_no_strict_interior_extrema(method, problem) -> None:
    """Maximum principle: none is proven, whatever rounding makes of a plateau."""
    graph, labels = problem
    field = wf.extend(graph, labels, method)
    for found in strict_extrema(graph, labels, field):
        assert not found.proven.any()
        assert found.deepest <= 2 * field.width


@methods(bracket=True, within=True)
def test_an_extremum_at_a_label_is_proven_once_the_label_is_forgotten(method) -> None:
    star = wf.Graph.from_edges([0, 0, 0, 1, 2, 3], [1, 2, 3, 4, 4, 4], [1.0, 2.0, 1.0, 1.0, 3.0, 1])
    field = wf.extend(star, wf.Labels([0, 4], [0.0, 5.0]), method)
    minima, maxima = strict_extrema(star, wf.Labels([4], [5.0]), field)
    assert minima.vertices.tolist() == [0]
    assert minima.proven.all()
    assert not len(maxima)
    maxima = strict_extrema(star, wf.Labels([0], [0.0]), field)[1]
    assert maxima.vertices.tolist() == [4]
    assert maxima.proven.all()


def test_infinite_values_take_no_part() -> None:
    """On a directed graph: 1 sees only 2, which cannot reach; 0 sees 1 and is below it."""
    graph = wf.Graph.from_edges([0, 1, 0], [1, 2, 2], directed=True)
    minima, maxima = strict_extrema(graph, wf.Labels([2], [0.0]), [1.0, 4.0, inf])
    assert minima.vertices.tolist() == [0]
    assert minima.depth.tolist() == [3.0]
    assert not len(maxima)


@given(any_fields())
def test_neighbour_range_twin(world) -> None:
    graph, values, _ = world
    field = np.array(values)
    least, most = neighbour_range(graph.arcs, field, field)
    for x, row in rows(graph).items():
        heads = [values[y] for y in row if not isinf(values[y])]
        assert least[x] == min(heads, default=inf)
        assert most[x] == max(heads, default=-inf)


def test_cost_fill_has_strict_maxima() -> None:
    """Beyond the last label it climbs by the length: the end of the path is above its neighbour."""
    path, labels = wf.Graph.from_edges([0, 1], [1, 2]), wf.Labels([0, 1], [0.0, 1.0])
    _, maxima = strict_extrema(path, labels, wf.extend(path, labels, wf.AMLE(fill="cost")))
    assert (maxima.vertices.tolist(), maxima.proven.tolist()) == ([2], [True])
    _, none = strict_extrema(path, labels, wf.extend(path, labels, wf.AMLE(fill="flat")))
    assert len(none) == 0
