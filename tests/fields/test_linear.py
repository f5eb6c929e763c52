"""Linear solvers: chosen by structure, equal where they overlap, bounded in time and memory."""

from __future__ import annotations

import pickle
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wayfield as wf
from exact import contains, exact_harmonic
from wayfield.errors import OutOfTime
from wayfield.fields import linear as _linear
from wayfield.fields import plaplacian, time_limit
from wayfield.fields.harmonic import System
from wayfield.fields.linear import Direct, Interior, Thin
from wayfield.numerics import laplacian
from wayfield.numerics.elimination import Fill, dead_ends, fill_counts, fill_in
from wayfield.numerics.laplacian import Iterative
from worlds import BACKBONES, labelled_graphs, random_graph, random_labels


def line(n: int) -> np.ndarray:
    return np.stack([np.arange(n - 1), np.arange(1, n)])


def lattice(*shape: int) -> np.ndarray:
    """(2, e) edges of a grid in any dimension."""
    index = np.arange(np.prod(shape)).reshape(shape)
    ways = [np.moveaxis(index, axis, 0) for axis in range(len(shape))]
    tails = np.concatenate([way[:-1].ravel() for way in ways])
    return np.stack([tails, np.concatenate([way[1:].ravel() for way in ways])])


def comb(side: int) -> np.ndarray:
    index = np.arange(side * side).reshape(side, side)
    spine, teeth = index[0], index
    tails = np.concatenate([spine[:-1], teeth[:-1].ravel()])
    return np.stack([tails, np.concatenate([spine[1:], teeth[1:].ravel()])])


def star(leaves: int) -> np.ndarray:
    return np.stack([np.zeros(leaves, int), np.arange(1, leaves + 1)])


def regular(n: int, seed: int = 0) -> np.ndarray:
    """Edges of a random graph in which nearly every vertex has four neighbours."""
    rng = np.random.default_rng(seed)
    tails, heads = np.tile(np.arange(n), 2), np.concatenate([rng.permutation(n) for _ in range(2)])
    ends = np.stack([np.minimum(tails, heads), np.maximum(tails, heads)])[:, tails != heads]
    return np.unique(ends, axis=1)


def labelled(
    edges: np.ndarray, lengths: np.ndarray | None = None, share: float = 0.02, seed: int = 0
) -> tuple[wf.Graph, wf.Labels]:
    """The largest component's vertices labelled at random."""
    graph = wf.Graph.from_edges(*edges, lengths)
    rng = np.random.default_rng(seed)
    inside = np.flatnonzero(graph.components == np.bincount(graph.components).argmax())
    count = max(2, round(share * inside.size))
    return graph, wf.Labels(rng.choice(inside, count, replace=False), rng.normal(size=count))


def interior(graph: wf.Graph, labels: wf.Labels) -> Interior:
    return Interior.of(graph, np.flatnonzero(~labels.mask(graph)))


def thin(system: Interior, weights: np.ndarray) -> Thin:
    count, parent = fill_counts(*system.pattern[:2])
    return Thin(system.matrix(weights), Fill(*fill_in(*system.pattern[:2], count, parent)))


# ------------------------------------------------------------------ chosen by structure


@pytest.mark.parametrize(
    ("edges", "kind"),
    [
        (lattice(40, 40), Direct),
        (line(20_000), Direct),
        (BACKBONES["tree"](np.random.default_rng(0), 20_000).T, Direct),
        (comb(140), Direct),
        (lattice(8, 2_000), Direct),
        (star(1_500), Direct),
        (star(20_000), Iterative),
        (line(150_000), Iterative),
        (lattice(140, 140), Iterative),
        (lattice(40, 40, 40), Iterative),
        (regular(5_000), Iterative),
        (np.concatenate([lattice(100, 100) + 1, star(10_000)], axis=1), Iterative),
    ],
    ids=[
        *("small", "path", "tree", "comb", "corridor", "small star", "star", "long path", "grid"),
        *("grid in space", "random", "grid with a hub"),
    ],
)
def test_the_structure_decides(edges: np.ndarray, kind: type) -> None:
    system = interior(*labelled(edges))
    assert type(_linear.symmetric_solver(system)) is kind
    general = _linear.Rescued if kind is Iterative else kind
    assert type(_linear.general_solver(system, system.conductances)) is general


@pytest.mark.parametrize(
    ("edges", "kind"),
    [
        (line(20_000), Thin),
        (comb(140), Thin),
        (lattice(8, 2_000), Thin),
        (lattice(12, 12, 12), Direct),
    ],
    ids=["path", "comb", "corridor", "grid in space"],
)
def test_ordered_rows_with_thin_factors_are_eliminated_one_by_one(
    edges: np.ndarray, kind: type
) -> None:
    system = interior(*labelled(edges))
    order = Direct(system.matrix(system.conductances)).order
    ordered = Interior.of(system.graph, system.vertices[order], ordered=True)
    assert type(_linear.general_solver(ordered, ordered.conductances)) is kind


