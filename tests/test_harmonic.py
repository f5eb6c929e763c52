from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wayfield as wf
from exact import contains, exact_harmonic, labelled_graphs, random_edges
from wayfield.extension import harmonic

ULPS = 4 * 2.0**-52


def path(n: int, lengths: np.ndarray | None = None) -> wf.Graph:
    return wf.Graph.from_edges(np.arange(n - 1), np.arange(1, n), lengths, n)


def solve(graph: wf.Graph, labels: wf.Labels, **settings: bool) -> wf.Extension:
    return wf.extend(graph, labels, wf.Harmonic(**settings))


# ------------------------------------------------------------------ against exact rationals


@settings(max_examples=150)
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
    edges = random_edges(rng, 14, 10)
    lengths = 10.0 ** rng.uniform(-spread, spread, edges.shape[1])
    graph = wf.Graph.from_edges(*edges, lengths)
    labels = wf.Labels([0, 5, 9], [0.0, 1.0, -2.5])
    extension = wf.extend(graph, labels, wf.Harmonic(), check=False)
    if spread <= 6:
        assert extension.status == wf.Status.CONVERGED
    if extension.lower is not None:
        assert contains(extension, exact_harmonic(graph, labels))


@pytest.mark.parametrize("seed", range(30))
def test_many_goals_of_any_scale(seed: int) -> None:
    """Shared factorisations overflow or turn singular: a bracket then contains, or is not there."""
    rng = np.random.default_rng(seed)
    edges = random_edges(rng, 14, 10)
    lengths = 10.0 ** (rng.uniform(-1, 1, edges.shape[1]) * rng.choice([10, 50, 100]))
    graph = wf.Graph.from_edges(*edges, lengths)
    values = [0.0, 1e50, -1e-50, 1.0]
    goals = [wf.Labels([0, 5, 9, goal], values) for goal in (1, 2, 3)]
    for labels, field in zip(
        goals, wf.extend_many(graph, goals, wf.Harmonic(), check=False), strict=True
    ):
        assert np.isfinite(field.values).all()
        if field.lower is not None:
            assert contains(field, exact_harmonic(graph, labels))


def test_seven_node_example() -> None:
    edges = [(0, 3), (0, 5), (5, 1), (1, 4), (3, 4), (3, 6), (6, 7), (4, 7), (2, 0)]
    tails, heads = zip(*edges, strict=True)
    graph = wf.Graph.from_edges(tails, heads)
    extension = solve(graph, wf.Labels([0, 7], [0.0, 3.0]))
    assert extension.values[1] == 36 / 29
    assert extension.values[3] == 39 / 29
    assert extension.values[2] == 0.0


# ------------------------------------------------------------------ closed forms


def test_path_is_linear_in_length() -> None:
    rng = np.random.default_rng(1)
    lengths = rng.uniform(0.1, 3.0, 99)
    extension = solve(path(100, lengths), wf.Labels([0, 99], [2.0, 5.0]))
    along = np.concatenate([[0.0], np.cumsum(lengths)])
    np.testing.assert_allclose(extension.values, 2.0 + 3.0 * along / along[-1], rtol=1e-14)


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


def test_dead_ends_take_the_value_at_their_mouth() -> None:
    # a binary tree hung on vertex 1 of a path 0 - 1 - 2, and one on the labelled vertex 0
    tails = [0, 1, 1, 3, 3, 0, 6, 6]
    heads = [1, 2, 3, 4, 5, 6, 7, 8]
    extension = solve(wf.Graph.from_edges(tails, heads), wf.Labels([0, 2], [0.0, 1.0]))
    assert (extension.values[[1, 3, 4, 5]] == 0.5).all()
    assert (extension.values[[6, 7, 8]] == 0.0).all()


def test_integer_length_equals_unit_edges_in_series() -> None:
    rng = np.random.default_rng(3)
    graph = wf.grid_graph(wf.Layout.from_text("....\n.#..\n...."), 1)
    labels = wf.Labels([0, 5, graph.num_vertices - 1], rng.normal(size=3))
    fine = solve(graph.subdivide(3), labels).values[: graph.num_vertices]
    np.testing.assert_allclose(fine, solve(graph, labels).values, rtol=0, atol=1e-15)


# ------------------------------------------------------------------ principles


