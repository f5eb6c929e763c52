"""A small continuous world for planners: a room with a wall, and perhaps a trapdoor.

The room is 6 by 3. A wall parts it at y = 1 to 2 but for a passage on the right, x > 5. With a
trapdoor it is 9 wide, the passage ends at x = 6, and a second one is at x > 8. The trapdoor sits in
the first: it sends two of three who step on it to a closet at (20, 0) that nothing leads out of,
and the third past it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
STEP = 0.2


@dataclass(frozen=True)
class Room:
    """Where one can be, and what a step does."""

    trapdoor: bool = False

    @property
    def width(self) -> float:
        return 9.0 if self.trapdoor else 6.0

    def free(self, x: Array) -> Array:
        """Whether points lie in the room or the closet, and not in the wall."""
        inside = (x[:, 0] >= 0) & (x[:, 0] <= self.width) & (x[:, 1] >= 0) & (x[:, 1] <= 3)
        closet = (np.abs(x[:, 0] - 20) <= 1) & (np.abs(x[:, 1]) <= 1)
        wall = (np.abs(x[:, 1] - 1.5) < 0.5) & (x[:, 0] < 5)
        if self.trapdoor:
            wall |= (np.abs(x[:, 1] - 1.5) < 0.5) & (x[:, 0] > 6) & (x[:, 0] < 8)
        return (inside & ~wall) | closet

    def points(self, count: int, seed: int = 0) -> Array:
        """Points of the room, drawn at random."""
        drawn = np.random.default_rng(seed).uniform([0, 0], [self.width, 3], (4 * count, 2))
        return drawn[self.free(drawn)][:count]

    def step(self, x: Array, heading: Array, rng: np.random.Generator) -> Array:
        """Move a step along headings, with a little noise; one slides along walls."""
        size = np.maximum(np.linalg.norm(heading, axis=1, keepdims=True), STEP)
        to = x + STEP * heading / size + rng.normal(0, 0.04, x.shape)
        for along in (to, np.stack([to[:, 0], x[:, 1]], 1), np.stack([x[:, 0], to[:, 1]], 1)):
            to = np.where(self.free(to)[:, None], to, along)
        to = np.where(self.free(to)[:, None], to, x)
        if self.trapdoor:
            fallen = (np.abs(to[:, 0] - 5.5) < 0.5) & (np.abs(to[:, 1] - 1.5) < 0.3)
            luck = rng.random(len(x)) < 1 / 3
            to[fallen & luck] = [5.5, 2.5]
            to[fallen & ~luck] = [20.0, 0.0]
        return to

    def buffer(self, episodes: int = 400, length: int = 60, seed: int = 0) -> dict[str, Array]:
        """Walks that keep their heading for a while, in OGBench's form."""
        rng = np.random.default_rng(seed)
        x = self.points(episodes, seed)
        seen = np.empty((episodes, length, 2))
        angle = rng.uniform(0, 2 * np.pi, episodes)
        for t in range(length):
            seen[:, t] = x
            turn = rng.random(episodes) < 0.1
            angle = np.where(turn, rng.uniform(0, 2 * np.pi, episodes), angle)
            x = self.step(x, np.stack([np.cos(angle), np.sin(angle)], axis=1), rng)
        last = np.tile(np.arange(length) == length - 1, episodes)
        return {"observations": seen.reshape(-1, 2), "terminals": last}

    def walk(
        self, planner: Any, starts: Array, goal: Array, limit: int = 300, seed: int = 1
    ) -> Array:
        """Whether agents that head for the planner's sub-goals arrive."""
        rng = np.random.default_rng(seed)
        x, arrived = starts.copy(), np.zeros(len(starts), dtype=bool)
        for _ in range(limit):
            move = ~arrived
            if not move.any():
                break
            heading = planner.subgoal(x[move], goal) - x[move]
            x[move] = self.step(x[move], heading, rng)
            arrived |= np.linalg.norm(x - goal, axis=1) < 0.3
        return arrived
