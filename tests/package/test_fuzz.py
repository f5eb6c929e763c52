"""Junk into every public function: an `InputError`, or an answer that is right; nothing else.

A crash of the interpreter or a hang would end the run, so surviving is part of the test. New junk:
``pytest tests/package/test_fuzz.py --hypothesis-profile=fresh``.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import wayfield as wf
from exact import contains, exact_harmonic
from exact_amle import exact_amle
from methods import choose, has
from wayfield.fields import Extension
from wayfield.graphs.labels import label_distance
from wayfield_study.sweeps import MidrangeSweeps
from worlds import ENDS, PATH, wild_problems

pytestmark = pytest.mark.filterwarnings("ignore::wayfield.InputWarning")

# -------------------------------------------------------------------- junk

small = st.integers(-3, 12)
huge = st.sampled_from([2**31, -(2**31), 2**63, -(2**63) - 1, 2**64, 10**30, -(10**400)])
numbers = st.one_of(
    small,
    huge,
    st.floats(),
    st.booleans(),
    st.complex_numbers(),
    st.fractions(),
    st.decimals(),
    st.sampled_from(
        [np.int8(3), np.uint64(2**64 - 1), np.float32(0.5), np.longdouble(2), np.True_]
    ),
)
scalars = st.one_of(
    st.none(), numbers, st.text(max_size=4), st.binary(max_size=4), st.builds(object), st.just(int)
)
arrays = hnp.arrays(
    st.one_of(hnp.scalar_dtypes(), hnp.array_dtypes(max_size=2), st.just(np.dtype(object))),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)
junk = st.one_of(
    scalars,
    st.lists(scalars, max_size=5),
    st.lists(st.lists(scalars, max_size=3), max_size=3),
    st.dictionaries(small, scalars, max_size=3),
    st.sets(small, max_size=3),
    arrays,
    st.builds(np.ma.masked_less, st.lists(small, max_size=4), st.just(2)),
)


def near(valid: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Mostly what is asked for, so that the other arguments are looked at too."""
    return st.one_of(valid, valid, valid, junk)


indices = near(st.lists(st.integers(0, 6), max_size=8))
floats = near(st.lists(st.one_of(st.floats(0.1, 9.0), st.floats()), max_size=8))


def attempt(act: Any, *arguments: Any, **options: Any) -> Any:
    """Call; None where the input was refused as it should be."""
    try:
        return act(*arguments, **options)
    except wf.InputError:
        return None


# -------------------------------------------------------------------- what a right answer is


def check_graph(graph: wf.Graph) -> None:
    rows = [graph.neighbours(x).tolist() for x in range(graph.num_vertices)]
    assert all(row == sorted(set(row)) and x not in row for x, row in enumerate(rows))
    assert graph.lengths.size == sum(map(len, rows))
    assert (graph.lengths > 0).all()
    assert np.isfinite(graph.lengths).all()
    if not graph.directed:
        assert all(x in rows[y] for x, row in enumerate(rows) for y in row)


def check_extension(graph: wf.Graph, labels: wf.Labels, ext: Extension) -> None:
    assert ext.values.shape == (graph.num_vertices,)
    np.testing.assert_array_equal(ext.values[labels.vertices], labels.values)
    component, room = graph.components, 1e-9 * np.abs(labels.values).max()
    if ext.lower is not None:
        room += ext.width  # as far as the method says it may be off
    for part in range(int(component.max()) + 1):
        inside = component == part
        known = labels.values[inside[labels.vertices]]
        values = ext.values[inside]
        if known.size == 0:
            assert np.isnan(values).all()
        elif not has(ext.method, "within"):
            assert np.isfinite(values).all()
        elif ext.status.good:
            assert known.min() - room <= values.min()
            assert values.max() <= known.max() + room
    if ext.lower is not None and ext.upper is not None:
        there = ~np.isnan(ext.values)
        assert (ext.lower[there] <= ext.values[there]).all()
        assert (ext.values[there] <= ext.upper[there]).all()


# -------------------------------------------------------------------- the functions


