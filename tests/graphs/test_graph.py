"""Graphs: every constructor against its naive twin, what is refused, and what comes back."""

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
quiet = pytest.mark.filterwarnings("ignore::wayfield.InputWarning")


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
    slots = [slice(*graph.indptr[x : x + 2]) for x in range(graph.num_vertices)]
    heads, lengths = graph.indices, graph.lengths
    return [dict(zip(heads[s].tolist(), lengths[s].tolist(), strict=True)) for s in slots]


def same(one: Graph, other: Graph) -> bool:
    pairs = list(zip(one.arcs, other.arcs, strict=True))
    equal = all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in pairs)
    return one.directed == other.directed and equal


# -------------------------------------------------------------------- from_edges


@given(edge_lists(), st.booleans(), st.randoms(use_true_random=False))
@quiet
def test_rows_are_their_naive_twin(
    data: tuple[int, list[Edge]], directed: bool, random: Random
) -> None:
    n, edges = data
    graph = build(n, edges, directed)
    assert rows_of(graph) == naive_rows(n, edges, directed)
    assert all((np.diff(graph.neighbours(x)) > 0).all() for x in range(n))
    assert graph.num_vertices == n
    assert graph.loops_dropped == sum(x == y for x, y, _ in edges)
    kept = {(x, y) if directed else (min(x, y), max(x, y)) for x, y, _ in edges if x != y}
    assert graph.num_edges == len(kept)
    assert graph.parallel_merged == len(edges) - graph.loops_dropped - len(kept)
    # the order of the edges does not matter, nor the direction of undirected ones
    turned = [e if directed or random.random() < 0.5 else (e[1], e[0], e[2]) for e in edges]
    random.shuffle(turned)
    assert same(graph, build(n, turned, directed))


def test_what_is_not_given() -> None:
    graph = Graph.from_edges([0, 5], [5, 2])
    assert (graph.num_vertices, graph.is_unit) == (6, True)
    assert graph.degrees.tolist() == [1, 0, 1, 0, 0, 2]
    assert [array.dtype for array in graph.arcs] == [np.int32, np.int32, np.float64]
    lonely = Graph.from_edges([], [], num_vertices=3)
    assert repr(lonely) == "Graph(3 vertices, 0 edges, unit lengths)"
    assert lonely.components.tolist() == [0, 1, 2]
    assert Graph.from_edges([], []).num_vertices == 0
    assert Graph.from_edges([0], [2_000_000], num_vertices=2_000_001).num_edges == 1
    both = Graph.from_edges([0, 1], [1, 0])
    assert (both.num_edges, both.parallel_merged) == (1, 1)
    directed = Graph.from_edges([0, 0, 1], [1, 2, 2], [0.5, 1, 2], directed=True)
    assert repr(directed) == "Graph(3 vertices, 3 arcs, directed, lengths 0.5 to 2)"
    assert list(zip(directed.tails, directed.indices, strict=True)) == [(0, 1), (0, 2), (1, 2)]


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.uint64, np.float32, ">i4"])
def test_any_integer_type_will_do_and_is_left_alone(dtype: str) -> None:
    tails, heads = np.array([0, 1], dtype), np.array([1, 2], dtype)
    lengths = np.array([1.5, 9.0, 2.5, 9.0], dtype=">f8")[::2]
    graph = Graph.from_edges(tails, heads, lengths)
    tails[0], lengths[0] = 2, 7.0
    assert same(graph, Graph.from_edges([0, 1], [1, 2], [1.5, 2.5]))
    assert heads.flags.writeable


def test_what_is_dropped_is_warned_of() -> None:
    with pytest.warns(InputWarning, match="2 self-loops dropped") as loops:
        Graph.from_edges([0, 1, 1], [0, 2, 1])
    with pytest.warns(InputWarning, match="2 parallel edges of different length") as parallel:
        Graph.from_edges([0, 0, 1, 1], [1, 1, 0, 2], [2.0, 0.5, 0.7, 3.0])
    assert [each.filename for each in (*loops, *parallel)] == [__file__] * 2


# -------------------------------------------------------------------- other constructors