@given(labelled_graphs(max_vertices=30))
def test_the_fill_is_that_of_elimination(case: tuple[wf.Graph, wf.Labels]) -> None:
    system = interior(*case)
    pattern = system.matrix(system.conductances).toarray() != 0
    for k in range(system.size):  # eliminating k joins all its later neighbours
        later = np.flatnonzero(pattern[k, k + 1 :]) + k + 1
        pattern[np.ix_(later, later)] = True
    count, parent = fill_counts(*system.pattern[:2])
    fill = Fill(*fill_in(*system.pattern[:2], count, parent))
    for start, columns, expected in (
        (fill.upper_start, fill.upper, np.triu(pattern, 1)),
        (fill.lower_start, fill.lower, np.tril(pattern, -1)),
    ):
        for i in range(system.size):
            row = columns[start[i] : start[i + 1]]
            np.testing.assert_array_equal(row, np.flatnonzero(expected[i]))


def test_a_pivot_that_rounding_took_is_replaced() -> None:
    """Rows that sum to 0, as where a label is so far that its weight is lost."""
    graph = wf.Graph.from_edges([0, 1], [1, 2])
    system = Interior.of(graph, np.arange(3))
    found = thin(system, system.conductances).solve(np.ones(3))
    assert np.isfinite(found).all()
    assert found.min() > 1e12


@pytest.mark.parametrize(
    ("edges", "work"),
    [
        (line(50), 0.0),
        (star(50), 0.0),
        (comb(7), 0.0),
        (lattice(7, 30), 24 * 7.0**3 + 2 * sum(w**3 for w in range(1, 7))),
        (lattice(2, 2, 2), 1.0 + 27.0 + 27.0 + 1.0),
    ],
    ids=["path", "star", "comb", "grid", "grid in space"],
)
def test_work_is_that_of_the_levels_without_dead_ends(edges: np.ndarray, work: float) -> None:
    graph = wf.Graph.from_edges(*edges)
    whole = Interior.of(graph, np.arange(graph.num_vertices))
    assert whole.elimination_work == work


@given(labelled_graphs(max_vertices=30))
def test_dead_ends_are_what_pruning_leaves_removes(case: tuple[wf.Graph, wf.Labels]) -> None:
    graph, labels = case
    system = interior(graph, labels)
    indptr, indices, _ = system.pattern
    order, mouth = dead_ends(indptr, indices)
    neighbours = {
        x: set(indices[indptr[x] : indptr[x + 1]].tolist()) - {x} for x in range(system.size)
    }
    for x in order.tolist():
        left = neighbours.pop(x)
        assert left == ({int(mouth[x])} if mouth[x] >= 0 else set())
        for y in left:
            neighbours[y].discard(x)
    assert all(len(left) >= 2 for left in neighbours.values())


# ------------------------------------------------------------------ they agree


