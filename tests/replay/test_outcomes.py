"""Plans over sampled outcomes against naive twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from wayfield.replay.kernels.outcomes import (
    BEHIND,
    NO_SAMPLE,
    OutcomeTable,
    Sorted,
    arrive,
    find_nearest,
    find_planes,
    follow,
    improve,
    pack,
    parted,
    relive,
    score_all,
)

Array = np.ndarray[Any, Any]


def drawn(seed: int, states: int = 12, actions: int = 3, samples: int = 4) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    to = rng.integers(-1, states, (states, actions, samples)).astype(np.int32)
    worth = rng.uniform(0.8, 0.95, to.shape).astype(np.float32)
    return to, worth


def score(to: Array, worth: Array, values: Array, i: int, prior: float) -> list[float]:
    """Scores of the actions of a state: the best sample counts as the second best."""
    totals, counts = [], []
    for a in range(to.shape[1]):
        some = sorted(
            (
                float(w) * values[t]
                for t, w in zip(to[i, a], worth[i, a], strict=True)
                if t != NO_SAMPLE
            ),
            reverse=True,
        )
        if some:
            some[0] = some[1] if len(some) > 1 else 0.0
        totals.append(sum(some))
        counts.append(len(some))
    if not sum(counts):
        return [0.0] * len(totals)
    mean = sum(totals) / sum(counts)
    return [
        (t + prior * mean) / (c + prior) if c else 0.0 for t, c in zip(totals, counts, strict=True)
    ]


@pytest.mark.parametrize("seed", range(5))
def test_value_iteration_and_its_sweeps_agree(seed: int) -> None:
    to, worth = drawn(seed)
    n = len(to)
    goal, prior = np.arange(n) == 0, np.arange(n) % 3 / 2.0
    naive = goal.astype(float)
    for _ in range(400):
        best = [max(score(to, worth, naive, i, prior[i])) for i in range(n)]
        naive = np.where(goal, 1.0, best)
    table, values = OutcomeTable(*pack(to, worth, 0, to.shape[2])), goal.astype(float)
    while improve(table, prior, goal, np.arange(n), values) > 1e-12:
        assert (values <= naive + 1e-9).all()
    assert values == pytest.approx(naive, abs=1e-9)
    for i, scores in enumerate(score_all(table, prior, values)):
        assert scores == pytest.approx(score(to, worth, values, i, prior[i]))


def test_a_table_holds_some_of_the_samples_in_order() -> None:
    to, worth = drawn(0)
    table = OutcomeTable(*pack(to, worth, 1, 3))
    for i, a in np.ndindex(to.shape[:2]):
        mine = slice(table.first[i, a], table.first[i, a + 1])
        found = to[i, a, 1:3] != NO_SAMPLE
        assert table.to[mine].tolist() == to[i, a, 1:3][found].tolist()
        assert table.worth[mine].tolist() == worth[i, a, 1:3][found].tolist()


@pytest.mark.parametrize("seed", range(5))
def test_a_plan_is_judged_by_the_samples_around_each_state(seed: int) -> None:
    to, _ = drawn(seed, samples=4)
    rng = np.random.default_rng(seed)
    n, late = len(to), 0.9
    took = rng.integers(1, 4, to.shape).astype(np.float32)
    near = np.stack([rng.permutation(n)[:3] for _ in range(n)])
    share = rng.dirichlet(np.ones(3), n)
    plan = rng.integers(-1, to.shape[1], n)
    to[near[3], plan[3], 2:] = NO_SAMPLE  # none of the second half there: all samples count
    table = OutcomeTable(*follow(to, took, late, 2, 4, near, share, plan))
    for i in range(n):
        weight = np.zeros(n)
        for some in ([2, 3], [0, 1, 2, 3]):
            found = [
                (k, j)
                for k in range(3)
                for j in some
                if plan[i] >= 0 and to[near[i, k], plan[i], j] != NO_SAMPLE
            ]
            if found:
                break
        total = sum(share[i, k] for k, _ in found)
        for k, j in found:
            at = near[i, k], plan[i], j
            weight[to[at]] += share[i, k] / total * late ** took[at]
        mine = slice(*table.first[i])
        sums = np.bincount(table.to[mine], table.worth[mine], n)
        assert sums == pytest.approx(weight, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_arrival_solves_the_linear_equation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k = 15, 4
    to = rng.integers(0, n, (n, k)).astype(np.int32)
    weight = rng.dirichlet(np.ones(k), n).astype(np.float32) * np.float32(0.99)
    goal = np.arange(n) < 2
    matrix = np.zeros((n, n))
    np.add.at(matrix, (np.repeat(np.arange(n), k), to.ravel()), weight.ravel())
    free = ~goal
    exact = np.ones(n)
    exact[free] = np.linalg.solve(
        np.eye(free.sum()) - matrix[free][:, free], matrix[free][:, goal].sum(axis=1)
    )
    first = k * np.arange(n)[:, None] + [0, k]
    table, values = OutcomeTable(first, to.ravel(), weight.ravel()), goal.astype(float)
    while arrive(table, goal, np.arange(n), values) > 1e-13:
        assert (values <= exact + 1e-9).all()
    assert values == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize("wall", [True, False])
def test_a_plane_that_nobody_crosses_is_found_on_the_right_side(wall: bool) -> None:
    rng = np.random.default_rng(0)
    rows = rng.uniform(-2, 2, (4000, 2))
    meant = rng.normal(size=(4000, 2))
    meant /= np.linalg.norm(meant, axis=1, keepdims=True)
    ends = rows + meant
    crossed = (rows[:, 0] < 0.4) != (ends[:, 0] < 0.4)
    steps = np.where((crossed & wall)[:, None], 0.0, meant)
    directions = np.eye(2)
    near = np.argsort(np.linalg.norm(rows, axis=1))[None, :800]
    reach = np.linalg.norm(rows[near[0, -1]])[None]
    trail = np.array([[[-0.5, 0.0], [-0.5, 0.1]]])
    for known in (meant, meant[:0]):
        planes = find_planes(
            np.zeros((1, 2)), trail, near, reach, rows, steps, known, True, directions, 8
        )
        if wall:
            assert 0.0 < planes[0, 0, 0] < 0.45  # not behind it
        else:
            assert not np.isfinite(planes[0, 0]).any()
        assert not np.isfinite(planes[0, 1]).any()
        points = np.array([[1.0, 0.0], [-1.0, 0.0]])
        behind = parted(points, np.zeros((2, 1), int), np.zeros((1, 2)), directions, planes)
        assert behind[:, 0].tolist() == [wall, False]


@pytest.mark.parametrize("both", [True, False])
def test_noise_of_steps_along_a_wall_does_not_hide_it(both: bool) -> None:
    rng = np.random.default_rng(1)
    rows = rng.uniform(-2, 2, (3000, 2))
    meant = np.eye(2)[rng.integers(0, 2, 3000)] * rng.choice([-1.0, 1.0], (3000, 1))
    crossed = (rows[:, 0] < 0.6) != (rows[:, 0] + meant[:, 0] < 0.6)
    crossed &= both | (meant[:, 0] > 0)  # what stops those of one side alone is no wall
    steps = np.where(crossed[:, None], 0.0, meant) + rng.normal(0.0, 0.3, (3000, 2))
    near = np.argsort(np.linalg.norm(rows, axis=1))[None, :2000]
    reach = np.linalg.norm(rows[near[0, -1]])[None]
    args = np.zeros((1, 2)), np.zeros((1, 0, 2)), near, reach, rows, steps
    planes = find_planes(*args, meant, True, np.eye(2), 8)
    # of the steps of length 1 that mean to cross a plane, the wall at 0.6 stops half from 0.1 on
    assert (0.1 < planes[0, 0, 0] < 0.7) == both
    assert not np.isfinite(find_planes(*args, meant[:0], True, np.eye(2), 8)).any()


@pytest.mark.parametrize("width", [1, 2, 5])
def test_the_nearest_states_are_those_of_a_full_search(width: int) -> None:
    rng = np.random.default_rng(width)
    states = rng.integers(0, 6, (300, width)).astype(float)  # with many ties
    points = np.vstack([rng.uniform(-1.0, 7.0, (40, width)), states[:10]])
    directions = np.eye(width)
    planes = np.full((300, width, 2), np.inf, np.float32)
    planes[rng.random(300) < 0.2, :, 0] = 0.3
    for axis in range(width):
        order = np.argsort(states[:, axis], kind="stable")
        by = Sorted(axis, order, states[order, axis].copy(), states[order])
        away, near = find_nearest(points, 8, by, states, directions, planes)
        for q, point in enumerate(points):
            exact = np.linalg.norm(states - point, axis=1)
            first = np.lexsort((np.arange(300), np.round(exact, 9)))[:8]
            behind = parted(point[None], first[None], states, directions, planes)[0]
            seems = exact[first] + BEHIND * behind
            order = np.argsort(np.round(seems, 9), kind="stable")
            assert near[q].tolist() == first[order].tolist()
            assert away[q] == pytest.approx(seems[order])
    few = Sorted(0, np.arange(3), np.arange(3.0), np.arange(3.0)[:, None] * np.ones(width))
    assert find_nearest(points, 8, few, states, directions, planes)[1].shape == (50, 3)


def test_walks_follow_the_samples_of_their_half() -> None:
    to = np.full((4, 2, 2), NO_SAMPLE, np.int32)
    to[0, 1] = [1, 2]  # the first half leads to 1, the second to 2
    to[1, 0, 0], to[2, 0, 1] = 3, 0
    dice = np.zeros((2, 1, 2))
    kinds = np.array([[1, 0], [1, 0]])
    ends = relive(to, np.array([0, 1]), np.array([0, 0]), kinds, dice, 4)
    assert ends[:, 0].tolist() == [3, 0]
    # state 3 is a chance node: it is left at once
    to[3, 0] = [2, 2]
    ends = relive(to, np.array([0, 1]), np.array([0, 0]), kinds, dice, 3)
    assert ends[:, 0].tolist() == [2, 0]
    nowhere = relive(to, np.array([0]), np.array([1]), np.array([[1, -1]]), dice[:1], 3)
    assert nowhere[0, 0] == NO_SAMPLE