MATRIX = np.array([[0.0, 1.5, 0.0], [1.5, 0.0, 0.3], [0.0, 0.3, 0.0]])
PAIRS = np.abs(np.subtract.outer([0.0, 1.0, 3.0, 7.0], [0.0, 1.0, 3.0, 7.0]))
FAR = np.where(PAIRS == 7, np.inf, PAIRS)
TWICE = sparse.coo_array((np.array([2.0, 3.0]), ([0, 0], [1, 1])), shape=(2, 2))
LOOSE = nx.Graph()
LOOSE.add_nodes_from([("a", 1), "b", frozenset({3}), -7])
LOOSE.add_edge("b", -7, length=2.5)
LOOSE.add_edge(("a", 1), "b")
ONE_WAY = nx.DiGraph()
ONE_WAY.add_weighted_edges_from([("z", "y", 3.0), ("y", "x", 0.5)])
MANY = nx.MultiGraph([("a", "b", {"length": 3.0}), ("a", "b", {"length": 1.0}), ("b", "b")])
STREETS = igraph.Graph(4, [(0, 2), (2, 3)])
STREETS.es["length"] = [0.5, 2.0]
UNDIRECTED = [{1: 1.5}, {0: 1.5, 2: 0.3}, {1: 0.3}]

CONSTRUCTORS: list[tuple[Callable[[], Graph], bool, list[dict[int, float]]]] = [
    *((lambda to=to: Graph.from_scipy(to(MATRIX)), False, UNDIRECTED)
      for to in (np.asarray, np.ndarray.tolist, sparse.coo_array, sparse.csr_array,
                 sparse.csc_array, sparse.csr_matrix, sparse.lil_array, sparse.dok_array)),
    (lambda: Graph.from_scipy(MATRIX, directed=True), True, UNDIRECTED),
    (lambda: Graph.from_scipy(np.triu(MATRIX)), True, [{1: 1.5}, {2: 0.3}, {}]),
    (lambda: Graph.from_scipy(MATRIX > 1), False, [{1: 1.0}, {0: 1.0}, {}]),
    (lambda: Graph.from_scipy(TWICE), True, [{1: 2.0}, {}]),
    (lambda: Graph.from_networkx(LOOSE), False, [{1: 1.0}, {0: 1.0, 3: 2.5}, {}, {1: 2.5}]),
    (lambda: Graph.from_networkx(LOOSE, None), False, [{1: 1.0}, {0: 1.0, 3: 1.0}, {}, {1: 1.0}]),
    (lambda: Graph.from_networkx(ONE_WAY, "weight"), True, [{1: 3.0}, {2: 0.5}, {}]),
    (lambda: Graph.from_networkx(ONE_WAY), True, [{1: 1.0}, {2: 1.0}, {}]),
    (lambda: Graph.from_networkx(MANY), False, [{1: 1.0}, {0: 1.0}]),
    (lambda: Graph.from_networkx(MANY.to_directed()), True, [{1: 1.0}, {0: 1.0}]),
    (lambda: Graph.from_networkx(nx.empty_graph(2)), False, [{}, {}]),
    (lambda: Graph.from_igraph(STREETS), False, [{2: 0.5}, {}, {0: 0.5, 3: 2.0}, {2: 2.0}]),
    (lambda: Graph.from_igraph(STREETS, None), False, [{2: 1.0}, {}, {0: 1.0, 3: 1.0}, {2: 1.0}]),
    (lambda: Graph.from_igraph(igraph.Graph(2, [(0, 1)], directed=True)), True, [{1: 1.0}, {}]),
    (lambda: Graph.from_distances(PAIRS, 3.0), False,
     [{1: 1.0, 2: 3.0}, {0: 1.0, 2: 2.0}, {0: 3.0, 1: 2.0}, {}]),
    (lambda: Graph.from_distances(PAIRS, k=1), True, [{1: 1.0}, {0: 1.0}, {1: 2.0}, {2: 4.0}]),
    (lambda: Graph.from_distances(PAIRS, 2.0, 1), True, [{1: 1.0}, {0: 1.0}, {1: 2.0}, {}]),
    (lambda: Graph.from_distances(np.ones((3, 3)), k=1), True, [{1: 1.0}, {0: 1.0}, {0: 1.0}]),
    (lambda: Graph.from_distances(pdist(np.c_[[0.0, 1.0, 3.0]]), 1.0), False,
     [{1: 1.0}, {0: 1.0}, {}]),
    (lambda: Graph.from_distances(FAR[:, [0, 3]][[0, 3]]), False, [{}, {}]),
    (lambda: Graph.from_distances(PAIRS[:3, :3], k=9), False,
     [{1: 1.0, 2: 3.0}, {0: 1.0, 2: 2.0}, {0: 3.0, 1: 2.0}]),
]  # fmt: skip


