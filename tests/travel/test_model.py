"""The model beside naive twins: dense formulas, other optimisers, and simulated trips."""

from __future__ import annotations

import pickle

import networkx as nx
import numpy as np
import pytest
from scipy.stats import multivariate_normal, spearmanr

import wayfield as wf
from travel.made import city, drive, pairs, times, with_lengths
from wayfield import travel
from wayfield.errors import InputError
from wayfield.travel import model as models
from wayfield.travel.evidence import FLOOR, Evidence
from wayfield.travel.network import FREEDOM, Network, kernel, variance
from worlds import network as as_networkx


def dense_covariance(net: Network, term: str) -> np.ndarray:
    """The covariance of the slowness of all edges, by its definition."""
    n, e = net.graph.num_vertices, net.given.size
    if term == "common":
        return np.ones((e, e))
    if term == "load":
        return np.outer(net.load, net.load)
    if term == "wait":
        return np.outer(net.crossing, net.crossing)
    if term == "own":
        return np.diag(net.heavy**2)
    weights = np.zeros((n, n))
    for x, y, length in zip(net.graph.tails, net.graph.indices, net.graph.lengths, strict=True):
        weights[x, y] += min(net.unit / length, 20.0) / 2
        weights[y, x] += min(net.unit / length, 20.0) / 2
    field = np.linalg.inv(np.diag(weights.sum(axis=1) + FREEDOM) - weights)
    probe = np.random.default_rng(0).choice(n, min(n, 20), replace=False)
    field /= np.mean(np.diag(field)[probe])
    half = np.zeros((e, n))
    half[np.arange(e), net.tails] += 0.5
    half[np.arange(e), net.heads] += 0.5
    return half @ field @ half.T


@pytest.mark.parametrize("directed", [False, True])
def test_predictions_are_those_of_the_dense_formulas(directed: bool) -> None:
    graph = city(1, directed, side=6)
    world = with_lengths(graph, graph.lengths * 1.3)
    trips, _ = drive(world, 2, 15)
    model = travel.fit(graph, trips)
    net, rng = model.network, np.random.default_rng(3)
    starts, ends = pairs(rng, graph.num_vertices, 7).T
    A = net.routes(model.times, trips.starts, trips.ends)[0].toarray()
    B = net.routes(model.times, starts, ends)[0].toarray()
    base, k = model.factor * net.given, len(trips)
    terms = ("common", "smooth", "load", "own", "wait")
    theta = np.array([0.02, 0.01, 0.03, 0.02, 0.01, 0.003])
    S = sum(t * dense_covariance(net, term) for t, term in zip(theta, terms, strict=False))
    unit = model.unit
    C = np.diag(1 / unit) @ A @ np.diag(base) @ S @ np.diag(base) @ A.T @ np.diag(1 / unit)
    C += (theta[-1] + FLOOR) * np.eye(k) + np.diag(model._own_noise)
    X = B @ np.diag(base) @ S @ np.diag(base) @ A.T @ np.diag(1 / unit)
    y = (trips.times - A @ base) / unit
    mean = B @ base + X @ np.linalg.solve(C, y)
    prior = np.diag(B @ np.diag(base) @ S @ np.diag(base) @ B.T)
    sd = np.sqrt(prior - np.diag(X @ np.linalg.solve(C, X.T)) + theta[-1] * mean**2)

    from dataclasses import replace

    model._route(model.times)
    one = model._evidence(terms).solver(theta)
    model._draws = [replace(model._draws[0], terms=terms, theta=theta, weight=1.0, solver=one)]
    model._best = model._draws[0]
    found = model.moments(starts, ends)
    np.testing.assert_allclose(found[0], mean, rtol=1e-8)
    np.testing.assert_allclose(found[1], sd, rtol=1e-6)
    joint_mean, covariance, noise, _ = model.joint(starts, ends)
    np.testing.assert_allclose(joint_mean, mean, rtol=1e-8)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance) + noise), sd, rtol=1e-6)


