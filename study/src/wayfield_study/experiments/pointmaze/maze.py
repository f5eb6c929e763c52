"""PointMaze as OGBench has it: mazes, tasks, buffers after its collectors, and walks by landmarks.

**Collectors.** *navigate* makes for one random junction or dead end after another; *stitch* goes to
a cell four cells away and stays, so that no episode shows more than a piece of the maze.

**Walks** are the same for all planners. A *route* names the next landmark of each one. The low
level heads straight for the first landmark at least `AHEAD` away along the route, with noise, and
looks up where it is after every step; near the goal it heads for the goal. An arc that was crossed
by jumps is walked by going to where these set in. From landmarks without a path on it goes to the
nearest that has one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import shortest_path
from scipy.spatial import cKDTree

import wayfield as wf
from wayfield.replay import Planner, Replay, replay_graph
from wayfield.typing import BoolArray, FloatArray

from ...kernels.point_maze import OFFSET, RASTER, UNIT, Blocks, Cells, Dice, collect, walk

TASKS: dict[str, tuple[tuple[tuple[int, int], tuple[int, int]], ...]] = {
    "giant": (
        ((1, 1), (10, 14)), ((1, 14), (10, 1)), ((8, 14), (1, 1)), ((8, 3), (5, 12)),
        ((5, 9), (3, 8)),
    ),
    "teleport": (
        ((1, 10), (7, 1)), ((1, 1), (7, 10)), ((5, 6), (7, 10)), ((7, 1), (7, 10)),
        ((5, 6), (7, 1)),
    ),
}  # fmt: skip
"""First and last cell of OGBench's tasks."""
SIZES = {"stitch": (5000, 201), "navigate": (1000, 1001), "giant-navigate": (500, 2001)}
"""Episodes of the public datasets, and rows of each; by the dataset or its kind."""
COLLECTOR_NOISE, NOISE = 0.5, 0.2
"""Of the collectors' actions, and of the low level's."""
STITCH = 4
"""Cells from the start of an episode of *stitch* to its goal."""
AHEAD, NEAR = 1.5, 2.0
"""How far ahead the low level looks, and within which distance it sees the goal itself."""
LIMIT = 1000
"""Steps of an episode."""
ARRIVAL = 1.0
"""Landmarks within this distance of a goal belong to it."""
_STEPS = ((-1, 0), (0, -1), (1, 0), (0, 1))
_MARGIN = 3.0
_MOST_AHEAD = 60


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

    layout: wf.Layout
    tasks: tuple[tuple[tuple[int, int], tuple[int, int]], ...]

    @cached_property
    def blocks(self) -> Blocks:
        """The maze as the kernels have it."""
        teleports = self.layout.teleports
        entrances, exits = (sorted({pair[side] for pair in teleports}) for side in (0, 1))
        return Blocks(np.ascontiguousarray(~self.layout.free), places(entrances), places(exits))

    @cached_property
    def cells(self) -> Cells:
        """The free cells, and the shortest paths between them that enter no teleport."""
        free, (numbers, next_to), hops = np.argwhere(self.layout.free), self._numbered, self.hops
        onward = np.tile(np.arange(len(free)), (len(free), 1))
        for there in next_to.T[::-1]:  # the first of the neighbours that come nearer
            nearer = (there >= 0) & (hops[:, there] == hops - 1) & (hops > 0)
            onward = np.where(nearer, there, onward)
        # goals are drawn from all cells but hallways, which go on straight both ways and only so
        up, left, down, right = (next_to >= 0).T
        hallway = (up & down & ~left & ~right) | (left & right & ~up & ~down)
        return Cells(numbers, places(free), onward, np.flatnonzero(~hallway))

    @cached_property
    def hops(self) -> NDArray[np.int64]:
        """(c, c) cells from each free cell to each other; -1 where no path leads."""
        graph = wf.grid_graph(self.layout.without_teleports())
        hops = shortest_path(graph.to_scipy(), unweighted=True)
        return np.where(np.isfinite(hops), hops, -1).astype(np.int64)

    @cached_property
    def _numbered(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Number of every cell, -1 at walls; (c, 4) cells above, left, below and right of each."""
        numbers = np.full(self.layout.shape, -1)
        numbers[self.layout.free] = np.arange(self.layout.num_free)
        free = np.argwhere(self.layout.free)
        return numbers, np.stack([numbers[tuple((free + step).T)] for step in _STEPS], axis=1)


class PointBuffer(NamedTuple):
    """Transitions that were collected, in the form of OGBench's files."""

    observations: NDArray[np.float32]
    actions: NDArray[np.float32]
    terminals: BoolArray


@cache
def load_point_maze(name: str) -> PointMaze:
    """Return one of OGBench's mazes: giant or teleport.

    Examples
    --------
    >>> load_point_maze("teleport").blocks.exits
    array([[24.,  0.],
           [ 0., 20.],
           [36., 20.]])
    """
    return PointMaze(wf.load_layout(name), TASKS[name])


def places(cells: Any) -> FloatArray:
    """Return the centres of cells (row, column) as (x, y).

    Examples
    --------
    >>> places([(1, 7)])
    array([[24.,  0.]])
    """
    index = np.array(cells, dtype=np.float64).reshape(-1, 2)
    return np.ascontiguousarray(UNIT * index[:, ::-1] - OFFSET)


def collect_buffer(dataset: str, seed: int, share: float = 1.0) -> PointBuffer:
    """Collect a dataset such as giant-stitch, or the first part of it.

    Examples
    --------
    >>> collect_buffer("teleport-stitch", seed=0, share=0.001).observations.shape
    (1005, 2)
    """
    name, kind = dataset.rsplit("-", 1)
    maze = load_point_maze(name)
    cells, roam = maze.cells, kind == "navigate"
    whole, length = SIZES.get(dataset, SIZES[kind])
    count = max(1, round(share * whole))
    rng = np.random.default_rng([seed, len(name), len(kind)])
    # the first and the last cell of every episode
    starts, luck = rng.integers(len(cells.centres), size=whole), rng.random(whole)
    goals = cells.targets[(luck * cells.targets.size).astype(np.int64)] if roam else starts.copy()
    for cell in () if roam else range(len(cells.centres)):
        away = np.flatnonzero(maze.hops[cell] == STITCH)
        mine = starts == cell
        if away.size:  # from a closed cell one goes nowhere
            goals[mine] = away[(luck[mine] * away.size).astype(np.int64)]
    jitter = rng.uniform(-1.0, 1.0, (whole, 2))
    rows = count * length
    dice = Dice(
        (cells.centres[starts] + jitter)[:count],
        goals[:count],
        rng.normal(0.0, COLLECTOR_NOISE, (rows, 2)),
        rng.random((rows, 4)),
    )
    observations, actions = np.empty((rows, 2)), np.empty((rows, 2))
    collect(maze.blocks, cells, dice, roam, observations, actions)
    terminals = np.zeros(rows, dtype=bool)
    terminals[length - 1 :: length] = True
    return PointBuffer(observations.astype(np.float32), actions.astype(np.float32), terminals)


# -------------------------------------------------------------------- landmarks


@dataclass(frozen=True, eq=False)
class LandmarkScene:
    """A maze, and a buffer of it on landmarks.

    Attributes
    ----------
    maze : PointMaze
        Where to walk.
    buffer : PointBuffer
        What was collected there.
    replay : Replay
        The same on landmarks.
    seed : int
        Of the landmarks, of noisy graphs and of the episodes.
    """

    maze: PointMaze
    buffer: PointBuffer
    replay: Replay
    seed: int

    @cached_property
    def states(self) -> FloatArray:
        """(n, 2) the landmarks."""
        return self.replay.states.astype(np.float64)

    @cached_property
    def corner(self) -> FloatArray:
        """Lowest corner of the raster."""
        return np.asarray(self.states.min(axis=0) - _MARGIN)

    @cached_property
    def squares(self) -> FloatArray:
        """(rows, columns, 2) centres of the raster's squares."""
        size = self.states.max(axis=0) + _MARGIN - self.corner
        axes = [np.arange(np.ceil(side * RASTER)) for side in size]
        numbers = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        return self.corner + (numbers + 0.5) / RASTER

    @cached_property
    def raster(self) -> NDArray[np.int32]:
        """Nearest landmark of every square."""
        found = self.replay.locate(self.squares.reshape(-1, 2).astype(np.float32))
        return found.reshape(self.squares.shape[:2]).astype(np.int32)

    @cached_property
    def planner(self) -> Planner:
        """A planner made from the buffer alone, with landmarks of its own."""
        return Planner(self.buffer._asdict(), seed=self.seed)

    @cached_property
    def launch(self) -> FloatArray:
        """(n, 2) where jumps set in on average; the landmark itself where there are none."""
        jumps, n = self.replay.jumps, len(self.states)
        count = np.bincount(jumps.tail, jumps.count, n)
        where = jumps.launch * jumps.count[:, None]
        total = np.stack([np.bincount(jumps.tail, side, n) for side in where.T], axis=1)
        return np.where(count[:, None] > 0, total / np.maximum(count, 1)[:, None], self.states)

    def leaps(self, tails: NDArray[Any], heads: NDArray[Any]) -> BoolArray:
        """Whether arcs were crossed by jumps."""
        n, jumps = np.int64(len(self.states)), self.replay.jumps
        return np.isin(tails.astype(np.int64) * n + heads, jumps.tail * n + jumps.head)

    def goals(self, place: FloatArray) -> NDArray[np.int64]:
        """Return the landmarks of a goal, the nearest first: all within `ARRIVAL`, or one."""
        away = np.linalg.norm(self.states - place, axis=1)
        order = np.argsort(away, kind="stable")
        return order[: max(1, int((away <= ARRIVAL).sum()))]


@lru_cache(maxsize=1)
def make_scene(dataset: str, share: float, landmarks: int, seed: int) -> LandmarkScene:
    """Collect a buffer and choose its landmarks; the latest scene is cached."""
    buffer = collect_buffer(dataset, seed, share)
    made = replay_graph(
        buffer.observations,
        terminals=buffer.terminals,
        actions=buffer.actions,
        landmarks=landmarks,
        seed=seed,
    )
    return LandmarkScene(load_point_maze(dataset.rsplit("-", 1)[0]), buffer, made, seed)


@dataclass(frozen=True, eq=False)
class Route:
    """The next landmark of each one, itself where there is none, and where a path leads at all."""

    following: NDArray[np.int64]
    able: BoolArray
    goals: NDArray[np.int64]

    def steps(self, scene: LandmarkScene) -> NDArray[np.int64]:
        """Return (n,) next landmarks; those without a path go to the nearest that has one."""
        steps = self.following.copy()
        if self.able.any() and not self.able.all():
            able = np.flatnonzero(self.able)
            lost = np.flatnonzero(~self.able)
            steps[lost] = able[cKDTree(scene.states[able]).query(scene.states[lost])[1]]
        return steps

    def targets(self, scene: LandmarkScene) -> FloatArray:
        """Return the (n, 2) points that the low level heads for from every landmark."""
        states, here = scene.states, np.arange(len(scene.states))
        steps = self.steps(scene)
        leaps = scene.leaps(here, steps)
        onto = np.where(leaps, here, steps)
        goes_on = (steps != here) & ~leaps & self.able
        for _ in range(_MOST_AHEAD):
            near = np.linalg.norm(states[onto] - states, axis=1) < AHEAD
            short = near & goes_on[onto] & goes_on
            if not short.any():
                break
            onto[short] = steps[onto[short]]
        targets = states[onto].copy()
        jumping = leaps[onto]
        targets[jumping] = scene.launch[onto[jumping]]
        return targets


@dataclass(frozen=True, eq=False)
class Episodes:
    """Episodes of one task: the same starts, goals, noise and luck for every planner."""

    ends: FloatArray
    noise: FloatArray
    luck: FloatArray

    def walk(self, scene: LandmarkScene, targets: FloatArray) -> NDArray[np.int64]:
        """Return the (e,) steps to the goal, heading for targets; -1 where time ran out.

        `targets` are those of the landmarks, (n, 2), or of the squares, (rows, columns, 2).
        """
        raster = scene.raster
        if targets.ndim > 2:  # every square is a landmark of its own
            raster = np.arange(raster.size, dtype=np.int32).reshape(raster.shape)
        world = scene.maze.blocks, raster, scene.corner, targets.reshape(-1, 2), NEAR
        episodes = zip(self.ends, self.noise, self.luck, strict=True)
        return np.array([walk(*world, *episode) for episode in episodes])


def draw_episodes(maze: PointMaze, task: int, count: int, seed: int) -> Episodes:
    """Draw where episodes of a task begin and end, and all their luck."""
    rng = np.random.default_rng([seed, task, 1])
    ends = places(maze.tasks[task]) + rng.uniform(-1.0, 1.0, (count, 2, 2))
    noise = rng.normal(0.0, NOISE, (count, LIMIT, 2))
    return Episodes(ends, noise, rng.random((count, LIMIT)))
