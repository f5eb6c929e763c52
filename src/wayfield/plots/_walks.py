"""Walks of bodies: the path over the field, and films of walks side by side.

A film is drawn without OpenGL: the field once, by matplotlib, and the body over it frame by frame,
its legs seen from above. The suffix of the file chooses the format: ``.gif``, ``.webp`` or an
animated ``.png``.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import as_whole
from .._optional import need
from ..errors import InputError
from ..kernels._types import FloatArray
from ..labels import Labels
from ..plans import Plan
from ..sim import Maze, Walk
from . import _marks as marks
from ._field import field

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FILMS = (".gif", ".webp", ".png")
_TRAIL, _BODY, _EDGE = "#ffd24a", "#fff3c4", "#1b1b1b"
_TORSO = 0.25
"""Radius of the ant's torso in metres; points are drawn as large."""
_COLOURS = 96
"""In the palette of a film."""


def walk(
    walked: Walk,
    plan: Plan,
    maze: Maze,
    labels: Labels | None = None,
    ax: Axes | None = None,
    **how: Any,
) -> Axes:
    """Draw the path of a body over the field of its plan.

    Parameters
    ----------
    walked : Walk
        The walk.
    plan : Plan
        The plan that it followed.
    maze : Maze
        The maze.
    labels : Labels, optional
        Adds the labelled vertices.
    ax : matplotlib Axes, optional
        Axes to draw on. Default: a new figure.
    **how
        As for `field`: ``arrows=False`` and so on.

    Examples
    --------
    >>> import wayfield as wf
    >>> maze = wf.sim.make("pointmaze-medium")
    >>> graph = wf.grid_graph(maze.layout, refinement=4)
    >>> plan = wf.plan(graph, wf.cost_to_go(graph, 400), 400)
    >>> went = wf.sim.walk(maze, plan, start=0)
    >>> wf.plots.walk(went, plan, maze).get_title()
    'arrived after 112 steps'
    """
    axes = field(plan.graph, plan.values, plan, labels, ax, **how)
    places = maze.coordinates.of(plan.graph)
    path = places.on_lattice(walked.path)
    axes.plot(*path.T, color=_EDGE, linewidth=2.6, zorder=6, solid_capstyle="round")
    axes.plot(*path.T, color=_TRAIL, linewidth=1.4, zorder=6.1, solid_capstyle="round")
    for x, y in path[:1]:
        axes.plot(x, y, "o", color=_TRAIL, markeredgecolor=_EDGE, markersize=5, zorder=6.2)
    marks.draw_discs(axes, path[-1:], 0.5 / places.spacing, _BODY, zorder=6.3)
    axes.set_title(f"{walked.ending} after {walked.steps:,} steps")
    return axes


def film(
    walks: Sequence[Walk],
    plans: Sequence[Plan],
    maze: Maze,
    path: str | Path,
    titles: Sequence[str] | None = None,
    labels: Labels | None = None,
    *,
    every: int = 4,
    most: int = 120,
    height: int = 300,
) -> Path:
    """Film walks in the same maze side by side, each over its own field.

    A walk that ends before the others stays where it ended. The film runs at twice the pace of
    the simulation with the ant of OGBench and the default `every`.

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
    every : int
        Steps of the environment between two frames.
    most : int
        Largest number of frames; later steps are cut off.
    height : int
        Height of the mazes, in pixels.

    Examples
    --------
    >>> import tempfile
    >>> import wayfield as wf
    >>> maze = wf.sim.make("pointmaze-medium")
    >>> graph = wf.grid_graph(maze.layout, refinement=4)
    >>> plan = wf.plan(graph, wf.cost_to_go(graph, 400), 400)
    >>> went = wf.sim.walk(maze, plan, start=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     film([went], [plan], maze, Path(folder, "walk.gif")).name
    'walk.gif'
    """
    path = Path(path)
    if path.suffix.lower() not in FILMS:
        raise InputError(f"the name of a film must end in {', '.join(FILMS)}, got {path.name!r}")
    if not len(walks) == len(plans) > 0:
        raise InputError(f"there must be a plan for each of {len(walks)} walks, got {len(plans)}")
    every, height = as_whole(every, "every", 1), as_whole(height, "height", 16)
    longest = max(each.steps for each in walks)
    shown = [*range(0, longest, every), longest][: as_whole(most, "most", 1)]
    captions = ["" for _ in walks] if titles is None else list(titles)
    panels = [
        _Panel(each, plan, maze, labels, caption, height)
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
        height: int,
    ) -> None:
        self.walked, self.maze = walked, maze
        self.places = maze.coordinates.of(plan.graph)
        assert plan.graph.positions is not None
        wide, high = np.ptp(plan.graph.positions, axis=0) + 1
        dpi, top, width = 100, 22, round(height * wide / high)
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