@settings(max_examples=60)
@given(labelled_graphs(max_vertices=40), st.floats(-4, 4), st.floats(-1e6, 1e6))
def test_maximum_principle_scaling_and_offset(
    case: tuple[wf.Graph, wf.Labels], factor: float, offset: float
) -> None:
    graph, labels = case
    base = solve(graph, labels)
    assert base.values.min() >= labels.values.min()
    assert base.values.max() <= labels.values.max()
    moved = solve(graph, wf.Labels(labels.vertices, factor * labels.values + offset))
    size = np.abs(factor * labels.values).max() + abs(offset)
    np.testing.assert_allclose(
        moved.values, factor * base.values + offset, atol=ULPS * size, rtol=0
    )


@settings(max_examples=60)
@given(labelled_graphs(max_vertices=40), st.integers(0, 1000))
def test_comparison_and_relabelling(case: tuple[wf.Graph, wf.Labels], seed: int) -> None:
    graph, labels = case
    base = solve(graph, labels)
    rng = np.random.default_rng(seed)
    raised = wf.Labels(labels.vertices, labels.values + rng.uniform(0, 1, len(labels)))
    above = solve(graph, raised)
    assert base.lower is not None
    assert above.upper is not None
    assert (above.upper >= base.lower).all()
    order = rng.permutation(graph.num_vertices)
    renamed = wf.Graph.from_edges(
        order[graph.tails], order[graph.indices], graph.lengths, graph.num_vertices
    )
    other = solve(renamed, wf.Labels(order[labels.vertices], labels.values))
    assert other.lower is not None
    assert other.upper is not None
    assert (other.lower[order] <= base.values).all()
    assert (base.values <= other.upper[order]).all()


# ------------------------------------------------------------------ the frame


def test_orphans_are_nan() -> None:
    graph = wf.Graph.from_edges([0, 1, 3], [1, 2, 4], num_vertices=6)
    extension = wf.extend(graph, wf.Labels([0, 2], [0.0, 2.0]), wf.Harmonic(), unreachable="nan")
    for field in (extension.values, extension.lower, extension.upper):
        assert field is not None
        assert np.isnan(field[3:]).all()
        assert np.isfinite(field[:3]).all()
    assert extension.values[1] == 1.0
    assert extension.width <= ULPS


def test_everything_labelled_and_everything_equal() -> None:
    extension = solve(path(3), wf.Labels([0, 1, 2], [0.1, 0.7, -3.0]))
    assert extension.width == 0.0
    assert extension.residual == 0.0
    constant = solve(path(50), wf.Labels([3, 17], [0.1, 0.1]))
    assert (constant.values == 0.1).all()
    assert constant.width == 0.0


def test_large_offset_costs_nothing_but_its_own_rounding() -> None:
    graph = wf.grid_graph(wf.load_layout("antmaze-medium"), 4)
    labels = wf.sample_labels(graph, 5, 0.05, seed=54)
    near = solve(graph, labels)
    far = solve(graph, wf.Labels(labels.vertices, labels.values + 1e6))
    np.testing.assert_allclose(far.values - 1e6, near.values, rtol=0, atol=np.spacing(1e6))
    assert far.width <= 3 * np.spacing(1e6)


def test_maze_bracket_is_a_few_units_in_the_last_place() -> None:
    graph = wf.grid_graph(wf.load_layout("antmaze-large"), 8)
    labels = wf.sample_labels(graph, 100, 0.02, seed=54)
    extension = solve(graph, labels)
    assert extension.width <= 1e-15 * labels.span
    assert extension.residual <= 1e-15 * labels.span
    without = solve(graph, labels, certificate=False)
    assert without.lower is None
    assert without.upper is None
    assert (without.values == extension.values).all()


def test_a_bracket_that_fails_is_not_handed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harmonic, "MAX_WIDENINGS", 0)
    labels = wf.Labels([0, 9], [0.0, 1.0])
    with pytest.raises(wf.NotConverged, match="bracket could not be verified"):
        solve(path(10), labels)
    extension = solve(path(10), labels, check=False)
    assert extension.status == wf.Status.UNVERIFIED
    assert extension.lower is None
    assert extension.upper is None


def test_directed_graphs_are_refused() -> None:
    one_way = wf.Graph.from_edges([0, 1], [1, 2], directed=True)
    with pytest.raises(wf.InputError, match="Harmonic is not defined on directed graphs"):
        solve(one_way, wf.Labels([0, 2], [0.0, 1.0]))


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