def test_kernels_agree_with_each_other() -> None:
    graph = city(4, directed=True)
    trips, ends = drive(graph, 5, 12)
    model = travel.fit(graph, trips, classes=np.arange(graph.num_arcs) % 3)
    rows = model._rows
    for term in ("common", "smooth", "load", "own", "wait", "class", "start", "ends"):
        K = kernel(term, rows, rows)
        np.testing.assert_allclose(K, K.T, atol=1e-10)
        np.testing.assert_allclose(np.diag(K), variance(term, rows), rtol=1e-9)
        assert np.linalg.eigvalsh(K).min() > -1e-8
        some = np.array([3, 1, 8])
        np.testing.assert_allclose(kernel(term, rows.take(some), rows), K[some])
        swapped = rows.with_rows(some, rows.take(some[::-1].copy()))
        order = np.arange(12)
        order[some] = some[::-1]
        np.testing.assert_allclose(kernel(term, swapped, rows), K[order])
    # the slowness of edges, seen through routes, is the covariance of the routes
    w = np.random.default_rng(0).standard_normal(12)
    routes = model.network.routes(model.times, *ends.T)[0]
    through = (
        np.diag(1 / model.unit) @ routes.toarray() @ np.diag(model.factor * model.network.given)
    )
    for term in ("common", "smooth", "load", "own", "wait", "class"):
        slow = model.network.slowness(term, rows, w)
        np.testing.assert_allclose(through @ slow, kernel(term, rows, rows) @ w, atol=1e-9)


def test_the_evidence_is_the_normal_density_and_its_slope_is_right() -> None:
    rng = np.random.default_rng(0)
    factors = rng.standard_normal((3, 10, 4))
    kernels = factors @ factors.transpose(0, 2, 1)
    y, fixed = rng.standard_normal(10), np.diag(rng.random(10))
    noise = rng.uniform(1, 3, 10)
    evidence = Evidence(("smooth", "own", "start"), kernels, y, fixed, noise)
    z = rng.normal(-3, 1, 4)
    C = np.tensordot(np.exp(z[:3]), kernels, 1) + fixed + np.diag(np.exp(z[3]) * noise + FLOOR)
    off = z - evidence.centre
    prior = -0.5 * off @ evidence.precision @ off
    density = multivariate_normal(cov=C).logpdf(y) + 5 * np.log(2 * np.pi) + prior
    value, slope = evidence.loss(z)
    assert value == pytest.approx(-density)
    for i, step in enumerate(1e-6 * np.eye(4)):
        ratio = (evidence.loss(z + step)[0] - evidence.loss(z - step)[0]) / 2e-6
        assert slope[i] == pytest.approx(ratio, rel=1e-5, abs=1e-6)
    # two variances of slowness are small together; the third term has nothing to do with them
    shared = np.linalg.inv(evidence.precision)
    assert shared[0, 1] > 0.0
    assert shared[0, 2] == pytest.approx(0.0)


def test_laplace_is_close_to_the_integral_over_one_variance() -> None:
    rng = np.random.default_rng(1)
    y = 0.1 * rng.standard_normal(40)
    evidence = Evidence((), np.empty((0, 40, 40)), y)
    peak = evidence.peak()
    grid = np.linspace(-12, 1, 4001)
    heights = np.exp([-evidence.loss(np.array([z]))[0] - peak.height for z in grid])
    mass = np.log(heights.sum() * (grid[1] - grid[0]))
    exact = peak.height + mass + 0.5 * np.log(evidence.precision[0, 0] / (2 * np.pi))
    assert peak.evidence == pytest.approx(exact, abs=0.02)


