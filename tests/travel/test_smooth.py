"""Tomography: rays and prior against naive twins, costs met, and what must be so."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray

import wayfield as wf
from wayfield import travel
from wayfield.numerics.csr import Arcs
from wayfield.numerics.shortest import shortest_tree
from wayfield.travel import MendProblem
from wayfield.travel import slowness as prior
from wayfield.travel import smooth as tomography
from wayfield.travel.fitting import make_problem
from wayfield.travel.kernels.rays import Rays, pair_up, trace
from wayfield.travel.slowness import slowness_of
from worlds import network, path, random_graph

Floats = NDArray[np.float64]


def maze(side: int = 12) -> wf.Graph:
    return wf.grid_graph(wf.Layout.from_text("\n".join(["." * 2] * 2)), side // 2)


def slowed(graph: wf.Graph) -> wf.Graph:
    """The graph as it is in a world that is slow on one side."""
    places = graph.positions
    assert places is not None
    slow = np.where(places[:, 0] > places[:, 0].mean(), 4.0, 1.0)
    factor = (slow[graph.tails] + slow[graph.indices]) / 2
    return wf.Graph.from_edges(
        graph.tails, graph.indices, graph.lengths * factor, graph.num_vertices, directed=True
    )


def measured(world: wf.Graph, goal: int, count: int, seed: int = 0) -> wf.Labels:
    rng = np.random.default_rng(seed)
    truth = wf.cost_to_go(world, goal)
    others = np.setdiff1d(np.arange(world.num_vertices), [goal])
    vertices = np.append(rng.choice(others, count, replace=False), goal)
    return wf.Labels(vertices, truth[vertices])


# ------------------------------------------------------------------ kernels and prior


@pytest.mark.parametrize("seed", range(5))
def test_rays_are_shortest_ways(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 15, backbone="tree", directed=seed % 2 == 1, two_way=1.0)
    starts = np.arange(1, graph.num_vertices)
    problem = make_problem(graph, travel.Trips(starts, np.zeros_like(starts), np.ones(starts.size)))
    cost, _, slot = shortest_tree(problem.arcs_to(graph.lengths), np.zeros(1, int), np.zeros(1))
    rays = Rays(*trace(graph.indices, problem.into, slot, starts))
    twin = network(graph)
    assert (rays.ends == 0).all()
    assert np.unique(rays.marks).size == starts.size
    for i, x in enumerate(starts):
        arcs = rays.arcs[rays.indptr[i] : rays.indptr[i + 1]]
        assert graph.tails[arcs[0]] == x
        assert (graph.indices[arcs[:-1]] == graph.tails[arcs[1:]]).all()
        least = nx.shortest_path_length(twin, int(x), 0, "weight")
        assert graph.lengths[arcs].sum() == pytest.approx(least) == cost[x]


def test_walks_that_end_where_they_start_are_empty() -> None:
    graph = path(3)
    none = np.full(3, -1, np.int64)
    rays = Rays(*trace(graph.indices, none, none, np.array([2])))
    assert rays.arcs.size == 0
    assert rays.ends.tolist() == [2]


@pytest.mark.parametrize("seed", range(5))
def test_clusters_are_few_and_connected(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 40, backbone="tree")
    cluster, count = pair_up(graph.arcs)
    assert set(cluster) == set(range(count))
    assert count <= graph.num_vertices // 2
    undirected = network(graph).to_undirected()
    for which in range(count):
        assert nx.is_connected(undirected.subgraph(np.flatnonzero(cluster == which).tolist()))


def test_a_star_is_one_cluster_and_loners_stay_alone() -> None:
    star = wf.Graph.from_edges([0] * 9, range(1, 10), num_vertices=12)
    cluster, count = pair_up(star.arcs)
    assert count == 3
    assert (cluster[:10] == 0).all()


def test_the_heaviest_arc_is_paired_first() -> None:
    graph = path(3, [1.0, 5.0])
    cluster, _ = pair_up(Arcs(graph.indptr, graph.indices, graph.lengths))
    assert cluster.tolist() == [0, 0, 0]  # 0 takes 1; 2 joins the one it is tied to
    cluster, _ = pair_up(path(4, [1.0, 5.0, 1.0]).arcs)
    assert cluster.tolist() == [0, 0, 1, 1]


def test_the_prior_is_that_of_the_formula() -> None:
    graph = random_graph(np.random.default_rng(3), 25, lengths="real")
    slowness = slowness_of(graph, "arc")
    weights = graph.to_scipy().toarray()
    weights[weights > 0] = np.minimum(
        np.median(graph.lengths) / weights[weights > 0], 1 / prior.SHORTEST
    )
    laplacian = np.diag(weights.sum(axis=1)) - weights
    expected = np.linalg.inv(laplacian + prior.RANGE * np.eye(25))
    n = graph.num_vertices
    np.testing.assert_allclose(slowness.covariance[:n, :n], expected, rtol=1e-9)
    np.testing.assert_allclose(slowness.covariance[n:, n:], np.eye(2) / (2 * prior.COMMON))
    alone = slowness_of(graph)
    assert alone.size == n + 1
    assert alone.covariance[n, n] == pytest.approx(1 / prior.COMMON)
    per_arc = slowness.per_arc.toarray()
    slow = np.random.default_rng(0).normal(size=n)
    added = graph.lengths * (slow[graph.tails] + slow[graph.indices]) / 2
    np.testing.assert_allclose(per_arc @ np.append(slow, [0.0, 0.0]), added, atol=1e-12)
    np.testing.assert_allclose(per_arc[:, n], graph.lengths)
    np.testing.assert_allclose(per_arc[:, n + 1], np.median(graph.lengths))


def test_a_basis_of_clusters_is_close_to_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = maze(20)
    whole = slowness_of(graph, "arc")
    monkeypatch.setattr(prior, "MOST", 150)
    few = slowness_of(maze(20), "arc")
    assert whole.size == graph.num_vertices + 2
    assert 75 <= few.size <= 152
    ones = np.append(np.ones(few.size - 2), [0.0, 0.0])
    np.testing.assert_allclose(few.per_arc @ ones, graph.lengths, rtol=0.05)
    row = np.zeros(graph.num_arcs)
    row[:60] = 1.0
    spread = [float((row @ s.per_arc) @ s.covariance @ (row @ s.per_arc)) for s in (whole, few)]
    assert spread[1] == pytest.approx(spread[0], rel=0.1)


@pytest.mark.parametrize("piece", [1, 2])
def test_small_pieces_leave_clusters_for_the_large_one(piece: int) -> None:
    graph = maze(40)
    n, enough, count = graph.num_vertices, 100, 300
    tails = n + piece * np.arange(count if piece > 1 else 0)
    apart = wf.Graph.from_edges(
        np.append(graph.tails, tails), np.append(graph.indices, tails + 1),
        num_vertices=n + piece * count,
    )  # fmt: skip
    basis = prior._clusters(apart.to_scipy(), enough)
    assert basis.shape[1] <= enough + 1
    assert np.unique(basis[:n].indices).size >= enough // 4
    assert (basis.sum(axis=1) == 1).all()


def test_the_prior_is_computed_once_per_graph() -> None:
    graph = maze(6)
    assert slowness_of(graph) is slowness_of(graph)
    assert slowness_of(maze(6)) is not slowness_of(graph)


def test_one_equation_per_ray_or_per_coefficient_is_the_same() -> None:
    graph = maze(8)
    world = slowed(graph)
    problem = make_problem(graph, measured(world, 0, 40), 0)
    rays = tomography._Rays(problem, slowness_of(graph), 0.0, True)
    rays.renew(graph.lengths)
    wanted = rays.wanted - rays.ways @ graph.lengths
    posterior = tomography._Posterior(slowness_of(graph))
    zero = np.zeros(slowness_of(graph).size)
    by_rays = posterior._by_rays(rays, wanted, 2.0)
    direct = posterior._by_coefficients(rays, wanted, 2.0, zero)
    iterated = posterior._by_coefficients(rays, wanted * 1.1, 2.0, zero) / 1.1
    scale = np.abs(by_rays).max()
    np.testing.assert_allclose(direct, by_rays, atol=1e-7 * scale)
    np.testing.assert_allclose(iterated, by_rays, atol=1e-4 * scale)


# ------------------------------------------------------------------ the fit


@pytest.mark.parametrize("directed", [False, True])
def test_a_slow_side_is_found(directed: bool) -> None:
    graph = maze(16)
    world = slowed(graph)
    if directed:
        graph = wf.Graph.from_edges(
            graph.tails, graph.indices, graph.lengths, graph.num_vertices, True, graph.positions
        )
    mended = travel.mend(graph, measured(world, 0, 60), 0, travel.Smooth())
    slow = world.lengths > 1.5
    assert mended.added[slow].mean() > 5 * np.abs(mended.added[~slow]).mean()
    truth = wf.cost_to_go(world, 0)
    before = np.abs(wf.cost_to_go(graph, 0) - truth).mean()
    assert np.abs(wf.cost_to_go(mended.graph, 0) - truth).mean() < 0.3 * before
    assert mended.value < 0.05 * truth.mean()


def test_costs_are_met_on_a_path() -> None:
    graph = path(60)
    rng = np.random.default_rng(0)
    world = path(60, 1.0 + 3.0 * (np.arange(59) > 30) + 0.1 * rng.random(59))
    mended = travel.mend(graph, measured(world, 0, 30), 0, travel.Smooth())
    assert mended.value < 0.01 * wf.cost_to_go(world, 0).mean()


@pytest.mark.parametrize("factor", [1e-6, 0.002, 0.1, 0.5, 3.0, 60.0, 1e6])
def test_a_wrong_unit_is_a_factor_of_the_whole_graph(factor: float) -> None:
    graph = maze(12)
    labels = wf.sample_labels(graph, 0, count=10)
    scaled = wf.Labels(labels.vertices, factor * labels.values)
    mended = travel.mend(graph, scaled, 0, travel.Smooth())
    np.testing.assert_allclose(mended.graph.lengths, factor, rtol=0.15)
    assert mended.value < 0.15 * scaled.values.mean()


def test_a_price_per_arc_is_told_from_a_price_per_length() -> None:
    rng = np.random.default_rng(0)
    graph = path(80, rng.uniform(0.2, 5.0, 79))
    lengths = np.array([graph.to_scipy()[x, x + 1] for x in range(79)])
    world = path(80, lengths + 3.0)
    mended = travel.mend(graph, measured(world, 0, 25), 0, travel.Smooth())
    fitted = np.array([mended.graph.to_scipy()[x, x + 1] for x in range(79)])
    assert np.abs(fitted - lengths - 3.0).mean() < 0.5


@pytest.mark.parametrize("directed", [False, True])
def test_a_price_per_crossing_is_told_from_a_price_per_arc(directed: bool) -> None:
    rng = np.random.default_rng(0)
    street, lanes = np.arange(80), np.repeat(np.flatnonzero(rng.random(80) < 0.3), 2)
    tails = np.concatenate([street[:-1], lanes])
    heads = np.concatenate([street[1:], 80 + np.arange(lanes.size)])
    if directed:
        tails, heads = np.concatenate([tails, heads]), np.concatenate([heads, tails])
    lengths = np.tile(rng.uniform(0.2, 5.0, 79 + lanes.size), 1 + directed)
    n, crossing = 80 + lanes.size, np.zeros(80 + lanes.size)
    crossing[lanes] = 1.0
    graph = wf.Graph.from_edges(tails, heads, lengths, n, directed)
    waits = crossing[heads] if directed else (crossing[tails] + crossing[heads]) / 2
    world = wf.Graph.from_edges(tails, heads, lengths + 6.0 * waits, n, directed)
    mended = travel.mend(graph, measured(world, 0, 25), 0, travel.Smooth())
    truth, found, plain = (wf.cost_to_go(g, 0) for g in (world, mended.graph, graph))
    assert np.abs(found - truth).mean() < 0.04 * np.abs(plain - truth).mean()
    if not directed:
        assert (mended.graph.to_scipy() != mended.graph.to_scipy().T).nnz == 0


@pytest.mark.parametrize("caution", [0.04, 0.2])
def test_caution_takes_small_deviations_for_none_and_keeps_the_sum(caution: float) -> None:
    graph = maze(12)
    labels = measured(slowed(graph), 0, 15)
    bold = travel.mend(graph, labels, 0, travel.Smooth()).graph
    calm = travel.mend(graph, labels, 0, travel.Smooth(caution=caution)).graph
    common = np.unique(calm.lengths, return_counts=True)
    assert common[1].max() > 5  # many arcs cost exactly what is common to all
    usual = common[0][common[1].argmax()]
    assert np.log(calm.lengths / usual).max() < np.log(bold.lengths / bold.lengths.min()).max()
    assert np.log(calm.lengths / usual).max() > 0.25  # what is slow indeed stays so
    costs = [wf.cost_to_go(g, 0)[labels.vertices].sum() for g in (bold, calm)]
    assert costs[1] == pytest.approx(costs[0], rel=1e-9)


@pytest.mark.parametrize("unit", [2.0**-10, 2.0**12])
def test_scaling_lengths_and_costs_scales_the_fit(unit: float) -> None:
    graph = maze(12)
    labels = measured(slowed(graph), 0, 15)
    once = travel.mend(graph, labels, 0, travel.Smooth())
    scaled = wf.Graph.from_edges(
        graph.tails, graph.indices, unit * graph.lengths, graph.num_vertices
    )
    twice = travel.mend(
        scaled, wf.Labels(labels.vertices, unit * labels.values), 0, travel.Smooth()
    )
    np.testing.assert_allclose(twice.graph.lengths, unit * once.graph.lengths, rtol=1e-9)


def test_no_arc_falls_below_a_tenth() -> None:
    graph = maze(12)
    places = [0, 60, 100, 143]
    cheap = wf.Labels(places, [0.0, 0.5, 0.03, 0.3] * wf.cost_to_go(graph, 0)[places])
    mended = travel.mend(graph, cheap, 0, travel.Smooth())
    assert mended.graph.lengths.min() >= 0.1 * (1 - 1e-12)


def test_an_undirected_edge_costs_the_same_both_ways() -> None:
    graph = maze(12)
    mended = travel.mend(graph, measured(slowed(graph), 0, 15), 0, travel.Smooth()).graph
    assert not mended.directed
    costs = mended.to_scipy()
    assert (costs != costs.T).nnz == 0


def test_right_costs_leave_the_graph_as_it_is() -> None:
    graph = maze(12)
    labels = wf.sample_labels(graph, 0, count=20)
    mended = travel.mend(graph, labels, 0, travel.Smooth())
    assert mended.unchanged
    assert mended.graph is graph
    assert mended.value == 0.0


def test_costs_within_their_error_say_nothing() -> None:
    graph = maze(12)
    labels = wf.sample_labels(graph, 0, count=20)
    rough = wf.Labels(labels.vertices, 1.2 * labels.values, error=0.21 * labels.values.max())
    assert travel.mend(graph, rough, 0, travel.Smooth()).unchanged
    assert travel.mend(graph, rough, 0).chosen == "plain"


def test_trips_serve_goals_that_none_led_to() -> None:
    graph = maze(16)
    world = slowed(graph)
    rng = np.random.default_rng(1)
    hubs, goal = np.array([0, 100, 255]), 130
    starts = rng.choice(np.setdiff1d(np.arange(256), [*hubs, goal]), 60, replace=False)
    ends = hubs[np.arange(60) % 3]
    costs = np.array([wf.cost_to_go(world, int(y))[x] for x, y in zip(starts, ends, strict=False)])
    mended = travel.mend(graph, travel.Trips(starts, ends, costs), method=travel.Smooth())
    truth = wf.cost_to_go(world, goal)
    before = np.abs(wf.cost_to_go(graph, goal) - truth).mean()
    assert np.abs(wf.cost_to_go(mended.graph, goal) - truth).mean() < 0.5 * before


def test_noise_is_not_fitted() -> None:
    graph = maze(16)
    rng = np.random.default_rng(0)
    labels = wf.sample_labels(graph, 0, count=60)
    noisy = wf.Labels(labels.vertices, labels.values * rng.lognormal(sigma=0.3, size=len(labels)))
    off = {
        noise: np.abs(travel.mend(graph, noisy, 0, travel.Smooth(noise=noise)).added).mean()
        for noise in (0.0, 0.3)
    }
    assert off[0.3] < 0.3 * off[0.0]


@pytest.mark.parametrize("kind", ["upper", "error"])
def test_costs_that_are_not_exact_prove_no_way_too_cheap(kind: str) -> None:
    graph = maze(12)
    labels = measured(slowed(graph), 0, 30)
    few = travel.Smooth(rounds=tomography.NOISY_ROUNDS)  # more rounds change nothing
    if kind == "upper":
        mended, same = (
            travel.mend(graph, labels, 0, m, bound="upper") for m in (travel.Smooth(), few)
        )
    else:
        rough = wf.Labels(labels.vertices, labels.values, error=1.0)
        mended, same = (travel.mend(graph, rough, 0, m) for m in (travel.Smooth(), few))
    np.testing.assert_array_equal(mended.graph.lengths, same.graph.lengths)
    assert mended.value < np.abs(wf.cost_to_go(graph, 0)[labels.vertices] - labels.values).mean()


def test_more_rays_than_coefficients() -> None:
    graph = maze(8)
    labels = measured(slowed(graph), 0, 60)
    mended = travel.mend(graph, labels, 0, travel.Smooth())
    assert mended.value < 0.2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rounds": 0}, "rounds"),
        ({"rounds": 2.5}, "rounds"),
        ({"noise": -0.1}, "noise"),
        ({"noise": np.nan}, "noise"),
        ({"caution": -0.1}, "caution"),
    ],
)
def test_settings_that_make_no_sense(settings: dict[str, float], message: str) -> None:
    with pytest.raises(wf.errors.InputError, match=message):
        travel.Smooth(**settings)  # type: ignore[arg-type]


def test_the_problem_is_left_alone() -> None:
    graph = maze(8)
    problem = make_problem(graph, measured(slowed(graph), 0, 20), 0)
    before = MendProblem(graph, problem.starts.copy(), problem.ends.copy(), problem.costs.copy())
    travel.Smooth().fit(problem)
    assert (problem.costs == before.costs).all()
    assert (graph.lengths == 1.0).all()
