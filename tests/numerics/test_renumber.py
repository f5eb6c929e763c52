"""Renumbering a large graph changes where values lie in memory, and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree

import wayfield as wf
from wayfield.numerics import csr
from wayfield.numerics.csr import renumber
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


def test_arcs_of_the_renumbered_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csr, "LARGE", 100)
    graph = random_points(300, seed=1)
    found = renumber(graph.arcs)
    assert found is not None
    order, number, arcs = found
    assert np.array_equal(order[number], np.arange(order.size))
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
    assert grid.renumbered is None  # neighbours are close already
    assert regular.renumbered is None  # no order brings them together
    assert random_points(300, seed=3).renumbered is None  # small
    found = shuffled.renumbered
    assert found is not None
    assert not any(each.flags.writeable for each in (found.order, found.number, *found.arcs))
    hub = np.full(2000, grid.num_vertices)  # sorting its neighbours would take too long
    ends = np.append(mixed[scipy.row], hub), np.append(mixed[scipy.col], np.arange(2000))
    assert wf.Graph.from_edges(*ends).renumbered is None
    assert np.array_equal(np.sort(found.order), np.arange(grid.num_vertices))
    tails = np.repeat(np.arange(found.order.size), np.diff(found.arcs.indptr))
    assert np.abs(tails - found.arcs.indices).mean() < 0.01 * found.order.size


@pytest.mark.parametrize("true", [True, False])
def test_the_same_field_and_a_proof(
    true: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    graph = random_points(6000, seed=4)
    rng = np.random.default_rng(5)
    vertices = np.union1d(rng.choice(graph.num_vertices, 200, replace=False), [0])
    values = wf.cost_to_go(graph, 0)[vertices] if true else rng.random(vertices.size)
    labels = wf.Labels(vertices, values)
    answer = wf.solve(graph, labels, 0)
    plain, before = answer.field, answer.certificate.intervals
    monkeypatch.setattr(csr, "LARGE", 1000)
    graph = random_points(6000, seed=4)
    assert graph.renumbered is not None
    answer = wf.solve(graph, labels, 0)
    field, after = answer.field, answer.certificate.intervals
    for name in ("lower", "upper", "proved", "route_proved"):
        assert np.array_equal(getattr(before, name), getattr(after, name))
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
