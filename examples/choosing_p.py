"""Draw the p-family on one maze: from harmonic (p = 2) to the AMLE (p = ∞), and how fast it tends.

Run it with ``python examples/choosing_p.py [FILE]``; it needs the extra ``plots``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import wayfield as wf
from wayfield.fields import Extension

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "choosing_p.png"
GOAL = 40
SHOWN = (2.0, 4.0, 8.0, 16.0, 64.0)
MEASURED = 2.0 ** np.arange(1, 15)


def main(path: Path = PICTURE) -> None:
    """Extend 2 % of the values over the large maze for many p, draw the fields and the distance."""
    graph = wf.grid_graph(wf.load_layout("antmaze-large"), refinement=8)
    labels = wf.sample_labels(graph, GOAL, fraction=0.02, seed=54)
    amle = wf.extend(graph, labels, wf.AMLE())
    fields = {f"p = {p:g}": wf.extend(graph, labels, wf.PLaplacian(p)) for p in SHOWN}
    fields["p = ∞: AMLE"] = amle
    figure = plt.figure(figsize=(14, 9.5), layout="constrained")
    axes = figure.subplot_mosaic("abc\ndef\nggg", height_ratios=(1, 1, 0.9))
    for ax, (name, field) in zip((axes[k] for k in "abcdef"), fields.items(), strict=True):
        plan = wf.plan(graph, field, GOAL)
        wf.plots.field(graph, field.values, plan, labels, ax, legend=ax is axes["a"])
        ax.set_title(f"{name}: {plan.success:.1%} of the starts reach the goal")
    share_legend(figure, axes["a"])
    draw_distance(axes["g"], graph, labels, amle)
    figure.savefig(path, dpi=100)


def share_legend(figure: Figure, ax: Axes) -> None:
    """Put the legend of one picture above all of them."""
    legend = ax.get_legend()
    assert legend is not None
    legend.remove()
    words = [text.get_text() for text in legend.get_texts()]
    marks = [mark for mark in legend.legend_handles if mark is not None]
    figure.legend(marks, words, loc="outside upper center", ncols=len(words))


def draw_distance(ax: Axes, graph: wf.Graph, labels: wf.Labels, amle: Extension) -> None:
    """Largest distance to the AMLE against p, with the bracket's width below it."""
    found = [wf.extend(graph, labels, wf.PLaplacian(float(p))) for p in MEASURED]
    distance = np.array([np.abs(field.values - amle.values).max() for field in found])
    width = np.array([field.width for field in found])
    for p, gap in zip(MEASURED, distance / labels.span, strict=True):
        print(f"p = {p:6g}: sup |u_p - u_∞| = {gap:.1e} of the label range, times p {gap * p:.3f}")
    ax.loglog(MEASURED, distance / labels.span, "o-", label="sup |u_p − u_∞|")
    ax.loglog(
        MEASURED, width / labels.span, "s:", color="grey", label="width of the bracket of u_p"
    )
    ax.loglog(MEASURED, distance[-1] / labels.span * MEASURED[-1] / MEASURED, "--", label="C / p")
    ax.set_xlabel("p")
    ax.set_ylabel("share of the label range")
    ax.legend()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
