from __future__ import annotations

import copy
import dataclasses
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import pdist

from wayfield.errors import InputError, InputWarning
from wayfield.graphs.graph import Graph

Edge = tuple[int, int, float]


@st.composite
def edge_lists(draw: st.DrawFn, clean: bool = False) -> tuple[int, list[Edge]]:
    """Edges with loops and parallels, or without if `clean`; lengths with rounding in them."""
    n = draw(st.integers(1, 9))
    vertex = st.integers(0, n - 1)
    length = st.sampled_from([1.0, 0.1, 0.3, 2.5, 1e-3])
    edges = draw(st.lists(st.tuples(vertex, vertex, length), max_size=20))
    if clean:
        edges = [e for e in edges if e[0] != e[1]]
        edges = list({(min(e[:2]), max(e[:2])): e for e in edges}.values())
    return n, edges


def build(n: int, edges: list[Edge], directed: bool) -> Graph:
    tails, heads, lengths = ([e[i] for e in edges] for i in range(3))
    return Graph.from_edges(tails, heads, lengths, n, directed)


def naive_rows(n: int, edges: list[Edge], directed: bool) -> list[dict[int, float]]:
    rows: list[dict[int, float]] = [{} for _ in range(n)]
    for x, y, length in edges:
        for a, b in [(x, y)] if directed else [(x, y), (y, x)]:
            if a != b:
                rows[a][b] = min(length, rows[a].get(b, np.inf))
    return rows


def rows_of(graph: Graph) -> list[dict[int, float]]:
    return [
        dict(
            zip(
                graph.indices[graph.indptr[x] : graph.indptr[x + 1]].tolist(),
                graph.lengths[graph.indptr[x] : graph.indptr[x + 1]].tolist(),
                strict=True,
            )
        )
        for x in range(graph.num_vertices)
    ]


def same(one: Graph, other: Graph) -> bool:
    return (
        one.directed == other.directed
        and all(np.array_equal(a, b) for a, b in zip(one.arcs, other.arcs, strict=True))
        and all(a.dtype == b.dtype for a, b in zip(one.arcs, other.arcs, strict=True))
    )


# -------------------------------------------------------------------- from_edges


@given(edge_lists(), st.booleans())
@pytest.mark.filterwarnings("ignore::wayfield.InputWarning")
def test_rows_are_their_naive_twin(data: tuple[int, list[Edge]], directed: bool) -> None:
    n, edges = data
    graph = build(n, edges, directed)
    assert rows_of(graph) == naive_rows(n, edges, directed)
    assert graph.num_vertices == n
    assert graph.loops_dropped == sum(x == y for x, y, _ in edges)
    kept = {(x, y) if directed else (min(x, y), max(x, y)) for x, y, _ in edges if x != y}
    assert graph.num_edges == len(kept)
    assert graph.parallel_merged == len(edges) - graph.loops_dropped - len(kept)


@given(edge_lists(), st.booleans(), st.randoms(use_true_random=False))
@pytest.mark.filterwarnings("ignore::wayfield.InputWarning")
def test_order_of_the_edges_does_not_matter(
    data: tuple[int, list[Edge]], directed: bool, random: Random
) -> None:
    n, edges = data
    shuffled = list(edges)
    random.shuffle(shuffled)
    if not directed:
        shuffled = [
            (y, x, length) if random.random() < 0.5 else (x, y, length) for x, y, length in shuffled
        ]
    assert same(build(n, edges, directed), build(n, shuffled, directed))


@given(edge_lists(clean=True), st.booleans())
def test_rows_are_sorted_and_symmetric(data: tuple[int, list[Edge]], directed: bool) -> None:
    graph = build(*data, directed)
    for x in range(graph.num_vertices):
        assert (np.diff(graph.neighbours(x)) > 0).all()
    if not directed:
        matrix = graph.to_scipy()
        assert (matrix != matrix.T).nnz == 0


def test_lengths_default_to_one_and_vertices_to_the_largest_index() -> None:
    graph = Graph.from_edges([0, 5], [5, 2])
    assert graph.num_vertices == 6
    assert graph.is_unit
    assert graph.degrees.tolist() == [1, 0, 1, 0, 0, 2]


def test_isolated_vertices_and_empty_graphs() -> None:
    assert Graph.from_edges([], []).num_vertices == 0
    lonely = Graph.from_edges([], [], num_vertices=3)
    assert (lonely.num_vertices, lonely.num_edges) == (3, 0)
    assert lonely.components.tolist() == [0, 1, 2]
    assert lonely.is_unit
    assert repr(lonely) == "Graph(3 vertices, 0 edges, unit lengths)"


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.uint64, np.float32, ">i4"])
def test_any_integer_type_will_do(dtype: str) -> None:
    graph = Graph.from_edges(np.array([0, 1], dtype), np.array([1, 2], dtype))
    assert same(graph, Graph.from_edges([0, 1], [1, 2]))


