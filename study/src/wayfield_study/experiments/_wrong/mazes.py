"""What may be wrong with the map of a maze: patches, walls, doors, teleports, false shortcuts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from wayfield.graph import Graph
from wayfield.kernels._types import BoolArray, FloatArray

from .world import WrongWorld

LEAP = 6.0
"""False shortcuts join states at least this far apart, in steps."""
TELEPORTS = 3
TRIES = 400
"""Places at which a wall or a teleport is tried, at most."""

Defect: TypeAlias = Callable[[WrongWorld, int, np.random.Generator], WrongWorld]
"""Something wrong with a maze: of a world, the steps along the side of a cell, and randomness."""


def slow_patches(world: WrongWorld, side: int, rng: np.random.Generator) -> WrongWorld:
    """Discs in which moving costs 2 to 10 times as much."""
    slow = _in_discs(world, side, rng, 2.0, 10.0, elsewhere=1.0)
    graph = world.graph
    there = world.lands != graph.tails
    costs = graph.lengths * (slow[graph.tails] + slow[graph.indices]) / 2
    return replace(world, costs=np.where(there, costs, world.costs))


def slippery_patches(world: WrongWorld, side: int, rng: np.random.Generator) -> WrongWorld:
    """Discs in which 30 to 80 % of the steps go astray."""
    return replace(world, slips=_in_discs(world, side, rng, 0.3, 0.8, elsewhere=0.0))


def teleports(world: WrongWorld, side: int, rng: np.random.Generator) -> WrongWorld:
    """Discs from which one comes out elsewhere, whatever one tries."""
    graph, sent, lands = world.graph, world.sent.copy(), world.lands
    own = np.arange(graph.num_vertices)
    found = 0
    for _ in range(TRIES):
        if found == TELEPORTS:
            break
        area = _disc(_positions(graph), max(0.25 * side, 1.0), rng)
        out = int(rng.integers(own.size))
        within = sent != own
        taken = within.copy()
        taken[sent[within]] = True
        if area[world.goal] or area[out] or area.sum() < 2 or within[out] or (area & taken).any():
            continue
        lands = np.where(area[graph.indices] | area[graph.tails], out, lands)
        sent[area] = out
        found += 1
    return replace(world, lands=lands, sent=sent)


def walls(count: Callable[[WrongWorld, int], int], half: float, one_way: bool = False) -> Defect:
    """Make the defect "walls": straight, across open ground, the goal still within reach of all.

    Parameters
    ----------
    count : function of a world and the steps along the side of a cell
        How many there are.
    half : float
        Half their length, in sides of a cell.
    one_way : bool
        Whether they can be crossed in one direction, drawn at random.
    """

    def defect(world: WrongWorld, side: int, rng: np.random.Generator) -> WrongWorld:
        wanted = count(world, side)
        for _ in range(TRIES):
            if wanted == 0:
                break
            crossing = _crossing(world.graph, half * side, one_way, rng)
            walled = world.without(crossing)
            if crossing.any() and np.isfinite(walled.truth).all():
                world, wanted = walled, wanted - 1
        return world

    return defect


def several(world: WrongWorld, side: int) -> int:
    """How many patches or walls a maze gets: one for every two of its cells, at least 3."""
    return max(3, world.graph.num_vertices // (2 * side**2))


def with_shortcuts(graph: Graph, share: float, rng: np.random.Generator) -> tuple[Graph, BoolArray]:
    """Add edges of length 1 between states far apart, `share` of the states; -> which are new."""
    n, positions = graph.num_vertices, _positions(graph)
    pairs: list[list[int]] = []
    while len(pairs) < max(1, round(share * n)):
        a, b = rng.integers(n, size=2).tolist()
        if np.abs(positions[a] - positions[b]).sum() >= LEAP:
            pairs.append([a, b])
    a, b = np.array(pairs).T
    tails, heads = np.concatenate([graph.tails, a]), np.concatenate([graph.indices, b])
    lengths = np.concatenate([graph.lengths, np.ones(a.size)])
    wrong = Graph.from_edges(tails, heads, lengths, n, positions=positions)
    ours, theirs = (g.tails.astype(np.int64) * n + g.indices for g in (wrong, graph))
    return wrong, ~np.isin(ours, theirs)


def _positions(graph: Graph) -> FloatArray:
    assert graph.positions is not None
    return graph.positions


def _disc(positions: FloatArray, radius: float, rng: np.random.Generator) -> BoolArray:
    """States within `radius` of a random place."""
    away = positions - positions[rng.integers(len(positions))] + rng.uniform(-0.5, 0.5, 2)
    inside: BoolArray = (away**2).sum(axis=1) < radius**2
    return inside


def _in_discs(
    world: WrongWorld,
    side: int,
    rng: np.random.Generator,
    least: float,
    most: float,
    elsewhere: float,
) -> FloatArray:
    """Return one random number for all states of each disc; later discs lie on earlier ones."""
    values = np.full(world.graph.num_vertices, elsewhere)
    for _ in range(several(world, side)):
        value = rng.uniform(least, most)
        radius = rng.uniform(0.3, 1.0) * side
        values[_disc(_positions(world.graph), radius, rng)] = value
    return values


def _crossing(graph: Graph, half: float, one_way: bool, rng: np.random.Generator) -> BoolArray:
    """Arcs across a line through a random place, `half` to either side; or one way across it."""
    positions = _positions(graph)
    start, end = positions[graph.tails], positions[graph.indices]
    place = positions[rng.integers(len(positions))]
    axis = int(rng.random() < 0.5)
    middle = (start + end) / 2 - place
    steps = (np.abs(start - end).sum(axis=1) < 1.5) & (start[:, axis] != end[:, axis])
    crossing: BoolArray = steps & (np.abs(middle[:, axis] - 0.5) < 0.1)
    crossing &= np.abs(middle[:, 1 - axis]) < half
    if one_way:
        up = end[:, axis] > start[:, axis]
        crossing &= up if rng.random() < 0.5 else ~up
    return crossing