@pytest.mark.parametrize("directed", [False, True])
def test_routes_are_shortest_paths(directed: bool) -> None:
    graph = city(6, directed)
    ends = pairs(np.random.default_rng(1), graph.num_vertices, 30)
    net = Network(graph)
    for ordered in (ends, ends[:, ::-1]):
        routes, far = net.routes(net.given, *ordered.T)
        np.testing.assert_allclose(far, times(graph, ordered), rtol=1e-12)
        np.testing.assert_allclose(routes @ net.given, far, rtol=1e-12)
    closed = net.given.copy()
    closed[0] = np.inf
    routes, _ = net.routes(closed, *ends.T)
    assert routes[:, [0]].nnz == 0
    wall = wf.Graph.from_edges([0, 2], [1, 3], num_vertices=4)
    routes, far = Network(wall).routes(np.ones(2), np.array([0, 0]), np.array([1, 3]))
    assert far.tolist() == [1.0, np.inf]
    assert routes.nnz == 1


def test_betweenness_is_networkx() -> None:
    graph = city(2, directed=True, side=5)
    wanted = nx.edge_betweenness_centrality(as_networkx(graph), weight="weight", normalized=False)
    found = Network(graph).betweenness() * graph.num_vertices**2
    pairs_ = zip(graph.tails.tolist(), graph.indices.tolist(), strict=True)
    np.testing.assert_allclose(found, [wanted[pair] for pair in pairs_], rtol=1e-9)


def test_an_undirected_graph_stays_undirected() -> None:
    graph = city(3)
    trips, _ = drive(with_lengths(graph, 2 * graph.lengths), 1, 20)
    found = travel.fit(graph, trips).graph
    assert not found.directed
    assert Network(graph).opposite.tolist() == list(range(graph.num_edges))


def slowed(graph: wf.Graph, seed: int, share: float) -> wf.Graph:
    """A world drawn from the model: smooth slowness and an own deviation of each road."""
    net, rng = Network(graph), np.random.default_rng(seed)
    S = dense_covariance(net, "smooth") + 0.3 * dense_covariance(net, "own")
    slow = np.maximum(
        1.0 + np.sqrt(share) * np.linalg.cholesky(S) @ rng.standard_normal(len(S)), 0.3
    )
    return with_lengths(graph, graph.lengths * slow[net.edge])


def test_intervals_hold_what_they_say_and_predictions_beat_one_factor() -> None:
    inside, below, errors = [], [], []
    for seed in range(16):
        graph = city(seed, directed=seed % 2 == 0)
        world = slowed(graph, seed, 0.04)
        trips, _ = drive(world, 100 + seed, 40)
        ends = pairs(np.random.default_rng(200 + seed), graph.num_vertices, 60)
        truth = times(world, ends)
        after = truth * (1.0 + 0.05 * np.random.default_rng(seed).standard_normal(60))
        model = travel.fit(graph, trips)
        low, middle, p90, high = model.predict(*ends.T, (0.05, 0.5, 0.9, 0.95)).T
        inside.append(np.mean((low <= after) & (after <= high)))
        below.append(np.mean(after <= p90))
        factor = np.median(trips.times / times(graph, np.column_stack([trips.starts, trips.ends])))
        one = factor * times(graph, ends)
        errors.append([np.mean(np.abs(each / truth - 1)) for each in (middle, one)])
    assert 0.86 <= np.mean(inside) <= 0.95
    assert 0.86 <= np.mean(below) <= 0.94
    mine, factor = np.mean(errors, axis=0)
    assert mine < 0.8 * factor


def test_with_nothing_congested_it_is_as_good_as_one_factor() -> None:
    errors = []
    for seed in range(12):
        graph = city(seed)
        trips, ends = drive(graph, seed, 30)
        ends = pairs(np.random.default_rng(50 + seed), graph.num_vertices, 60)
        truth = times(graph, ends)
        middle = travel.fit(graph, trips).predict(*ends.T)[:, 0]
        known = times(graph, np.column_stack([trips.starts, trips.ends]))
        one = np.median(trips.times / known) * truth
        errors.append([np.mean(np.abs(each / truth - 1)) for each in (middle, one)])
    mine, factor = np.mean(errors, axis=0)
    assert mine <= factor + 0.002


