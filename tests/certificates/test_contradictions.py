"""Contradictions between labels and graph, against all pairs of shortest paths."""

from __future__ import annotations

import numpy as np
import pytest

import wayfield as wf
from worlds import contradicted, path, random_graph


def distances(graph: wf.Graph) -> np.ndarray:
    """Distance from every vertex (row) to every other (column)."""
    return np.column_stack([wf.cost_to_go(graph, y) for y in range(graph.num_vertices)])


@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_all_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph, _, labels = contradicted(rng, int(rng.integers(3, 25)), directed=seed % 2 == 1)
    error = float(rng.choice([0.0, 0.2]))
    labels = wf.Labels(labels.vertices, labels.values, error)
    found = wf.contradictions(graph, labels)
    at, low, high = labels.vertices, labels.values - error, labels.values + error
    d = distances(graph)
    assert np.allclose(found.upper, (high + d[:, at]).min(axis=1))
    assert np.allclose(found.lower, (low[:, None] - d[at]).max(axis=0))

    # the label that contradicts each most, over pairs of different labels
    excess = low[:, None] - high - d[np.ix_(at, at)]
    np.fill_diagonal(excess, -np.inf)
    most = dict(zip(at.tolist(), excess.max(axis=1), strict=True))
    proved = {x: e for x, e in most.items() if e > 1e-9}
    assert found.optimistic.labels.tolist() == sorted(proved, key=lambda x: (-proved[x], x))
    for x, z, by in zip(*found.optimistic, strict=True):
        assert by == pytest.approx(proved[x])
        pair = excess[np.searchsorted(at, x), np.searchsorted(at, z)]
        assert by == pytest.approx(pair)

    # an arc has the largest excess of the walks through it
    walks = low[:, None] - d[at][:, graph.tails] - graph.lengths
    through = walks.max(axis=0) - (high + d[:, at]).min(axis=1)[graph.indices]
    assert np.allclose(found.arcs, np.where(through > 1e-9, through, 0.0))

    # the distance to the goal, which is the label of least value
    goal = int(np.argmin(labels.values))
    gap = d[at, at[goal]] + labels.values[goal] - labels.values - 2 * error
    gap[goal] = 0.0
    too_long = at[gap > 1e-9]
    assert set(found.pessimistic.labels.tolist()) == set(too_long.tolist())
    assert np.allclose(np.sort(found.pessimistic.excess), np.sort(gap[gap > 1e-9]))


@pytest.mark.parametrize("seed", range(5))
def test_blame_is_that_of_walks_too_short_for_their_labels(seed: int) -> None:
    """Blame is a flow from the labels to their witnesses, along suspect arcs only."""
    graph, _, labels = contradicted(np.random.default_rng(seed), 25, directed=seed % 2 == 1)
    found = wf.contradictions(graph, labels)
    who, witness, by = found.optimistic
    load = found.blame
    net = np.bincount(graph.tails, load, 25) - np.bincount(graph.indices, load, 25)
    expected = np.bincount(who, by, 25) - np.bincount(witness, by, 25)
    assert np.allclose(net, expected)
    assert (found.arcs[load > 0] > 0).all()
    # the walks are shortest: their lengths, which the labels exceed by their excess
    shortest = labels.values[np.searchsorted(labels.vertices, who)] - by
    shortest -= labels.values[np.searchsorted(labels.vertices, witness)]
    assert load @ graph.lengths == pytest.approx(by @ shortest)


def test_the_arc_on_every_witness_walk_is_blamed_most() -> None:
    ring = wf.Graph.from_edges([*range(10), 0], [*range(1, 10), 0, 5])
    labels = wf.Labels([0, 4, 5, 6], [0.0, 4.0, 5.0, 4.0])
    found = wf.contradictions(ring, labels)
    worst = found.blame.argmax()
    assert (int(ring.tails[worst]), int(ring.indices[worst])) == (5, 0)
    assert found.blame[worst] == found.optimistic.excess.sum()
    assert repr(found) == (
        "Contradictions(3 of 4 labels exceed the graph's shortest paths, by up to 4)"
    )


def test_nothing_on_a_right_graph() -> None:
    graph = random_graph(np.random.default_rng(0), 50, "wide", backbone="tree")
    found = wf.contradictions(graph, wf.sample_labels(graph, 3, 0.4))
    assert not found
    assert not found.blame.any()
    assert repr(found) == "Contradictions(none)"


def test_too_pessimistic() -> None:
    found = wf.contradictions(path(4), wf.Labels([0, 3], [0.0, 1.0]))
    assert found.pessimistic.labels.tolist() == [3]
    assert found.pessimistic.excess.tolist() == [2.0]
    assert (
        repr(found)
        == "Contradictions(1 of 2 labels is below the graph's shortest paths, by up to 2)"
    )


def test_unreachable_goal_is_as_pessimistic_as_can_be() -> None:
    two = wf.Graph.from_edges([0, 2], [1, 3])
    found = wf.contradictions(two, wf.Labels([0, 3], [0.0, 1.0]))
    assert found.pessimistic.excess.tolist() == [np.inf]


def test_the_goal_need_not_be_the_label_of_least_value() -> None:
    """Costs 0 and 1 fit both labels; only for the wrong goal they seem impossible."""
    graph = wf.Graph.from_edges([1], [0], directed=True)
    labels = wf.Labels([0, 1], [0.5, 0.4], error=0.6)
    assert wf.contradictions(graph, labels).pessimistic.labels.tolist() == [0]
    assert not wf.contradictions(graph, labels, goal=0).pessimistic.labels.size
    assert "against" not in wf.solve(graph, labels, goal=0).summary()
