"""A guard on speed that counts work: the same figures on every machine and under every load.

A count that has grown by more than a tenth fails. One that has fallen for good is entered here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import wayfield as wf
from wayfield.fields.amle.kernels import divide, fix

GROWTH = 1.1


def grid(*sides: int, lengths: Callable[[int], np.ndarray] = np.ones) -> wf.Graph:
    """A grid in as many dimensions as there are sides."""
    number = np.arange(np.prod(sides)).reshape(sides)
    tails, heads = [], []
    for axis, side in enumerate(sides):
        tails.append(number.take(range(side - 1), axis).ravel())
        heads.append(number.take(range(1, side), axis).ravel())
    ends = np.concatenate(tails), np.concatenate(heads)
    return wf.Graph.from_edges(*ends, lengths(ends[0].size), number.size)


def four_regular(n: int) -> wf.Graph:
    """Two random cycles through all vertices."""
    rng = np.random.default_rng(0)
    cycles = [rng.permutation(n) for _ in range(2)]
    return wf.Graph.from_edges(
        np.concatenate(cycles), np.concatenate([np.roll(each, -1) for each in cycles])
    )


def whole(count: int) -> np.ndarray:
    return np.random.default_rng(1).integers(1, 9, count).astype(float)


def lognormal(count: int) -> np.ndarray:
    return np.random.default_rng(1).lognormal(size=count)


GRAPHS = {
    "square": lambda: grid(60, 60),
    "cube": lambda: grid(15, 15, 15),
    "4-regular": lambda: four_regular(3600),
    "whole lengths": lambda: grid(60, 60, lengths=whole),
    "lognormal lengths": lambda: grid(60, 60, lengths=lognormal),
    "large square": lambda: grid(150, 150),
    "large 4-regular": lambda: four_regular(20_000),
    "large whole lengths": lambda: grid(120, 120, lengths=whole),
}
WORK = {
    ("square", "true"): (30, 19390, 2087),
    ("square", "random"): (1237, 60179, 15626),
    ("cube", "true"): (522, 38114, 12886),
    ("cube", "random"): (1612, 57487, 23115),
    ("4-regular", "true"): (2732, 62341, 22676),
    ("4-regular", "random"): (3288, 63628, 24741),
    ("whole lengths", "true"): (2318, 57994, 76486),
    ("whole lengths", "random"): (2917, 67210, 88544),
    ("lognormal lengths", "true"): (2648, 51576, 70642),
    ("lognormal lengths", "random"): (3082, 64943, 89675),
    ("large square", "true"): (141, 54771, 7400),
}
"""Frames, vertices spread from, and entries sorted or kept in a heap, of the divide and conquer."""
ROUNDS = {"large square": 7, "large 4-regular": 3, "large whole lengths": 10}
"""Of the iteration, with labels that say nothing."""


def labels_of(graph: wf.Graph, kind: str) -> wf.Labels:
    """One vertex in fifty: true distances to the middle, or numbers that say nothing."""
    labels = wf.sample_labels(graph, graph.num_vertices // 2, 0.02, seed=54)
    if kind == "true":
        return labels
    return wf.Labels(labels.vertices, np.random.default_rng(7).random(len(labels)))


def work_of_amle(graph: wf.Graph, labels: wf.Labels) -> tuple[int, int, int]:
    values = np.zeros(graph.num_vertices)
    values[labels.vertices] = labels.values / np.abs(labels.values).max()
    fixing = fix(graph.arcs, graph.reverse_arcs, labels.mask(graph), values, leave_flat=False)
    assert fixing.finished
    return fixing.frames, fixing.visits, fixing.pushes


@pytest.mark.parametrize(("name", "kind"), WORK)
def test_the_amle_works_no_more_than_it_did(name: str, kind: str) -> None:
    graph = GRAPHS[name]()
    counted = work_of_amle(graph, labels_of(graph, kind))
    for now, then in zip(counted, WORK[name, kind], strict=True):
        assert now <= GROWTH * then, f"{counted}, where it took {WORK[name, kind]}"


@pytest.mark.parametrize("name", ROUNDS)
def test_the_iteration_takes_no_more_rounds_than_it_did(name: str) -> None:
    graph = GRAPHS[name]()
    result = wf.extend(graph, labels_of(graph, "random"), wf.AMLE(bracket=False))
    assert 0 < result.details["rounds"] <= GROWTH * ROUNDS[name]


@pytest.mark.parametrize(
    "maker", [lambda k: grid(*[10 * k] * 3), lambda k: four_regular(1000 * k**3)]
)
def test_work_is_near_linear_where_labels_say_nothing(
    maker: Callable[[int], wf.Graph], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight times the vertices, at most 8^1.1 times the visits of the divide and conquer."""
    monkeypatch.setattr(divide, "FEW_UNLABELLED", 10_000)
    few, many = (work_of_amle(graph, labels_of(graph, "random"))[1] for graph in map(maker, (1, 2)))
    assert many <= 8**1.1 * few


