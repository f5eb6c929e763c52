from __future__ import annotations

import dataclasses
import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wayfield as wf
from wayfield.fields.envelopes import lipschitz_constant
from worlds import network, small_problems


def distances(graph: wf.Graph) -> dict[int, dict[int, float]]:
    return dict(nx.all_pairs_dijkstra_path_length(network(graph)))


def naive_envelope(graph: wf.Graph, labels: wf.Labels, constant: float, sign: float) -> list[float]:
    distance = distances(graph)
    labelled = list(zip(labels.vertices.tolist(), labels.values.tolist(), strict=True))
    field = []
    for x in range(graph.num_vertices):
        cones = [
            sign * value + constant * distance[x][z] for z, value in labelled if z in distance[x]
        ]
        field.append(sign * min(cones) if cones else math.nan)
    return field


def naive_nearest(graph: wf.Graph, labels: wf.Labels) -> list[float]:
    distance = distances(graph)
    labelled = list(zip(labels.vertices.tolist(), labels.values.tolist(), strict=True))
    field = []
    for x in range(graph.num_vertices):
        near = [(distance[x][z], z, value) for z, value in labelled if z in distance[x]]
        field.append(min(near)[2] if near else math.nan)
    return field


def naive_constant(graph: wf.Graph, labels: wf.Labels) -> float:
    distance = distances(graph)
    labelled = list(zip(labels.vertices.tolist(), labels.values.tolist(), strict=True))
    slopes = [
        (b - a) / distance[x][y]
        for x, a in labelled
        for y, b in labelled
        if x != y and y in distance[x]
    ]
    return max([0.0, *slopes])


@given(small_problems())
def test_nearest_label_is_its_naive_twin(problem: tuple[wf.Graph, wf.Labels]) -> None:
    graph, labels = problem
    ext = wf.extend(graph, labels, wf.NearestLabel(), unreachable="nan")
    np.testing.assert_array_equal(ext.values, naive_nearest(graph, labels))


@given(small_problems(), st.integers(0, 60))
def test_envelopes_are_their_naive_twins(
    problem: tuple[wf.Graph, wf.Labels], constant: int
) -> None:
    graph, labels = problem
    for method, sign in ((wf.McShane(constant), 1.0), (wf.Whitney(constant), -1.0)):
        if naive_constant(graph, labels) <= constant:
            ext = wf.extend(graph, labels, method, unreachable="nan")
            np.testing.assert_array_equal(ext.values, naive_envelope(graph, labels, constant, sign))
            assert ext.residual == 0.0
        else:
            with pytest.raises(wf.InputError, match=f"must be {constant}-Lipschitz"):
                wf.extend(graph, labels, method, unreachable="nan")


@given(small_problems())
def test_own_constant_is_the_steepest_pair(problem: tuple[wf.Graph, wf.Labels]) -> None:
    graph, labels = problem
    constant = naive_constant(graph, labels)
    for method, sign in ((wf.McShane(None), 1.0), (wf.Whitney(None), -1.0)):
        ext = wf.extend(graph, labels, method, unreachable="nan")
        assert ext.details["lipschitz"] == pytest.approx(constant, rel=1e-13)
        np.testing.assert_array_equal(ext.values[labels.vertices], labels.values)
        np.testing.assert_allclose(
            ext.values, naive_envelope(graph, labels, constant, sign), atol=1e-11
        )


@given(small_problems())
def test_whitney_lies_below_mcshane(problem: tuple[wf.Graph, wf.Labels]) -> None:
    graph, labels = problem
    upper = wf.extend(graph, labels, wf.McShane(None), unreachable="nan").values
    lower = wf.extend(graph, labels, wf.Whitney(None), unreachable="nan").values
    known = ~np.isnan(upper)
    np.testing.assert_array_equal(known, ~np.isnan(lower))
    assert (lower[known] <= upper[known] + 1e-11).all()


