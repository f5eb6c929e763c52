from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

import wayfield as wf
from exact import contains, exact_harmonic
from wayfield.fields import Extension, harmonic
from wayfield.fields.proof import Enclosed
from worlds import labelled_graphs, maze_problem, path, random_graph

ULPS = 4 * 2.0**-52


def solve(graph: wf.Graph, labels: wf.Labels, check: bool = True, **settings: bool) -> Extension:
    return wf.extend(graph, labels, wf.Harmonic(**settings), check=check)


# ------------------------------------------------------------------ against exact rationals


@settings(max_examples=60)
@given(labelled_graphs())
def test_brackets_contain_the_exact_values(case: tuple[wf.Graph, wf.Labels]) -> None:
    graph, labels = case
    extension = solve(graph, labels)
    exact = exact_harmonic(graph, labels)
    assert extension.status == wf.Status.CONVERGED
    assert contains(extension, exact)
    scale = float(np.abs(labels.values).max())
    assert extension.width <= ULPS * scale
    error = [abs(Fraction(float(v)) - e) for v, e in zip(extension.values, exact, strict=True)]
    assert float(max(error)) <= ULPS * scale
    assert (extension.values[labels.vertices] == labels.values).all()


@pytest.mark.parametrize("spread", [6, 12])
def test_lengths_over_many_magnitudes(spread: int) -> None:
    rng = np.random.default_rng(spread)
    graph = random_graph(
        rng, 14, lambda rng, m: 10.0 ** rng.uniform(-spread, spread, m), backbone="tree", edges=10
    )
    labels = wf.Labels([0, 5, 9], [0.0, 1.0, -2.5])
    extension = wf.extend(graph, labels, wf.Harmonic(), check=False)
    if spread <= 6:
        assert extension.status == wf.Status.CONVERGED
    if extension.lower is not None:
        assert contains(extension, exact_harmonic(graph, labels))


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


def test_seven_node_example() -> None:
    edges = [(0, 3), (0, 5), (5, 1), (1, 4), (3, 4), (3, 6), (6, 7), (4, 7), (2, 0)]
    tails, heads = zip(*edges, strict=True)
    graph = wf.Graph.from_edges(tails, heads)
    extension = solve(graph, wf.Labels([0, 7], [0.0, 3.0]))
    assert extension.values[1] == 36 / 29
    assert extension.values[3] == 39 / 29
    assert extension.values[2] == 0.0


@settings(max_examples=40)
@given(labelled_graphs(max_vertices=20))
def test_barriers_are_sub_and_supersolutions_in_rationals(
    case: tuple[wf.Graph, wf.Labels],
) -> None:
    """The stored numbers themselves, before anything is rounded outward."""
    graph, labels = case
    evidence = solve(graph, labels).evidence
    assert isinstance(evidence, Enclosed)
    for side, barrier in ((-1, evidence.below), (1, evidence.above)):
        v = [Fraction(float(h)) + Fraction(float(x)) for h, x in zip(*barrier, strict=True)]
        for x in np.flatnonzero(~labels.mask(graph)):
            arcs = range(graph.indptr[x], graph.indptr[x + 1])
            flow = sum(
                (v[graph.indices[e]] - v[x]) / Fraction(float(graph.lengths[e])) for e in arcs
            )
            assert side * flow <= 0


# ------------------------------------------------------------------ closed forms


def test_long_path_is_exact() -> None:
    n = 20_001
    extension = solve(path(n), wf.Labels([0, n - 1], [0.0, float(n - 1)]))
    assert (extension.values == np.arange(n)).all()
    assert extension.width <= 2 * np.spacing(n)


def test_cycle() -> None:
    n = 10
    graph = wf.Graph.from_edges(np.arange(n), (np.arange(n) + 1) % n)
    extension = solve(graph, wf.Labels([0, 4], [0.0, 12.0]))
    expected = [0, 3, 6, 9, 12, 10, 8, 6, 4, 2]
    np.testing.assert_allclose(extension.values, expected, rtol=ULPS, atol=ULPS)


def test_star_centre_is_the_weighted_mean() -> None:
    lengths = np.array([1.0, 2.0, 4.0, 8.0])
    values = np.array([3.0, -1.0, 5.0, 0.5])
    graph = wf.Graph.from_edges(np.zeros(4, int), np.arange(1, 5), lengths)
    extension = solve(graph, wf.Labels(np.arange(1, 5), values))
    mean = (values / lengths).sum() / (1 / lengths).sum()
    assert extension.values[0] == pytest.approx(mean, rel=1e-15)


# ------------------------------------------------------------------ principles


# ------------------------------------------------------------------ the frame


def test_maze_bracket_is_a_few_units_in_the_last_place() -> None:
    graph, labels = maze_problem("antmaze-large", 8, goal=100, fraction=0.02)
    extension = solve(graph, labels)
    assert extension.width <= 1e-15 * labels.span
    assert extension.residual <= 1e-15 * labels.span
    without = solve(graph, labels, bracket=False)
    assert without.lower is None
    assert without.upper is None
    assert (without.values == extension.values).all()


def test_a_bracket_that_fails_is_not_handed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harmonic, "drift", lambda arcs, vertices, w: np.zeros(vertices.size))
    labels = wf.Labels([0, 9], [0.0, 1.0])
    with pytest.raises(wf.NotConverged, match="bracket could not be verified"):
        solve(path(10), labels)
    extension = solve(path(10), labels, check=False)
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
