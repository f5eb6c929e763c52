"""The rivals: each against a naive twin or an answer in closed form."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import wayfield as wf
from wayfield.fields import Status
from wayfield.typing import FloatArray
from wayfield_study.experiments import MazeCell
from wayfield_study.rivals import (
    Biharmonic,
    GamePLaplacian,
    InverseDistance,
    Matern,
    MeanOfEnvelopes,
    PoissonLearning,
    ProperlyWeighted,
    WeightedNonlocal,
)

RIVALS = (
    Biharmonic(), GamePLaplacian(), InverseDistance(), Matern(), MeanOfEnvelopes(),
    PoissonLearning(), ProperlyWeighted(), WeightedNonlocal(),
)  # fmt: skip
INTERPOLATE = [rival for rival in RIVALS if not isinstance(rival, PoissonLearning)]
SIZE = 24


def world(seed: int, unit: bool = False) -> tuple[wf.Graph, wf.Labels]:
    """A random connected graph with a few labels that are no distances."""
    rng = np.random.default_rng(seed)
    tails = [*range(1, SIZE), *rng.integers(0, SIZE // 2, 20)]
    heads = [*(int(rng.integers(x)) for x in range(1, SIZE)), *rng.integers(SIZE // 2, SIZE, 20)]
    pairs = sorted({(min(a, b), max(a, b)) for a, b in zip(tails, heads, strict=True) if a != b})
    lengths = None if unit else rng.uniform(0.5, 3.0, len(pairs))
    ends = np.transpose(pairs)
    graph = wf.Graph.from_edges(ends[0], ends[1], lengths=lengths)
    at = rng.choice(SIZE, 5, replace=False)
    return graph, wf.Labels(at, rng.uniform(0.0, 9.0, 5))


WORLDS = [world(seed, unit) for seed in range(4) for unit in (False, True)]


def dense(graph: wf.Graph, scale: FloatArray | None = None) -> FloatArray:
    """The Laplacian of weights 1 / length, with each vertex's factor on its edges."""
    lap = np.zeros((graph.num_vertices, graph.num_vertices))
    by = np.ones(graph.num_vertices) if scale is None else scale
    for x, y, length in zip(graph.tails, graph.indices, graph.lengths, strict=True):
        lap[x, y] -= by[x] * by[y] / length
        lap[x, x] += by[x] * by[y] / length
    return lap


def off_labels(matrix: FloatArray, labels: wf.Labels) -> FloatArray:
    """Solve matrix u = 0 off the labels, row by row of a dense matrix."""
    system, right = matrix.copy(), np.zeros(len(matrix))
    for x, value in zip(labels.vertices, labels.values, strict=True):
        system[x], right[x] = 0.0, value
        system[x, x] = 1.0
    return np.asarray(np.linalg.solve(system, right), dtype=np.float64)


def distances(graph: wf.Graph, labels: wf.Labels) -> FloatArray:
    return np.array([wf.cost_to_go(graph, int(x)) for x in labels.vertices])


@pytest.mark.parametrize(("graph", "labels"), WORLDS)
def test_biharmonic(graph: wf.Graph, labels: wf.Labels) -> None:
    lap = dense(graph)
    values = wf.extend(graph, labels, Biharmonic()).values
    np.testing.assert_allclose(values, off_labels(lap @ lap, labels), atol=1e-8)


@pytest.mark.parametrize(("graph", "labels"), WORLDS)
def test_weighted_nonlocal(graph: wf.Graph, labels: wf.Labels) -> None:
    matrix, heavy = np.zeros((SIZE, SIZE)), np.ones(SIZE)
    heavy[labels.vertices] = SIZE / len(labels)
    for x, y, length in zip(graph.tails, graph.indices, graph.lengths, strict=True):
        weight = (heavy[x] + heavy[y]) / length
        matrix[x, x] += weight
        matrix[x, y] -= weight
    values = wf.extend(graph, labels, WeightedNonlocal()).values
    np.testing.assert_allclose(values, off_labels(matrix, labels), atol=1e-9)


@pytest.mark.parametrize("alpha", [1.0, 2.0])
@pytest.mark.parametrize(("graph", "labels"), WORLDS)
def test_properly_weighted(graph: wf.Graph, labels: wf.Labels, alpha: float) -> None:
    away = distances(graph, labels).min(axis=0)
    scale = np.full(SIZE, math.sqrt(1e7))
    for x in range(SIZE):
        if away[x] > 0.0:
            scale[x] = min(1.0 + (max(away) / away[x]) ** alpha, math.sqrt(1e7))
    values = wf.extend(graph, labels, ProperlyWeighted(alpha)).values
    np.testing.assert_allclose(values, off_labels(dense(graph, scale), labels), atol=1e-6)