@pytest.mark.parametrize("offset", [0.0, 1e6, -1e12])
def test_constant_survives_rounding_and_offsets(offset: float) -> None:
    rng = np.random.default_rng(5)
    tails, heads = np.triu_indices(40, k=1)
    keep = rng.random(tails.size) < 0.1
    graph = wf.Graph.from_edges(tails[keep], heads[keep], rng.random(int(keep.sum())) + 0.01, 40)
    vertices = rng.choice(40, 12, replace=False)
    labels = wf.Labels(vertices, rng.random(12) + offset)
    constant, passes = lipschitz_constant(graph, labels)
    assert constant == pytest.approx(naive_constant(graph, labels), rel=1e-9)
    assert passes < 20


def test_mcshane_is_the_truth_when_labels_and_lengths_are() -> None:
    rng = np.random.default_rng(0)
    tails, heads = np.triu_indices(60, k=1)
    keep = rng.random(tails.size) < 0.15
    graph = wf.Graph.from_edges(tails[keep], heads[keep], rng.random(int(keep.sum())) + 0.1, 60)
    labels = wf.sample_labels(graph, goal=7, fraction=0.2, seed=1)
    field = wf.extend(graph, labels, wf.McShane()).values
    np.testing.assert_allclose(field, wf.cost_to_go(graph, 7), rtol=1e-14)


def test_label_that_breaks_the_constant_is_named_with_the_other_and_the_excess() -> None:
    path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    labels = wf.Labels([0, 3], [1.0, 6.5])
    with pytest.raises(wf.InputError, match=r"got 6\.5 at vertex 3, 2\.5 too far"):
        wf.extend(path, labels, wf.McShane())
    with pytest.raises(wf.InputError, match=r"got 1\.0 at vertex 0.* label 6\.5 of vertex 3"):
        wf.extend(path, labels, wf.Whitney())


def test_rounding_of_long_paths_is_not_a_violation() -> None:
    n = 5001
    path = wf.Graph.from_edges(np.arange(n - 1), np.arange(1, n), np.full(n - 1, 0.1))
    truth = wf.cost_to_go(path, 0)
    backwards = wf.cost_to_go(path, n - 1)
    labels = wf.Labels([0, 2500, n - 1], [0.0, backwards[0] - backwards[2500], truth[-1]])
    ext = wf.extend(path, labels, wf.McShane())
    assert ext.residual < 1e-9
    np.testing.assert_array_equal(ext.values[labels.vertices], labels.values)


def test_nearest_label_breaks_ties_by_index() -> None:
    star = wf.Graph.from_edges([4, 4, 4, 4], [0, 1, 2, 3], lengths=[2.0, 1.0, 1.0, 1.0])
    labels = wf.Labels([3, 2, 0], [30.0, 20.0, 0.0])
    assert wf.extend(star, labels, wf.NearestLabel()).values.tolist() == [0, 20, 20, 30, 20]


def test_equal_labels_have_constant_zero_and_a_flat_envelope() -> None:
    path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    ext = wf.extend(path, wf.Labels([0, 3], [7.0, 7.0]), wf.Whitney(lipschitz=None))
    assert ext.details["lipschitz"] == 0.0
    assert ext.values.tolist() == [7.0] * 4


def test_settings_are_frozen_and_have_no_bracket() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        wf.McShane().lipschitz = 2.0  # type: ignore[misc]
    path = wf.Graph.from_edges([0], [1])
    for method in (wf.NearestLabel(), wf.McShane(), wf.Whitney()):
        ext = wf.extend(path, wf.Labels([0], [0.0]), method)
        assert ext.lower is None
        assert ext.upper is None
        assert ext.status is wf.Status.CONVERGED


@pytest.mark.parametrize("constant", [-1.0, math.nan, math.inf, "1", True, 1j, [1.0]])
@pytest.mark.parametrize("method", [wf.McShane, wf.Whitney])
def test_bad_constant_is_refused_where_it_is_given(method: type, constant: object) -> None:
    with pytest.raises(wf.InputError, match="lipschitz must be a finite number"):
        method(lipschitz=constant)