@pytest.mark.parametrize(("make", "directed", "rows"), CONSTRUCTORS)
@quiet
def test_constructors(
    make: Callable[[], Graph], directed: bool, rows: list[dict[int, float]]
) -> None:
    graph = make()
    assert graph.directed == directed
    assert rows_of(graph) == rows


@given(edge_lists(clean=True), st.booleans())
def test_symmetry_is_seen_as_numpy_sees_it(data: tuple[int, list[Edge]], both: bool) -> None:
    n, edges = data
    matrix = np.zeros((n, n))
    for i, (x, y, length) in enumerate(edges):
        matrix[x, y] = length
        if both or i % 2:
            matrix[y, x] = length
    graph = Graph.from_scipy(matrix)
    assert graph.directed == bool((matrix != matrix.T).any())
    np.testing.assert_array_equal(graph.to_scipy().toarray(), matrix)


def test_remarks_on_other_libraries_graphs() -> None:
    points = np.random.default_rng(0).random((6, 2))
    squares = ((points[:, None] - points) ** 2).sum(axis=2)
    for matrix, similar in ((np.exp(-squares), True), (squares + np.eye(6) * squares[0, 1], False)):
        with pytest.warns(InputWarning) as caught:
            Graph.from_scipy(matrix)
        assert any("as similarities are" in str(each.message) for each in caught) == similar
    with pytest.warns(InputWarning, match="length='weight'"):
        Graph.from_networkx(ONE_WAY)
    with pytest.warns(InputWarning, match="names of nodes are not distinct"):
        assert Graph.from_networkx(nx.Graph([("a", " a")])).names is None


def asymmetric(*entries: tuple[int, int], last: float = 1.5) -> np.ndarray:
    matrix = np.zeros((3, 3))
    matrix[tuple(zip(*entries, strict=True))] = 1.5
    matrix[entries[-1]] = last
    return matrix


def with_bad_distance(bad: float) -> np.ndarray:
    pairs = PAIRS.copy()
    pairs[1, 2] = bad
    return pairs


BROKEN = sparse.csr_matrix((3, 3))
BROKEN.indptr, BROKEN.data, BROKEN.indices = np.array([0, 5, 2, 9]), np.ones(2), np.array([0, 1])
EDGE = Graph.from_edges([0], [1])

