"""No shortcuts, both, and model selection: what is false is found, and what is right stays."""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx
import numpy as np
import pytest

import wayfield as wf
from wayfield import travel
from wayfield.travel import Fit, MendMethod, MendProblem
from wayfield.travel.fitting import make_problem
from worlds import network, path, random_graph


def with_shortcuts(side: int, count: int, seed: int) -> tuple[wf.Graph, wf.Graph, set[int]]:
    """A grid, the same with false edges between far cells, and the arcs that are false."""
    rng = np.random.default_rng(seed)
    grid = wf.grid_graph(wf.Layout.from_text("\n".join(["." * 2] * 2)), side // 2)
    places = grid.positions
    assert places is not None
    pairs: list[tuple[int, int]] = []
    while len(pairs) < count:
        x, y = (int(v) for v in rng.integers(grid.num_vertices, size=2))
        if np.abs(places[x] - places[y]).sum() >= 8:
            pairs.append((x, y))
    false = np.array(pairs)
    tails = np.concatenate([grid.tails, false[:, 0]])
    heads = np.concatenate([grid.indices, false[:, 1]])
    graph = wf.Graph.from_edges(tails, heads, num_vertices=grid.num_vertices)
    there = {(int(x), int(y)) for x, y in zip(grid.tails, grid.indices, strict=False)}
    ends = zip(graph.tails, graph.indices, strict=False)
    return grid, graph, {e for e, (x, y) in enumerate(ends) if (int(x), int(y)) not in there}


# ------------------------------------------------------------------ no shortcuts


@pytest.mark.parametrize("count", [1, 5, 12])
@pytest.mark.parametrize("seed", range(3))
def test_every_shortcut_is_found_though_they_hide_one_another(count: int, seed: int) -> None:
    grid, graph, false = with_shortcuts(20, count, seed)
    labels = wf.sample_labels(grid, 0, count=5, seed=seed)
    mended = travel.mend(graph, labels, 0, travel.NoShortcuts())
    assert set(np.flatnonzero(mended.added).tolist()) == false
    np.testing.assert_allclose(wf.cost_to_go(mended.graph, 0), wf.cost_to_go(grid, 0))


def test_without_peeling_some_would_be_missed() -> None:
    _, graph, false = with_shortcuts(20, 30, 0)
    problem = make_problem(graph, wf.Labels([0, 5], [0.0, 5.0]), 0)
    every = np.ones(graph.num_arcs, bool)
    odd = problem.detours(graph.lengths, every, 4.0) >= 4.0
    assert 0 < odd.sum() < len(false)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("directed", [False, True])
def test_nothing_falls_apart(seed: int, directed: bool) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 25, backbone="tree", lengths="spread", directed=directed, two_way=0.7)
    reach = wf.cost_to_go(graph, 0)
    known = np.flatnonzero(np.isfinite(reach))[:5]
    if known.size < 2:
        pytest.skip("the goal cannot be reached")
    mended = travel.mend(graph, wf.Labels(known, reach[known]), 0, travel.NoShortcuts(odd=2.0))
    assert (mended.added >= 0).all()
    longer = np.flatnonzero(mended.added)
    twin = network(graph)
    gone = [(int(graph.tails[e]), int(graph.indices[e])) for e in longer]
    without = nx.restricted_view(twin, [], gone)
    for x, y in gone:
        assert nx.has_path(without, x, y)
    # whatever is planned, no false arc is on the way
    costs = wf.cost_to_go(mended.graph, 0)
    best = dict(nx.single_target_shortest_path_length(without, 0)) if gone else {}
    for x in best:
        least = nx.shortest_path_length(without, x, 0, "weight")
        assert costs[x] == pytest.approx(least)


def test_bridges_are_honest() -> None:
    graph = wf.Graph.from_edges([0, 1, 2, 3, 4, 5, 0, 3], [1, 2, 0, 4, 5, 3, 2, 2])
    mended = travel.mend(graph, wf.Labels([0, 4], [0.0, 3.0]), 0, travel.NoShortcuts())
    assert mended.unchanged
    assert travel.mend(path(5), wf.Labels([0, 4], [0.0, 4.0]), 0, travel.NoShortcuts()).unchanged