@settings(max_examples=60)
@given(
    indices,
    indices,
    st.one_of(st.none(), floats),
    near(st.one_of(st.none(), small)),
    near(st.booleans()),
)
def test_from_edges(tails: Any, heads: Any, lengths: Any, count: Any, directed: Any) -> None:
    graph = attempt(wf.Graph.from_edges, tails, heads, lengths, count, directed)
    if graph is not None:
        check_graph(graph)
        edges = {frozenset(e) for e in zip(list(tails), list(heads), strict=True) if e[0] != e[1]}
        assert {frozenset(e) for e in zip(graph.tails, graph.indices, strict=True)} == edges


@settings(max_examples=40)
@given(near(arrays), near(st.sampled_from([None, True, False])))
def test_from_scipy(matrix: Any, directed: Any) -> None:
    graph = attempt(wf.Graph.from_scipy, matrix, directed)
    if graph is not None:
        check_graph(graph)


@settings(max_examples=40)
@given(near(arrays), near(st.floats(0.1, 3.0)), near(st.integers(1, 3)))
def test_from_distances(pairs: Any, cutoff: Any, k: Any) -> None:
    graph = attempt(wf.Graph.from_distances, pairs, cutoff, k)
    if graph is not None:
        check_graph(graph)


@settings(max_examples=50)
@given(indices, floats, near(st.just(0.0)))
def test_labels(vertices: Any, values: Any, error: Any) -> None:
    labels = attempt(wf.Labels, vertices, values, error)
    if labels is not None:
        assert (np.diff(labels.vertices) > 0).all()
        assert labels.vertices[0] >= 0
        assert np.isfinite(labels.values).all()
        given = dict(zip(list(vertices), list(values), strict=True))
        assert dict(zip(labels.vertices, labels.values, strict=True)) == given


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(problem=wild_problems())
def test_extend_on_wild_numbers(problem: tuple[wf.Graph, wf.Labels]) -> None:
    for method in choose():  # all on one draw: drawing takes longer than solving
        ext = attempt(wf.extend, *problem, method, unreachable="nan", check=False)
        if ext is not None:
            check_extension(*problem, ext)
        else:
            assert not has(method, "any_labels"), method


@pytest.mark.parametrize(
    ("method", "exact"),
    [(wf.AMLE(), exact_amle), (wf.Harmonic(), exact_harmonic)],
    ids=["AMLE", "harmonic"],
)
@given(problem=wild_problems())
def test_brackets_hold_on_wild_numbers(
    method: Any, exact: Any, problem: tuple[wf.Graph, wf.Labels]
) -> None:
    graph, labels = problem
    assume(np.isin(graph.components, graph.components[labels.vertices]).all())
    ext = wf.extend(graph, labels, method, check=False)
    if ext.status.good:
        assert contains(ext, exact(graph, labels))


@pytest.mark.parametrize("fill", ["cost", "flat"])
@given(problem=st.one_of(wild_problems(directed=True), wild_problems()))
def test_filled_amle_on_wild_numbers(fill: Any, problem: tuple[wf.Graph, wf.Labels]) -> None:
    graph, labels = problem
    ext = wf.extend(graph, labels, wf.AMLE(fill=fill), unreachable="nan", check=False)
    np.testing.assert_array_equal(ext.values[labels.vertices], labels.values)
    labelled = np.isin(graph.components, graph.components[labels.vertices])
    np.testing.assert_array_equal(np.isnan(ext.values), ~labelled)
    stranded = np.isinf(label_distance(graph, labels))
    np.testing.assert_array_equal(ext.values == np.inf, stranded & labelled)
    if ext.lower is not None and ext.upper is not None:
        assert (ext.lower[labelled] <= ext.values[labelled]).all()
        assert (ext.values[labelled] <= ext.upper[labelled]).all()


@given(
    near(st.just(PATH)),
    near(st.just(ENDS)),
    near(st.sampled_from(choose())),
    near(st.sampled_from(["error", "nan"])),
)
def test_extend(graph: Any, labels: Any, method: Any, unreachable: Any) -> None:
    ext = attempt(wf.extend, graph, labels, method, unreachable=unreachable)
    if ext is not None:
        check_extension(graph, labels, ext)


