"""Pictures of mazes: where starts fail, and fields with the plan they give; PNG inside the page."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from .. import plots
from .._optional import need
from ..extension import Extension, extend_many
from ..kernels._types import FloatArray
from ..plan import plan
from ..study.cells import Cell, Draw, draw
from ..study.rollout import EXACT, HARMONIC, SWEEPS, Arm

SHOWN = (HARMONIC, SWEEPS, EXACT)
_SCALE = ("#f3f1ea", "#f2cf8d", "#e5924c", "#bb4540", "#6d1f45")  # no start fails … all fail
_WALL = (0.62, 0.65, 0.68, 1.0)


@dataclass(frozen=True)
class Picture:
    """An image as a data URI, and what to say under it."""

    caption: str
    data: str


def failure_maps(cells: Sequence[Cell]) -> list[Picture]:
    """Share of goals that each vertex fails to reach, over cells that differ in their seeds.

    One picture for every method in `SHOWN`. The starts are all vertices, not a sample.
    """
    drawn = [draw(cell) for cell in cells]
    return [_failure_map(drawn, arm) for arm in SHOWN]


def _failure_map(drawn: Sequence[Draw], arm: Arm) -> Picture:
    graph = drawn[0].graph
    failing = np.zeros(graph.num_vertices)
    goals = 0
    for each in drawn:
        fields = extend_many(each.graph, each.labels, arm.method, workers=1)
        for field, goal in zip(fields, each.goals, strict=True):
            failing += ~plan(graph, field.values, int(goal), "q", arm.ties).reached
            goals += 1
    share = failing / goals
    caption = f"{arm.title}: {share.mean():.1%} of the starts fail, at worst {share.max():.0%}"
    assert graph.positions is not None
    return Picture(caption, _raster(graph.positions, share))


def _raster(positions: FloatArray, share: FloatArray) -> str:
    """Draw a share per vertex of a lattice, a pixel each; the rest is wall."""
    places = np.rint(positions - positions.min(axis=0)).astype(np.int64)
    columns, rows = places.T
    colours = need("matplotlib.colors", "study")
    scale = colours.LinearSegmentedColormap.from_list("failures", _SCALE)
    image = np.full((rows.max() + 1, columns.max() + 1, 4), _WALL)
    image[rows.max() - rows, columns] = scale(share)
    buffer = io.BytesIO()
    need("matplotlib.image", "study").imsave(buffer, image, format="png")
    return _data_uri(buffer)


def field_pictures(cell: Cell) -> list[Picture]:
    """Fields of one goal of a cell, a method each: the goal that AMLE stopped early does worst on.

    The picture has labels as rings, contours, and the greedy plan as arrows.
    """
    drawn = draw(cell)
    solved = {arm: list(extend_many(drawn.graph, drawn.labels, arm.method)) for arm in SHOWN}
    worst = int(np.argmin([_success(drawn, SWEEPS, solved[SWEEPS], k) for k in range(cell.goals)]))
    return [_field_picture(drawn, arm, solved[arm][worst], worst) for arm in SHOWN]


def _success(drawn: Draw, arm: Arm, fields: Sequence[Extension], index: int) -> float:
    goal = int(drawn.goals[index])
    return plan(drawn.graph, fields[index].values, goal, "q", arm.ties).success


def _field_picture(drawn: Draw, arm: Arm, field: Extension, index: int) -> Picture:
    outcome = plan(drawn.graph, field.values, int(drawn.goals[index]), "q", arm.ties)
    assert drawn.graph.positions is not None
    width, height = np.ptp(drawn.graph.positions, axis=0) + 1.0
    size = (6.4, 6.4 * height / width)
    figure: Any = need("matplotlib.figure", "study").Figure(size, layout="constrained")
    labels = drawn.labels[index]
    plots.field(drawn.graph, field.values, outcome, labels, figure.subplots(), colour_bar=False)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=130)
    return Picture(f"{arm.title}: {outcome.success:.1%} of the starts reach", _data_uri(buffer))


def scale_bar() -> str:
    """Explain the colours of the failure maps."""
    stops = ", ".join(_SCALE)
    look = f"background: linear-gradient(to right, {stops})"
    bar = f'<i style="{escape(look)}"></i>'
    return f'<p class="bar"><span>0</span>{bar}<span>all goals missed</span></p>'


def _data_uri(buffer: io.BytesIO) -> str:
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
