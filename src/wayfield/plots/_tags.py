"""Names beside vertices, as many as fit: none over a vertex, another name or the colour bar.

Names are placed one after another, the important ones first. Each takes the first of the places
round its vertex, beside it or a little way off, where its box meets no disc, no name that is there
already, neither the colour bar nor the legend, and stays inside the picture; a name for which no
place is left is not drawn, nor are any more once names cover enough of the picture.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..kernels._types import FloatArray

_SIDES = ((1, 1), (1, -1), (-1, 1), (-1, -1), (0, 1), (0, -1), (1, 0), (-1, 0))
_AWAY = (1.02, 3.0, 5.0)
"""Distances from a vertex to its name, in radii of the disc; a thin line leads to the far ones."""
_COVERED = 0.1
"""Share of the axes that names may cover."""
_LETTERS = 40
"""Of the longest name that is written whole."""
_BOX = {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.6}


def place_names(
    axes: Any, places: FloatArray, called: Mapping[int, str], sizes: FloatArray
) -> list[int]:
    """Write the names of some vertices, the first the most important; return those written.

    Parameters
    ----------
    axes : matplotlib Axes
        Where all else has been drawn.
    places : (n, 2) float array
        The vertices.
    called : mapping from vertex to name
        What to write, in this order.
    sizes : (n,) float array
        Diameters of the discs, in points; names may lie over those of size 0.
    """
    look: dict[str, Any] = {"fontsize": 8, "bbox": _BOX, "zorder": 5, "parse_math": False}
    look |= {"textcoords": "offset points", "va": "bottom", "annotation_clip": False}
    figure = axes.figure
    figure.draw_without_rendering()  # where vertices lie in pixels
    reach = (sizes[:, None] / 2 + 1) * figure.dpi / 72
    discs = axes.transData.transform(places)
    taken = np.vstack([np.hstack([discs - reach, discs + reach])[sizes > 0], *_furniture(axes)])
    whole = figure.bbox.extents + np.array([4, 4, -4, -4])
    left = _COVERED * axes.bbox.width * axes.bbox.height
    written: list[int] = []
    for x, name in called.items():
        if left <= 0:
            break
        name = _short(name)
        text = axes.annotate(name, places[x], (0, 0), **look)
        extent = text.get_window_extent()
        text.remove()
        choices = _boxes(discs[x], float(reach[x, 0]), np.array([extent.width, extent.height]))
        fits = (i for i, box in enumerate(choices) if _inside(box, whole) and _free(box, taken))
        chosen = next(fits, None)
        if chosen is not None:
            box, far = choices[chosen], chosen >= len(_SIDES)
            line = {"arrowstyle": "-", "lw": 0.6, "color": "#5c6770"} if far else None
            offset = (box[:2] - discs[x]) * 72 / figure.dpi
            text = axes.annotate(name, places[x], offset, arrowprops=line, **look)
            text.set_in_layout(False)
            taken = np.vstack([taken, box])
            left -= extent.width * extent.height
            written.append(x)
    return written


def _furniture(axes: Any) -> list[FloatArray]:
    """Boxes of the legend and of all other axes of the figure, their numbers included."""
    others = [each.get_tightbbox() for each in axes.figure.axes if each is not axes]
    legend = axes.get_legend()
    boxes = [*others, None if legend is None else legend.get_window_extent()]
    return [box.extents for box in boxes if box is not None]


def _short(name: str) -> str:
    """Leave out the middle of a name that is very long: ends tell names apart."""
    half = _LETTERS // 2
    return name if len(name) <= _LETTERS else f"{name[:half]}…{name[-half + 1 :]}"


def _boxes(centre: FloatArray, reach: float, extent: FloatArray) -> list[FloatArray]:
    """Left, bottom, right and top of a name at each distance from a disc, and on each side."""
    boxes = []
    for away in _AWAY:
        for side in _SIDES:
            middle = centre + np.array(side) * (away * reach + extent / 2)
            boxes.append(np.concatenate([middle - extent / 2, middle + extent / 2]))
    return boxes


def _free(box: FloatArray, taken: FloatArray) -> bool:
    """Whether no other box shares points with this one."""
    apart = (taken[:, :2] >= box[2:]) | (taken[:, 2:] <= box[:2])
    return bool(apart.any(axis=1).all())


def _inside(box: FloatArray, whole: FloatArray) -> bool:
    return bool((box[:2] >= whole[:2]).all() and (box[2:] <= whole[2:]).all())
