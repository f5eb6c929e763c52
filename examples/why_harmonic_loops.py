"""Why harmonic plans go wrong: one bad turn on seven vertices, and a loop around a label.

A harmonic value is an average over random walks: it depends on how many ways lead somewhere, not on
how short they are. On the paper's seven-vertex graph that turns one decision round. In a maze it
makes a label the lowest point of its surroundings, and a greedy walk never gets away from it.

Run it with ``python examples/why_harmonic_loops.py [FILE]``; it needs the extra ``plots``.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import wayfield as wf
from wayfield.plans.planning import Plan

TAILS, HEADS = [0, 0, 2, 1, 3, 3, 5, 4], [3, 2, 1, 4, 4, 5, 6, 6]
PLACES = np.array([(0, 0), (1, 1), (0, 1), (1, 0), (2, 0.5), (2, -0.5), (3, 0)])
METHODS: dict[str, wf.fields.Method] = {"harmonic": wf.Harmonic(), "AMLE": wf.AMLE()}
INK, RING, ALARM = "#18222c", "#e8850c", "#c0392b"
ARROW: dict[str, Any] = {"angles": "xy", "scale_units": "xy", "scale": 1, "zorder": 3}


def main(path: Path = Path("why_harmonic_loops.png")) -> None:
    """Draw the seven vertices with three fields, and the surroundings of one loop in a maze."""
    figure = plt.figure(figsize=(12, 6.8), layout="constrained")
    above, below = list(figure.subfigures(2, 1, height_ratios=(1, 1.4)))  # type: ignore[arg-type]
    draw_seven(above.subplots(1, 3))
    draw_loop(below.subplots(1, 2))
    figure.savefig(path, dpi=100)


def draw_seven(axes: Any) -> None:
    """Compare the turn at vertex 4: the true one, the harmonic one, the AMLE's."""
    graph = wf.Graph.from_edges(TAILS, HEADS)
    labels = wf.Labels([0, 6], [0.0, 3.0])
    fields = {"true cost-to-go": wf.cost_to_go(graph, 0)}
    fields |= {name: wf.extend(graph, labels, method).values for name, method in METHODS.items()}
    for ax, (name, values) in zip(axes, fields.items(), strict=True):
        plan = wf.plan(graph, values, goal=0)
        turn = f"4 → {plan.successor[4]}, cost {plan.cost[4]:g}"
        print(f"{name}: {turn}")
        draw_moves(ax, graph, plan)
        for x, value in enumerate(values):
            exact = str(Fraction(value).limit_denominator(99))
            place = PLACES[x] + ((0, 0.16) if x else (-0.22, -0.08))
            ax.annotate(exact, place, ha="center", va="bottom", fontsize=11)
        ax.set_title(f"{name}: {turn}", color=INK if plan.cost[4] == 2 else ALARM)


def draw_moves(ax: Any, graph: wf.Graph, plan: Plan) -> None:
    """Draw edges as lines, moves as arrows, labels with a ring."""
    for x, y in zip(graph.tails, graph.indices, strict=True):
        ax.plot(*PLACES[[x, y]].T, color="0.8", linewidth=1.5, zorder=1)
    movers = np.arange(1, 7)
    way = PLACES[plan.successor[movers]] - PLACES[movers]
    colour = [ALARM if x == 4 else INK for x in movers]
    start = PLACES[movers] + 0.2 * way
    ax.quiver(*start.T, *(0.58 * way).T, color=colour, width=0.01, **ARROW)
    edge = [RING if x in (0, 6) else "0.5" for x in range(7)]
    ax.scatter(*PLACES.T, s=260, color="white", edgecolors=edge, linewidths=2, zorder=2)
    for x, place in enumerate(PLACES):
        ax.annotate("★" if x == 0 else str(x), place, ha="center", va="center", fontsize=9)
    ax.set_xlim(-0.4, 3.4)
    ax.set_ylim(-0.8, 1.4)
    ax.set_aspect("equal")
    ax.set_axis_off()


def draw_loop(axes: Any) -> None:
    """Show the values around the limit cycle that most starts fall into."""
    maze = wf.grid_graph(wf.load_layout("antmaze-large"), refinement=8)
    labels = wf.sample_labels(maze, goal=40, fraction=0.02, seed=54)
    plans = {name: wf.solve(maze, labels, 40, method).plan for name, method in METHODS.items()}
    harmonic = plans["harmonic"]
    basin = int(np.bincount(harmonic.basin[harmonic.basin >= 0]).argmax())
    cycle = harmonic.cycles[basin]
    share = np.mean(harmonic.basin == basin)
    print(f"in the maze {share:.0%} of the harmonic starts end in the loop {cycle.tolist()}")
    for ax, (name, plan) in zip(axes, plans.items(), strict=True):
        draw_cells(ax, plan, labels, centre=int(cycle[-1]))
        reach = plan.reached[cycle].all()
        fate = "walks pass by it on their way" if reach else f"{share:.0%} of all starts end here"
        ax.set_title(f"{name}, around a label in the maze: {fate}", color=INK if reach else ALARM)


def draw_cells(ax: Any, plan: Plan, labels: wf.Labels, centre: int) -> None:
    """Draw the vertices around `centre` as cells with their value and their move."""
    places = plan.graph.positions
    assert places is not None
    near = np.flatnonzero((np.abs(places - places[centre]) <= (5, 3)).all(axis=1))
    way = 0.5 * (places[plan.successor[near]] - places[near])
    stuck = np.isin(near, np.concatenate([[], *plan.cycles]))
    look: dict[str, Any] = {"c": plan.values[near], "cmap": "Blues_r", "vmin": -6, "vmax": 22}
    ax.scatter(*places[near].T, s=1150, marker="s", linewidths=0, **look)
    foot = places[near] - 0.5 * way - (0, 0.2)
    colour = np.where(stuck, ALARM, INK)
    ax.quiver(*foot.T, *way.T, color=colour, width=0.0045, **ARROW)
    for x, loops in zip(near, stuck, strict=True):
        bold = "bold" if loops or x in labels.vertices else "normal"
        place = places[x] + (0, 0.27)
        text = f"{plan.values[x]:.1f}"
        ax.annotate(text, place, ha="center", va="center", fontsize=8, fontweight=bold)
    known = np.intersect1d(near, labels.vertices)
    ring: dict[str, Any] = {"marker": "s", "facecolors": "none", "edgecolors": RING}
    ax.scatter(*places[known].T, s=1000, linewidths=2.5, **ring)
    ax.set_aspect("equal")
    ax.margins(0.06)
    ax.set_axis_off()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