def test_a_detour_beyond_all_bounds_is_costly_enough() -> None:
    ring = 300
    heads = [(x + 1) % ring for x in range(ring)]
    rails = [ring + x for x in range(ring)]
    upper = [ring + (x + 1) % ring for x in range(ring)]
    tails = [*range(ring), *rails, *range(ring), 0]
    graph = wf.Graph.from_edges(tails, [*heads, *upper, *rails, ring // 2])
    labels = wf.Labels([0, ring // 2], [0.0, ring / 2])
    mended = travel.mend(graph, labels, 0, travel.NoShortcuts())
    assert len(mended.suspects) == 1
    assert wf.cost_to_go(mended.graph, 0)[ring // 2] == ring / 2


def test_positions_excuse_what_is_no_leap() -> None:
    _, graph, false = with_shortcuts(12, 3, 0)
    labels = wf.Labels([0, 5], [0.0, 5.0])
    flat = wf.Graph.from_edges(
        graph.tails, graph.indices, num_vertices=144, positions=np.zeros((144, 2))
    )
    grid = wf.grid_graph(wf.Layout.from_text("..\n.."), 6)
    placed = wf.Graph.from_edges(
        graph.tails, graph.indices, num_vertices=144, positions=grid.positions
    )
    assert not travel.mend(placed, labels, 0, travel.NoShortcuts()).unchanged
    near = np.asarray(grid.positions).copy()
    for e in false:  # an end of every false arc is moved next to the other
        near[graph.tails[e]] = near[graph.indices[e]] + 0.1
    moved = wf.Graph.from_edges(graph.tails, graph.indices, num_vertices=144, positions=near)
    assert np.count_nonzero(travel.mend(moved, labels, 0, travel.NoShortcuts()).added) < len(false)
    assert np.count_nonzero(travel.mend(flat, labels, 0, travel.NoShortcuts()).added) == len(false)


@pytest.mark.parametrize("odd", [0.5, 51.0, np.nan])
def test_an_oddity_that_makes_no_sense(odd: float) -> None:
    with pytest.raises(wf.errors.InputError, match="odd"):
        travel.NoShortcuts(odd)


# ------------------------------------------------------------------ both


def test_both_repairs_first_and_smooths_the_rest() -> None:
    grid, graph, false = with_shortcuts(16, 3, 0)
    slow = wf.Labels(*(lambda v: (v, 2.0 * wf.cost_to_go(grid, 0)[v]))(np.arange(0, 256, 6)))
    both = travel.mend(graph, slow, 0, travel.Both(travel.NoShortcuts()))
    right = np.setdiff1d(np.arange(graph.num_arcs), list(false))
    np.testing.assert_allclose(both.graph.lengths[right], 2.0, rtol=0.2)
    assert both.graph.lengths[list(false)].min() > 5
    assert set(both.details) == {"first", "then"}


def test_both_is_smooth_where_nothing_is_odd() -> None:
    grid, _, _ = with_shortcuts(12, 1, 0)
    labels = wf.Labels([0, 50, 100, 143], 1.7 * wf.cost_to_go(grid, 0)[[0, 50, 100, 143]])
    both, smooth = (travel.mend(grid, labels, 0, m) for m in (travel.Both(), travel.Smooth()))
    assert (both.graph.lengths == smooth.graph.lengths).all()


# ------------------------------------------------------------------ the referee


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["maze", "random", "directed", "shortcuts"])
def test_a_right_graph_is_left_as_it_is(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    if kind == "maze":
        graph = wf.grid_graph(wf.load_layout("antmaze-medium"), 4)
    elif kind == "shortcuts":
        _, graph, _ = with_shortcuts(16, 5, seed)  # and they are real
    else:
        graph = random_graph(
            rng, 200, backbone="tree", lengths="spread", directed=kind == "directed", two_way=1.0
        )
    goal = int(rng.integers(graph.num_vertices))
    mended = travel.mend(graph, wf.sample_labels(graph, goal, count=15, seed=seed), goal)
    assert mended.chosen == "plain"
    assert mended.graph is graph
    assert mended.unchanged


def test_false_edges_are_found_and_named_first() -> None:
    grid, graph, false = with_shortcuts(20, 6, 1)
    mended = travel.mend(graph, wf.sample_labels(grid, 0, count=20), 0, travel.Best())
    assert "plain" not in mended.chosen
    assert set(mended.suspects[:6].tolist()) == {
        e for e in false if graph.tails[e] < graph.indices[e]
    }
    assert mended.scores[mended.chosen].error < 0.1 * mended.scores["plain"].error


class Scaled(MendMethod):
    """A candidate that makes every arc a given times as long."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def fit(self, problem: MendProblem) -> Fit:
        return Fit(problem.graph.lengths * self.factor)


def test_scores_are_those_of_the_formula_and_candidates_keep_apart() -> None:
    graph, rng = path(30), np.random.default_rng(0)
    vertices = np.arange(1, 30, 2)
    costs = 2.0 * vertices + rng.normal(size=vertices.size)
    trips = travel.Trips(vertices, np.zeros_like(vertices), costs)
    candidates = (Scaled(2.0), Scaled(3.0))
    mended = travel.mend(graph, trips, method=travel.Best(candidates))
    assert list(mended.scores) == ["Scaled", "Scaled 2", "plain"]
    assert mended.chosen == "Scaled"
    assert (mended.graph.lengths == 2.0).all()
    plain = np.abs(vertices - costs)
    for name, factor in (("Scaled", 2.0), ("Scaled 2", 3.0), ("plain", 1.0)):
        error = np.abs(factor * vertices - costs)
        gain = plain - error
        score = mended.scores[name]
        assert score.error == pytest.approx(error.mean())
        assert score.gain == pytest.approx(gain.mean())
        assert score.spread == pytest.approx(gain.std(ddof=1) / np.sqrt(gain.size))


class Spy(MendMethod):
    """A candidate that remembers which trips it has seen."""

    def __init__(self) -> None:
        self.seen: list[set[int]] = []

    def fit(self, problem: MendProblem) -> Fit:
        self.seen.append(set(problem.starts.tolist()))
        return Fit(problem.graph.lengths * 2.0)


@pytest.mark.parametrize(("count", "folds"), [(12, 5), (4, 4), (3, 3)])
def test_no_trip_is_predicted_by_a_fit_that_has_seen_it(count: int, folds: int) -> None:
    starts = np.arange(1, count + 1)
    spy = Spy()
    trips = travel.Trips(starts, np.zeros_like(starts), 2.0 * starts + 0.1 * (-1.0) ** starts)
    mended = travel.mend(path(count + 1), trips, method=travel.Best((spy,)))
    assert len(spy.seen) == folds + 1  # and once to all trips
    held_out = [set(starts.tolist()) - seen for seen in spy.seen[:-1]]
    assert sorted(x for part in held_out for x in part) == starts.tolist()
    assert spy.seen[-1] == set(starts.tolist())
    assert mended.chosen == "Spy"


def test_the_first_that_none_beats_by_a_standard_error_is_preferred() -> None:
    graph, rng = path(30), np.random.default_rng(0)
    vertices = np.arange(1, 30, 2)
    costs = 2.0 * vertices + rng.normal(size=vertices.size)
    trips = travel.Trips(vertices, np.zeros_like(vertices), costs)
    for factors, chosen in (
        ((2.0, 2.01), "Scaled"),
        ((2.5, 2.0), "Scaled 2"),
        ((2.5, 2.0, 2.01), "Scaled 2"),
    ):
        best = travel.Best(tuple(Scaled(factor) for factor in factors))
        assert travel.mend(graph, trips, method=best).chosen == chosen


def test_a_candidate_must_win_by_a_standard_error() -> None:
    starts = np.arange(1, 9)
    costs = starts * np.where(starts % 2, 1.0, 1.2)  # half the trips say 1, half say 1.2
    trips = travel.Trips(starts, np.zeros_like(starts), costs)
    mended = travel.mend(path(9), trips, method=travel.Best((Scaled(1.11),)))
    assert mended.scores["Scaled"].gain < mended.scores["Scaled"].spread
    assert mended.chosen == "plain"


def test_upper_bounds_prove_no_arc_false() -> None:
    grid, graph, _ = with_shortcuts(12, 2, 0)
    labels = wf.sample_labels(grid, 0, count=15)
    mended = travel.mend(graph, labels, 0, travel.Best(), bound="upper")
    found = {"no shortcuts, then smooth", "no shortcuts, then noisy smooth"}
    always = {"smooth", "plain", "factor", "factor and waits"}
    assert set(mended.scores) == {*found, *always}
    right = travel.mend(grid, labels, 0, travel.Best(), bound="upper")
    assert set(right.scores) == {"noisy smooth", *always}
    only = travel.mend(graph, labels, 0, travel.Best((travel.LeastChange(),)), bound="upper")
    assert set(only.scores) == {"smooth", "plain"}


@pytest.mark.parametrize("count", [1, 2])
def test_too_few_costs_to_hold_any_out(count: int) -> None:
    vertices = np.arange(count + 1)
    with pytest.raises(
        wf.errors.InputError, match=rf"at least 3 labels or trips, got {count}: .* Smooth\(\)"
    ):
        travel.mend(path(4), wf.Labels(vertices, 2.0 * vertices), 0, travel.Best())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"candidates": ()}, "at least one mend method, got none"),
        ({"candidates": (travel.Smooth,)}, "mend methods such as Smooth"),
        ({"candidates": ("smooth",)}, "mend methods such as Smooth"),
    ],
)
def test_settings_that_make_no_sense(settings: dict[str, object], message: str) -> None:
    with pytest.raises(wf.errors.InputError, match=message):
        travel.Best(**settings)  # type: ignore[arg-type]


def test_candidates_that_cannot_be_told_apart() -> None:
    @dataclass
    class Loose(MendMethod):
        def fit(self, problem: MendProblem) -> Fit:
            return Fit(problem.graph.lengths)

    with pytest.raises(wf.InputError, match="hashable"):
        travel.Best(candidates=(Loose(),))


def test_the_same_seed_is_the_same_outcome() -> None:
    grid, graph, _ = with_shortcuts(12, 4, 3)
    labels = wf.sample_labels(grid, 0, count=12)
    one, two = (travel.mend(graph, labels, 0) for _ in range(2))
    assert (one.graph.lengths == two.graph.lengths).all()
    assert one.scores == two.scores
