"""A guard on speed that counts work: the same figures on every machine and under every load.

A count that has grown by more than a tenth fails. One that has fallen for good is entered here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import wayfield as wf
from wayfield.kernels.amle import fix

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
    "divided": lambda: grid(150, 150),  # so large that it is shared among copies
}
WORK = {
    ("square", "true"): (29, 21300, 2224),
    ("square", "random"): (645, 72225, 10824),
    ("cube", "true"): (227, 38185, 7550),
    ("cube", "random"): (653, 63773, 14299),
    ("4-regular", "true"): (1176, 63716, 12989),
    ("4-regular", "random"): (1214, 67251, 13886),
    ("whole lengths", "true"): (890, 62858, 55728),
    ("whole lengths", "random"): (910, 73176, 62059),
    ("lognormal lengths", "true"): (969, 60574, 53465),
    ("lognormal lengths", "random"): (1007, 72885, 65519),
    ("divided", "true"): (57, 50693, 4773),
    ("divided", "random"): (3708, 463957, 65293),
}
"""Frames, vertices spread from, and entries sorted or kept in a heap, of the exact AMLE."""


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


@pytest.mark.parametrize(
    "maker", [lambda k: grid(*[10 * k] * 3), lambda k: four_regular(1000 * k**3)]
)
def test_work_is_near_linear_where_labels_say_nothing(maker: Callable[[int], wf.Graph]) -> None:
    """Eight times the vertices, at most 8^1.1 times the visits."""
    few, many = (work_of_amle(graph, labels_of(graph, "random"))[1] for graph in map(maker, (1, 2)))
    assert many <= 8**1.1 * few


FACTORISATIONS = {2.5: 5, 8.0: 3, 64.0: 2}
"""Of the p-Laplacian with its bracket, by p."""


@pytest.mark.parametrize("p", FACTORISATIONS)
def test_the_p_laplacian_factorises_no_more_often_than_it_did(p: float) -> None:
    graph = GRAPHS["square"]()
    result = wf.extend(graph, labels_of(graph, "random"), wf.PLaplacian(p))
    assert result.details["factorisations"] <= GROWTH * FACTORISATIONS[p]