def test_strided_and_foreign_endian_lengths_will_do() -> None:
    lengths = np.array([1.5, 9.0, 2.5, 9.0], dtype=">f8")[::2]
    assert Graph.from_edges([0, 1], [1, 2], lengths).lengths.tolist() == [1.5, 1.5, 2.5, 2.5]


def test_indices_are_32_bit_and_lengths_double() -> None:
    graph = Graph.from_edges([0], [1])
    assert graph.indptr.dtype == np.int32
    assert graph.indices.dtype == np.int32
    assert graph.lengths.dtype == np.float64


def test_input_arrays_are_left_alone() -> None:
    tails, heads, lengths = np.array([0, 1]), np.array([1, 2]), np.array([1.0, 2.0])
    graph = Graph.from_edges(tails, heads, lengths)
    tails[0], lengths[0] = 2, 7.0
    assert graph.lengths.tolist() == [1.0, 1.0, 2.0, 2.0]
    assert heads.flags.writeable


def test_self_loops_are_dropped_counted_and_warned_of() -> None:
    with pytest.warns(InputWarning, match="2 self-loops dropped"):
        graph = Graph.from_edges([0, 1, 1], [0, 2, 1])
    assert graph.loops_dropped == 2
    assert graph.num_edges == 1


def test_the_shortest_of_parallel_edges_is_kept_and_the_others_warned_of() -> None:
    with pytest.warns(InputWarning, match="2 parallel edges of different length"):
        graph = Graph.from_edges([0, 0, 1, 1], [1, 1, 0, 2], [2.0, 0.5, 0.7, 3.0])
    assert graph.parallel_merged == 2
    assert rows_of(graph) == [{1: 0.5}, {0: 0.5, 2: 3.0}, {1: 3.0}]


def test_listing_an_edge_both_ways_is_fine() -> None:
    graph = Graph.from_edges([0, 1], [1, 0])
    assert graph.num_edges == 1
    assert graph.parallel_merged == 1


def test_antiparallel_arcs_are_two_arcs() -> None:
    graph = Graph.from_edges([0, 1], [1, 0], [1.0, 2.0], directed=True)
    assert (graph.num_arcs, graph.parallel_merged) == (2, 0)


def test_indices_with_gaps_need_num_vertices() -> None:
    with pytest.raises(InputError, match="largest vertex index is 2000000 with only 1 edges"):
        Graph.from_edges([0], [2_000_000])
    assert Graph.from_edges([0], [2_000_000], num_vertices=2_000_001).num_edges == 1


# -------------------------------------------------------------------- from_scipy

MATRIX = np.array([[0.0, 1.5, 0.0], [1.5, 0.0, 0.3], [0.0, 0.3, 0.0]])


@pytest.mark.parametrize(
    "convert",
    [
        np.asarray,
        np.ndarray.tolist,
        sparse.coo_array,
        sparse.csr_array,
        sparse.csc_array,
        sparse.csr_matrix,
        sparse.lil_array,
        sparse.dok_array,
    ],
)
def test_every_kind_of_matrix_will_do(convert: Callable[[np.ndarray], object]) -> None:
    graph = Graph.from_scipy(convert(MATRIX))
    assert not graph.directed
    np.testing.assert_array_equal(graph.to_scipy().toarray(), MATRIX)
    directed = Graph.from_scipy(convert(MATRIX), directed=True)
    assert directed.directed
    np.testing.assert_array_equal(directed.to_scipy().toarray(), MATRIX)


def test_asymmetric_matrix_is_a_directed_graph() -> None:
    graph = Graph.from_scipy(np.triu(MATRIX))
    assert graph.directed
    assert rows_of(graph) == [{1: 1.5}, {2: 0.3}, {}]


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([(0, 1)], r"entry \(0, 1\) is 1.5, but \(1, 0\) is missing"),
        ([(2, 1), (1, 2), (2, 0)], r"entry \(2, 0\) is 1.5, but \(0, 2\) is missing"),
        ([(0, 1), (0, 2), (1, 0), (2, 0), (2, 1)], r"\(2, 1\) is 1.5, but \(1, 2\) is missing"),
    ],
)
def test_asymmetric_matrix_is_refused_for_an_undirected_graph(
    entries: list[tuple[int, int]], message: str
) -> None:
    matrix = np.zeros((3, 3))
    for entry in entries:
        matrix[entry] = 1.5
    with pytest.raises(InputError, match=message):
        Graph.from_scipy(matrix, directed=False)


def test_lengths_that_differ_by_the_way_are_asymmetric() -> None:
    matrix = MATRIX.copy()
    matrix[2, 1] = 0.1 + 0.2
    assert Graph.from_scipy(matrix).directed
    with pytest.raises(InputError, match=r"is 0\.3, but \(2, 1\) is 0\.30000000000000004"):
        Graph.from_scipy(matrix, directed=False)


@given(edge_lists(clean=True), st.booleans())
def test_symmetry_is_seen_as_numpy_sees_it(data: tuple[int, list[Edge]], both: bool) -> None:
    n, edges = data
    matrix = np.zeros((n, n))
    for i, (x, y, length) in enumerate(edges):
        matrix[x, y] = length
        if both or i % 2:
            matrix[y, x] = length
    assert Graph.from_scipy(matrix).directed == bool((matrix != matrix.T).any())


