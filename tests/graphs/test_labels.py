"""Labels, given or drawn, and distances to them and to a goal."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayfield.errors import InputError
from wayfield.graphs.graph import Graph
from wayfield.graphs.labels import Labels, label_distance, nearest_label
from wayfield.graphs.shortest_paths import cost_to_go, sample_labels
from worlds import PATH, REAL, UNIT, network, small_graphs, small_problems

ROAD = Graph.from_edges([0, 1], [1, 2]).with_names(["Genève", "Lausanne", "Bern"])
NUMBERED = Graph.from_edges([0], [1]).with_names([70, 80])
PLACES = Graph.from_networkx(nx.grid_2d_graph(2, 2))
GRID = Graph.from_networkx(nx.grid_2d_graph(12, 9))


@given(st.dictionaries(st.integers(0, 1000), st.floats(-1e6, 1e6), min_size=1))
def test_labels_are_sorted_by_vertex(known: dict[int, float]) -> None:
    labels = Labels(list(known), list(known.values()))
    assert labels.vertices.tolist() == sorted(known)
    assert labels.values.tolist() == [known[x] for x in sorted(known)]
    assert len(labels) == len(known)
    assert labels.span == max(known.values()) - min(known.values())
    assert labels.values[labels.vertices == labels.lowest] == labels.values.min()


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (Labels(np.array([3, 1], np.uint8), [1, 0]), {1: 0.0, 3: 1.0}),
        (Labels([2, 0, 2], [5.0, 1.0, 5.0]), {0: 1.0, 2: 5.0}),
        (Labels({2: 0.0, 0: 162.0}), {0: 162.0, 2: 0.0}),
        (Labels({"Bern": 0.0, "Genève": 162.0}, graph=ROAD), {0: 162.0, 2: 0.0}),
        (Labels(["Bern", "Genève"], [0.0, 162.0], graph=ROAD), {0: 162.0, 2: 0.0}),
        (Labels(np.array(["Bern"]), [0.0], graph=ROAD), {2: 0.0}),
        (Labels([2, 0], [0.0, 162.0], graph=PATH), {0: 162.0, 2: 0.0}),
        (Labels({80: 0.0}, graph=NUMBERED), {1: 0.0}),
        (Labels({(0, 1): 5.0, (1, 1): 0.0}, graph=PLACES), {1: 5.0, 3: 0.0}),
        (Labels([3, 1], [5.0, 2.0], error=0.5).with_goal(3), {1: 2.0, 3: 0.0}),
        (Labels([3, 1], [5.0, 2.0], error=0.5).with_goal(0), {0: 0.0, 1: 2.0, 3: 5.0}),
    ],
)
def test_labels(labels: Labels, expected: dict[int, float]) -> None:
    assert dict(zip(labels.vertices.tolist(), labels.values.tolist(), strict=True)) == expected
    assert (labels.vertices.dtype, labels.values.dtype) == (np.int64, np.float64)


def test_labels_and_their_copies_do_not_change() -> None:
    values = np.array([1.0, 2.0])
    labels = Labels([3, 1], values, error=0.5)
    values[0] = 9.0
    assert labels.mask(PATH).tolist() == [False, True, False, True]
    for twin in (labels, pickle.loads(pickle.dumps(labels)), copy.deepcopy(labels)):
        assert (twin.vertices.tolist(), twin.values.tolist()) == ([1, 3], [2.0, 1.0])
        assert (twin.error, twin.with_goal(0).error) == (0.5, 0.5)
        for array in (twin.vertices, twin.values):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        labels.error = 1.0  # type: ignore[misc]
    assert repr(Labels([0], [2.0], error=0.25)) == "Labels(1 vertex, value 2, error 0.25)"


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


@given(small_graphs(14, (UNIT, REAL), directed=None), st.data())
def test_cost_to_go_is_exact(graph: Graph, data: st.DataObject) -> None:
    """As in networkx; and bit for bit V(x) = min over arcs of fl(length + V(y)), 0 at the goal."""
    goal = data.draw(st.integers(0, graph.num_vertices - 1))
    cost = cost_to_go(graph, goal)
    to_goal = nx.single_source_dijkstra_path_length(network(graph).reverse(), goal)
    expected = [to_goal.get(x, np.inf) for x in range(graph.num_vertices)]
    np.testing.assert_allclose(cost, expected, rtol=1e-14)
    best = np.full(graph.num_vertices, np.inf)
    np.minimum.at(best, graph.tails, graph.lengths + cost[graph.indices])
    best[goal] = 0.0
    np.testing.assert_array_equal(cost, best)


def test_whole_float_will_do_as_a_goal() -> None:
    path = Graph.from_edges([0, 1], [1, 2])
    for goal in (2.0, np.int8(2), np.array(2), np.float32(2)):
        assert cost_to_go(path, goal).tolist() == [2, 1, 0]  # type: ignore[arg-type]
        assert sample_labels(path, goal, count=1).values.min() == 0.0  # type: ignore[arg-type]


# -------------------------------------------------------------------- sample_labels


def test_sampled_labels_are_exact_and_goals_share_the_draw() -> None:
    drawn = [sample_labels(GRID, goal, 0.1, seed=3) for goal in range(108)]
    for goal, labels in enumerate(drawn):
        np.testing.assert_array_equal(labels.values, cost_to_go(GRID, goal)[labels.vertices])
        assert goal in labels.vertices
        assert labels.error == 0.0
    shared = set.union(*(set(each.vertices.tolist()) - {g} for g, each in enumerate(drawn)))
    assert len(shared) == 11
    assert all(set(each.vertices.tolist()) == shared | {g} for g, each in enumerate(drawn))


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ({"fraction": 0.1, "seed": 7}, {"fraction": 0.1, "seed": 7}, True),
        ({"fraction": 0.1, "seed": 7}, {"fraction": 0.1, "seed": 8}, False),
        ({"fraction": 0.1}, {"fraction": 0.1}, True),
        ({"count": 11, "seed": 3}, {"fraction": 0.1, "seed": 3}, True),
    ],
)
def test_draw_depends_on_the_seed_alone(one: Any, other: Any, equal: bool) -> None:
    drawn = [sample_labels(GRID, 4, **each).vertices.tolist() for each in (one, other)]
    assert (drawn[0] == drawn[1]) == equal


def test_how_many_labels_are_drawn() -> None:
    assert sample_labels(GRID, 5, count=0).vertices.tolist() == [5]
    assert len(sample_labels(GRID, 0, fraction=1.0)) == GRID.num_vertices
    path = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    for fraction, drawn in ((0.1, 0), (0.3, 2), (0.5, 2)):  # half to even
        sizes = {len(sample_labels(path, goal, fraction)) for goal in range(5)}
        assert max(sizes) == drawn + 1
    pieces = Graph.from_edges([0, 2], [1, 3])
    assert sample_labels(pieces, 0, fraction=1.0).vertices.tolist() == [0, 1]


# -------------------------------------------------------------------- what is refused

REFUSED: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], str]] = [
    (Labels, ([7, 0, 7], [5.0, 1.0, 6.0]), {},
     "^vertex 7 is labelled 5.0 at position 0 and 6.0 at position 2$"),
    (Labels([0, 4], [0.0, 1.0]).check, (PATH,), {}, r"label vertices\[1\] = 4 is out of range"),
    *((Labels, ([0], [0.0], error), {}, "label error must be a finite number of at least 0")
      for error in (-0.1, np.nan, np.inf, "0", None, 1j, [0.0])),
    (Labels, ([], []), {}, "labels must have at least one vertex"),
    (Labels, ([0], [1e101]), {}, r"label values\[0\] = 1e\+101 is beyond 1e\+100"),
    (Labels, ({0: 0.0}, [0.0]), {}, "values must not be given"),
    (Labels, ([0, 1],), {}, "labels need values"),
    (Labels, ({1: 0.0},), {"graph": NUMBERED}, "label vertex 1 is not a vertex"),
    (Labels, (["Bern"], [0.0]), {}, "names need a graph: pass graph="),
    (Labels, (np.array(["Bern"]), [0.0]), {}, "names need a graph: pass graph="),
    (Labels, ({"Bern": 0.0},), {"graph": PATH}, r"the graph has none: use graph\.with_names"),
    (Labels, ({"Geneve": 0.0},), {"graph": ROAD}, "label vertex 'Geneve' .* did you mean 'Genève'"),
    (Labels, ({(7, 7): 5.0},), {"graph": PLACES}, r"label vertex '\(7, 7\)' is not a vertex"),
    *((Labels, (wrong, [0.0]), {"graph": ROAD}, "label vertices must be a list of names, got")
      for wrong in ("Bern", 5, None)),
    *((label_distance, (PATH, labels), {}, r"labels must be wayfield\.Labels")
      for labels in (None, [0], {0: 1.0})),
    *((call, (graph, *rest), {}, r"graph must be a wayfield\.Graph")
      for graph in (None, np.eye(3), "graph")
      for call, rest in ((label_distance, [Labels([0], [0.0])]), (cost_to_go, [0]),
                         (sample_labels, [0, 0.1]))),
    *((sample_labels, (GRID, 0, fraction), {}, f"at most 1, got {fraction}")
      for fraction in (0.0, -0.1, 1.0001, 7)),
    *((sample_labels, (GRID, 0, fraction), {}, "label fraction must be a finite number")
      for fraction in (np.nan, np.inf, "0.1", [0.1], 1j, True)),
    *((sample_labels, (GRID, 0), {"count": count}, "label count must be a whole number of at least")
      for count in (-1, 1.5, "3", True)),
    (sample_labels, (GRID, 0), {"count": 109}, "number of vertices, 108, got 109"),
    (sample_labels, (GRID, 0), {}, "pass exactly one of fraction and count"),
    (sample_labels, (GRID, 0, 0.1), {"count": 3}, "pass exactly one of fraction and count"),
    *((sample_labels, (GRID, 0, 0.1, seed), {}, "seed must be a whole number of at least 0")
      for seed in (-1, None, "54", 1.5)),
]  # fmt: skip


@pytest.mark.parametrize(("call", "arguments", "options", "words"), REFUSED)
def test_what_is_refused(
    call: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        call(*arguments, **options)
