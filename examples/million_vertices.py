"""A million vertices in a second: the exact AMLE with its bracket, and every start planned.

The large maze, every cell 148 × 148 vertices; REFINEMENT 20 makes a smaller one.

Run it with ``python examples/million_vertices.py [FILE [REFINEMENT]]``; it needs
the extra ``plots``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib.pyplot as plt

import wayfield as wf
from wayfield.fields import Extension
from wayfield.plans.planning import Plan


def main(path: str = "million_vertices.png", refinement: str = "148") -> None:
    """Time the solve and the plan on a large graph, and draw the field."""
    layout = wf.load_layout("antmaze-large")
    solve(layout, refinement=4)  # compiles the kernels, or loads them from the cache on disk
    graph, labels, field, plan = solve(layout, int(refinement), shown=True)
    print(f"bracket at most {field.width / labels.span:.0e} of the labels' range wide")
    print(plan)
    figure, ax = plt.subplots(figsize=(9, 6.2), layout="constrained")
    wf.plots.field(graph, field.values, plan, ax=ax)
    ax.set_title(f"{graph.num_vertices:,} vertices, {len(labels):,} labels, all starts planned")
    figure.savefig(path, dpi=100)


def solve(
    layout: wf.Layout, refinement: int, shown: bool = False
) -> tuple[wf.Graph, wf.Labels, Extension, Plan]:
    """Extend and plan, and say how long it took."""
    graph = wf.grid_graph(layout, refinement)
    goal = graph.num_vertices // 3
    labels = wf.sample_labels(graph, goal, fraction=0.02, seed=54)
    with stopwatch(f"exact AMLE and bracket on {graph.num_vertices:,} vertices", shown):
        field = wf.extend(graph, labels, wf.AMLE())
    with stopwatch(f"plan from {graph.num_vertices:,} starts", shown):
        plan = wf.plan(graph, field, goal)
    return graph, labels, field, plan


@contextmanager
def stopwatch(what: str, shown: bool) -> Iterator[None]:
    """Print how long a block takes."""
    began = time.perf_counter()
    yield
    if shown:
        print(f"{what}: {time.perf_counter() - began:.2f} s")


if __name__ == "__main__":
    main(*sys.argv[1:])