def test_explicit_zeros_are_refused_by_their_place() -> None:
    stored = sparse.csr_array((np.array([1.0, 0.0]), ([0, 1], [1, 0])), shape=(2, 2))
    with pytest.raises(InputError, match=r"matrix\[1, 0\] = 0\.0 is not a positive"):
        Graph.from_scipy(stored)


def test_entries_stored_twice_are_parallel_arcs() -> None:
    twice = sparse.coo_array((np.array([2.0, 3.0]), ([0, 0], [1, 1])), shape=(2, 2))
    with pytest.warns(InputWarning, match="1 parallel edge of"):
        graph = Graph.from_scipy(twice)
    assert graph.lengths.tolist() == [2.0]


def test_adjacency_of_bools_is_a_unit_graph() -> None:
    assert same(Graph.from_scipy(MATRIX > 1), Graph.from_edges([0], [1], num_vertices=3))


# -------------------------------------------------------------------- networkx, igraph


def test_a_matrix_of_similarities_is_remarked_on() -> None:
    points = np.random.default_rng(0).random((6, 2))
    squares = ((points[:, None] - points) ** 2).sum(axis=2)
    with pytest.warns(InputWarning) as caught:
        Graph.from_scipy(np.exp(-squares))
    assert any("as similarities are" in str(each.message) for each in caught)
    with pytest.warns(InputWarning) as caught:
        Graph.from_scipy(squares + np.eye(6) * squares[0, 1])
    assert not any("similarities" in str(each.message) for each in caught)


def test_networkx_graph_with_odd_names() -> None:
    source = nx.Graph()
    source.add_nodes_from([("a", 1), "b", frozenset({3}), -7])
    source.add_edge("b", -7, length=2.5)
    source.add_edge(("a", 1), "b")
    graph = Graph.from_networkx(source)
    assert rows_of(graph) == [{1: 1.0}, {0: 1.0, 3: 2.5}, {}, {1: 2.5}]
    assert Graph.from_networkx(source, length=None).is_unit


def test_networkx_digraph() -> None:
    source = nx.DiGraph()
    source.add_weighted_edges_from([("z", "y", 3.0), ("y", "x", 0.5)])
    graph = Graph.from_networkx(source, length="weight")
    assert graph.directed
    assert rows_of(graph) == [{1: 3.0}, {2: 0.5}, {}]


@pytest.mark.parametrize("kind", [nx.MultiGraph, nx.MultiDiGraph])
def test_networkx_multigraph_keeps_the_shortest(kind: type) -> None:
    source = kind()
    for length in (3.0, 1.0, 2.0):
        source.add_edge("a", "b", length=length)
    source.add_edge("b", "b")
    with pytest.warns(InputWarning) as caught:
        graph = Graph.from_networkx(source)
    assert [str(w.message).split()[0:2] for w in caught] == [["1", "self-loop"], ["2", "parallel"]]
    assert set(graph.lengths.tolist()) == {1.0}


def test_networkx_empty() -> None:
    assert Graph.from_networkx(nx.Graph()).num_vertices == 0
    assert Graph.from_networkx(nx.empty_graph(4)).num_vertices == 4


def test_networkx_length_that_is_no_number_is_refused() -> None:
    source = nx.Graph()
    source.add_edge(0, 1, length="long")
    with pytest.raises(InputError, match=r"lengths must be real numbers.*'long'"):
        Graph.from_networkx(source)


@pytest.mark.parametrize("source", [None, 3, [[0, 1]], "graph"])
def test_what_is_no_graph_is_refused(source: object) -> None:
    with pytest.raises(InputError, match="must be a networkx graph"):
        Graph.from_networkx(source)
    with pytest.raises(InputError, match="must be an igraph graph"):
        Graph.from_igraph(source)


@pytest.mark.parametrize("directed", [False, True])
def test_igraph(directed: bool) -> None:
    source = igraph.Graph(4, [(0, 2), (2, 3)], directed=directed)
    unit = Graph.from_igraph(source)
    assert unit.is_unit
    assert (unit.directed, unit.num_vertices, unit.num_edges) == (directed, 4, 2)
    source.es["length"] = [0.5, 2.0]
    assert same(Graph.from_igraph(source), Graph.from_edges([0, 2], [2, 3], [0.5, 2], 4, directed))
    assert Graph.from_igraph(source, length=None).is_unit
    assert Graph.from_igraph(igraph.Graph(3)).num_vertices == 3


# -------------------------------------------------------------------- from_distances

POINTS = np.array([[0.0], [1.0], [3.0], [7.0]])
PAIRS = np.abs(POINTS - POINTS.T)


def test_distances_within_the_cutoff_are_edges() -> None:
    graph = Graph.from_distances(PAIRS, cutoff=3.0)
    assert not graph.directed
    assert rows_of(graph) == [{1: 1.0, 2: 3.0}, {0: 1.0, 2: 2.0}, {0: 3.0, 1: 2.0}, {}]


