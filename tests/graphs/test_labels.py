from __future__ import annotations

import copy
import dataclasses
import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wayfield as wf
from wayfield.errors import InputError
from wayfield.graphs.graph import Graph
from wayfield.graphs.labels import Labels, label_distance, nearest_label
from worlds import PATH, network, small_problems


@given(st.dictionaries(st.integers(0, 1000), st.floats(-1e6, 1e6), min_size=1))
def test_labels_are_sorted_by_vertex(known: dict[int, float]) -> None:
    labels = Labels(list(known), list(known.values()))
    assert labels.vertices.tolist() == sorted(known)
    assert labels.values.tolist() == [known[x] for x in sorted(known)]
    assert len(labels) == len(known)
    assert labels.span == max(known.values()) - min(known.values())


def test_types_are_the_kernels() -> None:
    labels = Labels(np.array([3, 1], np.uint8), [1, 0])
    assert labels.vertices.dtype == np.int64
    assert labels.values.dtype == np.float64


def test_label_given_twice_counts_once() -> None:
    labels = Labels([2, 0, 2], [5.0, 1.0, 5.0])
    assert labels.vertices.tolist() == [0, 2]
    assert labels.values.tolist() == [1.0, 5.0]


def test_label_given_twice_with_two_values_is_refused_with_both_places() -> None:
    with pytest.raises(InputError) as caught:
        Labels([7, 0, 7], [5.0, 1.0, 6.0])
    assert str(caught.value) == ("vertex 7 is labelled 5.0 at position 0 and 6.0 at position 2")


def test_labels_do_not_change() -> None:
    values = np.array([1.0, 2.0])
    labels = Labels([0, 1], values)
    values[0] = 9.0
    assert labels.values[0] == 1.0
    for array in (labels.vertices, labels.values):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        labels.error = 1.0  # type: ignore[misc]


def test_copies_are_equal_and_read_only() -> None:
    labels = Labels([3, 1], [1.0, 2.0], error=0.5)
    for twin in (pickle.loads(pickle.dumps(labels)), copy.deepcopy(labels)):
        np.testing.assert_array_equal(twin.vertices, labels.vertices)
        np.testing.assert_array_equal(twin.values, labels.values)
        assert twin.error == 0.5
        assert not twin.values.flags.writeable


def test_repr_says_how_many_and_how_good() -> None:
    assert repr(Labels([0], [2.0], error=0.25)) == "Labels(1 vertex, value 2, error 0.25)"


def test_mask_is_true_at_the_labels() -> None:
    assert Labels([3, 1], [0.0, 0.0]).mask(PATH).tolist() == [False, True, False, True]


def test_a_goal_is_labelled_0_and_the_error_of_the_others_stays() -> None:
    doubted = Labels([3, 1], [5.0, 2.0], error=0.5)
    for goal, values in ((3, {1: 2.0, 3: 0.0}), (0, {0: 0.0, 1: 2.0, 3: 5.0})):
        found = doubted.with_goal(goal)
        assert dict(zip(found.vertices.tolist(), found.values.tolist(), strict=True)) == values
        assert found.error == 0.5


def test_vertex_beyond_the_graph_is_refused_by_its_place() -> None:
    with pytest.raises(InputError, match=r"label vertices\[1\] = 4 is out of range for 4"):
        Labels([0, 4], [0.0, 1.0]).check(PATH)


@pytest.mark.parametrize("error", [-0.1, np.nan, np.inf, "0", None, 1j, [0.0]])
def test_bad_error_bound_is_refused(error: float) -> None:
    with pytest.raises(InputError, match="label error must be a finite number of at least 0"):
        Labels([0], [0.0], error=error)


# -------------------------------------------------------------------- distances


@given(small_problems(directed=None))
def test_nearest_label_is_its_naive_twin(problem: tuple[Graph, Labels]) -> None:
    """Distance *to* a label along the arcs; of equally near labels the lowest vertex."""
    graph, labels = problem
    between = dict(nx.all_pairs_dijkstra_path_length(network(graph)))
    distance, nearest = nearest_label(graph, labels)
    for x in range(graph.num_vertices):
        reach = [(between[x][z], z) for z in labels.vertices.tolist() if z in between[x]]
        assert (distance[x], nearest[x]) == min(reach, default=(np.inf, -1))
    np.testing.assert_array_equal(label_distance(graph, labels), distance)


