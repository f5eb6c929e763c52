"""Worlds in which the believed graph is wrong, each in its own way: all from a kind and a seed."""

from __future__ import annotations

import numpy as np

from wayfield.grid import grid_graph
from wayfield.layouts import Layout, load_layout

from .mazes import Defect, several, slippery_patches, slow_patches, teleports, walls, with_shortcuts
from .planes import roads, thin_walls
from .world import WrongWorld

MAZES = (
    (load_layout("antmaze-medium"), 8),
    (load_layout("antmaze-large"), 6),
    (Layout.from_text("\n".join(["....."] * 5)), 8),
)
"""Layouts and steps along the side of a cell, taken in turn by the seed."""
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
DEFECTS: dict[str, tuple[Defect, ...]] = {
    "patch": (slow_patches,),
    "slip": (slippery_patches,),
    "tele": (teleports,),
    "walls": (walls(several, 0.45),),
    "doors": (walls(lambda *_: 3, 1.2),),
    "oneway": (walls(lambda *_: 4, 1.2, one_way=True),),
    "combo": (slow_patches, walls(lambda *maze: several(*maze) // 2, 0.45)),
}


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
        return thin_walls(kind, share, size, rng)
    if family == "road":
        return roads(kind, size, rng)
    layout, side = MAZES[seed % len(MAZES)]
    side = round(side * size**0.5)
    graph = grid_graph(layout, side)
    false = np.zeros(graph.num_arcs, dtype=bool)
    if family in ("short", "combo"):
        graph, false = with_shortcuts(graph, share, rng)
    world = WrongWorld.as_believed(kind, graph, int(rng.integers(graph.num_vertices)))
    world = world.without(false)
    for defect in DEFECTS.get(family, ()):
        world = defect(world, side, rng)
    return world