def test_k_nearest_are_arcs() -> None:
    graph = Graph.from_distances(PAIRS, k=1)
    assert graph.directed
    assert rows_of(graph) == [{1: 1.0}, {0: 1.0}, {1: 2.0}, {2: 4.0}]


def test_k_nearest_within_the_cutoff() -> None:
    assert rows_of(Graph.from_distances(PAIRS, cutoff=2.0, k=1)) == [
        {1: 1.0},
        {0: 1.0},
        {1: 2.0},
        {},
    ]


def test_k_nearest_breaks_ties_by_index() -> None:
    assert rows_of(Graph.from_distances(np.ones((3, 3)), k=1)) == [{1: 1.0}, {0: 1.0}, {0: 1.0}]


def test_all_distances_give_the_complete_graph() -> None:
    assert Graph.from_distances(PAIRS).num_edges == 6
    assert same(Graph.from_distances(PAIRS, k=99), Graph.from_distances(PAIRS))


def test_condensed_distances_are_read_too() -> None:
    condensed = pdist(POINTS)
    assert same(
        Graph.from_distances(condensed, cutoff=3.0), Graph.from_distances(PAIRS, cutoff=3.0)
    )
    with pytest.raises(InputError, match="5 condensed distances do not fit"):
        Graph.from_distances(condensed[:5])


def test_infinite_distances_are_no_arcs() -> None:
    far = PAIRS.copy()
    far[0, 3] = far[3, 0] = np.inf
    assert Graph.from_distances(far).num_edges == 5


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, -np.inf])
def test_bad_distance_is_refused_by_its_place(bad: float) -> None:
    pairs = PAIRS.copy()
    pairs[1, 2] = bad
    with pytest.raises(InputError, match=r"distances\[1, 2\] = .* is not a positive number"):
        Graph.from_distances(pairs)


@pytest.mark.parametrize("cutoff", [0.0, -1.0, np.nan, "1", 1j])
def test_bad_cutoff_is_refused(cutoff: float) -> None:
    with pytest.raises(InputError, match="cutoff must be a positive number"):
        Graph.from_distances(PAIRS, cutoff=cutoff)


@pytest.mark.parametrize("k", [0, -1, 1.5, "1", True])
def test_bad_k_is_refused(k: int) -> None:
    with pytest.raises(InputError, match="k must be a whole number of at least 1"):
        Graph.from_distances(PAIRS, k=k)


@pytest.mark.parametrize("shape", [(2, 3), (2, 2, 2), ()])
def test_distances_must_be_square(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="must be square"):
        Graph.from_distances(np.ones(shape))


# -------------------------------------------------------------------- frozen


def test_arrays_and_fields_are_frozen() -> None:
    graph = Graph.from_edges([0, 1], [1, 2], [1.0, 2.0], positions=[[0, 0], [0, 1], [0, 2]])
    arrays = [*graph.arcs, *graph.reverse_arcs, graph.positions, graph.components]
    one_way = Graph.from_edges([0, 1], [1, 2], directed=True)
    arrays += [*one_way.reverse_arcs, one_way.strong_components, one_way.neighbours(0)]
    for array in arrays:
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.directed = True  # type: ignore[misc]


def test_copies_are_equal_and_frozen() -> None:
    graph = Graph.from_edges([0, 1], [1, 2], [1.0, 2.0], positions=[[0, 0], [0, 1], [0, 2]])
    for twin in (pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph), copy.copy(graph)):
        assert same(graph, twin)
        np.testing.assert_array_equal(twin.positions, graph.positions)
        assert not twin.lengths.flags.writeable
        assert not twin.positions.flags.writeable


def hand_made(**changes: object) -> Graph:
    rows: dict[str, object] = {
        "indptr": np.array([0, 1, 3, 4], np.int32),
        "indices": np.array([1, 0, 2, 1], np.int32),
        "lengths": np.array([1.0, 1.0, 2.0, 2.0]),
        "directed": False,
    }
    return Graph(**(rows | changes))  # type: ignore[arg-type]