def test_fill_distance_follows_the_arcs() -> None:
    one_way = Graph.from_edges([0, 1], [1, 2], directed=True)
    assert label_distance(one_way, Labels([1], [0.0])).tolist() == [1.0, 0.0, np.inf]


def test_fill_distance_on_lengths() -> None:
    graph = Graph.from_edges([0, 1, 0], [1, 2, 2], [1.0, 1.0, 5.0])
    assert label_distance(graph, Labels([0], [0.0])).tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("labels", [None, [0], {0: 1.0}])
def test_what_is_no_labels_is_refused(labels: object) -> None:
    with pytest.raises(InputError, match=r"labels must be wayfield\.Labels"):
        label_distance(PATH, labels)  # type: ignore[arg-type]


@pytest.mark.parametrize("graph", [None, np.eye(3), "graph"])
def test_what_is_no_graph_is_refused(graph: object) -> None:
    with pytest.raises(InputError, match=r"graph must be a wayfield\.Graph"):
        label_distance(graph, Labels([0], [0.0]))  # type: ignore[arg-type]


def test_labels_by_names_and_by_a_mapping() -> None:
    road = wf.Graph.from_edges([0, 1], [1, 2]).with_names(["Genève", "Lausanne", "Bern"])
    for labels in (
        wf.Labels({"Bern": 0.0, "Genève": 162.0}, graph=road),
        wf.Labels(["Bern", "Genève"], [0.0, 162.0], graph=road),
        wf.Labels(np.array(["Bern", "Genève"]), [0.0, 162.0], graph=road),
        wf.Labels({2: 0.0, 0: 162.0}),
        wf.Labels([2, 0], [0.0, 162.0], graph=wf.Graph.from_edges([0, 1], [1, 2])),
    ):
        assert labels.vertices.tolist() == [0, 2]
        assert labels.values.tolist() == [162.0, 0.0]


def test_names_that_are_whole_numbers_are_names() -> None:
    graph = wf.Graph.from_edges([0], [1]).with_names([70, 80])
    assert wf.Labels({80: 0.0}, graph=graph).vertices.tolist() == [1]
    with pytest.raises(wf.InputError, match="label vertex 1 is not a vertex"):
        wf.Labels({1: 0.0}, graph=graph)


def test_names_without_a_graph_that_has_them() -> None:
    with pytest.raises(wf.InputError, match="names need a graph: pass graph="):
        wf.Labels(["Bern"], [0.0])
    with pytest.raises(wf.InputError, match=r"the graph has none: use graph\.with_names"):
        wf.Labels({"Bern": 0.0}, graph=wf.Graph.from_edges([0], [1]))
    road = wf.Graph.from_edges([0], [1]).with_names(["Genève", "Bern"])
    with pytest.raises(wf.InputError, match=r"label vertex 'Geneve' .* did you mean 'Genève'"):
        wf.Labels({"Geneve": 0.0}, graph=road)


def test_a_mapping_holds_its_values() -> None:
    with pytest.raises(wf.InputError, match="values must not be given"):
        wf.Labels({0: 0.0}, [0.0])
    with pytest.raises(wf.InputError, match="labels need values"):
        wf.Labels([0, 1])


def test_nodes_that_are_tuples_are_found_by_them() -> None:
    graph = wf.Graph.from_networkx(nx.grid_2d_graph(2, 2))
    assert wf.Labels({(0, 1): 5.0, (1, 1): 0.0}, graph=graph).vertices.tolist() == [1, 3]
    with pytest.raises(wf.InputError, match=r"label vertex '\(7, 7\)' is not a vertex"):
        wf.Labels({(7, 7): 5.0}, graph=graph)


@pytest.mark.parametrize("wrong", ["Bern", 5, None])
def test_names_of_labels_must_be_a_list(wrong: object) -> None:
    road = wf.Graph.from_edges([0], [1]).with_names(["Genève", "Bern"])
    with pytest.raises(wf.InputError, match="label vertices must be a list of names, got"):
        wf.Labels(wrong, [0.0], graph=road)  # type: ignore[arg-type]
