"""PointMaze as OGBench has it: mazes, tasks, and buffers after its description of the collectors.

*navigate* makes for one random junction or dead end after another; *stitch* goes to a cell four
cells away and stays, so that no episode shows more than a piece of the maze.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfield.kernels._types import BoolArray, FloatArray
from wayfield.layouts import Layout, load_layout

from ...kernels.point_maze import OFFSET, UNIT, Blocks, Cells, Dice, collect

TASKS: dict[str, tuple[tuple[tuple[int, int], tuple[int, int]], ...]] = {
    "medium": (
        ((1, 1), (6, 6)),
        ((6, 1), (1, 6)),
        ((5, 3), (4, 2)),
        ((6, 5), (6, 1)),
        ((2, 6), (1, 1)),
    ),
    "giant": (
        ((1, 1), (10, 14)),
        ((1, 14), (10, 1)),
        ((8, 14), (1, 1)),
        ((8, 3), (5, 12)),
        ((5, 9), (3, 8)),
    ),
    "teleport": (
        ((1, 10), (7, 1)),
        ((1, 1), (7, 10)),
        ((5, 6), (7, 10)),
        ((7, 1), (7, 10)),
        ((5, 6), (7, 1)),
    ),
}
"""First and last cell of OGBench's tasks."""
SIZES = {"stitch": (5000, 201), "navigate": (1000, 1001), "giant-navigate": (500, 2001)}
"""Episodes of the public datasets, and rows of each; by the dataset or its kind."""
NOISE = 0.5
"""Of the collectors' actions."""
STITCH = 4
"""Cells from the start of an episode of *stitch* to its goal."""
_STEPS = ((-1, 0), (0, -1), (1, 0), (0, 1))


@dataclass(frozen=True, eq=False)
class PointMaze:
    """A maze to walk in, and the tasks set there.

    Attributes
    ----------
    layout : Layout
        Its cells; teleports lead from every entrance to every exit.
    tasks : tuple of pairs of cells
        Where to start, and where to go.
    """

    layout: Layout
    tasks: tuple[tuple[tuple[int, int], tuple[int, int]], ...]

    @cached_property
    def blocks(self) -> Blocks:
        """The maze as the kernels have it."""
        teleports = self.layout.teleports
        entrances, exits = (sorted({pair[side] for pair in teleports}) for side in (0, 1))
        return Blocks(np.ascontiguousarray(~self.layout.free), places(entrances), places(exits))

    @cached_property
    def cells(self) -> Cells:
        """The free cells, and the shortest ways between them that enter no teleport."""
        free, next_to, hops = np.argwhere(self.layout.free), self._next_to, self.hops
        onward = np.tile(np.arange(len(free)), (len(free), 1))
        for there in next_to.T[::-1]:  # the first of the neighbours that come nearer
            nearer = (there >= 0) & (hops[:, there] == hops - 1) & (hops > 0)
            onward = np.where(nearer, there, onward)
        return Cells(self._numbers, places(free), onward, np.flatnonzero(~_hallways(next_to)))

    @cached_property
    def hops(self) -> NDArray[np.int64]:
        """(c, c) cells from each free cell to each other, breadth first; -1 where no way leads."""
        count = self.layout.num_free
        hops = np.full((count, count), -1)
        for goal in range(count):
            hops[goal, goal] = 0
            queue = [goal]
            for cell in queue:
                for other in self._next_to[cell].tolist():
                    if other >= 0 and hops[goal, other] < 0:
                        hops[goal, other] = hops[goal, cell] + 1
                        queue.append(other)
        return hops

    @cached_property
    def _numbers(self) -> NDArray[np.int64]:
        numbers = np.full(self.layout.shape, -1)
        numbers[self.layout.free] = np.arange(self.layout.num_free)
        return numbers

    @cached_property
    def _next_to(self) -> NDArray[np.int64]:
        """(c, 4) cells above, to the left, below and to the right; -1 where there is a wall."""
        free = np.argwhere(self.layout.free)
        return np.stack([self._numbers[tuple((free + step).T)] for step in _STEPS], axis=1)


class Buffer(NamedTuple):
    """Transitions that somebody collected, in the form of OGBench's files."""

    observations: NDArray[np.float32]
    actions: NDArray[np.float32]
    terminals: BoolArray


@cache
def load_point_maze(name: str) -> PointMaze:
    """Return one of OGBench's mazes: medium, giant or teleport.

    Examples
    --------
    >>> load_point_maze("teleport").blocks.exits
    array([[24.,  0.],
           [ 0., 20.],
           [36., 20.]])
    """
    return PointMaze(load_layout(name), TASKS[name])


def places(cells: Any) -> FloatArray:
    """Centres of cells (row, column) as (x, y).

    Examples
    --------
    >>> places([(1, 7)])
    array([[24.,  0.]])
    """
    index = np.array(cells, dtype=np.float64).reshape(-1, 2)
    return np.ascontiguousarray(UNIT * index[:, ::-1] - OFFSET)


def collect_buffer(dataset: str, seed: int, share: float = 1.0) -> Buffer:
    """Collect a dataset such as giant-stitch, or the first part of it.

    Examples
    --------
    >>> collect_buffer("teleport-stitch", seed=0, share=0.001).observations.shape
    (1005, 2)
    """
    name, kind = dataset.rsplit("-", 1)
    maze = load_point_maze(name)
    whole, length = SIZES.get(dataset, SIZES[kind])
    count = max(1, round(share * whole))
    rng = np.random.default_rng([seed, len(name), len(kind)])
    starts, goals = _episodes(maze, kind, whole, rng)
    jitter = rng.uniform(-1.0, 1.0, (whole, 2))
    rows = count * length
    dice = Dice(
        (maze.cells.centres[starts] + jitter)[:count],
        goals[:count],
        rng.normal(0.0, NOISE, (rows, 2)),
        rng.random((rows, 4)),
    )
    observations, actions = np.empty((rows, 2)), np.empty((rows, 2))
    collect(maze.blocks, maze.cells, dice, kind == "navigate", observations, actions)
    terminals = np.zeros(rows, dtype=bool)
    terminals[length - 1 :: length] = True
    return Buffer(observations.astype(np.float32), actions.astype(np.float32), terminals)


def _episodes(
    maze: PointMaze, kind: str, count: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw the first and the last cell of every episode."""
    cells, hops = maze.cells, maze.hops
    starts = rng.integers(len(cells.centres), size=count)
    luck = rng.random(count)
    if kind == "navigate":
        return starts, cells.targets[(luck * cells.targets.size).astype(np.int64)]
    goals = starts.copy()
    for cell in range(len(cells.centres)):
        away = np.flatnonzero(hops[cell] == STITCH)
        mine = starts == cell
        if away.size:  # from a closet without a way out one goes nowhere
            goals[mine] = away[(luck[mine] * away.size).astype(np.int64)]
    return starts, goals


def _hallways(next_to: NDArray[np.int64]) -> BoolArray:
    """Cells with a way straight on both ways, and no other."""
    up, left, down, right = (next_to >= 0).T
    straight: BoolArray = (up & down & ~left & ~right) | (left & right & ~up & ~down)
    return straight
