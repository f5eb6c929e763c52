"""What is shown first: a maze whose plan loops, or what the user named."""

from __future__ import annotations

from .._arrays import as_vertex
from ..layouts import Layout, load_layout
from ..shortest_paths import sample_labels
from .compute import graph_of
from .scene import Maze, Scene, Settings

FIRST_MAZE, FIRST_GOAL, FIRST_METHOD = "large", 40, "harmonic"


def first_visit() -> Scene:
    """Return a maze on which the harmonic plan loops from most starts, and the AMLE's never."""
    return maze_scene(load_layout(FIRST_MAZE), 8, FIRST_GOAL, 0.02, 54, FIRST_METHOD)


def maze_scene(
    layout: Layout,
    refinement: int,
    goal: int,
    share: float,
    seed: int,
    method: str = "amle",
) -> Scene:
    """Return a scene of a maze, a share of its vertices labelled with their true values."""
    maze = Maze(layout.to_text(), refinement)
    maze.check()
    graph = graph_of(maze)
    goal = as_vertex(goal, "goal", graph.num_vertices)
    drawn = sample_labels(graph, goal, share, seed).vertices
    vertices = tuple(drawn.tolist())
    return Scene(
        maze, goal, vertices, (None,) * len(vertices),
        panels=(Settings(method),), drawn=(share, seed),
    )  # fmt: skip
