"""Graphs and labels of the benchmarks: flattering ones, and those that people have.

A graph is the largest component of what was drawn, a function of its kind, size and seed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial import Delaunay, cKDTree

import wayfield as wf
from wayfield.numerics.jit import njit

Rng = np.random.Generator
Ends = tuple[np.ndarray, np.ndarray]
NOISE = 0.1
"""Of noisy labels: standard deviation, as a share of the largest true value."""
LABELS = ("true", "noisy", "random")


def lattice(side: int, dimensions: int) -> Ends:
    """Edges of a grid with as many vertices along every axis."""
    number = np.arange(side**dimensions).reshape((side,) * dimensions)
    axes = [np.moveaxis(number, axis, 0) for axis in range(dimensions)]
    tails = np.concatenate([axis[:-1].ravel() for axis in axes])
    return tails, np.concatenate([axis[1:].ravel() for axis in axes])


def plane(n: int, rng: Rng) -> Ends:
    return lattice(round(n**0.5), 2)


def space(n: int, rng: Rng) -> Ends:
    return lattice(round(n ** (1 / 3)), 3)


def obstacles(n: int, rng: Rng) -> Ends:
    """A square grid without a tenth of its cells."""
    side = round((n / 0.9) ** 0.5)
    tails, heads = lattice(side, 2)
    free = rng.random(side * side) >= 0.1
    kept = free[tails] & free[heads]
    return tails[kept], heads[kept]


def regular(n: int, rng: Rng) -> Ends:
    """Nearly every vertex has four neighbours, anywhere: no small separators."""
    tails = np.tile(np.arange(n), 2)
    return tails, np.concatenate([rng.permutation(n) for _ in range(2)])


def preferential(n: int, rng: Rng) -> Ends:
    """Preferential attachment (Barabási and Albert), three edges for every new vertex: hubs."""
    return attached(3, rng.random(3 * n))


@njit(cache=True)
def attached(each: int, draws: np.ndarray) -> Ends:
    # Batagelj and Brandes, Phys. Rev. E 71, 2005: an end of an earlier edge, drawn uniformly, is a
    # vertex drawn in proportion to its degree
    ends = np.empty(2 * draws.size, np.int64)
    for edge in range(draws.size):
        ends[2 * edge] = edge // each
        ends[2 * edge + 1] = ends[int(draws[edge] * (2 * edge + 1))]
    return ends[::2].copy(), ends[1::2].copy()


def small_world(n: int, rng: Rng) -> Ends:
    """A ring with the next but one joined, too, and one chord for fifty vertices."""
    ring, chords = np.arange(n), rng.integers(n, size=(2, n // 50))
    following = ((ring + 1) % n, (ring + 2) % n, chords[1])
    return np.concatenate([ring, ring, chords[0]]), np.concatenate(following)


def path(n: int, rng: Rng) -> Ends:
    return np.arange(n - 1), np.arange(1, n)


def tree(n: int, rng: Rng) -> Ends:
    """A random recursive tree, and one chord for a hundred vertices."""
    hops, chords = np.arange(1, n), rng.integers(n, size=(2, n // 100))
    parents = (rng.random(n - 1) * hops).astype(int)
    return np.concatenate([hops, chords[0]]), np.concatenate([parents, chords[1]])


def star(n: int, rng: Rng) -> Ends:
    return np.zeros(n - 1, int), np.arange(1, n)


def hubs(n: int, rng: Rng) -> Ends:
    """A ring, and ten hubs that are joined to a tenth of it each."""
    ring, spokes = np.arange(n), rng.choice(n, 10 * (n // 10))
    tails = np.concatenate([ring, np.repeat(np.arange(10), n // 10)])
    return tails, np.concatenate([(ring + 1) % n, spokes])


# points, whose edges have Euclidean lengths


def geometric(n: int, rng: Rng) -> tuple[np.ndarray, Ends]:
    """Points in the unit square, joined within a radius: eight neighbours."""
    at = rng.random((n, 2))
    pairs = cKDTree(at).query_pairs((8 / (np.pi * n)) ** 0.5, output_type="ndarray")
    return at, (pairs[:, 0], pairs[:, 1])


def triangles(n: int, rng: Rng) -> tuple[np.ndarray, Ends]:
    """A Delaunay triangulation."""
    at = rng.random((n, 2))
    start, heads = Delaunay(at).vertex_neighbor_vertices
    return at, (np.repeat(np.arange(n), np.diff(start)), heads)


def clusters(n: int, rng: Rng) -> tuple[np.ndarray, Ends]:
    """Fifty clouds in space, each point joined to its six nearest."""
    at = rng.random((50, 3))[rng.integers(50, size=n)]
    at += 0.05 * rng.standard_exponential((n, 1)) * rng.standard_normal((n, 3))
    _, near = cKDTree(at).query(at, 7)
    return at, (np.repeat(np.arange(n), 6), near[:, 1:].ravel())


# laws of lengths


def even(rng: Rng, size: int) -> np.ndarray:
    return 1.0 + rng.random(size)


def whole(rng: Rng, size: int) -> np.ndarray:
    return rng.integers(1, 9, size).astype(float)


def lognormal(sigma: float) -> Callable[[Rng, int], np.ndarray]:
    return lambda rng, size: rng.lognormal(sigma=sigma, size=size)


def contrast(orders: int) -> Callable[[Rng, int], np.ndarray]:
    return lambda rng, size: 10.0 ** rng.uniform(0, orders, size)


Law = Callable[[Rng, int], np.ndarray]
ONES: Law = lambda rng, size: np.ones(size)  # noqa: E731
KINDS: dict[str, tuple[Callable[[int, Rng], Ends], Law]] = {
    "2-D obstacles": (obstacles, ONES),
    "2-D": (plane, ONES),
    "3-D": (space, ONES),
    "4-regular": (regular, ONES),
    "preferential": (preferential, ONES),
    "2-D, whole": (plane, whole),
    "2-D, even": (plane, even),
    "3-D, even": (space, even),
    "4-regular, even": (regular, even),
    "small world, even": (small_world, even),
    "path, even": (path, even),
    "tree with chords, even": (tree, even),
    "star, even": (star, even),
    "ten hubs, even": (hubs, even),
    "2-D, lognormal": (plane, lognormal(1)),
    "3-D, lognormal": (space, lognormal(1)),
    "2-D, sigma 3": (plane, lognormal(3)),
    "3-D, sigma 3": (space, lognormal(3)),
    "2-D, contrast 1e3": (plane, contrast(3)),
    "2-D, contrast 1e12": (plane, contrast(12)),
}
"""Kinds by the ends of edges and the law of lengths: 1, or from 1 to 2 (*even*), and so on."""
POINTS: dict[str, Callable[[int, Rng], tuple[np.ndarray, Ends]]] = {
    "geometric": geometric,
    "Delaunay": triangles,
    "clusters in space": clusters,
}


def make_graph(kind: str, n: int, seed: int = 0) -> wf.Graph:
    """Return the largest component of a graph of a kind, with about `n` vertices."""
    rng = np.random.default_rng(seed)
    if kind in POINTS:
        at, (tails, heads) = POINTS[kind](n, rng)
        lengths = np.linalg.norm(at[tails] - at[heads], axis=1)
    else:
        ends, law = KINDS[kind]
        tails, heads = ends(n, rng)
        lengths = law(rng, tails.size)
    # loops go, and of repeated edges the first stays
    low, high = np.minimum(tails, heads).astype(np.int64), np.maximum(tails, heads)
    _, first = np.unique(low * n * 2 + high, return_index=True)
    first = first[low[first] != high[first]]
    graph = wf.Graph.from_edges(low[first], high[first], lengths[first])
    inside = graph.components == np.bincount(graph.components).argmax()
    number, kept = np.cumsum(inside) - 1, inside[low[first]]
    low, high, lengths = (each[first][kept] for each in (low, high, lengths))
    return wf.Graph.from_edges(number[low], number[high], lengths)


def make_labels(graph: wf.Graph, kind: str, share: float, seed: int = 54) -> wf.Labels:
    """Return labels at a share of the vertices: true distances, noisy ones, or random numbers."""
    labels = wf.sample_labels(graph, graph.num_vertices // 2, fraction=share, seed=seed)
    rng = np.random.default_rng(seed)
    if kind == "random":
        return wf.Labels(labels.vertices, rng.random(len(labels)))
    if kind == "noisy":
        noise = NOISE * labels.values.max() * rng.normal(size=len(labels))
        return wf.Labels(labels.vertices, labels.values + noise)
    return labels