@pytest.mark.parametrize(("graph", "labels"), WORLDS)
def test_poisson_learning(graph: wf.Graph, labels: wf.Labels) -> None:
    source = np.zeros(SIZE)
    source[labels.vertices] = labels.values - labels.values.mean()
    raw = np.linalg.pinv(dense(graph)) @ source
    slope, height = np.polyfit(raw[labels.vertices], labels.values, 1)
    expected = height + slope * raw
    if slope <= 0.0:
        expected = raw + (labels.values - raw[labels.vertices]).mean()
    values = wf.extend(graph, labels, PoissonLearning()).values
    np.testing.assert_allclose(values, expected, atol=1e-8)


def test_poisson_learning_on_a_path_is_exact() -> None:
    path = wf.Graph.from_edges(range(9), range(1, 10))
    ends = wf.Labels([0, 9], [1.0, 10.0])
    values = wf.extend(path, ends, PoissonLearning()).values
    np.testing.assert_allclose(values, np.arange(1.0, 11.0), atol=1e-12)


def test_poisson_learning_needs_one_piece() -> None:
    graph = wf.Graph.from_edges([0, 2], [1, 3])
    with pytest.raises(wf.InputError, match="Poisson learning needs a connected graph"):
        wf.extend(graph, wf.Labels([0, 2], [0.0, 1.0]), PoissonLearning())


@pytest.mark.parametrize("nearest", [1, 3, 8])
@pytest.mark.parametrize(("graph", "labels"), WORLDS)
def test_inverse_distance(graph: wf.Graph, labels: wf.Labels, nearest: int) -> None:
    away = distances(graph, labels)
    values = wf.extend(graph, labels, InverseDistance(nearest)).values
    for x in range(SIZE):
        if x in labels.vertices:
            continue
        order = sorted(away[:, x])
        farthest = order[min(nearest, len(order)) - 1]
        near = [k for k in range(len(labels)) if away[k, x] <= farthest]
        weights = [away[k, x] ** -2 for k in near]
        expected = sum(w * labels.values[k] for w, k in zip(weights, near, strict=True))
        assert values[x] == pytest.approx(expected / sum(weights))


@pytest.mark.parametrize(("graph", "labels"), WORLDS)
def test_mean_of_envelopes(graph: wf.Graph, labels: wf.Labels) -> None:
    away, y = distances(graph, labels), labels.values
    pairs = [(i, j) for i in range(len(y)) for j in range(i)]
    steepest = max(abs(y[i] - y[j]) / away[i][labels.vertices[j]] for i, j in pairs)
    upper = (y[:, None] + steepest * away).min(axis=0)
    lower = (y[:, None] - steepest * away).max(axis=0)
    values = wf.extend(graph, labels, MeanOfEnvelopes()).values
    np.testing.assert_allclose(values, (upper + lower) / 2, atol=1e-9)


def smooth_labels(graph: wf.Graph, power: float) -> wf.Labels:
    """A dozen labels that are a power of the distance to a vertex."""
    at = np.arange(0, graph.num_vertices, 2)
    return wf.Labels(at, wf.cost_to_go(graph, 0)[at] ** power)


SMOOTH = [(graph, smooth_labels(graph, power)) for graph, _ in WORLDS for power in (0.3, 1.0, 3.0)]


@pytest.mark.parametrize("scales", [(2.0,), (16.0,), Matern().scales])
@pytest.mark.parametrize(("graph", "labels"), [*WORLDS, *SMOOTH])
def test_matern(graph: wf.Graph, labels: wf.Labels, scales: tuple[float, ...]) -> None:
    """Kriging with the dense covariance: a constant by least squares, the likeliest scale."""
    at, y, fields = labels.vertices, labels.values, []
    for scale in scales:
        root = 4.0 / scale**2 * np.eye(SIZE) + dense(graph)
        covariance = np.linalg.inv(root @ root)
        gram = covariance[np.ix_(at, at)]
        ones = np.linalg.solve(gram, np.ones(at.size))
        constant = (ones @ y) / ones.sum()
        pull = np.linalg.solve(gram, y - constant)
        square = (y - constant) @ pull
        likelihood = -np.linalg.slogdet(gram)[1] - at.size * math.log(square)
        fields.append((likelihood, constant + covariance[:, at] @ pull))
    values = wf.extend(graph, labels, Matern(scales)).values
    np.testing.assert_allclose(values, max(fields, key=lambda f: f[0])[1], atol=1e-6)