def test_sound_rows_can_be_given_by_hand() -> None:
    lengths = np.array([1.0, 1.0, 2.0, 2.0])
    graph = hand_made(indptr=np.array([0, 1, 3, 4]), lengths=lengths)
    assert same(graph, Graph.from_edges([0, 1], [1, 2], [1.0, 2.0]))
    lengths[0] = -1.0
    assert graph.lengths[0] == 1.0
    assert lengths.flags.writeable


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"indptr": np.array([0, 1, 3, 5])}, "number of arcs, 4"),
        ({"indptr": np.array([1, 1, 3, 4])}, "indptr must start at 0"),
        ({"indptr": np.array([0, 3, 1, 4])}, "row 0 must be"),
        ({"indptr": np.array([0, -9, 3, 4])}, "row 0 must be"),
        ({"indptr": np.array([0, 99, 3, 4])}, "row 0 must be"),
        ({"indptr": np.array([], np.int32)}, "indptr must start"),
        ({"indptr": np.array([0.0, 1.0, 3.0, 4.0])}, "indptr must be a one-dimensional int32"),
        ({"indptr": [0, 1, 3, 4]}, "indptr must be a one-dimensional int32"),
        ({"indices": np.array([1, 0, 2, 3])}, "row 2 must be"),
        ({"indices": np.array([1, 2, 0, 1])}, "row 1 must be"),
        ({"indices": np.array([1, 0, 0, 1])}, "row 1 must be"),
        ({"indices": np.array([1, 0, 1, 1])}, "row 1 must be"),
        ({"indices": np.array([-1, 0, 2, 1])}, "row 0 must be"),
        ({"indices": np.array([2**40, 0, 2, 1])}, "row 0 must be"),
        ({"indices": np.array([2, 0, 2, 1])}, r"symmetric: entry \(0, 2\) is 1.0, but \(2, 0\)"),
        ({"indices": np.array([[1, 0], [2, 1]])}, "indices must be a one-dimensional"),
        ({"indices": np.array([1, 0, 2, 1], np.uint32)}, "indices must be a one-dimensional int32"),
        ({"lengths": np.array([1.0, 1.0, 2.0])}, "lengths has 3 entries, expected 4"),
        ({"lengths": np.array([1.0, 0.0, 2.0, 2.0])}, r"lengths\[1\] = 0\.0 is not positive"),
        ({"lengths": np.array([1.0, 1.0, 2.0, 3.0])}, r"is 2\.0, but \(2, 1\) is 3\.0"),
        ({"directed": "no"}, "directed must be True or False"),
        ({"positions": np.zeros((2, 2))}, r"positions must be of shape \(3, d\)"),
    ],
)
def test_rows_that_would_mislead_a_kernel_are_refused(
    changes: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        hand_made(**changes)


# -------------------------------------------------------------------- components


@given(edge_lists(clean=True), st.booleans())
def test_components_are_those_of_networkx(data: tuple[int, list[Edge]], directed: bool) -> None:
    n, edges = data
    graph = build(n, edges, directed)
    twin = nx.DiGraph() if directed else nx.Graph()
    twin.add_nodes_from(range(n))
    twin.add_edges_from(e[:2] for e in edges)
    weak = nx.weakly_connected_components(twin) if directed else nx.connected_components(twin)
    strong = nx.strongly_connected_components(twin) if directed else nx.connected_components(twin)
    for component, expected in ((graph.components, weak), (graph.strong_components, strong)):
        for number, members in enumerate(sorted(sorted(part) for part in expected)):
            assert (np.flatnonzero(component == number) == members).all()
        assert component.dtype == np.int32


# -------------------------------------------------------------------- subdivide, symmetrise


def all_distances(graph: Graph, vertices: int) -> np.ndarray:
    return sparse.csgraph.dijkstra(graph.to_scipy(), indices=range(vertices))[:, :vertices]


@given(edge_lists(clean=True), st.booleans(), st.integers(1, 5))
def test_subdividing_stretches_distances(
    data: tuple[int, list[Edge]], directed: bool, k: int
) -> None:
    n, edges = data
    graph = build(n, edges, directed)
    finer = graph.subdivide(k)
    assert finer.directed == directed
    assert finer.num_vertices == n + (k - 1) * len(edges)
    assert finer.num_edges == k * len(edges)
    np.testing.assert_allclose(
        all_distances(finer, n), k * all_distances(graph, n), rtol=1e-14, atol=0
    )


def test_subdividing_by_one_changes_nothing() -> None:
    graph = Graph.from_edges([0, 1], [1, 2], [0.5, 1.0], positions=[[0], [1], [3]])
    twin = graph.subdivide(1)
    assert same(graph, twin)
    np.testing.assert_array_equal(graph.positions, twin.positions)


def test_new_vertices_lie_evenly_between_the_old() -> None:
    graph = Graph.from_edges([0], [1], positions=[[0.0, 0.0], [3.0, 6.0]]).subdivide(3)
    assert graph.positions is not None
    assert graph.positions.tolist() == [[0, 0], [3, 6], [1, 2], [2, 4]]
    assert rows_of(graph) == [{2: 1.0}, {3: 1.0}, {0: 1.0, 3: 1.0}, {1: 1.0, 2: 1.0}]


@pytest.mark.parametrize("k", [0, -2, 1.5, "2", None, True])
def test_bad_subdivision_is_refused(k: int) -> None:
    with pytest.raises(InputError, match="k must be a whole number of at least 1"):
        Graph.from_edges([0], [1]).subdivide(k)


def test_subdivision_beyond_32_bits_is_refused_before_it_is_tried() -> None:
    with pytest.raises(InputError, match="more than 2³¹ - 1"):
        Graph.from_edges([0], [1]).subdivide(10**12)


@given(edge_lists(), st.sampled_from(["min", "max", "mean"]))
@pytest.mark.filterwarnings("ignore::wayfield.InputWarning")
def test_symmetrised_is_its_naive_twin(data: tuple[int, list[Edge]], how: str) -> None:
    graph = build(*data, directed=True)
    rows = naive_rows(*data, directed=True)
    combine = {"min": min, "max": max, "mean": lambda a, b: (a + b) / 2}[how]
    expected: list[dict[int, float]] = [{} for _ in rows]
    for x, row in enumerate(rows):
        for y, length in row.items():
            both = combine(length, rows[y].get(x, length))
            expected[x][y] = expected[y][x] = both
    symmetric = graph.symmetrised(how)  # type: ignore[arg-type]
    assert not symmetric.directed
    assert rows_of(symmetric) == expected


@pytest.mark.parametrize(("how", "expected"), [("min", 0.1), ("max", 0.3)])
def test_symmetrised_lengths_are_exact(how: str, expected: float) -> None:
    graph = Graph.from_edges([0, 1], [1, 0], [0.1, 0.3], directed=True)
    symmetric = graph.symmetrised(how)  # type: ignore[arg-type]
    assert symmetric.lengths.tolist() == [expected, expected]


def test_symmetrising_keeps_positions_and_undirected_graphs() -> None:
    graph = Graph.from_edges([0], [1], directed=True, positions=[[0.0], [1.0]])
    assert graph.symmetrised().positions is not None
    undirected = Graph.from_edges([0], [1])
    assert undirected.symmetrised("max") is undirected


@pytest.mark.parametrize("how", ["sum", None, 3])
def test_unknown_symmetrisation_is_refused(how: str) -> None:
    with pytest.raises(InputError, match="how must be one of 'min', 'max', 'mean'"):
        Graph.from_edges([0], [1], directed=True).symmetrised(how)  # type: ignore[arg-type]


# -------------------------------------------------------------------- looking


@given(edge_lists(clean=True), st.booleans())
def test_reverse_arcs_are_the_transpose(data: tuple[int, list[Edge]], directed: bool) -> None:
    graph = build(*data, directed)
    indptr, indices, lengths = graph.reverse_arcs
    transpose = graph.to_scipy().T.tocsr()
    transpose.sort_indices()
    np.testing.assert_array_equal(indptr, transpose.indptr)
    np.testing.assert_array_equal(indices, transpose.indices)
    np.testing.assert_array_equal(lengths, transpose.data)


def test_tails_stand_beside_heads() -> None:
    graph = Graph.from_edges([0, 0, 1], [1, 2, 2], directed=True)
    assert list(zip(graph.tails, graph.indices, strict=True)) == [(0, 1), (0, 2), (1, 2)]


@pytest.mark.parametrize("vertex", [-1, 2, 0.5, None, "0", True])
def test_neighbours_of_what_is_no_vertex_are_refused(vertex: int) -> None:
    with pytest.raises(InputError, match="vertex"):
        Graph.from_edges([0], [1]).neighbours(vertex)


@pytest.mark.parametrize(
    ("positions", "message"),
    [
        ([[0, 0]], r"shape \(2, d\), got \(1, 2\)"),
        ([0, 1], "two-dimensional"),
        ([[0], [np.nan]], r"positions\[1, 0\] = nan is not a finite number"),
        ([["a"], ["b"]], "real numbers"),
    ],
)
def test_bad_positions_are_refused(positions: list[object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Graph.from_edges([0], [1]).with_positions(positions)  # type: ignore[arg-type]


def test_repr_says_what_it_is() -> None:
    directed = Graph.from_edges([0, 1], [1, 2], [0.5, 2.0], directed=True)
    assert repr(directed) == "Graph(3 vertices, 2 arcs, directed, lengths 0.5 to 2)"


# -------------------------------------------------------------------- files


@given(data=edge_lists(), directed=st.booleans(), place=st.booleans())
@pytest.mark.filterwarnings("ignore::wayfield.InputWarning")
def test_file_round_trip_bit_for_bit(
    tmp_path_factory: pytest.TempPathFactory,
    data: tuple[int, list[Edge]],
    directed: bool,
    place: bool,
) -> None:
    graph = build(*data, directed)
    if place:
        graph = graph.with_positions(np.random.default_rng(0).random((graph.num_vertices, 2)))
    path = graph.save(tmp_path_factory.mktemp("graphs") / "graph.npz")
    again = Graph.load(path)
    assert same(graph, again)
    assert (again.loops_dropped, again.parallel_merged) == (
        graph.loops_dropped,
        graph.parallel_merged,
    )
    np.testing.assert_array_equal(again.positions, graph.positions)
    assert not again.lengths.flags.writeable


def test_suffix_is_added(tmp_path: Path) -> None:
    graph = Graph.from_edges([0], [1])
    assert graph.save(tmp_path / "maze.v1") == tmp_path / "maze.v1.npz"
    assert graph.save(str(tmp_path / "maze.npz")) == tmp_path / "maze.npz"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["maze.npz", "maze.v1.npz"]


def test_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Graph.from_edges([0], [1]).save(tmp_path / "graph.npz")
    before = path.read_bytes()

    def full_disk(file: object, **arrays: object) -> None:
        file.write(b"half a file")  # type: ignore[attr-defined]
        raise OSError("no space left on device")

    monkeypatch.setattr(np, "savez", full_disk)
    with pytest.raises(OSError, match="no space left"):
        Graph.from_edges([0, 1], [1, 2]).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_missing_file_is_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Graph.load(tmp_path / "none.npz")


def saved(tmp_path: Path) -> Path:
    return Graph.from_edges([0, 1], [1, 2], [1.0, 2.0]).save(tmp_path / "graph.npz")


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path)
    whole = path.read_bytes()
    for size in range(0, len(whole), 7):
        path.write_bytes(whole[:size])
        with pytest.raises(
            InputError, match=r"graph\.npz is not a wayfield graph 1, or is damaged"
        ):
            Graph.load(path)


def test_flipped_bytes_never_give_another_graph(tmp_path: Path) -> None:
    path = saved(tmp_path)
    graph, whole = Graph.load(path), path.read_bytes()
    for at in range(0, len(whole), 3):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x11]) + whole[at + 1 :])
        try:
            again = Graph.load(path)
        except InputError:
            continue
        assert same(graph, again)  # the byte was one that nobody reads


