"""Film an ant that follows a harmonic plan round and round, and one that the AMLE brings home.

The film is drawn without OpenGL: the field once, by matplotlib, and the body over it frame by
frame, its legs seen from above.

Run it with ``python examples/ant_loop.py [FILE]``, FILE ending in .png (animated), .gif or .webp;
it needs the extras ``plots`` and ``sim``.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image, ImageDraw

import wayfield as wf
from wayfield.fields import Method
from wayfield.plans.planning import Plan
from wayfield_study import sim

FILM = Path(__file__).parents[1] / "docs" / "images" / "ant_loop.gif"
GOAL, START, SEED = 22, 390, 58
TRAIL, BODY, EDGE = "#ffd24a", "#fff3c4", "#1b1b1b"
TORSO = 0.25
"""Radius of the ant's torso in metres; points are drawn as large."""
COLOURS = 96
"""In the palette of a film."""
EVERY, MOST, HEIGHT = 4, 120, 300
"""Environment steps between two frames, largest number of frames, height of a maze in pixels."""


def main(path: Path = FILM) -> None:
    """Plan on the same labels in two ways, let the ant walk both, film them side by side."""
    maze = sim.make("antmaze-medium")
    graph = wf.grid_graph(maze.layout, refinement=4)
    labels = wf.sample_labels(graph, GOAL, fraction=0.05, seed=SEED)
    methods: dict[str, Method] = {"harmonic": wf.Harmonic(), "exact AMLE": wf.AMLE()}
    plans = [wf.plan(graph, wf.extend(graph, labels, each), GOAL) for each in methods.values()]
    walks = [sim.walk(maze, plan, start=START, seed=SEED) for plan in plans]
    for name, walk in zip(methods, walks, strict=True):
        print(f"{name}: {walk}")
    film(walks, plans, maze, path, list(methods), labels)


def film(
    walks: Sequence[sim.Walk],
    plans: Sequence[Plan],
    maze: sim.Maze,
    path: Path,
    titles: Sequence[str],
    labels: wf.Labels,
) -> None:
    """Film walks in the same maze side by side, each over its own field.

    A walk that ends before the others stays where it ended. The film runs at twice the speed of the
    simulation.
    """
    longest = max(each.steps for each in walks)
    shown = [*range(0, longest, EVERY), longest][:MOST]
    panels = [
        Panel(each, plan, maze, labels, caption)
        for each, plan, caption in zip(walks, plans, titles, strict=True)
    ]
    gap = 12
    width = sum(panel.base.width for panel in panels) + gap * (len(panels) - 1)
    tall = max(panel.base.height for panel in panels)
    pictures = []
    for step in shown:
        picture, left = Image.new("RGB", (width, tall), "white"), 0
        for panel in panels:
            picture.paste(panel.at(step), (left, 0))
            left += panel.base.width + gap
        pictures.append(picture)
    # one palette for all frames: what does not move then costs nothing
    palette = pictures[-1].quantize(COLOURS)
    frames = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    durations = [80] * (len(frames) - 1) + [2000]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=durations, loop=0)


def limbs(maze: sim.Maze, position: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (k, 2, 2) line segments of the ant's legs in a position, seen from above."""
    model = maze.env.unwrapped.model
    data = mujoco.MjData(model)
    data.qpos[:] = position
    mujoco.mj_kinematics(model, data)
    torso = model.geom("torso_geom").bodyid[0]
    kinds = model.geom_type == mujoco.mjtGeom.mjGEOM_CAPSULE
    capsules = np.flatnonzero(kinds & (model.body_rootid[model.geom_bodyid] == torso))
    along = data.geom_xmat[capsules].reshape(-1, 3, 3)[:, :, 2]
    reach = along * model.geom_size[capsules, 1:2]
    middle = data.geom_xpos[capsules]
    return np.stack([middle - reach, middle + reach], axis=1)[:, :, :2]


class Panel:
    """A field with a body on it."""

    def __init__(
        self,
        walked: sim.Walk,
        plan: Plan,
        maze: sim.Maze,
        labels: wf.Labels,
        caption: str,
    ) -> None:
        self.walked, self.maze = walked, maze
        self.places = maze.coordinates.of(plan.graph)
        assert plan.graph.positions is not None
        wide, high = np.ptp(plan.graph.positions, axis=0) + 1
        dpi, top, height, width = 100, 22, HEIGHT, round(HEIGHT * wide / high)
        figure = Figure(figsize=(width / dpi, (height + top) / dpi), dpi=dpi)
        axes = figure.add_axes((0, 0, 1, height / (height + top)))
        bare = {"arrows": False, "colour_bar": False, "legend": False}
        wf.plots.field(plan.graph, plan.values, plan, labels, axes, **bare)
        axes.set_title(caption, fontsize=9, pad=4)
        content = io.BytesIO()
        figure.savefig(content, format="png", dpi=dpi)
        self.base = Image.open(content).convert("RGB")
        self.transform = axes.transData
        self.path = self.pixels(walked.path)
        ends = self.transform.transform([[0.0, 0.0], [TORSO / self.places.spacing, 0.0]])
        self.radius = max(float(np.hypot(*(ends[1] - ends[0]))), 3.0)

    def at(self, step: int) -> Any:
        """Return the picture at a step, or the last one if the walk has ended before."""
        step = min(step, self.walked.steps)
        picture = self.base.copy()
        pen = ImageDraw.Draw(picture)
        trail = [tuple(point) for point in self.path[: step + 1]]
        pen.line(trail, fill=EDGE, width=4, joint="curve")
        pen.line(trail, fill=TRAIL, width=2, joint="curve")
        for part in limbs(self.maze, self.walked.positions[step]):
            ends = [tuple(point) for point in self.pixels(part)]
            pen.line(ends, fill=EDGE, width=5)
            pen.line(ends, fill=BODY, width=3)
        (x, y), r = self.pixels(self.walked.path[step : step + 1])[0], self.radius
        pen.ellipse((x - r, y - r, x + r, y + r), fill=BODY, outline=EDGE)
        return picture

    def pixels(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return positions in the picture in pixels, y downwards."""
        columns, rows = ((points - self.places.corner) / self.places.spacing - 0.5).T
        high = self.places.layout.shape[0] * self.places.refinement
        there = self.transform.transform(np.stack([columns, high - 1 - rows], axis=-1))
        there[:, 1] = self.base.height - there[:, 1]
        return np.asarray(there)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
