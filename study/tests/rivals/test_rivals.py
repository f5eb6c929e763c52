"""The rivals: each against a naive twin or an answer in closed form."""

from __future__ import annotations

import math
from functools import partial
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


# ---------------------------------------------------------------- naive twins, of dense matrices


def biharmonic(graph: wf.Graph, labels: wf.Labels) -> FloatArray:
    return off_labels(dense(graph) @ dense(graph), labels)


def weighted_nonlocal(graph: wf.Graph, labels: wf.Labels) -> FloatArray:
    matrix, heavy = np.zeros((SIZE, SIZE)), np.ones(SIZE)
    heavy[labels.vertices] = SIZE / len(labels)
    for x, y, length in zip(graph.tails, graph.indices, graph.lengths, strict=True):
        matrix[x, [x, y]] += np.array([1.0, -1.0]) * (heavy[x] + heavy[y]) / length
    return off_labels(matrix, labels)


def properly_weighted(graph: wf.Graph, labels: wf.Labels, alpha: float = 2.0) -> FloatArray:
    away = distances(graph, labels).min(axis=0)
    scale = np.full(SIZE, math.sqrt(1e7))
    for x in np.flatnonzero(away):
        scale[x] = min(1.0 + (max(away) / away[x]) ** alpha, math.sqrt(1e7))
    return off_labels(dense(graph, scale), labels)


def poisson(graph: wf.Graph, labels: wf.Labels) -> FloatArray:
    source = np.zeros(SIZE)
    source[labels.vertices] = labels.values - labels.values.mean()
    raw = np.linalg.pinv(dense(graph)) @ source
    slope, height = np.polyfit(raw[labels.vertices], labels.values, 1)
    shifted = raw + (labels.values - raw[labels.vertices]).mean()
    return np.asarray(height + slope * raw if slope > 0.0 else shifted)


def inverse_distance(graph: wf.Graph, labels: wf.Labels, nearest: int = 8) -> FloatArray:
    away, values = distances(graph, labels), np.zeros(SIZE)
    values[labels.vertices] = labels.values
    for x in np.setdiff1d(np.arange(SIZE), labels.vertices):
        farthest = sorted(away[:, x])[min(nearest, len(labels)) - 1]
        near = np.flatnonzero(away[:, x] <= farthest)
        weights = away[near, x] ** -2
        values[x] = weights @ labels.values[near] / weights.sum()
    return values


def mean_of_envelopes(graph: wf.Graph, labels: wf.Labels) -> FloatArray:
    away, y = distances(graph, labels), labels.values
    pairs = [(i, j) for i in range(len(y)) for j in range(i)]
    steepest = max(abs(y[i] - y[j]) / away[i][labels.vertices[j]] for i, j in pairs)
    upper = (y[:, None] + steepest * away).min(axis=0)
    lower = (y[:, None] - steepest * away).max(axis=0)
    return np.asarray((upper + lower) / 2)


def matern(graph: wf.Graph, labels: wf.Labels, scales: Any = None) -> FloatArray:
    """Kriging with the dense covariance: a constant by least squares, the likeliest scale."""
    at, y, fields = labels.vertices, labels.values, []
    for scale in scales or Matern().scales:
        root = 4.0 / scale**2 * np.eye(SIZE) + dense(graph)
        covariance = np.linalg.inv(root @ root)
        gram = covariance[np.ix_(at, at)]
        ones = np.linalg.solve(gram, np.ones(at.size))
        constant = (ones @ y) / ones.sum()
        pull = np.linalg.solve(gram, y - constant)
        square = (y - constant) @ pull
        likelihood = -np.linalg.slogdet(gram)[1] - at.size * math.log(square)
        fields.append((likelihood, constant + covariance[:, at] @ pull))
    return np.asarray(max(fields, key=lambda each: each[0])[1])


def to_the_power(graph: wf.Graph, power: float) -> wf.Labels:
    """Labels of a smooth field: on these, other scales are the likeliest."""
    at = np.arange(0, SIZE, 2)
    return wf.Labels(at, wf.cost_to_go(graph, 0)[at] ** power)


SMOOTH = [(graph, to_the_power(graph, power)) for graph, _ in WORLDS for power in (0.3, 1.0, 3.0)]
TWINS: dict[Any, Any] = {
    Biharmonic(): biharmonic,
    WeightedNonlocal(): weighted_nonlocal,
    ProperlyWeighted(): properly_weighted,
    ProperlyWeighted(1.0): partial(properly_weighted, alpha=1.0),
    PoissonLearning(): poisson,
    InverseDistance(): inverse_distance,
    InverseDistance(1): partial(inverse_distance, nearest=1),
    InverseDistance(3): partial(inverse_distance, nearest=3),
    MeanOfEnvelopes(): mean_of_envelopes,
    Matern(): matern,
    Matern((2.0,)): partial(matern, scales=(2.0,)),
    Matern((16.0,)): partial(matern, scales=(16.0,)),
    GamePLaplacian(2.0): lambda *world: wf.extend(*world, wf.Harmonic()).values,
}


