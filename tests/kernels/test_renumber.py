"""Renumbering a large graph changes where values lie in memory, and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree

import wayfield as wf
from wayfield.kernels.amle import fix, in_original, renumber, renumbered
from wayfield.kernels.amle.renumber import local_order
from wayfield_verify import verify


def random_points(size: int, seed: int) -> wf.Graph:
    """Points in the plane, numbered at random, with edges between close ones."""
    points = np.random.default_rng(seed).random((size, 2))
    pairs = cKDTree(points).query_pairs(2.0 / np.sqrt(size), output_type="ndarray")
    lengths = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
    graph = wf.Graph.from_edges(*pairs.T, lengths, size)
    largest = np.bincount(graph.components).argmax()
    keep = graph.components == largest
    number = np.cumsum(keep) - 1
    inside = keep[pairs[:, 0]]
    return wf.Graph.from_edges(*number[pairs[inside]].T, lengths[inside])


def test_arcs_of_the_renumbered_graph() -> None:
    graph = random_points(300, seed=1)
    order = np.random.default_rng(2).permutation(graph.num_vertices).astype(np.int32)
    arcs = renumbered(graph.arcs, order)
    for new, old in enumerate(order):
        row, there = (slice(*a.indptr[i : i + 2]) for a, i in ((arcs, new), (graph.arcs, old)))
        assert np.array_equal(order[arcs.indices[row]], graph.arcs.indices[there])
        assert np.array_equal(arcs.lengths[row], graph.arcs.lengths[there])


def test_only_graphs_that_gain_are_renumbered() -> None:
    grid = wf.grid_graph(wf.Layout.from_text("\n".join(250 * [250 * "."])))
    rng = np.random.default_rng(0)
    mixed = rng.permutation(grid.num_vertices)
    scipy = grid.to_scipy().tocoo()
    shuffled = wf.Graph.from_edges(mixed[scipy.row], mixed[scipy.col])
    cycles = [rng.permutation(60_000) for _ in range(2)]
    regular = wf.Graph.from_edges(
        np.concatenate(cycles), np.concatenate([np.roll(cycle, 1) for cycle in cycles])
    )
    assert local_order(grid.arcs) is None  # neighbours are close already
    assert local_order(regular.arcs) is None  # no order brings them together
    assert local_order(random_points(300, seed=3).arcs) is None  # small
    order = local_order(shuffled.arcs)
    assert order is not None
    assert np.array_equal(np.sort(order), np.arange(grid.num_vertices))
    arcs = renumbered(shuffled.arcs, order)
    tails = np.repeat(np.arange(order.size), np.diff(arcs.indptr))
    assert np.abs(tails - arcs.indices).mean() < 0.01 * order.size


@pytest.mark.parametrize("true", [True, False])
def test_the_same_field_and_a_proof(
    true: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    graph = random_points(6000, seed=4)
    rng = np.random.default_rng(5)
    vertices = np.union1d(rng.choice(graph.num_vertices, 200, replace=False), [0])
    values = wf.cost_to_go(graph, 0)[vertices] if true else rng.random(vertices.size)
    labels = wf.Labels(vertices, values)
    plain = wf.extend(graph, labels, wf.AMLE())
    monkeypatch.setattr(renumber, "LARGE", 1000)
    field = wf.extend(graph, labels, wf.AMLE())
    assert field.status is wf.Status.CONVERGED
    assert field.lower is not None
    assert field.upper is not None
    assert plain.upper is not None
    # both brackets contain the exact value
    assert plain.lower is not None
    assert (field.lower <= plain.upper).all()
    assert (plain.lower <= field.upper).all()
    assert np.allclose(field.values, plain.values, rtol=0, atol=1e-12)
    field.write_proof(tmp_path / "field.proof")
    assert verify(tmp_path / "field.proof")


def test_without_a_bracket_there_is_none_to_renumber() -> None:
    graph = random_points(200, seed=6)
    order = np.arange(graph.num_vertices, dtype=np.int32)[::-1]
    labels = wf.Labels([0, 5], [0.0, 1.0])
    mask = labels.mask(graph)
    given = np.zeros(graph.num_vertices)
    given[labels.vertices] = labels.values
    arcs = renumbered(graph.arcs, order)
    fixing, proved = in_original(order, fix(arcs, arcs, mask[order], given[order], False), None)
    assert proved is None
    expected = wf.extend(graph, labels, wf.AMLE()).values
    assert np.allclose(fixing.values, expected, rtol=0, atol=1e-12)