REFUSED: list[tuple[Callable[..., Any], tuple[Any, ...], str]] = [
    (Graph.from_edges, ([0], [2_000_000]), "largest vertex index is 2000000 with only 1 edges"),
    (Graph.from_scipy, (asymmetric((0, 1)), False), r"entry \(0, 1\) is 1.5, but \(1, 0\) is miss"),
    (Graph.from_scipy, (asymmetric((2, 1), (1, 2), (2, 0)), False), r"entry \(2, 0\) is 1.5, but"),
    (Graph.from_scipy, (asymmetric((0, 1), (0, 2), (1, 0), (2, 0), (2, 1)), False), r"\(2, 1\) is"),
    (Graph.from_scipy, (asymmetric((0, 1), (1, 0), last=1.6), False), r"but \(1, 0\) is 1\.6"),
    (Graph.from_scipy, (np.ones((2, 3)),), "must be square"),
    (Graph.from_scipy, (-MATRIX,), r"matrix\[0, 1\] = -1\.5 is not a positive"),
    (Graph.from_scipy, (sparse.csr_array(([0.0], ([1], [0])), shape=(2, 2)),), r"matrix\[1, 0\]"),
    (Graph.from_scipy, (BROKEN, True), "matrix cannot be read"),
    (Graph.from_networkx, (nx.Graph([(0, 1, {"length": "long"})]),), r"real numbers.*'long'"),
    *((Graph.from_networkx, (source,), "must be a networkx graph") for source in (None, 3, "g")),
    *((Graph.from_igraph, (source,), "must be an igraph graph") for source in (None, [[0, 1]])),
    *((Graph.from_distances, (with_bad_distance(bad),), r"distances\[1, 2\] = .* positive number")
      for bad in (0.0, -1.0, np.nan, -np.inf)),
    *((Graph.from_distances, (PAIRS, cutoff), "cutoff must be a positive number")
      for cutoff in (0.0, -1.0, np.nan, "1", 1j)),
    *((Graph.from_distances, (PAIRS, None, k), "k must be a whole number of at least 1")
      for k in (0, -1, 1.5, "1", True)),
    *((Graph.from_distances, (np.ones(shape),), "must be square")
      for shape in ((2, 3), (2, 2, 2), ())),
    (Graph.from_distances, (np.ones(5),), "5 condensed distances do not fit"),
    *((EDGE.subdivide, (k,), "k must be a whole number of at least 1")
      for k in (0, -2, 1.5, "2", None, True)),
    (EDGE.subdivide, (10**12,), "more than 2³¹ - 1"),
    *((EDGE.symmetrised, (how,), "how must be one of 'min', 'max', 'mean'")
      for how in ("sum", None, 3)),
    *((EDGE.neighbours, (vertex,), "vertex") for vertex in (-1, 2, 0.5, None, "0", True)),
    (EDGE.with_positions, ([[0, 0]],), r"shape \(2, d\), got \(1, 2\)"),
    (EDGE.with_positions, ([0, 1],), "two-dimensional"),
    (EDGE.with_positions, ([[0], [np.nan]],), r"positions\[1, 0\] = nan is not a finite number"),
    (EDGE.with_positions, ([["a"], ["b"]],), "real numbers"),
    *((EDGE.with_names, (names,), "names must be 2 different names")
      for names in (["a"], ["a", "a"], ["a", "b", "c"])),
    (lambda: dataclasses.replace(EDGE, names=["a", "b"]), (), "got list: use graph.with_names"),  # type: ignore[arg-type]
]  # fmt: skip


@pytest.mark.parametrize(("call", "arguments", "words"), REFUSED)
def test_what_is_refused(call: Callable[..., Any], arguments: tuple[Any, ...], words: str) -> None:
    with pytest.raises(InputError, match=words):
        call(*arguments)


# -------------------------------------------------------------------- rows given by hand, frozen


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


def test_graphs_and_their_copies_are_frozen() -> None:
    graph = Graph.from_edges([0, 1], [1, 2], [1.0, 2.0], positions=[[0, 0], [0, 1], [0, 2]])
    copies = pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph), copy.copy(graph)
    one_way = Graph.from_edges([0, 1], [1, 2], directed=True)
    arrays = [*one_way.reverse_arcs, one_way.strong_components, one_way.neighbours(0)]
    for twin in (graph, *copies):
        assert same(graph, twin)
        np.testing.assert_array_equal(twin.positions, graph.positions)
        arrays += [*twin.arcs, *twin.reverse_arcs, twin.positions, twin.components]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.directed = True  # type: ignore[misc]


# -------------------------------------------------------------------- what is computed


@given(edge_lists(clean=True), st.booleans())
def test_components_and_reverse_arcs(data: tuple[int, list[Edge]], directed: bool) -> None:
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
    transpose = graph.to_scipy().T.tocsr()
    transpose.sort_indices()
    expected_arrays = transpose.indptr, transpose.indices, transpose.data
    for array, other in zip(graph.reverse_arcs, expected_arrays, strict=True):
        np.testing.assert_array_equal(array, other)


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
    between = [
        sparse.csgraph.dijkstra(each.to_scipy(), indices=range(n))[:, :n] for each in (graph, finer)
    ]
    np.testing.assert_allclose(between[1], k * between[0], rtol=1e-14, atol=0)
    assert k > 1 or same(graph, finer)


