"""The directed AMLE: against rationals, its fills, and what it shares with the undirected one."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wayfield as wf
from exact_amle import exact_directed_amle
from wayfield.fields.amle import method as amle
from worlds import labelled_graphs, path, random_graph, random_labels

DIGRAPHS = labelled_graphs(40, ["unit", "whole", "real"], connected=False, directed=True)


@given(DIGRAPHS, st.sampled_from(["cost", "flat"]))
@settings(max_examples=120, deadline=None)
def test_exact_rationals(problem: tuple[wf.Graph, wf.Labels], fill: str) -> None:
    graph, labels = problem
    exact = exact_directed_amle(graph, labels, fill)
    result = wf.extend(graph, labels, wf.AMLE(fill=fill), unreachable="nan")
    room = 1e-12 * max(labels.span, 1.0) + 4 * np.spacing(np.abs(labels.values).max())
    for x, value in enumerate(exact):
        if np.isnan(result.values[x]):
            continue
        if value == float("inf"):
            assert result.values[x] == np.inf
            continue
        assert abs(Fraction(float(result.values[x])) - value) <= room
        if result.lower is not None:
            assert result.upper is not None
            assert Fraction(float(result.lower[x])) <= value <= Fraction(float(result.upper[x]))
    assert result.status is wf.Status.CONVERGED
    assert result.lower is not None


def test_brackets_are_proved() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        graph = random_graph(rng, 60, "unit", edges=200, directed=True, two_way=0.0)
        result = wf.extend(graph, random_labels(rng, graph, 8), wf.AMLE(), unreachable="nan")
        assert result.lower is not None


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
@settings(max_examples=60, deadline=None)
def test_symmetric_digraph_is_the_undirected_graph(seed: int, unit: bool) -> None:
    """Equal on walks of positive slope; flat fill makes them equal everywhere."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 40))
    there = random_graph(rng, n, "unit" if unit else "real", backbone="tree", edges=n)
    one_way = replace(there, directed=True)
    labels = random_labels(rng, there, int(rng.integers(2, max(3, n // 3))))
    undirected = wf.extend(there, labels, wf.AMLE())
    directed = wf.extend(one_way, labels, wf.AMLE(fill="flat"))
    np.testing.assert_allclose(directed.values, undirected.values, rtol=0, atol=1e-12 * labels.span)
    cost = wf.extend(there, labels, wf.AMLE(fill="cost"))
    same = wf.extend(one_way, labels, wf.AMLE(fill="cost"))
    np.testing.assert_allclose(cost.values, same.values, rtol=0, atol=1e-12 * labels.span)


def test_cost_fill_leaves_no_plateau_on_undirected_graphs() -> None:
    line = path(6)
    labels = wf.Labels([0, 2], [0.0, 2.0])
    assert np.array_equal(wf.extend(line, labels, wf.AMLE()).values, [0, 1, 2, 2, 2, 2])
    filled = wf.extend(line, labels, wf.AMLE(fill="cost"))
    assert np.array_equal(filled.values, [0, 1, 2, 3, 4, 5])
    assert filled.details["filled"] == 3


def test_unknown_fill_is_refused() -> None:
    with pytest.raises(wf.InputError, match="'steep'"):
        wf.AMLE(fill="steep")  # type: ignore[arg-type]


def test_an_unproved_field_is_still_filled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without rationals some ties stay undecided; the field is whole anyway."""
    monkeypatch.setattr(amle, "rational_amle", lambda *_: None)
    seen = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        graph = random_graph(rng, 25, "wild", edges=70, directed=True, two_way=0.0)
        labels = random_labels(rng, graph, 4)
        result = wf.extend(graph, labels, wf.AMLE(), unreachable="nan", check=False)
        if result.lower is None:
            seen += 1
            assert result.status is wf.Status.UNVERIFIED
            orphaned = ~np.isin(graph.components, graph.components[labels.vertices])
            assert not np.isnan(result.values[~orphaned]).any()
    assert seen > 0