def test_one_slip_costs_nothing() -> None:
    graph = city(9, directed=True)
    world = slowed(graph, 9, 0.03)
    trips, _ = drive(world, 9, 50)
    ends = pairs(np.random.default_rng(1), graph.num_vertices, 100)
    truth, errors = times(world, ends), []
    for wrong in (1.0, 10.0, 1e3, 1e6):  # a decimal slip, and codes for "missing"
        measured = trips.times.copy()
        measured[17] *= wrong
        model = travel.fit(graph, travel.Trips(trips.starts, trips.ends, measured))
        assert np.flatnonzero(model.odd).tolist() == ([17] if wrong > 1.0 else [])
        errors.append(np.mean(np.abs(model.predict(*ends.T)[:, 0] / truth - 1)))
        assert sum(finding.kind == "trip" for finding in model.findings) == (wrong > 1.0)
    assert max(errors[1:]) < errors[0] + 0.003


def test_a_start_up_time_is_found() -> None:
    graph = city(5)
    trips, _ = drive(graph, 5, 40)
    late = travel.Trips(trips.starts, trips.ends, trips.times + 3.0)
    assert travel.fit(graph, late).start_up == pytest.approx(3.0, rel=0.15)
    assert abs(travel.fit(graph, trips).start_up) < 0.2


def test_repeats_are_samples_and_groups_are_not_independent() -> None:
    graph = city(7)
    ends = np.repeat(pairs(np.random.default_rng(0), graph.num_vertices, 5), 8, axis=0)
    rng = np.random.default_rng(1)
    day = np.tile(np.arange(8), 5)
    together = 1.0 + 0.2 * rng.standard_normal(8)[day]
    measured = times(graph, ends) * together * (1.0 + 0.02 * rng.standard_normal(40))
    free = travel.fit(graph, travel.Trips(*ends.T, measured))
    grouped = travel.fit(graph, travel.Trips(*ends.T, measured, group=day))
    # the mean of eight days is less sure than that of forty samples
    arcs_free, arcs_grouped = (model.edge_times()[1].mean() for model in (free, grouped))
    assert arcs_grouped > arcs_free
    assert grouped.sigma < 0.05 < free.sigma
    low, high = grouped.predict([0], [63], (0.05, 0.95))[0]
    assert high / low > 1.4  # another day may be 20 % off


def test_classes_share_a_speed() -> None:
    graph, errors = city(8, directed=True), []
    kinds = np.random.default_rng(0).integers(3, size=graph.num_arcs)
    world = with_lengths(graph, graph.lengths * np.array([0.5, 1.0, 2.0])[kinds])
    trips, _ = drive(world, 3, 40)
    ends = pairs(np.random.default_rng(4), graph.num_vertices, 100)
    for classes in (None, kinds):
        found = travel.fit(graph, trips, classes=classes).predict(*ends.T)[:, 0]
        errors.append(np.mean(np.abs(found / times(world, ends) - 1)))
    assert errors[1] < 0.7 * errors[0]
    with pytest.raises(InputError, match=r"classes has shape \(2,\)"):
        travel.fit(graph, trips, classes=[1, 2])


def test_labels_give_every_vertex_a_time() -> None:
    graph = city(2, directed=True)
    world = slowed(graph, 3, 0.05)
    known = wf.cost_to_go(world, 5)
    vertices = np.arange(0, 64, 3)
    model = travel.fit(graph, wf.Labels([5, *vertices], [0.0, *known[vertices]]))
    p50, p90 = model.cost_to_go(5).T
    assert p50[5] == p90[5] == 0.0
    assert (p50 <= p90).all()
    away = np.arange(64) != 5
    assert np.mean(np.abs(p50 - known)[away] / known[away]) < 0.06
    np.testing.assert_allclose(model.predict([0, 7], [5, 5])[:, 1], p90[[0, 7]])


