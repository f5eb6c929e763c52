"""The certified p-Laplacian: what one solve costs, and that all cells of the study converge.

Run with ``python -m benchmarks.plaplacian`` (ratios, under two minutes), with ``… cells`` (120
cells × 16 goals × 6 powers, ten minutes), with ``… grid 334 16`` (a side × side grid with 10 %
obstacles and 2 % labels, p = 16), or with ``… many`` (harmonic, 512 goals on one cell).

The promises: every cell converges to |F| ≤ 1e-13 of the label range with a verified bracket of
width ≤ 1e-9 (median ≤ 1e-11) in at most 25 factorisations; a solve with bracket takes at most 15
harmonic solves on an r = 12 cell, 25 on a grid of 1e5 vertices.
"""

from __future__ import annotations

import resource
import sys
from itertools import product

import numpy as np

import wayfield as wf
from wayfield.fields import Extension

POWERS = (4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
MAZES = ("antmaze-medium", "antmaze-large")
FRACTIONS = (0.02, 0.05, 0.08, 0.12)
SEEDS = (54, 55, 56, 57, 58)


def goals_of(graph: wf.Graph, count: int, seed: int) -> list[int]:
    rng = np.random.default_rng(seed)
    return [int(goal) for goal in rng.choice(graph.num_vertices, count, replace=False)]


def ratios() -> None:
    """Time of a solve with bracket in units of a fresh harmonic solve, over the r = 12 cells."""
    print("r = 12 cells, one goal each; time over that of one fresh harmonic solve with bracket")
    times: dict[float, list[float]] = {p: [] for p in POWERS}
    for maze, fraction, seed in product(MAZES, FRACTIONS, SEEDS[:2]):
        graph = wf.grid_graph(wf.load_layout(maze), 12)
        labels = wf.sample_labels(graph, goals_of(graph, 1, seed)[0], fraction, seed)
        harmonic = min(wf.extend(graph, labels, wf.Harmonic()).seconds for _ in range(3))
        for p in POWERS:
            runs = [wf.extend(graph, labels, wf.PLaplacian(p)).seconds for _ in range(2)]
            times[p].append(min(runs) / harmonic)
    for p, found in times.items():
        print(f"p = {p:5g}: median {np.median(found):5.1f}, largest {max(found):5.1f}")


def cells() -> None:
    """Convergence, width, factorisations and success of the greedy planner on all cells."""
    print("p      r   converged  |F|/range  width median  width max  factorisations  success")
    for p, refinement in product(POWERS, (4, 8, 12)):
        found: list[Extension] = []
        spans: list[float] = []
        success: list[float] = []
        for maze, fraction, seed in product(MAZES, FRACTIONS, SEEDS):
            graph = wf.grid_graph(wf.load_layout(maze), refinement)
            goals = goals_of(graph, 16, seed)
            labels = [wf.sample_labels(graph, goal, fraction, seed) for goal in goals]
            fields = wf.extend_many(graph, labels, wf.PLaplacian(p), check=False)
            found += fields
            spans += [each.span for each in labels]
            for goal, field in zip(goals, fields, strict=True):
                plan = wf.plan(graph, field.values, goal, rule="q", ties="index")
                success.append(float(plan.reached.mean()))
        good = sum(field.status == wf.Status.CONVERGED for field in found)
        width = np.array([field.width for field in found]) / np.array(spans)
        equation = max(field.details["equation"] for field in found)
        most = max(field.details["factorisations"] for field in found)
        print(
            f"{p:5g} {refinement:3d}  {good:4d}/{len(found)}  {equation:.1e}    "
            f"{np.median(width):.1e}       {width.max():.1e}    {most:3.0f}"
            f"             {np.mean(success):.5f}",
            flush=True,
        )


def grid(side: int, p: float) -> None:
    """One solve on a large grid, in units of a harmonic solve."""
    free = np.random.default_rng(1).random((side, side)) > 0.1
    text = "\n".join("".join("." if cell else "#" for cell in row) for row in free)
    graph = wf.grid_graph(wf.Layout.from_text(text), 1)
    largest = np.bincount(graph.components).argmax()
    goal = int(np.flatnonzero(graph.components == largest)[0])
    labels = wf.sample_labels(graph, goal, 0.02, seed=54)
    harmonic = wf.extend(graph, labels, wf.Harmonic(), unreachable="nan")
    print(f"{graph}\nharmonic {harmonic.seconds:.2f} s, width {harmonic.width / labels.span:.1e}")
    field = wf.extend(graph, labels, wf.PLaplacian(p), unreachable="nan", check=False)
    print(
        f"p = {p:g}: {field.seconds:.1f} s, {field.seconds / harmonic.seconds:.1f} harmonic "
        f"solves, {field.status}, {field.details}"
    )
    print(f"memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.1f} GB")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["cells"]:
            cells()
        case ["grid", side, p]:
            grid(int(side), float(p))
        case _:
            ratios()
            grid(334, 16.0)
