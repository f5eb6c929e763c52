"""What planners get of a buffer, and how their routes are walked: the same for all of them.

A *route* names the next landmark of each one. The low level heads straight for the first landmark
at least `AHEAD` away along the route, with noise, and looks up where it is after every step; near
the goal it heads for the goal. An arc that was crossed by jumps is walked by going to where these
set in. From landmarks without a way on it goes to the nearest that has one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from wayfield.kernels._types import BoolArray, FloatArray
from wayfield.replay import Planner, Replay, replay_graph

from ...kernels.point_maze import RASTER, walk
from .maze import Buffer, PointMaze, collect_buffer, load_point_maze, places

AHEAD, NEAR = 1.5, 2.0
"""How far ahead the low level looks, and from where on it sees the goal itself."""
NOISE = 0.2
"""Of its actions."""
LIMIT = 1000
"""Steps of an episode."""
ARRIVAL = 1.0
"""Landmarks this near to a goal belong to it."""
_MARGIN = 3.0
_MOST_AHEAD = 60


@dataclass(frozen=True, eq=False)
class Scene:
    """A maze, and a buffer of it on landmarks.

    Attributes
    ----------
    maze : PointMaze
        Where to walk.
    buffer : Buffer
        What was collected there.
    replay : Replay
        The same on landmarks.
    seed : int
        Of the landmarks, of noisy graphs and of the episodes.
    """

    maze: PointMaze
    buffer: Buffer
    replay: Replay
    seed: int

    @cached_property
    def states(self) -> FloatArray:
        """(n, 2) the landmarks."""
        return self.replay.states.astype(np.float64)

    @cached_property
    def corner(self) -> FloatArray:
        """Lowest corner of the raster."""
        lowest: FloatArray = self.states.min(axis=0) - _MARGIN
        return lowest

    @cached_property
    def squares(self) -> FloatArray:
        """(rows, columns, 2) centres of the raster's squares."""
        size = self.states.max(axis=0) + _MARGIN - self.corner
        axes = [np.arange(np.ceil(side * RASTER)) for side in size]
        numbers = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        centres: FloatArray = self.corner + (numbers + 0.5) / RASTER
        return centres

    @cached_property
    def raster(self) -> NDArray[np.int32]:
        """Nearest landmark of every square."""
        found = self.replay.locate(self.squares.reshape(-1, 2).astype(np.float32))
        return found.reshape(self.squares.shape[:2]).astype(np.int32)

    @cached_property
    def every_square(self) -> NDArray[np.int32]:
        """Number of every square."""
        rows, columns, _ = self.squares.shape
        return np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)

    @cached_property
    def planner(self) -> Planner:
        """What anybody gets who hands over the buffer, with landmarks of its own."""
        return Planner(self.buffer._asdict(), seed=self.seed)

    @cached_property
    def launch(self) -> FloatArray:
        """(n, 2) where jumps set in on the average; the landmark itself where there are none."""
        jumps, n = self.replay.jumps, len(self.states)
        count = np.bincount(jumps.tail, jumps.count, n)
        where = jumps.launch * jumps.count[:, None]
        total = np.stack([np.bincount(jumps.tail, side, n) for side in where.T], axis=1)
        return np.where(count[:, None] > 0, total / np.maximum(count, 1)[:, None], self.states)

    def leaps(self, tails: NDArray[np.int64], heads: NDArray[np.int64]) -> BoolArray:
        """Whether arcs were crossed by jumps."""
        n, jumps = np.int64(len(self.states)), self.replay.jumps
        return np.isin(tails * n + heads, jumps.tail * n + jumps.head)

    def entered(self, targets: FloatArray) -> NDArray[np.int64]:
        """(n,) whose square is entered first on the straight way from each landmark to a place."""
        away = targets - self.states
        samples = int(np.ceil(RASTER * np.linalg.norm(away, axis=1).max(initial=1.0)))
        along = np.linspace(0.0, 1.0, samples + 1)[None, :, None]
        squares = (self.states[:, None] + along * away[:, None] - self.corner) * RASTER
        last = np.array(self.raster.shape) - 1
        i, j = np.moveaxis(np.clip(squares.astype(np.int64), 0, last), -1, 0)
        found = self.raster[i, j]
        others = found != np.arange(len(found))[:, None]
        first = np.where(others.any(axis=1), others.argmax(axis=1), samples)
        entered: NDArray[np.int64] = found[np.arange(len(found)), first].astype(np.int64)
        return entered

    def goals(self, place: FloatArray) -> NDArray[np.int64]:
        """Landmarks that belong to a goal: all within reach, or the nearest one; that is first."""
        away = np.linalg.norm(self.states - place, axis=1)
        order = np.argsort(away, kind="stable")
        return order[: max(1, int((away <= ARRIVAL).sum()))]