def test_new_vertices_lie_evenly_between_the_old() -> None:
    graph = Graph.from_edges([0], [1], positions=[[0.0, 0.0], [3.0, 6.0]]).subdivide(3)
    assert graph.positions is not None
    assert graph.positions.tolist() == [[0, 0], [3, 6], [1, 2], [2, 4]]
    assert rows_of(graph) == [{2: 1.0}, {3: 1.0}, {0: 1.0, 3: 1.0}, {1: 1.0, 2: 1.0}]


@given(edge_lists(), st.sampled_from(["min", "max", "mean"]))
@quiet
def test_symmetrised_is_its_naive_twin(data: tuple[int, list[Edge]], how: Any) -> None:
    graph = build(*data, directed=True)
    rows = naive_rows(*data, directed=True)
    combine = {"min": min, "max": max, "mean": lambda a, b: (a + b) / 2}[how]
    expected: list[dict[int, float]] = [{} for _ in rows]
    for x, row in enumerate(rows):
        for y, length in row.items():
            both = combine(length, rows[y].get(x, length))
            expected[x][y] = expected[y][x] = both
    symmetric = graph.with_positions(np.zeros((len(rows), 1))).symmetrised(how)
    assert not symmetric.directed
    assert symmetric.positions is not None
    assert rows_of(symmetric) == expected
    assert symmetric.symmetrised("max") is symmetric


# -------------------------------------------------------------------- files


@given(data=edge_lists(), directed=st.booleans(), place=st.booleans())
@quiet
def test_file_round_trip_bit_for_bit(
    tmp_path_factory: pytest.TempPathFactory,
    data: tuple[int, list[Edge]],
    directed: bool,
    place: bool,
) -> None:
    graph = build(*data, directed)
    if place:
        graph = graph.with_positions(np.random.default_rng(0).random((graph.num_vertices, 2)))
    folder = tmp_path_factory.mktemp("graphs")
    path = graph.save(folder / "graph.v1")
    assert (path, graph.save(str(path))) == (folder / "graph.v1.npz", path)  # one suffix
    again = Graph.load(folder / "graph.v1")
    assert same(graph, again)
    counts = again.loops_dropped, again.parallel_merged
    assert counts == (graph.loops_dropped, graph.parallel_merged)
    np.testing.assert_array_equal(again.positions, graph.positions)
    assert not again.lengths.flags.writeable


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    return Graph.from_edges([0, 1], [1, 2], [1.0, 2.0]).save(tmp_path / "graph.npz")


