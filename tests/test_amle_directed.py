"""The directed AMLE: against rationals, its fills, and what it shares with the undirected one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wayfield as wf
from exact_amle import exact_directed_amle


@st.composite
def digraphs(draw: st.DrawFn) -> tuple[wf.Graph, wf.Labels]:
    """Digraphs with sources, sinks, cycles, one-way and two-way arcs, and a few labels."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(3, 40))
    pairs = rng.integers(0, n, (draw(st.integers(n, 3 * n)), 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    two_way = rng.random(len(pairs)) < draw(st.sampled_from([0.0, 0.3, 0.8]))
    arcs = np.unique(np.vstack([pairs, pairs[two_way][:, ::-1]]), axis=0)
    lengths = draw(st.sampled_from(["unit", "integer", "real"]))
    length = {
        "unit": np.ones(len(arcs)),
        "integer": rng.integers(1, 6, len(arcs)).astype(float),
        "real": rng.uniform(0.1, 3.0, len(arcs)),
    }[lengths]
    graph = wf.Graph.from_edges(arcs[:, 0], arcs[:, 1], length, n, directed=True)
    count = draw(st.integers(1, max(1, n // 2)))
    values = draw(st.sampled_from(["levels", "normal", "equal", "integers"]))
    value = {
        "levels": rng.integers(0, 5, count).astype(float),
        "normal": rng.normal(size=count),
        "equal": np.full(count, 2.0),
        "integers": rng.integers(0, 50, count).astype(float),
    }[values]
    return graph, wf.Labels(rng.choice(n, count, replace=False), value)


@given(digraphs(), st.sampled_from(["cost", "flat", "lower"]))
@settings(max_examples=1000, deadline=None)
def test_exact_rationals(problem: tuple[wf.Graph, wf.Labels], fill: str) -> None:
    graph, labels = problem
    exact = exact_directed_amle(graph, labels, fill)
    result = wf.extend(graph, labels, wf.AMLE(fill=fill), unreachable="nan")
    scale = max(labels.span, 1.0)
    for x, value in enumerate(exact):
        if np.isnan(result.values[x]):
            continue
        if value == float("inf"):
            assert result.values[x] == np.inf
            continue
        assert abs(Fraction(float(result.values[x])) - value) <= 1e-12 * scale
        if result.lower is not None:
            assert result.upper is not None
            assert Fraction(float(result.lower[x])) <= value <= Fraction(float(result.upper[x]))
    assert result.status in (wf.Status.CONVERGED, wf.Status.NO_BRACKET)
    assert (result.lower is None) == (result.status is wf.Status.NO_BRACKET)


def test_most_brackets_are_proved() -> None:
    """No bracket is the exception: values that differ by a hair."""
    rng = np.random.default_rng(0)
    proved = 0
    for _ in range(50):
        arcs = np.unique(rng.integers(0, 60, (200, 2)), axis=0)
        arcs = arcs[arcs[:, 0] != arcs[:, 1]]
        graph = wf.Graph.from_edges(arcs[:, 0], arcs[:, 1], num_vertices=60, directed=True)
        labels = wf.Labels(rng.choice(60, 8, replace=False), rng.normal(size=8))
        result = wf.extend(graph, labels, wf.AMLE(), unreachable="nan")
        proved += result.lower is not None
    assert proved >= 45


def test_beyond_the_last_label_the_cost_goes_on() -> None:
    """goal(0) → x → a(4): the truth at x is 5, where the undirected AMLE says 2."""
    graph = wf.Graph.from_edges([0, 1], [1, 2], directed=True)
    result = wf.extend(graph, wf.Labels([0, 2], [0.0, 4.0]), wf.AMLE())
    assert result.values[1] == 5.0
    undirected = wf.extend(graph.symmetrised(), wf.Labels([0, 2], [0.0, 4.0]), wf.AMLE())
    assert undirected.values[1] == 2.0


def test_a_loop_on_the_way() -> None:
    """a(1) → x ⇄ y → b(5): nothing descends, so x and y cost what walking on to b costs."""
    graph = wf.Graph.from_edges([0, 1, 2, 2], [1, 2, 1, 3], directed=True)
    result = wf.extend(graph, wf.Labels([0, 3], [1.0, 5.0]), wf.AMLE())
    assert np.array_equal(result.values, [1.0, 7.0, 6.0, 5.0])
    flat = wf.extend(graph, wf.Labels([0, 3], [1.0, 5.0]), wf.AMLE(fill="flat"))
    assert np.array_equal(flat.values, [1.0, 5.0, 5.0, 5.0])


def test_what_reaches_no_label_is_infinite() -> None:
    graph = wf.Graph.from_edges([0, 1], [1, 2], directed=True)
    result = wf.extend(graph, wf.Labels([1], [1.0]), wf.AMLE())
    assert np.array_equal(result.values, [2.0, 1.0, np.inf])
    assert result.width == 0.0


@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=100, deadline=None)
def test_symmetric_digraph_is_the_undirected_graph(seed: int, unit: bool) -> None:
    """Equal on walks of positive slope; flat fill makes them equal everywhere."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 40))
    tree = np.array([(x, int(rng.integers(0, x))) for x in range(1, n)])
    extra = rng.integers(0, n, (n, 2))
    pairs = np.unique(np.sort(np.vstack([tree, extra[extra[:, 0] != extra[:, 1]]])), axis=0)
    lengths = np.ones(len(pairs)) if unit else rng.uniform(0.5, 2.0, len(pairs))
    there = wf.Graph.from_edges(pairs[:, 0], pairs[:, 1], lengths, n)
    both = np.vstack([pairs, pairs[:, ::-1]])
    one_way = wf.Graph.from_edges(both[:, 0], both[:, 1], np.tile(lengths, 2), n, directed=True)
    count = int(rng.integers(2, max(3, n // 3)))
    labels = wf.Labels(rng.choice(n, count, replace=False), rng.normal(size=count))
    undirected = wf.extend(there, labels, wf.AMLE())
    directed = wf.extend(one_way, labels, wf.AMLE(fill="flat"))
    np.testing.assert_allclose(directed.values, undirected.values, rtol=0, atol=1e-12 * labels.span)
    cost = wf.extend(there, labels, wf.AMLE(fill="cost"))
    same = wf.extend(one_way, labels, wf.AMLE(fill="cost"))
    np.testing.assert_allclose(cost.values, same.values, rtol=0, atol=1e-12 * labels.span)


def test_cost_fill_leaves_no_plateau_on_undirected_graphs() -> None:
    path = wf.Graph.from_edges(range(5), range(1, 6))
    labels = wf.Labels([0, 2], [0.0, 2.0])
    assert np.array_equal(wf.extend(path, labels, wf.AMLE()).values, [0, 1, 2, 2, 2, 2])
    filled = wf.extend(path, labels, wf.AMLE(fill="cost"))
    assert np.array_equal(filled.values, [0, 1, 2, 3, 4, 5])
    assert filled.details["filled"] == 3


def test_unknown_fill_is_refused() -> None:
    with pytest.raises(wf.InputError, match="'steep'"):
        wf.AMLE(fill="steep")  # type: ignore[arg-type]


@pytest.mark.parametrize("method", [wf.Harmonic(), wf.PLaplacian(4), wf.MidrangeSweeps(5)])
def test_methods_without_a_directed_form_say_which_have_one(method: wf.extension.Method) -> None:
    graph = wf.Graph.from_edges([0, 1], [1, 2], directed=True)
    with pytest.raises(wf.InputError, match="AMLE"):
        wf.extend(graph, wf.Labels([2], [0.0]), method)


def test_an_unproved_field_is_still_filled() -> None:
    """Lengths over twelve orders of magnitude can defeat the proof; the field is whole anyway."""
    seen = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        arcs = np.unique(rng.integers(0, 25, (70, 2)), axis=0)
        arcs = arcs[arcs[:, 0] != arcs[:, 1]]
        graph = wf.Graph.from_edges(
            arcs[:, 0], arcs[:, 1], 10.0 ** rng.uniform(-6, 6, len(arcs)), 25, directed=True
        )
        labels = wf.Labels(rng.choice(25, 4, replace=False), rng.normal(size=4))
        result = wf.extend(graph, labels, wf.AMLE(), unreachable="nan", check=False)
        if result.status is wf.Status.NO_BRACKET:
            seen += 1
            assert result.lower is None
            orphaned = ~np.isin(graph.components, graph.components[labels.vertices])
            assert not np.isnan(result.values[~orphaned]).any()
    assert seen > 0
