"""Worlds in the plane that are no mazes of cells: thin walls seen through noise, and roads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial import Delaunay, KDTree

from wayfield.graph import Graph
from wayfield.kernels._types import BoolArray, FloatArray, IntArray

from .world import WrongWorld

STATES = 1_500
NEIGHBOURS = 8
BLUR = 0.05
"""Standard deviation of an observation, in sides of a cell."""
LEFT_OUT = 0.15
"""Share of the walls between cells that are left out once every cell can be reached."""
SPEEDS = ((0.5, 1.0, 1.5), (0.2, 0.5, 0.3))
"""Lengths of roads relative to their length in the plane, and how often each occurs."""
INCIDENTS = 0.02
"""Share of the roads' directions in which something blocks them: ten times the cost."""


def thin_walls(kind: str, share: float, size: float, rng: np.random.Generator) -> WrongWorld:
    """Nearest neighbours of noisy observations in a maze of thin walls.

    Of the edges that lead through a wall, `share` are in the graph.
    """
    cells = round(7 * size**0.5)
    passages = _depth_first_maze(cells, rng)
    n = round(STATES * size)
    places = rng.uniform(0, cells, (n, 2))
    seen = places + rng.normal(0, BLUR, places.shape)
    _, near = KDTree(seen).query(seen, NEIGHBOURS + 1)
    others = np.asarray(near)[:, 1:].ravel()
    a, b = _once(np.column_stack([np.repeat(np.arange(n), NEIGHBOURS), others]))
    through = _crosses_wall(places[a], places[b], passages)
    kept = ~through | (rng.random(a.size) < share)
    inside = _largest_component(a[~through], b[~through], n)
    kept &= inside[a] & inside[b]
    lengths = np.maximum(np.linalg.norm(seen[a] - seen[b], axis=1), 0.02)
    a, b, n = *_renumbered(inside, a[kept], b[kept]), int(inside.sum())
    graph = Graph.from_edges(a, b, lengths[kept], n, positions=seen[inside])
    world = WrongWorld.as_believed(kind, graph, int(rng.integers(n)))
    walled = through[kept]
    arcs, a, b = graph.tails.astype(np.int64) * n + graph.indices, a[walled], b[walled]
    return world.without(np.isin(arcs, np.concatenate([a * n + b, b * n + a])))


def roads(kind: str, size: float, rng: np.random.Generator) -> WrongWorld:
    """Roads of three speeds, with congestion in places and incidents on single arcs."""
    n = round(STATES * size)
    places = rng.uniform(0, 1, (n, 2))
    corners = Delaunay(places).simplices
    a, b = _once(np.vstack([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [0, 2]]]))
    lengths = np.linalg.norm(places[a] - places[b], axis=1) * np.sqrt(n)
    kept = (lengths < 4) & (rng.random(lengths.size) < 0.75)
    inside = _largest_component(a[kept], b[kept], n)
    kept &= inside[a]
    lengths = np.maximum(lengths[kept], 0.05)
    lengths *= rng.choice(SPEEDS[0], lengths.size, p=SPEEDS[1])
    a, b, places = *_renumbered(inside, a[kept], b[kept]), places[inside]
    graph = Graph.from_edges(a, b, lengths, len(places), positions=places)
    world = WrongWorld.as_believed(kind, graph, int(rng.integers(len(places))))
    slow = _congestion(places, rng)
    costs = graph.lengths * 0.5 * (slow[graph.tails] + slow[graph.indices])
    blocked = rng.random(graph.num_arcs) < INCIDENTS
    return replace(world, costs=np.where(blocked, 10 * costs, costs))


def _congestion(places: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return a smooth lognormal field of factors, at least 1."""
    heat = np.zeros(len(places))
    for _ in range(40):
        height = rng.normal()
        away = ((places - rng.uniform(0, 1, 2)) ** 2).sum(axis=1)
        heat += height * np.exp(-away / (2 * rng.uniform(0.04, 0.15) ** 2))
    return np.maximum(1.0, np.exp(1.2 * heat))


# -------------------------------------------------------------------- parts of graphs


def _once(pairs: IntArray) -> tuple[IntArray, IntArray]:
    """Return every unordered pair once."""
    a, b = np.unique(np.sort(pairs, axis=1), axis=0).T
    return a.astype(np.int64), b.astype(np.int64)


def _largest_component(a: IntArray, b: IntArray, n: int) -> BoolArray:
    component = Graph.from_edges(a, b, num_vertices=n).components
    inside: BoolArray = component == np.argmax(np.bincount(component))
    return inside


def _renumbered(inside: BoolArray, a: IntArray, b: IntArray) -> tuple[IntArray, IntArray]:
    number = np.cumsum(inside) - 1
    return number[a], number[b]


# -------------------------------------------------------------------- mazes of thin walls


def _depth_first_maze(cells: int, rng: np.random.Generator) -> BoolArray:
    """(cells², cells²) matrix: which cells are the same, or open to each other."""
    open_to = np.eye(cells * cells, dtype=bool)
    seen, stack = {(0, 0)}, [(0, 0)]
    while stack:
        x, y = stack[-1]
        near = [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]
        near = [z for z in near if min(z) >= 0 and max(z) < cells and z not in seen]
        if not near:
            stack.pop()
            continue
        u, v = near[rng.integers(len(near))]
        open_to[x * cells + y, u * cells + v] = True
        seen.add((u, v))
        stack.append((u, v))
    for x in range(cells):
        for y in range(cells):
            for u, v in ((x + 1, y), (x, y + 1)):
                if max(u, v) < cells and rng.random() < LEFT_OUT:
                    open_to[x * cells + y, u * cells + v] = True
    return open_to | open_to.T


def _crosses_wall(start: FloatArray, end: FloatArray, open_to: BoolArray) -> BoolArray:
    """Whether the straight way leads through a wall, looked at in twelve steps."""
    cells = round(len(open_to) ** 0.5)
    along = start + (end - start) * np.linspace(0, 1, 13)[:, None, None]
    place = np.clip(np.floor(along).astype(np.int64), 0, cells - 1)
    cell = place[..., 0] * cells + place[..., 1]
    through: BoolArray = ~open_to[cell[:-1], cell[1:]].all(axis=0)
    return through
