"""Worlds in which the given graph is wrong, each in a different way, made from kind and seed.

Mazes have slow or slippery patches, walls, doors, teleports or false shortcuts. Two kinds of world
are no mazes of cells: thin walls seen through noise, and roads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import Delaunay, KDTree

import wayfield as wf
from wayfield.numerics.shortest import breadth_first
from wayfield.typing import BoolArray, FloatArray, IntArray

Rng: TypeAlias = np.random.Generator
TRIES_PER_HOP = 20
"""Step limit of a walk, as a multiple of the hops of the longest shortest path."""
MAZES = (
    (wf.load_layout("antmaze-medium"), 8),
    (wf.load_layout("antmaze-large"), 6),
    (wf.Layout.from_text("\n".join(["....."] * 5)), 8),
)
"""Layouts and steps along the side of a cell, taken in turn by the seed."""
LEAP = 6.0
"""False shortcuts join states at least this far apart, in steps."""
TELEPORTS = 3
TRIES = 400
"""Places at which a wall or a teleport is tried, at most."""
STATES = 1_500
"""Of a world that is no maze."""
NEIGHBOURS = 8
BLUR = 0.05
"""Standard deviation of an observation, in sides of a cell."""
LEFT_OUT = 0.15
"""Share of the walls between cells that are left out once every cell can be reached."""
SPEEDS = ((0.5, 1.0, 1.5), (0.2, 0.5, 0.3))
"""Lengths of roads relative to their length in the plane, and how often each occurs."""
INCIDENTS = 0.02
"""Share of the roads' directions in which something blocks them: ten times the cost."""
WRONG_WORLDS: dict[str, str] = {
    "patch": "slow patches",
    "slip": "slippery patches",
    "walls": "walls that are not on the map",
    "doors": "shut doors",
    "oneway": "doors that open one way only",
    "tele": "teleports",
    "short0.2": "false shortcuts, 0.2 %",
    "short1": "false shortcuts, 1 %",
    "short5": "false shortcuts, 5 %",
    "alias10": "edges through thin walls, 10 %",
    "alias100": "edges through thin walls, all",
    "road": "congested roads",
    "combo": "patches, walls and shortcuts",
    "exact": "none: the graph is correct",
}
"""What is wrong in every kind of world."""


