"""Random directed worlds: one-way mazes, terrain, and graphs like a replay buffer's.

Each is made from a seed alone. The goal is drawn from the largest strong component, so that most
states can reach it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.ndimage import gaussian_filter
from scipy.spatial import KDTree

from wayfield.graph import Graph
from wayfield.kernels._types import BoolArray, IntArray

OPEN = 0.75
"""Share of a maze's cells that are free."""
ONE_WAY = 0.3
"""Share of a maze's passages that are one-way."""
NEIGHBOURS = 6
"""Nearest neighbours of a replay-like graph."""
SEEN = 0.9
"""Share of a replay-like graph's arcs that were ever walked; the rest is missing."""
SPREAD = 0.5
"""Standard deviation of the logarithm of a replay-like graph's lengths, relative to distance."""


@dataclass(frozen=True)
class World:
    """A directed graph and where to go on it.

    Attributes
    ----------
    kind : str
        Which family it is of, a key of `WORLDS`.
    graph : Graph
        Directed.
    goal : int
        In the largest strong component.
    """

    kind: str
    graph: Graph
    goal: int

    @property
    def reciprocity(self) -> float:
        """Share of the arcs whose reverse is an arc too."""
        graph = self.graph
        both = 2 * graph.num_arcs - 2 * graph.symmetrised().num_edges
        return both / graph.num_arcs


def make_world(kind: str, size: int, seed: int) -> World:
    """Build a world of about `size` vertices; the same for the same arguments.

    Examples
    --------
    >>> make_world("one-way maze", 400, seed=1).graph
    Graph(421 vertices, 1,090 arcs, directed, unit lengths)
    """
    parts = [list(WORLDS).index(kind), size, seed]
    rng = np.random.default_rng(np.random.SeedSequence(parts))
    graph = WORLDS[kind](size, rng)
    component = graph.strong_components
    largest = int(np.argmax(np.bincount(component)))
    return World(kind, graph, int(rng.choice(np.flatnonzero(component == largest))))


def one_way_maze(size: int, rng: np.random.Generator) -> Graph:
    """Lattice with walls; some passages can be walked one way only. Unit lengths."""
    free = rng.random(_shape(size)) < OPEN
    tails, heads = _passages(free)
    turned = rng.random(tails.size) < 0.5
    tails, heads = np.where(turned, heads, tails), np.where(turned, tails, heads)
    back = rng.random(tails.size) >= ONE_WAY
    ends = np.concatenate([tails, heads[back]]), np.concatenate([heads, tails[back]])
    return Graph.from_edges(*ends, num_vertices=int(free.sum()), directed=True)


def terrain_maze(size: int, rng: np.random.Generator) -> Graph:
    """Lattice with walls; entering a cell costs 1 to 9, in patches."""
    free = rng.random(_shape(size)) < OPEN
    rough = gaussian_filter(rng.normal(size=free.shape), 2.0)
    rank = np.argsort(np.argsort(rough.ravel())).reshape(free.shape)
    price = (1 + 9 * rank // rank.size).astype(np.float64)[free]
    tails, heads = _passages(free)
    ends = np.concatenate([tails, heads]), np.concatenate([heads, tails])
    return Graph.from_edges(*ends, price[ends[1]], int(free.sum()), directed=True)


def replay_like_graph(size: int, rng: np.random.Generator) -> Graph:
    """Points in the square with arcs to most of their nearest neighbours; lognormal lengths."""
    points = rng.random((size, 2))
    _, near = KDTree(points).query(points, NEIGHBOURS + 1)
    seen = rng.random((size, NEIGHBOURS)) < SEEN
    tails = np.repeat(np.arange(size), NEIGHBOURS)[seen.ravel()]
    heads: IntArray = np.asarray(near)[:, 1:][seen]
    noise = rng.lognormal(sigma=SPREAD, size=tails.size)
    distance = np.linalg.norm(points[tails] - points[heads], axis=1)
    return Graph.from_edges(tails, heads, np.sqrt(size) * distance * noise, size, directed=True)


Maker: TypeAlias = Callable[[int, np.random.Generator], Graph]
WORLDS: dict[str, Maker] = {
    "one-way maze": one_way_maze,
    "terrain maze": terrain_maze,
    "replay graph": replay_like_graph,
}


def _shape(size: int) -> tuple[int, int]:
    side = max(2, round(float(np.sqrt(size / OPEN))))
    return side, side


def _passages(free: BoolArray) -> tuple[IntArray, IntArray]:
    """Pairs of free cells side by side, numbered row by row."""
    number = np.cumsum(free).reshape(free.shape) - 1
    across, down = free[:, :-1] & free[:, 1:], free[:-1] & free[1:]
    tails = np.concatenate([number[:, :-1][across], number[:-1][down]])
    heads = np.concatenate([number[:, 1:][across], number[1:][down]])
    return tails, heads
