"""Many goals at once: every vertex of a maze as the goal, in one call, and which goals are hard.

All goals share their random labels, so the harmonic solver factors the graph once for all of them.
Every goal is then planned to from every start: half a million walks.

Run it with ``python examples/many_goals.py [FILE]``; it needs the extra ``plots``.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import wayfield as wf


def main(path: Path = Path("many_goals.png")) -> None:
    """Extend for every goal, plan, and map the success by goal."""
    graph = wf.grid_graph(wf.load_layout("antmaze-large"), refinement=4)
    goals = range(graph.num_vertices)
    labels = [wf.sample_labels(graph, goal, fraction=0.05, seed=54) for goal in goals]
    figure, axes = plt.subplots(1, 2, figsize=(11, 3.9), layout="constrained")
    methods: dict[str, wf.fields.Method] = {"harmonic": wf.Harmonic(), "exact AMLE": wf.AMLE()}
    for ax, (name, method) in zip(axes, methods.items(), strict=True):
        began = time.perf_counter()
        fields = wf.extend_many(graph, labels, method)
        seconds = time.perf_counter() - began
        plans = [wf.plan(graph, field, goal) for goal, field in enumerate(fields)]
        success = np.array([plan.success for plan in plans])
        print(
            f"{name}, {len(goals)} goals: {seconds:.2f} s; {success.mean():.2%} of "
            f"{len(goals) ** 2:,} starts reach, {success.min():.0%} at the worst goal"
        )
        image = draw_success(ax, graph, success)
        ax.set_title(f"{name}: {success.mean():.1%} of all starts reach their goal")
    figure.colorbar(image, ax=axes, shrink=0.8, label="share of starts that reach this goal")
    figure.savefig(path, dpi=100)


def draw_success(ax: Any, graph: wf.Graph, success: Any) -> Any:
    """Colour every goal by the share of starts that reach it."""
    assert graph.positions is not None
    column, row = graph.positions.astype(int).T
    raster = np.full((row.max() + 1, column.max() + 1), np.nan)
    raster[row, column] = success
    ax.set_axis_off()
    return ax.imshow(raster, origin="lower", cmap="YlGnBu", vmin=0.0, vmax=1.0)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