def test_failed_save_leaves_the_old_file(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved.read_bytes()

    def full_disk(file: object, **arrays: object) -> None:
        file.write(b"half a file")  # type: ignore[attr-defined]
        raise OSError("no space left on device")

    monkeypatch.setattr(np, "savez", full_disk)
    with pytest.raises(OSError, match="no space left"):
        Graph.from_edges([0, 1], [1, 2]).save(saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_damaged_files_are_refused_or_harmless(saved: Path) -> None:
    graph, whole = Graph.load(saved), saved.read_bytes()
    refused = pytest.raises(InputError, match=r"graph\.npz is not a wayfield graph 1, or is damag")
    for size in range(0, len(whole), 7):
        saved.write_bytes(whole[:size])
        with refused:
            Graph.load(saved)
    for content in (b"", b"hello", b"\x93NUMPY", pickle.dumps([1, 2])):
        saved.write_bytes(content)
        with refused:
            Graph.load(saved)
    for at in range(0, len(whole), 3):
        saved.write_bytes(whole[:at] + bytes([whole[at] ^ 0x11]) + whole[at + 1 :])
        try:
            again = Graph.load(saved)
        except InputError:
            continue
        assert same(graph, again)  # the byte was one that nobody reads


def test_files_of_something_else_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", indptr=np.arange(3))
    np.save(tmp_path / "other.npy", np.arange(3))
    with zipfile.ZipFile(tmp_path / "zip.npz", "w") as archive:
        archive.writestr("readme.txt", "hello")
    for name, words in (
        ("other.npz", "is missing or different"),
        ("other.npy", "is not a wayfield graph"),
        ("zip.npz", "which is not an array"),
    ):
        with pytest.raises(InputError, match=words):
            Graph.load(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        Graph.load(tmp_path / "none.npz")


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
        *(
            {"names": np.frombuffer(text, np.uint8)}
            for text in (b"[1, 2", b"5", b"[null, 1]", b"[1, 1]", b"[" * 100_000, b"\xff")
        ),
    ],
)
def test_file_with_unsound_arrays_is_damaged(
    saved: Path, changes: dict[str, np.ndarray | None]
) -> None:
    with np.load(saved) as file:
        arrays = dict(file) | changes
    np.savez(saved, **{name: array for name, array in arrays.items() if array is not None})
    with pytest.raises(InputError, match=r"graph\.npz is damaged"):
        Graph.load(saved)


# -------------------------------------------------------------------- names and positions


@pytest.mark.parametrize(
    ("nodes", "names", "positions"),
    [
        ({"Bern": {"pos": (7.4, 46.9)}, 12: {"pos": (0, 1)}}, ["Bern", 12], [[7.4, 46.9], [0, 1]]),
        ({60127: {"x": 24.9, "y": 60.1}, 60128: {"x": 25.0, "y": 60.2}}, [60127, 60128],
         [[24.9, 60.1], [25.0, 60.2]]),
        ({0: {}, 1: {}}, None, None),
        ({(0, 1): {}, "": {}, 2.5: {}}, ["(0, 1)", "''", "2.5"], None),
    ],
)  # fmt: skip
def test_networkx_names_and_positions(nodes: Any, names: Any, positions: Any) -> None:
    source = nx.Graph()
    source.add_nodes_from(nodes.items())
    graph = Graph.from_networkx(source)
    assert (None if graph.names is None else list(graph.names)) == names
    assert (None if graph.positions is None else graph.positions.tolist()) == positions


@pytest.mark.parametrize(
    ("places", "words"),
    [
        (("NOUN", "VERB"), "not finite numbers"),  # parts of speech
        ((1.0, 2.0), "not finite numbers"),
        (((0.0, 0.0), (1.0, 1.0, 1.0)), "not finite numbers"),
        (((0.0, 0.0), (np.nan, 1.0)), "not finite numbers"),
        (({"x": 1.0, "y": 2.0}, {"x": 3.0, "y": 4.0}), "not finite numbers"),
        ((("1", "2"), ("3", "4")), "not finite numbers"),
        (((), ()), "not finite numbers"),
        (((0.0, 0.0), None), "1 of 2 nodes have no position"),
    ],
)
def test_positions_that_are_not_kept(places: tuple[Any, Any], words: str) -> None:
    source = nx.Graph([("a", "b")])
    for node, place in zip("ab", places, strict=True):
        source.nodes[node].update({} if place is None else {"pos": place})
    with pytest.warns(InputWarning, match=f"{words}.*positions are not kept") as caught:
        graph = Graph.from_networkx(source)
    assert caught[0].filename == __file__
    assert graph.positions is None
    assert graph.names is not None


def test_igraph_keeps_names_and_positions() -> None:
    source = igraph.Graph(2, [(0, 1)])
    assert Graph.from_igraph(source).names is None
    source.vs["name"], source.vs["x"], source.vs["y"] = ["p", "q"], [0.0, 1.0], [2.0, 3.0]
    graph = Graph.from_igraph(source)
    assert list(graph.names) == ["p", "q"]  # type: ignore[arg-type]
    np.testing.assert_array_equal(graph.positions, [[0.0, 2.0], [1.0, 3.0]])


@pytest.mark.parametrize(
    "names", [["1", "2", "3"], [1, "1", 2], [1, "a", 2**70], ["a", "a\x00", "ü"], ["\ud800", -1, 0]]
)
def test_names_stay_in_copies_and_files(names: list[str | int], tmp_path: Path) -> None:
    graph = Graph.from_edges([0, 1], [1, 2], directed=True).with_names(names)
    for each in (
        pickle.loads(pickle.dumps(graph)),
        copy.deepcopy(graph),
        graph.symmetrised(),
        graph.with_positions(np.zeros((3, 2))),
        Graph.load(graph.save(tmp_path / "named")),
    ):
        assert list(each.names) == names
        assert list(map(type, each.names)) == list(map(type, names))
    assert graph.subdivide(2).names is None  # the new vertices have none
