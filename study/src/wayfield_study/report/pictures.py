"""Pictures of walks in a maze, as PNG inside the page.

Everything drawn was stored by an experiment; nothing is solved here.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wayfield._optional import need

from ..engine.tasks import Row


@dataclass(frozen=True)
class Picture:
    """An image as a data URI, and what to say under it."""

    caption: str
    data: str


@dataclass(frozen=True)
class Gallery:
    """Pictures side by side, and what they show.

    Attributes
    ----------
    about : str
        Stands above them.
    pictures : sequence of Picture
        Of one kind.
    kind : str
        Class of the style sheet.
    """

    about: str
    pictures: Sequence[Picture]
    kind: str


def walks_picture(row: Row, caption: str) -> Picture:
    """Draw walks in a maze of blocks: those that arrive, and in red those that do not.

    `row` has the columns ``walls`` (a text for every row of blocks, 4 wide), ``x`` and ``y`` of all
    walks, ``lengths`` and ``reached`` of each, ``goal``, ``entrances`` and ``exits`` of teleports.
    """
    collections = need("matplotlib.collections", "study")
    walls = np.array([[mark == "#" for mark in line] for line in row["walls"]])
    rows, columns = walls.shape
    figure: Any = need("matplotlib.figure", "study").Figure((6.4, 6.4 * rows / columns))
    axes = figure.add_axes((0, 0, 1, 1))
    edges = (-6.0, 4.0 * columns - 6.0, 4.0 * rows - 6.0, -6.0)  # blocks are centred
    axes.imshow(walls, cmap="Greys", vmax=2.2, extent=edges)
    places = np.column_stack([row["x"], row["y"]])
    walks = np.split(places, np.cumsum(row["lengths"])[:-1])
    for walk, arrived in zip(walks, row["reached"], strict=True):
        colour = "#12806a" if arrived else "#c8452b"
        hops = np.stack([walk[:-1], walk[1:]], axis=1)
        hops = hops[np.linalg.norm(hops[:, 1] - hops[:, 0], axis=1) < 1.0]  # without teleports
        axes.add_collection(collections.LineCollection(hops, colors=colour, linewidths=1.1))
    disc = need("matplotlib.patches", "study").Circle
    for name, look in (("entrances", {"color": "#6db4e6"}), ("exits", {"fill": False})):
        for x, y in np.reshape(row[name], (-1, 2)):
            axes.add_patch(disc((x, y), 1.5, zorder=3, alpha=0.7, **look))
    axes.scatter(*row["goal"], s=230, marker="*", color="#222222", zorder=4)
    axes.set_axis_off()
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110)
    data = base64.b64encode(buffer.getvalue()).decode()
    return Picture(caption, f"data:image/png;base64,{data}")
