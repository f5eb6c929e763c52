"""Certified region: what is proved about a plan at three label densities.

Above, what the field alone shows: the error of its values that each move survives. Below, what
comparison with the truth shows: where the half-gap test proves the move optimal, where it is
optimal although the test does not prove it, and where it is not. Every start of all three plans
reaches the goal, as the reach theorem says.

Run it with ``python examples/certified_region.py [FILE]``; it needs the extra ``plots``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

import wayfield as wf
from wayfield import audit

GOAL = 40
VERDICTS = {
    "proved optimal by the half-gap test": "#1b7837",
    "optimal, not proved": "#d9f0a3",
    "not optimal": "#b2182b",
}


def main(path: Path = Path("certified_region.png")) -> None:
    """Plan to one goal of the large maze from 2, 5 and 12 % of its states, and map the proofs."""
    maze = wf.grid_graph(wf.load_layout("large"), refinement=8)
    truth = wf.cost_to_go(maze, GOAL)
    figure, axes = plt.subplots(2, 3, figsize=(11, 6), layout="constrained")
    for (above, below), fraction in zip(axes.T, (0.02, 0.05, 0.12), strict=True):
        labels = wf.sample_labels(maze, GOAL, fraction, seed=54)
        answer = wf.solve(maze, labels, GOAL)
        field, plan, certificate = answer.field, answer.plan, answer.certificate
        test = audit.half_gap(maze, field, truth, GOAL, plan)
        verdict = np.where(test.chosen_optimal, np.where(test.holds, 0, 1), 2)
        margins = show(
            above, maze, labels, np.clip(certificate.margin, 0.0, 1.0), plt.get_cmap("YlGn"), 1.0
        )
        show(below, maze, labels, verdict, ListedColormap([*VERDICTS.values()]), 2.0)
        above.set_title(f"{fraction:.0%} labelled")
        below.set_title(f"half-gap test: {test.holds.mean():.0%} of the moves", fontsize=10)
        print(f"{fraction:.0%} labelled: {plan.success:.0%} of the starts reach; {test}")
    figure.colorbar(margins, ax=axes[0], shrink=0.85, label="error survived, in steps")
    legend: list[Any] = [Patch(color=color, label=text) for text, color in VERDICTS.items()]
    figure.legend(handles=legend, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(path, dpi=90)


def show(ax: Any, maze: wf.Graph, labels: wf.Labels, values: Any, colours: Any, top: float) -> Any:
    """Colour every state; mark labels by dots and the goal by a star."""
    assert maze.positions is not None
    column, row = (np.unique(axis, return_inverse=True)[1] for axis in maze.positions.T)
    raster = np.full((row.max() + 1, column.max() + 1), np.nan)
    raster[row, column] = values
    image = ax.imshow(
        raster, origin="lower", cmap=colours.with_extremes(bad="0.75"), vmin=0.0, vmax=top
    )
    ax.scatter(column[labels.vertices], row[labels.vertices], s=4, color="black", linewidths=0)
    ax.plot(
        column[GOAL],
        row[GOAL],
        "*",
        color="gold",
        markeredgecolor="black",
        markersize=13,
        clip_on=False,
    )
    ax.set_axis_off()
    return image


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
