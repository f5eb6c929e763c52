"""Iterate, freeze, follow, verify: against rationals, and beside the other method."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import wayfield as wf
from exact import contains
from exact_amle import exact_amle
from wayfield.fields.amle.kernels import Fixing, bracket, divide, fix, proof
from wayfield.numerics.jit import compiling
from worlds import random_graph


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small graphs are iterated on too."""
    monkeypatch.setattr(divide, "FEW_UNLABELLED", 0)


def problem(seed: int) -> tuple[wf.Graph, wf.Labels]:
    """A small random graph with labels of three kinds."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 24))
    lengths = ("unit", "few", "whole", "real", "wide")[seed % 5]
    graph = random_graph(rng, n, lengths, backbone="tree", edges=int(rng.integers(0, 2 * n)))
    count = int(rng.integers(1, max(2, n // 3)))
    values = (rng.normal(size=count), rng.integers(0, 4, count), rng.random(count))[seed // 5 % 3]
    return graph, wf.Labels(rng.choice(n, count, replace=False), values.astype(float))


def fixed_by(graph: wf.Graph, labels: wf.Labels, directed: bool = False) -> Fixing:
    values = np.zeros(graph.num_vertices)
    values[labels.vertices] = labels.values / max(1.0, np.abs(labels.values).max())
    return fix(graph.arcs, graph.reverse_arcs, labels.mask(graph), values, leave_flat=directed)


@pytest.mark.usefixtures("always")
def test_exact_rationals() -> None:
    iterated = 0
    for seed in range(150):
        graph, labels = problem(seed)
        exact = exact_amle(graph, labels)
        result = wf.extend(graph, labels, wf.AMLE())
        iterated += result.details["rounds"] > 0
        room = np.spacing(np.abs(labels.values).max())
        error = max(abs(Fraction(float(u)) - v) for u, v in zip(result.values, exact, strict=True))
        assert error <= 1e-12 * labels.span + room
        assert contains(result, exact)
        assert result.width <= 1e-11 * labels.span + 4 * room
    assert iterated >= 75


@pytest.mark.parametrize("lengths", ["unit", "whole", "real"])
def test_both_methods_agree(lengths: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    graph = random_graph(rng, 6000, lengths, backbone="tree", edges=12_000)
    labels = wf.Labels(rng.choice(6000, 300, replace=False), rng.uniform(-1.0, 1.0, 300))
    found = fixed_by(graph, labels)
    assert found.rounds > 0
    assert bracket(graph.arcs, graph.reverse_arcs, found).width <= 1e-9
    monkeypatch.setattr(divide, "FEW_UNLABELLED", 10_000)
    divided = fixed_by(graph, labels)
    assert divided.rounds == 0
    np.testing.assert_allclose(found.values, divided.values, rtol=0, atol=1e-13)


def with_tails(seed: int) -> tuple[wf.Graph, wf.Labels, int]:
    """A graph that is iterated on, a long dead end, an isolated vertex and a path of no label."""
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 6000, "unit", backbone="tree", edges=12_000)
    once = graph.tails < graph.indices
    tail, path = 6000 + rng.permutation(200), np.arange(6201, 6220)
    tails = np.concatenate([graph.tails[once], [17], tail[:-1], path[:-1]])
    heads = np.concatenate([graph.indices[once], tail[:1], tail[1:], path[1:]])
    labels = wf.Labels(rng.choice(6000, 300, replace=False), rng.random(300))
    return wf.Graph.from_edges(tails, heads, num_vertices=6220), labels, int(tail[-1])


def test_dead_ends_are_constant_and_components_without_labels_have_no_values() -> None:
    graph, labels, end = with_tails(4)
    result = wf.extend(graph, labels, wf.AMLE(), unreachable="nan")
    assert result.details["rounds"] > 0
    assert np.isnan(result.values[6200:]).all()
    assert np.isfinite(result.values[:6200]).all()
    assert result.values[end] == result.values[17]
    assert result.width <= 1e-12


def test_true_distances_are_found_by_cones(monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without them, and where a few labels are far too steep for the others' cones."""
    graph = wf.grid_graph(wf.Layout("open", np.ones((90, 90), bool)))
    labels = wf.sample_labels(graph, goal=4000, fraction=0.03, seed=2)
    wrong = labels.values.copy()
    wrong[::60] += 50.0
    for values in (labels.values, wrong):
        given = wf.Labels(labels.vertices, values)
        found = fixed_by(graph, given)
        assert found.rounds > 0
        with monkeypatch.context() as patch:
            patch.setattr(divide, "FEW_UNLABELLED", 10_000)
            divided = fixed_by(graph, given)
        np.testing.assert_allclose(found.values, divided.values, rtol=0, atol=1e-13)


def test_few_labels_are_handed_over() -> None:
    """On a square with three labels rounds stall, and the divide and conquer answers."""
    cells = np.arange(120 * 120).reshape(120, 120)
    tails = np.concatenate([cells[:, :-1].ravel(), cells[:-1].ravel()])
    heads = np.concatenate([cells[:, 1:].ravel(), cells[1:].ravel()])
    graph = wf.Graph.from_edges(tails, heads)
    result = wf.extend(graph, wf.Labels([0, 7300, 14_399], [0.0, 0.3, 1.0]), wf.AMLE())
    assert result.details["rounds"] == 0
    assert result.iterations > 0
    assert result.residual <= 1e-15


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("directed", [False, True])
def test_uncompiled_kernels_give_the_same_bits(directed: bool) -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        lengths = ("unit", "few", "real", "wide")[seed % 4]
        graph = random_graph(rng, 120, lengths, edges=200, directed=directed)
        values = np.zeros(120)
        labelled = np.zeros(120, bool)
        labelled[rng.choice(120, 9, replace=False)] = True
        values[labelled] = rng.random(9) if seed % 2 else rng.integers(0, 5, 9) / 4.0
        given = graph.arcs, graph.reverse_arcs, labelled, values, directed
        with compiling("never"):
            plain = divide.fix(*given)
            proved = proof.bracket(*given[:2], plain)
        compiled = divide.fix(*given)
        assert type(plain) is type(compiled)
        for one, other in zip(plain[:6], compiled[:6], strict=True):
            np.testing.assert_array_equal(one, other)
        again = proof.bracket(*given[:2], compiled)
        for one, other in zip(
            (*proved.field, *proved[1:]), (*again.field, *again[1:]), strict=True
        ):
            np.testing.assert_array_equal(one, other)
