"""A buffer of one's own: a body that wanders about a maze, step by step.

As OGBench's data sets were made: the body walks to cells drawn at random, and its actions are
noisy. ``navigate`` has episodes of 1,000 steps and goals anywhere; ``stitch`` has episodes of 200
steps and goals at most four cells away, so that no episode shows a long way and a planner has to
join them.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, TypeAlias

import numpy as np

from .._arrays import as_choice, as_real, as_whole
from ..grid import grid_graph
from ..kernels._types import FloatArray
from ..plans import Plan, plan
from ..shortest_paths import cost_to_go
from .mazes import Maze, as_maze, global_seed

Style: TypeAlias = Literal["navigate", "stitch"]
_EPISODE = {"navigate": 1000, "stitch": 200}
_NEAR = {"navigate": np.inf, "stitch": 4.0}
"""Cells to the farthest goal."""
_CLOSE = 1.0
"""Metres from a target at which the next one is drawn, for a cell of four."""


def wander(
    env: Any, steps: int, style: Style = "navigate", *, noise: float = 0.2, seed: int = 0
) -> dict[str, Any]:
    """Let a body wander about a maze, and return what was seen.

    Parameters
    ----------
    env : Maze, environment or str
        As for `walk`.
    steps : int
        Observations to collect.
    style : {"navigate", "stitch"}
        Long episodes with goals anywhere, or short ones with goals nearby.
    noise : float
        Standard deviation of what is added to every action, as a share of its largest entry.
    seed : int
        Of starts, goals and noise.

    Returns
    -------
    dict
        ``observations`` (steps, 2), where the body was, and ``terminals`` (steps,), True at the
        last step of an episode, as `wayfield.Planner` and `wayfield.Replay.from_dataset` take it.

    Examples
    --------
    >>> data = wander("pointmaze-medium", 500, "stitch")
    >>> data["observations"].shape, data["terminals"].nonzero()[0]
    ((500, 2), array([199, 399, 499]))
    """
    maze, steps = as_maze(env), as_whole(steps, "steps", 1)
    as_choice(style, "style", tuple(_EPISODE))
    noise = as_real(noise, "noise", 0.0)
    seed = as_whole(seed, "seed", 0, 2**32 - 1)
    rng = np.random.default_rng(seed)
    seen, ends = np.empty((steps, 2)), np.zeros(steps, dtype=np.bool_)
    count = 0
    with global_seed(seed):
        while count < steps:
            path = _episode(maze, min(_EPISODE[style], steps - count), _NEAR[style], noise, rng)
            seen[count : count + len(path)] = path
            count += len(path)
            ends[count - 1] = True
    return {"observations": seen, "terminals": ends}


def _episode(
    maze: Maze, most: int, near: float, noise: float, rng: np.random.Generator
) -> list[FloatArray]:
    """Wander for one episode; a fall ends it."""
    places, control = maze.coordinates, maze.controller
    cells, close = places.xy, _CLOSE * places.unit / 4
    routes = _routes(maze)
    here = int(rng.integers(len(cells)))
    start = cells[here] + _about(places.unit, rng)
    goal, aim = _next(routes, here, near, cells, places.unit, rng)
    maze.place(start, aim, int(rng.integers(2**31)))
    path: list[FloatArray] = []
    action = np.empty(0)
    while len(path) < most and maze.upright > 0:
        xy = maze.position[:2]
        here = places.vertex(xy)
        if len(path) % maze.hold == 0:
            if np.hypot(*(xy - aim)) < close:
                goal, aim = _next(routes, here, near, cells, places.unit, rng)
            ahead = int(routes(goal).successor[here])
            target = aim if ahead in (goal, -1) else cells[ahead]
            action = control(maze.position, maze.velocity, target)
            sway = noise * np.abs(action).max() * rng.normal(size=action.size)
            action = np.clip(action + sway, -1.0, 1.0)
        path.append(xy)
        maze.step(action)
    return path


def _next(
    routes: Any, here: int, near: float, cells: FloatArray, unit: float, rng: np.random.Generator
) -> tuple[int, FloatArray]:
    """Draw the next goal: a cell that is within reach, and a point in it."""
    steps = routes(here).steps  # both ways are the same: the maze is undirected
    able = np.flatnonzero((steps >= 0) & (steps <= near))
    goal = int(rng.choice(able))
    return goal, cells[goal] + _about(unit, rng)


def _about(unit: float, rng: np.random.Generator) -> FloatArray:
    """Draw an offset of at most a quarter of a cell."""
    return rng.uniform(-unit / 4, unit / 4, 2)


def _routes(maze: Maze) -> Any:
    """Return a function of a goal: the true shortest ways to it, teleports apart."""
    graph = grid_graph(maze.layout.without_teleports())

    @cache
    def route(goal: int) -> Plan:
        return plan(graph, cost_to_go(graph, goal), goal)

    return route