@pytest.mark.parametrize("content", [b"", b"hello", b"\x93NUMPY", pickle.dumps([1, 2])])
def test_foreign_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "foreign.npz"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"foreign\.npz is not a wayfield graph"):
        Graph.load(path)


def test_npz_of_something_else_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", indptr=np.arange(3))
    with pytest.raises(InputError, match="is missing or different"):
        Graph.load(tmp_path / "other.npz")
    np.save(tmp_path / "other.npy", np.arange(3))
    with pytest.raises(InputError, match="is not a wayfield graph"):
        Graph.load(tmp_path / "other.npy")
    with zipfile.ZipFile(tmp_path / "zip.npz", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(InputError):
        Graph.load(tmp_path / "zip.npz")


@pytest.mark.parametrize(
    "changes",
    [
        {"indptr": None},
        {"indices": np.array([1, 0, 2, 9])},
        {"indptr": np.array([0, 1, 3, 999])},
        {"lengths": np.array([1.0, np.nan, 2.0, 2.0])},
        {"lengths": np.array([1.0, 1.0, 2.0, 7.0])},
        {"lengths": np.array(["a", "b", "c", "d"])},
        {"directed": np.array(3)},
        {"directed": np.array([True, False])},
        {"dropped": np.array([1.0])},
        {"positions": np.zeros((1, 2))},
    ],
)
def test_file_with_unsound_arrays_is_damaged(
    tmp_path: Path, changes: dict[str, np.ndarray | None]
) -> None:
    path = saved(tmp_path)
    with np.load(path) as file:
        arrays = dict(file) | changes
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    with pytest.raises(InputError, match=r"graph\.npz is damaged"):
        Graph.load(path)


def test_networkx_weights_that_are_not_used_are_said() -> None:
    source = nx.Graph()
    source.add_weighted_edges_from([("a", "b", 5.0), ("b", "c", 1.0)])
    with pytest.warns(InputWarning, match="length='weight'"):
        assert Graph.from_networkx(source).is_unit
    assert not Graph.from_networkx(source, length="weight").is_unit


def test_damaged_sparse_matrices_are_refused() -> None:
    """Index arrays that scipy's compiled code would follow out of bounds."""
    matrix = sparse.csr_matrix((3, 3))
    matrix.indptr = np.array([0, 5, 2, 9])
    matrix.data, matrix.indices = np.ones(2), np.array([0, 1])
    with pytest.raises(InputError, match="matrix cannot be read"):
        Graph.from_scipy(matrix, directed=True)


# -------------------------------------------------------------------- names and positions


def test_networkx_keeps_names_and_positions() -> None:
    source = nx.Graph()
    for name, place in (("Bern", (7.4, 46.9)), ("Genève", (6.1, 46.2)), (12, (0.0, 1.0))):
        source.add_node(name, pos=place)
    source.add_edge("Bern", "Genève", length=162.0)
    graph = Graph.from_networkx(source)
    assert list(graph.names) == ["Bern", "Genève", 12]  # type: ignore[arg-type]
    np.testing.assert_array_equal(graph.positions, [[7.4, 46.9], [6.1, 46.2], [0.0, 1.0]])


def test_networkx_nodes_by_number_have_no_names() -> None:
    graph = Graph.from_networkx(nx.path_graph(3))
    assert graph.names is None
    assert graph.positions is None


def test_networkx_positions_of_osmnx() -> None:
    source = nx.MultiDiGraph()
    source.add_node(60127, x=24.9, y=60.1)
    source.add_node(60128, x=25.0, y=60.2)
    source.add_edge(60127, 60128, length=12.0)
    graph = Graph.from_networkx(source)
    np.testing.assert_array_equal(graph.positions, [[24.9, 60.1], [25.0, 60.2]])
    assert graph.names is not None
    assert graph.names.index(60128) == 1


def test_some_positions_are_not_kept_and_that_is_said() -> None:
    source = nx.Graph()
    source.add_node("a", pos=(0, 0))
    source.add_edge("a", "b")
    with pytest.warns(InputWarning, match="1 of 2 nodes have no position"):
        assert Graph.from_networkx(source).positions is None


def test_names_that_are_not_distinct_are_not_kept_and_that_is_said() -> None:
    source = nx.Graph([("a", " a")])
    with pytest.warns(InputWarning, match="names of nodes are not distinct"):
        assert Graph.from_networkx(source).names is None


def test_odd_names_are_their_text() -> None:
    graph = Graph.from_networkx(nx.Graph([((0, 1), ""), ("", 2.5)]))
    assert list(graph.names) == ["(0, 1)", "''", "2.5"]  # type: ignore[arg-type]


def test_igraph_keeps_names_and_positions() -> None:
    source = igraph.Graph(2, [(0, 1)])
    assert Graph.from_igraph(source).names is None
    source.vs["name"], source.vs["x"], source.vs["y"] = ["p", "q"], [0.0, 1.0], [2.0, 3.0]
    graph = Graph.from_igraph(source)
    assert list(graph.names) == ["p", "q"]  # type: ignore[arg-type]
    np.testing.assert_array_equal(graph.positions, [[0.0, 2.0], [1.0, 3.0]])


def test_names_stay_in_copies_and_files(tmp_path: Path) -> None:
    graph = Graph.from_edges([0, 1], [1, 2], directed=True).with_names(["a", "b", "c"])
    kept = [
        pickle.loads(pickle.dumps(graph)),
        copy.deepcopy(graph),
        graph.symmetrised(),
        graph.with_positions(np.zeros((3, 2))),
        Graph.load(graph.save(tmp_path / "named")),
    ]
    for each in kept:
        assert list(each.names) == ["a", "b", "c"]
    assert graph.subdivide(2).names is None  # the new vertices have none
    numbers = Graph.from_edges([0], [1]).with_names([70, 80])
    assert list(Graph.load(numbers.save(tmp_path / "numbers")).names) == [70, 80]


@pytest.mark.parametrize("names", [["a"], ["a", "a"], ["a", "b", "c"]])
def test_names_must_be_one_for_each_vertex(names: list[str]) -> None:
    with pytest.raises(InputError, match="names must be 2 different names"):
        Graph.from_edges([0], [1]).with_names(names)


@pytest.mark.parametrize(
    "names", [["1", "2", "3"], [1, "1", 2], [1, "a", 2**70], ["a", "a\x00", "ü"], ["\ud800", -1, 0]]
)
def test_names_are_the_same_after_a_file(names: list[str | int], tmp_path: Path) -> None:
    graph = Graph.from_edges([0, 1], [1, 2]).with_names(names)
    loaded = Graph.load(graph.save(tmp_path / "named")).names
    assert loaded is not None
    assert list(loaded) == names
    assert list(map(type, loaded)) == list(map(type, names))


@pytest.mark.parametrize("text", [b"[1, 2", b"5", b"[null, 1]", b"[1, 1]", b"[" * 100_000, b"\xff"])
def test_damaged_names_are_refused(text: bytes, tmp_path: Path) -> None:
    path = Graph.from_edges([0], [1]).save(tmp_path / "graph")
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **arrays, names=np.frombuffer(text, np.uint8))
    with pytest.raises(InputError, match="damaged"):
        Graph.load(path)


