"""Certificate map: how far off the values may be before a move is in doubt.

A move is certified if it leads every other by more than twice the error of the field: then it is
optimal, and nobody had to know the true values. Half of that lead is the margin, the error that the
move survives. A walk survives the least margin on its way.

Run it with ``python examples/certificate_map.py [FILE]``; it needs the extra ``plots``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import wayfield as wf
from wayfield.fields import Extension
from wayfield.plans.planning import Plan


def main(path: Path = Path("certificate_map.png")) -> None:
    """Plan to the top left corner of the giant maze, and map the margins of moves and walks."""
    maze = wf.grid_graph(wf.load_layout("giant"))
    labels = wf.sample_labels(maze, goal=0, fraction=0.1, seed=54)
    answer = wf.solve(maze, labels, goal=0)
    field, plan, certificate = answer.field, answer.plan, answer.certificate
    for error in (0.0, 0.2, 0.4, 0.8):
        print(wf.certify(maze, labels, field, plan, error=error))
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    shown = {"move": certificate.margin, "whole walk": certificate.start_margin}
    for ax, (what, margin) in zip(axes, shown.items(), strict=True):
        image = draw_margins(ax, plan, labels, margin)
        ax.set_title(f"Error of the values that the {what} survives")
    figure.colorbar(image, ax=axes, shrink=0.85, label="margin, in steps")
    figure.savefig(path, dpi=100)
    check(maze, field, plan)


def draw_margins(ax: Any, plan: Plan, labels: wf.Labels, margin: Any) -> Any:
    """Colour every cell by its margin; draw moves, labels (rings) and the goal (star)."""
    places = plan.graph.positions
    assert places is not None
    column, row = places.astype(int).T
    raster = np.full((row.max() + 2, column.max() + 2), np.nan)
    raster[row, column] = np.clip(margin, 0.0, 1.0)
    image = ax.imshow(raster, origin="lower", cmap="YlGn", vmin=0.0, vmax=1.0)
    way = 0.5 * (places[plan.successor] - places)
    moves = way.any(axis=1)
    arrow: dict[str, Any] = {"angles": "xy", "scale_units": "xy", "scale": 1, "width": 0.004}
    ax.quiver(*(places - 0.5 * way)[moves].T, *way[moves].T, **arrow)
    ring: dict[str, Any] = {"facecolors": "none", "edgecolors": "black", "linewidths": 1.2}
    ax.scatter(*places[labels.vertices].T, s=170, **ring)
    ax.plot(*places[plan.goal], "*", color="gold", markeredgecolor="black", markersize=17)
    ax.set_xlim(column.min() - 0.6, column.max() + 0.6)
    ax.set_ylim(row.min() - 0.6, row.max() + 0.6)
    ax.set_axis_off()
    return image


def check(maze: wf.Graph, field: Extension, plan: Plan) -> None:
    """Compare with the truth, which the certificate never saw."""
    truth = wf.cost_to_go(maze, plan.goal)
    off = float(np.abs(field.values - truth).max())
    best = int((plan.cost == truth).sum())
    print(f"in truth: values off by up to {off:.1f}, {best} of {truth.size} walks shortest")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
