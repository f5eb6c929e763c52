"""The least change: against HiGHS, in exact rationals, by its proof, and by what must be so."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import Any

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

import wayfield as wf
from wayfield import travel
from wayfield.fields import Status
from wayfield.travel import Change, Mended, least_change
from wayfield.travel.fitting import make_problem
from wayfield.travel.kernels.network_simplex import Network, circulation
from wayfield.travel.least_change import FAR
from worlds import contradicted, network, path, random_graph

Floats = NDArray[np.float64]
ALL = {"only_odd": None}


def by_highs(graph: wf.Graph, goal: int, labels: wf.Labels, price: Floats) -> float:
    """Value of the least change, as one linear programme on the whole graph."""
    n, m = graph.num_vertices, graph.num_arcs
    rows = np.arange(m)
    # variables: field and lengthening
    difference = sparse.csr_array((np.ones(m), (rows, graph.tails)), (m, n)) - sparse.csr_array(
        (np.ones(m), (rows, graph.indices)), (m, n)
    )
    low, high = np.full(n + m, -inf), np.full(n + m, inf)
    low[n:] = 0.0
    low[labels.vertices] = labels.values - labels.error
    high[labels.vertices] = labels.values + labels.error
    low[goal] = high[goal] = 0.0
    found = linprog(
        np.concatenate([np.zeros(n), price]),
        sparse.hstack([difference, -sparse.eye(m)]).tocsr(),
        graph.lengths,
        bounds=np.column_stack([low, high]),
        method="highs-ds",
    )
    assert found.status == 0, found.message
    return float(found.fun)


def changed(
    graph: wf.Graph, goal: int, labels: wf.Labels, method: travel.LeastChange
) -> tuple[Mended, Change]:
    mended = travel.mend(graph, labels, goal, method)
    (change,) = mended.details["changes"]
    return mended, change


def prices(graph: wf.Graph, price: str) -> Floats:
    """The price of every arc by its definition: 1, or 1 over the way round, up to `FAR`."""
    if price == "unit":
        return np.ones(graph.num_arcs)
    twin, found = network(graph), FAR * graph.lengths
    for e, pair in enumerate(zip(graph.tails.tolist(), graph.indices.tolist(), strict=True)):
        without = nx.restricted_view(twin, [], [pair])
        if nx.has_path(without, *pair):
            found[e] = min(found[e], nx.shortest_path_length(without, *pair, "weight"))
    return 1.0 / found


# ------------------------------------------------------------------ value and proof


@pytest.mark.parametrize("seed", range(12))
def test_value_is_that_of_highs_and_the_flow_proves_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph, goal, labels = contradicted(rng, int(rng.integers(4, 40)), directed=seed % 2 == 1)
    error = [0.0, 0.0, 0.3][seed % 3] * float(labels.values.max())
    labels = wf.Labels(labels.vertices, labels.values, error)
    how = "unit" if seed % 4 < 2 else "detour"
    price = prices(graph, how)
    mended, change = changed(graph, goal, labels, travel.LeastChange(how, **ALL))
    scale = max(1.0, labels.span)
    assert mended.status == Status.CONVERGED
    assert change.value == pytest.approx(by_highs(graph, goal, labels, price), abs=1e-6 * scale)
    assert abs(change.gap) <= 1e-10 * scale

    # a flow: within its capacities, conserved away from labels
    flow, added = change.flow, change.added
    assert (flow >= 0).all()
    assert (flow <= price + 1e-12).all()
    net = np.bincount(graph.tails, flow, graph.num_vertices)
    net -= np.bincount(graph.indices, flow, graph.num_vertices)
    assert np.abs(np.delete(net, labels.vertices)).max(initial=0.0) <= 1e-12
    assert (flow[added > 0] >= price[added > 0] - 1e-12).all()  # only saturated arcs are lengthened
    if error == 0.0:
        assert not added[wf.contradictions(graph, labels).arcs == 0].any()  # others are acquitted


@pytest.mark.parametrize("seed", range(5))
def test_labels_are_far_enough_apart_afterwards(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph, goal, labels = contradicted(rng, 30, directed=seed % 2 == 1)
    mended, _ = changed(graph, goal, labels, travel.LeastChange(**ALL))
    for z, value in zip(labels.vertices, labels.values, strict=True):
        distance = wf.cost_to_go(mended.graph, int(z))[labels.vertices]
        assert (labels.values - value <= distance + 1e-9 * labels.span).all()


@pytest.mark.parametrize("seed", range(5))
def test_exact_where_data_are_whole(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph, goal, labels = contradicted(
        rng, int(rng.integers(5, 40)), ("unit", "whole"), directed=seed % 2 == 1, whole=True
    )
    _, change = changed(graph, goal, labels, travel.LeastChange("unit", **ALL))

    def exact(array: Floats) -> list[Fraction]:
        return [Fraction(x) for x in array.tolist()]

    flow, field = exact(change.flow), change.field.tolist()
    arcs = list(zip(graph.tails.tolist(), graph.indices.tolist(), strict=True))
    value, bound, net = Fraction(0), Fraction(0), [Fraction(0)] * graph.num_vertices
    for (x, y), length, f in zip(arcs, exact(graph.lengths), flow, strict=True):
        assert 0 <= f <= 1
        net[x] += f
        net[y] -= f
        bound -= length * f
        if field[y] < inf:
            value += max(Fraction(field[x]) - Fraction(field[y]) - length, Fraction(0))
    known = dict(zip(labels.vertices.tolist(), exact(labels.values), strict=True))
    bound += sum(y * net[x] for x, y in known.items())
    assert all(amount == 0 for x, amount in enumerate(net) if x not in known)
    assert all(Fraction(field[x]) == y for x, y in known.items())
    assert value == bound == Fraction(change.value) == Fraction(change.bound)


@pytest.mark.parametrize("seed", range(5))
def test_every_field_is_a_repair_and_none_is_cheaper(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph, goal, labels = contradicted(rng, 25)
    price = prices(graph, "detour")
    _, change = changed(graph, goal, labels, travel.LeastChange(**ALL))
    for method in (wf.Harmonic(), wf.AMLE()):
        field = wf.extend(graph, labels, method).values
        excess = np.maximum(field[graph.tails] - field[graph.indices] - graph.lengths, 0.0)
        assert price @ excess >= change.value - 1e-9 * labels.span


# ------------------------------------------------------------------ what must be so


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("price", ["detour", "unit"])
def test_scales_with_lengths_and_labels(seed: int, price: str) -> None:
    rng = np.random.default_rng(seed)
    graph, goal, labels = contradicted(rng, 25, directed=seed % 2 == 1)
    larger = wf.Graph.from_edges(
        graph.tails, graph.indices, 4.0 * graph.lengths, graph.num_vertices, graph.directed
    )
    method = travel.LeastChange(price)
    small = travel.mend(graph, labels, goal, method)
    large = travel.mend(larger, wf.Labels(labels.vertices, 4.0 * labels.values), goal, method)
    assert np.array_equal(large.added, 4.0 * small.added)  # by a power of two: to the last bit
    assert large.value == (small.value if price == "detour" else 4.0 * small.value)


@pytest.mark.parametrize("seed", range(5))
def test_right_graph_is_left_as_it_is(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 30, backbone="tree", directed=seed % 2 == 1, two_way=0.8)
    goal = int(rng.integers(30))
    labels = wf.sample_labels(graph, goal, 0.3, seed=seed)
    if len(labels) < 2:
        labels = wf.sample_labels(graph, goal, 1.0)
    assert not wf.contradictions(graph, labels)
    mended, change = changed(graph, goal, labels, travel.LeastChange(**ALL))
    assert mended.graph is graph
    assert (mended.value, mended.bound, change.pivots) == (0.0, 0.0, 0)
    assert mended.unchanged
    assert mended.suspects.size == 0


def ring_with_chord() -> wf.Graph:
    return wf.Graph.from_edges([*range(20), 0], [*range(1, 20), 0, 10])


def test_one_false_chord_is_found_and_gets_the_length_of_its_detour() -> None:
    ring = ring_with_chord()
    labels = wf.Labels([0, 8, 10, 12], [0.0, 8.0, 10.0, 8.0])
    mended = travel.mend(ring, labels, 0, travel.LeastChange())
    assert mended.suspects.size == 1
    e = mended.suspects[0]
    assert (ring.tails[e], ring.indices[e], mended.added[e]) == (0, 10, 9.0)
    assert mended.value == pytest.approx(9.0 / 10.0)  # priced at 1 over the way round
    assert mended.graph.directed is False


def test_only_odd_edges_are_lengthened_though_the_value_is_of_all() -> None:
    slow = wf.Labels([0, 5], [0.0, 25.0])
    ring = ring_with_chord()
    odd = travel.mend(ring, slow, 0, travel.LeastChange("unit", only_odd=50.0))
    every = travel.mend(ring, slow, 0, travel.LeastChange("unit", only_odd=None))
    assert odd.unchanged
    once = ring.tails < ring.indices
    assert odd.value == every.value == every.added[once].sum() > 0.0


@pytest.mark.parametrize("seed", range(5))
def test_unit_price_does_not_see_subdivision(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph, goal, labels = contradicted(rng, 20, directed=seed % 2 == 1)
    once = np.full(graph.num_arcs, graph.directed) | (graph.tails < graph.indices)
    tails, heads, lengths = graph.tails[once], graph.indices[once], graph.lengths[once]
    e, n = seed % tails.size, graph.num_vertices
    finer = wf.Graph.from_edges(
        [*np.delete(tails, e), tails[e], n],
        [*np.delete(heads, e), n, heads[e]],
        [*np.delete(lengths, e), 0.25 * lengths[e], 0.75 * lengths[e]],
        n + 1,
        graph.directed,
    )
    values = [
        travel.mend(g, labels, goal, travel.LeastChange("unit")).value for g in (graph, finer)
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("price", ["detour", "unit"])
def test_numbering_does_not_matter_to_the_value(seed: int, price: str) -> None:
    rng = np.random.default_rng(seed)
    graph, goal, labels = contradicted(rng, 25, directed=seed % 2 == 1)
    new = rng.permutation(25)
    other = wf.Graph.from_edges(
        new[graph.tails], new[graph.indices], graph.lengths, 25, graph.directed
    )
    moved = wf.Labels(new[labels.vertices], labels.values)
    method = travel.LeastChange(price)
    value = travel.mend(graph, labels, goal, method).value
    assert travel.mend(other, moved, int(new[goal]), method).value == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_convex_in_the_labels_and_larger_with_more_of_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph, goal, labels = contradicted(rng, 25, directed=seed % 2 == 1)
    others = labels.vertices != goal

    def value(values: Floats, kept: NDArray[np.bool_] | None = None) -> float:
        keep = np.ones(len(labels), dtype=bool) if kept is None else kept
        some = wf.Labels(labels.vertices[keep], values[keep])
        return travel.mend(graph, some, goal, travel.LeastChange("unit")).value

    one = labels.values
    two = np.where(others, one * rng.uniform(0.3, 2.0, one.size), 0.0)
    slack = 1e-9 * labels.span
    assert value((one + two) / 2) <= (value(one) + value(two)) / 2 + slack
    fewer = np.ones(one.size, dtype=bool)
    if others.sum() > 1:
        fewer[np.flatnonzero(others)[0]] = False
    assert value(one, fewer) <= value(one) + slack


def test_labels_far_below_the_distances_are_proved_too() -> None:
    rng = np.random.default_rng(0)
    for _ in range(5):
        graph = random_graph(rng, 15, backbone="tree", directed=True, two_way=1.0)
        lengths = rng.uniform(0.02, 1.0, graph.num_arcs)
        graph = wf.Graph.from_edges(graph.tails, graph.indices, lengths, 15, directed=True)
        labels = wf.Labels(np.arange(1, 15), 10.0 ** rng.uniform(-12, -9, 14))
        mended = travel.mend(graph, labels, 0, travel.LeastChange(only_odd=None))
        assert mended.status == Status.CONVERGED
        assert mended.unchanged


def test_what_is_within_the_error_is_no_contradiction() -> None:
    labels = wf.Labels([0, 3], [0.0, 5.0], error=2.0)
    assert travel.mend(path(4), labels, 0, travel.LeastChange()).value == 0.0
    tight = wf.Labels([0, 3], [0.0, 5.0], error=1.5)
    mended = travel.mend(path(4), tight, 0, travel.LeastChange("unit", only_odd=None))
    assert mended.value == mended.bound == 0.5


def test_upper_bounds_contradict_no_optimist() -> None:
    labels = wf.Labels([0, 3], [0.0, 50.0])
    mended = travel.mend(path(4), labels, 0, travel.LeastChange(), bound="upper")
    assert mended.unchanged
    assert (mended.value, mended.bound) == (0.0, 0.0)


# ------------------------------------------------------------------ several goals


@pytest.mark.parametrize("seed", range(5))
def test_trips_to_several_ends(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph, _, labels = contradicted(rng, 25)
    ends = rng.choice(25, 3, replace=False)
    pairs = [(x, y) for x in labels.vertices.tolist() for y in ends.tolist() if x != y]
    starts, goals = (np.array(column) for column in zip(*pairs, strict=True))
    costs = [wf.cost_to_go(graph, int(y))[x] * rng.uniform(0.8, 3.0) for x, y in pairs]
    trips = travel.Trips(starts, goals, costs)
    mended = travel.mend(graph, trips, method=travel.LeastChange("unit", **ALL))
    singles = []
    for y in np.unique(goals):
        here = trips.ends == y
        some = travel.Trips(trips.starts[here], trips.ends[here], trips.costs[here])
        singles.append(travel.mend(graph, some, method=travel.LeastChange("unit", **ALL)))
    assert np.allclose(mended.added, np.max([single.added for single in singles], axis=0))
    once = graph.tails < graph.indices
    assert mended.value == pytest.approx(mended.added[once].sum())
    assert max(single.bound for single in singles) - 1e-9 <= mended.bound <= mended.value + 1e-9


def test_goals_apart_add_up() -> None:
    """Two paths that have nothing in common: the joint bound is the sum, and it is attained."""
    graph = wf.Graph.from_edges([0, 1, 3, 4], [1, 2, 4, 5])
    trips = travel.Trips([2, 5], [0, 3], [5.0, 4.0])
    mended = travel.mend(graph, trips, method=travel.LeastChange("unit", **ALL))
    assert mended.value == mended.bound == 5.0


# ------------------------------------------------------------------ stopped, and bad settings


def test_stopped_early_it_says_so_and_still_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, goal, labels = contradicted(np.random.default_rng(5), 100, "real")
    least, full = changed(graph, goal, labels, travel.LeastChange("unit", **ALL))
    assert full.pivots > 5

    def hasty(size: int, arcs: Network, start: Any, tolerance: float, _: int) -> Any:
        return circulation(size, arcs, start, tolerance, 5)

    monkeypatch.setattr(least_change, "circulation", hasty)
    stopped, change = changed(graph, goal, labels, travel.LeastChange("unit", **ALL))
    assert change.pivots == 5
    assert stopped.status == Status.BUDGET
    assert "cap" in repr(stopped)
    assert change.bound <= least.value <= change.value
    assert (wf.cost_to_go(stopped.graph, goal)[labels.vertices] >= labels.values - 1e-9).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"price": "stretch"}, "price must be one of 'detour', 'unit', got 'stretch'"),
        ({"only_odd": 0.5}, "only_odd must be a finite number of at least 1"),
        ({"only_odd": 80.0}, "at most 50, got 80"),
    ],
)
def test_bad_settings(settings: dict[str, object], message: str) -> None:
    with pytest.raises(wf.InputError, match=message):
        travel.LeastChange(**settings)  # type: ignore[arg-type]


# ------------------------------------------------------------------ the kernel by itself


@pytest.mark.parametrize("seed", range(5))
def test_circulation_of_any_costs(seed: int) -> None:
    """Costs of either sign on random arcs, beside arcs into the root that close the tree."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 15)), int(rng.integers(1, 60))
    tails = rng.integers(0, n, m)
    heads = (tails + rng.integers(1, n, m)) % n
    root = np.arange(1, n)
    whole = seed % 2 == 0
    network = Network(
        np.concatenate([root, tails]),
        np.concatenate([np.zeros_like(root), heads]),
        rng.integers(-9, 9, n - 1 + m).astype(float) if whole else rng.normal(size=n - 1 + m),
        rng.integers(1, 5, n - 1 + m).astype(float) if whole else rng.random(n - 1 + m) + 0.1,
    )
    start = np.arange(-1, n - 1)
    flow, potential, _, optimal = circulation(n, network, start, 1e-12, 10**6)
    arcs, size = np.arange(n - 1 + m), n - 1 + m
    ends = np.concatenate([network.tails, network.heads])
    signs = np.repeat([1.0, -1.0], size)
    incidence = sparse.csr_array((signs, (ends, np.tile(arcs, 2))), (n, size))
    bounds = np.column_stack([np.zeros(size), network.capacities])
    found = linprog(network.costs, A_eq=incidence, b_eq=np.zeros(n), bounds=bounds)
    reduced = network.costs - potential[network.tails] + potential[network.heads]
    dual = -network.capacities @ np.maximum(-reduced, 0.0)
    assert optimal
    assert network.costs @ flow == pytest.approx(found.fun, abs=1e-8)
    assert network.costs @ flow == pytest.approx(dual, abs=1e-10)
    assert np.abs(incidence @ flow).max() <= 1e-12
    assert ((flow >= 0) & (flow <= network.capacities)).all()
    if whole:
        assert network.costs @ flow == dual
        assert (flow == np.round(flow)).all()


def test_problem_is_built_once_for_labels_and_trips() -> None:
    labels = wf.Labels([0, 2, 3], [0.0, 5.0, 6.0], error=0.5)
    by_labels = make_problem(path(4), labels, 0)
    by_trips = make_problem(path(4), travel.Trips([2, 3], [0, 0], [5.0, 6.0], error=0.5))
    for name in ("starts", "ends", "costs", "error", "upper"):
        assert np.array_equal(getattr(by_labels, name), getattr(by_trips, name))
    assert by_labels.distances().tolist() == [2.0, 3.0]
    assert by_labels.only(np.array([1])).on(2.0 * path(4).lengths).distances().tolist() == [6.0]
