"""Films of walking bodies, side by side.

A film is drawn without OpenGL: the field once, by matplotlib, and the body over it frame by frame,
its legs seen from above. The suffix of the file chooses the format: ``.gif``, ``.webp`` or an
animated ``.png``.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfield.checks import need
from wayfield.errors import InputError
from wayfield.graphs.labels import Labels
from wayfield.plans.planning import Plan
from wayfield.plots.field import field
from wayfield.typing import FloatArray

from .mazes import Maze
from .walking import Walk

FILMS = (".gif", ".webp", ".png")
_TRAIL, _BODY, _EDGE = "#ffd24a", "#fff3c4", "#1b1b1b"
_TORSO = 0.25
"""Radius of the ant's torso in metres; points are drawn as large."""
_COLOURS = 96
"""In the palette of a film."""
_EVERY, _MOST, _HEIGHT = 4, 120, 300
"""Environment steps between two frames, largest number of frames, height of a maze in pixels."""


def film(
    walks: Sequence[Walk],
    plans: Sequence[Plan],
    maze: Maze,
    path: str | Path,
    titles: Sequence[str] | None = None,
    labels: Labels | None = None,
) -> Path:
    """Film walks in the same maze side by side, each over its own field.

    A walk that ends before the others stays where it ended. With OGBench's ant, the film runs at
    twice the speed of the simulation. It has at most 120 frames.

    Parameters
    ----------
    walks, plans : sequences of the same length
        The walks, and the plans that they followed.
    maze : Maze
        The maze of all walks.
    path : path
        File to write; ends in ``.gif``, ``.webp`` or ``.png`` (animated).
    titles : sequence of str, optional
        Titles of the panels.
    labels : Labels, optional
        Marks the labelled vertices.

    Examples
    --------
    >>> import tempfile
    >>> import wayfield as wf
    >>> from wayfield_study import sim
    >>> maze = sim.make("pointmaze-medium")
    >>> graph = wf.grid_graph(maze.layout, refinement=4)
    >>> plan = wf.plan(graph, wf.cost_to_go(graph, 400), 400)
    >>> went = sim.walk(maze, plan, start=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sim.film([went], [plan], maze, Path(folder, "walk.gif")).name
    'walk.gif'
    """
    path = Path(path)
    if path.suffix.lower() not in FILMS:
        raise InputError(f"the name of a film must end in {', '.join(FILMS)}, got {path.name!r}")
    if not len(walks) == len(plans) > 0:
        raise InputError(f"there must be a plan for each of {len(walks)} walks, got {len(plans)}")
    longest = max(each.steps for each in walks)
    shown = [*range(0, longest, _EVERY), longest][:_MOST]
    captions = ["" for _ in walks] if titles is None else list(titles)
    panels = [
        _Panel(each, plan, maze, labels, caption)
        for each, plan, caption in zip(walks, plans, captions, strict=True)
    ]
    gap = 12
    width = sum(panel.base.width for panel in panels) + gap * (len(panels) - 1)
    tall = max(panel.base.height for panel in panels)
    pictures = []
    for step in shown:
        picture, left = need("PIL.Image", "plots").new("RGB", (width, tall), "white"), 0
        for panel in panels:
            picture.paste(panel.at(step), (left, 0))
            left += panel.base.width + gap
        pictures.append(picture)
    # one palette for all frames: what does not move then costs nothing
    palette = pictures[-1].quantize(_COLOURS)
    frames = [picture.quantize(palette=palette, dither=0) for picture in pictures]
    durations = [80] * (len(frames) - 1) + [2000]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=durations, loop=0)
    return path


class _Panel:
    """A field with a body on it."""

    def __init__(
        self,
        walked: Walk,
        plan: Plan,
        maze: Maze,
        labels: Labels | None,
        caption: str,
    ) -> None:
        self.walked, self.maze = walked, maze
        self.places = maze.coordinates.of(plan.graph)
        assert plan.graph.positions is not None
        wide, high = np.ptp(plan.graph.positions, axis=0) + 1
        dpi, top, height, width = 100, 22, _HEIGHT, round(_HEIGHT * wide / high)
        figures = need("matplotlib.figure", "plots")
        figure = figures.Figure(figsize=(width / dpi, (height + top) / dpi), dpi=dpi)
        axes = figure.add_axes((0, 0, 1, height / (height + top)))
        bare = {"arrows": False, "colour_bar": False, "legend": False}
        field(plan.graph, plan.values, plan, labels, axes, **bare)
        axes.set_title(caption, fontsize=9, pad=4)
        content = io.BytesIO()
        figure.savefig(content, format="png", dpi=dpi)
        self.base = need("PIL.Image", "plots").open(content).convert("RGB")
        self.transform = axes.transData
        self.path = self._pixels(walked.path)
        ends = self.transform.transform([[0.0, 0.0], [_TORSO / self.places.spacing, 0.0]])
        self.radius = max(float(np.hypot(*(ends[1] - ends[0]))), 3.0)

    def at(self, step: int) -> Any:
        """Return the picture at a step, or the last one if the walk has ended before."""
        step = min(step, self.walked.steps)
        picture = self.base.copy()
        pen = need("PIL.ImageDraw", "plots").Draw(picture)
        trail = [tuple(point) for point in self.path[: step + 1]]
        pen.line(trail, fill=_EDGE, width=4, joint="curve")
        pen.line(trail, fill=_TRAIL, width=2, joint="curve")
        for part in self.maze.limbs(self.walked.positions[step]):
            ends = [tuple(point) for point in self._pixels(part)]
            pen.line(ends, fill=_EDGE, width=5)
            pen.line(ends, fill=_BODY, width=3)
        (x, y), r = self._pixels(self.walked.path[step : step + 1])[0], self.radius
        pen.ellipse((x - r, y - r, x + r, y + r), fill=_BODY, outline=_EDGE)
        return picture

    def _pixels(self, points: FloatArray) -> NDArray[np.float64]:
        """Return positions in the picture in pixels, y downwards."""
        there = self.transform.transform(self.places.on_lattice(points))
        there[:, 1] = self.base.height - there[:, 1]
        return np.asarray(there)