@dataclass(frozen=True, eq=False)
class WrongWorld:
    """A given graph, and what happens when its arcs are tried.

    Attributes
    ----------
    graph : Graph
        The graph as given; undirected, with observed positions.
    goal : int
        The goal of all walks.
    lands : (m,) int64 array
        Where trying an arc ends: at its head, at its tail if there is no such arc, or elsewhere.
    costs : (m,) float array
        Cost of trying it; for an arc that does not exist, its given length.
    slips : (n,) float array
        Chance that an arc out of the state is drawn at random in place of the one chosen.
    sent : (n,) int64 array
        Where one comes out who is put at a state: elsewhere within a teleport.
    """

    graph: wf.Graph
    goal: int
    lands: NDArray[np.int64]
    costs: FloatArray
    slips: FloatArray
    sent: NDArray[np.int64]

    @classmethod
    def as_believed(cls, graph: wf.Graph, goal: int) -> WrongWorld:
        """Return the world in which the graph is right."""
        n = graph.num_vertices
        heads = graph.indices.astype(np.int64)
        return cls(graph, goal, heads, graph.lengths, np.zeros(n), np.arange(n))

    def without(self, missing: BoolArray) -> WrongWorld:
        """Return the world without some arcs: trying one ends where it began."""
        graph = self.graph
        lands = np.where(missing, graph.tails, self.lands)
        return replace(self, lands=lands, costs=np.where(missing, graph.lengths, self.costs))

    @cached_property
    def real(self) -> wf.Graph:
        """The world as a directed graph, slips aside."""
        tails = self.graph.tails
        there = self.lands != tails
        n, positions = self.graph.num_vertices, self.graph.positions
        ends = tails[there], self.lands[there]
        return wf.Graph.from_edges(*ends, self.costs[there], n, directed=True, positions=positions)

    @cached_property
    def truth(self) -> FloatArray:
        """(n,) least expected cost to the goal.

        Where steps slip, by value iteration to 1e-9 in every state:
        V(x) = (1 - slip) · min over arcs of (cost + V) + slip · their mean.
        """
        values = wf.cost_to_go(self.real, self.goal)
        first, degrees = self.graph.indptr[:-1], self.graph.degrees
        change = np.inf if self.slippery else 0.0
        while change >= 1e-9:
            outcomes = self.costs + values[self.lands]
            best = np.minimum.reduceat(outcomes, first)
            drawn = np.add.reduceat(outcomes, first) / degrees
            renewed = np.asarray(best + self.slips * (drawn - best))
            renewed[self.goal] = 0.0
            change, values = np.abs(renewed - values).max(), renewed
        return values[self.sent]

    @cached_property
    def able(self) -> NDArray[np.int64]:
        """States to start from: other than the goal, outside teleports."""
        others = np.arange(self.graph.num_vertices) != self.goal
        return np.flatnonzero(others & (self.sent == np.arange(others.size)))

    @property
    def slippery(self) -> bool:
        """Whether trying the same arc twice may end differently."""
        return bool(self.slips.any())

    @property
    def max_steps(self) -> int:
        """Step limit of a walk; a walk still under way then has failed."""
        hops, _ = breadth_first(self.graph.reverse_arcs, np.array([self.goal]))
        return int(TRIES_PER_HOP * max(np.sqrt(hops.size), hops.max()))

    def world(self, seed: int = 0) -> wf.Graph | Callable[[int, int], tuple[int, float]]:
        """Return the world as `drive` takes it: a graph, or a function where a graph cannot tell.

        `seed` is that of the slips.
        """
        graph, arcs = self.graph, self.graph.arcs
        stays, arrives = self.lands == graph.tails, self.lands == graph.indices
        if not self.slippery and (stays | arrives).all():
            return self.real
        rng = np.random.default_rng(seed)

        def step(x: int, y: int) -> tuple[int, float]:
            begin, end = int(arcs.indptr[x]), int(arcs.indptr[x + 1])
            arc = begin + int(np.searchsorted(arcs.indices[begin:end], y))
            if self.slips[x] > 0 and rng.random() < self.slips[x]:
                arc = int(rng.integers(begin, end))
            return int(self.lands[arc]), float(self.costs[arc])

        return step


def make_wrong_world(kind: str, seed: int, size: float = 1.0) -> WrongWorld:
    """Build a world of about 1,600 times `size` states; the same for the same arguments.

    A number at the end of a kind is a share in percent: of false shortcuts in the states, or of
    the edges through thin walls that are in the graph.

    Examples
    --------
    >>> world = make_wrong_world("short1", seed=0)
    >>> world.graph
    Graph(1,664 vertices, 3,153 edges, unit lengths)
    >>> int((world.lands == world.graph.tails).sum()) // 2  # false shortcuts
    17
    """
    rng = np.random.default_rng([seed, sum(map(ord, kind))])
    family = kind.rstrip("0123456789.")
    share = float(kind[len(family) :] or 0.5) / 100
    if family == "alias":
        return thin_walls(share, size, rng)
    if family == "road":
        return roads(size, rng)
    layout, side = MAZES[seed % len(MAZES)]
    side = round(side * size**0.5)
    graph = wf.grid_graph(layout, side)
    false = np.zeros(graph.num_arcs, dtype=bool)
    if family in ("short", "combo"):
        graph, false = with_shortcuts(graph, share, rng)
    world = WrongWorld.as_believed(graph, int(rng.integers(graph.num_vertices)))
    world = world.without(false)
    for defect in DEFECTS.get(family, ()):
        world = defect(world, side, rng)
    return world


# -------------------------------------------------------------------- mazes of cells