def test_variances_from_some_trips_predict_as_well_as_from_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = city(11, directed=True)
    world = slowed(graph, 4, 0.05)
    trips, _ = drive(world, 4, 160)
    ends = pairs(np.random.default_rng(5), graph.num_vertices, 200)
    exact = travel.fit(graph, trips).predict(*ends.T)
    monkeypatch.setattr(models, "EXACT", 80)
    fewer = travel.fit(graph, trips).predict(*ends.T)
    assert np.mean(np.abs(fewer[:, 0] / exact[:, 0] - 1)) < 0.02
    truth = times(world, ends)
    errors = [np.mean(np.abs(each[:, 0] / truth - 1)) for each in (exact, fewer)]
    assert errors[1] < errors[0] + 0.005


def test_unrelated_columns_are_the_answer() -> None:
    graph = city(1)
    trips, _ = drive(graph, 6, 40)
    mixed = np.random.default_rng(0).permutation(trips.times)
    model = travel.fit(graph, travel.Trips(trips.starts, trips.ends, mixed))
    assert model.unrelated
    assert [found.kind for found in model.findings] == ["unrelated"]
    assert "do not go together" in model.summary()
    assert not travel.fit(graph, trips).unrelated
    # five trips are too few to tell, unless the times fall
    few, _ = drive(graph, 5, 5)
    assert not travel.fit(graph, few).unrelated
    order = np.argsort(few.times)
    fallen = travel.Trips(few.starts[order], few.ends[order], np.sort(few.times)[::-1])
    assert travel.fit(graph, fallen).unrelated


@pytest.mark.parametrize("ties", [False, True])
def test_the_rank_correlation_is_scipys(ties: bool) -> None:
    rng = np.random.default_rng(0)
    one, other = rng.random(30), rng.random(30)
    if ties:
        one, other = one.round(1), other.round(1)
    wanted = spearmanr(one, other, alternative="greater").pvalue
    assert models._chance(one, other) == pytest.approx(wanted)
    assert models._chance(np.ones(5), rng.random(5)) == 0.0
    assert models._chance(rng.random(5), np.ones(5)) == 1.0
    assert models._chance(np.arange(5.0), np.arange(5.0)) == 0.0


def test_what_cannot_be_reached_is_infinite_and_no_trip() -> None:
    graph = wf.Graph.from_edges([0, 1, 2], [1, 2, 3], num_vertices=5, directed=True)
    model = travel.fit(graph, travel.Trips([0, 1, 0], [3, 3, 2], [3.1, 2.0, 2.1]))
    assert np.isinf(model.predict([3], [0])).all()
    assert np.isinf(model.cost_to_go(3)[4]).all()
    with pytest.raises(InputError, match=r"trip starts\[1\] = 3 has no path to the end"):
        travel.fit(graph, travel.Trips([0, 3], [3, 0], [3.0, 3.0]))


def test_bad_questions() -> None:
    graph = city(1, side=3)
    model = travel.fit(graph, drive(graph, 1, 8)[0])
    for starts, ends, levels, message in (
        ([0], [0], 0.5, r"starts\[0\] = 0 is the end of its pair"),
        ([0], [9], [0.5], r"ends\[0\] = 9 is out of range"),
        ([0, 1], [2], [0.5], "as many ends as starts, got 2 and 1"),
        ([0], [1], [1.0], r"levels\[0\] = 1.0 is not between 0 and 1"),
    ):
        with pytest.raises(InputError, match=message):
            model.predict(starts, ends, np.atleast_1d(levels))
    with pytest.raises(InputError, match="count must be a whole number"):
        model.next_measurements(0)


def test_the_same_trips_give_the_same_model() -> None:
    graph = city(1)
    trips, _ = drive(graph, 1, 20)
    one, two = (travel.fit(graph, trips) for _ in range(2))
    assert np.array_equal(one.graph.lengths, two.graph.lengths)
    assert np.array_equal(one.predict([0], [9]), two.predict([0], [9]))


def test_a_model_can_be_pickled() -> None:
    graph = city(5)
    trips, _ = drive(graph, 5, 20)
    model = travel.fit(graph, trips)
    again = pickle.loads(pickle.dumps(model))
    ends = pairs(np.random.default_rng(1), graph.num_vertices, 10).T
    assert np.array_equal(again.predict(*ends), model.predict(*ends))
