"""A small continuous world for planners: a room with a thin wall, and perhaps a trapdoor.

The room is 6 by 3. A wall at y = 1.5, thinner than a step, parts it but for a passage on the right
(x > 5). A trapdoor, if there is one, sits in the passage: it sends two of three who step on it to a
closet at (20, 0), and the third to the far side, past it. A safe way round, right of x = 7, then
leads past it too.
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
        """Whether points lie in the room or the closet."""
        inside = (x[:, 0] >= 0) & (x[:, 0] <= self.width) & (x[:, 1] >= 0) & (x[:, 1] <= 3)
        closet = (np.abs(x[:, 0] - 20) <= 1) & (np.abs(x[:, 1]) <= 1)
        return inside | closet

    def crosses(self, a: Array, b: Array) -> Array:
        """Whether steps go through the wall."""
        sides = (a[:, 1] - 1.5) * (b[:, 1] - 1.5) <= 0
        open_at = a[:, 0] > 5.0
        if self.trapdoor:
            open_at = ((a[:, 0] > 5.0) & (a[:, 0] < 6.0)) | (a[:, 0] > 8.0)
        return sides & ~open_at

    def step(self, x: Array, heading: Array, rng: np.random.Generator) -> Array:
        """Move a step along headings, with a little noise; walls stop it."""
        size = np.maximum(np.linalg.norm(heading, axis=1, keepdims=True), STEP)
        to = x + STEP * heading / size + rng.normal(0, 0.04, x.shape)
        stopped = ~self.free(to) | self.crosses(x, to) | (np.abs(x - to).max(axis=1) > 1)
        to[stopped] = x[stopped]
        if self.trapdoor:
            fallen = (np.abs(to[:, 0] - 5.5) < 0.5) & (np.abs(to[:, 1] - 1.5) < 0.3)
            luck = rng.random(len(x)) < 1 / 3
            to[fallen & luck] = [5.5, 2.5]
            to[fallen & ~luck] = [20.0, 0.0]
        return to

    def buffer(self, episodes: int = 400, length: int = 60, seed: int = 0) -> dict[str, Array]:
        """Walks that keep their heading for a while, in OGBench's form."""
        rng = np.random.default_rng(seed)
        x = rng.uniform([0, 0], [self.width, 3], (episodes, 2))
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
