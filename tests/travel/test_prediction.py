"""Values after mending, the share of the residual, and what to measure next."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import wayfield as wf
from wayfield import travel
from worlds import measured, streets


def test_values_are_distances_on_a_right_graph() -> None:
    world, _, _ = streets(0)
    mended = travel.mend(world, measured(world, 0), 0)
    assert mended.chosen == "plain"
    np.testing.assert_array_equal(mended.cost_to_go(), wf.cost_to_go(world, 0))
    assert mended.predicts_as_given


def test_noise_alone_leaves_a_right_graph_alone() -> None:
    world, _, _ = streets(1)
    mended = travel.mend(world, measured(world, 1, noise=0.1), 0)
    truth = wf.cost_to_go(world, 0)
    away = truth > 0
    error = np.abs(mended.cost_to_go() - truth)[away] / truth[away]
    assert error.mean() < 0.03


def test_the_residual_helps_where_costs_are_smoothly_off() -> None:
    world, _, _ = streets(2)
    assert world.positions is not None
    east = 1.0 + 0.8 * (world.positions[:, 0] / 15)
    truth = replace(world, lengths=world.lengths * (east[world.tails] + east[world.indices]) / 2)
    labels = measured(truth, 2)
    mended = travel.mend(world, labels, 0)
    values, want = mended.cost_to_go(), wf.cost_to_go(truth, 0)
    plain = wf.cost_to_go(world, 0)
    scaled = plain * np.median(labels.values[1:] / plain[labels.vertices[1:]])
    assert np.abs(values - want).mean() < 0.5 * np.abs(scaled - want).mean()
    assert 0.0 <= mended.prediction.shrinkage(0) <= 1.0


def test_named_false_edges_are_out_of_the_prediction() -> None:
    world, graph, _ = streets(3, false=5)
    mended = travel.mend(graph, measured(world, 3), 0)
    np.testing.assert_allclose(mended.cost_to_go(), wf.cost_to_go(world, 0), rtol=1e-9)
    np.testing.assert_allclose(mended.cost_to_go(77), wf.cost_to_go(world, 77), rtol=1e-9)


def test_trips_to_several_ends_need_a_goal() -> None:
    world, _, _ = streets(5)
    rng = np.random.default_rng(0)
    starts, ends = rng.integers(0, 100, 20), rng.integers(120, 250, 20)
    costs = [wf.cost_to_go(world, int(y))[x] for x, y in zip(starts, ends, strict=True)]
    mended = travel.mend(world, travel.Trips(starts, ends, costs))
    with pytest.raises(wf.InputError, match="pass goal="):
        mended.cost_to_go()
    np.testing.assert_allclose(mended.cost_to_go(7), wf.cost_to_go(world, 7))
    with pytest.raises(wf.InputError, match="goal"):
        mended.cost_to_go(10_000)


def test_measurements_are_new_places_apart_from_each_other() -> None:
    world, _, _ = streets(6)
    labels = measured(world, 6, count=8)
    chosen = travel.mend(world, labels, 0).next_measurements(6)
    assert len(set(chosen.tolist())) == 6
    assert not set(chosen.tolist()) & set(labels.vertices.tolist())
    with pytest.raises(wf.InputError, match="k must"):
        travel.mend(world, labels, 0).next_measurements(0)


def test_what_to_measure_next_takes_out_more_variance_than_chance() -> None:
    """The criterion, computed directly: relative variance of all costs after six more labels."""
    from wayfield.travel.slowness import slowness_of

    world, _, _ = streets(7)
    labels = measured(world, 7, count=6)
    mended = travel.mend(world, labels, 0)
    distance = wf.cost_to_go(world, 0)
    moves = wf.plan(world, distance, 0)
    rows = np.zeros((world.num_vertices, world.num_arcs))
    for x in range(1, world.num_vertices):
        walk = moves.rollout(x).path
        for a, b in pairwise(walk.tolist()):
            rows[x, world.indptr[a] + np.searchsorted(world.neighbours(a), b)] = 1.0
    prior = slowness_of(world)
    rows = rows @ prior.per_arc.toarray()
    covariance = 0.09 * rows @ prior.covariance @ rows.T
    noise = (0.02 * distance[1:].mean()) ** 2

    def left(vertices: np.ndarray) -> float:
        at = np.append(labels.vertices[labels.vertices != 0], vertices)
        known = covariance[np.ix_(at, at)] + noise * np.eye(at.size)
        rest = covariance - covariance[:, at] @ np.linalg.solve(known, covariance[at])
        return float((np.diag(rest)[1:] / distance[1:] ** 2).mean())

    ours = left(mended.next_measurements(6))
    rng = np.random.default_rng(0)
    others = [left(rng.choice(np.arange(1, 256), 6, replace=False)) for _ in range(20)]
    assert ours < np.median(others)


def test_the_next_measurements_rest_on_the_slowness_that_was_fitted_second() -> None:
    """Where there are no shortcuts, fitting both is fitting the slowness alone."""
    world, _, _ = streets(2)
    assert world.positions is not None
    east = 1.0 + 3.0 * (world.positions[:, 0] / 15)
    truth = replace(world, lengths=world.lengths * (east[world.tails] + east[world.indices]) / 2)
    labels = measured(truth, 2)
    both, alone = (
        travel.mend(world, labels, 0, method).next_measurements(8)
        for method in (travel.Both(travel.NoShortcuts()), travel.Smooth())
    )
    np.testing.assert_array_equal(both, alone)
