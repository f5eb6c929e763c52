"""Labels left out in turn: predicted by the others, and by the graph alone."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wayfield as wf
from wayfield.advice.cross_validation import Folds, clearly_better, error_text, mean_error
from wayfield.advice.text import median_ratio

RING = wf.Graph.from_edges(range(60), [*range(1, 60), 0])
WORLD = wf.Graph.from_edges(range(60), [*range(1, 60), 0], [1.0] * 30 + [5.0] * 30)
"""Half of the ring is slow, which the ring does not know."""


@pytest.fixture(scope="module")
def maze() -> wf.Graph:
    return wf.grid_graph(wf.load_layout("medium"), 4)


# ------------------------------------------------------------------ what is left out


def test_every_label_but_the_goals_is_left_out_once(maze: wf.Graph) -> None:
    labels = wf.sample_labels(maze, 7, 0.1)
    parts = Folds(maze, labels, 7, wf.cost_to_go(maze, 7), folds=4)
    left = [np.setdiff1d(labels.vertices, parts.labels_without(i).vertices) for i in range(4)]
    together = np.sort(np.concatenate(left))
    assert np.array_equal(together, np.setdiff1d(labels.vertices, [7]))
    sizes = [part.size for part in left]
    assert max(sizes) - min(sizes) <= 1


def test_predictions_are_extensions_of_the_others(maze: wf.Graph) -> None:
    labels = wf.sample_labels(maze, 0, 0.1)
    for method in (wf.AMLE(), wf.Harmonic(), wf.NearestLabel()):
        parts = Folds(maze, labels, 0, wf.cost_to_go(maze, 0), folds=3)
        predicted = parts.predict(method)
        for i in range(3):
            field = wf.extend(maze, parts.labels_without(i), method)
            out = parts.part == i
            assert predicted[out] == pytest.approx(field.values[parts.vertices[out]], abs=1e-9)


def test_the_deal_depends_on_the_seed_alone(maze: wf.Graph) -> None:
    labels = wf.sample_labels(maze, 0, 0.1)
    one, same, other = (wf.cross_validate(maze, labels, 0, seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(one.predicted, same.predicted)
    assert not np.array_equal(one.predicted, other.predicted)


def test_labels_that_cannot_reach_the_goal_are_kept() -> None:
    apart = wf.Graph.from_edges([0, 1, 2, 4], [1, 2, 3, 5])
    labels = wf.Labels([0, 1, 2, 3, 4], [0.0, 1.0, 2.0, 3.0, 9.0])
    assert wf.cross_validate(apart, labels, 0).vertices.tolist() == [1, 2, 3]


def test_a_prior_is_corrected_by_the_labels_kept(maze: wf.Graph) -> None:
    truth = wf.cost_to_go(maze, 0)
    labels = wf.sample_labels(maze, 0, 0.1)
    assert wf.cross_validate(maze, labels, 0, prior=truth).error == 0.0


def test_false_sinks_among_the_labels_kept_can_be_dropped() -> None:
    path = wf.Graph.from_edges(range(9), range(1, 10))
    labels = wf.Labels([0, 3, 5, 7, 9], [0.0, 3.0, 5.0, 1.0, 9.0])
    parts = Folds(path, labels, 0, wf.cost_to_go(path, 0), folds=4)
    plain, trimmed = (parts.predict(wf.AMLE(), trimmed=flag) for flag in (False, True))
    assert not np.array_equal(plain, trimmed)
    found = wf.cross_validate(path, labels, 0, trimmed=True, folds=4)
    assert np.array_equal(found.predicted, trimmed)


# ------------------------------------------------------------------ what it says


def test_labels_that_are_distances_add_nothing(maze: wf.Graph) -> None:
    exact = wf.sample_labels(maze, 0, 0.1)
    found = wf.cross_validate(maze, wf.Labels(exact.vertices, 5.0 + 3.0 * exact.values), 0)
    assert found.factor == 3.0
    assert found.distance_error == 0.0
    assert found.labels_help is False
    assert found.errors.endswith(", 0 by the graph distance times 3")


def test_labels_of_another_world_help() -> None:
    found = wf.cross_validate(RING, wf.sample_labels(WORLD, 0, 0.4), 0)
    assert found.labels_help is True
    assert found.error < found.distance_error


def test_few_noisy_labels_leave_it_open(maze: wf.Graph) -> None:
    rng = np.random.default_rng(0)
    exact = wf.sample_labels(maze, 0, count=8, seed=1)
    noisy = wf.Labels(exact.vertices, exact.values + rng.normal(scale=20.0, size=len(exact)))
    found = wf.cross_validate(maze, noisy, 0)
    assert found.labels_help is None
    assert repr(found).startswith(f"CrossValidation({len(exact) - 1} labels: error ")


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.floats(-50, 50), st.floats(0.1, 9)), min_size=1, max_size=12))
def test_the_factor_has_the_least_absolute_error(pairs: list[tuple[float, float]]) -> None:
    values, distance = np.array(pairs).T
    factor = median_ratio(values, distance)
    ours = np.abs(values - factor * distance).sum()
    for rival in values / distance:  # the sum is convex and its kinks are here
        assert ours <= np.abs(values - rival * distance).sum() + 1e-9


def test_clearly_is_more_than_chance() -> None:
    rng = np.random.default_rng(0)
    small, large = rng.normal(size=200), rng.normal(scale=3.0, size=200)
    assert clearly_better(small, large)
    assert not clearly_better(large, small)
    assert not clearly_better(small, -small)
    assert not clearly_better(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.1, 1.9, 3.2, 4.1]))
    assert clearly_better(small, np.full(200, inf))
    assert not clearly_better(np.full(200, inf), small)
    assert clearly_better(np.zeros(2), np.ones(2))
    assert not clearly_better(np.zeros(2), np.zeros(2))


def test_errors_and_their_spread() -> None:
    assert mean_error(np.array([1.0, -3.0])) == (2.0, 1.0)
    assert mean_error(np.array([1.0, inf])) == (inf, inf)
    told = [error_text(2.0, 1.0), error_text(2.0, 0.0), error_text(inf, inf)]
    assert told == ["2 ± 1", "2", "∞"]


# ------------------------------------------------------------------ bad input


def test_bad_input_is_named() -> None:
    few = wf.Labels([0, 3], [0.0, 3.0])
    with pytest.raises(wf.InputError, match="can reach the goal, got 1"):
        wf.cross_validate(RING, few, 0)
    labels = wf.Labels([0, 3, 9], [0.0, 3.0, 9.0])
    with pytest.raises(wf.InputError, match="folds must be"):
        wf.cross_validate(RING, labels, 0, folds=1)
    with pytest.raises(wf.InputError, match="seed must be"):
        wf.cross_validate(RING, labels, 0, seed=-1)
    with pytest.raises(wf.InputError, match="goal 99 is not a vertex"):
        wf.cross_validate(RING, labels, 99)
    with pytest.raises(wf.InputError, match="out of range"):
        wf.cross_validate(RING, wf.Labels([99], [0.0]), 0)
    with pytest.raises(wf.InputError, match="labels must be"):
        wf.cross_validate(RING, [0.0], 0)  # type: ignore[arg-type]


def test_a_naive_twin(maze: wf.Graph) -> None:
    """Dense linear systems, and every ratio tried as the factor, on the same deal."""
    rng = np.random.default_rng(4)
    rough = replace(maze, lengths=1.0 + (maze.tails + maze.indices) % 3)
    truth = wf.cost_to_go(rough, 5)
    vertices = np.append(rng.choice(np.arange(6, rough.num_vertices), 25, replace=False), 5)
    noise = np.where(vertices == 5, 1.0, rng.uniform(0.7, 1.3, vertices.size))
    labels = wf.Labels(vertices, noise * truth[vertices])
    found = wf.cross_validate(rough, labels, 5, wf.Harmonic(), folds=4, seed=11)

    n = rough.num_vertices
    laplacian = np.zeros((n, n))
    np.subtract.at(laplacian, (rough.tails, rough.indices), 1.0 / rough.lengths)
    np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
    values = dict(zip(labels.vertices.tolist(), labels.values.tolist(), strict=True))
    left_out = [x for x in values if x != 5]
    part = np.random.default_rng(11).permutation(np.arange(len(left_out)) % 4)
    assert found.vertices.tolist() == left_out
    for number, (x, ours, graphs) in enumerate(
        zip(left_out, found.predicted, found.by_distance, strict=True)
    ):
        kept = [y for y, p in zip(left_out, part, strict=True) if p != part[number]]
        fixed = [5, *kept]
        free = np.setdiff1d(np.arange(n), fixed)
        known = np.array([values[y] for y in fixed])
        inner, outer = laplacian[np.ix_(free, free)], laplacian[np.ix_(free, fixed)]
        field = np.linalg.solve(inner, -outer @ known)
        assert ours == pytest.approx(field[np.searchsorted(free, x)], abs=1e-9)

        def misfit(factor: float, kept: list[int] = kept) -> float:
            return sum(abs(values[y] - factor * truth[y]) for y in kept)

        best = min((values[y] / truth[y] for y in kept), key=misfit)
        assert graphs == pytest.approx(best * truth[x])
    errors = np.abs(found.predicted - found.values)
    assert found.error == pytest.approx(errors.mean())
    assert found.spread == pytest.approx(np.std(errors, ddof=1) / np.sqrt(errors.size))
