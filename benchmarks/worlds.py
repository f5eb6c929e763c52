"""The graphs and labels of the benchmarks: flattering ones, and those that people have.

Every graph is connected (the largest component of what was drawn) and a function of its kind and
size alone; every label set one of graph, kind and share.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from benchmarks._timing import obstacle_grid
from numba import njit
from scipy.spatial import cKDTree

import wayfield as wf

Edges = tuple[np.ndarray, np.ndarray, np.ndarray | None]
NOISE = 0.1
"""Of noisy labels: standard deviation, as a share of the largest true value."""


def grid_in_space(n: int) -> Edges:
    """A cubic grid."""
    side = round(n ** (1 / 3))
    number = np.arange(side**3).reshape(side, side, side)
    ways = [np.moveaxis(number, axis, 0) for axis in range(3)]
    tails = np.concatenate([way[:-1].ravel() for way in ways])
    return tails, np.concatenate([way[1:].ravel() for way in ways]), None


def regular(n: int) -> Edges:
    """A random graph in which nearly every vertex has four neighbours: no small separators."""
    rng = np.random.default_rng(0)
    tails = np.tile(np.arange(n), 2)
    heads = np.concatenate([rng.permutation(n) for _ in range(2)])
    return tails, heads, None


def preferential(n: int) -> Edges:
    """Preferential attachment (Barabási and Albert), two edges for every new vertex: hubs."""
    draws = np.random.default_rng(0).random(2 * n)
    return *_attached(n, draws), None


@njit(cache=True)
def _attached(n: int, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    # Batagelj and Brandes, Phys. Rev. E 71, 2005: an end of an earlier edge, drawn uniformly, is a
    # vertex drawn in proportion to its degree
    ends = np.empty(2 * draws.size, np.int64)
    for edge in range(draws.size):
        ends[2 * edge] = edge * n // draws.size
        ends[2 * edge + 1] = ends[int(draws[edge] * (2 * edge + 1))]
    return ends[::2].copy(), ends[1::2].copy()


def geometric(n: int) -> Edges:
    """Points in the unit square, joined within a radius (8 neighbours); Euclidean lengths."""
    points = np.random.default_rng(0).random((n, 2))
    pairs = cKDTree(points).query_pairs(np.sqrt(8 / (np.pi * n)), output_type="ndarray")
    tails, heads = pairs[:, 0], pairs[:, 1]
    return tails, heads, np.linalg.norm(points[tails] - points[heads], axis=1)


def with_lengths(draw: Callable[[np.random.Generator, int], np.ndarray], graph: wf.Graph) -> Edges:
    """Return the edges of a graph with random lengths."""
    once = graph.tails < graph.indices
    lengths = draw(np.random.default_rng(1), int(once.sum()))
    return graph.tails[once], graph.indices[once], lengths


def whole(rng: np.random.Generator, size: int) -> np.ndarray:
    return rng.integers(1, 9, size).astype(float)


def lognormal(rng: np.random.Generator, size: int) -> np.ndarray:
    return rng.lognormal(size=size)


KINDS: dict[str, Callable[[int], wf.Graph | Edges]] = {
    "2-D grid": obstacle_grid,
    "3-D grid": grid_in_space,
    "4-regular": regular,
    "preferential": preferential,
    "geometric": geometric,
    "2-D, whole": lambda n: with_lengths(whole, obstacle_grid(n)),
    "3-D, whole": lambda n: with_lengths(whole, _connected(grid_in_space(n))),
    "2-D, lognormal": lambda n: with_lengths(lognormal, obstacle_grid(n)),
}
LABELS = ("true", "noisy", "random")


def make_graph(kind: str, n: int) -> wf.Graph:
    """Return the graph of a kind with about this many vertices."""
    made = KINDS[kind](n)
    return made if isinstance(made, wf.Graph) else _connected(made)


def make_labels(graph: wf.Graph, kind: str, share: float) -> wf.Labels:
    """Return labels at a share of the vertices: true distances, noisy ones, or random numbers."""
    goal = graph.num_vertices // 2
    labels = wf.sample_labels(graph, goal=goal, fraction=share, seed=54)
    rng = np.random.default_rng(2)
    if kind == "random":
        return wf.Labels(labels.vertices, rng.random(len(labels)))
    if kind == "noisy":
        noise = NOISE * labels.values.max() * rng.normal(size=len(labels))
        return wf.Labels(labels.vertices, labels.values + noise)
    return labels


def _connected(edges: Edges) -> wf.Graph:
    """Largest component of a graph, loops and repeated edges dropped."""
    ends = np.sort(np.stack(edges[:2]).astype(np.int64), axis=0)
    code, first = np.unique(ends[0] * (ends.max() + 1) + ends[1], return_index=True)
    tails, heads = np.divmod(code, ends.max() + 1)
    keep = tails != heads
    lengths = None if edges[2] is None else edges[2][first][keep]
    tails, heads = tails[keep], heads[keep]
    component = wf.Graph.from_edges(tails, heads).components
    inside = component == np.bincount(component).argmax()
    number = np.cumsum(inside) - 1
    kept = inside[tails]
    return wf.Graph.from_edges(
        number[tails[kept]],
        number[heads[kept]],
        None if lengths is None else lengths[kept],
        num_vertices=int(inside.sum()),
    )