@lru_cache(maxsize=1)
def make_scene(dataset: str, share: float, landmarks: int, seed: int, jump: float) -> Scene:
    """Collect a buffer and choose its landmarks; the latest is kept.

    `jump` is the longest step that is none; replay's own choice if it is 0.
    """
    buffer = collect_buffer(dataset, seed, share)
    replay = replay_graph(
        buffer.observations,
        terminals=buffer.terminals,
        actions=buffer.actions,
        landmarks=landmarks,
        jump=jump or None,
        seed=seed,
    )
    return Scene(load_point_maze(dataset.rsplit("-", 1)[0]), buffer, replay, seed)


@dataclass(frozen=True, eq=False)
class Route:
    """The next landmark of each one, itself where there is none, and where a way leads at all."""

    following: NDArray[np.int64]
    able: BoolArray
    goals: NDArray[np.int64]

    def steps(self, scene: Scene) -> NDArray[np.int64]:
        """(n,) next landmarks, those without a way on going to the nearest that has one."""
        steps = self.following.copy()
        if self.able.any() and not self.able.all():
            able = np.flatnonzero(self.able)
            lost = np.flatnonzero(~self.able)
            steps[lost] = able[cKDTree(scene.states[able]).query(scene.states[lost])[1]]
        return steps

    def targets(self, scene: Scene) -> FloatArray:
        """(n, 2) where the low level heads for from every landmark."""
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

    def walk(self, scene: Scene, targets: FloatArray) -> NDArray[np.int64]:
        """(e,) steps to the goal, heading for targets; -1 where time was up before."""
        return np.array([self.trace(scene, targets, k)[0] for k in range(len(self.ends))])

    def trace(self, scene: Scene, targets: FloatArray, episode: int) -> tuple[int, FloatArray]:
        """Return the steps of one episode, -1 if time was up before, and where they led.

        `targets` are those of the landmarks, (n, 2), or of the squares, (rows, columns, 2).
        """
        luck = self.ends[episode], self.noise[episode], self.luck[episode]
        trail = np.empty((LIMIT + 1, 2))
        raster = scene.raster if targets.ndim == 2 else scene.every_square
        world = scene.maze.blocks, raster, scene.corner
        steps = walk(*world, targets.reshape(-1, 2), NEAR, *luck, trail)
        return steps, trail[: 1 + (LIMIT if steps < 0 else steps)]

    def starts(self, scene: Scene) -> NDArray[np.int64]:
        """Landmarks where the episodes begin."""
        return scene.replay.locate(self.ends[:, 0].astype(np.float32))


def draw_episodes(maze: PointMaze, task: int, count: int, seed: int) -> Episodes:
    """Draw where episodes of a task begin and end, and all their luck."""
    rng = np.random.default_rng([seed, task, 1])
    ends = places(maze.tasks[task]) + rng.uniform(-1.0, 1.0, (count, 2, 2))
    noise = rng.normal(0.0, NOISE, (count, LIMIT, 2))
    return Episodes(ends, noise, rng.random((count, LIMIT)))