def tied_digraph(side: int, seed: int = 3) -> tuple[wf.Graph, wf.Labels]:
    """A grid one can only walk right and down in, of whole lengths, and few different labels."""
    rng = np.random.default_rng(seed)
    number = np.arange(side * side).reshape(side, side)
    tails = np.concatenate([number[:, :-1].ravel(), number[:-1].ravel()])
    heads = np.concatenate([number[:, 1:].ravel(), number[1:].ravel()])
    lengths = rng.integers(1, 4, tails.size).astype(float)
    at = np.union1d(rng.choice(side * side, side * side // 50, replace=False), [0])
    labels = wf.Labels(at, rng.integers(0, 3, at.size).astype(float))
    return wf.Graph.from_edges(tails, heads, lengths, directed=True), labels


def sparse_digraph(n: int, seed: int) -> tuple[wf.Graph, wf.Labels]:
    """Two random arcs a vertex, of random lengths: no walk descends through half of all."""
    rng = np.random.default_rng(seed)
    tails = np.repeat(np.arange(n), 2)
    heads = (tails + rng.integers(1, n, 2 * n)) % n
    arcs = np.unique(np.column_stack([tails, heads]), axis=0)
    graph = wf.Graph.from_edges(*arcs.T, rng.uniform(0.01, 1.0, len(arcs)), n, directed=True)
    return graph, wf.Labels(rng.choice(n, n // 50, replace=False), rng.random(n // 50))


@pytest.mark.parametrize("seed", [5, 6])
@pytest.mark.parametrize(
    "maker",
    [lambda k, seed: tied_digraph(80 * k, seed), lambda k, seed: sparse_digraph(4000 * k**2, seed)],
)
def test_work_is_near_linear_on_digraphs(
    maker: Callable[[int, int], tuple[wf.Graph, wf.Labels]], seed: int
) -> None:
    """Nine times the vertices, at most 9^1.1 times the frames and visits; under 0.6 frames each."""
    few, many = (work_of_amle_on_digraph(maker(k, seed)) for k in (1, 3))
    assert many[0] <= 0.6 * maker(3, seed)[0].num_vertices
    assert many[0] <= 9**1.1 * few[0]
    assert many[1] <= 9**1.1 * few[1]


def work_of_amle_on_digraph(problem: tuple[wf.Graph, wf.Labels]) -> tuple[int, int]:
    graph, labels = problem
    values = np.zeros(graph.num_vertices)
    values[labels.vertices] = labels.values / np.abs(labels.values).max()
    fixing = fix(graph.arcs, graph.reverse_arcs, labels.mask(graph), values, leave_flat=True)
    assert fixing.finished
    return fixing.frames, fixing.visits


def test_ties_on_a_digraph_have_an_end() -> None:
    graph, labels = tied_digraph(200)
    result = wf.extend(graph, labels, wf.AMLE(bracket=False))
    assert result.residual <= 1e-15
    assert result.iterations <= graph.num_vertices


FACTORISATIONS = {2.5: 5, 8.0: 3, 64.0: 2}
"""Of the p-Laplacian with its bracket, by p."""


@pytest.mark.parametrize("p", FACTORISATIONS)
def test_the_p_laplacian_factorises_no_more_often_than_it_did(p: float) -> None:
    graph = GRAPHS["square"]()
    result = wf.extend(graph, labels_of(graph, "random"), wf.PLaplacian(p))
    assert result.details["factorisations"] <= GROWTH * FACTORISATIONS[p]
