"""What the experiments on PointMaze share: mazes, buffers, graphs, planners, cells."""

from .arms import ALONE, ARMS, LOOKS, ORACLE, OURS, REFERENCE, Arm, Course, planned, row
from .cells import DATASETS, EPISODES, FEWEST_SEEDS, SEEDS, PointCell, point_grid, read_grid
from .graphs import GRAPHS, make_graph
from .maze import Buffer, PointMaze, collect_buffer, load_point_maze, places
from .planners import Problem
from .scene import Scene, draw_episodes, make_scene

__all__ = [
    "ALONE",
    "ARMS",
    "DATASETS",
    "EPISODES",
    "FEWEST_SEEDS",
    "GRAPHS",
    "LOOKS",
    "ORACLE",
    "OURS",
    "REFERENCE",
    "SEEDS",
    "Arm",
    "Buffer",
    "Course",
    "PointCell",
    "PointMaze",
    "Problem",
    "Scene",
    "collect_buffer",
    "draw_episodes",
    "load_point_maze",
    "make_graph",
    "make_scene",
    "places",
    "planned",
    "point_grid",
    "read_grid",
    "row",
]