@given(labelled_graphs(max_vertices=30), st.booleans(), st.integers(0, 1000))
def test_solvers_agree_with_dense_elimination(
    case: tuple[wf.Graph, wf.Labels], symmetric: bool, seed: int
) -> None:
    system = interior(*case)
    if system.size == 0:
        return
    rng = np.random.default_rng(seed)
    weights = system.conductances
    if not symmetric:  # rows scaled, and some labels nearer
        weights = weights * np.exp(rng.normal(size=system.graph.num_vertices))[system.graph.tails]
        weights[system.row[system.graph.indices] < 0] *= 1.0 + rng.random()
    rhs = np.asfortranarray(rng.normal(size=(system.size, 3)))
    rhs[:, 1] = 0.0
    matrix = system.matrix(weights)
    expected = np.linalg.solve(matrix.toarray(), rhs)
    for solver in (
        Direct(matrix, transposed=symmetric),
        thin(system, weights),
        Iterative(system.weighted(weights), symmetric=symmetric, rtol=1e-13),
        Iterative(system.weighted(weights), symmetric=symmetric, diagonal=True, rtol=1e-13),
    ):
        np.testing.assert_allclose(solver.solve(rhs), expected, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(solver.solve(rhs[:, 0]), expected[:, 0], rtol=1e-7, atol=1e-9)
    transposed = np.linalg.solve(matrix.toarray().T, rhs)
    found = Direct(matrix, transposed=True).solve(rhs)
    np.testing.assert_allclose(found, transposed, rtol=1e-7, atol=1e-9)


@pytest.fixture
def iterative(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every system is solved by iteration."""
    monkeypatch.setattr(_linear.Interior, "factors_well", False)


@pytest.mark.usefixtures("iterative")
@given(labelled_graphs())
def test_brackets_by_iteration_contain_the_exact_values(case: tuple[wf.Graph, wf.Labels]) -> None:
    graph, labels = case
    extension = wf.extend(graph, labels, wf.Harmonic())
    assert contains(extension, exact_harmonic(graph, labels))
    assert extension.width <= 1e-15 * float(np.abs(labels.values).max())


@pytest.mark.usefixtures("iterative")
@pytest.mark.parametrize("orders", [12, 190])
def test_lengths_many_orders_apart_by_iteration(orders: int) -> None:
    """Wide brackets are right, and where none can be proved the status says so."""
    proved = 0
    for seed in range(40):
        rng = np.random.default_rng([orders, seed])
        graph = random_graph(
            rng, 14, lambda rng, m: 10.0 ** (orders * (rng.random(m) - 0.5)), backbone="tree"
        )
        labels = random_labels(rng, graph, 3)
        field = wf.extend(graph, labels, wf.Harmonic(), check=False)
        if field.lower is None:
            assert field.status == wf.Status.UNVERIFIED
        else:
            proved += 1
            assert contains(field, exact_harmonic(graph, labels))
            if orders == 12:
                assert field.width <= 4 * 2.0**-52 * float(np.abs(labels.values).max())
    assert proved == 40 if orders == 12 else proved > 0


@pytest.mark.parametrize("p", [2.0, 8.0, 64.0])
def test_mazes_by_iteration_agree(p: float, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = wf.grid_graph(wf.load_layout("antmaze-medium"), 4)
    labels = wf.sample_labels(graph, 7, 0.05, seed=54)
    direct = wf.extend(graph, labels, wf.PLaplacian(p))
    monkeypatch.setattr(_linear.Interior, "factors_well", False)
    iterated = wf.extend(graph, labels, wf.PLaplacian(p))
    assert iterated.lower is not None
    assert iterated.upper is not None
    assert (iterated.lower <= direct.values).all()
    assert (direct.values <= iterated.upper).all()
    assert iterated.width <= 1e-10 * labels.span


@pytest.mark.parametrize("p", [2.0, 4.0, 8.0])
def test_derivatives_by_iteration_are_those_by_factors(
    p: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a maze with dead ends, whose values are constant: rows without a slope."""
    graph = wf.grid_graph(wf.load_layout("antmaze-medium"), 3)
    labels = wf.sample_labels(graph, 7, 0.05, seed=54)
    cotangent = np.random.default_rng(0).normal(size=graph.num_vertices)
    field = wf.extend(graph, labels, wf.PLaplacian(p))
    direct = field.pullback(cotangent)
    monkeypatch.setattr(_linear.Interior, "factors_well", False)
    monkeypatch.setattr(_linear.Interior, "can_factor", False)
    found = wf.extend(graph, labels, wf.PLaplacian(p)).pullback(cotangent)
    size = np.abs(direct.labels).max()
    np.testing.assert_allclose(found.labels, direct.labels, rtol=0, atol=1e-7 * size)
    size = np.abs(direct.lengths).max()
    np.testing.assert_allclose(found.lengths, direct.lengths, rtol=0, atol=1e-6 * size)


# ------------------------------------------------------------------ large and awkward


@pytest.mark.parametrize("method", [wf.Harmonic(), wf.PLaplacian(8)], ids=wf.fields.describe)
@pytest.mark.parametrize("spread", [0.0, 1.5], ids=["unit", "lognormal"])
def test_a_star_with_very_many_leaves(method: wf.fields.Method, spread: float) -> None:
    lengths = np.exp(spread * np.random.default_rng(1).normal(size=50_000))
    graph = wf.Graph.from_edges(*star(50_000), lengths)
    extension = wf.extend(graph, wf.Labels([1, 2, 3], [0.0, 1.0, 1.0]), method)
    assert extension.width <= 1e-9
    np.testing.assert_allclose(extension.values[4:], extension.values[0], rtol=0, atol=1e-9)


@pytest.mark.parametrize("p", [2, 8, 64])
@pytest.mark.parametrize("spread", [0.0, 1.0], ids=["unit", "lognormal"])
def test_random_graphs_are_solved_without_fill_in(
    p: int, spread: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_linear, "Direct", None)  # whoever calls it fails
    edges = regular(10_000)
    lengths = np.exp(spread * np.random.default_rng(1).normal(size=edges.shape[1]))
    graph, labels = labelled(edges, lengths)
    extension = wf.extend(graph, labels, wf.PLaplacian(p), unreachable="nan")
    assert extension.width <= 1e-12 * labels.span
    assert extension.residual <= 1e-13 * labels.span


def test_the_number_of_solves_decides_as_well() -> None:
    graph, labels = labelled(lattice(80, 80))
    free = np.flatnonzero(~labels.mask(graph))
    assert not Interior.of(graph, free).factors_well
    assert Interior.of(graph, free, solves=100).factors_well


def test_the_jacobians_are_factored_where_the_laplacian_is() -> None:
    graph = wf.grid_graph(wf.load_layout("antmaze-large"), 12)
    labels = wf.sample_labels(graph, 7, 0.02, seed=54)
    free = np.flatnonzero(~labels.mask(graph))
    assert not Interior.of(graph, free).factors_well
    system = System(Interior.of(graph, free, solves=plaplacian.SOLVES))
    ordered = plaplacian.ordered_interior(system, wf.extend(graph, labels, wf.Harmonic()).problem())
    assert type(_linear.general_solver(ordered, ordered.conductances)) is Thin


def test_an_iteration_that_fails_ends_with_a_status(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, labels = labelled(regular(3_000))
    monkeypatch.setattr(laplacian, "MOST_STEPS", 1)
    monkeypatch.setattr(Iterative.attempt, "__defaults__", (None, 1))
    extension = wf.extend(graph, labels, wf.Harmonic(), unreachable="nan", check=False)
    assert extension.status == wf.Status.UNVERIFIED
    assert extension.lower is None
    power = wf.extend(graph, labels, wf.PLaplacian(8), unreachable="nan", check=False)
    assert not power.status.good or power.lower is not None


# ------------------------------------------------------------------ a limit on time


def test_a_time_limit_ends_a_solve() -> None:
    edges = regular(30_000)
    lengths = 10.0 ** np.random.default_rng(1).uniform(-5, 5, edges.shape[1])
    graph, labels = labelled(edges, lengths)
    wf.extend(*labelled(regular(2_500)), wf.Harmonic(), unreachable="nan")  # compiled
    began = time.perf_counter()
    with pytest.raises(OutOfTime, match=r"^the time limit of 0.3 s ran out$"), time_limit(0.3):
        wf.extend(graph, labels, wf.PLaplacian(8), unreachable="nan", check=False)
    assert time.perf_counter() - began < 20.0


def test_a_time_limit_is_heeded_between_solves_that_do_not_look_at_the_clock() -> None:
    path = wf.Graph.from_edges(range(4), range(1, 5))
    noisy, good = wf.Labels([0, 2, 4], [0.0, 5.0, 4.0]), wf.Labels([0, 4], [0.0, 4.0])
    with time_limit(0.0):
        assert wf.drop_false_sinks(path, good, 0).rounds == 0  # the first round is also the last
        with pytest.raises(OutOfTime):
            wf.drop_false_sinks(path, noisy, 0)
        with pytest.raises(OutOfTime):
            wf.extend_many(path, [good, noisy], wf.NearestLabel())


def test_a_time_limit_reaches_the_threads_of_many_solves() -> None:
    maze = wf.grid_graph(wf.load_layout("antmaze-medium"), 4)
    goals = [wf.sample_labels(maze, goal, 0.05, seed=54) for goal in range(4)]
    with pytest.raises(OutOfTime), time_limit(0.0):
        wf.extend_many(maze, goals, wf.PLaplacian(8), workers=2)
    assert len(wf.extend_many(maze, goals, wf.PLaplacian(8), workers=2)) == 4


def test_the_first_limit_to_end_counts_and_a_limit_ends_with_its_block() -> None:
    graph, labels = labelled(lattice(20, 20))
    with time_limit(None), time_limit(1e6):
        wf.extend(graph, labels, wf.Harmonic())
    with time_limit(0.0), time_limit(1e6), pytest.raises(OutOfTime, match="limit of 0 s"):
        wf.extend(graph, labels, wf.Harmonic())
    assert wf.extend(graph, labels, wf.Harmonic()).status.good


def test_out_of_time_is_a_not_converged_that_travels() -> None:
    error = pickle.loads(pickle.dumps(OutOfTime(2.5)))
    assert isinstance(error, wf.NotConverged)
    assert (error.seconds, error.status) == (2.5, "the time limit of 2.5 s ran out")
    assert error.width == np.inf


@pytest.mark.parametrize("seconds", [-1.0, np.nan, "1"])
def test_bad_limits(seconds: object) -> None:
    with pytest.raises(wf.InputError, match="time limit must be"), time_limit(seconds):  # type: ignore[arg-type]
        pass
