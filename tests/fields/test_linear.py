"""Harmonic and p-Laplacian: solvers chosen by structure, hostile scales, limits of time."""

from __future__ import annotations

import pickle
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wayfield as wf
from exact import contains, exact_harmonic
from exact_plaplacian import contains as contains_in_60_digits
from exact_plaplacian import exact_plaplacian, tilt
from wayfield.errors import OutOfTime
from wayfield.fields import Extension, harmonic, plaplacian, time_limit
from wayfield.fields import linear as _linear
from wayfield.fields.harmonic import System
from wayfield.fields.kernels import violations
from wayfield.fields.linear import Direct, Interior, Thin
from wayfield.fields.proof import Enclosed
from wayfield.numerics import laplacian
from wayfield.numerics.doubledouble import Pair
from wayfield.numerics.elimination import Fill, fill_counts, fill_in
from wayfield.numerics.laplacian import Iterative
from worlds import BACKBONES, labelled_graphs, maze_problem, path, random_graph, random_labels


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


# ------------------------------------------------------------------ solvers, chosen by structure


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


# ------------------------------------------------------------------ harmonic


@pytest.fixture
def iterative(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every system is solved by iteration."""
    monkeypatch.setattr(_linear.Interior, "factors_well", False)


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


@pytest.mark.parametrize("seed", range(5))
def test_many_goals_of_any_scale(seed: int) -> None:
    """Shared factorisations overflow or turn singular: a bracket then contains, or is not there."""
    rng = np.random.default_rng(seed)
    spread = rng.choice([10, 50, 100])
    graph = random_graph(
        rng, 14, lambda rng, m: 10.0 ** (spread * rng.uniform(-1, 1, m)), backbone="tree", edges=10
    )
    values = [0.0, 1e50, -1e-50, 1.0]
    goals = [wf.Labels([0, 5, 9, goal], values) for goal in (1, 2, 3)]
    for labels, field in zip(
        goals, wf.extend_many(graph, goals, wf.Harmonic(), check=False), strict=True
    ):
        assert np.isfinite(field.values).all()
        if field.lower is not None:
            assert contains(field, exact_harmonic(graph, labels))


def test_a_goal_that_sharing_harms_is_solved_on_its_own() -> None:
    """What only the goal's label holds hangs by two long edges from what the goals share."""
    tails = [0, 0, 0, 1, 1, 1, 2, 7, 7, 8, 8, 8, 9]
    heads = [1, 2, 7, 4, 5, 6, 3, 8, 9, 10, 11, 12, 13]
    lengths = [0.6, 1e12, 48.0, 0.1, 10.0, 0.08, 1e12, 1e12, 0.01, 94.0, 0.02, 0.04, 0.01]
    graph = wf.Graph.from_edges(tails, heads, lengths)
    goals = [wf.Labels([11, v], [0.0, -1e6]) for v in (9, 6, 10, 13)]
    fields = wf.extend_many(graph, goals, wf.Harmonic())
    for labels, field in zip(goals, fields, strict=True):
        assert contains(field, exact_harmonic(graph, labels))
        assert field.width <= 1e-4


@settings(max_examples=40)
@given(labelled_graphs(max_vertices=20))
def test_barriers_are_sub_and_supersolutions_in_rationals(
    case: tuple[wf.Graph, wf.Labels],
) -> None:
    """The stored numbers themselves, before anything is rounded outward."""
    graph, labels = case
    evidence = harmonic_of(graph, labels).evidence
    assert isinstance(evidence, Enclosed)
    for side, barrier in ((-1, evidence.below), (1, evidence.above)):
        v = [Fraction(float(h)) + Fraction(float(x)) for h, x in zip(*barrier, strict=True)]
        for x in np.flatnonzero(~labels.mask(graph)):
            arcs = range(graph.indptr[x], graph.indptr[x + 1])
            flow = sum(
                (v[graph.indices[e]] - v[x]) / Fraction(float(graph.lengths[e])) for e in arcs
            )
            assert side * flow <= 0


def test_long_path_is_exact() -> None:
    n = 20_001
    extension = harmonic_of(path(n), wf.Labels([0, n - 1], [0.0, float(n - 1)]))
    assert (extension.values == np.arange(n)).all()
    assert extension.width <= 2 * np.spacing(n)


def test_maze_bracket_is_a_few_units_in_the_last_place() -> None:
    graph, labels = maze_problem("antmaze-large", 8, goal=100, fraction=0.02)
    extension = harmonic_of(graph, labels)
    assert extension.width <= 1e-15 * labels.span
    assert extension.residual <= 1e-15 * labels.span
    without = harmonic_of(graph, labels, bracket=False)
    assert without.lower is None
    assert without.upper is None
    assert (without.values == extension.values).all()


def test_a_harmonic_bracket_that_fails_is_not_handed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harmonic, "drift", lambda arcs, vertices, w: np.zeros(vertices.size))
    labels = wf.Labels([0, 9], [0.0, 1.0])
    with pytest.raises(wf.NotConverged, match="bracket could not be verified"):
        harmonic_of(path(10), labels)
    extension = harmonic_of(path(10), labels, check=False)
    assert extension.status == wf.Status.UNVERIFIED
    assert extension.lower is None
    assert extension.upper is None


