"""A gamble and a safe path: two planners on one buffer, in a maze with teleports, as a film.

OGBench's teleport maze has two teleporters that lead to one of three places each, and one of these
is a cell without an exit. Shortest paths on the buffer go through a teleporter, since it was short
for the lucky ones. A `Planner` also counts the others, and predicts how likely it is to arrive.
The film is an animated PNG.

Run it with ``python examples/teleport.py [FILE [SHARE]]``. SHARE is the share of a million rows to
use. It needs the extra ``plots``.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Circle
from PIL import Image

from wayfield import replay
from wayfield_study.experiments.pointmaze.maze import (
    LandmarkScene,
    collect_buffer,
    load_point_maze,
    places,
)
from wayfield_study.experiments.pointmaze.planners import PointProblem, graph_distance
from wayfield_study.kernels.point_maze import ARRIVAL, STEP, push_out, sent

MAZE = load_point_maze("teleport")
START, GOAL = places(MAZE.tasks[1])
LIMIT, EVERY = 440, 8  # steps of an episode, and of a picture
NOISE, NEAR = 0.2, 2.0
SEED = 0


def main(path: str = "teleport.png", share: str = "0.1") -> None:
    """Collect, plan twice, walk twice, draw."""
    buffer = collect_buffer("teleport-stitch", seed=0, share=float(share))
    planner = replay.Planner(buffer._asdict())
    print(planner)

    made = replay.Replay.from_dataset(buffer._asdict(), landmarks=500)
    scene = LandmarkScene(MAZE, buffer, made, seed=0)
    route = graph_distance(PointProblem(scene, made.graph, GOAL))
    targets, reach = route.targets(scene), float(planner.reach(START, GOAL))
    plans: dict[str, Callable[[Any], Any]] = {
        "shortest path": lambda here: targets[made.nearest(here)],
        f"Planner: predicted arrival {reach:.2f}": lambda here: planner.subgoal(here, GOAL),
    }
    trails = {}
    for name, subgoal in plans.items():
        trails[name] = walk(subgoal, np.random.default_rng(SEED))
        end = "arrives" if arrived(trails[name][-1]) else "does not arrive"
        print(f"{name}; {end}, {len(trails[name]) - 1} steps")
    film(Path(path), trails)


def walk(subgoal: Callable[[Any], Any], rng: np.random.Generator) -> Any:
    """Head for one sub-goal after another; return where that leads."""
    here, trail = START, [START]
    while len(trail) <= LIMIT and not arrived(trail[-1]):
        near = np.linalg.norm(GOAL - here) < NEAR
        way = (GOAL if near else subgoal(here)) - here
        action = way / max(float(np.linalg.norm(way)), STEP) + rng.normal(0.0, NOISE, 2)
        there = push_out(MAZE.blocks.walls, *(here + STEP * np.clip(action, -1.0, 1.0)))
        trail.append(np.array(there))
        here = np.array(sent(MAZE.blocks, *there, rng.random()))
    return np.array(trail)


def arrived(place: Any) -> bool:
    """Whether a place is at the goal."""
    return bool(np.linalg.norm(place - GOAL) <= ARRIVAL)


def film(path: Path, trails: dict[str, Any]) -> None:
    """Draw the walks as they go on, side by side, as an animated PNG."""
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.1), layout="constrained")
    lines = []
    for ax, name in zip(axes, trails, strict=True):
        draw_maze(ax)
        ax.set_title(name)
        lines.append((*ax.plot([], [], color="#12806a"), *ax.plot([], [], "o", color="#c8452b")))
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # it is the same for all frames
    frames = []
    for step in range(0, max(map(len, trails.values())) + EVERY, EVERY):
        for (line, ball), trail in zip(lines, trails.values(), strict=True):
            seen = trail[: step + 1]
            jumps = np.flatnonzero(np.linalg.norm(np.diff(seen, axis=0), axis=1) > 1.0) + 1
            line.set_data(*np.insert(seen, jumps, np.nan, axis=0).T)
            ball.set_data(*seen[-1:].T)
        buffer = io.BytesIO()
        figure.savefig(buffer, dpi=75)
        frames.append(Image.open(buffer).convert("P", palette=Image.Palette.ADAPTIVE, colors=32))
    last = [frames[-1]] * 20  # stands still before it begins again
    frames[0].save(
        path, "PNG", save_all=True, append_images=[*frames[1:], *last], duration=80, loop=0
    )


def draw_maze(ax: Any) -> None:
    """Draw walls, teleporters (discs), where they lead (rings), and the goal."""
    rows, columns = MAZE.layout.shape
    extent = (-6.0, 4.0 * columns - 6.0, 4.0 * rows - 6.0, -6.0)
    ax.imshow(~MAZE.layout.free, cmap="Greys", vmax=2.2, extent=extent)
    for place in MAZE.blocks.entrances:
        ax.add_patch(Circle(place, 1.5, color="#6db4e6"))
    for place in MAZE.blocks.exits:
        ax.add_patch(Circle(place, 1.5, fill=False, color="#6db4e6"))
    ax.plot(*GOAL, "*", color="#222222", markersize=15)
    ax.set_axis_off()


if __name__ == "__main__":
    main(*sys.argv[1:])
