"""The AMLE's local extension error and its two bounds."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given

import wayfield as wf
from exact_amle import exact_amle
from wayfield.labels import label_distance
from wayfield_study.audit import extension_error
from worlds import tasks


@given(tasks(errors=(0.0, 0.25, 3.0)))
def test_lemma_amle_local_extension_error(task) -> None:
    graph, goal, truth, labels, _ = task
    found = extension_error(graph, labels, wf.extend(graph, labels, wf.AMLE()), truth, goal)
    slack = 1e-12 * max(labels.span, 1.0)
    assert (found.error <= found.bound + slack).all()
    assert (found.bound <= found.distance_bound + slack).all()


@given(tasks(errors=(0.0, 0.25, 3.0)))
def test_lemma_in_rationals(task) -> None:
    """The statement itself, without floating point: errors, residuals and fill distances."""
    graph, goal, truth, labels, _ = task
    exact_labels = wf.Labels(labels.vertices, truth[labels.vertices])
    u, w = exact_amle(graph, labels), exact_amle(graph, exact_labels)
    h = label_distance(graph, labels)
    pairs = zip(labels.values, truth[labels.vertices], strict=True)
    epsilon = max(abs(Fraction(y) - Fraction(v)) for y, v in pairs)
    found = extension_error(graph, labels, [float(x) for x in u], truth, goal)
    assert found.label_error == float(epsilon)
    for x in range(graph.num_vertices):
        error, residual = abs(u[x] - Fraction(truth[x])), abs(w[x] - Fraction(truth[x]))
        assert error <= epsilon + residual <= epsilon + 2 * Fraction(h[x])
        assert float(error) == pytest.approx(found.error[x], abs=1e-12)
        assert float(residual) == pytest.approx(found.residual[x], abs=1e-12)


def test_another_method_may_break_the_first_bound() -> None:
    """The bounds are the AMLE's: on the seven nodes the harmonic field is further off."""
    graph = wf.Graph.from_edges([0, 0, 5, 1, 3, 3, 6, 4], [3, 5, 1, 4, 4, 6, 2, 2])
    labels, truth = wf.Labels([0, 2], [0.0, 3.0]), wf.cost_to_go(graph, 0)
    harmonic = extension_error(graph, labels, wf.extend(graph, labels, wf.Harmonic()), truth, 0)
    assert (harmonic.error > harmonic.bound + 0.1).any()


def test_the_converse_is_not_claimed() -> None:
    """A bound that is large says nothing about the error: labels all off by the same amount."""
    path = wf.Graph.from_edges([0, 1], [1, 2])
    labels, truth = wf.Labels([0, 2], [1.0, 1.0]), wf.cost_to_go(path, 0)
    found = extension_error(path, labels, [1.0, 1.0, 1.0], truth, 0)
    assert found.error[1] == 0.0
    assert found.bound[1] == 1.0


def test_unlabelled_components_have_no_truth_to_miss() -> None:
    graph = wf.Graph.from_edges([0, 2], [1, 3])
    labels = wf.Labels([0], [0.0])
    ext = wf.extend(graph, labels, wf.AMLE(), unreachable="nan")
    found = extension_error(graph, labels, ext, wf.cost_to_go(graph, 0), 0)
    assert found.error.tolist() == [0.0, 1.0, 0.0, 0.0]
    assert found.distance.tolist() == [0.0, 2.0, 0.0, 0.0]


def test_directed_graphs_are_refused() -> None:
    graph = wf.Graph.from_edges([0, 1], [1, 0], directed=True)
    with pytest.raises(wf.InputError, match="undirected"):
        extension_error(graph, wf.Labels([0], [0.0]), [0.0, 1.0], [0.0, 1.0], 0)


def test_a_label_out_of_reach_of_the_goal() -> None:
    graph = wf.Graph.from_edges([0, 2], [1, 3])
    labels, truth = wf.Labels([0, 3], [0.0, 1.0]), wf.cost_to_go(graph, 0)
    with pytest.raises(wf.InputError, match="vertex 3 is labelled"):
        extension_error(graph, labels, [0.0, 1.0, 1.0, 1.0], truth, 0)


def test_a_field_of_another_graph() -> None:
    path = wf.Graph.from_edges([0, 1], [1, 2])
    with pytest.raises(wf.InputError, match="another graph"):
        extension_error(path, wf.Labels([0], [0.0]), [0.0, 1.0], wf.cost_to_go(path, 0), 0)


def test_labels_that_are_none() -> None:
    path = wf.Graph.from_edges([0, 1], [1, 2])
    truth = wf.cost_to_go(path, 0)
    with pytest.raises(wf.InputError, match=r"labels must be wayfield.Labels, got dict"):
        extension_error(path, {0: 0.0}, truth, truth, 0)


def test_a_field_that_does_not_take_its_labels() -> None:
    path = wf.Graph.from_edges([0, 1], [1, 2])
    truth = wf.cost_to_go(path, 0)
    with pytest.raises(wf.InputError, match=r"the field is 2.0 at vertex 2, but its label is 2.5"):
        extension_error(path, wf.Labels([0, 2], [0.0, 2.5]), truth, truth, 0)