@pytest.mark.parametrize(
    "places",
    [
        ("NOUN", "VERB"),  # parts of speech
        (1.0, 2.0),
        ((0.0, 0.0), (1.0, 1.0, 1.0)),
        ((0.0, 0.0), (np.nan, 1.0)),
        ({"x": 1.0, "y": 2.0}, {"x": 3.0, "y": 4.0}),
        (("1", "2"), ("3", "4")),
        ((), ()),
    ],
)
def test_positions_that_are_not_coordinates_are_not_kept(places: tuple[Any, Any]) -> None:
    source = nx.Graph([("a", "b")])
    for node, place in zip("ab", places, strict=True):
        source.nodes[node]["pos"] = place
    with pytest.warns(InputWarning, match="not finite numbers, .*positions are not kept") as caught:
        graph = Graph.from_networkx(source)
    assert caught[0].filename == __file__
    assert graph.positions is None
    assert graph.names is not None


def test_the_warning_of_missing_positions_points_to_the_call() -> None:
    source = nx.Graph([("a", "b")])
    source.nodes["a"]["pos"] = (0.0, 0.0)
    with pytest.warns(InputWarning, match="1 of 2 nodes have no position") as caught:
        Graph.from_networkx(source)
    assert caught[0].filename == __file__


def test_names_of_the_constructor_are_names() -> None:
    graph = Graph.from_edges([0], [1])
    with pytest.raises(InputError, match=r"must be wayfield.Names, got list: use graph.with_names"):
        dataclasses.replace(graph, names=["a", "b"])  # type: ignore[arg-type]
