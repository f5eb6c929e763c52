"""A room with a trapdoor: a plan from the buffer of agents that wandered about.

A wall with two passages divides a room of 9 by 3. A trapdoor lies in the near one: of three agents
that step on it, one comes out on the other side, the others fall into a cellar. The buffer in
``examples/data/room.npz`` is what `record` returns: 300 walks that aim at nothing. The picture
shows some of them, and agents that follow the sub-goals of a `Planner`.

Run it with ``python examples/room.py [FILE]``. It needs the extra ``plots``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Circle, Rectangle

from wayfield import replay

DATA = Path(__file__).parent / "data" / "room.npz"
GOAL = np.array([1.0, 2.5])
TRAPDOOR, OTHER_SIDE, CELLAR = (5.5, 1.5), (5.5, 2.5), (20.0, 0.0)


def free(places: Any) -> Any:
    """Whether places are in the room or the cellar, and not in a wall."""
    x, y = places.T
    room = (x >= 0) & (x <= 9) & (y >= 0) & (y <= 3)
    wall = (np.abs(y - 1.5) < 0.5) & ((x < 5) | (np.abs(x - 7) < 1))
    return (room & ~wall) | (np.abs(places - CELLAR) <= 1).all(axis=1)


def step(places: Any, towards: Any, rng: np.random.Generator) -> Any:
    """Move agents by at most 0.2, with noise; they slide along walls."""
    far = np.maximum(np.linalg.norm(towards, axis=1, keepdims=True), 0.2)
    to = places + 0.2 * towards / far + rng.normal(0, 0.04, places.shape)
    for instead in (to * [1, 0] + places * [0, 1], to * [0, 1] + places * [1, 0], places):
        to = np.where(free(to)[:, None], to, instead)
    stepped_on = np.linalg.norm(to - TRAPDOOR, axis=1) < 0.4
    lucky = stepped_on & (rng.random(len(to)) < 1 / 3)
    to[stepped_on] = CELLAR
    to[lucky] = OTHER_SIDE
    return to


def record(episodes: int = 300, steps: int = 60) -> dict[str, Any]:
    """Return the buffer of agents that wander, each in one of eight directions at a time."""
    rng = np.random.default_rng(0)
    places = rng.uniform([0, 0], [9, 3], (5 * episodes, 2))
    places = places[free(places)][:episodes]
    action = rng.integers(0, 8, episodes)
    seen, done = [], []
    for _ in range(steps):
        turns = rng.random(episodes) < 0.1
        action = np.where(turns, rng.integers(0, 8, episodes), action)
        seen.append(places)
        done.append(action)
        angle = action * np.pi / 4
        places = step(places, np.stack([np.cos(angle), np.sin(angle)], axis=1), rng)
    return {
        "observations": np.stack(seen, axis=1).reshape(-1, 2).round(2).astype(np.float32),
        "actions": np.stack(done, axis=1).reshape(-1).astype(np.int8),
        "terminals": np.tile(np.arange(steps) == steps - 1, episodes),
    }


def main(path: str = "room.png") -> None:
    """Plan from the buffer, walk, draw."""
    planner = replay.Planner(DATA)
    print(planner)
    rng = np.random.default_rng(1)
    agents = rng.uniform([0, 0], [5, 1], (100, 2))
    predicted = planner.reach(agents, GOAL).mean()
    trails, arrived = [agents], np.zeros(len(agents), dtype=bool)
    for _ in range(300):
        moved = step(trails[-1], planner.subgoal(trails[-1], GOAL) - trails[-1], rng)
        trails.append(np.where(arrived[:, None], trails[-1], moved))
        arrived |= np.linalg.norm(trails[-1] - GOAL, axis=1) < 0.3
    print(f"predicted to arrive: {predicted:.0%}; arrived: {arrived.mean():.0%}")

    figure, axes = plt.subplots(1, 2, figsize=(11, 2.5), layout="constrained")
    recorded = np.load(DATA)["observations"].reshape(300, 60, 2)
    walks = {"recorded: walks that aim at nothing": recorded[:60]}
    walks["sub-goals of the Planner: all agents go round"] = np.stack(trails, axis=1)[:20]
    for ax, (title, some) in zip(axes, walks.items(), strict=True):
        ax.set(
            title=title, xlim=(-0.1, 9.1), ylim=(-0.1, 3.1), aspect="equal", xticks=[], yticks=[]
        )
        for corner, width in (((0, 1), 5), ((6, 1), 2)):
            ax.add_patch(Rectangle(corner, width, 1, color="#c9c9c9"))
        ax.add_patch(Circle(TRAPDOOR, 0.4, color="#c8452b", alpha=0.35))
        for walk in some:
            fell = np.append(False, np.linalg.norm(np.diff(walk, axis=0), axis=1) > 0.8)
            ax.plot(*np.where(fell[:, None], np.nan, walk).T, color="#12806a", lw=0.7, alpha=0.7)
        ax.plot(*GOAL, "*", color="#222222", markersize=14)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:])