def test_components_with_one_label_are_exactly_constant() -> None:
    """Also beside a component that gives the labels a range, and with lengths far apart."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        tails, heads = np.arange(9), np.arange(1, 10)
        keep = heads != 5
        graph = wf.Graph.from_edges(tails[keep], heads[keep], 10.0 ** rng.uniform(-8, 8, 8), 10)
        labels = wf.Labels([1, 6, 8], [0.1, -1.0, 1.0])
        field = wf.extend(graph, labels, wf.Harmonic(), check=False)
        assert (field.values[:5] == 0.1).all()


def harmonic_of(
    graph: wf.Graph, labels: wf.Labels, check: bool = True, **settings: bool
) -> Extension:
    return wf.extend(graph, labels, wf.Harmonic(**settings), check=check)


# ------------------------------------------------------------------ p-Laplacian


EXTREME = [1024.0, 65536.0]


def solve(
    graph: wf.Graph, labels: wf.Labels, p: float, check: bool = True, **options: object
) -> Extension:
    return wf.extend(graph, labels, wf.PLaplacian(p, **options), check=check)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def maze() -> tuple[wf.Graph, wf.Labels]:
    return maze_problem("antmaze-medium", goal=7)


@pytest.mark.parametrize("p", EXTREME)
def test_extreme_powers(p: float) -> None:
    graph = wf.grid_graph(wf.Layout.from_text("....\n.#..\n...."), 1)
    labels = wf.Labels([0, 4, 10], [0.0, 1.0, 7.0])
    extension = solve(graph, labels, p)
    assert extension.details["equation"] <= 1e-13
    assert contains_in_60_digits(extension, exact_plaplacian(graph, labels, p, extension.values))


def magnitudes(size: int) -> st.SearchStrategy[list[float]]:
    """Numbers of one size or of many, up to 1e±100."""
    return st.sampled_from([0, 10, 100]).flatmap(
        lambda spread: st.lists(
            (st.floats(-spread, spread) | st.sampled_from([-spread, spread])).map(
                lambda power: float(np.clip(10.0**power, 1e-100, 1e100))
            ),
            min_size=size,
            max_size=size,
        )
    )


@st.composite
def hostile_labels(draw: st.DrawFn, size: int) -> np.ndarray:
    """Labels of any size and sign, or next to each other."""
    whole = np.array(draw(st.lists(st.integers(-3, 3), min_size=size, max_size=size)))
    if draw(st.booleans()):
        return 1.0 + whole * 2.0**-52
    return np.sign(whole) * draw(magnitudes(size))


ANY_POWER = st.sampled_from([2.0, 2.000001, 2.5, 3.0, 8.0, 64.0, 1024.0, 65536.0])


def check_figures(extension: Extension) -> None:
    """No NaN anywhere, and values inside whatever bracket there is."""
    assert np.isfinite(extension.values).all()
    assert not np.isnan([extension.residual, *extension.details.values()]).any()
    assert (extension.lower is None) == (extension.upper is None)
    if extension.lower is not None:
        assert (extension.lower <= extension.values).all()
        assert (extension.values <= extension.upper).all()


@settings(max_examples=60)
@given(st.data(), st.integers(2, 6), ANY_POWER)
def test_stars_of_any_scale_stay_inside_their_bracket(
    data: st.DataObject, leaves: int, p: float
) -> None:
    """With one free vertex a bound is right if and only if its own equation says so."""
    lengths = data.draw(magnitudes(leaves))
    values = data.draw(hostile_labels(leaves))
    star = wf.Graph.from_edges(np.zeros(leaves, int), np.arange(1, leaves + 1), lengths)
    extension = wf.extend(
        star, wf.Labels(np.arange(1, leaves + 1), values), wf.PLaplacian(p), check=False
    )
    check_figures(extension)
    for bound, side in ((extension.lower, 1), (extension.upper, -1)):
        if bound is not None:
            assert side * tilt(star, [Fraction(float(v)) for v in bound], 0, p) >= 0


@settings(max_examples=60)
@given(st.data(), st.integers(2, 6), ANY_POWER)
def test_what_is_sure_is_so(data: st.DataObject, leaves: int, p: float) -> None:
    lengths = data.draw(magnitudes(leaves))
    star = wf.Graph.from_edges(np.zeros(leaves, int), np.arange(1, leaves + 1), lengths)
    high = data.draw(hostile_labels(leaves + 1))
    low = high * data.draw(st.sampled_from([0.0, 2.0**-54, -(2.0**-60)]))
    exact = [Fraction(float(a)) + Fraction(float(b)) for a, b in zip(high, low, strict=True)]
    for side in (-1, 1):
        unsure = violations(star.arcs, np.array([0]), Pair(high, low), p - 1.0, side)
        assert unsure[0] or side * tilt(star, exact, 0, p) <= 0


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize(
    "values",
    [[np.nan, 0.0, 1.0], [0.0, np.nan, np.nan], [0.0, np.inf, 1.0], [np.inf, np.inf, np.inf]],
    ids=["vertex", "all neighbours", "infinite neighbour", "all infinite"],
)
def test_fields_that_are_no_numbers_prove_nothing(values: list[float], side: int) -> None:
    star = wf.Graph.from_edges([0, 0], [1, 2])
    field = Pair(np.array(values), np.zeros(3))
    assert violations(star.arcs, np.array([0]), field, 3.0, side).all()


def test_slopes_that_underflow_prove_nothing() -> None:
    steep = wf.Graph.from_edges([0, 0], [1, 2], lengths=[1e100, 1e100])
    field = Pair(np.array([0.0, 1e-300, 0.0]), np.zeros(3))
    assert violations(steep.arcs, np.array([0]), field, 3.0, 1).all()
    level = Pair(np.full(3, 1e-300), np.zeros(3))
    assert not violations(steep.arcs, np.array([0]), level, 3.0, 1).any()


def test_distance_to_the_amle_falls_like_one_over_p(maze: tuple[wf.Graph, wf.Labels]) -> None:
    amle = wf.extend(*maze, wf.AMLE()).values
    powers = np.array([16.0, 64.0, 256.0, 1024.0])
    distance = np.array([np.abs(solve(*maze, p).values - amle).max() for p in powers])
    rate = np.log(distance[:-1] / distance[1:]) / np.log(4.0)
    assert (distance * powers <= 4 * distance[0] * powers[0]).all()
    assert (rate[1:] > 0.8).all()


@pytest.mark.parametrize("p", [2.5, 4.0, 8.0, 16.0, 128.0])
def test_maze_meets_its_figures(maze: tuple[wf.Graph, wf.Labels], p: float) -> None:
    graph, labels = maze
    extension = solve(graph, labels, p)
    assert extension.details["equation"] <= 1e-13
    assert extension.details["width"] <= 1e-11
    assert extension.details["factorisations"] <= 25
    assert extension.details["gap"] <= 1e-6
    assert extension.residual <= 1e-13 * labels.span
    without = solve(graph, labels, p, bracket=False)
    assert without.lower is None
    np.testing.assert_allclose(without.values, extension.values, rtol=0, atol=extension.width)


@pytest.mark.parametrize("p", [64.0, 128.0, 1024.0])
def test_a_region_whose_slopes_are_all_noise(p: float) -> None:
    """Three labels close together: the rest of the maze is flat up to what p leaks into it."""
    graph = wf.grid_graph(wf.load_layout("antmaze-medium"), 2)
    extension = solve(graph, wf.Labels([23, 31, 32], [2.0, 1.0, 0.0]), p)
    assert np.isfinite(extension.values).all()
    assert extension.details["width"] <= 1e-9
    assert extension.residual <= 1e-15


def test_a_cap_that_runs_out(maze: tuple[wf.Graph, wf.Labels]) -> None:
    with pytest.raises(wf.NotConverged, match="cap on iterations") as caught:
        solve(*maze, 16.0, max_steps=1)
    assert caught.value.residual > 0
    partial = solve(*maze, 16.0, max_steps=1, check=False)
    assert partial.status == wf.Status.BUDGET
    exact = solve(*maze, 16.0).values
    if partial.lower is not None:
        assert partial.upper is not None
        assert (partial.lower <= exact + 1e-9).all()
        assert (exact - 1e-9 <= partial.upper).all()


def test_a_bracket_that_fails_is_not_handed_out(
    maze: tuple[wf.Graph, wf.Labels], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plaplacian, "MOST_BOUND_ATTEMPTS", 0)
    with pytest.raises(wf.NotConverged, match="bracket could not be verified"):
        solve(*maze, 4.0)
    extension = solve(*maze, 4.0, check=False)
    assert extension.status == wf.Status.UNVERIFIED
    assert extension.lower is None