Defect: TypeAlias = Callable[[WrongWorld, int, Rng], WrongWorld]
"""Something wrong with a maze: of a world, the steps along the side of a cell, and randomness."""


def slow_patches(world: WrongWorld, side: int, rng: Rng) -> WrongWorld:
    """Make discs in which moving costs 2 to 10 times as much."""
    graph = world.graph
    slow = _in_discs(world, side, rng, (2.0, 10.0), elsewhere=1.0)
    costs = graph.lengths * (slow[graph.tails] + slow[graph.indices]) / 2
    return replace(world, costs=np.where(world.lands != graph.tails, costs, world.costs))


def slippery_patches(world: WrongWorld, side: int, rng: Rng) -> WrongWorld:
    """Make discs in which 30 to 80 % of the steps slip."""
    return replace(world, slips=_in_discs(world, side, rng, (0.3, 0.8), elsewhere=0.0))


def teleports(world: WrongWorld, side: int, rng: Rng) -> WrongWorld:
    """Make discs that teleport a walker that enters them."""
    graph, sent, lands = world.graph, world.sent.copy(), world.lands
    own = np.arange(graph.num_vertices)
    found = 0
    for _ in range(TRIES):
        if found == TELEPORTS:
            break
        area = _disc(graph, max(0.25 * side, 1.0), rng)
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

    def defect(world: WrongWorld, side: int, rng: Rng) -> WrongWorld:
        graph, positions, wanted = world.graph, _positions(world.graph), count(world, side)
        start, end = positions[graph.tails], positions[graph.indices]
        for _ in range(TRIES):
            if wanted == 0:
                break
            # steps across a line through a random place, `half` to either side
            place = positions[rng.integers(len(positions))]
            axis = int(rng.random() < 0.5)
            middle = (start + end) / 2 - place
            steps = (np.abs(start - end).sum(axis=1) < 1.5) & (start[:, axis] != end[:, axis])
            crossing: BoolArray = steps & (np.abs(middle[:, axis] - 0.5) < 0.1)
            crossing &= np.abs(middle[:, 1 - axis]) < half * side
            if one_way:
                up = end[:, axis] > start[:, axis]
                crossing &= up if rng.random() < 0.5 else ~up
            walled = world.without(crossing)
            if crossing.any() and np.isfinite(walled.truth).all():
                world, wanted = walled, wanted - 1
        return world

    return defect


