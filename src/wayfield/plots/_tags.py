"""Names beside the vertices of a diagram, as many as fit: none over a vertex or another name.

Names are placed one after another, the important ones first. Each takes the first of the places
round its vertex, beside it or a little way off, where its box meets no disc and no name that is
there already, and stays inside the picture; a name for which no place is left is not drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..kernels._types import FloatArray

_SIDES = ((1, 1), (1, -1), (-1, 1), (-1, -1), (0, 1), (0, -1), (1, 0), (-1, 0))
_AWAY = (1.02, 3.0, 5.0)
"""Distances from a vertex to its name, in radii of the disc; a thin line leads to the far ones."""
_BOX = {"facecolor": "white", "edgecolor": "none", "alpha": 0.55, "pad": 0.6}


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
        Diameters of the discs, in points.
    """
    look: dict[str, Any] = {"fontsize": 8, "bbox": _BOX, "zorder": 5, "parse_math": False}
    look |= {"textcoords": "offset pixels", "va": "bottom", "annotation_clip": False}
    figure = axes.figure
    figure.draw_without_rendering()  # where vertices lie in pixels
    reach = (sizes[:, None] / 2 + 1) * figure.dpi / 72
    discs = axes.transData.transform(places)
    taken = np.hstack([discs - reach, discs + reach])
    whole = figure.bbox.extents
    written = []
    for x, name in called.items():
        text = axes.annotate(name, places[x], (0, 0), **look)
        extent = text.get_window_extent()
        text.remove()
        choices = _boxes(discs[x], float(reach[x, 0]), np.array([extent.width, extent.height]))
        fits = (i for i, box in enumerate(choices) if _inside(box, whole) and _free(box, taken))
        chosen = next(fits, None)
        if chosen is not None:
            box, far = choices[chosen], chosen >= len(_SIDES)
            line = {"arrowstyle": "-", "lw": 0.6, "color": "#5c6770"} if far else None
            text = axes.annotate(name, places[x], box[:2] - discs[x], arrowprops=line, **look)
            text.set_in_layout(False)
            taken = np.vstack([taken, box])
            written.append(x)
    return written


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
