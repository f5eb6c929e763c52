"""Draw the README's picture: a harmonic field beside the exact AMLE, with their greedy plans.

Run it with ``python examples/first_plan.py [FILE]``; it needs the extra ``plots``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt

import wayfield as wf

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "first_plan.png"
GOAL = 40


def main(path: Path = PICTURE) -> None:
    """Extend 2 % of the values over the large maze in two ways, plan on both, draw them."""
    graph = wf.grid_graph(wf.load_layout("antmaze-large"), refinement=8)
    labels = wf.sample_labels(graph, GOAL, fraction=0.02, seed=54)
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    methods: dict[str, wf.fields.Method] = {"harmonic": wf.Harmonic(), "exact AMLE": wf.AMLE()}
    for ax, (name, method) in zip(axes, methods.items(), strict=True):
        answer = wf.solve(graph, labels, GOAL, method)
        wf.plots.field(graph, answer.values, answer.plan, labels, ax)
        ax.set_title(f"{name}: {answer.plan.success:.0%} of the starts reach the goal")
        print(answer)
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