def several(world: WrongWorld, side: int) -> int:
    """Return how many patches or walls a maze gets: one per two cells, at least 3."""
    return max(3, world.graph.num_vertices // (2 * side**2))


DEFECTS: dict[str, tuple[Defect, ...]] = {
    "patch": (slow_patches,),
    "slip": (slippery_patches,),
    "tele": (teleports,),
    "walls": (walls(several, 0.45),),
    "doors": (walls(lambda *_: 3, 1.2),),
    "oneway": (walls(lambda *_: 4, 1.2, one_way=True),),
    "combo": (slow_patches, walls(lambda *maze: several(*maze) // 2, 0.45)),
}


def with_shortcuts(graph: wf.Graph, share: float, rng: Rng) -> tuple[wf.Graph, BoolArray]:
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
    wrong = wf.Graph.from_edges(tails, heads, lengths, n, positions=positions)
    ours, theirs = (g.tails.astype(np.int64) * n + g.indices for g in (wrong, graph))
    return wrong, ~np.isin(ours, theirs)


def _positions(graph: wf.Graph) -> FloatArray:
    assert graph.positions is not None
    return graph.positions


def _disc(graph: wf.Graph, radius: float, rng: Rng) -> BoolArray:
    """Return the states within `radius` of a random place."""
    positions = _positions(graph)
    away = positions - positions[rng.integers(len(positions))] + rng.uniform(-0.5, 0.5, 2)
    return np.asarray((away**2).sum(axis=1) < radius**2)


def _in_discs(
    world: WrongWorld, side: int, rng: Rng, limits: tuple[float, float], elsewhere: float
) -> FloatArray:
    """Return one random number for all states of each disc; later discs lie on earlier ones."""
    values = np.full(world.graph.num_vertices, elsewhere)
    for _ in range(several(world, side)):
        value = rng.uniform(*limits)
        radius = rng.uniform(0.3, 1.0) * side
        values[_disc(world.graph, radius, rng)] = value
    return values


# -------------------------------------------------------------------- thin walls and roads


def thin_walls(share: float, size: float, rng: Rng) -> WrongWorld:
    """Join nearest neighbours of noisy observations in a maze of thin walls.

    Of the edges that lead through a wall, `share` are in the graph.
    """
    cells = round(7 * size**0.5)
    open_to = _depth_first_maze(cells, rng)
    n = round(STATES * size)
    places = rng.uniform(0, cells, (n, 2))
    seen = places + rng.normal(0, BLUR, places.shape)
    _, near = KDTree(seen).query(seen, NEIGHBOURS + 1)
    others = np.asarray(near)[:, 1:].ravel()
    a, b = _once(np.column_stack([np.repeat(np.arange(n), NEIGHBOURS), others]))
    # whether the straight line leads through a wall, looked at in twelve steps
    along = places[a] + (places[b] - places[a]) * np.linspace(0, 1, 13)[:, None, None]
    place = np.clip(np.floor(along).astype(np.int64), 0, cells - 1)
    cell = place[..., 0] * cells + place[..., 1]
    through: BoolArray = ~open_to[cell[:-1], cell[1:]].all(axis=0)
    kept = ~through | (rng.random(a.size) < share)
    inside = _largest_component(a[~through], b[~through], n)
    kept &= inside[a] & inside[b]
    lengths = np.maximum(np.linalg.norm(seen[a] - seen[b], axis=1), 0.02)
    number, n = np.cumsum(inside) - 1, int(inside.sum())
    a, b = number[a[kept]], number[b[kept]]
    graph = wf.Graph.from_edges(a, b, lengths[kept], n, positions=seen[inside])
    world = WrongWorld.as_believed(graph, int(rng.integers(n)))
    arcs, a, b = (
        graph.tails.astype(np.int64) * n + graph.indices,
        a[through[kept]],
        b[through[kept]],
    )
    return world.without(np.isin(arcs, np.concatenate([a * n + b, b * n + a])))


def roads(size: float, rng: Rng) -> WrongWorld:
    """Make roads of three speeds, with congestion in places and incidents on single arcs."""
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
    number, places = np.cumsum(inside) - 1, places[inside]
    graph = wf.Graph.from_edges(
        number[a[kept]], number[b[kept]], lengths, len(places), positions=places
    )
    world = WrongWorld.as_believed(graph, int(rng.integers(len(places))))
    # congestion: a smooth lognormal field of factors, at least 1
    heat = np.zeros(len(places))
    for _ in range(40):
        height = rng.normal()
        away = ((places - rng.uniform(0, 1, 2)) ** 2).sum(axis=1)
        heat += height * np.exp(-away / (2 * rng.uniform(0.04, 0.15) ** 2))
    slow = np.maximum(1.0, np.exp(1.2 * heat))
    costs = graph.lengths * 0.5 * (slow[graph.tails] + slow[graph.indices])
    blocked = rng.random(graph.num_arcs) < INCIDENTS
    return replace(world, costs=np.where(blocked, 10 * costs, costs))


def _once(pairs: IntArray) -> tuple[IntArray, IntArray]:
    """Return every unordered pair once."""
    a, b = np.unique(np.sort(pairs, axis=1), axis=0).T
    return a.astype(np.int64), b.astype(np.int64)


def _largest_component(a: IntArray, b: IntArray, n: int) -> BoolArray:
    component = wf.Graph.from_edges(a, b, num_vertices=n).components
    return np.asarray(component == np.argmax(np.bincount(component)))


def _depth_first_maze(cells: int, rng: Rng) -> BoolArray:
    """Return a (cells², cells²) matrix: which cells are the same, or open to each other."""
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