@pytest.mark.parametrize("rival", [Matern(), InverseDistance()])
def test_shared_work_changes_nothing(rival: Any) -> None:
    """Label sets with most vertices in common, as those of several goals."""
    maze = wf.grid_graph(wf.load_layout("umaze"), 4)
    sets = [wf.sample_labels(maze, goal, 0.1, seed=1) for goal in (0, 7, 30, 90)]
    sets.append(wf.Labels(sets[0].vertices[:-1], sets[0].values[:-1]))
    for labels, many in zip(sets, wf.extend_many(maze, sets, rival), strict=True):
        alone = wf.extend(maze, labels, rival).values
        np.testing.assert_allclose(many.values, alone, atol=1e-7)


@pytest.mark.parametrize("p", [2.0, 2.5, 10.0, 100.0])
@pytest.mark.parametrize(("graph", "labels"), WORLDS)
def test_game_solves_its_equation(graph: wf.Graph, labels: wf.Labels, p: float) -> None:
    values = wf.extend(graph, labels, GamePLaplacian(p)).values
    for x in range(SIZE):
        row = slice(graph.indptr[x], graph.indptr[x + 1])
        near, weight = values[graph.indices[row]], 1.0 / graph.lengths[row]
        mean = (weight * near).sum() / weight.sum()
        left = (values[x] - mean) / p
        left += (1.0 - 2.0 / p) * (2.0 * values[x] - near.min() - near.max())
        if x in labels.vertices:
            assert values[x] == labels.values[np.flatnonzero(labels.vertices == x)[0]]
        else:
            assert abs(left) < 1e-9


@pytest.mark.parametrize(("graph", "labels"), WORLDS)
def test_game_is_harmonic_at_two_and_the_amle_far_out(graph: wf.Graph, labels: wf.Labels) -> None:
    smooth = wf.extend(graph, labels, wf.Harmonic()).values
    two = wf.extend(graph, labels, GamePLaplacian(2.0)).values
    np.testing.assert_allclose(two, smooth, atol=1e-8)
    if graph.is_unit:
        sharp = wf.extend(graph, labels, wf.AMLE()).values
        far = wf.extend(graph, labels, GamePLaplacian(1e9)).values
        np.testing.assert_allclose(far, sharp, atol=1e-5)


def test_policies_that_cycle_are_swept_longer() -> None:
    """With 20 sweeps between choices this one alternates between two fields."""
    drawn = MazeCell("large", 12, 0.0, 55, 8, label_count=4).draw()
    field = wf.extend(drawn.graph, drawn.labels[1], GamePLaplacian())
    assert field.status is Status.NO_BRACKET
    assert field.residual <= 1e-11 * drawn.labels[1].span


@pytest.mark.parametrize("rival", INTERPOLATE, ids=lambda rival: type(rival).__name__)
@pytest.mark.parametrize(("graph", "labels"), WORLDS[:3])
def test_they_take_their_labels(rival: Any, graph: wf.Graph, labels: wf.Labels) -> None:
    field = wf.extend(graph, labels, rival)
    assert field.status is Status.NO_BRACKET
    assert field.lower is None
    np.testing.assert_array_equal(field.values[labels.vertices], labels.values)


@pytest.mark.parametrize("rival", RIVALS, ids=lambda rival: type(rival).__name__)
def test_every_vertex_may_be_labelled(rival: Any) -> None:
    path = wf.Graph.from_edges([0, 1], [1, 2])
    labels = wf.Labels([0, 1, 2], [0.0, 1.0, 2.0])
    values = wf.extend(path, labels, rival).values
    np.testing.assert_allclose(values, [0.0, 1.0, 2.0], atol=1e-9)


@pytest.mark.parametrize("rival", RIVALS, ids=lambda rival: type(rival).__name__)
def test_one_label_is_enough(rival: Any) -> None:
    graph, _ = WORLDS[0]
    values = wf.extend(graph, wf.Labels([3], [2.0]), rival).values
    np.testing.assert_allclose(values, 2.0, atol=1e-7)