@given(
    near(st.just(PATH)),
    near(st.lists(near(st.just(ENDS)), max_size=3)),
    near(st.just(wf.Harmonic())),
    near(st.just(2)),
)
def test_extend_many(graph: Any, labels: Any, method: Any, workers: Any) -> None:
    answers = attempt(wf.extend_many, graph, labels, method, workers)
    if answers is not None:
        for one, ext in zip(labels, answers, strict=True):
            check_extension(graph, one, ext)


@given(
    near(small),
    near(st.sampled_from(["harmonic", "mean"])),
    near(st.one_of(st.floats(0, 100), st.floats())),
)
def test_settings_fail_where_they_are_made(sweeps: Any, start: Any, number: Any) -> None:
    for method in (
        attempt(MidrangeSweeps, sweeps, start),
        attempt(wf.McShane, number),
        attempt(wf.Whitney, number),
        attempt(wf.PLaplacian, number),
    ):
        if method is not None:
            ext = attempt(wf.extend, PATH, ENDS, method, check=False)
            if ext is not None:
                np.testing.assert_array_equal(ext.values[[0, 3]], [0.0, 3.0])


@given(near(st.just(PATH)), near(small))
def test_cost_to_go(graph: Any, goal: Any) -> None:
    cost = attempt(wf.cost_to_go, graph, goal)
    if cost is not None:
        assert cost.tolist() == [abs(x - int(goal)) for x in range(4)]


@given(near(st.just(PATH)), near(small), near(st.floats(0, 1)), near(small))
def test_sample_labels(graph: Any, goal: Any, fraction: Any, seed: Any) -> None:
    labels = attempt(wf.sample_labels, graph, goal, fraction, seed)
    if labels is not None:
        np.testing.assert_array_equal(labels.values, np.abs(labels.vertices - int(goal)))
        assert int(goal) in labels.vertices


@given(near(st.just(PATH)), near(st.just(ENDS)))
def test_label_distance(graph: Any, labels: Any) -> None:
    distance = attempt(label_distance, graph, labels)
    if distance is not None:
        assert distance.tolist() == [0.0, 1.0, 1.0, 0.0]


@settings(max_examples=50)
@given(
    near(st.just(PATH)),
    near(st.lists(st.floats(), min_size=4, max_size=4)),
    near(small),
    near(st.sampled_from(["slope", "q"])),
    near(st.sampled_from(["exit", "index"])),
    near(st.floats(0, 1)),
)
def test_plan(graph: Any, values: Any, goal: Any, rule: Any, ties: Any, tolerance: Any) -> None:
    route = attempt(wf.plan, graph, values, goal, rule, ties, tolerance)
    if route is not None:
        for start in range(4):
            walked = route.rollout(start)
            assert (walked.outcome == wf.Outcome.REACHED) == route.reached[start]
            steps = walked.path.tolist()
            assert all(abs(x - y) == 1 for x, y in pairwise(steps))


@settings(max_examples=50)
@given(near(st.just(PATH)), near(st.lists(st.floats(), min_size=4, max_size=4)), near(small))
def test_descending(graph: Any, values: Any, goal: Any) -> None:
    safe = attempt(wf.lift, graph, values, goal)
    if safe is not None:
        assert wf.plan(PATH, safe.values, goal).reached.all()


@settings(max_examples=50)
@given(st.one_of(st.text("#.OSRGC \n\t\rx", max_size=40), junk), near(st.text(max_size=5)))
def test_layout_from_text(text: Any, name: Any) -> None:
    layout = attempt(wf.Layout.from_text, text, name)
    if layout is not None:
        assert wf.Layout.from_text(layout.to_text()) == layout
        assert wf.grid_graph(layout, 2).num_vertices == 4 * layout.num_free


@given(junk)
def test_load_layout(name: Any) -> None:
    layout = attempt(wf.load_layout, name)
    assert layout is None or name in wf.layout_names()


@given(near(st.just(wf.load_layout("umaze"))), near(st.integers(-1, 4)))
def test_grid_graph(layout: Any, refinement: Any) -> None:
    graph = attempt(wf.grid_graph, layout, refinement)
    if graph is not None:
        check_graph(graph)