@pytest.mark.parametrize("rival", TWINS, ids=repr)
@pytest.mark.parametrize(("graph", "labels"), [*WORLDS, *SMOOTH[::5]])
def test_twins(graph: wf.Graph, labels: wf.Labels, rival: Any) -> None:
    values = wf.extend(graph, labels, rival).values
    np.testing.assert_allclose(values, TWINS[rival](graph, labels), rtol=1e-7, atol=1e-6)


def test_poisson_learning_needs_one_piece() -> None:
    graph = wf.Graph.from_edges([0, 2], [1, 3])
    with pytest.raises(wf.InputError, match="Poisson learning needs a connected graph"):
        wf.extend(graph, wf.Labels([0, 2], [0.0, 1.0]), PoissonLearning())


@pytest.mark.parametrize("fraction", [0.1, 0.03])
@pytest.mark.parametrize("rival", RIVALS, ids=repr)
def test_shared_work_changes_nothing(rival: Any, fraction: float) -> None:
    """Label sets with most vertices in common, as those of several goals."""
    maze = wf.grid_graph(wf.load_layout("umaze"), 4)
    sets = [wf.sample_labels(maze, goal, fraction, seed=1) for goal in (0, 7, 30, 90)]
    sets.append(wf.Labels(sets[0].vertices[:-1], sets[0].values[:-1]))
    for labels, many in zip(sets, wf.extend_many(maze, sets, rival), strict=True):
        alone = wf.extend(maze, labels, rival).values
        np.testing.assert_allclose(many.values, alone, atol=1e-7)


@pytest.mark.parametrize("p", [2.5, 10.0, 100.0])
@pytest.mark.parametrize(("graph", "labels"), WORLDS)
def test_game_solves_its_equation(graph: wf.Graph, labels: wf.Labels, p: float) -> None:
    values = wf.extend(graph, labels, GamePLaplacian(p)).values
    for x in np.setdiff1d(np.arange(SIZE), labels.vertices):
        row = slice(graph.indptr[x], graph.indptr[x + 1])
        near, weight = values[graph.indices[row]], 1.0 / graph.lengths[row]
        left = (values[x] - weight @ near / weight.sum()) / p
        left += (1.0 - 2.0 / p) * (2.0 * values[x] - near.min() - near.max())
        assert abs(left) < 1e-9


@pytest.mark.parametrize(("graph", "labels"), [world for world in WORLDS if world[0].is_unit])
def test_game_is_the_amle_far_out(graph: wf.Graph, labels: wf.Labels) -> None:
    sharp = wf.extend(graph, labels, wf.AMLE()).values
    far = wf.extend(graph, labels, GamePLaplacian(1e9)).values
    np.testing.assert_allclose(far, sharp, atol=1e-5)


def test_policies_that_cycle_are_swept_longer() -> None:
    """With 20 sweeps between choices this one alternates between two fields."""
    drawn = MazeCell("large", 12, 0.0, 55, 8, label_count=4).draw()
    field = wf.extend(drawn.graph, drawn.labels[1], GamePLaplacian())
    assert field.status is Status.NO_BRACKET
    assert field.residual <= 1e-11 * drawn.labels[1].span


@pytest.mark.parametrize("rival", RIVALS, ids=lambda rival: type(rival).__name__)
def test_labels_are_taken_however_many(rival: Any) -> None:
    for graph, labels in WORLDS[:3]:
        field = wf.extend(graph, labels, rival)
        assert (field.status, field.lower) == (Status.NO_BRACKET, None)
        if not isinstance(rival, PoissonLearning):  # which does not interpolate
            np.testing.assert_array_equal(field.values[labels.vertices], labels.values)
    path = wf.Graph.from_edges([0, 1], [1, 2])
    every = wf.extend(path, wf.Labels([0, 1, 2], [0.0, 1.0, 2.0]), rival).values
    np.testing.assert_allclose(every, [0.0, 1.0, 2.0], atol=1e-9)
    one = wf.extend(WORLDS[0][0], wf.Labels([3], [2.0]), rival).values
    np.testing.assert_allclose(one, 2.0, atol=1e-7)
