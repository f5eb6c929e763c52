"""Witnesses: a small graph twice, with the harmonic field and the AMLE as numbers and arrows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._optional import need
from ..audit.witnesses import Witness
from ..errors import InputError
from ..plan import Plan
from . import _marks as marks
from ._canvas import plane

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FAILS = marks.CYCLE_COLOURS[0]
"""Of vertices from which the plan never reaches the goal."""
LABEL = "#ffe9a8"
"""Of labelled vertices."""


def witness(found: Witness, axes: Sequence[Axes] | None = None) -> tuple[Axes, Axes]:
    """Draw a witness: on the left the harmonic field and its plan, on the right the AMLE.

    Every vertex shows its value, with its name beside it. Labels are yellow squares and the
    goal has a thick outline. Arrows are the moves of the plan; red vertices are those from which
    it never reaches the goal. The title gives the share of unlabelled vertices that do.

    Parameters
    ----------
    found : Witness
        From `wayfield.audit.lattice_search`, its `search` or `contests`.
    axes : two matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    (Axes, Axes)
        What was drawn on; ``axes[0].figure.savefig("witness.png")`` writes it.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield.audit.witnesses import seven_node
    >>> graph, labels, goal, names = seven_node()
    >>> places = [(0, 0), (1, 1), (1, 0), (2, 1), (0, 1), (2, 0), (3, 0)]
    >>> drawn = graph.with_positions(places)
    >>> found = wf.audit.lattice_search.contests(drawn, labels, goal, np.array(names))
    >>> left, right = wf.plots.witness(found["exit"])
    >>> right.get_title()
    'AMLE: 1.000'
    """
    if not isinstance(found, Witness):
        kind = type(found).__name__
        raise InputError(f"a picture of a witness needs a Witness of wayfield.audit, not {kind}")
    places = plane(found.graph)
    if axes is None:
        span = np.ptp(places, axis=0) / _spacing(found) + 0.8
        size = (2 * 0.78 * span[0], 0.78 * span[1] + 0.5)
        axes = need("matplotlib.pyplot", "plots").subplots(
            1, 2, layout="constrained", figsize=size
        )[1]
    if len(axes) != 2:
        raise InputError(f"a witness is drawn on two axes, not {len(axes)}")
    left, right = axes
    _draw(left, found, found.harmonic_plan, "harmonic")
    _draw(right, found, found.amle_plan, "AMLE")
    return left, right


def _draw(ax: Axes, found: Witness, plan: Plan, name: str) -> None:
    """Draw one field and its plan."""
    graph, places, unit = found.graph, plane(found.graph), _spacing(found)
    once = graph.tails < graph.indices
    ends = np.stack([places[graph.tails[once]], places[graph.indices[once]]], axis=1)
    marks.draw_lines(ax, ends, 0.8, alpha=0.3, zorder=1)
    labelled = found.labels.mask(graph)
    for x, place in enumerate(places):
        lost = not plan.reached[x]
        look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 7.5, "zorder": 4}
        box: dict[str, Any] = {
            "boxstyle": "square,pad=0.35" if labelled[x] else "round,pad=0.3,rounding_size=0.8",
            "facecolor": LABEL if labelled[x] else "white",
            "edgecolor": FAILS if lost else marks.INK,
            "linewidth": 2.0 if x == found.goal else 1.4 if lost else 0.7,
        }
        text = f"{plan.values[x]:.3g}" if labelled[x] else f"{plan.values[x]:.2f}"
        ax.text(place[0], place[1], text, color=FAILS if lost else marks.INK, bbox=box, **look)
        corner = place + np.array([-0.27, 0.2]) * unit
        small = look | {"fontsize": 6, "color": marks.CROSSES}
        ax.text(corner[0], corner[1], str(found.names[x]), **small)
    _draw_moves(ax, found, plan, unit)
    ax.set_title(f"{name}: {found.success(plan):.3f}", fontsize=9.5)
    ax.set_aspect("equal")
    ax.set_axis_off()
    low, high = places.min(axis=0) - 0.4 * unit, places.max(axis=0) + 0.4 * unit
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))


def _draw_moves(ax: Axes, found: Witness, plan: Plan, unit: float) -> None:
    """Draw an arrow in the middle part of the edge each move takes, a little to its right."""
    places = plane(found.graph)
    tails = np.flatnonzero(plan.successor != np.arange(plan.successor.size))
    way = places[plan.successor[tails]] - places[tails]
    aside = np.column_stack([way[:, 1], -way[:, 0]]) / np.hypot(*way.T)[:, None]
    begins = places[tails] + 0.3 * way + 0.07 * unit * aside
    marks.draw_arrows(ax, begins, 0.4 * way, 0.026 * unit)


def _spacing(found: Witness) -> float:
    """Length of a typical edge on the page."""
    places = plane(found.graph)
    way = places[found.graph.tails] - places[found.graph.indices]
    return float(np.median(np.hypot(*way.T)))
