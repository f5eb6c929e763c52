"""Bodies on their way: the path over the field, and films of walks side by side.

A film is drawn without OpenGL: the field once, by matplotlib, and the body over it frame by frame,
its legs seen from above. The name of the file says what it becomes: ``.gif``, ``.webp`` or an
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
    """Draw where a body went, over the field it was planned on.

    Parameters
    ----------
    walked : Walk
        The walk.
    plan : Plan
        What it followed.
    maze : Maze
        Where it was.
    labels : Labels, optional
        Adds the labelled vertices.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
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
        What is shown, and the plans that were followed.
    maze : Maze
        Where the walks were.
    path : path
        Ends in ``.gif``, ``.webp`` or ``.png`` (animated).
    titles : sequence of str, optional
        Over the panels.
    labels : Labels, optional
        Marks the labelled vertices.
    every : int
        Steps of the environment between two frames.
    most : int
        Frames at most; later steps are cut off.
    height : int
        Of the mazes, in pixels.

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
        raise InputError(f"the name of a film ends in {', '.join(FILMS)}, unlike {path.name!r}")
    if not len(walks) == len(plans) > 0:
        raise InputError(f"{len(walks)} walks and {len(plans)} plans do not go together")
    every, height = as_whole(every, "every", 1), as_whole(height, "height", 16)
    longest = max(each.steps for each in walks)
    shown = [*range(0, longest, every), longest][: as_whole(most, "most", 1)]
    captions = ["" for _ in walks] if titles is None else list(titles)
    panels = [
        _Panel(each, plan, maze, labels, caption, height)
        for each, plan, caption in zip(walks, plans, captions, strict=True)
    ]
    pictures = [_beside([panel.at(step) for panel in panels]) for step in shown]
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
        self.base, self.transform = _drawn(plan, labels, caption, height)
        self.path = self._pixels(walked.path)

    def at(self, step: int) -> Any:
        """Return the picture at a step, the last one if the walk is over by then."""
        image_draw = need("PIL.ImageDraw", "plots")
        step = min(step, self.walked.steps)
        picture = self.base.copy()
        pen = image_draw.Draw(picture)
        trail = [tuple(point) for point in self.path[: step + 1]]
        pen.line(trail, fill=_EDGE, width=4, joint="curve")
        pen.line(trail, fill=_TRAIL, width=2, joint="curve")
        for part in self.maze.limbs(self.walked.positions[step]):
            ends = [tuple(point) for point in self._pixels(part)]
            pen.line(ends, fill=_EDGE, width=5)
            pen.line(ends, fill=_BODY, width=3)
        (x, y), around = self._pixels(self.walked.path[step : step + 1])[0], self._radius()
        box = (x - around, y - around, x + around, y + around)
        pen.ellipse(box, fill=_BODY, outline=_EDGE)
        return picture

    def _pixels(self, points: FloatArray) -> NDArray[np.float64]:
        """Places in the picture, y downwards."""
        there = self.transform.transform(self.places.on_lattice(points))
        there[:, 1] = self.base.height - there[:, 1]
        return np.asarray(there)

    def _radius(self) -> float:
        a, b = self.transform.transform([[0.0, 0.0], [_TORSO / self.places.spacing, 0.0]])
        return max(float(np.hypot(*(b - a))), 3.0)


def _drawn(plan: Plan, labels: Labels | None, caption: str, height: int) -> tuple[Any, Any]:
    """Draw a field as a picture of its own, and say where its points come to lie."""
    figures = need("matplotlib.figure", "plots")
    image = need("PIL.Image", "plots")
    assert plan.graph.positions is not None
    wide, high = np.ptp(plan.graph.positions, axis=0) + 1
    dpi, top = 100, 22
    width = round(height * wide / high)
    figure = figures.Figure(figsize=(width / dpi, (height + top) / dpi), dpi=dpi)
    axes = figure.add_axes((0, 0, 1, height / (height + top)))
    field(plan.graph, plan.values, plan, labels, axes, arrows=False, colour_bar=False, legend=False)
    axes.set_title(caption, fontsize=9, pad=4)
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=dpi)
    return image.open(content).convert("RGB"), axes.transData


def _beside(pictures: Sequence[Any]) -> Any:
    """Put pictures beside each other."""
    image = need("PIL.Image", "plots")
    gap = 12
    width = sum(each.width for each in pictures) + gap * (len(pictures) - 1)
    whole = image.new("RGB", (width, max(each.height for each in pictures)), "white")
    left = 0
    for each in pictures:
        whole.paste(each, (left, 0))
        left += each.width + gap
    return whole
